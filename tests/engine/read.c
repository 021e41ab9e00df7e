/* What a page or an export says that a strategy read is what it was given: a strategy that notes its inputs,
 * bar by bar in the engine, on bars with gaps and in a longer interval too. */
#include "engine/backtest/read.h"

#include <errno.h>

#include "strategy/strategy.h"
#include "tests/engine/synthetic_market.h"

#define E8 INT64_C(100000000)

enum { ROWS = 6000, FROM = 700, SYMBOLS = 2, OUTPUTS = 6 };

/* By the bar's close, of the symbol with that close; both symbols have the same rows. */
static struct {
    const struct market *market;
    double values[SYMBOLS][ROWS][OUTPUTS];
    bool seen[SYMBOLS][ROWS];
} noted;

static size_t specs_of(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    static const char *const words[] = {"sma:20", "rsi:14", "macd:12,26,9", "ema:9@15m"};
    enum { N = sizeof words / sizeof *words };
    (void)params;
    for (int i = 0; i < N; i++)
        snprintf(specs[i], STRATEGY_SPEC_TEXT, "%s", words[i]);
    return N;
}

static size_t note(const double *params, void *state, const struct strategy_input *input,
                   struct intent *intents)
{
    const struct market *market = noted.market;
    const size_t row = (size_t)((input->ts_ns - market->start_ns) / market->interval_ns) - 1;
    (void)params;
    (void)state;
    (void)intents;
    for (int s = 0; s < SYMBOLS; s++)
        if (market_present(&market->series[s], row) && market->series[s].close[row] == input->close &&
            market->series[s].open[row] == input->open && market->series[s].high[row] == input->high) {
            memcpy(noted.values[s][row], input->indicators, sizeof noted.values[s][row]);
            noted.seen[s][row] = true;
        }
    return 0;
}

static void check_symbol(const struct backtest_config *config, int symbol)
{
    static const char *const names[OUTPUTS] = {
        "sma_20", "rsi_14", "macd_12_26_9.macd", "macd_12_26_9.signal", "macd_12_26_9.hist", "ema_9@15m"};
    const struct market_series *series = &config->market->series[symbol];
    struct backtest_read read;
    char err[SPECS_ERROR_MAX] = "";
    CHECK_INT(backtest_read_symbol(config, 0, symbol, &read, err), 0);
    CHECK_INT(read.n, OUTPUTS);
    CHECK_INT(read.rows, config->to - config->from);
    for (int k = 0; k < OUTPUTS; k++)
        CHECK_STR(read.names[k], names[k]);
    size_t compared = 0, numbers = 0;
    for (size_t row = config->from; row < config->to; row++)
        for (int k = 0; k < OUTPUTS; k++) {
            double value = read.values[(size_t)k * read.rows + row - config->from];
            if (!market_present(series, row)) {
                CHECK(isnan(value));
                continue;
            }
            CHECK(noted.seen[symbol][row]);
            double wanted = noted.values[symbol][row][k];
            CHECK(isnan(wanted) ? isnan(value) : value == wanted);
            compared++;
            numbers += isfinite(value) != 0;
        }
    CHECK(compared > OUTPUTS * (ROWS - FROM) / 2 && numbers > compared / 2);
    backtest_read_finish(&read);
}

static void check_none(const struct backtest_config *config)
{
    struct account_spec by_hand = config->accounts[0];
    struct backtest_config other = *config;
    struct backtest_read read;
    char err[SPECS_ERROR_MAX] = "";
    by_hand.strategy = NULL;
    other.accounts = &by_hand;
    CHECK_INT(backtest_read_names(&other, 0, &read, err), 0);
    CHECK(read.n == 0 && read.rows == 0 && !read.values);
    backtest_read_finish(&read);
    CHECK_INT(backtest_read_symbol(&other, 0, 0, &read, err), 0);
    CHECK(read.n == 0);
    backtest_read_finish(&read);
}

int main(void)
{
    static const struct strategy noting = {
        .name = "noting", .summary = "notes", .specs = specs_of, .on_bar = note};
    struct random random = random_seeded("read", 32);
    struct synthetic_market made;
    made_open(&made, &random, &made_coin, SYMBOLS, ROWS, INT64_C(60) * 1000000000);
    noted.market = &made.market;
    const struct account_spec account = {.name = "noting",
                                         .currency = "USDT",
                                         .currency_scale = 8,
                                         .cash = 10000 * E8,
                                         .rules = {.fees = {1000, 2000}},
                                         .strategy = &noting};
    const struct backtest_config config = {.market = &made.market,
                                           .from = FROM,
                                           .to = ROWS,
                                           .accounts = &account,
                                           .n_accounts = 1,
                                           .way = BACKTEST_ENGINE,
                                           .threads = 1};
    struct backtest backtest;
    char err[256] = "";
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), 0);
    CHECK_STR(err, "");
    for (int s = 0; s < SYMBOLS; s++)
        check_symbol(&config, s);
    check_none(&config);
    backtest_finish(&backtest);
    made_close(&made);
    return check_done("read");
}
