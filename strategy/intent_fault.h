/* What is wrong with an order intent, as it is counted and reported. */
#ifndef STRATEGY_INTENT_FAULT_H
#define STRATEGY_INTENT_FAULT_H

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

const char *intent_fault_name(enum intent_fault fault); /* "BAD_STOP" …, "" for INTENT_FITS */

#endif
