/* A training's worker, from its start to its end. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/exit_status.h"
#include "trainer/serve/internal.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HAVE_SANITIZERS
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HAVE_SANITIZERS
#endif

/* DISK_RETRIES: how many pauses of a first restart a full disk is given. UNTOUCHED_MIB: address space of
 * stacks and BLAS' buffers, a processor, that is never resident. STALL_TIMES, STALL_LEAST_MS: of missing
 * heartbeats, as docs/serve.md and the daemon's alert have it. */
enum {
    DISK_RETRIES = 5,
    MIB = 1 << 20,
    UNTOUCHED_MIB = 256,
    UNTOUCHED_PER_CPU_MIB = 64,
    STALL_TIMES = 10,
    STALL_LEAST_MS = 60000,
    WATCH_MOST_MS = 1000,
};

/* ---- Asking, killing. ---- */

static void send_signal(struct serve_training *training, int number)
{
    pid_t pid = training->worker ? 0 : serve_orphans_pid(training);
    if (training->worker)
        serve_worker_signal(training->worker, number);
    else if (pid > 0)
        serve_process_signal(pid, number);
}

static int64_t grace_ms(const struct serve_training *training)
{
    enum training_state state = training->record.state;
    bool begins = state == TRAINING_LOADING || state == TRAINING_FEATURES;
    return serve_schedule_grace_ms(begins ? -1 : training->iteration_s, training->checkpoint_s,
                                   training->serve->options->grace_ms);
}

void serve_run_ask(struct serve_training *training, enum training_ending ending)
{
    training->record.ending = ending;
    serve_queue_save(training);
    if (training->asked_ms > 0)
        return;
    training->asked_ms = serve_now_ms(training->serve);
    training->grace_ms = grace_ms(training);
    send_signal(training, SIGTERM); /* a second SIGTERM would end it without a checkpoint */
}

void serve_run_kill(struct serve_training *training)
{
    if (training->asked_ms == 0)
        training->asked_ms = serve_now_ms(training->serve);
    training->killed = true;
    send_signal(training, SIGKILL);
}

/* ---- Budgets. ---- */

/* Silent for as long as the daemon's alert allows, or longer in one state than allowed. */
static bool has_stalled(const struct serve_training *training, int64_t now_ms)
{
    int64_t limit_ms = STALL_TIMES * WORKER_HEARTBEAT_MS;
    bool in_state =
        training->beat_s >= 0 &&
        training->beat_s > serve_schedule_state_limit_s(training->longest_s[training->beat_state]);
    return in_state ||
           (training->reported_ms > 0 &&
            now_ms - training->reported_ms > (limit_ms > STALL_LEAST_MS ? limit_ms : STALL_LEAST_MS));
}

void serve_run_watch(struct serve_training *training, int64_t passed_ms)
{
    if (!training->worker || training->killed || training->asked_ms > 0 || training->wants.hung_ms == 0 ||
        !has_stalled(training, serve_now_ms(training->serve))) {
        training->hung_ms = 0;
        return;
    }
    /* While the co-process itself was stopped, its workers' lines waited to be read: that time does not
     * count. */
    training->hung_ms += passed_ms < WATCH_MOST_MS ? passed_ms : WATCH_MOST_MS;
    if (training->hung_ms < training->wants.hung_ms)
        return;
    training->record.ending = ENDING_HUNG;
    serve_queue_save(training);
    serve_run_kill(training);
}

void serve_run_look(struct serve_training *training)
{
    struct process process;
    const struct training_wants *wants = &training->wants;
    if (!training->worker || !(wants->study ? serve_process_look_session(training->record.pid, &process)
                                            : serve_process_look(training->record.pid, &process)))
        return;
    training->resident_bytes = process.resident_bytes;
    training->worker_cpu_s = process.cpu_s;
    if (training->killed)
        return;
    if (process.resident_bytes > serve_queue_memory_mib(training) * MIB) {
        training->record.ending = ENDING_MEMORY;
        serve_queue_save(training);
        serve_run_kill(training);
    } else if (wants->cpu_hours > 0 && training->asked_ms == 0 &&
               training->record.cpu_s + process.cpu_s > wants->cpu_hours * 3600) {
        serve_run_ask(training, ENDING_CPU);
    }
}

/* ---- Ends. ---- */

void serve_run_again(struct serve_training *training)
{
    training->record.restarts = 0;
    training->retry_at_ms = 0;
    training->record.ended_ns = training->record.due_ns = 0;
    serve_training_enter(training, TRAINING_QUEUED, "", clock_wall_ns(), "%s", "");
}

