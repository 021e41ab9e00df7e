/* Alpaca's orders, positions and account, on paper: what meets the best quote is filled at it whatever its
 * size, as the venue's paper accounts do; what rests is filled by the market's trades. Amounts of assets are
 * of twice MADE_SCALE. */
#ifndef EXCHANGE_REPLAY_ALPACA_ORDERS_H
#define EXCHANGE_REPLAY_ALPACA_ORDERS_H

#include <jansson.h>

#include "exchange/replay/alpaca/made.h"
#include "exchange/replay/alpaca/rest.h"
#include "exchange/replay/broker/broker.h"
#include "exchange/replay/broker/faults.h"

/* What the broker's order of the same place does not have. */
struct alpaca_paper_order {
    char tif[4];           /* "day", "gtc", "ioc", "fok" */
    bool extended, by_day; /* by_day: it expires with the session */
    int64_t replaced_by, replaces;
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
    const char *event; /* of a change that is no fill: "replaced" */
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

/* An order as answers and events have it; NULL when memory is out. */
json_t *replay_alpaca_order_json(struct alpaca_orders *orders, const struct broker_order *order);
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

#endif
