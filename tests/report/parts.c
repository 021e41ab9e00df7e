/* Shades of a heat map, histograms and drawdowns: against what a reader would count. */
#include <errno.h>
#include <math.h>

#include "report/heat.h"
#include "report/histogram.h"
#include "report/page_parts.h"
#include "tests/check.h"
#include "tests/report/draws.h"

enum { N = 5000 };

static void test_shades(void)
{
    CHECK(report_heat_shade(0, -1, 1) == 0 && report_heat_shade(NAN, -1, 1) == 0);
    CHECK(report_heat_shade(INFINITY, -1, 1) == 0);
    CHECK(report_heat_shade(1, -1, 1) == REPORT_HEAT_SHADES);
    CHECK(report_heat_shade(-1, -1, 1) == -REPORT_HEAT_SHADES);
    CHECK(report_heat_shade(-0.5, -0.5, 4) == -1); /* both signs have one scale */
    CHECK(report_heat_shade(2, 2, 3) == 1 && report_heat_shade(3, 2, 3) == REPORT_HEAT_SHADES);
    CHECK(report_heat_shade(-2, -3, -2) == -1 && report_heat_shade(-3, -3, -2) == -REPORT_HEAT_SHADES);
    CHECK(report_heat_shade(7, 7, 7) == REPORT_HEAT_SHADES && report_heat_shade(0, 0, 0) == 0);
    for (int i = -100; i < 100; i++)
        CHECK(report_heat_shade(i, -100, 100) <= report_heat_shade(i + 1, -100, 100));
}

/* Is each value in the bar that its place says, and is 0 an edge? */
static void check_histogram(const double *values, size_t n)
{
    struct report_histogram h;
    double counts[REPORT_HISTOGRAM_MOST] = {0};
    size_t finite = 0;
    int r = report_histogram_count(values, n, &h);
    for (size_t i = 0; i < n; i++)
        finite += isfinite(values[i]) != 0;
    CHECK(r == (finite > 0 ? 0 : -ENODATA));
    if (r < 0)
        return;
    const double width = (h.high - h.low) / h.n;
    CHECK(h.counted == finite && h.n >= 1 && h.n <= REPORT_HISTOGRAM_MOST);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        CHECK(values[i] >= h.low - 1e-9 * width && values[i] <= h.high + 1e-9 * width);
        int at = (int)floor((values[i] - h.low) / width);
        counts[at < 0 ? 0 : at < h.n ? at : h.n - 1]++;
    }
    double moved = 0, all = 0; /* a value within a rounding of an edge may be on either side */
    for (int i = 0; i < h.n; i++) {
        moved += fabs(counts[i] - h.bars[i]);
        all += h.bars[i];
    }
    CHECK(all == (double)finite && moved <= 2 + 1e-3 * (double)finite);
    if (h.low < 0 && h.high > 0) {
        double edge = -h.low / width;
        CHECK(fabs(edge - round(edge)) < 1e-6);
    }
}

static void test_histograms(struct random *random)
{
    static double values[N];
    check_histogram(values, 0);
    for (int way = 0; way < 8; way++) {
        for (int i = 0; i < N; i++)
            values[i] = way == 0   ? NAN
                        : way == 1 ? 0
                        : way == 2 ? -3.25
                        : way == 3 ? draw_bell(random)
                        : way == 4 ? (i % 10 ? 0 : draw_bell(random)) /* mostly flat */
                        : way == 5 ? (i == 77 ? 1e6 : draw_bell(random))
                        : way == 6 ? 1e9 + draw_unit(random)
                                   : (i % 3 ? NAN : 1e-12 * draw_bell(random));
        check_histogram(values, N);
        check_histogram(values, 1);
        check_histogram(values, 3);
    }
}

/* A month of daily returns: no fewer bars than Sturges' rule gives. */
static void test_few(struct random *random)
{
    double values[30];
    for (int round = 0; round < 200; round++) {
        struct report_histogram h;
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 30; i++) {
            values[i] = 2 * draw_bell(random);
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
        CHECK(report_histogram_count(values, 30, &h) == 0);
        CHECK(h.n >= 5 && (h.high - h.low) / h.n <= (high - low) / (1 + log2(30)) * (1 + 1e-9));
    }
}

static void test_drawdowns(void)
{
    static const double equity[] = {100, 120, 90, NAN, 120, 60, 0, -60, 240};
    static const double wanted[] = {0, 0, -25, NAN, 0, -50, -100, -150, 0};
    enum { POINTS = sizeof equity / sizeof *equity };
    double found[POINTS];
    report_drawdowns(equity, POINTS, found);
    for (int i = 0; i < POINTS; i++)
        CHECK(isnan(wanted[i]) ? isnan(found[i]) : fabs(found[i] - wanted[i]) < 1e-12);
    report_drawdowns((const double[]){0, -1}, 2, found);
    CHECK(isnan(found[0]) && isnan(found[1]));
}

int main(void)
{
    struct random random = random_seeded("report/parts", 0x51a);
    test_shades();
    test_histograms(&random);
    test_few(&random);
    test_drawdowns();
    return check_done("report/parts");
}
