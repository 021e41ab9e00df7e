/* What a configuration trains and tests on: the market's bars and features, or a built-in world. */
#ifndef TRAINER_TRAINING_SOURCE_H
#define TRAINER_TRAINING_SOURCE_H

#include "engine/market/market.h"
#include "strategy/policy/policy.h"
#include "trainer/config.h"
#include "trainer/data.h"
#include "trainer/ppo/world.h"
#include "trainer/training/ranges.h"

enum { SOURCE_ERROR_MAX = TRAINER_DATA_ERROR_MAX };

/* What a policy is judged by: the rows that choose it, or those that nothing is chosen by. */
enum source_part { SOURCE_VALIDATION, SOURCE_TEST, SOURCE_PARTS };

struct calendar_file; /* exchange/calendar_file.h */
struct training_source {
    const struct train_config *config; /* the caller's */
    struct market *market;             /* NULL: a world that is built in */
    struct source_rows train, fit;
    struct calendar_file *calendar;   /* [data] calendar, or that of a state's symbols; NULL: none */
    char zone_note[MARKET_ERROR_MAX]; /* "", or a line on bars whose times fit another zone better */
    double *least;                    /* [n_symbols] units, or NULL: 0 each */
    struct trainer_data *train_data;
    struct env_market *train_market;
    struct source_judging {
        struct source_rows rows; /* to 0: there are none */
        struct trainer_data *data;
        struct env_market *market;
    } judging[SOURCE_PARTS];
};

/* Reads the bars and finds the rows; `whole`: all that [data] names are those of training, as a study divides
 * them by itself. `config` must outlive it. 0, for training_source_close(); -EINVAL and errors of opening
 * with a sentence: a file that is missing or bad by its name; errors of training_ranges_find(). */
int training_source_load(const struct train_config *config, bool whole, struct training_source *ret,
                         char err[static SOURCE_ERROR_MAX]);

/* The same of `whole`, but rows lie on the clock: with a calendar, too, nights are missing bars, as in a
 * backtest. */
int training_source_load_clock(const struct train_config *config, struct training_source *ret,
                               char err[static SOURCE_ERROR_MAX]);

/* Does the state that [data] names have its symbols, and (`bars`) bars of its interval? 0, also where it
 * names no state or its database cannot be read now; -EINVAL with a sentence on the key: which are there. */
int training_source_check_symbols(const struct train_config *config, bool bars,
                                  char err[static SOURCE_ERROR_MAX]);

/* Is one of the files that [data] bars names not there, or not readable? With a sentence. */
bool training_source_lacks_bars(const struct train_config *config, char words[static SOURCE_ERROR_MAX]);

/* The market's calendar, with days, and its name; NULL: it trades at all times. */
const struct trading_calendar *training_source_days(const struct training_source *source);
const char *training_source_calendar(const struct training_source *source);

/* Computes the features and makes the markets that environments are made of. */
int training_source_features(struct training_source *source, char err[static SOURCE_ERROR_MAX]);

/* A world of `copies`, in the rows of training; or to judge a policy, of one episode each: in the rows of a
 * part, or, of a world that is built in, with draws of its own. For ppo_world_destroy(), before
 * training_source_close(). */
int training_source_world(const struct training_source *source, size_t copies, struct ppo_world *ret,
                          char err[static SOURCE_ERROR_MAX]);
/* One copy, of ENV_SCALAR, which reports its trades. */
int training_source_test_env(const struct training_source *source, enum source_part part, struct env **ret,
                             char err[static SOURCE_ERROR_MAX]);
int training_source_test_world(const struct training_source *source, size_t copies, struct ppo_world *ret,
                               char err[static SOURCE_ERROR_MAX]);

/* Parameters by which a policy is tested: one episode over all rows, ranges at their middles. */
void training_source_test_params(struct env_params *params);

/* Is there anything to judge a policy by? A world that is built in tests, and has no validation. */
bool training_source_judges(const struct training_source *source, enum source_part part);
const char *training_source_part_name(enum source_part part); /* "validation", "test" */

/* Of all that it holds, and of one market (NULL: 0), which a device holds too. */
size_t training_source_bytes(const struct training_source *source);
void training_source_close(struct training_source *source); /* fine on a zeroed one */

#endif
