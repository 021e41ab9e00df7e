#include "tui/command/backtest.h"

#include "tui/command/backtest_args.h"
#include "tui/command/strategies.h"
#include "tui/dashboard.h"

int command_backtest(int argc, char **argv)
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
