#include "cli/recorded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/books.h"

/* Room for one more; NULL without memory. */
static void *next(struct recorded_rows *rows, void **items, size_t *n, size_t *cap, size_t size)
{
    if (*n == *cap) {
        size_t grown = *cap ? 2 * *cap : 256;
        void *moved = realloc(*items, grown * size);
        if (!moved) {
            rows->failed = true;
            return NULL;
        }
        *items = moved;
        *cap = grown;
    }
    return (char *)*items + (*n)++ * size;
}

/* A stock's first name: its name may have changed since. */
static void take_first(const struct symbol *symbol, char ret[static ASSET_NAME_MAX])
{
    if (symbol->calendar[0])
        memcpy(ret, symbol->base, ASSET_NAME_MAX);
}

static void take_order(void *ctx, const struct db_order_row *row)
{
    struct recorded_rows *rows = ctx;
    struct recorded_order *to =
        next(rows, (void **)&rows->orders, &rows->n_orders, &rows->cap_orders, sizeof *to);
    if (!to)
        return;
    *to = (struct recorded_order){.order = row->order};
    if (!row->symbol)
        return;
    memcpy(to->symbol, row->symbol->symbol.name, sizeof to->symbol);
    take_first(&row->symbol->symbol, to->first);
}

static void take_fill(void *ctx, const struct db_fill_row *row)
{
    struct recorded_rows *rows = ctx;
    struct recorded_fill *to =
        next(rows, (void **)&rows->fills, &rows->n_fills, &rows->cap_fills, sizeof *to);
    if (!to)
        return;
    *to = (struct recorded_fill){.fill = row->fill};
    memcpy(to->symbol, row->symbol->symbol.name, sizeof to->symbol);
    take_first(&row->symbol->symbol, to->first);
}

static void take_ledger(void *ctx, const struct db_ledger_row *row)
{
    struct recorded_rows *rows = ctx;
    struct ledger_row *to =
        next(rows, (void **)&rows->ledger, &rows->n_ledger, &rows->cap_ledger, sizeof *to);
    if (to)
        *to = row->row;
}

static void take_cause(void *ctx, const struct db_cause_row *row)
{
    struct recorded_rows *rows = ctx;
    if (!row->known)
        return;
    struct recorded_cause *to =
        next(rows, (void **)&rows->causes, &rows->n_causes, &rows->cap_causes, sizeof *to);
    if (!to)
        return;
    *to = (struct recorded_cause){.cause = row->cause};
    if (!row->symbol)
        return;
    memcpy(to->symbol, row->symbol->symbol.name, sizeof to->symbol);
    take_first(&row->symbol->symbol, to->first);
}

static void take_receivable(void *ctx, const struct receivable_row *row, const struct db_account *account)
{
    struct recorded_rows *rows = ctx;
    struct receivable_row *to =
        next(rows, (void **)&rows->receivables, &rows->n_receivables, &rows->cap_receivables, sizeof *to);
    (void)account; /* its number is the engine's */
    if (to)
        *to = *row;
}

static void take_fee_rate(void *ctx, const struct fee_rate_change *row, const struct db_account *account)
{
    struct recorded_rows *rows = ctx;
    struct recorded_fee_rate *to =
        next(rows, (void **)&rows->fee_rates, &rows->n_fee_rates, &rows->cap_fee_rates, sizeof *to);
    (void)account;
    if (!to)
        return;
    *to = (struct recorded_fee_rate){.change = *row};
    snprintf(to->tiers, sizeof to->tiers, "%s", row->tiers);
    to->change.tiers = NULL;
}

/* All begin with their id. */
static int by_id(const void *key, const void *row)
{
    uint64_t a = *(const uint64_t *)key, b = *(const uint64_t *)row;
    return (a > b) - (a < b);
}

static int find(uint64_t id, const void *items, size_t n, size_t size, void *ret)
{
    const void *row = n > 0 ? bsearch(&id, items, n, size, by_id) : NULL;
    if (!row)
        return -ENOENT;
    memcpy(ret, row, size);
    return 0;
}

static int find_order(void *ctx, uint64_t id, struct recorded_order *ret)
{
    const struct recorded_rows *rows = ctx;
    return find(id, rows->orders, rows->n_orders, sizeof *ret, ret);
}

static int find_fill(void *ctx, uint64_t id, struct recorded_fill *ret)
{
    const struct recorded_rows *rows = ctx;
    return find(id, rows->fills, rows->n_fills, sizeof *ret, ret);
}

