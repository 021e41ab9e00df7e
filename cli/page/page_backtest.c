/* The page of a backtest that has just run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/backtest_result.h"
#include "cli/page/charts.h"
#include "cli/page/page.h"
#include "exchange/exit_status.h"

int cli_backtest_runs(const struct backtest_result *result, struct page_source *source, struct page_run **ret)
{
    const int n = result->backtest->n_accounts;
    struct page_run *runs = calloc((size_t)n, sizeof *runs);
    int r = runs ? 0 : -ENOMEM;
    *source = (struct page_source){.config = result->config,
                                   .backtest = result->backtest,
                                   .reports = result->reports,
                                   .options = result->options,
                                   .benchmark = result->benchmark};
    for (int a = 0; a < n && r == 0; a++)
        r = cli_page_run_make(source, a, result->accounts[a].name, &runs[a]);
    if (r < 0) {
        cli_backtest_runs_finish(runs, n);
        return cli_backtest_fail(EXIT_ERROR, "", strerror(-r));
    }
    *ret = runs;
    return EXIT_OK;
}

void cli_backtest_runs_finish(struct page_run *runs, int n)
{
    for (int a = 0; runs && a < n; a++)
        cli_page_run_finish(&runs[a]);
    free(runs);
}

int cli_backtest_page(const struct backtest_result *result, FILE *out)
{
    struct page_source source;
    struct page_run *runs;
    int status = cli_backtest_runs(result, &source, &runs);
    if (status != EXIT_OK)
        return status;
    int r = cli_page_backtest(runs, (size_t)result->backtest->n_accounts, out);
    cli_backtest_runs_finish(runs, result->backtest->n_accounts);
    return r < 0 ? cli_backtest_fail(EXIT_ERROR, "--report", strerror(-r)) : EXIT_OK;
}

int cli_backtest_chart(const struct backtest_result *result)
{
    struct page_source source;
    struct page_run *runs;
    int status = cli_backtest_runs(result, &source, &runs);
    if (status != EXIT_OK)
        return status;
    int r = 0;
    for (int a = 0; a < result->backtest->n_accounts && r == 0; a++)
        r = tui_run_chart(&runs[a], tui_run_chart_width(), stdout);
    cli_backtest_runs_finish(runs, result->backtest->n_accounts);
    return r < 0 ? cli_backtest_fail(EXIT_ERROR, "--chart", strerror(-r)) : EXIT_OK;
}
