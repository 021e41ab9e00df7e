/* What happens to one order of a list, step by step: for order_lists.c, which decides when. `at` is an
 * order's index, which stays its own until a wipe. */
#ifndef EXCHANGE_REPLAY_BROKER_ORDER_STEPS_H
#define EXCHANGE_REPLAY_BROKER_ORDER_STEPS_H

#include "exchange/replay/broker/broker.h"

struct broker_lists;

/* ---- Of broker.c. ---- */

struct broker_order *replay_broker_order_at(struct broker *broker, size_t at);
int64_t replay_broker_now(struct broker *broker);
struct broker_lists *replay_broker_lists_of(const struct broker *broker);

/* Lists it as open, which is reported; it has met no book yet. False when memory is out. */
bool replay_broker_accept(struct broker *broker, const struct broker_terms *terms, size_t *ret_at);
/* Takes what the book has for it, unless it waits, is held or on its way. */
void replay_broker_meet(struct broker *broker, struct broker_order *order);
/* It is held no longer: locks what it costs, and waits or takes. Expires: what the account has less than,
 * what is triggered at once, and what would take and must not. */
void replay_broker_release_leg(struct broker *broker, struct broker_order *order);
/* Locks what it costs by now; false: the account has less. */
bool replay_broker_lock(struct broker *broker, struct broker_order *order);
/* `cancel_id`: with BROKER_CANCELED. */
void replay_broker_end(struct broker *broker, struct broker_order *order, enum broker_state state,
                       const char *cancel_id);

/* ---- Of order_lists.c, for broker.c. ---- */

struct broker_lists *replay_lists_create(struct broker *broker); /* NULL when memory is out */
void replay_lists_destroy(struct broker_lists *lists);           /* NULL is fine */
void replay_lists_wipe(struct broker_lists *lists);

/* Right before an order is triggered or filled: the other one of its pair ends, and it locks all that it
 * costs itself. False: the account has less. */
bool replay_lists_start(struct broker_lists *lists, struct broker_order *order);

/* After anything: ends and releases orders of lists as those of them that changed demand. */
void replay_lists_follow(struct broker_lists *lists);

#endif
