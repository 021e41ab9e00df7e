/* Alpaca's accounts: orders, fills and balances as they are read, what each answer of the venue means for an
 * order, and its stream, against a scripted venue. */
#include <errno.h>

#include "exchange/alpaca/account/call.h"
#include "exchange/alpaca/format.h"
#include "exchange/clock.h"
#include "exchange/venue_account.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

#define E9  1000000000LL
#define ID  "b28e2b24-b1b2-40cc-8979-63f45e8edc02"
#define ID2 "b28e2b24-b1b2-40cc-8979-63f45e8edc03"

enum { AAPL, BTC, ETH_BTC, SYMBOLS };

static const struct symbol list[SYMBOLS] = {
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
             .price_scale = 2,
             .qty_scale = 9,
             .quote_scale = 8,
             .asset = ASSET_CRYPTO},
    [ETH_BTC] = {.name = "ETH/BTC",
                 .base = "ETH",
                 .quote = "BTC",
                 .price_scale = 9,
                 .qty_scale = 9,
                 .quote_scale = 8,
                 .asset = ASSET_CRYPTO},
};
static const struct paper_symbols symbols = {list, SYMBOLS};

/* ---- Reading. ---- */

static int order(const char *text, struct venue_order *ret)
{
    return alpaca_parse_order(&symbols, text, strlen(text), ret, NULL);
}

#define ORDER(members) "{\"id\":\"" ID "\",\"client_order_id\":\"mine\"," members "}"
#define WHOLE \
    "\"updated_at\":\"2026-09-18T13:24:50.5Z\",\"symbol\":\"BTC/USD\",\"qty\":\"1.5\",\"filled_qty\":\"0.5\"," \
    "\"side\":\"sell\",\"type\":\"stop_limit\",\"time_in_force\":\"gtc\",\"limit_price\":\"61000.25\"," \
    "\"stop_price\":\"61001\",\"legs\":null"

static void test_orders(void)
{
    struct venue_order o;
    CHECK_INT(order(ORDER(WHOLE ",\"status\":\"partially_filled\""), &o), 0);
    CHECK_STR(o.client_id, "mine");
    CHECK_STR(o.id, ID);
    CHECK_STR(o.name, "BTC/USD");
    CHECK(o.symbol == &list[BTC]);
    CHECK_INT(o.state, VENUE_ORDER_PARTIAL);
    CHECK_INT(o.side, ORDER_SELL);
    CHECK_INT(o.type, ORDER_STOP_LIMIT);
    CHECK_INT(o.tif, ORDER_GTC);
    CHECK_INT(o.qty, 1500000000);
    CHECK_INT(o.filled, 500000000);
    CHECK_INT(o.price, 6100025);
    CHECK_INT(o.stop_price, 6100100);
    CHECK_INT(o.ts_ns, 1789737890500000000);
    CHECK_STR(o.reason, "");

    static const struct {
        const char *status;
        enum venue_order_state none, some; /* by what is filled */
    } states[] = {
        {"new", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"accepted", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"pending_new", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"held", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"done_for_day", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"stopped", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"suspended", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"calculated", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"pending_cancel", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"pending_replace", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"of_next_year", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"filled", VENUE_ORDER_FILLED, VENUE_ORDER_FILLED},
        {"canceled", VENUE_ORDER_CANCELED, VENUE_ORDER_CANCELED},
        {"replaced", VENUE_ORDER_CANCELED, VENUE_ORDER_CANCELED},
        {"rejected", VENUE_ORDER_REJECTED, VENUE_ORDER_REJECTED},
        {"expired", VENUE_ORDER_EXPIRED, VENUE_ORDER_EXPIRED},
    };
    for (size_t i = 0; i < 2 * sizeof(states) / sizeof(*states); i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 ORDER("\"symbol\":\"AAPL\",\"qty\":\"2\",\"filled_qty\":\"%s\",\"side\":\"buy\",\"type\":"
                       "\"market\",\"time_in_force\":\"day\",\"status\":\"%s\""),
                 i % 2 ? "1" : "0", states[i / 2].status);
        CHECK_INT(order(text, &o), 0);
        CHECK_INT(o.state, i % 2 ? states[i / 2].some : states[i / 2].none);
    }

    /* From elsewhere: other symbols have no numbers, an order by amount has no quantity before it is filled.
     */
    CHECK_INT(order(ORDER("\"symbol\":\"TSLA\",\"qty\":\"1\",\"status\":\"new\",\"side\":\"buy\""), &o), 0);
    CHECK(!o.symbol && o.qty == 0);
    CHECK_STR(o.name, "TSLA");
    CHECK_INT(order(ORDER("\"symbol\":\"\",\"side\":\"\",\"status\":\"new\",\"legs\":[{\"id\":\"x\"}]"), &o),
              0);
    CHECK(!o.symbol);
    CHECK_INT(
        order(ORDER("\"symbol\":\"AAPL\",\"qty\":null,\"notional\":\"10\",\"filled_qty\":\"0.1\",\"side\":"
                    "\"buy\",\"type\":\"trailing_stop\",\"time_in_force\":\"gtd\",\"status\":\"new\""),
              &o),
        0);
    CHECK(o.qty == 0 && o.filled == E9 / 10 && o.type == ORDER_TYPES && o.tif == ORDER_TIFS);
    CHECK_INT(
        order(ORDER("\"symbol\":\"BTCUSD\",\"qty\":null,\"filled_qty\":\"0.1\",\"side\":\"buy\",\"status\":"
                    "\"filled\""),
              &o),
        0);
    CHECK(o.qty == E9 / 10 && o.symbol == &list[BTC]);

    static const char *const malformed[] = {
        "",
        "[]",
        "null",
        "{",
        ORDER(WHOLE ",\"status\":\"new\"") "x",
        ORDER(WHOLE),                                                                         /* no status */
        "{\"client_order_id\":\"mine\"," WHOLE ",\"status\":\"new\"}",                        /* no id */
        "{\"id\":\"0123456789012345678901234567890123456789\"," WHOLE ",\"status\":\"new\"}", /* too long */
        ORDER(
            "\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"filled_qty\":\"2\",\"side\":\"buy\",\"status\":\"new\""),
        ORDER(
            "\"symbol\":\"BTC/USD\",\"qty\":\"0\",\"filled_qty\":\"0\",\"side\":\"buy\",\"status\":\"new\""),
        ORDER("\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"filled_qty\":null,\"side\":\"buy\",\"status\":\"new\""),
        ORDER(
            "\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"filled_qty\":\"0\",\"side\":\"both\",\"status\":\"new\""),
        ORDER(
            "\"symbol\":\"BTC/USD\",\"qty\":\"-1\",\"filled_qty\":\"0\",\"side\":\"buy\",\"status\":\"new\""),
        ORDER("\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"filled_qty\":\"0\",\"side\":\"buy\",\"status\":\"new\","
              "\"limit_price\":\"1.005\""), /* finer than the symbol */
        ORDER("\"symbol\":\"BTC/USD\",\"qty\":\"99999999999999\",\"filled_qty\":\"0\",\"side\":\"buy\","
              "\"status\":\"new\""),
    };
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
        CHECK_INT(order(malformed[i], &o), -EBADMSG);
}

