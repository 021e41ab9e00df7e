/* An account at papertape-replay's Binance, a process of its own whose market stands still: the market, a
 * client and what it saw, and its requests, waited for. */
#ifndef TESTS_NET_BINANCE_ACCOUNT_H
#define TESTS_NET_BINANCE_ACCOUNT_H

#include "exchange/binance/format.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/net/http.h"
#include "exchange/net/requests.h"
#include "exchange/venue_account.h"
#include "tests/net/loop.h"
#include "tests/net/replay.h"

#define E8        100000000LL
#define NS_PER_MS 1000000LL

enum { SEEN_MAX = 256, KEPT_MAX = 64 };

static const struct venue *const venue = &binance_venue;
static const char *program;
static uv_loop_t loop;
static struct net_context *net;
static struct replay replay;
static struct venue_stream *stream; /* for which it plays */
static int64_t server_ns;           /* where it stands */
static struct symbol symbols[2];
static struct book_level best_bid, best_ask;

/* ---- The market. ---- */

static inline void on_market_state(void *user, const struct venue_status *status)
{
    (void)user, (void)status;
}

static inline void on_market_frame(void *user, const char *data, size_t len)
{
    (void)user, (void)data, (void)len;
}

struct looked {
    bool done;
    uint64_t last_id;
};

static inline void on_reply(void *user, const struct venue_reply *reply)
{
    struct looked *looked = user;
    looked->done = true;
    CHECK_INT(reply->error, 0);
    if (reply->error)
        return;
    if (reply->kind == VENUE_REPLY_TIME)
        server_ns = reply->server_ns;
    for (size_t i = 0; reply->kind == VENUE_REPLY_SYMBOLS && i < reply->symbols.n; i++)
        symbols[i] = reply->symbols.list[i].symbol;
    if (reply->kind == VENUE_REPLY_BOOK) {
        looked->last_id = reply->book.last_id;
        best_bid = reply->book.bids[0];
        best_ask = reply->book.asks[0];
    }
}

/* Until it says the same time again and again. */
static inline void wait_for_stand(void)
{
    static const char *const names[] = {"BTCUSDT", "ETHUSDT"};
    const struct venue_rest_config config = {.net = net, .rest_url = replay.rest_url};
    struct venue_rest *rest;
    CHECK_INT(venue->rest_create(&config, &rest), 0);
    struct looked looked = {0};
    int64_t before_ns = -1;
    for (int same = 0, i = 0; same < 5 && i < 10000; i++) {
        looked.done = false;
        net_requests_time(rest, on_reply, &looked, NULL);
        CHECK(loop_until(&loop, &looked.done));
        same = server_ns == before_ns ? same + 1 : 0;
        before_ns = server_ns;
    }
    looked.done = false;
    net_requests_symbols(rest, names, 2, on_reply, &looked, NULL);
    CHECK(loop_until(&loop, &looked.done));
    looked.done = false;
    net_requests_book(rest, &symbols[0], on_reply, &looked, NULL);
    CHECK(loop_until(&loop, &looked.done));
    net_requests_destroy(rest);
}

/* A replay whose market has played for a second and stands; --keys FILE, or --fault FAULT and no keys. */
static inline void start(const char *option, const char *value)
{
    static const char *const stream_names[] = {"btcusdt@depth@100ms"};
    static const struct venue_stream_handler handler = {on_market_state, on_market_frame};
    const char *options[] = {"--from", "2024-08-08T23:54:15Z", "--to", "2024-08-08T23:54:16Z", option, value,
                             NULL};
    start_replay(&replay, program, options);
    uv_loop_init(&loop);
    net = loop_net(&loop, replay.ca_file, 0, 0);
    static const struct venue_setting of_accounts = {"orders", "websocket"}; /* a stream takes it, too */
    const struct venue_stream_config config = {.net = net,
                                               .ws_url = replay.ws_url,
                                               .streams = stream_names,
                                               .n_streams = 1,
                                               .settings = &of_accounts,
                                               .n_settings = 1};
    CHECK_INT(venue->stream_create(&config, &handler, NULL, &stream), 0);
    wait_for_stand();
}

