/* One study in full, for its page: every trial of every worker as a row, one column a parameter, the
 * history of the best value, the parameters' importance, the chosen trial's attributes, and its overfitting
 * check. A snapshot: made from what was read, a copy of its own afterwards. */
#ifndef TUI_STUDY_PAGE_H
#define TUI_STUDY_PAGE_H

#include "trainer/study/importance.h"
#include "tui/studies.h"
#include "tui/study_validation.h"

enum {
    STUDY_WORKER_MAX = 64,
    STUDY_IMPORTANCE_MAX = 64,
    STUDY_CELL_COLUMNS = 7, /* that a number should fit into: with as many digits, two at least */
};

/* Values that a parameter was drawn from: one of a study's distributions, its choices as texts. */
struct tui_study_distribution {
    enum distribution_kind kind;
    bool log;
    double low, high, step;
    int n_choices;
    const char **choices; /* [n_choices], as JSON except strings, which have no quotes */
};

struct tui_study_cell {
    double value;     /* internal; NaN: the trial has not this parameter */
    int distribution; /* into page->distributions */
};

struct tui_study_trial {
    int member, number; /* which study's, into page->members; its number there */
    enum trial_state state;
    int64_t started_us, completed_us, heartbeat_us; /* STUDY_NO_TIME */
    const double *values;                           /* [n_objectives]; NULL */
    const struct tui_study_cell *cells;             /* [n_params] */
    const struct trial_report *reports;             /* [n_reports], finite or not */
    int n_reports;
    double violation;      /* > 0: infeasible; NaN: it has no constraints */
    double share, steps_s; /* papertape:progress; NaN */
    int split, splits;     /* likewise; -1 */
    int retries;           /* how often it was tried before */
    bool ours;             /* a worker of ours runs it, by its attributes */
    int64_t grace_ms;      /* after which it is stale where it runs without a heartbeat (tui/studies.h) */
    char worker[STUDY_WORKER_MAX];
    const char *failure; /* papertape:failure, or Optuna's reason; NULL */
};

struct tui_study_attribute {
    const char *key, *json;
    bool system;
};

/* What is shown. */
struct tui_study_want {
    char key[STUDY_LABEL_MAX];      /* of the study; "": none */
    char study[STUDY_NAME_MAX + 1]; /* and trial whose attributes are shown; -1: none */
    int trial;
    bool validation; /* look at its folders for a proposal */
    bool returns;    /* also at its trials' returns, which takes long */
};

struct tui_study_page {
    struct tui_study study; /* without config; ks is the page's */
    int n_members;
    const char **members; /* names of its studies, by K */
    int n_params;
    const char **params;
    int n_distributions;
    const struct tui_study_distribution *distributions;
    int n_trials;
    const struct tui_study_trial *trials; /* by number, then member */
    /* Trials that completed within their constraints, in order of completion, of one objective. */
    int n_results;
    const double *values, *best;           /* [n_results]; best so far */
    struct importance_basis importance_of; /* of all workers' trials */
    int n_importance;                      /* 0: too few trials, or nothing differs */
    struct {
        int param; /* into params */
        double share;
    } importance[STUDY_IMPORTANCE_MAX];
    const int *ranked; /* [n_params]: each of params once, by importance, then as they were met */
    char attributes_study[STUDY_NAME_MAX + 1]; /* whose attributes these are */
    int attributes_trial;                      /* -1: no trial's */
    int n_attributes;
    const struct tui_study_attribute *attributes;
    bool have_validation;
    struct tui_study_validation validation;
    struct tui_study_memory *memory; /* of all of the above */
    struct tui_study_order *order;   /* tui_study_rows()' last, owned; the one thing that drawing changes */
};

/* The rows that were shown last, and their order and filter (tui/study_rows.h). */
struct tui_study_order {
    bool made, invert;
    int sort, n;
    char filter[64];
    const struct tui_study_trial **rows; /* [n], owned */
};

/* Which trials of which studies have completed: equal as long as no more have, and no trial was deleted. */
struct tui_study_complete {
    int64_t trials, studies, ids; /* ids: of the studies, together */
};
struct tui_study_complete tui_study_complete(struct study *const *studies, size_t n);

/* Values that are computed seldom, kept from one page to the next. Zeroed at first. */
struct tui_study_kept {
    char key[STUDY_LABEL_MAX];
    struct tui_study_complete complete; /* what importance was computed of */
    struct importance_basis importance_of;
    int n_importance;
    char importance_params[STUDY_IMPORTANCE_MAX][128];
    double importance_shares[STUDY_IMPORTANCE_MAX];
};

/* The page of the workers of one study (by K, at least one). NULL without memory. For
 * tui_study_page_destroy(). `kept` may be NULL: importance is then computed again. */
struct tui_study_page *tui_study_page_make(struct study *const *members, size_t n,
                                           const struct tui_study_want *want, struct tui_study_kept *kept,
                                           int64_t now_us);
void tui_study_page_destroy(struct tui_study_page *page); /* NULL is fine */

/* A cell as text: a number, or the choice; "" where the trial has none. */
const char *tui_study_cell_text(const struct tui_study_page *page, const struct tui_study_cell *cell,
                                char *buf, size_t size);
/* The value's place in the range that it was drawn from, 0..1; NaN. */
double tui_study_cell_place(const struct tui_study_page *page, const struct tui_study_cell *cell);

/* "#29", and "2#29" of the worker NAME_2 where there are several. */
const char *tui_study_trial_name(const struct tui_study_page *page, const struct tui_study_trial *trial,
                                 char *buf, size_t size);
/* The time that it took, or takes: ms; -1: not known. */
int64_t tui_study_trial_duration_ms(const struct tui_study_trial *trial, int64_t now_us);
/* Since its worker's last heartbeat: ms; -1: it has none. */
int64_t tui_study_trial_age_ms(const struct tui_study_trial *trial, int64_t now_us);
int64_t tui_study_trial_expected_ms(const struct tui_study_trial *trial);
/* Its value, or the last that it reported where it runs or was pruned; NaN. */
double tui_study_trial_value(const struct tui_study_trial *trial);

const struct tui_study_trial *tui_study_page_trial(const struct tui_study_page *page, const char *study,
                                                   int number);

/* A number in few columns: four digits that matter. */
const char *tui_study_number(char *buf, size_t size, double value);

/* "#2"; of several workers with the study's name: "own_2#2". Its number may be of any of the study's
 * trials. */
const char *tui_study_validation_name(const struct tui_study_page *page, int trial, char *buf, size_t size);

#endif
