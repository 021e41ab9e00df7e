#include "trainer/study/supervise.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "exchange/clock.h"
#include "trainer/study/pool.h"
#include "trainer/study/suggest.h"

/* LOOK_MS: between two looks at the study. ANSWER_MS: what the storage has to answer after that. STOP_MS:
 * what workers have to end when they are asked. DEATHS: consecutive deaths of each worker, without a trial
 * that ended, after which no more are started. */
enum { LOOK_MS = 250, ANSWER_MS = 500, STOP_MS = 7000, DEATHS = 4, SAID_MAX = 32 };

enum seen { SEEN_NOTHING, SEEN_MUTE, SEEN_ENDED }; /* mute: its silence was reported */

struct supervision {
    const struct study_order *order;
    const struct study_plan *plan;
    const struct study_calls *calls;
    struct study_pool pool;
    struct study_store *store; /* NULL while workers are started */
    struct study *study;
    enum seen *seen; /* [seen_n] of each trial */
    int seen_n, done_before;
    double started_s, stale_s, asked_s; /* asked_s: when the workers were asked to end; 0: not yet */
    int deaths;
    bool exhausted, stopping;
    char *said[SAID_MAX]; /* warnings of trials: once a run each */
    int n_said;
    int failure; /* -errno */
    char cause[32];
    char *err; /* [STUDY_RUN_ERROR_MAX] */
};

__attribute__((format(printf, 3, 4))) static void fail(struct supervision *run, int error, const char *format,
                                                       ...)
{
    va_list args;
    if (run->failure < 0)
        return;
    run->failure = error;
    va_start(args, format);
    vsnprintf(run->err, STUDY_RUN_ERROR_MAX, format, args);
    va_end(args);
}

/* ---- The study. ---- */

static void take_waiting(void *ctx, int error, const char *words)
{
    const struct study_calls *calls = ctx;
    (void)error;
    calls->warned(calls->ctx, words);
}

/* Does the next look try again? A store that another process has locked does not end the run, nor do
 * connections that are all in use, with which workers continue; one that does not answer is no error of a run
 * that was asked to end. */
static bool is_passing(const struct supervision *run, int r)
{
    return r == -EBUSY || (r == -EUSERS && run->pool.alive > 0) ||
           (r == -EINTR && run->calls->stopped(run->calls->ctx));
}

/* Once the run has failed, a storage that is not there is not waited for again. */
static int open_store(struct supervision *run, char err[static STUDY_ERROR_MAX])
{
    const struct study_store_waits waits = {
        .stop = run->calls->stop, .answer_ms = ANSWER_MS, .said = take_waiting, .ctx = (void *)run->calls};
    const enum study_store_mode mode = run->failure < 0 ? STUDY_STORE_WRITE : STUDY_STORE_AGAIN;
    return run->store ? 0 : study_store_open_waiting(run->order->url, mode, 0, &waits, &run->store, err);
}

/* A failure that does not pass is the run's. */
static void try_store(struct supervision *run)
{
    char err[STUDY_ERROR_MAX];
    int r = open_store(run, err);
    if (r < 0 && !is_passing(run, r))
        fail(run, r, "%s", err);
}

static void close_store(struct supervision *run)
{
    study_store_close(run->store);
    run->store = NULL;
}

static struct study_progress figures_of(const struct supervision *run)
{
    const struct study_tally tally = study_tally_of(run->study);
    const double per_hour = study_tally_rate(tally.done - run->done_before, clock_now_s() - run->started_s);
    return (struct study_progress){.study = run->study,
                                   .tally = tally,
                                   .workers = run->pool.alive,
                                   .per_hour = per_hour,
                                   .left_s = study_tally_left_s(run->order->wanted - tally.done, per_hour)};
}

static bool grow_seen(struct supervision *run)
{
    const int n = run->study->n_trials;
    if (n <= run->seen_n)
        return true;
    enum seen *grown = reallocarray(run->seen, (size_t)n + 64, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + run->seen_n, 0, (size_t)(n + 64 - run->seen_n) * sizeof *grown);
    run->seen = grown;
    run->seen_n = n + 64;
    return true;
}

/* Reports trials that have ended, or only marks them as seen. */
static void take_ended(struct supervision *run, bool report)
{
    if (!grow_seen(run)) {
        fail(run, -ENOMEM, "out of memory");
        return;
    }
    const struct study_progress figures = figures_of(run);
    for (int i = 0; i < run->study->n_trials; i++) {
        const struct study_trial *trial = run->study->trials[i];
        if (run->seen[i] == SEEN_ENDED || !trial_state_finished(trial->state))
            continue;
        run->seen[i] = SEEN_ENDED;
        run->deaths = 0;
        if (report)
            run->calls->ended(run->calls->ctx, trial, &figures);
    }
}

static void warn(const struct supervision *run, const char *words)
{
    run->calls->warned(run->calls->ctx, words);
}

/* Trials without a heartbeat that the study does not wait for: reported once each, when others replace them.
 * If one ends after all it is reported like any other. */
