/* A backtest that --save kept in a state directory, as it was when it ran: accounts, equity, fills, orders
 * and trades, on the bars that it saved. Its figures are those of its --json, except what was not saved: the
 * slippage, and which benchmark it had, for which the first symbol stands. */
#ifndef CLI_PAGE_SAVED_H
#define CLI_PAGE_SAVED_H

#include "cli/page/run.h"
#include "db/reader.h"

struct page_saved {
    struct market *market; /* owned, as all below */
    struct account_spec *accounts;
    struct backtest backtest;
    struct backtest_action *actions; /* by at_ns */
    size_t n_actions;
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

/* Of cli_page_saved_load(): reads the splits and dividends, and computes what each did to every account,
 * whose fills and rows of dividends are there. 0 or an error of db_reader_actions(); *ret_r: 0, -EBADMSG
 * where the rows contradict each other, or -ENOMEM. */
int cli_page_saved_actions(struct db_reader *reader, struct page_saved *saved, int *ret_r);

#endif
