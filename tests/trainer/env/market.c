/* What a market is made of, and every input that is refused: by a sentence that names asset and row, before
 * anything is made. */
#include <errno.h>
#include <stdarg.h>

#include "tests/check.h"
#include "tests/trainer/env/walks.h"

enum { ROWS = 40, ASSETS = 3 };

static struct walks walks;
static struct env_params params;
static int64_t times[ROWS];
static float features[ROWS * 2];

static void fresh(enum env_execution execution)
{
    char err[ENV_ERROR_MAX];
    struct random random = {1};
    walks_finish(&walks);
    walks_make(&walks, &random, ROWS, ASSETS, false);
    env_params_preset(execution == ENV_MARKET ? "cappuccino" : "reference", &params, err);
    for (int r = 0; r < ROWS; r++)
        times[r] = walks.source.start_ns + r * walks.source.interval_ns;
    walks.source.open_ns = times;
}

/* Refused, and *ret is not written; the sentence has all words up to NULL. */
static void refused(const char *word, ...)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_market *market = (struct env_market *)&walks;
    CHECK_INT(env_market_create(&walks.source, &params, &market, err), -EINVAL);
    CHECK(market == (struct env_market *)&walks);
    CHECK(strchr(err, '\n') == NULL);
    va_list args;
    va_start(args, word);
    for (; word; word = va_arg(args, const char *)) {
        CHECK(strstr(err, word) != NULL);
        if (!strstr(err, word))
            fprintf(stderr, "\"%s\" does not say %s\n", err, word);
    }
    va_end(args);
    fresh(params.execution);
}

static struct env_market *made(void)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_market *market = NULL;
    CHECK_INT(env_market_create(&walks.source, &params, &market, err), 0);
    if (!market) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    return market;
}

static void test_prices(enum env_execution execution)
{
    static const double bad[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-50, 1e300};
    static const char *const names[] = {"open", "high", "low", "close"};
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            fresh(execution);
            walks.columns[1][k][17] = bad[i];
            refused("WALK1", "row 17", names[k], NULL);
        }
    fresh(execution);
    walks.columns[2][1][5] = walks.columns[2][2][5] - 0.5;
    refused("WALK2", "row 5", "high", "below low", NULL);
    walks.columns[0][0][9] = walks.columns[0][1][9] + 1;
    refused("WALK0", "row 9", "open", NULL);
    walks.columns[0][3][9] = walks.columns[0][2][9] / 2;
    refused("WALK0", "row 9", "close", NULL);
    walks.columns[1][4][3] = -1;
    refused("WALK1", "row 3", "volume", NULL);
    walks.columns[1][4][3] = NAN;
    refused("WALK1", "row 3", "volume", NULL);
    walks.assets[1].min_order_qty = -1;
    refused("WALK1", "min_order_qty", NULL);
    walks.assets[1].min_order_qty = NAN;
    refused("WALK1", "min_order_qty", NULL);
}

static void test_times(void)
{
    fresh(ENV_REFERENCE);
    times[20] = times[19];
    refused("row 20", "twice", NULL);
    times[20] = times[18];
    refused("row 20", "must rise", NULL);
    int64_t swapped = times[7];
    times[7] = times[8];
    times[8] = swapped;
    refused("row 8", "must rise", NULL);
    walks.source.interval_ns = 0;
    refused("interval_ns", NULL);
    walks.source.open_ns = NULL;
    walks.source.interval_ns = -60;
    refused("interval_ns", NULL);
    times[30] += 1; /* rising, though not evenly: right with execution reference alone */
    env_market_destroy(made());
    fresh(ENV_MARKET);
    times[30] += 1;
    refused("row 30", "rise by", NULL);
}

