/* The lines that a process was given last, to give them again to the one that is started in its place. */
#ifndef STRATEGY_PROCESS_HISTORY_H
#define STRATEGY_PROCESS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line without its end, from which symbol's bar. */
struct process_past {
    int symbol;
    uint64_t number; /* of the line, from 1 */
    char *text;
    size_t len, cap;
    bool history; /* it says so already */
};

struct process_history {
    struct process_past *lines; /* the line with number i is at i % most */
    size_t most;
    uint64_t n; /* lines so far */
};

/* Keeps the last `most`. 0 or -ENOMEM. */
int strategy_history_init(struct process_history *history, size_t most);
void strategy_history_finish(struct process_history *history);

/* Adds a line with its end; its number. Without memory it is not kept. */
uint64_t strategy_history_add(struct process_history *history, int symbol, const char *line, size_t len,
                              bool is_history);

/* All of them but those up to numbers[symbol], as lines of history, oldest first, in one text for free();
 * NULL: without memory. *ret_n: how many. */
char *strategy_history_text(const struct process_history *history, const uint64_t *numbers, size_t *ret_n,
                            size_t *ret_len);

#endif
