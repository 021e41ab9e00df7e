/* The internals of the writer, shared by its files: writer.c has the loop's side, writer_put.c a function
 * for each kind of row, writer_thread.c the thread and its queue, writer_store.c transactions and the
 * handling of failed ones. */
#ifndef DB_WRITER_INTERNAL_H
#define DB_WRITER_INTERNAL_H

#include <pthread.h>

#include "db/commit_times.h"
#include "db/doubt.h"
#include "db/keeping.h"
#include "db/queue.h"
#include "db/store.h"
#include "db/writer.h"
#include "exchange/clock.h"

#define MS_NS INT64_C(1000000)

enum {
    RETRY_FIRST_MS = 50,
    WAL_PAGES_PASSIVE = 1000, /* 4 MB: move the log's pages */
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
    size_t waiting; /* bytes handed over and not stored, when last read */

    /* Both threads', under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t wake, done; /* to the thread, to the loop */
    struct db_queue incoming;
    size_t taken_bytes;
    uint64_t committed;
    bool hurry, stop, abandon;
    bool stuck;    /* what is stored contradicts a row that must be stored */
    bool doubtful; /* after an I/O error, here or in the journal: what reads well may not be on the disk */
    bool keep;     /* housekeeping is to begin … */
    struct db_retention keep_before; /* … with this */
    bool lost; /* a row that must be stored found no memory: its group and all after it are refused */
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
    bool proving; /* since the last check nothing was committed and compared with the disk */
    enum storing storing;
    bool lost_reported;
    char reported[DB_ERROR_MAX];
    struct db_keeping keeping;
    int64_t keep_ns; /* when its next step is due; 0: there is none */
};

/* The rows of a transaction. */
struct db_writer_chunk {
    size_t begin, end; /* in taken */
    uint64_t rows, last_ticket;
    uint64_t last_event; /* 0: of no event */
};

extern const char db_writer_out_of_memory[];

static inline int64_t db_writer_now_ns(const struct db_writer *w)
{
    const struct clock_stepped *stepped = w->config.stepped;
    return stepped ? stepped->now_ns(stepped->ctx) : clock_now_ns();
}

/* ---- writer.c, on the loop's thread ---- */

/* As the put functions of writer.h. */
uint64_t db_writer_put_row(struct db_writer *w, enum db_row_kind kind, const void *row, size_t size,
                           const char *const *texts, int n_texts);
uint64_t db_writer_count_dropped(struct db_writer *w); /* 0 */

/* ---- writer_thread.c ---- */

void *db_writer_run(void *arg); /* the thread, or what is left to do of one that was stepped */

/* As db_writer_step(), and -1: the thread is to stop. The lock is released while the disk works. */
int64_t db_writer_step_locked(struct db_writer *w);

/* Waits to be woken, until that moment at most. The lock is released while it waits. */
void db_writer_wait_until(struct db_writer *w, pthread_cond_t *cond, int64_t until_ns);

/* ---- writer_keep.c, on the writer's thread ---- */

/* The lock is held: when the next step of housekeeping is due; INT64_MAX: there is none. */
int64_t db_writer_keep_due(struct db_writer *w);

/* That step. As db_writer_step_locked(). */
int64_t db_writer_keep_step(struct db_writer *w);

/* ---- writer_store.c, on the writer's thread, without the lock ---- */

/* Reports the state of storing to the callbacks where it changed. */
void db_writer_report(struct db_writer *w, enum storing storing, const char *detail);

struct db_writer_chunk db_writer_next_chunk(const struct db_queue *queue, size_t begin);

/* Tries to store a chunk. false: try again. */
bool db_writer_try_chunk(struct db_writer *w, const struct db_writer_chunk *chunk);

/* Checks what may not be on the disk before anything builds upon it. A SQLite result code; an open store. */
int db_writer_dispel_doubt(struct db_writer *w);

/* Called after an error, which store->error describes. */
void db_writer_note_failure(struct db_writer *w, int rc);

/* SQLITE_OK; or the file is no longer at its place, with store->error. */
int db_writer_still_there(struct db_store *store);

/* Checkpoints a log of at least so many pages, and empties its file (`truncate`), a large one in any case. A
 * reader is not waited for: what it keeps is tried again 4 MB later, or once there are no rows. */
void db_writer_keep_log_short(struct db_writer *w, int at, bool truncate);

#endif
