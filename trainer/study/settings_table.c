#include "trainer/study/settings_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/nearest.h"
#include "trainer/config_table.h"
#include "trainer/study/trial.h"

#define AT(field) \
    .offset = offsetof(struct search_settings, field), .size = sizeof(((struct search_settings *)0)->field)
#define WHOLE(least, most)  .kind = SETTINGS_WHOLE, .min = least, .max = most
#define NUMBER(least, most) .kind = SETTINGS_NUMBER, .min = least, .max = most
#define SWITCH              .kind = SETTINGS_SWITCH, .min = 0, .max = 1
#define BARS                .kind = SETTINGS_BARS, .min = 0, .max = 1e9
#define EXACT               0x1p53 /* whole numbers up to here are doubles */
#define MOST                1000000

const struct settings_row settings_table[] = {
    {"trials", "how many are wanted, of all workers together", WHOLE(1, MOST), AT(trials)},
    {"workers", "processes; 0: as many as cores, or the device's memory, allow", WHOLE(0, 1024), AT(workers)},
    {"space", "default: the default search space, but for what [search] has; search: that alone",
     .kind = SETTINGS_SPACE, AT(default_space)},
    {"validation", "of a trial: cpcv:N,K, kfold:N or walk-forward:N", .kind = SETTINGS_SPLIT, AT(split)},
    {"purge_bars", "left out of training before and after what is tested; auto: what an episode remembers",
     BARS, AT(purge_bars)},
    {"embargo_bars", "left out of training after that besides; auto: the slowest feature's warm-up", BARS,
     AT(embargo_bars)},
    {"holdout", "share of the rows, the newest, that the search never sees: the gates'", NUMBER(0, 0.9),
     AT(holdout)},
    {"deviation_weight", "of the objective: times the deviation of the splits' Sharpe, subtracted",
     NUMBER(0, 100), AT(deviation_weight)},
    {"drawdown_penalty", "of the objective: times the mean drawdown, a share, subtracted", NUMBER(0, 1000),
     AT(drawdown_penalty)},
    {"volatility_penalty", "of the objective: times the mean yearly volatility, a share, subtracted",
     NUMBER(0, 1000), AT(volatility_penalty)},
    {"sampler", "what draws a trial's values: tpe, random, grid, mcmc", .kind = SETTINGS_SAMPLER,
     AT(sampler.kind)},
    {"seed", "of what is drawn", WHOLE(0, EXACT), AT(sampler.seed)},
    {"tpe_n_startup_trials", "trials that are drawn at random first", WHOLE(0, MOST),
     AT(sampler.tpe.n_startup_trials)},
    {"tpe_n_ei_candidates", "draws of which the likeliest is taken", WHOLE(1, MOST),
     AT(sampler.tpe.n_ei_candidates)},
    {"tpe_prior_weight", "weight of the prior beside the trials", NUMBER(0, 1e6),
     AT(sampler.tpe.prior_weight)},
    {"tpe_consider_magic_clip", "kernels are never narrower than the number of trials warrants", SWITCH,
     AT(sampler.tpe.consider_magic_clip)},
    {"tpe_consider_endpoints", "bounds are neighbours of the outermost trials", SWITCH,
     AT(sampler.tpe.consider_endpoints)},
    {"tpe_multivariate", "all parameters are drawn jointly", SWITCH, AT(sampler.tpe.multivariate)},
    {"tpe_group", "jointly in groups that trials have together", SWITCH, AT(sampler.tpe.group)},
    {"tpe_constant_liar", "running trials count as bad ones, so that workers differ", SWITCH,
     AT(sampler.tpe.constant_liar)},
    {"tpe_gamma_share", "share of the trials that counts as good", NUMBER(0, 1), AT(sampler.tpe.gamma_share)},
    {"tpe_gamma_most", "most trials that count as good", WHOLE(1, MOST), AT(sampler.tpe.gamma_most)},
    {"grid_points", "of a float without a step (grid)", WHOLE(1, MOST), AT(sampler.grid_points)},
    {"mcmc_target_acceptance", "share of proposals that the chain takes", NUMBER(0.01, 0.99),
     AT(sampler.metropolis.target_acceptance)},
    {"mcmc_burn_in", "trials before its proposals adapt", WHOLE(0, MOST), AT(sampler.metropolis.burn_in)},
    {"mcmc_temperature", "of the objective's differences, at first", NUMBER(1e-9, 1e9),
     AT(sampler.metropolis.temperature)},
    {"mcmc_cooling", "what that is multiplied by a trial", NUMBER(0.001, 1), AT(sampler.metropolis.cooling)},
    {"pruner", "what ends hopeless trials: none, median, asha, hyperband", .kind = SETTINGS_PRUNER,
     AT(pruner.kind)},
    {"pruner_n_startup_trials", "complete trials before any is pruned (median)", WHOLE(0, MOST),
     AT(pruner.n_startup_trials)},
    {"pruner_n_min_trials", "that have reported at a step (median)", WHOLE(1, MOST), AT(pruner.n_min_trials)},
    {"pruner_n_warmup_steps", "splits before which none is pruned (median)", WHOLE(0, MOST),
     AT(pruner.n_warmup_steps)},
    {"pruner_interval_steps", "splits between two looks (median)", WHOLE(1, MOST), AT(pruner.interval_steps)},
    {"pruner_min_resource", "splits of the lowest rung; 0: auto (asha); 1 or more (hyperband)",
     WHOLE(0, MOST), AT(pruner.min_resource)},
    {"pruner_max_resource", "splits of the highest; 0: auto (hyperband)", WHOLE(0, MOST),
     AT(pruner.max_resource)},
    {"pruner_reduction_factor", "one of so many goes on; 0: 4 (asha), 3 (hyperband)", WHOLE(0, MOST),
     AT(pruner.reduction_factor)},
    {"pruner_min_early_stopping_rate", "rungs that are left out at the bottom (asha)", WHOLE(0, 1000),
     AT(pruner.min_early_stopping_rate)},
    {"pruner_bootstrap_count", "trials of a rung before any is pruned there; 0 with an automatic resource",
     WHOLE(0, MOST), AT(pruner.bootstrap_count)},
    {"heartbeat_s", "seconds between a worker's signs of life", NUMBER(0.05, 3600), AT(heartbeat_s)},
    {"grace_s", "seconds without one after which a trial is tried again", NUMBER(0.1, 86400), AT(grace_s)},
    {"retries", "of a trial whose worker died", WHOLE(0, 1000), AT(retries)},
    {"ensemble", "best trials that are proposed together; 1: the best alone", WHOLE(1, 16), AT(ensemble)},
    {"combine", "how an ensemble decides: mean, majority, sharpe", .kind = SETTINGS_COMBINE, AT(combine)},
    {"every", "the co-process runs it again so often, as 1d; 0: once", .kind = SETTINGS_DURATION,
     AT(every_ns)},
    {"expires", "its policy retires so long after it was admitted, as 14d; 0: never",
     .kind = SETTINGS_DURATION, AT(expires_ns)},
    {"min_excess", "a gate: least Sharpe beyond that of holding, out of sample", NUMBER(-100, 100),
     AT(gates.min_excess)},
    {"max_pbo", "a gate: highest probability of backtest overfitting", NUMBER(0, 1), AT(gates.max_pbo)},
    {"min_deflated", "a gate: least skill, the probability that it is neither luck nor holding", NUMBER(0, 1),
     AT(gates.min_deflated)},
    {"max_drawdown", "a gate: largest drawdown, a share", NUMBER(0, 1), AT(gates.max_drawdown)},
    {"min_trades", "a gate: least trades", WHOLE(0, 1e9), AT(gates.min_trades)},
};
const size_t settings_table_n = sizeof settings_table / sizeof *settings_table;

