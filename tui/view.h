/* What the user has chosen to see, and the open prompt or the last answer. */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/canvas.h"
#include "tui/chart_window.h"
#include "tui/command_line.h"
#include "tui/compare.h"
#include "tui/form_page.h"
#include "tui/layout.h"
#include "tui/list.h"
#include "tui/model.h"
#include "tui/order_form.h"
#include "tui/past.h"
#include "tui/settings.h"
#include "tui/study_plot.h"
#include "tui/sweep_page.h"

enum prompt {
    PROMPT_NONE,
    PROMPT_FLATTEN, /* the word FLATTEN, or nothing is done */
    PROMPT_CANCEL,  /* y, or nothing is done; so are the others, except the next */
    PROMPT_NAME,    /* of the training that is to be started */
    PROMPT_START,   /* with what the form has; so RESTART */
    PROMPT_RESTART,
    PROMPT_STOP,
    PROMPT_RESUME,
    PROMPT_PROMOTE,
    PROMPT_RETIRE,
    PROMPT_LEAVE,   /* the form, whose changes are lost */
    PROMPT_ORDER,   /* what the order's form has is to be sent */
    PROMPT_COMMAND, /* the command line */
    PROMPT_LIST,    /* the filter of a long list */
    PROMPT_FIND,    /* what is searched in it */
    PROMPTS,
};

/* The outcome of the last command. */
enum outcome {
    OUTCOME_NONE,
    OUTCOME_PENDING,
    OUTCOME_DONE,
    OUTCOME_REFUSED,
    OUTCOME_UNANSWERED, /* it was sent, and may have been carried out */
    OUTCOME_NOTE,
};

enum {
    VIEW_TYPED_MAX = 40, /* longer than a name may be: one that is too long is shown, and refused */
    VIEW_INTERVAL_MIN_MS = 250,
    VIEW_INTERVAL_MAX_MS = 60000,
    COMMAND_TIMEOUT_MS = 5000, /* then a command counts as unanswered, and the screen says so */
    COMMAND_SHOWN_MS = 8000,   /* that an outcome stays in the last line */
    ANSWER_SHOWN_MS = 60000,   /* and one that is longer in its box */
};

enum choosing { CHOOSING_NOTHING, CHOOSING_COLUMNS, CHOOSING_INDICATORS, CHOOSING_KEYS, CHOOSING_VIEWS };

/* The names of the saved views. */
enum { SAVED_VIEWS_MAX = 64, SAVED_VIEW_NAME_MAX = 32 };
struct saved_views {
    int n;
    char names[SAVED_VIEWS_MAX][SAVED_VIEW_NAME_MAX];
};

