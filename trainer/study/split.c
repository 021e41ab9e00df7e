#include "trainer/study/split.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

static int refuse(char err[static SPLIT_ERROR_MAX], const char *text, const char *right)
{
    snprintf(err, SPLIT_ERROR_MAX, "splits: %.64s: %s", text, right);
    return -EINVAL;
}

int split_parse(const char *text, struct split *ret, char err[static SPLIT_ERROR_MAX])
{
    int groups, tested, end = 0;
    if (sscanf(text, "cpcv:%9d,%9d%n", &groups, &tested, &end) != 2 || text[end] != '\0' ||
        strspn(text + 5, "0123456789,") != strlen(text + 5))
        return refuse(err, text, "cpcv:N,K is right, as cpcv:5,2");
    if (groups < 2 || groups > SPLIT_GROUPS_MAX)
        return refuse(err, text, "2 to 64 groups are right");
    if (tested < 1 || tested >= groups)
        return refuse(err, text, "at least one group is tested, and not all of them");
    int64_t combinations = choose(groups, tested);
    if (combinations > SPLIT_COMBINATIONS_MAX)
        return refuse(err, text, "at most 10000 combinations are right: fewer groups");
    *ret =
        (struct split){SPLIT_CPCV, groups, tested, (int)combinations, (int)(combinations * tested / groups)};
    return 0;
}

struct split_rows split_group(const struct split *split, size_t rows, int k)
{
    size_t n = (size_t)split->groups, whole = rows / n, rest = rows % n, at = (size_t)k;
    return (struct split_rows){at * whole + at * rest / n, (at + 1) * whole + (at + 1) * rest / n};
}

void split_begin(const struct split *split, int chosen[static SPLIT_GROUPS_MAX])
{
    for (int i = 0; i < split->tested; i++)
        chosen[i] = i;
}

bool split_next(const struct split *split, int chosen[static SPLIT_GROUPS_MAX])
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

int split_blocks(const struct split *split, size_t rows, const int chosen[static SPLIT_GROUPS_MAX],
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
