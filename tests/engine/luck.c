/* What of a sweep's best is luck: on noise, the best of many is hardly ever more than luck, and a planted
 * edge nearly always is; block sums give what the returns do; and what is beside a set.
 *
 * Counts: 100 seeds of noise with 100,000 sets each, 20 of an edge, with PAPERTAPE_LONG; else a part. */
#include <errno.h>

#include "engine/backtest/luck.h"
#include "strategy/metrics.h"
#include "strategy/metrics/deflate.h"
#include "strategy/metrics/overfit.h"
#include "tests/check.h"
#include "tests/counts.h"
#include "tests/random.h"

enum { DAYS = 4 * 365, YEAR = 365 };

/* About normal, deviation 1: the sum of four bytes, twice of a draw. Kurtosis 2.7. */
static const double bytes_mean = 510, bytes_deviation = 147.7954; /* sqrt(4 (256^2 - 1) / 12) */

static double of_bytes(uint64_t bits)
{
    double sum = (double)((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24 & 255));
    return (sum - bytes_mean) / bytes_deviation;
}

static void draw(struct random *random, double *to, size_t n)
{
    for (size_t i = 0; i < n; i += 2) {
        uint64_t bits = random_next(random);
        to[i] = of_bytes(bits);
        to[i + 1] = of_bytes(bits >> 32);
    }
}

/* A row from its returns, as backtest_sweep_row() makes one. */
static struct sweep_result row_of(size_t i, const double *returns)
{
    double mean = 0, m2 = 0, m3 = 0, m4 = 0, n = DAYS;
    for (int t = 0; t < DAYS; t++)
        mean += returns[t];
    mean /= n;
    for (int t = 0; t < DAYS; t++) {
        double d = returns[t] - mean, d2 = d * d;
        m2 += d2;
        m3 += d2 * d;
        m4 += d2 * d2;
    }
    double variance = m2 / n;
    struct sweep_result row = {.combination = i,
                               .trades = 100,
                               .exact = true,
                               .skew = m3 / n / (variance * sqrt(variance)),
                               .kurtosis = m4 / n / (variance * variance)};
    row.metrics[SWEEP_SHARPE] = mean / sqrt(m2 / (n - 1)) * sqrt(YEAR);
    return row;
}

/* Is the best of `sets` more than luck? The first `skilled` have a true Sharpe ratio, a year, of `sharpe`,
 * and most of their returns in common, as neighbours on a grid do. */
static bool is_significant(uint64_t seed, size_t sets, size_t skilled, double sharpe)
{
    struct random random = {seed};
    struct sweep_results results = {.combinations = sets, .n = sets, .min_trades = 10};
    static double common[DAYS], returns[DAYS];
    struct backtest_luck luck;
    results.results = calloc(sets, sizeof *results.results);
    draw(&random, common, DAYS);
    for (size_t i = 0; results.results && i < sets; i++) {
        draw(&random, returns, DAYS);
        for (int t = 0; i < skilled && t < DAYS; t++)
            returns[t] = sqrt(0.9) * common[t] + sqrt(0.1) * returns[t] + sharpe / sqrt(YEAR);
        results.results[i] = row_of(i, returns);
    }
    CHECK_INT(backtest_luck(&results, DAYS, YEAR, &luck), 0);
    CHECK_INT(luck.trials, sets);
    backtest_sweep_sort(&results, SWEEP_DSR);
    bool more = backtest_luck_verdict(&results) == BACKTEST_VERDICT_MORE;
    if (skilled > 0 && more)
        CHECK(results.results[0].combination < skilled);
    backtest_sweep_finish(&results);
    return more;
}

static void test_noise(void)
{
    bool whole = getenv("PAPERTAPE_LONG") != NULL;
    int seeds = whole ? counts_of("seeds of noise", 100, 20) : 10, found = 0;
    size_t sets = whole ? 100000 : 2000;
    for (int seed = 1; seed <= seeds; seed++)
        found += is_significant((uint64_t)seed, sets, 0, 0);
    printf("noise: the best of %zu is more than luck in %d of %d\n", sets, found, seeds);
    CHECK(found <= seeds * 5 / 100);
}

