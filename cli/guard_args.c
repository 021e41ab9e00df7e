#include "cli/guard_args.h"

#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "engine/specs.h"
#include "exchange/bar.h"
#include "exchange/exit_status.h"

enum { SYNTHETIC_ROWS = 8192, SYNTHETIC_ROWS_MOST = 4000000, HISTORIES = 10 };

/* Rows [from, to) of what was loaded; all of them as they are. */
static int load(struct guard_args *args)
{
    struct market_load how;
    size_t from, to;
    int status = cli_run_load(&args->run, &args->loaded, &how, &from, &to);
    if (status != EXIT_OK)
        return status;
    args->market = args->loaded;
    if (from == 0 && to == args->loaded->rows)
        return EXIT_OK;
    if (backtest_guard_bars_copy(args->loaded, from, to, &args->generated) < 0)
        return cli_stored_fail(EXIT_ERROR, args->run.verb, "", "out of memory");
    args->market = &args->generated.market;
    return EXIT_OK;
}

/* A minute, or the shortest of the longer intervals that the strategy reads: so fewer bars are needed. */
static int64_t synthetic_interval(const struct strategy_choice *choice)
{
    const int64_t minute_ns = 60 * INT64_C(1000000000);
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char err[SPECS_ERROR_MAX];
    int64_t shortest_ns = 0;
    size_t n = 0;
    if (engine_runner_specs(choice->strategy, choice->params, minute_ns, specs, &n, err) < 0)
        return minute_ns;
    for (size_t i = 0; i < n; i++)
        if (specs[i].frame_ns > 0 && (shortest_ns == 0 || specs[i].frame_ns < shortest_ns))
            shortest_ns = specs[i].frame_ns;
    return shortest_ns > 0 ? shortest_ns : minute_ns;
}

static int make(struct guard_args *args)
{
    const struct strategy_choice *choice = &args->run.choices[0];
    int64_t interval_ns = args->run.interval_ns ? args->run.interval_ns : synthetic_interval(choice);
    size_t warmup, lookback, rows = SYNTHETIC_ROWS;
    char err[256];
    if (args->run.from_ns || args->run.to_ns)
        return cli_stored_fail(EXIT_USAGE, args->run.verb, "--from", "it goes with --bars");
    if (args->run.calendar)
        return cli_stored_fail(EXIT_USAGE, args->run.verb, "--calendar", "it goes with --bars");
    if (args->run.n_columns > 0)
        return cli_stored_fail(EXIT_USAGE, args->run.verb, "--columns", "it goes with --bars");
    if (args->run.actions_from)
        return cli_stored_fail(EXIT_USAGE, args->run.verb, "--corporate-actions", "it goes with --bars");
    if (args->run.universe_given)
        return cli_stored_fail(EXIT_USAGE, args->run.verb, "--universe", "it goes with --bars");
    if (backtest_guard_history(choice->strategy, choice->params, interval_ns, &warmup, &lookback, err,
                               sizeof err) < 0)
        return cli_stored_fail(EXIT_ERROR, args->run.verb, "", err);
    size_t history = warmup == INDICATOR_FOREVER ? lookback : warmup;
    if (history > SYNTHETIC_ROWS_MOST / HISTORIES)
        return cli_stored_fail(
            EXIT_ERROR, args->run.verb, choice->strategy->name,
            "it wants more history than the synthetic bars have: give bars, or shorter periods");
    if (rows < HISTORIES * history + SYNTHETIC_ROWS / 4)
        rows = HISTORIES * history + SYNTHETIC_ROWS / 4;
    if (backtest_guard_bars_make((uint64_t)args->seed, 2, rows, interval_ns, &args->generated) < 0)
        return cli_stored_fail(EXIT_ERROR, args->run.verb, "", "out of memory");
    args->market = &args->generated.market;
    return EXIT_OK;
}

void cli_guard_init(struct guard_args *args, const char *verb)
{
    args->seed = 1;
    cli_run_init(&args->run, verb, 1);
}

