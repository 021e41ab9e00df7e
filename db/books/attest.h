/* Do the books still have what anchors attest?
 *
 * Of a table whose rows settle (db/books/chain.h) every anchor is checked, however old: its settled rows are
 * there, unaltered and in their order. An anchor whose rows housekeeping has deleted since attests nothing of
 * them any more, and the later ones attest the digest that is left. Of the event log the block is looked for
 * at which it ended, with its hash; a log that begins later, since its oldest segments are deleted, is older
 * than the anchor's. Tables whose rows change are compared with the newest anchor alone: where nothing ran
 * after it, or of accounts, positions, equity and live orders where no event came after it, they are the
 * same; else they have changed since, and their rows are attested by none. */
#ifndef DB_BOOKS_ATTEST_H
#define DB_BOOKS_ATTEST_H

#include "db/books/head.h"
#include "db/books/sign.h"
#include "db/books/stamp.h"

struct db_anchor {
    char *file; /* as it was given */
    int line;
    char *text; /* of `len` bytes */
    size_t len;
    struct db_head *head;       /* NULL: it cannot be read */
    int64_t stamped_ns;         /* when its stamp says; 0: it has none, or they are not checked */
    char failure[DB_ERROR_MAX]; /* why it does not hold; "": it does */
};

struct db_anchors {
    struct db_anchor *list;
    size_t n;
};

/* Appends a file's lines; blank ones are none. One that is no anchor is one that does not hold. 0; -ENODATA:
 * it has none; -errno, with err. */
int db_anchors_read(struct db_anchors *anchors, const char *file, char *err, size_t err_size);
void db_anchors_finish(struct db_anchors *anchors);

/* Rows that no anchor attests: later than the newest one, or all. */
struct db_unattested {
    const char *table;
    uint64_t first, last; /* ids; 0, 0: its rows change, and did since */
};

struct db_attested {
    const struct db_anchor *failed; /* the first that does not hold, in the order in which they were read */
    const struct db_anchor *newest; /* by its time; NULL: there is none */
    size_t stamped;                 /* how many have a stamp that holds */
    uint32_t log_from, log_to; /* segments of the event log that were deleted since the newest; 0: none */
    struct db_unattested *unattested; /* n of them, in the order of db_tables */
    size_t n;
};

/* `key` NULL: signatures are not checked; `tsa` NULL: stamps are not. `events`: the log's directory. 0; or
 * -errno with err when the record could not be read at all. To be finished in either case. */
int db_attest(struct db_reader *reader, const char *events, struct db_anchors *anchors,
              const struct db_sign_key *key, const struct db_stamp_authority *tsa, struct db_attested *ret,
              char *err, size_t err_size);
void db_attested_finish(struct db_attested *attested);

#endif
