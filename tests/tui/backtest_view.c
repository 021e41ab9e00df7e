/* What the dashboard takes from a backtest's report and its curve: figures, missing ones, curves of every
 * length, invalid reports. */
#include <unistd.h>

#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/backtest_job.h"

static const char report[] =
    "{\"schema\":\"papertape.backtest/1\",\"accounts\":[{\"account\":\"main\",\"equity\":10130.5,"
    "\"return_pct\":1.305,\"max_drawdown_pct\":-2.5,\"sharpe\":null,\"trades\":25,\"fills\":51}]}";

static const char *path;
static struct backtest_view view;

static void write_curve(int n)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file)
        return;
    fputs("ts_ns,account,equity,cash,peak\n", file);
    for (int i = 0; i < n; i++)
        fprintf(file, "%d,main,%d.25,5,6\n", 1000 + i, i);
    fclose(file);
}

/* The first and the last point are there, what lies between is thinned evenly. */
static void check_curve(int n)
{
    write_curve(n);
    CHECK(tui_backtest_view_take(&view, report, path));
    CHECK(view.n_curve <= HISTORY_EQUITY_MAX && view.n_curve >= (n < 512 ? n : 512));
    if (n == 0)
        return;
    CHECK(view.curve[0].ts_ns == 1000 && view.curve[0].equity == 0.25);
    CHECK_INT(view.curve[view.n_curve - 1].ts_ns, 1000 + n - 1);
    for (int i = 1; i < view.n_curve; i++) {
        CHECK(view.curve[i].ts_ns > view.curve[i - 1].ts_ns);
        CHECK(view.curve[i].equity == (double)(view.curve[i].ts_ns - 1000) + 0.25);
    }
}

int main(void)
{
    static const int sizes[] = {0, 1, 2, 511, 512, 1023, 1024, 1025, 2047, 2048, 2049, 5000, 10081};
    static const char *const wrong[] = {"",
                                        "{}",
                                        "[]",
                                        "{\"schema\":\"papertape.backtest/1\",\"accounts\":[]}",
                                        "{\"schema\":\"papertape.status/1\",\"accounts\":[{}]}",
                                        "\xff{"};

    path = scratch_path("curve.csv");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        check_curve(sizes[i]);
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
