/* The exchange's integer arithmetic in lanes of doubles: exchange/fill_rules.h, bit by bit, for whole numbers
 * >= 0 and < 2^52 (POLICY_EXACT_MAX) whose results are below 2^52 too.
 *
 * A quotient. p, q < 2^52 and 1 <= d <= 2^51 are whole; x = p q / d; u = 2^-53; RN rounds to nearest.
 *     high = RN(p q), low = p q - high     exact by one FMA: an error-free transformation
 *     k = the whole number nearest RN(high RN(1 / d))
 *     rest = (high - k d) + low            = p q - k d
 * Three roundings lie between x and what k is nearest to: |k - x| < 1/2 + 3.01 u x, below 7/8 for x < 2^50.
 * So |p q - k d| < 7/8 d; high differs from p q by u p q < d / 8 at most, and high - k d is a whole number
 * below d: an FMA gives it exactly, and the sum is exact too. Then floor(x) is k, or k - 1 where rest < 0,
 * and ceil(x) is k, or k + 1 where rest > 0, for negative x too. Lanes with x >= 2^50, and divisors beyond
 * 2^51, are computed in integers, one by one.
 *
 * Millionths, rounded up. p, q whole; where p q < 2^51 the product is exact and x = p q / 10^6 below 2.3e9.
 * One FMA gives v = x RN(1e-6) 1e6 - 5e-7 rounded: off by 2 u x < 5e-7 at most. Where x is whole, v lies in
 * (x - 1e-6, x); else x is at least 1e-6 from a whole number, and v lies between the two around it: ceil(v)
 * is ceil(x).
 *
 * A lane that is beyond one of these bounds is odd. Functions with an argument `odd` mark it there, and
 * their result is meaningless; where `odd` is NULL they compute it in integers at once.
 *
 * A remainder. v < 2^52, d >= 2: k = the whole number nearest RN(v RN(1 / d)) lies less than 1 from v / d:
 * for d = 2 the product is exact, for d >= 3 it is off by 2 u 2^52 / 3 = 1/3 at most. So rest = v - k d,
 * exact by one FMA, is in (-d, d), and v mod d is rest, or rest + d where rest < 0. */
#ifndef TRAINER_ENV_SIMD_EXACT_H
#define TRAINER_ENV_SIMD_EXACT_H

#include <math.h>

#include "strategy/policy/rules.h"
#include "trainer/env/simd/lanes.h"

#define EXACT_QUOTIENT_MAX 0x1p50
#define EXACT_DIVISOR_MAX  0x1p51
#define EXACT_SHARE_MAX    0x1p51
#define EXACT_PRICE_MAX    0x1p50

/* What is divided by; `by` >= 1. */
struct exact_divisor {
    int64_t whole;
    double by, inverse;
    double max; /* quotients below it are found in lanes */
};

static inline struct exact_divisor exact_divisor(int64_t by)
{
    return (struct exact_divisor){by, (double)by, 1 / (double)by,
                                  (double)by <= EXACT_DIVISOR_MAX ? EXACT_QUOTIENT_MAX : -1};
}

/* A whole number near a quotient, and a number of the sign of what that leaves of it. */
struct exact_quotient {
    lane_d near, rest;
};

/* Lane by lane, where a quotient is too large for the doubles' way. */
static __attribute__((noinline, cold)) struct exact_quotient exact_divide_integers(lane_d p, lane_d q,
                                                                                   int64_t by)
{
    double a[LANES_D], b[LANES_D], near[LANES_D], rest[LANES_D];
    d_store(a, p);
    d_store(b, q);
    for (int j = 0; j < LANES_D; j++) {
        int64_t left;
        near[j] = (double)(int64_t)fill_divide((__int128)(int64_t)a[j] * (int64_t)b[j], by, &left);
        rest[j] = (double)left;
    }
    return (struct exact_quotient){d_load(near), d_load(rest)};
}

/* Where it is below divisor->max; `about` is p q / d within three roundings. */
static inline struct exact_quotient exact_around(lane_d p, lane_d q, lane_d about,
                                                 const struct exact_divisor *divisor)
{
    lane_d high = p * q;
    lane_d low = d_fma(p, q, -high);
    lane_d near = d_nearest(about);
    return (struct exact_quotient){near, d_fma(-near, d_all(divisor->by), high) + low};
}

static inline struct exact_quotient exact_near(lane_d p, lane_d q, const struct exact_divisor *divisor)
{
    return exact_around(p, q, p * q * d_all(divisor->inverse), divisor);
}

/* Lanes that are beyond it. */
static inline mask_d exact_beyond(struct exact_quotient x, const struct exact_divisor *divisor)
{
    return d_ge(x.near, d_all(divisor->max));
}

