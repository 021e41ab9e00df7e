/* One side of a book against a plain array of quantities by price: differences of all sizes, sorted best
 * first as venues send them, in any order, and with a price twice; then both ends of the bounds. */
#include "exchange/book_side.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

enum { PRICES = 700, CHANGES_MAX = 300, ROUNDS = 60, STEPS = 120 };

static bool same(const struct book_side *side, const int64_t *qtys, int sign)
{
    uint32_t i = side->n;
    for (int k = 0; k < PRICES; k++) { /* best first */
        int price = sign > 0 ? PRICES - 1 - k : k;
        if (qtys[price] == 0)
            continue;
        if (i-- == 0 || side->levels[i].price != price + 1 || side->levels[i].qty != qtys[price])
            return false;
    }
    return i == 0;
}

static uint32_t change(struct random *random, int64_t *qtys, int sign, struct book_level *changes)
{
    uint32_t n = 0;
    bool sorted = random_chance(random, 80);
    int chance = (int)random_between(random, 0, random_chance(random, 30) ? 60 : 8);
    int deletes = (int)random_between(random, 0, 100);
    for (int k = 0; k < PRICES && n < CHANGES_MAX; k++) {
        if (!random_chance(random, (unsigned)chance))
            continue;
        int price = sorted ? sign > 0 ? PRICES - 1 - k : k : (int)random_between(random, 0, PRICES - 1);
        int64_t qty = random_chance(random, (unsigned)deletes) ? 0 : random_between(random, 1, 1000);
        changes[n++] = (struct book_level){price + 1, qtys[price] = qty};
        if (random_chance(random, 1) && n < CHANGES_MAX) /* the same price again */
            changes[n++] = (struct book_level){price + 1, qtys[price] = random_between(random, 0, 3)};
    }
    return n;
}

static void test_at_random(void)
{
    struct random random = random_seeded("exchange/book_side", 3346022081);
    uint64_t changed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int sign = round % 2 ? -1 : 1;
        int64_t qtys[PRICES] = {0};
        struct book_side side = {0};
        for (int step = 0; step < STEPS; step++) {
            struct book_level changes[CHANGES_MAX];
            uint32_t n = change(&random, qtys, sign, changes);
            CHECK_INT(book_side_apply(&side, changes, n, sign), 0);
            CHECK(same(&side, qtys, sign));
            changed += n;
            int price = (int)random_between(&random, 0, PRICES - 1);
            uint32_t at = book_side_find(&side, price + 1, sign);
            CHECK((at < side.n && side.levels[at].price == price + 1) == (qtys[price] != 0));
            CHECK(at == 0 || sign * side.levels[at - 1].price < sign * (price + 1));
            CHECK(at == side.n || sign * side.levels[at].price >= sign * (price + 1));
        }
        free(side.levels);
    }
    printf("exchange/book_side: %ju changes\n", (uintmax_t)changed);
    CHECK(changed > 100000);
}

static void test_bounds(void)
{
    struct book_level *levels = calloc(BOOK_LEVELS_MAX, sizeof *levels), more[4];
    struct book_side side = {0};
    for (int i = 0; i < BOOK_LEVELS_MAX; i++)
        levels[i] = (struct book_level){10 + 2 * i, 1};
    CHECK_INT(book_side_load(&side, levels, BOOK_LEVELS_MAX, -1), 0);
    for (int i = 0; i < 4; i++) /* as many go as come */
        more[i] = (struct book_level){10 + i, i % 2};
    CHECK_INT(book_side_apply(&side, more, 4, -1), 0);
    CHECK_INT(side.n, BOOK_LEVELS_MAX);
    CHECK_INT(side.levels[side.n - 1].price, 11);
    CHECK_INT(side.levels[side.n - 2].price, 13);
    CHECK_INT(side.levels[0].price, 10 + 2 * (BOOK_LEVELS_MAX - 1));
    for (int i = 0; i < 4; i++)
        more[i] = (struct book_level){1 + i, 1};
    CHECK_INT(book_side_apply(&side, more, 4, -1), -E2BIG);
    CHECK_INT(book_side_apply(&side, more, 1, -1), -E2BIG);
    free(side.levels);
    free(levels);

    /* Prices at the ends of their range. */
    struct book_level ends[] = {{INT64_MAX, 1}, {5, 2}, {1, 3}, {0, 0}};
    side = (struct book_side){0};
    CHECK_INT(book_side_apply(&side, ends, 4, 1), 0);
    CHECK_INT(book_side_apply(&side, ends, 4, 1), 0);
    CHECK_INT(side.n, 3);
    CHECK_INT(side.levels[2].price, INT64_MAX);
    ends[0].qty = ends[1].qty = ends[2].qty = 0;
    CHECK_INT(book_side_apply(&side, ends, 4, 1), 0);
    CHECK_INT(side.n, 0);
    free(side.levels);
}

int main(void)
{
    test_at_random();
    test_bounds();
    return check_done("exchange/book_side");
}
