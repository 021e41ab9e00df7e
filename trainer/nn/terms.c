#include "trainer/nn/train.h"

/* NaN stays; *pull becomes 0 where the bound holds. */
static double bounded(double term, double bound, double *pull)
{
    if (bound > 0 && (term > bound || term < -bound)) {
        *pull = 0;
        return term > 0 ? bound : -bound;
    }
    return term;
}

struct nn_terms nn_terms_of(const struct nn_loss *loss, const struct nn_sums *sums)
{
    const double rows = (double)sums->rows;
    struct nn_terms terms = {
        .pull_policy = 1 / rows, .pull_value = loss->vf_coef / rows, .pull_entropy = loss->ent_coef / rows};
    terms.policy = sums->policy / rows;
    terms.value = bounded(sums->value / rows, loss->value_bound, &terms.pull_value);
    terms.entropy = bounded(sums->entropy / rows, loss->entropy_bound, &terms.pull_entropy);
    terms.loss = terms.policy + loss->ent_coef * terms.entropy + loss->vf_coef * terms.value;
    return terms;
}
