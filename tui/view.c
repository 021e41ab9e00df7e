#include "tui/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "tui/lists.h"
#include "tui/panel/panel.h"
#include "tui/study_rows.h"

void tui_view_init(struct view *view, bool readonly, int64_t interval_ms)
{
    *view = (struct view){
        .readonly = readonly,
        .interval_ms = interval_ms,
        .focus = PANEL_PRICES,
        .trial = -1,
    };
    tui_settings_defaults(&view->settings);
    view->settings.interval = (double)interval_ms / 1000;
    view->settings_kept = view->settings;
}

void tui_view_finish(struct view *view)
{
    tui_view_close_form(view);
    tui_command_line_destroy(view->line);
    view->line = NULL;
}

void tui_view_close_form(struct view *view)
{
    tui_form_page_destroy(view->page);
    tui_order_form_destroy(view->order_form);
    tui_sweep_page_destroy(view->sweeps);
    view->sweeps = NULL;
    view->page = NULL;
    view->order_form = NULL;
}

bool tui_view_form(const struct view *view)
{
    return view->page || view->order_form || view->sweeps;
}

const char *tui_outcome_word(enum outcome outcome)
{
    static const char *const words[] = {
        [OUTCOME_NONE] = "",           [OUTCOME_PENDING] = "pending",       [OUTCOME_DONE] = "done",
        [OUTCOME_REFUSED] = "refused", [OUTCOME_UNANSWERED] = "unanswered", [OUTCOME_NOTE] = ""};

    return words[outcome];
}

void tui_view_report(struct view *view, enum outcome outcome, const char *command, const char *words,
                     struct moment now)
{
    view->outcome = outcome;
    view->outcome_ms = now.mono_ms;
    cli_text_clean(view->command, sizeof(view->command), command);
    cli_text_clean(view->words, sizeof(view->words), words);
}

void tui_view_note(struct view *view, const char *command, const char *sentence, struct moment now)
{
    char words[sizeof(view->words)];

    tui_key_map_sentence(&view->settings.keys, tui_key_where(view, view->focus), sentence, words,
                         sizeof(words));
    tui_view_report(view, OUTCOME_NOTE, command, words, now);
}

const char *tui_view_barred(const struct view *view, const struct model *model,
                            char words[static VIEW_BARRED_MAX])
{
    if (view->at_ns > 0)
        return tui_key_map_sentence(&view->settings.keys, tui_key_where(view, view->focus),
                                    "the past cannot be acted on: `Esc` returns to now", words,
                                    VIEW_BARRED_MAX);
    if (view->readonly)
        return "read-only: started with --readonly";
    if (!model->reads_only)
        return NULL;
    snprintf(words, VIEW_BARRED_MAX, "reading only: ask for group %.40s", model->operators);
    return words;
}

bool tui_view_refuses(struct view *view, const struct model *model, struct moment now)
{
    char words[VIEW_BARRED_MAX];
    const char *why = tui_view_barred(view, model, words);

    if (why)
        tui_view_report(view, OUTCOME_NOTE, "", why, now);
    return why != NULL;
}

static int count_attributes(const struct view *view, const struct model *model)
{
    const struct tui_study_page *page = tui_view_study_page(view, model);

    return page ? page->n_params + page->n_attributes : 0;
}

/* Those that have an importance; a plot is of any. */
static int count_parameters(const struct view *view, const struct tui_study_page *page)
{
    return !page ? 0 : view->study_plot == PLOT_IMPORTANCE ? page->n_importance : page->n_params;
}

int tui_view_rows(const struct view *view, const struct model *model, enum panel panel)
{
    switch (panel) {
    case PANEL_ACCOUNTS:
    case PANEL_STRATEGIES:
        return model->status.n_accounts;
    case PANEL_STREAMS:
        return model->status.n_streams;
    case PANEL_FILLS:
    case PANEL_ORDERS:
    case PANEL_ALERTS:
    case PANEL_LOG:
    case PANEL_TRIPS:
    case PANEL_LEDGER:
    case PANEL_BARS:
    case PANEL_TRAININGS:
    case PANEL_POLICIES:
    case PANEL_POSITIONS:
    case PANEL_PRICES:
    case PANEL_TRIALS:
        return tui_lists_count(view, model, tui_lists_of(panel));
    case PANEL_TRADES:
        return model->tape.n;
    case PANEL_BY_SYMBOL:
    case PANEL_BY_STRATEGY:
        return (int)db_trip_sums_count(&model->lists[DB_LIST_TRIPS].sums, tui_view_trips_account(view, model),
                                       panel == PANEL_BY_SYMBOL);
    case PANEL_GPU:
        return panel_gpu_rows(view, model);
    case PANEL_TRAINING:
        return model->history.training.n_parameters;
    case PANEL_TRAINING_LOG:
        return model->log.n;
    case PANEL_STUDIES:
        return model->studies ? model->studies->n : 0;
    case PANEL_TRIAL:
        return count_attributes(view, model);
    case PANEL_IMPORTANCE:
        return count_parameters(view, tui_view_study_page(view, model));
    default:
        return 0;
    }
}

