#include "engine/backtest/columns.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/backtest/external.h"
#include "engine/backtest/higher.h"
#include "engine/frame.h"
#include "indicators_gpu/exact/exact.h"
#include "indicators_gpu/indicator_rows.h"

enum { THREADS_MAX = 64 };

/* Values below which a thread costs more than it saves. */
static const size_t WORTH_A_THREAD = 200000;

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

static int compute_plain(const struct runner_spec *spec, const struct columns_bars *bars, double *const out[])
{
    struct indicator_columns in;
    double *time = NULL;
    int r = columns_of(bars, spec->indicator.row->inputs, &in, &time);
    if (r == 0)
        r = indicator_reference(&spec->indicator, &in, bars->n, out);
    free(time);
    return r;
}

/* Into `out` [outputs of it], or `sparse` where that is not NULL. */
static int compute_higher(const struct runner_spec *spec, const struct columns_bars *bars,
                          const struct higher *higher, double *const out[], struct columns_sparse *sparse)
{
    size_t n_outputs = spec->indicator.row->n_outputs;
    double *values = malloc(n_outputs * (higher->n + 1) * sizeof *values);
    double *columns[INDICATOR_OUTPUTS_MAX];
    if (!values)
        return -ENOMEM;
    for (size_t k = 0; k < n_outputs; k++)
        columns[k] = values + k * (higher->n + 1);
    int r = indicator_reference(&spec->indicator, &higher->columns, higher->n, columns);
    for (size_t k = 0; k < n_outputs && r == 0; k++) {
        const struct columns_sparse each = {.values = columns[k], .closed = higher->closed};
        if (sparse)
            sparse[k] = each;
        for (size_t i = 0; i < bars->n && !sparse; i++)
            out[k][i] = columns_sparse_at(&each, i);
    }
    if (sparse && r == 0)
        sparse->owned_values = values;
    else
        free(values);
    return r;
}

static bool reads_volume(const struct runner_spec *specs, size_t n_specs, int64_t frame_ns)
{
    for (size_t i = 0; i < n_specs; i++)
        if (specs[i].frame_ns == frame_ns && (specs[i].indicator.row->inputs & INDICATOR_VOLUME))
            return true;
    return false;
}

/* All specs of one timeframe. */
static int compute_frame(const struct runner_spec *specs, size_t n_specs, const struct columns_job *job,
                         int64_t frame_ns)
{
    struct higher higher;
    struct columns_sparse *first = NULL;
    size_t at = 0;
    int r = backtest_higher_build(&job->bars, frame_ns, reads_volume(specs, n_specs, frame_ns), &higher);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n_specs && r == 0; at += specs[i++].indicator.row->n_outputs) {
        struct columns_sparse *sparse = job->sparse ? job->sparse + at : NULL;
        if (specs[i].frame_ns != frame_ns)
            continue;
        r = compute_higher(&specs[i], &job->bars, &higher, job->out + at, sparse);
        first = first ? first : sparse;
    }
    if (first) {
        first->owned_counts = higher.counts;
        higher.counts = NULL;
    }
    backtest_higher_finish(&higher);
    return r;
}

/* The column's values at the bars that have one, in the place of all prices, and which bars those are. */
static size_t values_of(const struct runner_spec *spec, const struct columns_bars *bars, double *values,
                        size_t *rows)
{
    static const struct trading_calendar none;
    const struct trading_calendar *calendar = bars->calendar ? bars->calendar : &none;
    size_t n = 0;
    for (size_t i = 0; i < bars->n; i++) {
        const int64_t end_ns = trading_bar_end(calendar, bars->interval_ns, bars->open_ns[i]);
        values[n] = backtest_external_at(bars->external, bars->symbol, &spec->column, end_ns);
        if (!isnan(values[n]))
            rows[n++] = i;
    }
    return n;
}

