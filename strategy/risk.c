#include "strategy/risk.h"

#define SECOND_NS 1000000000LL

static bool above(int64_t held, int64_t ordered, double share, int64_t equity)
{
    return share > 0 && (double)held + (double)ordered > share * (double)equity;
}

/* The rate is over when the order `limit` places back is younger than a second. */
static bool too_fast(const struct risk_rate *rate, int32_t limit, int64_t now_ns)
{
    if (limit <= 0)
        return false;
    if (limit > RISK_RATE_MAX)
        limit = RISK_RATE_MAX;
    int64_t then = rate->times_ns[(rate->next + RISK_RATE_MAX - (uint32_t)limit) % RISK_RATE_MAX];
    return then != 0 && now_ns - then < SECOND_NS;
}

bool risk_daily_loss(const struct risk_limits *limits, int64_t equity, int64_t day_equity)
{
    return limits->daily_loss > 0 && day_equity > 0 &&
           (double)(day_equity - equity) >= limits->daily_loss * (double)day_equity;
}

enum order_reason risk_check(const struct risk_limits *limits, struct risk_rate *rate,
                             const struct risk_facts *facts)
{
    if (facts->stale)
        return ORDER_RISK_STALE_DATA;
    if (!facts->reduces) {
        if (facts->paused)
            return ORDER_RISK_PAUSED;
        if (facts->storage_failing)
            return ORDER_RISK_STORAGE;
        if (risk_daily_loss(limits, facts->equity, facts->day_equity))
            return ORDER_RISK_DAILY_LOSS;
        if (above(facts->symbol_notional, facts->order_notional, limits->exposure_symbol, facts->equity) ||
            above(facts->account_notional, facts->order_notional, limits->exposure_account, facts->equity))
            return ORDER_RISK_EXPOSURE;
        if (too_fast(rate, limits->orders_per_second, facts->now_ns))
            return ORDER_RISK_ORDER_RATE;
    }
    rate->times_ns[rate->next] = facts->now_ns;
    rate->next = (rate->next + 1) % RISK_RATE_MAX;
    return ORDER_OK;
}
