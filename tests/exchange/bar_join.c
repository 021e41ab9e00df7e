/* Long bars joined from minutes by the calendar, against a search through all of a day's minutes: half days,
 * both changes of clocks, minutes that are missing, the last bar of a session; and by the clock without days.
 */
#include "exchange/bar_join.h"

#include "exchange/calendar_file.h"
#include "tests/exchange/moment.h"
#include "tests/random.h"

enum { MINUTES_MAX = 3 * 24 * 60 };

static const int64_t minute = 60000000000, half_hour = 1800000000000, hour = 3600000000000;
static const struct trading_calendar *nyse;

static struct bar minute_bar(struct random *random, int64_t open_ns)
{
    int64_t low = random_between(random, 100, 200), high = low + random_between(random, 0, 9);
    return (struct bar){.open_ns = open_ns,
                        .open = random_between(random, low, high),
                        .high = high,
                        .low = low,
                        .close = random_between(random, low, high),
                        .volume = random_between(random, 1, 1000),
                        .trades = 1,
                        .first_trade_id = -1,
                        .last_trade_id = -1};
}

/* When its long bar opens: a search for the session's first minute, without the calendar's own arithmetic. */
static int64_t opens_by_search(int64_t ns, int64_t interval_ns)
{
    enum bar_session session = trading_session_of(nyse, ns, ns + minute);
    int64_t first_ns = ns;
    while (trading_session_of(nyse, first_ns - minute, first_ns) == session)
        first_ns -= minute;
    return ns - (ns - first_ns) % interval_ns;
}

static bool same(const struct bar *a, const struct bar *b)
{
    return a->open_ns == b->open_ns && a->open == b->open && a->high == b->high && a->low == b->low &&
           a->close == b->close && a->volume == b->volume && a->trades == b->trades;
}

/* Of the minutes in sessions between two times, `missing` of 100 left out: how many long bars they are by the
 * search. In *ret_wrong how many of those that came differ, or did not come with their last minute or, where
 * it is missing, with the next bar. */
static size_t join(struct random *random, int64_t interval_ns, const char *from, const char *to, int missing,
                   unsigned *ret_wrong)
{
    static struct bar expected[MINUTES_MAX];
    struct bar_join join;
    struct bar closed[BAR_JOIN_MAX];
    size_t n = 0, came = 0;
    *ret_wrong = 0;
    bar_join_init(&join, interval_ns);
    for (int64_t ns = at(from), end_ns = at(to); ns < end_ns; ns += minute) {
        if (trading_session_of(nyse, ns, ns + minute) == BAR_SESSION_CLOSED ||
            (ns > at(from) && random_between(random, 0, 99) < missing))
            continue;
        const struct bar part = minute_bar(random, ns);
        int64_t open_ns = opens_by_search(ns, interval_ns);
        bool first = n == 0 || expected[n - 1].open_ns != open_ns;
        if (first)
            expected[n++].open_ns = open_ns;
        bar_join_merge(&expected[n - 1], &part, first);
        int k = bar_join_add(&join, nyse, &part, minute, closed);
        for (int i = 0; i < k; i++, came++)
            *ret_wrong += came >= n || !same(&closed[i], &expected[came]);
        bool last = trading_session_of(nyse, ns + minute, ns + 2 * minute) !=
                        trading_session_of(nyse, ns, ns + minute) ||
                    opens_by_search(ns + minute, interval_ns) != open_ns;
        *ret_wrong += came != (last ? n : n - 1);
    }
    return n;
}

/* Two days each: regular ones, one beside a half day, and both changes of clocks over a weekend. */
static void test_days(struct random *random)
{
    static const struct {
        const char *from, *to;
        size_t bars[4]; /* of 30m, 1h, 2h, 4h */
    } days[] = {
        {"2025-11-12T09:00:00Z", "2025-11-14T09:00:00Z", {64, 34, 18, 10}}, /* 5.5, 6.5 and 4 h */
        {"2025-11-26T09:00:00Z", "2025-11-28T23:00:00Z", {58, 31, 16, 9}},  /* the second: 5.5, 3.5 and 4 h */
        {"2025-10-31T08:00:00Z", "2025-11-04T09:00:00Z", {64, 34, 18, 10}},
        {"2026-03-06T09:00:00Z", "2026-03-10T08:00:00Z", {64, 34, 18, 10}},
    };
    static const int64_t intervals[] = {1800000000000, 3600000000000, 7200000000000, 14400000000000};
    for (size_t d = 0; d < sizeof days / sizeof *days; d++)
        for (size_t k = 0; k < 4; k++) {
            unsigned wrong;
            CHECK_INT(join(random, intervals[k], days[d].from, days[d].to, 0, &wrong), days[d].bars[k]);
            CHECK_INT(wrong, 0);
            CHECK_INT(join(random, intervals[k], days[d].from, days[d].to, 20, &wrong), days[d].bars[k]);
            CHECK_INT(wrong, 0);
        }
}

