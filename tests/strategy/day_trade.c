/* One session a day: the opening range, its break, and never overnight, whatever bars are missing. */
#include "tests/strategy/ask.h"

#define MINUTE_NS 60000000000LL
#define DAY_MIN   (24 * 60)

/* A session of 100 to 160 on day 5, the range of the first 20, no entry in the last 15, on bars of five
 * minutes. */
static struct ask session(void)
{
    struct ask a = ask_new("day-trade");
    ask_set(&a, "start", "100");
    ask_set(&a, "length", "60");
    ask_set(&a, "range", "20");
    ask_set(&a, "late", "15");
    ask_set(&a, "profit_risk", "2");
    a.input.interval_ns = 5 * MINUTE_NS;
    a.input.volume = 10;
    CHECK(!a.strategy->check(a.params));
    return a;
}

/* The bar that opens at a minute of day `day`; the average lies at 50. */
static size_t bar_of(struct ask *a, int day, int minute, double low, double high, double close)
{
    a->input.ts_ns = (int64_t)(day * DAY_MIN + minute) * MINUTE_NS + a->input.interval_ns;
    a->input.low = low;
    a->input.high = high;
    a->input.open = a->input.close = close;
    return ASK_BAR(a, 50);
}

static size_t bar(struct ask *a, int minute, double low, double high, double close)
{
    return bar_of(a, 5, minute, low, high, close);
}

/* Bars 100 to 115: a range of 96 to 104. */
static void opening(struct ask *a)
{
    CHECK_INT(bar(a, 95, 1, 999, 500), 0); /* before the session: no part of it */
    CHECK_INT(bar(a, 100, 98, 103, 102), 0);
    CHECK_INT(bar(a, 105, 97, 104, 104), 0);
    CHECK_INT(bar(a, 110, 96, 100, 99), 0);
    CHECK_INT(bar(a, 115, 99, 101, 100), 0);
}

static void test_entry(void)
{
    struct ask a = session();
    opening(&a);
    CHECK_INT(bar(&a, 120, 99, 110, 104), 0); /* at the high: no break, though it was above inside the bar */
    CHECK_INT(bar(&a, 125, 99, 110, 106), 1);
    ask_wants(&a, INTENT_ENTER, "opening range broken");
    CHECK(a.intents[0].stop == 96 && a.intents[0].profit == 126 && a.intents[0].limit == 0);
    CHECK_NEAR(a.intents[0].fraction, 0.01 * 106 / 10, 1e-15);
    CHECK_INT(bar(&a, 130, 99, 110, 107), 0); /* once a session */
    CHECK_INT(bar_of(&a, 6, 100, 99, 101, 100), 0);
    CHECK_INT(bar_of(&a, 6, 120, 99, 110, 102), 1); /* the next has a range of its own */

    a = session();
    ask_set(&a, "profit_risk", "0");
    opening(&a);
    CHECK_INT(bar(&a, 120, 99, 110, 105), 1);
    CHECK(a.intents[0].profit == 0);

    a = session(); /* a flat range is a range too */
    CHECK_INT(bar(&a, 100, 100, 100, 100), 0);
    CHECK_INT(bar(&a, 120, 100, 100, 100), 0);
    CHECK_INT(bar(&a, 125, 100, 101, 101), 1);
    CHECK(a.intents[0].stop == 100 && a.intents[0].profit == 103 && a.intents[0].fraction == 0.5);
}

