/* Outside strategies of a session: what the built-in does, they do; a process that is killed between a bar
 * and its decision asks again; a strategy that does not answer is halted, and asked again once it is resumed.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/config.h"
#include "engine/state.h"
#include "tests/daemon/config_text.h"
#include "tests/daemon/session.h"
#include "tests/engine/wrapped.h"
#include "tests/random.h"

#define SECOND_NS 1000000000LL
#define MINUTE_NS (60 * SECOND_NS)
#define START_NS  (1723161180 * SECOND_NS) /* 2024-08-08T23:53:00Z */
#define UNIT      100000000LL

enum { BARS = 200, KILLED_AT = 120 /* requests */ };

static struct symbol symbols[] = {{.name = "BTCUSDT",
                                   .base = "BTC",
                                   .quote = "USDT",
                                   .price_scale = 8,
                                   .qty_scale = 8,
                                   .quote_scale = 8,
                                   .trading = true,
                                   .filters = {.tick = UNIT / 100, .step = 1000}}};
static int64_t closes[BARS + 1];

static void see(void *ctx, const struct alert *alert, int64_t closed_ns)
{
    (void)ctx, (void)alert, (void)closed_ns;
}

static void configure(const char *strategy)
{
    char text[512];
    snprintf(text, sizeof text,
             "[market]\nsymbols = BTCUSDT\n[engine]\nclock = feed\nfill_model = bar\n[account main]\n"
             "strategy = %s\nstrategy.fast = 3\nstrategy.slow = 8\nstrategy.fraction = 0.4\n",
             strategy);
    CHECK_INT(read_text(text, &config), 0);
    CHECK_STR(error, "");
}

/* A symbol's bar of a minute, as it closes. */
static void bar_of(int symbol, int i)
{
    int64_t open = closes[i], close = closes[i + 1];
    struct event event = {.kind = EVENT_MARKET,
                          .market = {.kind = MARKET_KLINE,
                                     .symbol = symbol,
                                     .event_ns = START_NS + (i + 1) * MINUTE_NS,
                                     .kline = {.interval_ns = MINUTE_NS,
                                               .closed = true,
                                               .bar = {.open_ns = START_NS + i * MINUTE_NS,
                                                       .open = open,
                                                       .high = open > close ? open : close,
                                                       .low = open > close ? close : open,
                                                       .close = close,
                                                       .volume = UNIT,
                                                       .trades = 1,
                                                       .first_trade_id = -1,
                                                       .last_trade_id = -1}}}};
    daemon_session_event(session, &event);
}

static void bar(int i)
{
    bar_of(0, i);
}

static void stream(void)
{
    struct event up = {.kind = EVENT_CONNECTION, .connection.up = true};
    daemon_session_event(session, &up);
}

static void done(void *ctx, const struct event_command *command, enum order_reason reason, uint64_t order_id)
{
    (void)ctx, (void)command, (void)order_id;
    CHECK_INT(reason, ORDER_OK);
}

static void start(const struct state_dir *state, int bars_before)
{
    session_open(state, see);
    session->hooks.command_done = done;
    session_begin(symbols, 1, START_NS + bars_before * MINUTE_NS);
    stream();
}

/* What the books say in the end. */
static struct engine_ids books(void)
{
    struct engine_ids ids;
    engine_ids(session->engine, &ids);
    return ids;
}

static void check_same_books(const struct engine_ids *a, const struct engine_ids *b)
{
    CHECK_INT(a->last_order, b->last_order);
    CHECK_INT(a->last_fill, b->last_fill);
    CHECK_INT(a->last_ledger, b->last_ledger);
    CHECK(memcmp(a->hash, b->hash, sizeof a->hash) == 0);
}

static struct engine_ids run_whole(const struct state_dir *state, const char *strategy)
{
    configure(strategy);
    start(state, 0);
    for (int i = 0; i < BARS; i++)
        bar(i);
    struct engine_ids ids = books();
    session_close();
    CHECK_INT(wrapped.hosts, 0);
    return ids;
}

/* As kill -9 when the host is asked: the bar is in the log, and no decision on it. */
static bool die(const struct strategy_request *request, struct strategy_decision *ret)
{
    (void)ret;
    if (wrapped.asked < KILLED_AT)
        return false;
    CHECK(request->acts);
    daemon_recorder_sync(session->log, session->seq);
    _exit(9);
}

