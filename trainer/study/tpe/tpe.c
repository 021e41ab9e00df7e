#include "trainer/study/tpe/tpe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/axis.h"
#include "trainer/study/tpe/divide.h"
#include "trainer/study/tpe/history.h"
#include "trainer/study/tpe/parzen.h"
#include "trainer/study/tpe/running.h"

struct tpe {
    struct tpe_history history;
};

/* What all draws for one trial have in common. */
struct drawing {
    struct parzen_source source;
    struct tpe_running running;
    unsigned char *sides;
};

struct tpe *tpe_create(void)
{
    return calloc(1, sizeof(struct tpe));
}

void tpe_destroy(struct tpe *tpe)
{
    if (!tpe)
        return;
    tpe_history_finish(&tpe->history);
    free(tpe);
}

static bool draws_jointly(const struct tpe_options *options, const struct study *study)
{
    return options->group || (options->multivariate && study->n_objectives == 1);
}

static int drawing_begin(struct tpe *tpe, const struct tpe_options *options, const struct study *study,
                         int number, struct drawing *ret)
{
    struct drawing drawing = {.source = {.history = &tpe->history, .options = options}};
    drawing.sides = malloc((size_t)study->n_trials + 1);
    int r = drawing.sides ? tpe_divide(&tpe->history, options, number, drawing.sides) : -ENOMEM;
    if (r == 0)
        r = tpe_running_read(study, number, draws_jointly(options, study), &drawing.running);
    if (r < 0) {
        free(drawing.sides);
        return r;
    }
    *ret = drawing;
    return 0;
}

static void drawing_finish(struct drawing *drawing)
{
    tpe_running_finish(&drawing->running);
    free(drawing->sides);
}

static int estimators(struct drawing *drawing, const struct space *space, struct parzen *ret_below,
                      struct parzen *ret_above)
{
    drawing->source.space = space;
    drawing->source.sides = drawing->sides;
    drawing->source.running = &drawing->running;
    int r = tpe_parzen_make(&drawing->source, TPE_BELOW, ret_below);
    if (r == 0 && (r = tpe_parzen_make(&drawing->source, TPE_ABOVE, ret_above)) < 0)
        tpe_parzen_finish(ret_below);
    return r;
}

/* Was the point drawn before? Spaces of whole numbers and choices have few distinct points. */
static bool is_among(const double *candidates, int n, const double *candidate, size_t size)
{
    for (int i = 0; i < n; i++)
        if (memcmp((const char *)candidates + (size_t)i * size, candidate, size) == 0)
            return true;
    return false;
}

/* The best of the candidates over `space`, the first of equals. */
static int draw_best(struct drawing *drawing, const struct space *space, struct draw *draw,
                     double *ret_values)
{
    int n = drawing->source.options->n_ei_candidates > 1 ? drawing->source.options->n_ei_candidates : 1;
    struct parzen below, above;
    size_t size = (size_t)space->n * sizeof(double);
    double best = -INFINITY, *candidates = malloc((size_t)n * size + 1);
    int r = candidates ? estimators(drawing, space, &below, &above) : -ENOMEM;
    if (r < 0) {
        free(candidates);
        return r;
    }
    for (int i = 0; i < n; i++) {
        double *candidate = candidates + (size_t)i * space->n;
        tpe_parzen_draw(&below, draw, candidate);
        if (is_among(candidates, i, candidate, size))
            continue;
        double gain = tpe_parzen_log_density(&below, candidate) - tpe_parzen_log_density(&above, candidate);
        if (i == 0 || gain > best) {
            best = gain;
            memcpy(ret_values, candidate, size);
        }
    }
    tpe_parzen_finish(&below);
    tpe_parzen_finish(&above);
    free(candidates);
    return 0;
}

/* One joint draw over all of `joint`; what of it goes into `space` is marked as done. */
static int draw_joint(struct drawing *drawing, const struct space *joint, const struct space *space,
                      struct draw *draw, double *ret_values, bool *done, json_t *pieces_of)
{
    double *values = malloc(((size_t)joint->n + 1) * sizeof *values);
    int r = values ? draw_best(drawing, joint, draw, values) : -ENOMEM;
    for (int i = 0; r == 0 && i < joint->n; i++) {
        const struct distribution *drawn = &joint->params[i].distribution;
        int at = space_find(space, joint->params[i].name);
        if (pieces_of && json_object_set_new(pieces_of, joint->params[i].name,
                                             distribution_external(drawn, values[i])) < 0)
            r = -ENOMEM;
        if (at >= 0 && distribution_compatible(drawn, &space->params[at].distribution) &&
            distribution_contains(&space->params[at].distribution, values[i])) {
            ret_values[at] = values[i];
            done[at] = true;
        }
    }
    free(values);
    return r;
}

