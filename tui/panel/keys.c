#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/key_map.h"
#include "tui/lists.h"
#include "tui/panel/frame.h"
#include "tui/study_keys.h"
#include "tui/train_ask.h"
#include "tui/train_keys.h"

enum { WIDE = 100 };

void panel_outcome(const struct area *area, const struct view *view, int x, struct moment now)
{
    char age[FORMAT_MAX];
    enum style style = view->outcome == OUTCOME_DONE      ? STYLE_GOOD
                       : view->outcome == OUTCOME_REFUSED ? STYLE_BAD
                                                          : STYLE_WARN;
    const char *word = tui_outcome_word(view->outcome);

    if (view->command[0])
        x = tui_area_printf(area, x, 0, STYLE_STRONG, "%s", view->command) + 1;
    if (*word)
        x = tui_area_text(area, x, 0, style, word);
    if (view->outcome == OUTCOME_PENDING)
        x = tui_area_printf(area, x, 0, STYLE_DIM, " %s",
                            cli_format_age(age, now.mono_ms - view->outcome_ms));
    if (view->words[0])
        tui_area_text_cut(area, *word ? x + 2 : x, 0, area->width - x - 2, STYLE_NORMAL, view->words);
}

/* A hint's keys as they are in force. */
static const char *in_force(const struct scene *scene, const char *keys, char ret[static KEY_HINT_MAX])
{
    return tui_key_map_hint(&scene->view->settings.keys, tui_key_where(scene->view, scene->focus), keys, ret);
}

/* The keys of trainings and policies that apply to the chosen one; returns the column after them. */
static int training_keys(const struct area *area, int x, int end, const struct scene *scene)
{
    static const char keys[] = "sxrePR";
    char name[STATUS_TRAINING_NAME_MAX], words[TRAIN_ASK_MAX], hint[KEY_HINT_MAX];

    for (const char *key = keys; *key; key++) {
        enum prompt prompt = tui_train_keys_prompt(*key);
        const bool pins = *key == 'P' && tui_train_keys_compares(scene->view, scene->focus);
        const char *word = pins ? "baseline" : tui_train_ask_word(prompt);
        tui_train_keys_subject(scene->view, scene->model, scene->focus, prompt, name);
        if (prompt != PROMPT_NAME && !pins &&
            (!name[0] || !tui_train_ask_allowed(scene->model, prompt, name, words)))
            continue;
        in_force(scene, (char[]){*key, '\0'}, hint);
        if (x + cli_text_width(hint) + (int)strlen(word) + 2 > end)
            break;
        x = tui_area_text(area, x, 0, STYLE_KEY, hint);
        x = tui_area_text(area, x + 1, 0, STYLE_DIM, word) + 2;
    }
    return x;
}

/* The keys that sort a study's trials, open its page and leave it; returns the column after them. */
static int search_keys(const struct area *area, int x, int end, const struct scene *scene)
{
    static const struct {
        const char *key, *word;
        bool page, list; /* where it does something; on the validation only v does */
        bool wide;       /* only where there is room for p and F after it */
    } keys[] = {
        {"Enter", "page", false, true}, {"v", "validation", true, true}, {"o", "sort", true, false},
        {"I", "invert", true, false},   {"/", "filter", true, false},    {"i", "plot", true, false, true},
    };
    char hint[KEY_HINT_MAX];
    bool list = scene->view->study_view == STUDY_LISTED, page = scene->view->study_view == STUDY_PAGE;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *word = keys[i].word;
        bool back = !list && !page && keys[i].key[0] == 'v';
        if (keys[i].wide && area->width < WIDE)
            continue;
        if (!back && !(list && keys[i].list) && !(page && keys[i].page))
            continue;
        in_force(scene, keys[i].key, hint);
        if (x + cli_text_width(hint) + (int)strlen(word) + 2 > end)
            break;
        x = tui_area_text(area, x, 0, STYLE_KEY, hint);
        x = tui_area_text(area, x + 1, 0, STYLE_DIM, back ? "page" : word) + 2;
    }
    return x;
}

/* What is typed for a long list. */
static void list_words(const struct area *area, const struct view *view)
{
    bool filters = view->prompt == PROMPT_LIST;
    const struct list_choice *list = &view->lists[view->listed];
    int x = tui_area_text(area, 0, 0, STYLE_KEY, filters ? "/" : "find ");

    x = tui_area_text(area, x, 0, STYLE_STRONG, filters ? list->filter : list->find);
    tui_area_char(area, x, 0, STYLE_SELECTED, L'_');
    tui_area_text_cut(area, x + 3, 0, area->width - x - 3, STYLE_DIM,
                      view->listed < DB_LISTS
                          ? "a text, #number, column=text; ! for those without; Enter, Esc"
                      : view->listed == LIST_TRIALS
                          ? "a state, #number, worker, name=value; ! for those without; Enter, Esc"
                          : "a text, column=text; ! for those without; Enter, Esc");
}

static bool has_live_order(const struct scene *scene)
{
    struct status_order order;

    return tui_model_order(scene->model, tui_lists_order(scene->view, scene->model, scene->focus), &order);
}

