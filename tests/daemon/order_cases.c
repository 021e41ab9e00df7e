/* The rules of daemon/execution/order_cases.h, one by one; order_cases_random.c has them all at once. */
#include "daemon/execution/order_cases.h"

#include "tests/daemon/order_cases_said.h"

static void test_outcomes(void)
{
    begin(false);
    place(false);
    LAST(1, CASE_PLACE, 0, VENUE_UPDATES);
    done(VENUE_ORDER_NEW, 0);
    LAST(1, CASE_PLACE, 1, VENUE_UPDATE_OPEN);
    hear_fill(10, 10);
    LAST(1, CASE_PLACE, 2, VENUE_UPDATE_FILL);
    begin(false);
    place(false);
    outcome(VENUE_REFUSED);
    LAST(1, CASE_PLACE, 1, VENUE_UPDATE_REJECTED);
    CHECK_STR(said.text, "-2010: no");
    begin(false);
    place(false);
    outcome(VENUE_EXISTS);
    LAST(2, CASE_QUERY, 0, VENUE_UPDATES);
    done(VENUE_ORDER_NEW, 0);
    LAST(2, CASE_QUERY, 1, VENUE_UPDATE_OPEN);
}

/* What did not leave is sent later; but an order that protects nothing not after a minute. */
static void test_not_sent(void)
{
    begin(false);
    place(false);
    answer((struct venue_answer){.outcome = VENUE_NOT_SENT, .retry_ms = 3000});
    pass(2 * S);
    LAST(1, CASE_PLACE, 0, VENUE_UPDATES);
    pass(1 * S);
    LAST(2, CASE_PLACE, 0, VENUE_UPDATES);
    pass(60 * S);
    answer((struct venue_answer){.outcome = VENUE_NOT_SENT, .text = "no route"});
    LAST(2, CASE_PLACE, 1, VENUE_UPDATE_ABSENT);
    CHECK_STR(said.text, "no route");
    begin(false);
    place(false);
    answer((struct venue_answer){.outcome = VENUE_NOT_SENT, .retry_ms = 600000, .text = "banned"});
    LAST(1, CASE_PLACE, 1, VENUE_UPDATE_ABSENT); /* it would be too late */
    begin(false);
    place(true);
    pass(60 * S);
    outcome(VENUE_NOT_SENT);
    pass(1 * S);
    LAST(2, CASE_PLACE, 0, VENUE_UPDATES);
    outcome(VENUE_NOT_SENT);
    cancel(); /* nothing is there that could be cancelled */
    LAST(2, CASE_PLACE, 1, VENUE_UPDATE_CANCELED);
}

static void lose(void)
{
    answer(
        (struct venue_answer){.outcome = VENUE_UNKNOWN, .text = "503", .settled_ns = 9000 * S + SETTLE_NS});
}

static void test_unknown(void)
{
    begin(false);
    place(false);
    lose();
    LAST(1, CASE_PLACE, 1, VENUE_UPDATE_UNKNOWN);
    hear_order(VENUE_ORDER_NEW, 0); /* user data says it before it is asked for */
    LAST(1, CASE_PLACE, 2, VENUE_UPDATE_OPEN);
    pass(5 * S);
    LAST(1, CASE_PLACE, 2, VENUE_UPDATE_OPEN);

    begin(false);
    place(false);
    lose();
    pass(1 * S);
    LAST(2, CASE_QUERY, 1, VENUE_UPDATE_UNKNOWN);
    outcome(VENUE_ABSENT); /* proves nothing yet */
    for (int i = 0; i < 14; i++) {
        pass(1 * S);
        if (asked()->at.now_ns == now.now_ns)
            outcome(VENUE_ABSENT);
    }
    CHECK(said.n_asks > 3 && said.n_asks < 9); /* with pauses that grow */
    CHECK_INT(said.n_news, 1);
    pass(2 * S);
    CHECK_INT(asked()->at.now_ns, now.now_ns); /* as soon as it can be proved */
    outcome(VENUE_ABSENT);
    CHECK_INT(said.n_news, 2);
    CHECK_INT(news(), VENUE_UPDATE_ABSENT);
    CHECK_STR(said.text, "it never reached the venue");
}

