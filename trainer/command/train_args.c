#include "trainer/command/train_args.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/state.h"
#include "trainer/command/args.h"

static const char train_help[] =
    "Usage: papertape-trainer train --config F [OPTION]...\n"
    "       papertape-trainer train --check --config F [--json]\n"
    "       papertape-trainer train --list-keys [--json]\n"
    "\n"
    "Trains a policy by PPO as the INI file F says, and prints its progress: JSON lines, or on a\n"
    "terminal a bar. SIGINT and SIGTERM end it after the running update, with a checkpoint.\n"
    "\n"
    "  -c, --config F         what to train on, and how; see --list-keys\n"
    "      --resume CKPT      go on from a checkpoint, or from the newest good one: latest\n"
    "      --output DIR       where checkpoints and policies go, instead of the file's `output`\n"
    "      --overwrite        begin anew where there are checkpoints of this name; the first new one\n"
    "                         takes their place\n"
    "      --changed          with --resume: keys that change neither shapes nor data may differ\n"
    "      --json             JSON lines on a terminal too\n"
    "      --report-every MS  the lines of updates at most so often, and of the last one\n"
    "      --heartbeat MS     a line where there was none for so long, from a thread of its own\n"
    "      --check            all that is wrong with the configuration, by line, and end\n"
    "      --list-keys        every key of a configuration: default, range, meaning\n"
    "      --print-config     the whole configuration, every key, and end\n"
    "      --help             this text\n"
    "\n"
    "Exit status: 0 done or stopped, 1 an error, 2 a wrong command line. See papertape-trainer(1).\n";

static const char plan_help[] =
    "Usage: papertape-trainer plan --config F [--json]\n"
    "\n"
    "Predicts what `train` with this configuration will take: memory, steps a second, time.\n"
    "Measures this machine for a second or two.\n"
    "\n"
    "  -c, --config F         as of train\n"
    "      --json             as JSON\n"
    "      --help             this text\n"
    "\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line. See papertape-trainer(1).\n";

enum {
    RESUME = 256,
    OUTPUT,
    OVERWRITE,
    CHANGED,
    REPORT_EVERY,
    HEARTBEAT,
    JSON,
    LIST_KEYS,
    PRINT_CONFIG,
    CHECK
};

static const struct option train_options[] = {
    {"config", required_argument, NULL, 'c'},
    {"resume", required_argument, NULL, RESUME},
    {"output", required_argument, NULL, OUTPUT},
    {"overwrite", no_argument, NULL, OVERWRITE},
    {"changed", no_argument, NULL, CHANGED},
    {"report-every", required_argument, NULL, REPORT_EVERY},
    {"heartbeat", required_argument, NULL, HEARTBEAT},
    {"json", no_argument, NULL, JSON},
    {"check", no_argument, NULL, CHECK},
    {"list-keys", no_argument, NULL, LIST_KEYS},
    {"print-config", no_argument, NULL, PRINT_CONFIG},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};
static const struct option plan_options[] = {
    {"config", required_argument, NULL, 'c'},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};

struct command_line {
    const char *verb;
    struct train_args *args;
};

enum { MS_MAX = 86400000 };

static int take_ms(const char *option, int *ret)
{
    char *end;
    long value = strtol(optarg, &end, 10);
    if (*optarg < '0' || *optarg > '9' || *end || value > MS_MAX)
        return trainer_args_say(EXIT_USAGE, "bad number: %s %.60s: milliseconds from 0 to %d are right",
                                option, optarg, MS_MAX);
    *ret = (int)value;
    return GO_ON;
}

static int take(void *ctx, int option)
{
    struct command_line *line = ctx;
    struct train_args *args = line->args;
    switch (option) {
    case 'c':
        args->config = optarg;
        return GO_ON;
    case RESUME:
        args->resume = optarg;
        return GO_ON;
    case OUTPUT:
        args->output = optarg;
        return GO_ON;
    case OVERWRITE:
        args->overwrite = true;
        return GO_ON;
    case CHANGED:
        args->changed = true;
        return GO_ON;
    case REPORT_EVERY:
        return take_ms("--report-every", &args->report_every_ms);
    case HEARTBEAT:
        return take_ms("--heartbeat", &args->heartbeat_ms);
    case JSON:
        args->json = true;
        return GO_ON;
    case CHECK:
        args->check = true;
        return GO_ON;
    case LIST_KEYS:
        args->list_keys = true;
        return GO_ON;
    case PRINT_CONFIG:
        args->print_config = true;
        return GO_ON;
    default:
        return trainer_args_say(EXIT_USAGE, "unknown argument: %.200s: --config F is needed; see %s --help",
                                optarg, line->verb);
    }
}

int train_args_parse(const char *verb, int argc, char **argv, struct train_args *ret)
{
    bool plan = strcmp(verb, "plan") == 0;
    const struct args_rules rules = {.verb = verb,
                                     .help = plan ? plan_help : train_help,
                                     .letters = "c:",
                                     .options = plan ? plan_options : train_options,
                                     .take = take};
    *ret = (struct train_args){0};
    int status = trainer_args_parse(&rules, argc, argv, &(struct command_line){verb, ret});
    if (status != GO_ON)
        return status;
    if (ret->overwrite && ret->resume)
        return trainer_args_say(
            EXIT_USAGE, "--overwrite: command line: without --resume: it begins anew; see %s --help", verb);
    if (ret->changed && !ret->resume)
        return trainer_args_say(
            EXIT_USAGE,
            "--changed: command line: with --resume: it is from a checkpoint that keys differ; see "
            "%s --help",
            verb);
    if (!ret->config && !ret->list_keys)
        return trainer_args_say(
            EXIT_USAGE, "no configuration: command line: --config F, an INI file; see %s --help", verb);
    if (ret->output && !*ret->output)
        return trainer_args_say(EXIT_USAGE, "no folder: --output: its name is needed");
    return GO_ON;
}

/* How many processors this process may use. */
static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}

__attribute__((format(printf, 3, 4))) static int config_error(char *err, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, CONFIG_ERROR_MAX, format, args);
    va_end(args);
    return status;
}

static int find_output(const struct train_args *args, struct train_config *config, char *err)
{
    char reason[512];
    struct state_dir state;
    char why[CONFIG_ERROR_MAX];
    if (args->output && train_config_set(config, "training", "output", args->output, why) < 0)
        return config_error(err, EXIT_USAGE, "bad folder: --output: %s", why);
    if (config->output[0])
        return GO_ON;
    if (db_state_dir_find(NULL, &state, reason, sizeof reason) < 0)
        return config_error(err, EXIT_FAILURE,
                            "no folder for checkpoints: %s: [training] output, or --output, would be right",
                            reason);
    snprintf(config->output, sizeof config->output, "%s", state.checkpoints);
    return GO_ON;
}

int train_args_config(const struct train_args *args, struct train_config *ret,
                      char err[static CONFIG_ERROR_MAX])
{
    if (train_config_read(args->config, ret, err) < 0)
        return EXIT_FAILURE;
    if (ret->ppo.threads == 0)
        ret->ppo.threads = processors(); /* a part of the run's identity: checkpoints name it */
    return find_output(args, ret, err);
}
