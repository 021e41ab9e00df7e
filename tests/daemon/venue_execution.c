/* An account whose orders are filled at its venue, with the engine on one side and a venue of the test's on
 * the other: nothing is sent before it is stored, and what the venue says becomes orders, fills and balances
 * of the engine. */
#include "daemon/execution/venue_execution.h"

#include "exchange/clock.h"
#include "tests/engine/puppet.h"

enum { ASKS_MAX = 64 };

/* The venue: what it was asked, and how it answers. */
struct asked_venue {
    const char *what;
    char client_id[ORDER_CLIENT_ID_MAX];
    struct order order;
    venue_answer_done *done;
    void *user;
};
struct venue_account {
    const struct venue_account_handler *handler;
    void *user;
    struct venue_account_config config;
    struct venue_status status;
    struct asked_venue asks[ASKS_MAX]; /* unanswered */
    int n;
};

static struct harness h;
static struct venue_account *venue; /* NULL: it is not open */
static struct venue_execution *execution;
static int64_t boot_ns, due_ns, venue_clock_ns;
static uint64_t rows;
static int seen_placed, seen_canceled, prefixes, bad_timestamp;
static char alert[200];

static int add(struct venue_account *at, const char *what, const char *client_id, const struct order *order,
               venue_answer_done *done, void *user)
{
    struct asked_venue *asked = &at->asks[at->n++];
    CHECK(at->n < ASKS_MAX);
    *asked = (struct asked_venue){.what = what, .done = done, .user = user};
    snprintf(asked->client_id, sizeof asked->client_id, "%s", client_id);
    if (order)
        asked->order = *order;
    return 0;
}

static int on_create(const struct venue_account_config *config, const struct venue_account_handler *handler,
                     void *user, struct venue_account **ret)
{
    venue = calloc(1, sizeof *venue);
    *venue = (struct venue_account){.handler = handler, .user = user, .config = *config};
    *ret = venue;
    return 0;
}

static void on_destroy(struct venue_account *at)
{
    CHECK(at == venue);
    free(at);
    venue = NULL;
}

static const struct venue_status *status_of(struct venue_account *at)
{
    return &at->status;
}

static int on_place(struct venue_account *at, const struct order *order, const char *client_id,
                    venue_answer_done *done, void *user)
{
    CHECK_STR(at->config.symbols[order->symbol].name, "BTCUSDT");
    return add(at, "place", client_id, order, done, user);
}

static int on_cancel(struct venue_account *at, int symbol, const char *client_id, venue_answer_done *done,
                     void *user)
{
    CHECK_INT(symbol, BTCUSDT);
    return add(at, "cancel", client_id, NULL, done, user);
}

static int on_query(struct venue_account *at, int symbol, const char *client_id, const char *venue_id,
                    venue_answer_done *done, void *user)
{
    CHECK_INT(symbol, BTCUSDT);
    CHECK(venue_id[0] == '\0' || strcmp(venue_id, "77") == 0);
    return add(at, "query", client_id, NULL, done, user);
}

static int on_open(struct venue_account *at, venue_answer_done *done, void *user)
{
    return add(at, "open", "", NULL, done, user);
}

static int on_fills(struct venue_account *at, int symbol, const char *order_id, venue_answer_done *done,
                    void *user)
{
    CHECK_INT(symbol, BTCUSDT);
    CHECK_STR(order_id, "77");
    return add(at, "fills", "", NULL, done, user);
}

static int on_recent(struct venue_account *at, int symbol, venue_answer_done *done, void *user)
{
    CHECK_INT(symbol, BTCUSDT);
    return add(at, "recent", "", NULL, done, user);
}

static int on_balances(struct venue_account *at, venue_answer_done *done, void *user)
{
    return add(at, "balances", "", NULL, done, user);
}

static const struct venue_accounts accounts = {
    .create = on_create,
    .destroy = on_destroy,
    .status = status_of,
    .place = on_place,
    .cancel = on_cancel,
    .query = on_query,
    .open = on_open,
    .fills = on_fills,
    .balances = on_balances,
    .recent = on_recent,
};

/* ---- the host ---- */

/* The engine's requests since the last call. */
static void hand_over(void)
{
    for (; seen_placed < h.n_placed; seen_placed++)
        venue_execution_request(execution, ENGINE_VENUE_PLACE, reported(&h, h.placed[seen_placed % 16]));
    for (; seen_canceled < h.n_canceled; seen_canceled++)
        venue_execution_request(execution, ENGINE_VENUE_CANCEL, reported(&h, h.canceled[seen_canceled % 16]));
}

