/* Strategies that use more than their cash, and less than their position: leverage up to the account's
 * margin, targets of shorts, exits of a share, with the stop and the profit that shrink. */
#include "engine/state.h"
#include "record/codec.h"
#include "strategy/intent.h"
#include "tests/engine/puppet.h"

static struct harness h;

const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&puppet_strategy};
    *ret_n = 1;
    return all;
}

static void open_with(enum fill_model model, bool shorts, enum margin_kind margin)
{
    harness_init(&h);
    struct account_rules *rules = &h.accounts[ALICE].rules;
    h.accounts[ALICE].strategy = &puppet_strategy;
    rules->shorts = shorts;
    rules->collateral_e4 = shorts ? 15000 : 0;
    rules->maintenance_e4 = shorts ? 12500 : 0;
    rules->margin = margin;
    if (margin != MARGIN_OFF) /* a security that a margin lends for */
        snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "us-equity");
    h.config.fill_model = model;
    puppet_n = 0;
    harness_open(&h);
    struct event open = {.kind = EVENT_SESSION,
                         .session = {.calendar = "us-equity", .phase = MARKET_PHASE_OPEN}};
    if (margin != MARGIN_OFF)
        CHECK_INT(harness_event(&h, &open), 0);
    quote(&h, BTCUSDT, 60000 * E8, 10 * E8, 60000 * E8 + E8 / 100, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
}

static void flat(void)
{
    puppet_minute(&h, 60000, 60000, 60000, 60000);
}

static void ask_for(struct intent intent)
{
    puppet_want(intent);
    flat();
}

static int64_t held(void)
{
    return engine_account(h.engine, ALICE)->positions[BTCUSDT].qty;
}

/* Of 10000, at the last price. */
static double share(void)
{
    return (double)held() / E8 * 60000 / 10000;
}

static const struct order *live_of(enum order_type type)
{
    for (size_t i = 0; i < engine_orders(h.engine); i++)
        if (engine_order(h.engine, i)->type == type)
            return engine_order(h.engine, i);
    return NULL;
}

static struct intent part(double fraction)
{
    return (struct intent){.kind = INTENT_EXIT, .fraction = fraction, .why = "part"};
}

static struct intent target(double fraction)
{
    return (struct intent){.kind = INTENT_TARGET, .fraction = fraction, .why = "share"};
}

static void test_leverage(void)
{
    open_with(FILL_QUOTE, true, MARGIN_REGT);
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 1.5, .why = "much"});
    CHECK_NEAR(puppet_saw.leverage, 2, 0);
    CHECK_NEAR(share(), 1.5, 0.01);
    CHECK(engine_account(h.engine, ALICE)->assets[0].borrowed > 0);
    ask_for(target(1.9));
    CHECK_NEAR(share(), 1.9, 0.01);
    ask_for(target(-1.2)); /* through 0: both orders at once */
    CHECK_NEAR(share(), -1.2, 0.02);
    ask_for(target(-0.5)); /* buys back */
    CHECK_NEAR(share(), -0.5, 0.01);
    CHECK(h.last_order.side == ORDER_BUY && h.last_order.reduce_only);
    CHECK_INT(h.alerts, 0);

    uint64_t orders = h.last_order.id;
    ask_for(target(-2.5));
    CHECK_STR(h.last_alert_text, "puppet, BTCUSDT, account alice: target: fraction -2.5 is not from -2 to 2");
    ask_for((struct intent){.kind = INTENT_SHORT, .fraction = 2.01, .why = "much"});
    CHECK_INT(engine_intents_refused(h.engine, ALICE)[INTENT_BAD_FRACTION], 2);
    CHECK_INT(h.last_order.id, orders);
    harness_close(&h);
}

static void test_without_margin(void)
{
    open_with(FILL_QUOTE, false, MARGIN_OFF);
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 1.01, .why = "much"});
    CHECK_NEAR(puppet_saw.leverage, 1, 0);
    CHECK_STR(h.last_alert_text,
              "puppet, BTCUSDT, account alice: enter: fraction 1.01 is not above 0 and at most 1");
    ask_for(target(-0.1));
    CHECK_STR(h.last_alert_text,
              "puppet, BTCUSDT, account alice: target: its account may not be short of it");
    CHECK_INT(held(), 0);
    harness_close(&h);
}

static void test_short_target(void)
{
    open_with(FILL_QUOTE, true, MARGIN_OFF);
    ask_for(target(-0.3));
    CHECK_NEAR(share(), -0.3, 0.001);
    CHECK(!h.last_order.reduce_only);
    ask_for(target(-0.2));
    CHECK_NEAR(share(), -0.2, 0.001);
    ask_for(target(-0.2)); /* is there */
    uint64_t orders = h.last_order.id;
    ask_for(target(0.4));
    CHECK_NEAR(share(), 0.4, 0.002);
    CHECK(h.last_order.id > orders);
    ask_for(target(-0.4));
    CHECK_NEAR(share(), -0.4, 0.002);
    ask_for(target(0));
    CHECK_INT(held(), 0);
    CHECK_INT(h.alerts, 0);
    harness_close(&h);
}

