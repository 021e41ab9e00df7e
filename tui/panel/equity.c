#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/format.h"
#include "tui/panel/frame.h"

void panel_equity(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct history *h = &model->history;
    enum freshness freshness = model_accounts_freshness(model, scene->now);
    struct area body = frame_rule(area, scene, PANEL_EQUITY, "Equity 24h", -1, NULL);
    double values[HISTORY_EQUITY_MAX + 1], low, high;
    char a[FORMAT_MAX], b[FORMAT_MAX], text[FORMAT_MAX * 2];
    int n = 0;

    for (int i = 0; i < h->n_equity; i++)
        values[n++] = h->equity[i].equity;
    double now = model_total(model).equity;
    if (isfinite(now) && freshness == FRESH)
        values[n++] = now;
    if (!chart_range(values, n, &low, &high)) {
        frame_empty(&body, frame_no_history(model, "no point yet"));
        return;
    }
    double first = values[0], last = values[n - 1];
    if (freshness == FRESH)
        snprintf(text, sizeof(text), " %s %s ", format_signed(a, last - first, 2),
                 format_percent(b, first != 0 ? 100 * (last / first - 1) : NAN, 2));
    else
        snprintf(text, sizeof(text), " STALE ");
    if (area->width > (int)strlen(text) + 16)
        area_text_right(area, area->width - 1, 0,
                        freshness == FRESH ? style_signed(last - first) : STYLE_WARN, text);
    int decimals = high - low >= 20 ? 0 : high - low >= 2 ? 1 : 2, axis = 10;
    if (body.width < 24)
        axis = 0;
    struct area chart = area_part(&body, axis + 1, 0, body.width - axis - 2, body.height);
    chart_line(&chart, values, n, low, high, frame_style(freshness, STYLE_CHART));
    if (axis) {
        area_text_right(&body, axis, 0, STYLE_DIM, format_fit(a, high, decimals, axis - 1));
        if (body.height > 1)
            area_text_right(&body, axis, body.height - 1, STYLE_DIM, format_fit(a, low, decimals, axis - 1));
    }
}