struct search_settings settings_defaults(void)
{
    char err[SPLIT_ERROR_MAX];
    struct search_settings settings = {
        .sampler = sampler_defaults(),
        .pruner = pruner_defaults(PRUNER_MEDIAN),
        .trials = 100,
        .purge_bars = -1,
        .embargo_bars = -1,
        .holdout = 0.2,
        .deviation_weight = 0.1,
        .heartbeat_s = 10,
        .grace_s = 60,
        .retries = 3,
        .ensemble = 1,
        .combine = ENSEMBLE_MEAN,
        .gates = gate_defaults(),
    };
    (void)split_parse("cpcv:5,2", &settings.split, err); /* it is one */
    return settings;
}

/* ---- Values. ---- */

static const struct {
    char letter;
    int64_t seconds;
} units[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
enum { N_UNITS = sizeof units / sizeof *units };
#define NS_PER_S    INT64_C(1000000000)
#define S_A_CENTURY INT64_C(3155760000)

bool settings_duration(const char *text, int64_t *ret_ns)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno != 0 || n < 1 || !end[0] || end[1])
        return false;
    for (size_t i = 0; i < N_UNITS; i++)
        if (*end == units[i].letter && n <= S_A_CENTURY / units[i].seconds) {
            *ret_ns = n * units[i].seconds * NS_PER_S;
            return true;
        }
    return false;
}

