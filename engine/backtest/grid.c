#include "engine/backtest/grid.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "record/config_key.h"
#include "strategy/external.h"

enum { TEXT_MAX = 512 };

/* An axis while it is read. */
struct reading {
    const struct strategy *strategy;
    struct backtest_axis *axis;
    const char *text; /* as given */
    bool list;
    char *err;
};

static int wrong(const char *text, const char *words, char *err)
{
    return fail_with(-EINVAL, err, BACKTEST_GRID_ERROR_MAX, "\"%.64s\": %s", text, words);
}

static bool is_there(const struct backtest_axis *axis, double value)
{
    size_t i = 0;
    while (i < axis->n && axis->values[i] != value)
        i++;
    return i < axis->n;
}

/* One value, as the strategy takes it. */
static int push(const struct reading *reading, const char *text)
{
    struct backtest_axis *axis = reading->axis;
    double tried[STRATEGY_PARAMS_MAX];
    char why[CONFIG_WHY_MAX];
    const char *name = reading->strategy->params[axis->param].name;
    if (strategy_set(reading->strategy, tried, name, text, why) < 0)
        return fail_with(-EINVAL, reading->err, BACKTEST_GRID_ERROR_MAX, "%.48s: %s", name, why);
    if (reading->list && is_there(axis, tried[axis->param])) {
        axis->again++;
        return 0;
    }
    if (axis->n > BACKTEST_GRID_MOST)
        return wrong(name, "more than 1000000 values: a wider step is needed", reading->err);
    if ((axis->n & (axis->n - 1)) == 0) {
        double *moved = realloc(axis->values, (axis->n ? 2 * axis->n : 1) * sizeof *moved);
        if (!moved)
            return fail_with(-ENOMEM, reading->err, BACKTEST_GRID_ERROR_MAX, "out of memory");
        axis->values = moved;
    }
    double value = tried[axis->param];
    axis->low = axis->n == 0 || value < axis->low ? value : axis->low;
    axis->high = axis->n == 0 || value > axis->high ? value : axis->high;
    axis->values[axis->n++] = value;
    return 0;
}

/* 0.1 three times is 0.3 here: a value is rounded to twelve digits. */
static int push_range(const struct reading *reading, const double range[3])
{
    double low = range[0], high = range[1], step = range[2];
    if (!(step > 0) || !(high >= low) || !isfinite(high - low) || (high - low) / step > BACKTEST_GRID_MOST)
        return wrong(reading->text, "lo:hi:step with lo <= hi, step > 0 and at most 1000000 values is needed",
                     reading->err);
    size_t n = (size_t)floor((high - low) / step + 1e-9) + 1;
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        char value[40];
        snprintf(value, sizeof value, "%.12g", low + (double)i * step);
        r = push(reading, value);
    }
    return r;
}

/* The upper end of a range without a step is in it, for samples. */
static int reach(const struct reading *reading, double high, double *ret)
{
    double tried[STRATEGY_PARAMS_MAX];
    char text[40], why[CONFIG_WHY_MAX];
    const char *name = reading->strategy->params[reading->axis->param].name;
    snprintf(text, sizeof text, "%.12g", high);
    if (strategy_set(reading->strategy, tried, name, text, why) < 0)
        return fail_with(-EINVAL, reading->err, BACKTEST_GRID_ERROR_MAX, "%.48s: %s", name, why);
    *ret = tried[reading->axis->param];
    return 0;
}

static int read_range(const struct reading *reading, char *values)
{
    double range[3] = {0, 0, 1};
    char *next = values, *end;
    int n = 0;
    while (next) {
        char *word = strsep(&next, ":");
        double value = strtod(word, &end);
        if (end == word || *end || n == 3)
            return wrong(reading->text, "key=lo:hi:step is needed, as fast=5:50:5", reading->err);
        range[n++] = value;
    }
    struct backtest_axis *axis = reading->axis;
    axis->continuous = n < 3 && !reading->strategy->params[axis->param].integer;
    double high = 0;
    int r = axis->continuous ? reach(reading, range[1], &high) : 0;
    r = r == 0 ? push_range(reading, range) : r;
    axis->high = r == 0 && axis->continuous ? high : axis->high;
    return r;
}

static int read_list(const struct reading *reading, char *values)
{
    char *next = values;
    int r = 0;
    while (next && r == 0)
        r = push(reading, strsep(&next, ","));
    return r;
}

/* The index of a parameter, or -EINVAL with the nearest. */
static int find_param(const struct strategy *strategy, const char *key, char *err)
{
    double params[STRATEGY_PARAMS_MAX];
    char why[CONFIG_WHY_MAX] = "";
    for (size_t i = 0; i < strategy->n_params; i++)
        if (strcmp(strategy->params[i].name, key) == 0)
            return (int)i;
    (void)strategy_set(strategy, params, key, "", why);
    return fail_with(-EINVAL, err, BACKTEST_GRID_ERROR_MAX, "%.48s: %s", key, why);
}

int backtest_grid_add(struct backtest_grid *grid, const struct strategy *strategy, const char *text,
                      char err[static BACKTEST_GRID_ERROR_MAX])
{
    char copy[TEXT_MAX];
    snprintf(copy, sizeof copy, "%s", text);
    char *values = strchr(copy, '=');
    if (strlen(text) >= sizeof copy || !values)
        return wrong(text, "key=lo:hi:step, or key=a,b,c, is needed", err);
    *values++ = '\0';
    int param = find_param(strategy, copy, err);
    if (param < 0)
        return param;
    for (int i = 0; i < grid->n_axes; i++)
        if (grid->axes[i].param == param)
            return wrong(text, "there is a grid of that parameter already", err);
    struct backtest_axis *axis = &grid->axes[grid->n_axes++];
    axis->param = param;
    const struct reading reading = {strategy, axis, text, !strchr(values, ':'), err};
    return strchr(values, ':') ? read_range(&reading, values) : read_list(&reading, values);
}

size_t backtest_grid_count(const struct backtest_grid *grid)
{
    size_t n = 1;
    for (int i = 0; i < grid->n_axes; i++) {
        n *= grid->axes[i].n;
        if (n > BACKTEST_GRID_MOST)
            return BACKTEST_GRID_MOST + 1;
    }
    return n;
}

bool backtest_grid_set(const struct backtest_grid *grid, const struct strategy *strategy, size_t i,
                       double params[static STRATEGY_PARAMS_MAX])
{
    for (int axis = grid->n_axes - 1; axis >= 0; axis--) {
        const struct backtest_axis *of = &grid->axes[axis];
        params[of->param] = of->values[i % of->n];
        i /= of->n;
    }
    return !strategy_check(strategy, params);
}

void backtest_grid_finish(struct backtest_grid *grid)
{
    for (int i = 0; i < grid->n_axes; i++)
        free(grid->axes[i].values);
    *grid = (struct backtest_grid){0};
}
