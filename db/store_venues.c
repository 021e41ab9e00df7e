/* What several venues bring: symbols that come and go, measures of books, corrections, splits and dividends.
 */
#include <inttypes.h>

#include "db/records.h"
#include "db/store_bind.h"

enum { BAR_TEXT_MAX = 256 };

int db_apply_streamed(struct db_store *store, const struct db_row_streamed *row)
{
    struct binding b = bind(store, DB_SQL_STREAMED);
    symbol(&b, store, row->index);
    integer(&b, row->streamed);
    int rc = run(store, &b);
    if (rc != SQLITE_OK)
        return rc;
    b = bind(store, DB_SQL_SYMBOL_SEAL);
    symbol(&b, store, row->index);
    return run(store, &b);
}

int db_apply_book_bar(struct db_store *store, const struct db_row_book_bar *row)
{
    struct binding b = db_bind_record(store, DB_SQL_BOOK_BAR, &db_record_book_bars, row);
    int rc = run(store, &b);
    if (rc != SQLITE_OK)
        return rc;
    b = bind(store, DB_SQL_BOOK_BAR_THIN);
    symbol(&b, store, row->bar.symbol);
    integer(&b, row->interval_ns);
    integer(&b, row->bar.open_ns - DB_BOOK_BARS_KEPT * row->interval_ns);
    return run(store, &b);
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

int db_apply_revision(struct db_store *store, const struct db_revision *row)
{
    char old[BAR_TEXT_MAX], now[BAR_TEXT_MAX];
    struct db_revision stored = *row;
    bar_text(row->has_old, &row->old, old);
    bar_text(row->has_now, &row->now, now);
    stored.old_bar = old;
    stored.new_bar = now;
    struct binding b = db_bind_record(store, DB_SQL_REVISION, &db_record_revisions, &stored);
    int64_t id = 0;
    int rc = run_returning(store, &b, &id);
    if (rc != SQLITE_OK || id == 0) /* 0: it came again, with a transaction that was stored after all */
        return rc;
    b = bind(store, DB_SQL_REVISION_SEAL);
    integer(&b, id);
    return run(store, &b);
}

/* Of a symbol that was split: what was told before is in other shares. */
static int forget_chart(struct db_store *store, int index)
{
    struct binding b = bind(store, DB_SQL_CHART_FORGET);
    symbol(&b, store, index);
    int rc = run(store, &b);
    if (rc != SQLITE_OK)
        return rc;
    b = bind(store, DB_SQL_CHART_FORGET_BARS);
    symbol(&b, store, index);
    return run(store, &b);
}

int db_apply_action(struct db_store *store, const struct db_action *row, bool again)
{
    struct binding b;
    int64_t id = 0, same = 0;
    if (!again) {
        b = db_bind_record(store, DB_SQL_ACTION, &db_record_actions, row);
        int rc = run_returning(store, &b, &id);
        if (rc != SQLITE_OK)
            return rc;
        if (id > 0) {
            b = bind(store, DB_SQL_ACTION_SEAL);
            integer(&b, id);
            rc = run(store, &b);
            return rc == SQLITE_OK && row->action.kind == ACTION_SPLIT ? forget_chart(store, row->symbol)
                                                                       : rc;
        }
    }
    /* Once more, of a symbol that was away: it holds nothing that the action could have changed. */
    b = db_bind_record(store, DB_SQL_ACTION_SAME, &db_record_actions, row);
    int rc = run_returning(store, &b, &same);
    return rc == SQLITE_OK && same != 1
               ? db_conflict(store, "corporate action of event", row->input_seq, true)
               : rc;
}
