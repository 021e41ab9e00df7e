/* Feature matrices, for bench/indicators, between tabs:
 *
 *   indicators_features                 set, features, threads and seconds (best of five) a line
 *   indicators_features indicators SET  what the set computes: row, and bars to one of its timeframe
 *
 * wide110 over a million 5-minute bars writes 440 MB and moves, by the count in features/matrix.c, about 3
 * GB: 0.3 s of one core's memory rate. Its indicators are some 60 passes at 1 to 10 ns a bar, 0.2 s together;
 * ln and the piecewise linear maps of its 40 features under log1p or `normal` cost about 10 ns a cell, 0.4 s.
 * Prediction: 0.9 s on one core, 0.5 s on two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "indicators_gpu/features/features.h"

enum { BARS = 1000000, INTERVAL_S = 300, ROUNDS = 5 };

static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "indicators_features: %s\n", what);
    exit(EXIT_FAILURE);
}

static struct feature_bars bars_make(void)
{
    double *cells = malloc((size_t)INDICATOR_COLUMNS * BARS * sizeof(*cells));
    if (!cells)
        die("out of memory");
    double *open = cells, *high = open + BARS, *low = high + BARS, *close = low + BARS,
           *volume = close + BARS, *time = volume + BARS, price = 30000.0;
    uint64_t seed = 20240808;
    for (size_t i = 0; i < BARS; i++) {
        open[i] = price;
        price *= 1.0 + 0.004 * (uniform(&seed) - 0.5);
        close[i] = price;
        high[i] = (open[i] > price ? open[i] : price) * (1.0 + 0.001 * uniform(&seed));
        low[i] = (open[i] < price ? open[i] : price) * (1.0 - 0.001 * uniform(&seed));
        volume[i] = 10.0 * uniform(&seed);
        time[i] = 1.6e9 + (double)INTERVAL_S * (double)i;
    }
    return (struct feature_bars){{open, high, low, close, volume, time}, BARS, INTERVAL_S};
}

static void measure(const char *name, const struct feature_bars *bars, unsigned threads)
{
    struct feature_set *set;
    char err[320] = "";
    if (feature_set_builtin(name, &set) < 0)
        die(name);
    if (feature_set_fit(set, bars, 0, BARS / 2, err, sizeof(err)) < 0)
        die(err);
    size_t bytes = (BARS * set->n * sizeof(float) + 63) / 64 * 64;
    float *out = aligned_alloc(64, bytes);
    if (!out)
        die("out of memory");
    memset(out, 0, bytes); /* the caller's memory is there already */
    double best = 1e300;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_s();
        if (feature_matrix(set, bars, &(struct feature_options){FEATURE_FAST, threads}, out, NULL, err,
                           sizeof(err)) < 0)
            die(err);
        double took = now_s() - begin;
        best = took < best ? took : best;
    }
    printf("%s\t%zu\t%u\t%.6f\n", name, set->n, threads, best);
    free(out);
    feature_set_destroy(set);
}

/* Several features of one indicator cost it once. */
static void list_indicators(const char *name)
{
    struct feature_set *set;
    if (feature_set_builtin(name, &set) < 0)
        die(name);
    for (size_t i = 0; i < set->n; i++) {
        const struct feature *feature = &set->features[i];
        bool before = !feature->spec.row;
        for (size_t k = 0; k < i && !before; k++)
            before = set->features[k].spec.row == feature->spec.row &&
                     set->features[k].timeframe_s == feature->timeframe_s &&
                     memcmp(set->features[k].spec.options, feature->spec.options,
                            sizeof(feature->spec.options)) == 0;
        if (!before)
            printf("%s\t%d\n", feature->spec.row->name,
                   feature->timeframe_s ? (int)(feature->timeframe_s / INTERVAL_S) : 1);
    }
    feature_set_destroy(set);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "indicators") == 0) {
        list_indicators(argv[2]);
        return EXIT_SUCCESS;
    }
    if (argc != 1)
        die("no argument, or \"indicators SET\"");
    struct feature_bars bars = bars_make();
    measure("market14", &bars, 1);
    measure("wide110", &bars, 1);
    measure("wide110", &bars, 2);
    free((void *)bars.columns.open);
    return EXIT_SUCCESS;
}
