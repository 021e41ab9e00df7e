/* ENV_REFERENCE, ENV_PORTFOLIO, LANES copies at once: scalar/reference_money.h is the definition, of which
 * this repeats the operations in their order. Where that takes a branch a copy, this computes for all and
 * selects: a quantity of 0 is traded where a copy trades nothing, which changes neither cash nor fees. A
 * branch here asks whether any copy needs what is rare. Copies that do not step (they begin again, have
 * ended, or are padding) are computed along, from an active copy's row, and their columns stay as they
 * are. */
#include "trainer/env/simd/actions.h"
#include "trainer/env/simd/finish.h"
#include "trainer/env/simd/kernels.h"
#include "trainer/env/simd/money.h"

enum { AHEAD = 64 };
struct scratch {
    lane_f price[ENV_ASSETS_MAX], wanted[ENV_ASSETS_MAX];
};

/* What a block's copies step on. */
struct block {
    const struct env_view *view;
    const struct env_step_io *io;
    size_t at, end;  /* its first copy, and the first that the caller does not step */
    unsigned active; /* bit j: copy at + j steps */
    struct scratch *scratch;
};

struct reference_account {
    money cash, fees, capital, reserve, fee_buy, fee_sell;
    lane_f worse_buy, worse_sell;
    lane_i row, buys, sells;
};

/* ---- Columns: stores skip copies that do not step ---- */

LANES_INLINE void put_f(mask_f active, bool whole, float *p, lane_f v)
{
    f_store(p, whole ? v : f_select(active, v, f_load(p)));
}

LANES_INLINE void put_i(mask_f active, bool whole, int32_t *p, lane_i v)
{
    i_store(p, whole ? v : i_select(active, v, i_load(p)));
}

LANES_INLINE void put_m(mask_f active, bool whole, void *column, size_t at, money v)
{
    money_one *p = (money_one *)column + at;
    m_store(p, whole ? v : m_select(m_mask(active), v, m_load(p)));
}

/* ---- What each copy has elsewhere ---- */

/* The closes of the copies' rows. */
LANES_INLINE void prices_in(const struct block *b, lane_i rows)
{
    const struct env_market_view *market = &b->view->market;
    size_t stride = (size_t)market->row_stride;
    int32_t row[LANES];
    i_store(row, rows);
    if (f_bits(i_eq(rows, i_all(row[0]))) == LANES_ALL) {
        const float *close = market->close + (size_t)row[0] * stride;
        for (int32_t i = 0; i < market->n; i++)
            b->scratch->price[i] = f_all(close[i]);
        return;
    }
    const float *from[LANES];
    for (int j = 0; j < LANES; j++)
        from[j] = market->close + (size_t)row[j] * stride;
    /* The next rows of copies that come soon; or of these, which then come soon again. */
    size_t next = b->at + AHEAD + LANES <= b->end ? b->at + AHEAD : b->at;
    for (size_t j = 0; j < LANES; j++)
        __builtin_prefetch(market->close + (size_t)(b->view->state.row[next + j] + 1) * stride);
    lane_rows(from, market->n, true, b->scratch->price);
}

/* ---- Trades ---- */

/* Of what is worth 0 where nothing is sold. */
LANES_INLINE void sale(struct reference_account *a, mask_f sold, money notional)
{
    a->cash = m_add(a->cash, m_mul(notional, m_sub(m_all(1), a->fee_sell)));
    a->fees = m_add(a->fees, m_mul(notional, a->fee_sell));
    a->sells = i_select(sold, a->sells + 1, a->sells);
}

LANES_INLINE money equity_of(const struct block *b, money cash)
{
    const struct env_state *s = &b->view->state;
    const float *qty = s->qty + b->at;
    lane_f worth = f_all(0);
    for (int32_t i = 0; i < s->n; i++)
        worth = worth + f_load(qty + (size_t)i * s->stride) * b->scratch->price[i];
    return m_add(cash, m_of(worth));
}

LANES_INLINE money benchmark_of(const struct block *b)
{
    const struct env_state *s = &b->view->state;
    const float *bench = s->bench + b->at;
    money worth = m_all(0);
    for (int32_t i = 0; i < s->n; i++)
        worth = m_add(worth, m_mul(m_of(f_load(bench + (size_t)i * s->stride)), m_of(b->scratch->price[i])));
    return worth;
}

