/* Short entries of strategies: sizes, brackets the other way round, moved stops, turns from long to short and
 * back, and where the account may not. */
#include "strategy/intent.h"
#include "tests/engine/puppet.h"

static struct harness h;
static double exposure_symbol; /* of the next account; 0: no limit */

static void open_model(enum fill_model model, int32_t collateral_e4)
{
    harness_init(&h);
    h.accounts[ALICE].strategy = &puppet_strategy;
    h.accounts[ALICE].rules.shorts = collateral_e4 > 0;
    h.accounts[ALICE].rules.collateral_e4 = collateral_e4;
    h.accounts[ALICE].rules.maintenance_e4 = 12500;
    h.config.fill_model = model;
    h.risk.exposure_symbol = exposure_symbol;
    puppet_n = 0;
    harness_open(&h);
    quote(&h, BTCUSDT, 60000 * E8, 10 * E8, 60010 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
}

static void flat(int price)
{
    puppet_minute(&h, price, price, price, price);
}

static struct intent short_of(double fraction, double stop, double profit)
{
    return (struct intent){
        .kind = INTENT_SHORT, .fraction = fraction, .stop = stop, .profit = profit, .why = "down"};
}

static void ask_for(struct intent intent)
{
    puppet_want(intent);
    flat(60000);
}

static void turn(struct intent entry)
{
    puppet_wants[0] = (struct intent){.kind = INTENT_EXIT, .why = "turn"};
    puppet_wants[1] = entry;
    puppet_n = 2;
    flat(60000);
}

static int64_t held(void)
{
    return engine_account(h.engine, ALICE)->positions[BTCUSDT].qty;
}

static const struct order *live_of(enum order_type type)
{
    for (size_t i = 0; i < engine_orders(h.engine); i++)
        if (engine_order(h.engine, i)->type == type)
            return engine_order(h.engine, i);
    return NULL;
}

static void test_bracket(void)
{
    open_model(FILL_BOOK, 15000);
    ask_for(short_of(0.5, 61000.005, 59000.005));
    CHECK_INT(held(), -8325000); /* 10000 · 0.5 less the fee of 0.1 %, at the bid of 60000 */
    const struct order *stop = live_of(ORDER_STOP), *profit = live_of(ORDER_LIMIT);
    CHECK(stop && profit && stop->group == profit->group && stop->parent == profit->parent);
    CHECK(stop && stop->side == ORDER_BUY && stop->reduce_only && stop->qty == 8325000);
    CHECK(stop && stop->stop_price == 6100001 * (E8 / 100));                   /* up, on the tick */
    CHECK(profit && profit->side == ORDER_BUY && profit->price == 59000 * E8); /* down */
    CHECK(stop && strcmp(stop->tag, "stop") == 0 && profit && profit->reduce_only);
    flat(60000);
    CHECK_NEAR(puppet_saw.qty, -0.08325, 0);
    CHECK_NEAR(puppet_saw.entry, 60000, 0);
    CHECK_NEAR(puppet_saw.stop, 61000.01, 0);
    CHECK_NEAR(puppet_saw.profit, 59000, 0);
    CHECK(puppet_saw.shorts && !puppet_saw.live_orders);

    trade(&h, BTCUSDT, 58999 * E8, E8); /* through the profit: it makes there, and the stop is cancelled */
    CHECK_INT(held(), 0);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK(h.last_fill.maker && h.last_fill.price == 59000 * E8);
    flat(60000);
    CHECK_INT(puppet_record.wins, 1);
    /* Sold for 4995, fee 4.995; bought for 4911.75, fee 4.91175. */
    CHECK_NEAR(puppet_record.won, 4995 - 4.995 - 4911.75 - 4.91175, 1e-9);

    ask_for(short_of(0.5, 61000, 59000));
    quote(&h, BTCUSDT, 61000 * E8, 10 * E8, 61010 * E8, 10 * E8);
    trade(&h, BTCUSDT, 61000 * E8, E8); /* the stop buys at the ask */
    CHECK_INT(held(), 0);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK(!h.last_fill.maker && h.last_fill.price == 61010 * E8);
    harness_close(&h);
}

static void test_at_limit(void)
{
    open_model(FILL_BOOK, 15000);
    struct intent intent = short_of(0.5, 61000, 59000);
    intent.limit = 60100.001;
    intent.good_ns = h.now_ns + HOUR_NS;
    ask_for(intent);
    const struct order *entry = engine_order(h.engine, 0);
    CHECK_INT(entry->side, ORDER_SELL);
    CHECK_INT(entry->type, ORDER_LIMIT);
    CHECK_INT(entry->price, 6010001 * (E8 / 100)); /* up, on the tick */
    CHECK_INT(entry->tif, ORDER_GTD);
    CHECK_INT(held(), 0);
    trade(&h, BTCUSDT, 60101 * E8, E8);
    CHECK_INT(held(), -entry->qty);
    CHECK(live_of(ORDER_STOP) && live_of(ORDER_LIMIT));
    harness_close(&h);
}

static void test_stop_moves(void)
{
    open_model(FILL_BOOK, 15000);
    ask_for(short_of(0.5, 61000, 0));
    CHECK(live_of(ORDER_STOP) && !live_of(ORDER_LIMIT));
    ask_for((struct intent){.kind = INTENT_STOP, .stop = 60500.001, .why = "trail"});
    CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->stop_price == 6050001 * (E8 / 100));
    ask_for((struct intent){.kind = INTENT_EXIT, .why = "out"});
    CHECK_INT(held(), 0);
    CHECK_INT(engine_orders(h.engine), 0);
    ask_for(short_of(0.5, 0, 0)); /* without exits: one is added */
    ask_for((struct intent){.kind = INTENT_STOP, .stop = 60500, .why = "trail"});
    CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->side == ORDER_BUY && live_of(ORDER_STOP)->reduce_only &&
          live_of(ORDER_STOP)->qty == -held());
    harness_close(&h);
}

