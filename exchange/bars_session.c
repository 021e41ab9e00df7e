#include "exchange/bars_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange/bars_gaps.h"
#include "exchange/clock.h"

#define NS_PER_S INT64_C(1000000000)
#define DAY_NS   (86400 * NS_PER_S)

static const struct trading_calendar *calendar_of(const struct bars_reader *r)
{
    const struct trading_calendar *calendar = r->options->calendar;
    return calendar && calendar->n > 0 ? calendar : NULL;
}

void bars_session_dates(struct bars_reader *r)
{
    struct bars_file *out = &r->out;
    if (!r->zone || r->local < out->n || out->n < 2 || bars_gaps_interval(out) < DAY_NS - 2 * 3600 * NS_PER_S)
        return;
    for (size_t i = 0; i < out->n; i++) {
        int64_t *ns = &out->open_time_ns[i];
        *ns += zone_offset(r->zone, *ns / NS_PER_S - (*ns % NS_PER_S < 0)) * NS_PER_S;
    }
}

struct finding {
    struct bars_reader *r;
    const struct trading_calendar *calendar;
    int64_t interval_ns; /* at least 1 */
    bool by_open;        /* bars of the regular hours begin a whole number of intervals after the opening */
};

/* In which session does a moment lie? */
static enum bar_session session_at(const struct finding *f, int64_t ns)
{
    return trading_session_of(f->calendar, ns, ns + 1);
}

static bool all_by_open(const struct finding *f)
{
    const struct bars_file *out = &f->r->out;
    int64_t open_ns, end_ns;
    for (size_t i = 0; i < out->n; i++) {
        if (session_at(f, out->open_time_ns[i]) != BAR_SESSION_REGULAR)
            continue;
        trading_bar_span(f->calendar, f->interval_ns, out->open_time_ns[i], &open_ns, &end_ns);
        if (open_ns != out->open_time_ns[i])
            return false;
    }
    return true;
}

static int64_t end_of(const struct finding *f, size_t row)
{
    int64_t at = f->r->out.open_time_ns[row], open_ns, end_ns;
    if (!f->by_open || f->interval_ns >= DAY_NS)
        return at + f->interval_ns;
    trading_bar_span(f->calendar, f->interval_ns, at, &open_ns, &end_ns);
    return open_ns == at ? end_ns : at + f->interval_ns;
}

/* Are there regular hours in it? */
static bool meets_regular(const struct finding *f, int64_t open_ns, int64_t end_ns)
{
    struct session_span span;
    return trading_span_at(f->calendar, SESSION_REGULAR, open_ns, &span) && span.open_ns < end_ns;
}

static int fail_beyond(const struct finding *f, size_t row)
{
    char when[CLOCK_TEXT_MAX], from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX];
    return bars_fail_at(f->r, row, -EINVAL, "beyond the calendar", "%s: times from %s to %s, which %s knows",
                        clock_utc_text(f->r->out.open_time_ns[row], when),
                        clock_utc_text(f->calendar->from_ns, from), clock_utc_text(f->calendar->to_ns, to),
                        f->calendar->name);
}

/* By the calendar and the column's word. */
static int classify(const struct finding *f, size_t row)
{
    struct bars_file *out = &f->r->out;
    char when[CLOCK_TEXT_MAX];
    int64_t open_ns = out->open_time_ns[row], end_ns = end_of(f, row);
    enum bar_session word = out->session[row], session;
    if (!trading_calendar_covers(f->calendar, open_ns, end_ns))
        return fail_beyond(f, row);
    session = trading_session_of(f->calendar, open_ns, end_ns);
    if (f->interval_ns >= DAY_NS)
        session = meets_regular(f, open_ns, end_ns) ? BAR_SESSION_MIXED : BAR_SESSION_CLOSED;
    bool open_to_both = session == BAR_SESSION_MIXED || word == BAR_SESSION_MIXED;
    if (word != BAR_SESSION_NONE && session != word && !open_to_both)
        return bars_fail_at(f->r, row, -EINVAL, "session contradicts the calendar",
                            "%s, as %s has %s, not %s; --zone, if the times are of another",
                            bar_session_names[session], f->calendar->name, clock_utc_text(open_ns, when),
                            bar_session_names[word]);
    out->session[row] = (uint8_t)(word != BAR_SESSION_NONE ? word : session);
    return 0;
}

/* ---- Files of regular hours alone. ---- */

static int64_t longest_session(const struct trading_calendar *calendar)
{
    int64_t most = 0;
    for (size_t i = 0; i < calendar->n; i++) {
        int64_t length = calendar->days[i].close_ns - calendar->days[i].open_ns;
        most = length > most ? length : most;
    }
    return most;
}

/* Do the bars lie in stretches, apart by a night, that are no longer than the regular hours? One bar more, of
 * the closing auction, is fine, and one stretch in a hundred. */
