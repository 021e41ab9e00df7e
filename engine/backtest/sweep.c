#include "engine/backtest/sweep.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/guard.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

/* Accounts that run together: each has its curve of equity. */
enum { BATCH_FIRST = 8, BATCH_MOST = ACCOUNTS_MAX };
static const size_t BATCH_BYTES = (size_t)256 << 20;

/* The first batch says how long a set takes, unless it was so quick that what it waited for counts: then the
 * second does, of half of what is left at most. */
static const double QUICK_S = 0.1;

/* What ended is kept so often: a set that took longer at once, so that a kill loses about as much. */
static const double KEEP_S = 0.1;

static const char *const metric_names[SWEEP_METRICS + 1] = {
    [SWEEP_SHARPE] = "sharpe",         [SWEEP_SORTINO] = "sortino",
    [SWEEP_CALMAR] = "calmar",         [SWEEP_CAGR] = "cagr",
    [SWEEP_RETURN] = "return",         [SWEEP_MAX_DRAWDOWN] = "max_drawdown",
    [SWEEP_OMEGA] = "omega",           [SWEEP_PROFIT_FACTOR] = "profit_factor",
    [SWEEP_EXPECTANCY] = "expectancy", [SWEEP_SQN] = "sqn",
    [SWEEP_WIN_RATE] = "win_rate",     [SWEEP_DSR] = "dsr",
};

const char *backtest_sweep_metric_name(enum sweep_metric metric)
{
    return metric <= SWEEP_DSR ? metric_names[metric] : "";
}

int backtest_sweep_metric_parse(const char *name)
{
    for (int i = 0; i <= SWEEP_DSR; i++)
        if (strcmp(metric_names[i], name) == 0)
            return i;
    return -EINVAL;
}

struct batch {
    const struct backtest_sweep *sweep;
    const struct backtest_sets *sets;
    struct sweep_results *results;
    struct account_spec *accounts;    /* [cap] */
    size_t *combinations;             /* [cap] */
    uint64_t *known;                  /* a bit of each set that need not be run; NULL: all must be */
    struct sweep_result *rows;        /* of the running batch, [n]; zero until it ended */
    struct sweep_result *pending;     /* [cap]: rows that ended and are to be kept, */
    size_t n_pending;                 /* so many, */
    double kept_s;                    /* and when some were last */
    struct backtest_account *refused; /* [cap]: what each account of the batch was refused */
    double *returns;                  /* NULL, or where its returns go, [n][to - from] */
    pthread_mutex_t lock;             /* of what is pending, and of calls of keep() and progress() */
    atomic_bool failed;
    bool probes;         /* the sets are a few of too many */
    size_t n, cap, next; /* next: the first combination of the batch after this one */
    size_t bars;         /* of the symbol that has most */
    size_t done, all;    /* sets before this batch that are known, ended or need no run, of all */
    double set_s;        /* seconds that a set of the last batch took */
};

/* Are there fewer bars than its indicators need for a first value? */
static bool too_short(const struct batch *batch, const struct account_spec *spec)
{
    size_t warmup, lookback;
    char err[256];
    return backtest_guard_history(spec->strategy, spec->params, batch->sweep->config->market->interval_ns,
                                  &warmup, &lookback, err, sizeof err) == 0 &&
           lookback >= batch->bars;
}

/* The bars of the symbol that has most, up to the last row. */
static size_t most_bars(const struct backtest_config *config)
{
    size_t most = 0;
    for (int s = 0; s < config->market->n_symbols; s++) {
        size_t n = 0;
        for (size_t row = 0; row < config->to; row++)
            n += market_present(&config->market->series[s], row);
        most = n > most ? n : most;
    }
    return most;
}

static bool is_known(const struct batch *batch, size_t i)
{
    return batch->known && batch->known[i / 64] >> (i % 64) & 1;
}

/* Combinations from `next` on, without the known, the contradictory ones and those that the bars are too few
 * for. */
static void gather(struct batch *batch, size_t wanted)
{
    const struct backtest_sweep *sweep = batch->sweep;
    struct account_spec spec = *sweep->account;
    batch->n = 0;
    for (; batch->next < batch->all && batch->n < wanted; batch->next++) {
        if (is_known(batch, batch->next))
            continue;
        if (!backtest_sets_get(batch->sets, spec.strategy, batch->next, spec.params)) {
            batch->results->skipped++;
            batch->done++;
            continue;
        }
        if (too_short(batch, &spec)) {
            batch->results->too_short++;
            batch->done++;
            continue;
        }
        snprintf(spec.name, sizeof spec.name, "%zu", batch->next);
        batch->accounts[batch->n] = spec;
        batch->combinations[batch->n++] = batch->next;
    }
}

