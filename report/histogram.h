/* Counts of numbers in bars of equal width. Pure, except for its memory. */
#ifndef REPORT_HISTOGRAM_H
#define REPORT_HISTOGRAM_H

#include <stddef.h>

enum { REPORT_HISTOGRAM_MOST = 60 };

struct report_histogram {
    int n;            /* bars, 1 to REPORT_HISTOGRAM_MOST */
    double low, high; /* multiples of the width, so that 0 is never inside a bar */
    double bars[REPORT_HISTOGRAM_MOST];
    size_t counted; /* finite values, all of them within */
};

/* The width is the smaller one of the rules of Freedman and Diaconis (2 IQR n^(-1/3), "On the histogram as a
 * density estimator", 1981) and of Sturges (range / (1 + log2 n), "The choice of a class interval", 1926),
 * as numpy's "auto" has it, so that few values have more than a bar or two; rounded down to 1, 2, 2.5 or 5
 * times a power of ten, and wider where there would be more than REPORT_HISTOGRAM_MOST bars. A value on an
 * edge is in the bar above it. 0; -ENODATA: no value is finite; -ENOMEM. */
int report_histogram_count(const double *values, size_t n, struct report_histogram *ret);

#endif
