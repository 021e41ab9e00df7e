/* The venue's own book of one symbol, maintained through a recording.
 *
 * It starts with a snapshot and takes the differences that follow it. After a hole in them it is not known:
 * differences are kept until a snapshot comes that they follow, and that snapshot with the newer ones is
 * the book again. Without any snapshot the book is what its differences say, since the last hole. */
#ifndef EXCHANGE_REPLAY_FOLLOW_H
#define EXCHANGE_REPLAY_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/frame.h"
#include "exchange/replay/ladder.h"
#include "exchange/replay/source.h"

struct follow_kept; /* one difference */

struct follow {
    struct replay_ladder bids, asks;
    uint64_t last_id; /* 0: nothing yet */
    bool has_snapshot;
    bool lost; /* behind a hole */

    struct follow_kept *kept; /* since the hole, in order, without one between them */
    size_t n_kept, cap_kept;
    struct level *levels; /* of all that is kept: bids, then asks of each */
    size_t n_levels, cap_levels;
};

void replay_follow_init(struct follow *follow);
void replay_follow_finish(struct follow *follow);

/* A snapshot after update last_id; one that adds nothing new, or that is older than what it would have to
 * connect to, is left out. 0 or -ENOMEM. */
int replay_follow_snapshot(struct follow *follow, uint64_t last_id, const struct frame_levels *levels);

/* A difference of updates first_id..last_id. `keep`: behind a hole it is kept, for a snapshot may come. 0 or
 * -ENOMEM. */
int replay_follow_update(struct follow *follow, uint64_t first_id, uint64_t last_id,
                         const struct frame_levels *levels, bool keep);

/* False while it is not known. */
bool replay_follow_book(const struct follow *follow, struct source_book *ret);

#endif
