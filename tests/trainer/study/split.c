/* Splits: what is a split; by counting that all of them and all paths are there; and row by row that nothing
 * is trained on that is within purge or embargo of what is tested. */
#include <errno.h>
#include <string.h>

#include "tests/check.h"
#include "tests/random.h"
#include "trainer/study/split.h"

static void refused(const char *text, const char *right)
{
    struct study_split split = {.groups = 7};
    char err[SPLIT_ERROR_MAX] = "";
    CHECK_INT(split_parse(text, &split, err), -EINVAL);
    CHECK_INT(split.groups, 7);
    CHECK(strstr(err, text) && strstr(err, right));
}

static void test_parse(void)
{
    struct study_split split;
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
                                        "cpcv:,2",   "fold:5",    "cpcv:5,2 ", "cpcv:5,2,1",
                                        "cpcv: 5,2", "cpcv:-5,2", "cpcv:5,+2", "walk:5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(wrong[i], "cpcv:N,K is right");
    static const char *const folds[] = {"kfold:", "kfold:5,2", "kfold:x", "kfold:+5", "kfold:5 "};
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        refused(folds[i], "kfold:N is right");
    refused("walk-forward:5,1", "walk-forward:N is right");
    refused("walk-forward:-1", "walk-forward:N is right");
    refused("kfold:1", "2 to 64 groups");
    refused("kfold:65", "2 to 64 groups");
    refused("walk-forward:0", "1 to 63 groups");
    refused("walk-forward:64", "1 to 63 groups");
    CHECK_INT(split_parse("kfold:7", &split, err), 0);
    CHECK_INT(split.kind, SPLIT_KFOLD);
    CHECK_INT(split.groups, 7);
    CHECK_INT(split.tested, 1);
    CHECK_INT(split.combinations, 7);
    CHECK_INT(split.paths, 1);
    CHECK_INT(split_parse("walk-forward:63", &split, err), 0);
    CHECK_INT(split.kind, SPLIT_WALK_FORWARD);
    CHECK_INT(split.groups, 64);
    CHECK_INT(split.tested, 1);
    CHECK_INT(split.combinations, 63);
    CHECK_INT(split.paths, 1);
    refused("cpcv:1,1", "2 to 64 groups");
    refused("cpcv:65,2", "2 to 64 groups");
    refused("cpcv:5,0", "at least one group");
    refused("cpcv:5,5", "at least one group");
    CHECK_INT(split_parse("cpcv:40,20", &split, err), -E2BIG);
    CHECK(strstr(err, "at most 10000 combinations"));
}

/* Groups are contiguous and of nearly one size; blocks are the groups, joined where they touch. */
static void test_rows(const struct study_split *split, size_t rows)
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

static void test_blocks(const struct study_split *split, size_t rows, const int *chosen)
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

/* Whatever is trained on is far enough from whatever is tested, and what is left out had to be. */
static unsigned long trained_rows;
static void test_training(const struct study_split *split, size_t rows, const int *chosen, size_t purge,
                          size_t embargo)
{
    enum { ROWS_MAX = 512 };
    char what[ROWS_MAX] = {0}; /* 't' tested, 'r' may be trained on */
    struct split_rows blocks[SPLIT_BLOCKS_MAX];
    int n = split_training(split, rows, chosen, purge, embargo, blocks);
    CHECK(rows <= ROWS_MAX && n >= 0 && n <= SPLIT_BLOCKS_MAX);
    for (int i = 0; i < split->tested; i++) {
        struct split_rows group = split_group(split, rows, chosen[i]);
        memset(what + group.from, 't', group.to - group.from);
    }
    for (int b = 0; b < n; b++) {
        CHECK(blocks[b].from < blocks[b].to && blocks[b].to <= rows);
        CHECK(b == 0 || blocks[b].from > blocks[b - 1].to);
        for (size_t r = blocks[b].from; r < blocks[b].to; r++) {
            CHECK(what[r] == 0);
            what[r] = 'r';
        }
        trained_rows += blocks[b].to - blocks[b].from;
    }
    for (size_t r = 0; r < rows; r++) {
        size_t before = SIZE_MAX, after = SIZE_MAX; /* the nearest tested row on each side */
        for (size_t t = 0; t < rows; t++)
            if (what[t] == 't' && t > r && after == SIZE_MAX)
                after = t - r;
            else if (what[t] == 't' && t < r)
                before = r - t;
        bool clear = what[r] != 't' && after > purge && before > purge + embargo &&
                     !(split->kind == SPLIT_WALK_FORWARD && before < SIZE_MAX);
        CHECK_INT(what[r] == 'r', clear);
    }
}

