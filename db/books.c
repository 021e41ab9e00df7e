#include "db/books.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/base.h"
#include "db/holdings.h"
#include "db/reader_query.h"
#include "db/records.h"
#include "db/row_hash.h"

/* ---- causes ---- */

#define LEDGER_AND_CAUSE \
    "SELECT l.id, l.ts_ns, l.account, l.asset, l.scale, l.kind, l.amount, l.balance, l.order_id, l.fill_id, l.hash, " \
    "1 + (SELECT count(*) FROM main.ledger AS r WHERE r.kind = 'reset' AND r.account = l.account AND r.asset = " \
    "a.currency AND r.id < l.id), c.id IS NOT NULL FROM ledger AS l JOIN accounts AS a ON a.id = l.account LEFT " \
    "JOIN ledger_causes AS c ON c.id = l.id WHERE ?1 IN ('', a.name) ORDER BY l.id"

/* The accounts' and symbols' rows stay where they are once all are loaded. */
static int name_cause(struct db_reader *reader, sqlite3_stmt *stmt, struct db_cause_row *ret)
{
    struct db_named named;
    sqlite3_reset(stmt);
    record_sqlite_params(stmt, RECORD_PARAMS(ret->row.id));
    int r = db_query_row(reader, stmt, &record_ledger_causes, &ret->cause, &named);
    if (r <= 0)
        return r;
    ret->known = true;
    ret->symbol = ret->cause.symbol < 0 ? NULL : named.symbol;
    ret->counterparty = ret->cause.counterparty < 0 ? NULL : named.account;
    return 0;
}

int db_reader_causes(struct db_reader *reader, const char *account,
                     void (*row)(void *ctx, const struct db_cause_row *row), void *ctx)
{
    sqlite3_stmt *stmt, *cause = NULL;
    int r = db_query(reader, LEDGER_AND_CAUSE, RECORD_PARAMS((const char *)(account ? account : "")), &stmt);
    if (r == 0)
        r = db_query(reader, DB_SELECT("ledger_causes", RECORD_LEDGER_CAUSE) "WHERE id = ?1", NULL, &cause);
    while (r >= 0) {
        struct db_cause_row each = {.cause = ledger_cause_of(CAUSE_FILL)};
        struct db_named named;
        r = db_query_row(reader, stmt, &record_ledger, &each.row, &named);
        if (r <= 0)
            break;
        each.account = named.account;
        each.epoch = sqlite3_column_int64(stmt, record_ledger.n);
        if (sqlite3_column_int(stmt, record_ledger.n + 1) && (r = name_cause(reader, cause, &each)) < 0)
            break;
        row(ctx, &each);
    }
    sqlite3_finalize(cause);
    return db_query_end(stmt, r);
}

int db_reader_accruals(struct db_reader *reader,
                       void (*row)(void *ctx, const struct ledger_accrual *row,
                                   const struct db_account *account, const struct db_symbol_row *symbol),
                       void *ctx)
{
    struct ledger_accrual each;
    struct db_named named;
    sqlite3_stmt *stmt;
    int r = db_query(reader, DB_SELECT("ledger_accruals", RECORD_ACCRUAL) "ORDER BY id", NULL, &stmt);
    while (r >= 0 && (r = db_query_row(reader, stmt, &record_ledger_accruals, &each, &named)) > 0)
        row(ctx, &each, named.account, each.cause.symbol < 0 ? NULL : named.symbol);
    return db_query_end(stmt, r);
}

/* ---- terms ---- */

int db_reader_terms(struct db_reader *reader, const char *account,
                    void (*row)(void *ctx, const struct db_terms *row, const struct db_account *of),
                    void *ctx)
{
    struct db_terms each = {0};
    struct db_named named;
    sqlite3_stmt *stmt;
    int r =
        db_query(reader,
                 "SELECT " DB_TERMS_COLUMNS " FROM account_terms WHERE ?1 = '' OR account = (SELECT id FROM "
                 "accounts WHERE name = ?1) ORDER BY account, event, id",
                 RECORD_PARAMS((const char *)(account ? account : "")), &stmt);
    while (r >= 0 && (r = db_query_row(reader, stmt, &db_record_terms, &each, &named)) > 0)
        row(ctx, &each, named.account);
    return db_query_end(stmt, r);
}

/* ---- epochs ---- */

/* An account's epoch so far. */
struct epoch_sums {
    struct db_account account;
    struct db_epoch_row row;
};

struct epoch_split {
    int64_t symbol, ts_ns;
    uint64_t input_seq;
    struct stock_split split;
};

