#include <math.h>
#include <string.h>

#include "strategy/policy/activation.h"
#include "trainer/ppo/cpu/draw.h"
#include "trainer/ppo/cpu/internal.h"

/* Draws a whole rollout's random numbers into the places of its actions: they depend on the row alone. */
static void draw(struct cpu_learner *l, int place)
{
    size_t first, end;
    cpu_share(l, place, l->rows, 1, &first, &end);
    ppo_draw_rows(l->learner.params.seed, (uint64_t)l->counters.iteration * l->steps, l->copies, l->actions,
                  l->learner.layout.shape.levels > 0, first, end, l->taken);
}

/* The level at which the cumulated softmax of logits reaches `uniform` of its sum. */
static float level_of(const float *logits, int levels, float uniform)
{
    float most = logits[0], sum = 0, reached = 0;
    for (int k = 1; k < levels; k++)
        most = logits[k] > most ? logits[k] : most;
    for (int k = 0; k < levels; k++)
        sum += activation_exp(logits[k] - most);
    const float wanted = uniform * sum;
    for (int k = 0; k < levels - 1; k++) {
        reached += activation_exp(logits[k] - most);
        if (reached > wanted)
            return (float)k;
    }
    return (float)(levels - 1);
}

/* The draws become actions. */
static void choose(const struct cpu_learner *l, const float *heads, size_t rows, float *actions)
{
    const int levels = l->learner.layout.shape.levels;
    for (size_t row = 0; row < rows; row++, heads += l->outputs, actions += l->actions)
        for (size_t i = 0; i < l->actions; i++)
            actions[i] = levels > 0 ? level_of(heads + i * (size_t)levels, levels, actions[i])
                                    : heads[i] + l->std[i] * actions[i];
}

/* Copies [first, end) at one step: observations and actions. */
static void act(struct cpu_learner *l, struct ppo_part *part, size_t step, size_t first, size_t end)
{
    while (first < end) {
        const size_t n = end - first < l->capacity ? end - first : l->capacity,
                     row = step * l->copies + first;
        float *obs = l->obs + row * l->observation, *heads = l->heads + first * l->outputs;
        ppo_cpu_normalise_and_sum(l, part, l->raw + first * l->observation, n, obs);
        const struct nn_rows_f32 rows = {
            .rows = n, .obs = obs, .steps = 1, .hidden = l->hidden ? l->state + first * l->hidden : NULL};
        nn_forward_f32(part->work, l->params, &rows, heads, l->hidden ? l->values + row : NULL,
                       l->hidden ? l->next_state + first * l->hidden : NULL);
        choose(l, heads, n, l->taken + row * l->actions);
        nn_logp_f32(&l->learner.layout, l->params, heads, l->taken + row * l->actions, n, l->logp + row,
                    NULL);
        first += n;
    }
}

/* Keeps the final observation of a truncated copy, whose value is needed. With a recurrent layer the value is
 * computed at once, from the state after the step. */
static void keep_final(struct cpu_learner *l, size_t row, size_t copy)
{
    float *to = l->finals + l->n_finals * l->observation;
    ppo_cpu_normalise(l, l->final_obs + copy * l->observation, 1, to);
    if (l->hidden == 0) {
        l->final_rows[l->n_finals++] = row;
        return;
    }
    const struct nn_rows_f32 rows = {.rows = 1, .obs = to, .steps = 1, .hidden = l->state + copy * l->hidden};
    nn_forward_f32(l->parts[0].work, l->params, &rows, NULL, &l->bootstrap[row], NULL);
}

/* Steps the world and stores its results. */
static void step_world(struct cpu_learner *l, size_t step)
{
    const size_t row = step * l->copies;
    const struct env_io io = {
        .actions = l->taken + row * l->actions,
        .rewards = l->rewards + row,
        .terminated = l->terminated,
        .truncated = l->truncated,
        .final_obs = l->final_obs,
    };
    l->rc = l->world.step(l->world.ctx, &io, l->err);
    if (l->rc < 0)
        return;
    if (l->hidden > 0) {
        if (step % l->sequence == 0)
            memcpy(l->kept + step / l->sequence * l->copies * l->hidden, l->state,
                   l->copies * l->hidden * sizeof *l->kept);
        memcpy(l->state, l->next_state, l->copies * l->hidden * sizeof *l->state);
    }
    if (l->n_finals + l->copies > l->n_finals_room)
        ppo_cpu_values_of_finals(l);
    for (size_t copy = 0; copy < l->copies; copy++) {
        const bool ended = l->terminated[copy] || l->truncated[copy];
        l->ends[row + copy] = ended;
        l->bootstrap[row + copy] = 0;
        if (l->hidden > 0 && step + 1 < l->steps)
            l->starts[row + l->copies + copy] = ended;
        if (!ended)
            continue;
        if (!l->terminated[copy])
            keep_final(l, row + copy, copy);
        if (l->hidden > 0)
            memset(l->state + copy * l->hidden, 0, l->hidden * sizeof *l->state);
    }
    l->world.observe(l->world.ctx, l->raw);
}

static void walk(struct cpu_learner *l, int place)
{
    size_t first, end;
    cpu_share(l, place, l->copies, 1, &first, &end);
    for (size_t step = 0; step < l->steps; step++) {
        act(l, &l->parts[place], step, first, end);
        ppo_barrier_wait(&l->barrier);
        if (place == 0)
            step_world(l, step);
        ppo_barrier_wait(&l->barrier);
        if (l->rc < 0)
            return;
    }
}

int ppo_cpu_rollout(struct cpu_learner *l)
{
    const struct net_layout *layout = &l->learner.layout;
    ppo_cpu_run(l, draw);
    if (layout->log_std >= 0)
        for (size_t i = 0; i < l->actions; i++)
            l->std[i] = activation_exp(l->params[layout->tensors[layout->log_std].offset + i]);
    l->world.observe(l->world.ctx, l->raw);
    ppo_cpu_sums_begin(l);
    if (l->hidden > 0)
        memset(l->starts, 0, l->copies);
    l->n_finals = 0;
    l->rc = 0;
    if (l->rollout_threads > 1) {
        ppo_cpu_run(l, walk);
        return l->rc;
    }
    for (size_t step = 0; step < l->steps && l->rc == 0; step++) {
        act(l, &l->parts[0], step, 0, l->copies);
        step_world(l, step);
    }
    return l->rc;
}
