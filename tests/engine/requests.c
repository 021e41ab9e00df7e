/* Outside strategies: what the engine asks, what becomes of the answers, and what happens where there is no
 * decision. requests_worlds.c has random worlds. */
#include <string.h>

#include "tests/engine/harness.h"
#include "tests/engine/made_policy.h"
#include "tests/engine/reload.h"
#include "tests/engine/wrapped.h"

static struct harness h;

/* A market of that calendar, and so many accounts whose strategies, which buy and hold, are asked. */
static void open_market(const char *calendar, int n)
{
    harness_init(&h);
    snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "%s", calendar);
    memset(&wrapped, 0, sizeof wrapped);
    h.config.latency_ns = 0;
    h.config.n_symbols = 1;
    h.config.n_accounts = n;
    for (int a = 0; a < n; a++) {
        h.accounts[a].strategy = wrapped_strategy("buy-and-hold");
        strategy_defaults(h.accounts[a].strategy, h.accounts[a].params);
    }
    harness_open(&h);
    quote(&h, BTCUSDT, 59000 * E8, 10 * E8, 59001 * E8, 10 * E8);
    trade(&h, BTCUSDT, 59000 * E8, E8);
}

static void open_accounts(int n)
{
    open_market("", n);
}

/* Alice's alone. */
static void open_asked(void)
{
    open_accounts(1);
}

/* The next bar, as it closes. */
static void next_bar(void)
{
    h.now_ns = (h.now_ns / MINUTE_NS + 1) * MINUTE_NS;
    struct bar bar = flat_bar(h.now_ns - MINUTE_NS, 59000 * E8);
    kline(&h, BTCUSDT, &bar);
}

static int give(int64_t recv_ns, enum strategy_outcome outcome, const char *fault)
{
    struct event event;
    if (!wrapped_decision(h.engine, h.seq, recv_ns, &event))
        return -ENOENT;
    if (outcome == STRATEGY_DECIDED)
        return engine_handle(h.engine, &event);
    struct strategy_decision none = {.outcome = outcome};
    snprintf(none.fault, sizeof none.fault, "%s", fault);
    event.decision.decision = &none;
    return engine_handle(h.engine, &event);
}

/* A decision without intents, which leaves no memory. */
static void give_nothing(void)
{
    static const struct strategy_decision nothing = {.outcome = STRATEGY_DECIDED};
    struct strategy_request request;
    CHECK(engine_request_next(h.engine, &request));
    const struct event event = {.seq = h.seq,
                                .recv_ns = h.now_ns,
                                .kind = EVENT_DECISION,
                                .decision = {request.account, request.symbol, request.bar.open_ns, &nothing}};
    CHECK_INT(engine_handle(h.engine, &event), 0);
}

static void check_answers(uint64_t late, uint64_t invalid, uint64_t ended, bool halted)
{
    struct engine_answers answers = engine_answers(h.engine, ALICE);
    CHECK(answers.asked);
    CHECK_INT(answers.late, late);
    CHECK_INT(answers.invalid, invalid);
    CHECK_INT(answers.ended, ended);
    CHECK_INT(answers.halted, halted);
}

static void test_request(void)
{
    struct strategy_request request;
    open_asked();
    CHECK(!engine_request_next(h.engine, &request));
    next_bar();
    CHECK(engine_request_next(h.engine, &request) && engine_request_waits(h.engine));
    CHECK(request.acts && request.begins && request.account == ALICE && request.symbol == BTCUSDT);
    CHECK_INT(request.seq, h.seq);
    CHECK_INT(request.bar.open_ns, h.now_ns - MINUTE_NS);
    CHECK_INT(request.input.ts_ns, h.now_ns);
    CHECK(request.input.close == 59000 && request.input.equity == 10000 && request.state.len == 0);
    CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
    CHECK_INT(h.fills, 1);
    CHECK_INT(h.last_fill.ts_ns, h.now_ns);
    CHECK_STR(h.last_order.tag, "buy to hold");
    CHECK_INT(engine_counters(h.engine)->decisions, 1);
    next_bar();
    CHECK(engine_request_next(h.engine, &request));
    CHECK(!request.begins && request.state.len == STRATEGY_STATE_SIZE && request.input.qty > 0);
    harness_close(&h);
}

