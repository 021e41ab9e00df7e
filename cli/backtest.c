#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/backtest_args.h"
#include "cli/stored.h"
#include "cli/strategy_args.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "strategy/policy/policy.h"

const char *const cli_backtest_outputs[BACKTEST_OUTPUTS] = {
    [OUTPUT_LEDGER] = "ledger",   [OUTPUT_TRADES] = "trades", [OUTPUT_ORDERS] = "orders",
    [OUTPUT_EQUITY] = "equity",   [OUTPUT_ROUNDS] = "rounds", [OUTPUT_MONTHLY] = "monthly",
    [OUTPUT_MEMBERS] = "members", [OUTPUT_PAGE] = "report",
};

int cli_backtest_fail(int status, const char *what, const char *words)
{
    return cli_stored_fail(status, "backtest", what, words);
}

/* ---- combinations of options ---- */

/* A policy trades instead of strategies, on bars. */
static int check_policy(struct backtest_args *args)
{
    if (!args->policy)
        return cli_backtest_fail(
            EXIT_USAGE, "--actions",
            "it goes with --policy PARAMS.json; splits and dividends are --corporate-actions");
    if (policy_names_one_file(args->policy) && args->actions)
        return cli_backtest_fail(
            EXIT_USAGE, "--actions",
            "a trained policy and an ensemble have none: it goes with --policy PARAMS.json");
    if (!policy_names_one_file(args->policy) && !args->actions)
        return cli_backtest_fail(
            EXIT_USAGE, "--policy",
            "--actions ACTIONS.csv is needed: what it did at each bar; or F.safetensors of a trained "
            "policy, or NAME.ensemble.json");
    if (args->run.n_bars == 0)
        return cli_backtest_fail(EXIT_USAGE, "", "--bars F[,F…] is needed: what the policy trades on");
    args->run.policy_follows = true;
    return cli_run_check(&args->run);
}

/* An account without bars runs on those that its daemon stored. */
static int find_state(struct backtest_args *args)
{
    char err[256];
    if (db_state_dir_resolve(args->run.state, &args->state, err, sizeof err) < 0)
        return cli_backtest_fail(EXIT_ERROR, "--state", err);
    args->run.bars[args->run.n_bars++] = args->state.database;
    return cli_run_check(&args->run);
}

/* Is there one of bars, trades and a log? The options' rows say what each may be combined with. */
static int check(struct backtest_args *args)
{
    bool source = args->events || args->run.n_bars > 0 || args->n_ticks > 0;
    if (args->list)
        return EXIT_OK;
    if (args->policy || args->actions)
        return check_policy(args);
    if (args->account && !source)
        return find_state(args);
    if (!args->events && !args->account && args->run.n_choices == 0)
        return cli_backtest_fail(
            EXIT_USAGE, "",
            "--strategy S and --bars F are needed, or --events LOG: a state directory, a log's "
            "directory or a segment");
    if (!source)
        return cli_backtest_fail(EXIT_USAGE, "",
                                 "--bars F[,F…] is needed: what the strategy trades on; or --ticks F");
    return cli_run_check(&args->run);
}

/* ---- the verb ---- */

static int run(struct option_call *call)
{
    struct backtest_args *args = call->into;
    args->json = call->json;
    args->run.state = call->state;
    int status = check(args);
    if (status != EXIT_OK)
        return status;
    if (args->list)
        return cli_strategies_list(args->run.n_choices > 0 ? args->run.choices[0].strategy : NULL,
                                   args->json);
    return args->events ? cli_backtest_events(args) : cli_backtest_bars(args);
}

static int take_trades(struct option_call *call, const struct option_row *row, const char *value)
{
    struct backtest_args *args = call->into;
    return cli_run_list(call, row, value, &args->ticks_text, args->ticks, &args->n_ticks);
}

static void init(void *into)
{
    cli_run_init(&((struct backtest_args *)into)->run, "backtest", STRATEGY_ARGS_MAX);
}

static void finish(void *into)
{
    struct backtest_args *args = into;
    cli_run_finish(&args->run);
    free(args->ticks_text);
}

static const struct option_action actions[] = {
    {.example = "--strategy sma-cross --bars BTCUSDT_5m.csv", .run = run}};

#define AT(member) offsetof(struct backtest_args, member)

