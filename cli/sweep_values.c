#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/sweep_run.h"
#include "strategy/metrics.h"
#include "strategy/strategy.h"

double cli_sweep_years(const struct sweep *sweep)
{
    return (double)(sweep->to - sweep->from) / metrics_periods_per_year(sweep->market->interval_ns);
}

void cli_sweep_values(const struct sweep *sweep, size_t combination, double values[STRATEGY_PARAMS_MAX])
{
    struct strategy_choice choice = sweep->run.choices[0];
    backtest_sets_get(&sweep->sets, choice.strategy, combination, choice.params);
    for (int i = 0; i < sweep->grid.n_axes; i++)
        values[i] = choice.params[sweep->grid.axes[i].param];
}

const struct strategy_param *cli_sweep_axis(const struct sweep *sweep, int axis)
{
    return &sweep->run.choices[0].strategy->params[sweep->grid.axes[axis].param];
}

/* As the command line takes it again: all digits of a number that was drawn. */
static const char *value_text(const struct strategy_param *param, double value,
                              char buf[static STRATEGY_WORD_MAX])
{
    if (strategy_param_word(param, value, buf))
        return buf;
    snprintf(buf, STRATEGY_WORD_MAX, "%.12g", value);
    return buf;
}

const char *cli_sweep_text(const struct sweep *sweep, size_t combination, char ret[static SWEEP_VALUES_MAX])
{
    double values[STRATEGY_PARAMS_MAX];
    char value[STRATEGY_WORD_MAX];
    size_t at = 0;
    cli_sweep_values(sweep, combination, values);
    ret[0] = '\0';
    for (int i = 0; i < sweep->grid.n_axes && at < SWEEP_VALUES_MAX; i++)
        at += (size_t)snprintf(ret + at, SWEEP_VALUES_MAX - at, "%s%s=%s", i > 0 ? " " : "",
                               cli_sweep_axis(sweep, i)->name,
                               value_text(cli_sweep_axis(sweep, i), values[i], value));
    return ret;
}

const char *cli_sweep_time(double seconds, char ret[static SWEEP_TIME_MAX])
{
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400 * 365.0, "years"}, {86400, "days"}, {3600, "h"}, {60, "min"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (seconds >= 2 * units[i].seconds) {
            snprintf(ret, SWEEP_TIME_MAX, "%.*f %s", seconds < 100 * units[i].seconds ? 1 : 0,
                     seconds / units[i].seconds, units[i].unit);
            return ret;
        }
    snprintf(ret, SWEEP_TIME_MAX, "%.1f s", seconds);
    return ret;
}

static bool is_share(enum sweep_metric metric)
{
    return metric == SWEEP_CAGR || metric == SWEEP_RETURN || metric == SWEEP_MAX_DRAWDOWN ||
           metric == SWEEP_WIN_RATE;
}

double cli_sweep_metric(enum sweep_metric metric, const struct sweep_result *result)
{
    return metric == SWEEP_DSR ? result->dsr : (is_share(metric) ? 100 : 1) * result->metrics[metric];
}

const char *cli_sweep_metric_name(enum sweep_metric metric, char ret[static SWEEP_METRIC_NAME_MAX])
{
    snprintf(ret, SWEEP_METRIC_NAME_MAX, "%s%s", backtest_sweep_metric_name(metric),
             is_share(metric) ? "_pct" : "");
    return ret;
}

double cli_sweep_sharpe_at(const struct sweep *sweep, int costs, size_t row)
{
    return sweep->costs[costs] ? sweep->costs[costs][row].metrics[SWEEP_SHARPE] : NAN;
}
