/* Shares of single trees for tests/trainer/study/importance_oracle.py: stdin has N, D, then D lines "choices
 * low high" and N lines of D places and a value; stdout gets D shares. */
#include <stdio.h>
#include <stdlib.h>

#include "trainer/study/importance.h"

int main(void)
{
    int n, d, status = EXIT_FAILURE;

    if (scanf("%d %d", &n, &d) != 2 || n < 1 || n > 100000 || d < 1 || d > 100)
        return EXIT_FAILURE;
    struct importance_axis *axes = calloc((size_t)d, sizeof(*axes));
    double *x = calloc((size_t)n * (size_t)d, sizeof(*x)), *y = calloc((size_t)n, sizeof(*y)),
           *shares = calloc((size_t)d, sizeof(*shares));
    bool ok = axes && x && y && shares;
    for (int k = 0; ok && k < d; k++)
        ok = scanf("%d %lf %lf", &axes[k].choices, &axes[k].low, &axes[k].high) == 3;
    for (int i = 0; ok && i < n; i++) {
        for (int k = 0; ok && k < d; k++)
            ok = scanf("%lf", &x[i * d + k]) == 1;
        ok = ok && scanf("%lf", &y[i]) == 1;
    }
    struct importance_forest forest = {.trees = 1, .depth = 64};
    if (ok && importance_fit(&forest, x, y, n, axes, d, shares) == 0) {
        for (int k = 0; k < d; k++)
            printf("%.17g\n", shares[k]);
        status = EXIT_SUCCESS;
    }
    free(axes);
    free(x);
    free(y);
    free(shares);
    return status;
}
