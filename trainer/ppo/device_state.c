/* A device's learner's state: at the start, and over checkpoints. */
#include "trainer/ppo/device_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/env/internal.h"
#include "trainer/env/refusal.h"
#include "trainer/nn/train.h"

enum { PIECES = 7 };

void ppo_device_state_finish(struct host_state *s)
{
    free(s->state.params);
    free(s->state.adam_m);
    free(s->state.adam_v);
    free(s->state.normaliser);
    free(s->state.copies);
    free(s->world);
}

int ppo_device_state_init(struct host_state *s, struct device_learner *d, char err[static PPO_ERROR_MAX])
{
    const struct net_layout *layout = &d->learner.layout;
    *s = (struct host_state){.normaliser_bytes = ppo_normaliser_bytes(layout),
                             .copies_bytes = ppo_copies_bytes(&d->learner.params, layout),
                             .params_bytes = layout->n_params * sizeof(float),
                             .world_bytes = env_state_bytes(d->env)};
    s->state = (struct gpu_ppo_state){.params = calloc(1, s->params_bytes),
                                      .adam_m = calloc(1, s->params_bytes),
                                      .adam_v = calloc(1, s->params_bytes),
                                      .normaliser = calloc(1, s->normaliser_bytes),
                                      .counters = &d->counters,
                                      .copies = calloc(1, s->copies_bytes)};
    s->world = malloc(s->world_bytes);
    if (s->state.params && s->state.adam_m && s->state.adam_v && s->state.normaliser && s->state.copies &&
        s->world)
        return 0;
    ppo_device_state_finish(s);
    return env_refuse(-ENOMEM, err, "learner: out of memory for its state");
}

int ppo_device_begin(struct device_learner *d, char err[static PPO_ERROR_MAX])
{
    const struct ppo_params *params = &d->learner.params;
    struct host_state s;
    int r = ppo_device_state_init(&s, d, err);
    if (r < 0)
        return r;
    r = nn_init(&d->learner.layout, params->seed, params->policy_gain, params->log_std_init, s.state.params);
    if (r < 0)
        env_refuse(r, err, "learner: out of memory");
    if (r == 0)
        r = d->api->write(d->on_device, &s.state, err, PPO_ERROR_MAX);
    ppo_device_state_finish(&s);
    return r;
}

/* ---- checkpoints ---- */

struct state_piece {
    const char *name;
    void *at;
    size_t n;
};

static void list_pieces(struct host_state *s, struct state_piece ret[static PIECES])
{
    const struct state_piece all[PIECES] = {
        {"params", s->state.params, s->params_bytes},
        {"adam_m", s->state.adam_m, s->params_bytes},
        {"adam_v", s->state.adam_v, s->params_bytes},
        {"normaliser", s->state.normaliser, s->normaliser_bytes},
        {"counters", s->state.counters, sizeof(*s->state.counters)},
        {"world", s->world, s->world_bytes},
        {"copies", s->state.copies, s->copies_bytes},
    };
    memcpy(ret, all, sizeof(all));
}

int ppo_device_save(struct learner *learner, const struct ppo_sink *sink, char err[static PPO_ERROR_MAX])
{
    struct device_learner *d = device_of(learner);
    struct host_state s;
    struct state_piece pieces[PIECES];
    char reason[ENV_ERROR_MAX];
    int r = ppo_device_state_init(&s, d, err);
    if (r < 0)
        return r;
    r = d->api->read(d->on_device, &s.state, err, PPO_ERROR_MAX);
    if (r == 0) {
        r = env_device_store(d->device, d->env, reason);
        if (r < 0)
            env_refuse(r, err, "%s", reason);
        else
            env_save(d->env, s.world);
    }
    list_pieces(&s, pieces);
    for (int i = 0; i < PIECES && r == 0; i++) {
        r = sink->piece(sink->ctx, pieces[i].name, pieces[i].at, pieces[i].n);
        if (r < 0)
            env_refuse(r, err, "%s: not written: %s", pieces[i].name, strerror(-r));
    }
    ppo_device_state_finish(&s);
    return r;
}

/* Are all pieces there and of the right size? Then into `s`. */
static int take_pieces(struct host_state *s, const struct ppo_source *source, char err[static PPO_ERROR_MAX])
{
    struct state_piece pieces[PIECES];
    list_pieces(s, pieces);
    for (int i = 0; i < PIECES; i++) {
        size_t n;
        const void *from = source->piece(source->ctx, pieces[i].name, &n);
        if (!from)
            return env_refuse(-EINVAL, err, "%s: missing: %zu bytes of it would be right", pieces[i].name,
                              pieces[i].n);
        if (n != pieces[i].n)
            return env_refuse(-EINVAL, err, "%s: %zu bytes: %zu would be right", pieces[i].name, n,
                              pieces[i].n);
        memcpy(pieces[i].at, from, n);
    }
    return 0;
}

int ppo_device_load(struct learner *learner, const struct ppo_source *source, char err[static PPO_ERROR_MAX])
{
    struct device_learner *d = device_of(learner);
    struct host_state s;
    struct ppo_counters counters;
    char reason[ENV_ERROR_MAX];
    int r = ppo_device_state_init(&s, d, err);
    if (r < 0)
        return r;
    s.state.counters = &counters;
    r = take_pieces(&s, source, err);
    if (r == 0) {
        r = env_load(d->env, s.world, reason);
        if (r == 0)
            r = env_device_load(d->device, d->env, reason);
        if (r < 0)
            env_refuse(r, err, "world: %.400s", reason);
    }
    if (r == 0)
        r = d->api->write(d->on_device, &s.state, err, PPO_ERROR_MAX);
    if (r == 0) {
        d->counters = counters;
        d->normal = !learner->params.normalise_observations || s.state.normaliser[1].count > 0;
    }
    ppo_device_state_finish(&s);
    return r;
}

int ppo_device_snapshot(struct learner *learner, const struct ppo_snapshot *ret,
                        char err[static PPO_ERROR_MAX])
{
    struct device_learner *d = device_of(learner);
    struct host_state s;
    int r = ppo_device_state_init(&s, d, err);
    if (r < 0)
        return r;
    r = d->api->read(d->on_device, &s.state, err, PPO_ERROR_MAX);
    const bool normal = learner->params.normalise_observations;
    for (int i = 0; i < learner->layout.shape.observation && r == 0; i++) {
        const struct ppo_moments *m = &s.state.normaliser[1 + i];
        ret->mean[i] = normal && m->count > 0 ? (float)m->mean : 0;
        ret->scale[i] = normal && m->count > 0 ? (float)(1 / sqrt(m->m2 / m->count + PPO_VARIANCE_LEAST)) : 1;
    }
    if (r == 0)
        memcpy(ret->params, s.state.params, s.params_bytes);
    ppo_device_state_finish(&s);
    return r;
}
