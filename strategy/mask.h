/* Comparisons of whole columns as bit masks, for strategies' scan(): bit i % 64 of word i / 64 is bar i, bits
 * past the last bar are 0. NaN compares false. */
#ifndef STRATEGY_MASK_H
#define STRATEGY_MASK_H

#include <stddef.h>
#include <stdint.h>

#include "strategy/strategy.h"

enum { MASK_BITS = 64 };

static inline size_t mask_words(size_t n)
{
    return (n + MASK_BITS - 1) / MASK_BITS;
}

/* Where a is above b, and where it is below, of n values each. */
void mask_columns(const double *a, const double *b, size_t n, uint64_t *above, uint64_t *below);

/* Where a is above the level, and where it is below. */
void mask_level(const double *a, double level, size_t n, uint64_t *above, uint64_t *below);

/* The kernel of both: whole words; b moves on by b_step values a word, so that 64 equal ones can stand for a
 * column. */
typedef void mask_compare(const double *a, const double *b, size_t b_step, size_t words, uint64_t *above,
                          uint64_t *below);

/* All that this processor runs, the fastest last, which is used; at most MASK_KERNELS. */
enum { MASK_KERNELS = 3 };
size_t mask_kernels(mask_compare *ret[static MASK_KERNELS]);

/* The first bar at which none of the first n_outputs columns is NaN: they are at their beginning only. */
size_t mask_known_from(const struct strategy_columns *columns, size_t n_outputs);

/* Bits of word `word` that are bars from `from` on and before n. */
static inline uint64_t mask_range(size_t word, size_t from, size_t n)
{
    size_t first = word * MASK_BITS;
    uint64_t mask = ~UINT64_C(0);
    if (from > first)
        mask = from - first < MASK_BITS ? mask << (from - first) : 0;
    if (n < first + MASK_BITS)
        mask &= n > first ? ~(~UINT64_C(0) << (n - first)) : 0;
    return mask;
}

/* Bits that are set where the bit before is not. *before is the last bit of the word before, and becomes this
 * word's. */
static inline uint64_t mask_rises(uint64_t mask, uint64_t *before)
{
    uint64_t rises = mask & ~(mask << 1 | *before);
    *before = mask >> (MASK_BITS - 1);
    return rises;
}

#endif
