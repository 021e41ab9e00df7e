/* The universe: rules that are read or refused, times, measures against sums by hand, ranks with equal ones;
 * and a backtest with one: nothing is opened in a symbol that is out, what is open keeps its exits, resting
 * entries end, orders, fills and ledger are those of a live engine that plays its log (saved and loaded on
 * the way), and nothing depends on later bars. */
#include <errno.h>

#include "engine/backtest/guard.h"
#include "engine/backtest/sweep.h"
#include "engine/backtest/universe.h"
#include "engine/record.h"
#include "engine/state.h"
#include "record/codec.h"
#include "tests/engine/synthetic_market.h"
#include "tests/random.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (INT64_C(60) * 1000000000)
#define HOUR_NS   (60 * MINUTE_NS)
#define DAY_NS    (24 * HOUR_NS)

enum { SYMBOLS = 3, ROWS = 6000, FROM = 700, ROWS_MOST = 1 << 15 };

static const struct made_walk walk = {.gaps_permille = 5,
                                      .gap_longest = 9,
                                      .steps = 40,
                                      .start = 600 * E8,
                                      .tick = E8 / 100,
                                      .step = E8 / 100000};

static struct engine_universe_rule rule_of(const char *text)
{
    struct engine_universe_rule rule = {0};
    char err[UNIVERSE_ERROR_MAX] = "";
    CHECK_INT(engine_universe_parse(text, &rule, err), 0);
    CHECK_STR(err, "");
    return rule;
}

/* ---- rules ---- */

static void test_rules(void)
{
    struct engine_universe_rule rule =
        rule_of("volume>1e6 & age >= 30d&volatility<5%; top 10 by volume ;over 7d; every 4h at 02:30;");
    CHECK_INT(rule.n_conditions, 3);
    CHECK(rule.conditions[0].measure == UNIVERSE_VOLUME && rule.conditions[0].op == UNIVERSE_ABOVE);
    CHECK(rule.conditions[0].value == 1e6);
    CHECK(rule.conditions[1].measure == UNIVERSE_AGE && rule.conditions[1].op == UNIVERSE_AT_LEAST);
    CHECK(rule.conditions[1].value == 30 * (double)DAY_NS);
    CHECK(rule.conditions[2].measure == UNIVERSE_VOLATILITY && rule.conditions[2].op == UNIVERSE_BELOW);
    CHECK(rule.conditions[2].value == 0.05);
    CHECK_INT(rule.n_best, 10);
    CHECK(!rule.bottom && rule.by == UNIVERSE_VOLUME);
    CHECK(rule.over_ns == 7 * DAY_NS && rule.every_ns == 4 * HOUR_NS && rule.at_ns == 150 * MINUTE_NS);
    rule = rule_of("Bottom 1 BY Change");
    CHECK(rule.bottom && rule.n_best == 1 && rule.by == UNIVERSE_CHANGE && rule.n_conditions == 0);
    CHECK(rule.over_ns == DAY_NS && rule.every_ns == DAY_NS && rule.at_ns == 0);
    CHECK(rule_of("change<=-0.5%").conditions[0].value == -0.005);
}

