/* A learner on a device: its memory, and what an iteration queues. No CUDA here: queue.h and kernels.h are
 * the device's. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/ppo/cuda/abi.h"
#include "trainer/ppo/cuda/sequence.h"

enum { GRAPH_STEPS, GRAPH_MINIBATCH, GRAPH_STEPS_MOST = 16 };
enum { MARK_BEGIN, MARK_ROLLOUT, MARK_ADVANTAGES, MARK_END };

/* Memory that is copied between host and device; pinned. */
struct letters {
    struct kernel_rates rates;
    struct kernel_figures figures;
    uint32_t stop;
};

struct gpu_ppo {
    struct gpu_ppo_setup setup;
    struct ppo_queue *queue;
    struct letters *letters;
    struct sequence sequence;

    /* The kernels' arguments: the same in every step and minibatch. */
    struct kernel_rollout rollout;
    struct kernel_act act;
    struct kernel_policy policy; /* of a narrow network, with act */
    struct kernel_stepped stepped;
    struct kernel_observed observed;
    struct kernel_returned returned;
    struct kernel_advantages advantages;
    struct kernel_explained explained;
    struct kernel_gather gather;
    struct kernel_loss loss;
    struct kernel_adam adam;
};

static void *at(const struct gpu_ppo *p, size_t offset)
{
    return sequence_at(&p->sequence, offset);
}

static void *lane0(const struct gpu_ppo *p)
{
    return ppo_queue_stream(p->queue, 0);
}

static void launched(struct gpu_ppo *p)
{
    ppo_queue_launched(p->queue);
}

/* ---- arguments ---- */

static struct kernel_matrix observations(const struct gpu_ppo *p, size_t offset)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    return sequence_matrix(&p->sequence, offset, plan->x_stride, plan->half);
}

static float clip_of(bool wanted, double clip)
{
    return wanted ? (float)clip : INFINITY;
}

static const float *log_std_of(const struct gpu_ppo *p)
{
    const struct net_layout *layout = p->setup.layout;
    if (layout->log_std < 0)
        return NULL;
    return (const float *)at(p, p->sequence.plan.params) + layout->tensors[layout->log_std].offset;
}

