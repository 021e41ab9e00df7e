/* How many messages came in the last minute, and how late: in fixed memory, six slices of ten seconds, each
 * with a histogram of four bins to the doubling. Pure: time is passed in. */
#ifndef DAEMON_FEED_MEASURE_H
#define DAEMON_FEED_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MEASURE_SLICES = 6,
    MEASURE_SLICE_MS = 10000,
    MEASURE_BINS = 72, /* from 0.25 ms to 65 s */
};

/* All zero: nothing came. */
struct measure {
    int64_t slice;    /* the newest slice's number: time over MEASURE_SLICE_MS */
    int64_t began_ms; /* the first message; 0: none came */
    uint32_t messages[MEASURE_SLICES], bad[MEASURE_SLICES];
    uint16_t bins[MEASURE_SLICES][MEASURE_BINS];
};

/* How late a message of that moment is, in microseconds, 0 for one of the future. The venue's clock, as its
 * replies say it, decides; where it and this machine's are a second apart or more, either may be off from
 * what dates the messages, and the one by which it is less late, and not of the future by more than a
 * quarter of a second, is taken. */
int64_t feed_measure_late_us(int64_t venue_ns, int64_t wall_ns, int64_t event_ns);

/* One message. latency_us: of the venue's own time; below 0: it had none. */
void feed_measure_message(struct measure *measure, int64_t now_ms, int64_t latency_us);
void feed_measure_bad(struct measure *measure, int64_t now_ms); /* one that cannot be read */

struct measured {
    double per_second;
    uint64_t messages, bad; /* of the last minute */
    bool have_latency;
    double latency_p50_ms, latency_p99_ms; /* within a fifth of it */
};
/* Forgets what is older than a minute. */
void feed_measure_look(struct measure *measure, int64_t now_ms, struct measured *ret);

#endif
