/* Checks ledger rows against the fills that they book, and against each other: balances, loans, transfers,
 * resets. record/ledger_row.h says which rows there are, and in which order. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/verification.h"

static size_t hash_of(int account, const char *asset)
{
    size_t hash = (size_t)account * 1000003u + 5381u;
    while (*asset)
        hash = hash * 33u + (unsigned char)*asset++;
    return hash;
}

/* The slot of the balance's index. There is always room. */
static size_t *slot_of(struct verification *v, int account, const char *asset, int scale)
{
    size_t at = hash_of(account, asset);
    for (;; at++) {
        size_t *slot = &v->balance_index[at & (v->balance_room - 1)];
        if (*slot == 0)
            return slot;
        const struct db_verified_balance *balance = &v->to->balances[*slot - 1];
        if (balance->account == account && balance->scale == scale && strcmp(balance->asset, asset) == 0)
            return slot;
    }
}

static bool make_room(struct verification *v)
{
    if (2 * (v->to->n_balances + 1) <= v->balance_room)
        return true;
    size_t room = v->balance_room ? 2 * v->balance_room : 16;
    size_t *index = calloc(room, sizeof *index);
    if (!index) {
        v->out_of_memory = true;
        return false;
    }
    free(v->balance_index);
    v->balance_index = index;
    v->balance_room = room;
    for (size_t i = 0; i < v->to->n_balances; i++)
        *slot_of(v, v->to->balances[i].account, v->to->balances[i].asset, v->to->balances[i].scale) = i + 1;
    return true;
}

int64_t db_verify_total(struct verification *v, int account, const char *asset, int scale)
{
    size_t slot = v->balance_room ? *slot_of(v, account, asset, scale) : 0;
    return slot ? v->to->balances[slot - 1].total : 0;
}

struct db_verified_balance *db_verify_balance(struct verification *v, int account, const char *name,
                                              const char *asset, int scale)
{
    if (!make_room(v))
        return NULL;
    size_t *slot = slot_of(v, account, asset, scale);
    if (*slot)
        return &v->to->balances[*slot - 1];
    struct db_verified_balance *balance = VERIFY_APPEND(v, v->to->balances, v->to->n_balances);
    if (!balance)
        return NULL;
    *slot = v->to->n_balances;
    balance->account = account;
    balance->scale = scale;
    snprintf(balance->account_name, sizeof balance->account_name, "%s", name);
    snprintf(balance->asset, sizeof balance->asset, "%s", asset);
    return balance;
}

static struct db_verified_balance *balance_of(struct verification *v, const struct db_ledger_row *entry)
{
    const struct ledger_row *row = &entry->row;
    size_t known = v->to->n_balances;
    struct db_verified_balance *balance =
        db_verify_balance(v, row->account, entry->account->name, row->asset, row->scale);
    if (!balance || v->to->n_balances == known)
        return balance;
    for (size_t i = 0; i + 1 < v->to->n_balances; i++) /* venues may use other units for other assets */
        if (v->to->balances[i].account == row->account && strcmp(row->asset, entry->account->currency) == 0 &&
            strcmp(v->to->balances[i].asset, row->asset) == 0)
            db_verify_wrong(v, "ledger", row->id, "the scale of %s was %d before", row->asset,
                            v->to->balances[i].scale);
    return balance;
}

bool db_verify_repays(const struct verification *v, const struct ledger_row *row)
{
    const struct ledger_row *last = &v->last;
    bool brought =
        last->kind == LEDGER_DEPOSIT || last->kind == LEDGER_TRANSFER || last->kind == LEDGER_DIVIDEND;
    return row->kind == LEDGER_BORROW && row->fill_id == 0 && row->amount < 0 && brought &&
           last->account == row->account && last->ts_ns == row->ts_ns &&
           strcmp(last->asset, row->asset) == 0 && -row->amount <= last->amount;
}

static void wrong_loan(struct verification *v, const struct ledger_row *row)
{
    db_verify_wrong(v, "ledger", row->id, "fill %" PRIu64 " neither needs nor gives back a loan of %" PRId64,
                    row->fill_id, row->amount);
}

/* A fill has each of its rows once. */
static void take_row(struct verification *v, struct known_fill *fill, unsigned which,
                     const struct ledger_row *row)
{
    if (fill->rows & which)
        db_verify_wrong(v, "ledger", row->id, "fill %" PRIu64 " was booked before", row->fill_id);
    fill->rows |= which;
}

/* A row of the currency that a purchase borrows, at most what it costs, or that any trade pays back, at most
 * what is there. */
static void check_currency_loan(struct verification *v, struct known_fill *fill,
                                const struct db_ledger_row *entry)
{
    const struct ledger_row *row = &entry->row;
    if (strcmp(row->asset, entry->account->currency) != 0 ||
        !engine_fill_loan(fill->side, fill->notional + fill->fee, row->amount, row->balance))
        wrong_loan(v, row);
    take_row(v, fill, LOAN_ROW, row);
}

