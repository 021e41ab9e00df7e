/* trainer/env/finish.h in lanes: how a step of LANES copies ends. The same operations in the same order; rare
 * events (an episode is over, one begins) are handled copy by copy by the functions there. */
#ifndef TRAINER_ENV_SIMD_FINISH_H
#define TRAINER_ENV_SIMD_FINISH_H

#include "trainer/env/finish.h"
#include "trainer/env/simd/lanes.h"

/* struct env_change. */
struct lane_change {
    lane_f equity, cash, capital;
    lane_f benchmark_before;
    lane_f equity_change, benchmark_change;
};

/* Whole numbers as floats, rounded to nearest. */
LANES_INLINE lane_f lane_of_int(lane_i v)
{
    return __builtin_convertvector(v, lane_f);
}

/* The whole part; |v| < 2^31. */
LANES_INLINE lane_i lane_int_of(lane_f v)
{
    return __builtin_convertvector(v, lane_i);
}

/* env_decay(). */
LANES_INLINE lane_f lane_decay(const struct env_view *view, lane_i row, lane_i first, lane_i last)
{
    lane_i begin = first + i_all(view->params.lookback - 1);
    lane_f left = lane_of_int(last - row) / lane_of_int(last - begin);
    return f_max(left, f_all((float)view->params.time_decay_floor));
}

/* env_reward(). */
LANES_INLINE lane_f lane_reward(const struct env_params *p, const struct lane_change *change, lane_f decay)
{
    const lane_f zero = f_all(0), norm = f_all((float)p->norm_reward);
    lane_f alpha = (change->equity_change - change->benchmark_change) * norm * decay;
    lane_f absolute = change->equity_change / change->capital * norm * decay;
    lane_f move = change->benchmark_change / change->benchmark_before;
    lane_f idle = change->cash / change->equity;
    lane_f bonus =
        f_select(f_lt(move, zero) & f_gt(idle, f_all(0.1f)), -move * idle * norm * f_all(0.1f), zero);
    lane_f reward = f_all((float)p->weight_alpha) * alpha + f_all((float)p->weight_absolute) * absolute +
                    f_all((float)p->weight_cash) * bonus;
    if (p->min_cash_reserve > 0) {
        lane_f lacking = change->capital * f_all((float)p->min_cash_reserve) - change->cash;
        reward = reward - f_max(lacking, zero) / change->capital * norm * f_all(0.5f);
    }
    return reward;
}

/* env_drawdown(), of copies [first, first + LANES). */
LANES_INLINE lane_dd lane_drawdown(const struct env_state *s, size_t first, lane_dd equity)
{
    lane_dd peak = dd_max(equity, dd_load(s->peak + first));
    lane_dd down = dd_of(f_of(dd_sub(peak, equity)) / f_of(peak));
    return dd_max(down, dd_load(s->drawdown + first));
}

/* env_risk(), of copies [first, first + LANES). */
LANES_INLINE lane_f lane_risk(const struct env_view *view, size_t first, lane_f reward, lane_f worth,
                              lane_dd before, lane_dd equity)
{
    const struct env_params *p = &view->params;
    const lane_f zero = f_all(0), norm = f_all((float)p->norm_reward);
    if (p->drawdown_penalty > 0) {
        lane_dd known = dd_load(view->state.drawdown + first);
        lane_f deeper = f_of(dd_sub(lane_drawdown(&view->state, first, equity), known));
        reward = reward - f_all((float)p->drawdown_penalty) * norm * worth * f_max(deeper, zero);
    }
    if (p->volatility_penalty > 0) {
        lane_f base = f_of(before), move = f_of(dd_sub(equity, before)) / base;
        lane_f square = f_min(move * move, f_all(1));
        lane_f less = reward - f_all((float)p->volatility_penalty) * norm * worth * square;
        reward = f_select(f_ge(base, f_all(ENV_EQUITY_LEAST)), less, reward);
    }
    return reward;
}

/* struct env_shares. */
struct lane_shares {
    lane_f most, count, sum, pairs;
};

/* Lanes with `m`, else 0. */
LANES_INLINE lane_f lane_where(mask_f m, lane_f v)
{
    return f_select(m, v, f_all(0));
}

