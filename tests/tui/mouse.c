/* The mouse: at cells of each tab, at several sizes. A click on a row leaves the cursor's mark there, on
 * a tab opens it, on the chosen row is what Enter is; elsewhere only takes the focus; the wheel moves as the
 * arrows do. What is copied is the chosen row as it is drawn, or all of a page, without a character that a
 * shell would take. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/counts.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history.h"
#include "tui/item.h"
#include "tui/mouse.h"
#include "tui/mouse_report.h"

enum { STEP = 7, NARROW = COUNTS_PART ? 0 : 80 }; /* of wider screens each STEP-th cell of a line */

static struct model *model;
static const struct moment now = {1723161255342000000, 1000000};
static struct {
    int rows, second, tabs, entered, other, wheeled, scrolled;
} seen;

static void draw(struct canvas *canvas, const struct view *view)
{
    tui_view_draw(view, model, now, canvas);
}

static enum panel panel_at(const struct view *view, const struct canvas *canvas, int x, int y)
{
    struct layout layout;

    tui_view_layout(view, model, canvas->width, canvas->height, &layout);
    for (int i = 0; i < layout.n; i++) {
        const struct rect *rect = &layout.rects[i];
        if (x >= rect->x && x < rect->x + rect->width && y >= rect->y && y < rect->y + rect->height)
            return rect->panel;
    }
    return PANEL_NONE;
}

/* How many lines each row of a panel has: prices and venues have a second one where all rows have room. */
static int lines_of(const struct view *view, const struct canvas *canvas, enum panel panel)
{
    struct layout layout;

    tui_view_layout(view, model, canvas->width, canvas->height, &layout);
    int room = tui_layout_find(&layout, panel)->height - 1;
    int n = panel == PANEL_PRICES   ? model->status.n_symbols
            : panel == PANEL_VENUES ? model->status.n_venues
                                    : room;
    return 2 * n <= room ? 2 : 1;
}

/* A click on a line of the row, counted from its first. */
static void check_row(struct view *view, struct canvas *canvas, struct canvas_row row, int line)
{
    enum panel panel = panel_at(view, canvas, row.x, row.y);
    struct view before;
    struct layout layout;

    tui_view_layout(view, model, canvas->width, canvas->height, &layout);
    if (tui_view_focus(view, &layout) != panel || tui_view_cursor(view, model, panel) != row.index)
        tui_mouse_press(view, model, canvas, now, PRESS_CLICK, row.x + row.width / 2, row.y + line);
    CHECK_INT(tui_view_focus(view, &layout), panel);
    CHECK_INT(tui_view_cursor(view, model, panel), row.index);
    draw(canvas, view);
    const struct canvas_row *found = NULL; /* rows below a chosen one may have moved */
    for (int i = 0; i < canvas->n_rows; i++)
        if (canvas->rows[i].index == row.index && canvas->rows[i].x == row.x &&
            panel_at(view, canvas, row.x, canvas->rows[i].y) == panel)
            found = &canvas->rows[i];
    CHECK(found && tui_canvas_cell(canvas, found->x, found->y)->text[0] == L'>');
    if (!found)
        return;
    before = *view;
    enum action clicked = tui_mouse_press(view, model, canvas, now, PRESS_CLICK, found->x, found->y + line);
    struct view after = *view;
    *view = before;
    CHECK_INT(tui_keys_press(view, model, canvas->width, canvas->height, now, PRESS_ENTER), clicked);
    CHECK(view->tab == after.tab && view->focus == after.focus && view->detail == after.detail &&
          view->study_view == after.study_view && memcmp(&view->item, &after.item, sizeof(view->item)) == 0);
    seen.entered += after.item.kind != ITEM_NONE || after.detail || after.study_view != STUDY_LISTED;
    seen.rows++;
    seen.second += line > 0;
}

/* The panels that the tabulator reaches. */
static void reach(const struct view *view, int width, int height, bool ret[static PANELS])
{
    struct view walk = *view;
    struct layout layout;

    memset(ret, 0, PANELS * sizeof(*ret));
    for (int i = 0; i < PANELS; i++) {
        tui_view_layout(&walk, model, width, height, &layout);
        ret[tui_view_focus(&walk, &layout)] = true;
        tui_keys_press(&walk, model, width, height, now, '\t');
    }
}