/* A fill's ledger row: one of those that it must have, each once. */
static void check_against_fill(struct verification *v, const struct db_ledger_row *entry)
{
    const struct ledger_row *row = &entry->row;
    if (row->fill_id < 1 || row->fill_id > v->n_fills || v->fills[row->fill_id - 1].missing) {
        db_verify_wrong(v, "ledger", row->id, "there is no fill %" PRIu64, row->fill_id);
        return;
    }
    struct known_fill *fill = &v->fills[row->fill_id - 1];
    const struct symbol *symbol = &v->reader->symbols[fill->symbol].symbol;
    if (row->order_id != fill->order_id || row->account != fill->account) {
        db_verify_wrong(v, "ledger", row->id, "is not of its fill's order and account");
        return;
    }
    if (row->ts_ns != fill->ts_ns)
        db_verify_wrong(v, "ledger", row->id, "is not of its fill's time");
    int64_t sign = fill->side == ORDER_BUY ? 1 : -1;
    bool base = strcmp(row->asset, symbol->base) == 0;
    unsigned which = engine_fill_row(row, symbol);
    if (which == LOAN_ROW) {
        check_currency_loan(v, fill, entry);
        return;
    }
    bool fee_in_base = which == FEE_ROW && base && fill->of_venue;
    if (which == FEE_ROW && fill->of_venue && !base && strcmp(row->asset, symbol->quote) != 0) {
        if (row->amount >= 0)
            db_verify_wrong(v, "ledger", row->id, "fill %" PRIu64 " is paid for its fee", row->fill_id);
        return; /* in an asset apart, as the venue said; the fill has none then */
    }
    int64_t amount = fee_in_base           ? -fill->fee_base
                     : which == FEE_ROW    ? -fill->fee
                     : which == BORROW_ROW ? row->amount
                     : which == BASE_ROW   ? sign * fill->qty
                                           : -sign * fill->notional;
    int scale = base ? symbol->qty_scale : symbol->quote_scale;
    if (which == BORROW_ROW ? !base
                            : which != BASE_ROW && !fee_in_base && strcmp(row->asset, symbol->quote) != 0)
        db_verify_wrong(v, "ledger", row->id, "%s is not the asset of %s that it moves", row->asset,
                        symbol->name);
    if (row->amount != amount || row->scale != scale)
        db_verify_wrong(v, "ledger", row->id,
                        "moves %" PRId64 " at scale %d, fill %" PRIu64 " asks for %" PRId64 " at %d",
                        row->amount, row->scale, row->fill_id, amount, scale);
    if (which == BORROW_ROW && !engine_fill_borrows(fill->side, fill->qty, row->amount))
        wrong_loan(v, row);
    take_row(v, fill, which, row);
    if (which == BASE_ROW)
        db_verify_follow(v, row->fill_id);
}

/* Transfers come in pairs: out of one account, into another, of one sum at one time. */
static void check_transfer(struct verification *v, const struct ledger_row *row)
{
    const struct ledger_row *out = &v->last;
    if (v->transferring &&
        (row->kind != LEDGER_TRANSFER || row->amount != -out->amount || row->account == out->account ||
         row->ts_ns != out->ts_ns || row->scale != out->scale || strcmp(row->asset, out->asset) != 0))
        db_verify_wrong(v, "ledger", out->id, "a transfer of %" PRId64 " that arrives nowhere", out->amount);
    if (!v->transferring && row->kind == LEDGER_TRANSFER && row->amount >= 0)
        db_verify_wrong(v, "ledger", row->id, "a transfer of %" PRId64 " that comes from nowhere",
                        row->amount);
    v->transferring = !v->transferring && row->kind == LEDGER_TRANSFER;
}

/* What a reset account still holds or has borrowed. */
static void check_emptied(struct verification *v, uint64_t id)
{
    for (size_t i = 0; i < v->to->n_balances && v->resetting >= 0; i++) {
        const struct db_verified_balance *b = &v->to->balances[i];
        if (b->account == v->resetting && (b->total != 0 || b->borrowed != 0))
            db_verify_wrong(v, "ledger", id,
                            "the reset of account %s leaves %" PRId64 " of %s, and %" PRId64 " borrowed",
                            b->account_name, b->total, b->asset, b->borrowed);
    }
    v->resetting = -1;
}

/* A reset takes the account's currency first, then all else that it holds, to nothing; then what it had
 * borrowed is paid back. */