static void test_filters(void)
{
    struct ask a = session();
    ask_set(&a, "volume", "1");
    opening(&a);
    a.input.volume = 9.99; /* less than the range's mean */
    CHECK_INT(bar(&a, 120, 99, 110, 105), 0);
    a.input.volume = 10;
    CHECK_INT(bar(&a, 125, 99, 110, 105), 1);

    a = session(); /* by default the price alone counts: after the open volumes are small */
    opening(&a);
    a.input.volume = 0;
    CHECK_INT(bar(&a, 120, 99, 110, 105), 1);

    a = session();
    opening(&a);
    a.input.ts_ns = (5 * DAY_MIN + 125) * MINUTE_NS;
    a.input.close = 105;
    CHECK_INT(ASK_BAR(&a, NAN), 0);
    CHECK_INT(ASK_BAR(&a, 105), 0); /* at the average: not above it */
    CHECK_INT(ASK_BAR(&a, 104.9), 1);

    a = session();
    opening(&a);
    a.input.live_orders = true;
    CHECK_INT(bar(&a, 120, 99, 110, 105), 0);
    a.input.live_orders = false;
    a.input.qty = -1;
    CHECK_INT(bar(&a, 125, 99, 110, 105), 0);

    a = session(); /* a range that reaches to 0 gives no stop */
    CHECK_INT(bar(&a, 100, 0, 100, 100), 0);
    CHECK_INT(bar(&a, 120, 99, 110, 105), 0);
}

static void test_late(void)
{
    /* The close is at 160, so the last bar to enter on closes at 145. */
    struct ask a = session();
    opening(&a);
    CHECK_INT(bar(&a, 145, 99, 110, 105), 0);
    a = session();
    opening(&a);
    CHECK_INT(bar(&a, 140, 99, 110, 105), 1);

    /* With no `late` it is the one after which two bars are left: one to fill at, and the last to be flat in.
     */
    a = session();
    ask_set(&a, "late", "0");
    opening(&a);
    CHECK_INT(bar(&a, 150, 99, 110, 105), 0);
    CHECK_INT(bar(&a, 155, 99, 110, 105), 0);
    a = session();
    ask_set(&a, "late", "0");
    opening(&a);
    CHECK_INT(bar(&a, 145, 99, 110, 105), 1);
}

static void test_close(void)
{
    struct ask a = session();
    opening(&a);
    CHECK_INT(bar(&a, 120, 99, 110, 105), 1);
    a.input.qty = 1;
    for (int minute = 125; minute <= 145; minute += 5)
        CHECK_INT(bar(&a, minute, 90, 110, 95), 0);
    CHECK_INT(bar(&a, 150, 90, 110, 95), 1); /* closes at 155: sold at the open of the last bar */
    ask_wants(&a, INTENT_EXIT, "session closes");
    a.input.live_orders = true;
    CHECK_INT(bar(&a, 155, 90, 110, 95), 0);

    /* That bar is missing, then the last one too, then all till the next day's session. */
    static const struct {
        int day, minute;
        const char *why;
    } first[] = {{5, 155, "session is over"}, {5, 160, "session is over"}, {5, 700, "session is over"},
                 {6, 99, "session is over"},  {6, 105, "session is over"}, {6, 159, "session is over"}};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        a = session();
        opening(&a);
        CHECK_INT(bar(&a, 120, 99, 110, 105), 1);
        a.input.qty = 1;
        CHECK_INT(bar(&a, 125, 99, 110, 105), 0);
        CHECK_INT(bar_of(&a, first[i].day, first[i].minute, 90, 110, 95), 1);
        ask_wants(&a, INTENT_EXIT, first[i].why);
    }

    a = session(); /* held already, not by an entry of this session */
    a.input.qty = 1;
    CHECK_INT(bar(&a, 100, 90, 110, 95), 1);
    a = session();
    a.input.qty = 1;
    CHECK_INT(bar(&a, 50, 90, 110, 95), 1);
}

/* Bars of the range are missing: those that exist make it. None does: no entry. */
static void test_gaps(void)
{
    struct ask a = session();
    CHECK_INT(bar(&a, 115, 99, 101, 100), 0);
    CHECK_INT(bar(&a, 120, 99, 101, 101), 0);
    CHECK_INT(bar(&a, 125, 99, 102, 102), 1);
    CHECK(a.intents[0].stop == 99);
    a = session();
    CHECK_INT(bar(&a, 99, 90, 101, 100), 0);
    for (int minute = 120; minute < 160; minute += 5)
        CHECK_INT(bar(&a, minute, 99, 200, 200), 0);
}

