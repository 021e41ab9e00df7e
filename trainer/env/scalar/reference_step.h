/* ENV_REFERENCE, ENV_PORTFOLIO: one step of one copy, as docs/environment.md has it. This text is the
 * definition: whoever steps copies otherwise repeats its operations, in its order, in its types. Included
 * once for each type of MONEY; no guard.
 *
 * Prices, quantities and what is compared with them are float32; a product of the two is money's. */

/* Sells `q` at `price`, slippage included already. */
ENV_RULE void SALE(MONEY *cash, MONEY *fees, int32_t *sells, float q, float price, MONEY fee)
{
    MONEY notional = (MONEY)q * (MONEY)price;
    *cash = *cash + notional * ((MONEY)1 - fee);
    *fees = *fees + notional * fee;
    *sells = *sells + 1;
}

/* base + the worth of `qty` [n] at the row's closes. */
ENV_RULE MONEY HOLDINGS(MONEY base, const float *qty, const float *close, int32_t n, size_t stride)
{
    for (int32_t i = 0; i < n; i++)
        base = base + (MONEY)qty[(size_t)i * stride] * (MONEY)close[i];
    return base;
}

ENV_RULE float REWARD(const struct env_view *view, size_t e, const float *close, MONEY cash, MONEY equity,
                      MONEY benchmark)
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
    if (!(view->params.concentration_penalty > 0) || !(equity > 0))
        return reward;
    float share[ENV_ASSETS_MAX], inverse = 1.0f / change.equity;
    struct env_shares shares = {0, 0, 0, 0};
    for (int32_t i = 0; i < s->n; i++) {
        MONEY value = (MONEY)s->qty[(size_t)i * s->stride + e] * (MONEY)close[i];
        share[i] = env_share((float)value, inverse);
        env_shares_add(&shares, share, i, share[i]);
    }
    return reward + env_concentration(view, &shares);
}

ENV_RULE void STEP_COPY(const struct env_view *view, const struct env_step_io *io, size_t e)
{
    const struct env_params *p = &view->params;
    const struct env_state *s = &view->state;
    const int32_t n = s->n;
    const size_t stride = s->stride;
    float *qty = s->qty + e, *held = s->held + e, *best = s->best + e, *cool = s->cool + e;
    const float *scale = s->scale + e;
    MONEY cash = ((MONEY *)s->cash)[e], fees = ((MONEY *)s->fees)[e];
    const MONEY capital = ((MONEY *)s->capital)[e];
    const MONEY fee_buy = (MONEY)s->fee_buy[e], fee_sell = (MONEY)s->fee_sell[e];
    const float fees_and_price = 1.0f + s->fee_buy[e];
    const float worse_buy = 1.0f + s->slippage[e], worse_sell = 1.0f - s->slippage[e];
    int32_t buys = s->buys[e], sells = s->sells[e];

    /* 1. The next bar. */
    int32_t row = s->row[e] + 1;
    s->row[e] = row;
    const float *close = view->market.close + (size_t)row * (size_t)view->market.row_stride;
    for (int32_t i = 0; i < n; i++) {
        size_t at = (size_t)i * stride;
        held[at] = qty[at] > 0 ? held[at] + 1 : held[at];
        cool[at] = cool[at] > 0 ? cool[at] - 1 : cool[at];
    }

    /* 2. Trailing stop. */
    if (p->trailing_stop_pct > 0) {
        const float keep = (float)(1.0 - p->trailing_stop_pct);
        for (int32_t i = 0; i < n; i++) {
            size_t at = (size_t)i * stride;
            if (!(qty[at] > 0))
                continue;
            best[at] = close[i] > best[at] ? close[i] : best[at];
            if (close[i] < best[at] * keep) {
                SALE(&cash, &fees, &sells, qty[at], close[i] * worse_sell, fee_sell);
                qty[at] = 0;
                held[at] = 0;
                best[at] = 0;
                cool[at] = (float)p->cooldown_bars;
            }
        }
    }

    /* 3., 4. Actions as quantities, and the cap on purchases. */
    float wanted[ENV_ASSETS_MAX];
    for (int32_t i = 0; i < n; i++)
        wanted[i] = env_action(view, io->actions[e * io->copy_step + (size_t)i * io->action_step]) *
                    scale[(size_t)i * stride];
    if (p->max_position_pct > 0) {
        MONEY cap = (MONEY)p->max_position_pct * HOLDINGS(cash, qty, close, n, stride);
        for (int32_t i = 0; i < n; i++) {
            float room = (float)(cap - (MONEY)qty[(size_t)i * stride] * (MONEY)close[i]);
            float most = (room > 0 ? room : 0.0f) / close[i];
            wanted[i] = wanted[i] < most ? wanted[i] : most;
        }
    }

    /* 5., 6. Sales, and forced exits of what was held long enough; one of the two an asset, since a sale ends
     * the count. */
    for (int32_t i = 0; i < n; i++) {
        size_t at = (size_t)i * stride;
        float least = (float)view->market.least[i], q;
        if (!(qty[at] > 0))
            continue;
        if (wanted[i] < -least)
            q = -wanted[i] < qty[at] ? -wanted[i] : qty[at];
        else if (p->forced_exit_bars > 0 && held[at] >= (float)p->forced_exit_bars)
            q = qty[at] * (float)p->forced_exit_pct;
        else
            continue;
        SALE(&cash, &fees, &sells, q, close[i] * worse_sell, fee_sell);
        qty[at] = qty[at] - q;
        held[at] = 0;
        if (!(qty[at] > 0)) {
            best[at] = 0;
            cool[at] = (float)p->cooldown_bars;
        }
    }

    /* 7. Purchases. */
    const MONEY reserve = capital * (MONEY)p->min_cash_reserve;
    for (int32_t i = 0; i < n; i++) {
        size_t at = (size_t)i * stride;
        float least = (float)view->market.least[i], price = close[i] * worse_buy;
        if (!(wanted[i] > least) || cool[at] > 0)
            continue;
        float spare = (float)(cash - reserve);
        float most = (spare > 0 ? spare : 0.0f) / (fees_and_price * price) * (float)POLICY_MARGIN;
        float q = most < wanted[i] ? most : wanted[i];
        if (q < least || !(q > 0))
            continue;
        if (!(qty[at] > 0))
            best[at] = close[i];
        MONEY notional = (MONEY)q * (MONEY)price;
        cash = cash - notional * ((MONEY)1 + fee_buy);
        fees = fees + notional * fee_buy;
        qty[at] = qty[at] + q;
        buys = buys + 1;
    }

    /* 8. What it is worth. */
    MONEY equity = HOLDINGS(cash, qty, close, n, stride);
    MONEY benchmark = HOLDINGS((MONEY)0, s->bench + e, close, n, stride);
    float reward = REWARD(view, e, close, cash, equity, benchmark);
    ((MONEY *)s->cash)[e] = cash;
    ((MONEY *)s->fees)[e] = fees;
    ((MONEY *)s->equity)[e] = equity;
    ((MONEY *)s->benchmark)[e] = benchmark;
    s->buys[e] = buys;
    s->sells[e] = sells;
    bool ruined = equity <= (MONEY)p->ruin * capital;
    env_finish(view, io, e, reward, (double)equity, ruined);
}
