#include "db/training_order.h"

#include <stdlib.h>
#include <string.h>

enum { WORKS, WAITS, ENDED };

int db_training_group(const char *state)
{
    static const char *const works[] = {"loading",    "features",  "rollout",   "update",
                                        "evaluating", "proposing", "searching", "checkpointing"},
                             *const ended[] = {"done", "failed", "stopped"};

    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(state, works[i]) == 0)
            return WORKS;
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        if (strcmp(state, ended[i]) == 0)
            return ENDED;
    return WAITS;
}

static int higher_first(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

static int compare(const void *a, const void *b)
{
    const struct training_rank *one = a, *two = b;
    int r = higher_first(two->group, one->group);

    if (r == 0 && one->group == WAITS)
        r = higher_first(one->priority, two->priority);
    else if (r == 0 && one->group == ENDED)
        r = higher_first(one->ended_ns, two->ended_ns);
    if (r != 0)
        return r;
    return one->group == WAITS ? (one->at > two->at) - (one->at < two->at)
                               : (one->at < two->at) - (one->at > two->at);
}

void db_training_order(struct training_rank *ranks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ranks[i].at = i;
    if (n > 0)
        qsort(ranks, n, sizeof *ranks, compare);
}
