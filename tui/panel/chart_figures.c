#include "tui/panel/chart_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exchange/bar.h"
#include "tui/overlay.h"

enum {
    STYLES_OF_OVERLAYS = 4,
    INDICATOR_MAX = 160, /* bytes of an indicator with its figures */
    MINUTE_END = 16,     /* of "2024-08-08 22:30:00" */
    YEAR_END = 5,
};

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

/* "bbands_20_2 61825.00 61765.00 61705.00", or the name alone. */
static void indicator_text(char text[static INDICATOR_MAX], const struct chart *chart, int first, int end,
                           bool values)
{
    const struct history *h = chart->history;
    const char *name = h->output_names[first];
    int len = end - first > 1 ? (int)strcspn(name, ".") : (int)strlen(name);
    char a[FORMAT_MAX];

    snprintf(text, INDICATOR_MAX, "%.*s", len, name);
    for (int i = first; values && i < end; i++) {
        size_t n = strlen(text);
        snprintf(text + n, INDICATOR_MAX - n, " %s", cli_format_number(a, h->outputs[i][chart->at], 2));
    }
}

/* The indicators over the prices from column x on. Returns the column for what follows; -1: they have no
 * room, and without `draw` nothing is drawn. */
static int overlays(const struct area *area, int x, const struct chart *chart, bool values, bool draw)
{
    const struct history *h = chart->history;
    char text[INDICATOR_MAX];

    for (int i = 0, end; i < h->n_outputs; i = end) {
        end = tui_overlay_end(h, i);
        if (!tui_overlay_on_price(h->output_names[i]) ||
            tui_overlay_is_hidden(chart->hides, h->output_names[i]))
            continue;
        indicator_text(text, chart, i, end, values);
        struct chart_overlay overlay = panel_chart_overlay(h, i);
        int name = x + sample_columns(area) + 1, name_len = (int)strcspn(text, " ");
        if (name + (int)strlen(text) > area->width)
            return -1;
        if (draw) {
            panel_chart_sample(area, x, overlay);
            tui_area_text(area, name + name_len, 0, chart->dim ? STYLE_DIM : STYLE_NORMAL, text + name_len);
            text[name_len] = '\0';
            tui_area_text(area, name, 0, overlay.style, text);
            text[name_len] = values ? ' ' : '\0';
        }
        x = name + (int)strlen(text) + 2;
    }
    return x;
}

/* Those that are kept of the bar. */
static void indicators(const struct area *area, int x, const struct chart *chart)
{
    const struct history *h = chart->history;
    bool values = overlays(area, x, chart, true, false) >= 0;

    x = overlays(area, x, chart, values, true);
    for (int i = 0; i < h->n_outputs && x > 0; i++)
        if (!tui_overlay_on_price(h->output_names[i]) &&
            !tui_overlay_is_hidden(chart->hides, h->output_names[i]))
            x = panel_chart_figure(area, x, h->output_names[i], h->outputs[i][chart->at], chart->dim);
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

void panel_chart_figures(const struct area *area, const struct chart *chart)
{
    const struct status_symbol *symbol = chart->symbol;
    const struct history_bar *bar = chart->at >= 0 ? &chart->history->bars[chart->at] : NULL;
    char a[FORMAT_MAX];
    int x = 1;
    const struct {
        const char *name;
        double value;
    } prices[] = {{"o", bar ? bar->open : symbol->bar_open},
                  {"h", bar ? bar->high : symbol->bar_high},
                  {"l", bar ? bar->low : symbol->bar_low},
                  {"c", bar ? bar->close : symbol->bar_close}};

    if (chart->cross && bar) {
        x = tui_area_text(area, x, 0, STYLE_KEY, panel_chart_time(a, chart->history, bar->open_ns)) + 2;
    }
    for (int i = 0; i < 4; i++)
        x = named(area, x, prices[i].name, cli_format_number(a, prices[i].value, chart->decimals),
                  chart->dim);
    x = named(area, x, "v", cli_format_count(a, bar ? bar->volume : symbol->bar_volume), chart->dim);
    if (bar && chart->history->n_outputs > 0 && x > 0)
        indicators(area, x, chart);
    else if (!bar || chart->history->n_outputs == 0)
        for (int i = 0; i < symbol->n_indicators && x > 0; i++)
            x = panel_chart_figure(area, x, symbol->indicators[i].name, symbol->indicators[i].value,
                                   chart->dim);
}
