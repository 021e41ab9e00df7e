/* A long list on the screen, without what its rows are: which places are known, where the cursor is, what is
 * to be read. A list is rows that stand before all others (live orders), then those of the database, of which
 * a window has been read. Places count from 0, over both. */
#ifndef TUI_LIST_H
#define TUI_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "db/list.h"

enum {
    LIST_HEADS_MAX = 256,
    LIST_ROWS_MAX = DB_LIST_WINDOW, /* of the database, that are known at a time */
    LIST_END = 1 << 30,             /* a place past all rows: the last, where they are not counted yet */
    LIST_AHEAD = 64,                /* rows that are known beyond the cursor, where there are so many */
};

/* A list of the dashboard is one that is read from the database, enum db_list, or one of these, whose rows
 * the model holds: tui/list_held.h. */
enum list_held {
    LIST_TRAININGS = DB_LISTS,
    LIST_POLICIES,
    LIST_POSITIONS,
    LIST_PRICES,
    LIST_TRIALS,
    LIST_ALL
};

/* The rows by their numbers. A row before the others may have a negative one: it has none of its own. */
struct list_items {
    int64_t heads[LIST_HEADS_MAX];
    int n_heads;
    int64_t ids[LIST_ROWS_MAX]; /* at places n_heads + first … */
    int n;
    bool partial;                /* more may follow: they are not counted yet */
    int64_t first, count, total; /* of the database's: of so many that the filter leaves, of so many */
};

/* What the user has chosen of a list. */
struct list_choice {
    int64_t id; /* the row that the cursor stays on; 0: whichever is at the cursor's place */
    int sort;
    bool invert;
    char filter[DB_LIST_WORDS_MAX], find[DB_LIST_WORDS_MAX];
    int asked, answered;          /* searches: how many were started, the last that was answered */
    bool back;                    /* the last goes up */
    int waiting;                  /* for the one that runs: so many go down, or less than 0 up */
    int64_t anchor_id, anchor_at; /* the window is around it: kept while the cursor is well inside */
};

/* How many rows there are to choose from. */
int64_t tui_list_count(const struct list_items *items);

/* The number of the row at a place; 0: it is not known. */
int64_t tui_list_id(const struct list_items *items, int64_t place);

/* The cursor's place: its row's, where that is known, else `at` or the last. 0 without rows. */
int64_t tui_list_cursor(const struct list_choice *list, const struct list_items *items, int64_t at);

/* Moves the cursor, and returns its place. To the row at a place, or the nearest there is: it then stays on
 * that, which may be not known yet. To the first: it stays there, whichever row that is. To the last, which
 * is LIST_END while the rows are not counted. */
enum list_move { LIST_TO_ROW, LIST_TO_FIRST, LIST_TO_LAST };
int64_t tui_list_move(struct list_choice *list, const struct list_items *items, enum list_move to,
                      int64_t place);

/* After rows were read: the cursor at a place whose row was not known, or is gone, stays on the one that is
 * there from now on. Returns the cursor's place. */
int64_t tui_list_read(struct list_choice *list, const struct list_items *items, int64_t at);

/* The row (0: none) and the place among the database's around which a window is to be read. */
void tui_list_anchor(struct list_choice *list, const struct list_items *items, int64_t at, int64_t *ret_id,
                     int64_t *ret_at);

/* Starts the next search that waits, unless one runs. */
void tui_list_search(struct list_choice *list);

/* The first of the rows that a panel of `height` shows of `n`, where it was `before`: moved no further than
 * the cursor, less than n, needs to be among them. */
int tui_list_first(int before, int cursor, int n, int height);

/* The rows of a bar of `height` that stand for `shown` of `count` rows from `first` on; at least one, and the
 * first and last only where the list's are shown. False: all are shown, and there is no bar. */
bool tui_list_bar(int height, int64_t first, int64_t shown, int64_t count, int *ret_top, int *ret_rows);

#endif
