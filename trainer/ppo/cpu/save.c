#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/env/refusal.h"
#include "trainer/ppo/cpu/internal.h"

enum { COUNTERS = 4, N_PIECES = 6 };

struct state_piece {
    const char *name;
    void *at;
    size_t n;
};

/* All except the world's. */
static void list_pieces(struct cpu_learner *l, struct state_piece ret[N_PIECES])
{
    const size_t params = l->learner.layout.n_params * sizeof *l->params;
    const struct state_piece pieces[N_PIECES] = {
        {"params", l->params, params},
        {"adam_m", l->adam_m, params},
        {"adam_v", l->adam_v, params},
        {"normaliser", l->moments, ppo_normaliser_bytes(&l->learner.layout)},
        [COUNTERS] = {"counters", &l->counters, sizeof l->counters},
        {"copies", l->carried, ppo_copies_bytes(&l->learner.params, &l->learner.layout)},
    };
    memcpy(ret, pieces, sizeof pieces);
}

int ppo_cpu_save(struct learner *learner, const struct ppo_sink *sink, char err[static PPO_ERROR_MAX])
{
    struct cpu_learner *l = (struct cpu_learner *)learner;
    struct state_piece pieces[N_PIECES];
    list_pieces(l, pieces);
    for (int i = 0; i < N_PIECES; i++) {
        int rc = sink->piece(sink->ctx, pieces[i].name, pieces[i].at, pieces[i].n);
        if (rc < 0)
            return env_refuse(rc, err, "%s: could not be saved: %s", pieces[i].name, strerror(-rc));
    }
    const size_t n = l->world.state_bytes(l->world.ctx);
    void *state = malloc(n);
    if (!state)
        return env_refuse(-ENOMEM, err, "world: no memory for its %zu bytes", n);
    l->world.save(l->world.ctx, state);
    int rc = sink->piece(sink->ctx, "world", state, n);
    free(state);
    return rc < 0 ? env_refuse(rc, err, "world: could not be saved: %s", strerror(-rc)) : 0;
}

/* A piece of the expected size, or NULL with err. */
static const void *piece_of(const struct ppo_source *source, const char *name, size_t n,
                            char err[static PPO_ERROR_MAX])
{
    size_t found = 0;
    const void *at = source->piece(source->ctx, name, &found);
    if (!at)
        env_refuse(-EINVAL, err, "%s: it is missing; %zu bytes are right", name, n);
    else if (found != n)
        env_refuse(-EINVAL, err, "%s: %zu bytes: %zu are right for these networks, copies and world", name,
                   found, n);
    return found == n ? at : NULL;
}

int ppo_cpu_load(struct learner *learner, const struct ppo_source *source, char err[static PPO_ERROR_MAX])
{
    struct cpu_learner *l = (struct cpu_learner *)learner;
    struct state_piece pieces[N_PIECES];
    const void *from[N_PIECES];
    list_pieces(l, pieces);
    for (int i = 0; i < N_PIECES; i++) {
        from[i] = piece_of(source, pieces[i].name, pieces[i].n, err);
        if (!from[i])
            return -EINVAL;
    }
    struct ppo_counters counters;
    memcpy(&counters, from[COUNTERS], sizeof counters);
    if (counters.iteration < 0 || counters.steps < 0 || counters.adam_steps < 0 || counters.epochs < 0)
        return env_refuse(-EINVAL, err, "counters: iteration %lld: numbers from 0 on are right",
                          (long long)counters.iteration);
    const void *world = piece_of(source, "world", l->world.state_bytes(l->world.ctx), err);
    if (!world)
        return -EINVAL;
    int rc = l->world.load(l->world.ctx, world, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < N_PIECES; i++)
        memcpy(pieces[i].at, from[i], pieces[i].n);
    ppo_cpu_normaliser_set(l);
    return 0;
}
