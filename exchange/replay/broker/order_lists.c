#include "exchange/replay/broker/order_lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/broker/order_steps.h"

struct broker_lists {
    struct broker *broker;
    struct broker_list *all;
    size_t n, cap, first_open; /* all before it are done */
    int64_t last;
    bool follows; /* it is at it: what it does calls it again */
    void (*changed)(void *user, const struct broker_list *list, enum broker_list_event event);
    void *user;
};

struct broker_lists *replay_lists_create(struct broker *broker)
{
    struct broker_lists *lists = calloc(1, sizeof(*lists));
    if (lists)
        lists->broker = broker;
    return lists;
}

void replay_lists_destroy(struct broker_lists *lists)
{
    if (lists)
        free(lists->all);
    free(lists);
}

void replay_lists_wipe(struct broker_lists *lists)
{
    lists->n = lists->first_open = 0;
}

void replay_broker_on_list(struct broker *broker,
                           void (*changed)(void *user, const struct broker_list *list,
                                           enum broker_list_event event),
                           void *user)
{
    struct broker_lists *lists = replay_broker_lists_of(broker);
    lists->changed = changed;
    lists->user = user;
}

static struct broker_order *order_of(struct broker_lists *lists, const struct broker_list *list, int i)
{
    return replay_broker_order_at(lists->broker, list->orders[i]);
}

static void notify(struct broker_lists *lists, struct broker_list *list, enum broker_list_event event)
{
    list->updated_ns = replay_broker_now(lists->broker);
    if (lists->changed)
        lists->changed(lists->user, list, event);
}

/* The first order of the pair; of an OTO with one order to follow, of that. */
static int first_of_pair(const struct broker_list *list)
{
    return list->kind == BROKER_OTO;
}

/* The other order of the pair; -1: it is none. */
static int other_of(struct broker_lists *lists, const struct broker_list *list,
                    const struct broker_order *order)
{
    const int first = first_of_pair(list);
    if (list->n - first < 2)
        return -1;
    return order == order_of(lists, list, first)       ? first + 1
           : order == order_of(lists, list, first + 1) ? first
                                                       : -1;
}

static struct broker_list *find_id(struct broker_lists *lists, int64_t id)
{
    for (size_t i = lists->n; i-- > 0;)
        if (lists->all[i].id == id)
            return &lists->all[i];
    return NULL;
}

/* ---- While they are open. ---- */

bool replay_lists_start(struct broker_lists *lists, struct broker_order *order)
{
    struct broker_list *list = order->terms.list ? find_id(lists, order->terms.list) : NULL;
    const int at = list && !list->done ? other_of(lists, list, order) : -1;
    struct broker_order *other = at >= 0 ? order_of(lists, list, at) : NULL;
    if (!other || !broker_is_open(other))
        return true;
    list->started = true;
    replay_broker_end(lists->broker, other, BROKER_EXPIRED, NULL);
    order->terms.covered = 0;
    return replay_broker_lock(lists->broker, order); /* what the other one has just given back */
}

/* All that are open end as `like` did. */
static void end_all(struct broker_lists *lists, struct broker_list *list, const struct broker_order *like)
{
    const bool cancelled = like->state == BROKER_CANCELED;
    for (int i = 0; i < list->n; i++) {
        struct broker_order *order = order_of(lists, list, i);
        if (broker_is_open(order))
            replay_broker_end(lists->broker, order, cancelled ? BROKER_CANCELED : BROKER_EXPIRED,
                              like->cancel_id);
    }
    list->done = true;
    notify(lists, list, BROKER_LIST_DONE);
}

/* What is held no longer: of a pair the first order locks, and covers the other. */
static void release(struct broker_lists *lists, struct broker_list *list)
{
    struct broker_order *first = order_of(lists, list, 1);
    list->released = true;
    notify(lists, list, BROKER_LIST_STARTED);
    first->terms.covered = 0;
    replay_broker_release_leg(lists->broker, first);
    if (list->n < 3 || !broker_is_open(first))
        return;
    struct broker_order *second = order_of(lists, list, 2);
    second->terms.covered = first->locked;
    replay_broker_release_leg(lists->broker, second);
}

/* The first of the orders that has ended; NULL: all of them are open. */
static const struct broker_order *ended(struct broker_lists *lists, const struct broker_list *list, int from)
{
    for (int i = from; i < list->n; i++)
        if (!broker_is_open(order_of(lists, list, i)))
            return order_of(lists, list, i);
    return NULL;
}

static bool all_ended(struct broker_lists *lists, const struct broker_list *list)
{
    int n = 0;
    for (int i = 0; i < list->n; i++)
        n += !broker_is_open(order_of(lists, list, i));
    return n == list->n;
}

static void follow(struct broker_lists *lists, struct broker_list *list)
{
    const bool waits = list->kind == BROKER_OTO && !list->released;
    if (waits && order_of(lists, list, 0)->state == BROKER_FILLED)
        release(lists, list);
    const struct broker_order *gone = ended(lists, list, list->kind == BROKER_OTO && list->released ? 1 : 0);
    if (gone && (!list->started || all_ended(lists, list)))
        end_all(lists, list, gone);
}

void replay_lists_follow(struct broker_lists *lists)
{
    if (lists->follows)
        return;
    lists->follows = true;
    for (size_t i = lists->first_open; i < lists->n; i++)
        if (!lists->all[i].done)
            follow(lists, &lists->all[i]);
    while (lists->first_open < lists->n && lists->all[lists->first_open].done)
        lists->first_open++;
    lists->follows = false;
}

/* ---- How they begin. ---- */

