/* Alpaca's accounts against papertape-replay, a process of its own: orders of each kind, what becomes of
 * them, and each thing that may happen to an order or an event on its way. Usage: test PAPERTAPE_REPLAY */
#include <errno.h>

#include "exchange/alpaca/format.h"
#include "exchange/clock.h"
#include "exchange/net/http.h"
#include "exchange/venue_account.h"
#include "tests/net/loop.h"
#include "tests/net/replay.h"

enum { AAPL, BTC, SYMBOLS, KEPT = 256 };

#define E9 1000000000LL

/* The synthetic market's second trade of coins from --from on, a sale of less than half a coin; the third one
 * is below it. */
#define FIRST_LOW 63409840000000LL

static const struct venue *const venue = &alpaca_venue;
static uv_loop_t loop;
static struct net_context *net;

static const struct symbol symbols[SYMBOLS] = {
    [AAPL] = {.name = "AAPL",
              .base = "AAPL",
              .quote = "USD",
              .price_scale = 9,
              .qty_scale = 9,
              .quote_scale = 8,
              .calendar = "us-equity",
              .asset = ASSET_US_EQUITY},
    [BTC] = {.name = "BTC/USD",
             .base = "BTC",
             .quote = "USD",
             .price_scale = 9,
             .qty_scale = 9,
             .quote_scale = 8,
             .asset = ASSET_CRYPTO},
};

struct seen {
    struct venue_account *account;
    bool up, final, done;

    /* User data. */
    struct venue_order events[KEPT];
    struct venue_fill fills[KEPT];
    size_t n_events, n_fills;
    const char *awaited;          /* a client id, */
    enum venue_order_state state; /* and what is to become of it */
    bool came;

    /* The last answer. */
    struct venue_answer answer;
    char text[VENUE_DETAIL_MAX];
    struct venue_order orders[KEPT];
    struct venue_fill list[KEPT];
    struct venue_balance balances[KEPT];
};

static struct seen seen;

static void on_state(void *user, const struct venue_status *status)
{
    struct seen *s = user;
    s->up = status->link == VENUE_UP;
    s->final = status->link == VENUE_FINAL;
}

static void on_order(void *user, const struct venue_order *order)
{
    struct seen *s = user;
    if (s->n_events < KEPT)
        s->events[s->n_events++] = *order;
    s->came |= s->awaited && strcmp(s->awaited, order->client_id) == 0 && order->state == s->state;
}

static void on_fill(void *user, const struct venue_fill *fill)
{
    struct seen *s = user;
    if (s->n_fills < KEPT)
        s->fills[s->n_fills++] = *fill;
}

static void on_answer(void *user, const struct venue_answer *answer)
{
    struct seen *s = user;
    s->done = true;
    s->answer = *answer;
    snprintf(s->text, sizeof(s->text), "%s", answer->text);
    for (size_t i = 0; i < answer->n_orders && i < KEPT; i++)
        s->orders[i] = answer->orders[i];
    for (size_t i = 0; i < answer->n_fills && i < KEPT; i++)
        s->list[i] = answer->fills[i];
    for (size_t i = 0; i < answer->n_balances && i < KEPT; i++)
        s->balances[i] = answer->balances[i];
}

static const struct venue_account_handler handler = {on_state, on_order, on_fill, NULL};

static void open_account(const struct replay *replay, const char *secret)
{
    const struct venue_account_config config = {
        .net = net,
        .rest_url = replay->rest_url,
        .ws_url = replay->ws_url,
        .keys = {"id", secret},
        .symbols = symbols,
        .n_symbols = SYMBOLS,
        .timeout_ms = 60000,
    };
    memset(&seen, 0, sizeof(seen));
    CHECK_INT(venue->accounts->create(&config, &handler, &seen, &seen.account), 0);
}

static enum venue_outcome answered(int r)
{
    CHECK_INT(r, 0);
    CHECK(loop_until(&loop, &seen.done));
    return seen.answer.outcome;
}

static enum venue_outcome place(struct order order, const char *client_id)
{
    seen.done = false;
    return answered(venue->accounts->place(seen.account, &order, client_id, on_answer, &seen));
}

static enum venue_outcome cancel(const char *client_id)
{
    seen.done = false;
    return answered(venue->accounts->cancel(seen.account, BTC, client_id, on_answer, &seen));
}

static enum venue_outcome query(const char *client_id)
{
    seen.done = false;
    return answered(venue->accounts->query(seen.account, BTC, client_id, "", on_answer, &seen));
}

