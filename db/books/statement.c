/* Reads what a statement sums: one way through the ledger, for all accounts at once. */
#include "db/books/statement.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/books/stating.h"
#include "db/report/internal.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"

struct statement_making {
    struct db_reader *reader;
    struct db_statements *statement;
    struct report_prices prices;
    struct db_stating_split *splits;
    size_t n_splits;
    struct db_base base;
    struct db_stating *statings; /* one an account */
    uint64_t from_id, to_id;     /* rows of the ledger: [from_id, to_id) */
    struct nearest nearest;
    int r;
};

static int fail(struct db_reader *reader, int error, const char *words)
{
    snprintf(reader->error, sizeof reader->error, "%s", words);
    return error;
}

static void finish_account(struct db_statement_account *account)
{
    free(account->moneys);
    free(account->marks);
    free(account->flows);
}

/* ---- prices ---- */

/* What an account's position was valued at when the daemon was stopped last, where that was no earlier than
 * `found`: the newest price then. 1; 0: there is none. -errno. */
static int mark_at_stop(struct statement_making *making, int account, int64_t symbol, int64_t ts_ns,
                        int64_t shares_ns, const struct report_mark *found, struct db_statement_mark *ret)
{
    int64_t price = 0, mark_ns = 0, stop_ns = 0;
    int r = db_query_first(making->reader,
                           "SELECT mark, mark_ns, ts_ns FROM marks WHERE account = ?1 AND symbol = ?2 AND "
                           "ts_ns <= ?3 AND mark > 0 ORDER BY ts_ns DESC LIMIT 1",
                           RECORD_PARAMS(account, symbol, ts_ns), RECORD_INTO(&price, &mark_ns, &stop_ns));
    if (r <= 0 || (found->price > 0 && found->ns > stop_ns))
        return r < 0 ? r : 0;
    for (size_t i = 0; i < making->n_splits; i++) {
        const struct db_stating_split *split = &making->splits[i];
        if (split->symbol == symbol && split->ts_ns > stop_ns && split->ts_ns <= shares_ns)
            price = engine_split_shown(&split->split, price);
    }
    ret->price = price;
    ret->mark_ns = mark_ns > 0 ? mark_ns : stop_ns;
    ret->source = DB_STATEMENT_STOP;
    return 1;
}

static int mark(void *ctx, const struct db_stating *stating, const struct db_stating_holding *holding,
                struct db_statement_mark *ret)
{
    struct statement_making *making = ctx;
    struct report_mark found;
    /* What happens at the end is not of the period, a split neither. */
    const int64_t shares_ns = ret->ts_ns - (ret->moment != DB_STATEMENT_RESET);
    int r = db_report_mark(&making->prices, holding->symbol, ret->ts_ns, shares_ns, &found);
    r = r < 0 ? r
              : mark_at_stop(making, stating->into->account.number, holding->symbol, ret->ts_ns, shares_ns,
                             &found, ret);
    if (r != 0 || found.price <= 0)
        return r < 0 ? r : 0;
    ret->price = found.price;
    ret->mark_ns = found.ns;
    ret->interval_ns = found.interval_ns;
    ret->source = found.interval_ns == 0 ? DB_STATEMENT_STORED
                  : found.trades         ? DB_STATEMENT_TRADES
                                         : DB_STATEMENT_VENUE;
    return 0;
}

/* Those that the base does not have already. */
static int copy_splits(struct statement_making *making)
{
    const struct report_prices *prices = &making->prices;
    making->splits = calloc(prices->n_splits + 1, sizeof *making->splits);
    if (!making->splits)
        return -ENOMEM;
    for (size_t i = 0; i < prices->n_splits; i++)
        if (prices->splits[i].input_seq > (int64_t)making->base.event_seq)
            making->splits[making->n_splits++] = (struct db_stating_split){
                prices->splits[i].symbol, prices->splits[i].ts_ns, prices->splits[i].split};
    return 0;
}

/* ---- dividends to be paid ---- */

static int receivable_kind(const char *name)
{
    static const char *const names[DB_STATING_RECEIVABLE_KINDS] = {"booked", "paid", "written-off"};
    for (int kind = 0; name && kind < DB_STATING_RECEIVABLE_KINDS; kind++)
        if (strcmp(name, names[kind]) == 0)
            return kind;
    return -EBADMSG;
}

static int add_receivable(struct db_stating *stating, const struct db_stating_receivable *each)
{
    size_t n = stating->n_receivables;
    if ((n & (n - 1)) == 0) {
        struct db_stating_receivable *more = reallocarray(stating->receivables, n ? 2 * n : 1, sizeof *more);
        if (!more)
            return -ENOMEM;
        stating->receivables = more;
    }
    stating->receivables[stating->n_receivables++] = *each;
    return 0;
}

