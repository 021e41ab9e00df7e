/* Dividends between their ex-date and their payment. Their rows stand in the order of events, as those of the
 * ledger do; where a row of the ledger is not named, their times say between which they stand. */
#include <errno.h>
#include <stdlib.h>

#include "db/books/stating_internal.h"

static int compare_id(const void *key, const void *row)
{
    const uint64_t id = *(const uint64_t *)key, other = ((const struct db_stating_receivable *)row)->id;
    return id < other ? -1 : id > other;
}

static struct db_stating_receivable *booked_of(struct db_stating *stating, uint64_t id)
{
    return stating->n_receivables == 0 ? NULL
                                       : bsearch(&id, stating->receivables, stating->n_receivables,
                                                 sizeof *stating->receivables, compare_id);
}

static int take(struct db_stating *stating, struct db_stating_receivable *each)
{
    struct db_statement_money *money = db_stating_money(stating, each->asset, each->scale);
    struct db_stating_receivable *booked = each->booked ? booked_of(stating, each->booked) : NULL;
    if (!money)
        return -ENOMEM;
    const int64_t finer = decimal_pow10(money->scale - each->scale);
    int128_t change = 0;
    if (each->kind == DB_STATING_BOOKED) {
        each->open = true;
        change = (int128_t)each->amount * finer;
    } else if (booked && booked->open) { /* what was paid of it is the ledger's row */
        booked->open = false;
        change = -(int128_t)booked->amount * finer;
    }
    money->receivable += change;
    if (!stating->counts)
        return 0;
    money->dividends += change;
    if (each->booked == 0)
        money->withheld += (int128_t)each->withheld * finer;
    return 0;
}

/* Up to that one. */
static int take_until(struct db_stating *stating, size_t end)
{
    int r = 0;
    for (; stating->receivable < end && r == 0; stating->receivable++)
        r = take(stating, &stating->receivables[stating->receivable]);
    return r;
}

int db_stating_receivables(struct db_stating *stating, const struct db_stating_row *row)
{
    size_t end = stating->receivable;
    for (size_t i = end; i < stating->n_receivables; i++) {
        const struct db_stating_receivable *each = &stating->receivables[i];
        if (each->ledger_id == 0)
            continue;
        if (each->kind == DB_STATING_BOOKED ? each->ledger_id >= row->id : each->ledger_id > row->id)
            break;
        end = i + 1;
    }
    while (end < stating->n_receivables && stating->receivables[end].ledger_id == 0 &&
           stating->receivables[end].ts_ns < row->ts_ns)
        end++;
    return take_until(stating, end);
}

int db_stating_receivables_until(struct db_stating *stating, int64_t ts_ns)
{
    size_t end = stating->receivable;
    while (end < stating->n_receivables && stating->receivables[end].ts_ns < ts_ns)
        end++;
    return take_until(stating, end);
}
