/* The replay's side of orders: what takes, what rests and waits, and that no asset appears or is lost. */
#include "exchange/replay/broker/broker.h"

#include "tests/check.h"
#include "tests/replay/broker_market.h"

static void test_takes(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms w = terms_of(&p, ORDER_BUY, ORDER_MARKET, 4, 0); /* 1 at 100, 2 at 101, 1 at 102 */
    const struct broker_order *o = placed(&p, &w);
    CHECK_INT(o->state, BROKER_FILLED);
    CHECK(o->quote == (int128_t)(100 + 202 + 102) * E8 * E8);
    w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 3, 102); /* what is left at 102: what was taken stays taken */
    o = placed(&p, &w);
    CHECK_INT(o->state, BROKER_PARTIAL);
    CHECK_INT(o->filled, 2 * E8);
    CHECK_INT(replay_ladder_set(&p.market.asks, 100 * E8, 5 * E8), 0); /* another quantity: whole again */
    w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 9, 100);
    w.tif = ORDER_IOC;
    o = placed(&p, &w);
    CHECK_INT(o->state, BROKER_EXPIRED);
    CHECK_INT(o->filled, 5 * E8);
    w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 5, 103);
    w.tif = ORDER_FOK; /* 4 are there */
    o = placed(&p, &w);
    CHECK_INT(o->state, BROKER_EXPIRED);
    CHECK_INT(o->filled, 0);
    w = terms_of(&p, ORDER_SELL, ORDER_MARKET, 0, 0);
    w.quote = 250 * E8; /* 1 at 99, 1.54 at 98 */
    o = placed(&p, &w);
    CHECK_INT(o->state, BROKER_FILLED);
    CHECK_INT(o->filled, 254 * E8 / 100);
    place_close(&p);
}

/* An amount instead of a quantity: all of it must be there, and what the book cannot fill expires. */
static void test_amounts(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms w = terms_of(&p, ORDER_BUY, ORDER_MARKET, 0, 0);
    w.quote = 10001 * E8; /* of 10,000; the book has asks for 1,540 */
    refused(&p, &w, BROKER_POOR);
    w.quote = E8 / 2; /* a step costs 1 */
    refused(&p, &w, BROKER_SMALL);
    w.quote = 5000 * E8;
    const struct broker_order *o = placed(&p, &w);
    CHECK_INT(o->state, BROKER_EXPIRED);
    CHECK_INT(o->filled, 15 * E8);
    CHECK(replay_broker_account_of(p.broker, p.account)->balances[1].locked == 0);
    for (int i = 0; i < 5; i++)
        CHECK_INT(replay_ladder_set(&p.market.asks, (100 + i) * E8, 0), 0);
    refused(&p, &w, BROKER_DRY);
    w = terms_of(&p, ORDER_SELL, ORDER_MARKET, 0, 0);
    w.quote = 5000 * E8; /* the bids pay 1,445 */
    o = placed(&p, &w);
    CHECK_INT(o->state, BROKER_EXPIRED);
    CHECK_INT(o->filled, 15 * E8);
    place_close(&p);
}

