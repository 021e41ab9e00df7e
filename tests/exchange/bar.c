/* Intervals, and the bar builder: case by case, then against a naive grouping of random trades. */
#include "exchange/bar.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

#define SECOND_NS 1000000000LL
#define MINUTE_NS (60 * SECOND_NS)
#define DAY_NS    (86400 * SECOND_NS)

static void test_intervals(void)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } known[] = {{"1s", 1},     {"1m", 60},     {"3m", 180},   {"5m", 300},    {"15m", 900},
                 {"30m", 1800}, {"1h", 3600},   {"2h", 7200},  {"4h", 14400},  {"6h", 21600},
                 {"8h", 28800}, {"12h", 43200}, {"1d", 86400}, {"3d", 259200}, {"1w", 604800}};
    static const char *const unknown[] = {"", "1M", "2m", "60s", "1m ", "m", "1", "1W", "1mm"};
    int64_t ns = -7;
    CHECK_INT(BAR_INTERVALS, sizeof known / sizeof *known);
    CHECK_STR(BAR_INTERVAL_NAMES, "1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK_STR(bar_intervals[i].name, known[i].name);
        CHECK_INT(bar_interval_parse(known[i].name, &ns), 0);
        CHECK_INT(ns, known[i].seconds * SECOND_NS);
        CHECK_STR(bar_interval_name(ns), known[i].name);
        CHECK_INT(bar_open_time(0, ns), i == 14 ? -3 * DAY_NS : 0);
    }
    ns = -7;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        CHECK_INT(bar_interval_parse(unknown[i], &ns), -EINVAL);
    CHECK_INT(ns, -7);
    CHECK(!bar_interval_name(2 * MINUTE_NS) && !bar_interval_name(0));

    /* 2024-08-08 was a Thursday; its week opened on Monday 2024-08-05, 1722816000. */
    int64_t ts = 1723161255342 * 1000000;
    CHECK_INT(bar_open_time(ts, 7 * DAY_NS), 1722816000 * SECOND_NS);
    CHECK_INT(bar_open_time(1722816000 * SECOND_NS, 7 * DAY_NS), 1722816000 * SECOND_NS);
    CHECK_INT(bar_open_time(1722816000 * SECOND_NS - 1, 7 * DAY_NS), (1722816000 - 604800) * SECOND_NS);
    CHECK_INT(bar_open_time(ts, DAY_NS), 1723075200 * SECOND_NS);
    CHECK_INT(bar_open_time(ts, MINUTE_NS), 1723161240 * SECOND_NS);
    CHECK_INT(bar_open_time(-1, MINUTE_NS), -MINUTE_NS);
    CHECK_INT(bar_open_time(-MINUTE_NS, MINUTE_NS), -MINUTE_NS);
}

/* Every day of four centuries, whose months are counted here. */
static void test_months(void)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t begin_ns = -25567 * DAY_NS; /* 1900-01-01 */
    static const struct {
        const char *name;
        int r;
        int64_t ns;
    } names[] = {
        {"1M", 0, BAR_MONTH_NS}, {"1mo", 0, BAR_MONTH_NS}, {"1m", 0, MINUTE_NS}, {"1MO", -EINVAL, -7}};
    CHECK_STR(bar_interval_name(BAR_MONTH_NS), "1mo");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t ns = -7;
        CHECK_INT(bar_interval_parse_any(names[i].name, &ns), names[i].r);
        CHECK_INT(ns, names[i].ns);
    }
    for (int year = 1900; year < 2200; year++)
        for (int month = 0; month < 12; month++) {
            bool leap = month == 1 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            int64_t end_ns = begin_ns + (days[month] + leap) * DAY_NS;
            CHECK_INT(bar_end_time(begin_ns, BAR_MONTH_NS), end_ns);
            CHECK_INT(bar_open_time(begin_ns, BAR_MONTH_NS), begin_ns);
            CHECK_INT(bar_open_time(end_ns - 1, BAR_MONTH_NS), begin_ns);
            CHECK_INT(bar_open_time(begin_ns + 9 * DAY_NS + 1, BAR_MONTH_NS), begin_ns);
            begin_ns = end_ns;
        }
    CHECK_INT(begin_ns, 84006 * DAY_NS); /* 2200-01-01 */
    CHECK_INT(bar_end_time(7 * MINUTE_NS, MINUTE_NS), 8 * MINUTE_NS);
}

static struct bar_builder minute_builder(void)
{
    struct bar_builder builder;
    bar_builder_init(&builder, MINUTE_NS);
    return builder;
}

