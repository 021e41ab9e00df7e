#include "tui/panel/chart_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exchange/bar.h"
#include "tui/overlay.h"

enum {
    STYLES_OF_OVERLAYS = 4,
    MINUTE_END = 16, /* of "2024-08-08 22:30:00" */
    YEAR_END = 5,
};

/* Of the live bars, the place of a bar of the chart; below 0: it is the history's. */
static int live_at(const struct chart *chart, int bar)
{
    return bar - chart->history->n_bars < 0 ? -1
                                            : chart->live->n - chart->n_live + bar - chart->history->n_bars;
}

const struct history_bar *panel_chart_bar(const struct chart *chart, int bar)
{
    int live = live_at(chart, bar);

    return live < 0 ? &chart->history->bars[bar] : &chart->live->bars[live];
}

double panel_chart_value(const struct chart *chart, int output, int bar)
{
    const struct history *h = chart->history;
    int live = live_at(chart, bar);

    return live < 0 ? h->outputs[output][bar]
                    : tui_live_bars_value(chart->live, live, h->output_names[output]);
}

bool panel_chart_forms(const struct chart *chart)
{
    return chart->n_live > 0 && chart->live->forming[chart->live->n - 1];
}

struct chart_overlay panel_chart_style(int at)
{
    static const struct chart_overlay styles[STYLES_OF_OVERLAYS] = {
        {STYLE_LINE, 0xf}, {STYLE_LINE_2, 0x7}, {STYLE_LINE_3, 0x5}, {STYLE_LINE_4, 0x1}};

    return styles[at % STYLES_OF_OVERLAYS];
}

struct chart_overlay panel_chart_overlay(const struct history *history, int output)
{
    int at = 0;

    for (int i = 0, end; i < output; i = end) {
        end = tui_overlay_end(history, i);
        at += tui_overlay_on_price(history->output_names[i]) && end <= output;
    }
    return panel_chart_style(at);
}

static int named(const struct area *area, int x, const char *name, const char *text, bool dim)
{
    if (x < 0 || x + (int)(strlen(name) + strlen(text)) + 1 > area->width)
        return -1;
    x = tui_area_text(area, x, 0, STYLE_DIM, name) + 1;
    return tui_area_text(area, x, 0, dim ? STYLE_DIM : STYLE_NORMAL, text) + 2;
}

int panel_chart_figure(const struct area *area, int x, const char *name, double value, bool dim)
{
    char a[FORMAT_MAX];

    return named(area, x, name, cli_format_number(a, value, fabs(value) < 1 ? 4 : 2), dim);
}

/* How many columns a sample of a line has: two cells of braille, else four characters. */
static int sample_columns(const struct area *area)
{
    return area->canvas->glyphs == GLYPHS_BRAILLE ? CHART_DOTS / 2 : CHART_DOTS;
}

int panel_chart_sample(const struct area *area, int x, struct chart_overlay overlay)
{
    enum glyphs glyphs = area->canvas->glyphs;

    for (int i = 0; i < CHART_DOTS; i++) {
        bool on = overlay.dots >> i & 1, before = i > 0 && (overlay.dots >> (i - 1) & 1);
        if (glyphs != GLYPHS_BRAILLE)
            tui_area_char(area, x + i, 0, overlay.style, !on ? L' ' : glyphs == GLYPHS_ASCII ? L':' : L'·');
        else if (i % 2 == 1) /* the third dots of both columns */
            tui_area_char(area, x + i / 2, 0, overlay.style, (wchar_t)(0x2800 + before * 0x04 + on * 0x20));
    }
    return x + sample_columns(area);
}

/* Where the next figure is drawn: words flow from one row to the next. */
struct legend_pen {
    const struct area *area;
    int x, y, rows; /* y at rows: there was no more room */
};

/* Finds room for so many columns, in the next row where this one has none. False: there is no more. */
static bool pen_room(struct legend_pen *pen, int columns)
{
    if (pen->x + columns > pen->area->width) {
        pen->x = 1;
        pen->y++;
    }
    if (pen->y < pen->rows && pen->x + columns <= pen->area->width)
        return true;
    pen->y = pen->rows;
    return false;
}

/* Of which bar the indicators' figures are, where that is not plain: "forming:", of the bar that is not
 * closed, whose close will be another; "closed:", of the one before, beside such a bar's own figures. */
static const char *whose(const struct chart *chart, bool kept)
{
    const bool last = chart->at == chart->first + chart->n - 1;

    return !panel_chart_forms(chart) || !last ? "" : kept ? "forming: " : "closed: ";
}

/* How it is drawn, its name, and its outputs' values at the bar: "⠤⠄ bbands_20_2 61825.00 61765.00 61705.00".
 * What stands before it, the name and the first value are in one row. */
