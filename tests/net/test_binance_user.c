/* Binance's account against a scripted venue: what ends the connection of user data, or only breaks it, and
 * answers of REST that are no good ones. */
#include <errno.h>

#include "exchange/binance/format.h"
#include "exchange/binance/variant.h"
#include "exchange/clock.h"
#include "exchange/venue_account.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

#define E8 100000000LL

enum { NOW_S = 1700000000, PAGE = 1000 };

static uv_loop_t loop;
static struct net_context *net;
static const struct symbol symbols[] = {
    {.name = "BTCUSDT", .base = "BTC", .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8},
    {.name = ""}, /* room for another */
};

/* An answer of REST. */
struct rest {
    const char *status; /* "": the connection ends */
    const char *headers, *body;
    bool half; /* of the body, and then the connection ends */
};

/* What the venue does. */
static struct script {
    const char *answer;      /* to the next subscription, instead of a good one; "": none at all */
    bool again;              /* and to all that follow */
    const char *early;       /* before the answer */
    const struct rest *rest; /* its answer; NULL: none at all */
    const char *order; /* to an order by the WebSocket API; "": the connection ends; NULL: none at all */
    unsigned upgrades, subscriptions, requests, orders;
    char head[4096]; /* of the last request of REST */
    struct peer *peers[8];
} script;

#define SUBSCRIBED "{\"id\":%lld,\"status\":200,\"result\":{\"subscriptionId\":0}}"

static const char report[] =
    "{\"subscriptionId\":0,\"event\":{\"e\":\"executionReport\",\"E\":1499405658658,\"s\":\"BTCUSDT\",\"c\":\"a-1\","
    "\"S\":\"BUY\",\"o\":\"LIMIT\",\"f\":\"GTC\",\"q\":\"1.0\",\"p\":\"0.1\",\"P\":\"0.0\",\"C\":\"\",\"x\":\"NEW\","
    "\"X\":\"NEW\",\"r\":\"NONE\",\"i\":4293153,\"l\":\"0.0\",\"z\":\"0.0\",\"L\":\"0.0\",\"n\":\"0\",\"N\":null,"
    "\"T\":1499405658657,\"t\":-1,\"m\":false}}";

static char *trades_page(const char *head);

