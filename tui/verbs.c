#include "tui/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/nearest.h"
#include "tui/command/account.h"
#include "tui/command/alerts.h"
#include "tui/command/backtest.h"
#include "tui/command/bars.h"
#include "tui/command/book.h"
#include "tui/command/events.h"
#include "tui/command/explain.h"
#include "tui/command/fees.h"
#include "tui/command/fills.h"
#include "tui/command/indicators.h"
#include "tui/command/ledger.h"
#include "tui/command/lookahead.h"
#include "tui/command/order.h"
#include "tui/command/orders.h"
#include "tui/command/parity.h"
#include "tui/command/policy.h"
#include "tui/command/positions.h"
#include "tui/command/revisions.h"
#include "tui/command/status.h"
#include "tui/command/study.h"
#include "tui/command/sweep.h"
#include "tui/command/symbol.h"
#include "tui/command/trading.h"
#include "tui/command/train.h"
#include "tui/command/venues.h"
#include "tui/command/warmup.h"
#include "tui/command/what_if.h"

/* In the order of the alphabet. */
static const struct verb verbs[] = {
    {"account", "accounts: list, create, deposit, withdraw, transfer, reset, resume", command_account},
    {"actions", "splits and dividends that took effect", command_actions},
    {"alerts", "alerts: list, ack ID", command_alerts},
    {"backtest", "strategies on bars, trades, or a recorded event log", command_backtest},
    {"bars", "stored bars of a symbol, as CSV", command_bars},
    {"book", "a symbol's order book now", command_book},
    {"events", "the event log: list, verify, show, export, import", command_events},
    {"explain", "why an order is what it is, recomputed from the log", command_explain},
    {"fees", "what venues charge, by tier", command_fees},
    {"fills", "every execution ever, as a table, CSV or JSON", command_fills},
    {"flatten", "pause, cancel every order, close every position", command_flatten},
    {"indicators", "indicators of a bars file, as CSV", command_indicators},
    {"ledger", "verify: does everything add up? export: its rows", command_ledger},
    {"lookahead", "does a strategy see the future? cut and changed bars", command_lookahead},
    {"order", "paper orders by hand: buy, sell, oco, amend, cancel", command_order},
    {"orders", "every order ever, refused ones too", command_orders},
    {"parity", "does the log give what the database holds?", command_parity},
    {"pause", "no new positions until resume", command_pause},
    {"policy", "policies in the arena: list, show, promote, retire", command_policy},
    {"positions", "what is held now", command_positions},
    {"resume", "trade again", command_resume},
    {"revisions", "corrected and cancelled trades, and late bars", command_revisions},
    {"status", "the daemon's state, as text or JSON", command_status},
    {"study", "studies: list, show: trials, importance, proposal", command_study},
    {"sweep", "a strategy with every combination of parameters", command_sweep},
    {"symbol", "what is streamed: list, add, remove", command_symbol},
    {"train", "trainings: list, start, stop, resume, restart, check, log", command_train},
    {"venues", "each venue's state and limits; streams: what it sends", command_venues},
    {"warmup", "how much history does a strategy need?", command_warmup},
    {"what-if", "a past moment again, with other parameters", command_what_if},
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
