/* Where two simple averages of the closes may have crossed, without the averages.
 *
 * d = slow * (sum of the last `fast` closes) - fast * (sum of the last `slow`) has the sign of fast average
 * less slow average. It is updated from bar to bar by what enters and leaves the two windows, eight bars at
 * once, and summed again every BLOCK bars, so that its error stays below `tolerance`; the rounding of the
 * reference's own averages is smaller. Only where |d| is not above it the averages are compared. */
#include <float.h>
#include <math.h>

#include "strategy/clones.h"
#include "strategy/cross.h"
#include "strategy/mask.h"

enum { LANES = 8, BLOCK = 16 * MASK_BITS };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

typedef int64_t flag_lanes __attribute__((vector_size(LANES * sizeof(int64_t))));

static double window(const double *close, size_t i, size_t period)
{
    double sum = 0;
    for (size_t k = i + 1 - period; k <= i; k++)
        sum += close[k];
    return sum;
}

/* The largest |d| whose sign is not certain, for prices up to `most`: the reference's two sums and divisions,
 * the same for the repeated sums, and a block's steps, each of six roundings of at most 4 * fast * slow *
 * most; twice that. */
static double tolerance(size_t fast, size_t slow, double most)
{
    double of_sums = 2.0 * (double)(fast + slow + 4), of_steps = 6.0 * 4.0 * BLOCK;
    return 2.0 * DBL_EPSILON * (of_sums + of_steps) * (double)fast * (double)slow * most;
}

CLONES static double largest(const double *x, size_t n)
{
    double most[4 * LANES] = {0};
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        for (size_t k = 0; k < 4 * LANES; k++)
            most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
    for (; i < n; i++)
        most[0] = x[i] > most[0] ? x[i] : most[0];
    for (size_t k = 1; k < 4 * LANES; k++)
        most[0] = most[k] > most[0] ? most[k] : most[0];
    return most[0];
}

/* d of 64 bars from x[0] on; *before is d of the bar before. */
static inline void differences(const double *x, size_t fast, size_t slow, double *before, double *d)
{
    const lanes zero = {0};
    lanes carry = *before - zero;
    double f = (double)fast, s = (double)slow;
    for (size_t i = 0; i < MASK_BITS; i += LANES) {
        const lanes now = *(const lanes *)(x + i);
        lanes v = s * (now - *(const lanes *)(x + i - fast)) - f * (now - *(const lanes *)(x + i - slow));
        v += __builtin_shufflevector(zero, v, 7, 8, 9, 10, 11, 12, 13, 14);
        v += __builtin_shufflevector(zero, v, 6, 7, 8, 9, 10, 11, 12, 13);
        v += __builtin_shufflevector(zero, v, 4, 5, 6, 7, 8, 9, 10, 11);
        *(lanes *)(d + i) = carry + v;
        carry += __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7);
    }
    *before = carry[0];
}

/* Bit k of lane l becomes bit 8 * k + l. */
static inline uint64_t gather(const flag_lanes *of)
{
    const flag_lanes places = {0, 8, 16, 24, 32, 40, 48, 56};
    flag_lanes flags = *of << places;
    flags |= __builtin_shufflevector(flags, flags, 4, 5, 6, 7, 0, 1, 2, 3);
    flags |= __builtin_shufflevector(flags, flags, 2, 3, 0, 1, 6, 7, 4, 5);
    uint64_t x = (uint64_t)(flags[0] | flags[1]), t;
    t = (x ^ x >> 7) & 0x00aa00aa00aa00aa; /* transposes the 8 by 8 bits: Hacker's Delight, 7-3 */
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000cccc0000cccc;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000f0f0f0f0;
    return x ^ t ^ t << 28;
}

/* The sides of the 64 bars from `at` on, whose d is d[]. */
static inline void sides(const double *close, size_t at, size_t fast, size_t slow, const double *d,
                         double uncertain, uint64_t *above, uint64_t *below)
{
    flag_lanes up = {0}, down = {0};
    for (int k = 0; k < MASK_BITS / LANES; k++) {
        const lanes v = *(const lanes *)(d + k * LANES), zero = {0};
        const flag_lanes bit = (flag_lanes){0} + ((int64_t)1 << k);
        up |= (flag_lanes)(v > zero + uncertain) & bit;
        down |= (flag_lanes)(v < zero - uncertain) & bit;
    }
    *above = gather(&up);
    *below = gather(&down);
    for (uint64_t near = ~(*above | *below); near != 0; near &= near - 1) {
        size_t i = (size_t)__builtin_ctzll(near);
        double of_fast = window(close, at + i, fast) / (double)fast;
        double of_slow = window(close, at + i, slow) / (double)slow;
        *above |= (uint64_t)(of_fast > of_slow) << i;
        *below |= (uint64_t)(of_fast < of_slow) << i;
    }
}

/* Bars from `i` on, one after the other, where less than a word is left or a window begins. */
static void side_of(const double *close, size_t i, size_t fast, size_t slow, uint64_t *above, uint64_t *below)
{
    double of_fast = window(close, i, fast) / (double)fast, of_slow = window(close, i, slow) / (double)slow;
    *above |= (uint64_t)(of_fast > of_slow) << i % MASK_BITS;
    *below |= (uint64_t)(of_fast < of_slow) << i % MASK_BITS;
}

CLONES void strategy_cross_scan_closes(const double *close, size_t n, size_t fast, size_t slow,
                                       const struct strategy_marks *marks)
{
    const double uncertain = tolerance(fast, slow, largest(close, n));
    uint64_t above_before = 0, below_before = 0;
    double d[MASK_BITS], before = 0;
    size_t since_sum = 0; /* bars since d was summed; 0: not yet */
    for (size_t at = (slow - 1) / MASK_BITS * MASK_BITS; at < n; at += MASK_BITS) {
        uint64_t above = 0, below = 0, known = ~UINT64_C(0);
        size_t bars = mask_bars(n, at);
        if (at >= slow && bars == MASK_BITS) {
            if (since_sum % BLOCK == 0)
                before =
                    (double)slow * window(close, at - 1, fast) - (double)fast * window(close, at - 1, slow);
            since_sum += MASK_BITS;
            differences(close + at, fast, slow, &before, d);
            sides(close, at, fast, slow, d, uncertain, &above, &below);
        } else {
            known = 0;
            for (size_t i = at < slow - 1 ? slow - 1 : at; i < at + bars; i++) {
                side_of(close, i, fast, slow, &above, &below);
                known |= UINT64_C(1) << i % MASK_BITS;
            }
        }
        uint64_t turns = mask_rises(above, &above_before) | mask_rises(below, &below_before);
        marks->flat[at / MASK_BITS] = turns;
        marks->holding[at / MASK_BITS] = turns | (known & ~above);
        if (marks->shorted)
            marks->shorted[at / MASK_BITS] = turns | (known & ~below);
    }
}
