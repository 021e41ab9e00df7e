#include "engine/backtest/screen/device.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/screen/cuda/abi.h"
#include "engine/backtest/screen/internal.h"
#include "exchange/fail.h"
#include "indicators_gpu/module.h"
#include "strategy/metrics/deflate.h"

enum {
    CHUNK = 1 << 17,       /* sets at once, where memory suffices */
    CHUNK_LEAST = 1 << 10, /* and where it does not */
    BATCH_OUTPUTS = 64,    /* of indicators at once, 8 bytes a bar each */
    MACD_HIST = 2,         /* its output */
};

struct device_run {
    const struct screen *screen;
    const struct gpu_screen_api *api;
    struct gpu_screen *on_device;
    struct screen_history history;
    struct screen_launch launch; /* what all sets have */
    struct screen_plan plan;
    struct screen_case *cases; /* [CHUNK] */
    struct screen_row *fetched;
    size_t n_cases;
    struct screen_luck luck;      /* of all chunks so far */
    struct screen_ranked *ranked; /* the best of each chunk; their `at` is a set */
    size_t n_ranked;
    char reason[GPU_REASON_MAX];
};

/* ---- columns ---- */

/* n 0: the bars alone are loaded. */
static int compute(struct device_run *run, const struct indicator_spec *specs, size_t n)
{
    const struct columns_bars *bars = &run->history.bars;
    const struct indicator_columns series = {
        .open = bars->open, .high = bars->high, .low = bars->low, .close = bars->close};
    const struct gpu_batch batch = {.method = GPU_EXACT,
                                    .n_series = 1,
                                    .n_bars = bars->n,
                                    .series = &series,
                                    .n_specs = n,
                                    .specs = specs,
                                    .precision = INDICATOR_F64};
    float ms;
    return n == 0 ? gpu_module_load(run->screen->device, &batch, run->reason, sizeof run->reason)
                  : gpu_module_run(run->screen->device, &batch, &ms, run->reason, sizeof run->reason);
}

static struct screen_take take_of(const struct screen_column *column, uint32_t from, uint32_t to)
{
    switch (column->kind) {
    case COLUMN_SMA:
    case COLUMN_EMA:
        return (struct screen_take){TAKE_DISTANCE, from, to};
    case COLUMN_HIST:
        return (struct screen_take){TAKE_PLAIN, from + MACD_HIST, to};
    case COLUMN_ATR:
        return (struct screen_take){TAKE_WIDE, from, to};
    default:
        return (struct screen_take){TAKE_PLAIN, from, to};
    }
}

/* Those from `from` on. */
static int fill_columns(struct device_run *run, const struct screen_columns *columns, size_t from)
{
    struct screen_take takes[BATCH_OUTPUTS];
    int r = 0;
    for (size_t n; from < columns->n && r == 0; from += n) {
        size_t outputs = 0;
        for (n = 0; from + n < columns->n; n++) {
            size_t more = columns->specs[from + n].row->n_outputs;
            if (outputs + more > BATCH_OUTPUTS)
                break;
            takes[n] = take_of(&columns->columns[from + n], (uint32_t)outputs, (uint32_t)(from + n));
            outputs += more;
        }
        r = compute(run, columns->specs + from, n);
        if (r == 0)
            r = run->api->take(run->on_device, takes, n, run->reason, sizeof run->reason);
    }
    return r;
}

static int make_columns(struct device_run *run)
{
    const struct screen_columns *columns = &run->plan.columns;
    uint32_t *periods = calloc(columns->n + 1, sizeof *periods);
    if (!periods)
        return -ENOMEM;
    for (size_t i = 0; i < columns->n; i++)
        if (columns->columns[i].kind == COLUMN_SMA)
            periods[i] = columns->columns[i].options[0];
    size_t averages = screen_averages_of(periods, columns->n); /* sorted, they are the first */
    float ms;
    int r = run->api->columns(run->on_device, columns->n, run->plan.wide.n, periods, &ms, run->reason,
                              sizeof run->reason);
    free(periods);
    if (r == 0)
        r = fill_columns(run, columns, averages);
    return r == 0 ? fill_columns(run, &run->plan.wide, 0) : r;
}