/* Whose sums and differences 64 bits do not hold. */
static void test_far_times(void)
{
    static const char *const presets[] = {"reference", "cappuccino", "day-trade"};
    char err[ENV_ERROR_MAX];
    for (int k = 0; k < 3; k++) {
        enum env_execution execution = k == 1 ? ENV_MARKET : ENV_REFERENCE;
        fresh(execution);
        env_params_preset(presets[k], &params, err);
        walks.source.n_assets = k == 2 ? 1 : ASSETS;
        walks.source.open_ns = NULL;
        struct env_market_source source = walks.source;
        struct env_params preset = params;
        static const int64_t starts[] = {INT64_MAX - 5, INT64_MIN + 5, (int64_t)1 << 62};
        for (int i = 0; i < 3; i++) {
            walks.source = source;
            params = preset;
            walks.source.start_ns = starts[i];
            refused("start_ns", "1970", NULL);
        }
        walks.source = source;
        walks.source.interval_ns = INT64_MAX / ROWS;
        refused("interval_ns", "40 rows last too long", NULL);
        times[0] = INT64_MIN;
        refused("row 0", "1970", NULL);
        times[ROWS - 1] = INT64_MAX;
        refused("row 39", "1970", NULL);
    }
    fresh(ENV_REFERENCE);
    for (int r = 0; r < ROWS; r++)
        times[r] = r < ROWS / 2 ? r - ((int64_t)1 << 62) + 1 : r + ((int64_t)1 << 62) - ROWS;
    env_market_destroy(made());
    walks.source.open_ns = NULL;
    walks.source.start_ns = ((int64_t)1 << 62) - 1;
    walks.source.interval_ns = ((int64_t)1 << 62) / (ROWS + 2) - 1;
    struct env_market *market = made();
    CHECK(env_market_open_ns(market, ROWS - 1) ==
          walks.source.start_ns + (ROWS - 1) * walks.source.interval_ns);
    env_market_destroy(market);
}

/* What is seen is finite: the product of what is given and norm_tech. */
static void test_seen(void)
{
    for (int k = 0; k < 2; k++) {
        enum env_execution execution = k ? ENV_MARKET : ENV_REFERENCE;
        fresh(execution);
        walks.columns[1][4][12] = 1e300;
        refused("WALK1", "row 12", "volume", "norm_tech", NULL);
        walks.columns[2][4][13] = 3e38;
        params.norm_tech = 2;
        refused("WALK2", "row 13", "volume", "norm_tech", NULL);
    }
    fresh(ENV_REFERENCE);
    walks.columns[0][1][17] = walks.columns[0][3][17] = 1e30; /* high and close */
    params.norm_tech = 1e12;
    refused("WALK0", "row 17", "close", "norm_tech", NULL);
    params.norm_tech = 0x1p-14;
    walks.source.features = features;
    walks.source.n_features = 2;
    features[2 * 23] = -1e30f;
    params.norm_tech = 1e12;
    refused("row 23", "feature 0", "norm_tech", NULL);
    walks.source.features = features;
    walks.source.n_features = 2;
    walks.source.first_row = 24; /* it is not seen */
    params.norm_tech = 1e12;
    params.lookback = 2;
    env_market_destroy(made());
    features[2 * 23] = 0;
}

static void test_shapes(void)
{
    fresh(ENV_REFERENCE);
    walks.source.n_assets = 0;
    refused("assets", NULL);
    walks.source.n_assets = ENV_ASSETS_MAX + 1;
    refused("assets", NULL);
    walks.source.assets = NULL;
    refused("assets", NULL);
    walks.assets[2].close = NULL;
    refused("WALK2", "close", NULL);
    walks.assets[2].volume = NULL;
    refused("WALK2", "volume", NULL);
    walks.source.rows = 0;
    refused("rows", "lookback 3", NULL);
    walks.source.rows = 6;
    refused("rows: 6", "at least 7", NULL);
    walks.source.first_row = ROWS - 6;
    refused("rows", "at least 7", NULL);
    walks.source.first_row = ROWS + 1;
    refused("rows", NULL);
    params.episode_bars = ROWS + 1;
    refused("rows", "at least 41", NULL);
    params.lookback = ENV_LOOKBACK_MAX;
    refused("lookback 4096", NULL);
    walks.source.rows = (size_t)1 << 40;
    refused("rows", NULL);
    walks.source.rows = (size_t)-1;
    refused("rows: -1:", NULL);
    walks.source.features = features;
    walks.source.n_features = 0;
    refused("features", NULL);
    walks.source.features = features;
    walks.source.n_features = 2;
    features[2 * 11 + 1] = NAN;
    refused("row 11", "feature 1", NULL);
    features[2 * 11 + 1] = 0;
    params.gamma = 2;
    refused("gamma", NULL);
    uint64_t present = ~(uint64_t)(1 << 13);
    walks.assets[1].present = &present;
    refused("WALK1", "row 13", "missing", NULL);
    walks.source.rows = 7;
    env_market_destroy(made());
}