static void test_edge(void)
{
    bool whole = getenv("PAPERTAPE_LONG") != NULL;
    int seeds = whole ? counts_of("seeds of an edge", 20, 4) : 10, found = 0;
    size_t sets = whole ? 100000 : 2000;
    for (int seed = 1; seed <= seeds; seed++)
        found += is_significant((uint64_t)seed, sets, sets / 1000 + 1, 4);
    printf("edge: of %zu sets %zu have a Sharpe of 4 over four years: found in %d of %d\n", sets,
           sets / 1000 + 1, found, seeds);
    CHECK(found >= seeds * 18 / 20);
}

/* ---- sums a block ---- */

/* From sums of blocks: PBO and deflated Sharpe ratio are those of the matrix, to the bit. */
static void test_blocks(void)
{
    enum { ROWS = 1000, SETS = 40 };
    static double matrix[ROWS * SETS], column[ROWS];
    struct random random = random_seeded("engine/luck", 20261128);
    struct sweep_results results = {.combinations = SETS, .n = SETS, .block_rows = ROWS / SWEEP_BLOCKS};
    struct backtest_luck luck;
    struct overfit overfit;
    char err[OVERFIT_ERROR_MAX];
    double sharpes[SETS], mean = 0, variance = 0;
    draw(&random, matrix, ROWS * SETS);
    results.results = calloc(SETS, sizeof *results.results);
    for (size_t c = 0; results.results && c < SETS; c++) {
        struct sweep_result *row = &results.results[c];
        for (size_t t = 0; t < ROWS; t++) {
            double level = c == 7 ? 0 : c == 8 && t < ROWS / 2 ? 0 : matrix[t * SETS + c];
            column[t] = matrix[t * SETS + c] = 0.01 * (level + (c == 3 ? 0.2 : 0));
        }
        struct metrics_series series = metrics_returns(column, ROWS);
        struct metrics m;
        metrics_compute(&series, YEAR, &m);
        *row =
            (struct sweep_result){.combination = c, .trades = 1, .skew = m.skew, .kurtosis = m.kurtosis + 3};
        row->metrics[SWEEP_SHARPE] = m.sharpe;
        size_t length = ROWS / SWEEP_BLOCKS;
        for (size_t b = 0; b < SWEEP_BLOCKS; b++)
            overfit_block(column + ROWS % SWEEP_BLOCKS + b * length, length, 1, &row->block_mean[b],
                          &row->block_squares[b]);
        sharpes[c] = overfit_sharpe(column, ROWS, 1);
        mean += sharpes[c] / SETS;
    }
    for (int c = 0; c < SETS; c++)
        variance += (sharpes[c] - mean) * (sharpes[c] - mean) / (SETS - 1);
    CHECK_INT(backtest_luck(&results, ROWS, YEAR, &luck), 0);
    CHECK_INT(overfit_compute(matrix, ROWS, SETS, SWEEP_BLOCKS, &overfit, err), 0);
    CHECK_NEAR(luck.pbo, overfit.pbo, 0);
    CHECK_NEAR(luck.loss, overfit.probability_of_loss, 0);
    CHECK_INT(luck.splits, 12870);
    CHECK_NEAR(luck.deviation, sqrt(variance * YEAR), 1e-12);
    for (size_t c = 0; c < SETS; c++) {
        struct deflated of;
        for (size_t t = 0; t < ROWS; t++)
            column[t] = matrix[t * SETS + c];
        CHECK_INT(overfit_deflated_sharpe(column, ROWS, SETS, overfit_luck_variance(variance, ROWS), &of), 0);
        if (c == 7)
            CHECK(isnan(results.results[c].dsr) && isnan(of.dsr));
        else
            CHECK_NEAR(results.results[c].dsr, of.dsr, 1e-12);
    }
    overfit_finish(&overfit);
    backtest_sweep_finish(&results);
}

