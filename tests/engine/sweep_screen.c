/* A sweep with a screen against the same without: the best N are the same combinations in the same order,
 * with the same digits, whatever the metric; what is marked exact is; what is not lies within the error.
 * Single backtests of the best have these digits, too. With a module all of it again with the screen on its
 * device.
 *
 * usage: test-sweep-screen [--long] [MODULE]    long: the best 1,000 of 20,000 on 26,000 bars */
#include <errno.h>

#include "engine/backtest/luck.h"
#include "engine/backtest/report.h"
#include "engine/backtest/screen/screen.h"
#include "engine/backtest/sweep.h"
#include "indicators_gpu/module.h"
#include "strategy/metrics.h"
#include "strategy/strategy.h"
#include "tests/counts.h"
#include "tests/engine/synthetic_market.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (INT64_C(60) * 1000000000)

struct job {
    const char *strategy, *axes[3];
    size_t top, rows, rows_part;
    enum sweep_metric metric;
    size_t min_trades;
};

#ifdef __SANITIZE_THREAD__ /* the threads are the same in each of them */
enum { PART = 6, ON_DEVICE = 2 };
#else
enum { PART = 2, ON_DEVICE = COUNTS_PART ? 5 : 10 };
#endif

static const struct job jobs[] = {
    {"sma-cross", {"fast=3:30", "slow=20:60:2", NULL}, 40, 6000, 2500, SWEEP_SHARPE},
    {"sma-cross", {"average=sma,ema", "fast=5:20:3", "slow=21:60:2"}, 10, 6000, 2500, SWEEP_SORTINO},
    {"sma-cross-rsi", {"fast=5:20:3", "slow=21:40:3", "stop_atr=0,1,2"}, 25, 4000, 2500, SWEEP_CALMAR},
    {"sma-cross-rsi-risk", {"fast=5:20:3", "slow=21:40:3", "profit_atr=0,2,4"}, 25, 4000, 2500, SWEEP_OMEGA},
    {"sma-cross-rsi-risk", {"fast=3:9", "slow=5:40:5", "stop_atr=1,2"}, 25, 4000, 2500, SWEEP_SQN},
    {"triple-confirmation", {"fast=5:20:3", "slow=21:40:3", "rsi_min=40,50"}, 25, 4000, 2500, SWEEP_RETURN},
    {"triple-confirmation", {"macd_fast=5:9", "rsi=7:21:2", "atr=7,14"}, 25, 4000, 2500, SWEEP_MAX_DRAWDOWN},
    /* Their Sharpe ratios vary more than luck's; less; and hardly at all. */
    {"sma-cross", {"fast=3:30", "slow=20:60:2", NULL}, 40, 6000, 2500, SWEEP_DSR, 40},
    {"sma-cross", {"fast=50:70", "slow=200:230", NULL}, 10, 6000, 2500, SWEEP_DSR, 3},
    {"sma-cross-rsi-risk", {"fast=5:20:3", "slow=21:40:3", "profit_atr=0,2,4"}, 25, 4000, 2500, SWEEP_DSR},
    {"sma-cross", {"fraction=0.1:0.9:0.01", "slow=20:22", NULL}, 60, 4000, 2500, SWEEP_DSR},
    {"sma-cross", {"fast=5:40:5", "slow=300:2400:300", NULL}, 60, 2300, 2300, SWEEP_PROFIT_FACTOR}, /* too few
                                                                                                       bars */
};
/* So many that two of them mostly change places by what luck would show. */
static const struct job crowded = {
    "sma-cross", {"fast=20:90", "slow=100:200", NULL}, 6000, 1500, 1500, SWEEP_DSR, 2};
static const struct job crowded_part = {
    "sma-cross", {"fast=20:60", "slow=100:170", NULL}, 2400, 1500, 1500, SWEEP_DSR, 2};
static const struct job long_jobs[] = {
    {"sma-cross", {"fast=1:100", "slow=101:300", NULL}, 1000, 26000, 26000, SWEEP_SHARPE},
    {"sma-cross", {"fast=1:100", "slow=101:300", NULL}, 1000, 26000, 26000, SWEEP_DSR},
    {"sma-cross-rsi-risk",
     {"fast=1:50", "slow=60:250:10", "stop_atr=1:10:0.5"},
     1000,
     26000,
     26000,
     SWEEP_DSR},
    {"triple-confirmation",
     {"fast=1:50", "slow=60:250:10", "rsi_min=31:49"},
     1000,
     26000,
     26000,
     SWEEP_CALMAR},
};

