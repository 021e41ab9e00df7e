/* The arguments of papertape backtest. */
#ifndef CLI_BACKTEST_ARGS_H
#define CLI_BACKTEST_ARGS_H

#include "cli/format.h"
#include "cli/output.h"
#include "cli/run_args.h"
#include "db/state.h"

enum backtest_output {
    OUTPUT_LEDGER,
    OUTPUT_TRADES, /* the fills, by the name that interfaces give it */
    OUTPUT_ORDERS,
    OUTPUT_EQUITY,
    OUTPUT_ROUNDS, /* trades from flat to flat */
    OUTPUT_MONTHLY,
    OUTPUT_MEMBERS, /* of the universe */
    OUTPUT_PAGE,    /* --report: one HTML page */
    BACKTEST_OUTPUTS,
};

struct backtest_args {
    struct run_args run;
    const char *events;             /* a log, instead of bars */
    const char *ticks[SYMBOLS_MAX]; /* trades, instead of bars */
    size_t n_ticks;
    const char *account; /* a daemon's, instead of a strategy */
    const char *policy,
        *actions; /* F.safetensors, X.ensemble.json; PARAMS.json and ACTIONS.csv: instead of a strategy */
    const char *benchmark; /* a symbol, "equal" or "none"; NULL: the first symbol */
    const char *save, *export_to;
    const char *outputs[BACKTEST_OUTPUTS];
    bool json, list, chart;
    char *ticks_text;       /* owned */
    struct state_dir state; /* with --account and no bars: its database is run.bars[0] */
};

/* cli_stored_fail() of this verb. */
int cli_backtest_fail(int status, const char *what, const char *words);

/* The name of an output's option, as "ledger". */
extern const char *const cli_backtest_outputs[BACKTEST_OUTPUTS];

/* A figure, and a share in percent, with so many decimals in 14 columns at most and those of " %"; "n/a" for
 * NaN. */
const char *cli_backtest_number(char buf[static FORMAT_MAX], double value, int decimals);
const char *cli_backtest_percent(char buf[static FORMAT_MAX], double share);

/* Opens the requested files. Exit statuses; to be dropped in any case. */
int cli_backtest_open_outputs(const struct backtest_args *args,
                              struct output outputs[static BACKTEST_OUTPUTS]);
int cli_backtest_commit_outputs(struct output outputs[static BACKTEST_OUTPUTS]);
void cli_backtest_drop_outputs(struct output outputs[static BACKTEST_OUTPUTS]);

/* What each source of a backtest does: an exit status, after its line on stderr. */
int cli_backtest_events(const struct backtest_args *args);
int cli_backtest_bars(struct backtest_args *args); /* and on trades */

#endif
