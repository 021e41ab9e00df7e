/* The change of 24 hours of symbols whose venue's stream does not say it, from their stored bars. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/decimal.h"
#include "tui/history_reader.h"

#define HOUR_NS 3600000000000LL

enum {
    AGAIN_S = 60,
    DAY_HOURS = 24,
    HOLE_HOURS = 1,    /* without bars, of a market that is always open … */
    CLOSED_HOURS = 96, /* … and of one with sessions: a long weekend */
};

static void on_bar(void *ctx, const struct bar *bar)
{
    *(struct bar *)ctx = *bar;
}

int tui_history_bar_until(struct db_reader *db, const char *symbol, int64_t interval_ns, int64_t end_ns,
                          struct bar *ret)
{
    *ret = (struct bar){.open_ns = -1};
    int r =
        db_reader_split_bars_until(db, symbol, interval_ns, BAR_VENUE, end_ns - interval_ns, 1, on_bar, ret);

    return r < 0 ? r : ret->open_ns >= 0;
}

/* The closes of the newest bar and of the one that ended 24 hours before now, which is when the newest one
 * ended of a saved run and of a market that is closed. NaN where there is none, where the newest one is too
 * old for the last price to be compared with it, or where bars are too long to say what was then. */
static int read_change(struct db_reader *db, const struct status *status, const struct status_symbol *symbol,
                       int64_t wall_ns, struct history_change *ret)
{
    const bool always = !symbol->market[0] || strcmp(symbol->market, "always") == 0,
               closed = status->saved || strcmp(symbol->market, "closed") == 0;
    struct db_symbol_row row;
    struct bar newest, before;
    int64_t interval_ns;

    memcpy(ret->symbol, symbol->symbol, sizeof(ret->symbol));
    ret->newest = ret->before = NAN;
    if (bar_interval_parse(symbol->interval, &interval_ns) < 0 || interval_ns > HOUR_NS)
        return 0;
    const int64_t hole_ns = (always ? HOLE_HOURS : CLOSED_HOURS) * HOUR_NS + interval_ns;
    int r = db_reader_symbol(db, symbol->symbol, &row);
    if (r == 0)
        r = tui_history_bar_until(db, symbol->symbol, interval_ns, INT64_MAX, &newest);
    if (r <= 0)
        return r == -ENOENT ? 0 : r;
    const int64_t newest_ns = newest.open_ns + interval_ns;
    if (!status->saved && wall_ns - newest_ns > hole_ns)
        return 0;
    const int64_t then_ns = (closed ? newest_ns : wall_ns) - DAY_HOURS * HOUR_NS;
    r = tui_history_bar_until(db, symbol->symbol, interval_ns, then_ns, &before);
    if (r < 0)
        return r;
    ret->newest = decimal_to_double(newest.close, row.symbol.price_scale);
    if (r > 0 && then_ns - (before.open_ns + interval_ns) <= hole_ns)
        ret->before = decimal_to_double(before.close, row.symbol.price_scale);
    return 0;
}

static int by_symbol(const void *a, const void *b)
{
    return strcmp(((const struct history_change *)a)->symbol, ((const struct history_change *)b)->symbol);
}

void tui_history_read_changes(struct history_reader *reader, const struct status *status, int64_t wall_ns,
                              struct history *h)
{
    if (h->changes_symbols == status->n_symbols && wall_ns >= h->changes_ns &&
        wall_ns - h->changes_ns < AGAIN_S * 1000000000LL)
        return;
    h->n_changes = 0;
    h->changes_ns = wall_ns;
    h->changes_symbols = status->n_symbols;
    for (int i = 0; i < status->n_symbols && h->n_changes < SYMBOLS_MAX; i++)
        if (!isfinite(status->symbols[i].change_24h_pct) &&
            read_change(reader->db, status, &status->symbols[i], wall_ns, &h->changes[h->n_changes++]) < 0)
            break; /* those of the others are not known either */
    qsort(h->changes, (size_t)h->n_changes, sizeof(h->changes[0]), by_symbol);
}

double tui_history_change(const struct history *h, const struct status_symbol *symbol)
{
    if (isfinite(symbol->change_24h_pct))
        return symbol->change_24h_pct;
    struct history_change key;
    memcpy(key.symbol, symbol->symbol, sizeof(key.symbol));
    const struct history_change *change =
        bsearch(&key, h->changes, (size_t)h->n_changes, sizeof(h->changes[0]), by_symbol);
    if (!change || !(change->before > 0))
        return NAN;
    return 100 * ((symbol->last > 0 ? symbol->last : change->newest) / change->before - 1);
}