static void on_request(struct peer *peer, const char *head)
{
    if (strstr(head, "Upgrade:") || strstr(head, "upgrade:")) {
        CHECK(strncmp(head, "GET /ws-api/v3 ", 15) == 0);
        if (script.upgrades < 8)
            script.peers[script.upgrades] = peer;
        script.upgrades++;
        peer_upgrade(peer);
        return;
    }
    script.requests++;
    snprintf(script.head, sizeof(script.head), "%s", head);
    if (strstr(head, "/myTrades?")) {
        char *page = trades_page(head);
        peer_print(peer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", strlen(page));
        peer_write(peer, page, strlen(page));
        free(page);
        return;
    }
    const struct rest *rest = script.rest;
    if (rest && rest->status[0])
        peer_print(peer, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s", rest->status, rest->headers,
                   strlen(rest->body) * (rest->half ? 2 : 1), rest->body);
    if (rest && (!rest->status[0] || rest->half))
        peer_drop(peer);
}

static void answer_order(struct peer *peer, long long id)
{
    char text[512];
    const char *order = script.order, *percent = order ? strstr(order, "%lld") : NULL;
    if (!order)
        return;
    if (!order[0]) {
        peer_drop(peer);
        return;
    }
    snprintf(text, sizeof(text), "%s", order);
    if (percent)
        snprintf(text, sizeof(text), "%.*s%lld%s", (int)(percent - order), order, id, percent + 4);
    peer_text(peer, text);
}

static void on_peer_frame(struct peer *peer, int opcode, const char *payload, size_t len)
{
    char text[512], sent[1024];
    long long id = 0;
    if (opcode == 9)
        peer_frame(peer, true, 10, payload, len);
    if (opcode != 1)
        return;
    snprintf(sent, sizeof(sent), "%.*s", (int)len, payload);
    CHECK_INT(sscanf(sent, "{\"id\":%lld,", &id), 1);
    if (strstr(sent, "\"order.place\"")) {
        script.orders++;
        CHECK(strstr(sent, "\"newClientOrderId\":\"a-1\"") && strstr(sent, "\"timestamp\":1700000000123"));
        answer_order(peer, id);
        return;
    }
    CHECK(strstr(sent, "\"userDataStream.subscribe.signature\""));
    CHECK(strstr(sent, "\"apiKey\":\"the-id\"") && !strstr(sent, "the-secret"));
    script.subscriptions++;
    if (script.early)
        peer_text(peer, script.early);
    const char *answer = script.answer ? script.answer : SUBSCRIBED;
    if (!script.again)
        script.answer = NULL;
    if (!answer[0])
        return;
    char *percent = strstr(answer, "%lld"); /* the id's place */
    snprintf(text, sizeof(text), "%.*s%lld%s", (int)(percent - answer), answer, id, percent + 4);
    peer_text(peer, text);
}

static const struct server_handler server_handler = {on_request, on_peer_frame, NULL, NULL};

/* ---- The account. ---- */

static struct seen {
    struct venue_account *account;
    enum venue_link link;
    char detail[VENUE_DETAIL_MAX];
    int ups, downs, orders, bans, bad_timestamp;
    int64_t banned_ns, retry_ms;
    bool changed, destroys;
} seen;

static void on_state(void *user, const struct venue_status *status)
{
    (void)user;
    seen.ups += status->link == VENUE_UP && seen.link != VENUE_UP;
    seen.downs += status->link != VENUE_UP && seen.link == VENUE_UP;
    seen.link = status->link;
    seen.retry_ms = status->retry_ms;
    if (status->detail[0])
        snprintf(seen.detail, sizeof(seen.detail), "%s", status->detail);
    CHECK(!strstr(status->detail, "the-secret") && !strstr(status->detail, "the-id"));
    seen.changed = true;
}

static void on_order(void *user, const struct venue_order *order)
{
    (void)user;
    CHECK_STR(order->client_id, "a-1");
    seen.orders++;
    seen.changed = true;
    if (seen.destroys) {
        binance_venue.accounts->destroy(seen.account);
        seen.account = NULL;
    }
}

static void on_fill(void *user, const struct venue_fill *fill)
{
    (void)user, (void)fill;
    CHECK(!"a fill");
}

static void on_balances(void *user, const struct venue_balance *balances, size_t n)
{
    (void)user, (void)balances, (void)n;
}

static void on_ban(void *user, int64_t until_ns, const char *why)
{
    (void)user, (void)why;
    seen.bans++;
    seen.banned_ns = until_ns;
    if (seen.destroys) {
        binance_venue.accounts->destroy(seen.account);
        seen.account = NULL;
    }
}

static void on_bad_timestamp(void *user)
{
    (void)user;
    seen.bad_timestamp++;
}

static int64_t venue_ns(void *user)
{
    (void)user;
    return NOW_S * 1000000000LL + 123456789;
}

static const struct venue_account_handler handler = {on_state, on_order, on_fill, on_balances};

static bool by_websocket;
static int64_t banned_until_ns; /* before the start */

static struct server *begin(enum server_kind kind, int64_t timeout_ms)
{
    static const struct venue_setting websocket = {"orders", "websocket"};
    char rest_url[64], ws_url[64];
    struct server *server = server_start(&loop, kind, &server_handler);
    snprintf(rest_url, sizeof(rest_url), "https://127.0.0.1:%u/", server_port(server));
    snprintf(ws_url, sizeof(ws_url), "wss://127.0.0.1:%u/", server_port(server));
    const struct venue_account_config config = {
        .net = net,
        .rest_url = rest_url,
        .ws_url = ws_url,
        .keys = {"the-id", "the-secret"},
        .symbols = symbols,
        .n_symbols = 2,
        .venue_ns = venue_ns,
        .bad_timestamp = on_bad_timestamp,
        .settings = &websocket,
        .n_settings = by_websocket,
        .jitter_seed = 7,
        .timeout_ms = timeout_ms,
        .ban = {.until_ns = banned_until_ns, .reported = on_ban},
    };
    memset(&seen, 0, sizeof(seen));
    CHECK_INT(binance_venue.accounts->create(&config, &handler, NULL, &seen.account), 0);
    return server;
}

static void end(struct server *server)
{
    binance_venue.accounts->destroy(seen.account);
    server_stop(server);
    script = (struct script){0};
}

#define UNTIL(condition) \
    do { \
        for (int64_t end_ms = clock_now_ms() + DEADLINE_MS; !(condition) && clock_now_ms() < end_ms;) { \
            seen.changed = false; \
            loop_until(&loop, &seen.changed); \
        } \
        CHECK(condition); \
    } while (0)

/* ---- User data. ---- */

/* Refusals of the subscription. */
static void test_refused(void)
{
    static const struct {
        const char *answer;
        enum venue_link link;
        int bans;
        bool final;
    } cases[] = {
        {"{\"id\":%lld,\"status\":400,\"error\":{\"code\":-1022,\"msg\":\"Signature is not valid.\"}}",
         VENUE_FINAL, 0, true},
        {"{\"id\":%lld,\"status\":401,\"error\":{\"code\":-2015,\"msg\":\"Invalid API-key.\"}}", VENUE_FINAL,
         0, true},
        {"{\"id\":%lld,\"status\":400,\"error\":{\"code\":-1021,\"msg\":\"Timestamp.\"}}", VENUE_WAITING, 0,
         false},
        {"{\"id\":%lld,\"status\":503,\"error\":{\"code\":-1000,\"msg\":\"Unknown.\"}}", VENUE_WAITING, 0,
         false},
        {"{\"id\":%lld,\"status\":400,\"error\":{\"code\":-2042,\"msg\":\"Maximum.\"}}", VENUE_FAILED, 0,
         false},
        {"{\"id\":%lld,\"status\":429,\"error\":{\"code\":-1003,\"msg\":\"Too much.\",\"data\":{\"serverTime\":"
         "1000,\"retryAfter\":91000}}}",
         VENUE_WAITING, 1, false},
        {"{\"id\":%lld,\"status\":418,\"error\":{\"code\":-1003,\"msg\":\"Banned.\",\"data\":{\"serverTime\":1000,"
         "\"retryAfter\":91000}}}",
         VENUE_WAITING, 1, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        script.answer = cases[i].answer;
        script.again = true;
        struct server *server = begin(SERVER_GOOD, 0);
        UNTIL(seen.link == cases[i].link && script.subscriptions > 0);
        CHECK_INT(seen.ups, 0);
        CHECK_INT(seen.bans, cases[i].bans);
        CHECK(strstr(seen.detail, "refuses user data"));
        if (cases[i].bans)
            CHECK(seen.banned_ns > clock_wall_ns() + 29 * 1000000000LL && seen.retry_ms > clock_now_ms());
        if (cases[i].final)
            CHECK_INT(seen.retry_ms, 0);
        end(server);
    }
}

/* Refused for a while. */
static void test_again(void)
{
    script.answer = "{\"id\":%lld,\"status\":400,\"error\":{\"code\":-1021,\"msg\":\"Timestamp.\"}}";
    struct server *server = begin(SERVER_GOOD, 0);
    UNTIL(seen.link == VENUE_UP);
    CHECK_INT(script.subscriptions, 2);
    CHECK_INT(seen.bad_timestamp, 1);
    CHECK_STR(binance_venue.accounts->status(seen.account)->detail, "");
    end(server);
    script.answer = ""; /* nothing */
    server = begin(SERVER_GOOD, 400);
    UNTIL(seen.link == VENUE_UP || script.subscriptions > 20);
    CHECK(strstr(seen.detail, "does not answer"));
    end(server);
}

/* What it brings, each after it was up. */
static void test_breaks(void)
{
    static const struct {
        const char *text; /* NULL: the connection ends */
        enum venue_link link;
        int orders;
    } cases[] = {
        {"{\"subscriptionId\":0,\"event\":{\"e\":\"eventStreamTerminated\",\"E\":1728973001334}}", VENUE_UP,
         0},
        {"{\"subscriptionId\":0,\"event\":{\"e\":\"executionReport\",\"s\":\"BTCUSDT\"}}", VENUE_UP, 0},
        {"no JSON", VENUE_UP, 0},
        {NULL, VENUE_UP, 0},
        {"{\"id\":null,\"status\":401,\"error\":{\"code\":-2015,\"msg\":\"Invalid API-key.\"}}", VENUE_FINAL,
         0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct server *server = begin(SERVER_GOOD, 0);
        UNTIL(seen.ups == 1);
        if (cases[i].text)
            peer_text(script.peers[0], cases[i].text);
        else
            peer_drop(script.peers[0]);
        UNTIL(seen.downs == 1 && seen.link == cases[i].link);
        CHECK_INT(seen.ups, cases[i].link == VENUE_UP ? 2 : 1);
        CHECK_INT(seen.orders, 0);
        CHECK(seen.detail[0] != '\0');
        end(server);
    }
}

static void test_events(void)
{
    script.early = report; /* before the answer to the subscription */
    struct server *server = begin(SERVER_GOOD, 0);
    UNTIL(seen.ups == 1);
    CHECK_INT(seen.orders, 1);
    peer_text(script.peers[0], "{\"subscriptionId\":0,\"event\":{\"e\":\"balanceUpdate\",\"a\":\"BTC\"}}");
    peer_text(script.peers[0], "{\"id\":77,\"status\":200,\"result\":{}}"); /* to nothing */
    peer_text(script.peers[0], report);
    UNTIL(seen.orders == 2);
    CHECK_INT(seen.downs, 0);
    seen.destroys = true; /* from within the callback */
    peer_text(script.peers[0], report);
    UNTIL(seen.account == NULL);
    end(server);
}

/* The old connection ends while the new one is up beside it: what it had may be missing. */
static void test_overlap(void)
{
    struct server *server = begin(SERVER_GOOD, 0);
    UNTIL(seen.ups == 1);
    peer_text(script.peers[0], "{\"event\":{\"e\":\"serverShutdown\",\"E\":1770123456789}}");
    for (int64_t end_ms = clock_now_ms() + DEADLINE_MS; script.subscriptions < 2 && clock_now_ms() < end_ms;)
        uv_run(&loop, UV_RUN_ONCE);
    peer_text(script.peers[0], report);
    peer_text(script.peers[1], report); /* both bring it */
    UNTIL(seen.orders == 2);
    CHECK_INT(seen.downs, 0);
    peer_drop(script.peers[0]);
    UNTIL(seen.downs == 1 && seen.link == VENUE_UP);
    CHECK_INT(seen.ups, 2);
    CHECK_INT(script.upgrades, 2); /* and no third is made */
    peer_text(script.peers[1], report);
    UNTIL(seen.orders == 3);
    end(server);
}

/* ---- REST. ---- */

static struct kept {
    bool done;
    enum venue_outcome outcome;
    int code;
    int64_t retry_ms, settled_ns;
    size_t n_fills;
    int64_t filled;
    char text[VENUE_DETAIL_MAX];
} kept;

static void on_answer(void *user, const struct venue_answer *answer)
{
    (void)user;
    CHECK(!kept.done);
    CHECK(!strstr(answer->text, "the-secret") && !strstr(answer->text, "the-id"));
    kept = (struct kept){true,
                         answer->outcome,
                         answer->code,
                         answer->retry_ms,
                         answer->settled_ns,
                         answer->n_fills,
                         answer->n_fills > 0 ? answer->fills[answer->n_fills - 1].cumulative : 0,
                         ""};
    snprintf(kept.text, sizeof(kept.text), "%s", answer->text);
}

static enum venue_outcome place(void)
{
    const struct order order = {.type = ORDER_LIMIT, .qty = E8, .price = 2 * E8};
    kept = (struct kept){0};
    CHECK_INT(binance_venue.accounts->place(seen.account, &order, "a-1", on_answer, NULL), 0);
    CHECK(loop_until(&loop, &kept.done));
    return kept.outcome;
}

static enum venue_outcome query(void)
{
    kept = (struct kept){0};
    CHECK_INT(binance_venue.accounts->query(seen.account, 0, "a-1", "", on_answer, NULL), 0);
    CHECK(loop_until(&loop, &kept.done));
    return kept.outcome;
}

#define ORDER(symbol, id, more) \
    "{\"symbol\":\"" symbol "\",\"orderId\":28,\"clientOrderId\":\"" id \
    "\",\"transactTime\":1507725176595" more "}"
#define STATE \
    ",\"price\":\"2\",\"origQty\":\"1\",\"executedQty\":\"0\",\"status\":\"NEW\",\"timeInForce\":\"GTC\"," \
    "\"type\":\"LIMIT\",\"side\":\"BUY\",\"fills\":[]"

static void test_answers(void)
{
    static const struct {
        struct rest rest;
        enum venue_outcome outcome;
        int code, bans;
    } cases[] = {
        {{"200 OK", "", ORDER("BTCUSDT", "a-1", STATE), false}, VENUE_DONE, 0, 0},
        {{"200 OK", "", ORDER("BTCUSDT", "a-12", STATE), false}, VENUE_UNKNOWN, 0, 0}, /* another's */
        {{"200 OK", "", ORDER("ETHUSDT", "a-1", STATE), false}, VENUE_UNKNOWN, 0, 0},
        {{"200 OK", "", ORDER("BTCUSDT", "a-1", ""), false}, VENUE_UNKNOWN, 0, 0},
        {{"200 OK", "", "{}", false}, VENUE_UNKNOWN, 0, 0},
        {{"200 OK", "", "<html>\n", false}, VENUE_UNKNOWN, 0, 0},
        {{"200 OK", "", ORDER("BTCUSDT", "a-1", STATE), true}, VENUE_UNKNOWN, 0, 0}, /* half */
        {{"", "", "", false}, VENUE_UNKNOWN, 0, 0},
        {{"301 Moved", "Location: https://127.0.0.1:1/\r\n", "", false}, VENUE_UNKNOWN, 0, 0},
        {{"403 Forbidden", "", "<html>\n", false}, VENUE_NOT_SENT, 0, 0},
        {{"429 Limited", "Retry-After: 7\r\n", "{\"code\":-1003,\"msg\":\"Much\"}\n", false},
         VENUE_NOT_SENT,
         -1003,
         1},
        {{"429 Limited", "Retry-After: 7\r\n", "{\"code\":-1015,\"msg\":\"Many\"}\n", false},
         VENUE_NOT_SENT,
         -1015,
         0},
        {{"418 Banned", "Retry-After: 7\r\n", "<html>\n", false}, VENUE_NOT_SENT, 0, 1},
        {{"503 Busy", "", "{\"code\":-1008,\"msg\":\"Busy\"}\n", false}, VENUE_UNKNOWN, -1008, 0},
        {{"502 Bad", "", "<html>\n", false}, VENUE_UNKNOWN, 0, 0},
        {{"400 Bad", "", "{\"code\":-1013,\"msg\":\"Fail\"}\n", false}, VENUE_REFUSED, -1013, 0},
        {{"401 Keys", "", "{\"code\":-2015,\"msg\":\"Keys\"}\n", false}, VENUE_DENIED, -2015, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct server *server = begin(SERVER_GOOD, 0);
        UNTIL(seen.ups == 1);
        script.rest = &cases[i].rest;
        enum venue_outcome outcome = place();
        if (outcome != cases[i].outcome)
            fprintf(stderr, "case %zu: %s\n", i, venue_outcome_name(outcome));
        CHECK_INT(outcome, cases[i].outcome);
        CHECK_INT(kept.code, cases[i].code);
        CHECK_INT(seen.bans, cases[i].bans);
        CHECK_INT(script.requests, 1); /* never a second one */
        CHECK_INT(kept.settled_ns, outcome == VENUE_UNKNOWN ? (NOW_S + 15) * 1000000000LL + 123000000 : 0);
        CHECK_INT(kept.retry_ms > clock_now_ms(), outcome == VENUE_NOT_SENT);
        if (kept.code == -1015) { /* of new orders alone */
            CHECK_INT(place(), VENUE_NOT_SENT);
            CHECK_INT(script.requests, 1);
            CHECK_INT(query(), VENUE_NOT_SENT); /* it got the same answer */
            CHECK_INT(script.requests, 2);
        }
        end(server);
    }
}

static void test_request(void)
{
    struct server *server = begin(SERVER_GOOD, 0);
    static const struct rest good = {"200 OK", "", ORDER("BTCUSDT", "a-1", STATE), false};
    script.rest = &good;
    CHECK_INT(place(), VENUE_DONE);
    static const char first[] =
        "POST /api/v3/order?symbol=BTCUSDT&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=2&newClientOrderId="
        "a-1&newOrderRespType=FULL&recvWindow=5000&timestamp=1700000000123&signature=";
    CHECK(strncmp(script.head, first, sizeof(first) - 1) == 0);
    CHECK(strstr(script.head, "\r\nX-MBX-APIKEY: the-id\r\n"));
    CHECK(strstr(script.head, "\r\nContent-Length: 0\r\n"));
    CHECK(!strstr(script.head, "the-secret"));
    const struct order order = {.type = ORDER_LIMIT, .symbol = 1, .qty = E8, .price = 2 * E8};
    kept = (struct kept){0};
    CHECK_INT(binance_venue.accounts->place(seen.account, &order, "a-2", on_answer, NULL), 0);
    CHECK(loop_until(&loop, &kept.done));
    CHECK_INT(kept.outcome, VENUE_REFUSED); /* a symbol that is not there yet */
    CHECK_INT(script.requests, 1);
    end(server);
}

/* The account is ended by the callback of a ban, which an answer or the connection brought. */
static void test_ended_by_ban(void)
{
    static const struct rest banned = {"418 Banned", "", "", false};
    struct server *server = begin(SERVER_GOOD, 0);
    script.rest = &banned;
    seen.destroys = true;
    CHECK_INT(place(), VENUE_NOT_SENT);
    CHECK_INT(seen.bans, 1);
    CHECK(!seen.account);
    end(server);
    script.answer = "{\"id\":%lld,\"status\":418,\"error\":{\"code\":-1003,\"msg\":\"Banned.\"}}";
    server = begin(SERVER_GOOD, 0);
    seen.destroys = true;
    for (int64_t end_ms = clock_now_ms() + DEADLINE_MS; seen.account && clock_now_ms() < end_ms;)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(seen.bans, 1);
    end(server);
}

/* The address's weight is nearly used up: what only asks waits, orders do not. */
static void test_weight(void)
{
    static const struct rest used = {"200 OK", "X-MBX-USED-WEIGHT-1M: 5700\r\n",
                                     ORDER("BTCUSDT", "a-1", STATE), false};
    static const struct rest less = {"200 OK", "X-MBX-USED-WEIGHT-1M: 5699\r\n",
                                     ORDER("BTCUSDT", "a-1", STATE), false};
    struct server *server = begin(SERVER_GOOD, 0);
    script.rest = &less;
    CHECK_INT(query(), VENUE_DONE);
    script.rest = &used;
    CHECK_INT(query(), VENUE_DONE);
    CHECK_INT(query(), VENUE_NOT_SENT);
    CHECK(kept.retry_ms > clock_now_ms() && kept.retry_ms <= clock_now_ms() + 61000);
    CHECK_INT(script.requests, 2);
    CHECK_INT(place(), VENUE_DONE);
    CHECK_INT(script.requests, 3);
    CHECK_INT(seen.bans, 0);
    end(server);
}

/* A ban that is known at the start is reported in the same words by all parts. */
static void test_banned_before(void)
{
    enum { TIMES = 20 }; /* at whatever time within a millisecond */
    banned_until_ns = clock_wall_ns() + 3600 * 1000000000LL;
    for (int i = 0; i < TIMES; i++) {
        struct server *server = begin(SERVER_GOOD, 0);
        CHECK_STR(binance_venue.accounts->status(seen.account)->detail, BINANCE_BANNED_BEFORE);
        CHECK_INT(place(), VENUE_NOT_SENT);
        CHECK_STR(kept.text, BINANCE_BANNED_BEFORE);
        CHECK_INT(script.upgrades + script.requests, 0);
        end(server);
    }
    banned_until_ns = 0;
}

static void test_no_answer(void)
{
    struct server *server = begin(SERVER_GOOD, 300);
    CHECK_INT(place(), VENUE_UNKNOWN);
    CHECK_INT(kept.settled_ns, (NOW_S + 15) * 1000000000LL + 123000000);
    end(server);
    server = begin(SERVER_UNTRUSTED, 0); /* no byte of it goes to a stranger */
    CHECK_INT(place(), VENUE_NOT_SENT);
    CHECK(kept.retry_ms > 0);
    CHECK_INT(script.requests, 0);
    end(server);
}

#define GOOD ORDER("BTCUSDT", "a-1", STATE)

/* The same over the WebSocket API: each is sent once, whatever becomes of it. */
static void test_messages(void)
{
    static const struct {
        const char *order;
        enum venue_outcome outcome;
        int code;
        int64_t timeout_ms;
    } cases[] = {
        {"{\"id\":%lld,\"status\":200,\"result\":" GOOD "}", VENUE_DONE, 0, 0},
        {"{\"id\":%lld,\"status\":200}", VENUE_UNKNOWN, 0, 0},
        {"{\"id\":%lld,\"status\":200,\"result\":{}}", VENUE_UNKNOWN, 0, 0},
        {"{\"id\":%lld,\"result\":" GOOD "}", VENUE_UNKNOWN, 0, 0},
        {"{\"id\":%lld,\"status\":504,\"error\":{\"code\":-1007,\"msg\":\"Timeout\"}}", VENUE_UNKNOWN, -1007,
         0},
        {"{\"id\":%lld,\"status\":400,\"error\":{\"code\":-2010,\"msg\":\"Duplicate order sent.\"}}",
         VENUE_EXISTS, -2010, 0},
        {"{\"id\":%lld,\"status\":429,\"error\":{\"code\":-1015,\"msg\":\"Many\"}}", VENUE_NOT_SENT, -1015,
         0},
        {"{\"id\":%lld,\"status\":401,\"error\":{\"code\":-2015,\"msg\":\"Keys\"}}", VENUE_DENIED, -2015, 0},
        {"no JSON", VENUE_UNKNOWN, 0, 0},
        {"", VENUE_UNKNOWN, 0, 0},
        {NULL, VENUE_UNKNOWN, 0, 400},
        {"{\"id\":1000000,\"status\":200,\"result\":" GOOD "}", VENUE_UNKNOWN, 0, 400}, /* of another */
    };
    by_websocket = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct server *server = begin(SERVER_GOOD, cases[i].timeout_ms);
        UNTIL(seen.ups > 0);
        script.order = cases[i].order;
        enum venue_outcome outcome = place();
        if (outcome != cases[i].outcome)
            fprintf(stderr, "case %zu: %s\n", i, venue_outcome_name(outcome));
        CHECK_INT(outcome, cases[i].outcome);
        CHECK_INT(kept.code, cases[i].code);
        CHECK_INT(kept.settled_ns, outcome == VENUE_UNKNOWN ? (NOW_S + 15) * 1000000000LL + 123000000 : 0);
        CHECK_INT(script.orders, 1);
        CHECK_INT(script.requests, 0);
        end(server);
    }
    static const struct rest good = {"200 OK", "", GOOD, false};
    script.answer = "{\"id\":%lld,\"status\":400,\"error\":{\"code\":-2042,\"msg\":\"Maximum.\"}}";
    script.again = true;
    struct server *server = begin(SERVER_GOOD, 0); /* not connected: by REST */
    UNTIL(seen.link == VENUE_FAILED);
    script.rest = &good;
    CHECK_INT(place(), VENUE_DONE);
    CHECK_INT(script.orders, 0);
    CHECK_INT(script.requests, 1);
    end(server);
    by_websocket = false;
}

/* Of an order with more fills than an answer holds. */
static char *trades_page(const char *head)
{
    const char *from = strstr(head, "&fromId=");
    const int first = from ? atoi(from + 8) : 1, n = from ? 2 : PAGE;
    char *page = malloc(PAGE * 256), *at = page;
    CHECK(strstr(head, "orderId=28&limit=1000"));
    CHECK(!from || first == PAGE + 1);
    at += sprintf(at, "[");
    for (int i = first; i < first + n; i++)
        at += sprintf(
            at,
            "%s{\"symbol\":\"BTCUSDT\",\"id\":%d,\"orderId\":28,\"price\":\"2\",\"qty\":\"0.5\",\"quoteQty\":\"1\","
            "\"commission\":\"0\",\"commissionAsset\":\"BTC\",\"time\":1499865549590,\"isBuyer\":true,"
            "\"isMaker\":false}",
            i > first ? "," : "", i);
    sprintf(at, "]");
    return page;
}

static void test_pages(void)
{
    struct server *server = begin(SERVER_GOOD, 0);
    kept = (struct kept){0};
    CHECK_INT(binance_venue.accounts->fills(seen.account, 0, "28", on_answer, NULL), 0);
    CHECK(loop_until(&loop, &kept.done));
    CHECK_INT(kept.outcome, VENUE_DONE);
    CHECK_INT(kept.n_fills, PAGE + 2);
    CHECK_INT(kept.filled, (PAGE + 2) * E8 / 2);
    CHECK_INT(script.requests, 2);
    end(server);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&loop);
    net = loop_net(&loop, server_ca_file(), 0, 0);
    test_refused();
    test_again();
    test_breaks();
    test_events();
    test_overlap();
    test_answers();
    test_request();
    test_no_answer();
    test_banned_before();
    test_ended_by_ban();
    test_weight();
    test_messages();
    test_pages();
    loop_end(&loop, net);
    server_forget_ca();
    return check_done("net binance_user");
}
