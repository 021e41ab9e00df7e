/* Sessions, spans and distances by the calendar, against a search of every day; the range and the hash. */
#include "exchange/trading_calendar.h"

#include <errno.h>

#include "exchange/calendar_file.h"
#include "tests/counts.h"
#include "tests/exchange/moment.h"
#include "tests/random.h"

enum { ROUNDS = 20000, OPENS_MAX = 40000 };

static int rounds;

#define DAY (24 * hour)

static const int64_t minute = 60000000000, hour = 3600000000000;
static struct calendar_file *file;
static const struct trading_calendar *nyse;

/* By a look at every day. */
static enum bar_session session_by_search(int64_t ns)
{
    for (size_t i = 0; i < nyse->n; i++) {
        const struct trading_day *day = &nyse->days[i];
        if (ns >= day->early_ns && ns < day->late_ns)
            return ns < day->open_ns    ? BAR_SESSION_PRE
                   : ns < day->close_ns ? BAR_SESSION_REGULAR
                                        : BAR_SESSION_POST;
    }
    return BAR_SESSION_CLOSED;
}

/* A moment near a border of a day, or anywhere. */
static int64_t moment(struct random *random)
{
    const struct trading_day *day = &nyse->days[random_between(random, 0, (int64_t)nyse->n - 1)];
    const int64_t borders[] = {day->early_ns, day->open_ns, day->close_ns, day->late_ns};
    int64_t border = borders[random_between(random, 0, 3)];
    return random_between(random, 0, 2) ? border + random_between(random, -3, 3) * minute / 2
                                        : random_between(random, nyse->from_ns, nyse->to_ns - 1);
}

static void test_sessions(struct random *random)
{
    static const int64_t lengths[] = {1, 60000000000, 300000000000, 1800000000000, 14400000000000};
    unsigned long wrong = 0;
    for (int i = 0; i < rounds / 10; i++) {
        int64_t open_ns = moment(random), end_ns = open_ns + lengths[random_between(random, 0, 4)];
        enum bar_session first = session_by_search(open_ns), session = first;
        for (int64_t ns = open_ns; ns < end_ns; ns += minute / 2) /* borders are at whole minutes */
            if (session_by_search(ns) != first)
                session = BAR_SESSION_MIXED;
        if (session_by_search(end_ns - 1) != first)
            session = BAR_SESSION_MIXED;
        if (trading_calendar_covers(nyse, open_ns, end_ns))
            wrong += trading_session_of(nyse, open_ns, end_ns) != session;
    }
    CHECK_INT(wrong, 0);
}

static void test_spans(struct random *random)
{
    unsigned long wrong = 0;
    for (int i = 0; i < rounds / 10; i++) {
        bool extended = random_between(random, 0, 1);
        enum session_choice choice = extended ? SESSION_EXTENDED : SESSION_REGULAR;
        int64_t ns = moment(random);
        struct session_span span = {0};
        size_t day = 0;
        while (day < nyse->n && ns >= (extended ? nyse->days[day].late_ns : nyse->days[day].close_ns))
            day++;
        bool found = trading_span_at(nyse, choice, ns, &span);
        wrong += found != (day < nyse->n);
        if (found)
            wrong += span.day != day ||
                     span.open_ns != (extended ? nyse->days[day].early_ns : nyse->days[day].open_ns) ||
                     span.close_ns != (extended ? nyse->days[day].late_ns : nyse->days[day].close_ns);
        wrong += trading_span_at(nyse, SESSION_ALL, ns, &span);
    }
    CHECK_INT(wrong, 0);
}

/* Adds the openings of a session's bars. */
static size_t add_opens(int64_t *opens, size_t n, int64_t from_ns, int64_t to_ns, int64_t interval_ns)
{
    for (; from_ns < to_ns; from_ns += interval_ns)
        opens[n++] = from_ns;
    return n;
}

/* All openings of some days, in order. */
static size_t list_opens(size_t first, size_t days, bool extended, int64_t interval_ns, int64_t *opens)
{
    size_t n = 0;
    for (size_t i = first; i < first + days; i++) {
        const struct trading_day *day = &nyse->days[i];
        if (extended)
            n = add_opens(opens, n, day->early_ns, day->open_ns, interval_ns);
        n = add_opens(opens, n, day->open_ns, day->close_ns, interval_ns);
        if (extended)
            n = add_opens(opens, n, day->close_ns, day->late_ns, interval_ns);
    }
    return n;
}

