/* The writer's transactions, and the handling of failed ones. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/writer_internal.h"

enum {
    ROWS_PER_COMMIT = 8192,  /* a backlog is stored in transactions of about this many rows */
    WAL_TRUNCATE = 16 << 20, /* a file of so many bytes, which readers kept from starting over, is emptied */
    JOURNAL_BEHIND = SQLITE_ABORT, /* the result of a transaction that the event log does not cover */
};

const char db_writer_out_of_memory[] =
    "out of memory: nothing is stored any more; what is stored is whole: restart";

void db_writer_report(struct db_writer *w, enum storing storing, const char *detail)
{
    pthread_mutex_lock(&w->lock);
    if (w->lost) {
        storing = STORING_FAILS;
        detail = db_writer_out_of_memory;
    }
    bool changed = storing != w->storing || (storing != STORING_OK && strcmp(w->reported, detail) != 0);
    w->storing = w->stats.storing = storing;
    w->stats.ok = storing == STORING_OK;
    if (storing != STORING_OK)
        snprintf(w->stats.last_error, sizeof w->stats.last_error, "%s", detail);
    w->stats.retries += storing == STORING_FAILS && !w->lost;
    pthread_mutex_unlock(&w->lock);
    snprintf(w->reported, sizeof w->reported, "%s", detail);
    if (changed && w->config.storing)
        w->config.storing(w->config.ctx, storing);
    if (changed && w->config.state)
        w->config.state(w->config.ctx, storing == STORING_OK, detail);
}

static struct db_row_header *row_at(const struct db_queue *queue, size_t offset)
{
    return (struct db_row_header *)(void *)(queue->data + offset);
}

struct db_writer_chunk db_writer_next_chunk(const struct db_queue *queue, size_t begin)
{
    struct db_writer_chunk chunk = {.begin = begin, .end = begin};
    while (chunk.end < queue->size) {
        const struct db_row_header *row = row_at(queue, chunk.end);
        chunk.end += row->size;
        chunk.rows++;
        chunk.last_ticket = row->ticket;
        if (row->event > chunk.last_event)
            chunk.last_event = row->event;
        if (row->group_end && chunk.rows >= ROWS_PER_COMMIT)
            break;
    }
    return chunk;
}

/* A database that was deleted or moved still accepts writes, into a file without a name. */
int db_writer_still_there(struct db_store *store)
{
    int moved = 0;
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved) {
        snprintf(store->error, sizeof store->error, "the database file was moved or deleted: put it back");
        return SQLITE_READONLY_DBMOVED;
    }
    return SQLITE_OK;
}

/* `stuck`: and one more, which keeps the transaction from being stored. */
static void note_conflicts(struct db_writer *w, uint64_t conflicts, bool stuck)
{
    pthread_mutex_lock(&w->lock);
    w->stuck = stuck;
    w->stats.conflicts = conflicts + stuck;
    memcpy(w->stats.conflict, w->store.conflict, sizeof w->stats.conflict);
    if (stuck)
        pthread_cond_broadcast(&w->done);
    pthread_mutex_unlock(&w->lock);
}

/* The journal is never behind the database. */
static int check_journal(struct db_writer *w, uint64_t event)
{
    int r = event && w->config.before_commit ? w->config.before_commit(w->config.ctx, event) : 0;
    if (r < 0)
        snprintf(w->store.error, sizeof w->store.error, "the event log does not hold event %llu: %s",
                 (unsigned long long)event, strerror(-r));
    return r < 0 ? JOURNAL_BEHIND : SQLITE_OK;
}

/* One transaction. SQLITE_OK, or an error with store->error set and nothing changed. */
static int store_chunk(struct db_writer *w, const struct db_writer_chunk *chunk)
{
    struct db_store *store = &w->store;
    uint64_t corrected = store->bars_corrected, conflicts = store->conflicts, skipped = 0;
    char skip_reason[DB_ERROR_MAX] = "";
    int64_t begin_ns = db_writer_now_ns(w);
    int rc = db_writer_still_there(store);
    if (rc == SQLITE_OK)
        rc = db_store_begin(store);
    for (size_t at = chunk->begin; rc == SQLITE_OK && at < chunk->end;) {
        struct db_row_header *row = row_at(&w->taken, at);
        rc = db_store_apply(store, row);
        if ((rc & 0xff) == SQLITE_CONSTRAINT && !db_row_is_money(row->kind)) {
            skipped++;
            memcpy(skip_reason, store->error, sizeof skip_reason);
            rc = SQLITE_OK;
        }
        at += row->size;
    }
    if (rc == SQLITE_OK && chunk->last_event > store->event_seq)
        rc = db_store_event(store, chunk->last_event);
    if (rc == SQLITE_OK)
        rc = check_journal(w, chunk->last_event);
    if (rc == SQLITE_OK)
        rc = db_store_commit(store);
    if (rc == SQLITE_OK && w->proving)
        rc = db_doubt_same_log(&w->doubt);
    if (rc == SQLITE_OK && w->proving)
        rc = db_doubt_settle(&w->doubt);
    if (rc != SQLITE_OK) {
        db_store_rollback(store);
        store->bars_corrected = corrected;
        note_conflicts(w, conflicts, store->conflicts > conflicts);
        store->conflicts = conflicts;
        return rc;
    }
    w->commit_end_ns = db_writer_now_ns(w);
    if (chunk->last_event > store->event_seq)
        store->event_seq = chunk->last_event;
    note_conflicts(w, store->conflicts, false);
    db_doubt_remember(&w->doubt);

    pthread_mutex_lock(&w->lock);
    w->committed = chunk->last_ticket;
    w->taken_bytes = w->taken.size - chunk->end;
    w->stats.commits++;
    w->stats.rows += chunk->rows - skipped;
    w->stats.skipped += skipped;
    if (skipped)
        memcpy(w->stats.last_error, skip_reason, sizeof skip_reason);
    w->stats.bars_corrected = store->bars_corrected;
    db_commit_times_add(&w->times, w->commit_end_ns - begin_ns);
    pthread_cond_broadcast(&w->done);
    pthread_mutex_unlock(&w->lock);
    return SQLITE_OK;
}