static void check_tab(enum tab tab, int width, int height)
{
    struct view view, usual;
    struct canvas canvas, clicked;
    struct layout layout;
    bool reached[PANELS];

    CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_BRAILLE), 0);
    CHECK_INT(tui_canvas_init(&clicked, width, height, GLYPHS_BRAILLE), 0);
    tui_view_init(&usual, false, 1000);
    usual.tab = tab;
    draw(&canvas, &usual);
    reach(&usual, width, height, reached);
    for (int y = 0; y < height; y++) {
        const int step = width > NARROW ? STEP : 1 + y % 3;
        for (int x = y % STEP; x < width; x += step) {
            const enum panel panel = panel_at(&usual, &canvas, x, y);
            struct canvas_row row = {0};
            for (int i = 0; i < canvas.n_rows; i++) /* the nearest above, of that panel */
                if (panel_at(&usual, &canvas, canvas.rows[i].x, canvas.rows[i].y) == panel &&
                    x >= canvas.rows[i].x && x < canvas.rows[i].x + canvas.rows[i].width &&
                    canvas.rows[i].y <= y && (row.width == 0 || canvas.rows[i].y > row.y))
                    row = canvas.rows[i];
            view = usual;
            draw(&clicked, &view);
            if (panel == PANEL_TABS) {
                tui_mouse_press(&view, model, &clicked, now, PRESS_CLICK, x, y);
                CHECK_INT(view.tab, row.width ? (enum tab)row.index : tab);
                seen.tabs += row.width > 0;
            } else if (row.width && y < row.y + lines_of(&usual, &canvas, panel)) {
                check_row(&view, &clicked, row, y - row.y);
            } else if (panel != PANEL_ALERTS || row.index > 0) { /* the first is whole, on many lines */
                int at = tui_view_cursor(&view, model, panel);
                CHECK_INT(tui_mouse_press(&view, model, &clicked, now, PRESS_CLICK, x, y), ACTION_NONE);
                CHECK(view.tab == tab && view.item.kind == ITEM_NONE && !view.detail);
                CHECK_INT(tui_view_cursor(&view, model, panel), at);
                tui_view_layout(&view, model, width, height, &layout);
                CHECK((tui_view_focus(&view, &layout) == panel) == reached[panel]);
                seen.other++;
            }
            view = usual;
            tui_mouse_press(&view, model, &clicked, now, PRESS_WHEEL_DOWN, x, y);
            if (panel == PANEL_ORDERS && tui_view_rows(&view, model, panel) > 3) {
                CHECK_INT(tui_view_cursor(&view, model, panel), 3);
                tui_mouse_press(&view, model, &clicked, now, PRESS_WHEEL_UP, x, y);
                CHECK_INT(tui_view_cursor(&view, model, panel), 0);
                seen.wheeled++;
            }
        }
    }
    tui_canvas_finish(&canvas);
    tui_canvas_finish(&clicked);
}

/* In a list that was scrolled to its end a click leaves each row where it is, and so does a key that leads
 * back into what is shown, so that a second click meets the same row. Alerts are left out: the chosen one is
 * whole. */
static void check_scrolled(enum tab tab, int width, int height)
{
    struct view view, end;
    struct canvas canvas;
    struct layout layout;

    CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_BRAILLE), 0);
    tui_view_init(&end, false, 1000);
    end.tab = tab;
    for (int i = 0; i < PANELS; i++) {
        draw(&canvas, &end);
        tui_view_keep(&end, model, &canvas);
        tui_keys_press(&end, model, width, height, now, 'G');
        draw(&canvas, &end);
        tui_view_keep(&end, model, &canvas);
        tui_view_layout(&end, model, width, height, &layout);
        const enum panel panel = tui_view_focus(&end, &layout);
        for (int k = 0; panel != PANEL_ALERTS && k < canvas.n_rows; k++) {
            const struct canvas_row row = canvas.rows[k];
            if (panel_at(&end, &canvas, row.x, row.y) != panel ||
                row.index == tui_view_cursor(&end, model, panel))
                continue;
            view = end;
            for (int by = 0; by < 2; by++) {
                if (by == 0)
                    tui_mouse_press(&view, model, &canvas, now, PRESS_CLICK, row.x + 1, row.y);
                else
                    tui_keys_press(&view, model, width, height, now, 'k');
                draw(&canvas, &view);
                tui_view_keep(&view, model, &canvas);
                const struct canvas_row *same = tui_canvas_row_at(&canvas, row.x + 1, row.y);
                CHECK(same && same->index == row.index);
                view = by == 0 ? end : view;
            }
            draw(&canvas, &end);
            seen.scrolled += view.drawn[panel].first > 0;
        }
        tui_keys_press(&end, model, width, height, now, '\t');
    }
    tui_canvas_finish(&canvas);
}

