/* Charts of --chart in characters, on the dashboard's canvas, which needs no screen: tui/run_chart.c,
 * tui/sweep_chart.c, tui/report_chart.c. As the verbs of tui they are drawn there and called from here. They
 * draw what the pages of --report draw, of the same columns, in so many columns (40 to 200): in braille dots
 * and blocks, or in ASCII where the locale is not UTF-8. Curves are as
 * tui/chart_curves.h has them. 0; -ENOMEM;
 * errors of the output are the caller's to find. */
#ifndef CLI_PAGE_CHARTS_H
#define CLI_PAGE_CHARTS_H

#include <stdio.h>

#include "cli/page/run.h"

struct db_report;
struct sweep;

/* The columns of the terminal that stdout is; 80 where it is none. */
int tui_run_chart_width(void);

/* Equity with the benchmark, drawdown, exposure and the distribution of returns. */
int tui_run_chart(const struct page_run *run, int width, FILE *out);

/* Of several runs equity and drawdown over each other, of those that the page draws. n >= 2. */
int tui_run_chart_compared(const struct page_run *runs, size_t n, int width, FILE *out);

/* The metric over each pair of parameters as a heat map, or along the only one, and its distribution. */
int tui_sweep_chart(const struct sweep *sweep, int width, FILE *out);

/* Of each account equity, drawdown, what is not cash, returns by month and the distribution of daily ones. */
int tui_report_chart(const struct db_report *report, int width, FILE *out);

#endif
