#include "strategy/record.h"

#include "exchange/decimal.h"

static int64_t share(int64_t whole, int64_t part, int64_t of)
{
    return part == of ? whole : (int64_t)((int128_t)whole * part / of);
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t ret;
    if (__builtin_add_overflow(a, b, &ret))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return ret;
}

static int64_t flow_of(enum order_side side, int64_t notional, int64_t fee)
{
    return sum(side == ORDER_SELL ? notional : -notional, -fee);
}

static void count(struct strategy_record *record, double profit)
{
    if (profit > 0) {
        record->wins++;
        record->losing = 0;
        record->won += profit;
    } else {
        record->losses++;
        record->losing++;
        record->lost -= profit;
    }
}

bool strategy_record_fill(struct record_keeper *keeper, enum order_side side, int64_t qty, int64_t notional,
                          int64_t fee, int64_t held, int quote_scale, int64_t *ret_profit)
{
    int64_t against = side == ORDER_BUY ? -held : held;
    if (against <= 0 || qty < against) {
        keeper->flow = sum(keeper->flow, flow_of(side, notional, fee));
        return false;
    }
    int64_t closing = share(notional, against, qty), closing_fee = share(fee, against, qty);
    int64_t profit = sum(keeper->flow, flow_of(side, closing, closing_fee));
    count(&keeper->record, decimal_to_double(profit, quote_scale));
    keeper->flow = qty > against ? flow_of(side, notional - closing, fee - closing_fee) : 0;
    if (ret_profit)
        *ret_profit = profit;
    return true;
}

void strategy_record_resume(struct record_keeper *keeper, int64_t held, int64_t cost)
{
    keeper->flow = held > 0 ? -cost : held < 0 ? cost : 0;
}
