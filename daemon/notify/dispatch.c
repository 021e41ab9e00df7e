/* The thread that takes notices, and starts and ends the sinks' threads; store.c stores what it takes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/notify/internal.h"
#include "exchange/clock.h"

#define NS_PER_S       INT64_C(1000000000)
#define OPEN_AGAIN_NS  (10 * NS_PER_S)
#define PRUNE_EVERY_NS (6 * 3600 * NS_PER_S)

/* What is new, taken from the loop's side. */
struct batch {
    struct notify_item *items;
    struct alert *open;
    size_t n_open;
    bool have_open;
};

/* ---- the file ---- */

void daemon_notify_report(struct notify *notify, const char *error)
{
    pthread_mutex_lock(&notify->lock);
    bool news = strcmp(notify->total.error, error) != 0;
    snprintf(notify->total.error, sizeof notify->total.error, "%s", error);
    pthread_mutex_unlock(&notify->lock);
    if (news && error[0])
        daemon_log_error("notices of alerts are not stored, and may be lost or repeated: %s", error);
}

int daemon_notify_open(struct notify *notify)
{
    char err[NOTIFY_ERROR_MAX];
    struct db_notices *db;
    bool aside = false;
    int r = db_notices_open(notify->path, clock_wall_ns(), &db, &aside, err, sizeof err);
    if (aside)
        daemon_log_warning("%s was damaged, and is put aside: notices that were not delivered are lost",
                           notify->path);
    daemon_notify_report(notify, r < 0 ? err : "");
    if (r < 0)
        return r;
    pthread_mutex_lock(&notify->file);
    notify->db = db;
    pthread_mutex_unlock(&notify->file);
    pthread_mutex_lock(&notify->lock);
    snprintf(notify->instance, sizeof notify->instance, "%s", db_notices_instance(db));
    pthread_mutex_unlock(&notify->lock);
    return 0;
}

/* ---- the sinks ---- */

struct adding {
    struct notify_worker *worker;
};

static void add_stored(void *ctx, const struct db_notice *notice)
{
    struct notify_worker *worker = ((struct adding *)ctx)->worker;
    struct notify *notify = worker->notify;
    struct notify_item *item = calloc(1, sizeof *item);
    if (!item)
        return;
    item->refs = 1;
    item->notice = *notice;
    pthread_mutex_lock(&notify->lock);
    (void)daemon_notify_worker_add(worker, item);
    daemon_notify_item_unref(item);
    pthread_mutex_unlock(&notify->lock);
}

static struct notify_worker *find(struct notify *notify, const char *name)
{
    for (int i = 0; i < notify->n_workers; i++)
        if (strcmp(notify->workers[i]->sink.name, name) == 0)
            return notify->workers[i];
    return NULL;
}

/* Since when sinks have failed, as a former run stored it. */
struct former {
    int n;
    char names[NOTIFY_SINKS_MAX][DB_NOTICE_SINK_MAX];
    int64_t failing_ns[NOTIFY_SINKS_MAX];
};

static void read_former(struct notify *notify, struct former *ret)
{
    pthread_mutex_lock(&notify->lock);
    *ret = (struct former){.n = notify->config.n_sinks};
    for (int i = 0; i < ret->n; i++)
        snprintf(ret->names[i], sizeof ret->names[i], "%s", notify->config.sinks[i].name);
    pthread_mutex_unlock(&notify->lock);
    pthread_mutex_lock(&notify->file);
    for (int i = 0; i < ret->n && notify->db; i++)
        (void)db_notices_failing(notify->db, ret->names[i], &ret->failing_ns[i]);
    pthread_mutex_unlock(&notify->file);
}

static int64_t former_of(const struct former *former, const char *name)
{
    for (int i = 0; i < former->n; i++)
        if (strcmp(former->names[i], name) == 0)
            return former->failing_ns[i];
    return 0;
}

