/* A trained policy: networks, normalisers, and what they were trained for, in a safetensors file.
 *
 * Tensors (float32): the networks' as strategy/policy/net.h names them, weights [out, in];
 * "observation.mean", "observation.scale" [observation]: x' = clip((x - mean) * scale).
 * Metadata, all strings:
 *   format            papertape.policy/1
 *   observation, actions, levels, activation, layer_norm, shared, recurrent, policy_layers, value_layers:
 *                     the shape of strategy/policy/net.h; commas between widths; true or false
 *   observation_clip  bound of normalised values, +-
 *   symbols           names, with commas between, in the order of actions
 *   least_quantities  units of each asset, in that order
 *   interval          of the bars, as 5m
 *   features          closes-volumes, or set: then features.SYMBOL is each symbol's set as
 *                     feature_set_text() writes it, fitted figures included
 *   session_features  columns of strategy/policy/session_columns.h after a row's features, with commas
 *                     between; files without any lack it
 *   environment       the environment's parameters, "key=value" a line, every key; older files lack
 *                     drawdown_penalty and volatility_penalty, which are 0 then; session is there with a
 *                     calendar only
 *   calendar          the market's, by name, of whose environment's `session` the bars are; files of
 *                     markets that trade at all times lack it
 *   observation_hash  strategy/policy/observation.h, of the observations that it was trained on; older files
 *                     lack it
 *   trained_from, trained_to, trained_steps, seed, version
 *   verdict, verdict_text: what its evaluation said (strategy/metrics/verdict.h); older files lack them, and
 *                     those that were not evaluated
 * A world that is no market (cartpole) has `world` instead of symbols to trained_to.
 *
 * Inference: y = b + x0 w0 + x1 w1 + … in float32, inputs in their order, each product and sum rounded once,
 * no contraction; activations of strategy/policy/activation.h; means of layer normalisation in float64 in
 * order. So every x86-64 CPU gives the same bits. Continuous policies act by their mean, discrete ones by the
 * first of the largest logits. */
#ifndef STRATEGY_POLICY_TRAINED_H
#define STRATEGY_POLICY_TRAINED_H

#include "strategy/policy/net.h"
#include "strategy/policy/policy.h"

/* ---- inference ---- */

enum { POLICY_FILE_MAX = 1 << 30 };

enum net_isa { NET_BEST, NET_SCALAR, NET_BASELINE, NET_AVX2, NET_AVX512 };

struct net_model; /* packed parameters: read only, threads share it */
int policy_net_model_create(const struct net_layout *layout, const float *params, const float *mean,
                            const float *scale, float clip, enum net_isa isa,
                            struct net_model **ret);             /* 0, -ENOMEM, -ENOTSUP */
void policy_net_model_destroy(struct net_model *model);          /* NULL is fine */
const char *policy_net_model_cpu(const struct net_model *model); /* "cpu-scalar" … "cpu-avx512" */

struct net_memory; /* one caller's: layers' outputs and the recurrent state, 0 at first */
int policy_net_memory_create(const struct net_model *model, struct net_memory **ret);
void policy_net_memory_destroy(struct net_memory *memory);
/* The recurrent state, [layout.hidden]: to be saved, set, or zeroed where an episode begins. */
float *policy_net_memory_hidden(struct net_memory *memory, size_t *ret_n);

/* The policy's heads for one observation [observation], finite and not yet normalised: [outputs]. None of
 * these calls allocates. */
void policy_net_model_heads(const struct net_model *model, struct net_memory *memory,
                            const float *observation, float *ret);
/* The value of an observation, before policy_net_model_heads() takes it. It leaves the policy's recurrent
 * state untouched; a value network's own recurrent state advances, so each step calls it once or never. */
float policy_net_model_value(const struct net_model *model, struct net_memory *memory,
                             const float *observation);
/* Its action: means, or the levels' indices as numbers: [actions]. */
void policy_net_model_act(const struct net_model *model, struct net_memory *memory, const float *observation,
                          float *ret);

/* ---- the file ---- */

struct trained_policy {
    struct policy policy; /* first; kind "trained"; for worlds n_assets is 0 */
    struct net_layout layout;
    const struct net_model *model;
    const char *world;                                         /* NULL: a market */
    const char *environment;                                   /* its text */
    const char *features;                                      /* "closes-volumes" or "set" */
    const char *const *sets;                                   /* [n_assets] texts of feature sets, or NULL */
    unsigned session_columns;                                  /* strategy/policy/session_columns.h */
    double norm_cash, norm_stocks, norm_tech, initial_capital; /* of environment */
    double action_span;
    const char *observation_hash; /* 64 hex digits; NULL: an older file, which has none */
    int64_t trained_steps;
    int64_t trained_from_ns, trained_to_ns; /* of a market: bars that open in [from, to) */
};

/* The content of a file to be written, by trainer and tests. */
struct trained_source {
    const struct net_layout *layout;
    const float *params, *mean, *scale;
    float clip;
    const char *world; /* or the rest */
    int n_assets;
    const struct policy_asset *assets;
    int64_t interval_ns;
    const char *const *sets;      /* [n_assets], or NULL: closes-volumes */
    unsigned session_columns;     /* 0: none */
    const char *environment;      /* "key=value" a line */
    const char *calendar;         /* NULL: the market trades at all times */
    const char *observation_hash; /* NULL: the file has none */
    int64_t trained_from_ns, trained_to_ns, trained_steps;
    uint64_t seed;
    const char *verdict, *verdict_text; /* NULL: it was not evaluated */
};
/* Writes it as safetensors_write() does. 0; -EINVAL for parameters that are not finite, and for what
 * policy_trained_load() would refuse of a market; errors of writing; -ENOMEM: the file is unchanged. */
int policy_trained_write(const char *path, const struct trained_source *source,
                         char err[static POLICY_ERROR_MAX]);

/* 0, for policy_trained_destroy(); -EINVAL for what is missing, of another shape, not finite, or of another
 * format; errors of opening; -ENOMEM. */
int policy_trained_load(const char *path, struct trained_policy **ret, char err[static POLICY_ERROR_MAX]);
void policy_trained_destroy(struct trained_policy *policy); /* NULL is fine */

#endif
