/* The page of a sweep (report/page.h): what was run, whether the best is more than luck, the metric over the
 * grid, and the best runs in a table whose columns are rows of one list. */
#ifndef CLI_PAGE_SWEEP_H
#define CLI_PAGE_SWEEP_H

#include "cli/sweep_run.h"
#include "report/page_parts.h"

/* A column of the table of the best runs: `value` NaN is n/a. To show another figure of a run add a row to
 * the list in page_sweep.c. */
struct page_sweep_column {
    const char *name; /* as --json's, where that has it */
    double (*value)(const struct sweep *sweep, size_t rank);
    int digits; /* significant ones */
};

/* Of sorted results; n > 0. 0 or -ENOMEM. */
int cli_page_sweep(struct text *text, const struct sweep *sweep);

/* Calls `heat` with the metric over each pair of axes, up to PAGE_SWEEP_MAPS, or `points` along the only one,
 * for a page or for a terminal. Values are those that the runs have, so that a sample of a grid is drawn,
 * too; beyond so many columns or rows neighbours share one. A cell is the median of its runs. Everything is
 * borrowed. 0; -ENOMEM; or what a call returned that is not 0, which is the last one. */
enum { PAGE_SWEEP_MAPS = 6 };
struct page_sweep_draw {
    int columns, rows; /* at most REPORT_HEAT_SIDE_MAX */
    int (*heat)(void *ctx, const struct report_heat *heat, const char *caption);
    int (*points)(void *ctx, const struct report_points *points, const char *caption);
    void *ctx;
};
int cli_page_sweep_draw(const struct sweep *sweep, const struct page_sweep_draw *draw);
/* A sentence where there are more pairs; else NULL. */
const char *cli_page_sweep_more(const struct sweep *sweep);

/* The metric of each run, [runs.n], the caller's to free; NULL: without memory. */
double *cli_page_sweep_metric(const struct sweep *sweep);

/* The parameters of a run. */
void cli_page_sweep_params(const struct sweep *sweep, const struct sweep_result *result,
                           double params[static STRATEGY_PARAMS_MAX]);
/* A value of an axis in words. Returns ret. */
const char *cli_page_sweep_value(const struct sweep *sweep, int axis, double value,
                                 char ret[static STRATEGY_WORD_MAX]);

#endif
