#include "trainer/config_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define AT(field)       .offset = offsetof(struct config, field), .size = sizeof(((struct config *)0)->field)
#define TEXT(field)     .kind = CONFIG_TEXT, AT(field)
#define TIME(field)     .kind = CONFIG_TIME, AT(field)
#define WHOLE_TO(most)  .kind = CONFIG_WHOLE, .max = most
#define HOURS_A_CENTURY 876000

const struct config_row config_table[] = {
    {"training", "name", "of its files: letters, digits, - _ .", .kind = CONFIG_NAME, AT(name)},
    {"training", "world", "market, or one that is built in: cartpole, acrobot, pendulum, probe-…",
     .kind = CONFIG_NAME, AT(world)},
    {"training", "preset", "of the keys of [training], [network] and [ppo]: default, reference-4080",
     .kind = CONFIG_PRESET, AT(preset)},
    {"training", "output", "folder of checkpoints and policies; empty: checkpoints/ of the state",
     TEXT(output), .may_change = true},
    {"training", "checkpoint_every", "updates between checkpoints; 0: at the end only", WHOLE_TO(1e9),
     AT(checkpoint_every), .may_change = true},
    {"training", "checkpoint_keep", "checkpoints that are kept", .kind = CONFIG_WHOLE, .min = 1, .max = 1e6,
     AT(checkpoint_keep), .may_change = true},
    {"training", "tensorboard", "folder for TensorBoard's event files; empty: none", TEXT(tensorboard),
     .may_change = true},
    {"training", "evaluate_every", "updates between evaluations; 0: at the end only", WHOLE_TO(1e9),
     AT(evaluate_every), .may_change = true},
    {"training", "evaluate_episodes", "episodes of an evaluation of a world that is no market; 0: none",
     WHOLE_TO(1e6), AT(evaluate_episodes), .may_change = true},
    {"environment", "preset", "of the keys of [environment]: reference, market, day-trade",
     .kind = CONFIG_PRESET, AT(env_preset)},
    {"data", "bars", "bars files, with commas, one a symbol", TEXT(data.bars)},
    {"data", "state", "state folder whose database has the bars, instead", TEXT(data.state)},
    {"data", "symbols", "with commas; of files: empty for those of their names", TEXT(data.symbols)},
    {"data", "exchange_info", "the venue's exchangeInfo, for lots and ticks; empty: as digits show",
     TEXT(data.exchange_info)},
    {"data", "interval", "of the bars, as 5m; empty: the files'", .kind = CONFIG_INTERVAL,
     AT(data.interval_ns)},
    {"data", "features", "market14, wide110 or the file of a set; empty: closes and volumes",
     TEXT(data.features)},
    {"data", "least_quantities", "least that is traded of each symbol, units, with commas; empty: 0",
     TEXT(data.least_quantities)},
    {"data", "fit_from", "first bar that features are fitted on; empty: train_from", TIME(data.fit_from)},
    {"data", "fit_to", "the bar after the last of them; empty: train_to", TIME(data.fit_to)},
    {"data", "train_from", "first bar of training; empty: the first there is", TIME(data.train_from)},
    {"data", "train_to", "the bar after the last of training; empty: to test_from, or all",
     TIME(data.train_to)},
    {"data", "test_from", "first bar of evaluations; empty, with test_to: none", TIME(data.test_from)},
    {"data", "test_to", "the bar after the last of them; empty: to the end", TIME(data.test_to)},
    {"serve", "priority", "in the co-process's queue: higher first", .kind = CONFIG_WHOLE, .min = -100,
     .max = 100, AT(serve.priority), .may_change = true},
    {"serve", "memory_mib", "most memory of its process, MiB; 0: as the co-process allows", WHOLE_TO(1 << 24),
     AT(serve.memory_mib), .may_change = true},
    {"serve", "cpu_hours", "most processor time, of all its processes, hours; 0: no end",
     .kind = CONFIG_NUMBER, .max = HOURS_A_CENTURY, AT(serve.cpu_hours), .may_change = true},
    {"serve", "restarts", "times in a row that it is begun again by itself, without a checkpoint in between",
     WHOLE_TO(1e6), AT(serve.restarts), .may_change = true},
    {"serve", "hung_s",
     "a worker that has stalled for so many seconds is killed, as if it had crashed; 0: never",
     WHOLE_TO(604800), AT(serve.hung_s), .may_change = true},
};
const size_t config_table_n = sizeof config_table / sizeof *config_table;

const char *config_home(const char *ppo_key)
{
    static const char *const training[] = {"total_steps", "seed",    "device",
                                           "precision",   "threads", "memory_cap"};
    static const char *const network[] = {"policy_layers", "value_layers", "shared_layers", "layer_norm",
                                          "activation",    "recurrent",    "sequence",      "log_std_init",
                                          "log_std_min",   "log_std_max",  "policy_gain"};
    for (size_t i = 0; i < sizeof training / sizeof *training; i++)
        if (strcmp(ppo_key, training[i]) == 0)
            return "training";
    for (size_t i = 0; i < sizeof network / sizeof *network; i++)
        if (strcmp(ppo_key, network[i]) == 0)
            return "network";
    return "ppo";
}

bool config_is_tunable(const char *ppo_key)
{
    static const char *const names[] = {
        "adam_beta1",  "adam_beta2",       "adam_epsilon",  "bad_updates",  "bounded",
        "clip_range",  "clip_range_final", "clip_range_vf", "clip_rewards", "device",
        "ent_coef",    "ent_coef_final",   "entropy_bound", "epochs",       "gae_lambda",
        "gamma",       "learning_rate",    "log_std_max",   "log_std_min",  "lr_final",
        "lr_schedule", "max_grad_norm",    "memory_cap",    "minibatch",    "normalise_advantages",
        "precision",   "target_kl",        "threads",       "value_bound",  "vf_coef",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(ppo_key, names[i]) == 0)
            return true;
    return false;
}

bool config_is_ppo_section(const char *section)
{
    return strcmp(section, "training") == 0 || strcmp(section, "network") == 0 || strcmp(section, "ppo") == 0;
}

bool config_is_study_section(const char *section)
{
    return strcmp(section, "study") == 0 || strcmp(section, "search") == 0;
}

bool config_is_market_section(const char *section)
{
    return strcmp(section, "environment") == 0 || strcmp(section, "data") == 0 ||
           config_is_study_section(section);
}

int config_say(char *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, CONFIG_ERROR_MAX, format, args);
    va_end(args);
    return code;
}
