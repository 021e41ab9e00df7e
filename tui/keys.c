#include "tui/keys.h"

#include <stdio.h>
#include <string.h>

#include "tui/chart_keys.h"
#include "tui/choices.h"
#include "tui/command_keys.h"
#include "tui/item_keys.h"
#include "tui/line_edit.h"
#include "tui/list_keys.h"
#include "tui/lists.h"
#include "tui/order_keys.h"
#include "tui/overlay.h"
#include "tui/panel/panel.h"
#include "tui/past_keys.h"
#include "tui/paste.h"
#include "tui/saved_view_keys.h"
#include "tui/setup.h"
#include "tui/study_keys.h"
#include "tui/train_ask.h"
#include "tui/train_keys.h"

static bool daemon_there(struct view *view, const struct model *model, const char *command, struct moment now)
{
    if (model->source == MODEL_DAEMON)
        return true;
    tui_view_report(view, OUTCOME_REFUSED, command, tui_model_no_daemon(model), now);
    return false;
}

/* An alert of the chosen symbol at a price. */
static void open_price_alert(struct view *view, const struct model *model, struct moment now)
{
    const struct status_symbol *symbol = tui_view_symbol(view, model);
    char text[COMMAND_LINE_MAX];

    snprintf(text, sizeof(text), "alerts price %s%s", symbol ? symbol->symbol : "",
             symbol ? " --above " : "");
    tui_command_keys_open(view, text, now);
}

static enum action answer(struct view *view, const struct model *model, struct moment now, int key)
{
    if (view->prompt == PROMPT_COMMAND)
        return tui_command_keys_type(view, model, now, key);
    if (view->prompt == PROMPT_ORDER)
        return tui_order_keys_answer(view, now, key);
    if (view->prompt == PROMPT_LIST || view->prompt == PROMPT_FIND) {
        tui_list_keys_type(view, model, now, key);
        return ACTION_NONE;
    }
    if (view->prompt != PROMPT_CANCEL && view->prompt != PROMPT_FLATTEN)
        return tui_train_keys_answer(view, model, now, key);
    if (view->prompt == PROMPT_CANCEL) {
        view->prompt = PROMPT_NONE;
        if (key == 'y')
            return ACTION_CANCEL;
        tui_view_report(view, OUTCOME_NOTE, "cancel:", "nothing is done", now);
        return ACTION_NONE;
    }
    if (key == PRESS_ENTER) {
        bool right = strcmp(view->typed, "FLATTEN") == 0;
        view->prompt = PROMPT_NONE;
        if (right)
            return ACTION_FLATTEN;
        tui_view_report(view, OUTCOME_NOTE, "flatten:", "the word was not FLATTEN, nothing is done", now);
    } else if (key == PRESS_ESCAPE) {
        view->prompt = PROMPT_NONE;
        tui_view_report(view, OUTCOME_NOTE, "flatten:", "nothing is done", now);
    } else {
        tui_line_edit_word(view->typed, sizeof(view->typed), '!', key);
    }
    return ACTION_NONE;
}

static void ask_flatten(struct view *view)
{
    view->prompt = PROMPT_FLATTEN;
    view->outcome = OUTCOME_NONE;
    view->typed[0] = '\0';
}

static void ask_cancel(struct view *view, const struct model *model, enum panel focus, struct moment now)
{
    struct status_order order;

    if (!tui_order_keys_live(view, model, focus, "cancel", now, &order))
        return;
    view->prompt = PROMPT_CANCEL;
    view->outcome = OUTCOME_NONE;
    view->order = order.id;
}

/* The page's alert, which need not be among those that are known here; the chosen one; elsewhere, the newest
 * that is open. */
static enum action acknowledge(struct view *view, const struct model *model, enum panel focus,
                               struct moment now)
{
    const struct history *h = &model->history;
    const struct history_alert *alert = NULL;
    struct lists_rows rows;

