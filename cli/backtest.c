#include "cli/verbs.h"

#include "cli/backtest_args.h"
#include "cli/strategies.h"
#include "exchange/exit_status.h"

static int run_line(int argc, char **argv)
{
    struct backtest_args args;
    int status = backtest_args_parse(argc, argv, &args);
    if (status == EXIT_OK && !args.done) {
        if (args.list)
            status = strategies_list(args.json);
        else if (args.events)
            status = backtest_events(&args);
        else
            status = backtest_bars(&args);
    }
    backtest_args_finish(&args);
    return status;
}

const struct option_verb cli_backtest = {
    .name = "backtest", .words = "strategies on bars, trades, or a recorded event log", .run = run_line};
