/* Splits and dividends in a backtest: as a live engine has them that plays a log of the same events, as a run
 * on adjusted bars, with sums that add up; before nothing that came earlier; and files of them, good and bad.
 */
#include <errno.h>

#include "engine/backtest/actions_file.h"
#include "engine/backtest/guard.h"
#include "engine/backtest/report.h"
#include "engine/record.h"
#include "record/codec.h"
#include "tests/engine/synthetic_market.h"
#include "tests/scratch.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (INT64_C(60) * 1000000000)

enum { SYMBOLS = 2, ROWS = 6000, FROM = 500, ROWS_MOST = 1 << 15 };

static const struct made_walk walk = {.gaps_permille = 5,
                                      .gap_longest = 9,
                                      .steps = 40,
                                      .start = 600 * E8,
                                      .tick = E8 / 100,
                                      .step = E8 / 100000};

static struct synthetic_market made;
static struct backtest_action actions[8];
static size_t n_actions;

static int64_t row_ns(size_t row)
{
    return market_open_ns(&made.market, row);
}

static void act(const char *id, int symbol, int64_t at_ns, int64_t shares, int64_t per, int64_t cash)
{
    struct backtest_action *to = &actions[n_actions++];
    *to = (struct backtest_action){.symbol = symbol,
                                   .at_ns = at_ns,
                                   .action = {.kind = cash > 0 ? ACTION_DIVIDEND : ACTION_SPLIT,
                                              .ex_ns = at_ns,
                                              .shares = shares,
                                              .per = per,
                                              .cash = cash}};
    snprintf(to->action.id, sizeof to->action.id, "%s", id);
}

/* Makes bars from a row on those of new shares: prices times per / shares, on the tick. */
static void split_prices(int symbol, size_t from, double per_share)
{
    for (size_t row = from; row < made.market.rows; row++)
        for (int k = 0; k < 4; k++) {
            double ticks = round(made.columns[symbol][k][row] * per_share * 100);
            made.columns[symbol][k][row] =
                decimal_to_double((int64_t)(ticks < 1 ? 1 : ticks) * (E8 / 100), 8);
        }
}

