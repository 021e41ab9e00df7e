#include "exchange/bars_session.h"

#include <stdio.h>
#include <stdlib.h>

#include "exchange/clock.h"

static bool opens_by_open(const struct bars_session *of, int64_t ns)
{
    int64_t open_ns, end_ns;
    if (trading_session_of(of->calendar, ns, ns + 1) != BAR_SESSION_REGULAR)
        return true;
    trading_bar_span(of->calendar, of->interval_ns, ns, &open_ns, &end_ns);
    return open_ns == ns;
}

struct bars_session bars_session_of(const struct bars_file *file, const struct trading_calendar *calendar,
                                    int64_t interval_ns)
{
    struct bars_session of = {
        .calendar = calendar, .interval_ns = interval_ns > 0 ? interval_ns : 1, .by_open = true};
    for (size_t i = 0; of.by_open && of.interval_ns < BAR_DAY_NS && i < file->n; i++)
        of.by_open = opens_by_open(&of, file->open_time_ns[i]);
    return of;
}

int64_t bars_session_end(const struct bars_session *of, int64_t open_ns)
{
    int64_t begin_ns, end_ns;
    if (!of->by_open || of->interval_ns >= BAR_DAY_NS)
        return bar_end_time(open_ns, of->interval_ns);
    trading_bar_span(of->calendar, of->interval_ns, open_ns, &begin_ns, &end_ns);
    return begin_ns == open_ns ? end_ns : open_ns + of->interval_ns;
}

enum bar_session bars_session_at(const struct bars_session *of, int64_t open_ns)
{
    if (of->interval_ns < BAR_DAY_NS)
        return trading_session_of(of->calendar, open_ns, bars_session_end(of, open_ns));
    return bars_session_regular(of, open_ns) ? BAR_SESSION_MIXED : BAR_SESSION_CLOSED;
}

bool bars_session_regular(const struct bars_session *of, int64_t open_ns)
{
    struct session_span span;
    return trading_span_at(of->calendar, SESSION_REGULAR, open_ns, &span) &&
           span.open_ns < bars_session_end(of, open_ns);
}

char *bars_session_beyond(const struct trading_calendar *calendar, int64_t open_ns,
                          char ret[static BARS_BEYOND_MAX])
{
    char when[CLOCK_TEXT_MAX], from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX];
    snprintf(ret, BARS_BEYOND_MAX, "%s: times from %s to %s, which %s knows", clock_utc_text(open_ns, when),
             clock_utc_text(calendar->from_ns, from), clock_utc_text(calendar->to_ns, to), calendar->name);
    return ret;
}

int bars_file_keep(struct bars_file *file, enum session_choice choice, size_t *ret_removed)
{
    double *const columns[] = {file->open, file->high, file->low, file->close, file->volume};
    size_t n = 0;
    for (size_t i = 0; i < file->n; i++) {
        if (file->session && !session_takes(choice, (enum bar_session)file->session[i]))
            continue;
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            columns[c][n] = columns[c][i];
        file->open_time_ns[n] = file->open_time_ns[i];
        if (file->session)
            file->session[n] = file->session[i];
        n++;
    }
    *ret_removed = file->n - n;
    file->n = n;
    return file->interval_ns > 0 ? bars_file_set_interval(file, file->interval_ns) : 0;
}

void bars_file_forget_none(struct bars_file *file)
{
    for (size_t i = 0; i < file->n; i++)
        if (file->session[i] != BAR_SESSION_NONE)
            return;
    free(file->session);
    file->session = NULL;
}
