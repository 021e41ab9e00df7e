#include <stdio.h>
#include <string.h>

#include "tui/panel/frame.h"

enum { NAME_COLUMNS = 10, VALUE_COLUMNS = 14, WORDS_ROWS = 6 };

void panel_setup(const struct area *screen, const struct scene *scene)
{
    const struct view *view = scene->view;
    int rows = (int)tui_settings_n;
    struct area box = panel_frame_box(screen, 78, rows + WORDS_ROWS + 4, "Set-up");

    for (int i = 0; i < rows; i++) {
        const struct config_key *row = &tui_settings_rows[i];
        bool chosen = i == view->setup_row;
        char value[32] = "";
        config_key_text(row, &view->settings, value, sizeof(value));
        tui_area_text(&box, 0, i, chosen ? STYLE_SELECTED : STYLE_NORMAL, chosen ? ">" : " ");
        tui_area_text_cut(&box, 1, i, NAME_COLUMNS, chosen ? STYLE_SELECTED : STYLE_NORMAL, row->name);
        tui_area_text_cut(&box, 1 + NAME_COLUMNS, i, VALUE_COLUMNS, STYLE_STRONG, value);
        tui_area_text_cut(&box, 1 + NAME_COLUMNS + VALUE_COLUMNS, i,
                          box.width - 1 - NAME_COLUMNS - VALUE_COLUMNS, STYLE_DIM, row->about);
    }
    if (view->settings_words[0])
        panel_frame_wrap(&box, rows + 1, WORDS_ROWS, STYLE_WARN, view->settings_words);
    else
        panel_frame_unsaved(&box, rows + 1, view);
    int y = box.height - 1, x = tui_area_text(&box, 0, y, STYLE_KEY, "Enter");
    x = tui_area_text(&box, x + 1, y, STYLE_DIM, "the next value,");
    x = tui_area_text(&box, x + 1, y, STYLE_KEY, "arrows");
    x = tui_area_text(&box, x + 1, y, STYLE_DIM, "move,");
    x = tui_area_text(&box, x + 1, y, STYLE_KEY, "K");
    x = tui_area_text(&box, x + 1, y, STYLE_DIM, "keys,");
    x = tui_area_text(&box, x + 1, y, STYLE_KEY, "s F12");
    x = tui_area_text(&box, x + 1, y, STYLE_DIM, "save,");
    x = tui_area_text(&box, x + 1, y, STYLE_KEY, "Esc");
    tui_area_text(&box, x + 1, y, STYLE_DIM, "leave");
}
