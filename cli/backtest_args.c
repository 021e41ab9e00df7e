#include "cli/backtest_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "strategy/policy/policy.h"

static const char help_begin[] =
    "Usage: papertape backtest --strategy S [--set key=value…] --bars F[,F…] [options]\n"
    "       papertape backtest --strategy S [--set key=value…] --ticks F[,F…] [options]\n"
    "       papertape backtest --policy F --bars F[,F…] [options]\n"
    "       papertape backtest --policy PARAMS.json --actions ACTIONS.csv --bars F[,F…] [options]\n"
    "       papertape backtest --account NAME [--state DIR] [options]\n"
    "       papertape backtest --events LOG [--from T] [--to T] [options]\n"
    "       papertape backtest --list-strategies [--json]\n"
    "\n"
    "Trades strategies on bars, on trades, or plays a recorded event log again, through the\n"
    "engine that trades live. Several --strategy make an account each.\n"
    "\n";

static const char help_end[] =
    "  --way W            auto; engine: bar by bar; columns: the quick way, which gives the\n"
    "                     same\n"
    "  --account NAME     instead of --strategy: the account of a daemon, with its strategy,\n"
    "                     parameters, fees, limits and cash; without --bars on what is stored\n"
    "  --policy F [--actions F]\n"
    "                     instead of --strategy: a trained policy, F.safetensors; an ensemble\n"
    "                     of such, NAME.ensemble.json; or a recorded one, its parameters (JSON)\n"
    "                     and its actions (CSV), as\n"
    "                     papertape-trainer env-replay reads them; cash, fees and slippage are\n"
    "                     theirs where no option says them\n"
    "  --benchmark B      what alpha and beta are against, held: a symbol (the first), equal\n"
    "                     (parts of all), or none\n"
    "  --ticks F[,F…]     trades as a venue's archive has them (id, price, qty, quoteQty,\n"
    "                     time, isBuyerMaker), or recordings of frames, plain or gzip:\n"
    "                     each is the best bid and ask too, and bars are built from them\n"
    "  --events LOG       a state directory, a log's directory, or one segment of it;\n"
    "                     strategies, accounts and limits are the log's\n"
    "  --json             papertape.backtest/1, or papertape.strategies/1\n"
    "  --trades F         the fills, as papertape fills --csv (--fills is the same)\n"
    "  --orders F         the orders as they ended, as papertape orders --csv\n"
    "  --ledger F         the ledger, as papertape ledger export\n"
    "  --equity F         ts_ns,account,equity,cash,peak: at every bar, or point of the curve\n"
    "  --rounds F         trades from flat to flat, with their profit\n"
    "  --monthly F        account,year,month,return\n"
    "  --save DIR         a state directory of the run, for papertape --state DIR --readonly,\n"
    "                     ledger verify and all lists\n"
    "  --list-strategies  what strategies there are, with their parameters and ranges\n"
    "  --state DIR        the daemon's state directory, for --account\n"
    "\n"
    "T is ISO 8601 (UTC without a zone), or epoch in s, ms, us or ns.\n";

static const char *const output_names[BACKTEST_OUTPUTS] = {
    [OUTPUT_LEDGER] = "ledger", [OUTPUT_TRADES] = "trades", [OUTPUT_ORDERS] = "orders",
    [OUTPUT_EQUITY] = "equity", [OUTPUT_ROUNDS] = "rounds", [OUTPUT_MONTHLY] = "monthly",
};

const char *backtest_output_name(enum backtest_output output)
{
    return output_names[output];
}

static int fail(int status, const char *what, const char *words)
{
    return stored_fail(status, "backtest", what, words);
}

enum {
    OPTION_POLICY = 0x100,
    OPTION_ACTIONS,
    OPTION_ACCOUNT,
    OPTION_BENCHMARK,
    OPTION_TICKS,
    OPTION_SAVE,
    OPTION_OUTPUT
};

