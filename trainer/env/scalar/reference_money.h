/* Included by reference.h, once for each type of MONEY; no guard.
 *
 * Prices and quantities are float32, and so is a product of the two, which then becomes money. A rule's share
 * (of a peak, of equity, of what is held long enough) is of type MONEY, and so is all that is computed from
 * it: only a resulting quantity is rounded to float32. The limit by cash is MONEY throughout. */

/* The account of the copy that is stepped. */
struct REFERENCE(account) {
    MONEY cash, fees;
    MONEY cap; /* what an asset may be worth for more of it to be bought; where there is a cap */
    int32_t buys, sells;
};

/* What is sold: a quantity that float32 holds, or else of a forced exit. */
struct REFERENCE(sale) {
    MONEY qty;
    bool exit;
};

ENV_RULE void REFERENCE(report)(const struct env_view *view, size_t e, int32_t asset, double qty, float price,
                                MONEY fee)
{
#ifndef __CUDA_ARCH__
    if (!view->traded)
        return;
    struct env_trade trade = {view->state.row[e], asset, qty, (double)price, (double)fee, false};
    view->traded(view->traded_ctx, e, &trade);
#else
    (void)view, (void)e, (void)asset, (void)qty, (void)price, (void)fee;
#endif
}

ENV_RULE void REFERENCE(sell)(const struct env_view *view, size_t e, int32_t asset,
                              struct REFERENCE(sale) sale, float close, struct REFERENCE(account) * account)
{
    float price = close * (1.0f - view->state.slippage[e]);
    MONEY fee = (MONEY)view->state.fee_sell[e];
    MONEY notional = sale.exit ? sale.qty * (MONEY)price : (MONEY)((float)sale.qty * price);
    account->cash = account->cash + notional * ((MONEY)1 - fee);
    account->fees = account->fees + notional * fee;
    account->sells = account->sells + 1;
    REFERENCE(report)(view, e, asset, -(double)sale.qty, price, notional * fee);
}

/* Cash and the worth of all positions, which is summed in float32, as the recordings have it. */
ENV_RULE MONEY REFERENCE(equity)(const struct env_view *view, size_t e, MONEY cash, const float *close)
{
    const struct env_state *s = &view->state;
    float worth = 0;
    ENV_FOUR
    for (int32_t i = 0; i < s->n; i++)
        worth = worth + s->qty[(size_t)i * s->stride + e] * close[i];
    return cash + (MONEY)worth;
}

ENV_RULE MONEY REFERENCE(benchmark)(const struct env_view *view, size_t e, const float *close)
{
    const struct env_state *s = &view->state;
    MONEY worth = 0;
    ENV_FOUR
    for (int32_t i = 0; i < s->n; i++)
        worth = worth + (MONEY)s->bench[(size_t)i * s->stride + e] * (MONEY)close[i];
    return worth;
}

/* 1., 2. The bar that is reached: counts, and trailing stops. */
ENV_RULE void REFERENCE(stops)(const struct env_view *view, size_t e, const float *close,
                               struct REFERENCE(account) * account)
{
    const struct env_state *s = &view->state;
    const struct env_params *p = &view->params;
    const MONEY keep = (MONEY)(1.0 - p->trailing_stop_pct);
    ENV_ROLLED
    for (int32_t i = 0; i < s->n; i++) {
        size_t at = (size_t)i * s->stride + e;
        s->cool[at] = s->cool[at] > 0 ? s->cool[at] - 1 : s->cool[at];
        if (!(s->qty[at] > 0))
            continue;
        s->held[at] = s->held[at] + 1;
        if (!(p->trailing_stop_pct > 0))
            continue;
        s->best[at] = close[i] > s->best[at] ? close[i] : s->best[at];
        if ((MONEY)close[i] < (MONEY)s->best[at] * keep) {
            struct REFERENCE(sale) all = {(MONEY)s->qty[at], false};
            REFERENCE(sell)(view, e, i, all, close[i], account);
            s->qty[at] = 0;
            s->held[at] = 0;
            s->best[at] = 0;
            s->cool[at] = (float)p->cooldown_bars;
        }
    }
}

