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

/* LOOK_MS: between two looks at the study. STOP_MS: what workers have to end when they are asked. DEATHS: of
 * each worker in a row, without a trial that ended, after which it makes no sense to begin others. */
enum { LOOK_MS = 250, STOP_MS = 8000, DEATHS = 4, SAID_MAX = 32 };

enum seen { SEEN_NOTHING, SEEN_MUTE, SEEN_ENDED }; /* mute: it was told that it is */

struct search {
    const struct study_order *order;
    const struct study_plan *plan;
    const struct study_calls *calls;
    struct study_pool pool;
    struct study_store *store; /* NULL while workers are started */
    struct study *study;
    enum seen *seen; /* [seen_n] of each trial */
    int seen_n, done_before;
    double begun_s, stale_s, asked_s; /* asked_s: to end; 0: not yet */
    int deaths;
    bool exhausted, stopping;
    char *said[SAID_MAX]; /* of trials: once a run each */
    int n_said;
    int failure; /* -errno */
    char cause[32];
    char *err; /* [STUDY_RUN_ERROR_MAX] */
};

__attribute__((format(printf, 3, 4))) static void fail(struct search *search, int error, const char *format,
                                                       ...)
{
    va_list args;
    if (search->failure < 0)
        return;
    search->failure = error;
    va_start(args, format);
    vsnprintf(search->err, STUDY_RUN_ERROR_MAX, format, args);
    va_end(args);
}

/* ---- The study. ---- */

static void open_store(struct search *search)
{
    char err[STUDY_ERROR_MAX];
    int r =
        search->store ? 0 : study_store_open(search->order->url, STUDY_STORE_WRITE, 0, &search->store, err);
    if (r < 0)
        fail(search, r, "%s", err);
}

static void close_store(struct search *search)
{
    study_store_close(search->store);
    search->store = NULL;
}

static struct study_progress figures_of(const struct search *search)
{
    const struct study_tally tally = study_tally_of(search->study);
    const double per_hour =
        study_tally_rate(tally.done - search->done_before, clock_now_s() - search->begun_s);
    return (struct study_progress){.study = search->study,
                                   .tally = tally,
                                   .workers = search->pool.alive,
                                   .per_hour = per_hour,
                                   .left_s =
                                       study_tally_left_s(search->order->wanted - tally.done, per_hour)};
}

static bool grow_seen(struct search *search)
{
    const int n = search->study->n_trials;
    if (n <= search->seen_n)
        return true;
    enum seen *grown = reallocarray(search->seen, (size_t)n + 64, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + search->seen_n, 0, (size_t)(n + 64 - search->seen_n) * sizeof *grown);
    search->seen = grown;
    search->seen_n = n + 64;
    return true;
}

/* Tells of trials that have ended, or only takes note of them. */
static void take_ended(struct search *search, bool tell)
{
    if (!grow_seen(search)) {
        fail(search, -ENOMEM, "out of memory");
        return;
    }
    const struct study_progress figures = figures_of(search);
    for (int i = 0; i < search->study->n_trials; i++) {
        const struct study_trial *trial = search->study->trials[i];
        if (search->seen[i] == SEEN_ENDED || !trial_state_finished(trial->state))
            continue;
        search->seen[i] = SEEN_ENDED;
        search->deaths = 0;
        if (tell)
            search->calls->ended(search->calls->ctx, trial, &figures);
    }
}

static void warn(const struct search *search, const char *words)
{
    search->calls->warned(search->calls->ctx, words);
}

/* Trials that the search would wait for, if their worker were known to live: told once each, as soon as
 * others are made in their place. One that ends all the same is told of as any. */
static void take_mute(struct search *search)
{
    char words[STUDY_ERROR_MAX];
    const struct study_tally tally = study_tally_of(search->study);
    if (tally.mute == 0 || tally.done + tally.states[TRIAL_RUNNING] < search->order->wanted)
        return;
    for (int i = 0; i < search->study->n_trials && i < search->seen_n; i++) {
        const struct study_trial *trial = search->study->trials[i];
        if (trial->state != TRIAL_RUNNING || trial->heartbeat_us != STUDY_NO_TIME ||
            search->seen[i] != SEEN_NOTHING)
            continue;
        search->seen[i] = SEEN_MUTE;
        snprintf(
            words, sizeof words,
            "trial %d runs, but its worker gives no sign of life: the search does not wait for it (Optuna's "
            "storage with heartbeat_interval gives them)",
            trial->number);
        warn(search, words);
    }
}