static int read_receivables(struct statement_making *making, struct db_stating *stating)
{
    struct db_stating_receivable each = {0};
    sqlite3_stmt *stmt;
    const char *kind;
    int r =
        db_query(making->reader,
                 "SELECT id, ts_ns, kind, asset, scale, withheld, amount, booked, ledger_id FROM receivables "
                 "WHERE account = ?1 ORDER BY id",
                 RECORD_PARAMS(stating->into->account.number), &stmt);
    while (r >= 0 &&
           (r = db_query_next(
                making->reader, stmt,
                RECORD_INTO(&each.id, &each.ts_ns, &kind, record_into_chars(each.asset, sizeof each.asset),
                            &each.scale, &each.withheld, &each.amount, &each.booked, &each.ledger_id))) > 0) {
        const int named = receivable_kind(kind);
        each.kind = (enum db_stating_receivable_kind)named;
        r = named < 0 || each.scale < 0 || each.scale > DECIMAL_SCALE_MAX
                ? db_query_bad(making->reader, "receivables", (int64_t)each.id, "unknown kind or scale")
                : add_receivable(stating, &each);
        if (r < 0)
            break;
    }
    return db_query_end(stmt, r);
}

/* ---- accounts ---- */

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct statement_making *making = ctx;
    struct db_statements *statement = making->statement;
    const char *wanted = statement->query.account;
    if (wanted && strcmp(wanted, row->account.name) != 0) {
        nearest_offer(&making->nearest, wanted, row->account.name);
        return;
    }
    struct db_statement_account *more =
        reallocarray(statement->accounts, statement->n_accounts + 1, sizeof *more);
    if (!more) {
        making->r = -ENOMEM;
        return;
    }
    statement->accounts = more;
    more[statement->n_accounts++] = (struct db_statement_account){.account = row->account};
}

static int read_accounts(struct statement_making *making)
{
    struct db_statements *statement = making->statement;
    const char *wanted = statement->query.account;
    int r = db_reader_accounts(making->reader, take_account, making);
    r = r < 0 ? r : making->r;
    if (r == 0 && wanted && statement->n_accounts == 0) {
        snprintf(making->reader->error, sizeof making->reader->error, "\"%.64s\": " FAIL_NO_ACCOUNT "%s",
                 wanted, NEAREST_SUGGEST(nearest_meant(&making->nearest, wanted)));
        return -ENOENT;
    }
    return r;
}

static void set_periods(struct statement_making *making)
{
    struct db_statements *statement = making->statement;
    for (size_t i = 0; i < statement->n_accounts; i++) {
        struct db_statement_account *account = &statement->accounts[i];
        account->from_ns = statement->from_ns;
        account->to_ns = statement->to_ns;
        if (statement->query.from_ns == INT64_MIN)
            account->from_ns = making->base.event_seq > 0 ? making->base.ts_ns : account->account.created_ns;
    }
}

static struct db_stating *stating_of(struct statement_making *making, int64_t number)
{
    const struct db_statements *statement = making->statement;
    if (number >= 0 && (uint64_t)number < statement->n_accounts &&
        statement->accounts[number].account.number == number)
        return &making->statings[number]; /* of all, whose numbers have no hole */
    for (size_t i = 0; i < statement->n_accounts; i++)
        if (statement->accounts[i].account.number == number)
            return &making->statings[i];
    return NULL;
}

static int open_accounts(struct statement_making *making)
{
    struct db_statements *statement = making->statement;
    int r = 0;
    making->statings = calloc(statement->n_accounts + 1, sizeof *making->statings);
    if (!making->statings)
        return -ENOMEM;
    for (size_t i = 0; i < statement->n_accounts && r == 0; i++) {
        making->statings[i] = (struct db_stating){.fifo = statement->query.fifo,
                                                  .splits = making->splits,
                                                  .n_splits = making->n_splits,
                                                  .mark = mark,
                                                  .ctx = making};
        r = db_stating_init(&making->statings[i], &statement->accounts[i]);
        r = r < 0 ? r : read_receivables(making, &making->statings[i]);
    }
    return r;
}

/* ---- a record without its beginning ---- */

static void take_balance(void *ctx, const struct db_base_balance *row)
{
    struct statement_making *making = ctx;
    struct db_stating *stating = stating_of(making, row->account);
    if (stating && making->r == 0)
        making->r = db_stating_base_cash(stating, row->asset, row->scale, row->total - row->borrowed);
}

