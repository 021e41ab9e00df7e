/* The metrics by hand, and the lanes against the plain sums on every instruction set: metrics_oracle.py has
 * the rest. */
#include "strategy/metrics.h"

#include "strategy/metrics/lanes.h"
#include "tests/check.h"
#include "tests/random.h"

static const int64_t DAY_NS = INT64_C(86400000000000);

static double uniform(struct random *random)
{
    return (double)(random_next(random) >> 11) / 9007199254740992.0;
}

enum curve_kind { WALK, OFTEN_STILL, RISING, FALLING, IN_CENTS, CURVES };

/* Exactly as long as it must be, so that a read past its ends is seen. */
static double *make_curve(struct random *random, enum curve_kind kind, size_t n)
{
    double *equity = malloc(n * sizeof(*equity)), value = 10000;
    for (size_t i = 0; i < n; i++) {
        double step = (uniform(random) - 0.499) * 0.01;
        if (kind == RISING || kind == FALLING)
            step = kind == RISING ? fabs(step) : -fabs(step) / 2;
        if (kind == OFTEN_STILL && i / 1500 % 2)
            step = 0;
        value *= 1 + step;
        if (kind == IN_CENTS)
            value = round(value * 100) / 100;
        equity[i] = value;
    }
    return equity;
}

static void check_near(double got, double expected, double absolute)
{
    CHECK_NEAR(got, expected, fabs(expected) * 1e-12 + absolute);
}

static void check_sums(const struct metrics_sums *got, const struct metrics_sums *expected)
{
    double deviation = sqrt(expected->m2);
    CHECK_INT(got->n, expected->n);
    CHECK_INT(got->present, expected->present);
    check_near(got->product, expected->product, 0);
    check_near(got->mean, expected->mean, 1e-13 * deviation);
    check_near(got->squares, expected->squares, 0);
    check_near(got->down_squares, expected->down_squares, 0);
    check_near(got->gains, expected->gains, 0);
    check_near(got->losses, expected->losses, 0);
    CHECK_NEAR(got->max_drawdown, expected->max_drawdown, 1e-12);
    CHECK(got->best == expected->best && got->worst == expected->worst);
    check_near(got->m2, expected->m2, 0);
    check_near(got->m3, expected->m3, 1e-12 * deviation * expected->m2);
    check_near(got->m4, expected->m4, 0);
}

static void test_lanes(struct random *random)
{
    static const size_t sizes[] = {2, 7, 8, 9, 10, 16, 17, 1023, 1024, 1025, 1032, 1033, 2049, 8193, 20001};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (int kind = 0; kind < CURVES; kind++) {
            size_t n = sizes[k];
            double *equity = make_curve(random, kind, n), *other = make_curve(random, WALK, n);
            struct metrics_series series = metrics_equity(10000, equity, n);
            struct metrics_series benchmark = metrics_equity(10000, other, n);
            struct metrics_sums exact, base, lanes;
            struct metrics_against plain, base_against, against;
            metrics_sums_exact(&series, &exact);
            CHECK(metrics_lanes_sums(&series, INDICATOR_ISA_BASELINE, &base));
            check_sums(&base, &exact);
            CHECK(metrics_lanes_against(&series, &benchmark, INDICATOR_ISA_BASELINE, 365, &base_against));
            struct metrics_series long_way = metrics_equity(10000, equity, n);
            double *returns = malloc(n * sizeof(*returns));
            for (size_t i = 0; i < n; i++) {
                double before = i ? equity[i - 1] : 10000;
                returns[i] = (equity[i] - before) / before;
            }
            long_way = metrics_returns(returns, n);
            metrics_against(&long_way, &benchmark, 365, &plain);
            check_near(base_against.beta, plain.beta, 1e-12);
            check_near(base_against.alpha, plain.alpha, 1e-11);
            for (int isa = INDICATOR_ISA_AVX2; isa <= (int)indicator_isa_best(); isa++) {
                CHECK(metrics_lanes_sums(&series, isa, &lanes));
                CHECK(memcmp(&lanes, &base, sizeof(base)) == 0);
                CHECK(metrics_lanes_against(&series, &benchmark, isa, 365, &against));
                CHECK(memcmp(&against, &base_against, sizeof(against)) == 0);
            }
            free(returns);
            free(equity);
            free(other);
        }
}

