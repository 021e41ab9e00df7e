#include "engine/backtest/sets.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/sobol.h"
#include "exchange/fail.h"
#include "strategy/external.h"
#include "strategy/philox.h"

_Static_assert((int)STRATEGY_PARAMS_MAX <= (int)BACKTEST_SOBOL_DIMENSIONS, "an axis has no sequence");

/* Philox: what a number is for. */
enum { DRAW_SAMPLE = 4 << 24, DRAW_SHIFT = 5 << 24, DRAW_PERIOD = 6 << 24, DRAW_PERIOD_SHIFT = 7 << 24 };

/* ---- a sample ---- */

/* Ranges without a step of what need not be whole are continuous. */
static double value_at(const struct backtest_axis *axis, uint32_t word)
{
    char text[40];
    if (!axis->continuous)
        return axis->values[philox_below(word, (uint32_t)axis->n)];
    snprintf(text, sizeof text, "%.9g", philox_between(word, axis->low, axis->high));
    return fmin(fmax(strtod(text, NULL), axis->low), axis->high);
}

static void draw(const struct backtest_grid *grid, const struct backtest_sampling *sampling, double *to)
{
    struct backtest_sobol sobol;
    uint32_t shift[STRATEGY_PARAMS_MAX];
    backtest_sobol_init(&sobol);
    for (int a = 0; a < grid->n_axes; a++)
        shift[a] = philox(sampling->seed, (uint32_t)a, 0, 0, DRAW_SHIFT).word[0];
    for (size_t i = 0; i < sampling->n; i++)
        for (int a = 0; a < grid->n_axes; a++) {
            uint32_t word = sampling->sobol
                                ? backtest_sobol_at(&sobol, (uint32_t)i, a) ^ shift[a]
                                : philox(sampling->seed, (uint32_t)i, (uint32_t)a, 0, DRAW_SAMPLE).word[0];
            *to++ = value_at(&grid->axes[a], word);
        }
}

void backtest_sampling_starts(const struct backtest_sampling *sampling, size_t n, uint32_t starts,
                              size_t *ret)
{
    struct backtest_sobol sobol;
    const uint32_t shift = philox(sampling->seed, 0, 0, 0, DRAW_PERIOD_SHIFT).word[0];
    backtest_sobol_init(&sobol);
    for (size_t k = 0; k < n; k++)
        ret[k] =
            philox_below(sampling->sobol ? backtest_sobol_at(&sobol, (uint32_t)k, 0) ^ shift
                                         : philox(sampling->seed, (uint32_t)k, 0, 0, DRAW_PERIOD).word[0],
                         starts);
}

struct drawn_order {
    const double *drawn;
    int n_axes;
};

