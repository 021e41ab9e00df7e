/* An order book's measures, one number each, for indicators and policies: plain doubles, never money. */
#ifndef EXCHANGE_BOOK_MEASURE_H
#define EXCHANGE_BOOK_MEASURE_H

#include <stdbool.h>

#include "exchange/book.h"
#include "exchange/symbol.h"

enum book_measure {
    BOOK_SPREAD,    /* best ask less best bid, in the quote */
    BOOK_IMBALANCE, /* (bid quantity - ask quantity) / their sum over BOOK_MEASURE_LEVELS a side: -1..1 */
    BOOK_MICROPRICE, /* (bid·ask quantity + ask·bid quantity) / their sum, of the best levels, in the quote */
    BOOK_MEASURES,
};

enum { BOOK_MEASURE_LEVELS = 5 };

/* All of them at once, of a synced book with both sides; false, and nothing written, of any other. Sources:
 * Cont, Kukanov, Stoikov (2014) for the imbalance; Stoikov (2018), weighted mid, for the microprice. */
bool book_measures(const struct book *book, const struct symbol *symbol, double ret[static BOOK_MEASURES]);

/* The same from a best bid and ask alone: the imbalance is that of one level. False where a price is missing,
 * the bid is above the ask (a spread of 0 is one, as quotes of several venues have it), or both quantities
 * are 0. */
bool book_measures_quote(const struct book_level *bid, const struct book_level *ask,
                         const struct symbol *symbol, double ret[static BOOK_MEASURES]);

/* "spread", "imbalance", "microprice"; and back: -1 for another word. */
const char *book_measure_name(enum book_measure measure);
int book_measure_find(const char *name);

#endif
