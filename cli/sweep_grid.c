#include "cli/sweep_grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/exit_status.h"

enum { TEXT_MAX = 512 };

static int wrong(const char *verb, const char *text, const char *words)
{
    char what[96];
    snprintf(what, sizeof what, "--grid: \"%.64s\"", text);
    return cli_stored_fail(EXIT_USAGE, verb, what, words);
}

/* One value, as the strategy takes it. */
static int push(const char *verb, const struct strategy_choice *choice, struct grid_axis *axis,
                const char *text)
{
    struct strategy_choice tried = *choice;
    const char *name = choice->strategy->params[axis->param].name;
    int status = cli_strategy_args_value(verb, "--grid", choice->strategy, tried.params, name, text);
    if (status != EXIT_OK)
        return status;
    if (axis->n > GRID_MOST)
        return wrong(verb, name, "more than 1000000 values: a wider step is needed");
    if ((axis->n & (axis->n - 1)) == 0) {
        double *moved = realloc(axis->values, (axis->n ? 2 * axis->n : 1) * sizeof *moved);
        if (!moved)
            return cli_stored_fail(EXIT_ERROR, verb, "", "out of memory");
        axis->values = moved;
    }
    axis->values[axis->n++] = tried.params[axis->param];
    return EXIT_OK;
}

/* 0.1 three times is 0.3 here: a value is rounded to twelve digits. */
static int push_range(const char *verb, const char *text, const struct strategy_choice *choice,
                      struct grid_axis *axis, const double range[3])
{
    double low = range[0], high = range[1], step = range[2];
    if (!(step > 0) || !(high >= low) || !isfinite(high - low) || (high - low) / step > GRID_MOST)
        return wrong(verb, text, "lo:hi:step with lo <= hi, step > 0 and at most 1000000 values is needed");
    size_t n = (size_t)floor((high - low) / step + 1e-9) + 1;
    int status = EXIT_OK;
    for (size_t i = 0; i < n && status == EXIT_OK; i++) {
        char value[40];
        snprintf(value, sizeof value, "%.12g", low + (double)i * step);
        status = push(verb, choice, axis, value);
    }
    return status;
}

static int read_values(const char *verb, const char *text, char *values, const struct strategy_choice *choice,
                       struct grid_axis *axis)
{
    double range[3];
    char *next = values, *end;
    int n = 0, status = EXIT_OK;
    bool is_range = strchr(values, ':') != NULL;
    while (next && status == EXIT_OK) {
        char *word = strsep(&next, is_range ? ":" : ",");
        if (!is_range) {
            status = push(verb, choice, axis, word);
            continue;
        }
        double value = strtod(word, &end);
        if (end == word || *end || n == 3)
            return wrong(verb, text, "key=lo:hi:step is needed, as fast=5:50:5");
        range[n++] = value;
    }
    if (status != EXIT_OK || !is_range)
        return status;
    if (n == 2)
        range[n++] = 1;
    return n == 3 ? push_range(verb, text, choice, axis, range)
                  : wrong(verb, text, "key=lo:hi:step is needed, as fast=5:50:5");
}

int cli_sweep_grid_add(const char *verb, const char *text, const struct strategy_choice *choice,
                       struct grid *grid)
{
    char copy[TEXT_MAX];
    snprintf(copy, sizeof copy, "%s", text);
    char *values = strchr(copy, '=');
    if (strlen(text) >= sizeof copy || !values)
        return wrong(verb, text, "key=lo:hi:step, or key=a,b,c, is needed");
    *values++ = '\0';
    int param = cli_strategy_args_key(verb, choice, copy);
    if (param < 0)
        return EXIT_USAGE;
    for (int i = 0; i < grid->n_axes; i++)
        if (grid->axes[i].param == param)
            return wrong(verb, text, "there is a grid of that parameter already");
    struct grid_axis *axis = &grid->axes[grid->n_axes++];
    axis->param = param;
    return read_values(verb, text, values, choice, axis);
}

size_t cli_sweep_grid_count(const struct grid *grid)
{
    size_t n = 1;
    for (int i = 0; i < grid->n_axes; i++) {
        n *= grid->axes[i].n;
        if (n > GRID_MOST)
            return GRID_MOST + 1;
    }
    return n;
}

bool cli_sweep_grid_set(const struct grid *grid, size_t i, struct strategy_choice *choice)
{
    for (int axis = grid->n_axes - 1; axis >= 0; axis--) {
        const struct grid_axis *of = &grid->axes[axis];
        choice->params[of->param] = of->values[i % of->n];
        i /= of->n;
    }
    return !choice->strategy->check || !choice->strategy->check(choice->params);
}

void cli_sweep_grid_finish(struct grid *grid)
{
    for (int i = 0; i < grid->n_axes; i++)
        free(grid->axes[i].values);
    *grid = (struct grid){0};
}
