/* ENV_MARKET, ENV_PORTFOLIO: LANES copies at once, prices, quanta and money as whole numbers in two vectors
 * of doubles. scalar/market.h is the definition; here are its operations in its order, with exact.h for the
 * integers and policy.h for the decisions.
 *
 * Rare cases are computed a second time. Decisions and fills are made without a branch or a call, which would
 * cost every vector its register; a lane that they cannot do (exact.h has its bounds, a purchase may be short
 * of cash, a stop be reached) is odd, and then nothing is stored and the half is done again `at once`, by the
 * code that each lane needs. */
#include "trainer/env/market_rules.h"
#include "trainer/env/scalar/kernels.h"
#include "trainer/env/simd/actions.h"
#include "trainer/env/simd/finish.h"
#include "trainer/env/simd/kernels.h"
#include "trainer/env/simd/policy.h"

enum {
    AHEAD = 64, /* copies: how far bars are fetched before they are needed */
    HALVES = 2, /* of a block of LANES copies, as vectors of doubles */
    BLOCKS = 2, /* that decide side by side: an asset waits for the cash that the one before it leaves */
};

/* What is alike for all copies. */
struct shared {
    const struct env_view *view;
    const struct env_step_io *io;
    size_t end;
    struct lane_rules rules;
    struct lane_symbol symbols[ENV_ASSETS_MAX];
    double per_unit; /* 1 / money units in 1.0 */
};

/* Half of a block of copies. */
struct half {
    lane_d cash, fees, reserved; /* reserved: by all purchases that wait */
    lane_d buy_e6, sell_e6, slippage_e6;
    bool slips; /* any lane */
    mask_d slipping;
    lane_d buys, sells;        /* of this step */
    lane_d *waiting, *reserve; /* [n]: market orders, and what each has in reserve */
    mask_d inexact;            /* cash has been POLICY_EXACT_MAX or more */
    struct lane_account account;
};

struct block {
    size_t first;
    mask_f steps;
    int32_t row[LANES]; /* that the step ends at */
    bool together;      /* all of them are at one row */
    struct half half[HALVES];
};

/* Open, high, low, close of an asset, each copy's. */
struct prices {
    lane_d open, high, low, close;
    mask_d there;
};

/* ---- What each copy has elsewhere ---- */

static inline struct prices prices_at(const struct shared *shared, const struct block *b, int half,
                                      int32_t asset)
{
    const struct env_market_view *market = &shared->view->market;
    const double *bars = market->bars + (size_t)asset * 4;
    const size_t step = (size_t)market->n * 4;
    const int32_t *rows = b->row + half * LANES_D;
    lane_d four[4];
    if (b->together) {
        const double *bar = bars + (size_t)rows[0] * step;
        for (int k = 0; k < 4; k++)
            four[k] = d_all(bar[k]);
    } else {
        const double *row[LANES_D];
        for (int j = 0; j < LANES_D; j++)
            row[j] = bars + (size_t)rows[j] * step;
        d_rows(row, four);
    }
    return (struct prices){four[0], four[1], four[2], four[3], d_gt(four[3], d_all(0))};
}

/* Had the asset a bar in the row before? */
static inline mask_d was_there(const struct shared *shared, const struct block *b, int half, int32_t asset)
{
    const struct env_market_view *market = &shared->view->market;
    const lane_d all = d_all(0);
    if (!market->gaps)
        return d_le(all, all);
    const double *close = market->bars + (size_t)asset * 4 + 3;
    const size_t step = (size_t)market->n * 4;
    const int32_t *rows = b->row + half * LANES_D;
    if (b->together)
        return d_gt(d_all(close[(size_t)(rows[0] - 1) * step]), d_all(0));
    double closes[LANES_D];
    for (int j = 0; j < LANES_D; j++)
        closes[j] = close[(size_t)(rows[j] - 1) * step];
    return d_gt(d_load(closes), d_all(0));
}

/* ---- The close of row t: decisions ---- */

