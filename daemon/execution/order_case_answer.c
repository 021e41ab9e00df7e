/* The venue's answers about an order. What they leave open is asked again, after a pause that grows. */
#include <stdio.h>
#include <string.h>

#include "daemon/execution/order_cases_internal.h"

#define CONFIRM_NS INT64_C(2000000000)

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void order_case_unknown(struct order_case *c, int64_t query_ns)
{
    c->state = CASE_UNKNOWN;
    c->place_ns = CASE_NEVER;
    c->query_ns = query_ns;
    c->pause_ns = 0;
}

static void report_unknown(struct order_cases *cases, struct order_case *c, const char *text)
{
    if (c->reported_unknown)
        return;
    c->reported_unknown = true;
    order_case_update(cases, c, VENUE_UPDATE_UNKNOWN, text, NULL);
}

/* Is it another of the venue's orders than this one? */
static bool is_other(const struct order_case *c, const char *venue_id)
{
    return c->venue_id[0] && venue_id[0] && strcmp(c->venue_id, venue_id) != 0;
}

static void take_orders(struct order_cases *cases, struct order_case *c, const struct venue_answer *answer,
                        const struct case_time *at)
{
    for (size_t i = 0; i < answer->n_orders; i++)
        if (is_other(c, answer->orders[i].id))
            order_cases_order(cases, &answer->orders[i], at);
    for (size_t i = 0; i < answer->n_fills; i++)
        if (is_other(c, answer->fills[i].order_id))
            order_cases_fill(cases, &answer->fills[i], at);
        else if (c->state != CASE_ENDED)
            order_case_fill(cases, c, &answer->fills[i], at);
    for (size_t i = 0; i < answer->n_orders; i++)
        if (c->state != CASE_ENDED && !is_other(c, answer->orders[i].id))
            order_case_report(cases, c, &answer->orders[i], at);
}

/* From when on what was sent now can have no effect any more. */
static void settle_later(struct order_cases *cases, struct order_case *c, const struct venue_answer *answer,
                         const struct case_time *at)
{
    int64_t venue_ns = answer->settled_ns ? answer->settled_ns
                       : at->venue_ns     ? at->venue_ns + cases->config.settle_ns
                                          : 0;
    int64_t wait_ns =
        answer->settled_ns && at->venue_ns ? answer->settled_ns - at->venue_ns : cases->config.settle_ns;
    c->settle_venue_ns = later(c->settle_venue_ns, venue_ns);
    c->settle_ns = later(c->settle_ns, at->now_ns + later(wait_ns, 0) + CASE_MARGIN_NS);
}

/* No byte of it left. */
static void not_sent(struct order_cases *cases, struct order_case *c, const struct venue_answer *answer,
                     const struct case_time *at)
{
    int64_t pause_ns = later(answer->retry_ms * 1000000, order_case_pause(c) / 4);
    if (c->unsure) {
        order_case_unknown(c, at->now_ns + pause_ns);
    } else if (c->cancel) {
        order_case_end(cases, c, VENUE_UPDATE_CANCELED, "", at);
    } else if (!c->protects && at->now_ns + pause_ns - c->begun_ns >= CASE_UNSENT_NS) {
        order_case_end(cases, c, VENUE_UPDATE_ABSENT, answer->text, at);
    } else {
        c->state = CASE_TO_PLACE;
        c->place_ns = at->now_ns + pause_ns;
    }
}

/* It is sent again by the venue's time, once that was read again; after a while without, in any case. */
static void bad_timestamp(struct order_cases *cases, struct order_case *c, const struct venue_answer *answer,
                          const struct case_time *at)
{
    const int64_t due_ns = at->now_ns + CASE_PAUSE_MAX_S * CASE_SECOND_NS;
    if (c->bad_timestamp_ns == 0)
        c->bad_timestamp_ns = at->now_ns;
    if (c->cancel) {
        order_case_end(cases, c, VENUE_UPDATE_CANCELED, "", at);
    } else if (!c->protects &&
               (c->resent == CASE_RESENT_MAX || due_ns - c->bad_timestamp_ns >= CASE_UNSENT_NS)) {
        order_case_end(cases, c, VENUE_UPDATE_REJECTED, answer->text, at);
    } else {
        c->awaits_clock = true;
        c->state = CASE_TO_PLACE;
        c->place_ns = due_ns;
    }
}