static enum venue_outcome open_orders(void)
{
    seen.done = false;
    return answered(venue->accounts->open(seen.account, on_answer, &seen));
}

static enum venue_outcome fills(int symbol, const char *order_id)
{
    seen.done = false;
    return answered(venue->accounts->fills(seen.account, symbol, order_id, on_answer, &seen));
}

static enum venue_outcome balances(void)
{
    seen.done = false;
    return answered(venue->accounts->balances(seen.account, on_answer, &seen));
}

static const struct venue_balance *balance(const char *asset)
{
    static const struct venue_balance none;
    CHECK_INT(balances(), VENUE_DONE);
    for (size_t i = 0; i < seen.answer.n_balances; i++)
        if (strcmp(seen.balances[i].asset, asset) == 0)
            return &seen.balances[i];
    return &none;
}

static void await(const char *client_id, enum venue_order_state state)
{
    seen.awaited = client_id;
    seen.state = state;
    seen.came = false;
    for (size_t i = 0; i < seen.n_events; i++)
        seen.came |= strcmp(seen.events[i].client_id, client_id) == 0 && seen.events[i].state == state;
    CHECK(loop_until(&loop, &seen.came));
}

static const struct order buys = {
    .symbol = BTC, .side = ORDER_BUY, .type = ORDER_MARKET, .tif = ORDER_GTC, .qty = E9 / 1000};

/* Prices that nothing reaches. */
static struct order limit_of(enum order_side side)
{
    struct order order = buys;
    order.side = side;
    order.type = ORDER_LIMIT;
    order.price = side == ORDER_BUY ? 10000 * E9 : 10000000 * E9; /* at least 10 dollars */
    return order;
}

/* ---- Orders. ---- */

