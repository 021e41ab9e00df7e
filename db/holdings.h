/* Positions with their lots, computed from the fills of the database: for the migration, the recovery and
 * the verification, by the engine's own function. */
#ifndef DB_HOLDINGS_H
#define DB_HOLDINGS_H

#include <stddef.h>

#include "engine/position.h"
#include "engine/split.h"

struct db_holding {
    int64_t account, symbol; /* as the caller numbers them */
    struct position position;
    struct lots lots;
};

/* {0} is empty. */
struct db_holdings {
    struct db_holding *rows; /* by account, then by symbol */
    size_t n;
};

/* The account's holding of a symbol, made when there is none; NULL without memory. It lives until the next is
 * made. */
struct db_holding *db_holdings_of(struct db_holdings *holdings, int64_t account, int64_t symbol);

/* 0; -ENOMEM; -ERANGE as position_apply(). */
int db_holdings_fill(struct db_holdings *holdings, int64_t account, int64_t symbol, enum order_side side,
                     int64_t qty, int64_t notional, int64_t fee, int64_t ts_ns);

/* Applies a split of a symbol to every account that holds it, and calls the callback for each after it, with
 * what it held before and by how much it grew (of a short: shrank). 0; -ENOMEM; -ERANGE as
 * engine_split_position(). */
int db_holdings_split(
    struct db_holdings *holdings, int64_t symbol, const struct stock_split *split, int64_t ts_ns,
    void (*changed)(void *ctx, const struct db_holding *holding, int64_t before, int64_t change), void *ctx);

/* The account was reset: nothing is held, nothing was gained. */
void db_holdings_reset(struct db_holdings *holdings, int64_t account, int64_t ts_ns);

void db_holdings_finish(struct db_holdings *holdings);

#endif
