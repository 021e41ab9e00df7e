/* How long the loop's turns take: the longest time that a frame which arrives in between must wait. Of the
 * last five seconds, in fixed memory. Pure except the two functions at the end: time is passed in. */
#ifndef DAEMON_LOOP_TIME_H
#define DAEMON_LOOP_TIME_H

#include <stdint.h>
#include <uv.h>

enum {
    LOOP_TIME_SLICES = 5,
    LOOP_TIME_SLICE_MS = 1000,
    LOOP_TIME_BINS = 80, /* four to the doubling, from 1 µs to 1 s */
};

struct loop_time {
    int64_t slice;    /* the newest one's number: time over LOOP_TIME_SLICE_MS */
    int64_t began_ms; /* 0: not yet */
    int64_t busy_ns[LOOP_TIME_SLICES][LOOP_TIME_BINS]; /* of turns of that length, together */
    int64_t longest_ns[LOOP_TIME_SLICES];
    uint64_t turns[LOOP_TIME_SLICES];
};

/* A turn of that length has ended. */
void daemon_loop_time_turn(struct loop_time *time, int64_t now_ms, int64_t ns);

struct loop_times {
    double turns_per_second, busy; /* busy: the share of the time, 0 to 1 */
    double wait_p99_ms; /* for a message at a random moment: its turn's whole length, within a fifth */
    double longest_ms;
};
void daemon_loop_time_look(struct loop_time *time, int64_t now_ms, struct loop_times *ret);

/* Measures a loop by the processor time of its thread, so that other programs' use does not count. One per
 * process, until it is stopped. */
void daemon_loop_time_start(uv_loop_t *loop);
void daemon_loop_time_now(uv_loop_t *loop, struct loop_times *ret);
void daemon_loop_time_stop(void);

#endif
