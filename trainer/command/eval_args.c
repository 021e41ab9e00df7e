#include "trainer/command/eval_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "strategy/policy/policy.h"
#include "trainer/command/args.h"

static const char help[] =
    "Usage: papertape-trainer eval POLICY --bars F… [OPTION]...\n"
    "\n"
    "Plays a trained policy (.safetensors) in its own environment on these bars, without chance:\n"
    "means of actions, the likeliest of levels, the middles of ranges. An ensemble (NAME.ensemble.json)\n"
    "is played by its members' rules. Prints what came of it as JSON, papertape.eval/1.\n"
    "\n"
    "      --bars F…             bars files of its symbols, of its interval: words or commas\n"
    "                            between them\n"
    "      --from T, --to T      of them\n"
    "      --splits cpcv:N,K     besides: N groups of rows, each for itself, and all combinations\n"
    "                            of K of them; groups that follow one another are one episode;\n"
    "                            kfold:N is cpcv:N,1, and walk-forward:N has N groups and one\n"
    "                            before them that no combination has\n"
    "      --exchange-info F     the venue's exchangeInfo, for the lots and ticks of market\n"
    "      --steps F             write the account after every step to F, as env-replay prints it\n"
    "      --trades F            write every trade to F, as env-replay does\n"
    "      --json                the default: nothing else is printed\n"
    "      --help                this text\n"
    "\n"
    "T is ISO 8601 (UTC without a zone), or epoch in s, ms, us or ns.\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line.\n";

enum { BARS = 256, FROM, TO, SPLITS, EXCHANGE_INFO, STEPS, TRADES, JSON };

static const struct option long_options[] = {
    {"bars", required_argument, NULL, BARS},
    {"from", required_argument, NULL, FROM},
    {"to", required_argument, NULL, TO},
    {"splits", required_argument, NULL, SPLITS},
    {"exchange-info", required_argument, NULL, EXCHANGE_INFO},
    {"steps", required_argument, NULL, STEPS},
    {"trades", required_argument, NULL, TRADES},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};

static int append(char ***list, size_t *n, char *text)
{
    char **moved = text ? reallocarray(*list, *n + 1, sizeof *moved) : NULL;
    if (!moved)
        return trainer_args_say(EXIT_FAILURE, "out of memory");
    *list = moved;
    moved[(*n)++] = text;
    return GO_ON;
}

static int take_bars(struct eval_args *args, const char *value)
{
    char *next = strdup(value), *word;
    int status = append(&args->texts, &args->n_texts, next);
    if (status != GO_ON)
        free(next);
    while (status == GO_ON && (word = strsep(&next, ",")) != NULL)
        status = word[0]
                     ? append(&args->paths, &args->n_paths, word)
                     : trainer_args_say(EXIT_USAGE, "a name is empty: --bars %.128s: F[,F…] is right", value);
    return status;
}

static int take_time(const char *option, const char *value, int64_t *ret_ns)
{
    if (bars_time_parse(value, strlen(value), ret_ns) == 0)
        return GO_ON;
    return trainer_args_say(EXIT_USAGE, "no time: %s %.64s: one as 2024-01-31T12:00Z", option, value);
}

static int take(void *ctx, int option)
{
    struct eval_args *args = ctx;
    char err[SPLIT_ERROR_MAX];
    switch (option) {
    case BARS:
        return take_bars(args, optarg);
    case FROM:
        return take_time("--from", optarg, &args->bars.from_ns);
    case TO:
        return take_time("--to", optarg, &args->bars.to_ns);
    case SPLITS:
        args->splits = optarg;
        return split_parse(optarg, &args->split, err) < 0 ? trainer_args_say(EXIT_USAGE, "%s", err) : GO_ON;
    case EXCHANGE_INFO:
        args->bars.exchange_info = optarg;
        return GO_ON;
    case STEPS:
        args->steps = optarg;
        return GO_ON;
    case TRADES:
        args->trades = optarg;
        return GO_ON;
    case JSON:
        return GO_ON;
    default: /* a word */
        return append(&args->words, &args->n_words, optarg);
    }
}

/* The policy is the first word of that ending, or the first one; the others are bars files, as --bars F G. */
static int sort_words(struct eval_args *args)
{
    size_t at = args->n_words;
    for (size_t i = 0; i < args->n_words && at == args->n_words; i++)
        if (policy_names_one_file(args->words[i]))
            at = i;
    if (at == args->n_words)
        at = 0;
    if (args->n_words == 0)
        return trainer_args_say(
            EXIT_USAGE, "no policy: command line: one is needed, F.safetensors or NAME.ensemble.json");
    if (args->n_paths == 0)
        return trainer_args_say(EXIT_USAGE, "no bars: command line: --bars F… of the policy's symbols");
    args->policy_path = args->words[at];
    int status = GO_ON;
    for (size_t i = 0; i < args->n_words && status == GO_ON; i++)
        if (i != at)
            status = take_bars(args, args->words[i]);
    return status;
}

int trainer_eval_args_parse(int argc, char **argv, struct eval_args *args)
{
    static const struct args_rules rules = {
        .verb = "eval", .help = help, .letters = "", .options = long_options, .take = take};
    args->bars.from_ns = INT64_MIN;
    args->bars.to_ns = INT64_MAX;
    int status = trainer_args_parse(&rules, argc, argv, args);
    if (status != GO_ON)
        return status;
    status = sort_words(args);
    if (status != GO_ON)
        return status;
    args->bars.paths = args->paths;
    args->bars.n = args->n_paths;
    return GO_ON;
}

void trainer_eval_args_finish(struct eval_args *args)
{
    for (size_t i = 0; i < args->n_texts; i++)
        free(args->texts[i]);
    free(args->texts);
    free(args->words);
    free(args->paths);
    *args = (struct eval_args){0};
}
