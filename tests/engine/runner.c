/* What a strategy sees and may ask: entries at a limit, brackets, targets, its record; and intents that no
 * market could grant. */
#include "engine/specs.h"
#include "engine/state.h"
#include "record/codec.h"
#include "strategy/intent.h"
#include "tests/engine/puppet.h"

static struct harness h;

/* The only strategy there is here: a state names it, and finds it again. */
const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&puppet_strategy};
    *ret_n = 1;
    return all;
}

static void open_runner(void)
{
    harness_init(&h);
    h.accounts[ALICE].strategy = &puppet_strategy;
    puppet_n = 0;
    harness_open(&h);
    quote(&h, BTCUSDT, 59990 * E8, 10 * E8, 60000 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
}

/* The last minute's bar closes at this price, and what is wanted then reaches the market. */
static void bar_of(int symbol, int64_t price)
{
    struct bar bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, price);
    kline(&h, symbol, &bar);
    pass(&h, 100 * MS_NS);
}

static void minute(int64_t price)
{
    pass(&h, MINUTE_NS - h.now_ns % MINUTE_NS + MS_NS);
    bar_of(BTCUSDT, price);
}

static void ask_for(struct intent intent, int64_t price)
{
    puppet_want(intent);
    minute(price);
}

static int64_t held(int symbol)
{
    return engine_account(h.engine, ALICE)->positions[symbol].qty;
}

static const struct order *live_of(enum order_type type)
{
    for (size_t i = 0; i < engine_orders(h.engine); i++)
        if (engine_order(h.engine, i)->type == type)
            return engine_order(h.engine, i);
    return NULL;
}

static void test_bracket_at_market(void)
{
    open_runner();
    ask_for(
        (struct intent){
            .kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000.005, .profit = 61000.005, .why = "in"},
        60000 * E8);
    /* 10000 · 0.5 less the fee of 0.1 %, at the ask of 60000, in steps of 0.00001. */
    CHECK_INT(held(BTCUSDT), 8325000);
    const struct order *stop = live_of(ORDER_STOP), *profit = live_of(ORDER_LIMIT);
    CHECK(stop && profit && stop->group == profit->group && stop->parent == profit->parent);
    CHECK(stop && stop->stop_price == 59000 * E8 && stop->reduce_only && stop->qty == 8325000);
    CHECK(profit && profit->price == 6100001 * (E8 / 100) && profit->reduce_only); /* up, on the tick */
    CHECK(stop && strcmp(stop->tag, "stop") == 0 && profit && strcmp(profit->tag, "profit") == 0);
    minute(60000 * E8);
    CHECK_NEAR(puppet_saw.stop, 59000, 0);
    CHECK_NEAR(puppet_saw.profit, 61000.01, 0);
    CHECK_NEAR(puppet_saw.qty, 0.08325, 0);
    CHECK_NEAR(puppet_saw.entry, 60000, 0);
    CHECK(!puppet_saw.live_orders);
    CHECK_INT(puppet_saw.interval_ns, MINUTE_NS);
    CHECK_INT(puppet_record.wins + puppet_record.losses, 0);

    trade(&h, BTCUSDT, 61001 * E8, E8); /* through the profit: it makes there, and the stop is cancelled */
    CHECK_INT(held(BTCUSDT), 0);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK(h.last_fill.maker && h.last_fill.price == 6100001 * (E8 / 100));
    minute(61000 * E8);
    CHECK_INT(puppet_record.wins, 1);
    CHECK_INT(puppet_record.losses, 0);
    /* Bought for 4995, fee 4.995; sold for 5078.2508325, fee 5.0782508325 rounded up. */
    CHECK_NEAR(puppet_record.won, 5078.2508325 - 5.07825084 - 4995 - 4.995, 1e-9);
    CHECK_NEAR(puppet_saw.stop + puppet_saw.profit + puppet_saw.qty + puppet_saw.entry, 0, 0);
    CHECK(engine_record(h.engine, ALICE, BTCUSDT)->won == puppet_record.won);
    CHECK_INT(engine_record(h.engine, BOB, BTCUSDT)->wins, 0);
    harness_close(&h);
}

