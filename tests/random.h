/* The tests' random numbers: SplitMix64, the same on every machine. A program that draws prints the seed;
 * the environment variable PAPERTAPE_SEED pins it. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct random {
    uint64_t state;
};

static inline struct random random_seeded(const char *what, uint64_t fallback)
{
    const char *pinned = getenv("PAPERTAPE_SEED");
    uint64_t seed = pinned ? strtoull(pinned, NULL, 0) : fallback;
    printf("%s: PAPERTAPE_SEED=%llu\n", what, (unsigned long long)seed);
    return (struct random){seed};
}

static inline uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Evenly in [low, high]. */
static inline int64_t random_between(struct random *random, int64_t low, int64_t high)
{
    return low + (int64_t)(random_next(random) % (uint64_t)(high - low + 1));
}

static inline bool random_chance(struct random *random, int percent)
{
    return random_between(random, 0, 99) < percent;
}

#endif