static void test_kinds(const struct replay *replay)
{
    open_account(replay, "secret");
    CHECK(loop_until(&loop, &seen.up));
    const struct venue_balance before = *balance("USD");
    CHECK_INT(before.free, 100000 * 100000000LL);

    /* A market order, its fill, and that no fee is in it, but in the balance. */
    CHECK_INT(place(buys, "market"), VENUE_DONE);
    CHECK_INT(seen.answer.n_orders, 1);
    const struct venue_order market = seen.orders[0];
    CHECK_STR(market.client_id, "market");
    CHECK(market.symbol == &symbols[BTC] && market.state == VENUE_ORDER_FILLED && market.filled == E9 / 1000);
    await("market", VENUE_ORDER_FILLED);
    CHECK_INT(seen.n_fills, 1);
    const struct venue_fill fill = seen.fills[0];
    CHECK(fill.qty == E9 / 1000 && fill.cumulative == E9 / 1000 && fill.price > 0 && !fill.fee_said);
    CHECK_STR(fill.order_id, market.id);
    CHECK_INT(fills(BTC, market.id), VENUE_DONE);
    CHECK_INT(seen.answer.n_fills, 1);
    CHECK_STR(seen.list[0].trade_id, fill.trade_id);
    CHECK_STR(seen.list[0].client_id, "market");
    CHECK(seen.list[0].price == fill.price && seen.list[0].cumulative == fill.cumulative &&
          seen.list[0].ts_ns == fill.ts_ns && seen.list[0].side == ORDER_BUY);
    CHECK_INT(balance("BTC")->free, E9 / 1000 - E9 / 400000); /* 0.25 % less */
    CHECK_INT(balance("USD")->free, before.free - fill.price / 10000);

    /* A stock costs none. */
    struct order share = buys;
    share.symbol = AAPL;
    share.qty = 2 * E9;
    share.tif = ORDER_DAY;
    CHECK_INT(place(share, "share"), VENUE_DONE);
    await("share", VENUE_ORDER_FILLED);
    CHECK(seen.fills[seen.n_fills - 1].fee_said && seen.fills[seen.n_fills - 1].fee == 0);
    CHECK_INT(balance("AAPL")->free, 2 * E9);

    /* What rests, is listed, and reserves money; the same id is good once. */
    CHECK_INT(place(limit_of(ORDER_BUY), "limit"), VENUE_DONE);
    CHECK_INT(seen.orders[0].state, VENUE_ORDER_NEW);
    CHECK_INT(seen.orders[0].price, 10000 * E9);
    struct order stop = share;
    stop.side = ORDER_SELL;
    stop.type = ORDER_STOP;
    stop.stop_price = E9;
    CHECK_INT(place(stop, "stop"), VENUE_DONE);
    CHECK(seen.orders[0].type == ORDER_STOP && seen.orders[0].stop_price == E9);
    struct order both = limit_of(ORDER_BUY);
    both.type = ORDER_STOP_LIMIT;
    both.stop_price = 9000000 * E9;
    CHECK_INT(place(both, "stop-limit"), VENUE_DONE);
    CHECK_INT(seen.orders[0].type, ORDER_STOP_LIMIT);
    CHECK_INT(open_orders(), VENUE_DONE);
    CHECK_INT(seen.answer.n_orders, 3);
    CHECK_STR(seen.orders[0].client_id, "limit");
    CHECK_STR(seen.orders[1].client_id, "stop");
    CHECK(balance("USD")->locked > 0);
    CHECK_INT(balance("AAPL")->locked, 2 * E9);
    CHECK_INT(place(limit_of(ORDER_BUY), "limit"), VENUE_EXISTS);
    CHECK_INT(place(buys, "market"), VENUE_EXISTS);
    CHECK_INT(query("limit"), VENUE_DONE);
    CHECK(seen.orders[0].state == VENUE_ORDER_NEW && seen.orders[0].qty == E9 / 1000);
    CHECK_INT(query("nothing"), VENUE_ABSENT);
    CHECK_INT(seen.answer.code, 40410000);
    CHECK_INT(fills(BTC, seen.orders[0].id), VENUE_DONE);
    CHECK_INT(seen.answer.n_fills, 0);

    /* The end of each. */
    CHECK_INT(cancel("limit"), VENUE_DONE);
    await("limit", VENUE_ORDER_CANCELED);
    CHECK_INT(cancel("limit"), VENUE_ABSENT);
    CHECK_INT(cancel("nothing"), VENUE_ABSENT);
    CHECK_INT(cancel("market"), VENUE_ABSENT);
    CHECK_INT(query("limit"), VENUE_DONE);
    CHECK_INT(seen.orders[0].state, VENUE_ORDER_CANCELED);
    CHECK_INT(place(limit_of(ORDER_BUY), "limit"), VENUE_EXISTS); /* for life */
    CHECK_INT(cancel("stop"), VENUE_DONE);
    CHECK_INT(cancel("stop-limit"), VENUE_DONE);
    CHECK_INT(open_orders(), VENUE_DONE);
    CHECK_INT(seen.answer.n_orders, 0);

    /* Refusals. */
    struct order rich = limit_of(ORDER_BUY);
    rich.qty = 1000000 * E9;
    CHECK_INT(place(rich, "rich"), VENUE_REFUSED);
    CHECK_INT(seen.answer.code, 40310000);
    struct order day = limit_of(ORDER_BUY);
    day.tif = ORDER_DAY;
    CHECK_INT(place(day, "day"), VENUE_REFUSED);
    CHECK_INT(seen.answer.code, 42210000);
    CHECK(strstr(seen.text, "time_in_force"));
    CHECK_INT(query("rich"), VENUE_ABSENT);
    venue->accounts->destroy(seen.account);

    open_account(replay, "wrong");
    CHECK_INT(place(buys, "denied"), VENUE_DENIED);
    CHECK_INT(query("market"), VENUE_DENIED);
    CHECK_INT(cancel("market"), VENUE_DENIED);
    CHECK_INT(balances(), VENUE_DENIED);
    CHECK_INT(seen.answer.code, 40110000);
    CHECK(loop_until(&loop, &seen.final));
    venue->accounts->destroy(seen.account);
}

static void nothing(void *user, const struct venue_status *status)
{
    (void)user, (void)status;
}

static void no_frame(void *user, const char *data, size_t len)
{
    (void)user, (void)data, (void)len;
}

