#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/env/refusal.h"
#include "trainer/nn/kernels.h"
#include "trainer/ppo/cpu/internal.h"

enum {
    LINE = 64,
    ROWS_AT_ONCE =
        256, /* of a pass forward, at least where there are so many: products of fewer are slower */
    FINALS_LEAST = 64,
};
/* A step with fewer operations runs on one thread: two would wait for each other about as long. */
static const double SPLIT_FLOPS = 2e6;

/* How many processors this process may use. */
static int processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return 1;
    const int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}

static void measure(struct cpu_learner *l, const struct ppo_params *params, const struct net_layout *layout)
{
    const struct net_shape *shape = &layout->shape;
    l->learner.params = *params;
    l->learner.layout = *layout;
    l->threads = params->threads > 0 ? params->threads : processors();
    l->learner.params.threads = l->threads;
    l->copies = (size_t)params->copies;
    l->steps = (size_t)params->steps;
    l->rows = l->copies * l->steps;
    l->observation = (size_t)shape->observation;
    l->actions = (size_t)shape->actions;
    l->outputs = (size_t)layout->outputs;
    l->hidden = (size_t)layout->hidden;
    l->sequence = shape->recurrent > 0 ? (size_t)params->sequence : 1;
    const size_t parts = (size_t)l->threads, sequences = (size_t)params->minibatch / l->sequence;
    l->shard = (sequences + parts - 1) / parts * l->sequence;
    const size_t at_once = l->rows < ROWS_AT_ONCE ? l->rows : ROWS_AT_ONCE;
    l->capacity = l->shard > at_once ? l->shard : at_once;
    l->n_finals_room = 2 * l->copies > FINALS_LEAST ? 2 * l->copies : FINALS_LEAST;
    const double flops = ppo_work_of(layout).rollout * (double)l->copies;
    l->rollout_threads = flops >= SPLIT_FLOPS && l->copies >= 2 * parts ? l->threads : 1;
}

/* Places `n` elements of `size` after the last ones; only counts where there is no memory yet. */
static void *lay(struct cpu_learner *l, size_t n, size_t size)
{
    void *at = l->memory ? (char *)l->memory + l->bytes : NULL;
    l->bytes += (n * size + LINE - 1) / LINE * LINE;
    return at;
}

#define LAY(pointer, n) pointer = lay(l, n, sizeof *(pointer))

static void lay_part(struct cpu_learner *l, struct ppo_part *part)
{
    LAY(part->obs, l->shard * l->observation);
    LAY(part->actions, l->shard * l->actions);
    LAY(part->logp, l->shard);
    LAY(part->values, l->shard);
    LAY(part->advantages, l->shard);
    LAY(part->returns, l->shard);
    LAY(part->hidden, l->shard / l->sequence * l->hidden);
    LAY(part->starts, l->shard);
    LAY(part->all_advantages, (size_t)l->learner.params.minibatch);
    LAY(part->grads, l->learner.layout.n_params);
    LAY(part->sum, l->observation);
    LAY(part->squares, l->observation);
}

static void lay_all(struct cpu_learner *l)
{
    const size_t n_params = l->learner.layout.n_params, sequences = l->rows / l->sequence;
    l->bytes = 0;
    LAY(l->params, n_params);
    LAY(l->adam_m, n_params);
    LAY(l->adam_v, n_params);
    LAY(l->moments, 1 + l->observation);
    LAY(l->mean, l->observation);
    LAY(l->scale, l->observation);
    l->carried = lay(l, ppo_copies_bytes(&l->learner.params, &l->learner.layout), 1);
    l->state = l->carried ? (float *)(l->carried + l->copies) : NULL;
    LAY(l->next_state, l->copies * l->hidden);
    LAY(l->obs, l->rows * l->observation);
    LAY(l->taken, l->rows * l->actions);
    LAY(l->logp, l->rows);
    LAY(l->values, l->rows);
    LAY(l->rewards, l->rows);
    LAY(l->bootstrap, l->rows);
    LAY(l->advantages, l->rows);
    LAY(l->returns, l->rows);
    LAY(l->ends, l->rows);
    LAY(l->starts, l->hidden ? l->rows : 0);
    LAY(l->kept, sequences * l->hidden);
    LAY(l->order, sequences);
    LAY(l->raw, l->copies * l->observation);
    LAY(l->heads, l->copies * l->outputs);
    LAY(l->final_obs, l->copies * l->observation);
    LAY(l->last_values, l->copies);
    LAY(l->terminated, l->copies);
    LAY(l->truncated, l->copies);
    LAY(l->std, l->actions);
    LAY(l->shift, l->observation);
    LAY(l->finals, l->n_finals_room * l->observation);
    LAY(l->final_values, l->n_finals_room);
    LAY(l->final_rows, l->n_finals_room);
    for (int place = 0; place < l->threads; place++) {
        struct ppo_part none, *part = l->memory ? &l->parts[place] : &none;
        lay_part(l, part);
    }
}

