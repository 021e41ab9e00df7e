#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/freshness.h"
#include "exchange/bar.h"
#include "tui/candle.h"
#include "tui/chart.h"
#include "tui/overlay.h"
#include "tui/panel/chart_figures.h"
#include "tui/panel/chart_marks.h"
#include "tui/panel/frame.h"

enum {
    BELOW_FROM = 12,         /* rows of plot from which on an indicator has room below it */
    BELOW_ROWS_MIN = 3,      /* its own, without its label */
    VOLUME_FROM = 7,         /* rows of plot from which on the volume has one, and … */
    VOLUME_SHARE = 8,        /* … one in so many */
    FIGURES_SHARE = 4,       /* its figures take at most one row in so many */
    LIVE_EXPECTED_MS = 1000, /* between two answers about what forms */
    POINTS_MAX = 2 * CANVAS_SIDE_MAX,
};

/* The values of an output at the bars that are shown. */
static const double *shown(const struct chart *chart, int output, double ret[static HISTORY_BARS_MAX])
{
    for (int i = 0; i < chart->n; i++)
        ret[i] = panel_chart_value(chart, output, chart->first + i);
    return ret;
}

static void widen(const double *values, int n, double *low, double *high)
{
    double least, most;

    if (!tui_chart_range(values, n, &least, &most))
        return;
    *low = fmin(*low, least);
    *high = fmax(*high, most);
}

/* A price that is not far from the bars' range low..high widens what is drawn. */
static void include(double price, double low, double high, struct chart *chart)
{
    double room = (high - low) / 2;

    if (!(price >= low - room && price <= high + room))
        return;
    chart->low = fmin(chart->low, price);
    chart->high = fmax(chart->high, price);
}

/* A line over the plot, one value a bar; of an overlay, with its dots. */
static void line(const struct chart_plot *plot, const double *values, const struct chart_overlay *overlay)
{
    double points[POINTS_MAX];
    int n = plot->plot.width * (plot->plot.canvas->glyphs == GLYPHS_BRAILLE ? 2 : 1);
    bool logs = plot->price.log;
    double low = logs ? log(plot->price.low) : plot->price.low;
    double high = logs ? log(plot->price.high) : plot->price.high;

    tui_axis_spread(plot->time, values, points, n);
    for (int i = 0; i < n; i++) {
        if (overlay && !(overlay->dots >> i % CHART_DOTS & 1))
            points[i] = NAN;
        points[i] = logs ? log(points[i]) : points[i];
    }
    if (overlay)
        tui_chart_overlay(&plot->plot, points, n, low, high, overlay->style);
    else
        tui_chart_line(&plot->plot, points, n, low, high, STYLE_CHART);
}

/* Is the output drawn over the prices? */
static bool is_over(const struct chart *chart, int output)
{
    const char *name = chart->history->output_names[output];

    return tui_overlay_on_price(name) && !tui_overlay_is_hidden(chart->hides, name);
}

/* The range of what is shown: bars, the indicators that are prices, and near them the last price and what
 * positions were entered at. Orders and alerts do not squeeze the bars: those outside are at the edges. */
static void range(struct chart *chart, const struct chart_line *lines, int n_lines)
{
    const struct history *h = chart->history;
    double values[HISTORY_BARS_MAX];

    for (int i = chart->first; i < chart->first + chart->n; i++) {
        chart->low = fmin(chart->low, panel_chart_bar(chart, i)->low);
        chart->high = fmax(chart->high, panel_chart_bar(chart, i)->high);
    }
    for (int i = 0; i < h->n_outputs && chart->low <= chart->high; i++)
        if (is_over(chart, i))
            widen(shown(chart, i, values), chart->n, &chart->low, &chart->high);
    const double low = chart->low, high = chart->high;
    for (int i = 0; i < n_lines; i++)
        if (lines[i].is_entry)
            include(lines[i].price, low, high, chart);
    include(chart->last, low, high, chart);
}