/* One asset's. False, and nothing has changed, where a lane is odd: `at_once` settles that. */
LANES_INLINE bool decide_as(const struct shared *shared, struct half *h, int32_t asset, size_t at,
                            mask_d there, lane_d action, bool at_once)
{
    const struct env_state *s = &shared->view->state;
    const struct lane_symbol *symbol = &shared->symbols[asset];
    mask_d odd = d_lt(action, action);
    lane_d close = d_load(s->closed + at);
    struct lane_memory memory = {d_load(s->m_scale + at), d_load(s->m_qty + at), d_load(s->m_held + at),
                                 d_load(s->m_cool + at), d_load(s->m_peak + at)};
    const struct lane_memory before = memory;
    lane_watch(&shared->rules, &memory, d_load(s->lots + at), close);
    struct lane_order order = lane_decide(&shared->rules, symbol, &memory, there, action, close, &h->account,
                                          at_once ? NULL : &odd);
    if (!at_once && d_any(odd & there))
        return false;
    lane_d waiting = order.qty, reserved = order.reserve;
    if (d_any(not_(there))) {
        memory.qty = d_select(there, memory.qty, before.qty);
        memory.held = d_select(there, memory.held, before.held);
        memory.cool = d_select(there, memory.cool, before.cool);
        memory.peak = d_select(there, memory.peak, before.peak);
        waiting = d_select(there, order.qty, d_load(s->waiting + at));
        reserved = d_select(there, order.reserve, d_load(s->reserved + at));
    }
    d_store(s->m_qty + at, memory.qty);
    d_store(s->m_held + at, memory.held);
    d_store(s->m_cool + at, memory.cool);
    d_store(s->m_peak + at, memory.peak);
    h->waiting[asset] = waiting;
    h->reserve[asset] = reserved;
    if (shared->rules.trails) {
        d_store(s->stop + at, d_select(order.sets, order.stop, d_load(s->stop + at)));
        d_store(s->stop_qty + at, d_select(order.sets, order.stop_qty, d_load(s->stop_qty + at)));
    }
    h->account.available = h->account.available - order.reserve;
    h->reserved = h->reserved + order.reserve;
    return true;
}

static __attribute__((noinline)) void decide_at_once(const struct shared *shared, struct half *h,
                                                     int32_t asset, size_t at, mask_d there, lane_d action)
{
    decide_as(shared, h, asset, at, there, action, true);
}

/* ---- The bar of row t + 1: fills ---- */

/* Lane by lane, where a worth is too large for doubles; for a purchase that cash cannot pay, a value above
 * all cash. */
static __attribute__((noinline, cold)) lane_d worth_integers(const struct policy_symbol *symbol, mask_d buys,
                                                             lane_d price, lane_d lots)
{
    double at[LANES_D], worth[LANES_D];
    unsigned bought = d_bits(buys);
    d_store(at, price);
    d_store(worth, lots);
    for (int j = 0; j < LANES_D; j++) {
        int64_t shown = (int64_t)at[j], qty = (int64_t)worth[j];
        if (!(bought >> j & 1))
            worth[j] = env_market_worth(symbol, at[j], worth[j]);
        else if (fill_purchase(shown, qty, symbol->divisor, 0) > FILL_MONEY_MAX)
            worth[j] = (double)FILL_MONEY_MAX;
        else
            worth[j] = (double)fill_notional(ORDER_BUY, shown, qty, symbol->divisor);
    }
    return d_load(worth);
}

/* fill_notional() where `buys`, else env_market_worth(). */
static inline lane_d worth(const struct shared *shared, int32_t asset, mask_d buys, lane_d price, lane_d lots)
{
    const struct exact_divisor *divisor = &shared->symbols[asset].divisor;
    struct exact_quotient x = exact_near(price, lots, divisor);
    if (d_any(exact_beyond(x, divisor)))
        return worth_integers(&shared->view->market.symbols[asset], buys, price, lots);
    return d_select(buys, exact_ceil(x), exact_floor(x));
}

/* env_market_worth() of what is `about` that. */
LANES_INLINE lane_d worth_near(const struct shared *shared, int32_t asset, lane_d price, lane_d lots,
                               lane_d about)
{
    const struct exact_divisor *divisor = &shared->symbols[asset].divisor;
    struct exact_quotient x = exact_around(price, lots, about, divisor);
    if (__builtin_expect(d_any(exact_beyond(x, divisor)), 0))
        return worth_integers(&shared->view->market.symbols[asset], d_lt(lots, lots), price, lots);
    return exact_floor(x);
}

