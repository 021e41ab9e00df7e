/* Distributions of actions: log probabilities, entropies and their gradients. */
#include <math.h>
#include <string.h>

#include "trainer/nn/activate.h"
#include "trainer/nn/work.h"

#define HALF_LOG_2PI 0.91893853320467274178 /* ln(2 pi) / 2 */

/* What is the same for all rows of a normal distribution. */
struct normal {
    real inverse[NET_OUTPUTS_MAX]; /* exp(-log_std) */
    double log_norm;               /* sum of log_std + ln(2 pi) / 2 */
};

static void normal_open(struct normal *normal, const struct net_layout *layout, const real *params)
{
    const real *log_std = params + layout->tensors[layout->log_std].offset;
    normal->log_norm = 0;
    for (int a = 0; a < layout->shape.actions; a++) {
        normal->inverse[a] = (real)exp(-(double)log_std[a]);
        normal->log_norm += (double)log_std[a] + HALF_LOG_2PI;
    }
}

/* Softmax of `levels` logits: probabilities, and the logarithm of the sum of exponentials. */
static real softmax(const real *logits, size_t levels, real *ret)
{
    real most = logits[0], sum = 0;
    for (size_t k = 1; k < levels; k++)
        most = logits[k] > most ? logits[k] : most;
    for (size_t k = 0; k < levels; k++) {
        ret[k] = real_exp(logits[k] - most);
        sum += ret[k];
    }
    for (size_t k = 0; k < levels; k++)
        ret[k] /= sum;
    return most + real_log(sum);
}

static real softmax_entropy(const real *logits, const real *p, real log_sum, size_t levels)
{
    real entropy = 0;
    for (size_t k = 0; k < levels; k++)
        entropy += p[k] * (log_sum - logits[k]);
    return entropy;
}

static size_t level_of(real action, size_t levels)
{
    return !(action >= 0) ? 0 : action < (real)levels ? (size_t)action : levels - 1;
}

static void discrete_logp(const struct net_layout *layout, const real *heads, size_t stride,
                          const real *actions, size_t rows, real *ret_logp, real *ret_entropy)
{
    const size_t n = (size_t)layout->shape.actions, levels = (size_t)layout->shape.levels;
    real p[NET_OUTPUTS_MAX];
    for (size_t r = 0; r < rows; r++) {
        real logp = 0, entropy = 0;
        for (size_t a = 0; a < n; a++) {
            const real *logits = heads + r * stride + a * levels;
            const real log_sum = softmax(logits, levels, p);
            logp += logits[level_of(actions[r * n + a], levels)] - log_sum;
            entropy += softmax_entropy(logits, p, log_sum, levels);
        }
        ret_logp[r] = logp;
        if (ret_entropy)
            ret_entropy[r] = entropy;
    }
}

void REAL(nn_logp_rows)(const struct net_layout *layout, const real *params, const real *heads, size_t stride,
                        const real *actions, size_t rows, real *ret_logp, real *ret_entropy)
{
    if (layout->shape.levels) {
        discrete_logp(layout, heads, stride, actions, rows, ret_logp, ret_entropy);
        return;
    }
    const size_t n = (size_t)layout->shape.actions;
    struct normal normal;
    normal_open(&normal, layout, params);
    const real log_norm = (real)normal.log_norm;
    for (size_t r = 0; r < rows; r++) {
        real squares = 0;
        for (size_t a = 0; a < n; a++) {
            const real z = (actions[r * n + a] - heads[r * stride + a]) * normal.inverse[a];
            squares += z * z;
        }
        ret_logp[r] = (real)-0.5 * squares - log_norm;
        if (ret_entropy)
            ret_entropy[r] = (real)(normal.log_norm + 0.5 * (double)n);
    }
}

void REAL(nn_logp)(const struct net_layout *layout, const real *params, const real *heads,
                   const real *actions, size_t rows, real *ret_logp, real *ret_entropy)
{
    REAL(nn_logp_rows)(layout, params, heads, (size_t)layout->outputs, actions, rows, ret_logp, ret_entropy);
}

/* d logp / d logit = (1 where chosen) - p; d entropy / d logit = -p (ln p + entropy). */
static void discrete_delta(const struct REAL(nn_work) * work, const struct nn_terms *terms, real *delta)
{
    const struct net_layout *layout = work->layout;
    const size_t n = (size_t)layout->shape.actions, levels = (size_t)layout->shape.levels;
    const size_t stride = work->chains[NET_PI].head_stride;
    const real pull_entropy = (real)terms->pull_entropy, pull_policy = (real)terms->pull_policy;
    real p[NET_OUTPUTS_MAX];
    for (size_t r = 0; r < work->rows.rows; r++) {
        const real pull = pull_policy * work->pull_logp[r];
        real *d = delta + r * stride;
        for (size_t a = 0; a < n; a++, d += levels) {
            const real *logits = work->chains[NET_PI].head + r * stride + a * levels;
            const real log_sum = softmax(logits, levels, p);
            const real entropy = softmax_entropy(logits, p, log_sum, levels);
            for (size_t k = 0; k < levels; k++)
                d[k] = pull_entropy * p[k] * (logits[k] - log_sum + entropy) - pull * p[k];
            d[level_of(work->sample.actions[r * n + a], levels)] += pull;
        }
        memset(d, 0, (stride - n * levels) * sizeof *d);
    }
}

void REAL(nn_policy_delta)(const struct REAL(nn_work) * work, const real *params,
                           const struct nn_terms *terms, real *delta, real *dlog_std)
{
    const struct net_layout *layout = work->layout;
    if (layout->shape.levels) {
        discrete_delta(work, terms, delta);
        return;
    }
    const size_t n = (size_t)layout->shape.actions, stride = work->chains[NET_PI].head_stride;
    const real pull_policy = (real)terms->pull_policy;
    struct normal normal;
    normal_open(&normal, layout, params);
    for (size_t a = 0; a < n; a++)
        dlog_std[a] = 0;
    for (size_t r = 0; r < work->rows.rows; r++) {
        const real pull = pull_policy * work->pull_logp[r];
        const real *head = work->chains[NET_PI].head + r * stride, *action = work->sample.actions + r * n;
        real *d = delta + r * stride;
        for (size_t a = 0; a < n; a++) {
            const real z = (action[a] - head[a]) * normal.inverse[a];
            d[a] = pull * (z * normal.inverse[a]);
            dlog_std[a] += pull * (z * z - 1);
        }
        for (size_t a = n; a < stride; a++)
            d[a] = 0;
    }
    for (size_t a = 0; a < n; a++)
        dlog_std[a] -= (real)(terms->pull_entropy * (double)work->rows.rows);
}
