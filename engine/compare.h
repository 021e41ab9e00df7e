/* Compares a replay's rows with recorded ones, field by field, to the last bit. Symbols are compared by
 * their names, since a database numbers them differently; of a stock whose name has changed since, by its
 * first one (symbol_renamed()). */
#ifndef ENGINE_COMPARE_H
#define ENGINE_COMPARE_H

#include <stdbool.h>

#include "engine/account.h"
#include "exchange/fill.h"
#include "exchange/order.h"
#include "exchange/symbol.h"
#include "record/ledger_cause.h"
#include "record/ledger_row.h"

struct recorded_order {
    struct order order;           /* its symbol's index means nothing */
    char symbol[SYMBOL_NAME_MAX]; /* "" for an order that was refused for naming none */
    char first[ASSET_NAME_MAX];   /* a stock's first name; "": it is no stock, or that is not known */
};
struct recorded_fill {
    struct fill fill;
    char symbol[SYMBOL_NAME_MAX];
    char first[ASSET_NAME_MAX];
};

struct recorded_cause {
    struct ledger_cause cause;
    char symbol[SYMBOL_NAME_MAX]; /* "": none */
    char first[ASSET_NAME_MAX];
};

struct recorded_fee_rate {
    struct fee_rate_change change; /* without its `tiers` */
    char tiers[FEE_TIERS_TEXT_MAX];
};

/* Looks up recorded rows by id. 0; -ENOENT where there is no such row; -errno. */
struct engine_recorded {
    void *ctx;
    int (*order)(void *ctx, uint64_t id, struct recorded_order *ret);
    int (*fill)(void *ctx, uint64_t id, struct recorded_fill *ret);
    int (*ledger)(void *ctx, uint64_t id, struct ledger_row *ret);
    int (*cause)(void *ctx, uint64_t id, struct recorded_cause *ret); /* NULL: causes are not recorded */
    /* NULL: they are not recorded */
    int (*receivable)(void *ctx, uint64_t id, struct receivable_row *ret);
    int (*fee_rate)(void *ctx, uint64_t id, struct recorded_fee_rate *ret);
    uint64_t causes_after; /* the ledger's rows up to this id may have none, or a derived one */
    uint64_t event_seq;    /* the newest event whose rows are recorded */
    uint64_t last_order, last_fill, last_ledger, last_receivable, last_fee_rate; /* the highest; 0: none */
};

enum { DIFFERENCE_TEXT_MAX = 96 };

/* The first field that differs, both values as text: decimals of the symbol's scales, names, nanoseconds. */
struct difference {
    const char
        *table; /* "orders", "fills", "ledger", "ledger_causes", "receivables", "fee_rates", "states" */
    uint64_t id;
    const char *field; /* "row" where only one of the two has it */
    char replayed[DIFFERENCE_TEXT_MAX], recorded[DIFFERENCE_TEXT_MAX];
};

/* `symbol`: the replayed one's, for its name and scales; NULL for an order without. True when all is equal;
 * else *ret says what is not. */
bool engine_compare_orders(const struct order *replayed, const struct symbol *symbol,
                           const struct recorded_order *recorded, struct difference *ret);
bool engine_compare_fills(const struct fill *replayed, const struct symbol *symbol,
                          const struct recorded_fill *recorded, struct difference *ret);
bool engine_compare_causes(const struct ledger_cause *replayed, const struct symbol *symbol,
                           const struct recorded_cause *recorded, struct difference *ret);
bool engine_compare_ledger_rows(const struct ledger_row *replayed, const struct ledger_row *recorded,
                                struct difference *ret);
bool engine_compare_receivables(const struct receivable_row *replayed, const struct receivable_row *recorded,
                                struct difference *ret);
/* `scale`: of the account's currency. */
bool engine_compare_fee_rates(const struct fee_rate_change *replayed, int scale,
                              const struct recorded_fee_rate *recorded, struct difference *ret);

/* A row that only one side has. */
void engine_compare_missing(const char *table, uint64_t id, bool in_replay, struct difference *ret);

#endif
