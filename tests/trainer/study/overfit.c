/* Overfitting's figures: an example by hand, noise, one column with skill, bad input. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/metrics/deflate.h"
#include "strategy/metrics/overfit.h"
#include "tests/check.h"
#include "tests/random.h"

static double uniform(struct random *random)
{
    return ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct random *random)
{
    return sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

/* Four rows, two blocks, three columns: Sharpes are 3/1 and so on of two rows each, sd of {a, b} |a - b| /
 * sqrt 2. */
static void test_by_hand(void)
{
    static const double returns[] = {9,  9, 9,  /* dropped: 5 mod 2 */
                                     2,  1, 5,  /* block 0: means 3, 1, 5; deviations sqrt 2, 0, 0 */
                                     4,  1, 5,  /* */
                                     -1, 2, -7, /* block 1: means -2, 3, -7; deviations sqrt 2, sqrt 2, 0 */
                                     -3, 4, -7};
    struct overfit overfit;
    char err[OVERFIT_ERROR_MAX];
    CHECK_INT(overfit_compute(returns, 5, 3, 2, &overfit, err), 0);
    CHECK_INT(overfit.splits, 2);
    /* Of block 0 the first is best, 3 / sqrt 2: out of sample it is the worst, for level ones have 0. */
    CHECK_INT(overfit.chosen[0], 0);
    CHECK_NEAR(overfit.in_sample[0], 3 / sqrt(2), 1e-15);
    CHECK_NEAR(overfit.out_of_sample[0], -2 / sqrt(2), 1e-15);
    CHECK_NEAR(overfit.lambda[0], log(1.0 / 3), 1e-15);
    /* Of block 1 the second, 3 / sqrt 2: in block 0 it is level, as the third: ranks 1 and 2, their mean. */
    CHECK_INT(overfit.chosen[1], 1);
    CHECK_NEAR(overfit.in_sample[1], 3 / sqrt(2), 1e-15);
    CHECK_NEAR(overfit.out_of_sample[1], 0, 0);
    CHECK_NEAR(overfit.lambda[1], log(1.5 / 2.5), 1e-15);
    CHECK_NEAR(overfit.pbo, 1, 0);
    CHECK_NEAR(overfit.probability_of_loss, 0.5, 0);
    CHECK(isnan(overfit.slope) && isnan(overfit.intercept) && isnan(overfit.r2)); /* always 3 / sqrt 2 */
    overfit_finish(&overfit);
    overfit_finish(&overfit);
    CHECK_NEAR(overfit_sharpe(returns + 3, 4, 3), 0.5 / sqrt((2.25 + 12.25 + 2.25 + 12.25) / 3), 1e-15);
    CHECK_NEAR(overfit_sharpe(returns, 1, 1), 0, 0);
    CHECK_NEAR(overfit_sharpe(returns, 3, 1), 0, 0);
}

/* Identical columns: choosing neither helps nor hurts. With a worse one beside them it helps. */
static void test_ties(void)
{
    static const double rows[] = {2, 1, 4, 3, -1, 2, 3, 5};
    double returns[8 * 4];
    for (int worse = 0; worse <= 1; worse++)
        for (size_t columns = 2; columns <= 4; columns++) {
            struct overfit overfit;
            char err[OVERFIT_ERROR_MAX];
            for (size_t i = 0; i < 8 * columns; i++)
                returns[i] = rows[i / columns] - (worse && i % columns == 0 ? 3 : 0);
            CHECK_INT(overfit_compute(returns, 8, columns, 4, &overfit, err), 0);
            CHECK_NEAR(overfit.pbo, worse ? 0 : 0.5, 0);
            CHECK(worse ? overfit.lambda[0] > 0 : overfit.lambda[0] == 0);
            overfit_finish(&overfit);
        }
}

/* Means over matrices of noise, with a column of Sharpe `sharpe` a row in each where it is not 0. */
static double mean_pbo(struct random *random, int matrices, size_t rows, size_t columns, double sharpe,
                       double *ret_deviation)
{
    double *returns = malloc(rows * columns * sizeof *returns), sum = 0, squares = 0;
    char err[OVERFIT_ERROR_MAX];
    for (int i = 0; i < matrices && returns; i++) {
        struct overfit overfit;
        for (size_t k = 0; k < rows * columns; k++)
            returns[k] = 0.01 * (normal(random) + (k % columns == 3 ? sharpe : 0));
        CHECK_INT(overfit_compute(returns, rows, columns, 14, &overfit, err), 0);
        CHECK_INT(overfit.splits, 3432);
        sum += overfit.pbo;
        squares += overfit.pbo * overfit.pbo;
        overfit_finish(&overfit);
    }
    free(returns);
    double mean = sum / matrices;
    *ret_deviation = sqrt((squares - matrices * mean * mean) / (matrices - 1));
    return mean;
}