/* An order that the market fills bit by bit: its events, and its fills by REST, which are the same. */
static void test_parts(const struct replay *replay)
{
    static const char *const names[] = {"quotes:BTC/USD"};
    static const struct venue_stream_handler market = {nothing, no_frame};
    struct venue_stream *stream;
    open_account(replay, "secret");
    CHECK(loop_until(&loop, &seen.up));
    struct order rests = limit_of(ORDER_BUY);
    rests.qty = E9 / 2;
    rests.price = FIRST_LOW;
    CHECK_INT(place(rests, "parts"), VENUE_DONE);
    CHECK_INT(seen.orders[0].state, VENUE_ORDER_NEW);
    const struct venue_stream_config config = {
        .net = net, .ws_url = replay->ws_url, .streams = names, .n_streams = 1, .keys = {"id", "secret"}};
    CHECK_INT(venue->stream_create(&config, &market, NULL, &stream), 0); /* the play begins */
    await("parts", VENUE_ORDER_FILLED);
    venue->stream_destroy(stream);
    const char *id = seen.events[seen.n_events - 1].id;
    CHECK_INT(fills(BTC, id), VENUE_DONE);
    size_t own = 0, partly = 0;
    int64_t filled = 0;
    for (size_t i = 0; i < seen.n_fills; i++) {
        const struct venue_fill *f = &seen.fills[i];
        if (strcmp(f->client_id, "parts") != 0)
            continue;
        filled += f->qty;
        CHECK_INT(f->cumulative, filled);
        CHECK(own < seen.answer.n_fills);
        CHECK_STR(f->trade_id, seen.list[own].trade_id);
        CHECK_INT(f->cumulative, seen.list[own].cumulative);
        own++;
    }
    for (size_t i = 0; i < seen.n_events; i++)
        partly +=
            strcmp(seen.events[i].client_id, "parts") == 0 && seen.events[i].state == VENUE_ORDER_PARTIAL;
    CHECK_INT(filled, rests.qty);
    CHECK_INT(own, seen.answer.n_fills);
    CHECK(own > 1 && partly == own - 1);
    printf("parts: %zu fills\n", own);
    venue->accounts->destroy(seen.account);
}

/* ---- Faults. ---- */

static int64_t held(void)
{
    return balance("BTC")->free;
}

static const char *options[REPLAY_OPTIONS_MAX + 1] = {"--venue",   "alpaca", "--keys",
                                                      "id:secret", "--from", "2025-03-12T13:58:00Z"};

static void start(struct replay *replay, const char *program, const char *fault)
{
    options[6] = fault ? "--fault" : NULL;
    options[7] = fault;
    start_replay(replay, program, options);
    net = loop_net(&loop, replay->ca_file, 0, 0);
}

static void stop(struct replay *replay)
{
    bool stopped = false;
    net_context_stop(net, loop_flag, &stopped);
    CHECK(loop_until(&loop, &stopped));
    stop_replay(replay);
}

/* Of four orders the last one is hit. The same id again is always safe: after it there is one order, whatever
 * became of the first. */
static void test_order_fault(const char *program, const char *fault, enum venue_outcome hit,
                             enum venue_outcome looked, enum venue_outcome again)
{
    struct replay replay = {0};
    start(&replay, program, fault);
    open_account(&replay, "secret");
    CHECK(loop_until(&loop, &seen.up));
    for (int i = 0; i < 3; i++)
        CHECK_INT(place(buys, (const char *[]){"a", "b", "c"}[i]), VENUE_DONE);
    int64_t before = held();
    CHECK_INT(place(buys, "hit"), hit);
    CHECK_INT(seen.answer.settled_ns, 0);
    CHECK_INT(query("hit"), looked);
    printf("%s: %s\n", fault, venue_outcome_name(hit));
    CHECK_INT(place(buys, "hit"), again);
    CHECK_INT(place(buys, "hit"), VENUE_EXISTS);
    CHECK_INT(query("hit"), VENUE_DONE);
    CHECK_INT(seen.orders[0].state, VENUE_ORDER_FILLED);
    CHECK_INT(fills(BTC, seen.orders[0].id), VENUE_DONE);
    CHECK_INT(seen.answer.n_fills, 1);
    await("hit", VENUE_ORDER_FILLED);
    CHECK_INT(held() - before, before / 3); /* one, and not two */
    venue->accounts->destroy(seen.account);
    stop(&replay);
}

/* It comes when its answer has been: alone, or after its second one. */
static void test_late(const char *program)
{
    struct replay replay = {0};
    start(&replay, program, "order:late:1s");
    open_account(&replay, "secret");
    CHECK(loop_until(&loop, &seen.up));
    static const char *const ids[] = {"a", "b", "c", "twice", "twice", "d", "e", "late"};
    for (int i = 0; i < 8; i++) {
        enum venue_outcome outcome = place(buys, ids[i]);
        if (i == 4) /* before the late one; on a slow machine that is there by now */
            CHECK(outcome == VENUE_DONE || outcome == VENUE_EXISTS);
        else
            CHECK_INT(outcome, i % 4 == 3 ? VENUE_UNKNOWN : VENUE_DONE);
    }
    await("late", VENUE_ORDER_FILLED);
    CHECK_INT(held(), 7 * (E9 / 1000 - E9 / 400000));
    venue->accounts->destroy(seen.account);
    stop(&replay);
}