static void overlay(struct legend_pen *pen, const struct chart *chart, const char *lead, int first, int end)
{
    const struct history *h = chart->history;
    const char *name = h->output_names[first];
    const struct chart_overlay drawn = panel_chart_overlay(h, first);
    const int len = end - first > 1 ? (int)strcspn(name, ".") : (int)strlen(name);
    char a[FORMAT_MAX];

    for (int i = first; i < end; i++) {
        cli_format_number(a, panel_chart_value(chart, i, chart->at), chart->decimals);
        const int before = i > first ? 0 : (int)strlen(lead) + sample_columns(pen->area) + 1 + len + 1;
        if (!pen_room(pen, before + (int)strlen(a)))
            return;
        if (i == first) {
            struct area row = tui_area_part(pen->area, 0, pen->y, pen->area->width, 1);
            pen->x = tui_area_text(&row, pen->x, 0, STYLE_DIM, lead);
            pen->x = panel_chart_sample(&row, pen->x, drawn) + 1;
            pen->x = tui_area_printf(pen->area, pen->x, pen->y, drawn.style, "%.*s", len, name) + 1;
        }
        pen->x = tui_area_text(pen->area, pen->x, pen->y, chart->dim ? STYLE_DIM : STYLE_NORMAL, a) + 1;
    }
    pen->x++;
}

static bool is_shown(const struct chart *chart, int output, bool on_price)
{
    const char *name = chart->history->output_names[output];

    return tui_overlay_on_price(name) == on_price && !tui_overlay_is_hidden(chart->hides, name);
}

static int led_figure(const struct area *area, int x, const char *lead, const char *name, double value,
                      bool dim)
{
    char words[FORMAT_MAX + sizeof(((struct history *)NULL)->output_names[0])];

    snprintf(words, sizeof(words), "%.16s%s", lead, name);
    return panel_chart_figure(area, x, words, value, dim);
}

/* Those over the prices in as many rows as they need, then others as far as the last row has room. */
static void indicators(struct legend_pen *pen, const struct chart *chart)
{
    const struct history *h = chart->history;
    const char *lead = whose(chart, true);

    for (int i = 0, end; i < h->n_outputs; i = end) {
        end = tui_overlay_end(h, i);
        if (!is_shown(chart, i, true))
            continue;
        overlay(pen, chart, lead, i, end);
        lead = "";
    }
    if (pen->y == pen->rows) {
        tui_area_text_right(pen->area, pen->area->width, pen->rows - 1, STYLE_DIM, " ...");
        return;
    }
    struct area row = tui_area_part(pen->area, 0, pen->y, pen->area->width, 1);
    for (int i = 0, x = pen->x; i < h->n_outputs && x > 0; i++)
        if (is_shown(chart, i, false)) {
            x = led_figure(&row, x, lead, h->output_names[i], panel_chart_value(chart, i, chart->at),
                           chart->dim);
            lead = "";
        }
}

const char *panel_chart_time(char buf[static FORMAT_MAX], const struct history *history, int64_t open_ns)
{
    const int64_t minute_ns = INT64_C(60) * 1000000000;
    int64_t interval_ns = minute_ns;

    cli_format_time(buf, open_ns);
    (void)bar_interval_parse(history->bars_interval, &interval_ns);
    if (interval_ns >= minute_ns)
        buf[MINUTE_END] = '\0';
    return buf + YEAR_END;
}

int panel_chart_figures(const struct area *area, int rows, const struct chart *chart)
{
    const struct status_symbol *symbol = chart->symbol;
    const struct history_bar *bar = chart->at >= 0 ? panel_chart_bar(chart, chart->at) : NULL;
    const bool kept = bar && chart->history->n_outputs > 0;
    char a[FORMAT_MAX];
    int x = 1;
    const struct {
        const char *name;
        double value;
    } prices[] = {{"o", bar ? bar->open : symbol->bar_open},
                  {"h", bar ? bar->high : symbol->bar_high},
                  {"l", bar ? bar->low : symbol->bar_low},
                  {"c", bar ? bar->close : symbol->bar_close}};

    if (chart->cross && bar)
        x = tui_area_text(area, x, 0, STYLE_KEY, panel_chart_time(a, chart->history, bar->open_ns)) + 2;
    for (int i = 0; i < 4; i++)
        x = named(area, x, prices[i].name, cli_format_number(a, prices[i].value, chart->decimals),
                  chart->dim);
    x = named(area, x, "v", cli_format_count(a, bar ? bar->volume : symbol->bar_volume), chart->dim);
    struct legend_pen pen = {area, x > 0 ? x : area->width, 0, rows};
    if (kept)
        indicators(&pen, chart);
    else if (!chart->cross) /* the strategies' are of the newest bar alone */
        for (int i = 0; i < symbol->n_indicators && x > 0; i++)
            x = led_figure(area, x, i == 0 ? whose(chart, false) : "", symbol->indicators[i].name,
                           symbol->indicators[i].value, chart->dim);
    return pen.y < rows ? pen.y + 1 : rows;
}