/* 1., 2. A bar more, and the trailing stop. */
LANES_INLINE void hold(const struct block *b, bool whole, struct reference_account *a)
{
    const struct env_params *p = &b->view->params;
    const struct env_state *s = &b->view->state;
    const mask_f active = f_mask(b->active);
    const size_t stride = s->stride;
    float *qty = s->qty + b->at, *held = s->held + b->at, *best = s->best + b->at, *cool = s->cool + b->at;
    const bool stops = p->trailing_stop_pct > 0;
    const lane_f none = f_all(0);
    const money keep = m_all(1.0 - p->trailing_stop_pct);
    for (int32_t i = 0; i < s->n; i++, qty += stride, held += stride, best += stride, cool += stride) {
        lane_f q = f_load(qty), h = f_load(held), c = f_load(cool);
        mask_f has = f_gt(q, none);
        h = f_select(has, h + 1, h);
        c = f_select(f_gt(c, none), c - 1, c);
        if (stops) {
            lane_f price = b->scratch->price[i], peak = f_load(best);
            peak = f_select(has, f_max(price, peak), peak);
            mask_f hit = has & f_mask_of_m(m_lt(m_of(price), m_mul(m_of(peak), keep)));
            if (!whole)
                hit &= active;
            if (f_any(hit)) {
                sale(a, hit, m_of(f_select(hit, q, none) * (price * a->worse_sell)));
                put_f(active, whole, qty, f_select(hit, none, q));
                h = f_select(hit, none, h);
                peak = f_select(hit, none, peak);
                c = f_select(hit, f_all((float)p->cooldown_bars), c);
            }
            put_f(active, whole, best, peak);
        }
        put_f(active, whole, held, h);
        put_f(active, whole, cool, c);
    }
}

/* 3., 4. Actions as quantities, and the cap on purchases. */
LANES_INLINE void want(const struct block *b, const struct reference_account *a)
{
    const struct env_params *p = &b->view->params;
    const struct env_state *s = &b->view->state;
    const lane_f *price = b->scratch->price;
    lane_f *wanted = b->scratch->wanted;
    const float *qty = s->qty + b->at, *scale = s->scale + b->at;
    const bool capped = p->max_position_pct > 0;
    money cap = m_all(0);
    if (capped)
        cap = m_mul(m_all(p->max_position_pct), equity_of(b, a->cash));
    for (int32_t i = 0; i < s->n; i++, qty += s->stride, scale += s->stride) {
        lane_f quantity = lane_action(p, wanted[i]) * f_load(scale);
        if (capped) {
            money room = m_max(m_sub(cap, m_of(f_load(qty) * price[i])), m_all(0));
            quantity = f_min(quantity, f_of_m(m_div(room, m_of(price[i]))));
        }
        wanted[i] = quantity;
    }
}

/* 5., 6. Sales and forced exits. */
LANES_INLINE void sell(const struct block *b, bool whole, struct reference_account *a)
{
    const struct env_params *p = &b->view->params;
    const struct env_state *s = &b->view->state;
    const mask_f active = f_mask(b->active);
    const size_t stride = s->stride;
    float *qty = s->qty + b->at, *held = s->held + b->at, *best = s->best + b->at, *cool = s->cool + b->at;
    const lane_f none = f_all(0), exit_bars = f_all((float)p->forced_exit_bars);
    const money exit_share = m_all(p->forced_exit_pct);
    for (int32_t i = 0; i < s->n; i++, qty += stride, held += stride, best += stride, cool += stride) {
        lane_f q = f_load(qty), h = f_load(held), wanted = b->scratch->wanted[i];
        mask_f has = f_gt(q, none);
        if (!whole)
            has &= active;
        mask_f sold = has & f_lt(wanted, f_all(-(float)b->view->market.least[i]));
        mask_f exits = f_mask(0);
        if (p->forced_exit_bars > 0)
            exits = has & f_ge(h, exit_bars) & not_(sold);
        if (!f_any(sold | exits))
            continue;
        const lane_f amount = f_select(sold, f_min(-wanted, q), none),
                     price = b->scratch->price[i] * a->worse_sell;
        money part = m_of(amount), notional = m_of(amount * price);
        if (f_any(exits)) {
            const money exit = m_select(m_mask(exits), m_mul(m_of(q), exit_share), m_all(0));
            exits = exits & f_mask_of_m(m_gt(exit, m_all(0)));
            part = m_add(part, exit);
            notional = m_add(notional, m_mul(exit, m_of(price)));
            sold = sold | exits;
        }
        sale(a, sold, notional);
        q = f_of_m(m_sub(m_of(q), part));
        mask_f flat = sold & not_(f_gt(q, none));
        f_store(qty, q);
        f_store(held, f_select(sold, none, h));
        f_store(best, f_select(flat, none, f_load(best)));
        f_store(cool, f_select(flat, f_all((float)p->cooldown_bars), f_load(cool)));
    }
}

