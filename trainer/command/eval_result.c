#include "trainer/command/eval_result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/print.h"

static bool make_room(struct eval_result *result, size_t more)
{
    size_t cap = result->n + more;
    if (cap <= result->cap)
        return true;
    double *returns = realloc(result->returns, cap * sizeof *returns);
    if (returns)
        result->returns = returns;
    double *benchmark = returns ? realloc(result->benchmark, cap * sizeof *benchmark) : NULL;
    if (!benchmark)
        return false;
    result->benchmark = benchmark;
    result->cap = cap;
    return true;
}

int trainer_eval_result_add(struct eval_result *result, const struct training_episode *episode)
{
    double before = episode->capital, benchmark_before = episode->capital;
    if (!make_room(result, episode->n))
        return -ENOMEM;
    for (size_t i = 0; i < episode->n; i++, result->n++) {
        result->returns[result->n] = (episode->equity[i] - before) / before;
        result->benchmark[result->n] = (episode->benchmark[i] - benchmark_before) / benchmark_before;
        before = episode->equity[i];
        benchmark_before = episode->benchmark[i];
        result->level += before;
    }
    bool only = result->episodes == 0;
    result->start = only ? episode->capital : NAN;
    result->final = only ? before : NAN;
    result->episodes++;
    result->ruined += episode->ruined;
    result->fees += episode->fees;
    result->turnover += episode->turnover;
    result->invested += episode->invested;
    result->exposed += episode->exposed;
    result->buys += episode->buys;
    result->sells += episode->sells;
    result->open_trades += episode->open_trades;
    metrics_trades_merge(&result->trades, &episode->trades);
    return 0;
}

void trainer_eval_result_finish(struct eval_result *result)
{
    free(result->returns);
    free(result->benchmark);
    *result = (struct eval_result){0};
}

PRINT_OBJECT(curve_object, struct metrics, PRINT_PERCENT(total_return, "return_pct"),
             PRINT_PERCENT(cagr, "cagr_pct"), PRINT_PERCENT(volatility, "volatility_pct"), PRINT_REAL(sharpe),
             PRINT_REAL(sortino), PRINT_REAL(calmar), PRINT_PERCENT(max_drawdown, "max_drawdown_pct"));
PRINT_OBJECT(benchmark_object, struct metrics, PRINT_PERCENT(total_return, "benchmark_return_pct"),
             PRINT_AS(REAL, OPTIONAL, sharpe, "benchmark_sharpe"),
             PRINT_PERCENT(max_drawdown, "benchmark_max_drawdown_pct"));
PRINT_OBJECT(ratios_object, struct metrics_trade_ratios, PRINT_PERCENT(win_rate, "win_rate_pct"),
             PRINT_REAL(profit_factor));
PRINT_OBJECT(episodes_object, struct eval_result, PRINT_WHOLE(episodes),
             PRINT_AS(SIGNED, REQUIRED, n, "steps"), PRINT_WHOLE(ruined),
             PRINT_AS(REAL, OPTIONAL, start, "capital"), PRINT_AS(REAL, OPTIONAL, final, "equity"));
PRINT_OBJECT(trades_object, struct eval_result, PRINT_AS(SIGNED, REQUIRED, trades.n, "trades"),
             PRINT_WHOLE(open_trades), PRINT_LATER("win_rate_pct"), PRINT_LATER("profit_factor"),
             PRINT_WHOLE(buys), PRINT_WHOLE(sells), PRINT_REAL(fees), PRINT_REAL(turnover),
             PRINT_LATER("turnover_year"), PRINT_LATER("exposure_pct"), PRINT_LATER("invested_pct"));

static void set_real(json_t *object, const char *name, double value)
{
    if (isfinite(value))
        json_object_set_new(object, name, json_real(value));
}

static void set_curve(json_t *object, const double *returns, size_t n, double periods)
{
    const struct metrics_series series = metrics_returns(returns, n);
    struct metrics m;
    metrics_compute(&series, periods, &m);
    json_object_update_new(object, curve_object(&m, NULL));
}

json_t *trainer_eval_result_json(const struct eval_result *result, int64_t row_ns)
{
    const struct metrics_series held = metrics_returns(result->benchmark, result->n);
    double periods = metrics_periods_per_year(row_ns), steps = (double)result->n;
    const struct metrics_trade_ratios ratios = metrics_trade_ratios(&result->trades);
    struct metrics benchmark;
    json_t *object = episodes_object(result, NULL);
    metrics_compute(&held, periods, &benchmark);
    set_curve(object, result->returns, result->n, periods);
    json_object_update_new(object, benchmark_object(&benchmark, NULL));
    json_object_update_new(object, trades_object(result, NULL));
    json_object_update_new(object, ratios_object(&ratios, NULL));
    set_real(object, "turnover_year", result->turnover / (result->level / steps) / (steps / periods));
    set_real(object, "exposure_pct", 100 * (double)result->exposed / steps);
    set_real(object, "invested_pct", 100 * result->invested / steps);
    return object;
}

/* ---- splits ---- */

/* The paths through all rows: each combination's groups fill the first paths that lack them. */
struct paths {
    const struct study_split *split;
    size_t from, rows; /* of the market */
    double *returns;   /* [paths][rows]; NaN: no step ends there */
    int filled[SPLIT_GROUPS_MAX];
};

static int group_of(const struct paths *paths, size_t row)
{
    int k = 0;
    while (row >= split_group(paths->split, paths->rows, k).to)
        k++;
    return k;
}