    if (view->item.kind == ITEM_ALERT) {
        view->alert = view->item.id;
        return ACTION_ACK;
    }
    if (focus == PANEL_ALERTS && tui_lists_unread(view, model, DB_LIST_ALERTS)) {
        tui_view_report(view, OUTCOME_NOTE, "ack:", "the row is not read yet", now);
        return ACTION_NONE;
    }
    if (focus == PANEL_ALERTS) {
        tui_lists_rows(view, model, DB_LIST_ALERTS, &rows);
        alert = tui_lists_row(&rows, tui_view_cursor(view, model, PANEL_ALERTS));
    }
    for (int i = 0; focus != PANEL_ALERTS && !alert && i < h->n_alerts; i++)
        alert = h->alerts[i].open ? &h->alerts[i] : NULL;
    if (!alert || !alert->open) {
        tui_view_report(view, OUTCOME_NOTE, "ack:", "no alert is open here", now);
        return ACTION_NONE;
    }
    view->alert = (int64_t)alert->id;
    return ACTION_ACK;
}

static enum action act(struct view *view, const struct model *model, enum panel focus, struct moment now,
                       int key)
{
    if (tui_view_refuses(view, model, now))
        return ACTION_NONE;
    bool paused = tui_model_trading_paused(model);
    if (key == 'p' && daemon_there(view, model, paused ? "resume" : "pause", now))
        return paused ? ACTION_RESUME : ACTION_PAUSE;
    if (key == 'F' && daemon_there(view, model, "flatten", now))
        ask_flatten(view);
    if (tui_train_keys_prompt(key) != PROMPT_NONE && (key != 'x' || tui_train_keys_here(view, focus))) {
        if (!daemon_there(view, model, tui_train_ask_word(tui_train_keys_prompt(key)), now))
            return ACTION_NONE;
        return tui_train_keys_press(view, model, focus, now, key);
    }
    if (key == 'x' && daemon_there(view, model, "cancel", now))
        ask_cancel(view, model, focus, now);
    if (key == 'a' && daemon_there(view, model, "ack", now))
        return acknowledge(view, model, focus, now);
    return ACTION_NONE;
}

static void next_panel(struct view *view, const struct layout *layout)
{
    enum panel focus = tui_view_focus(view, layout);
    int at = 0;

    for (int i = 0; i < layout->n; i++)
        if (layout->rects[i].panel == focus)
            at = i;
    for (int i = 1; i <= layout->n; i++) {
        struct view trial = {.focus = layout->rects[(at + i) % layout->n].panel};
        if (tui_view_focus(&trial, layout) == trial.focus) {
            view->focus = trial.focus;
            return;
        }
    }
}

/* A log whose newest line is the last: its cursor counts from there, so that up is on. */
static int mirrored(int key)
{
    switch (key) {
    case PRESS_UP:
    case 'k':
        return PRESS_DOWN;
    case PRESS_DOWN:
    case 'j':
        return PRESS_UP;
    case PRESS_PAGE_UP:
        return PRESS_PAGE_DOWN;
    case PRESS_PAGE_DOWN:
        return PRESS_PAGE_UP;
    case PRESS_HOME:
        return PRESS_END;
    default:
        return PRESS_HOME;
    }
}

static void move(struct view *view, const struct model *model, const struct layout *layout, int key)
{
    enum panel focus = tui_view_focus(view, layout);
    const struct rect *rect = tui_layout_find(layout, focus);
    int rows = tui_view_rows(view, model, focus), page = rect ? rect->height - 1 : 1,
        at = tui_view_cursor(view, model, focus);

    if (focus == PANEL_TRAINING_LOG)
        key = mirrored(key);
    if (focus == PANEL_ITEM)
        rows = rect ? panel_item_rows(&model->item, rect->width) : 0;
    if (focus == PANEL_TRAINING_LOG || focus == PANEL_GPU || focus == PANEL_ITEM || focus == PANEL_TRADES)
        rows = rows > page ? rows - page + 1 : 1; /* the last page is the last place */
    page -= focus == PANEL_GPU;                   /* its last row says what is below */
    page -= (focus == PANEL_TRIPS || focus == PANEL_BY_SYMBOL || focus == PANEL_BY_STRATEGY) &&
            view->trips_one; /* its labels may have a row of their own */
    if (at >= rows)
        at = rows - 1;
    if (key == PRESS_UP || key == 'k')
        at--;
    else if (key == PRESS_DOWN || key == 'j')
        at++;
    else if (key == PRESS_PAGE_UP)
        at -= page > 1 ? page : 1;
    else if (key == PRESS_PAGE_DOWN)
        at += page > 1 ? page : 1;
    else if (key == PRESS_HOME)
        at = 0;
    else
        at = rows - 1;
    view->cursor[focus] = at >= rows ? (rows > 0 ? rows - 1 : 0) : at < 0 ? 0 : at;
    if (tui_lists_of(focus) != LIST_ALL)
        tui_list_keys_move(view, model, focus, at, key);
    if (focus == PANEL_ACCOUNTS || focus == PANEL_STRATEGIES) /* two tables of the same rows */
        view->cursor[PANEL_ACCOUNTS] = view->cursor[PANEL_STRATEGIES] = view->cursor[focus];
    tui_study_keys_moved(view, model, focus);
    view->focus = focus;
}

