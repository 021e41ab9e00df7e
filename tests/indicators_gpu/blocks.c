/* The GPU kernels' block functions, on the CPU: exact ones bit for bit, parallel ones within their tolerance
 * and the same in whatever order threads and blocks run. */
#include "tests/check.h"
#include "tests/indicators_gpu/block_runner.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/tolerance.h"

static struct indicator_spec spec_of(const char *text)
{
    struct indicator_spec spec = {0};
    char err[200] = "";
    CHECK_INT(indicator_spec_parse(text, &spec, err, sizeof(err)), 0);
    return spec;
}

static double largest(const double *x, size_t n)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(x[i]));
    return top;
}

enum { BATCH_OUTPUTS = 64 * 80 };

static double *outs[BATCH_OUTPUTS], *again[BATCH_OUTPUTS];

static void test_batch(enum gpu_method method, const char *const texts[], size_t n_specs,
                       const struct series *all, size_t n_series)
{
    struct indicator_spec specs[32];
    struct indicator_columns columns[80];
    for (size_t i = 0; i < n_specs; i++)
        specs[i] = spec_of(texts[i]);
    for (size_t s = 0; s < n_series; s++)
        columns[s] = series_columns(&all[s]);
    struct gpu_batch batch = {.method = method,
                              .n_series = n_series,
                              .n_bars = all[0].n,
                              .series = columns,
                              .n_specs = n_specs,
                              .specs = specs,
                              .out = outs};
    size_t width = gpu_batch_columns(&batch), n = batch.n_bars;
    CHECK(n_series * width <= BATCH_OUTPUTS);
    for (size_t i = 0; i < n_series * width; i++) {
        outs[i] = series_column(n);
        again[i] = series_column(n);
    }
    bool kept = false;
    CHECK_INT(block_compute(&batch, false, &kept), 0);
    CHECK(kept);
    batch.out = again;
    CHECK_INT(block_compute(&batch, true, &kept), 0);
    CHECK(kept);

    for (size_t s = 0; s < n_series; s++) {
        double top = largest(all[s].high, n);
        size_t column = s * width;
        for (size_t i = 0; i < n_specs; i++) {
            struct outputs reference = outputs_make(specs[i].row, n);
            double tolerance = method == GPU_EXACT ? 0.0 : tolerance_parallel(&specs[i], top, n);
            CHECK_INT(indicator_reference(&specs[i], &columns[s], n, reference.at), 0);
            for (size_t k = 0; k < specs[i].row->n_outputs; k++, column++) {
                size_t misses = tolerance_misses(outs[column], reference.at[k], n, tolerance);
                CHECK_INT(misses, 0);
                if (misses > 0)
                    fprintf(stderr, "  %s output %zu, %zu bars, series %zu\n", texts[i], k, n, s);
                CHECK(n == 0 || memcmp(outs[column], again[column], n * sizeof(double)) == 0);
            }
            outputs_free(&reference);
        }
    }
    for (size_t i = 0; i < n_series * width; i++) {
        free(outs[i]);
        free(again[i]);
    }
}

static const char *const specs[] = {
    "sma:1",  "sma:20",       "sma:64",     "sma:65",        "sma:200",     "sma:5000", "ema:1",
    "ema:14", "ema:200",      "rsi:1",      "rsi:14",        "rsi:50",      "atr:1",    "atr:14",
    "macd",   "macd:26,12,9", "macd:1,1,1", "macd:200,3,50", "macd:5,35,1",
};
enum { N_SPECS = sizeof(specs) / sizeof(specs[0]) };

/* Sizes around nothing, around each spec's first output, around a warp and around a tile. */
static void test_sizes(enum gpu_method method)
{
    const size_t sizes[] = {0, 1, 31, 32, 33, 1000, 2047, 2048, 2049, 100003};
    const enum series_kind kinds[] = {SERIES_WALK, SERIES_JUMPS, SERIES_FLAT, SERIES_RISING};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t k = 0; k < (sizes[i] > 5000 ? 2 : 4); k++) {
            struct series s = series_make(sizes[i], kinds[k], 77 + i);
            test_batch(method, specs, N_SPECS, &s, 1);
            series_free(&s);
        }
    for (size_t i = 0; i < N_SPECS; i++) {
        struct indicator_spec spec = spec_of(specs[i]);
        size_t lookback = indicator_lookback(&spec);
        for (size_t n = lookback ? lookback - 1 : 0; n <= lookback + 2; n++) {
            struct series s = series_make(n, SERIES_WALK, 99);
            test_batch(method, &specs[i], 1, &s, 1);
            series_free(&s);
        }
    }
}

/* More series than a warp has threads, not a multiple of it; each begins with another number of NaNs. */
static void test_many(enum gpu_method method)
{
    enum { N = 65, BARS = 2500 };
    struct series all[N];
    for (size_t s = 0; s < N; s++) {
        all[s] = series_make(BARS, s % 7 == 3 ? SERIES_JUMPS : SERIES_WALK, 1000 + s);
        size_t skip = s < 40 ? s * 5 : s < 60 ? 2040 + s : BARS - (s - 60);
        for (size_t i = 0; i < skip; i++)
            (s % 2 ? all[s].close : all[s].low)[i] = NAN;
    }
    test_batch(method, specs, N_SPECS, all, N);
    for (size_t s = 0; s < N; s++)
        series_free(&all[s]);
}

/* Enough tiles that one thread of block_carry has several. */
static void test_long(void)
{
    const char *const few[] = {"sma:200", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"};
    struct series s = series_make(256 * TILE_BARS + 12345, SERIES_WALK, 4);
    test_batch(GPU_PARALLEL, few, sizeof(few) / sizeof(few[0]), &s, 1);
    series_free(&s);
}

int main(void)
{
    size_t n_rows;
    const struct indicator *rows = indicator_rows(&n_rows);
    for (size_t r = 0; r < n_rows; r++) {
        bool covered = rows[r].kernel == INDICATOR_KERNEL_NONE;
        for (size_t i = 0; i < N_SPECS; i++)
            covered |= spec_of(specs[i]).row == &rows[r];
        CHECK(covered);
    }
    CHECK_INT(TOLERANCE_SMA_WINDOW, SMA_WINDOW_MAX);
    test_sizes(GPU_EXACT);
    test_many(GPU_EXACT);
    test_sizes(GPU_PARALLEL);
    test_many(GPU_PARALLEL);
    test_long();
    return check_done("indicators_gpu/blocks");
}