#define UPDATE(event, more, members) \
    "{\"stream\":\"trade_updates\",\"data\":{\"event\":\"" event \
    "\",\"timestamp\":\"2026-09-18T13:24:51Z\"" more ",\"order\":" ORDER(members) "}}"
#define MARKET_BUY \
    "\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"side\":\"buy\",\"type\":\"market\",\"time_in_force\":\"gtc\","
#define FILL ",\"price\":\"61000.5\",\"qty\":\"0.25\",\"position_qty\":\"0.25\""

static bool update(const char *text, struct venue_order *o, bool *filled, struct venue_fill *f)
{
    struct alpaca_trading said;
    return alpaca_parse_trading(text, strlen(text), &said) == 0 && said.kind == TRADING_UPDATE &&
           alpaca_account_update(&symbols, &said, o, filled, f);
}

static void test_updates(void)
{
    struct venue_order o;
    struct venue_fill f;
    bool filled;
    CHECK(update(UPDATE("partial_fill", ",\"execution_id\":\"e-1\"" FILL,
                        MARKET_BUY "\"filled_qty\":\"0.75\",\"status\":\"partially_filled\""),
                 &o, &filled, &f));
    CHECK(filled);
    CHECK_INT(o.state, VENUE_ORDER_PARTIAL);
    CHECK_INT(o.ts_ns, 1789737891000000000);
    CHECK_STR(f.client_id, "mine");
    CHECK_STR(f.order_id, ID);
    CHECK_STR(f.trade_id, "e-1");
    CHECK(f.symbol == &list[BTC] && f.side == ORDER_BUY);
    CHECK_INT(f.price, 6100050);
    CHECK_INT(f.qty, E9 / 4);
    CHECK_INT(f.cumulative, 750000000);
    CHECK_INT(f.notional, -1);
    CHECK(!f.fee_said); /* taken from the coins */
    CHECK_INT(f.ts_ns, 1789737891000000000);
    CHECK(update(UPDATE("fill", FILL, MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\""), &o, &filled,
                 &f));
    CHECK(filled && o.state == VENUE_ORDER_FILLED);
    CHECK_STR(f.trade_id, ID "-1000000000");
    CHECK(update(UPDATE("fill", ",\"execution_id\":\"e\",\"price\":\"1\",\"qty\":\"1\"",
                        "\"symbol\":\"AAPL\",\"qty\":\"1\",\"side\":\"sell\",\"filled_qty\":\"1\",\"status\":"
                        "\"filled\""),
                 &o, &filled, &f));
    CHECK(filled && f.fee_said && f.fee == 0);
    CHECK_STR(f.fee_asset, "USD");

    static const struct {
        const char *text;
        enum venue_order_state state;
    } plain[] = {
        {UPDATE("accepted", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"accepted\""), VENUE_ORDER_NEW},
        {UPDATE("pending_new", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"pending_new\""),
         VENUE_ORDER_NEW},
        {UPDATE("new", ",\"execution_id\":\"e\"", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""),
         VENUE_ORDER_NEW},
        {UPDATE("canceled", "", MARKET_BUY "\"filled_qty\":\"0.5\",\"status\":\"canceled\""),
         VENUE_ORDER_CANCELED},
        {UPDATE("expired", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"expired\""),
         VENUE_ORDER_EXPIRED},
        {UPDATE("rejected", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"rejected\""),
         VENUE_ORDER_REJECTED},
        {UPDATE("replaced", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"replaced\""),
         VENUE_ORDER_CANCELED},
        {UPDATE("done_for_day", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"done_for_day\""),
         VENUE_ORDER_NEW},
        {UPDATE("pending_cancel", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"pending_cancel\""),
         VENUE_ORDER_NEW},
        {UPDATE("stopped", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"stopped\""), VENUE_ORDER_NEW},
        {UPDATE("suspended", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"suspended\""),
         VENUE_ORDER_NEW},
        {UPDATE("calculated", "", MARKET_BUY "\"filled_qty\":\"0.5\",\"status\":\"calculated\""),
         VENUE_ORDER_PARTIAL},
        {UPDATE("order_cancel_rejected", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""),
         VENUE_ORDER_NEW},
        {UPDATE("order_replace_rejected", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""),
         VENUE_ORDER_NEW},
        {UPDATE("of_next_year", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""), VENUE_ORDER_NEW},
        {UPDATE("fill", "", "\"symbol\":\"\",\"status\":\"filled\""),
         VENUE_ORDER_FILLED}, /* of several legs */
        {UPDATE("fill", FILL, "\"symbol\":\"TSLA\",\"status\":\"filled\""), VENUE_ORDER_FILLED},
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        CHECK(update(plain[i].text, &o, &filled, &f));
        CHECK(!filled);
        CHECK_INT(o.state, plain[i].state);
    }
    static const char *const malformed[] = {
        UPDATE("fill", "", MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\""), /* no price */
        UPDATE("fill", FILL, MARKET_BUY "\"filled_qty\":\"0.1\",\"status\":\"filled\""),
        UPDATE("fill", FILL, MARKET_BUY "\"status\":\"filled\""),
        UPDATE("fill", ",\"price\":\"0\",\"qty\":\"1\"",
               MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\""),
        UPDATE("new", "", MARKET_BUY "\"filled_qty\":\"x\",\"status\":\"new\""),
        "{\"stream\":\"trade_updates\",\"data\":{\"event\":\"new\",\"timestamp\":\"2026-09-18T13:24:51Z\"}}",
        "{\"stream\":\"trade_updates\"}",
    };
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
        CHECK(!update(malformed[i], &o, &filled, &f));
}