/* Starts a backtest of the chosen account's strategy, or stops the one that runs. It changes nothing in the
 * daemon, so it needs neither confirmation nor a daemon. */
static enum action backtest(struct view *view, const struct model *model, struct moment now)
{
    const struct status_account *account = tui_view_account(view, model);

    if (view->at_ns > 0 && tui_view_refuses(view, model, now))
        return ACTION_NONE;
    if (model->backtest.state == BACKTEST_RUNNING)
        return ACTION_STOP_BACKTEST;
    if (!account || !account->strategy[0]) {
        tui_view_report(view, OUTCOME_NOTE,
                        "backtest:", account ? "the account has no strategy" : "no account is known", now);
        return ACTION_NONE;
    }
    return ACTION_BACKTEST;
}

static void pace(struct view *view, int key)
{
    static const int steps_ms[] = {250, 500, 1000, 2000, 5000, 10000, 30000, 60000};
    int n = sizeof(steps_ms) / sizeof(steps_ms[0]), at = 0;

    while (at < n - 1 && steps_ms[at] < view->interval_ms)
        at++;
    at += key == '-' ? -1 : 1;
    view->interval_ms = steps_ms[at < 0 ? 0 : at >= n ? n - 1 : at];
    view->settings.interval = (double)view->interval_ms / 1000;
}

/* The next timeframe that is kept of the symbol, or the one before. */
static enum action step_timeframe(struct view *view, const struct model *model, struct moment now, int by)
{
    const struct history *h = &model->history;
    const struct status_symbol *symbol = tui_view_symbol(view, model);
    int at = -1;

    for (int i = 0; symbol && i < h->n_timeframes; i++)
        if (strcmp(h->timeframes[i], tui_view_timeframe(view, model, symbol)) == 0)
            at = i;
    if (at < 0 || h->n_timeframes < 2) {
        tui_view_note(view, "timeframe:", "no other is kept here; the market's tab is `4`", now);
        return ACTION_NONE;
    }
    at = (at + by + h->n_timeframes) % h->n_timeframes;
    memcpy(view->timeframe, h->timeframes[at], sizeof(view->timeframe));
    return ACTION_COLLECT;
}

/* Depth and trades instead of the chart, and back; of the tab that has it. */
static enum action turn_depth(struct view *view, const struct model *model, struct moment now)
{
    if (model_is_saved(model)) {
        tui_view_report(view, OUTCOME_NOTE, "depth:", "a saved run has no order book", now);
        return ACTION_NONE;
    }
    if (view->tab != TAB_MARKET || view->item.kind != ITEM_NONE) {
        tui_view_note(view, "depth:", "the market's tab is `4`", now);
        return ACTION_NONE;
    }
    view->depth = !view->depth;
    view->bars = false;
    view->zoomed = PANEL_NONE;
    return ACTION_COLLECT;
}

/* The list of the chart's bars instead of it, and back. */
static enum action turn_bars(struct view *view, struct moment now)
{
    bool zoomed = view->zoomed != PANEL_NONE;

    if (view->tab != TAB_MARKET || view->item.kind != ITEM_NONE) {
        tui_view_note(view, "bars:", "the market's tab is `4`", now);
        return ACTION_NONE;
    }
    view->bars = !view->bars;
    view->depth = false;
    view->focus = view->bars ? PANEL_BARS : PANEL_CHART;
    view->zoomed = zoomed ? view->focus : PANEL_NONE;
    return ACTION_COLLECT;
}

/* The chosen bar in the chart, with a few after it, where the crosshair is on it. */
static enum action open_bar(struct view *view, const struct model *model)
{
    enum { AFTER = 16 };
    const struct status_symbol *symbol = tui_view_symbol(view, model);
    int64_t interval_ns, open_ns = tui_lists_chosen(view, model, DB_LIST_BARS);

