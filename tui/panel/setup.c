#include "tui/setup.h"

#include "cli/text.h"
#include "tui/panel/frame.h"

enum {
    NAME_COLUMNS = 11,
    VALUE_COLUMNS = 14,
    ABOUT_COLUMN = 1 + NAME_COLUMNS + VALUE_COLUMNS,
    WORDS_ROWS = 5,
    ABOUT_ROWS = 2,
    FOOT_ROWS = 1
};

static void draw_row(const struct area *box, int y, const struct setup_row *row, bool chosen)
{
    const enum style style = chosen ? STYLE_SELECTED : STYLE_NORMAL;
    int x = 1;

    tui_area_text(box, 0, y, style, chosen ? ">" : " ");
    x = tui_area_text_cut(box, x, y, NAME_COLUMNS, style, row->name);
    x = tui_area_text_cut(box, x, y, VALUE_COLUMNS, STYLE_STRONG, row->value);
    tui_area_text_cut(box, x, y, box->width - x, STYLE_DIM, row->about);
}

static void draw_foot(const struct area *box)
{
    static const char *const words[][2] = {{"Enter", "changes, opens,"},
                                           {"h l", "before, next,"},
                                           {"K", "keys,"},
                                           {"s F12", "save,"},
                                           {"Esc", "leave"}};
    int x = 0;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        x = tui_area_text(box, x, box->height - 1, STYLE_KEY, words[i][0]);
        x = tui_area_text(box, x + 1, box->height - 1, STYLE_DIM, words[i][1]) + 1;
    }
}

void panel_setup(const struct area *screen, const struct scene *scene)
{
    const struct view *view = scene->view;
    struct setup_row row;
    int n = 0;

    while (tui_setup_row(view, n, &row))
        n++;
    const int words = view->settings_words[0] ? WORDS_ROWS : 1 + ABOUT_ROWS;
    struct area box = panel_frame_box(screen, 78, n + 1 + words + FOOT_ROWS + 2, "Set-up");
    const int room = box.height - FOOT_ROWS - 1 < n ? box.height - FOOT_ROWS : n,
              first = view->setup_row < room ? 0 : view->setup_row - room + 1,
              left = box.height - FOOT_ROWS - n - 1;
    for (int i = first; i - first < room && tui_setup_row(view, i, &row); i++)
        draw_row(&box, i - first, &row, i == view->setup_row);
    if (left > 0 && view->settings_words[0])
        panel_frame_wrap(&box, n + 1, left, STYLE_WARN, view->settings_words);
    else if (left > 0)
        panel_frame_unsaved(&box, n + 1, view);
    if (!view->settings_words[0] && left > 1 && tui_setup_row(view, view->setup_row, &row) &&
        cli_text_width(row.about) > box.width - ABOUT_COLUMN) /* the chosen one's, whole */
        panel_frame_wrap(&box, n + 2, left - 1, STYLE_DIM, row.about);
    draw_foot(&box);
}
