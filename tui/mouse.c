#include "tui/mouse.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/text.h"
#include "tui/panel/chart_figures.h"

enum { WHEEL_ROWS = 3, DOUBLE_CLICK_MS = 500 };

static const struct rect *below(const struct layout *layout, int x, int y)
{
    for (int i = 0; i < layout->n; i++) {
        const struct rect *rect = &layout->rects[i];
        if (x >= rect->x && x < rect->x + rect->width && y >= rect->y && y < rect->y + rect->height)
            return rect;
    }
    return NULL;
}

/* So many times; what the last one asked for. */
static enum action press(struct view *view, const struct model *model, const struct canvas *drawn,
                         struct moment now, int key, int times)
{
    enum action action = ACTION_NONE;

    for (int i = 0; i < times; i++)
        action = tui_keys_take(view, model, drawn->width, drawn->height, now, key);
    return action;
}

/* Something covers the panels, or is typed: rows below it are not meant. */
static bool covered(const struct view *view)
{
    return view->prompt != PROMPT_NONE || view->help || view->whole || view->setup || view->choosing ||
           tui_view_form(view);
}

/* The wheel shows fewer bars or more, a click sets the crosshair on the bar there. */
static enum action on_chart(struct view *view, const struct model *model, const struct canvas *drawn,
                            struct moment now, int wheel, int x, int width)
{
    if (wheel)
        return press(view, model, drawn, now, wheel == PRESS_UP ? '}' : '{', 1);
    const int bar = panel_chart_bar_at(view, model, now, x, width);
    if (bar < 0)
        return ACTION_NONE;
    view->chart.crosshair = true;
    view->chart.crosshair_ns = model->history.bars[bar].open_ns;
    return ACTION_NONE;
}

enum action tui_mouse_press(struct view *view, const struct model *model, const struct canvas *drawn,
                            struct moment now, int key, int x, int y)
{
    const int wheel = key == PRESS_WHEEL_UP ? PRESS_UP : key == PRESS_WHEEL_DOWN ? PRESS_DOWN : 0;
    struct layout layout;

    if (view->sweeps && !wheel && !view->help && !view->whole) {
        const struct canvas_row *cell = tui_canvas_row_at(drawn, x, y);
        return cell
                   ? tui_keys_sweeps(view, tui_sweep_page_click(view->sweeps, drawn->height - 3, cell->index))
                   : ACTION_NONE;
    }
    if (covered(view))
        return wheel && view->prompt == PROMPT_NONE ? press(view, model, drawn, now, wheel, 1) : ACTION_NONE;
    tui_view_layout(view, model, drawn->width, drawn->height, &layout);
    const struct rect *rect = below(&layout, x, y);
    const struct canvas_row *row = rect ? tui_canvas_row_at(drawn, x, y) : NULL;
    if (rect && rect->panel == PANEL_TABS)
        return row && !wheel ? press(view, model, drawn, now, '1' + row->index, 1) : ACTION_NONE;
    if (!rect || !tui_view_takes_focus(rect->panel))
        return ACTION_NONE;
    bool had = tui_view_focus(view, &layout) == rect->panel;
    view->focus = rect->panel;
    if (rect->panel == PANEL_CHART && model->history.n_bars > 0)
        return on_chart(view, model, drawn, now, wheel, x - rect->x, rect->width);
    if (wheel)
        return press(view, model, drawn, now, wheel, WHEEL_ROWS);
    /* a row that its choice made taller, or the one before shorter, may have moved away */
    const bool again = view->clicked.panel == rect->panel && view->clicked.x == x && view->clicked.y == y &&
                       view->clicked.mono_ms > 0 && now.mono_ms - view->clicked.mono_ms <= DOUBLE_CLICK_MS;
    if (had && again)
        return press(view, model, drawn, now, PRESS_ENTER, 1);
    if (!row)
        return ACTION_NONE;
    int at = tui_view_cursor(view, model, rect->panel);
    if (had && at == row->index)
        return press(view, model, drawn, now, PRESS_ENTER, 1);
    view->clicked.panel = rect->panel;
    view->clicked.x = x;
    view->clicked.y = y;
    view->clicked.mono_ms = now.mono_ms;
    return press(view, model, drawn, now, at < row->index ? PRESS_DOWN : PRESS_UP, abs(row->index - at));
}

/* ---- what is copied ---- */

static void put_line(FILE *out, const struct canvas *drawn, int x, int y, int width)
{
    int blanks = 0;

    for (int i = x; i < x + width; i++) {
        const struct cell *cell = tui_canvas_cell(drawn, i, y);
        if (cell->text[0] == L' ') {
            blanks++;
            continue;
        }
        if (cell->text[0])
            fprintf(out, "%*s%ls", blanks, "", cell->text);
        blanks = 0;
    }
    fputc('\n', out);
}

static void put_row(FILE *out, const struct view *view, const struct model *model, const struct canvas *drawn)
{
    struct layout layout;

    tui_view_layout(view, model, drawn->width, drawn->height, &layout);
    const struct rect *rect = tui_layout_find(&layout, tui_view_focus(view, &layout));
    int index = rect ? tui_view_cursor(view, model, rect->panel) : -1;
    for (int y = rect ? rect->y : 0; rect && y < rect->y + rect->height; y++) {
        const struct canvas_row *row = tui_canvas_row_at(drawn, rect->x + 1, y);
        if (row && row->index == index)
            put_line(out, drawn, row->x + 1, y, row->width - 1); /* without the cursor's column */
    }
}

static void put_page(FILE *out, const struct item_page *page)
{
    for (size_t i = 0; i < page->n; i++) {
        cli_text_print(out, page->lines[i].label);
        if (page->lines[i].label[0])
            fputc('\t', out);
        cli_text_print(out, page->lines[i].text);
        fputc('\n', out);
    }
}

char *tui_copy_text(const struct view *view, const struct model *model, const struct canvas *drawn)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    if (view->item.kind != ITEM_NONE)
        put_page(out, &model->item);
    else
        put_row(out, view, model, drawn);
    if (fclose(out) != 0 || size == 0) {
        free(text);
        return NULL;
    }
    return text;
}
