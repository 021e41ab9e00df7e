/* What may be done of one copy: env_masks() in env.h, for host and device. */
#ifndef TRAINER_ENV_SCALAR_MASKS_H
#define TRAINER_ENV_SCALAR_MASKS_H

#include "trainer/env/scalar/day_market.h"

enum { MASK_BUY = 1, MASK_SELL = 2 };

/* Bytes of a copy. */
ENV_RULE size_t env_masks_size(const struct env_view *view)
{
    size_t each = view->params.actions == ENV_DISCRETE ? (size_t)view->params.levels : 1;
    return (size_t)view->action_size * each;
}

/* Execution reference, assuming that the fill's close equals the current one. */
ENV_RULE uint8_t env_reference_mask(const struct env_view *view, size_t e, int32_t asset)
{
    const struct env_state *s = &view->state;
    const struct env_params *p = &view->params;
    size_t at = (size_t)asset * s->stride + e;
    const float *closes = view->market.close + (size_t)s->row[e] * (size_t)view->market.row_stride;
    double price = (double)closes[asset] * (1 + (double)s->slippage[e]);
    double spare = env_money_get(view, s->cash, e) - env_money_get(view, s->capital, e) * p->min_cash_reserve;
    double most = spare / ((1 + s->fee_buy[e]) * price) * POLICY_MARGIN;
    if (p->max_position_pct > 0) {
        double room = p->max_position_pct * env_money_get(view, s->equity, e) -
                      (double)s->qty[at] * (double)closes[asset];
        most = policy_min(most, room / (double)closes[asset]);
    }
    uint8_t mask = 0;
    if (s->cool[at] <= 1 && most > 0 && most >= view->market.least[asset])
        mask |= MASK_BUY;
    if (s->qty[at] > 0)
        mask |= MASK_SELL;
    return mask;
}

/* Of an action of the copy: an asset's; with ENV_DAY_TRADE the direction's, and the size is free. */
ENV_RULE uint8_t env_action_mask(const struct env_view *view, size_t e, int32_t action)
{
    if (view->params.task == ENV_DAY_TRADE && action == 1)
        return MASK_BUY | MASK_SELL;
    if (view->params.autoreset == ENV_NO_RESET && (view->state.flags[e] & ENV_ENDED))
        return 0;
    if (view->params.task == ENV_DAY_TRADE)
        return view->params.execution == ENV_MARKET ? env_day_market_mask(view, e) : env_day_mask(view, e);
    return view->params.execution == ENV_MARKET ? env_market_mask(view, e, action)
                                                : env_reference_mask(view, e, action);
}

/* ret: env_masks_size() bytes. */
ENV_RULE void env_masks_copy(const struct env_view *view, size_t e, uint8_t *ret)
{
    int32_t levels = view->params.levels, middle = levels / 2;
    for (int32_t k = 0; k < view->action_size; k++) {
        uint8_t mask = env_action_mask(view, e, k);
        if (view->params.actions == ENV_CONTINUOUS) {
            *ret++ = mask;
            continue;
        }
        for (int32_t level = 0; level < levels; level++)
            *ret++ = level < middle ? (mask & MASK_SELL) != 0 : level > middle ? mask & MASK_BUY : 1;
    }
}

#endif
