#include "trainer/study/tpe/tpe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add(const struct study *study, int param, int distribution, struct space *space)
{
    if (distribution_single(&study->distributions[distribution]))
        return 0;
    return space_add(space, study->params[param], &study->distributions[distribution]);
}

static void discard(struct space *spaces, int n)
{
    for (int i = 0; i < n; i++)
        space_finish(&spaces[i]);
    free(spaces);
}

int tpe_intersection(const struct tpe_history *history, struct space **ret, int *ret_n)
{
    struct space *space = calloc(1, sizeof *space);
    int r = space ? 0 : -ENOMEM;
    for (int p = 0; r == 0 && history->n_known > 0 && p < history->n_params; p++)
        if (history->joint[p] >= 0)
            r = add(history->study, p, history->joint[p], space);
    if (r < 0 || space->n == 0) {
        if (space)
            discard(space, 1);
        space = NULL;
    }
    if (r == 0) {
        *ret = space;
        *ret_n = space != NULL;
    }
    return r;
}

struct grouping {
    int *group;        /* [n_params] -1: never met */
    int *distribution; /* [n_params] */
    int *split; /* [groups] the new group of those that this trial has; -1: not met in this trial yet */
    int groups;
};

/* A trial splits each group into what it has of it and what it lacks; new parameters are a new group. */
static void divide(struct grouping *grouping, const struct study_trial *trial)
{
    int before = grouping->groups, fresh = -1;
    for (int g = 0; g < before; g++)
        grouping->split[g] = -1;
    for (int i = 0; i < trial->n_params; i++) {
        int p = trial->params[i].param,
            *to = grouping->group[p] < 0 ? &fresh : &grouping->split[grouping->group[p]];
        if (*to < 0)
            *to = grouping->groups++;
        if (grouping->group[p] < 0)
            grouping->distribution[p] = trial->params[i].distribution;
        grouping->group[p] = *to;
    }
}

/* Groups by number, those that are empty left out: no more than there are parameters. */
static void renumber(struct grouping *grouping, int n_params, int *work)
{
    int n = 0;
    for (int g = 0; g < grouping->groups; g++)
        work[g] = -1;
    for (int p = 0; p < n_params; p++)
        if (grouping->group[p] >= 0) {
            int *to = &work[grouping->group[p]];
            if (*to < 0)
                *to = n++;
            grouping->group[p] = *to;
        }
    grouping->groups = n;
}

int tpe_groups(const struct study *study, struct space **ret, int *ret_n)
{
    size_t n = (size_t)study->n_params + 1;
    int *memory = malloc(6 * n * sizeof *memory), r = memory ? 0 : -ENOMEM, kept = 0;
    struct space *spaces = calloc(n, sizeof *spaces);
    if (!memory || !spaces) {
        free(memory);
        free(spaces);
        return -ENOMEM;
    }
    struct grouping grouping = {memory, memory + n, memory + 2 * n, 0};
    for (int p = 0; p < study->n_params; p++)
        grouping.group[p] = -1;
    for (int i = 0; i < study->n_trials; i++)
        if (study->trials[i]->state == TRIAL_COMPLETE || study->trials[i]->state == TRIAL_PRUNED) {
            divide(&grouping, study->trials[i]);
            renumber(&grouping, study->n_params, memory + 4 * n);
        }
    for (int p = 0; r == 0 && p < study->n_params; p++)
        if (grouping.group[p] >= 0)
            r = add(study, p, grouping.distribution[p], &spaces[grouping.group[p]]);
    free(memory);
    for (int g = 0; g < grouping.groups; g++)
        if (spaces[g].n > 0)
            spaces[kept++] = spaces[g];
    if (r < 0) {
        discard(spaces, kept);
        return r;
    }
    *ret = spaces;
    *ret_n = kept;
    return 0;
}
