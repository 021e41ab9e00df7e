#include "exchange/book_measure.h"

#include <string.h>

#include "exchange/decimal.h"

static const char *const names[BOOK_MEASURES] = {
    [BOOK_SPREAD] = "spread",
    [BOOK_IMBALANCE] = "imbalance",
    [BOOK_MICROPRICE] = "microprice",
};

/* Measures of the best levels and of the summed quantities. Scales of quantities cancel out. */
static bool measure(const struct book_level *bid, const struct book_level *ask, double bid_qty,
                    double ask_qty, const struct symbol *symbol, double ret[static BOOK_MEASURES])
{
    double best = (double)bid->qty + (double)ask->qty;
    if (bid->price <= 0 || bid->price > ask->price || bid->qty < 0 || ask->qty < 0 || best == 0)
        return false;
    double bid_price = decimal_to_double(bid->price, symbol->price_scale);
    double ask_price = decimal_to_double(ask->price, symbol->price_scale);
    ret[BOOK_SPREAD] = decimal_to_double((int128_t)ask->price - bid->price, symbol->price_scale);
    ret[BOOK_IMBALANCE] = (bid_qty - ask_qty) / (bid_qty + ask_qty);
    ret[BOOK_MICROPRICE] = (bid_price * (double)ask->qty + ask_price * (double)bid->qty) / best;
    return true;
}

bool book_measures(const struct book *book, const struct symbol *symbol, double ret[static BOOK_MEASURES])
{
    const struct book_level *bid = book_bid(book, 0), *ask = book_ask(book, 0), *level;
    double bid_qty = 0, ask_qty = 0;
    if (book->state != BOOK_SYNCED || !bid || !ask)
        return false;
    for (uint32_t i = 0; i < BOOK_MEASURE_LEVELS && (level = book_bid(book, i)) != NULL; i++)
        bid_qty += (double)level->qty;
    for (uint32_t i = 0; i < BOOK_MEASURE_LEVELS && (level = book_ask(book, i)) != NULL; i++)
        ask_qty += (double)level->qty;
    return measure(bid, ask, bid_qty, ask_qty, symbol, ret);
}

bool book_measures_quote(const struct book_level *bid, const struct book_level *ask,
                         const struct symbol *symbol, double ret[static BOOK_MEASURES])
{
    return measure(bid, ask, (double)bid->qty, (double)ask->qty, symbol, ret);
}

const char *book_measure_name(enum book_measure measure)
{
    return names[measure];
}

int book_measure_find(const char *name)
{
    for (int i = 0; i < BOOK_MEASURES; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}
