/* Recovery is measured from an interruption's end to the next closed bar, each symbol by itself. */
#include "daemon/feed/recovery.h"

#include "tests/check.h"

static void test_one(void)
{
    struct feed_recovery recovery = {0};
    struct feed_recoveries sum = {0};
    feed_recovery_judge(&recovery, false, 7, 1000);
    CHECK(!feed_recovery_bars(&recovery, 8, 1500, &sum)); /* nothing was interrupted */
    feed_recovery_judge(&recovery, true, 8, 2000);
    CHECK(!feed_recovery_bars(&recovery, 9, 2500, &sum)); /* a bar of before the end is none */
    feed_recovery_judge(&recovery, true, 9, 3000);
    feed_recovery_judge(&recovery, false, 9, 4000);
    feed_recovery_judge(&recovery, false, 9, 4600); /* its end was the first time */
    CHECK(!feed_recovery_bars(&recovery, 9, 4700, &sum));
    CHECK(feed_recovery_bars(&recovery, 10, 5000, &sum));
    CHECK(!feed_recovery_bars(&recovery, 11, 6000, &sum)); /* once */
    CHECK_INT(sum.n, 1);
    CHECK_INT(sum.last_ms, 1000);
    CHECK_INT(sum.worst_ms, 1000);
    CHECK_INT(sum.sum_ms, 1000);
}

/* One that is interrupted again before its bar is measured from the last end. */
static void test_again(void)
{
    struct feed_recovery recovery = {0};
    struct feed_recoveries sum = {0};
    feed_recovery_judge(&recovery, true, 1, 0);
    feed_recovery_judge(&recovery, false, 1, 100);
    feed_recovery_judge(&recovery, true, 1, 200);
    CHECK(!feed_recovery_bars(&recovery, 2, 300, &sum));
    feed_recovery_judge(&recovery, false, 2, 400);
    CHECK(feed_recovery_bars(&recovery, 3, 450, &sum));
    CHECK_INT(sum.n, 1);
    CHECK_INT(sum.last_ms, 50);
}

static void test_lost(void)
{
    struct feed_recovery one = {0}, other = {0};
    struct feed_recoveries sum = {0};
    feed_recovery_lost(&one, 5, 1000);
    feed_recovery_lost(&one, 5, 1200); /* more are missing: measured from the first */
    CHECK(feed_recovery_bars(&one, 8, 1300, &sum));
    feed_recovery_judge(&other, true, 5, 2000);
    feed_recovery_lost(&other, 5, 2100); /* it is interrupted anyway */
    CHECK(!feed_recovery_bars(&other, 6, 2200, &sum));
    feed_recovery_judge(&other, false, 6, 2300);
    CHECK(feed_recovery_bars(&other, 7, 2400, &sum));
    feed_recovery_lost(&one, 8, 3000); /* a minute without a trade: it was no interruption */
    feed_recovery_none_lost(&one);
    CHECK(!feed_recovery_bars(&one, 9, 3100, &sum));
    feed_recovery_judge(&one, true, 9, 4000);
    feed_recovery_judge(&one, false, 9, 4100);
    feed_recovery_none_lost(&one); /* this was one */
    CHECK(one.awaited && !one.lost);
    CHECK_INT(sum.n, 2);
    CHECK_INT(sum.last_ms, 100);
    CHECK_INT(sum.worst_ms, 300);
    CHECK_INT(sum.sum_ms, 400);
}

static void test_drop(void)
{
    struct feed_recovery recovery = {0};
    struct feed_recoveries sum = {0};
    feed_recovery_judge(&recovery, true, 1, 0);
    feed_recovery_drop(&recovery);
    feed_recovery_judge(&recovery, false, 1, 100);
    CHECK(!feed_recovery_bars(&recovery, 2, 200, &sum));
    feed_recovery_judge(&recovery, true, 2, 300);
    feed_recovery_judge(&recovery, false, 2, 400);
    feed_recovery_drop(&recovery);
    CHECK(!feed_recovery_bars(&recovery, 3, 500, &sum));
    CHECK_INT(sum.n, 0);
}

int main(void)
{
    test_one();
    test_again();
    test_lost();
    test_drop();
    return check_done("daemon/recovery");
}
