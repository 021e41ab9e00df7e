#include "trainer/study/overfit.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

enum { BLOCKS_MAX = OVERFIT_BLOCKS_MAX };

/* What a half needs to know of each block's columns, [blocks][columns]. Halves have blocks of one length, so
 * a half's mean is that of the means, and its squares are the blocks' and those of the means around it. */
struct overfit_sums {
    size_t columns;
    int blocks;
    double length;                      /* rows of a block */
    double *mean, *squares;             /* around the block's mean */
    double *least, *most;               /* a constant column has no variance, despite rounding */
    double *half[2], *half_mean, *room; /* [columns]: both halves' Sharpes */
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

static void sums_finish(struct overfit_sums *sums)
{
    free(sums->room);
}

static int sums_of(const double *returns, size_t rows, size_t columns, int blocks, struct overfit_sums *ret)
{
    size_t length = rows / (size_t)blocks, n = (size_t)blocks * columns;
    if (columns > SIZE_MAX / sizeof(double) / (4 * BLOCKS_MAX + 3))
        return -ENOMEM;
    double *room = calloc(4 * n + 3 * columns, sizeof *room);
    if (!room)
        return -ENOMEM;
    struct overfit_sums sums = {columns,
                                blocks,
                                (double)length,
                                room,
                                room + n,
                                room + 2 * n,
                                room + 3 * n,
                                {room + 4 * n, room + 4 * n + columns},
                                room + 4 * n + 2 * columns,
                                room};
    const double *row = returns + rows % (size_t)blocks * columns;
    for (int b = 0; b < blocks; b++) {
        double *mean = sums.mean + (size_t)b * columns, *squares = sums.squares + (size_t)b * columns;
        double *least = sums.least + (size_t)b * columns, *most = sums.most + (size_t)b * columns;
        memcpy(least, row, columns * sizeof *least);
        memcpy(most, row, columns * sizeof *most);
        for (size_t i = 0; i < length; i++)
            for (size_t c = 0; c < columns; c++) {
                double x = row[i * columns + c];
                mean[c] += x;
                least[c] = x < least[c] ? x : least[c];
                most[c] = x > most[c] ? x : most[c];
            }
        for (size_t c = 0; c < columns; c++)
            mean[c] /= sums.length;
        for (size_t i = 0; i < length; i++)
            for (size_t c = 0; c < columns; c++)
                squares[c] += (row[i * columns + c] - mean[c]) * (row[i * columns + c] - mean[c]);
        row += length * columns;
    }
    *ret = sums;
    return 0;
}

/* Each column's Sharpe over the blocks whose bits are set, into sharpes [columns]. */
static void half_sharpes(const struct overfit_sums *sums, unsigned bits, double *sharpes)
{
    size_t columns = sums->columns;
    double *mean = sums->half_mean, half = sums->blocks / 2, n = half * sums->length;
    memset(mean, 0, columns * sizeof *mean);
    memset(sharpes, 0, columns * sizeof *sharpes);
    for (int b = 0; b < sums->blocks; b++)
        for (size_t c = 0; bits >> b & 1 && c < columns; c++)
            mean[c] += sums->mean[(size_t)b * columns + c];
    for (size_t c = 0; c < columns; c++)
        mean[c] /= half;
    for (int b = 0; b < sums->blocks; b++) {
        const double *means = sums->mean + (size_t)b * columns,
                     *squares = sums->squares + (size_t)b * columns;
        for (size_t c = 0; bits >> b & 1 && c < columns; c++)
            sharpes[c] += squares[c] + sums->length * (means[c] - mean[c]) * (means[c] - mean[c]);
    }
    for (size_t c = 0; c < columns; c++)
        sharpes[c] = sharpes[c] > 0 ? mean[c] / sqrt(sharpes[c] / (n - 1)) : 0;
    int first = __builtin_ctz(bits);
    for (size_t c = 0; c < columns; c++) {
        const double *least = sums->least + c, *most = sums->most + c;
        double level = least[(size_t)first * columns];
        bool is_level = true;
        for (int b = first; b < sums->blocks && is_level; b++)
            is_level = !(bits >> b & 1) ||
                       (least[(size_t)b * columns] == level && most[(size_t)b * columns] == level);
        if (is_level)
            sharpes[c] = 0;
    }
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
static void split_all(struct overfit_sums *sums, struct overfit *ret)
{
    int half = sums->blocks / 2, block[BLOCKS_MAX];
    unsigned all = (1u << sums->blocks) - 1;
    for (int i = 0; i < half; i++)
        block[i] = i;
    for (size_t at = 0; at < ret->splits / 2; at++) {
        unsigned bits = 0;
        for (int i = 0; i < half; i++)
            bits |= 1u << block[i];
        half_sharpes(sums, bits, sums->half[0]);
        half_sharpes(sums, all & ~bits, sums->half[1]);
        compare(sums->columns, sums->half[0], sums->half[1], at, ret);
        compare(sums->columns, sums->half[1], sums->half[0], ret->splits - 1 - at, ret);
        int i = half - 1;
        while (i > 0 && block[i] == sums->blocks - half + i)
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

static int refuse(char err[static OVERFIT_ERROR_MAX], const double *returns, size_t rows, size_t columns,
                  int blocks)
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
    else {
        for (size_t i = 0; i < rows * columns; i++)
            if (!isfinite(returns[i]))
                return fail_with(-EINVAL, err, OVERFIT_ERROR_MAX,
                                 "returns: row %zu, column %zu: a finite number is right", i / columns + 1,
                                 i % columns + 1);
        return 0;
    }
    return -EINVAL;
}

int overfit_compute(const double *returns, size_t rows, size_t columns, int blocks, struct overfit *ret,
                    char err[static OVERFIT_ERROR_MAX])
{
    struct overfit overfit = {.splits = 1};
    struct overfit_sums sums;
    int r = refuse(err, returns, rows, columns, blocks);
    if (r < 0)
        return r;
    for (int i = 1; i <= blocks / 2; i++)
        overfit.splits = overfit.splits * (size_t)(blocks / 2 + i) / (size_t)i;
    overfit.lambda = malloc(overfit.splits * (3 * sizeof(double) + sizeof(int)));
    r = overfit.lambda ? sums_of(returns, rows, columns, blocks, &sums) : -ENOMEM;
    if (r < 0) {
        free(overfit.lambda);
        snprintf(err, OVERFIT_ERROR_MAX, "returns: no memory for %zu splits of %zu trials: fewer are right",
                 overfit.splits, columns);
        return r;
    }
    overfit.in_sample = overfit.lambda + overfit.splits;
    overfit.out_of_sample = overfit.in_sample + overfit.splits;
    overfit.chosen = (int *)(overfit.out_of_sample + overfit.splits);
    split_all(&sums, &overfit);
    sums_finish(&sums);
    summarise(&overfit);
    *ret = overfit;
    return 0;
}

void overfit_finish(struct overfit *overfit)
{
    free(overfit->lambda); /* the others are behind it */
    *overfit = (struct overfit){0};
}
