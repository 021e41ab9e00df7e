/* Strategies that are processes, with one that misbehaves (tests/strategy/misbehaving.py): each fault is one
 * outcome with one clause, and what follows is as if nothing had been. test-process PYTHON MISBEHAVING */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/symbol.h"
#include "strategy/external.h"
#include "strategy/process/child.h"
#include "strategy/record.h"
#include "tests/check.h"
#include "tests/scratch.h"

enum { MINUTE_S = 60, SHORT_MS = 150, LONG_MS = 20000, BARS_MAX = 16 };
#define S INT64_C(1000000000)

static const char *python, *program;

static const struct symbol symbols[] = {
    {.name = "BTCUSDT", .base = "BTC", .quote = "USDT", .price_scale = 2, .qty_scale = 5, .quote_scale = 8},
    {.name = "ETHUSDT", .base = "ETH", .quote = "USDT", .price_scale = 2, .qty_scale = 5, .quote_scale = 8},
};

/* A strategy, its host, and what it said last. */
struct world {
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    struct strategy_host *host;
    struct strategy_decision decision;
    int minute;
    char said[1024]; /* lines of its standard error, with a | behind each */
};

static const char *command(const char *mode, const char *argument)
{
    static char text[STRATEGY_SOURCE_MAX];
    snprintf(text, sizeof text, "exec:%s -IS %s %s %s%s%s", python, program, mode, argument ? "'" : "",
             argument ? argument : "", argument ? "'" : "");
    return text;
}

static void says(void *ctx, const char *line)
{
    struct world *w = ctx;
    size_t len = strlen(w->said);
    snprintf(w->said + len, sizeof w->said - len, "%s|", line);
}

static int open_host(struct world *w, int limit_ms, char *err, size_t err_size)
{
    const struct strategy_hello hello = {.account = "main",
                                         .currency = "USDT",
                                         .symbols = symbols,
                                         .n_symbols = 2,
                                         .interval_ns = MINUTE_S * S,
                                         .limit_ns = limit_ms * INT64_C(1000000),
                                         .says = says,
                                         .ctx = w};
    return strategy_host_open(w->strategy, w->params, &hello, &w->host, err, err_size);
}

static void world_open(struct world *w, const char *mode, const char *argument, int limit_ms)
{
    char err[256] = "";
    *w = (struct world){0};
    CHECK_INT(strategy_open(command(mode, argument), &w->strategy, err, sizeof err), 0);
    CHECK_STR(err, "");
    strategy_defaults(w->strategy, w->params);
    CHECK_INT(open_host(w, limit_ms, err, sizeof err), 0);
    CHECK_STR(err, "");
}

/* The next bar, of a symbol, that closes at `close`. */
static void bar_of(struct world *w, int symbol, int close, bool acts)
{
    static const struct strategy_record record;
    static const double indicators[] = {NAN};
    struct strategy_request request = {.symbol = symbol,
                                       .bar = {.open_ns = w->minute * MINUTE_S * S,
                                               .open = 100,
                                               .high = 100 * close,
                                               .low = 100,
                                               .close = 100 * close,
                                               .volume = 1},
                                       .acts = acts,
                                       .input = {.record = &record, .indicators = indicators},
                                       .n_indicators = 1};
    w->minute++;
    strategy_host_decide(w->host, &request, &w->decision);
}

static void bar(struct world *w, int close)
{
    bar_of(w, 0, close, true);
}

/* It entered, and had seen that much history and this state before. */
static void check_entered(const struct world *w, const char *why)
{
    const struct strategy_decision *d = &w->decision;
    CHECK_STR(d->fault, "");
    CHECK_INT(d->outcome, STRATEGY_DECIDED);
    CHECK_INT(d->n, 1);
    CHECK(d->n == 1 && d->intents[0].kind == INTENT_ENTER && d->intents[0].fraction == 0.5);
    CHECK_STR(d->intents[0].why, why);
}

static void check_failed(const struct world *w, enum strategy_outcome outcome, const char *fault)
{
    CHECK_INT(w->decision.outcome, outcome);
    CHECK_STR(w->decision.fault, fault);
    CHECK_INT(w->decision.n, 0);
    CHECK(!w->decision.keeps);
}

static void world_close(struct world *w)
{
    strategy_host_close(w->host);
}

/* ---- what goes well ---- */