/* 7. Purchases of asset i. Each waits for the cash that the one before has left: a chain of operations, which
 * two blocks go through side by side. */
LANES_INLINE void buy(const struct block *b, bool whole, struct reference_account *a, int32_t i)
{
    const struct env_state *s = &b->view->state;
    const size_t at = (size_t)i * s->stride + b->at;
    const lane_f none = f_all(0), least = f_all((float)b->view->market.least[i]);
    const money nothing = m_all(0), fee = a->fee_buy;
    lane_f wanted = b->scratch->wanted[i], close = b->scratch->price[i], price = close * a->worse_buy;
    mask_f may = f_gt(wanted, least) & not_(f_gt(f_load(s->cool + at), none));
    if (!whole)
        may &= f_mask(b->active);
    money price_with_fee = m_mul(m_add(m_all(1), fee), m_of(price));
    money most =
        m_mul(m_div(m_max(m_sub(a->cash, a->reserve), nothing), price_with_fee), m_all(POLICY_MARGIN));
    mask_m all = m_le(m_of(wanted), most);
    money amount = m_select(all, m_of(wanted), most);
    money notional = m_select(all, m_of(wanted * price), m_mul(most, m_of(price)));
    mask_m bought = m_both(m_mask(may), m_ge(amount, m_of(least)));
    amount = m_select(bought, amount, nothing);
    notional = m_select(bought, notional, nothing);
    a->cash = m_sub(a->cash, m_mul(notional, m_add(m_all(1), fee)));
    a->fees = m_add(a->fees, m_mul(notional, fee));

    const mask_f does = f_mask_of_m(bought);
    lane_f qty = f_load(s->qty + at);
    f_store(s->best + at, f_select(does & not_(f_gt(qty, none)), close, f_load(s->best + at)));
    f_store(s->qty + at, f_of_m(m_add(m_of(qty), amount)));
    a->buys = i_select(does, a->buys + 1, a->buys);
}

/* ---- Reward ---- */

LANES_INLINE lane_f concentration(const struct block *b, lane_f equity)
{
    const struct env_state *s = &b->view->state;
    const float *qty = s->qty + b->at;
    const lane_f inverse = f_all(1) / equity;
    struct lane_shares shares = {f_all(0), f_all(0), f_all(0), f_all(0)};
    lane_f *counted = b->scratch->wanted;
    for (int32_t i = 0; i < s->n; i++) {
        money value = m_mul(m_of(f_load(qty + (size_t)i * s->stride)), m_of(b->scratch->price[i]));
        counted[i] = lane_shares_add(&shares, counted, i, f_of_m(value) * inverse);
    }
    return lane_concentration(&b->view->params, &shares);
}

LANES_INLINE lane_f reward_of(const struct block *b, const struct reference_account *a, money equity,
                              money benchmark)
{
    const struct env_params *p = &b->view->params;
    const struct env_state *s = &b->view->state;
    const money equity_before = m_load((money_one *)s->equity + b->at);
    const money benchmark_before = m_load((money_one *)s->benchmark + b->at);
    const struct lane_change change = {.equity = f_of_m(equity),
                                       .cash = f_of_m(a->cash),
                                       .capital = f_of_m(a->capital),
                                       .benchmark_before = f_of_m(benchmark_before),
                                       .equity_change = f_of_m(m_sub(equity, equity_before)),
                                       .benchmark_change = f_of_m(m_sub(benchmark, benchmark_before))};
    lane_f decay = lane_decay(b->view, a->row, i_load(s->first + b->at), i_load(s->last + b->at));
    lane_f reward = lane_reward(p, &change, decay);
    if (p->concentration_penalty > 0) {
        mask_f solvent = f_ge(change.equity, f_all(ENV_EQUITY_LEAST));
        reward = f_select(solvent, reward + concentration(b, change.equity), reward);
    }
    if (env_has_risk(p))
        reward = lane_risk(b->view, b->at, reward, change.capital, m_to_dd(equity_before), m_to_dd(equity));
    return reward;
}

