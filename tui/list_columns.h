/* The columns of the long lists, tables and lines: what there is, which of them are shown. A choice is the
 * text of a settings file: names separated by blanks, or LIST_COLUMNS_AUTO: as many of the usual ones as fit.
 * Of trials also LIST_COLUMNS_PARAM before a parameter's name, "param:lr": before the others, or alone. */
#ifndef TUI_LIST_COLUMNS_H
#define TUI_LIST_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/list.h"

#define LIST_COLUMNS_AUTO  "auto"
#define LIST_COLUMNS_PARAM "param:"

/* These lists: the number, the word that files have, what sentences call their rows. */
#define LIST_TABLES(X) \
    X(DB_LIST_ORDERS, orders, "orders") \
    X(DB_LIST_FILLS, fills, "fills") \
    X(DB_LIST_TRIPS, trips, "round trips") \
    X(DB_LIST_LEDGER, ledger, "ledger") \
    X(DB_LIST_BARS, bars, "bars") \
    X(DB_LIST_ALERTS, alerts, "alerts") \
    X(DB_LIST_LOG, log, "log") \
    X(LIST_TRAININGS, trainings, "trainings") \
    X(LIST_POLICIES, policies, "policies") \
    X(LIST_POSITIONS, positions, "positions") \
    X(LIST_PRICES, prices, "prices") \
    X(LIST_TRIALS, trials, "trials")

enum { LIST_COLUMNS_MAX = 24, LIST_COLUMNS_TEXT_MAX = 256 };

struct list_column_row {
    const char *name;  /* in the choice; as tui_lists_sort() has it where that is stored */
    const char *about; /* what it shows, for the box that chooses */
    const char *label; /* above it; "": none */
    int width;
    bool right;
    int rank; /* of the usual ones, 1 stays longest where the panel is narrow; 0: only where it is chosen */
};

/* The rows of a list in their order; NULL and 0: it is no table. */
const struct list_column_row *tui_list_columns(int list, int *ret_n);

/* Which of them a choice shows, by their places; of "auto" those with a rank. */
void tui_list_columns_shown(int list, const char *choice, bool ret[static LIST_COLUMNS_MAX]);

/* Shows or hides one of them; the last that is shown stays. False: the text has no room for it. */
bool tui_list_columns_toggle(int list, char choice[static LIST_COLUMNS_TEXT_MAX], int column);

/* Is that parameter of trials chosen by its name? Chooses it or no longer, likewise; false also of a name
 * that a choice cannot have. */
bool tui_list_columns_param(const char *choice, const char *name);
bool tui_list_columns_toggle_param(char choice[static LIST_COLUMNS_TEXT_MAX], const char *name);

/* The first word that is no name of a column, *ret_len bytes long; NULL: all are, and there is one. */
const char *tui_list_columns_wrong(int list, const char *choice, size_t *ret_len);

#endif
