/* The metric of a sweep over the values of its axes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/page/sweep.h"
#include "cli/sweep_places.h"
#include "strategy/strategy.h"

enum { WORDS_MAX = 512 };
_Static_assert(REPORT_HEAT_SIDE_MAX == (int)SWEEP_PLACES_MAX, "a place is a column or a row");

/* The values that the runs have of one axis, ascending, in at most REPORT_HEAT_SIDE_MAX places. */
struct sweep_axis {
    int axis;
    double *values; /* [n] of each run, owned */
    struct sweep_places places;
    char words[REPORT_HEAT_SIDE_MAX][STRATEGY_WORD_MAX];
    const char *labels[REPORT_HEAT_SIDE_MAX];
};

static int axis_make(const struct sweep *sweep, int which, struct sweep_axis *ret)
{
    const size_t n = sweep->runs.n;
    double params[STRATEGY_PARAMS_MAX];
    *ret = (struct sweep_axis){.axis = which, .values = malloc(n * sizeof *ret->values)};
    if (!ret->values)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        cli_page_sweep_params(sweep, &sweep->runs.results[i], params);
        ret->values[i] = params[sweep->grid.axes[which].param];
    }
    if (cli_sweep_places(ret->values, n, REPORT_HEAT_SIDE_MAX, &ret->places) < 0)
        return -ENOMEM;
    for (int i = 0; i < ret->places.n; i++)
        ret->labels[i] = cli_page_sweep_value(sweep, which, ret->places.first[i], ret->words[i]);
    return 0;
}

/* Of each cell the median of its runs, [places of y][places of x]. Returns the most runs that share one; 0:
 * without memory. */
static size_t medians(const struct sweep *sweep, const struct sweep_axis *x, const struct sweep_axis *y,
                      double *ret)
{
    const size_t n = sweep->runs.n;
    double *metric = malloc(n * sizeof *metric);
    size_t most = 0;
    for (size_t i = 0; metric && i < n; i++)
        metric[i] = cli_sweep_metric(sweep->metric, &sweep->runs.results[i]);
    if (metric)
        most = cli_sweep_medians(x->values, &x->places, y->values, &y->places, metric, n, ret);
    free(metric);
    return most;
}

static int map(struct text *text, const struct sweep *sweep, const struct sweep_axis *x,
               const struct sweep_axis *y)
{
    double *values = malloc((size_t)(x->places.n * y->places.n) * sizeof *values);
    char title[WORDS_MAX], caption[WORDS_MAX], name[SWEEP_METRIC_NAME_MAX];
    const char *x_name = cli_sweep_axis(sweep, x->axis)->name, *y_name = cli_sweep_axis(sweep, y->axis)->name;
    size_t most = values ? medians(sweep, x, y, values) : 0;
    if (most > 0) {
        cli_sweep_metric_name(sweep->metric, name);
        snprintf(title, sizeof title, "%s by %s and %s", name, x_name, y_name);
        snprintf(caption, sizeof caption,
                 "%s%s Good parameters have good neighbours: a lone dark cell is luck.",
                 most > 1 ? "Each cell is the median of its runs, over all values of the other parameters."
                          : "A cell is a run.",
                 x->places.shared || y->places.shared
                     ? " Neighbouring values share a place, named after the least."
                     : "");
        const struct report_heat heat = {.title = title,
                                         .x_name = x_name,
                                         .y_name = y_name,
                                         .value_name = name,
                                         .x_labels = x->labels,
                                         .y_labels = y->labels,
                                         .values = values,
                                         .columns = x->places.n,
                                         .rows = y->places.n,
                                         .decimals = 2};
        report_page_heat(text, &heat, caption);
    }
    free(values);
    return most > 0 ? 0 : -ENOMEM;
}

/* Of one axis: a point a run. */
static int along(struct text *text, const struct sweep *sweep, const struct sweep_axis *axis)
{
    double *xy = malloc(2 * sweep->runs.n * sizeof *xy);
    char title[WORDS_MAX], name[SWEEP_METRIC_NAME_MAX];
    if (!xy)
        return -ENOMEM;
    for (size_t i = 0; i < sweep->runs.n; i++) {
        xy[2 * i] = axis->values[i];
        xy[2 * i + 1] = cli_sweep_metric(sweep->metric, &sweep->runs.results[i]);
    }
    cli_sweep_metric_name(sweep->metric, name);
    snprintf(title, sizeof title, "%s by %s", name, cli_sweep_axis(sweep, axis->axis)->name);
    const struct report_points points = {.size = REPORT_WIDE,
                                         .title = title,
                                         .x_name = cli_sweep_axis(sweep, axis->axis)->name,
                                         .y_name = name,
                                         .xy = xy,
                                         .n = sweep->runs.n,
                                         .slope = NAN,
                                         .intercept = NAN};
    report_page_points(text, &points, "A point is a run.");
    free(xy);
    return 0;
}

int cli_page_sweep_maps(struct text *text, const struct sweep *sweep)
{
    const int n = sweep->grid.n_axes;
    struct sweep_axis *axes = calloc((size_t)n, sizeof *axes);
    int drawn = 0, r = axes ? 0 : -ENOMEM;
    for (int i = 0; i < n && r == 0; i++)
        r = axis_make(sweep, i, &axes[i]);
    if (r == 0 && n == 1)
        r = along(text, sweep, &axes[0]);
    for (int i = 0; i < n && r == 0; i++)
        for (int k = i + 1; k < n && r == 0 && drawn < PAGE_SWEEP_MAPS; k++, drawn++)
            r = map(text, sweep, &axes[i], &axes[k]);
    for (int i = 0; axes && i < n; i++)
        free(axes[i].values);
    free(axes);
    if (n * (n - 1) / 2 > PAGE_SWEEP_MAPS)
        report_page_paragraph(text, "The first pairs of parameters are drawn; --csv has all runs.");
    return r;
}
