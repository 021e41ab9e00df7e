/* A learner on a device: its life, and what an iteration queues. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer/ppo/cuda/learner_pieces.h"

enum { GRAPH_STEPS, GRAPH_MINIBATCH, GRAPH_STEPS_MOST = 16 };
enum { MARK_BEGIN, MARK_ROLLOUT, MARK_ADVANTAGES, MARK_END };

/* ---- life ---- */

static void learner_destroy_device(struct gpu_ppo *p)
{
    ppo_queue_destroy(p->queue);
    free(p);
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
    ppo_gpu_place(p);
    *ret = p;
    return 0;
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
    .memory = ppo_queue_memory,
    .create = learner_create,
    .destroy = learner_destroy_device,
    .write = ppo_gpu_write,
    .read = ppo_gpu_read,
    .iterate = learner_iterate,
    .fetch = learner_fetch,
    .bytes = learner_bytes,
    .waits = learner_waits,
    .matrix_rate = learner_matrix_rate,
    .product_seconds = learner_product_seconds,
    .products = learner_products,
    .notice = learner_notice,
};
