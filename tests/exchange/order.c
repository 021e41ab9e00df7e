/* The names of sides, types, times, states and reasons: each unique, each read back as what it was; and the
 * state machine, every state with every action, against a list that is written here. */
#include "exchange/order_stop.h"

#include <errno.h>

#include "tests/check.h"

static void test_names(void)
{
    for (int side = ORDER_BUY; side <= ORDER_SELL; side++)
        CHECK_INT(order_side_parse(order_side_name(side)), side);
    for (int type = 0; type < ORDER_TYPES; type++)
        CHECK_INT(order_type_parse(order_type_name(type)), type);
    for (int tif = 0; tif < ORDER_TIFS; tif++)
        CHECK_INT(order_tif_parse(order_tif_name(tif)), tif);
    for (int state = 0; state < ORDER_STATES; state++)
        CHECK_INT(order_state_parse(order_state_name(state)), state);
    for (int reason = ORDER_OK; reason < ORDER_REASONS; reason++)
        CHECK_INT(order_reason_parse(order_reason_name(reason)), reason);
    CHECK_STR(order_side_name(ORDER_SELL), "SELL");
    CHECK_STR(order_type_name(ORDER_TRAILING_STOP), "TRAILING_STOP");
    CHECK_STR(order_tif_name(ORDER_FOK), "FOK");
    CHECK_STR(order_state_name(ORDER_PARTIAL), "PARTIAL");
    CHECK_STR(order_reason_name(ORDER_OK), "");
    CHECK_STR(order_reason_name(ORDER_RISK_STORAGE), "RISK_STORAGE");
    CHECK_INT(order_side_parse("buy"), -EINVAL);
    CHECK_INT(order_type_parse(""), -EINVAL);
    CHECK_INT(order_tif_parse("DAYS"), -EINVAL);
    CHECK_INT(order_state_parse("DONE"), -EINVAL);
    CHECK_INT(order_reason_parse("LOT"), -EINVAL);
}

static void test_types(void)
{
    static const struct {
        enum order_type type;
        bool stop, limit;
    } types[] = {
        {ORDER_MARKET, false, false},       {ORDER_LIMIT, false, true},
        {ORDER_STOP, true, false},          {ORDER_STOP_LIMIT, true, true},
        {ORDER_TAKE_PROFIT, true, false},   {ORDER_TAKE_PROFIT_LIMIT, true, true},
        {ORDER_TRAILING_STOP, true, false},
    };
    CHECK_INT(sizeof types / sizeof *types, ORDER_TYPES);
    for (size_t i = 0; i < ORDER_TYPES; i++) {
        struct order order = {.type = types[i].type};
        CHECK_INT(order_is_stop(types[i].type), types[i].stop);
        CHECK_INT(order_has_limit(types[i].type), types[i].limit);
        CHECK_INT(order_works_as_limit(&order), types[i].type == ORDER_LIMIT);
        order.triggered = true;
        CHECK_INT(order_works_as_limit(&order), types[i].limit);
    }
}

/* All that can happen, one sentence each; what is not listed cannot. */
static const char *const sentences[] = {
    /* A held exit starts, or ends before it started. */
    "HELD ACTIVATES PENDING",
    "HELD IS_CANCELED CANCELED",
    "HELD EXPIRES EXPIRED",
    "HELD AMENDS HELD",
    /* On its way it may meet the market at once. */
    "PENDING ARRIVES OPEN",
    "PENDING FILLS_PART PARTIAL",
    "PENDING FILLS_REST FILLED",
    "PENDING IS_CANCELED CANCELED",
    "PENDING EXPIRES EXPIRED",
    "PENDING AMENDS PENDING",
    /* Its venue's answer was lost; or refuses it. */
    "PENDING IS_LOST UNKNOWN",
    "PENDING IS_REJECTED REJECTED",
    "UNKNOWN ARRIVES OPEN",
    "UNKNOWN FILLS_PART PARTIAL",
    "UNKNOWN FILLS_REST FILLED",
    "UNKNOWN IS_CANCELED CANCELED",
    "UNKNOWN EXPIRES EXPIRED",
    "UNKNOWN IS_REJECTED REJECTED",
    "OPEN FILLS_PART PARTIAL",
    "OPEN FILLS_REST FILLED",
    "OPEN IS_CANCELED CANCELED",
    "OPEN EXPIRES EXPIRED",
    "OPEN AMENDS OPEN",
    "PARTIAL FILLS_PART PARTIAL",
    "PARTIAL FILLS_REST FILLED",
    "PARTIAL IS_CANCELED CANCELED",
    "PARTIAL EXPIRES EXPIRED",
    "PARTIAL AMENDS PARTIAL",
};

