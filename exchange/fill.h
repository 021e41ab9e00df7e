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

/* What a taker gets beyond the quantity shown, of a symbol of which only the best bid and ask are known. */
enum fill_beyond {
    FILL_BEYOND_CANCEL, /* nothing: the rest ends with NO_LIQUIDITY */
    FILL_BEYOND_IMPACT, /* prices that are worse by a step for each further multiple of it: fill_rules.h */
    FILL_BEYOND_WAIT,   /* the rest of a market order waits, and takes what the next quotes show */
    FILL_BEYONDS,
};

const char *fill_beyond_name(enum fill_beyond beyond); /* "cancel", "impact", "wait" */

/* What a fill's price was taken from, where there is a choice: of markets whose quotes several feeds carry,
 * or that hold auctions, and beyond the quantity shown. Names are stored and shown. */
enum fill_basis {
    FILL_BASIS_NONE,    /* not said */
    FILL_BASIS_NBBO,    /* quotes and trades of all exchanges: the national best bid and offer */
    FILL_BASIS_IEX,     /* quotes and trades of the exchange IEX alone */
    FILL_BASIS_DELAYED, /* those of all exchanges, 15 minutes late */
    FILL_BASIS_IMPACT,  /* FILL_BEYOND_IMPACT's price beyond the quantity shown */
    FILL_BASIS_OPENING, /* the official opening print of the primary exchange */
    FILL_BASIS_CLOSING, /* its official closing print */
    FILL_BASIS_FIRST,   /* the session's first trade: no opening print came */
    FILL_BASIS_LAST,    /* its last trade: no closing print came */
    FILL_BASIS_VENUE,   /* the venue filled it: price, quantity, notional and fee are as it said */
    FILL_BASES,
};

const char *fill_basis_name(enum fill_basis basis); /* "" for NONE, "nbbo", "iex", "delayed", "impact" … */
/* Of struct symbol's feed; NONE for another. */
enum fill_basis fill_basis_of_feed(const char *feed);
int fill_basis_parse(const char *name);              /* enum fill_basis or -EINVAL */
const char *fill_basis_words(enum fill_basis basis); /* for people; "" for NONE */

struct fill {
    uint64_t id, order_id;
    int account, symbol;
    enum order_side side;
    int64_t ts_ns;
    int64_t price, qty; /* price_scale, qty_scale */
    int64_t notional;   /* quote_scale; a buy's is rounded up, a sale's down */
    int64_t fee;        /* quote asset, quote_scale, rounded up; with sec_fee and taf_fee */
    int32_t fee_e6;     /* the rate that the rest of the fee was computed with; 0: its venue said the fee */
    bool maker;
    uint64_t input_seq; /* the event that filled it */
    enum fill_basis basis;
    int64_t fee_base;         /* qty_scale: a fee that its venue took from what was bought; then `fee` is 0 */
    int64_t sec_fee, taf_fee; /* of `fee`, of a sale: exchange/regulatory_fees.h */
};

/* By how much it changes what is held, without its sign. */
static inline int64_t fill_moves(const struct fill *fill)
{
    return fill->qty - fill->fee_base;
}

#endif
