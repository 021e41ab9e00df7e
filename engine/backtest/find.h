/* The first bar that reaches a price. */
#ifndef ENGINE_BACKTEST_FIND_H
#define ENGINE_BACKTEST_FIND_H

#include <stddef.h>
#include <stdint.h>

/* The first i in [from, to) with low[i] <= below or high[i] >= above; `to`: there is none. */
size_t backtest_find_reached(const double *low, const double *high, double below, double above, size_t from,
                             size_t to);

/* The first set bit i in [from, to); `to`: no bit is set. */
static inline size_t find_mark(const uint64_t *marks, size_t from, size_t to)
{
    if (from >= to)
        return to;
    size_t word = from / 64, last = (to - 1) / 64;
    uint64_t bits = marks[word] >> from % 64;
    if (word < last) /* the next 64 bits from any start: a branch at word ends would be mispredicted */
        bits |= marks[word + 1] << 1 << (63 - from % 64);
    if (bits != 0) {
        size_t i = from + (size_t)__builtin_ctzll(bits);
        return i < to ? i : to;
    }
    for (word++; bits == 0 && word <= last; word++)
        bits = marks[word];
    if (bits == 0)
        return to;
    size_t i = (word - 1) * 64 + (size_t)__builtin_ctzll(bits);
    return i < to ? i : to;
}

#endif
