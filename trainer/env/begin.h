/* How an episode begins, for one copy: what is drawn, its window of rows, and every column of the copy. Plain
 * functions for host and device; every stepping kernel calls env_begin() where a copy begins again.
 *
 * Numbers of an episode's beginning are computed in double and rounded once to their column. */
#ifndef TRAINER_ENV_BEGIN_H
#define TRAINER_ENV_BEGIN_H

#include "trainer/env/market_rules.h"
#include "trainer/env/philox.h"
#include "trainer/env/view.h"

/* The random numbers' purposes: counter = {copy, episode, 0, purpose}. */
enum {
    ENV_DRAW_START = 0,  /* word 0: the first row */
    ENV_DRAW_MARKET = 1, /* words 0..3: initial capital, fee of purchases, of sales, slippage */
};

ENV_RULE double env_money_get(const struct env_view *view, const void *column, size_t copy)
{
    return view->params.float32 ? (double)((const float *)column)[copy] : ((const double *)column)[copy];
}

ENV_RULE void env_money_set(const struct env_view *view, void *column, size_t copy, double value)
{
    if (view->params.float32)
        ((float *)column)[copy] = (float)value;
    else
        ((double *)column)[copy] = value;
}

/* What the columns of ENV_MARKET's money are of 1.0 in the currency; 1 with ENV_REFERENCE. */
ENV_RULE double env_money_units(const struct env_view *view)
{
    return view->params.execution == ENV_MARKET ? view->market.symbols[0].money_units : 1.0;
}

/* What an episode draws. */
ENV_APART struct philox env_draw(const struct env_view *view, size_t copy, uint32_t episode, uint32_t purpose)
{
    return philox(view->seed, (uint32_t)copy, episode, 0, purpose);
}

/* The number of rows in a block at which an episode may begin: 0 where an episode does not fit. */
ENV_RULE int32_t env_block_starts(const struct env_view *view, const struct env_block *block)
{
    int32_t rows = (int32_t)view->params.episode_bars, length = block->to - block->from;
    int32_t needed = rows ? rows : 2 * view->params.lookback + 1;
    if (length < needed)
        return 0;
    return view->params.random_start ? length - needed + 1 : 1;
}

/* env_window() of a market with blocks. */
ENV_RULE void env_window_in_blocks(const struct env_view *view, size_t copy, uint32_t episode,
                                   int32_t *ret_first, int32_t *ret_rows)
{
    const struct env_block *blocks = view->market.blocks;
    int32_t all = 0, at = 0, starts;
    ENV_ROLLED
    for (int32_t i = 0; i < view->market.n_blocks; i++)
        all += env_block_starts(view, &blocks[i]);
    if (view->params.random_start) {
        struct philox draw = env_draw(view, copy, episode, ENV_DRAW_START);
        at = (int32_t)philox_below(draw.word[0], (uint32_t)all);
    } else {
        at = (int32_t)((copy + episode - 1) % (size_t)all);
    }
    int32_t i = 0;
    ENV_ROLLED
    for (; at >= (starts = env_block_starts(view, &blocks[i])); i++)
        at -= starts;
    int32_t rows = (int32_t)view->params.episode_bars;
    *ret_first = blocks[i].from + at;
    *ret_rows = rows ? rows : blocks[i].to - blocks[i].from;
}

/* Rows of the market [first, first + rows) that the copy's next episode has. */
ENV_RULE void env_window(const struct env_view *view, size_t copy, uint32_t episode, int32_t *ret_first,
                         int32_t *ret_rows)
{
    if (view->market.n_blocks > 0) {
        env_window_in_blocks(view, copy, episode, ret_first, ret_rows);
        return;
    }
    int32_t first = view->starts ? view->starts[copy] : (int32_t)view->params.start;
    int32_t rows = view->lengths ? view->lengths[copy] : (int32_t)view->params.episode_bars;
    int32_t all = (int32_t)view->market.rows;
    if (view->params.random_start) {
        struct philox draw = env_draw(view, copy, episode, ENV_DRAW_START);
        first += (int32_t)philox_below(draw.word[0], (uint32_t)(all - rows - first + 1));
    }
    *ret_first = first;
    *ret_rows = rows ? rows : all - first;
}

