#include "daemon/execution/order_cases_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIGHTS_PAUSE_NS INT64_C(5000000000)

struct order_cases *order_cases_create(const struct order_cases_config *config,
                                       const struct order_cases_sink *sink)
{
    struct order_cases *cases = calloc(1, sizeof *cases);
    if (!cases)
        return NULL;
    cases->config = *config;
    cases->sink = *sink;
    cases->reconcile.due_ns = CASE_NEVER; /* until the link is up */
    cases->rights.due_ns = cases->doubt.due_ns = CASE_NEVER;
    return cases;
}

void order_cases_destroy(struct order_cases *cases)
{
    if (!cases)
        return;
    for (size_t i = 0; i < cases->n; i++)
        free(cases->cases[i]);
    free(cases->cases);
    free(cases->reconcile.balances);
    free(cases);
}

struct order_case *order_case_by_id(const struct order_cases *cases, uint64_t order_id)
{
    for (size_t i = 0; i < cases->n; i++)
        if (cases->cases[i]->order.id == order_id)
            return cases->cases[i];
    return NULL;
}

struct order_case *order_case_find(const struct order_cases *cases, const char *client_id,
                                   const char *venue_id)
{
    struct order_case *named = NULL;
    for (size_t i = 0; i < cases->n; i++) {
        struct order_case *c = cases->cases[i];
        bool its_name = strcmp(c->client_id, client_id) == 0;
        if (venue_id[0] && strcmp(c->venue_id, venue_id) == 0 && (its_name || !client_id[0]))
            return c;
        if (its_name && !named && (!venue_id[0] || !c->venue_id[0]))
            named = c;
    }
    return named;
}

struct order_case *order_case_add(struct order_cases *cases, const struct order *order, const char *client_id,
                                  const struct case_time *at)
{
    if (cases->n == cases->cap) {
        size_t cap = cases->cap ? 2 * cases->cap : 16;
        struct order_case **larger = realloc(cases->cases, cap * sizeof(struct order_case *));
        if (!larger)
            return NULL;
        cases->cases = larger;
        cases->cap = cap;
    }
    struct order_case *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->order = *order;
    snprintf(c->client_id, sizeof c->client_id, "%s", client_id);
    c->booked = c->filled = order->filled;
    c->place_ns = c->query_ns = c->cancel_ns = c->fills_ns = CASE_NEVER;
    c->begun_ns = at->now_ns;
    cases->cases[cases->n++] = c;
    return c;
}

bool order_case_outcome_open(const struct order_case *c)
{
    return c->state == CASE_PLACING || c->state == CASE_UNKNOWN || c->state == CASE_ABSENT ||
           (c->state == CASE_TO_PLACE && c->unsure);
}

int64_t order_case_pause(struct order_case *c)
{
    c->pause_ns = c->pause_ns == 0 ? CASE_SECOND_NS : 2 * c->pause_ns;
    if (c->pause_ns > CASE_PAUSE_MAX_S * CASE_SECOND_NS)
        c->pause_ns = CASE_PAUSE_MAX_S * CASE_SECOND_NS;
    return c->pause_ns;
}

void order_case_update(struct order_cases *cases, struct order_case *c, enum venue_update update,
                       const char *text, const struct venue_fill *fill)
{
    cases->serial++;
    if (!c->mute)
        cases->sink.update(cases->sink.ctx, c->order.id, update, c->venue_id, text, fill);
}

void order_case_end(struct order_cases *cases, struct order_case *c, enum venue_update update,
                    const char *text, const struct case_time *at)
{
    c->state = CASE_ENDED;
    c->ended_ns = at->now_ns;
    c->place_ns = c->query_ns = c->cancel_ns = c->fills_ns = CASE_NEVER;
    if (update < VENUE_UPDATES)
        order_case_update(cases, c, update, text, NULL);
}

