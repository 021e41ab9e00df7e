/* From a frame to the decision on it: feed_decision FOLDER [FILE]. bench/feed runs it.
 *
 * Frames arrive at a fixed rate whatever happens: each has its moment, and its latency counts from that
 * moment, so what waits behind a slow one is counted too (no coordinated omission). The way is papertaped's
 * own, in one process after TLS and the websocket: asleep in poll() until a frame is due, then
 * binance_parse() and daemon_session_event() (engine, sma-cross-rsi on bars of a second, paper exchange, rows
 * for the database's queue). The writer's thread commits to a real file in FOLDER. FILE is a recording (none:
 * the synthetic market), served with klines as papertape-replay would; its own times are the engine's clock.
 *
 * A line a figure goes to standard output: case, value, unit, limit between tabs. For R = 5,000 and 50,000
 * frames/s and quantiles Q:
 * - decision_R_Q: arrival to decision, of all frames; the limit is 1 ms at p99
 * - decision_bar_R_Q: of the frames that close a bar, on which the strategy is asked
 * - commit_R_Q: from a row's being queued until the loop hears that it is on the disk: what an
 *   acknowledgement waits for. Rows are gathered for the configured 5 ms
 * - core_wait_R: seconds a second that the loop was ready to run while others had the cores. An idle machine
 *   has next to none; where there is much, the latencies above are the neighbours'
 * - …_fifo_…: the same with real-time priority, where that is allowed: what is left when no other process
 *   takes the core away
 *
 * Prediction: waking up takes 10 to 20 us (a timer's interrupt in a virtual machine), a frame 0.5 us, one
 * that closes a bar 10 us; so p50 15 us at both rates, and p99 below 100 us on an idle machine. At 50,000
 * frames/s waking takes about as long as the 20 us between frames, so two or three are handled at once. A
 * commit: 2.5 ms gathering on average, the file's sync 1 to 3 ms: 5 ms at p50. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "bench/frames.h"
#include "daemon/log.h"
#include "daemon/session.h"
#include "engine/event.h"
#include "exchange/binance/format.h"
#include "exchange/binance/rest_parse.h"

enum {
    CLOSE_TIMEOUT_MS = 30000,
    FIFO_PRIORITY = 10,
    SYNTHETIC_S = 300,
    QUANTILES = 4,
};

#define SECOND_NS  1000000000LL
#define P99_NS_MAX 1000000 /* the promise */

struct sample {
    int64_t *values;
    size_t n, cap;
};

/* Rows that wait for their commit, in order. */
struct waiting {
    uint64_t ticket;
    int64_t queued_ns;
};

struct run {
    uv_loop_t loop;
    struct session *session;
    struct venue_parser *parser;
    struct waiting *waiting;
    size_t first_waiting, n_waiting;
    struct sample all, bars, commits;
};

_Noreturn static void die(const char *what, const char *why)
{
    fprintf(stderr, "feed_decision: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void sample_reserve(struct sample *sample, size_t cap)
{
    sample->values = malloc(cap * sizeof *sample->values);
    sample->cap = cap;
    if (!sample->values)
        die("samples", strerror(ENOMEM));
}

static void sample_add(struct sample *sample, int64_t value)
{
    if (sample->n < sample->cap)
        sample->values[sample->n++] = value;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sample_print(const char *name, const char *priority, int rate, struct sample *sample,
                         int64_t p99_max)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[QUANTILES] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};
    if (sample->n == 0)
        die(name, "nothing was measured");
    qsort(sample->values, sample->n, sizeof *sample->values, by_value);
    for (int i = 0; i < QUANTILES; i++) {
        size_t at = (size_t)(quantiles[i].q * (double)(sample->n - 1) + 0.5);
        printf("%s%s_%d_%s\t%.9f\ts\t", name, priority, rate, quantiles[i].name,
               1e-9 * (double)sample->values[at]);
        if (p99_max && quantiles[i].q == 0.99)
            printf("%.9f", 1e-9 * (double)p99_max);
        putchar('\n');
    }
}

/* --- the daemon's way, without its sockets */

static void committed(void *ctx, uint64_t ticket)
{
    struct run *run = ctx;
    int64_t now_ns = frames_clock_ns();
    for (; run->first_waiting < run->n_waiting && run->waiting[run->first_waiting].ticket <= ticket;
         run->first_waiting++)
        sample_add(&run->commits, now_ns - run->waiting[run->first_waiting].queued_ns);
}

/* The snapshot comes in its place among the frames; the recording has what else would be asked for. */
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
    (void)ctx, (void)command, (void)reason, (void)order_id;
}

