/* A recorded market of this venue, as papertaped --record keeps it: a journal of frames, JSON or msgpack, and
 * of replies. Each message goes to who listens to its channel and symbol, in his encoding, whatever the feed;
 * whoever comes late to a coin's book hears the whole one first. Over REST bars are told as they were known
 * at the position, put together from replies and stream; assets, actions, books and the like as the newest
 * reply to that question has them; clock, calendar and account are those of the made market. */
#ifndef EXCHANGE_REPLAY_ALPACA_RECORDED_H
#define EXCHANGE_REPLAY_ALPACA_RECORDED_H

#include "exchange/replay/alpaca/rest.h"

struct replay_recorded;

/* Reads the files once, for their replies and bars, and stands at the first frame or reply that came at
 * `from_ns` or later. Paths are kept. 0, or -errno with "what: where: what would be right". */
int replay_recorded_open(const char *const *paths, size_t n_paths, int64_t from_ns,
                         struct replay_recorded **ret, char error[static PROTOCOL_ERROR_MAX]);
void replay_recorded_close(struct replay_recorded *recorded); /* NULL is fine */

/* When the next frame or reply came; INT64_MAX at the end. */
int64_t replay_recorded_due(const struct replay_recorded *recorded);

/* Plays it. 0, or -errno with an error. */
int replay_recorded_step(struct alpaca *alpaca, char error[static SOURCE_ERROR_MAX]);

/* False: what is made answers. */
bool replay_recorded_answer(struct rest_call *call);

#endif
