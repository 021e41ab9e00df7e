/* One series of a venue's bars or trades as it was fetched, in a file that grows: pages, each with the range
 * of times (of bars: open times) that it answers for and the moment of asking. What the venue says
 * differently later is another page, and the newest of a time holds; so nothing that was known is lost. A
 * page that is damaged or half written ends the file, and what it had is asked for again. The file can be
 * removed at any time.
 *
 * Layout, in the machine's byte order: a line of JSON (the series), then pages: a header, its rows, and
 * XXH3-64 of both. */
#ifndef EXCHANGE_HISTORY_STORE_H
#define EXCHANGE_HISTORY_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/market.h"

struct history_store;

/* What a venue says of the last day may still change: bars that were late, or corrected. It is kept, and
 * lacks until it was asked for when it was older. */
#define HISTORY_SETTLED_NS (24 * 3600 * INT64_C(1000000000))

/* What a series is. Two that differ in anything are two files. */
struct history_series {
    const char *venue, *symbol; /* as the venue has them, "BTC/USD" */
    const char *host;           /* "HOST:PORT" of another server than the venue's own; "" */
    const char *feed;           /* of a venue with several; "" */
    const char *adjustment;     /* "raw", "split" … */
    int64_t interval_ns;        /* 0: of trades */
    int price_scale, qty_scale; /* of the rows' numbers */
};

/* FOLDER/VENUE[@HOST:PORT]/NAME. 0; -ENAMETOOLONG. */
int history_venue_path(const char *folder, const char *venue, const char *host, const char *name,
                       char ret[static PATH_MAX]);
/* FOLDER/VENUE[@HOST:PORT]/SYMBOL_INTERVAL and the ending, whatever the scales are. 0; -ENAMETOOLONG. */
int history_series_path(const char *folder, const struct history_series *series, const char *ending,
                        char ret[static PATH_MAX]);

/* FOLDER/VENUE[@HOST:PORT]/SYMBOL_INTERVAL.history, with folders where they are missing; locked until it is
 * closed. 0; -EBUSY: another process fetches it; -EBADMSG: a file that is no such series; -errno; with a
 * sentence. */
int history_store_open(const char *folder, const struct history_series *series, struct history_store **ret,
                       char *err, size_t err_size);
/* The same of a file that is there, to read alone: what was whole at that moment, also while another process
 * fetches it. -ENOENT: there is none. */
int history_store_open_kept(const char *folder, const struct history_series *series,
                            struct history_store **ret, char *err, size_t err_size);
void history_store_close(struct history_store *store); /* NULL is fine */
const char *history_store_path(const struct history_store *store);

/* The first range of times in [from_ns, end_ns) that no page answers for, or one that was asked for too
 * early. False: there is none. */
bool history_store_lacks(const struct history_store *store, int64_t from_ns, int64_t end_ns,
                         int64_t *ret_from_ns, int64_t *ret_end_ns);

/* The venue's answer, asked at `asked_ns`: all bars that open in [from_ns, end_ns), ascending. What is the
 * same as before is not stored again. *ret_changed (may be NULL): bars that differ from those that were
 * known, or are no longer there. 0; -ENOSPC and other -errno: then the page is not there. */
int history_store_add(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns,
                      const struct bar *bars, size_t n, size_t *ret_changed);
/* The same of trades, ascending by id. */
int history_store_add_trades(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns,
                             const struct market_trade *trades, size_t n, size_t *ret_changed);

/* The same of a venue that never takes trades back, and may keep the latest alone: those that are known and
 * come before the answer's first stay, all where it has none. */
int history_store_add_later_trades(struct history_store *store, int64_t asked_ns, int64_t from_ns,
                                   int64_t end_ns, const struct market_trade *trades, size_t n,
                                   size_t *ret_changed);
/* The range lies before the first row that the venue still has: it is asked for, and what is known of it
 * stays, bars as well (no venue takes rows back by forgetting them). 0; -errno as above. */
int history_store_add_nothing(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns);

/* The bars that open in [from_ns, end_ns), as they are known now, ascending, until `each` returns another
 * number than 0, which is returned. 0; -EBADMSG: a page is damaged; -errno. */
int history_store_each(const struct history_store *store, int64_t from_ns, int64_t end_ns,
                       int (*each)(void *ctx, const struct bar *bar), void *ctx);
int history_store_each_trade(const struct history_store *store, int64_t from_ns, int64_t end_ns,
                             int (*each)(void *ctx, const struct market_trade *trade), void *ctx);

#endif
