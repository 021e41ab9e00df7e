/* Recurrences in blocks: y = a*y' + (1-a)*x with a constant a, in natural order.
 *
 * The carried value is u, the sum of a^k * (x - base) over the past, in units of 1/k with k = 1 - a: then
 * y = base + k*u. `base` is what y was at the block's beginning, so that float32 works on deviations from it:
 * the coefficients' rounding errs by a share of the movement within one block, not of the price, and the
 * state that goes from block to block is a double.
 *
 * Within a vector u is scanned in LOG_W steps. Step s hands the last sum of each lower half of 2^(s+1) lanes
 * to the upper half, times a^1, a^2, …; the lower half has a factor 0, so nothing is masked. The carry needs
 * one multiply-add a vector: the sums' last lane is spread before it is known. */
#ifndef INDICATORS_GPU_FAST_RECURRENCE_H
#define INDICATORS_GPU_FAST_RECURRENCE_H

#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/wide.h"

/* The powers of a, in registers. */
struct decay {
    vec step[LOG_W];
    vec lanes; /* a^1 … a^W */
    vec whole; /* a^W */
};

static inline struct decay decay_of(double a)
{
    struct decay d;
    double power[W + 1];
    power[0] = 1.0;
    for (int j = 1; j <= W; j++)
        power[j] = power[j - 1] * a;
    for (int j = 0; j < W; j++) {
        for (int s = 0; s < LOG_W; s++)
            d.step[s][j] = j & 1 << s ? (real)power[(j & ((1 << s) - 1)) + 1] : 0;
        d.lanes[j] = (real)power[j + 1];
        d.whole[j] = (real)power[W];
    }
    return d;
}

#define DECAY_LANE(j, s) ((((j) >> ((s) + 1)) << ((s) + 1)) + (1 << (s)) - 1)
#define DECAY_LANE_0(j)  DECAY_LANE(j, 0)
#define DECAY_LANE_1(j)  DECAY_LANE(j, 1)
#define DECAY_LANE_2(j)  DECAY_LANE(j, 2)
#define DECAY_LANE_3(j)  DECAY_LANE(j, 3)

/* Sums within the vector: lane j is x[j] + a*x[j-1] + … + a^j*x[0]. */
static inline vec decay_scan(const struct decay *d, vec x)
{
    x = d->step[0] * VEC_SHUFFLE(x, DECAY_LANE_0) + x;
#if LOG_W > 1
    x = d->step[1] * VEC_SHUFFLE(x, DECAY_LANE_1) + x;
#endif
#if LOG_W > 2
    x = d->step[2] * VEC_SHUFFLE(x, DECAY_LANE_2) + x;
#endif
#if LOG_W > 3
    x = d->step[3] * VEC_SHUFFLE(x, DECAY_LANE_3) + x;
#endif
    return x;
}

/* The sums that continue from *carry, which has the last one in every lane and is updated. */
static inline vec decay_next(const struct decay *d, vec x, vec *carry)
{
    vec sums = decay_scan(d, x), before = *carry;
    *carry = d->whole * before + vec_last(sums);
    return d->lanes * before + sums;
}

/* Two vectors with one multiply-add on the carried chain. */
static inline void decay_next2(const struct decay *d, vec whole2, vec x0, vec x1, vec *carry, vec *ret0,
                               vec *ret1)
{
    vec sums0 = decay_scan(d, x0), sums1 = decay_scan(d, x1), before = *carry;
    vec last0 = vec_last(sums0), last1 = vec_last(sums1);
    *carry = whole2 * before + (d->whole * last0 + last1);
    *ret0 = d->lanes * before + sums0;
    *ret1 = d->lanes * (d->whole * before + last0) + sums1;
}

/* ---- An exponential average over a column, with its seed. ---- */

struct average {
    struct decay decay;
    double k;     /* weight of the newest value */
    double value; /* y at the last bar so far; the sum of the seed's values until there is a y */
    double share; /* what a seed's sum is multiplied by */
    size_t from;  /* first bar of the seed */
    size_t first; /* first bar of y */
};

