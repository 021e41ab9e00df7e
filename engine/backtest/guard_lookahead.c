#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/backtest/guard_bars.h"
#include "engine/backtest/guard_run.h"
#include "engine/universe.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"
#include "exchange/replay/chance.h"
#include "strategy/external.h"

enum { FUTURE_ROWS = 512 /* after a cut */, ROWS_LEAST = 16, THREADS_MAX = 64 };

/* Where the bars are moved to: 28 years on, which have the same calendar until 2100; and some 27 years on,
 * by a multiple of three weeks and of the strategy's whole parameters in bars. A legitimate strategy may
 * depend on the one or the other; memorized dates fit neither. */
enum { MOVES = 2 };

static const int64_t DAY_NS = INT64_C(86400) * 1000000000;
static const int64_t CALENDAR_DAYS = 10227, PERIODS_DAYS = 10080, MOVE_DAYS_MOST = 36525;

struct job {
    enum guard_change change;
    enum backtest_way way;
    size_t cut;
    int move; /* GUARD_MOVED: which */
};

struct search {
    const struct guard_config *config;
    const struct guard_run *whole[2]; /* by the engine, vectorised; NULL: it cannot be run so */
    struct job *jobs;
    size_t n_jobs, next, done;
    pthread_mutex_t lock;
    int r;
    char *err;
    size_t err_size;
    struct guard_lookahead *to;
    int64_t moves_ns[MOVES];
    struct guard_difference moved[2]; /* of each way, the earliest of its moves */
    int n_moved[2];                   /* that make a difference */
};

const char *backtest_guard_change_name(enum guard_change change)
{
    static const char *const names[GUARD_CHANGES] = {
        [GUARD_CUT] = "the bars end there",
        [GUARD_PERTURBED] = "the bars after it are others",
        [GUARD_MOVED] = "the same bars in another year",
        [GUARD_WAYS] = "the same bars vectorised, not bar by bar",
    };
    return change < GUARD_CHANGES ? names[change] : "";
}

static int64_t divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void choose_moves(struct search *search)
{
    const struct guard_config *config = search->config;
    const struct strategy *strategy = config->account->strategy;
    int64_t period_ns = 21 * DAY_NS;
    for (size_t i = 0; i < strategy->n_params; i++) {
        double bars = config->account->params[i];
        if (!strategy->params[i].integer || strategy->params[i].words || bars < 2 ||
            bars > (double)(MOVE_DAYS_MOST * DAY_NS / config->market->interval_ns))
            continue;
        int64_t own_ns = (int64_t)bars * config->market->interval_ns;
        int128_t both_ns = (int128_t)period_ns / divisor(period_ns, own_ns) * own_ns;
        if (both_ns <= MOVE_DAYS_MOST * DAY_NS)
            period_ns = (int64_t)both_ns;
    }
    search->moves_ns[0] = CALENDAR_DAYS * DAY_NS;
    search->moves_ns[1] = (PERIODS_DAYS * DAY_NS + period_ns - 1) / period_ns * period_ns;
}

static int make_bars(const struct search *search, const struct job *job, struct guard_bars *ret)
{
    const struct market *market = search->config->market;
    size_t rows = job->change == GUARD_CUT ? job->cut + 1 : market->rows;
    if (job->change == GUARD_PERTURBED && rows > job->cut + 1 + FUTURE_ROWS)
        rows = job->cut + 1 + FUTURE_ROWS;
    int r = backtest_guard_bars_copy(market, 0, rows, ret);
    if (r < 0)
        return r;
    if (job->change == GUARD_PERTURBED)
        backtest_guard_bars_perturb(ret, job->cut + 1, search->config->seed);
    if (job->change == GUARD_MOVED)
        ret->market.start_ns += search->moves_ns[job->move];
    return 0;
}

/* Which of two differences to report. */
static bool comes_before(const struct guard_difference *a, const struct guard_difference *b)
{
    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns;
    if (a->change != b->change)
        return a->change < b->change;
    return a->way != b->way ? a->way < b->way : a->cut < b->cut;
}