static void test_exchange(void)
{
    fresh(ENV_MARKET);
    walks.assets[1].symbol = NULL;
    refused("WALK1", "symbol", NULL);
    walks.assets[1].high = NULL;
    refused("WALK1", "high", NULL);
    walks.symbols[2].trading = false;
    refused("WALK2", "symbol", "does not trade", NULL);
    walks.symbols[2].trading = true;
    walks.symbols[2].filters.step = -1;
    refused("WALK2", "symbol", NULL);
    walks.symbols[2].quote_scale = 2;
    refused("WALK2", "quote", NULL);
    params.initial_capital.high = 1e9;
    refused("initial_capital", NULL);
    for (int i = 0; i < ASSETS; i++)
        walks.symbols[i].quote_scale = 2;
    params.initial_capital.low = 0.004;
    refused("initial_capital: 0.004", "from 0.01", NULL);
    walks.columns[1][1][6] = 1e9;
    refused("WALK1", "row 6", "price", NULL);
    uint64_t none = 0;
    walks.assets[0].present = &none;
    refused("WALK0", "no bar", NULL);
}

static void test_what_is_made(void)
{
    fresh(ENV_REFERENCE);
    struct env_market *market = made();
    const struct env_market_view *view = env_market_view(market);
    CHECK_INT(view->rows, ROWS);
    CHECK_INT(view->n, ASSETS);
    CHECK_INT(view->n_features, 2 * ASSETS);
    CHECK_INT(view->row_stride, 16);
    CHECK(((uintptr_t)view->close & 63) == 0);
    CHECK(view->bars == NULL);
    CHECK_STR(env_market_asset(market, 2), "WALK2");
    CHECK(env_market_open_ns(market, 9) == times[9]);
    for (size_t r = 0; r < ROWS; r++)
        for (int i = 0; i < 16; i++) {
            float close = i < ASSETS ? (float)walks.columns[i][3][r] : 0;
            CHECK(view->close[r * 16 + (size_t)i] == close);
            if (i >= ASSETS)
                continue;
            const float *row = view->features + (ROWS - 1 - r) * 2 * ASSETS;
            CHECK(row[i] == close * 0x1p-14f);
            CHECK(row[ASSETS + i] == (float)walks.columns[i][4][r] * 0x1p-14f);
        }
    env_market_destroy(market);
    env_market_destroy(NULL);

    walks.source.open_ns = NULL;
    walks.source.features = features;
    walks.source.n_features = 2;
    for (int k = 0; k < 2 * ROWS; k++)
        features[k] = (float)k;
    features[0] = NAN; /* rows before the first are not read */
    walks.source.first_row = 1;
    walks.assets[0].name = NULL;
    walks.assets[0].volume = NULL;
    params.norm_tech = 0.5;
    market = made();
    view = env_market_view(market);
    CHECK_INT(view->first_row, 1);
    CHECK(view->features[0] == ROWS - 1 && view->features[1] == ROWS - 0.5f);
    CHECK_STR(env_market_asset(market, 0), "asset 0");
    CHECK(env_market_open_ns(market, 9) == times[9]);
    env_market_destroy(market);
    features[0] = 0;
}

/* Missing bars: nothing in `bars`, the last close in what is seen. */
static void test_gaps(void)
{
    fresh(ENV_MARKET);
    uint64_t present = ~(uint64_t)0 << 2 & ~((uint64_t)1 << 13);
    walks.assets[1].present = &present;
    walks.columns[1][3][0] = NAN;
    walks.columns[1][3][13] = -5;
    struct env_market *market = made();
    const struct env_market_view *view = env_market_view(market);
    for (size_t r = 0; r < ROWS; r++) {
        bool there = r >= 2 && r != 13;
        const double *bar = view->bars + (r * ASSETS + 1) * 4;
        for (int k = 0; k < 4; k++)
            CHECK(bar[k] == (there ? rint(walks.columns[1][k][r] * 1e8) : 0));
        double seen = walks.columns[1][3][r < 2 ? 2 : r == 13 ? 12 : r];
        CHECK(view->close[r * 16 + 1] == (float)seen);
        CHECK((view->features[(ROWS - 1 - r) * 6 + 4] > 0) <= there);
    }
    env_market_destroy(market);
}

int main(void)
{
    test_prices(ENV_REFERENCE);
    test_prices(ENV_MARKET);
    test_times();
    test_far_times();
    test_seen();
    test_shapes();
    test_exchange();
    test_what_is_made();
    test_gaps();
    walks_finish(&walks);
    return check_done("trainer/env/market");
}
