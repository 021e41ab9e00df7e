/* Downsampling: what is kept draws the same columns as all points; extremes and gaps are kept. */
#include <stdbool.h>

#include "report/thin.h"
#include "tests/check.h"
#include "tests/report/draws.h"

enum { N = 20000, COLUMNS = 97 };

struct curve {
    size_t n;
    int64_t x[N];
    double y[N];
};

static struct curve curve;

/* A walk with missing values and jumps of time. */
static void make(struct random *random, size_t n, double gaps)
{
    int64_t at = -500;
    double value = 0;
    curve.n = n;
    for (size_t i = 0; i < n; i++) {
        at += draw_unit(random) < gaps ? (int64_t)random_between(random, 0, 4999)
                                       : (int64_t)random_between(random, 0, 2);
        value += draw_bell(random);
        curve.x[i] = at;
        curve.y[i] = draw_unit(random) < gaps ? (random_between(random, 0, 1) ? NAN : INFINITY) : value;
    }
}

static int column_of(const struct report_view *view, int64_t x)
{
    int column = (int)((double)(x - view->low) / (double)(view->high - view->low) * view->columns);
    return column < view->columns ? column : view->columns - 1;
}

struct extremes {
    double low[COLUMNS], high[COLUMNS], first[COLUMNS], last[COLUMNS], sum[COLUMNS];
    int n[COLUMNS];
};

static void see(struct extremes *all, const struct report_view *view, int64_t x, double y)
{
    int c = column_of(view, x);
    all->low[c] = all->n[c] ? fmin(all->low[c], y) : y;
    all->high[c] = all->n[c] ? fmax(all->high[c], y) : y;
    all->first[c] = all->n[c] ? all->first[c] : y;
    all->last[c] = y;
    all->sum[c] += y;
    all->n[c]++;
}

static void check_extremes(const struct report_view *view, const struct report_kept *kept, size_t n)
{
    struct extremes all = {0}, some = {0};
    for (size_t i = 0; i < curve.n; i++)
        if (isfinite(curve.y[i]) && curve.x[i] >= view->low && curve.x[i] <= view->high)
            see(&all, view, curve.x[i], curve.y[i]);
    for (size_t i = 0; i < n; i++)
        see(&some, view, curve.x[kept[i].at], curve.y[kept[i].at]);
    for (int c = 0; c < view->columns; c++) {
        CHECK((all.n[c] > 0) == (some.n[c] > 0) && some.n[c] <= 4 && some.n[c] <= all.n[c]);
        CHECK(all.low[c] == some.low[c] && all.high[c] == some.high[c]);
        CHECK(all.first[c] == some.first[c] && all.last[c] == some.last[c]);
    }
    struct report_column columns[COLUMNS];
    size_t m = report_columns(view, curve.x, curve.y, curve.n, columns), at = 0;
    for (int c = 0; c < view->columns; c++) {
        if (!all.n[c])
            continue;
        CHECK(at < m && columns[at].low == all.low[c] && columns[at].high == all.high[c]);
        CHECK_NEAR(columns[at].mean, all.sum[c] / all.n[c], 1e-9);
        CHECK_INT(column_of(view, (int64_t)columns[at].x), c);
        at++;
    }
    CHECK_INT(m, at);
}

/* A break is where points between are missing or too far apart, and the hole is as wide as a column. */
static void check_breaks(const struct report_view *view, const struct report_kept *kept, size_t n)
{
    CHECK(n == 0 || kept[0].breaks);
    for (size_t i = 1; i < n; i++) {
        size_t from = kept[i - 1].at, to = kept[i].at;
        CHECK(from < to);
        bool missing = true, any = false; /* all between them are no numbers */
        for (size_t k = from + 1; k < to; k++) {
            missing = missing && !isfinite(curve.y[k]);
            any = true;
        }
        bool apart = (any && missing) || (!any && view->gap > 0 && curve.x[to] - curve.x[from] > view->gap);
        double wide =
            ((double)curve.x[to] - (double)curve.x[from]) / (double)(view->high - view->low) * view->columns;
        if (column_of(view, curve.x[from]) == column_of(view, curve.x[to]))
            apart = false;
        CHECK_INT(kept[i].breaks, apart && wide >= 1);
    }
}

static void test_walks(void)
{
    static struct report_kept kept[4 * COLUMNS];
    struct random random = random_seeded("report/thin", 0x7412);
    for (int i = 0; i < 200; i++) {
        static const size_t sizes[] = {0, 1, 2, 5, COLUMNS, 4 * COLUMNS, 3000, N};
        make(&random, sizes[i % 8], i % 3 == 0 ? 0 : i % 3 == 1 ? 0.003 : 0.3);
        int64_t high = curve.n ? curve.x[curve.n - 1] : 0, low = curve.n ? curve.x[0] : 0;
        struct report_view view = {low, high > low ? high : low + 1,
                                   1 + (int)random_between(&random, 0, COLUMNS - 1),
                                   random_between(&random, 0, 1) ? 10 : 0};
        if (i % 5 == 0) { /* only a part is in view */
            view.low += (view.high - view.low) / 3;
            view.high = view.high > view.low ? view.high : view.low + 1;
        }
        size_t n = report_thin(&view, curve.x, curve.y, curve.n, kept);
        CHECK(n <= 4 * (size_t)view.columns);
        check_extremes(&view, kept, n);
        check_breaks(&view, kept, n);
    }
}

/* One row in a million. */
static void test_spike(void)
{
    struct report_kept kept[4 * COLUMNS];
    bool found = false;
    for (size_t i = 0; i < N; i++) {
        curve.x[i] = (int64_t)i;
        curve.y[i] = i == 12345 ? -7 : 1;
    }
    const struct report_view view = {0, N - 1, COLUMNS, 0};
    size_t n = report_thin(&view, curve.x, curve.y, N, kept);
    for (size_t i = 0; i < n; i++)
        found = found || kept[i].at == 12345;
    CHECK(found);
}

/* Kept are every 1, 2, 4, ... th, never more than `most`, from the first on, and at least half of that. */
static void test_growth(void)
{
    size_t kept[8], n = 0;
    struct report_growth growth = report_growth_of(8);
    for (size_t i = 0; i < 1000; i++) {
        bool halves;
        if (report_growth_next(&growth, &halves)) {
            for (size_t k = 0; halves && k < 4; k++)
                kept[k] = kept[2 * k];
            kept[growth.n - 1] = i;
        }
        n = growth.n;
        CHECK(n <= 8 && (i < 4 || n > 4));
        for (size_t k = 0; k < n; k++)
            CHECK_INT(kept[k], k * growth.every);
        CHECK(i - kept[n - 1] < growth.every);
    }
    CHECK_INT(growth.every, 128);
}

int main(void)
{
    test_walks();
    test_spike();
    test_growth();
    return check_done("report/thin");
}