static void test_one_exit(void)
{
    open_runner();
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.1, .profit = 61000}, 60000 * E8);
    CHECK(live_of(ORDER_LIMIT) && !live_of(ORDER_STOP) && engine_orders(h.engine) == 1);
    ask_for((struct intent){.kind = INTENT_EXIT, .why = "out"}, 60000 * E8);
    CHECK(held(BTCUSDT) == 0 && engine_orders(h.engine) == 0); /* the profit ended with the position */
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.1, .stop = 59000}, 60000 * E8);
    CHECK(live_of(ORDER_STOP) && !live_of(ORDER_LIMIT) && engine_orders(h.engine) == 1);
    ask_for((struct intent){.kind = INTENT_STOP, .stop = 59500}, 60000 * E8);
    CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->stop_price == 59500 * E8);
    quote(&h, BTCUSDT, 59400 * E8, 10 * E8, 59410 * E8, 10 * E8);
    trade(&h, BTCUSDT, 59400 * E8, E8);
    CHECK(held(BTCUSDT) == 0 && engine_orders(h.engine) == 0);
    minute(59400 * E8);
    CHECK_INT(puppet_record.losses, 2); /* the fees of the first, the price of the second */
    CHECK_INT(puppet_record.losing, 2);
    CHECK(puppet_record.lost > 9 && puppet_record.wins == 0 && !(puppet_record.won > 0));
    harness_close(&h);
}

static void test_limit_until(void)
{
    open_runner();
    int64_t good_ns = h.now_ns / MINUTE_NS * MINUTE_NS + 3 * MINUTE_NS;
    ask_for((struct intent){.kind = INTENT_ENTER,
                            .fraction = 0.5,
                            .limit = 59500.009,
                            .good_ns = good_ns,
                            .stop = 59000,
                            .profit = 60500},
            60000 * E8);
    const struct order *entry = live_of(ORDER_LIMIT);
    CHECK(entry && entry->state == ORDER_OPEN && entry->price == 59500 * E8 && entry->tif == ORDER_GTD &&
          entry->expires_ns == good_ns && entry->side == ORDER_BUY);
    CHECK_INT(engine_orders(h.engine), 3);
    minute(60000 * E8);
    CHECK(puppet_saw.live_orders && puppet_saw.positions == 1 && puppet_saw.profit == 0);
    minute(60000 * E8); /* past good_ns */
    CHECK_INT(engine_orders(h.engine), 0);
    minute(60000 * E8);
    CHECK(!puppet_saw.live_orders && puppet_saw.positions == 0 && held(BTCUSDT) == 0);

    /* For good, and bought: 5000 less the fee at 59500. */
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .limit = 59500}, 60000 * E8);
    CHECK(live_of(ORDER_LIMIT) && live_of(ORDER_LIMIT)->tif == ORDER_GTC);
    trade(&h, BTCUSDT, 59499 * E8, E8);
    CHECK_INT(held(BTCUSDT), 8394000);
    harness_close(&h);
}

