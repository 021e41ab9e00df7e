#include "trainer/training/keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "strategy/policy/limit_keys.h"
#include "trainer/ppo/state.h"

#define say(err, code, ...) fail_with(code, err, KEEP_ERROR_MAX, __VA_ARGS__)

/* ---- Checkpoints. ---- */

struct pieces {
    size_t n;
    struct checkpoint_piece piece[CHECKPOINT_PIECES_MAX];
};

static int add(void *ctx, const char *name, const void *bytes, size_t n)
{
    struct pieces *pieces = ctx;
    void *copy = malloc(n ? n : 1);
    if (!copy)
        return -ENOMEM;
    if (pieces->n == CHECKPOINT_PIECES_MAX) {
        free(copy);
        return -E2BIG;
    }
    struct checkpoint_piece *piece = &pieces->piece[pieces->n++];
    if (n > 0)
        memcpy(copy, bytes, n);
    snprintf(piece->name, sizeof piece->name, "%s", name);
    piece->bytes = copy;
    piece->n = n;
    return 0;
}

int training_keep_checkpoint(const struct train_config *config, const char *output, struct learner *learner,
                             int64_t steps, const struct checkpoint_piece *more, size_t n_more,
                             char err[static KEEP_ERROR_MAX])
{
    char why[CHECKPOINT_ERROR_MAX];
    const int32_t n_copies = learner->params.copies;
    struct pieces pieces = {0};
    const struct ppo_sink sink = {&pieces, add};
    char *text = train_config_text(config);
    int r = text ? add(&pieces, "config", text, strlen(text)) : -ENOMEM;
    if (r == 0)
        r = add(&pieces, "backend", learner->ops->backend, strlen(learner->ops->backend));
    if (r == 0)
        r = add(&pieces, "n_copies", &n_copies, sizeof n_copies);
    for (size_t i = 0; i < n_more && r == 0; i++)
        r = add(&pieces, more[i].name, more[i].bytes, more[i].n);
    if (r < 0)
        say(err, r, "cannot write a checkpoint: %.300s: out of memory", output);
    else if ((r = ppo_learner_save(learner, &sink, why)) < 0)
        say(err, r, "cannot write a checkpoint: %.300s: %.500s", output, why);
    else if ((r = checkpoint_keep(output, config->name, steps, config->checkpoint_keep, pieces.piece,
                                  pieces.n, why)) < 0)
        say(err, r, "%s", why);
    for (size_t i = 0; i < pieces.n; i++)
        free((void *)(uintptr_t)pieces.piece[i].bytes);
    free(text);
    return r;
}

int training_keep_check(const struct checkpoint *checkpoint, const struct train_config *config,
                        void (*changed)(void *ctx, const char *words), void *ctx,
                        char err[static KEEP_ERROR_MAX])
{
    size_t n;
    const char *path = checkpoint_path(checkpoint);
    const char *bytes = checkpoint_find(checkpoint, "config", &n);
    if (!bytes)
        return say(err, -EINVAL, "checkpoint: %.300s: it has no configuration: one of a training is needed",
                   path);
    char why[CONFIG_ERROR_MAX], *text = strndup(bytes, n);
    struct train_config *before = malloc(sizeof *before);
    int r = text && before ? train_config_parse("config", text, before, why) : -ENOMEM;
    if (r == -ENOMEM)
        say(err, r, "out of memory: %.300s", path);
    else if (r < 0)
        say(err, r, "checkpoint: %.300s: its configuration cannot be read: %.600s", path, why);
    else if ((r = train_config_continues(before, config, changed, ctx, why)) < 0)
        say(err, r, "cannot resume: %.300s: %.600s", path, why);
    free(text);
    free(before);
    return r;
}

int training_keep_copies(const struct checkpoint *checkpoint, const struct train_config *config)
{
    size_t n;
    int32_t copies;
    const void *bytes = checkpoint_find(checkpoint, "n_copies", &n);
    if (!bytes || n != sizeof copies)
        return config->ppo.copies;
    memcpy(&copies, bytes, sizeof copies);
    return copies > 0 && copies < config->ppo.copies ? copies : config->ppo.copies;
}

