#include <errno.h>
#include <math.h>
#include <string.h>

#include "trainer/ppo/cpu/draw.h"
#include "trainer/ppo/cpu/internal.h"

/* Rows lie anywhere: later ones are prefetched so many sequences ahead. */
enum { AHEAD = 8, LINE_FLOATS = 16 };

/* Eight sums side by side, which are then added in order. */
static double sum_of(const float *x, size_t n, double less, bool squares)
{
    double lanes[8] = {0}, sum = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) {
            const double d = x[i + k] - less;
            lanes[k] += squares ? d * d : d;
        }
    for (; i < n; i++)
        lanes[i % 8] += squares ? (x[i] - less) * (x[i] - less) : x[i] - less;
    for (int k = 0; k < 8; k++)
        sum += lanes[k];
    return sum;
}

/* The first row of a sequence. */
static inline size_t row_of(const struct cpu_learner *l, uint32_t sequence)
{
    return l->sequence == 1 ? sequence
                            : sequence / l->copies * l->sequence * l->copies + sequence % l->copies;
}

/* Of the minibatch whose sequences are order[0..n): the mean and scale of its advantages. */
static void advantages_of(const struct cpu_learner *l, struct ppo_part *part, const uint32_t *order, size_t n,
                          double *ret_less, double *ret_times)
{
    *ret_less = 0;
    *ret_times = 1;
    if (!l->learner.params.normalise_advantages)
        return;
    float *to = part->all_advantages;
    for (size_t i = 0; i < n; i++) {
        const size_t row = row_of(l, order[i]);
        for (size_t step = 0; step < l->sequence; step++)
            *to++ = l->advantages[row + step * l->copies];
    }
    n *= l->sequence;
    *ret_less = sum_of(part->all_advantages, n, 0, false) / (double)n;
    const double squares = sum_of(part->all_advantages, n, *ret_less, true);
    *ret_times = 1 / (sqrt(squares / (double)(n - 1)) + 1e-8);
}

/* Packs the rows of `n` sequences. */
static void gather(const struct cpu_learner *l, struct ppo_part *part, const uint32_t *order, size_t n,
                   double less, double times)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        size_t row = row_of(l, order[i]);
        if (i + AHEAD < n) {
            const float *obs = l->obs + row_of(l, order[i + AHEAD]) * l->observation;
            for (size_t k = 0; k < l->observation; k += LINE_FLOATS)
                __builtin_prefetch(obs + k);
        }
        if (l->hidden > 0)
            memcpy(part->hidden + i * l->hidden, l->kept + order[i] * l->hidden, l->hidden * sizeof(float));
        for (size_t step = 0; step < l->sequence; step++, to++, row += l->copies) {
            memcpy(part->obs + to * l->observation, l->obs + row * l->observation,
                   l->observation * sizeof(float));
            for (size_t k = 0; k < l->actions; k++)
                part->actions[to * l->actions + k] = l->taken[row * l->actions + k];
            part->logp[to] = l->logp[row];
            part->values[to] = l->values[row];
            part->advantages[to] = (float)((l->advantages[row] - less) * times);
            part->returns[to] = l->returns[row];
            if (l->hidden > 0)
                part->starts[to] = step > 0 && l->starts[row];
        }
    }
}

static void shuffle(struct cpu_learner *l, int place, int64_t epoch)
{
    const uint32_t n = (uint32_t)(l->rows / l->sequence);
    const struct ppo_shuffle order = ppo_shuffle_make(l->learner.params.seed, (uint64_t)epoch, n);
    size_t first, end;
    cpu_share(l, place, n, 1, &first, &end);
    ppo_draw_order(&order, first, end, l->order);
}

/* The sums of all parts, in their order. */
static struct nn_sums sums_of(const struct cpu_learner *l)
{
    struct nn_sums all = {0};
    for (int place = 0; place < l->threads; place++) {
        const struct nn_sums *sums = &l->parts[place].sums;
        all.policy += sums->policy;
        all.value += sums->value;
        all.entropy += sums->entropy;
        all.old_kl += sums->old_kl;
        all.kl += sums->kl;
        all.clipped += sums->clipped;
        all.rows += sums->rows;
    }
    return all;
}

static void keep_within(float *x, float least, float most)
{
    *x = *x < least ? least : *x > most ? most : *x;
}

/* Adam on the parameters of one place; its part of log_std is kept between its floor and ceiling. */
static void descend(struct cpu_learner *l, const struct course *course, double norm, size_t first, size_t end,
                    int n_grads)
{
    const struct ppo_params *params = &l->learner.params;
    const struct net_layout *layout = &l->learner.layout;
    const double step = (double)(course->adam_steps + 1);
    const struct nn_adam adam = {
        .lr = course->learning_rate,
        .beta1 = params->adam_beta1,
        .beta2 = params->adam_beta2,
        .epsilon = params->adam_epsilon,
        .scale = params->max_grad_norm > 0 ? fmin(1, params->max_grad_norm / (norm + 1e-6)) : 1,
        .correction1 = 1 - pow(params->adam_beta1, step),
        .correction2 = 1 - pow(params->adam_beta2, step),
    };
    if (first == end)
        return;
    nn_adam_f32(&adam, l->params, l->adam_m, l->adam_v, l->grads, n_grads, first, end - first);
    if (layout->log_std < 0)
        return;
    const struct net_tensor *tensor = &layout->tensors[layout->log_std];
    for (size_t i = tensor->offset; i < tensor->offset + (size_t)tensor->cols; i++)
        if (i >= first && i < end)
            keep_within(&l->params[i], (float)params->log_std_min, (float)params->log_std_max);
}

