/* The verbs, one file each. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include <stdint.h>

#include "record/option.h"

/* The verbs of papertape, in the order of the alphabet; those that show what the dashboard's model has are
 * tui's. */
#define CLI_VERBS(X) \
    X(cli_account) \
    X(cli_actions) \
    X(tui_alerts) \
    X(cli_backtest) \
    X(cli_backup) \
    X(cli_bars) \
    X(cli_book) \
    X(cli_commands) \
    X(cli_compare) \
    X(cli_doctor) \
    X(cli_equity) \
    X(cli_events) \
    X(cli_explain) \
    X(cli_export) \
    X(cli_fee_rates) \
    X(cli_fees) \
    X(cli_fetch) \
    X(cli_fills) \
    X(cli_flatten) \
    X(cli_gains) \
    X(cli_gpu) \
    X(cli_indicators) \
    X(cli_ledger) \
    X(cli_lookahead) \
    X(cli_order) \
    X(cli_orders) \
    X(cli_parity) \
    X(cli_pause) \
    X(cli_policy) \
    X(cli_positions) \
    X(cli_rank) \
    X(cli_receivables) \
    X(cli_reload) \
    X(cli_report) \
    X(cli_restore) \
    X(cli_resume) \
    X(cli_revisions) \
    X(cli_statement) \
    X(tui_status) \
    X(cli_strategy) \
    X(tui_study) \
    X(cli_sweep) \
    X(cli_symbol) \
    X(cli_train) \
    X(cli_venues) \
    X(cli_warmup) \
    X(cli_what_if)

#define CLI_LISTED(verb) CLI_LISTED_##verb,
enum { CLI_VERBS(CLI_LISTED) CLI_VERB_ROWS };
#define CLI_DECLARED(verb) extern const struct option_verb verb;
CLI_VERBS(CLI_DECLARED)

/* Starts a verb's row: a verb that is not in the list does not build. */
#define CLI_VERB(verb) \
    _Static_assert(CLI_LISTED_##verb < CLI_VERB_ROWS, #verb); \
    const struct option_verb verb

/* Lists in files of their own. */
int cli_account_list(struct option_call *call);
int cli_fills_compare(const struct option_call *call, int64_t from_ns, int64_t to_ns); /* --compare */
int cli_policy_list(struct option_call *call);
int cli_train_list(struct option_call *call);

/* --state, --json, --csv, --help and --version: options of every verb. */
enum { CLI_GLOBALS = 5 };
extern const struct option_row cli_globals[CLI_GLOBALS];

/* Prints a line that may contain the user's input on stderr, without characters that could control a
 * terminal. */
void cli_say(const char *line);

/* Offers the names that a kind of argument can have (option.h): of the state SYMBOL, ACCOUNT, TRAINING,
 * POLICY, STUDY; of the program CHECK, STRATEGY and its KEY, LIMIT of --risk, METRIC, TIER, VENUE. */
void cli_names(const char *kind, const struct option_call *call, void *ctx,
               void (*offer)(void *ctx, const char *name));
/* Those of the program alone, without reading a state; false: the kind is of the state, or of none. */
bool cli_names_known(const char *kind, const struct option_call *call, void *ctx,
                     void (*offer)(void *ctx, const char *name));

#endif
