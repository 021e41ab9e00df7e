/* The source of a market: a recording, a synthetic market or bars, played step by step into a tape. */
#ifndef EXCHANGE_REPLAY_SOURCE_H
#define EXCHANGE_REPLAY_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/replay/ladder.h"
#include "exchange/replay/tape.h"

struct replay_source;

/* The venue's own book of one symbol at the position; levels live until the next step. */
struct source_book {
    const struct replay_ladder *bids, *asks;
    uint64_t last_id;
};

struct source_ops {
    /* When the next step is due, in the source's own time (ns, rising); INT64_MAX at the end. */
    int64_t (*due)(struct replay_source *source);
    /* Plays that step, into the tape where there is one. 0, or a negative errno with source->error set. */
    int (*step)(struct replay_source *source);
    /* False when the symbol's book is not known. Of a source with a tape; else NULL. */
    bool (*book)(struct replay_source *source, int symbol, struct source_book *ret);
    void (*destroy)(struct replay_source *source);
};

enum { SOURCE_ERROR_MAX = 512 };

/* First member of every source. */
struct replay_source {
    const struct source_ops *ops;
    struct tape *tape;            /* not owned; NULL: the protocol renders for itself */
    char error[SOURCE_ERROR_MAX]; /* "what: where: what would be right" */
};

static inline void source_destroy(struct replay_source *source)
{
    if (source)
        source->ops->destroy(source);
}

#endif
