/* The exact kernels: the reference's bits.
 *
 * block_exact: a block takes EXACT_THREADS jobs and walks all bars, EXACT_BARS at a time. Neighbouring
 * threads load neighbouring bars of one series into shared memory, then each thread steps its own job's
 * recurrence through the tile, then the results leave the way the bars came. One thread a job is slow for one
 * long series and right for many; it moves each byte once.
 *
 * block_window: SMA, one thread a bar, since a window that is summed anew depends on nothing before it. The
 * window's bars come from the cache after the first thread that reads them. */
#ifndef INDICATORS_GPU_CUDA_EXACT_H
#define INDICATORS_GPU_CUDA_EXACT_H

#include "indicators_gpu/cuda/view.h"
#include "indicators_gpu/step/recurrence.h"

enum { EXACT_THREADS = 32, EXACT_BARS = EXACT_THREADS, EXACT_CELLS = 3, WINDOW_THREADS = 256 };

/* Inputs of a tile, then its outputs in their place; a row a job. One more column keeps the rows off each
 * other's banks. */
struct exact_shared {
    double cell[EXACT_CELLS][EXACT_THREADS][EXACT_BARS + 1];
};

union exact_state {
    struct ema_state ema;
    struct rsi_state rsi;
    struct macd_state macd;
    struct atr_state atr;
};

/* The columns that a job reads, in the order of its cells. */
BLOCK_FN unsigned exact_inputs(const struct gpu_job *job, unsigned ret[EXACT_CELLS])
{
    if (job->kernel == INDICATOR_ATR) {
        ret[0] = GPU_HIGH;
        ret[1] = GPU_LOW;
        ret[2] = GPU_CLOSE;
        return 3;
    }
    ret[0] = GPU_CLOSE;
    return 1;
}

BLOCK_FN unsigned exact_outputs(const struct gpu_job *job)
{
    return job->kernel == INDICATOR_MACD ? 3 : 1;
}

/* The job of a row, or NULL: past the last, or an SMA, which block_window computes. */
BLOCK_FN const struct gpu_job *exact_job(const struct gpu_view *v, unsigned block, unsigned row)
{
    unsigned i = block * EXACT_THREADS + row;
    return i < v->n_jobs && v->jobs[i].kernel != INDICATOR_SMA ? &v->jobs[i] : NULL;
}

BLOCK_FN void exact_start(const struct gpu_job *job, union exact_state *s)
{
    switch (job->kernel) {
    case INDICATOR_EMA:
        ema_start(&s->ema, job->options[0]);
        break;
    case INDICATOR_RSI:
        rsi_start(&s->rsi, job->options[0]);
        break;
    case INDICATOR_MACD:
        macd_start(&s->macd, job->options[0], job->options[1], job->options[2]);
        break;
    case INDICATOR_ATR:
        atr_start(&s->atr, job->options[0]);
        break;
    }
}

/* One bar; in[] and ret[] may be the same. NaN where no output exists yet. */
BLOCK_FN void exact_step(const struct gpu_job *job, union exact_state *s, const double in[EXACT_CELLS],
                         double ret[EXACT_CELLS])
{
    struct macd_values values;
    double value = NAN;
    switch (job->kernel) {
    case INDICATOR_EMA:
        if (ema_step(&s->ema, in[0]))
            value = s->ema.value;
        break;
    case INDICATOR_RSI:
        rsi_step(&s->rsi, in[0], &value);
        break;
    case INDICATOR_MACD:
        values.macd = values.signal = values.hist = NAN;
        macd_step(&s->macd, in[0], &values);
        value = values.macd;
        ret[1] = values.signal;
        ret[2] = values.hist;
        break;
    case INDICATOR_ATR:
        atr_step(&s->atr, in[0], in[1], in[2], &value);
        break;
    }
    ret[0] = value;
}

BLOCK_FN void block_exact(const struct gpu_view *v, unsigned block, struct exact_shared *sh)
{
    BLOCK_OWN(union exact_state, state, EXACT_THREADS);

    BLOCK_PHASE(t, EXACT_THREADS)
    {
        const struct gpu_job *job = exact_job(v, block, t);
        if (job)
            exact_start(job, &BLOCK_MINE(state, t));
    }
    for (size_t base = 0; base < v->n_bars; base += EXACT_BARS) {
        BLOCK_PHASE(t, EXACT_THREADS)
        {
            for (unsigned row = 0; row < EXACT_THREADS; row++) {
                const struct gpu_job *job = exact_job(v, block, row);
                unsigned columns[EXACT_CELLS], n = job ? exact_inputs(job, columns) : 0;
                for (unsigned c = 0; c < n; c++)
                    if (base + t < v->n_bars)
                        sh->cell[c][row][t] = gpu_input(v, job, columns[c])[base + t];
            }
        }
        BLOCK_PHASE(t, EXACT_THREADS)
        {
            const struct gpu_job *job = exact_job(v, block, t);
            for (unsigned j = 0; job && j < EXACT_BARS && base + j < v->n_bars; j++) {
                unsigned columns[EXACT_CELLS], n_in = exact_inputs(job, columns), n_out = exact_outputs(job);
                double in[EXACT_CELLS] = {NAN, NAN, NAN}, out[EXACT_CELLS] = {NAN, NAN, NAN};
                for (unsigned c = 0; c < n_in; c++)
                    in[c] = sh->cell[c][t][j];
                if (base + j >= job->start)
                    exact_step(job, &BLOCK_MINE(state, t), in, out);
                for (unsigned k = 0; k < n_out; k++)
                    sh->cell[k][t][j] = out[k];
            }
        }
        BLOCK_PHASE(t, EXACT_THREADS)
        {
            for (unsigned row = 0; row < EXACT_THREADS; row++) {
                const struct gpu_job *job = exact_job(v, block, row);
                unsigned n = job ? exact_outputs(job) : 0;
                for (unsigned k = 0; k < n; k++)
                    if (base + t < v->n_bars)
                        gpu_output(v, job, k)[base + t] = sh->cell[k][row][t];
            }
        }
    }
}

/* Blocks: job by job, WINDOW_THREADS bars each. Jobs that are no SMA are left alone, and so are those with a
 * row of prefix sums. */
BLOCK_FN void block_window(const struct gpu_view *v, unsigned block)
{
    unsigned per_job = (unsigned)((v->n_bars + WINDOW_THREADS - 1) / WINDOW_THREADS);
    const struct gpu_job *job = &v->jobs[block / per_job];
    if (job->kernel != INDICATOR_SMA || job->prefix != (uint32_t)GPU_NO_PREFIX)
        return;

    const double *x = gpu_input(v, job, GPU_CLOSE);
    size_t period = (size_t)job->options[0], base = (size_t)(block % per_job) * WINDOW_THREADS;
    BLOCK_PHASE(t, WINDOW_THREADS)
    {
        size_t i = base + t;
        if (i >= v->n_bars)
            continue;
        double mean = NAN;
        if (i >= job->start + (period - 1)) {
            double sum = 0.0;
            for (size_t j = i - (period - 1); j <= i; j++)
                sum += x[j];
            mean = sum / job->options[0];
        }
        gpu_output(v, job, 0)[i] = mean;
    }
}

#endif
