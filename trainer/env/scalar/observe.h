/* One copy's observation, for host and device: cash * norm_cash, quantities * norm_stocks, then the last
 * `lookback` rows of features, newest first, as they are stored. Each number is computed in double and
 * rounded once; the features were multiplied when the market was made. */
#ifndef TRAINER_ENV_SCALAR_OBSERVE_H
#define TRAINER_ENV_SCALAR_OBSERVE_H

#include <string.h>

#include "trainer/env/begin.h"

ENV_RULE float env_observed_cash(const struct env_view *view, size_t copy)
{
    double cash = env_money_get(view, view->state.cash, copy) / env_money_units(view);
    return (float)(cash * view->params.norm_cash);
}

ENV_RULE float env_observed_qty(const struct env_view *view, size_t copy, int32_t asset)
{
    size_t at = (size_t)asset * view->state.stride + copy;
    double qty = view->params.execution == ENV_MARKET
                     ? view->state.lots[at] / view->market.symbols[asset].qty_units
                     : (double)view->state.qty[at];
    return (float)(qty * view->params.norm_stocks);
}

/* The `lookback` rows that are seen at `row`. */
ENV_RULE const float *env_observed_features(const struct env_view *view, int32_t row)
{
    return view->market.features + (view->market.rows - 1 - (size_t)row) * (size_t)view->market.n_features;
}

ENV_RULE void env_observe_copy(const struct env_view *view, size_t copy, float *ret)
{
    int32_t n = view->state.n;
    ret[0] = env_observed_cash(view, copy);
    ENV_ROLLED
    for (int32_t i = 0; i < n; i++)
        ret[1 + i] = env_observed_qty(view, copy, i);
    memcpy(ret + 1 + n, env_observed_features(view, view->state.row[copy]),
           (size_t)view->params.lookback * (size_t)view->market.n_features * sizeof(float));
}

#endif
