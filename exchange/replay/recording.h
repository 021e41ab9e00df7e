/* Recordings of a venue's frames, played as they were received; several files are merged by time. A file is
 * lines of text or a journal: lines.h.
 *
 * Files are read twice: once when opened, to learn what they hold (and that every line can be read), then
 * line by line as they play. Frames go out as they stand. Recorded replies are what REST shows: the first
 * exchangeInfo, and klines from when they were received on (those before the first frame from the start). The
 * book of each symbol starts with the first depth snapshot in the files and follows the differences; behind a
 * hole in them there is none until the next snapshot (follow.h). Where a file has no klines or aggregates,
 * the tape makes them from its trades. */
#ifndef EXCHANGE_REPLAY_RECORDING_H
#define EXCHANGE_REPLAY_RECORDING_H

#include <stdint.h>

#include "exchange/replay/source.h"

/* Opens the files (text, plain or gzip, or journals) and adds their symbols to the tape. What lies before
 * from_ns is played at once, unheard; play ends at to_ns (market time; INT64_MIN and INT64_MAX: all). 0, or a
 * negative errno with a message "what: FILE:LINE: what would be right". */
int replay_recording_create(struct tape *tape, const char *const *paths, size_t n_paths, int64_t from_ns,
                            int64_t to_ns, struct replay_source **ret, char error[static SOURCE_ERROR_MAX]);

#endif