/* ---- the disk in doubt ---- */

/* Errors after which it is in doubt what the disk has: a full disk too, which a sync may have met. */
static bool is_doubtful(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_CONSTRAINT:
    case SQLITE_NOMEM:
    case JOURNAL_BEHIND:
        return false;
    default:
        return rc != SQLITE_OK && rc != SQLITE_READONLY_DBMOVED;
    }
}

void db_writer_note_failure(struct db_writer *w, int rc)
{
    db_writer_report(w, STORING_FAILS, w->store.error);
    if (!is_doubtful(rc))
        return;
    pthread_mutex_lock(&w->lock);
    bool news = !w->doubtful;
    w->doubtful = true;
    w->stats.failed++;
    pthread_mutex_unlock(&w->lock);
    db_store_close(&w->store);
    if (news && w->config.doubt)
        w->config.doubt(w->config.ctx);
}

/* The file is damaged: rebuilds it. A SQLite result code, with the store open. */
static int rebuild(struct db_writer *w)
{
    char why[DB_ERROR_MAX], text[DB_ERROR_MAX] = "";
    uint64_t event = 0;
    snprintf(why, sizeof why, "%s", w->store.error);
    int r = w->config.rebuild ? check_journal(w, w->doubt.event_seq) : SQLITE_CORRUPT;
    if (r != SQLITE_OK)
        return r;
    db_writer_report(w, STORING_REBUILDS, why);
    r = w->config.rebuild(w->config.ctx, why, &event, text, sizeof text);
    if (r < 0) {
        snprintf(w->store.error, sizeof w->store.error, "%.200s; it cannot be built again: %.250s", why,
                 text);
        return SQLITE_CORRUPT;
    }
    w->store.known_event = event;
    if (db_store_open(&w->store, w->path, false) < 0)
        return SQLITE_CANTOPEN;
    db_doubt_remember(&w->doubt);
    pthread_mutex_lock(&w->lock);
    w->stats.rebuilt++;
    pthread_mutex_unlock(&w->lock);
    return SQLITE_OK;
}

int db_writer_dispel_doubt(struct db_writer *w)
{
    pthread_mutex_lock(&w->lock);
    bool doubtful = w->doubtful;
    w->doubtful = false; /* doubts that come meanwhile stay */
    pthread_mutex_unlock(&w->lock);
    if (!doubtful)
        return w->store.db || db_store_open(&w->store, w->path, false) == 0 ? SQLITE_OK : SQLITE_CANTOPEN;
    db_writer_report(w, STORING_CHECKS, "what the disk has is compared with what was written");
    int r = db_doubt_dispel(&w->doubt);
    int rc = r == 0 ? SQLITE_OK : r == -EBADMSG ? rebuild(w) : SQLITE_IOERR;
    pthread_mutex_lock(&w->lock);
    w->doubtful |= rc != SQLITE_OK;
    w->stats.checked += rc == SQLITE_OK;
    w->proving |= rc == SQLITE_OK;
    pthread_mutex_unlock(&w->lock);
    return rc;
}

void db_writer_keep_log_short(struct db_writer *w, int at, bool truncate)
{
    bool empty = false;
    int pages = w->store.wal_pages;
    if (!w->store.db || pages < at)
        return;
    truncate |= db_store_log_bytes(&w->store) >= WAL_TRUNCATE;
    int rc = db_store_checkpoint(&w->store, truncate, &empty);
    w->checkpoint_at = empty ? WAL_PAGES_PASSIVE : pages + WAL_PAGES_PASSIVE;
    if (rc != SQLITE_OK)
        db_writer_note_failure(w, rc);
}

bool db_writer_try_chunk(struct db_writer *w, const struct db_writer_chunk *chunk)
{
    int rc = db_writer_dispel_doubt(w);
    if (rc == SQLITE_OK)
        rc = store_chunk(w, chunk);
    if (rc != SQLITE_OK) {
        db_writer_note_failure(w, rc);
        return false;
    }
    w->proving = false;
    db_writer_report(w, STORING_OK, "");
    if (w->config.committed)
        w->config.committed(w->config.ctx, chunk->last_ticket);
    db_writer_keep_log_short(w, w->checkpoint_at, false);
    return true;
}
