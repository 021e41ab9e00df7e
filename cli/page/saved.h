/* A backtest that --save kept in a state directory, as it was when it ran: accounts, equity, fills, orders
 * and trades, on the bars that it saved. Its figures are those of its --json, except what was not saved: the
 * slippage, and which benchmark it had, for which the first symbol stands. */
#ifndef CLI_PAGE_SAVED_H
#define CLI_PAGE_SAVED_H

#include "cli/page/run.h"

struct page_saved {
    struct market *market; /* owned, as all below */
    struct account_spec *accounts;
    struct backtest backtest;
    struct backtest_report *reports;
    struct backtest_config config;
    struct report_config options;
    char benchmark[SYMBOL_NAME_MAX];
    struct page_source source; /* of these */
};

/* EXIT_OK with *ret, for cli_page_saved_finish(), which must not move; else a status with its line on stderr:
 * also for a state directory that is no saved backtest. */
int cli_page_saved_load(const char *verb, const char *path, struct page_saved *ret);
void cli_page_saved_finish(struct page_saved *saved); /* fine on a zeroed one */

#endif