static void test_bars(struct random *random)
{
    static const int64_t intervals[] = {1, 5, 15, 30, 60, 120, 240};
    static int64_t opens[OPENS_MAX];
    unsigned long wrong = 0;
    for (int i = 0; i < rounds / 50; i++) {
        size_t first = (size_t)random_between(random, 0, (int64_t)nyse->n - 30);
        bool extended = random_between(random, 0, 1);
        enum session_choice choice = extended ? SESSION_EXTENDED : SESSION_REGULAR;
        int64_t interval_ns = intervals[random_between(random, 0, 6)] * minute;
        size_t n = list_opens(first, 25, extended, interval_ns, opens);
        for (int k = 0; k < 50; k++) {
            size_t from = (size_t)random_between(random, 0, (int64_t)n - 1), to = from;
            int64_t to_ns = opens[from] + random_between(random, 0, 20 * 24 * 60) * minute, open_ns, end_ns;
            while (to < n && opens[to] < to_ns)
                to++;
            if (to < n)
                wrong += trading_bars_between(nyse, choice, interval_ns, opens[from], to_ns) !=
                         (int64_t)(to - from);
            /* The bar that holds a moment of it is itself; its session is one. */
            trading_bar_span(nyse, interval_ns, opens[from] + random_between(random, 0, minute - 1), &open_ns,
                             &end_ns);
            wrong += open_ns != opens[from] || end_ns <= open_ns || end_ns - open_ns > interval_ns ||
                     trading_session_of(nyse, open_ns, end_ns) == BAR_SESSION_MIXED;
            wrong += trading_bar_end(nyse, interval_ns, open_ns) != end_ns;
            bool last = from + 1 < n && opens[from + 1] - opens[from] > 8 * hour;
            if (from + 1 < n)
                wrong += trading_is_last(nyse, choice, opens[from], interval_ns) != last;
        }
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(trading_bars_between(nyse, SESSION_ALL, 5 * minute, 0, hour), 12);
}

/* Bars of a day at midnight UTC and in New York, of any choice, and of weeks: Thanksgiving is one of five. */
static void test_long_bars(void)
{
    static const char *const from[] = {"2025-11-24T00:00:00Z", "2025-11-24T05:00:00Z",
                                       "2025-11-24T14:30:00Z"};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        int64_t from_ns = at(from[i]);
        for (int days = 1; days <= 14; days++) {
            int expected = days <= 3 ? days : days == 4 ? 3 : days <= 7 ? 4 : days <= 12 ? days - 3 : 9;
            CHECK_INT(trading_bars_between(nyse, SESSION_REGULAR, DAY, from_ns, from_ns + days * DAY),
                      expected);
            CHECK_INT(trading_bars_between(nyse, SESSION_EXTENDED, DAY, from_ns, from_ns + days * DAY),
                      expected);
        }
        CHECK_INT(trading_bars_between(nyse, SESSION_EXTENDED, 7 * DAY, from_ns, from_ns + 14 * DAY), 2);
    }
}

/* The bar of days that holds a day's opening: from its first regular session to its last one's close. */
static void check_long(const struct trading_calendar *calendar, int64_t interval_ns, const char *open,
                       const char *from, const char *till)
{
    struct session_span day;
    struct long_span span;
    CHECK(trading_span_at(calendar, SESSION_REGULAR, at(from), &day));
    CHECK(trading_long_span(calendar, interval_ns, day.day, &span));
    CHECK_INT(span.open_ns, at(open));
    CHECK_INT(span.from_ns, at(from));
    CHECK_INT(span.till_ns, at(till));
}

