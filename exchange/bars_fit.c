/* Which zone, or number of hours, the times of a bars file fit. */
#include <stdio.h>
#include <stdlib.h>

#include "exchange/bars_reader.h"
#include "exchange/bars_session.h"
#include "exchange/clock.h"

#define NS_PER_S INT64_C(1000000000)

enum {
    MINUTES_MOST = 14 * 60,
    DAYS_LEAST = 5,
    SAMPLE = 100000, /* bars that are looked at, about */
    HALF_HOUR = 30,  /* minutes */
};

#define MINUTE_NS (60 * NS_PER_S)
#define NIGHT_NS  (360 * MINUTE_NS)

/* Of exchanges' and vendors' files, summer time or not. */
static const char *const zones[] = {
    "America/New_York", "UTC",           "America/Chicago", "America/Denver",   "America/Los_Angeles",
    "Etc/GMT+5",        "Etc/GMT+4",     "Etc/GMT+6",       "Europe/London",    "Europe/Berlin",
    "Asia/Tokyo",       "Asia/Shanghai", "Asia/Kolkata",    "Australia/Sydney",
};
enum { ZONES = sizeof zones / sizeof *zones };

/* Times of the file are read otherwise: in another zone, and later by some hours. */
struct other {
    const struct zone *as; /* as they were read; NULL: UTC */
    struct zone *zone;     /* NULL: as they were */
    int64_t later_s;
};

static int64_t offset_at(const struct zone *zone, int64_t s)
{
    return zone ? zone_offset(zone, s) : 0;
}

/* A bar's time, if the file is of that zone. */
static int64_t other_of(const struct other *o, int64_t ns)
{
    int64_t s = clock_whole_s(ns), other = s + o->later_s;
    if (o->zone)
        other = zone_utc(o->zone, s + offset_at(o->as, s));
    return ns + (other - s) * NS_PER_S;
}

/* And back: what such a bar's time was read as. */
static int64_t read_as(const struct other *o, int64_t ns)
{
    int64_t s = clock_whole_s(ns), read = s - o->later_s;
    if (o->zone) {
        int64_t local = s + zone_offset(o->zone, s);
        read = o->as ? zone_utc(o->as, local) : local;
    }
    return ns + (read - s) * NS_PER_S;
}

/* As if all bars began with their sessions, and without an interval were moments. */
static struct bars_session sessions_of(const struct bars_reader *r)
{
    return (struct bars_session){.calendar = r->options->calendar,
                                 .interval_ns = r->out.interval_ns > 0 ? r->out.interval_ns : 1,
                                 .by_open = true};
}

/* The share of the bars in the regular hours, of a sample of stretches between two nights; 0 where too few of
 * the days have bars at the opening and the close. */
static double share_regular(const struct bars_reader *r, const struct other *o)
{
    const struct bars_session of = sessions_of(r);
    size_t regular = 0, seen = 0, days = 0, opened = 0, closed = 0, last = SIZE_MAX, stretch = 0;
    for (size_t i = 0; i < r->out.n; i++) {
        const int64_t *times = &r->out.open_time_ns[i];
        struct session_span span;
        stretch += i > 0 && times[0] - times[-1] >= NIGHT_NS;
        if (stretch % (r->out.n / SAMPLE + 1) != 0)
            continue;
        seen++;
        int64_t ns = other_of(o, times[0]);
        if (!trading_span_at(of.calendar, SESSION_REGULAR, ns, &span) || ns < span.open_ns)
            continue;
        regular++;
        days += span.day != last;
        last = span.day;
        opened += ns == span.open_ns;
        closed += bars_session_end(&of, ns) == span.close_ns;
    }
    return opened * 2 >= days && closed * 2 >= days ? (double)regular / (double)seen : 0;
}

static double volume_at(const struct bars_file *out, int64_t ns)
{
    size_t row = bars_row_at(out->open_time_ns, out->n, ns);
    return row < out->n && out->open_time_ns[row] == ns ? out->volume[row] : 0;
}

/* The volume at openings and closes; 0 of fewer days than count. */
static double volume_of(const struct bars_reader *r, const struct other *o)
{
    const struct bars_file *out = &r->out;
    const struct bars_session of = sessions_of(r);
    struct session_span span;
    double volume = 0;
    size_t days = 0, first;
    int64_t last_ns = other_of(o, out->open_time_ns[out->n - 1]), open_ns, end_ns;
    if (!trading_span_at(of.calendar, SESSION_REGULAR, other_of(o, out->open_time_ns[0]), &span))
        return 0;
    for (first = span.day; first < of.calendar->n && of.calendar->days[first].open_ns <= last_ns; first++) {
        const struct trading_day *day = &of.calendar->days[first];
        trading_bar_span(of.calendar, of.interval_ns, day->close_ns - 1, &open_ns, &end_ns);
        double both = volume_at(out, read_as(o, day->open_ns)) + volume_at(out, read_as(o, open_ns));
        days += both > 0;
        volume += both;
    }
    return days >= DAYS_LEAST ? volume : 0;
}

