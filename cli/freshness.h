/* How far a figure may be trusted, by its age. */
#ifndef CLI_FRESHNESS_H
#define CLI_FRESHNESS_H

#include <stdint.h>

/* Beyond three times the expected interval a figure is stale, beyond ten gone; that of a closed market is
 * the latest there is, however old. */
enum freshness { FRESH, CLOSED, STALE, GONE };

enum { FRESHNESS_TRAINING_MS = 1000 }; /* between what is stored of a training that a worker is at */

/* Of anything that is `age_ms` old (negative: not known) and is expected again every expected_ms. */
static inline enum freshness freshness_of(int64_t age_ms, int64_t expected_ms)
{
    if (age_ms < 0 || age_ms > 10 * expected_ms)
        return GONE;
    return age_ms > 3 * expected_ms ? STALE : FRESH;
}

static inline enum freshness freshness_worse(enum freshness a, enum freshness b)
{
    return a > b ? a : b;
}

#endif
