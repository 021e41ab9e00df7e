#include "exchange/trading_calendar.h"

#include <endian.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

const char *const session_choice_names[SESSION_CHOICES] = {"all", "regular", "extended"};

int trading_calendar_copy(const struct trading_calendar *calendar, struct trading_calendar *ret)
{
    struct trading_day *days = calloc(calendar->n + 1, sizeof *days);
    if (!days)
        return -ENOMEM;
    if (calendar->n > 0)
        memcpy(days, calendar->days, calendar->n * sizeof *days);
    *ret = *calendar;
    ret->days = days;
    return 0;
}

void trading_calendar_forget(struct trading_calendar *copy)
{
    free((void *)(uintptr_t)copy->days);
    copy->days = NULL;
    copy->n = 0;
}

bool trading_calendar_covers(const struct trading_calendar *calendar, int64_t open_ns, int64_t end_ns)
{
    return calendar->n == 0 || (open_ns >= calendar->from_ns && end_ns <= calendar->to_ns);
}

static size_t day_at(const struct trading_calendar *calendar, int64_t ns)
{
    return trading_days_find(calendar->days, calendar->n, ns);
}

/* The session that holds ns, from *ret_open_ns to *ret_end_ns; CLOSED ones last from a day to the next. */
static enum bar_session session_at(const struct trading_calendar *calendar, int64_t ns, int64_t *ret_open_ns,
                                   int64_t *ret_end_ns)
{
    size_t at = day_at(calendar, ns);
    const struct trading_day *day = at < calendar->n ? &calendar->days[at] : NULL;
    if (!day || ns < day->early_ns) {
        *ret_open_ns = at > 0 ? calendar->days[at - 1].late_ns : calendar->from_ns;
        *ret_end_ns = day ? day->early_ns : calendar->to_ns;
        return BAR_SESSION_CLOSED;
    }
    bool pre = ns < day->open_ns, post = ns >= day->close_ns;
    *ret_open_ns = pre ? day->early_ns : post ? day->close_ns : day->open_ns;
    *ret_end_ns = pre ? day->open_ns : post ? day->late_ns : day->close_ns;
    return pre ? BAR_SESSION_PRE : post ? BAR_SESSION_POST : BAR_SESSION_REGULAR;
}

enum bar_session trading_session_of(const struct trading_calendar *calendar, int64_t open_ns, int64_t end_ns)
{
    int64_t from_ns, to_ns;
    if (calendar->n == 0 || !trading_calendar_covers(calendar, open_ns, end_ns))
        return BAR_SESSION_NONE;
    enum bar_session session = session_at(calendar, open_ns, &from_ns, &to_ns);
    return end_ns <= to_ns ? session : BAR_SESSION_MIXED;
}

bool session_takes(enum session_choice choice, enum bar_session session)
{
    if (choice == SESSION_ALL || session == BAR_SESSION_NONE)
        return true;
    return session == BAR_SESSION_REGULAR || (choice == SESSION_EXTENDED && session != BAR_SESSION_CLOSED);
}

static struct session_span span_of(const struct trading_calendar *calendar, enum session_choice choice,
                                   size_t at)
{
    const struct trading_day *day = &calendar->days[at];
    bool extended = choice == SESSION_EXTENDED;
    return (struct session_span){.open_ns = extended ? day->early_ns : day->open_ns,
                                 .close_ns = extended ? day->late_ns : day->close_ns,
                                 .day = at};
}

bool trading_span_at(const struct trading_calendar *calendar, enum session_choice choice, int64_t ns,
                     struct session_span *ret)
{
    size_t at = day_at(calendar, ns);
    if (choice == SESSION_ALL || at == calendar->n || ns < calendar->from_ns)
        return false;
    *ret = span_of(calendar, choice, at);
    if (ns < ret->close_ns)
        return true;
    if (at + 1 == calendar->n)
        return false;
    *ret = span_of(calendar, choice, at + 1);
    return true;
}