/* env_market_buy() where `buys`, env_market_sell() where `sells`, with the market at `shown`. Returns the
 * lots that are held then. */
static lane_d trade(const struct shared *shared, struct half *h, int32_t asset, lane_d lots, mask_d buys,
                    mask_d sells, lane_d qty, lane_d shown)
{
    const struct lane_symbol *symbol = &shared->symbols[asset];
    const lane_d zero = d_all(0), one = d_all(1);
    buys = buys & not_(h->inexact);
    qty = d_select(buys, qty, d_select(sells, d_min(qty, lots), zero));
    lane_d price = shown;
    if (h->slips)
        price = exact_slipped(&symbol->tick, buys, h->slipping, shown, h->slippage_e6);
    lane_d notional = worth(shared, asset, buys, price, qty);
    lane_d rate = d_select(buys, h->buy_e6, h->sell_e6);
    lane_d paid = d_select(buys, notional, zero - notional), fee = exact_fee(notional, rate, NULL);
    lane_d cash = h->cash - h->reserved;
    mask_d lacks = buys & d_gt(paid + fee, cash);
    if (d_any(lacks)) {
        lane_d affordable =
            exact_affordable_integers(cash, price, qty, symbol->divisor.whole, rate, symbol->filters);
        qty = d_select(buys, affordable, qty);
        notional = worth(shared, asset, buys, price, qty);
        paid = d_select(buys, notional, zero - notional);
        fee = exact_fee(notional, rate, NULL);
    }
    mask_d trades = d_gt(qty, zero);
    h->cash = h->cash - (paid + fee);
    h->inexact = h->inexact | d_ge(h->cash, d_all(POLICY_EXACT_MAX));
    h->fees = h->fees + fee;
    h->buys = d_select(trades & buys, h->buys + one, h->buys);
    h->sells = d_select(trades & sells, h->sells + one, h->sells);
    return d_select(buys, lots + qty, lots - qty);
}

/* trade() with sales counted negative, so that all is rounded up. What it cannot do is marked odd: then *h is
 * invalid. */
LANES_INLINE lane_d trade_signed(const struct shared *shared, struct half *h, int32_t asset, lane_d lots,
                                 mask_d buys, mask_d sells, lane_d qty, lane_d shown, mask_d *odd)
{
    const struct lane_symbol *symbol = &shared->symbols[asset];
    const lane_d zero = d_all(0), one = d_all(1);
    buys = buys & not_(h->inexact);
    lane_d sign = d_select(buys, zero, d_all(-0.0)), price;
    qty = d_select(buys, qty, d_select(sells, d_min(qty, lots), zero));
    if (h->slips)
        price = exact_slipped_signed(&symbol->tick, sign, h->slipping, shown, h->slippage_e6, odd);
    else
        price = exact_signed(shown, sign);
    struct exact_quotient x = exact_near(price, qty, &symbol->divisor);
    lane_d paid = exact_ceil(x), notional = d_abs(paid);
    *odd = *odd | d_ge(notional, d_all(symbol->divisor.max));
    lane_d fee = exact_fee(notional, d_select(buys, h->buy_e6, h->sell_e6), odd), takes = paid + fee;
    *odd = *odd | (buys & d_gt(takes, h->cash - h->reserved));
    mask_d trades = d_gt(qty, zero);
    h->cash = h->cash - takes;
    h->inexact = h->inexact | d_ge(h->cash, d_all(POLICY_EXACT_MAX));
    h->fees = h->fees + fee;
    h->buys = d_select(trades & buys, h->buys + one, h->buys);
    h->sells = d_select(trades & sells, h->sells + one, h->sells);
    return lots + exact_signed(qty, sign);
}

/* What a bar leaves of an asset's orders. */
struct filled {
    lane_d lots, stop, stop_qty, waiting, reserve;
};

LANES_INLINE struct filled load_filled(const struct env_state *s, const struct half *h, int32_t asset,
                                       size_t at)
{
    return (struct filled){d_load(s->lots + at), d_load(s->stop + at), d_load(s->stop_qty + at),
                           h->waiting[asset], h->reserve[asset]};
}

