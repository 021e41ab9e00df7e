/* The order of minibatches: a bijection of [0, n) that can be evaluated at any place, so that a device's
 * threads need no sort, and CPU and device take the same rows. Feistel rounds over the least even number of
 * bits that holds n - 1, their keys words of Philox; values beyond n - 1 go through the rounds again (cycle
 * walking: Black, Rogaway 2002). Narrow halves and few rounds favour some orders over others: hence the least
 * width and the number of rounds, with which no n is uneven beyond chance (tests/trainer/ppo/shuffle.c). */
#ifndef TRAINER_PPO_SHUFFLE_H
#define TRAINER_PPO_SHUFFLE_H

#include "trainer/env/philox.h"

enum { PPO_SHUFFLE_ROUNDS = 8, PPO_SHUFFLE_HALF_MIN = 4 };

struct ppo_shuffle {
    uint32_t n, half; /* half: bits of each half */
    uint32_t keys[PPO_SHUFFLE_ROUNDS];
};

/* Of epoch `epoch`, counted through all iterations from 0; 1 <= n <= 2^31. */
FILL_RULE struct ppo_shuffle ppo_shuffle_make(uint64_t seed, uint64_t epoch, uint32_t n)
{
    struct ppo_shuffle ret = {n, PPO_SHUFFLE_HALF_MIN, {0}};
    for (uint32_t i = 0; i < PPO_SHUFFLE_ROUNDS; i += 4) {
        struct philox words =
            philox(seed, i / 4, (uint32_t)epoch, (uint32_t)(epoch >> 32), (uint32_t)PPO_DRAW_SHUFFLE << 24);
        for (uint32_t k = 0; k < 4; k++)
            ret.keys[i + k] = words.word[k];
    }
    while ((uint64_t)n > (uint64_t)1 << (2 * ret.half))
        ret.half++;
    return ret;
}

/* Once through the rounds: a bijection of [0, 2^(2 half)). */
FILL_RULE uint32_t ppo_shuffle_once(const struct ppo_shuffle *shuffle, uint32_t i)
{
    const uint32_t mask = (1u << shuffle->half) - 1;
    uint32_t left = i >> shuffle->half, right = i & mask;
    for (int round = 0; round < PPO_SHUFFLE_ROUNDS; round++) {
        /* the finaliser of MurmurHash3, a bijection that mixes all bits */
        uint32_t mixed = right + shuffle->keys[round];
        mixed = (mixed ^ (mixed >> 16)) * 0x85EBCA6Bu;
        mixed = (mixed ^ (mixed >> 13)) * 0xC2B2AE35u;
        mixed ^= mixed >> 16;
        uint32_t next = left ^ (mixed & mask);
        left = right;
        right = next;
    }
    return left << shuffle->half | right;
}

/* The row at place i < n. */
FILL_RULE uint32_t ppo_shuffle_at(const struct ppo_shuffle *shuffle, uint32_t i)
{
    do
        i = ppo_shuffle_once(shuffle, i);
    while (i >= shuffle->n);
    return i;
}

#endif
