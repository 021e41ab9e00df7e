#include "db/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/writer_internal.h"
#include "exchange/fail.h"

enum { QUEUE_MAX = 64 << 20 }; /* bytes */

/* Passes the open group to the thread. Without memory it stays and goes with the next one. */
static void publish(struct db_writer *w)
{
    if (w->staged.size == 0)
        return;
    if (w->staged.size > w->staged_group)
        db_queue_end_group(&w->staged, w->staged_last);
    pthread_mutex_lock(&w->lock);
    bool first = w->incoming.size == 0;
    if (db_queue_move(&w->incoming, &w->staged) && first)
        pthread_cond_signal(&w->wake);
    w->waiting = w->incoming.size + w->taken_bytes;
    pthread_mutex_unlock(&w->lock);
    w->staged_group = w->staged.size;
}

void db_writer_group_begin(struct db_writer *w)
{
    w->depth++;
}

void db_writer_group_end(struct db_writer *w)
{
    if (--w->depth > 0)
        return;
    w->event = 0;
    publish(w);
}

void db_writer_put_event(struct db_writer *w, uint64_t seq)
{
    if (w->depth > 0)
        w->event = seq;
}

static bool over_bound(struct db_writer *w)
{
    if (w->waiting <= w->config.queue_max)
        return false;
    pthread_mutex_lock(&w->lock);
    w->waiting = w->incoming.size + w->taken_bytes;
    pthread_mutex_unlock(&w->lock);
    return w->waiting > w->config.queue_max;
}

uint64_t db_writer_count_dropped(struct db_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->stats.dropped++;
    pthread_mutex_unlock(&w->lock);
    return 0;
}

/* A group without one of its rows is never stored: the database ends with the last whole group. */
static void lose(struct db_writer *w)
{
    w->staged.size = w->staged_group;
    pthread_mutex_lock(&w->lock);
    w->lost = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

uint64_t db_writer_put_row(struct db_writer *w, enum db_row_kind kind, const void *row, size_t size,
                           const char *const *texts, int n_texts)
{
    if (db_row_may_be_dropped(kind) && over_bound(w))
        return db_writer_count_dropped(w);
    size_t offset = w->staged.size;
    if (w->lost ||
        !db_queue_append(&w->staged, kind, w->last_ticket + 1, w->event, row, size, texts, n_texts)) {
        if (!w->lost && db_row_is_money(kind))
            lose(w);
        w->last_ticket += w->lost; /* a ticket that is never committed: nothing later is acknowledged */
        return db_writer_count_dropped(w);
    }
    w->staged_last = offset;
    uint64_t ticket = ++w->last_ticket;
    if (w->depth == 0)
        publish(w);
    return ticket;
}

uint64_t db_writer_last(const struct db_writer *w)
{
    return w->last_ticket;
}

uint64_t db_writer_committed(struct db_writer *w)
{
    pthread_mutex_lock(&w->lock);
    uint64_t committed = w->committed;
    pthread_mutex_unlock(&w->lock);
    return committed;
}

/* Lets the storing continue, until that moment at most. The lock is held. */
static void await_stored(struct db_writer *w, int64_t until_ns)
{
    int64_t next = w->config.stepped ? db_writer_step_locked(w) : until_ns;
    if (next < 0 || next > until_ns)
        next = until_ns;
    if (next > db_writer_now_ns(w))
        db_writer_wait_until(w, &w->done, next);
}

int db_writer_flush(struct db_writer *w, int64_t timeout_ms)
{
    int64_t until = db_writer_now_ns(w) + timeout_ms * MS_NS;
    if (w->depth == 0)
        publish(w);
    pthread_mutex_lock(&w->lock);
    w->hurry = true;
    pthread_cond_signal(&w->wake);
    while (w->committed < w->last_ticket && !w->stuck && db_writer_now_ns(w) < until)
        await_stored(w, until);
    w->hurry = false;
    int r = w->committed == w->last_ticket ? 0 : w->stuck ? -EBADMSG : -ETIMEDOUT;
    pthread_mutex_unlock(&w->lock);
    return r;
}

/* Waits until nothing of what was stored is in doubt. */
static void await_proof(struct db_writer *w, int64_t until_ns)
{
    pthread_mutex_lock(&w->lock);
    while (w->doubtful && !w->stuck && db_writer_now_ns(w) < until_ns)
        await_stored(w, until_ns);
    pthread_mutex_unlock(&w->lock);
}

void db_writer_stats(struct db_writer *w, struct db_writer_stats *ret)
{
    pthread_mutex_lock(&w->lock);
    *ret = w->stats;
    ret->queued = w->last_ticket - w->committed;
    ret->commit_p50_ns = db_commit_times_quantile(&w->times, 0.50);
    ret->commit_p99_ns = db_commit_times_quantile(&w->times, 0.99);
    pthread_mutex_unlock(&w->lock);
}

void db_writer_commit_times(struct db_writer *w, struct db_commit_times *ret)
{
    pthread_mutex_lock(&w->lock);
    *ret = w->times;
    pthread_mutex_unlock(&w->lock);
}

static void destroy(struct db_writer *w)
{
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->lock);
    db_queue_finish(&w->staged);
    db_queue_finish(&w->incoming);
    db_queue_finish(&w->taken);
    if (w->doubt.dir >= 0)
        close(w->doubt.dir);
    free(w->path);
    free(w);
}

