#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "record/json.h"
#include "strategy/param_json.h"
#include "strategy/strategy.h"

json_t *cli_sweep_params_json(const struct sweep *sweep, const struct sweep_result *r)
{
    double values[STRATEGY_PARAMS_MAX];
    json_t *params = json_object();
    cli_sweep_values(sweep, r->combination, values);
    for (int i = 0; i < sweep->grid.n_axes; i++)
        json_object_set_new(params, cli_sweep_axis(sweep, i)->name,
                            strategy_param_json(cli_sweep_axis(sweep, i), values[i]));
    return params;
}

static json_t *result_object(const struct sweep *sweep, size_t row)
{
    const struct sweep_result *r = &sweep->runs.results[row];
    const struct backtest_beside *beside = &sweep->beside[row];
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "params",
        cli_sweep_params_json(sweep, r), "equity", record_json_real(r->final_equity), "fees",
        record_json_real(r->fees), "exposure_pct", record_json_real(100 * r->exposure), "trades",
        (json_int_t)r->trades, "fills", (json_int_t)r->fills, "rejected", (json_int_t)r->refused, "dsr",
        record_json_real(r->dsr), "exact", r->exact, "beside", (json_int_t)beside->n, "beside_hold",
        (json_int_t)beside->hold, "beside_hold_pct", record_json_real(100 * beside->share),
        "sharpe_fees_twice", record_json_real(cli_sweep_sharpe_at(sweep, SWEEP_COSTS_FEES, row)),
        "sharpe_more_slippage", record_json_real(cli_sweep_sharpe_at(sweep, SWEEP_COSTS_SLIPPAGE, row)),
        "skew", record_json_real(r->skew), "kurtosis",
        record_json_real(r->kurtosis - 3)); /* as a backtest has it */
    for (int m = 0; object && m < SWEEP_METRICS; m++) {
        char key[SWEEP_METRIC_NAME_MAX];
        json_object_set_new(object, cli_sweep_metric_name((enum sweep_metric)m, key),
                            record_json_real(cli_sweep_metric((enum sweep_metric)m, r)));
    }
    return object;
}

static void append_words(json_t *array, char *words)
{
    for (char *at = words; (at = strchr(at, '\n'));)
        *at = ' ';
    json_array_append_new(array, json_string(words));
}

/* The sentences that are printed without --json, each in one line. */
static json_t *words_array(const struct sweep_results *runs, const struct backtest_luck *luck,
                           const char *what, double years)
{
    char words[SWEEP_WORDS_MAX];
    json_t *array = json_array();
    cli_sweep_verdict_text(runs, words);
    append_words(array, words);
    cli_sweep_expected_text(runs, luck, what, years, words);
    append_words(array, words);
    if (cli_sweep_pbo_text(luck, words))
        append_words(array, words);
    return array;
}

json_t *cli_sweep_luck_json(const struct sweep_results *runs, const struct backtest_luck *luck,
                            const char *what, double years)
{
    return json_pack("{s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:i, s:f}", "verdict",
                     backtest_luck_word(backtest_luck_verdict(runs)), "words",
                     words_array(runs, luck, what, years), "trials", (json_int_t)luck->trials,
                     "sharpe_deviation", record_json_real(luck->deviation), "sharpe_deviation_luck",
                     record_json_real(luck->deviation_luck), "expected_sharpe",
                     record_json_real(luck->expected), "pbo", record_json_real(luck->pbo),
                     "probability_of_loss", record_json_real(luck->loss), "splits", (json_int_t)luck->splits,
                     "blocks", SWEEP_BLOCKS, "level", DEFLATE_LUCK_LEVEL);
}

int cli_sweep_print_json(const struct sweep *sweep)
{
    const struct strategy_choice *choice = &sweep->run.choices[0];
    const struct sweep_results *runs = &sweep->runs;
    char params[256];
    json_t *top = json_array();
    cli_strategy_args_text(choice->strategy, choice->params, params, sizeof params);
    for (size_t i = 0; i < sweep->shown; i++)
        json_array_append_new(top, result_object(sweep, i));
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:f, s:I, s:b, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:f, s:o, s:f, s:f, "
        "s:f, s:f, s:o}",
        "schema", "papertape.sweep/1", "strategy", choice->strategy->name, "set", params, "metric",
        backtest_sweep_metric_name(sweep->metric), "combinations", (json_int_t)runs->combinations, "asked",
        sweep->sets.asked, "runs", (json_int_t)runs->n, "screened", runs->widened > 0, "runs_exact",
        (json_int_t)runs->exact, "contradictory", (json_int_t)runs->skipped, "too_few_bars",
        (json_int_t)runs->too_short, "kept", (json_int_t)runs->known, "stopped", runs->stopped, "min_trades",
        (json_int_t)runs->min_trades, "few_trades", (json_int_t)sweep->luck.few, "rows",
        (json_int_t)(sweep->to - sweep->from), "years", cli_sweep_years(sweep), "luck",
        cli_sweep_luck_json(runs, &sweep->luck, SWEEP_WHAT, cli_sweep_years(sweep)), "fees_times",
        (double)SWEEP_FEES_TIMES, "slippage_more", SWEEP_SLIPPAGE, "load_s", sweep->load_seconds, "seconds",
        sweep->seconds, "top", top);
    if (object && cli_run_universe_of(&sweep->run))
        json_object_set_new(object, "universe",
                            cli_run_universe_json(&sweep->run, sweep->market, sweep->from, sweep->to));
    if (object) /* which has `top` */
        cli_sweep_periods_json(sweep, object, top);
    return cli_stored_print("sweep", object, 17);
}
