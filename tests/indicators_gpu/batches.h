/* The batches that the GPU's kernels are tried with: on the CPU by blocks.c, on a device by device.c. */
#ifndef TESTS_INDICATORS_GPU_BATCHES_H
#define TESTS_INDICATORS_GPU_BATCHES_H

#include "tests/check.h"
#include "tests/indicators_gpu/block_runner.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/tolerance.h"

/* Computes a batch; `again` asks for another order of threads and blocks, where the caller has a say in it.
 */
typedef void batch_compute_fn(const struct gpu_batch *batch, bool again);

static const char *const batch_specs[] = {
    "sma:1",  "sma:20",       "sma:64",     "sma:65",        "sma:200",     "sma:5000", "ema:1",
    "ema:14", "ema:200",      "rsi:1",      "rsi:14",        "rsi:50",      "atr:1",    "atr:14",
    "macd",   "macd:26,12,9", "macd:1,1,1", "macd:200,3,50", "macd:5,35,1",
};
enum { BATCH_SPECS = sizeof(batch_specs) / sizeof(batch_specs[0]), BATCH_SERIES = 65, BATCH_COLUMNS = 32 };

static struct indicator_spec batch_spec(const char *text)
{
    struct indicator_spec spec = {0};
    char err[200] = "";
    CHECK_INT(indicator_spec_parse(text, &spec, err, sizeof(err)), 0);
    return spec;
}

static bool batch_same(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof(double)) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
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
            double tolerance = batch->method == GPU_EXACT ? 0.0 : tolerance_parallel(spec, top, n);
            CHECK_INT(indicator_reference(spec, &batch->series[s], n, reference.at), 0);
            for (size_t k = 0; k < spec->row->n_outputs; k++, column++) {
                size_t misses = tolerance_misses(batch->out[column], reference.at[k], n, tolerance);
                CHECK_INT(misses, 0);
                if (misses > 0)
                    fprintf(stderr, "  %s output %zu, %zu bars, series %zu\n", texts[i], k, n, s);
                CHECK(batch_same(batch->out[column], other[column], n));
            }
            outputs_free(&reference);
        }
    }
}

static void batch_try(batch_compute_fn *compute, enum gpu_method method, const char *const texts[],
                      size_t n_specs, const struct series all[], size_t n_series)
{
    struct indicator_spec specs[BATCH_SPECS];
    struct indicator_columns columns[BATCH_SERIES];
    static double *out[BATCH_SERIES * BATCH_COLUMNS], *other[BATCH_SERIES * BATCH_COLUMNS];
    for (size_t i = 0; i < n_specs; i++)
        specs[i] = batch_spec(texts[i]);
    for (size_t s = 0; s < n_series; s++)
        columns[s] = series_columns(&all[s]);
    struct gpu_batch batch = {method, n_series, all[0].n, columns, n_specs, specs, out};
    size_t n_columns = n_series * gpu_batch_columns(&batch);
    CHECK(n_columns <= BATCH_SERIES * BATCH_COLUMNS);
    for (size_t i = 0; i < n_columns; i++) {
        out[i] = block_poisoned(batch.n_bars * sizeof(double));
        other[i] = block_poisoned(batch.n_bars * sizeof(double));
    }
    compute(&batch, false);
    batch.out = other;
    compute(&batch, true);
    batch.out = out;
    batch_compare(&batch, texts, other);
    for (size_t i = 0; i < n_columns; i++) {
        free(out[i]);
        free(other[i]);
    }
}

/* Sizes around nothing, a warp, a tile, and each spec's first output. */
static void batch_try_sizes(batch_compute_fn *compute, enum gpu_method method, size_t largest)
{
    const size_t sizes[] = {0, 1, 31, 32, 33, 1000, 2047, 2048, 2049, 100003};
    const enum series_kind kinds[] = {SERIES_WALK, SERIES_JUMPS, SERIES_FLAT, SERIES_RISING};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= largest; i++)
        for (size_t k = 0; k < (sizes[i] > 5000 ? 2 : 4); k++) {
            struct series s = series_make(sizes[i], kinds[k], 77 + i);
            batch_try(compute, method, batch_specs, BATCH_SPECS, &s, 1);
            series_free(&s);
        }
    for (size_t i = 0; i < BATCH_SPECS; i++) {
        struct indicator_spec spec = batch_spec(batch_specs[i]);
        size_t lookback = indicator_lookback(&spec);
        for (size_t n = lookback ? lookback - 1 : 0; n <= lookback + 2 && n <= largest; n++) {
            struct series s = series_make(n, SERIES_WALK, 99);
            batch_try(compute, method, &batch_specs[i], 1, &s, 1);
            series_free(&s);
        }
    }
}

/* More series than a warp has threads, not a multiple of it; each begins with another number of NaNs. */
static void batch_try_many(batch_compute_fn *compute, enum gpu_method method)
{
    enum { BARS = 2500 };
    struct series all[BATCH_SERIES];
    for (size_t s = 0; s < BATCH_SERIES; s++) {
        all[s] = series_make(BARS, s % 7 == 3 ? SERIES_JUMPS : SERIES_WALK, 1000 + s);
        size_t skip = s < 40 ? s * 5 : s < 60 ? 2040 + s : BARS - (s - 60);
        for (size_t i = 0; i < skip; i++)
            (s % 2 ? all[s].close : all[s].low)[i] = NAN;
    }
    batch_try(compute, method, batch_specs, BATCH_SPECS, all, BATCH_SERIES);
    for (size_t s = 0; s < BATCH_SERIES; s++)
        series_free(&all[s]);
}

/* Enough tiles that one thread of block_carry has several. */
static void batch_try_long(batch_compute_fn *compute)
{
    const char *const few[] = {"sma:200", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"};
    struct series s = series_make(256 * TILE_BARS + 12345, SERIES_WALK, 4);
    batch_try(compute, GPU_PARALLEL, few, sizeof(few) / sizeof(few[0]), &s, 1);
    series_free(&s);
}

/* A row with a kernel that no batch holds fails. */
static void batch_check_rows(void)
{
    size_t n_rows;
    const struct indicator *const *rows = indicator_rows(&n_rows);
    for (size_t r = 0; r < n_rows; r++) {
        bool covered = rows[r]->id > INDICATOR_ATR;
        for (size_t i = 0; i < BATCH_SPECS; i++)
            covered |= batch_spec(batch_specs[i]).row == rows[r];
        CHECK(covered);
    }
}

#endif