LANES_INLINE void store_filled(const struct shared *shared, size_t at, const struct prices *bar,
                               const struct filled *f)
{
    const struct env_state *s = &shared->view->state;
    const lane_d zero = d_all(0);
    lane_d close = bar->close;
    if (shared->view->market.gaps) { /* orders wait, and their columns are not all 0 */
        close = d_select(bar->there, close, d_load(s->closed + at));
        d_store(s->waiting + at, d_select(bar->there, zero, f->waiting));
        d_store(s->reserved + at, d_select(bar->there, zero, f->reserve));
    }
    d_store(s->lots + at, f->lots);
    d_store(s->stop + at, f->stop);
    d_store(s->stop_qty + at, d_select(d_gt(f->stop, zero), f->stop_qty, zero));
    d_store(s->closed + at, close);
}

/* env_market_bar() where the asset has one: all cases. */
static __attribute__((noinline)) void fill_at_once(const struct shared *shared, struct block *b, int half,
                                                   int32_t asset, size_t at)
{
    const struct env_state *s = &shared->view->state;
    const lane_d zero = d_all(0);
    const struct prices bar = prices_at(shared, b, half, asset);
    const mask_d there = bar.there, none = d_lt(zero, zero);
    struct half *h = &b->half[half];
    struct filled f = load_filled(s, h, asset, at);
    mask_d at_open = d_gt(f.stop, zero) & there & d_le(bar.open, f.stop);
    if (d_any(at_open)) {
        f.lots = trade(shared, h, asset, f.lots, none, at_open, f.stop_qty, bar.open);
        f.stop = d_select(at_open, zero, f.stop);
    }
    mask_d sells = d_lt(f.waiting, zero) & there, buys = d_gt(f.waiting, zero) & there;
    h->reserved = h->reserved - d_select(there, f.reserve, zero);
    if (d_any(sells | buys)) {
        f.lots = trade(shared, h, asset, f.lots, buys, sells, d_abs(f.waiting), bar.open);
        f.stop = d_select(sells & d_le(f.lots, zero), zero, f.stop);
    }
    mask_d inside = d_gt(f.stop, zero) & there & d_le(bar.low, f.stop);
    if (d_any(inside)) {
        f.lots = trade(shared, h, asset, f.lots, none, inside, f.stop_qty, f.stop);
        f.stop = d_select(inside, zero, f.stop);
    }
    store_filled(shared, at, &bar, &f);
}

/* The same where no stop is reached and no lane is odd; else false, and nothing has changed. */
LANES_INLINE bool fill(const struct shared *shared, struct block *b, int half, int32_t asset, size_t at)
{
    const struct env_state *s = &shared->view->state;
    const lane_d zero = d_all(0);
    const struct prices bar = prices_at(shared, b, half, asset);
    const mask_d there = bar.there;
    struct half h = b->half[half];
    struct filled f = load_filled(s, &h, asset, at);
    mask_d odd = d_gt(f.stop, zero) & d_le(bar.low, f.stop);
    mask_d sells = d_lt(f.waiting, zero) & there, buys = d_gt(f.waiting, zero) & there;
    h.reserved = h.reserved - d_select(there, f.reserve, zero);
    f.lots = trade_signed(shared, &h, asset, f.lots, buys, sells, d_abs(f.waiting), bar.open, &odd);
    f.stop = d_select(sells & d_le(f.lots, zero), zero, f.stop);
    if (d_any(odd & there))
        return false;
    struct half *kept = &b->half[half];
    kept->cash = h.cash;
    kept->fees = h.fees;
    kept->reserved = h.reserved;
    kept->buys = h.buys;
    kept->sells = h.sells;
    kept->inexact = h.inexact;
    store_filled(shared, at, &bar, &f);
    return true;
}

/* ---- A step ---- */

static inline lane_d rate_e6(lane_d share)
{
    return d_floor(share * d_all(1e6) + d_all(0.5));
}