/* ---- sets ---- */

static struct screen_case case_of(const struct screen_group *g, int lane)
{
    const struct screen_account *account = &g->accounts[lane];
    struct screen_case of = {.set = g->set[lane],
                             .first = g->first[lane],
                             .atr = account->atr,
                             .rsi_low = g->rsi_low[lane],
                             .rsi_high = g->rsi_high[lane],
                             .want = account->want,
                             .fraction = account->fraction,
                             .rsi_max = account->rsi_max,
                             .stop_atr = account->stop_atr,
                             .profit_atr = account->profit_atr,
                             .risk = account->risk,
                             .fraction_max = account->fraction_max};
    for (int role = 0; role < SCREEN_ROLES; role++)
        of.column[role] = g->column[role][lane];
    return of;
}

static void make_cases(struct device_run *run)
{
    run->n_cases = 0;
    for (size_t i = 0; i < run->plan.n_groups; i++)
        for (int lane = 0; lane < SCREEN_LANES; lane++)
            if (run->plan.groups[i].active >> lane & 1)
                run->cases[run->n_cases++] = case_of(&run->plan.groups[i], lane);
}

static int walk(struct device_run *run, struct screen_row *rows)
{
    float ms;
    run->launch.rule = run->plan.rule->rule;
    int r = run->api->walk(run->on_device, &run->launch, run->cases, run->n_cases, &ms, run->reason,
                           sizeof run->reason);
    if (r == 0)
        r = run->api->rows(run->on_device, 0, run->n_cases, run->fetched, run->reason, sizeof run->reason);
    for (size_t i = 0; r == 0 && i < run->n_cases; i++)
        rows[run->cases[i].set] = run->fetched[i];
    return r;
}

/* ---- the best ---- */

static struct screen_ranking ranking_of(const struct device_run *run, const struct screen_luck *luck)
{
    const struct screen_best *best = run->screen->best;
    const struct screen_span *span = &run->launch.span;
    double of_luck = luck->n > 1 ? (luck->squares - luck->sum * luck->sum / luck->n) / (luck->n - 1) : 0;
    double variance = overfit_luck_variance(of_luck > 0 ? of_luck : 0, (size_t)span->rows);
    return (struct screen_ranking){.metric = best->metric,
                                   .min_trades = best->min_trades < UINT32_MAX ? (uint32_t)best->min_trades
                                                                               : UINT32_MAX,
                                   .rows = span->rows,
                                   .year = sqrt(span->per_year),
                                   .expected = overfit_expected_sharpe((size_t)luck->n, variance)};
}

/* Of this chunk, by the luck of this chunk; merge() puts them in the order of all. */
static int rank(struct device_run *run)
{
    const struct screen_best *best = run->screen->best;
    struct screen_luck luck = {0};
    struct screen_ranking by = ranking_of(run, &luck);
    size_t found = 0;
    float ms;
    int r = run->api->rank(run->on_device, &by, best->top, NULL, NULL, &luck, &ms, run->reason,
                           sizeof run->reason);
    if (r < 0)
        return r;
    by = ranking_of(run, &luck);
    struct screen_ranked *to = run->ranked + run->n_ranked;
    r = run->api->rank(run->on_device, &by, best->top, to, &found, &luck, &ms, run->reason,
                       sizeof run->reason);
    for (size_t i = 0; r == 0 && i < found; i++)
        to[i].at = run->cases[to[i].at].set;
    if (r < 0)
        return r;
    run->n_ranked += found;
    run->luck.n += luck.n;
    run->luck.sum += luck.sum;
    run->luck.squares += luck.squares;
    return 0;
}

static void merge(struct device_run *run, const struct screen_row *rows)
{
    struct screen_best *best = run->screen->best;
    const struct screen_ranking by = ranking_of(run, &run->luck);
    for (size_t i = 0; i < run->n_ranked; i++)
        run->ranked[i].key = screen_key(&by, &rows[run->ranked[i].at]);
    best->n = screen_merge(run->ranked, run->n_ranked, best->top, run->ranked);
    for (size_t i = 0; i < best->n; i++)
        best->sets[i] = run->ranked[i].at;
}