static void take_mute(struct supervision *run)
{
    char words[STUDY_ERROR_MAX];
    const struct study_tally tally = study_tally_of(run->study);
    if (tally.mute == 0 || tally.done + tally.states[TRIAL_RUNNING] < run->order->wanted)
        return;
    for (int i = 0; i < run->study->n_trials && i < run->seen_n; i++) {
        const struct study_trial *trial = run->study->trials[i];
        if (trial->state != TRIAL_RUNNING || trial->heartbeat_us != STUDY_NO_TIME ||
            run->seen[i] != SEEN_NOTHING)
            continue;
        run->seen[i] = SEEN_MUTE;
        snprintf(
            words, sizeof words,
            "trial %d runs, but its worker gives no sign of life: the study does not wait for it (Optuna's "
            "storage with heartbeat_interval gives them)",
            trial->number);
        warn(run, words);
    }
}

static void look(struct supervision *run)
{
    char err[STUDY_ERROR_MAX];
    const struct study_settings *settings = run->order->settings;
    int failed, retried, r = 0;
    try_store(run);
    if (!run->store)
        return;
    if (clock_now_s() - run->stale_s > settings->grace_s / 4) {
        r = study_store_fail_stale(run->store, run->order->study_id, settings->grace_s, settings->retries,
                                   &failed, &retried, err);
        run->stale_s = clock_now_s();
    }
    if (r == 0)
        r = study_store_sync(run->store, run->study, err);
    if (r < 0 && !is_passing(run, r))
        fail(run, r, "%s", err);
    if (r == 0)
        take_ended(run, true);
    if (run->failure == 0 && r == 0)
        take_mute(run);
}

/* ---- Workers. ---- */

/* Are they the same, or in other numbers alone? */
static bool alike(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* Was nothing like it said before? */
static bool is_news(struct supervision *run, const char *said)
{
    for (int i = 0; i < run->n_said; i++)
        if (alike(run->said[i], said))
            return false;
    if (run->n_said < SAID_MAX && (run->said[run->n_said] = strdup(said)))
        run->n_said++;
    return true;
}

/* A warning that every trial would give, such as a missing device, or one that is full, is printed once. */
static void warn_once(struct supervision *run, int number, const char *said)
{
    char words[STUDY_RUN_ERROR_MAX];
    if (!is_news(run, said))
        return;
    snprintf(words, sizeof words, "trial %d: %.*s", number, (int)TRIAL_ERROR_MAX, said);
    warn(run, words);
}

static void reported(void *ctx, const struct study_pool_worker *worker, const json_t *line)
{
    struct supervision *run = ctx;
    const char *error = json_string_value(json_object_get(line, "error"));
    const char *cause = json_string_value(json_object_get(line, "cause"));
    const char *warning = json_string_value(json_object_get(line, "warning"));
    const char *said = json_string_value(json_object_get(line, "said"));
    const char *storage = json_string_value(json_object_get(line, "storage"));
    (void)worker;
    if (storage && is_news(run, storage))
        warn(run, storage);
    if (warning)
        warn(run, warning);
    if (said)
        warn_once(run, (int)json_integer_value(json_object_get(line, "number")), said);
    if (error) {
        snprintf(run->cause, sizeof run->cause, "%s", cause ? cause : "");
        fail(run, -EIO, "%s", error);
    }
    run->exhausted = run->exhausted || json_is_true(json_object_get(line, "exhausted"));
}

static bool is_of(const struct study_trial *trial, const char *worker)
{
    const struct study_attribute *of = study_attribute_find(trial->user, trial->n_user, "papertape:worker");
    size_t n = strlen(worker);
    return trial->state == TRIAL_RUNNING && of && strlen(of->json) == n + 2 &&
           strncmp(of->json + 1, worker, n) == 0;
}

static void retry(struct supervision *run, const struct study_trial *trial, bool ours, const char *how)
{
    char err[STUDY_ERROR_MAX], words[STUDY_RUN_ERROR_MAX];
    bool retried = false;
    int number = trial->number,
        r = study_store_retry(run->store, trial->id, ours ? -1 : run->order->settings->retries, &retried,
                              err);
    if (r == -EINVAL) /* it has ended meanwhile */
        return;
    snprintf(words, sizeof words, "%s: trial %d: %s", how, number,
             r < 0     ? err
             : retried ? "it is tried again"
                       : "it has failed, after as many retries as are allowed");
    warn(run, words);
}

/* Puts back the trial that a worker ran when it ended, as the study has it: the worker may have been killed
 * before it reported the trial. */
static void retry_all(struct supervision *run, const struct study_pool_worker *worker, const char *how)
{
    char name[WORKER_NAME_MAX], err[STUDY_ERROR_MAX];
    int n = 0;
    study_worker_name(worker->pid, name);
    try_store(run);
    int r = run->store ? study_store_sync(run->store, run->study, err) : -EIO;
    if (r < 0) {
        warn(run, how); /* its trial is tried again once its heartbeat is stale */
        return;
    }
    for (int i = 0; i < run->study->n_trials; i++)
        if (is_of(run->study->trials[i], name)) {
            retry(run, run->study->trials[i], run->failure < 0 || (run->stopping && worker->killed), how);
            n++;
        }
    if (n == 0 && !run->stopping)
        warn(run, how);
}

static void ended(void *ctx, const struct study_pool_worker *worker, int status)
{
    struct supervision *run = ctx;
    char how[128];
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return;
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "worker %d was ended by signal %d (%s)", (int)worker->pid, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "worker %d ended with %d", (int)worker->pid, WEXITSTATUS(status));
    run->deaths++;
    retry_all(run, worker, how);
    if (run->deaths >= DEATHS * run->plan->workers)
        fail(run, -EIO,
             "workers die without ending a trial: the last: %s: memory, or a smaller number of "
             "workers, would be right",
             how);
}

