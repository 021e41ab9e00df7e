/* One call about orders, while it is answered: its parameters, and what they say. Functions that return an
 * int return 0, or the HTTP status of the refusal, whose body is written. */
#ifndef EXCHANGE_REPLAY_BINANCE_ORDER_CALL_H
#define EXCHANGE_REPLAY_BINANCE_ORDER_CALL_H

#include "exchange/replay/binance/orders.h"

enum {
    ORDER_CALL_LOST = -2, /* by a fault: there is no answer */
    ORDER_CALL_OK = 200,
    ORDER_CALL_BAD = 400,
    ORDER_CALL_UNAUTHORIZED = 401,
    ORDER_CALL_TOO_MANY = 429,
};

/* The names of one order's parameters: a list's orders have others than an order of its own. NULL: it has no
 * such one. */
struct order_names {
    const char *kind, *limit_kind; /* the type's value, where no parameter says it; with a price, or NULL */
    const char *type, *side, *tif, *quantity, *quote, *price, *stop, *trail, *iceberg, *client_id, *peg;
};

struct order_call;
struct broker_list_terms;
/* Reads all of a new order list by the venue's rules; `ret` has room for BROKER_LIST_ORDERS_MAX orders. */
typedef int read_order_list(struct order_call *c, struct broker_list_terms *ret);

struct order_call {
    struct binance_orders *o;
    const struct order_params *params;
    const struct order_caller *caller;
    struct text *body;
    struct order_outcome *outcome;
    int symbol;
    struct symbol listed;
    const struct order_names *names;   /* of the order that is read; NULL: an order's of its own */
    const struct broker_terms *before; /* orders of the same list, read before it, which count too */
    int n_before;
    read_order_list *read_list; /* of the kind that is placed; NULL: an order of its own */
};

int replay_order_refuse(struct text *body, int status, int code, const char *msg); /* status */
int replay_order_missing(struct text *body, const char *name);
int replay_order_missing_both(struct text *body, const char *one,
                              const char *other); /* one of them is needed */

/* NULL: not sent, or empty, or `name` is NULL. */
const char *replay_order_param(const struct order_call *c, const char *name);

/* c->symbol and its listing, of `symbol`. */
int replay_order_symbol(struct order_call *c);

/* A whole number; `usual` where it was not sent. */
int replay_order_number(struct order_call *c, const char *name, int64_t usual, int64_t *ret);

/* A positive decimal of scale 8; *ret is 0 where it was not sent. */
int replay_order_decimal(struct order_call *c, const char *name, int64_t *ret);

/* `newClientOrderId` or the like; *ret is NULL where it was not sent. */
int replay_order_client_id(struct order_call *c, const char *name, const char **ret);
/* The same; where it was not sent, one that no order has had. */
int replay_order_id_or_new(struct order_call *c, const char *name, char ret[static ORDER_CLIENT_ID_MAX]);

/* `cancelRestrictions`: is it one, and does it allow to cancel the order? */
int replay_order_restrictions(struct order_call *c);
int replay_order_restricted(struct order_call *c, const struct broker_order *order);

/* By a number and a client id, which must fit each other; 0, or a refusal of code `unknown`. */
int replay_order_by(struct order_call *c, const char *id_name, const char *client_name, int unknown,
                    const struct broker_order **ret);

/* openOrders, allOrders, myTrades. */
int replay_order_open_list(struct order_call *c);
int replay_order_open_cancel(struct order_call *c);
int replay_order_all_list(struct order_call *c);
int replay_order_trades_list(struct order_call *c);

/* POST orderList/…, order/oco; GET and DELETE orderList, allOrderList, openOrderList. */
int replay_list_oco(struct order_call *c);
int replay_list_old_oco(struct order_call *c);
int replay_list_oto(struct order_call *c);
int replay_list_otoco(struct order_call *c);
int replay_list_get(struct order_call *c);
int replay_list_cancel(struct order_call *c);
int replay_list_all(struct order_call *c);
int replay_list_open(struct order_call *c);
struct broker_list;
/* Places a list, and counts its orders; what its working order releases is still held. */
enum broker_refusal replay_list_submit(struct binance_orders *o, struct broker_list_terms *terms,
                                       const struct broker_list **ret);
/* A list that was cancelled, with its orders. */
void replay_list_write_cancelled(struct order_call *c, const struct broker_list *list);

/* Cancels an open order, and its list with it, and writes what the venue answers; c->symbol is its own.
 * False: it has ended. */
bool replay_order_end(struct order_call *c, const struct broker_order *order, const char *cancel_id);

/* What the broker does not take, as the venue says it; the status. */
int replay_order_refused(struct order_call *c, enum broker_refusal refusal);
/* The first letter of the answer's type where the caller asks for no type. */
char replay_order_answer_type(const struct broker_terms *terms);

int replay_order_place(struct order_call *c);  /* POST order, with what the faults do to it */
int replay_order_limits(struct order_call *c); /* GET rateLimit/order */
int replay_order_cancel_replace(struct order_call *c);
int replay_order_amend(struct order_call *c);
int replay_order_amendments(struct order_call *c); /* GET order/amendments */
/* After the order was amended; `before`: what it was. Where memory is out it is not kept. */
void replay_amendments_add(struct binance_orders *o, const struct broker_terms *before,
                           const struct broker_order *order);

/* All of a new order, by the venue's rules. */
int replay_order_terms(struct order_call *c, struct broker_terms *ret);

/* The filters of an order; `old`: that it takes the place of, or NULL. */
int replay_order_filters(struct order_call *c, const struct broker_terms *terms,
                         const struct broker_order *old);

/* The number of order lists; of amendments of an order. */
int replay_order_list_filters(struct order_call *c);
int replay_order_amend_filter(struct order_call *c, const struct broker_order *order);
int replay_order_my_filters(struct order_call *c); /* GET myFilters */

/* The price of the last trade; 0: no trade was played, nor came before the play. */
int64_t replay_order_reference(const struct order_call *c);

/* Has the account placed too many orders? 0, or the refusal's status. */
int replay_order_rate(struct order_call *c);

/* Places an order, and counts it. */
enum broker_refusal replay_order_submit(struct binance_orders *o, const struct broker_terms *terms,
                                        const struct broker_order **ret);

/* Places an order, or a list of the kind c->read_list, by `place`, with what the faults do to it;
 * ORDER_CALL_LOST too. */
int replay_order_with_faults(struct order_call *c, int (*place)(struct order_call *c));

/* Places what is late and has come by now; called several times a second. */
void replay_order_arrivals(struct binance_orders *o);

/* Until when of the server's clock a request with these parameters is taken; INT64_MAX: no time is checked.
 */
int64_t replay_orders_good_until(const struct binance_orders *o, const struct order_params *params);

#endif
