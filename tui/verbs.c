#include "tui/verbs.h"

#include "cli/verbs.h"
#include "tui/verb/verbs.h"

/* In the order of the alphabet. */
static const struct option_verb *const verbs[] = {
    &cli_account, &cli_actions,   &tui_alerts, &cli_backtest,  &cli_bars,    &cli_book,
    &cli_events,  &cli_explain,   &cli_fees,   &cli_fills,     &cli_flatten, &cli_indicators,
    &cli_ledger,  &cli_lookahead, &cli_order,  &cli_orders,    &cli_parity,  &cli_pause,
    &cli_policy,  &cli_positions, &cli_resume, &cli_revisions, &tui_status,  &tui_study,
    &cli_sweep,   &cli_symbol,    &cli_train,  &cli_venues,    &cli_warmup,  &cli_what_if};

const struct option_program tui_papertape = {
    .name = "papertape",
    .version = PAPERTAPE_VERSION,
    .bare = &tui_dashboard,
    .verbs = verbs,
    .n_verbs = sizeof verbs / sizeof *verbs,
    .global = cli_globals,
    .n_global = CLI_GLOBALS,
    .say = cli_say,
    .names = cli_names,
};