static void test_long_spans(void)
{
    struct trading_calendar part = *nyse;
    struct long_span span;
    size_t first = 0, end;
    check_long(nyse, DAY, "2025-11-26T00:00:00Z", "2025-11-26T14:30:00Z", "2025-11-26T21:00:00Z");
    check_long(nyse, DAY, "2025-11-28T00:00:00Z", "2025-11-28T14:30:00Z", "2025-11-28T18:00:00Z");
    check_long(nyse, DAY, "2025-10-31T00:00:00Z", "2025-10-31T13:30:00Z", "2025-10-31T20:00:00Z");
    check_long(nyse, 7 * DAY, "2025-11-24T00:00:00Z", "2025-11-24T14:30:00Z", "2025-11-28T18:00:00Z");
    check_long(nyse, 7 * DAY, "2025-09-01T00:00:00Z", "2025-09-02T13:30:00Z", "2025-09-05T20:00:00Z");
    /* Of days that are known from a Wednesday to the next Tuesday. */
    while (part.days[first].early_ns < at("2025-11-05T00:00:00Z"))
        first++;
    for (end = first; part.days[end].early_ns < at("2025-11-12T00:00:00Z");)
        end++;
    part.days += first;
    part.n = end - first;
    part.from_ns = part.days[0].early_ns;
    part.to_ns = part.days[part.n - 1].late_ns;
    check_long(&part, DAY, "2025-11-05T00:00:00Z", "2025-11-05T14:30:00Z", "2025-11-05T21:00:00Z");
    check_long(&part, DAY, "2025-11-11T00:00:00Z", "2025-11-11T14:30:00Z", "2025-11-11T21:00:00Z");
    CHECK(!trading_long_span(&part, 7 * DAY, 0, &span));
    check_long(&part, 7 * DAY, "2025-11-10T00:00:00Z", "2025-11-10T14:30:00Z", "2025-11-17T00:00:00Z");
}

/* Months, whatever their lengths: one after the other, from the first of January 2019 on, each with sessions.
 */
static void test_months(void)
{
    const int64_t from_ns = at("2019-01-01T00:00:00Z");
    int64_t begin_ns = from_ns, next_ns = 0;
    struct trading_calendar always = {.n = 0};
    for (int64_t n = 1; n <= 84; n++) {
        const int64_t end_ns = bar_end_time(begin_ns, BAR_MONTH_NS);
        struct session_span first;
        struct long_span span;
        size_t last = 0;
        CHECK(end_ns - begin_ns >= 28 * DAY && end_ns - begin_ns <= 31 * DAY);
        CHECK_INT(trading_bars_between(nyse, SESSION_REGULAR, BAR_MONTH_NS, from_ns, end_ns), n);
        CHECK_INT(trading_bars_between(nyse, SESSION_ALL, BAR_MONTH_NS, from_ns, end_ns), n);
        CHECK(trading_next_bar(&always, SESSION_ALL, BAR_MONTH_NS, begin_ns, &next_ns) && next_ns == end_ns);
        CHECK(trading_span_at(nyse, SESSION_REGULAR, begin_ns, &first));
        for (size_t i = 0; i < nyse->n; i++)
            if (nyse->days[i].open_ns < end_ns)
                last = i;
        CHECK(trading_long_span(nyse, BAR_MONTH_NS, first.day + 3, &span));
        CHECK(span.open_ns == begin_ns && span.from_ns == first.open_ns &&
              span.till_ns == nyse->days[last].close_ns);
        begin_ns = end_ns;
    }
}

static void test_range(void)
{
    struct session_span span;
    CHECK_INT(nyse->from_ns, at("2000-01-01T05:00:00Z"));
    CHECK_INT(nyse->to_ns, at("2028-01-01T05:00:00Z"));
    CHECK(trading_calendar_covers(nyse, nyse->from_ns, nyse->to_ns));
    CHECK(!trading_calendar_covers(nyse, nyse->from_ns - 1, nyse->to_ns));
    CHECK(!trading_calendar_covers(nyse, nyse->from_ns, nyse->to_ns + 1));
    CHECK_INT(trading_session_of(nyse, nyse->from_ns - minute, nyse->from_ns), BAR_SESSION_NONE);
    CHECK_INT(trading_session_of(nyse, nyse->to_ns, nyse->to_ns + 1), BAR_SESSION_NONE);
    CHECK_INT(trading_session_of(nyse, nyse->from_ns, nyse->from_ns + 1), BAR_SESSION_CLOSED);
    CHECK_INT(trading_bars_between(nyse, SESSION_REGULAR, minute, nyse->from_ns - 1, nyse->to_ns), -1);
    CHECK(!trading_span_at(nyse, SESSION_REGULAR, nyse->from_ns - 1, &span));
    CHECK(!trading_span_at(nyse, SESSION_REGULAR, at("2027-12-31T21:00:00Z"), &span));
    CHECK(trading_span_at(nyse, SESSION_EXTENDED, at("2027-12-31T21:00:00Z"), &span));
}