/* What a sweep with a screen says while it runs. */
struct said {
    double share;            /* of the screen */
    size_t started, to_come; /* calls; sets that they said would still be run */
};

static bool screening(void *ctx, double share)
{
    struct said *said = ctx;
    CHECK(share > said->share && share <= 1 && said->started == 0);
    said->share = share;
    return true;
}

static bool started(void *ctx, size_t tried, size_t left, double set_s)
{
    struct said *said = ctx;
    CHECK(said->share == 1 && tried > 0 && left > 0 && set_s > 0);
    said->started++;
    said->to_come += left;
    return true;
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check_row(const struct sweep_result *row, const struct sweep_result *exact)
{
    CHECK_INT(row->combination, exact->combination);
    CHECK(row->exact);
    for (int k = 0; k < SWEEP_METRICS; k++)
        CHECK(same(row->metrics[k], exact->metrics[k]));
    CHECK(same(row->final_equity, exact->final_equity) && same(row->fees, exact->fees) &&
          same(row->exposure, exact->exposure));
    CHECK_INT(row->trades, exact->trades);
    CHECK_INT(row->fills, exact->fills);
    CHECK_INT(row->refused, exact->refused);
    CHECK(same(row->skew, exact->skew) && same(row->kurtosis, exact->kurtosis));
    CHECK(memcmp(row->block_mean, exact->block_mean, sizeof row->block_mean) == 0);
    CHECK(memcmp(row->block_squares, exact->block_squares, sizeof row->block_squares) == 0);
}

/* The deflated Sharpe ratio hangs on all Sharpe ratios, unless they vary more than luck's. */
static void check_deflated(const struct sweep_result *row, const struct sweep_result *exact,
                           const struct backtest_luck *luck)
{
    bool whole = luck->deviation > 1.01 * luck->deviation_luck;
    CHECK(whole ? same(row->dsr, exact->dsr) && same(row->dsr_errors, exact->dsr_errors)
                : same(row->dsr, exact->dsr) || fabs(row->dsr - exact->dsr) < 1e-5);
}

/* By itself, the combination gives the same digits. */
static void check_single(const struct backtest_sweep *sweep, const struct sweep_result *row)
{
    const struct report_config options = {.benchmark = REPORT_BENCHMARK_NONE};
    struct backtest_config config = *sweep->config;
    struct account_spec account = *sweep->account;
    struct backtest backtest;
    struct backtest_report report;
    char err[256];
    CHECK(backtest_grid_set(sweep->grid, account.strategy, row->combination, account.params));
    config.accounts = &account;
    config.n_accounts = 1;
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), 0);
    CHECK_INT(backtest_report(&config, &backtest, 0, &options, &report), 0);
    CHECK(same(row->metrics[SWEEP_SHARPE], report.metrics.sharpe));
    CHECK(same(row->metrics[SWEEP_MAX_DRAWDOWN], report.metrics.max_drawdown));
    CHECK(same(row->final_equity, report.final_equity));
    backtest_report_finish(&report);
    backtest_finish(&backtest);
}

/* Rows that were not run again: sorted by combination, as those of the exhaustive run. */
static void check_rest(const struct sweep_results *screened, const struct sweep_results *all)
{
    size_t outside = 0;
    for (size_t i = 0; i < screened->n; i++) {
        const struct sweep_result *row = &screened->results[i], *exact = &all->results[i];
        CHECK_INT(row->combination, exact->combination);
        CHECK_INT(row->trades, exact->trades);
        double is = exact->metrics[SWEEP_SHARPE], error = backtest_screen_error(SWEEP_SHARPE, is);
        outside += !(fabs(row->metrics[SWEEP_SHARPE] - is) <= error) &&
                   !same(row->metrics[SWEEP_SHARPE], is) && !backtest_screen_uncertain(is);
        outside += fabs(row->skew - exact->skew) > SCREEN_MOMENTS_ERROR * (1 + fabs(exact->skew));
        outside += fabs(row->kurtosis - exact->kurtosis) > SCREEN_MOMENTS_ERROR * (1 + exact->kurtosis);
        for (int b = 0; b < SWEEP_BLOCKS; b++)
            outside += fabs(row->block_mean[b] - exact->block_mean[b]) > 1e-8 ||
                       fabs(row->block_squares[b] - exact->block_squares[b]) >
                           1e-5 * exact->block_squares[b] + 1e-12;
    }
    CHECK(outside * 1000 <= screened->n);
}

static struct gpu_module *device; /* whose module is an argument; NULL: none */
static size_t jobs_on_device;

