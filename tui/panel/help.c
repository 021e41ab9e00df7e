/* The help: the keys of the panel at hand, then those that work everywhere, then the others. */
#include "tui/key_map.h"
#include "tui/panel/frame.h"

enum { WIDTH = 78, FRAME_ROWS = 2 };

static const char *const notes[] = {
    "Fills: M maker, T taker. OCO: the orders of one OCO or bracket.",
    "Ages count from the data's receipt. STALE: three intervals late; -: ten.",
    "Everything here is paper: an order leaves this machine for a venue's test money alone.",
};

static const char *const form_notes[] = {
    "Lines: * changed, + added, - left out, ! the last check's error.",
    "Typing: arrows Home End Backspace Delete; Ctrl-U Ctrl-K to the ends.",
};

static void text(const struct area *area, int x, int y, enum style style, const char *words)
{
    if (area && y >= 0 && y < area->height)
        tui_area_text_cut(area, x, y, area->width - x, style, words);
}

/* The keys of one place, those in force, under its name from row y on. Returns the row after the last. */
static int draw_place(const struct area *area, int y, enum key_place place, const struct key_map *map)
{
    const struct key_where where = {place, place};
    const struct key_row *row;
    char keys[KEY_HINT_MAX], words[KEY_WORDS_MAX + KEY_HINT_MAX];

    text(area, 0, y++, STYLE_TITLE,
         tui_key_map_sentence(map, where, tui_key_place_words(place), words, sizeof(words)));
    for (int i = 0; (row = tui_key_table(i)); i++) {
        if (row->place != place)
            continue;
        if (area && y >= 0 && y < area->height)
            tui_area_text_cut(area, 0, y, KEYS_COLUMNS - 1, STYLE_KEY,
                              tui_key_map_hint(map, where, row->keys, keys));
        text(area, KEYS_COLUMNS, y++, STYLE_NORMAL,
             tui_key_map_sentence(map, where, row->words, words, sizeof(words)));
    }
    return y + 1;
}

/* All rows from row y on, which may be above the area; only counts them where it is NULL. */
static int draw_rows(const struct area *area, int y, enum key_place here, const struct key_map *map)
{
    bool form = here == KEYS_FORM || here == KEYS_ORDER || here == KEYS_SWEEPS;
    const char *const *lines = form ? form_notes : notes;
    int n = here == KEYS_ORDER || here == KEYS_SWEEPS ? 0
            : form                                    ? (int)(sizeof(form_notes) / sizeof(form_notes[0]))
                                                      : (int)(sizeof(notes) / sizeof(notes[0]));

    y = draw_place(area, y, here, map);
    if (!form && here != KEYS_EVERYWHERE)
        y = draw_place(area, y, KEYS_EVERYWHERE, map);
    for (int i = 0; i < n; i++)
        text(area, 0, y++, STYLE_DIM, lines[i]);
    y++;
    for (int place = KEYS_EVERYWHERE + 1; !form && place < KEYS_PLACES; place++)
        if (place != (int)here)
            y = draw_place(area, y, (enum key_place)place, map);
    return y - 1;
}

int panel_help_most(const struct view *view, enum panel focus, int height)
{
    int hidden =
        draw_rows(NULL, 0, tui_key_place(view, focus), &view->settings.keys) - (height - FRAME_ROWS - 1);

    return hidden > 0 ? hidden : 0;
}

void panel_help(const struct area *screen, const struct scene *scene)
{
    enum key_place here = tui_key_place(scene->view, scene->focus);
    const struct key_map *map = &scene->view->settings.keys;
    int rows = draw_rows(NULL, 0, here, map),
        most = panel_help_most(scene->view, scene->focus, screen->height);
    struct area box = panel_frame_box(screen, WIDTH, rows + 1 + FRAME_ROWS, "Help");
    struct area keys = tui_area_part(&box, 0, 0, box.width, box.height - 1);

    draw_rows(&keys, -(scene->view->scroll < most ? scene->view->scroll : most), here, map);
    text(&box, 0, box.height - 1, STYLE_DIM,
         most > 0 ? "Arrows, PgDn and PgUp scroll; any other key closes this." : "Any key closes this.");
}
