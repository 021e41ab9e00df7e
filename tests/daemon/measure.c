/* Rates and latencies of the last minute against a plain list of the same messages. */
#include "daemon/feed/measure.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/random.h"

static struct random rng;

static uint64_t random_below(uint64_t n)
{
    return random_next(&rng) % n;
}

enum { MESSAGES = 40000 };

static struct {
    int64_t ms, latency_us;
    bool bad;
} list[MESSAGES];

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The exact ones, of the slices that are kept. */
static void check_at(struct measure *measure, size_t n, int64_t now)
{
    static int64_t latencies[MESSAGES];
    struct measured got;
    size_t m = 0;
    uint64_t messages = 0, bad = 0;
    int64_t from = (now / MEASURE_SLICE_MS - MEASURE_SLICES + 1) * MEASURE_SLICE_MS;
    for (size_t i = 0; i < n; i++) {
        if (list[i].ms < from)
            continue;
        bad += list[i].bad;
        messages += !list[i].bad;
        if (!list[i].bad && list[i].latency_us >= 0)
            latencies[m++] = list[i].latency_us;
    }
    feed_measure_look(measure, now, &got);
    CHECK_INT(got.messages, messages);
    CHECK_INT(got.bad, bad);
    CHECK(got.have_latency == (m > 0));
    if (m == 0)
        return;
    qsort(latencies, m, sizeof *latencies, compare);
    double p50 = (double)latencies[(m - 1) / 2] / 1000,
           p99 = (double)latencies[(m * 99 + 99) / 100 - 1] / 1000;
    CHECK(got.latency_p50_ms < 1.25 * p50 + 0.3 && got.latency_p50_ms > p50 / 1.25 - 0.3);
    CHECK(got.latency_p99_ms < 1.25 * p99 + 0.3 && got.latency_p99_ms > p99 / 1.25 - 0.3);
}

static void test_random(void)
{
    static struct measure measure;
    int64_t now = 1000000 + (int64_t)random_below(100000);
    for (size_t i = 0; i < MESSAGES; i++) {
        now += random_below(400) == 0 ? (int64_t)random_below(100000) : (int64_t)random_below(12);
        int64_t latency = random_below(9) == 0 ? -1 : (int64_t)random_below(1U << (4 + random_below(20)));
        list[i].ms = now;
        list[i].latency_us = latency;
        list[i].bad = random_below(50) == 0;
        if (list[i].bad)
            feed_measure_bad(&measure, now);
        else
            feed_measure_message(&measure, now, latency);
        if (i % 397 == 0) {
            now += (int64_t)random_below(2000);
            check_at(&measure, i + 1, now);
        }
    }
}

static void test_rate(void)
{
    static struct measure measure;
    struct measured got;
    feed_measure_look(&measure, 5000, &got);
    CHECK(got.messages == 0 && got.per_second == 0 && !got.have_latency);
    for (int64_t ms = 20000; ms < 200000; ms += 10)
        feed_measure_message(&measure, ms, -1);
    feed_measure_look(&measure, 200000, &got);
    CHECK(got.per_second > 95 && got.per_second < 105);
    feed_measure_look(&measure, 200000 + 70000, &got);
    CHECK(got.messages == 0 && got.per_second == 0);
    /* More than a bin holds: the parts stay. */
    for (int i = 0; i < 200000; i++)
        feed_measure_message(&measure, 300000, i % 10 == 0 ? 40000 : 1000);
    feed_measure_look(&measure, 300000, &got);
    CHECK_INT(got.messages, 200000);
    CHECK(got.latency_p50_ms > 0.8 && got.latency_p50_ms < 1.25);
    CHECK(got.latency_p99_ms > 32 && got.latency_p99_ms < 50);
    feed_measure_message(&measure, 300000, INT64_MAX / 2000); /* beyond the last bin */
}

/* 40 ms on the way: shown as that, whichever clock is off; and 30 s on the way, too. */
static void test_clocks(void)
{
    const int64_t ms = 1000000, event = 1700000000000 * ms, now = event + 40 * ms, off = 30000 * ms;
    static const int64_t way_us = 40000;
    CHECK_INT(feed_measure_late_us(now, now, event), way_us);
    CHECK_INT(feed_measure_late_us(now, now + off, event), way_us); /* this machine's */
    CHECK_INT(feed_measure_late_us(now, now - off, event), way_us);
    CHECK_INT(feed_measure_late_us(now + off, now, event), way_us); /* the one of the venue's replies */
    CHECK_INT(feed_measure_late_us(now - off, now, event), way_us);
    CHECK_INT(feed_measure_late_us(now, now - 30 * ms, event), way_us); /* near each other: the venue's */
    CHECK_INT(feed_measure_late_us(now, now + 30 * ms, event), way_us);
    CHECK_INT(feed_measure_late_us(now + off, now + off + ms, event), way_us + 30000000);
    for (int64_t ahead = 0; ahead < 250 * ms;
         ahead += 50 * ms + 1) { /* the right one a bit behind the message */
        CHECK_INT(feed_measure_late_us(event - ahead + off, event - ahead, event), 0);
        CHECK_INT(feed_measure_late_us(event - ahead, event - ahead + off, event), 0);
        CHECK_INT(feed_measure_late_us(event - ahead, event - ahead - off, event), 0);
    }
    CHECK_INT(feed_measure_late_us(event + off - 10000 * ms, event - 10000 * ms, event), 20000000);
    CHECK_INT(feed_measure_late_us(event - ms, event - 2 * ms, event), 0);
    CHECK_INT(feed_measure_late_us(event - off, event - 2 * off, event), 0);
}

int main(void)
{
    test_clocks();
    rng = random_seeded("daemon/measure", 7);
    test_random();
    test_rate();
    return check_done("daemon/measure");
}
