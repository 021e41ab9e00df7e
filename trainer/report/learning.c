#include "trainer/report/learning.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* A figure of an update. */
struct figure {
    size_t at;
    const char *title, *caption;
};
#define AT(member) offsetof(struct ppo_update, member)

static const struct figure figures[LEARNING_FIGURES] = {
    {AT(episode_return), "Return of an episode",
     "Rewards of an episode, summed: the mean of those that ended in an update's rollout, where one did."},
    {AT(reward), "Reward", "The mean reward of a step."},
    {AT(policy_loss), "Policy loss", "PPO's clipped objective, negative; its level says little."},
    {AT(value_loss), "Value loss", "Mean squared error of the value function."},
    {AT(explained_variance), "Explained variance",
     "Of returns, by the value function: 1 is all of it, 0 none, below 0 worse than a constant."},
    {AT(entropy_loss), "Entropy loss",
     "The mean entropy, negative: as it rises, actions become less random."},
    {AT(std), "Deviation of actions", "exp(log_std), the mean of all actions: what is explored."},
    {AT(kl), "KL", "How far an update moved the policy."},
    {AT(clip_fraction), "Clip fraction", "Share of rows whose probability ratio was clipped."},
    {AT(grad_norm), "Gradient norm", "Before it is scaled to max_grad_norm."},
};
static const struct figure judgement = {0, "Evaluations", NULL};

struct trainer_learning *trainer_learning_create(void)
{
    struct trainer_learning *learning = calloc(1, sizeof *learning);
    if (learning)
        learning->updates.growth = learning->judged.growth = report_growth_of(LEARNING_POINTS);
    return learning;
}

static void halve(struct trainer_learning_points *points)
{
    for (size_t i = 1; i < LEARNING_POINTS / 2; i++) {
        points->steps[i] = points->steps[2 * i];
        for (int k = 0; k < LEARNING_FIGURES; k++)
            points->values[k][i] = points->values[k][2 * i];
    }
}

/* Where the next point is written; -1: it is left out. */
static int64_t next(struct trainer_learning_points *points, int64_t steps)
{
    bool halves;
    if (!report_growth_next(&points->growth, &halves))
        return -1;
    if (halves)
        halve(points);
    int64_t at = (int64_t)points->growth.n - 1;
    points->steps[at] = steps;
    return at;
}

void trainer_learning_add(struct trainer_learning *learning, const struct ppo_update *update)
{
    int64_t at = next(&learning->updates, update->steps);
    for (int k = 0; k < LEARNING_FIGURES && at >= 0; k++)
        learning->updates.values[k][at] = *(const double *)((const char *)update + figures[k].at);
}

void trainer_learning_judge(struct trainer_learning *learning, int64_t steps, double result, double benchmark)
{
    bool holds = isfinite(benchmark);
    int64_t at = next(&learning->judged, steps);
    learning->holds = learning->holds || holds;
    if (at < 0)
        return;
    learning->judged.values[0][at] = holds ? 100 * result : result;
    learning->judged.values[1][at] = 100 * benchmark;
}

/* ---- of several seeds ---- */

/* The column of a figure, of all seeds at the steps of one of them. */
struct seeds {
    const struct trainer_learning_points *of[LEARNING_SEEDS];
    int n;
    const struct trainer_learning_points
        *base;     /* the one that left out most: its steps are the others' too */
    size_t filled; /* of the points below: where any seed has a number */
    int64_t *x;
    double *low, *middle, *high;
};

static double at_steps(const struct trainer_learning_points *points, int figure, int64_t steps)
{
    size_t low = 0, high = points->growth.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (points->steps[middle] < steps)
            low = middle + 1;
        else
            high = middle;
    }
    return low < points->growth.n && points->steps[low] == steps ? points->values[figure][low] : NAN;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Seeds that have no number there, as those that ended earlier, are left out, and points at which no seed has
 * one: there is nothing that is missing in an update in which no episode ended. Returns whether there is a
 * point. */
static bool merge(struct seeds *seeds, int figure)
{
    seeds->filled = 0;
    for (size_t i = 0; i < seeds->base->growth.n; i++) {
        double values[LEARNING_SEEDS];
        int n = 0;
        size_t at = seeds->filled;
        for (int k = 0; k < seeds->n; k++) {
            values[n] = at_steps(seeds->of[k], figure, seeds->base->steps[i]);
            n += isfinite(values[n]);
        }
        if (n == 0)
            continue;
        qsort(values, (size_t)n, sizeof *values, by_value);
        seeds->x[at] = seeds->base->steps[i];
        seeds->low[at] = values[0];
        seeds->high[at] = values[n - 1];
        seeds->middle[at] = (values[(n - 1) / 2] + values[n / 2]) / 2;
        seeds->filled++;
    }
    return seeds->filled > 0;
}