static const struct option_row options[] = {
    {"ticks", "FILE[,FILE...]",
     "instead of --bars: trades as a venue's archive has them (id, price, qty, quoteQty, time, "
     "isBuyerMaker), aggregates as it or papertape fetch --trades has them, or recordings of frames, plain, gzip or zip: each "
     "is the best bid and ask too, and bars are built from them",
     .take = take_trades, .without = "bars repair cache calendar session zone straddle"},
    {"account", "ACCOUNT",
     "instead of --strategy: the account of a daemon, with its strategy, parameters, fees, limits and cash; "
     "without --bars on what is stored",
     AT(account),
     .without = "strategy set cash fees fee-maker fee-taker risk session margin pattern-day-trader "
                "settlement shorts"},
    {"policy", "FILE",
     "instead of --strategy: a trained policy, F.safetensors; an ensemble, NAME.ensemble.json; or the "
     "parameters (JSON) of a recorded one, with --actions. Cash, fees and slippage are its own where no "
     "option says them. Its actions are scaled by the closes of the first row that the files give it: the "
     "same --from in longer files is another run, in files that begin there it is papertape-trainer eval's",
     AT(policy), .without = "strategy set account ticks"},
    {"actions", "FILE", "the actions (CSV) of a recorded policy, as papertape-trainer env-replay reads them",
     AT(actions)},
    {"events", "LOG",
     "instead of all that: a state directory, a log's directory, or one segment of it, played again; "
     "strategies, accounts and limits are the log's",
     AT(events), .only = "from to trades fills orders ledger equity"},
    {"benchmark", "B",
     "what alpha and beta are against, held: a symbol (the first), equal (parts of all), or none",
     AT(benchmark)},
    {"trades", "FILE", "the fills, as papertape fills --csv", AT(outputs[OUTPUT_TRADES]), .without = "fills"},
    {"fills", "FILE", "the same", AT(outputs[OUTPUT_TRADES])},
    {"orders", "FILE", "the orders as they ended, as papertape orders --csv", AT(outputs[OUTPUT_ORDERS])},
    {"ledger", "FILE", "the ledger, as papertape ledger export", AT(outputs[OUTPUT_LEDGER])},
    {"equity", "FILE", "ts_ns,account,equity,cash,peak: at every bar, or point of the curve",
     AT(outputs[OUTPUT_EQUITY])},
    {"rounds", "FILE", "trades from flat to flat, with their profit", AT(outputs[OUTPUT_ROUNDS])},
    {"monthly", "FILE", "account,year,month,return", AT(outputs[OUTPUT_MONTHLY])},
    {"members", "FILE", "time_ns,symbol,in: when symbols came into the universe, 1, and left it, 0",
     AT(outputs[OUTPUT_MEMBERS]), .with = "universe"},
    {"chart", NULL,
     "below the report, in characters as the terminal and its locale have them: equity with the benchmark, drawdown, "
     "exposure, the distribution of returns",
     AT(chart), .without = "json"},
    {"report", "FILE",
     "one HTML page, which loads nothing and runs nothing: equity, drawdown, months, trades on prices, returns, "
     "exposure, costs, the verdict on luck, all figures; of several strategies what compares them, too",
     AT(outputs[OUTPUT_PAGE])},
    {"save", "DIR",
     "a state directory of the run, for papertape --state DIR --readonly, ledger verify and all lists",
     AT(save)},
    {"export", "FILE",
     "one file FILE.parquet or FILE.arrow: bars with the indicators that the strategies read, equity, trades, fills and "
     "orders, a column `record` says which; it needs Python 3 with pyarrow",
     AT(export_to)},
    {"list-strategies", NULL,
     "what strategies there are, with their parameters and ranges: the built-in ones, and the shared objects of "
     "the folder of plug-ins; with --strategy that one alone, from outside too",
     AT(list), .only = "plugins strategy"},
};

CLI_VERB(cli_backtest) = {
    .name = "backtest",
    .words = "strategies on bars, trades, or a recorded event log",
    .about =
        "Trades strategies on bars, on trades, or plays a recorded event log again, through the engine that "
        "trades live: --strategy S and --bars F, several --strategy make an account each; --policy F and "
        "--bars F; --account NAME; or --events LOG.\nTimes are ISO 8601, UTC without a zone, or since 1970 "
        "in s, ms, us or ns. With --json, papertape.backtest/1, or papertape.strategies/1.\n"
        "A log is played at full speed from the oldest state that it holds, or the newest not after --from: "
        "the same events give the same ledger, row by row, and each state met on the way is compared with "
        "what the events make of it. A log that is altered, newer than this program, or not continued is an "
        "error that names where. The database is not read.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_SHARED(cli_run_options),
    .size = sizeof(struct backtest_args),
    .init = init,
    .finish = finish,
};
