#include "db/books/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/base.h"
#include "db/books/lots.h"
#include "db/ledger_row.h"
#include "db/reader_query.h"
#include "db/row_hash.h"
#include "engine/fill_rows.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"

/* A split, and what the ledger is to have of it. */
struct awaited {
    int account;
    int64_t change;
};

struct walking {
    struct db_reader *reader;
    const struct db_books_walk *to;
    struct db_base base;
    struct books_lots lots;
    struct db_action *splits; /* in the order in which they took effect; symbols are the reader's indices */
    size_t n_splits, cap_splits, done;
    struct awaited *awaited; /* of the split that took effect last */
    size_t n_awaited, cap_awaited;
    int64_t *epochs; /* by account */
    size_t n_epochs;
    sqlite3_stmt *fills; /* after the base, by id */
    struct db_fill_row fill;
    bool has_fill;
};

static bool make_room(void **rows, size_t n, size_t *cap, size_t size)
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

static int64_t epoch_of(const struct walking *w, int account)
{
    return (size_t)account < w->n_epochs ? w->epochs[account] : 1;
}

static int begin_epoch(struct walking *w, int account)
{
    if ((size_t)account >= w->n_epochs) {
        const size_t n = (size_t)account + 1;
        int64_t *more = realloc(w->epochs, n * sizeof *more);
        if (!more)
            return -ENOMEM;
        for (size_t i = w->n_epochs; i < n; i++)
            more[i] = 1;
        w->epochs = more;
        w->n_epochs = n;
    }
    w->epochs[account]++;
    return 0;
}

static struct db_books_change change_of(struct walking *w, enum db_books_cause cause, int account, int symbol,
                                        int64_t ts_ns)
{
    return (struct db_books_change){
        .cause = cause, .account = account, .symbol = symbol, .epoch = epoch_of(w, account), .ts_ns = ts_ns};
}

/* ---- what is read before ---- */

struct taking {
    struct walking *w;
    int r;
};

static void take_split(void *ctx, const struct db_action_row *row)
{
    struct taking *taking = ctx;
    struct walking *w = taking->w;
    const struct stock_split split = {row->action.action.shares, row->action.action.per, 0};
    if (row->action.action.kind != ACTION_SPLIT || row->action.input_seq <= w->base.event_seq ||
        !engine_split_valid(&split))
        return;
    if (!make_room((void **)&w->splits, w->n_splits, &w->cap_splits, sizeof *w->splits)) {
        taking->r = -ENOMEM;
        return;
    }
    w->splits[w->n_splits] = row->action;
    w->splits[w->n_splits++].symbol = (int)(row->symbol - w->reader->symbols);
}

static int read_splits(struct walking *w)
{
    struct taking taking = {w, 0};
    int r = db_reader_actions(w->reader, NULL, take_split, &taking);
    return r == 0 ? taking.r : r;
}

static bool wanted(const struct walking *w, int account)
{
    return w->to->account < 0 || w->to->account == account;
}

/* The positions that the record starts with. */
static int begin_with_base(struct walking *w)
{
    int r = w->base.event_seq ? db_base_positions(w->reader, true, &w->lots.holdings) : 0;
    for (size_t i = 0; i < w->lots.holdings.n && r == 0; i++) {
        const struct db_holding *holding = &w->lots.holdings.rows[i];
        struct db_books_change change =
            change_of(w, DB_BOOKS_BASE, (int)holding->account, (int)holding->symbol, w->base.ts_ns);
        r = db_books_lots_base(&w->lots, i, &change);
        if (r == 0 && wanted(w, change.account))
            w->to->change(w->to->ctx, &change);
    }
    return r;
}

/* ---- splits ---- */