#define ACTIVITY(id, order, price, qty, cum) \
    "{\"activity_type\":\"FILL\",\"id\":\"" id "\",\"order_id\":\"" order "\",\"price\":\"" price \
    "\",\"qty\":\"" qty "\",\"cum_qty\":\"" cum \
    "\",\"side\":\"buy\",\"symbol\":\"BTC/USD\",\"transaction_time\":\"2026-09-18T13:24:51Z\",\"type\":\"fill\"}"

static void test_fills(void)
{
    static const char page[] = "[" ACTIVITY("20260918::b", ID, "2", "0.5", "1.5") "," ACTIVITY(
        "20260918::o", ID2, "9", "9", "9") "," ACTIVITY("20260918::a", ID, "1", "1",
                                                        "1") "," ACTIVITY("20260918::a", ID, "1", "1",
                                                                          "1") "]";
    struct paper_fills fills = {0};
    char last[VENUE_TRADE_ID_MAX];
    size_t n;
    CHECK_INT(alpaca_parse_fills(&list[BTC], ID, page, strlen(page), &fills, &n, last), 0);
    CHECK_INT(n, 4);
    CHECK_STR(last, "20260918::a");
    CHECK_INT(fills.n, 3);
    CHECK(!alpaca_fills_settle(&fills, 2 * E9)); /* more is filled */
    CHECK(alpaca_fills_settle(&fills, 1500000000));
    CHECK_INT(fills.n, 2);
    CHECK_STR(fills.list[0].trade_id, "a");
    CHECK_INT(fills.list[0].cumulative, E9);
    CHECK_STR(fills.list[1].trade_id, "b");
    CHECK_INT(fills.list[1].price, 200);
    CHECK_INT(fills.list[1].ts_ns, 1789737891000000000);
    fills.n = 1;
    fills.list[0] = fills.list[1]; /* the first one is missing */
    CHECK(!alpaca_fills_settle(&fills, 1500000000));
    free(fills.list);

    static const char *const malformed[] = {"",
                                            "{}",
                                            "[{}]",
                                            "[" ACTIVITY("a", ID, "0", "1", "1") "]",
                                            "[" ACTIVITY("a", ID, "1", "2", "1") "]",
                                            "[" ACTIVITY("", ID, "1", "1", "1") "]"};
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
        fills = (struct paper_fills){0};
        CHECK_INT(alpaca_parse_fills(&list[BTC], ID, malformed[i], strlen(malformed[i]), &fills, &n, last),
                  -EBADMSG);
        free(fills.list);
    }
}

