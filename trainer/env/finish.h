/* How a step of one copy ends, the same for every execution and task: the reward, the account of the episode,
 * and what becomes of a copy whose episode is over. Plain functions for host and device.
 *
 * A step is
 *     if (!env_steps(view, io, e, execution)) a copy that had ended: it begins again, or stays ended
 *         continue;
 *     … trades, and stores row, cash, equity, benchmark, fees, buys, sells …
 *     env_finish(view, io, e, execution, reward, equity, terminated);
 *
 * Money is subtracted in its own type; differences and what is divided are then rounded to float32 once, and
 * the reward is computed in float32, each operation as written here and in this order. */
#ifndef TRAINER_ENV_FINISH_H
#define TRAINER_ENV_FINISH_H

#include "trainer/env/scalar/observe.h"

/* Finite, and with ENV_DISCRETE one of the levels. */
ENV_RULE bool env_action_valid(const struct env_view *view, float given)
{
    float levels = (float)view->params.levels;
    if (view->params.actions == ENV_DISCRETE)
        return given >= 0 && given < levels && given == (float)(int)given;
    return given - given == 0;
}

/* Action k as the rules take it: a level's worth, or the number itself; within +-POLICY_ACTION_MAX. */
ENV_RULE float env_action(const struct env_view *view, const struct env_step_io *io, size_t e, int32_t k)
{
    float given = io->actions[e * io->copy_step + (size_t)k * io->action_step];
    if (view->params.actions == ENV_DISCRETE) {
        int32_t middle = view->params.levels / 2;
        given = (given - (float)middle) * (float)(view->params.action_span / (double)middle);
    }
    float high = (float)POLICY_ACTION_MAX;
    given = given > high ? high : given;
    return given < -high ? -high : given;
}

/* The changes of a step, in plain currency. */
struct env_change {
    float equity, cash, capital;
    float benchmark_before;
    float equity_change, benchmark_change;
};

/* The share of the reward that the episode's age leaves: 1 at its beginning, 0 (or the floor) at its end. */
ENV_RULE float env_decay(const struct env_view *view, size_t e)
{
    const struct env_state *s = &view->state;
    int32_t begin = s->first[e] + view->params.lookback - 1;
    float left = (float)(s->last[e] - s->row[e]) / (float)(s->last[e] - begin);
    float floor = (float)view->params.time_decay_floor;
    return left > floor ? left : floor;
}

/* Alpha, absolute gain, cash bonus and the reserve's penalty. */
ENV_RULE float env_reward(const struct env_view *view, const struct env_change *change, float decay)
{
    const struct env_params *p = &view->params;
    float norm = (float)p->norm_reward;
    float alpha = (change->equity_change - change->benchmark_change) * norm * decay;
    float absolute = change->equity_change / change->capital * norm * decay;
    float move = change->benchmark_change / change->benchmark_before;
    float idle = change->cash / change->equity;
    float bonus = move < 0 && idle > 0.1f ? -move * idle * norm * 0.1f : 0.0f;
    float reward =
        (float)p->weight_alpha * alpha + (float)p->weight_absolute * absolute + (float)p->weight_cash * bonus;
    if (p->min_cash_reserve > 0) {
        float lacking = change->capital * (float)p->min_cash_reserve - change->cash;
        reward = reward - (lacking > 0 ? lacking : 0.0f) / change->capital * norm * 0.5f;
    }
    return reward;
}

#define ENV_EQUITY_LEAST 0x1p-126f /* of which shares are computed: its inverse is a float32 */

/* The largest drawdown of the episode, with this equity; the columns are still those before it. */
ENV_RULE double env_drawdown(const struct env_state *s, size_t e, double equity)
{
    double peak = equity > s->peak[e] ? equity : s->peak[e];
    double down = (double)((float)(peak - equity) / (float)peak);
    return down > s->drawdown[e] ? down : s->drawdown[e];
}

ENV_RULE bool env_has_risk(const struct env_params *p)
{
    return p->drawdown_penalty > 0 || p->volatility_penalty > 0;
}

/* The reward less the penalties on risk, of a step from `before` to `equity`, in the columns' money; the
 * columns of peak and drawdown are still those before it. `worth` scales a share: the capital in the
 * currency, where gains are in it, or 1. A drawdown beyond float32, by a short, stops growing. */
ENV_RULE float env_risk(const struct env_view *view, size_t e, float reward, float worth, double before,
                        double equity)
{
    const struct env_params *p = &view->params;
    float norm = (float)p->norm_reward;
    if (p->drawdown_penalty > 0) {
        float deeper = (float)(env_drawdown(&view->state, e, equity) - view->state.drawdown[e]);
        reward = reward - (float)p->drawdown_penalty * norm * worth * (deeper > 0 ? deeper : 0.0f);
    }
    if (p->volatility_penalty > 0 && (float)before >= ENV_EQUITY_LEAST) {
        float move = (float)(equity - before) / (float)before, square = move * move;
        reward = reward - (float)p->volatility_penalty * norm * worth * (square < 1 ? square : 1.0f);
    }
    return reward;
}

/* What the concentration penalty is computed from: each asset's share of equity. Sums are in index order; a
 * share's pairs are those with the assets before it, in index order. */
