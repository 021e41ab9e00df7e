/* A run's charts in characters, on the dashboard's canvas, which needs no screen: tui/run_chart.c. As the
 * verbs of tui it is drawn there and called from here. */
#ifndef CLI_PAGE_RUN_CHART_H
#define CLI_PAGE_RUN_CHART_H

#include <stdio.h>

#include "cli/page/run.h"

/* The columns of the terminal that stdout is; 80 where it is none. */
int tui_run_chart_width(void);

/* Prints equity with the benchmark, drawdown and the distribution of returns, in so many columns (40 to 200):
 * in braille dots and blocks, or in ASCII where the locale is not UTF-8. Curves keep each column's extremes.
 * 0; -ENOMEM; errors of the output are the caller's to find. */
int tui_run_chart(const struct page_run *run, int width, FILE *out);

#endif