static inline void open_half(const struct shared *shared, struct half *h, size_t at, lane_d fee_buy,
                             lane_d fee_sell, lane_d slippage)
{
    const struct env_state *s = &shared->view->state;
    h->cash = d_load((double *)s->cash + at);
    h->fees = d_load((double *)s->fees + at);
    h->buy_e6 = rate_e6(fee_buy);
    h->sell_e6 = rate_e6(fee_sell);
    h->slippage_e6 = rate_e6(slippage);
    h->slipping = d_gt(h->slippage_e6, d_all(0));
    h->slips = d_any(h->slipping);
    h->reserved = h->buys = h->sells = d_all(0);
    h->inexact = d_lt(h->reserved, h->reserved);
    for (int32_t i = 0; shared->view->market.gaps && i < s->n; i++)
        h->reserved = h->reserved + d_load(s->reserved + (size_t)i * s->stride + at);
    h->account = (struct lane_account){
        .min_cash = d_all(shared->view->params.min_cash_reserve) * d_load((double *)s->capital + at),
        .fee_e6 = h->buy_e6,
        .spend = d_all(POLICY_MARGIN) / (d_all(1) + h->buy_e6 / d_all(1e6)),
        .equity = d_load((double *)s->equity + at),
        .available = h->cash - h->reserved,
    };
}

/* The close of row t: what every asset orders. */
static inline void decide_all(const struct shared *shared, struct block *blocks, int n_blocks)
{
    const struct env_view *view = shared->view;
    const struct env_state *s = &view->state;
    lane_f actions[BLOCKS][ENV_ASSETS_MAX];
    for (int k = 0; k < n_blocks; k++)
        lane_actions(shared->io, blocks[k].first, shared->end, s->n, actions[k]);
    for (int32_t i = 0; i < s->n; i++)
        for (int k = 0; k < n_blocks; k++) {
            struct block *b = &blocks[k];
            lane_dd action = dd_of(lane_action(&view->params, actions[k][i]));
            for (int v = 0; v < HALVES; v++) {
                size_t at = b->first + (size_t)(v * LANES_D);
                mask_d there = was_there(shared, b, v, i);
                lane_d wanted = v ? action.hi : action.lo;
                if (!decide_as(shared, &b->half[v], i, (size_t)i * s->stride + at, there, wanted, false))
                    decide_at_once(shared, &b->half[v], i, (size_t)i * s->stride + at, there, wanted);
            }
        }
}

/* The bars of row t + 1. */
static inline void fill_all(const struct shared *shared, struct block *b)
{
    const struct env_state *s = &shared->view->state;
    for (int32_t i = 0; i < s->n; i++)
        for (int v = 0; v < HALVES; v++) {
            size_t at = (size_t)i * s->stride + b->first + (size_t)(v * LANES_D);
            if (!fill(shared, b, v, i, at))
                fill_at_once(shared, b, v, i, at);
        }
}

/* What it all is worth at the last closes. */
struct worths {
    lane_d equity[HALVES], benchmark[HALVES];
    mask_d inexact[HALVES];       /* cash, lots or equity of POLICY_EXACT_MAX or more */
    lane_f asset[ENV_ASSETS_MAX]; /* in the currency */
};

static inline void value_all(const struct shared *shared, const struct block *b, struct worths *ret)
{
    const struct env_state *s = &shared->view->state;
    const lane_d most = d_all(POLICY_EXACT_MAX), per_unit = d_all(shared->per_unit);
    for (int v = 0; v < HALVES; v++) {
        ret->equity[v] = b->half[v].cash;
        ret->benchmark[v] = d_all(0);
        ret->inexact[v] = b->half[v].inexact;
    }
    for (int32_t i = 0; i < s->n; i++) {
        const struct lane_symbol *symbol = &shared->symbols[i];
        lane_d value[HALVES];
        for (int v = 0; v < HALVES; v++) {
            size_t at = (size_t)i * s->stride + b->first + (size_t)(v * LANES_D);
            lane_d close = d_load(s->closed + at), lots = d_load(s->lots + at);
            lane_d about = close * d_all(symbol->per_divisor) * lots;
            ret->equity[v] = ret->equity[v] + worth_near(shared, i, close, lots, about);
            ret->benchmark[v] = ret->benchmark[v] + d_load(s->m_bench + at) * close;
            ret->inexact[v] = ret->inexact[v] | d_ge(lots, most);
            value[v] = about * per_unit; /* env_market_share() */
        }
        ret->asset[i] = f_of((lane_dd){value[0], value[1]});
    }
    for (int v = 0; v < HALVES; v++)
        ret->inexact[v] = ret->inexact[v] | d_ge(ret->equity[v], most);
}

