/* The loop's side. */
#include "daemon/notify/notify.h"

#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon/notify/internal.h"
#include "exchange/clock.h"

enum { FINISH_MS = 2000 };

/* ---- begin ---- */

static void on_tested(uv_async_t *async)
{
    struct notify *notify = async->data;
    pthread_mutex_lock(&notify->lock);
    struct notify_test *test = notify->tested;
    notify->tested = NULL;
    pthread_mutex_unlock(&notify->lock);
    for (struct notify_test *next; test; test = next) {
        next = test->next;
        if (test->done)
            test->done(test->ctx, test->tested, test->n);
        free(test);
    }
}

static void init_monotonic(pthread_cond_t *cond)
{
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &how);
    pthread_condattr_destroy(&how);
}

/* With the lock: the dispatcher, once there is something to deliver to. */
static void start_dispatcher(struct notify *notify)
{
    pthread_t dispatcher;
    sigset_t all, before;
    if (notify->dispatches || notify->stopping || notify->config.n_sinks == 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&dispatcher, NULL, daemon_notify_dispatch, notify) == 0) {
        pthread_detach(dispatcher);
        notify->dispatches = true;
        notify->threads++;
    } else {
        snprintf(notify->total.error, sizeof notify->total.error, "no thread can be started");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct notify *daemon_notify_create(uv_loop_t *loop, const char *path, const struct notify_config *config)
{
    struct notify *notify = calloc(1, sizeof *notify);
    uint64_t random = (uint64_t)clock_wall_ns();
    if (!notify)
        return NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) { /* before there are threads */
        free(notify);
        return NULL;
    }
    (void)!getrandom(&random, sizeof random, 0); /* where there is no file to have a name */
    snprintf(notify->instance, sizeof notify->instance, "%016llx", (unsigned long long)random);
    notify->loop = loop;
    snprintf(notify->path, sizeof notify->path, "%s", path);
    if (gethostname(notify->host, sizeof notify->host - 1) < 0 || !notify->host[0])
        snprintf(notify->host, sizeof notify->host, "localhost");
    notify->config = *config;
    notify->configured = true;
    notify->inbox_end = &notify->inbox;
    notify->unstored_end = &notify->unstored;
    pthread_mutex_init(&notify->lock, NULL);
    pthread_mutex_init(&notify->file, NULL);
    init_monotonic(&notify->wake);
    init_monotonic(&notify->ended);
    uv_async_init(loop, &notify->async, on_tested);
    notify->async.data = notify;
    if ((config->n_sinks > 0 || access(path, F_OK) == 0) && daemon_notify_open(notify) == 0)
        notify->last_alert = db_notices_last_alert(notify->db);
    pthread_mutex_lock(&notify->lock);
    start_dispatcher(notify);
    pthread_mutex_unlock(&notify->lock);
    return notify;
}

uint64_t daemon_notify_last_alert(const struct notify *notify)
{
    return notify->last_alert;
}

void daemon_notify_configure(struct notify *notify, const struct notify_config *config)
{
    pthread_mutex_lock(&notify->lock);
    notify->config = *config;
    notify->configured = true;
    start_dispatcher(notify);
    pthread_cond_signal(&notify->wake);
    pthread_mutex_unlock(&notify->lock);
}

/* ---- notices ---- */

/* Takes the item, which is gone where there is no room or no sink. */
static void put(struct notify *notify, struct notify_item *item)
{
    pthread_mutex_lock(&notify->lock);
    bool wanted = notify->config.n_sinks > 0;
    if (wanted && notify->n_inbox < NOTIFY_INBOX_MAX) {
        *notify->inbox_end = item;
        notify->inbox_end = &item->next;
        notify->n_inbox++;
        pthread_cond_signal(&notify->wake);
        item = NULL;
    } else if (wanted) {
        notify->total.dropped++;
    }
    pthread_mutex_unlock(&notify->lock);
    free(item);
}

