/* A screen: chunks of sets, pieces of the bars; threads compute the columns of a piece, and then walk groups.
 */
#include "engine/backtest/screen/screen.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/backtest/screen/device.h"
#include "engine/backtest/screen/internal.h"
#include "exchange/fail.h"

enum {
    THREADS_MOST = 64,
    UNIT_GROUPS = 64,
};

struct screen_run;

struct screen_worker {
    struct screen_run *run;
    pthread_t thread;
    void (*step)(struct screen_run *run, struct screen_worker *worker);
    double *scratch;
    float *closes;                           /* [SCREEN_STRETCH] */
    float *tiles;                            /* [SCREEN_ROLES][SCREEN_STRETCH][SCREEN_LANES] */
    uint32_t of[SCREEN_ROLES][SCREEN_LANES]; /* the columns in a tile */
    bool made[SCREEN_ROLES];
};

struct screen_run {
    const struct screen *screen;
    struct screen_terms terms;
    struct screen_history history;
    struct screen_plan plan;
    const struct screen_set *set;
    enum indicator_isa isa;
    float *cells; /* [columns][SCREEN_PIECE] */
    double *wide;
    uint32_t *periods;
    struct screen_cuts cuts;
    size_t at; /* the piece */
    size_t n_threads;
    struct screen_worker workers[THREADS_MOST];
    atomic_size_t unit, walked;
};

#if HAVE_AVX_SETS
extern const struct screen_set backtest_screen_set_baseline, backtest_screen_set_avx2,
    backtest_screen_set_avx512;
#else
extern const struct screen_set backtest_screen_set_baseline;
#endif

const struct screen_set *backtest_screen_set(enum indicator_isa isa)
{
    switch (isa) {
#if HAVE_AVX_SETS
    case INDICATOR_ISA_AVX512:
        return &backtest_screen_set_avx512;
    case INDICATOR_ISA_AVX2:
        return &backtest_screen_set_avx2;
#endif
    default:
        return &backtest_screen_set_baseline;
    }
}

/* ---- a thread's work ---- */

static size_t piece_bars(const struct screen_run *run)
{
    size_t left = run->history.bars.n - run->at;
    return left < SCREEN_PIECE ? left : SCREEN_PIECE;
}

static void fill_columns(struct screen_run *run, struct screen_worker *worker)
{
    const struct screen_piece piece = {.history = &run->history,
                                       .at = run->at,
                                       .n = piece_bars(run),
                                       .cells = run->cells,
                                       .wide = run->wide,
                                       .scratch = worker->scratch,
                                       .set = run->set,
                                       .isa = run->isa};
    size_t n = run->plan.columns.n, units = (n + SCREEN_UNIT - 1) / SCREEN_UNIT;
    for (;;) {
        size_t unit = atomic_fetch_add(&run->unit, 1), wide = run->plan.wide.n, from;
        struct screen_columns *columns = unit < units ? &run->plan.columns : &run->plan.wide;
        from = (unit < units ? unit : unit - units) * SCREEN_UNIT;
        size_t end = unit < units ? n : wide;
        if (from >= end)
            return;
        backtest_screen_columns_fill(columns, from, from + SCREEN_UNIT < end ? from + SCREEN_UNIT : end,
                                     &piece);
    }
}

/* Sixteen columns as rows of sixteen. */
static void tile(const struct screen_run *run, const uint32_t *column, size_t from, size_t n, float *to)
{
    const float *columns[SCREEN_LANES];
    for (int k = 0; k < SCREEN_LANES; k++)
        columns[k] = run->cells + column[k] * (size_t)SCREEN_PIECE + from;
    run->set->tile(columns, n, to);
}

static void view(struct screen_run *run, struct screen_worker *worker, const struct screen_group *g, int role,
                 struct screen_stretch *stretch)
{
    size_t from = stretch->from, n = stretch->to - from;
    if (g->all >> role & 1) {
        stretch->views[role] =
            (struct screen_view){run->cells + g->column[role][0] * (size_t)SCREEN_PIECE + from, true};
        return;
    }
    float *values = worker->tiles + (size_t)role * SCREEN_STRETCH * SCREEN_LANES;
    if (!worker->made[role] || memcmp(worker->of[role], g->column[role], sizeof worker->of[role]) != 0) {
        tile(run, g->column[role], from, n, values);
        memcpy(worker->of[role], g->column[role], sizeof worker->of[role]);
        worker->made[role] = true;
    }
    stretch->views[role] = (struct screen_view){values, false};
}

