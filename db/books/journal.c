#include "db/books/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/base.h"
#include "db/books/journal_internal.h"
#include "db/reader_query.h"

bool db_books_make_room(void **rows, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    const size_t room = *cap ? 2 * *cap : 16;
    void *more = realloc(*rows, room * size);
    if (!more)
        return false;
    *rows = more;
    *cap = room;
    return true;
}

const char *db_books_time(char *buf, size_t size, int64_t ts_ns)
{
    time_t seconds = ts_ns / 1000000000;
    struct tm utc;
    char text[32];
    gmtime_r(&seconds, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(buf, size, "%s.%09lldZ", text, (long long)(ts_ns % 1000000000));
    return buf;
}

const char *db_books_date(char buf[static DB_BOOKS_DATE_MAX], int64_t day)
{
    time_t seconds = day * 86400;
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(buf, DB_BOOKS_DATE_MAX, "%Y-%m-%d", &utc);
    return buf;
}

/* ---- transactions ---- */

static bool in_period(const struct books_journal *j)
{
    return j->now_ns >= j->query->from_ns;
}

void db_books_begin(struct books_journal *j, int64_t ts_ns, const char *words)
{
    db_books_end(j);
    j->gathering = (struct db_books_transaction){.day = j->now_ns / DB_BOOKS_DAY_NS, .ts_ns = ts_ns};
    snprintf(j->gathering.words, sizeof j->gathering.words, "%s", words);
    j->rows = 0;
    j->open = true;
}

void db_books_end(struct books_journal *j)
{
    if (!j->open || j->r < 0)
        return;
    j->open = false;
    if (j->gathering.n == 0)
        return;
    if (!j->any)
        j->first_day = j->gathering.day;
    if (j->any && j->gathering.day > j->day)
        db_books_pass_prices(j);
    j->any = true;
    j->day = j->gathering.day;
    j->gathering.postings = j->postings;
    j->sink->transaction(j->sink->ctx, &j->gathering, j->declaring);
}

void db_books_follow(struct books_journal *j, const struct db_books_change *change)
{
    int r = db_books_parts_follow(&j->parts, change,
                                  !j->query->lots ? BOOKS_PARTS_NONE
                                  : j->declaring  ? BOOKS_PARTS_NOTED
                                                  : BOOKS_PARTS_KNOWN);
    if (r < 0)
        j->r = r;
}

/* What was before the journal's first transaction. */
static void post_openings(struct books_journal *j)
{
    if (!j->had)
        return;
    j->had = false;
    for (size_t i = 0; i < j->n_balances && j->r == 0; i++) {
        if (j->balances[i].n == 0)
            continue;
        db_books_begin(j, j->query->from_ns > 0 ? j->query->from_ns : j->now_ns, "opening balances");
        db_books_post_opening(j, (int)i);
        db_books_end(j);
    }
}

/* ---- the walk ---- */

/* Moves on to a time. False: it is not of the journal. */
static bool reach(struct books_journal *j, int64_t ts_ns)
{
    const int64_t now_ns = ts_ns > j->now_ns ? ts_ns : j->now_ns;
    if (j->over || j->r < 0 || (j->query->to_ns && now_ns >= j->query->to_ns)) {
        j->over = true;
        return false;
    }
    if (!in_period(j) && now_ns >= j->query->from_ns && j->had) {
        j->now_ns = j->query->from_ns;
        post_openings(j);
    }
    j->now_ns = now_ns;
    return true;
}

/* Can a row be the one that a split or a reset is waiting for? */
static bool may_be(const struct books_pending *pending, const struct ledger_row *row)
{
    return row && row->fill_id == 0 && row->ts_ns == pending->ts_ns &&
           (row->kind == LEDGER_RESET || row->kind == LEDGER_SPLIT || row->kind == LEDGER_BORROW);
}

/* Before a row, NULL: the end: what is waiting for none that can still come. */
static void post_rest(struct books_journal *j, const struct ledger_row *row)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->n_pending; i++) {
        const struct books_pending pending = j->pending[i];
        if (may_be(&pending, row)) {
            j->pending[kept++] = pending;
            continue;
        }
        db_books_begin(j, pending.ts_ns, pending.place == DB_PLACE_RESETS ? "reset" : "split");
        db_books_post_rest(j, &pending);
        db_books_end(j);
    }
    j->n_pending = kept;
}