static void test_wrong_decisions(void)
{
    struct event event;
    open_asked();
    next_bar();
    CHECK(wrapped_decision(h.engine, h.seq, h.now_ns, &event));
    const struct strategy_decision *good = event.decision.decision;
    struct event wrong[5] = {event, event, event, event, event};
    struct strategy_decision too_many = *good, late = *good;
    too_many.n = 1000;
    late.outcome = STRATEGY_LATE;
    wrong[0].decision.account = 1;
    wrong[1].decision.symbol = -1;
    wrong[2].decision.open_ns++;
    wrong[3].decision.decision = &too_many;
    wrong[4].decision.decision = &late; /* with intents */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_INT(engine_handle(h.engine, &wrong[i]), -EINVAL);
    CHECK_INT(h.fills, 0);
    CHECK_INT(engine_handle(h.engine, &event), 0);
    CHECK_INT(h.fills, 1);
    CHECK_INT(engine_handle(h.engine, &event), -EINVAL);
    harness_close(&h);
}

/* What another event comes before is given up: nothing was decided. */
static void test_lapses(void)
{
    open_asked();
    next_bar();
    uint64_t points = h.equity_points;
    pass(&h, SECOND_NS);
    CHECK(h.equity_points > points); /* the rest of the bar's event has happened */
    CHECK_INT(engine_requests(h.engine), 0);
    CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), -ENOENT);
    check_answers(0, 0, 0, false);
    harness_close(&h);
}

/* As of its bar, or not at all. */
static void test_old(void)
{
    for (int late = 0; late < 2; late++) {
        open_asked();
        next_bar();
        int64_t bar_ns = h.now_ns;
        reload_engine(&h.engine);
        h.now_ns += MINUTE_NS - 1 + late;
        CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
        CHECK_INT(h.fills, !late);
        if (!late)
            CHECK_INT(h.last_fill.ts_ns, bar_ns);
        harness_close(&h);
    }
}

static void test_failures(void)
{
    static const struct {
        enum strategy_outcome outcome;
        const char *code, *fault;
    } kinds[] = {{STRATEGY_LATE, "STRATEGY_LATE", "no answer within 250 ms"},
                 {STRATEGY_INVALID, "STRATEGY_INVALID", "it is no JSON"},
                 {STRATEGY_ENDED, "STRATEGY_ENDED", "it exited with 1"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        open_asked();
        char text[160], over[64];
        for (int i = 0; i < 2; i++) {
            next_bar();
            CHECK_INT(give(h.now_ns, kinds[k].outcome, kinds[k].fault), 0);
        }
        snprintf(text, sizeof text, "account alice: exec:buy-and-hold, BTCUSDT: no decision: %s",
                 kinds[k].fault);
        CHECK_INT(h.alerts, 1); /* once */
        CHECK_STR(h.last_alert, kinds[k].code);
        CHECK_STR(h.last_alert_text, text);
        CHECK_INT(h.fills, 0);
        check_answers(k == 0 ? 2 : 0, k == 1 ? 2 : 0, k == 2 ? 2 : 0, false);
        next_bar();
        CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
        snprintf(over, sizeof over, "%s account alice: ", kinds[k].code);
        CHECK_STR(h.last_over, over);
        CHECK_INT(h.fills, 1);
        harness_close(&h);
    }
}

static void fail_three(void)
{
    for (int i = 0; i < 3; i++) {
        next_bar();
        CHECK_INT(give(h.now_ns, (enum strategy_outcome)(STRATEGY_LATE + i), "no"), 0);
        if (i == 1)
            reload_engine(&h.engine);
    }
}

/* Not asked until it is resumed, or its configuration is read again; then from the recent bars on. */
static void test_halts(void)
{
    for (int how = 0; how < 3; how++) {
        struct strategy_request request;
        open_asked();
        fail_three();
        CHECK_STR(h.last_alert, "STRATEGY_HALTED");
        CHECK(
            strstr(h.last_alert_text, "account alice: exec:buy-and-hold is halted: no decision on 3 bars") ==
            h.last_alert_text);
        CHECK_INT(h.alerts, 4);
        check_answers(1, 1, 1, true);
        next_bar();
        reload_engine(&h.engine);
        CHECK_INT(engine_requests(h.engine), 0);
        check_answers(1, 1, 1, true);
        if (how == 0)
            command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_RESUME, .money.account = ALICE});
        else if (how == 1)
            command(&h, (struct event_command){.kind = COMMAND_CONFIGURE,
                                               .configure = {.accounts = h.accounts, .n = 1}});
        else
            engine_requests_begin(h.engine);
        CHECK(how == 2 || h.command_reason == ORDER_OK);
        CHECK_STR(h.last_over, "STRATEGY_HALTED account alice: ");
        check_answers(1, 1, 1, false);
        CHECK_INT(engine_requests(h.engine), 4);
        CHECK(engine_request_next(h.engine, &request) && request.begins && !request.acts);
        for (int i = 0; i < 4; i++)
            CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
        CHECK_INT(h.fills, 0);
        next_bar();
        CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
        CHECK_INT(h.fills, 1);
        harness_close(&h);
    }
}

