/* Higher bars of a market with a calendar: against the frames of a strategy (engine/frame.h) and a search for
 * each session's first minute; half days, both changes of clocks, minutes that are missing; days and weeks of
 * regular sessions; a calendar that becomes known, and times that it does not reach. */
#include "daemon/timeframe.h"

#include "engine/frame.h"
#include "exchange/calendar_file.h"
#include "tests/exchange/moment.h"
#include "tests/random.h"

#define MINUTE INT64_C(60000000000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

enum { MINUTES_MAX = 40 * 24 * 60 };

static const struct trading_calendar *nyse;
static struct bar minutes[MINUTES_MAX];
static int n_minutes;

/* All minutes of sessions between two times, `missing` of 100 left out. */
static void make(struct random *random, const char *from, const char *to, int missing)
{
    int64_t price = 20000;
    n_minutes = 0;
    for (int64_t ns = at(from), end_ns = at(to); ns < end_ns; ns += MINUTE) {
        enum bar_session session = trading_session_of(nyse, ns, ns + MINUTE);
        if (session == BAR_SESSION_CLOSED || (n_minutes > 0 && random_chance(random, missing)))
            continue;
        int64_t close = price + random_between(random, -9, 9), low = close < price ? close : price;
        minutes[n_minutes++] = (struct bar){.open_ns = ns,
                                            .open = price,
                                            .high = low + 9 + random_between(random, 0, 3),
                                            .low = low - random_between(random, 0, 3),
                                            .close = close,
                                            .session = session,
                                            .volume = random_between(random, 1, 1000),
                                            .trades = 1,
                                            .first_trade_id = -1,
                                            .last_trade_id = -1};
        price = close;
    }
}

static struct indicator_bar plain(const struct bar *bar)
{
    return (struct indicator_bar){(double)bar->open,  (double)bar->high,   (double)bar->low,
                                  (double)bar->close, (double)bar->volume, frame_seconds(bar->open_ns)};
}

static bool same(const struct bar *a, const struct indicator_bar *b)
{
    const struct indicator_bar of = plain(a);
    return of.open == b->open && of.high == b->high && of.low == b->low && of.close == b->close &&
           of.volume == b->volume && of.time == b->time;
}

/* When its session's bar opens: a search for the session's first minute. */
static int64_t opens_by_search(int64_t ns, int64_t interval_ns)
{
    enum bar_session session = trading_session_of(nyse, ns, ns + MINUTE);
    int64_t first_ns = ns;
    while (trading_session_of(nyse, first_ns - MINUTE, first_ns) == session)
        first_ns -= MINUTE;
    return ns - (ns - first_ns) % interval_ns;
}

/* Below a day: each with the same minute as the strategy's; how many. */
static int check_intraday(int64_t interval_ns)
{
    struct timeframe tf;
    struct frame frame = {.interval_ns = interval_ns, .base_ns = MINUTE};
    int closed = 0, wrong = 0;
    daemon_timeframe_init(&tf, interval_ns, MINUTE);
    for (int i = 0; i < n_minutes; i++) {
        struct bar got[TIMEFRAME_CLOSED_MAX], forming;
        struct indicator_bar expected[2];
        const struct indicator_bar minute = plain(&minutes[i]);
        bool whole = daemon_timeframe_peek(&tf, nyse, &minutes[i], &forming);
        int n = daemon_timeframe_take(&tf, nyse, &minutes[i], got);
        wrong += n != (int)engine_frame_add(&frame, nyse, minutes[i].open_ns, &minute, expected);
        for (int k = 0; k < n; k++)
            wrong += !same(&got[k], &expected[k]) || !daemon_timeframe_opens(&tf, nyse, got[k].open_ns);
        wrong += !whole || forming.open_ns != opens_by_search(minutes[i].open_ns, interval_ns) ||
                 forming.session != minutes[i].session;
        wrong += daemon_timeframe_take(&tf, nyse, &minutes[i], got) != 0; /* the same again */
        closed += n;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(tf.left_out, 0);
    return closed;
}

/* From a day on: as the strategy's of the regular session, which has not seen the first one's midnight, and
 * waits for the next day to close the last one. One closes with the last minute of its sessions or, where
 * that is missing, with the next one of any. */
static int check_days(int64_t interval_ns)
{
    struct timeframe tf;
    struct frame frame = {.interval_ns = interval_ns, .base_ns = MINUTE};
    static struct indicator_bar expected[64];
    size_t n_expected = 0, n = 0, wrong = 0;
    daemon_timeframe_init(&tf, interval_ns, MINUTE);
    for (int i = 0; i < n_minutes; i++)
        if (minutes[i].session == BAR_SESSION_REGULAR) {
            const struct indicator_bar minute = plain(&minutes[i]);
            n_expected += engine_frame_add(&frame, nyse, minutes[i].open_ns, &minute, &expected[n_expected]);
        }
    for (int i = 0; i < n_minutes; i++) {
        struct bar got[TIMEFRAME_CLOSED_MAX];
        int k = daemon_timeframe_take(&tf, nyse, &minutes[i], got);
        bool regular = minutes[i].session == BAR_SESSION_REGULAR;
        bool ends = i + 1 < n_minutes && minutes[i + 1].session == BAR_SESSION_POST;
        CHECK(k <= 1);
        if (k == 0)
            continue;
        wrong += n > 0 && n <= n_expected && !same(&got[0], &expected[n - 1]);
        wrong += regular ? !ends : minutes[i - 1].session != BAR_SESSION_REGULAR;
        n++;
    }
    CHECK_INT(wrong, 0);
    CHECK(n == n_expected + 1 || n == n_expected + 2);
    return (int)n;
}

static void check_all(struct random *random)
{
    static const struct {
        const char *from, *to;
        int days, bars[4]; /* with every minute: of 1h, 2h, 4h, 12h */
    } spans[] = {
        /* 25 regular days of 6, 7, 4 hours, and a half day of 6, 4, 4; then 8 days. */
        {"2025-10-27T08:00:00Z", "2025-12-03T01:00:00Z", 26, {439, 232, 129, 78}},
        {"2026-03-04T09:00:00Z", "2026-03-14T00:00:00Z", 8, {136, 72, 40, 24}},
    };
    static const int64_t intervals[] = {HOUR, 2 * HOUR, 4 * HOUR, 12 * HOUR};
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++)
        for (int missing = 0; missing <= 60; missing += 30) {
            make(random, spans[s].from, spans[s].to, missing);
            for (size_t k = 0; k < 4; k++) {
                int n = check_intraday(intervals[k]);
                CHECK(missing > 0 || n == spans[s].bars[k]);
            }
            int days = check_days(DAY);
            CHECK(missing > 0 || days == spans[s].days);
            check_days(7 * DAY);
            check_intraday(5 * MINUTE);
        }
}