static void test_killed(const struct state_dir *state, const struct engine_ids *expected)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        uv_loop_init(&loop);
        memset(&wrapped, 0, sizeof wrapped);
        wrapped.fails = die;
        run_whole(state, "exec:sma-cross");
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9);
    memset(&wrapped, 0, sizeof wrapped);
    configure("exec:sma-cross");
    session_open(state, see);
    session_begin(symbols, 1, START_NS + KILLED_AT * MINUTE_NS);
    CHECK_STR(session->recovery.from, "log");
    CHECK_INT(wrapped.asked, 1); /* the one that was waiting, and nothing else */
    CHECK_INT(engine_requests(session->engine), 0);
    stream();
    for (int i = KILLED_AT; i < BARS; i++)
        bar(i);
    struct engine_ids ids = books();
    session_close();
    check_same_books(&ids, expected);
}

/* ---- no decisions ---- */

static bool late(const struct strategy_request *request, struct strategy_decision *ret)
{
    (void)request;
    ret->outcome = STRATEGY_LATE;
    snprintf(ret->fault, sizeof ret->fault, "no answer within 250 ms");
    return true;
}

static const struct alert *open_alert(const char *code)
{
    size_t n;
    const struct alert *list = daemon_session_alerts(session, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].code, code) == 0)
            return &list[i];
    return NULL;
}

static void test_halted(const struct state_dir *state)
{
    memset(&wrapped, 0, sizeof wrapped);
    configure("exec:sma-cross");
    start(state, 0);
    CHECK_INT(wrapped.hosts, 1);
    for (int i = 0; i < 10; i++)
        bar(i);
    CHECK_INT(wrapped.asked, 10);
    wrapped.fails = late;
    bar(10);
    CHECK(open_alert("STRATEGY_LATE") && !open_alert("STRATEGY_HALTED"));
    bar(11);
    bar(12);
    const struct alert *halted = open_alert("STRATEGY_HALTED");
    CHECK(halted && halted->severity == DB_ERROR);
    CHECK_INT(wrapped.hosts, 0); /* it is not needed any more */
    bar(13);
    CHECK_INT(wrapped.asked, 13);
    wrapped.fails = NULL;
    struct event resume = {.kind = EVENT_COMMAND, .command = {.kind = COMMAND_ACCOUNT_RESUME}};
    daemon_session_event(session, &resume);
    CHECK(!open_alert("STRATEGY_HALTED") && !open_alert("STRATEGY_LATE"));
    while (engine_requests(session->engine) > 0) /* the recent bars, in turns of the loop */
        uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(wrapped.hosts, 1);
    CHECK_INT(wrapped.asked, 13 + 14);
    bar(14);
    CHECK_INT(wrapped.asked, 13 + 14 + 1);
    /* A new run asks again what was halted. */
    wrapped.fails = late;
    for (int i = 15; i < 18; i++)
        bar(i);
    CHECK(open_alert("STRATEGY_HALTED"));
    session_close();
    wrapped.fails = NULL;
    start(state, 18);
    CHECK(!open_alert("STRATEGY_HALTED"));
    CHECK(!engine_answers(session->engine, 0).halted);
    CHECK_INT(engine_answers(session->engine, 0).late, 6);
    session_close();
    CHECK_INT(wrapped.hosts, 0);
}

/* A host learns of the symbols when it is opened: of one that is added while it is open, too. */
static void test_symbol_added(const struct state_dir *state)
{
    struct symbol added = symbols[0];
    memset(&wrapped, 0, sizeof wrapped);
    configure("exec:sma-cross");
    start(state, 0);
    bar_of(0, 0);
    for (int i = 1; i < 3; i++) {
        snprintf(added.name, sizeof added.name, "X%dUSDT", i);
        snprintf(added.base, sizeof added.base, "X%d", i);
        CHECK_INT(daemon_session_add_symbol(session, &added, false), i);
        CHECK_INT(wrapped.hosts, 1);
        for (int s = 0; s <= i; s++)
            bar_of(s, i);
    }
    CHECK_INT(wrapped.asked, 1 + 2 + 3);
    session_close();
    CHECK_INT(wrapped.hosts, 0);
}

