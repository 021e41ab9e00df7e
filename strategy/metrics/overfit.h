/* How much of a study's best result is overfitting. Bailey, Borwein, López de Prado, Zhu, "The Probability of
 * Backtest Overfitting" (2017). Returns are a matrix T x N, row-major: rows time, columns trials. Pure;
 * nothing is annualised.
 *
 * Conventions: the first T mod S rows are dropped. Sharpe = mean / deviation (ddof 1) of a column's rows; a
 * column without variance has 0. Of columns that are equally good in sample the first is chosen. Rank 1 is
 * the worst, ties take the mean rank; omega = rank / (N + 1), lambda = ln(omega / (1 - omega)); PBO is the
 * share of lambda <= 0, where a split whose lambda is 0 by a tie counts half: columns that are all the same
 * have 0.5. Probability of loss is the share of out-of-sample Sharpes < 0 of what was chosen. */
#ifndef STRATEGY_METRICS_OVERFIT_H
#define STRATEGY_METRICS_OVERFIT_H

#include <stddef.h>

enum { OVERFIT_BLOCKS_MAX = 20, OVERFIT_ERROR_MAX = 256 };

struct overfit {
    size_t splits; /* C(S, S / 2) */
    double pbo, probability_of_loss;
    /* Of out-of-sample on in-sample Sharpe of what was chosen, least squares; NaN where it is always the
     * same. */
    double slope, intercept, r2;
    /* [splits] of each half split in lexicographic order; owned */
    double *lambda, *in_sample, *out_of_sample;
    int *chosen;
};

/* `blocks` S: even, 2 to 20; 14 is the paper's. 0, for overfit_finish(); -EINVAL: fewer than 2 columns, fewer
 * than 2 rows a block, a number that is not finite (names row and column); -ENOMEM. */
int overfit_compute(const double *returns, size_t rows, size_t columns, int blocks, struct overfit *ret,
                    char err[static OVERFIT_ERROR_MAX]);
void overfit_finish(struct overfit *overfit);

/* The same from sums of each column's blocks, of which a half split's Sharpes follow: what a sweep keeps of
 * a run instead of its returns. overfit_compute() makes them of its matrix, so that both have the same bits.
 * Numbers are finite. The same errors. */
struct overfit_blocks {
    size_t columns;
    int blocks;
    size_t length;                /* rows of a block */
    const double *mean, *squares; /* [blocks][columns]: overfit_block() */
};
int overfit_of_blocks(const struct overfit_blocks *blocks, struct overfit *ret,
                      char err[static OVERFIT_ERROR_MAX]);

/* Of one block, n >= 1 returns that are `stride` apart: their mean, and the sum of squares around it. Where
 * all are equal that is the number itself and 0, despite rounding. */
void overfit_block(const double *returns, size_t n, size_t stride, double *ret_mean, double *ret_squares);

/* Of n numbers, `stride` apart. 0 where they are all equal, or fewer than 2. */
double overfit_sharpe(const double *returns, size_t n, size_t stride);

#endif