static void test_always(void)
{
    char err[CALENDAR_ERROR_MAX];
    struct calendar_file *always;
    struct session_span span;
    int64_t open_ns, end_ns;
    CHECK_INT(calendar_file_open("24x7", &always, err), 0);
    const struct trading_calendar *calendar = calendar_file_view(always);
    CHECK_STR(calendar->name, "24x7");
    CHECK_INT(calendar->n, 0);
    CHECK(trading_calendar_covers(calendar, INT64_MIN, INT64_MAX));
    CHECK_INT(trading_session_of(calendar, 0, hour), BAR_SESSION_NONE);
    CHECK(!trading_span_at(calendar, SESSION_REGULAR, 0, &span));
    CHECK_INT(trading_bars_between(calendar, SESSION_REGULAR, minute, 0, hour), 60);
    trading_bar_span(calendar, hour, 90 * minute, &open_ns, &end_ns);
    CHECK_INT(open_ns, hour);
    CHECK_INT(end_ns, 2 * hour);
    for (int s = 0; s < BAR_SESSIONS; s++) {
        CHECK_INT(session_takes(SESSION_ALL, (enum bar_session)s), true);
        CHECK_INT(session_takes(SESSION_REGULAR, (enum bar_session)s),
                  s == BAR_SESSION_NONE || s == BAR_SESSION_REGULAR);
        CHECK_INT(session_takes(SESSION_EXTENDED, (enum bar_session)s), s != BAR_SESSION_CLOSED);
    }
    calendar_file_close(always);
}

/* Regular sessions begin 24 hours apart, an hour more or less over a change of clocks; 04:00, 9:30, 16:00 and
 * 13:00 are apart by half hours. */
static void test_grid(void)
{
    const int64_t november = at("2025-11-05T00:00:00Z"), october = at("2025-10-29T00:00:00Z"),
                  end = at("2025-11-14T00:00:00Z"), day = 24 * hour;
    CHECK_STR(trading_grid_interval(nyse, SESSION_REGULAR, november, end, day)->name, "12h");
    CHECK_STR(trading_grid_interval(nyse, SESSION_REGULAR, october, end, day)->name, "1h");
    CHECK_STR(trading_grid_interval(nyse, SESSION_REGULAR, october, end, hour)->name, "30m");
    CHECK_STR(trading_grid_interval(nyse, SESSION_EXTENDED, november, end, day)->name, "30m");
    CHECK_STR(trading_grid_interval(nyse, SESSION_ALL, october, end, 2 * hour)->name, "30m");
    CHECK_STR(trading_grid_interval(nyse, SESSION_ALL, october, end, 1)->name, "1s");
}

static void test_hash(void)
{
    uint8_t hash[CALENDAR_HASH_SIZE], other[CALENDAR_HASH_SIZE];
    struct trading_calendar shorter = *nyse, named = *nyse;
    CHECK_INT(trading_calendar_hash(nyse, hash), 0);
    shorter.n--;
    CHECK_INT(trading_calendar_hash(&shorter, other), 0);
    CHECK(memcmp(hash, other, sizeof hash) != 0);
    strcpy(named.name, "other");
    CHECK_INT(trading_calendar_hash(&named, other), 0);
    CHECK(memcmp(hash, other, sizeof hash) == 0);
}

int main(void)
{
    struct random random = random_seeded("trading_calendar", 20261125);
    rounds = counts_of("rounds", ROUNDS, ROUNDS / 4);
    char err[CALENDAR_ERROR_MAX];
    CHECK_INT(calendar_file_open("nyse", &file, err), 0);
    if (!file)
        return check_done("trading_calendar");
    nyse = calendar_file_view(file);
    test_sessions(&random);
    test_spans(&random);
    test_bars(&random);
    test_long_bars();
    test_long_spans();
    test_months();
    test_range();
    test_always();
    test_grid();
    test_hash();
    calendar_file_close(file);
    return check_done("trading_calendar");
}
