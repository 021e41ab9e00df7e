/* What a strategy's process writes to its standard error: a line at a time to a log, or to our own standard
 * error, and not more than a reader can want. */
#ifndef STRATEGY_PROCESS_SAID_H
#define STRATEGY_PROCESS_SAID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SAID_MAX = 1024,            /* of a line; more is cut */
    SAID_LINES = 100,           /* that a log gets at once, … */
    SAID_LINE_S = 1,            /* … and seconds for each one more; the others are counted */
    SAID_BYTES_MAX = 256 << 10, /* of all processes to our standard error */
};

/* Gets each line without control characters; NULL: they go to our standard error. */
struct strategy_child_log {
    void (*says)(void *ctx, const char *line);
    void *ctx;
};

struct strategy_said {
    struct strategy_child_log log;
    char line[SAID_MAX]; /* that is being written … */
    size_t n;
    char last[SAID_MAX]; /* … and the last whole one that is not empty */
    bool held;           /* the last one is not shown yet: only to our standard error */
    int64_t full_ns;     /* when the log may get SAID_LINES at once again */
    uint64_t left_out;   /* lines since the last one that the log got */
};

/* Takes bytes of it; `now_ns` of clock_now_ns(). To our standard error a line is one behind: what ends a
 * process is its last line, which the error message has (strategy_said_last()). */
void strategy_said_take(struct strategy_said *said, const char *data, size_t len, int64_t now_ns);

/* Shows the line that is held. */
void strategy_said_show(struct strategy_said *said);

/* There is no more of it: takes a last line without its end, and reports what was left out. */
void strategy_said_end(struct strategy_said *said, int64_t now_ns);

/* The last line that is not empty, without blanks before it; "": none. */
const char *strategy_said_last(const struct strategy_said *said);

#endif