static void test_target(void)
{
    open_runner();
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0}, 60000 * E8);
    CHECK_INT(engine_counters(h.engine)->orders, 0);
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0.5, .why = "half"}, 60000 * E8);
    CHECK_INT(held(BTCUSDT), 8333000); /* 5000 at the last price of 60000, in whole lots */
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0.5}, 60000 * E8);
    CHECK_INT(engine_counters(h.engine)->orders, 1); /* what the fee took is below the least notional */
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0.25}, 60000 * E8);
    int64_t equity = 10000 * E8 - 499980 * (E8 / 100) / 1000; /* less the fee of 0.1 % */
    CHECK_INT(held(BTCUSDT), 8333000 - (8333000 - equity / 4 / 60000) / 1000 * 1000);
    CHECK(h.last_fill.side == ORDER_SELL);
    /* All of it, and the fee must be paid too. */
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 1}, 60000 * E8);
    CHECK(cash(&h, ALICE) >= 0 && cash(&h, ALICE) < 2 * E8);
    CHECK_INT(engine_counters(h.engine)->rejected, 0);
    int64_t all = held(BTCUSDT);
    trade(&h, BTCUSDT, 60600 * E8, E8); /* one per cent more: nothing is free */
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 1}, 60600 * E8);
    CHECK_INT(held(BTCUSDT), all);
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0}, 60600 * E8);
    CHECK_INT(held(BTCUSDT), 0);
    harness_close(&h);

    /* What is on order counts. */
    harness_init(&h);
    h.accounts[ALICE].strategy = &puppet_strategy;
    h.config.latency_ns = 90 * SECOND_NS;
    harness_open(&h);
    quote(&h, BTCUSDT, 59990 * E8, 10 * E8, 60000 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0.5}, 60000 * E8);
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0.5}, 60000 * E8);
    CHECK_INT(engine_counters(h.engine)->orders, 1);
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0}, 60000 * E8);
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0}, 60000 * E8);
    CHECK_INT(engine_counters(h.engine)->orders, 2); /* sold once */
    minute(60000 * E8);
    minute(60000 * E8);
    CHECK_INT(held(BTCUSDT), 0);
    harness_close(&h);
}

static void test_symbols(void)
{
    open_runner();
    quote(&h, ETHUSDT, 2999 * E8, 100 * E8, 3000 * E8, 100 * E8);
    trade(&h, ETHUSDT, 3000 * E8, E8);
    minute(60000 * E8);
    CHECK(puppet_saw.positions == 0 && puppet_saw.symbols == 2); /* ETHBTC is quoted in another currency */
    puppet_want((struct intent){.kind = INTENT_ENTER, .fraction = 0.2});
    bar_of(ETHUSDT, 3000 * E8);
    CHECK(held(ETHUSDT) > 0);
    minute(60000 * E8);
    CHECK_INT(puppet_saw.positions, 1);
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.2, .limit = 50000}, 60000 * E8);
    minute(60000 * E8);
    CHECK_INT(puppet_saw.positions, 2); /* one held, one being entered */
    uint64_t before = puppet_bars;
    puppet_want((struct intent){.kind = INTENT_ENTER, .fraction = 0.2});
    bar_of(ETHBTC, E8 / 20);
    CHECK(puppet_bars == before + 1 && held(ETHBTC) == 0); /* seen, and not acted on */
    harness_close(&h);
}

/* One intent that nothing comes of but a count, and an alert. */
static void expect_refused(struct intent intent, enum intent_fault fault, const char *says)
{
    uint64_t before[INTENT_FAULTS], orders = engine_counters(h.engine)->orders;
    memcpy(before, engine_intents_refused(h.engine, ALICE), sizeof before);
    uint64_t alerts = h.alerts;
    ask_for(intent, 60000 * E8);
    CHECK_INT(engine_counters(h.engine)->orders, orders);
    for (int i = 0; i < INTENT_FAULTS; i++)
        CHECK_INT(engine_intents_refused(h.engine, ALICE)[i], before[i] + (i == (int)fault));
    if (!says) {
        CHECK_INT(h.alerts, alerts);
        return;
    }
    char text[160];
    snprintf(text, sizeof text, "puppet, BTCUSDT, account alice: %s", says);
    CHECK_INT(h.alerts, alerts + 1);
    CHECK_STR(h.last_alert, "INTENT_REFUSED");
    CHECK_STR(h.last_alert_text, text);
}

static struct intent entry_of(double fraction, double limit, double stop, double profit)
{
    return (struct intent){
        .kind = INTENT_ENTER, .fraction = fraction, .limit = limit, .stop = stop, .profit = profit};
}

