/* What the venue says of an order, by an answer or as user data: the same may come twice, late, in another
 * order or not at all. What it has filled only grows, and an end is an end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/execution/order_cases_internal.h"

void order_case_seen(struct order_case *c, const char *venue_id, const struct case_time *at)
{
    if (venue_id[0] && !c->venue_id[0])
        snprintf(c->venue_id, sizeof c->venue_id, "%s", venue_id);
    c->seen_ns = at->now_ns;
    c->absent = 0;
    if (c->state == CASE_LIVE)
        return;
    c->state = CASE_LIVE;
    c->unsure = false;
    c->place_ns = c->query_ns = CASE_NEVER;
    c->pause_ns = 0;
}

/* The first update of an order is that it exists. */
static void report_open(struct order_cases *cases, struct order_case *c)
{
    if (c->reported_open)
        return;
    c->reported_open = true;
    order_cases_newest(cases, c);
    order_case_update(cases, c, VENUE_UPDATE_OPEN, "", NULL);
}

/* Once its fills are booked its end is. */
static void end_if_whole(struct order_cases *cases, struct order_case *c, const struct case_time *at)
{
    static const enum venue_update update[VENUE_ORDER_STATES] = {
        [VENUE_ORDER_NEW] = VENUE_UPDATES,
        [VENUE_ORDER_PARTIAL] = VENUE_UPDATES,
        [VENUE_ORDER_FILLED] = VENUE_UPDATE_CANCELED, /* of less than was ordered */
        [VENUE_ORDER_CANCELED] = VENUE_UPDATE_CANCELED,
        [VENUE_ORDER_REJECTED] = VENUE_UPDATE_REJECTED,
        [VENUE_ORDER_EXPIRED] = VENUE_UPDATE_EXPIRED,
    };
    if (c->booked >= c->order.qty)
        order_case_end(cases, c, VENUE_UPDATES, "", at);
    else if (c->ending && c->booked >= c->filled)
        order_case_end(cases, c, update[c->end], c->text, at);
}

/* User data may still bring the fills that are missing. */
static void want_fills(struct order_cases *cases, struct order_case *c, const struct case_time *at)
{
    if (c->fills_ns == CASE_NEVER && !(c->asking & 1U << CASE_FILLS))
        c->fills_ns = at->now_ns + (cases->up ? CASE_MOMENT_NS : 0);
}

static bool ends(enum venue_order_state state)
{
    return state != VENUE_ORDER_NEW && state != VENUE_ORDER_PARTIAL;
}

void order_case_stray(struct order_cases *cases, struct order_case *c, const struct case_time *at)
{
    c->mute = c->cancel = true;
    c->cancel_ns = at->now_ns;
    order_case_unknown(c, at->now_ns);
    cases->reconcile.now.strays++;
    cases->serial++;
}

void order_case_report(struct order_cases *cases, struct order_case *c, const struct venue_order *order,
                       const struct case_time *at)
{
    if (c->state == CASE_ENDED) {
        if (!ends(order->state) && !c->venue_id[0] && c->booked < c->order.qty)
            order_case_stray(cases, c, at);
        else if (order->filled > 0 && !c->venue_id[0])
            order_case_duplicate(cases, order, at);
        return;
    }
    bool was_live = c->state == CASE_LIVE;
    order_case_seen(c, order->id, at);
    if (order->state != VENUE_ORDER_REJECTED || order->filled > 0)
        report_open(cases, c);
    if (order->filled > c->filled)
        c->filled = order->filled;
    if (ends(order->state) && !c->ending) {
        c->ending = true;
        c->end = order->state;
        snprintf(c->text, sizeof c->text, "%.*s", VENUE_UPDATE_TEXT_MAX - 1, order->reason);
    }
    cases->serial += !was_live || c->ending || c->filled > c->booked;
    if (c->mute && c->ending) /* what it filled, the balances show */
        order_case_end(cases, c, VENUE_UPDATES, "", at);
    else
        end_if_whole(cases, c, at);
    if (c->state == CASE_LIVE && !c->mute && c->filled > c->booked)
        want_fills(cases, c, at);
}

void order_case_fill(struct order_cases *cases, struct order_case *c, const struct venue_fill *fill,
                     const struct case_time *at)
{
    order_case_seen(c, fill->order_id, at);
    if (c->mute || fill->cumulative <= c->booked)
        return;
    if (fill->cumulative > c->filled)
        c->filled = fill->cumulative;
    if (fill->cumulative - fill->qty != c->booked) {
        want_fills(cases, c, at);
        return;
    }
    report_open(cases, c);
    c->booked = fill->cumulative;
    if (c->booked >= c->filled)
        c->fills_ns = CASE_NEVER;
    order_case_update(cases, c, VENUE_UPDATE_FILL, "", fill);
    end_if_whole(cases, c, at);
}

/* Has its client id's order here another id of the venue's, or was it refused? A stray proves nothing: it may
 * itself be the second one. */
static bool is_known_otherwise(const struct order_cases *cases, const struct venue_order *order)
{
    for (size_t i = 0; i < cases->n; i++) {
        const struct order_case *c = cases->cases[i];
        if (c->order.id == 0 || strcmp(c->client_id, order->client_id) != 0)
            continue;
        if (c->venue_id[0] ? strcmp(c->venue_id, order->id) != 0 : c->state == CASE_ENDED && !c->mute)
            return true;
    }
    const char *venue_id = cases->sink.venue_id(cases->sink.ctx, order->client_id);
    return venue_id[0] && strcmp(venue_id, order->id) != 0;
}

bool order_case_duplicate(struct order_cases *cases, const struct venue_order *order,
                          const struct case_time *at)
{
    if (!order->symbol || !order->id[0] || order->qty <= 0 || (unsigned)order->type >= ORDER_TYPES ||
        (unsigned)order->tif >= ORDER_TIFS || strlen(order->client_id) >= ORDER_CLIENT_ID_MAX ||
        !cases->sink.ours(cases->sink.ctx, order->client_id) || !is_known_otherwise(cases, order) ||
        cases->sink.booked(cases->sink.ctx, order->client_id, order->id))
        return false;
    const struct order twin = {.symbol = (int)(order->symbol - cases->config.symbols),
                               .side = order->side,
                               .type = order->type,
                               .qty = order->qty};
    struct order_case *c = order_case_add(cases, &twin, order->client_id, at);
    if (!c)
        return false;
    c->order.id = cases->sink.duplicate(cases->sink.ctx, order);
    if (c->order.id == 0) {
        free(cases->cases[--cases->n]);
        return false;
    }
    cases->serial++;
    c->reported_open = true;
    order_case_seen(c, order->id, at);
    order_case_report(cases, c, order, at);
    return true;
}

static struct venue_order *find_external(struct order_cases *cases, const struct venue_order *order)
{
    for (size_t i = 0; i < cases->n_external; i++)
        if (strcmp(cases->external[i].id, order->id) == 0)
            return &cases->external[i];
    return NULL;
}

void order_cases_external(struct order_cases *cases, const struct venue_order *order)
{
    struct venue_order *known = find_external(cases, order);
    if (!ends(order->state)) {
        if (!known && cases->n_external < CASE_EXTERNAL_MAX)
            known = &cases->external[cases->n_external++];
        if (known)
            *known = *order;
    } else if (known)
        *known = cases->external[--cases->n_external];
}