static enum bar_built feed(struct bar_builder *builder, int64_t second, int64_t id, struct bar *ret)
{
    return bar_builder_trade(builder, second * SECOND_NS, id, 100 + id, 2, ret);
}

static void test_complete(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    CHECK_INT(feed(&builder, 60, 10, &bar), BAR_NONE);
    bar_builder_confirm_first(&builder, 60 * SECOND_NS, 10);
    CHECK_INT(feed(&builder, 119, 11, &bar), BAR_NONE);
    CHECK_INT(feed(&builder, 120, 12, &bar), BAR_CLOSED);
    CHECK_INT(bar.open_ns, 60 * SECOND_NS);
    CHECK_INT(bar.open, 110);
    CHECK_INT(bar.high, 111);
    CHECK_INT(bar.low, 110);
    CHECK_INT(bar.close, 111);
    CHECK_INT(bar.volume, 4);
    CHECK_INT(bar.quote_volume, 442);
    CHECK_INT(bar.trades, 2);
    CHECK_INT(bar.first_trade_id, 10);
    CHECK_INT(bar.last_trade_id, 11);
    /* Minutes without a trade are not invented. */
    CHECK_INT(feed(&builder, 600, 13, &bar), BAR_CLOSED);
    CHECK_INT(bar.open_ns, 120 * SECOND_NS);
    CHECK_INT(builder.forming.open_ns, 600 * SECOND_NS);
    CHECK_INT(builder.gaps, 0);
}

static void test_first_is_unknown(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    CHECK_INT(feed(&builder, 60, 10, &bar), BAR_NONE);
    CHECK_INT(feed(&builder, 120, 11, &bar), BAR_INCOMPLETE);
    CHECK_INT(feed(&builder, 180, 12, &bar), BAR_CLOSED); /* its first trade followed one that was seen */

    builder = minute_builder();
    feed(&builder, 60, 10, &bar);
    bar_builder_confirm_first(&builder, 60 * SECOND_NS, 9); /* a trade before ours was missed */
    CHECK_INT(feed(&builder, 120, 11, &bar), BAR_INCOMPLETE);

    builder = minute_builder();
    feed(&builder, 60, 10, &bar);
    bar_builder_confirm_first(&builder, 0, 10); /* of another bar */
    bar_builder_confirm_first(&builder, 60 * SECOND_NS, -1);
    CHECK_INT(feed(&builder, 120, 11, &bar), BAR_INCOMPLETE);
}

static void test_gap(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    feed(&builder, 60, 10, &bar);
    bar_builder_confirm_first(&builder, 60 * SECOND_NS, 10);
    CHECK_INT(feed(&builder, 70, 12, &bar), BAR_NONE);
    CHECK_INT(builder.gaps, 1);
    CHECK_INT(feed(&builder, 120, 13, &bar), BAR_INCOMPLETE);
    CHECK_INT(feed(&builder, 180, 14, &bar), BAR_CLOSED);
    /* A jump over a boundary spoils both sides. */
    CHECK_INT(feed(&builder, 240, 16, &bar), BAR_INCOMPLETE);
    CHECK_INT(feed(&builder, 300, 17, &bar), BAR_INCOMPLETE);
    CHECK_INT(feed(&builder, 360, 18, &bar), BAR_CLOSED);
    CHECK_INT(builder.gaps, 2);
}

static void test_stale(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    feed(&builder, 120, 10, &bar);
    CHECK_INT(feed(&builder, 120, 10, &bar), BAR_STALE);
    CHECK_INT(feed(&builder, 121, 9, &bar), BAR_STALE);
    CHECK_INT(feed(&builder, 119, 11, &bar), BAR_STALE);
    CHECK_INT(builder.forming.trades, 1);
    CHECK_INT(feed(&builder, 125, 12, &bar), BAR_NONE); /* 11 was seen, so nothing is missing */
    CHECK_INT(builder.forming.trades, 2);
    CHECK_INT(builder.gaps, 0);
    CHECK(builder.complete);
}

static void test_close(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    CHECK_INT(bar_builder_close(&builder, INT64_MAX, &bar), BAR_NONE);
    feed(&builder, 60, 10, &bar);
    bar_builder_confirm_first(&builder, 60 * SECOND_NS, 10);
    CHECK_INT(bar_builder_close(&builder, 120 * SECOND_NS - 1, &bar), BAR_NONE);
    CHECK_INT(bar_builder_close(&builder, 120 * SECOND_NS, &bar), BAR_CLOSED);
    CHECK_INT(bar.open_ns, 60 * SECOND_NS);
    CHECK_INT(bar_builder_close(&builder, 120 * SECOND_NS, &bar), BAR_NONE);
    /* A trade that comes after its bar was handed out never makes a second one. */
    CHECK_INT(feed(&builder, 119, 11, &bar), BAR_STALE);
    CHECK_INT(feed(&builder, 120, 12, &bar), BAR_NONE);
    CHECK_INT(bar_builder_close(&builder, 180 * SECOND_NS, &bar), BAR_CLOSED);
}