/* Under the lock. */
static void keep(struct batch *batch)
{
    if (batch->n_pending > 0 && batch->sweep->keep)
        batch->sweep->keep(batch->sweep->ctx, batch->pending, batch->n_pending);
    batch->n_pending = 0;
    batch->kept_s = clock_now_s();
}

/* What was not kept at once is, at the latest, before it is said that it is done. */
static bool show(void *ctx, double share)
{
    struct batch *batch = ctx;
    double done = (double)batch->done + share * (double)batch->n;
    pthread_mutex_lock(&batch->lock);
    if (batch->n_pending > 0 && clock_now_s() - batch->kept_s >= KEEP_S)
        keep(batch);
    bool wanted =
        !batch->sweep->progress || batch->sweep->progress(batch->sweep->ctx, done / (double)batch->all);
    pthread_mutex_unlock(&batch->lock);
    return wanted;
}

static void add_shortage(struct backtest_shortage *to, const struct backtest_shortage *from)
{
    if (from->n == 0)
        return;
    if (to->n == 0)
        to->symbol = from->symbol;
    to->others |= from->others || from->symbol != to->symbol;
    to->n += from->n;
}

static void add_refused(struct backtest_account *to, const struct backtest_account *from)
{
    for (int why = 0; why < ORDER_REASONS; why++)
        to->refused[why] += from->refused[why];
    add_shortage(&to->short_of_cash, &from->short_of_cash);
    add_shortage(&to->short_of_lot, &from->short_of_lot);
}

/* The figures of one account. */
static int measure(struct batch *batch, const struct backtest *run, size_t i, struct sweep_result *ret)
{
    struct backtest_config config = *batch->sweep->config;
    size_t rows = config.to - config.from;
    double *own = batch->returns ? batch->returns + i * rows : malloc(rows * sizeof *own);
    config.accounts = batch->accounts;
    config.n_accounts = (int)batch->n;
    int r = own ? backtest_sweep_row(&config, run, (int)i, batch->combinations[i], own, ret) : -ENOMEM;
    if (!batch->returns)
        free(own);
    return r;
}

/* On the thread that ran it. */
static void ended(void *ctx, const struct backtest *run, int account, double seconds)
{
    struct batch *batch = ctx;
    struct sweep_result row;
    if (measure(batch, run, (size_t)account, &row) < 0) {
        atomic_store(&batch->failed, true);
        return;
    }
    pthread_mutex_lock(&batch->lock);
    batch->rows[account] = row;
    add_refused(&batch->refused[account], &run->accounts[account]);
    batch->pending[batch->n_pending++] = row;
    if (seconds >= KEEP_S || clock_now_s() - batch->kept_s >= KEEP_S)
        keep(batch);
    pthread_mutex_unlock(&batch->lock);
}

/* Of a run that was stopped or failed the rows that ended are kept, too. */
static int run_batch(struct batch *batch, char *err, size_t err_size)
{
    struct backtest_config config = *batch->sweep->config;
    struct backtest backtest = {0};
    config.accounts = batch->accounts;
    config.n_accounts = (int)batch->n;
    config.progress = show;
    config.ended = ended;
    config.ctx = batch;
    config.decided = NULL; /* whose `ctx` this is not */
    config.restarts = NULL;
    memset(batch->rows, 0, batch->n * sizeof *batch->rows);
    memset(batch->refused, 0, batch->n * sizeof *batch->refused);
    batch->kept_s = clock_now_s();
    int r = backtest_run(&config, &backtest, err, err_size);
    keep(batch);
    for (size_t i = 0; i < batch->n; i++)
        add_refused(&batch->results->refused, &batch->refused[i]);
    if (atomic_load(&batch->failed))
        r = fail_with(-ENOMEM, err, err_size, "out of memory");
    backtest_finish(&backtest);
    return r;
}

/* Sets to run after this batch: neither known nor contradictory. */
static size_t left_of(const struct batch *batch)
{
    struct account_spec spec = *batch->sweep->account;
    size_t left = 0;
    for (size_t i = batch->next; i < batch->sets->n; i++)
        left += !is_known(batch, i) && backtest_sets_get(batch->sets, spec.strategy, i, spec.params);
    return left;
}

static int start(const struct batch *batch, size_t tried, char *err, size_t err_size)
{
    const struct backtest_sweep *sweep = batch->sweep;
    const size_t left = left_of(batch);
    if ((left > 0 || batch->probes) && sweep->started &&
        !sweep->started(sweep->ctx, tried, left, batch->set_s))
        return fail_with(-ECANCELED, err, err_size, "it was not wanted");
    if (batch->probes)
        return fail_with(-EINVAL, err, err_size, "more than 1000000 combinations: wider steps are needed");
    return 0;
}

