/* The daemon's configuration: an INI file over defaults. Keys left out keep their defaults, so a file with
 * `[market]` `symbols = BTCUSDT` alone is whole, and so is none. papertaped.ini(5) has every key.
 */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "daemon/alert_keys.h"
#include "daemon/anchor_config.h"
#include "daemon/notify/sink.h"
#include "engine/account.h"
#include "engine/engine.h"
#include "engine/universe.h"
#include "exchange/fees.h"
#include "exchange/market_kind.h"
#include "exchange/symbol.h"
#include "exchange/trading_calendar.h"
#include "exchange/venue.h"
#include "strategy/params.h"
#include "strategy/policy/limits.h"
#include "strategy/risk.h"
#include "trainer/study/gate.h"

enum {
    CONFIG_URL_MAX = 256,
    CONFIG_PAPER_URL_MAX = 128,
    CONFIG_PATH_MAX = 1024,
    CONFIG_FILE_MAX = 256,
    CONFIG_SOCKET_MAX = 108, /* struct sockaddr_un's path */
    CONFIG_LISTEN_MAX = 64,
    CONFIG_WORDS_MAX = 128,
    CONFIG_ERROR_MAX = 512,
    CONFIG_ERRORS_MAX = 8192, /* of a whole file */
    CONFIG_SPECS_MAX = 32,
    CONFIG_SPEC_TEXT_MAX = 96,
    CONFIG_SPECS_TEXT_MAX = CONFIG_SPECS_MAX * CONFIG_SPEC_TEXT_MAX,
    CONFIG_SPEC_OUTPUTS_MAX = 64, /* of all specs together */
    CONFIG_TIMEFRAMES_MAX = 8,
    CONFIG_VENUES_MAX = 8,
    CONFIG_SETTINGS_MAX = 8, /* of a venue's own options */
    CONFIG_SETTING_MAX = 128,
};

#define CONFIG_OWN_RISK "risk." /* before a limit of [risk], in [account NAME] */

enum daemon_config_inference { INFERENCE_CPU, INFERENCE_GPU };
enum daemon_config_clock { CLOCK_WALL, CLOCK_FEED };

/* A group of the system, by the name that the file gives. */
struct daemon_config_group {
    char name[32];
    gid_t gid;
    bool known; /* there is such a group */
};

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct account_config {
    char name[ACCOUNT_NAME_MAX];
    char currency[ASSET_NAME_MAX];
    char cash[32];         /* decimal text: its scale is the venue's, known only once it answers */
    struct fee_rates fees; /* without a tier */
    bool own_rates;        /* a rate was given: then no tier may be */
    struct fee_rates crypto_fees, us_equity_fees; /* of symbols of that class */
    bool own_class_rates[ASSET_CLASSES];          /* one of the class's was given: it wins over a tier */
    char fee_tier[16];                            /* the venue's, whose rates hold; "": none */
    enum session_choice session;
    bool shorts;
    int32_t collateral_e4, maintenance_e4, borrow_rate_e6; /* as in struct account_rules */
    enum margin_kind margin;                               /* and these */
    enum day_trader_rule day_trader;
    enum settlement_rule settlement;
    char fee_tiers[FEE_TIERS_TEXT_MAX]; /* in place of fees: a tier and rates of its own may not be */
    bool regulatory_fees;
    int32_t withholding_e6;
    struct risk_limits risk;         /* those that own_risk names; the others are [risk]'s */
    unsigned own_risk;               /* 1 << i: risk_keys[i] */
    const struct strategy *strategy; /* NULL: "none", orders by hand only */
    bool own_strategy;               /* it was given: then no policy may be */
    double params[STRATEGY_PARAMS_MAX];
    /* A policy's files; "": none; a trained one has no actions. Its capital and its fees hold where no cash,
     * no rate is given. */
    char policy[CONFIG_FILE_MAX], actions[CONFIG_FILE_MAX];
    bool own_cash;
    double backtest_sharpe; /* annualised, which its live one is compared with; 0: none */
    /* Of EXECUTION_VENUE_PAPER: the account at its venue. */
    enum execution execution;
    char execution_venue[VENUE_NAME_MAX];          /* "": the only one */
    char execution_keys[CONFIG_FILE_MAX];          /* a credential's name, or a file's path */
    char execution_rest_url[CONFIG_PAPER_URL_MAX]; /* "": the venue's paper host */
    char execution_ws_url[CONFIG_PAPER_URL_MAX];   /* likewise */
    int64_t execution_reconcile_ns;
};

