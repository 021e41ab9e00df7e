/* How long an order waits until it is kept: engine_commits FOLDER. bench/engine runs it. FOLDER is on a real
 * disk.
 *
 * The daemon's own way without its sockets: orders by hand come at fixed moments, RATES a second, between
 * quotes; daemon_session_event() stamps, records and carries out; the log's thread writes and syncs the
 * event, the database's thread commits order, fill and ledger rows after it, and the loop hears of it: only
 * then is the order acknowledged. A latency counts from the order's due moment. Rows are gathered for the
 * default 5 ms.
 *
 * On standard output a line a figure: case, value, unit between tabs: commit_R_Q for R orders/s and Q p50,
 * p99, max; commit_R_rate: orders/s that were acknowledged.
 *
 * Prediction: one sync of the log and one of the database's WAL, 1 ms each on this disk, one after the other,
 * and up to 5 ms of gathering where the commit before is not older: at 10/s 2.5 ms at p50, at 1,000/s, where
 * the next group waits always, 7 ms; p99 twice as much. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "bench/frames.h"
#include "daemon/log.h"
#include "daemon/session.h"
#include "engine/event.h"

enum { CLOSE_TIMEOUT_MS = 30000, RUN_S = 5, QUANTILES = 3 };

#define SECOND_NS 1000000000LL
#define E8        100000000LL

struct waiting {
    uint64_t ticket;
    int64_t due_ns;
};

struct run {
    uv_loop_t loop;
    struct session *session;
    struct waiting *waiting;
    int64_t *latencies;
    size_t first, n, acknowledged;
    uint64_t refused, quote_id;
};

_Noreturn static void die(const char *what, const char *why)
{
    fprintf(stderr, "engine_commits: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void committed(void *ctx, uint64_t ticket)
{
    struct run *run = ctx;
    int64_t now_ns = frames_clock_ns();
    for (; run->first < run->n && run->waiting[run->first].ticket <= ticket; run->first++)
        run->latencies[run->acknowledged++] = now_ns - run->waiting[run->first].due_ns;
}

static void need_snapshot(void *ctx, int symbol)
{
    (void)ctx, (void)symbol;
}

static void need_bars(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    (void)ctx, (void)symbol, (void)from_open_ns, (void)to_open_ns;
}

static void command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id)
{
    struct run *run = ctx;
    (void)command, (void)order_id;
    run->refused += reason != ORDER_OK;
}

static void give_quote(struct run *run)
{
    struct event event = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_QUOTE,
                   .quote = {++run->quote_id, 60000 * E8, 1000 * E8, 60001 * E8, 1000 * E8}}};
    daemon_session_event(run->session, &event);
}

/* Buys and sells in turn, so that the money lasts. */
static void give_order(struct run *run, size_t i, int64_t due_ns)
{
    struct event event = {.kind = EVENT_COMMAND,
                          .command = {.kind = COMMAND_ORDER,
                                      .command_id = daemon_session_command_id(run->session),
                                      .args = "{}"}};
    struct order leg = {.side = i % 2 ? ORDER_SELL : ORDER_BUY,
                        .type = ORDER_LIMIT,
                        .qty = E8 / 1000,
                        .price = i % 2 ? 60000 * E8 : 60001 * E8,
                        .by_hand = true};
    event.command.order.legs = &leg;
    event.command.order.n_legs = 1;
    daemon_session_event(run->session, &event);
    run->waiting[run->n++] = (struct waiting){db_writer_last(daemon_session_writer(run->session)), due_ns};
}