static void print_duration(int64_t ns, char *buf, size_t cap)
{
    int64_t s = ns / NS_PER_S;
    size_t unit = 0;
    while (unit < N_UNITS - 1 && s % units[unit].seconds != 0)
        unit++;
    if (s == 0)
        snprintf(buf, cap, "0");
    else
        snprintf(buf, cap, "%lld%c", (long long)(s / units[unit].seconds), units[unit].letter);
}

static bool read_whole(const struct settings_row *row, const char *text, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *ret = value;
    return isdigit((unsigned char)*text) && !*end && errno == 0 && (double)value >= row->min &&
           (double)value <= row->max;
}

static void store_whole(void *field, size_t size, int64_t value)
{
    int small = (int)value;
    memcpy(field, size == sizeof small ? (const void *)&small : (const void *)&value, size);
}

static int64_t stored_whole(const void *field, size_t size)
{
    int small;
    int64_t value;
    if (size != sizeof small) {
        memcpy(&value, field, sizeof value);
        return value;
    }
    memcpy(&small, field, sizeof small);
    return small;
}

static bool read_number(const struct settings_row *row, const char *text, double *ret)
{
    char *end;
    *ret = strtod(text, &end);
    *ret += 0.0; /* -0 is 0 */
    return (isdigit((unsigned char)*text) || strchr("-.", *text)) && end != text && !*end &&
           *ret >= row->min && *ret <= row->max;
}

/* NULL, or what would be right. */
static const char *take_word(struct search_settings *settings, const struct settings_row *row,
                             const char *text)
{
    enum pruner_kind pruner;
    char *field = (char *)settings + row->offset;
    bool on = strcmp(text, row->kind == SETTINGS_SPACE ? "default" : "true") == 0;
    switch (row->kind) {
    case SETTINGS_SAMPLER:
        return sampler_parse(text, &settings->sampler.kind) ? NULL : "tpe, random, grid or mcmc is right";
    case SETTINGS_PRUNER:
        if (!pruner_parse(text, &pruner))
            return "none, median, asha or hyperband is right";
        settings->pruner = pruner_defaults(pruner);
        return NULL;
    case SETTINGS_COMBINE:
        return ensemble_combine_parse(text, &settings->combine) ? NULL : "mean, majority or sharpe is right";
    case SETTINGS_SPACE:
    case SETTINGS_SWITCH:
        if (!on && strcmp(text, row->kind == SETTINGS_SPACE ? "search" : "false") != 0)
            return row->kind == SETTINGS_SPACE ? "default or search is right" : "true or false is right";
        memcpy(field, &on, sizeof on);
        return NULL;
    default:
        return "";
    }
}

static int take_number(struct search_settings *settings, const struct settings_row *row, const char *text,
                       char *err)
{
    int64_t whole = -1;
    double number;
    char *field = (char *)settings + row->offset;
    if (row->kind == SETTINGS_NUMBER && read_number(row, text, &number)) {
        memcpy(field, &number, sizeof number);
        return 0;
    }
    if (row->kind == SETTINGS_DURATION) {
        if (strcmp(text, "0") == 0)
            whole = 0;
        else if (!settings_duration(text, &whole))
            return config_say(err, -EINVAL,
                              "[study] %s: %.60s: so many s, m, h, d or w, as 12h, or 0, is right", row->name,
                              text);
        memcpy(field, &whole, sizeof whole);
        return 0;
    }
    if (row->kind == SETTINGS_NUMBER)
        return config_say(err, -EINVAL, "[study] %s: %.60s: a number from %g to %g is right", row->name, text,
                          row->min, row->max);
    bool is_auto = row->kind == SETTINGS_BARS && strcmp(text, "auto") == 0;
    if (!is_auto && !read_whole(row, text, &whole))
        return config_say(err, -EINVAL, "[study] %s: %.60s: a whole number from %.0f to %.0f%s is right",
                          row->name, text, row->min, row->max,
                          row->kind == SETTINGS_BARS ? ", or auto," : "");
    store_whole(field, row->size, is_auto ? -1 : whole);
    return 0;
}

static int take_split(struct search_settings *settings, const struct settings_row *row, const char *text,
                      char *err)
{
    char why[SPLIT_ERROR_MAX];
    struct split split;
    if (split_parse(text, &split, why) < 0)
        return config_say(err, -EINVAL, "[study] %s: %.400s", row->name, why);
    if (split.combinations > TRIAL_SPLITS_MAX)
        return config_say(err, -EINVAL,
                          "[study] %s: %.60s: %d splits, each a training: at most %d are right: fewer groups",
                          row->name, text, split.combinations, TRIAL_SPLITS_MAX);
    settings->split = split;
    return 0;
}

