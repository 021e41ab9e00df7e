/* Stores the venues' rows: symbols that come and go, measures of books, corrections, splits and dividends. */
#include <inttypes.h>
#include <stdio.h>

#include "db/records.h"
#include "db/store_bind.h"

enum { BAR_TEXT_MAX = 256 };

int db_apply_streamed(struct db_store *store, const void *data)
{
    const struct db_row_streamed *row = data;
    const struct record_param symbol = record_param_id(symbol_id(store, row->index));
    int rc = db_store_run(store, DB_SQL_STREAMED, RECORD_PARAMS(symbol, row->streamed), NULL);
    return rc == SQLITE_OK ? db_store_run(store, DB_SQL_SYMBOL_SEAL, RECORD_PARAMS(symbol), NULL) : rc;
}

int db_apply_book_bar(struct db_store *store, const void *data)
{
    const struct db_row_book_bar *row = data;
    int rc = db_store_put(store, DB_SQL_BOOK_BAR, &db_record_book_bars, row, NULL);
    if (rc != SQLITE_OK)
        return rc;
    return db_store_run(store, DB_SQL_BOOK_BAR_THIN,
                        RECORD_PARAMS(record_param_id(symbol_id(store, row->bar.symbol)), row->interval_ns,
                                      row->bar.open_ns - DB_BOOK_BARS_KEPT * row->interval_ns),
                        NULL);
}

/* "" for none. */
static void bar_text(bool known, const struct bar *bar, char text[static BAR_TEXT_MAX])
{
    char volume[DECIMAL_TEXT_MAX];
    text[0] = '\0';
    if (!known)
        return;
    decimal_format(bar->volume, 0, volume);
    snprintf(text, BAR_TEXT_MAX,
             "{\"open_ns\":%" PRId64 ",\"open\":%" PRId64 ",\"high\":%" PRId64 ",\"low\":%" PRId64
             ",\"close\":%" PRId64 ",\"volume\":\"%s\",\"trades\":%" PRId64 "}",
             bar->open_ns, bar->open, bar->high, bar->low, bar->close, volume, bar->trades);
}

int db_apply_revision(struct db_store *store, const void *data)
{
    const struct db_revision *row = data;
    char old[BAR_TEXT_MAX], now[BAR_TEXT_MAX];
    struct db_revision stored = *row;
    bar_text(row->has_old, &row->old, old);
    bar_text(row->has_now, &row->now, now);
    stored.old_bar = old;
    stored.new_bar = now;
    int64_t id = 0;
    int rc = db_store_put(store, DB_SQL_REVISION, &db_record_revisions, &stored, &id);
    if (rc != SQLITE_OK || id == 0) /* 0: it came again, with a transaction that was stored after all */
        return rc;
    return db_store_run(store, DB_SQL_REVISION_SEAL, RECORD_PARAMS(id), NULL);
}

/* Of a symbol that was split: earlier bars are in other shares. */
static int forget_chart(struct db_store *store, int index)
{
    const struct record_param symbol = record_param_id(symbol_id(store, index));
    int rc = db_store_run(store, DB_SQL_CHART_FORGET, RECORD_PARAMS(symbol), NULL);
    return rc == SQLITE_OK ? db_store_run(store, DB_SQL_CHART_FORGET_BARS, RECORD_PARAMS(symbol), NULL) : rc;
}

int db_apply_action(struct db_store *store, const void *data)
{
    const struct db_action *row = data;
    int64_t id = 0, same = 0;
    int rc = store->again ? SQLITE_OK : db_store_put(store, DB_SQL_ACTION, &db_record_actions, row, &id);
    if (rc == SQLITE_OK && id > 0) {
        rc = db_store_run(store, DB_SQL_ACTION_SEAL, RECORD_PARAMS(id), NULL);
        return rc == SQLITE_OK && row->action.kind == ACTION_SPLIT ? forget_chart(store, row->symbol) : rc;
    }
    if (rc != SQLITE_OK)
        return rc;
    /* A repeat, of a symbol that was away: it holds nothing that the action could have changed. */
    rc = db_store_put(store, DB_SQL_ACTION_SAME, &db_record_actions, row, &same);
    return rc == SQLITE_OK && same != 1
               ? db_conflict(store, "corporate action of event", row->input_seq, true)
               : rc;
}