/* What the lanes must leave to the plain sums, wherever it stands. */
static void test_lanes_refuse(struct random *random)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0, -1};
    enum { ROWS = 3000 };
    double *equity = make_curve(random, WALK, ROWS), *other = make_curve(random, WALK, ROWS);
    struct metrics_series series = metrics_equity(10000, equity, ROWS);
    struct metrics_series benchmark = metrics_equity(10000, other, ROWS);
    struct metrics_sums sums;
    struct metrics_against against;
    for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++)
        for (int row = -1; row < ROWS; row += row < 20 || row > ROWS - 20 ? 1 : 97) {
            double *at = row < 0 ? &series.start : &equity[row], kept = *at;
            *at = bad[b];
            for (int isa = INDICATOR_ISA_BASELINE; isa <= (int)indicator_isa_best(); isa++) {
                CHECK(!metrics_lanes_sums(&series, isa, &sums));
                CHECK(!metrics_lanes_against(&series, &benchmark, isa, 365, &against));
                CHECK(!metrics_lanes_against(&benchmark, &series, isa, 365, &against));
            }
            *at = kept;
        }
    for (int i = 0; i < ROWS; i++)
        equity[i] = 10000;
    CHECK(!metrics_lanes_sums(&series, INDICATOR_ISA_BEST, &sums));
    CHECK(metrics_lanes_against(&series, &benchmark, INDICATOR_ISA_BEST, 365, &against));
    CHECK(against.beta == 0 && against.alpha == 0);
    CHECK(!metrics_lanes_against(&benchmark, &series, INDICATOR_ISA_BEST, 365, &against));
    free(equity);
    free(other);
}

static void test_by_hand(void)
{
    static const double returns[] = {0.5, -0.5, 1.0};
    static const double equity[] = {150, 75, 150};
    struct metrics m, of_equity;
    struct metrics_series series = metrics_returns(returns, 3), curve = metrics_equity(100, equity, 3);
    metrics_compute(&series, 3, &m);
    metrics_compute(&curve, 3, &of_equity);
    CHECK(memcmp(&m, &of_equity, sizeof(m)) == 0);
    CHECK_NEAR(m.total_return, 0.5, 0);
    CHECK_NEAR(m.cagr, 0.5, 1e-15);
    CHECK_NEAR(m.max_drawdown, -0.5, 0);
    CHECK_NEAR(m.calmar, 1, 1e-15);
    CHECK_NEAR(m.omega, 3, 0);
    CHECK_NEAR(m.mean, 1.0 / 3, 1e-16);
    CHECK_NEAR(m.volatility, sqrt(7.0 / 12) * sqrt(3), 1e-15);
    CHECK_NEAR(m.downside, 0.5, 1e-15);
    CHECK_NEAR(m.sortino, 2, 1e-15);
    CHECK_NEAR(m.best, 1, 0);
    CHECK_NEAR(m.worst, -0.5, 0);
    CHECK_NEAR(metrics_periods_per_year(60 * INT64_C(1000000000)), 525600, 0);
    CHECK_NEAR(metrics_periods_per_year(DAY_NS), 365, 0);
}

static void test_tails(void)
{
    double returns[21]; /* -0.20 .. 0.00 */
    struct metrics_tails tails;
    for (int i = 0; i < 21; i++)
        returns[(i * 8) % 21] = (i - 20) / 100.0;
    struct metrics_series series = metrics_returns(returns, 21);
    CHECK_INT(metrics_tails(&series, &tails), 0);
    CHECK_NEAR(tails.value_at_risk, -0.19, 1e-15);
    CHECK_NEAR(tails.conditional_value_at_risk, -0.195, 1e-15);
    CHECK_NEAR(tails.tail_ratio, 0.01 / 0.19, 1e-15);
}

