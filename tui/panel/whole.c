/* Every text that the screen cuts, whole, and the words behind what the header says in short. */
#include <stdio.h>

#include "tui/panel/frame.h"

enum { FRAME_ROWS = 2, MARGIN = 4, TEXT_MAX = LINE_EDIT_MAX + 64 };

#define PANEL_TEXT(number, name) [PANEL_##number] = #name,
static const char *const names[PANELS] = {PANEL_LIST(PANEL_TEXT)};

/* One text after its name, from row y on. Returns the row after the last. */
static int draw_text(const struct area *area, int y, int width, const char *name, const char *words)
{
    char text[TEXT_MAX];

    if (!words[0])
        return y;
    snprintf(text, sizeof(text), "%s: %s", name, words);
    return panel_frame_wrap_all(area, y, 0, 0, width, STYLE_NORMAL, text);
}

/* What the header has in short. Returns the row after the last. */
static int draw_known(const struct area *area, int y, int width, const struct model *model)
{
    const struct status *s = &model->status;
    int studies = model->studies ? model->studies->n : 0;
    bool failed = tui_model_studies_rows(model) > studies; /* no file yet is no error */
    const bool expected = !model_is_still(model); /* else its absence is no error, and the screen has none */
    const struct {
        const char *name, *words;
    } known[] = {
        {"daemon", expected ? model->daemon_words : ""},
        {"database", model->database_words},
        {"trading", s->trading_reason},
        {"feed", s->feed.detail},
        {"storage", s->db.detail},
        {"event log", s->log.detail},
        {"parity", s->parity.detail},
        {"parity", s->parity.error},
        {"co-process", s->trainer.detail},
        {"studies", failed ? model->studies_words : ""},
    };
    char unread[HISTORY_UNREAD_SUM_MAX];

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        y = draw_text(area, y, width, known[i].name, known[i].words);
    y = draw_text(area, y, width, "unreadable", tui_history_unread_text(&model->history.unread, unread));
    for (int i = 0; i < s->n_venues; i++)
        y = draw_text(area, y, width, s->venues[i].venue, s->venues[i].detail);
    return y;
}

/* All of them; only counts their rows where area is NULL. */
static int draw_all(const struct area *area, int y, int width, const struct canvas *canvas,
                    const struct view *view, const struct model *model)
{
    const bool form = tui_view_form(view); /* it covers the header, too */
    int start = y, part;
    const char *words;

    for (int i = 0; (words = tui_canvas_cut(canvas, i, &part)); i++) /* of what is over the panels */
        if (part == PANEL_NONE)
            y = draw_text(area, y, width, form ? "form" : "box", words);
    if (!form)
        y = draw_known(area, y, width, model);
    for (int i = 0; (words = tui_canvas_cut(canvas, i, &part)); i++)
        if (part != PANEL_NONE)
            y = draw_text(area, y, width, part > 0 && part < PANELS && names[part] ? names[part] : "screen",
                          words);
    if (y == start && area)
        tui_area_text(area, 0, y, STYLE_DIM, "Nothing is cut on this screen.");
    return y == start ? y + 1 : y;
}

static int inner_width(int width)
{
    return width - MARGIN;
}

int panel_whole_most(const struct canvas *canvas, const struct view *view, const struct model *model)
{
    int rows = draw_all(NULL, 0, inner_width(canvas->width), canvas, view, model);
    int hidden = rows - (canvas->height - FRAME_ROWS - 1);

    return hidden > 0 ? hidden : 0;
}

void panel_whole(const struct area *screen, const struct scene *scene)
{
    const struct canvas *canvas = screen->canvas;
    int rows = draw_all(NULL, 0, inner_width(screen->width), canvas, scene->view, scene->model);
    int most = panel_whole_most(canvas, scene->view, scene->model);
    struct area box = panel_frame_box(screen, screen->width, rows + 1 + FRAME_ROWS, "Whole texts");
    struct area body = tui_area_part(&box, 0, 0, box.width, box.height - 1);

    draw_all(&body, -(scene->view->scroll < most ? scene->view->scroll : most), box.width, canvas,
             scene->view, scene->model);
    tui_area_text_cut(&box, 0, box.height - 1, box.width, STYLE_DIM,
                      most > 0 ? "Arrows, PgDn and PgUp scroll; any other key closes this."
                               : "Any key closes this.");
}
