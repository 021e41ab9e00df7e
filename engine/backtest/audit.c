#include "engine/backtest/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/fill_rows.h"
#include "exchange/fail.h"
#include "exchange/fill_rules.h"
#include "exchange/filter.h"

struct audit_sums {
    char asset[ASSET_NAME_MAX];
    int account;
    int64_t total;
};

struct order_sums {
    int64_t filled, cost;
};

struct audit {
    const struct backtest *backtest;
    const struct market *market;
    const struct account_spec *accounts;
    struct backtest_rows rows;
    struct audit_sums *sums; /* of each account and asset, as they appear */
    size_t n_sums;
    unsigned char *booked;         /* [fills] how many of its ledger rows were found */
    struct order_sums *order_sums; /* [orders] */
    char *err;
    size_t err_size;
};

#define wrong(audit, ...) fail_with(-EBADMSG, (audit)->err, (audit)->err_size, __VA_ARGS__)

/* Ids are 1 … n, each once. */
static bool place(const void **to, size_t n, uint64_t id, const void *row)
{
    if (id < 1 || id > n || to[id - 1])
        return false;
    to[id - 1] = row;
    return true;
}

static int place_all(const struct backtest *backtest, struct backtest_rows *rows, char *err, size_t err_size)
{
    for (int a = 0; a < backtest->n_accounts; a++) {
        const struct backtest_account *of = &backtest->accounts[a];
        bool ok = true;
        for (size_t i = 0; i < of->n_ledger && ok; i++)
            ok = place((const void **)rows->ledger, rows->n_ledger, of->ledger[i].id, &of->ledger[i]);
        for (size_t i = 0; i < of->n_orders && ok; i++)
            ok = place((const void **)rows->orders, rows->n_orders, of->orders[i].id, &of->orders[i]);
        for (size_t i = 0; i < of->n_fills && ok; i++)
            ok = place((const void **)rows->fills, rows->n_fills, of->fills[i].id, &of->fills[i]);
        if (!ok)
            return fail_with(-EBADMSG, err, err_size, "account %d: ids are not 1, 2, 3 and so on", a);
    }
    return 0;
}

int backtest_rows(const struct backtest *backtest, struct backtest_rows *ret, char *err, size_t err_size)
{
    struct backtest_rows rows = {0};
    for (int a = 0; a < backtest->n_accounts; a++) {
        rows.n_ledger += backtest->accounts[a].n_ledger;
        rows.n_orders += backtest->accounts[a].n_orders;
        rows.n_fills += backtest->accounts[a].n_fills;
    }
    rows.ledger = calloc(rows.n_ledger + 1, sizeof *rows.ledger);
    rows.orders = calloc(rows.n_orders + 1, sizeof *rows.orders);
    rows.fills = calloc(rows.n_fills + 1, sizeof *rows.fills);
    int r = -ENOMEM;
    if (rows.ledger && rows.orders && rows.fills)
        r = place_all(backtest, &rows, err, err_size);
    else
        snprintf(err, err_size, "out of memory");
    if (r < 0)
        backtest_rows_finish(&rows);
    else
        *ret = rows;
    return r;
}

void backtest_rows_finish(struct backtest_rows *rows)
{
    free(rows->ledger);
    free(rows->orders);
    free(rows->fills);
    *rows = (struct backtest_rows){0};
}

static struct audit_sums *sums_of(struct audit *audit, int account, const char *asset)
{
    for (size_t i = 0; i < audit->n_sums; i++)
        if (audit->sums[i].account == account && strcmp(audit->sums[i].asset, asset) == 0)
            return &audit->sums[i];
    struct audit_sums *moved = realloc(audit->sums, (audit->n_sums + 1) * sizeof *moved);
    if (!moved)
        return NULL;
    audit->sums = moved;
    struct audit_sums *sums = &moved[audit->n_sums++];
    *sums = (struct audit_sums){.account = account};
    snprintf(sums->asset, sizeof sums->asset, "%s", asset);
    return sums;
}

