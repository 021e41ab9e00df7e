/* A venue's archive file that is being read: fetch_archive.c finds and opens it, fetch_archive_rows.c takes
 * its lines. Internal to the two. */
#ifndef CLI_FETCH_ARCHIVE_H
#define CLI_FETCH_ARCHIVE_H

#include "cli/fetch.h"

struct archive_reading {
    const char *path;
    const struct symbol *symbol;
    int64_t interval_ns;     /* 0: of trades */
    int64_t from_ns, end_ns; /* the period that its name says */
    int64_t asked_ns;        /* for the store */

    struct history_store *store; /* NULL: the rows are checked, and go nowhere */
    uint64_t put;                /* rows that it got */

    size_t line;
    struct bar *bars;                  /* all of them */
    struct market_trade *trades, last; /* what is not in the store yet; the last one of the file */
    bool any;                          /* there is a last one */
    int64_t page_ns;                   /* from where the next page of trades answers */
    size_t n, room;
    char err[FETCH_ERROR_MAX];
};

/* -EBADMSG, with the line in the sentence where there is one. */
int cli_archive_refuse(struct archive_reading *reading, const char *what);

/* Takes a line, which it changes: checks it and, of trades where there is a store, puts it there; at the end
 * what is left. 0; -EBADMSG and other -errno with a sentence in reading->err. */
int cli_archive_line(struct archive_reading *reading, char *line);
int cli_archive_end(struct archive_reading *reading);
void cli_archive_finish(struct archive_reading *reading);

#endif