/* Those of the configuration, in its order; *fresh: those that are new. The others leave. */
static int take_sinks(struct notify *notify, const struct former *former,
                      struct notify_worker *fresh[static NOTIFY_SINKS_MAX])
{
    struct notify_worker *list[NOTIFY_SINKS_MAX];
    int n = 0, n_fresh = 0;
    for (int i = 0; i < notify->config.n_sinks; i++) {
        const struct notify_sink *sink = &notify->config.sinks[i];
        struct notify_worker *worker = find(notify, sink->name);
        if (!worker && (worker = daemon_notify_worker_create(notify, sink, former_of(former, sink->name))))
            fresh[n_fresh++] = worker;
        if (!worker)
            continue;
        worker->sink = *sink;
        daemon_notify_backoff_again(&worker->backoff, notify->config.retry_ns, clock_now_ns());
        pthread_cond_signal(&worker->wake);
        list[n++] = worker;
    }
    for (int i = 0; i < notify->n_workers; i++) {
        bool stays = false;
        for (int k = 0; k < n; k++)
            stays |= list[k] == notify->workers[i];
        if (stays)
            continue;
        notify->workers[i]->leaving = true;
        notify->workers[i]->gone = notify->gone;
        notify->gone = notify->workers[i];
        pthread_cond_signal(&notify->workers[i]->wake);
    }
    memcpy(notify->workers, list, (size_t)n * sizeof *list);
    notify->n_workers = n;
    return n_fresh;
}

static void configure(struct notify *notify)
{
    struct notify_worker *fresh[NOTIFY_SINKS_MAX];
    const char *names[NOTIFY_SINKS_MAX];
    char words[NOTIFY_SINKS_MAX][DB_NOTICE_SINK_MAX];
    struct former former;
    read_former(notify, &former);
    pthread_mutex_lock(&notify->lock);
    int n_fresh = take_sinks(notify, &former, fresh), n = notify->config.n_sinks,
        missing = n - notify->n_workers;
    for (int i = 0; i < n; i++) { /* one without a thread keeps what it has not accepted */
        snprintf(words[i], sizeof words[i], "%s", notify->config.sinks[i].name);
        names[i] = words[i];
    }
    pthread_mutex_unlock(&notify->lock);
    if (missing > 0)
        daemon_log_error("%d sinks of alerts have no thread: nothing is delivered to them until a reload",
                         missing);
    pthread_mutex_lock(&notify->file);
    int dropped = notify->db ? db_notices_keep_sinks(notify->db, names, n) : 0;
    for (int i = 0; i < n_fresh && notify->db; i++)
        (void)db_notices_pending(notify->db, fresh[i]->sink.name, add_stored, &(struct adding){fresh[i]});
    pthread_mutex_unlock(&notify->file);
    if (dropped > 0)
        daemon_log_warning("%d notices are dropped: the sinks that they were for are not configured any more",
                           dropped);
}

/* ---- what a former run left ---- */

struct left {
    struct notify *notify;
    const struct batch *batch;
    struct notify_item *items, **end;
};

static void add_left(struct left *left, const struct db_notice *notice)
{
    struct notify_item *item = calloc(1, sizeof *item);
    if (!item)
        return;
    item->notice = *notice;
    *left->end = item;
    left->end = &item->next;
}

/* A condition that was open, and ended without a notice. */
static void end_lasting(void *ctx, const struct db_notice *notice)
{
    struct left *left = ctx;
    struct db_notice over = *notice;
    for (size_t i = 0; i < left->batch->n_open; i++)
        if (left->batch->open[i].id == notice->alert)
            return;
    if (notice->alert > left->notify->last_alert)
        return; /* this run's */
    over.id = 0;
    over.state = DB_NOTICE_RECOVERED;
    over.over_ns = clock_wall_ns();
    daemon_notify_put_except(&over); /* no column of the file's */
    add_left(left, &over);
}

