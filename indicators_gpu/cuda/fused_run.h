/* A thread's run through its bars of a tile in the fused kernel, twice: for its b, and for the outputs.
 *
 * Nearly all threads have a whole run: FUSED_ITEMS bars, and no seed at or after the first. Its code is
 * written once for each row, without a branch, its results stay in registers. All others, at the beginning
 * and the end of a series, go bar by bar through code for every row, fused_edge(), which is out of line. */
#ifndef INDICATORS_GPU_CUDA_FUSED_RUN_H
#define INDICATORS_GPU_CUDA_FUSED_RUN_H

#include "indicators_gpu/cuda/fused_tile.h"

/* A thread's results for one job's outputs. */
struct fused_values {
    double at[FUSED_OUTPUTS][FUSED_ITEMS];
    bool edge; /* they are not here: fused_edge() finds them */
};

/* What a bar brings. */
struct fused_bar {
    double high, low, close, before; /* before: the close before */
};

/* ---- One bar. ---- */

/* Of a row, `kernel`, which is a constant in a whole run. */
BLOCK_FN void fused_next(const struct fused_rule *rule, unsigned kernel, const struct fused_bar *bar,
                         double y[FUSED_DIMS])
{
    if (kernel == INDICATOR_EMA) {
        y[0] = fused_average(y[0], bar->close, rule->k[0]);
    } else if (kernel == INDICATOR_MACD) {
        fused_macd_bar(rule, bar->close, y);
    } else if (kernel == INDICATOR_ATR) {
        y[0] = block_fma(y[0], rule->keep[0], true_range(bar->high, bar->low, bar->before) * rule->k[0]);
    } else {
        double change = bar->close - bar->before;
        double gain = change > 0.0 ? change : 0.0, loss = change < 0.0 ? -change : 0.0;
        y[0] = block_fma(y[0], rule->keep[0], gain * rule->k[0]);
        y[1] = block_fma(y[1], rule->keep[1], loss * rule->k[1]);
    }
}

/* rsi_value() without a division: from 2^-20 two steps of Newton's come to the last places, and the
 * quotient's own remainder to the rounded quotient, whatever the start was (P. Markstein, IBM Journal of
 * Research and Development 34, 1990). Sets *edge where gain and loss are too large for it or have faded. */
BLOCK_FN double fused_rsi(double gain, double loss, bool *edge)
{
    double sum = gain + loss, inverse = block_inverse(sum);
    if (!(sum >= AVERAGE_FADED && sum < 0x1p1000))
        *edge = true;
    inverse = block_fma(inverse, block_fma(-sum, inverse, 1.0), inverse);
    inverse = block_fma(inverse, block_fma(-sum, inverse, 1.0), inverse);
    double share = gain * inverse;
    return 100.0 * block_fma(block_fma(-sum, share, gain), inverse, share);
}

/* The row's outputs at that bar: how many. */
BLOCK_FN unsigned fused_outputs(unsigned kernel, const double y[FUSED_DIMS], double ret[FUSED_OUTPUTS])
{
    ret[0] = y[0];
    if (kernel == INDICATOR_RSI)
        ret[0] = rsi_value(y[0], y[1]);
    if (kernel != INDICATOR_MACD)
        return 1;
    ret[0] = y[0] - y[1];
    ret[1] = y[2];
    ret[2] = ret[0] - y[2];
    return FUSED_OUTPUTS;
}

/* ---- A whole run. ---- */

BLOCK_FN bool fused_whole(const struct fused_at *at, const struct fused_task *task, unsigned t)
{
    return t >= task->whole && (t + 1) * FUSED_ITEMS <= at->n;
}

/* Runs from the values in sh->b on, outputs go to `ret`; or, where that is NULL, from 0, and what the values
 * are then to sh->b. */
BLOCK_FN void fused_run(const struct fused_task *task, unsigned kernel, struct fused_shared *sh, unsigned t,
                        struct fused_values *ret)
{
    const unsigned dims = kernel == INDICATOR_MACD ? 3 : kernel == INDICATOR_RSI ? 2 : 1;
    const struct fused_rule own = *task->rule; /* in registers */
    const double *close = &sh->close[fused_close_place((int)(t * FUSED_ITEMS))];
    const unsigned place = fused_place(t * FUSED_ITEMS);
    struct fused_bar bar = {0.0, 0.0, close[-2], 0.0}; /* beyond the padding of the thread before */
    double y[FUSED_DIMS] = {0.0, 0.0, 0.0}, (*b)[FUSED_RUNS] = &sh->b[task->lane];
    for (unsigned d = 0; d < dims && ret; d++)
        y[d] = b[d][fused_run_place(t)];
    BLOCK_UNROLL
    for (unsigned j = 0; j < FUSED_ITEMS; j++) {
        double values[FUSED_OUTPUTS];
        bar.before = bar.close;
        bar.close = close[j];
        if (kernel == INDICATOR_ATR) {
            bar.high = sh->x[0][place + j];
            bar.low = sh->x[1][place + j];
        }
        fused_next(&own, kernel, &bar, y);
        unsigned n = 0;
        if (ret && kernel == INDICATOR_RSI)
            ret->at[0][j] = fused_rsi(y[0], y[1], &ret->edge);
        else if (ret)
            n = fused_outputs(kernel, y, values);
        BLOCK_UNROLL
        for (unsigned k = 0; k < FUSED_OUTPUTS; k++)
            if (k < n)
                ret->at[k][j] = values[k];
    }
    for (unsigned d = 0; d < dims && !ret; d++)
        b[d][fused_run_place(t)] = y[d];
}

