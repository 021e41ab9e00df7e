/* Every shape and option: gradients in float64 against central differences of the loss, float32 of every
 * instruction set against float64, the plain loops against the fast kernels, a batch in parts against the
 * whole. */
#include "tests/check.h"
#include "tests/random.h"
#include "tests/trainer/nn/cases.h"

#ifdef __SANITIZE_ADDRESS__
enum { EACH = 5, OF_TENSOR = 10 };
#else
enum { EACH = 1, OF_TENSOR = 60 };
#endif

#define STEP         1e-6
#define TOLERANCE    1e-7 /* of a tensor's largest gradient */
#define TOLERANCE_32 1e-5

static double largest(const double *x, size_t n)
{
    double ret = 0;
    for (size_t i = 0; i < n; i++)
        ret = fmax(ret, fabs(x[i]));
    return ret;
}

/* Padding of gradients is 0. */
static void check_padding(const struct nn_case *c, const double *grads)
{
    for (int t = 0; t < c->layout.n_tensors; t++) {
        const struct net_tensor *tensor = &c->layout.tensors[t];
        for (int i = 0; i < tensor->rows_padded; i++)
            for (int j = 0; j < tensor->stride; j++)
                if (i >= tensor->rows || j >= tensor->cols)
                    CHECK(grads[tensor->offset + (size_t)(i * tensor->stride + j)] == 0);
    }
}

static void differences(struct nn_case *c)
{
    struct nn_outcome outcome, moved;
    outcome_alloc(&outcome, c);
    outcome_alloc(&moved, c);
    free(moved.grads);
    moved.grads = NULL;
    pass_f64(c, c->params, NULL, 1, &outcome);
    CHECK(isfinite(outcome.loss));
    check_padding(c, outcome.grads);
    if (strcmp(c->name, "entropy bounded") == 0)
        CHECK(outcome.entropy == -c->entropy_bound);
    if (strcmp(c->name, "value bounded") == 0)
        CHECK(outcome.value == c->value_bound);
    double worst = 0;
    for (int t = 0; t < c->layout.n_tensors; t++) {
        const struct net_tensor *tensor = &c->layout.tensors[t];
        const double size = largest(outcome.grads + tensor->offset, (size_t)(tensor->rows * tensor->stride));
        const int n = tensor->rows * tensor->cols,
                  skip = n > OF_TENSOR ? n / OF_TENSOR : 1; /* of large ones some */
        for (int k = 0; k < n; k += skip) {
            const size_t at = tensor->offset + (size_t)(k / tensor->cols * tensor->stride + k % tensor->cols);
            const double kept = c->params[at];
            c->params[at] = kept + STEP;
            pass_f64(c, c->params, NULL, 1, &moved);
            const double above = moved.loss;
            c->params[at] = kept - STEP;
            pass_f64(c, c->params, NULL, 1, &moved);
            c->params[at] = kept;
            const double slope = (above - moved.loss) / (2 * STEP),
                         difference = fabs(slope - outcome.grads[at]);
            const double allowed = TOLERANCE * (size + fabs(outcome.loss) * 1e-2) + 1e-9;
            check_count++;
            worst = fmax(worst, difference / allowed);
            if (!(difference <= allowed)) {
                check_failures++;
                fprintf(stderr, "%s: %s[%d]: %.12g, by differences %.12g\n", c->name, tensor->name, k,
                        outcome.grads[at], slope);
            }
        }
    }
    printf("%-32s differences: at worst %.3f of what is allowed\n", c->name, worst);
    outcome_free(&outcome);
    outcome_free(&moved);
}

static double compare(const char *name, const char *what, const double *value, const double *expected,
                      size_t n, double tolerance)
{
    const double size = largest(expected, n);
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double difference = fabs(value[i] - expected[i]);
        check_count++;
        if (!(difference <= tolerance * size)) {
            check_failures++;
            fprintf(stderr, "%s: %s[%zu] is %.9g, not %.9g (largest %.3g)\n", name, what, i, value[i],
                    expected[i], size);
            return INFINITY;
        }
        if (size > 0)
            worst = fmax(worst, difference / size);
    }
    return worst;
}

