#include "trainer/command/study_args.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "trainer/command/args.h"
#include "trainer/study/pool.h"

static const char help[] =
    "Usage: papertape-trainer study NAME --config F [OPTION]...\n"
    "\n"
    "Searches for the hyper-parameters of a training: trials with other values of what [search] of\n"
    "the INI file F says, each judged on bars that it was not trained on, by processes beside one\n"
    "another, kept in Optuna's own tables. A study of that name goes on. At the end its best policy\n"
    "is proposed. SIGINT and SIGTERM end it within seconds; trials that ran are tried again then.\n"
    "\n"
    "  -c, --config F         what to train on, and what to search; see train --list-keys\n"
    "      --storage URL      sqlite:///F, or a file; by default studies.db of the state\n"
    "      --state DIR        the state directory\n"
    "      --trials N         of all workers together, instead of the file's `trials`\n"
    "      --workers N        processes, instead of the file's `workers`; 0: as many as fit\n"
    "      --seed N           instead of the file's [study] `seed`\n"
    "      --memory-mib N     for all processes together, where as many as fit are begun\n"
    "      --resume           only go on with a study; without --config as that one says\n"
    "      --json             JSON lines on a terminal too\n"
    "      --heartbeat MS     a line where there was none for so long\n"
    "      --help             this text\n"
    "\n"
    "Exit status: 0 done or stopped, 1 an error, 2 a wrong command line. See papertape-trainer(1).\n";

enum { STORAGE = 256, STATE, TRIALS, WORKERS, SEED, MEMORY, RESUME, JSON, HEARTBEAT };
enum { TRIALS_MAX = 1000000, MS_MAX = 86400000, MEMORY_MAX = 1 << 24, NAME_BYTES_MAX = 200 };

static const struct option options[] = {
    {"config", required_argument, NULL, 'c'},
    {"storage", required_argument, NULL, STORAGE},
    {"state", required_argument, NULL, STATE},
    {"trials", required_argument, NULL, TRIALS},
    {"workers", required_argument, NULL, WORKERS},
    {"seed", required_argument, NULL, SEED},
    {"memory-mib", required_argument, NULL, MEMORY},
    {"resume", no_argument, NULL, RESUME},
    {"json", no_argument, NULL, JSON},
    {"heartbeat", required_argument, NULL, HEARTBEAT},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};

/* It names a folder, too. */
static bool name_is_good(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-_.@:+", *p))
            return false;
    return *name && *name != '.' && strlen(name) <= NAME_BYTES_MAX;
}

static int take_name(struct study_args *args)
{
    if (args->name)
        return trainer_args_say(EXIT_USAGE, "unknown argument: %.200s: one name is right; see study --help",
                                optarg);
    args->name = optarg;
    if (!name_is_good(args->name))
        return trainer_args_say(
            EXIT_USAGE,
            "bad name: %.200s: up to %d letters, digits, - _ . @ : and +, not with a . first, are right",
            args->name, NAME_BYTES_MAX);
    return GO_ON;
}

static int take_whole(const char *option, uint64_t least, uint64_t most, int *ret)
{
    uint64_t value;
    int status = trainer_args_whole(option, optarg, least, most, &value);
    if (status == GO_ON)
        *ret = (int)value;
    return status;
}

static int take(void *ctx, int option)
{
    struct study_args *args = ctx;
    uint64_t seed;
    int status;
    switch (option) {
    case 'c':
        args->config = optarg;
        return GO_ON;
    case STORAGE:
        args->storage = optarg;
        return GO_ON;
    case STATE:
        args->state = optarg;
        return GO_ON;
    case TRIALS:
        return take_whole("trials", 1, TRIALS_MAX, &args->trials);
    case WORKERS:
        return take_whole("workers", 0, POOL_MAX, &args->workers);
    case SEED:
        status = trainer_args_whole("seed", optarg, 0, UINT64_C(1) << 53, &seed);
        args->seed = status == GO_ON ? (int64_t)seed : -1;
        return status;
    case MEMORY:
        return take_whole("memory-mib", 1, MEMORY_MAX, &args->memory_mib);
    case RESUME:
        args->resume = true;
        return GO_ON;
    case JSON:
        args->json = true;
        return GO_ON;
    case HEARTBEAT:
        return take_whole("heartbeat", 0, MS_MAX, &args->heartbeat_ms);
    default:
        return take_name(args);
    }
}

int trainer_study_args_parse(int argc, char **argv, struct study_args *ret)
{
    const struct args_rules rules = {
        .verb = "study", .help = help, .letters = "c:", .options = options, .take = take};
    *ret = (struct study_args){.trials = -1, .workers = -1, .seed = -1};
    int status = trainer_args_parse(&rules, argc, argv, ret);
    if (status != GO_ON)
        return status;
    if (!ret->name)
        return trainer_args_say(EXIT_USAGE, "no study: command line: its name is needed; see study --help");
    if (!ret->config && !ret->resume)
        return trainer_args_say(
            EXIT_USAGE,
            "no configuration: command line: --config F, an INI file with [search], or --resume of a "
            "study; see study --help");
    return GO_ON;
}
