#include "engine/backtest/phases.h"

bool backtest_phases_open(struct backtest_phases *phases, const struct trading_calendar *calendar,
                          int64_t from_ns)
{
    *phases = (struct backtest_phases){.calendar = calendar, .at_ns = from_ns};
    if (!calendar || calendar->n == 0)
        return false;
    trading_days_at(calendar->days, calendar->n, from_ns, &phases->now);
    return true;
}

bool backtest_phases_next(struct backtest_phases *phases, int64_t until_ns)
{
    int64_t at_ns = phases->now.next_ns;
    if (at_ns == 0 || at_ns > until_ns)
        return false;
    phases->at_ns = at_ns;
    trading_days_at(phases->calendar->days, phases->calendar->n, at_ns, &phases->now);
    return true;
}
