/* Symbols by name against a search one by one: seeded lists that grow, names that are alike, cut short,
 * longer than any, or there twice. */
#include "exchange/symbol_table.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

enum { MOST = 600, ROUNDS = 40 };

static struct symbol list[SYMBOLS_MAX + 1];
static struct symbol_table table;

static int search(const char *name, size_t len, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i].name) == len && strncmp(list[i].name, name, len) == 0)
            return (int)i;
    return -1;
}

/* Few letters, so that names are alike, and different for each i. */
static void draw_name(struct random *random, size_t i, char name[static SYMBOL_NAME_MAX])
{
    int len = (int)random_between(random, 0, 10);
    for (int k = 0; k < len; k++)
        name[k] = (char)('A' + random_between(random, 0, 2));
    snprintf(name + len, SYMBOL_NAME_MAX - (size_t)len, "%zu", i);
}

static void check_all(size_t n)
{
    char name[SYMBOL_NAME_MAX + 8];
    for (size_t i = 0; i <= n && i < MOST; i++) {
        size_t len = strlen(list[i].name);
        CHECK_INT(symbol_table_find(&table, list[i].name, len), search(list[i].name, len, n));
        CHECK_INT(symbol_table_find(&table, list[i].name, len - 1), search(list[i].name, len - 1, n));
        snprintf(name, sizeof name, "%sX", list[i].name);
        CHECK_INT(symbol_table_find(&table, name, len + 1), -1);
    }
    memset(name, 'A', sizeof name);
    CHECK_INT(symbol_table_find(&table, name, sizeof name), -1);
    CHECK_INT(symbol_table_find(&table, name, 0), -1);
}

static void test_growth(struct random *random)
{
    for (size_t i = 0; i < MOST; i++)
        draw_name(random, i, list[i].name);
    table = (struct symbol_table){.symbols = list};
    check_all(0);
    for (size_t n = 0; n < MOST;) {
        size_t more = n + (size_t)random_between(random, 0, 200);
        more = more < MOST ? more : MOST;
        CHECK_INT(symbol_table_grow(&table, more), 0);
        CHECK_INT(table.n, more);
        if (more > 0)
            CHECK_INT(symbol_table_grow(&table, more - 1), -EINVAL);
        check_all(n = more);
    }
}

/* A name twice changes nothing, wherever it is. */
static void test_twice(struct random *random)
{
    struct symbol kept;
    for (size_t i = 0; i < MOST; i++)
        draw_name(random, i, list[i].name);
    table = (struct symbol_table){.symbols = list};
    size_t half = MOST / 2, at = half + (size_t)random_between(random, 0, MOST / 2 - 1);
    CHECK_INT(symbol_table_grow(&table, half), 0);
    kept = list[at];
    list[at] = list[random_between(random, 0, (int64_t)at - 1)];
    CHECK_INT(symbol_table_grow(&table, MOST), -EINVAL);
    CHECK_INT(table.n, half);
    check_all(half);
    list[at] = kept;
    CHECK_INT(symbol_table_grow(&table, MOST), 0);
    check_all(MOST);
}

int main(void)
{
    struct random random = random_seeded("exchange/symbol_table", 1);
    for (int round = 0; round < ROUNDS; round++) {
        test_growth(&random);
        test_twice(&random);
    }
    CHECK_INT(symbol_table_grow(&table, SYMBOLS_MAX + 1), -EINVAL);
    return check_done("symbol_table");
}
