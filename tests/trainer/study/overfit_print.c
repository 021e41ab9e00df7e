/* For overfit_oracle.py: reads matrices from stdin and prints their figures. Each is rows, columns, blocks,
 * trials as int64, the variance of Sharpes, and rows * columns doubles. A line of figures, then one a split.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "strategy/metrics/deflate.h"
#include "strategy/metrics/overfit.h"

static int print_one(const int64_t *head, double variance)
{
    size_t rows = (size_t)head[0], columns = (size_t)head[1];
    double *returns = malloc(rows * columns * sizeof *returns), *series = malloc(rows * sizeof *series);
    struct overfit overfit = {0};
    struct deflated deflated;
    char err[OVERFIT_ERROR_MAX];
    bool read = returns && series && fread(returns, sizeof *returns, rows * columns, stdin) == rows * columns;
    for (size_t i = 0; read && i < rows; i++)
        series[i] = returns[i * columns];
    bool done = read && overfit_compute(returns, rows, columns, (int)head[2], &overfit, err) == 0 &&
                overfit_deflated_sharpe(series, rows, (size_t)head[3], variance, &deflated) == 0;
    if (done) {
        printf("%zu %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", overfit.splits, overfit.pbo,
               overfit.probability_of_loss, overfit.slope, overfit.intercept, overfit.r2, deflated.sharpe,
               deflated.expected, deflated.psr, deflated.dsr);
        for (size_t i = 0; i < overfit.splits; i++)
            printf("%.17g %.17g %.17g %d\n", overfit.lambda[i], overfit.in_sample[i],
                   overfit.out_of_sample[i], overfit.chosen[i]);
    }
    overfit_finish(&overfit);
    free(returns);
    free(series);
    return done ? 0 : -1;
}

int main(void)
{
    int64_t head[4];
    double variance;
    while (fread(head, sizeof *head, 4, stdin) == 4)
        if (fread(&variance, sizeof variance, 1, stdin) != 1 || print_one(head, variance) < 0)
            return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
