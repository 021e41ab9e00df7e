/* What is held, and what follows from it: of the verb `positions` and of the daemon's HTTP server. */
#ifndef DB_POSITION_LIST_H
#define DB_POSITION_LIST_H

#include "db/reader.h"
#include "record/json.h"

/* Money is in units of the symbol's quote scale, prices are in units of its price scale. */
struct db_position_shown {
    int account, symbol; /* named by the row's context */
    const char *side, *quote;
    int64_t entry, mark; /* price; 0: none */
    int64_t mark_ts_ns;  /* when that price was made; 0: not known */
    int64_t fifo_entry;  /* of the lots still held, first in first out */
    int64_t value, upnl; /* quote; INT64_MIN: there is no mark */
    struct position held;
};
extern const struct record db_positions_shown;

/* Each position of one account, or of all (NULL), at the last stored marks, or as of the reader's moment
 * (db/as_of.h) at those of then; flat ones, for what they realized, where `all` says so. In a snapshot of the
 * caller's. 0 or the reader's -errno. */
int db_position_list_read(struct db_reader *reader, const char *account, bool all,
                          void (*row)(void *ctx, const struct db_position_shown *row,
                                      const struct record_context *context),
                          void *ctx);

/* What is held now as JSON in one line, papertape.positions/1, at one moment, in parts. `put` returns 0, or
 * what ends it. 0; that; -ENOMEM; the reader's -errno. */
int db_position_list_write(struct db_reader *reader, int (*put)(void *ctx, const char *bytes, size_t n),
                           void *ctx);

#endif