static void test_bad_rules(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "a condition or a rank is needed"},
        {"every 1d", "a condition or a rank is needed"},
        {"volum>1e6", "\"volum\": unknown measure: did you mean volume?"},
        {"top 3 by volatilty", "\"volatilty\": unknown measure: did you mean volatility?"},
        {"marketcap>1", "\"marketcap\": unknown measure: one of volume, volatility, change, price, age"},
        {"volume>lots", "\"lots\": volume is a number, as 1e6"},
        {"volume>", "one value is needed after volume>"},
        {"volume>1 2", "one value is needed after volume>"},
        {"volume>nan", "volume is a number"},
        {"volume=1e6", "a condition has >, >=, < or <= after its measure"},
        {"age>30", "\"30\": an age is a duration, as 30d"},
        {"age>5%", "an age is a duration"},
        {"volume>2%", "volume is a number"},
        {">5", "a condition, as volume>1e6, is needed"},
        {"volume>1; age>1d", "conditions are joined by &"},
        {"top 0 by volume", "at least 1 symbol"},
        {"top ten by volume", "top N by MEASURE is needed"},
        {"top 5", "top N by MEASURE is needed"},
        {"top 5 of volume", "top N by MEASURE is needed"},
        {"top 1 by volume; bottom 2 by age", "there are two ranks"},
        {"tops 5 by volume", "did you mean top?"},
        {"volume>1; every 7h", "a whole part of a day, or whole days"},
        {"volume>1; every soon", "every \"soon\": a duration is needed"},
        {"volume>1; every 1d on 00:00", "every D at HH:MM in UTC"},
        {"volume>1; every 1d at 24:00", "every D at HH:MM in UTC"},
        {"volume>1; every 4h at 05:00", "the first time of a day is needed"},
        {"volume>1; every 1d; every 2d", "there are two times"},
        {"volume>1; over", "over \"\": a duration is needed"},
        {"volume>1; over 1d 2d", "one duration is needed"},
        {"volume>1; over 1d; over 2d", "there are two windows"},
        {"volume>1&volume>1&volume>1&volume>1&volume>1&volume>1&volume>1&volume>1&volume>1", "at most 8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct engine_universe_rule rule = {.n_best = 77};
        char err[UNIVERSE_ERROR_MAX] = "";
        CHECK_INT(engine_universe_parse(bad[i].text, &rule, err), -EINVAL);
        if (!strstr(err, bad[i].says))
            CHECK_STR(err, bad[i].says);
        CHECK_INT(rule.n_best, 77);
    }
    char longest[UNIVERSE_TEXT_MAX + 1], err[UNIVERSE_ERROR_MAX];
    struct engine_universe_rule rule;
    memset(longest, ' ', UNIVERSE_TEXT_MAX);
    longest[UNIVERSE_TEXT_MAX] = '\0';
    CHECK_INT(engine_universe_parse(longest, &rule, err), -EINVAL);
    CHECK(strstr(err, "of at most 255") != NULL);
}

static void test_times(void)
{
    const int64_t monday_ns = INT64_C(1704672000) * 1000000000; /* 2024-01-08 */
    struct engine_universe_rule rule = rule_of("price>0; every 1w at 06:00");
    CHECK(engine_universe_last(&rule, monday_ns + 6 * HOUR_NS) == monday_ns + 6 * HOUR_NS);
    CHECK(engine_universe_last(&rule, monday_ns) == monday_ns - 7 * DAY_NS + 6 * HOUR_NS);
    CHECK(engine_universe_next(&rule, monday_ns + 6 * HOUR_NS) == monday_ns + 7 * DAY_NS + 6 * HOUR_NS);
    rule = rule_of("price>0");
    CHECK(engine_universe_last(&rule, -1) == -DAY_NS);
    CHECK(engine_universe_next(&rule, -1) == 0);
}

/* ---- measures ---- */

static void test_measures(void)
{
    static const int64_t open_ns[] = {0, HOUR_NS, 2 * HOUR_NS, 4 * HOUR_NS};
    static const double close[] = {100, 110, 99, 198},
                        price[] = {100, 110, 99, 99}; /* a split 2:1 before the last */
    static const double traded[] = {1000, 2200, 3000, 500};
    const struct engine_universe_bars bars = {4, HOUR_NS, open_ns, close, traded, price};
    const struct engine_universe_rule rule =
        rule_of("volume>0&volatility>0&change>0&price>0&age>1s; over 4h");
    double of[UNIVERSE_MEASURES];
    engine_universe_measure(&rule, &bars, 4, 5 * HOUR_NS, of); /* the window is from 1 h on */
    CHECK_NEAR(of[UNIVERSE_VOLUME], 5700 * 6, 1e-9);
    CHECK_NEAR(of[UNIVERSE_CHANGE], 0.98, 1e-12);
    CHECK_NEAR(of[UNIVERSE_PRICE], 99, 0);
    CHECK_NEAR(of[UNIVERSE_AGE], 5 * (double)HOUR_NS, 0);
    const double r[] = {log(1.1), log(0.9), log(2)}, mean = (r[0] + r[1] + r[2]) / 3;
    double squares = 0;
    for (int i = 0; i < 3; i++)
        squares += (r[i] - mean) * (r[i] - mean);
    CHECK_NEAR(of[UNIVERSE_VOLATILITY], sqrt(squares / 2 * 24), 1e-12);
    engine_universe_measure(&rule, &bars, 1, HOUR_NS, of); /* one bar: no return, and nothing before */
    CHECK_NEAR(of[UNIVERSE_VOLUME], 6000, 1e-9);
    CHECK(isnan(of[UNIVERSE_VOLATILITY]) && isnan(of[UNIVERSE_CHANGE]) && of[UNIVERSE_PRICE] == 100);
    engine_universe_measure(&rule, &bars, 4, 9 * HOUR_NS, of); /* none in the window */
    CHECK(isnan(of[UNIVERSE_VOLUME]) && isnan(of[UNIVERSE_PRICE]) && of[UNIVERSE_AGE] == 9 * (double)HOUR_NS);
    engine_universe_measure(&rule, &bars, 0, 0, of);
    CHECK(isnan(of[UNIVERSE_AGE]));
}

