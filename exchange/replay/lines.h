/* The items of a recording one after the other, in any form: lines of text (plain or gzip), or a journal (a
 * directory of segments or one of them, exchange/journal/journal.h), distinguished by content. Where a
 * recorder was killed, half a last line or a gzip file without its end, all before the cut counts, and a
 * line on stderr reports where it is; half a first line is an error. */
#ifndef EXCHANGE_REPLAY_LINES_H
#define EXCHANGE_REPLAY_LINES_H

#include <zlib.h>

#include "exchange/journal/journal.h"
#include "exchange/replay/frame.h"
#include "exchange/replay/source.h"

struct lines {
    const char *path; /* the caller's */
    gzFile text;
    struct journal_reader *journal;
    unsigned long number; /* of the line that was read last, or of the journal's frame or reply; from 1 */
    char *buf;            /* keeps its memory when it is closed and opened again */
    size_t cap;
    bool cut_reported;
    char error[SOURCE_ERROR_MAX]; /* "what: where: what would be right" */
};

/* Opens at the beginning. 0 or -errno with an error. */
int replay_lines_open(struct lines *lines, const char *path);
/* The next line that holds a frame or a reply; a reply of a journal has its request's path as url. Texts live
 * until the next call. 1; 0 at the end; -errno with an error. */
int replay_lines_next(struct lines *lines, struct frame_line *ret);
void replay_lines_close(struct lines *lines);
void replay_lines_finish(struct lines *lines); /* closes, and frees */

/* Is it a journal, or a part of one? */
bool replay_lines_is_journal(const char *path);

/* Sets the error to "WHAT: PATH:LINE: RIGHT"; returns err. */
int replay_lines_fail(struct lines *lines, int err, const char *what, const char *right, ...)
    __attribute__((format(printf, 4, 5)));

#endif