struct epoch_walk {
    struct db_reader *reader;
    const char *wanted;
    void (*row)(void *ctx, const struct db_epoch_row *row);
    void *ctx;
    struct epoch_sums *accounts;
    size_t n_accounts;
    struct epoch_split *splits;
    size_t n_splits, splits_done;
    struct db_holdings holdings;
    struct db_epoch_row *out; /* by account's number at the end */
    size_t n_out;
    int r;
};

static void *grown(struct epoch_walk *walk, void **rows, size_t n, size_t size)
{
    void *moved = realloc(*rows, (n + 1) * size);
    if (!moved) {
        walk->r = -ENOMEM;
        return NULL;
    }
    *rows = moved;
    memset((char *)moved + n * size, 0, size);
    return (char *)moved + n * size;
}

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct epoch_walk *walk = ctx;
    struct epoch_sums *sums = grown(walk, (void **)&walk->accounts, walk->n_accounts, sizeof *walk->accounts);
    if (!sums)
        return;
    walk->n_accounts++;
    sums->account = row->account;
    sums->row.epoch = 1;
    sums->row.from_ns = row->account.created_ns;
}

static void take_split(void *ctx, const struct db_action_row *row)
{
    struct epoch_walk *walk = ctx;
    const struct corporate_action *action = &row->action.action;
    if (action->kind != ACTION_SPLIT)
        return;
    struct epoch_split *split = grown(walk, (void **)&walk->splits, walk->n_splits, sizeof *walk->splits);
    if (!split)
        return;
    walk->n_splits++;
    *split = (struct epoch_split){row->symbol->id,
                                  row->action.ts_ns,
                                  row->action.input_seq,
                                  {action->shares, action->per, action->ex_ns}};
}

static struct epoch_sums *sums_of(struct epoch_walk *walk, int64_t account)
{
    size_t i = 0;
    while (i < walk->n_accounts && walk->accounts[i].account.number != account)
        i++;
    return i < walk->n_accounts ? &walk->accounts[i] : NULL;
}

/* Splits of events before that one, or up to that time. */
static void follow_splits(struct epoch_walk *walk, uint64_t before_seq, int64_t until_ns)
{
    for (; walk->r == 0 && walk->splits_done < walk->n_splits; walk->splits_done++) {
        const struct epoch_split *split = &walk->splits[walk->splits_done];
        if (split->input_seq >= before_seq && split->ts_ns > until_ns)
            break;
        walk->r = db_holdings_split(&walk->holdings, split->symbol, &split->split, split->ts_ns, NULL, NULL);
    }
}

static void put(struct epoch_walk *walk, const struct db_epoch_row *row)
{
    struct db_epoch_row *to = grown(walk, (void **)&walk->out, walk->n_out, sizeof *walk->out);
    if (to)
        *to = *row;
    walk->n_out += to != NULL;
}

/* The epoch as it ends, at 0 where it lasts. */
static void end_epoch(struct epoch_walk *walk, struct epoch_sums *sums, int64_t to_ns)
{
    struct db_epoch_row row = sums->row;
    row.account = &sums->account;
    row.to_ns = to_ns;
    row.closed = to_ns != 0 && to_ns == sums->account.closed_ns;
    put(walk, &row);
    for (size_t i = 0; i < walk->holdings.n && walk->r == 0; i++) {
        const struct db_holding *holding = &walk->holdings.rows[i];
        if (holding->account != sums->account.number || (holding->position.updated_ns == 0))
            continue;
        struct db_epoch_row of = {.account = row.account,
                                  .epoch = row.epoch,
                                  .from_ns = row.from_ns,
                                  .to_ns = row.to_ns,
                                  .closed = row.closed,
                                  .position = holding->position};
        walk->r = db_reader_symbol_id(walk->reader, holding->symbol, &of.symbol);
        if (of.symbol && (of.position.qty || of.position.fees || of.position.cost || of.position.realized ||
                          of.position.fifo_realized || of.position.opened_ns || of.position.closed_ns))
            put(walk, &of);
    }
    sums->row = (struct db_epoch_row){.epoch = row.epoch + 1, .from_ns = to_ns};
}

static void add_money(struct epoch_sums *sums, int kind, int64_t amount)
{
    struct db_epoch_row *row = &sums->row;
    row->flows += kind == LEDGER_DEPOSIT || kind == LEDGER_TRANSFER ? amount : 0;
    row->fees -= kind == LEDGER_FEE ? amount : 0;
    row->interest -= kind == LEDGER_INTEREST ? amount : 0;
    row->dividends += kind == LEDGER_DIVIDEND ? amount : 0;
    row->resets += kind == LEDGER_RESET ? amount : 0;
}