/* Groups [from, to) over one stretch. */
static void walk_stretch(struct screen_run *run, struct screen_worker *worker, struct screen_stretch *stretch,
                         size_t from, size_t to, bool traded)
{
    const struct screen_rule_row *rule = run->plan.rule;
    memset(worker->made, 0, sizeof worker->made);
    for (size_t i = from; i < to; i++) {
        struct screen_group *g = &run->plan.groups[i];
        for (int role = 0; role < rule->roles; role++)
            view(run, worker, g, role, stretch);
        run->set->walk[rule->rule](stretch, g, traded);
    }
}

static void walk_groups(struct screen_run *run, struct screen_worker *worker, size_t from, size_t to)
{
    size_t n = run->history.bars.n, at = run->at, end = at + piece_bars(run);
    const struct screen_bars bars = {.n = end - at,
                                     .first = at,
                                     .open = run->history.prices + at,
                                     .high = run->history.prices + n + at,
                                     .low = run->history.prices + 2 * n + at,
                                     .close = run->history.prices + 3 * n + at,
                                     .highs = run->history.rounded + at,
                                     .lows = run->history.rounded + n + at,
                                     .rows = run->history.rows ? run->history.rows + at : NULL,
                                     .real = run->history.closes + at,
                                     .periods = run->periods,
                                     .columns = run->cells,
                                     .column_step = SCREEN_PIECE,
                                     .bar_step = 1,
                                     .wide = run->wide,
                                     .wide_step = SCREEN_PIECE};
    struct screen_stretch stretch = {.terms = &run->terms, .bars = &bars, .closes = worker->closes};
    for (size_t bar = at; bar < end;) {
        size_t to_bar = screen_cut(&run->cuts, bar, &stretch.block);
        stretch.from = bar - at;
        stretch.to = to_bar - at;
        stretch.reference = bars.close[bar > 0 ? (ptrdiff_t)stretch.from - 1 : 0];
        for (size_t i = stretch.from; i < stretch.to; i++)
            worker->closes[i - stretch.from] = (float)(bars.close[i] - stretch.reference);
        walk_stretch(run, worker, &stretch, from, to, bar >= run->cuts.from);
        bar = to_bar;
    }
}

static void walk(struct screen_run *run, struct screen_worker *worker)
{
    size_t n = run->plan.n_groups, unit = n / (4 * run->n_threads) + 1;
    unit = unit < UNIT_GROUPS ? unit : UNIT_GROUPS;
    for (;;) {
        size_t from = atomic_fetch_add(&run->walked, 1) * unit;
        if (from >= n)
            return;
        walk_groups(run, worker, from, from + unit < n ? from + unit : n);
    }
}

static void *help(void *data)
{
    struct screen_worker *worker = data;
    worker->step(worker->run, worker);
    return NULL;
}