int order_cases_place(struct order_cases *cases, const struct order *order, const char *client_id,
                      bool protects, const struct case_time *at)
{
    struct order_case *c = order_case_find(cases, client_id, "");
    if (c && c->state != CASE_ABSENT) /* it is on its way, or there */
        return 0;
    if (!c && !(c = order_case_add(cases, order, client_id, at)))
        return -ENOMEM;
    c->again = c->state == CASE_ABSENT;
    c->protects = protects;
    c->state = CASE_TO_PLACE;
    c->place_ns = c->begun_ns = at->now_ns;
    if (c->cancel)
        order_case_end(cases, c, VENUE_UPDATE_CANCELED, "", at);
    return 0;
}

void order_cases_cancel(struct order_cases *cases, uint64_t order_id, const struct case_time *at)
{
    struct order_case *c = order_case_by_id(cases, order_id);
    if (!c || c->state == CASE_ENDED || c->cancel)
        return;
    c->cancel = true;
    c->cancel_ns = at->now_ns;
    if (c->state == CASE_ABSENT || (c->state == CASE_TO_PLACE && !c->unsure))
        order_case_end(cases, c, VENUE_UPDATE_CANCELED, "", at);
}

int order_cases_adopt(struct order_cases *cases, const struct order *order, const char *client_id,
                      const char *venue_id, bool protects, bool cancels, const struct case_time *at)
{
    struct order_case *c = order_case_add(cases, order, client_id, at);
    if (!c)
        return -ENOMEM;
    snprintf(c->venue_id, sizeof c->venue_id, "%s", venue_id);
    c->protects = protects;
    c->cancel = cancels;
    c->cancel_ns = cancels ? at->now_ns : CASE_NEVER;
    c->query_ns = at->now_ns;
    c->reported_unknown = order->state == ORDER_UNKNOWN;
    c->reported_open = order->state == ORDER_OPEN || order->state == ORDER_PARTIAL || order->filled > 0;
    c->state = c->reported_open ? CASE_LIVE : CASE_UNKNOWN;
    c->settle_ns = at->now_ns + cases->config.settle_ns + CASE_MARGIN_NS;
    c->settle_venue_ns = at->venue_ns ? at->venue_ns + cases->config.settle_ns : 0;
    return 0;
}

void order_cases_witness(struct order_cases *cases, const char *client_id, int symbol)
{
    snprintf(cases->witness.client_id, sizeof cases->witness.client_id, "%s", client_id);
    cases->witness.symbol = symbol;
}

void order_cases_link(struct order_cases *cases, bool up, const struct case_time *at)
{
    if (up && !cases->up)
        order_cases_reconcile(cases, at);
    cases->up = up;
}

void order_cases_order(struct order_cases *cases, const struct venue_order *order, const struct case_time *at)
{
    struct order_case *c = order_case_find(cases, order->client_id, order->id);
    if (c)
        order_case_report(cases, c, order, at);
    else if (order_case_duplicate(cases, order, at))
        return;
    else if (!cases->sink.ours(cases->sink.ctx, order->client_id))
        order_cases_external(cases, order);
}

void order_cases_fill(struct order_cases *cases, const struct venue_fill *fill, const struct case_time *at)
{
    struct order_case *c = order_case_find(cases, fill->client_id, fill->order_id);
    cases->serial++;
    if (c && c->state != CASE_ENDED)
        order_case_fill(cases, c, fill, at);
}

void order_cases_clock_renewed(struct order_cases *cases, const struct case_time *at)
{
    for (size_t i = 0; i < cases->n; i++) {
        struct order_case *c = cases->cases[i];
        if (c->state != CASE_TO_PLACE || !c->awaits_clock)
            continue;
        c->awaits_clock = false;
        c->bad_timestamp_ns = 0;
        c->place_ns = at->now_ns + (c->resent++ > 0 ? order_case_pause(c) : 0);
    }
}

static void keys_refused(struct order_cases *cases, const char *text)
{
    char words[VENUE_UPDATE_TEXT_MAX];
    snprintf(words, sizeof words, "its keys are wrong, or have no such rights: %s", text);
    order_cases_reset(cases, words);
}

static void rights_answer(struct order_cases *cases, const struct venue_answer *answer,
                          const struct case_time *at)
{
    struct case_rights *rights = &cases->rights;
    rights->asked = false;
    if (answer->outcome != VENUE_DONE) {
        rights->due_ns = at->now_ns + RIGHTS_PAUSE_NS;
        return;
    }
    rights->reported = true;
    cases->sink.rights(cases->sink.ctx, rights->text);
}

