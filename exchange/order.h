/* Orders: what can be requested of a venue, and the states that an order goes through. */
#ifndef EXCHANGE_ORDER_H
#define EXCHANGE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum order_side { ORDER_BUY, ORDER_SELL };

enum {
    ORDER_CLIENT_ID_MAX = 37, /* 36 characters, as the venues allow */
    ORDER_TAG_MAX = 32,
};

enum order_type {
    ORDER_MARKET,
    ORDER_LIMIT,             /* the part that crosses takes, the rest rests */
    ORDER_STOP,              /* becomes a market order when a trade reaches stop_price against it */
    ORDER_STOP_LIMIT,        /* the same, and becomes a limit order at `price` */
    ORDER_TAKE_PROFIT,       /* becomes a market order when a trade reaches stop_price in its favour */
    ORDER_TAKE_PROFIT_LIMIT, /* the same, and becomes a limit order at `price` */
    ORDER_TRAILING_STOP, /* a stop that follows the best trade seen since it rests at `trail` or `trail_e6` */
    ORDER_TYPES,
};

/* How long an order may wait. MARKET: GTC, IOC or FOK, and with none of them does it rest. LIMIT: all but OPG
 * and CLS. What waits for a stop price, the legs of an OCO and the exits of a bracket: GTC, DAY or GTD.
 * Post-only: LIMIT with GTC, DAY or GTD. Where a venue's class of assets has rules of its own these say which
 * type takes what (exchange/order_rules.h). */
enum order_tif {
    ORDER_GTC, /* till it is cancelled */
    ORDER_IOC, /* what does not fill at once expires */
    ORDER_FOK, /* fills whole at once, or expires whole */
    ORDER_DAY, /* expires at the end of the session: at 00:00 UTC where the venue never closes */
    ORDER_GTD, /* expires at expires_ns */
    ORDER_OPG, /* in the opening auction, or it expires */
    ORDER_CLS, /* in the closing auction, or it expires */
    ORDER_TIFS,
};

enum order_state {
    ORDER_PENDING, /* accepted, on its way: effective at effective_ns */
    ORDER_HELD,    /* a bracket's exit, waiting for its entry to fill */
    ORDER_OPEN,    /* resting, at the venue */
    ORDER_PARTIAL, /* resting, partly filled */
    ORDER_FILLED,
    ORDER_CANCELED,
    ORDER_EXPIRED,
    ORDER_REJECTED,
    ORDER_UNKNOWN, /* sent to its venue, and whether it is there is not known: it lives */
    ORDER_STATES,
};

/* What happens to an order; its state and the action give the next state: order_next(). */
enum order_action {
    ORDER_ARRIVES,   /* reaches the venue and rests */
    ORDER_ACTIVATES, /* a held exit starts on its way */
    ORDER_FILLS_PART,
    ORDER_FILLS_REST,
    ORDER_IS_CANCELED,
    ORDER_EXPIRES,
    ORDER_AMENDS,      /* keeps its state, with other numbers */
    ORDER_IS_LOST,     /* whether its venue has it is not known any more */
    ORDER_IS_REJECTED, /* its venue refused it, or never got it */
    ORDER_ACTIONS,
};

