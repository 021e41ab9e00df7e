/* Logarithm and arcus tangent of our own: the same bits on every host, compiler and device, where libm's and
 * CUDA's differ. Plain double arithmetic in a fixed order, no fused products, no tables.
 *
 * Sources: the series of artanh and arctan, the addition theorem of arctan, and the exact sum and product of
 * two doubles (Knuth, The Art of Computer Programming 2, 4.2.2; Dekker, Numerische Mathematik 18, 1971). The
 * coefficients are the series' own, so there is nothing fitted to trust. Both are within 0.7 units in the
 * last place; tests/indicators_gpu/exact_math.c measures it. */
#ifndef INDICATORS_GPU_STEP_EXACT_MATH_H
#define INDICATORS_GPU_STEP_EXACT_MATH_H

#include <string.h>

#include "indicators_gpu/step/recurrence.h"

/* The rounding error of `sum` as a + b. */
STEP double exact_sum_rest(double a, double b, double sum)
{
    double b_kept = sum - a, a_kept = sum - b_kept;
    return (a - a_kept) + (b - b_kept);
}

/* The upper 26 bits of a number below 2^996. */
STEP double exact_upper(double x)
{
    double wide = 0x1.0000002p27 * x; /* 2^27 + 1 */
    return wide - (wide - x);
}

/* The rounding error of `product` as a * b. */
STEP double exact_product_rest(double a, double b, double product)
{
    double a_hi = exact_upper(a), a_lo = a - a_hi, b_hi = exact_upper(b), b_lo = b - b_hi;
    return ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;
}

/* Natural logarithm; -infinity of 0, NaN of what is below, as libm's log().
 *
 * x = 2^e (1 + f) with 1 + f from sqrt(1/2) to sqrt(2). With s = f / (2 + f), log(1 + f) = 2 artanh(s)
 * = 2s + s R, R = 2 (s^2/3 + s^4/5 + ...); and since 2s = f - h + s h, h = f^2 / 2, it is f - h + s (h + R),
 * whose first two terms are known exactly. s^2 is below 0.0295: ten terms leave 2^-60 of the whole. */
STEP double exact_log(double x)
{
    const double ln2_hi = 0x1.62e42fefa2p-1, ln2_lo = 0x1.9ef35793c7673p-41; /* e * ln2_hi is exact */
    if (!(x > 0.0))
        return x == 0.0 ? -INFINITY : NAN;
    if (x > 0x1.fffffffffffffp1023)
        return x;

    int e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    e += (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&x, &bits, sizeof(x));
    if (x > 0x1.6a09e667f3bcdp0) { /* sqrt(2) */
        x *= 0.5;
        e++;
    }

    double f = x - 1.0, s = f / (2.0 + f), z = s * s;
    double r = 2.0 / 21.0;
    r = r * z + 2.0 / 19.0;
    r = r * z + 2.0 / 17.0;
    r = r * z + 2.0 / 15.0;
    r = r * z + 2.0 / 13.0;
    r = r * z + 2.0 / 11.0;
    r = r * z + 2.0 / 9.0;
    r = r * z + 2.0 / 7.0;
    r = r * z + 2.0 / 5.0;
    r = r * z + 2.0 / 3.0;
    double half = 0.5 * f, h = half * f, h_rest = exact_product_rest(half, f, h);
    double whole = (double)e * ln2_hi, first = whole + f, sum = first - h;
    double rest = exact_sum_rest(whole, f, first) + exact_sum_rest(first, -h, sum);
    return sum + (rest + ((s * (h + r * z) - h_rest) + (double)e * ln2_lo));
}

/* z P of arctan(t) = t - t z P, where z = t^2 is at most 1/16: fourteen terms leave 2^-60. */
STEP double exact_atan_series(double z)
{
    double p = -1.0 / 29.0;
    p = p * z + 1.0 / 27.0;
    p = p * z - 1.0 / 25.0;
    p = p * z + 1.0 / 23.0;
    p = p * z - 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z - 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z - 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z - 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z - 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    return p * z;
}

