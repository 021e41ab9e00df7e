/* Seeded random numbers: SplitMix64 (Steele, Lea, Flood 2014), the same on every machine. */
#ifndef EXCHANGE_REPLAY_CHANCE_H
#define EXCHANGE_REPLAY_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance)
{
    uint64_t z = chance->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in 0..n-1 (n < 2^32; the bias is below 2^-32). */
static inline int64_t chance_below(struct chance *chance, int64_t n)
{
    return (int64_t)(((chance_next(chance) >> 32) * (uint64_t)n) >> 32);
}

/* Uniform in lo..hi. */
static inline int64_t chance_range(struct chance *chance, int64_t lo, int64_t hi)
{
    return lo + chance_below(chance, hi - lo + 1);
}

/* Uniform in [0, 1): of 2^53 numbers. */
static inline double chance_unit(struct chance *chance)
{
    return (double)(chance_next(chance) >> 11) * 0x1p-53;
}

/* Bell-shaped around 0: the sum of four uniform numbers of -1..1, in units of 2^-20; sigma is 1.155. */
static inline int64_t chance_bell(struct chance *chance)
{
    int64_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += chance_range(chance, -(1 << 20), 1 << 20);
    return sum;
}

/* Heavy-tailed 1..2^bits: each power of two is equally likely. */
static inline int64_t chance_heavy(struct chance *chance, int bits)
{
    return 1 + chance_below(chance, (int64_t)1 << chance_range(chance, 1, bits));
}

#endif