/* Restarted after a pause, or failed for good. */
static void fail_or_retry(struct serve_training *training, const char *cause, const char *reason)
{
    static const char *const final[] = {"config", "checkpoint", "nan", "memory"};
    struct training_record *record = &training->record;
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        if (strcmp(cause, final[i]) == 0) {
            serve_training_enter(training, TRAINING_FAILED, cause, clock_wall_ns(), "%s", reason);
            return;
        }
    if (record->restarts >= training->wants.restarts) {
        serve_training_enter(training, TRAINING_FAILED, cause, clock_wall_ns(),
                             "%.400s; after %d restarts in a row it is not started again", reason,
                             record->restarts);
        return;
    }
    record->restarts++;
    int64_t wait_ms = serve_schedule_retry_ms(record->restarts, training->serve->options->retry_ms);
    training->retry_at_ms = serve_now_ms(training->serve) + wait_ms;
    serve_training_enter(training, TRAINING_QUEUED, cause, clock_wall_ns(), "%.400s; restart %d of %d",
                         reason, record->restarts, training->wants.restarts);
}

static void ended_by_signal(struct serve_training *training, int number)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
    char reason[TRAINING_RECORD_REASON_MAX];
    const char *cause = "killed";
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (number == crashes[i])
            cause = "crash";
    snprintf(reason, sizeof reason, "its worker was ended by signal %d (%s)%s", number, strsignal(number),
             number == SIGKILL ? ", by another process or by the system for want of memory" : "");
    fail_or_retry(training, cause, reason);
}

static bool is_done(const struct serve_training *training, int64_t status)
{
    return (status == EXIT_OK || status == EXIT_NOT_UPLOADED) && strcmp(training->said_result, "done") == 0;
}

static void ended_by_itself(struct serve_training *training, int64_t status)
{
    char reason[TRAINING_RECORD_REASON_MAX];
    const char *said = training->said, *cause = training->said_cause;
    if (is_done(training, status)) {
        serve_training_enter(training, TRAINING_DONE, "", clock_wall_ns(), "%s", "");
        return;
    }
    if (status == 0 && strcmp(training->said_result, "stopped") == 0) {
        serve_training_enter(training, TRAINING_STOPPED, "", clock_wall_ns(),
                             "its worker was asked to end by another process");
        return;
    }
    if (strcmp(training->said_result, "failed") != 0 &&
        strcmp(cause, "disk") == 0) { /* only the last write failed */
        serve_training_lost(training, reason);
        serve_training_enter(training, TRAINING_FAILED, "disk", clock_wall_ns(), "%s", reason);
        return;
    }
    if (status == 2 && !*cause) /* it does not know the command line: another version */
        cause = "config";
    if (!*said)
        snprintf(reason, sizeof reason, "its worker ended with status %d, and did not say why", (int)status);
    else if (strcmp(cause, "memory") == 0)
        snprintf(reason, sizeof reason, "%.300s; it has %lld MiB, [serve] memory_mib", said,
                 (long long)training->limit_mib);
    else
        snprintf(reason, sizeof reason, "%s", said);
    fail_or_retry(training, *cause ? cause : "crash", reason);
}

/* Enters the state that follows from why it was asked to end, or, if its end was not observed, from its
 * record. */
void serve_run_end_as_asked(struct serve_training *training)
{
    struct training_record *record = &training->record;
    int64_t now_ns = clock_wall_ns();
    char reason[TRAINING_RECORD_REASON_MAX];
    switch (record->ending) {
    case ENDING_STOP:
        if (strcmp(training->said_cause, "disk") == 0) {
            serve_training_lost(training, reason);
            serve_training_enter(training, TRAINING_STOPPED, "disk", now_ns, "%s", reason);
            break;
        }
        serve_training_enter(training, TRAINING_STOPPED, "", now_ns, "%s",
                             training->killed ? "its worker did not end in time and was killed: the last "
                                                "checkpoint stands"
                                              : training->said);
        break;
    case ENDING_PAUSE:
        serve_training_enter(training, TRAINING_PAUSED, "", now_ns, "in favour of one of higher priority");
        break;
    case ENDING_CPU:
        serve_training_enter(training, TRAINING_FAILED, "cpu_budget", now_ns,
                             "it used its processor time: %.3g hours, [serve] cpu_hours",
                             training->wants.cpu_hours);
        break;
    case ENDING_MEMORY:
        serve_training_enter(
            training, TRAINING_FAILED, "memory_budget", now_ns,
            "its worker was over its memory of %lld MiB and was killed: [serve] memory_mib, or "
            "fewer copies, steps or bars",
            (long long)training->limit_mib);
        break;
    case ENDING_HUNG:
        snprintf(reason, sizeof reason,
                 "its worker hung in %s and was killed: it had stalled for %lld s, [serve] hung_s",
                 serve_training_state_name(record->state), (long long)(training->wants.hung_ms / 1000));
        fail_or_retry(training, "hung", reason);
        break;
    case ENDING_SHUTDOWN: /* its record says that it runs: the next co-process continues it */
        break;
    default:
        serve_run_again(training);
    }
}