static void test_drawdowns(void)
{
    static const double equity[] = {90, 100, 110, 99, 105, 88, 111, 110, 111, 55.5, 60};
    struct metrics_series series = metrics_equity(100, equity, 11);
    struct metrics_drawdown found[5];
    CHECK_INT(metrics_drawdowns(&series, found, 5), 4);
    CHECK(found[0].first == 9 && found[0].trough == 9 && found[0].end == 11 && !found[0].recovered);
    CHECK_NEAR(found[0].depth, -0.5, 0);
    CHECK(found[1].first == 3 && found[1].trough == 5 && found[1].end == 6 && found[1].recovered);
    CHECK_NEAR(found[1].depth, -0.2, 1e-16);
    CHECK(found[2].first == 0 && found[2].trough == 0 && found[2].end == 1);
    CHECK(found[3].first == 7 && found[3].end == 8);
    CHECK_INT(metrics_drawdowns(&series, found, 2), 2);
    CHECK(found[0].first == 9 && found[1].first == 3);
    CHECK_INT(metrics_drawdowns(&series, found, 0), 0);
}

/* The trough is the first of the lowest rows, whichever way the rows were looked at. */
static void test_drawdowns_of_curves(struct random *random)
{
    static const size_t sizes[] = {1, 127, 128, 129, 2047, 2048, 2049, 4500, 20001};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (int kind = 0; kind < CURVES; kind++) {
            size_t n = sizes[k];
            double *equity = make_curve(random, kind, n), peak = 10000, deepest = 0;
            struct metrics_series series = metrics_equity(10000, equity, n);
            struct metrics_drawdown found[64];
            size_t n_found = metrics_drawdowns(&series, found, 64);
            for (size_t i = 0; i < n; i++) {
                peak = equity[i] > peak ? equity[i] : peak;
                deepest = fmin(deepest, (equity[i] - peak) / peak);
            }
            CHECK(deepest == (n_found ? found[0].depth : 0));
            for (size_t d = 0; d < n_found; d++) {
                double high = found[d].first ? equity[found[d].first - 1] : 10000;
                size_t lowest = found[d].first, end = found[d].first;
                for (; end < n && equity[end] < high; end++)
                    lowest = equity[end] < equity[lowest] ? end : lowest;
                CHECK_INT(found[d].trough, lowest);
                CHECK_INT(found[d].end, end);
                CHECK_INT(found[d].recovered, end < n);
                CHECK(found[d].depth == (equity[lowest] - high) / high);
            }
            free(equity);
        }
}

/* What was seen of a curve spares the months a look, and changes nothing. */
static void test_look(struct random *random)
{
    enum { ROWS = 20001 };
    const int64_t minute_ns = INT64_C(60000000000);
    for (int kind = 0; kind < CURVES + 1; kind++) {
        double *equity = make_curve(random, kind % CURVES, ROWS), sum = 0;
        if (kind == CURVES)
            equity[12345] = -1;
        struct metrics_series series = metrics_equity(10000, equity, ROWS), plain = series;
        struct metrics seen, computed;
        struct metrics_month months[2], expected[2];
        for (size_t i = 0; i < ROWS; i++)
            sum += equity[i];
        metrics_look(&series, 365, &seen);
        metrics_compute(&plain, 365, &computed);
        CHECK(memcmp(&seen, &computed, sizeof(seen)) == 0);
        CHECK_INT(series.regular, kind != CURVES);
        check_near(series.level, sum / ROWS, 0);
        CHECK_INT(metrics_months(&series, 20 * DAY_NS, minute_ns, months, 2), 2);
        CHECK_INT(metrics_months(&plain, 20 * DAY_NS, minute_ns, expected, 2), 2);
        CHECK(memcmp(months, expected, sizeof(months)) == 0);
        free(equity);
    }
}

static void test_months(void)
{
    double equity[400];
    for (int i = 0; i < 400; i++)
        equity[i] = i + 2;
    struct metrics_series series = metrics_equity(1, equity, 400);
    struct metrics_month months[20];
    int64_t first_ns = INT64_C(19753) * DAY_NS; /* 2024-01-31 */
    CHECK_INT(metrics_months(&series, first_ns, DAY_NS, months, 20), 15);
    CHECK(months[0].year == 2024 && months[0].month == 1 && months[0].rows == 1);
    CHECK_NEAR(months[0].total_return, 1, 0);
    CHECK(months[1].month == 2 && months[1].first == 1 && months[1].rows == 29);
    CHECK_NEAR(months[1].total_return, 31.0 / 2 - 1, 0);
    CHECK(months[14].year == 2025 && months[14].month == 3);
    CHECK_INT(metrics_years(&series, first_ns, DAY_NS, months, 1), 2);
    CHECK(months[0].year == 2024 && months[0].month == 0 && months[0].rows == 336);
    /* The last bar that opens in a month is that month's, however little of it; at the end of all time, too.
     */
    CHECK_INT(metrics_months(&series, first_ns - 1, 3 * DAY_NS, NULL, 0), 41);
    CHECK_INT(metrics_years(&series, INT64_MAX - 400 * DAY_NS, DAY_NS, months, 20), 2);
    CHECK_INT(months[1].year, 2262);
}

