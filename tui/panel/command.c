/* The command line, what its word can be, and an outcome that is longer than the last line. */
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/command_line.h"
#include "tui/panel/frame.h"

enum { OFFER_ROWS = 8, ANSWER_WIDTH = 78, ABOUT_ROWS = 6, ABOUT_MAX = 1024 };

/* A box whose last row is above the screen's last line. */
static struct area box_above(const struct area *screen, int width, int rows, const char *title)
{
    int height = rows + 2 < screen->height ? rows + 2 : screen->height;
    struct area part = tui_area_part(screen, 0, screen->height - 1 - height, screen->width, height);

    return panel_frame_box(&part, width, height, title);
}

static void draw_offers(const struct area *screen, const struct command_line *line)
{
    int rows = line->n_offers < OFFER_ROWS ? line->n_offers : OFFER_ROWS, width = 0;
    int at = line->offered < 0 ? 0 : line->offered, first = at < rows ? 0 : at - rows + 1;
    char title[32];

    snprintf(title, sizeof(title), line->n_offers > rows ? "Tab: %d of %d" : "Tab", at + 1, line->n_offers);
    struct area box = box_above(screen, ANSWER_WIDTH, rows, title);
    for (int i = 0; i < line->n_offers; i++) {
        int columns = cli_text_width(line->offers[i].word);
        width = columns > width ? columns : width;
    }
    for (int y = 0; y < rows && y < box.height; y++) {
        const struct command_offer *offer = &line->offers[first + y];
        tui_area_text(&box, 1, y, STYLE_KEY, offer->word);
        tui_area_text_cut(&box, width + 3, y, box.width - width - 3, STYLE_DIM, offer->words);
        if (first + y == line->offered)
            panel_frame_cursor(&box, y);
    }
}

/* What is typed, or that nothing of it will be done. */
static void draw_about(const struct area *screen, const struct scene *scene)
{
    char text[ABOUT_MAX], barred[VIEW_BARRED_MAX];
    const char *why = tui_view_barred(scene->view, scene->model, barred);
    int width = screen->width < ANSWER_WIDTH ? screen->width : ANSWER_WIDTH;

    if (why)
        snprintf(text, sizeof(text), "%s: no line is carried out", why);
    else
        tui_command_line_about(scene->view->line, text, sizeof(text));
    if (!text[0])
        return;
    int rows = panel_frame_wrap_rows(text, width - 4);
    struct area box =
        box_above(screen, width, rows < ABOUT_ROWS ? rows : ABOUT_ROWS, why ? "refused" : "typed");
    panel_frame_wrap(&box, 0, box.height, why ? STYLE_WARN : STYLE_DIM, text);
}

void panel_command(const struct area *screen, const struct scene *scene)
{
    const struct command_line *line = scene->view->line;
    struct area last = tui_area_part(screen, 0, screen->height - 1, screen->width, 1);

    if (!line)
        return;
    tui_area_line(&last, 0, 0, last.width, STYLE_NORMAL, L' ');
    tui_area_char(&last, 0, 0, STYLE_KEY, L':');
    panel_frame_edit(&last, 1, 0, &line->edit);
    if (line->n_offers > 1)
        draw_offers(screen, line);
    else if (scene->view->outcome != OUTCOME_NONE)
        panel_answer(screen, scene); /* of F5 */
    else
        draw_about(screen, scene);
    if (line->n_offers <= 1 && scene->view->outcome == OUTCOME_NONE && line->edit.len == 0)
        tui_area_text_cut(&last, 4, 0, last.width - 4, STYLE_DIM,
                          "order, pause, account ...: Tab completes, Up earlier ones, F5 dry run, Esc");
}

bool panel_answer_needed(const struct view *view, int width)
{
    enum { AROUND = 16 }; /* "unanswered" and blanks */

    return (view->outcome == OUTCOME_DONE || view->outcome == OUTCOME_REFUSED ||
            view->outcome == OUTCOME_UNANSWERED) &&
           view->prompt == PROMPT_NONE && !view->help && !tui_view_form(view) &&
           cli_text_width(view->command) + cli_text_width(view->words) + AROUND > width;
}

int64_t panel_answer_shown_ms(const struct view *view, int width)
{
    return view->prompt == PROMPT_COMMAND || panel_answer_needed(view, width) ? ANSWER_SHOWN_MS
                                                                              : COMMAND_SHOWN_MS;
}

void panel_answer(const struct area *screen, const struct scene *scene)
{
    const struct view *view = scene->view;
    char title[sizeof(view->command) + 16];
    int width = screen->width < ANSWER_WIDTH ? screen->width : ANSWER_WIDTH;

    snprintf(title, sizeof(title), "%s%s%s", view->prompt == PROMPT_COMMAND ? "dry run" : view->command,
             view->command[0] ? " " : "", tui_outcome_word(view->outcome));
    struct area box = box_above(screen, width, panel_frame_wrap_rows(view->words, width - 4), title);
    panel_frame_wrap(&box, 0, box.height, STYLE_NORMAL, view->words);
}
