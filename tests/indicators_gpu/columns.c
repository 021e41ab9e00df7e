/* `papertape indicators` as a program of its own, with two more backends: `--backend blocks` and `--backend
 * tiles` run the exact and the parallel kernels of the module in $PAPERTAPE_GPU_MODULE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "exchange/bars_file.h"
#include "indicators_gpu/module.h"

enum { SPECS_MAX = 512, COLUMNS_MAX = SPECS_MAX * INDICATOR_OUTPUTS_MAX };

static int run_blocks(enum gpu_method method, const char *path, char **texts, size_t n_specs)
{
    struct indicator_spec specs[SPECS_MAX];
    struct bars_file bars;
    char err[BARS_FILE_ERROR_MAX];
    double *out[COLUMNS_MAX];

    for (size_t i = 0; i < n_specs; i++)
        if (indicator_spec_parse(texts[i], &specs[i], err, sizeof(err)) < 0) {
            fprintf(stderr, "columns: %s\n", err);
            return 2;
        }
    if (bars_file_read(path, NULL, &bars, err) < 0) {
        fprintf(stderr, "columns: %s\n", err);
        return 1;
    }
    double *open_time_s = calloc(bars.n + 1, sizeof(double));
    if (!open_time_s)
        return 1;
    for (size_t i = 0; i < bars.n; i++)
        open_time_s[i] = (double)bars.open_time_ns[i] / 1e9;
    struct indicator_columns in = {bars.open, bars.high, bars.low, bars.close, bars.volume, open_time_s};
    struct gpu_batch batch = {method, 1, bars.n, &in, n_specs, specs, out};
    size_t n_columns = gpu_batch_columns(&batch);
    for (size_t k = 0; k < n_columns; k++)
        out[k] = calloc(bars.n + 1, sizeof(double));
    struct gpu_module *module = NULL;
    char reason[GPU_REASON_MAX];
    int r = gpu_module_open(NULL, &module, reason, sizeof(reason));
    if (r == 0)
        r = gpu_module_compute(module, &batch, reason, sizeof(reason));
    gpu_module_close(module);
    if (r < 0) {
        fprintf(stderr, "columns: %s\n", reason);
        return 1;
    }

    printf("timestamp_ns");
    for (size_t i = 0; i < n_specs; i++)
        for (size_t k = 0; k < specs[i].row->n_outputs; k++) {
            char name[160];
            indicator_spec_name(&specs[i], k, name, sizeof(name));
            printf(",%s", name);
        }
    printf("\n");
    for (size_t i = 0; i < bars.n; i++) {
        printf("%lld", (long long)bars.open_time_ns[i]);
        for (size_t k = 0; k < n_columns; k++)
            isnan(out[k][i]) ? printf(",") : printf(",%.17g", out[k][i]);
        printf("\n");
    }
    for (size_t k = 0; k < n_columns; k++)
        free(out[k]);
    free(open_time_s);
    bars_file_finish(&bars);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 4 && argc - 4 <= SPECS_MAX && strcmp(argv[1], "--backend") == 0) {
        if (strcmp(argv[2], "blocks") == 0)
            return run_blocks(GPU_EXACT, argv[3], argv + 4, (size_t)argc - 4);
        if (strcmp(argv[2], "tiles") == 0)
            return run_blocks(GPU_PARALLEL, argv[3], argv + 4, (size_t)argc - 4);
    }
    const struct option_program program = {
        .name = "papertape", .global = cli_globals, .n_global = CLI_GLOBALS, .say = cli_say};
    return option_run(&program, &cli_indicators, argc, argv);
}