    if (!symbol || open_ns <= 0 ||
        bar_interval_parse(tui_view_timeframe(view, model, symbol), &interval_ns) < 0)
        return ACTION_NONE;
    view->bars = false;
    view->focus = PANEL_CHART;
    view->zoomed = view->zoomed ? PANEL_CHART : PANEL_NONE;
    view->chart.end_ns = open_ns + AFTER * interval_ns;
    view->chart.crosshair = true;
    view->chart.crosshair_ns = open_ns;
    return ACTION_BARS;
}

/* Has the panel no list, or the prices, which leave C to the chart? */
static bool beside_chart(enum panel focus)
{
    return tui_lists_of(focus) == LIST_ALL || focus == PANEL_PRICES;
}

/* Steps through the indicators below the chart, then none. */
static void step_below(struct view *view, const struct model *model)
{
    int first, end;

    view->below = tui_overlay_below(&model->history, view->settings.hides, view->below, &first, &end)
                      ? view->below + 1
                      : 0;
}

/* The next of what stands at the foot of the positions, which Tab's arrows then move in. */
static enum action step_foot(struct view *view)
{
    if (view->tab != TAB_POSITIONS || view->item.kind != ITEM_NONE)
        return ACTION_NONE;
    view->foot = (view->foot + 1) % FEET;
    view->focus = tui_layout_foot(view->foot);
    if (view->zoomed)
        view->zoomed = view->focus;
    return ACTION_COLLECT;
}

/* Round trips and their sums of one account, or of all: their first row. */
static void choose_accounts(struct view *view)
{
    struct list_choice *list = &view->lists[DB_LIST_TRIPS];

    view->trips_one = !view->trips_one;
    list->id = list->anchor_id = list->anchor_at = 0;
    view->cursor[PANEL_TRIPS] = view->cursor[PANEL_BY_SYMBOL] = view->cursor[PANEL_BY_STRATEGY] = 0;
}

/* The key that shows the whole texts where w does: a function key also where letters are typed. */
static bool asks_whole(const struct view *view, int key)
{
    if (view->prompt != PROMPT_NONE && view->prompt != PROMPT_COMMAND)
        return false;
    if (view->sweeps)
        return key == PRESS_F3 || (key == 'w' && !tui_sweep_page_types(view->sweeps));
    if (view->prompt == PROMPT_COMMAND || view->order_form || view->setup || view->choosing)
        return key == PRESS_F3 && !view->choosing_waits;
    return view->page && (key == PRESS_F3 || (key == 'w' && view->page->mode == FORM_ROWS));
}

static enum action show_whole(struct view *view)
{
    view->whole = true;
    view->scroll = 0;
    view->whole_most = LIST_END;
    return ACTION_NONE;
}

static enum action open_tab(struct view *view, enum tab tab)
{
    view->tab = tab;
    view->zoomed = PANEL_NONE;
    tui_item_keys_back(view);
    view->detail = false;
    view->study_view = STUDY_LISTED;
    return ACTION_COLLECT;
}

/* The ledger; from there the log. */
static enum action open_ledger(struct view *view, enum panel focus)
{
    bool zoomed = view->tab == TAB_LOG && view->zoomed != PANEL_NONE;

    view->ledger = focus != PANEL_LEDGER;
    open_tab(view, TAB_LOG);
    view->focus = view->ledger ? PANEL_LEDGER : PANEL_LOG;
    view->zoomed = zoomed ? view->focus : PANEL_NONE;
    return ACTION_COLLECT;
}

/* The pages of sweeps, which need no daemon. */
static enum action open_sweeps(struct view *view, struct moment now)
{
    tui_view_close_form(view);
    view->sweeps = tui_sweep_page_create("");
    view->outcome = OUTCOME_NONE;
    if (!view->sweeps)
        tui_view_report(view, OUTCOME_NOTE, "", "out of memory", now);
    return view->sweeps ? ACTION_SWEEPS : ACTION_NONE;
}

enum action tui_keys_sweeps(struct view *view, enum form_action action)
{
    if (action == FORM_ACTION_HELP) {
        view->help = true;
        view->scroll = 0;
    } else if (action == FORM_ACTION_LEAVE) {
        tui_view_close_form(view);
        return ACTION_SWEEPS;
    }
    return view->sweeps->wants ? ACTION_SWEEPS : ACTION_NONE;
}

/* The page of the chosen training. */
static enum action open_training(struct view *view, const struct model *model, enum panel focus)
{
    const struct status_training *training = tui_view_training(view, model);

