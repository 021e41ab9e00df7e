/* The dispatcher's notices: stored, then given to the sinks' threads. What the file does not take, since the
 * disk is full, is delivered from memory, and stored once the file takes it: so the notice of its end knows
 * that it was sent, and the next run delivers what no sink had accepted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/notify/internal.h"
#include "exchange/clock.h"

#define STORE_AGAIN_NS INT64_C(5000000000)

/* ---- a notice ---- */

/* "0123456789abcdef-7-1795624800-raised-error", the same whenever it is made. With the second that it was
 * raised: a state that was restored numbers other alerts as the lost ones. */
static void put_key(const struct notify *notify, struct db_notice *notice)
{
    char own[DB_NOTICE_KEY_MAX];
    if (notice->alert == 0)
        snprintf(own, sizeof own, "%.70s", notice->key);
    else if (notice->state == DB_NOTICE_RECOVERED)
        snprintf(own, sizeof own, "%" PRIu64 "-%" PRId64 "-recovered", notice->alert,
                 notice->raised_ns / 1000000000);
    else
        snprintf(own, sizeof own, "%" PRIu64 "-%" PRId64 "-raised-%s", notice->alert,
                 notice->raised_ns / 1000000000, db_severity_name(notice->severity));
    snprintf(notice->key, sizeof notice->key, "%s-%.75s", notify->instance, own);
}

static bool wants(const struct notify_worker *worker, const struct db_notice *notice)
{
    return (int)notice->severity >= worker->sink.severity && strcmp(notice->except, worker->sink.name) != 0 &&
           (!notice->only[0] || strcmp(notice->only, worker->sink.name) == 0);
}

static bool has_pending(const struct notify_worker *worker, const struct notify_item *item)
{
    const struct notify_pending *at = worker->first;
    while (at && at->item != item)
        at = at->next;
    return at != NULL;
}

/* The sinks that want it; of one that was delivered from memory those that have not accepted it. */
static int names_of(struct notify *notify, struct notify_item *item, bool again,
                    char words[static NOTIFY_SINKS_MAX][DB_NOTICE_SINK_MAX],
                    const char *names[static NOTIFY_SINKS_MAX])
{
    int n = 0;
    pthread_mutex_lock(&notify->lock);
    item->storing = again;
    for (int i = 0; i < notify->n_workers; i++) {
        const struct notify_worker *worker = notify->workers[i];
        if (again ? !has_pending(worker, item) : !wants(worker, &item->notice))
            continue;
        snprintf(words[n], DB_NOTICE_SINK_MAX, "%s", worker->sink.name);
        names[n] = words[n];
        n++;
    }
    pthread_mutex_unlock(&notify->lock);
    return n;
}

static void hand_out(struct notify *notify, struct notify_item *item)
{
    pthread_mutex_lock(&notify->lock);
    for (int i = 0; i < notify->n_workers; i++)
        if (wants(notify->workers[i], &item->notice) && !daemon_notify_worker_add(notify->workers[i], item))
            notify->total.dropped++;
    daemon_notify_item_unref(item);
    pthread_mutex_unlock(&notify->lock);
}

/* ---- the file ---- */

/* The worst severity of what was sent of an alert and is not stored; -1: nothing was. */
static int worst_unstored(const struct notify *notify, uint64_t alert)
{
    int worst = -1;
    for (const struct notify_item *at = notify->unstored; at && alert > 0; at = at->next)
        if (at->notice.alert == alert && at->notice.state == DB_NOTICE_RAISED &&
            (int)at->notice.severity > worst)
            worst = (int)at->notice.severity;
    return worst;
}

/* As db_notices_severity(), which does not know what is not stored. */
static int is_news(struct notify *notify, struct db_notice *notice)
{
    int r = notify->db ? db_notices_severity(notify->db, notice) : 0;
    int worst = worst_unstored(notify, notice->alert);
    if (worst < 0)
        return r;
    if (notice->state == DB_NOTICE_RAISED)
        return r == 1 || worst >= (int)notice->severity;
    if (r == 1 || worst > (int)notice->severity)
        notice->severity = (enum db_severity)worst;
    return r < 0 ? r : 0;
}

