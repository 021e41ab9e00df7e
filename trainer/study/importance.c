#include "trainer/study/importance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/axis.h"

enum { TREES = 64, DEPTH = 64, CHOICES_MAX = 64, TRIALS_MIN = 4 };

struct sample {
    size_t study; /* into pool->studies */
    const struct study_trial *trial;
};

struct pool {
    struct study *const *studies;
    size_t n_studies;
    const struct study *lead; /* whose parameters are computed */
    int *params;              /* [n_studies][lead->n_params] what they are there; -1: it has none */
    int objective;
    struct sample *samples; /* [n] */
    int n;
};

static bool counts(const struct study_trial *trial, int objective)
{
    return trial->state == TRIAL_COMPLETE && trial->values && isfinite(trial->values[objective]);
}

static int count(const struct study *study, int objective)
{
    int n = 0;

    for (int i = 0; objective >= 0 && objective < study->n_objectives && i < study->n_trials; i++)
        n += counts(study->trials[i], objective);
    return n;
}

static const struct trial_param *param_of(const struct pool *pool, const struct sample *sample, int param)
{
    int own = pool->params[sample->study * (size_t)pool->lead->n_params + (size_t)param];

    return own < 0 ? NULL : study_trial_param(sample->trial, own);
}

static const struct distribution *distribution_of(const struct pool *pool, const struct sample *sample,
                                                  const struct trial_param *param)
{
    return &pool->studies[sample->study]->distributions[param->distribution];
}

/* The axis of a parameter over the pool's trials: what all of their distributions have room for. False where
 * one lacks it, or they are not of one kind. */
static bool span_of(const struct pool *pool, int param, struct importance_axis *ret)
{
    const struct distribution *first = NULL, *last = NULL;
    double low = INFINITY, high = -INFINITY;

    for (int i = 0; i < pool->n; i++) {
        const struct trial_param *p = param_of(pool, &pool->samples[i], param);
        const struct distribution *d = p ? distribution_of(pool, &pool->samples[i], p) : NULL;
        first = first ? first : d;
        if (!d || (d != first && d != last && !distribution_compatible(d, first)))
            return false;
        last = d;
        const struct axis axis = study_axis_of(d);
        const double place = study_axis_place(&axis, p->value);
        low = fmin(low, fmin(axis.low, place));
        high = fmax(high, fmax(axis.high, place));
        if (!isfinite(p->value))
            return false;
        if (d->kind == DISTRIBUTION_CATEGORICAL && !(p->value >= 0 && p->value < d->n_choices))
            return false;
    }
    if (!first || !isfinite(low) || !isfinite(high))
        return false;
    bool categories = first->kind == DISTRIBUTION_CATEGORICAL && first->n_choices <= CHOICES_MAX;
    if (!(high > low))
        high = low + 1; /* a single value: nothing can be cut */
    *ret = (struct importance_axis){.choices = categories ? first->n_choices : 0, .low = low, .high = high};
    return true;
}

/* ---- Which trials. ---- */

/* Newest first. */
static int by_completion(const void *a, const void *b)
{
    const struct sample *p = a, *q = b;

    if (p->trial->completed_us != q->trial->completed_us)
        return p->trial->completed_us > q->trial->completed_us ? -1 : 1;
    if (p->trial->number != q->trial->number)
        return p->trial->number > q->trial->number ? -1 : 1;
    return p->study < q->study ? -1 : p->study > q->study;
}

static void add(struct pool *pool, size_t study)
{
    const struct study *from = pool->studies[study];

    for (int i = 0; i < from->n_trials; i++)
        if (counts(from->trials[i], pool->objective))
            pool->samples[pool->n++] = (struct sample){study, from->trials[i]};
}

/* Has that study the parameter with the same kind, scale and choices as the lead, of whose trials `like` is
 * one? */
static bool has_it(const struct pool *pool, size_t study, int param, const struct sample *like)
{
    const struct distribution *right = distribution_of(pool, like, param_of(pool, like, param)),
                              *last = right;
    bool found = false;

    for (int i = 0; i < pool->studies[study]->n_trials; i++) {
        const struct sample sample = {study, pool->studies[study]->trials[i]};
        const struct trial_param *p =
            counts(sample.trial, pool->objective) ? param_of(pool, &sample, param) : NULL;
        const struct distribution *d = p ? distribution_of(pool, &sample, p) : last;
        if (d != last && !distribution_compatible(d, right))
            return false;
        last = d;
        found |= p != NULL;
    }
    return found;
}

