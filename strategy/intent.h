/* What is wrong with an intent before any account is asked: what no market could grant. The engine
 * refuses such a one whole, counts it and says so; it never changes one into another. */
#ifndef STRATEGY_INTENT_H
#define STRATEGY_INTENT_H

#include <stddef.h>

#include "strategy/strategy.h"

/* Room for what a strategy writes: one that writes more than it may is refused, and overflows nothing. */
enum { INTENTS_ROOM = 4 * STRATEGY_INTENTS_MAX };

enum intent_fault {
    INTENT_FITS,
    INTENT_BAD_KIND,
    INTENT_BAD_FRACTION, /* NaN, above 1, below 0; of ENTER: 0 */
    INTENT_BAD_LIMIT,    /* ENTER: NaN, infinite or negative */
    INTENT_BAD_STOP,   /* NaN, infinite or negative, 0 to move it to, or not below the price: the limit where
                        * there is one, else the bar's close */
    INTENT_BAD_PROFIT, /* NaN, infinite or negative, or not above that price */
    INTENT_BAD_TIME,   /* ENTER: a limit that is good until a time that has passed */
    INTENT_NOTHING_HELD, /* EXIT or STOP of nothing; STOP of what is owed: stops protect longs */
    INTENT_TOO_MANY,     /* more intents than STRATEGY_INTENTS_MAX: none of them is carried out */
    INTENT_STOP_STAYS, /* STOP: the one that rests cannot be moved: no market is seen, or a filter refuses */
    INTENT_FAULTS,
};

/* INTENT_FITS, or the first thing that is wrong. Of prices: as plain numbers, before they stand on a tick. */
enum intent_fault intent_check(const struct intent *intent, const struct strategy_input *input);

const char *intent_kind_name(enum intent_kind kind);    /* "enter" …; "unknown" for what is none */
const char *intent_fault_name(enum intent_fault fault); /* "BAD_STOP" …, "" for INTENT_FITS */

/* One clause that says what is wrong and what would be right, as "stop 120.5 is not below the price 119".
 * Returns its length as snprintf() does. */
size_t intent_fault_text(enum intent_fault fault, const struct intent *intent,
                         const struct strategy_input *input, char *buf, size_t cap);

#endif