/* Into the transaction. 0 with item->stored_id; 1: its key is there already; -errno. */
static int put(struct notify *notify, struct notify_item *item, bool again)
{
    char words[NOTIFY_SINKS_MAX][DB_NOTICE_SINK_MAX];
    const char *names[NOTIFY_SINKS_MAX];
    struct db_notice notice = item->notice; /* a sink's thread may read its own */
    int r = db_notices_put(notify->db, &notice, names, names_of(notify, item, again, words, names));
    item->stored_id = r == 0 ? notice.id : r == 1 && again ? -1 : 0;
    return r;
}

static void put_error(const struct notify *notify, int r, char err[static NOTIFY_ERROR_MAX])
{
    if (r < 0)
        snprintf(err, NOTIFY_ERROR_MAX, "%.600s: %s", notify->path, strerror(-r));
}

/* 0: it is to be delivered; 1: it was before, or no one was sent its begin. Without a file it is to be
 * delivered once at least; once a write has failed (err) no more are made, as part of them may be undone. */
static int store(struct notify *notify, struct notify_item *item, char err[static NOTIFY_ERROR_MAX])
{
    int r = is_news(notify, &item->notice);
    if (r == 0 && notify->db && !err[0])
        r = put(notify, item, false);
    put_error(notify, r, err);
    return r < 0 ? 0 : r;
}

/* ---- those that are not stored ---- */

static void append(struct notify *notify, struct notify_item *item)
{
    *notify->unstored_end = item;
    notify->unstored_end = &item->next;
    notify->n_unstored++;
}

/* The transaction has ended. */
static void settle(struct notify *notify, bool committed)
{
    pthread_mutex_lock(&notify->lock);
    for (struct notify_item *at = notify->unstored; at; at = at->next) {
        at->storing = false;
        if (!committed)
            at->stored_id = 0; /* rolled back: the file gives these numbers again, to others */
        else if (at->stored_id > 0)
            at->notice.id = at->stored_id;
    }
    pthread_mutex_unlock(&notify->lock);
}

/* Keeps those alone that are not stored yet, and of too many the oldest. */
static void keep_unstored(struct notify *notify)
{
    struct notify_item *list = notify->unstored;
    notify->unstored = NULL;
    notify->unstored_end = &notify->unstored;
    notify->n_unstored = 0;
    pthread_mutex_lock(&notify->lock);
    for (struct notify_item *item = list, *next; item; item = next) {
        next = item->next;
        item->next = NULL;
        if (item->stored_id == 0 && notify->n_unstored < NOTIFY_PENDING_MAX)
            append(notify, item);
        else
            daemon_notify_item_unref(item);
    }
    pthread_mutex_unlock(&notify->lock);
}

void daemon_notify_store_finish(struct notify *notify)
{
    for (struct notify_item *item = notify->unstored, *next; item; item = next) {
        next = item->next;
        daemon_notify_item_unref(item);
    }
}

bool daemon_notify_store_due(const struct notify *notify, bool last)
{
    return notify->unstored && notify->db && (last || clock_now_ns() >= notify->store_again_ns);
}

/* ---- a burst ---- */

static void take(struct notify *notify, struct notify_item *items, char err[static NOTIFY_ERROR_MAX])
{
    for (struct notify_item *item = notify->unstored; item && notify->db && !err[0]; item = item->next)
        put_error(notify, put(notify, item, true), err);
    for (struct notify_item *item = items, *next; item; item = next) {
        next = item->next;
        item->next = NULL;
        put_key(notify, &item->notice);
        if (store(notify, item, err) == 0) {
            item->refs = 2; /* the list's, and the one that hand_out() gives back */
            append(notify, item);
        } else {
            free(item);
        }
    }
}

void daemon_notify_store(struct notify *notify, struct notify_item *items)
{
    char err[NOTIFY_ERROR_MAX] = "";
    struct notify_item **fresh = notify->unstored_end;
    pthread_mutex_lock(&notify->file);
    bool known = notify->db != NULL;
    int r = known ? db_notices_begin(notify->db) : 0;
    put_error(notify, r, err);
    take(notify, items, err);
    if (known && r == 0)
        r = db_notices_commit(notify->db);
    pthread_mutex_unlock(&notify->file);
    put_error(notify, r, err);
    settle(notify, known && r == 0);
    if (known)
        daemon_notify_report(notify, err);
    for (struct notify_item *item = *fresh; item; item = item->next)
        hand_out(notify, item);
    keep_unstored(notify);
    notify->store_again_ns = clock_now_ns() + STORE_AGAIN_NS;
}