/* Why an order was refused; ORDER_OK for one that was not. Names are stored and shown. */
enum order_reason {
    ORDER_OK,
    /* its fields */
    ORDER_BAD_QTY,
    ORDER_BAD_PRICE,
    ORDER_UNKNOWN_SYMBOL,
    ORDER_UNKNOWN_ACCOUNT,
    ORDER_UNKNOWN_ORDER,
    ORDER_ENDED,        /* filled, cancelled, expired or refused: it can be neither amended nor cancelled */
    ORDER_BAD_TIF,      /* this type cannot be good for so long, or expires in the past */
    ORDER_BAD_GROUP,    /* the legs of an OCO or a bracket contradict each other */
    ORDER_BAD_AMEND,    /* this type has no such number, or the new quantity is below what is filled */
    ORDER_DUPLICATE_ID, /* another order of the account has that client id */
    ORDER_BAD_ACCOUNT,  /* the command for an account contradicts itself, or there are too many accounts */
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
    ORDER_NO_SHORTS,   /* the account may not sell what it does not hold */
    ORDER_COLLATERAL,  /* a short position would not be covered */
    ORDER_REDUCE_ONLY, /* nothing is held that it could reduce */
    /* the market */
    ORDER_NO_LIQUIDITY, /* nothing on the other side of the book, or not all that a FOK order wants */
    ORDER_WOULD_TAKE,   /* post-only, and it crosses */
    ORDER_OTHER_LEG,    /* the other order of its OCO traded; or a bracket's entry ended without a fill */
    /* the risk gate */
    ORDER_RISK_PAUSED,
    ORDER_RISK_STALE_DATA,
    ORDER_RISK_EXPOSURE,
    ORDER_RISK_DAILY_LOSS,
    ORDER_RISK_ORDER_RATE,
    ORDER_RISK_STORAGE, /* the database cannot commit: no new positions */
    ORDER_RISK_DRAWDOWN,
    ORDER_RISK_COOLDOWN,
    ORDER_RISK_PRICE_BAND,
    ORDER_RISK_POSITIONS,
    /* what happened to the symbol */
    ORDER_SPLIT,       /* nothing is left of its quantity, or of its price, after the symbol's split */
    ORDER_SYMBOL_GONE, /* the venue lists the symbol no longer */
    /* the account, by the rules for stocks: exchange/margin.h */
    ORDER_INITIAL_MARGIN,    /* its equity does not suffice by Regulation T */
    ORDER_INTRADAY_MARGIN,   /* nor by FINRA 4210(d)(2) within the day */
    ORDER_DAY_TRADING_POWER, /* nor for four times of it, as a pattern day trader */
    ORDER_DAY_TRADER_EQUITY, /* a pattern day trader has less than $25,000 */
    ORDER_MARGIN_EQUITY,     /* an account of less than $2,000 gets no credit */
    ORDER_UNSETTLED_CASH,    /* there is cash, but it is not settled yet */
    /* since layout 8 */
    ORDER_SESSION_CLOSED, /* a strategy's entry whose session closed; what must trade at once, while it is
                             closed */
    /* the rules of its venue and class of assets: exchange/order_rules.h */
    ORDER_RULE_TYPE,
    ORDER_RULE_TIF,
    ORDER_RULE_STOP_TIF,
    ORDER_RULE_AUCTION_TYPE,
    ORDER_RULE_OPG_LATE,
    ORDER_RULE_CLS_LATE,
    ORDER_RULE_GROUP,
    ORDER_RULE_EXTENDED_HOURS,
    ORDER_RULE_FRACTION_TYPE,
    ORDER_RULE_FRACTION_TIF,
    ORDER_RULE_FRACTION_GROUP,
    ORDER_RULE_SHORT,
    ORDER_RULE_SHORT_FRACTION,
    ORDER_RULE_SHORTABLE,
    ORDER_RULE_EASY_TO_BORROW,
    ORDER_RULE_PRICE_DECIMALS,
    /* of accounts whose orders are filled at their venue; since layout 10 */
    ORDER_VENUE_DETACHED, /* what the account holds there is not known yet, or it was reset there */
    ORDER_VENUE_TERMS,    /* such an order, group or change is not sent there */
    ORDER_VENUE_REFUSED,  /* the venue refused it */
    ORDER_VENUE_LOST,     /* the venue never got it, or ended it unasked */
    /* since layout 12 */
    ORDER_RISK_UNIVERSE, /* the risk gate: the rule of symbols leaves its symbol out */
    /* since layout 13 */
    ORDER_ACCOUNT_CLOSED, /* a closed account takes no command */
    ORDER_ACCOUNT_IN_USE, /* it has open orders, positions, assets, loans or a policy: it cannot be closed */
    ORDER_REASONS,
};