/* What trades there starts again, or is another: nothing is left of the halt. */
static void test_halt_is_forgotten(void)
{
    static const char *const strategies[] = {"buy-and-hold", "sma-cross"};
    for (int how = 0; how < 2; how++) {
        open_asked();
        fail_three();
        check_answers(1, 1, 1, true);
        h.accounts[ALICE].strategy = wrapped_strategy(strategies[how]);
        strategy_defaults(h.accounts[ALICE].strategy, h.accounts[ALICE].params);
        if (how == 0)
            command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_RESET,
                                               .money = {.account = ALICE, .amount = 5000 * E8}});
        else
            command(&h, (struct event_command){.kind = COMMAND_CONFIGURE,
                                               .configure = {.accounts = h.accounts, .n = 1}});
        CHECK_INT(h.command_reason, ORDER_OK);
        CHECK_STR(h.last_over, "STRATEGY_HALTED account alice: ");
        check_answers(0, 0, 0, false);
        CHECK_INT(engine_requests(h.engine), 3);
        harness_close(&h);
    }
}

/* A process whose memory is its own is shown the recent bars again when it is started again, the one that
 * waits for its decision after them. */
static void test_shown_again(void)
{
    struct strategy_request request;
    open_asked();
    for (int i = 0; i < 3; i++) {
        next_bar();
        give_nothing();
    }
    next_bar();
    reload_engine(&h.engine);
    engine_requests_begin(h.engine);
    reload_engine(&h.engine);
    CHECK_INT(engine_requests(h.engine), 4);
    CHECK(engine_request_waits(h.engine));
    for (int i = 0; i < 4; i++) {
        CHECK(engine_request_next(h.engine, &request));
        CHECK_INT(request.begins, i == 0);
        CHECK_INT(request.acts, i == 3);
        CHECK_INT(request.bar.open_ns, h.now_ns - (4 - i) * MINUTE_NS);
        CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
    }
    CHECK_INT(h.fills, 1);
    engine_requests_begin(h.engine); /* it has left its memory by now */
    CHECK_INT(engine_requests(h.engine), 0);
    harness_close(&h);
}

/* The bar at which alice's decision is waited for comes to bob's strategy after that: it is none of the past
 * that his is shown as it is started again, or starts. */
static void test_next_account(void)
{
    for (int how = 0; how < 2; how++) {
        struct strategy_request request;
        char err[ENGINE_ERROR_MAX] = "";
        open_accounts(2);
        for (int i = 0; i < 2; i++) {
            next_bar();
            give_nothing();
            give_nothing();
        }
        next_bar();
        reload_engine(&h.engine);
        const struct engine_config config = h.config;
        h.accounts[BOB].params[0] = 0.5;
        if (how == 0)
            engine_requests_begin(h.engine);
        else
            CHECK_INT(engine_configure(h.engine, &config, err), 0);
        reload_engine(&h.engine);
        CHECK_INT(engine_requests(h.engine), how == 0 ? 5 : 3);
        while (engine_request_next(h.engine, &request) && !request.acts)
            give_nothing();
        CHECK(request.account == ALICE && request.acts);
        give_nothing();
        CHECK(engine_request_next(h.engine, &request) && request.account == BOB);
        CHECK(request.acts && !request.begins);
        CHECK_INT(request.bar.open_ns, h.now_ns - MINUTE_NS);
        give_nothing();
        CHECK_INT(engine_requests(h.engine), 0);
        harness_close(&h);
    }
}

/* The same file keeps its memory, also as the log describes it; another of that name starts again, and so
 * does a file with other parameters. What waits is dropped with it, and the bar's event ends. */
