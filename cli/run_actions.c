/* Splits and dividends of run_args.h's bars: of --corporate-actions, or those that a database has stored. */
#include <stdio.h>
#include <string.h>

#include "cli/run_args.h"
#include "cli/stored.h"
#include "db/reader.h"
#include "exchange/exit_status.h"

struct reading {
    struct backtest_actions *actions;
    const struct market *market;
    int r;
};

static void take_row(void *ctx, const struct db_action_row *row)
{
    struct reading *reading = ctx;
    const struct db_action *of = &row->action;
    const struct backtest_action action = {
        .at_ns = of->ts_ns > of->action.ex_ns ? of->ts_ns : of->action.ex_ns, .action = of->action};
    if (reading->r == 0)
        reading->r =
            backtest_actions_add(reading->actions, reading->market, row->symbol->symbol.name, &action);
}

/* As they took effect there; --symbol may leave some of its symbols out, whose actions count as nothing. */
static int read_stored(struct run_args *args, const struct market *market)
{
    struct reading reading = {.actions = &args->actions, .market = market};
    char database[STATE_PATH_MAX], err[ACTIONS_ERROR_MAX];
    struct db_reader *reader;
    if (!cli_run_stored(args, database))
        return EXIT_OK;
    int status = cli_stored_open_file(args->verb, database, &reader);
    if (status != EXIT_OK)
        return status;
    int r = db_reader_actions(reader, NULL, take_row, &reading);
    status = cli_stored_close(args->verb, reader, r);
    if (status == EXIT_OK && reading.r < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, "", "out of memory");
    if (status == EXIT_OK && backtest_actions_sort(&args->actions, market, err) < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, database, err);
    return status;
}

static void note_left_out(const struct run_args *args)
{
    const struct backtest_actions *actions = &args->actions;
    if (actions->others > 0)
        fprintf(
            stderr,
            "papertape: %s: note: --corporate-actions: %zu of its actions are of symbols without bars here "
            "(%s%s) and are left out\n",
            args->verb, actions->others, actions->other, actions->others > 1 ? " …" : "");
    if (actions->early + actions->late > 0)
        fprintf(
            stderr,
            "papertape: %s: note: --corporate-actions: %zu of its actions are from before the symbol's first "
            "bar, and %zu from after the last: they change nothing\n",
            args->verb, actions->early, actions->late);
}

static void note_before(const struct run_args *args)
{
    if (args->actions.before > 0)
        fprintf(
            stderr,
            "papertape: %s: note: --corporate-actions: %zu of its actions have a ts_ns before their ex-date: "
            "they take effect on that\n",
            args->verb, args->actions.before);
}

int cli_run_actions(struct run_args *args, const struct market *market)
{
    char err[ACTIONS_ERROR_MAX];
    if (!args->actions_from)
        return args->stored ? read_stored(args, market) : EXIT_OK;
    if (strcmp(args->actions_from, "none") == 0)
        return EXIT_OK;
    if (backtest_actions_read(args->actions_from, market, cli_run_calendar(args), &args->actions, err) < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, "--corporate-actions", err);
    note_left_out(args);
    note_before(args);
    return EXIT_OK;
}