/* With minutes missing a bar comes with its last minute or, without that, with the next bar's first. */
static void test_missing(struct random *random)
{
    struct bar_join join;
    struct bar closed[BAR_JOIN_MAX];
    const int64_t open_ns = at("2025-11-28T17:30:00Z"),
                  close_ns = open_ns + half_hour; /* a half day's last */
    bar_join_init(&join, hour);
    for (int64_t ns = open_ns; ns < close_ns - minute; ns += minute * random_between(random, 1, 5)) {
        const struct bar part = minute_bar(random, ns);
        CHECK_INT(bar_join_add(&join, nyse, &part, minute, closed), 0);
    }
    struct bar part = minute_bar(random, close_ns + 5 * minute);
    CHECK_INT(bar_join_add(&join, nyse, &part, minute, closed), 1);
    CHECK_INT(closed[0].open_ns, open_ns);
    CHECK_INT(join.bar.open_ns, close_ns);
    part = minute_bar(random, close_ns - minute); /* late: its bar was returned */
    CHECK_INT(bar_join_add(&join, nyse, &part, minute, closed), 0);
    CHECK_INT(join.bar.trades, 1);
}

/* A bar whose first minutes were not seen is none; the next session's is one again. */
static void test_interrupted(struct random *random)
{
    struct bar_join join;
    struct bar closed[BAR_JOIN_MAX];
    int n = 0;
    bar_join_init(&join, hour);
    for (int64_t ns = at("2025-11-12T20:40:00Z"); ns < at("2025-11-12T21:00:00Z"); ns += minute) {
        const struct bar part = minute_bar(random, ns);
        n += bar_join_add(&join, nyse, &part, minute, closed);
    }
    CHECK_INT(n, 0);
    for (int64_t ns = at("2025-11-12T21:00:00Z"); ns < at("2025-11-12T22:00:00Z"); ns += minute) {
        const struct bar part = minute_bar(random, ns);
        n += bar_join_add(&join, nyse, &part, minute, closed);
    }
    CHECK_INT(n, 1);
    CHECK_INT(closed[0].open_ns, at("2025-11-12T21:00:00Z"));
}

/* Without days, and of a day: by the clock. */
static void test_clock(struct random *random)
{
    static const struct trading_calendar none;
    const struct bar first = minute_bar(random, at("2025-11-12T14:30:00Z")),
                     second = minute_bar(random, at("2025-11-12T15:00:00Z"));
    struct bar closed[BAR_JOIN_MAX];
    struct bar_join join;
    bar_join_init(&join, hour);
    CHECK_INT(bar_join_add(&join, &none, &first, minute, closed), 0);
    CHECK_INT(join.bar.open_ns, at("2025-11-12T14:00:00Z"));
    CHECK_INT(bar_join_add(&join, &none, &second, minute, closed), 0); /* its start was not seen */
    CHECK_INT(join.bar.open_ns, second.open_ns);
    bar_join_init(&join, 24 * hour);
    CHECK_INT(bar_join_add(&join, nyse, &first, minute, closed), 0);
    CHECK_INT(join.bar.open_ns, at("2025-11-12T00:00:00Z"));
}

/* Days that come within a bar: what began by the clock ends where the session's bar begins. */
static void test_days_come(struct random *random)
{
    static const struct trading_calendar none;
    struct bar closed[BAR_JOIN_MAX];
    struct bar_join join;
    struct bar part = minute_bar(random, at("2025-11-12T14:00:00Z"));
    bar_join_init(&join, hour);
    CHECK_INT(bar_join_add(&join, &none, &part, minute, closed), 0);
    part = minute_bar(random, at("2025-11-12T14:30:00Z"));
    CHECK_INT(bar_join_add(&join, nyse, &part, minute, closed), 1);
    CHECK_INT(closed[0].open_ns, at("2025-11-12T14:00:00Z"));
    CHECK_INT(join.bar.open_ns, part.open_ns);
    part = minute_bar(random, at("2025-11-12T15:29:00Z"));
    CHECK_INT(bar_join_add(&join, nyse, &part, minute, closed), 1);
    CHECK_INT(closed[0].open_ns, at("2025-11-12T14:30:00Z"));
    CHECK_INT(closed[0].trades, 2);
}

int main(void)
{
    struct calendar_file *file;
    char err[CALENDAR_ERROR_MAX];
    struct random random = random_seeded("bar_join", 27);
    if (calendar_file_open("nyse", &file, err) < 0)
        return 1;
    nyse = calendar_file_view(file);
    test_days(&random);
    test_missing(&random);
    test_interrupted(&random);
    test_clock(&random);
    test_days_come(&random);
    calendar_file_close(file);
    return check_done("bar_join");
}
