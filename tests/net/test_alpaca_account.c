/* Alpaca's accounts against a scripted venue: what each of its answers means for an order, and its stream. */
#include <errno.h>

#include "exchange/alpaca/format.h"
#include "exchange/clock.h"
#include "exchange/venue_account.h"
#include "tests/exchange/alpaca_account.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

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

enum { PATIENT_MS = 60000, IMPATIENT_MS = 1000, UNSENT_MOST_MS = 5000 };

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
                             : a->query(seen.account, BTC, "mine", "", on_answer, &seen);
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

    /* Its words are one line of UTF-8, whatever they were. */
    script = (struct script){.post = 403,
                             .post_body = SAID(40310000, "a\x7f"
                                                         "b caf\xc3")};
    ask(PLACE);
    CHECK_STR(seen.text, "a?b caf?");

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

struct unsent {
    bool done;
    unsigned n;
    int64_t retry_ms[20];
};

static void on_unsent(void *user, const struct venue_answer *answer)
{
    struct unsent *unsent = user;
    CHECK_INT(answer->outcome, VENUE_NOT_SENT);
    unsent->retry_ms[unsent->n++] = answer->retry_ms;
    unsent->done = unsent->n == sizeof(unsent->retry_ms) / sizeof(*unsent->retry_ms);
}

/* However many calls an outage meets, they may be sent again after one pause of it, which is no long one. */
static void test_one_outage(void)
{
    struct unsent unsent = {0};
    for (size_t i = 0; i < sizeof(unsent.retry_ms) / sizeof(*unsent.retry_ms); i++)
        CHECK_INT(alpaca_venue.accounts->balances(seen.account, on_unsent, &unsent), 0);
    CHECK(loop_until(&loop, &unsent.done));
    const int64_t latest_ms = clock_now_ms() + UNSENT_MOST_MS;
    unsigned pauses = 0; /* more than one where the machine is slow */
    for (unsigned i = 0; i < unsent.n; i++) {
        CHECK(unsent.retry_ms[i] <= latest_ms);
        pauses += i == 0 || unsent.retry_ms[i] != unsent.retry_ms[i - 1];
    }
    CHECK(pauses < unsent.n / 2);
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
    test_one_outage();
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
        {"https://127.0.0.1:1/v2", NULL, {"key", "secret"}, -EINVAL},
        {NULL, NULL, {NULL, NULL}, -EINVAL},
        {NULL, NULL, {"key", ""}, -EINVAL},
        {NULL, NULL, {"key", "-----BEGIN PRIVATE KEY-----\nx"}, -EINVAL},
        {NULL, NULL, {"key", "sec\x01ret"}, -EINVAL}, /* neither a header's nor JSON's */
        {NULL, NULL, {"k\xc3\xa9y", "secret"}, -EINVAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        config.rest_url = cases[i].rest_url;
        config.ws_url = cases[i].ws_url;
        config.keys = cases[i].keys;
        CHECK_INT(a->create(&config, &handler, &seen, &account), cases[i].error);
    }
    CHECK(a->id_for_life);
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
    script.get = 200;
    script.get_body = OWN_LIVES;
    ask(QUERY);
    CHECK_INT(seen.answer.outcome, VENUE_DONE);
    CHECK_INT(alpaca_venue.accounts->status(seen.account)->sent, 7); /* the request counts, too */
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