static bool joins(const struct books_journal *j, const struct ledger_row *row)
{
    const struct ledger_row *first = &j->first;
    if (!j->open || j->rows == 0)
        return false;
    if (row->fill_id || first->fill_id)
        return row->fill_id == first->fill_id;
    return row->kind == LEDGER_TRANSFER && first->kind == LEDGER_TRANSFER && j->rows == 1 &&
           row->amount == -first->amount && row->ts_ns == first->ts_ns;
}

static bool take_row(void *ctx, const struct db_ledger_row *entry)
{
    struct books_journal *j = ctx;
    const struct ledger_row *row = &entry->row;
    if (!reach(j, row->ts_ns))
        return false;
    if (in_period(j))
        post_openings(j);
    db_books_balance_row(j, row);
    if (!in_period(j)) {
        j->had = true;
        return j->r == 0;
    }
    post_rest(j, row);
    if (!joins(j, row)) {
        db_books_begin(j, row->ts_ns, ledger_row_word(row));
        j->first = *row;
        j->gathering.ledger = row->id;
        j->gathering.order = row->order_id;
        j->gathering.fill = row->fill_id;
    }
    j->rows++;
    db_books_post_row(j, entry);
    return j->r == 0;
}

static void take_fill(struct books_journal *j, const struct db_books_change *change)
{
    snprintf(j->gathering.words, sizeof j->gathering.words, "%s %s",
             change->fill->side == ORDER_BUY ? "buy" : "sell",
             j->reader->symbols[change->symbol].symbol.base);
    db_books_price(j, change->symbol, change->ts_ns, change->fill->price);
    db_books_post_fill(j, change);
}

static void take_split(struct books_journal *j, const struct db_books_change *change)
{
    char words[DB_BOOKS_WORDS_MAX];
    post_openings(j);
    snprintf(words, sizeof words, "split of %s", j->reader->symbols[change->symbol].symbol.name);
    db_books_begin(j, change->ts_ns, words);
    db_books_post_split(j, change);
    db_books_end(j);
}

static void take_change(void *ctx, const struct db_books_change *change)
{
    struct books_journal *j = ctx;
    if (change->cause == DB_BOOKS_BASE) {
        db_books_follow(j, change);
        return;
    }
    if (!reach(j, change->ts_ns))
        return;
    if (!in_period(j))
        db_books_follow(j, change);
    else if (change->cause == DB_BOOKS_FILL)
        take_fill(j, change);
    else if (change->cause == DB_BOOKS_RESET)
        db_books_post_reset(j, change);
    else
        take_split(j, change);
}

static int walk(struct books_journal *j)
{
    struct db_base base;
    const struct db_books_walk walk = {
        .account = j->account, .ctx = j, .row = take_row, .change = take_change};
    int r = db_base_read(j->reader, &base);
    j->now_ns = base.ts_ns;
    j->any = j->over = j->open = false;
    j->had = base.event_seq > 0;
    j->day = 0;
    if (r == 0 && j->had)
        r = db_base_balances(j->reader, db_books_balance_base, j);
    if (r == 0)
        r = db_books_walk(j->reader, &walk);
    if (!in_period(j))
        j->now_ns = j->query->from_ns;
    if (r == 0)
        post_openings(j);
    post_rest(j, NULL);
    db_books_end(j);
    if (r == 0 && j->r == 0)
        r = db_reader_prices(j->reader, db_books_mark, j);
    if (r == 0)
        db_books_pass_prices(j);
    return r < 0 ? r : j->r;
}

/* Forgets what the walk came to; lots' parts are kept. */
static void forget(struct books_journal *j)
{
    for (size_t i = 0; i < j->n_balances; i++)
        free(j->balances[i].rows);
    free(j->balances);
    free(j->quotes);
    j->balances = NULL;
    j->quotes = NULL;
    j->n_balances = j->n_quotes = 0;
}

int db_books_journal(struct db_reader *reader, const struct db_books_query *query,
                     const struct db_books_sink *sink)
{
    struct books_journal j = {.reader = reader, .query = query, .sink = sink, .declaring = true};
    int r = db_reader_begin(reader);
    if (r < 0)
        return r;
    r = db_reader_load_accounts(reader);
    if (r == 0)
        r = db_books_account(reader, query->account, &j.account);
    if (r == 0)
        r = walk(&j);
    if (r == 0) {
        sink->declared(sink->ctx, j.first_day);
        forget(&j);
        db_books_parts_rewind(&j.parts);
        j.declaring = false;
        r = walk(&j);
    }
    db_reader_end(reader);
    forget(&j);
    db_books_parts_finish(&j.parts);
    free(j.postings);
    free(j.pending);
    return r;
}
