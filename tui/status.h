/* The daemon's status object (docs/control.md) as plain values. A figure that is absent, null or of another
 * type is NaN (real numbers) or -1 (ages, counts); texts are cleaned of what could control a terminal. */
#ifndef TUI_STATUS_H
#define TUI_STATUS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/account.h"
#include "exchange/order.h"
#include "exchange/symbol.h"
#include "record/status.h"

enum {
    STATUS_WORD_MAX = 24,
    STATUS_TEXT_MAX = RECORD_BYTES_LINE,
    STATUS_SOURCES_MAX = 32, /* tables of a database that was built again */
    STATUS_STREAMS_MAX = 256,
    STATUS_VENUES_MAX = 16,
    STATUS_INDICATORS_MAX = 8,
    STATUS_ACCOUNTS_MAX = 256,
    STATUS_ORDERS_MAX = 256,
    STATUS_EXTERNALS_MAX = 64, /* of all accounts */
    STATUS_PRICE_ALERTS_MAX = 1024,
    STATUS_REFUSALS_MAX = 16,
    STATUS_TOTALS_MAX = 32, /* currencies */
    STATUS_DEVICES_MAX = 8,
    STATUS_ACTIONS_MAX = 16,
    STATUS_STUDY_TRAININGS_MAX = 64, /* that one command of a study acts on: its workers */
    STATUS_TRAINING_NAME_MAX = 64,
};

struct status_feed {
    RECORD_SHOWN(RECORD_SHOWN_FEED)
};

struct status_stream {
    RECORD_SHOWN(RECORD_SHOWN_STREAM)
    bool excused; /* its silence is not its fault: a quiet market by REST, or a closed one */
};

struct status_venue {
    RECORD_SHOWN(RECORD_SHOWN_VENUE)
};

struct status_indicator {
    char name[40];
    double value;
};

struct status_symbol {
    RECORD_SHOWN(RECORD_SHOWN_SYMBOL)
    RECORD_SHOWN(RECORD_SHOWN_BAR)
    int64_t limit_ms; /* of its fastest price stream; -1 when there is none */
    struct status_indicator indicators[STATUS_INDICATORS_MAX];
    int n_indicators;
};

/* Of an account whose orders are filled at its venue. */
struct status_venue_account {
    RECORD_SHOWN(RECORD_SHOWN_VENUE_ACCOUNT) /* venue "": they are filled here */
};
struct status_reconciled {
    RECORD_SHOWN(RECORD_SHOWN_RECONCILED) /* at_ns 0: never */
};

struct status_account {
    RECORD_SHOWN(RECORD_SHOWN_ACCOUNT)
    /* Of a saved backtest alone; NaN: not known. */
    double max_drawdown_pct; /* the deepest so far */
    double interest;         /* that it paid */
    struct status_venue_account there;
    struct status_reconciled reconciled;
};

/* An order that another program, or the venue's page, gave on an account's venue. */
struct status_external {
    RECORD_SHOWN(RECORD_SHOWN_EXTERNAL)
    char account[ACCOUNT_NAME_MAX];
};

struct status_position {
    RECORD_SHOWN(RECORD_SHOWN_POSITION)
};

struct status_order {
    RECORD_SHOWN(RECORD_SHOWN_ORDER)
    /* Of the history's alone. */
    int price_decimals, qty_decimals;
    int64_t created_ns; /* 0: not known */
    double average;     /* price of what is filled; NaN: none, or not known */
    char client_id[ORDER_CLIENT_ID_MAX];
};

/* A price that is waited for. */
struct status_price_alert {
    RECORD_SHOWN(RECORD_SHOWN_PRICE_ALERT)
};

struct status_log {
    RECORD_SHOWN(RECORD_SHOWN_LOG) /* state "": not known */
};

struct status_recovery {
    RECORD_SHOWN(RECORD_SHOWN_RECOVERY) /* from "": not known */
};

/* The last comparison of the ledger with a replay of the event log. */
struct status_parity {
    RECORD_SHOWN(RECORD_SHOWN_PARITY) /* state "": not known; days -1; checked_ns -1: never */
};

struct status_refusal {
    char reason[40];
    int64_t count;
};

struct status_device {
    RECORD_SHOWN(RECORD_SHOWN_DEVICE)
};

#define STATUS_TRAINING(TEXT, FIELD) RECORD_SHOWN_TRAINING(TEXT, FIELD, training)
struct status_training {
    RECORD_SHOWN(STATUS_TRAINING)
};

/* The co-process. */
struct status_trainer {
    RECORD_SHOWN(RECORD_SHOWN_TRAINER) /* state "": not known */
};

struct status_policy {
    RECORD_SHOWN(RECORD_SHOWN_POLICY)
    RECORD_SHOWN(RECORD_SHOWN_POLICY_NOW)
    struct status_evidence {
        RECORD_SHOWN(RECORD_SHOWN_EVIDENCE)
    } evidence; /* against "": there is none */
    struct {
        char symbol[SYMBOL_NAME_MAX];
        double action;
    } actions[STATUS_ACTIONS_MAX];
    int n_actions;
};

