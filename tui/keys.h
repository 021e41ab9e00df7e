/* What a key does to the view, and what it requests of the daemon. Knows nothing of terminals. */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include "tui/press.h"
#include "tui/view.h"

enum action {
    ACTION_NONE,
    ACTION_QUIT,
    ACTION_REDRAW,  /* the terminal's picture may be spoilt */
    ACTION_COLLECT, /* what is shown has changed: collect now */
    ACTION_PAST,    /* to where view->go leads */
    ACTION_NOW,     /* back from the past */
    ACTION_BARS,    /* the chart shows others: read them, and nothing else */
    ACTION_PAUSE,
    ACTION_RESUME,
    ACTION_FLATTEN,
    ACTION_ACK,           /* of view->alert */
    ACTION_CANCEL,        /* of view->order */
    ACTION_SETTINGS,      /* view->settings are others */
    ACTION_SETTINGS_SAVE, /* they are to be kept */
    ACTION_COPY,          /* the chosen row, tui_copy_text() */
    ACTION_BACKTEST,      /* of tui_view_account() */
    ACTION_STOP_BACKTEST, /* the one that runs */
    ACTION_FORM,          /* view->page needs its text */
    ACTION_FORM_CHECK,    /* its text is to be checked */
    ACTION_FORM_SEND,     /* the training starts or restarts with it */
    ACTION_TRAIN_STOP,    /* of view->subject and view->also, as the next */
    ACTION_TRAIN_RESUME,
    ACTION_LINE,       /* what view->line has */
    ACTION_LINE_TRY,   /* the same with --dry-run */
    ACTION_ORDER_ASK,  /* the dry run of what view->order_form has, again */
    ACTION_ORDER_SEND, /* the order itself */
    ACTION_VIEWS,      /* the saved views are to be listed again */
    ACTION_VIEW_OPEN,  /* the one of view->saved_name, as the next */
    ACTION_VIEW_SAVE,  /* what is shown, under that name */
    ACTION_VIEW_REMOVE,
    ACTION_SWEEPS, /* what view->sweeps wants; without it, that it was closed */
    ACTION_PROMOTE,
    ACTION_RETIRE,
};

/* One key, on a screen of width × height: its action's by the key map. */
enum action tui_keys_press(struct view *view, const struct model *model, int width, int height,
                           struct moment now, int key);

/* The same for a key of the table (tui/key_table.h), whichever is in force. */
enum action tui_keys_take(struct view *view, const struct model *model, int width, int height,
                          struct moment now, int key);

/* What a key or a click (tui_sweep_page_press(), tui_sweep_page_click()) did to the pages of sweeps. */
enum action tui_keys_sweeps(struct view *view, enum form_action action);

/* Pasted text (tui/paste.h) on a screen of width × height: goes into a line that is typed, and nowhere
 * else; n > PASTE_MAX: it is too long. */
void tui_keys_paste(struct view *view, const struct model *model, int width, int height, const int *keys,
                    size_t n);

#endif
