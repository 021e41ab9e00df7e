#include <stdio.h>

#include "cli/guard_args.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "record/print.h"

static void print_difference(const struct guard_args *args, const struct guard_difference *found)
{
    const struct market *market = args->market;
    char at[STORED_CELL], cut[STORED_CELL], whole[GUARD_TEXT_MAX], changed[GUARD_TEXT_MAX];
    cli_guard_texts(found, market, whole, changed);
    printf("LOOKS AHEAD at %s, %s, %s\n", cli_stored_time(STORED_TABLE, at, found->ts_ns),
           market->series[found->symbol].symbol.name,
           found->way == BACKTEST_COLUMNS ? "vectorised" : "by the engine");
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
           verdict->columns ? ", by the engine and vectorised" : ", by the engine");
    printf("decisions  %zu, orders %zu\n", verdict->decisions, verdict->orders);
    if (verdict->found)
        print_difference(args, &verdict->first);
    else
        printf(tried_and_ok(verdict)
                   ? "lookahead ok\n"
                   : "nothing was decided on these bars, so nothing was tried: give others\n");
}

PRINT_OBJECT(verdict_object, struct guard_lookahead, PRINT_LATER("seed"), PRINT_WHOLE(cuts),
             PRINT_WHOLE(runs), PRINT_WHOLE(decisions), PRINT_WHOLE(orders), PRINT_BOOL(columns),
             PRINT_LATER("first"));

int cli_lookahead_print_json(const struct guard_args *args, const struct guard_lookahead *verdict)
{
    json_t *object = verdict_object(verdict, NULL);
    json_object_set_new(object, "seed", json_integer(args->seed));
    if (verdict->found)
        json_object_set_new(object, "first", cli_guard_difference_json(args, &verdict->first));
    return cli_guard_print_json(args, "ok", tried_and_ok(verdict), object);
}

static int find(const struct guard_config *config, void *verdict, char *err, size_t err_size)
{
    return backtest_guard_lookahead(config, verdict, err, err_size);
}

static int run(struct option_call *call)
{
    struct guard_lookahead verdict;
    int status = cli_guard_run(call, &verdict, find);
    if (status == EXIT_OK && call->json)
        status = cli_lookahead_print_json(call->into, &verdict);
    else if (status == EXIT_OK)
        cli_lookahead_print(call->into, &verdict);
    return status == EXIT_OK && !tried_and_ok(&verdict) ? EXIT_ERROR : status;
}

static void init(void *into)
{
    cli_guard_init(into, "lookahead");
}

static const struct option_action actions[] = {
    {.arguments = "[STRATEGY]", .example = "sma-cross", .needed = "*|strategy", .run = run}};

#define AT(member) offsetof(struct guard_args, member)

static const struct option_row options[] = {
    {"cuts", "K", "32 when left out: half of them at bars where the strategy decided something", AT(cuts),
     .low = 1, .high = 100000},
    {"seed", "N", "of the cuts, the other futures and the synthetic bars: 1", AT(seed), .low = 0,
     .high = INT64_MAX},
};

CLI_VERB(cli_lookahead) = {
    .name = "lookahead",
    .words = "does a strategy know later bars? cut and changed bars",
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
