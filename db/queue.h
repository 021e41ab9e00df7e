/* Rows on their way to the writer thread, in one growing block of memory a side: appending copies, handing
 * over swaps, and after the first minutes nothing is allocated.
 *
 * A queue has no lock: the writer's mutex guards the one that both threads touch. */
#ifndef DB_QUEUE_H
#define DB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every kind of row: what it is (db/store_apply.c has the flags), and the record that its texts are found by,
 * or NULL. APPLY has a function of that name, db_apply_NAME(); of a PUT the record is bound to the statement
 * of the kind. */
/* clang-format off */
#define DB_ROWS(APPLY, PUT) \
    APPLY(META, meta, MONEY, NULL) \
    APPLY(ACCOUNT, account, MONEY | COMPARED, NULL) \
    APPLY(SYMBOL, symbol, MONEY | COMPARED, NULL) /* also: the symbol's id */ \
    APPLY(BAR, bar, 0, NULL) \
    PUT(GAP, 0, &db_record_gaps) \
    PUT(PRICE, DROPS, &db_record_prices) \
    APPLY(ORDER, order, MONEY | COMPARED, NULL) \
    APPLY(FILL, fill, MONEY | COMPARED, NULL) \
    APPLY(LEDGER, ledger, MONEY | COMPARED, NULL) \
    APPLY(CAUSE, cause, MONEY | COMPARED, NULL) \
    APPLY(ACCRUAL, accrual, MONEY, NULL) \
    PUT(POSITION, MONEY, &db_record_positions) \
    APPLY(EQUITY, equity, 0, NULL) \
    PUT(MARGIN, 0, &db_record_margins) \
    PUT(MARK, 0, &db_record_marks) \
    APPLY(COMMAND, command, MONEY | COMPARED, &db_record_commands) \
    APPLY(ALERT, alert, 0, &db_record_alerts) \
    PUT(DEVICE, DROPS, &db_record_devices) \
    APPLY(DEVICE_SAMPLE, device_sample, DROPS, &db_record_device_samples) \
    APPLY(DEVICE_PROCESS, device_process, DROPS, &db_record_device_processes) \
    PUT(PROCESS, DROPS, &db_record_processes) \
    APPLY(PROCESS_SAMPLE, process_sample, DROPS, &db_record_process_samples) \
    PUT(FEED, DROPS, &db_record_feeds) \
    APPLY(CHART_SERIES, chart_series, 0, NULL) \
    APPLY(CHART_BAR, chart_bar, 0, NULL) \
    APPLY(TRAINING, training, DROPS, &db_record_trainings) \
    APPLY(TRAINING_POINT, training_point, DROPS, &db_record_training_points) \
    APPLY(TRAINING_EVALUATION, training_evaluation, DROPS, &db_record_training_evaluations) \
    APPLY(TRAINING_STATE, training_state, DROPS, &db_record_training_states) \
    APPLY(TRAINING_REWIND, training_rewind, 0, NULL) \
    PUT(POLICY, MONEY, &db_record_policies) \
    PUT(ORDER_POLICY, MONEY, &db_record_order_policies) \
    APPLY(STREAMED, streamed, MONEY, NULL) \
    APPLY(BAR_CORRECT, bar_correct, 0, NULL) \
    APPLY(BAR_DROP, bar_drop, 0, NULL) \
    APPLY(BOOK_BAR, book_bar, 0, NULL) \
    APPLY(REVISION, revision, 0, NULL) \
    APPLY(ACTION, action, MONEY | COMPARED, NULL) \
    APPLY(RECEIVABLE, receivable, MONEY | COMPARED, &engine_record_receivables) \
    APPLY(FEE_RATE, fee_rate, MONEY | COMPARED, &engine_record_fee_rates) \
    PUT(SESSION, 0, &db_record_sessions) \
    PUT(VENUE, DROPS, &db_record_venues) \
    APPLY(BAN, ban, 0, &db_record_bans) \
    APPLY(RUN, run, 0, &db_record_runs) \
    PUT(LOG_NOTE, MONEY, &db_record_log_notes)
/* clang-format on */

#define DB_ROW_KIND_(kind, ...) DB_ROW_##kind,
enum db_row_kind { DB_ROWS(DB_ROW_KIND_, DB_ROW_KIND_) DB_ROW_KINDS };

/* Before each row's struct; the struct is followed by its texts, NUL-terminated, and padding. */
struct db_row_header {
    uint32_t size; /* of header, struct, texts and padding */
    uint16_t kind;
    uint16_t group_end; /* a transaction may end after this row */
    uint64_t ticket;
    uint64_t event;  /* whose row it is; 0: of no event */
    uint64_t unused; /* rows are 16-aligned */
};

struct db_queue {
    unsigned char *data;
    size_t size, capacity;
};

void db_queue_finish(struct db_queue *queue);

/* Appends one row. false when memory is refused. */
bool db_queue_append(struct db_queue *queue, enum db_row_kind kind, uint64_t ticket, uint64_t event,
                     const void *row, size_t row_size, const char *const *texts, int n_texts);

/* Marks the row at this offset, the last one, as the end of its group. */
void db_queue_end_group(struct db_queue *queue, size_t last_row_offset);

/* Moves all of `from` behind what `to` holds; `from` is empty after. false (nothing moved) without memory. */
bool db_queue_move(struct db_queue *to, struct db_queue *from);

#endif
