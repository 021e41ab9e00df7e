/* Why bars are not there. */
#ifndef EXCHANGE_HISTORY_MISSING_H
#define EXCHANGE_HISTORY_MISSING_H

#include "exchange/trading_calendar.h"

enum history_why {
    HISTORY_BEFORE,       /* the venue's first bar of any interval */
    HISTORY_BEFORE_BAR,   /* the first of this interval that it keeps: it had the symbol then */
    HISTORY_BEFORE_TRADE, /* the venue's first trade: it was listed then, or keeps none that is older */
    HISTORY_CLOSED,       /* by the market's calendar */
    /* Of a venue that makes no bar of a minute in which no trade counted, within open hours. */
    HISTORY_NO_TRADE,
    HISTORY_GAP, /* the venue has none, though it makes one of every interval */
    HISTORY_WHYS,
};
extern const char *const history_why_words[HISTORY_WHYS]; /* "before the listing", "closed" … */

/* A run of them, one after the other, for one reason. */
struct history_missing {
    int64_t from_ns, end_ns; /* times (of bars: open times) in [from_ns, end_ns) */
    int64_t rows;            /* so many bars, or trades; 0: not known */
    enum history_why why;
};

/* Bars are shown to it in ascending order, and what lies between them is reported. */
struct history_looking {
    int64_t interval_ns;
    const struct trading_calendar *calendar; /* without days: a bar of every interval */
    int64_t listed_ns, first_ns;             /* as struct history_job has them */
    void (*found)(void *ctx, const struct history_missing *run);
    void *ctx;
    int64_t next_ns; /* the open time that is expected: the range's beginning at first */
};
void history_missing_bar(struct history_looking *looking, int64_t open_ns);
void history_missing_end(struct history_looking *looking, int64_t end_ns); /* of the range */

#endif