static void test_interrupt(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    feed(&builder, 60, 10, &bar);
    bar_builder_confirm_first(&builder, 60 * SECOND_NS, 10);
    bar_builder_interrupt(&builder);
    CHECK_INT(feed(&builder, 119, 11, &bar), BAR_NONE);
    CHECK_INT(bar_builder_close(&builder, 120 * SECOND_NS, &bar), BAR_INCOMPLETE);
    feed(&builder, 120, 12, &bar);
    CHECK_INT(bar_builder_close(&builder, 180 * SECOND_NS, &bar), BAR_CLOSED);
}

/* Ids in any order: every trade counts, no gap is known, and what begins in the middle is not whole. */
static void test_loose(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    builder.loose = true;
    CHECK_INT(feed(&builder, 70, 500, &bar), BAR_NONE);
    CHECK_INT(feed(&builder, 80, 3, &bar), BAR_NONE);
    CHECK_INT(feed(&builder, 120, 4000, &bar), BAR_INCOMPLETE);
    CHECK_INT(feed(&builder, 130, 17, &bar), BAR_NONE);
    CHECK_INT(feed(&builder, 130, 17, &bar), BAR_NONE); /* the caller looks for doubles */
    CHECK_INT(feed(&builder, 240, 5, &bar), BAR_CLOSED);
    CHECK(bar.open == 4100 && bar.high == 4100 && bar.low == 117 && bar.close == 117 && bar.volume == 6 &&
          bar.trades == 3 && bar.first_trade_id == 4000 && bar.last_trade_id == 17);
    CHECK_INT(builder.gaps, 0);
    bar_builder_interrupt(&builder);
    CHECK_INT(feed(&builder, 250, 6, &bar), BAR_NONE);
    CHECK_INT(feed(&builder, 310, 7, &bar), BAR_INCOMPLETE);
    CHECK_INT(feed(&builder, 360, 8, &bar), BAR_CLOSED);
}

static enum bar_built odd(struct bar_builder *builder, int64_t second, int64_t id)
{
    return bar_builder_odd(builder, second * SECOND_NS, id, 1000000, 5);
}

/* Trades that make no price: volume only, before and after the first one that does. */
static void test_odd(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    CHECK_INT(odd(&builder, 60, 9), BAR_NONE);
    CHECK_INT(feed(&builder, 61, 10, &bar), BAR_NONE);
    CHECK_INT(odd(&builder, 62, 11), BAR_NONE);
    CHECK_INT(odd(&builder, 62, 11), BAR_STALE);              /* seen */
    CHECK_INT(feed(&builder, 120, 12, &bar), BAR_INCOMPLETE); /* what came before the first is not known */
    CHECK(bar.open == 110 && bar.high == 110 && bar.low == 110 && bar.close == 110 && bar.volume == 12 &&
          bar.trades == 3);
    CHECK(bar.quote_volume == 2 * 110 + 2 * 5 * 1000000);
    CHECK_INT(odd(&builder, 185, 13), BAR_NONE); /* of the next bar, which is not open yet */
    CHECK_INT(odd(&builder, 125, 14), BAR_NONE);
    CHECK_INT(odd(&builder, 119, 15), BAR_STALE);
    CHECK_INT(feed(&builder, 190, 16, &bar), BAR_CLOSED);
    CHECK(bar.volume == 7 && bar.trades == 2 && bar.first_trade_id == 12);
    CHECK_INT(feed(&builder, 240, 17, &bar), BAR_CLOSED);
    CHECK(bar.volume == 7 && bar.trades == 2 && bar.open == 116);
    CHECK_INT(odd(&builder, 305, 18), BAR_NONE); /* of an interval that no trade opens: of no bar */
    CHECK_INT(feed(&builder, 360, 19, &bar), BAR_CLOSED);
    CHECK_INT(odd(&builder, 370, 21), BAR_NONE); /* one was missed */
    CHECK_INT(feed(&builder, 420, 22, &bar), BAR_INCOMPLETE);
}