size_t ppo_learner_bytes_cpu(const struct ppo_params *params, const struct net_layout *layout)
{
    struct cpu_learner l = {0};
    measure(&l, params, layout);
    lay_all(&l);
    return sizeof l + l.bytes +
           (size_t)l.threads * (sizeof *l.parts + sizeof *l.grads + nn_work_bytes(layout, l.capacity, true));
}

static size_t bytes(const struct learner *learner)
{
    return ppo_learner_bytes_cpu(&learner->params, &learner->layout);
}

static void destroy(struct learner *learner)
{
    struct cpu_learner *l = (struct cpu_learner *)learner;
    env_pool_destroy(l->pool);
    if (l->barrier_made)
        ppo_barrier_finish(&l->barrier);
    for (int place = 0; l->parts && place < l->threads; place++)
        nn_work_destroy_f32(l->parts[place].work);
    free(l->parts);
    free(l->grads);
    free(l->memory);
    free(l);
}

/* Linux overcommits memory and kills programs that then use it, so that the size is checked first. */
static int check_memory(const struct cpu_learner *l, char err[static PPO_ERROR_MAX])
{
    const double wanted = (double)ppo_learner_bytes_cpu(&l->learner.params, &l->learner.layout);
    const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (there > 0 && wanted > there)
        return env_refuse(-ENOMEM, err,
                          "copies: %zu: with %zu steps a rollout and its networks take %.0f MiB, and this "
                          "machine has %.0f: fewer of either are right",
                          l->copies, l->steps, wanted / 0x1p20, there / 0x1p20);
    return 0;
}

/* Everything except the pool's threads. */
static int allocate(struct cpu_learner *l, char err[static PPO_ERROR_MAX])
{
    const size_t parts = (size_t)l->threads;
    l->parts = calloc(parts, sizeof *l->parts);
    l->grads = calloc(parts, sizeof *l->grads);
    lay_all(l);
    l->memory = aligned_alloc(LINE, l->bytes);
    if (!l->parts || !l->grads || !l->memory)
        return env_refuse(-ENOMEM, err,
                          "copies: %zu: no memory for %zu bytes: fewer copies or steps would do", l->copies,
                          l->bytes);
    memset(l->memory, 0, l->bytes);
    lay_all(l);
    size_t n_grads = 0;
    for (int place = 0; place < l->threads; place++) {
        size_t first, end;
        int rc = nn_work_create_f32(&l->learner.layout, l->capacity, true, &l->parts[place].work);
        if (rc < 0)
            return env_refuse(rc, err, "minibatch: %d: no memory for its layers: a smaller one would do",
                              l->learner.params.minibatch);
        cpu_share(l, place, (size_t)l->learner.params.minibatch / l->sequence, 1, &first, &end);
        if (first < end)
            l->grads[n_grads++] = l->parts[place].grads;
    }
    return 0;
}

static int start(struct cpu_learner *l, char err[static PPO_ERROR_MAX])
{
    const struct ppo_params *params = &l->learner.params;
    int rc = check_memory(l, err);
    if (rc == 0)
        rc = allocate(l, err);
    if (rc < 0)
        return rc;
    rc = nn_init(&l->learner.layout, params->seed, params->policy_gain, params->log_std_init, l->params);
    if (rc < 0)
        return env_refuse(rc, err, "policy_layers: no memory to draw the weights");
    rc = env_pool_create(l->threads, &l->pool);
    if (rc < 0)
        return env_refuse(rc, err, "threads: %d: the system allows no more: fewer are right", l->threads);
    ppo_barrier_init(&l->barrier, l->threads);
    l->barrier_made = true;
    ppo_cpu_normaliser_set(l);
    return 0;
}

int ppo_learner_create_cpu(const struct ppo_params *params, const struct ppo_world *world,
                           struct learner **ret, char err[static PPO_ERROR_MAX])
{
    struct net_shape shape = params->net;
    struct net_layout layout;
    int rc = ppo_params_check(params, err);
    if (rc < 0)
        return rc;
    if (world->copies != (size_t)params->copies)
        return env_refuse(-EINVAL, err, "copies: %d: %zu is right, the world's", params->copies,
                          world->copies);
    shape.observation = world->observation;
    shape.actions = world->actions;
    shape.levels = world->levels;
    rc = policy_net_layout_init(&layout, &shape, err);
    if (rc < 0)
        return rc;
    struct cpu_learner *l = calloc(1, sizeof *l);
    if (!l)
        return env_refuse(-ENOMEM, err, "learner: no memory");
    measure(l, params, &layout);
    l->learner.params.net = shape;
    l->world = *world;
    snprintf(l->backend, sizeof l->backend, "cpu-%s", nn_kernels_best_f32()->name);
    l->ops = (struct learner_ops){l->backend,       ppo_cpu_iterate, ppo_cpu_save, ppo_cpu_load,
                                  ppo_cpu_snapshot, bytes,           destroy};
    l->learner.ops = &l->ops;
    rc = start(l, err);
    if (rc < 0) {
        destroy(&l->learner);
        return rc;
    }
    *ret = &l->learner;
    return 0;
}
