#include "trainer/ppo/params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/env/key.h"
#include "trainer/env/refusal.h"
#include "trainer/ppo/params_table.h"

enum { ROWS_MAX = 1 << 30 };
_Static_assert((int)PPO_ERROR_MAX == (int)ENV_ERROR_MAX, "env_refuse() writes both");

static const struct ppo_params plain = {
    .net = {.n_pi = 2, .pi = {64, 64}, .n_vf = 2, .vf = {64, 64}, .activation = NET_TANH},
    .log_std_init = 0,
    .log_std_min = -4,
    .log_std_max = 2,
    .policy_gain = 0.01,
    .copies = 8,
    .steps = 1024,
    .gamma = 0.99,
    .gae_lambda = 0.95,
    .normalise_observations = true,
    .normalise_rewards = true,
    .clip_observations = 10,
    .clip_rewards = 10,
    .minibatch = 1024,
    .epochs = 4,
    .sequence = 16,
    .learning_rate = 3e-4,
    .lr_final = 0.1,
    .lr_schedule = PPO_CONSTANT,
    .adam_beta1 = 0.9,
    .adam_beta2 = 0.999,
    .adam_epsilon = 1e-5,
    .clip_range = 0.2,
    .clip_range_final = PPO_UNSET,
    .vf_coef = 0.5,
    .ent_coef = PPO_UNSET,
    .ent_coef_final = PPO_UNSET,
    .entropy_bound = 1,
    .value_bound = 10,
    .normalise_advantages = true,
    .max_grad_norm = 0.5,
    .bad_updates = 10,
    .seed = 1,
    .total_steps = 1000000,
    .device = PPO_AUTO,
    .precision = PPO_BF16,
    .memory_cap = 0.8,
};

/* The reference's bounded entropy. */
static const double bounded_ent_coef = 0.05, bounded_ent_coef_final = 0.005;

static const char *const presets[] = {"default", "reference-4080"};

int ppo_params_preset(const char *name, struct ppo_params *ret, char err[static PPO_ERROR_MAX])
{
    struct ppo_params params = plain;
    if (strcmp(name, "reference-4080") == 0) {
        params.net = (struct net_shape){
            .n_pi = 3, .pi = {2048, 1024, 512}, .n_vf = 3, .vf = {2048, 1024, 512}, .activation = NET_TANH};
        params.copies = 32;
        params.steps = 4096;
        params.total_steps = 10000000;
        params.bounded = true;
    } else if (strcmp(name, "default") != 0) {
        return key_no_preset(presets, sizeof presets / sizeof *presets, name, err);
    }
    *ret = params;
    return 0;
}

const struct env_param *ppo_params_list(size_t *ret_n)
{
    *ret_n = ppo_params_table_n;
    return ppo_params_table;
}

static bool is_widths(const struct env_param *key)
{
    return key->words && strcmp(key->words, "widths") == 0;
}

static bool may_be_unset(const struct env_param *key)
{
    return key->offset == offsetof(struct ppo_params, clip_range_final) ||
           key->offset == offsetof(struct ppo_params, ent_coef) ||
           key->offset == offsetof(struct ppo_params, ent_coef_final);
}

static bool is_unset(const struct env_param *key, const struct ppo_params *params)
{
    double value;
    if (!may_be_unset(key))
        return false;
    memcpy(&value, (const char *)params + key->offset, sizeof value);
    return isnan(value);
}

static int set_or_unset(struct ppo_params *params, const struct env_param *key, const char *text,
                        char err[static PPO_ERROR_MAX])
{
    const double unset = PPO_UNSET;
    if (strcmp(text, "auto") == 0) {
        memcpy((char *)params + key->offset, &unset, sizeof unset);
        return 0;
    }
    int rc = key_set(key, params, text, err);
    size_t n = rc < 0 ? strlen(err) : 0;
    if (rc < 0)
        snprintf(err + n, PPO_ERROR_MAX - n, ", or auto");
    return rc;
}

