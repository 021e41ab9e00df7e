/* A symbol that is out of the universe: what strategies want to open is refused, what they have on order to
 * open is cancelled, exits work on, orders by hand pass; other symbols, and its return, are as before. */
#include <errno.h>

#include "strategy/intent.h"
#include "tests/engine/puppet.h"

static struct harness h;

const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&puppet_strategy};
    *ret_n = 1;
    return all;
}

static void open_with(bool shorts)
{
    harness_init(&h);
    h.accounts[ALICE].strategy = &puppet_strategy;
    h.accounts[ALICE].rules.shorts = shorts;
    h.accounts[ALICE].rules.collateral_e4 = shorts ? 15000 : 0;
    h.accounts[ALICE].rules.maintenance_e4 = shorts ? 12500 : 0;
    puppet_n = 0;
    harness_open(&h);
    quote(&h, BTCUSDT, 60000 * E8, 10 * E8, 60010 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
}

static const struct order *ask_for(struct intent intent)
{
    puppet_want(intent);
    puppet_minute(&h, 60000, 60000, 60000, 60000);
    return &h.last_order;
}

static void put(int symbol, bool in)
{
    struct event event = {.kind = EVENT_UNIVERSE, .universe = {symbol, in}};
    struct engine_symbol_view view;
    CHECK_INT(harness_event(&h, &event), 0);
    engine_symbol_view(h.engine, symbol, &view);
    CHECK(view.out == !in);
    pass(&h, 100 * MS_NS);
}

static int64_t held(void)
{
    return engine_account(h.engine, ALICE)->positions[BTCUSDT].qty;
}

static struct intent enter(double fraction, double stop, double limit)
{
    return (struct intent){
        .kind = INTENT_ENTER, .fraction = fraction, .stop = stop, .limit = limit, .why = "in"};
}

static void test_out(void)
{
    open_with(false);
    ask_for(enter(0.2, 50000, 0));
    const int64_t before = held();
    CHECK(before > 0);
    struct intent wanted = {.kind = INTENT_ORDER,
                            .side = ORDER_BUY,
                            .type = ORDER_LIMIT,
                            .fraction = 0.3,
                            .limit = 59000,
                            .why = "own"};
    const struct order placed = *ask_for(wanted);
    CHECK(placed.state == ORDER_OPEN);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 1000, 58000 * E8);
    const uint64_t by_hand = h.last_order.id;
    put(BTCUSDT, false);
    CHECK(reported(&h, placed.id)->state == ORDER_CANCELED);
    CHECK(reported(&h, by_hand)->state == ORDER_OPEN && held() == before);
    CHECK_STR(order_reason_name(ask_for(wanted)->reason), "RISK_UNIVERSE");
    CHECK_STR(order_reason_name(ask_for(enter(0.2, 50000, 0))->reason), "RISK_UNIVERSE");
    CHECK(puppet_saw.stop == 50000); /* it stays */
    CHECK_STR(order_reason_name(
                  ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0.4, .why = "more"})->reason),
              "RISK_UNIVERSE");
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0.1, .why = "less"});
    CHECK(h.last_order.state == ORDER_FILLED && held() > 0 && held() < before);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 1000, 0);
    pass(&h, 100 * MS_NS);
    CHECK(h.last_order.by_hand && h.last_order.state == ORDER_FILLED);
    ask_for((struct intent){.kind = INTENT_EXIT, .why = "out"});
    CHECK_INT(held(), 0);
    CHECK_INT(engine_account(h.engine, ALICE)->refused[ORDER_RISK_UNIVERSE], 4); /* two of a bracket */
    put(BTCUSDT, true);
    ask_for(enter(0.2, 50000, 0));
    CHECK(held() > 0);
    harness_close(&h);
}

/* A limit entry whose exits wait for it: all of them end. */
static void test_bracket(void)
{
    open_with(false);
    ask_for(enter(0.2, 50000, 59000));
    const uint64_t entry = h.last_order.group;
    CHECK(reported(&h, entry)->state == ORDER_OPEN);
    put(BTCUSDT, false);
    CHECK(reported(&h, entry)->state == ORDER_CANCELED);
    CHECK(reported(&h, entry + 1)->state == ORDER_CANCELED && held() == 0);
    harness_close(&h);
}

static void test_others(void)
{
    open_with(true);
    put(ETHUSDT, false);
    ask_for((struct intent){.kind = INTENT_SHORT, .fraction = 0.2, .why = "short"});
    const int64_t before = held();
    CHECK(before < 0);
    put(BTCUSDT, false);
    CHECK_STR(order_reason_name(
                  ask_for((struct intent){.kind = INTENT_TARGET, .fraction = -0.5, .why = "more"})->reason),
              "RISK_UNIVERSE");
    CHECK_INT(held(), before);
    ask_for((struct intent){.kind = INTENT_TARGET, .fraction = 0.3, .why = "turn"}); /* closes alone */
    CHECK_INT(held(), 0);
    harness_close(&h);
}

static void test_bad(void)
{
    open_with(false);
    const int bad[] = {-1, 99};
    for (size_t i = 0; i < 2; i++) {
        struct event event = {.kind = EVENT_UNIVERSE, .universe = {bad[i], false}};
        CHECK_INT(harness_event(&h, &event), -EINVAL);
    }
    harness_close(&h);
}

int main(void)
{
    test_out();
    test_bracket();
    test_others();
    test_bad();
    return check_done("universe_gate");
}