static int find_ledger(void *ctx, uint64_t id, struct ledger_row *ret)
{
    const struct recorded_rows *rows = ctx;
    return find(id, rows->ledger, rows->n_ledger, sizeof *ret, ret);
}

static int find_cause(void *ctx, uint64_t id, struct recorded_cause *ret)
{
    const struct recorded_rows *rows = ctx;
    return find(id, rows->causes, rows->n_causes, sizeof *ret, ret);
}

static int find_receivable(void *ctx, uint64_t id, struct receivable_row *ret)
{
    const struct recorded_rows *rows = ctx;
    return find(id, rows->receivables, rows->n_receivables, sizeof *ret, ret);
}

static int find_fee_rate(void *ctx, uint64_t id, struct recorded_fee_rate *ret)
{
    const struct recorded_rows *rows = ctx;
    return find(id, rows->fee_rates, rows->n_fee_rates, sizeof *ret, ret);
}

/* What became of dividends, and rates by volume. */
static int load_charges(struct db_reader *reader, struct recorded_rows *ret)
{
    ret->recorded.receivable = find_receivable;
    ret->recorded.fee_rate = find_fee_rate;
    int r = db_reader_receivables(reader, take_receivable, ret);
    return r == 0 ? db_reader_fee_rates(reader, take_fee_rate, ret) : r;
}

/* The ledger's rows with their causes. */
static int load_ledger(struct db_reader *reader, struct recorded_rows *ret)
{
    char after[24] = "0";
    int r = db_reader_meta(reader, DB_CAUSES_AFTER_KEY, after, sizeof after);
    ret->recorded.ledger = find_ledger;
    ret->recorded.cause = find_cause;
    ret->recorded.causes_after = strtoull(after, NULL, 10);
    r = r == -ENOENT ? 0 : r;
    if (r == 0)
        r = db_reader_ledger(reader, take_ledger, ret);
    return r == 0 ? db_reader_causes(reader, NULL, take_cause, ret) : r;
}

int cli_recorded_load(struct db_reader *reader, bool ledger, struct recorded_rows *ret)
{
    char seq[24] = "";
    *ret = (struct recorded_rows){.recorded = {.ctx = ret, .order = find_order, .fill = find_fill}};
    int r = db_reader_begin(reader);
    if (r < 0)
        return r;
    r = db_reader_meta(reader, "event_seq", seq, sizeof seq);
    if (r == -ENOENT)
        r = -ENODATA;
    if (r == 0)
        r = db_reader_orders(reader, false, 0, take_order, ret);
    if (r == 0)
        r = db_reader_fills(reader, 0, take_fill, ret);
    if (r == 0 && ledger)
        r = load_ledger(reader, ret);
    if (r == 0 && ledger)
        r = load_charges(reader, ret);
    db_reader_end(reader);
    if (r == 0 && ret->failed)
        r = -ENOMEM;
    if (r < 0) {
        cli_recorded_finish(ret);
        return r;
    }
    ret->recorded.event_seq = strtoull(seq, NULL, 10);
    ret->recorded.last_order = ret->n_orders ? ret->orders[ret->n_orders - 1].order.id : 0;
    ret->recorded.last_fill = ret->n_fills ? ret->fills[ret->n_fills - 1].fill.id : 0;
    ret->recorded.last_ledger = ret->n_ledger ? ret->ledger[ret->n_ledger - 1].id : 0;
    ret->recorded.last_receivable = ret->n_receivables ? ret->receivables[ret->n_receivables - 1].id : 0;
    ret->recorded.last_fee_rate = ret->n_fee_rates ? ret->fee_rates[ret->n_fee_rates - 1].change.id : 0;
    return 0;
}

void cli_recorded_finish(struct recorded_rows *rows)
{
    free(rows->orders);
    free(rows->fills);
    free(rows->ledger);
    free(rows->causes);
    free(rows->receivables);
    free(rows->fee_rates);
    *rows = (struct recorded_rows){0};
}

const struct recorded_order *cli_recorded_find(const struct recorded_rows *rows, const char *id,
                                               bool is_client_id)
{
    char *end;
    uint64_t number = strtoull(id, &end, 10);
    bool is_number = !is_client_id && end != id && *end == '\0' && id[0] != '-';
    for (size_t i = rows->n_orders; i-- > 0;) {
        const struct recorded_order *row = &rows->orders[i];
        if (is_number ? row->order.id == number : strcmp(row->order.client_id, id) == 0)
            return row;
    }
    return NULL;
}
