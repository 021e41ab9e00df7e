/* A vectorised account: indicators of each symbol at once, marks at once, then the account bar by marked
 * bar. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/columns.h"
#include "engine/backtest/sim.h"
#include "exchange/clock.h"
#include "strategy/external.h"

/* One symbol's bars, as everything here needs them. */
struct lane {
    struct columns_bars bars;
    uint32_t *rows; /* of each bar, where some are missing */
    struct columns_room room;
    double **outputs;              /* in `room` */
    struct columns_sparse *sparse; /* [n_outputs] those of higher bars; NULL: all are in `outputs` */
    double *volume;  /* on the symbol's scale, where an indicator reads it and the market's is not */
    uint64_t *marks; /* flat, then holding, then shorted */
    struct sim_bars view;
};

/* Where indicators are computed. */
enum columns_how {
    AT_POINTS, /* only where they are read: the marks depend on the bars alone */
    IN_CHUNKS, /* everywhere, a few thousand rows at a time */
    AS_COLUMNS,
};

struct columns_run {
    struct run_thread *thread;
    const struct backtest_config *config;
    const struct account_spec *spec;
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    size_t n_specs, n_outputs;
    enum columns_how how;
    bool sparse;        /* outputs of higher bars are not columns: nothing scans them */
    bool points_failed; /* no memory */
    struct points points;
    int64_t *grid;      /* each row's time, where anything reads it */
    double apart_s;     /* of the simulation's time: on indicators and marks */
    struct lane *lanes; /* [n_symbols] */
};

static int out_of_memory(struct columns_run *run)
{
    return backtest_run_fail(run->thread, -ENOMEM, "not enough memory for this backtest");
}

/* The engine sees a volume at the symbol's scale. */
static int scale_volume(struct lane *lane, const struct symbol *symbol)
{
    lane->volume = malloc((lane->bars.n + 1) * sizeof *lane->volume);
    if (!lane->volume)
        return -ENOMEM;
    for (size_t i = 0; i < lane->bars.n; i++)
        lane->volume[i] = sim_volume(lane->bars.volume[i], symbol->qty_scale);
    lane->bars.volume = lane->volume;
    return 0;
}

static int make_rows(const struct columns_run *run, struct lane *lane)
{
    const struct market *market = run->config->market;
    lane->rows = malloc((lane->bars.n + 1) * sizeof *lane->rows);
    if (!lane->rows)
        return -ENOMEM;
    for (size_t i = 0; i < lane->bars.n; i++)
        lane->rows[i] = (uint32_t)((lane->bars.open_ns[i] - market->start_ns) / market->interval_ns);
    return 0;
}

/* The outputs that are columns each have one in the room. */
static int open_outputs(const struct columns_run *run, struct lane *lane)
{
    bool whole = run->how == AS_COLUMNS;
    size_t columns = 0, at = 0;
    lane->outputs = calloc(run->n_outputs + 1, sizeof *lane->outputs);
    lane->sparse = run->sparse ? calloc(run->n_outputs + 1, sizeof *lane->sparse) : NULL;
    if (!lane->outputs || (run->sparse && !lane->sparse))
        return -ENOMEM;
    for (size_t i = 0; i < run->n_specs; i++)
        if (!run->sparse || run->specs[i].frame_ns == 0)
            columns += run->specs[i].indicator.row->n_outputs;
    int r = backtest_columns_room_make(whole ? columns : 0, lane->bars.n, &lane->room);
    columns = 0;
    for (size_t i = 0; whole && r == 0 && i < run->n_specs; i++)
        for (size_t k = 0; k < run->specs[i].indicator.row->n_outputs; k++, at++)
            if (!run->sparse || run->specs[i].frame_ns == 0)
                lane->outputs[at] = lane->room.cells + columns++ * lane->room.stride;
    return r;
}

static int open_lane(const struct columns_run *run, int s)
{
    const struct market *market = run->config->market;
    struct lane *lane = &run->lanes[s];
    bool reads_volume = false;
    int r = backtest_columns_dense(market, s, 0, run->config->to, run->grid, &lane->bars);
    if (r == 0 && backtest_run_sessions(run->config, s))
        lane->bars.calendar = backtest_run_calendar(run->config);
    if (r == 0 && lane->bars.n < run->config->to)
        r = make_rows(run, lane);
    for (size_t i = 0; i < run->n_specs; i++)
        reads_volume |= (run->specs[i].indicator.row->inputs & INDICATOR_VOLUME) != 0;
    if (r == 0 && reads_volume)
        r = scale_volume(lane, &market->series[s].symbol);
    size_t n = lane->bars.n;
    if (r == 0)
        r = open_outputs(run, lane);
    size_t kinds = run->spec->rules.shorts ? 3 : 2;
    lane->marks = calloc(run->how == IN_CHUNKS ? 1 : kinds * (n / 64 + 1), sizeof *lane->marks);
    return r < 0 || !lane->marks ? -ENOMEM : 0;
}