/* The prices at the right: ticks, then the last one, which no other covers. */
static int price_labels(const struct chart_plot *plot, double last, bool dim)
{
    int x = plot->plot.width + 2, row = tui_axis_row(&plot->price, last);
    struct price_tick ticks[AXIS_TICKS_MAX];
    int n = tui_axis_prices(&plot->price, row, plot->decimals, ticks);
    char a[FORMAT_MAX];

    for (int i = 0; i < n; i++)
        tui_area_text(&plot->under, x, ticks[i].row, STYLE_DIM,
                      cli_format_fit(a, ticks[i].price, plot->decimals, CHART_AXIS));
    if (row >= 0) {
        cli_format_fit(a, last, plot->decimals, CHART_AXIS - 1);
        tui_area_text(&plot->under, x - 1, row, dim ? STYLE_DIM : STYLE_STRONG, ">");
        tui_area_text(&plot->under, x, row, dim ? STYLE_DIM : STYLE_STRONG, a);
    }
    return row;
}

/* The bars, what is drawn over them, and the prices at the right. */
static void prices(const struct chart *chart, const struct chart_plot *plot, const struct scene *scene,
                   const struct chart_line *lines, int n_lines)
{
    const struct history *h = chart->history;
    double closes[HISTORY_BARS_MAX], values[HISTORY_BARS_MAX];
    bool braille = plot->plot.canvas->glyphs == GLYPHS_BRAILLE, as_line = scene->view->chart.line;

    for (int i = 0; as_line && i < chart->n; i++)
        closes[i] = plot->time->bars[i].close;
    if (as_line && !braille)
        line(plot, closes, NULL);
    for (int i = h->n_outputs - 1; i >= 0; i--) {
        struct chart_overlay overlay = panel_chart_overlay(h, i);
        if (is_over(chart, i))
            line(plot, shown(chart, i, values), &overlay);
    }
    if (as_line && braille) /* over them, in its own colour; blocks would cover them */
        line(plot, closes, NULL);
    if (!as_line)
        tui_candle_draw(&plot->plot, plot->time, &plot->price);
    panel_chart_closed(plot);
    panel_chart_fills(plot, h, chart->symbol->symbol);
    panel_chart_rule(plot, chart->last, STYLE_RULE);
    for (int i = 0; i < n_lines; i++)
        panel_chart_rule(plot, lines[i].price, lines[i].style);
    int row = price_labels(plot, chart->last, chart->dim);
    panel_chart_line_labels(plot, lines, n_lines, row);
}

/* The volume below the prices, its largest at the right. */
static void volume(const struct area *under, const struct time_axis *time, int y, int rows)
{
    struct area part = tui_area_part(under, 1, y, time->columns, rows);
    double most = tui_candle_volume(&part, time);
    char a[FORMAT_MAX];

    if (most > 0)
        tui_area_printf(under, time->columns + 2, y, STYLE_DIM, "v %s", cli_format_count(a, most));
}

/* An indicator on a scale of its own: outputs first..end-1, their figures in the row above. */
static void below(const struct area *body, const struct chart *chart, const struct time_axis *time, int first,
                  int end)
{
    const struct history *h = chart->history;
    struct chart_plot plot = {.plot = tui_area_part(body, 1, 1, time->columns, body->height - 1),
                              .time = time};
    double low = INFINITY, high = -INFINITY, values[HISTORY_BARS_MAX];
    char a[FORMAT_MAX];
    int x = 1;

    for (int i = first; i < end && x > 0; i++)
        x = panel_chart_figure(body, x, h->output_names[i], panel_chart_value(chart, i, chart->at),
                               chart->dim);
    for (int i = first; i < end; i++)
        widen(shown(chart, i, values), chart->n, &low, &high);
    if (!(low < high) || !tui_axis_price_init(&plot.price, low, high, plot.plot.height, false))
        return;
    for (int i = end - 1; i > first; i--)
        line(&plot, shown(chart, i, values), &(struct chart_overlay){STYLE_LINE, 0xf});
    line(&plot, shown(chart, first, values), NULL);
    int decimals = high - low < 10 ? 2 : 0;
    tui_area_text(body, time->columns + 2, 1, STYLE_DIM, cli_format_fit(a, high, decimals, CHART_AXIS));
    if (plot.plot.height > 1)
        tui_area_text(body, time->columns + 2, plot.plot.height, STYLE_DIM,
                      cli_format_fit(a, low, decimals, CHART_AXIS));
}

