#include "engine/backtest/columns.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/sim.h"
#include "exchange/clock.h"
#include "indicators_gpu/exact/exact.h"
#include "strategy/external.h"

enum {
    ROWS = 4096, /* 32 KiB an output and symbol */
    WORDS = ROWS / 64,
    LANES_MOST = 16,
    HELPERS_MOST = 15,
    BUFFERS = 2, /* one that is simulated, one that is filled */
};

/* A symbol's bars of one chunk. */
struct chunk_piece {
    size_t first, n; /* of its bars */
    double *outputs[STRATEGY_SPECS_MAX * INDICATOR_OUTPUTS_MAX];
    uint64_t flat[WORDS], holding[WORDS], shorted[WORDS];
};

struct chunks {
    const struct backtest_config *config;
    const struct account_spec *spec;
    const struct runner_spec *specs;
    size_t n_specs, n_outputs, to;
    int n_symbols;
    const struct columns_bars *bars;
    uint32_t *const *rows;
    struct exact_memory *memory; /* [n_symbols][n_specs] */
    struct chunk_piece *pieces;  /* [BUFFERS][n_symbols] */
    double *cells;
    enum indicator_isa isa;

    size_t started;              /* the end of the rows that are filled or being filled */
    int filling;                 /* the buffer of them */
    atomic_size_t unit, scanned; /* the next units of work of the two steps */
    bool over;
    pthread_mutex_t gate;
    pthread_barrier_t barrier;
    pthread_t helpers[HELPERS_MOST];
    int n_helpers;
    bool waits; /* the helpers have started on a chunk */
    double indicators_s, signals_s;
};

bool backtest_chunks_serve(const struct strategy *strategy, const struct runner_spec *specs, size_t n_specs)
{
    if (!strategy_scans(strategy) || n_specs == 0)
        return false;
    for (size_t i = 0; i < n_specs; i++)
        if (specs[i].frame_ns > 0 || !exact_serves(&specs[i].indicator))
            return false;
    return true;
}

/* ---- the work on a chunk ---- */

static struct chunk_piece *piece_of(const struct chunks *chunks, int symbol)
{
    return &chunks->pieces[chunks->filling * chunks->n_symbols + symbol];
}

static size_t lanes_of(const struct chunks *chunks, size_t spec)
{
    size_t lanes = exact_lanes(&chunks->specs[spec].indicator, chunks->isa);
    return lanes < LANES_MOST ? lanes : LANES_MOST;
}

/* Symbols [first, first + lanes) and one spec. */
static void compute(struct chunks *chunks, size_t spec, size_t first)
{
    struct exact_task tasks[LANES_MOST];
    size_t n = 0, lanes = lanes_of(chunks, spec), output = engine_runner_outputs(chunks->specs, spec);
    for (size_t s = first; s < first + lanes && s < (size_t)chunks->n_symbols; s++) {
        struct chunk_piece *piece = piece_of(chunks, (int)s);
        const struct columns_bars *bars = &chunks->bars[s];
        if (piece->n == 0)
            continue;
        tasks[n++] = (struct exact_task){.spec = &chunks->specs[spec].indicator,
                                         .in = {.open = bars->open + piece->first,
                                                .high = bars->high + piece->first,
                                                .low = bars->low + piece->first,
                                                .close = bars->close + piece->first},
                                         .n = piece->n,
                                         .out = piece->outputs + output,
                                         .done = piece->first,
                                         .memory = &chunks->memory[s * chunks->n_specs + spec]};
    }
    if (n > 0)
        exact_compute(tasks, n, chunks->isa);
}

static void compute_all(struct chunks *chunks)
{
    for (;;) {
        size_t unit = atomic_fetch_add(&chunks->unit, 1), spec = 0;
        for (; spec < chunks->n_specs; spec++) {
            size_t lanes = lanes_of(chunks, spec), units = ((size_t)chunks->n_symbols + lanes - 1) / lanes;
            if (unit < units) {
                compute(chunks, spec, unit * lanes);
                break;
            }
            unit -= units;
        }
        if (spec == chunks->n_specs)
            return;
    }
}

