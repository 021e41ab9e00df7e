/* Gives a file's bars their sessions, and refuses those that cannot be what is wanted of it. */
#include <errno.h>

#include "exchange/bars_gaps.h"
#include "exchange/bars_reader.h"
#include "exchange/bars_session.h"
#include "exchange/clock.h"

#define NS_PER_S INT64_C(1000000000)
#define HOUR_NS  (3600 * NS_PER_S)
#define DAY_NS   (24 * HOUR_NS)

struct finding {
    struct bars_reader *r;
    struct bars_session of;
};

void bars_session_dates(struct bars_reader *r)
{
    struct bars_file *out = &r->out;
    /* The day on which clocks are set forward has 23 hours. */
    if (!r->zone || r->local < out->n || out->n < 2 || bars_gaps_interval(out) < DAY_NS - 2 * HOUR_NS)
        return;
    for (size_t i = 0; i < out->n; i++) {
        int64_t *ns = &out->open_time_ns[i];
        *ns += zone_offset(r->zone, clock_whole_s(*ns)) * NS_PER_S;
    }
}

static int fail_beyond(const struct finding *f, size_t row)
{
    char text[BARS_BEYOND_MAX];
    return bars_fail_at(f->r, row, -EINVAL, "beyond the calendar", "%s",
                        bars_session_beyond(f->of.calendar, f->r->out.open_time_ns[row], text));
}

