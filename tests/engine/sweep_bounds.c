/* What a deflated Sharpe ratio of a screened set can be, and which of two runs is before the other whatever
 * luck alone would show, against the formula itself at random points within the errors. */
#include "engine/backtest/sweep_bounds.h"

#include <math.h>

#include "strategy/metrics/deflate.h"
#include "tests/check.h"
#include "tests/random.h"

enum { ROWS = 2000, TRIED = 20, DRAWS = 2000 };
static const double periods = 105120;

/* Two sets, a screened row and a run of each; `sharpe` a year's, kurtosis 3 of a normal distribution. */
struct drawn {
    double sharpe, skew, kurtosis;
    struct screen_row screened[2];
    struct sweep_result rows[2];
    const struct sweep_result *exact[2];
    struct sweep_bounds bounds;
};

/* From low to high. */
static double between(struct random *random, double low, double high)
{
    return low + (high - low) * (double)random_between(random, 0, 1000000) / 1e6;
}

static void draw(struct random *random, struct drawn *drawn)
{
    double luck = between(random, 0, 0.06);
    double near = sqrt(periods) * (luck + between(random, -0.001, 0.002)); /* where places change */
    double sharpe = random_chance(random, 50) ? near : between(random, -30, 30);
    *drawn = (struct drawn){.sharpe = sharpe, .skew = between(random, -2, 2)};
    drawn->kurtosis = drawn->skew * drawn->skew + between(random, 1, 41);
    drawn->screened[0] = (struct screen_row){
        .fills = 2, .trades = 1, .skew = (float)drawn->skew, .kurtosis = (float)(drawn->kurtosis - 3)};
    drawn->screened[0].metrics[SWEEP_SHARPE] = drawn->sharpe;
    drawn->screened[1] = drawn->screened[0];
    drawn->bounds = (struct sweep_bounds){.metric = SWEEP_DSR,
                                          .n = 2,
                                          .length = ROWS,
                                          .periods = periods,
                                          .rows = drawn->screened,
                                          .exact = drawn->exact,
                                          .wide = between(random, 1, 4),
                                          .expected_low = luck,
                                          .expected_high = luck + between(random, 0, 0.001)};
}

/* In standard errors. */
static double errors_of(double sharpe, double skew, double kurtosis, double expected)
{
    double a_row = sharpe / sqrt(periods);
    return (a_row - expected) * overfit_deflated_moments(a_row, skew, kurtosis, ROWS, expected).scale;
}

/* The bounds hold for whatever is within the errors. */
static void check_within(struct random *random, const struct drawn *drawn)
{
    const struct sweep_bounds *bounds = &drawn->bounds;
    double low, high, wide = 0.99 * bounds->wide, of_moments = wide * SCREEN_MOMENTS_ERROR;
    backtest_sweep_bounds_of(bounds, 0, &low, &high);
    CHECK(low < high && high - low < 0.5 + 0.1 * fabs(low));
    for (int k = 0; k < TRIED; k++) {
        double sharpe = drawn->sharpe +
                        wide * between(random, -1, 1) * backtest_screen_error(SWEEP_SHARPE, drawn->sharpe);
        double skew = drawn->skew + of_moments * between(random, -1, 1) * (1 + fabs(drawn->skew));
        double kurtosis = drawn->kurtosis + of_moments * between(random, -1, 1) * (1 + drawn->kurtosis);
        double is =
            errors_of(sharpe, skew, kurtosis, between(random, bounds->expected_low, bounds->expected_high));
        CHECK(is >= low && is <= high);
    }
}

/* Of two runs that are nearly alike one is before the other unless they change places; whether they do. */
static bool check_pair(struct random *random, struct drawn *drawn)
{
    const struct sweep_bounds *bounds = &drawn->bounds;
    double low[2], high[2];
    for (int k = 0; k < 2; k++) {
        struct sweep_result *row = &drawn->rows[k];
        *row = (struct sweep_result){.combination = (size_t)k, .exact = true, .kurtosis = drawn->kurtosis};
        row->metrics[SWEEP_SHARPE] = drawn->sharpe + k * between(random, -0.0005, 0.0005);
        row->skew = drawn->skew + k * between(random, -0.5, 0.5);
        low[k] = errors_of(row->metrics[SWEEP_SHARPE], row->skew, row->kurtosis, bounds->expected_high);
        high[k] = errors_of(row->metrics[SWEEP_SHARPE], row->skew, row->kurtosis, bounds->expected_low);
        drawn->exact[k] = row;
    }
    bool crosses = (low[0] > low[1]) != (high[0] > high[1]);
    size_t first = low[0] > low[1] ? 0 : 1;
    CHECK(backtest_sweep_bounds_before(bounds, first, 1 - first) == !crosses);
    CHECK(!backtest_sweep_bounds_before(bounds, 1 - first, first));
    return crosses;
}

int main(void)
{
    static struct drawn drawn;
    struct random random = random_seeded("sweep_bounds", 32);
    size_t crossed = 0;
    for (int i = 0; i < DRAWS; i++) {
        draw(&random, &drawn);
        check_within(&random, &drawn);
        crossed += check_pair(&random, &drawn);
    }
    printf("%zu of %d pairs change places\n", crossed, DRAWS);
    CHECK(crossed > 0 && crossed < DRAWS / 2);
    return check_done("sweep_bounds");
}
