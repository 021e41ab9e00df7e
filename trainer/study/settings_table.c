#include "trainer/study/settings_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/config_duration.h"
#include "trainer/config_table.h"
#include "trainer/study/trial.h"

enum { WHY = CONFIG_WHY_MAX };

#define VALUE(kind) \
    static int read_##kind(const struct config_key *key, const char *text, void *base, \
                           char why[static WHY]); \
    static void print_##kind(const struct config_key *key, const void *base, FILE *to)
VALUE(pruner);
VALUE(split);
VALUE(strategy);

#define AT(field)  KEY_AT(struct study_settings, field)
#define OWN(value) KEY_OWN(read_##value, print_##value)
#define BARS       KEY_WHOLE(0, 1e9), .none = "auto"
#define EXACT      0x1p53 /* whole numbers up to here are doubles */
#define MOST       1000000

const struct config_key study_settings_table[] = {
    {"study", "trials", "how many are wanted, of all workers together", "100", KEY_WHOLE(1, MOST),
     AT(trials)},
    {"study", "workers", "processes; 0: as many as cores, or the device's memory, allow", "0",
     KEY_WHOLE(0, 1024), AT(workers)},
    {"study", "space", "default: the default search space, except what [search] has; search: that alone",
     "search", KEY_SWITCH("search default"), AT(default_space)},
    {"study", "strategy",
     "trials are backtests of it, by its name, lib:FILE.so or exec:COMMAND; [search] has its parameters, "
     "[account] its terms; empty: trials are trainings",
     "", OWN(strategy), AT(rules)},
    {"study", "validation",
     "of a trial: cpcv:N,K, kfold:N or walk-forward:N; auto: the first that fits the rows", "auto",
     OWN(split), AT(split)},
    {"study", "purge_bars",
     "left out of training before and after what is tested; auto: what an episode remembers", "auto", BARS,
     AT(purge_bars)},
    {"study", "embargo_bars", "also left out of training after that; auto: the slowest feature's warm-up",
     "auto", BARS, AT(embargo_bars)},
    {"study", "holdout", "share of the rows, the newest, that the study never sees: the gates'", "0.2",
     KEY_NUMBER(0, 0.9), AT(holdout)},
    {"study", "objective",
     "of a split: excess, its Sharpe less that of holding; sharpe; or return, its total return, a share",
     "excess", KEY_WORDS("excess sharpe return"), AT(objective)},
    {"study", "average", "of the splits, by which trials are compared: mean, median", "mean",
     KEY_WORDS("mean median"), AT(average)},
    {"study", "deviation_weight",
     "of the objective: times the deviation of what it takes of the splits, subtracted", "0.1",
     KEY_NUMBER(0, 100), AT(deviation_weight)},
    {"study", "drawdown_penalty", "of the objective: times the mean drawdown, a share, subtracted", "0",
     KEY_NUMBER(0, 1000), AT(drawdown_penalty)},
    {"study", "volatility_penalty", "of the objective: times the mean yearly volatility, a share, subtracted",
     "0", KEY_NUMBER(0, 1000), AT(volatility_penalty)},
    {"study", "sampler", "what draws a trial's values: tpe, random, grid, mcmc", NULL,
     KEY_WORDS("tpe random grid mcmc"), AT(sampler.kind)},
    {"study", "seed", "of what is drawn", NULL, KEY_WHOLE(0, EXACT), AT(sampler.seed)},
    {"study", "tpe_n_startup_trials", "trials that are drawn at random first", NULL, KEY_WHOLE(0, MOST),
     AT(sampler.tpe.n_startup_trials)},
    {"study", "tpe_n_ei_candidates", "draws of which the likeliest is taken", NULL, KEY_WHOLE(1, MOST),
     AT(sampler.tpe.n_ei_candidates)},
    {"study", "tpe_prior_weight", "weight of the prior beside the trials", NULL, KEY_NUMBER(0, 1e6),
     AT(sampler.tpe.prior_weight)},
    {"study", "tpe_consider_magic_clip", "kernels are never narrower than the number of trials warrants",
     NULL, KEY_SWITCH("false true"), AT(sampler.tpe.consider_magic_clip)},
    {"study", "tpe_consider_endpoints", "bounds are neighbours of the outermost trials", NULL,
     KEY_SWITCH("false true"), AT(sampler.tpe.consider_endpoints)},
    {"study", "tpe_multivariate", "all parameters are drawn jointly", NULL, KEY_SWITCH("false true"),
     AT(sampler.tpe.multivariate)},
    {"study", "tpe_group", "jointly in groups that trials have together", NULL, KEY_SWITCH("false true"),
     AT(sampler.tpe.group)},
    {"study", "tpe_constant_liar", "running trials count as bad ones, so that workers differ", NULL,
     KEY_SWITCH("false true"), AT(sampler.tpe.constant_liar)},
    {"study", "tpe_gamma_share", "share of the trials that counts as good", NULL, KEY_NUMBER(0, 1),
     AT(sampler.tpe.gamma_share)},
    {"study", "tpe_gamma_most", "most trials that count as good", NULL, KEY_WHOLE(1, MOST),
     AT(sampler.tpe.gamma_most)},
    {"study", "grid_points", "of a float without a step (grid)", NULL, KEY_WHOLE(1, MOST),
     AT(sampler.grid_points)},
    {"study", "mcmc_target_acceptance", "share of proposals that the chain takes", NULL,
     KEY_NUMBER(0.01, 0.99), AT(sampler.metropolis.target_acceptance)},
    {"study", "mcmc_burn_in", "trials before its proposals adapt", NULL, KEY_WHOLE(0, MOST),
     AT(sampler.metropolis.burn_in)},
    {"study", "mcmc_temperature", "of the objective's differences, at first", NULL, KEY_NUMBER(1e-9, 1e9),
     AT(sampler.metropolis.temperature)},
    {"study", "mcmc_cooling", "what that is multiplied by a trial", NULL, KEY_NUMBER(0.001, 1),
     AT(sampler.metropolis.cooling)},
    {"study", "pruner", "what ends hopeless trials: none, median, asha, hyperband", NULL, OWN(pruner),
     .words = "none median asha hyperband", AT(pruner.kind)},
    {"study", "pruner_n_startup_trials", "complete trials before any is pruned (median)", NULL,
     KEY_WHOLE(0, MOST), AT(pruner.n_startup_trials)},
    {"study", "pruner_n_min_trials", "that have reported at a step (median)", NULL, KEY_WHOLE(1, MOST),
     AT(pruner.n_min_trials)},
    {"study", "pruner_n_warmup_steps", "splits before which no trial is pruned (median)", NULL,
     KEY_WHOLE(0, MOST), AT(pruner.n_warmup_steps)},
    {"study", "pruner_interval_steps", "splits between two looks (median)", NULL, KEY_WHOLE(1, MOST),
     AT(pruner.interval_steps)},
    {"study", "pruner_min_resource", "splits of the lowest rung; 0: auto (asha); 1 or more (hyperband)", NULL,
     KEY_WHOLE(0, MOST), AT(pruner.min_resource)},
    {"study", "pruner_max_resource", "splits of the highest; 0: auto (hyperband)", NULL, KEY_WHOLE(0, MOST),
     AT(pruner.max_resource)},
    {"study", "pruner_reduction_factor", "one of so many continues; 0: 4 (asha), 3 (hyperband)", NULL,
     KEY_WHOLE(0, MOST), AT(pruner.reduction_factor)},
    {"study", "pruner_min_early_stopping_rate", "rungs that are left out at the bottom (asha)", NULL,
     KEY_WHOLE(0, 1000), AT(pruner.min_early_stopping_rate)},
    {"study", "pruner_bootstrap_count",
     "trials of a rung before any is pruned there; 0 with an automatic resource", NULL, KEY_WHOLE(0, MOST),
     AT(pruner.bootstrap_count)},
    {"study", "heartbeat_s", "seconds between a worker's signs of life", "10", KEY_NUMBER(0.05, 3600),
     AT(heartbeat_s)},
    {"study", "grace_s", "seconds without one after which a trial is tried again", "60",
     KEY_NUMBER(0.1, 86400), AT(grace_s)},
    {"study", "retries", "of a trial whose worker died", "3", KEY_WHOLE(0, 1000), AT(retries)},
    {"study", "artifacts",
     "where machines share trials' files: a folder, file:///DIR or s3://BUCKET/PREFIX?endpoint=URL; empty: "
     "nowhere",
     "", KEY_TEXT, AT(artifacts)},
    {"study", "ensemble", "best trials that are proposed together; 1: the best alone", "1", KEY_WHOLE(1, 16),
     AT(ensemble)},
    {"study", "combine", "how an ensemble decides: mean, majority, sharpe", "mean",
     KEY_WORDS("mean majority sharpe"), AT(combine)},
    {"study", "every", "the co-process runs it again so often, as 1d; 0: once", "0", KEY_DURATION,
     AT(every_ns)},
    {"study", "expires", "its policy retires so long after it was admitted, as 14d; 0: never", "0",
     KEY_DURATION, AT(expires_ns)},
    {"study", "min_excess", "a gate: least Sharpe beyond that of holding, out of sample", NULL,
     KEY_NUMBER(-100, 100), AT(gates.min_excess)},
    {"study", "max_pbo", "a gate: highest probability of backtest overfitting", NULL, KEY_NUMBER(0, 1),
     AT(gates.max_pbo)},
    {"study", "min_deflated", "a gate: least skill, the probability that it is neither luck nor holding",
     NULL, KEY_NUMBER(0, 1), AT(gates.min_deflated)},
    {"study", "max_drawdown", "a gate: largest drawdown, a share", NULL, KEY_NUMBER(0, 1),
     AT(gates.max_drawdown)},
    {"study", "min_trades", "a gate: least trades", NULL, KEY_WHOLE(0, 1e9), AT(gates.min_trades)},
};
const size_t study_settings_table_n = sizeof study_settings_table / sizeof *study_settings_table;