/* Each path has each tested group once, and they are numbered as the combinations come. */
static void test_paths(const struct study_split *split)
{
    int chosen[SPLIT_GROUPS_MAX], same[SPLIT_GROUPS_MAX], n = 0, next[SPLIT_GROUPS_MAX] = {0};
    split_begin(split, chosen);
    do {
        split_combination(split, n, same);
        CHECK(memcmp(same, chosen, (size_t)split->tested * sizeof *chosen) == 0);
        for (int k = 0, i = 0; k < split->groups; k++)
            if (i < split->tested && chosen[i] == k) {
                CHECK_INT(split_path(split, n, k), next[k]++);
                i++;
            } else {
                CHECK_INT(split_path(split, n, k), -1);
            }
        n++;
    } while (split_next(split, chosen));
    CHECK_INT(n, split->combinations);
    for (int k = split->kind == SPLIT_WALK_FORWARD; k < split->groups; k++)
        CHECK_INT(next[k], split->paths);
}

static void test_combinations(int groups, int tested, size_t rows)
{
    char text[32], err[SPLIT_ERROR_MAX];
    struct study_split split;
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
    test_paths(&split);
}

static void test_purged(struct random *random, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        char text[32], err[SPLIT_ERROR_MAX];
        int groups = (int)random_between(random, 2, 8), chosen[SPLIT_GROUPS_MAX];
        size_t rows = (size_t)random_between(random, groups, 300);
        size_t purge = (size_t)random_between(random, 0, random_chance(random, 10) ? 400 : 20);
        size_t embargo = (size_t)random_between(random, 0, random_chance(random, 10) ? 400 : 20);
        struct study_split split;
        int kind = (int)random_between(random, 0, 2);
        if (kind == SPLIT_CPCV)
            snprintf(text, sizeof text, "cpcv:%d,%d", groups, (int)random_between(random, 1, groups - 1));
        else
            snprintf(text, sizeof text, "%s:%d", kind == SPLIT_KFOLD ? "kfold" : "walk-forward",
                     groups - (kind == SPLIT_WALK_FORWARD));
        CHECK_INT(split_parse(text, &split, err), 0);
        split_begin(&split, chosen);
        do
            test_training(&split, rows, chosen, purge, embargo);
        while (split_next(&split, chosen));
        test_paths(&split);
    }
    printf("purge and embargo: %d splits, %lu rows to train on\n", rounds, trained_rows);
    CHECK(trained_rows > 0);
}

/* No limits of a size_t are crossed. */
static void test_far(void)
{
    struct study_split split;
    struct split_rows blocks[SPLIT_BLOCKS_MAX];
    char err[SPLIT_ERROR_MAX];
    int chosen[SPLIT_GROUPS_MAX] = {2};
    CHECK_INT(split_parse("kfold:5", &split, err), 0);
    CHECK_INT(split_training(&split, 100, chosen, SIZE_MAX, SIZE_MAX, blocks), 0);
    CHECK_INT(split_training(&split, 100, chosen, 0, SIZE_MAX, blocks), 1);
    CHECK_INT(blocks[0].from, 0);
    CHECK_INT(blocks[0].to, 40);
}

int main(void)
{
    struct random random = random_seeded("trainer/split", 20261122);
    struct study_split five;
    char err[SPLIT_ERROR_MAX];
    test_parse();
    for (int groups = 2; groups <= 9; groups++)
        for (int tested = 1; tested < groups; tested++)
            test_combinations(groups, tested, (size_t)random_between(&random, 0, 100000));
    test_combinations(64, 2, 1000003);
    CHECK_INT(split_parse("cpcv:5,2", &five, err), 0);
    printf("cpcv:5,2: %d combinations, %d paths\n", five.combinations, five.paths);
    test_purged(&random, getenv("PAPERTAPE_LONG") ? 3000 : 150);
    test_far();
    return check_done("trainer/split");
}
