#include "engine/market/exact.h"

#include <math.h>

#include "exchange/decimal.h"

bool market_store_exact(double x, int digits, int scale)
{
    double unit = (double)decimal_pow10(digits), units = round(x * unit);
    int64_t back;
    if (!(fabs(units) <= MARKET_EXACT_MOST) || units / unit != x)
        return false;
    return decimal_from_double(x, scale, &back) == 0 &&
           (int128_t)back == (int128_t)units * decimal_pow10(scale - digits);
}

/* Adding and taking away 1.5 * 2^52 rounds a smaller number to a whole one. */
bool market_store_exact_all(const double *x, size_t n, int digits, int scale)
{
    const double unit = (double)decimal_pow10(digits), at_scale = (double)decimal_pow10(scale),
                 more = (double)decimal_pow10(scale - digits), magic = 6755399441055744.0;
    unsigned bad = 0;
    for (size_t i = 0; i < n; i++) {
        double units = x[i] * unit + magic - magic, whole = units * more;
        bad |= !(x[i] > 0) | !(whole <= MARKET_EXACT_MOST / 2) | (units / unit != x[i]) |
               !(fabs(x[i] * at_scale - whole) < 0.5);
    }
    return !bad;
}