static const struct settings_row *find_row(const char *key)
{
    for (size_t i = 0; i < settings_table_n; i++)
        if (strcmp(settings_table[i].name, key) == 0)
            return &settings_table[i];
    return NULL;
}

bool settings_has(const char *key)
{
    return find_row(key) != NULL;
}

int settings_set_study(struct search_settings *settings, const char *key, const char *text,
                       char err[static CONFIG_ERROR_MAX])
{
    const struct settings_row *row = find_row(key);
    if (!row) {
        struct nearest nearest = {0};
        for (size_t i = 0; i < settings_table_n; i++)
            nearest_offer(&nearest, key, settings_table[i].name);
        return config_say(err, -ENOENT, "[study] %.60s: unknown key: did you mean %s?", key, nearest.best);
    }
    if (row->kind == SETTINGS_SPLIT)
        return take_split(settings, row, text, err);
    const char *right = row->kind < SETTINGS_WHOLE ? take_word(settings, row, text) : NULL;
    if (right)
        return config_say(err, -EINVAL, "[study] %s: %.60s: %s", row->name, text, right);
    return row->kind < SETTINGS_WHOLE ? 0 : take_number(settings, row, text, err);
}

/* ---- Read back. ---- */

static void print_number(double value, char *buf, size_t cap)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(buf, cap, "%.*g", digits, value);
        if (strtod(buf, NULL) == value)
            return;
    }
}

static void print_split(const struct split *split, char *buf, size_t cap)
{
    static const char *const names[] = {"cpcv", "kfold", "walk-forward"};
    const int n_named = split->kind == SPLIT_WALK_FORWARD ? split->combinations : split->groups;
    int n = snprintf(buf, cap, "%s:%d", names[split->kind], n_named);
    if (split->kind == SPLIT_CPCV && n > 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n, ",%d", split->tested);
}

int settings_get(const struct search_settings *settings, const char *key, char *buf, size_t cap)
{
    char text[64] = "";
    double number;
    bool on;
    const struct settings_row *row = find_row(key);
    if (!row)
        return -ENOENT;
    const char *field = (const char *)settings + row->offset;
    switch (row->kind) {
    case SETTINGS_SAMPLER:
        snprintf(text, sizeof text, "%s", sampler_name(settings->sampler.kind));
        break;
    case SETTINGS_PRUNER:
        snprintf(text, sizeof text, "%s", pruner_name(settings->pruner.kind));
        break;
    case SETTINGS_SPLIT:
        print_split(&settings->split, text, sizeof text);
        break;
    case SETTINGS_COMBINE:
        snprintf(text, sizeof text, "%s", ensemble_combine_name(settings->combine));
        break;
    case SETTINGS_SPACE:
        snprintf(text, sizeof text, "%s", settings->default_space ? "default" : "search");
        break;
    case SETTINGS_SWITCH:
        memcpy(&on, field, sizeof on);
        snprintf(text, sizeof text, "%s", on ? "true" : "false");
        break;
    case SETTINGS_NUMBER:
        memcpy(&number, field, sizeof number);
        print_number(number, text, sizeof text);
        break;
    case SETTINGS_DURATION:
        print_duration(stored_whole(field, row->size), text, sizeof text);
        break;
    default:
        if (row->kind == SETTINGS_BARS && stored_whole(field, row->size) < 0)
            snprintf(text, sizeof text, "auto");
        else
            snprintf(text, sizeof text, "%lld", (long long)stored_whole(field, row->size));
        break;
    }
    if (strlen(text) >= cap)
        return -ENAMETOOLONG;
    memcpy(buf, text, strlen(text) + 1);
    return 0;
}

size_t settings_keys(struct config_key *ret, size_t cap)
{
    static const char *const words[] = {"tpe random grid mcmc", "none median asha hyperband", "",
                                        "default search", "mean majority sharpe"};
    for (size_t i = 0; i < settings_table_n && i < cap; i++) {
        const struct settings_row *row = &settings_table[i];
        const char *text = row->kind < SETTINGS_SWITCH                                    ? words[row->kind]
                           : row->kind == SETTINGS_BARS || row->kind == SETTINGS_DURATION ? ""
                                                                                          : NULL;
        ret[i] = (struct config_key){.section = "study",
                                     .name = row->name,
                                     .summary = row->summary,
                                     .words = text,
                                     .min = row->min,
                                     .max = row->max,
                                     .whole = row->kind == SETTINGS_WHOLE || row->kind == SETTINGS_SWITCH,
                                     .may_change = true};
    }
    return settings_table_n;
}
