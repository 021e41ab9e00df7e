/* Splits: what is a split, and by counting that all of them are there. */
#include <errno.h>
#include <string.h>

#include "tests/check.h"
#include "tests/random.h"
#include "trainer/study/split.h"

static void refused(const char *text, const char *right)
{
    struct split split = {.groups = 7};
    char err[SPLIT_ERROR_MAX] = "";
    CHECK_INT(split_parse(text, &split, err), -EINVAL);
    CHECK_INT(split.groups, 7);
    CHECK(strstr(err, text) && strstr(err, right));
}

static void test_parse(void)
{
    struct split split;
    char err[SPLIT_ERROR_MAX] = "";
    CHECK_INT(split_parse("cpcv:5,2", &split, err), 0);
    CHECK_INT(split.combinations, 10);
    CHECK_INT(split.paths, 4);
    CHECK_INT(split_parse("cpcv:6,2", &split, err), 0);
    CHECK_INT(split.combinations, 15);
    CHECK_INT(split.paths, 5);
    CHECK_INT(split_parse("cpcv:64,2", &split, err), 0);
    CHECK_INT(split.combinations, 2016);
    static const char *const wrong[] = {"",          "cpcv",      "cpcv:5",    "cpcv:5,",
                                        "cpcv:,2",   "kfold:5,2", "cpcv:5,2 ", "cpcv:5,2,1",
                                        "cpcv: 5,2", "cpcv:-5,2", "cpcv:5,+2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(wrong[i], "cpcv:N,K is right");
    refused("cpcv:1,1", "2 to 64 groups");
    refused("cpcv:65,2", "2 to 64 groups");
    refused("cpcv:5,0", "at least one group");
    refused("cpcv:5,5", "at least one group");
    refused("cpcv:40,20", "at most 10000 combinations");
}

/* Groups are contiguous and of nearly one size; blocks are the groups, joined where they touch. */
static void test_rows(const struct split *split, size_t rows)
{
    size_t at = 0, least = rows, most = 0;
    for (int k = 0; k < split->groups; k++) {
        struct split_rows group = split_group(split, rows, k);
        CHECK_INT(group.from, at);
        at = group.to;
        least = group.to - group.from < least ? group.to - group.from : least;
        most = group.to - group.from > most ? group.to - group.from : most;
    }
    CHECK_INT(at, rows);
    CHECK(most - least <= 1);
}

static void test_blocks(const struct split *split, size_t rows, const int *chosen)
{
    struct split_rows blocks[SPLIT_GROUPS_MAX];
    int n = split_blocks(split, rows, chosen, blocks), runs = 1;
    size_t tested = 0, in_blocks = 0;
    for (int i = 0; i < split->tested; i++) {
        struct split_rows group = split_group(split, rows, chosen[i]);
        runs += i > 0 && chosen[i] != chosen[i - 1] + 1;
        tested += group.to - group.from;
        bool inside = false;
        for (int b = 0; b < n; b++)
            inside |= group.from >= blocks[b].from && group.to <= blocks[b].to;
        CHECK(inside);
    }
    for (int b = 0; b < n; b++) {
        in_blocks += blocks[b].to - blocks[b].from;
        CHECK(b == 0 || rows < (size_t)split->groups || blocks[b].from > blocks[b - 1].to);
    }
    CHECK_INT(n, runs);
    CHECK_INT(in_blocks, tested);
}

static void test_combinations(int groups, int tested, size_t rows)
{
    char text[32], err[SPLIT_ERROR_MAX];
    struct split split;
    int chosen[SPLIT_GROUPS_MAX], before[SPLIT_GROUPS_MAX], n = 0, times[SPLIT_GROUPS_MAX] = {0};
    snprintf(text, sizeof text, "cpcv:%d,%d", groups, tested);
    CHECK_INT(split_parse(text, &split, err), 0);
    test_rows(&split, rows);
    split_begin(&split, chosen);
    do {
        int first = 0;
        for (int i = 0; i < tested; i++) {
            CHECK(chosen[i] >= 0 && chosen[i] < groups && (i == 0 || chosen[i] > chosen[i - 1]));
            times[chosen[i]]++;
        }
        while (n > 0 && first < tested && chosen[first] == before[first])
            first++;
        CHECK(n == 0 || (first < tested && chosen[first] > before[first])); /* rising: none comes twice */
        memcpy(before, chosen, sizeof before);
        test_blocks(&split, rows, chosen);
        n++;
    } while (split_next(&split, chosen));
    CHECK_INT(n, split.combinations);
    for (int k = 0; k < groups; k++)
        CHECK_INT(times[k], split.paths);
}

int main(void)
{
    struct random random = random_seeded("trainer/split", 20261122);
    test_parse();
    for (int groups = 2; groups <= 9; groups++)
        for (int tested = 1; tested < groups; tested++)
            test_combinations(groups, tested, (size_t)random_between(&random, 0, 100000));
    test_combinations(64, 2, 1000003);
    return check_done("trainer/split");
}
