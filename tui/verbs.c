#include "tui/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "cli/account.h"
#include "cli/backtest.h"
#include "cli/bars.h"
#include "cli/book.h"
#include "cli/events.h"
#include "cli/explain.h"
#include "cli/fees.h"
#include "cli/fills.h"
#include "cli/indicators.h"
#include "cli/ledger.h"
#include "cli/lookahead.h"
#include "cli/order.h"
#include "cli/orders.h"
#include "cli/parity.h"
#include "cli/policy.h"
#include "cli/positions.h"
#include "cli/revisions.h"
#include "cli/sweep.h"
#include "cli/symbol.h"
#include "cli/trading.h"
#include "cli/train.h"
#include "cli/venues.h"
#include "cli/warmup.h"
#include "cli/what_if.h"
#include "exchange/nearest.h"
#include "tui/verb/alerts.h"
#include "tui/verb/status.h"
#include "tui/verb/study.h"

/* In the order of the alphabet. */
static const struct verb verbs[] = {
    {"account", "accounts: list, create, deposit, withdraw, transfer, reset, resume", cli_account},
    {"actions", "splits and dividends that took effect", cli_actions},
    {"alerts", "alerts: list, ack ID", tui_alerts},
    {"backtest", "strategies on bars, trades, or a recorded event log", cli_backtest},
    {"bars", "stored bars of a symbol, as CSV", cli_bars},
    {"book", "a symbol's order book now", cli_book},
    {"events", "the event log: list, verify, show, export, import", cli_events},
    {"explain", "why an order is what it is, recomputed from the log", cli_explain},
    {"fees", "what venues charge, by tier", cli_fees},
    {"fills", "every execution ever, as a table, CSV or JSON", cli_fills},
    {"flatten", "pause, cancel every order, close every position", cli_flatten},
    {"indicators", "indicators of a bars file, as CSV", cli_indicators},
    {"ledger", "verify: does everything add up? export: its rows", cli_ledger},
    {"lookahead", "does a strategy see the future? cut and changed bars", cli_lookahead},
    {"order", "paper orders by hand: buy, sell, oco, amend, cancel", cli_order},
    {"orders", "every order ever, refused ones too", cli_orders},
    {"parity", "does the log give what the database holds?", cli_parity},
    {"pause", "no new positions until resume", cli_pause},
    {"policy", "policies in the arena: list, show, promote, retire", cli_policy},
    {"positions", "what is held now", cli_positions},
    {"resume", "trade again", cli_resume},
    {"revisions", "corrected and cancelled trades, and late bars", cli_revisions},
    {"status", "the daemon's state, as text or JSON", tui_status},
    {"study", "studies: list, show: trials, importance, proposal", tui_study},
    {"sweep", "a strategy with every combination of parameters", cli_sweep},
    {"symbol", "what is streamed: list, add, remove", cli_symbol},
    {"train", "trainings: list, start, stop, resume, restart, check, log", cli_train},
    {"venues", "each venue's state and limits; streams: what it sends", cli_venues},
    {"warmup", "how much history does a strategy need?", cli_warmup},
    {"what-if", "a past moment again, with other parameters", cli_what_if},
};

enum { N_VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static int compare(const void *name, const void *verb)
{
    return strcmp(name, ((const struct verb *)verb)->name);
}

const struct verb *verbs_find(const char *name)
{
    return bsearch(name, verbs, N_VERBS, sizeof(verbs[0]), compare);
}

const struct verb *verbs_nearest(const char *name)
{
    const struct verb *nearest = NULL;
    size_t len = strlen(name);
    size_t best = len <= 4 ? 2 : 3; /* further away is another word */

    for (int i = 0; i < N_VERBS; i++) {
        size_t d = nearest_distance(name, verbs[i].name);
        if (d < best) {
            best = d;
            nearest = &verbs[i];
        }
    }
    return nearest;
}

void verbs_list(FILE *out)
{
    fputs("Verbs:\n", out);
    for (int i = 0; i < N_VERBS; i++)
        fprintf(out, "  %-12s %s\n", verbs[i].name, verbs[i].words);
}