/* One minibatch, sequences order[0..n); false: the update ends. */
static bool minibatch(struct cpu_learner *l, int place, const uint32_t *order, size_t n,
                      struct course *course)
{
    const struct ppo_params *params = &l->learner.params;
    struct ppo_part *part = &l->parts[place];
    size_t first, end;
    double less, times;
    advantages_of(l, part, order, n, &less, &times);
    cpu_share(l, place, n, 1, &first, &end);
    gather(l, part, order + first, end - first, less, times);
    const struct nn_rows_f32 rows = {
        .rows = (end - first) * l->sequence,
        .obs = part->obs,
        .steps = l->sequence,
        .hidden = l->hidden ? part->hidden : NULL,
        .starts = l->hidden ? part->starts : NULL,
    };
    const struct nn_sample_f32 sample = {part->actions, part->logp, part->values, part->advantages,
                                         part->returns};
    part->sums = (struct nn_sums){0};
    if (rows.rows > 0)
        nn_loss_f32(part->work, l->params, &course->loss, &rows, &sample, &part->sums);
    ppo_barrier_wait(&l->barrier);

    const struct nn_sums sums = sums_of(l);
    const struct nn_terms terms = nn_terms_of(&course->loss, &sums);
    const double kl = sums.kl / (double)sums.rows;
    bool good = isfinite(terms.loss);
    double norm = 0;
    if (good && params->target_kl > 0 && kl > 1.5 * params->target_kl) {
        course->kl_stop = true;
        return false;
    }
    if (good) {
        if (rows.rows > 0)
            nn_backward_f32(part->work, l->params, &terms, part->grads);
        ppo_barrier_wait(&l->barrier);
        const int n_grads = n < (size_t)l->threads ? (int)n : l->threads;
        cpu_share(l, place, l->learner.layout.n_params, NET_LANES, &first, &end);
        part->grad_squares = first < end ? nn_grad_squares_f32(l->grads, n_grads, first, end - first) : 0;
        ppo_barrier_wait(&l->barrier);
        for (int i = 0; i < l->threads; i++)
            norm += l->parts[i].grad_squares;
        norm = sqrt(norm);
        good = isfinite(norm);
        if (good)
            descend(l, course, norm, first, end, n_grads);
    }
    ppo_barrier_wait(&l->barrier);
    if (!good) {
        course->skipped++;
        course->lost = ++course->bad_in_row >= params->bad_updates;
        return !course->lost;
    }
    course->bad_in_row = 0;
    course->adam_steps++;
    course->minibatches++;
    course->policy += terms.policy;
    course->value += terms.value;
    course->entropy += terms.entropy;
    course->total += terms.loss;
    course->old_kl += sums.old_kl / (double)sums.rows;
    course->kl += kl;
    course->clipped += sums.clipped / (double)sums.rows;
    course->norm += norm;
    return true;
}

static struct course course_of(const struct cpu_learner *l)
{
    const struct ppo_params *params = &l->learner.params;
    const double progress = (double)l->counters.steps / (double)params->total_steps;
    return (struct course){
        .loss = {.clip_range = ppo_clip_range(params, progress),
                 .clip_range_vf = params->clip_range_vf,
                 .vf_coef = params->vf_coef,
                 .ent_coef = ppo_ent_coef(params, progress),
                 .entropy_bound = params->bounded ? params->entropy_bound : 0,
                 .value_bound = params->bounded ? params->value_bound : 0},
        .learning_rate = ppo_learning_rate(params, progress),
        .adam_steps = l->counters.adam_steps,
        .epochs = l->counters.epochs,
        .bad_in_row = l->counters.bad_in_row,
    };
}

static void epochs(struct cpu_learner *l, int place)
{
    const size_t n = (size_t)l->learner.params.minibatch / l->sequence, all = l->rows / l->sequence;
    struct course course = course_of(l);
    bool more = true;
    while (more && course.started < l->learner.params.epochs) {
        course.started++;
        shuffle(l, place, course.epochs++);
        ppo_barrier_wait(&l->barrier);
        for (size_t first = 0; more && first + n <= all; first += n)
            more = minibatch(l, place, l->order + first, n, &course);
    }
    if (place == 0)
        l->course = course;
}

int ppo_cpu_update(struct cpu_learner *l, struct ppo_update *ret)
{
    ppo_cpu_run(l, epochs);
    const struct course *course = &l->course;
    const double n = (double)course->minibatches; /* 0: all figures are NaN */
    ret->policy_loss = course->policy / n;
    ret->value_loss = course->value / n;
    ret->entropy_loss = course->entropy / n;
    ret->loss = course->total / n;
    ret->old_kl = course->old_kl / n;
    ret->kl = course->kl / n;
    ret->clip_fraction = course->clipped / n;
    ret->grad_norm = course->norm / n;
    ret->learning_rate = course->learning_rate;
    ret->clip_range = course->loss.clip_range;
    ret->ent_coef = course->loss.ent_coef;
    ret->minibatches = course->minibatches;
    ret->skipped = course->skipped;
    ret->epochs = course->started;
    ret->kl_stop = course->kl_stop;
    l->counters.adam_steps = course->adam_steps;
    l->counters.epochs = course->epochs;
    l->counters.skipped_total += course->skipped;
    l->counters.bad_in_row = course->bad_in_row;
    return course->lost ? -EDOM : 0;
}