/* One step on all threads, or on as many as the system gives. */
static void together(struct screen_run *run,
                     void (*step)(struct screen_run *run, struct screen_worker *worker))
{
    size_t started = 1;
    for (; started < run->n_threads; started++) {
        struct screen_worker *worker = &run->workers[started];
        worker->step = step;
        if (pthread_create(&worker->thread, NULL, help, worker) != 0)
            break;
    }
    step(run, &run->workers[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(run->workers[i].thread, NULL);
}

static void do_piece(struct screen_run *run)
{
    atomic_store(&run->unit, 0);
    atomic_store(&run->walked, 0);
    together(run, fill_columns);
    together(run, walk);
}

/* ---- a chunk of sets ---- */

static int make_room(struct screen_run *run)
{
    size_t columns = run->plan.columns.n + 1, wide = run->plan.wide.n + 1;
    run->cells = aligned_alloc(64, columns * SCREEN_PIECE * sizeof *run->cells);
    run->wide = aligned_alloc(64, wide * SCREEN_PIECE * sizeof *run->wide);
    run->periods = calloc(columns, sizeof *run->periods);
    if (!run->cells || !run->wide || !run->periods)
        return -ENOMEM;
    for (size_t i = 0; i + 1 < columns; i++)
        if (run->plan.columns.columns[i].kind == COLUMN_SMA)
            run->periods[i] = run->plan.columns.columns[i].options[0];
    return 0;
}

static void end_chunk(struct screen_run *run)
{
    free(run->cells);
    free(run->wide);
    free(run->periods);
    run->periods = NULL;
    run->cells = NULL;
    run->wide = NULL;
    backtest_screen_plan_finish(&run->plan);
}

static bool show(const struct screen_run *run, size_t sets, size_t chunk)
{
    const struct screen *screen = run->screen;
    double share = (double)(run->at + piece_bars(run)) / (double)run->history.bars.n;
    return !screen->progress ||
           screen->progress(screen->progress_ctx, ((double)sets + share * (double)chunk) / (double)screen->n);
}

static int run_chunk(struct screen_run *run, size_t from, size_t to, struct screen_row *rows)
{
    int r = backtest_screen_plan(run->screen, &run->terms, run->history.bars.n, from, to, rows, &run->plan);
    if (r == 0)
        r = make_room(run);
    for (run->at = 0; r == 0 && run->at < run->history.bars.n; run->at += SCREEN_PIECE) {
        do_piece(run);
        if (!show(run, from, to - from))
            r = -ECANCELED;
    }
    const struct screen_span span = backtest_screen_span(run->screen->config, &run->history);
    for (size_t i = 0; r == 0 && i < run->plan.n_groups; i++)
        backtest_screen_figures(&run->terms, &span, &run->plan.groups[i], rows);
    end_chunk(run);
    return r;
}

/* ---- from beginning to end ---- */

static size_t threads_of(const struct screen *screen)
{
    long n = screen->threads > 0 ? screen->threads : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > THREADS_MOST ? THREADS_MOST : (size_t)n;
}

static void end_workers(struct screen_run *run)
{
    for (size_t i = 0; i < run->n_threads; i++) {
        free(run->workers[i].scratch);
        free(run->workers[i].tiles);
        free(run->workers[i].closes);
    }
}

static int make_workers(struct screen_run *run)
{
    for (size_t i = 0; i < run->n_threads; i++) {
        struct screen_worker *worker = &run->workers[i];
        worker->run = run;
        worker->scratch = malloc(3 * 16 * (size_t)SCREEN_PIECE * sizeof *worker->scratch);
        worker->tiles =
            aligned_alloc(64, SCREEN_ROLES * SCREEN_STRETCH * SCREEN_LANES * sizeof *worker->tiles);
        worker->closes = malloc(SCREEN_STRETCH * sizeof *worker->closes);
        if (!worker->scratch || !worker->tiles || !worker->closes)
            return -ENOMEM;
    }
    return 0;
}

static int run_chunks(struct screen_run *run, struct screen_row *rows)
{
    const struct screen *screen = run->screen;
    int r = make_workers(run);
    if (r == 0)
        r = backtest_screen_history(screen->config, &run->history);
    if (r == 0)
        run->cuts = backtest_screen_cuts(screen->config, &run->history);
    for (size_t from = 0; r == 0 && from < screen->n; from += SCREEN_CHUNK)
        r = run_chunk(run, from, from + SCREEN_CHUNK < screen->n ? from + SCREEN_CHUNK : screen->n, rows);
    end_workers(run);
    backtest_screen_history_finish(&run->history);
    return r;
}

int backtest_screen_run(const struct screen *screen, struct screen_row *rows, char *err, size_t err_size)
{
    const char *why = backtest_screen_covers(screen->config, screen->account);
    if (why)
        return fail_with(-ENOTSUP, err, err_size, "a screen does not cover this account: %s", why);
    if (screen->device)
        return backtest_screen_device(screen, rows, err, err_size);
    struct screen_run *run = calloc(1, sizeof *run);
    if (!run)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    run->screen = screen;
    run->terms = backtest_screen_terms(screen);
    run->isa = screen->isa == INDICATOR_ISA_BEST ? indicator_isa_best() : screen->isa;
    run->set = screen->set ? screen->set : backtest_screen_set(run->isa);
    run->n_threads = threads_of(screen);
    int r = run_chunks(run, rows);
    free(run);
    if (r == -ENOMEM)
        snprintf(err, err_size, "out of memory");
    else if (r == -ENOTSUP)
        snprintf(err, err_size, "a screen does not know a parameter of these sets");
    else if (r == -ECANCELED)
        snprintf(err, err_size, "stopped");
    return r;
}
