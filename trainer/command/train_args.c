#include "trainer/command/train_args.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/state.h"
#include "exchange/fail.h"
#include "record/config_key.h"
#include "trainer/command/args.h"
#include "trainer/command/train.h"
#include "trainer/command/train_seeds.h"
#include "trainer/config_table.h"
#include "trainer/study/settings.h"

enum { MS_MAX = 86400000, PLAN_DEVICES_MAX = 64 };

#define AT(member) offsetof(struct train_args, member)

static const struct option_row shared[] = {
    TRAINER_CONFIG(struct train_args, "the configuration, an INI file; see train --list-keys"),
};

static const struct option_row train_options[] = {
    {"resume", "CHECKPOINT",
     "continue from that checkpoint, or with latest from the newest good one of the configuration's name in "
     "output; truncated or altered ones are reported and skipped. On the same backend with as many threads "
     "the bits are those of a run that was never interrupted. total_steps, checkpoint_every, "
     "checkpoint_keep, evaluate_every, evaluate_episodes, patience, tensorboard, output and all of [serve] "
     "may have changed; any other difference is refused without --changed",
     AT(resume)},
    {"output", "DIR",
     "where checkpoints and policies go, instead of the key output; the state's checkpoints folder by "
     "default",
     AT(output)},
    {"overwrite", NULL,
     "start again where output has checkpoints of this name, which is refused otherwise; the first new "
     "checkpoint takes the place of all of them, and the policy is replaced then",
     AT(overwrite)},
    {"changed", NULL,
     "keys may have changed that neither the networks nor the rollouts nor the data have a "
     "shape of (learning_rate, ent_coef, clip_range, epochs, gamma and so on: docs/training.md); each is a "
     "warning, holds from the first iteration after, and is in the next checkpoint",
     AT(changed), .with = "resume"},
    {"seeds", "N",
     "train with N seeds, from the configuration's on, one after the other: policies NAME-sSEED, the best on the rows "
     "of validation also as NAME, and as one result the median return, its range and the verdict on all",
     AT(seeds), .low = 2, .high = TRAIN_SEEDS_MAX, .without = "resume"},
    {"report", "FILE",
     "write a page with pictures to FILE at the end: the verdict, equity against holding, drawdown, exposure, "
     "fills and actions on the rows of testing, learning curves, and what it was trained on",
     AT(report)},
    {"report-every", "MS", "the lines of updates at most so often, and of the last one; all by default",
     AT(report_every_ms), .low = 0, .high = MS_MAX},
    TRAINER_HEARTBEAT(struct train_args),
    {"check", NULL,
     "all that is wrong with the configuration, by line, and end: 1 where there is something; the files that it names are not opened",
     AT(check)},
    {"list-keys", NULL, "every key of a configuration: section, default, range, meaning", AT(list_keys)},
    {"print-config", NULL, "the whole configuration, every key, and end", AT(print_config)},
};

int train_args_check(const struct option_call *call)
{
    const struct train_args *args = call->into;
    if (args->overwrite && args->resume)
        return option_fail(call, EXIT_USAGE, "--overwrite: it starts again: without --resume");
    if (args->output && !*args->output)
        return option_fail(call, EXIT_USAGE, "--output: the name of a folder is needed");
    return EXIT_OK;
}

static const struct option_action train_actions[] = {{.needed = "config,list-keys", .run = trainer_train}};
TRAINER_VERB(train) = {
    .name = "train",
    .words = "a policy, as a configuration says",
    .about = "Trains a policy by PPO as the INI file FILE says, and prints its progress: JSON lines, or on a "
             "terminal a bar. SIGINT and SIGTERM end it after the running update, with a checkpoint.",
    .exits = "0 also: stopped.",
    OPTION_ACTIONS(train_actions),
    OPTION_OPTIONS(train_options),
    OPTION_SHARED(shared),
    .size = sizeof(struct train_args),
};

static const struct config_key device_memory = {
    .name = "device-memory",
    .about = "a device's memory",
    .kind = CONFIG_OWN,
    .min = 0x1p20,
    .max = 0x1p50,
    .read = config_key_read_size,
    .print = config_key_print_size,
    KEY_AT(struct train_args, device_memory),
};

static const struct option_row plan_options[] = {
    {"rows", NULL, "only the sizes, and of a study whether its rows suffice: nothing is measured", AT(rows)},
    {"device-memory", "SIZE",
     "for a device of that memory, as 12GiB, 500MiB or bytes, which need not be here: what learner, environment, "
     "market and driver would hold, whether that fits in memory_cap of it, and how many copies it would train "
     "with; a range of times, predicted from the rates that it states",
     .key = &device_memory},
    {"devices", "N", "for so many of them, which a study's workers share; 1 by default", AT(devices),
     .low = 1, .high = PLAN_DEVICES_MAX, .with = "device-memory"},
};

static const struct option_action plan_actions[] = {{.needed = "config", .run = trainer_plan}};
TRAINER_VERB(plan) = {
    .name = "plan",
    .words = "what that will take: memory, steps a second, time",
    .about =
        "Predicts what `train` with this configuration will take: memory, steps a second, time; what `study` "
        "will, of one with [study] or [search]: trials, splits, rows of their blocks, hours, processor seconds, "
        "memory, or what its rows are too few for. Measures this machine for a second or two.",
    OPTION_ACTIONS(plan_actions),
    OPTION_OPTIONS(plan_options),
    OPTION_SHARED(shared),
    .size = sizeof(struct train_args),
};

/* How many processors this process may use. */
static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}

#define config_error(err, code, ...) fail_with(code, err, CONFIG_ERROR_MAX, __VA_ARGS__)

static int find_output(const struct train_args *args, struct train_config *config, char *err)
{
    char reason[512];
    struct state_dir state;
    char why[CONFIG_ERROR_MAX];
    if (args->output && train_config_set(config, "training", "output", args->output, why) < 0)
        return config_error(err, EXIT_USAGE, "bad folder: --output: %.900s", why);
    if (config->output[0])
        return GO_ON;
    if (db_state_dir_find(NULL, &state, reason, sizeof reason) < 0)
        return config_error(err, EXIT_FAILURE,
                            "no folder for checkpoints: %s: [training] output, or --output, would be right",
                            reason);
    snprintf(config->output, sizeof config->output, "%s", state.checkpoints);
    return GO_ON;
}

/* A study's other sections can be trained as they are; of a study of a strategy there are none. */
static int read_config(const char *path, struct train_config *ret, char *err)
{
    struct study_settings settings;
    bool is_study;
    int r = train_config_read_text(path, NULL, 0, ret, &settings, &is_study, err);
    if (r < 0)
        return EXIT_FAILURE;
    const bool trains = !settings.rules.strategy;
    study_settings_finish(&settings);
    return trains ? GO_ON
                  : config_error(err, EXIT_FAILURE,
                                 "%.300s: [study] strategy: it trains nothing: papertape-trainer study NAME "
                                 "--config %.300s is right",
                                 path, path);
}

int train_args_config(const struct train_args *args, struct train_config *ret,
                      char err[static CONFIG_ERROR_MAX])
{
    int status = read_config(args->config, ret, err);
    if (status != GO_ON)
        return status;
    if (ret->ppo.threads == 0)
        ret->ppo.threads = processors(); /* a part of the run's identity: checkpoints name it */
    return find_output(args, ret, err);
}
