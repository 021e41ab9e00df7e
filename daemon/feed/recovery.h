/* How long a symbol takes to recover: from the end of an interruption that the feed saw (its connection was
 * down, one of its streams was stale, the venue banned the address, bars were missing) to its next closed
 * bar. Bars that follow missing ones are not there before those are fetched, or are given up and recorded as
 * a gap. Pure: times are passed in, milliseconds of any one clock that does not go back. */
#ifndef DAEMON_FEED_RECOVERY_H
#define DAEMON_FEED_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

/* Of one symbol. All zero: nothing happened. */
struct feed_recovery {
    bool interrupted; /* it still is */
    bool awaited;     /* it is not any more, and no bar has closed since */
    bool lost;        /* awaited, since bars seemed to be missing while data came */
    int64_t ended_ms; /* when that was so first */
    uint64_t bars;    /* how many had closed by then */
};

/* Of a venue: those that were completed. */
struct feed_recoveries {
    uint64_t n;
    int64_t last_ms, worst_ms, sum_ms; /* how long they took */
};

/* The symbol is interrupted, or is not; `bars`: how many have closed. */
void feed_recovery_judge(struct feed_recovery *recovery, bool interrupted, uint64_t bars, int64_t now_ms);

/* Bars seem to be missing while data came: an interruption that is over. */
void feed_recovery_lost(struct feed_recovery *recovery, uint64_t bars, int64_t now_ms);

/* None were: there was no trade. */
void feed_recovery_none_lost(struct feed_recovery *recovery);

/* So many bars have closed: is it recovered by that? */
bool feed_recovery_bars(struct feed_recovery *recovery, uint64_t bars, int64_t now_ms,
                        struct feed_recoveries *sum);

/* No bar is to be expected: its market closed, or it is not streamed any more. */
void feed_recovery_drop(struct feed_recovery *recovery);

#endif
