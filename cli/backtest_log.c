#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/backtest_args.h"
#include "cli/backtest_events.h"
#include "cli/output.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "exchange/exit_status.h"
#include "record/print.h"

static double rate(const struct events_result *result)
{
    return result->seconds > 0 ? (double)result->events / result->seconds : 0;
}

/* Metrics of the equity at the ends of bars; null where money was moved, or there are too few. */
PRINT_OBJECT(metrics_object, struct metrics, PRINT_PERCENT(total_return, "return_pct"),
             PRINT_PERCENT(volatility, "volatility_pct"), PRINT_REAL(sharpe), PRINT_REAL(sortino),
             PRINT_REAL(calmar), PRINT_PERCENT(max_drawdown, "max_drawdown_pct"));
PRINT_OBJECT(log_object, struct events_result, PRINT_LATER("schema"), PRINT_LATER("log"), PRINT_WHOLE(events),
             PRINT_REAL(seconds), PRINT_LATER("events_per_s"), PRINT_WHOLE(runs),
             PRINT_AS(SIGNED, REQUIRED, holes, "events_missing"), PRINT_WHOLE(first_seq),
             PRINT_WHOLE(last_seq), PRINT_AS(TIME, OPTIONAL, first_ns, "first_ns"),
             PRINT_AS(TIME, OPTIONAL, last_ns, "last_ns"), PRINT_WHOLE(orders), PRINT_WHOLE(rejected),
             PRINT_WHOLE(fills), PRINT_WHOLE(ledger_rows),
             PRINT_AS(SIGNED, REQUIRED, before.last_ledger, "ledger_rows_before"),
             PRINT_AS(HASH, REQUIRED, after.hash, "ledger_hash"), PRINT_LATER("accounts"));

static int print_json(const char *log, const struct events_result *result)
{
    json_t *accounts = json_array(), *whole = log_object(result, NULL);
    for (int a = 0; a < engine_accounts(result->engine); a++) {
        const struct account *account = engine_account(result->engine, a);
        int scale = account->currency_scale;
        json_t *object = json_pack(
            "{s:s, s:s, s:o, s:o, s:o}", "account", account->name, "currency", account->currency, "equity",
            decimal_json(engine_equity(result->engine, a), scale), "equity_peak",
            decimal_json(account->equity_peak, scale), "deposits", decimal_json(account->deposits, scale));
        struct metrics m = {0};
        bool known = cli_events_curves_metrics(&result->curves, a, &m);
        json_t *metrics = metrics_object(&m, NULL), *value;
        const char *key;
        json_object_foreach(metrics, key, value) json_object_set(object, key, known ? value : json_null());
        json_decref(metrics);
        json_array_append_new(accounts, object);
    }
    json_object_set_new(whole, "schema", json_string("papertape.backtest/1"));
    json_object_set_new(whole, "log", json_string(log));
    if (result->seconds > 0)
        json_object_set_new(whole, "events_per_s", json_real(rate(result)));
    json_object_set_new(whole, "accounts", accounts);
    return cli_stored_print("backtest", whole, 15);
}

static void print_text(const struct events_result *result)
{
    char hash[STORED_CELL], from[STORED_CELL], to[STORED_CELL];
    printf("events  %" PRIu64 " in %.3f s: %.0f events/s\n", result->events, result->seconds, rate(result));
    if (result->events > 0)
        printf("        %" PRIu64 " to %" PRIu64 ", %s to %s\n", result->first_seq, result->last_seq,
               cli_stored_time(STORED_TABLE, from, result->first_ns),
               cli_stored_time(STORED_TABLE, to, result->last_ns));
    printf("runs    %" PRIu64 "\n", result->runs);
    if (result->holes > 0)
        printf("missing %" PRIu64 " events that were never recorded\n", result->holes);
    printf("orders  %" PRIu64 ", %" PRIu64 " rejected\nfills   %" PRIu64 "\nledger  %" PRIu64
           " rows\nhash    %s\n",
           result->orders, result->rejected, result->fills, result->ledger_rows,
           cli_stored_hash(hash, result->after.hash));
    for (int a = 0; a < engine_accounts(result->engine); a++) {
        const struct account *account = engine_account(result->engine, a);
        char name[ACCOUNT_NAME_MAX], currency[ASSET_NAME_MAX], equity[STORED_CELL];
        cli_text_clean(name, sizeof name, account->name);
        cli_text_clean(currency, sizeof currency, account->currency);
        printf(
            "equity  %-10s %24s %s\n", name,
            cli_stored_decimal(STORED_CSV, equity, engine_equity(result->engine, a), account->currency_scale),
            currency);
        struct metrics m;
        char returned[FORMAT_MAX], sharpe[FORMAT_MAX], sortino[FORMAT_MAX], drawdown[FORMAT_MAX];
        if (cli_events_curves_metrics(&result->curves, a, &m))
            printf("        return %s, Sharpe %s, Sortino %s, max drawdown %s\n",
                   cli_backtest_percent(returned, m.total_return), cli_backtest_number(sharpe, m.sharpe, 3),
                   cli_backtest_number(sortino, m.sortino, 3),
                   cli_backtest_percent(drawdown, m.max_drawdown));
    }
}