/* One line, for subjects and screens. */
static void put_text(struct db_notice *notice, const char *text)
{
    snprintf(notice->text, sizeof notice->text, "%s", text);
    for (char *c = notice->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

void daemon_notify_put_except(struct db_notice *notice)
{
    const char *at = strcmp(notice->rule, "SINK_FAILING") == 0 ? strstr(notice->text, ": ") : NULL;
    if (at)
        snprintf(notice->except, sizeof notice->except, "%.*s", (int)strcspn(at + 2, ":"), at + 2);
}

void daemon_notify_put_alert(struct db_notice *ret, const struct alert *alert, enum db_severity severity,
                             int64_t over_ns)
{
    *ret = (struct db_notice){.alert = alert->id,
                              .severity = severity,
                              .state = over_ns > 0 ? DB_NOTICE_RECOVERED : DB_NOTICE_RAISED,
                              .lasts = alert->lasts,
                              .raised_ns = alert->ts_ns,
                              .over_ns = over_ns};
    snprintf(ret->rule, sizeof ret->rule, "%s", alert->code);
    put_text(ret, alert->text);
    daemon_notify_put_except(ret);
}

/* As the configuration has it for that rule; NOTIFY_OFF. */
static int severity_of(struct notify *notify, const struct alert *alert)
{
    int severity = (int)alert->severity;
    pthread_mutex_lock(&notify->lock);
    for (int i = 0; i < notify->config.n_severities; i++)
        if (strcmp(notify->config.severities[i].rule, alert->code) == 0)
            severity = notify->config.severities[i].severity;
    pthread_mutex_unlock(&notify->lock);
    return severity;
}

void daemon_notify_alert(struct notify *notify, const struct alert *alert, int64_t over_ns)
{
    int severity = notify ? severity_of(notify, alert) : NOTIFY_OFF;
    struct notify_item *item = severity != NOTIFY_OFF ? calloc(1, sizeof *item) : NULL;
    if (!item)
        return;
    daemon_notify_put_alert(&item->notice, alert, (enum db_severity)severity, over_ns);
    put(notify, item);
}

void daemon_notify_open_alerts(struct notify *notify, const struct alert *alerts, size_t n)
{
    struct alert *copy = calloc(n + 1, sizeof *copy);
    if (!copy)
        return;
    if (n > 0)
        memcpy(copy, alerts, n * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        int severity = severity_of(notify, &copy[i]);
        if (severity == NOTIFY_OFF)
            copy[i].noticed = NOTIFY_OFF;
        else
            copy[i].severity = (enum db_severity)severity;
    }
    pthread_mutex_lock(&notify->lock);
    if (notify->config.n_sinks > 0) {
        free(notify->open);
        notify->open = copy;
        notify->n_open = n;
        notify->have_open = true;
        copy = NULL;
        pthread_cond_signal(&notify->wake);
    }
    pthread_mutex_unlock(&notify->lock);
    free(copy);
}

static void say(struct notify *notify, const char *rule, const char *when, const char *sink, const char *text)
{
    struct notify_item *item = notify ? calloc(1, sizeof *item) : NULL;
    if (!item)
        return;
    item->notice = (struct db_notice){.severity = DB_INFO, .raised_ns = clock_wall_ns()};
    snprintf(item->notice.rule, sizeof item->notice.rule, "%s", rule);
    snprintf(item->notice.key, sizeof item->notice.key, "%.30s-%.40s", rule, when);
    snprintf(item->notice.only, sizeof item->notice.only, "%s", sink ? sink : "");
    put_text(&item->notice, text);
    put(notify, item);
}

void daemon_notify_say(struct notify *notify, const char *rule, const char *when, const char *text)
{
    say(notify, rule, when, NULL, text);
}

void daemon_notify_send_text(struct notify *notify, const char *rule, const char *sink, const char *text)
{
    char when[24];
    snprintf(when, sizeof when, "%lld", (long long)clock_wall_ns());
    say(notify, rule, when, sink, text);
}

/* ---- what is shown ---- */

static void look_at(const struct notify_worker *worker, bool quiet, int64_t now_ns,
                    struct notify_sink_view *ret)
{
    *ret = (struct notify_sink_view){.kind = worker->sink.kind,
                                     .failing = worker->backoff.failing,
                                     .tried = worker->tried,
                                     .failing_ns =
                                         worker->backoff.failing ? now_ns - worker->backoff.since_ns : 0,
                                     .last_ns = worker->last_ns,
                                     .next_ms = -1,
                                     .pending = worker->n_pending,
                                     .accepted = worker->accepted,
                                     .failed = worker->failed};
    for (const struct notify_pending *at = worker->first; at; at = at->next)
        ret->held += quiet && at->item->notice.severity != DB_ERROR;
    if (worker->backoff.failing && worker->n_pending > ret->held) {
        int64_t left_ns = daemon_notify_backoff_next(&worker->backoff) - now_ns;
        ret->next_ms = left_ns > 0 ? left_ns / 1000000 : 0;
    }
    snprintf(ret->name, sizeof ret->name, "%s", worker->sink.name);
    snprintf(ret->detail, sizeof ret->detail, "%s", worker->detail);
}

int daemon_notify_view(struct notify *notify, struct notify_sink_view ret[static NOTIFY_SINKS_MAX])
{
    pthread_mutex_lock(&notify->lock);
    int n = notify->n_workers;
    bool quiet = daemon_notify_is_quiet(notify);
    for (int i = 0; i < n; i++)
        look_at(notify->workers[i], quiet, clock_now_ns(), &ret[i]);
    pthread_mutex_unlock(&notify->lock);
    return n;
}

void daemon_notify_look(struct notify *notify, struct notify_total *ret)
{
    pthread_mutex_lock(&notify->lock);
    *ret = notify->total;
    pthread_mutex_unlock(&notify->lock);
}

/* ---- tests ---- */

/* With the lock. */
static void ask_workers(struct notify *notify, const char *sink, struct notify_test *test)
{
    for (int i = 0; i < notify->n_workers; i++) {
        struct notify_worker *worker = notify->workers[i];
        if ((sink && strcmp(worker->sink.name, sink) != 0) || worker->n_tests == NOTIFY_SINKS_MAX)
            continue;
        struct notify_tested *tested = &test->tested[test->n++];
        snprintf(tested->name, sizeof tested->name, "%s", worker->sink.name);
        tested->kind = worker->sink.kind;
        worker->tests[worker->n_tests++] = test;
        pthread_cond_signal(&worker->wake);
    }
    test->left = test->n;
}

int daemon_notify_test(struct notify *notify, const char *sink, notify_tested_done *done, void *ctx)
{
    struct notify_test *test = calloc(1, sizeof *test);
    if (!test)
        return -ENOMEM;
    test->done = done;
    test->ctx = ctx;
    pthread_mutex_lock(&notify->lock);
    if (!notify->stopping)
        ask_workers(notify, sink, test);
    int r = notify->stopping ? -ESHUTDOWN : test->n == 0 ? -ENOENT : 0;
    if (r == 0) {
        test->next = notify->tests;
        notify->tests = test;
    }
    pthread_mutex_unlock(&notify->lock);
    if (r < 0)
        free(test);
    return r;
}

static void answer_as_stopped(struct notify_test *test)
{
    struct notify_tested tested[NOTIFY_SINKS_MAX];
    memcpy(tested, test->tested, sizeof tested);
    for (int i = 0; i < test->n; i++)
        if (!tested[i].outcome.detail[0])
            snprintf(tested[i].outcome.detail, sizeof tested[i].outcome.detail, "the daemon stops");
    test->done(test->ctx, tested, test->n);
    test->done = NULL;
}

/* ---- end ---- */

void daemon_notify_stop(struct notify *notify)
{
    if (!notify)
        return;
    pthread_mutex_lock(&notify->lock);
    notify->stopping = true;
    for (struct notify_test *test = notify->tests; test; test = test->next)
        answer_as_stopped(test); /* a call of the control socket: it takes no lock of ours */
    pthread_mutex_unlock(&notify->lock);
    on_tested(&notify->async); /* those that had ended: no turn of the loop answers them any more */
    uv_close((uv_handle_t *)&notify->async, NULL);
}

static bool wait_for_threads(struct notify *notify)
{
    int64_t end_ns = clock_now_ns() + FINISH_MS * INT64_C(1000000);
    const struct timespec end = {.tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000};
    int r = 0;
    while (notify->threads > 0 && r == 0)
        r = pthread_cond_timedwait(&notify->ended, &notify->lock, &end);
    return notify->threads == 0;
}

static void free_all(struct notify *notify)
{
    for (int i = 0; i < notify->n_workers; i++)
        daemon_notify_worker_destroy(notify->workers[i]);
    for (struct notify_worker *worker = notify->gone, *next; worker; worker = next) {
        next = worker->gone;
        daemon_notify_worker_destroy(worker);
    }
    for (struct notify_test *test = notify->tests, *next; test; test = next) {
        next = test->next;
        free(test);
    }
    for (struct notify_test *test = notify->tested, *next; test; test = next) {
        next = test->next;
        free(test);
    }
    for (struct notify_item *item = notify->inbox, *next; item; item = next) {
        next = item->next;
        free(item);
    }
    daemon_notify_store_finish(notify);
    db_notices_close(notify->db);
    free(notify->open);
    curl_global_cleanup();
    pthread_cond_destroy(&notify->wake);
    pthread_cond_destroy(&notify->ended);
    pthread_mutex_destroy(&notify->file);
    pthread_mutex_destroy(&notify->lock);
    free(notify);
}

bool daemon_notify_finish(struct notify *notify)
{
    if (!notify)
        return true;
    pthread_mutex_lock(&notify->lock);
    atomic_store(&notify->stop, true);
    pthread_cond_signal(&notify->wake);
    for (int i = 0; i < notify->n_workers; i++)
        pthread_cond_signal(&notify->workers[i]->wake);
    for (struct notify_worker *worker = notify->gone; worker; worker = worker->gone)
        pthread_cond_signal(&worker->wake);
    bool ended = wait_for_threads(notify);
    pthread_mutex_unlock(&notify->lock);
    if (ended)
        free_all(notify);
    return ended;
}
