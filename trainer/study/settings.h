/* [study] and [search] of a training's configuration: what makes it a study. docs/studies.md and
 * papertape-trainer.ini(5) have every key; the example's [search] is the default search space. In
 * [search] a key of [training], [network], [ppo] or [environment] (gamma: of both that have it), or
 * net_dimension, has a range `A..B [log] [step S] [hourly]` or choices `A | B`; numbers may be powers, 2^-16.
 * `hourly`: times the bars of an hour, by [data] interval (1 where it is unset, or an hour or more). */
#ifndef TRAINER_STUDY_SETTINGS_H
#define TRAINER_STUDY_SETTINGS_H

#include "strategy/policy/ensemble.h"
#include "trainer/artifacts/artifact.h"
#include "trainer/config.h"
#include "trainer/study/gate.h"
#include "trainer/study/pruner.h"
#include "trainer/study/rules.h"
#include "trainer/study/sampler.h"
#include "trainer/study/split.h"

/* What the objective takes of each split; and of these, over the splits. */
enum study_objective { STUDY_EXCESS, STUDY_SHARPE, STUDY_RETURN }; /* excess: Sharpe less that of holding */
enum study_average { STUDY_MEAN, STUDY_MEDIAN };

struct study_settings {
    struct study_rules rules; /* of a study of a strategy; zeroed name: trials are trainings */
    struct sampler_options sampler;
    struct pruner_options pruner;
    int trials;               /* COMPLETE, PRUNED and FAIL together, of all workers */
    int workers;              /* processes; 0: as many as cores and memory allow */
    struct study_split split; /* validation = cpcv:5,2 | kfold:5 | walk-forward:5 */
    bool split_auto;          /* validation = auto: by the rows, study_fit_auto(); cpcv:5,2 until then */
    int64_t purge_bars, embargo_bars; /* -1: auto */
    double holdout; /* share of the rows, the newest, that the study never sees: the gates' */
    enum study_objective objective;
    enum study_average average;
    double deviation_weight;                     /* 0.1: of the splits' deviation in the objective */
    double drawdown_penalty, volatility_penalty; /* of the objective; 0 */
    double heartbeat_s, grace_s;                 /* 10, 60 */
    int retries;                                 /* 3 */
    int ensemble; /* number of best trials proposed together; 1: the best alone */
    enum ensemble_combine combine;
    int64_t every_ns;                 /* how often the co-process runs it again; 0: once */
    int64_t expires_ns;               /* how long after admission its policy retires; 0: never */
    struct gate_limits gates;         /* that the proposal reports; the daemon's [arena] decides */
    char artifacts[ARTIFACT_URL_MAX]; /* where machines share trials' files; "": nowhere, or where the study
                                         says */
    bool default_space; /* space = default: adds the keys of the default space that [search] lacks */
    struct space space; /* [search], and the default space where it applies */
};

/* Without a space. */
struct study_settings study_settings_defaults(void);

/* Reads the text of a configuration: config becomes what train_config_parse() makes of it. *ret_is_study: it
 * has a section [study], [search] or [account]; without one settings are the defaults. Errors by line, as
 * train_config_parse(). For study_settings_finish(). */
int study_settings_parse(const char *name, const char *text, struct train_config *ret_config,
                         struct study_settings *ret, bool *ret_is_study, char err[static CONFIG_ERROR_MAX]);
void study_settings_finish(struct study_settings *settings); /* fine on a zeroed one */

/* The same with `now` in times of [data] being `now_ns` (0: the clock, whole seconds): a run's workers, and a
 * process that continues a study, must see the same bars. The configuration's now_ns keeps that value. */
int study_settings_parse_at(const char *name, const char *text, int64_t now_ns,
                            struct train_config *ret_config, struct study_settings *ret, bool *ret_is_study,
                            char err[static CONFIG_ERROR_MAX]);

/* Every key of [study], in the order of the file, as rows of a struct study_settings; and the text of a
 * value. */
const struct config_key *study_settings_keys(size_t *ret_n);
int study_settings_get(const struct study_settings *settings, const char *key, char *buf, size_t cap);

/* The sections [study] and [search] that the dashboard offers for a first study: one that ends within minutes
 * on a few hundred bars with small networks. */
const char *study_settings_first(void);

/* The default search space: keys of [search] and their ranges as text. */
struct study_default {
    const char *key, *range, *summary;
};
const struct study_default *study_settings_default_space(size_t *ret_n);

/* Puts a trial's values into a copy of the configuration. Names are keys of [training], [network], [ppo] and
 * [environment], and net_dimension: the width of every hidden layer. A minibatch is at most the rollout that
 * it is taken from (copies * steps); where there is a recurrent layer, steps and minibatch are whole
 * sequences. -EINVAL: train_config_check() refuses their combination; the sentence names them. */
int study_settings_apply(const struct train_config *base, const struct space *space, const double *values,
                         struct train_config *ret, char err[static CONFIG_ERROR_MAX]);

/* A value as the configuration's text has it. -EINVAL: none of the distribution. */
enum { SETTINGS_VALUE_MAX = 512 };
int study_settings_value_text(const struct distribution *distribution, double value,
                              char buf[static SETTINGS_VALUE_MAX]);

#endif