static void on_posted(void *user, const struct http_reply *reply)
{
    CHECK_INT(reply->status, 200);
    *(bool *)user = true;
}

static void post_fault(const struct replay *replay, const char *fault)
{
    char url[160];
    bool done = false;
    struct http_call *call;
    snprintf(url, sizeof(url), "%s/_control", replay->rest_url);
    const struct http_request request = {
        .method = "POST", .url = url, .body = fault, .body_len = strlen(fault)};
    CHECK_INT(http_send(net, &request, on_posted, &done, &call), 0);
    CHECK(loop_until(&loop, &done));
}

/* What user data does not bring, brings twice or in another order, REST has. */
static void test_user_fault(const char *program, const char *fault)
{
    struct replay replay = {0};
    size_t listed = 0;
    start(&replay, program, fault);
    open_account(&replay, "secret");
    CHECK(loop_until(&loop, &seen.up));
    for (int i = 0; i < 3; i++)
        CHECK_INT(place(buys, (const char *[]){"a", "b", "c"}[i]), VENUE_DONE);
    await("c", VENUE_ORDER_FILLED);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(query((const char *[]){"a", "b", "c"}[i]), VENUE_DONE);
        CHECK_INT(fills(BTC, seen.orders[0].id), VENUE_DONE);
        listed += seen.answer.n_fills;
        CHECK_INT(seen.list[0].cumulative, E9 / 1000);
    }
    CHECK_INT(listed, 3);
    printf("%s: %zu events, %zu fills\n", fault, seen.n_events, seen.n_fills);
    bool dup = strcmp(fault, "user:dup") == 0, drop = strcmp(fault, "user:drop") == 0;
    CHECK_INT(seen.n_fills, dup ? 4 : drop ? 2 : 3);
    if (dup) {
        CHECK_STR(seen.fills[1].trade_id, seen.fills[2].trade_id);
        CHECK_INT(seen.fills[1].cumulative, seen.fills[2].cumulative);
    }
    venue->accounts->destroy(seen.account);
    stop(&replay);
}

static void test_wipe(const char *program)
{
    struct replay replay = {0};
    start(&replay, program, NULL);
    open_account(&replay, "secret");
    CHECK(loop_until(&loop, &seen.up));
    CHECK_INT(place(limit_of(ORDER_BUY), "wiped"), VENUE_DONE);
    post_fault(&replay, "wipe");
    while (query("wiped") == VENUE_DONE)
        ;
    CHECK_INT(seen.answer.outcome, VENUE_ABSENT);
    CHECK_INT(cancel("wiped"), VENUE_ABSENT);
    CHECK_INT(open_orders(), VENUE_DONE);
    CHECK_INT(seen.answer.n_orders, 0);
    CHECK_INT(place(limit_of(ORDER_BUY), "wiped"), VENUE_DONE);
    venue->accounts->destroy(seen.account);
    stop(&replay);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct replay replay = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: %s PAPERTAPE_REPLAY\n", argv[0]);
        return 2;
    }
    uv_loop_init(&loop);
    start(&replay, argv[1], NULL);
    test_kinds(&replay);
    stop(&replay);
    start(&replay, argv[1], NULL);
    test_parts(&replay);
    stop(&replay);
    static const struct {
        const char *fault;
        enum venue_outcome hit, looked, again;
    } faults[] = {
        {"order:lost-request", VENUE_UNKNOWN, VENUE_ABSENT, VENUE_DONE},
        {"order:lost-answer", VENUE_UNKNOWN, VENUE_DONE, VENUE_EXISTS},
        {"order:twice", VENUE_EXISTS, VENUE_DONE, VENUE_EXISTS},
        {"order:5xx-done", VENUE_UNKNOWN, VENUE_DONE, VENUE_EXISTS},
        {"order:5xx-not-done", VENUE_UNKNOWN, VENUE_ABSENT, VENUE_DONE},
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        test_order_fault(argv[1], faults[i].fault, faults[i].hit, faults[i].looked, faults[i].again);
    test_late(argv[1]);
    test_user_fault(argv[1], "user:drop");
    test_user_fault(argv[1], "user:dup");
    test_user_fault(argv[1], "user:reorder");
    test_wipe(argv[1]);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&loop), 0);
    return check_done("alpaca_account_replay");
}