static void balance(const struct venue_balance *b, const char *asset, int scale, int64_t free, int64_t locked)
{
    CHECK_STR(b->asset, asset);
    CHECK_INT(b->scale, scale);
    CHECK_INT(b->free, free);
    CHECK_INT(b->locked, locked);
}

static void test_balances(void)
{
    static const struct {
        const char *text;
        int64_t free, locked;
    } cash[] = {
        {"{\"cash\":\"100.5\"}", 10050000000, 0},
        {"{\"cash\":\"100.5\",\"non_marginable_buying_power\":\"40\"}", 4000000000, 6050000000},
        {"{\"cash\":\"100\",\"non_marginable_buying_power\":\"400\"}", 10000000000, 0},
        {"{\"cash\":\"100\",\"non_marginable_buying_power\":\"-3\"}", 0, 10000000000},
        {"{\"cash\":\"-20.123456789\",\"non_marginable_buying_power\":\"0\"}", -2012345678, 0},
    };
    for (size_t i = 0; i < sizeof(cash) / sizeof(*cash); i++) {
        struct paper_balances b = {0};
        CHECK_INT(alpaca_parse_cash(&symbols, cash[i].text, strlen(cash[i].text), &b), 0);
        CHECK_INT(b.n, 1);
        balance(&b.list[0], "USD", 8, cash[i].free, cash[i].locked);
        free(b.list);
    }
    static const char positions[] =
        "[{\"symbol\":\"AAPL\",\"asset_class\":\"us_equity\",\"qty\":\"3\",\"qty_available\":\"1\",\"side\":\"long\"},"
        "{\"symbol\":\"BTCUSD\",\"asset_class\":\"crypto\",\"qty\":\"0.00250001\",\"qty_available\":\"0.00250001\"},"
        "{\"symbol\":\"SOLUSD\",\"asset_class\":\"crypto\",\"qty\":\"2.1234567891\",\"qty_available\":null},"
        "{\"symbol\":\"TSLA\",\"asset_class\":\"us_equity\",\"qty\":\"-4\",\"qty_available\":\"-4\",\"side\":\"short\"},"
        "{\"symbol\":\"F\",\"asset_class\":\"us_equity\",\"qty\":\"4\",\"qty_available\":\"4\",\"side\":\"short\"},"
        "{\"symbol\":\"IBM\",\"qty\":\"0\"}]";
    struct paper_balances b = {0};
    CHECK_INT(alpaca_parse_positions(&symbols, positions, strlen(positions), &b), 0);
    CHECK_INT(b.n, 5);
    balance(&b.list[0], "AAPL", 9, E9, 2 * E9);
    balance(&b.list[1], "BTC", 9, 2500010, 0);
    balance(&b.list[2], "SOL", 8, 212345678, 0);
    balance(&b.list[3], "TSLA", 8, -400000000, 0);
    balance(&b.list[4], "F", 8, -400000000, 0);
    b.n = 0;
    CHECK_INT(alpaca_parse_positions(&symbols, "[{}]", 4, &b), -EBADMSG);
    CHECK_INT(alpaca_parse_positions(&symbols, "{}", 2, &b), -EBADMSG);
    CHECK_INT(alpaca_parse_cash(&symbols, "{}", 2, &b), -EBADMSG);
    free(b.list);
}

/* ---- A scripted venue. ---- */

static uv_loop_t loop;
static struct net_context *net;

enum { UPDATES_MAX = 8 };

struct script {
    /* The answer to each method, of a 0 status none; `drop`: the connection ends instead. */
    int get, post, end;
    const char *get_body, *post_body, *end_body, *headers;
    bool drop;
    int gets, posts, ends;
    char target[512], body[1024];

    const char *authorized; /* "authorized", "unauthorized" */
    const char *streams;    /* of the listening answer */
    const char *updates[UPDATES_MAX];
    int connections;
};

static struct script script;

static void answer_rest(struct peer *peer, int status, const char *body)
{
    if (script.drop && status > 0) /* an answer that ends half way */
        peer_print(peer, "HTTP/1.1 %d X\r\nContent-Length: 100\r\n\r\n{", status);
    if (script.drop)
        peer_drop(peer);
    else if (status == 204)
        peer_print(peer, "HTTP/1.1 204 No Content\r\n\r\n");
    else if (status > 0)
        peer_print(peer,
                   "HTTP/1.1 %d X\r\n%sDate: Fri, 18 Sep 2026 13:24:50 GMT\r\nContent-Length: %zu\r\n\r\n%s",
                   status, script.headers ? script.headers : "", strlen(body), body);
}

static void on_request(struct peer *peer, const char *head)
{
    if (strstr(head, "GET /stream ")) {
        script.connections++;
        peer_upgrade(peer);
        return;
    }
    CHECK(strstr(head, "APCA-API-KEY-ID: key\r\n") && strstr(head, "APCA-API-SECRET-KEY: secret\r\n"));
    snprintf(script.target, sizeof(script.target), "%.*s", (int)strcspn(head, "\r"), head);
    snprintf(script.body, sizeof(script.body), "%s", strstr(head, "\r\n\r\n") + 4);
    if (strncmp(head, "GET ", 4) == 0) {
        script.gets++;
        answer_rest(peer, script.get, script.get_body);
    } else if (strncmp(head, "POST ", 5) == 0) {
        script.posts++;
        answer_rest(peer, script.post, script.post_body);
    } else {
        CHECK(strncmp(head, "DELETE /v2/orders/" ID " ", 18 + strlen(ID) + 1) == 0);
        script.ends++;
        answer_rest(peer, script.end, script.end_body);
    }
}

