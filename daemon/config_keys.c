#include "daemon/config_keys.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_values.h"
#include "strategy/strategy.h"

enum { REASON = CONFIG_REASON_MAX };

int config_reason(char *to, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(to, size, format, args);
    va_end(args);
    for (char *c = to; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    return -EINVAL;
}

void config_print_double(double value, FILE *to)
{
    char text[32];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        bool plain = !strchr(text, 'e') || fabs(value) < 1e-4 || fabs(value) >= 1e15;
        if (plain && strtod(text, NULL) == value)
            break;
    }
    fputs(text, to);
}
/* --- an account's own limit: as the key of [risk] of that name, or empty for [risk]'s --- */

static const struct config_key *risk_key(const struct config_key *key, unsigned *ret_own);

static int parse_own_risk(const struct config_key *key, const char *text, void *base,
                          char reason[static REASON])
{
    struct account_config *account = base;
    struct config limits = {.risk = account->risk};
    unsigned own;
    const struct config_key *row = risk_key(key, &own);
    int e = text[0] ? row->parse(row, text, &limits, reason) : 0;
    if (e)
        return e;
    account->risk = limits.risk;
    account->own_risk = text[0] ? account->own_risk | own : account->own_risk & ~own;
    return 0;
}

static void print_own_risk(const struct config_key *key, const void *base, FILE *to)
{
    const struct account_config *account = base;
    struct config limits = {.risk = account->risk};
    unsigned own;
    const struct config_key *row = risk_key(key, &own);
    if (account->own_risk & own)
        row->print(row, &limits, to);
}
/* --- an account's own rates, which a tier excludes; empty beside a tier --- */

static int parse_fee(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    struct account_config *account = base;
    if (!text[0])
        return 0;
    if (account->fee_tier[0])
        return config_reason(reason, REASON, "fees = %s says it already: one of the two is needed",
                             account->fee_tier);
    int e = config_parse_i32(key, text, base, reason);
    account->own_rates |= e == 0;
    return e;
}

static void print_fee(const struct config_key *key, const void *base, FILE *to)
{
    const struct account_config *account = base;
    if (!account->fee_tier[0] && (!account->policy[0] || account->own_rates))
        config_print_i32(key, base, to);
}

/* --- an account's cash; empty beside a policy: what that was made for --- */

static int parse_own_cash(const struct config_key *key, const char *text, void *base,
                          char reason[static REASON])
{
    struct account_config *account = base;
    account->own_cash = text[0] != '\0';
    if (!text[0]) {
        account->cash[0] = '\0';
        return 0;
    }
    return config_parse_cash(key, text, base, reason);
}

static void print_own_cash(const struct config_key *key, const void *base, FILE *to)
{
    const struct account_config *account = base;
    if (!account->policy[0] || account->own_cash)
        config_print_text(key, base, to);
}

/* --- a policy, which trades instead of a strategy --- */

static int parse_policy(const struct config_key *key, const char *text, void *base,
                        char reason[static REASON])
{
    struct account_config *account = base;
    if (text[0] && account->own_strategy)
        return config_reason(reason, REASON, "strategy = %s trades already: one of the two is needed",
                             account->strategy->name);
    int e = config_parse_path(key, text, base, reason);
    if (e || !text[0])
        return e;
    account->strategy = NULL;
    return 0;
}

/* --- the table --- */

#define AT(field)         offsetof(struct config, field)
#define IN_ACCOUNT(field) offsetof(struct account_config, field)
#define FITS(type, field) ((int64_t)sizeof(((type *)NULL)->field) - 1)