/* A half day's, by hand. */
static void check_half_day(struct random *random)
{
    static const char *const opens[] = {"09:00", "10:00", "11:00", "12:00", "13:00", "14:00", "14:30",
                                        "15:30", "16:30", "17:30", "18:00", "19:00", "20:00", "21:00"};
    struct timeframe hours, days;
    struct bar got[TIMEFRAME_CLOSED_MAX];
    int n = 0, n_days = 0;
    make(random, "2025-11-28T09:00:00Z", "2025-11-28T22:00:00Z", 0);
    CHECK_INT(n_minutes, 13 * 60);
    daemon_timeframe_init(&hours, HOUR, MINUTE);
    daemon_timeframe_init(&days, DAY, MINUTE);
    for (int i = 0; i < n_minutes; i++) {
        char text[] = "2025-11-28T00:00:00Z";
        if (daemon_timeframe_take(&hours, nyse, &minutes[i], got) > 0) {
            memcpy(text + 11, opens[n++], 5);
            CHECK_INT(got[0].open_ns, at(text));
        }
        if (daemon_timeframe_take(&days, nyse, &minutes[i], got) == 0)
            continue;
        n_days++;
        CHECK_INT(minutes[i].open_ns, at("2025-11-28T17:59:00Z"));
        CHECK_INT(got[0].open_ns, at("2025-11-28T00:00:00Z"));
        CHECK_INT(got[0].open, minutes[330].open);
        CHECK_INT(got[0].trades, 210);
    }
    CHECK_INT(n, 14);
    CHECK_INT(n_days, 1);
}

/* What closed does not depend on where a run ended: from next_ns on another gives the rest. */
static void check_ends(struct random *random, int64_t interval_ns)
{
    static struct bar whole[4096], part[4096];
    struct bar got[TIMEFRAME_CLOSED_MAX];
    struct timeframe tf;
    int n_whole = 0;
    make(random, "2025-10-30T15:00:00Z", "2025-11-05T12:00:00Z", 30);
    daemon_timeframe_init(&tf, interval_ns, MINUTE);
    for (int i = 0; i < n_minutes; i++)
        for (int k = daemon_timeframe_take(&tf, nyse, &minutes[i], got), j = 0; j < k; j++)
            whole[n_whole++] = got[j];
    for (int end = 1; end <= n_minutes; end += 71) {
        struct timeframe later;
        int n = 0;
        daemon_timeframe_init(&tf, interval_ns, MINUTE);
        for (int i = 0; i < end; i++)
            for (int k = daemon_timeframe_take(&tf, nyse, &minutes[i], got), j = 0; j < k; j++)
                part[n++] = got[j];
        daemon_timeframe_init(&later, interval_ns, MINUTE);
        later.next_ns = tf.next_ns;
        for (int i = 0; i < n_minutes; i++)
            for (int k = daemon_timeframe_take(&later, nyse, &minutes[i], got), j = 0; j < k; j++)
                part[n++] = got[j];
        CHECK_INT(n, n_whole);
        for (int i = 0; i < n && i < n_whole; i++)
            CHECK(part[i].open_ns == whole[i].open_ns && part[i].volume == whole[i].volume &&
                  part[i].close == whole[i].close);
    }
}

