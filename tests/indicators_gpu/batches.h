/* The batches that the GPU's kernels are tried with: on the CPU by blocks.c, on a device by device.c. */
#ifndef TESTS_INDICATORS_GPU_BATCHES_H
#define TESTS_INDICATORS_GPU_BATCHES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/module.h"
#include "tests/check.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/specs.h"
#include "tests/indicators_gpu/tolerance.h"

/* Computes a batch; `again` asks for another order of threads and blocks, or for another device: the bits are
 * the same. */
typedef void batch_compute_fn(const struct gpu_batch *batch, bool again);

enum { BATCH_SERIES = 65 };

static bool batch_same(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof(double)) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

static double *batch_poisoned(size_t n)
{
    double *p = malloc(n * sizeof(double) + 1);
    if (!p)
        abort();
    for (size_t i = 0; i < n; i++)
        p[i] = OUTPUTS_POISON;
    return p;
}

/* Rounds a series as the device does when it keeps float32. */
static void batch_round(struct series *s)
{
    double *const columns[] = {s->open, s->high, s->low, s->close, s->volume};
    for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++)
        for (size_t i = 0; i < s->n; i++)
            columns[c][i] = (float)columns[c][i];
}

/* Every column of `out` against the reference, within the method's tolerance, and against `other`, bit by
 * bit. */
static void batch_compare(const struct gpu_batch *batch, const char *const texts[], double *const other[])
{
    size_t n = batch->n_bars, column = 0;
    for (size_t s = 0; s < batch->n_series; s++) {
        double top = 0;
        for (size_t i = 0; i < n; i++)
            top = fmax(top, batch->series[s].high[i]);
        for (size_t i = 0; i < batch->n_specs; i++) {
            const struct indicator_spec *spec = &batch->specs[i];
            struct outputs reference = outputs_make(spec->row, n);
            double tolerance = tolerance_of(batch->method, spec, top);
            CHECK_INT(indicator_reference(spec, &batch->series[s], n, reference.at), 0);
            for (size_t k = 0; k < spec->row->n_outputs; k++, column++) {
                size_t misses =
                    tolerance_misses(batch->out[column], reference.at[k], n, tolerance, batch->precision);
                bool same = batch_same(batch->out[column], other[column], n);
                CHECK_INT(misses, 0);
                CHECK(same);
                if (misses > 0 || !same)
                    fprintf(stderr, "  %s output %zu, %zu bars, series %zu, method %d, float%d\n", texts[i],
                            k, n, s, batch->method, batch->precision == INDICATOR_F32 ? 32 : 64);
            }
            outputs_free(&reference);
        }
    }
}

static void batch_try(batch_compute_fn *compute, enum gpu_method method, enum indicator_precision precision,
                      const char *const texts[], size_t n_specs, const struct series all[], size_t n_series)
{
    struct indicator_spec specs[TEST_SPECS];
    struct indicator_columns columns[BATCH_SERIES];
    for (size_t i = 0; i < n_specs; i++)
        specs[i] = test_spec(texts[i]);
    for (size_t s = 0; s < n_series; s++)
        columns[s] = series_columns(&all[s]);
    struct gpu_batch batch = {method, n_series, all[0].n, columns, n_specs, specs, NULL, precision};
    size_t n_columns = n_series * gpu_batch_columns(&batch);
    double **out = calloc(2 * n_columns, sizeof(*out)), **other = out + n_columns;
    if (!out)
        abort();
    for (size_t i = 0; i < 2 * n_columns; i++)
        out[i] = batch_poisoned(batch.n_bars);
    batch.out = out;
    compute(&batch, false);
    batch.out = other;
    compute(&batch, true);
    batch.out = out;
    batch_compare(&batch, texts, other);
    for (size_t i = 0; i < 2 * n_columns; i++)
        free(out[i]);
    free(out);
}

/* How much: all; what a short run has time for; what it has under a sanitizer. */
enum batch_extent { BATCH_ALL, BATCH_SOME, BATCH_FEW };

static bool batch_has_size(enum batch_extent extent, size_t n, enum series_kind kind)
{
    if (extent == BATCH_FEW)
        return kind == SERIES_WALK && (n == 33 || n == 1025);
    if (n > 5000)
        return kind == SERIES_WALK || kind == SERIES_JUMPS || kind == SERIES_FLAT ||
               kind == SERIES_ALTERNATING;
    return extent == BATCH_ALL || n < 1000 || n == 1025 || kind == SERIES_WALK;
}

/* Every row; sizes around nothing, a warp, a tile, and enough for several segments of most. Rows that are
 * written once have one method, and are walks as the others are. BATCH_SOME has all kinds at one of the
 * tile's edges and a walk at each, and bars by the ten thousand one after the other and as float32 of a walk
 * alone. */
