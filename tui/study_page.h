/* One search in full, for its page: every trial of every worker as a row, one column a parameter, the history
 * of the best value, what the parameters matter, the chosen trial's attributes, and what is known of its
 * luck. A snapshot: made from what was read, and nobody's but its own afterwards. */
#ifndef TUI_STUDY_PAGE_H
#define TUI_STUDY_PAGE_H

#include "trainer/study/importance.h"
#include "tui/studies.h"
#include "tui/study_validation.h"

enum {
    SEARCH_WORKER_MAX = 64,
    SEARCH_IMPORTANCE_MAX = 64,
    SEARCH_CELL_COLUMNS = 7, /* that a number should fit into: with as many digits, two at least */
};

/* Values that a parameter was drawn from: one of a search's distributions, its choices as texts. */
struct search_distribution {
    enum distribution_kind kind;
    bool log;
    double low, high, step;
    int n_choices;
    const char **choices; /* [n_choices], as JSON but for strings, which stand bare */
};

struct search_cell {
    double value;     /* internal; NaN: the trial has not this parameter */
    int distribution; /* into page->distributions */
};

struct search_trial {
    int member, number; /* which study's, into page->members; its number there */
    enum trial_state state;
    int64_t started_us, completed_us, heartbeat_us; /* STUDY_NO_TIME */
    const double *values;                           /* [n_objectives]; NULL */
    const struct search_cell *cells;                /* [n_params] */
    const struct trial_report *reports;             /* [n_reports], finite or not */
    int n_reports;
    double violation;      /* > 0: infeasible; NaN: it has no constraints */
    double share, steps_s; /* papertape:progress; NaN */
    int split, splits;     /* likewise; -1 */
    int retries;           /* how often it was tried before */
    bool ours;             /* a worker of ours is at it, by its attributes */
    char worker[SEARCH_WORKER_MAX];
    const char *failure; /* papertape:failure, or Optuna's reason; NULL */
};

struct search_attribute {
    const char *key, *json;
    bool system;
};

/* What is looked at. */
struct search_want {
    char key[SEARCH_LABEL_MAX];     /* of the search; "": none */
    char study[STUDY_NAME_MAX + 1]; /* and trial whose attributes are shown; -1: none */
    int trial;
    bool validation; /* look at its folders for a proposal */
    bool returns;    /* and at its trials' returns besides, which takes long */
};

struct search_page {
    struct search search; /* without config; ks is the page's */
    int n_members;
    const char **members; /* names of its studies, by K */
    int n_params;
    const char **params;
    int n_distributions;
    const struct search_distribution *distributions;
    int n_trials;
    const struct search_trial *trials; /* by number, then member */
    /* Trials that completed within their constraints, in order of completion, of one objective. */
    int n_results;
    const double *values, *best;           /* [n_results]; best so far */
    struct importance_basis importance_of; /* of all workers' trials */
    int n_importance;                      /* 0: too few trials, or nothing differs */
    struct {
        int param; /* into params */
        double share;
    } importance[SEARCH_IMPORTANCE_MAX];
    char attributes_study[STUDY_NAME_MAX + 1]; /* whose attributes these are */
    int attributes_trial;                      /* -1: nobody's */
    int n_attributes;
    const struct search_attribute *attributes;
    bool have_validation;
    struct search_validation validation;
    struct search_memory *memory; /* of all of the above */
    struct search_order *order;   /* tui_study_rows()' last, owned; the one thing that drawing changes */
};

/* The rows that were shown last, and what they were shown by (tui/study_rows.h). */
struct search_order {
    bool made, invert;
    int sort, n;
    char filter[64];
    const struct search_trial **rows; /* [n], owned */
};

/* Which trials of which studies have completed: the same while none has since, and none has gone. */
struct search_complete {
    int64_t trials, studies, ids; /* ids: of the studies, together */
};
struct search_complete tui_study_complete(struct study *const *studies, size_t n);

/* What is reckoned seldom, and kept from one page to the next by whoever makes them. Zeroed to begin with. */
struct search_kept {
    char key[SEARCH_LABEL_MAX];
    struct search_complete complete; /* what importance was reckoned of */
    struct importance_basis importance_of;
    int n_importance;
    char importance_params[SEARCH_IMPORTANCE_MAX][128];
    double importance_shares[SEARCH_IMPORTANCE_MAX];
};

/* The page of the studies of one search (by K, at least one). NULL without memory. For
 * tui_study_page_destroy(). `kept` may be NULL: importance is then reckoned anew. */
struct search_page *tui_study_page_make(struct study *const *members, size_t n,
                                        const struct search_want *want, struct search_kept *kept,
                                        int64_t now_us);
void tui_study_page_destroy(struct search_page *page); /* NULL is fine */

/* A cell as text: a number, or the choice; "" where the trial has none. */
const char *tui_study_cell_text(const struct search_page *page, const struct search_cell *cell, char *buf,
                                size_t size);
/* Where the value lies in what it was drawn from, 0..1; NaN. */
double tui_study_cell_place(const struct search_page *page, const struct search_cell *cell);

/* "#29", and "2#29" of the worker NAME_2 where there are several. */
const char *tui_study_trial_name(const struct search_page *page, const struct search_trial *trial, char *buf,
                                 size_t size);
/* The time that it took, or takes: ms; -1: not known. */
int64_t tui_study_trial_duration_ms(const struct search_trial *trial, int64_t now_us);
/* Since its worker's last heartbeat: ms; -1: it has none, and is never stale. */
int64_t tui_study_trial_age_ms(const struct search_trial *trial, int64_t now_us);
int64_t tui_study_trial_expected_ms(const struct search_trial *trial);
/* Its value, or the last that it reported where it runs or was pruned; NaN. */
double tui_study_trial_value(const struct search_trial *trial);

const struct search_trial *tui_study_page_trial(const struct search_page *page, const char *study,
                                                int number);

/* A number in few columns: four digits that matter. */
const char *tui_study_number(char *buf, size_t size, double value);

/* "#2"; of several workers with whose it is: "own_2#2". Its number may be of any of the study's trials. */
const char *tui_study_validation_name(const struct search_page *page, int trial, char *buf, size_t size);

#endif