static int set_widths(char *field, const struct env_param *key, const char *text,
                      char err[static PPO_ERROR_MAX])
{
    int widths[1 + NET_LAYERS_MAX] = {0};
    bool more = strcmp(text, "none") != 0;
    for (const char *p = text; more;) {
        char *end;
        bool digit = *p >= '0' && *p <= '9';
        long width = digit ? strtol(p, &end, 10) : 0;
        if (!digit || (*end != ',' && *end != '\0'))
            return env_refuse(-EINVAL, err, "%s: %.60s: widths with commas, as 64,64, or none, is right",
                              key->name, text);
        if (width < 1 || width > NET_WIDTH_MAX || widths[0] == NET_LAYERS_MAX)
            return env_refuse(-ERANGE, err, "%s: %.60s: at most %d widths, each from 1 to %d, is right",
                              key->name, text, NET_LAYERS_MAX, NET_WIDTH_MAX);
        widths[++widths[0]] = (int)width;
        more = *end == ',';
        p = end + more;
    }
    memcpy(field, widths, sizeof widths);
    return 0;
}

int ppo_params_set(struct ppo_params *params, const char *name, const char *text,
                   char err[static PPO_ERROR_MAX])
{
    const struct env_param *key = key_find(ppo_params_table, ppo_params_table_n, name);
    if (!key)
        return env_refuse(-ENOENT, err, "%.60s: there is no such key; the nearest is %s", name,
                          key_nearest(ppo_params_table, ppo_params_table_n, name));
    if (is_widths(key))
        return set_widths((char *)params + key->offset, key, text, err);
    if (may_be_unset(key))
        return set_or_unset(params, key, text, err);
    bool is_mixed = key->offset == offsetof(struct ppo_params, precision) && strcmp(text, "mixed") == 0;
    return key_set(key, params, is_mixed ? "bf16" : text, err);
}

static bool print_widths(const char *field, char *buf, size_t cap)
{
    int widths[1 + NET_LAYERS_MAX], n = 0;
    memcpy(widths, field, sizeof widths);
    if (widths[0] == 0)
        n = snprintf(buf, cap, "none");
    for (int i = 1; i <= widths[0] && (size_t)n < cap; i++)
        n += snprintf(buf + n, cap - (size_t)n, i == 1 ? "%d" : ",%d", widths[i]);
    return (size_t)n < cap;
}

bool ppo_params_get(const struct ppo_params *params, const char *name, char *buf, size_t cap)
{
    const struct env_param *key = key_find(ppo_params_table, ppo_params_table_n, name);
    if (!key)
        return false;
    if (is_unset(key, params))
        return (size_t)snprintf(buf, cap, "auto") < cap;
    return is_widths(key) ? print_widths((const char *)params + key->offset, buf, cap)
                          : key_print(key, params, buf, cap);
}

static int check_widths(const char *field, const struct env_param *key, char err[static PPO_ERROR_MAX])
{
    int widths[1 + NET_LAYERS_MAX];
    memcpy(widths, field, sizeof widths);
    if (widths[0] < 0 || widths[0] > NET_LAYERS_MAX)
        return env_refuse(-EINVAL, err, "%s: %d widths: 0 to %d is right", key->name, widths[0],
                          NET_LAYERS_MAX);
    for (int i = 1; i <= widths[0]; i++)
        if (widths[i] < 1 || widths[i] > NET_WIDTH_MAX)
            return env_refuse(-EINVAL, err, "%s: %d: widths from 1 to %d are right", key->name, widths[i],
                              NET_WIDTH_MAX);
    return 0;
}

/* ---- How they fit each other. ---- */

static int rows_fit(const struct ppo_params *params, char *err)
{
    int64_t rows = (int64_t)params->copies * params->steps;
    if (rows <= ROWS_MAX)
        return 0;
    return env_refuse(-EINVAL, err,
                      "steps: %d: a rollout of %d copies has %lld rows then; at most %d is right",
                      params->steps, params->copies, (long long)rows, ROWS_MAX);
}

static int minibatch_fits(const struct ppo_params *params, char *err)
{
    int64_t rows = (int64_t)params->copies * params->steps;
    if (params->minibatch <= rows)
        return 0;
    return env_refuse(-EINVAL, err, "minibatch: %d: at most %lld is right, the rows of a rollout",
                      params->minibatch, (long long)rows);
}

static int minibatch_normalises(const struct ppo_params *params, char *err)
{
    if (!params->normalise_advantages || params->minibatch >= 2)
        return 0;
    return env_refuse(-EINVAL, err, "minibatch: 1: at least 2 is right with normalise_advantages");
}

