/* A study of a strategy: [study] strategy names it, [search] its parameters, [account] what stays: the terms
 * of engine/backtest/terms.h, by their names, and parameters that are not searched, as strategy.NAME. Nothing
 * is trained: a trial is a backtest of each tested block. */
#ifndef TRAINER_STUDY_RULES_H
#define TRAINER_STUDY_RULES_H

#include "engine/backtest/terms.h"
#include "strategy/params.h"
#include "trainer/config.h"
#include "trainer/study/space.h"

struct config_file;
struct strategy;

#define RULES_PARAM "strategy." /* before a parameter's name in [account], as in papertaped.ini */

struct study_rules {
    char name[STRATEGY_NAME_MAX];    /* as the file names it; "": trials are trainings */
    const struct strategy *strategy; /* NULL likewise; lives as long as the program */
    double params[STRATEGY_PARAMS_MAX];
    bool given[STRATEGY_PARAMS_MAX]; /* by [account] */
    struct backtest_terms terms;
};

void study_rules_init(struct study_rules *rules);

/* Opens the strategy, whose parameters get their defaults; "" is none. Runs the code of one from outside. 0;
 * -errno and why not, and *rules is as it was. */
int study_rules_open(struct study_rules *rules, const char *name, char why[static CONFIG_WHY_MAX]);

/* Reads a line of [account]. 0; -ENOENT for an unknown key, with the nearest; -EINVAL. */
int study_rules_set(struct study_rules *rules, const char *key, const char *text,
                    char err[static CONFIG_ERROR_MAX]);

/* Has [account] a value of that parameter? */
bool study_rules_gives(const struct study_rules *rules, const char *name);

/* The row by which a parameter's values in [search] are read; `ret->name` is the strategy's. False: it has no
 * such parameter. */
bool study_rules_key(const struct strategy *strategy, const char *name, struct config_key *ret);

/* -ENOENT: it has no parameter of that name; the nearest. */
int study_rules_unknown(const struct strategy *strategy, const char *name, char err[static CONFIG_ERROR_MAX]);

/* The parameters with a trial's values in them. -ERANGE: they contradict each other; the sentence has them.
 * -EINVAL: a value that is none of its parameter's, or a process that does not say. */
int study_rules_params(const struct study_rules *rules, const struct space *space, const double *values,
                       double ret[static STRATEGY_PARAMS_MAX], char err[static CONFIG_ERROR_MAX]);

/* The same at ends of the ranges, for their largest needs: number `which` of some that cover each range's two
 * ends. 1, with *ret; 0: these contradict each other; -ENODATA: there are no more. */
int study_rules_ends(const struct study_rules *rules, const struct space *space, int which,
                     double ret[static STRATEGY_PARAMS_MAX]);

/* The terms as rows of [account], of a struct backtest_terms, without fees by class: those are of a venue's,
 * which a study has none of. */
void study_rules_account_keys(struct config_key ret[static BACKTEST_CLASS_FEES]);

/* Would the strategy sell short, by its direction or one that is searched, and the account may not be short?
 * With a sentence on what it does instead. */
bool study_rules_long_only(const struct study_rules *rules, const struct space *space,
                           char words[static CONFIG_ERROR_MAX]);

/* Does the strategy, with some of the values at the ends of the ranges, read a column of a file (col:NAME)? A
 * study has none. With a sentence. */
bool study_rules_reads_columns(const struct study_rules *rules, const struct space *space,
                               char words[static CONFIG_ERROR_MAX]);

/* What the strategy calls itself. */
const char *study_rules_title(const struct study_rules *rules);

/* Calls `put` with every parameter of a strategy, "strategy.fast" of section "account", as strategy_set()
 * reads the same number again. */
bool study_rules_each_param(const struct strategy *strategy, const double *params,
                            bool (*put)(void *ctx, const char *section, const char *key, const char *value),
                            void *ctx);

/* "fast=20 slow=50": every parameter. Returns ret. */
enum { RULES_TEXT_MAX = STRATEGY_PARAMS_MAX * (STRATEGY_PARAM_NAME_MAX + STRATEGY_WORD_MAX + 2) };
const char *study_rules_text(const struct strategy *strategy, const double *params,
                             char ret[static RULES_TEXT_MAX]);

/* Of a file whose [study] has a strategy: adds an error for each section and key that concerns trainings
 * alone, and would have no effect. */
void study_rules_refuse(struct config_file *file);

/* Calls `put` with each of [account]'s settings, as "[account] cash"; with "searched" for what [search] has,
 * and with the hash of a strategy from outside. False: `put` returned that. */
bool study_rules_each(const struct study_rules *rules, const struct space *space,
                      bool (*put)(void *ctx, const char *section, const char *key, const char *value),
                      void *ctx);

#endif
