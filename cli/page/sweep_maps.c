/* The metric of a sweep over the values of its axes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/page/sweep.h"
#include "strategy/strategy.h"

enum { WORDS_MAX = 512 };

/* The values that the runs have of one axis, ascending, in at most REPORT_HEAT_SIDE_MAX places. */
struct sweep_axis {
    int axis, places;
    double *values;                     /* [n] of each run, owned */
    double first[REPORT_HEAT_SIDE_MAX]; /* the least of each place */
    char words[REPORT_HEAT_SIDE_MAX][STRATEGY_WORD_MAX];
    const char *labels[REPORT_HEAT_SIDE_MAX];
    bool shared; /* a place has several values */
};

struct at_cell {
    int cell;
    double value;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int by_cell(const void *a, const void *b)
{
    const struct at_cell *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* Each value gets a place of its own, or as many neighbours as it takes share one. */
static void place(struct sweep_axis *axis, double *sorted, size_t n)
{
    size_t distinct = 0;
    qsort(sorted, n, sizeof *sorted, by_value);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || sorted[i] != sorted[distinct - 1])
            sorted[distinct++] = sorted[i];
    axis->shared = distinct > REPORT_HEAT_SIDE_MAX;
    axis->places = axis->shared ? REPORT_HEAT_SIDE_MAX : (int)distinct;
    for (int i = 0; i < axis->places; i++)
        axis->first[i] = sorted[(size_t)i * distinct / (size_t)axis->places];
}

static int axis_make(const struct sweep *sweep, int which, struct sweep_axis *ret)
{
    const size_t n = sweep->runs.n;
    double params[STRATEGY_PARAMS_MAX];
    double *sorted = malloc(n * sizeof *sorted);
    *ret = (struct sweep_axis){.axis = which, .values = malloc(n * sizeof *ret->values)};
    if (!sorted || !ret->values) {
        free(sorted);
        free(ret->values);
        ret->values = NULL;
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        cli_page_sweep_params(sweep, &sweep->runs.results[i], params);
        sorted[i] = ret->values[i] = params[sweep->grid.axes[which].param];
    }
    place(ret, sorted, n);
    free(sorted);
    for (int i = 0; i < ret->places; i++)
        ret->labels[i] = cli_page_sweep_value(sweep, which, ret->first[i], ret->words[i]);
    return 0;
}

static int place_of(const struct sweep_axis *axis, double value)
{
    int low = 0, high = axis->places;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(value < axis->first[middle] ? &high : &low) = middle;
    }
    return low;
}

/* Of each cell the median of its runs, [places of y][places of x]; NaN of none. Returns the most runs that
 * share one; 0: without memory. */
static size_t medians(const struct sweep *sweep, const struct sweep_axis *x, const struct sweep_axis *y,
                      double *ret)
{
    struct at_cell *cells = malloc(sweep->runs.n * sizeof *cells);
    size_t n = 0, most = 1;
    if (!cells)
        return 0;
    for (int i = 0; i < x->places * y->places; i++)
        ret[i] = NAN;
    for (size_t i = 0; i < sweep->runs.n; i++) {
        double value = cli_sweep_metric(sweep->metric, &sweep->runs.results[i]);
        if (isfinite(value))
            cells[n++] =
                (struct at_cell){place_of(y, y->values[i]) * x->places + place_of(x, x->values[i]), value};
    }
    qsort(cells, n, sizeof *cells, by_cell);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && cells[end].cell == cells[i].cell;)
            end++;
        size_t middle = i + (end - i) / 2;
        ret[cells[i].cell] =
            (end - i) % 2 ? cells[middle].value : (cells[middle - 1].value + cells[middle].value) / 2;
        most = end - i > most ? end - i : most;
    }
    free(cells);
    return most;
}

static int map(struct text *text, const struct sweep *sweep, const struct sweep_axis *x,
               const struct sweep_axis *y)
{
    double *values = malloc((size_t)(x->places * y->places) * sizeof *values);
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
                 x->shared || y->shared ? " Neighbouring values share a place, named after the least." : "");
        const struct report_heat heat = {.title = title,
                                         .x_name = x_name,
                                         .y_name = y_name,
                                         .value_name = name,
                                         .x_labels = x->labels,
                                         .y_labels = y->labels,
                                         .values = values,
                                         .columns = x->places,
                                         .rows = y->places,
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
