/* A function for each kind of row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/records.h"
#include "db/writer_internal.h"

#define PUT(writer, kind, row, ...) \
    db_writer_put_row(writer, kind, row, sizeof *(row), (const char *const[]){__VA_ARGS__}, \
                      (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

/* A row that has a record, with its texts. */
static uint64_t put_record(struct db_writer *w, enum db_row_kind kind, const void *row)
{
    const struct record *record = db_record_of(kind);
    const char *texts[RECORD_STRINGS_MAX];
    int n = record_strings(record, row, texts);
    return db_writer_put_row(w, kind, row, record->size, texts, n);
}

#define RECORD(name, kind, type) \
    uint64_t db_writer_put_##name(struct db_writer *w, const type *row) \
    { \
        return put_record(w, kind, row); \
    }

/* A row as it is, whose texts are in it. */
#define PLAIN(name, kind, type) \
    uint64_t db_writer_put_##name(struct db_writer *w, const type *row) \
    { \
        return db_writer_put_row(w, kind, row, sizeof *row, NULL, 0); \
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
    return db_writer_put_row(w, DB_ROW_SYMBOL, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_put_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                           const struct bar *bar)
{
    struct db_row_bar row = {.symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = *bar};
    return db_writer_put_row(w, DB_ROW_BAR, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_put_position(struct db_writer *w, int account, int symbol, const struct position *position)
{
    struct db_row_position row = {.account = account, .symbol = symbol, .position = *position};
    return db_writer_put_row(w, DB_ROW_POSITION, &row, sizeof row, NULL, 0);
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
    return db_writer_put_row(w, DB_ROW_EQUITY, &row, sizeof row, NULL, 0);
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
    return db_writer_put_row(w, DB_ROW_EQUITY, &row, sizeof row, NULL, 0);
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

uint64_t db_writer_rewind_training(struct db_writer *w, const char *training, int64_t steps)
{
    struct db_row_training_rewind row = {.steps = steps};
    return PUT(w, DB_ROW_TRAINING_REWIND, &row, training);
}

uint64_t db_writer_put_streamed(struct db_writer *w, int index, bool streamed)
{
    struct db_row_streamed row = {.index = index, .streamed = streamed};
    return db_writer_put_row(w, DB_ROW_STREAMED, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_put_book_bar(struct db_writer *w, int64_t interval_ns, const struct engine_book_bar *bar)
{
    struct db_row_book_bar row = {.interval_ns = interval_ns, .bar = *bar};
    return db_writer_put_row(w, DB_ROW_BOOK_BAR, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_correct_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                               const struct bar *bar)
{
    struct db_row_bar row = {.symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = *bar};
    return db_writer_put_row(w, DB_ROW_BAR_CORRECT, &row, sizeof row, NULL, 0);
}

uint64_t db_writer_drop_bar(struct db_writer *w, int symbol, int64_t interval_ns, enum bar_source source,
                            int64_t open_ns)
{
    struct db_row_bar row = {
        .symbol = symbol, .source = source, .interval_ns = interval_ns, .bar = {.open_ns = open_ns}};
    return db_writer_put_row(w, DB_ROW_BAR_DROP, &row, sizeof row, NULL, 0);
}

PLAIN(account, DB_ROW_ACCOUNT, struct db_account)
PLAIN(order, DB_ROW_ORDER, struct order)
PLAIN(fill, DB_ROW_FILL, struct fill)
PLAIN(ledger, DB_ROW_LEDGER, struct ledger_row)
PLAIN(revision, DB_ROW_REVISION, struct db_revision)
PLAIN(action, DB_ROW_ACTION, struct db_action)
RECORD(gap, DB_ROW_GAP, struct db_gap)
RECORD(price, DB_ROW_PRICE, struct db_price)
RECORD(command, DB_ROW_COMMAND, struct db_command)
RECORD(alert, DB_ROW_ALERT, struct db_alert)
RECORD(telemetry, DB_ROW_TELEMETRY, struct db_telemetry)
RECORD(feed, DB_ROW_FEED, struct db_feed)
RECORD(training, DB_ROW_TRAINING, struct db_training)
RECORD(training_point, DB_ROW_TRAINING_POINT, struct db_training_point)
RECORD(training_evaluation, DB_ROW_TRAINING_EVALUATION, struct db_training_evaluation)
RECORD(training_state, DB_ROW_TRAINING_STATE, struct db_training_state)
RECORD(policy, DB_ROW_POLICY, struct db_policy)
RECORD(order_policy, DB_ROW_ORDER_POLICY, struct db_order_policy)
RECORD(session, DB_ROW_SESSION, struct db_session)
RECORD(venue, DB_ROW_VENUE, struct db_venue)
RECORD(ban, DB_ROW_BAN, struct db_ban)
