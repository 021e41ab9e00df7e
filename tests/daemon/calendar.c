/* A calendar through months of synthetic days: a weekend, a half day, a clock that jumps, days that come
 * late; each against what trading_days_at() says of the moment. */
#include "daemon/feed/calendar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/random.h"

static struct random rng;

static uint64_t random_below(uint64_t n)
{
    return random_next(&rng) % n;
}

#define HOUR 3600000000000LL
#define DAY  (24 * HOUR)

enum { DAYS = 400 };

static struct trading_day days[DAYS];
static size_t n_days;

/* Monday to Friday from a Monday on: 4:00, 9:30, 16:00 (13:00 on each 23rd), 20:00. */
static void make_days(void)
{
    for (int64_t day = 0; n_days < DAYS; day++) {
        int64_t at = day * DAY;
        if (day % 7 >= 5)
            continue;
        bool half = n_days % 23 == 22;
        days[n_days++] = (struct trading_day){at + 4 * HOUR, at + 9 * HOUR + HOUR / 2,
                                              at + (half ? 13 : 16) * HOUR, at + (half ? 17 : 20) * HOUR};
    }
}

static void test_week(void)
{
    struct calendar calendar;
    int64_t at = 0;
    feed_calendar_init(&calendar, "us-equity", false);
    CHECK(!feed_calendar_step(&calendar, 0, &at)); /* no days: the phase is unknown */
    CHECK_INT(feed_calendar_take(&calendar, days, 30), 0);
    CHECK(feed_calendar_step(&calendar, 3 * DAY + 10 * HOUR, &at));
    CHECK_INT(calendar.now.phase, MARKET_PHASE_OPEN);
    CHECK_INT(calendar.now.next_ns, 3 * DAY + 16 * HOUR);
    CHECK(!feed_calendar_step(&calendar, 3 * DAY + 16 * HOUR - 1, &at));
    /* From Thursday noon to Monday noon in one step of the clock: nothing between is left out. */
    static const enum market_phase phases[] = {MARKET_PHASE_LATE,  MARKET_PHASE_CLOSED, MARKET_PHASE_EARLY,
                                               MARKET_PHASE_OPEN,  MARKET_PHASE_LATE,   MARKET_PHASE_CLOSED,
                                               MARKET_PHASE_EARLY, MARKET_PHASE_OPEN};
    int64_t last = 0;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        CHECK(feed_calendar_step(&calendar, 7 * DAY + 12 * HOUR, &at));
        CHECK_INT(calendar.now.phase, phases[i]);
        CHECK(at > last);
        last = at;
    }
    CHECK_INT(at, 7 * DAY + 9 * HOUR + HOUR / 2);
    CHECK(!feed_calendar_step(&calendar, 7 * DAY + 12 * HOUR, &at));
    /* The half day. */
    while (feed_calendar_step(&calendar, days[22].open_ns, &at))
        ;
    CHECK(calendar.now.half);
    CHECK_INT(calendar.now.next_ns, days[22].open_ns - (9 * HOUR + HOUR / 2) + 13 * HOUR);
    /* The venue closes earlier today than announced. */
    struct trading_day shorter = days[22];
    shorter.close_ns = days[22].open_ns + HOUR;
    CHECK_INT(feed_calendar_take(&calendar, &shorter, 1), 0);
    CHECK_INT(calendar.n, 30);
    CHECK(feed_calendar_step(&calendar, days[22].open_ns + 1, &at));
    CHECK_INT(calendar.now.phase, MARKET_PHASE_OPEN);
    CHECK_INT(calendar.now.next_ns, shorter.close_ns);
    /* Beyond the last day nothing is known, until more days come. */
    while (feed_calendar_step(&calendar, days[29].late_ns + DAY, &at))
        ;
    CHECK_INT(calendar.now.phase, MARKET_PHASE_UNKNOWN);
    CHECK_INT(feed_calendar_take(&calendar, days + 25, 20), 0);
    CHECK(feed_calendar_step(&calendar, days[30].open_ns + 1, &at));
    CHECK_INT(calendar.now.phase, MARKET_PHASE_OPEN);
    struct trading_day wrong = {10, 5, 20, 30};
    CHECK_INT(feed_calendar_take(&calendar, &wrong, 1), -EINVAL);
    CHECK_INT(calendar.n, 45);
    feed_calendar_finish(&calendar);
}

/* Its days are given once, and again when they are others. */
static void test_days(void)
{
    struct calendar calendar;
    struct trading_calendar view;
    feed_calendar_init(&calendar, "us-equity", false);
    CHECK(!feed_calendar_days(&calendar, &view));
    CHECK_INT(feed_calendar_take(&calendar, days, 30), 0);
    CHECK(feed_calendar_days(&calendar, &view));
    CHECK_STR(view.name, "us-equity");
    CHECK(view.n == 30 && view.from_ns == days[0].early_ns && view.to_ns == days[29].late_ns);
    CHECK(memcmp(view.days, days, 30 * sizeof *days) == 0);
    CHECK_INT(feed_calendar_take(&calendar, days, 30), 0);
    CHECK(!feed_calendar_days(&calendar, &view));
    struct trading_day shorter = days[22];
    shorter.close_ns = days[22].open_ns + HOUR;
    CHECK_INT(feed_calendar_take(&calendar, &shorter, 1), 0);
    CHECK(feed_calendar_days(&calendar, &view) && view.n == 30 && view.days[22].close_ns == shorter.close_ns);
    CHECK_INT(feed_calendar_take(&calendar, days + 3, 30), 0);
    CHECK(feed_calendar_days(&calendar, &view) && view.n == 33 && view.to_ns == days[32].late_ns);
    feed_calendar_finish(&calendar);
}