LANES_INLINE struct exact_quotient exact_divide(lane_d p, lane_d q, const struct exact_divisor *divisor,
                                                mask_d *odd)
{
    struct exact_quotient x = exact_near(p, q, divisor);
    mask_d beyond = exact_beyond(x, divisor);
    if (odd)
        *odd = *odd | beyond;
    else if (d_any(beyond))
        return exact_divide_integers(p, q, divisor->whole);
    return x;
}

static inline lane_d exact_floor(struct exact_quotient x)
{
    return d_select(d_lt(x.rest, d_all(0)), x.near - d_all(1), x.near);
}

static inline lane_d exact_ceil(struct exact_quotient x)
{
    return d_select(d_gt(x.rest, d_all(0)), x.near + d_all(1), x.near);
}

static const struct exact_divisor exact_million = {1000000, 1e6, 1 / 1e6, EXACT_QUOTIENT_MAX};

/* fill_notional() of a sale, and of a purchase. */
LANES_INLINE lane_d exact_proceeds(lane_d price, lane_d qty, const struct exact_divisor *unit, mask_d *odd)
{
    return exact_floor(exact_divide(price, qty, unit, odd));
}

LANES_INLINE lane_d exact_cost(lane_d price, lane_d qty, const struct exact_divisor *unit, mask_d *odd)
{
    return exact_ceil(exact_divide(price, qty, unit, odd));
}

/* ceil(v * rate_e6 / 10^6); `rate_e6` whole, 0..1000000. */
LANES_INLINE lane_d exact_share(lane_d v, lane_d rate_e6, mask_d *odd)
{
    lane_d product = v * rate_e6;
    mask_d beyond = d_ge(product, d_all(EXACT_SHARE_MAX));
    if (odd)
        *odd = *odd | beyond;
    else if (d_any(beyond))
        return exact_ceil(exact_divide(v, rate_e6, &exact_million, NULL));
    return d_ceil(d_fma(product, d_all(1e-6), d_all(-5e-7)));
}

/* fill_fee(). */
LANES_INLINE lane_d exact_fee(lane_d notional, lane_d rate_e6, mask_d *odd)
{
    return exact_share(notional, rate_e6, odd);
}

/* v mod d of a whole d >= 2. */
static inline lane_d exact_modulo(lane_d v, double by, double inverse)
{
    lane_d near = d_nearest(v * d_all(inverse));
    lane_d rest = d_fma(-near, d_all(by), v);
    return d_select(d_lt(rest, d_all(0)), rest + d_all(by), rest);
}

/* struct fill_lot for market orders, as its lanes read it. */
struct exact_lot {
    bool steps;         /* not every whole number from `least` to `most` is a lot */
    double most, least; /* least: of no steps; >= 1 */
    double min, market_min;
    double step, step_inverse, market_step, market_inverse; /* steps of 0 and 1 are 0: every number fits */
};

static inline double exact_step(int64_t step)
{
    return step > 1 ? (double)step : 0;
}

static inline struct exact_lot exact_lot(const struct fill_lot *lot)
{
    struct exact_lot ret = {
        .most = POLICY_EXACT_MAX,
        .least = 1,
        .min = (double)lot->min,
        .market_min = (double)lot->market_min,
        .step = exact_step(lot->step),
        .step_inverse = 1 / (double)(lot->step > 1 ? lot->step : 1),
        .market_step = exact_step(lot->market_step),
        .market_inverse = 1 / (double)(lot->market_step > 1 ? lot->market_step : 1),
    };
    ret.steps = ret.step > 0 || ret.market_step > 0;
    ret.most = lot->max > 0 ? fmin(ret.most, (double)lot->max) : ret.most;
    ret.most = lot->market_max > 0 ? fmin(ret.most, (double)lot->market_max) : ret.most;
    ret.least = fmax(ret.least, fmax(ret.min, ret.market_min));
    return ret;
}

/* fill_floor_step() of what is not above the largest. */
static inline lane_d exact_floor_step(lane_d v, double min, double step, double inverse)
{
    mask_d below = d_lt(v, d_all(min));
    if (step > 0)
        v = v - exact_modulo(v - d_all(min), step, inverse);
    return d_select(below, d_all(0), v);
}

/* fill_floor_qty() of market orders; v >= 0 and whole. */
static inline lane_d exact_floor_qty(const struct exact_lot *lot, lane_d v)
{
    v = d_min(v, d_all(lot->most));
    if (!lot->steps)
        return d_select(d_ge(v, d_all(lot->least)), v, d_all(0));
    v = exact_floor_step(v, lot->min, lot->step, lot->step_inverse);
    v = exact_floor_step(v, lot->market_min, lot->market_step, lot->market_inverse);
    return lot->market_step > 0 ? d_select(d_ge(v, d_all(lot->min)), v, d_all(0)) : v;
}

