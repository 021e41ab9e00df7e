#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/chart.h"
#include "tui/overlay.h"
#include "tui/panel/frame.h"

enum {
    AXIS = 11,
    BELOW_FROM = 12,    /* rows of plot from which on an indicator has room below it */
    BELOW_ROWS_MIN = 3, /* its own, without its label */
};

/* The chart's data: the symbol's, and the requested timeframe. */
struct chart {
    const struct history *history; /* n bars, of which the last `shown` */
    const struct status_symbol *symbol;
    int n, shown, decimals;
};

/* Draws a name and its figure and returns the column for the next; -1: it has no room, as half a number
 * would be another. */
static int named(const struct area *body, int x, int y, const char *name, const char *text)
{
    if (x < 0 || x + (int)(strlen(name) + strlen(text)) + 1 > body->width)
        return -1;
    x = tui_area_text(body, x, y, STYLE_DIM, name) + 1;
    return tui_area_text(body, x, y, STYLE_NORMAL, text) + 2;
}

static int figure(const struct area *body, int x, int y, const char *name, double value)
{
    char a[FORMAT_MAX];

    return named(body, x, y, name, cli_format_number(a, value, fabs(value) < 1 ? 4 : 2));
}

/* Figures of the newest bar and the indicators, on one line: those that are kept, or the strategies'. */
static void figures(const struct area *body, const struct chart *chart)
{
    const struct status_symbol *symbol = chart->symbol;
    const struct history *h = chart->history;
    bool kept = chart->n > 0 && h->n_outputs > 0;
    const struct history_bar *newest = kept ? &h->bars[chart->n - 1] : NULL;
    char a[FORMAT_MAX];
    int x = 1;
    const struct {
        const char *name;
        double value;
    } bar[] = {{"o", newest ? newest->open : symbol->bar_open},
               {"h", newest ? newest->high : symbol->bar_high},
               {"l", newest ? newest->low : symbol->bar_low},
               {"c", newest ? newest->close : symbol->bar_close}};

    for (int i = 0; i < 4; i++)
        x = named(body, x, 0, bar[i].name, cli_format_number(a, bar[i].value, chart->decimals));
    x = named(body, x, 0, "v", cli_format_count(a, newest ? newest->volume : symbol->bar_volume));
    for (int i = 0; kept && i < h->n_outputs && x > 0; i++)
        x = figure(body, x, 0, h->output_names[i], h->outputs[i][chart->n - 1]);
    for (int i = 0; !kept && i < symbol->n_indicators && x > 0; i++)
        x = figure(body, x, 0, symbol->indicators[i].name, symbol->indicators[i].value);
}

static void time_axis(const struct area *body, const struct chart *chart, int columns)
{
    const struct history *h = chart->history;
    char first[FORMAT_MAX], last[FORMAT_MAX];
    int y = body->height - 1, from = chart->n - chart->shown;

    cli_format_time(first, h->bars[from].open_ns);
    cli_format_clock(last, h->bars[chart->n - 1].open_ns);
    bool both = columns > 34;
    int x = 1 + columns - (chart->shown < columns ? chart->shown : columns);
    int most = 1 + columns - (int)strlen(first + 5) - (both ? (int)strlen(last) + 2 : 0);
    tui_area_text(body, x < most || most < 1 ? x : most, y, STYLE_DIM, first + 5);
    if (both)
        tui_area_text_right(body, 1 + columns, y, STYLE_DIM, last);
}

/* The values of an output at the bars that are shown. */
static const double *shown(const struct chart *chart, int output)
{
    return chart->history->outputs[output] + chart->n - chart->shown;
}

static void widen(const double *values, int n, double *low, double *high)
{
    double least, most;

    if (!tui_chart_range(values, n, &least, &most))
        return;
    *low = fmin(*low, least);
    *high = fmax(*high, most);
}

/* The prices, and over them the indicators that are prices. */
static void prices(const struct area *under, const struct area *plot, const struct chart *chart,
                   const double *closes, double low, double high)
{
    const struct history *h = chart->history;
    char a[FORMAT_MAX];
    int axis = plot->width + 2;
    bool braille = plot->canvas->glyphs == GLYPHS_BRAILLE;

    for (int i = 0; i < h->n_outputs; i++)
        if (tui_overlay_on_price(h->output_names[i]))
            widen(shown(chart, i), chart->shown, &low, &high);
    if (!braille)
        tui_chart_line(plot, closes, chart->shown, low, high, STYLE_CHART);
    for (int i = 0; i < h->n_outputs; i++)
        if (tui_overlay_on_price(h->output_names[i]))
            tui_chart_overlay(plot, shown(chart, i), chart->shown, low, high, STYLE_LINE);
    if (braille) /* over them, in its own colour */
        tui_chart_line(plot, closes, chart->shown, low, high, STYLE_CHART);
    int last = (int)lround((high - closes[chart->shown - 1]) / (high - low) * (plot->height - 1));
    tui_area_text(under, axis, 0, STYLE_DIM, cli_format_fit(a, high, chart->decimals, AXIS));
    tui_area_text(under, axis, plot->height - 1, STYLE_DIM, cli_format_fit(a, low, chart->decimals, AXIS));
    tui_area_text(under, axis, last, STYLE_STRONG,
                  cli_format_fit(a, closes[chart->shown - 1], chart->decimals, AXIS));
}

