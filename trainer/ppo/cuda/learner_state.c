/* Of a learner on a device: its state, written and read as checkpoints have it (trainer/ppo/state.h). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/ppo/cuda/learner_pieces.h"

enum { COLUMN_RUNNING, COLUMN_RETURN, COLUMN_LENGTH, COLUMNS_KEPT };

static float scale_of(const struct ppo_moments *moments)
{
    if (!(moments->count > 0))
        return 1;
    return (float)(1 / sqrt(moments->m2 / moments->count + PPO_VARIANCE_LEAST));
}

int ppo_gpu_write(struct gpu_ppo *p, const struct gpu_ppo_state *state, char *reason, size_t cap)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    const struct net_layout *layout = p->setup.layout;
    const size_t copies = plan->copies, size = (size_t)layout->shape.observation,
                 bytes = layout->n_params * sizeof(float);
    const bool normal = p->setup.params->normalise_observations;
    double *columns = malloc(copies * COLUMNS_KEPT * sizeof(*columns));
    uint8_t *starts = malloc(copies);
    float *scaling = malloc(2 * size * sizeof(*scaling));
    int r = columns && starts && scaling ? 0 : -ENOMEM;
    if (r < 0)
        snprintf(reason, cap, "out of memory");
    for (size_t i = 0; i < copies && r == 0; i++) {
        columns[COLUMN_RUNNING * copies + i] = state->copies[i].running;
        columns[COLUMN_RETURN * copies + i] = state->copies[i].reward;
        columns[COLUMN_LENGTH * copies + i] = (double)state->copies[i].length;
        starts[i] = state->copies[i].length == 0;
    }
    for (size_t i = 0; i < size && r == 0; i++) {
        const struct ppo_moments *m = &state->normaliser[1 + i];
        scaling[i] = normal && m->count > 0 ? (float)m->mean : 0;
        scaling[size + i] = normal ? scale_of(m) : 1;
    }
    struct kernel_clock clock = {
        .run_step = (uint64_t)state->counters->iteration * plan->steps,
        .epoch = (uint64_t)state->counters->epochs,
        .adam_step = (uint64_t)state->counters->adam_steps,
        .bad_in_row = (uint32_t)state->counters->bad_in_row,
    };
    const float reward_scale = p->setup.params->normalise_rewards ? scale_of(&state->normaliser[0]) : 1;
    if (r == 0) {
        struct ppo_queue *q = p->queue;
        ppo_queue_upload(q, at(p, plan->params), state->params, bytes);
        ppo_queue_upload(q, at(p, plan->m), state->adam_m, bytes);
        ppo_queue_upload(q, at(p, plan->v), state->adam_v, bytes);
        ppo_queue_upload(q, at(p, plan->reward_moments), state->normaliser, sizeof(struct ppo_moments));
        ppo_queue_upload(q, at(p, plan->moments), state->normaliser + 1, size * sizeof(struct ppo_moments));
        ppo_queue_upload(q, at(p, plan->mean), scaling, size * sizeof(float));
        ppo_queue_upload(q, at(p, plan->scale), scaling + size, size * sizeof(float));
        ppo_queue_upload(q, at(p, plan->reward_scale), &reward_scale, sizeof(reward_scale));
        ppo_queue_upload(q, at(p, plan->copy_columns), columns, copies * COLUMNS_KEPT * sizeof(double));
        ppo_queue_upload(q, at(p, plan->started), starts, copies);
        ppo_queue_upload(q, at(p, plan->clock), &clock, sizeof(clock));
        ppo_queue_upload(q, at(p, plan->state), state->copies + copies,
                         copies * (size_t)layout->hidden * sizeof(float));
        if (plan->half) {
            const struct kernel_halve halve = {at(p, plan->params), at(p, plan->halves), layout->n_params};
            ppo_launch_halve(&halve, lane0(p));
            launched(p);
        }
        r = ppo_queue_wait(q, reason, cap);
        ppo_queue_forget(q);
    }
    free(columns);
    free(starts);
    free(scaling);
    return r;
}

int ppo_gpu_read(struct gpu_ppo *p, const struct gpu_ppo_state *state, char *reason, size_t cap)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    const size_t copies = plan->copies, size = (size_t)p->setup.layout->shape.observation,
                 bytes = p->setup.layout->n_params * sizeof(float);
    const size_t hidden = (size_t)p->setup.layout->hidden;
    struct ppo_queue *q = p->queue;
    struct kernel_clock clock;
    double *columns = malloc(copies * COLUMNS_KEPT * sizeof(*columns));
    if (!columns) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    ppo_queue_download(q, state->params, at(p, plan->params), bytes);
    ppo_queue_download(q, state->adam_m, at(p, plan->m), bytes);
    ppo_queue_download(q, state->adam_v, at(p, plan->v), bytes);
    ppo_queue_download(q, state->normaliser, at(p, plan->reward_moments), sizeof(struct ppo_moments));
    ppo_queue_download(q, state->normaliser + 1, at(p, plan->moments), size * sizeof(struct ppo_moments));
    ppo_queue_download(q, columns, at(p, plan->copy_columns), copies * COLUMNS_KEPT * sizeof(double));
    ppo_queue_download(q, &clock, at(p, plan->clock), sizeof(clock));
    float *memory = (float *)(state->copies + copies);
    ppo_queue_download(q, memory, at(p, plan->state), copies * hidden * sizeof(float));
    int r = ppo_queue_wait(q, reason, cap);
    for (size_t i = 0; i < copies && r == 0; i++)
        state->copies[i] = (struct ppo_copy){.running = columns[COLUMN_RUNNING * copies + i],
                                             .reward = columns[COLUMN_RETURN * copies + i],
                                             .length = (int64_t)columns[COLUMN_LENGTH * copies + i]};
    for (size_t i = 0; i < copies && r == 0; i++)
        if (state->copies[i].length == 0) /* the next episode's, which the device clears when it begins */
            memset(memory + i * hidden, 0, hidden * sizeof(*memory));
    if (r == 0) {
        state->counters->epochs = (int64_t)clock.epoch;
        state->counters->adam_steps = (int64_t)clock.adam_step;
        state->counters->bad_in_row = clock.bad_in_row;
    }
    free(columns);
    return r;
}
