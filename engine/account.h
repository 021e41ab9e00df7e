/* Paper accounts: what they hold, what of it is reserved by open orders, and their positions. */
#ifndef ENGINE_ACCOUNT_H
#define ENGINE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/fees.h"
#include "exchange/symbol.h"
#include "strategy/risk.h"

enum {
    ACCOUNTS_MAX = 32,
    ACCOUNT_ASSETS_MAX = 2 * SYMBOLS_MAX + 16, /* a base and a quote a symbol, and what former symbols left */
    ACCOUNT_NAME_MAX = 32,
};

struct balance {
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total;    /* the ledger's balance, never negative */
    int64_t borrowed; /* of total and of what was sold short of it: owed to the lender */
    int64_t reserved; /* by live orders; total - reserved is free */
};

/* A part of a position as it was opened, for the cost by first in, first out. Sizes are positive, of longs
 * and shorts alike. */
struct lot {
    int64_t qty, cost; /* qty_scale; quote_scale: paid for it, or received for a short, without fees */
    int64_t opened_ns;
};

/* What an account holds of a symbol's base asset through its trades. Both costs are without fees; they sum to
 * the same while nothing is closed. */
struct position {
    int64_t qty;      /* qty_scale; negative: short */
    int64_t cost;     /* average cost: quote paid for what is held, or received for a short, never negative */
    int64_t realized; /* of closed parts, at average cost, quote_scale */
    int64_t fifo_cost;     /* of the lots still held, first in first out */
    int64_t fifo_realized; /* of closed parts, first in first out */
    int64_t fees;          /* quote_scale */
    int64_t opened_ns;     /* of the oldest part still held; 0 when flat */
    int64_t updated_ns;
};

/* A position's lots, oldest first. Owned by the account. */
struct lots {
    struct lot *lots;
    uint32_t first, n, cap; /* lots[first .. n) are held */
};

/* What an account may do, and what it costs. */
struct account_rules {
    struct fee_rates fees;
    struct risk_limits risk;
    bool shorts;            /* may it sell what it does not hold? */
    int32_t collateral_e4;  /* a short needs this much of its value in currency to be opened: 15000 = 150 % */
    int32_t maintenance_e4; /* below this much the engine buys it back: 12500 = 125 % */
    int32_t borrow_rate_e6; /* a year's interest on what is borrowed: 50000 = 5 %; booked every hour */
};

struct account {
    char name[ACCOUNT_NAME_MAX];
    char currency[ASSET_NAME_MAX];
    int currency_scale;
    struct account_rules rules;
    struct balance assets[ACCOUNT_ASSETS_MAX];
    int n_assets;
    struct position positions[SYMBOLS_MAX];
    struct lots lots[SYMBOLS_MAX];
    int64_t deposits;        /* currency, lifetime: deposits and transfers in less those out */
    int64_t equity;          /* at the last mark */
    int64_t equity_peak;     /* highest so far, for the drawdown; deposits and withdrawals move it along */
    int64_t day, day_equity; /* UTC day number, and the equity that it began with */
    int64_t opening_cash;    /* what a reset begins with */
    int64_t interest_ns;     /* the last hour that interest was booked for; 0: none yet */
};

#endif
