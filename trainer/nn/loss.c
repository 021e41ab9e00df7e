#include "trainer/nn/activate.h"
#include "trainer/nn/work.h"

/* The loss' terms of one row, and their gradients by logp and value. */
static void row_policy(const struct nn_loss *loss, real logp, real old_logp, real advantage,
                       struct nn_sums *sums, real *ret_pull)
{
    const real low = (real)(1 - loss->clip_range), high = (real)(1 + loss->clip_range);
    const real log_ratio = logp - old_logp, change = real_expm1(log_ratio), ratio = 1 + change;
    const real clipped = ratio < low ? low : ratio > high ? high : ratio;
    const real free = ratio * advantage, bound = clipped * advantage;
    const bool pulls = free <= bound;
    sums->policy -= (double)(pulls ? free : bound);
    sums->old_kl -= (double)log_ratio;
    sums->kl += (double)(change - log_ratio);
    sums->clipped += (double)change > loss->clip_range || (double)change < -loss->clip_range;
    *ret_pull = pulls ? -free : 0;
}

static real row_value(const struct nn_loss *loss, real value, real old_value, real wanted,
                      struct nn_sums *sums)
{
    const real range = (real)loss->clip_range_vf;
    real pull = -2;
    if (range > 0) {
        const real change = value - old_value;
        if (change > range || change < -range) {
            value = old_value + (change > 0 ? range : -range);
            pull = 0;
        } else {
            value = old_value + change;
        }
    }
    const real error = wanted - value;
    sums->value += (double)(error * error);
    return pull * error;
}

void REAL(nn_loss)(struct REAL(nn_work) * work, const real *params, const struct nn_loss *loss,
                   const struct REAL(nn_rows) * rows, const struct REAL(nn_sample) * sample,
                   struct nn_sums *ret)
{
    const struct nn_chain_work *pi = &work->chains[NET_PI], *vf = &work->chains[NET_VF];
    struct nn_sums sums = {.rows = rows->rows};
    work->rows = *rows;
    work->sample = *sample;
    REAL(nn_networks)(work, params, rows);
    /* pull_values holds the entropies until the loop below reaches their row. */
    REAL(nn_logp_rows)
    (work->layout, params, pi->head, pi->head_stride, sample->actions, rows->rows, work->logp,
     work->pull_values);
    for (size_t r = 0; r < rows->rows; r++) {
        sums.entropy -= (double)work->pull_values[r];
        row_policy(loss, work->logp[r], sample->old_logp[r], sample->advantages[r], &sums,
                   &work->pull_logp[r]);
        work->pull_values[r] =
            row_value(loss, vf->head[r * vf->head_stride], sample->old_values[r], sample->returns[r], &sums);
    }
    *ret = sums;
}

void REAL(nn_results)(const struct REAL(nn_work) * work, real *ret_heads, real *ret_values, real *ret_logp)
{
    if (ret_heads)
        REAL(nn_copy_head)(work, NET_PI, work->rows.rows, ret_heads);
    if (ret_values)
        REAL(nn_copy_head)(work, NET_VF, work->rows.rows, ret_values);
    for (size_t r = 0; ret_logp && r < work->rows.rows; r++)
        ret_logp[r] = work->logp[r];
}