static void test_trades(void)
{
    static const double profits[] = {10, -5, 0, -15, 30, -20};
    struct metrics_trades trades = {0};
    struct metrics_trade_ratios ratios = metrics_trade_ratios(&trades);
    CHECK(isnan(ratios.win_rate) && isnan(ratios.profit_factor) && isnan(ratios.sqn));
    for (int i = 0; i < 6; i++)
        metrics_trades_add(&trades, profits[i], (i + 1) * DAY_NS);
    ratios = metrics_trade_ratios(&trades);
    CHECK_INT(trades.n, 6);
    CHECK_INT(trades.wins, 2);
    CHECK_INT(trades.losses, 4);
    CHECK_INT(trades.longest_losing_run, 3);
    CHECK_INT(trades.losing, 1);
    CHECK_NEAR(trades.largest_win, 30, 0);
    CHECK_NEAR(trades.largest_loss, -20, 0);
    CHECK_NEAR(ratios.win_rate, 1.0 / 3, 1e-16);
    CHECK_NEAR(ratios.profit_factor, 1, 0);
    CHECK_NEAR(ratios.expectancy, 0, 0);
    CHECK_NEAR(ratios.sqn, 0, 1e-15);
    CHECK_NEAR(ratios.average_win, 20, 0);
    CHECK_NEAR(ratios.average_loss, -10, 0);
    CHECK_NEAR(ratios.payoff, 2, 0);
    CHECK_NEAR(ratios.average_held_ns, 3.5 * (double)DAY_NS, 0);
    metrics_trades_add(&trades, 14, 0);
    /* Seven of mean 2 and sum of squares 1846. */
    CHECK_NEAR(metrics_trade_ratios(&trades).sqn, sqrt(7) * 2 / sqrt((1846 - 7 * 4) / 6.0), 1e-14);
    trades = (struct metrics_trades){0};
    metrics_trades_add(&trades, 5, 0);
    ratios = metrics_trade_ratios(&trades);
    CHECK(isinf(ratios.profit_factor) && ratios.profit_factor > 0 && isnan(ratios.sqn));
}

/* Two halves merged are the whole, wherever it is cut; but the run of losses, which a cut may divide. */
static void test_trades_merged(struct random *random)
{
    for (int round = 0; round < 200; round++) {
        struct metrics_trades whole = {0}, halves[2] = {{0}};
        const int n = (int)random_between(random, 0, 40), cut = (int)random_between(random, 0, n);
        for (int i = 0; i < n; i++) {
            const double profit = (double)random_between(random, -1000, 1000) / 8;
            const int64_t held_ns = random_between(random, 0, 1000);
            metrics_trades_add(&whole, profit, held_ns);
            metrics_trades_add(&halves[i >= cut], profit, held_ns);
        }
        metrics_trades_merge(&halves[0], &halves[1]);
        CHECK(halves[0].n == whole.n && halves[0].wins == whole.wins && halves[0].losses == whole.losses);
        CHECK_NEAR(halves[0].won, whole.won, 0); /* eighths */
        CHECK_NEAR(halves[0].lost, whole.lost, 0);
        CHECK_NEAR(halves[0].held_ns, whole.held_ns, 0);
        CHECK_NEAR(halves[0].largest_win, whole.largest_win, 0);
        CHECK_NEAR(halves[0].largest_loss, whole.largest_loss, 0);
        CHECK_NEAR(halves[0].mean, whole.mean, 1e-10);
        CHECK_NEAR(halves[0].m2, whole.m2, 1e-6);
    }
}

int main(void)
{
    struct random random = random_seeded("strategy/metrics", 66);
    test_trades_merged(&random);
    test_by_hand();
    test_tails();
    test_drawdowns();
    test_drawdowns_of_curves(&random);
    test_look(&random);
    test_months();
    test_trades();
    test_lanes(&random);
    test_lanes_refuse(&random);
    return check_done("strategy/metrics");
}