static inline void stop(void)
{
    venue->stream_destroy(stream);
    loop_end(&loop, net);
    stop_replay(&replay);
}

static inline void on_controlled(void *user, const struct http_reply *reply)
{
    CHECK_INT(reply->status, 200);
    *(bool *)user = true;
}

/* Another fault, from now on. */
static inline void post_fault(const char *fault)
{
    char url[160];
    bool done = false;
    struct http_call *call;
    snprintf(url, sizeof(url), "%s/_control", replay.rest_url);
    const struct http_request request = {
        .method = "POST", .url = url, .body = fault, .body_len = strlen(fault)};
    CHECK_INT(http_send(net, &request, on_controlled, &done, &call), 0);
    CHECK(loop_until(&loop, &done));
}

/* ---- A client, and what it saw. ---- */

struct client {
    struct venue_account *account;
    int64_t off_ns; /* its clock, from the venue's */
    enum venue_link link;
    char detail[VENUE_DETAIL_MAX];
    int ups, downs; /* changes to UP and from it */
    struct venue_order orders[SEEN_MAX];
    struct venue_fill fills[SEEN_MAX];
    size_t n_orders, n_fills, n_balances;
    int bans, bad_timestamp;
    int64_t banned_ns;
    bool changed;
};

static inline void on_state(void *user, const struct venue_status *status)
{
    struct client *client = user;
    client->ups += status->link == VENUE_UP && client->link != VENUE_UP;
    client->downs += status->link != VENUE_UP && client->link == VENUE_UP;
    client->link = status->link;
    snprintf(client->detail, sizeof(client->detail), "%s", status->detail);
    client->changed = true;
}

static inline void on_order(void *user, const struct venue_order *order)
{
    struct client *client = user;
    if (client->n_orders < SEEN_MAX)
        client->orders[client->n_orders++] = *order;
    client->changed = true;
}

static inline void on_fill(void *user, const struct venue_fill *fill)
{
    struct client *client = user;
    if (client->n_fills < SEEN_MAX)
        client->fills[client->n_fills++] = *fill;
    client->changed = true;
}

static inline void on_balances(void *user, const struct venue_balance *balances, size_t n)
{
    struct client *client = user;
    CHECK(n == 2 && balances[0].scale == 8);
    client->n_balances++;
    client->changed = true;
}

static inline void on_ban(void *user, int64_t until_ns, const char *why)
{
    struct client *client = user;
    CHECK(why[0] != '\0');
    client->bans++;
    client->banned_ns = until_ns;
}

static inline void on_bad_timestamp(void *user)
{
    ((struct client *)user)->bad_timestamp++;
}

static inline int64_t venue_ns(void *user)
{
    return server_ns + ((struct client *)user)->off_ns;
}

static const struct venue_account_handler handler = {on_state, on_order, on_fill, on_balances};

struct how {
    const char *id, *secret;
    bool websocket;
    int64_t timeout_ms;
    bool banned; /* before the start */
};

static inline void open_client(struct client *client, const struct how *how)
{
    const struct venue_setting settings[] = {{"time_unit", "microsecond"},
                                             {"orders", how->websocket ? "websocket" : "rest"}};
    const struct venue_account_config config = {
        .net = net,
        .rest_url = replay.rest_url,
        .ws_url = replay.ws_url,
        .keys = {how->id, how->secret},
        .symbols = symbols,
        .n_symbols = 2,
        .venue_ns = venue_ns,
        .bad_timestamp = on_bad_timestamp,
        .settings = settings,
        .n_settings = 2,
        .timeout_ms = how->timeout_ms > 0 ? how->timeout_ms : DEADLINE_MS,
        .ban = {.until_ns = how->banned ? clock_wall_ns() + 3600 * 1000000000LL : 0,
                .reported = on_ban,
                .user = client},
    };
    CHECK_INT(venue->accounts->create(&config, &handler, client, &client->account), 0);
}

static inline void close_client(struct client *client)
{
    venue->accounts->destroy(client->account);
}