/* Reports what the log does not cover, since it starts later. */
static void note_before(const struct backtest_args *args, const struct engine_ids *before)
{
    if (args->outputs[OUTPUT_LEDGER] && before->last_ledger > 0)
        fprintf(stderr,
                "papertape: backtest: %s: begins with row %" PRIu64 ": the %" PRIu64
                " before are from before the state that it begins with\n",
                args->outputs[OUTPUT_LEDGER], before->last_ledger + 1, before->last_ledger);
    if (args->outputs[OUTPUT_TRADES] && before->last_fill > 0)
        fprintf(stderr,
                "papertape: backtest: %s: begins with fill %" PRIu64 ": the %" PRIu64
                " before are from before the state that it begins with\n",
                args->outputs[OUTPUT_TRADES], before->last_fill + 1, before->last_fill);
    if (args->outputs[OUTPUT_ORDERS] && before->last_order > 0)
        fprintf(stderr,
                "papertape: backtest: %s: of the %" PRIu64
                " orders from before the state that it begins with, it has those that were still alive\n",
                args->outputs[OUTPUT_ORDERS], before->last_order);
}

/* Is there a segment? */
static bool is_log(const char *path)
{
    struct journal_reader *reader = NULL;
    char err[JOURNAL_ERROR_MAX];
    int r = journal_reader_open(path, &reader, err, sizeof err);
    journal_reader_close(reader);
    return r != -ENOENT;
}

static int play(const struct backtest_args *args, struct output outputs[BACKTEST_OUTPUTS])
{
    char log[STATE_PATH_MAX], err[JOURNAL_ERROR_MAX] = "";
    struct events_options options = {.log = log,
                                     .from_ns = args->run.from_ns,
                                     .to_ns = args->run.to_ns,
                                     .progress = isatty(STDERR_FILENO) == 1};
    struct events_result result;
    int status = cli_stored_find_log("backtest", args->events, log);
    if (status == EXIT_OK && !is_log(log))
        return cli_backtest_fail(EXIT_NO_DAEMON, log, DB_NOT_YET("event log", "papertaped"));
    if (status == EXIT_OK)
        status = cli_backtest_open_outputs(args, outputs);
    if (status != EXIT_OK)
        return status;
    options.ledger = outputs[OUTPUT_LEDGER].file;
    options.trades = outputs[OUTPUT_TRADES].file;
    options.orders = outputs[OUTPUT_ORDERS].file;
    options.equity = outputs[OUTPUT_EQUITY].file;
    if (cli_backtest_events_play(&options, &result, err, sizeof err) < 0)
        return cli_backtest_fail(EXIT_ERROR, "", err);
    bool nothing = result.events == 0 && (options.from_ns || options.to_ns);
    if (nothing || (options.from_ns && result.last_ns < options.from_ns)) {
        cli_events_curves_finish(&result.curves);
        engine_destroy(result.engine);
        return cli_backtest_fail(EXIT_ERROR, log,
                                 "no event is from that time: papertape events list says what it holds");
    }
    status = cli_backtest_commit_outputs(outputs);
    if (status == EXIT_OK) {
        note_before(args, &result.before);
        if (args->json)
            status = print_json(log, &result);
        else
            print_text(&result);
    }
    cli_events_curves_finish(&result.curves);
    engine_destroy(result.engine);
    return status;
}

int cli_backtest_events(const struct backtest_args *args)
{
    struct output outputs[BACKTEST_OUTPUTS] = {0};
    int status = play(args, outputs);
    cli_backtest_drop_outputs(outputs);
    return status;
}
