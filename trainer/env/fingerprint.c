#include "trainer/env/internal.h"

#include <string.h>

enum { CHAINS = 4, WORD = 8 };

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash << 29 | hash >> 35;
}

uint64_t env_fingerprint(uint64_t before, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t chain[CHAINS], word[CHAINS];
    for (unsigned i = 0; i < CHAINS; i++)
        chain[i] = mixed(before, i + 1);
    size_t left = bytes;
    for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
        memcpy(word, at, sizeof word);
        for (int i = 0; i < CHAINS; i++)
            chain[i] = mixed(chain[i], word[i]);
    }
    memset(word, 0, sizeof word);
    if (left)
        memcpy(word, at, left);
    uint64_t all = bytes;
    for (int i = 0; i < CHAINS; i++)
        all = mixed(all, mixed(chain[i], word[i]));
    return all;
}