/* Until it holds; every change lets it be looked at again. */
#define UNTIL(client, condition) \
    do { \
        for (uint64_t end_ms = (uint64_t)clock_now_ms() + DEADLINE_MS; \
             !(condition) && (uint64_t)clock_now_ms() < end_ms;) { \
            (client)->changed = false; \
            loop_until(&loop, &(client)->changed); \
        } \
        CHECK(condition); \
    } while (0)

static inline bool saw(const struct client *client, const char *id)
{
    for (size_t i = 0; i < client->n_orders; i++)
        if (strcmp(client->orders[i].client_id, id) == 0)
            return true;
    return false;
}

static inline void wait_up(struct client *client)
{
    UNTIL(client, client->link == VENUE_UP);
}

/* ---- Requests that are waited for. ---- */

struct answer {
    bool done;
    struct venue_answer a;
    char text[VENUE_DETAIL_MAX];
    struct venue_order orders[KEPT_MAX];
    struct venue_fill fills[KEPT_MAX];
    struct venue_balance balances[KEPT_MAX];
};

static inline void on_answer(void *user, const struct venue_answer *answer)
{
    struct answer *kept = user;
    CHECK(!kept->done);
    kept->done = true;
    kept->a = *answer;
    CHECK(!!answer->text[0] == (answer->outcome != VENUE_DONE));
    snprintf(kept->text, sizeof(kept->text), "%s", answer->text);
    CHECK(answer->n_orders <= KEPT_MAX && answer->n_fills <= KEPT_MAX && answer->n_balances <= KEPT_MAX);
    if (answer->n_orders <= KEPT_MAX && answer->n_orders > 0)
        memcpy(kept->orders, answer->orders, answer->n_orders * sizeof(*kept->orders));
    if (answer->n_fills <= KEPT_MAX && answer->n_fills > 0)
        memcpy(kept->fills, answer->fills, answer->n_fills * sizeof(*kept->fills));
    if (answer->n_balances <= KEPT_MAX && answer->n_balances > 0)
        memcpy(kept->balances, answer->balances, answer->n_balances * sizeof(*kept->balances));
}

static struct answer kept;

static inline void waited(int r)
{
    CHECK_INT(r, 0);
    CHECK(!kept.done); /* not from within the call */
    CHECK(loop_until(&loop, &kept.done));
}

static inline enum venue_outcome place(struct client *client, const struct order *order, const char *id)
{
    kept = (struct answer){0};
    waited(venue->accounts->place(client->account, order, id, on_answer, &kept));
    return kept.a.outcome;
}

static inline enum venue_outcome query(struct client *client, const char *id)
{
    kept = (struct answer){0};
    waited(venue->accounts->query(client->account, 0, id, "", on_answer, &kept));
    return kept.a.outcome;
}

static inline enum venue_outcome cancel(struct client *client, const char *id)
{
    kept = (struct answer){0};
    waited(venue->accounts->cancel(client->account, 0, id, on_answer, &kept));
    return kept.a.outcome;
}

static inline enum venue_outcome open_orders(struct client *client)
{
    kept = (struct answer){0};
    waited(venue->accounts->open(client->account, on_answer, &kept));
    return kept.a.outcome;
}

static inline enum venue_outcome fills(struct client *client, const char *order_id)
{
    kept = (struct answer){0};
    waited(venue->accounts->fills(client->account, 0, order_id, on_answer, &kept));
    return kept.a.outcome;
}

static inline int64_t balance(struct client *client, const char *asset)
{
    kept = (struct answer){0};
    waited(venue->accounts->balances(client->account, on_answer, &kept));
    CHECK_INT(kept.a.outcome, VENUE_DONE);
    for (size_t i = 0; i < kept.a.n_balances; i++)
        if (strcmp(kept.balances[i].asset, asset) == 0)
            return kept.balances[i].free + kept.balances[i].locked;
    return 0;
}

/* Below the best bid: once it plays. */
static inline struct order resting(void)
{
    return (struct order){
        .type = ORDER_LIMIT, .qty = E8 / 100, .price = best_bid.price / (1000 * E8) * 1000 * E8 - 5000 * E8};
}

#endif
