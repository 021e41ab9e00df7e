#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/chart.h"
#include "tui/panel/frame.h"

enum { SAMPLES_MAX = 512, AXIS = 9 };

static const int64_t day_ms = 86400000;

/* The chosen account's curve: what is stored, and now. */
struct equity_curve {
    struct history_equity points[HISTORY_EQUITY_MAX + 1];
    int n;
};

static void read_curve(struct equity_curve *curve, const struct model *model,
                       const struct status_account *account, enum freshness freshness, struct moment now)
{
    const struct history *h = &model->history;
    int64_t clock_ns = tui_model_clock_ns(model, now);

    curve->n = 0;
    if (account && h->equity_account[0] && strcmp(h->equity_account, account->account) != 0)
        return; /* it has not been read yet */
    memcpy(curve->points, h->equity, (size_t)h->n_equity * sizeof(h->equity[0]));
    curve->n = h->n_equity;
    if (account && isfinite(account->equity) && freshness == FRESH && clock_ns > 0) {
        if (curve->n > 0 && clock_ns < curve->points[curve->n - 1].ts_ns)
            clock_ns = curve->points[curve->n - 1].ts_ns;
        curve->points[curve->n++] = (struct history_equity){clock_ns, account->equity};
    }
}

/* Samples a curve at `n` equal steps of the time from `first` to `last`; between two points it is constant,
 * before the first it has no value. */
static void sample(const struct history_equity *points, int n_points, int64_t first, int64_t last,
                   double *values, int n)
{
    for (int i = 0, at = -1; i < n; i++) {
        int64_t until = i == n - 1 ? last : first + (int64_t)((double)(last - first) * (i + 1) / n);
        while (at + 1 < n_points && points[at + 1].ts_ns <= until)
            at++;
        values[i] = at < 0 ? NAN : points[at].equity;
    }
}

/* The backtest's curve of the account, over the same time; false when there is none of it. */
static bool sample_backtest(const struct model *model, const struct status_account *account, int64_t first,
                            int64_t last, double *values, int n)
{
    const struct backtest_view *backtest = &model->backtest;

    if (backtest->state != BACKTEST_DONE || !account || strcmp(backtest->account, account->account) != 0 ||
        backtest->n_curve == 0 || backtest->curve[0].ts_ns > last)
        return false;
    sample(backtest->curve, backtest->n_curve, first, last, values, n);
    return true;
}

void panel_equity(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    enum freshness freshness = tui_model_accounts_freshness(model, scene->now);
    struct equity_curve curve;
    double values[SAMPLES_MAX], all[HISTORY_EQUITY_MAX + 1 + SAMPLES_MAX], low, high;
    char a[FORMAT_MAX], b[FORMAT_MAX], text[FORMAT_MAX * 3];
    const struct status_account *account = tui_view_account(scene->view, model);

    read_curve(&curve, model, account, freshness, scene->now);
    int64_t span_ms = curve.n ? (curve.points[curve.n - 1].ts_ns - curve.points[0].ts_ns) / 1000000 : 0;
    bool several = model->status.n_accounts > 1; /* accounts are not summed: their currencies may differ */
    snprintf(text, sizeof(text), "Equity %s%s%s",
             cli_format_age(a, span_ms > day_ms * 9 / 10 ? day_ms : span_ms), several ? " " : "",
             several ? account->account : "");
    struct area body = panel_frame_rule(area, scene, PANEL_EQUITY, curve.n ? text : "Equity", -1, NULL);
    for (int i = 0; i < curve.n; i++)
        all[i] = curve.points[i].equity;
    int64_t from_ns = curve.n ? curve.points[0].ts_ns : 0,
            to_ns = curve.n ? curve.points[curve.n - 1].ts_ns : 0;
    double backtest[SAMPLES_MAX];
    int width = body.width * 2 < SAMPLES_MAX ? body.width * 2 : SAMPLES_MAX;
    bool both = curve.n > 0 && sample_backtest(model, account, from_ns, to_ns, backtest, width);
    if (both)
        memcpy(all + curve.n, backtest, (size_t)width * sizeof(*all));
    if (!tui_chart_range(all, curve.n + (both ? width : 0), &low, &high)) {
        panel_frame_empty(&body, panel_frame_no_history(model, "no point yet"));
        return;
    }
    double first = all[0], last = all[curve.n - 1];
    if (freshness == FRESH && both)
        snprintf(text, sizeof(text), " live %s  .. backtest %s ", cli_format_fit(a, last, 2, AXIS + 3),
                 cli_format_fit(b, backtest[width - 1], 2, AXIS + 3));
    else if (freshness == FRESH)
        snprintf(text, sizeof(text), " %s %s ", cli_format_signed(a, last - first, 2),
                 cli_format_percent(b, first != 0 ? 100 * (last / first - 1) : NAN, 2));
    else
        snprintf(text, sizeof(text), " STALE ");
    if (area->width > (int)strlen(text) + 16)
        tui_area_text_right(area, area->width - 1, 0,
                            freshness == FRESH ? style_signed(last - first) : STYLE_WARN, text);
    int decimals = high - low >= 20 ? 0 : high - low >= 2 ? 1 : 2, axis = body.width < 24 ? 0 : AXIS;
    struct area chart = tui_area_part(&body, axis + 2, 0, body.width - axis - 3, body.height);
    int n = chart.width * 2 < SAMPLES_MAX ? chart.width * 2 : SAMPLES_MAX;
    sample(curve.points, curve.n, from_ns, to_ns, values, n);
    tui_chart_line(&chart, values, n, low, high, panel_frame_style(freshness, STYLE_CHART));
    if (both && sample_backtest(model, account, from_ns, to_ns, backtest, n))
        tui_chart_overlay(&chart, backtest, n, low, high, STYLE_LINE);
    if (axis) {
        tui_area_text_right(&body, axis + 1, 0, STYLE_DIM, cli_format_fit(a, high, decimals, axis));
        if (body.height > 1)
            tui_area_text_right(&body, axis + 1, body.height - 1, STYLE_DIM,
                                cli_format_fit(a, low, decimals, axis));
    }
}