/* Asleep in poll(), as the daemon, and awake for the writer's news. */
static void wait_until(uv_loop_t *loop, int64_t due_ns)
{
    struct pollfd fd = {.fd = uv_backend_fd(loop), .events = POLLIN};
    for (int64_t left; (left = due_ns - frames_clock_ns()) > 0;) {
        struct timespec timeout = {.tv_sec = left / SECOND_NS, .tv_nsec = left % SECOND_NS};
        if (ppoll(&fd, 1, &timeout, NULL) > 0)
            uv_run(loop, UV_RUN_NOWAIT);
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print(const struct run *run, int rate, int64_t elapsed_ns)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[QUANTILES] = {{"p50", 0.5}, {"p99", 0.99}, {"max", 1}};
    qsort(run->latencies, run->acknowledged, sizeof *run->latencies, by_value);
    for (int i = 0; i < QUANTILES; i++) {
        size_t at = (size_t)(quantiles[i].q * (double)(run->acknowledged - 1) + 0.5);
        printf("commit_%d_%s\t%.9f\ts\n", rate, quantiles[i].name, 1e-9 * (double)run->latencies[at]);
    }
    printf("commit_%d_rate\t%.1f\torders/s\n", rate, 1e9 * (double)run->acknowledged / (double)elapsed_ns);
}

static void play(struct run *run, int rate)
{
    size_t n = (size_t)rate * RUN_S;
    int64_t begin_ns = frames_clock_ns() + SECOND_NS / 10;
    uv_run(&run->loop, UV_RUN_NOWAIT); /* registers its handles with the descriptor that is polled */
    for (size_t i = 0; i < n; i++) {
        int64_t due_ns = begin_ns + (int64_t)i * SECOND_NS / rate;
        wait_until(&run->loop, due_ns);
        give_order(run, i, due_ns);
        give_quote(run);
    }
    while (run->first < run->n)
        uv_run(&run->loop, UV_RUN_ONCE);
    print(run, rate, frames_clock_ns() - begin_ns);
}

static void measure(const struct daemon_config *config, int rate, const char *folder)
{
    char err[SESSION_ERROR_MAX], path[STATE_PATH_MAX];
    struct state_dir state;
    size_t n = (size_t)rate * RUN_S;
    struct run run = {.waiting = malloc(n * sizeof *run.waiting),
                      .latencies = malloc(n * sizeof *run.latencies)};
    struct session_hooks hooks = {.ctx = &run,
                                  .need_snapshot = need_snapshot,
                                  .need_bars = need_bars,
                                  .command_done = command_done,
                                  .committed = committed};
    snprintf(path, sizeof path, "%s/commits-%d", folder, rate);
    if (!run.waiting || !run.latencies || uv_loop_init(&run.loop) < 0)
        die("loop", strerror(ENOMEM));
    if (db_state_dir_find(path, &state, err, sizeof err) < 0 ||
        db_state_dir_create(&state, err, sizeof err) < 0 ||
        daemon_session_open(&run.loop, config, &state, &hooks, &run.session, err, sizeof err) < 0 ||
        daemon_session_begin(run.session, &frames_symbol, 1, 0, err, sizeof err) < 0)
        die(path, err);
    struct event up = {.kind = EVENT_CONNECTION, .connection.up = true};
    daemon_session_event(run.session, &up);
    give_quote(&run);
    play(&run, rate);
    const struct engine_counters *counters = engine_counters(daemon_session_engine(run.session));
    fprintf(stderr, "engine_commits: %d orders/s: %llu orders, %llu refused, %llu fills\n", rate,
            (unsigned long long)counters->orders, (unsigned long long)run.refused,
            (unsigned long long)counters->fills);
    if (daemon_session_close(run.session, CLOSE_TIMEOUT_MS, err, sizeof err) < 0)
        die(path, err);
    uv_run(&run.loop, UV_RUN_DEFAULT);
    uv_loop_close(&run.loop);
    free(run.waiting);
    free(run.latencies);
}

int main(int argc, char **argv)
{
    static const int rates[] = {10, 100, 1000};
    if (argc != 2) {
        fputs("usage: engine_commits FOLDER\n", stderr);
        return 2;
    }
    struct daemon_config *config = malloc(sizeof *config);
    if (!config)
        die("configuration", strerror(ENOMEM));
    daemon_config_defaults(config);
    config->n_symbols = 1;
    config->latency_ns = 0;
    config->risk = (struct risk_limits){0};
    config->accounts[0].strategy = NULL;
    daemon_log_init(LOG_LEVEL_ERROR);
    mkdir(argv[1], 0750);
    prctl(PR_SET_TIMERSLACK, 1); /* orders come when they come, not 50 us later */
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        measure(config, rates[i], argv[1]);
    free(config);
    return EXIT_SUCCESS;
}
