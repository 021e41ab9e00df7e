/* The writer's thread: its next step, and when it is due. */
#include <time.h>

#include "db/writer_internal.h"

enum {
    RETRY_LAST_MS = 2000,
    IDLE_MS = 1000, /* without rows, before the log is emptied */
    WAL_PAGES_IDLE = 200,
    QUEUE_KEPT = 1 << 20, /* bytes of memory that an empty queue keeps after a backlog: there are three */
};

/* The lock is held. */
static void wait_longer(struct db_writer *w)
{
    w->retry_ns = db_writer_now_ns(w) + w->delay_ms * MS_NS;
    w->delay_ms = w->delay_ms * 2 < RETRY_LAST_MS ? w->delay_ms * 2 : RETRY_LAST_MS;
}

/* The lock is held. */
static void wait_no_longer(struct db_writer *w)
{
    w->retry_ns = 0;
    w->delay_ms = RETRY_FIRST_MS;
}

/* Without rows. As db_writer_step_locked(). */
static int64_t check_disk(struct db_writer *w)
{
    if (w->retry_ns > db_writer_now_ns(w))
        return w->retry_ns;
    pthread_mutex_unlock(&w->lock);
    int rc = db_writer_dispel_doubt(w);
    if (rc == SQLITE_OK)
        db_writer_report(w, STORING_OK, "");
    else
        db_writer_note_failure(w, rc);
    pthread_mutex_lock(&w->lock);
    if (rc == SQLITE_OK)
        wait_no_longer(w);
    else
        wait_longer(w);
    pthread_cond_broadcast(&w->done);
    return 0;
}

void db_writer_doubt(struct db_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->doubtful = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

/* Stores the next chunk of what was taken. As db_writer_step_locked(). */
static int64_t store_next(struct db_writer *w)
{
    w->ended = w->retry_ns > 0 && w->abandon;
    if (w->ended)
        return -1;
    if (w->retry_ns > db_writer_now_ns(w))
        return w->retry_ns;
    pthread_mutex_unlock(&w->lock);
    struct db_writer_chunk chunk = db_writer_next_chunk(&w->taken, w->taken_at);
    bool stored = db_writer_try_chunk(w, &chunk);
    pthread_mutex_lock(&w->lock);
    if (!stored) {
        wait_longer(w);
        return 0;
    }
    wait_no_longer(w);
    w->taken_at = chunk.end;
    if (w->taken_at < w->taken.size)
        return 0;
    w->taken.size = w->taken_at = 0;
    if (w->taken.capacity > QUEUE_KEPT)
        db_queue_finish(&w->taken);
    return 0;
}

/* Without rows for a while the log is emptied. As db_writer_step_locked(). */
static int64_t be_idle(struct db_writer *w)
{
    int64_t now = db_writer_now_ns(w);
    if (w->idle_ns == 0)
        w->idle_ns = now + IDLE_MS * MS_NS;
    if (now < w->idle_ns)
        return w->idle_ns;
    w->idle_ns = now + IDLE_MS * MS_NS;
    if (!w->store.db || w->store.wal_pages < WAL_PAGES_IDLE)
        return w->idle_ns;
    pthread_mutex_unlock(&w->lock);
    db_writer_keep_log_short(w, WAL_PAGES_IDLE, true);
    w->checkpoint_at = WAL_PAGES_PASSIVE;
    pthread_mutex_lock(&w->lock);
    return 0;
}

/* Takes the rows that came, after waiting a little for more of them. As db_writer_step_locked(). */
static int64_t take_rows(struct db_writer *w)
{
    int64_t group_ns = w->commit_end_ns + w->config.max_delay_ms * MS_NS;
    if (!w->hurry && !w->stop && db_writer_now_ns(w) < group_ns)
        return group_ns;
    if (w->incoming.size == 0 && w->stop) {
        w->ended = true;
        return -1;
    }
    struct db_queue empty = w->taken;
    w->taken = w->incoming;
    w->incoming = empty;
    w->taken_bytes = w->taken.size;
    w->idle_ns = 0;
    if (w->lost && !w->lost_reported) {
        w->lost_reported = true;
        pthread_mutex_unlock(&w->lock);
        db_writer_report(w, STORING_FAILS, db_writer_out_of_memory);
        pthread_mutex_lock(&w->lock);
    }
    return 0;
}

int64_t db_writer_step_locked(struct db_writer *w)
{
    if (w->ended)
        return -1;
    if (w->taken_at < w->taken.size)
        return store_next(w);
    if (w->incoming.size == 0 && w->doubtful && !w->abandon)
        return check_disk(w);
    int64_t keep_ns = db_writer_keep_due(w);
    if (keep_ns <= db_writer_now_ns(w))
        return db_writer_keep_step(w);
    if (w->incoming.size > 0 || w->stop || w->lost != w->lost_reported)
        return take_rows(w);
    int64_t idle_ns = be_idle(w);
    return idle_ns < keep_ns ? idle_ns : keep_ns;
}

void db_writer_wait_until(struct db_writer *w, pthread_cond_t *cond, int64_t until_ns)
{
    const struct clock_stepped *stepped = w->config.stepped;
    struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
    if (!stepped) {
        pthread_cond_timedwait(cond, &w->lock, &until);
        return;
    }
    pthread_mutex_unlock(&w->lock);
    stepped->pass(stepped->ctx, until_ns);
    pthread_mutex_lock(&w->lock);
}

void *db_writer_run(void *arg)
{
    struct db_writer *w = arg;
    int64_t until;
    if (w->config.started)
        w->config.started(w->config.ctx);
    pthread_mutex_lock(&w->lock);
    while ((until = db_writer_step_locked(w)) >= 0)
        if (until > db_writer_now_ns(w))
            db_writer_wait_until(w, &w->wake, until);
    bool doubtful = w->doubtful;
    pthread_mutex_unlock(&w->lock);
    if (!doubtful)
        db_writer_keep_log_short(w, 0, true);
    db_store_close(&w->store);
    return NULL;
}

int64_t db_writer_step(struct db_writer *w)
{
    pthread_mutex_lock(&w->lock);
    int64_t until = db_writer_step_locked(w);
    pthread_mutex_unlock(&w->lock);
    return until < 0 ? INT64_MAX : until;
}
