/* A bar on stderr while something long runs; nothing where that is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shows, shown;
    const char *words;
    double started, last; /* seconds, monotonic */
    uint64_t count;
    const char *unit; /* of the count; NULL: there is none */
    const char *note; /* behind it all; NULL, "": nothing */
};

void cli_progress_begin(struct progress *progress, const char *words);
/* ctx: a struct progress. Shows 0..1 at most ten times a second; always true, as a run's callback. */
bool cli_progress_show(void *ctx, double share);
/* So many have been done: it shows how fast, and how long it takes to the end. */
void cli_progress_count(struct progress *progress, uint64_t count, const char *unit);
void cli_progress_end(struct progress *progress);

#endif
