#include <math.h>
#include <string.h>

#include "trainer/ppo/cpu/internal.h"

static inline float clipped(float x, float bound)
{
    return x > bound ? bound : x < -bound ? -bound : x; /* NaN stays */
}

void ppo_cpu_normalise(const struct cpu_learner *l, const float *raw, size_t rows, float *ret)
{
    if (!l->learner.params.normalise_observations) {
        memcpy(ret, raw, rows * l->observation * sizeof *ret);
        return;
    }
    const float bound = (float)l->learner.params.clip_observations;
    for (size_t row = 0; row < rows; row++, raw += l->observation, ret += l->observation)
        for (size_t i = 0; i < l->observation; i++)
            ret[i] = clipped((raw[i] - l->mean[i]) * l->scale[i], bound);
}

void ppo_cpu_normalise_and_sum(const struct cpu_learner *l, struct ppo_part *part, const float *raw,
                               size_t rows, float *ret)
{
    ppo_cpu_normalise(l, raw, rows, ret);
    if (!l->learner.params.normalise_observations)
        return;
    double *restrict sum = part->sum, *restrict squares = part->squares;
    const double *restrict shift = l->shift;
    for (size_t row = 0; row < rows; row++, raw += l->observation)
        for (size_t i = 0; i < l->observation; i++) {
            const double d = (double)raw[i] - shift[i];
            sum[i] += d;
            squares[i] += d * d;
        }
    part->summed += rows;
}

void ppo_cpu_sums_begin(struct cpu_learner *l)
{
    for (size_t i = 0; i < l->observation; i++)
        l->shift[i] = l->raw[i];
    for (int place = 0; place < l->threads; place++) {
        struct ppo_part *part = &l->parts[place];
        memset(part->sum, 0, l->observation * sizeof *part->sum);
        memset(part->squares, 0, l->observation * sizeof *part->squares);
        part->summed = 0;
    }
}

void ppo_cpu_sums_merge(struct cpu_learner *l)
{
    for (size_t i = 0; i < l->observation; i++) {
        struct ppo_moments all = {0};
        for (int place = 0; place < l->threads; place++) {
            const struct ppo_part *part = &l->parts[place];
            if (part->summed == 0)
                continue;
            const double n = (double)part->summed, sum = part->sum[i];
            const double m2 = part->squares[i] - sum * sum / n;
            ppo_moments_merge(&all, (struct ppo_moments){n, l->shift[i] + sum / n, m2 < 0 ? 0 : m2});
        }
        ppo_moments_merge(&l->moments[1 + i], all);
    }
}

void ppo_cpu_normaliser_set(struct cpu_learner *l)
{
    for (size_t i = 0; i < l->observation; i++) {
        const struct ppo_moments *moments = &l->moments[1 + i];
        const bool known = moments->count > 0;
        l->mean[i] = known ? (float)moments->mean : 0;
        l->scale[i] = known ? (float)(1 / sqrt(moments->m2 / moments->count + PPO_VARIANCE_LEAST)) : 1;
    }
}
