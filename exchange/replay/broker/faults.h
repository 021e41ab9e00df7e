/* What can happen to an order between a client and the venue, and to user data, on request (--fault order:…,
 * user:…): to every FAULT_ORDER_EVERY-th order, or event; of several faults in turn. */
#ifndef EXCHANGE_REPLAY_BROKER_FAULTS_H
#define EXCHANGE_REPLAY_BROKER_FAULTS_H

#include "exchange/replay/broker/order_lists.h"
#include "exchange/replay/fault.h"

enum { BROKER_LATE_MORE = 128 };

/* An order that has not reached the matching engine yet. */
struct broker_late {
    struct broker_terms orders[BROKER_LIST_ORDERS_MAX]; /* the first, or all of `list` */
    struct broker_list_terms list;                      /* without orders: it is no list */
    uint64_t due_ns;                                    /* wall clock */
    int64_t until_ns;                     /* of the server's clock: it is refused later; INT64_MAX: never */
    unsigned char more[BROKER_LATE_MORE]; /* the venue's own part of the order */
};

struct broker_faults {
    const struct faults *faults;
    uint64_t placed; /* orders that were asked for */
    struct broker_late *late;
    size_t n_late;
};

/* One order that is asked for; `call` is the venue's. */
struct broker_placing {
    void (*place)(void *call);   /* places it, and writes the answer */
    void (*clear)(void *call);   /* of the answer, before it is written again */
    void (*unknown)(void *call); /* writes the answer of a venue that does not know, over any other */
    /* What is placed later: orders, list, until_ns, more. False: the order is refused, and the answer is
     * written. */
    bool (*read)(void *call, struct broker_late *ret);
    void *call;
};

/* Places it, with what the faults do to it. False: there is no answer. */
bool replay_broker_place_with_faults(struct broker_faults *faults, const struct broker_placing *placing);

/* `arrive` is called for what is late and has come by now, unless it is too late at `server_ns`. */
void replay_broker_arrivals(struct broker_faults *faults, int64_t server_ns,
                            void (*arrive)(void *user, const struct broker_late *late), void *user);
void replay_broker_faults_finish(struct broker_faults *faults);

/* The user data of one connection. */
struct broker_events {
    uint64_t sent; /* so far */
    char *late;    /* user:reorder: goes out after the next one */
};

/* Says an event, with what the faults do to it. Takes `text`; NULL is nothing. */
void replay_broker_event(struct broker_events *events, const struct faults *faults, char *text,
                         void (*say)(void *user, const char *text), void *user);

#endif
