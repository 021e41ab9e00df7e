#include "tui/order_keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "tui/command_keys.h"
#include "tui/lists.h"
#include "tui/order_form.h"

bool tui_order_keys_live(struct view *view, const struct model *model, enum panel focus, const char *verb,
                         struct moment now, struct status_order *ret)
{
    int64_t id = tui_lists_order(view, model, focus);
    char command[16], words[80] = "choose an order first: `6`, then the arrows";

    if (tui_model_order(model, id, ret))
        return true;
    if (id < 0)
        snprintf(words, sizeof(words), "that order is from elsewhere: %s it at its venue", verb);
    else if (id > 0)
        snprintf(words, sizeof(words), "that order has ended");
    else if (focus == PANEL_ORDERS && tui_lists_unread(view, model, DB_LIST_ORDERS))
        snprintf(words, sizeof(words), "the row is not read yet");
    snprintf(command, sizeof(command), "%s:", verb);
    tui_view_note(view, command, words, now);
    return false;
}

static void open_line(struct view *view, const struct model *model, struct moment now)
{
    const struct status_symbol *symbol = tui_view_symbol(view, model);
    char text[COMMAND_LINE_MAX];

    snprintf(text, sizeof(text), "order buy %s%s", symbol ? symbol->symbol : "", symbol ? " " : "");
    tui_command_keys_open(view, text, now);
}

static bool create(struct view *view, int64_t amends, struct moment now)
{
    tui_view_close_form(view);
    view->order_form = tui_order_form_create(amends);
    view->outcome = OUTCOME_NONE;
    if (!view->order_form)
        tui_view_report(view, OUTCOME_NOTE, "", "out of memory", now);
    return view->order_form != NULL;
}

/* The position whose row or page it is; NULL. */
static const struct status_position *chosen_position(const struct view *view, const struct model *model,
                                                     enum panel focus)
{
    const struct status *s = &model->status;

    if (view->item.kind == ITEM_NONE && focus == PANEL_POSITIONS)
        return tui_lists_held_chosen(view, model, LIST_POSITIONS);
    for (int i = 0; view->item.kind == ITEM_POSITION && i < s->n_positions; i++)
        if (strcmp(s->positions[i].symbol, view->item.name) == 0 &&
            strcmp(s->positions[i].account, view->item.account) == 0)
            return &s->positions[i];
    return NULL;
}

/* A sale of what is held, or a purchase of what is short. */
static void put_close(struct order_form *form, const struct status_position *position)
{
    tui_order_form_put(form, "side", position->qty < 0 ? "buy" : "sell");
    tui_order_form_put_number(form, "qty", fabs(position->qty), -1);
    tui_order_form_put(form, "reduce-only", "yes");
}

/* The last price. */
static void put_limit(struct order_form *form, const struct model *model)
{
    const struct status_symbol *symbol = tui_model_symbol(model, tui_order_form_symbol(form));

    if (symbol)
        tui_order_form_put_number(form, "limit", isnan(symbol->last) ? symbol->mark : symbol->last,
                                  symbol->price_decimals);
}

static void open_new(struct view *view, const struct model *model, enum panel focus, struct moment now)
{
    const struct status_position *position = chosen_position(view, model, focus);
    const struct status_account *account = tui_view_account(view, model);
    const struct status_symbol *symbol = tui_view_symbol(view, model);
    const char *of = account ? account->account : "", *in = symbol ? symbol->symbol : "";
    struct status_order order;

    if (!create(view, 0, now))
        return;
    struct order_form *form = view->order_form;
    if (position) {
        of = position->account;
        in = position->symbol;
    } else if (view->item.kind == ITEM_SYMBOL) {
        in = view->item.name;
    } else if (tui_model_order(model, tui_lists_order(view, model, focus), &order)) {
        of = order.account;
        in = order.symbol;
    }
    tui_order_form_put(form, "account", of);
    tui_order_form_put(form, "symbol", in);
    tui_order_form_put(form, "side", "buy");
    if (position)
        put_close(form, position);
    put_limit(form, model);
}

static bool at_venue(const struct model *model, const char *account)
{
    const struct status *s = &model->status;
    for (int i = 0; i < s->n_accounts; i++)
        if (strcmp(s->accounts[i].account, account) == 0)
            return s->accounts[i].at_venue[0] != '\0';
    return false;
}