struct view {
    enum tab tab;
    enum panel focus;
    enum panel zoomed;
    int cursor[PANELS];
    struct view_drawn {
        int first, cursor; /* the places of the first row and of the cursor in a panel, as they were drawn */
        int64_t id;        /* the row that a long list's cursor stayed on; 0: of the others, or none */
    } drawn[PANELS];
    struct list_choice
        lists[LIST_ALL];          /* of the long ones: the row that the cursor stays on, order and filter */
    int listed;                   /* whose filter or search is typed, or whose columns are chosen */
    char symbol[SYMBOL_NAME_MAX]; /* the chosen one, "" before any was chosen: the row */
    char timeframe[STATUS_WORD_MAX];         /* of the chart; "": the market's interval */
    bool detail;                             /* the study's tab shows tui_view_training()'s page */
    char training[STATUS_TRAINING_NAME_MAX]; /* the chosen one, "" before any was chosen: the list's first */
    struct compare compare;                  /* whose learning curves are drawn beside its own */
    char policy[STATUS_TRAINING_NAME_MAX];   /* as `training` */
    enum layout_study study_view;            /* the study's tab shows tui_view_study()'s page */
    char study[STUDY_LABEL_MAX];             /* its key, "" before any was chosen: the list's first */
    char trial_study[STUDY_NAME_MAX + 1];    /* the chosen trial: its study and number; "": the first row */
    int trial;
    enum study_plot study_plot;    /* in place of its parameters' importance */
    int study_second;              /* the rank of a contour's other parameter: study_rows.h */
    bool study_form;               /* the form that was started is a study's */
    int curve;                     /* which figure is beside the return: FIGURES */
    bool ledger;                   /* the log's tab shows the ledger, where there is no room for both */
    enum history_span equity_span; /* tui_view_span() */
    bool span_chosen;              /* else a saved run has all */
    bool benchmark;                /* beside it, what holding the chosen symbol would have made */
    enum layout_foot foot;         /* of the positions' tab */
    bool trips_one;                /* round trips and their sums are of the chosen account, else of all */
    struct dashboard_settings settings, settings_kept; /* in force; as they were found or saved last */
    char settings_words[KEPT_FILE_WORDS_MAX];          /* what is wrong in their file; "" */
    bool setup;                                        /* it covers the body */
    int setup_row;
    enum choosing choosing, choosing_last; /* the box of choices.h covers the body */
    int choosing_row;
    bool choosing_waits;                  /* of the keys: the next press is the chosen action's */
    struct saved_views saved;             /* as they were listed last */
    char saved_name[SAVED_VIEW_NAME_MAX]; /* of ACTION_VIEW_OPEN and the others */
    int below; /* which indicator stands below the chart; one past the last: none */
    struct chart_window chart;
    bool depth;       /* depth and trades instead of the chart … */
    bool bars;        /* … or the list of its bars */
    bool help, whole; /* over the screen: the keys; the texts that it cuts */
    int scroll;       /* rows of them that are above */
    struct {
        enum panel panel;
        int x, y; /* the cell of the last click that chose a row, and when that was */
        int64_t mono_ms;
    } clicked;
    int whole_most; /* of the texts at most, as they were drawn; LIST_END: not yet */
    bool readonly, frozen;
    struct moment frozen_at;
    int64_t at_ns;       /* the past moment that is shown, the model's; 0: now */
    struct past_want go; /* where ACTION_PAST leads */
    int64_t interval_ms;
    enum prompt prompt;
    char typed[VIEW_TYPED_MAX];
    bool got_g; /* the first g of gg */
    enum outcome outcome;
    char command[24];
    char words[CANVAS_SIDE_MAX];
    int64_t outcome_ms;                     /* monotonic: since when */
    int64_t alert;                          /* that is to be acknowledged */
    int64_t order;                          /* that is to be cancelled */
    char subject[STATUS_TRAINING_NAME_MAX]; /* the training or policy of the question */
    char also[STATUS_STUDY_TRAININGS_MAX]
             [STATUS_TRAINING_NAME_MAX]; /* and other workers of its study with it */
    int n_also;
    const char *role;              /* that promoting it leads to, as the question said; static */
    bool bad_verdict;              /* the question repeated one, so that the answer confirms it */
    struct item item;              /* whose page is shown instead of the tab's panels; ITEM_NONE: none */
    enum panel item_from;          /* the list that it was opened from */
    struct command_line *line;     /* the command line, owned; NULL: not opened yet */
    struct form_page *page;        /* the form that covers everything, owned; NULL: none */
    struct order_form *order_form; /* likewise, of an order */
    struct sweep_page *sweeps;     /* likewise, the pages of sweeps */
};

void tui_view_init(struct view *view, bool readonly, int64_t interval_ms);
void tui_view_finish(struct view *view);

/* Does a form cover everything? */
bool tui_view_form(const struct view *view);

/* Closes the form, if there is one. */
void tui_view_close_form(struct view *view);

/* "pending", "done", "refused", "unanswered"; "" of the others. */
const char *tui_outcome_word(enum outcome outcome);

/* Sets what the last line says about a command. */
void tui_view_report(struct view *view, enum outcome outcome, const char *command, const char *words,
                     struct moment now);

/* A note on a command; of the keys between backquotes those in force, as tui_key_map_sentence(). */
void tui_view_note(struct view *view, const char *command, const char *sentence, struct moment now);

/* Why nothing that acts can be done here, in `words` or static; NULL: it can. */
enum { VIEW_BARRED_MAX = 80 };
const char *tui_view_barred(const struct view *view, const struct model *model,
                            char words[static VIEW_BARRED_MAX]);