/* Arcus tangent in radians; NaN of NaN.
 *
 * arctan(a) = arctan(c) + arctan((a - c) / (1 + c a)), with c of 0, 1/2, 1, 2 and infinity, so that the
 * numerator is exact; what the denominator and the quotient lose is carried along. */
STEP double exact_atan(double x)
{
    double a = fabs(x);
    if (!(a > 0x1p-28))
        return x;
    if (a < 0.25)
        return x - x * exact_atan_series(x * x);

    double base, rest, over, scale, shift; /* t = over / (scale + shift) */
    if (a < 0.75) {
        base = 0x1.dac670561bb4fp-2; /* arctan(1/2) */
        rest = 0x1.a2b7f222f65e2p-56;
        over = a - 0.5, scale = 1.0, shift = 0.5 * a;
    } else if (a < 1.375) {
        base = 0x1.921fb54442d18p-1; /* arctan(1) */
        rest = 0x1.1a62633145c07p-55;
        over = a - 1.0, scale = a, shift = 1.0;
    } else if (a < 4.0) {
        base = 0x1.1b6e192ebbe44p+0; /* arctan(2) */
        rest = 0x1.b1b466a88828ep-54;
        over = 0.5 * a - 1.0, scale = a, shift = 0.5;
    } else {
        base = 0x1.921fb54442d18p+0; /* pi/2 */
        rest = 0x1.1a62633145c07p-54;
        if (a > 0x1p60)
            return x < 0.0 ? -base : base;
        over = -1.0, scale = a, shift = 0.0;
    }
    double under = scale + shift, under_rest = exact_sum_rest(scale, shift, under);
    double t = over / under, product = t * under;
    double t_rest = (((over - product) - exact_product_rest(t, under, product)) - t * under_rest) / under;
    double sum = base + t;
    double small = (rest + t_rest) - t * exact_atan_series(t * t);
    sum += exact_sum_rest(base, t, sum) + small;
    return x < 0.0 ? -sum : sum;
}

/* x, at most some thousands in size, less the nearest multiple of pi/2; which multiple in *ret_quarter, 0 to
 * 3. */
STEP double exact_quarter_rest(double x, int *ret_quarter)
{
    const double half_pi = 0x1.921fb544p+0, half_pi_rest = 0x1.0b4611a626331p-34; /* 33 bits, and 53 */
    double k = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
    *ret_quarter = (int)(k - 4.0 * floor(k / 4.0));
    return (x - k * half_pi) - k * half_pi_rest;
}

/* Of |x| up to pi/4, by the series: within a unit in the last place. */
STEP double exact_sin_series(double x)
{
    double z = x * x, p = 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return x + x * (z * p);
}

STEP double exact_cos_series(double x)
{
    double z = x * x, p = 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    return (1.0 - 0.5 * z) + z * z * p;
}

/* Sine and cosine of |x| up to some thousands; 0 and 1 for what is not finite or larger. */
STEP void exact_sin_cos(double x, double *ret_sin, double *ret_cos)
{
    int quarter = 0;
    double r = fabs(x) < 65536.0 ? exact_quarter_rest(x, &quarter) : 0.0;
    double s = exact_sin_series(r), c = exact_cos_series(r);
    *ret_sin = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    *ret_cos = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

/* ln(to / from); 0 unless both are above 0, since the return is undefined then. The logarithms are subtracted
 * only where the quotient leaves the range of full precision. */
STEP double exact_log_quotient(double from, double to)
{
    if (!(from > 0.0 && to > 0.0))
        return 0.0;
    double quotient = to / from;
    if (quotient >= 0x1p-1022 && quotient <= 0x1.fffffffffffffp1023)
        return exact_log(quotient);
    return exact_log(to) - exact_log(from);
}

#endif