void trading_bar_span(const struct trading_calendar *calendar, int64_t interval_ns, int64_t ns,
                      int64_t *ret_open_ns, int64_t *ret_end_ns)
{
    int64_t from_ns, to_ns;
    *ret_open_ns = bar_open_time(ns, interval_ns);
    *ret_end_ns = bar_end_time(*ret_open_ns, interval_ns);
    if (calendar->n == 0 || interval_ns >= BAR_DAY_NS || !trading_calendar_covers(calendar, ns, ns + 1) ||
        session_at(calendar, ns, &from_ns, &to_ns) == BAR_SESSION_CLOSED)
        return;
    *ret_open_ns = ns - (ns - from_ns) % interval_ns;
    *ret_end_ns = *ret_open_ns + interval_ns < to_ns ? *ret_open_ns + interval_ns : to_ns;
}

int64_t trading_bar_end(const struct trading_calendar *calendar, int64_t interval_ns, int64_t open_ns)
{
    int64_t begin_ns, end_ns;
    trading_bar_span(calendar, interval_ns, open_ns, &begin_ns, &end_ns);
    return begin_ns == open_ns ? end_ns : bar_end_time(open_ns, interval_ns);
}

bool trading_long_span(const struct trading_calendar *calendar, int64_t interval_ns, size_t day,
                       struct long_span *ret)
{
    const struct trading_day *days = calendar->days;
    int64_t open_ns = bar_open_time(days[day].open_ns, interval_ns),
            end_ns = bar_end_time(open_ns, interval_ns);
    size_t first = day, last = day;
    while (first > 0 && days[first - 1].open_ns >= open_ns)
        first--;
    while (last + 1 < calendar->n && days[last + 1].open_ns < end_ns)
        last++;
    bool ends = calendar->to_ns > end_ns - BAR_DAY_NS;
    *ret = (struct long_span){open_ns, days[first].open_ns, ends ? days[last].close_ns : end_ns};
    return calendar->from_ns < open_ns + BAR_DAY_NS;
}

bool trading_is_last(const struct trading_calendar *calendar, enum session_choice choice, int64_t open_ns,
                     int64_t interval_ns)
{
    struct session_span span;
    if (!trading_span_at(calendar, choice, open_ns, &span) || open_ns < span.open_ns)
        return false;
    return bar_end_time(open_ns, interval_ns) >= span.close_ns;
}

/* Bars of one stretch that open before ns. */
static int64_t bars_before(int64_t open_ns, int64_t close_ns, int64_t interval_ns, int64_t ns)
{
    int64_t end_ns = ns < close_ns ? ns : close_ns;
    return end_ns <= open_ns ? 0 : (end_ns - open_ns + interval_ns - 1) / interval_ns;
}

static int64_t day_bars_before(const struct trading_day *day, enum session_choice choice, int64_t interval_ns,
                               int64_t ns)
{
    int64_t n = bars_before(day->open_ns, day->close_ns, interval_ns, ns);
    if (choice == SESSION_EXTENDED)
        n += bars_before(day->early_ns, day->open_ns, interval_ns, ns) +
             bars_before(day->close_ns, day->late_ns, interval_ns, ns);
    return n;
}

/* Bars of a day or longer that a session opens in: any of them is one, whatever hours it has. */
static int64_t long_bars_between(const struct trading_calendar *calendar, int64_t interval_ns,
                                 int64_t from_ns, int64_t to_ns)
{
    int64_t n = 0, end_ns = from_ns;
    for (size_t at = day_at(calendar, from_ns); at < calendar->n && calendar->days[at].open_ns < to_ns;
         at++) {
        int64_t open_ns = calendar->days[at].open_ns;
        if (open_ns < end_ns)
            continue;
        end_ns = interval_ns == BAR_MONTH_NS ? bar_end_time(open_ns, interval_ns)
                                             : open_ns - (open_ns - from_ns) % interval_ns + interval_ns;
        n++;
    }
    return n;
}

