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
    struct moment real_now; /* for what goes on all the same */
    enum panel focus;
};

/* Draws the panel of that name. */
void panel_draw(enum panel panel, const struct area *area, const struct scene *scene);

void panel_too_small(const struct area *area, const struct scene *scene);
void panel_header(const struct area *area, const struct scene *scene);
void panel_tabs(const struct area *area, const struct scene *scene);
void panel_keys(const struct area *area, const struct scene *scene);
void panel_prices(const struct area *area, const struct scene *scene);
void panel_positions(const struct area *area, const struct scene *scene);
void panel_accounts(const struct area *area, const struct scene *scene);
void panel_strategies(const struct area *area, const struct scene *scene);
void panel_equity(const struct area *area, const struct scene *scene);
void panel_alerts(const struct area *area, const struct scene *scene);
void panel_fills(const struct area *area, const struct scene *scene);
void panel_orders(const struct area *area, const struct scene *scene);
void panel_feed(const struct area *area, const struct scene *scene);
void panel_streams(const struct area *area, const struct scene *scene);
void panel_venues(const struct area *area, const struct scene *scene);
void panel_gpu(const struct area *area, const struct scene *scene);
void panel_trainings(const struct area *area, const struct scene *scene);
void panel_policies(const struct area *area, const struct scene *scene);
void panel_training(const struct area *area, const struct scene *scene);
void panel_curve(const struct area *area, const struct scene *scene);
void panel_timeline(const struct area *area, const struct scene *scene);
void panel_training_log(const struct area *area, const struct scene *scene);
void panel_searches(const struct area *area, const struct scene *scene);
void panel_search(const struct area *area, const struct scene *scene);
void panel_best(const struct area *area, const struct scene *scene);
void panel_importance(const struct area *area, const struct scene *scene);
void panel_running(const struct area *area, const struct scene *scene);
void panel_trials(const struct area *area, const struct scene *scene);
void panel_trial(const struct area *area, const struct scene *scene);
void panel_reports(const struct area *area, const struct scene *scene);
void panel_validation(const struct area *area, const struct scene *scene);
void panel_lambda(const struct area *area, const struct scene *scene);
void panel_tested(const struct area *area, const struct scene *scene);
void panel_chart(const struct area *area, const struct scene *scene);
void panel_log(const struct area *area, const struct scene *scene);

/* Drawn over the body. */
void panel_help(const struct area *screen, const struct scene *scene);
void panel_flatten(const struct area *screen, const struct scene *scene);
void panel_cancel(const struct area *screen, const struct scene *scene);
void panel_confirm(const struct area *screen, const struct scene *scene); /* the questions of train_ask() */

/* Covers the whole screen. */
void panel_form(const struct area *screen, const struct scene *scene);

/* The last line's word on a command, from column x on; nothing where there is none to say. */
void panel_outcome(const struct area *area, const struct view *view, int x, struct moment now);

/* How many orders the orders panel lists. */
int panel_orders_rows(const struct model *model);

#endif