/* 3., 4. The action as a quantity, purchases within the cap; with the quantity before sales. */
ENV_RULE float REFERENCE(wanted)(const struct env_view *view, const struct env_step_io *io, size_t e,
                                 int32_t asset, float close, const struct REFERENCE(account) * account)
{
    size_t at = (size_t)asset * view->state.stride + e;
    float wanted = env_action(view, io, e, asset) * view->state.scale[at];
    if (!(view->params.max_position_pct > 0))
        return wanted;
    MONEY room = account->cap - (MONEY)(view->state.qty[at] * close);
    float most = (float)((room > 0 ? room : (MONEY)0) / (MONEY)close);
    return wanted < most ? wanted : most;
}

/* 5., 6. What is sold: by the action, or else of what was held long enough. A sale ends the count, so it is
 * one of the two. */
ENV_RULE struct REFERENCE(sale)
    REFERENCE(sold)(const struct env_view *view, size_t e, int32_t asset, float wanted)
{
    const struct env_params *p = &view->params;
    size_t at = (size_t)asset * view->state.stride + e;
    float qty = view->state.qty[at];
    struct REFERENCE(sale) sale = {0, false};
    if (!(qty > 0))
        return sale;
    if (wanted < -(float)view->market.least[asset]) {
        sale.qty = (MONEY)(-wanted < qty ? -wanted : qty);
    } else if (p->forced_exit_bars > 0 && view->state.held[at] >= (float)p->forced_exit_bars) {
        sale.qty = (MONEY)qty * (MONEY)p->forced_exit_pct;
        sale.exit = true;
    }
    return sale;
}

ENV_RULE void REFERENCE(reduce)(const struct env_view *view, size_t e, int32_t asset, MONEY q)
{
    const struct env_state *s = &view->state;
    size_t at = (size_t)asset * s->stride + e;
    s->qty[at] = (float)((MONEY)s->qty[at] - q);
    s->held[at] = 0;
    if (!(s->qty[at] > 0)) {
        s->best[at] = 0;
        s->cool[at] = (float)view->params.cooldown_bars;
    }
}

/* 7. */
ENV_RULE void REFERENCE(buy)(const struct env_view *view, size_t e, int32_t asset, float wanted, float close,
                             struct REFERENCE(account) * account)
{
    const struct env_state *s = &view->state;
    size_t at = (size_t)asset * s->stride + e;
    float least = (float)view->market.least[asset];
    if (!(wanted > least) || s->cool[at] > 0)
        return;
    MONEY reserve = ((const MONEY *)s->capital)[e] * (MONEY)view->params.min_cash_reserve;
    MONEY fee = (MONEY)s->fee_buy[e], spare = account->cash - reserve;
    float price = close * (1.0f + s->slippage[e]);
    MONEY most = (spare > 0 ? spare : (MONEY)0) / (((MONEY)1 + fee) * (MONEY)price) * (MONEY)POLICY_MARGIN;
    bool whole = (MONEY)wanted <= most;
    MONEY q = whole ? (MONEY)wanted : most;
    if (q < (MONEY)least)
        return;
    if (!(s->qty[at] > 0))
        s->best[at] = close;
    MONEY notional = whole ? (MONEY)(wanted * price) : most * (MONEY)price;
    account->cash = account->cash - notional * ((MONEY)1 + fee);
    account->fees = account->fees + notional * fee;
    account->buys = account->buys + 1;
    s->qty[at] = (float)((MONEY)s->qty[at] + q);
    REFERENCE(report)(view, e, asset, (double)q, price, notional * fee);
}

/* All sales bring their cash first; then each asset's quantity changes and it is bought, so that what is
 * wanted is computed twice from the same numbers and no array by asset is needed. A purchase never spends all
 * cash, yet with the smallest numbers rounding may leave less than 0: that becomes 0, and buys as little. */