static void scan_all(struct chunks *chunks)
{
    for (;;) {
        size_t s = atomic_fetch_add(&chunks->scanned, 1);
        if (s >= (size_t)chunks->n_symbols)
            return;
        struct chunk_piece *piece = piece_of(chunks, (int)s);
        const struct columns_bars *bars = &chunks->bars[s];
        memset(piece->flat, 0, sizeof piece->flat);
        memset(piece->holding, 0, sizeof piece->holding);
        if (chunks->spec->rules.shorts)
            memset(piece->shorted, 0, sizeof piece->shorted);
        const struct strategy_marks marks = {.flat = piece->flat,
                                             .holding = piece->holding,
                                             .shorted = chunks->spec->rules.shorts ? piece->shorted : NULL};
        const struct strategy_columns columns = {.n = piece->n,
                                                 .interval_ns = bars->interval_ns,
                                                 .open = bars->open + piece->first,
                                                 .high = bars->high + piece->first,
                                                 .low = bars->low + piece->first,
                                                 .close = bars->close + piece->first,
                                                 .indicators = (const double *const *)piece->outputs};
        strategy_scan(chunks->spec->strategy, chunks->spec->params, &columns, &marks);
    }
}

static void *help(void *data)
{
    struct chunks *chunks = data;
    pthread_mutex_lock(&chunks->gate);
    bool none = chunks->over;
    pthread_mutex_unlock(&chunks->gate);
    while (!none) {
        pthread_barrier_wait(&chunks->barrier); /* there is a chunk */
        if (chunks->over)
            break;
        compute_all(chunks);
        pthread_barrier_wait(&chunks->barrier); /* all is computed */
        scan_all(chunks);
        pthread_barrier_wait(&chunks->barrier); /* all is marked */
    }
    return NULL;
}

/* ---- one chunk after the other ---- */

/* Takes the bars of the next rows; the helpers start on them. False: there are none. */
static bool begin(struct chunks *chunks)
{
    if (chunks->started == chunks->to)
        return false;
    size_t end = chunks->started + ROWS < chunks->to ? chunks->started + ROWS : chunks->to;
    int before = chunks->filling;
    chunks->filling = (chunks->filling + 1) % BUFFERS;
    for (int s = 0; s < chunks->n_symbols; s++) {
        const struct chunk_piece *last = &chunks->pieces[before * chunks->n_symbols + s];
        struct chunk_piece *piece = piece_of(chunks, s);
        const uint32_t *rows = chunks->rows[s];
        piece->first = last->first + last->n;
        piece->n = rows ? 0 : end - chunks->started;
        while (rows && piece->first + piece->n < chunks->bars[s].n && rows[piece->first + piece->n] < end)
            piece->n++;
    }
    chunks->started = end;
    atomic_store(&chunks->unit, 0);
    atomic_store(&chunks->scanned, 0);
    if (chunks->n_helpers > 0)
        pthread_barrier_wait(&chunks->barrier);
    return chunks->waits = true;
}

/* Does its share of the work, and waits for the others'. */
static void finish(struct chunks *chunks)
{
    double started_s = clock_now_s();
    compute_all(chunks);
    if (chunks->n_helpers > 0)
        pthread_barrier_wait(&chunks->barrier);
    double computed = clock_now_s();
    scan_all(chunks);
    if (chunks->n_helpers > 0)
        pthread_barrier_wait(&chunks->barrier);
    chunks->waits = false;
    chunks->indicators_s += computed - started_s;
    chunks->signals_s += clock_now_s() - computed;
}

size_t backtest_chunks_next(struct chunks *chunks, struct sim *sim)
{
    if (!chunks->waits && !begin(chunks))
        return 0;
    finish(chunks);
    size_t end = chunks->started;
    for (int s = 0; s < chunks->n_symbols; s++) {
        const struct chunk_piece *piece = piece_of(chunks, s);
        const struct sim_bars bars = {.n = piece->n,
                                      .first = piece->first,
                                      .rows = chunks->rows[s] ? chunks->rows[s] + piece->first : NULL,
                                      .outputs = (const double *const *)piece->outputs,
                                      .flat = piece->flat,
                                      .holding = piece->holding,
                                      .shorted = piece->shorted};
        backtest_sim_give(sim, s, &bars);
    }
    begin(chunks);
    return end;
}