/* Means of a window: the first one is summed, the others follow from the one before. */
BLOCK_FN void fused_run_window(const struct fused_rule *rule, const struct fused_shared *sh, unsigned t,
                               struct fused_values *ret)
{
    const double *close = &sh->close[fused_close_place((int)(t * FUSED_ITEMS))];
    int first = (int)(t * FUSED_ITEMS), period = (int)rule->period[0];
    double k = rule->k[0], sum = 0.0;
    BLOCK_FOUR
    for (int i = first - period + 1; i <= first; i++)
        sum += fused_close(sh, i);
    ret->at[0][0] = sum * k;
    BLOCK_UNROLL
    for (int j = 1; j < FUSED_ITEMS; j++) {
        sum += close[j] - fused_close(sh, first + j - period);
        ret->at[0][j] = sum * k;
    }
}

/* By the job's row; of a window only with `ret`. */
BLOCK_FN void fused_run_row(const struct fused_task *task, struct fused_shared *sh, unsigned t,
                            struct fused_values *ret)
{
    switch (task->kernel) {
    case INDICATOR_EMA:
        fused_run(task, INDICATOR_EMA, sh, t, ret);
        break;
    case INDICATOR_MACD:
        fused_run(task, INDICATOR_MACD, sh, t, ret);
        break;
    case INDICATOR_ATR:
        fused_run(task, INDICATOR_ATR, sh, t, ret);
        break;
    case INDICATOR_RSI:
        fused_run(task, INDICATOR_RSI, sh, t, ret);
        break;
    default:
        if (ret)
            fused_run_window(task->rule, sh, t, ret);
        break;
    }
}

/* ---- Any other run. ---- */

/* One bar of a recurrence; r counts from the start and is not below rule->first. */
BLOCK_FN void fused_edge_next(const struct fused_rule *rule, const struct fused_shared *sh, unsigned lane,
                              unsigned i, uint64_t r, double y[FUSED_DIMS])
{
    struct fused_bar bar = {0.0, 0.0, fused_close(sh, (int)i), fused_close(sh, (int)i - 1)};
    if (rule->kernel == INDICATOR_ATR) {
        bar.high = sh->x[0][fused_place(i)];
        bar.low = sh->x[1][fused_place(i)];
    }
    if (r == rule->first) {
        y[0] = sh->seed[lane];
        if (rule->dims > 1)
            y[1] = sh->seed[lane + 1];
        y[2] = 0.0;
    } else {
        fused_next(rule, rule->kernel, &bar, y);
    }
    if (rule->dims == FUSED_DIMS && r == rule->second)
        y[2] += sh->seed[lane + 2];
}

BLOCK_FN double fused_edge_mean(const struct fused_rule *rule, const struct fused_shared *sh, unsigned i)
{
    double sum = 0.0;
    BLOCK_ROLLED
    for (int back = (int)rule->period[0] - 1; back >= 0; back--)
        sum += fused_close(sh, (int)i - back);
    return sum * rule->k[0];
}

/* With `outputs` from the thread's values in sh->b on, and output k goes to sh->stage, NaN where there is
 * none; else from 0, and what they are then to sh->b. */
BLOCK_APART void fused_edge(const struct gpu_view *v, const struct fused_at *at, const struct fused_job *job,
                            struct fused_shared *sh, unsigned t, bool outputs, unsigned k)
{
    const struct fused_rule *rule = fused_rule_at(v, job);
    double y[FUSED_DIMS] = {0.0, 0.0, 0.0};
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        if (outputs && d < rule->dims)
            y[d] = sh->b[job->lane + d][fused_run_place(t)];
    BLOCK_ROLLED
    for (unsigned i = t * FUSED_ITEMS; i < (t + 1) * FUSED_ITEMS; i++) {
        double values[FUSED_OUTPUTS] = {NAN, NAN, NAN};
        uint64_t r = at->base + i - job->start;
        bool there = i < at->n && at->base + i >= job->start + rule->first;
        if (there && rule->dims > 0)
            fused_edge_next(rule, sh, job->lane, i, r, y);
        if (there && outputs && rule->dims == 0)
            values[0] = fused_edge_mean(rule, sh, i);
        else if (there && outputs && r >= rule->second)
            fused_outputs(rule->kernel, y, values);
        if (outputs)
            sh->stage[fused_place(i)] = k == 0 ? values[0] : k == 1 ? values[1] : values[2];
    }
    for (unsigned d = 0; d < FUSED_DIMS; d++)
        if (!outputs && d < rule->dims)
            sh->b[job->lane + d][fused_run_place(t)] = y[d];
}

#endif
