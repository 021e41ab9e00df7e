#include <string.h>

#include "tui/panel/frame.h"
#include "tui/train_ask.h"

enum { WIDTH = 60, ROWS = 8 /* at least, with the frame */, BOX_FRAME = 4, FRAME_ROWS = 2 };

static void ask_name(const struct area *screen, const struct scene *scene)
{
    struct area box = panel_frame_box(screen, WIDTH, 7, "Start");
    const char *name = scene->view->typed;
    char words[TRAIN_ASK_MAX], sentence[PANEL_SENTENCE_MAX];

    int x = tui_area_text(&box, 0, 0, STYLE_WARN, "Name, then Enter: ");
    x = tui_area_text(&box, x, 0, STYLE_STRONG, name);
    tui_area_char(&box, x, 0, STYLE_KEY, L'_');
    if (name[0] && !tui_train_ask_allowed(scene->model, PROMPT_START, name, words))
        panel_frame_wrap(&box, 1, 2, STYLE_BAD, panel_frame_sentence(scene, words, sentence));
    else
        panel_frame_wrap(&box, 1, 2, STYLE_DIM,
                         "Its configuration comes next; it is the name of its policy, too.");
    tui_area_text_cut(&box, 0, 4, box.width, STYLE_DIM, "Esc does nothing.");
}

void panel_confirm(const struct area *screen, const struct scene *scene)
{
    const struct view *view = scene->view;
    int changes = view->page ? tui_form_changes(&view->page->form) : 0;
    struct train_question question;
    char words[TRAIN_ASK_MAX], sentence[PANEL_SENTENCE_MAX];

    if (view->prompt == PROMPT_NAME) {
        ask_name(screen, scene);
        return;
    }
    tui_train_ask_several(scene->model, view->prompt, view->subject, view->also, view->n_also, changes,
                          &question);
    bool allowed = tui_train_ask_allowed(scene->model, view->prompt, view->subject, words);
    for (int i = 0; !allowed && !view->page && i < view->n_also; i++)
        allowed = tui_train_ask_allowed(scene->model, view->prompt, view->also[i], words);
    bool refused = view->prompt != PROMPT_LEAVE && !allowed; /* since the prompt opened */
    const char *what = refused                       ? panel_frame_sentence(scene, words, sentence)
                       : view->prompt == PROMPT_STOP ? panel_frame_sentence(scene, question.what, sentence)
                                                     : question.what;
    int width = (WIDTH < screen->width ? WIDTH : screen->width) - BOX_FRAME;
    int rows = panel_frame_wrap_rows(question.ask, width) + panel_frame_wrap_rows(what, width) + FRAME_ROWS;
    bool fits = rows < screen->height; /* else the keys are in the frame */
    rows += fits;
    struct area box = panel_frame_box(screen, WIDTH, rows > ROWS ? rows : ROWS, question.title);
    int y = panel_frame_wrap(&box, 0, box.height - 1, STYLE_STRONG, question.ask);
    panel_frame_wrap(&box, y, box.height - fits - y, refused ? STYLE_BAD : STYLE_NORMAL, what);
    panel_frame_yes(&box, !fits, "does it");
}