static const struct engine *host_engine(void *ctx)
{
    (void)ctx;
    return h.engine;
}

static void host_event(void *ctx, struct event *event)
{
    (void)ctx;
    rows++;
    CHECK_INT(harness_event(&h, event), 0);
    hand_over();
}

static uint64_t host_ticket(void *ctx)
{
    (void)ctx;
    return rows;
}

static struct case_time host_now(void *ctx)
{
    (void)ctx;
    return (struct case_time){.now_ns = boot_ns, .venue_ns = venue_clock_ns};
}

static void host_due(void *ctx, int64_t at_ns)
{
    (void)ctx;
    due_ns = at_ns;
}

static void host_prefix(void *ctx, char ret[static 9])
{
    (void)ctx;
    snprintf(ret, 9, "%08x", 0xabc0 + ++prefixes);
}

static void host_alert(void *ctx, const char *text)
{
    (void)ctx;
    snprintf(alert, sizeof alert, "%s", text ? text : "");
}

static void host_bad_timestamp(void *ctx)
{
    (void)ctx;
    bad_timestamp++;
}

static void make(void)
{
    const struct venue_execution_config config = {
        .account = "alice",
        .venue = h.symbols[BTCUSDT].venue,
        .accounts = &accounts,
        .settle_ns = 15 * SECOND_NS,
        .reconcile_ns = 60 * SECOND_NS,
        .host = {NULL, host_engine, host_event, host_ticket, host_now, host_due, host_prefix, host_alert,
                 host_bad_timestamp},
    };
    CHECK_INT(venue_execution_create(&config, &execution), 0);
}

static void open_it(void)
{
    const struct venue_account_config open = {.keys = {"id", "secret"}};
    CHECK_INT(venue_execution_open(execution, &open), 0);
}

/* Time passes, and what is due is done. */
static void wait_for(int64_t ns)
{
    for (int64_t end_ns = boot_ns + ns; boot_ns < end_ns;) {
        int64_t next_ns = due_ns < end_ns ? due_ns : end_ns;
        venue_clock_ns += next_ns > boot_ns ? next_ns - boot_ns : 0;
        boot_ns = next_ns > boot_ns ? next_ns : boot_ns;
        if (due_ns <= boot_ns) {
            due_ns = INT64_MAX;
            venue_execution_tick(execution);
        }
    }
}

/* ---- the venue's answers ---- */

static const struct asked_venue *last(void)
{
    static const struct asked_venue none = {.what = "nothing"};
    return venue && venue->n > 0 ? &venue->asks[venue->n - 1] : &none;
}

/* How many such requests are unanswered? */
static int asked_for(const char *what)
{
    int n = 0;
    for (int i = 0; i < venue->n; i++)
        n += strcmp(venue->asks[i].what, what) == 0;
    return n;
}

static void reply(struct venue_answer answer)
{
    CHECK(venue && venue->n > 0);
    struct asked_venue asked = *last();
    if (!answer.text)
        answer.text = "";
    venue->n--;
    asked.done(asked.user, &answer);
}

static void link_is(enum venue_link link, const char *detail)
{
    venue->status.link = link;
    snprintf(venue->status.detail, sizeof venue->status.detail, "%s", detail);
    venue->handler->state(venue->user, &venue->status);
}

static struct venue_order order_of(const char *client_id, enum venue_order_state state, int64_t qty,
                                   int64_t filled)
{
    struct venue_order order = {
        .id = "77", .symbol = &venue->config.symbols[BTCUSDT], .state = state, .qty = qty, .filled = filled};
    snprintf(order.client_id, sizeof order.client_id, "%s", client_id);
    return order;
}

/* The answer to balances, and that to open orders, which has one from elsewhere. */
static void reconcile(int64_t usdt, int64_t btc)
{
    const struct venue_balance balances[] = {
        {"USDT", 8, usdt - E8, E8}, {"BTC", 8, btc, 0}, {"DOGE", 8, 5, 0}};
    struct venue_order other = order_of("web_1", VENUE_ORDER_NEW, E8, 0);
    CHECK_STR(last()->what, "balances");
    reply((struct venue_answer){.outcome = VENUE_DONE, .balances = balances, .n_balances = 3});
    CHECK_STR(last()->what, "open");
    reply((struct venue_answer){.outcome = VENUE_DONE, .orders = &other, .n_orders = 1});
}

