/* What the journal knows of prices and balances. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/books/journal_internal.h"
#include "db/reader_query.h"

/* ---- prices ---- */

static struct books_quote *quote_of(struct books_journal *j, int symbol)
{
    static struct books_quote none;
    if ((size_t)symbol >= j->n_quotes) {
        const size_t n = (size_t)symbol + 1;
        struct books_quote *more = realloc(j->quotes, n * sizeof *more);
        if (!more) {
            j->r = -ENOMEM;
            return &none;
        }
        memset(more + j->n_quotes, 0, (n - j->n_quotes) * sizeof *more);
        j->quotes = more;
        j->n_quotes = n;
    }
    return &j->quotes[symbol];
}

void db_books_pass_prices(struct books_journal *j)
{
    for (size_t i = 0; i < j->n_quotes && j->r == 0; i++) {
        struct books_quote *quote = &j->quotes[i];
        const struct symbol *symbol = &j->reader->symbols[i].symbol;
        if (!quote->dirty)
            continue;
        quote->dirty = false;
        const int64_t day = quote->ts_ns / DB_BOOKS_DAY_NS;
        j->sink->price(j->sink->ctx,
                       &(struct db_books_price){day < j->day ? j->day : day, symbol->base, symbol->quote,
                                                quote->price, symbol->price_scale},
                       j->declaring);
    }
}

void db_books_price(struct books_journal *j, int symbol, int64_t ts_ns, int64_t price)
{
    struct books_quote *quote = quote_of(j, symbol);
    *quote = (struct books_quote){.ts_ns = ts_ns, .price = price, .known = true, .dirty = price > 0};
}

/* The last stored mark of what has a price in the journal. */
void db_books_mark(void *ctx, const struct db_price_row *row)
{
    struct books_journal *j = ctx;
    const size_t symbol = (size_t)(row->symbol - j->reader->symbols);
    const int64_t to_ns = j->query->to_ns;
    if (symbol < j->n_quotes && j->quotes[symbol].known && row->price.mark > 0 &&
        row->price.ts_ns >= j->quotes[symbol].ts_ns && (to_ns == 0 || row->price.ts_ns < to_ns))
        db_books_price(j, (int)symbol, row->price.ts_ns, row->price.mark);
}

/* ---- balances ---- */

static struct books_balance *balance_of(struct books_journal *j, int account, const char *asset, int scale)
{
    static struct books_balance none;
    if ((size_t)account >= j->n_balances) {
        const size_t n = (size_t)account + 1;
        struct books_balances *more = realloc(j->balances, n * sizeof *more);
        if (!more) {
            j->r = -ENOMEM;
            return &none;
        }
        memset(more + j->n_balances, 0, (n - j->n_balances) * sizeof *more);
        j->balances = more;
        j->n_balances = n;
    }
    struct books_balances *of = &j->balances[account];
    for (size_t i = 0; i < of->n; i++)
        if (of->rows[i].scale == scale && strcmp(of->rows[i].asset, asset) == 0)
            return &of->rows[i];
    if (!BOOKS_ROOM(of->rows, of->n, of->cap)) {
        j->r = -ENOMEM;
        return &none;
    }
    struct books_balance *balance = &of->rows[of->n++];
    *balance = (struct books_balance){.scale = scale};
    strcpy(balance->asset, asset);
    return balance;
}

void db_books_balance_base(void *ctx, const struct db_base_balance *row)
{
    struct books_journal *j = ctx;
    if (row->account < 0 || (size_t)row->account >= j->reader->n_accounts ||
        (j->account >= 0 && row->account != j->account))
        return;
    struct books_balance *balance = balance_of(j, row->account, row->asset, row->scale);
    balance->total = row->total;
    balance->borrowed = row->borrowed;
}

void db_books_balance_row(struct books_journal *j, const struct ledger_row *row)
{
    struct books_balance *balance = balance_of(j, row->account, row->asset, row->scale);
    balance->total = row->balance;
    if (row->kind == LEDGER_BORROW)
        balance->borrowed += row->amount;
}