struct study_settings study_settings_defaults(void)
{
    struct study_settings settings = {
        .sampler = sampler_defaults(), .pruner = pruner_defaults(PRUNER_MEDIAN), .gates = gate_defaults()};
    study_rules_init(&settings.rules);
    config_key_defaults(study_settings_table, study_settings_table_n, "study", &settings);
    return settings;
}

/* ---- Values. ---- */

/* Sets the other keys of the pruner, too. */
static int read_pruner(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    int kind = config_key_word(text, key->words, why);
    if (kind >= 0)
        ((struct study_settings *)base)->pruner = pruner_defaults((enum pruner_kind)kind);
    return kind < 0 ? kind : 0;
}

static void print_pruner(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    fputs(pruner_name(((const struct study_settings *)base)->pruner.kind), to);
}

static int read_split(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    char words[SPLIT_ERROR_MAX];
    struct study_split split;
    const bool is_auto = strcmp(text, "auto") == 0;
    (void)key;
    int r = split_parse(is_auto ? "cpcv:5,2" : text, &split, words);
    if (r < 0 && r != -E2BIG)
        return config_key_refuse(why, WHY, "%s", words);
    if (r == -E2BIG)
        return config_key_refuse(why, WHY,
                                 "\"%.60s\": more than %d splits: at most %d are right: fewer groups", text,
                                 SPLIT_COMBINATIONS_MAX, TRIAL_SPLITS_MAX);
    if (split.combinations > TRIAL_SPLITS_MAX)
        return config_key_refuse(
            why, WHY, "\"%.60s\": %d splits, each a %s: at most %d are right: fewer groups", text,
            split.combinations, ((struct study_settings *)base)->rules.strategy ? "test" : "training",
            TRIAL_SPLITS_MAX);
    ((struct study_settings *)base)->split = split;
    ((struct study_settings *)base)->split_auto = is_auto;
    return 0;
}

