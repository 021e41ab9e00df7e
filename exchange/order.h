/* Orders: what can be asked of a venue, and the states that an order goes through. */
#ifndef EXCHANGE_ORDER_H
#define EXCHANGE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum order_side { ORDER_BUY, ORDER_SELL };

enum order_type {
    ORDER_MARKET,
    ORDER_LIMIT, /* good till cancelled; the part that crosses takes, the rest rests */
    ORDER_STOP,  /* becomes a market order when a trade reaches stop_price */
};

enum order_state {
    ORDER_PENDING, /* accepted, on its way: effective at effective_ns */
    ORDER_OPEN,    /* resting */
    ORDER_PARTIAL, /* resting, partly filled */
    ORDER_FILLED,
    ORDER_CANCELED,
    ORDER_REJECTED,
};

/* Why an order was refused; ORDER_OK for one that was not. Names are stored and shown. */
enum order_reason {
    ORDER_OK,
    /* what it says */
    ORDER_BAD_QTY,
    ORDER_BAD_PRICE,
    ORDER_UNKNOWN_SYMBOL,
    ORDER_UNKNOWN_ACCOUNT,
    ORDER_UNKNOWN_ORDER,
    ORDER_SYMBOL_HALTED,
    /* the venue's filters */
    ORDER_PRICE_FILTER,
    ORDER_LOT_SIZE,
    ORDER_MARKET_LOT_SIZE,
    ORDER_MIN_NOTIONAL,
    ORDER_MAX_NOTIONAL,
    ORDER_PERCENT_PRICE,
    ORDER_MAX_NUM_ORDERS,
    /* the account */
    ORDER_INSUFFICIENT_BALANCE,
    /* the market */
    ORDER_NO_LIQUIDITY, /* nothing on the other side of the book */
    /* the risk gate */
    ORDER_RISK_PAUSED,
    ORDER_RISK_STALE_DATA,
    ORDER_RISK_EXPOSURE,
    ORDER_RISK_DAILY_LOSS,
    ORDER_RISK_ORDER_RATE,
    ORDER_RISK_STORAGE, /* the database cannot commit: no new positions */
    ORDER_REASONS,
};

struct order {
    uint64_t id;
    int account, symbol;
    enum order_side side;
    enum order_type type;
    enum order_state state;
    enum order_reason reason;
    int64_t qty, filled;       /* qty_scale */
    int64_t price, stop_price; /* price_scale; 0 where the type has none */
    int64_t cost;              /* sum of fills' notional, quote_scale */
    int64_t created_ns, effective_ns, updated_ns;
    uint64_t input_seq; /* the event that it answers */
    bool by_hand;       /* from the control socket, not a strategy */
    char tag[32];       /* strategy's word: "cross up", "stop", "flatten" */
};

const char *order_side_name(enum order_side side);    /* "BUY", "SELL" */
const char *order_type_name(enum order_type type);    /* "MARKET" … */
const char *order_state_name(enum order_state state); /* "PENDING" … */
const char *order_reason_name(enum order_reason why); /* "LOT_SIZE" …, "" for ORDER_OK */
int order_side_parse(const char *name);               /* enum order_side or -EINVAL */
int order_type_parse(const char *name);
int order_state_parse(const char *name);
int order_reason_parse(const char *name);

/* Is the order still alive? */
bool order_live(enum order_state state);

#endif