static void begin(void)
{
    harness_init(&h);
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        snprintf(h.symbols[s].venue, sizeof h.symbols[s].venue, s == BTCUSDT ? "here" : "there");
    h.accounts[ALICE].rules.execution = EXECUTION_VENUE_PAPER;
    harness_open(&h);
    quote(&h, BTCUSDT, 60000 * E8, 10 * E8, 60010 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
    trade(&h, ETHUSDT, 3000 * E8, E8);
    boot_ns = 1000 * SECOND_NS;
    venue_clock_ns = h.now_ns;
    rows = 1;
    seen_placed = seen_canceled = prefixes = 0;
    due_ns = INT64_MAX;
    make();
}

static void attached(void)
{
    begin();
    open_it();
    link_is(VENUE_UP, "");
    reconcile(5000 * E8, 0);
    CHECK(engine_venue_attached(h.engine, ALICE));
}

static void end(void)
{
    venue_execution_destroy(execution);
    CHECK(venue == NULL);
    harness_close(&h);
}

static uint64_t buy(int64_t qty)
{
    rows++;
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, qty, 0);
    CHECK_INT(h.command_reason, ORDER_OK);
    hand_over();
    return id;
}

static const struct order *state_is(uint64_t id, enum order_state state)
{
    CHECK_STR(order_state_name(reported(&h, id)->state), order_state_name(state));
    return reported(&h, id);
}

/* ---- what is tried ---- */

static void test_attach(void)
{
    struct venue_execution_view view;
    begin();
    venue_execution_view(execution, &view);
    CHECK(!view.attached && !view.open);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    CHECK_INT(h.command_reason, ORDER_VENUE_DETACHED);
    open_it();
    open_it(); /* once */
    CHECK(venue->config.venue_ns(venue->user) == venue_clock_ns);
    bad_timestamp = 0;
    venue->config.bad_timestamp(venue->user);
    CHECK_INT(bad_timestamp, 1);
    link_is(VENUE_UP, "");
    reconcile(5000 * E8, 0);
    CHECK_INT(engine_equity(h.engine, ALICE), 5000 * E8);
    venue_execution_view(execution, &view);
    CHECK(view.attached && view.open && !view.halted && view.link == VENUE_UP);
    CHECK_INT(view.cases.n_external, 1);
    CHECK_STR(view.cases.external[0].client_id, "web_1");
    wait_for(60 * SECOND_NS);
    reconcile(5001 * E8, 0); /* a deposit there */
    CHECK_STR(h.last_alert, "VENUE_BALANCE");
    CHECK_INT(engine_equity(h.engine, ALICE), 5001 * E8);
    end();
}

/* Nothing is sent before its row is on the disk. A fee in the asset bought is in its units. */
static void test_fill(void)
{
    attached();
    uint64_t id = buy(E8 / 100);
    CHECK_STR(last()->what, "nothing");
    venue_execution_committed(execution, rows - 1);
    CHECK_STR(last()->what, "nothing");
    venue_execution_committed(execution, rows);
    CHECK_STR(last()->what, "place");
    CHECK_STR(last()->client_id, "0000abc1-1");
    CHECK_INT(last()->order.qty, E8 / 100);
    struct venue_order done = order_of("0000abc1-1", VENUE_ORDER_FILLED, E8 / 100, E8 / 100);
    struct venue_fill fill = {.client_id = "0000abc1-1",
                              .order_id = "77",
                              .trade_id = "t1",
                              .symbol = &venue->config.symbols[BTCUSDT],
                              .price = 60010 * E8,
                              .qty = E8 / 100,
                              .cumulative = E8 / 100,
                              .notional = 60010 * E8 / 100,
                              .fee_said = true,
                              .fee = 100001,
                              .fee_scale = 10,
                              .fee_asset = "BTC"};
    reply((struct venue_answer){
        .outcome = VENUE_DONE, .orders = &done, .n_orders = 1, .fills = &fill, .n_fills = 1});
    state_is(id, ORDER_FILLED);
    CHECK_INT(h.last_fill.fee_base, 1001); /* rounded up */
    CHECK_INT(h.last_fill.notional, 60010 * E8 / 100);
    venue->handler->fill(venue->user, &fill); /* the same as user data */
    venue->handler->order(venue->user, &done);
    CHECK_INT(h.fills, 1);
    wait_for(60 * SECOND_NS);
    uint64_t alerts = h.alerts;
    reconcile(5000 * E8 - 60010 * E8 / 100, E8 / 100 - 1001);
    CHECK_INT(h.alerts, alerts); /* they are the sum of the fills */
    end();
}

