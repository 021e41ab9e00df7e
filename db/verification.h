/* Internal to the verification: what its passes know, and pass on. */
#ifndef DB_VERIFICATION_H
#define DB_VERIFICATION_H

#include "db/base.h"
#include "db/holdings.h"
#include "db/reader_query.h"
#include "db/verify.h"
#include "engine/fill_rows.h"

/* What fills, ledger and positions are compared with. Index: id - 1. */
struct known_order {
    int account, symbol;
    enum order_side side;
    enum order_type type;
    enum order_tif tif;
    enum order_state state;
    bool triggered, post_only, reduce_only, amended;
    bool missing; /* before the base, and not salvaged */
    bool ended;   /* before the base: its fills may be missing */
    int64_t qty, price;
    uint64_t group, parent;
    int64_t says_filled, says_cost;
    int64_t filled, cost; /* of the fills seen so far */
    int64_t worth;        /* what it filled, in present shares: later splits are in it */
    int64_t created_ns, updated_ns;
};

struct known_fill {
    uint64_t order_id;
    int account, symbol;
    enum order_side side;
    int64_t ts_ns, price, qty, notional, fee, fee_base;
    int32_t fee_e6;
    bool maker;
    bool of_venue; /* which says its notional and its fee, in whichever asset */
    uint64_t input_seq;
    bool missing;  /* before the base, and not salvaged */
    unsigned rows; /* of the ledger, seen so far: engine/fill_rows.h */
};

struct verified_action {
    uint64_t id;
    int symbol; /* index in the reader */
    struct corporate_action action;
    int64_t ts_ns;
    uint64_t input_seq;
};

struct verified_receivable {
    struct receivable_row row;
    bool closed; /* BOOKED: paid, or written off */
};

/* A ledger row that an action requires. */
struct expected_row {
    enum ledger_kind kind;
    int account, scale;
    char asset[ASSET_NAME_MAX];
    int64_t amount;
    bool at_most; /* less of it may have been there, or nothing */
};

struct verification {
    struct db_reader *reader;
    struct db_verified *to;
    struct db_base base; /* zeros: the record begins at its beginning */
    bool seeded;         /* the balances and positions of the base are in place */
    struct known_order *orders;
    struct known_fill *fills;
    size_t n_orders, n_fills;
    struct verified_action *actions; /* in the order in which they took effect */
    size_t n_actions, actions_done, worth_done;
    struct expected_row *expected; /* of the action that took effect last */
    size_t n_expected, at_expected;
    struct verified_receivable *receivables; /* by id */
    size_t n_receivables, receivables_done;
    int64_t withheld;            /* of the dividend that the ledger's row pays at once */
    struct db_holdings holdings; /* by account's number and symbol's index in the reader */
    size_t *balance_index;       /* of to->balances by account and asset: position + 1, 0 for none */
    size_t balance_room;         /* a power of two */
    struct ledger_row last;      /* of the ledger's second pass */
    bool transferring;           /* last is the first of a pair */
    int resetting;               /* the account that is being reset, or -1 */
    bool out_of_memory;
};

bool db_verify_stopped(const struct verification *v);

/* Notes what is wrong, as it will be printed. */
void db_verify_note(struct verification *v, const char *text);

/* Reports the first failure of a pass; later ones usually follow from it. */
void db_verify_wrong(struct verification *v, const char *table, uint64_t id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Room for one more, zeroed, at the end of a growing array; NULL without memory. */
void *db_verify_append(struct verification *v, void **rows, size_t *n, size_t size);
#define VERIFY_APPEND(v, rows, n) db_verify_append(v, (void **)&(rows), &(n), sizeof *(rows))

/* Each pass: 0 or -errno of the reader; what is wrong is reported. */
int db_verify_seals(struct verification *v); /* verify_seals.c: every table's first altered row, the schema */
int db_verify_trades(struct verification *v); /* verify_trades.c: orders, and fills against them */
int db_verify_ledger(
    struct verification *v); /* verify_ledger.c: rows against fills and each other; balances */
int db_verify_positions(struct verification *v);
int db_verify_causes(struct verification *v); /* verify_causes.c: of ledger rows; and accounts' terms */

/* verify_base.c: what the record builds upon. Its live orders are known orders by now. */
int db_verify_base(struct verification *v);
int db_verify_base_orders(struct verification *v);
/* Before the first ledger row after the base: the sums start from its balances and positions. 0 or -errno. */
int db_verify_seed(struct verification *v);
/* verify_ledger.c: the balance of an account's asset, made when there is none; NULL without memory. */
struct db_verified_balance *db_verify_balance(struct verification *v, int account, const char *name,
                                              const char *asset, int scale);

/* verify_actions.c: before the trades. 0 or -errno of the reader. */
int db_verify_load_actions(struct verification *v);
/* Each row of the ledger: makes the actions before it take effect. true when it is one of an action's. */
bool db_verify_action_row(struct verification *v, const struct ledger_row *row);
void db_verify_actions_end(struct verification *v);
/* Applies the splits of events before this one to the value of what orders filled. */
void db_verify_worth(struct verification *v, uint64_t before_seq);
/* Did a split change the order after a fill of that event? Then its former limit is not known. */
bool db_verify_spans_split(const struct verification *v, const struct known_order *order, uint64_t seq);
struct stock_split db_verify_split(const struct verified_action *action);

/* verify_charges.c: before the trades. 0 or -errno of the reader. */
int db_verify_load_receivables(struct verification *v);
/* Each row of the ledger, before it counts: checks the receivables that come before it. Returns the one that
 * the row pays, or NULL. `row` NULL: there are no more rows. */
const struct receivable_row *db_verify_receivables(struct verification *v, const struct ledger_row *row);
/* Was all of the dividend withheld, so that the ledger has no row of it? */
bool db_verify_withholds_all(const struct verification *v, int account, const struct verified_action *action);
/* After the trades: rates by volume. 0 or -errno. And a fill's fee, with the regulatory ones. */
int db_verify_rates(struct verification *v);
void db_verify_fee(struct verification *v, const struct fill *fill, const struct symbol *symbol,
                   bool rate_known);

/* verify_ledger.c: does the row pay back currency, with what the row before it brought in? */
bool db_verify_repays(const struct verification *v, const struct ledger_row *row);

/* verify_ledger.c: what an account has of an asset by the rows seen so far. */
int64_t db_verify_total(struct verification *v, int account, const char *asset, int scale);

/* verify_trades.c: a fill, in the ledger's order, moves the position that it is of. */
void db_verify_follow(struct verification *v, uint64_t fill_id);

#endif
