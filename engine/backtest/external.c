#include "engine/backtest/external.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/column.h"
#include "engine/specs.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "exchange/replay/chance.h"
#include "strategy/external.h"

void backtest_external_finish(struct external_columns *columns)
{
    for (size_t i = 0; i < columns->n; i++)
        free(columns->columns[i].values);
    free(columns->columns);
    *columns = (struct external_columns){0};
}

static bool is_there(const struct external_columns *columns, const char *name, struct nearest *nearest)
{
    bool found = false;
    for (size_t i = 0; i < columns->n; i++) {
        found |= strcmp(columns->columns[i].name, name) == 0;
        nearest_offer(nearest, name, columns->columns[i].name);
    }
    return found;
}

int backtest_external_check(const struct external_columns *columns, const struct strategy *strategy,
                            const struct runner_spec *specs, size_t n, char *err, size_t err_size)
{
    for (size_t i = 0; i < n; i++) {
        struct nearest nearest = {0};
        const char *name = specs[i].column.name;
        if (!name[0] || (columns && is_there(columns, name, &nearest)))
            continue;
        return columns
                   ? fail_with(-EINVAL, err, err_size,
                               "strategy %.32s reads col:%s: no file of columns has it%s",
                               strategy_title(strategy), name, NEAREST_HINT(&nearest, name))
                   : fail_with(-EINVAL, err, err_size,
                               "strategy %.32s reads col:%s: a file with that column is needed, as --columns",
                               strategy_title(strategy), name);
    }
    return 0;
}

double backtest_external_at(const struct external_columns *columns, const char *symbol,
                            const struct column_source *source, int64_t end_ns)
{
    const struct column_value *newest = NULL;
    for (size_t i = 0; i < columns->n; i++) {
        const struct external_column *column = &columns->columns[i];
        bool own = column->symbol[0] != '\0';
        if (strcmp(column->name, source->name) != 0 || (own && strcasecmp(column->symbol, symbol) != 0))
            continue;
        const struct column_value *at = engine_column_newest(column->values, column->n, end_ns);
        if (at && (!newest || at->published_ns > newest->published_ns ||
                   (own && at->published_ns == newest->published_ns)))
            newest = at;
    }
    return engine_column_seen(source, newest, end_ns);
}

/* ---- for guards ---- */

static void change_value(struct column_value *value, const struct external_change *change,
                         struct chance *chance)
{
    double size = fabs(value->value) + 1;
    value->timestamp_ns += change->later_ns;
    value->published_ns += change->later_ns;
    if (value->published_ns > change->after_ns && change->changes)
        value->value = value->value + size * (4 * chance_unit(chance) - 2);
}

static int copy_column(const struct external_column *column, const struct external_change *change,
                       struct external_column *ret)
{
    struct chance chance = {change->seed ^ (uint64_t)change->after_ns};
    *ret = *column;
    ret->cap = column->n;
    ret->values = malloc((column->n + 1) * sizeof *ret->values);
    if (!ret->values)
        return -ENOMEM;
    ret->n = 0;
    for (size_t i = 0; i < column->n; i++) {
        struct column_value value = column->values[i];
        change_value(&value, change, &chance);
        if (value.published_ns <= change->after_ns || change->changes)
            ret->values[ret->n++] = value;
    }
    return 0;
}

int backtest_external_copy(const struct external_columns *columns, const struct external_change *change,
                           struct external_columns *ret)
{
    struct external_columns copy = {.columns = calloc(columns->n + 1, sizeof *copy.columns),
                                    .cap = columns->n};
    int r = copy.columns ? 0 : -ENOMEM;
    while (r == 0 && copy.n < columns->n) {
        r = copy_column(&columns->columns[copy.n], change, &copy.columns[copy.n]);
        copy.n += r == 0;
    }
    if (r < 0)
        backtest_external_finish(&copy);
    else
        *ret = copy;
    return r;
}
