/* The account compared: its balances, and after them its open orders, so that whatever changed the balances
 * before they were read is seen in the orders. Where anything else happened meanwhile, or an outcome is
 * open, the balances say nothing, and it is tried again soon. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/execution/order_cases_internal.h"

#define SOON_NS INT64_C(5000000000)

void order_cases_reset(struct order_cases *cases, const char *text)
{
    order_cases_stop(cases);
    cases->sink.reset(cases->sink.ctx, text);
}

void order_cases_reconcile(struct order_cases *cases, const struct case_time *at)
{
    cases->reconcile.due_ns = at->now_ns;
}

static bool any_open(const struct order_cases *cases)
{
    for (size_t i = 0; i < cases->n; i++) {
        const struct order_case *c = cases->cases[i];
        if (order_case_outcome_open(c) || c->query_ns != CASE_NEVER || c->filled > c->booked || c->asking ||
            (c->ending && c->state == CASE_LIVE))
            return true;
    }
    return false;
}

static void ask(struct order_cases *cases, enum case_request request, const struct case_time *at)
{
    struct case_ask it = {.request = request, .at = *at};
    if (request == CASE_RECENT)
        it.symbol = cases->reconcile.recent;
    cases->reconcile.asked = true;
    cases->sink.ask(cases->sink.ctx, &it, NULL);
}

static void end_cycle(struct order_cases *cases, bool balances, bool differed, const struct case_time *at)
{
    struct case_reconcile *reconcile = &cases->reconcile;
    int64_t pause_ns = cases->config.reconcile_ns;
    if (!balances && pause_ns > SOON_NS)
        pause_ns = SOON_NS;
    reconcile->step = RECONCILE_IDLE;
    reconcile->failing[0] = '\0';
    reconcile->due_ns = at->now_ns + pause_ns;
    cases->found = reconcile->now;
    cases->found.at_ns = at->now_ns;
    cases->found.balances = balances;
    cases->found.differed = differed;
    reconcile->now = (struct case_findings){.at_ns = 0};
}

/* The venue did not answer: nothing was found. */
static void fail_cycle(struct order_cases *cases, const struct venue_answer *answer,
                       const struct case_time *at)
{
    struct case_reconcile *reconcile = &cases->reconcile;
    int64_t retry_ns = answer->retry_ms * 1000000;
    if (!reconcile->failing[0])
        reconcile->failing_ns = at->now_ns;
    snprintf(reconcile->failing, sizeof reconcile->failing, "%s",
             answer->text[0] ? answer->text : "no answer that is understood");
    reconcile->step = RECONCILE_IDLE;
    reconcile->due_ns = at->now_ns + (retry_ns > SOON_NS ? retry_ns : SOON_NS);
}

static void take_balances(struct order_cases *cases, const struct venue_answer *answer,
                          const struct case_time *at)
{
    struct case_reconcile *reconcile = &cases->reconcile;
    struct venue_balance *kept =
        realloc(reconcile->balances, (answer->n_balances + 1) * sizeof(struct venue_balance));
    if (!kept) {
        fail_cycle(cases, answer, at);
        return;
    }
    reconcile->balances = kept;
    reconcile->n = answer->n_balances;
    if (answer->n_balances > 0)
        memcpy(kept, answer->balances, answer->n_balances * sizeof *kept);
    reconcile->have_balances = true;
    reconcile->step = RECONCILE_OPEN;
}

static bool listed(const struct venue_answer *answer, const struct order_case *c)
{
    for (size_t i = 0; i < answer->n_orders; i++)
        if (strcmp(answer->orders[i].client_id, c->client_id) == 0 &&
            (!c->venue_id[0] || strcmp(answer->orders[i].id, c->venue_id) == 0))
            return true;
    return false;
}

/* One of ours that lives there, and of which nothing is known here any more. */
static void take_stray(struct order_cases *cases, const struct venue_order *listed_order,
                       const struct case_time *at)
{
    const struct order order = {.symbol = (int)(listed_order->symbol - cases->config.symbols),
                                .qty = listed_order->qty};
    struct order_case *c = order_case_add(cases, &order, listed_order->client_id, at);
    if (!c)
        return;
    snprintf(c->venue_id, sizeof c->venue_id, "%s", listed_order->id);
    order_case_stray(cases, c, at);
}

static void take_listed(struct order_cases *cases, const struct case_ask *asked,
                        const struct venue_order *order, const struct case_time *at)
{
    struct order_case *c = order_case_find(cases, order->client_id, order->id);
    if (c && c->state == CASE_ENDED && asked->at.now_ns > c->ended_ns) {
        order_case_stray(cases, c, at);
    } else if (c) {
        order_case_report(cases, c, order, at);
    } else if (order_case_duplicate(cases, order, at)) {
        return;
    } else if (order->symbol && strlen(order->client_id) < ORDER_CLIENT_ID_MAX &&
               cases->sink.ours(cases->sink.ctx, order->client_id)) {
        take_stray(cases, order, at);
    } else {
        order_cases_external(cases, order);
    }
}

/* Those that lived before the list was asked for, and are not in it. */
static void look_for_missing(struct order_cases *cases, const struct case_ask *asked,
                             const struct venue_answer *answer, const struct case_time *at)
{
    for (size_t i = 0; i < cases->n; i++) {
        struct order_case *c = cases->cases[i];
        if (c->state != CASE_LIVE || c->seen_ns >= asked->at.now_ns || listed(answer, c))
            continue;
        cases->reconcile.now.missing++;
        cases->serial++;
        if (c->query_ns > at->now_ns && c->absent == 0)
            c->query_ns = at->now_ns;
    }
}