/* Likewise: true, and the view says why. */
bool tui_view_refuses(struct view *view, const struct model *model, struct moment now);

/* How many rows the panel has to choose from; 0 for one that takes no arrows. */
int tui_view_rows(const struct view *view, const struct model *model, enum panel panel);

/* The row of it that is chosen: a training and a policy by their names, so that they stay chosen when
 * others are added or removed. Not less than 0; beyond the last where there are fewer. */
int tui_view_cursor(const struct view *view, const struct model *model, enum panel panel);

void tui_view_layout(const struct view *view, const struct model *model, int width, int height,
                     struct layout *ret);

/* Whether Tab reaches the panel: to scroll in it, to choose from it, or only to zoom it. */
bool tui_view_takes_focus(enum panel panel);

/* The panel that the arrows move in: the chosen one if the layout has it, else the first that takes them. */
enum panel tui_view_focus(const struct view *view, const struct layout *layout);

/* The account under the cursor of the accounts, which is that of the strategies too, or NULL. */
const struct status_account *tui_view_account(const struct view *view, const struct model *model);

/* The account whose round trips are shown; "": all. */
const char *tui_view_trips_account(const struct view *view, const struct model *model);

/* The chosen training and policy, or NULL. On a training's page it is that one, and NULL when it is gone. */
const struct status_training *tui_view_training(const struct view *view, const struct model *model);
const struct status_policy *tui_view_policy(const struct view *view, const struct model *model);

/* Whose points and phases, parameters and log are to be read: that of its page, or the chosen one's where
 * the tab shows it; "" for none. */
const char *tui_view_wanted_training(const struct view *view, const struct model *model);

/* The chosen study, NULL: there is none, or on its page it is gone; what is read of it, NULL: not yet; and
 * the chosen one of its trials, or NULL. */
const struct tui_study *tui_view_study(const struct view *view, const struct model *model);
const struct tui_study_page *tui_view_study_page(const struct view *view, const struct model *model);
const struct tui_study_trial *tui_view_trial(const struct view *view, const struct model *model);

/* The page of a study, by what tui_studies_find() takes, once it is known. False: it is not. */
bool tui_view_open_study(struct view *view, const struct model *model, const char *name);

/* How much of the equity is shown. */
enum history_span tui_view_span(const struct view *view, const struct model *model);

/* What is to be read of the database for a screen so many columns wide. */
void tui_view_want(const struct view *view, const struct model *model, int width, struct history_want *ret);

/* Whose order book and newest trades a screen of that layout shows; "": of no symbol. */
const char *tui_view_wanted_depth(const struct view *view, const struct model *model,
                                  const struct layout *layout);

/* The symbol and the timeframe of the chart that such a screen shows; "": there is none, and *ret_timeframe
 * is unchanged. */
const char *tui_view_wanted_live(const struct view *view, const struct model *model,
                                 const struct layout *layout, const char **ret_timeframe);

/* What is to be read of the studies. */
void tui_view_want_study(const struct view *view, const struct model *model, struct tui_study_want *ret);

/* The symbol under the cursor of the prices; where their filter leaves none, the first; or NULL. */
const struct status_symbol *tui_view_symbol(const struct view *view, const struct model *model);

/* The timeframe that its chart shows: the chosen one, where the history has it of the symbol. */
const char *tui_view_timeframe(const struct view *view, const struct model *model,
                               const struct status_symbol *symbol);

/* Draws everything onto the canvas, which is blanked first. */
void tui_view_draw(const struct view *view, const struct model *model, struct moment now,
                   struct canvas *canvas);

/* The lists of the canvas stay where they were drawn as long as their cursors are in them. */
void tui_view_keep(struct view *view, const struct model *model, const struct canvas *drawn);

/* The first row of `n` that a panel of `height` rows shows, for a cursor less than n. Rows that come above
 * the chosen one leave it on its line, unless the list's first was shown. */
int tui_view_first(const struct view *view, const struct model *model, enum panel panel, int cursor, int n,
                   int height);

#endif
