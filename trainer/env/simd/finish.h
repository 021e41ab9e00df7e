/* trainer/env/finish.h in lanes: how a step of LANES copies ends. The same operations in the same order; what
 * is seldom (an episode that is over, one that begins) is done copy by copy by the functions there. */
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
static inline lane_f lane_of_int(lane_i v)
{
    return __builtin_convertvector(v, lane_f);
}

/* The whole part; |v| < 2^31. */
static inline lane_i lane_int_of(lane_f v)
{
    return __builtin_convertvector(v, lane_i);
}

/* env_decay(). */
static inline lane_f lane_decay(const struct env_view *view, lane_i row, lane_i first, lane_i last)
{
    lane_i begin = first + i_all(view->params.lookback - 1);
    lane_f left = lane_of_int(last - row) / lane_of_int(last - begin);
    return f_max(left, f_all((float)view->params.time_decay_floor));
}

/* env_reward(). */
static inline lane_f lane_reward(const struct env_params *p, const struct lane_change *change, lane_f decay)
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

/* struct env_shares. */
struct lane_shares {
    lane_f most, count, sum, pairs;
};

/* Lanes with `m`, else 0. */
static inline lane_f lane_where(mask_f m, lane_f v)
{
    return f_select(m, v, f_all(0));
}

/* env_shares_add(); `counted` [n] are the shares before that belong to A, else 0. Returns this one's. */
static inline lane_f lane_shares_add(struct lane_shares *shares, const lane_f *counted, int n, lane_f share)
{
    mask_f counts = f_gt(share, f_all(0.01f));
    lane_f own = lane_where(counts, share);
    shares->most = f_max(share, shares->most);
    shares->count = shares->count + lane_where(counts, f_all(1));
    shares->sum = shares->sum + own;
    for (int k = 0; k < n; k++)
        shares->pairs = shares->pairs + f_min(counted[k], own);
    return own;
}

/* env_concentration(). */
static inline lane_f lane_concentration(const struct env_params *p, const struct lane_shares *shares)
{
    float k = (float)p->concentration_penalty;
    lane_f reward = lane_where(f_gt(shares->most, f_all(0.4f)), f_all(-k) * (shares->most - f_all(0.4f)));
    mask_f few = f_lt(shares->count, f_all(3));
    lane_f gini = f_all(1) - (f_all(1) + f_all(2) * shares->pairs / shares->sum) / shares->count;
    lane_f spread = reward + f_all(k) * f_all(0.1f) * (f_all(0.4f) - gini);
    spread = f_select(f_lt(gini, f_all(0.4f)), spread, reward);
    return f_select(few, reward - f_all(k) * f_all(0.5f) * (f_all(3) - shares->count), spread);
}

/* Copies [first, first + LANES) that step: those below `end` whose episodes are not over. */
static inline mask_f lane_steps(const struct env_view *view, size_t first, size_t end)
{
    const uint8_t *flags = view->state.flags + first;
    unsigned bits = end - first >= LANES ? (unsigned)-1 : (1u << (end - first)) - 1;
    for (unsigned j = 0; j < LANES; j++)
        bits &= ~((unsigned)(flags[j] & ENV_ENDED) << j);
    return f_mask(bits & ((1u << LANES) - 1));
}

/* Bytes [0, n) become 1 in the lanes of the mask, else 0. */
static inline void lane_bytes(uint8_t *ret, unsigned bits, size_t n)
{
    for (size_t j = 0; j < n; j++)
        ret[j] = (uint8_t)(bits >> j & 1);
}

/* env_finish() of copies [first, first + LANES) below `end`; where they do not step, env_steps(). Their
 * columns are stored. */
static inline void lane_finish(const struct env_view *view, const struct env_step_io *io, size_t first,
                               size_t end, mask_f steps, lane_f reward, lane_dd equity, mask_f terminated)
{
    const struct env_state *s = &view->state;
    mask_f late = not_(i_lt(i_load(s->row + first), i_load(s->last + first)));
    mask_f truncated = late & not_(terminated) & steps, ended = terminated & steps;
    mask_f over = truncated | ended;
    lane_dd discounted =
        dd_add(dd_mul(dd_load(s->gamma_return + first), dd_all(view->params.gamma)), dd_of(reward));
    dd_store(s->gamma_return + first, discounted);
    if (view->params.final_return)
        reward = f_select(over, f_of(discounted), reward);
    dd_store(s->reward_sum + first, dd_add(dd_load(s->reward_sum + first), dd_of(reward)));
    lane_dd peak = dd_max(equity, dd_load(s->peak + first));
    dd_store(s->peak + first, peak);
    lane_dd down = dd_of(f_of(dd_sub(peak, equity)) / f_of(peak));
    dd_store(s->drawdown + first, dd_max(down, dd_load(s->drawdown + first)));

    size_t n = end - first < LANES ? end - first : LANES;
    unsigned stepping = f_bits(steps);
    if (n == LANES) {
        f_store(io->rewards + first, reward);
    } else {
        float rewards[LANES];
        f_store(rewards, reward);
        __builtin_memcpy(io->rewards + first, rewards, n * sizeof *rewards);
    }
    lane_bytes(io->terminated + first, f_bits(ended), n);
    lane_bytes(io->truncated + first, f_bits(truncated), n);
    for (unsigned left = f_bits(over); left; left &= left - 1)
        env_over(view, io, first + (size_t)__builtin_ctz(left));
    if (__builtin_expect(stepping != (1u << n) - 1, 0))
        for (size_t j = 0; j < n; j++)
            if (!(stepping >> j & 1))
                env_steps(view, io, first + j);
}

#endif
