#include "engine/specs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/book_measure.h"
#include "exchange/fail.h"
#include "record/config_duration.h"
#include "strategy/external.h"

/* What a column's own value is to those that count outputs and bars. */
#define PLAIN_AS "sma:1"

/* Behind the @: a measure of the book, or a timeframe; columns are parsed before. */
static bool parse_source(const char *text, struct runner_spec *ret)
{
    ret->measure = book_measure_find(text);
    return ret->measure >= 0 || bar_interval_parse(text, &ret->frame_ns) == 0;
}

/* "col:NAME" */
static int parse_column(const char *text, const struct strategy *strategy, struct runner_spec *ret,
                        char err[static SPECS_ERROR_MAX])
{
    char why[SPECS_ERROR_MAX / 2];
    if (strategy_column_parse(text, &ret->column, why, sizeof why) < 0)
        return fail_with(-EINVAL, err, SPECS_ERROR_MAX, "strategy %.32s: %s", strategy_title(strategy), why);
    return 0;
}

static int parse(const char *text, const struct strategy *strategy, struct runner_spec *ret,
                 char err[static SPECS_ERROR_MAX])
{
    char word[STRATEGY_SPEC_TEXT], why[SPECS_ERROR_MAX / 2];
    snprintf(word, sizeof word, "%.*s", (int)sizeof word - 1, text);
    char *at = strrchr(word, '@'); /* a path may have one too */
    *ret = (struct runner_spec){.measure = -1, .plain = strategy_column_is(text)};
    if (ret->plain || (at && strategy_column_is(at + 1))) {
        int r = parse_column(ret->plain ? text : at + 1, strategy, ret, err);
        if (r < 0)
            return r;
        if (ret->plain)
            snprintf(word, sizeof word, "%s", PLAIN_AS);
        else
            *at = '\0';
    } else if (at) {
        *at++ = '\0';
        if (!parse_source(at, ret)) {
            snprintf(err, SPECS_ERROR_MAX,
                     "strategy %.32s: %.47s: one of " BAR_INTERVAL_NAMES
                     ", spread, imbalance, microprice or col:NAME is needed",
                     strategy_title(strategy), text);
            return -EINVAL;
        }
    }
    if (indicator_spec_parse(word, &ret->indicator, why, sizeof why) < 0)
        return fail_with(-EINVAL, err, SPECS_ERROR_MAX, "strategy %.32s: %.100s", strategy_title(strategy),
                         why);
    if ((ret->measure >= 0 || ret->column.name[0]) && (ret->indicator.row->inputs & INDICATOR_VOLUME))
        return fail_with(-EINVAL, err, SPECS_ERROR_MAX,
                         "strategy %.32s: %.47s: %s reads volumes, and a %s has none",
                         strategy_title(strategy), text, ret->indicator.row->name,
                         ret->measure >= 0 ? "measure" : "column");
    return 0;
}

int engine_runner_specs(const struct strategy *strategy, const double *params, int64_t interval_ns,
                        struct runner_spec specs[static STRATEGY_SPECS_MAX], size_t *ret_n,
                        char err[static SPECS_ERROR_MAX])
{
    char words[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    size_t n = strategy_specs(strategy, params, words);
    if (n == STRATEGY_SPECS_UNKNOWN)
        return fail_with(-EINVAL, err, SPECS_ERROR_MAX,
                         "strategy %.90s: which indicators these parameters read is not known: it is "
                         "not at hand",
                         strategy_title(strategy));
    if (strategy->state_size > STRATEGY_STATE_MAX)
        return fail_with(-EINVAL, err, SPECS_ERROR_MAX,
                         "strategy %.32s keeps %zu bytes of state a symbol: at most %d can be",
                         strategy_title(strategy), strategy->state_size, STRATEGY_STATE_MAX);
    if (n > STRATEGY_SPECS_MAX)
        return fail_with(-EINVAL, err, SPECS_ERROR_MAX,
                         "strategy %.32s reads %zu indicators: at most %d can be", strategy_title(strategy),
                         n, STRATEGY_SPECS_MAX);
    int64_t undivided_ns = INT64_MAX; /* the shortest: bars that divide it divide the others, as a rule */
    for (size_t i = 0; i < n; i++) {
        int r = parse(words[i], strategy, &specs[i], err);
        if (r < 0)
            return r;
        if (specs[i].frame_ns % interval_ns != 0 && specs[i].frame_ns < undivided_ns)
            undivided_ns = specs[i].frame_ns;
    }
    if (undivided_ns < INT64_MAX) {
        const char *name = bar_interval_name(interval_ns);
        return fail_with(
            -EINVAL, err, SPECS_ERROR_MAX, "strategy %.32s needs bars that divide %s: interval %s does not",
            strategy_title(strategy), bar_interval_name(undivided_ns), name ? name : "of this run");
    }
    *ret_n = n;
    return 0;
}

int engine_runner_specs_of_bars(const struct strategy *strategy, const struct runner_spec *specs, size_t n,
                                char err[static SPECS_ERROR_MAX])
{
    char name[48];
    for (size_t i = 0; i < n; i++)
        if (specs[i].measure >= 0) {
            engine_runner_output_name(&specs[i], 0, name, sizeof name);
            return fail_with(-EINVAL, err, SPECS_ERROR_MAX,
                             "strategy %.32s reads %.47s: bars have no order book, an event log has",
                             strategy_title(strategy), name);
        }
    return 0;
}

bool engine_runner_specs_read_columns(const struct runner_spec *specs, size_t n)
{
    size_t i = 0;
    while (i < n && !specs[i].column.name[0])
        i++;
    return i < n;
}

size_t engine_runner_outputs(const struct runner_spec *specs, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += specs[i].indicator.row->n_outputs;
    return sum;
}

/* "col_funding_8h", behind an @ where an indicator reads it. */
static size_t column_name(const struct runner_spec *spec, char *buf, size_t cap)
{
    char age[CONFIG_DURATION_TEXT_MAX] = "";
    if (spec->column.age_ns > 0)
        config_key_duration_text(spec->column.age_ns, age);
    return (size_t)snprintf(buf, cap, "%scol_%s%s%s", spec->plain ? "" : "@", spec->column.name,
                            age[0] ? "_" : "", age);
}

size_t engine_runner_output_name(const struct runner_spec *spec, size_t output, char *buf, size_t cap)
{
    size_t len = spec->plain ? 0 : indicator_spec_name(&spec->indicator, output, buf, cap);
    if (spec->column.name[0] && len < cap)
        len += column_name(spec, buf + len, cap - len);
    if (spec->frame_ns > 0 && len < cap)
        len += (size_t)snprintf(buf + len, cap - len, "@%s", bar_interval_name(spec->frame_ns));
    if (spec->measure >= 0 && len < cap)
        len += (size_t)snprintf(buf + len, cap - len, "@%s",
                                book_measure_name((enum book_measure)spec->measure));
    return len;
}
