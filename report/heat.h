/* A heat map: a figure of every pair of two lists of values, as colour and, where there is room, as a number.
 * Figures on one side of 0 are darker the further they are along their range; of both signs 0 is the paper's
 * colour, and what is below it has a colour of its own. Of many cells the range of the
 * colours is that of all but the twentieth part at each end, so that an outlier does not bleach the others;
 * the legend says so ("≤ -4.2"). Colours are the page's classes (report/page.h), in REPORT_HEAT_SHADES steps.
 * What is not finite is an empty cell. */
#ifndef REPORT_HEAT_H
#define REPORT_HEAT_H

#include "exchange/text.h"

enum {
    REPORT_HEAT_SHADES = 8,
    REPORT_HEAT_SIDE_MAX = 60, /* columns and rows that are drawn as they are */
};

struct report_heat {
    const char *title, *x_name, *y_name;
    const char *value_name;      /* of the figure, over the legend: "sharpe" */
    const char *const *x_labels; /* [columns], from left to right */
    const char *const *y_labels; /* [rows], from below to above */
    const double *values;        /* [rows][columns], the lowest row first */
    int columns, rows;           /* at most REPORT_HEAT_SIDE_MAX */
    int decimals;                /* of the numbers in cells */
};

/* Without a cell that has a figure there is an empty frame that says so. */
void report_heat_draw(struct text *text, const struct report_heat *heat);

/* The shade of a figure in the range from `low` to `high`; beyond it has that of its end: 1 to
 * REPORT_HEAT_SHADES, below 0 of one that has the other colour; 0: it is 0 where the range has both signs, or
 * not finite. */
int report_heat_shade(double value, double low, double high);

#endif
