#include "trainer/command/grad_batch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer/env/philox.h"

/* The purpose of a number: Philox's third counter word. No other draw has this fourth word. */
enum { PARAMS, OBS, ACTIONS, LOGP, VALUES, ADVANTAGES, RETURNS, HIDDEN, STARTS, SCALES };
static const uint32_t draw_for = 0x47u << 24;
static const double two_pi = 2 * M_PI;

static struct philox words_of(uint64_t seed, int what, size_t i)
{
    return philox(seed, (uint32_t)i, (uint32_t)((uint64_t)i >> 32), (uint32_t)what, draw_for);
}

/* Evenly in [0, 1). */
static double evenly(uint64_t seed, int what, size_t i)
{
    return (double)words_of(seed, what, i).word[0] * 0x1p-32;
}

/* Box-Muller. */
static double normal(uint64_t seed, int what, size_t i)
{
    struct philox words = words_of(seed, what, i);
    double radius = sqrt(-2 * log(((double)words.word[0] + 1) * 0x1p-32));
    return radius * cos(two_pi * ((double)words.word[1] * 0x1p-32));
}

static double single(double value)
{
    return (double)(float)value;
}

/* Room for everything, in one piece that `params` begins. */
static struct grad_batch *allocate(const struct net_layout *layout, size_t rows, size_t steps)
{
    struct grad_batch *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    const size_t obs = rows * (size_t)layout->shape.observation;
    const size_t actions = rows * (size_t)layout->shape.actions, heads = rows * (size_t)layout->outputs;
    const size_t hidden = rows / steps * (size_t)layout->hidden;
    double *at = calloc(2 * layout->n_params + obs + actions + heads + hidden + 7 * rows, sizeof *at);
    b->starts = calloc(rows, 1);
    if (!at || !b->starts) {
        free(at);
        free(b->starts);
        free(b);
        return NULL;
    }
    b->layout = *layout;
    b->rows = rows;
    b->steps = steps;
    struct {
        double **array;
        size_t n;
    } parts[] = {
        {&b->params, layout->n_params},
        {&b->grads, layout->n_params},
        {&b->obs, obs},
        {&b->actions, actions},
        {&b->heads, heads},
        {&b->hidden, hidden},
        {&b->old_logp, rows},
        {&b->old_values, rows},
        {&b->advantages, rows},
        {&b->returns, rows},
        {&b->normalised, rows},
        {&b->values, rows},
        {&b->logp, rows},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i].array = at;
        at += parts[i].n;
    }
    return b;
}

void trainer_grad_batch_destroy(struct grad_batch *batch)
{
    if (!batch)
        return;
    free(batch->params);
    free(batch->starts);
    free(batch);
}

/* Larger than at the start of a training, heads and biases too, so that every path counts. */
static double parameter(const struct net_tensor *tensor, uint64_t seed, size_t i, double log_std)
{
    double draw = normal(seed, PARAMS, i);
    switch (tensor->kind) {
    case NET_WEIGHT:
        return draw * sqrt(2.0 / tensor->rows);
    case NET_NORM_WEIGHT:
        return 1 + 0.2 * draw;
    case NET_LOG_STD:
        return log_std + 0.2 * draw;
    case NET_BIAS:
    case NET_NORM_BIAS:
        break;
    }
    return 0.2 * draw;
}

static void draw_params(struct grad_batch *b, uint64_t seed)
{
    double log_std = -1.5 + 1.6 * evenly(seed, SCALES, 0);
    for (int t = 0; t < b->layout.n_tensors; t++) {
        const struct net_tensor *tensor = &b->layout.tensors[t];
        for (int row = 0; row < tensor->rows; row++)
            for (int col = 0; col < tensor->cols; col++) {
                size_t i = tensor->offset + (size_t)row * (size_t)tensor->stride + (size_t)col;
                b->params[i] = single(parameter(tensor, seed, i, log_std));
            }
    }
}

static void draw_obs(struct grad_batch *b, uint64_t seed)
{
    size_t n = b->rows * (size_t)b->layout.shape.observation;
    size_t n_hidden = b->rows / b->steps * (size_t)b->layout.hidden;
    for (size_t i = 0; i < n; i++)
        b->obs[i] = single(normal(seed, OBS, i));
    for (size_t i = 0; i < n_hidden; i++)
        b->hidden[i] = single(0.5 * normal(seed, HIDDEN, i));
    for (size_t i = 0; i < b->rows; i++)
        b->starts[i] = b->layout.hidden && evenly(seed, STARTS, i) < 0.15;
}

