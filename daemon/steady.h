/* A time of day that never goes back and never stands still.
 *
 * It is the wall's time. When that is behind what was said already (the clock was set back, a leap second, a
 * former run whose clock was ahead), time goes on from there by the time that passes, a sixteenth slower, so
 * that the wall catches up: a second within sixteen, a day within sixteen days. Times are ns; "boot" is a
 * clock that never steps and counts a suspend: CLOCK_BOOTTIME. */
#ifndef DAEMON_STEADY_H
#define DAEMON_STEADY_H

#include <stdbool.h>
#include <stdint.h>

struct steady {
    int64_t last_ns, boot_ns; /* what was said last, and when */
    int64_t told_ns;          /* how far ahead of the wall it was told to be; 0: not ahead */
};

/* Goes on from last_ns. */
void steady_begin(struct steady *steady, int64_t last_ns, int64_t boot_ns);

/* The time now. */
int64_t steady_look(const struct steady *steady, int64_t wall_ns, int64_t boot_ns);

/* The same, and the next is not before it. Sets *ret_ahead to how far it is ahead of the wall when that is to
 * be told: once when the wall steps back, again when it does once more; else to 0. Below 100 ms nothing is.
 */
int64_t steady_stamp(struct steady *steady, int64_t wall_ns, int64_t boot_ns, int64_t *ret_ahead);

#endif
