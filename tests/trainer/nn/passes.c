/* Compiled for each precision. Inputs are copied to blocks of their exact size, and what is written to begins
 * as NaN. */
#include "tests/check.h"
#include "tests/trainer/nn/cases.h"
#include "trainer/nn/work.h"

static real *copy_of(const double *from, size_t n)
{
    real *ret = malloc(n * sizeof *ret + 1);
    for (size_t i = 0; i < n; i++)
        ret[i] = (real)from[i];
    return ret;
}

static real *poisoned(size_t n)
{
    real *ret = aligned_alloc(64, (n * sizeof *ret + 127) / 64 * 64);
    for (size_t i = 0; i < n; i++)
        ret[i] = (real)NAN;
    return ret;
}

static real *aligned_copy(const double *from, size_t n)
{
    real *ret = poisoned(n);
    for (size_t i = 0; i < n; i++)
        ret[i] = (real)from[i];
    return ret;
}

static void back(const real *from, size_t n, double *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = (double)from[i];
}

static const struct REAL(nn_kernels) * kernels_named(const char *name)
{
    if (!name)
        return REAL(nn_kernels_best)();
    return REAL(nn_kernels_find)(name);
}

bool REAL(pass)(const struct nn_case *c, const double *params, const char *kernels, int shards,
                struct nn_outcome *ret)
{
    const struct REAL(nn_kernels) *set = kernels_named(kernels);
    if (!set)
        return false;
    const struct net_layout *layout = &c->layout;
    const size_t rows = (size_t)c->rows, steps = (size_t)c->steps, sequences = rows / steps;
    const size_t n_obs = (size_t)c->shape.observation, n_actions = (size_t)c->shape.actions;
    const size_t outputs = (size_t)layout->outputs, hidden = (size_t)layout->hidden;
    real *own = aligned_copy(params, layout->n_params), *obs = copy_of(c->obs, rows * n_obs);
    real *before = copy_of(c->hidden, sequences * hidden), *actions = copy_of(c->actions, rows * n_actions);
    real *old_logp = copy_of(c->old_logp, rows), *old_values = copy_of(c->old_values, rows);
    real *advantages = copy_of(c->advantages, rows), *returns = copy_of(c->returns, rows);
    real *heads = poisoned(rows * outputs), *values = poisoned(rows), *logp = poisoned(rows);
    const struct nn_loss loss = {c->clip_range, c->clip_range_vf, c->vf_coef,
                                 c->ent_coef,   c->entropy_bound, c->value_bound};
    struct REAL(nn_work) **works = calloc((size_t)shards, sizeof *works);
    struct nn_sums sums = {0};
    for (int k = 0; k < shards; k++) {
        const size_t from = sequences * (size_t)k / (size_t)shards * steps;
        const size_t n = sequences * (size_t)(k + 1) / (size_t)shards * steps - from;
        CHECK_INT(REAL(nn_work_create_with)(layout, n, true, set, &works[k]), 0);
        const struct REAL(nn_rows)
            mine = {n, obs + from * n_obs, steps, c->has_hidden ? before + from / steps * hidden : NULL,
                    c->has_starts ? c->starts + from : NULL};
        const struct REAL(nn_sample) sample = {actions + from * n_actions, old_logp + from, old_values + from,
                                               advantages + from, returns + from};
        struct nn_sums part;
        REAL(nn_loss)(works[k], own, &loss, &mine, &sample, &part);
        REAL(nn_results)(works[k], heads + from * outputs, values + from, logp + from);
        sums.policy += part.policy;
        sums.value += part.value;
        sums.entropy += part.entropy;
        sums.kl += part.kl;
        sums.old_kl += part.old_kl;
        sums.clipped += part.clipped;
        sums.rows += part.rows;
    }
    const struct nn_terms terms = nn_terms_of(&loss, &sums);
    ret->policy = terms.policy;
    ret->value = terms.value;
    ret->entropy = terms.entropy;
    ret->loss = terms.loss;
    ret->kl = sums.kl / (double)rows;
    ret->old_kl = sums.old_kl / (double)rows;
    ret->clipped = sums.clipped / (double)rows;
    back(heads, rows * outputs, ret->heads);
    back(values, rows, ret->values);
    back(logp, rows, ret->logp);
    if (ret->grads)
        memset(ret->grads, 0, layout->n_params * sizeof(double));
    for (int k = 0; k < shards; k++) {
        real *grads = poisoned(layout->n_params);
        if (ret->grads) {
            REAL(nn_backward)(works[k], own, &terms, grads);
            for (size_t i = 0; i < layout->n_params; i++)
                ret->grads[i] += (double)grads[i];
        }
        free(grads);
        REAL(nn_work_destroy)(works[k]);
    }
    real *const all[] = {own,        obs,     before, actions, old_logp, old_values,
                         advantages, returns, heads,  values,  logp};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    free(works);
    return true;
}

void REAL(forward)(const struct nn_case *c, double *ret_heads, double *ret_values, double *ret_hidden)
{
    const struct net_layout *layout = &c->layout;
    const size_t rows = (size_t)c->rows, steps = (size_t)c->steps, sequences = rows / steps;
    const size_t n_obs = (size_t)c->shape.observation, outputs = (size_t)layout->outputs;
    const size_t n_hidden = (size_t)layout->hidden;
    real *own = aligned_copy(c->params, layout->n_params);
    real *obs = poisoned(sequences * n_obs), *heads = poisoned(sequences * outputs);
    real *values = poisoned(sequences), *hidden = copy_of(c->hidden, sequences * n_hidden);
    uint8_t *starts = calloc(sequences, 1);
    for (size_t i = 0; !c->has_hidden && i < sequences * n_hidden; i++)
        hidden[i] = 0;
    struct REAL(nn_work) * work;
    CHECK_INT(REAL(nn_work_create)(layout, sequences, false, &work), 0);
    /* As a rollout: one step of all copies after the other. */
    for (size_t step = 0; step < steps; step++) {
        for (size_t s = 0; s < sequences; s++) {
            const size_t row = s * steps + step;
            for (size_t i = 0; i < n_obs; i++)
                obs[s * n_obs + i] = (real)c->obs[row * n_obs + i];
            starts[s] = c->has_starts && c->starts[row];
        }
        const struct REAL(nn_rows) now = {sequences, obs, 1, hidden, starts};
        real *after = n_hidden ? poisoned(sequences * n_hidden) : NULL;
        if (step % 3 == 1) { /* one network at a time; both give all of the state */
            REAL(nn_forward)(work, own, &now, heads, NULL, after);
            REAL(nn_forward)(work, own, &now, NULL, values, after);
        } else {
            REAL(nn_forward)(work, own, &now, heads, values, after);
        }
        if (after)
            memcpy(hidden, after, sequences * n_hidden * sizeof *hidden);
        free(after);
        for (size_t s = 0; s < sequences; s++) {
            back(heads + s * outputs, outputs, ret_heads + (s * steps + step) * outputs);
            back(values + s, 1, ret_values + s * steps + step);
        }
    }
    back(hidden, sequences * n_hidden, ret_hidden);
    REAL(nn_work_destroy)(work);
    real *const all[] = {own, obs, heads, values, hidden};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    free(starts);
}