/* With the screen on the device: the same best, in their order; of the rest the same trades. */
static void check_device(const struct backtest_sweep *with, const struct sweep_results *screened,
                         const struct sweep_results *all, size_t ranked, size_t rows)
{
    struct backtest_sweep sweep = *with;
    struct sweep_results on_device;
    struct backtest_luck luck;
    struct said said = {0};
    char err[256];
    sweep.device = device;
    sweep.ctx = &said;
    CHECK_INT(backtest_sweep_run(&sweep, &on_device, err, sizeof err), 0);
    CHECK_INT(on_device.n, screened->n);
    CHECK_INT(on_device.skipped, screened->skipped);
    CHECK_INT(on_device.too_short, screened->too_short);
    CHECK(said.share == 1 && on_device.exact >= ranked);
    on_device.min_trades = sweep.min_trades;
    CHECK_INT(
        backtest_luck(&on_device, rows, metrics_periods_per_year(sweep.config->market->interval_ns), &luck),
        0);
    backtest_sweep_sort(&on_device, sweep.metric);
    for (size_t i = 0; i < ranked; i++)
        check_row(&on_device.results[i], &all->results[i]);
    printf("    on the device: %zu run exactly, here %zu\n", on_device.exact, screened->exact);
    backtest_sweep_finish(&on_device);
    jobs_on_device++;
}

/* Whether all had to be run, though not all are asked for. */
static bool run_job(struct random *random, const struct job *job)
{
    static struct synthetic_market made;
    const struct made_walk walk = {.gaps_permille = 3,
                                   .gap_longest = 9,
                                   .steps = 40,
                                   .tick = E8 / 100,
                                   .start = E8 * 300,
                                   .step = E8 / 100000};
    const struct strategy *strategy = strategy_find(job->strategy);
    struct account_spec account = {.name = "sweep",
                                   .currency = "USDT",
                                   .currency_scale = 8,
                                   .cash = 10000 * E8,
                                   .rules = {.fees = {1000, 1000}},
                                   .strategy = strategy};
    struct backtest_grid grid = {0};
    char err[BACKTEST_GRID_ERROR_MAX];
    size_t rows = COUNTS_PART ? job->rows_part : job->rows;
    made_open(&made, random, &walk, 1, rows, 5 * MINUTE_NS);
    struct backtest_config config = {
        .market = &made.market, .to = rows, .slippage_e6 = 100, .threads = 2, .way = BACKTEST_COLUMNS};
    strategy_defaults(strategy, account.params);
    for (int i = 0; i < 3 && job->axes[i]; i++)
        CHECK_INT(backtest_grid_add(&grid, strategy, job->axes[i], err), 0);
    struct backtest_sweep sweep = {.config = &config,
                                   .account = &account,
                                   .grid = &grid,
                                   .metric = job->metric,
                                   .min_trades = job->min_trades};
    struct sweep_results all, screened;
    CHECK_INT(backtest_sweep_run(&sweep, &all, err, sizeof err), 0);
    CHECK_INT(all.exact, all.n);
    struct said said = {0};
    sweep.top = job->top;
    sweep.screening = screening;
    sweep.started = started;
    sweep.ctx = &said;
    CHECK_INT(backtest_sweep_run(&sweep, &screened, err, sizeof err), 0);
    /* All that is run was said, but the first eight before each time. */
    CHECK(said.share == 1 && screened.exact <= said.to_come + 8 * (said.started + 1));
    CHECK_INT(screened.n, all.n);
    CHECK_INT(screened.combinations, all.combinations);
    CHECK_INT(screened.skipped, all.skipped);
    CHECK_INT(screened.too_short, all.too_short);
    CHECK(screened.widened >= 1 && screened.exact <= all.n);
    CHECK_INT(screened.block_rows, all.block_rows);
    check_rest(&screened, &all);
    struct backtest_luck luck, again;
    double periods = metrics_periods_per_year(made.market.interval_ns);
    all.min_trades = screened.min_trades = job->min_trades;
    CHECK_INT(backtest_luck(&all, rows, periods, &luck), 0);
    CHECK_INT(backtest_luck(&screened, rows, periods, &again), 0);
    CHECK_NEAR(again.deviation, luck.deviation, 1e-3 * luck.deviation + 1e-5);
    CHECK_INT(again.few, luck.few);
    size_t ranked = all.n - luck.few < job->top ? all.n - luck.few : job->top;
    backtest_sweep_sort(&all, job->metric);
    backtest_sweep_sort(&screened, job->metric);
    for (size_t i = 0; i < ranked; i++) {
        check_row(&screened.results[i], &all.results[i]);
        check_deflated(&screened.results[i], &all.results[i], &luck);
    }
    for (size_t i = 0; i < 3 && i < ranked; i++)
        check_single(&sweep, &screened.results[i]);
    printf("%-20s %-13s top %zu of %zu: %zu run exactly, error x %.3g; %zu contradictory, %zu too short; "
           "deviation %.3f of %.3f, PBO %.4f %.4f\n",
           job->strategy, backtest_sweep_metric_name(job->metric), job->top, screened.n, screened.exact,
           screened.widened, screened.skipped, screened.too_short, luck.deviation, luck.deviation_luck,
           luck.pbo, again.pbo);
    if (device)
        check_device(&sweep, &screened, &all, ranked, rows);
    bool every = screened.exact == screened.n && job->top < screened.n;
    CHECK(!every || said.started > 1 || screened.n < job->top + 8);
    backtest_sweep_finish(&all);
    backtest_sweep_finish(&screened);
    backtest_grid_finish(&grid);
    made_close(&made);
    return every;
}