static int recurrent_fits(const struct ppo_params *params, char *err)
{
    if (params->net.recurrent % NET_LANES == 0)
        return 0;
    return env_refuse(-EINVAL, err, "recurrent: %d: a multiple of %d is right", params->net.recurrent,
                      NET_LANES);
}

static int sequence_divides_steps(const struct ppo_params *params, char *err)
{
    if (params->net.recurrent == 0 || params->steps % params->sequence == 0)
        return 0;
    return env_refuse(-EINVAL, err, "sequence: %d: a divisor of steps, %d, is right", params->sequence,
                      params->steps);
}

static int sequence_divides_minibatch(const struct ppo_params *params, char *err)
{
    if (params->net.recurrent == 0 || params->minibatch % params->sequence == 0)
        return 0;
    return env_refuse(-EINVAL, err, "minibatch: %d: a multiple of sequence, %d, is right", params->minibatch,
                      params->sequence);
}

static int log_std_fits(const struct ppo_params *params, char *err)
{
    if (params->log_std_min <= params->log_std_init && params->log_std_init <= params->log_std_max)
        return 0;
    return env_refuse(-EINVAL, err, "log_std_init: %g: from log_std_min, %g, to log_std_max, %g, is right",
                      params->log_std_init, params->log_std_min, params->log_std_max);
}

static int lr_final_fits(const struct ppo_params *params, char *err)
{
    if (params->lr_schedule != PPO_EXPONENTIAL || params->lr_final != 0)
        return 0;
    return env_refuse(-EINVAL, err, "lr_final: 0: above 0 is right with lr_schedule exponential");
}

static const struct {
    const char *keys;
    int (*check)(const struct ppo_params *params, char *err);
} rules[] = {
    {"steps copies", rows_fit},
    {"minibatch copies steps", minibatch_fits},
    {"minibatch normalise_advantages", minibatch_normalises},
    {"recurrent", recurrent_fits},
    {"sequence recurrent steps", sequence_divides_steps},
    {"minibatch recurrent sequence", sequence_divides_minibatch},
    {"log_std_init log_std_min log_std_max", log_std_fits},
    {"lr_final lr_schedule", lr_final_fits},
};
enum { N_RULES = sizeof rules / sizeof *rules };

static int check_key(const struct ppo_params *params, const struct env_param *key,
                     char err[static PPO_ERROR_MAX])
{
    return is_unset(key, params) ? 0
           : is_widths(key)      ? check_widths((const char *)params + key->offset, key, err)
                                 : key_check(key, params, err);
}

int ppo_params_check(const struct ppo_params *params, char err[static PPO_ERROR_MAX])
{
    int r = 0;
    for (size_t i = 0; i < ppo_params_table_n && r == 0; i++)
        r = check_key(params, &ppo_params_table[i], err);
    for (size_t i = 0; i < N_RULES && r == 0; i++)
        r = rules[i].check(params, err);
    return r;
}

int ppo_params_misfits(const struct ppo_params *params,
                       void (*misfit)(void *ctx, const char *keys, const char *words), void *ctx)
{
    char err[PPO_ERROR_MAX];
    int n = 0;
    for (size_t i = 0; i < N_RULES; i++)
        if (rules[i].check(params, err) < 0) {
            misfit(ctx, rules[i].keys, err);
            n++;
        }
    return n;
}

static double between(double from, double to, double progress)
{
    return from + (to - from) * fmin(fmax(progress, 0), 1);
}

double ppo_learning_rate(const struct ppo_params *params, double progress)
{
    switch (params->lr_schedule) {
    case PPO_LINEAR:
        return params->learning_rate * between(1, params->lr_final, progress);
    case PPO_EXPONENTIAL:
        return params->learning_rate * pow(params->lr_final, between(0, 1, progress));
    default:
        return params->learning_rate;
    }
}

double ppo_clip_range(const struct ppo_params *params, double progress)
{
    const double to = params->clip_range_final;
    return between(params->clip_range, isnan(to) ? params->clip_range : to, progress);
}

double ppo_ent_coef(const struct ppo_params *params, double progress)
{
    const bool given = !isnan(params->ent_coef);
    const double from = given ? params->ent_coef : params->bounded ? bounded_ent_coef : 0;
    const double rest = !given && params->bounded ? bounded_ent_coef_final : from;
    return between(from, isnan(params->ent_coef_final) ? rest : params->ent_coef_final, progress);
}
