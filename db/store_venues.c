/* What several venues bring: symbols that come and go, measures of books, corrections, splits and dividends,
 * sessions, and how each venue does. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "db/store_bind.h"

enum { BAR_TEXT_MAX = 256 };

static void real_or_null(struct binding *b, double value)
{
    if (isnan(value))
        sqlite3_bind_null(b->stmt, ++b->n);
    else
        real(b, value);
}

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

int db_apply_bar_drop(struct db_store *store, const struct db_row_bar *row)
{
    struct binding b = bind(store, DB_SQL_BAR_DROP);
    symbol(&b, store, row->symbol);
    integer(&b, row->interval_ns);
    text(&b, row->source == BAR_VENUE ? "venue" : "trades");
    integer(&b, row->bar.open_ns);
    int rc = run(store, &b);
    if (rc == SQLITE_OK)
        store->bars_corrected += (uint64_t)sqlite3_changes(store->db);
    return rc;
}

int db_apply_book_bar(struct db_store *store, const struct db_row_book_bar *row)
{
    struct binding b = bind(store, DB_SQL_BOOK_BAR);
    symbol(&b, store, row->bar.symbol);
    integer(&b, row->interval_ns);
    integer(&b, row->bar.open_ns);
    for (int m = 0; m < BOOK_MEASURES; m++) {
        real(&b, row->bar.measures[m].open);
        real(&b, row->bar.measures[m].high);
        real(&b, row->bar.measures[m].low);
        real(&b, row->bar.measures[m].close);
    }
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
    const struct market_correction *trade = &row->correction;
    bar_text(row->has_old, &row->old, old);
    bar_text(row->has_now, &row->now, now);
    struct binding b = bind(store, DB_SQL_REVISION);
    integer(&b, row->ts_ns);
    symbol(&b, store, row->symbol);
    text(&b, db_revision_name(row->kind));
    text(&b, row->source == BAR_VENUE ? "venue" : "trades");
    integer(&b, row->at_ns);
    integer(&b, trade->id);
    integer(&b, trade->new_id);
    integer(&b, trade->old_price);
    integer(&b, trade->old_qty);
    integer(&b, trade->price);
    integer(&b, trade->qty);
    text(&b, old);
    text(&b, now);
    text(&b, trade->code);
    integer(&b, row->applied);
    integer(&b, (int64_t)row->input_seq);
    int64_t id = 0;
    int rc = run_returning(store, &b, &id);
    if (rc != SQLITE_OK || id == 0) /* 0: it came again, with a transaction that was stored after all */
        return rc;
    b = bind(store, DB_SQL_REVISION_SEAL);
    integer(&b, id);
    return run(store, &b);
}

static struct binding bind_action(struct db_store *store, enum db_statement which,
                                  const struct db_action *row)
{
    struct binding b = bind(store, which);
    symbol(&b, store, row->symbol);
    text(&b, row->action.id);
    text(&b, corporate_action_name(row->action.kind));
    integer(&b, row->action.ex_ns);
    integer(&b, row->action.shares);
    integer(&b, row->action.per);
    integer(&b, row->action.cash);
    integer(&b, row->ts_ns);
    integer(&b, (int64_t)row->input_seq);
    return b;
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
        b = bind_action(store, DB_SQL_ACTION, row);
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
    b = bind_action(store, DB_SQL_ACTION_SAME, row);
    int rc = run_returning(store, &b, &same);
    return rc == SQLITE_OK && same != 1
               ? db_conflict(store, "corporate action of event", row->input_seq, true)
               : rc;
}

int db_apply_session(struct db_store *store, const struct db_session *row)
{
    struct binding b = bind(store, DB_SQL_SESSION);
    text(&b, row->session.calendar);
    text(&b, market_phase_name(row->session.phase));
    integer(&b, row->since_ns);
    integer(&b, row->session.next_ns);
    return run(store, &b);
}

int db_apply_venue(struct db_store *store, const struct db_venue *row)
{
    const char *venue = (const char *)(row + 1), *detail = venue + strlen(venue) + 1;
    struct binding b = bind(store, DB_SQL_VENUE);
    text(&b, venue);
    text(&b, db_feed_state_name(row->state));
    text(&b, detail);
    text(&b, detail + strlen(detail) + 1);
    integer(&b, row->last_recv_ns);
    integer(&b, row->frames);
    integer(&b, row->bad_frames);
    integer(&b, row->connects);
    integer(&b, row->renewals);
    real_or_null(&b, row->latency_p50_ms);
    real_or_null(&b, row->latency_p99_ms);
    real_or_null(&b, row->clock_offset_ms);
    return run(store, &b);
}

int db_apply_ban(struct db_store *store, const struct db_ban *row)
{
    const char *venue = (const char *)(row + 1);
    struct binding b = bind(store, row->until_ns ? DB_SQL_BAN : DB_SQL_BAN_OVER);
    text(&b, venue);
    if (row->until_ns) {
        integer(&b, row->until_ns);
        text(&b, venue + strlen(venue) + 1);
    }
    return run(store, &b);
}