static void place_rollout(struct gpu_ppo *p)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    const struct ppo_params *params = p->setup.params;
    const struct net_shape *shape = &p->setup.layout->shape;
    const struct env_device_io *io = &p->setup.io;
    const uint32_t copies = (uint32_t)plan->copies, steps = (uint32_t)plan->steps,
                   size = (uint32_t)shape->observation;
    const bool normal = params->normalise_observations;
    struct kernel_clock *clock = at(p, plan->clock);
    p->rollout = (struct kernel_rollout){.clock = clock,
                                         .figures = at(p, plan->figures),
                                         .observe_sums = normal ? at(p, plan->observe_sums) : NULL,
                                         .n_truncated = at(p, plan->n_truncated),
                                         .copy = at(p, plan->copy_columns),
                                         .copies = copies,
                                         .size = size};
    p->stepped.clock = clock;
    p->stepped.observe =
        (struct kernel_observe){.clock = clock,
                                .raw = io->observations,
                                .copies = copies,
                                .size = size,
                                .steps = steps,
                                .mean = at(p, plan->mean),
                                .scale = at(p, plan->scale),
                                .clip = clip_of(normal, params->clip_observations),
                                .rows = observations(p, plan->obs),
                                .now = observations(p, plan->x_now),
                                .sums = p->rollout.observe_sums,
                                .started = at(p, plan->started),
                                .starts = p->setup.layout->hidden ? at(p, plan->starts) : NULL};
    p->act = (struct kernel_act){.clock = clock,
                                 .seed = params->seed,
                                 .heads = at(p, plan->heads),
                                 .head_stride = (uint32_t)plan->head_stride,
                                 .copies = copies,
                                 .actions = (uint32_t)shape->actions,
                                 .levels = (uint32_t)shape->levels,
                                 .log_std = log_std_of(p),
                                 .env_actions = (float *)(uintptr_t)io->actions,
                                 .taken = at(p, plan->actions),
                                 .logp = at(p, plan->logp)};
    if (ppo_sequence_policy(&p->sequence, &p->policy))
        p->policy.act = p->act;
    p->stepped.finals = (struct kernel_finals){.final_obs = io->final_obs,
                                               .terminated = io->terminated,
                                               .truncated = io->truncated,
                                               .n_truncated = at(p, plan->n_truncated),
                                               .copies = copies,
                                               .size = size,
                                               .slots = plan->slots,
                                               .mean = at(p, plan->mean),
                                               .scale = at(p, plan->scale),
                                               .clip = p->stepped.observe.clip,
                                               .rows = observations(p, plan->finals)};
    p->stepped.reward = (struct kernel_reward){.clock = clock,
                                               .rewards = io->rewards,
                                               .terminated = io->terminated,
                                               .truncated = io->truncated,
                                               .copies = copies,
                                               .slots = plan->slots,
                                               .gamma = params->gamma,
                                               .kept = at(p, plan->rewards),
                                               .ends = at(p, plan->ends),
                                               .started = at(p, plan->started),
                                               .n_truncated = at(p, plan->n_truncated),
                                               .final_rows = at(p, plan->final_of),
                                               .copy = at(p, plan->copy_columns)};
    p->observed = (struct kernel_observed){.sums = p->rollout.observe_sums,
                                           .copies = copies,
                                           .steps = steps,
                                           .size = size,
                                           .moments = at(p, plan->moments),
                                           .mean = at(p, plan->mean),
                                           .scale = at(p, plan->scale)};
    p->returned = (struct kernel_returned){.copy = at(p, plan->copy_columns),
                                           .n_truncated = at(p, plan->n_truncated),
                                           .copies = copies,
                                           .steps = steps,
                                           .slots = plan->slots,
                                           .normalise = params->normalise_rewards,
                                           .moments = at(p, plan->reward_moments),
                                           .reward_scale = at(p, plan->reward_scale),
                                           .figures = at(p, plan->figures)};
    p->advantages =
        (struct kernel_advantages){.rewards = at(p, plan->rewards),
                                   .values = at(p, plan->values),
                                   .ends = at(p, plan->ends),
                                   .final_values = at(p, plan->final_values),
                                   .n_truncated = at(p, plan->n_truncated),
                                   .reward_scale = at(p, plan->reward_scale),
                                   .clip_rewards = clip_of(params->normalise_rewards, params->clip_rewards),
                                   .copies = copies,
                                   .steps = steps,
                                   .slots = plan->slots,
                                   .gamma = (float)params->gamma,
                                   .lambda = (float)params->gae_lambda,
                                   .advantages = at(p, plan->advantages),
                                   .returns = at(p, plan->returns)};
    p->explained = (struct kernel_explained){.returns = at(p, plan->returns),
                                             .values = at(p, plan->values),
                                             .rows = plan->rows,
                                             .log_std = log_std_of(p),
                                             .actions = (uint32_t)shape->actions,
                                             .partials = at(p, plan->explained_partials),
                                             .figures = at(p, plan->figures)};
}