static void test_good(void)
{
    struct world w;
    world_open(&w, "good", NULL, LONG_MS);
    CHECK_INT(w.strategy->external->form, STRATEGY_PROCESS);
    CHECK_STR(w.strategy->external->title, "misbehaving");
    CHECK_STR(w.strategy->summary, "for a test");
    CHECK_STR(w.strategy->name, command("good", NULL));
    CHECK_INT(w.strategy->n_params, 3);
    CHECK_STR(w.strategy->params[0].name, "fast");
    CHECK(w.strategy->params[0].integer && !w.strategy->params[1].integer);
    CHECK_STR(w.strategy->params[2].words, "sma ema");
    bar_of(&w, 0, 1, false);
    check_entered(&w, "1 null");
    bar_of(&w, 1, 5, false);
    check_entered(&w, "2 null");
    bar(&w, 2);
    check_entered(&w, "2 {\"closed\": 1}");
    CHECK(w.decision.keeps);
    CHECK(w.decision.state.len == 13 && memcmp(w.decision.state.bytes, "{\"closed\": 2}", 13) == 0);
    bar_of(&w, 1, 6, true);
    check_entered(&w, "2 {\"closed\": 5}");
    world_close(&w);
}

/* A symbol that its hello did not have. */
static void test_unknown_symbol(void)
{
    struct world w;
    world_open(&w, "good", NULL, LONG_MS);
    bar_of(&w, 2, 100, true);
    check_failed(&w, STRATEGY_INVALID, "the bar is of a symbol that was added after it was started");
    bar(&w, 100);
    CHECK_INT(w.decision.outcome, STRATEGY_DECIDED);
    world_close(&w);
}

/* The engine's state of a former host; the same command is the same strategy. */
static void test_state(void)
{
    const struct strategy *again;
    const struct strategy_kept states[2] = {{.bytes = "[1, 2]", .len = 6}};
    struct world w;
    char err[256];
    world_open(&w, "good", NULL, LONG_MS);
    CHECK_INT(strategy_open(command("good", NULL), &again, err, sizeof err), 0);
    CHECK(again == w.strategy);
    CHECK(strategy_find(w.strategy->name) == again);
    world_close(&w);
    const struct strategy_hello hello = {.account = "main",
                                         .currency = "USDT",
                                         .symbols = symbols,
                                         .n_symbols = 2,
                                         .interval_ns = MINUTE_S * S,
                                         .limit_ns = LONG_MS * INT64_C(1000000),
                                         .live = true,
                                         .states = states};
    CHECK_INT(strategy_host_open(w.strategy, w.params, &hello, &w.host, err, sizeof err), 0);
    bar(&w, 1);
    check_entered(&w, "0 [1, 2]");
    bar_of(&w, 1, 1, true);
    check_entered(&w, "0 null");
    world_close(&w);
}

static void test_params(void)
{
    struct world w;
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT], err[256];
    world_open(&w, "good", NULL, LONG_MS);
    CHECK(!strategy_check(w.strategy, w.params));
    CHECK_INT(strategy_specs(w.strategy, w.params, specs), 1);
    CHECK_STR(specs[0], "sma:10");
    CHECK_INT(strategy_set(w.strategy, w.params, "average", "ema", NULL), 0);
    for (int fast = 40; fast > 0; fast--) { /* more than it remembers */
        char expected[16];
        w.params[0] = fast;
        snprintf(expected, sizeof expected, "ema:%d", fast);
        if (fast == 13) {
            CHECK_STR(strategy_check(w.strategy, w.params), "fast: not 13");
            CHECK(strategy_specs(w.strategy, w.params, specs) == STRATEGY_SPECS_UNKNOWN);
            continue;
        }
        CHECK(!strategy_check(w.strategy, w.params));
        CHECK_INT(strategy_specs(w.strategy, w.params, specs), 1);
        CHECK_STR(specs[0], expected);
    }
    world_close(&w);
    w.params[0] = 13;
    CHECK_INT(open_host(&w, LONG_MS, err, sizeof err), -EINVAL);
    CHECK_STR(err, "fast: not 13");
}

/* The engine shows the bars once more. */
static void test_again(void)
{
    struct world w;
    world_open(&w, "good", NULL, LONG_MS);
    bar(&w, 1);
    bar(&w, 3);
    check_entered(&w, "0 {\"closed\": 1}");
    w.minute = 0;
    bar_of(&w, 0, 1, false);
    CHECK_INT(w.decision.outcome, STRATEGY_DECIDED);
    world_close(&w);
}

