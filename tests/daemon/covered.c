/* Of which times bars are known: against an array of flags, by random additions; as a text and back; what is
 * no such text. */
#include "daemon/feed/covered.h"

#include <string.h>

#include "tests/check.h"
#include "tests/random.h"

enum { TIMES = 200, ROUNDS = 2000 };

/* The newest run of [from, end) that is not set, and how many are not. */
static bool lacks(const bool known[TIMES], int64_t from, int64_t end, int64_t *ret_from, int64_t *ret_end)
{
    while (end > from && known[end - 1])
        end--;
    *ret_end = *ret_from = end;
    while (*ret_from > from && !known[*ret_from - 1])
        --*ret_from;
    return end > from;
}

static void compare(const struct feed_covered *covered, const bool known[TIMES], int64_t from, int64_t end)
{
    int64_t a = 0, b = 0, x = 0, y = 0, sum = 0;
    bool any = feed_covered_lacks(covered, from, end, &a, &b);
    CHECK_INT(any, lacks(known, from, end, &x, &y));
    if (any) {
        CHECK_INT(a, x);
        CHECK_INT(b, y);
    }
    for (int64_t i = from; i < end; i++)
        sum += !known[i];
    CHECK_INT(feed_covered_lacked_ns(covered, from, end), sum);
}

static void test_random(void)
{
    struct random random = random_seeded("daemon/covered", 29);
    for (int round = 0; round < ROUNDS; round++) {
        bool known[TIMES] = {false};
        struct feed_covered covered, again;
        char text[COVERED_TEXT_MAX], back[COVERED_TEXT_MAX];
        feed_covered_init(&covered);
        for (int step = 0; step < 12; step++) {
            int64_t from = random_between(&random, 0, TIMES - 1), end = from + random_between(&random, 0, 19);
            end = end < TIMES ? end : TIMES;
            feed_covered_add(&covered, from, end);
            for (int64_t i = from; i < end; i++)
                known[i] = true;
            int64_t low = random_between(&random, 0, TIMES - 1);
            compare(&covered, known, low, random_between(&random, low, TIMES));
            compare(&covered, known, 0, TIMES);
        }
        feed_covered_text(&covered, text);
        CHECK(feed_covered_parse(&again, text));
        feed_covered_text(&again, back);
        CHECK_STR(back, text);
        int64_t from = random_between(&random, 0, TIMES - 1);
        feed_covered_forget_before(&covered, from);
        memset(known, 0, (size_t)from);
        compare(&covered, known, 0, TIMES);
        covered.listed_ns = from;
        memset(known, true, (size_t)from);
        compare(&covered, known, 0, TIMES);
    }
}

/* The oldest of too many is forgotten, and no other. */
static void test_many(void)
{
    struct feed_covered covered;
    int64_t from = 0, end = 0;
    feed_covered_init(&covered);
    for (int i = 0; i < COVERED_RANGES_MAX + 3; i++)
        feed_covered_add(&covered, 10 * i, 10 * i + 5);
    CHECK_INT(covered.n, COVERED_RANGES_MAX);
    CHECK_INT(covered.ranges[COVERED_RANGES_MAX - 1].from_ns, 30);
    feed_covered_add(&covered, 0, 5);
    CHECK_INT(covered.ranges[COVERED_RANGES_MAX - 1].from_ns, 30);
    CHECK(feed_covered_lacks(&covered, 0, 35, &from, &end));
    CHECK(from == 0 && end == 30);
    char text[COVERED_TEXT_MAX];
    struct feed_covered wide;
    feed_covered_init(&wide);
    for (int i = 0; i < COVERED_RANGES_MAX; i++)
        feed_covered_add(&wide, INT64_MAX - 2 * i - 1, INT64_MAX - 2 * i);
    feed_covered_text(&wide, text);
    CHECK(feed_covered_parse(&covered, text));
    CHECK_INT(covered.n, COVERED_RANGES_MAX);
}

static void test_texts(void)
{
    static const char *const bad[] = {"",      "x",     "-2",     "5 7",    "5 7-",
                                      "5 7-7", "5 9-7", "5 -1-7", "5 7-9x", "5 7-9 x"};
    struct feed_covered covered;
    CHECK(feed_covered_parse(&covered, "-1"));
    CHECK_INT(covered.n, 0);
    CHECK(feed_covered_parse(&covered, "7 20-30 10-15"));
    CHECK(covered.listed_ns == 7 && covered.n == 2 && covered.ranges[0].from_ns == 20);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(!feed_covered_parse(&covered, bad[i]));
        CHECK(covered.n == 0 && covered.listed_ns == -1);
    }
}

int main(void)
{
    test_random();
    test_many();
    test_texts();
    return check_done("daemon/covered");
}