static void place_answer(struct order_cases *cases, struct order_case *c, const struct venue_answer *answer,
                         const struct case_time *at)
{
    bool awaited = c->state == CASE_PLACING; /* else user data was first */
    cases->serial++;
    if (answer->outcome == VENUE_DONE) {
        if (awaited)
            order_case_seen(c, answer->n_orders ? answer->orders[0].id : "", at);
        take_orders(cases, c, answer, at);
        if (awaited && c->state == CASE_LIVE && !c->reported_open) {
            c->reported_open = true;
            order_cases_newest(cases, c);
            order_case_update(cases, c, VENUE_UPDATE_OPEN, "", NULL);
        }
    } else if (!awaited) {
        return;
    } else if (answer->outcome == VENUE_REFUSED && !c->unsure) {
        order_case_end(cases, c, VENUE_UPDATE_REJECTED, answer->text, at);
    } else if (answer->outcome == VENUE_BAD_TIMESTAMP && !c->unsure) {
        bad_timestamp(cases, c, answer, at);
    } else if (answer->outcome == VENUE_NOT_SENT) {
        not_sent(cases, c, answer, at);
    } else if (answer->outcome == VENUE_REFUSED ||
               answer->outcome == VENUE_BAD_TIMESTAMP) { /* this one: not what came before it */
        c->refused = true;
        snprintf(c->text, sizeof c->text, "%s", answer->text);
        order_case_unknown(c, at->now_ns);
    } else if (answer->outcome == VENUE_EXISTS) {
        settle_later(cases, c, answer, at);
        order_case_unknown(c, at->now_ns);
    } else {
        settle_later(cases, c, answer, at);
        report_unknown(cases, c, answer->text);
        order_case_unknown(c, at->now_ns + CASE_MOMENT_NS);
    }
}

void order_case_absent(struct order_cases *cases, struct order_case *c, const struct case_time *at)
{
    if (c->mute)
        order_case_end(cases, c, VENUE_UPDATES, "", at);
    else if (c->cancel)
        order_case_end(cases, c, VENUE_UPDATE_CANCELED, "it never reached the venue", at);
    else if (c->protects && !c->again) {
        c->state = CASE_ABSENT;
        c->query_ns = CASE_NEVER;
        c->reported_unknown = c->unsure = c->refused = false;
        order_case_update(cases, c, VENUE_UPDATE_AGAIN, "", NULL);
    } else
        order_case_end(cases, c, c->refused ? VENUE_UPDATE_REJECTED : VENUE_UPDATE_ABSENT,
                       c->refused ? c->text : "it never reached the venue", at);
}

static bool proved(const struct order_case *c, const struct case_ask *ask)
{
    return ask->at.now_ns >= c->settle_ns && ask->at.venue_ns > 0 && ask->at.venue_ns >= c->settle_venue_ns;
}

/* The venue knew it, and now does not. */
static void absent_while_live(struct order_cases *cases, struct order_case *c, const struct case_ask *ask,
                              const struct case_time *at)
{
    if (ask->at.now_ns <= c->seen_ns) { /* it was seen after that was asked */
        c->query_ns = at->now_ns + order_case_pause(c);
        return;
    }
    if (c->absent++ == 0)
        c->absent_ns = at->now_ns;
    bool lost = c->absent >= CASE_LOST_ANSWERS && at->now_ns - c->absent_ns >= CASE_LOST_S * CASE_SECOND_NS;
    if (!lost && !c->mute)
        order_cases_doubt(cases, c, at);
    if (!lost || cases->doubt.open) {
        c->query_ns = at->now_ns + CASE_LOST_S * CASE_SECOND_NS / (CASE_LOST_ANSWERS - 1);
        return;
    }
    order_cases_no_witness(cases, c->client_id);
    order_case_end(cases, c, c->cancel ? VENUE_UPDATE_CANCELED : VENUE_UPDATE_EXPIRED,
                   "the venue does not know it any more", at);
}

