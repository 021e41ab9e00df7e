/* A recorded market of this venue, as papertaped --record keeps it: a journal of frames, JSON or msgpack,
 * and of replies. Each message goes to the subscribers of its channel and symbol, in their encoding,
 * whatever the feed; a late subscriber of a coin's book gets the whole book first. REST returns bars as
 * they were known at the position, from replies and stream; assets, actions, books and the like from the
 * newest reply to that request; clock, calendar and account are those of the synthetic market. */
#ifndef EXCHANGE_REPLAY_ALPACA_RECORDED_H
#define EXCHANGE_REPLAY_ALPACA_RECORDED_H

#include "exchange/replay/alpaca/rest.h"

struct replay_recorded;

/* Reads the files once, for their replies and bars, and starts at the first frame or reply that came at
 * `from_ns` or later. Paths are kept. 0, or -errno with "what: where: what would be right". */
int replay_recorded_open(const char *const *paths, size_t n_paths, int64_t from_ns,
                         struct replay_recorded **ret, char error[static PROTOCOL_ERROR_MAX]);
void replay_recorded_close(struct replay_recorded *recorded); /* NULL is fine */

/* When the next frame or reply came; INT64_MAX at the end. */
int64_t replay_recorded_due(const struct replay_recorded *recorded);

/* Plays it. 0, or -errno with an error. */
int replay_recorded_step(struct alpaca *alpaca, char error[static SOURCE_ERROR_MAX]);

/* False: the synthetic market answers. */
bool replay_recorded_answer(struct rest_call *call);

#endif
