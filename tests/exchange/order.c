/* The names of sides, types, states and reasons: each unique, each read back as what it was. */
#include "exchange/order.h"

#include <errno.h>

#include "tests/check.h"

int main(void)
{
    for (int side = ORDER_BUY; side <= ORDER_SELL; side++)
        CHECK_INT(order_side_parse(order_side_name(side)), side);
    for (int type = ORDER_MARKET; type <= ORDER_STOP; type++)
        CHECK_INT(order_type_parse(order_type_name(type)), type);
    for (int state = ORDER_PENDING; state <= ORDER_REJECTED; state++) {
        CHECK_INT(order_state_parse(order_state_name(state)), state);
        CHECK_INT(order_live(state), state < ORDER_FILLED);
    }
    for (int reason = ORDER_OK; reason < ORDER_REASONS; reason++)
        CHECK_INT(order_reason_parse(order_reason_name(reason)), reason);
    CHECK_STR(order_side_name(ORDER_SELL), "SELL");
    CHECK_STR(order_type_name(ORDER_STOP), "STOP");
    CHECK_STR(order_state_name(ORDER_PARTIAL), "PARTIAL");
    CHECK_STR(order_reason_name(ORDER_OK), "");
    CHECK_STR(order_reason_name(ORDER_RISK_STORAGE), "RISK_STORAGE");
    CHECK_INT(order_side_parse("buy"), -EINVAL);
    CHECK_INT(order_type_parse(""), -EINVAL);
    CHECK_INT(order_state_parse("DONE"), -EINVAL);
    CHECK_INT(order_reason_parse("LOT"), -EINVAL);
    return check_done("order");
}