static void place_update(struct gpu_ppo *p)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    const struct ppo_params *params = p->setup.params;
    const struct net_layout *layout = p->setup.layout;
    const struct net_tensor *log_std = layout->log_std < 0 ? NULL : &layout->tensors[layout->log_std];
    const uint32_t rows = (uint32_t)plan->minibatch, actions = (uint32_t)layout->shape.actions;
    const bool half = plan->half;
    struct kernel_clock *clock = at(p, plan->clock);
    p->gather = (struct kernel_gather){.clock = clock,
                                       .rows = rows,
                                       .sequence = (uint32_t)plan->sequence,
                                       .copies = (uint32_t)plan->copies,
                                       .obs = observations(p, plan->obs),
                                       .to_obs = observations(p, plan->x),
                                       .actions = actions,
                                       .taken = at(p, plan->actions),
                                       .logp = at(p, plan->logp),
                                       .values = at(p, plan->values),
                                       .advantages = at(p, plan->advantages),
                                       .returns = at(p, plan->returns),
                                       .to_taken = at(p, plan->taken),
                                       .to_logp = at(p, plan->old_logp),
                                       .to_values = at(p, plan->old_values),
                                       .to_advantages = at(p, plan->to_advantages),
                                       .to_returns = at(p, plan->to_returns),
                                       .advantage_sums = at(p, plan->advantage_sums)};
    if (layout->hidden > 0) {
        p->gather.hidden = at(p, plan->kept);
        p->gather.to_hidden = at(p, plan->to_hidden);
        p->gather.hidden_size = (uint32_t)layout->hidden;
        p->gather.starts = at(p, plan->starts);
        p->gather.to_starts = at(p, plan->to_starts);
    }
    p->loss = (struct kernel_loss){
        .clock = clock,
        .rates = at(p, plan->rates),
        .figures = at(p, plan->figures),
        .rows = rows,
        .actions = actions,
        .levels = (uint32_t)layout->shape.levels,
        .heads = at(p, plan->heads),
        .values = at(p, plan->value_heads),
        .head_stride = (uint32_t)plan->head_stride,
        .value_stride = (uint32_t)plan->value_stride,
        .log_std = log_std_of(p),
        .taken = at(p, plan->taken),
        .old_logp = at(p, plan->old_logp),
        .old_values = at(p, plan->old_values),
        .advantages = at(p, plan->to_advantages),
        .returns = at(p, plan->to_returns),
        .advantage_sums = at(p, plan->advantage_sums),
        .normalise_advantages = params->normalise_advantages,
        .clip_range_vf = params->clip_range_vf,
        .vf_coef = params->vf_coef,
        .entropy_bound = params->bounded ? params->entropy_bound : 0,
        .value_bound = params->bounded ? params->value_bound : 0,
        .target_kl = params->target_kl,
        .bad_updates = (uint32_t)params->bad_updates,
        .logp = at(p, plan->new_logp),
        .soft = log_std ? NULL : at(p, plan->soft),
        .partials = at(p, plan->loss_partials),
        .d_heads = sequence_matrix(&p->sequence, plan->d_heads, plan->head_stride, half),
        .d_values = sequence_matrix(&p->sequence, plan->d_values, plan->value_stride, half),
        .head_sums = at(p, plan->head_sums),
        .value_sums = at(p, plan->value_sums),
        .log_std_sums = log_std ? at(p, plan->log_std_sums) : NULL,
        .log_std_stride = log_std ? (uint32_t)log_std->stride : 0};
    p->adam = (struct kernel_adam){.clock = clock,
                                   .rates = at(p, plan->rates),
                                   .figures = at(p, plan->figures),
                                   .order = {.clock = clock,
                                             .seed = params->seed,
                                             .sequences = (uint32_t)(plan->rows / plan->sequence),
                                             .minibatches = (uint32_t)(plan->rows / plan->minibatch)},
                                   .n_params = layout->n_params,
                                   .params = at(p, plan->params),
                                   .m = at(p, plan->m),
                                   .v = at(p, plan->v),
                                   .grads = at(p, plan->grads),
                                   .half = half ? at(p, plan->halves) : NULL,
                                   .partials = at(p, plan->grad_partials),
                                   .beta1 = params->adam_beta1,
                                   .beta2 = params->adam_beta2,
                                   .epsilon = params->adam_epsilon,
                                   .max_grad_norm = params->max_grad_norm,
                                   .bad_updates = (uint32_t)params->bad_updates,
                                   .log_std_first = log_std ? log_std->offset : 0,
                                   .n_log_std = log_std ? actions : 0,
                                   .log_std_min = (float)params->log_std_min,
                                   .log_std_max = (float)params->log_std_max};
}

/* ---- life ---- */

static void learner_destroy_device(struct gpu_ppo *p)
{
    ppo_queue_destroy(p->queue);
    free(p);
}

static int learner_memory(struct gpu_indicators *g, struct gpu_ppo_memory *ret, char *reason, size_t cap)
{
    struct queue_memory memory;
    int r = ppo_queue_memory(g, &memory, reason, cap);
    if (r == 0)
        *ret = (struct gpu_ppo_memory){.total = memory.total,
                                       .free = memory.free,
                                       .held = memory.held,
                                       .context = memory.context,
                                       .driver = memory.driver};
    return r;
}

