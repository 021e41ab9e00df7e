/* Was the account reset at its venue? That is decided by an order from before, whatever the venue knows of
 * newer ones, and no order is placed meanwhile. */
#include "tests/daemon/order_cases_said.h"

/* Other balances, and no order is known there any more. */
static void test_wiped(void)
{
    begin(false);
    place(false);
    hear_fill(10, 10);
    done(VENUE_ORDER_FILLED, 10);
    said.differ = true;
    connect();
    outcome(VENUE_DONE);
    answer_open(NULL, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(asked()->request, CASE_WITNESS);
        CHECK_STR(said.reset, "");
        outcome(VENUE_ABSENT);
        pass(10 * S);
    }
    CHECK(said.reset[0] != 0);
    CHECK_INT(said.n_balances, 0);
    int asks = said.n_asks;
    pass(100 * S);
    CHECK_INT(said.n_asks, asks);
}

static void place_second(void)
{
    const struct order order = {.id = 2, .qty = 10, .state = ORDER_PENDING};
    CHECK_INT(order_cases_place(cases, &order, "ours-2", false, &now), 0);
    step();
}

static struct venue_order second(enum venue_order_state state, int64_t filled)
{
    return (struct venue_order){
        .client_id = "ours-2", .id = "1", .symbol = &symbol, .state = state, .qty = 10, .filled = filled};
}

/* The wipe is decided by the order from before it, whatever the venue took since. */
static void test_wiped_before_an_order(void)
{
    for (int rests = 0; rests < 2; rests++) {
        begin(false);
        place(false);
        done(VENUE_ORDER_NEW, 0);
        hear_fill(10, 10);
        connect();
        outcome(VENUE_DONE);
        answer_open(NULL, 0); /* a comparison that was good */
        CHECK_INT(said.n_balances, 1);
        place_second(); /* after the wipe, which nothing has shown yet */
        struct venue_order taken = second(rests ? VENUE_ORDER_NEW : VENUE_ORDER_CANCELED, 0);
        answer((struct venue_answer){.outcome = VENUE_DONE, .orders = &taken, .n_orders = 1});
        said.differ = true;
        pass(60 * S);
        outcome(VENUE_DONE);
        answer_open(&taken, (size_t)rests);
        for (int i = 0; i < 3; i++) {
            CHECK_INT(asked()->request, CASE_WITNESS);
            CHECK_STR(asked()->client_id, "ours-1");
            CHECK_STR(said.reset, "");
            outcome(VENUE_ABSENT);
            pass(i < 2 ? 10 * S : 0);
        }
        CHECK(strstr(said.reset, "ours-1") != NULL);
        CHECK_INT(said.n_balances, 1);
    }
}

/* One that rests there is not known: from then on nothing is placed, until the witness says what that means.
 */
static void doubt_one_that_rests(void)
{
    begin(false);
    place(false);
    done(VENUE_ORDER_NEW, 0);
    pass(1 * S);
    connect();
    outcome(VENUE_DONE);
    answer_open(&(struct venue_order){.client_id = "web_1", .id = "5", .state = VENUE_ORDER_NEW}, 1);
    CHECK_INT(asked()->request, CASE_QUERY);
    const struct case_ask query = *asked();
    order_cases_answer(cases, &query, &(struct venue_answer){.outcome = VENUE_ABSENT, .text = ""}, &now);
    place_second();
    CHECK_INT(asked()->request, CASE_WITNESS);
    CHECK_STR(said.doubt, "");
}

/* Answers each request from the `answered`th on, those of orders by `orders`; until `end`, or a minute has
 * passed. */
static void answer_all(int answered, enum venue_outcome orders, const char *end)
{
    for (int i = 0; i < 300 && !said.reset[0] && strcmp(said.doubt, end) != 0; i++) {
        for (; answered < said.n_asks && !said.reset[0]; answered++) {
            const struct case_ask ask = said.asks[answered % SAID];
            const bool account =
                ask.request == CASE_BALANCES || ask.request == CASE_OPEN || ask.request == CASE_RECENT;
            CHECK(ask.request != CASE_PLACE);
            order_cases_answer(
                cases, &ask,
                &(struct venue_answer){.outcome = account ? VENUE_DONE : orders, .text = "", .retry_ms = 0},
                &now);
            step();
            if (strcmp(said.doubt, end) == 0)
                return;
        }
        pass(S / 5);
    }
}

