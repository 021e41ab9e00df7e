/* The pages of sweeps, which cover the screen: the list of those that were started, the form of another, one
 * of them as a table and as a heat map, and the backtest of one of its sets. Knows nothing of terminals nor
 * processes; what it asks of its owner is in `wants`. */
#ifndef TUI_SWEEP_PAGE_H
#define TUI_SWEEP_PAGE_H

#include "db/list.h"
#include "tui/backtest_job.h"
#include "tui/sweep_form.h"
#include "tui/sweep_map.h"

enum sweep_mode { SWEEP_LIST, SWEEP_FORM, SWEEP_TABLE, SWEEP_MAP, SWEEP_RUN };

/* What the owner has to do; several at once. */
enum {
    SWEEP_WANTS_READ = 1,
    SWEEP_WANTS_DESCRIPTION = 2, /* of the form's strategy */
    SWEEP_WANTS_PLAN = 4,        /* of the form */
    SWEEP_WANTS_START = 8,       /* of the form */
    SWEEP_WANTS_AGAIN = 16,      /* of the sweep `chosen` */
    SWEEP_WANTS_STOP = 32,       /* of the same */
    SWEEP_WANTS_REMOVE = 64,     /* of the same */
    SWEEP_WANTS_RUN = 128,       /* of run_set */
    SWEEP_WANTS_NO_RUN = 256,
};

/* How long the form's sweep takes. */
enum sweep_plan_state { SWEEP_UNPLANNED, SWEEP_PLANNING, SWEEP_PLANNED, SWEEP_PLAN_FAILED };
struct sweep_form_plan {
    enum sweep_plan_state state;
    double sets, seconds;
    int64_t left, asks_above_s;
    int64_t since_ms; /* monotonic: when it was asked */
    char words[SWEEP_COMPLAINT_MAX];
};

enum sweep_question { SWEEP_ASKS_NOTHING, SWEEP_ASKS_LONG, SWEEP_ASKS_REMOVE };

struct sweep_page {
    enum sweep_mode mode;
    struct sweep_list list;
    char chosen[SWEEP_ID_MAX]; /* the one under the list's cursor, and the one that is open */
    struct sweep_list_view {
        int sort;
        bool invert;
        char filter[DB_LIST_WORDS_MAX];
        int row; /* of the rows that are shown */
    } of_list, of_table;
    bool filtering;          /* the filter is typed */
    struct sweep_form *form; /* owned; NULL: it was not opened yet */
    json_t *pending;         /* owned: of the form, once its strategy is described; NULL */
    struct sweep_form_plan plan;
    bool starts; /* once it is planned */
    enum sweep_question asks;
    struct sweep_detail detail;
    struct sweep_map map;
    char run_set[SWEEP_VALUES_MAX]; /* whose backtest is shown */
    enum sweep_mode run_from;
    struct sweep_run_figures { /* of the row or the cell that it was opened from, to be compared; NaN */
        double sharpe, return_pct, drawdown_pct;
        int64_t trades;
    } run_figures;
    struct backtest_view run;
    char bars[SWEEP_VALUE_MAX]; /* for the first form: the state directory, where it has a database; "" */
    unsigned wants;
    char words[SWEEP_COMPLAINT_MAX]; /* the last outcome; "" */
    bool failed;                     /* `words` are an error */
};

struct sweep_page *tui_sweep_page_create(const char *bars);
void tui_sweep_page_destroy(struct sweep_page *page);

/* One key, `height` rows of a list in sight. LEAVE: the page is to be closed; HELP. */
enum form_action tui_sweep_page_press(struct sweep_page *page, int height, int key);
void tui_sweep_page_paste(struct sweep_page *page, const int *keys, size_t n);
/* A click on the row, or the cell, of that index, as they were drawn: chooses it, or opens the chosen one. */
enum form_action tui_sweep_page_click(struct sweep_page *page, int height, int index);

/* Is a letter typed somewhere? */
bool tui_sweep_page_types(const struct sweep_page *page);

/* The one that is chosen, or NULL; the rows that a filter leaves, in their order: indices into the list's
 * entries or the detail's rows, for free(). NULL: there are none. */
struct sweep_entry *tui_sweep_page_chosen(struct sweep_page *page);
int *tui_sweep_page_entries(const struct sweep_page *page, int *ret_n);
int *tui_sweep_page_rows(const struct sweep_page *page, int *ret_n);
int tui_sweep_page_columns(const struct sweep_page *page); /* that they can be sorted by */
/* What the rows are sorted by: "dsr"; and what is wrong with the filter, "" for nothing. */
const char *tui_sweep_page_sort(const struct sweep_page *page);
const char *tui_sweep_page_filter_wrong(const struct sweep_page *page, char ret[static 160]);

/* After the list was read: the open one may have ended, whose files are then read. */
void tui_sweep_page_read(struct sweep_page *page);

/* What the form's strategy says of itself (backtest --list-strategies --json); NULL: nothing, for that
 * reason. */
void tui_sweep_page_described(struct sweep_page *page, const char *report, const char *why);

/* The answer to a plan; NULL: there is none, for that reason. */
void tui_sweep_page_planned(struct sweep_page *page, const char *report, const char *why);

#endif