static int learner_create(struct gpu_indicators *g, const struct gpu_ppo_setup *setup, struct gpu_ppo **ret,
                          char *reason, size_t cap)
{
    struct ppo_plan plan;
    char err[PPO_ERROR_MAX];
    void *base = NULL;
    int r = ppo_plan_make(setup->params, setup->layout, setup->shortest_episode, &plan, err);
    if (r < 0) {
        snprintf(reason, cap, "%s", err);
        return r;
    }
    struct gpu_ppo *p = calloc(1, sizeof(*p));
    if (!p) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    p->setup = *setup;
    r = ppo_queue_create(g, setup->stream, setup->params->product_plans == PPO_MEASURED, &p->queue, reason,
                         cap);
    if (r == 0)
        r = ppo_queue_arena(p->queue, plan.bytes, &base, reason, cap);
    if (r == 0 && !(p->letters = ppo_queue_pinned(p->queue, sizeof(*p->letters)))) {
        snprintf(reason, cap, "out of memory: the host's, pinned");
        r = -ENOMEM;
    }
    if (r == 0)
        r = ppo_sequence_init(&p->sequence, p->queue, setup->params, setup->layout, &plan, base, reason, cap);
    if (r < 0) {
        learner_destroy_device(p);
        return r;
    }
    place_rollout(p);
    place_update(p);
    *ret = p;
    return 0;
}

/* ---- state ---- */

enum { COLUMN_RUNNING, COLUMN_RETURN, COLUMN_LENGTH, COLUMNS_KEPT };

static float scale_of(const struct ppo_moments *moments)
{
    if (!(moments->count > 0))
        return 1;
    return (float)(1 / sqrt(moments->m2 / moments->count + PPO_VARIANCE_LEAST));
}

static int learner_write(struct gpu_ppo *p, const struct gpu_ppo_state *state, char *reason, size_t cap)
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

static int learner_read(struct gpu_ppo *p, const struct gpu_ppo_state *state, char *reason, size_t cap)
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

static int learner_fetch(struct gpu_ppo *p, enum gpu_ppo_array array, void *ret, size_t bytes, char *reason,
                         size_t cap)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    const size_t offsets[] = {
        [GPU_PPO_GRADS] = plan->grads,           [GPU_PPO_X] = plan->x,
        [GPU_PPO_TAKEN] = plan->taken,           [GPU_PPO_OLD_LOGP] = plan->old_logp,
        [GPU_PPO_OLD_VALUES] = plan->old_values, [GPU_PPO_ADVANTAGES] = plan->to_advantages,
        [GPU_PPO_RETURNS] = plan->to_returns,
    };
    ppo_queue_download(p->queue, ret, at(p, offsets[array]), bytes);
    return ppo_queue_wait(p->queue, reason, cap);
}

/* ---- an iteration ---- */

static void step_environment(struct gpu_ppo *p, const struct env_device_io *io)
{
    char err[PPO_ERROR_MAX];
    int r = p->setup.step(p->setup.ctx, io, lane0(p), err);
    if (r < 0)
        ppo_queue_fail(p->queue, r, err);
}

static void step(struct gpu_ppo *p)
{
    if (p->sequence.narrow) {
        ppo_launch_policy(&p->policy, lane0(p));
    } else {
        ppo_sequence_forward(&p->sequence, PASS_ROLLOUT, p->stepped.observe.now, 0);
        ppo_launch_act(&p->act, lane0(p));
    }
    launched(p);
    step_environment(p, &p->setup.io);
    ppo_launch_stepped(&p->stepped, lane0(p));
    launched(p);
}

/* Of a graph: a short step is not much longer than what is between two graphs. */
static size_t steps_of_graph(const struct gpu_ppo *p)
{
    size_t ret = GRAPH_STEPS_MOST;
    while (p->sequence.plan.steps % ret != 0)
        ret--;
    return ret;
}

static void steps(void *ctx)
{
    struct gpu_ppo *p = ctx;
    for (size_t i = 0; i < steps_of_graph(p); i++)
        step(p);
}