static bool lends(const struct audit *audit, const struct ledger_row *row, const struct fill *fill,
                  const struct symbol *symbol)
{
    if (engine_fill_row(row, symbol) == BORROW_ROW)
        return strcmp(row->asset, symbol->base) == 0 &&
               engine_fill_borrows(fill->side, fill->qty, row->amount);
    return strcmp(row->asset, audit->accounts[row->account].currency) == 0 &&
           engine_fill_loan(fill->side, fill->notional + fill->fee, row->amount, row->balance);
}

/* A fill's ledger row: one of those that it must have, each once. */
static int check_booking(struct audit *audit, const struct ledger_row *row)
{
    if (row->fill_id < 1 || row->fill_id > audit->rows.n_fills)
        return wrong(audit, "ledger row %" PRIu64 ": there is no fill %" PRIu64, row->id, row->fill_id);
    const struct fill *fill = audit->rows.fills[row->fill_id - 1];
    const struct symbol *symbol = &audit->market->series[fill->symbol].symbol;
    bool buy = fill->side == ORDER_BUY;
    unsigned which = engine_fill_row(row, symbol);
    bool loan = which == BORROW_ROW || which == LOAN_ROW;
    int64_t wanted = which == FEE_ROW    ? -fill->fee
                     : loan              ? row->amount
                     : which == BASE_ROW ? (buy ? fill->qty : -fill->qty)
                                         : (buy ? -fill->notional : fill->notional);
    if (row->order_id != fill->order_id || row->account != fill->account || row->ts_ns != fill->ts_ns)
        return wrong(audit, "ledger row %" PRIu64 ": is not of the order, account and time of fill %" PRIu64,
                     row->id, row->fill_id);
    if (row->amount != wanted || (audit->booked[row->fill_id - 1] & which))
        return wrong(audit,
                     "ledger row %" PRIu64 ": fill %" PRIu64 " asks for %" PRId64 ", once, not %" PRId64,
                     row->id, row->fill_id, wanted, row->amount);
    if (loan && !lends(audit, row, fill, symbol))
        return wrong(audit,
                     "ledger row %" PRIu64 ": fill %" PRIu64
                     " neither needs nor gives back a loan of %" PRId64 " %s",
                     row->id, row->fill_id, row->amount, row->asset);
    audit->booked[row->fill_id - 1] |= (unsigned char)which;
    return 0;
}

static int check_row(struct audit *audit, const struct ledger_row *row, uint8_t hash[static LEDGER_HASH_SIZE])
{
    struct ledger_row again = *row;
    if (ledger_row_chain(&again, hash) < 0)
        return -ENOMEM;
    if (memcmp(again.hash, row->hash, sizeof again.hash) != 0)
        return wrong(audit, "ledger row %" PRIu64 ": its hash does not follow from the row before", row->id);
    memcpy(hash, row->hash, LEDGER_HASH_SIZE);
    struct audit_sums *sums = sums_of(audit, row->account, row->asset);
    if (!sums)
        return -ENOMEM;
    if (__builtin_add_overflow(sums->total, row->amount, &sums->total) || sums->total != row->balance ||
        row->balance < 0)
        return wrong(audit, "ledger row %" PRIu64 ": the balance is %" PRId64 ", its rows add up to %" PRId64,
                     row->id, row->balance, sums->total);
    bool of_fill = row->kind == LEDGER_TRADE || row->kind == LEDGER_FEE;
    if (row->kind != LEDGER_BORROW && of_fill != (row->fill_id != 0))
        return wrong(audit, "ledger row %" PRIu64 ": a %s of %s fill", row->id, ledger_kind_name(row->kind),
                     of_fill ? "no" : "a");
    return row->fill_id ? check_booking(audit, row) : 0;
}

