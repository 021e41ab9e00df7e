/* The recurrences of the fused kernel: the step of one bar, and of many bars at once.
 *
 * A job has up to FUSED_DIMS values that go from bar to bar: an average; gains and losses; the fast and slow
 * averages and the signal. Over a run of bars each is affine in what it was before, y -> own*y + b, and the
 * signal also in the two averages: y2 -> own[2]*y2 + from[0]*y0 + from[1]*y1 + b[2]. The factors depend on
 * the length of the run alone, so the plan finds them once; only b comes from the bars. Nothing is ever
 * divided by a power of a factor, which may underflow to 0 without harm: that it does ends the way back. */
#ifndef INDICATORS_GPU_CUDA_FUSED_RULE_H
#define INDICATORS_GPU_CUDA_FUSED_RULE_H

#include <string.h>

#include "indicators_gpu/cuda/view.h"
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/step/recurrence.h"

enum {
    FUSED_THREADS = 128,
    FUSED_ITEMS = 8, /* bars that one thread runs through in a row */
    FUSED_BARS = FUSED_THREADS * FUSED_ITEMS,
    FUSED_CHUNK = 16, /* threads whose runs one thread joins */
    FUSED_CHUNKS = FUSED_THREADS / FUSED_CHUNK,
    FUSED_DIMS = 3,
    FUSED_PERIOD_MAX = 256, /* longer ones are walked */
};

struct fused_map {
    double own[FUSED_DIMS], from[2];
};

struct fused_rule {
    uint32_t kernel;        /* enum indicator_id */
    uint32_t dims;          /* 0: a window */
    uint32_t first, second; /* bars after the start where the values are seeded; the signal's */
    uint32_t tiles_back; /* tiles after which a value has decayed to nothing, in the last bit of underflow */
    double period[FUSED_DIMS], k[FUSED_DIMS], keep[FUSED_DIMS];
    struct fused_map items, chunk, tile; /* over FUSED_ITEMS bars, those of a chunk, those of a tile */
};

struct fused_job {
    uint32_t rule, series, out;
    uint32_t lane; /* its first among its group's values */
    uint64_t start;
};

/* Jobs of one series that share its tiles. */
struct fused_group {
    uint32_t first, n; /* in the fused jobs */
    uint32_t inputs;   /* enum indicator_input */
    uint32_t halo;     /* closes before a tile that its windows and changes read */
    uint32_t tiles_back;
};

/* Rows with a rule. */
static inline bool fused_can(const struct gpu_job *job)
{
    unsigned periods = job->kernel == INDICATOR_MACD ? 3 : 1;
    if (job->kernel < INDICATOR_SMA || job->kernel > INDICATOR_ATR)
        return false;
    for (unsigned i = 0; i < periods; i++)
        if (job->options[i] > FUSED_PERIOD_MAX)
            return false;
    return true;
}

static inline struct fused_map fused_map_then(struct fused_map a, struct fused_map b)
{
    struct fused_map m;
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        m.own[d] = b.own[d] * a.own[d];
    for (unsigned d = 0; d < 2; d++)
        m.from[d] = b.own[2] * a.from[d] + b.from[d] * a.own[d];
    return m;
}

/* `m` over `bars` times as many bars; a power of two. */
static inline struct fused_map fused_map_longer(struct fused_map m, unsigned bars)
{
    for (; bars > 1; bars /= 2)
        m = fused_map_then(m, m);
    return m;
}

static inline bool fused_map_is_zero(const struct fused_map *m, unsigned dims)
{
    bool zero = true;
    for (unsigned d = 0; d < dims; d++)
        zero &= m->own[d] == 0.0;
    return zero && (dims < FUSED_DIMS || (m->from[0] == 0.0 && m->from[1] == 0.0));
}