static void say_binary(struct peer *peer, const char *text)
{
    peer_frame(peer, true, 2, text, strlen(text));
}

static void on_frame(struct peer *peer, int opcode, const char *payload, size_t len)
{
    char text[512], said[512];
    if (opcode != 1)
        return;
    snprintf(text, sizeof(text), "%.*s", (int)len, payload);
    if (strcmp(text, "{\"action\":\"auth\",\"key\":\"key\",\"secret\":\"secret\"}") == 0) {
        snprintf(said, sizeof(said),
                 "{\"stream\":\"authorization\",\"data\":{\"action\":\"auth\",\"status\":\"%s\"}}",
                 script.authorized);
        say_binary(peer, said);
    } else {
        CHECK_STR(text, "{\"action\":\"listen\",\"data\":{\"streams\":[\"trade_updates\"]}}");
        snprintf(said, sizeof(said), "{\"stream\":\"listening\",\"data\":{\"streams\":[%s]}}",
                 script.streams);
        say_binary(peer, said);
        for (int i = 0; i < UPDATES_MAX && script.updates[i] && script.connections == 1; i++)
            say_binary(peer, script.updates[i]);
    }
}

static const struct server_handler venue_handler = {on_request, on_frame, NULL, NULL};

/* ---- An account. ---- */

struct seen {
    struct venue_account *account;
    bool up, down, done, enough, ends_with_order;
    int orders, fills, ups, wanted;
    enum venue_link link;
    char detail[VENUE_DETAIL_MAX], log[256];
    struct venue_answer answer;
    struct venue_order order;
    char text[VENUE_DETAIL_MAX];
};

static struct seen seen;

static void on_state(void *user, const struct venue_status *status)
{
    struct seen *s = user;
    s->link = status->link;
    s->up = status->link == VENUE_UP;
    s->ups += s->up;
    s->down |= !s->up && status->link != VENUE_RESOLVING && status->link != VENUE_CONNECTING;
    snprintf(s->detail, sizeof(s->detail), "%s", status->detail);
}

static void on_order(void *user, const struct venue_order *o)
{
    struct seen *s = user;
    s->order = *o;
    s->enough = ++s->orders == s->wanted;
    strncat(s->log, "o", sizeof(s->log) - strlen(s->log) - 1);
    if (s->ends_with_order)
        alpaca_venue.accounts->destroy(s->account);
}

static void on_fill(void *user, const struct venue_fill *f)
{
    struct seen *s = user;
    (void)f;
    s->fills++;
    strncat(s->log, "f", sizeof(s->log) - strlen(s->log) - 1);
}

static void on_answer(void *user, const struct venue_answer *answer)
{
    struct seen *s = user;
    s->done = true;
    s->answer = *answer;
    snprintf(s->text, sizeof(s->text), "%s", answer->text);
    if (answer->n_orders > 0)
        s->order = answer->orders[0];
}

static const struct venue_account_handler handler = {on_state, on_order, on_fill, NULL};

enum { PATIENT_MS = 60000, IMPATIENT_MS = 1000 };

static int open_account(unsigned port, int64_t timeout_ms, const struct venue_ban *ban)
{
    char rest_url[64], ws_url[64];
    snprintf(rest_url, sizeof(rest_url), "https://127.0.0.1:%u", port);
    snprintf(ws_url, sizeof(ws_url), "wss://127.0.0.1:%u", port);
    const struct venue_account_config config = {
        .net = net,
        .rest_url = rest_url,
        .ws_url = ws_url,
        .keys = {"key", "secret"},
        .symbols = list,
        .n_symbols = SYMBOLS,
        .timeout_ms = timeout_ms,
        .ban = ban ? *ban : (struct venue_ban){0},
    };
    seen = (struct seen){0};
    return alpaca_venue.accounts->create(&config, &handler, &seen, &seen.account);
}

#define OWN_LIVES ORDER(MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\"")
#define OWN_ENDED ORDER(MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\"")
#define OWN_ENDS  ORDER(MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"pending_cancel\"")
#define OTHER \
    "{\"id\":\"" ID "\",\"client_order_id\":\"another\"," MARKET_BUY \
    "\"filled_qty\":\"0\",\"status\":\"new\"}"

enum what { PLACE, CANCEL, QUERY };

static void ask(enum what what)
{
    const struct venue_accounts *a = alpaca_venue.accounts;
    const struct order buy = {
        .symbol = BTC, .side = ORDER_BUY, .type = ORDER_LIMIT, .tif = ORDER_GTC, .qty = E9, .price = 6100025};
    seen.done = false;
    int r = what == PLACE    ? a->place(seen.account, &buy, "mine", on_answer, &seen)
            : what == CANCEL ? a->cancel(seen.account, BTC, "mine", on_answer, &seen)
                             : a->query(seen.account, BTC, "mine", on_answer, &seen);
    CHECK_INT(r, 0);
    CHECK(!seen.done);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.answer.settled_ns, 0);
    CHECK((seen.answer.outcome == VENUE_NOT_SENT) == (seen.answer.retry_ms > 0));
    CHECK((seen.answer.outcome == VENUE_DONE) == !seen.text[0]);
}