static int split_one(struct walking *w, const struct db_action *action, size_t at)
{
    const struct stock_split split = {action->action.shares, action->action.per, action->action.ex_ns};
    const struct db_holding *holding = &w->lots.holdings.rows[at];
    struct db_books_change change =
        change_of(w, DB_BOOKS_SPLIT, (int)holding->account, action->symbol, action->ts_ns);
    int64_t grown = 0;
    if (position_before(&holding->position, &holding->lots, split.ex_ns) == 0)
        return 0;
    int r = db_books_lots_split(&w->lots, at, &split, action->ts_ns, &change, &grown);
    if (r < 0)
        return r;
    if (grown != 0) {
        if (!make_room((void **)&w->awaited, w->n_awaited, &w->cap_awaited, sizeof *w->awaited))
            return -ENOMEM;
        w->awaited[w->n_awaited++] = (struct awaited){change.account, grown};
    }
    if (wanted(w, change.account))
        w->to->change(w->to->ctx, &change);
    return 0;
}

/* The next split takes effect, in every account. */
static int split_next(struct walking *w)
{
    const struct db_action *action = &w->splits[w->done++];
    int r = 0;
    w->n_awaited = 0;
    for (size_t i = 0; i < w->lots.holdings.n && r == 0; i++)
        if (w->lots.holdings.rows[i].symbol == action->symbol)
            r = split_one(w, action, i);
    return r;
}

/* Is the row one of those of the split that took effect last? It is then no longer awaited. */
static bool is_awaited(struct walking *w, const struct ledger_row *row)
{
    for (size_t i = 0; i < w->n_awaited; i++)
        if (w->awaited[i].account == row->account && w->awaited[i].change == row->amount) {
            w->awaited[i] = w->awaited[--w->n_awaited];
            return true;
        }
    return false;
}

/* A row of a split that did not take effect yet: it does now, and those before it. */
static int split_for(struct walking *w, const struct ledger_row *row)
{
    int r = 0;
    while (r == 0 && !is_awaited(w, row)) {
        size_t i = w->done;
        while (i < w->n_splits &&
               (w->splits[i].ts_ns != row->ts_ns ||
                strcmp(w->reader->symbols[w->splits[i].symbol].symbol.base, row->asset) != 0))
            i++;
        if (i == w->n_splits)
            return 0;
        while (w->done <= i && r == 0)
            r = split_next(w);
    }
    return r;
}

/* ---- fills and resets ---- */

/* Moves on to the fill with that number. */
static int find_fill(struct walking *w, const struct ledger_row *row)
{
    int r = 1;
    while (r > 0 && (!w->has_fill || w->fill.fill.id < row->fill_id)) {
        r = db_query_fill(w->reader, w->fills, &w->fill);
        w->has_fill = r > 0;
    }
    if (r < 0 || (w->has_fill && w->fill.fill.id == row->fill_id))
        return r < 0 ? r : 0;
    return db_query_bad(w->reader, "ledger", (int64_t)row->id,
                        "there is no such fill: papertape ledger verify");
}

static int apply_fill(struct walking *w)
{
    const struct fill *fill = &w->fill.fill;
    struct db_books_change change = change_of(w, DB_BOOKS_FILL, fill->account, fill->symbol, fill->ts_ns);
    change.fill = fill;
    int r = db_books_lots_fill(&w->lots, fill, &change);
    if (r == -ERANGE)
        return db_query_bad(w->reader, "fills", (int64_t)fill->id, "its position is beyond all bounds");
    if (r == 0)
        w->to->change(w->to->ctx, &change);
    return r;
}

static int apply_reset(struct walking *w, const struct ledger_row *row)
{
    int r = 0;
    for (size_t i = 0; i < w->lots.holdings.n && r == 0; i++) {
        const struct db_holding *holding = &w->lots.holdings.rows[i];
        struct db_books_change change =
            change_of(w, DB_BOOKS_RESET, row->account, (int)holding->symbol, row->ts_ns);
        if (holding->account != row->account)
            continue;
        r = db_books_lots_end(&w->lots, i, &change);
        if (r == 0)
            w->to->change(w->to->ctx, &change);
    }
    db_holdings_reset(&w->lots.holdings, row->account, row->ts_ns);
    return r == 0 ? begin_epoch(w, row->account) : r;
}

