/* The curves of a run, thinned as they are made: of a million rows a page shows some thousand points. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/page/run.h"
#include "report/chart.h"
#include "report/page_parts.h"
#include "report/thin.h"

enum { BLOCK = 1 << 14, CURVES = 2, KEPT_MAX = 4 /* points of a curve in a column */ };

struct curves {
    struct page_run *run;
    struct report_view view;
    size_t rows;
    double best; /* equity so far */
    size_t kept;
    int64_t x[BLOCK];
    double equity[BLOCK], drawdown[BLOCK];
    struct report_kept of[CURVES][KEPT_MAX * REPORT_CURVE_COLUMNS];
};

/* Points [from, from + n): 0 is the opening. */
static void load(struct curves *curves, size_t from, size_t n)
{
    const struct page_run *run = curves->run;
    const struct market *market = run->source->config->market;
    for (size_t i = 0; i < n; i++) {
        curves->x[i] = market_open_ns(market, run->source->backtest->from + from + i);
        curves->equity[i] = from + i > 0 ? run->result->equity[from + i - 1] : run->report->start_equity;
    }
    curves->best = report_drawdowns_from(curves->best, curves->equity, n, curves->drawdown);
}

static void keep(struct curves *curves, size_t at)
{
    struct page_run *run = curves->run;
    run->x[curves->kept] = curves->x[at];
    run->equity[curves->kept] = curves->equity[at];
    run->drawdown[curves->kept] = curves->drawdown[at];
    curves->kept++;
}

/* Keeps the points that either curve shows. */
static void thin(struct curves *curves, size_t n)
{
    const double *const y[CURVES] = {curves->equity, curves->drawdown};
    size_t left[CURVES], at[CURVES] = {0};
    for (int c = 0; c < CURVES; c++)
        left[c] = report_thin(&curves->view, curves->x, y[c], n, curves->of[c]);
    for (;;) {
        size_t next = SIZE_MAX;
        for (int c = 0; c < CURVES; c++)
            if (at[c] < left[c] && curves->of[c][at[c]].at < next)
                next = curves->of[c][at[c]].at;
        if (next == SIZE_MAX)
            return;
        keep(curves, next);
        for (int c = 0; c < CURVES; c++)
            at[c] += at[c] < left[c] && curves->of[c][at[c]].at == next;
    }
}

/* Room for so many points. */
static int make_room(struct page_run *run, size_t n)
{
    run->x = malloc(n * sizeof *run->x);
    run->equity = malloc(n * sizeof *run->equity);
    run->drawdown = malloc(n * sizeof *run->drawdown);
    return run->x && run->equity && run->drawdown ? 0 : -ENOMEM;
}

static int make(struct page_run *run, size_t rows)
{
    const struct market *market = run->source->config->market;
    const size_t from = run->source->backtest->from, blocks = rows / BLOCK + 1;
    struct curves *curves = malloc(sizeof *curves);
    int r = curves ? make_room(run, (size_t)CURVES * KEPT_MAX * (REPORT_CURVE_COLUMNS + blocks)) : -ENOMEM;
    if (r < 0) {
        free(curves);
        return r;
    }
    curves->run = run;
    curves->view =
        (struct report_view){market_open_ns(market, from), market_open_ns(market, from + rows) + (rows == 0),
                             REPORT_CURVE_COLUMNS, 0};
    curves->best = -INFINITY;
    curves->kept = 0;
    for (size_t at = 0, n; at <= rows; at += n) {
        n = rows + 1 - at < BLOCK ? rows + 1 - at : BLOCK;
        load(curves, at, n);
        thin(curves, n);
    }
    run->n = curves->kept > 0 ? curves->kept - 1 : 0;
    free(curves);
    return 0;
}

int cli_page_run_curves(const struct page_source *source, int account, const char *name, bool drawn,
                        struct page_run *ret)
{
    struct page_run run = {.source = source,
                           .account = account,
                           .spec = &source->config->accounts[account],
                           .result = &source->backtest->accounts[account],
                           .report = &source->reports[account]};
    snprintf(run.name, sizeof run.name, "%s", name);
    int r = make(&run, drawn ? source->backtest->to - source->backtest->from : 0);
    if (r < 0)
        cli_page_run_finish(&run);
    else
        *ret = run;
    return r;
}
