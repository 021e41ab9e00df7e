/* Quantiles and ranks of the close in its window: exact. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/simd.h"
#include "indicators_gpu/step/statistics.h"

/* ---- Rank: the window's values are counted, many windows at a time. ---- */

enum { RANK_VECTORS = 4 };

struct rank {
    size_t period;
};

static size_t rank_bytes(const double options[])
{
    (void)options;
    return sizeof(struct rank);
}

static size_t order_history(const double options[])
{
    return (size_t)options[0];
}

static void rank_start(void *state, const double options[])
{
    struct rank *k = state;
    k->period = (size_t)options[0];
}

static void rank_run(void *state, const struct fast_block *block)
{
    const struct rank *k = state;
    const real *x = block->in[FAST_CLOSE];
    const vec places = vec_all((real)(2 * k->period));

    if (block->begin + block->count < k->period)
        return;
    for (size_t i = 0; i < fast_cells(block->count); i += RANK_VECTORS * W) {
        vec now[RANK_VECTORS];
        ivec count[RANK_VECTORS]; /* those below, twice, and the equal ones */
        for (size_t v = 0; v < RANK_VECTORS; v++) {
            now[v] = vec_load(x + i + v * W);
            count[v] = (ivec){0} + 1; /* itself */
        }
        for (size_t age = 1; age < k->period; age++)
            for (size_t v = 0; v < RANK_VECTORS; v++) {
                vec then = vec_load(x + i + v * W - age);
                count[v] -= (ivec)(then < now[v]);
                count[v] -= (ivec)(then <= now[v]);
            }
        for (size_t v = 0; v < RANK_VECTORS; v++)
            vec_store((real *)block->out[0] + i + v * W, vec_of_int(count[v] + 1) / places);
    }
}

const struct fast_kernel FAST(rank) = {rank_bytes, order_history, rank_start, rank_run};

/* ---- Quantile: sorted windows. Short ones lie side by side: each lane of a vector has its own stretch of
 * the block and the window that ends there, sorted down the vectors. Long ones lie in one array. ---- */

enum { SIDE_BY_SIDE_MOST = 192, STRETCH = FAST_BLOCK / W };

struct quantile {
    size_t period;
    size_t below, above; /* places in the sorted window */
    real share;          /* of the way from below to above */
    bool side_by_side;
    size_t held; /* values in the one array */
    vec cells[]; /* sorted; side by side also the stretches' values */
};

static size_t quantile_bytes(const double options[])
{
    size_t period = (size_t)options[0];
    if (period <= SIDE_BY_SIDE_MOST)
        return sizeof(struct quantile) + (period + 1 + period + STRETCH) * sizeof(vec);
    return sizeof(struct quantile) + (period + W) * sizeof(real);
}

static void quantile_start(void *state, const double options[])
{
    struct quantile *k = state;
    struct quantile_place place = quantile_place((uint32_t)options[0], options[1]);
    k->period = (size_t)options[0];
    k->below = place.below;
    k->above = place.below + 1 < k->period ? place.below + 1 : place.below;
    k->share = (real)place.share;
    k->side_by_side = k->period <= SIDE_BY_SIDE_MOST;
}

/* Replaces `gone`, which is there, with `come` in every lane's window. What follows `gone` moves down by one
 * place; `come` is inserted where it belongs among the rest. sorted[period] is infinite. */
static inline void quantile_replace(vec *sorted, size_t period, vec gone, vec come)
{
    vec this = sorted[0], before = vec_all((real)-INFINITY);
    for (size_t j = 0; j < period; j++) {
        vec next = sorted[j + 1];
        vec left = vec_select(vec_gt(gone, this), this, next);
        sorted[j] = vec_max(before, vec_min(left, come));
        before = left;
        this = next;
    }
}

static inline vec quantile_between_lanes(vec below, vec above, real share)
{
    vec distance = above - below;
    return share < (real)0.5 ? below + distance * share : above - distance * ((real)1 - share);
}

static void quantile_lanes(struct quantile *k, const struct fast_block *block)
{
    const size_t period = k->period, stretch = (block->count + W - 1) / W;
    const real *x = block->in[FAST_CLOSE];
    const vec none = vec_all((real)INFINITY);
    real *out = block->out[0];
    vec *sorted = k->cells, *come = sorted + period + 1; /* the values from `period` before the stretch on */

    for (size_t j = 0; j <= period; j++)
        sorted[j] = none;
    for (size_t t = 0; t < period + stretch; t++) {
        for (size_t lane = 0; lane < W; lane++)
            come[t][lane] = x[(ptrdiff_t)(lane * stretch + t) - (ptrdiff_t)period];
        quantile_replace(sorted, period, t < period ? none : come[t - period], come[t]);
        if (t < period)
            continue;
        vec quantile = quantile_between_lanes(sorted[k->below], sorted[k->above], k->share);
        for (size_t lane = 0; lane < W; lane++)
            out[lane * stretch + t - period] = quantile[lane];
    }
}

/* How many of n sorted values are below x. */
static inline size_t quantile_place_of(const real *sorted, size_t n, real x)
{
    size_t from = 0;
    while (n > 1) {
        size_t half = n / 2;
        from += sorted[from + half - 1] < x ? half : 0;
        n -= half;
    }
    return from + (n == 1 && sorted[from] < x);
}

static void quantile_array(struct quantile *k, const struct fast_block *block)
{
    const real *x = block->in[FAST_CLOSE];
    real *sorted = (real *)k->cells, *out = block->out[0];

    for (size_t i = 0; i < block->count; i++) {
        size_t to = quantile_place_of(sorted, k->held, x[i]);
        if (k->held < k->period) {
            memmove(sorted + to + 1, sorted + to, (k->held++ - to) * sizeof(real));
        } else {
            size_t from = quantile_place_of(sorted, k->held, *(x + i - k->period));
            if (from < to) {
                to--;
                memmove(sorted + from, sorted + from + 1, (to - from) * sizeof(real));
            } else {
                memmove(sorted + to + 1, sorted + to, (from - to) * sizeof(real));
            }
        }
        sorted[to] = x[i];
        if (k->held < k->period)
            continue;
        real below = sorted[k->below], above = sorted[k->above], distance = above - below;
        out[i] = k->share < (real)0.5 ? below + distance * k->share : above - distance * ((real)1 - k->share);
    }
}

static void quantile_run(void *state, const struct fast_block *block)
{
    struct quantile *k = state;
    if (k->side_by_side)
        quantile_lanes(k, block);
    else
        quantile_array(k, block);
}

const struct fast_kernel FAST(quantile) = {quantile_bytes, order_history, quantile_start, quantile_run};
