/* Internal to the journal: what is being gathered, and what was. */
#ifndef DB_BOOKS_INTERNAL_H
#define DB_BOOKS_INTERNAL_H

#include "db/base.h"
#include "db/books/journal.h"
#include "db/books/parts.h"

/* What a split or a reset did to a position, whose row of the ledger is yet to come. */
struct books_pending {
    int account;
    int64_t ts_ns;
    enum db_books_place place; /* the row's counterpart */
    char asset[ASSET_NAME_MAX], quote[ASSET_NAME_MAX];
    int scale, quote_scale;
    int64_t amount; /* of the asset, as the row will have it */
    int64_t cost, contra,
        gains; /* at which it leaves or comes, its counterpart's, and what makes up for both */
};

struct books_balance {
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total, borrowed;
};
struct books_balances {
    struct books_balance *rows; /* of one account */
    size_t n, cap;
};

/* A symbol's newest price. */
struct books_quote {
    int64_t ts_ns, price;
    bool known, dirty; /* dirty: not yet passed on */
};

struct books_journal {
    struct db_reader *reader;
    const struct db_books_query *query;
    const struct db_books_sink *sink;
    bool declaring;
    int account;

    int64_t now_ns; /* the latest time that was met */
    int64_t day;    /* of the transaction that was passed on last */
    int64_t first_day;
    bool any, over, had; /* something was passed on; to_ns was reached; there is something before from_ns */

    struct db_books_transaction gathering;
    struct db_books_posting *postings;
    size_t cap_postings, rows; /* of the ledger, in the transaction */
    struct ledger_row first;
    bool open;

    struct books_pending *pending;
    size_t n_pending, cap_pending;
    struct books_balances *balances; /* by account */
    size_t n_balances;
    struct books_quote *quotes; /* by the symbol's index */
    size_t n_quotes;
    struct books_parts parts;
    int r;
};

bool db_books_make_room(void **rows, size_t n, size_t *cap, size_t size);
#define BOOKS_ROOM(rows, n, cap) db_books_make_room((void **)&(rows), n, &(cap), sizeof *(rows))

/* journal.c: a transaction that begins now; the one before it is passed on. */
void db_books_begin(struct books_journal *j, int64_t ts_ns, const char *words);
void db_books_end(struct books_journal *j);

/* Keeps account of open lots. */
void db_books_follow(struct books_journal *j, const struct db_books_change *change);

/* journal_state.c: a price that is to be passed on with its day; the last stored mark of what has one; those
 * that wait. */
void db_books_price(struct books_journal *j, int symbol, int64_t ts_ns, int64_t price);
void db_books_mark(void *journal, const struct db_price_row *row);
void db_books_pass_prices(struct books_journal *j);
/* What an account has of an asset: by the record's base, by a row of the ledger. */
void db_books_balance_base(void *journal, const struct db_base_balance *row);
void db_books_balance_row(struct books_journal *j, const struct ledger_row *row);
/* A day's length. */
#define DB_BOOKS_DAY_NS (86400 * INT64_C(1000000000))

/* postings.c: what a row of the ledger, and a change of a position, post in the transaction that is open. */
void db_books_post_row(struct books_journal *j, const struct db_ledger_row *entry);
void db_books_post_fill(struct books_journal *j, const struct db_books_change *change);
void db_books_post_split(struct books_journal *j, const struct db_books_change *change);
void db_books_post_reset(struct books_journal *j, const struct db_books_change *change);
/* What an account has before the journal begins. */
void db_books_post_opening(struct books_journal *j, int account);
/* What no row of the ledger came for, since with what else the account had of the asset it was nothing. */
void db_books_post_rest(struct books_journal *j, const struct books_pending *pending);

#endif
