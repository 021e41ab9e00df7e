/* Wilder's directional movement: DI, DX, ADX, ADXR. In float64 alone: after long flat stretches the sums are
 * far below what float32 holds, and only their ratio matters. */
#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/true_range.h"

/* The sums S = S - S/p + new are an average's u; they begin with p - 1 values. */
struct movement {
    size_t period;
    struct average plus, minus, range;
};

static void movement_start_one(struct average *s, size_t period)
{
    average_start(s, 1.0 / (double)period, 1, period - 1);
    s->share = s->k;
}

static void movement_start(struct movement *s, size_t period)
{
    s->period = period;
    movement_start_one(&s->plus, period);
    movement_start_one(&s->minus, period);
    movement_start_one(&s->range, period);
}

/* The terms that a bar adds to each sum. */
struct moved {
    vec plus, minus, range;
};

static inline struct moved moved_at(const struct fast_block *block, size_t i)
{
    const real *high = block->in[FAST_HIGH], *low = block->in[FAST_LOW], *close = block->in[FAST_CLOSE];
    vec up = vec_load(high + i) - vec_load(high + i - 1), down = vec_load(low + i - 1) - vec_load(low + i);
    const vec zero = vec_all(0);
    struct moved moved;
    moved.plus = vec_select(vec_gt(up, down), vec_max(up, zero), zero);
    moved.minus = vec_select(vec_gt(down, up), vec_max(down, zero), zero);
    moved.range = true_ranges(high, low, close, i);
    return moved;
}

/* The sums of a block, of which `plus` or `minus` may be NULL. Uses work[5] to work[7]. Returns the local
 * index of the first whole ones, `count` if there is none. */
static size_t movement_run(struct movement *s, const struct fast_block *block, real *plus, real *minus,
                           real *range)
{
    struct average *averages[3] = {&s->plus, &s->minus, &s->range};
    real *sums[3] = {plus, minus, range};
    size_t cells = fast_cells(block->count), first = 0;

    if (block->begin > s->range.first) {
        struct averaging p = averaging_of_small(&s->plus), m = averaging_of_small(&s->minus),
                         r = averaging_of_small(&s->range);
        for (size_t i = 0; i < cells; i += W) {
            struct moved moved = moved_at(block, i);
            if (plus)
                vec_store(plus + i, averaging_deviation(&p, moved.plus));
            if (minus)
                vec_store(minus + i, averaging_deviation(&m, moved.minus));
            vec_store(range + i, averaging_deviation(&r, moved.range));
        }
        average_keep(&s->plus, &p);
        average_keep(&s->minus, &m);
        average_keep(&s->range, &r);
        return 0;
    }
    real *news[3] = {block->work[5], block->work[6], block->work[7]};
    for (size_t i = 0; i < cells; i += W) {
        struct moved moved = moved_at(block, i);
        vec_store(news[0] + i, moved.plus);
        vec_store(news[1] + i, moved.minus);
        vec_store(news[2] + i, moved.range);
    }
    for (size_t k = 0; k < 3; k++) {
        const real *x = news[k];
        size_t at = average_begin(averages[k], &x, block->begin, block->count, news[k]);
        if (k == 2)
            first = at;
        if (at == block->count || !sums[k])
            continue;
        struct averaging a = averaging_of_small(averages[k]);
        for (size_t i = 0; i < cells; i += W)
            vec_store(sums[k] + i, averaging_deviation(&a, vec_load(x + i)));
        average_keep(averages[k], &a);
    }
    return first;
}

/* ---- DI ---- */

static size_t di_bytes(const double options[])
{
    (void)options;
    return sizeof(struct movement);
}

static void di_start(void *state, const double options[])
{
    movement_start(state, (size_t)options[0]);
}

static void di_of(const struct fast_block *block, const real *movement, const real *range)
{
    real *y = block->out[0];
    const vec zero = vec_all(0);
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec r = vec_load(range + i), di = vec_all(100) * (vec_load(movement + i) / r);
        vec_put(y + i, vec_select(vec_eq(r, zero), zero, di), block->stream);
    }
}

static void plus_di_run(void *state, const struct fast_block *block)
{
    movement_run(state, block, block->work[0], NULL, block->work[1]);
    di_of(block, block->work[0], block->work[1]);
}

static void minus_di_run(void *state, const struct fast_block *block)
{
    movement_run(state, block, NULL, block->work[0], block->work[1]);
    di_of(block, block->work[0], block->work[1]);
}

const struct fast_kernel FAST(plus_di) = {di_bytes, NULL, di_start, plus_di_run, true};
const struct fast_kernel FAST(minus_di) = {di_bytes, NULL, di_start, minus_di_run, true};

/* ---- DX, and its averages ---- */

struct directional {
    struct movement movement;
    real last; /* DX holds its value where there is none */
    struct average adx;
    size_t keep, room, end; /* of ADX's past values, which follow: the newest `keep` are before `end` */
};

enum { NO_DX = -1 }; /* where the range or both DI are 0 */

