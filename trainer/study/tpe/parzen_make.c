#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/tpe/normal.h"
#include "trainer/study/tpe/parzen.h"

/* Optuna's least deviation where consider_magic_clip is false. */
#define LEAST_DEVIATION 1e-12
/* -log(Phi(1) - Phi(0)): a kernel whose centre is within its interval, and that is no wider, has at least so
 * much of itself there. */
#define MOST_CUT 1.0749
/* Weights of Optuna: the newest 25 are 1. */
enum { FULL_WEIGHTS = 25 };

/* The trials of one side that have all parameters. */
struct members {
    int n_trials, n;
    int *kernel;                       /* [n_trials] by number; -1: it has no kernel */
    int *params;                       /* [space->n] of the study; -1: it has none of that name */
    const struct tpe_column **columns; /* [space->n] */
    struct tpe_entry *sorted;          /* [n] of one dimension */
    struct tpe_entry *running;         /* [source->running->n] of one dimension */
    double *ratio;                     /* [n + 1] product of range / sigma over dimensions */
};

static bool finished_has_all(const struct parzen_source *source, const struct members *members, int number)
{
    for (int d = 0; d < source->space->n; d++) {
        const struct tpe_column *column = members->columns[d];
        if (!column || (column->n < source->history->n_known && isnan(column->places[number])))
            return false;
    }
    return true;
}

static bool running_has_all(const struct parzen_source *source, const struct members *members,
                            struct tpe_running_trial *running)
{
    for (int d = 0; d < source->space->n; d++) {
        double value;
        if (!tpe_running_value(running, members->params[d], &source->space->params[d], &value))
            return false;
    }
    return true;
}

static void members_finish(struct members *members)
{
    free(members->kernel);
    free(members->params);
    free(members->columns);
    free(members->sorted);
    free(members->running);
    free(members->ratio);
}

static int members_find(const struct parzen_source *source, enum tpe_side side, struct members *members)
{
    struct tpe_history *history = source->history;
    size_t n = (size_t)history->n_trials + 1, dimensions = (size_t)source->space->n + 1;
    *members = (struct members){
        .n_trials = history->n_trials,
        .kernel = malloc(n * sizeof *members->kernel),
        .params = malloc(dimensions * sizeof *members->params),
        .columns = calloc(dimensions, sizeof *members->columns),
        .sorted = malloc(n * sizeof *members->sorted),
        .running = malloc(n * sizeof *members->running),
        .ratio = malloc(n * sizeof *members->ratio),
    };
    if (!members->kernel || !members->params || !members->columns || !members->sorted || !members->running ||
        !members->ratio)
        return -ENOMEM;
    for (int d = 0; d < source->space->n; d++) {
        const struct space_param *param = &source->space->params[d];
        members->params[d] = study_param_find(history->study, param->name);
        if (members->params[d] >= 0) {
            members->columns[d] = tpe_history_column(history, members->params[d], param->distribution.log);
            if (!members->columns[d])
                return -ENOMEM;
        }
    }
    struct tpe_running_trial *running = source->running->trials;
    for (int number = 0; number < members->n_trials; number++) {
        bool in = source->sides[number] == side;
        if (in && history->merits[number].state == TRIAL_WAITING) {
            while (running->trial->number != number)
                running++;
            in = running_has_all(source, members, running);
        } else if (in) {
            in = finished_has_all(source, members, number);
        }
        members->kernel[number] = in ? members->n++ : -1;
    }
    return 0;
}

/* Those of the members that are RUNNING, in order, into `ret`; returns how many. */
static int sort_running(const struct parzen_source *source, const struct members *members, int d,
                        const struct axis *axis, struct tpe_entry *ret)
{
    int n = 0;
    for (int i = 0; i < source->running->n; i++) {
        struct tpe_running_trial *running = &source->running->trials[i];
        double value;
        int number = running->trial->number, at = n;
        if (members->kernel[number] < 0 ||
            !tpe_running_value(running, members->params[d], &source->space->params[d], &value))
            continue;
        struct tpe_entry entry = {study_axis_place(axis, value), number};
        for (; at > 0 && tpe_is_before(entry, ret[at - 1]); at--)
            ret[at] = ret[at - 1];
        ret[at] = entry;
        n++;
    }
    return n;
}