/* Adds an asset's share; `counted` [n] are the shares before that belong to A, else 0. Returns this one's. */
LANES_INLINE lane_f lane_shares_add(struct lane_shares *shares, const lane_f *counted, int n, lane_f share)
{
    mask_f counts = f_gt(share, f_all(0.01f));
    lane_f own = lane_where(counts, share);
    shares->most = f_max(share, shares->most);
    shares->count = f_select(counts, shares->count + f_all(1), shares->count);
    shares->sum = shares->sum + own;
    for (int k = 0; k < n; k++)
        shares->pairs = shares->pairs + f_min(counted[k], own);
    return own;
}

/* env_concentration(). */
LANES_INLINE lane_f lane_concentration(const struct env_params *p, const struct lane_shares *shares)
{
    float k = (float)p->concentration_penalty;
    lane_f reward = lane_where(f_gt(shares->most, f_all(0.4f)), f_all(-k) * (shares->most - f_all(0.4f)));
    mask_f few = f_lt(shares->count, f_all(3));
    lane_f gini = f_all(1) - (f_all(1) + f_all(2) * shares->pairs / shares->sum) / shares->count;
    lane_f spread = reward + f_all(k) * f_all(0.1f) * (f_all(0.4f) - gini);
    spread = f_select(f_lt(gini, f_all(0.4f)), spread, reward);
    return f_select(few, reward - f_all(k) * f_all(0.5f) * (f_all(3) - shares->count), spread);
}

/* Are copies [first, first + LANES) all below `end`, with no episode over? */
LANES_INLINE bool lane_whole(const struct env_view *view, size_t first, size_t end)
{
    const uint8_t *flags = view->state.flags + first;
    uint8_t any = 0;
    for (int j = 0; j < LANES; j++)
        any |= flags[j];
    return first + LANES <= end && !(any & ENV_ENDED);
}

/* Copies [first, first + LANES) that step: those below `end` whose episodes are not over. */
LANES_INLINE mask_f lane_steps(const struct env_view *view, size_t first, size_t end)
{
    const uint8_t *flags = view->state.flags + first;
    unsigned bits = LANES_ALL;
    if (lane_whole(view, first, end))
        return f_mask(bits);
    if (end - first < LANES)
        bits = (1u << (end - first)) - 1;
    for (unsigned j = 0; j < LANES; j++)
        bits &= ~((unsigned)(flags[j] & ENV_ENDED) << j);
    return f_mask(bits);
}

/* Stores where copies step; `whole`: all do. */
LANES_INLINE void lane_put_dd(mask_f steps, bool whole, double *p, lane_dd v)
{
    dd_store(p, whole ? v : dd_select(steps, v, dd_load(p)));
}

/* env_finish() of copies [first, first + LANES) that step, whose rows are stored; `whole`: all do. What
 * belongs to the others stays as it is. */
LANES_INLINE void lane_finish(const struct env_view *view, const struct env_step_io *io, size_t first,
                              mask_f steps, bool whole, lane_f reward, lane_dd equity, mask_f ruined)
{
    const struct env_state *s = &view->state;
    const mask_f late = not_(i_lt(i_load(s->row + first), i_load(s->last + first)));
    const unsigned terminated = f_bits(ruined & steps);
    const unsigned truncated = f_bits(late & steps) & ~terminated;
    unsigned over = terminated | truncated;

    lane_dd discounted =
        dd_add(dd_mul(dd_load(s->gamma_return + first), dd_all(view->params.gamma)), dd_of(reward));
    lane_put_dd(steps, whole, s->gamma_return + first, discounted);
    if (over && view->params.final_return)
        reward = f_select(f_mask(over), f_of(discounted), reward);
    lane_put_dd(steps, whole, s->reward_sum + first, dd_add(dd_load(s->reward_sum + first), dd_of(reward)));
    lane_dd peak = dd_max(equity, dd_load(s->peak + first)), deepest = lane_drawdown(s, first, equity);
    lane_put_dd(steps, whole, s->peak + first, peak);
    lane_put_dd(steps, whole, s->drawdown + first, deepest);

    if (whole && !over) {
        f_store(io->rewards + first, reward);
        __builtin_memset(io->terminated + first, 0, LANES);
        __builtin_memset(io->truncated + first, 0, LANES);
        return;
    }
    float rewards[LANES];
    f_store(rewards, reward);
    for (unsigned left = f_bits(steps); left; left &= left - 1) {
        unsigned j = (unsigned)__builtin_ctz(left);
        io->rewards[first + j] = rewards[j];
        io->terminated[first + j] = terminated >> j & 1;
        io->truncated[first + j] = truncated >> j & 1;
    }
    for (; over; over &= over - 1)
        env_over(view, io, first + (size_t)__builtin_ctz(over), view->params.execution);
}

#endif
