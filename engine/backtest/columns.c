#include "engine/backtest/columns.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/frame.h"

enum { THREADS_MAX = 64 };

/* Rows times specs below which a thread costs more than it saves. */
static const size_t WORTH_A_THREAD = 200000;

/* ---- bars without holes ---- */

static size_t count_present(const struct market_series *series, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t row = from; row < to; row++)
        n += market_present(series, row);
    return n;
}

static int copy_present(const struct market *market, const struct market_series *series, size_t from,
                        size_t to, struct columns_bars *ret)
{
    double *cells = malloc((6 * ret->n + 1) * sizeof *cells);
    if (!cells)
        return -ENOMEM;
    double *open = cells, *high = open + ret->n, *low = high + ret->n, *close = low + ret->n,
           *volume = close + ret->n;
    int64_t *open_ns = (int64_t *)(volume + ret->n);
    size_t n = 0;
    for (size_t row = from; row < to; row++) {
        if (!market_present(series, row))
            continue;
        open[n] = series->open[row];
        high[n] = series->high[row];
        low[n] = series->low[row];
        close[n] = series->close[row];
        volume[n] = series->volume[row];
        open_ns[n++] = market->start_ns + (int64_t)row * market->interval_ns;
    }
    ret->owned = cells;
    ret->open = open;
    ret->high = high;
    ret->low = low;
    ret->close = close;
    ret->volume = volume;
    ret->open_ns = open_ns;
    return 0;
}

int columns_dense(const struct market *market, int symbol, size_t from, size_t to, const int64_t *grid,
                  struct columns_bars *ret)
{
    const struct market_series *series = &market->series[symbol];
    struct columns_bars bars = {.interval_ns = market->interval_ns};
    bars.n = count_present(series, from, to);
    if (bars.n < to - from) {
        int r = copy_present(market, series, from, to, &bars);
        if (r < 0)
            return r;
    } else {
        bars.open_ns = grid ? grid + from : NULL;
        bars.open = series->open + from;
        bars.high = series->high + from;
        bars.low = series->low + from;
        bars.close = series->close + from;
        bars.volume = series->volume + from;
    }
    *ret = bars;
    return 0;
}

void columns_dense_finish(struct columns_bars *bars)
{
    free(bars->owned);
    *bars = (struct columns_bars){0};
}

/* ---- one spec of one job ---- */

/* The bars as indicators take them: `time` is computed only where the row reads it. *ret_time is to be freed.
 */
static int columns_of(const struct columns_bars *bars, unsigned inputs, struct indicator_columns *ret,
                      double **ret_time)
{
    double *time = NULL;
    if (inputs & INDICATOR_TIME) {
        time = malloc((bars->n + 1) * sizeof *time);
        if (!time)
            return -ENOMEM;
        for (size_t i = 0; i < bars->n; i++)
            time[i] = frame_seconds(bars->open_ns[i]);
    }
    *ret = (struct indicator_columns){bars->open, bars->high, bars->low, bars->close, bars->volume, time};
    *ret_time = time;
    return 0;
}

static int compute_plain(const struct desk_spec *spec, const struct columns_bars *bars, double *const out[])
{
    struct indicator_columns in;
    double *time = NULL;
    int r = columns_of(bars, spec->indicator.row->inputs, &in, &time);
    if (r == 0)
        r = indicator_reference(&spec->indicator, &in, bars->n, out);
    free(time);
    return r;
}

/* Higher bars as columns, and how many of them are closed at each row. */
struct higher {
    size_t n;
    double *cells;
    uint32_t *closed;
    struct indicator_columns columns;
};