#define SAID(code, words) "{\"code\":" #code ",\"message\":\"" words "\"}"

static void test_outcomes(void)
{
    static const struct {
        enum what what;
        int get, post, end; /* statuses; -1: no such request may come */
        const char *body;   /* of the last step */
        enum venue_outcome outcome;
        int code;
        bool drop;
    } cases[] = {
        {PLACE, -1, 200, -1, OWN_LIVES, VENUE_DONE, 0, false},
        {PLACE, -1, 200, -1, OTHER, VENUE_UNKNOWN, 0, false}, /* an answer, but to what? */
        {PLACE, -1, 200, -1, "{}", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 200, -1, "<html>", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 302, -1, "", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 400, -1, SAID(40010000, "request body format is invalid"), VENUE_REFUSED, 40010000,
         false},
        {PLACE, -1, 401, -1, SAID(40110000, "request is not authorized"), VENUE_DENIED, 40110000, false},
        {PLACE, -1, 403, -1, SAID(40310000, "insufficient buying power"), VENUE_REFUSED, 40310000, false},
        {PLACE, -1, 403, -1, "{\"message\":\"forbidden.\"}", VENUE_DENIED, 0, false},
        {PLACE, -1, 403, -1, "<html>a wall</html>", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 404, -1, "not found", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 405, -1, "{\"message\":\"Method Not Allowed\"}", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 422, -1, SAID(40010001, "client_order_id must be unique"), VENUE_EXISTS, 40010001, false},
        {PLACE, -1, 422, -1, SAID(40010001, "limit price must be > 0"), VENUE_REFUSED, 40010001, false},
        {PLACE, -1, 422, -1, SAID(42210000, "invalid crypto time_in_force"), VENUE_REFUSED, 42210000, false},
        {PLACE, -1, 500, -1, SAID(50010000, "internal server error"), VENUE_UNKNOWN, 50010000, false},
        {PLACE, -1, 502, -1, "", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 503, -1, "", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 504, -1, "", VENUE_UNKNOWN, 0, false},
        {PLACE, -1, 0, -1, "", VENUE_UNKNOWN, 0, true},
        {PLACE, -1, 200, -1, "", VENUE_UNKNOWN, 0, true},
        {PLACE, -1, 403, -1, "", VENUE_UNKNOWN, 0, true},
        {QUERY, 200, -1, -1, OWN_LIVES, VENUE_DONE, 0, false},
        {QUERY, 200, -1, -1, OTHER, VENUE_UNKNOWN, 0, false},
        {QUERY, 404, -1, -1, SAID(40410000, "order not found"), VENUE_ABSENT, 40410000, false},
        {QUERY, 404, -1, -1, "not found", VENUE_UNKNOWN, 0, false}, /* no proof */
        {QUERY, 401, -1, -1, SAID(40110000, "request is not authorized"), VENUE_DENIED, 40110000, false},
        {QUERY, 500, -1, -1, "", VENUE_UNKNOWN, 0, false},
        {QUERY, 0, -1, -1, "", VENUE_UNKNOWN, 0, true},
        {CANCEL, 200, -1, 204, "", VENUE_DONE, 0, false},
        {CANCEL, 200, -1, 422, SAID(42210000, "order is not cancelable"), VENUE_ABSENT, 42210000, false},
        {CANCEL, 200, -1, 404, SAID(40410000, "order not found"), VENUE_ABSENT, 40410000, false},
        {CANCEL, 200, -1, 404, "not found", VENUE_UNKNOWN, 0, false},
        {CANCEL, 200, -1, 500, SAID(50010000, "failed"), VENUE_UNKNOWN, 50010000, false},
        {CANCEL, 404, -1, -1, SAID(40410000, "order not found"), VENUE_ABSENT, 40410000, false},
        {CANCEL, 500, -1, -1, "", VENUE_NOT_SENT, 0, false}, /* only looked for */
        {CANCEL, 0, -1, -1, "", VENUE_NOT_SENT, 0, true},
        {CANCEL, 200, -1, -1, OTHER, VENUE_NOT_SENT, 0, false},
    };
    struct server *server = server_start(&loop, SERVER_GOOD, &venue_handler);
    script = (struct script){.authorized = "authorized", .streams = "\"trade_updates\""};
    CHECK_INT(open_account(server_port(server), PATIENT_MS, NULL), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        script.get = cases[i].get;
        script.post = cases[i].post;
        script.end = cases[i].end;
        script.get_body = script.post_body = script.end_body = cases[i].body;
        if (cases[i].end >= 0)
            script.get_body = OWN_LIVES;
        script.drop = cases[i].drop;
        script.gets = script.posts = script.ends = 0;
        ask(cases[i].what);
        if (seen.answer.outcome != cases[i].outcome)
            printf("case %zu: %s: %s\n", i, venue_outcome_name(seen.answer.outcome), seen.text);
        CHECK_INT(seen.answer.outcome, cases[i].outcome);
        CHECK_INT(seen.answer.code, cases[i].code);
        CHECK_INT(script.posts, cases[i].post >= 0); /* once, whatever became of it */
        CHECK_INT(script.ends, cases[i].end >= 0);
        CHECK(cases[i].get >= 0 ? script.gets >= 1 : script.gets == 0);
        CHECK_INT(seen.answer.n_orders, seen.answer.outcome == VENUE_DONE && cases[i].what != CANCEL);
    }

    /* An order that has ended is not cancelled. */
    script = (struct script){.get = 200, .get_body = OWN_ENDED, .authorized = "authorized"};
    ask(CANCEL);
    CHECK_INT(seen.answer.outcome, VENUE_ABSENT);
    CHECK_INT(script.ends, 0);

    script = (struct script){.get = 200, .get_body = OWN_ENDS};
    ask(CANCEL);
    CHECK_INT(seen.answer.outcome, VENUE_DONE); /* it was asked for before */
    CHECK_INT(script.ends, 0);

    /* What is sent. */
    script = (struct script){.post = 200, .post_body = OWN_LIVES};
    ask(PLACE);
    CHECK_STR(script.target, "POST /v2/orders HTTP/1.1");
    CHECK_STR(script.body,
              "{\"symbol\":\"BTC/USD\",\"side\":\"buy\",\"type\":\"limit\",\"time_in_force\":\"gtc\","
              "\"client_order_id\":\"mine\",\"qty\":\"1\",\"limit_price\":\"61000.25\"}");
    CHECK_INT(seen.answer.ts_ns, 1789737890000000000);

    /* What the venue does not have is not sent. */
    static const struct order others[] = {
        {.symbol = BTC, .type = ORDER_TRAILING_STOP, .tif = ORDER_GTC, .qty = 1},
        {.symbol = BTC, .type = ORDER_LIMIT, .tif = ORDER_GTD, .qty = 1, .price = 1},
        {.symbol = BTC, .type = ORDER_LIMIT, .tif = ORDER_GTC, .qty = 1, .price = 1, .post_only = true},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        script.posts = 0;
        seen.done = false;
        CHECK_INT(alpaca_venue.accounts->place(seen.account, &others[i], "mine", on_answer, &seen), 0);
        CHECK(!seen.done && loop_until(&loop, &seen.done));
        CHECK_INT(seen.answer.outcome, VENUE_REFUSED);
        CHECK_INT(script.posts, 0);
    }
    alpaca_venue.accounts->destroy(seen.account);
    server_stop(server);
}