static int compute_column(const struct runner_spec *spec, const struct columns_bars *bars,
                          double *const out[])
{
    const size_t n_outputs = spec->indicator.row->n_outputs, cap = bars->n + 1;
    double *cells = calloc((n_outputs + 2) * cap, sizeof *cells), *columns[INDICATOR_OUTPUTS_MAX];
    size_t *rows = calloc(cap, sizeof *rows);
    int r = cells && rows ? 0 : -ENOMEM;
    const size_t n = r == 0 ? values_of(spec, bars, cells, rows) : 0;
    double *time = r == 0 ? cells + cap : NULL;
    for (size_t i = 0; i < n; i++)
        time[i] = frame_seconds(bars->open_ns[rows[i]]);
    for (size_t k = 0; r == 0 && k < n_outputs; k++)
        columns[k] = cells + (k + 2) * cap;
    const struct indicator_columns in = {cells, cells, cells, cells, NULL, time};
    if (r == 0 && !spec->plain)
        r = indicator_reference(&spec->indicator, &in, n, columns);
    for (size_t k = 0; r == 0 && k < n_outputs; k++) {
        for (size_t i = 0; i < bars->n; i++)
            out[k][i] = NAN;
        for (size_t i = 0; i < n; i++)
            out[k][rows[i]] = spec->plain ? cells[i] : columns[k][i];
    }
    free(cells);
    free(rows);
    return r;
}

void backtest_columns_sparse_finish(struct columns_sparse *sparse, size_t n_outputs)
{
    for (size_t k = 0; sparse && k < n_outputs; k++) {
        free(sparse[k].owned_values);
        free(sparse[k].owned_counts);
    }
    free(sparse);
}

/* ---- units of work ---- */

enum unit_kind { UNIT_EXACT, UNIT_PLAIN, UNIT_FRAME, UNIT_COLUMN };

struct unit {
    enum unit_kind kind;
    size_t spec;
    const struct columns_job *job;  /* PLAIN, FRAME */
    const struct exact_task *tasks; /* EXACT */
    size_t n_tasks;
};

struct columns_work {
    const struct runner_spec *specs;
    size_t n_specs, n_units;
    enum indicator_isa isa;
    struct unit *units;
    struct exact_task *tasks;
    atomic_size_t next;
    _Atomic int error;
    atomic_size_t failed; /* the spec whose bars were refused */
};

static double *const *outputs_of(const struct columns_work *work, const struct columns_job *job, size_t spec)
{
    return job->out + engine_runner_outputs(work->specs, spec);
}

/* The tasks of one row, over all jobs and specs, by lanes; one that would be alone in its lanes is as fast in
 * the reference. */
static struct exact_task *add_row(struct columns_work *work, const struct columns_job *jobs, size_t n_jobs,
                                  enum indicator_id id, struct exact_task *task)
{
    struct exact_task *first = task;
    size_t last = 0, lanes = 1;
    const struct columns_job *last_job = NULL;
    for (size_t s = 0; s < work->n_specs; s++) {
        const struct runner_spec *spec = &work->specs[s];
        if (spec->frame_ns > 0 || spec->column.name[0] || spec->indicator.row->id != id)
            continue;
        lanes = exact_lanes(&spec->indicator, work->isa);
        for (size_t j = 0; j < n_jobs; j++, task++) {
            const struct columns_bars *bars = &jobs[j].bars;
            *task = (struct exact_task){
                .spec = &spec->indicator,
                .in = {bars->open, bars->high, bars->low, bars->close, bars->volume, NULL},
                .n = bars->n,
                .out = outputs_of(work, &jobs[j], s)};
            last = s;
            last_job = &jobs[j];
        }
    }
    for (size_t n = (size_t)(task - first); n > 0;) {
        size_t taken = n < lanes ? n : lanes;
        struct unit *unit = &work->units[work->n_units++];
        *unit = (struct unit){.kind = UNIT_EXACT, .spec = last, .tasks = first, .n_tasks = taken};
        if (taken == 1 && lanes > 1)
            *unit = (struct unit){.kind = UNIT_PLAIN, .spec = last, .job = last_job};
        first += taken;
        n -= taken;
    }
    return task;
}

