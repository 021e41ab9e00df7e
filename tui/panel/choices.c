/* The box that chooses what is shown. */
#include "tui/choices.h"

#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/panel/frame.h"

enum {
    NAME_COLUMNS = 10,
    NAME_COLUMNS_MAX = 26,
    MARK_COLUMNS = 4,
    ABOUT_ROWS_MAX = 3,
    BOX_FRAME = 4,
    NAME_MAX_BYTES = 256
};

/* The column that a row's words begin in. */
static int words_x(const struct choice *row, int names)
{
    return MARK_COLUMNS + names + 2 + (row->key[0] ? KEY_WORD_MAX : 0);
}

/* Rows that the longest words need which are cut in their own row; 1: each fits there. */
static int about_rows(const struct scene *scene, const struct choices *choices, int names, int width)
{
    char sentence[PANEL_SENTENCE_MAX];
    int most = 1;

    for (int i = 0; i < choices->n; i++) {
        const char *about = panel_frame_sentence(scene, choices->rows[i].about, sentence);
        const int rows = panel_frame_wrap_rows(about, width);
        if (cli_text_width(about) > width - words_x(&choices->rows[i], names) && rows > most)
            most = rows;
    }
    return most < ABOUT_ROWS_MAX ? most : ABOUT_ROWS_MAX;
}

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

/* An indicator's outputs are one row. */
static int name_length(const struct view *view, const struct choice *row)
{
    return (int)(view->choosing == CHOOSING_INDICATORS ? strcspn(row->name, ".") : strlen(row->name));
}

void panel_choices(const struct area *screen, const struct scene *scene)
{
    const struct view *view = scene->view;
    struct choices choices;
    char name[NAME_MAX_BYTES], sentence[PANEL_SENTENCE_MAX];
    int names = NAME_COLUMNS;

    tui_choices(view, scene->model, &choices);
    for (int i = 0; i < choices.n; i++) {
        int len = name_length(view, &choices.rows[i]);
        names = len > names ? len : names;
    }
    names = names < NAME_COLUMNS_MAX ? names : NAME_COLUMNS_MAX;
    const bool keys = view->choosing == CHOOSING_KEYS;
    const int columns = keys ? 78 : 70,
              width = (screen->width < columns ? screen->width : columns) - BOX_FRAME;
    const bool unsaved = view->choosing != CHOOSING_VIEWS && panel_frame_unsaved(NULL, 0, view);
    const int words = about_rows(scene, &choices, names, width), foot = words + unsaved + 1;
    int rows = choices.n + foot + 2;
    if (keys && rows >= screen->height) /* the last line says why a key is not taken */
        rows = screen->height - 1;
    struct area box = panel_frame_box(screen, columns, rows, choices.title);
    int height = box.height - foot;
    int at = view->choosing_row < choices.n ? view->choosing_row : choices.n - 1, first = at - height + 1;

    first = first < 0 ? 0 : first;
    for (int i = first, y = 0; i < choices.n && y < height; i++, y++) {
        const struct choice *row = &choices.rows[i];
        bool chosen = i == at;
        enum style style = chosen ? STYLE_SELECTED : STYLE_NORMAL;
        const int key_x = MARK_COLUMNS + names + 2, x = words_x(row, names);
        snprintf(name, sizeof(name), "%.*s", name_length(view, row), row->name);
        tui_area_text(&box, 0, y, style, chosen ? ">" : " ");
        if (!choices.unmarked)
            tui_area_text(&box, 1, y, row->shown ? STYLE_STRONG : STYLE_DIM, row->shown ? "[x]" : "[ ]");
        tui_area_text_cut(&box, 1 + MARK_COLUMNS, y, names, style, name);
        if (row->key[0])
            tui_area_text(&box, key_x, y, row->shown ? STYLE_KEY : STYLE_NORMAL, row->key);
        tui_area_text_cut(&box, x, y, box.width - x, STYLE_DIM,
                          panel_frame_sentence(scene, row->about, sentence));
    }
    const char *about = choices.n > 0 ? panel_frame_sentence(scene, choices.rows[at].about, sentence) : "";
    if (view->choosing_waits)
        panel_frame_wrap(&box, height, words, STYLE_WARN, choices.words);
    else if (choices.n > 0 &&
             cli_text_width(about) > box.width - words_x(&choices.rows[at], names)) /* whole */
        panel_frame_wrap(&box, height, words, STYLE_NORMAL, about);
    else
        panel_frame_wrap(&box, height, words, STYLE_DIM, choices.words);
    if (unsaved)
        panel_frame_unsaved(&box, height + words, view);
    draw_foot(&box, view->choosing);
}
