/* Rows on their way to the writer thread, in one growing block of memory a side: appending copies, handing
 * over swaps, and after the first minutes nothing is allocated.
 *
 * A queue has no lock: the writer's mutex guards the one that both threads touch. */
#ifndef DB_QUEUE_H
#define DB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum db_row_kind {
    DB_ROW_META,
    DB_ROW_ACCOUNT,
    DB_ROW_SYMBOL,
    DB_ROW_BAR,
    DB_ROW_GAP,
    DB_ROW_PRICE,
    DB_ROW_ORDER,
    DB_ROW_FILL,
    DB_ROW_LEDGER,
    DB_ROW_POSITION,
    DB_ROW_EQUITY,
    DB_ROW_COMMAND,
    DB_ROW_ALERT,
    DB_ROW_TELEMETRY,
    DB_ROW_FEED,
    DB_ROW_CHART_SERIES,
    DB_ROW_CHART_BAR,
    DB_ROW_TRAINING,
    DB_ROW_TRAINING_POINT,
    DB_ROW_TRAINING_EVALUATION,
    DB_ROW_TRAINING_STATE,
    DB_ROW_TRAINING_REWIND,
    DB_ROW_POLICY,
    DB_ROW_ORDER_POLICY,
    DB_ROW_STREAMED,
    DB_ROW_BAR_CORRECT,
    DB_ROW_BAR_DROP,
    DB_ROW_BOOK_BAR,
    DB_ROW_REVISION,
    DB_ROW_ACTION,
    DB_ROW_SESSION,
    DB_ROW_VENUE,
    DB_ROW_BAN,
    DB_ROW_KINDS,
};

/* Before each row's struct; the struct is followed by its texts, NUL-terminated, and padding. */
struct db_row_header {
    uint32_t size; /* of header, struct, texts and padding */
    uint16_t kind;
    uint16_t group_end; /* a transaction may end after this row */
    uint64_t ticket;
    uint64_t event;  /* whose row it is; 0: of none */
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