static void test_states(void)
{
    static const char *const actions[ORDER_ACTIONS] = {
        [ORDER_ARRIVES] = "ARRIVES",         [ORDER_ACTIVATES] = "ACTIVATES",
        [ORDER_FILLS_PART] = "FILLS_PART",   [ORDER_FILLS_REST] = "FILLS_REST",
        [ORDER_IS_CANCELED] = "IS_CANCELED", [ORDER_EXPIRES] = "EXPIRES",
        [ORDER_AMENDS] = "AMENDS",           [ORDER_IS_LOST] = "IS_LOST",
        [ORDER_IS_REJECTED] = "IS_REJECTED",
    };
    size_t met = 0;
    for (int state = 0; state < ORDER_STATES; state++)
        for (int action = 0; action < ORDER_ACTIONS; action++) {
            int next = order_next((enum order_state)state, (enum order_action)action), expected = -EINVAL;
            for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
                for (int to = 0; to < ORDER_STATES; to++) {
                    char sentence[64];
                    snprintf(sentence, sizeof sentence, "%s %s %s", order_state_name((enum order_state)state),
                             actions[action], order_state_name((enum order_state)to));
                    if (strcmp(sentence, sentences[i]) == 0) {
                        expected = to;
                        met++;
                    }
                }
            CHECK_INT(next, expected);
            CHECK(next < 0 || order_live((enum order_state)state)); /* what ended stays ended */
        }
    CHECK_INT(met, sizeof sentences / sizeof *sentences);
    CHECK_INT(order_next(ORDER_STATES, ORDER_ARRIVES), -EINVAL);
    CHECK_INT(order_next(ORDER_OPEN, ORDER_ACTIONS), -EINVAL);
    CHECK_INT(order_next((enum order_state) - 1, (enum order_action) - 1), -EINVAL);
    static const enum order_state live[] = {ORDER_PENDING, ORDER_HELD, ORDER_OPEN, ORDER_PARTIAL,
                                            ORDER_UNKNOWN};
    for (int state = 0; state < ORDER_STATES; state++) {
        bool expected = false;
        for (int i = 0; i < 5; i++)
            expected |= live[i] == (enum order_state)state;
        CHECK_INT(order_live((enum order_state)state), expected);
    }
}

/* Of a long's orders the highest live stop, of a short's the lowest; not what waits for an entry, takes a
 * profit, is of the other side or over. */
static void test_nearest_stop(void)
{
    static const struct {
        enum order_type type;
        enum order_state state;
        enum order_side side;
        int64_t stop;
    } orders[] = {{ORDER_STOP, ORDER_HELD, ORDER_SELL, 107000},
                  {ORDER_STOP, ORDER_HELD, ORDER_BUY, 90000},
                  {ORDER_STOP, ORDER_OPEN, ORDER_SELL, 105000},
                  {ORDER_STOP_LIMIT, ORDER_OPEN, ORDER_SELL, 106000},
                  {ORDER_TRAILING_STOP, ORDER_OPEN, ORDER_SELL, 0},
                  {ORDER_TAKE_PROFIT, ORDER_OPEN, ORDER_SELL, 111000},
                  {ORDER_STOP, ORDER_PARTIAL, ORDER_BUY, 112000},
                  {ORDER_STOP, ORDER_CANCELED, ORDER_SELL, 109000},
                  {ORDER_TRAILING_STOP, ORDER_OPEN, ORDER_BUY, 110000}};
    enum { N = sizeof orders / sizeof *orders };

    for (int first = 0; first < N; first++) {
        int64_t of_long = 0, of_short = 0;
        for (int i = 0; i < N; i++) {
            int k = (first + i) % N;
            const struct order order = {.type = orders[k].type,
                                        .state = orders[k].state,
                                        .side = orders[k].side,
                                        .stop_price = orders[k].stop};
            of_long = order_nearer_stop(&order, ORDER_SELL, of_long);
            of_short = order_nearer_stop(&order, ORDER_BUY, of_short);
        }
        CHECK_INT(of_long, 106000);
        CHECK_INT(of_short, 110000);
    }
}

int main(void)
{
    test_names();
    test_types();
    test_states();
    test_nearest_stop();
    return check_done("order");
}