/* With the numbers that it has. */
static void open_amend(struct view *view, const struct model *model, enum panel focus, struct moment now)
{
    struct status_order order;
    char words[KEY_HINT_MAX * 2];

    if (!tui_order_keys_live(view, model, focus, "amend", now, &order))
        return;
    if (at_venue(model, order.account)) {
        tui_key_map_sentence(&view->settings.keys, tui_key_where(view, view->focus),
                             "a venue's order is not amended: `x` cancels it, `O` gives a new one", words,
                             sizeof(words));
        tui_view_report(view, OUTCOME_REFUSED, "amend", words, now);
        return;
    }
    if (!create(view, order.id, now))
        return;
    struct order_form *form = view->order_form;
    tui_order_form_put_number(form, "qty", order.qty, -1);
    tui_order_form_put_number(form, "limit", order.price, order.price_decimals);
    tui_order_form_put_number(form, "stop", order.stop, order.price_decimals);
    tui_order_form_put_number(form, "trail", order.trail, -1);
    if (order.trail_pct > 0) {
        tui_order_form_put_number(form, "trail", order.trail_pct, -1);
        char percent[ORDER_VALUE_MAX];
        snprintf(percent, sizeof(percent), "%.40s%%", tui_order_form_value(form, "trail"));
        tui_order_form_put(form, "trail", percent);
    }
    tui_order_form_keep_put(form);
    for (int i = 0; i < form->n; i++)
        if (strcmp(form->fields[i].name, order.price > 0 ? "limit" : order.stop > 0 ? "stop" : "qty") == 0)
            form->row = i;
    snprintf(form->symbol, sizeof(form->symbol), "%s", order.symbol);
    snprintf(form->side, sizeof(form->side), "%s", order.side);
}

enum action tui_order_keys_press(struct view *view, const struct model *model, enum panel focus,
                                 struct moment now, int key)
{
    if (tui_view_refuses(view, model, now))
        return ACTION_NONE;
    if (key == 'B') {
        open_line(view, model, now);
        return ACTION_NONE;
    }
    if (model->source != MODEL_DAEMON) {
        tui_view_report(view, OUTCOME_REFUSED, key == 'E' ? "amend" : "order", tui_model_no_daemon(model),
                        now);
        return ACTION_NONE;
    }
    (key == 'E' ? open_amend : open_new)(view, model, focus, now);
    return ACTION_NONE;
}

/* What the verb says against the line before anything is sent; "": nothing. */
static void check(const char *line, char words[static FORM_WORDS_MAX])
{
    char verb[COMMAND_WORD_MAX];
    struct ask_line asking;

    if (tui_command_line_request(line, &asking, words, FORM_WORDS_MAX, verb) == ASK_LINE_FIRST)
        words[0] = '\0';
    json_decref(asking.args);
}

static enum action ask(struct view *view, const struct model *model, struct moment now)
{
    struct order_form *form = view->order_form;
    char line[COMMAND_LINE_MAX];

    tui_order_form_line(form, line);
    check(line, form->words);
    if (form->words[0])
        return ACTION_NONE;
    if (model->source != MODEL_DAEMON)
        tui_view_report(view, OUTCOME_REFUSED, "order", tui_model_no_daemon(model), now);
    else
        view->prompt = PROMPT_ORDER;
    return ACTION_NONE;
}

enum action tui_order_keys_form(struct view *view, const struct model *model, struct moment now, int key)
{
    struct order_form *form = view->order_form;
    char line[COMMAND_LINE_MAX], symbol[ORDER_VALUE_MAX];

    if (key == ':' && !tui_order_form_takes(form, key)) { /* the same, in the command line */
        tui_order_form_line(form, line);
        tui_view_close_form(view);
        tui_command_keys_open(view, line, now);
        return ACTION_NONE;
    }
    snprintf(symbol, sizeof(symbol), "%s", tui_order_form_value(form, "symbol"));
    switch (tui_order_form_press(form, model, key)) {
    case FORM_ACTION_NONE:
        if (form->amends <= 0 && strcmp(symbol, tui_order_form_value(form, "symbol")) != 0) {
            bool limit = tui_order_form_value(form, "limit")[0] != '\0';
            tui_order_form_clear_numbers(form); /* of another market */
            if (limit)
                put_limit(form, model);
        }
        break;
    case FORM_ACTION_CHECK:
        return ACTION_ORDER_ASK;
    case FORM_ACTION_SEND:
        return ask(view, model, now);
    case FORM_ACTION_LEAVE:
        tui_view_close_form(view);
        return ACTION_NONE;
    case FORM_ACTION_HELP:
        view->help = true;
        view->scroll = 0;
        return ACTION_NONE;
    }
    return ACTION_NONE;
}

enum action tui_order_keys_answer(struct view *view, struct moment now, int key)
{
    bool amends = view->order_form && view->order_form->amends > 0;

    view->prompt = PROMPT_NONE;
    if (key == 'y')
        return ACTION_ORDER_SEND;
    tui_view_report(view, OUTCOME_NOTE, amends ? "amend:" : "order:", "nothing is done", now);
    return ACTION_NONE;
}
