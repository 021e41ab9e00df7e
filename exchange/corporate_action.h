/* What a company does to its shares: the same fact changes positions, resting orders, the ledger and the
 * scale of past prices. docs/venues.md, "Splits and dividends", says how each is booked. */
#ifndef EXCHANGE_CORPORATE_ACTION_H
#define EXCHANGE_CORPORATE_ACTION_H

#include <stdint.h>

enum corporate_action_kind {
    ACTION_SPLIT,    /* forward or reverse; a stock dividend is a split */
    ACTION_DIVIDEND, /* cash */
    CORPORATE_ACTION_KINDS,
};

enum { ACTION_ID_MAX = 48 };

struct corporate_action {
    char id[ACTION_ID_MAX]; /* the venue's, or made of symbol, kind and date: it takes effect once */
    enum corporate_action_kind kind;
    int64_t ex_ns;       /* it applies to those who hold at this moment: the ex-date's first session, UTC */
    int64_t shares, per; /* SPLIT: `shares` new ones for every `per` old ones, 1 to ACTION_RATIO_MAX */
    int64_t cash;        /* DIVIDEND: for one share, in the symbol's quote, 10^-9 units */
    int64_t record_ns;   /* DIVIDEND: whose book it is paid by; 0: not said. For the record only */
    int64_t pay_ns;      /* DIVIDEND: when it is paid; 0, or not after it takes effect: then, at once */
};

enum { ACTION_CASH_SCALE = 9, ACTION_RATIO_MAX = 1000000000 };

/* The order in which they take effect, as for qsort(): by ex_ns, then splits before dividends (on the same
 * day, cash is per share after the split), then by id. */
int corporate_action_order(const struct corporate_action *a, const struct corporate_action *b);

/* "split", "dividend". */
const char *corporate_action_name(enum corporate_action_kind kind);

#endif