/* Seeded with the mean of bars [from, from + period). */
static inline void average_start(struct average *s, double k, size_t from, size_t period)
{
    s->decay = decay_of(1.0 - k);
    s->k = k;
    s->value = 0.0;
    s->share = 1.0 / (double)period;
    s->from = from;
    s->first = from + period - 1;
}

/* An average in registers: y = base + k*u, u carried in `u`. */
struct averaging {
    struct decay decay;
    vec base, k, u, whole2;
    vec rest; /* the part of a^W beyond decay.whole: averaging_of_positive() alone sets it */
};

static inline struct averaging averaging_of(const struct average *s)
{
    struct averaging a;
    real base = (real)s->value;
    a.decay = s->decay;
    a.whole2 = a.decay.whole * a.decay.whole;
    a.base = vec_all(base);
    a.k = vec_all((real)s->k);
    a.u = vec_all((real)((s->value - (double)base) / s->k));
    return a;
}

/* The same with a base of 0, for values that are near 0 themselves: y = k*u. */
static inline struct averaging averaging_of_small(const struct average *s)
{
    struct averaging a = averaging_of(s);
    a.base = vec_all(0);
    a.u = vec_all((real)(s->value / s->k));
    return a;
}

/* For values that are never negative: however small y becomes, its error stays a share of it. With a base,
 * digits would cancel where y falls far below it within a block, which an average that remembers half a block
 * does not. Continue with averaging_next_positive(). */
static inline struct averaging averaging_of_positive(const struct average *s)
{
    struct averaging a = s->k * (FAST_BLOCK / 2) < 1.0 ? averaging_of(s) : averaging_of_small(s);
    double whole = 1.0 - s->k;
    for (int i = 0; i < LOG_W; i++)
        whole *= whole;
    a.rest = vec_all((real)(whole - (double)a.decay.whole[0]));
    return a;
}

/* u, without base and k. */
static inline vec averaging_deviation(struct averaging *a, vec x)
{
    return decay_next(&a->decay, x - a->base, &a->u);
}

static inline vec averaging_next(struct averaging *a, vec x)
{
    return a->k * averaging_deviation(a, x) + a->base;
}

/* In float32 a^W has too few digits for values that decay by it hundreds of times. */
static inline vec averaging_next_positive(struct averaging *a, vec x)
{
    vec sums = decay_scan(&a->decay, x - a->base), before = a->u, last = vec_last(sums);
#if FAST_F32
    last = a->rest * before + last;
#endif
    a->u = a->decay.whole * before + last;
    return a->k * (a->decay.lanes * before + sums) + a->base;
}

static inline void averaging_next2(struct averaging *a, vec x0, vec x1, vec *ret0, vec *ret1)
{
    decay_next2(&a->decay, a->whole2, x0 - a->base, x1 - a->base, &a->u, ret0, ret1);
    *ret0 = a->k * *ret0 + a->base;
    *ret1 = a->k * *ret1 + a->base;
}

/* After a block. */
static inline void average_keep(struct average *s, const struct averaging *a)
{
    s->value = (double)a->base[0] + s->k * (double)a->u[0];
}

/* Adds the seed's values of x, a block of `count` values that begins at bar `begin`. Returns the local index
 * from which on there is a y: 0 when there was one before, `count` when there is none yet. At that index y is
 * s->value already. */
static inline size_t average_seed(struct average *s, const real *x, size_t begin, size_t count)
{
    if (begin > s->first)
        return 0;
    size_t i = s->from > begin ? s->from - begin : 0;
    size_t end = s->first - begin < count ? s->first - begin + 1 : count;
    double sum = s->value;
    for (; i < end; i++)
        sum += (double)x[i];
    s->value = sum;
    if (begin + count <= s->first)
        return count;
    s->value = sum * s->share;
    return s->first - begin;
}

/* x with every value up to local index `first` replaced by the seed, so that an average that begins at the
 * block's beginning stays there until then. */
