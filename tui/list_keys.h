/* The keys of the long lists: the order of their rows, which of them are shown, and the search. */
#ifndef TUI_LIST_KEYS_H
#define TUI_LIST_KEYS_H

#include "tui/keys.h"

/* o the next column, I the other way round, C the columns that are shown, / a filter, n N the next row that a
 * search has, or the one before. False: the panel is no long list, or the key none of these. */
bool tui_list_keys_press(struct view *view, const struct model *model, enum panel focus, struct moment now,
                         int key);

/* Moves the cursor of a long list to a place, or with PRESS_HOME and PRESS_END to its first row, its last. */
void tui_list_keys_move(struct view *view, const struct model *model, enum panel focus, int64_t place,
                        int key);

/* Esc shows all rows of a filtered list again. False: there is nothing to leave here. */
bool tui_list_keys_back(struct view *view, const struct model *model, enum panel focus);

/* While a filter (PROMPT_LIST) or what is searched (PROMPT_FIND) is typed. */
void tui_list_keys_type(struct view *view, const struct model *model, struct moment now, int key);
void tui_list_keys_paste(struct view *view, const struct model *model, struct moment now, const int *keys,
                         size_t n);

#endif
