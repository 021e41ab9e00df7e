/* Internal to the walk: positions with their lots, and of each lot its number, its fill and its fee. */
#ifndef DB_BOOKS_LOTS_H
#define DB_BOOKS_LOTS_H

#include "db/books/walk.h"

/* What a position's lot (struct lot) also has; the two stand in the same order. */
struct books_tag {
    uint64_t number, fill;
    int64_t fee;
};

struct books_tags {
    struct books_tag *tags;
    size_t first, n, cap; /* tags[first .. n) */
};

/* {0} is empty. */
struct books_lots {
    struct db_holdings holdings; /* by account's number and symbol's index */
    struct books_tags *tags;     /* of holdings.rows, at the same index */
    size_t cap_tags;
    uint64_t numbers; /* given so far */
    struct db_books_part *ended;
    struct db_books_lot *begun;
    size_t cap_ended, cap_begun;
    struct lot *before; /* lots that may end, as they were */
    size_t cap_before;
};

/* Each fills the change's lots and position (its cause, account, symbol and epoch are the caller's). 0;
 * -ENOMEM; -ERANGE as position_apply(). */
int db_books_lots_fill(struct books_lots *lots, const struct fill *fill, struct db_books_change *change);

/* Numbers the lots that the holding at an index has, without a fill: those of the base. */
int db_books_lots_base(struct books_lots *lots, size_t at, struct db_books_change *change);

/* A split of a holding that has lots of before it. *ret_change: by how much it grew (of a short: shrank). */
int db_books_lots_split(struct books_lots *lots, size_t at, const struct stock_split *split, int64_t ts_ns,
                        struct db_books_change *change, int64_t *ret_change);

/* All lots of the holding end. The holdings are cleared by db_holdings_reset(), after the account's last. */
int db_books_lots_end(struct books_lots *lots, size_t at, struct db_books_change *change);

void db_books_lots_finish(struct books_lots *lots);

#endif
