/* The measures of a book: worked examples, what has none, and random books against sums over a plain list. */
#include "exchange/book_measure.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/random.h"

static const struct symbol symbol = {.name = "BTCUSDT", .price_scale = 2, .qty_scale = 3};

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

static bool untouched(const double *ret)
{
    return ret[0] == -7 && ret[1] == -7 && ret[2] == -7;
}

static void test_examples(void)
{
    /* 100.00 × 1.000 … against 100.50 × 3.000 …; six levels of bids, of which five count. */
    struct book_level bids[] = {{10000, 1000}, {9990, 2000}, {9980, 1500},
                                {9970, 500},   {9960, 3000}, {9950, 999999}};
    struct book_level asks[] = {{10050, 3000}, {10060, 1000}};
    struct book book;
    double ret[BOOK_MEASURES];
    book_init(&book);
    CHECK_INT(book_snapshot(&book, 7, bids, 6, asks, 2), BOOK_APPLIED);
    CHECK(book_measures(&book, &symbol, ret));
    CHECK(near(ret[BOOK_SPREAD], 0.5));
    CHECK(near(ret[BOOK_IMBALANCE], (8.0 - 4.0) / 12.0));
    CHECK(near(ret[BOOK_MICROPRICE], (100.0 * 3 + 100.5 * 1) / 4));
    CHECK(book_measures_quote(&bids[0], &asks[0], &symbol, ret));
    CHECK(near(ret[BOOK_SPREAD], 0.5) && near(ret[BOOK_IMBALANCE], -0.5) &&
          near(ret[BOOK_MICROPRICE], 100.125));
    book_finish(&book);

    /* Quantities at the end of their range. */
    struct book_level bid = {INT64_MAX - 1, INT64_MAX}, ask = {INT64_MAX, INT64_MAX};
    CHECK(book_measures_quote(&bid, &ask, &symbol, ret));
    CHECK(ret[BOOK_IMBALANCE] == 0 && isfinite(ret[BOOK_MICROPRICE]) && near(ret[BOOK_SPREAD], 0.01));
    ask.qty = 0;
    CHECK(book_measures_quote(&bid, &ask, &symbol, ret));
    CHECK(ret[BOOK_IMBALANCE] == 1);
    bid.price = ask.price; /* locked */
    CHECK(book_measures_quote(&bid, &ask, &symbol, ret));
    CHECK(ret[BOOK_SPREAD] == 0);
}

static void test_none(void)
{
    struct book_level bid = {10000, 1000}, ask = {10050, 3000}, none = {0, 0}, high = {10051, 1},
                      empty_bid = {10000, 0}, empty_ask = {10050, 0};
    struct book book;
    double ret[BOOK_MEASURES] = {-7, -7, -7};
    book_init(&book);
    CHECK(!book_measures(&book, &symbol, ret));
    CHECK_INT(book_diff(&book, 5, 6, &bid, 1, &ask, 1), BOOK_NEED_SNAPSHOT);
    CHECK(!book_measures(&book, &symbol, ret));
    CHECK_INT(book_snapshot(&book, 9, &bid, 1, &ask, 1), BOOK_APPLIED); /* ahead of the stream */
    CHECK(!book_measures(&book, &symbol, ret));
    CHECK(untouched(ret));
    CHECK_INT(book_diff(&book, 7, 9, &bid, 1, &ask, 1), BOOK_IGNORED);
    CHECK(book_measures(&book, &symbol, ret));
    ret[0] = ret[1] = ret[2] = -7;
    book_reset(&book);
    CHECK_INT(book_snapshot(&book, 9, &bid, 1, NULL, 0), BOOK_APPLIED);
    CHECK(!book_measures(&book, &symbol, ret));
    CHECK(!book_measures_quote(&none, &ask, &symbol, ret));
    CHECK(!book_measures_quote(&bid, &none, &symbol, ret));
    CHECK(!book_measures_quote(&high, &ask, &symbol, ret));
    CHECK(!book_measures_quote(&empty_bid, &empty_ask, &symbol, ret));
    CHECK(untouched(ret));
    book_finish(&book);
}

static void test_at_random(void)
{
    struct random random = random_seeded("exchange/book_measure", 881265309);
    for (int round = 0; round < 2000; round++) {
        struct book_level bids[12], asks[12];
        uint32_t n_bids = (uint32_t)random_between(&random, 1, 12),
                 n_asks = (uint32_t)random_between(&random, 1, 12);
        int64_t bid = random_between(&random, 100000, 9000000), ask = bid + random_between(&random, 1, 5000);
        for (uint32_t i = 0; i < n_bids; i++)
            bids[i] = (struct book_level){bid - 7 * i, random_between(&random, 1, 1000000000)};
        for (uint32_t i = 0; i < n_asks; i++)
            asks[i] = (struct book_level){ask + 3 * i, random_between(&random, 1, 1000000000)};
        struct book book;
        double ret[BOOK_MEASURES];
        book_init(&book);
        CHECK_INT(book_snapshot(&book, 1, bids, n_bids, asks, n_asks), BOOK_APPLIED);
        CHECK(book_measures(&book, &symbol, ret));
        long double shown_bids = 0, shown_asks = 0;
        for (uint32_t i = 0; i < n_bids && i < 5; i++)
            shown_bids += bids[i].qty;
        for (uint32_t i = 0; i < n_asks && i < 5; i++)
            shown_asks += asks[i].qty;
        long double weight = (long double)bids[0].qty / (bids[0].qty + asks[0].qty);
        CHECK(near(ret[BOOK_SPREAD], (double)((long double)(ask - bid) / 100)));
        CHECK(near(ret[BOOK_IMBALANCE], (double)((shown_bids - shown_asks) / (shown_bids + shown_asks))));
        CHECK(near(ret[BOOK_MICROPRICE], (double)((bid * (1 - weight) + ask * weight) / 100)));
        book_finish(&book);
    }
}

static void test_names(void)
{
    CHECK_INT(book_measure_find("spread"), BOOK_SPREAD);
    CHECK_INT(book_measure_find("imbalance"), BOOK_IMBALANCE);
    CHECK_INT(book_measure_find("microprice"), BOOK_MICROPRICE);
    CHECK_INT(book_measure_find("Spread"), -1);
    CHECK_INT(book_measure_find(""), -1);
    for (int i = 0; i < BOOK_MEASURES; i++)
        CHECK_INT(book_measure_find(book_measure_name((enum book_measure)i)), i);
}

int main(void)
{
    test_examples();
    test_none();
    test_at_random();
    test_names();
    return check_done("exchange/book_measure");
}