/* Sums that no market reaches make a bar incomplete, not undefined. */
static void test_absurd_sums(void)
{
    struct bar_builder builder = minute_builder();
    struct bar bar = {0};
    for (int64_t id = 1; id < 10; id++)
        CHECK_INT(bar_builder_trade(&builder, 60 * SECOND_NS, id, INT64_MAX, INT64_MAX, &bar), BAR_NONE);
    bar_builder_confirm_first(&builder, 60 * SECOND_NS, 1);
    CHECK_INT(bar_builder_close(&builder, 120 * SECOND_NS, &bar), BAR_INCOMPLETE);
}

struct trade {
    int64_t ts_ns, id, price, qty;
    bool seen;
};

enum { TRADES = 4000, ROUNDS = 50 };

/* Groups trades[from..to) into one bar. */
static struct bar group(const struct trade *trades, size_t from, size_t to, int64_t interval_ns)
{
    struct bar bar = {.open_ns = trades[from].ts_ns / interval_ns * interval_ns,
                      .open = trades[from].price,
                      .high = trades[from].price,
                      .low = trades[from].price,
                      .close = trades[to - 1].price,
                      .first_trade_id = trades[from].id,
                      .last_trade_id = trades[to - 1].id};
    for (size_t i = from; i < to; i++) {
        bar.high = trades[i].price > bar.high ? trades[i].price : bar.high;
        bar.low = trades[i].price < bar.low ? trades[i].price : bar.low;
        bar.volume += trades[i].qty;
        bar.quote_volume += (int128_t)trades[i].price * trades[i].qty;
        bar.trades++;
    }
    return bar;
}

static bool equal(const struct bar *a, const struct bar *b)
{
    return a->open_ns == b->open_ns && a->open == b->open && a->high == b->high && a->low == b->low &&
           a->close == b->close && a->volume == b->volume && a->quote_volume == b->quote_volume &&
           a->trades == b->trades && a->first_trade_id == b->first_trade_id &&
           a->last_trade_id == b->last_trade_id;
}

/* A bar handed out as complete is the venue's own bar, whatever was lost, doubled or late; and when nothing
 * of a bar or of its neighbours was lost, it is handed out. */
static void test_at_random(void)
{
    struct random random = random_seeded("exchange/bar", 20240808);
    struct trade *trades = calloc(TRADES, sizeof *trades);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t interval = random_chance(&random, 50) ? MINUTE_NS : SECOND_NS, now = 1722816000 * SECOND_NS;
        int lost_percent = (int[]){0, 1, 10}[round % 3];
        for (size_t i = 0; i < TRADES; i++) {
            now += random_between(&random, 0, interval / (random_chance(&random, 5) ? 1 : 20));
            trades[i] =
                (struct trade){now, 1000 + (int64_t)i, random_between(&random, 1, 1 << 30),
                               random_between(&random, 1, 1 << 20), !random_chance(&random, lost_percent)};
        }
        struct bar_builder builder;
        struct bar bar;
        bar_builder_init(&builder, interval);
        size_t closed = 0, expected = 0;
        for (size_t from = 0, to; from < TRADES; from = to) {
            bool whole = from > 0 && trades[from - 1].seen;
            for (to = from; to < TRADES && trades[to].ts_ns / interval == trades[from].ts_ns / interval; to++)
                whole &= trades[to].seen;
            if (to < TRADES)
                expected += whole && trades[to].seen;
        }
        for (size_t i = 0; i < TRADES; i++) {
            if (!trades[i].seen)
                continue;
            if (i > 0 && random_chance(&random, 3)) { /* again, later */
                size_t old = (size_t)random_between(&random, 0, (int64_t)i - 1);
                if (trades[old].seen)
                    CHECK_INT(bar_builder_trade(&builder, trades[i].ts_ns, trades[old].id, 1, 1, &bar),
                              BAR_STALE);
            }
            enum bar_built built = bar_builder_trade(&builder, trades[i].ts_ns, trades[i].id, trades[i].price,
                                                     trades[i].qty, &bar);
            if (built != BAR_CLOSED)
                continue;
            size_t from = 0, to;
            while (trades[from].ts_ns / interval * interval < bar.open_ns)
                from++;
            for (to = from; to < TRADES && trades[to].ts_ns / interval * interval == bar.open_ns;)
                to++;
            struct bar naive = group(trades, from, to, interval);
            CHECK(equal(&bar, &naive));
            closed++;
        }
        CHECK_INT(closed, expected);
    }
    free(trades);
}

int main(void)
{
    test_intervals();
    test_months();
    test_complete();
    test_first_is_unknown();
    test_gap();
    test_stale();
    test_close();
    test_interrupt();
    test_loose();
    test_odd();
    test_absurd_sums();
    test_at_random();
    return check_done("exchange/bar");
}