static void keep(struct search *search, const struct guard_difference *found)
{
    if (!search->to->found || comes_before(found, &search->to->first))
        search->to->first = *found;
    search->to->found = true;
}

static void compare(struct search *search, const struct job *job, const struct guard_run *run)
{
    const struct market *market = search->config->market;
    const struct guard_run *whole = search->whole[job->way == BACKTEST_COLUMNS];
    struct guard_shift shift = {.ns = job->change == GUARD_MOVED ? search->moves_ns[job->move] : 0};
    struct guard_difference found = {.change = job->change, .way = job->way, .cut = job->cut};
    if (!backtest_guard_run_differ(whole, market, run, shift, job->cut, &found))
        return;
    found.cut_ns = market->start_ns + (int64_t)(job->cut + 1) * market->interval_ns;
    if (job->change != GUARD_MOVED) {
        keep(search, &found);
        return;
    }
    int way = job->way == BACKTEST_COLUMNS;
    if (search->n_moved[way] == 0 || comes_before(&found, &search->moved[way]))
        search->moved[way] = found;
    if (++search->n_moved[way] == MOVES)
        keep(search, &search->moved[way]);
}

/* False where the engine ran instead of a vectorised run, as at a margin call on bars that changed. */
static bool went_its_way(const struct job *job, const struct guard_run *run)
{
    return run->backtest.accounts[0].way == job->way;
}

/* The external columns that go with such bars. */
static int make_columns(const struct search *search, const struct job *job, struct external_columns *ret)
{
    const struct market *market = search->config->market;
    const struct external_change change = {
        .later_ns = job->change == GUARD_MOVED ? search->moves_ns[job->move] : 0,
        .after_ns = job->change == GUARD_CUT || job->change == GUARD_PERTURBED
                        ? market->start_ns + (int64_t)(job->cut + 1) * market->interval_ns
                        : INT64_MAX,
        .changes = job->change == GUARD_PERTURBED,
        .seed = search->config->seed};
    return search->config->external ? backtest_external_copy(search->config->external, &change, ret) : 0;
}

/* A vectorised run that the bars restart is the engine's. */
static enum backtest_way way_of(const struct job *job)
{
    return job->way == BACKTEST_COLUMNS ? BACKTEST_AUTO : job->way;
}

/* What goes with changed bars: columns are cut and changed with them; of bars that are moved the days, the
 * splits and dividends, and the universe's times are moved, too. */
struct beside {
    struct guard_config config;
    struct external_columns columns;
    struct backtest_action *actions;
    struct guard_calendar days;
    struct engine_universe_rule universe;
};

/* To be finished, whatever is returned. */
static int make_beside(const struct search *search, const struct job *job, struct beside *ret)
{
    struct guard_config *config = &ret->config;
    int64_t ns = search->moves_ns[job->move];
    *ret = (struct beside){.config = *search->config};
    int r = make_columns(search, job, &ret->columns);
    if (config->external)
        config->external = &ret->columns;
    if (r < 0 || job->change != GUARD_MOVED)
        return r;
    if (config->universe) {
        ret->universe = *config->universe;
        ret->universe.at_ns += ns;
        config->universe = &ret->universe;
    }
    ret->actions = backtest_guard_actions_move(config->actions, config->n_actions, ns);
    config->actions = ret->actions;
    if (ret->actions && config->calendar) {
        r = backtest_guard_calendar_move(config->calendar, ns, &ret->days);
        config->calendar = &ret->days.calendar;
    }
    return ret->actions ? r : -ENOMEM;
}

static void finish_beside(struct beside *beside)
{
    backtest_guard_calendar_finish(&beside->days);
    free(beside->actions);
    backtest_external_finish(&beside->columns);
}

