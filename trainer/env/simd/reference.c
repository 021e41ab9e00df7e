/* ENV_REFERENCE, ENV_PORTFOLIO, LANES copies at once: scalar/reference_money.h is the definition, of which
 * this repeats the operations in their order. Where that takes a branch a copy, this computes for all and
 * selects: a quantity of 0 is traded where a copy trades nothing, which changes neither cash nor fees. A
 * branch here asks whether any copy needs what is rare. Copies that do not step (they begin again, rest, or
 * are padding) are computed along, from an active copy's row, and their columns stay as they are. */
#include <string.h>

#include "trainer/env/finish.h"
#include "trainer/env/simd/kernels.h"
#include "trainer/env/simd/money.h"

#define INLINE static inline __attribute__((always_inline))

enum { AHEAD = 64 };
static const unsigned ALL = (1u << LANES) - 1;

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

struct account {
    money cash, fees, capital, reserve, fee_buy, fee_sell;
    lane_f worse_buy, worse_sell;
    lane_i row, last, buys, sells;
};

/* ---- Columns: stores leave what does not step ---- */

INLINE void put_f(mask_f active, bool whole, float *p, lane_f v)
{
    f_store(p, whole ? v : f_select(active, v, f_load(p)));
}

INLINE void put_i(mask_f active, bool whole, int32_t *p, lane_i v)
{
    i_store(p, whole ? v : i_select(active, v, i_load(p)));
}

INLINE void put_m(mask_f active, bool whole, void *column, size_t at, money v)
{
    money_one *p = (money_one *)column + at;
    m_store(p, whole ? v : m_select(m_mask(active), v, m_load(p)));
}

INLINE void put_dd(mask_f active, bool whole, double *p, lane_dd v)
{
    dd_store(p, whole ? v : dd_select(active, v, dd_load(p)));
}

/* ---- What each copy has elsewhere ---- */

/* k numbers of each row, in turn to ret[0..n-1]. */
INLINE void rows_in(const float *const row[LANES], int32_t n, bool padded, lane_f *ret)
{
    const float *part[LANES];
    for (int32_t i = 0; i < n;) {
        int32_t from = padded || i + 4 <= n ? i : n - 4; /* again what was read, rather than past the row */
        if (from < 0) {
            for (int32_t k = 0; k < n; k++)
                for (int j = 0; j < LANES; j++)
                    ((float *)&ret[k])[j] = row[j][k];
            return;
        }
        lane_f four[4];
        for (int j = 0; j < LANES; j++)
            part[j] = row[j] + from;
        f_rows(part, four);
        for (int32_t k = 0; k < 4 && from + k < n; k++)
            ret[from + k] = four[k];
        i = from + 4;
    }
}