bool tui_view_takes_focus(enum panel panel)
{
    return panel == PANEL_PRICES || panel == PANEL_POSITIONS || panel == PANEL_ACCOUNTS ||
           (panel >= PANEL_TRIPS && panel <= PANEL_BY_STRATEGY) || panel == PANEL_STRATEGIES ||
           panel == PANEL_STREAMS || panel == PANEL_FILLS || panel == PANEL_ORDERS || panel == PANEL_ALERTS ||
           panel == PANEL_LOG || panel == PANEL_LEDGER || panel == PANEL_BARS || panel == PANEL_GPU ||
           panel == PANEL_TRAININGS || panel == PANEL_POLICIES || panel == PANEL_TRAINING ||
           panel == PANEL_CURVE || panel == PANEL_TIMELINE || panel == PANEL_TRAINING_LOG ||
           panel == PANEL_CHART || panel == PANEL_EQUITY || panel == PANEL_STUDIES ||
           (panel >= PANEL_BEST && panel <= PANEL_REPORTS) || panel == PANEL_LAMBDA ||
           panel == PANEL_TESTED || panel == PANEL_DEPTH || panel == PANEL_TRADES ||
           panel == PANEL_ITEM; /* some of them only to be zoomed */
}

int tui_view_cursor(const struct view *view, const struct model *model, enum panel panel)
{
    int at = view->cursor[panel];

    if (tui_lists_of(panel) != LIST_ALL)
        return tui_lists_cursor(view, model, tui_lists_of(panel));
    for (int i = 0; panel == PANEL_STUDIES && model->studies && i < model->studies->n; i++)
        if (strcmp(model->studies->study[i].key, view->study) == 0)
            return i;
    return at < 0 ? 0 : at;
}

void tui_view_layout(const struct view *view, const struct model *model, int width, int height,
                     struct layout *ret)
{
    const struct tui_study_page *page =
        view->study_view == STUDY_PAGE ? tui_view_study_page(view, model) : NULL;
    const struct layout_choice choice = {
        .tab = view->tab,
        .zoomed = view->zoomed,
        .detail = view->detail,
        .trainings = model->status.n_trainings,
        .venues = model->status.n_venues,
        .studies = tui_model_studies_rows(model),
        .study = view->study_view,
        .foot = view->foot,
        .item = view->item.kind != ITEM_NONE,
        .depth = view->depth,
        .bars = view->bars,
        .symbols = model->status.n_symbols,
        .saved = model_is_saved(model),
        .ledger = view->ledger,
        .devices = model->history.devices.n,
        .warning = page ? panel_study_warning(model, page, width) : 0,
        .running = page ? page->study.counts[TRIAL_RUNNING] : 0,
    };

    tui_layout_compute(width, height, &choice, ret);
}

enum panel tui_view_focus(const struct view *view, const struct layout *layout)
{
    if (tui_view_takes_focus(view->focus) && tui_layout_find(layout, view->focus))
        return view->focus;
    for (int i = 0; i < layout->n; i++)
        if (tui_view_takes_focus(layout->rects[i].panel))
            return layout->rects[i].panel;
    return PANEL_NONE;
}

const struct status_account *tui_view_account(const struct view *view, const struct model *model)
{
    int n = model->status.n_accounts, at = view->cursor[PANEL_ACCOUNTS];

    if (n == 0)
        return NULL;
    return &model->status.accounts[at < 0 ? 0 : at < n ? at : n - 1];
}

const char *tui_view_trips_account(const struct view *view, const struct model *model)
{
    const struct status_account *account = view->trips_one ? tui_view_account(view, model) : NULL;

    return account ? account->account : "";
}

const struct status_training *tui_view_training(const struct view *view, const struct model *model)
{
    for (int i = 0; view->detail && i < model->status.n_trainings; i++) /* whatever the list is filtered by */
        if (strcmp(tui_model_training(model, i)->training, view->training) == 0)
            return tui_model_training(model, i);
    return view->detail ? NULL : tui_lists_held_chosen(view, model, LIST_TRAININGS);
}

