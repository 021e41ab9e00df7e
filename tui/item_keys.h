/* Which item a list's chosen row is, and the keys of its page. */
#ifndef TUI_ITEM_KEYS_H
#define TUI_ITEM_KEYS_H

#include "tui/keys.h"

/* The item under the cursor of a list. False: it has none, or its rows open something else. */
bool tui_item_keys_chosen(const struct view *view, const struct model *model, enum panel focus,
                          struct item *ret);

/* Enter: opens the page of the chosen item; on a fill's or an entry's page its order's. False: not here. */
bool tui_item_keys_enter(struct view *view, const struct model *model, enum panel focus);

/* Opens an item's page on the tab that lists such items. */
void tui_item_keys_open(struct view *view, const struct item *item);

/* Esc: back to the list. False: no page is open. */
bool tui_item_keys_back(struct view *view);

#endif
