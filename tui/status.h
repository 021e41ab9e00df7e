/* The daemon's status object (docs/control.md) as plain values. A figure that is absent, null or of another
 * type is NaN (real numbers) or -1 (ages, counts); texts are cleaned of what could steer a terminal. */
#ifndef TUI_STATUS_H
#define TUI_STATUS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/account.h"
#include "exchange/symbol.h"

enum {
    STATUS_WORD_MAX = 24,
    STATUS_TEXT_MAX = 160,
    STATUS_SOURCES_MAX = 32, /* tables of a database that was built again */
    STATUS_SYMBOLS_MAX = 64, /* shown; the daemon may stream more */
    STATUS_STREAMS_MAX = 256,
    STATUS_VENUES_MAX = 16,
    STATUS_INDICATORS_MAX = 8,
    STATUS_ACCOUNTS_MAX = 32,
    STATUS_POSITIONS_MAX = 128,
    STATUS_ORDERS_MAX = 128,
    STATUS_REFUSALS_MAX = 16,
    STATUS_DEVICES_MAX = 8,
    STATUS_TRAININGS_MAX = 64, /* those that do not fit: see trainings_total */
    STATUS_POLICIES_MAX = 64,
    STATUS_ACTIONS_MAX = 16,
    STATUS_TRAINING_NAME_MAX = 64,
    STATUS_FILE_MAX = 512,
};

struct status_feed {
    char state[STATUS_WORD_MAX], venue[STATUS_WORD_MAX], url[STATUS_TEXT_MAX], detail[STATUS_TEXT_MAX];
    int64_t age_ms, retry_in_ms, connects, frames, bytes, bad_frames;
};

struct status_stream {
    char venue[VENUE_NAME_MAX], symbol[SYMBOL_NAME_MAX], stream[STATUS_WORD_MAX], state[STATUS_WORD_MAX];
    int64_t age_ms, limit_ms, frames;
    double per_second, latency_p50_ms, latency_p99_ms;
    bool stale;
    bool excused; /* its silence is none of its: a quiet market by REST, or a closed one */
};

struct status_venue {
    char venue[VENUE_NAME_MAX], state[STATUS_WORD_MAX], detail[STATUS_TEXT_MAX], url[STATUS_TEXT_MAX];
    char market[STATUS_WORD_MAX]; /* "always", or the phase of its calendar */
    int64_t market_next_ns;       /* when that changes; -1: not known */
    int64_t market_open_ns;       /* when its next session opens, or this one did; -1: not known */
    bool market_half;             /* today's session is a short one */
    int64_t age_ms, retry_in_ms, connections, up, connects, renewals, budget, budget_used;
    int64_t frames, bad_frames, symbols, weight_used, weight_limit, banned_until_ns;
    double per_second, latency_p50_ms, latency_p99_ms, clock_offset_ms;
};

struct status_indicator {
    char name[40];
    double value;
};

struct status_symbol {
    char symbol[SYMBOL_NAME_MAX], book[STATUS_WORD_MAX], interval[STATUS_WORD_MAX];
    char venue[VENUE_NAME_MAX];
    char market[STATUS_WORD_MAX];  /* as its venue's; "" from an older daemon */
    char trading[STATUS_WORD_MAX]; /* "trades", "halted", "ended"; likewise */
    double last, bid, ask, mark, change_24h_pct;
    int64_t age_ms, limit_ms; /* limit: of its quickest price stream; -1 when none is named */
    bool stale;
    int price_decimals;
    int64_t book_gaps, bars;
    int64_t bar_open_ms;
    double bar_open, bar_high, bar_low, bar_close, bar_volume;
    struct status_indicator indicators[STATUS_INDICATORS_MAX];
    int n_indicators;
};

struct status_account {
    char account[ACCOUNT_NAME_MAX], currency[ASSET_NAME_MAX], strategy[STATUS_WORD_MAX * 2];
    double cash, equity, deposits, return_pct, drawdown_pct, realized, fees, day_pnl;
    double short_value, interest_owed; /* what buying its shorts back would cost; what was not paid yet */
    bool shorts;                       /* it may go short */
    bool killed;                       /* by its drawdown: it opens nothing until it is resumed */
};

struct status_position {
    char account[ACCOUNT_NAME_MAX], symbol[SYMBOL_NAME_MAX], side[8];
    double qty, entry, fifo_entry, mark, upnl, stop; /* qty: negative for a short */
    int64_t age_ms;
    int qty_decimals;
};

struct status_order {
    int64_t order;
    char account[ACCOUNT_NAME_MAX], symbol[SYMBOL_NAME_MAX], side[8], type[STATUS_WORD_MAX],
        state[STATUS_WORD_MAX], tif[8], tag[STATUS_WORD_MAX * 2];
    double qty, filled, price, stop;
    double trail, trail_pct; /* a trailing stop's distance: one of them */
    int64_t group, parent;   /* -1: none */
    bool triggered;
};

/* The event log. */
struct status_log {
    char state[STATUS_WORD_MAX], detail[STATUS_TEXT_MAX]; /* "ok", "failing"; "": not known */
    int64_t seq, bytes, holes;                            /* the newest event on the disk; of all segments */
    double bytes_per_event;
};

/* How the run began. */
struct status_recovery {
    char from[STATUS_WORD_MAX]; /* "log", "database", "nothing"; "": not known */
    int64_t played, crossed;    /* events; orders that bars crossed meanwhile */
    double elapsed_ms, away_s;
};

/* The last comparison of the ledger with a replay of the event log. */
struct status_parity {
    char state[STATUS_WORD_MAX],
        detail[STATUS_TEXT_MAX]; /* "ok", "failed", "running", "none"; "": not known */
    int64_t days;                /* of log that agree; -1 */
    int64_t checked_ns;          /* -1: never */
};

