/* The policy's own exposures at other times. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "strategy/metrics/verdict_internal.h"
#include "strategy/philox.h"

/* Steps are taken in tiles, all shifts of a tile after each other: neighbouring shifts read nearly the same
 * weights, which then are in the cache. Growth is multiplied in lanes, and its logarithm taken once a piece.
 */
enum { TILE = 1024, PIECE = 128, LANES = 8 };

/* Less apart than this, two logarithms of growth are equal: of n rounded products. */
static const double EQUAL = 1e-9;

struct luck {
    const struct verdict_input *input;
    double *rest;   /* [n] */
    double *growth; /* [n_shifts] logarithms */
    size_t *shifts; /* [n_shifts] the first is 0: the policy itself */
    size_t n_shifts;
};

/* The factors of n <= PIECE steps from `to`, whose exposures are those from `from`. */
static void multiply(const struct luck *luck, size_t to, size_t from, size_t n, double *restrict ret)
{
    const struct verdict_input *input = luck->input;
    for (size_t i = 0; i < n; i++)
        ret[i] = 1 + luck->rest[from + i];
    for (int a = 0; a < input->n_assets; a++) {
        const double *restrict weight = input->weights + (size_t)a * input->n + from;
        const double *restrict move = input->moves + (size_t)a * input->n + to;
        for (size_t i = 0; i < n; i++)
            ret[i] += weight[i] * move[i];
    }
}

/* The logarithm of the growth over n <= PIECE steps; -infinity where a step takes everything. */
static double piece(const struct luck *luck, size_t to, size_t from, size_t n)
{
    double factor[PIECE], lane[LANES];
    for (size_t i = n; i < PIECE; i++)
        factor[i] = 1;
    multiply(luck, to, from, n, factor);
    for (int l = 0; l < LANES; l++)
        lane[l] = 1;
    for (size_t i = 0; i < PIECE; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] *= factor[i + l] > 0 ? factor[i + l] : 0;
    return log(((lane[0] * lane[1]) * (lane[2] * lane[3])) * ((lane[4] * lane[5]) * (lane[6] * lane[7])));
}

static double stretch(const struct luck *luck, size_t to, size_t from, size_t n)
{
    double sum = 0;
    for (size_t done = 0; done < n; done += PIECE)
        sum += piece(luck, to + done, from + done, n - done < PIECE ? n - done : PIECE);
    return sum;
}

/* Steps [to, to + n), the exposures of `shift` steps before them, round the end. */
static double tile(const struct luck *luck, size_t to, size_t n, size_t shift)
{
    size_t all = luck->input->n, from = to >= shift ? to - shift : to + all - shift;
    size_t first = n < all - from ? n : all - from;
    double sum = stretch(luck, to, from, first);
    return first < n ? sum + stretch(luck, to + first, 0, n - first) : sum;
}

static void walk(const struct luck *luck)
{
    for (size_t to = 0; to < luck->input->n; to += TILE) {
        size_t left = luck->input->n - to, n = left < TILE ? left : TILE;
        for (size_t k = 0; k < luck->n_shifts; k++)
            luck->growth[k] += tile(luck, to, n, luck->shifts[k]);
    }
}

/* Shift k of `count` equal parts of [low, high]. */
static size_t draw(size_t k, size_t count, size_t low, size_t high)
{
    size_t width = high - low + 1, begin = k * width / count, end = (k + 1) * width / count;
    uint32_t word = philox(VERDICT_SEED, (uint32_t)k, 0, 0, VERDICT_DRAW_SHIFT).word[0];
    return low + begin + philox_below(word, (uint32_t)(end - begin));
}

static void choose(struct luck *luck)
{
    size_t n = luck->input->n, near = (n + VERDICT_NEAR - 1) / VERDICT_NEAR, there = n - 2 * near + 1;
    size_t count = there < VERDICT_SHIFTS ? there : VERDICT_SHIFTS;
    for (size_t k = 0; k < count; k++)
        luck->shifts[1 + k] = draw(k, count, near, n - near);
    luck->n_shifts = 1 + count;
}

static void separate(const struct luck *luck, const double *returns)
{
    const struct verdict_input *input = luck->input;
    for (size_t t = 0; t < input->n; t++) {
        double explained = 0;
        for (int a = 0; a < input->n_assets; a++)
            explained += input->weights[(size_t)a * input->n + t] * input->moves[(size_t)a * input->n + t];
        luck->rest[t] = returns[t] - explained;
    }
}

int metrics_verdict_luck(const struct verdict_input *input, const double *returns, struct verdict *ret)
{
    struct luck luck = {.input = input,
                        .rest = malloc(input->n * sizeof(double)),
                        .growth = calloc(1 + VERDICT_SHIFTS, sizeof(double)),
                        .shifts = calloc(1 + VERDICT_SHIFTS, sizeof(size_t))};
    int r = luck.rest && luck.growth && luck.shifts ? 0 : -ENOMEM;
    if (r == 0) {
        size_t as_good = 0;
        choose(&luck);
        separate(&luck, returns);
        walk(&luck);
        for (size_t k = 1; k < luck.n_shifts; k++)
            as_good += luck.growth[k] >= luck.growth[0] - EQUAL;
        ret->n_random = (int)luck.n_shifts - 1;
        ret->p = (double)(1 + as_good) / (double)luck.n_shifts;
    }
    free(luck.rest);
    free(luck.growth);
    free(luck.shifts);
    return r;
}
