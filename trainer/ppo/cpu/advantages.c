#include <math.h>
#include <string.h>

#include "trainer/ppo/cpu/internal.h"

/* Values of observations [first, end) of some array. */
static void values_of(struct cpu_learner *l, struct ppo_part *part, const float *obs, const float *hidden,
                      size_t first, size_t end, float *ret)
{
    while (first < end) {
        const size_t n = end - first < l->capacity ? end - first : l->capacity;
        const struct nn_rows_f32 rows = {.rows = n,
                                         .obs = obs + first * l->observation,
                                         .steps = 1,
                                         .hidden = hidden ? hidden + first * l->hidden : NULL};
        nn_forward_f32(part->work, l->params, &rows, NULL, ret + first, NULL);
        first += n;
    }
}

void ppo_cpu_values_of_finals(struct cpu_learner *l)
{
    values_of(l, &l->parts[0], l->finals, NULL, 0, l->n_finals, l->final_values);
    for (size_t i = 0; i < l->n_finals; i++)
        l->bootstrap[l->final_rows[i]] = l->final_values[i];
    l->n_finals = 0;
}

/* A recurrent layer's were computed with the rollout. */
static void values_of_rollout(struct cpu_learner *l, int place)
{
    size_t first, end;
    cpu_share(l, place, l->rows, NET_LANES, &first, &end);
    values_of(l, &l->parts[place], l->obs, NULL, first, end, l->values);
}

/* Running returns, their statistics, and episodes. */
static void count_rewards(struct cpu_learner *l, struct ppo_update *ret)
{
    const double gamma = l->learner.params.gamma;
    struct ppo_moments running = {0};
    double sum = 0, returned = 0, squares = 0, length = 0, first = 0;
    int64_t episodes = 0;
    for (size_t row = 0; row < l->rows; row++) {
        struct ppo_copy *copy = &l->carried[row % l->copies];
        const double reward = l->rewards[row];
        sum += reward;
        copy->reward += reward;
        copy->length++;
        copy->running = copy->running * gamma + (isfinite(reward) ? reward : 0);
        running.count++;
        const double delta = copy->running - running.mean;
        running.mean += delta / running.count;
        running.m2 += delta * (copy->running - running.mean);
        if (!l->ends[row])
            continue;
        if (episodes++ == 0)
            first = copy->reward;
        returned += copy->reward - first;
        squares += (copy->reward - first) * (copy->reward - first);
        length += (double)copy->length;
        *copy = (struct ppo_copy){0};
    }
    if (l->learner.params.normalise_rewards)
        ppo_moments_merge(&l->moments[0], running);
    const double n = (double)episodes, mean = returned / n;
    ret->episodes = episodes;
    ret->episode_return = first + mean;
    ret->episode_length = length / n;
    ret->episode_return_std = sqrt(fmax(squares / n - mean * mean, 0));
    if (episodes == 0)
        ret->episode_return = ret->episode_length = ret->episode_return_std = NAN;
    ret->reward = sum / (double)l->rows;
}

static void scale_rewards(struct cpu_learner *l)
{
    const struct ppo_moments *moments = &l->moments[0];
    if (!l->learner.params.normalise_rewards || moments->count == 0)
        return;
    const float scale = (float)(1 / sqrt(moments->m2 / moments->count + PPO_VARIANCE_LEAST));
    const float bound = (float)l->learner.params.clip_rewards;
    for (size_t row = 0; row < l->rows; row++) {
        const float reward = l->rewards[row] * scale;
        l->rewards[row] = reward > bound ? bound : reward < -bound ? -bound : reward;
    }
}

/* GAE (Schulman et al. 2016), from the last step to the first. */
void ppo_cpu_look_back(struct cpu_learner *l)
{
    const float gamma = (float)l->learner.params.gamma;
    const float decay = (float)(l->learner.params.gamma * l->learner.params.gae_lambda);
    const float *next_values = l->last_values, *next_advantages = NULL;
    for (size_t step = l->steps; step-- > 0;) {
        const size_t first = step * l->copies;
        for (size_t row = first; row < first + l->copies; row++) {
            const size_t copy = row - first;
            const bool ended = l->ends[row];
            const float next_value = ended ? 0 : next_values[copy];
            const float next_advantage = ended || !next_advantages ? 0 : next_advantages[copy];
            const float reward = l->rewards[row] + gamma * l->bootstrap[row];
            const float delta = reward + gamma * next_value - l->values[row];
            l->advantages[row] = delta + decay * next_advantage;
            l->returns[row] = l->advantages[row] + l->values[row];
        }
        next_values = l->values + first;
        next_advantages = l->advantages + first;
    }
}

/* 1 - var(returns - values) / var(returns); NaN where returns do not vary. */
static double explained(const struct cpu_learner *l)
{
    const double n = (double)l->rows, shift = l->returns[0];
    double sum = 0, squares = 0, rest = 0, rest_squares = 0;
    for (size_t row = 0; row < l->rows; row++) {
        const double ret = l->returns[row] - shift, off = (double)l->returns[row] - l->values[row];
        sum += ret;
        squares += ret * ret;
        rest += off;
        rest_squares += off * off;
    }
    const double variance = squares - sum * sum / n;
    return variance > 0 ? 1 - (rest_squares - rest * rest / n) / variance : NAN;
}

void ppo_cpu_advantages(struct cpu_learner *l, struct ppo_update *ret)
{
    if (l->hidden == 0) {
        ppo_cpu_run(l, values_of_rollout);
        ppo_cpu_values_of_finals(l);
    }
    /* What follows the last step; there is room for it where final observations were. */
    ppo_cpu_normalise(l, l->raw, l->copies, l->finals);
    values_of(l, &l->parts[0], l->finals, l->hidden ? l->state : NULL, 0, l->copies, l->last_values);
    count_rewards(l, ret);
    scale_rewards(l);
    ppo_cpu_look_back(l);
    ret->explained_variance = explained(l);
}
