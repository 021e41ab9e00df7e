#include "db/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/commit_times.h"
#include "db/doubt.h"
#include "db/queue.h"
#include "db/store.h"
#include "exchange/clock.h"

#define MS_NS INT64_C(1000000)

enum {
    ROWS_PER_COMMIT = 8192, /* a backlog is stored in transactions of about this many rows */
    QUEUE_MAX = 64 << 20,   /* bytes */
    RETRY_FIRST_MS = 50,
    RETRY_LAST_MS = 2000,
    IDLE_MS = 1000,                 /* without rows, before the log is emptied */
    WAL_PAGES_PASSIVE = 1000,       /* 4 MB: move the log's pages */
    WAL_PAGES_TRUNCATE = 16 * 1000, /* 64 MB: readers kept the log from starting over; try to empty it */
    WAL_PAGES_IDLE = 200,
    QUEUE_KEPT = 8 << 20,          /* bytes of memory that an empty queue keeps after a backlog */
    JOURNAL_BEHIND = SQLITE_ABORT, /* what a transaction came to that the event log does not cover */
};

struct db_writer {
    struct db_writer_config config;
    char *path;
    pthread_t thread;

    /* The loop's. */
    struct db_queue staged; /* rows of the open group, and of those that found no memory to be handed over */
    size_t staged_group;    /* offset of the open group */
    size_t staged_last;     /* offset of its last row */
    int depth;              /* of groups */
    uint64_t event;         /* of the open group; 0: none */
    uint64_t last_ticket;
    size_t waiting; /* bytes handed over and not stored, when last looked at */

    /* Both threads', under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t wake, done; /* to the thread, to the loop */
    struct db_queue incoming;
    size_t taken_bytes;
    uint64_t committed;
    bool hurry, stop, abandon;
    bool stuck;    /* what is stored contradicts a row that must be stored */
    bool doubtful; /* after an I/O error, here or beside: what reads well may not be on the disk */
    bool lost;     /* a row that must be stored found no memory: its group and all after it are refused */
    struct db_writer_stats stats;
    struct db_commit_times times;

    /* The thread's. */
    struct db_queue taken;
    size_t taken_at;  /* offset of what is not stored yet */
    int64_t retry_ns; /* the last try failed: when it is tried again; 0: it did not */
    int delay_ms;     /* and how long after the next failure */
    int64_t idle_ns;  /* without rows: when the log is emptied; 0: there were some */
    bool ended;       /* asked to stop, or to give up */
    struct db_store store;
    int checkpoint_at; /* pages in the log */
    int64_t commit_end_ns;
    struct db_doubt doubt;
    bool proving; /* since the doubt was dispelled nothing was committed and compared with the disk */
    enum storing storing;
    bool lost_reported;
    char reported[DB_ERROR_MAX];
};

static const char out_of_memory[] =
    "out of memory: nothing is stored any more; what is stored is whole: restart";

static int64_t now_ns(const struct db_writer *w)
{
    const struct clock_stepped *stepped = w->config.stepped;
    return stepped ? stepped->now_ns(stepped->ctx) : clock_now_ns();
}

/* ---- the thread ---- */

