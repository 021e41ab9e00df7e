/* The verbs that draw nothing, one file each. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "record/option.h"

extern const struct option_verb cli_account, cli_actions, cli_backtest, cli_bars, cli_book, cli_events,
    cli_explain, cli_fees, cli_fills, cli_flatten, cli_indicators, cli_ledger, cli_lookahead, cli_order,
    cli_orders, cli_parity, cli_pause, cli_policy, cli_positions, cli_resume, cli_revisions, cli_sweep,
    cli_symbol, cli_train, cli_venues, cli_warmup, cli_what_if;

/* Their lists that stand in files of their own. */
int cli_account_list(struct option_call *call);
int cli_policy_list(struct option_call *call);
int cli_train_list(struct option_call *call);

/* --state, --json, --csv, --help and --version: options of every verb. */
enum { CLI_GLOBALS = 5 };
extern const struct option_row cli_globals[CLI_GLOBALS];

/* Prints a line that may hold what the user typed on stderr, freed of what could steer a terminal. */
void cli_say(const char *line);

/* Offers the names that a kind of argument can have (option.h): SYMBOL, ACCOUNT, TRAINING, POLICY, STRATEGY.
 */
void cli_names(const char *kind, const struct option_call *call, void *ctx,
               void (*offer)(void *ctx, const char *name));

#endif