/* In bars, the mirror of a long's: at the open beyond the stop it is bought at the open; where a bar reaches
 * both, the stop comes first. */
static void test_bars(void)
{
    static const struct {
        int open, high, low, close;
        int64_t price;
        bool maker;
    } cases[] = {
        {60000, 61500, 59500, 60000, 61000, false}, /* the stop, at its price */
        {60000, 60500, 58500, 60000, 59000, true},  /* the profit, at its price */
        {60000, 61500, 58500, 60000, 61000, false}, /* both: the worse */
        {61200, 61500, 60900, 61000, 61200, false}, /* a gap beyond the stop: at the open */
        {58800, 59200, 58500, 59000, 59000, true},  /* beyond the profit: at its price, where it waited */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_model(FILL_BAR, 15000);
        flat(60000);
        ask_for(short_of(0.5, 61000, 59000));
        puppet_minute(&h, 60000, 60100, 59900, 60000); /* entered at its open */
        CHECK_INT(held(), -8325000);
        CHECK_INT(h.last_fill.price, 60000 * E8);
        puppet_minute(&h, cases[i].open, cases[i].high, cases[i].low, cases[i].close);
        CHECK_INT(held(), 0);
        CHECK_INT(h.last_fill.price, cases[i].price * E8);
        CHECK_INT(h.last_fill.maker, cases[i].maker);
        CHECK_INT(engine_orders(h.engine), 0);
        harness_close(&h);
    }
    /* And in the bar of the entry itself. */
    open_model(FILL_BAR, 15000);
    flat(60000);
    ask_for(short_of(0.5, 61000, 59000));
    puppet_minute(&h, 60000, 61500, 58500, 60000);
    CHECK_INT(held(), 0);
    CHECK_INT(h.last_fill.price, 61000 * E8);
    harness_close(&h);
}

/* Out and in the other way round at one open, with what the exit leaves: all of it. */
static void test_turns(void)
{
    for (int model = 0; model < 2; model++) {
        open_model(model ? FILL_BAR : FILL_BOOK, 15000);
        flat(60000);
        ask_for((struct intent){
            .kind = INTENT_ENTER, .fraction = 1, .stop = 59000, .profit = 62000, .why = "up"});
        flat(60000);
        int64_t bought = held();
        CHECK(bought > 16600000);
        turn(short_of(1, 61000, 58000));
        flat(60000);
        CHECK(-held() > bought * 99 / 100 && -held() < bought);
        CHECK_INT(engine_orders(h.engine), 2);
        CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->qty == -held() &&
              live_of(ORDER_STOP)->side == ORDER_BUY);
        bought = -held();
        turn((struct intent){
            .kind = INTENT_ENTER, .fraction = 1, .stop = 59000, .profit = 62000, .why = "up"});
        flat(60000);
        CHECK(held() > bought * 99 / 100 && held() < bought);
        CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->qty == held() &&
              live_of(ORDER_STOP)->side == ORDER_SELL);
        CHECK_INT(engine_orders(h.engine), 2);
        harness_close(&h);
    }
}

