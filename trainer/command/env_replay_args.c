#include "trainer/command/env_replay_args.h"

#include <string.h>

#include "trainer/command/args.h"
#include "trainer/command/env_replay.h"

static const char help[] =
    "Usage: papertape-trainer env-replay PARAMS.json ACTIONS.csv --bars DIR [OPTION]...\n"
    "       papertape-trainer env-replay --list-params\n"
    "\n"
    "Runs one copy of the training environment through the action_* columns of ACTIONS.csv and\n"
    "prints the account after every step as CSV. PARAMS.json has symbols, first_bar, bars,\n"
    "min_order_qty and params; the bars are DIR/{SYMBOL}USDT_5m.csv.gz.\n"
    "\n"
    "      --bars DIR            where the bars files are\n"
    "      --backend B           cpu (default): the widest instruction set that there is;\n"
    "                            scalar, baseline, avx2, avx512: that one; gpu: the device, or\n"
    "                            the CPU where there is none, with the reason on stderr\n"
    "      --preset P            reference, market or day-trade, before the keys of params\n"
    "      --execution E         reference or market, after them\n"
    "      --exchange-info F     the venue's exchangeInfo, for the lots and ticks of market\n"
    "      --seed N              of what a copy draws from ranges (default 0)\n"
    "      --json F              write the first and the last observation to F\n"
    "      --trades F            write every trade to F as CSV (needs --backend scalar, and takes it)\n"
    "      --list-params         every key of params: range, presets, meaning\n"
    "      --help                this text\n"
    "\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line.\n";

static int set_backend(struct env_replay_args *args, const char *name)
{
    args->backend_name = name;
    args->where = strcmp(name, "gpu") == 0 ? ON_GPU : ON_CPU;
    args->backend = ENV_BEST;
    if (args->where == ON_GPU || strcmp(name, "cpu") == 0)
        return GO_ON;
    for (int backend = ENV_SCALAR; backend <= ENV_AVX512; backend++)
        if (strcmp(name, env_backend_name((enum env_backend)backend)) == 0) {
            args->backend = (enum env_backend)backend;
            return GO_ON;
        }
    return trainer_args_say(
        EXIT_USAGE, "unknown backend: --backend %.32s: cpu, gpu, scalar, baseline, avx2 or avx512", name);
}

enum { BARS = 256, BACKEND, PRESET, EXECUTION, EXCHANGE_INFO, SEED, JSON, TRADES, LIST_PARAMS };

static const struct option long_options[] = {
    {"bars", required_argument, NULL, BARS},
    {"backend", required_argument, NULL, BACKEND},
    {"preset", required_argument, NULL, PRESET},
    {"execution", required_argument, NULL, EXECUTION},
    {"exchange-info", required_argument, NULL, EXCHANGE_INFO},
    {"seed", required_argument, NULL, SEED},
    {"json", required_argument, NULL, JSON},
    {"trades", required_argument, NULL, TRADES},
    {"list-params", no_argument, NULL, LIST_PARAMS},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};

struct command_line {
    struct env_replay_args *args;
    const char *words[2];
    int n; /* of words, those too many counted */
};

static int take(void *ctx, int option)
{
    struct command_line *line = ctx;
    struct env_replay_args *args = line->args;
    switch (option) {
    case BARS:
        args->bars = optarg;
        return GO_ON;
    case BACKEND:
        return set_backend(args, optarg);
    case PRESET:
        args->preset = optarg;
        return GO_ON;
    case EXECUTION:
        args->execution = optarg;
        return GO_ON;
    case EXCHANGE_INFO:
        args->exchange_info = optarg;
        return GO_ON;
    case SEED:
        return trainer_args_whole("seed", optarg, 0, UINT64_MAX, &args->seed);
    case JSON:
        args->json = optarg;
        return GO_ON;
    case TRADES:
        args->trades = optarg;
        return GO_ON;
    case LIST_PARAMS:
        return trainer_replay_list_params();
    default: /* a word */
        if (line->n < 2)
            line->words[line->n] = optarg;
        line->n++;
        return GO_ON;
    }
}

int trainer_env_replay_args_parse(int argc, char **argv, struct env_replay_args *ret)
{
    *ret = (struct env_replay_args){0};
    static const struct args_rules rules = {
        .verb = "env-replay", .help = help, .letters = "", .options = long_options, .take = take};
    struct command_line line = {.args = ret};
    int status = trainer_args_parse(&rules, argc, argv, &line);
    if (status != GO_ON)
        return status;
    if (line.n != 2)
        return trainer_args_say(EXIT_USAGE, "%d files: command line: PARAMS.json and ACTIONS.csv are needed",
                                line.n);
    if (!ret->bars)
        return trainer_args_say(EXIT_USAGE, "no bars: command line: --bars DIR with the bars files");
    if (ret->trades && ret->backend_name && ret->backend != ENV_SCALAR)
        return trainer_args_say(EXIT_USAGE, "--trades: --backend %.32s: scalar, which alone tells of trades",
                                ret->backend_name);
    if (ret->trades)
        ret->backend = ENV_SCALAR;
    if (ret->backend == ENV_BEST) /* by its name, for --json */
        for (ret->backend = ENV_AVX512; !env_backend_works(ret->backend);)
            ret->backend--;
    ret->params_path = line.words[0];
    ret->actions_path = line.words[1];
    return GO_ON;
}