static int by_values(const void *a, const void *b, void *ctx)
{
    const struct drawn_order *order = ctx;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    for (int axis = 0; axis < order->n_axes; axis++) {
        double x = order->drawn[i * (size_t)order->n_axes + (size_t)axis];
        double y = order->drawn[k * (size_t)order->n_axes + (size_t)axis];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (i > k) - (i < k);
}

/* Keeps the first of equal points, in their order. How many are left; 0 without memory. */
static size_t make_distinct(double *drawn, size_t n, int n_axes)
{
    size_t *order = malloc(n * sizeof *order), kept = 0, width = (size_t)n_axes;
    bool *again = calloc(n, sizeof *again);
    struct drawn_order by = {drawn, n_axes};
    for (size_t i = 0; order && i < n; i++)
        order[i] = i;
    if (order && again) {
        qsort_r(order, n, sizeof *order, by_values, &by);
        for (size_t i = 1; i < n; i++)
            again[order[i]] =
                memcmp(drawn + order[i] * width, drawn + order[i - 1] * width, width * sizeof *drawn) == 0;
        for (size_t i = 0; i < n; i++)
            if (!again[i])
                memmove(drawn + kept++ * width, drawn + i * width, width * sizeof *drawn);
    }
    free(order);
    free(again);
    return kept;
}

int backtest_sets_open(const struct backtest_grid *grid, const struct backtest_sampling *sampling,
                       struct backtest_sets *ret, char err[static BACKTEST_GRID_ERROR_MAX])
{
    struct backtest_sets sets = {.grid = grid, .n = backtest_grid_count(grid), .asked = 1};
    if (sampling->n > BACKTEST_GRID_MOST)
        return fail_with(-EINVAL, err, BACKTEST_GRID_ERROR_MAX, "%zu samples: at most %d are right",
                         sampling->n, BACKTEST_GRID_MOST);
    for (int a = 0; a < grid->n_axes; a++)
        sets.asked *= (double)(grid->axes[a].n + grid->axes[a].again);
    if (sampling->n > 0) {
        sets.drawn = calloc(sampling->n, (size_t)grid->n_axes * sizeof *sets.drawn);
        if (sets.drawn)
            draw(grid, sampling, sets.drawn);
        sets.n = sets.drawn ? make_distinct(sets.drawn, sampling->n, grid->n_axes) : 0;
        sets.asked = (double)sampling->n;
        if (sets.n == 0) {
            free(sets.drawn);
            return fail_with(-ENOMEM, err, BACKTEST_GRID_ERROR_MAX, "out of memory");
        }
    }
    *ret = sets;
    return 0;
}

void backtest_sets_finish(struct backtest_sets *sets)
{
    free(sets->drawn);
    *sets = (struct backtest_sets){0};
}

bool backtest_sets_get(const struct backtest_sets *sets, const struct strategy *strategy, size_t i,
                       double params[static STRATEGY_PARAMS_MAX])
{
    const struct backtest_grid *grid = sets->grid;
    if (!sets->drawn)
        return backtest_grid_set(grid, strategy, i, params);
    for (int a = 0; a < grid->n_axes; a++)
        params[grid->axes[a].param] = sets->drawn[i * (size_t)grid->n_axes + (size_t)a];
    return !strategy_check(strategy, params);
}

/* ---- what is beside a set ---- */

/* The places of an axis' value below and above that at `place`, which are in any order; -1: there is none. */
static void steps_of(const struct backtest_axis *axis, size_t place, ptrdiff_t ret[2])
{
    const double *values = axis->values, at = values[place];
    ret[0] = ret[1] = -1;
    for (size_t k = 0; k < axis->n; k++) {
        if (values[k] < at && (ret[0] < 0 || values[k] > values[ret[0]]))
            ret[0] = (ptrdiff_t)k;
        if (values[k] > at && (ret[1] < 0 || values[k] < values[ret[1]]))
            ret[1] = (ptrdiff_t)k;
    }
}

struct beside {
    size_t *to, cap, n;
};

static void put(struct beside *beside, size_t i)
{
    if (beside->n < beside->cap)
        beside->to[beside->n++] = i;
}

static size_t beside_on_grid(const struct backtest_grid *grid, size_t i, struct beside *beside)
{
    ptrdiff_t moved[STRATEGY_PARAMS_MAX][2]; /* by how much the set's number changes; 0: there is no step */
    size_t stride = 1, rest = i;
    for (int a = grid->n_axes - 1; a >= 0; a--) {
        const struct backtest_axis *axis = &grid->axes[a];
        size_t place = rest % axis->n;
        ptrdiff_t steps[2];
        steps_of(axis, place, steps);
        for (int k = 0; k < 2; k++)
            moved[a][k] = steps[k] < 0 ? 0 : (steps[k] - (ptrdiff_t)place) * (ptrdiff_t)stride;
        rest /= axis->n;
        stride *= axis->n;
    }
    for (int a = 0; a < grid->n_axes; a++)
        for (int k = 0; k < 2; k++) {
            if (moved[a][k] == 0)
                continue;
            put(beside, (size_t)((ptrdiff_t)i + moved[a][k]));
            for (int b = 0; b < a; b++)
                for (int l = 0; l < 2; l++)
                    if (moved[b][l] != 0)
                        put(beside, (size_t)((ptrdiff_t)i + moved[a][k] + moved[b][l]));
        }
    return beside->n;
}

static double distance(const struct backtest_sets *sets, size_t i, size_t k)
{
    const struct backtest_grid *grid = sets->grid;
    double sum = 0;
    for (int a = 0; a < grid->n_axes; a++) {
        const struct backtest_axis *axis = &grid->axes[a];
        double x = sets->drawn[i * (size_t)grid->n_axes + (size_t)a];
        double y = sets->drawn[k * (size_t)grid->n_axes + (size_t)a];
        double apart = axis->high > axis->low ? (x - y) / (axis->high - axis->low) : 0;
        sum += apart * apart;
    }
    return sum;
}

static size_t beside_drawn(const struct backtest_sets *sets, size_t i, struct beside *beside)
{
    double far[BACKTEST_SETS_NEAREST];
    size_t cap = beside->cap < BACKTEST_SETS_NEAREST ? beside->cap : BACKTEST_SETS_NEAREST, n = 0;
    for (size_t k = 0; k < sets->n; k++) {
        double d = k == i ? INFINITY : distance(sets, i, k);
        size_t at = n < cap ? n : cap;
        while (at > 0 && d < far[at - 1])
            at--;
        if (at >= cap || !isfinite(d))
            continue;
        n += n < cap;
        for (size_t j = n - 1; j > at; j--) {
            far[j] = far[j - 1];
            beside->to[j] = beside->to[j - 1];
        }
        far[at] = d;
        beside->to[at] = k;
    }
    return n;
}

size_t backtest_sets_beside(const struct backtest_sets *sets, size_t i, size_t *ret, size_t cap)
{
    struct beside beside = {ret, cap, 0};
    return sets->drawn ? beside_drawn(sets, i, &beside) : beside_on_grid(sets->grid, i, &beside);
}
