#include "trainer/study/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int space_add(struct space *space, const char *name, const struct distribution *distribution)
{
    int at = 0;
    while (at < space->n && strcmp(space->params[at].name, name) < 0)
        at++;
    if (at < space->n && strcmp(space->params[at].name, name) == 0)
        return -EEXIST;
    struct space_param *params = realloc(space->params, (size_t)(space->n + 1) * sizeof *params);
    if (!params)
        return -ENOMEM;
    space->params = params;
    struct space_param added = {.name = strdup(name)};
    if (!added.name || distribution_copy(distribution, &added.distribution) < 0) {
        free(added.name);
        return -ENOMEM;
    }
    memmove(params + at + 1, params + at, (size_t)(space->n - at) * sizeof *params);
    params[at] = added;
    space->n++;
    return 0;
}

void space_finish(struct space *space)
{
    for (int i = 0; i < space->n; i++) {
        free(space->params[i].name);
        distribution_finish(&space->params[i].distribution);
    }
    free(space->params);
    *space = (struct space){0};
}

int space_find(const struct space *space, const char *name)
{
    int low = 0, high = space->n;
    while (low < high) {
        int middle = (low + high) / 2, order = strcmp(space->params[middle].name, name);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

void space_intersect(const struct study_trial *trial, bool first, int *distributions, int n_params)
{
    int at = 0;
    for (int p = 0; p < n_params; p++) {
        while (at < trial->n_params && trial->params[at].param < p)
            at++;
        int own = at < trial->n_params && trial->params[at].param == p ? trial->params[at].distribution : -1;
        if (first)
            distributions[p] = own;
        else if (distributions[p] != own)
            distributions[p] = -1;
    }
}

/* Those of `distributions` that are not -1. */
static int gather(const struct study *study, const int *distributions, struct space *ret)
{
    struct space space = {0};
    for (int p = 0; p < study->n_params; p++)
        if (distributions[p] >= 0 &&
            space_add(&space, study->params[p], &study->distributions[distributions[p]]) < 0) {
            space_finish(&space);
            return -ENOMEM;
        }
    *ret = space;
    return 0;
}

static int *no_distributions(const struct study *study)
{
    int *distributions = malloc((size_t)study->n_params * sizeof *distributions + 1);
    for (int p = 0; distributions && p < study->n_params; p++)
        distributions[p] = -1;
    return distributions;
}

int space_union(const struct study *study, struct space *ret)
{
    int *distributions = no_distributions(study);
    for (int i = 0; distributions && i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        for (int k = 0; k < trial->n_params; k++)
            distributions[trial->params[k].param] = trial->params[k].distribution;
    }
    int r = distributions ? gather(study, distributions, ret) : -ENOMEM;
    free(distributions);
    return r;
}
