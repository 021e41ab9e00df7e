/* What the dashboard takes from a backtest's report and its curve: figures, missing ones, curves of every
 * length, invalid reports. */
#include <unistd.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tui/backtest_job.h"

static const char report[] =
    "{\"schema\":\"papertape.backtest/1\",\"accounts\":[{\"account\":\"main\",\"equity\":10130.5,"
    "\"return_pct\":1.305,\"max_drawdown_pct\":-2.5,\"sharpe\":null,\"trades\":25,\"fills\":51}]}";

static const char *path;
static struct backtest_view view;

/* A curve of n points, by turns rising and falling at random, and what a full reading of it has. */
struct full {
    double low, high, deepest; /* the deepest as a share below the peak so far */
};

static double equity_of(struct random *random, double before)
{
    return fmax(1, before + (double)random_between(random, -1000, 1000) / 64);
}

static struct full write_curve(int n, uint64_t seed)
{
    FILE *file = fopen(path, "w");
    struct full full = {INFINITY, -INFINITY, 0};
    struct random random = {seed};
    double equity = 10000, peak = 0;

    CHECK(file != NULL);
    if (!file)
        return full;
    fputs("ts_ns,account,equity,cash,peak\n", file);
    for (int i = 0; i < n; i++) {
        equity = random_between(&random, 0, 999) == 0 ? equity * (random_between(&random, 0, 1) ? 1.5 : 0.6)
                                                      : equity_of(&random, equity);
        peak = fmax(peak, equity);
        full.low = fmin(full.low, equity);
        full.high = fmax(full.high, equity);
        full.deepest = fmin(full.deepest, equity / peak - 1);
        fprintf(file, "%d,main,%.17g,5,%.17g\n", 1000 + i, equity, peak);
    }
    fclose(file);
    return full;
}

/* The first and the last point are there, and the extremes: what lies between is thinned evenly. */
static void check_curve(int n, uint64_t seed)
{
    const struct full full = write_curve(n, seed);
    struct full seen = {INFINITY, -INFINITY, 0};
    int64_t widest = 0;

    CHECK(tui_backtest_view_take(&view, report, path));
    CHECK(view.n_curve <= HISTORY_EQUITY_MAX && view.n_curve >= (n < 512 ? n : 512));
    if (n == 0)
        return;
    CHECK_INT(view.curve[0].ts_ns, 1000);
    CHECK_INT(view.curve[view.n_curve - 1].ts_ns, 1000 + n - 1);
    for (int i = 0; i < view.n_curve; i++) {
        const struct history_equity *at = &view.curve[i];
        CHECK(i == 0 || at->ts_ns > at[-1].ts_ns);
        widest = i > 0 && at->ts_ns - at[-1].ts_ns > widest ? at->ts_ns - at[-1].ts_ns : widest;
        seen.low = fmin(seen.low, at->equity);
        seen.high = fmax(seen.high, at->equity);
        seen.deepest = fmin(seen.deepest, at->equity / at->peak - 1);
    }
    CHECK(widest <= 2 * (1 + n / 341)); /* two of the fewest parts that there are */
    CHECK_NEAR(seen.low, full.low, 0);
    CHECK_NEAR(seen.high, full.high, 0);
    CHECK_NEAR(seen.deepest, full.deepest, 0);
}

int main(void)
{
    static const int sizes[] = {0, 1, 2, 511, 512, 1023, 1024, 1025, 2047, 2048, 2049, 5000, 10081, 100000};
    static const char *const wrong[] = {"",
                                        "{}",
                                        "[]",
                                        "{\"schema\":\"papertape.backtest/1\",\"accounts\":[]}",
                                        "{\"schema\":\"papertape.status/1\",\"accounts\":[{}]}",
                                        "\xff{"};

    path = scratch_path("curve.csv");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (uint64_t seed = 1; seed <= (sizes[i] > 20000 ? 2 : 10); seed++)
            check_curve(sizes[i], seed);
    CHECK(view.equity == 10130.5 && view.return_pct == 1.305 && view.drawdown_pct == -2.5);
    CHECK(isnan(view.sharpe) && isnan(view.win_rate_pct));
    CHECK(view.trades == 25 && view.fills == 51);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        CHECK(!tui_backtest_view_take(&view, wrong[i], path));
    CHECK(unlink(path) == 0);
    CHECK(tui_backtest_view_take(&view, report, path)); /* figures without a curve */
    CHECK_INT(view.n_curve, 0);
    return check_done("tui/backtest_view");
}
