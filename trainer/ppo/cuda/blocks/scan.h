/* The recurrent layer (minGRU, strategy/policy/net.h) over sequences, and back through them. A thread has a
 * unit of a sequence: neighbours read neighbouring columns, and what a step loads does not depend on the
 * step before. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_SCAN_H
#define TRAINER_PPO_CUDA_BLOCKS_SCAN_H

#include "strategy/policy/activation.h"
#include "trainer/ppo/cuda/blocks/number.h"

BLOCK_FN float scan_x(const struct kernel_scan *k, size_t row, uint32_t column)
{
    return row_load(&k->x, row, column) + (k->bias ? k->bias[column] : 0);
}

BLOCK_FN float scan_before(const struct kernel_scan *k, uint32_t sequence, uint32_t unit)
{
    if (k->from_rows)
        return row_load(&k->from, k->from_rows[sequence], unit);
    return k->before ? k->before[(size_t)sequence * k->before_stride + unit] : 0;
}

/* Zeroes what lies between a row's columns and its stride; by one thread of the row. */
BLOCK_FN void scan_pad(const struct kernel_matrix *m, size_t row, uint32_t cols)
{
    for (uint32_t c = cols; c < m->stride; c++)
        row_store(m, row, c, 0);
}

BLOCK_FN void block_scan(const struct kernel_scan *k, unsigned x, unsigned y, void *shared)
{
    size_t first = k->clock ? k->clock->step : 0;
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t i = (size_t)x * KERNEL_THREADS + t;
        uint32_t sequence = (uint32_t)(i / k->units), unit = (uint32_t)(i % k->units);
        if (sequence >= k->sequences)
            continue;
        float h = scan_before(k, sequence, unit);
        for (uint32_t step = 0; step < k->steps; step++) {
            size_t global = first + step, row = (size_t)step * k->sequences + sequence;
            float z = activation_sigmoid(scan_x(k, row, unit)), c = scan_x(k, row, k->units + unit);
            if (k->keep && global % k->keep_every == 0)
                k->keep[(global / k->keep_every * k->sequences + sequence) * k->keep_stride + unit] = h;
            if (k->starts && k->starts[global * k->sequences + sequence])
                h = 0;
            h = (1 - z) * h + z * c;
            row_store(&k->y, row, unit, h);
            if (unit == 0)
                scan_pad(&k->y, row, k->units);
        }
        if (k->after)
            k->after[(size_t)sequence * k->before_stride + unit] = h;
    }
}

BLOCK_FN void block_scan_back(const struct kernel_scan *k, unsigned x, unsigned y, void *shared)
{
    (void)y;
    (void)shared;
    BLOCK_PHASE(t, KERNEL_THREADS)
    {
        size_t i = (size_t)x * KERNEL_THREADS + t;
        uint32_t sequence = (uint32_t)(i / k->units), unit = (uint32_t)(i % k->units);
        if (sequence >= k->sequences)
            continue;
        float carried = 0;
        for (uint32_t step = k->steps; step-- > 0;) {
            size_t row = (size_t)step * k->sequences + sequence;
            bool begins = k->starts && k->starts[row];
            float h = begins     ? 0
                      : step > 0 ? row_load(&k->y, row - k->sequences, unit)
                                 : scan_before(k, sequence, unit);
            float z = activation_sigmoid(scan_x(k, row, unit)), c = scan_x(k, row, k->units + unit);
            float pull = row_load(&k->dy, row, unit) + carried;
            row_store(&k->dx, row, unit, pull * (c - h) * z * (1 - z));
            row_store(&k->dx, row, k->units + unit, pull * z);
            if (unit == 0)
                scan_pad(&k->dx, row, 2 * k->units);
            carried = begins ? 0 : pull * (1 - z);
        }
    }
}

#endif
