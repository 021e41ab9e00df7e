/* The report of a backtest as papertape.backtest/1. Shares are in percent where the key says so. */
#include <string.h>

#include "cli/backtest_result.h"
#include "cli/stored.h"
#include "exchange/bar.h"
#include "exchange/exit_status.h"
#include "record/print.h"
#include "strategy/param_json.h"
#include "strategy/strategy.h"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *params_object(const struct account_spec *spec)
{
    json_t *object = json_object();
    for (size_t i = 0; spec->strategy && i < spec->strategy->n_params; i++) {
        const struct strategy_param *param = &spec->strategy->params[i];
        set(object, param->name,
            param->integer && !param->words ? json_integer((json_int_t)spec->params[i])
                                            : strategy_param_json(param, spec->params[i]));
    }
    return object;
}

static json_t *drawdowns_array(const struct backtest_result *result, const struct backtest_report *r)
{
    const struct market *market = result->market;
    size_t from = result->backtest->from;
    json_t *array = json_array();
    for (size_t i = 0; i < r->n_drawdowns; i++) {
        const struct metrics_drawdown *d = &r->drawdowns[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:I, s:I, s:o, s:I}", "depth_pct", record_json_real(100 * d->depth), "from_ns",
                      (json_int_t)market_open_ns(market, from + d->first), "trough_ns",
                      (json_int_t)market_open_ns(market, from + d->trough + 1), "regained_ns",
                      d->recovered ? json_integer(market_open_ns(market, from + d->end + 1)) : json_null(),
                      "rows", (json_int_t)(d->end - d->first)));
    }
    return array;
}

static json_t *months_array(const struct metrics_month *months, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array,
                              json_pack("{s:i, s:i, s:o}", "year", months[i].year, "month", months[i].month,
                                        "return_pct", record_json_real(100 * months[i].total_return)));
    return array;
}

static json_t *refused_object(const struct backtest_account *account)
{
    json_t *object = json_object();
    for (int why = 1; why < ORDER_REASONS; why++)
        if (account->refused[why] > 0)
            set(object, order_reason_name((enum order_reason)why),
                json_integer((json_int_t)account->refused[why]));
    return object;
}

static json_t *intents_refused_object(const struct backtest_account *account)
{
    json_t *object = json_object();
    for (int fault = 1; fault < INTENT_FAULTS; fault++)
        if (account->intents[fault] > 0)
            set(object, intent_fault_name((enum intent_fault)fault),
                json_integer((json_int_t)account->intents[fault]));
    return object;
}

json_t *cli_backtest_account_json(const struct backtest_result *result, int a)
{
    const struct account_spec *spec = &result->accounts[a];
    const struct backtest_account *account = &result->backtest->accounts[a];
    const struct backtest_report *r = &result->reports[a];
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "account", spec->name,
        "currency", spec->currency, "strategy", account_spec_trader(spec), "params", params_object(spec),
        "way", account->way == BACKTEST_COLUMNS ? "columns" : "engine", "deposits",
        decimal_json(spec->cash, spec->currency_scale), "equity", record_json_real(r->final_equity), "cash",
        decimal_json(account->final_cash, spec->currency_scale), "orders", (json_int_t)account->n_orders,
        "fills", (json_int_t)account->n_fills, "trades", (json_int_t)r->trades.n, "open_trades",
        (json_int_t)r->open_trades, "wins", (json_int_t)r->trades.wins, "losses",
        (json_int_t)r->trades.losses, "refused", refused_object(account));
    if (!object)
        return NULL;
    set(object, "intents_refused", intents_refused_object(account));
    const struct backtest_acted acted = cli_backtest_acted(result, a);
    if (acted.splits + acted.dividends > 0)
        set(object, "actions",
            json_pack("{s:I, s:I, s:o}", "splits", (json_int_t)acted.splits, "dividends",
                      (json_int_t)acted.dividends, "paid", record_json_real(acted.paid)));
    json_object_update_new(object, record_print(&backtest_figures, r, NULL));
    set(object, "drawdowns", drawdowns_array(result, r));
    set(object, "months", months_array(r->months, r->n_months));
    set(object, "years", months_array(r->years, r->n_years));
    return object;
}

