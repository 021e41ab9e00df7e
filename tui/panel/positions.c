#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/frame.h"

enum { SYMBOL, SIDE, ACCOUNT, QTY, ENTRY, FIFO, MARK, UPNL, STOP, AGE, COLUMNS };

static const struct column columns[COLUMNS] = {
    {"", 9, false, 1},      {"", 1, false, 2},     {"account", 9, false, 10}, {"qty", 10, true, 3},
    {"entry", 11, true, 6}, {"fifo", 11, true, 9}, {"mark", 11, true, 7},     {"uPnL", 10, true, 4},
    {"stop", 11, true, 8},  {"age", 9, true, 5},
};

void panel_positions(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    int n = model->status.n_positions, title;
    struct area body = panel_frame_rule(area, scene, PANEL_POSITIONS, "Positions", n, &title);
    struct column shown[COLUMNS];
    memcpy(shown, columns, sizeof(shown));
    if (model->status.n_accounts > 1)
        shown[ACCOUNT].rank = 7; /* two accounts may hold the same symbol */
    struct table table = panel_frame_table(area, title, shown, COLUMNS);
    char text[FORMAT_MAX];

    if (n == 0) {
        panel_frame_empty(&body, model->holdings == MODEL_NOTHING ? "not known yet" : "flat");
        return;
    }
    struct window window = panel_frame_window(scene, PANEL_POSITIONS, n, body.height);
    for (int i = window.first; i < window.end; i++) {
        const struct status_position *p = &model->status.positions[i];
        int y = i - window.first + 1, decimals = tui_model_price_decimals(model, p->symbol);
        enum freshness freshness = tui_model_position_freshness(model, p, scene->now);
        panel_table_text(&table, SYMBOL, y, STYLE_STRONG, p->symbol);
        panel_table_text(&table, SIDE, y, strcmp(p->side, "S") == 0 ? STYLE_DOWN : STYLE_UP, p->side);
        panel_table_text(&table, ACCOUNT, y, STYLE_DIM, p->account);
        panel_table_text(&table, FIFO, y, STYLE_NORMAL, cli_format_fit(text, p->fifo_entry, decimals, 11));
        panel_table_text(&table, QTY, y, STYLE_NORMAL, cli_format_fit(text, p->qty, p->qty_decimals, 10));
        panel_table_text(&table, ENTRY, y, STYLE_NORMAL, cli_format_fit(text, p->entry, decimals, 11));
        panel_table_text(&table, MARK, y, panel_frame_style(freshness, STYLE_NORMAL),
                         freshness == GONE ? "-" : cli_format_fit(text, p->mark, decimals, 11));
        panel_table_text(&table, UPNL, y, panel_frame_style(freshness, style_signed(p->upnl, 2)),
                         freshness == GONE ? "-" : cli_format_signed(text, p->upnl, 2));
        panel_table_text(&table, STOP, y, STYLE_NORMAL,
                         isfinite(p->stop) ? cli_format_fit(text, p->stop, decimals, 11) : "none");
        panel_frame_age(text, sizeof(text), freshness, tui_model_age(model, p->age_ms, scene->now));
        panel_table_text(&table, AGE, y, freshness < STALE ? STYLE_DIM : STYLE_WARN, text);
        panel_frame_row(&body, y - 1, &window, i);
    }
}

void panel_flatten(const struct area *screen, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status *s = &model->status;
    int rows = s->n_positions < screen->height - 7 ? s->n_positions : screen->height - 7;
    struct area box = panel_frame_box(screen, 60, (rows > 0 ? rows : 1) + 6, "Flatten");
    char a[FORMAT_MAX], b[FORMAT_MAX];
    int y = 0;

    tui_area_text(&box, 0, y++, STYLE_STRONG, "Pause, cancel every order, and close:");
    for (int i = 0; i < rows; i++) {
        const struct status_position *p = &s->positions[i];
        if (i == rows - 1 && rows < s->n_positions) {
            tui_area_printf(&box, 2, y++, STYLE_DIM, "and %d more", s->n_positions - i);
            break;
        }
        tui_area_printf(&box, 2, y++, STYLE_NORMAL, "%-10.10s %-2.2s %12s  uPnL %s", p->symbol, p->side,
                        cli_format_number(a, p->qty, p->qty_decimals), cli_format_signed(b, p->upnl, 2));
    }
    if (rows <= 0)
        tui_area_text(&box, 2, y++, STYLE_DIM, s->n_positions ? "see tab 5" : "no position is open");
    y++;
    int x = tui_area_text(&box, 0, y, STYLE_WARN, "Type FLATTEN, then Enter: ");
    x = tui_area_text(&box, x, y, STYLE_STRONG, scene->view->typed);
    tui_area_char(&box, x, y, STYLE_KEY, L'_');
    tui_area_text(&box, 0, y + 1, STYLE_DIM, "Esc does nothing.");
}
