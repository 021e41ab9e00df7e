/* Fetches what stores lack of their series, bars or trades, and since when the venue has it, several pages at
 * once, within the venue's limits: its REST client (exchange/net/requests.h) waits, tries again and obeys
 * bans. A page that has arrived is in its store; what a killed process had is not asked for again. */
#ifndef EXCHANGE_HISTORY_DOWNLOAD_H
#define EXCHANGE_HISTORY_DOWNLOAD_H

#include "exchange/history/store.h"
#include "exchange/venue.h"

/* One series. Borrowed by the download until it is over. */
struct history_job {
    /* Given. */
    struct history_store *store;
    const struct symbol *symbol;
    const struct trading_calendar *calendar; /* NULL: by the clock */
    enum venue_adjustment adjustment;
    bool refresh;            /* asks for all of it again */
    bool venue_days;         /* as struct venue_bars_request has it */
    int64_t interval_ns;     /* 0: of trades; the rest is of bars */
    int64_t from_ns, end_ns; /* open times in [from_ns, end_ns), whole bars: all are closed by now */

    /* So far. */
    int64_t first_ns; /* of the venue's first row; INT64_MAX: it has none; -1: not known */
    /* Of bars below a day, where the first is not before from_ns: when the venue's first bar of a day opens,
     * at the latest first_ns: it had the symbol then, and keeps no shorter bars of that time; else
     * first_ns. */
    int64_t listed_ns;
    int64_t next_ns;            /* where the next page begins */
    int64_t lacked_ns, done_ns; /* time that the store lacked at the beginning, and that it has got */
    uint64_t rows, pages;       /* fetched */
    size_t changed;             /* rows that are others than were known */
    unsigned asked;             /* pages on their way */
    bool day_asked;             /* … or here: the first bar of a day, */
    bool day_failed; /* … which was not to be had: listed_ns is first_ns, until it is asked again */
    int error; /* set before: nothing is asked for; else why it is not whole: as struct venue_reply has it, or
                  of the store; 0: none */
    char why[VENUE_DETAIL_MAX * 2];
};

struct history_download;

/* `changed` comes from the loop after each page, and once more when all jobs have ended, whole or not, and
 * may destroy the download. 0; -ENOMEM. */
int history_download_start(struct venue_rest *rest, const struct venue *venue, struct history_job *jobs,
                           size_t n, int64_t now_ns, void (*changed)(void *ctx), void *ctx,
                           struct history_download **ret);
/* Has it ended, whole or not? */
bool history_job_over(const struct history_job *job);
bool history_download_over(const struct history_download *download);
void history_download_destroy(struct history_download *download); /* no callback follows; NULL is fine */

#endif