/* No answer in time: not known, once the venue has read it. */
static void test_no_answer(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &venue_handler);
    script = (struct script){.authorized = "authorized"};
    CHECK_INT(open_account(server_port(server), IMPATIENT_MS, NULL), 0);
    ask(PLACE);
    CHECK(seen.answer.outcome == VENUE_UNKNOWN ||
          (seen.answer.outcome == VENUE_NOT_SENT && script.posts == 0));
    script.get = 200;
    script.get_body = OWN_LIVES;
    ask(CANCEL);
    CHECK(seen.answer.outcome == VENUE_UNKNOWN ||
          (seen.answer.outcome == VENUE_NOT_SENT && script.ends == 0));
    CHECK(script.posts <= 1 && script.ends <= 1);
    alpaca_venue.accounts->destroy(seen.account);
    server_stop(server);
}

static void on_ban(void *user, int64_t until_ns, const char *why)
{
    *(int64_t *)user = until_ns;
    CHECK(strstr(why, "limits"));
}

/* 429, and what waits; a venue that is not there. */
static void test_not_sent(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &venue_handler);
    int64_t banned_ns = 0;
    const struct venue_ban ban = {.reported = on_ban, .user = &banned_ns};
    unsigned port = server_port(server);
    script = (struct script){.post = 429,
                             .post_body = SAID(42910000, "rate limit exceeded"),
                             .headers = "Retry-After: 30\r\n",
                             .authorized = "authorized",
                             .streams = "\"trade_updates\""};
    CHECK_INT(open_account(port, PATIENT_MS, &ban), 0);
    for (int i = 0; i < 2; i++) { /* the second one is not sent */
        int64_t before_ms = clock_now_ms();
        ask(PLACE);
        CHECK_INT(seen.answer.outcome, VENUE_NOT_SENT);
        CHECK(seen.answer.retry_ms <= clock_now_ms() + 30000 &&
              (i > 0 || seen.answer.retry_ms >= before_ms + 30000));
        CHECK_INT(script.posts, 1);
    }
    CHECK(banned_ns > clock_wall_ns());
    alpaca_venue.accounts->destroy(seen.account);
    CHECK_INT(open_account(port, PATIENT_MS, NULL), 0);
    alpaca_venue.accounts->hold(seen.account, clock_wall_ns() + 60 * E9, "another part was limited");
    ask(PLACE);
    CHECK_INT(seen.answer.outcome, VENUE_NOT_SENT);
    CHECK_STR(seen.text, "another part was limited");
    CHECK_INT(script.posts, 1);
    alpaca_venue.accounts->destroy(seen.account);
    server_stop(server);
    for (int turn = 0; turn < 20; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);

    CHECK_INT(open_account(port, PATIENT_MS, NULL), 0);
    for (enum what what = PLACE; what <= QUERY; what++) {
        ask(what);
        CHECK_INT(seen.answer.outcome, VENUE_NOT_SENT);
    }
    /* No callback follows the end. */
    seen.done = false;
    CHECK_INT(alpaca_venue.accounts->open(seen.account, on_answer, &seen), 0);
    alpaca_venue.accounts->destroy(seen.account);
    for (int turn = 0; turn < 50; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK(!seen.done);
    alpaca_venue.accounts->destroy(NULL);
}