static void test_rests(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 2, 99); /* behind 1 that is there */
    const int64_t id = placed(&p, &w)->id;
    const struct broker_order *o = replay_broker_find(p.broker, p.account, 0, id, NULL);
    replay_broker_trade(p.broker, 0, 99 * E8, E8 / 2, true);
    replay_broker_trade(p.broker, 0, 99 * E8, 5 * E8, false); /* a buyer's: not of the bids */
    CHECK_INT(o->filled, 0);
    replay_broker_trade(p.broker, 0, 99 * E8, E8, true);
    CHECK_INT(o->filled, E8 / 2);
    check_sums(&p);
    replay_broker_trade(p.broker, 0, 98 * E8, 1, true); /* through it */
    CHECK_INT(o->state, BROKER_FILLED);
    check_sums(&p);
    size_t n;
    const struct broker_fill *fills = replay_broker_fills(p.broker, &n);
    CHECK_INT(n, 2);
    CHECK(fills[1].maker && fills[1].price == 99 * E8 && fills[1].commission == E8 * 15 / 10000);
    w = terms_of(&p, ORDER_SELL, ORDER_LIMIT, 1, 110);
    const int64_t far = placed(&p, &w)->id;
    CHECK(replay_broker_cancel(p.broker, p.account + 1, far, NULL) == NULL);
    CHECK_INT(replay_broker_cancel(p.broker, p.account, far, NULL)->state, BROKER_CANCELED);
    CHECK(replay_broker_cancel(p.broker, p.account, far, NULL) == NULL);
    check_sums(&p);
    w = terms_of(&p, ORDER_SELL, ORDER_LIMIT, 1, 110);
    placed(&p, &w);
    replay_broker_wipe(p.broker);
    check_sums(&p); /* what it began with */
    replay_broker_orders(p.broker, &n);
    CHECK_INT(n, 0);
    CHECK(replay_broker_account_of(p.broker, p.account)->balances[0].locked == 0);
    place_close(&p);
}

static void test_waits(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms w = terms_of(&p, ORDER_SELL, ORDER_STOP, 1, 0);
    w.stop = 95 * E8;
    const int64_t stop = placed(&p, &w)->id;
    w = terms_of(&p, ORDER_SELL, ORDER_TAKE_PROFIT_LIMIT, 1, 104);
    w.stop = 105 * E8;
    const int64_t profit = placed(&p, &w)->id;
    replay_broker_trade(p.broker, 0, 96 * E8, E8, true);
    replay_broker_trade(p.broker, 0, 104 * E8, E8, false);
    CHECK(replay_broker_find(p.broker, p.account, 0, stop, NULL)->waits);
    CHECK(replay_broker_find(p.broker, p.account, 0, stop, NULL)->working_ns == 0);
    const int64_t before_ns = now_ns(&p.market);
    replay_broker_trade(p.broker, 0, 95 * E8, E8, true);
    CHECK_INT(replay_broker_find(p.broker, p.account, 0, stop, NULL)->quote / E8, (int128_t)99 * E8);
    CHECK_INT(replay_broker_find(p.broker, p.account, 0, stop, NULL)->working_ns, before_ns);
    replay_broker_trade(p.broker, 0, 105 * E8, E8, false);
    const struct broker_order *o = replay_broker_find(p.broker, p.account, 0, profit, NULL);
    CHECK(!o->waits && o->state == BROKER_NEW);
    replay_broker_trade(p.broker, 0, 106 * E8, E8, false);
    CHECK_INT(o->state, BROKER_FILLED);
    check_sums(&p);
    place_close(&p);
}

static void test_refuses(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 1, 100);
    w.post_only = true;
    refused(&p, &w, BROKER_CROSSES);
    w.price = 99 * E8;
    placed(&p, &w);
    refused(&p, &w, BROKER_TWICE);
    w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 200, 99); /* 19,800 of 9,901 */
    refused(&p, &w, BROKER_POOR);
    w = terms_of(&p, ORDER_SELL, ORDER_MARKET, 51, 0);
    refused(&p, &w, BROKER_POOR);
    w = terms_of(&p, ORDER_SELL, ORDER_STOP, 1, 0);
    w.stop = 99 * E8;
    refused(&p, &w, BROKER_TRIGGERS);
    /* The same id is good again once the first has ended. */
    w = terms_of(&p, ORDER_BUY, ORDER_MARKET, 1, 0);
    const int64_t first = placed(&p, &w)->id;
    CHECK(placed(&p, &w)->id != first);
    CHECK(replay_broker_find(p.broker, p.account, 0, 0, w.client_id)->id != first);
    place_close(&p);
}

