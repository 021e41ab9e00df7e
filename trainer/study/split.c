#include "trainer/study/split.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"

/* C(n, k), or SPLIT_COMBINATIONS_MAX + 1 where it is more. */
static int64_t choose(int n, int k)
{
    int64_t ways = 1;
    k = k > n - k ? n - k : k;
    for (int i = 1; i <= k; i++) {
        ways = ways * (n - k + i) / i; /* C(n - k + i, i): whole at each step, and rising */
        if (ways > SPLIT_COMBINATIONS_MAX)
            return SPLIT_COMBINATIONS_MAX + 1;
    }
    return ways;
}

static int refuse_many(char err[static SPLIT_ERROR_MAX], const char *text)
{
    return fail_with(-E2BIG, err, SPLIT_ERROR_MAX,
                     "splits: %.64s: at most %d combinations are right: fewer groups", text,
                     SPLIT_COMBINATIONS_MAX);
}

static int refuse(char err[static SPLIT_ERROR_MAX], const char *text, const char *right)
{
    return fail_with(-EINVAL, err, SPLIT_ERROR_MAX, "splits: %.64s: %s", text, right);
}

/* The whole numbers behind a kind's name, with a comma between two: has `text` them, and nothing else? */
static bool read_numbers(const char *text, int n, int *ret_a, int *ret_b)
{
    int end = 0;
    if (strspn(text, "0123456789,") != strlen(text))
        return false;
    bool read =
        n == 2 ? sscanf(text, "%9d,%9d%n", ret_a, ret_b, &end) == 2 : sscanf(text, "%9d%n", ret_a, &end) == 1;
    return read && text[end] == '\0';
}

static int parse_cpcv(const char *text, int groups, int tested, struct study_split *ret,
                      char err[static SPLIT_ERROR_MAX])
{
    if (groups < 2 || groups > SPLIT_GROUPS_MAX)
        return refuse(err, text, "2 to 64 groups are right");
    if (tested < 1 || tested >= groups)
        return refuse(err, text, "at least one group is tested, and not all of them");
    int64_t combinations = choose(groups, tested);
    if (combinations > SPLIT_COMBINATIONS_MAX)
        return refuse_many(err, text);
    *ret = (struct study_split){SPLIT_CPCV, groups, tested, (int)combinations,
                                (int)(combinations * tested / groups)};
    return 0;
}

int split_parse(const char *text, struct study_split *ret, char err[static SPLIT_ERROR_MAX])
{
    static const char cpcv[] = "cpcv:", kfold[] = "kfold:", walk[] = "walk-forward:";
    int groups = 0, tested = 1;
    if (strncmp(text, cpcv, sizeof cpcv - 1) == 0)
        return read_numbers(text + sizeof cpcv - 1, 2, &groups, &tested)
                   ? parse_cpcv(text, groups, tested, ret, err)
                   : refuse(err, text, "cpcv:N,K is right, as cpcv:5,2");
    if (strncmp(text, kfold, sizeof kfold - 1) == 0) {
        if (!read_numbers(text + sizeof kfold - 1, 1, &groups, NULL))
            return refuse(err, text, "kfold:N is right, as kfold:5");
        if (groups < 2 || groups > SPLIT_GROUPS_MAX)
            return refuse(err, text, "2 to 64 groups are right");
        *ret = (struct study_split){SPLIT_KFOLD, groups, 1, groups, 1};
        return 0;
    }
    if (strncmp(text, walk, sizeof walk - 1) == 0) {
        if (!read_numbers(text + sizeof walk - 1, 1, &groups, NULL))
            return refuse(err, text, "walk-forward:N is right, as walk-forward:5");
        if (groups < 1 || groups >= SPLIT_GROUPS_MAX)
            return refuse(err, text, "1 to 63 groups that are tested are right");
        *ret = (struct study_split){SPLIT_WALK_FORWARD, groups + 1, 1, groups, 1};
        return 0;
    }
    return refuse(err, text, "cpcv:N,K is right, as cpcv:5,2, or kfold:N, or walk-forward:N");
}

