/* The policy's own exposures at other times. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "strategy/metrics/verdict_internal.h"
#include "strategy/philox.h"

/* Steps are taken block by block, all random policies of a block after each other. Growth is multiplied in
 * lanes, and its logarithm taken once a piece. */
enum { BLOCK_MAX = 1024, PIECE = 128, LANES = 8 };

/* Less apart than this, two logarithms of growth are equal: of n rounded products. */
static const double EQUAL = 1e-9;

struct luck {
    const struct verdict_input *input;
    double *rest;   /* [n] */
    double *growth; /* [n_shifts] logarithms */
    size_t *shifts; /* [n_shifts] the first is 0: the policy itself */
    size_t n_shifts;
    size_t block, n_blocks; /* whole blocks; the steps after the last one are never moved among them */
    uint32_t *order;        /* [n_shifts][n_blocks] which block stands at a place before the shift */
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

/* Steps [to, to + n), the exposures of those from `start` on, `shift` steps before, round the end. */
static double tile(const struct luck *luck, size_t to, size_t n, size_t start, size_t shift)
{
    size_t all = luck->input->n, from = start >= shift ? start - shift : start + all - shift;
    size_t first = n < all - from ? n : all - from;
    double sum = stretch(luck, to, from, first);
    return first < n ? sum + stretch(luck, to + first, 0, n - first) : sum;
}

static void walk(const struct luck *luck)
{
    size_t all = luck->input->n, moved = luck->n_blocks * luck->block;
    for (size_t b = 0; b < luck->n_blocks; b++)
        for (size_t k = 0; k < luck->n_shifts; k++)
            luck->growth[k] += tile(luck, b * luck->block, luck->block,
                                    luck->order[k * luck->n_blocks + b] * luck->block, luck->shifts[k]);
    for (size_t k = 0; k < luck->n_shifts && moved < all; k++)
        luck->growth[k] += tile(luck, moved, all - moved, moved, luck->shifts[k]);
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

/* Blocks of a sixteenth of the steps, in whole pieces: so long that exposures keep their dependence over
 * time, so many that no order of them repeats a market that does. */
static size_t block_of(size_t n)
{
    size_t block = (n / VERDICT_BLOCKS + PIECE - 1) / PIECE * PIECE;
    return block > BLOCK_MAX ? BLOCK_MAX : block > PIECE ? block : PIECE;
}

/* Fisher and Yates; the policy itself keeps its order. */
static void shuffle(struct luck *luck)
{
    size_t n = luck->n_blocks;
    for (size_t k = 0; k < luck->n_shifts; k++) {
        uint32_t *order = luck->order + k * n;
        for (size_t i = 0; i < n; i++)
            order[i] = (uint32_t)i;
        for (size_t i = n; k > 0 && i-- > 1;) {
            uint32_t word =
                philox(VERDICT_SEED, (uint32_t)(k - 1), (uint32_t)i, 0, VERDICT_DRAW_ORDER).word[0];
            uint32_t at = philox_below(word, (uint32_t)i + 1), kept = order[i];
            order[i] = order[at];
            order[at] = kept;
        }
    }
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
                        .shifts = calloc(1 + VERDICT_SHIFTS, sizeof(size_t)),
                        .block = block_of(input->n)};
    luck.n_blocks = input->n / luck.block;
    luck.order = calloc((1 + VERDICT_SHIFTS) * (luck.n_blocks + 1), sizeof *luck.order);
    int r = luck.rest && luck.growth && luck.shifts && luck.order ? 0 : -ENOMEM;
    if (r == 0) {
        size_t as_good = 0;
        choose(&luck);
        shuffle(&luck);
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
    free(luck.order);
    return r;
}
