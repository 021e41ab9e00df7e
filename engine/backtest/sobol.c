#include "engine/backtest/sobol.h"

/* A dimension's primitive polynomial (degree, inner coefficients as bits) and its first direction numbers.
 * The first dimension has none: it is van der Corput's sequence. */
struct polynomial {
    uint8_t degree, inner, first[7];
};

static const struct polynomial polynomials[BACKTEST_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
};

/* v(k) = v(k - s) ^ v(k - s) >> s ^ the inner terms. */
static void expand(const struct polynomial *of, uint32_t v[32])
{
    int s = of->degree;
    for (int k = 0; k < s; k++)
        v[k] = (uint32_t)of->first[k] << (31 - k);
    for (int k = s; k < 32; k++) {
        v[k] = v[k - s] ^ (v[k - s] >> s);
        for (int j = 1; j < s; j++)
            v[k] ^= of->inner >> (s - 1 - j) & 1 ? v[k - j] : 0;
    }
}

void backtest_sobol_init(struct backtest_sobol *sobol)
{
    for (int k = 0; k < 32; k++)
        sobol->directions[0][k] = UINT32_C(1) << (31 - k);
    for (int d = 1; d < BACKTEST_SOBOL_DIMENSIONS; d++)
        expand(&polynomials[d - 1], sobol->directions[d]);
}

uint32_t backtest_sobol_at(const struct backtest_sobol *sobol, uint32_t i, int dimension)
{
    uint32_t gray = i ^ (i >> 1), x = 0;
    for (int k = 0; gray; k++, gray >>= 1)
        x ^= gray & 1 ? sobol->directions[dimension][k] : 0;
    return x;
}
