#include <stdio.h>

#include "cli/guard_args.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "record/print.h"

void cli_warmup_print(const struct guard_args *args, const struct guard_warmup *verdict)
{
    char whole[GUARD_TEXT_MAX], changed[GUARD_TEXT_MAX], at[STORED_CELL];
    const struct guard_difference *last = &verdict->last;
    cli_guard_print_head(args);
    printf("windows    %zu of %zu rows: %zu decisions, %zu runs\n", verdict->windows, verdict->window_rows,
           verdict->decisions, verdict->runs);
    printf("lookback   %zu bars before its indicators all have values\n", verdict->lookback);
    if (verdict->predicted == INDICATOR_FOREVER)
        printf("predicted  never: one of its indicators remembers its first bar\n");
    else
        printf("predicted  %zu bars, to the last bit of its indicators\n", verdict->predicted);
    if (verdict->last_bars > 0 || last->in_whole || last->in_changed) {
        cli_guard_texts(last, args->market, whole, changed);
        printf("with %zu   at %s, %s\n  all        %s\n  %-10zu %s\n", verdict->last_bars,
               cli_stored_time(STORED_TABLE, at, last->ts_ns), args->market->series[last->symbol].symbol.name,
               whole, verdict->last_bars, changed);
    }
    if (verdict->decisions == 0)
        printf("nothing was decided on these bars, so nothing was tried: give others\n");
    else if (verdict->settles)
        printf("warmup     %zu bars\n", verdict->bars);
    else
        printf("NEVER SETTLES: with %zu bars of history it still decides otherwise than with all\n",
               verdict->last_bars);
}

PRINT_OBJECT(verdict_object, struct guard_warmup, PRINT_LATER("bars"),
             PRINT_AS(SIGNED, REQUIRED, most, "longest_tried_bars"), PRINT_LATER("predicted_bars"),
             PRINT_AS(SIGNED, REQUIRED, lookback, "lookback_bars"), PRINT_WHOLE(windows),
             PRINT_WHOLE(window_rows), PRINT_WHOLE(runs), PRINT_WHOLE(decisions),
             PRINT_LATER("too_short_bars"), PRINT_LATER("too_short"));

int cli_warmup_print_json(const struct guard_args *args, const struct guard_warmup *verdict)
{
    json_t *object = verdict_object(verdict, NULL);
    if (verdict->settles)
        json_object_set_new(object, "bars", json_integer((json_int_t)verdict->bars));
    if (verdict->predicted != INDICATOR_FOREVER)
        json_object_set_new(object, "predicted_bars", json_integer((json_int_t)verdict->predicted));
    if (verdict->last.in_whole || verdict->last.in_changed) {
        json_object_set_new(object, "too_short_bars", json_integer((json_int_t)verdict->last_bars));
        json_object_set_new(object, "too_short", cli_guard_difference_json(args, &verdict->last));
    }
    return cli_guard_print_json(args, "settles", verdict->settles, object);
}

static int find(const struct guard_config *config, void *verdict, char *err, size_t err_size)
{
    return backtest_guard_warmup(config, verdict, err, err_size);
}

static int run(struct option_call *call)
{
    struct guard_warmup verdict;
    int status = cli_guard_run(call, &verdict, find);
    if (status == EXIT_OK && call->json)
        status = cli_warmup_print_json(call->into, &verdict);
    else if (status == EXIT_OK)
        cli_warmup_print(call->into, &verdict);
    return status == EXIT_OK && !verdict.settles ? EXIT_ERROR : status;
}

static void init(void *into)
{
    cli_guard_init(into, "warmup");
}

static const struct option_action actions[] = {
    {.arguments = "[STRATEGY]", .example = "sma-cross", .needed = "*|strategy", .run = run}};

#define AT(member) offsetof(struct guard_args, member)

static const struct option_row options[] = {
    {"seed", "N", "of the synthetic bars: 1", AT(seed), .low = 0, .high = INT64_MAX},
};

CLI_VERB(cli_warmup) = {
    .name = "warmup",
    .words = "how much history does a strategy need?",
    .about = "Finds how many bars of history a strategy needs until its decisions no longer depend on where "
             "the history began: in several windows, beginning flat, decisions and orders with less history "
             "are compared with those with all of it. Beside it stands what the warm-up of its indicators "
             "lets expect. Without --bars they are synthetic. With --json, papertape.warmup/1.",
    .exits = "1 also where they never settle, or nothing was decided.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_SHARED(cli_run_options),
    .size = sizeof(struct guard_args),
    .init = init,
    .finish = cli_guard_finish,
};
