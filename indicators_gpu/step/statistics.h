/* Statistics, one bar at a time. See step/dispatch.h for a row's functions.
 *
 * Deviations are taken from the window's oldest value first: that is nearly or wholly exact for prices, and a
 * flat window has none at all. */
#ifndef INDICATORS_GPU_STEP_STATISTICS_H
#define INDICATORS_GPU_STEP_STATISTICS_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/exact_math.h"
#include "indicators_gpu/step/ring.h"

/* Of a full window: the mean of its values less the oldest one, and their population variance about it. */
struct spread {
    double mean, variance;
};

STEP struct spread spread_of_ring(const struct ring *r, const double cells[])
{
    struct spread spread;
    double n = (double)r->length, oldest = cells[r->next], sum = 0.0, squares = 0.0;
    uint32_t at = r->next;
    for (uint32_t i = 0; i < r->length; i++, at = ring_newer(r, at))
        sum += cells[at] - oldest;
    spread.mean = sum / n;
    for (uint32_t i = 0; i < r->length; i++, at = ring_newer(r, at)) {
        double off = (cells[at] - oldest) - spread.mean;
        squares += off * off;
    }
    spread.variance = squares / n;
    return spread;
}

struct step_stddev {
    double factor;
    struct ring ring;
};

STEP size_t step_stddev_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_stddev_start(struct step_stddev *s, const double options[])
{
    s->factor = options[1];
    ring_start(&s->ring, options[0]);
}

STEP bool step_stddev_next(struct step_stddev *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    out[0] = sqrt(spread_of_ring(&s->ring, cells).variance) * s->factor;
    return true;
}

struct step_var {
    struct ring ring;
};

STEP size_t step_var_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_var_start(struct step_var *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_var_next(struct step_var *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    out[0] = spread_of_ring(&s->ring, cells).variance;
    return true;
}

/* (x - mean) / deviation, all less the oldest value. */
STEP double zscore_value(double x, double mean, double variance)
{
    double deviation = sqrt(variance);
    return deviation == 0.0 ? 0.0 : (x - mean) / deviation;
}

struct step_zscore {
    struct ring ring;
};

STEP size_t step_zscore_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_zscore_start(struct step_zscore *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_zscore_next(struct step_zscore *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    struct spread spread = spread_of_ring(&s->ring, cells);
    out[0] = zscore_value(bar->close - cells[s->ring.next], spread.mean, spread.variance);
    return true;
}

/* The least squares line through the points (0, x_0) ... (p-1, x_{p-1}) rises by
 * sum (2j - (p-1)) x_j / (p (p^2 - 1) / 6) a bar: the weights sum to 0, so that any value may be taken off
 * all x. */
STEP double linreg_weight(double j, double period)
{
    return 2.0 * j - (period - 1.0);
}

STEP double linreg_divisor(double period)
{
    return period * (period * period - 1.0) / 6.0;
}

STEP double linreg_degrees(double slope)
{
    return exact_atan(slope) * (180.0 / 3.14159265358979323846);
}

STEP double slope_of_ring(const struct ring *r, const double cells[])
{
    double n = (double)r->length, oldest = cells[r->next], sum = 0.0;
    uint32_t at = r->next;
    for (uint32_t j = 0; j < r->length; j++, at = ring_newer(r, at))
        sum += linreg_weight((double)j, n) * (cells[at] - oldest);
    return sum / linreg_divisor(n);
}

struct step_linreg_slope {
    struct ring ring;
};

STEP size_t step_linreg_slope_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_linreg_slope_start(struct step_linreg_slope *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_linreg_slope_next(struct step_linreg_slope *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    out[0] = slope_of_ring(&s->ring, cells);
    return true;
}

struct step_linreg_angle {
    struct ring ring;
};

STEP size_t step_linreg_angle_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_linreg_angle_start(struct step_linreg_angle *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_linreg_angle_next(struct step_linreg_angle *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    out[0] = linreg_degrees(slope_of_ring(&s->ring, cells));
    return true;
}

struct step_log_return {
    struct ring ring;
};

STEP size_t step_log_return_cells(const double options[])
{
    return (size_t)options[0] + 1;
}

STEP void step_log_return_start(struct step_log_return *s, const double options[])
{
    ring_start(&s->ring, options[0] + 1.0);
}

STEP bool step_log_return_next(struct step_log_return *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    out[0] = exact_log_quotient(cells[s->ring.next], bar->close);
    return true;
}

/* The position of the quantile q among n sorted values: `share` of the way from [below] to the next. */
struct quantile_place {
    uint32_t below;
    double share;
};

STEP struct quantile_place quantile_place(uint32_t n, double q)
{
    struct quantile_place place;
    double at = (double)(n - 1) * q;
    place.below = (uint32_t)at;
    place.share = at - (double)place.below;
    return place;
}

/* From the nearer of the two, so that rounding exceeds neither (NumPy's way). */
STEP double quantile_between(double below, double above, double share)
{
    double distance = above - below;
    return share < 0.5 ? below + distance * share : above - distance * (1.0 - share);
}

/* How many of n sorted values are below x. */
STEP uint32_t sorted_below(const double sorted[], uint32_t n, double x)
{
    uint32_t from = 0, to = n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (sorted[middle] < x)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Cells: the ring, then its values sorted. */
struct step_quantile {
    double q;
    struct ring ring;
};

STEP size_t step_quantile_cells(const double options[])
{
    return 2 * (size_t)options[0];
}

STEP void step_quantile_start(struct step_quantile *s, const double options[])
{
    s->q = options[1];
    ring_start(&s->ring, options[0]);
}

STEP bool step_quantile_next(struct step_quantile *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1), *sorted = cells + s->ring.length;
    double x = bar->close + 0.0; /* one zero only */
    uint32_t length = s->ring.length, n = s->ring.seen;
    if (n == length) {
        uint32_t at = sorted_below(sorted, n - 1, cells[s->ring.next]);
        for (n--; at < n; at++)
            sorted[at] = sorted[at + 1];
    }
    uint32_t at = n;
    for (; at > 0 && sorted[at - 1] > x; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = x;
    if (!ring_push(&s->ring, cells, x))
        return false;
    struct quantile_place place = quantile_place(length, s->q);
    uint32_t above = place.below + 1 < length ? place.below + 1 : place.below;
    out[0] = quantile_between(sorted[place.below], sorted[above], place.share);
    return true;
}

/* The mean of the places, from 1 to n, that x and its equals share; over n. */
STEP double rank_value(uint32_t below, uint32_t equal, double n)
{
    return ((double)below + ((double)equal + 1.0) * 0.5) / n;
}

struct step_rank {
    struct ring ring;
};

STEP size_t step_rank_cells(const double options[])
{
    return (size_t)options[0];
}

STEP void step_rank_start(struct step_rank *s, const double options[])
{
    ring_start(&s->ring, options[0]);
}

STEP bool step_rank_next(struct step_rank *s, const struct indicator_bar *bar, double out[])
{
    double *cells = (double *)(s + 1);
    uint32_t below = 0, equal = 0;
    if (!ring_push(&s->ring, cells, bar->close))
        return false;
    for (uint32_t i = 0; i < s->ring.length; i++) {
        below += cells[i] < bar->close;
        equal += cells[i] == bar->close;
    }
    out[0] = rank_value(below, equal, (double)s->ring.length);
    return true;
}

#endif