static void batch_try_sizes(batch_compute_fn *compute, enum batch_extent extent)
{
    const size_t apart = test_specs_apart();
    const size_t sizes[] = {0, 1, 31, 32, 33, 1000, 1023, 1024, 1025, 12007};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (enum series_kind kind = 0; kind < SERIES_KINDS; kind++) {
            if (!batch_has_size(extent, sizes[i], kind))
                continue;
            struct series s = series_make(sizes[i], kind, 77 + i);
            bool all = extent == BATCH_ALL, is_long = sizes[i] > 5000;
            bool is_usual = kind == SERIES_WALK || kind == SERIES_JUMPS;
            bool few = sizes[i] >= 1000 && kind != SERIES_WALK && (is_long || kind != SERIES_JUMPS);
            bool one = is_long && kind != SERIES_WALK && !all;
            if (!one)
                batch_try(compute, GPU_EXACT, INDICATOR_F64, test_specs, few ? apart : TEST_SPECS, &s, 1);
            batch_try(compute, GPU_PARALLEL, INDICATOR_F64, test_specs, apart, &s, 1);
            if (is_usual && (all ? sizes[i] >= 1000 : sizes[i] > 1024 && !one)) {
                batch_round(&s);
                batch_try(compute, GPU_EXACT, INDICATOR_F32, test_specs, is_long ? apart : TEST_SPECS, &s, 1);
                batch_try(compute, GPU_PARALLEL, INDICATOR_F32, test_specs, apart, &s, 1);
            }
            series_free(&s);
        }
}

/* Each row around its first output. */
static void batch_try_lookbacks(batch_compute_fn *compute)
{
    const size_t apart = test_specs_apart();
    for (size_t i = 0; i < TEST_SPECS; i++) {
        struct indicator_spec spec = test_spec(test_specs[i]);
        size_t lookback = indicator_lookback(&spec);
        for (size_t n = lookback ? lookback - 1 : 0; n <= lookback + 2; n++) {
            struct series s = series_make(n, SERIES_WALK, 99);
            batch_try(compute, GPU_EXACT, INDICATOR_F64, &test_specs[i], 1, &s, 1);
            if (i < apart)
                batch_try(compute, GPU_PARALLEL, INDICATOR_F64, &test_specs[i], 1, &s, 1);
            series_free(&s);
        }
    }
}

/* Several series, BATCH_SERIES at most: with 33 or 65 more than a warp has threads, not a multiple of it.
 * Each begins with another number of NaNs, up to more than a tile and up to all but a few. At least 1200
 * bars. */
static void batch_try_many(batch_compute_fn *compute, size_t n, size_t n_bars)
{
    const size_t apart = test_specs_apart();
    struct series all[BATCH_SERIES];
    for (size_t s = 0; s < n; s++) {
        all[s] = series_make(n_bars, s % 7 == 3 ? SERIES_JUMPS : SERIES_WALK, 1000 + s);
        size_t skip = s < 40 ? s * 5 : s < 60 ? 1000 + s : n_bars - (s - 60);
        for (size_t i = 0; i < skip; i++)
            (s % 2 ? all[s].close : all[s].low)[i] = NAN;
    }
    batch_try(compute, GPU_EXACT, INDICATOR_F64, test_specs, n > 5 ? apart : TEST_SPECS, all, n);
    batch_try(compute, GPU_PARALLEL, INDICATOR_F64, test_specs, apart, all, n);
    for (size_t s = 0; s < n; s++)
        series_free(&all[s]);
}

/* Of the long series: every row on each kind; every second row on a walk, and on each kind some; on a walk
 * every fifth row. */
static bool batch_has(enum batch_extent extent, size_t row, enum series_kind kind)
{
    return extent == BATCH_ALL || (extent == BATCH_SOME && row % (SERIES_JUMPS + 1) == kind) ||
           (kind == SERIES_WALK && row % (extent == BATCH_SOME ? 2 : 5) == 0);
}

/* Enough tiles that values are forgotten on the way back, and that there is more than one load of them. */
static void batch_try_long(batch_compute_fn *compute, enum batch_extent extent)
{
    const char *const few[] = {"sma:200", "ema:14",      "rsi:14",       "macd:12,26,9", "atr:14",
                               "ema:256", "rsi:200",     "macd:5,200,9", "atr:256",      "sma:256",
                               "ema:257", "keltner",     "adx",          "stochrsi",     "kama",
                               "sma:257", "plus_di:200", "trix:30",      "bbands"};
    const char *chosen[sizeof(few) / sizeof(few[0])];
    for (enum series_kind kind = SERIES_WALK; kind <= SERIES_JUMPS; kind++) {
        size_t n = 0;
        for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++)
            if (batch_has(extent, i, kind))
                chosen[n++] = few[i];
        if (n == 0)
            continue;
        struct series s = series_make(300000, kind, 4);
        for (size_t i = 100000; i < 160000; i++) /* still for long, so that averages of changes decay */
            s.close[i] = s.high[i] = s.low[i] = s.close[99999];
        batch_try(compute, GPU_PARALLEL, INDICATOR_F64, chosen, n, &s, 1);
        series_free(&s);
    }
}

#endif