    if (focus != PANEL_TRAININGS || !training)
        return ACTION_NONE;
    memcpy(view->training, training->training, sizeof(view->training));
    view->tab = TAB_STUDY;
    view->zoomed = PANEL_NONE;
    view->detail = true;
    view->focus = PANEL_TRAINING;
    view->cursor[PANEL_TRAINING] = view->cursor[PANEL_TRAINING_LOG] = 0;
    return ACTION_COLLECT;
}

static enum action open_row(struct view *view, const struct model *model, enum panel focus, struct moment now)
{
    if (tui_lists_unread(view, model, tui_lists_of(focus))) {
        tui_view_note(view, "open:", "the row is not read yet", now);
        return ACTION_NONE;
    }
    if (focus == PANEL_BARS)
        return open_bar(view, model);
    if (tui_study_keys_enter(view, model, focus) || tui_item_keys_enter(view, model, focus))
        return ACTION_COLLECT;
    return open_training(view, model, focus);
}

/* Leaves what was opened last. */
static enum action back(struct view *view, const struct model *model, enum panel focus)
{
    if (tui_item_keys_back(view))
        return ACTION_COLLECT;
    if (tui_list_keys_back(view, model, focus))
        return ACTION_NONE;
    if (!view->zoomed && view->study_view != STUDY_LISTED)
        return tui_study_keys_back(view, model);
    bool page = view->detail && !view->zoomed;

    if (page) {
        view->detail = false;
        view->focus = PANEL_TRAININGS;
    }
    if (!page && !view->zoomed && view->at_ns > 0)
        return ACTION_NOW;
    view->zoomed = PANEL_NONE;
    return page ? ACTION_COLLECT : ACTION_NONE;
}

/* A key while the help or the whole texts are over the screen: it scrolls, or closes them. */
static enum action overlay(struct view *view, const struct layout *layout, int height, int key)
{
    int most = view->help ? panel_help_most(view, tui_view_focus(view, layout), height) : view->whole_most;
    int page = height - 4, at = view->scroll < most ? view->scroll : most;

    if (most > 0 && (key == PRESS_UP || key == 'k'))
        at--;
    else if (most > 0 && (key == PRESS_DOWN || key == 'j'))
        at++;
    else if (most > 0 && key == PRESS_PAGE_UP)
        at -= page;
    else if (most > 0 && key == PRESS_PAGE_DOWN)
        at += page;
    else if (most > 0 && key == PRESS_HOME)
        at = 0;
    else if (most > 0 && (key == PRESS_END || key == 'G'))
        at = most;
    else
        view->help = view->whole = false;
    view->scroll = at < 0 ? 0 : at > most ? most : at;
    return ACTION_NONE;
}

enum action tui_keys_press(struct view *view, const struct model *model, int width, int height,
                           struct moment now, int key)
{
    struct layout layout;

    tui_view_layout(view, model, width, height, &layout);
    const bool small = tui_layout_find(&layout, PANEL_TOO_SMALL) != NULL;
    const bool box = view->help || view->whole || view->setup || view->choosing;
    const bool typed = view->order_form || view->sweeps || (view->page && view->page->mode != FORM_ROWS);
    if (!typed && (small || (view->prompt == PROMPT_NONE && !box)))
        key = tui_key_map_take(&view->settings.keys, tui_key_where(view, tui_view_focus(view, &layout)), key);
    return tui_keys_take(view, model, width, height, now, key);
}

enum action tui_keys_take(struct view *view, const struct model *model, int width, int height,
                          struct moment now, int key)
{
    struct layout layout;
    char text[COMMAND_LINE_MAX];
    bool second_g = view->got_g && key == 'g';

