/* The form on the screen: which training it is for, what is chosen and typed in it, and what keys do to it.
 * Knows nothing of terminals; requests to the daemon are returned as actions. */
#ifndef TUI_FORM_PAGE_H
#define TUI_FORM_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/form.h"
#include "tui/line_edit.h"
#include "tui/status.h"

enum form_mode {
    FORM_WAITS, /* for the configuration's text */
    FORM_ROWS,  /* the arrows choose a row */
    FORM_EDITS, /* the chosen row's value is typed */
    FORM_ADDS,  /* a key is chosen among those that are missing */
};

enum { FORM_FILTER_MAX = 40, FORM_CHOICES_MAX = 256, FORM_PLAN_MAX = 400 };

struct form_page {
    char name[STATUS_TRAINING_NAME_MAX]; /* the training's */
    bool restart;                        /* of one that there is; else it is to be started */
    bool study;                          /* a study is to be started: its text has [study] */
    enum form_mode mode;
    struct form form;
    size_t row;               /* that is chosen; of no use while there is none */
    bool checking;            /* a check is on its way */
    bool sent;                /* the command that starts with it was sent */
    char plan[FORM_PLAN_MAX]; /* of a study: what it will take, or why it cannot be; of a training: what its
                               * device has no room for; "": not known yet, or nothing */
    bool refused;             /* it cannot be */
    bool warned;              /* a device has no room for all of it */
    struct line_edit edit;
    char filter[FORM_FILTER_MAX];
    size_t choice;              /* among tui_form_missing() of that filter */
    char words[FORM_WORDS_MAX]; /* why what was typed is not taken; "" */
};

/* What a key requests of the page's owner. */
enum form_action {
    FORM_ACTION_NONE,
    FORM_ACTION_CHECK,
    FORM_ACTION_SEND,
    FORM_ACTION_LEAVE,
    FORM_ACTION_HELP
};

/* A page that waits for its text; NULL without memory. destroy(NULL) is fine. */
struct form_page *tui_form_page_create(const char *name, bool restart);
void tui_form_page_destroy(struct form_page *page);

/* Its text has come. 0 or tui_form_init()'s errors, after which it still waits. */
int tui_form_page_fill(struct form_page *page, const char *text);

/* Is there a row to choose, and is this one: a section's heading, a key, or what is neither? */
bool tui_form_page_shows(const struct form_page *page, size_t row);

/* One key; `height` rows of the list are in sight. */
enum form_action tui_form_page_press(struct form_page *page, int height, int key);

/* Pasted text (tui/paste.h): goes into the value that is typed, or into the filter of the missing keys; a
 * text that is too long is refused with a sentence. Elsewhere nothing happens. */
void tui_form_page_paste(struct form_page *page, const int *keys, size_t n);

#endif