static void print_split(const struct config_key *key, const void *base, FILE *to)
{
    const struct study_settings *settings = base;
    char text[STUDY_SPLIT_TEXT_MAX];
    (void)key;
    fputs(settings->split_auto ? "auto" : study_split_text(&settings->split, text), to);
}

static int read_strategy(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    (void)key;
    return study_rules_open(&((struct study_settings *)base)->rules, text, why);
}

static void print_strategy(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    fputs(((const struct study_settings *)base)->rules.name, to);
}

bool study_settings_has(const char *key)
{
    return config_key_find(study_settings_table, study_settings_table_n, NULL, key) != NULL;
}

int study_settings_set_study(struct study_settings *settings, const char *key, const char *text,
                             char err[static CONFIG_ERROR_MAX])
{
    char why[WHY];
    const struct config_key *row = config_key_find(study_settings_table, study_settings_table_n, NULL, key);
    int r = row ? config_key_read(row, text, settings, why)
                : config_key_unknown(study_settings_table, study_settings_table_n, NULL, key, why);
    return r < 0 ? train_config_say(err, row ? r : -ENOENT, "[study] %.60s: %s", key, why) : 0;
}

int study_settings_get(const struct study_settings *settings, const char *key, char *buf, size_t cap)
{
    const struct config_key *row = config_key_find(study_settings_table, study_settings_table_n, NULL, key);
    return !row ? -ENOENT : config_key_text(row, settings, buf, cap) ? 0 : -ENAMETOOLONG;
}

const struct config_key *study_settings_keys(size_t *ret_n)
{
    *ret_n = study_settings_table_n;
    return study_settings_table;
}