struct epoch_entry {
    int64_t account, ts_ns, amount, symbol;
    const char *kind, *asset;
    struct fill fill; /* qty: with its sign */
};

static void take_entry(struct epoch_walk *walk, const struct epoch_entry *entry, uint64_t *last_fill)
{
    struct epoch_sums *sums = sums_of(walk, entry->account);
    int kind = ledger_kind_parse(entry->kind);
    const struct fill *f = &entry->fill;
    if (!sums || kind < 0)
        return;
    bool currency = strcmp(entry->asset, sums->account.currency) == 0;
    if (currency)
        add_money(sums, kind, entry->amount);
    if (kind == LEDGER_RESET && currency)
        follow_splits(walk, 0, entry->ts_ns);
    if (kind == LEDGER_RESET && currency)
        end_epoch(walk, sums, entry->ts_ns);
    if (kind == LEDGER_RESET)
        db_holdings_reset(&walk->holdings, entry->account, entry->ts_ns);
    if (f->id == 0 || f->id == *last_fill || kind != LEDGER_TRADE)
        return;
    *last_fill = f->id;
    follow_splits(walk, f->input_seq, INT64_MIN);
    if (walk->r == 0)
        walk->r = db_holdings_fill(&walk->holdings, entry->account, entry->symbol,
                                   f->qty > 0 ? ORDER_BUY : ORDER_SELL, f->qty > 0 ? f->qty : -f->qty,
                                   f->notional, f->fee, entry->ts_ns);
}

static int walk_ledger(struct epoch_walk *walk, uint64_t after)
{
    struct epoch_entry entry = {0};
    uint64_t last = 0;
    sqlite3_stmt *stmt;
    int r = db_query(
        walk->reader,
        "SELECT l.account, ifnull(f.ts_ns, l.ts_ns), l.kind, l.asset, l.amount, f.id, f.symbol, iif(f.side = 'BUY', 1, -1) * (f.qty - "
        "f.fee_base), f.notional, f.fee, f.input_seq FROM ledger AS l LEFT JOIN fills AS f ON "
        "f.id = l.fill_id WHERE l.id > ?1 ORDER BY l.id",
        RECORD_PARAMS(after), &stmt);
    struct fill *f = &entry.fill;
    while (r >= 0 && walk->r == 0 &&
           (r = db_query_next(walk->reader, stmt,
                              RECORD_INTO(&entry.account, &entry.ts_ns, &entry.kind, &entry.asset,
                                          &entry.amount, &f->id, &entry.symbol, &f->qty, &f->notional,
                                          &f->fee, &f->input_seq))) > 0)
        take_entry(walk, &entry, &last);
    follow_splits(walk, UINT64_MAX, INT64_MIN);
    return db_query_end(stmt, walk->r < 0 ? walk->r : r);
}

/* In the order of accounts; each account's epochs are in theirs. */
static void emit(struct epoch_walk *walk)
{
    for (size_t a = 0; a < walk->n_accounts; a++)
        for (size_t i = 0; i < walk->n_out; i++)
            if (walk->out[i].account == &walk->accounts[a].account &&
                (!walk->wanted || strcmp(walk->wanted, walk->accounts[a].account.name) == 0))
                walk->row(walk->ctx, &walk->out[i]);
}

int db_reader_epochs(struct db_reader *reader, const char *account,
                     void (*row)(void *ctx, const struct db_epoch_row *row), void *ctx)
{
    struct epoch_walk walk = {.reader = reader, .wanted = account, .row = row, .ctx = ctx};
    struct db_base base = {0};
    int r = db_base_read(reader, &base);
    if (r == 0)
        r = db_reader_accounts(reader, take_account, &walk);
    if (r == 0)
        r = db_reader_actions(reader, NULL, take_split, &walk);
    while (walk.splits_done < walk.n_splits && walk.splits[walk.splits_done].input_seq <= base.event_seq)
        walk.splits_done++; /* they are in the base */
    if (r == 0)
        r = db_base_positions(reader, false, &walk.holdings);
    if (r >= 0)
        r = walk.r < 0 ? walk.r : walk_ledger(&walk, base.last_ledger);
    for (size_t a = 0; a < walk.n_accounts && r == 0; a++) {
        end_epoch(&walk, &walk.accounts[a], walk.accounts[a].account.closed_ns);
        r = walk.r;
    }
    if (r == 0)
        emit(&walk);
    db_holdings_finish(&walk.holdings);
    free(walk.accounts);
    free(walk.splits);
    free(walk.out);
    return r;
}