/* An order that protects a position is placed a second time, and no third. */
static void test_again(void)
{
    begin(false);
    place(true);
    lose();
    pass(17 * S);
    LAST(2, CASE_QUERY, 1, VENUE_UPDATE_UNKNOWN);
    outcome(VENUE_ABSENT);
    LAST(2, CASE_QUERY, 2, VENUE_UPDATE_AGAIN);
    pass(60 * S); /* not before that is stored */
    CHECK_INT(said.n_asks, 2);
    place(true);
    LAST(3, CASE_PLACE, 2, VENUE_UPDATE_AGAIN);
    answer((struct venue_answer){.outcome = VENUE_UNKNOWN});
    CHECK_INT(news(), VENUE_UPDATE_UNKNOWN);
    pass(17 * S);
    outcome(VENUE_ABSENT);
    LAST(4, CASE_QUERY, 4, VENUE_UPDATE_ABSENT);

    begin(true); /* the same id is safe there: at once */
    place(true);
    answer((struct venue_answer){.outcome = VENUE_UNKNOWN});
    pass(1 * S);
    outcome(VENUE_ABSENT);
    LAST(3, CASE_PLACE, 1, VENUE_UPDATE_UNKNOWN);
    outcome(VENUE_REFUSED); /* which may be due to the first */
    LAST(4, CASE_QUERY, 1, VENUE_UPDATE_UNKNOWN);
    done(VENUE_ORDER_NEW, 0);
    LAST(4, CASE_QUERY, 2, VENUE_UPDATE_OPEN);

    for (int again = 0; again < 2; again++) { /* neither is there: a third is not placed */
        if (again == 0)
            begin(true);
        place(true);
        lose();
        pass(1 * S);
        outcome(VENUE_ABSENT);
        outcome(VENUE_REFUSED);
        outcome(VENUE_ABSENT); /* proves nothing yet */
        pass(40 * S);
        outcome(VENUE_ABSENT);
        CHECK_INT(news(), again ? VENUE_UPDATE_REJECTED : VENUE_UPDATE_AGAIN);
    }
    CHECK_STR(said.text, "-2010: no");
}

/* Where the venue's time is not known nothing is proved by it. */
static void test_no_clock(void)
{
    begin(false);
    now.venue_ns = 0;
    place(false);
    answer((struct venue_answer){.outcome = VENUE_UNKNOWN});
    for (int i = 0; i < 100; i++) {
        now.now_ns += S;
        step();
        if (asked()->at.now_ns == now.now_ns)
            outcome(VENUE_ABSENT);
    }
    CHECK_INT(said.n_news, 1);
    now.venue_ns = 9200 * S;
    pass(31 * S);
    outcome(VENUE_ABSENT);
    CHECK_INT(news(), VENUE_UPDATE_ABSENT);
}

static void test_cancel(void)
{
    begin(false);
    place(false);
    cancel(); /* waits */
    LAST(1, CASE_PLACE, 0, VENUE_UPDATES);
    lose();
    hear_order(VENUE_ORDER_NEW, 0);
    LAST(2, CASE_CANCEL, 2, VENUE_UPDATE_OPEN);
    outcome(VENUE_ABSENT); /* is not believed */
    LAST(3, CASE_QUERY, 2, VENUE_UPDATE_OPEN);
    done(VENUE_ORDER_FILLED, 10); /* it was filled meanwhile */
    LAST(4, CASE_FILLS, 2, VENUE_UPDATE_OPEN);
    struct venue_fill fills[] = {fill_of(4, 4), fill_of(6, 10)};
    answer((struct venue_answer){.outcome = VENUE_DONE, .fills = fills, .n_fills = 2});
    LAST(4, CASE_FILLS, 4, VENUE_UPDATE_FILL);

    begin(false);
    place(false);
    done(VENUE_ORDER_NEW, 0);
    cancel();
    answer((struct venue_answer){.outcome = VENUE_UNKNOWN});
    pass(1 * S);
    LAST(3, CASE_QUERY, 1, VENUE_UPDATE_OPEN);
    done(VENUE_ORDER_NEW, 0);
    pass(2 * S);
    LAST(4, CASE_CANCEL, 1, VENUE_UPDATE_OPEN);
    done(VENUE_ORDER_CANCELED, 0);
    LAST(4, CASE_CANCEL, 2, VENUE_UPDATE_CANCELED);
}

