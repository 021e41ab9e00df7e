#include "strategy/risk.h"

#include <math.h>

#define SECOND_NS 1000000000LL

/* A share of something is computed in whole billionths, so that 0.29 of 100 is 29 and not slightly less. */
#define SHARE_ONE 1000000000LL

static int128_t share_of(int64_t value, double share)
{
    return (int128_t)llround(share * (double)SHARE_ONE) * value;
}

int128_t risk_share_of(int64_t value, double share)
{
    int128_t billionths = share_of(value, share);
    return billionths / SHARE_ONE - (billionths % SHARE_ONE < 0);
}

static bool above(int64_t held, int64_t ordered, double share, int64_t equity)
{
    return share > 0 && ((int128_t)held + ordered) * SHARE_ONE > share_of(equity, share);
}

static bool fell_by(int64_t from, int64_t to, double share)
{
    return share > 0 && from > 0 && ((int128_t)from - to) * SHARE_ONE >= share_of(from, share);
}

bool risk_price_band(const struct risk_limits *limits, int64_t price, int64_t last)
{
    if (limits->price_band <= 0 || price <= 0 || last <= 0)
        return false;
    int128_t away = price > last ? price - last : last - price;
    return away * SHARE_ONE > share_of(last, limits->price_band);
}

bool risk_exposure_symbol(const struct risk_limits *limits, const struct risk_facts *facts)
{
    return above(facts->symbol_notional, facts->order_notional, limits->exposure_symbol, facts->equity);
}

static bool too_soon(const struct risk_limits *limits, const struct risk_facts *facts)
{
    return limits->cooldown_ns > 0 && facts->begins && facts->closed_ns > 0 &&
           facts->now_ns - facts->closed_ns < limits->cooldown_ns;
}

static bool too_many(const struct risk_limits *limits, const struct risk_facts *facts)
{
    return limits->positions > 0 && !facts->entered && facts->positions >= limits->positions;
}

/* The rate is exceeded when the order `limit` places back is younger than a second. */
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
    return fell_by(day_equity, equity, limits->daily_loss);
}

bool risk_drawdown(const struct risk_limits *limits, int64_t equity, int64_t peak)
{
    return fell_by(peak, equity, limits->drawdown);
}

/* For an order that may open a position. */
static enum order_reason check_opening(const struct risk_limits *limits, const struct risk_rate *rate,
                                       const struct risk_facts *facts)
{
    if (facts->paused)
        return ORDER_RISK_PAUSED;
    if (facts->storage_failing)
        return ORDER_RISK_STORAGE;
    if (facts->killed)
        return ORDER_RISK_DRAWDOWN;
    if (facts->out)
        return ORDER_RISK_UNIVERSE;
    if (risk_daily_loss(limits, facts->equity, facts->day_equity))
        return ORDER_RISK_DAILY_LOSS;
    if (risk_price_band(limits, facts->limit_price, facts->last) ||
        risk_price_band(limits, facts->stop_price, facts->last))
        return ORDER_RISK_PRICE_BAND;
    if (too_soon(limits, facts))
        return ORDER_RISK_COOLDOWN;
    if (too_many(limits, facts))
        return ORDER_RISK_POSITIONS;
    if (risk_exposure_symbol(limits, facts) ||
        above(facts->account_notional, facts->order_notional, limits->exposure_account, facts->equity))
        return ORDER_RISK_EXPOSURE;
    if (too_fast(rate, limits->orders_per_second, facts->now_ns))
        return ORDER_RISK_ORDER_RATE;
    return ORDER_OK;
}

enum order_reason risk_check(const struct risk_limits *limits, struct risk_rate *rate,
                             const struct risk_facts *facts)
{
    enum order_reason reason = ORDER_OK;
    if (facts->stale)
        return ORDER_RISK_STALE_DATA;
    if (!facts->reduces)
        reason = check_opening(limits, rate, facts);
    if (reason != ORDER_OK)
        return reason;
    rate->times_ns[rate->next] = facts->now_ns;
    rate->next = (rate->next + 1) % RISK_RATE_MAX;
    return ORDER_OK;
}