/* DX, or NO_DX, of a block to dx. Returns the local index of the first, `count` if there is none. */
static size_t dx_run_block(struct directional *s, const struct fast_block *block, real *dx)
{
    real *plus = block->work[0], *minus = block->work[1], *range = block->work[2];
    const vec zero = vec_all(0), none = vec_all(NO_DX);
    size_t first = movement_run(&s->movement, block, plus, minus, range);
    if (first == block->count)
        return first;
    for (size_t i = 0; i < fast_cells(block->count); i += W) {
        vec p = vec_load(plus + i), m = vec_load(minus + i), both = p + m;
        vec value = vec_all(100) * (vec_abs(m - p) / both);
        value = vec_select(vec_eq(both, zero), none, value);
        vec_store(dx + i, vec_select(vec_eq(vec_load(range + i), zero), none, value));
    }
    if (block->begin > s->movement.range.first)
        return 0;
    return first + 1; /* the sums of bar p - 1 are the seed */
}

static size_t dx_bytes(const double options[])
{
    (void)options;
    return sizeof(struct directional);
}

static void dx_start(void *state, const double options[])
{
    struct directional *s = state;
    movement_start(&s->movement, (size_t)options[0]);
}

static void dx_run(void *state, const struct fast_block *block)
{
    struct directional *s = state;
    real *y = block->out[0];
    size_t first = dx_run_block(s, block, y);
    for (size_t i = first; i < block->count; i++) {
        if (y[i] == NO_DX)
            y[i] = s->last;
        s->last = y[i];
    }
}

const struct fast_kernel FAST(dx) = {dx_bytes, NULL, dx_start, dx_run};

static void adx_start(void *state, const double options[])
{
    struct directional *s = state;
    size_t period = (size_t)options[0];
    movement_start(&s->movement, period);
    average_start(&s->adx, 1.0 / options[0], period, period);
}

/* Takes the seed's DX out of a block, as average_seed() does; none counts as 0. */
static size_t adx_seed(struct average *s, const real *dx, size_t begin, size_t count)
{
    size_t i = s->from > begin ? s->from - begin : 0;
    for (; i < count && begin + i <= s->first; i++)
        s->value += dx[i] == NO_DX ? 0.0 : dx[i];
    if (begin + count <= s->first)
        return count;
    s->value *= s->share;
    return s->first - begin;
}

static inline void adx_to(struct directional *s, const struct fast_block *block, real *y, bool stream)
{
    real *dx = block->work[3];
    size_t begin = block->begin, count = block->count;
    const vec none = vec_all(NO_DX);
    if (dx_run_block(s, block, dx) >= count)
        return;
    if (begin <= s->adx.first) {
        size_t first = adx_seed(&s->adx, dx, begin, count);
        if (first == count)
            return;
        average_lead(&s->adx, dx, first, fast_cells(count), dx);
    }
    struct averaging a = averaging_of_small(&s->adx);
    const vec k = vec_all((real)s->adx.k), hold = vec_all((real)(1.0 - s->adx.k));
    for (size_t i = 0; i < fast_cells(count); i += W) {
        vec x = vec_load(dx + i);
        vec_mask holds = vec_eq(x, none);
        if (!mask_any(holds)) {
            vec_put(y + i, k * averaging_deviation(&a, x), stream);
            continue;
        }
        vec factor = vec_select(holds, vec_all(1), hold), news = vec_select(holds, vec_all(0), x);
        vec_put(y + i, k * chain_next(factor, news, &a.u), stream);
    }
    average_keep(&s->adx, &a);
}

static void adx_run(void *state, const struct fast_block *block)
{
    adx_to(state, block, block->out[0], block->stream);
}

const struct fast_kernel FAST(adx) = {dx_bytes, NULL, adx_start, adx_run, true};

static size_t adxr_room(size_t keep)
{
    enum { BLOCKS = 4 };
    size_t more = BLOCKS * (size_t)FAST_BLOCK;
    return keep + (keep > more ? keep : more) + FAST_CELLS + FAST_STEP;
}

static size_t adxr_bytes(const double options[])
{
    return sizeof(struct directional) + adxr_room((size_t)options[0] - 1) * sizeof(real);
}

static void adxr_start(void *state, const double options[])
{
    struct directional *s = state;
    adx_start(state, options);
    s->keep = s->end = (size_t)options[0] - 1;
    s->room = adxr_room(s->keep);
}

static void adxr_run(void *state, const struct fast_block *block)
{
    struct directional *s = state;
    real *past = (real *)(s + 1), *y = block->out[0];
    size_t cells = fast_cells(block->count);
    if (s->end + cells > s->room) {
        memmove(past, past + (s->end - s->keep), s->keep * sizeof(real));
        s->end = s->keep;
    }
    real *now = past + s->end;
    const real *before = now - s->keep;
    adx_to(s, block, now, false);
    for (size_t i = 0; i < cells; i += W)
        vec_put(y + i, (vec_load(now + i) + vec_load(before + i)) * vec_all(0.5), block->stream);
    s->end += block->count;
}

const struct fast_kernel FAST(adxr) = {adxr_bytes, NULL, adxr_start, adxr_run, true};