/* User data that were lost, repeated, or came in another order. */
static void test_fills(void)
{
    begin(false);
    place(false);
    done(VENUE_ORDER_NEW, 0);
    hear_fill(3, 3);
    hear_fill(3, 3);
    CHECK_INT(said.n_news, 2);
    hear_fill(2, 7); /* the one before is missing */
    CHECK_INT(said.n_news, 2);
    LAST(2, CASE_FILLS, 2, VENUE_UPDATE_FILL);
    struct venue_fill fills[] = {fill_of(3, 3), fill_of(2, 5), fill_of(2, 7)};
    answer((struct venue_answer){.outcome = VENUE_DONE, .fills = fills, .n_fills = 3});
    CHECK_INT(said.n_news, 4);
    hear_order(VENUE_ORDER_CANCELED, 7);
    hear_order(VENUE_ORDER_NEW, 0);
    CHECK_INT(said.n_news, 5);
    CHECK_INT(news(), VENUE_UPDATE_CANCELED);
}

static void test_reconcile(void)
{
    struct order_cases_view view;
    struct venue_order other = {.client_id = "web_1", .id = "5", .state = VENUE_ORDER_NEW};
    begin(false);
    connect();
    LAST(1, CASE_BALANCES, 0, VENUE_UPDATES);
    outcome(VENUE_DONE);
    answer_open(&other, 1);
    CHECK_INT(said.n_balances, 1);
    order_cases_view(cases, &view);
    CHECK_INT(view.n_external, 1);
    CHECK_STR(view.external[0].client_id, "web_1");
    CHECK(view.found.balances && view.found.at_ns == now.now_ns);
    place(false);
    done(VENUE_ORDER_NEW, 0);
    order_cases_link(cases, false, &now);
    pass(1 * S);
    connect();
    outcome(VENUE_DONE);
    answer_open(NULL, 0); /* it is missing: what became of it? */
    LAST(6, CASE_QUERY, 1, VENUE_UPDATE_OPEN);
    CHECK_INT(said.n_balances, 1);
    done(VENUE_ORDER_EXPIRED, 0);
    CHECK_INT(news(), VENUE_UPDATE_EXPIRED);
    order_cases_view(cases, &view);
    CHECK_INT(view.found.missing, 1);
    CHECK_INT(view.n_external, 0);
    pass(60 * S);
    struct case_ask balances = *asked();
    const struct order second = {.id = 2, .qty = 10, .state = ORDER_PENDING};
    CHECK_INT(order_cases_place(cases, &second, "ours-2", false, &now), 0);
    step(); /* placed while they are asked for: they prove nothing then */
    order_cases_answer(cases, &balances, &(struct venue_answer){.outcome = VENUE_DONE, .text = ""}, &now);
    step();
    answer_open(NULL, 0);
    CHECK_INT(said.n_balances, 1);
}

/* An order is denied: that is all, unless the keys cannot even read. */
static void test_denied(void)
{
    const struct venue_answer denied = {.outcome = VENUE_DENIED, .text = "401"};
    begin(false);
    place(false);
    answer(denied);
    CHECK_INT(news(), VENUE_UPDATE_REJECTED);
    CHECK_STR(said.text, "401");
    CHECK_INT(asked()->request, CASE_RIGHTS);
    CHECK_STR(said.reset, "");
    outcome(VENUE_UNKNOWN); /* nothing is known then */
    CHECK_STR(said.rights, "");
    pass(10 * S);
    CHECK_INT(asked()->request, CASE_RIGHTS);
    outcome(VENUE_DONE);
    CHECK_STR(said.rights, "401");
    CHECK_STR(said.reset, "");
    CHECK_INT(order_cases_place(cases, &(struct order){.id = 2, .qty = 10}, "ours-2", false, &now), 0);
    step();
    outcome(VENUE_DONE);
    CHECK_STR(said.rights, "over");

    begin(false);
    place(false);
    answer(denied);
    answer(denied);
    CHECK_STR(said.reset, "its keys are wrong, or have no such rights: 401");
}

