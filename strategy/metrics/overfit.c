#include "strategy/metrics/overfit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "strategy/metrics/overfit_internal.h"

enum { BLOCKS_MAX = OVERFIT_BLOCKS_MAX };

/* ---- one series ---- */

double overfit_sharpe(const double *returns, size_t n, size_t stride)
{
    double mean = 0, squares = 0, least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        mean += returns[i * stride];
        least = fmin(least, returns[i * stride]);
        most = fmax(most, returns[i * stride]);
    }
    if (n < 2 || least == most)
        return 0;
    mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (returns[i * stride] - mean) * (returns[i * stride] - mean);
    return mean / sqrt(squares / (double)(n - 1));
}

/* ---- blocks ---- */

void overfit_block(const double *returns, size_t n, size_t stride, double *ret_mean, double *ret_squares)
{
    double sum = 0, squares = 0, least = returns[0], most = returns[0];
    for (size_t i = 0; i < n; i++) {
        double x = returns[i * stride];
        sum += x;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    double mean = least == most ? least : sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (returns[i * stride] - mean) * (returns[i * stride] - mean);
    *ret_mean = mean;
    *ret_squares = squares;
}

static void summarise(struct overfit *overfit)
{
    double n = (double)overfit->splits, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    size_t lost = 0;
    bool x_varies = false, y_varies = false; /* sums of rounding errors mean nothing */
    for (size_t i = 0; i < overfit->splits; i++) {
        lost += overfit->out_of_sample[i] < 0;
        x += overfit->in_sample[i];
        y += overfit->out_of_sample[i];
        x_varies = x_varies || overfit->in_sample[i] != overfit->in_sample[0];
        y_varies = y_varies || overfit->out_of_sample[i] != overfit->out_of_sample[0];
    }
    x /= n;
    y /= n;
    for (size_t i = 0; i < overfit->splits; i++) {
        double dx = overfit->in_sample[i] - x, dy = overfit->out_of_sample[i] - y;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    overfit->pbo /= n;
    overfit->probability_of_loss = (double)lost / n;
    overfit->slope = x_varies ? xy / xx : NAN;
    overfit->intercept = y - overfit->slope * x;
    overfit->r2 = x_varies && y_varies ? xy * xy / (xx * yy) : NAN;
}

static int refuse(char err[static OVERFIT_ERROR_MAX], size_t rows, size_t columns, int blocks)
{
    if (blocks < 2 || blocks > BLOCKS_MAX || blocks % 2 != 0)
        snprintf(err, OVERFIT_ERROR_MAX, "blocks: %d: an even number from 2 to %d is right", blocks,
                 BLOCKS_MAX);
    else if (columns < 2)
        snprintf(err, OVERFIT_ERROR_MAX, "returns: %zu trials: 2 or more are right", columns);
    else if (rows / (size_t)blocks < 2)
        snprintf(err, OVERFIT_ERROR_MAX,
                 "returns: %zu rows for %d blocks: at least %d rows, or fewer blocks, are right", rows,
                 blocks, 2 * blocks);
    else
        return 0;
    return -EINVAL;
}

static int refuse_infinite(char err[static OVERFIT_ERROR_MAX], const double *returns, size_t rows,
                           size_t columns)
{
    for (size_t i = 0; i < rows * columns; i++)
        if (!isfinite(returns[i]))
            return fail_with(-EINVAL, err, OVERFIT_ERROR_MAX,
                             "returns: row %zu, column %zu: a finite number is right", i / columns + 1,
                             i % columns + 1);
    return 0;
}

static int no_memory(char err[static OVERFIT_ERROR_MAX], size_t columns)
{
    return fail_with(-ENOMEM, err, OVERFIT_ERROR_MAX, "returns: no memory for %zu trials: fewer are right",
                     columns);
}

int overfit_of_blocks(const struct overfit_blocks *blocks, struct overfit *ret,
                      char err[static OVERFIT_ERROR_MAX])
{
    struct overfit overfit = {.splits = 1};
    size_t columns = blocks->columns;
    int r = refuse(err, blocks->length * (size_t)blocks->blocks, columns, blocks->blocks);
    if (r < 0)
        return r;
    for (int i = 1; i <= blocks->blocks / 2; i++)
        overfit.splits = overfit.splits * (size_t)(blocks->blocks / 2 + i) / (size_t)i;
    overfit.lambda = malloc(overfit.splits * (3 * sizeof(double) + sizeof(int)));
    if (!overfit.lambda)
        return no_memory(err, columns);
    overfit.in_sample = overfit.lambda + overfit.splits;
    overfit.out_of_sample = overfit.in_sample + overfit.splits;
    overfit.chosen = (int *)(overfit.out_of_sample + overfit.splits);
    r = overfit_split_all(blocks, &overfit);
    if (r < 0) {
        free(overfit.lambda);
        return no_memory(err, columns);
    }
    summarise(&overfit);
    *ret = overfit;
    return 0;
}

int overfit_compute(const double *returns, size_t rows, size_t columns, int blocks, struct overfit *ret,
                    char err[static OVERFIT_ERROR_MAX])
{
    int r = refuse(err, rows, columns, blocks);
    if (r == 0)
        r = refuse_infinite(err, returns, rows, columns);
    if (r < 0)
        return r;
    size_t length = rows / (size_t)blocks, n = (size_t)blocks;
    double *mean = calloc(columns, 2 * n * sizeof *mean);
    if (!mean)
        return no_memory(err, columns);
    double *squares = mean + n * columns;
    const double *row = returns + rows % n * columns;
    for (size_t b = 0; b < n; b++, row += length * columns)
        for (size_t c = 0; c < columns; c++)
            overfit_block(row + c, length, columns, &mean[b * columns + c], &squares[b * columns + c]);
    const struct overfit_blocks of = {columns, blocks, length, mean, squares};
    r = overfit_of_blocks(&of, ret, err);
    free(mean);
    return r;
}

void overfit_finish(struct overfit *overfit)
{
    free(overfit->lambda); /* the others are behind it */
    *overfit = (struct overfit){0};
}
