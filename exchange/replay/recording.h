/* Recordings of a venue's frames, played as they were received; several files are merged by time. A file is
 * lines of text or a journal: lines.h.
 *
 * Files are read twice: once when opened, to learn what they hold (and that every line can be read), then
 * line by line as they play. Frames are sent unchanged. Recorded replies are what REST shows: the first
 * exchangeInfo, and klines from when they were received on (those before the first frame from the start).
 * The book of each symbol starts with the first depth snapshot in the files and follows the differences;
 * after a hole in them there is no book until the next snapshot (follow.h). Where a file has no klines or
 * aggregates, the tape makes them from its trades. */
#ifndef EXCHANGE_REPLAY_RECORDING_H
#define EXCHANGE_REPLAY_RECORDING_H

#include <stdint.h>

#include "exchange/json.h"
#include "exchange/replay/candles.h"
#include "exchange/replay/source.h"

/* Opens the files (text, plain or gzip, or journals) and adds their symbols to the tape. What comes before
 * from_ns is played at once, without streaming; play ends at to_ns (market time; INT64_MIN and INT64_MAX:
 * all). 0, or a negative errno with a message "what: FILE:LINE: what would be right". */
int replay_recording_create(struct tape *tape, const char *const *paths, size_t n_paths, int64_t from_ns,
                            int64_t to_ns, struct replay_source **ret, char error[static SOURCE_ERROR_MAX]);

/* REST replies in a recording: klines and the list of symbols, as the venue sent them. */

/* The kind of a request, by its URL (or path). */
enum reply_kind {
    REPLY_OTHER,
    REPLY_KLINES,
    REPLY_INFO, /* exchangeInfo */
};
enum reply_kind replay_reply_kind(struct json_text url);

/* A parameter of the URL as it stands; empty where it is absent. */
struct json_text replay_reply_argument(struct json_text url, const char *name);

/* Reads a reply of klines row by row: `each` of every row, with the time at which it closes. 0; -EINVAL for
 * another text; what `each` returned below 0. */
int replay_reply_klines(struct json_text body,
                        int (*each)(void *ctx, const struct candle *row, int64_t close_ns), void *ctx);

/* The object of a symbol in a reply of exchangeInfo; empty when it is not there. */
struct json_text replay_reply_symbol(struct json_text body, const char *name);

#endif
