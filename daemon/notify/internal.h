/* The threads of notify.h: notify.c is the loop's side, dispatch.c the thread that stores (store.c), worker.c
 * one that delivers. Internal to daemon/notify/. */
#ifndef DAEMON_NOTIFY_INTERNAL_H
#define DAEMON_NOTIFY_INTERNAL_H

#include <pthread.h>

#include "daemon/notify/backoff.h"
#include "daemon/notify/notify.h"

enum {
    NOTIFY_PENDING_MAX = 4096, /* of a sink: beyond it only errors are taken */
    NOTIFY_INBOX_MAX = 4096,
    NOTIFY_LOOK_MS = 1000, /* at which threads look whether something is due */
};

/* A notice, shared by the sinks that have not accepted it; counted under the lock. */
struct notify_item {
    struct notify_item *next; /* in the inbox, or among those that are not stored */
    int refs;
    bool storing;      /* its number may be another in a moment: it is not forgotten until then */
    int64_t stored_id; /* of the transaction under way */
    struct db_notice notice;
};

/* A notice that a sink has not accepted, … */
struct notify_pending {
    struct notify_pending *next;
    struct notify_item *item;
    int64_t attempts;
    bool accepted; /* … or has, or needs no more, which the file does not have yet */
};

struct notify_test {
    struct notify_test *next;
    notify_tested_done *done; /* NULL: it was answered */
    void *ctx;
    int n, left;
    struct notify_tested tested[NOTIFY_SINKS_MAX];
};

struct notify_worker {
    struct notify *notify;
    struct notify_sink sink;
    pthread_t thread;
    pthread_cond_t wake;
    bool leaving, ended;
    struct notify_pending *first, **end;
    int64_t n_pending, n_unstored; /* n_unstored: accepted among them */
    struct notify_backoff backoff;
    struct notify_test *tests[NOTIFY_SINKS_MAX]; /* that wait for it */
    int n_tests;
    bool tried;
    char detail[NOTIFY_DETAIL_MAX];
    int64_t last_ns, last_store_ns;
    uint64_t accepted, failed;
    struct notify_worker *gone; /* the next that left */
};

struct notify {
    uv_loop_t *loop;
    uv_async_t async;
    char path[600], host[NOTIFY_HOST_MAX];
    uint64_t last_alert; /* of the file at the start */
    atomic_bool stop;

    pthread_mutex_t lock; /* of all that follows; never held while a file or a socket is waited for */
    pthread_cond_t wake, ended;
    bool stopping, dispatches; /* dispatches: the dispatcher's thread was started */
    int threads;
    struct notify_config config;
    bool configured; /* the dispatcher has not taken it yet */
    struct notify_item *inbox, **inbox_end;
    int n_inbox;
    struct alert *open; /* open alerts at the start, until the dispatcher has them */
    size_t n_open;
    bool have_open;
    struct notify_worker *workers[NOTIFY_SINKS_MAX], *gone;
    int n_workers;
    struct notify_test *tests, *tested; /* under way; that have ended */
    struct notify_total total;

    struct notify_item *unstored, **unstored_end; /* the dispatcher's: delivered from memory */
    int n_unstored;
    int64_t store_again_ns;

    pthread_mutex_t file; /* of db; never taken while the other lock is held */
    struct db_notices *db;
    char
        instance[DB_NOTICE_INSTANCE_MAX]; /* of db, for keys; of this run without one; under the other lock */
};

/* ---- notify.c: pure ---- */

void daemon_notify_put_alert(struct db_notice *ret, const struct alert *alert, enum db_severity severity,
                             int64_t over_ns);
/* The sink that it is about, of its rule and text: "alert sink fails: webhook.ops: …". */
void daemon_notify_put_except(struct db_notice *notice);

/* ---- dispatch.c ---- */

/* Opens the file. 0 or -errno; total.error says why. Without the locks. */
int daemon_notify_open(struct notify *notify);
void *daemon_notify_dispatch(void *notify);
/* Why the file stores nothing, into the log where that is news; "": it does. */
void daemon_notify_report(struct notify *notify, const char *error);

/* ---- store.c: the dispatcher's ---- */

/* Stores notices in one transaction (a burst costs one sync), with those that the file did not take before,
 * and gives them to the sinks' threads: only once they are on the disk, or where the disk refuses. Takes the
 * items; NULL: those from before alone. */
void daemon_notify_store(struct notify *notify, struct notify_item *items);
/* Is it time to try again what the file did not take? */
bool daemon_notify_store_due(const struct notify *notify, bool last);
void daemon_notify_store_finish(struct notify *notify);

/* ---- worker.c; the lock is held ---- */

/* NULL without memory, or where no thread can be started. failing_ns: since when it failed in a former run,
 * by the wall clock; 0: it did not. */
struct notify_worker *daemon_notify_worker_create(struct notify *notify, const struct notify_sink *sink,
                                                  int64_t failing_ns);
/* After its thread has ended. */
void daemon_notify_worker_destroy(struct notify_worker *worker);
/* False without memory, or where too many are pending. Keeps a reference. */
bool daemon_notify_worker_add(struct notify_worker *worker, struct notify_item *item);
bool daemon_notify_is_quiet(const struct notify *notify);
void daemon_notify_item_unref(struct notify_item *item);

#endif