/* Is it the first spec of its timeframe? */
static bool leads(const struct columns_work *work, size_t spec)
{
    for (size_t s = 0; s < spec; s++)
        if (work->specs[s].frame_ns == work->specs[spec].frame_ns)
            return false;
    return true;
}

/* The long ones first. */
static int plan(struct columns_work *work, const struct columns_job *jobs, size_t n_jobs)
{
    static const enum indicator_id rows[] = {INDICATOR_RSI, INDICATOR_ATR, INDICATOR_MACD, INDICATOR_EMA,
                                             INDICATOR_SMA};
    size_t most = n_jobs * work->n_specs + 1;
    work->units = calloc(most, sizeof *work->units);
    work->tasks = calloc(most, sizeof *work->tasks);
    if (!work->units || !work->tasks)
        return -ENOMEM;
    for (size_t s = 0; s < work->n_specs; s++) {
        bool frame = work->specs[s].frame_ns > 0, column = work->specs[s].column.name[0];
        if (frame ? !leads(work, s) : !column && exact_serves(&work->specs[s].indicator))
            continue;
        for (size_t j = 0; j < n_jobs; j++)
            work->units[work->n_units++] = (struct unit){.kind = frame    ? UNIT_FRAME
                                                                 : column ? UNIT_COLUMN
                                                                          : UNIT_PLAIN,
                                                         .spec = s,
                                                         .job = &jobs[j]};
    }
    struct exact_task *task = work->tasks;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        task = add_row(work, jobs, n_jobs, rows[i], task);
    return 0;
}

static int do_unit(const struct columns_work *work, const struct unit *unit)
{
    const struct runner_spec *spec = &work->specs[unit->spec];
    switch (unit->kind) {
    case UNIT_EXACT:
        exact_compute(unit->tasks, unit->n_tasks, work->isa);
        return 0;
    case UNIT_COLUMN:
        return compute_column(spec, &unit->job->bars, outputs_of(work, unit->job, unit->spec));
    case UNIT_FRAME:
        return compute_frame(work->specs, work->n_specs, unit->job, spec->frame_ns);
    default:
        return compute_plain(spec, &unit->job->bars, outputs_of(work, unit->job, unit->spec));
    }
}

static void *run(void *ctx)
{
    struct columns_work *work = ctx;
    for (;;) {
        size_t at = atomic_fetch_add(&work->next, 1);
        if (at >= work->n_units)
            return NULL;
        int r = do_unit(work, &work->units[at]);
        if (r < 0) {
            atomic_store(&work->failed, work->units[at].spec);
            atomic_store(&work->error, r);
        }
    }
}

static void run_on_threads(struct columns_work *work, size_t threads)
{
    pthread_t others[THREADS_MAX];
    size_t n_others = 0;
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    threads = threads < work->n_units ? threads : work->n_units;
    while (n_others + 1 < threads && pthread_create(&others[n_others], NULL, run, work) == 0)
        n_others++;
    run(work);
    for (size_t i = 0; i < n_others; i++)
        pthread_join(others[i], NULL);
}

int backtest_columns_compute(const struct runner_spec *specs, size_t n_specs, const struct columns_job *jobs,
                             size_t n_jobs, int threads, char err[static SPECS_ERROR_MAX])
{
    struct columns_work work = {.specs = specs, .n_specs = n_specs, .isa = indicator_isa_best()};
    size_t values = 0;
    for (size_t j = 0; j < n_jobs; j++)
        values += jobs[j].bars.n * n_specs;
    int r = plan(&work, jobs, n_jobs);
    if (r == 0) {
        size_t most = values / WORTH_A_THREAD + 1;
        run_on_threads(&work, most < (size_t)threads ? most : (size_t)threads);
        r = atomic_load(&work.error);
    }
    if (r == -EINVAL)
        snprintf(err, SPECS_ERROR_MAX, "%s: a bar is not finite",
                 specs[atomic_load(&work.failed)].indicator.row->name);
    free(work.units);
    free(work.tasks);
    return r;
}
