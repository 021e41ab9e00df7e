/* A walk over the books in the order in which things happened: each row of the ledger, and with it what a
 * fill, a split or a reset did to a position's lots. The arithmetic is the engine's (engine/position.h,
 * engine/split.h, by db/holdings.h): here each lot also has a number, the fill that opened it and what is
 * left of that fill's fee, and what closes it is given to each lot that it closes.
 *
 * Shares of a sum are differences of running sums rounded down, so that they add up to it, and each is within
 * one unit of its exact share. A split takes effect where the ledger has its rows, or before the first fill
 * of a later event; a reset at the row of the account's currency. */
#ifndef DB_BOOKS_WALK_H
#define DB_BOOKS_WALK_H

#include "db/holdings.h"
#include "db/reader.h"

enum db_books_cause {
    DB_BOOKS_BASE,  /* the record starts with it, without the fills that opened it (db/base.h) */
    DB_BOOKS_FILL,  /* of its base row */
    DB_BOOKS_SPLIT, /* lots end whole, and those of after it begin */
    DB_BOOKS_VOID,  /* a split that left nothing: what is closed is closed for nothing, by no fill */
    DB_BOOKS_RESET, /* lots end whole, undisposed; the account's next epoch begins */
};

/* A lot as it began. */
struct db_books_lot {
    uint64_t number;  /* 1, 2, 3 … in the order in which the walk met them; after a split a new one */
    uint64_t fill;    /* that opened it; 0: it is the base's */
    int64_t qty, fee; /* above 0; of the opening fill, as far as it is left, quote_scale */
    int64_t cost;     /* paid for it, or received for a short, without fees */
    int64_t opened_ns;
};

/* A part of a lot that ended: all of it, but of a fill's last one. */
struct db_books_part {
    struct db_books_lot of; /* its number, fill and opened_ns; qty, cost and fee of the part */
    int64_t average;        /* its share of the average cost that left the position */
    int64_t value, fee;     /* its share of the closing fill's notional and fee; 0 without a fill */
};

/* A position changed. Pointers are valid during the call. */
struct db_books_change {
    enum db_books_cause cause;
    int account, symbol; /* the account's number, the symbol's index in the reader */
    int64_t epoch;       /* of the account: 1, and one more after each reset; of a RESET the one that ends */
    int64_t ts_ns;
    const struct fill *fill;           /* NULL without one */
    const struct position *position;   /* after it; of a RESET before it */
    const struct db_books_part *ended; /* oldest first */
    size_t n_ended;
    const struct db_books_lot *begun; /* oldest first; of a fill one or none */
    size_t n_begun;
    bool ended_short, begun_short;
};

struct db_books_walk {
    int account; /* its number; -1: all of them */
    void *ctx;
    /* Each row of the ledger after the base, before the change that it makes but after that of a split which
     * asks for it. False ends the walk. NULL. */
    bool (*row)(void *ctx, const struct db_ledger_row *entry);
    void (*change)(void *ctx, const struct db_books_change *change);
};

/* In a snapshot of the caller's. 0; -errno with db_reader_error(): also -EBADMSG for a row of a fill that
 * there is not, and for books that do not add up (`ledger verify` says where); -ENOMEM. */
int db_books_walk(struct db_reader *reader, const struct db_books_walk *walk);

/* An account's number by its name; NULL: -1, all of them. 0; -ENOENT, with the nearest name; -errno. */
int db_books_account(struct db_reader *reader, const char *name, int *ret);

/* floor(whole · part / of), all of it where they are the same; of > 0. */
int64_t db_books_share(int64_t whole, int64_t part, int64_t of);

#endif