/* The strategy is an argument, or --strategy. */
static int choose(struct option_call *call)
{
    struct guard_args *args = call->into;
    int status = call->n > 0 ? cli_run_strategy(call, call->arguments[0]) : EXIT_OK;
    status = status == EXIT_OK ? cli_run_check(&args->run) : status;
    if (status == EXIT_OK &&
        (args->run.terms.rules.margin != MARGIN_OFF || args->run.terms.rules.settlement != SETTLEMENT_OFF))
        return cli_stored_fail(
            EXIT_USAGE, args->run.verb, "--margin, --settlement",
            "these rules change by date, and bars are also run on other dates: backtest takes "
            "them");
    return status;
}

int cli_guard_run(struct option_call *call, void *verdict,
                  int (*find)(const struct guard_config *config, void *verdict, char *err, size_t err_size))
{
    struct guard_args *args = call->into;
    struct progress progress;
    char err[512] = "";
    int status = choose(call);
    if (status == EXIT_OK && args->run.universe_given && strcmp(args->run.verb, "warmup") == 0)
        return cli_stored_fail(
            EXIT_USAGE, "warmup", "--universe",
            "a universe refuses orders and changes no decision: papertape lookahead takes it");
    if (status == EXIT_OK)
        status = args->run.n_bars > 0 ? load(args) : make(args);
    if (status == EXIT_OK)
        status = cli_run_actions(&args->run, args->market);
    if (status == EXIT_OK)
        status = cli_run_account(&args->run, args->market, 0, &args->account);
    if (status != EXIT_OK)
        return status;
    cli_progress_begin(&progress, args->run.verb);
    const struct guard_config config = {.market = args->market,
                                        .calendar = cli_run_calendar(&args->run),
                                        .external = cli_run_columns(&args->run),
                                        .actions = args->run.actions.list,
                                        .n_actions = args->run.actions.n,
                                        .universe =
                                            args->run.universe_given ? &args->run.universe_rule : NULL,
                                        .venue = args->run.terms.venue,
                                        .account = &args->account,
                                        .latency_ns = args->run.terms.latency_ns,
                                        .slippage_e6 = args->run.terms.slippage_e6,
                                        .cuts = (size_t)args->cuts,
                                        .seed = (uint64_t)args->seed,
                                        .threads = (int)args->run.threads,
                                        .progress = cli_progress_show,
                                        .ctx = &progress};
    int r = find(&config, verdict, err, sizeof err);
    cli_progress_end(&progress);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, args->run.verb, "", err) : EXIT_OK;
}

void cli_guard_finish(void *into)
{
    struct guard_args *args = into;
    backtest_guard_bars_finish(&args->generated);
    market_store_close(args->loaded);
    cli_run_finish(&args->run);
}

void cli_guard_print_head(const struct guard_args *args)
{
    const struct market *market = args->market;
    const char *interval = bar_interval_name(market->interval_ns);
    char params[256], from[STORED_CELL], to[STORED_CELL];
    cli_strategy_args_text(args->run.choices[0].strategy, args->run.choices[0].params, params, sizeof params);
    printf("strategy   %s%s%s\nbars       ", args->account.strategy->name, *params ? " " : "", params);
    for (int s = 0; s < market->n_symbols; s++)
        printf("%s ", market->series[s].symbol.name);
    printf("%s, %zu rows%s\n           %s to %s\n", interval ? interval : "of no named interval",
           market->rows, args->run.n_bars > 0 ? "" : ", synthetic",
           cli_stored_time(STORED_TABLE, from, market->start_ns),
           cli_stored_time(STORED_TABLE, to, market_open_ns(market, market->rows)));
}

