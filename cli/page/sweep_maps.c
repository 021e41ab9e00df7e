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

/* The values of one axis. */
struct sweep_axis {
    int axis;
    double *values;                /* [n] of each run, owned */
    struct sweep_places along, up; /* ascending, as columns and as rows */
};

/* The values of a side's places in words. */
struct side {
    const struct sweep_places *places;
    char words[REPORT_HEAT_SIDE_MAX][STRATEGY_WORD_MAX];
    const char *labels[REPORT_HEAT_SIDE_MAX];
};

double *cli_page_sweep_metric(const struct sweep *sweep)
{
    double *metric = malloc((sweep->runs.n + 1) * sizeof *metric);
    for (size_t i = 0; metric && i < sweep->runs.n; i++)
        metric[i] = cli_sweep_metric(sweep->metric, &sweep->runs.results[i]);
    return metric;
}

static int axis_make(const struct sweep *sweep, int which, const struct page_sweep_draw *draw,
                     struct sweep_axis *ret)
{
    const size_t n = sweep->runs.n;
    double params[STRATEGY_PARAMS_MAX];
    *ret = (struct sweep_axis){.axis = which, .values = malloc((n + 1) * sizeof *ret->values)};
    if (!ret->values)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        cli_page_sweep_params(sweep, &sweep->runs.results[i], params);
        ret->values[i] = params[sweep->grid.axes[which].param];
    }
    int r = cli_sweep_places(ret->values, n, draw->columns, &ret->along);
    ret->up = ret->along;
    if (r == 0 && draw->rows != draw->columns)
        r = cli_sweep_places(ret->values, n, draw->rows, &ret->up);
    return r;
}

static void side_make(const struct sweep *sweep, int axis, const struct sweep_places *places,
                      struct side *ret)
{
    ret->places = places;
    for (int i = 0; i < places->n; i++)
        ret->labels[i] = cli_page_sweep_value(sweep, axis, places->first[i], ret->words[i]);
}

static int map(const struct sweep *sweep, const struct page_sweep_draw *draw, const double *metric,
               const struct sweep_axis *across, const struct sweep_axis *upward)
{
    struct side x, y;
    side_make(sweep, across->axis, &across->along, &x);
    side_make(sweep, upward->axis, &upward->up, &y);
    double *values = malloc((size_t)(x.places->n * y.places->n) * sizeof *values);
    char title[WORDS_MAX], caption[WORDS_MAX], name[SWEEP_METRIC_NAME_MAX];
    const char *x_name = cli_sweep_axis(sweep, across->axis)->name,
               *y_name = cli_sweep_axis(sweep, upward->axis)->name;
    const size_t most = values ? cli_sweep_medians(across->values, x.places, upward->values, y.places, metric,
                                                   sweep->runs.n, values)
                               : 0;
    int r = most > 0 ? 0 : -ENOMEM;
    if (r == 0) {
        cli_sweep_metric_name(sweep->metric, name);
        snprintf(title, sizeof title, "%s by %s and %s", name, x_name, y_name);
        snprintf(caption, sizeof caption,
                 "%s%s Good parameters have good neighbours: a lone dark cell is luck.",
                 most > 1 ? "Each cell is the median of its runs, over all values of the other parameters."
                          : "A cell is a run.",
                 x.places->shared || y.places->shared
                     ? " Neighbouring values share a place, named after the least."
                     : "");
        const struct report_heat heat = {.title = title,
                                         .x_name = x_name,
                                         .y_name = y_name,
                                         .value_name = name,
                                         .x_labels = x.labels,
                                         .y_labels = y.labels,
                                         .values = values,
                                         .columns = x.places->n,
                                         .rows = y.places->n,
                                         .decimals = 2};
        r = draw->heat(draw->ctx, &heat, caption);
    }
    free(values);
    return r;
}

/* Of one axis: a point a run. */
static int along(const struct sweep *sweep, const struct page_sweep_draw *draw, const double *metric,
                 const struct sweep_axis *axis)
{
    double *xy = malloc((2 * sweep->runs.n + 1) * sizeof *xy);
    char title[WORDS_MAX], name[SWEEP_METRIC_NAME_MAX];
    if (!xy)
        return -ENOMEM;
    for (size_t i = 0; i < sweep->runs.n; i++) {
        xy[2 * i] = axis->values[i];
        xy[2 * i + 1] = metric[i];
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
    int r = draw->points(draw->ctx, &points, "A point is a run.");
    free(xy);
    return r;
}

int cli_page_sweep_draw(const struct sweep *sweep, const struct page_sweep_draw *draw)
{
    const int n = sweep->grid.n_axes;
    struct sweep_axis *axes = calloc((size_t)n, sizeof *axes);
    double *metric = cli_page_sweep_metric(sweep);
    int drawn = 0, r = axes && metric ? 0 : -ENOMEM;
    for (int i = 0; i < n && r == 0; i++)
        r = axis_make(sweep, i, draw, &axes[i]);
    if (r == 0 && n == 1)
        r = along(sweep, draw, metric, &axes[0]);
    for (int i = 0; i < n && r == 0; i++)
        for (int k = i + 1; k < n && r == 0 && drawn < PAGE_SWEEP_MAPS; k++, drawn++)
            r = map(sweep, draw, metric, &axes[i], &axes[k]);
    for (int i = 0; axes && i < n; i++)
        free(axes[i].values);
    free(axes);
    free(metric);
    return r;
}

const char *cli_page_sweep_more(const struct sweep *sweep)
{
    const int n = sweep->grid.n_axes;
    return n * (n - 1) / 2 > PAGE_SWEEP_MAPS ? "The first pairs of parameters are drawn; --csv has all runs."
                                             : NULL;
}
