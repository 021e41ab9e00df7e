/* The plots of a study's trials: their places on axes, the cells and bins that they fall into, and why a
 * trial has none. Pure: of the page's snapshot, without drawing.
 *
 * Every trial is in exactly one cell of a plot, or is counted under one reason. */
#ifndef TUI_STUDY_PLOT_H
#define TUI_STUDY_PLOT_H

#include "tui/study_page.h"

enum study_plot {
    PLOT_IMPORTANCE,
    PLOT_SLICE,     /* a parameter's values against the objective's, every trial that has one */
    PLOT_HISTOGRAM, /* of the objective's values: results only, as all that follow */
    PLOT_CONTOUR,   /* the best value by two parameters */
    PLOT_PARALLEL,  /* an axis a parameter, a line a trial */
    STUDY_PLOTS,
};

enum {
    PLOT_CATEGORIES_MAX = 256, /* of an axis; further ones are off it */
    PLOT_OBJECTIVE = -1,       /* instead of a parameter's index */
    PLOT_TICKS_MAX = 32,
    PLOT_BEST_MAX = 10, /* trials that are drawn apart from all */
};

/* Why a trial is not in a plot. */
enum plot_omission {
    OMITTED_NOT,
    OMITTED_NO_VALUE,
    OMITTED_NAN,
    OMITTED_INFINITE,
    OMITTED_UNFINISHED, /* it has not completed: of plots of results */
    OMITTED_INFEASIBLE, /* likewise */
    OMITTED_NO_PARAMETER,
    OMITTED_OFF_AXIS, /* a category among numbers, 0 on a logarithmic axis, a category too many */
    OMISSIONS,
};

struct plot_count {
    int n[OMISSIONS]; /* by reason; [OMITTED_NOT]: in the plot */
};

/* "left out: 8 not completed, 1 infinite"; "": all trials are in the plot. */
const char *tui_study_omitted(char *buf, size_t size, const struct plot_count *count);

/* From the least value to the greatest: of what the trials were drawn from, and of what they have. The
 * objective's ends, on its worse side, at the outer fence of Tukey (Exploratory Data Analysis, 1977: three
 * times the distance of the quartiles beyond the nearer one), so that a few failures do not take all of it;
 * values beyond have their place at that end. */
struct study_axis {
    int param;    /* into page->params, or PLOT_OBJECTIVE */
    bool results; /* only of trials that completed within their constraints */
    bool known;   /* false: no trial has a value */
    bool categorical;
    bool whole;           /* its numbers are */
    bool log;             /* all of its distributions are, and low is above 0 */
    double low, high;     /* not of categories */
    int n_below, n_above; /* trials whose value is beyond its worse end */
    int n_values;         /* that whole numbers can have; 0: any */
    int n_categories;     /* by their texts: choices that are written alike are one */
    const char *categories[PLOT_CATEGORIES_MAX];
};

void tui_study_axis_make(const struct tui_study_page *page, int param, bool results, struct study_axis *ret);

/* Why the trial has no place on the axis; OMITTED_NOT: it has one. */
enum plot_omission tui_study_axis_omission(const struct tui_study_page *page, const struct study_axis *axis,
                                           const struct tui_study_trial *trial);

/* Where it is: 0 (low) .. 1 (high), of categories the first 0, the last 1; one value alone is at 0.5. NaN
 * without a place. */
double tui_study_axis_place(const struct tui_study_page *page, const struct study_axis *axis,
                            const struct tui_study_trial *trial);

/* The same of a number on a numeric axis; NaN: it is not within, except of the objective beyond its worse
 * end.
 */
double tui_study_axis_place_of(const struct study_axis *axis, double value);

/* Round values within the axis, going up: multiples of 1, 2 or 5 x 10^k, whole on an axis of whole numbers,
 * `most` of them at most; of a logarithmic axis with two powers of ten, powers of ten. Returns how many. */
int tui_study_axis_ticks(const struct study_axis *axis, int most, double ret[static PLOT_TICKS_MAX]);

/* How many cells, `most` at most, the axis is cut into: no more than it has categories or whole numbers. */
int tui_study_axis_cells(const struct study_axis *axis, int most);

/* Which of `cells` equal parts of the axis (of a logarithmic one, of equal ratios) holds the trial, the
 * highest value in the last; -1 without a place. */
int tui_study_axis_cell(const struct tui_study_page *page, const struct study_axis *axis,
                        const struct tui_study_trial *trial, int cells);

/* What a sign says of a trial. */
enum plot_sign { SIGN_COMPLETE, SIGN_RUNNING, SIGN_INFEASIBLE, SIGN_PRUNED, SIGN_OTHER, SIGNS };
enum plot_sign tui_study_sign(const struct tui_study_trial *trial);

struct plot_cell {
    int n[SIGNS];
    double best; /* by the study's direction; NaN: no trial */
};

/* Sums all trials up in x_cells × y_cells cells, [y * x_cells + x], lowest first. One reason a trial: of its
 * value, then of x, then of y. */
void tui_study_plot_grid(const struct tui_study_page *page, const struct study_axis *x, int x_cells,
                         const struct study_axis *y, int y_cells, struct plot_cell *ret,
                         struct plot_count *ret_count);

/* The objective's values in n_bins bins of equal width. */
void tui_study_histogram(const struct tui_study_page *page, const struct study_axis *axis, int n_bins,
                         int *ret, struct plot_count *ret_count);

/* As many bins as the square root of n, at least 4, `most` at most. */
int tui_study_histogram_bins(int n, int most);

/* Which of `steps` a value is on its way from `worst` to `best`, either way round: 0 .. steps - 1. */
int tui_study_step(double value, double worst, double best, int steps);

/* `cells` evenly apart places of an axis, the first at 0, the last at 1: where the cell is. */
double tui_study_pair_place(int cell, int cells);

/* ret[a_cell * cells + b_cell]: does a result go from that cell of axis a, the one nearest to its place, to
 * that of b? Returns how many results have no place on one of them. */
int tui_study_pairs(const struct tui_study_page *page, const struct study_axis *a, const struct study_axis *b,
                    int cells, bool *ret);

/* The results with the best values, the best first, of equal ones the earlier. Returns how many. */
int tui_study_best(const struct tui_study_page *page, int most,
                   const struct tui_study_trial *ret[static PLOT_BEST_MAX]);

#endif
