/* The last `length` values, in cells that the owner keeps elsewhere: a state without pointers, which can be
 * copied to a clone, a device or a file. Sums go from the oldest value to the newest. */
#ifndef INDICATORS_GPU_STEP_RING_H
#define INDICATORS_GPU_STEP_RING_H

#include <stdalign.h>

#include "indicators_gpu/step/recurrence.h"

struct ring {
    alignas(8) uint32_t length; /* so that cells may follow */
    uint32_t next;              /* where the next value goes, which is the oldest one once it is full */
    uint32_t seen;              /* values held, up to length */
};

STEP void ring_start(struct ring *r, double length)
{
    r->length = (uint32_t)length;
    r->next = r->seen = 0;
}

/* Replaces the oldest value by x; true when the window is full. */
STEP bool ring_push(struct ring *r, double cells[], double x)
{
    cells[r->next] = x;
    r->next = r->next + 1 == r->length ? 0 : r->next + 1;
    if (r->seen < r->length)
        r->seen++;
    return r->seen == r->length;
}

STEP bool ring_full(const struct ring *r)
{
    return r->seen == r->length;
}

/* The cell of the value `age` bars before the newest (0: the newest); age < seen. */
STEP uint32_t ring_place(const struct ring *r, uint32_t age)
{
    uint32_t back = age + 1;
    return r->next >= back ? r->next - back : r->next + r->length - back;
}

/* The cell of the value one bar newer than that of cell `at`. */
STEP uint32_t ring_newer(const struct ring *r, uint32_t at)
{
    return at + 1 == r->length ? 0 : at + 1;
}

/* The value `age` bars before the newest; age < seen. */
STEP double ring_at(const struct ring *r, const double cells[], uint32_t age)
{
    return cells[ring_place(r, age)];
}

/* Of a full window. */
STEP double ring_sum(const struct ring *r, const double cells[])
{
    double sum = 0.0;
    for (uint32_t i = r->next; i < r->length; i++)
        sum += cells[i];
    for (uint32_t i = 0; i < r->next; i++)
        sum += cells[i];
    return sum;
}

/* Of the newest n values; n is not above `seen`. */
STEP double ring_sum_newest(const struct ring *r, const double cells[], uint32_t n)
{
    double sum = 0.0;
    for (uint32_t age = n; age-- > 0;)
        sum += ring_at(r, cells, age);
    return sum;
}

/* Adds x and gives the window's mean; false until the window is full. */
STEP bool ring_mean(struct ring *r, double cells[], double x, double *ret)
{
    if (!ring_push(r, cells, x))
        return false;
    *ret = ring_sum(r, cells) / (double)r->length;
    return true;
}

/* Of a full window. */
STEP double ring_highest(const struct ring *r, const double cells[])
{
    double highest = cells[r->next];
    for (uint32_t age = r->length - 1; age-- > 0;)
        if (ring_at(r, cells, age) > highest)
            highest = ring_at(r, cells, age);
    return highest;
}

/* Of a full window. */
STEP double ring_lowest(const struct ring *r, const double cells[])
{
    double lowest = cells[r->next];
    for (uint32_t age = r->length - 1; age-- > 0;)
        if (ring_at(r, cells, age) < lowest)
            lowest = ring_at(r, cells, age);
    return lowest;
}

#endif
