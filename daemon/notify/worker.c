/* The thread that delivers to one sink. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/log.h"
#include "daemon/notify/internal.h"
#include "exchange/clock.h"

#define NS_PER_S       INT64_C(1000000000)
#define STORE_AGAIN_NS (5 * NS_PER_S)

/* ---- what is pending; the lock is held ---- */

void daemon_notify_item_unref(struct notify_item *item)
{
    if (--item->refs == 0)
        free(item);
}

/* What was not accepted yet of an alert that is worse now is not sent any more: the worse one says all of it.
 */
static void supersede(struct notify_worker *worker, const struct db_notice *notice)
{
    for (struct notify_pending *at = worker->first; at && notice->alert > 0; at = at->next) {
        const struct db_notice *before = &at->item->notice;
        if (at->accepted || before->alert != notice->alert || before->state != DB_NOTICE_RAISED ||
            notice->state != DB_NOTICE_RAISED || before->severity >= notice->severity)
            continue;
        at->accepted = true;
        worker->n_unstored++;
    }
}

bool daemon_notify_worker_add(struct notify_worker *worker, struct notify_item *item)
{
    if (worker->n_pending >= NOTIFY_PENDING_MAX &&
        (item->notice.severity != DB_ERROR || worker->n_pending >= 2 * NOTIFY_PENDING_MAX))
        return false;
    struct notify_pending *pending = calloc(1, sizeof *pending);
    if (!pending)
        return false;
    supersede(worker, &item->notice);
    pending->item = item;
    item->refs++;
    *worker->end = pending;
    worker->end = &pending->next;
    worker->n_pending++;
    daemon_notify_backoff_again(&worker->backoff, worker->notify->config.retry_ns, clock_now_ns());
    pthread_cond_signal(&worker->wake);
    return true;
}

static void take_out(struct notify_worker *worker, struct notify_pending *pending)
{
    struct notify_pending **at = &worker->first;
    while (*at != pending)
        at = &(*at)->next;
    *at = pending->next;
    if (!pending->next)
        worker->end = at;
    worker->n_pending--;
    daemon_notify_item_unref(pending->item);
    free(pending);
}

bool daemon_notify_is_quiet(const struct notify *notify)
{
    struct tm local;
    time_t now = time(NULL);
    const struct notify_config *config = &notify->config;
    return config->quiet_from >= 0 && localtime_r(&now, &local) &&
           daemon_notify_quiet(config->quiet_from, config->quiet_to, 60 * local.tm_hour + local.tm_min);
}

/* A notice of the same alert that is to be delivered first. */
static bool waits_for_another(const struct notify_worker *worker, const struct notify_pending *pending)
{
    uint64_t alert = pending->item->notice.alert;
    for (const struct notify_pending *at = worker->first; alert > 0 && at != pending; at = at->next)
        if (at->item->notice.alert == alert && !at->accepted)
            return true;
    return false;
}

/* The oldest of those that were tried least: one that a sink always refuses does not stop the others. */
static struct notify_pending *choose(const struct notify_worker *worker)
{
    struct notify_pending *best = NULL;
    bool quiet = daemon_notify_is_quiet(worker->notify);
    for (struct notify_pending *at = worker->first; at; at = at->next) {
        bool held = quiet && at->item->notice.severity != DB_ERROR;
        if (at->accepted || held || (best && at->attempts >= best->attempts) || waits_for_another(worker, at))
            continue;
        best = at;
    }
    return best;
}

/* ---- an attempt; the lock is held, and given up meanwhile ---- */

static void send_notice(struct notify_worker *worker, const struct db_notice *notice,
                        struct notify_outcome *ret)
{
    struct notify *notify = worker->notify;
    const struct notify_sink sink = worker->sink;
    char ca_file[NOTIFY_FILE_MAX];
    snprintf(ca_file, sizeof ca_file, "%s", notify->config.ca_file);
    pthread_mutex_unlock(&notify->lock);
    const struct notify_attempt attempt = {&sink, notice, notify->host, ca_file, &notify->stop};
    daemon_notify_send(&attempt, ret);
    pthread_mutex_lock(&notify->lock);
}