/* The venue did nothing; whether the keys are good for anything else is asked. */
static void denied(struct order_cases *cases, struct venue_answer *answer, const struct case_time *at)
{
    answer->outcome = VENUE_REFUSED;
    snprintf(cases->rights.text, sizeof cases->rights.text, "%s", answer->text);
    if (!cases->rights.asked)
        cases->rights.due_ns = at->now_ns;
}

void order_cases_answer(struct order_cases *cases, const struct case_ask *ask,
                        const struct venue_answer *given, const struct case_time *at)
{
    struct venue_answer answer = *given;
    if (cases->stopped)
        return;
    if (answer.outcome == VENUE_DENIED && (ask->request == CASE_PLACE || ask->request == CASE_CANCEL))
        denied(cases, &answer, at);
    if (answer.outcome == VENUE_DENIED) {
        keys_refused(cases, answer.text);
        return;
    }
    if (ask->request == CASE_PLACE && answer.outcome == VENUE_DONE && cases->rights.reported) {
        cases->rights.reported = false;
        cases->sink.rights(cases->sink.ctx, NULL);
    }
    struct order_case *c = ask->order_id       ? order_case_by_id(cases, ask->order_id)
                           : ask->client_id[0] ? order_case_find(cases, ask->client_id, ask->venue_id)
                                               : NULL;
    if (ask->request == CASE_RIGHTS)
        rights_answer(cases, &answer, at);
    else if (ask->request == CASE_WITNESS)
        order_cases_witness_answer(cases, ask, &answer, at);
    else if (ask->request == CASE_OPEN || ask->request == CASE_BALANCES || ask->request == CASE_RECENT)
        order_cases_reconcile_answer(cases, ask, &answer, at);
    else if (c)
        order_case_answer(cases, c, ask, &answer, at);
}

bool order_cases_may_query(struct order_cases *cases, const struct case_time *at)
{
    if (at->now_ns - cases->second_ns >= CASE_SECOND_NS) {
        cases->second_ns = at->now_ns;
        cases->queries = 0;
    }
    return cases->queries++ < CASE_QUERIES_A_SECOND;
}

static void ask(struct order_cases *cases, struct order_case *c, enum case_request request,
                const struct case_time *at)
{
    struct case_ask it = {.request = request, .order_id = c->order.id, .at = *at, .symbol = c->order.symbol};
    memcpy(it.client_id, c->client_id, sizeof it.client_id);
    memcpy(it.venue_id, c->venue_id, sizeof it.venue_id);
    c->asking |= 1U << request;
    cases->serial += request == CASE_PLACE;
    cases->sink.ask(cases->sink.ctx, &it, &c->order);
}

static void place(struct order_cases *cases, struct order_case *c, const struct case_time *at)
{
    c->state = CASE_PLACING;
    c->place_ns = CASE_NEVER;
    c->awaits_clock = false;
    ask(cases, c, CASE_PLACE, at);
}

static bool due(const struct order_case *c, enum case_request request, int64_t ns, const struct case_time *at)
{
    return ns <= at->now_ns && !(c->asking & 1U << request);
}