/* Of a former run: each is looked for, not too many at once. */
static void test_adopted(void)
{
    begin(false);
    for (unsigned i = 1; i <= 25; i++) {
        struct order order = {.id = i, .qty = 10, .state = i == 1 ? ORDER_PENDING : ORDER_OPEN};
        char client_id[ORDER_CLIENT_ID_MAX];
        snprintf(client_id, sizeof client_id, "ours-%u", i);
        CHECK_INT(order_cases_adopt(cases, &order, client_id, "", false, i == 1, &now), 0);
    }
    step();
    CHECK_INT(said.n_asks, CASE_QUERIES_A_SECOND);
    CHECK_INT(step(), now.now_ns + S);
    pass(1 * S);
    CHECK_INT(said.n_asks, 2 * CASE_QUERIES_A_SECOND);
    pass(1 * S);
    CHECK_INT(said.n_asks, 25);
    for (int i = 0; i < said.n_asks; i++)
        CHECK_INT(said.asks[i].request, CASE_QUERY);
    hear_order(VENUE_ORDER_NEW, 0); /* the one that was to be cancelled */
    LAST(26, CASE_CANCEL, 1, VENUE_UPDATE_OPEN);
}

/* One that had ended here lives there: it is cancelled, and nothing is reported of it. */
static void test_stray(void)
{
    struct venue_order stray = at_venue(VENUE_ORDER_NEW, 0);
    begin(false);
    connect();
    outcome(VENUE_DONE);
    answer_open(&stray, 1);
    LAST(3, CASE_QUERY, 0, VENUE_UPDATES);
    done(VENUE_ORDER_NEW, 0);
    LAST(4, CASE_CANCEL, 0, VENUE_UPDATES);
    done(VENUE_ORDER_CANCELED, 0);
    pass(10 * S);
    LAST(5, CASE_BALANCES, 0, VENUE_UPDATES);
}

static struct venue_order twin(enum venue_order_state state, int64_t filled)
{
    struct venue_order order = at_venue(state, filled);
    snprintf(order.id, sizeof order.id, "78");
    return order;
}

static struct venue_fill twin_fill(int64_t qty, int64_t cumulative)
{
    struct venue_fill fill = fill_of(qty, cumulative);
    snprintf(fill.order_id, sizeof fill.order_id, "78");
    return fill;
}

static void end_twin(void)
{
    struct venue_fill fill = twin_fill(6, 6);
    struct venue_order order = twin(VENUE_ORDER_FILLED, 10);
    order_cases_fill(cases, &fill, &now);
    step();
    CHECK(said.news_of[(said.n_news - 1) % SAID] == 2 && news() == VENUE_UPDATE_FILL);
    fill = twin_fill(4, 10);
    order_cases_fill(cases, &fill, &now);
    order_cases_order(cases, &order, &now);
    step();
    CHECK(said.news_of[(said.n_news - 1) % SAID] == 2 && news() == VENUE_UPDATE_FILL);
}

/* Both orders of a client id had ended here, and live there: each is looked for by the venue's id, and none
 * of them is the second of the other. */
static void test_two_strays(void)
{
    const struct venue_order strays[] = {at_venue(VENUE_ORDER_NEW, 0), twin(VENUE_ORDER_NEW, 0)};
    begin(false);
    connect();
    outcome(VENUE_DONE);
    answer_open(strays, 2);
    CHECK_INT(said.n_asks, 4);
    const struct case_ask queries[] = {said.asks[2], said.asks[3]};
    CHECK(strcmp(queries[0].venue_id, queries[1].venue_id) != 0);
    for (int i = 1; i >= 0; i--) {
        const bool second = strcmp(queries[i].venue_id, strays[1].id) == 0;
        const struct venue_answer found = {
            .outcome = VENUE_DONE, .orders = &strays[second], .n_orders = 1, .text = ""};
        CHECK_INT(queries[i].request, CASE_QUERY);
        order_cases_answer(cases, &queries[i], &found, &now);
        step();
        CHECK_INT(asked()->request, CASE_CANCEL);
        CHECK_STR(asked()->venue_id, queries[i].venue_id);
    }
    CHECK_STR(said.twin, "");
    CHECK_INT(said.n_news, 0);
}

/* A request that reached the venue twice: whatever is heard of the second order is another order's, and never
 * fills the first. */
static void test_duplicate_in_user_data(void)
{
    struct venue_order second = twin(VENUE_ORDER_NEW, 0);
    begin(false);
    place(false);
    done(VENUE_ORDER_NEW, 0);
    hear_fill(4, 4);
    order_cases_order(cases, &second, &now);
    LAST(1, CASE_PLACE, 2, VENUE_UPDATE_FILL);
    CHECK_STR(said.twin, "78");
    end_twin();
    hear_fill(6, 10); /* and the first goes its way */
    CHECK_INT(said.n_news, 5);
    CHECK_INT(said.news_of[4], 1);
}

