/* Orders by hand from the lists and the market: the form's keys, and a line of the command line that is typed
 * already. */
#ifndef TUI_ORDER_KEYS_H
#define TUI_ORDER_KEYS_H

#include "tui/keys.h"

/* O: the form of a new order, in what is chosen; E: of the chosen order; B: the command line, with an order
 * in the chosen symbol. The view says why not. */
enum action tui_order_keys_press(struct view *view, const struct model *model, enum panel focus,
                                 struct moment now, int key);

/* A key while the form is open; while it is asked whether to send it. */
enum action tui_order_keys_form(struct view *view, const struct model *model, struct moment now, int key);
enum action tui_order_keys_answer(struct view *view, struct moment now, int key);

/* The live order that a key means. False: there is none, and the view says why not. */
bool tui_order_keys_live(struct view *view, const struct model *model, enum panel focus, const char *verb,
                         struct moment now, struct status_order *ret);

#endif
