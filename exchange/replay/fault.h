/* Faults on request: what goes wrong, and when.
 *
 *   silence@30s      30 s of wall time after the start of play no more data goes out; sockets, pings and REST
 * live on silence@30s+10s  the same, for 10 s close@1000       the first connection that was sent 1000
 * messages is closed, with code 1000, once gap@book         of every 200 differences of a book one is left
 * out garbage          after every 500 messages a connection gets one that is no JSON */
#ifndef EXCHANGE_REPLAY_FAULT_H
#define EXCHANGE_REPLAY_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FAULT_GAP_EVERY = 200,
    FAULT_GARBAGE_EVERY = 500,
    FAULT_ERROR_MAX = 256,
};

struct faults {
    bool silence;
    int64_t silence_from_ns, silence_to_ns; /* since the start of play; to: INT64_MAX for good */
    uint64_t close_after;                   /* messages; 0: never */
    bool gap_book;
    bool garbage;
};

/* Adds what one --fault says. 0, or -EINVAL with a message "what: where: what would be right". */
int fault_parse(struct faults *faults, const char *spec, char error[static FAULT_ERROR_MAX]);

/* Is data held back, so long after the start of play? */
bool fault_silent(const struct faults *faults, int64_t since_start_ns);

/* A frame that no parser may accept; n tells one from the next. */
const char *fault_garbage(uint64_t n);

#endif