/* What a former run knew stays known beside what the venue sends now; until it has, nothing is due. */
static void test_begin(void)
{
    struct calendar calendar;
    struct trading_calendar view;
    int64_t at;
    const struct trading_calendar known = {.name = "us-equity", .days = days, .n = 40},
                                  other = {.days = days + 50, .n = 1};
    feed_calendar_init(&calendar, "us-equity", false);
    CHECK_INT(feed_calendar_begin(&calendar, &(struct trading_calendar){0}), 0);
    CHECK(!feed_calendar_days(&calendar, &view));
    CHECK_INT(feed_calendar_begin(&calendar, &known), 0);
    CHECK_INT(feed_calendar_begin(&calendar, &other), 0); /* only where there are none */
    CHECK(!feed_calendar_step(&calendar, days[39].open_ns + 1, &at));
    CHECK_INT(feed_calendar_take(&calendar, days + 30, 25), 0);
    CHECK(feed_calendar_days(&calendar, &view));
    CHECK(view.n == 55 && view.from_ns == days[0].early_ns && view.to_ns == days[54].late_ns);
    CHECK(memcmp(view.days, days, 55 * sizeof *days) == 0);
    CHECK(feed_calendar_step(&calendar, days[39].open_ns + 1, &at));
    CHECK_INT(calendar.now.phase, MARKET_PHASE_OPEN);
    feed_calendar_finish(&calendar);
}

static void test_extended(void)
{
    for (int extended = 0; extended <= 1; extended++) {
        struct calendar calendar;
        int64_t at;
        feed_calendar_init(&calendar, "us-equity", extended);
        CHECK_INT(feed_calendar_take(&calendar, days, 10), 0);
        CHECK(!feed_calendar_open(&calendar));
        CHECK(feed_calendar_step(&calendar, 5 * HOUR, &at));
        CHECK(feed_calendar_open(&calendar) == extended);
        CHECK(feed_calendar_step(&calendar, 12 * HOUR, &at));
        CHECK(feed_calendar_open(&calendar));
        CHECK(feed_calendar_step(&calendar, 17 * HOUR, &at));
        CHECK(feed_calendar_open(&calendar) == extended);
        CHECK(feed_calendar_step(&calendar, 21 * HOUR, &at));
        CHECK(!feed_calendar_open(&calendar));
        feed_calendar_finish(&calendar);
    }
}

/* Whatever the steps of the clock and the days known: after the last step it is as of the moment. */
static void test_random(void)
{
    struct calendar calendar;
    feed_calendar_init(&calendar, "us-equity", false);
    int64_t now = 0, reported = 0, at;
    size_t known = 0;
    for (int i = 0; i < 20000 && known < DAYS; i++) {
        if (known == 0 || random_below(60) == 0) {
            size_t back = known > 5 ? random_below(5) : 0, more = 1 + random_below(8);
            more = known + more > DAYS ? DAYS - known : more;
            CHECK_INT(feed_calendar_take(&calendar, days + known - back, back + more), 0);
            known += more;
        }
        now += (int64_t)random_below(40) * (HOUR / 4);
        while (feed_calendar_step(&calendar, now, &at)) {
            CHECK(at <= now && at >= reported);
            reported = at;
        }
        struct trading_now expected;
        trading_days_at(days, known, now, &expected);
        CHECK_INT(calendar.now.phase, expected.phase);
        CHECK_INT(calendar.now.next_ns, expected.next_ns);
        if (calendar.now.phase == MARKET_PHASE_UNKNOWN && calendar.now.next_ns == 0) /* wait for days */
        {
            CHECK_INT(feed_calendar_take(&calendar, days + known, known < DAYS ? 1 : 0), 0);
            known += known < DAYS;
        }
    }
    feed_calendar_finish(&calendar);
}

static void test_history(void)
{
    struct calendar calendar;
    int64_t minute = HOUR / 60;
    feed_calendar_init(&calendar, "us-equity", false);
    CHECK_INT(feed_calendar_back(&calendar, 100 * minute, minute, 10), 100 * minute); /* no days: nothing */
    CHECK_INT(feed_calendar_take(&calendar, days, 20), 0);
    /* Monday 10:00: 30 bars of today, and the rest of Friday's end. */
    int64_t now = days[5].open_ns + 30 * minute;
    CHECK_INT(feed_calendar_back(&calendar, now, minute, 30), days[5].open_ns);
    CHECK_INT(feed_calendar_back(&calendar, now, minute, 31), days[4].close_ns - minute);
    CHECK_INT(feed_calendar_back(&calendar, now, minute, 30 + 390), days[4].open_ns);
    CHECK_INT(feed_calendar_back(&calendar, now, minute, 1000000), days[0].open_ns);
    CHECK_INT(feed_calendar_back(&calendar, now, DAY, 2), days[4].open_ns - days[4].open_ns % DAY);
    CHECK(!feed_calendar_any(&calendar, days[4].close_ns, days[5].open_ns));
    CHECK(feed_calendar_any(&calendar, days[4].close_ns - 1, days[5].open_ns));
    feed_calendar_finish(&calendar);
}

int main(void)
{
    rng = random_seeded("daemon/calendar", 11);
    make_days();
    test_week();
    test_days();
    test_begin();
    test_extended();
    test_random();
    test_history();
    return check_done("daemon/calendar");
}
