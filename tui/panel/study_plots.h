/* The plots of a study's trials, in place of the importance of its parameters (tui/study_plot.h). */
#ifndef TUI_PANEL_STUDY_PLOTS_H
#define TUI_PANEL_STUDY_PLOTS_H

#include "tui/panel/study_words.h"
#include "tui/study_plot.h"

/* What is drawn, and in which style: its figures are dim when they are old. */
struct plot_scene {
    const struct tui_study_page *page;
    const struct area *body;
    enum freshness freshness;
    int rank, param, second; /* the chosen parameters, the first by its rank too; -1: there is none */
    struct plot_count count; /* set by drawing: what is in it and what is not */
};

/* Draws the plot that the view has chosen as panel `PANEL_IMPORTANCE`. */
void panel_study_plot(const struct area *area, const struct scene *scene);

void panel_study_slice(struct plot_scene *plot);
void panel_study_histogram(struct plot_scene *plot);
void panel_study_contour(struct plot_scene *plot);
void panel_study_parallel(struct plot_scene *plot);

enum { PLOT_SCALE_COLUMNS = 9 /* of the labels beside a plot */ };

/* The columns from *ret_first on of cell `at` of `cells` over `columns`; returns how many. */
int panel_study_span(int at, int cells, int columns, int *ret_first);

/* The column in the middle of it. */
int panel_study_middle(int at, int cells, int columns);

/* The labels of an axis along row y, from column x on; up from row y + rows - 1, from column x on. The ends,
 * round values between, or the categories in their cells. */
void panel_study_axis_row(const struct area *area, int x, int y, int columns, const struct study_axis *axis);
void panel_study_axis_column(const struct area *area, int x, int y, int rows, const struct study_axis *axis);

/* The label of an end: "0.36", and "<0.36" where values are beyond. */
const char *panel_study_end(const struct study_axis *axis, bool high, char buf[static FORMAT_MAX]);

/* What is left out, and how many values are beyond the ends of the objective's axis. */
const char *panel_study_omitted(const struct plot_scene *plot, const struct study_axis *value, char *buf,
                                size_t size);

/* A line below the plot, if the body has a row for it: what signs mean, or what is left out. */
void panel_study_legend(const struct plot_scene *plot, int y, const char *words);

#endif
