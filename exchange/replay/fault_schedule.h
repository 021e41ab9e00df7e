/* Faults by time: the text of any fault may end with @TIME or @TIME+LENGTH, and is then what the same text
 * without it is when it is posted at that time, and over after the length. Faults that are on at once are
 * applied in the order of their times; where one ends, what the others say is in effect again. */
#ifndef EXCHANGE_REPLAY_FAULT_SCHEDULE_H
#define EXCHANGE_REPLAY_FAULT_SCHEDULE_H

#include "exchange/replay/fault.h"

enum { FAULT_TIMED_MAX = 64, FAULT_TEXT_MAX = 96 };

/* Times are since the start of play, to_ns INT64_MAX for good. */
struct fault_timed {
    struct fault_span span;
    int64_t posted_ns; /* struct faults's, of when it started */
    bool on;
    char text[FAULT_TEXT_MAX]; /* without its time */
};

struct fault_schedule {
    struct faults now;                         /* what is in effect */
    struct faults plain;                       /* without those of `timed` */
    struct fault_timed timed[FAULT_TIMED_MAX]; /* by from_ns; of one time in the order given */
    size_t n;
};

/* How far the play is: since its start (0 before), and uv_hrtime(), which is 0 on the command line. */
struct fault_moment {
    int64_t elapsed_ns, hr_ns;
};

/* Adds a fault, with or without a time, which counts from `at`, and is in effect with the next run; "none"
 * ends those to come as well. 0, or -EINVAL with a message as replay_fault_parse() has it. */
int replay_fault_schedule_add(struct fault_schedule *schedule, const char *spec,
                              const struct fault_moment *at, char error[static FAULT_ERROR_MAX]);

/* Puts into effect what starts, or ends, by then. Returns when it is to be called next, since the start of
 * play; INT64_MAX: not. */
int64_t replay_fault_schedule_run(struct fault_schedule *schedule, const struct fault_moment *at);

/* All that are on at any time. */
void replay_fault_schedule_all(const struct fault_schedule *schedule, struct faults *ret);

#endif
