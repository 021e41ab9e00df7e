/* Observations, a row a copy: trainer/env/scalar/observe.h is the definition. What precedes the features is
 * computed for LANES copies at once. A copy's features lie one after the other in the market, from a row that
 * depends on the state, so no hardware prefetcher finds them: they are prefetched AHEAD copies early. */
#include "trainer/env/scalar/observe.h"
#include "trainer/env/simd/kernels.h"
#include "trainer/env/simd/lanes.h"

enum { AHEAD = 8, LINE_FLOATS = 16 };

static inline void fetch(const float *from, size_t n)
{
    for (size_t k = 0; k < n; k += LINE_FLOATS)
        __builtin_prefetch(from + k);
    __builtin_prefetch(from + n - 1);
}

static inline void put(float *to, const float *from, size_t n)
{
    if (n < LANES) {
        for (size_t k = 0; k < n; k++)
            to[k] = from[k];
        return;
    }
    for (size_t k = 0; k + LANES < n; k += LANES)
        f_store(to + k, f_load(from + k));
    f_store(to + n - LANES, f_load(from + n - LANES));
}

/* Cash and quantities of the copies from `at` on. */
static inline void account(const struct env_view *view, size_t at, lane_f *ret)
{
    const struct env_state *s = &view->state;
    const bool market = view->params.execution == ENV_MARKET;
    lane_dd cash = view->params.float32 ? dd_of(f_load((const float *)s->cash + at))
                                        : dd_load((const double *)s->cash + at);
    cash = dd_div(cash, dd_all(env_money_units(view)));
    ret[0] = f_of(dd_mul(cash, dd_all(view->params.norm_cash)));
    for (int32_t i = 0; i < s->n; i++) {
        size_t column = (size_t)i * s->stride + at;
        lane_dd qty = market ? dd_div(dd_load(s->lots + column), dd_all(view->market.symbols[i].qty_units))
                             : dd_of(f_load(s->qty + column));
        ret[1 + i] = f_of(dd_mul(qty, dd_all(view->params.norm_stocks)));
    }
}

void LANES_NAME(observe)(const struct env_view *view, float *ret, size_t first, size_t end)
{
    const size_t size = (size_t)view->observation_size, before = 1 + (size_t)view->state.n;
    const size_t n_seen = size - before;
    const int32_t *row = view->state.row;
    lane_f accounts[1 + ENV_ASSETS_MAX];
    for (size_t at = first; at < end; at += LANES) {
        account(view, at, accounts);
        for (size_t e = at; e < at + LANES && e < end; e++) {
            if (e + AHEAD < end)
                fetch(env_observed_features(view, row[e + AHEAD]), n_seen);
            float *to = ret + e * size;
            for (size_t k = 0; k < before; k++)
                to[k] = ((const float *)&accounts[k])[e - at];
            put(to + before, env_observed_features(view, row[e]), n_seen);
        }
    }
}