void backtest_chunks_seconds(const struct chunks *chunks, double *ret_indicators, double *ret_signals)
{
    *ret_indicators = chunks->indicators_s;
    *ret_signals = chunks->signals_s;
}

/* ---- from beginning to end ---- */

static int allocate(struct chunks *chunks)
{
    size_t n = (size_t)chunks->n_symbols, columns = BUFFERS * n * chunks->n_outputs;
    chunks->memory = calloc(n * chunks->n_specs, sizeof *chunks->memory);
    chunks->pieces = calloc(BUFFERS * n, sizeof *chunks->pieces);
    /* Columns start a cache line apart: at equal offsets of pages they would use the same cache sets. */
    const size_t stride = ROWS + 8;
    chunks->cells = aligned_alloc(64, columns * stride * sizeof *chunks->cells);
    if (!chunks->memory || !chunks->pieces || !chunks->cells)
        return -ENOMEM;
    for (size_t p = 0; p < BUFFERS * n; p++)
        for (size_t k = 0; k < chunks->n_outputs; k++)
            chunks->pieces[p].outputs[k] = chunks->cells + (p * chunks->n_outputs + k) * stride;
    return 0;
}

/* Starts as many as possible: they wait at the gate until their number is known. */
static int start_helpers(struct chunks *chunks, int n)
{
    int r = 0;
    pthread_mutex_lock(&chunks->gate);
    while (chunks->n_helpers < n && chunks->n_helpers < HELPERS_MOST &&
           pthread_create(&chunks->helpers[chunks->n_helpers], NULL, help, chunks) == 0)
        chunks->n_helpers++;
    if (chunks->n_helpers > 0 &&
        pthread_barrier_init(&chunks->barrier, NULL, (unsigned)chunks->n_helpers + 1) != 0) {
        chunks->over = true;
        r = -ENOMEM;
    }
    pthread_mutex_unlock(&chunks->gate);
    for (int i = 0; r < 0 && i < chunks->n_helpers; i++)
        pthread_join(chunks->helpers[i], NULL);
    if (r < 0)
        chunks->n_helpers = 0;
    return r;
}

int backtest_chunks_open(const struct backtest_config *config, const struct account_spec *spec,
                         const struct runner_spec *specs, size_t n_specs, const struct columns_bars *bars,
                         uint32_t *const *rows, int threads, struct chunks **ret)
{
    struct chunks *chunks = calloc(1, sizeof *chunks);
    if (!chunks)
        return -ENOMEM;
    pthread_mutex_init(&chunks->gate, NULL);
    chunks->config = config;
    chunks->spec = spec;
    chunks->specs = specs;
    chunks->n_specs = n_specs;
    chunks->n_outputs = engine_runner_outputs(specs, n_specs);
    chunks->to = config->to;
    chunks->n_symbols = config->market->n_symbols;
    chunks->bars = bars;
    chunks->rows = rows;
    chunks->isa = indicator_isa_best();
    int r = allocate(chunks);
    if (r == 0 && config->to > 2 * ROWS)
        r = start_helpers(chunks, threads - 1);
    if (r < 0) {
        backtest_chunks_close(chunks);
        return r;
    }
    *ret = chunks;
    return 0;
}

void backtest_chunks_close(struct chunks *chunks)
{
    if (!chunks)
        return;
    if (chunks->waits)
        finish(chunks);
    chunks->over = true;
    if (chunks->n_helpers > 0) {
        pthread_barrier_wait(&chunks->barrier);
        for (int i = 0; i < chunks->n_helpers; i++)
            pthread_join(chunks->helpers[i], NULL);
        pthread_barrier_destroy(&chunks->barrier);
    }
    pthread_mutex_destroy(&chunks->gate);
    free(chunks->memory);
    free(chunks->pieces);
    free(chunks->cells);
    free(chunks);
}