static int try_job(struct search *search, const struct job *job, struct guard_run *ret, char *err,
                   size_t err_size)
{
    struct guard_bars bars;
    struct beside beside;
    if (make_bars(search, job, &bars) < 0)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    int r = make_beside(search, job, &beside);
    if (r == 0)
        r = backtest_guard_run_make(&beside.config, &bars.market, beside.config.calendar, 0, way_of(job), ret,
                                    err, err_size);
    else
        fail_with(r, err, err_size, "out of memory");
    finish_beside(&beside);
    backtest_guard_bars_finish(&bars);
    return r;
}

/* With the lock held. */
static void keep_error(struct search *search, int r, const char *err)
{
    const struct guard_config *config = search->config;
    search->done++;
    if (r < 0 && search->r == 0) {
        search->r = r;
        snprintf(search->err, search->err_size, "%s", err);
    }
    double share = (double)search->done / (double)search->n_jobs;
    if (search->r == 0 && config->progress && !config->progress(config->ctx, share))
        search->r = -ECANCELED;
}

static void *work(void *arg)
{
    struct search *search = arg;
    pthread_mutex_lock(&search->lock);
    while (search->r == 0 && search->next < search->n_jobs) {
        const struct job *job = &search->jobs[search->next++];
        struct guard_run run = {0};
        char err[512] = "";
        pthread_mutex_unlock(&search->lock);
        int r = try_job(search, job, &run, err, sizeof err);
        pthread_mutex_lock(&search->lock);
        if (r == 0 && went_its_way(job, &run))
            compare(search, job, &run);
        keep_error(search, r, err);
        backtest_guard_run_finish(&run);
    }
    pthread_mutex_unlock(&search->lock);
    return NULL;
}

static int run_jobs(struct search *search)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int wanted = search->config->threads > 0 ? search->config->threads : cores > 0 ? (int)cores : 1, n = 0;
    pthread_t threads[THREADS_MAX];
    while (n < wanted - 1 && n < THREADS_MAX && pthread_create(&threads[n], NULL, work, search) == 0)
        n++;
    work(search);
    while (n > 0)
        pthread_join(threads[--n], NULL);
    return search->r;
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The first row up to which each symbol has a bar, and the first one bars enough for the indicators. */
static size_t first_cut(const struct guard_config *config)
{
    const struct market *market = config->market;
    size_t first = 0, row = 0, warmup, lookback = 0, bars = 0;
    char err[256];
    for (int s = 0; s < market->n_symbols; s++)
        first = market->series[s].first > first ? market->series[s].first : first;
    if (backtest_guard_history(config->account->strategy, config->account->params, market->interval_ns,
                               &warmup, &lookback, err, sizeof err) < 0)
        lookback = 0; /* the whole run has reported it */
    while (row < market->rows && (bars += market_present(&market->series[0], row)) <= lookback)
        row++;
    return row > first ? row : first;
}

/* Half of the cuts anywhere, half where it decided something, as most differences show there. Returns how
 * many, all different, rising. */
static size_t choose_cuts(const struct guard_config *config, const struct guard_run *whole, size_t *cuts,
                          size_t wanted)
{
    const struct market *market = config->market;
    struct chance chance = {config->seed};
    size_t first = first_cut(config), last = market->rows - 2, n = 0;
    if (first >= last)
        return 0;
    for (size_t i = 0; i < wanted; i++) {
        size_t cut = first + (size_t)(chance_unit(&chance) * (double)(last - first + 1));
        if (i % 2 == 1 && whole->n_decisions > 0) {
            size_t at = (size_t)(chance_unit(&chance) * (double)whole->n_decisions);
            cut = whole->decisions[at].row;
        }
        cuts[i] = cut < first ? first : cut > last ? last : cut;
    }
    qsort(cuts, wanted, sizeof *cuts, by_size);
    for (size_t i = 0; i < wanted; i++)
        if (n == 0 || cuts[n - 1] != cuts[i])
            cuts[n++] = cuts[i];
    return n;
}