/* The answer is that of the second, after the first is known. */
static void test_duplicate_in_the_answer(void)
{
    begin(false);
    place(false);
    hear_order(VENUE_ORDER_NEW, 0);
    hear_fill(10, 10);
    struct venue_order second = twin(VENUE_ORDER_PARTIAL, 6);
    struct venue_fill fill = twin_fill(6, 6);
    answer((struct venue_answer){
        .outcome = VENUE_DONE, .orders = &second, .n_orders = 1, .fills = &fill, .n_fills = 1});
    CHECK_STR(said.twin, "78");
    CHECK(said.n_news == 3 && said.news_of[2] == 2);
    pass(10 * S);
    CHECK_INT(said.n_asks, 1); /* nothing of it is missing */
}

/* Nothing is heard of it: the balances differ. */
static void test_duplicate_in_the_balances(void)
{
    begin(false);
    connect();
    outcome(VENUE_DONE);
    answer_open(NULL, 0);
    place(false);
    struct venue_order first = at_venue(VENUE_ORDER_FILLED, 10);
    struct venue_fill whole = fill_of(10, 10);
    answer((struct venue_answer){
        .outcome = VENUE_DONE, .orders = &first, .n_orders = 1, .fills = &whole, .n_fills = 1});
    said.differ = true;
    pass(60 * S);
    outcome(VENUE_DONE);
    answer_open(NULL, 0);
    CHECK_INT(asked()->request, CASE_WITNESS);
    done(VENUE_ORDER_FILLED, 10);
    CHECK(asked()->request == CASE_RECENT && asked()->symbol == 0);
    const struct venue_order both[] = {first, twin(VENUE_ORDER_FILLED, 10)};
    CHECK_INT(said.n_balances, 1);
    answer((struct venue_answer){.outcome = VENUE_DONE, .orders = both, .n_orders = 2});
    CHECK_STR(said.twin, "78");
    CHECK_INT(said.n_balances, 1);
    pass(1 * S);
    CHECK(asked()->request == CASE_FILLS && strcmp(asked()->venue_id, "78") == 0);
    struct venue_fill fill = twin_fill(10, 10);
    answer((struct venue_answer){.outcome = VENUE_DONE, .fills = &fill, .n_fills = 1});
    CHECK(said.news_of[(said.n_news - 1) % SAID] == 2 && news() == VENUE_UPDATE_FILL);
    said.differ = false;
    pass(10 * S);
    outcome(VENUE_DONE);
    answer_open(NULL, 0);
    CHECK_INT(said.n_balances, 2);
}

/* What distinguishes the second from the first: the venue's id of the first, or that it was refused. */
static void test_duplicate_of_the_known(void)
{
    begin(false); /* a former run's, of which the account knows the venue's id */
    snprintf(said.booked, sizeof said.booked, "77");
    struct venue_order second = twin(VENUE_ORDER_FILLED, 10);
    order_cases_order(cases, &second, &now);
    CHECK_STR(said.twin, "78");
    begin(false); /* one of which it knows nothing: which of the two it has booked cannot be said */
    order_cases_order(cases, &second, &now);
    CHECK_STR(said.twin, "");
    begin(false); /* the second was refused, and the first lives */
    place(false);
    outcome(VENUE_REFUSED);
    LAST(1, CASE_PLACE, 1, VENUE_UPDATE_REJECTED);
    hear_order(VENUE_ORDER_FILLED, 10);
    CHECK_STR(said.twin, "77");
}

/* Refused for its timestamp: it never entered the book, and is sent again by the time that was read since, a
 * few times; one that protects a position as often as it takes; never where it is to be cancelled. */
