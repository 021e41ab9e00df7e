#include "trainer/study/tpe/normal.h"

#include <math.h>
#include <stdbool.h>

#define SQRT_HALF 0.70710678118654752440
#define SQRT_2PI  2.50662827463100050242

/* log Phi(x), x <= 0. Far out by the asymptotic series, whose next term is below 1e-12 there. */
static double log_tail(double x)
{
    if (x > -37)
        return log(0.5 * erfc(-x * SQRT_HALF));
    double q = 1 / (x * x);
    return -0.5 * x * x - log(-x) - NORMAL_LOG_SQRT_2PI + log1p(q * (-1 + q * (3 + q * (-15 + q * 105))));
}

/* The density's Taylor series around the middle, integrated: its terms are Hermite polynomials. The next term
 * is below 3e-14 for h (|m| + 1) < NARROW. */
#define NARROW 0.5

/* The same divided by phi(m) h. */
static double narrow(double m, double h)
{
    double m2 = m * m, q = 0.25 * h * h;
    double he2 = m2 - 1, he4 = m2 * (m2 - 6) + 3, he6 = m2 * (m2 * (m2 - 15) + 45) - 15;
    double he8 = m2 * (m2 * (m2 * (m2 - 28) + 210) - 420) + 105;
    return 1 + q / 6 * (he2 + q / 20 * (he4 + q / 42 * (he6 + q / 72 * he8)));
}

static bool is_narrow(double m, double h)
{
    return h * (fabs(m) + 1) < NARROW;
}

double tpe_normal_log_mass(double a, double b)
{
    if (a > 0) { /* the left tail is more precise */
        double other = -a;
        a = -b;
        b = other;
    }
    double h = b - a, m = 0.5 * (a + b);
    if (is_narrow(m, h))
        return log(h * narrow(m, h)) - 0.5 * m * m - NORMAL_LOG_SQRT_2PI;
    if (b <= 0) {
        double all = log_tail(b);
        return all + log1p(-exp(log_tail(a) - all));
    }
    double outside =
        0.5 * ((a < -NORMAL_ALL ? 0 : erfc(-a * SQRT_HALF)) + (b > NORMAL_ALL ? 0 : erfc(b * SQRT_HALF)));
    return outside < 0.5 ? log1p(-outside) : log(0.5 * (erf(b * SQRT_HALF) - erf(a * SQRT_HALF)));
}

double tpe_normal_mass(double a, double b, double *ret_log)
{
    double h = b - a, m = 0.5 * (a + b), nearest = m > 0 ? a : -b;
    *ret_log = 0;
    if (is_narrow(m, h)) {
        *ret_log = -0.5 * m * m;
        return h / SQRT_2PI * narrow(m, h);
    }
    if (nearest > 30) {
        *ret_log = tpe_normal_log_mass(a, b);
        return 1;
    }
    if (nearest > 0) /* both ends on one side: the tail is more precise */
        return 0.5 * (erfc(nearest * SQRT_HALF) - erfc((nearest + h) * SQRT_HALF));
    return 0.5 * (erf(b * SQRT_HALF) - erf(a * SQRT_HALF));
}

/* Of p in (0, 0.5]: Abramowitz and Stegun 26.2.23 (within 4.5e-4), and one step of Halley's on it. */
static double quantile_left(double p)
{
    double t = sqrt(-2 * log(p));
    double x =
        (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    double newton = (0.5 * erfc(-x * SQRT_HALF) - p) * SQRT_2PI * exp(0.5 * x * x);
    return x - newton / (1 + 0.5 * x * newton);
}

static double cut_quantile(double u, double a, double b)
{
    if (b < -35)
        return b + log1p((1 - u) * expm1(b * (b - a))) / -b;
    double below = a < -NORMAL_ALL && b > 0 ? 0 : 0.5 * erfc(-a * SQRT_HALF);
    if (b <= 0)
        return quantile_left(below + u * (0.5 * erfc(-b * SQRT_HALF) - below));
    double above = b > NORMAL_ALL ? 0 : 0.5 * erfc(b * SQRT_HALF);
    double inside = 1 - below - above, p = below + u * inside;
    return p <= 0.5 ? quantile_left(p) : -quantile_left(above + (1 - u) * inside);
}

double tpe_normal_cut_quantile(double u, double a, double b)
{
    double x = a > 0 ? -cut_quantile(1 - u, -b, -a) : cut_quantile(u, a, b);
    return fmin(fmax(x, a), b);
}
