/* The box that chooses what is shown. */
#include "tui/choices.h"

#include <stdio.h>
#include <string.h>

#include "tui/panel/frame.h"

enum { NAME_COLUMNS = 10, NAME_COLUMNS_MAX = 26, MARK_COLUMNS = 4, FOOT_ROWS = 2 };

static int draw_key(const struct area *box, int x, int y, const char *key, const char *words)
{
    x = tui_area_text(box, x, y, STYLE_KEY, key);
    return tui_area_text(box, x + 1, y, STYLE_DIM, words) + 1;
}

static void draw_foot(const struct area *box, enum choosing choosing)
{
    static const struct {
        const char *key, *words;
    } feet[][5] = {
        [CHOOSING_COLUMNS] = {{"Space", "shows, hides,"},
                              {"a", "auto,"},
                              {"s F12", "save,"},
                              {"Esc", "leave"}},
        [CHOOSING_INDICATORS] = {{"Space", "shows, hides,"},
                                 {"a", "auto,"},
                                 {"s F12", "save,"},
                                 {"Esc", "leave"}},
        [CHOOSING_KEYS] = {{"Enter", "another key,"},
                           {"d", "the usual one,"},
                           {"a", "all,"},
                           {"s F12", "save,"},
                           {"Esc", "leave"}},
        [CHOOSING_VIEWS] = {{"Enter 1-9", "open,"},
                            {"s", "save this screen,"},
                            {"d", "remove,"},
                            {"Esc", "leave"}},
    };
    int x = 0;

    for (int i = 0; i < 5 && feet[choosing][i].key; i++)
        x = draw_key(box, x, box->height - 1, feet[choosing][i].key, feet[choosing][i].words);
}

void panel_choices(const struct area *screen, const struct scene *scene)
{
    const struct view *view = scene->view;
    struct choices choices;
    char name[NAME_COLUMNS_MAX + 1], sentence[PANEL_SENTENCE_MAX];
    int names = NAME_COLUMNS;

    tui_choices(view, scene->model, &choices);
    for (int i = 0; i < choices.n; i++) {
        int len = (int)strcspn(choices.rows[i].name, ".");
        names = len > names ? len : names;
    }
    names = names < NAME_COLUMNS_MAX ? names : NAME_COLUMNS_MAX;
    const bool keys = view->choosing == CHOOSING_KEYS;
    int rows = choices.n + FOOT_ROWS + 2;
    if (keys && rows >= screen->height) /* the last line says why a key is not taken */
        rows = screen->height - 1;
    struct area box = panel_frame_box(screen, keys ? 78 : 70, rows, choices.title);
    int height = box.height - FOOT_ROWS;
    int at = view->choosing_row < choices.n ? view->choosing_row : choices.n - 1, first = at - height + 1;

    first = first < 0 ? 0 : first;
    for (int i = first, y = 0; i < choices.n && y < height; i++, y++) {
        const struct choice *row = &choices.rows[i];
        bool chosen = i == at;
        enum style style = chosen ? STYLE_SELECTED : STYLE_NORMAL;
        int x = MARK_COLUMNS + names + 2;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(row->name, "."), row->name);
        tui_area_text(&box, 0, y, style, chosen ? ">" : " ");
        if (!choices.unmarked)
            tui_area_text(&box, 1, y, row->shown ? STYLE_STRONG : STYLE_DIM, row->shown ? "[x]" : "[ ]");
        tui_area_text_cut(&box, 1 + MARK_COLUMNS, y, names, style, name);
        if (row->key[0])
            tui_area_text(&box, x, y, row->shown ? STYLE_KEY : STYLE_NORMAL, row->key);
        x += row->key[0] ? KEY_WORD_MAX : 0;
        tui_area_text_cut(&box, x, y, box.width - x, STYLE_DIM,
                          panel_frame_sentence(scene, row->about, sentence));
    }
    if (view->choosing_waits)
        tui_area_text_cut(&box, 0, box.height - 2, box.width, STYLE_WARN, choices.words);
    else if (view->choosing == CHOOSING_VIEWS || !panel_frame_unsaved(&box, box.height - 2, view))
        tui_area_text_cut(&box, 0, box.height - 2, box.width, STYLE_DIM, choices.words);
    draw_foot(&box, view->choosing);
}
