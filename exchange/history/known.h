/* What a series' file needs to be used without the venue: a text beside it, SYMBOL_INTERVAL.known, with what
 * the venue said of the symbol, since when it has it, and on which days it trades. It can be removed at any
 * time: then the venue is asked. */
#ifndef EXCHANGE_HISTORY_KNOWN_H
#define EXCHANGE_HISTORY_KNOWN_H

#include <jansson.h>

#include "exchange/history/store.h"
#include "exchange/trading_day.h"

struct history_known {
    char symbol[SYMBOL_NAME_MAX]; /* as the venue spells it */
    char calendar[CALENDAR_NAME_MAX];
    int price_scale, qty_scale;
    int64_t listed_ns, first_ns; /* as struct history_job has them, but known */
    struct trading_day *days;
    size_t n_days;
    json_t *listing; /* what else the venue lists it with, as the caller has it; NULL: not known */
};

#define HISTORY_KNOWN_ENDING ".known"

/* Of the series only what names its file. 0; -ENOENT: there is none; -EBADMSG: it says something else;
 * -errno. */
int history_known_read(const char *folder, const struct history_series *series, struct history_known *ret);
int history_known_read_file(const char *path, struct history_known *ret); /* the same of that path */
int history_known_write(const char *folder, const struct history_series *series,
                        const struct history_known *known);
void history_known_finish(struct history_known *known); /* all zero is fine */

#endif