struct order {
    uint64_t id;
    int account, symbol;
    enum order_side side;
    enum order_type type;
    enum order_tif tif;
    enum order_state state;
    enum order_reason reason;
    int64_t qty, filled; /* qty_scale */
    int64_t price,
        stop_price;   /* price_scale; 0 where the type has none; a trailing stop's stop_price moves */
    int64_t trail;    /* TRAILING_STOP: distance, price_scale; or 0 and … */
    int32_t trail_e6; /* … a share of the best price: 10000 = 1 % */
    int64_t peak;     /* TRAILING_STOP: the best trade price since it rests; 0 before */
    bool triggered;   /* types that wait for a stop price: it was reached; *_LIMIT work as limit orders now */
    bool post_only;   /* LIMIT: cancelled rather than take */
    bool reduce_only; /* never opens or turns a position */
    uint64_t group;   /* orders of one OCO or bracket: the id of the first; 0: alone */
    uint64_t parent;  /* a bracket's exit: its entry; else 0 */
    int64_t cost;     /* sum of fills' notional, quote_scale */
    int64_t created_ns, effective_ns, updated_ns;
    int64_t expires_ns;                  /* DAY (0: its session's end is not known yet), GTD; else 0 */
    uint64_t input_seq;                  /* the event that it answers */
    uint32_t amends;                     /* how often its numbers were changed */
    bool by_hand;                        /* from the control socket, not a strategy */
    char client_id[ORDER_CLIENT_ID_MAX]; /* the client's name for it, unique in its account; "" for none */
    char tag[ORDER_TAG_MAX];             /* the strategy's word: "cross up", "stop", "flatten" */
    bool extended_hours;                 /* LIMIT with DAY: fills before and after the session too */
    bool emulated;    /* a strategy's, which its venue does not take so: held here, ordered when due */
    int64_t notional; /* the amount that `qty` was computed of, quote_scale; 0: a quantity was given */
};

const char *order_side_name(enum order_side side);    /* "BUY", "SELL" */
const char *order_type_name(enum order_type type);    /* "MARKET" … */
const char *order_state_name(enum order_state state); /* "PENDING" … */
const char *order_reason_name(enum order_reason why); /* "LOT_SIZE" …, "" for ORDER_OK */
int order_side_parse(const char *name);               /* enum order_side or -EINVAL */
int order_type_parse(const char *name);
int order_state_parse(const char *name);
int order_reason_parse(const char *name);
const char *order_tif_name(enum order_tif tif); /* "GTC" … */
int order_tif_parse(const char *name);

/* The state machine: the next state after `action` in `state`, or -EINVAL where that cannot happen. */
int order_next(enum order_state state, enum order_action action);

/* Does the type wait for a trade to reach stop_price? */
static inline bool order_is_stop(enum order_type type)
{
    return type != ORDER_MARKET && type != ORDER_LIMIT;
}
static inline bool order_has_limit(enum order_type type)
{
    return type == ORDER_LIMIT || type == ORDER_STOP_LIMIT || type == ORDER_TAKE_PROFIT_LIMIT;
}
/* Does it wait for a price that is better for it than the market's, as a stop for a worse one? */
static inline bool order_is_profit(enum order_type type)
{
    return type == ORDER_TAKE_PROFIT || type == ORDER_TAKE_PROFIT_LIMIT;
}
/* Is it a limit order for now: LIMIT, or one that was triggered to be one? */
bool order_works_as_limit(const struct order *order);

/* Does it trade in an auction only? */
static inline bool order_is_of_auction(enum order_tif tif)
{
    return tif == ORDER_OPG || tif == ORDER_CLS;
}

/* Does it close a position, or wait to: is one without protection where the order is lost? */
static inline bool order_protects(const struct order *order)
{
    return order->reduce_only || order->parent != 0 || order_is_stop(order->type);
}

/* Is the order still alive? */
bool order_live(enum order_state state);

#endif
