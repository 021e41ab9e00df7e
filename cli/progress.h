/* A bar on stderr while something long runs; nothing where that is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool shows, shown;
    const char *words;
    double started, last; /* seconds, monotonic */
};

void cli_progress_begin(struct progress *progress, const char *words);
/* ctx: a struct progress. Shows 0..1 at most ten times a second; always true, as a run's callback. */
bool cli_progress_show(void *ctx, double share);
void cli_progress_end(struct progress *progress);

#endif
