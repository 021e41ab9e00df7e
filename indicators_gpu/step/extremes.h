/* Windows of highs and lows side by side, and their extremes, for Aroon, Donchian's channel and Ichimoku. One
 * ring counts for both; its cells hold the highs, those after them the lows. */
#ifndef INDICATORS_GPU_STEP_EXTREMES_H
#define INDICATORS_GPU_STEP_EXTREMES_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/ring.h"

STEP size_t range_cells(size_t length)
{
    return 2 * length;
}

STEP const double *range_lows(const struct ring *r, const double cells[])
{
    return cells + r->length;
}

/* Takes a bar's high and low; true when the window is full. */
STEP bool range_push(struct ring *r, double cells[], const struct indicator_bar *bar)
{
    cells[r->length + r->next] = bar->low;
    return ring_push(r, cells, bar->high);
}

/* The highest of the n values of which the newest is `age` bars old, oldest to newest. */
STEP double range_highest(const struct ring *r, const double cells[], uint32_t age, uint32_t n)
{
    double top = ring_at(r, cells, age + n - 1);
    for (uint32_t i = n - 1; i > 0; i--) {
        double x = ring_at(r, cells, age + i - 1);
        if (x > top)
            top = x;
    }
    return top;
}

/* The lowest of as many lows. */
STEP double range_lowest(const struct ring *r, const double cells[], uint32_t age, uint32_t n)
{
    const double *lows = range_lows(r, cells);
    double bottom = ring_at(r, lows, age + n - 1);
    for (uint32_t i = n - 1; i > 0; i--) {
        double x = ring_at(r, lows, age + i - 1);
        if (x < bottom)
            bottom = x;
    }
    return bottom;
}

/* The middle between both. */
STEP double range_middle(const struct ring *r, const double cells[], uint32_t age, uint32_t n)
{
    return (range_highest(r, cells, age, n) + range_lowest(r, cells, age, n)) / 2.0;
}

#endif
