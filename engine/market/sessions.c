#include "engine/market/grid.h"

#include <errno.h>
#include <stdlib.h>

#include "exchange/clock.h"
#include "exchange/fail.h"

#define DAY_NS (86400 * INT64_C(1000000000))

static int fail_beyond(const struct market_source *source, const struct trading_calendar *calendar, size_t k,
                       char err[static MARKET_ERROR_MAX])
{
    char when[CLOCK_TEXT_MAX], from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX];
    return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                     "beyond the calendar: %s: bar %zu, %s: times from %s to %s, which %s knows",
                     source->origin, k + 1, clock_utc_text(source->bars.open_time_ns[k], when),
                     clock_utc_text(calendar->from_ns, from), clock_utc_text(calendar->to_ns, to),
                     calendar->name);
}

/* Of a bar from open_ns on: the one that a session's end cuts short ends with it. */
static enum bar_session session_of(const struct trading_calendar *calendar, int64_t interval_ns,
                                   int64_t open_ns, bool *ret_regular)
{
    struct session_span span;
    int64_t begin_ns, end_ns;
    trading_bar_span(calendar, interval_ns, open_ns, &begin_ns, &end_ns);
    if (begin_ns != open_ns)
        end_ns = open_ns + interval_ns;
    *ret_regular = trading_span_at(calendar, SESSION_REGULAR, open_ns, &span) && span.open_ns < end_ns;
    if (interval_ns < DAY_NS)
        return trading_session_of(calendar, open_ns, end_ns);
    return *ret_regular ? BAR_SESSION_MIXED : BAR_SESSION_CLOSED;
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
    for (size_t k = 0; k < bars->n; k++) {
        int64_t open_ns = bars->open_time_ns[k];
        bool regular, known = bars->session[k] != BAR_SESSION_NONE;
        if (known && !(keep && bars->session[k] == BAR_SESSION_MIXED))
            continue;
        if (!trading_calendar_covers(calendar, open_ns, open_ns + interval_ns))
            return fail_beyond(source, calendar, k, err);
        enum bar_session session = session_of(calendar, interval_ns, open_ns, &regular);
        if (!known)
            bars->session[k] = (uint8_t)session;
        if (keep && regular && bars->session[k] == BAR_SESSION_MIXED)
            bars->session[k] = BAR_SESSION_REGULAR;
    }
    return 0;
}