struct status_refusal {
    char reason[40];
    int64_t count;
};

struct status_device {
    char name[STATUS_WORD_MAX * 2];
    double util_pct, mem_used_mib, mem_total_mib, power_w, power_limit_w, clock_mhz, temp_c;
};

/* A training as the daemon knows of it: docs/serve.md has the states. */
struct status_training {
    char training[STATUS_TRAINING_NAME_MAX], state[STATUS_WORD_MAX], reason[STATUS_TEXT_MAX],
        cause[STATUS_WORD_MAX];
    char device[STATUS_WORD_MAX], backend[STATUS_WORD_MAX * 2], policy[STATUS_FILE_MAX];
    char study[STATUS_TRAINING_NAME_MAX]; /* the run's name in studies.db; "": it is none, or not known */
    int64_t priority, steps, total_steps, iteration, attempts, restarts;
    int64_t retry_in_ms, started_ns, ended_ns, age_ms, expected_ms, checkpoint_steps,
        due_ns; /* of a scheduled study's next run; -1: none, not known */
    double steps_s, episode_return, memory_mib, memory_limit_mib, device_mib, cpu_s, utilisation,
        cpu_utilisation;
    bool stale, stopping;
};

/* The co-process. */
struct status_trainer {
    char state[STATUS_WORD_MAX], detail[STATUS_TEXT_MAX], version[STATUS_WORD_MAX]; /* state "": not known */
    int64_t pid, age_ms;
};

/* A policy of the arena: docs/policies.md. */
struct status_policy {
    char policy[STATUS_TRAINING_NAME_MAX], role[STATUS_WORD_MAX], account[ACCOUNT_NAME_MAX], id[80],
        training[STATUS_TRAINING_NAME_MAX], reason[STATUS_TEXT_MAX], state[STATUS_WORD_MAX],
        detail[STATUS_TEXT_MAX], backend[STATUS_WORD_MAX * 2], interval[STATUS_WORD_MAX];
    int64_t since_ns, trades, decided_ns; /* -1: not known */
    int64_t expires_ns;                   /* -1: never, or not known */
    double equity, return_pct, sharpe;
    struct {
        char against[STATUS_TRAINING_NAME_MAX]; /* a policy, or "cash"; "": no evidence is reckoned */
        int64_t days, days_needed;
        double value, value_needed; /* the test's; needed NAN: nobody is crowned but by command */
    } evidence;
    struct {
        char symbol[SYMBOL_NAME_MAX];
        double action;
    } actions[STATUS_ACTIONS_MAX];
    int n_actions;
};

/* When the database was last built again, and where the rows of each table are from. */
struct status_rebuilt {
    int64_t ts_ns, whole_from; /* ts_ns 0: never */
    bool lost;
    char why[STATUS_TEXT_MAX], aside[STATUS_TEXT_MAX];
    int n_sources;
    struct {
        char table[STATUS_WORD_MAX], source[STATUS_TEXT_MAX];
    } sources[STATUS_SOURCES_MAX];
};

struct status {
    char version[STATUS_WORD_MAX], clock[STATUS_WORD_MAX], state_dir[STATUS_TEXT_MAX];
    char trading[STATUS_WORD_MAX], trading_reason[STATUS_TEXT_MAX];
    int64_t pid, now_ns;
    double uptime_s;
    bool saved; /* of a saved backtest: nothing newer comes, and nothing in it grows old */
    bool begun; /* false: the daemon does not know yet what it holds; no symbol, account, position or order */
    struct status_feed feed;
    struct status_stream streams[STATUS_STREAMS_MAX];
    struct status_venue venues[STATUS_VENUES_MAX];
    struct status_symbol symbols[STATUS_SYMBOLS_MAX];
    struct status_account accounts[STATUS_ACCOUNTS_MAX];
    struct status_position positions[STATUS_POSITIONS_MAX];
    struct status_order orders[STATUS_ORDERS_MAX];
    struct status_refusal refusals[STATUS_REFUSALS_MAX];
    struct status_device devices[STATUS_DEVICES_MAX];
    int n_streams, n_venues, n_symbols, n_accounts, n_positions, n_orders, n_refusals, n_devices;
    int64_t count_orders, count_fills, count_rejected, alerts_open;
    char gpu_state[STATUS_WORD_MAX], gpu_reason[STATUS_TEXT_MAX];
    char compute_backend[STATUS_WORD_MAX], compute_reason[STATUS_TEXT_MAX];
    char compute_device[STATUS_WORD_MAX * 2]; /* "" for none */
    int64_t compute_updates, compute_queue;   /* closed bars that indicators took; that wait */
    char db_state[STATUS_WORD_MAX], db_detail[STATUS_TEXT_MAX];
    struct status_rebuilt rebuilt;
    int64_t db_commits, db_rows, db_queue;
    double commit_p50_ms, commit_p99_ms;
    struct status_trainer trainer;
    struct status_training trainings[STATUS_TRAININGS_MAX];
    struct status_policy policies[STATUS_POLICIES_MAX];
    int n_trainings, n_policies;
    int64_t trainings_total, policies_total; /* that there are, those beyond the lists among them */
    char champion_account[ACCOUNT_NAME_MAX], champion_policy[STATUS_TRAINING_NAME_MAX]; /* "" for none */
    struct status_parity parity;
    struct status_log log;
    struct status_recovery recovery;
};

/* A status of which nothing is known. */
void tui_status_init(struct status *status);

/* Reads the object. 0; -EPROTO when it is not a status of a schema that is understood. */
int tui_status_parse(const json_t *object, struct status *ret);

#endif
