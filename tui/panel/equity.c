#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/format.h"
#include "tui/panel/frame.h"

enum { SAMPLES_MAX = 512, AXIS = 9 };

static const int64_t day_ms = 86400000;

/* The first account's curve: what is stored, and now. */
struct curve {
    struct history_equity points[HISTORY_EQUITY_MAX + 1];
    int n;
};

static void read_curve(struct curve *curve, const struct model *model, enum freshness freshness,
                       struct moment now)
{
    const struct history *h = &model->history;
    double equity = model->status.n_accounts > 0 ? model->status.accounts[0].equity : NAN;
    int64_t clock_ns = model_clock_ns(model, now);

    memcpy(curve->points, h->equity, (size_t)h->n_equity * sizeof(h->equity[0]));
    curve->n = h->n_equity;
    if (isfinite(equity) && freshness == FRESH && clock_ns > 0) {
        if (curve->n > 0 && clock_ns < curve->points[curve->n - 1].ts_ns)
            clock_ns = curve->points[curve->n - 1].ts_ns;
        curve->points[curve->n++] = (struct history_equity){clock_ns, equity};
    }
}

/* The curve at `n` equal steps of time from its first point to its last; between two points it stands. */
static void sample(const struct curve *curve, double *values, int n)
{
    int64_t first = curve->points[0].ts_ns, span = curve->points[curve->n - 1].ts_ns - first;

    for (int i = 0, at = 0; i < n; i++) {
        int64_t until = first + (int64_t)((double)span * (i + 1) / n);
        while (at + 1 < curve->n && (curve->points[at + 1].ts_ns <= until || i == n - 1))
            at++;
        values[i] = curve->points[at].equity;
    }
}

void panel_equity(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    enum freshness freshness = model_accounts_freshness(model, scene->now);
    struct curve curve;
    double values[SAMPLES_MAX], all[HISTORY_EQUITY_MAX + 1], low, high;
    char a[FORMAT_MAX], b[FORMAT_MAX], text[FORMAT_MAX * 2];

    read_curve(&curve, model, freshness, scene->now);
    int64_t span_ms = curve.n ? (curve.points[curve.n - 1].ts_ns - curve.points[0].ts_ns) / 1000000 : 0;
    bool several = model->status.n_accounts > 1; /* accounts do not add up: their currencies may differ */
    snprintf(text, sizeof(text), "Equity %s%s%s", format_age(a, span_ms > day_ms * 9 / 10 ? day_ms : span_ms),
             several ? " " : "", several ? model->status.accounts[0].account : "");
    struct area body = frame_rule(area, scene, PANEL_EQUITY, curve.n ? text : "Equity", -1, NULL);
    for (int i = 0; i < curve.n; i++)
        all[i] = curve.points[i].equity;
    if (!chart_range(all, curve.n, &low, &high)) {
        frame_empty(&body, frame_no_history(model, "no point yet"));
        return;
    }
    double first = all[0], last = all[curve.n - 1];
    if (freshness == FRESH)
        snprintf(text, sizeof(text), " %s %s ", format_signed(a, last - first, 2),
                 format_percent(b, first != 0 ? 100 * (last / first - 1) : NAN, 2));
    else
        snprintf(text, sizeof(text), " STALE ");
    if (area->width > (int)strlen(text) + 16)
        area_text_right(area, area->width - 1, 0,
                        freshness == FRESH ? style_signed(last - first) : STYLE_WARN, text);
    int decimals = high - low >= 20 ? 0 : high - low >= 2 ? 1 : 2, axis = body.width < 24 ? 0 : AXIS;
    struct area chart = area_part(&body, axis + 2, 0, body.width - axis - 3, body.height);
    int n = chart.width * 2 < SAMPLES_MAX ? chart.width * 2 : SAMPLES_MAX;
    sample(&curve, values, n);
    chart_line(&chart, values, n, low, high, frame_style(freshness, STYLE_CHART));
    if (axis) {
        area_text_right(&body, axis + 1, 0, STYLE_DIM, format_fit(a, high, decimals, axis));
        if (body.height > 1)
            area_text_right(&body, axis + 1, body.height - 1, STYLE_DIM, format_fit(a, low, decimals, axis));
    }
}
