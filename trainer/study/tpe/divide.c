#include "trainer/study/tpe/divide.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/tpe/front.h"

static int compare_merits(const void *a, const void *b, void *context)
{
    const struct tpe_history *history = context;
    int i, k;
    memcpy(&i, a, sizeof i);
    memcpy(&k, b, sizeof k);
    const struct tpe_merit *x = &history->merits[i], *y = &history->merits[k];
    if (x->violation > 0 || y->violation > 0) {
        if (x->violation != y->violation)
            return x->violation < y->violation ? -1 : 1;
        return (i > k) - (i < k);
    }
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return (i > k) - (i < k);
}

/* The best `left` of those that are PRUNED, or infeasible; returns how many are still needed. */
static int take(const struct tpe_history *history, bool infeasible, int left, int *work, unsigned char *sides)
{
    int n = 0;
    for (int i = 0; i < history->n_trials; i++) {
        const struct tpe_merit *merit = &history->merits[i];
        if (merit->state != TRIAL_WAITING && (merit->violation > 0) == infeasible &&
            (infeasible || merit->state == TRIAL_PRUNED))
            work[n++] = i;
    }
    void *context;
    memcpy(&context, &history, sizeof context);
    qsort_r(work, (size_t)n, sizeof *work, compare_merits, context);
    for (int i = 0; i < n && left > 0; i++, left--)
        sides[work[i]] = TPE_BELOW;
    return left;
}

static int take_complete(const struct tpe_history *history, int left, unsigned char *sides)
{
    for (int i = 0; i < history->n_complete && left > 0; i++, left--)
        sides[history->complete[i].number] = TPE_BELOW;
    return left;
}

/* For several objectives. Returns how many are still needed, or -ENOMEM. */
static int take_front(const struct tpe_history *history, int left, int *work, unsigned char *sides)
{
    const struct study *study = history->study;
    int n = 0, m = study->n_objectives;
    for (int i = 0; i < history->n_trials; i++)
        if (history->merits[i].state == TRIAL_COMPLETE && history->merits[i].violation <= 0 &&
            study->trials[i]->values)
            work[n++] = i;
    double *losses = calloc((size_t)n * m + 1, sizeof *losses);
    bool *chosen = malloc((size_t)n * sizeof *chosen + 1);
    int r = losses && chosen ? 0 : -ENOMEM;
    for (int i = 0; r == 0 && i < n; i++)
        for (int j = 0; j < m; j++)
            losses[(size_t)i * m + j] =
                (study->directions[j] == STUDY_MAXIMIZE ? -1 : 1) * study->trials[work[i]]->values[j];
    if (r == 0)
        r = tpe_front_choose(losses, n, m, left, chosen);
    for (int i = 0; r == 0 && i < n; i++)
        if (chosen[i]) {
            sides[work[i]] = TPE_BELOW;
            left--;
        }
    free(losses);
    free(chosen);
    return r < 0 ? r : left;
}

int tpe_divide(const struct tpe_history *history, const struct tpe_options *options, int number,
               unsigned char *ret_sides)
{
    const struct study *study = history->study;
    int *work = malloc((size_t)history->n_trials * sizeof *work + 1);
    if (!work)
        return -ENOMEM;
    for (int i = 0; i < history->n_trials; i++)
        ret_sides[i] = history->merits[i].state != TRIAL_WAITING ? TPE_ABOVE
                       : options->constant_liar && i != number && study->trials[i]->state == TRIAL_RUNNING
                           ? TPE_ABOVE
                           : TPE_NEITHER;
    double wanted = ceil(options->gamma_share * history->n_known);
    if (study->n_objectives <= 1)
        wanted = fmin(wanted, options->gamma_most);
    int left = (int)fmax(0, fmin(wanted, history->n_known));
    left = study->n_objectives <= 1 ? take_complete(history, left, ret_sides)
                                    : take_front(history, left, work, ret_sides);
    if (left > 0)
        left = take(history, false, left, work, ret_sides);
    if (left > 0)
        left = take(history, true, left, work, ret_sides);
    free(work);
    return left < 0 ? left : 0;
}