/* What comes after the exit opens: a pause refuses it, and lets the exit go; without the exit, nothing is
 * entered. */
static void test_turn_refused(void)
{
    open_model(FILL_BOOK, 15000);
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "up"});
    command(&h, (struct event_command){.kind = COMMAND_PAUSE});
    turn(short_of(0.1, 61000, 0));
    CHECK_INT(held(), 0);
    CHECK_INT(h.last_order.state, ORDER_CANCELED); /* the stop: there was nothing more to protect */
    CHECK_INT(engine_account(h.engine, ALICE)->refused[ORDER_RISK_PAUSED], 2);
    harness_close(&h);

    open_model(FILL_BOOK, 15000);
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "up"});
    int64_t bought = held();
    connection(&h, true); /* and no data yet */
    uint64_t orders = engine_counters(h.engine)->orders;
    turn(short_of(0.1, 61000, 0));
    CHECK_INT(held(), bought);
    CHECK_INT(engine_counters(h.engine)->orders, orders + 1);
    CHECK_INT(h.last_order.reason, ORDER_NO_LIQUIDITY);
    harness_close(&h);
}

/* What it opens counts whole against the limits, and not what it closes. */
static void test_turn_limited(void)
{
    for (int over = 0; over < 2; over++) {
        exposure_symbol = 0.6;
        open_model(FILL_BOOK, 15000);
        exposure_symbol = 0;
        ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "up"});
        turn(short_of(over ? 0.7 : 0.5, 61000, 0));
        CHECK_INT(engine_account(h.engine, ALICE)->refused[ORDER_RISK_EXPOSURE], over ? 2 : 0);
        CHECK((held() < 0) == !over);
        harness_close(&h);
    }
}

/* A collateral of more than twice the value leaves less to sell than the cash. */
static void test_collateral(void)
{
    open_model(FILL_BOOK, 30000);
    ask_for(short_of(1, 0, 0));
    CHECK_INT(held(), -8325000); /* half of 10000 */
    harness_close(&h);
}

static void expect_refused(struct intent intent, enum intent_fault fault, const char *says)
{
    uint64_t before = engine_intents_refused(h.engine, ALICE)[fault];
    uint64_t orders = engine_counters(h.engine)->orders;
    char text[160];
    ask_for(intent);
    CHECK_INT(engine_counters(h.engine)->orders, orders);
    CHECK_INT(engine_intents_refused(h.engine, ALICE)[fault], before + 1);
    if (!says)
        return;
    snprintf(text, sizeof text, "puppet, BTCUSDT, account alice: %s", says);
    CHECK_STR(h.last_alert_text, text);
}

static void test_impossible(void)
{
    open_model(FILL_BOOK, 15000);
    expect_refused(short_of(0, 0, 0), INTENT_BAD_FRACTION, "short: fraction 0 is not above 0 and at most 1");
    expect_refused(short_of(0.5, 60000, 0), INTENT_BAD_STOP,
                   "short: stop 60000 is not above the price 60000");
    expect_refused(short_of(0.5, 59000, 0), INTENT_BAD_STOP, NULL);
    expect_refused(short_of(0.5, 0, 60000), INTENT_BAD_PROFIT,
                   "short: profit 60000 is not below the price 60000");
    ask_for(short_of(0.5, 61000, 0));
    expect_refused((struct intent){.kind = INTENT_STOP, .stop = 60000}, INTENT_BAD_STOP, NULL);
    CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->stop_price == 61000 * E8);
    harness_close(&h);

    open_model(FILL_BOOK, 0);
    expect_refused(short_of(0.5, 61000, 0), INTENT_NO_SHORTS, "short: its account may not be short of it");
    CHECK(!puppet_saw.shorts);
    harness_close(&h);
}

int main(void)
{
    test_bracket();
    test_at_limit();
    test_stop_moves();
    test_bars();
    test_turns();
    test_turn_refused();
    test_turn_limited();
    test_collateral();
    test_impossible();
    return check_done("engine/short_intents");
}