static const void *find(void *ctx, const char *name, size_t *ret_n)
{
    return checkpoint_find(ctx, name, ret_n);
}

int training_keep_restore(const struct checkpoint *checkpoint, struct learner *learner, int64_t *ret_steps,
                          char ret_backend[static CHECKPOINT_NAME_MAX], char err[static KEEP_ERROR_MAX])
{
    char why[PPO_ERROR_MAX];
    const struct ppo_source from = {(void *)(uintptr_t)checkpoint, find};
    struct ppo_counters counters;
    size_t n;
    int r = ppo_learner_load(learner, &from, why);
    if (r < 0)
        return say(err, r, "cannot resume: %.300s: %.500s", checkpoint_path(checkpoint), why);
    const void *bytes = checkpoint_find(checkpoint, "counters", &n);
    if (!bytes || n != sizeof counters)
        return say(err, -EINVAL, "cannot resume: %.300s: counters: %zu bytes: %zu are right",
                   checkpoint_path(checkpoint), n, sizeof counters);
    memcpy(&counters, bytes, sizeof counters);
    *ret_steps = counters.steps;
    bytes = checkpoint_find(checkpoint, "backend", &n);
    snprintf(ret_backend, CHECKPOINT_NAME_MAX, "%.*s", (int)n, bytes ? (const char *)bytes : "");
    return 0;
}

/* ---- Policies. ---- */

/* With room for the parameters of a layout. */
static int allocate(const struct net_layout *layout, float clip, struct kept_policy *ret,
                    char err[static KEEP_ERROR_MAX])
{
    size_t o = (size_t)layout->shape.observation;
    *ret = (struct kept_policy){.layout = *layout, .clip = clip};
    ret->params = aligned_alloc(64, (layout->n_params * sizeof(float) + 63) / 64 * 64);
    ret->mean = malloc(o * sizeof(float));
    ret->scale = malloc(o * sizeof(float));
    return ret->params && ret->mean && ret->scale ? 0 : say(err, -ENOMEM, "out of memory: the policy");
}

static int finish(struct kept_policy *policy, int r, struct kept_policy *ret, char err[static KEEP_ERROR_MAX])
{
    if (r == 0 && (r = policy_net_model_create(&policy->layout, policy->params, policy->mean, policy->scale,
                                               policy->clip, NET_BEST, &policy->model)) < 0)
        say(err, r, "out of memory: the policy");
    if (r < 0)
        training_kept_policy_drop(policy);
    else
        *ret = *policy;
    return r;
}

int training_kept_policy_take(struct learner *learner, struct kept_policy *ret,
                              char err[static KEEP_ERROR_MAX])
{
    struct kept_policy policy;
    char why[PPO_ERROR_MAX];
    int r = allocate(&learner->layout, (float)learner->params.clip_observations, &policy, err);
    const struct ppo_snapshot snapshot = {policy.params, policy.mean, policy.scale};
    if (r == 0 && (r = ppo_learner_snapshot(learner, &snapshot, why)) < 0)
        say(err, r, "%s", why);
    return finish(&policy, r, ret, err);
}

int training_kept_policy_make(const struct net_layout *layout, const float *params, const float *mean,
                              const float *scale, float clip, struct kept_policy *ret,
                              char err[static KEEP_ERROR_MAX])
{
    struct kept_policy policy;
    size_t o = (size_t)layout->shape.observation;
    int r = allocate(layout, clip, &policy, err);
    if (r == 0) {
        memcpy(policy.params, params, layout->n_params * sizeof(float));
        memcpy(policy.mean, mean, o * sizeof(float));
        memcpy(policy.scale, scale, o * sizeof(float));
    }
    return finish(&policy, r, ret, err);
}

void training_kept_policy_drop(struct kept_policy *policy)
{
    policy_net_model_destroy(policy->model);
    free(policy->params);
    free(policy->mean);
    free(policy->scale);
    *policy = (struct kept_policy){0};
}

