/* All half splits of the blocks: what is best in one half, and its rank in the other. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/clones.h"
#include "strategy/metrics/overfit_internal.h"

enum { BLOCKS_MAX = OVERFIT_BLOCKS_MAX };

/* A score orders columns as their Sharpe ratios do: of a half with the sum `m` of its blocks' means and the
 * sum of squares `v` around its mean it is m |m| / v, 0 where nothing varies. Columns are taken WIDTH at a
 * time, and a half is two parts, of the first blocks and of the last ones, whose sums are in tables by the
 * blocks that are chosen: two sums for a half, whatever the number of blocks. */
enum { WIDTH = 32 };

struct half_part {
    double (*mean)[WIDTH], (*square)[WIDTH]; /* [1 << blocks]: sums of means; of squares around 0 */
    int first, blocks;
};

struct splits {
    const struct overfit_blocks *of;
    struct half_part low, high;
    size_t n;           /* of which block 0 is in the first half */
    uint32_t *bits;     /* [n] blocks of the first half */
    size_t from, width; /* the columns at hand */
    /* Of each half as in-sample, [2][n]: the best score there, its score in the other half, the column, and
     * how many are worse than that in the other half, or the same. */
    double *best, *outside;
    uint32_t *chosen, *worse, *same;
    void *room;
};

static void tabulate(const struct splits *splits, const struct half_part *part)
{
    const struct overfit_blocks *of = splits->of;
    memset(part->mean[0], 0, sizeof part->mean[0]);
    memset(part->square[0], 0, sizeof part->square[0]);
    for (unsigned bits = 1; bits < 1u << part->blocks; bits++) {
        size_t at = (size_t)(part->first + __builtin_ctz(bits)) * of->columns + splits->from;
        const double *mean = of->mean + at, *squares = of->squares + at;
        unsigned others = bits & (bits - 1);
        for (size_t c = 0; c < splits->width; c++) {
            part->mean[bits][c] = part->mean[others][c] + mean[c];
            part->square[bits][c] =
                part->square[others][c] + (squares[c] + (double)of->length * mean[c] * mean[c]);
        }
    }
}

/* A half has a Sharpe ratio of 0, despite rounding, where its blocks are all level, at one level, which is no
 * variance; and where levels add up to nothing but rounding, which is no mean. */
static bool is_level(const struct splits *splits, uint32_t bits, size_t column)
{
    const struct overfit_blocks *of = splits->of;
    const double *means = of->mean + column, *squares = of->squares + column, rounding = 4 * DBL_EPSILON;
    double level = means[(size_t)__builtin_ctz(bits) * of->columns], sum = 0, sizes = 0;
    bool varies = false;
    for (int b = 0; b < of->blocks; b++) {
        if (!(bits >> b & 1))
            continue;
        double mean = means[(size_t)b * of->columns];
        varies = varies || squares[(size_t)b * of->columns] > 0 || mean != level;
        sum += mean;
        sizes += fabs(mean);
    }
    return !varies || fabs(sum) <= rounding * sizes;
}

/* May a half of the column be level, other than at 0? */
static bool may_be_level(const struct splits *splits, size_t column)
{
    const struct overfit_blocks *of = splits->of;
    for (int b = 0; b < of->blocks; b++)
        if (of->squares[(size_t)b * of->columns + column] == 0 &&
            of->mean[(size_t)b * of->columns + column] != 0)
            return true;
    return false;
}

CLONES static void score(const struct splits *splits, uint32_t bits, double *ret)
{
    uint32_t low = bits & ((1u << splits->low.blocks) - 1), high = bits >> splits->low.blocks;
    const double *m0 = splits->low.mean[low], *m1 = splits->high.mean[high];
    const double *q0 = splits->low.square[low], *q1 = splits->high.square[high];
    double each = (double)splits->of->length / (splits->of->blocks / 2);
    for (int c = 0; c < WIDTH; c++) {
        double m = m0[c] + m1[c], v = q0[c] + q1[c] - each * m * m;
        ret[c] = v > 0 ? m * fabs(m) / v : 0;
    }
}

struct scores {
    double of[2][WIDTH]; /* both halves' */
    bool level[WIDTH];   /* columns that are looked at one by one */
    bool any;
};

static void score_both(const struct splits *splits, size_t split, struct scores *ret)
{
    uint32_t all = (1u << splits->of->blocks) - 1, bits = splits->bits[split];
    score(splits, bits, ret->of[0]);
    score(splits, all & ~bits, ret->of[1]);
    for (size_t c = 0; ret->any && c < splits->width; c++)
        for (int half = 0; ret->level[c] && half < 2; half++)
            if (is_level(splits, half ? all & ~bits : bits, splits->from + c))
                ret->of[half][c] = 0;
}

/* What is best in sample: the first of several. */
CLONES static void take_best(struct splits *splits, size_t split, const struct scores *scores)
{
    for (size_t half = 0; half < 2; half++) {
        const double *in = scores->of[half];
        double best = -INFINITY;
        for (size_t c = 0; c < splits->width; c++)
            best = in[c] > best ? in[c] : best;
        size_t at = half * splits->n + split, c = 0;
        if (!(best > splits->best[at]))
            continue;
        while (in[c] != best)
            c++;
        splits->best[at] = best;
        splits->outside[at] = scores->of[1 - half][c];
        splits->chosen[at] = (uint32_t)(splits->from + c);
    }
}

