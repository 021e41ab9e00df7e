/* papertape.rank/1, and the rows of --csv. */
#include <math.h>

#include "cli/backtest_result.h"
#include "cli/rank.h"
#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/bar.h"
#include "record/json.h"
#include "strategy/external.h"

/* A backtest's account, with its place; its orders are not kept. */
static json_t *strategy_object(const struct rank_run *rank, const struct backtest_result *result, size_t row)
{
    const struct sweep_result *r = &rank->ranked.rows.results[row];
    size_t place = cli_rank_place(rank, row);
    json_t *object = cli_backtest_account_json(result, (int)r->combination);
    if (!object)
        return NULL;
    json_object_del(object, "orders");
    json_object_set_new(object, "rank", place > 0 ? json_integer((json_int_t)place) : json_null());
    json_object_set_new(object, "dsr", record_json_real(r->dsr));
    json_object_set_new(object, "rejected", json_integer((json_int_t)r->refused));
    return object;
}

static json_t *strategies_array(const struct rank_run *rank)
{
    const struct backtest_rank *ranked = &rank->ranked;
    const struct backtest_result result = {.market = rank->market,
                                           .accounts = ranked->accounts,
                                           .backtest = &ranked->backtest,
                                           .reports = ranked->reports,
                                           .config = &rank->config};
    json_t *array = json_array();
    for (size_t row = 0; row < ranked->n; row++)
        json_array_append_new(array, strategy_object(rank, &result, row));
    return array;
}

static json_t *left_out_array(const struct rank_run *rank)
{
    json_t *array = json_array();
    for (size_t i = 0; i < rank->ranked.n_left_out; i++) {
        const struct rank_left_out *of = &rank->ranked.left_out[i];
        json_array_append_new(array, json_pack("{s:s, s:s}", "strategy",
                                               rank->accounts[of->account].strategy->name, "why", of->why));
    }
    return array;
}

static json_t *symbols_array(const struct market *market)
{
    json_t *array = json_array();
    for (int s = 0; s < market->n_symbols; s++)
        json_array_append_new(array, json_string(market->series[s].symbol.name));
    return array;
}

static json_t *seconds_object(const struct rank_run *rank)
{
    json_t *object = json_object();
    for (int s = 0; s < RANK_STAGES; s++)
        json_object_set_new(object, cli_rank_stage_name((enum rank_stage)s), json_real(rank->seconds[s]));
    return object;
}

int cli_rank_print_json(const struct rank_run *rank)
{
    const struct market *market = rank->market;
    const struct backtest_rank *ranked = &rank->ranked;
    const struct backtest_config *config = &rank->config;
    json_t *object = json_pack(
        "{s:s, s:s, s:s?, s:I, s:I, s:I, s:I, s:f, s:o, s:I, s:I, s:o, s:o, s:b, s:o, s:o}", "schema",
        "papertape.rank/1", "metric", backtest_sweep_metric_name(rank->metric), "interval",
        bar_interval_name(market->interval_ns), "interval_ns", (json_int_t)market->interval_ns, "rows",
        (json_int_t)(config->to - config->from), "first_ns", (json_int_t)market_open_ns(market, config->from),
        "last_ns", (json_int_t)market_open_ns(market, config->to), "years", cli_rank_years(rank), "symbols",
        symbols_array(market), "min_trades", (json_int_t)ranked->rows.min_trades, "few_trades",
        (json_int_t)ranked->luck.few, "luck",
        cli_sweep_luck_json(&ranked->rows, &ranked->luck, RANK_WHAT, cli_rank_years(rank)),
        "seconds_by_stage", seconds_object(rank), "cached", rank->load.cached, "strategies",
        strategies_array(rank), "left_out", left_out_array(rank));
    if (object && config->universe)
        json_object_set_new(object, "universe",
                            cli_run_universe_json(&rank->run, market, config->from, config->to));
    return cli_stored_print("rank", object, 17);
}

/* ---- CSV ---- */

static void write_text(const char *text, FILE *out)
{
    cli_stored_csv(out, text);
    fputc(',', out);
}

static void write_figure(double value, FILE *out)
{
    if (!isnan(value))
        fprintf(out, "%.17g", value);
    fputc(',', out);
}

static void write_row(const struct rank_run *rank, size_t row, FILE *out)
{
    const struct sweep_result *r = &rank->ranked.rows.results[row];
    size_t place = cli_rank_place(rank, row);
    char params[RANK_PARAMS_MAX];
    if (place > 0)
        fprintf(out, "%zu", place);
    fputc(',', out);
    write_text(strategy_title(cli_rank_account(rank, row)->strategy), out);
    write_text(cli_rank_params(rank, row, params), out);
    write_figure(r->dsr, out);
    for (int m = 0; m < SWEEP_METRICS; m++)
        write_figure(r->metrics[m], out);
    fprintf(out, "%.17g,%.17g,%.17g,%zu,%zu,%llu\n", r->final_equity, r->fees, r->exposure, r->trades,
            r->fills, (unsigned long long)r->refused);
}

void cli_rank_write_csv(const struct rank_run *rank, FILE *out)
{
    fputs("rank,strategy,params,dsr,", out);
    for (int m = 0; m < SWEEP_METRICS; m++)
        fprintf(out, "%s,", backtest_sweep_metric_name((enum sweep_metric)m));
    fputs("equity,fees,exposure,trades,fills,rejected\n", out);
    for (size_t row = 0; row < rank->ranked.n; row++)
        write_row(rank, row, out);
}