/* "key=value" a line, every key, but no limit that is off, and a session with a calendar only: files without
 * are as before there were any. For free(). */
static char *environment_text(const struct env_params *params, bool calendar)
{
    size_t n, bytes;
    const struct config_key *list = env_params_list(&n);
    char *text = NULL, value[128];
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        const struct config_key *limit =
            config_key_find(policy_limit_keys, POLICY_LIMITS_N, NULL, list[i].name);
        if ((limit && policy_limit_off(limit, &params->limits)) ||
            (!calendar && strcmp(list[i].name, "session") == 0))
            continue;
        whole = whole && env_params_get(params, list[i].name, value, sizeof value);
        fprintf(out, "%s=%s\n", list[i].name, value);
    }
    if (fclose(out) != 0 || !whole) {
        free(text);
        return NULL;
    }
    return text;
}

/* What a market's policy names in its metadata; all for free(). */
struct named {
    struct policy_asset *assets;
    char **sets;
    char *environment;
    char observation[OBSERVATION_HASH_SIZE];
};

static void named_finish(struct named *named, size_t n)
{
    for (size_t i = 0; i < n && named->sets; i++)
        free(named->sets[i]);
    free(named->sets);
    free(named->assets);
    free(named->environment);
}

static bool named_init(struct named *named, const struct training_source *source)
{
    size_t n = (size_t)source->market->n_symbols;
    bool has_sets = trainer_data_set(source->train_data, 0) != NULL, whole;
    named->assets = calloc(n, sizeof *named->assets);
    named->sets = has_sets ? calloc(n, sizeof(char *)) : NULL;
    named->environment = environment_text(&source->config->env, training_source_calendar(source) != NULL);
    whole = named->assets && named->environment && (!has_sets || named->sets);
    for (size_t i = 0; i < n && whole; i++) {
        snprintf(named->assets[i].name, sizeof named->assets[i].name, "%s",
                 source->market->series[i].symbol.name);
        named->assets[i].least = source->least ? source->least[i] : 0;
        if (has_sets)
            whole = (named->sets[i] = feature_set_text(trainer_data_set(source->train_data, (int)i))) != NULL;
    }
    return whole && trainer_data_observation(source->train_data, &source->config->env, named->assets,
                                             named->observation) == 0;
}

int training_kept_policy_write(const struct kept_policy *policy, const struct training_source *source,
                               int64_t steps, const struct verdict *verdict, const char *path,
                               char err[static KEEP_ERROR_MAX])
{
    char why[POLICY_ERROR_MAX], text[VERDICT_TEXT_MAX];
    struct named named = {0};
    struct trained_source from = {.layout = &policy->layout,
                                  .params = policy->params,
                                  .mean = policy->mean,
                                  .scale = policy->scale,
                                  .clip = policy->clip,
                                  .trained_steps = steps,
                                  .seed = source->config->ppo.seed};
    const struct market *market = source->market;
    size_t n = market ? (size_t)market->n_symbols : 0;
    int r = 0;
    if (verdict && verdict->kind != VERDICT_NONE) {
        from.verdict = metrics_verdict_word(verdict->kind);
        from.verdict_text = metrics_verdict_text(verdict, text);
    }
    if (!market) {
        from.world = source->config->world;
    } else if (named_init(&named, source)) {
        from.n_assets = market->n_symbols;
        from.assets = named.assets;
        from.interval_ns = market->interval_ns;
        from.sets = (const char *const *)named.sets;
        from.session_columns = source->config->data.session_features;
        from.environment = named.environment;
        from.calendar = training_source_calendar(source);
        from.observation_hash = named.observation;
        from.trained_from_ns = market_open_ns(market, source->train.from);
        from.trained_to_ns = market_open_ns(market, source->train.to);
    } else {
        r = say(err, -ENOMEM, "out of memory: %.300s", path);
    }
    if (r == 0 && (r = policy_trained_write(path, &from, why)) < 0)
        say(err, r, "%s", why);
    named_finish(&named, n);
    return r;
}
