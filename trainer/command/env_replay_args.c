#include "trainer/command/env_replay_args.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int env_replay_say(int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("papertape-trainer: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return status;
}

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
    return env_replay_say(
        EXIT_USAGE, "unknown backend: --backend %.32s: cpu, gpu, scalar, baseline, avx2 or avx512", name);
}

static int set_seed(struct env_replay_args *args, const char *text)
{
    char *end;
    errno = 0;
    args->seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        return env_replay_say(EXIT_USAGE,
                              "bad seed: --seed %.32s: a whole number from 0 to 18446744073709551615", text);
    return GO_ON;
}

enum { BARS = 256, BACKEND, PRESET, EXECUTION, EXCHANGE_INFO, SEED, JSON, TRADES, LIST_PARAMS, HELP };

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
    {"help", no_argument, NULL, HELP},
    {0},
};

static int take(struct env_replay_args *args, int option)
{
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
        return set_seed(args, optarg);
    case JSON:
        args->json = optarg;
        return GO_ON;
    case TRADES:
        args->trades = optarg;
        return GO_ON;
    case LIST_PARAMS:
        return replay_list_params();
    case HELP:
        fputs(help, stdout);
        return EXIT_SUCCESS;
    default:
        return EXIT_USAGE;
    }
}

int env_replay_args_parse(int argc, char **argv, struct env_replay_args *ret)
{
    *ret = (struct env_replay_args){0};
    char *words[2] = {NULL, NULL};
    int n = 0;
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "-:h", long_options, NULL)) != -1;) {
        int status;
        if (option == ':')
            return env_replay_say(EXIT_USAGE, "no value: %s: it needs one; see env-replay --help",
                                  argv[optind - 1]);
        if (option == '?')
            return env_replay_say(EXIT_USAGE, "unknown option: %s: see env-replay --help", argv[optind - 1]);
        if (option == 1) {
            if (n < 2)
                words[n] = optarg;
            n++;
            continue;
        }
        status = take(ret, option == 'h' ? HELP : option);
        if (status != GO_ON)
            return status;
    }
    for (; optind < argc; optind++, n++)
        if (n < 2)
            words[n] = argv[optind];
    if (n != 2)
        return env_replay_say(EXIT_USAGE, "%d files: command line: PARAMS.json and ACTIONS.csv are needed",
                              n);
    if (!ret->bars)
        return env_replay_say(EXIT_USAGE, "no bars: command line: --bars DIR with the bars files");
    if (ret->trades && ret->backend_name && ret->backend != ENV_SCALAR)
        return env_replay_say(EXIT_USAGE, "--trades: --backend %.32s: scalar, which alone tells of trades",
                              ret->backend_name);
    if (ret->trades)
        ret->backend = ENV_SCALAR;
    if (ret->backend == ENV_BEST) /* by its name, for --json */
        for (ret->backend = ENV_AVX512; !env_backend_works(ret->backend);)
            ret->backend--;
    ret->params_path = words[0];
    ret->actions_path = words[1];
    return GO_ON;
}