static int take_position(struct statement_making *making, struct db_holding *held)
{
    struct db_stating *stating = stating_of(making, held->account);
    const struct db_symbol_row *symbol;
    int r = stating ? db_reader_symbol_id(making->reader, held->symbol, &symbol) : 0;
    if (!stating || r < 0)
        return r;
    return symbol ? db_stating_base_position(stating, held->symbol, &symbol->symbol, &held->position,
                                             &held->lots)
                  : -EBADMSG;
}

static int begin_with_base(struct statement_making *making)
{
    struct db_holdings held = {0};
    if (making->base.event_seq == 0)
        return 0;
    int r = db_base_balances(making->reader, take_balance, making);
    r = r < 0 ? r : making->r;
    r = r < 0 ? r : db_base_positions(making->reader, false, &held);
    for (size_t i = 0; i < held.n && r == 0; i++)
        r = take_position(making, &held.rows[i]);
    db_holdings_finish(&held);
    return r;
}

/* ---- the ledger ---- */

#define ROWS \
    "SELECT l.id, l.ts_ns, l.account, l.asset, l.scale, l.kind, l.amount, f.id, f.symbol, f.side, f.price, " \
    "f.qty, f.notional, f.fee_base FROM ledger AS l LEFT JOIN fills AS f ON f.id = l.fill_id WHERE l.id > ?1 " \
    "AND l.id < ?2 ORDER BY l.id"

struct read_row {
    int64_t account, scale;
    const char *kind, *side_name;
    struct db_stating_row row;
    struct db_stating_fill fill;
};

static int begin_all(struct statement_making *making)
{
    struct db_statements *statement = making->statement;
    int r = 0;
    for (size_t i = 0; i < statement->n_accounts && r == 0; i++)
        if (!making->statings[i].counts)
            r = db_stating_begin(&making->statings[i], statement->accounts[i].from_ns);
    return r;
}

static int take_row(struct statement_making *making, struct read_row *read)
{
    struct db_stating *stating = stating_of(making, read->account);
    const struct db_symbol_row *symbol = NULL;
    const int kind = read->kind ? ledger_kind_parse(read->kind) : -EINVAL;
    if (!stating)
        return 0;
    if (read->row.ts_ns < stating->into->from_ns && making->from_id == 0 && making->base.event_seq == 0)
        stating->into->from_ns = read->row.ts_ns; /* of a record without `from` */
    if (kind < 0 || !read->row.asset || read->scale < 0 || read->scale > DECIMAL_SCALE_MAX)
        return -EBADMSG;
    read->row.kind = (enum ledger_kind)kind;
    read->row.scale = (int)read->scale;
    read->row.fill = NULL;
    if (read->fill.id > 0) {
        int r = db_reader_symbol_id(making->reader, read->fill.symbol, &symbol);
        if (r < 0 || !symbol || !read->side_name)
            return r < 0 ? r : -EBADMSG;
        read->fill.listed = &symbol->symbol;
        read->fill.side = strcmp(read->side_name, "BUY") == 0 ? ORDER_BUY : ORDER_SELL;
        read->row.fill = &read->fill;
    }
    return db_stating_row(stating, &read->row);
}

static int read_rows(struct statement_making *making)
{
    struct read_row read = {0};
    const struct record_into into[] = {record_into_int64(&read.row.id),
                                       record_into_int64(&read.row.ts_ns),
                                       record_into_int64(&read.account),
                                       record_into_string(&read.row.asset),
                                       record_into_int64(&read.scale),
                                       record_into_string(&read.kind),
                                       record_into_int64(&read.row.amount),
                                       record_into_int64(&read.fill.id),
                                       record_into_int64(&read.fill.symbol),
                                       record_into_string(&read.side_name),
                                       record_into_int64(&read.fill.price),
                                       record_into_int64(&read.fill.qty),
                                       record_into_int64(&read.fill.notional),
                                       record_into_int64(&read.fill.fee_base),
                                       {0}};
    sqlite3_stmt *stmt;
    bool started = false;
    int r = db_query(making->reader, ROWS, RECORD_PARAMS(making->base.last_ledger, making->to_id), &stmt);
    while (r >= 0 && (r = db_query_next(making->reader, stmt, into)) > 0) {
        if (!started && read.row.id >= making->from_id) {
            started = true;
            r = begin_all(making);
        }
        r = r < 0 ? r : take_row(making, &read);
        if (r < 0 && !making->reader->error[0])
            snprintf(making->reader->error, sizeof making->reader->error,
                     "row %llu of the ledger does not go with its fill, its split or the rows before it: see "
                     "papertape ledger verify",
                     (unsigned long long)read.row.id);
        if (r < 0)
            break;
    }
    return db_query_end(stmt, r);
}