static void close_lanes(struct columns_run *run)
{
    for (int s = 0; run->lanes && s < run->config->market->n_symbols; s++) {
        struct lane *lane = &run->lanes[s];
        backtest_columns_dense_finish(&lane->bars);
        free(lane->rows);
        backtest_columns_room_finish(&lane->room);
        backtest_columns_sparse_finish(lane->sparse, run->n_outputs);
        free(lane->outputs);
        free(lane->volume);
        free(lane->marks);
    }
    free(run->lanes);
    free(run->grid);
    backtest_points_finish(&run->points);
}

static int open_run(struct columns_run *run)
{
    const struct market *market = run->config->market;
    char err[SPECS_ERROR_MAX];
    int r = engine_runner_specs(run->spec->strategy, run->spec->params, market->interval_ns, run->specs,
                                &run->n_specs, err);
    if (r < 0)
        return backtest_run_fail(run->thread, r, "%s", err);
    run->n_outputs = engine_runner_outputs(run->specs, run->n_specs);
    run->how = AS_COLUMNS;
    bool few = run->spec->strategy->scan_bars || (run->spec->strategy->idle && !run->config->calendar);
    if (few && backtest_points_serve(run->specs, run->n_specs))
        run->how = AT_POINTS;
    else if (backtest_chunks_serve(run->spec->strategy, run->specs, run->n_specs))
        run->how = IN_CHUNKS;
    for (size_t i = 0; run->how == AS_COLUMNS && i < run->n_specs; i++)
        run->sparse |= run->specs[i].frame_ns > 0 && !strategy_scans(run->spec->strategy);
    run->lanes = calloc((size_t)market->n_symbols, sizeof *run->lanes);
    if (run->how == AS_COLUMNS)
        run->grid = malloc(run->config->to * sizeof *run->grid);
    if (!run->lanes || (run->how == AS_COLUMNS && !run->grid))
        return out_of_memory(run);
    for (size_t row = 0; run->grid && row < run->config->to; row++)
        run->grid[row] = market_open_ns(market, row);
    for (int s = 0; s < market->n_symbols; s++)
        if (open_lane(run, s) < 0)
            return out_of_memory(run);
    return 0;
}

static int compute(struct columns_run *run)
{
    int n = run->config->market->n_symbols;
    char err[SPECS_ERROR_MAX];
    if (run->how != AS_COLUMNS)
        return 0;
    struct columns_job *jobs = calloc((size_t)n, sizeof *jobs);
    if (!jobs)
        return out_of_memory(run);
    for (int s = 0; s < n; s++)
        jobs[s] = (struct columns_job){
            .bars = run->lanes[s].bars, .out = run->lanes[s].outputs, .sparse = run->lanes[s].sparse};
    int r = backtest_columns_compute(run->specs, run->n_specs, jobs, (size_t)n, run->thread->helpers, err);
    free(jobs);
    if (r == -EINVAL)
        return backtest_run_fail(run->thread, r, "%s", err);
    return r < 0 ? out_of_memory(run) : 0;
}

static void scan(struct columns_run *run)
{
    const struct strategy *strategy = run->spec->strategy;
    for (int s = 0; s < run->config->market->n_symbols; s++) {
        struct lane *lane = &run->lanes[s];
        const struct columns_bars *bars = &lane->bars;
        size_t words = bars->n / 64 + 1;
        const struct strategy_marks marks = {.flat = lane->marks,
                                             .holding = lane->marks + words,
                                             .shorted =
                                                 run->spec->rules.shorts ? lane->marks + 2 * words : NULL};
        lane->view = (struct sim_bars){.n = bars->n, .rows = lane->rows};
        if (run->how == AS_COLUMNS)
            lane->view.outputs = (const double *const *)lane->outputs;
        lane->view.sparse = lane->sparse;
        if (run->how == AT_POINTS ? !strategy->scan_bars : !strategy_scans(strategy))
            continue;
        const struct strategy_columns columns = {.n = bars->n,
                                                 .interval_ns = bars->interval_ns,
                                                 .open = bars->open,
                                                 .high = bars->high,
                                                 .low = bars->low,
                                                 .close = bars->close,
                                                 .indicators = lane->view.outputs};
        if (run->how == AT_POINTS)
            strategy->scan_bars(run->spec->params, &columns, &marks);
        else
            strategy_scan(strategy, run->spec->params, &columns, &marks);
        lane->view.flat = marks.flat;
        lane->view.holding = marks.holding;
        lane->view.shorted = marks.shorted;
    }
}