static void open_market(struct random *random)
{
    made_open(&made, random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    n_actions = 0;
    act("past", 0, row_ns(FROM - 40), 3, 1, 0); /* in the history */
    act("2:1", 0, row_ns(1500), 2, 1, 0);
    act("cash", 0, row_ns(1500), 0, 0, 750000000); /* of the same moment */
    act("reverse", 1, row_ns(2500) + 17, 1, 5, 0); /* within a bar */
    act("cash", 1, row_ns(3300), 0, 0, 1234567891);
    act("odd", 0, row_ns(4000), 7, 3, 0);
    split_prices(0, FROM - 40, 1.0 / 3);
    split_prices(0, 1500, 1.0 / 2);
    split_prices(1, 2500, 5);
    split_prices(0, 4000, 3.0 / 7);
}

static struct account_spec account_of(const char *name, const char *strategy, bool shorts)
{
    struct account_spec spec = {.currency = "USDT",
                                .currency_scale = 8,
                                .cash = 10000 * E8,
                                .rules = {.fees = {1000, 1000}},
                                .strategy = strategy_find(strategy)};
    snprintf(spec.name, sizeof spec.name, "%s", name);
    strategy_defaults(spec.strategy, spec.params);
    if (shorts) {
        spec.rules.shorts = true;
        spec.rules.collateral_e4 = 15000;
        spec.rules.maintenance_e4 = 12500;
        spec.rules.borrow_rate_e6 = 50000;
        CHECK_INT(strategy_set(spec.strategy, spec.params, "direction", "both", NULL), 0);
    }
    return spec;
}

static struct backtest_config config_of(const struct account_spec *accounts, int n)
{
    return (struct backtest_config){.market = &made.market,
                                    .actions = actions,
                                    .n_actions = n_actions,
                                    .from = FROM,
                                    .to = ROWS,
                                    .accounts = accounts,
                                    .n_accounts = n,
                                    .latency_ns = 50000000,
                                    .slippage_e6 = 100,
                                    .orders = true,
                                    .ledger = true};
}

static struct backtest run(const struct backtest_config *config)
{
    struct backtest backtest = {0};
    char err[512] = "";
    CHECK_INT(backtest_run(config, &backtest, err, sizeof err), 0);
    CHECK_STR(err, "");
    return backtest;
}

/* ---- a live engine that plays a log ---- */

struct live {
    struct engine *engine;
    struct codec codec;
    struct event_memory memory;
    struct order orders[ROWS_MOST];
    struct fill fills[ROWS_MOST];
    struct ledger_row ledger[ROWS_MOST];
    size_t n_orders, n_fills, n_ledger, n_actions;
    bool waits[SYMBOLS];
};

static struct live live;

static void on_order(void *ctx, const struct order *order)
{
    (void)ctx;
    live.orders[order->id - 1] = *order;
    live.n_orders = order->id > live.n_orders ? order->id : live.n_orders;
}

static void on_fill(void *ctx, const struct fill *fill)
{
    (void)ctx;
    live.fills[live.n_fills++] = *fill;
}

static void on_ledger(void *ctx, const struct ledger_row *row)
{
    (void)ctx;
    live.ledger[live.n_ledger++] = *row;
}

static void on_action(void *ctx, int symbol, const struct corporate_action *action, int64_t ts_ns)
{
    (void)ctx, (void)symbol, (void)action, (void)ts_ns;
    live.n_actions++;
}

static void on_need_bars(void *ctx, int symbol, int64_t from_ns, int64_t to_ns)
{
    (void)ctx, (void)from_ns, (void)to_ns;
    live.waits[symbol] = true;
}

/* As the log has it: encoded, and read again. */
static void play(const struct event *event)
{
    struct event again;
    CHECK_INT(event_encode(event, &live.codec), 0);
    CHECK_INT(event_decode(live.codec.bytes, live.codec.len, &live.memory, &again), 0);
    again.seq = event->seq;
    again.recv_ns = event->recv_ns;
    CHECK_INT(engine_handle(live.engine, &again), 0);
}

static struct bar bar_at(int symbol, size_t row)
{
    const struct market_series *series = &made.series[symbol];
    struct bar bar = {.open_ns = row_ns(row), .first_trade_id = -1, .last_trade_id = -1};
    CHECK(decimal_from_double(series->open[row], 8, &bar.open) == 0 &&
          decimal_from_double(series->high[row], 8, &bar.high) == 0 &&
          decimal_from_double(series->low[row], 8, &bar.low) == 0 &&
          decimal_from_double(series->close[row], 8, &bar.close) == 0 &&
          decimal128_from_double(series->volume[row], 8, &bar.volume) == 0);
    return bar;
}

static void play_bar(int symbol, size_t row)
{
    struct bar bar = bar_at(symbol, row);
    struct event event = {.seq = row * SYMBOLS + (size_t)symbol + 1, .recv_ns = row_ns(row + 1)};
    if (row < FROM) {
        event.kind = EVENT_BARS;
        event.bars.symbol = symbol;
        event.bars.bars = &bar;
        event.bars.n = 1;
    } else {
        event.kind = EVENT_MARKET;
        event.market = (struct market_event){.kind = MARKET_KLINE,
                                             .symbol = symbol,
                                             .event_ns = event.recv_ns,
                                             .kline = {.interval_ns = MINUTE_NS, .closed = true, .bar = bar}};
    }
    play(&event);
    for (int s = 0; s < SYMBOLS; s++) /* the bars before it never come */
        if (live.waits[s]) {
            live.waits[s] = false;
            play(&(struct event){
                .seq = event.seq, .recv_ns = event.recv_ns, .kind = EVENT_BARS, .bars = {.symbol = s}});
        }
}

/* What was received, by time: a bar at its end, an action at its moment, after the bars that end then. */
static void play_log(const struct backtest_config *config)
{
    size_t next = 0;
    struct engine_config setup = {.symbols = (struct symbol[]){made.series[0].symbol, made.series[1].symbol},
                                  .n_symbols = SYMBOLS,
                                  .accounts = config->accounts,
                                  .n_accounts = config->n_accounts,
                                  .interval_ns = MINUTE_NS,
                                  .latency_ns = config->latency_ns,
                                  .fill_model = FILL_BAR,
                                  .slippage_e6 = config->slippage_e6};
    struct engine_sink sink = {.order = on_order,
                               .fill = on_fill,
                               .ledger = on_ledger,
                               .action = on_action,
                               .need_bars = on_need_bars};
    memset(&live, 0, sizeof live);
    CHECK_INT(engine_create(&setup, &sink, &live.engine), 0);
    for (size_t row = 0; row < ROWS; row++) {
        bool any = market_any_present(&made.market, row);
        for (; any && next < n_actions && actions[next].at_ns < row_ns(row + 1); next++)
            play(&(struct event){.seq = row * SYMBOLS,
                                 .recv_ns = actions[next].at_ns,
                                 .kind = EVENT_ACTION,
                                 .action = {actions[next].symbol, actions[next].action}});
        for (int s = 0; s < SYMBOLS; s++)
            if (market_present(&made.series[s], row))
                play_bar(s, row);
    }
}

static void close_log(void)
{
    engine_destroy(live.engine);
    codec_finish(&live.codec);
    event_memory_finish(&live.memory);
}

static bool same_fill(const struct fill *a, const struct fill *b)
{
    return a->id == b->id && a->order_id == b->order_id && a->symbol == b->symbol && a->side == b->side &&
           a->ts_ns == b->ts_ns && a->price == b->price && a->qty == b->qty && a->notional == b->notional &&
           a->fee == b->fee && a->input_seq == b->input_seq && a->account == b->account;
}

static void compare(const struct backtest *backtest)
{
    size_t n_orders = 0, n_fills = 0, n_ledger = 0;
    for (int a = 0; a < backtest->n_accounts; a++) {
        const struct backtest_account *of = &backtest->accounts[a];
        n_orders += of->n_orders;
        n_fills += of->n_fills;
        n_ledger += of->n_ledger;
        for (size_t i = 0; i < of->n_orders; i++)
            CHECK(memcmp(&of->orders[i], &live.orders[of->orders[i].id - 1], sizeof(struct order)) == 0);
        for (size_t i = 0; i < of->n_fills; i++)
            CHECK(same_fill(&of->fills[i], &live.fills[of->fills[i].id - 1]));
        for (size_t i = 0; i < of->n_ledger; i++)
            CHECK(memcmp(of->ledger[i].hash, live.ledger[of->ledger[i].id - 1].hash, LEDGER_HASH_SIZE) == 0);
        CHECK_INT(of->n_taken, n_actions);
        CHECK_INT(of->final_equity, engine_equity(live.engine, a));
    }
    CHECK_INT(n_orders, live.n_orders);
    CHECK_INT(n_fills, live.n_fills);
    CHECK_INT(n_ledger, live.n_ledger);
    CHECK_INT(live.n_actions, n_actions);
}

static struct {
    size_t splits, dividends, negative, trades, paid;
} seen;

static void count(const struct backtest_account *account)
{
    for (size_t i = 0; i < account->n_ledger; i++) {
        const struct ledger_row *row = &account->ledger[i];
        seen.splits += row->kind == LEDGER_SPLIT;
        seen.dividends += row->kind == LEDGER_DIVIDEND && row->amount > 0;
        seen.negative += row->kind == LEDGER_DIVIDEND && row->amount < 0;
    }
}

/* Profits, with dividends, are what an account without interest gained; equity does not jump at a split. */
static void check_sums(const struct backtest_account *account)
{
    int64_t profit = 0, dividends = 0, booked = 0;
    for (size_t i = 0; i < account->n_trades; i++) {
        profit += account->trades[i].profit;
        dividends += account->trades[i].dividends;
        seen.trades += account->trades[i].dividends > 0;
    }
    for (size_t i = 0; i < account->n_ledger; i++)
        booked += account->ledger[i].kind == LEDGER_DIVIDEND ? account->ledger[i].amount : 0;
    CHECK_INT(dividends, booked);
    CHECK_INT(10000 * E8 + profit, account->final_equity);
    for (size_t row = 1; row < ROWS - FROM; row++)
        CHECK(fabs(account->equity[row] / account->equity[row - 1] - 1) < 0.02);
    CHECK_NEAR((double)account->final_equity / E8, account->equity[ROWS - FROM - 1], 1e-6);
}

static void test_as_live(struct random *random)
{
    open_market(random);
    const struct account_spec accounts[] = {account_of("long", "sma-cross", false),
                                            account_of("both", "sma-cross", true),
                                            account_of("stops", "sma-cross-rsi-risk", false)};
    const struct backtest_config config = config_of(accounts, 3);
    struct backtest backtest = run(&config);
    play_log(&config);
    compare(&backtest);
    for (int a = 0; a < 3; a++) {
        CHECK_INT(backtest.accounts[a].way, BACKTEST_ENGINE);
        CHECK(backtest.accounts[a].n_fills > 20);
        count(&backtest.accounts[a]);
    }
    check_sums(&backtest.accounts[0]);
    check_sums(&backtest.accounts[2]);
    backtest_finish(&backtest);
    close_log();
    made_close(&made);
}

/* ---- adjusted bars ---- */

/* Prices of whole ticks on both sides of a split of 4 for 1: the decisions are those on adjusted bars, at the
 * same rows, with as many new shares, and nearly the same equity: quantities keep to the same step. */
static void test_adjusted(struct random *random)
{
    made_open(&made, random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    n_actions = 0;
    const struct account_spec account = account_of("one", "sma-cross-rsi-risk", false);
    struct backtest adjusted, raw;
    struct backtest_config config = config_of(&account, 1);
    adjusted = run(&config);
    act("4:1", 0, row_ns(3000), 4, 1, 0);
    for (size_t row = 0; row < 3000; row++)
        for (int k = 0; k < 4; k++)
            made.columns[0][k][row] *= 4;
    config = config_of(&account, 1);
    raw = run(&config);
    const struct backtest_account *a = &adjusted.accounts[0], *b = &raw.accounts[0];
    CHECK_INT(a->n_orders, b->n_orders);
    CHECK_INT(a->n_fills, b->n_fills);
    for (size_t i = 0; i < a->n_fills && i < b->n_fills; i++) {
        const struct fill *x = &a->fills[i], *y = &b->fills[i];
        int64_t factor = y->symbol == 0 && y->ts_ns < row_ns(3000) ? 4 : 1;
        CHECK(x->symbol == y->symbol && x->side == y->side && x->ts_ns == y->ts_ns);
        CHECK_NEAR((double)y->qty * (double)factor / (double)x->qty, 1, 1e-3);
        CHECK_NEAR((double)y->price / (double)factor / (double)x->price, 1, 1e-4);
    }
    for (size_t row = 0; row < ROWS - FROM; row++)
        CHECK_NEAR(b->equity[row] / a->equity[row], 1, 1e-3);
    const struct report_config options = {.benchmark = REPORT_BENCHMARK_FIRST};
    double *held, *held_raw;
    CHECK_INT(backtest_report_benchmark(&config, 0, &options, &held_raw), 0);
    for (size_t row = 0; row < 3000; row++)
        for (int k = 0; k < 4; k++)
            made.columns[0][k][row] /= 4;
    config.n_actions = 0;
    CHECK_INT(backtest_report_benchmark(&config, 0, &options, &held), 0);
    for (size_t row = 0; row < ROWS - FROM; row++)
        CHECK_NEAR(held_raw[row] / held[row], 1, 1e-9);
    free(held);
    free(held_raw);
    backtest_finish(&adjusted);
    backtest_finish(&raw);
    made_close(&made);
}

/* ---- nothing before ---- */

/* What was ordered and filled before an action, or without one at all, does not depend on it. */
static void test_not_before(struct random *random)
{
    open_market(random);
    const struct account_spec account = account_of("one", "sma-cross", false);
    struct backtest_config config = config_of(&account, 1);
    struct backtest with = run(&config);
    config.n_actions = 1; /* of the history only */
    struct backtest without = run(&config);
    const struct backtest_account *a = &with.accounts[0], *b = &without.accounts[0];
    size_t n = 0;
    for (; n < a->n_fills && a->fills[n].ts_ns < row_ns(1500); n++)
        CHECK(n < b->n_fills && same_fill(&a->fills[n], &b->fills[n]));
    CHECK(n > 5 && n < a->n_fills);
    CHECK(memcmp(a->equity, b->equity, (1500 - FROM) * sizeof *a->equity) == 0);
    struct guard_config guard = {
        .market = &made.market, .actions = actions, .n_actions = n_actions, .account = &account, .cuts = 8};
    struct guard_lookahead found = {0};
    char err[512] = "";
    CHECK_INT(backtest_guard_lookahead(&guard, &found, err, sizeof err), 0);
    CHECK(!found.found && found.decisions > 20 && !found.columns);
    backtest_finish(&with);
    backtest_finish(&without);
    made_close(&made);
}

/* ---- what is refused ---- */

static void refused(const char *why)
{
    const struct account_spec account = account_of("one", "sma-cross", false);
    const struct backtest_config config = config_of(&account, 1);
    struct backtest backtest;
    char err[512] = "";
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), -EINVAL);
    CHECK_STR(err, why);
}