static void test_create(void)
{
    const struct venue_accounts *a = alpaca_venue.accounts;
    struct venue_account *account;
    struct venue_account_config config = {.net = net, .keys = {"key", "secret"}, .symbols = list};
    static const struct {
        const char *rest_url, *ws_url;
        struct venue_keys keys;
        int error;
    } cases[] = {
        {"https://api.alpaca.markets", NULL, {"key", "secret"}, -EPERM},
        {NULL, "wss://api.alpaca.markets", {"key", "secret"}, -EPERM},
        {"http://127.0.0.1:1", NULL, {"key", "secret"}, -EINVAL},
        {NULL, "https://127.0.0.1:1", {"key", "secret"}, -EINVAL},
        {NULL, NULL, {NULL, NULL}, -EINVAL},
        {NULL, NULL, {"key", ""}, -EINVAL},
        {NULL, NULL, {"key", "-----BEGIN PRIVATE KEY-----\nx"}, -EINVAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        config.rest_url = cases[i].rest_url;
        config.ws_url = cases[i].ws_url;
        config.keys = cases[i].keys;
        CHECK_INT(a->create(&config, &handler, &seen, &account), cases[i].error);
    }
    CHECK(a->id_for_life && a->hedges);
    CHECK_STR(a->rest_url, "https://paper-api.alpaca.markets");
    CHECK_STR(a->ws_url, "wss://paper-api.alpaca.markets");
}

/* ---- The stream. ---- */

static void test_stream(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &venue_handler);
    script = (struct script){
        .authorized = "authorized",
        .streams = "\"trade_updates\"",
        .updates = {UPDATE("new", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""),
                    "{\"stream\":\"error\",\"data\":{\"message\":\"of another kind\"}}",
                    UPDATE("fill", FILL, MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\"")},
    };
    CHECK_INT(open_account(server_port(server), PATIENT_MS, NULL), 0);
    CHECK_INT(alpaca_venue.accounts->status(seen.account)->link, VENUE_WAITING);
    seen.wanted = 2;
    CHECK(loop_until(&loop, &seen.enough));
    CHECK_STR(seen.log, "ofo"); /* a fill before its order's event */
    CHECK(seen.up && seen.ups == 1);
    const struct venue_status *status = alpaca_venue.accounts->status(seen.account);
    CHECK(status->link == VENUE_UP && status->connects == 1 && status->sent == 2 && status->up == 1);

    /* The connection breaks: it is not up, and then it is again. */
    seen.up = seen.down = false;
    peer_reset(server_peer(server));
    CHECK(loop_until(&loop, &seen.up));
    CHECK(seen.ups == 2 && script.connections == 2);

    /* What cannot be read is missed: the caller is to look at its orders. */
    seen.up = false;
    say_binary(server_peer(server),
               UPDATE("fill", "", MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\""));
    CHECK(loop_until(&loop, &seen.up));
    CHECK(seen.ups == 3 && script.connections == 3 && seen.fills == 1);
    alpaca_venue.accounts->destroy(seen.account);

    /* Destroyed by its own callback. */
    script.connections = 0;
    CHECK_INT(open_account(server_port(server), PATIENT_MS, NULL), 0);
    seen.ends_with_order = true;
    seen.wanted = 1;
    CHECK(loop_until(&loop, &seen.enough));
    for (int turn = 0; turn < 50; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(seen.orders, 1);

    script = (struct script){.authorized = "unauthorized"};
    CHECK_INT(open_account(server_port(server), PATIENT_MS, NULL), 0);
    CHECK(loop_until(&loop, &seen.down));
    CHECK_INT(seen.link, VENUE_FINAL);
    CHECK(strstr(seen.detail, "keys"));
    alpaca_venue.accounts->destroy(seen.account);

    script = (struct script){.authorized = "authorized", .streams = ""};
    CHECK_INT(open_account(server_port(server), PATIENT_MS, NULL), 0);
    CHECK(loop_until(&loop, &seen.down));
    CHECK_INT(seen.link, VENUE_FAILED);
    alpaca_venue.accounts->destroy(seen.account);
    server_stop(server);
}

int main(void)
{
    test_orders();
    test_updates();
    test_fills();
    test_balances();
    uv_loop_init(&loop);
    net = loop_net(&loop, server_ca_file(), 0, 0);
    test_create();
    test_outcomes();
    test_no_answer();
    test_not_sent();
    test_stream();
    loop_end(&loop, net);
    server_forget_ca();
    return check_done("net alpaca_account");
}