/* Order: too few trades behind all, no figure behind those that have one. */
static void test_order(void)
{
    struct sweep_result rows[] = {{.combination = 0, .trades = 3, .dsr_errors = 9},
                                  {.combination = 1, .trades = 30, .dsr_errors = NAN},
                                  {.combination = 2, .trades = 30, .dsr_errors = -2},
                                  {.combination = 3, .trades = 30, .dsr_errors = 5, .dsr = 1},
                                  {.combination = 4, .trades = 30, .dsr_errors = -2}};
    struct sweep_results results = {.results = rows, .n = 5, .min_trades = 10};
    backtest_sweep_sort(&results, SWEEP_DSR);
    const size_t order[] = {3, 2, 4, 1, 0};
    for (int i = 0; i < 5; i++)
        CHECK_INT(rows[i].combination, order[i]);
    CHECK_INT(backtest_luck_verdict(&results), BACKTEST_VERDICT_MORE);
    results.stopped = true;
    CHECK_INT(backtest_luck_verdict(&results), BACKTEST_VERDICT_STOPPED);
    CHECK_STR(backtest_luck_word(BACKTEST_VERDICT_STOPPED), "stopped");
    results.stopped = false;
    results.min_trades = 31;
    CHECK_INT(backtest_luck_verdict(&results), BACKTEST_VERDICT_UNKNOWN);
    CHECK_STR(backtest_luck_word(BACKTEST_VERDICT_LUCK), "luck");
}

/* ---- beside ---- */

/* On a grid whose values are in no order: every pair of sets, by their values' ranks. */
static void test_beside_grid(void)
{
    double a[] = {30, 10, 20, 40}, b[] = {5, 9, 7}, c[] = {1, 0};
    struct backtest_grid grid = {.n_axes = 3, .axes = {{0, 4, a}, {1, 3, b}, {2, 2, c}}};
    const int ranks[3][4] = {{2, 0, 1, 3}, {0, 2, 1}, {1, 0}};
    struct backtest_sets sets = {.grid = &grid, .n = 24};
    for (size_t i = 0; i < 24; i++) {
        size_t beside[BACKTEST_SETS_BESIDE], n = backtest_sets_beside(&sets, i, beside, BACKTEST_SETS_BESIDE);
        size_t expected = 0;
        for (size_t k = 0; k < 24; k++) {
            int d0 = abs(ranks[0][i / 6] - ranks[0][k / 6]), moved;
            int d1 = abs(ranks[1][i / 2 % 3] - ranks[1][k / 2 % 3]), d2 = i % 2 != k % 2;
            moved = (d0 > 0) + (d1 > 0) + (d2 > 0);
            bool is = d0 <= 1 && d1 <= 1 && (moved == 1 || moved == 2), found = false;
            for (size_t j = 0; j < n; j++)
                found = found || beside[j] == k;
            CHECK(found == is);
            expected += is;
        }
        CHECK_INT(n, expected);
    }
}

static struct sweep_result with_sharpe(size_t i, double sharpe)
{
    struct sweep_result row = {.combination = i};
    row.metrics[SWEEP_SHARPE] = sharpe;
    return row;
}

static void test_hold(void)
{
    double a[] = {1, 2, 3};
    struct backtest_grid grid = {.n_axes = 2, .axes = {{0, 3, a}, {1, 3, a}}};
    struct backtest_sets sets = {.grid = &grid, .n = 9};
    struct sweep_result rows[] = {with_sharpe(4, 2),   with_sharpe(0, 1),  with_sharpe(1, 0.99),
                                  with_sharpe(2, NAN), with_sharpe(8, -1), with_sharpe(3, 3)};
    struct sweep_results results = {.results = rows, .n = 6};
    struct backtest_beside beside[2];
    CHECK_INT(backtest_luck_beside(&results, &sets, 2, beside), 0);
    CHECK_INT(beside[0].n, 5); /* 5, 6, 7 were not run */
    CHECK_INT(beside[0].hold, 2);
    CHECK_NEAR(beside[0].share, 0.4, 1e-15);
    CHECK_INT(beside[1].n, 3);
    CHECK_INT(beside[1].hold, 3); /* 0.99 is more than half of 1 */
}

int main(void)
{
    test_blocks();
    test_order();
    test_beside_grid();
    test_hold();
    test_noise();
    test_edge();
    return check_done("engine/luck");
}