static void test_held_back(void)
{
    struct order_cases_view view;
    doubt_one_that_rests();
    done(VENUE_ORDER_NEW, 0); /* it is known after all */
    CHECK_INT(asked()->request, CASE_PLACE);
    CHECK_STR(said.doubt, "");

    /* Not known, and the balances are the same: one order was lost, no account. */
    doubt_one_that_rests();
    outcome(VENUE_ABSENT);
    CHECK_STR(said.doubt, "ours-1");
    order_cases_view(cases, &view);
    CHECK_STR(view.doubted, "ours-1");
    answer_all(said.n_asks, VENUE_ABSENT, "over");
    CHECK_STR(said.doubt, "over");
    CHECK_STR(said.reset, "");
    CHECK_INT(asked()->request, CASE_PLACE);
    CHECK_INT(asked()->order_id, 2);

    /* Others: it is another account, soon after the last answer; the order was never sent. */
    doubt_one_that_rests();
    said.differ = true;
    const int64_t since_ns = now.now_ns;
    answer_all(said.n_asks - 1, VENUE_ABSENT, "over");
    CHECK(strstr(said.reset, "ours-1") != NULL);
    CHECK(now.now_ns - since_ns <= 21 * S);
    CHECK_INT(said.n_balances, 0);
    CHECK_INT(news(), VENUE_UPDATE_OPEN); /* of the first: its end is the account's */

    /* The venue says nothing: a minute, and it is given up. */
    doubt_one_that_rests();
    answer_all(said.n_asks - 1, VENUE_UNKNOWN, "over");
    CHECK_INT(news(), VENUE_UPDATE_ABSENT);
    CHECK_INT(said.news_of[(said.n_news - 1) % SAID], 2);
}

/* An order was lost there, and no account: it ends, is no doubt a second time, and no witness from then on.
 */
static void test_lost_alone(void)
{
    doubt_one_that_rests();
    order_cases_cancel(cases, 2, &now);
    answer_all(said.n_asks - 1, VENUE_ABSENT, "never");
    CHECK(news() == VENUE_UPDATE_EXPIRED && said.news_of[(said.n_news - 1) % SAID] == 1);
    CHECK_STR(said.doubt, "over");
    CHECK_INT(said.n_doubts, 1);
    CHECK_INT(said.n_balances, 1);
    said.differ = true;
    answer_all(said.n_asks, VENUE_ABSENT, "never");
    CHECK_STR(said.reset, "");
    CHECK_INT(said.n_balances, 2);
}

static void answer_later(const struct case_ask *ask, const struct venue_order *order)
{
    const struct venue_answer it = {
        .outcome = order ? VENUE_DONE : VENUE_ABSENT, .orders = order, .n_orders = order != NULL, .text = ""};
    order_cases_answer(cases, ask, &it, &now);
    step();
}

static const struct case_ask *last_asked(enum case_request request)
{
    int i = said.n_asks - 1;
    while (i > 0 && said.asks[i % SAID].request != request)
        i--;
    return &said.asks[i % SAID];
}

/* A fill between the balances and the open orders: they differ by it, and prove nothing. */
static void test_fill_between(void)
{
    const struct venue_order foreign = {.client_id = "web_1", .id = "5", .state = VENUE_ORDER_NEW};
    doubt_one_that_rests();
    for (int i = 0; i < 3; i++, pass(10 * S)) {
        if (i > 0) /* a comparison before it was lost */
            answer_later(last_asked(CASE_OPEN), &foreign);
        answer_later(last_asked(CASE_WITNESS), NULL);
    }
    answer_later(last_asked(CASE_BALANCES), &foreign);
    hear_fill(4, 4);
    said.differ = true;
    answer_open(NULL, 0);
    CHECK_STR(said.reset, "");
    said.differ = false;
    answer_all(said.n_asks, VENUE_ABSENT, "over");
    CHECK_STR(said.doubt, "over");
    CHECK_STR(said.reset, "");
}

/* The witness's answer comes once another one was confirmed, and is wanted: that one is asked for. */
static void test_late_answer(void)
{
    const struct venue_order both[] = {at_venue(VENUE_ORDER_NEW, 0), second(VENUE_ORDER_NEW, 0)};
    begin(false);
    place(false);
    done(VENUE_ORDER_NEW, 0);
    place_second();
    answer((struct venue_answer){.outcome = VENUE_DONE, .orders = &both[1], .n_orders = 1});
    pass(1 * S);
    connect();
    outcome(VENUE_DONE);
    answer_open(&both[1], 1);
    CHECK_INT(asked()->request, CASE_QUERY);
    const struct case_ask query = *asked();
    answer_later(&query, NULL);
    CHECK_INT(asked()->request, CASE_WITNESS);
    const struct case_ask late = *asked();
    CHECK_STR(late.client_id, "ours-1");
    pass(10 * S);
    answer_open(both, 2);
    answer_later(&query, &both[0]); /* it is known after all */
    pass(5 * S);
    outcome(VENUE_DONE);
    answer_open(both, 2);
    CHECK_INT(said.n_balances, 1);
    said.differ = true;
    order_cases_reconcile(cases, &now);
    step();
    outcome(VENUE_DONE);
    answer_open(both, 2);
    answer_later(&late, &both[0]);
    CHECK_INT(asked()->request, CASE_WITNESS);
    CHECK_STR(asked()->client_id, "ours-2");
}

/* A halted account doubts nothing. */
static void test_stopped(void)
{
    struct order_cases_view view;
    doubt_one_that_rests();
    outcome(VENUE_ABSENT);
    CHECK_STR(said.doubt, "ours-1");
    order_cases_stop(cases);
    CHECK_STR(said.doubt, "over");
    order_cases_view(cases, &view);
    CHECK_STR(view.doubted, "");
}

int main(void)
{
    test_wiped();
    test_wiped_before_an_order();
    test_held_back();
    test_lost_alone();
    test_fill_between();
    test_late_answer();
    test_stopped();
    order_cases_destroy(cases);
    return check_done("order_cases_wiped");
}