static int draw_joints(struct tpe *tpe, struct drawing *drawing, const struct space *space, struct draw *draw,
                       double *ret_values, bool *done, json_t **ret_relative)
{
    struct space *joints = NULL;
    int n = 0, r = tpe_joint_spaces(tpe, drawing->source.options, tpe->history.study, &joints, &n);
    json_t *promise = r == 0 && n > 0 && ret_relative ? json_object() : NULL;
    if (r == 0 && n > 0 && ret_relative && !promise)
        r = -ENOMEM;
    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = draw_joint(drawing, &joints[i], space, draw, ret_values, done, promise);
        space_finish(&joints[i]);
    }
    free(joints);
    if (r == 0 && promise && !(*ret_relative = tpe_running_promise(promise)))
        r = -ENOMEM;
    json_decref(promise);
    return r;
}

static int draw_alone(struct drawing *drawing, const struct space *space, int at, struct draw *draw,
                      double *ret_value)
{
    const struct space one = {.params = &space->params[at], .n = 1};
    return draw_best(drawing, &one, draw, ret_value);
}

static int draw_all(struct tpe *tpe, const struct tpe_options *options, const struct study *study, int number,
                    const struct space *space, struct draw *draw, double *ret_values, bool *done,
                    json_t **ret_relative)
{
    struct drawing drawing;
    int r = drawing_begin(tpe, options, study, number, &drawing);
    if (r < 0)
        return r;
    json_t *relative = NULL;
    if (draws_jointly(options, study))
        r = draw_joints(tpe, &drawing, space, draw, ret_values, done,
                        options->constant_liar && ret_relative ? &relative : NULL);
    for (int i = 0; i < space->n && r == 0; i++)
        if (!done[i])
            r = draw_alone(&drawing, space, i, draw, &ret_values[i]);
    drawing_finish(&drawing);
    if (r < 0)
        json_decref(relative);
    else if (ret_relative)
        *ret_relative = relative;
    return r;
}

int tpe_sample(struct tpe *tpe, const struct tpe_options *options, const struct study *study, int number,
               const struct space *space, struct draw *draw, double *ret_values, json_t **ret_relative)
{
    int r = tpe_history_update(&tpe->history, study);
    bool *done = calloc((size_t)space->n + 1, sizeof *done);
    if (!done)
        return -ENOMEM;
    bool at_random = tpe->history.n_known < options->n_startup_trials;
    for (int i = 0; r == 0 && i < space->n; i++) {
        const struct axis axis = study_axis_of(&space->params[i].distribution);
        done[i] = at_random || distribution_single(&space->params[i].distribution);
        if (done[i])
            ret_values[i] = at_random ? study_axis_draw(&axis, draw) : axis.least;
    }
    if (r == 0 && at_random && ret_relative)
        *ret_relative = NULL;
    else if (r == 0)
        r = draw_all(tpe, options, study, number, space, draw, ret_values, done, ret_relative);
    free(done);
    return r;
}

int tpe_log_densities(struct tpe *tpe, const struct tpe_options *options, const struct study *study,
                      int number, const struct space *space, const double *points, int n, double *ret_below,
                      double *ret_above)
{
    struct drawing drawing;
    struct parzen below, above;
    int r = tpe_history_update(&tpe->history, study);
    if (r == 0)
        r = drawing_begin(tpe, options, study, number, &drawing);
    if (r < 0)
        return r;
    r = estimators(&drawing, space, &below, &above);
    drawing_finish(&drawing);
    if (r < 0)
        return r;
    for (int i = 0; i < n; i++) {
        ret_below[i] = tpe_parzen_log_density(&below, points + (size_t)i * space->n);
        ret_above[i] = tpe_parzen_log_density(&above, points + (size_t)i * space->n);
    }
    tpe_parzen_finish(&below);
    tpe_parzen_finish(&above);
    return 0;
}

int tpe_joint_spaces(struct tpe *tpe, const struct tpe_options *options, const struct study *study,
                     struct space **ret, int *ret_n)
{
    int r = tpe_history_update(&tpe->history, study);
    return r < 0            ? r
           : options->group ? tpe_groups(study, ret, ret_n)
                            : tpe_intersection(&tpe->history, ret, ret_n);
}
