/* Higher bars from lower ones: against a plain sum over the lower bars; with holes, late ones and beginnings
 * that were not seen; the future cut off; a weekly bar that opens on Monday. */
#include "daemon/timeframe.h"

#include "tests/check.h"
#include "tests/random.h"

#define MINUTE INT64_C(60000000000)
#define HOUR   (60 * MINUTE)

enum { BARS = 3000 };

static struct bar bars[BARS];
static bool there[BARS];

static void make(struct random *random, int64_t first_ns, int64_t lower_ns, unsigned holes_of_100)
{
    int64_t price = 6000000;
    for (int i = 0; i < BARS; i++) {
        int64_t close = price + (int64_t)(random_next(random) % 2001) - 1000;
        int64_t up = (int64_t)(random_next(random) % 300), down = (int64_t)(random_next(random) % 300);
        bool idle = random_next(random) % 10 == 0;
        bars[i] = (struct bar){.open_ns = first_ns + i * lower_ns,
                               .open = price,
                               .high = (close > price ? close : price) + up,
                               .low = (close < price ? close : price) - down,
                               .close = close,
                               .volume = (int128_t)(random_next(random) % 100000),
                               .quote_volume = (int128_t)(random_next(random) % 100000000),
                               .trades = idle ? 0 : 5,
                               .first_trade_id = idle ? -1 : 5 * i,
                               .last_trade_id = idle ? -1 : 5 * i + 4};
        there[i] = random_next(random) % 100 >= holes_of_100;
        price = close;
    }
}

/* By the clock one lower bar closes at most one higher bar. */
static const struct trading_calendar always;

static bool take(struct timeframe *tf, const struct bar *lower, struct bar *ret)
{
    struct bar closed[TIMEFRAME_CLOSED_MAX];
    int n = daemon_timeframe_take(tf, &always, lower, closed);
    CHECK(n <= 1);
    if (n > 0)
        *ret = closed[0];
    return n > 0;
}

/* The higher bar that opens there by looking at all the lower ones; false when one is missing. */
static bool plain(int64_t open_ns, int64_t interval_ns, int64_t lower_ns, struct bar *ret)
{
    int64_t n = 0;
    for (int i = 0; i < BARS; i++) {
        const struct bar *bar = &bars[i];
        if (!there[i] || bar->open_ns < open_ns || bar->open_ns >= open_ns + interval_ns)
            continue;
        if (n++ == 0) {
            *ret = *bar;
            ret->open_ns = open_ns;
            continue;
        }
        ret->high = bar->high > ret->high ? bar->high : ret->high;
        ret->low = bar->low < ret->low ? bar->low : ret->low;
        ret->close = bar->close;
        ret->volume += bar->volume;
        ret->quote_volume += bar->quote_volume;
        ret->trades += bar->trades;
        if (bar->first_trade_id >= 0 && ret->first_trade_id < 0)
            ret->first_trade_id = bar->first_trade_id;
        if (bar->last_trade_id >= 0)
            ret->last_trade_id = bar->last_trade_id;
    }
    return n == interval_ns / lower_ns;
}

static bool same(const struct bar *a, const struct bar *b)
{
    return a->open_ns == b->open_ns && a->open == b->open && a->high == b->high && a->low == b->low &&
           a->close == b->close && a->volume == b->volume && a->quote_volume == b->quote_volume &&
           a->trades == b->trades && a->first_trade_id == b->first_trade_id &&
           a->last_trade_id == b->last_trade_id;
}

