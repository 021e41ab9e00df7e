/* What `papertape-trainer train` is asked for: an INI file of the sections [training], [network], [ppo] (any
 * of the three takes any key of ppo_params_list()), [environment] (env_params_list()), [data] and [serve].
 * [study] and [search], which make a search of it, are checked here and read by trainer/study/settings.h.
 * docs/training.md and trainer/papertape-trainer.example.ini have every key. Sections and keys that do not
 * exist are refused by line, with the nearest that does. */
#ifndef TRAINER_CONFIG_H
#define TRAINER_CONFIG_H

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

struct config_data {
    char bars[CONFIG_LIST_MAX]; /* files, with commas; or else */
    char state[CONFIG_PATH_MAX];
    char symbols[CONFIG_LIST_MAX]; /* with commas; of files: "" for those of their names */
    char exchange_info[CONFIG_PATH_MAX];
    int64_t interval_ns;            /* 0: the files' */
    char features[CONFIG_PATH_MAX]; /* "": closes and volumes */
    char least_quantities[CONFIG_LIST_MAX];
    /* Bars that open in [from, to), ns since 1970; 0: from the first, to the last. Without a test range
     * nothing is tested. fit: those of train where 0. */
    int64_t fit_from, fit_to, train_from, train_to, test_from, test_to;
};

/* For the co-process alone (docs/serve.md). */
struct config_serve {
    int priority;
    int64_t memory_mib; /* 0: its default */
    double cpu_hours;   /* 0: no end */
    int restarts;
    int64_t hung_s; /* 0: never */
};

struct config {
    char name[CONFIG_WORD_MAX], world[CONFIG_WORD_MAX], preset[CONFIG_WORD_MAX];
    char output[CONFIG_PATH_MAX];             /* "": the state's checkpoints */
    char tensorboard[CONFIG_PATH_MAX];        /* "": none */
    int64_t checkpoint_every, evaluate_every; /* updates; 0: at the end only; never */
    int checkpoint_keep, evaluate_episodes;
    struct ppo_params ppo;
    char env_preset[CONFIG_WORD_MAX];
    struct env_params env; /* autoreset same_step */
    struct config_data data;
    struct config_serve serve;
    int64_t now_ns; /* what `now` in times of [data] is, ns since 1970; 0: the clock */
};

/* train_to, or what stands for it: test_from where that comes after train_from, or INT64_MAX. */
int64_t config_train_end(const struct config_data *data);

bool config_trades(const struct config *config); /* is the world a market? */

/* The presets `default` and `market`, and every other key's default. */
void config_defaults(struct config *ret);

/* Reads and checks. 0; -EINVAL, -ERANGE, -ENOENT for what the file says: err is "FILE:LINE: [section] key: …"
 * where a line is to blame; errors of opening it; -ENOMEM. *ret is as it was on failure. */
int config_read(const char *path, struct config *ret, char err[static CONFIG_ERROR_MAX]);
int config_parse(const char *name, const char *text, struct config *ret, char err[static CONFIG_ERROR_MAX]);

/* One key as a line of the file sets it; config_check() looks at how they fit together. */
int config_set(struct config *config, const char *section, const char *key, const char *text,
               char err[static CONFIG_ERROR_MAX]);
int config_check(const struct config *config, char err[static CONFIG_ERROR_MAX]);

/* The value of a key as config_set() reads it; -ENOENT, -ENAMETOOLONG. */
int config_get(const struct config *config, const char *section, const char *key, char *buf, size_t cap);

/* Every key, in the order of the file: of [training], [network], [ppo], [environment], [data], [serve],
 * where it belongs. */
struct config_key {
    const char *section, *name, *summary;
    const char *words; /* of choices; "" of text; NULL for numbers */
    double min, max;
    bool whole, range; /* range: a number, or low..high */
    bool may_change;   /* by a run that resumes */
    bool tunable;      /* where it is asked to take changes over (--changed): no shapes, no data */
};
size_t config_keys(struct config_key *ret, size_t cap); /* how many there are */

/* The whole configuration as a file that config_parse() reads back as the same; for a world that is no market
 * without [environment] and [data]. For free(); NULL without memory. */
char *config_text(const struct config *config);

/* Can a run of `now` go on from one of `before`? `changed` (NULL: none may) is given a sentence for each
 * tunable key that differs. 0; -EINVAL for the first key that may not change: both values in err. */
int config_continues(const struct config *before, const struct config *now,
                     void (*changed)(void *ctx, const char *words), void *ctx,
                     char err[static CONFIG_ERROR_MAX]);

#endif
