#include "db/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader_query.h"
#include "exchange/fill_rules.h"

/* What the ledger and the positions are held against. Index: id - 1. */
struct known_order {
    int account, symbol;
    enum order_side side;
    int64_t filled, cost; /* of the fills seen so far */
};

enum { BASE_ROW = 1, QUOTE_ROW = 2, FEE_ROW = 4 };

struct known_fill {
    uint64_t order_id;
    int account, symbol;
    enum order_side side;
    int64_t qty, notional, fee;
    unsigned rows; /* of the ledger, seen so far */
};

struct known_position {
    int account, symbol;
    struct position position;
};

struct verification {
    struct db_reader *reader;
    struct db_verified *to;
    struct known_order *orders;
    struct known_fill *fills;
    size_t n_orders, n_fills;
    struct known_position *positions;
    size_t n_positions;
    bool out_of_memory;
};

static bool stopped(const struct verification *v)
{
    return !v->to->ok || v->out_of_memory;
}

static void wrong(struct verification *v, const char *table, uint64_t id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Notes the first failure; later ones follow from it as a rule. */
static void wrong(struct verification *v, const char *table, uint64_t id, const char *format, ...)
{
    if (!v->to->ok)
        return;
    v->to->ok = false;
    int n = snprintf(v->to->failure, sizeof v->to->failure, "%s: row %" PRIu64 ": ", table, id);
    va_list args;
    va_start(args, format);
    vsnprintf(v->to->failure + n, sizeof v->to->failure - (size_t)n, format, args);
    va_end(args);
}

static void *append(struct verification *v, void **rows, size_t *n, size_t size)
{
    if ((*n & (*n - 1)) == 0) {
        void *more = realloc(*rows, (*n ? 2 * *n : 1) * size);
        if (!more) {
            v->out_of_memory = true;
            return NULL;
        }
        *rows = more;
    }
    void *row = (char *)*rows + (*n)++ * size;
    memset(row, 0, size);
    return row;
}

#define APPEND(v, rows, n) append(v, (void **)&(rows), &(n), sizeof *(rows))

/* ---- orders ---- */

static void check_order_state(struct verification *v, const struct order *o)
{
    bool consistent = true;
    switch (o->state) {
    case ORDER_HELD:
    case ORDER_PENDING:
    case ORDER_OPEN:
        consistent = o->filled == 0;
        break;
    case ORDER_PARTIAL:
        consistent = o->filled > 0 && o->filled < o->qty;
        break;
    case ORDER_FILLED:
        consistent = o->filled == o->qty;
        break;
    case ORDER_CANCELED:
    case ORDER_EXPIRED:
        consistent = o->filled < o->qty;
        break;
    case ORDER_REJECTED:
        consistent = o->filled == 0 && o->reason != ORDER_OK;
        break;
    case ORDER_STATES:
        consistent = false;
        break;
    }
    if (!consistent)
        wrong(v, "orders", o->id, "%s does not go with %" PRId64 " of %" PRId64 " filled",
              order_state_name(o->state), o->filled, o->qty);
}

static void check_order(void *ctx, const struct db_order_row *row)
{
    struct verification *v = ctx;
    const struct order *o = &row->order;
    uint8_t hash[DB_ROW_HASH_SIZE];
    if (stopped(v))
        return;
    if (o->id != v->n_orders + 1) {
        wrong(v, "orders", v->n_orders + 1, "is missing");
        return;
    }
    if (db_hash_order(o, row->symbol ? row->symbol->id : 0, hash) < 0) {
        v->out_of_memory = true;
        return;
    }
    if (memcmp(hash, row->hash, sizeof hash) != 0)
        wrong(v, "orders", o->id, "was altered: its values and its hash disagree");
    check_order_state(v, o);
    struct known_order *known = APPEND(v, v->orders, v->n_orders);
    if (known)
        *known = (struct known_order){.account = o->account, .symbol = o->symbol, .side = o->side};
}

/* After the fills: does the order say what they add up to? */
static void check_order_sums(void *ctx, const struct db_order_row *row)
{
    struct verification *v = ctx;
    const struct order *o = &row->order;
    if (stopped(v))
        return;
    const struct known_order *known = &v->orders[o->id - 1];
    if (o->filled != known->filled)
        wrong(v, "orders", o->id, "says %" PRId64 " filled, its fills add up to %" PRId64, o->filled,
              known->filled);
    if (o->cost != known->cost)
        wrong(v, "orders", o->id, "says a cost of %" PRId64 ", its fills add up to %" PRId64, o->cost,
              known->cost);
}

/* ---- fills ---- */

/* The position that the fills so far lead to: average cost, without fees. */
static struct position *position_of(struct verification *v, int account, int symbol)
{
    for (size_t i = 0; i < v->n_positions; i++)
        if (v->positions[i].account == account && v->positions[i].symbol == symbol)
            return &v->positions[i].position;
    struct known_position *known = APPEND(v, v->positions, v->n_positions);
    if (!known)
        return NULL;
    known->account = account;
    known->symbol = symbol;
    return &known->position;
}

static void follow_position(struct verification *v, const struct fill *f)
{
    struct position *p = position_of(v, f->account, f->symbol);
    if (!p)
        return;
    p->fees += f->fee;
    if (f->side == ORDER_BUY) {
        p->qty += f->qty;
        p->cost += f->notional;
        return;
    }
    if (f->qty > p->qty) {
        wrong(v, "fills", f->id, "sells %" PRId64 ", more than the %" PRId64 " held", f->qty, p->qty);
        return;
    }
    int64_t removed = (int64_t)((int128_t)p->cost * f->qty / p->qty);
    p->qty -= f->qty;
    p->cost -= removed;
    p->realized += f->notional - removed;
}

static void check_fill(void *ctx, const struct db_fill_row *row)
{
    struct verification *v = ctx;
    const struct fill *f = &row->fill;
    const struct symbol *symbol = &row->symbol->symbol;
    uint8_t hash[DB_ROW_HASH_SIZE];
    if (stopped(v))
        return;
    if (f->id != v->n_fills + 1) {
        wrong(v, "fills", v->n_fills + 1, "is missing");
        return;
    }
    if (db_hash_fill(f, row->symbol->id, hash) < 0) {
        v->out_of_memory = true;
        return;
    }
    if (memcmp(hash, row->hash, sizeof hash) != 0)
        wrong(v, "fills", f->id, "was altered: its values and its hash disagree");
    if (f->order_id < 1 || f->order_id > v->n_orders) {
        wrong(v, "fills", f->id, "there is no order %" PRIu64, f->order_id);
        return;
    }
    struct known_order *order = &v->orders[f->order_id - 1];
    if (order->account != f->account || order->symbol != f->symbol || order->side != f->side)
        wrong(v, "fills", f->id, "is not of its order's account, symbol and side");
    int shift = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
    if (shift < 0 || shift > DECIMAL_SCALE_MAX)
        wrong(v, "symbols", (uint64_t)row->symbol->id, "its scales do not go together");
    else if (f->notional != fill_notional(f->side, f->price, f->qty, decimal_pow10(shift)))
        wrong(v, "fills", f->id, "the notional is not price times quantity");
    order->filled += f->qty;
    order->cost += f->notional;
    follow_position(v, f);
    struct known_fill *known = APPEND(v, v->fills, v->n_fills);
    if (known)
        *known = (struct known_fill){
            .order_id = f->order_id,
            .account = f->account,
            .symbol = f->symbol,
            .side = f->side,
            .qty = f->qty,
            .notional = f->notional,
            .fee = f->fee,
        };
}

/* ---- ledger ---- */

static struct db_verified_balance *balance_of(struct verification *v, const struct db_ledger_row *entry)
{
    const struct ledger_row *row = &entry->row;
    for (size_t i = 0; i < v->to->n_balances; i++)
        if (v->to->balances[i].account == row->account && strcmp(v->to->balances[i].asset, row->asset) == 0)
            return &v->to->balances[i];
    struct db_verified_balance *balance = APPEND(v, v->to->balances, v->to->n_balances);
    if (!balance)
        return NULL;
    balance->account = row->account;
    balance->scale = row->scale;
    snprintf(balance->account_name, sizeof balance->account_name, "%s", entry->account->name);
    snprintf(balance->asset, sizeof balance->asset, "%s", row->asset);
    return balance;
}

/* A row of a trade: one of the three that its fill asks for, each once. */
static void check_against_fill(struct verification *v, const struct ledger_row *row)
{
    if (row->kind == LEDGER_DEPOSIT) {
        if (row->fill_id != 0 || row->order_id != 0)
            wrong(v, "ledger", row->id, "a deposit of no order and no fill is needed");
        return;
    }
    if (row->fill_id < 1 || row->fill_id > v->n_fills) {
        wrong(v, "ledger", row->id, "there is no fill %" PRIu64, row->fill_id);
        return;
    }
    struct known_fill *fill = &v->fills[row->fill_id - 1];
    const struct symbol *symbol = &v->reader->symbols[fill->symbol].symbol;
    if (row->order_id != fill->order_id || row->account != fill->account) {
        wrong(v, "ledger", row->id, "is not of its fill's order and account");
        return;
    }
    int64_t sign = fill->side == ORDER_BUY ? 1 : -1;
    bool base = strcmp(row->asset, symbol->base) == 0;
    unsigned which = row->kind == LEDGER_FEE ? FEE_ROW : base ? BASE_ROW : QUOTE_ROW;
    int64_t amount = which == FEE_ROW    ? -fill->fee
                     : which == BASE_ROW ? sign * fill->qty
                                         : -sign * fill->notional;
    int scale = which == BASE_ROW ? symbol->qty_scale : symbol->quote_scale;
    if (which != BASE_ROW && strcmp(row->asset, symbol->quote) != 0)
        wrong(v, "ledger", row->id, "%s is not an asset of %s", row->asset, symbol->name);
    if (row->amount != amount || row->scale != scale)
        wrong(v, "ledger", row->id,
              "moves %" PRId64 " at scale %d, fill %" PRIu64 " asks for %" PRId64 " at %d", row->amount,
              row->scale, row->fill_id, amount, scale);
    if (fill->rows & which)
        wrong(v, "ledger", row->id, "fill %" PRIu64 " was booked before", row->fill_id);
    fill->rows |= which;
}

static void check_ledger(void *ctx, const struct db_ledger_row *entry)
{
    struct verification *v = ctx;
    struct ledger_row row = entry->row;
    if (stopped(v))
        return;
    if (row.id != v->to->ledger_rows + 1) {
        wrong(v, "ledger", v->to->ledger_rows + 1, "is missing");
        return;
    }
    if (ledger_row_chain(&row, v->to->hash) < 0) {
        v->out_of_memory = true;
        return;
    }
    if (memcmp(row.hash, entry->row.hash, sizeof row.hash) != 0)
        wrong(v, "ledger", row.id, "was altered: its values and its hash disagree");
    check_against_fill(v, &row);
    struct db_verified_balance *balance = balance_of(v, entry);
    if (!balance)
        return;
    if (__builtin_add_overflow(balance->total, row.amount, &balance->total) || row.balance != balance->total)
        wrong(v, "ledger", row.id, "the balance is %" PRId64 ", the rows add up to %" PRId64, row.balance,
              balance->total);
    if (row.balance < 0)
        wrong(v, "ledger", row.id, "the balance is negative");
    if (row.scale != balance->scale)
        wrong(v, "ledger", row.id, "the scale of %s was %d before", row.asset, balance->scale);
    memcpy(v->to->hash, row.hash, sizeof row.hash);
    v->to->ledger_rows++;
}

/* A fee, or a worthless part's notional, of 0 needs no row. */
static void check_fills_booked(struct verification *v)
{
    for (size_t i = 0; i < v->n_fills && !stopped(v); i++) {
        const struct known_fill *f = &v->fills[i];
        unsigned rows = f->rows | (f->fee == 0 ? FEE_ROW : 0) | (f->notional == 0 ? QUOTE_ROW : 0);
        if (rows != (BASE_ROW | QUOTE_ROW | FEE_ROW))
            wrong(v, "fills", i + 1, "the ledger has no row of its %s",
                  !(rows & BASE_ROW)    ? "quantity"
                  : !(rows & QUOTE_ROW) ? "notional"
                                        : "fee");
    }
}

/* ---- positions ---- */

static void check_position(void *ctx, const struct db_position_row *row)
{
    struct verification *v = ctx;
    const struct position *p = &row->position;
    if (stopped(v))
        return;
    v->to->positions++;
    int symbol = (int)(row->symbol - v->reader->symbols);
    const struct position *expected = position_of(v, row->account->number, symbol);
    if (!expected)
        return;
    if (p->qty != expected->qty || p->cost != expected->cost || p->realized != expected->realized ||
        p->fees != expected->fees) {
        v->to->ok = false;
        snprintf(v->to->failure, sizeof v->to->failure,
                 "positions: row %s %s: says quantity %" PRId64 ", cost %" PRId64 ", realized %" PRId64
                 ", fees %" PRId64 "; its fills lead to %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64,
                 row->account->name, row->symbol->symbol.name, p->qty, p->cost, p->realized, p->fees,
                 expected->qty, expected->cost, expected->realized, expected->fees);
    }
}

/* ---- the whole ---- */

/* The first row of a PRAGMA that answers with what is wrong. */
static int check_pragma(struct verification *v, const char *sql, bool foreign_keys)
{
    sqlite3_stmt *stmt;
    int r = db_query(v->reader, sql, &stmt);
    if (r < 0)
        return r;
    r = db_query_step(v->reader, stmt);
    if (r > 0 && foreign_keys)
        wrong(v, db_column_text(stmt, 0), (uint64_t)sqlite3_column_int64(stmt, 1),
              "names a row of %s that is not there", db_column_text(stmt, 2));
    else if (r > 0 && strcmp(db_column_text(stmt, 0), "ok") != 0) {
        v->to->ok = false;
        snprintf(v->to->failure, sizeof v->to->failure, "the file: %s", db_column_text(stmt, 0));
    }
    return db_query_end(stmt, r < 0 ? r : 0);
}

static int verify_all(struct verification *v)
{
    struct db_reader *reader = v->reader;
    int r = db_reader_load_symbols(reader);
    if (r == 0 && !stopped(v))
        r = db_reader_load_accounts(reader);
    if (r == 0 && !stopped(v))
        r = db_reader_orders(reader, false, 0, check_order, v);
    if (r == 0 && !stopped(v))
        r = db_reader_fills(reader, 0, check_fill, v);
    if (r == 0 && !stopped(v))
        r = db_reader_orders(reader, false, 0, check_order_sums, v);
    if (r == 0 && !stopped(v))
        r = db_reader_ledger(reader, check_ledger, v);
    if (r == 0 && !stopped(v))
        check_fills_booked(v);
    if (r == 0 && !stopped(v))
        r = db_reader_positions(reader, check_position, v);
    if (r == 0 && !stopped(v) && v->to->positions < v->n_positions)
        wrong(v, "positions", v->n_positions, "is missing: accounts and symbols with fills have one each");
    if (r == 0 && !stopped(v))
        r = check_pragma(v, "PRAGMA foreign_key_check", true);
    if (r == 0 && !stopped(v)) /* last: it names tables, not rows */
        r = check_pragma(v, "PRAGMA integrity_check(1)", false);
    return r;
}

int db_verify(struct db_reader *reader, struct db_verified **ret)
{
    struct verification v = {.reader = reader, .to = calloc(1, sizeof *v.to)};
    if (!v.to)
        return -ENOMEM;
    v.to->ok = true;
    int r = db_reader_begin(reader);
    if (r == 0) {
        r = verify_all(&v);
        db_reader_end(reader);
    }
    if (r == -EBADMSG) { /* a row that cannot even be read, or a damaged file */
        if (v.to->ok)
            snprintf(v.to->failure, sizeof v.to->failure, "%s", db_reader_error(reader));
        v.to->ok = false;
        r = 0;
    }
    if (v.out_of_memory)
        r = -ENOMEM;
    v.to->orders = v.n_orders;
    v.to->fills = v.n_fills;
    free(v.orders);
    free(v.fills);
    free(v.positions);
    if (r < 0) {
        db_verified_destroy(v.to);
        return r;
    }
    *ret = v.to;
    return 0;
}

void db_verified_destroy(struct db_verified *verified)
{
    if (!verified)
        return;
    free(verified->balances);
    free(verified);
}
