/* A function for each kind of row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/records.h"
#include "db/writer_internal.h"

#define PUT(writer, kind, row, ...) \
    db_writer_put_row(writer, kind, row, sizeof *(row), (const char *const[]){__VA_ARGS__}, \
                      (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

/* A row, and the texts that its record names. */
static uint64_t put(struct db_writer *w, enum db_row_kind kind, const void *row, size_t size)
{
    const struct record *record = db_record_of(kind);
    const char *texts[RECORD_STRINGS_MAX];
    return db_writer_put_row(w, kind, row, size, texts, record ? record_strings(record, row, texts) : 0);
}

uint64_t db_writer_put_meta(struct db_writer *w, const char *key, const char *value)
{
    return db_writer_put_row(w, DB_ROW_META, "", 0, (const char *const[]){key, value}, 2);
}

uint64_t db_writer_put_paused(struct db_writer *w, bool paused)
{
    return db_writer_put_meta(w, "paused", paused ? "1" : "0");
}

uint64_t db_writer_put_symbol(struct db_writer *w, int index, const char *venue, const struct symbol *symbol,
                              int64_t seen_ns)
{
    struct db_row_symbol row = {.index = index,
                                .row = {.symbol = *symbol, .seen_ns = seen_ns, .streamed = -1}};
    snprintf(row.row.venue, sizeof row.row.venue, "%s", venue);
    return put(w, DB_ROW_SYMBOL, &row, sizeof row);
}

uint64_t db_writer_put_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                           const struct bar *bar)
{
    struct db_row_bar row = {.symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = *bar};
    return put(w, DB_ROW_BAR, &row, sizeof row);
}

uint64_t db_writer_put_past_bar(struct db_writer *w, int symbol, int64_t interval_ns, const struct bar *bar)
{
    struct db_row_bar row = {
        .symbol = symbol, .source = BAR_VENUE, .interval_ns = interval_ns, .bar = *bar, .past = true};
    return put(w, DB_ROW_BAR, &row, sizeof row);
}

uint64_t db_writer_put_position(struct db_writer *w, int account, int symbol, const struct position *position)
{
    struct db_row_position row = {.account = account, .symbol = symbol, .position = *position};
    return put(w, DB_ROW_POSITION, &row, sizeof row);
}

/* A row whose texts end with bytes of a known size: they take the place of the struct's tail. */
static uint64_t put_bytes(struct db_writer *w, enum db_row_kind kind, const void *row, size_t size,
                          const void *bytes, size_t n, const char *const *texts, int n_texts)
{
    unsigned char *whole = malloc(size + n);
    if (!whole)
        return db_writer_count_dropped(w);
    memcpy(whole, row, size);
    if (n > 0)
        memcpy(whole + size, bytes, n);
    uint64_t ticket = db_writer_put_row(w, kind, whole, size + n, texts, n_texts);
    free(whole);
    return ticket;
}

uint64_t db_writer_put_chart_series(struct db_writer *w, const struct db_chart_series *series, bool replaces)
{
    struct db_row_chart_series row = {.symbol = series->symbol,
                                      .replaces = replaces,
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
        .symbol = symbol, .replaces = true, .gone = true, .interval_ns = interval_ns};
    return PUT(w, DB_ROW_CHART_SERIES, &row, "", "");
}

uint64_t db_writer_put_chart_bar(struct db_writer *w, const struct db_chart_bar *bar)
{
    struct db_row_chart_bar row = {
        .symbol = bar->symbol, .interval_ns = bar->interval_ns, .bar = bar->bar, .n_outputs = bar->n_outputs};
    return put_bytes(w, DB_ROW_CHART_BAR, &row, sizeof row, bar->outputs,
                     bar->n_outputs * sizeof *bar->outputs, NULL, 0);
}

uint64_t db_writer_rewind_training(struct db_writer *w, const char *training, int64_t steps)
{
    struct db_row_training_rewind row = {.steps = steps};
    return PUT(w, DB_ROW_TRAINING_REWIND, &row, training);
}

uint64_t db_writer_put_streamed(struct db_writer *w, int index, int streamed)
{
    struct db_row_streamed row = {.index = index, .streamed = streamed};
    return put(w, DB_ROW_STREAMED, &row, sizeof row);
}

uint64_t db_writer_put_book_bar(struct db_writer *w, int64_t interval_ns, const struct engine_book_bar *bar)
{
    struct db_row_book_bar row = {.interval_ns = interval_ns, .bar = *bar};
    return put(w, DB_ROW_BOOK_BAR, &row, sizeof row);
}

uint64_t db_writer_correct_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                               const struct bar *bar)
{
    struct db_row_bar row = {.symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = *bar};
    return put(w, DB_ROW_BAR_CORRECT, &row, sizeof row);
}

uint64_t db_writer_drop_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                            int64_t open_ns)
{
    struct db_row_bar row = {
        .symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = {.open_ns = open_ns}};
    return put(w, DB_ROW_BAR_DROP, &row, sizeof row);
}

#define PUT_ROW(name, kind, type) \
    uint64_t db_writer_put_##name(struct db_writer *w, const struct type *row) \
    { \
        return put(w, DB_ROW_##kind, row, sizeof *row); \
    }
DB_WRITER_ROWS(PUT_ROW)