/* All that is below the figures: prices, volume, an indicator of its own, the times. */
static void draw(const struct area *under, const struct chart *chart, const struct scene *scene,
                 const struct time_axis *time, const struct chart_line *lines, int n_lines)
{
    const struct history *h = chart->history;
    int rows = under->height - 1, own = 0, first, end;

    if (rows >= BELOW_FROM && tui_overlay_below(h, chart->hides, scene->view->below, &first, &end)) {
        own = rows / 4 > BELOW_ROWS_MIN ? rows / 4 : BELOW_ROWS_MIN;
        struct area part = tui_area_part(under, 0, rows - own - 1, under->width, own + 1);
        below(&part, chart, time, first, end);
        rows -= own + 1;
    }
    int volumes = rows < VOLUME_FROM ? 0 : rows < 2 * VOLUME_SHARE ? 1 : rows / VOLUME_SHARE;
    rows -= volumes;
    if (volumes)
        volume(under, time, rows, volumes);
    struct chart_plot plot = {.plot = tui_area_part(under, 1, 0, time->columns, rows),
                              .under = *under,
                              .time = time,
                              .decimals = chart->decimals};
    if (tui_axis_price_init(&plot.price, chart->low, chart->high, rows, chart->log)) {
        prices(chart, &plot, scene, lines, n_lines);
        if (chart->cross)
            panel_chart_crosshair(&plot, tui_axis_column(time, chart->at - chart->first));
    }
    struct area row = tui_area_part(under, 1, under->height - 1, under->width - 1, 1);
    panel_chart_times(&row, time);
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

/* "BTCUSDT 1m log to 08-08 21:54": what is shown; "forming 08-08 23:54": the last bar is not closed; "fills
 * from 08-08 21:00": older ones were not read. */
static void title(char *buf, size_t size, const struct chart *chart, const char *timeframe)
{
    const struct history *h = chart->history;
    const struct history_fill *oldest = h->n_fills == HISTORY_ROWS_MAX ? &h->fills[h->n_fills - 1] : NULL;
    char a[FORMAT_MAX], b[FORMAT_MAX];
    int end = chart->first + chart->n - 1;
    bool past = chart->n > 0 && end < h->n_bars - 1, forms = panel_chart_forms(chart);
    bool lacks = chart->n > 0 && oldest && oldest->ts_ns > panel_chart_bar(chart, chart->first)->open_ns;

    snprintf(buf, size, "%s %s%s%s%s%s%s", chart->symbol->symbol, timeframe, chart->log ? " log" : "",
             past    ? " to "
             : forms ? " forming "
                     : "",
             past || forms ? panel_chart_time(a, h, panel_chart_bar(chart, end)->open_ns) : "",
             lacks ? " fills from " : "", lacks ? panel_chart_time(b, h, oldest->ts_ns) : "");
}

/* Are the bars that were read those of the symbol and the timeframe? */
static bool are_read(const struct history *h, const struct status_symbol *symbol, const char *timeframe)
{
    return strcmp(h->bars_symbol, symbol->symbol) == 0 && strcmp(h->bars_interval, timeframe) == 0;
}

/* Which bars so many columns show: of the history, and behind its newest what the daemon has of now. */
static void choose_bars(struct chart *ret, const struct view *view, const struct model *model,
                        struct moment now, int columns)
{
    const struct history *h = &model->history;
    const int64_t age_ms = now.mono_ms - model->live.mono_ms;
    const int wanted = view->chart.bars ? view->chart.bars : columns,
              most = wanted < HISTORY_BARS_MAX ? wanted : HISTORY_BARS_MAX;

    tui_chart_window(&view->chart, h, columns, &ret->first, &ret->n);
    ret->live = &model->live;
    ret->n_live = 0;
    if (model->at_ns == 0 && tui_model_freshness(model, now) == FRESH &&
        freshness_of(age_ms, model->interval_ms > LIVE_EXPECTED_MS ? model->interval_ms : LIVE_EXPECTED_MS) ==
            FRESH &&
        ret->n > 0 && ret->first + ret->n == h->n_bars)
        ret->n_live = tui_live_bars_newer(&model->live, h);
    ret->n += ret->n_live;
    if (ret->n > most) { /* the oldest ones give way */
        ret->first += ret->n - most;
        ret->n = most;
    }
}

/* Where in so many columns they stand; `bars` has them then. False: there is no bar. */
static bool place_bars(struct time_axis *ret, const struct chart *chart, int columns,
                       struct history_bar bars[static HISTORY_BARS_MAX])
{
    const bool sessions = chart->symbol->market[0] && strcmp(chart->symbol->market, "always") != 0;
    int64_t interval_ns = 0;

    for (int i = 0; i < chart->n; i++)
        bars[i] = *panel_chart_bar(chart, chart->first + i);
    if (chart->n < 1 || bar_interval_parse(chart->history->bars_interval, &interval_ns) < 0 ||
        !tui_axis_init(ret, bars, chart->n, interval_ns, columns, sessions))
        return false;
    ret->forming = panel_chart_forms(chart);
    return true;
}

void panel_chart(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct history *h = &model->history;
    const struct status_symbol *symbol = tui_view_symbol(scene->view, model);
    struct chart_line lines[CHART_LINES_MAX];
    struct history_bar bars[HISTORY_BARS_MAX];
    struct time_axis time;
    char words[96];
    int title_end, figures = 1;

    if (!symbol) {
        struct area empty = panel_frame_rule(area, scene, PANEL_CHART, "Chart", -1, NULL);
        panel_frame_empty(&empty, "no symbol");
        return;
    }
    const char *timeframe = tui_view_timeframe(scene->view, model, symbol);
    bool ours = are_read(h, symbol, timeframe);
    enum freshness freshness = tui_model_symbol_freshness(model, symbol, scene->now);
    struct chart chart = {.history = h,
                          .symbol = symbol,
                          .at = -1,
                          .hides = scene->view->settings.hides,
                          .dim = freshness == STALE || freshness == GONE,
                          .decimals = symbol->price_decimals,
                          .last = symbol->last,
                          .low = INFINITY,
                          .high = -INFINITY};
    int n_lines = panel_chart_lines(model, symbol->symbol, lines, CHART_LINES_MAX);
    int columns = panel_chart_columns(model, symbol->symbol, area->width);
    if (ours && h->n_bars > 0 && columns > 0) {
        choose_bars(&chart, scene->view, model, scene->now, columns);
        chart.at = tui_chart_crosshair(&scene->view->chart, h, chart.first, chart.n - chart.n_live);
        chart.cross = chart.at >= 0;
        chart.at = chart.cross ? chart.at : chart.first + chart.n - 1;
        chart.last = isfinite(chart.last) ? chart.last : h->bars[h->n_bars - 1].close;
        range(&chart, lines, n_lines);
        chart.log = scene->view->chart.log && chart.low > 0 && chart.low <= chart.high;
    }
    title(words, sizeof(words), &chart, timeframe);
    struct area body = panel_frame_rule(area, scene, PANEL_CHART, words, -1, &title_end);
    if (ours)
        timeframes(area, h, timeframe, area->width - title_end - 4);
    if (chart.at >= 0 || strcmp(timeframe, symbol->interval) == 0) /* the daemon's newest is the market's */
        figures = panel_chart_figures(
            &body, body.height / FIGURES_SHARE > 1 ? body.height / FIGURES_SHARE : 1, &chart);
    struct area under = tui_area_part(&body, 0, figures, body.width, body.height - figures);
    bool any = place_bars(&time, &chart, columns, bars);
    if (columns < CHART_COLUMNS_MIN || body.height < 4 || !any)
        panel_frame_empty(&under,
                          any ? "no room for a chart" : panel_frame_no_history(model, "no stored bars yet"));
    else
        draw(&under, &chart, scene, &time, lines, n_lines);
}

int panel_chart_bar_at(const struct view *view, const struct model *model, struct moment now, int x,
                       int width)
{
    const struct history *h = &model->history;
    const struct status_symbol *symbol = tui_view_symbol(view, model);
    struct chart chart = {.history = h, .symbol = symbol};
    struct history_bar bars[HISTORY_BARS_MAX];
    struct time_axis time;
    int nearest = -1, least = INT_MAX;

    if (!symbol || !are_read(h, symbol, tui_view_timeframe(view, model, symbol)))
        return -1;
    const int columns = panel_chart_columns(model, symbol->symbol, width);
    if (columns < CHART_COLUMNS_MIN)
        return -1;
    choose_bars(&chart, view, model, now, columns);
    if (!place_bars(&time, &chart, columns, bars))
        return -1;
    for (int i = 0; i < chart.n - chart.n_live; i++) {
        const int away = abs(tui_axis_column(&time, i) - (x - 1)); /* the plot begins in the second column */
        if (away < least) {
            least = away;
            nearest = chart.first + i;
        }
    }
    return nearest;
}
