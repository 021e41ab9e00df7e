#include "tui/command_keys.h"

#include <string.h>

#include "tui/past_keys.h"
#include "tui/saved_view_keys.h"

void tui_command_keys_open(struct view *view, const char *text, struct moment now)
{
    if (!view->line && !(view->line = tui_command_line_create())) {
        tui_view_report(view, OUTCOME_NOTE, "", "out of memory", now);
        return;
    }
    tui_command_line_open(view->line, text);
    view->line->saved = &view->saved;
    view->prompt = PROMPT_COMMAND;
    view->outcome = OUTCOME_NONE;
}

/* Esc leaves what Tab offers first, then the line. */
enum action tui_command_keys_type(struct view *view, const struct model *model, struct moment now, int key)
{
    struct command_line *line = view->line;

    if (key == PRESS_F5 && tui_command_line_orders(line->edit.text))
        return ACTION_LINE_TRY;
    if (key == PRESS_F5) {
        tui_view_report(view, OUTCOME_NOTE, "dry run:", "of a new order alone: order buy, sell, oco", now);
        return ACTION_NONE;
    }
    if (view->outcome != OUTCOME_PENDING)
        view->outcome = OUTCOME_NONE;
    if (key == PRESS_ENTER) {
        enum action own;
        view->prompt = PROMPT_NONE;
        if (tui_past_keys_line(view, line->edit.text, now, &own) ||
            tui_saved_view_keys_line(view, line->edit.text, now, &own))
            return own;
        return line->edit.text[strspn(line->edit.text, " \t")] ? ACTION_LINE : ACTION_NONE;
    }
    if (key == PRESS_ESCAPE && line->n_offers > 1)
        line->n_offers = 0;
    else if (key == PRESS_ESCAPE || (key == PRESS_BACKSPACE && line->edit.len == 0))
        view->prompt = PROMPT_NONE;
    else
        tui_command_line_press(line, model, key);
    return ACTION_NONE;
}
