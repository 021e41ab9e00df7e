/* Binance's account against papertape-replay, a process of its own whose market stands still: orders, fills,
 * balances and user data by HMAC and Ed25519, over REST and the WebSocket API; and the outcome that is
 * reported of each fault. Usage: test PAPERTAPE_REPLAY */
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

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

enum { SEEN_MAX = 256, KEPT_MAX = 64, ASKS_MAX = 1000 };

static const struct venue *const venue = &binance_venue;
static const char *program;
static uv_loop_t loop;
static struct net_context *net;
static struct replay replay;
static struct venue_stream *stream; /* for which it plays */
static int64_t server_ns;           /* where it stands */
static struct symbol symbols[2];
static struct book_level best_bid, best_ask;
static char keys_file[64], public_file[64], *private_pem;

/* ---- The market. ---- */

static void on_market_state(void *user, const struct venue_status *status)
{
    (void)user, (void)status;
}

static void on_market_frame(void *user, const char *data, size_t len)
{
    (void)user, (void)data, (void)len;
}

struct looked {
    bool done;
    uint64_t last_id;
};

static void on_reply(void *user, const struct venue_reply *reply)
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
static void wait_for_stand(void)
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

/* A replay whose market has played for a second and stands; with keys, or with a fault and without keys. */
static void start(const char *fault)
{
    static const char *const stream_names[] = {"btcusdt@depth@100ms"};
    static const struct venue_stream_handler handler = {on_market_state, on_market_frame};
    const char *options[] = {"--from",
                             "2024-08-08T23:54:15Z",
                             "--to",
                             "2024-08-08T23:54:16Z",
                             fault ? "--fault" : "--keys",
                             fault ? fault : keys_file,
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

static void stop(void)
{
    venue->stream_destroy(stream);
    loop_end(&loop, net);
    stop_replay(&replay);
}

static void on_controlled(void *user, const struct http_reply *reply)
{
    CHECK_INT(reply->status, 200);
    *(bool *)user = true;
}

/* Another fault, from now on. */
static void post_fault(const char *fault)
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
    int bans;
    int64_t banned_ns;
    bool changed;
};

static void on_state(void *user, const struct venue_status *status)
{
    struct client *client = user;
    client->ups += status->link == VENUE_UP && client->link != VENUE_UP;
    client->downs += status->link != VENUE_UP && client->link == VENUE_UP;
    client->link = status->link;
    snprintf(client->detail, sizeof(client->detail), "%s", status->detail);
    client->changed = true;
}

static void on_order(void *user, const struct venue_order *order)
{
    struct client *client = user;
    if (client->n_orders < SEEN_MAX)
        client->orders[client->n_orders++] = *order;
    client->changed = true;
}

static void on_fill(void *user, const struct venue_fill *fill)
{
    struct client *client = user;
    if (client->n_fills < SEEN_MAX)
        client->fills[client->n_fills++] = *fill;
    client->changed = true;
}

static void on_balances(void *user, const struct venue_balance *balances, size_t n)
{
    struct client *client = user;
    CHECK(n == 2 && balances[0].scale == 8);
    client->n_balances++;
    client->changed = true;
}

static void on_ban(void *user, int64_t until_ns, const char *why)
{
    struct client *client = user;
    CHECK(why[0] != '\0');
    client->bans++;
    client->banned_ns = until_ns;
}

static int64_t venue_ns(void *user)
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

static void open_client(struct client *client, const struct how *how)
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
        .settings = settings,
        .n_settings = 2,
        .timeout_ms = how->timeout_ms > 0 ? how->timeout_ms : DEADLINE_MS,
        .ban = {.until_ns = how->banned ? clock_wall_ns() + 3600 * 1000000000LL : 0,
                .reported = on_ban,
                .user = client},
    };
    CHECK_INT(venue->accounts->create(&config, &handler, client, &client->account), 0);
}

static void close_client(struct client *client)
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

static bool saw(const struct client *client, const char *id)
{
    for (size_t i = 0; i < client->n_orders; i++)
        if (strcmp(client->orders[i].client_id, id) == 0)
            return true;
    return false;
}