/* env_market_concentration(). */
static inline lane_f concentration(const struct shared *shared, const lane_f *asset, lane_f equity)
{
    struct lane_shares shares = {f_all(0), f_all(0), f_all(0), f_all(0)};
    lane_f counted[ENV_ASSETS_MAX], inverse = f_all(1) / equity;
    for (int32_t i = 0; i < shared->view->state.n; i++)
        counted[i] = lane_shares_add(&shares, counted, i, asset[i] * inverse);
    return lane_concentration(&shared->view->params, &shares);
}

static inline lane_f in_currency(const struct shared *shared, lane_dd money)
{
    return f_of(dd_mul(money, dd_all(shared->per_unit)));
}

static inline void finish(const struct shared *shared, const struct block *b)
{
    const struct env_view *view = shared->view;
    const struct env_state *s = &view->state;
    const size_t at = b->first;
    struct worths worths;
    value_all(shared, b, &worths);
    lane_dd equity = {worths.equity[0], worths.equity[1]};
    lane_dd benchmark = {worths.benchmark[0], worths.benchmark[1]};
    lane_dd equity_before = dd_load((double *)s->equity + at), capital = dd_load((double *)s->capital + at);
    lane_dd benchmark_before = dd_load((double *)s->benchmark + at);
    lane_dd cash = {b->half[0].cash, b->half[1].cash};
    struct lane_change change = {
        .equity = in_currency(shared, equity),
        .cash = in_currency(shared, cash),
        .capital = in_currency(shared, capital),
        .benchmark_before = in_currency(shared, benchmark_before),
        .equity_change = in_currency(shared, dd_sub(equity, equity_before)),
        .benchmark_change = in_currency(shared, dd_sub(benchmark, benchmark_before)),
    };
    lane_f decay = lane_decay(view, i_load(s->row + at), i_load(s->first + at), i_load(s->last + at));
    lane_f reward = lane_reward(&view->params, &change, decay);
    if (view->params.concentration_penalty > 0) {
        mask_f solvent = f_mask_of(dd_gt(equity, dd_all(0)));
        reward = f_select(solvent, reward + concentration(shared, worths.asset, change.equity), reward);
    }
    if (env_has_risk(&view->params))
        reward = lane_risk(view, at, reward, change.capital, equity_before, equity);
    dd_store((double *)s->cash + at, cash);
    dd_store((double *)s->fees + at, (lane_dd){b->half[0].fees, b->half[1].fees});
    dd_store((double *)s->equity + at, equity);
    dd_store((double *)s->benchmark + at, benchmark);
    lane_dd buys = {b->half[0].buys, b->half[1].buys}, sells = {b->half[0].sells, b->half[1].sells};
    i_store(s->buys + at, i_load(s->buys + at) + lane_int_of(f_of(buys)));
    i_store(s->sells + at, i_load(s->sells + at) + lane_int_of(f_of(sells)));
    mask_dd ruined = dd_le(equity, dd_mul(dd_all(view->params.ruin), capital));
    ruined.lo = ruined.lo | worths.inexact[0];
    ruined.hi = ruined.hi | worths.inexact[1];
    const unsigned steps = f_bits(b->steps);
    if (__builtin_expect(steps == LANES_ALL, 1)) {
        lane_finish(view, shared->io, at, f_mask(LANES_ALL), true, reward, equity, f_mask_of(ruined));
        return;
    }
    lane_finish(view, shared->io, at, b->steps, false, reward, equity, f_mask_of(ruined));
    for (size_t j = 0; j < LANES && at + j < shared->end; j++)
        if (!(steps >> j & 1))
            env_steps(view, shared->io, at + j, ENV_MARKET);
}

/* Rows, one further where a copy steps; copies that do not step use the row of the first that does. */
static inline void advance(const struct shared *shared, struct block *b)
{
    const struct env_state *s = &shared->view->state;
    lane_i row = i_load(s->row + b->first);
    int32_t one = s->row[b->first + (size_t)__builtin_ctz(f_bits(b->steps))] + 1;
    lane_i next = i_select(b->steps, row + i_all(1), i_all(one));
    i_store(s->row + b->first, i_select(b->steps, next, row));
    i_store(b->row, next);
    b->together = !f_any(not_(i_eq(next, i_all(one))));
}