/* A price's tick, counted from its lowest price. */
struct exact_tick {
    double price_min, lowest; /* lowest: of a sale's price */
    double tick, inverse;     /* a tick of 0 or 1 is 0: every price is on it */
};

static inline struct exact_tick exact_tick(int64_t price_min, int64_t tick)
{
    int64_t lowest = price_min > 0 ? price_min : tick > 0 ? tick : 1;
    return (struct exact_tick){(double)price_min, (double)lowest, exact_step(tick),
                               1 / (double)(tick > 1 ? tick : 1)};
}

/* fill_floor_price(). */
static inline lane_d exact_floor_price(const struct exact_tick *tick, lane_d price)
{
    if (tick->tick <= 0)
        return price;
    lane_d above = price - d_all(tick->price_min);
    lane_d floor = price - exact_modulo(above, tick->tick, tick->inverse);
    return d_select(d_gt(above, d_all(0)), floor, price);
}

/* fill_slipped() without a limit: of a purchase where `buys`, else of a sale. price > 0; `slippage_e6` whole,
 * 0..999999, and 0 where not `slips`. */
static inline lane_d exact_slipped(const struct exact_tick *tick, mask_d buys, mask_d slips, lane_d price,
                                   lane_d slippage_e6)
{
    const lane_d zero = d_all(0);
    lane_d distance = exact_share(price, slippage_e6, NULL);
    lane_d worse = d_select(buys, price + distance, d_max(price - distance, d_all(tick->lowest)));
    if (tick->tick > 0) {
        const lane_d by = d_all(tick->tick);
        lane_d above = worse - d_all(tick->price_min);
        lane_d rest = d_fma(-d_nearest(above * d_all(tick->inverse)), by, above), at = worse - rest;
        at = d_select(buys & d_gt(rest, zero), at + by, at);
        at = d_select(not_(buys) & d_lt(rest, zero), at - by, at);
        worse = d_select(d_gt(above, zero), at, worse);
    }
    /* A sale of a price below the lowest; and without slippage the price as it is, on the tick or not. */
    return d_select(slips & not_(d_gt(worse, price) & not_(buys)), worse, price);
}

/* v with its sign turned where `sign` is -0, as it is where that is 0. */
static inline lane_d exact_signed(lane_d v, lane_d sign)
{
    return (lane_d)((lane_l)v ^ (lane_l)sign);
}

/* v, or the next above that is whole ticks from `base`; |v - base| < 2^51, tick > 1. As with millionths: the
 * FMA is off by 2 u |v - base| / tick at most, which is less than the 1 / 2 tick that it takes off. */
static inline lane_d exact_ceil_tick(const struct exact_tick *tick, lane_d v, lane_d base)
{
    lane_d inverse = d_all(tick->inverse),
           number = d_ceil(d_fma(v - base, inverse, d_all(-tick->inverse / 2)));
    return d_fma(number, d_all(tick->tick), base);
}

/* The same price as exact_slipped() gives, negative for sales, which have a `sign` of -0, purchases 0: both
 * are rounded up then. */
static inline lane_d exact_slipped_signed(const struct exact_tick *tick, lane_d sign, mask_d slips,
                                          lane_d price, lane_d slippage_e6, mask_d *odd)
{
    lane_d distance = exact_share(price, slippage_e6, odd), shown = exact_signed(price, sign);
    lane_d worse = shown + distance;
    *odd = *odd | d_ge(price, d_all(EXACT_PRICE_MAX)) | d_lt(price - distance, d_all(tick->lowest));
    if (tick->tick > 0)
        worse = exact_ceil_tick(tick, worse, exact_signed(d_all(tick->price_min), sign));
    return d_select(slips, worse, shown);
}

/* fill_purchase(). */
LANES_INLINE lane_d exact_purchase(lane_d price, lane_d qty, const struct exact_divisor *unit, lane_d fee_e6,
                                   mask_d *odd)
{
    lane_d notional = exact_cost(price, qty, unit, odd);
    return notional + exact_fee(notional, fee_e6, odd);
}

/* fill_affordable(), lane by lane. */
static __attribute__((noinline, cold)) lane_d exact_affordable_integers(lane_d cash, lane_d price, lane_d qty,
                                                                        int64_t unit, lane_d fee_e6,
                                                                        const struct fill_lot *lot)
{
    double money[LANES_D], at[LANES_D], most[LANES_D], fee[LANES_D];
    d_store(money, cash);
    d_store(at, price);
    d_store(most, qty);
    d_store(fee, fee_e6);
    for (int j = 0; j < LANES_D; j++)
        most[j] = (double)fill_affordable((int64_t)money[j], (int64_t)at[j], (int64_t)most[j], unit,
                                          (int32_t)fee[j], lot);
    return d_load(most);
}

#endif