static void wait_up(struct client *client)
{
    UNTIL(client, client->link == VENUE_UP);
}

/* A turn of the loop, of at most TURN_MS. */
static void loop_turns(void)
{
    uv_timer_t timer;
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, loop_turn, TURN_MS, 0);
    uv_run(&loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_NOWAIT);
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

static void on_answer(void *user, const struct venue_answer *answer)
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

static void waited(int r)
{
    CHECK_INT(r, 0);
    CHECK(!kept.done); /* not from within the call */
    CHECK(loop_until(&loop, &kept.done));
}

static enum venue_outcome place(struct client *client, const struct order *order, const char *id)
{
    kept = (struct answer){0};
    waited(venue->accounts->place(client->account, order, id, on_answer, &kept));
    return kept.a.outcome;
}

static enum venue_outcome query(struct client *client, const char *id)
{
    kept = (struct answer){0};
    waited(venue->accounts->query(client->account, 0, id, on_answer, &kept));
    return kept.a.outcome;
}

static enum venue_outcome cancel(struct client *client, const char *id)
{
    kept = (struct answer){0};
    waited(venue->accounts->cancel(client->account, 0, id, on_answer, &kept));
    return kept.a.outcome;
}

static enum venue_outcome open_orders(struct client *client)
{
    kept = (struct answer){0};
    waited(venue->accounts->open(client->account, on_answer, &kept));
    return kept.a.outcome;
}

static enum venue_outcome fills(struct client *client, const char *order_id)
{
    kept = (struct answer){0};
    waited(venue->accounts->fills(client->account, 0, order_id, on_answer, &kept));
    return kept.a.outcome;
}

static int64_t balance(struct client *client, const char *asset)
{
    kept = (struct answer){0};
    waited(venue->accounts->balances(client->account, on_answer, &kept));
    CHECK_INT(kept.a.outcome, VENUE_DONE);
    for (size_t i = 0; i < kept.a.n_balances; i++)
        if (strcmp(kept.balances[i].asset, asset) == 0)
            return kept.balances[i].free + kept.balances[i].locked;
    return 0;
}

static struct order resting(void)
{
    return (struct order){
        .type = ORDER_LIMIT, .qty = E8 / 100, .price = best_bid.price / (1000 * E8) * 1000 * E8 - 5000 * E8};
}

/* ---- What an order goes through. ---- */