struct status_source {
    RECORD_SHOWN(RECORD_SHOWN_SOURCE)
};

struct status_total {
    RECORD_SHOWN(RECORD_SHOWN_TOTAL)
};

/* The lists, which have memory for the rows that there are. */
enum status_list {
    STATUS_STREAMS,
    STATUS_VENUES,
    STATUS_SYMBOLS,
    STATUS_ACCOUNTS,
    STATUS_TOTALS,
    STATUS_POSITIONS,
    STATUS_ORDERS,
    STATUS_EXTERNALS,
    STATUS_PRICE_ALERTS,
    STATUS_DEVICES,
    STATUS_SOURCES, /* of `rebuilt` */
    STATUS_TRAININGS,
    STATUS_POLICIES,
    STATUS_LISTS,
};

struct status {
    RECORD_SHOWN(RECORD_SHOWN_WHOLE)
    bool saved; /* of a saved backtest: nothing newer comes, and nothing in it becomes stale */
    bool
        started; /* false: the daemon does not know its holdings yet; no symbol, account, position or order */
    struct status_feed feed;
    struct status_stream *streams; /* [n_streams]; this and the other lists without a length are owned */
    struct status_venue *venues;
    struct status_symbol *symbols;
    struct status_account *accounts;
    struct status_total *totals; /* the first account's currency first */
    struct status_position *positions;
    struct status_order *orders;
    struct status_external *externals;
    struct status_price_alert *price_alerts;
    struct status_refusal refusals[STATUS_REFUSALS_MAX];
    struct status_device *devices;
    int n_streams, n_venues, n_symbols, n_accounts, n_positions, n_orders, n_refusals, n_devices;
    int n_externals, n_price_alerts, n_totals;
    int accounts_total, orders_total, externals_total, price_alerts_total; /* with those that do not fit */
    struct status_source *sources;
    int n_sources;
    int64_t alerts_open;
    struct status_counters {
        RECORD_SHOWN(RECORD_SHOWN_COUNTERS)
    } counters;
    struct status_gpu {
        RECORD_SHOWN(RECORD_SHOWN_GPU)
    } gpu;
    struct status_compute {
        RECORD_SHOWN(RECORD_SHOWN_COMPUTE)
        RECORD_SHOWN(RECORD_SHOWN_CHARTS)
    } compute;
    struct status_db {
        RECORD_SHOWN(RECORD_SHOWN_DB)
    } db;
    struct status_rebuilt {
        RECORD_SHOWN(RECORD_SHOWN_REBUILT) /* ts_ns -1: never */
    } rebuilt;
    struct status_trainer trainer;
    struct status_training *trainings; /* oldest first */
    struct status_policy *policies;
    int n_trainings, n_policies;
    int64_t trainings_total, policies_total; /* that there are, those that the daemon left out among them */
    int room[STATUS_LISTS];                  /* rows that the owned lists have memory for */
    struct status_champion {
        RECORD_SHOWN(RECORD_SHOWN_CHAMPION) /* "": there is none */
    } champion;
    struct status_parity parity;
    struct status_log log;
    struct status_recovery recovery;
};

/* A status of which nothing is known, and without memory; what `status` had is not looked at. */
void tui_status_init(struct status *status);

/* Frees what a status owns; it then knows nothing of those lists. Fine on a zeroed one. */
void tui_status_finish(struct status *status);

/* A further row of a list, zeroed, which is counted. NULL without memory, or where a list that has a most
 * of its rows (STATUS_ORDERS_MAX …) is full. Earlier rows may move. */
void *tui_status_add(struct status *status, enum status_list list);

/* A copy with lists of its own, for tui_status_finish(). False without memory: *ret is then unchanged. */
bool tui_status_copy(const struct status *from, struct status *ret);

/* Gives the rows of a list to another status, whose own are freed. */
void tui_status_move(struct status *from, struct status *to, enum status_list list);

enum { STATUS_AT_VENUE_MAX = 2 * RECORD_BYTES_LINE + 80 };

/* The nearest price of the symbol that is waited for above the last one, and below it, among the status's;
 * NaN: none. Returns how many are waited for. */
int tui_status_price_alerts(const struct status *status, const char *symbol, double *ret_above,
                            double *ret_below);

/* How an account's account at its venue is: "attached, user data up, 3 orders, compared 12s ago, ids
 * 0abc1234-ORDER" behind the venue's name, or why it is not; "": its orders are filled here. */
void tui_status_at_venue(const struct status_account *account, int64_t now_ns,
                         char ret[static STATUS_AT_VENUE_MAX]);

/* Reads the object, for tui_status_finish(). 0; -EPROTO when it is not a status of a schema that is
 * understood, and *ret is unchanged. Without memory rows are left out. */
int tui_status_parse(const json_t *object, struct status *ret);

#endif
