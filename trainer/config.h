/* The configuration of `papertape-trainer train`: an INI file of the sections [training], [network], [ppo]
 * (any of the three takes any key of ppo_params_list()), [environment] (env_params_list()), [data] and
 * [serve]. [study] and [search], which make it a study, are checked here and read by
 * trainer/study/settings.h. docs/training.md and papertape-trainer.ini(5) have every key. Unknown sections
 * and keys are refused by line, with the nearest known one. */
#ifndef TRAINER_CONFIG_H
#define TRAINER_CONFIG_H

#include "record/config_key.h"
#include "trainer/env/params.h"
#include "trainer/ppo/params.h"

enum {
    CONFIG_ERROR_MAX = 1024,
    CONFIG_WORD_MAX = 64,
    CONFIG_PATH_MAX = 1024,
    CONFIG_LIST_MAX = 8192,
    CONFIG_LINE_MAX = 8448, /* the longest value and its key */
};
#define CONFIG_MARKET "market" /* the world that trades; others are built in, ppo_world_builtin() */

struct train_config_data {
    char bars[CONFIG_LIST_MAX]; /* files, separated by commas; or else */
    char state[CONFIG_PATH_MAX];
    char symbols[CONFIG_LIST_MAX]; /* separated by commas; of files: "" for those of their names */
    char exchange_info[CONFIG_PATH_MAX];
    char lots[CONFIG_LIST_MAX]; /* of files' symbols: one for all, or one each; "": as their digits show */
    int64_t interval_ns;        /* 0: the files' */
    char calendar[CONFIG_PATH_MAX]; /* exchange/calendar_file.h; "": at all times */
    char zone[CONFIG_WORD_MAX];     /* of the files' times; "": UTC */
    char features[CONFIG_PATH_MAX]; /* "": closes and volumes */
    unsigned session_features;      /* strategy/policy/session_columns.h; 0: none */
    char least_quantities[CONFIG_LIST_MAX];
    /* Bars that open in [from, to), ns since 1970; 0: from the first, to the last. fit: those of train where
     * 0. Where train_config_divides(), the ranges are shares of the bars [train_from, to), the newest for
     * testing; else a range without `from` is none. */
    int64_t fit_from, fit_to, train_from, train_to, validation_from, validation_to, test_from, test_to, to;
    double test_share, validation_share;
    int64_t purge_bars; /* between two ranges; -1: as training_purge() says */
};

/* For the co-process alone (docs/serve.md). */
struct train_config_serve {
    int priority;
    int64_t memory_mib; /* 0: its default */
    double cpu_hours;   /* 0: no end */
    int restarts;
    int64_t hung_s; /* 0: never */
};

/* Which policy is kept: the best on the rows of validation, the last where there are none; or the last. */
enum train_keep { TRAIN_KEEP_BEST, TRAIN_KEEP_LAST };

struct train_config {
    char name[CONFIG_WORD_MAX], world[CONFIG_WORD_MAX], preset[CONFIG_WORD_MAX];
    char output[CONFIG_PATH_MAX];             /* "": the state's checkpoints */
    char tensorboard[CONFIG_PATH_MAX];        /* "": none */
    int64_t checkpoint_every, evaluate_every; /* every so many updates; 0: at the end only; of
                                               * evaluations -1: auto */
    int checkpoint_keep, evaluate_episodes;
    enum train_keep keep;
    int patience; /* validations without a better one, after which it ends; 0: it does not */
    struct ppo_params ppo;
    char env_preset[CONFIG_WORD_MAX];
    struct env_params env; /* autoreset same_step */
    struct train_config_data data;
    struct train_config_serve serve;
    int64_t now_ns; /* what `now` in times of [data] is, ns since 1970; 0: the clock */
};

/* No range is given by its times, so that they follow from the shares. */
bool train_config_divides(const struct train_config_data *data);

/* train_to, or its default: the start of validation or of testing, where that comes after train_from, or the
 * end of what is used, or INT64_MAX. */
int64_t train_config_train_end(const struct train_config_data *data);

/* validation_to, or its default: test_from where that comes later, or the end of what is used, or INT64_MAX.
 */
int64_t train_config_validation_end(const struct train_config_data *data);

bool train_config_trades(const struct train_config *config); /* is the world a market? */

/* The presets `default` and `market`, and every other key's default. */
void train_config_defaults(struct train_config *ret);

/* Reads and checks. 0; -EINVAL for the file's content: err is the first error, "FILE:LINE: [section] key: …"
 * where it has a line; errors of opening it; -ENOMEM. *ret is as it was on failure. */
int train_config_read(const char *path, struct train_config *ret, char err[static CONFIG_ERROR_MAX]);
int train_config_parse(const char *name, const char *text, struct train_config *ret,
                       char err[static CONFIG_ERROR_MAX]);

/* Everything that is wrong, by line: `line` is 0 where there is none (a key
 * that is missing), `section` and `key` are "" where there is none; all are UTF-8 without control characters.
 * A key whose own value is wrong is named once, not again for its inconsistencies; keys below a wrong heading
 * are not checked. 0: there is none, and *ret (NULL: not wanted) is the configuration; else how many there
 * are, or -ENOMEM. */
int train_config_errors(const char *name, const char *text, struct train_config *ret,
                        void (*error)(void *ctx, int line, const char *section, const char *key,
                                      const char *message),
                        void *ctx);

/* Sets one key as a line of the file does; train_config_check() checks that they are consistent. */
int train_config_set(struct train_config *config, const char *section, const char *key, const char *text,
                     char err[static CONFIG_ERROR_MAX]);
int train_config_check(const struct train_config *config, char err[static CONFIG_ERROR_MAX]);

/* Of a training, not a study: a sentence on what is valid, and probably not meant; false: there is no such.
 */
bool train_config_warns(const struct train_config *config, char words[static CONFIG_ERROR_MAX]);

/* Of a training or a study whose policies can be evaluated, and neither backtested nor promoted: a sentence
 * on why, and what would be right; false: they can. */
bool train_config_untradable(const struct train_config *config, char words[static CONFIG_ERROR_MAX]);

/* The value of a key as train_config_set() reads it; -ENOENT, -ENAMETOOLONG. */
int train_config_get(const struct train_config *config, const char *section, const char *key, char *buf,
                     size_t cap);

/* Every key, in the order of the file: of [training], [network], [ppo], [environment], [data], [serve], where
 * it belongs, as rows of a struct train_config. */
const struct config_key *train_config_keys(size_t *ret_n);

/* The whole configuration as a file that train_config_parse() reads back as the same; for a world that is no
 * market without [environment] and [data]. For free(); NULL without memory. */
char *train_config_text(const struct train_config *config);

/* Can a run of `now` continue one of `before`? `changed` (NULL: no key may differ) receives a sentence for
 * each tunable key that differs. 0; -EINVAL for the first key that may not change: both values in err. */
int train_config_continues(const struct train_config *before, const struct train_config *now,
                           void (*changed)(void *ctx, const char *words), void *ctx,
                           char err[static CONFIG_ERROR_MAX]);

#endif