/* ---- the walk ---- */

static int before_row(struct walking *w, const struct ledger_row *row)
{
    int r = 0;
    if (row->kind == LEDGER_SPLIT && row->fill_id == 0)
        r = split_for(w, row);
    if (row->fill_id == 0)
        return r;
    r = find_fill(w, row);
    while (r == 0 && w->done < w->n_splits && w->splits[w->done].input_seq < w->fill.fill.input_seq)
        r = split_next(w);
    return r;
}

static bool is_reset(const struct db_ledger_row *entry)
{
    return entry->row.kind == LEDGER_RESET && strcmp(entry->row.asset, entry->account->currency) == 0;
}

static int take_row(struct walking *w, const struct db_ledger_row *entry, bool *goes_on)
{
    const struct ledger_row *row = &entry->row;
    int r = before_row(w, row);
    if (r < 0)
        return r;
    *goes_on = !w->to->row || w->to->row(w->to->ctx, entry);
    if (!*goes_on)
        return 0;
    if (row->fill_id && row->kind == LEDGER_TRADE &&
        engine_fill_row(row, &w->reader->symbols[w->fill.fill.symbol].symbol) == BASE_ROW)
        return apply_fill(w);
    return is_reset(entry) ? apply_reset(w, row) : 0;
}

static int walk_ledger(struct walking *w)
{
    sqlite3_stmt *stmt;
    struct db_ledger_row entry;
    bool goes_on = true;
    int r = db_query(w->reader, "SELECT " DB_LEDGER_COLUMNS " FROM ledger ORDER BY id", NULL, &stmt);
    while (r >= 0 && goes_on && (r = db_query_ledger(w->reader, stmt, &entry)) > 0) {
        if (!wanted(w, entry.row.account))
            continue;
        if (entry.row.id <= w->base.last_ledger)
            r = is_reset(&entry) ? begin_epoch(w, entry.row.account) : 0;
        else
            r = take_row(w, &entry, &goes_on);
    }
    r = db_query_end(stmt, r > 0 ? 0 : r);
    while (r == 0 && goes_on && w->done < w->n_splits)
        r = split_next(w);
    return r;
}

int db_books_walk(struct db_reader *reader, const struct db_books_walk *walk)
{
    struct walking w = {.reader = reader, .to = walk};
    int r = db_base_read(reader, &w.base);
    if (r == 0)
        r = read_splits(&w);
    if (r == 0)
        r = begin_with_base(&w);
    if (r == 0)
        r = db_query(reader, DB_QUERY_FILLS "WHERE id > ?1 ORDER BY id", RECORD_PARAMS(w.base.last_fill),
                     &w.fills);
    if (r == 0) {
        r = walk_ledger(&w);
        r = db_query_end(w.fills, r);
    }
    db_books_lots_finish(&w.lots);
    free(w.splits);
    free(w.awaited);
    free(w.epochs);
    return r;
}

int db_books_account(struct db_reader *reader, const char *name, int *ret)
{
    struct nearest nearest = {0};
    int r = name ? db_reader_load_accounts(reader) : 0;
    if (r < 0)
        return r;
    for (size_t i = 0; name && i < reader->n_accounts; i++) {
        const struct db_account *account = &reader->accounts[i].account;
        if (strcmp(account->name, name) == 0) {
            *ret = account->number;
            return 0;
        }
        nearest_offer(&nearest, name, account->name);
    }
    if (name) {
        snprintf(reader->error, sizeof reader->error, "\"%.64s\": " FAIL_NO_ACCOUNT "%s", name,
                 NEAREST_SUGGEST(nearest_meant(&nearest, name)));
        return -ENOENT;
    }
    *ret = -1;
    return 0;
}