/* The bars of copies that are further on, each of them somewhere else. */
static inline void fetch_bars(const struct shared *shared, size_t first)
{
    const struct env_market_view *market = &shared->view->market;
    const int32_t *row = shared->view->state.row + first;
    const size_t n = (size_t)market->n * 4;
    for (size_t j = 0; j < LANES; j++)
        for (size_t k = 0; k < n; k += 8)
            __builtin_prefetch(market->bars + (size_t)(row[j] + 1) * n + k);
}

static inline void open_block(const struct shared *shared, struct block *b)
{
    const struct env_state *s = &shared->view->state;
    lane_dd fee_buy = dd_load(s->fee_buy + b->first), fee_sell = dd_load(s->fee_sell + b->first);
    lane_dd slippage = dd_of(f_load(s->slippage + b->first));
    advance(shared, b);
    if (!b->together && b->first + AHEAD + LANES <= shared->end)
        fetch_bars(shared, b->first + AHEAD);
    open_half(shared, &b->half[0], b->first, fee_buy.lo, fee_sell.lo, slippage.lo);
    open_half(shared, &b->half[1], b->first + LANES_D, fee_buy.hi, fee_sell.hi, slippage.hi);
}

static __attribute__((noinline)) void step(const struct shared *shared, struct block *blocks, int n_blocks)
{
    for (int k = 0; k < n_blocks; k++)
        open_block(shared, &blocks[k]);
    decide_all(shared, blocks, n_blocks);
    for (int k = 0; k < n_blocks; k++) {
        fill_all(shared, &blocks[k]);
        finish(shared, &blocks[k]);
    }
}

/* What a block's orders are kept in until their bar. */
struct orders {
    lane_d waiting[HALVES][ENV_ASSETS_MAX], reserve[HALVES][ENV_ASSETS_MAX];
};

static void share(struct shared *shared, const struct env_view *view, const struct env_step_io *io,
                  size_t end)
{
    const struct env_params *p = &view->params;
    shared->view = view;
    shared->io = io;
    shared->end = end;
    shared->per_unit = 1 / env_money_units(view);
    shared->rules = (struct lane_rules){
        .trails = p->trailing_stop_pct > 0,
        .caps = p->max_position_pct > 0,
        .exits = p->forced_exit_bars > 0,
        .kept = 1 - p->trailing_stop_pct,
        .max_position = p->max_position_pct,
        .exit_bars = p->forced_exit_bars,
        .exit_share = p->forced_exit_pct,
        .cooldown_bars = p->cooldown_bars,
    };
    for (int32_t i = 0; i < view->state.n; i++)
        shared->symbols[i] = lane_symbol(&view->market.symbols[i], view->market.least[i]);
}

void LANES_NAME(market_portfolio)(const struct env_view *view, const struct env_step_io *io, size_t first,
                                  size_t end)
{
    struct shared shared;
    struct orders orders[BLOCKS];
    struct block blocks[BLOCKS];
    int n_blocks = 0;
    for (int k = 0; k < BLOCKS; k++)
        for (int v = 0; v < HALVES; v++) {
            blocks[k].half[v].waiting = orders[k].waiting[v];
            blocks[k].half[v].reserve = orders[k].reserve[v];
        }
    share(&shared, view, io, end);
    for (size_t at = first; at < end; at += LANES) {
        mask_f steps = lane_steps(view, at, end);
        size_t last = end - at < LANES ? end : at + LANES;
        bool some = __builtin_popcount(f_bits(steps)) != (int)(last - at);
        if ((some && view->params.autoreset == ENV_NO_RESET) || !f_any(steps)) {
            env_scalar_market_portfolio(view, io, at, last);
            continue;
        }
        blocks[n_blocks].first = at;
        blocks[n_blocks++].steps = steps;
        if (n_blocks == BLOCKS) {
            step(&shared, blocks, BLOCKS);
            n_blocks = 0;
        }
    }
    if (n_blocks)
        step(&shared, blocks, n_blocks);
}