/* Any interval that divides the session; sessions past midnight, of a whole day, and in 1969. */
static void test_grids(void)
{
    static const int intervals[] = {1, 2, 4, 5, 10, 20};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        for (int start = 0; start < DAY_MIN; start += 479) {
            for (int day = -2; day <= 2; day++) {
                struct ask a = session();
                a.params[0] = start;
                a.input.interval_ns = intervals[i] * MINUTE_NS;
                int entries = 0, exits = 0, last_exit = 0;
                for (int minute = start - 60; minute < start + 120; minute += intervals[i]) {
                    size_t n = bar_of(&a, day, minute, 99, 101, minute < start + 20 ? 100 : 103);
                    CHECK(n <= 1);
                    if (n == 0)
                        continue;
                    if (a.intents[0].kind == INTENT_ENTER) {
                        CHECK_INT(minute, start + 20);
                        a.input.qty = 1;
                        entries++;
                    } else {
                        a.input.qty = 0;
                        last_exit = minute;
                        exits++;
                    }
                }
                CHECK_INT(entries, intervals[i] == 20 ? 0 : 1);
                CHECK_INT(exits, entries);
                if (entries)
                    CHECK_INT(last_exit, start + 60 - 2 * intervals[i]);
            }
        }
    }
    struct ask a = session(); /* longer than the session */
    a.input.interval_ns = 60 * MINUTE_NS;
    for (int minute = 0; minute < 3 * DAY_MIN; minute += 60)
        CHECK_INT(bar(&a, minute, 99, 200, 200), 0);
    a = session(); /* a session of a whole day */
    ask_set(&a, "start", "0");
    ask_set(&a, "length", "1440");
    CHECK_INT(bar(&a, 0, 99, 101, 100), 0);
    CHECK_INT(bar(&a, 20, 99, 105, 105), 1);
    a.input.qty = 1;
    CHECK_INT(bar(&a, 1425, 99, 105, 105), 0);
    CHECK_INT(bar(&a, 1430, 99, 105, 105), 1);
}

/* With a calendar its times hold, not the parameters': a whole day, a half day, and a day after the clocks
 * changed. */
static void test_calendar(void)
{
    static const struct {
        int open, close;
    } days[] = {{600, 660}, {600, 640}, {540, 600}};
    for (int day = 0; day < 3; day++) {
        struct ask a = session();
        int open = days[day].open, close = days[day].close;
        a.input.session_open_ns = (5 * DAY_MIN + open) * MINUTE_NS;
        a.input.session_close_ns = (5 * DAY_MIN + close) * MINUTE_NS;
        ask_set(&a, "late", "10");
        for (int minute = open; minute < open + 20; minute += 5)
            CHECK_INT(bar(&a, minute, 96, 104, 100), 0);
        CHECK_INT(bar(&a, open + 20, 99, 110, 106), 1);
        ask_wants(&a, INTENT_ENTER, "opening range broken");
        CHECK(a.intents[0].stop == 96);
        a.input.qty = 1;
        for (int minute = open + 25; minute < close - 10; minute += 5)
            CHECK_INT(bar(&a, minute, 99, 110, 105), 0);
        CHECK_INT(bar(&a, close - 10, 99, 110, 105), 1);
        ask_wants(&a, INTENT_EXIT, "session closes");
        CHECK_INT(bar(&a, close - 5, 99, 110, 105), 1); /* it was not sold: at the next opening */
        ask_wants(&a, INTENT_EXIT, "session is over");
    }
}

static void test_params(void)
{
    struct ask a = session();
    ask_set(&a, "late", "40");
    CHECK_STR(a.strategy->check(a.params), "late: with range, fewer minutes than length are needed");
    ask_set(&a, "range", "60");
    CHECK_STR(a.strategy->check(a.params), "range: fewer minutes than length are needed");
}

int main(void)
{
    test_entry();
    test_filters();
    test_late();
    test_close();
    test_gaps();
    test_grids();
    test_calendar();
    test_params();
    return check_done("strategy/day_trade");
}