static int build_higher(const struct columns_bars *bars, int64_t frame_ns, struct higher *ret)
{
    size_t cap = bars->n + 1;
    double *cells = malloc(6 * cap * sizeof *cells);
    uint32_t *closed = malloc(cap * sizeof *closed);
    if (!cells || !closed) {
        free(cells);
        free(closed);
        return -ENOMEM;
    }
    double *open = cells, *high = open + cap, *low = high + cap, *close = low + cap, *volume = close + cap,
           *time = volume + cap;
    struct frame frame = {.interval_ns = frame_ns, .base_ns = bars->interval_ns};
    size_t n = 0;
    for (size_t i = 0; i < bars->n; i++) {
        const struct indicator_bar bar = {bars->open[i],  bars->high[i],   bars->low[i],
                                          bars->close[i], bars->volume[i], 0};
        struct indicator_bar ended[2];
        size_t n_ended = frame_add(&frame, bars->open_ns[i], &bar, ended);
        for (size_t k = 0; k < n_ended; k++, n++) {
            open[n] = ended[k].open;
            high[n] = ended[k].high;
            low[n] = ended[k].low;
            close[n] = ended[k].close;
            volume[n] = ended[k].volume;
            time[n] = ended[k].time;
        }
        closed[i] = (uint32_t)n;
    }
    *ret = (struct higher){n, cells, closed, {open, high, low, close, volume, time}};
    return 0;
}

static int compute_higher(const struct desk_spec *spec, const struct columns_bars *bars, double *const out[])
{
    size_t n_outputs = spec->indicator.row->n_outputs;
    struct higher higher;
    int r = build_higher(bars, spec->frame_ns, &higher);
    if (r < 0)
        return r;
    double *values = malloc(n_outputs * (higher.n + 1) * sizeof *values);
    double *columns[INDICATOR_OUTPUTS_MAX];
    for (size_t k = 0; k < n_outputs; k++)
        columns[k] = values + k * (higher.n + 1);
    r = values ? indicator_reference(&spec->indicator, &higher.columns, higher.n, columns) : -ENOMEM;
    for (size_t k = 0; k < n_outputs && r == 0; k++)
        for (size_t i = 0; i < bars->n; i++)
            out[k][i] = higher.closed[i] > 0 ? columns[k][higher.closed[i] - 1] : NAN;
    free(values);
    free(higher.cells);
    free(higher.closed);
    return r;
}

/* ---- all of them ---- */

struct work {
    const struct desk_spec *specs;
    const struct columns_job *jobs;
    size_t n_specs, n_tasks;
    atomic_size_t next;
    _Atomic int error;
    atomic_size_t failed; /* the task whose bars were refused */
};

static void do_task(struct work *work, size_t task)
{
    const struct desk_spec *spec = &work->specs[task % work->n_specs];
    const struct columns_job *job = &work->jobs[task / work->n_specs];
    double *const *out = job->out + desk_outputs(work->specs, task % work->n_specs);
    int r = spec->frame_ns > 0 ? compute_higher(spec, &job->bars, out) : compute_plain(spec, &job->bars, out);
    if (r < 0) {
        atomic_store(&work->failed, task);
        atomic_store(&work->error, r);
    }
}

static void *run(void *ctx)
{
    struct work *work = ctx;
    for (;;) {
        size_t task = atomic_fetch_add(&work->next, 1);
        if (task >= work->n_tasks)
            return NULL;
        do_task(work, task);
    }
}

int columns_compute(const struct desk_spec *specs, size_t n_specs, const struct columns_job *jobs,
                    size_t n_jobs, int threads, char err[static SPECS_ERROR_MAX])
{
    struct work work = {.specs = specs, .jobs = jobs, .n_specs = n_specs, .n_tasks = n_specs * n_jobs};
    pthread_t others[THREADS_MAX];
    size_t rows = 0, n_others = 0;
    for (size_t j = 0; j < n_jobs; j++)
        rows += jobs[j].bars.n;
    size_t most = rows * n_specs / WORTH_A_THREAD + 1;
    if (most > (size_t)threads)
        most = (size_t)threads;
    if (most > THREADS_MAX)
        most = THREADS_MAX;
    while (n_others + 1 < most && pthread_create(&others[n_others], NULL, run, &work) == 0)
        n_others++;
    run(&work);
    for (size_t i = 0; i < n_others; i++)
        pthread_join(others[i], NULL);
    int r = atomic_load(&work.error);
    if (r == -EINVAL)
        snprintf(err, SPECS_ERROR_MAX, "%s: a bar is not finite",
                 specs[atomic_load(&work.failed) % n_specs].indicator.row->name);
    return r;
}