static void test_another_file(void)
{
    static struct strategy other;
    static struct strategy_external others;
    for (int how = 0; how < 3; how++) {
        struct strategy_request request;
        open_asked();
        for (int i = 0; i < 3; i++) {
            next_bar();
            CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
        }
        reload_engine(&h.engine); /* its strategy is what the state describes now */
        other = *h.accounts[ALICE].strategy;
        others = *other.external;
        other.external = &others;
        others.hash[0] ^= how == 1;
        h.accounts[ALICE].strategy = &other;
        if (how == 2)
            h.accounts[ALICE].params[0] = 0.5;
        command(&h, (struct event_command){.kind = COMMAND_CONFIGURE,
                                           .configure = {.accounts = h.accounts, .n = 1}});
        CHECK_INT(h.command_reason, ORDER_OK);
        CHECK(engine_account_spec(h.engine, ALICE)->strategy == &other);
        CHECK_INT(engine_requests(h.engine), how == 0 ? 0 : 3);
        if (how > 0)
            CHECK(engine_request_next(h.engine, &request) && request.begins && request.state.len == 0);
        while (engine_requests(h.engine) > 0)
            CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
        next_bar();
        CHECK(engine_request_next(h.engine, &request) && !request.begins);
        CHECK_INT(request.state.len, STRATEGY_STATE_SIZE);
        /* A new run with yet other parameters, before the decision. */
        char err[ENGINE_ERROR_MAX] = "";
        struct engine_config config = h.config;
        uint64_t points = h.equity_points;
        h.accounts[ALICE].params[0] = 0.25;
        CHECK_INT(engine_configure(h.engine, &config, err), 0);
        CHECK(!engine_request_waits(h.engine) && h.equity_points > points);
        CHECK_INT(engine_requests(h.engine), 4);
        harness_close(&h);
    }
}

/* The symbols are others: a host is opened with their names, so a process that keeps its memory itself is
 * shown the recent bars again. One that left its memory continues, and one that is halted stays so. */
static void test_other_symbols(void)
{
    for (int renamed = 0; renamed < 2; renamed++)
        for (int how = 0; how < 3; how++) {
            struct strategy_request request;
            struct event event = {.kind = EVENT_SYMBOL};
            open_market(renamed ? "X" : "", 1);
            for (int i = 0; i < 3; i++) {
                next_bar();
                if (how == 0)
                    give_nothing();
                else
                    CHECK_INT(give(h.now_ns, how == 1 ? STRATEGY_DECIDED : STRATEGY_LATE, "no"), 0);
            }
            event.symbol = (struct event_symbol){!renamed, h.symbols[renamed ? BTCUSDT : ETHUSDT]};
            if (renamed)
                snprintf(event.symbol.listed.name, sizeof event.symbol.listed.name, "NEWUSDT");
            CHECK_INT(harness_event(&h, &event), 0);
            CHECK_INT(engine_symbols(h.engine), renamed ? 1 : 2);
            CHECK_STR(engine_symbol(h.engine, !renamed)->name, renamed ? "NEWUSDT" : "ETHUSDT");
            CHECK_INT(engine_requests(h.engine), how == 0 ? 3 : 0);
            check_answers(how == 2 ? 3 : 0, 0, 0, how == 2);
            for (int i = 0; how == 0 && i < 3; i++) {
                CHECK(engine_request_next(h.engine, &request));
                CHECK(request.begins == (i == 0) && !request.acts);
                CHECK_INT(request.bar.open_ns, h.now_ns - (3 - i) * MINUTE_NS);
                give_nothing();
            }
            next_bar();
            CHECK_INT(engine_request_next(h.engine, &request), how < 2);
            CHECK(how == 2 || (request.acts && !request.begins));
            harness_close(&h);
        }
}

/* ---- rounds ---- */

/* Alice holds the better one of two symbols. */
static void open_round(void)
{
    harness_init(&h);
    memset(&wrapped, 0, sizeof wrapped);
    h.config.latency_ns = 0;
    h.config.policy_wait_ns = 10 * SECOND_NS;
    h.config.n_accounts = 1;
    h.accounts[ALICE].strategy = strategy_find("rank-momentum");
    strategy_defaults(h.accounts[ALICE].strategy, h.accounts[ALICE].params);
    strategy_set(h.accounts[ALICE].strategy, h.accounts[ALICE].params, "lookback", "1", NULL);
    strategy_set(h.accounts[ALICE].strategy, h.accounts[ALICE].params, "hold", "1", NULL);
    strategy_set(h.accounts[ALICE].strategy, h.accounts[ALICE].params, "every", "1", NULL);
    h.accounts[ALICE].strategy = wrapped_strategy("rank-momentum");
    harness_open(&h);
    quote(&h, BTCUSDT, 59000 * E8, 10 * E8, 59001 * E8, 10 * E8);
    quote(&h, ETHUSDT, 3000 * E8, 10 * E8, 3001 * E8, 10 * E8);
    trade(&h, BTCUSDT, 59000 * E8, E8);
    trade(&h, ETHUSDT, 3000 * E8, E8);
}

