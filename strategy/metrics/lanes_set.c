/* Compiled once for each instruction set: LANES_SET names it, indicators_gpu/fast/simd.h has its vectors.
 *
 * The bottleneck is the division: 8 rows take one of 64 bytes, about 8 to 16 cycles on processors that have
 * it, and some 20 other operations, two or three a cycle, run beside it. Constant rows are not divided, and
 * the highs before each row are computed only where a block could have a deeper drawdown. */
#include <string.h>

#include "indicators_gpu/fast/wide.h"
#include "strategy/metrics/lanes.h"

enum { LANES = 8, PARTS = LANES / WIDE, BLOCK = 1024 };
enum { ABREAST = 4 }; /* independent vectors */

/* Eight doubles, as one vector or several. */
struct lanes_eight {
    vec_double part[PARTS];
};

#define EIGHT_EACH(expression) \
    struct lanes_eight y; \
    for (int p = 0; p < PARTS; p++) \
        y.part[p] = (expression); \
    return y

static inline __attribute__((always_inline)) struct lanes_eight load(const double *x)
{
    EIGHT_EACH(wide_load(x + p * WIDE));
}

static inline __attribute__((always_inline)) struct lanes_eight all(double x)
{
    EIGHT_EACH(wide_all(x));
}

static inline __attribute__((always_inline)) struct lanes_eight add(struct lanes_eight a,
                                                                    struct lanes_eight b)
{
    EIGHT_EACH(a.part[p] + b.part[p]);
}

static inline __attribute__((always_inline)) struct lanes_eight sub(struct lanes_eight a,
                                                                    struct lanes_eight b)
{
    EIGHT_EACH(a.part[p] - b.part[p]);
}

static inline __attribute__((always_inline)) struct lanes_eight mul(struct lanes_eight a,
                                                                    struct lanes_eight b)
{
    EIGHT_EACH(a.part[p] * b.part[p]);
}

static inline __attribute__((always_inline)) struct lanes_eight divide(struct lanes_eight a,
                                                                       struct lanes_eight b)
{
    EIGHT_EACH(a.part[p] / b.part[p]);
}

static inline __attribute__((always_inline)) struct lanes_eight higher(struct lanes_eight a,
                                                                       struct lanes_eight b)
{
    EIGHT_EACH(wide_max(a.part[p], b.part[p]));
}

static inline __attribute__((always_inline)) struct lanes_eight lower(struct lanes_eight a,
                                                                      struct lanes_eight b)
{
    EIGHT_EACH(wide_min(a.part[p], b.part[p]));
}

static inline double lane(const struct lanes_eight *x, int k)
{
    return x->part[k / WIDE][k % WIDE];
}

static double sum_of(const struct lanes_eight *x)
{
    return ((lane(x, 0) + lane(x, 1)) + (lane(x, 2) + lane(x, 3))) +
           ((lane(x, 4) + lane(x, 5)) + (lane(x, 6) + lane(x, 7)));
}

static double highest_of(const struct lanes_eight *x)
{
    double best = lane(x, 0);
    for (int k = 1; k < LANES; k++)
        best = lane(x, k) > best ? lane(x, k) : best;
    return best;
}

static double lowest_of(const struct lanes_eight *x)
{
    double worst = lane(x, 0);
    for (int k = 1; k < LANES; k++)
        worst = lane(x, k) < worst ? lane(x, k) : worst;
    return worst;
}

static struct lanes_range range(const double *values, size_t n)
{
    struct lanes_range seen = {.highest = values[0], .lowest = values[0]};
    size_t i = 0;
    if (n >= ABREAST * LANES) {
        struct lanes_eight high[ABREAST], low[ABREAST], sum[ABREAST];
        for (int k = 0; k < ABREAST; k++) {
            high[k] = low[k] = load(values);
            sum[k] = all(0);
        }
        for (; n - i >= ABREAST * LANES; i += ABREAST * LANES)
            for (int k = 0; k < ABREAST; k++) {
                struct lanes_eight value = load(values + i + k * LANES);
                high[k] = higher(high[k], value);
                low[k] = lower(low[k], value);
                sum[k] = add(sum[k], value);
            }
        for (int k = 1; k < ABREAST; k++) {
            high[0] = higher(high[0], high[k]);
            low[0] = lower(low[0], low[k]);
            sum[0] = add(sum[0], sum[k]);
        }
        seen = (struct lanes_range){highest_of(&high[0]), lowest_of(&low[0]), sum_of(&sum[0])};
    }
    for (; i < n; i++) {
        seen.highest = values[i] > seen.highest ? values[i] : seen.highest;
        seen.lowest = values[i] < seen.lowest ? values[i] : seen.lowest;
        seen.sum += values[i];
    }
    return seen;
}

