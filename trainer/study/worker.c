#include "trainer/study/worker.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/study/artifacts.h"
#include "trainer/study/device.h"
#include "trainer/study/suggest.h"

/* The longest sentence of a failure, of a trial or of the storage. */
enum { WORDS_MAX = TRIAL_ERROR_MAX + 256 };
_Static_assert((int)TRIAL_ERROR_MAX >= (int)STUDY_ERROR_MAX && (int)TRIAL_ERROR_MAX >= (int)CONFIG_ERROR_MAX,
               "one buffer for all sentences");
_Static_assert((int)ARTIFACT_ERROR_MAX >= (int)STUDY_ERROR_MAX, "likewise where it begins");

struct study_process {
    const struct study_order *order;
    int out;
    struct study_store *store;
    struct study *study;
    struct sampler *sampler;
    struct gpu_module *device;
    struct artifact_store *artifacts; /* NULL: none */
    struct study_heartbeat *beat;
    double *values; /* [space->n] */
    struct study_suggestion asked;
    int split;   /* that were reported */
    int failure; /* of the storage, within a trial */
    bool lost;   /* another process has ended the trial */
    bool pruned; /* the trial, by its last report */
    bool on_device;
    atomic_bool is_alone; /* its parent has ended; the heartbeat's thread, too, says something */
    char err[WORDS_MAX];
};

/* What the storage has to answer, once the worker was asked to end. */
enum { ANSWER_MS = 3000 };

static atomic_bool stop;

static void take_signal(int number)
{
    (void)number;
    atomic_store(&stop, true);
}