/* ---- from beginning to end ---- */

static int run_chunk(struct device_run *run, size_t from, size_t to, struct screen_row *rows)
{
    int r = backtest_screen_plan(run->screen, &run->launch.terms, run->history.bars.n, from, to, rows,
                                 &run->plan);
    if (r < 0)
        return r;
    make_cases(run);
    if (run->n_cases > 0) {
        r = make_columns(run);
        if (r == 0)
            r = walk(run, rows);
        if (r == 0 && run->screen->best)
            r = rank(run);
    }
    backtest_screen_plan_finish(&run->plan);
    return r;
}

static int run_chunks(struct device_run *run, struct screen_row *rows)
{
    const struct screen *screen = run->screen;
    size_t chunk = CHUNK;
    for (size_t from = 0; from < screen->n;) {
        size_t to = screen->n - from > chunk ? from + chunk : screen->n;
        int r = run_chunk(run, from, to, rows);
        if (r == -ENOMEM && chunk > CHUNK_LEAST) {
            chunk /= 2;
            run->reason[0] = '\0';
            continue;
        }
        if (r < 0)
            return r;
        from = to;
        if (screen->progress && !screen->progress(screen->progress_ctx, (double)from / (double)screen->n))
            return -ECANCELED;
    }
    if (screen->best)
        merge(run, rows);
    return 0;
}

static int open_device(struct device_run *run)
{
    const struct screen *screen = run->screen;
    const void *api;
    int r = gpu_module_table(screen->device, GPU_SCREEN_SYMBOL, GPU_SCREEN_ABI, &api, run->reason,
                             sizeof run->reason);
    if (r < 0)
        return r;
    run->api = api;
    r = backtest_screen_history(screen->config, &run->history);
    if (r < 0)
        return r;
    run->launch.terms = backtest_screen_terms(screen);
    run->launch.span = backtest_screen_span(screen->config, &run->history);
    run->launch.cuts = backtest_screen_cuts(screen->config, &run->history);
    const struct gpu_screen_bars bars = {.n = run->history.bars.n,
                                         .prices = run->history.prices,
                                         .rounded = run->history.rounded,
                                         .real = run->history.closes,
                                         .rows = run->history.rows};
    r = compute(run, NULL, 0);
    if (r == 0)
        r = run->api->create(gpu_module_handle(screen->device), &bars, &run->on_device, run->reason,
                             sizeof run->reason);
    return r;
}

static int make_room(struct device_run *run)
{
    size_t n = run->screen->n < CHUNK ? run->screen->n : CHUNK;
    run->cases = malloc((n + 1) * sizeof *run->cases);
    run->fetched = malloc((n + 1) * sizeof *run->fetched);
    run->ranked = run->screen->best ? malloc((run->screen->n + 1) * sizeof *run->ranked) : NULL;
    return !run->cases || !run->fetched || (run->screen->best && !run->ranked) ? -ENOMEM : 0;
}

int backtest_screen_device(const struct screen *screen, struct screen_row *rows, char *err, size_t err_size)
{
    struct device_run *run = calloc(1, sizeof *run);
    if (!run)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    run->screen = screen;
    int r = make_room(run);
    if (r == 0)
        r = open_device(run);
    if (r == 0)
        r = run_chunks(run, rows);
    if (r < 0 && run->reason[0])
        (void)fail_with(r, err, err_size, "GPU: %s", run->reason);
    else if (r < 0)
        (void)fail_with(r, err, err_size,
                        r == -ENOTSUP     ? "a screen does not know a parameter of these sets"
                        : r == -ECANCELED ? "stopped"
                                          : "out of memory");
    if (run->on_device)
        run->api->destroy(run->on_device);
    backtest_screen_history_finish(&run->history);
    free(run->cases);
    free(run->fetched);
    free(run->ranked);
    free(run);
    return r;
}
