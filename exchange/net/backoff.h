/* How long to wait before the next attempt: exponential, with full jitter, so that many clients that were
 * cut off at the same time do not return at the same time. Pure: the caller owns the clock and the seed. */
#ifndef EXCHANGE_NET_BACKOFF_H
#define EXCHANGE_NET_BACKOFF_H

#include <stdint.h>

struct backoff {
    int64_t min_ms, max_ms;
    uint32_t failures; /* since the last reset */
    uint64_t random;   /* state of the generator */
};

/* 0 < min_ms <= max_ms. Equal seeds give equal delays. */
void net_backoff_init(struct backoff *backoff, int64_t min_ms, int64_t max_ms, uint64_t seed);

/* Counts a failure and returns the delay in ms: uniform in min_ms..min(max_ms, min_ms·2^failures). */
int64_t net_backoff_next(struct backoff *backoff);

/* The connection works again. */
void net_backoff_reset(struct backoff *backoff);

/* Uniform in 0..below-1 from the same generator, for other jitter; 0 when below <= 0. */
int64_t net_backoff_jitter(struct backoff *backoff, int64_t below);

#endif