CLONES static void count(struct splits *splits, size_t split, const struct scores *scores)
{
    for (size_t half = 0; half < 2; half++) {
        const double *out = scores->of[1 - half];
        double chosen = splits->outside[half * splits->n + split];
        uint32_t worse = 0, same = 0;
        for (size_t c = 0; c < splits->width; c++) {
            worse += out[c] < chosen;
            same += out[c] == chosen;
        }
        splits->worse[half * splits->n + split] += worse;
        splits->same[half * splits->n + split] += same;
    }
}

/* ---- half splits ---- */

typedef void each_split(struct splits *splits, size_t split, const struct scores *scores);

static void for_all(struct splits *splits, each_split *each)
{
    struct scores scores;
    for (splits->from = 0; splits->from < splits->of->columns; splits->from += WIDTH) {
        size_t left = splits->of->columns - splits->from;
        splits->width = left < WIDTH ? left : WIDTH;
        scores.any = false;
        for (size_t c = 0; c < splits->width; c++) {
            scores.level[c] = may_be_level(splits, splits->from + c);
            scores.any = scores.any || scores.level[c];
        }
        tabulate(splits, &splits->low);
        tabulate(splits, &splits->high);
        for (size_t split = 0; split < splits->n; split++) {
            score_both(splits, split, &scores);
            each(splits, split, &scores);
        }
    }
}

/* The halves in lexicographic order, those with block 0. */
static void list(struct splits *splits)
{
    int blocks = splits->of->blocks, half = blocks / 2, block[BLOCKS_MAX];
    for (int i = 0; i < half; i++)
        block[i] = i;
    for (size_t at = 0; at < splits->n; at++) {
        splits->bits[at] = 0;
        for (int i = 0; i < half; i++)
            splits->bits[at] |= 1u << block[i];
        int i = half - 1;
        while (i > 0 && block[i] == blocks - half + i)
            i--;
        for (block[i]++; i + 1 < half; i++)
            block[i + 1] = block[i] + 1;
    }
}

static int splits_begin(const struct overfit_blocks *of, size_t n, struct splits *ret)
{
    int low = of->blocks / 2, high = of->blocks - low;
    size_t rows = ((size_t)1 << low) + ((size_t)1 << high);
    char *room =
        calloc(1, 2 * rows * WIDTH * sizeof(double) + n * (4 * sizeof(double) + 7 * sizeof(uint32_t)));
    if (!room)
        return -ENOMEM;
    double(*tables)[WIDTH] = (void *)room;
    double *scores = (double *)(tables + 2 * rows);
    uint32_t *numbers = (uint32_t *)(scores + 4 * n);
    size_t low_rows = (size_t)1 << low, high_rows = (size_t)1 << high;
    *ret = (struct splits){.of = of,
                           .low = {tables, tables + low_rows, 0, low},
                           .high = {tables + 2 * low_rows, tables + 2 * low_rows + high_rows, low, high},
                           .n = n,
                           .best = scores,
                           .outside = scores + 2 * n,
                           .bits = numbers,
                           .chosen = numbers + n,
                           .worse = numbers + 3 * n,
                           .same = numbers + 5 * n,
                           .room = room};
    for (size_t i = 0; i < 2 * n; i++)
        ret->best[i] = -INFINITY;
    list(ret);
    return 0;
}

/* Of one half, around its own mean: a score's digits are fewer where the mean is far above the deviation. */
static double sharpe_of(const struct splits *splits, uint32_t bits, size_t column)
{
    const struct overfit_blocks *of = splits->of;
    const double *means = of->mean + column, *squares = of->squares + column;
    double half = of->blocks / 2, length = (double)of->length, mean = 0, v = 0;
    if (may_be_level(splits, column) && is_level(splits, bits, column))
        return 0;
    for (int b = 0; b < of->blocks; b++)
        mean += bits >> b & 1 ? means[(size_t)b * of->columns] : 0;
    mean /= half;
    for (int b = 0; b < of->blocks; b++) {
        double apart = means[(size_t)b * of->columns] - mean;
        v += bits >> b & 1 ? squares[(size_t)b * of->columns] + length * apart * apart : 0;
    }
    return v > 0 ? mean / sqrt(v / (half * length - 1)) : 0;
}

/* The other half of number k from the front is number k from the back. */
static void take(const struct splits *splits, struct overfit *ret)
{
    size_t columns = splits->of->columns;
    uint32_t all = (1u << splits->of->blocks) - 1;
    double middle = ((double)columns + 1) / 2;
    for (size_t i = 0; i < 2 * splits->n; i++) {
        size_t at = i < splits->n ? i : 3 * splits->n - 1 - i;
        double rank = (double)splits->worse[i] + ((double)splits->same[i] + 1) / 2;
        ret->pbo += rank == middle && splits->same[i] > 1 ? 0.5 : rank <= middle;
        ret->chosen[at] = (int)splits->chosen[i];
        ret->lambda[at] = log(rank / ((double)columns + 1 - rank));
        uint32_t first = splits->bits[i % splits->n], bits = i < splits->n ? first : all & ~first;
        ret->in_sample[at] = sharpe_of(splits, bits, splits->chosen[i]);
        ret->out_of_sample[at] = sharpe_of(splits, all & ~bits, splits->chosen[i]);
    }
}

int overfit_split_all(const struct overfit_blocks *of, struct overfit *ret)
{
    struct splits splits;
    int r = splits_begin(of, ret->splits / 2, &splits);
    if (r < 0)
        return r;
    for_all(&splits, take_best);
    for_all(&splits, count);
    take(&splits, ret);
    free(splits.room);
    return 0;
}