static void test_bad_timestamp(void)
{
    const struct venue_answer bad_timestamp = {.outcome = VENUE_BAD_TIMESTAMP, .text = "-1021: Timestamp"};
    enum { OFTEN = 3 * CASE_RESENT_MAX };
    for (int protects = 0; protects < 2; protects++) {
        begin(false);
        place(protects);
        for (int i = 1; i <= (protects ? OFTEN : CASE_RESENT_MAX); i++) {
            answer(bad_timestamp);
            pass(5 * S);
            LAST(i, CASE_PLACE, 0, VENUE_UPDATES); /* not before the time was read */
            order_cases_clock_renewed(cases, &now);
            order_cases_clock_renewed(cases, &now); /* that is one sending */
            step();
            CHECK_INT(said.n_asks, i == 1 ? 2 : i);
            pass(i == 1 ? 0 : protects ? 30 * S : 4 * S); /* a pause that grows */
            LAST(i + 1, CASE_PLACE, 0, VENUE_UPDATES);
            order_cases_clock_renewed(cases, &now); /* it is on its way */
            step();
            CHECK_INT(said.n_asks, i + 1);
        }
        answer(bad_timestamp);
        step();
        CHECK_INT(said.n_news, protects ? 0 : 1);
    }
    /* It could not leave for most of a minute: that is no time in which the venue's could be read. */
    begin(false);
    place(false);
    while (now.now_ns < 140 * S) {
        if (asked()->at.now_ns == now.now_ns)
            outcome(VENUE_NOT_SENT);
        pass(1 * S);
    }
    while (asked()->at.now_ns != now.now_ns)
        pass(1 * S);
    answer(bad_timestamp);
    CHECK_INT(said.n_news, 0);
    order_cases_clock_renewed(cases, &now);
    step();
    done(VENUE_ORDER_NEW, 0);
    CHECK_INT(news(), VENUE_UPDATE_OPEN);
    /* Refused again later, by a time that was read since: that is no minute without one. */
    begin(false);
    place(false);
    answer(bad_timestamp);
    order_cases_clock_renewed(cases, &now);
    step();
    answer((struct venue_answer){.outcome = VENUE_NOT_SENT, .retry_ms = 40000});
    pass(40 * S);
    LAST(3, CASE_PLACE, 0, VENUE_UPDATES);
    answer(bad_timestamp);
    CHECK_INT(said.n_news, 0);
    /* The time cannot be read: by the old one, once in a while, and not for ever. */
    for (int protects = 0; protects < 2; protects++) {
        begin(false);
        place(protects);
        for (int i = 1; i <= (protects ? OFTEN : 2); i++) {
            LAST(i, CASE_PLACE, 0, VENUE_UPDATES);
            answer(bad_timestamp);
            pass(29 * S);
            CHECK_INT(said.n_asks, i);
            pass(1 * S);
        }
        if (protects)
            LAST(OFTEN + 1, CASE_PLACE, 0, VENUE_UPDATES);
        else
            LAST(2, CASE_PLACE, 1, VENUE_UPDATE_REJECTED);
    }
    begin(false);
    place(true);
    answer(bad_timestamp);
    order_cases_clock_renewed(cases, &now);
    step();
    done(VENUE_ORDER_NEW, 0);
    LAST(2, CASE_PLACE, 1, VENUE_UPDATE_OPEN);
    begin(false);
    place(true);
    answer(bad_timestamp);
    cancel();
    order_cases_clock_renewed(cases, &now);
    pass(60 * S);
    LAST(1, CASE_PLACE, 1, VENUE_UPDATE_CANCELED);
    /* Its outcome is open: the time that is read changes nothing about that. */
    begin(false);
    place(true);
    outcome(VENUE_UNKNOWN);
    order_cases_clock_renewed(cases, &now);
    step();
    LAST(1, CASE_PLACE, 1, VENUE_UPDATE_UNKNOWN);
    /* A cancel is asked again. */
    begin(false);
    place(true);
    done(VENUE_ORDER_NEW, 0);
    cancel();
    LAST(2, CASE_CANCEL, 1, VENUE_UPDATE_OPEN);
    answer(bad_timestamp);
    pass(1 * S);
    LAST(3, CASE_CANCEL, 1, VENUE_UPDATE_OPEN);
}

int main(void)
{
    test_outcomes();
    test_bad_timestamp();
    test_not_sent();
    test_unknown();
    test_again();
    test_no_clock();
    test_cancel();
    test_fills();
    test_reconcile();
    test_denied();
    test_adopted();
    test_stray();
    test_two_strays();
    test_duplicate_in_user_data();
    test_duplicate_in_the_answer();
    test_duplicate_in_the_balances();
    test_duplicate_of_the_known();
    order_cases_destroy(cases);
    return check_done("order_cases");
}
