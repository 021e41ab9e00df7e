#include "trainer/study/grid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/axis.h"
#include "trainer/study/draw.h"

static uint64_t levels(const struct distribution *distribution, int points)
{
    if (distribution_single(distribution))
        return 1;
    struct axis axis = axis_of(distribution);
    if (axis.step == 0)
        return points > 1 ? (uint64_t)points : 1;
    return (uint64_t)llrint((axis.greatest - axis.least) / axis.step) + 1;
}

uint64_t grid_size(const struct space *space, int points)
{
    uint64_t size = 1;
    for (int i = 0; i < space->n; i++)
        if (__builtin_mul_overflow(size, levels(&space->params[i].distribution, points), &size))
            return UINT64_MAX;
    return size;
}

static double level_value(const struct distribution *distribution, int points, uint64_t level)
{
    struct axis axis = axis_of(distribution);
    if (axis.step > 0)
        return fmin(axis.least + (double)level * axis.step, axis.greatest);
    if (points < 2 || level == 0)
        return axis.least;
    if (level + 1 == (uint64_t)points)
        return axis.greatest;
    return axis_value(&axis, axis.low + (axis.high - axis.low) * (double)level / (points - 1));
}

/* The level that a value is; false: it is none of the grid's. */
static bool level_of(const struct distribution *distribution, int points, double value, uint64_t *ret)
{
    struct axis axis = axis_of(distribution);
    uint64_t n = levels(distribution, points);
    double share = axis.step > 0
                       ? (value - axis.least) / axis.step
                       : (axis_place(&axis, value) - axis.low) / (axis.high - axis.low) * (double)(n - 1);
    double level = n > 1 ? rint(share) : 0;
    if (!(level >= 0 && level < (double)n))
        return false;
    double there = level_value(distribution, points, (uint64_t)level);
    if (!(fabs(value - there) <= 1e-9 * fmax(fabs(value), fabs(there))))
        return false;
    *ret = (uint64_t)level;
    return true;
}

/* The point that a trial is; false: it is off the grid. The first parameter is the slowest. */
static bool point_of(const struct study *study, const struct study_trial *trial, const struct space *space,
                     int points, uint64_t *ret)
{
    uint64_t point = 0, level;
    for (int i = 0; i < space->n; i++) {
        int param = study_param_find(study, space->params[i].name);
        const struct trial_param *own = param >= 0 ? study_trial_param(trial, param) : NULL;
        if (!own || !level_of(&space->params[i].distribution, points, own->value, &level))
            return false;
        point = point * levels(&space->params[i].distribution, points) + level;
    }
    *ret = point;
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int tried(const struct study *study, int number, const struct space *space, int points, uint64_t **ret,
                 size_t *ret_n)
{
    uint64_t *list = malloc(((size_t)study->n_trials + 1) * sizeof *list);
    size_t n = 0;
    if (!list)
        return -ENOMEM;
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        if (trial->number != number && trial->state != TRIAL_FAIL && trial->state != TRIAL_WAITING &&
            point_of(study, trial, space, points, &list[n]))
            n++;
    }
    qsort(list, n, sizeof *list, compare);
    *ret = list;
    *ret_n = n;
    return 0;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The order: by strides that have no divisor with the size, from somewhere. */
static uint64_t in_order(uint64_t i, uint64_t size, uint64_t seed)
{
    struct draw draw = draw_begin(seed, -1);
    uint64_t from = (uint64_t)(draw_uniform(&draw) * (double)size) % size;
    uint64_t stride = (uint64_t)(draw_uniform(&draw) * (double)size) % size + 1;
    while (common_divisor(stride, size) != 1)
        stride = stride % size + 1;
    return (uint64_t)(((unsigned __int128)stride * (i % size) + from) % size);
}

int grid_sample(const struct study *study, int number, const struct space *space, int points, uint64_t seed,
                double *ret_values)
{
    uint64_t size = grid_size(space, points), *list, point = 0;
    size_t n;
    int r = tried(study, number, space, points, &list, &n);
    if (r < 0)
        return r;
    bool found = false;
    for (uint64_t i = 0; !found && i <= n && i < size; i++) {
        point = in_order((uint64_t)(number < 0 ? 0 : number) + i, size, seed);
        found = !bsearch(&point, list, n, sizeof *list, compare);
    }
    free(list);
    if (!found)
        return -ENODATA;
    for (int i = space->n - 1; i >= 0; i--) {
        uint64_t n_levels = levels(&space->params[i].distribution, points);
        ret_values[i] = level_value(&space->params[i].distribution, points, point % n_levels);
        point /= n_levels;
    }
    return 0;
}