    view->got_g = false;
    tui_view_layout(view, model, width, height, &layout);
    if (tui_layout_find(&layout, PANEL_TOO_SMALL)) {
        view->prompt = PROMPT_NONE; /* a prompt that cannot be seen is not confirmed */
        return key == 'q' && !tui_view_form(view) ? ACTION_QUIT
               : key == PRESS_CONTROL_L           ? ACTION_REDRAW
                                                  : ACTION_NONE;
    }
    if (!view->help && !view->whole && asks_whole(view, key))
        return show_whole(view);
    if (view->prompt != PROMPT_NONE && !view->whole)
        return answer(view, model, now, key);
    if (view->help || view->whole)
        return overlay(view, &layout, height, key);
    if (view->setup && !view->choosing)
        return tui_setup_press(view, model, now, key);
    if (view->choosing)
        return tui_choices_press(view, model, now, key);
    if (view->outcome != OUTCOME_PENDING)
        view->outcome = OUTCOME_NONE;
    if (view->order_form)
        return key == PRESS_CONTROL_L ? ACTION_REDRAW : tui_order_keys_form(view, model, now, key);
    if (view->sweeps && key != PRESS_CONTROL_L)
        return tui_keys_sweeps(view, tui_sweep_page_press(view->sweeps, height - 3, key));
    if (view->sweeps)
        return ACTION_REDRAW;
    if (view->page)
        return key == PRESS_CONTROL_L ? ACTION_REDRAW : tui_train_keys_form(view, model, height, now, key);
    if (key >= '1' && key < '1' + TABS)
        return open_tab(view, (enum tab)(key - '1'));
    if (tui_view_focus(view, &layout) == PANEL_CHART &&
        (key == PRESS_PAGE_UP || key == PRESS_PAGE_DOWN || key == PRESS_HOME || key == PRESS_END))
        return tui_chart_keys_press(view, model, &layout, now, key);
    switch (key) {
    case 'q':
        return ACTION_QUIT;
    case PRESS_CONTROL_L:
        return ACTION_REDRAW;
    case '?':
    case PRESS_HELP:
        view->help = true;
        view->scroll = 0;
        break;
    case 'w':
        return show_whole(view);
    case PRESS_F2:
        tui_setup_open(view, tui_study_keys_list(view, model, tui_view_focus(view, &layout)));
        break;
    case PRESS_TAB:
        next_panel(view, &layout);
        break;
    case PRESS_LEFT:
    case 'h':
        return open_tab(view, (enum tab)((view->tab + TABS - 1) % TABS));
    case PRESS_RIGHT:
    case 'l':
        return open_tab(view, (enum tab)((view->tab + 1) % TABS));
    case 'g':
        view->got_g = !second_g;
        if (second_g)
            move(view, model, &layout, PRESS_HOME);
        break;
    case 'G':
        move(view, model, &layout, PRESS_END);
        break;
    case 'j':
    case 'k':
    case PRESS_UP:
    case PRESS_DOWN:
    case PRESS_PAGE_UP:
    case PRESS_PAGE_DOWN:
    case PRESS_HOME:
    case PRESS_END:
        move(view, model, &layout, key);
        switch (tui_view_focus(view, &layout)) {
        case PANEL_PRICES:
        case PANEL_ACCOUNTS:
        case PANEL_STRATEGIES:
        case PANEL_TRAININGS:
        case PANEL_STUDIES:
        case PANEL_TRIALS:
            return ACTION_COLLECT; /* of another symbol, account or training, study or trial */
        default:
            return ACTION_NONE;
        }
    case 'z':
        view->zoomed = view->zoomed ? PANEL_NONE : tui_view_focus(view, &layout);
        break;
    case PRESS_ENTER:
        return open_row(view, model, tui_view_focus(view, &layout), now);
    case PRESS_ESCAPE:
        return back(view, model, tui_view_focus(view, &layout));
    case 'f':
        view->frozen = !view->frozen;
        view->frozen_at = now;
        return view->frozen ? ACTION_NONE : ACTION_COLLECT;
    case '+':
    case '=':
    case '-':
        pace(view, key);
        break;
    case 'c':
    case 'L':
    case 'm':
    case ',':
    case '.':
    case '{':
    case '}':
        if (tui_study_keys_plot(view, model, now, key))
            return ACTION_NONE;
        return tui_chart_keys_press(view, model, &layout, now, key);
    case 'd':
        return turn_depth(view, model, now);
    case 'D':
        return turn_bars(view, now);
    case '[':
    case ']':
        if (tui_study_keys_plot(view, model, now, key))
            return ACTION_NONE;
        return step_timeframe(view, model, now, key == ']' ? 1 : -1);
    case 'u':
        view->equity_span = (tui_view_span(view, model) + 1) % SPANS;
        view->span_chosen = true;
        tui_view_report(view, OUTCOME_NOTE, "equity:", tui_history_span_name(view->equity_span), now);
        return ACTION_COLLECT;
    case 'H':
        view->benchmark = !view->benchmark;
        return ACTION_COLLECT;
    case 'o':
    case 'I':
    case '/':
    case 'n':
    case 'N':
    case 'v':
    case 'C':
        if (key == 'C' && tui_layout_find(&layout, PANEL_CHART) &&
            beside_chart(tui_view_focus(view, &layout))) {
            tui_choices_indicators(view, model, now);
            return ACTION_NONE;
        }
        if (tui_list_keys_press(view, model, tui_study_keys_list(view, model, tui_view_focus(view, &layout)),
                                now, key))
            return ACTION_NONE;
        if (key == 'n' || key == 'N' || key == 'C')
            break;
        return tui_study_keys_press(view, model, tui_view_focus(view, &layout), now, key);
    case 'J':
        return open_ledger(view, tui_view_focus(view, &layout));
    case 'M':
        view->settings.mouse = !view->settings.mouse;
        tui_view_report(
            view, OUTCOME_NOTE, "mouse:",
            view->settings.mouse ? "chooses rows and tabs" : "left to the terminal, which selects text", now);
        return ACTION_SETTINGS;
    case 'y':
        return ACTION_COPY;
    case ':':
        tui_command_keys_open(view, "", now);
        break;
    case 'B':
    case 'E':
    case 'O':
        return tui_order_keys_press(view, model, tui_view_focus(view, &layout), now, key);
    case 'U':
        return open_sweeps(view, now);
    case '@':
        if (!tui_view_refuses(view, model, now))
            open_price_alert(view, model, now);
        break;
    case '<':
    case '>':
        return tui_past_keys_step(view, now, key);
    case 'W':
        if (tui_past_keys_what_if(view, model, tui_view_focus(view, &layout), now, text))
            tui_command_keys_open(view, text, now);
        break;
    case 'i':
        if (tui_study_keys_plot(view, model, now, key))
            break;
        if (view->tab == TAB_STUDY)
            view->curve = (view->curve + 1) % FIGURES;
        else
            step_below(view, model);
        break;
    case ' ':
    case 'K':
        return tui_train_keys_mark(view, model, tui_view_focus(view, &layout), now, key);
    case 'V':
        return tui_saved_view_keys_press(view, now, key);
    case '~':
        view->compare.smooth = (view->compare.smooth + 1) % COMPARE_SMOOTHS;
        break;
    case 't':
        return step_foot(view);
    case 'A':
        if (view->tab == TAB_POSITIONS)
            choose_accounts(view);
        break;
    case 'b':
        return backtest(view, model, now);
    case 'p':
    case 'F':
    case 'a':
    case 'x':
    case 's':
    case 'S':
    case 'r':
    case 'e':
    case 'P':
    case 'R':
        if (key == 'P' && tui_train_keys_compares(view, tui_view_focus(view, &layout)))
            return tui_train_keys_mark(view, model, tui_view_focus(view, &layout), now, key);
        return act(view, model, tui_view_focus(view, &layout), now, key);
    default:
        break;
    }
    return ACTION_NONE;
}