struct env_shares {
    float most;  /* the largest */
    float count; /* of those above 0.01, the set A */
    float sum;   /* over A */
    float pairs; /* over all pairs: the smaller of the two, 0 for what is not in A */
};

ENV_RULE float env_counted(float share)
{
    return share > 0.01f ? share : 0.0f;
}

/* The Gini coefficient of A sorted ascending is 2 * sum(j * r_j) / (|A| * sum) - (|A| + 1) / |A|. Since
 * sum(j * r_j) = |A| * sum - pairs, it is 1 - (1 + 2 * pairs / sum) / |A|: no sorting. */
ENV_RULE float env_concentration(const struct env_view *view, const struct env_shares *shares)
{
    float k = (float)view->params.concentration_penalty, reward = 0;
    if (shares->most > 0.4f)
        reward = -k * (shares->most - 0.4f);
    if (shares->count < 3)
        return reward - k * 0.5f * (3 - shares->count);
    float gini = 1 - (1 + 2 * shares->pairs / shares->sum) / shares->count;
    return gini < 0.4f ? reward + k * 0.1f * (0.4f - gini) : reward;
}

ENV_RULE void env_rest(const struct env_step_io *io, size_t e)
{
    io->rewards[e] = 0;
    io->terminated[e] = 0;
    io->truncated[e] = 0;
}

/* False for a copy whose episode was over: this step began the next one, or did nothing. */
ENV_RULE bool env_steps(const struct env_view *view, const struct env_step_io *io, size_t e,
                        enum env_execution execution)
{
    if (!(view->state.flags[e] & ENV_ENDED))
        return true;
    if (view->params.autoreset != ENV_NO_RESET)
        env_begin(view, e, execution);
    env_rest(io, e);
    return false;
}

/* The discounted sum and the sum of rewards, and the drawdown. Returns the step's reported reward. */
ENV_RULE float env_account(const struct env_view *view, size_t e, float reward, double equity, bool over)
{
    const struct env_state *s = &view->state;
    double discounted = s->gamma_return[e] * view->params.gamma + (double)reward;
    s->gamma_return[e] = discounted;
    if (over && view->params.final_return)
        reward = (float)discounted;
    s->reward_sum[e] = s->reward_sum[e] + (double)reward;
    s->drawdown[e] = env_drawdown(s, e, equity);
    s->peak[e] = equity > s->peak[e] ? equity : s->peak[e];
    return reward;
}

/* The value of one copy's positions, long or short, at the last closes, a share of its equity; 0 where that
 * is gone. */
ENV_RULE double env_exposure(const struct env_view *view, size_t e)
{
    const struct env_state *s = &view->state;
    const float *close = view->market.close + (size_t)s->row[e] * (size_t)view->market.row_stride;
    double equity = policy_divided(env_money_get(view, s->equity, e), env_money_units(view)), sum = 0;
    ENV_ROLLED
    for (int32_t i = 0; i < s->n; i++) {
        size_t at = (size_t)i * s->stride + e;
        double worth;
        if (view->params.execution == ENV_MARKET)
            worth = policy_divided(s->lots[at] * s->closed[at] * view->market.symbols[i].per_divisor,
                                   view->market.symbols[i].money_units);
        else
            worth = (double)s->qty[at] * (double)close[i];
        sum += worth < 0 ? -worth : worth;
    }
    return equity > 0 ? policy_divided(sum, equity) : 0;
}

/* Keeps the results of an episode that is over, and its last observation. */
ENV_APART void env_over_keep(const struct env_view *view, const struct env_step_io *io, size_t e)
{
    const struct env_state *s = &view->state;
    const struct env_ended *last = &view->ended;
    double units = env_money_units(view);
    last->equity[e] = policy_divided(env_money_get(view, s->equity, e), units);
    last->benchmark[e] = policy_divided(env_money_get(view, s->benchmark, e), units);
    last->fees[e] = policy_divided(env_money_get(view, s->fees, e), units);
    last->reward[e] = s->reward_sum[e];
    last->drawdown[e] = s->drawdown[e];
    last->exposure[e] = env_exposure(view, e);
    last->steps[e] = s->row[e] - (s->first[e] + view->params.lookback - 1);
    last->buys[e] = s->buys[e];
    last->sells[e] = s->sells[e];
    if (view->params.autoreset != ENV_SAME_STEP) {
        s->flags[e] = ENV_ENDED;
        return;
    }
    if (io->final_obs)
        env_observe_copy(view, e, io->final_obs + e * (size_t)view->observation_size);
}

/* Called when the episode of a copy is over: seldom. */
ENV_RULE void env_over(const struct env_view *view, const struct env_step_io *io, size_t e,
                       enum env_execution execution)
{
    env_over_keep(view, io, e);
    if (view->params.autoreset == ENV_SAME_STEP)
        env_begin(view, e, execution);
}

/* Ends a step whose columns are stored; `equity` is that column's value. */
ENV_RULE void env_finish(const struct env_view *view, const struct env_step_io *io, size_t e,
                         enum env_execution execution, float reward, double equity, bool terminated)
{
    bool truncated = !terminated && view->state.row[e] >= view->state.last[e];
    io->rewards[e] = env_account(view, e, reward, equity, terminated || truncated);
    io->terminated[e] = terminated;
    io->truncated[e] = truncated;
    if (terminated || truncated)
        env_over(view, io, e, execution);
}

#endif
