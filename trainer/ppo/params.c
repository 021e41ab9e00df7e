#include "trainer/ppo/params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/env/refusal.h"

enum { ROWS_MAX = 1 << 30 };
_Static_assert((int)PPO_ERROR_MAX == (int)ENV_ERROR_MAX, "env_refuse() writes both");

/* The reference's bounded entropy. */
static const double bounded_ent_coef = 0.05, bounded_ent_coef_final = 0.005;

static const char *const sections[] = {"training", "network", "ppo"};

int ppo_params_preset(const char *name, struct ppo_params *ret, char err[static PPO_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    struct ppo_params params = {0};
    size_t n;
    const struct config_key *keys = ppo_params_list(&n);
    int which = config_key_word(name, "default reference-4080", why);
    if (which < 0)
        return env_refuse(-ENOENT, err, "preset: %s", why);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        config_key_defaults(keys, n, sections[i], &params);
    if (which == 1) {
        params.net = (struct net_shape){
            .n_pi = 3, .pi = {2048, 1024, 512}, .n_vf = 3, .vf = {2048, 1024, 512}, .activation = NET_TANH};
        params.copies = 32;
        params.steps = 4096;
        params.total_steps = 10000000;
        params.bounded = true;
    }
    *ret = params;
    return 0;
}

int ppo_params_set(struct ppo_params *params, const char *name, const char *text,
                   char err[static PPO_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    size_t n;
    const struct config_key *keys = ppo_params_list(&n), *key = config_key_find(keys, n, NULL, name);
    bool mixed = strcmp(name, "precision") == 0 && strcmp(text, "mixed") == 0;
    int r = key ? config_key_read(key, mixed ? "bf16" : text, params, why)
                : config_key_unknown(keys, n, NULL, name, why);
    return r < 0 ? env_refuse(key ? r : -ENOENT, err, "%.60s: %s", name, why) : 0;
}

bool ppo_params_get(const struct ppo_params *params, const char *name, char *buf, size_t cap)
{
    size_t n;
    const struct config_key *keys = ppo_params_list(&n), *key = config_key_find(keys, n, NULL, name);
    return key && config_key_text(key, params, buf, cap);
}

/* ---- Do they fit together? ---- */

/* A rule about some keys, the one that the sentence begins with first. */
#define NEEDS(good, keys, ...) \
    do { \
        if (!(good) && (n == 0 || misfit)) { \
            env_refuse(-EINVAL, err, __VA_ARGS__); \
            n++; \
            if (misfit) \
                misfit(ctx, keys, err); \
        } \
    } while (0)

/* How many rules the parameters break; without `misfit` err has the first one's sentence. */
static int apply_rules(const struct ppo_params *p,
                       void (*misfit)(void *ctx, const char *keys, const char *words), void *ctx, char *err)
{
    const int64_t rows = (int64_t)p->copies * p->steps;
    const bool recurs = p->net.recurrent != 0;
    int n = 0;
    NEEDS(rows <= ROWS_MAX, "steps copies",
          "steps: %d: a rollout of %d copies has %lld rows then; at most %d is right", p->steps, p->copies,
          (long long)rows, ROWS_MAX);
    NEEDS(p->minibatch <= rows, "minibatch copies steps",
          "minibatch: %d: at most %lld is right, the rows of a rollout", p->minibatch, (long long)rows);
    NEEDS(!p->normalise_advantages || p->minibatch >= 2, "minibatch normalise_advantages",
          "minibatch: 1: at least 2 is right with normalise_advantages");
    NEEDS(p->net.recurrent % NET_LANES == 0, "recurrent", "recurrent: %d: a multiple of %d is right",
          p->net.recurrent, NET_LANES);
    NEEDS(!recurs || p->steps % p->sequence == 0, "sequence recurrent steps",
          "sequence: %d: a divisor of steps, %d, is right", p->sequence, p->steps);
    NEEDS(!recurs || p->minibatch % p->sequence == 0, "minibatch recurrent sequence",
          "minibatch: %d: a multiple of sequence, %d, is right", p->minibatch, p->sequence);
    NEEDS(p->log_std_min <= p->log_std_init && p->log_std_init <= p->log_std_max,
          "log_std_init log_std_min log_std_max",
          "log_std_init: %g: from log_std_min, %g, to log_std_max, %g, is right", p->log_std_init,
          p->log_std_min, p->log_std_max);
    NEEDS(p->lr_schedule != PPO_EXPONENTIAL || p->lr_final != 0, "lr_final lr_schedule",
          "lr_final: 0: above 0 is right with lr_schedule exponential");
    return n;
}

int ppo_params_check(const struct ppo_params *params, char err[static PPO_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    size_t n;
    const struct config_key *keys = ppo_params_list(&n);
    for (const struct config_key *key = keys; key < keys + n; key++)
        if (config_key_check(key, params, why) < 0)
            return env_refuse(-EINVAL, err, "%s: %s", key->name, why);
    return apply_rules(params, NULL, NULL, err) > 0 ? -EINVAL : 0;
}

int ppo_params_misfits(const struct ppo_params *params,
                       void (*misfit)(void *ctx, const char *keys, const char *words), void *ctx)
{
    char err[PPO_ERROR_MAX];
    return apply_rules(params, misfit, ctx, err);
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