static void worker_ended(void *ctx, int64_t status, int number)
{
    struct serve_training *training = ctx;
    struct training_record *record = &training->record;
    bool done = number == 0 && is_done(training, status);
    training->worker = NULL;
    training->place = SCHEDULE_CPU;
    record->pid = 0;
    record->cpu_s += training->worker_cpu_s;
    training->worker_cpu_s = 0;
    if (record->ending != ENDING_NONE && record->ending != ENDING_RESTART && done)
        record->ending = ENDING_NONE;
    if (record->ending != ENDING_NONE)
        serve_run_end_as_asked(training);
    else if (number != 0)
        ended_by_signal(training, number);
    else
        ended_by_itself(training, status);
    if (training->wants.every_ns > 0 &&
        (record->state == TRAINING_DONE ||
         (record->state == TRAINING_FAILED && strcmp(record->cause, "config") != 0)))
        serve_training_wait_due(training, clock_wall_ns());
    if (record->ending != ENDING_SHUTDOWN)
        record->ending = ENDING_NONE;
    training->asked_ms = 0;
    training->killed = false;
    serve_queue_save(training);
    serve_queue_schedule(training->serve);
}

static void worker_reported(void *ctx, json_t *event)
{
    struct serve_training *training = ctx;
    bool ended = training->said_end;
    training->dirty |=
        serve_training_take_event(training, event, clock_wall_ns(), serve_now_ms(training->serve));
    if (training->said_end && !ended)
        serve_run_look(training); /* a last measurement */
}

/* ---- Beginnings. ---- */

/* The record names the worker before it is there; if the record cannot be written, no worker is started. */
static int write_down(struct serve_training *training, int place, enum worker_begin how)
{
    struct training_record *record = &training->record;
    const struct serve_options *options = training->serve->options;
    int r = serve_queue_open_events(training) ? serve_training_write_config(training) : -EIO;
    if (r < 0)
        return r;
    serve_training_forget(training);
    training->place = place;
    training->limit_mib = serve_queue_wanted_mib(training);
    training->retry_at_ms = 0;
    training->reported_ns = record->started_ns = clock_wall_ns();
    training->reported_ms = serve_now_ms(training->serve);
    snprintf(record->device, sizeof record->device, "%.31s",
             place == SCHEDULE_CPU ? "cpu" : options->devices[place]);
    snprintf(record->boot, sizeof record->boot, "%s", training->serve->boot);
    record->ending = ENDING_NONE;
    record->ended_ns = 0;
    record->pid = 0;
    record->attempts++;
    serve_training_enter(training, TRAINING_LOADING, "", record->started_ns, "%s", "");
    if (how == WORKER_FRESH && *record->checkpoint)
        serve_training_report_restart(training, record->started_ns);
    r = serve_queue_save(training);
    if (r < 0)
        record->attempts--;
    return r;
}

static int64_t data_limit(const struct serve_training *training, int place)
{
#ifdef HAVE_SANITIZERS
    (void)training, (void)place; /* its shadow is memory, too */
    return 0;
#else
    /* A device's driver reserves any amount of address space. */
    int64_t untouched_mib = UNTOUCHED_MIB + UNTOUCHED_PER_CPU_MIB * sysconf(_SC_NPROCESSORS_ONLN);
    return place == SCHEDULE_CPU ? (training->limit_mib + untouched_mib) * MIB : 0;
#endif
}

void serve_run_begin(struct serve_training *training, int place)
{
    static const struct worker_calls calls = {worker_reported, worker_ended};
    char err[WORKER_ERROR_MAX];
    struct process process;
    struct training_record *record = &training->record;
    struct serve *serve = training->serve;
    enum worker_begin how = serve_training_begin(training);
    if (training->wants.study && (!*record->run || record->run_over))
        serve_training_name_run(training, clock_wall_ns());
    if (how >= WORKER_RESUME)
        record->overwrite = false;
    int r = write_down(training, place, how);
    if (r < 0) { /* not an error of the training: it waits until there is room */
        training->place = SCHEDULE_CPU;
        training->retry_at_ms = serve_now_ms(serve) + DISK_RETRIES * serve->options->retry_ms;
        serve_training_enter(training, TRAINING_QUEUED, "disk", clock_wall_ns(),
                             "its record cannot be written: %s: room on the disk is needed", strerror(-r));
        return;
    }
    const struct worker_order order = {
        .program = serve->options->program,
        .study = training->wants.study ? record->run : NULL,
        .folder = training->folder,
        .directory = serve->options->state,
        .device = place == SCHEDULE_CPU ? "" : serve->options->devices[place],
        .begin = how,
        .data_bytes = data_limit(training, place),
        .memory_mib = training->limit_mib,
    };
    r = serve_worker_start(&serve->loop, &order, &calls, training, &training->worker, err);
    if (r == -EBUSY) {
        training->orphaned = true;
    } else if (r < 0) {
        training->place = SCHEDULE_CPU;
        fail_or_retry(training, "crash", err);
    } else {
        record->pid = serve_worker_pid(training->worker);
        record->pid_started = serve_process_look(record->pid, &process) ? process.started : 0;
    }
    serve_queue_save(training);
}
