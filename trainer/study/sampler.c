#include "trainer/study/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/axis.h"
#include "trainer/study/grid.h"
#include "trainer/study/metropolis.h"
#include "trainer/study/tpe/tpe.h"

struct sampler {
    struct sampler_options options;
    struct tpe *tpe;
};

static const char *const names[SAMPLERS] = {
    [SAMPLER_TPE] = "tpe",
    [SAMPLER_RANDOM] = "random",
    [SAMPLER_GRID] = "grid",
    [SAMPLER_METROPOLIS] = "mcmc",
};

const char *sampler_name(enum sampler_kind kind)
{
    return names[kind];
}

bool sampler_parse(const char *name, enum sampler_kind *ret)
{
    for (int kind = 0; kind < SAMPLERS; kind++)
        if (strcmp(names[kind], name) == 0) {
            *ret = (enum sampler_kind)kind;
            return true;
        }
    return false;
}

struct sampler_options sampler_defaults(void)
{
    return (struct sampler_options){
        .kind = SAMPLER_TPE,
        .tpe = {.n_startup_trials = 10,
                .n_ei_candidates = 24,
                .prior_weight = 1,
                .consider_magic_clip = true,
                .multivariate = true,
                .constant_liar = true,
                .gamma_share = 0.1,
                .gamma_most = 25},
        .metropolis = {.target_acceptance = 0.23, .burn_in = 5, .temperature = 1, .cooling = 0.98},
        .grid_points = 5,
    };
}

int sampler_create(const struct sampler_options *options, struct sampler **ret)
{
    struct sampler *sampler = malloc(sizeof *sampler);
    if (!sampler)
        return -ENOMEM;
    *sampler = (struct sampler){.options = *options, .tpe = tpe_create()};
    if (!sampler->tpe) {
        free(sampler);
        return -ENOMEM;
    }
    *ret = sampler;
    return 0;
}

void sampler_destroy(struct sampler *sampler)
{
    if (!sampler)
        return;
    tpe_destroy(sampler->tpe);
    free(sampler);
}

static int draw_random(const struct space *space, struct draw *draw, double *ret_values)
{
    for (int i = 0; i < space->n; i++) {
        struct axis axis = study_axis_of(&space->params[i].distribution);
        ret_values[i] = study_axis_draw(&axis, draw);
    }
    return 0;
}

int sampler_sample(struct sampler *sampler, const struct study *study, int number, const struct space *space,
                   double *ret_values, json_t **ret_relative)
{
    const struct sampler_options *options = &sampler->options;
    struct draw draw = sampler_draw_begin(options->seed, number);
    if (options->kind == SAMPLER_TPE)
        return tpe_sample(sampler->tpe, &options->tpe, study, number, space, &draw, ret_values, ret_relative);
    if (ret_relative)
        *ret_relative = NULL;
    switch (options->kind) {
    case SAMPLER_GRID:
        return sampler_grid_sample(study, number, space, options->grid_points, options->seed, ret_values);
    case SAMPLER_METROPOLIS:
        return sampler_metropolis_sample(&options->metropolis, options->seed, study, space, &draw,
                                         ret_values);
    default:
        return draw_random(space, &draw, ret_values);
    }
}