/* The same id is safe: the venue takes it once. */
static void place_same(struct order_case *c, const struct case_time *at)
{
    c->unsure = true;
    c->state = CASE_TO_PLACE;
    c->place_ns = at->now_ns;
    c->query_ns = CASE_NEVER;
}

static void absent_while_unknown(struct order_cases *cases, struct order_case *c, const struct case_ask *ask,
                                 const struct case_time *at)
{
    if (c->mute || proved(c, ask)) {
        order_case_absent(cases, c, at);
        return;
    }
    if (!c->reported_unknown)
        report_unknown(cases, c, "the venue does not know it yet");
    if (cases->config.id_for_life && c->protects && !c->cancel && !c->refused) {
        place_same(c, at);
        return;
    }
    int64_t next_ns = at->now_ns + order_case_pause(c);
    c->query_ns = at->now_ns < c->settle_ns && c->settle_ns < next_ns ? c->settle_ns : next_ns;
}

static void query_answer(struct order_cases *cases, struct order_case *c, const struct case_ask *ask,
                         const struct venue_answer *answer, const struct case_time *at)
{
    if (answer->outcome == VENUE_DONE && answer->n_orders > 0) {
        take_orders(cases, c, answer, at);
        if (c->state == CASE_LIVE && c->cancel && !c->ending && c->cancel_ns == CASE_NEVER &&
            !(c->asking & 1U << CASE_CANCEL))
            c->cancel_ns = at->now_ns + order_case_pause(c);
    } else if (answer->outcome == VENUE_ABSENT && c->state == CASE_LIVE) {
        absent_while_live(cases, c, ask, at);
    } else if (answer->outcome == VENUE_ABSENT) {
        absent_while_unknown(cases, c, ask, at);
    } else {
        if (c->state == CASE_UNKNOWN)
            report_unknown(cases, c, answer->text);
        c->query_ns = at->now_ns + later(answer->retry_ms * 1000000, order_case_pause(c));
    }
}

static void cancel_answer(struct order_cases *cases, struct order_case *c, const struct venue_answer *answer,
                          const struct case_time *at)
{
    if (answer->outcome == VENUE_DONE) {
        take_orders(cases, c, answer, at);
        if (c->state == CASE_LIVE && !c->ending) /* asked for, and its end comes as user data */
            c->query_ns = at->now_ns + CONFIRM_NS;
    } else if (answer->outcome == VENUE_NOT_SENT || answer->outcome == VENUE_BAD_TIMESTAMP) {
        c->cancel_ns = at->now_ns + later(answer->retry_ms * 1000000, order_case_pause(c) / 4);
    } else if (answer->outcome == VENUE_UNKNOWN) {
        c->query_ns = at->now_ns + CASE_MOMENT_NS;
    } else if (c->state == CASE_LIVE && !c->ending) {
        c->query_ns = at->now_ns;
    }
}

static void fills_answer(struct order_cases *cases, struct order_case *c, const struct venue_answer *answer,
                         const struct case_time *at)
{
    int64_t before = c->booked;
    if (answer->outcome == VENUE_DONE)
        take_orders(cases, c, answer, at);
    if (c->booked > before)
        cases->reconcile.now.fills++;
    if (c->state == CASE_LIVE && c->filled > c->booked)
        c->fills_ns = at->now_ns + later(answer->retry_ms * 1000000, order_case_pause(c));
}

void order_case_answer(struct order_cases *cases, struct order_case *c, const struct case_ask *ask,
                       const struct venue_answer *answer, const struct case_time *at)
{
    c->asking &= ~(1U << ask->request);
    if (c->state == CASE_ENDED) /* but the answer may be about the other one of its client id */
        take_orders(cases, c, answer, at);
    else if (ask->request == CASE_PLACE)
        place_answer(cases, c, answer, at);
    else if (ask->request == CASE_QUERY)
        query_answer(cases, c, ask, answer, at);
    else if (ask->request == CASE_CANCEL)
        cancel_answer(cases, c, answer, at);
    else if (ask->request == CASE_FILLS)
        fills_answer(cases, c, answer, at);
}