/* Moves the batch's rows that ended together; how many. */
static size_t close_up(struct batch *batch)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++)
        if (batch->rows[i].exact)
            batch->rows[n++] = batch->rows[i];
    return n;
}

/* At most so many sets are of the next batch: of the two that may be timed, or of any other. */
static size_t wanted_of(const struct batch *batch, bool noted, int batches)
{
    size_t wanted = batch->cap;
    if (!noted)
        wanted = batches == 0 ? BATCH_FIRST : left_of(batch) / 2;
    wanted = wanted > BATCH_FIRST ? wanted : BATCH_FIRST;
    return wanted < batch->cap ? wanted : batch->cap;
}

static int run_timed(struct batch *batch, char *err, size_t err_size)
{
    const double began_s = clock_now_s();
    if (batch->n == 0)
        return 0;
    int r = run_batch(batch, err, err_size);
    batch->set_s = (clock_now_s() - began_s) / (double)batch->n;
    return r;
}

static int run_all(struct batch *batch, char *err, size_t err_size)
{
    struct sweep_results *results = batch->results;
    bool noted = false;
    int r = 0;
    for (int batches = 0; r == 0 && batch->next < batch->all; batches += !noted) {
        gather(batch, wanted_of(batch, noted, batches));
        batch->rows = results->results + results->n;
        r = run_timed(batch, err, err_size);
        const bool quick = batch->set_s * (double)batch->n < QUICK_S;
        results->n += close_up(batch);
        batch->done += batch->n;
        batch->n = 0;
        if (r == 0 && batch->next < batch->all && !show(batch, 0))
            r = -ECANCELED;
        if (noted || (batches == 0 && quick && left_of(batch) > BATCH_FIRST))
            continue;
        if (r == 0 && (r = start(batch, results->n - results->known, err, err_size)) < 0)
            return r;
        noted = true;
    }
    results->stopped = r == -ECANCELED;
    return results->stopped ? 0 : r;
}

static int by_combination(const void *a, const void *b)
{
    const struct sweep_result *x = a, *y = b;
    return (x->combination > y->combination) - (x->combination < y->combination);
}

/* What need not be run again. */
static int take_known(struct batch *batch)
{
    const struct backtest_sweep *sweep = batch->sweep;
    struct sweep_results *results = batch->results;
    batch->known = calloc(batch->all / 64 + 1, sizeof *batch->known);
    if (!batch->known)
        return -ENOMEM;
    size_t n = sweep->known(sweep->ctx, results->results, batch->all);
    for (size_t i = 0; i < n; i++) {
        size_t at = results->results[i].combination;
        if (at >= batch->all || is_known(batch, at))
            continue;
        batch->known[at / 64] |= UINT64_C(1) << (at % 64);
        results->results[results->n++] = results->results[i];
    }
    results->known = batch->done = results->n;
    return 0;
}

static size_t batch_cap(const struct backtest_config *config)
{
    size_t cap = BATCH_BYTES / ((config->to - config->from) * sizeof(double));
    return cap < 1 ? 1 : cap > BATCH_MOST ? BATCH_MOST : cap;
}

static void batch_finish(struct batch *batch)
{
    free(batch->accounts);
    free(batch->combinations);
    free(batch->pending);
    free(batch->refused);
    free(batch->known);
}

/* Room for batches of at most `most` accounts. */
static int batch_begin(struct batch *batch, size_t most)
{
    size_t cap = batch_cap(batch->sweep->config);
    batch->cap = cap < most ? cap : most;
    batch->accounts = calloc(batch->cap, sizeof *batch->accounts);
    batch->combinations = calloc(batch->cap, sizeof *batch->combinations);
    batch->pending = calloc(batch->cap, sizeof *batch->pending);
    batch->refused = calloc(batch->cap, sizeof *batch->refused);
    return batch->accounts && batch->combinations && batch->pending && batch->refused ? 0 : -ENOMEM;
}

static int run_sets(const struct backtest_sweep *sweep, const struct backtest_sets *sets, bool probes,
                    struct sweep_results *results, char *err, size_t err_size)
{
    struct batch batch = {.sweep = sweep,
                          .sets = sets,
                          .results = results,
                          .bars = most_bars(sweep->config),
                          .all = sets->n,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .probes = probes};
    results->results = calloc(batch.all ? batch.all : 1, sizeof *results->results);
    int r = results->results ? batch_begin(&batch, batch.all ? batch.all : 1) : -ENOMEM;
    if (r == 0 && sweep->known && !probes)
        r = take_known(&batch);
    if (r == -ENOMEM)
        snprintf(err, err_size, "out of memory");
    if (r == 0)
        r = run_all(&batch, err, err_size);
    batch_finish(&batch);
    return r;
}