/* A taker's price is worse by so much, to the next tick, and never beyond his limit; a maker's is his own. */
static void test_slippage(void)
{
    struct place p = place_open();
    place_start(&p);
    p.market.planted.slippage_e6 = 300;
    struct broker_terms w = terms_of(&p, ORDER_BUY, ORDER_MARKET, 1.5, 0); /* 100.03; 101.0303 to 101.04 */
    const struct broker_order *o = placed(&p, &w);
    CHECK_INT(o->state, BROKER_FILLED);
    CHECK(o->quote == (int128_t)(10003 + 10104 / 2) * (E8 / 100) * E8);
    w = terms_of(&p, ORDER_SELL, ORDER_MARKET, 1, 0); /* 98.9703 to 98.97 */
    o = placed(&p, &w);
    CHECK(o->quote == (int128_t)9897 * (E8 / 100) * E8);
    w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 2,
                 101.02); /* 101.04 is beyond it: 1.5 at 101.02, and the rest waits */
    const int64_t id = placed(&p, &w)->id;
    o = replay_broker_find(p.broker, p.account, 0, id, NULL);
    CHECK(o->state == BROKER_PARTIAL && o->quote == (int128_t)15153 * (E8 / 100) * E8);
    replay_broker_trade(p.broker, 0, 101 * E8, E8, true);
    CHECK(o->state == BROKER_FILLED && o->quote == (int128_t)20204 * (E8 / 100) * E8);
    w = terms_of(&p, ORDER_BUY, ORDER_MARKET, 0, 0);
    w.quote = 10204 * E8 / 100; /* 102 and 0.0306 to 102.04: 1 exactly */
    o = placed(&p, &w);
    CHECK_INT(o->filled, E8);
    w = terms_of(&p, ORDER_BUY, ORDER_MARKET, 9, 0); /* it has 10000 - 553.68 + 98.97 */
    CHECK_INT(placed(&p, &w)->state, BROKER_FILLED);
    check_sums(&p);
    place_close(&p);
}

/* An order is in no book until its time has come, and meets what is shown then. */
static void test_latency(void)
{
    struct place p = place_open();
    struct market *m = &p.market;
    place_start(&p);
    CHECK_INT(replay_broker_due(p.broker), INT64_MAX);
    m->planted.latency_ns = 500;
    struct broker_terms buys = terms_of(&p, ORDER_BUY, ORDER_MARKET, 1, 0),
                        limit = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 1, 99),
                        post = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 1, 99.5),
                        gone = terms_of(&p, ORDER_SELL, ORDER_MARKET, 1, 0);
    post.post_only = true;
    const int64_t id = placed(&p, &buys)->id,
                  sent_ns = replay_broker_find(p.broker, p.account, 0, id, NULL)->time_ns;
    CHECK_INT(replay_broker_due(p.broker), sent_ns + 500);
    m->later_ns = 100;
    const int64_t resting = placed(&p, &limit)->id, posted = placed(&p, &post)->id,
                  cancelled = placed(&p, &gone)->id;
