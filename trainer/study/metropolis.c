#include "trainer/study/metropolis.h"

#include <errno.h>
#include <math.h>

#include "trainer/study/axis.h"

#define SCALE_FIRST 0.2
#define SCALE_LEAST 1e-4
#define SCALE_MOST  1.0

static bool has_all(const struct study *study, const struct study_trial *trial, const struct space *space)
{
    for (int i = 0; i < space->n; i++) {
        int param = study_param_find(study, space->params[i].name);
        if (param < 0 || !study_trial_param(trial, param))
            return false;
    }
    return true;
}

static double loss_of(const struct study *study, const struct study_trial *trial)
{
    if (trial->state != TRIAL_COMPLETE || !trial->values || study_trial_violation(trial) > 0)
        return INFINITY;
    return study->directions[0] == STUDY_MAXIMIZE ? -trial->values[0] : trial->values[0];
}

/* Whether a step is taken: a number that no proposal draws, of the trial's own. */
static double coin(uint64_t seed, int number)
{
    struct draw draw = sampler_draw_begin(~seed, number);
    return sampler_draw_uniform(&draw);
}

int sampler_metropolis_chain(const struct metropolis_options *options, uint64_t seed,
                             const struct study *study, const struct space *space,
                             struct metropolis_chain *ret)
{
    if (study->n_objectives != 1)
        return -EINVAL;
    struct metropolis_chain chain = {.at = -1, .scale = SCALE_FIRST};
    double loss = INFINITY, temperature = options->temperature;
    int burning = 0;
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        if ((trial->state != TRIAL_COMPLETE && trial->state != TRIAL_PRUNED) || !has_all(study, trial, space))
            continue;
        double own = loss_of(study, trial);
        if (burning < options->burn_in || chain.at < 0) {
            burning += trial->state == TRIAL_COMPLETE;
            if (own < loss) {
                loss = own;
                chain.at = i;
            }
            continue;
        }
        double probability = own <= loss ? 1 : temperature > 0 ? exp((loss - own) / temperature) : 0;
        chain.steps++;
        chain.acceptance += (probability - chain.acceptance) / chain.steps;
        if (coin(seed, trial->number) < probability) {
            chain.at = i;
            chain.taken++;
            loss = own;
        }
        double step = (probability - options->target_acceptance) / sqrt(chain.steps);
        chain.scale = fmin(fmax(chain.scale * exp(step), SCALE_LEAST), SCALE_MOST);
        temperature *= options->cooling;
    }
    if (burning < options->burn_in)
        chain.at = -1;
    *ret = chain;
    return 0;
}

/* [0, 1] by reflection at both ends. */
static double reflect(double share)
{
    share = fmod(fabs(share), 2);
    return share > 1 ? 2 - share : share;
}

static double propose(const struct distribution *distribution, double value, double scale, struct draw *draw)
{
    struct axis axis = study_axis_of(distribution);
    if (distribution->kind == DISTRIBUTION_CATEGORICAL) {
        int n = distribution->n_choices;
        if (n < 2 || sampler_draw_uniform(draw) >= fmin(0.5, scale))
            return value;
        int other = sampler_draw_below(draw, n - 1);
        return other >= (int)value ? other + 1 : other;
    }
    if (!(axis.high > axis.low))
        return axis.least;
    double share = (study_axis_place(&axis, value) - axis.low) / (axis.high - axis.low);
    share = reflect(share + scale * sampler_draw_normal(draw));
    return study_axis_value(&axis, axis.low + (axis.high - axis.low) * share);
}

int sampler_metropolis_sample(const struct metropolis_options *options, uint64_t seed,
                              const struct study *study, const struct space *space, struct draw *draw,
                              double *ret_values)
{
    struct metropolis_chain chain;
    int r = sampler_metropolis_chain(options, seed, study, space, &chain);
    if (r < 0)
        return r;
    for (int i = 0; i < space->n; i++) {
        const struct distribution *distribution = &space->params[i].distribution;
        struct axis axis = study_axis_of(distribution);
        if (chain.at < 0)
            ret_values[i] = study_axis_draw(&axis, draw);
        else
            ret_values[i] = propose(
                distribution,
                study_trial_param(study->trials[chain.at], study_param_find(study, space->params[i].name))
                    ->value,
                chain.scale, draw);
    }
    return 0;
}