/* By a store that another process has locked it is not ended: there is a next look. */
static void look(struct search *search)
{
    char err[STUDY_ERROR_MAX];
    const struct study_settings *settings = search->order->settings;
    int failed, retried, r = 0;
    open_store(search);
    if (!search->store)
        return;
    if (clock_now_s() - search->stale_s > settings->grace_s / 4) {
        r = study_store_fail_stale(search->store, search->order->study_id, settings->grace_s,
                                   settings->retries, &failed, &retried, err);
        search->stale_s = clock_now_s();
    }
    if (r == 0)
        r = study_store_sync(search->store, search->study, err);
    if (r < 0 && r != -EBUSY)
        fail(search, r, "%s", err);
    if (r == 0)
        take_ended(search, true);
    if (search->failure == 0 && r == 0)
        take_mute(search);
}

/* ---- Workers. ---- */

/* What every trial would say, as that there is no device, is said of the first. */
static void warn_once(struct search *search, int number, const char *said)
{
    char words[STUDY_RUN_ERROR_MAX];
    for (int i = 0; i < search->n_said; i++)
        if (strcmp(search->said[i], said) == 0)
            return;
    if (search->n_said < SAID_MAX && (search->said[search->n_said] = strdup(said)))
        search->n_said++;
    snprintf(words, sizeof words, "trial %d: %.*s", number, (int)TRIAL_ERROR_MAX, said);
    warn(search, words);
}

static void heard(void *ctx, const struct study_pool_worker *worker, const json_t *line)
{
    struct search *search = ctx;
    const char *error = json_string_value(json_object_get(line, "error"));
    const char *cause = json_string_value(json_object_get(line, "cause"));
    const char *warning = json_string_value(json_object_get(line, "warning"));
    const char *said = json_string_value(json_object_get(line, "said"));
    (void)worker;
    if (warning)
        warn(search, warning);
    if (said)
        warn_once(search, (int)json_integer_value(json_object_get(line, "number")), said);
    if (error) {
        snprintf(search->cause, sizeof search->cause, "%s", cause ? cause : "");
        fail(search, -EIO, "%s", error);
    }
    search->exhausted = search->exhausted || json_is_true(json_object_get(line, "exhausted"));
}

static bool is_of(const struct study_trial *trial, const char *worker)
{
    const struct study_attribute *of = study_attribute_find(trial->user, trial->n_user, "papertape:worker");
    size_t n = strlen(worker);
    return trial->state == TRIAL_RUNNING && of && strlen(of->json) == n + 2 &&
           strncmp(of->json + 1, worker, n) == 0;
}

static void retry(struct search *search, const struct study_trial *trial, bool ours, const char *how)
{
    char err[STUDY_ERROR_MAX], words[STUDY_RUN_ERROR_MAX];
    bool retried = false;
    int number = trial->number,
        r = study_store_retry(search->store, trial->id, ours ? -1 : search->order->settings->retries,
                              &retried, err);
    if (r == -EINVAL) /* it has ended meanwhile */
        return;
    snprintf(words, sizeof words, "%s: trial %d: %s", how, number,
             r < 0     ? err
             : retried ? "it is tried again"
                       : "it has failed, after as many retries as are allowed");
    warn(search, words);
}

/* What a worker was at when it ended, as the study has it: it may have been killed before it said so. */
static void retry_all(struct search *search, const struct study_pool_worker *worker, const char *how)
{
    char name[WORKER_NAME_MAX], err[STUDY_ERROR_MAX];
    int n = 0;
    study_worker_name(worker->pid, name);
    open_store(search);
    int r = search->store ? study_store_sync(search->store, search->study, err) : -EIO;
    if (r < 0) {
        warn(search, how); /* its trial is tried again once its heartbeat is too old */
        return;
    }
    for (int i = 0; i < search->study->n_trials; i++)
        if (is_of(search->study->trials[i], name)) {
            retry(search, search->study->trials[i],
                  search->failure < 0 || (search->stopping && worker->killed), how);
            n++;
        }
    if (n == 0 && !search->stopping)
        warn(search, how);
}

