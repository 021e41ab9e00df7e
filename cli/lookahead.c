#include "cli/lookahead.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"

static const char help[] =
    "Usage: papertape lookahead STRATEGY [--set key=value…] [--bars F[,F…]] [--cuts K]\n"
    "                           [--seed N] [--json]\n"
    "\n"
    "Runs a strategy on bars, then on the same bars cut at K places, on bars that go on there\n"
    "in another way, and on the same bars in another year; by the engine and by columns. Every\n"
    "decision and order up to a cut must be the same. Prints the first that is not, and exits 1.\n"
    "Without --bars they are made up.\n"
    "\n"
    "  --cuts K           32: half of them at bars where the strategy decided something\n"
    "  --seed N           1: of the cuts, the other futures and the bars made up\n"
    "  --json             papertape.lookahead/1\n";

static void print_difference(const struct guard_args *args, const struct guard_difference *found)
{
    const struct market *market = args->market;
    char at[STORED_CELL], cut[STORED_CELL], whole[512], changed[512];
    if (found->of_order) {
        guard_order_text(found, market, true, whole, sizeof whole);
        guard_order_text(found, market, false, changed, sizeof changed);
    } else {
        guard_decision_text(&found->decision, found->in_whole, whole, sizeof whole);
        guard_decision_text(&found->changed_decision, found->in_changed, changed, sizeof changed);
    }
    printf("LOOKS AHEAD at %s, %s, %s\n", stored_time(STORED_TABLE, at, found->ts_ns),
           market->series[found->symbol].symbol.name,
           found->way == BACKTEST_COLUMNS ? "by columns" : "by the engine");
    printf("  cut        %s: %s\n", stored_time(STORED_TABLE, cut, found->cut_ns),
           backtest_guard_change_name(found->change));
    printf("  whole      %s\n  changed    %s\n", whole, changed);
}

static bool tried_and_ok(const struct guard_lookahead *verdict)
{
    return !verdict->found && verdict->decisions > 0;
}

void lookahead_print(const struct guard_args *args, const struct guard_lookahead *verdict)
{
    guard_print_head(args);
    printf("cuts       %zu, seed %lld: %zu runs%s\n", verdict->cuts, (long long)args->seed, verdict->runs,
           verdict->columns ? ", by the engine and by columns" : ", by the engine");
    printf("decisions  %zu, orders %zu\n", verdict->decisions, verdict->orders);
    if (verdict->found)
        print_difference(args, &verdict->first);
    else
        printf(tried_and_ok(verdict)
                   ? "lookahead ok\n"
                   : "nothing was decided on these bars, so nothing was tried: give others\n");
}

int lookahead_print_json(const struct guard_args *args, const struct guard_lookahead *verdict)
{
    char params[256];
    strategy_args_text(args->run.choices[0].strategy, args->run.choices[0].params, params, sizeof params);
    return guard_print_json(
        "lookahead",
        json_pack("{s:s, s:b, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "schema",
                  "papertape.lookahead/1", "ok", tried_and_ok(verdict), "strategy",
                  args->account.strategy->name, "set", params, "rows", (json_int_t)args->market->rows, "seed",
                  (json_int_t)args->seed, "cuts", (json_int_t)verdict->cuts, "runs",
                  (json_int_t)verdict->runs, "decisions", (json_int_t)verdict->decisions, "orders",
                  (json_int_t)verdict->orders, "columns", verdict->columns, "first",
                  verdict->found ? guard_difference_json(args, &verdict->first) : json_null()));
}

static int run(const struct guard_args *args)
{
    struct guard_config config = guard_args_config(args);
    struct progress progress;
    struct guard_lookahead verdict;
    char err[512] = "";
    progress_begin(&progress, "lookahead");
    config.progress = progress_show;
    config.ctx = &progress;
    int r = backtest_guard_lookahead(&config, &verdict, err, sizeof err);
    progress_end(&progress);
    if (r < 0)
        return stored_fail(EXIT_ERROR, "lookahead", "", err);
    int status = EXIT_OK;
    if (args->json)
        status = lookahead_print_json(args, &verdict);
    else
        lookahead_print(args, &verdict);
    return status == EXIT_OK && !tried_and_ok(&verdict) ? EXIT_ERROR : status;
}

static int run_line(int argc, char **argv)
{
    struct guard_args args;
    int status = guard_args_open(argc, argv, help, true, &args);
    if (status == EXIT_OK && !args.done)
        status = run(&args);
    guard_args_finish(&args);
    return status;
}

const struct option_verb cli_lookahead = {
    .name = "lookahead", .words = "does a strategy see the future? cut and changed bars", .run = run_line};
