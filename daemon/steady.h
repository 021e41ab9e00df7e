/* A time of day that never goes back and never stands still.
 *
 * It is the wall clock's time. When that is behind a time already used (the clock was set back, a leap
 * second, a former run whose clock was ahead), time continues from there by the time that passes, a
 * sixteenth slower, so that the wall clock catches up: a second within sixteen, a day within sixteen days.
 * Times are ns; "boot" is a clock that never steps and counts a suspend: CLOCK_BOOTTIME. */
#ifndef DAEMON_STEADY_H
#define DAEMON_STEADY_H

#include <stdbool.h>
#include <stdint.h>

struct steady {
    int64_t last_ns, boot_ns; /* the last time returned, and when */
    int64_t reported_ns;      /* how far ahead of the wall clock was reported; 0: not ahead */
};

/* Continues from last_ns. */
void daemon_steady_begin(struct steady *steady, int64_t last_ns, int64_t boot_ns);

/* The time now. */
int64_t daemon_steady_look(const struct steady *steady, int64_t wall_ns, int64_t boot_ns);

/* How the wall clock moved since the time before. */
struct steady_step {
    int64_t ahead_ns; /* how far time is ahead of the wall clock where that is to be reported: once when the
                         clock steps back, again when it does once more; from 100 ms on. Else 0 */
    int64_t jump_ns;  /* how far it jumped forward, beyond the time that passed; from a second on. Else 0 */
    bool caught_up;   /* the wall clock was behind, and no longer is */
};

/* As daemon_steady_look(), and the next result is not before it. */
int64_t daemon_steady_stamp(struct steady *steady, int64_t wall_ns, int64_t boot_ns, struct steady_step *ret);

#endif