/* The bar of the minute that ends next, or has ended, of a symbol. */
static void close_bar(int symbol, int price, bool next)
{
    if (next)
        h.now_ns = (h.now_ns / MINUTE_NS + 1) * MINUTE_NS;
    struct bar bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, price * E8);
    kline(&h, symbol, &bar);
}

static void whole_round(int btc, int eth)
{
    close_bar(BTCUSDT, btc, true);
    CHECK_INT(engine_requests(h.engine), 0);
    close_bar(ETHUSDT, eth, false);
    CHECK(engine_requests(h.engine) == 1 && engine_request_waits(h.engine));
    CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
}

/* One that was waited for long enough is asked of after the event that shows it; one that a later bar ends,
 * before that bar. */
static void test_incomplete_rounds(void)
{
    struct strategy_request request;
    open_round();
    whole_round(59000, 3000);
    CHECK_INT(h.fills, 0);
    close_bar(BTCUSDT, 59010, true);
    pass(&h, 9 * SECOND_NS);
    CHECK_INT(engine_requests(h.engine), 0);
    reload_engine(&h.engine);
    pass(&h, 2 * SECOND_NS);
    reload_engine(&h.engine);
    CHECK(engine_request_next(h.engine, &request) && engine_request_waits(h.engine));
    CHECK(request.acts && request.symbol == BTCUSDT && request.input.n_peers == 2);
    CHECK(request.input.peers[0].fresh && !request.input.peers[1].fresh);
    CHECK(request.input.peers[0].close == 59010 && request.input.peers[1].close == 3000);
    CHECK_STR(request.input.peers[1].name, "ETHUSDT");
    CHECK_INT(request.input.ts_ns, request.bar.open_ns + MINUTE_NS);
    CHECK(request.input.peers[0].indicators[0] > 0 && isnan(request.input.peers[1].indicators[0]));
    CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
    CHECK(h.fills == 1 && h.last_fill.symbol == BTCUSDT);
    CHECK_INT(engine_requests(h.engine), 0);

    int64_t missing_ns = h.now_ns / MINUTE_NS * MINUTE_NS;
    close_bar(BTCUSDT, 59000, true);
    h.now_ns += SECOND_NS;
    struct bar later = flat_bar(missing_ns + MINUTE_NS, 59020 * E8);
    kline(&h, BTCUSDT, &later);
    reload_engine(&h.engine);
    CHECK(engine_request_next(h.engine, &request) && engine_request_waits(h.engine));
    CHECK_INT(request.bar.open_ns, missing_ns);
    CHECK(request.input.peers[0].close == 59000);
    CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
    CHECK(h.fills == 2 && h.last_fill.side == ORDER_SELL); /* it fell */
    CHECK_INT(engine_requests(h.engine), 0);               /* the round of the later bar is not complete */
    harness_close(&h);
}

/* A process without memory here is shown the rounds again, the one that waits for its decision after them. */
static void test_rounds_again(void)
{
    struct strategy_request request;
    open_round();
    for (int i = 0; i < 3; i++) {
        close_bar(BTCUSDT, 59000 + i, true);
        close_bar(ETHUSDT, 3000 + i, false);
        give_nothing();
    }
    close_bar(BTCUSDT, 59010, true);
    close_bar(ETHUSDT, 3010, false);
    reload_engine(&h.engine);
    engine_requests_begin(h.engine);
    reload_engine(&h.engine);
    CHECK_INT(engine_requests(h.engine), 4);
    CHECK(engine_request_waits(h.engine));
    for (int i = 0; i < 4; i++) {
        CHECK(engine_request_next(h.engine, &request));
        CHECK(request.begins == (i == 0) && request.acts == (i == 3));
        CHECK_INT(request.bar.open_ns, h.now_ns - (4 - i) * MINUTE_NS);
        CHECK(request.input.peers[1].fresh && request.input.peers[1].close == (i < 3 ? 3000 + i : 3010));
        CHECK_INT(give(h.now_ns, STRATEGY_DECIDED, ""), 0);
    }
    CHECK_INT(h.fills, 1);
    harness_close(&h);
}