static inline void average_lead(const struct average *s, const real *x, size_t first, size_t count,
                                real *lead)
{
    for (size_t i = 0; i <= first && i < count; i++)
        lead[i] = (real)s->value;
    for (size_t i = first + 1; i < count; i++)
        lead[i] = x[i];
}

static inline void average_sweep(struct average *s, struct averaging a, const real *x, size_t cells, real *y,
                                 bool stream)
{
    for (size_t i = 0; i < cells; i += 2 * W) {
        vec now, next;
        averaging_next2(&a, vec_load(x + i), vec_load(x + i + W), &now, &next);
        vec_put(y + i, now, stream);
        vec_put(y + i + W, next, stream);
    }
    average_keep(s, &a);
}

/* The seed, and where it ends in this block x with the seed before that, in `lead`. Returns the local index
 * of the first y, `count` if there is none. */
static inline size_t average_begin(struct average *s, const real **x, size_t begin, size_t count, real *lead)
{
    size_t first = average_seed(s, *x, begin, count);
    if (first < count && begin <= s->first) {
        average_lead(s, *x, first, fast_cells(count), lead);
        *x = lead;
    }
    return first;
}

/* One block of y from x; `lead` is room for a block. Returns the local index of the first y, `count` if there
 * is none. */
static inline size_t average_run(struct average *s, const real *x, size_t begin, size_t count, real *y,
                                 real *lead)
{
    size_t first = average_begin(s, &x, begin, count, lead);
    if (first < count)
        average_sweep(s, averaging_of(s), x, fast_cells(count), y, false);
    return first;
}

/* The same without a base: where a quotient has y as its divisor, y's error must be a share of y, not of the
 * base. */
static inline size_t average_run_small(struct average *s, const real *x, size_t begin, size_t count, real *y,
                                       real *lead)
{
    size_t first = average_begin(s, &x, begin, count, lead);
    if (first < count)
        average_sweep(s, averaging_of_small(s), x, fast_cells(count), y, false);
    return first;
}

/* ---- Running sums in float64, whatever the precision. ---- */

/* The sums that continue from *carry, which has the last one in every lane and is updated. */
static inline vec_wide total_next(vec_double *carry, vec x)
{
    vec_wide sums = vec_widen(x);
    vec_double before = *carry;
    sums.lo = wide_scan(sums.lo);
    vec_double last = wide_last(sums.lo);
#if FAST_F32
    sums.hi = wide_scan(sums.hi);
    *carry = before + (last + wide_last(sums.hi));
    sums.hi += before + last;
#else
    *carry = before + last;
#endif
    sums.lo += before;
    return sums;
}

/* ---- y = a*y' + b where a and b are each bar's own. ---- */

#define CHAIN_UPPER(j, s) ((j) >> (s)&1)
#define CHAIN_LANE(j, s)  (CHAIN_UPPER(j, s) ? DECAY_LANE(j, s) : W)
#define CHAIN_LANE_0(j)   CHAIN_LANE(j, 0)
#define CHAIN_LANE_1(j)   CHAIN_LANE(j, 1)
#define CHAIN_LANE_2(j)   CHAIN_LANE(j, 2)
#define CHAIN_LANE_3(j)   CHAIN_LANE(j, 3)
#define CHAIN_STEP(a, b, s) \
    do { \
        vec before_a = VEC_SHUFFLE2(a, vec_all(1), CHAIN_LANE_##s), \
            before_b = VEC_SHUFFLE2(b, vec_all(0), CHAIN_LANE_##s); \
        b = a * before_b + b; \
        a = a * before_a; \
    } while (0)

/* Lane j is of bars 0 to j: y[j] = a[j]*carry + b[j]. *carry becomes the last. */
static inline vec chain_next(vec a, vec b, vec *carry)
{
    CHAIN_STEP(a, b, 0);
#if LOG_W > 1
    CHAIN_STEP(a, b, 1);
#endif
#if LOG_W > 2
    CHAIN_STEP(a, b, 2);
#endif
#if LOG_W > 3
    CHAIN_STEP(a, b, 3);
#endif
    vec y = a * *carry + b;
    *carry = vec_last(a) * *carry + vec_last(b);
    return y;
}

#endif