/* The members' places on a dimension, in order; equals in the order of trials. */
static void sort(const struct parzen_source *source, struct members *members, int d, const struct axis *axis)
{
    struct tpe_entry *sorted = members->sorted, *running = members->running;
    const struct tpe_column *column = members->columns[d];
    int n = 0;
    for (int i = 0; column && i < column->n; i++) {
        sorted[n] = column->sorted[i];
        n += members->kernel[column->sorted[i].number] >= 0;
    }
    for (int left = sort_running(source, members, d, axis, running); left > 0; left--) {
        int at = n + left - 1;
        for (; n > 0 && tpe_is_before(running[left - 1], sorted[n - 1]); at--)
            sorted[at] = sorted[--n];
        sorted[at] = running[left - 1];
    }
}

/* Kernels of numbers: the deviation of each is the larger gap to a neighbour, within limits. */
static void make_numbers(const struct parzen_source *source, struct members *members, int d,
                         struct parzen *parzen)
{
    struct parzen_dimension *dimension = &parzen->dimensions[d];
    const struct axis *axis = &dimension->axis;
    const struct tpe_entry *sorted = members->sorted;
    int n = members->n;
    double range = axis->high - axis->low, constant = -NORMAL_LOG_SQRT_2PI - log(range);
    double least = source->options->consider_magic_clip ? range / fmin(100, 1 + (n + 1)) : LEAST_DEVIATION;
    dimension->least = 1 / least;
    bool inner = !source->options->consider_endpoints && n >= 2, density = dimension->kind == PARZEN_DENSITY;
    sort(source, members, d, axis);
    const int *restrict kernel = members->kernel;
    double *restrict centres = dimension->centre, *restrict inverses = dimension->inverse;
    double *restrict slacks = parzen->slack, *restrict ratios = members->ratio;
    double *restrict bases = parzen->base;
    const double low = axis->low, high = axis->high;
    double before = low;
    for (int i = 0; i < n; i++) {
        double place = sorted[i].place, after = i + 1 < n ? sorted[i + 1].place : high;
        double left = place - before, right = after - place;
        double deviation = inner && i == 0 ? right : inner && i == n - 1 ? left : left > right ? left : right;
        deviation = deviation < least ? least : deviation > range ? range : deviation;
        double inverse = 1 / deviation;
        int k = kernel[sorted[i].number];
        centres[k] = place;
        inverses[k] = inverse;
        slacks[k] += place >= low && place <= high
                         ? MOST_CUT
                         : -tpe_normal_log_mass((low - place) * inverse, (high - place) * inverse);
        before = place;
    }
    centres[n] = 0.5 * (low + high);
    inverses[n] = 1 / range;
    slacks[n] += MOST_CUT;
    for (int k = 0; density && k <= n; k++) {
        ratios[k] *= range * inverses[k];
        bases[k] += constant;
    }
}

static void make_choices(const struct parzen_source *source, const struct members *members, int d,
                         struct parzen *parzen)
{
    struct parzen_dimension *dimension = &parzen->dimensions[d];
    int n = members->n, choices = source->space->params[d].distribution.n_choices;
    double share = source->options->prior_weight / (n + 1), all = 1 + choices * share;
    dimension->n_choices = choices;
    dimension->log_hit = log((1 + share) / all);
    dimension->log_miss = log(share / all);
    dimension->log_any = share > 0 || n == 0 ? -log(choices) : -INFINITY;
    for (int number = 0; number < members->n_trials && members->columns[d]; number++)
        if (members->kernel[number] >= 0)
            dimension->choice[members->kernel[number]] = members->columns[d]->places[number];
    for (int i = 0; i < source->running->n; i++) {
        struct tpe_running_trial *running = &source->running->trials[i];
        int k = members->kernel[running->trial->number];
        if (k >= 0)
            tpe_running_value(running, members->params[d], &source->space->params[d], &dimension->choice[k]);
    }
    dimension->choice[n] = -1;
}

