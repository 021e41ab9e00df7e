/* A book that never holds is asked for at 0, 1, 3, 7, … s and then once a minute; one that held, at once. */
#include "daemon/feed/pace.h"

#include "tests/check.h"

static void test_row(void)
{
    static const int64_t at[] = {0, 1000, 3000, 7000, 15000, 31000, 63000, 123000, 183000};
    struct pace pace = {0};
    size_t n = 0;
    int reported = 0;
    for (int64_t now = 0; now <= 183000; now++) { /* every millisecond something asks */
        if (!feed_pace_due(&pace, now))
            continue;
        CHECK(n < sizeof at / sizeof *at && now == at[n]);
        reported += feed_pace_asked(&pace, now);
        n++;
        CHECK_INT(reported, n >= PACE_ALERT);
    }
    CHECK_INT(n, sizeof at / sizeof *at);
    CHECK(!feed_pace_due(&pace, 242999));
    CHECK(feed_pace_due(&pace, 243000));
}

static void test_steady(void)
{
    struct pace pace = {0};
    for (int64_t now = 0, i = 0; i < 20; now += PACE_MIN_MS + PACE_STEADY_MS, i++) { /* it held each time */
        CHECK(feed_pace_due(&pace, now));
        CHECK(!feed_pace_asked(&pace, now));
        CHECK_INT(pace.row, 1);
        CHECK(!feed_pace_due(&pace, now + PACE_MIN_MS - 1));
    }
    int64_t now = 1000000;
    for (int i = 0; i < PACE_ALERT; i++, now += pace.delay_ms)
        CHECK_INT(feed_pace_asked(&pace, now), i == PACE_ALERT - 1);
    now += PACE_STEADY_MS;
    CHECK(feed_pace_due(&pace, now) && !feed_pace_asked(&pace, now)); /* and the next row is reported again */
    CHECK_INT(pace.row, 1);
    CHECK_INT(pace.delay_ms, PACE_MIN_MS);
}

int main(void)
{
    test_row();
    test_steady();
    return check_done("daemon/pace");
}