static void report(struct db_writer *w, enum storing storing, const char *detail)
{
    pthread_mutex_lock(&w->lock);
    if (w->lost) {
        storing = STORING_FAILS;
        detail = out_of_memory;
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

struct chunk {
    size_t begin, end; /* in taken */
    uint64_t rows, last_ticket;
    uint64_t last_event; /* 0: of none */
};

static const struct db_row_header *row_at(const struct db_queue *queue, size_t offset)
{
    return (const struct db_row_header *)(const void *)(queue->data + offset);
}

static struct chunk next_chunk(const struct db_queue *queue, size_t begin)
{
    struct chunk chunk = {.begin = begin, .end = begin};
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

/* A database that was deleted or moved still takes writes, into a file that nobody will find. */
static int check_still_there(struct db_store *store)
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
static int store_chunk(struct db_writer *w, const struct chunk *chunk)
{
    struct db_store *store = &w->store;
    uint64_t corrected = store->bars_corrected, conflicts = store->conflicts, skipped = 0;
    char skip_reason[DB_ERROR_MAX] = "";
    int64_t begin_ns = now_ns(w);
    int rc = check_still_there(store);
    if (rc == SQLITE_OK)
        rc = db_store_begin(store);
    for (size_t at = chunk->begin; rc == SQLITE_OK && at < chunk->end;) {
        const struct db_row_header *row = row_at(&w->taken, at);
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
    w->commit_end_ns = now_ns(w);
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

/* Errors after which what the disk has is in doubt: a full disk too, which a sync may have met. */
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

/* After an error that store->error tells. */
static void note_failure(struct db_writer *w, int rc)
{
    report(w, STORING_FAILS, w->store.error);
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

/* The file is damaged: another takes its place. A SQLite result code, with the store open. */
static int rebuild(struct db_writer *w)
{
    char why[DB_ERROR_MAX], text[DB_ERROR_MAX] = "";
    uint64_t event = 0;
    snprintf(why, sizeof why, "%s", w->store.error);
    int r = w->config.rebuild ? check_journal(w, w->doubt.event_seq) : SQLITE_CORRUPT;
    if (r != SQLITE_OK)
        return r;
    report(w, STORING_REBUILDS, why);
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

/* Nothing builds upon what may not be on the disk before it is known to be. A SQLite result code; an open
 * store. */
static int dispel_doubt(struct db_writer *w)
{
    pthread_mutex_lock(&w->lock);
    bool doubtful = w->doubtful;
    w->doubtful = false; /* doubts that come meanwhile stay */
    pthread_mutex_unlock(&w->lock);
    if (!doubtful)
        return w->store.db || db_store_open(&w->store, w->path, false) == 0 ? SQLITE_OK : SQLITE_CANTOPEN;
    report(w, STORING_CHECKS, "what the disk has is compared with what was written");
    int r = db_doubt_dispel(&w->doubt);
    int rc = r == 0 ? SQLITE_OK : r == -EBADMSG ? rebuild(w) : SQLITE_IOERR;
    pthread_mutex_lock(&w->lock);
    w->doubtful |= rc != SQLITE_OK;
    w->stats.checked += rc == SQLITE_OK;
    w->proving |= rc == SQLITE_OK;
    pthread_mutex_unlock(&w->lock);
    return rc;
}

static void keep_log_short(struct db_writer *w, int at, bool truncate)
{
    bool empty = false;
    int pages = w->store.wal_pages;
    if (!w->store.db || pages < at)
        return;
    int rc = db_store_checkpoint(&w->store, truncate, &empty);
    w->checkpoint_at = empty ? WAL_PAGES_PASSIVE : pages + WAL_PAGES_PASSIVE;
    if (rc != SQLITE_OK)
        note_failure(w, rc);
}

/* Tries to store a chunk. false: it is to be tried again. */
static bool try_chunk(struct db_writer *w, const struct chunk *chunk)
{
    int rc = dispel_doubt(w);
    if (rc == SQLITE_OK)
        rc = store_chunk(w, chunk);
    if (rc != SQLITE_OK) {
        note_failure(w, rc);
        return false;
    }
    w->proving = false;
    report(w, STORING_OK, "");
    if (w->config.committed)
        w->config.committed(w->config.ctx, chunk->last_ticket);
    keep_log_short(w, w->checkpoint_at, w->store.wal_pages >= WAL_PAGES_TRUNCATE);
    return true;
}

/* The lock is held. */
static void wait_longer(struct db_writer *w)
{
    w->retry_ns = now_ns(w) + w->delay_ms * MS_NS;
    w->delay_ms = w->delay_ms * 2 < RETRY_LAST_MS ? w->delay_ms * 2 : RETRY_LAST_MS;
}

/* The lock is held. */
static void wait_no_longer(struct db_writer *w)
{
    w->retry_ns = 0;
    w->delay_ms = RETRY_FIRST_MS;
}

/* Without rows. As step(). */
static int64_t check_disk(struct db_writer *w)
{
    if (w->retry_ns > now_ns(w))
        return w->retry_ns;
    pthread_mutex_unlock(&w->lock);
    int rc = dispel_doubt(w);
    if (rc == SQLITE_OK)
        report(w, STORING_OK, "");
    else
        note_failure(w, rc);
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

/* Stores the next chunk of what was taken. As step(). */
static int64_t store_next(struct db_writer *w)
{
    w->ended = w->retry_ns > 0 && w->abandon;
    if (w->ended)
        return -1;
    if (w->retry_ns > now_ns(w))
        return w->retry_ns;
    pthread_mutex_unlock(&w->lock);
    struct chunk chunk = next_chunk(&w->taken, w->taken_at);
    bool stored = try_chunk(w, &chunk);
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

/* Without rows for a while the log is emptied. As step(). */
static int64_t be_idle(struct db_writer *w)
{
    int64_t now = now_ns(w);
    if (w->idle_ns == 0)
        w->idle_ns = now + IDLE_MS * MS_NS;
    if (now < w->idle_ns)
        return w->idle_ns;
    w->idle_ns = now + IDLE_MS * MS_NS;
    if (!w->store.db || w->store.wal_pages < WAL_PAGES_IDLE)
        return w->idle_ns;
    pthread_mutex_unlock(&w->lock);
    keep_log_short(w, WAL_PAGES_IDLE, true);
    w->checkpoint_at = WAL_PAGES_PASSIVE;
    pthread_mutex_lock(&w->lock);
    return 0;
}

/* Takes the rows that came, after waiting a little for more of them. As step(). */
static int64_t take_rows(struct db_writer *w)
{
    int64_t group_ns = w->commit_end_ns + w->config.max_delay_ms * MS_NS;
    if (!w->hurry && !w->stop && now_ns(w) < group_ns)
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
        report(w, STORING_FAILS, out_of_memory);
        pthread_mutex_lock(&w->lock);
    }
    return 0;
}

/* As db_writer_step(), and -1: no more, it is to stop. The lock is held, but not while the disk works. */
static int64_t step(struct db_writer *w)
{
    if (w->ended)
        return -1;
    if (w->taken_at < w->taken.size)
        return store_next(w);
    if (w->incoming.size == 0 && w->doubtful && !w->abandon)
        return check_disk(w);
    if (w->incoming.size == 0 && !w->stop && w->lost == w->lost_reported)
        return be_idle(w);
    return take_rows(w);
}

/* Waits to be woken, until that moment at most. The lock is held, but not while it waits. */
static void wait_until(struct db_writer *w, pthread_cond_t *cond, int64_t until_ns)
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

static void *run(void *arg)
{
    struct db_writer *w = arg;
    int64_t until;
    pthread_mutex_lock(&w->lock);
    while ((until = step(w)) >= 0)
        if (until > now_ns(w))
            wait_until(w, &w->wake, until);
    bool doubtful = w->doubtful;
    pthread_mutex_unlock(&w->lock);
    if (!doubtful)
        keep_log_short(w, 0, true);
    db_store_close(&w->store);
    return NULL;
}

int64_t db_writer_step(struct db_writer *w)
{
    pthread_mutex_lock(&w->lock);
    int64_t until = step(w);
    pthread_mutex_unlock(&w->lock);
    return until < 0 ? INT64_MAX : until;
}

/* ---- the loop's side ---- */

/* Hands the open group over. Without memory it stays and goes with the next one. */
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

/* A newer value of these comes soon, or whoever told it tells it again. */
static bool may_be_dropped(enum db_row_kind kind)
{
    switch (kind) {
    case DB_ROW_PRICE:
    case DB_ROW_TELEMETRY:
    case DB_ROW_FEED:
    case DB_ROW_VENUE:
    case DB_ROW_TRAINING:
    case DB_ROW_TRAINING_POINT:
    case DB_ROW_TRAINING_EVALUATION:
    case DB_ROW_TRAINING_STATE:
        return true;
    default:
        return false;
    }
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

static uint64_t count_dropped(struct db_writer *w)
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

static uint64_t put(struct db_writer *w, enum db_row_kind kind, const void *row, size_t size,
                    const char *const *texts, int n_texts)
{
    if (may_be_dropped(kind) && over_bound(w))
        return count_dropped(w);
    size_t offset = w->staged.size;
    if (w->lost ||
        !db_queue_append(&w->staged, kind, w->last_ticket + 1, w->event, row, size, texts, n_texts)) {
        if (!w->lost && db_row_is_money(kind))
            lose(w);
        w->last_ticket += w->lost; /* a ticket that is never committed: nothing later is acknowledged */
        return count_dropped(w);
    }
    w->staged_last = offset;
    uint64_t ticket = ++w->last_ticket;
    if (w->depth == 0)
        publish(w);
    return ticket;
}

#define PUT(writer, kind, row, ...) \
    put(writer, kind, row, sizeof *(row), (const char *const[]){__VA_ARGS__}, \
        (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

uint64_t db_writer_put_meta(struct db_writer *w, const char *key, const char *value)
{
    return put(w, DB_ROW_META, "", 0, (const char *const[]){key, value}, 2);
}

uint64_t db_writer_put_paused(struct db_writer *w, bool paused)
{
    return db_writer_put_meta(w, "paused", paused ? "1" : "0");
}

uint64_t db_writer_put_account(struct db_writer *w, const struct db_account *account)
{
    return put(w, DB_ROW_ACCOUNT, account, sizeof *account, NULL, 0);
}

uint64_t db_writer_put_symbol(struct db_writer *w, int index, const char *venue, const struct symbol *symbol,
                              int64_t seen_ns)
{
    struct db_row_symbol row = {.index = index, .seen_ns = seen_ns, .symbol = *symbol};
    return PUT(w, DB_ROW_SYMBOL, &row, venue);
}

uint64_t db_writer_put_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                           const struct bar *bar)
{
    struct db_row_bar row = {.symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = *bar};
    return put(w, DB_ROW_BAR, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_put_gap(struct db_writer *w, const struct db_gap *gap)
{
    return put(w, DB_ROW_GAP, gap, sizeof *gap, NULL, 0);
}

uint64_t db_writer_put_price(struct db_writer *w, const struct db_price *price)
{
    return put(w, DB_ROW_PRICE, price, sizeof *price, NULL, 0);
}

uint64_t db_writer_put_order(struct db_writer *w, const struct order *order)
{
    return put(w, DB_ROW_ORDER, order, sizeof *order, NULL, 0);
}

uint64_t db_writer_put_fill(struct db_writer *w, const struct fill *fill)
{
    return put(w, DB_ROW_FILL, fill, sizeof *fill, NULL, 0);
}

uint64_t db_writer_put_ledger(struct db_writer *w, const struct ledger_row *row)
{
    return put(w, DB_ROW_LEDGER, row, sizeof *row, NULL, 0);
}

uint64_t db_writer_put_position(struct db_writer *w, int account, int symbol, const struct position *position)
{
    struct db_row_position row = {.account = account, .symbol = symbol, .position = *position};
    return put(w, DB_ROW_POSITION, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_put_equity(struct db_writer *w, int account, int64_t ts_ns, int64_t equity, int64_t cash,
                              int64_t peak, int64_t day, int64_t day_equity, int64_t killed_ns)
{
    struct db_row_equity row = {
        .account = account,
        .ts_ns = ts_ns,
        .equity = equity,
        .cash = cash,
        .peak = peak,
        .day = day,
        .day_equity = day_equity,
        .killed_ns = killed_ns,
    };
    return put(w, DB_ROW_EQUITY, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_keep_equity(struct db_writer *w, const struct db_equity_kept *point, bool last)
{
    struct db_row_equity row = {
        .account = point->account,
        .kind = last ? DB_EQUITY_LAST : DB_EQUITY_PAST,
        .ts_ns = point->ts_ns,
        .equity = point->equity,
        .cash = point->cash,
        .peak = point->peak,
        .day = point->day,
        .day_equity = point->day_equity,
        .killed_ns = point->killed_ns,
    };
    return put(w, DB_ROW_EQUITY, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_put_command(struct db_writer *w, const struct db_command *command)
{
    return PUT(w, DB_ROW_COMMAND, command, command->cmd, command->args, command->result,
               command->key ? command->key : "");
}

uint64_t db_writer_put_alert(struct db_writer *w, const struct db_alert *alert)
{
    return PUT(w, DB_ROW_ALERT, alert, alert->code, alert->text);
}

uint64_t db_writer_put_telemetry(struct db_writer *w, const struct db_telemetry *value)
{
    return PUT(w, DB_ROW_TELEMETRY, value, value->name);
}

uint64_t db_writer_put_feed(struct db_writer *w, const struct db_feed *feed)
{
    return PUT(w, DB_ROW_FEED, feed, feed->stream, feed->detail);
}

/* A row whose texts end with bytes of a known size: they take the place of the struct's tail. */
static uint64_t put_bytes(struct db_writer *w, enum db_row_kind kind, const void *row, size_t size,
                          const void *bytes, size_t n, const char *const *texts, int n_texts)
{
    unsigned char *whole = malloc(size + n);
    if (!whole)
        return count_dropped(w);
    memcpy(whole, row, size);
    if (n > 0)
        memcpy(whole + size, bytes, n);
    uint64_t ticket = put(w, kind, whole, size + n, texts, n_texts);
    free(whole);
    return ticket;
}

uint64_t db_writer_put_chart_series(struct db_writer *w, const struct db_chart_series *series, bool anew)
{
    struct db_row_chart_series row = {.symbol = series->symbol,
                                      .anew = anew,
                                      .interval_ns = series->interval_ns,
                                      .base_ns = series->base_ns,
                                      .next_ns = series->next_ns,
                                      .memory_size = series->memory_size};
    return put_bytes(w, DB_ROW_CHART_SERIES, &row, sizeof row, series->memory, series->memory_size,
                     (const char *const[]){series->specs, series->names}, 2);
}

uint64_t db_writer_drop_chart_series(struct db_writer *w, int symbol, int64_t interval_ns)
{
    struct db_row_chart_series row = {
        .symbol = symbol, .anew = true, .gone = true, .interval_ns = interval_ns};
    return PUT(w, DB_ROW_CHART_SERIES, &row, "", "");
}

uint64_t db_writer_put_chart_bar(struct db_writer *w, const struct db_chart_bar *bar)
{
    struct db_row_chart_bar row = {
        .symbol = bar->symbol, .interval_ns = bar->interval_ns, .bar = bar->bar, .n_outputs = bar->n_outputs};
    return put_bytes(w, DB_ROW_CHART_BAR, &row, sizeof row, bar->outputs,
                     bar->n_outputs * sizeof *bar->outputs, NULL, 0);
}

uint64_t db_writer_put_training(struct db_writer *w, const struct db_training *t)
{
    return PUT(w, DB_ROW_TRAINING, t, t->name, t->state, t->reason, t->cause, t->device, t->backend,
               t->config, t->checkpoint, t->policy);
}

uint64_t db_writer_put_training_point(struct db_writer *w, const struct db_training_point *point)
{
    return PUT(w, DB_ROW_TRAINING_POINT, point, point->training);
}

uint64_t db_writer_put_training_evaluation(struct db_writer *w,
                                           const struct db_training_evaluation *evaluation)
{
    return PUT(w, DB_ROW_TRAINING_EVALUATION, evaluation, evaluation->training);
}

uint64_t db_writer_put_training_state(struct db_writer *w, const struct db_training_state *state)
{
    return PUT(w, DB_ROW_TRAINING_STATE, state, state->training, state->state);
}

uint64_t db_writer_rewind_training(struct db_writer *w, const char *training, int64_t steps)
{
    struct db_row_training_rewind row = {.steps = steps};
    return PUT(w, DB_ROW_TRAINING_REWIND, &row, training);
}

uint64_t db_writer_put_policy(struct db_writer *w, const struct db_policy *policy)
{
    return PUT(w, DB_ROW_POLICY, policy, policy->name, policy->account, policy->training, policy->path,
               policy->reason, policy->proposal ? policy->proposal : "");
}

uint64_t db_writer_put_order_policy(struct db_writer *w, const struct db_order_policy *origin)
{
    return PUT(w, DB_ROW_ORDER_POLICY, origin, origin->backend);
}

uint64_t db_writer_put_streamed(struct db_writer *w, int index, bool streamed)
{
    struct db_row_streamed row = {.index = index, .streamed = streamed};
    return put(w, DB_ROW_STREAMED, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_put_book_bar(struct db_writer *w, int64_t interval_ns, const struct engine_book_bar *bar)
{
    struct db_row_book_bar row = {.interval_ns = interval_ns, .bar = *bar};
    return put(w, DB_ROW_BOOK_BAR, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_correct_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                               const struct bar *bar)
{
    struct db_row_bar row = {.symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = *bar};
    return put(w, DB_ROW_BAR_CORRECT, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_drop_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                            int64_t open_ns)
{
    struct db_row_bar row = {
        .symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = {.open_ns = open_ns}};
    return put(w, DB_ROW_BAR_DROP, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_put_revision(struct db_writer *w, const struct db_revision *revision)
{
    return put(w, DB_ROW_REVISION, revision, sizeof *revision, NULL, 0);
}

uint64_t db_writer_put_action(struct db_writer *w, const struct db_action *action)
{
    return put(w, DB_ROW_ACTION, action, sizeof *action, NULL, 0);
}

uint64_t db_writer_put_session(struct db_writer *w, const struct db_session *session)
{
    return put(w, DB_ROW_SESSION, session, sizeof *session, NULL, 0);
}

uint64_t db_writer_put_venue(struct db_writer *w, const struct db_venue *venue)
{
    return PUT(w, DB_ROW_VENUE, venue, venue->venue, venue->detail, venue->market);
}

uint64_t db_writer_put_ban(struct db_writer *w, const struct db_ban *ban)
{
    return PUT(w, DB_ROW_BAN, ban, ban->venue, ban->why);
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

/* Lets the storing get on, until that moment at most. The lock is held. */
static void await_stored(struct db_writer *w, int64_t until_ns)
{
    int64_t next = w->config.stepped ? step(w) : until_ns;
    if (next < 0 || next > until_ns)
        next = until_ns;
    if (next > now_ns(w))
        wait_until(w, &w->done, next);
}

int db_writer_flush(struct db_writer *w, int64_t timeout_ms)
{
    int64_t until = now_ns(w) + timeout_ms * MS_NS;
    if (w->depth == 0)
        publish(w);
    pthread_mutex_lock(&w->lock);
    w->hurry = true;
    pthread_cond_signal(&w->wake);
    while (w->committed < w->last_ticket && !w->stuck && now_ns(w) < until)
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
    while (w->doubtful && !w->stuck && now_ns(w) < until_ns)
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

/* The folder is open from now on: the file system reports what it could not write to who has. */
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
        snprintf(err, err_size, "out of memory");
        return -ENOMEM;
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
    r = config->stepped ? 0 : -pthread_create(&w->thread, NULL, run, w);
    if (r < 0) {
        snprintf(err, err_size, "no thread: %s", strerror(-r));
        db_store_close(&w->store);
        destroy(w);
        return r;
    }
    *ret = w;
    return 0;
}

int db_writer_close(struct db_writer *w, int64_t timeout_ms, char *err, size_t err_size)
{
    if (!w)
        return 0;
    int64_t until = now_ns(w) + timeout_ms * MS_NS;
    int r = db_writer_flush(w, timeout_ms);
    await_proof(w, until);
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    w->abandon = r < 0 || w->doubtful;
    if (r < 0)
        snprintf(err, err_size, "%llu rows could not be stored: %s",
                 (unsigned long long)(w->last_ticket - w->committed),
                 r == -EBADMSG ? w->stats.conflict : w->stats.last_error);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->config.stepped)
        run(w);
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