static void handle_snapshot(struct run *run, const char *text, size_t len)
{
    static struct book_level bids[FRAMES_LEVELS_MAX], asks[FRAMES_LEVELS_MAX];
    struct event event = {.kind = EVENT_SNAPSHOT, .snapshot = {.bids = bids, .asks = asks}};
    struct event_snapshot *snapshot = &event.snapshot;
    if (binance_parse_depth(text, len, &frames_symbol, bids, &snapshot->n_bids, asks, &snapshot->n_asks,
                            FRAMES_LEVELS_MAX, &snapshot->last_id) < 0)
        die("snapshot", "malformed");
    daemon_session_event(run->session, &event);
}

static void handle_frame(struct run *run, const char *text, size_t len)
{
    struct event event = {.kind = EVENT_MARKET};
    if (binance_parse(run->parser, text, len, &event.market) != 0)
        die("frame", "malformed");
    daemon_session_event(run->session, &event);
}

/* Asleep in poll(), as the daemon between frames, and awake for the writer's news. */
static void wait_until(uv_loop_t *loop, int64_t arrival_ns)
{
    struct pollfd fd = {.fd = uv_backend_fd(loop), .events = POLLIN};
    for (int64_t left; (left = arrival_ns - frames_clock_ns()) > 0;) {
        struct timespec timeout = {.tv_sec = left / SECOND_NS, .tv_nsec = left % SECOND_NS};
        if (ppoll(&fd, 1, &timeout, NULL) > 0)
            uv_run(loop, UV_RUN_NOWAIT);
    }
}

static void play(struct run *run, const struct frames *frames, int rate)
{
    struct db_writer *writer = daemon_session_writer(run->session);
    const struct engine_counters *counters = engine_counters(daemon_session_engine(run->session));
    int64_t begin_ns = frames_clock_ns() + SECOND_NS / 100;
    uint64_t last_ticket = db_writer_last(writer);
    uv_run(&run->loop, UV_RUN_NOWAIT); /* registers its handles with the descriptor that is polled */
    for (size_t i = 0; i < frames->n; i++) {
        const struct frame_at *at = &frames->list[i];
        int64_t arrival_ns = begin_ns + (int64_t)i * SECOND_NS / rate;
        uint64_t decisions = counters->decisions;
        wait_until(&run->loop, arrival_ns);
        if (at->snapshot)
            handle_snapshot(run, frames->text + at->offset, at->len);
        else
            handle_frame(run, frames->text + at->offset, at->len);
        int64_t now_ns = frames_clock_ns();
        sample_add(&run->all, now_ns - arrival_ns);
        if (counters->decisions != decisions)
            sample_add(&run->bars, now_ns - arrival_ns);
        uint64_t ticket = db_writer_last(writer);
        if (ticket != last_ticket)
            run->waiting[run->n_waiting++] = (struct waiting){last_ticket = ticket, now_ns};
    }
    while (run->first_waiting < run->n_waiting)
        uv_run(&run->loop, UV_RUN_ONCE);
}

/* How long this thread was ready to run and had no core; 0 where the kernel does not say. */
static int64_t core_wait_ns(void)
{
    long long ran_ns, waited_ns = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%lld %lld", &ran_ns, &waited_ns) != 2)
        waited_ns = 0;
    fclose(file);
    return waited_ns;
}

