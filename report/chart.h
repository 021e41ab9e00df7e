/* Charts as SVG: well-formed elements with a title each, whose colours are the classes of the page that they
 * are in (report/page.h). What is not finite is not drawn. Of any number of points a chart has a few thousand
 * at most, which keep all minima and maxima (report/thin.h). Everything is borrowed. */
#ifndef REPORT_CHART_H
#define REPORT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/text.h"

enum report_size { REPORT_WIDE, REPORT_LOW /* as wide, half as high */, REPORT_HALF /* half as wide */ };

/* Pixels between the ends of a chart that is not half as wide: of a line that is thinned to so many columns
 * (report/thin.h) between the same ends it draws the same. */
enum { REPORT_CURVE_COLUMNS = 680 };

enum report_shape {
    REPORT_LINE,
    REPORT_DROP,   /* a line, and the area between it and 0 */
    REPORT_SPREAD, /* of each pixel the mean, and a band from its least to its highest */
    REPORT_BAND,   /* the area from `low` to y */
    REPORT_DOTS,
    REPORT_BUYS, /* triangles that point up, below the point */
    REPORT_SELLS /* those that point down, above it; marks that would cover one another are drawn once */
};

enum { REPORT_COLOURS = 8 };

struct report_series {
    enum report_shape shape;
    int colour;        /* 0 to REPORT_COLOURS - 1 */
    const char *name;  /* in the legend; NULL: not there */
    const int64_t *x;  /* [n], never falling */
    const double *y;   /* [n]; not finite: a gap */
    const double *low; /* [n] of REPORT_BAND */
    size_t n;
};

struct report_chart {
    enum report_size size;
    const char *title;  /* also for readers who do not see it */
    const char *x_name; /* below; of `time` UTC where it is NULL */
    const char *y_name; /* above, as a unit: "%", "USDT"; NULL: none */
    bool time;          /* x are nanoseconds UTC; else counts, as of steps */
    int64_t gap;        /* x that are further apart are not joined; 0: all are */
    bool logarithmic;   /* y; ignored where one is not positive */
    double also;        /* a y that is in view whatever the series are, with a line; NaN: none */
    const struct report_series *series; /* the first is on top, and first in the legend */
    int n;
};

/* Without a point there is an empty frame that says so. */
void report_chart_draw(struct text *text, const struct report_chart *chart);

/* Does y grow so much that only logarithms show all of it: positive, and the highest above 10 times the
 * least? */
bool report_chart_is_wide(const double *y, size_t n);

/* A histogram: bars of equal width from low to high. */
struct report_bars {
    enum report_size size;
    const char *title, *x_name, *y_name;
    const double *bars; /* [n], at least 0 */
    int n;
    double low, high;
    double until;              /* bars up to here have the second colour, and a line is there; NaN: none */
    const char *const *labels; /* [n], one a bar, instead of numbers; or NULL */
};
void report_bars_draw(struct text *text, const struct report_bars *bars);

/* Points, and the line y = slope x + intercept as far as they go (NaN: none). */
struct report_points {
    enum report_size size;
    const char *title, *x_name, *y_name;
    const double *xy; /* [n][2] */
    size_t n;
    double slope, intercept;
};
void report_points_draw(struct text *text, const struct report_points *points);

#endif
