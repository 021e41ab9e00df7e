/* Paper accounts: what they hold, what of it is reserved by open orders, and their positions. */
#ifndef ENGINE_ACCOUNT_H
#define ENGINE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/fees.h"
#include "exchange/symbol.h"

enum {
    ACCOUNTS_MAX = 32,
    ACCOUNT_ASSETS_MAX = 2 * SYMBOLS_MAX + 16, /* a base and a quote a symbol, and what former symbols left */
    ACCOUNT_NAME_MAX = 32,
};

struct balance {
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total;    /* the ledger's balance */
    int64_t reserved; /* by live orders; total - reserved is free */
};

/* What an account holds of a symbol's base asset through its trades, at average cost. */
struct position {
    int64_t qty;       /* qty_scale, never negative: no shorts */
    int64_t cost;      /* quote paid for it, without fees, quote_scale */
    int64_t realized;  /* of closed parts, without fees, quote_scale */
    int64_t fees;      /* quote_scale */
    int64_t opened_ns; /* of the oldest part still held; 0 when flat */
    int64_t updated_ns;
};

struct account {
    char name[ACCOUNT_NAME_MAX];
    char currency[ASSET_NAME_MAX];
    int currency_scale;
    struct fee_rates fees;
    struct balance assets[ACCOUNT_ASSETS_MAX];
    int n_assets;
    struct position positions[SYMBOLS_MAX];
    int64_t deposits;        /* currency, lifetime */
    int64_t equity;          /* at the last mark */
    int64_t equity_peak;     /* highest so far, for the drawdown */
    int64_t day, day_equity; /* UTC day number, and the equity that it began with */
};

#endif
