#include "trainer/study/importance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "trainer/study/axis.h"
#include "trainer/study/importance_forest.h"

enum { TREES = 64, DEPTH = 64, CHOICES_MAX = 64, TRIALS_MIN = 4 };

static bool counts(const struct study_trial *trial, int objective)
{
    return trial->state == TRIAL_COMPLETE && trial->values && isfinite(trial->values[objective]);
}

/* The axis of a parameter over these trials: what all of their distributions have room for. False where one
 * lacks it, or they are not of one kind. */
static bool span_of(const struct study *study, int param, const int *trials, int n,
                    struct importance_axis *ret)
{
    const struct distribution *first = NULL;
    double low = INFINITY, high = -INFINITY;

    for (int i = 0; i < n; i++) {
        const struct trial_param *p = study_trial_param(study->trials[trials[i]], param);
        const struct distribution *d = p ? &study->distributions[p->distribution] : NULL;
        first = first ? first : d;
        if (!d || d->kind != first->kind || d->log != first->log || d->n_choices != first->n_choices)
            return false;
        if (d != first && d->kind == DISTRIBUTION_CATEGORICAL && !distribution_compatible(d, first))
            return false;
        const struct axis axis = axis_of(d);
        const double place = axis_place(&axis, p->value);
        low = fmin(low, fmin(axis.low, place));
        high = fmax(high, fmax(axis.high, place));
        if (!isfinite(p->value))
            return false;
        if (d->kind == DISTRIBUTION_CATEGORICAL && !(p->value >= 0 && p->value < d->n_choices))
            return false;
    }
    bool categories = first->kind == DISTRIBUTION_CATEGORICAL && first->n_choices <= CHOICES_MAX;
    if (!isfinite(low) || !isfinite(high))
        return false;
    if (!(high > low))
        high = low + 1; /* a single value: nothing can be cut */
    *ret = (struct importance_axis){.choices = categories ? first->n_choices : 0, .low = low, .high = high};
    return true;
}

static int by_share(const void *a, const void *b)
{
    const struct importance *p = a, *q = b;

    return p->share > q->share ? -1 : p->share < q->share ? 1 : p->param - q->param;
}

static int fit(const struct study *study, int objective, const int *trials, int n, uint64_t seed,
               struct importance *ret, int cap)
{
    struct importance_axis *axes = calloc((size_t)study->n_params + 1, sizeof(*axes));
    int *params = calloc((size_t)study->n_params + 1, sizeof(*params)), d = 0, r = -ENOMEM;
    double *y = calloc((size_t)n, sizeof(*y)), *x = NULL, *shares = NULL, mean = 0, sum = 0;

    for (int i = 0; axes && params && i < study->n_params; i++)
        if (span_of(study, i, trials, n, &axes[d]))
            params[d++] = i;
    if (axes && params && y) {
        x = calloc((size_t)n * (size_t)d + 1, sizeof(*x));
        shares = calloc((size_t)d + 1, sizeof(*shares));
    }
    if (!x || !shares)
        goto done;
    for (int i = 0; i < n; i++)
        mean += study->trials[trials[i]]->values[objective] / n;
    for (int i = 0; i < n; i++) {
        y[i] = study->trials[trials[i]]->values[objective] - mean;
        for (int k = 0; k < d; k++) {
            const struct trial_param *p = study_trial_param(study->trials[trials[i]], params[k]);
            const struct axis axis = axis_of(&study->distributions[p->distribution]);
            x[(size_t)i * (size_t)d + (size_t)k] = axis_place(&axis, p->value);
        }
    }
    struct importance_forest forest = {TREES, DEPTH, true, seed};
    r = importance_fit(&forest, x, y, n, axes, d, shares);
    for (int k = 0; r == 0 && k < d; k++)
        sum += shares[k];
    if (r < 0 || !(sum > 0))
        goto done;
    struct importance *all = calloc((size_t)d, sizeof(*all));
    r = -ENOMEM;
    if (!all)
        goto done;
    for (int k = 0; k < d; k++)
        all[k] = (struct importance){params[k], shares[k] / sum};
    qsort(all, (size_t)d, sizeof(*all), by_share);
    r = d < cap ? d : cap;
    for (int k = 0; k < r; k++)
        ret[k] = all[k];
    free(all);
done:
    free(axes);
    free(params);
    free(y);
    free(x);
    free(shares);
    return r;
}

int importance_compute(const struct study *study, int objective, uint64_t seed, struct importance *ret,
                       int cap)
{
    int *trials = calloc((size_t)study->n_trials + 1, sizeof(*trials)), n = 0, r = 0;
    bool differ = false;

    if (!trials)
        return -ENOMEM;
    for (int i = study->n_trials - 1; i >= 0 && n < IMPORTANCE_TRIALS_MAX; i--)
        if (objective >= 0 && objective < study->n_objectives && counts(study->trials[i], objective)) {
            differ |=
                n > 0 && study->trials[trials[0]]->values[objective] != study->trials[i]->values[objective];
            trials[n++] = i;
        }
    if (n >= TRIALS_MIN && differ && cap > 0)
        r = fit(study, objective, trials, n, seed, ret, cap);
    free(trials);
    return r;
}