static const char *const not_one = "action 1: a split of 1 to 1000000000 shares for 1 to 1000000000, or a "
                                   "dividend above 0, of a symbol that has bars is needed";

static void test_refused(struct random *random)
{
    made_open(&made, random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    n_actions = 0;
    act("none", 0, row_ns(1000), 0, 1, 0);
    refused(not_one);
    actions[0].action.shares = 2;
    actions[0].symbol = SYMBOLS;
    refused(not_one);
    actions[0].symbol = 0;
    actions[0].at_ns--;
    refused(not_one);
    actions[0].at_ns++;
    act("before", 0, row_ns(900), 2, 1, 0);
    refused("action 2: it comes before that before it");
    n_actions = 1;
    const struct account_spec account = account_of("one", "sma-cross", false);
    struct backtest_config config = config_of(&account, 1);
    struct backtest backtest;
    char err[512] = "";
    config.way = BACKTEST_COLUMNS;
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), -EINVAL);
    CHECK_STR(err,
              "account one cannot be vectorised, for splits and dividends change what is held: leave the "
              "way open, or take the engine's");
    made_close(&made);
}

/* ---- files ---- */

static char folder[SCRATCH_MAX], path[SCRATCH_PATH_MAX];

static int read_text(const char *text, struct backtest_actions *ret, char err[static ACTIONS_ERROR_MAX])
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
    err[0] = '\0';
    return backtest_actions_read(path, &made.market, NULL, ret, err);
}