static void test_pick(void)
{
    double of[6][UNIVERSE_MEASURES];
    bool in[6];
    size_t order[6];
    static const double volumes[] = {5, 7, NAN, 7, 9, 1};
    for (int s = 0; s < 6; s++)
        for (int m = 0; m < UNIVERSE_MEASURES; m++)
            of[s][m] = m == UNIVERSE_VOLUME ? volumes[s] : 1;
    struct engine_universe_rule rule = rule_of("volume>1&volume<9; top 2 by volume");
    CHECK_INT(engine_universe_pick(&rule, (const double(*)[UNIVERSE_MEASURES])of, 6, in, order), 2);
    CHECK(!in[0] && in[1] && !in[2] && in[3] && !in[4] && !in[5]);
    rule = rule_of("top 2 by volume"); /* of two equal ones the first */
    CHECK_INT(engine_universe_pick(&rule, (const double(*)[UNIVERSE_MEASURES])of, 6, in, order), 2);
    CHECK(!in[0] && in[1] && !in[3] && in[4]);
    rule = rule_of("bottom 3 by volume");
    CHECK_INT(engine_universe_pick(&rule, (const double(*)[UNIVERSE_MEASURES])of, 6, in, order), 3);
    CHECK(in[0] && in[1] && !in[2] && !in[3] && !in[4] && in[5]);
    rule = rule_of("top 9 by volume");
    CHECK_INT(engine_universe_pick(&rule, (const double(*)[UNIVERSE_MEASURES])of, 6, in, order), 5);
    CHECK(!in[2]);
    rule = rule_of("volume>=9");
    CHECK_INT(engine_universe_pick(&rule, (const double(*)[UNIVERSE_MEASURES])of, 6, in, order), 1);
    rule = rule_of("volume>9");
    CHECK_INT(engine_universe_pick(&rule, (const double(*)[UNIVERSE_MEASURES])of, 6, in, order), 0);
}

/* ---- a backtest ---- */

static struct synthetic_market made;
static struct backtest_universe universe;

static int64_t row_ns(size_t row)
{
    return market_open_ns(&made.market, row);
}

static void open_market(struct random *random, const char *text)
{
    const struct engine_universe_rule rule = rule_of(text);
    char err[UNIVERSE_ERROR_MAX] = "";
    made_open(&made, random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    CHECK_INT(backtest_universe_make(&made.market, NULL, 0, &rule, &universe, err), 0);
}

static void close_market(void)
{
    backtest_universe_finish(&universe);
    made_close(&made);
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
        CHECK_INT(strategy_set(spec.strategy, spec.params, "direction", "both", NULL), 0);
    }
    CHECK_INT(strategy_set(spec.strategy, spec.params, "fast", "10", NULL), 0);
    CHECK_INT(strategy_set(spec.strategy, spec.params, "slow", "30", NULL), 0);
    return spec;
}

