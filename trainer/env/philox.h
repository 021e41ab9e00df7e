/* Random numbers by counter: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3" (SC 2011). No state: a number is a function of the key and of what it is for, so copies,
 * threads and devices draw the same ones in any order. */
#ifndef TRAINER_ENV_PHILOX_H
#define TRAINER_ENV_PHILOX_H

#include "exchange/fill_rules.h"

enum { PHILOX_ROUNDS = 10 };

/* What the fourth counter word says a draw is for, in its highest byte, so that no two draws of one seed
 * share a counter. 0: an episode's beginning, trainer/env/begin.h. */
enum { PPO_DRAW_ACTION = 1, PPO_DRAW_SHUFFLE = 2, PPO_DRAW_WORLD = 3, PPO_DRAW_INIT = 4, STUDY_DRAW = 5 };

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