void tui_keys_paste(struct view *view, const struct model *model, int width, int height, const int *keys,
                    size_t n)
{
    struct layout layout;
    size_t len = strlen(view->typed);

    tui_view_layout(view, model, width, height, &layout);
    if (tui_layout_find(&layout, PANEL_TOO_SMALL))
        return;
    if (view->prompt == PROMPT_NAME) { /* a character that a name may not have is shown, and refused */
        for (size_t i = 0; i < n && i < PASTE_MAX && len + 1 < sizeof(view->typed); i++)
            view->typed[len++] = (char)(keys[i] > ' ' && keys[i] < 0x7f ? keys[i] : '?');
        view->typed[len] = '\0';
    } else if (view->prompt == PROMPT_LIST || view->prompt == PROMPT_FIND) {
        tui_list_keys_paste(view, model, (struct moment){0}, keys, n);
    } else if (view->prompt == PROMPT_COMMAND) {
        tui_line_edit_paste(&view->line->edit, keys, n < PASTE_MAX ? n : PASTE_MAX);
    } else if (view->prompt == PROMPT_NONE && view->order_form && !view->help) {
        tui_order_form_paste(view->order_form, keys, n);
    } else if (view->prompt == PROMPT_NONE && view->sweeps && !view->help) {
        tui_sweep_page_paste(view->sweeps, keys, n < PASTE_MAX ? n : PASTE_MAX);
    } else if (view->prompt == PROMPT_NONE && view->page && !view->help) {
        tui_form_page_paste(view->page, keys, n);
    }
}
