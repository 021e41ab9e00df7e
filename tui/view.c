#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#include "tui/panel/panel.h"
#include "tui/text.h"

void view_init(struct view *view, bool readonly, int64_t interval_ms)
{
    *view = (struct view){.readonly = readonly, .interval_ms = interval_ms, .focus = PANEL_PRICES};
}

void view_finish(struct view *view)
{
    view_close_form(view);
}

void view_close_form(struct view *view)
{
    form_page_destroy(view->page);
    view->page = NULL;
}

void view_tell(struct view *view, enum outcome outcome, const char *command, const char *words,
               struct moment now)
{
    view->outcome = outcome;
    view->outcome_ms = now.mono_ms;
    text_clean(view->command, sizeof(view->command), command);
    text_clean(view->words, sizeof(view->words), words);
}

int view_rows(const struct model *model, enum panel panel)
{
    switch (panel) {
    case PANEL_PRICES:
        return model->status.n_symbols;
    case PANEL_POSITIONS:
        return model->status.n_positions;
    case PANEL_ACCOUNTS:
    case PANEL_STRATEGIES:
        return model->status.n_accounts;
    case PANEL_STREAMS:
        return model->status.n_streams;
    case PANEL_FILLS:
        return model->history.n_fills;
    case PANEL_ORDERS:
        return panel_orders_rows(model);
    case PANEL_ALERTS:
        return model->history.n_alerts;
    case PANEL_LOG:
        return model->history.n_log;
    case PANEL_TRAININGS:
        return model->status.n_trainings;
    case PANEL_POLICIES:
        return model->status.n_policies;
    case PANEL_TRAINING:
        return model->history.training.n_parameters;
    case PANEL_TRAINING_LOG:
        return model->log.n;
    default:
        return 0;
    }
}

static bool scrolls(enum panel panel)
{
    return panel == PANEL_PRICES || panel == PANEL_POSITIONS || panel == PANEL_ACCOUNTS ||
           panel == PANEL_STRATEGIES || panel == PANEL_STREAMS || panel == PANEL_FILLS ||
           panel == PANEL_ORDERS || panel == PANEL_ALERTS || panel == PANEL_LOG || panel == PANEL_TRAININGS ||
           panel == PANEL_POLICIES || panel == PANEL_TRAINING || panel == PANEL_CURVE ||
           panel == PANEL_TIMELINE || panel == PANEL_TRAINING_LOG; /* two of them only to be zoomed */
}

int view_cursor(const struct view *view, const struct model *model, enum panel panel)
{
    int at = view->cursor[panel];

    for (int i = 0; panel == PANEL_TRAININGS && i < model->status.n_trainings; i++)
        if (strcmp(model_training(model, i)->training, view->training) == 0)
            return i;
    for (int i = 0; panel == PANEL_POLICIES && i < model->status.n_policies; i++)
        if (strcmp(model->status.policies[i].policy, view->policy) == 0)
            return i;
    return at < 0 ? 0 : at;
}

void view_layout(const struct view *view, const struct model *model, int width, int height,
                 struct layout *ret)
{
    struct layout_choice choice = {view->tab, view->zoomed, view->detail, model->status.n_trainings,
                                   model->status.n_venues};

    layout_compute(width, height, &choice, ret);
}

enum panel view_focus(const struct view *view, const struct layout *layout)
{
    if (scrolls(view->focus) && layout_find(layout, view->focus))
        return view->focus;
    for (int i = 0; i < layout->n; i++)
        if (scrolls(layout->rects[i].panel))
            return layout->rects[i].panel;
    return PANEL_NONE;
}

const struct status_account *view_account(const struct view *view, const struct model *model)
{
    int n = model->status.n_accounts, at = view->cursor[PANEL_ACCOUNTS];

    if (n == 0)
        return NULL;
    return &model->status.accounts[at < 0 ? 0 : at < n ? at : n - 1];
}

const struct status_training *view_training(const struct view *view, const struct model *model)
{
    int n = model->status.n_trainings, at = view_cursor(view, model, PANEL_TRAININGS);
    const struct status_training *training = n > 0 ? model_training(model, at < n ? at : n - 1) : NULL;

    if (training && view->detail && strcmp(training->training, view->training) != 0)
        return NULL;
    return training;
}

const struct status_policy *view_policy(const struct view *view, const struct model *model)
{
    int n = model->status.n_policies, at = view_cursor(view, model, PANEL_POLICIES);

    return n > 0 ? &model->status.policies[at < n ? at : n - 1] : NULL;
}

const char *view_wanted_training(const struct view *view, const struct model *model)
{
    const struct status_training *training = view_training(view, model);

    if (view->tab != TAB_STUDY)
        return "";
    return view->detail ? view->training : training ? training->training : "";
}

const struct status_symbol *view_symbol(const struct view *view, const struct model *model)
{
    int n = model->status.n_symbols, at = view->cursor[PANEL_PRICES];

    if (n == 0)
        return NULL;
    return &model->status.symbols[at < 0 ? 0 : at < n ? at : n - 1];
}

const char *view_timeframe(const struct view *view, const struct model *model,
                           const struct status_symbol *symbol)
{
    const struct history *h = &model->history;

    if (strcmp(h->bars_symbol, symbol->symbol) != 0)
        return view->timeframe[0] ? view->timeframe : symbol->interval;
    for (int i = 0; i < h->n_timeframes; i++)
        if (strcmp(h->timeframes[i], view->timeframe) == 0)
            return view->timeframe;
    return symbol->interval;
}

void view_draw(const struct view *view, const struct model *model, struct moment now, struct canvas *canvas)
{
    struct layout layout;
    struct area screen = canvas_area(canvas);

    canvas_clear(canvas);
    view_layout(view, model, canvas->width, canvas->height, &layout);
    struct scene scene = {
        .model = model,
        .view = view,
        .now = view->frozen ? view->frozen_at : now,
        .real_now = now,
        .focus = view_focus(view, &layout),
    };
    for (int i = 0; i < layout.n; i++) {
        const struct rect *r = &layout.rects[i];
        struct area area = area_part(&screen, r->x, r->y, r->width, r->height);
        panel_draw(r->panel, &area, &scene);
    }
    if (layout_find(&layout, PANEL_TOO_SMALL))
        return;
    if (view->page)
        panel_form(&screen, &scene);
    if (view->prompt == PROMPT_FLATTEN)
        panel_flatten(&screen, &scene);
    else if (view->prompt == PROMPT_CANCEL)
        panel_cancel(&screen, &scene);
    else if (view->prompt != PROMPT_NONE)
        panel_confirm(&screen, &scene);
    else if (view->help)
        panel_help(&screen, &scene);
}