/* True: that is news for the log, the first of its kind in a row. */
static bool count(struct notify_worker *worker, const struct notify_outcome *outcome, int64_t started_ns)
{
    bool failed_before = worker->backoff.failing, tried = worker->tried;
    worker->tried = true;
    snprintf(worker->detail, sizeof worker->detail, "%s", outcome->detail);
    if (outcome->accepted) {
        worker->accepted++;
        worker->last_ns = clock_wall_ns();
        daemon_notify_backoff_accepted(&worker->backoff);
        return failed_before || !tried;
    }
    if (atomic_load(&worker->notify->stop))
        return false;
    worker->failed++;
    daemon_notify_backoff_failed(&worker->backoff, worker->notify->config.retry_ns, started_ns,
                                 clock_now_ns(), outcome->retry_after_ns);
    return !failed_before || !tried;
}

/* Since when it has failed, by the wall clock; 0: it does not. */
static int64_t failing_since(const struct notify_worker *worker)
{
    return worker->backoff.failing ? clock_wall_ns() - (clock_now_ns() - worker->backoff.since_ns) : 0;
}

/* For the next run and the log, without the lock, which the loop takes: both may be slow. */
static void keep_outcome(struct notify_worker *worker, const struct notify_outcome *outcome)
{
    struct notify *notify = worker->notify;
    char name[DB_NOTICE_SINK_MAX];
    int64_t since_ns = failing_since(worker);
    snprintf(name, sizeof name, "%s", worker->sink.name);
    pthread_mutex_unlock(&notify->lock);
    pthread_mutex_lock(&notify->file);
    if (notify->db)
        (void)db_notices_put_failing(notify->db, name, since_ns);
    pthread_mutex_unlock(&notify->file);
    if (outcome->accepted)
        daemon_log_info("alert sink %s: accepted: %s", name, outcome->detail);
    else
        daemon_log_warning("alert sink %s: failed, and is tried again: %s", name, outcome->detail);
    pthread_mutex_lock(&notify->lock);
}

/* The file says so before the next one is sent: a kill -9 repeats one at most. */
static void store_accepted(struct notify_worker *worker, struct notify_pending *pending)
{
    struct notify *notify = worker->notify;
    int64_t id = pending->item->notice.id;
    char sink[DB_NOTICE_SINK_MAX];
    snprintf(sink, sizeof sink, "%s", worker->sink.name);
    pthread_mutex_unlock(&notify->lock);
    pthread_mutex_lock(&notify->file);
    int r = id > 0 && notify->db ? db_notices_accepted(notify->db, id, sink) : 0;
    pthread_mutex_unlock(&notify->file);
    pthread_mutex_lock(&notify->lock);
    worker->last_store_ns = clock_now_ns();
    bool moved = pending->item->storing || pending->item->notice.id != id; /* it is in the file now */
    if (r == 0 && !moved) {
        worker->n_unstored -= pending->accepted;
        take_out(worker, pending);
        return;
    }
    worker->n_unstored += !pending->accepted;
    pending->accepted = true;
    if (r < 0)
        snprintf(notify->total.error, sizeof notify->total.error, "%.300s: %s", notify->path, strerror(-r));
}

static void deliver(struct notify_worker *worker, struct notify_pending *pending)
{
    struct notify_outcome outcome;
    struct db_notice notice = pending->item->notice;
    int64_t started_ns = clock_now_ns();
    send_notice(worker, &notice, &outcome);
    bool news = count(worker, &outcome, started_ns);
    pending->attempts++;
    if (outcome.accepted)
        store_accepted(worker, pending);
    if (news)
        keep_outcome(worker, &outcome);
}

/* What was accepted while the file could not be written. */
static bool store_again(struct notify_worker *worker)
{
    if (worker->n_unstored == 0 || clock_now_ns() < worker->last_store_ns + STORE_AGAIN_NS)
        return false;
    struct notify_pending *at = worker->first;
    while (at && !at->accepted)
        at = at->next;
    if (at)
        store_accepted(worker, at);
    return at != NULL;
}

