/* Generated bars for the indicator tests: seeded, the same on every machine. */
#ifndef TESTS_INDICATORS_GPU_SERIES_H
#define TESTS_INDICATORS_GPU_SERIES_H

#include <stdint.h>
#include <stdlib.h>

#include "indicators_gpu/indicators.h"

struct series {
    size_t n;
    double *open, *high, *low, *close, *volume,
        *time; /* each its own allocation of exactly n, so that ASan sees a step past */
};

enum series_kind {
    SERIES_WALK,
    SERIES_FLAT,
    SERIES_RISING,
    SERIES_JUMPS, /* eight orders of magnitude, up and down */
    SERIES_FALLING,
    SERIES_HUGE,
    SERIES_TINY, /* below every row's idea of zero */
    SERIES_ALTERNATING,
    SERIES_HALTED, /* a walk that stands still for 600 bars, from a third on */
    SERIES_KINDS
};

static const char *const series_names[] = {"walk", "flat", "rising",      "jumps", "falling",
                                           "huge", "tiny", "alternating", "halted"};

static inline double series_uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static inline double *series_column(size_t n)
{
    double *column = malloc(n ? n * sizeof(double) : 1);
    if (!column)
        abort();
    return column;
}

static inline struct series series_make(size_t n, enum series_kind kind, uint64_t seed)
{
    struct series s = {n,
                       series_column(n),
                       series_column(n),
                       series_column(n),
                       series_column(n),
                       series_column(n),
                       series_column(n)};
    double price = kind == SERIES_HUGE ? 5e15 : kind == SERIES_TINY ? 5e-12 : 50000.0;
    for (size_t i = 0; i < n; i++) {
        double open = price, step = series_uniform(&seed) - 0.5, wick = series_uniform(&seed);
        switch (kind) {
        case SERIES_WALK:
        case SERIES_HUGE:
        case SERIES_TINY:
            price += price * 0.004 * step;
            break;
        case SERIES_FLAT:
            wick = 0.0;
            break;
        case SERIES_RISING:
            price += 1.0;
            break;
        case SERIES_JUMPS:
            price *= series_uniform(&seed) < 0.02 ? (price > 1.0 ? 1e-8 : 1e8) : 1.0 + 0.01 * step;
            break;
        case SERIES_FALLING:
            price -= price * 1e-6;
            break;
        case SERIES_ALTERNATING:
            price = i % 2 ? 50000.0 : 50100.0;
            break;
        case SERIES_HALTED:
            price += i < n / 3 || i >= n / 3 + 600 ? price * 0.004 * step : 0.0;
            wick *= i < n / 3 || i >= n / 3 + 600;
            break;
        case SERIES_KINDS:
            abort();
        }
        s.open[i] = open;
        s.close[i] = price;
        s.high[i] = (open > price ? open : price) * (1.0 + 0.001 * wick);
        s.low[i] = (open < price ? open : price) * (1.0 - 0.001 * wick);
        s.volume[i] = 10.0 * wick;
        s.time[i] = 1.7e9 + 60.0 * (double)i;
    }
    return s;
}

static inline void series_free(struct series *s)
{
    free(s->open);
    free(s->high);
    free(s->low);
    free(s->close);
    free(s->volume);
    free(s->time);
}

static inline struct indicator_columns series_columns(const struct series *s)
{
    return (struct indicator_columns){s->open, s->high, s->low, s->close, s->volume, s->time};
}

static inline struct indicator_bar series_bar(const struct series *s, size_t i)
{
    return (struct indicator_bar){s->open[i], s->high[i], s->low[i], s->close[i], s->volume[i], s->time[i]};
}

/* Puts `value` in place of a bar's high, close and volume: every row reads one of them. */
static inline void series_spoil(struct series *s, size_t i, double value)
{
    s->high[i] = s->close[i] = s->volume[i] = value;
}

/* Outputs to compute into: poisoned, with guard cells on both sides. */
enum { OUTPUTS_GUARD = 8 };
#define OUTPUTS_POISON (-1.2345678e300)

struct outputs {
    size_t n, n_outputs;
    double *block[INDICATOR_OUTPUTS_MAX], *at[INDICATOR_OUTPUTS_MAX];
};

static inline struct outputs outputs_make(const struct indicator *row, size_t n)
{
    struct outputs o = {.n = n, .n_outputs = row->n_outputs};
    for (size_t k = 0; k < o.n_outputs; k++) {
        o.block[k] = series_column(n + 2 * OUTPUTS_GUARD);
        o.at[k] = o.block[k] + OUTPUTS_GUARD;
        for (size_t i = 0; i < n + 2 * OUTPUTS_GUARD; i++)
            o.block[k][i] = OUTPUTS_POISON;
    }
    return o;
}

/* Nothing was written outside, and every cell inside was. */
static inline bool outputs_sound(const struct outputs *o)
{
    for (size_t k = 0; k < o->n_outputs; k++)
        for (size_t i = 0; i < o->n + 2 * OUTPUTS_GUARD; i++) {
            bool inside = i >= OUTPUTS_GUARD && i < OUTPUTS_GUARD + o->n;
            if ((o->block[k][i] == OUTPUTS_POISON) == inside)
                return false;
        }
    return true;
}

static inline void outputs_free(struct outputs *o)
{
    for (size_t k = 0; k < o->n_outputs; k++)
        free(o->block[k]);
}

#endif
