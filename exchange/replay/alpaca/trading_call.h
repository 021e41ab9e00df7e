/* One call about orders, positions or the account, while it is answered. */
#ifndef EXCHANGE_REPLAY_ALPACA_TRADING_CALL_H
#define EXCHANGE_REPLAY_ALPACA_TRADING_CALL_H

#include "exchange/replay/alpaca/orders.h"

struct trading_call {
    struct rest_call *call;
    struct alpaca_orders *o;
    int account;
    json_t *body; /* an object, or NULL */
};

/* False; the refusal is written. */
bool replay_trading_refuse(struct trading_call *a, int status, int64_t code, const char *message);
bool replay_trading_refuse_value(struct trading_call *a, const char *name, const char *right);

void replay_trading_send(struct trading_call *a, json_t *value); /* takes it; NULL: memory is out */

/* Parts of the body: false, and refused, for what the venue does not take. */
bool replay_trading_decimal(struct trading_call *a, const char *name, int64_t *ret);
bool replay_trading_time(struct trading_call *a, const char *name, int64_t *ret_ns); /* of the query */
bool replay_trading_client_id(struct trading_call *a, struct broker_terms *terms);
bool replay_trading_order(struct trading_call *a, struct broker_terms *terms, struct alpaca_paper_order *own);

/* Of the account's whole life, also of orders that have ended; NULL: none. */
const struct broker_order *replay_trading_by_client_id(const struct alpaca_orders *o, int account,
                                                       const char *id);

/* Places an order, with what the faults do to it. */
void replay_trading_post(struct trading_call *a);
/* Places it, and writes nothing. */
enum broker_refusal replay_trading_place(struct alpaca_orders *o, const struct broker_terms *terms,
                                         const struct alpaca_paper_order *own,
                                         const struct broker_order **ret);
/* The same; false, and refused. */
bool replay_trading_placed(struct trading_call *a, const struct broker_terms *terms,
                           const struct alpaca_paper_order *own, const struct broker_order **ret);

/* What paper accounts refuse of it; `old`: that it takes the place of, or NULL. */
bool replay_trading_checks(struct trading_call *a, const struct broker_terms *terms,
                           const struct alpaca_paper_order *own, const struct broker_order *old);
/* `order_class` with `take_profit` and `stop_loss`, as the venue takes them with the order that was read. */
bool replay_trading_class(struct trading_call *a, const struct broker_terms *terms,
                          struct alpaca_paper_order *own);
/* What of `trail_percent`, of MADE_SCALE, one millionth of the price is. */
#define TRAIL_PERCENT (MADE_E9 / 10000)

/* A percentage, into trail->share_e6, which is 0 where it was not sent. */
bool replay_trading_percent(struct trading_call *a, const char *name, struct broker_trail *trail);
/* Is there a price that triggers it, as the market is now? `name`: of what it trails by. */
bool replay_trading_trails(struct trading_call *a, const struct broker_terms *terms, const char *name);
/* A decimal of an object of the body, as replay_trading_decimal(). */
bool replay_trading_decimal_of(struct trading_call *a, const json_t *object, const char *name, int64_t *ret);
/* PATCH orders/ID. */
void replay_trading_replace(struct trading_call *a, const struct broker_order *old);
/* False, and refused, unless the refusal is none. */
bool replay_trading_accepted(struct trading_call *a, const struct broker_terms *terms,
                             enum broker_refusal refusal);
/* `time_in_force`, as the class of asset takes it. */
bool replay_trading_tif(struct trading_call *a, struct broker_terms *terms, struct alpaca_paper_order *own);

/* Does the query ask for nested=true? */
bool replay_trading_nested(struct trading_call *a);

/* GET orders. */
void replay_trading_orders(struct trading_call *a);

/* Ends all of the account's open orders; a list of them. */
json_t *replay_trading_cancel_all(struct trading_call *a);

/* positions, and positions/NAME: shown, or closed. */
void replay_trading_positions(struct trading_call *a, bool closes);
void replay_trading_position(struct trading_call *a, const char *name, bool closes);

/* A stock in its session, or with `extended` before and after it; not while it is halted. */
bool replay_trading_open(const struct alpaca_orders *o, int symbol, bool extended);

/* GET account/activities, of the types in `list`. */
void replay_trading_activities(struct trading_call *a, const char *list);

#endif