/* [market] for the first, [venue NAME] for the others, and for what [market] has no key for. */
struct daemon_config_venue {
    const struct venue *venue;
    bool streams[MARKET_CHANNELS];                         /* what is subscribed, where … */
    bool own_streams;                                      /* … it says so; else as [market] */
    char ws_url[CONFIG_URL_MAX], rest_url[CONFIG_URL_MAX]; /* "": the venue's own */
    char keys[CONFIG_PATH_MAX]; /* a credential's name, or a file's path; "": none */
    bool extended_hours;        /* traded in before and after the session */
    char settings[CONFIG_SETTINGS_MAX][CONFIG_SETTING_MAX]; /* of venue->options, in their order */
};

struct daemon_config {
    /* [market] and [venue NAME] */
    struct daemon_config_venue venues[CONFIG_VENUES_MAX];
    int n_venues; /* at least one: [market]'s */
    char symbols[SYMBOLS_MAX][SYMBOL_NAME_MAX];
    uint8_t symbol_venues[SYMBOLS_MAX]; /* whose each is; going up */
    int n_symbols;
    int64_t interval_ns;
    int history;        /* bars fetched before the stream starts, 0..1000 */
    int64_t history_ns; /* so far back they are fetched, the older ones beside it; 0: those alone */
    char ca_file[CONFIG_PATH_MAX];    /* "": the system's trust store */
    char columns[CONFIG_PATH_MAX];    /* files of external columns, with commas; "": none */
    char universe[UNIVERSE_TEXT_MAX]; /* a rule of engine/universe.h; "": every symbol is in */
    /* [feed] */
    int64_t stale_ms;       /* price data older than this is stale: no order is filled from it */
    int64_t stale_trade_ms; /* trades may be rarer */
    int64_t silence_ms;     /* a connection all of which is silent for so long is replaced */
    int64_t refused_ms;     /* until a stream that the plan has not is tried again */
    int64_t refresh_ms;     /* between two readings of what the venues list; 0: only at the start */
    /* [engine] */
    enum daemon_config_clock clock;
    int64_t latency_ns, equity_interval_ns;
    enum missed_stops missed_stops;
    enum fill_model fill_model;
    enum fill_beyond beyond;
    int32_t slippage_e6;
    int64_t strategy_limit_ns;     /* of a call of an outside strategy */
    char plugins[CONFIG_PATH_MAX]; /* where lib:NAME is NAME.so; "": the folder that it is built for */
    /* [policies] */
    int64_t policy_wait_ns;
    enum daemon_config_inference inference;
    int32_t policy_device_wait_ms;
    /* [arena] */
    struct gate_limits arena_gates;
    int arena_challengers_max;         /* 0: no proposal is admitted */
    int arena_champion_days;           /* that a challenger and what it is compared with must have had */
    double arena_alpha;                /* 0: crowned by command only */
    int64_t arena_expires_ns;          /* 0: never, where the proposal says nothing */
    struct policy_limits arena_limits; /* of a policy that is promoted, where it names none */
    /* [risk] */
    struct risk_limits risk;
    /* [storage] */
    int commit_delay_ms;
    /* [events] */
    int32_t events_keep_days, events_keep_mb;      /* 0: no bound */
    int32_t alerts_days, commands_days, bars_days; /* of [retention]; 0: no bound */
    int32_t events_segment_mb, events_level;
    bool events_sync;
    struct anchor_config ledger; /* [ledger] */
    /* [parity] */
    int parity_minute; /* of the UTC day; -1: off */
    /* [indicators] */
    char specs[CONFIG_SPECS_TEXT_MAX];         /* as config_specs.h has them; "": no indicators are kept */
    int64_t timeframes[CONFIG_TIMEFRAMES_MAX]; /* going up */
    int n_timeframes;                          /* 0: daemon_config_timeframes() chooses */
    int64_t device_retry_ms;                   /* after a GPU has failed; 0: it is not tried again */
    /* [gpu] */
    int64_t gpu_sample_ms;
    /* [trainer] */
    bool trainer_start;                     /* the daemon starts the co-process where none listens */
    char trainer_socket[CONFIG_SOCKET_MAX]; /* "": trainer.sock in the state directory */
    int64_t trainer_memory_mib, trainer_worker_memory_mib; /* 0: the co-process's own defaults */
    int trainer_cpu_slots;                                 /* 0: likewise */
    char trainer_devices[CONFIG_WORDS_MAX];                /* "": all */
    char trainer_outputs[CONFIG_PATH_MAX];                 /* "": the state directory alone */
    /* [alerts] */
    struct alert_limits alerts;
    struct notify_config notify; /* the sinks of alerts */
    /* [metrics] */
    char metrics_socket[CONFIG_SOCKET_MAX]; /* a name in the control socket's folder, or a path; "": none */
    char metrics_listen[CONFIG_LISTEN_MAX]; /* a loopback's address and port; "": none */
    /* [log] */
    struct daemon_config_group operators, readers; /* of the control sockets */
    enum log_level log_level;
    /* --record alone */
    char record_dir[CONFIG_PATH_MAX]; /* "": nothing is recorded except the event log */
    /* [account NAME], one section an account; without any, one called "main" */
    struct account_config accounts[ACCOUNTS_MAX];
    int n_accounts;
};