/* Between the times that are tried, in minutes: longer bars than half an hour that lie by the clock would fit
 * half an hour apart, and straddle. */
static int step_of(const struct bars_reader *r)
{
    return r->out.interval_ns > HALF_HOUR * MINUTE_NS ? 60 : HALF_HOUR;
}

/* The best of all zones, where no time has its own, and hours, by a measure. Is there one that is above
 * `least` and above the times as they are? */
static bool best_of(const struct bars_reader *r,
                    double (*measure)(const struct bars_reader *, const struct other *), double least,
                    struct bars_fit *ret)
{
    struct other other = {.as = r->zone};
    char why[ZONE_ERROR_MAX];
    double best = 0;
    for (int i = 0; r->local == r->out.n && i < ZONES; i++) {
        if (zone_open(zones[i], &other.zone, why) < 0)
            continue;
        double score = measure(r, &other);
        if (score > best) {
            best = score;
            *ret = (struct bars_fit){.zone = zones[i]};
        }
        zone_close(other.zone);
        other.zone = NULL;
    }
    for (int minutes = -MINUTES_MOST; minutes <= MINUTES_MOST; minutes += step_of(r)) {
        other.later_s = (int64_t)minutes * 60;
        double score = minutes == 0 ? 0 : measure(r, &other);
        if (score > best) {
            best = score;
            *ret = (struct bars_fit){.minutes = minutes};
        }
    }
    return best >= least;
}

bool bars_fit_regular(const struct bars_reader *r, struct bars_fit *ret)
{
    const struct other as_is = {.as = r->zone};
    double already = share_regular(r, &as_is);
    return best_of(r, share_regular, already < 0.94 ? 0.99 : already + 0.05, ret);
}

/* Where a stretch of bars, [first, end), has one outside the regular hours, and others minutes later it would
 * reach from an opening to that session's close: those minutes; else 0. */
static int minutes_of_stretch(const struct bars_reader *r, size_t first, size_t end)
{
    const int64_t *times = r->out.open_time_ns;
    const struct bars_session of = sessions_of(r);
    struct session_span span;
    size_t odd = first;
    while (odd < end && r->out.session[odd] == BAR_SESSION_REGULAR)
        odd++;
    if (odd == end || end - first < 2)
        return 0;
    for (int minutes = -MINUTES_MOST; minutes <= MINUTES_MOST; minutes += step_of(r)) {
        int64_t open_ns = times[first] + minutes * MINUTE_NS, last_ns = times[end - 1] + minutes * MINUTE_NS;
        if (minutes != 0 && trading_span_at(of.calendar, SESSION_REGULAR, open_ns, &span) &&
            span.open_ns == open_ns &&
            (last_ns == span.close_ns || bars_session_end(&of, last_ns) == span.close_ns))
            return minutes;
    }
    return 0;
}

bool bars_fit_day(const struct bars_reader *r, struct bars_fit *ret, size_t *ret_row)
{
    const int64_t *times = r->out.open_time_ns;
    size_t first = 0;
    for (size_t i = 1; i <= r->out.n; i++) {
        if (i < r->out.n && times[i] - times[i - 1] < NIGHT_NS)
            continue;
        int minutes = minutes_of_stretch(r, first, i);
        if (minutes != 0) {
            if (!best_of(r, share_regular, 0.99, ret) || !ret->zone)
                *ret = (struct bars_fit){.minutes = minutes, .of_day = true};
            for (*ret_row = first; r->out.session[*ret_row] == BAR_SESSION_REGULAR;)
                ++*ret_row;
            return true;
        }
        first = i;
    }
    return false;
}

bool bars_fit_volume(const struct bars_reader *r, struct bars_fit *ret)
{
    const struct other as_is = {.as = r->zone};
    double already = volume_of(r, &as_is);
    return already > 0 && best_of(r, volume_of, 1.25 * already, ret);
}

char *bars_fit_text(const struct bars_fit *fit, char ret[static BARS_FITS_MAX])
{
    const char *way = fit->minutes < 0 ? "earlier" : "later";
    int minutes = abs(fit->minutes);
    if (fit->zone)
        snprintf(ret, BARS_FITS_MAX, "--zone %s", fit->zone);
    else if (minutes % 60 == 0)
        snprintf(ret, BARS_FITS_MAX, "times %d h %s", minutes / 60, way);
    else if (minutes < 60)
        snprintf(ret, BARS_FITS_MAX, "times %d min %s", minutes, way);
    else
        snprintf(ret, BARS_FITS_MAX, "times %d h %d min %s", minutes / 60, minutes % 60, way);
    return ret;
}