/* The folder is open from now on: the file system reports failed writes to those that have it open. */
static void open_doubt(struct db_writer *w)
{
    const struct db_writer_config *config = &w->config;
    char *copy = strdup(w->path);
    w->doubt = (struct db_doubt){.store = &w->store,
                                 .path = w->path,
                                 .disk = config->disk,
                                 .dir = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1,
                                 .ctx = config->ctx,
                                 .check = config->check};
    free(copy);
}

int db_writer_open(const char *path, const struct db_writer_config *config, struct db_writer **ret, char *err,
                   size_t err_size)
{
    struct db_writer *w = calloc(1, sizeof *w);
    if (!w || !(w->path = strdup(path))) {
        free(w);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    w->config = *config;
    if (w->config.queue_max == 0)
        w->config.queue_max = QUEUE_MAX;
    w->stats.ok = true;
    w->checkpoint_at = WAL_PAGES_PASSIVE;
    w->delay_ms = RETRY_FIRST_MS;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_cond_init(&w->done, &monotonic);
    pthread_condattr_destroy(&monotonic);

    open_doubt(w);
    int r = db_store_open(&w->store, path, true);
    if (r < 0) {
        snprintf(err, err_size, "%s", w->store.error);
        destroy(w);
        return r;
    }
    db_doubt_remember(&w->doubt);
    r = config->stepped ? 0 : -pthread_create(&w->thread, NULL, db_writer_run, w);
    if (r < 0) {
        snprintf(err, err_size, "no thread: %s", strerror(-r));
        db_store_close(&w->store);
        destroy(w);
        return r;
    }
    *ret = w;
    return 0;
}

/* Why a flush of so long ended without all rows. The lock is held. */
static void say_why(const struct db_writer *w, int r, int64_t timeout_ms, char *err, size_t err_size)
{
    char slow[64] = "the time for it is over";
    const char *why = r == -EBADMSG ? w->stats.conflict : w->stats.last_error;
    if (r == -ETIMEDOUT && w->stats.ok) { /* a last error is of before */
        if (timeout_ms > 0)
            snprintf(slow, sizeof slow, "it takes longer than %lld ms", (long long)timeout_ms);
        why = slow;
    }
    snprintf(err, err_size, "%llu rows could not be stored: %s",
             (unsigned long long)(w->last_ticket - w->committed), why);
}

int db_writer_close(struct db_writer *w, int64_t timeout_ms, char *err, size_t err_size)
{
    if (!w)
        return 0;
    int64_t until = db_writer_now_ns(w) + timeout_ms * MS_NS;
    int r = db_writer_flush(w, timeout_ms);
    await_proof(w, until);
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    w->abandon = r < 0 || w->doubtful;
    if (r < 0)
        say_why(w, r, timeout_ms, err, err_size);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->config.stepped)
        db_writer_run(w);
    else
        pthread_join(w->thread, NULL);
    if (r == 0 && w->doubtful) {
        snprintf(err, err_size, "what the disk has of it could not be checked after a failure: %s",
                 w->stats.last_error);
        r = -EIO;
    }
    destroy(w);
    return r;
}
