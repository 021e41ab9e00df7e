/* Housekeeping, between the writer's commits. */
#include "db/writer_internal.h"

enum { PAUSE_MS = 200 }; /* between two steps, of a few milliseconds each */

void db_writer_keep(struct db_writer *w, const struct db_retention *before)
{
    pthread_mutex_lock(&w->lock);
    w->keep_before = *before;
    w->keep = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

int64_t db_writer_keep_due(struct db_writer *w)
{
    if (w->keep) {
        db_keeping_begin(&w->keeping, &w->keep_before);
        w->keep = false;
        w->keep_ns = db_writer_now_ns(w);
    }
    bool able = w->store.db && !w->stop && !w->doubtful && !w->proving && w->retry_ns == 0;
    return able && w->keep_ns > 0 ? w->keep_ns : INT64_MAX;
}

int64_t db_writer_keep_step(struct db_writer *w)
{
    pthread_mutex_unlock(&w->lock);
    int rc = db_writer_still_there(&w->store);
    if (rc == SQLITE_OK)
        rc = db_keeping_step(&w->keeping, &w->store, clock_wall_ns());
    if (rc == SQLITE_OK)
        db_doubt_remember(&w->doubt);
    else if ((rc & 0xff) == SQLITE_CONSTRAINT) /* another table names such a row: it stays */
        w->keeping.stage++;
    else
        db_writer_note_failure(w, rc);
    if (rc == SQLITE_OK)
        db_writer_keep_log_short(w, w->checkpoint_at, false);
    pthread_mutex_lock(&w->lock);
    w->keep_ns = w->keeping.stage == DB_KEEPING_DONE ? 0 : db_writer_now_ns(w) + PAUSE_MS * MS_NS;
    return 0;
}