const struct tui_study *tui_view_study(const struct view *view, const struct model *model)
{
    int n = model->studies ? model->studies->n : 0, at = tui_view_cursor(view, model, PANEL_STUDIES);
    const struct tui_study *study = n > 0 ? &model->studies->study[at < n ? at : n - 1] : NULL;

    if (study && view->study_view != STUDY_LISTED && strcmp(study->key, view->study) != 0)
        return NULL;
    return study;
}

const struct tui_study_page *tui_view_study_page(const struct view *view, const struct model *model)
{
    const struct tui_study *study = tui_view_study(view, model);
    const struct tui_study_page *page = model->study_page;

    return page && study && strcmp(page->study.key, study->key) == 0 ? page : NULL;
}

const struct tui_study_trial *tui_view_trial(const struct view *view, const struct model *model)
{
    return tui_lists_held_chosen(view, model, LIST_TRIALS);
}

bool tui_view_open_study(struct view *view, const struct model *model, const char *name)
{
    const struct tui_study *study = tui_studies_find(model->studies, name);

    if (!study)
        return false;
    memcpy(view->study, study->key, sizeof(view->study));
    view->tab = TAB_STUDY;
    view->study_view = STUDY_PAGE;
    view->focus = PANEL_TRIALS;
    return true;
}

enum history_span tui_view_span(const struct view *view, const struct model *model)
{
    return !view->span_chosen && model_is_saved(model) ? SPAN_ALL : view->equity_span;
}

void tui_view_want(const struct view *view, const struct model *model, int width, struct history_want *ret)
{
    bool chart = view->tab == TAB_MARKET || width >= LAYOUT_WIDTH_CHART;
    const struct status_symbol *symbol = chart ? tui_view_symbol(view, model) : NULL;
    const struct status_account *account = tui_view_account(view, model);

    *ret = (struct history_want){0};
    if (symbol) {
        memcpy(ret->symbol, symbol->symbol, sizeof(ret->symbol));
        snprintf(ret->interval, sizeof(ret->interval), "%s", tui_view_timeframe(view, model, symbol));
    }
    if (account)
        memcpy(ret->account, account->account, sizeof(ret->account));
    snprintf(ret->training, sizeof(ret->training), "%s", tui_view_wanted_training(view, model));
    for (int i = 0; ret->training[0] && i < view->compare.n; i++) /* it is read itself */
        if (strcmp(view->compare.marked[i], ret->training) != 0)
            memcpy(ret->compared[i], view->compare.marked[i], sizeof(ret->compared[i]));
    ret->bars_end_ns = view->chart.end_ns;
    ret->span = tui_view_span(view, model);
    symbol = view->benchmark ? tui_view_symbol(view, model) : NULL;
    if (symbol)
        memcpy(ret->benchmark, symbol->symbol, sizeof(ret->benchmark));
}

const char *tui_view_wanted_depth(const struct view *view, const struct model *model,
                                  const struct layout *layout)
{
    const struct status_symbol *symbol = tui_view_symbol(view, model);
    bool shown = tui_layout_find(layout, PANEL_DEPTH) || tui_layout_find(layout, PANEL_TRADES);

    return symbol && shown ? symbol->symbol : "";
}

const char *tui_view_wanted_live(const struct view *view, const struct model *model,
                                 const struct layout *layout, const char **ret_timeframe)
{
    const struct status_symbol *symbol = tui_view_symbol(view, model);

    if (!symbol || !tui_layout_find(layout, PANEL_CHART))
        return "";
    *ret_timeframe = tui_view_timeframe(view, model, symbol);
    return symbol->symbol;
}

void tui_view_want_study(const struct view *view, const struct model *model, struct tui_study_want *ret)
{
    const struct tui_study *study = view->tab == TAB_STUDY ? tui_view_study(view, model) : NULL;
    const struct tui_study_trial *trial =
        study && view->study_view == STUDY_PAGE ? tui_view_trial(view, model) : NULL;
    bool validation = study && view->study_view == STUDY_VALIDATION;

    *ret = (struct tui_study_want){.trial = -1, .validation = validation, .returns = validation};
    if (study)
        memcpy(ret->key, study->key, sizeof(ret->key));
    if (trial) {
        snprintf(ret->study, sizeof(ret->study), "%s", model->study_page->members[trial->member]);
        ret->trial = trial->number;
    }
}

const struct status_policy *tui_view_policy(const struct view *view, const struct model *model)
{
    return tui_lists_held_chosen(view, model, LIST_POLICIES);
}

