/* Is the account the one that it was? A venue that resets it knows none of its orders from before, and may
 * know those since. So it is asked for one from before, of the last comparison that was good, some times
 * within a while, since a venue may also be late; and what it does not know then, and balances that are
 * others, are another account. */
#include <stdio.h>
#include <string.h>

#include "daemon/execution/order_cases_internal.h"

#define RETRY_NS (5 * CASE_SECOND_NS)

static void take(struct case_witness *witness, const struct order_case *c)
{
    witness->symbol = c->order.symbol;
    memcpy(witness->client_id, c->client_id, sizeof witness->client_id);
}

void order_cases_newest(struct order_cases *cases, const struct order_case *c)
{
    if (c->mute)
        return;
    take(&cases->newest, c);
    if (!cases->witness.client_id[0])
        cases->witness = cases->newest;
}

void order_cases_confirmed(struct order_cases *cases)
{
    order_cases_doubt_over(cases);
    if (cases->newest.client_id[0])
        cases->witness = cases->newest;
}

void order_cases_no_witness(struct order_cases *cases, const char *client_id)
{
    if (strcmp(cases->newest.client_id, client_id) == 0)
        cases->newest.client_id[0] = '\0';
}

void order_cases_witness_lost(struct order_cases *cases)
{
    order_cases_no_witness(cases, cases->witness.client_id);
    cases->witness = cases->newest;
    order_cases_doubt_over(cases);
}

void order_cases_ask_witness(struct order_cases *cases, const struct case_time *at)
{
    struct case_doubt *doubt = &cases->doubt;
    if (!doubt->asked && doubt->due_ns == CASE_NEVER && !doubt->lost)
        doubt->due_ns = at->now_ns;
}

void order_cases_doubt(struct order_cases *cases, const struct order_case *c, const struct case_time *at)
{
    if (!cases->witness.client_id[0])
        take(&cases->witness, c);
    cases->doubt.open = true;
    order_cases_ask_witness(cases, at);
}

void order_cases_doubt_over(struct order_cases *cases)
{
    struct case_doubt *doubt = &cases->doubt;
    bool reported = doubt->reported;
    *doubt = (struct case_doubt){.asked = doubt->asked, .due_ns = CASE_NEVER};
    if (reported)
        cases->sink.doubt(cases->sink.ctx, NULL);
}

void order_cases_other_account(struct order_cases *cases)
{
    char text[VENUE_UPDATE_TEXT_MAX];
    snprintf(text, sizeof text, "other balances, and its order of client id %s is not known there any more",
             cases->witness.client_id);
    order_cases_reset(cases, text);
}

static void absent(struct order_cases *cases, const struct case_time *at)
{
    struct case_doubt *doubt = &cases->doubt;
    doubt->open = true;
    if (doubt->absent++ == 0)
        doubt->absent_ns = at->now_ns;
    if (!doubt->reported) {
        doubt->reported = true;
        cases->sink.doubt(cases->sink.ctx, cases->witness.client_id);
    }
    doubt->lost =
        doubt->absent >= CASE_LOST_ANSWERS && at->now_ns - doubt->absent_ns >= CASE_LOST_S * CASE_SECOND_NS;
    if (!doubt->lost)
        doubt->due_ns = at->now_ns + CASE_LOST_S * CASE_SECOND_NS / (CASE_LOST_ANSWERS - 1);
    else if (cases->reconcile.step == RECONCILE_WITNESS)
        order_cases_other_account(cases);
    else
        order_cases_reconcile(cases, at);
}

void order_cases_witness_answer(struct order_cases *cases, const struct case_ask *asked,
                                const struct venue_answer *answer, const struct case_time *at)
{
    struct case_doubt *doubt = &cases->doubt;
    doubt->asked = false;
    if (strcmp(asked->client_id, cases->witness.client_id) != 0) { /* it was confirmed meanwhile */
        if (doubt->open || cases->reconcile.step == RECONCILE_WITNESS)
            doubt->due_ns = at->now_ns;
    } else if (answer->outcome == VENUE_ABSENT) {
        absent(cases, at);
    } else if (answer->outcome == VENUE_DONE || answer->outcome == VENUE_REFUSED) { /* REFUSED: as archived */
        order_cases_doubt_over(cases);
        if (cases->reconcile.step == RECONCILE_WITNESS)
            order_cases_witness_known(cases, at);
    } else {
        int64_t retry_ns = answer->retry_ms * 1000000;
        if (doubt->open)
            doubt->due_ns = at->now_ns + (retry_ns > RETRY_NS ? retry_ns : RETRY_NS);
        if (cases->reconcile.step == RECONCILE_WITNESS)
            order_cases_witness_fails(cases, answer, at);
    }
}

int64_t order_cases_witness_step(struct order_cases *cases, const struct case_time *at)
{
    struct case_doubt *doubt = &cases->doubt;
    if (doubt->asked || doubt->due_ns > at->now_ns)
        return doubt->asked ? CASE_NEVER : doubt->due_ns;
    struct case_ask it = {.request = CASE_WITNESS, .at = *at, .symbol = cases->witness.symbol};
    memcpy(it.client_id, cases->witness.client_id, sizeof it.client_id);
    doubt->asked = true;
    doubt->due_ns = CASE_NEVER;
    cases->sink.ask(cases->sink.ctx, &it, NULL);
    return CASE_NEVER;
}