/* The trials of the lead and of all compatible studies, in the order in which they completed. */
static void gather(struct pool *pool, size_t lead, struct importance_basis *basis)
{
    struct importance_axis unused;
    const struct study *own = pool->lead;

    add(pool, lead);
    int first = pool->n;
    for (size_t i = 0; i < pool->n_studies; i++) {
        const struct study *study = pool->studies[i];
        bool fits = study->n_objectives == own->n_objectives &&
                    memcmp(study->directions, own->directions,
                           (size_t)own->n_objectives * sizeof(own->directions[0])) == 0;
        if (i == lead || count(study, pool->objective) == 0)
            continue;
        const struct pool alone = {pool->studies,   pool->n_studies, own,  pool->params,
                                   pool->objective, pool->samples,   first};
        for (int k = 0; fits && k < own->n_params; k++)
            fits = !span_of(&alone, k, &unused) || has_it(pool, i, k, &pool->samples[0]);
        if (fits)
            add(pool, i);
        basis->studies += fits;
        basis->left_out += !fits;
    }
    basis->studies += first > 0;
    qsort(pool->samples, (size_t)pool->n, sizeof(*pool->samples), by_completion);
    pool->n = pool->n < IMPORTANCE_TRIALS_MAX ? pool->n : IMPORTANCE_TRIALS_MAX;
    basis->trials = pool->n;
}

/* ---- Their forest. ---- */

struct ranked {
    int param;
    double share;
};

static int by_share(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;

    return p->share > q->share ? -1 : p->share < q->share ? 1 : p->param - q->param;
}

static int fit(const struct pool *pool, uint64_t seed, struct importance *ret, int cap)
{
    const struct study *study = pool->lead;
    int n = pool->n, d = 0, r = -ENOMEM;
    struct importance_axis *axes = calloc((size_t)study->n_params + 1, sizeof(*axes));
    struct ranked *all = calloc((size_t)study->n_params + 1, sizeof(*all));
    double *y = calloc((size_t)n, sizeof(*y)), *x = NULL, *shares = NULL, mean = 0, sum = 0;

    for (int i = 0; axes && all && i < study->n_params; i++)
        if (span_of(pool, i, &axes[d]))
            all[d++].param = i;
    if (axes && all && y) {
        x = calloc((size_t)n * (size_t)d + 1, sizeof(*x));
        shares = calloc((size_t)d + 1, sizeof(*shares));
    }
    if (!x || !shares)
        goto done;
    for (int i = 0; i < n; i++)
        mean += pool->samples[i].trial->values[pool->objective] / n;
    for (int i = 0; i < n; i++) {
        const struct sample *sample = &pool->samples[i];
        y[i] = sample->trial->values[pool->objective] - mean;
        for (int k = 0; k < d; k++) {
            const struct trial_param *p = param_of(pool, sample, all[k].param);
            const struct axis axis = study_axis_of(distribution_of(pool, sample, p));
            x[(size_t)i * (size_t)d + (size_t)k] = study_axis_place(&axis, p->value);
        }
    }
    struct importance_forest forest = {TREES, DEPTH, true, seed};
    r = importance_fit(&forest, x, y, n, axes, d, shares);
    for (int k = 0; r == 0 && k < d; k++)
        sum += shares[k];
    if (r < 0 || !(sum > 0))
        goto done;
    for (int k = 0; k < d; k++)
        all[k].share = shares[k] / sum;
    qsort(all, (size_t)d, sizeof(*all), by_share);
    r = d < cap ? d : cap;
    for (int k = 0; k < r; k++)
        ret[k] = (struct importance){study->params[all[k].param], all[k].share};
done:
    free(axes);
    free(all);
    free(y);
    free(x);
    free(shares);
    return r;
}

static bool differ(const struct pool *pool)
{
    for (int i = 1; i < pool->n; i++)
        if (pool->samples[i].trial->values[pool->objective] !=
            pool->samples[0].trial->values[pool->objective])
            return true;
    return false;
}

int importance_compute(struct study *const *studies, size_t n, int objective, uint64_t seed,
                       struct importance *ret, int cap, struct importance_basis *ret_basis)
{
    struct importance_basis basis = {0};
    size_t lead = 0, all = 0;
    int most = -1, r = 0;

    for (size_t i = 0; i < n; i++) {
        int own = count(studies[i], objective);
        all += (size_t)own;
        if (own > most) {
            most = own;
            lead = i;
        }
    }
    struct pool pool = {.studies = studies,
                        .n_studies = n,
                        .lead = studies[lead],
                        .objective = objective,
                        .params = calloc(n * (size_t)studies[lead]->n_params + 1, sizeof(*pool.params)),
                        .samples = calloc(all + 1, sizeof(*pool.samples))};
    if (!pool.params || !pool.samples)
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++)
        for (int k = 0; k < pool.lead->n_params; k++)
            pool.params[i * (size_t)pool.lead->n_params + (size_t)k] =
                study_param_find(studies[i], pool.lead->params[k]);
    if (r == 0 && most > 0)
        gather(&pool, lead, &basis);
    if (r == 0 && pool.n >= TRIALS_MIN && differ(&pool) && cap > 0)
        r = fit(&pool, seed, ret, cap);
    free(pool.params);
    free(pool.samples);
    if (r >= 0)
        *ret_basis = basis;
    return r;
}
