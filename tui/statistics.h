/* Statistics of the accounts' trades, from their fills. A trade is that of strategy/record.h, of one
 * account and symbol, so that the dashboard counts what strategies see; its profit is after fees. */
#ifndef TUI_STATISTICS_H
#define TUI_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "db/reader.h"

struct trade_statistics {
    int64_t fills, trades, wins; /* trades: closed; wins: of more than 0 */
    int64_t losing, longest;     /* losses in a row: now, and ever */
    int64_t open;                /* trades that have started */
    double won, lost, fees;      /* sums, each >= 0, in units of the quote asset; fees of all fills */
    double best, worst;          /* trade; NaN before the first */
};

struct statistics;

struct statistics *tui_statistics_create(void); /* NULL without memory */
void tui_statistics_destroy(struct statistics *statistics);

/* A copy, to be continued by itself. NULL without memory. */
struct statistics *tui_statistics_copy(const struct statistics *statistics);

/* The newest fill that was taken, and its time; 0: none. */
uint64_t tui_statistics_last(const struct statistics *statistics);
int64_t tui_statistics_last_ns(const struct statistics *statistics);

/* Takes a fill; they come by ascending id. 0 or -ENOMEM. */
int tui_statistics_fill(struct statistics *statistics, const struct db_fill_row *row);

/* Of one account; zeros for one that never traded. */
void tui_statistics_of(const struct statistics *statistics, const char *account,
                       struct trade_statistics *ret);

#endif