/* ---- faults of an answer: the process lives on ---- */

static void test_answers(void)
{
    static const char *const faults[] = {
        "what it wrote is no JSON object: ??garbage",
        "what it wrote is no JSON object (JSON has no NaN and no Infinity): {\"type\": \"intents\", "
        "\"bar\": 1860000000000",
        "kind \"buy\" of an intent: enter, short, exit, stop, target, order or cancel is needed",
        "its answer is of another bar or symbol",
        "it failed: NameError: x",
        "its state has 70002 bytes: at most 65536 can be",
        "its answer is longer than 131072 bytes", /* 10 MiB, and then the answer, which comes too late */
    };
    struct world w;
    world_open(&w, "garbage,nan,kind,other,error,state,long,many", NULL, LONG_MS);
    for (int i = 0; i < (int)(sizeof faults / sizeof *faults); i++) {
        char seen[64];
        w.minute = 10 * (i + 1) + 10;
        bar(&w, 1);
        snprintf(seen, sizeof seen, i == 0 ? "0 null" : "0 {\"closed\": %d}", i + 1);
        check_entered(&w, seen);
        bar(&w, i + 2);
        check_failed(&w, STRATEGY_INVALID, faults[i]);
    }
    bar(&w, 9);
    CHECK_INT(w.decision.outcome, STRATEGY_DECIDED);
    CHECK_INT(w.decision.n, 20); /* the engine refuses them */
    world_close(&w);
}

/* It wrote before it was asked. */
static void test_early(void)
{
    struct world w;
    world_open(&w, "early", NULL, LONG_MS);
    bar(&w, 1);
    check_failed(&w, STRATEGY_INVALID, "it wrote a line that it was not asked for");
    bar(&w, 3);
    check_entered(&w, "0 {\"closed\": 1}");
    world_close(&w);
}

/* ---- late ---- */

static void open_gate(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    close(fd);
}

static void test_hang(void)
{
    struct world w;
    const char *gate = scratch_path("gate");
    CHECK_INT(mkfifo(gate, 0600), 0);
    world_open(&w, "hang", gate, SHORT_MS);
    int64_t limit_ns = SHORT_MS * INT64_C(1000000), before_ns = 0;
    while (w.decision.n == 0) /* a busy machine may be late here already */
        bar(&w, 1);
    before_ns = clock_now_ns();
    bar(&w, 2);
    CHECK(clock_now_ns() - before_ns >= limit_ns);
    check_failed(&w, STRATEGY_LATE, "no answer within 150 ms");
    bar(&w, 3);
    check_failed(&w, STRATEGY_LATE, "no answer within 150 ms");
    bar_of(&w, 0, 4, false); /* an answer that does not count is not waited for */
    check_failed(&w, STRATEGY_LATE, "it is still at an earlier bar");
    open_gate(gate);
    char state[32] = "";
    for (int i = 10; i < 200 && w.decision.n == 0; i++) {
        bar(&w, i);
        snprintf(state, sizeof state, "{\"closed\": %d}", i);
    }
    CHECK_INT(w.decision.outcome, STRATEGY_DECIDED); /* its own answer, not one of those before */
    CHECK(w.decision.state.len == strlen(state) && memcmp(w.decision.state.bytes, state, strlen(state)) == 0);
    world_close(&w);
}

static void test_half(void)
{
    struct world w;
    world_open(&w, "half", NULL, SHORT_MS);
    while (w.decision.n == 0)
        bar(&w, 1);
    bar(&w, 2);
    check_failed(&w, STRATEGY_LATE, "no answer within 150 ms");
    bar(&w, 3); /* the rest of that line is this answer: one line that is none */
    CHECK(w.decision.outcome != STRATEGY_DECIDED);
    for (int i = 0; i < 200 && w.decision.n == 0; i++)
        bar(&w, 10);
    CHECK_INT(w.decision.outcome, STRATEGY_DECIDED);
    world_close(&w);
}

/* ---- ended ---- */

static void test_exit(const char *mode, const char *fault)
{
    struct world w;
    char marker[64];
    snprintf(marker, sizeof marker, "marker-%s", mode);
    world_open(&w, mode, scratch_path(marker), LONG_MS);
    bar(&w, 1);
    bar_of(&w, 1, 7, true);
    bar(&w, 2);
    check_failed(&w, STRATEGY_ENDED, fault);
    CHECK_STR(w.said, strcmp(mode, "exit") == 0 ? "some words|The last words|" : "");
    bar(&w, 3); /* again, with its states, and the bar that it did not answer */
    check_entered(&w, "1 {\"closed\": 2}");
    bar_of(&w, 1, 8, true);
    check_entered(&w, "1 {\"closed\": 7}");
    world_close(&w);
}

