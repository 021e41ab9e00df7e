/* The changes of a calendar's phase over the rows of a run, one after the other. */
#ifndef ENGINE_BACKTEST_PHASES_H
#define ENGINE_BACKTEST_PHASES_H

#include "exchange/trading_calendar.h"

struct backtest_phases {
    const struct trading_calendar *calendar;
    struct trading_now now;
    int64_t at_ns; /* since when, or, of the first one, when the run begins */
};

/* With the phase at `from_ns`. False: there is no calendar, and nothing to open. */
bool backtest_phases_open(struct backtest_phases *phases, const struct trading_calendar *calendar,
                          int64_t from_ns);

/* The next change, if it is at `until_ns` or before. */
bool backtest_phases_next(struct backtest_phases *phases, int64_t until_ns);

#endif
