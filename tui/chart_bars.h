/* A distribution as bars, printed as text below a report, as tui/chart_curves.h. */
#ifndef TUI_CHART_BARS_H
#define TUI_CHART_BARS_H

#include <stddef.h>
#include <stdio.h>

/* Prints an empty line and the histogram of values [n] (report/histogram.h), of the same bars as the page's,
 * or of pairs of them where the width has no room; nothing where no value is finite. 0; -ENOMEM; errors of
 * the output are the caller's to find. */
int tui_chart_bars_print(const char *title, const double *values, size_t n, int width, FILE *out);

#endif