ENV_RULE void REFERENCE(trade)(const struct env_view *view, const struct env_step_io *io, size_t e,
                               const float *close, struct REFERENCE(account) * account)
{
    ENV_ROLLED
    for (int32_t i = 0; i < view->state.n; i++) {
        float wanted = REFERENCE(wanted)(view, io, e, i, close[i], account);
        struct REFERENCE(sale) sale = REFERENCE(sold)(view, e, i, wanted);
        if (sale.qty > 0)
            REFERENCE(sell)(view, e, i, sale, close[i], account);
    }
    ENV_ROLLED
    for (int32_t i = 0; i < view->state.n; i++) {
        float wanted = REFERENCE(wanted)(view, io, e, i, close[i], account);
        struct REFERENCE(sale) sale = REFERENCE(sold)(view, e, i, wanted);
        if (sale.qty > 0)
            REFERENCE(reduce)(view, e, i, sale.qty);
        REFERENCE(buy)(view, e, i, wanted, close[i], account);
    }
    account->cash = account->cash > 0 ? account->cash : (MONEY)0;
}

ENV_RULE float REFERENCE(share)(const struct env_view *view, size_t e, int32_t asset, float close,
                                float inverse)
{
    MONEY value = (MONEY)view->state.qty[(size_t)asset * view->state.stride + e] * (MONEY)close;
    return (float)value * inverse;
}

ENV_RULE float REFERENCE(reward)(const struct env_view *view, size_t e, const float *close, MONEY cash,
                                 MONEY equity, MONEY benchmark)
{
    const struct env_state *s = &view->state;
    MONEY equity_before = ((const MONEY *)s->equity)[e], benchmark_before = ((const MONEY *)s->benchmark)[e];
    struct env_change change;
    change.equity = (float)equity;
    change.cash = (float)cash;
    change.capital = (float)((const MONEY *)s->capital)[e];
    change.benchmark_before = (float)benchmark_before;
    change.equity_change = (float)(equity - equity_before);
    change.benchmark_change = (float)(benchmark - benchmark_before);
    float reward = env_reward(view, &change, env_decay(view, e));
    if (!(view->params.concentration_penalty > 0) || !(change.equity >= ENV_EQUITY_LEAST))
        return reward;
    float inverse = 1.0f / change.equity;
    struct env_shares shares = {0, 0, 0, 0};
    ENV_ROLLED
    for (int32_t i = 0; i < s->n; i++) {
        float share = REFERENCE(share)(view, e, i, close[i], inverse), counted = env_counted(share);
        shares.most = share > shares.most ? share : shares.most;
        shares.count = shares.count + (share > 0.01f ? 1.0f : 0.0f);
        shares.sum = shares.sum + counted;
        ENV_ROLLED
        for (int32_t k = 0; k < i; k++) {
            float other = env_counted(REFERENCE(share)(view, e, k, close[k], inverse));
            shares.pairs = shares.pairs + (other < counted ? other : counted);
        }
    }
    return reward + env_concentration(view, &shares);
}

ENV_RULE void REFERENCE(step)(const struct env_view *view, const struct env_step_io *io, size_t e)
{
    const struct env_state *s = &view->state;
    struct REFERENCE(account)
        account = {((MONEY *)s->cash)[e], ((MONEY *)s->fees)[e], 0, s->buys[e], s->sells[e]};
    s->row[e] = s->row[e] + 1;
    const float *close = view->market.close + (size_t)s->row[e] * (size_t)view->market.row_stride;
    REFERENCE(stops)(view, e, close, &account);
    if (view->params.max_position_pct > 0)
        account.cap = (MONEY)view->params.max_position_pct * REFERENCE(equity)(view, e, account.cash, close);
    REFERENCE(trade)(view, io, e, close, &account);

    MONEY equity = REFERENCE(equity)(view, e, account.cash, close);
    MONEY benchmark = REFERENCE(benchmark)(view, e, close);
    float reward = REFERENCE(reward)(view, e, close, account.cash, equity, benchmark);
    if (env_has_risk(&view->params))
        reward = env_risk(view, e, reward, (float)((const MONEY *)s->capital)[e],
                          (double)((const MONEY *)s->equity)[e], (double)equity);
    ((MONEY *)s->cash)[e] = account.cash;
    ((MONEY *)s->fees)[e] = account.fees;
    ((MONEY *)s->equity)[e] = equity;
    ((MONEY *)s->benchmark)[e] = benchmark;
    s->buys[e] = account.buys;
    s->sells[e] = account.sells;
    bool ruined = equity <= (MONEY)view->params.ruin * ((const MONEY *)s->capital)[e];
    env_finish(view, io, e, ENV_REFERENCE, reward, (double)equity, ruined);
}