/* The chosen alert is whole, so that others move when it is another: a second click at once at the same place
 * opens what the first one chose all the same; a later one is a click on what is there. */
static void check_double(int width, int height)
{
    struct view view;
    struct canvas canvas;
    struct history_alert *first = &model->history.alerts[0];
    const struct history_alert kept = *first;
    int moved = 0, clicks = 0;

    memset(first->text, 'x', 130);
    first->text[130] = '\0';
    CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_BRAILLE), 0);
    for (int y = 0; y < height; y++) {
        tui_view_init(&view, false, 1000);
        view.tab = TAB_ALERTS;
        draw(&canvas, &view);
        tui_view_keep(&view, model, &canvas);
        const struct canvas_row *row = tui_canvas_row_at(&canvas, 5, y);
        if (!row || panel_at(&view, &canvas, 5, y) != PANEL_ALERTS || row->index == 0)
            continue;
        const int index = row->index;
        tui_mouse_press(&view, model, &canvas, now, PRESS_CLICK, 5, y);
        draw(&canvas, &view);
        tui_view_keep(&view, model, &canvas);
        row = tui_canvas_row_at(&canvas, 5, y);
        const bool away = !row || row->index != index;
        struct view keyed = view, late = view;
        struct moment soon = now, later = now;
        soon.mono_ms += 400;
        later.mono_ms += 600;
        tui_mouse_press(&view, model, &canvas, soon, PRESS_CLICK, 5, y);
        tui_keys_press(&keyed, model, width, height, soon, PRESS_ENTER);
        CHECK(view.item.kind == ITEM_ALERT && tui_item_equal(&view.item, &keyed.item));
        tui_mouse_press(&late, model, &canvas, later, PRESS_CLICK, 5, y);
        CHECK_INT(late.item.kind, away ? ITEM_NONE : ITEM_ALERT);
        moved += away;
        clicks++;
    }
    CHECK(clicks > 0 && moved > 0);
    *first = kept;
    tui_canvas_finish(&canvas);
}

/* Clicks from left to right lead from bar to bar, and the crosshair is drawn in the column of the click or in
 * that of the nearest bar; the wheel shows half as many bars, and as many again. */
static void check_chart(int width, int height)
{
    struct view view;
    struct canvas canvas;
    struct layout layout;
    int64_t before_ns = 0;
    int bars = 0, drawn = 0;

    CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_BRAILLE), 0);
    tui_view_init(&view, false, 1000);
    view.tab = TAB_MARKET;
    draw(&canvas, &view);
    tui_view_layout(&view, model, width, height, &layout);
    const struct rect *rect = tui_layout_find(&layout, PANEL_CHART);
    const int y = rect->y + rect->height / 2;
    for (int x = rect->x; x < rect->x + rect->width; x++) {
        CHECK_INT(tui_mouse_press(&view, model, &canvas, now, PRESS_CLICK, x, y), ACTION_NONE);
        CHECK(view.chart.crosshair && view.chart.crosshair_ns >= before_ns);
        if (view.chart.crosshair_ns == before_ns)
            continue;
        before_ns = view.chart.crosshair_ns;
        bars++;
        draw(&canvas, &view);
        int least =
            rect->width; /* of columns from the click to the crosshair's line, which has the style of keys */
        for (int near = rect->x + 1; near < rect->x + rect->width; near++)
            for (int row = rect->y + 2; row < rect->y + rect->height / 2; row++)
                if (tui_canvas_cell(&canvas, near, row)->style == STYLE_KEY && abs(near - x) < least)
                    least = abs(near - x);
        drawn += least <= 1;
    }
    CHECK(bars > 8 && drawn > 3 * bars / 4);
    printf("%dx%d: %d bars clicked, %d lines in view\n", width, height, bars, drawn);
    CHECK(before_ns == model->history.bars[model->history.n_bars - 1].open_ns);
    tui_mouse_press(&view, model, &canvas, now, PRESS_WHEEL_DOWN, rect->x + 9, y);
    const int wide = view.chart.bars;
    tui_mouse_press(&view, model, &canvas, now, PRESS_WHEEL_UP, rect->x + 9, y);
    CHECK(view.chart.bars > 0 && view.chart.bars < wide);
    tui_canvas_finish(&canvas);
}

