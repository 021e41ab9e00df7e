/* What the fills gained, into the report: by symbol, and by who decided. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"

struct gained {
    int128_t realized, unrealized, fees, pnl;
};

static int gain_of(struct report_walk *walk, const struct db_report_account *account,
                   struct report_holding *row, struct gained *ret)
{
    const bool unpriced = row->unpriced; /* for good: at a reset, or as the record began */
    int128_t now;
    int r = db_report_value(walk, row, report_closed_ns(account), &now);
    ret->realized = row->gone.realized + row->position.realized - row->from.realized;
    ret->unrealized = row->gone.unrealized + now - row->from.unrealized;
    ret->fees = row->gone.fees + row->position.fees - row->from.fees;
    ret->pnl = ret->realized + ret->unrealized - ret->fees;
    if (row->unpriced)
        ret->unrealized = ret->pnl = DB_REPORT_UNKNOWN;
    row->unpriced = unpriced; /* the end is valued again the next time, perhaps with a price */
    return r;
}

static int128_t plus(int128_t a, int128_t b)
{
    return a == DB_REPORT_UNKNOWN || b == DB_REPORT_UNKNOWN ? DB_REPORT_UNKNOWN : a + b;
}

/* By what the symbol's figures were valued, at the points of equity that begin and end the period. */
static int set_prices(struct report_walk *walk, const struct db_report_account *account, int64_t id,
                      struct db_report_symbol *to)
{
    int64_t end_ns = report_closed_ns(account), before = 0;
    int r = db_report_price(walk->prices, id, report_opened_ns(account), report_opened_ns(account),
                            &to->price_from);
    r = r < 0 ? r : db_report_price(walk->prices, id, report_opened_ns(account), end_ns, &before);
    r = r < 0 ? r : db_report_price(walk->prices, id, end_ns, end_ns, &to->price_to);
    if (r == 0 && before > 0 && to->price_to > 0)
        to->hold_return = (double)to->price_to / (double)before - 1;
    return r;
}

static int put_symbol(struct report_walk *walk, struct db_report_account *account,
                      const struct report_holding *row, const struct symbol *symbol,
                      const struct gained *gained)
{
    struct db_report_symbol *more = reallocarray(account->symbols, account->n_symbols + 1, sizeof *more);
    if (!more)
        return -ENOMEM;
    account->symbols = more;
    struct db_report_symbol *to = &more[account->n_symbols++];
    *to = (struct db_report_symbol){.symbol = *symbol,
                                    .counts = strcmp(symbol->quote, account->account.currency) == 0,
                                    .qty_from = row->from.qty,
                                    .qty_to = row->position.qty,
                                    .realized = gained->realized,
                                    .unrealized = gained->unrealized,
                                    .fees = gained->fees,
                                    .pnl = gained->pnl,
                                    .volume = row->volume,
                                    .fees_base = row->fees_base,
                                    .fills = row->fills,
                                    .trades = row->trades,
                                    .hold_return = NAN};
    account->fills += row->fills;
    if (!to->counts)
        return set_prices(walk, account, row->symbol, to);
    account->volume += row->volume;
    account->realized = plus(account->realized, gained->realized);
    account->unrealized = plus(account->unrealized, gained->unrealized);
    metrics_trades_merge(&account->trades, &row->trades);
    return set_prices(walk, account, row->symbol, to);
}

static int put_strategy(struct report_walk *walk, struct db_report_account *account,
                        const struct report_holding *row, const struct gained *gained)
{
    const char *name = walk->sources[row->source];
    struct db_report_strategy *to = NULL;
    for (size_t i = 0; i < account->n_strategies && !to; i++)
        if (strcmp(account->strategies[i].name, name) == 0)
            to = &account->strategies[i];
    if (!to) {
        struct db_report_strategy *more =
            reallocarray(account->strategies, account->n_strategies + 1, sizeof *more);
        if (!more)
            return -ENOMEM;
        account->strategies = more;
        to = &more[account->n_strategies++];
        *to = (struct db_report_strategy){0};
        memcpy(to->name, name, sizeof to->name);
    }
    to->pnl = plus(to->pnl, gained->pnl);
    to->fees += gained->fees;
    to->fills += row->fills;
    to->holds |= row->position.qty != 0;
    metrics_trades_merge(&to->trades, &row->trades);
    return 0;
}

static bool says_something(const struct report_holding *row)
{
    if (row->source != REPORT_WHOLE && row->opened_ns == 0)
        return false; /* it only closed what others opened */
    return row->from.qty != 0 || row->position.qty != 0 || row->fills > 0 || row->volume > 0 ||
           row->gone.realized != 0 || row->gone.unrealized != 0;
}

static int put_row(struct report_walk *walk, struct report_holding *row)
{
    struct db_report_account *account = db_report_account_of(walk, row->account);
    const struct db_symbol_row *symbol;
    struct gained gained;
    if (!account || !says_something(row))
        return 0;
    int r = gain_of(walk, account, row, &gained);
    r = r < 0 ? r : db_reader_symbol_id(walk->prices->reader, row->symbol, &symbol);
    if (r < 0)
        return r;
    const struct symbol copy = symbol->symbol;
    if (row->source == REPORT_WHOLE)
        return put_symbol(walk, account, row, &copy, &gained);
    return strcmp(copy.quote, account->account.currency) == 0 ? put_strategy(walk, account, row, &gained) : 0;
}

int db_report_trades_put(struct report_walk *walk)
{
    int r = 0;
    for (size_t i = 0; i < walk->holdings.n && r == 0; i++)
        r = put_row(walk, &walk->holdings.rows[i]);
    return r;
}