/* Asks a query, or fills, unless there were too many in this second; then `*when` is in the next one. */
static void look(struct order_cases *cases, struct order_case *c, enum case_request request, int64_t *when,
                 const struct case_time *at)
{
    if (!order_cases_may_query(cases, at)) {
        *when = cases->second_ns + CASE_SECOND_NS;
        return;
    }
    *when = CASE_NEVER;
    ask(cases, c, request, at);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* While it is open whether the account was reset an order is held back, for a minute unless it protects.
 * Returns when that is over. */
static int64_t hold_back(struct order_cases *cases, struct order_case *c, const struct case_time *at)
{
    int64_t end_ns = c->protects || c->unsure ? CASE_NEVER : c->begun_ns + CASE_UNSENT_NS;
    if (end_ns <= at->now_ns)
        order_case_end(cases, c, VENUE_UPDATE_ABSENT,
                       "held back for a minute: an order that was there is not known any more", at);
    return c->state == CASE_TO_PLACE ? end_ns : CASE_NEVER;
}

static int64_t step_case(struct order_cases *cases, struct order_case *c, const struct case_time *at)
{
    if (c->state == CASE_TO_PLACE && cases->doubt.open)
        return hold_back(cases, c, at);
    if (c->state == CASE_TO_PLACE && due(c, CASE_PLACE, c->place_ns, at))
        place(cases, c, at);
    bool looks = c->state == CASE_UNKNOWN || c->state == CASE_LIVE;
    if (looks && due(c, CASE_QUERY, c->query_ns, at))
        look(cases, c, CASE_QUERY, &c->query_ns, at);
    if (c->state == CASE_LIVE && c->venue_id[0] && due(c, CASE_FILLS, c->fills_ns, at))
        look(cases, c, CASE_FILLS, &c->fills_ns, at);
    if (c->state == CASE_LIVE && due(c, CASE_CANCEL, c->cancel_ns, at)) {
        c->cancel_ns = CASE_NEVER;
        ask(cases, c, CASE_CANCEL, at);
    }
    int64_t next = c->state == CASE_TO_PLACE ? c->place_ns : CASE_NEVER;
    if (looks && !(c->asking & 1U << CASE_QUERY))
        next = sooner(next, c->query_ns);
    if (c->state == CASE_LIVE && c->venue_id[0] && !(c->asking & 1U << CASE_FILLS))
        next = sooner(next, c->fills_ns);
    if (c->state == CASE_LIVE && !(c->asking & 1U << CASE_CANCEL))
        next = sooner(next, c->cancel_ns);
    return next;
}

static void forget_old(struct order_cases *cases, const struct case_time *at)
{
    size_t kept = 0;
    for (size_t i = 0; i < cases->n; i++) {
        struct order_case *c = cases->cases[i];
        if (c->state == CASE_ENDED && !c->asking && at->now_ns - c->ended_ns > CASE_KEPT_S * CASE_SECOND_NS)
            free(c);
        else
            cases->cases[kept++] = c;
    }
    cases->n = kept;
}

static int64_t step_rights(struct order_cases *cases, const struct case_time *at)
{
    struct case_rights *rights = &cases->rights;
    if (rights->due_ns <= at->now_ns) {
        const struct case_ask it = {.request = CASE_RIGHTS, .at = *at};
        rights->asked = true;
        rights->due_ns = CASE_NEVER;
        cases->sink.ask(cases->sink.ctx, &it, NULL);
    }
    return rights->due_ns;
}

int64_t order_cases_step(struct order_cases *cases, const struct case_time *at)
{
    int64_t next = CASE_NEVER;
    if (cases->stopped)
        return next;
    forget_old(cases, at);
    cases->first = cases->n > 0 ? (cases->first + 1) % cases->n : 0;
    for (size_t i = 0; i < cases->n; i++)
        next = sooner(next, step_case(cases, cases->cases[(cases->first + i) % cases->n], at));
    next = sooner(next, step_rights(cases, at));
    next = sooner(next, order_cases_reconcile_step(cases, at));
    return sooner(next, order_cases_witness_step(cases, at));
}

void order_cases_stop(struct order_cases *cases)
{
    cases->stopped = true;
    order_cases_doubt_over(cases);
}

void order_cases_view(const struct order_cases *cases, struct order_cases_view *ret)
{
    *ret = (struct order_cases_view){.n_external = cases->n_external,
                                     .external = cases->external,
                                     .found = cases->found,
                                     .doubted = cases->doubt.reported ? cases->witness.client_id : "",
                                     .failing = cases->reconcile.failing,
                                     .failing_ns = cases->reconcile.failing_ns};
    for (size_t i = 0; i < cases->n; i++) {
        const struct order_case *c = cases->cases[i];
        ret->live += c->state != CASE_ENDED && !c->mute;
        if (c->reported_unknown && !c->mute && order_case_outcome_open(c)) {
            ret->unknown++;
            ret->unknown_id = c->order.id;
        }
    }
}