#define FIND(id) replay_broker_find(p.broker, p.account, 0, id, NULL)
    CHECK_INT(replay_broker_cancel(p.broker, p.account, cancelled, NULL)->state, BROKER_CANCELED);
    replay_broker_trade(p.broker, 0, 90 * E8, E8, true); /* through a limit that is not there */
    CHECK(FIND(id)->state == BROKER_NEW && FIND(resting)->filled == 0 && FIND(id)->working_ns == 0);
    check_sums(&p);
    replay_broker_arrive(p.broker, sent_ns + 499);
    CHECK_INT(FIND(id)->state, BROKER_NEW);
    CHECK_INT(replay_ladder_set(&m->asks, 9950000000, E8), 0); /* what shows by then */
    m->later_ns = sent_ns + 500 - (now_ns(m) - m->later_ns);
    replay_broker_arrive(p.broker, sent_ns + 500);
    CHECK(FIND(id)->state == BROKER_FILLED && FIND(id)->quote == (int128_t)9950000000 * E8);
    CHECK_INT(FIND(id)->working_ns, sent_ns + 500);
    CHECK_INT(FIND(resting)->state, BROKER_NEW);
    CHECK_INT(replay_ladder_set(&m->asks, 9950000000, 2 * E8), 0);
    CHECK(replay_broker_due(p.broker) > sent_ns + 500 && replay_broker_due(p.broker) < INT64_MAX);
    replay_broker_arrive(p.broker, INT64_MAX - 1);
    CHECK_INT(replay_broker_due(p.broker), INT64_MAX);
    CHECK_INT(FIND(posted)->state, BROKER_EXPIRED); /* it would take now */
    CHECK(FIND(resting)->state == BROKER_NEW && FIND(resting)->working_ns > 0);
    replay_broker_trade(p.broker, 0, 98 * E8, E8, true);
    CHECK_INT(FIND(resting)->state, BROKER_FILLED);
    check_sums(&p);
    /* By then the account cannot pay for it any more. */
    struct broker_terms dear = terms_of(&p, ORDER_BUY, ORDER_MARKET, 10, 0);
    const int64_t late = placed(&p, &dear)->id;
    for (int i = 0; i < 5; i++)
        CHECK_INT(replay_ladder_set(&m->asks, (100 + i) * E8, 0), 0);
    CHECK_INT(replay_ladder_set(&m->asks, 9950000000, 0), 0);
    CHECK_INT(replay_ladder_set(&m->asks, 5000 * E8, 90 * E8), 0);
    replay_broker_arrive(p.broker, INT64_MAX - 1);
    CHECK(FIND(late)->state == BROKER_EXPIRED && FIND(late)->filled == 0);
    check_sums(&p);
    place_close(&p);
#undef FIND
}

/* Held: in no book, as a share of another one's reservation or with one of its own; then as any other. */
static void test_held(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms profit = terms_of(&p, ORDER_SELL, ORDER_LIMIT, 50, 110),
                        stop = terms_of(&p, ORDER_SELL, ORDER_STOP, 50, 0);
    stop.stop = 97 * E8;
    profit.held = stop.held = true;
    profit.covered = stop.covered = BROKER_COVERED;
    const int64_t first = placed(&p, &profit)->id, second = placed(&p, &stop)->id;
#define FIND(id) replay_broker_find(p.broker, p.account, 0, id, NULL)
    CHECK(FIND(first)->locked == 0 && FIND(second)->locked == 0);
    CHECK_INT(replay_broker_due(p.broker), INT64_MAX);
    replay_broker_trade(p.broker, 0, 120 * E8, E8, false);
    replay_broker_trade(p.broker, 0, 90 * E8, E8, true);
    CHECK(FIND(first)->filled == 0 && FIND(second)->waits && FIND(first)->working_ns == 0);
    CHECK(replay_broker_release(p.broker, p.account + 1, first, true) == NULL);
    CHECK(replay_broker_release(p.broker, p.account, first, true) != NULL);
    CHECK(replay_broker_release(p.broker, p.account, second, false) != NULL);
    CHECK(replay_broker_release(p.broker, p.account, second, false) == NULL);
    CHECK(FIND(first)->locked == (int128_t)50 * E8 * E8 && FIND(second)->locked == 0);
    replay_broker_trade(p.broker, 0, 98 * E8, E8, true);
    CHECK(FIND(second)->waits);
    replay_broker_cancel(p.broker, p.account, first, NULL); /* what it had reserved is free for the other */
    replay_broker_trade(p.broker, 0, 97 * E8, E8, true);
    CHECK(!FIND(second)->waits && FIND(second)->filled == 15 * E8); /* all bids */
    check_sums(&p);
    /* One with a reservation of its own must be payable as it is placed, and as it is released. */
    struct broker_terms buys = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 200, 99);
    buys.held = true;
    refused(&p, &buys, BROKER_POOR);
    buys.qty = 50 * E8;
    const int64_t third = placed(&p, &buys)->id;
    CHECK(FIND(third)->locked == (int128_t)50 * 99 * E8 * E8);
    CHECK_INT(replay_broker_release(p.broker, p.account, third, true)->state, BROKER_NEW);
    struct broker_terms met = terms_of(&p, ORDER_SELL, ORDER_STOP, 1, 0); /* reached when it is released */
    met.stop = 99 * E8;
    met.held = true;
    met.covered = BROKER_COVERED;
    CHECK_INT(replay_ladder_set(&p.market.bids, 96 * E8, E8), 0);
    const int64_t fourth = placed(&p, &met)->id;
    CHECK(!replay_broker_release(p.broker, p.account, fourth, true)->waits);
    check_sums(&p);
    place_close(&p);
}