void panel_keys(const struct area *area, const struct scene *scene)
{
    static const struct {
        const char *key, *word;
        bool action, chart, order, list, log, past, market; /* market: where one orders from */
    } keys[] = {
        {"<>", "step", .past = true},
        {"Esc", "now", .past = true},
        {"p", "pause", true},
        {"F", "flatten", true},
        {"a", "ack", true},
        {"O", "order", true, .market = true},
        {"x", "cancel", true, .order = true},
        {"E", "amend", true, .order = true},
        {"/", "filter", .list = true},
        {"d", "depth", .chart = true},
        {"D", "chart", .chart = true}, /* from the list of its bars; the other way at the end */
        {"J", "ledger", .log = true},
        {"c", "line", .chart = true},
        {",.", "pan", .chart = true},
        {"{}", "bars", .chart = true},
        {"m", "crosshair", .chart = true},
        {"L", "log", .chart = true},
        {"t", "equity", false},
        {"b", "backtest", false},
        {"U", "sweeps", false},
        {":", "command", true},
        {"f", "freeze", false},
        {"z", "zoom", false},
        {"Tab", "next", false},
        {"+-", "refresh", false},
        {"?", "help", false},
        {"D", "list", .chart = true},
    };
    static const char *const feet[FEET] = {"equity", "trips", "symbols", "strategies"};
    const struct view *view = scene->view;
    char hint[KEY_HINT_MAX];
    int x = 0;

    if (view->frozen) {
        char age[FORMAT_MAX];
        cli_format_age(age, scene->real_now.mono_ms - view->frozen_at.mono_ms);
        x = tui_area_printf(area, 0, 0, STYLE_WARN, "FROZEN %s", age) + 2;
    }
    if (view->prompt == PROMPT_LIST || view->prompt == PROMPT_FIND) {
        list_words(area, view);
        return;
    }
    if (view->outcome != OUTCOME_NONE) {
        panel_outcome(area, view, x, scene->real_now);
        return;
    }
    in_force(scene, "q", hint);
    int quit = area->width - 5 - cli_text_width(hint);
    if (view->item.kind != ITEM_NONE) {
        x = tui_area_text(area, x, 0, STYLE_KEY, in_force(scene, "Esc", hint));
        x = tui_area_text(area, x + 1, 0, STYLE_DIM, "back") + 2;
    }
    if (view->item.kind != ITEM_NONE && view->item.kind != ITEM_ORDER &&
        (view->item.order > 0 ||
         (tui_item_equal(&scene->model->item.item, &view->item) && scene->model->item.item.order > 0))) {
        x = tui_area_text(area, x, 0, STYLE_KEY, in_force(scene, "Enter", hint));
        x = tui_area_text(area, x + 1, 0, STYLE_DIM, "its order") + 2;
    }
    if (tui_study_keys_here(view, scene->focus))
        x = search_keys(area, x, quit, scene);
    const bool now = view->at_ns == 0 && !model_is_saved(scene->model); /* what can be acted on */
    if (!view->readonly && now && tui_train_keys_here(view, scene->focus))
        x = training_keys(area, x, quit, scene);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *word = keys[i].word;
        if (keys[i].action && (view->readonly || (!now && keys[i].key[0] != ':')))
            continue;
        if (keys[i].past && (view->at_ns == 0 || (keys[i].key[0] == 'E' && view->item.kind != ITEM_NONE)))
            continue;
        if (keys[i].order && !has_live_order(scene))
            continue;
        if (keys[i].market && view->tab != TAB_MARKET && view->tab != TAB_POSITIONS &&
            view->tab != TAB_ORDERS)
            continue;
        if (keys[i].list && (tui_lists_of(scene->focus) >= LIST_PRICES || view->item.kind != ITEM_NONE))
            continue; /* beside the prices the chart's keys have the room */
        if (keys[i].log && (view->tab != TAB_LOG || view->item.kind != ITEM_NONE))
            continue;
        if (keys[i].log && scene->focus == PANEL_LEDGER)
            word = "log";
        if (strchr("btU", keys[i].key[0]) && scene->view->tab != TAB_POSITIONS)
            continue;
        if (keys[i].key[0] == 't' && view->item.kind != ITEM_NONE)
            continue;
        if (keys[i].key[0] == 't')
            word = feet[(view->foot + 1) % FEET];
        if (keys[i].chart && (view->tab != TAB_MARKET || view->item.kind != ITEM_NONE))
            continue;
        if (keys[i].key[0] == 'D' && (strcmp(word, "chart") == 0) != view->bars)
            continue;
        if (keys[i].chart && (view->depth || view->bars) && !strchr("dD", keys[i].key[0]))
            continue;
        if (strchr("bU", keys[i].key[0]) && view->at_ns > 0)
            continue;
        if (keys[i].key[0] == 'd' && model_is_saved(scene->model))
            continue;
        if (keys[i].key[0] == 'd' && view->depth)
            word = "chart";
        if (keys[i].key[0] == 'c' && view->chart.line)
            word = "candles";
        if (keys[i].key[0] == 'L' && view->chart.log)
            word = "linear";
        if (keys[i].key[0] == 'b' && scene->model->backtest.state == BACKTEST_RUNNING)
            word = "stop backtest";
        if (keys[i].key[0] == 'p' && tui_model_trading_paused(scene->model))
            word = "resume";
        in_force(scene, keys[i].key, hint);
        if (x + cli_text_width(hint) + (int)strlen(word) + 1 >= quit)
            break;
        x = tui_area_text(area, x, 0, STYLE_KEY, hint);
        x = tui_area_text(area, x + 1, 0, STYLE_DIM, word) + 2;
    }
    x = tui_area_text(area, quit, 0, STYLE_KEY, in_force(scene, "q", hint));
    tui_area_text(area, x + 1, 0, STYLE_DIM, "quit");
}
