/* Bars and accounts of a daemon's database, for the verbs that run strategies on bars. */
#ifndef CLI_STORED_BARS_H
#define CLI_STORED_BARS_H

#include "cli/run_args.h"
#include "db/state.h"

/* The venue's bars of --symbol, or of all symbols that have some, of --interval, or of the shortest that is
 * stored; where one has a calendar, by --calendar, or the table of that. EXIT_OK with *ret for
 * market_store_close(), or another status with its line on stderr. */
int cli_stored_bars_load(struct run_args *args, const char *database, struct market **ret,
                         struct market_load *load);

/* An account as the daemon runs it: strategy, parameters, rules, opening cash; since when; the engine's
 * latency and slippage, and [venue] extended_hours (0, 1), -1 where the daemon did not store them; and the
 * venue of the symbols whose class it says; "": there is none. */
struct stored_account {
    struct account_spec spec;
    bool saved; /* by a backtest, whose bars are all the account's */
    int64_t created_ns, latency_ns;
    int32_t slippage_e6;
    int extended_hours;
    char venue[VENUE_NAME_MAX];
};

/* The same statuses; without an account `spec` and created_ns are 0. */
int cli_stored_bars_settings(const char *verb, const char *database, struct stored_account *ret);
int cli_stored_bars_account(const char *verb, const char *database, const char *name,
                            struct stored_account *ret);

#endif
