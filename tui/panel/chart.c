#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/format.h"
#include "tui/panel/frame.h"

enum { AXIS = 11 };

/* What the newest bar and the indicators say, on one line. */
static void figures(const struct area *body, const struct status_symbol *symbol)
{
    char a[FORMAT_MAX];
    int x = 1, decimals = symbol->price_decimals;
    const struct {
        const char *name;
        double value;
    } bar[] = {
        {"o", symbol->bar_open}, {"h", symbol->bar_high}, {"l", symbol->bar_low}, {"c", symbol->bar_close}};

    for (int i = 0; i < 4; i++) {
        x = area_text(body, x, 0, STYLE_DIM, bar[i].name) + 1;
        x = area_text(body, x, 0, STYLE_NORMAL, format_number(a, bar[i].value, decimals)) + 2;
    }
    x = area_text(body, x, 0, STYLE_DIM, "v") + 1;
    x = area_text(body, x, 0, STYLE_NORMAL, format_count(a, symbol->bar_volume)) + 2;
    for (int i = 0; i < symbol->n_indicators; i++) {
        const struct status_indicator *indicator = &symbol->indicators[i];
        format_number(a, indicator->value, fabs(indicator->value) < 1 ? 4 : 2);
        if (x + (int)(strlen(indicator->name) + strlen(a)) + 1 > body->width)
            break;
        x = area_text(body, x, 0, STYLE_DIM, indicator->name) + 1;
        x = area_text(body, x, 0, STYLE_NORMAL, a) + 2;
    }
}

static void time_axis(const struct area *body, const struct history *h, int columns, int shown)
{
    char a[FORMAT_MAX];
    int y = body->height - 1, from = h->n_bars - shown;

    format_time(a, h->bars[from].open_ns);
    area_text(body, 1 + columns - (shown < columns ? shown : columns), y, STYLE_DIM, a + 5);
    format_clock(a, h->bars[h->n_bars - 1].open_ns);
    if (columns > 34)
        area_text_right(body, 1 + columns, y, STYLE_DIM, a);
}

void panel_chart(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct history *h = &model->history;
    const struct status_symbol *symbol = view_symbol(scene->view, model);
    char title[64], a[FORMAT_MAX];
    double values[HISTORY_BARS_MAX], low, high;

    if (!symbol) {
        struct area empty = frame_rule(area, scene, PANEL_CHART, "Chart", -1, NULL);
        frame_empty(&empty, "no symbol");
        return;
    }
    snprintf(title, sizeof(title), "%s %s", symbol->symbol, symbol->interval);
    struct area body = frame_rule(area, scene, PANEL_CHART, title, -1, NULL);
    figures(&body, symbol);
    bool ours = strcmp(h->bars_symbol, symbol->symbol) == 0;
    int columns = body.width - AXIS - 2, n = ours ? h->n_bars : 0;
    int shown = n < 2 * columns ? n : 2 * columns; /* at most two bars a column */
    struct area under = area_part(&body, 0, 1, body.width, body.height - 1);
    for (int i = 0; i < shown; i++)
        values[i] = h->bars[n - shown + i].close;
    if (columns < 8 || body.height < 4 || !chart_range(values, shown, &low, &high)) {
        frame_empty(&under, frame_no_history(model, "no stored bars yet"));
        return;
    }
    struct area plot = area_part(&under, 1, 0, columns, under.height - 1);
    chart_line(&plot, values, shown, low, high, STYLE_CHART);
    int axis = columns + 2, decimals = symbol->price_decimals;
    int last = (int)lround((high - values[shown - 1]) / (high - low) * (plot.height - 1));
    area_text(&under, axis, 0, STYLE_DIM, format_fit(a, high, decimals, AXIS));
    area_text(&under, axis, plot.height - 1, STYLE_DIM, format_fit(a, low, decimals, AXIS));
    area_text(&under, axis, last, STYLE_STRONG, format_fit(a, values[shown - 1], decimals, AXIS));
    time_axis(&under, h, columns, shown);
}