static void test_unknown(void)
{
    struct venue_execution_view view;
    attached();
    uint64_t id = buy(E8 / 100);
    venue_execution_committed(execution, rows);
    reply((struct venue_answer){
        .outcome = VENUE_UNKNOWN, .text = "503", .settled_ns = venue_clock_ns + 15 * SECOND_NS});
    state_is(id, ORDER_UNKNOWN);
    CHECK_STR(h.last_alert, "VENUE_UNKNOWN");
    venue_execution_view(execution, &view);
    CHECK_INT(view.cases.unknown, 1);
    CHECK_INT(view.cases.unknown_id, id);
    wait_for(SECOND_NS);
    CHECK_STR(last()->what, "query");
    struct venue_order there = order_of("0000abc1-1", VENUE_ORDER_NEW, E8 / 100, 0);
    reply((struct venue_answer){.outcome = VENUE_DONE, .orders = &there, .n_orders = 1});
    state_is(id, ORDER_OPEN);
    rows++;
    cancel(&h, id);
    hand_over();
    venue_execution_committed(execution, rows);
    CHECK_STR(last()->what, "cancel");
    there.state = VENUE_ORDER_CANCELED;
    reply((struct venue_answer){.outcome = VENUE_DONE, .orders = &there, .n_orders = 1});
    state_is(id, ORDER_CANCELED);
    end();
}

/* The venue's limit, and until when: a moment of the machine's clock. */
static void test_not_sent(void)
{
    attached();
    uint64_t id = buy(E8 / 100);
    venue_execution_committed(execution, rows);
    reply((struct venue_answer){.outcome = VENUE_NOT_SENT, .retry_ms = clock_now_ms() + 40000});
    wait_for(20 * SECOND_NS);
    state_is(id, ORDER_PENDING);
    CHECK_INT(asked_for("place"), 0);
    wait_for(21 * SECOND_NS);
    CHECK_INT(asked_for("place"), 1);
    end();
}

/* The program was killed after it had sent, or before: its order is looked for, and not sent again. */
static void test_restart(void)
{
    attached();
    uint64_t id = buy(E8 / 100);
    venue_execution_committed(execution, rows);
    CHECK_STR(last()->what, "place");
    venue_execution_destroy(execution);
    make();
    open_it();
    CHECK_STR(last()->what, "query");
    CHECK_STR(last()->client_id, "0000abc1-1");
    reply((struct venue_answer){.outcome = VENUE_ABSENT});
    state_is(id, ORDER_UNKNOWN);
    for (int i = 0; i < 20 && reported(&h, id)->state == ORDER_UNKNOWN; i++) {
        wait_for(SECOND_NS);
        CHECK(strcmp(last()->what, "place") != 0);
        if (strcmp(last()->what, "query") == 0)
            reply((struct venue_answer){.outcome = VENUE_ABSENT});
    }
    CHECK_INT(state_is(id, ORDER_REJECTED)->reason, ORDER_VENUE_LOST);
    end();
}

/* While nothing could be stored its time has passed; a stop's has not. */
static void test_late(void)
{
    attached();
    uint64_t id = buy(E8 / 100);
    wait_for(50 * SECOND_NS);
    const struct order stop = {.account = ALICE,
                               .symbol = BTCUSDT,
                               .side = ORDER_BUY,
                               .type = ORDER_STOP,
                               .qty = E8 / 100,
                               .stop_price = 70000 * E8,
                               .by_hand = true};
    uint64_t stop_id = ask(&h, stop);
    CHECK_INT(h.command_reason, ORDER_OK);
    hand_over();
    wait_for(61 * SECOND_NS);
    venue_execution_committed(execution, rows);
    state_is(id, ORDER_REJECTED);
    state_is(stop_id, ORDER_PENDING);
    CHECK_INT(asked_for("place"), 1);
    end();
}

static void test_elsewhere(void)
{
    attached();
    rows++;
    uint64_t id = order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_LIMIT, E8, 2000 * E8);
    hand_over();
    venue_execution_committed(execution, rows);
    state_is(id, ORDER_REJECTED);
    CHECK_STR(last()->what, "nothing");
    end();
}