static void test_noise(struct random *random)
{
    enum { MATRICES = 200, ROWS = 700, COLUMNS = 20 };
    double deviation, mean = mean_pbo(random, MATRICES, ROWS, COLUMNS, 0, &deviation);
    printf("PBO of %d noise matrices, %d x %d: mean %.4f, deviation %.3f\n", MATRICES, ROWS, COLUMNS, mean,
           deviation);
    CHECK_NEAR(mean, 0.5, 0.03);
    mean = mean_pbo(random, MATRICES, ROWS, COLUMNS, 0.3, &deviation);
    printf("with a column of daily Sharpe 0.3: mean %.5f, deviation %.5f\n", mean, deviation);
    CHECK(mean < 0.02);
}

static void refused(const double *returns, size_t rows, size_t columns, int blocks, const char *words)
{
    struct overfit overfit = {.splits = 77};
    char err[OVERFIT_ERROR_MAX] = "";
    CHECK_INT(overfit_compute(returns, rows, columns, blocks, &overfit, err), -EINVAL);
    CHECK_INT(overfit.splits, 77);
    if (!strstr(err, words)) {
        check_failures++;
        fprintf(stderr, "\"%s\" is not in: %s\n", words, err);
    }
}

static void test_refused(void)
{
    double returns[40] = {0};
    for (int i = 0; i < 40; i++)
        returns[i] = i % 7;
    refused(returns, 20, 2, 3, "even number from 2 to 20");
    refused(returns, 20, 2, 0, "even number from 2 to 20");
    refused(returns, 20, 2, 22, "even number from 2 to 20");
    refused(returns, 40, 1, 2, "1 trials: 2 or more");
    refused(returns, 20, 2, 14, "at least 28 rows");
    returns[13] = NAN;
    refused(returns, 20, 2, 4, "row 7, column 2: a finite number");
    returns[13] = INFINITY;
    refused(returns, 20, 2, 4, "row 7, column 2: a finite number");
    struct deflated deflated = {.sharpe = 7};
    CHECK_INT(overfit_deflated_sharpe(returns, 20, 3, 1, &deflated), -EINVAL);
    returns[13] = 1;
    CHECK_INT(overfit_deflated_sharpe(returns, 2, 3, 1, &deflated), -EINVAL);
    CHECK_INT(overfit_deflated_sharpe(returns, 20, 0, 1, &deflated), -EINVAL);
    CHECK_INT(overfit_deflated_sharpe(returns, 20, 3, -1, &deflated), -EINVAL);
    CHECK_INT(overfit_deflated_sharpe(returns, 20, 3, NAN, &deflated), -EINVAL);
    CHECK_NEAR(deflated.sharpe, 7, 0);
}

/* What holds of the deflated Sharpe ratio whatever the numbers: one trial deflates nothing, more deflate
 * more. */
static void test_deflated(struct random *random)
{
    double returns[500], before = 2;
    struct deflated one, more;
    for (int i = 0; i < 500; i++)
        returns[i] = 0.01 * normal(random) + 0.0006;
    CHECK_INT(overfit_deflated_sharpe(returns, 500, 1, 0.01, &one), 0);
    CHECK(one.expected == 0 && one.psr == one.dsr && one.psr > 0.5);
    CHECK_NEAR(one.psr, 0.5 * erfc(-one.sharpe * one.scale * M_SQRT1_2), 1e-12);
    for (size_t trials = 2; trials < 2000000000000u; trials *= 10) {
        CHECK_INT(overfit_deflated_sharpe(returns, 500, trials, 0.0004, &more), 0);
        CHECK(more.psr == one.psr && more.sharpe == one.sharpe && more.dsr < before);
        before = more.dsr;
    }
    /* Bailey, López de Prado (2014), page 8: 100 trials whose Sharpes vary by 1/2, a year's of 2.5 over five
     * years of 250 days. 0.1132 a day is expected by chance. */
    CHECK_INT(overfit_deflated_sharpe(returns, 500, 100, 0.5 / 250, &more), 0);
    CHECK_NEAR(more.expected, 0.1132, 0.00005);
    memset(returns, 0, sizeof returns);
    CHECK_INT(overfit_deflated_sharpe(returns, 500, 7, 0.1, &more), 0);
    CHECK(more.sharpe == 0 && isnan(more.psr) && isnan(more.dsr));
}

int main(void)
{
    struct random random = random_seeded("trainer/overfit", 20261122);
    test_by_hand();
    test_ties();
    test_noise(&random);
    test_refused();
    test_deflated(&random);
    return check_done("trainer/overfit");
}
