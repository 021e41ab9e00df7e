/* The ledger as a journal of plain-text accounting: transactions, day by day, and prices, which
 * cli/books/ writes in the formats of hledger and beancount.
 *
 * A transaction is a fill, a transfer, a split's change of lots, or a row of another kind. What an account
 * holds of an asset is in ASSETS (with lots: what its positions hold of it is in LOTS, under ASSETS), and
 * every other place is the counterpart of a kind of row. A position's units stand there at what they cost, so
 * that a closing takes out what its lots cost, first in first out (db/books/walk.h), and posts the gain to
 * GAINS: below 0 for a profit. All that is posted balances to the last unit. */
#ifndef DB_BOOKS_JOURNAL_H
#define DB_BOOKS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "db/books/walk.h"

enum db_books_place {
    DB_PLACE_ASSETS, /* of an account and an asset */
    DB_PLACE_LOTS,   /* of an account, an asset and a symbol */
    DB_PLACE_LOANS,  /* of an account and an asset */
    DB_PLACE_DEPOSITS,
    DB_PLACE_TRANSFERS, /* of no account */
    DB_PLACE_RESETS,
    DB_PLACE_SPLITS,
    DB_PLACE_DIVIDENDS,
    DB_PLACE_FEES,
    DB_PLACE_INTEREST,
    DB_PLACE_GAINS,
    DB_PLACE_OPENING,    /* what there was when the journal begins */
    DB_PLACE_CONVERSION, /* of no account: base asset that a venue kept as its fee, in the lots' cost */
    DB_PLACES,
};

enum db_books_costed {
    DB_COST_NONE,
    DB_COST_TOTAL, /* at a total of `cost` */
    DB_COST_LOT,   /* a lot's part with a total cost of `cost` */
};

enum { DB_BOOKS_LABEL_MAX = 48, DB_BOOKS_WORDS_MAX = 64 };

/* Texts live as long as the call. */
struct db_books_posting {
    enum db_books_place place;
    const char *account, *symbol; /* the symbol: of LOTS */
    char asset[ASSET_NAME_MAX];
    int scale; /* of amount and balance */
    int64_t amount;
    enum db_books_costed costed;
    char cost_asset[ASSET_NAME_MAX];
    int cost_scale;
    int64_t cost; /* 0 or more */
    char label[DB_BOOKS_LABEL_MAX];
    int64_t opened_ns; /* of the lot */
    bool asserted;     /* the account has `balance` of the asset after it, in ASSETS with all LOTS under it */
    int64_t balance;
};

struct db_books_transaction {
    int64_t day; /* since 1970, UTC; never before that of the one before it */
    int64_t ts_ns;
    char words[DB_BOOKS_WORDS_MAX];
    uint64_t ledger, order, fill;            /* 0: none */
    const struct db_books_posting *postings; /* of a sum of zero. */
    size_t n;
};

struct db_books_price {
    int64_t day;
    const char *asset, *quote;
    int64_t price;
    int scale;
};

struct db_books_query {
    const char *account;    /* NULL: all */
    int64_t from_ns, to_ns; /* from_ns <= t < to_ns; 0: from the beginning, to the end */
    bool lots;
};

/* What writes it. Both are called for all of it twice, first with `declaring`, where lots have other parts
 * and only names count. */
struct db_books_sink {
    void *ctx;
    void (*transaction)(void *ctx, const struct db_books_transaction *transaction, bool declaring);
    void (*price)(void *ctx, const struct db_books_price *price, bool declaring);
    void (*declared)(void *ctx, int64_t first_day); /* between the two */
};

/* The journal of the reader's state at one moment. 0; -ENOENT for an unknown account; the -errno of
 * db_books_walk(). */
int db_books_journal(struct db_reader *reader, const struct db_books_query *query,
                     const struct db_books_sink *sink);

/* "2026-11-29T16:12:54.123456789Z", and "2026-11-29" of a day since 1970, into buf, which they return. */
const char *db_books_time(char *buf, size_t size, int64_t ts_ns);
enum { DB_BOOKS_DATE_MAX = 32 };
const char *db_books_date(char buf[static DB_BOOKS_DATE_MAX], int64_t day);

#endif