/* Keys that are refused: of an account that is attached it is halted, and attached again after a reset. */
static void test_halted(void)
{
    struct venue_execution_view view;
    attached();
    uint64_t id = buy(E8 / 100);
    venue_execution_committed(execution, rows);
    reply((struct venue_answer){.outcome = VENUE_DENIED, .text = "401: request is not authorized"});
    state_is(id, ORDER_REJECTED); /* that one only, as long as the keys can read */
    CHECK_STR(last()->what, "balances");
    CHECK(!engine_venue_halted(h.engine, ALICE));
    reply((struct venue_answer){.outcome = VENUE_DONE});
    link_is(VENUE_WAITING, "connection refused");
    link_is(VENUE_UP, ""); /* which ends no other condition */
    CHECK(strstr(alert, "may read, and not trade: 401: request is not authorized") != NULL);
    id = buy(E8 / 100);
    venue_execution_committed(execution, rows);
    reply((struct venue_answer){.outcome = VENUE_DENIED, .text = "401: request is not authorized"});
    state_is(id, ORDER_REJECTED);
    reply((struct venue_answer){.outcome = VENUE_DENIED, .text = "401: request is not authorized"});
    CHECK_STR(h.last_alert, "VENUE_HALTED");
    CHECK(venue != NULL); /* not within its own callback */
    wait_for(SECOND_NS);
    CHECK(venue == NULL);
    venue_execution_view(execution, &view);
    CHECK(view.halted && !view.open);
    open_it();
    CHECK(venue == NULL);
    rows++;
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_RESET, .money = {ALICE, 0, 1}});
    CHECK_INT(h.command_reason, ORDER_OK);
    open_it();
    link_is(VENUE_UP, "");
    reconcile(100 * E8, 0);
    CHECK(engine_venue_attached(h.engine, ALICE));
    CHECK_INT(prefixes, 2);
    end();

    begin(); /* before it was ever attached: only said */
    open_it();
    link_is(VENUE_FINAL, "-2015: Invalid API-key");
    wait_for(SECOND_NS);
    CHECK(venue == NULL && !engine_venue_halted(h.engine, ALICE));
    CHECK(strstr(alert, "-2015") != NULL);
    open_it();
    CHECK(venue == NULL);
    end();
}

static void test_absent(void)
{
    attached();
    link_is(VENUE_WAITING, "connection refused");
    alert[0] = '\0';
    wait_for(59 * SECOND_NS);
    CHECK_STR(alert, "");
    wait_for(2 * SECOND_NS);
    CHECK(strstr(alert, "connection refused") != NULL);
    link_is(VENUE_UP, "");
    CHECK_STR(alert, "");
    end();
}

/* No answer says what it holds, as of a host that redirects. */
static void test_failing(void)
{
    struct venue_execution_view view;
    const struct venue_answer moved = {.outcome = VENUE_UNKNOWN, .text = "HTTP 301"};
    begin();
    open_it();
    link_is(VENUE_UP, "");
    alert[0] = '\0';
    for (int i = 0; i < 6; i++) {
        CHECK_STR(last()->what, "balances");
        CHECK_STR(alert, "");
        reply(moved);
        wait_for(5 * SECOND_NS);
    }
    CHECK(strstr(alert, "is not attached: here does not say what it holds: HTTP 301") != NULL);
    venue_execution_view(execution, &view);
    CHECK_STR(view.detail, "HTTP 301");
    reconcile(5000 * E8, 0);
    CHECK(engine_venue_attached(h.engine, ALICE));
    CHECK_STR(alert, "");
    end();
}

/* A configuration that is read again is another try of keys that were refused, and of no account that is
 * attached. */
static void test_again(void)
{
    begin();
    open_it();
    link_is(VENUE_FINAL, "-2015: Invalid API-key");
    wait_for(SECOND_NS);
    open_it();
    CHECK(venue == NULL);
    CHECK(venue_execution_again(execution));
    open_it();
    link_is(VENUE_UP, "");
    reconcile(5000 * E8, 0);
    CHECK(!venue_execution_again(execution));
    CHECK(venue != NULL);
    end();
}

int main(void)
{
    test_attach();
    test_fill();
    test_unknown();
    test_not_sent();
    test_restart();
    test_late();
    test_elsewhere();
    test_halted();
    test_absent();
    test_failing();
    test_again();
    return check_done("venue_execution");
}