/* An account that is not covered is run exactly, without a word. */
static void test_uncovered(struct random *random)
{
    static struct synthetic_market made;
    const struct made_walk walk = {.steps = 40, .tick = E8 / 100, .start = E8 * 300, .step = E8 / 100000};
    struct account_spec account = {.name = "sweep",
                                   .currency = "USDT",
                                   .currency_scale = 8,
                                   .cash = 10000 * E8,
                                   .strategy = strategy_find("sma-cross")};
    struct backtest_grid grid = {0};
    char err[BACKTEST_GRID_ERROR_MAX];
    made_open(&made, random, &walk, 2, 400, MINUTE_NS);
    struct backtest_config config = {.market = &made.market, .to = 400, .threads = 1};
    strategy_defaults(account.strategy, account.params);
    CHECK_INT(backtest_grid_add(&grid, account.strategy, "fast=3:9", err), 0);
    const struct backtest_sweep sweep = {.config = &config, .account = &account, .grid = &grid, .top = 2};
    const struct backtest_sets sets = {.grid = &grid, .n = 7};
    struct sweep_results results;
    CHECK_INT(backtest_sweep_screen(&sweep, &sets, &results, err, sizeof err), -ENOTSUP);
    CHECK_INT(backtest_sweep_run(&sweep, &results, err, sizeof err), 0);
    CHECK_INT(results.exact, 7);
    CHECK(results.widened == 0);
    backtest_sweep_finish(&results);
    if (device) { /* but not where the screen was to be on a device */
        struct backtest_sweep on_device = sweep;
        on_device.device = device;
        CHECK_INT(backtest_sweep_run(&on_device, &results, err, sizeof err), -ENOTSUP);
        CHECK_STR(err, "this account must be run exactly: several symbols share its cash");
    }
    backtest_grid_finish(&grid);
    made_close(&made);
}

int main(int argc, char **argv)
{
    bool longer = getenv("PAPERTAPE_LONG") || (argc > 1 && strcmp(argv[1], "--long") == 0);
    struct random random = random_seeded("sweep_screen", 32);
    /* Apart, so that the tries do not hang on how many jobs are drawn before: by itself the first is one. */
    struct random crowd = {random.state + 970};
    const char *module = argc > 1 && strncmp(argv[argc - 1], "--", 2) != 0 ? argv[argc - 1] : NULL;
    char reason[GPU_REASON_MAX];
    if (module && gpu_module_open(module, &device, reason, sizeof reason) < 0) {
        fprintf(stderr, "%s\n", reason);
        return EXIT_FAILURE;
    }
    test_uncovered(&random);
    const size_t n_jobs = sizeof jobs / sizeof *jobs;
    const size_t stride = n_jobs / (size_t)counts_of("sweeps", (int)n_jobs, (int)n_jobs / PART);
    for (size_t i = stride - 1; i < n_jobs; i += stride)
        run_job(&random, &jobs[i]);
    bool every = false;
    for (int i = 0; i < 12 && !every; i++)
        every = run_job(&crowd, COUNTS_PART ? &crowded_part : &crowded);
    CHECK(every);
    for (size_t i = 0; longer && i < sizeof long_jobs / sizeof *long_jobs; i++)
        run_job(&random, &long_jobs[i]);
    CHECK(!module || jobs_on_device > ON_DEVICE);
    gpu_module_close(device);
    return check_done("sweep_screen");
}