/* The opening deposit is dated by the first bar. */
static int64_t first_open_ns(const struct market *market)
{
    size_t first = market->series[0].first;
    for (int s = 1; s < market->n_symbols; s++)
        if (market->series[s].first < first)
            first = market->series[s].first;
    return market_open_ns(market, first);
}

static void outputs_at(void *ctx, int symbol, const size_t *bars, size_t n, double *out)
{
    struct columns_run *run = ctx;
    if (backtest_points_at(&run->points, run->specs, run->n_specs, &run->lanes[symbol].bars, bars, n, out) <
        0)
        run->points_failed = true;
}

/* Rows [row, end) were examined. */
static bool count_rows(const struct columns_run *run, size_t row, size_t end)
{
    size_t from = run->config->from;
    return backtest_run_progress(run->thread, end <= from ? 0 : end - (row > from ? row : from));
}

static int simulate_whole(struct columns_run *run, struct sim *sim)
{
    enum { STRIDE = 1 << 16 }; /* rows between two calls of the caller's progress */
    size_t to = run->config->to;
    int r = 0;
    sim->outputs = outputs_at;
    sim->outputs_ctx = run;
    for (int s = 0; s < run->config->market->n_symbols; s++)
        backtest_sim_give(sim, s, &run->lanes[s].view);
    for (size_t row = 0; row < to && r == 0; row += STRIDE) {
        size_t end = row + STRIDE < to ? row + STRIDE : to;
        r = backtest_sim_rows(sim, end);
        if (run->points_failed)
            r = -ENOMEM;
        if (r == 0 && !count_rows(run, row, end))
            r = -ECANCELED;
    }
    return r;
}

static int simulate_chunks(struct columns_run *run, struct sim *sim)
{
    size_t n = (size_t)run->config->market->n_symbols, row = 0, end;
    struct columns_bars *bars = malloc(n * sizeof *bars);
    uint32_t **rows = malloc(n * sizeof *rows);
    struct chunks *chunks = NULL;
    int r = bars && rows ? 0 : -ENOMEM;
    for (size_t s = 0; s < n && r == 0; s++) {
        bars[s] = run->lanes[s].bars;
        rows[s] = run->lanes[s].rows;
    }
    double indicators_s = 0, signals_s = 0;
    if (r == 0)
        r = backtest_chunks_open(run->config, run->spec, run->specs, run->n_specs, bars, rows,
                                 run->thread->helpers, &chunks);
    for (; r == 0 && (end = backtest_chunks_next(chunks, sim)) > 0; row = end) {
        r = backtest_sim_rows(sim, end);
        if (r == 0 && !count_rows(run, row, end))
            r = -ECANCELED;
    }
    if (chunks)
        backtest_chunks_seconds(chunks, &indicators_s, &signals_s);
    backtest_chunks_close(chunks);
    free(bars);
    free(rows);
    run->thread->busy[STAGE_INDICATORS] += indicators_s;
    run->thread->busy[STAGE_SIGNALS] += signals_s;
    run->apart_s = indicators_s + signals_s;
    return r;
}

static int simulate(struct columns_run *run, int account)
{
    struct sim sim;
    if (backtest_sim_open(&sim, run->config, account, run->n_outputs,
                          &run->thread->run->ret->accounts[account]) < 0)
        return out_of_memory(run);
    backtest_sim_begin(&sim, first_open_ns(run->config->market));
    int r = run->how == IN_CHUNKS ? simulate_chunks(run, &sim) : simulate_whole(run, &sim);
    if (r == 0)
        r = backtest_sim_finish(&sim);
    backtest_sim_close(&sim);
    return r == -ENOMEM ? out_of_memory(run) : r;
}

int backtest_vectorised(struct run_thread *thread, int account)
{
    struct columns_run run = {
        .thread = thread, .config = thread->run->config, .spec = &thread->run->config->accounts[account]};
    double started_s = clock_now_s();
    int r = open_run(&run);
    if (r == 0)
        r = compute(&run);
    double computed = clock_now_s();
    if (r == 0 && run.how != IN_CHUNKS)
        scan(&run);
    double scanned = clock_now_s();
    if (r == 0)
        r = simulate(&run, account);
    close_lanes(&run);
    thread->busy[STAGE_INDICATORS] += computed - started_s;
    thread->busy[STAGE_SIGNALS] += scanned - computed;
    thread->busy[STAGE_SIMULATE] += clock_now_s() - scanned - run.apart_s;
    return r;
}