static int64_t third_of(void *user, const struct broker_order *order, int64_t qty)
{
    (void)user;
    return order->filled == 0 ? qty / 3 : qty;
}

/* A taker's rest meets the book again later; what rests waits for the next trade; IOC's rest ends. */
static void test_parts(void)
{
    struct place p = place_open();
    struct market *m = &p.market;
    place_start(&p);
    replay_broker_fill_in_parts(p.broker, third_of, 1000);
    struct broker_terms w = terms_of(&p, ORDER_BUY, ORDER_MARKET, 3, 0);
    const int64_t id = placed(&p, &w)->id;
    CHECK(FIND(id)->state == BROKER_PARTIAL && FIND(id)->filled == E8);
    const int64_t due_ns = replay_broker_due(p.broker);
    CHECK(due_ns > now_ns(m) && due_ns <= now_ns(m) + 1000);
    replay_broker_trade(p.broker, 0, 90 * E8, 9 * E8, true);
    replay_broker_arrive(p.broker, due_ns - 1);
    CHECK_INT(FIND(id)->filled, E8);
    replay_broker_arrive(p.broker, due_ns);
    CHECK(FIND(id)->state == BROKER_FILLED && FIND(id)->quote == (int128_t)(100 + 202) * E8 * E8);
    check_sums(&p);
    w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 3, 99);
    const int64_t rests = placed(&p, &w)->id;
    replay_broker_trade(p.broker, 0, 98 * E8, E8, true);
    CHECK_INT(FIND(rests)->filled, E8);
    replay_broker_trade(p.broker, 0, 98 * E8, E8, true);
    CHECK_INT(FIND(rests)->state, BROKER_FILLED);
    w = terms_of(&p, ORDER_SELL, ORDER_LIMIT, 3, 97);
    w.tif = ORDER_IOC;
    const struct broker_order *o = placed(&p, &w);
    CHECK(o->state == BROKER_EXPIRED && o->filled == E8);
    w = terms_of(&p, ORDER_SELL, ORDER_LIMIT, 3, 95);
    w.tif = ORDER_FOK;
    CHECK_INT(placed(&p, &w)->state, BROKER_FILLED);
    w = terms_of(&p, ORDER_BUY, ORDER_MARKET, 0, 0);
    w.quote = 300 * E8;
    CHECK_INT(placed(&p, &w)->state, BROKER_FILLED);
    w = terms_of(&p, ORDER_SELL, ORDER_MARKET, 3, 0); /* the rest is cancelled */
    const int64_t ended = placed(&p, &w)->id;
    CHECK_INT(replay_broker_cancel(p.broker, p.account, ended, NULL)->state, BROKER_CANCELED);
    CHECK_INT(replay_broker_due(p.broker), INT64_MAX);
    check_sums(&p);
    place_close(&p);
#undef FIND
}

int main(void)
{
    test_held();
    test_parts();
    test_slippage();
    test_latency();
    test_takes();
    test_amounts();
    test_rests();
    test_waits();
    test_refuses();
    return check_done("replay/broker");
}
