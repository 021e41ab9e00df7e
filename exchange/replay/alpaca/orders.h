/* Alpaca's orders, positions and account, on paper: what meets the best quote is filled at it whatever its
 * size, as the venue's paper accounts do; what rests is filled by the market's trades. Orders of the opening
 * and the closing auction are held until then (auction.c); brackets, OCO and OTO are groups of orders
 * (order_groups.c). Amounts of assets are of twice MADE_SCALE. */
#ifndef EXCHANGE_REPLAY_ALPACA_ORDERS_H
#define EXCHANGE_REPLAY_ALPACA_ORDERS_H

#include <jansson.h>

#include "exchange/replay/alpaca/made.h"
#include "exchange/replay/alpaca/rest.h"
#include "exchange/replay/broker/broker.h"
#include "exchange/replay/broker/faults.h"

enum alpaca_class { ALPACA_SIMPLE, ALPACA_BRACKET, ALPACA_OCO, ALPACA_OTO };

extern const char *const replay_alpaca_classes[ALPACA_OTO + 1]; /* the words of order_class */

enum { ALPACA_LEGS = 2 };

/* What the broker's order of the same place does not have. Numbers of orders are 0 where there is none. */
struct alpaca_paper_order {
    char tif[4];           /* "day", "gtc", "ioc", "fok", "opg", "cls" */
    bool extended, by_day; /* by_day: it expires with the session */
    bool settled;          /* of a group's first order: all of the group has ended */
    enum alpaca_class class;
    int64_t replaced_by, replaces;
    int64_t parent;                                  /* of a leg: the group's first order */
    int64_t legs[ALPACA_LEGS];                       /* of a group's first order */
    int64_t take_profit, stop_loss, stop_loss_limit; /* the legs' prices, as it is placed; 0: none */
    int64_t auction_ns;                              /* opg, cls: when it is released; else 0 */
    int64_t opens_ns; /* given while the market was closed: when that opens; else 0 */
};

/* An auction while its orders are filled: at one price, at its time. */
struct alpaca_auction {
    int symbol;
    int64_t price, at_ns; /* price 0: there is no auction now */
};

struct alpaca_orders {
    struct alpaca *alpaca;
    struct broker *broker;
    struct replay_ladder bids, asks; /* of the last look at a book */
    struct alpaca_paper_order *own;
    size_t cap_own;
    int64_t wiped; /* orders of before a wipe: numbers continue */
    struct broker_faults faults;
    int64_t played_ns; /* trades before are played */
    struct alpaca_auction auction;
    int64_t first_group; /* all groups before it have ended */
    bool any_waiting;    /* there may be an order that waits for one, or for an opening */
    const char *event;   /* of a change that is no fill: "replaced" */
    int64_t executions;
};

/* NULL when memory is out. */
struct alpaca_orders *replay_alpaca_orders_create(struct alpaca *alpaca);
void replay_alpaca_orders_destroy(struct alpaca_orders *orders); /* NULL is fine */

/* The number of the next order. */
int64_t replay_alpaca_next_id(const struct alpaca_orders *orders);

/* Plays the market's trades up to the position, ends what is over with its session, and places what is late
 * and has come. */
void replay_alpaca_orders_beat(struct alpaca_orders *orders);

/* When the next order that is on its way meets the book; INT64_MAX: there is none. Those that are due at the
 * position meet it. */
int64_t replay_alpaca_orders_due(const struct alpaca_orders *orders);
void replay_alpaca_orders_arrive(struct alpaca_orders *orders);

/* What lies below /v2/: orders, positions, account. False: another path. */
bool replay_alpaca_orders_answer(struct rest_call *call, const char *rest);

/* By its number, from 1 to replay_alpaca_next_id() - 1, and not of before a wipe. */
const struct broker_order *replay_alpaca_order(const struct alpaca_orders *orders, int64_t id);

/* An order as answers and events have it; NULL when memory is out. `nested`: a group's first order has its
 * legs in it. */
json_t *replay_alpaca_order_json(struct alpaca_orders *orders, const struct broker_order *order, bool nested);
json_t *replay_alpaca_position_json(struct alpaca_orders *orders, int account, int symbol); /* NULL: none */
json_t *replay_alpaca_account_json(struct alpaca_orders *orders, int account);
/* "new" and so on. */
const char *replay_alpaca_state(const struct alpaca_orders *orders, const struct broker_order *order);
int64_t replay_alpaca_held(const struct alpaca_orders *orders, int account, int symbol); /* of the scale */
void replay_alpaca_id(int64_t number, char kind, char ret[static 37]);

/* An asset's id; and the asset of a symbol, of a coin's without its slash, or of an id. -1: none. */
void replay_alpaca_asset_id(const struct made *made, int symbol, char ret[static 37]);
int replay_alpaca_find(const struct made *made, const char *name);
/* "BTC/USD" as "BTCUSD", as positions have it. */
void replay_alpaca_joined(const char *name, char ret[static SYMBOL_NAME_MAX]);
int64_t replay_alpaca_price(struct alpaca_orders *orders, int symbol); /* of the scale; 0: none */
/* The best price that an order of that side would meet now; 0: there is no quote. */
int64_t replay_alpaca_touch(struct alpaca_orders *orders, int symbol, enum order_side side);

/* The legs of a group whose first order has just been placed. */
void replay_alpaca_group_place(struct alpaca_orders *orders, int64_t id);
/* What follows from the fills and the ends of a group's orders: legs are released, lowered, cancelled. */
void replay_alpaca_groups_settle(struct alpaca_orders *orders);
/* The group knows the new order in the place of the old one. */
void replay_alpaca_group_replace(struct alpaca_orders *orders, int64_t old, int64_t id);

/* When an order of that auction that is received now is filled. False: it is too late for one, and too early
 * for the next. */
bool replay_alpaca_auction_time(int64_t now_ns, bool closing, int64_t *ret_ns);
/* Fills the orders of the auctions that were held up to the position, and releases those that waited for the
 * opening, once it has a quote. */
void replay_alpaca_auctions(struct alpaca_orders *orders);

/* Of --partial-fills: how much of `qty` is filled now (broker.h: broker_part). */
int64_t replay_alpaca_part(void *orders, const struct broker_order *order, int64_t qty);

#endif
