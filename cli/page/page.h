/* Pages of backtests (report/page.h): of one run, of several compared, of a sweep. Nothing of them is
 * computed here that --json has: its figures are on the page under the same names. */
#ifndef CLI_PAGE_PAGE_H
#define CLI_PAGE_PAGE_H

#include <stdio.h>

#include "cli/page/run.h"
#include "report/page_parts.h"

enum { PAGE_WORDS_MAX = 640 };

/* "strategy params on BTCUSDT ETHUSDT 5m", of as many symbols as there is room for. Returns ret. */
const char *cli_page_subject(const struct page_run *run, char ret[static PAGE_WORDS_MAX]);

/* All parts of a run, under headings of their own: verdict, equity, returns, trades, costs, figures. The
 * newest `most` trades are listed. 0 or -ENOMEM. */
int cli_page_run(struct text *text, const struct page_run *run, size_t most);

/* Parts of that, in their own files. 0 or -ENOMEM. */
int cli_page_trades(struct text *text, const struct page_run *run, size_t most);
int cli_page_returns(struct text *text, const struct page_run *run);
void cli_page_costs(struct text *text, const struct page_run *run);
void cli_page_actions(struct text *text, const struct page_run *run); /* nothing where there was none */

/* A symbol's splits of the rows that were traded. */
size_t cli_page_splits(const struct page_run *run, int symbol);

/* Curves over each other, and a table of the figures of all, with differences to the first. n >= 2; the
 * first PAGE_COMPARED_MAX are drawn, all are in the table. 0 or -ENOMEM. */
enum { PAGE_COMPARED_MAX = 7 };
int cli_page_compare(struct text *text, const struct page_run *runs, size_t n);

/* What of them is drawn over each other: the first PAGE_COMPARED_MAX, in the currency, or, where cash or
 * currency differ, scaled to 100 at the beginning. */
struct page_compared {
    int drawn;
    const char *unit;                        /* the currency, or words for the scale */
    double start;                            /* of each, at its beginning */
    const double *equity[PAGE_COMPARED_MAX]; /* [runs[i].n + 1] */
    const double *held;                      /* of the first run, where it is drawn, too; NULL */
    double *scaled[PAGE_COMPARED_MAX];
};
/* 0, for cli_page_compared_finish(); -ENOMEM. */
int cli_page_compared_make(const struct page_run *runs, size_t n, struct page_compared *ret);
void cli_page_compared_finish(struct page_compared *compared);
/* "The first 7 of 9 runs are drawn.": ret; NULL: all are. */
const char *cli_page_compared_more(size_t n, char ret[static PAGE_WORDS_MAX]);

/* A sentence where they are over other times or bars, so that their figures do not compare; else NULL. */
const char *cli_page_apart(const struct page_run *runs, size_t n);

/* Writes the whole page of a backtest: of one account its parts; of several what compares them first. All of
 * its runs together list PAGE_TRADES_MAX trades, each at least PAGE_TRADES_LEAST. 0 or -ENOMEM; errors of the
 * output are the caller's to find. */
enum { PAGE_TRADES_MAX = 500, PAGE_TRADES_LEAST = 50 };
int cli_page_backtest(const struct page_run *runs, size_t n, FILE *out);

/* A run's figures by the names that --json gives them: NaN where that has null. Calls `row` for each, in
 * order. 0 or -ENOMEM. */
int cli_page_figures(const struct page_run *run, void (*row)(void *ctx, const char *name, double value),
                     void *ctx);

#endif