static struct broker_list *add(struct broker_lists *lists)
{
    if (lists->n == lists->cap) {
        const size_t cap = lists->cap ? lists->cap * 2 : 64;
        struct broker_list *grown = reallocarray(lists->all, cap, sizeof(*grown));
        if (!grown)
            return NULL;
        lists->all = grown;
        lists->cap = cap;
    }
    return &lists->all[lists->n];
}

/* Each alone, and their client ids against each other. */
static enum broker_refusal check(struct broker_lists *lists, struct broker_list_terms *terms)
{
    const struct broker_list *known =
        replay_broker_list_find(lists->broker, terms->orders[0].account, 0, terms->client_id);
    if (known && !known->done)
        return BROKER_TWICE;
    for (int i = 0; i < terms->n; i++) {
        terms->orders[i].held = terms->kind == BROKER_OTO && i > 0;
        terms->orders[i].covered = terms->orders[i].held ? BROKER_COVERED : 0;
        for (int k = 0; k < i; k++)
            if (strcmp(terms->orders[i].client_id, terms->orders[k].client_id) == 0)
                return BROKER_TWICE;
        const enum broker_refusal refusal = replay_broker_check(lists->broker, &terms->orders[i], NULL);
        if (refusal != BROKER_TAKEN)
            return refusal;
    }
    return BROKER_TAKEN;
}

/* All of them are accepted; what was accepted before memory is out, is ended. */
static bool accept(struct broker_lists *lists, struct broker_list *list, struct broker_list_terms *terms)
{
    for (int i = 0; i < terms->n; i++) {
        terms->orders[i].list = list->id;
        if (terms->kind == BROKER_OCO && i > 0)
            terms->orders[i].covered = order_of(lists, list, 0)->locked;
        if (!replay_broker_accept(lists->broker, &terms->orders[i], &list->orders[i])) {
            while (i-- > 0)
                replay_broker_end(lists->broker, order_of(lists, list, i), BROKER_EXPIRED, NULL);
            return false;
        }
    }
    return true;
}

enum broker_refusal replay_broker_place_list(struct broker *broker, struct broker_list_terms *terms,
                                             const struct broker_list **ret)
{
    struct broker_lists *lists = replay_broker_lists_of(broker);
    const enum broker_refusal refusal = check(lists, terms);
    if (refusal != BROKER_TAKEN)
        return refusal;
    struct broker_list *list = add(lists);
    if (!list)
        return BROKER_MEMORY;
    *list = (struct broker_list){.id = ++lists->last,
                                 .account = terms->orders[0].account,
                                 .symbol = terms->orders[0].symbol,
                                 .n = terms->n,
                                 .kind = terms->kind,
                                 .time_ns = replay_broker_now(broker)};
    snprintf(list->client_id, sizeof(list->client_id), "%s", terms->client_id);
    if (!accept(lists, list, terms))
        return BROKER_MEMORY;
    lists->n++;
    notify(lists, list, BROKER_LIST_STARTED);
    for (int i = 0; i < list->n; i++)
        replay_broker_meet(broker, order_of(lists, list, i));
    *ret = list;
    return BROKER_TAKEN;
}

/* ---- What is asked of them. ---- */

const struct broker_list *replay_broker_lists(const struct broker *broker, size_t *ret_n)
{
    const struct broker_lists *lists = replay_broker_lists_of(broker);
    *ret_n = lists->n;
    return lists->all;
}

const struct broker_list *replay_broker_list_find(const struct broker *broker, int account, int64_t id,
                                                  const char *client_id)
{
    const struct broker_lists *lists = replay_broker_lists_of(broker);
    const struct broker_list *found = NULL;
    for (size_t i = lists->n; i-- > 0;) {
        const struct broker_list *list = &lists->all[i];
        if (list->account != account ||
            (client_id ? strcmp(list->client_id, client_id) != 0 : list->id != id))
            continue;
        if (!list->done || !client_id)
            return list;
        found = found ? found : list;
    }
    return found;
}

const struct broker_list *replay_broker_list_cancel(struct broker *broker, int account, int64_t id,
                                                    const char *cancel_id)
{
    struct broker_lists *lists = replay_broker_lists_of(broker);
    struct broker_list *list = find_id(lists, id);
    if (!list || list->account != account || list->done)
        return NULL;
    for (int i = 0; i < list->n; i++) {
        struct broker_order *order = order_of(lists, list, i);
        if (broker_is_open(order))
            replay_broker_end(broker, order, BROKER_CANCELED, cancel_id);
    }
    replay_broker_settle(broker);
    return list;
}

void replay_broker_list_reduced(struct broker *broker, const struct broker_order *order)
{
    struct broker_lists *lists = replay_broker_lists_of(broker);
    struct broker_list *list = find_id(lists, order->terms.list);
    const int at = list ? other_of(lists, list, order) : -1;
    struct broker_order *other = at >= 0 ? order_of(lists, list, at) : NULL;
    char client_id[BROKER_CLIENT_ID_MAX];
    if (!list)
        return;
    notify(lists, list, BROKER_LIST_UPDATED);
    if (!other || !broker_is_open(other))
        return;
    memcpy(client_id, other->terms.client_id, sizeof(client_id));
    replay_broker_reduce(broker, order->terms.account, other->id, order->terms.qty, client_id);
    struct broker_order *first = order_of(lists, list, first_of_pair(list)),
                        *second = order_of(lists, list, first_of_pair(list) + 1);
    if (second->terms.covered && !second->terms.held) {
        second->terms.covered = first->locked;
        replay_broker_lock(broker, second);
    }
}