/* Oldest first: a ramp from 1 / n to 1, and ones; of several objectives those below are alike. */
static void make_weights(const struct parzen_source *source, enum tpe_side side, struct parzen *parzen)
{
    int n = parzen->n - 1, ramp = n - FULL_WEIGHTS;
    bool alike = side == TPE_BELOW && source->history->study->n_objectives > 1;
    double sum = 0;
    for (int k = 0; k < n; k++)
        parzen->weight[k] = alike || k >= ramp ? 1
                            : ramp == 1        ? 1.0 / n
                                               : 1.0 / n + k * ((1 - 1.0 / n) / (ramp - 1));
    parzen->weight[n] = n == 0 ? 1 : source->options->prior_weight;
    for (int k = 0; k <= n; k++)
        sum += parzen->weight[k];
    for (int k = 0; k <= n; k++) {
        parzen->weight[k] /= sum;
        parzen->base[k] = log(parzen->weight[k]);
    }
}

static int reserve(const struct space *space, int n, struct parzen *parzen)
{
    size_t kernels = (size_t)n + 1, dimensions = (size_t)space->n;
    parzen->n = n + 1;
    parzen->n_dimensions = space->n;
    parzen->dimensions = calloc(dimensions + 1, sizeof *parzen->dimensions);
    parzen->memory = malloc((kernels * (7 + 2 * dimensions) + 2 * dimensions) * sizeof *parzen->memory);
    if (!parzen->dimensions || !parzen->memory)
        return -ENOMEM;
    parzen->weight = parzen->memory;
    parzen->base = parzen->weight + kernels;
    parzen->slack = parzen->base + kernels;
    parzen->cut = parzen->slack + kernels;
    for (size_t k = 0; k < kernels; k++) {
        parzen->slack[k] = 0;
        parzen->cut[k] = NAN;
    }
    double *next = parzen->cut + kernels;
    for (int d = 0; d < space->n; d++, next += 2 * kernels) {
        const struct distribution *distribution = &space->params[d].distribution;
        struct parzen_dimension *dimension = &parzen->dimensions[d];
        dimension->axis = study_axis_of(distribution);
        dimension->kind = distribution->kind == DISTRIBUTION_CATEGORICAL ? PARZEN_CHOICES
                          : dimension->axis.step > 0                     ? PARZEN_STEPS
                                                                         : PARZEN_DENSITY;
        for (int i = 0; i < PARZEN_MASSES && dimension->kind == PARZEN_STEPS; i++)
            dimension->masses[i] = NAN;
        dimension->centre = dimension->choice = next;
        dimension->inverse = next + kernels;
    }
    parzen->work = next;
    parzen->list = (int *)(void *)(next + 2 * kernels + 2 * dimensions);
    return 0;
}

/* So many dimensions' range / sigma do not overflow together: each is at most 100, or 1 / LEAST_DEVIATION. */
enum { RATIOS = 8 };

static void take_ratios(struct members *members, struct parzen *parzen)
{
    for (int k = 0; k < parzen->n; k++) {
        parzen->base[k] += log(members->ratio[k]);
        members->ratio[k] = 1;
    }
}

int tpe_parzen_make(const struct parzen_source *source, enum tpe_side side, struct parzen *ret)
{
    struct parzen parzen = {0};
    struct members members;
    int r = members_find(source, side, &members);
    if (r == 0)
        r = reserve(source->space, members.n, &parzen);
    if (r == 0) {
        make_weights(source, side, &parzen);
        for (int k = 0; k < parzen.n; k++)
            members.ratio[k] = 1;
        int ratios = 0;
        for (int d = 0; d < parzen.n_dimensions; d++) {
            if (parzen.dimensions[d].kind == PARZEN_CHOICES) {
                make_choices(source, &members, d, &parzen);
                continue;
            }
            make_numbers(source, &members, d, &parzen);
            if (++ratios % RATIOS == 0 || !source->options->consider_magic_clip)
                take_ratios(&members, &parzen);
        }
        take_ratios(&members, &parzen);
        *ret = parzen;
    } else {
        tpe_parzen_finish(&parzen);
    }
    members_finish(&members);
    return r;
}

void tpe_parzen_finish(struct parzen *parzen)
{
    free(parzen->dimensions);
    free(parzen->memory);
    *parzen = (struct parzen){0};
}