/* Of more sets than can be run a few show how long all of them would take. */
static int run_probe(const struct backtest_sweep *sweep, struct sweep_results *results, char *err,
                     size_t err_size)
{
    enum { PROBES = 4096 };
    const struct backtest_sampling sampling = {.n = PROBES, .seed = 1};
    struct backtest_sets few;
    char why[BACKTEST_GRID_ERROR_MAX];
    if (!sweep->started)
        return fail_with(-EINVAL, err, err_size, "more than 1000000 combinations: wider steps are needed");
    int r = backtest_sets_open(sweep->grid, &sampling, &few, why);
    if (r < 0)
        return fail_with(r, err, err_size, "%s", why);
    r = run_sets(sweep, &few, true, results, err, err_size);
    backtest_sets_finish(&few);
    return r;
}

int backtest_sweep_run(const struct backtest_sweep *sweep, struct sweep_results *ret, char *err,
                       size_t err_size)
{
    struct backtest_sets all = {.grid = sweep->grid, .n = backtest_grid_count(sweep->grid)};
    const struct backtest_sets *sets = sweep->sets ? sweep->sets : &all;
    size_t rows = sweep->config->to - sweep->config->from;
    struct sweep_results results = {.combinations = sets->n,
                                    .block_rows = rows / SWEEP_BLOCKS > 1 ? rows / SWEEP_BLOCKS : 0};
    int r = -ENOTSUP;
    if (sweep->top > 0 && sets->n <= BACKTEST_GRID_MOST)
        r = backtest_sweep_screen(sweep, sets, ret, err, err_size);
    if (r != -ENOTSUP || sweep->device)
        return r;
    r = sets->n > BACKTEST_GRID_MOST ? run_probe(sweep, &results, err, err_size)
                                     : run_sets(sweep, sets, false, &results, err, err_size);
    if (r < 0) {
        backtest_sweep_finish(&results);
        return r;
    }
    qsort(results.results, results.n, sizeof *results.results, by_combination);
    results.exact = results.n;
    *ret = results;
    return 0;
}

int backtest_sweep_some(const struct backtest_sweep *sweep, const size_t *combinations, size_t n,
                        struct sweep_result *rows, double *returns, char *err, size_t err_size)
{
    struct backtest_sets all = {.grid = sweep->grid};
    struct sweep_results results = {0};
    struct batch batch = {.sweep = sweep,
                          .sets = sweep->sets ? sweep->sets : &all,
                          .results = &results,
                          .all = n,
                          .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t length = sweep->config->to - sweep->config->from;
    int r = batch_begin(&batch, n ? n : 1);
    if (r < 0)
        snprintf(err, err_size, "out of memory");
    memset(rows, 0, n * sizeof *rows);
    while (r == 0 && batch.done < n) {
        struct account_spec spec = *sweep->account;
        batch.n = 0;
        for (size_t i = batch.done; i < n && batch.n < batch.cap; i++) {
            backtest_sets_get(batch.sets, spec.strategy, combinations[i], spec.params);
            snprintf(spec.name, sizeof spec.name, "%zu", combinations[i]);
            batch.accounts[batch.n] = spec;
            batch.combinations[batch.n++] = combinations[i];
        }
        batch.rows = rows + batch.done;
        batch.returns = returns ? returns + batch.done * length : NULL;
        r = run_batch(&batch, err, err_size);
        batch.done += batch.n;
    }
    batch_finish(&batch);
    return r;
}

void backtest_sweep_finish(struct sweep_results *results)
{
    free(results->results);
    *results = (struct sweep_results){0};
}

struct row_order {
    enum sweep_metric metric;
    size_t min_trades;
};

static double value_of(const struct sweep_result *row, enum sweep_metric metric)
{
    return metric == SWEEP_DSR ? row->dsr_errors : row->metrics[metric];
}

static int by_metric(const void *a, const void *b, void *ctx)
{
    const struct sweep_result *x = a, *y = b;
    const struct row_order *order = ctx;
    double p = value_of(x, order->metric), q = value_of(y, order->metric);
    bool few = x->trades < order->min_trades, fewer = y->trades < order->min_trades;
    if (few != fewer)
        return few ? 1 : -1;
    if (isnan(p) != isnan(q))
        return isnan(p) ? 1 : -1;
    if (!isnan(p) && p != q)
        return p > q ? -1 : 1;
    return (x->combination > y->combination) - (x->combination < y->combination);
}

void backtest_sweep_sort(struct sweep_results *results, enum sweep_metric metric)
{
    struct row_order order = {metric, results->min_trades};
    qsort_r(results->results, results->n, sizeof *results->results, by_metric, &order);
}
