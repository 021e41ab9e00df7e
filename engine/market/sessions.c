#include "engine/market/grid.h"

#include <errno.h>
#include <stdlib.h>

#include "exchange/bars_session.h"
#include "exchange/fail.h"

static int fail_beyond(const struct market_source *source, const struct trading_calendar *calendar, size_t k,
                       char err[static MARKET_ERROR_MAX])
{
    char text[BARS_BEYOND_MAX];
    return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "beyond the calendar: %s: bar %zu, %s", source->origin,
                     k + 1, bars_session_beyond(calendar, source->bars.open_time_ns[k], text));
}

/* Must the bar's session be found, or a mixed one become regular? */
static bool is_missing(const struct bars_file *bars, bool keep, size_t k)
{
    return bars->session[k] == BAR_SESSION_NONE || (keep && bars->session[k] == BAR_SESSION_MIXED);
}

int market_store_sessions(struct market_source *source, const struct market_options *options,
                          char err[static MARKET_ERROR_MAX])
{
    const struct trading_calendar *calendar = options->calendar;
    struct bars_file *bars = &source->bars;
    int64_t interval_ns = bars->interval_ns ? bars->interval_ns : options->interval_ns;
    bool keep = options->keep_straddling && options->session == SESSION_REGULAR;
    if (!calendar || calendar->n == 0 || bars->n == 0 ||
        (source->symbol.venue[0] != '\0' && source->symbol.calendar[0] == '\0')) /* its venue never closes */
        return 0;
    if (interval_ns <= 0)
        interval_ns = 1;
    if (!bars->session && !(bars->session = calloc(bars->n, sizeof *bars->session)))
        return fail_with(-ENOMEM, err, MARKET_ERROR_MAX, "out of memory: %s: fewer bars", source->origin);
    size_t k = 0;
    while (k < bars->n && !is_missing(bars, keep, k)) /* all of a file's */
        k++;
    if (k == bars->n)
        return 0;
    const struct bars_session of = bars_session_of(bars, calendar, interval_ns);
    for (; k < bars->n; k++) {
        int64_t open_ns = bars->open_time_ns[k];
        if (!is_missing(bars, keep, k))
            continue;
        if (!trading_calendar_covers(calendar, open_ns, bar_end_time(open_ns, interval_ns)))
            return fail_beyond(source, calendar, k, err);
        if (bars->session[k] == BAR_SESSION_NONE)
            bars->session[k] = (uint8_t)bars_session_at(&of, open_ns);
        if (keep && bars_session_regular(&of, open_ns) && bars->session[k] == BAR_SESSION_MIXED)
            bars->session[k] = BAR_SESSION_REGULAR;
    }
    return 0;
}