static int list_jobs(struct search *search, size_t wanted)
{
    const struct guard_config *config = search->config;
    size_t *cuts = malloc(wanted * sizeof *cuts);
    search->jobs = malloc((4 * wanted + 2 * MOVES) * sizeof *search->jobs);
    if (!cuts || !search->jobs) {
        free(cuts);
        return -ENOMEM;
    }
    size_t n = choose_cuts(config, search->whole[0], cuts, wanted), last = config->market->rows - 1;
    for (int way = 0; way < 2; way++) {
        enum backtest_way which = way == 1 ? BACKTEST_COLUMNS : BACKTEST_ENGINE;
        if (!search->whole[way])
            continue;
        for (size_t i = 0; i < n; i++) {
            search->jobs[search->n_jobs++] = (struct job){GUARD_CUT, which, cuts[i], 0};
            search->jobs[search->n_jobs++] = (struct job){GUARD_PERTURBED, which, cuts[i], 0};
        }
        for (int move = 0; move < MOVES; move++)
            search->jobs[search->n_jobs++] = (struct job){GUARD_MOVED, which, last, move};
    }
    search->to->cuts = n;
    free(cuts);
    return n > 0 ? 0 : -EINVAL;
}

/* Do the engine and the vectorised backtest decide the same? */
static void compare_ways(struct search *search)
{
    const struct market *market = search->config->market;
    struct guard_difference found = {.change = GUARD_WAYS, .way = BACKTEST_COLUMNS, .cut = market->rows - 1};
    if (!search->whole[1] || !backtest_guard_run_differ(search->whole[0], market, search->whole[1],
                                                        (struct guard_shift){0}, found.cut, &found))
        return;
    found.cut_ns = market->start_ns + (int64_t)market->rows * market->interval_ns;
    search->to->first = found;
    search->to->found = true;
}

static int search_all(struct search *search)
{
    size_t wanted = search->config->cuts > 0 ? search->config->cuts : GUARD_CUTS;
    if (wanted > search->config->market->rows)
        wanted = search->config->market->rows;
    search->to->decisions = search->whole[0]->n_decisions;
    search->to->orders = search->whole[0]->backtest.accounts[0].n_orders;
    search->to->columns = search->whole[1] != NULL;
    compare_ways(search);
    int r = list_jobs(search, wanted);
    if (r == -EINVAL)
        snprintf(search->err, search->err_size,
                 "too few bars are left for a cut once the indicators have values: give more");
    if (r == -ENOMEM)
        snprintf(search->err, search->err_size, "out of memory");
    search->to->runs = search->n_jobs + 1 + (search->whole[1] != NULL);
    return r < 0 ? r : run_jobs(search);
}

int backtest_guard_lookahead(const struct guard_config *config, struct guard_lookahead *ret, char *err,
                             size_t err_size)
{
    struct guard_lookahead verdict = {0};
    struct guard_run engine = {0}, columns = {0};
    struct search search = {.config = config,
                            .whole = {&engine, NULL},
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .err = err,
                            .err_size = err_size,
                            .to = &verdict};
    if (config->market->rows < ROWS_LEAST)
        return fail_with(-EINVAL, err, err_size, "%zu bars are too few to cut: at least %d are needed",
                         config->market->rows, ROWS_LEAST);
    choose_moves(&search);
    struct job whole = {GUARD_CHANGES, BACKTEST_ENGINE, 0, 0};
    int r = try_job(&search, &whole, &engine, err, err_size);
    whole.way = BACKTEST_COLUMNS;
    if (r == 0 && (strategy_scans(config->account->strategy) || config->account->strategy->idle)) {
        r = try_job(&search, &whole, &columns, err, err_size);
        if (r == 0 && went_its_way(&whole, &columns))
            search.whole[1] = &columns;
    }
    if (r == 0)
        r = search_all(&search);
    backtest_guard_run_finish(&engine);
    backtest_guard_run_finish(&columns);
    free(search.jobs);
    pthread_mutex_destroy(&search.lock);
    if (r == 0)
        *ret = verdict;
    return r;
}
