/* Curves with a title, labels and a legend, printed as text below a report: on the dashboard's canvas, which
 * needs no screen. In braille, blocks or ASCII, as the locale and the terminal have them. */
#ifndef TUI_CHART_CURVES_H
#define TUI_CHART_CURVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CHART_LABELS = 11, /* columns left of what is drawn */
    CHART_CURVES_MAX = 8,
};

struct chart_curve {
    const char *name;    /* in the legend; NULL: it has no name, and the legend is beside the title */
    const int64_t *time; /* [n] nanoseconds UTC, never falling; NULL: it is over x */
    const double *x;     /* [n] never falling */
    const double *y;     /* [n]; not finite: a gap */
    size_t n;
    bool mean;   /* each column has the mean of its points, and not its lowest and highest */
    bool dotted; /* among three or more: as dots, and not as its number */
};

/* All over the same axis, from the first point of any to the last of any. Of one or two the first is a line
 * and the second dotted; of more each is its number, 1 the first, which is on top. */
struct chart_curves {
    const char *title;
    const struct chart_curve *curves;
    int n; /* 1 to CHART_CURVES_MAX */
    int rows, decimals;
    double also; /* in view, too; NaN: none */
};

/* Prints an empty line and the curves, so many columns wide, of which CHART_LABELS are labels. In braille
 * each column keeps its lowest and its highest point, and of marks it keeps both; a line in ASCII or blocks
 * keeps the last of them; points that are further apart than a column are joined. 0; -ENOMEM; errors of the
 * output are the caller's to find. */
int tui_chart_curves_print(const struct chart_curves *curves, int width, FILE *out);

#endif
