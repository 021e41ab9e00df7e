#include <stdio.h>

#include "cli/guard_args.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"

static void print_difference(const struct guard_args *args, const struct guard_difference *found)
{
    const struct market *market = args->market;
    char at[STORED_CELL], cut[STORED_CELL], whole[GUARD_TEXT_MAX], changed[GUARD_TEXT_MAX];
    cli_guard_texts(found, market, whole, changed);
    printf("LOOKS AHEAD at %s, %s, %s\n", cli_stored_time(STORED_TABLE, at, found->ts_ns),
           market->series[found->symbol].symbol.name,
           found->way == BACKTEST_COLUMNS ? "by columns" : "by the engine");
    printf("  cut        %s: %s\n", cli_stored_time(STORED_TABLE, cut, found->cut_ns),
           backtest_guard_change_name(found->change));
    printf("  whole      %s\n  changed    %s\n", whole, changed);
}

static bool tried_and_ok(const struct guard_lookahead *verdict)
{
    return !verdict->found && verdict->decisions > 0;
}

void cli_lookahead_print(const struct guard_args *args, const struct guard_lookahead *verdict)
{
    cli_guard_print_head(args);
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

int cli_lookahead_print_json(const struct guard_args *args, const struct guard_lookahead *verdict)
{
    char params[256];
    cli_strategy_args_text(args->run.choices[0].strategy, args->run.choices[0].params, params, sizeof params);
    return cli_stored_print(
        "lookahead",
        json_pack("{s:s, s:b, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "schema",
                  "papertape.lookahead/1", "ok", tried_and_ok(verdict), "strategy",
                  args->account.strategy->name, "set", params, "rows", (json_int_t)args->market->rows, "seed",
                  (json_int_t)args->seed, "cuts", (json_int_t)verdict->cuts, "runs",
                  (json_int_t)verdict->runs, "decisions", (json_int_t)verdict->decisions, "orders",
                  (json_int_t)verdict->orders, "columns", verdict->columns, "first",
                  verdict->found ? cli_guard_difference_json(args, &verdict->first) : json_null()),
        15);
}

static int run(struct option_call *call)
{
    const struct guard_args *args = call->into;
    struct guard_lookahead verdict;
    struct guard_config config;
    struct progress progress;
    char err[512] = "";
    int status = cli_guard_open(call, &progress, &config);
    if (status != EXIT_OK)
        return status;
    int r = backtest_guard_lookahead(&config, &verdict, err, sizeof err);
    cli_progress_end(&progress);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "lookahead", "", err);
    if (call->json)
        status = cli_lookahead_print_json(args, &verdict);
    else
        cli_lookahead_print(args, &verdict);
    return status == EXIT_OK && !tried_and_ok(&verdict) ? EXIT_ERROR : status;
}

static void init(void *into)
{
    cli_guard_init(into, "lookahead");
}

static const struct option_action actions[] = {{.arguments = "[STRATEGY]", .run = run}};

#define AT(member) offsetof(struct guard_args, member)

static const struct option_row options[] = {
    {"cuts", "K", "32 when left out: half of them at bars where the strategy decided something", AT(cuts),
     .low = 1, .high = 100000},
    {"seed", "N", "of the cuts, the other futures and the synthetic bars: 1", AT(seed), .low = 0,
     .high = INT64_MAX},
};

CLI_VERB(cli_lookahead) = {
    .name = "lookahead",
    .words = "does a strategy see the future? cut and changed bars",
    .about = "Runs a strategy on bars, then on the same bars cut at K places, on bars that continue "
             "differently there, and on the same bars in another year; by the engine and vectorised. Every "
             "decision and order up to a cut must be the same. Prints the first that is not. Without --bars "
             "they are synthetic. With --json, papertape.lookahead/1.",
    .exits = "1 also where a decision or an order differs, or nothing was decided.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_SHARED(cli_run_options),
    .size = sizeof(struct guard_args),
    .init = init,
    .finish = cli_guard_finish,
};