static struct backtest_config config_of(const struct account_spec *accounts, int n)
{
    return (struct backtest_config){.market = &made.market,
                                    .universe = &universe,
                                    .from = FROM,
                                    .to = ROWS,
                                    .accounts = accounts,
                                    .n_accounts = n,
                                    .latency_ns = 50000000,
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

/* Was the symbol in when a bar that ended then was decided on? A change at that time comes after. */
static bool was_in(int symbol, int64_t ns)
{
    bool in[SYMBOLS] = {false};
    size_t next = 0;
    int64_t from_ns = row_ns(FROM);
    backtest_universe_until(&universe, ns - 1 > from_ns ? ns - 1 : from_ns, &next, in);
    return in[symbol];
}

static struct {
    size_t opened, refused, canceled, exits;
} seen;

static void check_order(const struct backtest_account *account, const struct order *order)
{
    bool in = was_in(order->symbol, order->created_ns);
    if (order->reason == ORDER_RISK_UNIVERSE) {
        CHECK(!in && order->filled == 0 && order->state == ORDER_REJECTED);
        seen.refused++;
        return;
    }
    if (in || order->parent != 0 || order->state == ORDER_REJECTED) {
        seen.opened += in && order->filled > 0;
        return;
    }
    int64_t held = 0; /* before it: it may only close */
    for (size_t i = 0; i < account->n_fills; i++)
        if (account->fills[i].symbol == order->symbol && account->fills[i].order_id < order->id &&
            account->fills[i].ts_ns <= order->created_ns)
            held += account->fills[i].side == ORDER_BUY ? account->fills[i].qty : -account->fills[i].qty;
    CHECK(order->side == ORDER_BUY ? held < 0 && order->qty <= -held : held > 0 && order->qty <= held);
    seen.exits += order->filled > 0;
}

static void check_gate(const struct backtest *backtest)
{
    for (int a = 0; a < backtest->n_accounts; a++) {
        const struct backtest_account *of = &backtest->accounts[a];
        CHECK_INT(of->way, BACKTEST_ENGINE);
        for (size_t i = 0; i < of->n_orders; i++)
            check_order(of, &of->orders[i]);
        CHECK(of->refused[ORDER_RISK_UNIVERSE] > 0);
    }
}

/* ---- a live engine that plays the log ---- */

struct live {
    struct engine *engine;
    struct engine_sink sink;
    struct codec codec;
    struct event_memory memory;
    struct order orders[ROWS_MOST];
    struct fill fills[ROWS_MOST];
    struct ledger_row ledger[ROWS_MOST];
    size_t n_orders, n_fills, n_ledger;
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

static void on_need_bars(void *ctx, int symbol, int64_t from_ns, int64_t to_ns)
{
    (void)ctx, (void)from_ns, (void)to_ns;
    live.waits[symbol] = true;
}

static void play(const struct event *event)
{
    struct event again;
    CHECK_INT(event_encode(event, &live.codec), 0);
    CHECK_INT(event_decode(live.codec.bytes, live.codec.len, &live.memory, &again), 0);
    again.seq = event->seq;
    again.recv_ns = event->recv_ns;
    CHECK_INT(engine_handle(live.engine, &again), 0);
}

static void play_bar(int symbol, size_t row)
{
    const struct market_series *series = &made.series[symbol];
    struct bar bar = {.open_ns = row_ns(row), .first_trade_id = -1, .last_trade_id = -1};
    struct event event = {.seq = row * SYMBOLS + (size_t)symbol + 1, .recv_ns = row_ns(row + 1)};
    CHECK(decimal_from_double(series->open[row], 8, &bar.open) == 0 &&
          decimal_from_double(series->high[row], 8, &bar.high) == 0 &&
          decimal_from_double(series->low[row], 8, &bar.low) == 0 &&
          decimal_from_double(series->close[row], 8, &bar.close) == 0 &&
          decimal128_from_double(series->volume[row], 8, &bar.volume) == 0);
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
    for (int s = 0; s < SYMBOLS; s++)
        if (live.waits[s]) {
            live.waits[s] = false;
            play(&(struct event){
                .seq = event.seq, .recv_ns = event.recv_ns, .kind = EVENT_BARS, .bars = {.symbol = s}});
        }
}

static void play_membership(size_t row, int symbol, bool in, int64_t at_ns)
{
    play(&(struct event){
        .seq = row * SYMBOLS, .recv_ns = at_ns, .kind = EVENT_UNIVERSE, .universe = {symbol, in}});
}

/* It ends, and another continues from its state. */
static void restart(void)
{
    struct codec state = {0};
    struct policies none = {0};
    char err[ENGINE_ERROR_MAX] = "";
    codec_save(&state);
    CHECK_INT(engine_save(live.engine, &state), 0);
    engine_destroy(live.engine);
    CHECK_INT(engine_load(state.bytes, state.len, &live.sink, &none, &live.engine, err), 0);
    CHECK_STR(err, "");
    codec_finish(&state);
}

static void play_log(const struct backtest_config *config)
{
    bool in[SYMBOLS] = {false};
    size_t next = 0;
    struct engine_config setup = {
        .symbols = (struct symbol[]){made.series[0].symbol, made.series[1].symbol, made.series[2].symbol},
        .n_symbols = SYMBOLS,
        .accounts = config->accounts,
        .n_accounts = config->n_accounts,
        .interval_ns = MINUTE_NS,
        .latency_ns = config->latency_ns,
        .fill_model = FILL_BAR};
    memset(&live, 0, sizeof live);
    live.sink = (struct engine_sink){
        .order = on_order, .fill = on_fill, .ledger = on_ledger, .need_bars = on_need_bars};
    CHECK_INT(engine_create(&setup, &live.sink, &live.engine), 0);
    for (size_t row = 0; row < ROWS; row++) {
        if (row == FROM) {
            backtest_universe_until(&universe, row_ns(FROM), &next, in);
            for (int s = 0; s < SYMBOLS; s++)
                if (!in[s])
                    play_membership(row, s, false, row_ns(FROM));
        }
        for (; row > FROM && market_any_present(&made.market, row) && next < universe.n &&
               universe.changes[next].at_ns <= row_ns(row);
             next++)
            play_membership(row, universe.changes[next].symbol, universe.changes[next].in,
                            universe.changes[next].at_ns);
        if (row % 1500 == 1499)
            restart();
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
        for (size_t i = 0; i < of->n_ledger; i++)
            CHECK(memcmp(of->ledger[i].hash, live.ledger[of->ledger[i].id - 1].hash, LEDGER_HASH_SIZE) == 0);
        CHECK_INT(of->final_equity, engine_equity(live.engine, a));
    }
    CHECK_INT(n_orders, live.n_orders);
    CHECK_INT(n_fills, live.n_fills);
    CHECK_INT(n_ledger, live.n_ledger);
}

static void test_as_live(struct random *random)
{
    open_market(random, "volume>0; top 1 by change; over 3h; every 1h");
    const struct account_spec accounts[] = {account_of("long", "sma-cross", false),
                                            account_of("both", "sma-cross", true),
                                            account_of("stops", "sma-cross-rsi-risk", false)};
    const struct backtest_config config = config_of(accounts, 3);
    struct backtest backtest = run(&config);
    check_gate(&backtest);
    play_log(&config);
    compare(&backtest);
    CHECK(universe.n > 50);
    close_log();
    backtest_finish(&backtest);
    close_market();
}

/* A rule that all fulfil at all times gives what no rule gives. */
static void test_all_in(struct random *random)
{
    open_market(random, "price>0; every 1m; over 7d");
    const struct account_spec account = account_of("long", "sma-cross", false);
    struct backtest_config config = config_of(&account, 1);
    struct backtest with = run(&config);
    config.universe = NULL;
    struct backtest without = run(&config);
    CHECK_INT(with.accounts[0].n_orders, without.accounts[0].n_orders);
    CHECK(with.accounts[0].n_fills > 20);
    CHECK_INT(with.accounts[0].final_equity, without.accounts[0].final_equity);
    backtest_finish(&with);
    backtest_finish(&without);
    close_market();
}

/* A split halves prices and doubles volumes: no symbol is picked, or left out, for that. */
static void test_split(struct random *random)
{
    const size_t at = 3000;
    open_market(random, "volume>1 & volatility>0; top 1 by change; over 3h; every 30m");
    const struct backtest_action action = {
        .symbol = 1,
        .at_ns = row_ns(at),
        .action = {.id = "2:1", .kind = ACTION_SPLIT, .ex_ns = row_ns(at), .shares = 2, .per = 1}};
    struct backtest_universe split, unknown;
    char err[UNIVERSE_ERROR_MAX] = "";
    for (size_t row = at; row < ROWS; row++) {
        for (int k = 0; k < 4; k++)
            made.columns[1][k][row] /= 2;
        made.columns[1][4][row] *= 2;
    }
    CHECK_INT(backtest_universe_make(&made.market, &action, 1, &universe.rule, &split, err), 0);
    CHECK_INT(backtest_universe_make(&made.market, NULL, 0, &universe.rule, &unknown, err), 0);
    CHECK_INT(split.n, universe.n);
    for (size_t i = 0; i < split.n && i < universe.n; i++)
        CHECK(split.changes[i].at_ns == universe.changes[i].at_ns &&
              split.changes[i].symbol == universe.changes[i].symbol &&
              split.changes[i].in == universe.changes[i].in);
    CHECK(unknown.n != universe.n); /* it would be picked, or not, where nothing is known of the split */
    backtest_universe_finish(&split);
    backtest_universe_finish(&unknown);
    close_market();
}

static void test_lookahead(struct random *random)
{
    open_market(random, "top 1 by volume; over 2h; every 30m");
    const struct account_spec account = account_of("long", "sma-cross", false);
    struct guard_config config = {
        .market = &made.market, .universe = &universe.rule, .account = &account, .cuts = 6, .seed = 5};
    struct guard_lookahead verdict;
    char err[512] = "";
    CHECK_INT(backtest_guard_lookahead(&config, &verdict, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK(!verdict.found && verdict.orders > 20);
    close_market();
}

/* A sweep's kept rows are of its universe: none, one that never changes, and one that does are three. */
static void test_sweep_key(struct random *random)
{
    static const char *const rules[] = {"price>1e12", "top 1 by volume; over 2h; every 30m"};
    uint8_t keys[3][SWEEP_KEY], again[SWEEP_KEY];
    for (int i = 0; i < 2; i++) {
        struct random same = *random; /* the same bars */
        open_market(&same, rules[i]);
        CHECK(universe.n > 0 || i == 0);
        const struct account_spec account = account_of("long", "sma-cross", false);
        const struct backtest_grid grid = {0};
        struct backtest_config config = config_of(&account, 1);
        const struct backtest_sweep sweep = {.config = &config, .account = &account, .grid = &grid};
        CHECK_INT(backtest_sweep_key(&sweep, "program", 7, keys[i]), 0);
        CHECK_INT(backtest_sweep_key(&sweep, "program", 7, again), 0);
        CHECK(memcmp(keys[i], again, SWEEP_KEY) == 0);
        config.universe = NULL;
        CHECK_INT(backtest_sweep_key(&sweep, "program", 7, keys[2]), 0);
        CHECK(memcmp(keys[i], keys[2], SWEEP_KEY) != 0);
        close_market();
    }
    CHECK(memcmp(keys[0], keys[1], SWEEP_KEY) != 0);
}

static void test_bad_market(struct random *random)
{
    const struct engine_universe_rule rule = rule_of("price>0; every 30s");
    struct backtest_universe none;
    char err[UNIVERSE_ERROR_MAX] = "";
    made_open(&made, random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    CHECK_INT(backtest_universe_make(&made.market, NULL, 0, &rule, &none, err), -EINVAL);
    CHECK(strstr(err, "more often than the bars") != NULL);
    made_close(&made);
}

int main(void)
{
    struct random random = random_seeded("universe", 77);
    test_rules();
    test_bad_rules();
    test_times();
    test_measures();
    test_pick();
    test_as_live(&random);
    test_all_in(&random);
    test_split(&random);
    test_lookahead(&random);
    test_sweep_key(&random);
    test_bad_market(&random);
    CHECK(seen.opened > 50 && seen.refused > 50 && seen.exits > 10);
    printf("opened %zu, refused %zu, closed while out %zu\n", seen.opened, seen.refused, seen.exits);
    return check_done("universe");
}