static int64_t bars_by_clock(int64_t interval_ns, int64_t from_ns, int64_t to_ns)
{
    int64_t n = 0;
    if (interval_ns != BAR_MONTH_NS)
        return (to_ns - from_ns + interval_ns - 1) / interval_ns;
    for (; from_ns < to_ns; from_ns = bar_end_time(from_ns, interval_ns))
        n++;
    return n;
}

int64_t trading_bars_between(const struct trading_calendar *calendar, enum session_choice choice,
                             int64_t interval_ns, int64_t from_ns, int64_t to_ns)
{
    int64_t n = 0;
    if (calendar->n == 0 || choice == SESSION_ALL)
        return bars_by_clock(interval_ns, from_ns, to_ns);
    if (!trading_calendar_covers(calendar, from_ns, to_ns))
        return -1;
    if (interval_ns >= BAR_DAY_NS)
        return long_bars_between(calendar, interval_ns, from_ns, to_ns);
    for (size_t at = day_at(calendar, from_ns); at < calendar->n && calendar->days[at].early_ns < to_ns; at++)
        n += day_bars_before(&calendar->days[at], choice, interval_ns, to_ns) -
             day_bars_before(&calendar->days[at], choice, interval_ns, from_ns);
    return n;
}

bool trading_next_bar(const struct trading_calendar *calendar, enum session_choice choice,
                      int64_t interval_ns, int64_t open_ns, int64_t *ret_ns)
{
    struct session_span span;
    int64_t start_ns, end_ns = bar_end_time(open_ns, interval_ns);
    *ret_ns = end_ns;
    if (calendar->n == 0 || choice == SESSION_ALL)
        return true;
    trading_bar_span(calendar, interval_ns, open_ns, &start_ns, &end_ns);
    if (!trading_span_at(calendar, choice, end_ns, &span))
        return false;
    *ret_ns = end_ns > span.open_ns ? end_ns : span.open_ns;
    return true;
}

static bool on_one_grid(const struct trading_calendar *calendar, enum session_choice choice, int64_t from_ns,
                        int64_t to_ns, int64_t interval_ns)
{
    size_t first = day_at(calendar, from_ns);
    for (size_t i = first; i < calendar->n && calendar->days[i].early_ns < to_ns; i++) {
        const struct trading_day *day = &calendar->days[i];
        int64_t since_ns = calendar->days[first].open_ns;
        bool others = choice != SESSION_REGULAR && ((day->early_ns - since_ns) % interval_ns != 0 ||
                                                    (day->close_ns - since_ns) % interval_ns != 0);
        if (others || (day->open_ns - since_ns) % interval_ns != 0)
            return false;
    }
    return true;
}

const struct bar_interval *trading_grid_interval(const struct trading_calendar *calendar,
                                                 enum session_choice choice, int64_t from_ns, int64_t to_ns,
                                                 int64_t below_ns)
{
    size_t i = BAR_INTERVALS;
    while (i > 0 && bar_intervals[i - 1].ns >= below_ns)
        i--;
    while (i > 1 && !on_one_grid(calendar, choice, from_ns, to_ns, bar_intervals[i - 1].ns))
        i--;
    return &bar_intervals[i > 0 ? i - 1 : 0];
}

int trading_calendar_hash(const struct trading_calendar *calendar, uint8_t ret[static CALENDAR_HASH_SIZE])
{
    uint64_t *words = malloc((2 + 4 * calendar->n) * sizeof *words);
    if (!words)
        return -ENOMEM;
    words[0] = htole64((uint64_t)calendar->from_ns);
    words[1] = htole64((uint64_t)calendar->to_ns);
    for (size_t i = 0; i < calendar->n; i++) {
        const struct trading_day *day = &calendar->days[i];
        const int64_t times[] = {day->early_ns, day->open_ns, day->close_ns, day->late_ns};
        for (size_t k = 0; k < 4; k++)
            words[2 + 4 * i + k] = htole64((uint64_t)times[k]);
    }
    size_t size = (2 + 4 * calendar->n) * sizeof *words;
    int done = EVP_Digest(words, size, ret, NULL, EVP_sha256(), NULL);
    free(words);
    return done == 1 ? 0 : -ENOMEM;
}