struct split_rows split_group(const struct study_split *split, size_t rows, int k)
{
    size_t n = (size_t)split->groups, whole = rows / n, rest = rows % n, at = (size_t)k;
    return (struct split_rows){at * whole + at * rest / n, (at + 1) * whole + (at + 1) * rest / n};
}

void split_begin(const struct study_split *split, int chosen[static SPLIT_GROUPS_MAX])
{
    for (int i = 0; i < split->tested; i++)
        chosen[i] = i + (split->kind == SPLIT_WALK_FORWARD);
}

bool split_next(const struct study_split *split, int chosen[static SPLIT_GROUPS_MAX])
{
    int i = split->tested - 1;
    while (i >= 0 && chosen[i] == split->groups - split->tested + i)
        i--;
    if (i < 0)
        return false;
    chosen[i]++;
    for (; i + 1 < split->tested; i++)
        chosen[i + 1] = chosen[i] + 1;
    return true;
}

void split_combination(const struct study_split *split, int combination, int chosen[static SPLIT_GROUPS_MAX])
{
    int at = split->kind == SPLIT_WALK_FORWARD;
    for (int i = 0; i < split->tested; i++, at++) {
        /* How many have this group here: those of the groups behind it. */
        for (int64_t n; (n = choose(split->groups - 1 - at, split->tested - 1 - i)) <= combination; at++)
            combination -= (int)n;
        chosen[i] = at;
    }
}

int split_blocks(const struct study_split *split, size_t rows, const int chosen[static SPLIT_GROUPS_MAX],
                 struct split_rows ret[static SPLIT_GROUPS_MAX])
{
    int n = 0;
    for (int i = 0; i < split->tested; i++) {
        struct split_rows group = split_group(split, rows, chosen[i]);
        if (i > 0 && chosen[i] == chosen[i - 1] + 1)
            ret[n - 1].to = group.to;
        else
            ret[n++] = group;
    }
    return n;
}

int split_training(const struct study_split *split, size_t rows, const int chosen[static SPLIT_GROUPS_MAX],
                   size_t purge, size_t embargo, struct split_rows ret[static SPLIT_BLOCKS_MAX])
{
    struct split_rows tested[SPLIT_GROUPS_MAX];
    int n_tested = split_blocks(split, rows, chosen, tested), n = 0;
    size_t from = 0;
    for (int b = 0; b < n_tested; b++) {
        size_t to = tested[b].from > purge ? tested[b].from - purge : 0;
        if (to > from)
            ret[n++] = (struct split_rows){from, to};
        from = tested[b].to < rows ? tested[b].to : rows;
        from = rows - from > purge ? from + purge : rows;
        from = rows - from > embargo ? from + embargo : rows;
    }
    if (split->kind != SPLIT_WALK_FORWARD && from < rows)
        ret[n++] = (struct split_rows){from, rows};
    return n;
}

/* How many combinations before number `combination` test group k. */
static int tested_before(const struct study_split *split, int combination, int k)
{
    int chosen[SPLIT_GROUPS_MAX], n = split->groups, at = 0;
    int64_t ways = 0;
    bool has = false; /* do the combinations so far all have group k? */
    split_combination(split, combination, chosen);
    for (int i = 0; i < split->tested; i++) {
        int rest = split->tested - 1 - i;
        for (; at < chosen[i]; at++)
            ways += has || at == k       ? choose(n - 1 - at, rest)
                    : k > at && rest > 0 ? choose(n - 2 - at, rest - 1)
                                         : 0;
        has = has || at == k;
        at++;
    }
    return (int)ways;
}

int split_path(const struct study_split *split, int combination, int k)
{
    int chosen[SPLIT_GROUPS_MAX];
    split_combination(split, combination, chosen);
    for (int i = 0; i < split->tested; i++)
        if (chosen[i] == k)
            return split->kind == SPLIT_CPCV ? tested_before(split, combination, k) : 0;
    return -1;
}