/* What --check-config says. */
static void test_configuration(void)
{
    char text[700] = "[account main]\nstrategy = exec:", long_one[STRATEGY_SOURCE_MAX + 1];
    fails("[account main]\nstrategy = exec:nonsense\n",
          ":2: [account main] strategy: nonsense: no such command");
    fails("[account main]\nstrategy = exec:\n",
          ":2: [account main] strategy: \"exec:\": a command follows: exec:python3 FILE.py");
    fails("[account main]\nstrategy = lib:mine.so\n",
          ":2: [account main] strategy: \"lib:mine.so\": this program is built without strategies of lib:");
    fails("[account main]\nstrategy = exec:sma-cross\nstrategy.fats = 3\n",
          ":3: [account main] strategy.fats: unknown key: did you mean fast?");
    fails("[account main]\nstrategy = exec:sma-cross\nstrategy.fast = 9\nstrategy.slow = 4\n",
          ":3: [account main] strategy.fast: fewer bars than slow are needed");
    fails("[engine]\nstrategy_limit_ms = 0\n",
          ":2: [engine] strategy_limit_ms: \"0\": a number from 1 to 10000 is needed");
    memset(long_one, 'x', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", long_one);
    CHECK_INT(read_text(text, &config), -EINVAL);
    configure("exec:sma-cross");
    CHECK_STR(config.accounts[0].strategy->name, "exec:sma-cross");
    CHECK_INT(config.strategy_limit_ns, 250 * SECOND_NS / 1000);
    round_trip(&config);
}

static void check_read(const char *text, int r, const char *expected)
{
    CHECK_INT(read_text(text, &config), r);
    CHECK_STR(error, expected);
}

/* What another start may not find again is no bad configuration, unless there is more that is wrong. And of a
 * strategy that is not known, its parameters are not said to be unknown. */
static void test_late(void)
{
#define PROCESS "[account main]\nstrategy = exec:sma-cross\nstrategy.period = 3\nstrategy.nonsense = 4\n"
    wrapped.opens_with = -ETIMEDOUT;
    check_read(PROCESS, -ETIMEDOUT, ":2: [account main] strategy: sma-cross: Connection timed out");
    check_read(PROCESS "cash = x\n", -EINVAL,
               ":2: [account main] strategy: sma-cross: Connection timed out\n"
               ":5: [account main] cash: \"x\": a number from 0 to 10000000000 is needed");
    wrapped.opens_with = -EPIPE;
    check_read(PROCESS, -EINVAL, ":2: [account main] strategy: sma-cross: Broken pipe");
    wrapped.opens_with = 0;
    check_read("[account main]\nstrategy = exec:nonsense\nstrategy.period = 3\n"
               "[account other]\nstrategy.period = 3\n",
               -EINVAL,
               ":2: [account main] strategy: nonsense: no such command\n"
               ":5: [account other] strategy.period: unknown key: one of "
               "fast, slow, rsi, rsi_max, atr, stop_atr, fraction, average, direction is needed");
#undef PROCESS
#define PROCESS "[account main]\nstrategy = exec:sma-cross\n"
    wrapped.refuses = strategy_unanswered;
    check_read(PROCESS, -ETIMEDOUT, ":2: [account main] strategy: it does not answer hello within 10 s");
    check_read(PROCESS "strategy = none\n", -EINVAL, ":3: [account main] strategy: already set in line 2");
    wrapped.refuses = "no"; /* a process may say anything */
    check_read(PROCESS, -EINVAL, ":2: [account main] strategy: no");
    wrapped.refuses = "about fast: no";
    check_read(PROCESS, -EINVAL, ":2: [account main] strategy: about fast: no");
    wrapped.refuses = NULL;
#undef PROCESS
}

static bool make_state(char path[static SCRATCH_MAX], struct state_dir *ret)
{
    char err[SESSION_ERROR_MAX];
    scratch_make(path);
    return db_state_dir_find(path, ret, err, sizeof err) == 0 &&
           db_state_dir_create(ret, err, sizeof err) == 0;
}

int main(void)
{
    static char paths[5][SCRATCH_MAX];
    static struct state_dir states[5];
    struct random random = random_seeded("daemon/session_strategies", 41);
    closes[0] = 60000 * UNIT;
    for (int i = 0; i < BARS; i++)
        closes[i + 1] = closes[i] + random_between(&random, -120, 120) * UNIT;
    for (int i = 0; i < 5; i++)
        CHECK(make_state(paths[i], &states[i]));
    test_configuration();
    test_late();
    uv_loop_init(&loop);
    struct engine_ids called = run_whole(&states[0], "sma-cross");
    struct engine_ids asked = run_whole(&states[1], "exec:sma-cross");
    CHECK(called.last_fill > 10 && wrapped.asked == BARS);
    check_same_books(&asked, &called);
    test_killed(&states[2], &called);
    test_halted(&states[3]);
    test_symbol_added(&states[4]);
    uv_loop_close(&loop);
    return check_done("daemon/session_strategies");
}
