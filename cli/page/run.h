/* One account's run as columns, for its page and its charts on a terminal: of a backtest that has just run,
 * or of one that was saved. */
#ifndef CLI_PAGE_RUN_H
#define CLI_PAGE_RUN_H

#include "engine/backtest/report.h"
#include "strategy/metrics/verdict.h"

enum {
    PAGE_NAME_MAX = 96,
    PAGE_DRAWDOWNS = 5,         /* the deepest so many are listed */
    PAGE_SLIPPAGE_UNKNOWN = -1, /* slippage_e6 of a configuration that does not say it */
};

/* What the columns are made of: all borrowed. */
struct page_source {
    const struct backtest_config *config;
    const struct backtest *backtest;
    const struct backtest_report *reports; /* [backtest->n_accounts] */
    const struct report_config *options;   /* its benchmark */
    const char *benchmark;                 /* in words; NULL: none */
};

struct page_run {
    const struct page_source *source;
    int account;
    const struct account_spec *spec;
    const struct backtest_account *result;
    const struct backtest_report *report;
    char name[PAGE_NAME_MAX];

    /* Points 0 to n: the opening of the first row, and each row's close. Owned. */
    size_t n;                  /* rows */
    int64_t *x;                /* [n + 1] */
    double *equity, *drawdown; /* [n + 1]; percent */
    double *held;              /* [n + 1] the benchmark's equity; NULL: there is none */
    double *held_drawdown;     /* [n + 1]; NULL likewise */
    double *gross, *net;       /* [n + 1] positions' values as a percentage of equity, shorts counted
                                * positive, and negative */
    double *fees;              /* [n + 1] paid so far */
    bool shorts;               /* it was short at a row's close */

    double opened, closed;      /* notionals of fills that enlarged positions, and that reduced them */
    size_t buys, sells;         /* fills */
    double slippage;            /* what takers' prices cost in all, by the run's rate; NaN: not known */
    double interest, dividends; /* by the ledger: paid, received */
};

/* 0 with *ret, for page_run_finish(); -ENOMEM. */
int cli_page_run_make(const struct page_source *source, int account, const char *name, struct page_run *ret);
/* curves.c: what a comparison needs alone (page.h): equity and drawdown, of the points that show in a chart
 * as wide as the page, so that it looks the same; of what is not drawn only the opening. run.n is one less
 * than their number. The same. */
int cli_page_run_curves(const struct page_source *source, int account, const char *name, bool drawn,
                        struct page_run *ret);
void cli_page_run_finish(struct page_run *run); /* fine on a zeroed one */

/* The verdict on it (strategy/metrics/verdict.h), of steps of so many rows that it takes about a second at
 * most. 0; -ENODATA: without a benchmark, or a trade, there is none; -EINVAL: a figure that is not finite;
 * -ENOMEM. *ret_rows: how many rows a step has. */
int cli_page_run_verdict(const struct page_run *run, struct verdict *ret, size_t *ret_rows);

/* The value of what is held of a symbol at each row's close, in the currency: [n], `ret`. */
void cli_page_run_values(const struct page_run *run, int symbol, double *ret);

/* The returns of UTC days, or of rows where there are fewer than 20 days or rows are days; percent, NaN where
 * equity was not above 0. `ret` [n]. Returns how many. */
size_t cli_page_run_returns(const struct page_run *run, bool *ret_days, double *ret);

/* The parameters that are not the default, "fast=20 slow=50"; "" when all are. Returns ret. */
enum { PAGE_PARAMS_MAX = 512 };
const char *cli_page_run_params(const struct account_spec *spec, char ret[static PAGE_PARAMS_MAX]);

#endif