static void ended(void *ctx, const struct study_pool_worker *worker, int status)
{
    struct search *search = ctx;
    char how[128];
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return;
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "worker %d was ended by signal %d (%s)", (int)worker->pid, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "worker %d ended with %d", (int)worker->pid, WEXITSTATUS(status));
    search->deaths++;
    retry_all(search, worker, how);
    if (search->deaths >= DEATHS * search->plan->workers)
        fail(search, -EIO,
             "workers die without ending a trial: the last: %s: memory, or a smaller number of "
             "workers, would be right",
             how);
}

static int idle(const struct search *search)
{
    int n = 0;
    for (int i = 0; i < search->pool.n; i++)
        n += search->pool.workers[i].pid > 0 && search->pool.workers[i].trial == 0;
    return n;
}

/* How many more workers would have something to do. */
static int wanted(const struct search *search)
{
    const struct study_tally tally = study_tally_of(search->study);
    if (search->exhausted || search->stopping || search->failure < 0)
        return 0;
    int left = study_tally_room(&tally, search->order->wanted) - idle(search);
    int places = search->pool.n - search->pool.alive;
    return left < places ? left : places;
}

static void start(struct search *search)
{
    int n = wanted(search), r = 1;
    if (n <= 0)
        return;
    close_store(search); /* a database is not carried into a fork */
    fflush(NULL);
    for (; n > 0 && r > 0; n--)
        r = study_pool_start(&search->pool, search->order);
    if (r < 0)
        fail(search, r, "cannot start a worker: %s", strerror(-r));
    open_store(search);
}

/* ---- From the first trial to the last. ---- */

static void begin(struct search *search)
{
    const struct study_pool_calls calls = {search, heard, ended};
    char err[STUDY_ERROR_MAX];
    open_store(search);
    int r = search->store ? study_store_load(search->store, search->order->study_id, &search->study, err) : 0;
    if (r < 0)
        fail(search, r, "%s", err);
    if (search->failure < 0)
        return;
    search->begun_s = search->stale_s = clock_now_s();
    take_ended(search, false);
    search->done_before = study_tally_of(search->study).done;
    r = study_pool_init(&search->pool, search->plan->workers, search->plan->devices, search->plan->n_devices,
                        &calls);
    if (r < 0)
        fail(search, r, "out of memory");
}

static void ask_to_end(struct search *search)
{
    const double now = clock_now_s();
    if (search->asked_s == 0) {
        search->asked_s = now;
        search->stopping = true;
        study_pool_signal(&search->pool, SIGTERM);
    } else if (now - search->asked_s > STOP_MS * 1e-3) {
        study_pool_signal(&search->pool, SIGKILL);
    }
}

static void go_on(struct search *search)
{
    look(search);
    if (search->failure < 0 || search->calls->stopped(search->calls->ctx))
        ask_to_end(search);
    else
        start(search);
    const struct study_progress figures = figures_of(search);
    search->calls->looked(search->calls->ctx, &figures);
}

/* Trials of others, which run or wait, may come back to be tried again. */
static bool is_over(const struct search *search)
{
    if (search->pool.alive > 0)
        return false;
    return search->stopping || search->failure < 0 || search->exhausted ||
           study_tally_of(search->study).done >= search->order->wanted;
}

int study_run(const struct study_order *order, const struct study_plan *plan, const struct study_calls *calls,
              const char **ret_cause, char err[static STUDY_RUN_ERROR_MAX])
{
    static const char *const causes[] = {"memory", "disk", "device", "nan", "config"};
    struct search search = {.order = order, .plan = plan, .calls = calls, .err = err};
    begin(&search);
    while (search.failure == 0 || search.pool.alive > 0) {
        go_on(&search);
        if (is_over(&search))
            break;
        int r = study_pool_wait(&search.pool, LOOK_MS);
        if (r < 0)
            fail(&search, r, "cannot wait for workers: %s", strerror(-r));
    }
    if (search.failure == 0)
        look(&search);
    const bool stopped =
        search.failure == 0 && search.stopping && study_tally_of(search.study).done < order->wanted;
    study_pool_finish(&search.pool);
    study_destroy(search.study);
    close_store(&search);
    free(search.seen);
    for (int i = 0; i < search.n_said; i++)
        free(search.said[i]);
    *ret_cause = search.failure == -ENOMEM ? "memory" : NULL;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (strcmp(search.cause, causes[i]) == 0)
            *ret_cause = causes[i];
    return search.failure < 0 ? search.failure : stopped;
}