static void decision_text(const struct guard_decision *decision, bool there, char *buf, size_t size)
{
    static const char *const kinds[] = {[INTENT_ENTER] = "ENTER",
                                        [INTENT_EXIT] = "EXIT",
                                        [INTENT_STOP] = "STOP",
                                        [INTENT_TARGET] = "TARGET",
                                        [INTENT_SHORT] = "SHORT"};
    size_t at = 0;
    snprintf(buf, size, "nothing");
    for (size_t i = 0; there && i < decision->n_intents && at < size; i++) {
        const struct intent *intent = &decision->intents[i];
        int n = snprintf(buf + at, size - at, "%s%s", i > 0 ? "; " : "", kinds[intent->kind]);
        at += n > 0 ? (size_t)n : 0;
        const struct {
            const char *name;
            double value;
        } numbers[] = {{"fraction", intent->fraction},
                       {"limit", intent->limit},
                       {"stop", intent->stop},
                       {"profit", intent->profit}};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers && at < size; k++)
            if (numbers[k].value != 0) {
                n = snprintf(buf + at, size - at, " %s %.17g", numbers[k].name, numbers[k].value);
                at += n > 0 ? (size_t)n : 0;
            }
        if (decision->whys[i][0] && at < size) {
            n = snprintf(buf + at, size - at, " (%s)", decision->whys[i]);
            at += n > 0 ? (size_t)n : 0;
        }
    }
}

static void order_text(const struct guard_difference *difference, const struct market *market, bool whole,
                       char *buf, size_t size)
{
    const struct order *order = whole ? &difference->order : &difference->changed_order;
    char qty[STORED_CELL], price[STORED_CELL];
    if (!(whole ? difference->in_whole : difference->in_changed)) {
        snprintf(buf, size, "no order");
        return;
    }
    const struct symbol *symbol = &market->series[order->symbol].symbol;
    int64_t at = order->price ? order->price : order->stop_price;
    snprintf(buf, size, "order %llu: %s %s %s%s%s (%s)", (unsigned long long)order->id,
             order_side_name(order->side), order_type_name(order->type),
             cli_stored_decimal(STORED_TABLE, qty, order->qty, symbol->qty_scale), at ? " at " : "",
             at ? cli_stored_decimal(STORED_TABLE, price, at, symbol->price_scale) : "", order->tag);
}

void cli_guard_texts(const struct guard_difference *difference, const struct market *market,
                     char whole[static GUARD_TEXT_MAX], char changed[static GUARD_TEXT_MAX])
{
    if (difference->of_order) {
        order_text(difference, market, true, whole, GUARD_TEXT_MAX);
        order_text(difference, market, false, changed, GUARD_TEXT_MAX);
    } else {
        decision_text(&difference->decision, difference->in_whole, whole, GUARD_TEXT_MAX);
        decision_text(&difference->changed_decision, difference->in_changed, changed, GUARD_TEXT_MAX);
    }
}

int cli_guard_print_json(const struct guard_args *args, const char *key, bool passed, json_t *verdict)
{
    const struct strategy_choice *choice = &args->run.choices[0];
    char schema[64], params[256];
    snprintf(schema, sizeof schema, "papertape.%s/1", args->run.verb);
    cli_strategy_args_text(choice->strategy, choice->params, params, sizeof params);
    json_t *object =
        json_pack("{s:s, s:b, s:s, s:s, s:I}", "schema", schema, key, passed, "strategy",
                  args->account.strategy->name, "set", params, "rows", (json_int_t)args->market->rows);
    json_object_update_new(object, verdict);
    return cli_stored_print(args->run.verb, object, 15);
}

json_t *cli_guard_difference_json(const struct guard_args *args, const struct guard_difference *difference)
{
    const struct market *market = args->market;
    char whole[GUARD_TEXT_MAX], changed[GUARD_TEXT_MAX];
    cli_guard_texts(difference, market, whole, changed);
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:s}", "change",
                     backtest_guard_change_name(difference->change), "way",
                     difference->way == BACKTEST_COLUMNS ? "columns" : "engine", "symbol",
                     market->series[difference->symbol].symbol.name, "row", (json_int_t)difference->row,
                     "ts_ns", (json_int_t)difference->ts_ns, "cut_row", (json_int_t)difference->cut, "cut_ns",
                     (json_int_t)difference->cut_ns, "whole", whole, "changed", changed);
}