static double compare_all(const struct nn_case *c, const struct nn_outcome *value,
                          const struct nn_outcome *expected, double tolerance)
{
    const size_t rows = (size_t)c->rows;
    double worst =
        compare(c->name, "heads", value->heads, expected->heads, rows * (size_t)c->layout.outputs, tolerance);
    worst = fmax(worst, compare(c->name, "values", value->values, expected->values, rows, tolerance));
    worst = fmax(worst, compare(c->name, "logp", value->logp, expected->logp, rows, tolerance));
    for (int t = 0; value->grads && t < c->layout.n_tensors; t++) {
        const struct net_tensor *tensor = &c->layout.tensors[t];
        const size_t n = (size_t)(tensor->rows_padded * tensor->stride);
        worst = fmax(worst, compare(c->name, tensor->name, value->grads + tensor->offset,
                                    expected->grads + tensor->offset, n, tolerance));
    }
    const double a[] = {value->policy, value->value, value->entropy, value->loss, value->kl, value->old_kl};
    const double b[] = {expected->policy, expected->value, expected->entropy,
                        expected->loss,   expected->kl,    expected->old_kl};
    worst = fmax(worst, compare(c->name, "terms", a, b, sizeof a / sizeof *a, tolerance));
    CHECK(value->clipped == expected->clipped);
    return worst;
}

static void precisions(const struct nn_case *c)
{
    static const char *const sets[] = {"plain", "baseline", "avx2", "avx512", "openblas", NULL};
    struct nn_outcome exact, outcome;
    outcome_alloc(&exact, c);
    outcome_alloc(&outcome, c);
    pass_f64(c, c->params, "plain", 1, &exact);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        if (pass_f32(c, c->params, sets[k], 1, &outcome)) {
            check_padding(c, outcome.grads);
            double worst = compare_all(c, &outcome, &exact, TOLERANCE_32);
            printf("%-32s %-8s float32: at worst %.2e of a tensor's largest\n", c->name,
                   sets[k] ? sets[k] : "best", worst);
        }
    /* in parts */
    const int sequences = c->rows / c->steps;
    for (int shards = 2; shards <= 3 && shards <= sequences; shards++) {
        pass_f64(c, c->params, NULL, shards, &outcome);
        compare_all(c, &outcome, &exact, 1e-12);
        pass_f32(c, c->params, NULL, shards, &outcome);
        compare_all(c, &outcome, &exact, TOLERANCE_32);
    }
    /* twice: the same bits */
    struct nn_outcome again;
    outcome_alloc(&again, c);
    pass_f32(c, c->params, NULL, 2, &outcome);
    pass_f32(c, c->params, NULL, 2, &again);
    CHECK(memcmp(outcome.grads, again.grads, c->layout.n_params * sizeof(double)) == 0);
    CHECK(memcmp(&outcome.loss, &again.loss, sizeof(double)) == 0);
    outcome_free(&again);
    outcome_free(&exact);
    outcome_free(&outcome);
}

/* Step by step, as a rollout, what the whole sequence gives. */
static void stepwise(const struct nn_case *c)
{
    const size_t rows = (size_t)c->rows, outputs = (size_t)c->layout.outputs;
    double *hidden = calloc(rows * (size_t)c->layout.hidden + 1, sizeof *hidden);
    double *hidden32 = calloc(rows * (size_t)c->layout.hidden + 1, sizeof *hidden);
    struct nn_outcome exact, outcome;
    outcome_alloc(&exact, c);
    outcome_alloc(&outcome, c);
    pass_f64(c, c->params, "plain", 1, &exact);
    forward_f64(c, outcome.heads, outcome.values, hidden);
    compare(c->name, "heads step by step", outcome.heads, exact.heads, rows * outputs, 1e-12);
    compare(c->name, "values step by step", outcome.values, exact.values, rows, 1e-12);
    forward_f32(c, outcome.heads, outcome.values, hidden32);
    compare(c->name, "heads step by step", outcome.heads, exact.heads, rows * outputs, TOLERANCE_32);
    compare(c->name, "values step by step", outcome.values, exact.values, rows, TOLERANCE_32);
    compare(c->name, "state", hidden32, hidden, rows / (size_t)c->steps * (size_t)c->layout.hidden,
            TOLERANCE_32);
    outcome_free(&exact);
    outcome_free(&outcome);
    free(hidden);
    free(hidden32);
}

int main(void)
{
    struct random random = random_seeded("gradients", 2026);
    if (EACH > 1)
        printf("counts: each fifth of %d cases, about %d differences of a large tensor (without a sanitizer "
               "all, 60)\n",
               nn_n_cases, OF_TENSOR);
    for (int i = 0; i < nn_n_cases; i += EACH) {
        case_draw(&nn_cases[i], random_next(&random));
        if (!nn_cases[i].large)
            differences(&nn_cases[i]);
        precisions(&nn_cases[i]);
        stepwise(&nn_cases[i]);
        case_free(&nn_cases[i]);
    }
    return check_done("trainer/nn/gradients");
}
