/* The panels: each draws one rectangle from the model and the view, and knows nothing of terminals. */
#ifndef TUI_PANEL_PANEL_H
#define TUI_PANEL_PANEL_H

#include "tui/canvas.h"
#include "tui/layout.h"
#include "tui/model.h"
#include "tui/view.h"

struct scene {
    const struct model *model;
    const struct view *view;
    struct moment now;      /* for every age that is shown; stands still while frozen */
    struct moment real_now; /* for what continues anyway */
    enum panel focus;
};

void panel_draw(enum panel panel, const struct area *area, const struct scene *scene);

#define PANEL_DRAWS(number, name) void panel_##name(const struct area *area, const struct scene *scene);
PANEL_LIST(PANEL_DRAWS)

/* Drawn over the body. */
void panel_help(const struct area *screen, const struct scene *scene);
void panel_setup(const struct area *screen, const struct scene *scene);
void panel_choices(const struct area *screen, const struct scene *scene);
void panel_whole(const struct area *screen, const struct scene *scene);
void panel_flatten(const struct area *screen, const struct scene *scene);
void panel_cancel(const struct area *screen, const struct scene *scene);
void panel_confirm(const struct area *screen, const struct scene *scene); /* the prompts of tui_train_ask() */

/* How far the help on so many rows, and the texts that a drawn canvas cuts, can be scrolled. */
int panel_help_most(const struct view *view, enum panel focus, int height);
int panel_whole_most(const struct canvas *canvas, const struct view *view, const struct model *model);

void panel_command(const struct area *screen, const struct scene *scene); /* the last line is typed */
/* Is an outcome longer than a line of that width? Then panel_answer() has it whole. */
bool panel_answer_needed(const struct view *view, int width);
/* How long an outcome stays: the one in a box, also above a line that is typed, longer. */
int64_t panel_answer_shown_ms(const struct view *view, int width);
void panel_answer(const struct area *screen, const struct scene *scene);

/* Cover the whole screen. */
void panel_form(const struct area *screen, const struct scene *scene);
void panel_order(const struct area *screen, const struct scene *scene);
void panel_sweep(const struct area *screen, const struct scene *scene);
void panel_order_held(const struct area *area, const struct scene *scene); /* a part of it */
void panel_order_confirm(const struct area *screen, const struct scene *scene);

/* The outcome of a command in the last line, from column x on; nothing where there is none. */
void panel_outcome(const struct area *area, const struct view *view, int x, struct moment now);

/* How many rows beyond one a study's page has to say what is wrong. */
int panel_study_warning(const struct model *model, const struct tui_study_page *page, int width);

/* How many rows an item's page has on so many columns. */
int panel_item_rows(const struct item_page *page, int width);

/* A tab's name, on a screen so wide. */
const char *panel_tab_name(enum tab tab, int width);

/* How many rows the GPU panel has as a whole: 0 where it has a line a device. */
int panel_gpu_rows(const struct view *view, const struct model *model);

#endif
