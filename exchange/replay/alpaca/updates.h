/* A recording of the trading stream: a frame a line, plain or gzip. What is no trade update (the answers to
 * authentication and listening) is passed over. */
#ifndef EXCHANGE_REPLAY_ALPACA_UPDATES_H
#define EXCHANGE_REPLAY_ALPACA_UPDATES_H

#include <stddef.h>

enum { UPDATES_LINE_MAX = 64 << 10, UPDATES_ERROR_MAX = 256 };

struct updates {
    char **frames; /* as they stand */
    size_t n;
};

/* Adds a file's. 0; -EINVAL, -ENOENT and its like, or -ENOMEM, with "what: where: what would be right". */
int replay_updates_read(struct updates *updates, const char *path, char error[static UPDATES_ERROR_MAX]);
void replay_updates_finish(struct updates *updates);

#endif
