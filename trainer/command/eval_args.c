#include "trainer/command/eval_args.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "strategy/policy/policy.h"
#include "trainer/command/args.h"

#define AT(member) offsetof(struct eval_args, member)

static int append(const struct option_call *call, char ***list, size_t *n, char *text)
{
    char **moved = text ? reallocarray(*list, *n + 1, sizeof *moved) : NULL;
    if (!moved)
        return option_fail(call, EXIT_ERROR, "out of memory");
    *list = moved;
    moved[(*n)++] = text;
    return EXIT_OK;
}

static int add_bars(const struct option_call *call, const char *value)
{
    struct eval_args *args = call->into;
    char *next = strdup(value), *word;
    int status = append(call, &args->texts, &args->n_texts, next);
    if (status != EXIT_OK)
        free(next);
    while (status == EXIT_OK && (word = strsep(&next, ",")) != NULL)
        status = word[0]
                     ? append(call, &args->paths, &args->n_paths, word)
                     : option_fail(call, EXIT_USAGE,
                                   "--bars: \"%.128s\": a name is empty: FILE[,FILE...] is needed", value);
    return status;
}

static int take_bars(struct option_call *call, const struct option_row *row, const char *value)
{
    (void)row;
    return add_bars(call, value);
}

static int take_set(struct option_call *call, const struct option_row *row, const char *value)
{
    struct eval_args *args = call->into;
    char *copy = strdup(value);
    (void)row;
    int status = append(call, &args->sets, &args->n_sets, copy);
    if (status != EXIT_OK)
        free(copy);
    return status;
}

static int take_time(struct option_call *call, const struct option_row *row, const char *value)
{
    if (bars_time_parse(value, strlen(value), (int64_t *)((char *)call->into + row->at)) == 0)
        return EXIT_OK;
    return option_fail(call, EXIT_USAGE, "--%s: \"%.64s\": a time as 2024-01-31T12:00Z is needed", row->name,
                       value);
}

static int take_splits(struct option_call *call, const struct option_row *row, const char *value)
{
    struct eval_args *args = call->into;
    char err[SPLIT_ERROR_MAX];
    (void)row;
    args->splits = value;
    return split_parse(value, &args->split, err) < 0 ? option_fail(call, EXIT_USAGE, "%s", err) : EXIT_OK;
}

static const struct option_row options[] = {
    {"bars", "FILE[,FILE...]",
     "bars files of its symbols, of its interval: words or commas between them, in any order; those of other "
     "symbols are left out; or a state directory or database of a daemon, whose bars of its symbols are taken",
     .take = take_bars},
    {"from", "T", "rows that open from T on (ISO 8601, UTC without a zone, or epoch in s, ms, us or ns)",
     AT(bars.from_ns), take_time},
    {"to", "T", "rows that open before T", AT(bars.to_ns), take_time, .after = "from"},
    {"splits", "SPLITS",
     "also cpcv:N,K: N groups of rows, each for itself, and all combinations of K of them, where groups "
     "that follow one another are one episode and others never are, and the paths through all rows; kfold:N "
     "is cpcv:N,1; walk-forward:N has N groups, and one before them that is in no combination",
     .take = take_splits},
    {"set", "KEY=VALUE",
     "another cost or rule of the environment than the policy was trained with, as fee_taker=0.0005, slippage=0.0002 "
     "or trailing_stop_pct=0.05; may be given several times",
     .take = take_set},
    {"exchange-info", "FILE", "the venue's exchangeInfo, for the lots and ticks of market",
     AT(bars.exchange_info)},
    {"lot", "N", "the step of quantities of the files' symbols, where they do not show it, as 0.000000001",
     AT(bars.lot)},
    {"calendar", "NAME|FILE",
     "of the bars' market: nyse, a file of one, or 24x7; left out: that of the policy's file, whose session's "
     "bars are taken",
     AT(bars.calendar)},
    {"zone", "ZONE", "of the bars' times that name none, as America/New_York; left out: UTC", AT(bars.zone)},
    {"steps", "FILE",
     "write the account after every step to FILE, as env-replay prints it, where t counts rows from the "
     "episode's first, which opens at first_ns",
     AT(steps)},
    {"trades", "FILE", "write every trade to FILE, as env-replay does", AT(trades)},
    {"report", "FILE",
     "write a page with pictures to FILE: the verdict, equity against holding, drawdown, exposure, fills and "
     "actions, and what it was evaluated on",
     AT(report)},
};

/* The policy is the first word with the ending of a policy, or the first one; the others are bars files, as
 * --bars F G. */
int trainer_eval_args_check(const struct option_call *call)
{
    struct eval_args *args = call->into;
    int at = 0, status = EXIT_OK;
    while (at < call->n && !policy_names_one_file(call->arguments[at]))
        at++;
    at = at == call->n ? 0 : at;
    args->policy_path = call->arguments[at];
    for (int i = 0; i < call->n && status == EXIT_OK; i++)
        if (i != at)
            status = add_bars(call, call->arguments[i]);
    if (status == EXIT_OK && args->n_paths == 0)
        return option_fail(call, EXIT_USAGE,
                           "no bars: --bars FILE of the policy's symbols, or --bars STATE, is needed");
    args->bars.paths = args->paths;
    args->bars.n = args->n_paths;
    args->bars.set = args->sets;
    args->bars.n_set = args->n_sets;
    return status;
}

static void init(void *into)
{
    struct eval_args *args = into;
    args->bars.from_ns = INT64_MIN;
    args->bars.to_ns = INT64_MAX;
}

static void finish(void *into)
{
    struct eval_args *args = into;
    for (size_t i = 0; i < args->n_texts; i++)
        free(args->texts[i]);
    for (size_t i = 0; i < args->n_sets; i++)
        free(args->sets[i]);
    free(args->texts);
    free(args->sets);
    free(args->paths);
}

static const struct option_action actions[] = {
    {.arguments = "POLICY [FILE...]", .example = "F.safetensors --bars F.csv.gz", .run = trainer_eval}};
TRAINER_VERB(eval) = {
    .name = "eval",
    .words = "a trained policy in its environment on other bars",
    .about =
        "Plays a trained policy (F.safetensors) in its own environment on these bars, without chance: means "
        "of actions, the likeliest of levels, the middles of ranges. An ensemble (NAME.ensemble.json) is "
        "played by its members' rules. As in training, an episode ends lookback bars before the last one. "
        "Prints the result as JSON, papertape.eval/1.",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct eval_args),
    .init = init,
    .finish = finish,
};