static int idle(const struct supervision *run)
{
    int n = 0;
    for (int i = 0; i < run->pool.n; i++)
        n += run->pool.workers[i].pid > 0 && run->pool.workers[i].trial == 0;
    return n;
}

/* How many more workers would have a trial to run. */
static int wanted(const struct supervision *run)
{
    const struct study_tally tally = study_tally_of(run->study);
    if (run->exhausted || run->stopping || run->failure < 0)
        return 0;
    int left = study_tally_room(&tally, run->order->wanted) - idle(run);
    int places = run->pool.n - run->pool.alive;
    return left < places ? left : places;
}

static void start(struct supervision *run)
{
    int n = wanted(run), r = 1;
    if (n <= 0)
        return;
    close_store(run); /* a database must not be open across a fork */
    fflush(NULL);
    for (; n > 0 && r > 0; n--)
        r = study_pool_start(&run->pool, run->order);
    if (r < 0)
        fail(run, r, "cannot start a worker: %s", strerror(-r));
    try_store(run);
}

/* ---- From the first trial to the last. ---- */

static void begin(struct supervision *run)
{
    const struct study_pool_calls calls = {run, reported, ended};
    char err[STUDY_ERROR_MAX];
    int r = open_store(run, err);
    if (r == 0)
        r = study_store_load(run->store, run->order->study_id, &run->study, err);
    if (r < 0)
        fail(run, r, "%s", err);
    if (run->failure < 0)
        return;
    run->started_s = run->stale_s = clock_now_s();
    take_ended(run, false);
    run->done_before = study_tally_of(run->study).done;
    r = study_pool_init(&run->pool, run->plan->workers, run->plan->devices, run->plan->n_devices, &calls);
    if (r < 0)
        fail(run, r, "out of memory");
}

static void ask_to_end(struct supervision *run)
{
    const double now = clock_now_s();
    if (run->asked_s == 0) {
        run->asked_s = now;
        run->stopping = true;
        study_pool_signal(&run->pool, SIGTERM);
    } else if (now - run->asked_s > STOP_MS * 1e-3) {
        study_pool_signal(&run->pool, SIGKILL);
    }
}

static void supervise_once(struct supervision *run)
{
    look(run);
    if (run->failure < 0 || run->calls->stopped(run->calls->ctx))
        ask_to_end(run);
    else
        start(run);
    const struct study_progress figures = figures_of(run);
    run->calls->looked(run->calls->ctx, &figures);
}

/* Is the run over? Trials of other processes, running or waiting, may still be put back. */
static bool is_over(const struct supervision *run)
{
    if (run->pool.alive > 0)
        return false;
    return run->stopping || run->failure < 0 || run->exhausted ||
           study_tally_of(run->study).done >= run->order->wanted;
}

int study_run(const struct study_order *order, const struct study_plan *plan, const struct study_calls *calls,
              const char **ret_cause, char err[static STUDY_RUN_ERROR_MAX])
{
    static const char *const causes[] = {"memory", "disk", "device", "nan", "config"};
    struct supervision run = {.order = order, .plan = plan, .calls = calls, .err = err};
    begin(&run);
    while (run.failure == 0 || run.pool.alive > 0) {
        supervise_once(&run);
        if (is_over(&run))
            break;
        int r = study_pool_wait(&run.pool, LOOK_MS);
        if (r < 0)
            fail(&run, r, "cannot wait for workers: %s", strerror(-r));
    }
    if (run.failure == 0)
        look(&run);
    const bool stopped = run.failure == 0 && run.stopping && study_tally_of(run.study).done < order->wanted;
    study_pool_finish(&run.pool);
    study_destroy(run.study);
    close_store(&run);
    free(run.seen);
    for (int i = 0; i < run.n_said; i++)
        free(run.said[i]);
    *ret_cause = run.failure == -ENOMEM ? "memory" : NULL;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (strcmp(run.cause, causes[i]) == 0)
            *ret_cause = causes[i];
    return run.failure == -EINTR && calls->stopped(calls->ctx) ? 1 : run.failure < 0 ? run.failure : stopped;
}