/* One whose beginning was not seen is left out, also when the run ends within it; the next one is formed. */
static void check_beginning(struct random *random)
{
    struct timeframe tf, later;
    struct bar got[TIMEFRAME_CLOSED_MAX];
    make(random, "2025-11-12T15:00:00Z", "2025-11-12T17:00:00Z", 0); /* the hours are from 14:30 */
    daemon_timeframe_init(&tf, HOUR, MINUTE);
    CHECK_INT(daemon_timeframe_take(&tf, nyse, &minutes[0], got), 0);
    CHECK(!daemon_timeframe_peek(&tf, nyse, &minutes[1], &got[0]));
    daemon_timeframe_init(&later, HOUR, MINUTE);
    later.next_ns = tf.next_ns;
    for (int i = 1, n = 0; i < n_minutes; i++) {
        int k = daemon_timeframe_take(&tf, nyse, &minutes[i], got);
        CHECK_INT(daemon_timeframe_take(&later, nyse, &minutes[i], got), k);
        CHECK_INT(n += k, minutes[i].open_ns >= at("2025-11-12T16:29:00Z"));
        CHECK(k == 0 || got[0].open_ns == at("2025-11-12T15:30:00Z"));
    }
    CHECK_INT(tf.left_out, 1);
}

/* Bars of days, joined to weeks; Thanksgiving's has four of them. */
static void check_weeks(void)
{
    struct timeframe tf;
    struct bar got[TIMEFRAME_CLOSED_MAX];
    int n = 0;
    daemon_timeframe_init(&tf, 7 * DAY, DAY);
    for (int64_t ns = at("2025-11-24T00:00:00Z"); ns < at("2025-12-06T00:00:00Z"); ns += DAY) {
        const struct bar day = {.open_ns = ns, .trades = 1};
        if (trading_session_of(nyse, ns + 15 * HOUR, ns + 16 * HOUR) != BAR_SESSION_REGULAR)
            continue;
        int k = daemon_timeframe_take(&tf, nyse, &day, got);
        CHECK_INT(k, ns == at("2025-11-28T00:00:00Z") || ns == at("2025-12-05T00:00:00Z"));
        CHECK(k == 0 || got[0].trades == (n++ == 0 ? 4 : 5));
    }
    CHECK_INT(n, 2);
}

/* Days that come in the middle: what the clock began is left out. Beyond them there are none. */
static void check_range(struct random *random)
{
    static const struct trading_calendar always;
    struct trading_calendar part = *nyse;
    struct timeframe tf;
    struct bar got[TIMEFRAME_CLOSED_MAX];
    int n = 0;
    make(random, "2025-11-12T14:00:00Z", "2025-11-12T15:30:00Z", 0);
    daemon_timeframe_init(&tf, HOUR, MINUTE);
    for (int i = 0; i < n_minutes; i++)
        n += daemon_timeframe_take(&tf, i < 30 ? &always : nyse, &minutes[i], got);
    CHECK_INT(n, 1);
    CHECK_INT(got[0].open_ns, at("2025-11-12T14:30:00Z"));
    CHECK_INT(tf.left_out, 1);
    CHECK(!daemon_timeframe_opens(&tf, nyse, at("2025-11-12T15:00:00Z")));
    CHECK(!daemon_timeframe_opens(&tf, nyse, at("2025-11-12T08:00:00Z")));

    make(random, "2025-11-11T09:00:00Z", "2025-11-13T01:00:00Z", 0);
    part.from_ns = at("2025-11-12T09:00:00Z");
    while (part.days->early_ns < part.from_ns)
        part.days++, part.n--;
    for (int64_t interval_ns = HOUR; interval_ns <= DAY; interval_ns += 23 * HOUR) {
        n = 0;
        daemon_timeframe_init(&tf, interval_ns, MINUTE);
        for (int i = 0; i < n_minutes; i++)
            n += daemon_timeframe_take(&tf, &part, &minutes[i], got);
        CHECK_INT(n, interval_ns == HOUR ? 17 : 1);
    }
    CHECK(daemon_timeframe_opens(&tf, &part, at("2025-11-11T08:17:00Z")));
}

int main(void)
{
    struct random random = random_seeded("daemon/timeframe_sessions", 27);
    struct calendar_file *file;
    char err[CALENDAR_ERROR_MAX];
    if (calendar_file_open("nyse", &file, err) < 0)
        return 1;
    nyse = calendar_file_view(file);
    check_all(&random);
    check_half_day(&random);
    check_ends(&random, HOUR);
    check_ends(&random, 4 * HOUR);
    check_ends(&random, DAY);
    check_beginning(&random);
    check_weeks();
    check_range(&random);
    calendar_file_close(file);
    return check_done("daemon/timeframe_sessions");
}
