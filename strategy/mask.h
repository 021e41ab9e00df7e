/* Comparisons of columns as bit masks, 64 bars a word, for strategies' scan(). NaN compares false. No branch
 * depends on a value, so that compilers vectorise a whole word. */
#ifndef STRATEGY_MASK_H
#define STRATEGY_MASK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "strategy/strategy.h"

enum { MASK_BITS = 64 };

/* Bit i is flags[i], each 0 or 1. The product gathers the eight flags of a word in its top byte. */
static inline uint64_t mask_pack(const uint8_t flags[static MASK_BITS])
{
    uint64_t mask = 0;
    for (size_t k = 0; k < 8; k++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * k, 8);
        mask |= (eight * 0x0102040810204080u >> 56) << 8 * k;
    }
    return mask;
}

/* Bits of the first n <= 64 values: a > b. */
static inline uint64_t mask_above(const double *a, const double *b, size_t n)
{
    uint8_t flags[MASK_BITS] = {0};
    if (n == MASK_BITS)
        for (size_t i = 0; i < MASK_BITS; i++)
            flags[i] = a[i] > b[i];
    else
        for (size_t i = 0; i < n; i++)
            flags[i] = a[i] > b[i];
    return mask_pack(flags);
}

/* a > limit */
static inline uint64_t mask_above_level(const double *a, double limit, size_t n)
{
    uint8_t flags[MASK_BITS] = {0};
    if (n == MASK_BITS)
        for (size_t i = 0; i < MASK_BITS; i++)
            flags[i] = a[i] > limit;
    else
        for (size_t i = 0; i < n; i++)
            flags[i] = a[i] > limit;
    return mask_pack(flags);
}

/* a < limit */
static inline uint64_t mask_below_level(const double *a, double limit, size_t n)
{
    uint8_t flags[MASK_BITS] = {0};
    if (n == MASK_BITS)
        for (size_t i = 0; i < MASK_BITS; i++)
            flags[i] = a[i] < limit;
    else
        for (size_t i = 0; i < n; i++)
            flags[i] = a[i] < limit;
    return mask_pack(flags);
}

/* The first bar at which none of the first n_outputs columns is NaN: they are at the beginning only. */
static inline size_t mask_known_from(const struct strategy_columns *columns, size_t n_outputs)
{
    size_t from = 0;
    for (size_t k = 0; k < n_outputs; k++)
        while (from < columns->n && columns->indicators[k][from] != columns->indicators[k][from])
            from++;
    return from;
}

/* Of n bars, those of the word that begins at bar `at` which are `from` or later. */
static inline uint64_t mask_range(size_t at, size_t from, size_t n)
{
    uint64_t mask = n - at < MASK_BITS ? (UINT64_C(1) << (n - at)) - 1 : ~UINT64_C(0);
    if (from > at)
        mask = from - at < MASK_BITS ? mask & ~UINT64_C(0) << (from - at) : 0;
    return mask;
}

/* Bits that are set where the bit before is not; *before is the last bit of the word before, and becomes this
 * word's. */
static inline uint64_t mask_rises(uint64_t mask, uint64_t *before)
{
    uint64_t rises = mask & ~(mask << 1 | *before);
    *before = mask >> (MASK_BITS - 1);
    return rises;
}

/* How many of n bars are in the word that begins at bar `from`. */
static inline size_t mask_bars(size_t n, size_t from)
{
    return n - from < MASK_BITS ? n - from : MASK_BITS;
}

#endif