static void check_all(int64_t interval_ns, int64_t lower_ns)
{
    struct timeframe tf;
    struct bar got, expected;
    int closed = 0, expected_closed = 0;
    daemon_timeframe_init(&tf, interval_ns, lower_ns);
    for (int i = 0; i < BARS; i++) {
        if (!there[i])
            continue;
        /* The bar that forms is what it is with this one as it stands, and looking changes nothing. */
        struct timeframe before = tf;
        bool whole = daemon_timeframe_peek(&tf, &always, &bars[i], &expected);
        CHECK(memcmp(&before, &tf, sizeof tf) == 0);
        bool closes = take(&tf, &bars[i], &got);
        CHECK(!closes || (whole && same(&got, &expected)));
        /* So it stays while nothing of the next one is known; once closed nothing forms. */
        struct bar formed;
        bool ends = bars[i].open_ns + lower_ns == bar_open_time(bars[i].open_ns, interval_ns) + interval_ns;
        CHECK_INT(daemon_timeframe_forming(&tf, &formed), whole && !ends);
        CHECK(!whole || ends || same(&formed, &expected));
        if (closes) {
            closed++;
            CHECK_INT(got.open_ns + interval_ns, bars[i].open_ns + lower_ns);
            CHECK(plain(got.open_ns, interval_ns, lower_ns, &expected) && same(&got, &expected));
            CHECK_INT(tf.next_ns, got.open_ns + (interval_ns == lower_ns ? 1 : interval_ns));
        }
        CHECK(!take(&tf, &bars[i], &got)); /* the same again */
        CHECK(!daemon_timeframe_peek(&tf, &always, &bars[i], &got));
        if (i > 0)
            CHECK(!take(&tf, &bars[i - 1], &got)); /* a late one */
    }
    int64_t first = bar_open_time(bars[0].open_ns, interval_ns);
    for (int64_t open = first; open + interval_ns <= bars[BARS - 1].open_ns + lower_ns; open += interval_ns)
        expected_closed += plain(open, interval_ns, lower_ns, &expected);
    CHECK_INT(closed, expected_closed);
}

/* What has closed does not depend on what comes later: any end gives a beginning of the same bars. And from
 * next_ns on a fresh one gives the rest. */
static void check_ends(int64_t interval_ns, int64_t lower_ns)
{
    static struct bar whole[BARS], part[BARS];
    int n_whole = 0;
    struct timeframe all;
    daemon_timeframe_init(&all, interval_ns, lower_ns);
    for (int i = 0; i < BARS; i++)
        if (there[i])
            n_whole += take(&all, &bars[i], &whole[n_whole]);
    for (int end = 0; end <= BARS; end += 97) {
        struct timeframe tf, later;
        int n = 0;
        daemon_timeframe_init(&tf, interval_ns, lower_ns);
        for (int i = 0; i < end; i++)
            if (there[i])
                n += take(&tf, &bars[i], &part[n]);
        daemon_timeframe_init(&later, interval_ns, lower_ns);
        later.next_ns = tf.next_ns;
        for (int i = 0; i < BARS; i++)
            if (there[i])
                n += take(&later, &bars[i], &part[n]);
        CHECK_INT(n, n_whole);
        for (int i = 0; i < n && i < n_whole; i++)
            CHECK(same(&part[i], &whole[i]));
    }
}

/* Bars of the market's own interval by a session: 14:30, 15:30 and, after a short one, 16:00. */
static void check_sessions(void)
{
    static const int64_t opens[] = {29 * HOUR / 2, 31 * HOUR / 2, 16 * HOUR};
    struct timeframe tf;
    struct bar got;
    daemon_timeframe_init(&tf, HOUR, HOUR);
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        const struct bar bar = {.open_ns = opens[i], .volume = (int64_t)i};
        CHECK(take(&tf, &bar, &got) && got.open_ns == opens[i] && got.volume == (int64_t)i);
        CHECK(!take(&tf, &bar, &got));
    }
    CHECK_INT(tf.left_out, 0);
}

int main(void)
{
    struct random random = random_seeded("daemon/timeframe", 20261121);
    const struct {
        int64_t interval_ns, lower_ns;
    } pairs[] = {{MINUTE, MINUTE},   {5 * MINUTE, MINUTE},   {HOUR, MINUTE},
                 {4 * HOUR, MINUTE}, {24 * HOUR, MINUTE},    {HOUR, 15 * MINUTE},
                 {168 * HOUR, HOUR}, {72 * HOUR, 24 * HOUR}, {15 * MINUTE, 3 * MINUTE}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (unsigned holes = 0; holes <= 2; holes++) {
            int64_t first = bar_open_time(INT64_C(1723161255342000000), pairs[i].lower_ns);
            make(&random, first, pairs[i].lower_ns, holes);
            check_all(pairs[i].interval_ns, pairs[i].lower_ns);
            check_ends(pairs[i].interval_ns, pairs[i].lower_ns);
        }
    check_sessions();
    return check_done("daemon/timeframe");
}