static bool only_regular(const struct finding *f)
{
    const struct bars_file *out = &f->r->out;
    int64_t longest = longest_session(f->calendar) + f->interval_ns, night = 6 * 3600 * NS_PER_S;
    size_t stretches = 1, longer = 0;
    int64_t first = out->open_time_ns[0];
    for (size_t i = 1; i <= out->n; i++) {
        int64_t before = out->open_time_ns[i - 1];
        if (i < out->n && out->open_time_ns[i] - before < night)
            continue;
        longer += before + f->interval_ns - first > longest;
        if (i == out->n)
            break;
        first = out->open_time_ns[i];
        stretches++;
    }
    return longer * 100 <= stretches;
}

/* The day's early close that a bar is after; 0: none. */
static int64_t after_early_close(const struct finding *f, int64_t longest, int64_t ns)
{
    struct session_span day;
    if (!trading_span_at(f->calendar, SESSION_EXTENDED, ns, &day))
        return 0;
    const struct trading_day *at = &f->calendar->days[day.day];
    bool half = at->close_ns - at->open_ns < longest;
    return half && ns > at->close_ns && ns < at->open_ns + longest ? at->close_ns : 0;
}

static int check_half_days(const struct finding *f)
{
    const struct bars_file *out = &f->r->out;
    int64_t longest = longest_session(f->calendar);
    for (size_t i = 0; i < out->n; i++) {
        char when[CLOCK_TEXT_MAX], close[CLOCK_TEXT_MAX];
        int64_t close_ns = after_early_close(f, longest, out->open_time_ns[i]);
        if (close_ns != 0)
            return bars_fail_at(f->r, i, -EINVAL, "a half day without its early close",
                                "no bar at %s, since %s closed at %s, in a file of regular hours alone",
                                clock_utc_text(out->open_time_ns[i], when), f->calendar->name,
                                clock_utc_text(close_ns, close));
    }
    return 0;
}

static int check_only_regular(const struct finding *f)
{
    const struct bars_file *out = &f->r->out;
    char text[BARS_FITS_MAX], when[CLOCK_TEXT_MAX];
    struct bars_fit fit;
    size_t odd = 0;
    while (odd < out->n && out->session[odd] == BAR_SESSION_REGULAR)
        odd++;
    if (odd == out->n || f->interval_ns >= DAY_NS || !only_regular(f))
        return 0;
    if (bars_fit_regular(f->r, &fit))
        return bars_fail_at(f->r, odd, -EINVAL, "times are of another zone",
                            "bars of regular hours, where %s is %s in %s: %s fits them",
                            clock_utc_text(out->open_time_ns[odd], when),
                            bar_session_names[out->session[odd]], f->calendar->name,
                            bars_fit_text(&fit, text));
    return f->r->options->session == SESSION_ALL ? 0 : check_half_days(f);
}

/* ---- What is wanted of it. ---- */

static int check_wanted(const struct finding *f, size_t row)
{
    const struct bars_file_options *options = f->r->options;
    struct bars_file *out = &f->r->out;
    char when[CLOCK_TEXT_MAX];
    clock_utc_text(out->open_time_ns[row], when);
    if (out->session[row] == BAR_SESSION_CLOSED && options->session != SESSION_ALL)
        return bars_fail_at(f->r, row, -EINVAL, "bar is outside any session",
                            "a time at which %s is open, not %s; --zone, if the times are of another, or "
                            "--session all",
                            f->calendar->name, when);
    if (out->session[row] != BAR_SESSION_MIXED || options->session != SESSION_REGULAR ||
        !meets_regular(f, out->open_time_ns[row], end_of(f, row)))
        return 0;
    if (options->keep_straddling) {
        out->session[row] = BAR_SESSION_REGULAR;
        return 0;
    }
    if (f->interval_ns >= DAY_NS)
        return bars_fail_at(f->r, row, -EINVAL, "bar of a whole day",
                            "a column session with the word regular, where it has the regular hours alone, "
                            "or --straddle keep, to take it as if it had");
    return bars_fail_at(f->r, row, -EINVAL, "bar straddles sessions",
                        "bars that begin with the session, not the one from %s on; or --straddle keep", when);
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

static void forget_none(struct bars_file *out)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->session[i] != BAR_SESSION_NONE)
            return;
    free(out->session);
    out->session = NULL;
}

int bars_session_find(struct bars_reader *r)
{
    struct bars_file *out = &r->out;
    struct finding f = {
        .r = r, .calendar = calendar_of(r), .interval_ns = out->interval_ns ? out->interval_ns : 1};
    struct bars_fit fit;
    int rc = 0;
    if (f.calendar) {
        f.by_open = all_by_open(&f);
        for (size_t i = 0; rc == 0 && i < out->n; i++)
            rc = classify(&f, i);
        if (rc == 0)
            rc = check_only_regular(&f);
        for (size_t i = 0; rc == 0 && i < out->n; i++)
            rc = check_wanted(&f, i);
        if (rc == 0 && f.interval_ns < DAY_NS && bars_fit_volume(r, &fit))
            bars_fit_text(&fit, out->fits);
    }
    forget_none(out);
    return rc;
}
