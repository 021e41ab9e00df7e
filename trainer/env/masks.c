#include <string.h>

#include "trainer/env/begin.h"
#include "trainer/env/inside.h"
#include "trainer/env/scalar/market.h"

enum { MAY_BUY = 1, MAY_SELL = 2 };

/* Execution reference, as if the close that an order will fill at were the one that is seen. */
static uint8_t reference_mask(const struct env_view *view, size_t e, int32_t asset)
{
    const struct env_state *s = &view->state;
    const struct env_params *p = &view->params;
    size_t at = (size_t)asset * s->stride + e;
    const float *closes = view->market.close + (size_t)s->row[e] * (size_t)view->market.row_stride;
    double price = (double)closes[asset] * (1 + (double)s->slippage[e]);
    double spare = env_money_get(view, s->cash, e) - env_money_get(view, s->capital, e) * p->min_cash_reserve;
    double most = spare / ((1 + s->fee_buy[e]) * price) * POLICY_MARGIN;
    if (p->max_position_pct > 0 && p->task == ENV_PORTFOLIO) {
        double room = p->max_position_pct * env_money_get(view, s->equity, e) -
                      (double)s->qty[at] * (double)closes[asset];
        most = policy_min(most, room / (double)closes[asset]);
    }
    uint8_t mask = 0;
    if (s->cool[at] <= 1 && most > 0 && most >= view->market.least[asset])
        mask |= MAY_BUY;
    if (s->qty[at] > 0 || (p->task == ENV_DAY_TRADE && p->shorts))
        mask |= MAY_SELL;
    return mask;
}

/* Of an action of the copy: an asset's; with ENV_DAY_TRADE the direction's, and the size is free. */
static uint8_t action_mask(const struct env_view *view, size_t e, int32_t action)
{
    if (view->params.task == ENV_DAY_TRADE && action == 1)
        return MAY_BUY | MAY_SELL;
    if (view->params.autoreset == ENV_NO_RESET && (view->state.flags[e] & ENV_ENDED))
        return 0;
    return view->params.execution == ENV_MARKET ? env_market_mask(view, e, action)
                                                : reference_mask(view, e, action);
}

void env_masks(const struct env *env, uint8_t *ret)
{
    const struct env_view *view = &env->view;
    int levels = view->params.levels, middle = levels / 2;
    for (size_t e = 0; e < view->state.copies; e++) {
        for (int32_t k = 0; k < view->action_size; k++) {
            uint8_t mask = action_mask(view, e, k);
            if (view->params.actions == ENV_CONTINUOUS) {
                *ret++ = mask;
                continue;
            }
            memset(ret, mask & MAY_SELL ? 1 : 0, (size_t)middle);
            ret[middle] = 1;
            memset(ret + middle + 1, mask & MAY_BUY ? 1 : 0, (size_t)middle);
            ret += levels;
        }
    }
}