static const struct option own_options[] = {
    {"events", required_argument, NULL, 'e'},
    {"json", no_argument, NULL, 'j'},
    {"list-strategies", no_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'},
    {"policy", required_argument, NULL, OPTION_POLICY},
    {"actions", required_argument, NULL, OPTION_ACTIONS},
    {"account", required_argument, NULL, OPTION_ACCOUNT},
    {"benchmark", required_argument, NULL, OPTION_BENCHMARK},
    {"ticks", required_argument, NULL, OPTION_TICKS},
    {"save", required_argument, NULL, OPTION_SAVE},
    {"ledger", required_argument, NULL, OPTION_OUTPUT + OUTPUT_LEDGER},
    {"trades", required_argument, NULL, OPTION_OUTPUT + OUTPUT_TRADES},
    {"fills", required_argument, NULL, OPTION_OUTPUT + OUTPUT_TRADES},
    {"orders", required_argument, NULL, OPTION_OUTPUT + OUTPUT_ORDERS},
    {"equity", required_argument, NULL, OPTION_OUTPUT + OUTPUT_EQUITY},
    {"rounds", required_argument, NULL, OPTION_OUTPUT + OUTPUT_ROUNDS},
    {"monthly", required_argument, NULL, OPTION_OUTPUT + OUTPUT_MONTHLY},
    {NULL, 0, NULL, 0},
};

enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

static int take_ticks(struct backtest_args *args, const char *value)
{
    if (args->ticks_text)
        return fail(EXIT_USAGE, "--ticks", "it was given before: name all with commas between");
    args->ticks_text = strdup(value);
    if (!args->ticks_text)
        return fail(EXIT_ERROR, "", "out of memory");
    char *next = args->ticks_text;
    while (next) {
        char *word = strsep(&next, ",");
        if (!*word || args->n_ticks == SYMBOLS_MAX)
            return fail(EXIT_USAGE, "--ticks", *word ? "there can be 256 at most" : "a name is empty");
        args->ticks[args->n_ticks++] = word;
    }
    return EXIT_OK;
}

/* A policy trades instead of strategies, on bars. */
static int check_policy(const struct backtest_args *args)
{
    if (!args->policy)
        return fail(EXIT_USAGE, "--actions", "it goes with --policy PARAMS.json");
    if (policy_names_one_file(args->policy) && args->actions)
        return fail(EXIT_USAGE, "--actions",
                    "a trained policy and an ensemble have none: it goes with --policy PARAMS.json");
    if (!policy_names_one_file(args->policy) && !args->actions)
        return fail(EXIT_USAGE, "--policy",
                    "--actions ACTIONS.csv is needed: what it did at each bar; or F.safetensors of a trained "
                    "policy, or NAME.ensemble.json");
    if (args->run.n_choices > 0 || args->account || args->events || args->n_ticks > 0)
        return fail(EXIT_USAGE, "--policy", "it goes with --bars alone, instead of a strategy");
    if (args->run.n_bars == 0)
        return fail(EXIT_USAGE, "", "--bars F[,F…] is needed: what the policy trades on");
    return run_args_check(&args->run);
}

static int take(struct backtest_args *args, int option, const char *name, const char *value)
{
    if (strcmp(name, "from") == 0)
        args->from = value;
    if (strcmp(name, "to") == 0)
        args->to = value;
    switch (option) {
    case 'e':
        args->events = value;
        return EXIT_OK;
    case 'j':
        args->json = true;
        return EXIT_OK;
    case 'l':
        args->list = true;
        return EXIT_OK;
    case 'h':
        printf("%s%s%s", help_begin, run_args_help, help_end);
        args->done = true;
        return EXIT_OK;
    case OPTION_POLICY:
        args->policy = value;
        return EXIT_OK;
    case OPTION_ACTIONS:
        args->actions = value;
        return EXIT_OK;
    case OPTION_ACCOUNT:
        args->account = value;
        return EXIT_OK;
    case OPTION_BENCHMARK:
        args->benchmark = value;
        return EXIT_OK;
    case OPTION_TICKS:
        return take_ticks(args, value);
    case OPTION_SAVE:
        args->save = value;
        return EXIT_OK;
    default:
        break;
    }
    if (option >= OPTION_OUTPUT && option < OPTION_OUTPUT + BACKTEST_OUTPUTS) {
        args->outputs[option - OPTION_OUTPUT] = value;
        return EXIT_OK;
    }
    return run_args_take(&args->run, option, value);
}

static bool has_outputs(const struct backtest_args *args)
{
    bool any = args->save != NULL;
    for (int i = 0; i < BACKTEST_OUTPUTS; i++)
        any |= args->outputs[i] != NULL;
    return any;
}

/* An account without bars is tried on those that its daemon stored. */
static int find_state(struct backtest_args *args)
{
    char err[256];
    if (state_dir_look(args->run.state, &args->state, err, sizeof err) < 0)
        return fail(EXIT_ERROR, "--state", err);
    args->run.bars[args->run.n_bars++] = args->state.database;
    return run_args_check(&args->run);
}

/* One of bars, trades and a log; and what goes with it. */
static int check(struct backtest_args *args)
{
    int sources = (args->events != NULL) + (args->run.n_bars > 0) + (args->n_ticks > 0);
    if (args->list) {
        if (sources > 0 || args->run.n_choices > 0 || args->from || args->to || has_outputs(args))
            return fail(EXIT_USAGE, "--list-strategies", "takes --json only");
        return EXIT_OK;
    }
    if (args->policy || args->actions)
        return check_policy(args);
    if (sources > 1)
        return fail(EXIT_USAGE, "", "one of --bars, --ticks and --events is expected");
    if (args->events && args->run.n_choices > 0)
        return fail(EXIT_USAGE, "--strategy", "a log has its own strategies: it goes with --bars or --ticks");
    if (args->events && (args->save || args->outputs[OUTPUT_ROUNDS] || args->outputs[OUTPUT_MONTHLY]))
        return fail(EXIT_USAGE, "--events", "--save, --rounds and --monthly are for --bars and --ticks");
    if (args->account && (args->events || args->run.n_choices > 0))
        return fail(EXIT_USAGE, "--account", "it has its strategy, and goes with --bars or --ticks alone");
    if (args->account && sources == 0)
        return find_state(args);
    if (!args->events && !args->account && args->run.n_choices == 0)
        return fail(EXIT_USAGE, "",
                    "--strategy S and --bars F are needed, or --events LOG: a state directory, a log's "
                    "directory or a segment");
    if (sources == 0)
        return fail(EXIT_USAGE, "", "--bars F[,F…] is needed: what the strategy trades on; or --ticks F");
    return run_args_check(&args->run);
}

int backtest_args_parse(int argc, char **argv, struct backtest_args *ret)
{
    struct option options[RUN_ARGS_OPTIONS + OWN_OPTIONS];
    int option, index, status = EXIT_OK;
    *ret = (struct backtest_args){0};
    run_args_init(&ret->run, "backtest", STRATEGY_ARGS_MAX);
    memcpy(options, run_args_options, sizeof run_args_options);
    memcpy(options + RUN_ARGS_OPTIONS, own_options, sizeof own_options);
    optind = 0;
    opterr = 0;
    while (status == EXIT_OK && !ret->done &&
           (option = getopt_long(argc, argv, ":h", options, (index = -1, &index))) != -1) {
        if (option == '?' || option == ':')
            return ask_wrong_option("backtest", argv, option);
        status = take(ret, option, index >= 0 ? options[index].name : "", optarg);
    }
    if (status != EXIT_OK || ret->done)
        return status;
    if (optind < argc)
        return fail(EXIT_USAGE, argv[optind],
                    "no argument is expected: --strategy S --bars F, or --events LOG");
    return check(ret);
}

void backtest_args_finish(struct backtest_args *args)
{
    run_args_finish(&args->run);
    free(args->ticks_text);
    args->ticks_text = NULL;
}
