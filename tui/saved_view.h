/* A saved view: what a screen shows, and how, under a name. Its text is an INI file's section [view]. Reads
 * and writes no file: tui/saved_view_file.h does. */
#ifndef TUI_SAVED_VIEW_H
#define TUI_SAVED_VIEW_H

#include <stdbool.h>

#include "record/config_key.h"
#include "tui/view.h"

enum { LIST_COLUMN_NAME_MAX = 32 };

enum saved_page { SAVED_PAGE_NONE, SAVED_PAGE_TRAINING, SAVED_PAGE_STUDY, SAVED_PAGE_VALIDATION };
enum { SAVED_VIEW_ROW_MAX = ITEM_NAME_MAX + ACCOUNT_NAME_MAX + 16 };
_Static_assert((int)SAVED_VIEW_ROW_MAX <= (int)STUDY_LABEL_MAX, "the longest value");
_Static_assert((int)DB_LIST_WORDS_MAX <= (int)STUDY_LABEL_MAX, "the longest value");
_Static_assert((int)STATUS_TRAINING_NAME_MAX <= (int)STUDY_LABEL_MAX, "the longest value");

struct saved_view {
    int tab, zoomed, focus; /* enum tab, enum panel */
    char symbol[SYMBOL_NAME_MAX], timeframe[STATUS_WORD_MAX];
    bool depth, line, log, ledger, benchmark, trips_one, bars_list;
    int bars, below, span, foot;
    char hides[OVERLAY_HIDES_MAX];
    int page;                                /* enum saved_page, of the studies' tab; so are these two: */
    char training[STATUS_TRAINING_NAME_MAX]; /* the chosen one; "": the first */
    char study[STUDY_LABEL_MAX];             /* likewise, its key */
    char row[SAVED_VIEW_ROW_MAX];            /* whose page is shown, as tui_item_parse() takes it; "": none */
    struct saved_list {
        char sort[LIST_COLUMN_NAME_MAX]; /* a column's name; "": the usual order */
        bool invert;
        char filter[DB_LIST_WORDS_MAX];
        char columns[LIST_COLUMNS_TEXT_MAX];
    } lists[LIST_ALL];
};

/* The rows of its text, all of the section "view". */
const struct config_key *tui_saved_view_rows(size_t *ret_n);

void tui_saved_view_defaults(struct saved_view *saved);

void tui_saved_view_take(const struct view *view, struct saved_view *ret);

/* Shows it: pages and boxes are left, cursors are at the first rows, and the page that it has is opened. What
 * is not there any more keeps its usual value, or is not opened, and is named in `gone`, "symbol ETHUSDT,
 * column pirce of orders"; "": nothing. Before any status has come, symbols are not looked for. */
enum { SAVED_VIEW_GONE_MAX = 200 };
void tui_saved_view_show(const struct saved_view *saved, struct view *view, const struct model *model,
                         char gone[static SAVED_VIEW_GONE_MAX]);

/* Why a name cannot be a view's; NULL: it can. */
const char *tui_saved_view_wrong(const char *name);

#endif
