/* One execution of (a part of) an order on paper. */
#ifndef EXCHANGE_FILL_H
#define EXCHANGE_FILL_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/order.h"

/* What orders are filled from. The model is a run's, live or backtest; its rules are in engine/match.c and
 * exchange/bar_rules.h. */
enum fill_model {
    FILL_BOOK,  /* the order book, corrected at the top by the best bid and ask; trades */
    FILL_QUOTE, /* the best bid and ask only; trades */
    FILL_BAR,   /* closed bars only: the next open, and what lies between high and low */
    FILL_MODELS,
};

const char *fill_model_name(enum fill_model model); /* "book", "quote", "bar" */

struct fill {
    uint64_t id, order_id;
    int account, symbol;
    enum order_side side;
    int64_t ts_ns;
    int64_t price, qty; /* price_scale, qty_scale */
    int64_t notional;   /* quote_scale; a buy's is rounded up, a sale's down */
    int64_t fee;        /* quote asset, quote_scale, rounded up */
    int32_t fee_e6;     /* the rate that the fee was computed with */
    bool maker;
    uint64_t input_seq; /* the event that filled it */
};

#endif