/* Rows that are covered are not clicked through. */
static void check_covered(void)
{
    struct view view;
    struct canvas canvas;

    CHECK_INT(tui_canvas_init(&canvas, 80, 24, GLYPHS_ASCII), 0);
    tui_view_init(&view, false, 1000);
    view.tab = TAB_ORDERS;
    tui_keys_press(&view, model, 80, 24, now, '?');
    draw(&canvas, &view);
    CHECK_INT(tui_mouse_press(&view, model, &canvas, now, PRESS_CLICK, 5, 4), ACTION_NONE);
    CHECK(view.help && tui_view_cursor(&view, model, PANEL_ORDERS) == 0);
    tui_mouse_press(&view, model, &canvas, now, PRESS_WHEEL_DOWN, 5, 4);
    CHECK(view.help && view.scroll == 1);
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
    tui_keys_press(&view, model, 80, 24, now, 'F');
    CHECK_INT(view.prompt, PROMPT_FLATTEN);
    tui_mouse_press(&view, model, &canvas, now, PRESS_CLICK, 5, 4);
    tui_mouse_press(&view, model, &canvas, now, PRESS_WHEEL_DOWN, 5, 4);
    CHECK_INT(view.prompt, PROMPT_FLATTEN);
    tui_canvas_finish(&canvas);
}

/* The wheel scrolls a page that is longer than the screen. */
static void check_page(void)
{
    struct view view;
    struct canvas canvas;

    CHECK_INT(tui_canvas_init(&canvas, 40, 10, GLYPHS_ASCII), 0);
    tui_view_init(&view, false, 1000);
    view.item = model->item.item = (struct item){.kind = ITEM_ORDER, .id = 6};
    for (int i = 0; i < 30; i++)
        tui_item_line(&model->item, STYLE_NORMAL, "line %d", i);
    draw(&canvas, &view);
    tui_mouse_press(&view, model, &canvas, now, PRESS_WHEEL_DOWN, 5, 5);
    CHECK_INT(view.cursor[PANEL_ITEM], 3);
    tui_mouse_press(&view, model, &canvas, now, PRESS_WHEEL_UP, 5, 5);
    CHECK_INT(view.cursor[PANEL_ITEM], 0);
    CHECK_INT(tui_mouse_press(&view, model, &canvas, now, PRESS_CLICK, 5, 5), ACTION_NONE);
    tui_item_page_finish(&model->item);
    tui_canvas_finish(&canvas);
}

static void check_copy(void)
{
    struct view view;
    struct canvas canvas;

    CHECK_INT(tui_canvas_init(&canvas, 80, 24, GLYPHS_ASCII), 0);
    tui_view_init(&view, false, 1000);
    view.tab = TAB_ORDERS;
    tui_keys_press(&view, model, 80, 24, now, 'j');
    draw(&canvas, &view);
    char *text = tui_copy_text(&view, model, &canvas);
    CHECK(text && strncmp(text, "    6 BUY  BTCUSDT ", 19) == 0 &&
          strchr(text, '\n') == text + strlen(text) - 1);
    free(text);
    tui_keys_press(&view, model, 80, 24, now, 'G'); /* below the last row is nothing of it */
    draw(&canvas, &view);
    text = tui_copy_text(&view, model, &canvas);
    CHECK(text && strchr(text, '\n') == text + strlen(text) - 1);
    free(text);
    view.tab = TAB_POSITIONS;
    view.focus = PANEL_ACCOUNTS;
    tui_keys_press(&view, model, 80, 24, now, 'G');
    draw(&canvas, &view);
    text = tui_copy_text(&view, model, &canvas);
    CHECK(text && strchr(text, '\n') == text + strlen(text) - 1);
    free(text);
    tui_canvas_finish(&canvas);
    CHECK_INT(tui_canvas_init(&canvas, 80, 40, GLYPHS_ASCII), 0);
    view.tab = TAB_MARKET;
    view.focus = PANEL_PRICES;
    tui_keys_press(&view, model, 80, 40, now, 'G');
    draw(&canvas, &view);
    text = tui_copy_text(&view, model, &canvas);
    const char *second = text ? strchr(text, '\n') + 1 : "";
    CHECK(*second && strchr(second, '\n') == second + strlen(second) - 1);
    free(text);
    view.item = model->item.item = (struct item){.kind = ITEM_ORDER, .id = 6};
    tui_item_field(&model->item, "tag", STYLE_NORMAL, "a\033[31mb\rrm -r");
    tui_item_line(&model->item, STYLE_NORMAL, "%s", "below");
    text = tui_copy_text(&view, model, &canvas);
    CHECK_STR(text, "tag\ta?[31mb?rm -r\nbelow\n");
    free(text);
    tui_canvas_finish(&canvas);
}