/* One that sees the other symbol at each bar is shown again all that it has seen: the bar of the other symbol
 * that closed at the same time, before the one that waits for its decision, too. */
static void test_peers_again(void)
{
    static struct strategy seeing;
    struct strategy_request request;
    harness_init(&h);
    memset(&wrapped, 0, sizeof wrapped);
    h.config.n_accounts = 1;
    h.config.n_symbols = 2;
    seeing = *wrapped_strategy("buy-and-hold");
    seeing.peers = true;
    h.accounts[ALICE].strategy = &seeing;
    strategy_defaults(&seeing, h.accounts[ALICE].params);
    harness_open(&h);
    quote(&h, BTCUSDT, 59000 * E8, 10 * E8, 59001 * E8, 10 * E8);
    quote(&h, ETHUSDT, 3000 * E8, 10 * E8, 3001 * E8, 10 * E8);
    for (int i = 0; i < 3; i++) {
        close_bar(BTCUSDT, 59000 + i, true);
        give_nothing();
        close_bar(ETHUSDT, 3000 + i, false);
        if (i < 2)
            give_nothing();
    }
    engine_requests_begin(h.engine);
    CHECK_INT(engine_requests(h.engine), 6);
    for (int i = 0; i < 6; i++) {
        CHECK(engine_request_next(h.engine, &request));
        CHECK_INT(request.symbol, i % 2);
        CHECK_INT(request.bar.open_ns, h.now_ns - (3 - i / 2) * MINUTE_NS);
        CHECK(request.acts == (i == 5));
        CHECK(request.input.peers[BTCUSDT].close == 59000 + i / 2);
        give_nothing();
    }
    harness_close(&h);
}

/* So it is of a round that was decided on without one of its bars, the last one or before another. */
static void test_incomplete_again(void)
{
    struct strategy_request request;
    open_round();
    for (int i = 0; i < 2; i++) {
        close_bar(BTCUSDT, 59000, true);
        close_bar(ETHUSDT, 3000, false);
        give_nothing();
    }
    close_bar(BTCUSDT, 59010, true);
    const int64_t incomplete_ns = h.now_ns - MINUTE_NS;
    engine_requests_begin(h.engine); /* it is not over */
    CHECK_INT(engine_requests(h.engine), 2);
    give_nothing();
    give_nothing();
    pass(&h, 11 * SECOND_NS);
    CHECK(engine_request_waits(h.engine));
    give_nothing();
    for (int later = 0; later < 2; later++) {
        if (later) {
            struct event gap = {.kind = EVENT_BARS, .bars = {.symbol = ETHUSDT}};
            close_bar(BTCUSDT, 59020, true);
            close_bar(ETHUSDT, 3020, false);
            CHECK_INT(harness_event(&h, &gap), 0); /* the one before never comes */
        }
        reload_engine(&h.engine);
        engine_requests_begin(h.engine);
        reload_engine(&h.engine);
        CHECK_INT(engine_requests(h.engine), 3 + later);
        for (int i = 0; i < 3; i++) {
            CHECK(engine_request_next(h.engine, &request));
            CHECK(request.begins == (i == 0) && !request.acts);
            CHECK_INT(request.bar.open_ns, incomplete_ns - (2 - i) * MINUTE_NS);
            CHECK(request.input.peers[0].fresh && request.input.peers[1].fresh == (i < 2));
            give_nothing();
        }
        if (later) {
            CHECK(engine_request_next(h.engine, &request) && request.acts && !request.begins);
            give_nothing();
        }
    }
    harness_close(&h);
}

/* ---- a policy's bars ---- */

static int policy_saw;

static void counting_see(struct policy_runtime *runtime, int asset, int64_t open_ns,
                         const struct indicator_bar *bar)
{
    policy_saw++;
    made_runtime_see(runtime, asset, open_ns, bar);
}

/* The bar at which alice's decision is waited for comes to bob's policy after that, once, where that starts
 * meanwhile. */