/* Accounts that begin after the period are no part of it. */
static void leave_out_later(struct db_statements *statement)
{
    const bool open = statement->query.from_ns == INT64_MIN;
    size_t kept = 0;
    if (open)
        statement->from_ns = statement->to_ns;
    for (size_t i = 0; i < statement->n_accounts; i++) {
        struct db_statement_account *account = &statement->accounts[i];
        if (account->account.created_ns >= statement->to_ns && !account->any) {
            finish_account(account);
            continue;
        }
        if (open && account->from_ns < statement->from_ns)
            statement->from_ns = account->from_ns;
        struct db_statement_account same = *account;
        statement->accounts[kept++] = same;
    }
    statement->n_accounts = kept;
}

static int end_all(struct statement_making *making)
{
    struct db_statements *statement = making->statement;
    int r = begin_all(making);
    for (size_t i = 0; i < statement->n_accounts && r == 0; i++) {
        r = db_stating_end(&making->statings[i], statement->accounts[i].to_ns);
        if (r == -EBADMSG)
            snprintf(making->reader->error, sizeof making->reader->error,
                     "account %.64s: its rows of the ledger and its fills do not tie: see papertape ledger "
                     "verify",
                     statement->accounts[i].account.name);
    }
    return r;
}

/* ---- the statement ---- */

static int set_period(struct statement_making *making)
{
    struct db_statements *statement = making->statement;
    const struct db_statement_query *query = &statement->query;
    char time[DB_STATEMENT_TIME_MAX];
    const bool open = query->from_ns == INT64_MIN;
    statement->to_ns = query->to_ns < query->now_ns ? query->to_ns : query->now_ns;
    statement->from_ns = open ? 1 : query->from_ns > 0 ? query->from_ns : 1;
    if (!open && query->to_ns <= query->from_ns)
        return fail(making->reader, -EDOM, "the period ends before it begins: a later end would be right");
    if (statement->from_ns > query->now_ns)
        return fail(making->reader, -EDOM,
                    "the period is in the future: one that has started would be right");
    if (!open && making->base.event_seq > 0 && statement->from_ns < making->base.ts_ns) {
        snprintf(making->reader->error, sizeof making->reader->error,
                 "the record was built again, and begins at %s: nothing is known of before",
                 db_statement_time(making->base.ts_ns, time));
        return -ENODATA;
    }
    return 0;
}

static int read_ids(struct statement_making *making)
{
    const struct db_statements *statement = making->statement;
    int r = db_report_first_row(making->reader, statement->to_ns, &making->to_id);
    making->from_id = 0;
    if (r < 0 || statement->query.from_ns == INT64_MIN)
        return r;
    return db_report_first_row(making->reader, statement->from_ns, &making->from_id);
}

static int make(struct statement_making *making)
{
    making->reader->error[0] = '\0';
    int r = db_base_read(making->reader, &making->base);
    r = r < 0 ? r : set_period(making);
    r = r < 0 ? r : read_accounts(making);
    if (r < 0)
        return r;
    set_periods(making);
    r = read_ids(making);
    r = r < 0 ? r : db_report_prices_open(making->reader, &making->prices);
    r = r < 0 ? r : copy_splits(making);
    r = r < 0 ? r : open_accounts(making);
    r = r < 0 ? r : begin_with_base(making);
    r = r < 0 ? r : read_rows(making);
    return r < 0 ? r : end_all(making);
}

int db_statement_make(struct db_reader *reader, const struct db_statement_query *query, bool started,
                      struct db_statements *ret)
{
    struct statement_making making = {.reader = reader, .statement = ret};
    *ret = (struct db_statements){.query = *query};
    int r = started ? 0 : db_reader_begin(reader);
    if (r < 0)
        return r;
    r = make(&making);
    if (!started)
        db_reader_end(reader);
    for (size_t i = 0; making.statings && i < ret->n_accounts; i++)
        db_stating_finish(&making.statings[i]);
    if (r == 0)
        leave_out_later(ret);
    free(making.statings);
    free(making.splits);
    db_report_prices_finish(&making.prices);
    if (r == -ENOMEM)
        fail(reader, r, "out of memory");
    if (r < 0)
        db_statement_finish(ret);
    return r;
}

void db_statement_finish(struct db_statements *statement)
{
    for (size_t i = 0; i < statement->n_accounts; i++)
        finish_account(&statement->accounts[i]);
    free(statement->accounts);
    *statement = (struct db_statements){0};
}