static void test_close(void)
{
    struct world w;
    world_open(&w, "close", NULL, LONG_MS);
    bar(&w, 2);
    check_failed(&w, STRATEGY_ENDED, "it closed its standard output");
    bar(&w, 2);
    check_failed(&w, STRATEGY_ENDED, "it closed its standard output");
    bar(&w, 2);
    check_failed(&w, STRATEGY_ENDED, "it has ended, and is started again in 1 s");
    world_close(&w);
}

/* Its own child holds the pipes, and a lock until it is ended as well. */
static void test_fork(void)
{
    struct world w;
    char lock[SCRATCH_PATH_MAX];
    snprintf(lock, sizeof lock, "%s", scratch_path("lock"));
    world_open(&w, "fork", lock, LONG_MS);
    unlink(lock);
    bar(&w, 2);
    check_failed(&w, STRATEGY_ENDED, "it ended with status 0");
    int fd = open(lock, O_RDWR | O_CLOEXEC);
    alarm(60);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    alarm(0);
    close(fd);
    world_close(&w);
}

/* One that answers nothing, not even the end of its input or SIGTERM. */
static void test_deaf(void)
{
    struct world w;
    world_open(&w, "deaf", NULL, SHORT_MS);
    bar(&w, 2);
    check_failed(&w, STRATEGY_LATE, "no answer within 150 ms");
    world_close(&w);
}

/* ---- opening ---- */

static void check_refused(const char *name, const char *error)
{
    const struct strategy *strategy = NULL;
    char err[400] = "", expected[700];
    CHECK(strategy_open(name, &strategy, err, sizeof err) < 0);
    snprintf(expected, sizeof expected, "\"%.65s\": %s", name, error);
    CHECK_STR(err, expected);
    CHECK(!strategy);
}

/* A command that writes this line. */
static void check_described(const char *line, const char *error)
{
    char name[STRATEGY_SOURCE_MAX];
    snprintf(name, sizeof name, "exec:printf '%%s\\n' '%s'", line);
    check_refused(name, error);
}

#define DESCRIBED "{\"type\":\"strategy\",\"protocol\":1,\"name\":\"a\""

