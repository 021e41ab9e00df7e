/* Logarithm and arcus tangent for loops that the compiler vectorises: no branch, no table, the series of
 * step/exact_math.h without the corrections that make those exact to the last bit. The logarithm is within
 * 1.1 units in the last place, the arcus tangent within 2.5. */
#ifndef INDICATORS_GPU_FAST_FUNCTIONS_H
#define INDICATORS_GPU_FAST_FUNCTIONS_H

#include "indicators_gpu/fast/wide.h"
#include "indicators_gpu/step/exact_math.h"

/* Natural logarithm of normal numbers above 0.
 *
 * x = 2^e (1 + f), 1 + f from sqrt(1/2) to sqrt(2): e is read off the bits of x / sqrt(1/2), as a double made
 * by the bits of 2^52 + e. log(1 + f) = 2s + s R with s = f / (2 + f). */
static inline vec_double function_log(vec_double x)
{
    typedef uint64_t bits_of __attribute__((vector_size(VEC_BYTES), may_alias));
    const uint64_t one = 0x3ff0000000000000u, half_root = 0x3fe6a09e667f3bcdu, exponent = 0xfff0000000000000u;
    const double ln2 = 0x1.62e42fefa39efp-1, ln2_rest = 0x1.abc9e3b39803fp-56;
    bits_of bits = (bits_of)x, scaled = bits + (one - half_root);

    bits -= (scaled & exponent) - one;
    vec_double f = (vec_double)bits - 1.0;
    vec_double whole = (vec_double)(scaled >> 52 | 0x4330000000000000u) - (0x1p52 + 1023.0);

    vec_double s = f / (2.0 + f), z = s * s, r = z * (2.0 / 21.0) + 2.0 / 19.0;
    r = r * z + 2.0 / 17.0;
    r = r * z + 2.0 / 15.0;
    r = r * z + 2.0 / 13.0;
    r = r * z + 2.0 / 11.0;
    r = r * z + 2.0 / 9.0;
    r = r * z + 2.0 / 7.0;
    r = r * z + 2.0 / 5.0;
    r = r * z + 2.0 / 3.0;
    /* 2s = f - s f: f is exact where it is all there is */
    return whole * ln2 + (f + (s * (r * z - f) + whole * ln2_rest));
}

/* log(to / from) of n pairs; odd(from, to) for all where one of them is not above 0, or the quotient is not
 * normal. That counts the pairs up to the end of the last one's vector, for which all have room. */
static inline void function_log_quotients(const double *to, const double *from, size_t n,
                                          double (*odd)(double from, double to), double *logs)
{
    typedef int64_t mask_of __attribute__((vector_size(VEC_BYTES), may_alias));
    mask_of sound = ~(mask_of){0};
    for (size_t i = 0; i < n; i += WIDE) {
        vec_double over = wide_load(to + i), under = wide_load(from + i), quotient = over / under;
        sound &= (mask_of)(over > 0.0) & (mask_of)(under > 0.0);
        sound &= (mask_of)(quotient >= 0x1p-1022) & (mask_of)(quotient <= 0x1p1023);
        wide_store(logs + i, function_log(quotient));
    }
    bool all = true;
    for (size_t lane = 0; lane < WIDE; lane++)
        all = all && sound[lane] != 0;
    for (size_t i = 0; !all && i < n; i++)
        logs[i] = odd(from[i], to[i]);
}

/* Arcus tangent in radians: arctan(a) = arctan(c) + arctan((a - c) / (1 + c a)), c of 0, 1/2, 1, 2 or
 * infinity. */
static inline double function_atan(double x)
{
    double a = fabs(x), base = 0.0, over = a, under = 1.0;
    base = a >= 0.25 ? 0x1.dac670561bb4fp-2 : base;
    over = a >= 0.25 ? a - 0.5 : over;
    under = a >= 0.25 ? 1.0 + 0.5 * a : under;
    base = a >= 0.75 ? 0x1.921fb54442d18p-1 : base;
    over = a >= 0.75 ? a - 1.0 : over;
    under = a >= 0.75 ? a + 1.0 : under;
    base = a >= 1.375 ? 0x1.1b6e192ebbe44p+0 : base;
    over = a >= 1.375 ? 0.5 * a - 1.0 : over;
    under = a >= 1.375 ? a + 0.5 : under;
    base = a >= 4.0 ? 0x1.921fb54442d18p+0 : base;
    over = a >= 4.0 ? -1.0 : over;
    under = a >= 4.0 ? a : under;
    double t = over / under, angle = base + (t - t * exact_atan_series(t * t));
    return copysign(angle, x);
}

#endif