static void give_balances(struct order_cases *cases, bool differed, const struct case_time *at)
{
    const struct case_reconcile *reconcile = &cases->reconcile;
    order_cases_confirmed(cases);
    cases->sink.balances(cases->sink.ctx, reconcile->balances, reconcile->n);
    end_cycle(cases, true, differed, at);
}

/* Before a difference is booked: what an order of ours traded that is there twice is none. Of the symbols
 * from that one on, whose base asset differs. */
static void look_at_recent(struct order_cases *cases, int symbol, const struct case_time *at)
{
    struct case_reconcile *reconcile = &cases->reconcile;
    int n = cases->config.id_for_life ? 0 : (int)cases->config.n_symbols;
    while (symbol < n && (!cases->config.symbols[symbol].name[0] ||
                          !cases->sink.differ(cases->sink.ctx, reconcile->balances, reconcile->n, symbol)))
        symbol++;
    reconcile->step = RECONCILE_RECENT;
    reconcile->recent = symbol;
    if (symbol >= n)
        give_balances(cases, true, at);
}

static void take_recent(struct order_cases *cases, const struct venue_answer *answer,
                        const struct case_time *at)
{
    struct case_reconcile *reconcile = &cases->reconcile;
    for (size_t i = 0; i < answer->n_orders; i++) {
        const struct venue_order *order = &answer->orders[i];
        struct order_case *c = order_case_find(cases, order->client_id, order->id);
        if (c)
            order_case_report(cases, c, order, at);
        else if (order->filled > 0)
            order_case_duplicate(cases, order, at);
    }
    if (cases->serial != reconcile->serial || cases->doubt.open)
        end_cycle(cases, false, false, at);
    else
        look_at_recent(cases, reconcile->recent + 1, at);
}

static void take_open(struct order_cases *cases, const struct case_ask *asked,
                      const struct venue_answer *answer, const struct case_time *at)
{
    struct case_reconcile *reconcile = &cases->reconcile;
    const bool same = cases->serial == reconcile->serial; /* since the balances were asked for */
    cases->n_external = 0;
    for (size_t i = 0; i < answer->n_orders; i++)
        take_listed(cases, asked, &answer->orders[i], at);
    look_for_missing(cases, asked, answer, at);
    bool differ = reconcile->have_balances &&
                  cases->sink.differ(cases->sink.ctx, reconcile->balances, reconcile->n, -1);
    if (cases->doubt.lost && differ && same) {
        order_cases_other_account(cases);
        return;
    }
    if (cases->doubt.lost && reconcile->have_balances && !differ)
        order_cases_witness_lost(cases);
    if (!reconcile->have_balances || cases->serial != reconcile->serial || any_open(cases)) {
        end_cycle(cases, false, false, at);
    } else if (differ && cases->witness.client_id[0]) {
        reconcile->step = RECONCILE_WITNESS;
        order_cases_ask_witness(cases, at);
    } else if (differ) {
        look_at_recent(cases, 0, at);
    } else {
        give_balances(cases, false, at);
    }
}

void order_cases_witness_known(struct order_cases *cases, const struct case_time *at)
{
    if (cases->serial == cases->reconcile.serial)
        look_at_recent(cases, 0, at);
    else
        end_cycle(cases, false, false, at);
}

void order_cases_witness_fails(struct order_cases *cases, const struct venue_answer *answer,
                               const struct case_time *at)
{
    fail_cycle(cases, answer, at);
}

void order_cases_reconcile_answer(struct order_cases *cases, const struct case_ask *asked,
                                  const struct venue_answer *answer, const struct case_time *at)
{
    cases->reconcile.asked = false;
    if (answer->outcome != VENUE_DONE && (asked->request != CASE_RECENT || answer->outcome != VENUE_REFUSED))
        fail_cycle(cases, answer, at);
    else if (asked->request == CASE_BALANCES)
        take_balances(cases, answer, at);
    else if (asked->request == CASE_RECENT)
        take_recent(cases, answer, at);
    else
        take_open(cases, asked, answer, at);
}

static void begin(struct order_cases *cases)
{
    struct case_reconcile *reconcile = &cases->reconcile;
    reconcile->have_balances = false;
    reconcile->serial = cases->serial;
    reconcile->step = any_open(cases) && !cases->doubt.lost ? RECONCILE_OPEN : RECONCILE_BALANCES;
}

int64_t order_cases_reconcile_step(struct order_cases *cases, const struct case_time *at)
{
    struct case_reconcile *reconcile = &cases->reconcile;
    if (reconcile->asked || reconcile->step == RECONCILE_WITNESS)
        return CASE_NEVER;
    if (reconcile->step == RECONCILE_IDLE && reconcile->due_ns <= at->now_ns)
        begin(cases);
    if (reconcile->step == RECONCILE_BALANCES)
        ask(cases, CASE_BALANCES, at);
    else if (reconcile->step == RECONCILE_OPEN)
        ask(cases, CASE_OPEN, at);
    else if (reconcile->step == RECONCILE_RECENT)
        ask(cases, CASE_RECENT, at);
    return reconcile->asked ? CASE_NEVER : reconcile->due_ns;
}
