/* The one writer of papertape.db: a thread that takes rows from the event loop and commits them in groups.
 *
 * All functions are called by one thread, the loop's; none of the put functions waits for the disk. Rows
 * are stored in the order in which they were put. When the disk refuses (full, read-only, an I/O error),
 * every row is kept, the state callback reports it, and the same rows are tried again until they are
 * stored. Before the first of them is, what the disk has is compared with what was written, and the file is
 * checked; a damaged one is rebuilt (db/doubt.h). */
#ifndef DB_WRITER_H
#define DB_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/commit_times.h"
#include "db/migrate.h"
#include "db/retention.h"
#include "db/row.h"
#include "engine/account.h"
#include "exchange/bar.h"
#include "exchange/clock.h"
#include "exchange/fill.h"
#include "exchange/order.h"
#include "exchange/storing.h"
#include "record/ledger_row.h"

struct db_writer;
struct db_disk;

struct db_writer_config {
    void *ctx;
    void (*started)(void *ctx); /* the writer's thread begins, and calls it. May be NULL. */
    /* After each COMMIT, on the writer's thread: every row whose ticket is <= `ticket` is on the disk. May be
     * NULL. */
    void (*committed)(void *ctx, uint64_t ticket);
    /* On the writer's thread: storing fails (with the reason; again when the reason changes), or works again.
     * May be NULL. */
    void (*state)(void *ctx, bool ok, const char *detail);
    void (*storing)(void *ctx, enum storing storing); /* just before that: which way. May be NULL. */
    /* On the writer's thread: the disk failed a write, so that what else is on it is to be checked as well.
     * May be NULL. */
    void (*doubt)(void *ctx);
    /* On the writer's thread, with its connection closed: is the file sound? As daemon_rebuild_check() of
     * daemon/rebuild.h. NULL: SQLite's quick_check decides. */
    int (*check)(void *ctx, char *err, size_t err_size);
    /* Likewise: the file is damaged, `why` says how. Puts another in its place that holds the rows of all
     * events up to *ret_event, and says in `text` what it did. 0; -errno with the reason in `text`: to be
     * tried again. NULL: nothing can. */
    int (*rebuild)(void *ctx, const char *why, uint64_t *ret_event, char *text, size_t text_size);
    /* On the writer's thread, before each COMMIT of rows that belong to events: the newest of them. 0: the
     * journal holds all events up to it, on the disk. -errno: it does not and cannot; the transaction is
     * rolled back, the state callback says so, and the same rows are tried again. It may wait. May be NULL.
     */
    int (*before_commit)(void *ctx, uint64_t event_seq);
    const struct clock_stepped *stepped; /* NULL: a thread of its own; else db_writer_step(), and no thread */
    const struct db_disk *disk;          /* NULL: the system's; db/doubt.h */
    int max_delay_ms; /* least time between the end of a commit and the next begin; 0: none; 5 is good */
    size_t queue_max; /* bytes waiting beyond which prices, samples of devices and processes, feed states
                         and reports of trainings are dropped; 0: 64 MiB */
};

/* Opens, creating or migrating it, the database, and starts the thread. 0; an error of db/migrate.h; -errno.
 * err receives one sentence without the path. */
int db_writer_open(const char *path, const struct db_writer_config *config, struct db_writer **ret, char *err,
                   size_t err_size);

/* Rows put between begin and end are stored in one transaction, or none of them: an order with its fills,
 * ledger rows and positions. Groups may be nested. A row put outside is a group of its own. */
void db_writer_group_begin(struct db_writer *writer);
void db_writer_group_end(struct db_writer *writer);

/* In a group: the rows put after this are the event's, till the group's end or the next call. Each
 * transaction keeps the newest event whose rows it holds, as meta's event_seq; nothing is stored for an
 * event without rows. Costs no more than an assignment.
 *
 * Rows of an event whose rows the database held when it was opened, as a recovery puts them again, change
 * nothing: orders, fills, ledger rows, commands and accounts are compared with what is stored, and
 * differences are counted as conflicts. A conflict of any other row stops the storing like a full disk: it
 * should be impossible. */
void db_writer_put_event(struct db_writer *writer, uint64_t seq);

