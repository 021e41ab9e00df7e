#include "tui/past_keys.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/format.h"
#include "cli/stored.h"
#include "exchange/bars_file.h"
#include "tui/lists.h"

enum action tui_past_keys_step(struct view *view, struct moment now, int key)
{
    if (key == '>' && view->at_ns == 0) {
        tui_view_note(view, "past:", "it is now: `<` goes back", now);
        return ACTION_NONE;
    }
    view->go = (struct past_want){.steps = key == '>' ? 1 : -1,
                                  .by_bar = view->tab == TAB_MARKET && view->item.kind == ITEM_NONE};
    return ACTION_PAST;
}

/* The rest of a line that begins with the word, without blanks around it; NULL: it does not. */
static const char *after(const char *text, const char *word, char rest[static COMMAND_LINE_MAX])
{
    size_t len = strlen(word);

    text += strspn(text, " \t");
    if (strncmp(text, word, len) != 0 || (text[len] && !strchr(" \t", text[len])))
        return NULL;
    text += len + strspn(text + len, " \t");
    snprintf(rest, COMMAND_LINE_MAX, "%s", text);
    for (len = strlen(rest); len > 0 && strchr(" \t", rest[len - 1]);)
        rest[--len] = '\0';
    return rest;
}

bool tui_past_keys_line(struct view *view, const char *text, struct moment now, enum action *ret)
{
    char rest[COMMAND_LINE_MAX];
    int64_t at_ns, clock_ns;
    bool shown = false; /* in the zone that is shown: the time has none of its own */

    *ret = ACTION_NONE;
    if (after(text, "at", rest)) {
        if (strcmp(rest, "now") == 0) {
            *ret = ACTION_NOW;
        } else if (tui_past_clock_parse(rest, &at_ns)) {
            view->go = (struct past_want){.jumps = true, .of_day = true, .at_ns = at_ns};
            *ret = ACTION_PAST;
        } else if (cli_stored_ago_parse(rest, &at_ns)) {
            view->go = (struct past_want){.jumps = true, .at_ns = -at_ns};
            *ret = ACTION_PAST;
        } else if (cli_stored_time_parse(rest, &at_ns) && at_ns > 0) {
            if (bars_time_read(rest, strlen(rest), &clock_ns, &shown) == 0 && shown)
                at_ns = cli_format_read_clock(clock_ns);
            view->go = (struct past_want){.jumps = true, .at_ns = at_ns};
            *ret = ACTION_PAST;
        } else {
            tui_view_report(view, OUTCOME_REFUSED, "at",
                            "a time as 2026-08-08T12:00, 11:30 or -1h, or now, is needed", now);
        }
        return true;
    }
    if (!after(text, "what-if", rest))
        return false;
    struct item item = {.kind = ITEM_WHAT_IF};
    if ((size_t)snprintf(item.name, sizeof(item.name), "what-if %s", rest) >= sizeof(item.name)) {
        tui_view_report(view, OUTCOME_REFUSED, "what-if", "the line is too long for a page", now);
        return true;
    }
    if (view->item.kind == ITEM_NONE)
        view->item_from = view->focus;
    view->item = item;
    view->focus = PANEL_ITEM;
    view->cursor[PANEL_ITEM] = 0;
    *ret = ACTION_COLLECT;
    return true;
}

/* The order, wherever the model has it. */
static const struct status_order *order_of(const struct view *view, const struct model *model, int64_t id)
{
    struct lists_rows rows;

    tui_lists_rows(view, model, DB_LIST_ORDERS, &rows);
    for (int i = 0; i < rows.items.n; i++)
        if (rows.items.ids[i] == id)
            return rows.rows[i];
    for (int i = 0; i < model->history.n_orders; i++)
        if (model->history.orders[i].id == id)
            return &model->history.orders[i];
    return NULL;
}

static const char *strategy_of(const struct model *model, const char *account)
{
    for (int i = 0; i < model->status.n_accounts; i++)
        if (strcmp(model->status.accounts[i].account, account) == 0)
            return model->status.accounts[i].strategy;
    return "";
}

bool tui_past_keys_what_if(struct view *view, const struct model *model, enum panel focus, struct moment now,
                           char text[static COMMAND_LINE_MAX])
{
    const struct status_order *order = order_of(view, model, tui_lists_order(view, model, focus));
    int64_t at_ns = view->at_ns > 0 ? view->at_ns : order ? order->created_ns : 0;
    time_t seconds = (time_t)(at_ns / 1000000000);
    char time[40] = "";
    struct tm tm;

    if (!order || at_ns <= 0 || !gmtime_r(&seconds, &tm) ||
        strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
        tui_view_note(view, "what-if:", "choose an order first: `6`, then the arrows", now);
        return false;
    }
    snprintf(text, COMMAND_LINE_MAX, "what-if --at %s.%09lldZ --account %s %s", time,
             (long long)(at_ns % 1000000000), order->account,
             strategy_of(model, order->account)[0] ? "--set " : "--strategy ");
    return true;
}
