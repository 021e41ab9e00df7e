/* Converts recordings between lines of text and journals. */
#ifndef EXCHANGE_REPLAY_CONVERT_H
#define EXCHANGE_REPLAY_CONVERT_H

#include <stddef.h>
#include <stdint.h>

enum { CONVERT_ERROR_MAX = 512 };

struct convert_counts {
    uint64_t frames, replies;
    uint64_t late; /* lines whose time is before that of the line before them: they take its time */
};

/* Recordings (any of lines.h, several are merged by time) into a journal of frames and replies in `dir`,
 * which must not hold one yet. A reply without a request keeps "/api/v3/depth" or "/" for it. On failure a
 * directory that it made is removed. 0; -EEXIST; -errno; error: "what: where: what would be right". */
int replay_convert_import(const char *const *paths, size_t n_paths, const char *dir,
                          struct convert_counts *ret, char error[static CONVERT_ERROR_MAX]);

/* Converts a journal's frames and replies to lines of text: `NANOSECONDS {frame}`, depth snapshots among
 * them, other replies as `URL -> SECONDS.FRACTION: REPLY`, as recordings of the venue's REST interface have
 * them: a journal holds only a request's path, so the URL is that of the public interface, whichever host
 * was asked. gzip when `file`, the name of what `fd` is open for, ends in ".gz". Closes fd. 0; -ENOENT when
 * there is no frame and no reply; -errno. */
int replay_convert_export(const char *journal, int fd, const char *file, struct convert_counts *ret,
                          char error[static CONVERT_ERROR_MAX]);

#endif