/* Has this run's file those of a former run? A new one does not begin with old alerts. */
static void take_open(struct notify *notify, const struct batch *batch)
{
    struct left left = {notify, batch, NULL, &left.items};
    pthread_mutex_lock(&notify->file);
    bool known = notify->db && !db_notices_is_new(notify->db);
    if (known)
        (void)db_notices_lasting(notify->db, end_lasting, &left);
    pthread_mutex_unlock(&notify->file);
    for (size_t i = 0; i < batch->n_open && known; i++) {
        const struct alert *alert = &batch->open[i];
        struct db_notice notice;
        daemon_notify_put_alert(&notice, alert, alert->severity, 0);
        if (alert->id > notify->last_alert && alert->acked_ns == 0 && alert->noticed != NOTIFY_OFF)
            add_left(&left, &notice);
    }
    if (left.items)
        daemon_notify_store(notify, left.items);
}

/* ---- the thread ---- */

/* False: it is to end, and everything is stored. */
static bool wait_for_news(struct notify *notify, struct batch *ret, bool *ret_configured)
{
    int64_t end_ns = clock_now_ns() + NOTIFY_LOOK_MS * INT64_C(1000000);
    const struct timespec end = {.tv_sec = end_ns / NS_PER_S, .tv_nsec = end_ns % NS_PER_S};
    int r = 0;
    pthread_mutex_lock(&notify->lock);
    while (r == 0 && !atomic_load(&notify->stop) && !notify->inbox && !notify->configured &&
           !notify->have_open)
        r = pthread_cond_timedwait(&notify->wake, &notify->lock, &end);
    *ret = (struct batch){notify->inbox, notify->open, notify->n_open, notify->have_open};
    *ret_configured = notify->configured;
    notify->inbox = NULL;
    notify->inbox_end = &notify->inbox;
    notify->n_inbox = 0;
    notify->open = NULL;
    notify->have_open = notify->configured = false;
    bool goes = !atomic_load(&notify->stop) || ret->items;
    pthread_mutex_unlock(&notify->lock);
    return goes;
}

static void free_gone(struct notify *notify)
{
    struct notify_worker *list = NULL;
    pthread_mutex_lock(&notify->lock);
    for (struct notify_worker **at = &notify->gone; *at;) {
        struct notify_worker *worker = *at;
        if (!worker->ended) {
            at = &worker->gone;
            continue;
        }
        *at = worker->gone;
        worker->gone = list;
        list = worker;
    }
    for (struct notify_worker *worker = list, *next; worker; worker = next) {
        next = worker->gone;
        daemon_notify_worker_destroy(worker);
    }
    pthread_mutex_unlock(&notify->lock);
}

static void open_or_prune(struct notify *notify, int64_t *next_ns)
{
    int64_t now_ns = clock_now_ns();
    if (now_ns < *next_ns)
        return;
    if (!notify->db) { /* only this thread sets it */
        (void)daemon_notify_open(notify);
        *next_ns = now_ns + OPEN_AGAIN_NS;
        return;
    }
    pthread_mutex_lock(&notify->file);
    (void)db_notices_prune(notify->db, clock_wall_ns());
    pthread_mutex_unlock(&notify->file);
    *next_ns = now_ns + PRUNE_EVERY_NS;
}

void *daemon_notify_dispatch(void *arg)
{
    struct notify *notify = arg;
    struct batch batch;
    bool configured;
    int64_t next_ns = 0;
    do {
        open_or_prune(notify, &next_ns);
        bool goes = wait_for_news(notify, &batch, &configured);
        if (configured)
            configure(notify);
        if (batch.have_open)
            take_open(notify, &batch);
        if (batch.items || daemon_notify_store_due(notify, !goes))
            daemon_notify_store(notify, batch.items);
        free(batch.open);
        free_gone(notify);
        if (!goes)
            break;
    } while (true);
    pthread_mutex_lock(&notify->lock);
    notify->threads--;
    pthread_cond_signal(&notify->ended);
    pthread_mutex_unlock(&notify->lock);
    return NULL;
}
