/* The long lists of the dashboard: which panels they are, their rows as the model has them, what is to be
 * read of them. Until a list has been read it has the newest rows of the history. */
#ifndef TUI_LISTS_H
#define TUI_LISTS_H

#include "tui/list_held.h"
#include "tui/view.h"

/* A list's rows. */
struct lists_rows {
    int list;
    bool have; /* they have been read, of the account, or the symbol and timeframe, that is shown */
    struct list_items items;
    const void *rows[LIST_ROWS_MAX]; /* [items.n] NULL: it cannot be read, unread[] has why */
    const char *unread[LIST_ROWS_MAX];
    int live, externals; /* of orders, the heads: so many of the status, then of elsewhere */
    int former;          /* the heads from here on were some when the others were read, and are no more */
    const void *heads[LIST_HEADS_MAX]; /* of alerts, and of former ones; NULL: it is the status's */
};

/* The list of a panel; LIST_ALL: it has none. And the other way round. */
int tui_lists_of(enum panel panel);
enum panel tui_lists_panel(int list);

/* The rows of a list as they are shown. */
void tui_lists_rows(const struct view *view, const struct model *model, int list, struct lists_rows *ret);

/* The columns that a list is sorted by, as db_list_column() has them. */
const char *tui_lists_sort(int list, int column);
int tui_lists_sorts(int list);

/* The column that a list is sorted by now, of trials a parameter too; and the next one. */
const char *tui_lists_sorted(const struct view *view, const struct model *model, int list);
void tui_lists_sort_next(struct view *view, const struct model *model, int list);

/* How many rows it has, and where its cursor is. */
int tui_lists_count(const struct view *view, const struct model *model, int list);
int tui_lists_cursor(const struct view *view, const struct model *model, int list);

/* The number of the chosen row; 0: it is not known, as no row is before the answer to a filter has come, or
 * there is none; less than 0: an order from elsewhere. */
int64_t tui_lists_chosen(const struct view *view, const struct model *model, int list);

/* Is the row that the cursor is on still being read? Not of a list that the model holds, or that cannot be
 * read. */
bool tui_lists_unread(const struct view *view, const struct model *model, int list);

/* The order that a key means where `focus` has the arrows: the page's, which need not be the chosen row any
 * more, else the chosen one. 0: there is none; below: one from elsewhere. */
int64_t tui_lists_order(const struct view *view, const struct model *model, enum panel focus);

/* The row at a place: NULL where it is not known, cannot be read, or is a live order before the others, which
 * are the status's. */
const void *tui_lists_row(const struct lists_rows *rows, int64_t place);

/* Which value of the row at a place cannot be read; NULL: all can, or they are not read yet. */
const char *tui_lists_row_unread(const struct lists_rows *rows, int64_t place);

/* Of a list that the model holds: the chosen row is that one from now on, by its name; NULL: the first. */
void tui_lists_choose(struct view *view, const struct model *model, int list, const void *row);

/* The next row after the cursor that `words` would be a filter for, or the one before; past an end it
 * continues at the other. Of a list that the model holds. NULL: there is none. */
const void *tui_lists_held_find(const struct view *view, const struct model *model, int list,
                                const char *words, bool back);

/* The row of such a list at a place; NULL: it has fewer. */
const void *tui_lists_held_at(const struct view *view, const struct model *model, int list, int64_t place);

const void *tui_lists_held_chosen(const struct view *view, const struct model *model, int list); /* or NULL */

/* Says that no row has the text that was searched. */
void tui_lists_report_none(struct view *view, const char *words, struct moment now);

/* What is to be read where a layout has those panels; the lists' windows move with their cursors. */
void tui_lists_want(struct view *view, const struct model *model, const struct layout *layout,
                    struct lists_want *ret);

/* Takes what was read, and gives the cursors the rows that they were waiting for. */
void tui_lists_take(struct view *view, struct model *model, struct list_rows read[static DB_LISTS],
                    struct moment now);

#endif