/* The defaults: the default venue's public market data, BTCUSDT and ETHUSDT, 1m bars, one account with 10,000
 * USDT. */
void daemon_config_defaults(struct daemon_config *config);

/* Reads `path` over the defaults. 0; -errno when it cannot be read; -ETIMEDOUT: all that is wrong is that
 * processes of strategies did not answer in time; else -EINVAL. On failure *ret is untouched and
 * `errors` has a line for everything that is wrong, in the file's order: file, line, key, what would be right
 * (the nearest key for an unknown one). */
int daemon_config_read(const char *path, struct daemon_config *ret, char errors[static CONFIG_ERRORS_MAX]);

/* Sets one key as a line of the file would; `section` may be "account main". Same errors, without file and
 * line. */
int daemon_config_set(struct daemon_config *config, const char *section, const char *key, const char *value,
                      char error[static CONFIG_ERROR_MAX]);

/* Checks what single keys cannot: names twice, the account's strategy parameters against each other, …: the
 * first that is wrong. */
int daemon_config_check(const struct daemon_config *config, char error[static CONFIG_ERROR_MAX]);

/* Puts "FILE:LINE: " before an error "[SECTION] KEY: …", where the file has that key. Other texts, and all
 * texts without a file (path NULL), stay as they are. For errors that are found after daemon_config_read().
 */
void daemon_config_place(const char *path, const char *words, char *ret, size_t size);

/* The line that has that key of a section, or that section's heading; 0: neither, or the file cannot be
 * read. */
int daemon_config_line(const char *path, const char *section, const char *key);

/* Writes the whole configuration as an INI file that daemon_config_read() reads back to the same. */
void daemon_config_print(const struct daemon_config *config, FILE *to);

/* Can the programs and the secrets that the sinks of alerts name be used? A credential that this process is
 * not given is not looked at. 0, or -errno with one line that begins with "[alerts] KEY: ". */
struct db_sign_key;
/* [ledger]: what it names, in --check-config's manner; and its key, read: 0, or -errno with err. */
int daemon_config_ledger_files(const struct daemon_config *config, char error[static CONFIG_ERROR_MAX]);
int daemon_config_ledger_key(const char *name, struct db_sign_key **ret, char *err, size_t err_size);
int daemon_config_sinks_files(const struct daemon_config *config, char error[static CONFIG_ERROR_MAX]);

/* A value as the log and answers show it: of a webhook's URL without its path, which may be a secret. Returns
 * value, or buf. */
const char *daemon_config_shown(const char *section, const char *key, const char *value, char *buf,
                                size_t size);

/* Does one of its venues trade in extended hours? */
bool daemon_config_extended(const struct daemon_config *config);

/* The subscribed streams of a venue: its own list, or [market]'s. */
const bool *daemon_config_streams(const struct daemon_config *config,
                                  const struct daemon_config_venue *venue);

/* A venue that has such a tier: its rates; NULL. */
const struct fee_tier *daemon_config_fee_tier(const struct daemon_config *config, const char *name);

/* Was a rate of some class given? */
bool daemon_config_own_class_rates(const struct account_config *account);

/* The Sharpe ratio that an account's is compared with; 0: none, or there is no such account. */
double daemon_config_backtest_sharpe(const struct daemon_config *config, const char *account);

/* What the account may do and what it costs, with [risk]'s limits where it sets none of its own. */
struct account_rules daemon_config_rules(const struct daemon_config *config,
                                         const struct account_config *account);

/* Do its limits of exposure refuse each order by which its strategy opens a position, because every one is
 * for more than such a limit? Then one line "[account NAME] strategy.KEY = …" with both keys and what would
 * be right; else *ret is untouched. */
bool daemon_config_refuses_entries(const struct daemon_config *config, const struct account_config *account,
                                   char ret[static CONFIG_ERROR_MAX]);

/* Where the orders of an account with EXECUTION_VENUE_PAPER are sent: the place of its venue among
 * config->venues; -1: of a configuration that is not right. */
int daemon_config_execution_venue(const struct daemon_config *config, const struct account_config *account);
/* An account's execution never changes. Is the one that it has configured? False after one sentence. */
bool daemon_config_execution_kept(const struct account_config *account, enum execution has, char *err,
                                  size_t err_size);

/* The timeframes that indicators are kept for, going up: those of [indicators], or the market's interval and
 * what it divides of 5m, 15m, 1h, 4h and 1d. Returns how many. */
int daemon_config_timeframes(const struct daemon_config *config,
                             int64_t ret_ns[static CONFIG_TIMEFRAMES_MAX]);

#endif
