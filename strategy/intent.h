/* Checks an order intent without an account: faults that no market could accept. The engine refuses such an
 * intent whole, counts it and reports it; it never changes one into another. */
#ifndef STRATEGY_INTENT_H
#define STRATEGY_INTENT_H

#include <stddef.h>

#include "strategy/strategy.h"

/* Buffer for a strategy's intents: a strategy that writes too many is refused, without an overflow. */
enum { INTENTS_ROOM = 4 * STRATEGY_INTENTS_MAX };

enum intent_fault {
    INTENT_FITS,
    INTENT_BAD_KIND,
    INTENT_BAD_FRACTION, /* NaN, above the account's leverage, below 0; of ENTER: 0; of EXIT: above 1 */
    INTENT_BAD_LIMIT,    /* of an entry: NaN, infinite or negative */
    INTENT_BAD_STOP,   /* NaN, infinite or negative, 0 to move it to, or not below the price: the limit where
                        * there is one, else the bar's close; of a short: not above it */
    INTENT_BAD_PROFIT, /* NaN, infinite or negative, or not above that price; of a short: not below it */
    INTENT_BAD_TIME,   /* of an entry: a limit whose expiry has passed */
    INTENT_NOTHING_HELD, /* EXIT or STOP without a position, an ORDER that reduces nothing, or is of none */
    INTENT_TOO_MANY,     /* more intents than STRATEGY_INTENTS_MAX: all are refused */
    INTENT_STOP_STAYS,   /* STOP: the existing stop cannot be moved: there is no market price, or a filter
                            refuses */
    INTENT_NO_SHORTS,    /* SHORT, a negative TARGET: the account may not be short of the symbol */
    INTENT_BAD_ORDER,    /* ORDER: no such side, type, time in force or size */
    INTENT_BAD_QTY,      /* ORDER: NaN, infinite, or not above 0 */
    INTENT_BAD_TRAIL, /* ORDER: not one distance above 0 or one share between 0 and 1, or no trailing stop */
    INTENT_NOTHING_WORKS, /* CANCEL: none of its orders works */
    INTENT_BAD_SYMBOL,    /* of a strategy with `together`: no such symbol */
    INTENT_NO_BAR,        /* likewise: the bar of this time of that symbol is missing */
    INTENT_FAULTS,
};

/* INTENT_FITS, or the first fault. Prices are plain numbers, not rounded to ticks. */
enum intent_fault intent_check(const struct intent *intent, const struct strategy_input *input);

/* For intent_check(), intent_fault_text(): an order's (intent_order.c). */
enum intent_fault intent_check_order(const struct intent *intent, const struct strategy_input *input);
int intent_order_text(enum intent_fault fault, const struct intent *intent,
                      const struct strategy_input *input, char *buf, size_t cap);
/* The most of its equity that the account may hold of a symbol. */
static inline double intent_most(const struct strategy_input *input)
{
    return input->leverage > 1 ? input->leverage : 1;
}

/* Does it open a position by its kind alone? */
static inline bool intent_enters(enum intent_kind kind)
{
    return kind == INTENT_ENTER || kind == INTENT_SHORT;
}

const char *intent_kind_name(enum intent_kind kind);    /* "enter" …; "unknown" for other values */
const char *intent_fault_name(enum intent_fault fault); /* "BAD_STOP" …, "" for INTENT_FITS */

/* One clause with the fault and what would be right, as "stop 120.5 is not below the price 119". Returns its
 * length as snprintf() does. */
size_t intent_fault_text(enum intent_fault fault, const struct intent *intent,
                         const struct strategy_input *input, char *buf, size_t cap);

#endif