static inline struct fused_rule fused_rule_of(const struct gpu_job *job)
{
    const double *o = job->options;
    bool reversed = job->kernel == INDICATOR_MACD && o[0] > o[1];
    struct fused_rule rule;
    struct fused_map bar = {{0.0, 0.0, 0.0}, {0.0, 0.0}}, all;

    memset(&rule, 0, sizeof(rule));
    rule.kernel = job->kernel;
    rule.dims = job->kernel == INDICATOR_SMA ? 0 : job->kernel == INDICATOR_MACD ? 3 : 1;
    if (job->kernel == INDICATOR_RSI)
        rule.dims = 2;
    rule.period[0] = rule.period[1] = o[0];
    if (job->kernel == INDICATOR_MACD) {
        rule.period[0] = reversed ? o[1] : o[0];
        rule.period[1] = reversed ? o[0] : o[1];
        rule.period[2] = o[2];
    }
    bool wilder = job->kernel == INDICATOR_RSI || job->kernel == INDICATOR_ATR;
    for (unsigned d = 0; d < rule.dims; d++) {
        rule.k[d] = wilder ? 1.0 / rule.period[d] : ema_factor(rule.period[d]);
        rule.keep[d] = bar.own[d] = wilder ? (rule.period[d] - 1.0) / rule.period[d] : 1.0 - rule.k[d];
    }
    if (rule.dims == 0)
        rule.k[0] = 1.0 / rule.period[0];
    if (rule.dims == 3) {
        bar.from[0] = rule.k[2] * rule.keep[0];
        bar.from[1] = -rule.k[2] * rule.keep[1];
    }
    rule.first = (uint32_t)rule.period[1] - (wilder ? 0 : 1);
    rule.second = rule.dims == 3 ? rule.first + (uint32_t)rule.period[2] - 1 : rule.first;
    rule.items = fused_map_longer(bar, FUSED_ITEMS);
    rule.chunk = fused_map_longer(rule.items, FUSED_CHUNK);
    rule.tile = fused_map_longer(rule.chunk, FUSED_CHUNKS);
    for (all = rule.tile; !fused_map_is_zero(&all, rule.dims); all = fused_map_then(all, rule.tile))
        rule.tiles_back++;
    if (rule.dims > 0)
        rule.tiles_back++;
    return rule;
}

/* y after a run of bars whose b is given. */
BLOCK_FN void fused_join(const struct fused_map *m, unsigned dims, double y[FUSED_DIMS],
                         const double b[FUSED_DIMS])
{
    if (dims == FUSED_DIMS)
        y[2] = block_fma(m->own[2], y[2], block_fma(m->from[0], y[0], block_fma(m->from[1], y[1], b[2])));
    for (unsigned d = 0; d < 2; d++)
        if (d < dims)
            y[d] = block_fma(m->own[d], y[d], b[d]);
}

/* ---- Seeds, from the columns themselves; FUSED_PERIOD_MAX bounds their cost. ---- */

/* The inputs of gains and losses, or of true ranges: lane 0 and 1 of a change, or a range. */
BLOCK_FN double fused_change(const struct gpu_view *v, const struct fused_job *job, unsigned kernel,
                             unsigned lane, size_t i)
{
    double before = view_input(v, 3, job->series, i - 1);
    if (kernel == INDICATOR_ATR)
        return true_range(view_input(v, 1, job->series, i), view_input(v, 2, job->series, i), before);
    double change = view_input(v, 3, job->series, i) - before;
    if (lane == 1)
        change = -change;
    return change > 0.0 ? change : 0.0;
}

/* The values at bar start + first. */
BLOCK_APART void fused_seed(const struct gpu_view *v, const struct fused_rule *rule,
                            const struct fused_job *job, double y[FUSED_DIMS])
{
    size_t last = job->start + rule->first;
    for (unsigned d = 0; d < 2; d++) {
        if (d >= rule->dims)
            continue;
        unsigned n = (unsigned)rule->period[d];
        bool changes = rule->kernel == INDICATOR_RSI || rule->kernel == INDICATOR_ATR;
        double sum = 0.0;
        BLOCK_ROLLED
        for (size_t i = last + 1 - n; i <= last; i++)
            sum += changes ? fused_change(v, job, rule->kernel, d, i) : view_input(v, 3, job->series, i);
        y[d] = sum / rule->period[d];
    }
    y[2] = 0.0;
}

/* ema_next(), with one rounding less. */
BLOCK_FN double fused_average(double y, double x, double k)
{
    return block_fma(k, x - y, y);
}

/* One bar of the two averages and the signal. */
BLOCK_FN void fused_macd_bar(const struct fused_rule *rule, double x, double y[FUSED_DIMS])
{
    y[0] = fused_average(y[0], x, rule->k[0]);
    y[1] = fused_average(y[1], x, rule->k[1]);
    y[2] = fused_average(y[2], y[0] - y[1], rule->k[2]);
}

/* The signal runs from 0 when the averages are seeded: what must be added at its own seed. */
BLOCK_FN double fused_signal_rest(const struct gpu_view *v, const struct fused_rule *rule,
                                  const struct fused_job *job)
{
    double y[FUSED_DIMS], sum;
    fused_seed(v, rule, job, y);
    sum = y[0] - y[1];
    BLOCK_ROLLED
    for (unsigned r = rule->first + 1; r <= rule->second; r++) {
        fused_macd_bar(rule, view_input(v, 3, job->series, job->start + r), y);
        sum += y[0] - y[1];
    }
    return sum / rule->period[2] - y[2];
}

#endif