static void test_impossible_entries(void)
{
    open_runner();
    expect_refused(entry_of(0, 0, 0, 0), INTENT_BAD_FRACTION,
                   "enter: fraction 0 is not above 0 and at most 1");
    expect_refused(entry_of(1.0000001, 0, 0, 0), INTENT_BAD_FRACTION, NULL); /* within the hour */
    expect_refused(entry_of(-1, 0, 0, 0), INTENT_BAD_FRACTION, NULL);
    expect_refused(entry_of(NAN, 0, 0, 0), INTENT_BAD_FRACTION, NULL);
    expect_refused((struct intent){.kind = INTENT_TARGET, .fraction = NAN}, INTENT_BAD_FRACTION, NULL);
    expect_refused((struct intent){.kind = INTENT_TARGET, .fraction = -0.01}, INTENT_NO_SHORTS,
                   "target: its account may not be short of it");
    expect_refused(entry_of(0.5, -1, 0, 0), INTENT_BAD_LIMIT, "enter: limit -1 is no price");
    expect_refused(entry_of(0.5, NAN, 0, 0), INTENT_BAD_LIMIT, NULL);
    expect_refused(entry_of(0.5, INFINITY, 0, 0), INTENT_BAD_LIMIT, NULL);
    expect_refused(entry_of(0.5, 0.001, 0, 0), INTENT_BAD_LIMIT, NULL); /* below a tick */
    expect_refused(entry_of(0.5, 0, 60000, 0), INTENT_BAD_STOP,
                   "enter: stop 60000 is not below the price 60000");
    expect_refused(entry_of(0.5, 59000, 59000, 0), INTENT_BAD_STOP, NULL); /* the price is the limit */
    expect_refused(entry_of(0.5, 0, -5, 0), INTENT_BAD_STOP, NULL);
    expect_refused(entry_of(0.5, 0, NAN, 0), INTENT_BAD_STOP, NULL);
    expect_refused(entry_of(0.5, 0, 0, 60000), INTENT_BAD_PROFIT,
                   "enter: profit 60000 is not above the price 60000");
    expect_refused(entry_of(0.5, 0, 0, 1e300), INTENT_BAD_PROFIT, NULL); /* more than a price can be */
    struct intent late = entry_of(0.5, 59000, 0, 0);
    late.good_ns = h.now_ns / MINUTE_NS * MINUTE_NS - 60 * MINUTE_NS;
    expect_refused(late, INTENT_BAD_TIME, "enter: its limit is good until 3660 s before the bar's close");
    expect_refused((struct intent){.kind = (enum intent_kind)9}, INTENT_BAD_KIND, "9 is no kind of intent");
    harness_close(&h);
}

static void test_impossible_exits(void)
{
    open_runner();
    expect_refused((struct intent){.kind = INTENT_EXIT}, INTENT_NOTHING_HELD, "exit: nothing is held");
    expect_refused((struct intent){.kind = INTENT_STOP, .stop = 50000}, INTENT_NOTHING_HELD, NULL);
    for (int i = 0; i < PUPPET_ASKS_MAX; i++)
        puppet_wants[i] = entry_of(0.1, 0, 0, 0);
    puppet_n = PUPPET_ASKS_MAX;
    minute(60000 * E8);
    CHECK_INT(engine_counters(h.engine)->orders, 0);
    CHECK_INT(engine_intents_refused(h.engine, ALICE)[INTENT_TOO_MANY], 1);
    CHECK_STR(h.last_alert_text, "puppet, BTCUSDT, account alice: it asks for more than 8 things at one bar");

    ask_for(entry_of(0.5, 0, 59000, 0), 60000 * E8);
    expect_refused((struct intent){.kind = INTENT_STOP, .stop = 60000}, INTENT_BAD_STOP,
                   "stop: stop 60000 is not below the price 60000");
    expect_refused((struct intent){.kind = INTENT_STOP}, INTENT_BAD_STOP, NULL);
    expect_refused((struct intent){.kind = INTENT_STOP, .stop = NAN}, INTENT_BAD_STOP, NULL);
    stale(&h, BTCUSDT, true);
    expect_refused((struct intent){.kind = INTENT_STOP, .stop = 59100}, INTENT_STOP_STAYS,
                   "stop: 59100 is refused: no market is seen, or a filter forbids it");
    CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->stop_price == 59000 * E8);
    stale(&h, BTCUSDT, false);

    /* After an hour it is reported again; other intents at the same bar are carried out. */
    uint64_t alerts = h.alerts;
    pass(&h, 61 * MINUTE_NS);
    puppet_wants[0] = (struct intent){.kind = INTENT_STOP, .stop = 70000};
    puppet_wants[1] = (struct intent){.kind = INTENT_STOP, .stop = 59200};
    puppet_n = 2;
    struct event event = {.kind = EVENT_BARS};
    struct bar bars[64];
    for (int i = 0; i < 61; i++)
        bars[i] = flat_bar(h.last_bar.open_ns + (i + 1) * MINUTE_NS, 60000 * E8);
    event.bars.bars = bars;
    event.bars.n = 61;
    size_t asked = puppet_n;
    puppet_n = 0; /* history decides nothing */
    CHECK_INT(harness_event(&h, &event), 0);
    puppet_n = asked;
    minute(60000 * E8);
    CHECK_INT(h.alerts, alerts + 1);
    CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->stop_price == 59200 * E8);
    harness_close(&h);
}

