/* Computes the verdict of an episode in a file of float64, for verdict_oracle.py: n, n_assets, initial, fees,
 * opened, closed, buys, sells, then the columns of struct verdict_input in its order. Prints its figures, all
 * digits. */
#include <stdio.h>
#include <stdlib.h>

#include "strategy/metrics/verdict.h"
#include "strategy/metrics/verdict_internal.h"

enum { HEAD = 8 };

static double *read_all(const char *path, size_t *ret_n)
{
    FILE *file = fopen(path, "rbe");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    size_t n = (size_t)ftell(file) / sizeof(double);
    double *values = malloc((n + 1) * sizeof *values);
    rewind(file);
    *ret_n = values ? fread(values, sizeof *values, n, file) : 0;
    fclose(file);
    return values;
}

int main(int argc, char **argv)
{
    size_t all = 0;
    double *v = argc == 2 ? read_all(argv[1], &all) : NULL;
    if (!v || all < HEAD)
        return EXIT_FAILURE;
    size_t n = (size_t)v[0];
    int assets = (int)v[1];
    const double *at = v + HEAD;
    const struct verdict_input input = {.n = n,
                                        .n_assets = assets,
                                        .initial = v[2],
                                        .equity = at,
                                        .benchmark = at + n,
                                        .weights = at + 2 * n,
                                        .moves = at + (2 + (size_t)assets) * n,
                                        .fees = v[3],
                                        .opened = v[4],
                                        .closed = v[5],
                                        .buys = (int64_t)v[6],
                                        .sells = (int64_t)v[7]};
    struct verdict found;
    char text[VERDICT_TEXT_MAX];
    int r = HEAD + (2 + 2 * (size_t)assets) * n == all ? metrics_verdict(&input, &found) : -1;
    if (r == 0)
        printf("%s\n%.17g %.17g %.17g %.17g %.17g %.17g %d %.17g\n%s\n", metrics_verdict_word(found.kind),
               found.total_return, found.benchmark_return, found.low, found.high, found.block, found.p,
               found.n_random, found.gain, metrics_verdict_text(&found, text));
    else
        printf("error %d\n", r);
    free(v);
    return EXIT_SUCCESS;
}
