#include "exchange/net/backoff.h"

void net_backoff_init(struct backoff *backoff, int64_t min_ms, int64_t max_ms, uint64_t seed)
{
    *backoff = (struct backoff){.min_ms = min_ms, .max_ms = max_ms, .random = seed};
}

/* splitmix64: any seed will do, 0 included. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t net_backoff_jitter(struct backoff *backoff, int64_t below)
{
    if (below <= 0)
        return 0;
    return (int64_t)(((unsigned __int128)next_random(&backoff->random) * (uint64_t)below) >> 64);
}

int64_t net_backoff_next(struct backoff *backoff)
{
    int64_t ceiling = backoff->min_ms;
    for (uint32_t i = 0; i <= backoff->failures && ceiling < backoff->max_ms; i++)
        ceiling = ceiling > backoff->max_ms / 2 ? backoff->max_ms : ceiling * 2;
    if (backoff->failures < UINT32_MAX)
        backoff->failures++;
    return backoff->min_ms + net_backoff_jitter(backoff, ceiling - backoff->min_ms + 1);
}

void net_backoff_reset(struct backoff *backoff)
{
    backoff->failures = 0;
}