/* A position that is turned round ends one trade and begins the next. */
static void test_record_through_zero(void)
{
    struct record_keeper keeper = {0};
    int64_t profit = 0;
    CHECK(!strategy_record_fill(&keeper, ORDER_BUY, 10, 1000, 1, 0, 2, &profit));
    CHECK(!strategy_record_fill(&keeper, ORDER_SELL, 4, 440, 1, 10, 2, &profit));
    CHECK(strategy_record_fill(&keeper, ORDER_SELL, 9, 990, 3, 6, 2, &profit));
    CHECK_INT(profit, -1000 - 1 + 440 - 1 + 660 - 2);
    CHECK_INT(keeper.flow, 330 - 1); /* three are short */
    CHECK_NEAR(keeper.record.won, 0.96, 1e-12);
    CHECK(strategy_record_fill(&keeper, ORDER_BUY, 3, 330, 0, -3, 2, &profit));
    CHECK_INT(profit, -1);
    CHECK_INT(keeper.flow, 0);
    CHECK(keeper.record.wins == 1 && keeper.record.losses == 1 && keeper.record.losing == 1);
    strategy_record_resume(&keeper, -5, 70);
    CHECK_INT(keeper.flow, 70);
    CHECK(strategy_record_fill(&keeper, ORDER_BUY, 5, 70, 0, -5, 2, &profit));
    CHECK(profit == 0 && keeper.record.losses == 2 && keeper.record.losing == 2); /* nothing won is no win */
}

/* Records, counts and the last alerts are in the state, and outlive another configuration; a reset forgets
 * the trades. */
static void test_state(void)
{
    open_runner();
    ask_for(entry_of(0.5, 0, 0, 0), 60000 * E8);
    ask_for((struct intent){.kind = INTENT_EXIT}, 60000 * E8);
    ask_for(entry_of(0.25, 0, 0, 0), 60000 * E8);
    ask_for(entry_of(NAN, 0, 0, 0), 60000 * E8);
    struct strategy_record record = *engine_record(h.engine, ALICE, BTCUSDT);
    CHECK(record.losses == 1 && record.lost > 5);

    char err[ENGINE_ERROR_MAX] = "";
    struct codec codec = {0};
    struct engine_sink sink = {.ctx = &h, .alert = on_alert};
    struct engine *loaded = NULL;
    h.config.latency_ns++;
    CHECK_INT(engine_configure(h.engine, &h.config, err), 0);
    codec_save(&codec);
    CHECK_INT(engine_save(h.engine, &codec), 0);
    CHECK_INT(engine_load(codec.bytes, codec.len, &sink, NULL, &loaded, err), 0);
    codec_finish(&codec);
    if (loaded) {
        uint64_t alerts = h.alerts;
        struct bar bar = flat_bar(h.last_bar.open_ns + MINUTE_NS, 60000 * E8);
        struct event event = {.seq = h.seq + 1,
                              .recv_ns = h.now_ns + MINUTE_NS,
                              .kind = EVENT_MARKET,
                              .market = {.kind = MARKET_KLINE, .kline = {MINUTE_NS, bar, true}}};
        CHECK(memcmp(engine_record(loaded, ALICE, BTCUSDT), &record, sizeof record) == 0);
        CHECK_INT(engine_intents_refused(loaded, ALICE)[INTENT_BAD_FRACTION], 1);
        puppet_want(entry_of(NAN, 0, 0, 0));
        h.now_ns += MINUTE_NS;
        CHECK_INT(engine_handle(loaded, &event), 0);
        CHECK_INT(engine_intents_refused(loaded, ALICE)[INTENT_BAD_FRACTION], 2);
        CHECK_INT(h.alerts, alerts); /* it was reported within the hour */
        CHECK(memcmp(&puppet_record, &record, sizeof record) == 0);
    }
    engine_destroy(loaded);

    uint64_t sold = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, held(BTCUSDT), 0);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, sold)->state, ORDER_FILLED);
    CHECK_INT(engine_record(h.engine, ALICE, BTCUSDT)->losses, 2); /* by hand counts too */
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_RESET,
                                       .money = {.account = ALICE, .amount = 10000 * E8}});
    CHECK_INT(engine_record(h.engine, ALICE, BTCUSDT)->losses, 0);
    harness_close(&h);
}