/* A report in both forms is what was encoded, byte by byte; another byte ends it, as no press. */
static void check_reports(void)
{
    static const int buttons[][2] = {{0, PRESS_CLICK},       {1, 0}, {2, 0}, {3, 0}, {64, PRESS_WHEEL_UP},
                                     {65, PRESS_WHEEL_DOWN}, {35, 0}};
    struct random random = random_seeded("tui/mouse", 1);

    for (int i = 0; i < 2000; i++) {
        const bool sgr = i % 2, release = sgr && i % 3 == 0;
        const int *button = buttons[random_between(&random, 0, 6)];
        const int modifiers = 4 * (int)random_between(&random, 0, 7);
        const int x = (int)random_between(&random, 0, sgr ? 999 : 221),
                  y = (int)random_between(&random, 0, 99);
        struct mouse_report report = {.kind = sgr ? MOUSE_REPORT_IS_SGR : MOUSE_REPORT_IS_X10};
        char bytes[24];
        int n = sgr ? snprintf(bytes, sizeof(bytes), "%d;%d;%d%c", button[0] + modifiers, x + 1, y + 1,
                               release ? 'm' : 'M')
                    : snprintf(bytes, sizeof(bytes), "%c%c%c", 32 + button[0] + modifiers, 33 + x, 33 + y);
        const int cut = (int)random_between(&random, 0, n - 1); /* of half of them */
        int press = -1, got_x = -1, got_y = -1;
        if (i % 4 < 2)
            bytes[cut] = sgr ? 'q' : '\033';
        for (int k = 0; k < n; k++) {
            bool over = tui_mouse_report_take(&report, (unsigned char)bytes[k], &press, &got_x, &got_y);
            CHECK(over == (k == (i % 4 < 2 ? cut : n - 1)));
            CHECK(over == (report.kind == MOUSE_REPORT_NONE));
            if (over)
                break;
        }
        CHECK_INT(press, i % 4 < 2 || release ? 0 : button[1]);
        CHECK(i % 4 < 2 || (got_x == x && got_y == y));
    }
}

int main(void)
{
    static const int sizes[][2] = {{80, 24}, {40, 10}, {120, 40}, {200, 60}};
    const char *path = scratch_path("papertape.db");
    struct history_reader *reader;

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, fixture_trainings, now, &reader);
    if (!model)
        return EXIT_FAILURE;
    model->history_mono_ms = now.mono_ms;
    if (COUNTS_PART)
        printf(
            "counts: each seventh cell of a line (without a sanitizer, at 80 columns: more than half of them)\n");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int tab = 0; tab < TABS; tab++)
            check_tab((enum tab)tab, sizes[i][0], sizes[i][1]);
    for (int tab = 0; tab < TABS; tab++)
        check_scrolled((enum tab)tab, 80, 16);
    check_chart(80, 24);
    check_chart(120, 40);
    check_double(50, 20);
    check_double(80, 24);
    check_covered();
    check_page();
    check_copy();
    check_reports();
    CHECK(seen.rows > 100 && seen.second > 20 && seen.tabs > 100 && seen.entered > 100 && seen.other > 100 &&
          seen.wheeled > 20 && seen.scrolled > 9);
    printf(
        "tui/mouse: %d rows chosen, %d by a second line, %d entered, %d tabs, %d elsewhere, %d times the wheel, "
        "%d in a scrolled list\n",
        seen.rows, seen.second, seen.entered, seen.tabs, seen.other, seen.wheeled, seen.scrolled);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/mouse");
}