/* The running figures of a curve. */
struct walk {
    struct lanes_eight off[4], down, gains, losses, best, worst, level;
    double highest, lowest, peak, drawdown;
};

static void see_drawdown(struct walk *walk, const double *equity, size_t n, double highest, double lowest)
{
    double peak = walk->peak, above = highest > peak ? highest : peak;
    double deepest = (lowest - above) / above;
    if (above == peak) { /* no new high: the lowest row is the deepest */
        walk->drawdown = deepest < walk->drawdown ? deepest : walk->drawdown;
    } else if (deepest < walk->drawdown) {
        double floor = 1 + walk->drawdown;
        for (size_t i = 0; i < n; i++) {
            peak = equity[i] > peak ? equity[i] : peak;
            if (equity[i] < peak * floor) {
                double depth = (equity[i] - peak) / peak;
                walk->drawdown = depth < walk->drawdown ? depth : walk->drawdown;
                floor = 1 + walk->drawdown;
            }
        }
    }
    walk->peak = above;
}

static void see_equity(struct walk *walk, const double *equity, size_t n, double highest, double lowest)
{
    walk->highest = highest > walk->highest ? highest : walk->highest;
    walk->lowest = lowest < walk->lowest ? lowest : walk->lowest;
    see_drawdown(walk, equity, n, highest, lowest);
}

/* Do n > 0 rows all equal the row before them? */
static bool stands(const double *equity, size_t n)
{
    double before = equity[-1];
    if (equity[0] != before || equity[n / 2] != before || equity[n - 1] != before)
        return false;
    for (size_t i = 0; i < n; i++)
        if (equity[i] != before)
            return false;
    return true;
}

/* n is a multiple of LANES; equity[-1] exists. */
static void walk_block(struct walk *walk, const double *equity, size_t n, double shift)
{
    const struct lanes_eight shifts = all(shift), zero = all(0);
    struct lanes_eight off1 = zero, off2 = zero, off3 = zero, off4 = zero, down = zero, gains = zero,
                       losses = zero;
    struct lanes_eight level = walk->level, best = walk->best, worst = walk->worst, high = load(equity),
                       low = high;
    for (size_t i = 0; i < n; i += LANES) {
        struct lanes_eight before = load(equity + i - 1), value = load(equity + i);
        struct lanes_eight r = divide(sub(value, before), before);
        struct lanes_eight off = sub(r, shifts), square = mul(off, off), below = lower(r, zero);
        high = higher(high, value);
        low = lower(low, value);
        level = add(level, value);
        best = higher(best, r);
        worst = lower(worst, r);
        off1 = add(off1, off);
        off2 = add(off2, square);
        off3 = add(off3, mul(square, off));
        off4 = add(off4, mul(square, square));
        down = add(down, mul(below, below));
        losses = add(losses, below);
        gains = add(gains, higher(r, zero));
    }
    walk->off[0] = add(walk->off[0], off1);
    walk->off[1] = add(walk->off[1], off2);
    walk->off[2] = add(walk->off[2], off3);
    walk->off[3] = add(walk->off[3], off4);
    walk->down = add(walk->down, down);
    walk->gains = add(walk->gains, gains);
    walk->losses = add(walk->losses, losses);
    walk->level = level;
    walk->best = best;
    walk->worst = worst;
    see_equity(walk, equity, n, highest_of(&high), lowest_of(&low));
}

static void add_return(struct lanes_curve *sums, double r, double shift, double times)
{
    double off = r - shift, below = r < 0 ? r : 0, power = times;
    for (int k = 0; k < 4; k++)
        sums->off[k] += power *= off;
    sums->down += times * (below * below);
    sums->losses += times * below;
    sums->gains += times * (r > 0 ? r : 0);
    sums->best = r > sums->best ? r : sums->best;
    sums->worst = r < sums->worst ? r : sums->worst;
}