static size_t hourly(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "ema:9@1h");
    return 1;
}

/* Of every kind of row. */
static size_t of_kinds(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    static const char *const texts[] = {"cdlengulfing@1h", "cdlmorningstar:0.5", "ht_sine@4h", "trima:9@1h"};
    const size_t n = sizeof texts / sizeof texts[0];
    (void)params;
    for (size_t i = 0; i < n; i++)
        snprintf(specs[i], STRATEGY_SPEC_TEXT, "%s", texts[i]);
    return n;
}

static size_t wrong_frame(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "ema:9@7h");
    return 1;
}

static size_t wrong_row(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "emma:9");
    return 1;
}

static void test_intervals(void)
{
    struct strategy strategy = puppet_strategy;
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char err[SPECS_ERROR_MAX] = "", name[48];
    const double params[STRATEGY_PARAMS_MAX] = {0};
    size_t n = 0;
    strategy.specs = hourly;
    CHECK_INT(engine_runner_specs(&strategy, params, 72 * 60 * MINUTE_NS, specs, &n, err), -EINVAL);
    CHECK_STR(err, "strategy puppet needs bars that divide 1h: interval 3d does not");
    CHECK_INT(engine_runner_specs(&strategy, params, 2 * 60 * MINUTE_NS, specs, &n, err), -EINVAL);
    CHECK_INT(engine_runner_specs(&strategy, params, 60 * MINUTE_NS, specs, &n, err), 0);
    CHECK_INT(engine_runner_specs(&strategy, params, MINUTE_NS, specs, &n, err), 0);
    CHECK(n == 1 && specs[0].frame_ns == 60 * MINUTE_NS);
    engine_runner_output_name(&specs[0], 0, name, sizeof name);
    CHECK_STR(name, "ema_9@1h");
    strategy.specs = of_kinds;
    CHECK_INT(engine_runner_specs(&strategy, params, MINUTE_NS, specs, &n, err), 0);
    CHECK(n == 4 && specs[0].frame_ns == 60 * MINUTE_NS && specs[1].frame_ns == 0);
    engine_runner_output_name(&specs[1], 0, name, sizeof name);
    CHECK_STR(name, "cdlmorningstar_0.5");
    engine_runner_output_name(&specs[2], 1, name, sizeof name);
    CHECK_STR(name, "ht_sine.leadsine@4h");
    strategy.specs = wrong_frame;
    CHECK_INT(engine_runner_specs(&strategy, params, MINUTE_NS, specs, &n, err), -EINVAL);
    CHECK_STR(err, "strategy puppet: ema:9@7h: one of 1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w, "
                   "spread, imbalance, microprice or col:NAME is needed");
    strategy.specs = wrong_row;
    CHECK_INT(engine_runner_specs(&strategy, params, MINUTE_NS, specs, &n, err), -EINVAL);
    CHECK(strstr(err, "strategy puppet: there is no indicator \"emma\"") != NULL);

    strategy.specs = hourly;
    harness_init(&h);
    h.accounts[ALICE].strategy = &strategy;
    h.config.interval_ns = 72 * 60 * MINUTE_NS;
    struct engine_sink sink = {0};
    struct engine *engine = NULL;
    CHECK_INT(engine_create(&h.config, &sink, &engine), -EINVAL);
    h.accounts[ALICE].strategy = NULL;
    harness_open(&h);
    struct account_spec dan = h.accounts[BOB];
    snprintf(dan.name, sizeof dan.name, "dan");
    dan.strategy = &strategy;
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_CREATE, .account = dan});
    CHECK_INT(h.command_reason, ORDER_BAD_ACCOUNT);
    harness_close(&h);
}