/* Each copies its argument and returns the row's ticket: 1, 2, 3 …; 0 when the row was dropped: beyond
 * queue_max, or without memory. When a row that must be stored finds no memory, its group and all later rows
 * are refused, the state says so, and db_writer_last() is never committed: the database stays whole, and the
 * daemon must restart. Symbols and accounts are the engine's indices; put them before rows that name them. */
/* clang-format off */
#define DB_WRITER_ROWS(ROW) \
    ROW(account, ACCOUNT, db_account) \
    ROW(order, ORDER, order) \
    ROW(fill, FILL, fill) \
    ROW(ledger, LEDGER, ledger_row) \
    ROW(cause, CAUSE, ledger_cause) /* after its row */ \
    ROW(accrual, ACCRUAL, ledger_accrual) /* once an account, event and symbol: the first stays */ \
    ROW(equity, EQUITY, db_equity) \
    ROW(mark, MARK, db_mark) /* after its point of equity; in place of one of its time */ \
    ROW(margin, MARGIN, db_margin) /* in place of the account's */ \
    ROW(revision, REVISION, db_revision) /* only the record of the change: the bar itself is put or dropped too */ \
    ROW(action, ACTION, db_action) /* once a symbol and id: the first stays, others are conflicts */ \
    ROW(receivable, RECEIVABLE, receivable_row) \
    ROW(fee_rate, FEE_RATE, fee_rate_change) \
    ROW(session, SESSION, db_session) \
    ROW(gap, GAP, db_gap) \
    ROW(price, PRICE, db_price) \
    ROW(command, COMMAND, db_command) \
    ROW(alert, ALERT, db_alert) \
    /* Each in place of one of its time; after the row of its device, of its process. */ \
    ROW(device, DEVICE, db_device) \
    ROW(device_sample, DEVICE_SAMPLE, db_device_sample) \
    ROW(device_process, DEVICE_PROCESS, db_device_process) \
    ROW(process, PROCESS, db_process) \
    ROW(process_sample, PROCESS_SAMPLE, db_process_sample) \
    ROW(feed, FEED, db_feed) \
    ROW(venue, VENUE, db_venue) \
    ROW(ban, BAN, db_ban) /* the newest of that venue; until_ns 0: it is over, and forgotten */ \
    ROW(run, RUN, db_run) /* while one runs, no other does */ \
    ROW(log_note, LOG_NOTE, db_log_note) /* one of that kind and to_seq stays */ \
    /* At most DB_TRAININGS_KEPT, of each DB_TRAINING_POINTS_KEPT. A training's points come after its row, in \
     * its group: where that was taken they are too, and where it was dropped (0) its `seq` is as before, and \
     * its events are to be asked for again. */ \
    ROW(training, TRAINING, db_training) \
    ROW(training_point, TRAINING_POINT, db_training_point) /* in place of one of the same steps */ \
    ROW(training_evaluation, TRAINING_EVALUATION, db_training_evaluation) \
    ROW(training_state, TRAINING_STATE, db_training_state) /* in place of one of the same time */ \
    /* A champion that follows another is put after that one has another role, in one group. */ \
    ROW(policy, POLICY, db_policy) \
    ROW(order_policy, ORDER_POLICY, db_order_policy) /* after its order, or in the order's group */
/* clang-format on */
#define DB_WRITER_PUT_(name, kind, type) \
    uint64_t db_writer_put_##name(struct db_writer *writer, const struct type *row);
DB_WRITER_ROWS(DB_WRITER_PUT_)

uint64_t db_writer_put_meta(struct db_writer *writer, const char *key, const char *value);
/* The index may be another in the next run: the database knows a symbol by venue and name. */
uint64_t db_writer_put_symbol(struct db_writer *writer, int index, const char *venue,
                              const struct symbol *symbol, int64_t seen_ns);
/* 1 added or 0 removed by command: overrides the configuration; -1: as that says. The symbol was put before.
 */
uint64_t db_writer_put_streamed(struct db_writer *writer, int index, int streamed);
/* A bar that comes again unchanged changes nothing; with other numbers it replaces, and is counted. */
uint64_t db_writer_put_bar(struct db_writer *writer, int symbol, int64_t interval_ns, enum bar_source source,
                           const struct bar *bar);
/* One of the venue's that no event brought. Where there is one it stays as it is. */
uint64_t db_writer_put_past_bar(struct db_writer *writer, int symbol, int64_t interval_ns,
                                const struct bar *bar);
