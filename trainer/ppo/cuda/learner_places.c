/* Of a learner on a device: the arguments of its kernels. */
#include <math.h>

#include "trainer/ppo/cuda/learner_pieces.h"

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

void ppo_gpu_place(struct gpu_ppo *p)
{
    place_rollout(p);
    place_update(p);
}
