/* SVG pictures for a report: well-formed XML with a title each; colours are CSS classes that the page has.
 * What is not finite is not drawn. */
#ifndef TRAINER_STUDY_REPORT_CHART_H
#define TRAINER_STUDY_REPORT_CHART_H

#include <stddef.h>
#include <stdint.h>

#include "exchange/text.h"

/* Text with & < > " as XML has them; what is no character of XML is a question mark. */
void study_chart_escape(struct text *text, const char *words);

struct chart_curve {
    const char *name;      /* escaped here */
    const double *returns; /* [rows], `stride` apart: the curve is what 1 becomes */
    size_t stride;
};
/* Curves 0, 1, … have the classes c0, c1, …; at most 8. `open_ns` [rows] or NULL: rows are counted. */
void study_chart_curves(struct text *text, const char *title, const struct chart_curve *curves, int n,
                        size_t rows, const int64_t *open_ns);

/* Bars [n] of equal width from low to high; those up to `until` have the class c1, others c0. */
void study_chart_bars(struct text *text, const char *title, const double *bars, int n, double low,
                      double high, double until);

/* Points (x, y) [n], and the line y = slope * x + intercept through where they are; NaN: none. */
void study_chart_points(struct text *text, const char *title, const double *points, size_t n, double slope,
                        double intercept);

#endif
