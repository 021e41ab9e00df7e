/* The box that chooses the columns of a list. */
#include <string.h>

#include "tui/panel/frame.h"

enum { NAME_COLUMNS = 10, MARK_COLUMNS = 4, FOOT_ROWS = 2 };

static int draw_key(const struct area *box, int x, int y, const char *key, const char *words)
{
    x = tui_area_text(box, x, y, STYLE_KEY, key);
    return tui_area_text(box, x + 1, y, STYLE_DIM, words) + 1;
}

void panel_columns(const struct area *screen, const struct scene *scene)
{
    const struct view *view = scene->view;
    const char *choice = view->settings.columns[view->listed];
    bool usual = strcmp(choice, LIST_COLUMNS_AUTO) == 0, shown[LIST_COLUMNS_MAX];
    int n;
    const struct list_column_row *rows = tui_list_columns(view->listed, &n);
    static const char *const titles[DB_LISTS] = {[DB_LIST_ORDERS] = "Columns of the orders",
                                                 [DB_LIST_FILLS] = "Columns of the fills",
                                                 [DB_LIST_TRIPS] = "Columns of the round trips",
                                                 [DB_LIST_LEDGER] = "Columns of the ledger"};
    struct area box = panel_frame_box(screen, 70, n + FOOT_ROWS + 2, titles[view->listed]);
    int height = box.height - FOOT_ROWS, first = view->column_row - height + 1;

    tui_list_columns_shown(view->listed, choice, shown);
    first = first < 0 ? 0 : first;
    for (int i = first, y = 0; i < n && y < height; i++, y++) {
        bool chosen = i == view->column_row;
        enum style style = chosen ? STYLE_SELECTED : STYLE_NORMAL;
        int x = MARK_COLUMNS + NAME_COLUMNS + 2;
        tui_area_text(&box, 0, y, style, chosen ? ">" : " ");
        tui_area_text(&box, 1, y, shown[i] ? STYLE_STRONG : STYLE_DIM, shown[i] ? "[x]" : "[ ]");
        tui_area_text_cut(&box, 1 + MARK_COLUMNS, y, NAME_COLUMNS, style, rows[i].name);
        tui_area_text_cut(&box, x, y, box.width - x, STYLE_DIM, rows[i].about);
    }
    if (view->settings_changed)
        tui_area_text(&box, 0, box.height - 2, STYLE_WARN, "changed, not saved");
    else
        tui_area_text_cut(&box, 0, box.height - 2, box.width, STYLE_DIM,
                          usual ? "auto: as many of the usual ones as fit"
                                : "chosen; of these as many as fit");
    int y = box.height - 1, x = draw_key(&box, 0, y, "Space", "shows, hides,");
    x = draw_key(&box, x, y, "a", "auto,");
    x = draw_key(&box, x, y, "s F12", "save,");
    draw_key(&box, x, y, "Esc", "leave");
}
