/* Order lists: a pair of which one cancels the other, and orders that wait until another one is filled. As
 * Binance has them: the pair locks what its dearer order costs, and ends with the first that is triggered or
 * filled in part; held orders are placed once the working order is filled wholly, and what cannot be placed
 * then expires. */
#ifndef EXCHANGE_REPLAY_BROKER_ORDER_LISTS_H
#define EXCHANGE_REPLAY_BROKER_ORDER_LISTS_H

#include "exchange/replay/broker/broker.h"

enum broker_contingency {
    BROKER_OCO, /* a pair */
    BROKER_OTO, /* the first is the working order; what follows is an order or a pair */
};
enum broker_list_event { BROKER_LIST_STARTED, BROKER_LIST_UPDATED, BROKER_LIST_DONE };

enum { BROKER_LIST_ORDERS_MAX = 3 };

struct broker_list {
    int64_t id;
    int account, symbol, n;
    enum broker_contingency kind;
    char client_id[BROKER_CLIENT_ID_MAX];
    size_t orders[BROKER_LIST_ORDERS_MAX]; /* indices of replay_broker_orders() */
    int64_t time_ns, updated_ns;
    bool released; /* its working order is filled */
    bool started;  /* an order of the pair was triggered or filled, and has ended the other */
    bool done;
};

/* Terms of n orders of one account and symbol, in the list's order; `list`, `held` and `covered` of them are
 * set by replay_broker_place_list(). */
struct broker_list_terms {
    enum broker_contingency kind;
    char client_id[BROKER_CLIENT_ID_MAX];
    struct broker_terms *orders;
    int n;
};

/* *ret (if accepted, and until the next list is placed): after what its working order took at once. What that
 * releases is still held, as the venue answers: replay_broker_settle() is to be called then. */
enum broker_refusal replay_broker_place_list(struct broker *broker, struct broker_list_terms *terms,
                                             const struct broker_list **ret);

/* All of them, the oldest first. */
const struct broker_list *replay_broker_lists(const struct broker *broker, size_t *ret_n);
/* By its number, or by its client id: the open one, else the latest. NULL: the account has none. */
const struct broker_list *replay_broker_list_find(const struct broker *broker, int account, int64_t id,
                                                  const char *client_id);
/* NULL: there is none, or it has ended. */
const struct broker_list *replay_broker_list_cancel(struct broker *broker, int account, int64_t id,
                                                    const char *cancel_id);
/* After an order of it was reduced (replay_broker_reduce()): so is the other one of its pair. */
void replay_broker_list_reduced(struct broker *broker, const struct broker_order *order);

/* Who is called when a list was placed, changed, or has ended. */
void replay_broker_on_list(struct broker *broker,
                           void (*changed)(void *user, const struct broker_list *list,
                                           enum broker_list_event event),
                           void *user);

#endif