/* An indicator on a scale of its own: outputs first..end-1, their figures in the row above. */
static void below(const struct area *body, const struct chart *chart, int columns, int first, int end)
{
    const struct history *h = chart->history;
    struct area plot = tui_area_part(body, 1, 1, columns, body->height - 1);
    double low = INFINITY, high = -INFINITY;
    char a[FORMAT_MAX];
    int x = 1;

    for (int i = first; i < end && x > 0; i++)
        x = figure(body, x, 0, h->output_names[i], h->outputs[i][chart->n - 1]);
    for (int i = first; i < end; i++)
        widen(shown(chart, i), chart->shown, &low, &high);
    if (!(low < high))
        return;
    for (int i = end - 1; i > first; i--)
        tui_chart_overlay(&plot, shown(chart, i), chart->shown, low, high, STYLE_LINE);
    tui_chart_line(&plot, shown(chart, first), chart->shown, low, high, STYLE_CHART);
    int decimals = high - low < 10 ? 2 : 0;
    tui_area_text(body, columns + 2, 1, STYLE_DIM, cli_format_fit(a, high, decimals, AXIS));
    if (plot.height > 1)
        tui_area_text(body, columns + 2, plot.height, STYLE_DIM, cli_format_fit(a, low, decimals, AXIS));
}

/* "1m [5m] 15m" at the right end of the rule. */
static void timeframes(const struct area *area, const struct history *h, const char *chosen, int room)
{
    char text[HISTORY_TIMEFRAMES_MAX * (STATUS_WORD_MAX + 3) + 2] = " ";

    for (int i = 0; i < h->n_timeframes; i++) {
        bool is = strcmp(h->timeframes[i], chosen) == 0;
        size_t n = strlen(text);
        snprintf(text + n, sizeof(text) - n, "%s%s%s ", is ? "[" : "", h->timeframes[i], is ? "]" : "");
    }
    if (h->n_timeframes > 1 && (int)strlen(text) <= room)
        tui_area_text_right(area, area->width - 1, 0, STYLE_DIM, text);
}

void panel_chart(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct history *h = &model->history;
    const struct status_symbol *symbol = tui_view_symbol(scene->view, model);
    char title[64];
    double closes[HISTORY_BARS_MAX], low, high;
    int title_end, first, end;

    if (!symbol) {
        struct area empty = panel_frame_rule(area, scene, PANEL_CHART, "Chart", -1, NULL);
        panel_frame_empty(&empty, "no symbol");
        return;
    }
    const char *timeframe = tui_view_timeframe(scene->view, model, symbol);
    bool ours = strcmp(h->bars_symbol, symbol->symbol) == 0 && strcmp(h->bars_interval, timeframe) == 0;
    snprintf(title, sizeof(title), "%s %s", symbol->symbol, timeframe);
    struct area body = panel_frame_rule(area, scene, PANEL_CHART, title, -1, &title_end);
    if (ours)
        timeframes(area, h, timeframe, area->width - title_end - 4);
    int columns = body.width - AXIS - 2, n = ours ? h->n_bars : 0;
    const struct chart chart = {.history = h,
                                .symbol = symbol,
                                .n = n,
                                .shown = n < 2 * columns ? n : 2 * columns, /* at most two bars a column */
                                .decimals = symbol->price_decimals};
    if (ours || strcmp(timeframe, symbol->interval) == 0) /* the daemon's newest bar is the market's */
        figures(&body, &chart);
    struct area under = tui_area_part(&body, 0, 1, body.width, body.height - 1);
    for (int i = 0; i < chart.shown; i++)
        closes[i] = h->bars[n - chart.shown + i].close;
    bool any = tui_chart_range(closes, chart.shown, &low, &high);
    if (columns < 8 || body.height < 4 || !any) {
        panel_frame_empty(&under,
                          any ? "no room for a chart" : panel_frame_no_history(model, "no stored bars yet"));
        return;
    }
    int rows = under.height - 1, own = 0;
    if (rows >= BELOW_FROM && tui_overlay_below(h, scene->view->below, &first, &end)) {
        own = rows / 4 > BELOW_ROWS_MIN ? rows / 4 : BELOW_ROWS_MIN;
        struct area part = tui_area_part(&under, 0, rows - own - 1, under.width, own + 1);
        below(&part, &chart, columns, first, end);
        rows -= own + 1;
    }
    struct area plot = tui_area_part(&under, 1, 0, columns, rows);
    prices(&under, &plot, &chart, closes, low, high);
    time_axis(&under, &chart, columns);
}