static void test_resting(struct client *c)
{
    const struct order order = resting();
    CHECK_INT(place(c, &order, "rest/1"), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 1);
    CHECK_INT(kept.a.n_fills, 0);
    const struct venue_order placed = kept.orders[0];
    CHECK_INT(placed.state, VENUE_ORDER_NEW);
    CHECK_STR(placed.client_id, "rest/1");
    CHECK_INT(placed.qty, order.qty);
    CHECK_INT(placed.price, order.price);
    CHECK(placed.symbol == &symbols[0]);
    CHECK(kept.a.ts_ns > 0);
    CHECK_INT(place(c, &order, "rest/1"), VENUE_EXISTS);
    CHECK_INT(kept.a.code, -2010);
    CHECK_INT(query(c, "rest/1"), VENUE_DONE);
    CHECK_STR(kept.orders[0].id, placed.id);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_NEW);
    CHECK_INT(open_orders(c), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 1);
    CHECK_INT(cancel(c, "rest/1"), VENUE_DONE);
    CHECK_STR(kept.orders[0].client_id, "rest/1");
    CHECK_STR(kept.orders[0].id, placed.id);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_CANCELED);
    CHECK_INT(cancel(c, "rest/1"), VENUE_ABSENT);
    CHECK_INT(kept.a.code, -2011);
    CHECK_INT(query(c, "rest/1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_CANCELED);
    CHECK_INT(query(c, "never"), VENUE_ABSENT);
    CHECK_INT(kept.a.code, -2013);
    CHECK_INT(open_orders(c), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 0);
    UNTIL(c, c->n_orders >= 2);
    CHECK_INT(c->n_orders, 2);
    CHECK_INT(c->orders[0].state, VENUE_ORDER_NEW);
    CHECK_INT(c->orders[1].state, VENUE_ORDER_CANCELED);
    for (int i = 0; i < 2; i++) {
        CHECK_STR(c->orders[i].client_id, "rest/1");
        CHECK_STR(c->orders[i].id, placed.id);
    }
    CHECK_INT(c->n_fills, 0);
}

/* One that takes several levels: its answer, user data and what is asked for afterwards say the same. */
static void test_market(struct client *c)
{
    const int64_t base = balance(c, "BTC"), quote = balance(c, "USDT");
    const struct order order = {.type = ORDER_MARKET, .qty = 2 * E8 + E8 / 2};
    int64_t qty = 0, fee = 0, notional = 0;
    c->n_orders = c->n_fills = 0;
    CHECK_INT(place(c, &order, "market-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_FILLED);
    CHECK_INT(kept.orders[0].filled, order.qty);
    const struct answer placed = kept;
    CHECK(placed.a.n_fills > 1);
    UNTIL(c, c->n_fills >= placed.a.n_fills && c->n_orders > 0 &&
                 c->orders[c->n_orders - 1].state == VENUE_ORDER_FILLED);
    CHECK_INT(c->n_fills, placed.a.n_fills);
    CHECK_INT(fills(c, placed.orders[0].id), VENUE_DONE);
    CHECK_INT(kept.a.n_fills, placed.a.n_fills);
    for (size_t i = 0; i < placed.a.n_fills && i < c->n_fills; i++) {
        const struct venue_fill *three[] = {&placed.fills[i], &c->fills[i], &kept.fills[i]};
        qty += three[0]->qty;
        fee += three[0]->fee;
        notional += kept.fills[i].notional;
        for (int k = 0; k < 3; k++) {
            CHECK_STR(three[k]->trade_id, three[0]->trade_id);
            CHECK_STR(three[k]->order_id, placed.orders[0].id);
            CHECK_INT(three[k]->price, three[0]->price);
            CHECK_INT(three[k]->qty, three[0]->qty);
            CHECK_INT(three[k]->cumulative, qty);
            CHECK_INT(three[k]->fee, three[0]->fee);
            CHECK_STR(three[k]->fee_asset, "BTC");
            CHECK_INT(three[k]->fee_scale, 8);
            CHECK_INT(three[k]->side, ORDER_BUY);
            CHECK(!three[k]->maker);
        }
        CHECK_INT(three[1]->notional, three[2]->notional);
        CHECK(three[2]->ts_ns > 0);
    }
    CHECK_INT(qty, order.qty);
    CHECK_INT(balance(c, "BTC") - base, qty - fee);
    /* A fill's amount has 8 digits, the balance 16. */
    int64_t paid = quote - balance(c, "USDT");
    CHECK(paid >= notional && paid <= notional + (int64_t)placed.a.n_fills + 1);
}

static void test_partial(struct client *c)
{
    const struct order order = {
        .type = ORDER_LIMIT, .side = ORDER_SELL, .qty = 10 * E8, .price = best_bid.price};
    c->n_orders = c->n_fills = 0;
    CHECK_INT(place(c, &order, "part-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_PARTIAL);
    const int64_t filled = kept.orders[0].filled;
    CHECK(filled > 0 && filled < order.qty);
    CHECK_INT(kept.fills[kept.a.n_fills - 1].cumulative, filled);
    CHECK_STR(kept.fills[0].fee_asset, "USDT");
    CHECK_INT(query(c, "part-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_PARTIAL);
    CHECK_INT(cancel(c, "part-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_CANCELED);
    CHECK_INT(kept.orders[0].filled, filled);
    UNTIL(c, c->n_orders > 0 && c->orders[c->n_orders - 1].state == VENUE_ORDER_CANCELED);
    CHECK_STR(c->orders[c->n_orders - 1].client_id, "part-1");
    CHECK_INT(c->orders[c->n_orders - 1].filled, filled);
    CHECK_INT(c->fills[c->n_fills - 1].cumulative, filled);
}

static void test_stop(struct client *c)
{
    const struct order order = {
        .type = ORDER_STOP, .side = ORDER_SELL, .qty = E8 / 10, .stop_price = best_bid.price - 5000 * E8};
    CHECK_INT(place(c, &order, "stop-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_NEW);
    CHECK_INT(kept.orders[0].type, ORDER_STOP);
    CHECK_INT(kept.orders[0].stop_price, order.stop_price);
    CHECK_INT(cancel(c, "stop-1"), VENUE_DONE);
}

static void test_refusals(struct client *c)
{
    struct order order = resting();
    order.qty = 1;
    CHECK_INT(place(c, &order, "r-1"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, -1013);
    CHECK_STR(kept.text, "Filter failure: LOT_SIZE");
    order = resting();
    order.qty = 30 * E8;
    CHECK_INT(place(c, &order, "r-2"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, -2010);
    CHECK_STR(kept.text, "Account has insufficient balance for requested action.");
    order = resting();
    order.post_only = true;
    order.price = best_ask.price + 100 * E8;
    CHECK_INT(place(c, &order, "r-3"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, -2010);
    /* By this program: nothing of them is sent. */
    const uint64_t sent = venue->accounts->status(c->account)->sent;
    order = resting();
    order.tif = ORDER_DAY;
    CHECK_INT(place(c, &order, "r-4"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, 0);
    order = resting();
    CHECK_INT(place(c, &order, ""), VENUE_REFUSED);
    CHECK_INT(place(c, &order, "a-client-id-of-thirty-seven-letters-x"), VENUE_REFUSED);
    order.symbol = 2;
    CHECK_INT(place(c, &order, "r-5"), VENUE_REFUSED);
    CHECK_INT(fills(c, ""), VENUE_REFUSED);
    CHECK_INT(venue->accounts->status(c->account)->sent, sent);
    CHECK_INT(fills(c, "x"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, -1100);
    CHECK_INT(open_orders(c), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 0);
}

/* A clock that is off, either way, and right again. */
static void test_clock(struct client *c)
{
    const struct order order = resting();
    static const int64_t offs_ms[] = {-5100, 1001, 5000};
    for (int i = 0; i < 3; i++) {
        c->off_ns = offs_ms[i] * NS_PER_MS;
        CHECK_INT(place(c, &order, "late"), VENUE_REFUSED);
        CHECK_INT(kept.a.code, -1021);
    }
    c->off_ns = 900 * NS_PER_MS;
    CHECK_INT(query(c, "late"), VENUE_ABSENT);
    c->off_ns = 0;
}

static void test_order_life(const struct how *how)
{
    static struct client c;
    memset(&c, 0, sizeof(c));
    open_client(&c, how);
    wait_up(&c);
    test_resting(&c);
    test_market(&c);
    test_partial(&c);
    test_stop(&c);
    test_refusals(&c);
    test_clock(&c);
    CHECK_INT(c.ups, 1);
    CHECK_INT(c.downs, 0);
    CHECK_INT(c.bans, 0);
    const struct venue_status *status = venue->accounts->status(c.account);
    CHECK_INT(status->connects, 1);
    CHECK_INT(status->up, 1);
    CHECK(status->frames > 0 && status->sent > 0);
    close_client(&c);
}

/* ---- Who may. ---- */

static void test_wrong_keys(void)
{
    static const struct {
        struct how how;
        enum venue_outcome place, query;
        int code;
        enum venue_link link;
    } cases[] = {
        {{"h", "wrong", false, 0, false}, VENUE_REFUSED, VENUE_REFUSED, -1022, VENUE_FINAL},
        {{"unknown", "s3cret", false, 0, false}, VENUE_DENIED, VENUE_DENIED, -2015, VENUE_FINAL},
        {{"reader", "other", false, 0, false}, VENUE_DENIED, VENUE_ABSENT, -2015, VENUE_UP},
        {{"reader", "other", true, 0, false}, VENUE_DENIED, VENUE_ABSENT, -2015, VENUE_UP},
    };
    const struct order order = resting();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static struct client c;
        memset(&c, 0, sizeof(c));
        open_client(&c, &cases[i].how);
        UNTIL(&c, c.link == cases[i].link);
        CHECK_INT(place(&c, &order, "k-1"), cases[i].place);
        CHECK_INT(kept.a.code, cases[i].code);
        CHECK_INT(query(&c, "k-1"), cases[i].query);
        CHECK(!strstr(c.detail, cases[i].how.secret));
        close_client(&c);
    }
}

static void test_hosts(void)
{
    static struct client c;
    struct venue_account_config config = {
        .net = net, .keys = {"h", "s3cret"}, .symbols = symbols, .n_symbols = 2, .venue_ns = venue_ns};
    static const struct {
        const char *rest, *ws;
        int r;
    } cases[] = {
        {"https://api.binance.com", "wss://127.0.0.1", -EPERM},
        {"https://127.0.0.1", "wss://ws-api.binance.com:443", -EPERM},
        {"http://127.0.0.1", "wss://127.0.0.1", -EINVAL},
        {"https://127.0.0.1", "https://127.0.0.1", -EINVAL},
        {"https://127.0.0.1/api", "wss://127.0.0.1", -EINVAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        config.rest_url = cases[i].rest;
        config.ws_url = cases[i].ws;
        CHECK_INT(venue->accounts->create(&config, &handler, &c, &c.account), cases[i].r);
    }
    config.rest_url = replay.rest_url;
    config.ws_url = replay.ws_url;
    config.keys.secret = NULL;
    CHECK_INT(venue->accounts->create(&config, &handler, &c, &c.account), -EINVAL);
}

/* Destroyed with requests under way, and at once: no callback follows. */
static void test_destroy(void)
{
    static struct client c;
    static const struct how how = {"h", "s3cret", false, 0, false};
    const struct order order = resting();
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    close_client(&c);
    open_client(&c, &how);
    kept = (struct answer){0};
    CHECK_INT(venue->accounts->balances(c.account, on_answer, &kept), 0);
    CHECK_INT(venue->accounts->place(c.account, &order, "", on_answer, &kept), 0);
    close_client(&c);
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK(!kept.done);
}

/* ---- Connections that end. ---- */

/* The server announces its end: another connection is made beside it, nothing is missed and nothing comes
 * twice. */
static void test_renewal(void)
{
    static struct client c;
    static const struct how how = {"ed", NULL, false, 0, false};
    struct how with_key = how;
    const struct order order = resting();
    with_key.secret = private_pem;
    memset(&c, 0, sizeof(c));
    open_client(&c, &with_key);
    wait_up(&c);
    post_fault("shutdown@0s+3600s");
    const struct venue_status *status = venue->accounts->status(c.account);
    UNTIL(&c, status->renewals > 0);
    CHECK_INT(place(&c, &order, "renewed"), VENUE_DONE);
    CHECK_INT(cancel(&c, "renewed"), VENUE_DONE);
    UNTIL(&c, c.n_orders >= 2);
    CHECK_INT(c.n_orders, 2);
    CHECK_INT(c.ups, 1);
    CHECK_INT(c.downs, 0);
    close_client(&c);
}

/* ---- Faults. ---- */

static void test_order_fault(const char *fault, bool websocket, enum venue_outcome outcome, int code,
                             bool done)
{
    static struct client patient, hasty;
    static const struct how wait = {"any", "any", false, 0, false};
    const bool lost = code == 0 && outcome == VENUE_UNKNOWN;
    const struct how hurry = {"any", "any", websocket, lost && websocket ? 500 : 0, false};
    const struct order order = resting();
    start(fault);
    memset(&patient, 0, sizeof(patient));
    memset(&hasty, 0, sizeof(hasty));
    open_client(&patient, &wait);
    open_client(&hasty, &hurry);
    wait_up(&hasty);
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof(id), "well-%d", i);
        CHECK_INT(place(&patient, &order, id), VENUE_DONE);
    }
    enum venue_outcome got = place(&hasty, &order, "hit");
    if (got != outcome)
        fprintf(stderr, "%s: %s, not %s: %s\n", fault, venue_outcome_name(got), venue_outcome_name(outcome),
                kept.text);
    CHECK_INT(got, outcome);
    CHECK_INT(kept.a.code, code);
    if (outcome == VENUE_UNKNOWN)
        CHECK_INT(kept.a.settled_ns, server_ns / NS_PER_MS * NS_PER_MS + 15000 * NS_PER_MS);
    if (strncmp(fault, "order:late", 10) == 0)
        UNTIL(&patient, saw(&patient, "hit"));
    CHECK_INT(query(&patient, "hit"), done ? VENUE_DONE : VENUE_ABSENT);
    CHECK_INT(open_orders(&patient), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, done ? 4 : 3);
    CHECK_INT(place(&patient, &order, "after"), VENUE_DONE);
    /* A second one while the first lives is refused by the venue. */
    CHECK_INT(place(&patient, &order, "hit"), done ? VENUE_EXISTS : VENUE_DONE);
    close_client(&patient);
    close_client(&hasty);
    stop();
}

static void test_order_faults(void)
{
    static const struct {
        const char *fault;
        enum venue_outcome outcome;
        int code;
        bool done;
    } cases[] = {
        {"order:lost-request", VENUE_UNKNOWN, 0, false}, {"order:lost-answer", VENUE_UNKNOWN, 0, true},
        {"order:5xx-done", VENUE_UNKNOWN, -1007, true},  {"order:5xx-not-done", VENUE_UNKNOWN, -1007, false},
        {"order:twice", VENUE_EXISTS, -2010, true},      {"order:late:500ms", VENUE_UNKNOWN, -1007, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int websocket = 0; websocket < 2; websocket++)
            test_order_fault(cases[i].fault, websocket, cases[i].outcome, cases[i].code, cases[i].done);
}

/* Of every four events one is missing, doubled or late: all else comes, as it is. */
static void test_user_fault(const char *fault, size_t orders, size_t balances)
{
    static struct client c;
    static const struct how how = {"any", "any", false, 0, false};
    const struct order order = resting();
    start(fault);
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof(id), "user-%d", i);
        CHECK_INT(place(&c, &order, id), VENUE_DONE);
    }
    UNTIL(&c, c.n_orders >= orders && c.n_balances >= balances);
    CHECK_INT(c.n_orders, orders);
    CHECK_INT(c.n_balances, balances);
    for (size_t i = 0; i < c.n_orders; i++)
        CHECK(c.orders[i].symbol == &symbols[0] && c.orders[i].state == VENUE_ORDER_NEW);
    CHECK_INT(c.downs, 0);
    close_client(&c);
    stop();
}

static void test_wipe(void)
{
    static struct client c;
    static const struct how how = {"any", "any", false, 0, false};
    const struct order order = resting();
    start("user:drop");
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    CHECK_INT(place(&c, &order, "w-1"), VENUE_DONE);
    post_fault("wipe");
    for (int i = 0; i < ASKS_MAX && query(&c, "w-1") == VENUE_DONE; i++) /* till its next beat */
        loop_turns();
    CHECK_INT(kept.a.outcome, VENUE_ABSENT);
    CHECK_INT(open_orders(&c), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 0);
    close_client(&c);
    stop();
}

/* The address is limited or banned: it is reported, nothing more is sent, and user data waits too. */
static void test_limits(const char *fault, int64_t least_s)
{
    static struct client c;
    static const struct how how = {"any", "any", false, 0, false};
    const struct order order = resting();
    start("user:drop");
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    post_fault(fault);
    const int64_t before_ns = clock_wall_ns();
    CHECK_INT(place(&c, &order, "l-1"), VENUE_NOT_SENT);
    CHECK(kept.a.retry_ms > clock_now_ms());
    CHECK_INT(c.bans, 1);
    CHECK(c.banned_ns >= before_ns + least_s * 1000000000);
    const uint64_t sent = venue->accounts->status(c.account)->sent;
    CHECK_INT(query(&c, "l-1"), VENUE_NOT_SENT);
    CHECK(kept.a.retry_ms > clock_now_ms());
    CHECK_INT(venue->accounts->status(c.account)->sent, sent);
    close_client(&c);
    stop();
}

/* A ban of before the start, and one that another part met; and nothing listens: no byte can have left. */
static void test_not_sent(void)
{
    static struct client c;
    static const struct how how = {"any", "any", false, 0, false};
    const struct order order = resting();
    static const struct how banned = {"any", "any", false, 0, true};
    start("user:drop");
    memset(&c, 0, sizeof(c));
    open_client(&c, &banned);
    CHECK_INT(place(&c, &order, "n-0"), VENUE_NOT_SENT);
    CHECK(kept.a.retry_ms > clock_now_ms() + 3000 * 1000LL);
    CHECK_INT(venue->accounts->status(c.account)->attempts, 0);
    CHECK_INT(venue->accounts->status(c.account)->sent, 0);
    close_client(&c);
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    venue->accounts->hold(c.account, clock_wall_ns() + 3600 * 1000000000LL, "banned elsewhere");
    CHECK_INT(place(&c, &order, "n-1"), VENUE_NOT_SENT);
    CHECK_STR(kept.text, "banned elsewhere");
    CHECK_INT(c.bans, 0);
    close_client(&c);
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    int status = -1;
    kill(replay.pid, SIGTERM);
    CHECK(waitpid(replay.pid, &status, 0) == replay.pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    UNTIL(&c, c.link != VENUE_UP);
    CHECK_INT(c.downs, 1);
    CHECK_INT(place(&c, &order, "n-2"), VENUE_NOT_SENT);
    CHECK(kept.a.retry_ms > 0);
    CHECK_INT(query(&c, "n-2"), VENUE_NOT_SENT);
    close_client(&c);
    venue->stream_destroy(stream);
    loop_end(&loop, net);
    fclose(replay.out);
    unlink(replay.ca_file);
}

/* ---- Keys. ---- */

static void write_keys(void)
{
    EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    BIO *out = BIO_new(BIO_s_mem());
    char *text;
    snprintf(public_file, sizeof(public_file), "/tmp/papertape-test-public-XXXXXX");
    snprintf(keys_file, sizeof(keys_file), "/tmp/papertape-test-keys-XXXXXX");
    FILE *public = fdopen(mkstemp(public_file), "w"), *keys = fdopen(mkstemp(keys_file), "w");
    CHECK(PEM_write_PUBKEY(public, pkey) == 1);
    fclose(public);
    fprintf(keys, "h hmac s3cret\nw hmac s4cret\nreader hmac other read-only\ned ed25519 %s\n", public_file);
    fprintf(keys, "ew ed25519 %s\n", public_file);
    fclose(keys);
    CHECK(PEM_write_bio_PrivateKey(out, pkey, NULL, NULL, 0, NULL, NULL) == 1);
    long len = BIO_get_mem_data(out, &text);
    private_pem = strndup(text, (size_t)len);
    BIO_free(out);
    EVP_PKEY_free(pkey);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    program = argv[1];
    signal(SIGPIPE, SIG_IGN);
    write_keys();
    const struct how ways[] = {
        {"h", "s3cret", false, 0, false},
        {"w", "s4cret", true, 0, false},
        {"ed", private_pem, false, 0, false},
        {"ew", private_pem, true, 0, false},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        start(NULL);
        test_order_life(&ways[i]);
        if (i == 0) {
            test_wrong_keys();
            test_hosts();
            test_destroy();
        }
        if (i == 2)
            test_renewal();
        stop();
    }
    test_order_faults();
    test_user_fault("user:drop", 2, 3);
    test_user_fault("user:dup", 4, 3);
    test_user_fault("user:reorder", 3, 3);
    test_wipe();
    test_limits("429:30s", 0);
    test_limits("418:60s", 0);
    test_not_sent();
    unlink(keys_file);
    unlink(public_file);
    free(private_pem);
    return check_done("net binance_account");
}
