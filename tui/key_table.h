/* The keys, each with where it works and what it does: the one list that the help is drawn from, and that
 * docs/keys.md and the man page's KEYS are compared with. */
#ifndef TUI_KEY_TABLE_H
#define TUI_KEY_TABLE_H

#include "tui/layout.h"

struct view;

/* Where a key works, in the order of the help. */
enum key_place {
    KEYS_EVERYWHERE,
    KEYS_ITEM,       /* the page of a row */
    KEYS_LISTS,      /* their list */
    KEYS_MARKET,     /* tab 4 */
    KEYS_POSITIONS,  /* tab 5 */
    KEYS_STUDY,      /* tab 2, trainings and studies elsewhere */
    KEYS_STUDY_PAGE, /* the page of a study, and its overfitting check */
    KEYS_ORDER,      /* the form of an order */
    KEYS_FORM,       /* of a configuration */
    KEYS_SWEEPS,     /* the pages of sweeps */
    KEYS_PLACES,
};

struct key_row {
    const char *keys;    /* as people read them, "gg G": separated by blanks */
    const char *actions; /* of each key the name that a key map gives it by; "-": the key is fixed */
    enum key_place place;
    const char *words; /* for the help: KEY_WORDS_MAX columns at most; of the keys between backquotes those in
                          force are shown, as tui_key_map_sentence() */
    const char *more;  /* for the documents, behind the words; NULL: nothing */
};

enum { KEYS_COLUMNS = 12, KEY_WORDS_MAX = 62 }; /* what the help has room for at 80 columns */

/* Rows of one place stand together. NULL: past the last. */
const struct key_row *tui_key_table(int i);

/* With its keys between backquotes too. */
const char *tui_key_place_words(enum key_place place);

/* Whose keys are shown first. */
enum key_place tui_key_place(const struct view *view, enum panel focus);

#endif
