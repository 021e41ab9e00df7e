#include "trainer/config_table.h"

#include <string.h>

#define AT(field)       KEY_AT(struct train_config, field)
#define FREE            .marks = CONFIG_KEY_FREE
#define NAME(field)     .kind = CONFIG_NAME, AT(field)
#define TEXT(field)     KEY_TEXT, AT(field)
#define PRESET(field)   KEY_OWN(train_config_read_preset, NULL), AT(field)
#define TIME(field)     KEY_OWN(train_config_read_time, train_config_print_time), AT(field)
#define SESSION(field)  KEY_OWN(train_config_read_session, train_config_print_session), AT(field)
#define HOURS_A_CENTURY 876000

const struct config_key train_config_table[] = {
    {"training", "name", "of its files: letters, digits, - _ .", "training", NAME(name)},
    {"training", "world", "market, or one that is built in: cartpole, acrobot, pendulum, probe-…",
     CONFIG_MARKET, NAME(world)},
    {"training", "preset", "of the keys of [training], [network] and [ppo]: default, reference-4080",
     "default", PRESET(preset)},
    {"training", "output", "folder of checkpoints and policies; empty: checkpoints/ of the state", "",
     TEXT(output), FREE},
    {"training", "checkpoint_every", "updates between checkpoints; 0: at the end only", "50",
     KEY_WHOLE(0, 1e9), AT(checkpoint_every), FREE},
    {"training", "checkpoint_keep", "checkpoints that are kept", "3", KEY_WHOLE(1, 1e6), AT(checkpoint_keep),
     FREE},
    {"training", "tensorboard", "folder for TensorBoard's event files; empty: none", "", TEXT(tensorboard),
     FREE},
    {"training", "evaluate_every",
     "updates between evaluations on the rows of validation, or of testing where there are none; auto: 10 of "
     "the former, else 0; 0: at the end only",
     "auto", KEY_WHOLE(0, 1e9), .none = "auto", AT(evaluate_every), FREE},
    {"training", "evaluate_episodes", "episodes of an evaluation of a world that is no market; 0: none", "20",
     KEY_WHOLE(0, 1e6), AT(evaluate_episodes), FREE},
    {"training", "keep", "the policy that is written: the best on the rows of validation, or the last",
     "best", KEY_WORDS("best last"), AT(keep)},
    {"training", "patience",
     "evaluations on the rows of validation without a better one, after which it ends; 0: never", "0",
     KEY_WHOLE(0, 1e6), AT(patience), FREE},
    {"environment", "preset", "of the keys of [environment]: reference, market, cappuccino, day-trade",
     "market", PRESET(env_preset),
     .more =
         "Another one than market also leaves features empty, and test_share and validation_share 0. With "
         "execution = reference and no preset it is cappuccino."},
    {"data", "bars", "bars files, with commas, one a symbol", "", TEXT(data.bars)},
    {"data", "state", "state folder whose database has the bars, instead", "", TEXT(data.state)},
    {"data", "symbols", "with commas; of files: empty for those of their names", "", TEXT(data.symbols)},
    {"data", "exchange_info", "the venue's exchangeInfo, for lots and ticks; empty: as digits show", "",
     TEXT(data.exchange_info)},
    {"data", "lots",
     "step of quantities of the files' symbols, as 0.000000001: one for all, or with commas one "
     "each; empty: as digits show",
     "", TEXT(data.lots)},
    {"data", "interval", "of the bars, as 5m; empty: the files'", "", KEY_INTERVAL, AT(data.interval_ns)},
    {"data", "calendar",
     "of the market, whose sessions the bars are of: nyse, a file of one, or 24x7; empty: it trades at all "
     "times",
     "", TEXT(data.calendar)},
    {"data", "zone", "the time zone of files' times that name none, as America/New_York; empty: UTC", "",
     TEXT(data.zone)},
    {"data", "features", "market14, wide110 or the file of a set; empty: closes and volumes", "market14",
     TEXT(data.features)},
    {"data", "session_features",
     "of a row's session, with a calendar: pre, regular, post (1 or 0), elapsed (its part that has passed), with "
     "commas; empty: none",
     "", SESSION(data.session_features)},
    {"data", "least_quantities", "least that is traded of each symbol, units, with commas; empty: 0", "",
     TEXT(data.least_quantities)},
    {"data", "fit_from", "first bar that features are fitted on; empty: train_from", "", TIME(data.fit_from)},
    {"data", "fit_to", "the bar after the last of them; empty: train_to", "", TIME(data.fit_to)},
    {"data", "to", "the bar after the last that is used at all; empty: to the end", "", TIME(data.to)},
    {"data", "test_share",
     "the newest share of the bars, by which nothing is chosen, to judge the policy by, unless ranges are "
     "given; 0: none",
     "0.2", KEY_SHARE(0.9), AT(data.test_share)},
    {"data", "validation_share",
     "the share of the bars before those, by which the policy is chosen, unless ranges are given; 0: none",
     "0.2", KEY_SHARE(0.9), AT(data.validation_share)},
    {"data", "purge_bars",
     "left out between two ranges by shares; auto: lookback, the bars that the environment remembers, and 1",
     "auto", KEY_WHOLE(0, 1e6), .none = "auto", AT(data.purge_bars)},
    {"data", "train_from", "first bar of training; empty: the first there is", "", TIME(data.train_from)},
    {"data", "train_to", "the bar after the last of training; empty: to validation_from or test_from, or all",
     "", TIME(data.train_to)},
    {"data", "validation_from", "first bar of validation; empty, with train_to or test_from: none", "",
     TIME(data.validation_from)},
    {"data", "validation_to", "the bar after the last of them; empty: to test_from, or the end", "",
     TIME(data.validation_to)},
    {"data", "test_from", "first bar of testing; empty, with train_to or validation_from: none", "",
     TIME(data.test_from)},
    {"data", "test_to", "the bar after the last of them; empty: to the end", "", TIME(data.test_to)},
    {"serve", "priority", "in the co-process's queue: higher first", "0", KEY_WHOLE(-100, 100),
     AT(serve.priority), FREE},
    {"serve", "memory_mib", "most memory of its process, MiB; 0: as the co-process allows", "0",
     KEY_WHOLE(0, 1 << 24), AT(serve.memory_mib), FREE},
    {"serve", "cpu_hours", "most processor time, of all its processes, hours; 0: no end", "0",
     KEY_NUMBER(0, HOURS_A_CENTURY), AT(serve.cpu_hours), FREE},
    {"serve", "restarts",
     "times in a row that it is restarted automatically, without a checkpoint in between", "5",
     KEY_WHOLE(0, 1e6), AT(serve.restarts), FREE},
    {"serve", "hung_s",
     "a worker that has stalled for so many seconds is killed, as if it had crashed; 0: never", "120",
     KEY_WHOLE(0, 604800), AT(serve.hung_s), FREE},
};
const size_t train_config_table_n = sizeof train_config_table / sizeof *train_config_table;

bool train_config_is_ppo_section(const char *section)
{
    return strcmp(section, "training") == 0 || strcmp(section, "network") == 0 || strcmp(section, "ppo") == 0;
}

bool train_config_is_study_section(const char *section)
{
    return strcmp(section, "study") == 0 || strcmp(section, "search") == 0 || strcmp(section, "account") == 0;
}

bool train_config_is_market_section(const char *section)
{
    return strcmp(section, "environment") == 0 || strcmp(section, "data") == 0 ||
           train_config_is_study_section(section);
}
