/* Internal to statements: sums the rows of one account's ledger and its fills, in their order, into the
 * figures of a period. Pure: prices come from a callback. Of each currency it keeps
 *
 *   cash      every row of the asset but those that move a symbol's base (a trade's, its fee in kind, a
 *             split's), which are positions, and but loans: what is borrowed is in the balance, and is a
 *             liability of the same amount. Of the account's own currency all rows, so that cash is its
 *             balance less what of it is borrowed.
 *   book      what positions quoted in it cost; of shorts, negative, what they were sold for
 *   value     what they are worth at a mark, rounded as the engine does
 *
 *   receivable  dividends from their ex-date to their payment, net of what is withheld
 *
 * An account is worth cash + receivable + value. A trade moves cash by what it moves the book and realized
 * gains, so that the equation of db/books/statement.h holds to the unit, whatever is rounded. A fee that was
 * taken of the bought coin is paid in the quote by the fill's price, rounded up as fees are; the rest of the
 * notional is what the coin cost. */
#ifndef DB_BOOKS_STATING_H
#define DB_BOOKS_STATING_H

#include "db/books/statement.h"
#include "engine/split.h"

struct db_stating_split {
    int64_t symbol; /* the database's */
    int64_t ts_ns;
    struct stock_split split;
};

enum db_stating_receivable_kind {
    DB_STATING_BOOKED,
    DB_STATING_PAID,
    DB_STATING_WRITTEN_OFF,
    DB_STATING_RECEIVABLE_KINDS,
};

/* What became of a dividend, as the table `receivables` has it. */
struct db_stating_receivable {
    uint64_t id;
    int64_t ts_ns;
    enum db_stating_receivable_kind kind;
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t withheld, amount; /* amount is net; below 0: a short pays it */
    uint64_t booked;          /* the row that it ends; 0: it is one, or was paid at once */
    uint64_t ledger_id;       /* of one that is booked: the row before it; paid: its row; 0: there is none */
    bool open;
};

struct db_stating_holding {
    int64_t symbol; /* the database's */
    struct symbol listed;
    int64_t unit; /* price·qty / unit is in the quote */
    struct position position;
    struct lots lots;
    int128_t realized, unrealized; /* where the period began, or 0 after a reset */
    int64_t fill_price, fill_ns;   /* the last fill's, in the shares of now; 0: there was none */
    bool unpriced;                 /* where the period began */
};

struct db_stating {
    struct db_statement_account *into;
    bool fifo;
    const struct db_stating_split *splits;     /* [n_splits], in the order in which they took effect */
    size_t n_splits, split;                    /* splits before `split` are this account's past */
    struct db_stating_receivable *receivables; /* owned: [n_receivables] by id */
    size_t n_receivables, receivable;          /* as far as `receivable` they have happened */
    /* The price of a symbol at a moment into price, mark_ns, source and interval_ns. 0 or -errno. */
    int (*mark)(void *ctx, const struct db_stating *stating, const struct db_stating_holding *holding,
                struct db_statement_mark *ret);
    void *ctx;
    struct db_stating_holding *holdings; /* owned */
    size_t n_holdings;
    bool counts; /* the period has started */
    int64_t reset_ns;
    uint64_t last_fill;
};

struct db_stating_fill {
    uint64_t id;
    int64_t symbol; /* the database's */
    const struct symbol *listed;
    enum order_side side;
    int64_t price, qty, notional, fee_base;
};
struct db_stating_row {
    uint64_t id;
    int64_t ts_ns;
    const char *asset;
    int scale;
    enum ledger_kind kind;
    int64_t amount;
    const struct db_stating_fill *fill; /* NULL: of none */
};

/* `into` has the account alone, and gets its currency. 0 or -ENOMEM. */
int db_stating_init(struct db_stating *stating, struct db_statement_account *into);
/* What a rebuilt record begins with: first every balance less what is borrowed of it, then every position,
 * whose lots are taken, and its base leaves the cash again. 0, -ENOMEM, -EBADMSG. */
int db_stating_base_cash(struct db_stating *stating, const char *asset, int scale, int64_t amount);
int db_stating_base_position(struct db_stating *stating, int64_t symbol, const struct symbol *listed,
                             const struct position *position, struct lots *lots);
/* Before the first row of the period, or at its end; every later row counts. 0 or -errno. */
int db_stating_begin(struct db_stating *stating, int64_t from_ns);
/* 0; -EBADMSG: the row cannot be; -ERANGE, -ENOMEM, or mark()'s. */
int db_stating_row(struct db_stating *stating, const struct db_stating_row *row);
/* At the period's end. 0; -EBADMSG: the equation does not hold, so that rows and fills are not one account's;
 * or as above. */
int db_stating_end(struct db_stating *stating, int64_t to_ns);
void db_stating_finish(struct db_stating *stating);

#endif