static json_t *symbol_object(const struct run_args *args, const struct market *market, int s)
{
    const struct market_series *series = &market->series[s];
    const struct symbol *symbol = &series->symbol;
    const struct symbol_filters *filters = &symbol->filters;
    json_t *object = json_pack(
        "{s:s, s:s, s:b, s:i, s:o, s:o, s:I, s:I}", "symbol", symbol->name, "quote", symbol->quote,
        "quote_known", strcmp(symbol->quote, SYMBOL_QUOTE_UNKNOWN) != 0, "price_scale", symbol->price_scale,
        "tick", decimal_json(filters->tick, symbol->price_scale), "lot",
        decimal_json(filters->step, symbol->qty_scale), "bars_missing",
        (json_int_t)cli_run_missing(args, market, s), "bars_repaired", (json_int_t)series->repaired);
    if (!object)
        return NULL;
    set(object, "lot_from", json_string(cli_run_source(args, RUN_TERM_LOT, symbol)));
    set(object, "tick_from", json_string(cli_run_source(args, RUN_TERM_TICK, symbol)));
    set(object, "quote_from", json_string(cli_run_source(args, RUN_TERM_QUOTE, symbol)));
    set(object, "price_digits_rounded_from",
        series->rounded_digits > 0 ? json_integer(series->rounded_digits) : json_null());
    return object;
}

static json_t *symbols_array(const struct backtest_result *result)
{
    json_t *array = json_array();
    for (int s = 0; s < result->market->n_symbols; s++)
        json_array_append_new(array, symbol_object(&result->args->run, result->market, s));
    return array;
}

static json_t *seconds_object(const struct backtest_result *result)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "load", result->seconds[STAGE_LOAD], "indicators",
                     result->seconds[STAGE_INDICATORS], "signals", result->seconds[STAGE_SIGNALS], "simulate",
                     result->seconds[STAGE_SIMULATE], "metrics", result->seconds[STAGE_METRICS]);
}

int cli_backtest_print_json(const struct backtest_result *result)
{
    const struct market *market = result->market;
    const struct backtest *backtest = result->backtest;
    const char *interval = bar_interval_name(market->interval_ns);
    char hash[STORED_CELL];
    json_t *accounts = json_array();
    uint64_t orders = 0, fills = 0, refused = 0;
    for (int a = 0; a < backtest->n_accounts; a++) {
        json_array_append_new(accounts, cli_backtest_account_json(result, a));
        orders += backtest->accounts[a].n_orders;
        fills += backtest->accounts[a].n_fills;
        refused += result->reports[a].refused;
    }
    json_t *object = json_pack(
        "{s:s, s:s?, s:I, s:I, s:I, s:I, s:I, s:o, s:s?, s:I, s:I, s:I, s:I, s:s, s:b, s:o, s:o, s:I, s:b, "
        "s:o}",
        "schema", "papertape.backtest/1", "interval", interval, "interval_ns",
        (json_int_t)market->interval_ns, "rows", (json_int_t)(backtest->to - backtest->from), "rows_before",
        (json_int_t)backtest->from, "first_ns", (json_int_t)market_open_ns(market, backtest->from), "last_ns",
        (json_int_t)market_open_ns(market, backtest->to), "symbols", symbols_array(result), "benchmark",
        result->benchmark, "orders", (json_int_t)orders, "rejected", (json_int_t)refused, "fills",
        (json_int_t)fills, "ledger_rows", (json_int_t)result->ledger_rows, "ledger_hash",
        cli_stored_hash(hash, result->hash), "ledger_ok", true, "seconds_by_stage", seconds_object(result),
        "peak_bytes", json_integer((json_int_t)result->peak_bytes), "source_bytes",
        (json_int_t)result->load->source_bytes, "cached", result->load->cached, "accounts", accounts);
    const struct trading_calendar *calendar = cli_run_calendar(&result->args->run);
    if (object && calendar) {
        set(object, "calendar", json_string(calendar->name));
        set(object, "session", json_string(session_choice_names[result->args->run.terms.session]));
    }
    if (object && cli_run_universe_of(&result->args->run))
        set(object, "universe",
            cli_run_universe_json(&result->args->run, market, backtest->from, backtest->to));
    if (object && result->n_ticks > 0)
        set(object, "ticks", json_integer((json_int_t)result->n_ticks));
    return cli_stored_print("backtest", object, 17);
}
