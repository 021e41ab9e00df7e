/* Bars files of a market with a calendar, made for tests: some days' sessions, with bars left out. */
#ifndef TESTS_ENGINE_MARKET_STOCKS_H
#define TESTS_ENGINE_MARKET_STOCKS_H

#include "exchange/trading_calendar.h"
#include "tests/engine/market_files.h"

/* Draws bars of the days that open in [from_ns, to_ns), pre and post included. */
static inline void made_stocks(struct random *random, struct made_file *file,
                               const struct trading_calendar *calendar, int64_t from_ns, int64_t to_ns,
                               int64_t interval_ns, int gap_percent)
{
    size_t n = 0;
    made_draw(random, file, MADE_BARS_MAX, 0, interval_ns, 0);
    for (size_t i = 0; i < calendar->n; i++) {
        const struct trading_day *day = &calendar->days[i];
        if (day->open_ns < from_ns || day->open_ns >= to_ns)
            continue;
        for (int64_t ns = day->early_ns; ns < day->late_ns && n < MADE_BARS_MAX; ns += interval_ns)
            if (!random_chance(random, gap_percent))
                file->open_ns[n++] = ns;
    }
    file->n = n;
}

#endif