/* ---- a test ---- */

static void finish_test(struct notify *notify, struct notify_test *test)
{
    struct notify_test **at = &notify->tests;
    while (*at != test)
        at = &(*at)->next;
    *at = test->next;
    test->next = notify->tested;
    notify->tested = test;
    if (!notify->stopping)
        uv_async_send(&notify->async);
}

static void run_test(struct notify_worker *worker)
{
    struct notify *notify = worker->notify;
    struct notify_test *test = worker->tests[0];
    struct notify_outcome outcome;
    int64_t started_ns = clock_now_ns(), now_ns = clock_wall_ns();
    struct db_notice notice = {.severity = DB_INFO, .raised_ns = now_ns};
    memmove(worker->tests, worker->tests + 1, (size_t)--worker->n_tests * sizeof *worker->tests);
    snprintf(notice.rule, sizeof notice.rule, "test");
    snprintf(notice.key, sizeof notice.key, "%s-test-%lld", notify->instance, (long long)now_ns);
    snprintf(notice.text, sizeof notice.text, "a test of the sink %s, by papertape alerts test",
             worker->sink.name);
    send_notice(worker, &notice, &outcome);
    bool news = count(worker, &outcome, started_ns);
    for (int i = 0; i < test->n; i++)
        if (strcmp(test->tested[i].name, worker->sink.name) == 0) {
            test->tested[i].outcome = outcome;
            test->tested[i].ms = (clock_now_ns() - started_ns) / 1000000;
        }
    if (--test->left == 0)
        finish_test(notify, test);
    if (news)
        keep_outcome(worker, &outcome);
}

/* ---- the thread ---- */

static void wait_a_while(struct notify_worker *worker)
{
    int64_t now_ns = clock_now_ns(), next_ns = daemon_notify_backoff_next(&worker->backoff);
    int64_t end_ns = now_ns + NOTIFY_LOOK_MS * INT64_C(1000000);
    if (worker->n_pending > 0 && next_ns > now_ns && next_ns < end_ns)
        end_ns = next_ns;
    const struct timespec end = {.tv_sec = end_ns / NS_PER_S, .tv_nsec = end_ns % NS_PER_S};
    (void)pthread_cond_timedwait(&worker->wake, &worker->notify->lock, &end);
}

static void *work(void *arg)
{
    struct notify_worker *worker = arg;
    struct notify *notify = worker->notify;
    pthread_mutex_lock(&notify->lock);
    while (!atomic_load(&notify->stop) && (!worker->leaving || worker->n_tests > 0)) {
        bool due = !worker->leaving && clock_now_ns() >= daemon_notify_backoff_next(&worker->backoff);
        struct notify_pending *pending = due ? choose(worker) : NULL;
        if (worker->n_tests > 0)
            run_test(worker);
        else if (pending)
            deliver(worker, pending);
        else if (!store_again(worker))
            wait_a_while(worker);
    }
    worker->ended = true;
    notify->threads--;
    pthread_cond_signal(&notify->ended);
    pthread_mutex_unlock(&notify->lock);
    return NULL;
}

struct notify_worker *daemon_notify_worker_create(struct notify *notify, const struct notify_sink *sink,
                                                  int64_t failing_ns)
{
    sigset_t all, before;
    struct notify_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->notify = notify;
    worker->sink = *sink;
    worker->end = &worker->first;
    if (failing_ns > 0) {
        daemon_notify_backoff_resume(&worker->backoff, clock_now_ns() - (clock_wall_ns() - failing_ns),
                                     clock_now_ns());
        snprintf(worker->detail, sizeof worker->detail, "it failed when the daemon ended");
    }
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->wake, &how);
    pthread_condattr_destroy(&how);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r == 0) {
        pthread_detach(worker->thread);
        notify->threads++;
        return worker;
    }
    pthread_cond_destroy(&worker->wake);
    free(worker);
    return NULL;
}

void daemon_notify_worker_destroy(struct notify_worker *worker)
{
    while (worker->first)
        take_out(worker, worker->first);
    pthread_cond_destroy(&worker->wake);
    free(worker);
}