static void bad_file(const char *text, const char *why)
{
    struct backtest_actions of = {0};
    char err[ACTIONS_ERROR_MAX], want[ACTIONS_ERROR_MAX];
    CHECK_INT(read_text(text, &of, err), -EINVAL);
    snprintf(want, sizeof want, "%s%s", path, why);
    CHECK_STR(err, want);
    CHECK(!of.list);
}

#define HEADER "symbol,kind,ex_ns,shares,per,cash\n"

static void test_files(struct random *random)
{
    struct backtest_actions of;
    char err[ACTIONS_ERROR_MAX];
    made_open(&made, random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    scratch_make(folder);
    snprintf(path, sizeof path, "%s/a.csv", folder);
    /* As papertape actions --csv prints it, in another order of time. */
    CHECK_INT(read_text("action,ts_ns,symbol,kind,ex_ns,shares,per,cash,id\r\n"
                        "2,2024-08-10T00:00:00.5Z,C1USDT,dividend,2024-08-10T00:00:00Z,,,0.24,d-1\r\n"
                        "1,2024-08-10T00:00:00Z,C0USDT,split,2024-08-10T00:00:00Z,4,1,,s-1\r\n"
                        "\n3,,XYZ,split,2024-08-10,4,1,,\n4,,C0USDT,split,2024-08-08,4,1,,\n"
                        "5,,c0usdt,split,2030-01-01,4,1,,\n",
                        &of, err),
              0);
    CHECK_STR(err, "");
    CHECK_INT(of.n, 2);
    const int64_t day_ns = MADE_START_NS + 1440 * MINUTE_NS;
    CHECK(of.list[0].symbol == 0 && of.list[0].action.shares == 4 && of.list[0].action.per == 1 &&
          of.list[0].at_ns == day_ns);
    CHECK_STR(of.list[0].action.id, "s-1");
    CHECK(of.list[1].symbol == 1 && of.list[1].action.cash == 240000000 &&
          of.list[1].action.ex_ns == day_ns && of.list[1].at_ns == day_ns + 500000000);
    CHECK(of.others == 1 && of.early == 1 && of.late == 1);
    CHECK_STR(of.other, "XYZ");
    backtest_actions_finish(&of);
    /* Two on a day: the split first. The file begins as a spreadsheet's. */
    CHECK_INT(read_text("\xef\xbb\xbf" HEADER
                        "C0USDT,dividend,2024-08-10,,,1\nC0USDT,split,2024-08-10,3,2,\n",
                        &of, err),
              0);
    CHECK(of.n == 2 && of.list[0].action.kind == ACTION_SPLIT && of.list[1].action.kind == ACTION_DIVIDEND);
    backtest_actions_finish(&of);
    /* Not before its ex-date; what is of the other kind may be 0. */
    CHECK_INT(
        read_text(
            "symbol,kind,ex_ns,shares,per,cash,ts_ns\nC0USDT,split,2024-08-10,4,1,0,2024-08-09T00:00:00Z\n",
            &of, err),
        0);
    CHECK(of.n == 1 && of.before == 1 && of.list[0].at_ns == day_ns);
    backtest_actions_finish(&of);
    bad_file("", ":1: it is empty: a header and a line for each action are needed");
    bad_file("symbol,kind\n", ":1: a header with symbol, kind, ex_ns or ex_date, and shares, per and cash is "
                              "needed, as papertape actions --csv prints it");
    bad_file("symbol,symbol\n", ":1: the column symbol is there twice");
    bad_file(
        HEADER "C0USDT,split,2024-08-10,0,1,\n",
        ":2: shares is \"0\": a split gives a whole number of shares, 1 to 1000000000, for a whole number "
        "of old ones, likewise");
    bad_file(HEADER "C0USDT,split,2024-08-10,2,-1,\n",
             ":2: per is \"-1\": a split gives a whole number of shares, 1 to 1000000000, for a whole number "
             "of old ones, likewise");
    bad_file(HEADER,
             ": it has a header and no action: a line for each is needed, or \"none\" in place of the file");
    bad_file(
        HEADER "C0USDT,split,2024-08-10,4,1,0.5\n",
        ":2: a split has no cash, which is a line of its own, a dividend: nothing is right, not \"0.5\"");
    bad_file(HEADER "C0USDT,split,2024-08-10,1,1,\n",
             ":2: a split of 1 for 1 changes nothing: leave the line out");
    bad_file(HEADER "C0USDT,dividend,2024-08-10,4,1,0.5\n",
             ":2: a dividend has neither shares nor per, which are a split's: nothing is right, not \"4\"");
    bad_file(HEADER "C0USDT,dividend,2024-08-10,,,0\n",
             ":2: cash is \"0\": of a dividend an amount above 0, for one share, with at most 9 digits after "
             "the point");
    bad_file(HEADER "C0USDT,dividend,2024-08-10,,,nan\n",
             ":2: cash is \"nan\": of a dividend an amount above 0, for one share, with at most 9 digits "
             "after the point");
    bad_file(HEADER "C0USDT,merger,2024-08-10,,,1\n",
             ":2: the kind is \"merger\": split or dividend is needed");
    bad_file(HEADER "C0USDT,split,soon,2,1,\n",
             ":2: the ex-date is \"soon\": a date or a time after 1970 is needed");
    bad_file(HEADER ",split,2024-08-10,2,1,\n",
             ":2: the symbol is \"\": its name, at most 23 letters, is needed");
    bad_file(HEADER "XYZ,split,2024-08-10,2,1,\n",
             ": none of its symbols (XYZ) has bars: those of C0USDT … are needed");
    bad_file(
        HEADER "C0USDT,split,2024-08-10,2,1,\nC0USDT,split,2024-08-10,2,1,\n",
        ": split:1723248000000000000 is there twice of C0USDT: each takes effect once, and several of one "
        "kind on a day need an id each");
    made_close(&made);
}

int main(void)
{
    struct random random = random_seeded("backtest-actions", 71);
    for (int i = 0; i < 4; i++)
        test_as_live(&random);
    CHECK(seen.splits > 4 && seen.dividends > 2 && seen.negative > 0 && seen.trades > 2);
    test_adjusted(&random);
    test_not_before(&random);
    test_refused(&random);
    test_files(&random);
    return check_done("backtest_actions");
}