static const struct config_key keys[] = {
    {"market", "venue", "where the data come from; others have sections of their own: [venue NAME]",
     config_parse_venue, config_print_venue},
    {"market", "symbols", "what is streamed and traded", config_parse_symbols, config_print_symbols},
    {"market", "interval", "of the bars that strategies see: 1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w",
     config_parse_interval, config_print_interval, AT(interval_ns)},
    {"market", "history", "bars fetched before the stream starts, 0 to 1000", config_parse_i32,
     config_print_i32, AT(history), .max = 1000},
    {"market", "streams", "what is subscribed: trade aggTrade kline bookTicker depth miniTicker",
     config_parse_streams, config_print_streams},
    {"market", "ws_url", "where the streams are; TLS only; empty: the venue's own", config_parse_url,
     config_print_text, AT(venues[0].ws_url), .max = FITS(struct config, venues[0].ws_url)},
    {"market", "rest_url", "where history, snapshots and filters are; TLS only; empty: the venue's own",
     config_parse_url, config_print_text, AT(venues[0].rest_url),
     .max = FITS(struct config, venues[0].rest_url)},
    {"market", "ca_file", "certificates to trust instead of the system's; empty: the system's",
     config_parse_path, config_print_text, AT(ca_file), .max = FITS(struct config, ca_file)},

    {"feed", "stale_s", "prices older than this many seconds are stale: no order is filled from them",
     config_parse_i64, config_print_i64, AT(stale_ms), 100, 86400000, 3},
    {"feed", "stale_trade_s", "the same for trades and what is made of them, which may be rare",
     config_parse_i64, config_print_i64, AT(stale_trade_ms), 100, 86400000, 3},
    {"feed", "silence_s",
     "a connection that brings nothing for so many seconds is replaced, sooner where REST has newer data",
     config_parse_i64, config_print_i64, AT(silence_ms), 100, 86400000, 3},
    {"feed", "refresh_s", "between two readings of what the venues list; 0: only at the start",
     config_parse_i64, config_print_i64, AT(refresh_ms), 0, 86400000, 3},

    {"engine", "clock", "wall, or feed: time is that of the events, for replays", config_parse_clock,
     config_print_clock, AT(clock)},
    {"engine", "latency_ms", "between a decision and its effect at the venue", config_parse_i64,
     config_print_i64, AT(latency_ns), 0, 60000000000, 6},
    {"engine", "equity_interval_s", "between two points of the equity curve; 0: at bars and fills only",
     config_parse_i64, config_print_i64, AT(equity_interval_ns), 0, 86400000000000, 9},

    {"engine", "missed_stops",
     "a stop that the market crossed while nothing was streamed: fill at the first price after, or keep",
     config_parse_missed, config_print_missed, AT(missed_stops)},
    {"engine", "fill_model",
     "what fills orders: book (and trades), quote (best bid and ask, and trades), or bar (closed bars only)",
     config_parse_model, config_print_model, AT(fill_model)},
    {"engine", "slippage", "takers trade at prices this share worse than shown: 0.0005 is 0.05 %",
     config_parse_i32, config_print_i32, AT(slippage_e6), 0, 100000, 6},

    {"policies", "wait_ms",
     "for the bar of a symbol that is late, before it decides without it; 0: until a later bar comes",
     config_parse_i64, config_print_i64, AT(policy_wait_ns), 0, 3600000000000, 6},
    {"policies", "inference",
     "who computes trained policies: cpu, or gpu, with the same bits, and the CPU where that does not answer",
     config_parse_inference, config_print_inference, AT(inference)},
    {"policies", "device_wait_ms", "for an answer of the GPU, before the CPU decides, then and from then on",
     config_parse_i32, config_print_i32, AT(policy_device_wait_ms), 1, 60000},

    {"arena", "min_excess",
     "of a study's proposal: its Sharpe ratio out of sample, a year's, less that of holding, is at least "
     "this",
     config_parse_real, config_print_real, AT(arena_gates.min_excess), -100, 100},
    {"arena", "max_pbo", "its probability of backtest overfitting is at most this", config_parse_real,
     config_print_real, AT(arena_gates.max_pbo), 0, 1},
    {"arena", "min_deflated",
     "its skill, the probability that its Sharpe ratio is neither luck nor holding's, is at least this",
     config_parse_real, config_print_real, AT(arena_gates.min_deflated), 0, 1},
    {"arena", "max_drawdown", "its drawdown out of sample is at most this share", config_parse_real,
     config_print_real, AT(arena_gates.max_drawdown), 0, 1},
    {"arena", "min_trades", "and its trades out of sample are at least so many", config_parse_i32,
     config_print_i32, AT(arena_gates.min_trades), 0, 1000000},
    {"arena", "challengers_max",
     "beyond so many, the last of those that came by a proposal retires; 0: none is admitted",
     config_parse_i32, config_print_i32, AT(arena_challengers_max), 0, ACCOUNTS_MAX},
    {"arena", "champion_days", "before a challenger may be crowned it has been compared on so many days",
     config_parse_i32, config_print_i32, AT(arena_champion_days), 1, 3650},
    {"arena", "alpha",
     "how likely one that is no better may be crowned, ever (not with rare large losses, or days that follow "
     "others: docs/policies.md); 0: nobody is, but by command",
     config_parse_real, config_print_real, AT(arena_alpha), 0, 1},
    {"arena", "expires_s", "after which a policy of a proposal retires that names no time itself; 0: never",
     config_parse_i64, config_print_i64, AT(arena_expires_ns), 0, 3000000000000000000, 9},

    {"risk", "exposure_symbol", "most of an account's equity in one symbol: 0.5 is half; 0: no limit",
     config_parse_real, config_print_real, AT(risk.exposure_symbol), 0, 100},
    {"risk", "exposure_account", "most of an account's equity in all symbols together; 0: no limit",
     config_parse_real, config_print_real, AT(risk.exposure_account), 0, 100},
    {"risk", "daily_loss",
     "of the day's first equity; once lost, nothing is opened until midnight UTC; 0: off", config_parse_real,
     config_print_real, AT(risk.daily_loss), 0, 1},
    {"risk", "orders_per_second", "that one account may send; 0: no limit", config_parse_i32,
     config_print_i32, AT(risk.orders_per_second), 0, RISK_RATE_MAX},
    {"risk", "drawdown",
     "of the highest equity; once lost, the account is closed and opens nothing until it is resumed; 0: off",
     config_parse_real, config_print_real, AT(risk.drawdown), 0, 1},
    {"risk", "price_band", "an opening order's price may be this share away from the last; 0: off",
     config_parse_real, config_print_real, AT(risk.price_band), 0, 1},
    {"risk", "cooldown_s", "after a position was closed, until the next one in its symbol; 0: off",
     config_parse_i64, config_print_i64, AT(risk.cooldown_ns), 0, 2592000000000000, 9},
    {"risk", "positions", "most symbols held, or being entered, by one account; 0: no limit",
     config_parse_i32, config_print_i32, AT(risk.positions), 0, SYMBOLS_MAX},

    {"storage", "commit_delay_ms", "rows are gathered this long for one commit", config_parse_i32,
     config_print_i32, AT(commit_delay_ms), 0, 1000},

    {"events", "keep_days", "the event log's old segments go at this age; 0: never", config_parse_i32,
     config_print_i32, AT(events_keep_days), 0, 36500},
    {"events", "keep_mb", "and beyond this size of the whole log; 0: no bound", config_parse_i32,
     config_print_i32, AT(events_keep_mb), 0, 100000000},
    {"events", "segment_mb", "of events, before compression, in a segment; each begins with the whole state",
     config_parse_i32, config_print_i32, AT(events_segment_mb), 1, 4096},
    {"events", "level", "of compression (zstd), 1 to 19", config_parse_i32, config_print_i32,
     AT(events_level), 1, 19},
    {"events", "sync", "wait for the disk before a decision is committed: on, or off", config_parse_switch,
     config_print_switch, AT(events_sync)},

    {"parity", "at",
     "when the day's events are replayed and compared with the ledger, UTC; off: by command only",
     config_parse_minute, config_print_minute, AT(parity_minute)},

    {"indicators", "specs", "kept for every symbol and timeframe, with blanks between: sma:20 macd:12,26,9",
     config_parse_specs, config_print_specs},
    {"indicators", "timeframes",
     "multiples of the market's interval; auto: it and what it divides of 5m 15m 1h 4h 1d",
     config_parse_timeframes, config_print_timeframes},

    {"indicators", "device_retry_s",
     "after a GPU has failed it is tried again, each time after twice as long; 0: not", config_parse_i64,
     config_print_i64, AT(device_retry_ms), 0, 3600000, 3},

    {"trainer", "start", "the co-process that trains, when it is needed and nobody listens: auto, or never",
     config_parse_start, config_print_start, AT(trainer_start)},
    {"trainer", "socket", "where it listens; empty: trainer.sock in the state directory", config_parse_path,
     config_print_text, AT(trainer_socket), .max = FITS(struct config, trainer_socket)},
    {"trainer", "memory_mib", "of all workers together; 0: 80 % of the machine's or the cgroup's",
     config_parse_i64, config_print_i64, AT(trainer_memory_mib), 0, 1 << 24},
    {"trainer", "worker_memory_mib", "of a worker whose training names no bound; 0: the co-process's default",
     config_parse_i64, config_print_i64, AT(trainer_worker_memory_mib), 0, 1 << 24},
    {"trainer", "cpu_slots", "trainings at a time that use no device; 0: the co-process's default",
     config_parse_i32, config_print_i32, AT(trainer_cpu_slots), 0, 1024},
    {"trainer", "devices", "GPUs that it trains on, with commas: 0,1; empty: all; none: the processors only",
     config_parse_devices, config_print_text, AT(trainer_devices),
     .max = FITS(struct config, trainer_devices)},
    {"trainer", "outputs",
     "folders that a training's output may lie in, beside the state directory, with commas",
     config_parse_path, config_print_text, AT(trainer_outputs), .max = FITS(struct config, trainer_outputs)},

    {"log", "level", "error, warning, info or debug", config_parse_level, config_print_level, AT(log_level)},

    {"account", "currency", "what the account holds and is counted in", config_parse_asset, config_print_text,
     IN_ACCOUNT(currency), .max = FITS(struct account_config, currency)},
    {"account", "policy",
     "F.safetensors of a trained policy, NAME.ensemble.json of an ensemble, or PARAMS.json of a recorded "
     "one, "
     "which trades instead of a strategy; its cash, its fees and no limits where none are given here",
     parse_policy, config_print_text, IN_ACCOUNT(policy), .max = FITS(struct account_config, policy)},
    {"account", "actions", "ACTIONS.csv of a recorded policy: what it did at each bar", config_parse_path,
     config_print_text, IN_ACCOUNT(actions), .max = FITS(struct account_config, actions)},
    {"account", "cash", "deposited once, when the account is new", parse_own_cash, print_own_cash,
     IN_ACCOUNT(cash), 0, 10000000000 * 100000000, 8},
    {"account", "fees", "a tier of the venue (papertape fees lists them); empty: the rates below",
     config_parse_tier, config_print_tier},
    {"account", "fee_maker", "of the notional of a fill that waited in the book: 0.001 is 0.1 %", parse_fee,
     print_fee, IN_ACCOUNT(fees.maker_e6), 0, 100000, 6},
    {"account", "fee_taker", "of the notional of a fill that took from the book", parse_fee, print_fee,
     IN_ACCOUNT(fees.taker_e6), 0, 100000, 6},
    {"account", "shorts", "may it sell what it does not hold: on, or off", config_parse_switch,
     config_print_switch, IN_ACCOUNT(shorts)},
    {"account", "collateral", "a short needs this much of its value to be opened: 1.5 is 150 %",
     config_parse_i32, config_print_i32, IN_ACCOUNT(collateral_e4), 10000, 1000000, 4},
    {"account", "maintenance", "below this much of its value a short is bought back", config_parse_i32,
     config_print_i32, IN_ACCOUNT(maintenance_e4), 10000, 1000000, 4},
    {"account", "borrow_rate", "a year's interest on what is borrowed: 0.05 is 5 %", config_parse_i32,
     config_print_i32, IN_ACCOUNT(borrow_rate_e6), 0, 10000000, 6},
    {"account", "risk.exposure_symbol", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.exposure_account", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.daily_loss", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.orders_per_second", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.drawdown", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.price_band", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.cooldown_s", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.positions", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "strategy", "its name, or none: orders by hand only. Its parameters: strategy.NAME = value",
     config_parse_strategy, config_print_strategy},
};

static const struct config_key *risk_key(const struct config_key *key, unsigned *ret_own)
{
    static const char *const names[] = {"exposure_symbol",   "exposure_account", "daily_loss",
                                        "orders_per_second", "drawdown",         "price_band",
                                        "cooldown_s",        "positions"};
    const char *name = key->name + strlen("risk.");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            *ret_own = 1U << i;
    const struct config_key *row = keys;
    while (strcmp(row->section, "risk") != 0 || strcmp(row->name, name) != 0)
        row++;
    return row;
}

const struct config_key *config_keys(size_t *ret_n)
{
    *ret_n = sizeof keys / sizeof *keys;
    return keys;
}
