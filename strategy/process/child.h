/* A strategy's process with the three pipes to it: lines in, lines out. What they say is not known here. A
 * child is used by the thread that started it, which ends it as well: the kernel kills the process with that
 * thread. */
#ifndef STRATEGY_PROCESS_CHILD_H
#define STRATEGY_PROCESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategy/process/said.h"

enum {
    CHILD_COMMAND_MAX = 512,    /* of its command line, with the NUL */
    CHILD_WORDS_MAX = 64,       /* of it, with the NULL behind them */
    CHILD_LINE_MAX = 128 << 10, /* of a line that it writes, without its end */
    CHILD_QUEUE_MAX = 64 << 20, /* of what it has not read yet */
    CHILD_MEMORY_MIB = 2 << 10, /* of its address space */
    CHILD_FILES_MAX = 1 << 10,
};

struct strategy_child;

/* Starts the program of a command line (exchange/text_words.h), found by PATH, without a shell, in a process
 * group of its own, with soft limits: no core, CHILD_MEMORY_MIB, CHILD_FILES_MAX. Its environment is ours
 * without what a service manager meant for us. 0; a negative errno with one clause that says what would be
 * right. */
int strategy_child_start(const char *command, const struct strategy_child_log *log,
                         struct strategy_child **ret, char *err, size_t err_size);

/* Gives it the bytes, which end with a line's end, as soon as it reads. 0; -ENOBUFS: it has CHILD_QUEUE_MAX
 * to read already. */
int strategy_child_send(struct strategy_child *child, const char *line, size_t len);

enum child_said {
    CHILD_LINE,    /* *ret[*ret_len] is a line, good until the next call; a NUL is behind it */
    CHILD_LONG,    /* the start of a line of more than CHILD_LINE_MAX, the rest of which is skipped */
    CHILD_NOTHING, /* no line until the deadline */
    CHILD_ENDED,   /* there is no line and will be none: it has ended, or closed its standard output */
};

/* The next line that it wrote. `until_ns` of clock_now_ns(): 0 does not wait. */
enum child_said strategy_child_read(struct strategy_child *child, int64_t until_ns, const char **ret,
                                    size_t *ret_len);

/* Ends it, with its process group: at the end of its standard input it has half a second, at SIGTERM another,
 * and what is left then is killed; in a `hurry` after 50 ms. Of a child that has ended, `how` (NULL is fine)
 * says how: "it ended with status 1: NameError: name 'x' is not defined", the last line of its standard
 * error, which is not written to ours then. NULL is fine. */
void strategy_child_end(struct strategy_child *child, bool hurry, char *how, size_t how_size);

#endif
