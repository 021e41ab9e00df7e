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
    struct axis axis = study_axis_of(distribution);
    if (axis.step == 0)
        return points > 1 ? (uint64_t)points : 1;
    double steps = rint((axis.greatest - axis.least) / axis.step);
    return steps < 0x1p63 ? (uint64_t)steps + 1 : UINT64_MAX;
}

double sampler_grid_size_about(const struct space *space, int points)
{
    double size = 1;
    for (int i = 0; i < space->n; i++)
        size *= (double)levels(&space->params[i].distribution, points);
    return size;
}

uint64_t sampler_grid_size(const struct space *space, int points)
{
    uint64_t size = 1;
    for (int i = 0; i < space->n; i++)
        if (__builtin_mul_overflow(size, levels(&space->params[i].distribution, points), &size))
            return UINT64_MAX;
    return size;
}

static double level_value(const struct distribution *distribution, int points, uint64_t level)
{
    struct axis axis = study_axis_of(distribution);
    if (axis.step > 0)
        return fmin(axis.least + (double)level * axis.step, axis.greatest);
    if (points < 2 || level == 0)
        return axis.least;
    if (level + 1 == (uint64_t)points)
        return axis.greatest;
    return study_axis_value(&axis, axis.low + (axis.high - axis.low) * (double)level / (points - 1));
}

/* The level that a value has; false: it is not on the grid. */
static bool level_of(const struct distribution *distribution, int points, double value, uint64_t *ret)
{
    struct axis axis = study_axis_of(distribution);
    uint64_t n = levels(distribution, points);
    double share = axis.step > 0 ? (value - axis.least) / axis.step
                                 : (study_axis_place(&axis, value) - axis.low) / (axis.high - axis.low) *
                                       (double)(n - 1);
    double level = n > 1 ? rint(share) : 0;
    if (!(level >= 0 && level < (double)n))
        return false;
    double there = level_value(distribution, points, (uint64_t)level);
    if (!(fabs(value - there) <= 1e-9 * fmax(fabs(value), fabs(there))))
        return false;
    *ret = (uint64_t)level;
    return true;
}

/* The grid point of a trial; false: it is off the grid. The first parameter varies slowest. */
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

/* Is its point left to be tried? Of a trial that failed, unless its values contradict each other, which they
 * would again. */
static bool is_open(const struct study_trial *trial)
{
    const struct study_attribute *cause =
        trial->state == TRIAL_FAIL ? study_attribute_find(trial->user, trial->n_user, "papertape:cause")
                                   : NULL;
    return trial->state == TRIAL_WAITING ||
           (trial->state == TRIAL_FAIL && !(cause && strcmp(cause->json, "\"values\"") == 0));
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
        if (trial->number != number && !is_open(trial) && point_of(study, trial, space, points, &list[n]))
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

/* The order: a start and a stride coprime to the size, both from the seed. */
static void set_order(struct grid_walk *walk, uint64_t seed)
{
    struct draw draw = sampler_draw_begin(seed, -1);
    walk->from = (uint64_t)(sampler_draw_uniform(&draw) * (double)walk->size) % walk->size;
    walk->stride = (uint64_t)(sampler_draw_uniform(&draw) * (double)walk->size) % walk->size + 1;
    while (common_divisor(walk->stride, walk->size) != 1)
        walk->stride = walk->stride % walk->size + 1;
}

int sampler_grid_walk_begin(const struct study *study, int number, const struct space *space, int points,
                            uint64_t seed, struct grid_walk *ret)
{
    struct grid_walk walk = {.space = space, .points = points, .size = sampler_grid_size(space, points)};
    if (walk.size == UINT64_MAX)
        return -ERANGE;
    int r = tried(study, number, space, points, &walk.tried, &walk.n_tried);
    if (r < 0)
        return r;
    walk.place = (uint64_t)(number < 0 ? 0 : number) % walk.size;
    walk.left = walk.size;
    set_order(&walk, seed);
    *ret = walk;
    return 0;
}

void sampler_grid_walk_finish(struct grid_walk *walk)
{
    free(walk->tried);
    *walk = (struct grid_walk){0};
}

/* The current point; advances to the next. */
static uint64_t step(struct grid_walk *walk)
{
    uint64_t point = (uint64_t)(((unsigned __int128)walk->stride * walk->place + walk->from) % walk->size);
    walk->place = (walk->place + 1) % walk->size;
    walk->left--;
    return point;
}

int sampler_grid_walk_next(struct grid_walk *walk, double *ret_values)
{
    const struct space *space = walk->space;
    uint64_t point = 0;
    bool found = false;
    while (!found && walk->left > 0) {
        point = step(walk);
        found = !bsearch(&point, walk->tried, walk->n_tried, sizeof *walk->tried, compare);
    }
    if (!found)
        return -ENODATA;
    for (int i = space->n - 1; i >= 0; i--) {
        uint64_t n_levels = levels(&space->params[i].distribution, walk->points);
        ret_values[i] = level_value(&space->params[i].distribution, walk->points, point % n_levels);
        point /= n_levels;
    }
    return 0;
}

int sampler_grid_sample(const struct study *study, int number, const struct space *space, int points,
                        uint64_t seed, double *ret_values)
{
    struct grid_walk walk;
    int r = sampler_grid_walk_begin(study, number, space, points, seed, &walk);
    if (r < 0)
        return r;
    r = sampler_grid_walk_next(&walk, ret_values);
    sampler_grid_walk_finish(&walk);
    return r;
}
