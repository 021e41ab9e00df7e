#include "trainer/env/columns.h"

#include "strategy/policy/limit_rules.h"

#define STATE(field, bytes)     .name = #field, .offset = offsetof(struct env_state, field), .size = bytes
#define ENDED(field, bytes)     .name = #field, .offset = offsetof(struct env_ended, field), .size = bytes
#define OF_A_COPY               .execution = -1
#define OF_AN_ASSET(execution_) .assets = true, .execution = execution_

enum { MONEY = 0 };

static const struct env_column columns[] = {
    {STATE(row, 4), OF_A_COPY},
    {STATE(first, 4), OF_A_COPY},
    {STATE(last, 4), OF_A_COPY},
    {STATE(episode, 4), OF_A_COPY},
    {STATE(flags, 1), OF_A_COPY},
    {STATE(buys, 4), OF_A_COPY},
    {STATE(sells, 4), OF_A_COPY},
    {STATE(cash, MONEY), OF_A_COPY},
    {STATE(equity, MONEY), OF_A_COPY},
    {STATE(benchmark, MONEY), OF_A_COPY},
    {STATE(fees, MONEY), OF_A_COPY},
    {STATE(capital, MONEY), OF_A_COPY},
    {STATE(fee_buy, 8), OF_A_COPY},
    {STATE(fee_sell, 8), OF_A_COPY},
    {STATE(slippage, 4), OF_A_COPY},
    {STATE(gamma_return, 8), OF_A_COPY},
    {STATE(reward_sum, 8), OF_A_COPY},
    {STATE(peak, 8), OF_A_COPY},
    {STATE(drawdown, 8), OF_A_COPY},
    {STATE(qty, 4), OF_AN_ASSET(ENV_REFERENCE)},
    {STATE(held, 4), OF_AN_ASSET(ENV_REFERENCE)},
    {STATE(best, 4), OF_AN_ASSET(ENV_REFERENCE)},
    {STATE(scale, 4), OF_AN_ASSET(ENV_REFERENCE)},
    {STATE(bench, 4), OF_AN_ASSET(ENV_REFERENCE)},
    {STATE(cool, 4), OF_AN_ASSET(ENV_REFERENCE)},
    {STATE(lots, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(m_scale, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(m_qty, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(m_held, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(m_cool, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(m_peak, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(stop, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(stop_qty, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(waiting, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(reserved, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(closed, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(m_bench, 8), OF_AN_ASSET(ENV_MARKET)},
    {STATE(m_cost, 8), OF_AN_ASSET(ENV_MARKET), .limits = true},
    {STATE(m_taken, 8), OF_AN_ASSET(ENV_MARKET), .limits = true},
    {STATE(all_peak, 8), OF_A_COPY, .limits = true},
    {STATE(all_until, 8), OF_A_COPY, .limits = true},
    {STATE(all_day, 8), OF_A_COPY, .limits = true},
    {STATE(all_opening, 8), OF_A_COPY, .limits = true},
    {STATE(all_lost, 8), OF_A_COPY, .limits = true},
    {STATE(day_equity, 8), OF_A_COPY, .day_trade = true},
    {STATE(entry, 8), OF_A_COPY, .day_trade = true},
    {ENDED(equity, 8), OF_A_COPY, .ended = true},
    {ENDED(benchmark, 8), OF_A_COPY, .ended = true},
    {ENDED(fees, 8), OF_A_COPY, .ended = true},
    {ENDED(reward, 8), OF_A_COPY, .ended = true},
    {ENDED(drawdown, 8), OF_A_COPY, .ended = true},
    {ENDED(exposure, 8), OF_A_COPY, .ended = true},
    {ENDED(steps, 4), OF_A_COPY, .ended = true},
    {ENDED(buys, 4), OF_A_COPY, .ended = true},
    {ENDED(sells, 4), OF_A_COPY, .ended = true},
};

const struct env_column *env_columns(size_t *ret_n)
{
    *ret_n = sizeof columns / sizeof *columns;
    return columns;
}

bool env_column_used(const struct env_column *column, const struct env_params *params)
{
    return (column->execution < 0 || column->execution == (int)params->execution) &&
           (!column->day_trade || params->task == ENV_DAY_TRADE) &&
           (!column->limits || policy_has_limits(&params->limits));
}

size_t env_column_size(const struct env_column *column, const struct env_params *params)
{
    return column->size ? column->size : params->float32 ? sizeof(float) : sizeof(double);
}

void *env_column_data(const struct env_column *column, const struct env_view *view)
{
    const char *base = column->ended ? (const char *)&view->ended : (const char *)&view->state;
    return *(void *const *)(base + column->offset);
}

void env_column_set(const struct env_column *column, struct env_view *view, void *data)
{
    char *base = column->ended ? (char *)&view->ended : (char *)&view->state;
    *(void **)(base + column->offset) = data;
}

size_t env_stride(size_t copies)
{
    size_t blocks = (copies + ENV_LANES - 1) / ENV_LANES;
    return (blocks | 1) * ENV_LANES;
}