static const struct trainer_learning_points *base_of(const struct seeds *seeds)
{
    const struct trainer_learning_points *base = seeds->of[0];
    for (int k = 1; k < seeds->n; k++) {
        const struct report_growth *own = &seeds->of[k]->growth;
        if (own->every > base->growth.every || (own->every == base->growth.every && own->n > base->growth.n))
            base = seeds->of[k];
    }
    return base;
}

/* `holding` NULL, or [filled]: the benchmark's, the same for all seeds. */
static void draw(struct text *text, const struct seeds *seeds, const struct figure *figure,
                 const double *holding, const char *unit, const char *caption)
{
    const int64_t *x = seeds->x;
    size_t n = seeds->filled;
    bool several = seeds->n > 1;
    bool wide = figure->at == AT(value_loss) && report_chart_is_wide(seeds->middle, n);
    const char *median = several ? "median" : "policy";
    char band[32];
    struct report_series list[3];
    int count = 0;
    snprintf(band, sizeof band, "%d seeds", seeds->n);
    list[count++] =
        (struct report_series){REPORT_LINE, 0, several || holding ? median : NULL, x, seeds->middle, NULL, n};
    if (holding)
        list[count++] = (struct report_series){REPORT_LINE, 2, "holding", x, holding, NULL, n};
    if (several)
        list[count++] = (struct report_series){REPORT_BAND, 0, band, x, seeds->high, seeds->low, n};
    const struct report_chart chart = {.size = REPORT_HALF,
                                       .title = figure->title,
                                       .x_name = "steps",
                                       .y_name = wide ? "log scale" : unit,
                                       .also = NAN,
                                       .logarithmic = wide,
                                       .series = list,
                                       .n = count};
    report_page_chart(text, &chart, caption);
}

static void draw_judged(struct text *text, struct seeds *seeds, bool holds, double *holding,
                        const char *judged_on)
{
    char caption[192] = "The mean reward of episodes, acting without chance.";
    if (seeds->base->growth.n == 0)
        return;
    if (holds) {
        snprintf(caption, sizeof caption,
                 "Return over the rows of %s, of the policy at that time, acting without chance.", judged_on);
        merge(seeds, 1);
        for (size_t i = 0; i < seeds->filled; i++)
            holding[i] = seeds->middle[i];
    }
    merge(seeds, 0);
    draw(text, seeds, &judgement, holds ? holding : NULL, holds ? "%" : NULL, caption);
}

static void draw_all(struct text *text, struct seeds *seeds, const struct trainer_learning *const *all,
                     double *holding, const char *judged_on)
{
    bool holds = false;
    for (int k = 0; k < seeds->n; k++) {
        seeds->of[k] = &all[k]->judged;
        holds = holds || all[k]->holds;
    }
    seeds->base = base_of(seeds);
    draw_judged(text, seeds, holds, holding, judged_on);
    for (int k = 0; k < seeds->n; k++)
        seeds->of[k] = &all[k]->updates;
    seeds->base = base_of(seeds);
    for (int figure = 0; figure < LEARNING_FIGURES; figure++)
        if (merge(seeds, figure))
            draw(text, seeds, &figures[figure], NULL, NULL, figures[figure].caption);
}

int trainer_report_learning(struct text *text, const struct trainer_learning *const *seeds, int n,
                            const char *judged_on)
{
    double *room = calloc(4 * LEARNING_POINTS, sizeof *room);
    int64_t *x = calloc(LEARNING_POINTS, sizeof *x);
    if (!room || !x) {
        free(room);
        free(x);
        return -ENOMEM;
    }
    struct seeds all = {.n = n < LEARNING_SEEDS ? n : LEARNING_SEEDS,
                        .x = x,
                        .low = room,
                        .middle = room + LEARNING_POINTS,
                        .high = room + 2 * LEARNING_POINTS};
    report_page_pair(text);
    draw_all(text, &all, seeds, room + 3 * LEARNING_POINTS, judged_on);
    report_page_pair_end(text);
    free(room);
    free(x);
    return 0;
}