const char *tui_view_wanted_training(const struct view *view, const struct model *model)
{
    const struct status_training *training = tui_view_training(view, model);

    if (view->tab != TAB_STUDY)
        return "";
    return view->detail ? view->training : training ? training->training : "";
}

const struct status_symbol *tui_view_symbol(const struct view *view, const struct model *model)
{
    const struct status_symbol *symbol = tui_lists_held_chosen(view, model, LIST_PRICES);

    if (symbol || model->status.n_symbols == 0)
        return symbol;
    symbol = tui_model_symbol(model, view->symbol); /* a filter leaves none: the chart keeps its own */
    return symbol ? symbol : &model->status.symbols[0];
}

const char *tui_view_timeframe(const struct view *view, const struct model *model,
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

void tui_view_draw(const struct view *view, const struct model *model, struct moment now,
                   struct canvas *canvas)
{
    struct layout layout;
    struct area screen = tui_canvas_area(canvas);

    tui_canvas_clear(canvas);
    tui_view_layout(view, model, canvas->width, canvas->height, &layout);
    struct scene scene = {
        .model = model,
        .view = view,
        .now = tui_model_moment(model, view->frozen ? view->frozen_at : now),
        .real_now = now,
        .focus = tui_view_focus(view, &layout),
    };
    for (int i = 0; i < layout.n; i++) {
        const struct rect *r = &layout.rects[i];
        struct area area = tui_area_part(&screen, r->x, r->y, r->width, r->height);
        canvas->part = (int)r->panel;
        panel_draw(r->panel, &area, &scene);
    }
    if (tui_layout_find(&layout, PANEL_TOO_SMALL)) {
        canvas->keeps = false;
        return;
    }
    const bool asks = view->prompt != PROMPT_NONE && view->prompt != PROMPT_LIST &&
                      view->prompt != PROMPT_FIND; /* which the last line shows */
    const bool box = !asks && !view->help && (view->setup || view->choosing);
    canvas->part = PANEL_NONE;
    if (tui_view_form(view))
        tui_canvas_cover(canvas);
    if (view->page)
        panel_form(&screen, &scene);
    if (view->order_form)
        panel_order(&screen, &scene);
    if (view->sweeps)
        panel_sweep(&screen, &scene);
    if (view->prompt == PROMPT_COMMAND)
        panel_command(&screen, &scene);
    else if (box)
        (view->choosing ? panel_choices : panel_setup)(&screen, &scene);
    canvas->keeps = false;
    if (view->prompt == PROMPT_FLATTEN)
        panel_flatten(&screen, &scene);
    else if (view->prompt == PROMPT_CANCEL)
        panel_cancel(&screen, &scene);
    else if (view->prompt == PROMPT_ORDER)
        panel_order_confirm(&screen, &scene);
    else if (asks && view->prompt != PROMPT_COMMAND)
        panel_confirm(&screen, &scene);
    else if (view->help)
        panel_help(&screen, &scene);
    else if (view->whole)
        panel_whole(&screen, &scene);
    else if (!box && panel_answer_needed(view, canvas->width))
        panel_answer(&screen, &scene);
}

static int64_t kept_id(const struct view *view, enum panel panel)
{
    const int list = tui_lists_of(panel);

    return list < LIST_ALL ? view->lists[list].id : 0;
}

void tui_view_keep(struct view *view, const struct model *model, const struct canvas *drawn)
{
    struct layout layout;

    tui_view_layout(view, model, drawn->width, drawn->height, &layout);
    for (int i = 0; i < layout.n; i++) {
        const struct rect *rect = &layout.rects[i];
        const struct canvas_row *first = NULL;
        for (int k = 0; k < drawn->n_rows && !first; k++) /* they are noted from above */
            if (drawn->rows[k].x >= rect->x && drawn->rows[k].x < rect->x + rect->width &&
                drawn->rows[k].y >= rect->y && drawn->rows[k].y < rect->y + rect->height)
                first = &drawn->rows[k];
        if (first)
            view->drawn[rect->panel] = (struct view_drawn){
                first->index, tui_view_cursor(view, model, rect->panel), kept_id(view, rect->panel)};
    }
}

int tui_view_first(const struct view *view, const struct model *model, enum panel panel, int cursor, int n,
                   int height)
{
    const struct view_drawn *drawn = &view->drawn[panel];
    int before = drawn->first;

    if (before > 0 && drawn->id != 0 && drawn->id == kept_id(view, panel))
        before += tui_view_cursor(view, model, panel) - drawn->cursor;
    return tui_list_first(before < 0 ? 0 : before, cursor, n, height);
}