static void rollout(struct gpu_ppo *p)
{
    const struct env_device_io begin = {.observations = p->setup.io.observations};
    ppo_launch_rollout_begin(&p->rollout, lane0(p));
    launched(p);
    ppo_queue_copy(p->queue, 0, at(p, p->sequence.plan.value_state), at(p, p->sequence.plan.state),
                   p->sequence.plan.copies * (size_t)p->setup.layout->hidden * sizeof(float));
    step_environment(p, &begin);
    ppo_launch_observe(&p->stepped.observe, lane0(p));
    launched(p);
    for (size_t i = 0; i < p->sequence.plan.steps; i += steps_of_graph(p))
        ppo_queue_repeat(p->queue, GRAPH_STEPS, NULL, steps, p);
    if (p->observed.sums)
        ppo_launch_observed(&p->observed, lane0(p));
    launched(p);
}

/* Values of `n` rows of observations, in passes of equally many rows; the last pass repeats some. */
static void values_of(struct gpu_ppo *p, enum sequence_pass pass, size_t pass_rows, size_t observations_at,
                      size_t values_at, size_t n)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    struct kernel_take take = {
        .from = at(p, plan->value_heads), .stride = (uint32_t)plan->value_stride, .rows = pass_rows};
    for (size_t done = 0; done < n; done += pass_rows) {
        const size_t first = done + pass_rows <= n ? done : n - pass_rows;
        struct kernel_matrix x = observations(p, observations_at);
        x.at = (unsigned char *)x.at + kernel_matrix_bytes(first, x.stride, x.half);
        take.to = (float *)at(p, values_at) + first;
        ppo_sequence_forward(&p->sequence, pass, x, first);
        ppo_launch_take(&take, lane0(p));
        launched(p);
    }
}

static void advantages(struct gpu_ppo *p)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    ppo_launch_returned(&p->returned, lane0(p));
    values_of(p, PASS_VALUES, plan->value_rows, plan->obs, plan->values, plan->rows + plan->copies);
    values_of(p, PASS_FINALS, plan->final_rows, plan->finals, plan->final_values, plan->slots * plan->copies);
    ppo_launch_advantages(&p->advantages, lane0(p));
    launched(p);
}

static void minibatch(void *ctx)
{
    struct gpu_ppo *p = ctx;
    ppo_launch_gather(&p->gather, lane0(p));
    launched(p);
    ppo_sequence_train(&p->sequence);
    ppo_launch_loss_sums(&p->loss, lane0(p));
    ppo_launch_loss_pull(&p->loss, lane0(p));
    launched(p);
    ppo_sequence_back(&p->sequence);
    ppo_launch_grad_squares(&p->adam, lane0(p));
    ppo_launch_grad_step(&p->adam, lane0(p));
    ppo_launch_adam(&p->adam, lane0(p));
    launched(p);
}

static const uint32_t *stop_of(const struct gpu_ppo *p)
{
    return &((const struct kernel_clock *)at(p, p->sequence.plan.clock))->stop;
}

/* Asks the device, which takes a wait. */
static bool is_stopped(struct gpu_ppo *p)
{
    char reason[PPO_ERROR_MAX];
    p->letters->stop = 0;
    ppo_queue_download(p->queue, &p->letters->stop, stop_of(p), sizeof(p->letters->stop));
    return ppo_queue_wait(p->queue, reason, sizeof(reason)) == 0 && p->letters->stop != 0;
}

/* After target_kl has ended them the remaining minibatches are left out: by the device, or where it does not
 * do that, before the next epoch. */
static void update(struct gpu_ppo *p)
{
    const bool may_stop = p->setup.params->target_kl > 0;
    ppo_launch_update_begin(&p->adam.order, lane0(p));
    launched(p);
    for (int epoch = 0; epoch < p->setup.params->epochs; epoch++) {
        if (may_stop && epoch > 0 && !ppo_queue_skips(p->queue, GRAPH_MINIBATCH) && is_stopped(p))
            break;
        for (uint32_t i = 0; i < p->adam.order.minibatches; i++)
            ppo_queue_repeat(p->queue, GRAPH_MINIBATCH, may_stop ? stop_of(p) : NULL, minibatch, p);
    }
    ppo_launch_explained(&p->explained, lane0(p)); /* with the update's deviation */
    launched(p);
}