static void check_reset(struct verification *v, const struct db_ledger_row *entry, bool of_action)
{
    const struct ledger_row *row = &entry->row;
    bool part = !of_action && row->fill_id == 0 && (row->kind == LEDGER_RESET || row->kind == LEDGER_BORROW);
    bool begins = row->kind == LEDGER_RESET && strcmp(row->asset, entry->account->currency) == 0;
    if (v->resetting >= 0 && (!part || begins || row->account != v->resetting || row->ts_ns != v->last.ts_ns))
        check_emptied(v, v->last.id);
    if (begins) {
        v->resetting = row->account;
        db_holdings_reset(&v->holdings, row->account, row->ts_ns);
    } else if (part && v->resetting < 0 && !db_verify_repays(v, row)) {
        db_verify_wrong(v, "ledger", row->id, "a %s outside of a reset", ledger_kind_name(row->kind));
    }
}

static void check_kind(struct verification *v, const struct db_ledger_row *entry)
{
    const struct ledger_row *row = &entry->row;
    bool of_fill = row->kind == LEDGER_TRADE || row->kind == LEDGER_FEE;
    if (row->kind != LEDGER_BORROW && of_fill != (row->fill_id != 0))
        db_verify_wrong(v, "ledger", row->id, "a %s of %s fill is needed", ledger_kind_name(row->kind),
                        of_fill ? "a" : "no");
    else if (row->fill_id != 0)
        check_against_fill(v, entry);
    if (row->kind == LEDGER_INTEREST &&
        (row->amount >= 0 || strcmp(row->asset, entry->account->currency) != 0))
        db_verify_wrong(v, "ledger", row->id, "interest is paid, and in %s", entry->account->currency);
    if (row->amount == 0 && row->kind != LEDGER_RESET)
        db_verify_wrong(v, "ledger", row->id, "a %s of nothing", ledger_kind_name(row->kind));
}

static void check_row(void *ctx, const struct db_ledger_row *entry)
{
    struct verification *v = ctx;
    const struct ledger_row *row = &entry->row;
    if (db_verify_stopped(v))
        return;
    if (row->id <= v->base.last_ledger) { /* its chain is checked; what it sums to is in the base */
        v->to->before_base++;
        memcpy(v->to->hash, row->hash, sizeof row->hash);
        return;
    }
    bool of_action = db_verify_action_row(v, row);
    check_transfer(v, row);
    check_reset(v, entry, of_action);
    check_kind(v, entry);
    struct db_verified_balance *balance = balance_of(v, entry);
    if (!balance)
        return;
    if (__builtin_add_overflow(balance->total, row->amount, &balance->total) ||
        row->balance != balance->total)
        db_verify_wrong(v, "ledger", row->id, "the balance is %" PRId64 ", the rows add up to %" PRId64,
                        row->balance, balance->total);
    if (row->balance < 0)
        db_verify_wrong(v, "ledger", row->id, "the balance is negative");
    if (row->kind == LEDGER_BORROW &&
        (__builtin_add_overflow(balance->borrowed, row->amount, &balance->borrowed) || balance->borrowed < 0))
        db_verify_wrong(v, "ledger", row->id, "more of %s is given back than was borrowed", row->asset);
    memcpy(v->to->hash, row->hash, sizeof row->hash);
    v->to->ledger_rows++;
    v->last = *row;
}

/* A fee, or a worthless part's notional, of 0 needs no row. */
static void check_fills_booked(struct verification *v)
{
    for (size_t i = v->base.last_fill; i < v->n_fills && !db_verify_stopped(v); i++) {
        const struct known_fill *f = &v->fills[i];
        unsigned rows =
            f->rows | (f->fee == 0 && f->fee_base == 0 ? FEE_ROW : 0) | (f->notional == 0 ? QUOTE_ROW : 0);
        if ((rows & (BASE_ROW | QUOTE_ROW | FEE_ROW)) != (BASE_ROW | QUOTE_ROW | FEE_ROW))
            db_verify_wrong(v, "fills", i + 1, "the ledger has no row of its %s",
                            !(rows & BASE_ROW)    ? "quantity"
                            : !(rows & QUOTE_ROW) ? "notional"
                                                  : "fee");
    }
}

int db_verify_ledger(struct verification *v)
{
    int r = db_verify_seed(v);
    memcpy(v->to->hash, v->base.hash, sizeof v->to->hash);
    if (r == 0)
        r = db_reader_ledger(v->reader, check_row, v);
    if (r == 0 && v->transferring && !db_verify_stopped(v))
        db_verify_wrong(v, "ledger", v->last.id, "a transfer of %" PRId64 " that arrives nowhere",
                        v->last.amount);
    if (r == 0 && !db_verify_stopped(v))
        check_emptied(v, v->last.id);
    if (r == 0 && !db_verify_stopped(v))
        db_verify_actions_end(v);
    if (r == 0 && !db_verify_stopped(v))
        check_fills_booked(v);
    return r;
}
