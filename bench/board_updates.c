/* What the board's streams cost (daemon/streams.h): one closed bar of every symbol, with the default
 * indicators, on the CPU and, where the GPU module finds a device, there. Build: ninja -C BUILD
 * bench/board_updates; run: bench/board.
 *
 * Prints one JSON line a figure: the microseconds within which half of the calls were done, and 99 of 100. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/config_specs.h"
#include "daemon/streams.h"

enum { WARM = 200, CALLS = 2000, SYMBOLS = 500 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A walk that never leaves the price's neighbourhood. */
static struct indicator_bar bar_at(int i, int symbol)
{
    double close = 60000 + 500 * (double)((i * 7919 + symbol * 104729) % 1000) / 1000;
    return (struct indicator_bar){close - 3, close + 9, close - 11, close, 12.5, 1723161240.0 + 60.0 * i};
}

static void figure(const char *where, const char *what, size_t symbols, double us)
{
    printf("{\"bench\":\"board\",\"case\":\"%s_%zu_symbols_%s\",\"value\":%.2f,\"unit\":\"us\"}\n", where,
           symbols, what, us);
}

static void measure(const char *where, struct streams *streams, size_t symbols)
{
    static double took[CALLS];
    static uint32_t series[SYMBOLS];
    static struct indicator_bar bars[SYMBOLS];
    double *out = calloc(symbols * daemon_streams_outputs(streams), sizeof *out);
    if (!out)
        return;
    for (int i = 0; i < WARM + CALLS; i++) {
        for (size_t s = 0; s < symbols; s++) {
            series[s] = (uint32_t)s;
            bars[s] = bar_at(i, (int)s);
        }
        double begin = now_us();
        daemon_streams_update(streams, symbols, series, bars, out);
        if (i >= WARM)
            took[i - WARM] = now_us() - begin;
    }
    free(out);
    qsort(took, CALLS, sizeof *took, by_size);
    figure(where, "p50", symbols, took[CALLS / 2]);
    figure(where, "p99", symbols, took[CALLS - CALLS / 100]);
}

int main(void)
{
    static const size_t sizes[] = {1, 50, SYMBOLS};
    static struct daemon_config config;
    struct daemon_config_specs kept;
    char why[CONFIG_WHY_MAX];
    char reason[GPU_REASON_MAX] = "";
    struct gpu_module *module = NULL;
    daemon_config_defaults(&config);
    if (daemon_config_specs_parse(config.specs, &kept, why) < 0)
        return EXIT_FAILURE;
    if (gpu_module_open(NULL, &module, reason, sizeof reason) < 0)
        fprintf(stderr, "board: %s: the CPU alone\n", reason);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int device = 0; device <= (module != NULL); device++) {
            struct streams *streams;
            if (daemon_streams_create(kept.specs, (size_t)kept.n, sizes[i], &streams) < 0)
                return EXIT_FAILURE;
            int r = device ? daemon_streams_to_device(streams, module, reason, sizeof reason) : 0;
            if (r == 0)
                measure(device ? "gpu" : "cpu", streams, sizes[i]);
            if (device && (r < 0 || daemon_streams_failure(streams)[0]))
                fprintf(stderr, "board: %s\n", r < 0 ? reason : daemon_streams_failure(streams));
            daemon_streams_destroy(streams);
        }
    gpu_module_close(module);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