static void note_paths(const struct paths *paths, const struct training_episode *episode)
{
    double before = episode->capital;
    for (size_t i = 0; i < episode->n; i++) {
        size_t row = episode->first + 1 + i - paths->from;
        int group = group_of(paths, row);
        paths->returns[(size_t)paths->filled[group] * paths->rows + row] =
            (episode->equity[i] - before) / before;
        before = episode->equity[i];
    }
}

static json_t *rows_json(const struct eval_market *market, size_t from, size_t to)
{
    return json_pack("{s:I, s:I, s:I}", "first_ns", (json_int_t)env_market_open_ns(market->env_market, from),
                     "last_ns",
                     (json_int_t)(env_market_open_ns(market->env_market, to - 1) + market->bars->interval_ns),
                     "rows", (json_int_t)(to - from));
}

/* Plays blocks [n] of rows that count from `from`; their object. */
static json_t *play_blocks(struct eval_market *market, const struct split_rows *blocks, int n, size_t from,
                           const struct paths *paths, char err[static EVAL_ERROR_MAX])
{
    struct eval_result result = {0};
    json_t *list = json_array(), *object = NULL;
    int r = 0;
    for (int b = 0; b < n && r == 0; b++) {
        struct training_episode episode;
        r = trainer_eval_episode_play(market, from + blocks[b].from, from + blocks[b].to, NULL, &episode,
                                      err);
        if (r < 0)
            break;
        r = trainer_eval_result_add(&result, &episode);
        if (paths)
            note_paths(paths, &episode);
        training_episode_finish(&episode);
        json_array_append_new(list, rows_json(market, from + blocks[b].from, from + blocks[b].to));
        if (r < 0)
            snprintf(err, EVAL_ERROR_MAX, "out of memory");
    }
    if (r == 0)
        object = trainer_eval_result_json(&result, market_row_ns(market->bars));
    if (object)
        json_object_set(object, "blocks", list);
    json_decref(list);
    trainer_eval_result_finish(&result);
    return object;
}

static json_t *combination_json(struct eval_market *market, const int *chosen, struct paths *paths,
                                char err[static EVAL_ERROR_MAX])
{
    struct split_rows blocks[SPLIT_GROUPS_MAX];
    int n = split_blocks(paths->split, paths->rows, chosen, blocks);
    json_t *object = play_blocks(market, blocks, n, paths->from, paths, err), *groups = json_array();
    for (int i = 0; i < paths->split->tested; i++) {
        paths->filled[chosen[i]]++;
        json_array_append_new(groups, json_integer(chosen[i]));
    }
    if (object)
        json_object_set(object, "groups", groups);
    json_decref(groups);
    return object;
}

static json_t *path_json(const struct paths *paths, int path, int64_t row_ns)
{
    double *returns = paths->returns + (size_t)path * paths->rows;
    size_t n = 0;
    for (size_t row = 0; row < paths->rows; row++)
        if (!isnan(returns[row]))
            returns[n++] = returns[row];
    json_t *object = json_pack("{s:I}", "steps", (json_int_t)n);
    set_curve(object, returns, n, metrics_periods_per_year(row_ns));
    return object;
}

static bool add(json_t *array, json_t *object)
{
    return object && json_array_append_new(array, object) == 0;
}

static bool play_split(struct eval_market *market, struct paths *paths, json_t *groups, json_t *combinations,
                       json_t *through, char err[static EVAL_ERROR_MAX])
{
    int chosen[SPLIT_GROUPS_MAX];
    bool done = true;
    for (int k = 0; k < paths->split->groups && done; k++) {
        const struct split_rows group = split_group(paths->split, paths->rows, k);
        done = add(groups, play_blocks(market, &group, 1, paths->from, NULL, err));
    }
    split_begin(paths->split, chosen);
    do
        done = done && add(combinations, combination_json(market, chosen, paths, err));
    while (done && split_next(paths->split, chosen));
    for (int p = 0; p < paths->split->paths && done; p++)
        done = add(through, path_json(paths, p, market_row_ns(market->bars)));
    return done;
}

json_t *trainer_eval_split_json(struct eval_market *market, const struct study_split *split, size_t from,
                                size_t to, char err[static EVAL_ERROR_MAX])
{
    struct paths paths = {.split = split, .from = from, .rows = to - from};
    size_t least = 2 * (size_t)market->params.lookback + 1, n = (size_t)split->paths * paths.rows;
    if (paths.rows / (size_t)split->groups < least) {
        snprintf(err, EVAL_ERROR_MAX,
                 "--splits: %d groups of %zu rows: at least %zu in each, for a lookback of %d, are right",
                 split->groups, paths.rows, least, market->params.lookback);
        return NULL;
    }
    paths.returns = malloc(n * sizeof *paths.returns);
    if (!paths.returns) {
        snprintf(err, EVAL_ERROR_MAX, "--splits: no memory for %d paths of %zu rows: fewer groups are right",
                 split->paths, paths.rows);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        paths.returns[i] = NAN;
    json_t *groups = json_array(), *combinations = json_array(), *through = json_array(), *object = NULL;
    if (play_split(market, &paths, groups, combinations, through, err))
        object = json_pack("{s:i, s:i, s:i, s:i, s:O, s:O, s:O}", "n_groups", split->groups, "n_tested",
                           split->tested, "n_combinations", split->combinations, "n_paths", split->paths,
                           "groups", groups, "combinations", combinations, "paths", through);
    json_decref(groups);
    json_decref(combinations);
    json_decref(through);
    free(paths.returns);
    return object;
}