static void set_signals(void)
{
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigset_t handled; /* blocked since the process started */
    sigemptyset(&handled);
    sigaddset(&handled, SIGINT);
    sigaddset(&handled, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &handled, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* ---- Its output. ---- */

static void say(struct study_process *worker, json_t *line)
{
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    size_t n = text ? strlen(text) : 0;
    json_decref(line);
    if (!text)
        return;
    text[n] = '\n'; /* replaces its terminating 0 */
    for (size_t at = 0; at < n + 1;) {
        ssize_t done = write(worker->out, text + at, n + 1 - at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            worker->is_alone = true;
            break;
        }
        at += (size_t)done;
    }
    free(text);
}

static void say_words(struct study_process *worker, const char *kind, const char *words, const char *cause)
{
    json_t *line = json_pack("{s:s}", kind, words);
    if (line && cause)
        json_object_set_new(line, "cause", json_string(cause));
    say(worker, line);
}

/* NULL: not an error of the machine. */
static const char *cause_of(const struct study_process *worker, int error)
{
    switch (-error) {
    case ENOMEM:
    case EAGAIN:
        return "memory";
    case ENODEV:
        return "device";
    case EIO:
        return worker->on_device ? "device" : "disk";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EROFS:
    case EBUSY:
    case EACCES:
    case EPERM:
    case EMFILE:
    case ENFILE:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ENOTCONN:
        return "disk";
    default:
        return NULL;
    }
}

static int cannot(struct study_process *worker, int error, const char *words)
{
    if (error == -EINTR && atomic_load(&stop)) /* the storage did not answer meanwhile */
        return EXIT_SUCCESS;
    if (error == -EUSERS) /* was said; the other workers continue, and this one is replaced */
        return EXIT_FAILURE;
    say_words(worker, "error", words, cause_of(worker, error));
    return EXIT_FAILURE;
}

/* ---- While a trial runs. ---- */

static bool ends(const struct study_process *worker)
{
    return stop || worker->is_alone || worker->failure < 0;
}

static enum trial_go take_progress(void *ctx, double share, double steps_s)
{
    struct study_process *worker = ctx;
    study_heartbeat_progress(worker->beat, share, steps_s, worker->split,
                             worker->order->settings->split.combinations);
    worker->lost = worker->lost || study_heartbeat_lost(worker->beat);
    return ends(worker) || worker->lost ? TRIAL_STOP_ASKED : TRIAL_GO;
}

static enum trial_go take_report(void *ctx, int step, double value)
{
    struct study_process *worker = ctx;
    char err[STUDY_ERROR_MAX];
    worker->split = step;
    if (ends(worker))
        return TRIAL_STOP_ASKED;
    study_heartbeat_take(worker->beat);
    int r =
        study_report(worker->store, worker->study, worker->order->settings, &worker->asked, step, value, err);
    study_heartbeat_give(worker->beat);
    worker->lost = worker->lost || r == -EINVAL; /* it is no longer running */
    if (worker->lost)
        return TRIAL_STOP_ASKED;
    if (r < 0) {
        worker->failure = r;
        snprintf(worker->err, sizeof worker->err, "%s", err);
        return TRIAL_STOP_ASKED;
    }
    worker->pruned = r > 0;
    return worker->pruned ? TRIAL_STOP_PRUNED : TRIAL_GO;
}

static void take_words(void *ctx, const char *words)
{
    struct study_process *worker = ctx;
    say(worker, json_pack("{s:s, s:i}", "said", words, "number", worker->asked.number));
}

/* ---- A trial. ---- */

/* 0 or -errno of the storage, in worker->err. */
static int fail_trial(struct study_process *worker, const char *words, const char *cause)
{
    char err[STUDY_ERROR_MAX];
    study_heartbeat_take(worker->beat);
    int r = study_tell_failure(worker->store, worker->asked.trial, words, cause, err);
    study_heartbeat_give(worker->beat);
    if (r < 0)
        snprintf(worker->err, sizeof worker->err, "%s", err);
    return r;
}

/* The worker was asked to end: the trial is tried again when the study continues, any number of times. */
static int put_back(struct study_process *worker, int retries)
{
    bool retried;
    char err[STUDY_ERROR_MAX];
    study_heartbeat_take(worker->beat);
    int r = study_store_retry(worker->store, worker->asked.trial, retries, &retried, err);
    study_heartbeat_give(worker->beat);
    if (r < 0)
        snprintf(worker->err, sizeof worker->err, "%s", err);
    return r;
}

/* The next trial would fail too: the study ends, and this one is tried again when it continues; after -ENOMEM
 * as often as `retries` says, for its values may need more than there is. */
static int give_up(struct study_process *worker, int r, const char *words)
{
    (void)put_back(worker, r == -ENOMEM ? worker->order->settings->retries : -1); /* else once stale */
    snprintf(worker->err, sizeof worker->err, "trial %d: %s", worker->asked.number, words);
    return r;
}

static int end_trial(struct study_process *worker, int r, const struct trial_outcome *outcome,
                     const char *words, const struct trial_calls *calls)
{
    char err[STUDY_ERROR_MAX];
    if (worker->failure < 0)
        return worker->failure;
    if (worker->lost)
        return 0;
    if (r == 1 && !worker->pruned)
        return put_back(worker, -1);
    if (r < 0 && cause_of(worker, r))
        return give_up(worker, r, words);
    if (r < 0)
        return fail_trial(worker, words, r == -EDOM ? "nan" : r == -ERANGE ? "values" : "config");
    if (!worker->pruned && isnan(outcome->value))
        return fail_trial(worker, "its value is no number", "nan");
    json_t *files = NULL; /* before other processes see it as COMPLETE and look for them */
    if (worker->artifacts && !worker->pruned)
        files = study_artifacts_keep_trial(worker->artifacts, worker->study->name, worker->order->folder,
                                           worker->asked.number, calls);
    study_heartbeat_take(worker->beat);
    int said = study_tell(worker->store, worker->asked.trial, worker->pruned ? TRIAL_PRUNED : TRIAL_COMPLETE,
                          outcome, files, err);
    study_heartbeat_give(worker->beat);
    json_decref(files);
    if (said < 0)
        snprintf(worker->err, sizeof worker->err, "%s", err);
    return said;
}

/* 0, or -errno of the storage. */
static int work(struct study_process *worker, struct train_config *config, struct trial_outcome *outcome)
{
    const struct study_order *order = worker->order;
    const struct trial_calls calls = {worker, take_report, take_progress, take_words};
    char folder[CONFIG_PATH_MAX + 16], words[TRIAL_ERROR_MAX];
    snprintf(folder, sizeof folder, "%s/%d", order->folder, worker->asked.number);
    worker->split = 0;
    worker->lost = worker->pruned = false;
    study_heartbeat_trial(worker->beat, worker->asked.trial);
    int r = 0;
    if (order->settings->rules.strategy)
        r = study_rules_trial(order->market, &order->settings->space, worker->values, folder, &calls, outcome,
                              words);
    else if ((r = study_settings_apply(order->config, &order->settings->space, worker->values, config,
                                       words)) == 0)
        r = study_trial_run(order->market, config, folder, &calls, outcome, words);
    r = end_trial(worker, r, outcome, words, &calls);
    study_heartbeat_trial(worker->beat, 0);
    worker->lost = worker->lost || r == -EINVAL;
    if (worker->lost) {
        snprintf(folder, sizeof folder,
                 "trial %d: others have ended it: it gave no sign of life for longer than grace_s",
                 worker->asked.number);
        say_words(worker, "warning", folder, NULL);
    }
    return worker->lost ? 0 : r;
}

/* As study_suggest(). */
static int ask(struct study_process *worker, bool *exhausted)
{
    const struct study_order *order = worker->order;
    const struct study_settings *settings = order->settings;
    char err[STUDY_ERROR_MAX];
    int failed, retried;
    study_heartbeat_take(worker->beat);
    int r = study_store_fail_stale(worker->store, order->study_id, settings->grace_s, settings->retries,
                                   &failed, &retried, err);
    if (r == 0)
        r = study_suggest(worker->store, worker->study, worker->sampler, settings, order->wanted,
                          &worker->asked, exhausted, err);
    study_heartbeat_give(worker->beat);
    if (r < 0)
        snprintf(worker->err, sizeof worker->err, "%s", err);
    return r;
}

static int run(struct study_process *worker)
{
    struct train_config *config = malloc(sizeof *config);
    struct trial_outcome *outcome = malloc(sizeof *outcome);
    int r = config && outcome ? 0 : -ENOMEM;
    bool exhausted = false;
    snprintf(worker->err, sizeof worker->err, "out of memory");
    while (r == 0 && !ends(worker)) {
        r = ask(worker, &exhausted);
        if (r <= 0)
            break;
        r = 0;
        if (worker->asked.failed)
            continue;
        say(worker, json_pack("{s:I}", "began", (json_int_t)worker->asked.trial));
        if ((r = work(worker, config, outcome)) == 0)
            say(worker, json_pack("{s:I}", "finished", (json_int_t)worker->asked.trial));
    }
    if (exhausted)
        say(worker, json_pack("{s:b}", "exhausted", 1));
    free(outcome);
    free(config);
    return r < 0 ? cannot(worker, r, worker->err) : EXIT_SUCCESS;
}

static bool cuts_upload(void *ctx)
{
    return ends(ctx);
}

/* That the server is away the parent says, which looks at it all the time. */
static void take_waiting(void *ctx, int error, const char *words)
{
    if (error == -EUSERS)
        say_words(ctx, "storage", words, NULL);
}

static int begin(struct study_process *worker)
{
    const struct study_store_waits waits = {
        .stop = &stop, .answer_ms = ANSWER_MS, .said = take_waiting, .ctx = worker};
    const struct study_order *order = worker->order;
    const struct artifact_stop cuts = {cuts_upload, worker};
    char err[ARTIFACT_ERROR_MAX] = "out of memory";
    worker->values = calloc((size_t)order->settings->space.n + 1, sizeof *worker->values);
    worker->asked.values = worker->values;
    int r = worker->values ? 0 : -ENOMEM;
    if (r == 0)
        r = study_store_open_waiting(order->url, STUDY_STORE_AGAIN, 0, &waits, &worker->store, err);
    if (r == 0)
        r = study_store_load(worker->store, order->study_id, &worker->study, err);
    if (r == 0)
        r = study_heartbeat_start(worker->store, order->settings->heartbeat_s, &worker->beat, err);
    if (r == 0)
        r = sampler_create(&order->settings->sampler, &worker->sampler);
    if (r == 0 && order->artifacts)
        r = artifact_store_open(order->artifacts, &cuts, &worker->artifacts, err);
    return r < 0 ? cannot(worker, r, err) : EXIT_SUCCESS;
}

static int open_device(struct study_process *worker)
{
    char err[TRIAL_ERROR_MAX];
    if (study_device_open(worker->order->config, &worker->device, err) == 0)
        return EXIT_SUCCESS;
    say_words(worker, "error", err, "device");
    return EXIT_FAILURE;
}

int study_worker_run(const struct study_order *order, int out, const char *device)
{
    struct study_process worker = {.order = order, .out = out, .on_device = device};
    set_signals();
    if (device)
        setenv("CUDA_VISIBLE_DEVICES", device, 1);
    int status = open_device(&worker);
    if (status == EXIT_SUCCESS)
        status = begin(&worker);
    if (status == EXIT_SUCCESS)
        status = run(&worker);
    study_heartbeat_stop(worker.beat);
    gpu_module_close(worker.device);
    sampler_destroy(worker.sampler);
    study_destroy(worker.study);
    study_store_close(worker.store);
    artifact_store_close(worker.artifacts);
    free(worker.values);
    return status;
}