static void test_policy_after(struct random *random)
{
    static struct policy_runtime_ops counting;
    struct made_policy made;
    const struct policy_rules rules = {.capital = 10000};
    char err[ENGINE_ERROR_MAX] = "";
    counting = made_runtime;
    counting.see = counting_see;
    open_accounts(2);
    made_policy_open(&made, random, 1, 0, MINUTE_NS, 1, 0, &rules, 0);
    snprintf(made.assets[0].name, sizeof made.assets[0].name, "BTC");
    made.policy.runtime = &counting;
    for (int i = 0; i < 3; i++) {
        next_bar();
        give_nothing();
        give_nothing();
    }
    next_bar();
    CHECK(engine_request_waits(h.engine));
    h.accounts[BOB].strategy = NULL;
    h.accounts[BOB].policy = &made.policy;
    CHECK_INT(engine_configure(h.engine, &h.config, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(policy_saw, 3);
    CHECK(engine_request_waits(h.engine));
    give_nothing();
    CHECK_INT(policy_saw, 4);
    next_bar();
    give_nothing();
    CHECK_INT(policy_saw, 5);
    harness_close(&h);
    free(made.actions);
}

static struct {
    size_t n;
    bool live_orders[HARNESS_SYMBOLS];
} traced;

static void on_traced(void *ctx, const struct engine_decision *decision)
{
    (void)ctx;
    traced.n++;
    traced.live_orders[decision->symbol] = decision->input->live_orders;
}

/* What is traced of a symbol at a round of history is what it was shown of that symbol. */
static void test_history_trace(void)
{
    static const struct engine_trace trace = {.decision = on_traced};
    open_round();
    close_bar(BTCUSDT, 59000, true);
    close_bar(ETHUSDT, 3000, false);
    give_nothing();
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 10, 2000 * E8);
    engine_requests_begin(h.engine);
    CHECK_INT(engine_requests(h.engine), 1);
    h.engine->sink.trace = &trace;
    give_nothing();
    CHECK_INT(traced.n, 2);
    CHECK(!traced.live_orders[BTCUSDT] && traced.live_orders[ETHUSDT]);
    harness_close(&h);
}

/* More than one decision can have. */
static void test_too_many(void)
{
    struct strategy_request request;
    struct strategy_decision many = {.outcome = STRATEGY_DECIDED, .n = STRATEGY_DECISION_MAX + 1};
    open_round();
    for (int i = 0; i < STRATEGY_DECISION_MAX; i++)
        many.intents[i] = (struct intent){.kind = INTENT_TARGET, .fraction = 0.1, .symbol = i % 2};
    for (int i = 0; i < 2; i++) {
        close_bar(BTCUSDT, 59000, true);
        close_bar(ETHUSDT, 3000, false);
        CHECK(engine_request_next(h.engine, &request));
        const struct event event = {.seq = h.seq,
                                    .recv_ns = h.now_ns,
                                    .kind = EVENT_DECISION,
                                    .decision = {ALICE, BTCUSDT, request.bar.open_ns, &many}};
        CHECK_INT(engine_handle(h.engine, &event), 0);
        CHECK_INT(engine_intents_refused(h.engine, ALICE)[INTENT_TOO_MANY], i + 1);
        many.n = STRATEGY_DECISION_MAX; /* all there: more than eight of a symbol */
    }
    many.n = STRATEGY_SAID_MAX + 1;
    close_bar(BTCUSDT, 59000, true);
    close_bar(ETHUSDT, 3000, false);
    CHECK(engine_request_next(h.engine, &request));
    const struct event event = {.seq = h.seq,
                                .recv_ns = h.now_ns,
                                .kind = EVENT_DECISION,
                                .decision = {ALICE, BTCUSDT, request.bar.open_ns, &many}};
    CHECK_INT(engine_handle(h.engine, &event), -EINVAL);
    CHECK_INT(h.fills, 0);
    harness_close(&h);
}

int main(void)
{
    struct random random = random_seeded("engine/requests", 20261128);
    test_request();
    test_wrong_decisions();
    test_lapses();
    test_old();
    test_failures();
    test_halts();
    test_halt_is_forgotten();
    test_shown_again();
    test_next_account();
    test_another_file();
    test_incomplete_rounds();
    test_rounds_again();
    test_peers_again();
    test_other_symbols();
    test_policy_after(&random);
    test_incomplete_again();
    test_history_trace();
    test_too_many();
    return check_done("engine/requests");
}