ENV_RULE void env_begin_reference(const struct env_view *view, size_t copy, double capital)
{
    const struct env_state *s = &view->state;
    double fee = 1.0 + s->fee_buy[copy], share = policy_divided(capital, (double)s->n);
    const float *prices = view->market.close + (size_t)s->first[copy] * (size_t)view->market.row_stride;
    ENV_ROLLED
    for (int32_t i = 0; i < s->n; i++) {
        size_t at = (size_t)i * s->stride + copy;
        double price = (double)prices[i];
        s->qty[at] = 0;
        s->held[at] = 0;
        s->best[at] = 0;
        s->cool[at] = 0;
        s->scale[at] =
            (float)capital / (prices[i] * (float)view->params.norm_action); /* in float32 as recorded */
        s->bench[at] = (float)policy_divided(share, price * fee);
    }
}

/* The benchmark's worth at the copy's row. */
ENV_RULE void env_begin_benchmark(const struct env_view *view, size_t copy)
{
    const struct env_state *s = &view->state;
    const float *prices = view->market.close + (size_t)s->row[copy] * (size_t)view->market.row_stride;
    double sum = 0;
    float sum32 = 0;
    ENV_ROLLED
    for (int32_t i = 0; i < s->n; i++) {
        float qty = s->bench[(size_t)i * s->stride + copy];
        sum = sum + (double)qty * (double)prices[i];
        sum32 = sum32 + qty * prices[i];
    }
    env_money_set(view, s->benchmark, copy, view->params.float32 ? (double)sum32 : sum);
}

/* env_begin(), in whose instances below `execution` is a constant. */
ENV_RULE void env_begin_as(const struct env_view *view, size_t copy, enum env_execution execution)
{
    const struct env_state *s = &view->state;
    const struct env_params *p = &view->params;
    uint32_t episode = s->episode[copy] + 1;
    int32_t first, rows;
    env_window(view, copy, episode, &first, &rows);
    s->episode[copy] = episode;
    s->first[copy] = first;
    s->row[copy] = first + p->lookback - 1;
    s->last[copy] = first + rows - p->lookback - 1;
    s->flags[copy] = 0;
    s->buys[copy] = 0;
    s->sells[copy] = 0;

    struct philox draw = env_draw(view, copy, episode, ENV_DRAW_MARKET);
    double capital = philox_between(draw.word[0], p->initial_capital.low, p->initial_capital.high);
    double fee_buy = philox_between(draw.word[1], p->buy_cost_pct.low, p->buy_cost_pct.high);
    double fee_sell = philox_between(draw.word[2], p->sell_cost_pct.low, p->sell_cost_pct.high);
    double slippage = philox_between(draw.word[3], p->slippage_pct.low, p->slippage_pct.high);
    if (execution == ENV_MARKET) {
        capital = env_market_money(view, capital);
        fee_buy = policy_divided(env_share_e6(fee_buy), 1e6);
        fee_sell = policy_divided(env_share_e6(fee_sell), 1e6);
        slippage = policy_divided(env_share_e6(slippage), 1e6);
    }
    s->fee_buy[copy] = fee_buy;
    s->fee_sell[copy] = fee_sell;
    s->slippage[copy] = (float)slippage;
    if (p->float32)
        capital = (double)(float)capital;
    env_money_set(view, s->capital, copy, capital);
    env_money_set(view, s->cash, copy, capital);
    env_money_set(view, s->equity, copy, capital);
    env_money_set(view, s->fees, copy, 0);
    s->gamma_return[copy] = 0;
    s->reward_sum[copy] = 0;
    s->peak[copy] = capital;
    s->drawdown[copy] = 0;

    if (execution == ENV_MARKET) {
        env_market_begin(view, copy);
    } else {
        env_begin_reference(view, copy, capital);
        env_begin_benchmark(view, copy);
    }
    if (p->task == ENV_DAY_TRADE) {
        s->day_equity[copy] = capital;
        s->entry[copy] = 0;
    }
}

ENV_APART void env_begin_with_reference(const struct env_view *view, size_t copy)
{
    env_begin_as(view, copy, ENV_REFERENCE);
}

ENV_APART void env_begin_with_market(const struct env_view *view, size_t copy)
{
    env_begin_as(view, copy, ENV_MARKET);
}

/* Begins the copy's next episode. `execution` is the view's, which a kernel knows. */
ENV_RULE void env_begin(const struct env_view *view, size_t copy, enum env_execution execution)
{
    if (execution == ENV_MARKET)
        env_begin_with_market(view, copy);
    else
        env_begin_with_reference(view, copy);
}

#endif