static void curve(double start, const double *equity, size_t n, double shift, struct lanes_curve *ret)
{
    double first = (equity[0] - start) / start;
    struct walk walk = {.best = all(first), .worst = all(first)};
    walk.highest = walk.lowest = equity[0];
    walk.peak = start;
    see_equity(&walk, equity, 1, equity[0], equity[0]);
    size_t at = 1, still = 0;
    double level = equity[0];
    while (n - at >= LANES) {
        size_t rows = n - at < BLOCK ? (n - at) / LANES * LANES : BLOCK;
        if (stands(equity + at, rows)) {
            still += rows;
            level += equity[at] * (double)rows;
        } else {
            walk_block(&walk, equity + at, rows, shift);
        }
        at += rows;
    }
    struct lanes_curve sums = {.down = sum_of(&walk.down),
                               .gains = sum_of(&walk.gains),
                               .losses = sum_of(&walk.losses),
                               .best = highest_of(&walk.best),
                               .worst = lowest_of(&walk.worst)};
    for (int k = 0; k < 4; k++)
        sums.off[k] = sum_of(&walk.off[k]);
    add_return(&sums, first, shift, 1);
    if (still > 0)
        add_return(&sums, 0, shift, (double)still);
    for (; at < n; at++) {
        add_return(&sums, (equity[at] - equity[at - 1]) / equity[at - 1], shift, 1);
        see_equity(&walk, equity + at, 1, equity[at], equity[at]);
        level += equity[at];
    }
    sums.level = level + sum_of(&walk.level);
    sums.highest = walk.highest;
    sums.lowest = walk.lowest;
    sums.max_drawdown = walk.drawdown;
    *ret = sums;
}

static void add_pair(struct lanes_pair *sums, double r, double b)
{
    sums->r += r;
    sums->b += b;
    sums->bb += b * b;
    sums->rb += r * b;
}

static void see_pair(struct lanes_pair *sums, double x, double y)
{
    double high = x > y ? x : y, low = x < y ? x : y;
    sums->highest = high > sums->highest ? high : sums->highest;
    sums->lowest = low < sums->lowest ? low : sums->lowest;
}

static void pair_block(const double *x, const double *y, size_t n, double shift_r, double shift_b,
                       struct lanes_pair *sums)
{
    const struct lanes_eight shifts_r = all(shift_r), shifts_b = all(shift_b), zero = all(0);
    struct lanes_eight sum_r = zero, sum_b = zero, sum_bb = zero, sum_rb = zero, high = load(x), low = high;
    for (size_t i = 0; i < n; i += LANES) {
        struct lanes_eight x0 = load(x + i - 1), x1 = load(x + i), y0 = load(y + i - 1), y1 = load(y + i);
        struct lanes_eight r = sub(divide(sub(x1, x0), x0), shifts_r),
                           b = sub(divide(sub(y1, y0), y0), shifts_b);
        high = higher(high, higher(x1, y1));
        low = lower(low, lower(x1, y1));
        sum_r = add(sum_r, r);
        sum_b = add(sum_b, b);
        sum_bb = add(sum_bb, mul(b, b));
        sum_rb = add(sum_rb, mul(r, b));
    }
    sums->r += sum_of(&sum_r);
    sums->b += sum_of(&sum_b);
    sums->bb += sum_of(&sum_bb);
    sums->rb += sum_of(&sum_rb);
    see_pair(sums, highest_of(&high), lowest_of(&low));
}

static void pair(const struct metrics_series *series, const struct metrics_series *benchmark, double shift_r,
                 double shift_b, struct lanes_pair *ret)
{
    const double *x = series->values, *y = benchmark->values;
    struct lanes_pair sums = {.highest = x[0], .lowest = x[0]};
    add_pair(&sums, (x[0] - series->start) / series->start - shift_r,
             (y[0] - benchmark->start) / benchmark->start - shift_b);
    see_pair(&sums, y[0], y[0]);
    size_t at = 1;
    while (series->n - at >= LANES) {
        size_t rows = series->n - at < BLOCK ? (series->n - at) / LANES * LANES : BLOCK;
        pair_block(x + at, y + at, rows, shift_r, shift_b, &sums);
        at += rows;
    }
    for (; at < series->n; at++) {
        add_pair(&sums, (x[at] - x[at - 1]) / x[at - 1] - shift_r, (y[at] - y[at - 1]) / y[at - 1] - shift_b);
        see_pair(&sums, x[at], y[at]);
    }
    *ret = sums;
}

extern const struct lanes_set LANES_SET;
const struct lanes_set LANES_SET = {.range = range, .curve = curve, .pair = pair};