/* Our clock is wrong, by more than a bar may be late: strategies trade once it is known by how much. */
static void test_wrong_clock(void)
{
    static const int64_t wrong_ns[] = {70 * SECOND_NS, -40 * SECOND_NS};
    for (size_t i = 0; i < sizeof wrong_ns / sizeof *wrong_ns; i++) {
        open_runner();
        for (int known = wrong_ns[i] < 0; known < 2; known++) {
            int64_t end_ns = START_NS + (known + 1) * MINUTE_NS;
            struct bar bar = flat_bar(end_ns - MINUTE_NS, 60000 * E8);
            h.now_ns = end_ns + wrong_ns[i] + MS_NS;
            if (known)
                venue_clock(&h, -wrong_ns[i]);
            puppet_want((struct intent){
                .kind = INTENT_ENTER, .fraction = 0.1, .limit = 59000, .good_ns = end_ns + MINUTE_NS});
            kline(&h, BTCUSDT, &bar);
            CHECK_INT(engine_orders(h.engine), known);
            const struct order *entry = live_of(ORDER_LIMIT); /* good for a minute of the venue's */
            CHECK(!known || (entry && entry->expires_ns == end_ns + MINUTE_NS + wrong_ns[i]));
            if (known) /* set right by some of it: the minute is the same */
                venue_clock(&h, SECOND_NS - wrong_ns[i]);
            entry = live_of(ORDER_LIMIT);
            CHECK(!known || (entry && entry->expires_ns == end_ns + MINUTE_NS + wrong_ns[i] - SECOND_NS));
        }
        harness_close(&h);
    }
    /* A bar that is late stays so. */
    open_runner();
    venue_clock(&h, 70 * SECOND_NS);
    h.now_ns = START_NS + MINUTE_NS / 2;
    struct bar late = flat_bar(START_NS - MINUTE_NS, 60000 * E8);
    puppet_want((struct intent){.kind = INTENT_ENTER, .fraction = 0.1});
    kline(&h, BTCUSDT, &late);
    CHECK_INT(engine_orders(h.engine), 0);
    harness_close(&h);
    /* Of one venue only; and what is no difference of two clocks is refused. */
    open_runner();
    struct event event = {.kind = EVENT_VENUE_CLOCK, .venue_clock = {"other", SECOND_NS}};
    struct engine_symbol_view view;
    CHECK_INT(harness_event(&h, &event), 0);
    engine_symbol_view(h.engine, BTCUSDT, &view);
    CHECK_INT(view.ahead_ns, h.symbols[BTCUSDT].venue[0] ? 0 : SECOND_NS);
    event.venue_clock.ahead_ns = INT64_MIN;
    CHECK_INT(harness_event(&h, &event), -EINVAL);
    harness_close(&h);
}

int main(void)
{
    test_wrong_clock();
    test_bracket_at_market();
    test_one_exit();
    test_limit_until();
    test_target();
    test_symbols();
    test_impossible_entries();
    test_impossible_exits();
    test_record_through_zero();
    test_state();
    test_intervals();
    return check_done("engine/runner");
}
