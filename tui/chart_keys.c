#include "tui/chart_keys.h"

#include <string.h>

#include "tui/panel/chart_marks.h"
#include "tui/press.h"

enum { PARTS = 4 }; /* a step is one of so many of the window */

/* How many bars a key moves by; the crosshair goes by one, or by a column of them. */
static int step(const struct view *view, const struct history *history, int columns, int key)
{
    int first, n;

    tui_chart_window(&view->chart, history, columns, &first, &n);
    if (key == PRESS_HOME || key == PRESS_END)
        return key == PRESS_HOME ? -history->n_bars : history->n_bars;
    if (key == PRESS_PAGE_UP || key == PRESS_PAGE_DOWN)
        return key == PRESS_PAGE_UP ? -n : n;
    int bars = view->chart.crosshair ? (n + columns - 1) / columns : n / PARTS;
    bars = bars < 1 ? 1 : bars;
    return key == ',' ? -bars : bars;
}

enum action tui_chart_keys_press(struct view *view, const struct model *model, const struct layout *layout,
                                 struct moment now, int key)
{
    const struct rect *rect = tui_layout_find(layout, PANEL_CHART);
    const struct history *history = &model->history;
    struct chart_window *chart = &view->chart;
    int64_t end_ns = chart->end_ns;
    const struct status_symbol *symbol = tui_view_symbol(view, model);
    int columns = rect && symbol ? panel_chart_columns(model, symbol->symbol, rect->width) : 0;

    if (!rect) {
        tui_view_note(view, "chart:", "there is none here; the market's tab is `4`", now);
        return ACTION_NONE;
    }
    if (key == 'c') {
        chart->line = !chart->line;
    } else if (key == 'L') {
        chart->log = !chart->log;
    } else if (key == 'm') {
        chart->crosshair = !chart->crosshair;
        chart->crosshair_ns = 0;
    } else if (history->n_bars < 1 || columns < CHART_COLUMNS_MIN) {
        tui_view_report(view, OUTCOME_NOTE, "chart:", "there are no bars, or no room for them", now);
    } else if (key == '{' || key == '}') {
        tui_chart_zoom(chart, history, columns, key == '}');
    } else if (key == PRESS_END && !chart->crosshair) {
        chart->end_ns = 0;
    } else {
        tui_chart_pan(chart, history, columns, step(view, history, columns, key));
    }
    return chart->end_ns != end_ns ? ACTION_BARS : ACTION_NONE;
}