/* Long or short: the exits close what is left, and the rest of the position later. */
static void test_part(enum fill_model model, bool shorts)
{
    enum order_side back = shorts ? ORDER_BUY : ORDER_SELL;
    double sign = shorts ? 1 : -1;
    open_with(model, shorts, MARGIN_OFF);
    ask_for((struct intent){.kind = shorts ? INTENT_SHORT : INTENT_ENTER,
                            .fraction = 0.3,
                            .stop = 60000 + sign * 1000,
                            .profit = 60000 - sign * 1000,
                            .why = "in"});
    flat(); /* with bars it fills here */
    int64_t before = llabs(held());
    CHECK_INT(before, 4995000);
    const struct order *stop = live_of(ORDER_STOP), *profit = live_of(ORDER_LIMIT);
    CHECK(stop && profit && stop->qty == before && profit->qty == before);
    ask_for(part(0.4));
    stop = live_of(ORDER_STOP);
    CHECK(model != FILL_BAR || (stop && stop->qty == before)); /* not filled yet: all is protected */
    flat();
    CHECK_INT(llabs(held()), before - 1998000);
    stop = live_of(ORDER_STOP), profit = live_of(ORDER_LIMIT);
    CHECK(stop && profit && stop->qty == llabs(held()) && profit->qty == llabs(held()));
    CHECK(stop && stop->side == back && stop->amends == 1 && stop->group == profit->group);
    ask_for(part(0.5));
    flat();
    CHECK_INT(llabs(held()), before - 1998000 - 1498000); /* whole lots: 0.014985 */
    stop = live_of(ORDER_STOP);
    CHECK(stop && stop->qty == llabs(held()) && stop->amends == 2);
    if (shorts)
        puppet_minute(&h, 61500, 61500, 61500, 61500);
    else
        puppet_minute(&h, 58500, 58500, 58500, 58500);
    if (model == FILL_BAR) { /* the stop closes what was left, to the lot */
        CHECK_INT(held(), 0);
        CHECK_INT(engine_orders(h.engine), 0);
    }
    CHECK_INT(h.alerts, 0);
    harness_close(&h);
}

static void test_part_refused(void)
{
    open_with(FILL_QUOTE, false, MARGIN_OFF);
    ask_for(part(0.5));
    CHECK_STR(h.last_alert_text, "puppet, BTCUSDT, account alice: exit: nothing is held");
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .why = "in"});
    int64_t before = held();
    ask_for(part(1.5));
    CHECK_STR(h.last_alert_text,
              "puppet, BTCUSDT, account alice: exit: fraction 1.5 of the position is not from 0 to 1");
    ask_for(part(NAN));
    ask_for(part(-0.1));
    CHECK_INT(engine_intents_refused(h.engine, ALICE)[INTENT_BAD_FRACTION], 3);
    CHECK_INT(held(), before);
    ask_for(part(1e-9)); /* less than a lot: as any order, by the filters */
    CHECK_INT(h.last_order.state, ORDER_REJECTED);
    ask_for(part(1));
    CHECK_INT(held(), 0);
    harness_close(&h);
}

/* Saved between the exit of a share and its fill: the loaded engine shrinks the stop as well. */
static void test_state(void)
{
    struct codec codec = {0};
    struct engine *loaded = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    open_with(FILL_BAR, false, MARGIN_OFF);
    ask_for((struct intent){.kind = INTENT_ENTER, .fraction = 0.3, .stop = 59000, .why = "in"});
    flat();
    int64_t before = held();
    ask_for(part(0.5));
    codec_save(&codec);
    CHECK_INT(engine_save(h.engine, &codec), 0);
    const struct engine_sink sink = harness_sink(&h);
    CHECK_INT(engine_load(codec.bytes, codec.len, &sink, NULL, &loaded, err), 0);
    CHECK_STR(err, "");
    engine_destroy(h.engine);
    h.engine = loaded;
    codec_finish(&codec);
    flat();
    CHECK_INT(held(), before - 2497000);
    CHECK(live_of(ORDER_STOP) && live_of(ORDER_STOP)->qty == held());
    harness_close(&h);
}

int main(void)
{
    test_leverage();
    test_without_margin();
    test_short_target();
    for (int shorts = 0; shorts < 2; shorts++) {
        test_part(FILL_QUOTE, shorts);
        test_part(FILL_BAR, shorts);
    }
    test_part_refused();
    test_state();
    return check_done("engine/parts");
}