/* 1. to 6. */
LANES_INLINE struct reference_account before_purchases(const struct block *b, bool whole)
{
    const struct env_state *s = &b->view->state;
    const size_t at = b->at;
    const mask_f active = f_mask(b->active);
    lane_i row = i_load(s->row + at) + 1;
    if (!whole)
        row = i_select(active, row, i_all(s->row[at + (size_t)__builtin_ctz(b->active)] + 1));
    put_i(active, whole, s->row + at, row);
    prices_in(b, row);
    lane_actions(b->io, at, b->end, s->n, b->scratch->wanted);

    const lane_f slippage = f_load(s->slippage + at);
    const money capital = m_load((money_one *)s->capital + at);
    struct reference_account a = {.cash = m_load((money_one *)s->cash + at),
                                  .fees = m_load((money_one *)s->fees + at),
                                  .capital = capital,
                                  .reserve = m_mul(capital, m_all(b->view->params.min_cash_reserve)),
                                  .fee_buy = m_of_dd(dd_load(s->fee_buy + at)),
                                  .fee_sell = m_of_dd(dd_load(s->fee_sell + at)),
                                  .worse_buy = 1.0f + slippage,
                                  .worse_sell = 1.0f - slippage,
                                  .row = row,
                                  .buys = i_load(s->buys + at),
                                  .sells = i_load(s->sells + at)};
    hold(b, whole, &a);
    want(b, &a);
    sell(b, whole, &a);
    return a;
}

/* 8. and the reward. */
LANES_INLINE void after_purchases(const struct block *b, bool whole, struct reference_account *a)
{
    const struct env_state *s = &b->view->state;
    const size_t at = b->at;
    const mask_f active = f_mask(b->active);
    a->cash = m_max(a->cash, m_all(0));
    money equity = equity_of(b, a->cash), benchmark = benchmark_of(b);
    lane_f reward = reward_of(b, a, equity, benchmark);
    put_m(active, whole, s->cash, at, a->cash);
    put_m(active, whole, s->fees, at, a->fees);
    put_m(active, whole, s->equity, at, equity);
    put_m(active, whole, s->benchmark, at, benchmark);
    put_i(active, whole, s->buys + at, a->buys);
    put_i(active, whole, s->sells + at, a->sells);
    mask_f ruined = f_mask_of_m(m_le(equity, m_mul(m_all(b->view->params.ruin), a->capital)));
    lane_finish(b->view, b->io, at, active, whole, reward, m_to_dd(equity), ruined);
}

LANES_INLINE void step(const struct block *b, bool whole)
{
    struct reference_account a = before_purchases(b, whole);
    for (int32_t i = 0; i < b->view->state.n; i++)
        buy(b, whole, &a, i);
    after_purchases(b, whole, &a);
}

/* Two whole blocks. */
LANES_INLINE void step_two(const struct block *b, const struct block *c)
{
    struct reference_account a = before_purchases(b, true), d = before_purchases(c, true);
    for (int32_t i = 0; i < b->view->state.n; i++) {
        buy(b, true, &a, i);
        buy(c, true, &d, i);
    }
    after_purchases(b, true, &a);
    after_purchases(c, true, &d);
}

#if LANES_MONEY32
#define STEP LANES_NAME(reference_f32)
#else
#define STEP LANES_NAME(reference_f64)
#endif

void STEP(const struct env_view *view, const struct env_step_io *io, size_t first, size_t end)
{
    struct scratch scratch[2];
    for (size_t at = first; at < end; at += LANES) {
        struct block b = {.view = view, .io = io, .at = at, .end = end, .scratch = scratch};
        if (lane_whole(view, at, end)) {
            b.active = LANES_ALL;
            if (at + LANES < end && lane_whole(view, at + LANES, end)) {
                struct block c = b;
                c.at = at += LANES;
                c.scratch = scratch + 1;
                step_two(&b, &c);
            } else {
                step(&b, true);
            }
            continue;
        }
        for (unsigned j = 0; j < LANES && at + j < end; j++)
            if (env_steps(view, io, at + j, ENV_REFERENCE))
                b.active |= 1u << j;
        if (b.active)
            step(&b, false);
    }
}