/* One pass over the frames with a database of its own. */
static void pass(struct run *run, const struct daemon_config *config, const struct frames *frames, int rate,
                 const char *folder)
{
    char err[SESSION_ERROR_MAX];
    struct state_dir state;
    struct session_hooks hooks = {.ctx = run,
                                  .need_snapshot = need_snapshot,
                                  .need_bars = need_bars,
                                  .command_done = command_done,
                                  .committed = committed};
    if (db_state_dir_find(folder, &state, err, sizeof err) < 0 ||
        db_state_dir_create(&state, err, sizeof err) < 0 ||
        daemon_session_open(&run->loop, config, &state, &hooks, &run->session, err, sizeof err) < 0 ||
        daemon_session_begin(run->session, &frames_symbol, 1, 0, err, sizeof err) < 0)
        die(folder, err);
    struct event up = {.kind = EVENT_CONNECTION, .connection.up = true};
    daemon_session_event(run->session, &up);
    run->first_waiting = run->n_waiting = 0;
    play(run, frames, rate);
    const struct engine_counters *counters = engine_counters(daemon_session_engine(run->session));
    fprintf(stderr, "feed_decision: %d frames/s: %zu frames, %llu decisions, %llu fills\n", rate, frames->n,
            (unsigned long long)counters->decisions, (unsigned long long)counters->fills);
    if (daemon_session_close(run->session, CLOSE_TIMEOUT_MS, err, sizeof err) < 0)
        die(folder, err);
    uv_run(&run->loop, UV_RUN_DEFAULT);
}

static void measure(const struct daemon_config *config, const struct frames *frames, const char *priority,
                    int rate, int passes, const char *folder)
{
    struct run run = {.waiting = malloc(frames->n * sizeof *run.waiting)};
    if (!run.waiting || uv_loop_init(&run.loop) < 0 ||
        binance_parser_create(&frames_symbol, 1, &run.parser) < 0)
        die("loop", strerror(ENOMEM));
    sample_reserve(&run.all, frames->n * (size_t)passes);
    sample_reserve(&run.bars, frames->n * (size_t)passes);
    sample_reserve(&run.commits, frames->n * (size_t)passes);
    int64_t begin_ns = frames_clock_ns(), waited_ns = core_wait_ns();
    for (int i = 0; i < passes; i++) {
        char path[STATE_PATH_MAX];
        snprintf(path, sizeof path, "%s/%d%s-%d", folder, rate, priority, i);
        pass(&run, config, frames, rate, path);
    }
    double waited = (double)(core_wait_ns() - waited_ns) / (double)(frames_clock_ns() - begin_ns);
    printf("core_wait%s_%d\t%.9f\ts/s\t\n", priority, rate, waited);
    sample_print("decision", priority, rate, &run.all, P99_NS_MAX);
    sample_print("decision_bar", priority, rate, &run.bars, P99_NS_MAX);
    sample_print("commit", priority, rate, &run.commits, 0);
    free(run.all.values);
    free(run.bars.values);
    free(run.commits.values);
    free(run.waiting);
    binance_parser_destroy(run.parser);
    uv_loop_close(&run.loop);
}

static void measure_rates(const struct daemon_config *config, const struct frames *frames,
                          const char *priority, const char *folder)
{
    measure(config, frames, priority, 5000, 1, folder);
    measure(config, frames, priority, 50000, 5, folder);
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3) {
        fputs("usage: feed_decision FOLDER [FILE]\n", stderr);
        return 2;
    }
    struct daemon_config config;
    struct frames frames;
    daemon_config_defaults(&config);
    config.clock = CLOCK_FEED;
    config.interval_ns = SECOND_NS;
    daemon_log_init(LOG_LEVEL_ERROR);
    frames_serve(argv[2], SYNTHETIC_S, &frames);
    mkdir(argv[1], 0750);
    prctl(PR_SET_TIMERSLACK, 1); /* frames come when they come, not 50 us later */
    measure_rates(&config, &frames, "", argv[1]);
    struct sched_param fifo = {.sched_priority = FIFO_PRIORITY};
    if (sched_setscheduler(0, SCHED_FIFO, &fifo) == 0)
        measure_rates(&config, &frames, "_fifo", argv[1]);
    frames_finish(&frames);
    return EXIT_SUCCESS;
}
