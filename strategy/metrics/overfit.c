#include "strategy/metrics/overfit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

enum { BLOCKS_MAX = OVERFIT_BLOCKS_MAX };

/* Both halves' Sharpes, while the splits are gone through. */
struct halves {
    const struct overfit_blocks *of;
    double *half[2], *mean, *varies, *room; /* [columns] each; room: all of it */
};

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

/* Each column's Sharpe over the blocks whose bits are set, into sharpes [columns]. Halves have blocks of one
 * length, so a half's mean is that of the means, and its squares are the blocks' and those of the means
 * around it. A level half has no variance, despite rounding. */
static void half_sharpes(const struct halves *halves, unsigned bits, double *sharpes)
{
    const struct overfit_blocks *of = halves->of;
    size_t columns = of->columns;
    double *mean = halves->mean, *varies = halves->varies, half = of->blocks / 2, length = (double)of->length,
           n = half * length;
    const double *first = of->mean + (size_t)__builtin_ctz(bits) * columns;
    memset(mean, 0, columns * sizeof *mean);
    memset(sharpes, 0, columns * sizeof *sharpes);
    memset(varies, 0, columns * sizeof *varies);
    for (int b = 0; b < of->blocks; b++)
        for (size_t c = 0; bits >> b & 1 && c < columns; c++)
            mean[c] += of->mean[(size_t)b * columns + c];
    for (size_t c = 0; c < columns; c++)
        mean[c] /= half;
    for (int b = 0; b < of->blocks; b++) {
        const double *means = of->mean + (size_t)b * columns, *squares = of->squares + (size_t)b * columns;
        for (size_t c = 0; bits >> b & 1 && c < columns; c++) {
            sharpes[c] += squares[c] + length * (means[c] - mean[c]) * (means[c] - mean[c]);
            varies[c] += squares[c] > 0 || means[c] != first[c];
        }
    }
    for (size_t c = 0; c < columns; c++)
        sharpes[c] = varies[c] > 0 && sharpes[c] > 0 ? mean[c] / sqrt(sharpes[c] / (n - 1)) : 0;
}

/* ---- half splits ---- */

/* What was best in sample, and where it is out of sample; adds to the pbo of all splits. */
static void compare(size_t columns, const double *in, const double *out, size_t at, struct overfit *ret)
{
    size_t best = 0, worse = 0, same = 0;
    for (size_t c = 1; c < columns; c++)
        best = in[c] > in[best] ? c : best;
    for (size_t c = 0; c < columns; c++) {
        worse += out[c] < out[best];
        same += out[c] == out[best];
    }
    double rank = (double)worse + ((double)same + 1) / 2, middle = ((double)columns + 1) / 2;
    ret->pbo += rank == middle && same > 1 ? 0.5 : rank <= middle;
    ret->chosen[at] = (int)best;
    ret->lambda[at] = log(rank / ((double)columns + 1 - rank));
    ret->in_sample[at] = in[best];
    ret->out_of_sample[at] = out[best];
}

/* The halves in lexicographic order, those with block 0 first. The other half of number k from the front is
 * number k from the back, so that each is computed once. */
static void split_all(const struct halves *halves, struct overfit *ret)
{
    size_t columns = halves->of->columns;
    int blocks = halves->of->blocks, half = blocks / 2, block[BLOCKS_MAX];
    unsigned all = (1u << blocks) - 1;
    for (int i = 0; i < half; i++)
        block[i] = i;
    for (size_t at = 0; at < ret->splits / 2; at++) {
        unsigned bits = 0;
        for (int i = 0; i < half; i++)
            bits |= 1u << block[i];
        half_sharpes(halves, bits, halves->half[0]);
        half_sharpes(halves, all & ~bits, halves->half[1]);
        compare(columns, halves->half[0], halves->half[1], at, ret);
        compare(columns, halves->half[1], halves->half[0], ret->splits - 1 - at, ret);
        int i = half - 1;
        while (i > 0 && block[i] == blocks - half + i)
            i--;
        for (block[i]++; i + 1 < half; i++)
            block[i + 1] = block[i] + 1;
    }
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
    double *room = calloc(columns, 4 * sizeof *room);
    if (!overfit.lambda || !room) {
        free(overfit.lambda);
        free(room);
        return no_memory(err, columns);
    }
    overfit.in_sample = overfit.lambda + overfit.splits;
    overfit.out_of_sample = overfit.in_sample + overfit.splits;
    overfit.chosen = (int *)(overfit.out_of_sample + overfit.splits);
    const struct halves halves = {
        blocks, {room, room + columns}, room + 2 * columns, room + 3 * columns, room};
    split_all(&halves, &overfit);
    free(room);
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