static int learner_iterate(struct gpu_ppo *p, const struct kernel_rates *rates, bool rehearse,
                           void (*rolled)(void *ctx), void *ctx, struct gpu_ppo_result *ret, char *reason,
                           size_t cap)
{
    const struct ppo_plan *plan = &p->sequence.plan;
    struct ppo_queue *q = p->queue;
    p->letters->rates = *rates;
    ppo_queue_mark(q, MARK_BEGIN);
    ppo_queue_upload(q, at(p, plan->rates), &p->letters->rates, sizeof(p->letters->rates));
    rollout(p);
    if (rehearse)
        return ppo_queue_wait(q, reason, cap);
    ppo_queue_mark(q, MARK_ROLLOUT);
    advantages(p);
    ppo_queue_mark(q, MARK_ADVANTAGES);
    update(p);
    ppo_queue_mark(q, MARK_END);
    ppo_queue_download(q, &p->letters->figures, at(p, plan->figures), sizeof(p->letters->figures));
    if (rolled) {
        ppo_queue_await(q, MARK_ROLLOUT);
        rolled(ctx);
    }
    int r = ppo_queue_wait(q, reason, cap);
    if (r < 0)
        return r;
    *ret = (struct gpu_ppo_result){.figures = p->letters->figures,
                                   .seconds_rollout = ppo_queue_seconds(q, MARK_BEGIN, MARK_ROLLOUT),
                                   .seconds_advantage = ppo_queue_seconds(q, MARK_ROLLOUT, MARK_ADVANTAGES),
                                   .seconds_update = ppo_queue_seconds(q, MARK_ADVANTAGES, MARK_END)};
    return 0;
}

static size_t learner_bytes(const struct gpu_ppo *p)
{
    return p->sequence.plan.bytes;
}

static uint64_t learner_waits(const struct gpu_ppo *p)
{
    return ppo_queue_waits(p->queue);
}

/* Seconds of a product with the operands of its last run, which must be there. */
static int product_seconds(struct gpu_ppo *p, int id, int warm, int rounds, double *ret, char *reason,
                           size_t cap)
{
    struct ppo_queue *q = p->queue;
    for (int i = -warm; i < rounds; i++) {
        if (i == 0)
            ppo_queue_mark(q, MARK_BEGIN);
        ppo_queue_product(q, 0, id, &p->sequence.last[id]);
    }
    ppo_queue_mark(q, MARK_END);
    int r = ppo_queue_wait(q, reason, cap);
    if (r == 0)
        *ret = ppo_queue_seconds(q, MARK_BEGIN, MARK_END) / rounds;
    return r;
}

static int learner_matrix_rate(struct gpu_ppo *p, int rounds, double *ret_flop_per_s, char *reason,
                               size_t cap)
{
    const struct sequence *s = &p->sequence;
    double seconds;
    if (!s->last[s->largest.id].x) {
        snprintf(reason, cap, "nothing was trained yet: the products have no operands");
        return -EINVAL;
    }
    int r = product_seconds(p, s->largest.id, rounds / 4 + 1, rounds, &seconds, reason, cap);
    if (r == 0)
        *ret_flop_per_s = s->largest_flops / seconds;
    return r;
}

static int learner_product_seconds(struct gpu_ppo *p, int id, int rounds, double *ret, char *reason,
                                   size_t cap)
{
    *ret = NAN;
    return p->sequence.last[id].x ? product_seconds(p, id, 1, rounds, ret, reason, cap) : 0;
}

static size_t learner_products(const struct gpu_ppo *p, struct queue_record *ret, size_t n)
{
    return ppo_queue_records(p->queue, ret, n);
}

static const char *learner_notice(const struct gpu_ppo *p)
{
    return ppo_queue_notice(p->queue);
}

extern const struct gpu_ppo_api papertape_gpu_ppo;
__attribute__((visibility("default"))) const struct gpu_ppo_api papertape_gpu_ppo = {
    .abi = GPU_PPO_ABI,
    .memory = learner_memory,
    .create = learner_create,
    .destroy = learner_destroy_device,
    .write = learner_write,
    .read = learner_read,
    .iterate = learner_iterate,
    .fetch = learner_fetch,
    .bytes = learner_bytes,
    .waits = learner_waits,
    .matrix_rate = learner_matrix_rate,
    .product_seconds = learner_product_seconds,
    .products = learner_products,
    .notice = learner_notice,
};
