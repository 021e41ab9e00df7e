/* What a state in the event log holds apart from the engine: the newest commands with a key and their
 * outcomes, and the newest numbers of commands and alerts. With it a log whose oldest segments are gone
 * still gives a repeated command its first answer, and no number is given twice. */
#ifndef DAEMON_KEPT_H
#define DAEMON_KEPT_H

#include "db/row.h"
#include "record/codec.h"

enum {
    KEPT_COMMANDS_MAX = 10000, /* the newest … */
    KEPT_BYTES_MAX = 8 << 20,  /* … and of those what fits */
};

struct kept_command;

/* {0} is empty. */
struct kept {
    struct kept_command *commands; /* a ring of KEPT_COMMANDS_MAX */
    size_t first, n, bytes;
    struct codec codec;
};
void daemon_kept_finish(struct kept *kept);

/* Copies a row. A pending row, or one without a key, is not kept; it replaces the newest command's with the
 * same id. Without memory nothing happens: the database still has it. */
void daemon_kept_add(struct kept *kept, const struct db_command *row);

/* All of it as bytes, which live until the next call. 0 or -ENOMEM. */
int daemon_kept_encode(struct kept *kept, uint64_t last_command, uint64_t last_alert, const void **ret_bytes,
                       size_t *ret_len);

/* Gives each command, oldest first; texts live for the call. No bytes: no commands, and numbers 0. 0;
 * -EBADMSG; -ENOTSUP for a newer layout; -ENOMEM. */
int daemon_kept_decode(const void *bytes, size_t len, void (*row)(void *ctx, const struct db_command *row),
                       void *ctx, uint64_t *ret_last_command, uint64_t *ret_last_alert);

#endif
