/* Points of equity at odd times become one return a bar; money that moved, and too little, give none. */
#include "cli/events_curve.h"

#include "tests/check.h"

#define MINUTE_NS (60 * INT64_C(1000000000))

static struct account account = {.name = "main", .currency = "USDT", .currency_scale = 2, .deposits = 10000};

static void point(struct events_curves *curves, int64_t ts_ns, int64_t equity)
{
    struct equity_point p = {.ts_ns = ts_ns, .account = 0, .equity = equity};
    cli_events_curves_point(curves, &account, &p);
}

static void bars(struct events_curves *curves)
{
    for (int i = 0; i < 3; i++)
        cli_events_curves_bar(curves, 0, &(struct bar){.open_ns = (100 + i * (i + 1) / 2) * MINUTE_NS});
}

int main(void)
{
    struct events_curves curves = {0};
    struct metrics m;
    CHECK(!cli_events_curves_metrics(&curves, 0, &m));
    bars(&curves); /* 100, 101, 103: a step of one minute */
    CHECK_INT(curves.interval_ns, MINUTE_NS);
    point(&curves, 100 * MINUTE_NS, 10000);
    CHECK(!cli_events_curves_metrics(&curves, 0, &m));
    point(&curves, 100 * MINUTE_NS + 5, 12000); /* within the first minute: its end counts */
    point(&curves, 101 * MINUTE_NS, 11000);
    point(&curves, 103 * MINUTE_NS + 7, 8800); /* the second minute carries 110 on */
    point(&curves, 105 * MINUTE_NS, 9900);
    CHECK(cli_events_curves_metrics(&curves, 0, &m));
    CHECK_INT(m.n, 5); /* 110, 110, 110, 88, 99 after 100 */
    CHECK_NEAR(m.total_return, -0.01, 1e-12);
    CHECK_NEAR(m.max_drawdown, -0.2, 1e-12);
    CHECK_NEAR(m.best, 0.125, 1e-12);
    CHECK_NEAR(m.worst, -0.2, 1e-12);
    CHECK(!cli_events_curves_metrics(&curves, 1, &m));

    account.deposits = 20000;
    point(&curves, 106 * MINUTE_NS, 19900);
    CHECK(!cli_events_curves_metrics(&curves, 0, &m));
    cli_events_curves_finish(&curves);
    return check_done("cli/events_curve");
}