static void test_refused(void)
{
    static const struct {
        const char *line, *error;
    } lines[] = {
        {"", "the first line is no JSON object"},
        {"[]", "the first line is no JSON object"},
        {"{}", "the first line is no description: {\"type\":\"strategy\", ...} is needed"},
        {"{\"type\":\"error\",\"text\":\"no\"}", "it failed: no"},
        {"{\"type\":\"strategy\",\"protocol\":2}",
         "\"protocol\" is not 1, the only one that this program speaks"},
        {"{\"type\":\"strategy\",\"protocol\":1}", "\"name\" is no text of at most 63 bytes"},
        {"{\"type\":\"strategy\",\"protocol\":1,\"name\":\"A b\"}",
         "\"name\" A b: a to z, then 0 to 9 and - as well, make a name"},
        {DESCRIBED ",\"parms\":[]}",
         "the description has \"parms\", which is not known: it has type protocol "
         "name summary params history shorts needs_shorts peers together symbols_min "},
        {DESCRIBED ",\"history\":-1}", "\"history\" is no number of bars from 0 to 100000"},
        {DESCRIBED ",\"together\":1}", "\"together\" is not true or false"},
        {DESCRIBED ",\"symbols_min\":-1}", "\"symbols_min\" is no number of symbols from 0 to 4096"},
        {DESCRIBED ",\"params\":{}}", "\"params\" is no array"},
        {DESCRIBED ",\"params\":[{\"name\":\"x\"}]}", "parameter x: \"default\" is no number"},
        {DESCRIBED ",\"params\":[{\"name\":\"x\",\"default\":5,\"min\":6,\"max\":7}]}",
         "parameter x: \"default\" 5 is not between \"min\" 6 and \"max\" 7"},
        {DESCRIBED ",\"params\":[{\"name\":\"x\",\"default\":1.5,\"min\":0,\"max\":7,\"integer\":true}]}",
         "parameter x: \"default\" 1.5 is not whole"},
        {DESCRIBED ",\"params\":[{\"name\":\"x\",\"default\":1,\"min\":0,\"max\":7},"
                   "{\"name\":\"x\",\"default\":1,\"min\":0,\"max\":7}]}",
         "parameter x is there twice"},
        {DESCRIBED ",\"params\":[{\"name\":\"x\",\"default\":\"c\",\"words\":[\"a\",\"b\"]}]}",
         "parameter x: \"default\" is none of its \"words\""},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_described(lines[i].line, lines[i].error);
    check_refused("exec:/nonexistent/program",
                  "/nonexistent/program cannot be started: No such file or directory");
    check_refused("exec:/bin/true", "it does not describe itself: it ended with status 0");
    check_refused(
        "exec:a 'b",
        "a program and its arguments are needed, at most 511 bytes in 63 words, with quotes in pairs");
    check_refused("exec:", "a command follows: exec:python3 FILE.py");
}

static void test_not_ready(void)
{
    struct world w = {0};
    char expected[100];
    char err[256], specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    CHECK_INT(strategy_open(command("ready", "{\"type\":\"ready\",\"indicators\":[1]}"), &w.strategy, err,
                            sizeof err),
              0);
    snprintf(expected, sizeof expected, "indicator 1 is no text of at most %d bytes, as \"sma:20\"",
             STRATEGY_SPEC_TEXT - 1);
    strategy_defaults(w.strategy, w.params);
    CHECK(strategy_specs(w.strategy, w.params, specs) == STRATEGY_SPECS_UNKNOWN);
    CHECK_STR(strategy_check(w.strategy, w.params), expected);
    CHECK(open_host(&w, LONG_MS, err, sizeof err) < 0);
    CHECK_STR(err, expected);
}

/* A line of 10 MiB that is read whole, in parts, and what the child is given while it does not read. */
static void test_child(void)
{
    struct strategy_child *child;
    char err[256], how[160], *big = malloc(1 << 20);
    const char *line;
    size_t len;
    CHECK_INT(strategy_child_start("cat", NULL, &child, err, sizeof err), 0);
    memset(big, 'x', 1 << 20);
    big[(1 << 20) - 1] = '\n';
    for (int i = 0; i < 8; i++) /* more than pipes take */
        CHECK_INT(strategy_child_send(child, big, 1 << 20), 0);
    CHECK_INT(strategy_child_send(child, "short\n", 6), 0);
    int64_t until_ns = clock_now_ns() + LONG_MS * INT64_C(1000000);
    for (int i = 0; i < 8; i++)
        CHECK_INT(strategy_child_read(child, until_ns, &line, &len), CHILD_LONG);
    CHECK_INT(strategy_child_read(child, until_ns, &line, &len), CHILD_LINE);
    CHECK_STR(line, "short");
    CHECK_INT(strategy_child_read(child, 0, &line, &len), CHILD_NOTHING);
    strategy_child_end(child, false, how, sizeof how);
    CHECK_STR(how, "it ended with status 0");
    free(big);
    /* limits, and nothing of ours is open there */
    CHECK_INT(strategy_child_start("sh -c 'ulimit -v; ulimit -c; ls /proc/self/fd | wc -l; kill -9 $$'", NULL,
                                   &child, err, sizeof err),
              0);
    CHECK_INT(strategy_child_read(child, until_ns, &line, &len), CHILD_LINE);
    CHECK_STR(line, "2097152");
    CHECK_INT(strategy_child_read(child, until_ns, &line, &len), CHILD_LINE);
    CHECK_STR(line, "0");
    CHECK_INT(strategy_child_read(child, until_ns, &line, &len), CHILD_LINE);
    CHECK_STR(line, "4");
    CHECK_INT(strategy_child_read(child, until_ns, &line, &len), CHILD_ENDED);
    strategy_child_end(child, false, how, sizeof how);
    CHECK_STR(how, "signal 9 ended it");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return EXIT_FAILURE;
    python = argv[1];
    program = argv[2];
    test_child();
    test_good();
    test_unknown_symbol();
    test_state();
    test_params();
    test_again();
    test_answers();
    test_early();
    test_hang();
    test_half();
    test_exit("exit", "it ended with status 3: The last words");
    test_exit("die", "signal 9 ended it");
    test_close();
    test_fork();
    test_deaf();
    test_refused();
    test_not_ready();
    return check_done("strategy/process");
}
