/* Random numbers by counter: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3" (SC 2011). No state: a number is a function of the key and of what it is for, so copies,
 * threads and devices draw the same ones in any order.
 * Of draws that share a key the fourth counter word's highest byte says what they are for. */
#ifndef STRATEGY_PHILOX_H
#define STRATEGY_PHILOX_H

#include "exchange/fill_rules.h"

enum { PHILOX_ROUNDS = 10 };

struct philox {
    uint32_t word[4];
};

FILL_RULE struct philox philox(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        uint32_t high_a = (uint32_t)(a >> 32), high_b = (uint32_t)(b >> 32);
        c0 = high_b ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = high_a ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct philox ret = {{c0, c1, c2, c3}};
    return ret;
}

/* Evenly in [low, high); `low` itself where they are equal. */
FILL_RULE double philox_between(uint32_t word, double low, double high)
{
    return low + (high - low) * ((double)word * 0x1p-32);
}

/* Evenly among 0..count-1. */
FILL_RULE uint32_t philox_below(uint32_t word, uint32_t count)
{
    return (uint32_t)(((uint64_t)word * count) >> 32);
}

#endif