/* Bars of the order book's measures; those that open DB_BOOK_BARS_KEPT intervals before it are deleted. */
uint64_t db_writer_put_book_bar(struct db_writer *writer, int64_t interval_ns,
                                const struct engine_book_bar *bar);
/* The same for a bar that is stored; nothing where there is no stored bar, as for one that still forms. */
uint64_t db_writer_correct_bar(struct db_writer *writer, int symbol, int64_t interval_ns,
                               enum bar_source source, const struct bar *bar);
/* A stored bar that never was: its only trade was cancelled. */
uint64_t db_writer_drop_bar(struct db_writer *writer, int symbol, int64_t interval_ns, enum bar_source source,
                            int64_t open_ns);
uint64_t db_writer_put_position(struct db_writer *writer, int account, int symbol,
                                const struct position *position);

/* A series as it is now; with the flag set it deletes the bars that it had. Then its bars, in any order: one
 * that comes again replaces, and those that open DB_CHART_BARS_KEPT intervals before it are deleted. */
uint64_t db_writer_put_chart_series(struct db_writer *writer, const struct db_chart_series *series,
                                    bool replaces);
uint64_t db_writer_put_chart_bar(struct db_writer *writer, const struct db_chart_bar *bar);
/* Deletes a series that is no longer kept, and its bars. */
uint64_t db_writer_drop_chart_series(struct db_writer *writer, int symbol, int64_t interval_ns);

/* A training continues from a checkpoint of so many steps: deletes points and evaluations beyond; below 0:
 * everything except its row, states too. */
uint64_t db_writer_rewind_training(struct db_writer *writer, const char *training, int64_t steps);

/* Trading on or off across restarts: a row of meta. */
uint64_t db_writer_put_paused(struct db_writer *writer, bool paused);

/* The newest ticket, and the newest that is on the disk. */
uint64_t db_writer_last(const struct db_writer *writer);
uint64_t db_writer_committed(struct db_writer *writer);

/* Waits until everything put so far is on the disk; not inside a group. 0; -ETIMEDOUT; -EBADMSG for a
 * permanent conflict: the database is trusted, and the engine must be restored from it. */
int db_writer_flush(struct db_writer *writer, int64_t timeout_ms);

/* One that is stepped: does what its thread would do next, one transaction or one checkpoint at most. Returns
 * when there will be more to do: a moment of its clock, INT64_MAX: not before one of the calls above. */
int64_t db_writer_step(struct db_writer *writer);

/* Begins the database's housekeeping (db/keeping.h), between commits; what a former call began is over. */
void db_writer_keep(struct db_writer *writer, const struct db_retention *before);

/* Another write to the same disk failed: the database is checked before the next commit, or now. On any
 * thread. */
void db_writer_doubt(struct db_writer *writer);

/* Flushes, empties the log, stops the thread and frees. 0, or -ETIMEDOUT when rows were lost: err says why
 * they could not be stored; -EIO: all are stored, and the disk's content could not be checked after a
 * failure; -EBADMSG for a conflict. NULL is fine. */
int db_writer_close(struct db_writer *writer, int64_t timeout_ms, char *err, size_t err_size);

struct db_writer_stats {
    bool ok;                              /* the last try to store something succeeded */
    enum storing storing;                 /* STORING_OK when ok */
    uint64_t failed, checked, rebuilt;    /* writes that the disk failed; checks that passed; new files */
    uint64_t commits, rows;               /* that succeeded */
    uint64_t queued;                      /* rows not yet on the disk */
    uint64_t retries;                     /* transactions that failed and were tried again */
    uint64_t skipped;                     /* rows without money that the schema refused */
    uint64_t dropped;                     /* rows refused because of queue_max, or for lack of memory */
    uint64_t bars_corrected;              /* stored bars that came again with other numbers */
    uint64_t conflicts;                   /* rows that are stored already, with other values */
    char conflict[DB_ERROR_MAX];          /* the last of them, in words; "" when there was none */
    int64_t commit_p50_ns, commit_p99_ns; /* from BEGIN to the end of COMMIT */
    char last_error[DB_ERROR_MAX];        /* "" when there was none */
};
void db_writer_stats(struct db_writer *writer, struct db_writer_stats *ret);
/* All commits so far: the statistics' `commits` of them. */
void db_writer_commit_times(struct db_writer *writer, struct db_commit_times *ret);

#endif