/* By the calendar and the column's word. */
static int classify(const struct finding *f, size_t row)
{
    struct bars_file *out = &f->r->out;
    char when[CLOCK_TEXT_MAX];
    int64_t open_ns = out->open_time_ns[row];
    if (!trading_calendar_covers(f->of.calendar, open_ns, bars_session_end(&f->of, open_ns)))
        return fail_beyond(f, row);
    enum bar_session word = out->session[row], session = bars_session_at(&f->of, open_ns);
    bool open_to_both = session == BAR_SESSION_MIXED || word == BAR_SESSION_MIXED;
    if (word != BAR_SESSION_NONE && session != word && !open_to_both)
        return bars_fail_at(f->r, row, -EINVAL, "session contradicts the calendar",
                            "%s, as %s has %s, not %s; --zone, if the times are of another",
                            bar_session_names[session], f->of.calendar->name, clock_utc_text(open_ns, when),
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
    int64_t longest = longest_session(f->of.calendar) + f->of.interval_ns, night = 6 * HOUR_NS;
    size_t stretches = 1, longer = 0;
    int64_t first = out->open_time_ns[0];
    for (size_t i = 1; i <= out->n; i++) {
        int64_t before = out->open_time_ns[i - 1];
        if (i < out->n && out->open_time_ns[i] - before < night)
            continue;
        longer += before + f->of.interval_ns - first > longest;
        if (i == out->n)
            break;
        first = out->open_time_ns[i];
        stretches++;
    }
    return longer * 100 <= stretches;
}

/* A bar of a file of regular hours alone. */
enum place {
    PLACE_REGULAR, /* in them, or at the close, as of its auction */
    PLACE_LATE,    /* after the early close of a half day, before the usual one */
    PLACE_OTHER,   /* the file has other hours as well */
};

static enum place place_of(const struct finding *f, int64_t longest, size_t row, int64_t *ret_close_ns)
{
    struct session_span span;
    int64_t ns = f->r->out.open_time_ns[row];
    if (f->r->out.session[row] == BAR_SESSION_REGULAR)
        return PLACE_REGULAR;
    if (!trading_span_at(f->of.calendar, SESSION_EXTENDED, ns, &span))
        return PLACE_OTHER;
    const struct trading_day *day = &f->of.calendar->days[span.day];
    *ret_close_ns = day->close_ns;
    if (ns == day->close_ns)
        return PLACE_REGULAR;
    return ns > day->close_ns && ns < day->open_ns + longest ? PLACE_LATE : PLACE_OTHER;
}

static int check_half_days(const struct finding *f)
{
    const struct bars_file *out = &f->r->out;
    int64_t longest = longest_session(f->of.calendar), close_ns = 0, late_close_ns = 0;
    char when[CLOCK_TEXT_MAX], close[CLOCK_TEXT_MAX];
    size_t late = out->n;
    for (size_t i = 0; i < out->n; i++) {
        enum place place = place_of(f, longest, i, &close_ns);
        if (place == PLACE_OTHER)
            return 0;
        if (place == PLACE_LATE && late == out->n) {
            late = i;
            late_close_ns = close_ns;
        }
    }
    if (late == out->n)
        return 0;
    return bars_fail_at(f->r, late, -EINVAL, "a half day without its early close",
                        "no bar at %s, since %s closed at %s, in a file of regular hours alone",
                        clock_utc_text(out->open_time_ns[late], when), f->of.calendar->name,
                        clock_utc_text(late_close_ns, close));
}

static int check_only_regular(const struct finding *f)
{
    const struct bars_file *out = &f->r->out;
    char text[BARS_FITS_MAX], when[CLOCK_TEXT_MAX];
    struct bars_fit fit;
    size_t odd = 0;
    while (odd < out->n && out->session[odd] == BAR_SESSION_REGULAR)
        odd++;
    if (odd == out->n || f->of.interval_ns >= DAY_NS || !only_regular(f))
        return 0;
    if (bars_fit_regular(f->r, &fit) || bars_fit_day(f->r, &fit, &odd))
        return bars_fail_at(f->r, odd, -EINVAL, "times are of another zone",
                            "bars of regular hours, where %s is %s in %s: %s fits %s",
                            clock_utc_text(out->open_time_ns[odd], when),
                            bar_session_names[out->session[odd]], f->of.calendar->name,
                            bars_fit_text(&fit, text), fit.of_day ? "that day" : "them");
    return f->r->options->session == SESSION_ALL ? 0 : check_half_days(f);
}

/* ---- What is wanted. ---- */

static int check_wanted(const struct finding *f, size_t row)
{
    const struct bars_file_options *options = f->r->options;
    struct bars_file *out = &f->r->out;
    char when[CLOCK_TEXT_MAX];
    clock_utc_text(out->open_time_ns[row], when);
    if (out->session[row] == BAR_SESSION_CLOSED && options->session != SESSION_ALL)
        return bars_fail_at(f->r, row, -EINVAL, "bar is outside any session",
                            "a time at which %s is open, not %s; --zone, if the times are of another%s",
                            f->of.calendar->name, when, options->closed_stay_out ? "" : ", or --session all");
    if (out->session[row] != BAR_SESSION_MIXED || options->session != SESSION_REGULAR ||
        !bars_session_regular(&f->of, out->open_time_ns[row]))
        return 0;
    if (options->keep_straddling) {
        out->session[row] = BAR_SESSION_REGULAR;
        return 0;
    }
    if (f->of.interval_ns >= DAY_NS)
        return bars_fail_at(f->r, row, -EINVAL, "bar of a whole day",
                            "a column session with the word regular, where it has the regular hours alone, "
                            "or --straddle keep, to take it as if it had");
    return bars_fail_at(f->r, row, -EINVAL, "bar straddles sessions",
                        "bars that begin with the session, not the one from %s on; or --straddle keep", when);
}

static int by_calendar(struct bars_reader *r)
{
    struct bars_file *out = &r->out;
    const struct finding f = {.r = r, .of = bars_session_of(out, r->options->calendar, out->interval_ns)};
    struct bars_fit fit;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < out->n; i++)
        rc = classify(&f, i);
    if (rc == 0)
        rc = check_only_regular(&f);
    for (size_t i = 0; rc == 0 && i < out->n; i++)
        rc = check_wanted(&f, i);
    if (rc == 0 && f.of.interval_ns < DAY_NS && bars_fit_volume(r, &fit))
        bars_fit_text(&fit, out->fits);
    return rc;
}

int bars_session_find(struct bars_reader *r)
{
    const struct trading_calendar *calendar = r->options->calendar;
    int rc = calendar && calendar->n > 0 ? by_calendar(r) : 0;
    bars_file_forget_none(&r->out);
    return rc;
}
