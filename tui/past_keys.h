/* Keys and lines that lead to an earlier moment, through it, and back to now. */
#ifndef TUI_PAST_KEYS_H
#define TUI_PAST_KEYS_H

#include "tui/keys.h"

/* '<' or '>': the moment before at which something changed, or the one after: with the market's tab the end
 * of a bar of its chart, else a fill, a change of an order, an alert. ACTION_PAST, or a note where it is now.
 */
enum action tui_past_keys_step(struct view *view, struct moment now, int key);

/* Lines that are the dashboard's own: "at T", "at now", "what-if …". False: it is none of them. */
bool tui_past_keys_line(struct view *view, const char *text, struct moment now, enum action *ret);

/* 'W': the line that plays the log again from the shown moment, or from when the order that is meant was
 * given, without what is to be different. False: no order is meant, and the view says so. */
bool tui_past_keys_what_if(struct view *view, const struct model *model, enum panel focus, struct moment now,
                           char text[static COMMAND_LINE_MAX]);

#endif