static int check_fill(struct audit *audit, const struct fill *fill)
{
    if (fill->order_id < 1 || fill->order_id > audit->rows.n_orders)
        return wrong(audit, "fill %" PRIu64 ": there is no order %" PRIu64, fill->id, fill->order_id);
    const struct order *order = audit->rows.orders[fill->order_id - 1];
    int64_t unit = filter_notional_unit(&audit->market->series[fill->symbol].symbol);
    if (order->account != fill->account || order->symbol != fill->symbol || order->side != fill->side)
        return wrong(audit, "fill %" PRIu64 ": is not of its order's account, symbol and side", fill->id);
    if (fill->notional != fill_notional(fill->side, fill->price, fill->qty, unit) ||
        fill->fee != fill_fee(fill->notional, fill->fee_e6) + fill->sec_fee + fill->taf_fee)
        return wrong(audit, "fill %" PRIu64 ": its notional or fee is not what its price and quantity make",
                     fill->id);
    unsigned rows = audit->booked[fill->id - 1] | (fill->fee == 0 ? FEE_ROW : 0u) |
                    (fill->notional == 0 ? QUOTE_ROW : 0u);
    if ((rows & (BASE_ROW | QUOTE_ROW | FEE_ROW)) != (BASE_ROW | QUOTE_ROW | FEE_ROW))
        return wrong(audit, "fill %" PRIu64 ": the ledger lacks a row of it", fill->id);
    audit->order_sums[fill->order_id - 1].filled += fill->qty;
    audit->order_sums[fill->order_id - 1].cost += fill->notional;
    return 0;
}

static int check_ends(struct audit *audit)
{
    for (size_t i = 0; i < audit->rows.n_orders; i++) {
        const struct order *order = audit->rows.orders[i];
        if (order->filled != audit->order_sums[i].filled || order->cost != audit->order_sums[i].cost)
            return wrong(audit, "order %" PRIu64 ": says %" PRId64 " filled, its fills add up to %" PRId64,
                         order->id, order->filled, audit->order_sums[i].filled);
    }
    for (int a = 0; a < audit->backtest->n_accounts; a++) {
        const struct audit_sums *cash = sums_of(audit, a, audit->accounts[a].currency);
        if (!cash)
            return -ENOMEM;
        if (cash->total != audit->backtest->accounts[a].final_cash)
            return wrong(audit, "account %s: ends with %" PRId64 ", its ledger with %" PRId64,
                         audit->accounts[a].name, audit->backtest->accounts[a].final_cash, cash->total);
    }
    return 0;
}

static int check_all(struct audit *audit, uint8_t hash[static LEDGER_HASH_SIZE])
{
    int r = backtest_rows(audit->backtest, &audit->rows, audit->err, audit->err_size);
    if (r < 0)
        return r;
    audit->booked = calloc(audit->rows.n_fills + 1, sizeof *audit->booked);
    audit->order_sums = calloc(audit->rows.n_orders + 1, sizeof *audit->order_sums);
    if (!audit->booked || !audit->order_sums)
        return -ENOMEM;
    for (size_t i = 0; i < audit->rows.n_ledger && r == 0; i++)
        r = check_row(audit, audit->rows.ledger[i], hash);
    for (size_t i = 0; i < audit->rows.n_fills && r == 0; i++)
        r = check_fill(audit, audit->rows.fills[i]);
    return r == 0 ? check_ends(audit) : r;
}

int backtest_audit(const struct backtest *backtest, const struct market *market,
                   const struct account_spec *accounts, uint8_t ret_hash[static LEDGER_HASH_SIZE], char *err,
                   size_t err_size)
{
    struct audit audit = {
        .backtest = backtest, .market = market, .accounts = accounts, .err = err, .err_size = err_size};
    uint8_t hash[LEDGER_HASH_SIZE] = {0};
    int r = check_all(&audit, hash);
    if (r == -ENOMEM)
        snprintf(err, err_size, "out of memory");
    if (r == 0)
        memcpy(ret_hash, hash, sizeof hash);
    backtest_rows_finish(&audit.rows);
    free(audit.sums);
    free(audit.booked);
    free(audit.order_sums);
    return r;
}