static struct nn_rows_f64 rows_of(const struct grad_batch *b)
{
    bool recurrent = b->layout.hidden > 0;
    return (struct nn_rows_f64){.rows = b->rows,
                                .obs = b->obs,
                                .steps = b->steps,
                                .hidden = recurrent ? b->hidden : NULL,
                                .starts = recurrent ? b->starts : NULL};
}

/* The actions, and their log-probabilities and values at the time of the rollout. */
static void draw_sample(struct grad_batch *b, struct nn_work_f64 *work, uint64_t seed)
{
    const struct net_shape *shape = &b->layout.shape;
    const struct nn_rows_f64 rows = rows_of(b);
    nn_forward_f64(work, b->params, &rows, b->heads, b->values, NULL);
    for (size_t i = 0; i < b->rows * (size_t)shape->actions; i++) {
        if (shape->levels) {
            b->actions[i] = floor(evenly(seed, ACTIONS, i) * shape->levels);
            continue;
        }
        size_t action = i % (size_t)shape->actions;
        double deviation = exp(b->params[b->layout.tensors[b->layout.log_std].offset + action]);
        b->actions[i] = single(b->heads[i] + deviation * normal(seed, ACTIONS, i));
    }
    nn_logp_f64(&b->layout, b->params, b->heads, b->actions, b->rows, b->logp, b->normalised);
    double spread = 0.5 * exp(2.8 * evenly(seed, SCALES, 1)); /* of returns: 0.5 to 8 */
    for (size_t i = 0; i < b->rows; i++) {
        b->old_logp[i] = single(b->logp[i] + 0.25 * normal(seed, LOGP, i));
        b->old_values[i] = single(b->values[i] + 0.3 * normal(seed, VALUES, i));
        b->advantages[i] = single(0.2 + 1.5 * normal(seed, ADVANTAGES, i));
        b->returns[i] = single(b->old_values[i] + spread * normal(seed, RETURNS, i));
    }
}

static void normalise(struct grad_batch *b)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < b->rows; i++)
        mean += b->advantages[i] / (double)b->rows;
    for (size_t i = 0; i < b->rows; i++)
        squares += (b->advantages[i] - mean) * (b->advantages[i] - mean);
    double deviation = sqrt(squares / (double)(b->rows - 1));
    for (size_t i = 0; i < b->rows; i++)
        b->normalised[i] = (b->advantages[i] - mean) / (deviation + 1e-8);
}

static void learn(struct grad_batch *b, struct nn_work_f64 *work)
{
    struct nn_sums sums;
    const struct nn_rows_f64 rows = rows_of(b);
    const struct nn_sample_f64 sample = {.actions = b->actions,
                                         .old_logp = b->old_logp,
                                         .old_values = b->old_values,
                                         .advantages = b->normalised,
                                         .returns = b->returns};
    nn_loss_f64(work, b->params, &b->loss, &rows, &sample, &sums);
    nn_results_f64(work, b->heads, b->values, b->logp);
    b->terms = nn_terms_of(&b->loss, &sums);
    nn_backward_f64(work, b->params, &b->terms, b->grads);
}

int trainer_grad_batch_create(const struct grad_batch_options *options, struct grad_batch **ret,
                              char err[static NET_ERROR_MAX])
{
    struct net_layout *layout = malloc(sizeof *layout);
    struct grad_batch *batch = NULL;
    struct nn_work_f64 *work = NULL;
    int r = layout ? policy_net_layout_init(layout, &options->shape, err) : -ENOMEM;
    if (r == 0 && !(batch = allocate(layout, options->rows, options->steps)))
        r = -ENOMEM;
    if (r == 0)
        r = nn_work_create_f64(&batch->layout, options->rows, true, &work);
    if (r == 0) {
        batch->loss = options->loss;
        draw_params(batch, options->seed);
        draw_obs(batch, options->seed);
        draw_sample(batch, work, options->seed);
        normalise(batch);
        learn(batch, work);
        *ret = batch;
    } else {
        trainer_grad_batch_destroy(batch);
        if (r == -ENOMEM)
            snprintf(err, NET_ERROR_MAX, "out of memory: %zu rows of these networks: a smaller batch",
                     options->rows);
    }
    nn_work_destroy_f64(work);
    free(layout);
    return r;
}