/* The closes of the copies' rows. */
INLINE void prices_in(const struct block *b, lane_i rows)
{
    const struct env_market_view *market = &b->view->market;
    size_t stride = (size_t)market->row_stride;
    int32_t row[LANES];
    i_store(row, rows);
    if (f_bits(i_eq(rows, i_all(row[0]))) == ALL) {
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
    rows_in(from, market->n, true, b->scratch->price);
}

/* env_action() */
INLINE lane_f action_of(const struct env_params *p, lane_f given)
{
    if (p->actions == ENV_DISCRETE) {
        float middle = (float)(p->levels / 2);
        given = (given - middle) * (float)(p->action_span / (double)(p->levels / 2));
    }
    const lane_f high = f_all((float)POLICY_ACTION_MAX);
    return f_max(f_min(given, high), -high);
}

INLINE void actions_in(const struct block *b, int32_t n, bool whole)
{
    const struct env_step_io *io = b->io;
    lane_f *wanted = b->scratch->wanted;
    if (whole && io->copy_step == 1) {
        for (int32_t i = 0; i < n; i++)
            wanted[i] = f_load(io->actions + b->at + (size_t)i * io->action_step);
        return;
    }
    const float *row[LANES];
    for (size_t j = 0; j < LANES; j++) {
        size_t copy = b->at + j < b->end ? b->at + j : b->at;
        row[j] = io->actions + copy * io->copy_step;
    }
    if (io->action_step == 1) {
        rows_in(row, n, false, wanted);
        return;
    }
    for (int32_t i = 0; i < n; i++)
        for (int j = 0; j < LANES; j++)
            ((float *)&wanted[i])[j] = row[j][(size_t)i * io->action_step];
}

/* ---- Trades ---- */

/* Of quantities that are 0 where nothing is sold. */
INLINE void sale(struct account *a, mask_f sold, lane_f q, lane_f price)
{
    money notional = m_of(q * price);
    a->cash = m_add(a->cash, m_mul(notional, m_sub(m_all(1), a->fee_sell)));
    a->fees = m_add(a->fees, m_mul(notional, a->fee_sell));
    a->sells = i_select(sold, a->sells + 1, a->sells);
}

INLINE money equity_of(const struct block *b, money cash)
{
    const struct env_state *s = &b->view->state;
    const float *qty = s->qty + b->at;
    lane_f worth = f_all(0);
    for (int32_t i = 0; i < s->n; i++)
        worth = worth + f_load(qty + (size_t)i * s->stride) * b->scratch->price[i];
    return m_add(cash, m_of(worth));
}

INLINE money benchmark_of(const struct block *b)
{
    const struct env_state *s = &b->view->state;
    const float *bench = s->bench + b->at;
    money worth = m_all(0);
    for (int32_t i = 0; i < s->n; i++)
        worth = m_add(worth, m_mul(m_of(f_load(bench + (size_t)i * s->stride)), m_of(b->scratch->price[i])));
    return worth;
}

/* 1., 2. A bar more, and the trailing stop. */
INLINE void hold(const struct block *b, bool whole, struct account *a)
{
    const struct env_params *p = &b->view->params;
    const struct env_state *s = &b->view->state;
    const mask_f active = f_mask(b->active);
    const size_t stride = s->stride;
    float *qty = s->qty + b->at, *held = s->held + b->at, *best = s->best + b->at, *cool = s->cool + b->at;
    const bool stops = p->trailing_stop_pct > 0;
    const lane_f keep = f_all((float)(1.0 - p->trailing_stop_pct)), none = f_all(0);
    for (int32_t i = 0; i < s->n; i++, qty += stride, held += stride, best += stride, cool += stride) {
        lane_f q = f_load(qty), h = f_load(held), c = f_load(cool);
        mask_f has = f_gt(q, none);
        h = f_select(has, h + 1, h);
        c = f_select(f_gt(c, none), c - 1, c);
        if (stops) {
            lane_f price = b->scratch->price[i], peak = f_load(best);
            peak = f_select(has, f_max(price, peak), peak);
            mask_f hit = has & f_lt(price, peak * keep);
            if (!whole)
                hit &= active;
            if (f_any(hit)) {
                sale(a, hit, f_select(hit, q, none), price * a->worse_sell);
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
INLINE void want(const struct block *b, const struct account *a)
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
        lane_f quantity = action_of(p, wanted[i]) * f_load(scale);
        if (capped) {
            lane_f room = f_of_m(m_sub(cap, m_mul(m_of(f_load(qty)), m_of(price[i]))));
            quantity = f_min(quantity, f_max(room, f_all(0)) / price[i]);
        }
        wanted[i] = quantity;
    }
}

/* 5., 6. Sales and forced exits. */
INLINE void sell(const struct block *b, bool whole, struct account *a)
{
    const struct env_params *p = &b->view->params;
    const struct env_state *s = &b->view->state;
    const mask_f active = f_mask(b->active);
    const size_t stride = s->stride;
    float *qty = s->qty + b->at, *held = s->held + b->at, *best = s->best + b->at, *cool = s->cool + b->at;
    const lane_f none = f_all(0), exit_bars = f_all((float)p->forced_exit_bars);
    const lane_f exit_share = f_all((float)p->forced_exit_pct);
    for (int32_t i = 0; i < s->n; i++, qty += stride, held += stride, best += stride, cool += stride) {
        lane_f q = f_load(qty), h = f_load(held), wanted = b->scratch->wanted[i];
        mask_f has = f_gt(q, none);
        if (!whole)
            has &= active;
        mask_f sold = has & f_lt(wanted, f_all(-(float)b->view->market.least[i]));
        lane_f amount = f_min(-wanted, q);
        if (p->forced_exit_bars > 0) {
            mask_f exits = has & f_ge(h, exit_bars);
            amount = f_select(sold, amount, q * exit_share);
            sold = sold | exits;
        }
        sold = sold & f_gt(amount, none);
        if (!f_any(sold))
            continue;
        amount = f_select(sold, amount, none);
        sale(a, sold, amount, b->scratch->price[i] * a->worse_sell);
        q = q - amount;
        mask_f flat = sold & not_(f_gt(q, none));
        f_store(qty, q);
        f_store(held, f_select(sold, none, h));
        f_store(best, f_select(flat, none, f_load(best)));
        f_store(cool, f_select(flat, f_all((float)p->cooldown_bars), f_load(cool)));
    }
}

/* 7. Purchases of asset i. Each waits for the cash that the one before has left: a chain of operations, which
 * two blocks go through side by side. */
INLINE void buy(const struct block *b, bool whole, struct account *a, int32_t i)
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
    mask_m bought = m_both(m_mask(may), m_both(m_ge(amount, m_of(least)), m_gt(amount, nothing)));
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

/* env_concentration() of the shares as env_shares_add() counts them. */
INLINE lane_f concentration(const struct block *b, lane_f equity)
{
    const struct env_state *s = &b->view->state;
    const float k = (float)b->view->params.concentration_penalty;
    const lane_f none = f_all(0), high = f_all(0.4f), inverse = 1.0f / equity;
    const float *qty = s->qty + b->at;
    lane_f *counted = b->scratch->wanted, most = none, count = none, sum = none, pairs = none;
    for (int32_t i = 0; i < s->n; i++) {
        money value = m_mul(m_of(f_load(qty + (size_t)i * s->stride)), m_of(b->scratch->price[i]));
        lane_f share = f_of_m(value) * inverse;
        most = f_max(share, most);
        mask_f counts = f_gt(share, f_all(0.01f));
        share = f_select(counts, share, none);
        count = f_select(counts, count + 1, count);
        sum = sum + share;
        for (int32_t j = 0; j < i; j++)
            pairs = pairs + f_min(counted[j], share);
        counted[i] = share;
    }
    lane_f reward = f_select(f_gt(most, high), -k * (most - high), none);
    lane_f gini = 1 - (1 + 2 * pairs / sum) / count;
    lane_f even = f_select(f_lt(gini, high), reward + k * 0.1f * (high - gini), reward);
    return f_select(f_lt(count, f_all(3)), reward - k * 0.5f * (3 - count), even);
}

/* env_decay(), env_reward() */
INLINE lane_f reward_of(const struct block *b, lane_i row, lane_i last, money cash, money capital_money,
                        money equity_money, money benchmark)
{
    const struct env_params *p = &b->view->params;
    const struct env_state *s = &b->view->state;
    const lane_f none = f_all(0);
    const float norm = (float)p->norm_reward;
    lane_i begin = i_load(s->first + b->at) + (p->lookback - 1);
    lane_f left = __builtin_convertvector(last - row, lane_f) / __builtin_convertvector(last - begin, lane_f);
    lane_f decay = f_max(left, f_all((float)p->time_decay_floor));

    money equity_before = m_load((money_one *)s->equity + b->at);
    money benchmark_before = m_load((money_one *)s->benchmark + b->at);
    lane_f equity = f_of_m(equity_money), cash_now = f_of_m(cash), capital = f_of_m(capital_money);
    lane_f gain = f_of_m(m_sub(equity_money, equity_before));
    lane_f move_money = f_of_m(m_sub(benchmark, benchmark_before));
    lane_f alpha = (gain - move_money) * norm * decay;
    lane_f absolute = gain / capital * norm * decay;
    lane_f move = move_money / f_of_m(benchmark_before);
    lane_f idle = cash_now / equity;
    lane_f bonus = f_select(f_lt(move, none) & f_gt(idle, f_all(0.1f)), -move * idle * norm * 0.1f, none);
    lane_f reward =
        (float)p->weight_alpha * alpha + (float)p->weight_absolute * absolute + (float)p->weight_cash * bonus;
    if (p->min_cash_reserve > 0) {
        lane_f lacking = capital * (float)p->min_cash_reserve - cash_now;
        reward = reward - f_max(lacking, none) / capital * norm * 0.5f;
    }
    if (p->concentration_penalty > 0) {
        mask_f solvent = f_mask_of_m(m_gt(equity_money, m_all(0)));
        reward = f_select(solvent, reward + concentration(b, equity), reward);
    }
    return reward;
}

/* env_finish(): what a step is worth, and the ends of episodes. */
INLINE void finish(const struct block *b, bool whole, lane_f reward, lane_dd equity, mask_f ruined,
                   mask_f late)
{
    const struct env_step_io *io = b->io;
    const struct env_state *s = &b->view->state;
    const struct env_params *p = &b->view->params;
    const mask_f active = f_mask(b->active);
    const size_t at = b->at;
    const unsigned terminated = f_bits(ruined) & b->active;
    const unsigned truncated = f_bits(late) & b->active & ~terminated;
    unsigned over = terminated | truncated;

    lane_dd discounted = dd_add(dd_mul(dd_load(s->gamma_return + at), dd_all(p->gamma)), dd_of(reward));
    put_dd(active, whole, s->gamma_return + at, discounted);
    if (over && p->final_return)
        reward = f_select(f_mask(over), f_of(discounted), reward);
    put_dd(active, whole, s->reward_sum + at, dd_add(dd_load(s->reward_sum + at), dd_of(reward)));
    lane_dd peak = dd_max(equity, dd_load(s->peak + at));
    put_dd(active, whole, s->peak + at, peak);
    lane_dd down = dd_of(f_of(dd_sub(peak, equity)) / f_of(peak));
    put_dd(active, whole, s->drawdown + at, dd_max(down, dd_load(s->drawdown + at)));

    if (whole && !over) {
        f_store(io->rewards + at, reward);
        memset(io->terminated + at, 0, LANES);
        memset(io->truncated + at, 0, LANES);
        return;
    }
    float rewards[LANES];
    f_store(rewards, reward);
    for (unsigned j = 0; j < LANES; j++) {
        if (!(b->active >> j & 1))
            continue;
        io->rewards[at + j] = rewards[j];
        io->terminated[at + j] = terminated >> j & 1;
        io->truncated[at + j] = truncated >> j & 1;
    }
    for (; over; over &= over - 1)
        env_over(b->view, io, at + (size_t)__builtin_ctz(over));
}

/* 1. to 6. */
INLINE struct account before_purchases(const struct block *b, bool whole)
{
    const struct env_state *s = &b->view->state;
    const size_t at = b->at;
    const mask_f active = f_mask(b->active);
    lane_i row = i_load(s->row + at) + 1;
    if (!whole)
        row = i_select(active, row, i_all(s->row[at + (size_t)__builtin_ctz(b->active)] + 1));
    put_i(active, whole, s->row + at, row);
    prices_in(b, row);
    actions_in(b, s->n, whole);

    const lane_f slippage = f_load(s->slippage + at);
    const money capital = m_load((money_one *)s->capital + at);
    struct account a = {.cash = m_load((money_one *)s->cash + at),
                        .fees = m_load((money_one *)s->fees + at),
                        .capital = capital,
                        .reserve = m_mul(capital, m_all(b->view->params.min_cash_reserve)),
                        .fee_buy = m_of_dd(dd_load(s->fee_buy + at)),
                        .fee_sell = m_of_dd(dd_load(s->fee_sell + at)),
                        .worse_buy = 1.0f + slippage,
                        .worse_sell = 1.0f - slippage,
                        .row = row,
                        .last = i_load(s->last + at),
                        .buys = i_load(s->buys + at),
                        .sells = i_load(s->sells + at)};
    hold(b, whole, &a);
    want(b, &a);
    sell(b, whole, &a);
    return a;
}

/* 8. and the reward. */
INLINE void after_purchases(const struct block *b, bool whole, const struct account *a)
{
    const struct env_state *s = &b->view->state;
    const size_t at = b->at;
    const mask_f active = f_mask(b->active);
    money equity = equity_of(b, a->cash), benchmark = benchmark_of(b);
    lane_f reward = reward_of(b, a->row, a->last, a->cash, a->capital, equity, benchmark);
    put_m(active, whole, s->cash, at, a->cash);
    put_m(active, whole, s->fees, at, a->fees);
    put_m(active, whole, s->equity, at, equity);
    put_m(active, whole, s->benchmark, at, benchmark);
    put_i(active, whole, s->buys + at, a->buys);
    put_i(active, whole, s->sells + at, a->sells);
    mask_f ruined = f_mask_of_m(m_le(equity, m_mul(m_all(b->view->params.ruin), a->capital)));
    finish(b, whole, reward, m_to_dd(equity), ruined, not_(i_lt(a->row, a->last)));
}

INLINE void step(const struct block *b, bool whole)
{
    struct account a = before_purchases(b, whole);
    for (int32_t i = 0; i < b->view->state.n; i++)
        buy(b, whole, &a, i);
    after_purchases(b, whole, &a);
}

/* Two whole blocks. */
INLINE void step_two(const struct block *b, const struct block *c)
{
    struct account a = before_purchases(b, true), d = before_purchases(c, true);
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

/* The block's copies are all there, and none has ended. */
INLINE bool is_whole(const struct env_view *view, size_t at, size_t end)
{
    const uint8_t *flags = view->state.flags + at;
    uint8_t any = 0;
    for (int j = 0; j < LANES; j++)
        any |= flags[j];
    return at + LANES <= end && !any;
}

void STEP(const struct env_view *view, const struct env_step_io *io, size_t first, size_t end)
{
    struct scratch scratch[2];
    for (size_t at = first; at < end; at += LANES) {
        struct block b = {.view = view, .io = io, .at = at, .end = end, .scratch = scratch};
        if (is_whole(view, at, end)) {
            b.active = ALL;
            if (at + LANES < end && is_whole(view, at + LANES, end)) {
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
            if (env_steps(view, io, at + j))
                b.active |= 1u << j;
        if (b.active)
            step(&b, false);
    }
}
