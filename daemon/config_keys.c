#include "daemon/config_keys.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/nearest.h"
#include "exchange/bar.h"
#include "exchange/decimal.h"
#include "exchange/net/url.h"

enum { REASON = CONFIG_REASON_MAX };

#define LIST_SEPARATORS ", \t"

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

/* --- numbers: decimals times 10^scale, in an int64_t or an int32_t --- */

static int parse_units(const struct config_key *key, const char *text, int64_t *ret, char *reason)
{
    int64_t units;
    int e = decimal_parse_str(text, key->scale, &units);
    if (e == -EDOM)
        return config_reason(reason, REASON, "\"%.60s\": at most %d digits after the point", text,
                             key->scale);
    if (e == 0 && units >= key->min && units <= key->max) {
        *ret = units;
        return 0;
    }
    char min[DECIMAL_TEXT_MAX], max[DECIMAL_TEXT_MAX];
    decimal_format_short(key->min, key->scale, min);
    decimal_format_short(key->max, key->scale, max);
    return config_reason(reason, REASON, "\"%.60s\": a %snumber from %s to %s is needed", text,
                         key->scale ? "" : "whole ", min, max);
}

static void print_units(const struct config_key *key, int64_t units, FILE *to)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, key->scale, text);
    fputs(text, to);
}

static int parse_i64(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    return parse_units(key, text, (int64_t *)((char *)base + key->offset), reason);
}

static void print_i64(const struct config_key *key, const void *base, FILE *to)
{
    print_units(key, *(const int64_t *)((const char *)base + key->offset), to);
}

static int parse_i32(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int64_t units = 0;
    int e = parse_units(key, text, &units, reason);
    if (e == 0)
        *(int32_t *)((char *)base + key->offset) = (int32_t)units;
    return e;
}

static void print_i32(const struct config_key *key, const void *base, FILE *to)
{
    print_units(key, *(const int32_t *)((const char *)base + key->offset), to);
}

static int parse_double(const struct config_key *key, const char *text, void *base,
                        char reason[static REASON])
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= (double)key->min && value <= (double)key->max))
        return config_reason(reason, REASON, "\"%.60s\": a number from %jd to %jd is needed", text,
                             (intmax_t)key->min, (intmax_t)key->max);
    *(double *)((char *)base + key->offset) = value + 0.0; /* -0 becomes 0 */
    return 0;
}

static void print_double(const struct config_key *key, const void *base, FILE *to)
{
    config_print_double(*(const double *)((const char *)base + key->offset), to);
}

/* --- text --- */

static void print_text(const struct config_key *key, const void *base, FILE *to)
{
    fputs((const char *)base + key->offset, to);
}

static int set_text(const struct config_key *key, const char *text, void *base, char *reason)
{
    if (strlen(text) > (size_t)key->max)
        return config_reason(reason, REASON, "longer than %jd characters", (intmax_t)key->max);
    strcpy((char *)base + key->offset, text);
    return 0;
}

/* What an INI file would not give back as it was: blanks at the ends, control characters, the start of a
 * comment. */
static bool printable(const char *text)
{
    size_t n = strlen(text);
    if (n > 0 && (isspace((unsigned char)text[0]) || isspace((unsigned char)text[n - 1]) || text[0] == ';'))
        return false;
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)text[i]) || (text[i] == ';' && isspace((unsigned char)text[i - 1])))
            return false;
    return true;
}

static int parse_path(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    if (!printable(text))
        return config_reason(reason, REASON,
                             "\"%.60s\": a path without \" ;\" and control characters is needed", text);
    return set_text(key, text, base, reason);
}

static int parse_url(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    const char *scheme = strcmp(key->name, "ws_url") == 0 ? "wss" : "https";
    struct url url;
    char base_url[CONFIG_URL_MAX];
    snprintf(base_url, sizeof base_url, "%s", text);
    size_t n = strlen(base_url);
    if (n > 0 && base_url[n - 1] == '/')
        base_url[n - 1] = '\0';
    bool whole = strlen(text) < sizeof base_url && printable(text) && url_parse(base_url, &url) == 0;
    if (!whole || strcmp(url.scheme, scheme) != 0 || strchr(base_url + strlen(scheme) + 3, '/'))
        return config_reason(reason, REASON, "\"%.100s\": a URL like %s://HOST:PORT is needed", text, scheme);
    return set_text(key, base_url, base, reason);
}

/* Copies text[0..n) in upper case when it consists of letters, digits and `others`. */
static bool upper_name(const char *text, size_t n, const char *others, char *to, size_t size)
{
    if (n == 0 || n >= size)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr(others, text[i]))
            return false;
    for (size_t i = 0; i < n; i++)
        to[i] = (char)toupper((unsigned char)text[i]);
    to[n] = '\0';
    return true;
}

static int parse_asset(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    if (!upper_name(text, strlen(text), "", (char *)base + key->offset, (size_t)key->max + 1))
        return config_reason(reason, REASON, "\"%.60s\": an asset like USDT is needed", text);
    return 0;
}

/* The ledger's scale is the venue's: kept as text, checked at the finest scale that holds the largest. */
static int parse_cash(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int64_t units = 0;
    int e = parse_units(key, text, &units, reason);
    return e ? e : set_text(&(struct config_key){.offset = key->offset, .max = 31}, text, base, reason);
}

/* --- one of several words --- */

static int unknown_word(const char *text, const char *const *words, size_t n, char *reason)
{
    struct nearest nearest = {0};
    char all[160] = "";
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", words[i]);
        nearest_offer(&nearest, text, words[i]);
    }
    return config_reason(reason, REASON, "\"%.60s\": did you mean %s? (%s)", text, nearest.best, all);
}

static const char *const venues[] = {"binance"};
static const char *const clocks[] = {[CLOCK_WALL] = "wall", [CLOCK_FEED] = "feed"};
static const char *const levels[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARNING] = "warning",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
};

static int find_word(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0)
            return (int)i;
    return -EINVAL;
}

static const char *const missed[] = {[MISSED_STOPS_FILL] = "fill", [MISSED_STOPS_KEEP] = "keep"};
static const char *const switches[] = {"off", "on"};

enum { VENUES = sizeof venues / sizeof *venues, CLOCKS = 2, LEVELS = 4, MISSED = 2, SWITCHES = 2 };

int config_log_level_parse(const char *name)
{
    return find_word(name, levels, LEVELS);
}

static int parse_venue(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    if (find_word(text, venues, VENUES) < 0)
        return unknown_word(text, venues, VENUES, reason);
    return set_text(key, text, base, reason);
}

static int parse_clock(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int i = find_word(text, clocks, CLOCKS);
    if (i < 0)
        return unknown_word(text, clocks, CLOCKS, reason);
    *(enum config_clock *)((char *)base + key->offset) = (enum config_clock)i;
    return 0;
}

static void print_clock(const struct config_key *key, const void *base, FILE *to)
{
    fputs(clocks[*(const enum config_clock *)((const char *)base + key->offset)], to);
}

static int parse_missed(const struct config_key *key, const char *text, void *base,
                        char reason[static REASON])
{
    int i = find_word(text, missed, MISSED);
    if (i < 0)
        return unknown_word(text, missed, MISSED, reason);
    *(enum missed_stops *)((char *)base + key->offset) = (enum missed_stops)i;
    return 0;
}

static void print_missed(const struct config_key *key, const void *base, FILE *to)
{
    fputs(missed[*(const enum missed_stops *)((const char *)base + key->offset)], to);
}

static int parse_switch(const struct config_key *key, const char *text, void *base,
                        char reason[static REASON])
{
    int i = find_word(text, switches, SWITCHES);
    if (i < 0)
        return unknown_word(text, switches, SWITCHES, reason);
    *(bool *)((char *)base + key->offset) = i == 1;
    return 0;
}

static void print_switch(const struct config_key *key, const void *base, FILE *to)
{
    fputs(switches[*(const bool *)((const char *)base + key->offset)], to);
}

static int parse_level(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int i = config_log_level_parse(text);
    if (i < 0)
        return unknown_word(text, levels, LEVELS, reason);
    *(enum log_level *)((char *)base + key->offset) = (enum log_level)i;
    return 0;
}

static void print_level(const struct config_key *key, const void *base, FILE *to)
{
    fputs(levels[*(const enum log_level *)((const char *)base + key->offset)], to);
}

static int parse_interval(const struct config_key *key, const char *text, void *base,
                          char reason[static REASON])
{
    static const char *const names[] = {"1s", "1m", "3m", "5m",  "15m", "30m", "1h", "2h",
                                        "4h", "6h", "8h", "12h", "1d",  "3d",  "1w"};
    int64_t interval_ns;
    if (bar_interval_parse(text, &interval_ns) != 0)
        return unknown_word(text, names, sizeof names / sizeof *names, reason);
    *(int64_t *)((char *)base + key->offset) = interval_ns;
    return 0;
}

static void print_interval(const struct config_key *key, const void *base, FILE *to)
{
    fputs(bar_interval_name(*(const int64_t *)((const char *)base + key->offset)), to);
}

static int parse_strategy(const struct config_key *key, const char *text, void *base,
                          char reason[static REASON])
{
    (void)key;
    struct account_config *account = base;
    const struct strategy *found = strategy_find(text);
    if (!found && strcmp(text, "none") != 0) {
        size_t n;
        const struct strategy *const *all = strategy_list(&n);
        struct nearest nearest = {0};
        for (size_t i = 0; i < n; i++)
            nearest_offer(&nearest, text, all[i]->name);
        nearest_offer(&nearest, text, "none");
        return config_reason(reason, REASON, "\"%.60s\": unknown strategy: did you mean %s?", text,
                             nearest.best);
    }
    account->strategy = found;
    memset(account->params, 0, sizeof account->params);
    if (found)
        strategy_defaults(found, account->params);
    return 0;
}

static void print_strategy(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    const struct account_config *account = base;
    fputs(account->strategy ? account->strategy->name : "none", to);
}

/* --- a minute of the day, in an int: -1 is off --- */

static int parse_minute(const struct config_key *key, const char *text, void *base,
                        char reason[static REASON])
{
    int *minute = (int *)((char *)base + key->offset);
    if (strcmp(text, "off") == 0) {
        *minute = -1;
        return 0;
    }
    bool digits = strlen(text) == 5 && text[2] == ':';
    for (int i = 0; digits && i < 5; i++)
        digits = i == 2 || isdigit((unsigned char)text[i]);
    int hour = digits ? 10 * (text[0] - '0') + text[1] - '0' : 24;
    int past = digits ? 10 * (text[3] - '0') + text[4] - '0' : 60;
    if (hour > 23 || past > 59)
        return config_reason(reason, REASON, "\"%.60s\": a time of day like 00:30, or off, is needed", text);
    *minute = 60 * hour + past;
    return 0;
}

static void print_minute(const struct config_key *key, const void *base, FILE *to)
{
    int minute = *(const int *)((const char *)base + key->offset);
    if (minute < 0)
        fputs("off", to);
    else
        fprintf(to, "%02d:%02d", minute / 60, minute % 60);
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

/* --- lists --- */

static int parse_symbols(const struct config_key *key, const char *text, void *base,
                         char reason[static REASON])
{
    (void)key;
    struct config *config = base;
    char symbols[SYMBOLS_MAX][SYMBOL_NAME_MAX];
    int n = 0;
    for (const char *at = text + strspn(text, LIST_SEPARATORS); *at; at += strspn(at, LIST_SEPARATORS)) {
        size_t len = strcspn(at, LIST_SEPARATORS);
        if (n == SYMBOLS_MAX)
            return config_reason(reason, REASON, "more than %d symbols", SYMBOLS_MAX);
        if (!upper_name(at, len, "-_.", symbols[n], sizeof symbols[n]))
            return config_reason(reason, REASON, "\"%.*s\": a symbol like BTCUSDT is needed",
                                 len < 60 ? (int)len : 60, at);
        for (int i = 0; i < n; i++)
            if (strcmp(symbols[i], symbols[n]) == 0)
                return config_reason(reason, REASON, "%s is named twice", symbols[n]);
        n++;
        at += len;
    }
    if (n == 0)
        return config_reason(reason, REASON, "at least one symbol is needed, like BTCUSDT");
    memset(config->symbols, 0, sizeof config->symbols);
    memcpy(config->symbols, symbols, (size_t)n * sizeof *symbols);
    config->n_symbols = n;
    return 0;
}

static void print_symbols(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    const struct config *config = base;
    for (int i = 0; i < config->n_symbols; i++)
        fprintf(to, "%s%s", i ? ", " : "", config->symbols[i]);
}

static int parse_streams(const struct config_key *key, const char *text, void *base,
                         char reason[static REASON])
{
    (void)key;
    const char *names[MARKET_KINDS];
    for (int kind = 0; kind < MARKET_KINDS; kind++)
        names[kind] = market_kind_name((enum market_kind)kind);
    bool streams[MARKET_KINDS] = {0}, any = false;
    for (const char *at = text + strspn(text, LIST_SEPARATORS); *at; at += strspn(at, LIST_SEPARATORS)) {
        size_t len = strcspn(at, LIST_SEPARATORS);
        char word[32];
        snprintf(word, sizeof word, "%.*s", len < 31 ? (int)len : 31, at);
        int kind = find_word(word, names, MARKET_KINDS);
        if (kind < 0)
            return unknown_word(word, names, MARKET_KINDS, reason);
        if (streams[kind])
            return config_reason(reason, REASON, "%s is named twice", word);
        streams[kind] = any = true;
        at += len;
    }
    if (!any)
        return config_reason(reason, REASON, "at least one stream is needed, like trade");
    memcpy(((struct config *)base)->streams, streams, sizeof streams);
    return 0;
}

static void print_streams(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    const struct config *config = base;
    const char *separator = "";
    for (int kind = 0; kind < MARKET_KINDS; kind++)
        if (config->streams[kind]) {
            fprintf(to, "%s%s", separator, market_kind_name((enum market_kind)kind));
            separator = ", ";
        }
}

/* --- the table --- */

#define AT(field)         offsetof(struct config, field)
#define IN_ACCOUNT(field) offsetof(struct account_config, field)
#define FITS(type, field) ((int64_t)sizeof(((type *)NULL)->field) - 1)

static const struct config_key keys[] = {
    {"market", "venue", "where the data come from: binance", parse_venue, print_text, AT(venue),
     .max = FITS(struct config, venue)},
    {"market", "symbols", "what is streamed and traded, up to 256", parse_symbols, print_symbols},
    {"market", "interval", "of the bars that strategies see: 1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w",
     parse_interval, print_interval, AT(interval_ns)},
    {"market", "history", "bars fetched before the stream starts, 0 to 1000", parse_i32, print_i32,
     AT(history), .max = 1000},
    {"market", "streams", "what is subscribed: trade aggTrade kline bookTicker depth miniTicker",
     parse_streams, print_streams},
    {"market", "ws_url", "where the streams are; TLS only", parse_url, print_text, AT(ws_url),
     .max = FITS(struct config, ws_url)},
    {"market", "rest_url", "where history, snapshots and filters are; TLS only", parse_url, print_text,
     AT(rest_url), .max = FITS(struct config, rest_url)},
    {"market", "ca_file", "certificates to trust instead of the system's; empty: the system's", parse_path,
     print_text, AT(ca_file), .max = FITS(struct config, ca_file)},

    {"feed", "stale_s", "prices older than this many seconds are stale: no order is filled from them",
     parse_i64, print_i64, AT(stale_ms), 100, 86400000, 3},
    {"feed", "stale_trade_s", "the same for trades and what is made of them, which may be rare", parse_i64,
     print_i64, AT(stale_trade_ms), 100, 86400000, 3},

    {"engine", "clock", "wall, or feed: time is that of the events, for replays", parse_clock, print_clock,
     AT(clock)},
    {"engine", "latency_ms", "between a decision and its effect at the venue", parse_i64, print_i64,
     AT(latency_ns), 0, 60000000000, 6},
    {"engine", "equity_interval_s", "between two points of the equity curve; 0: at bars and fills only",
     parse_i64, print_i64, AT(equity_interval_ns), 0, 86400000000000, 9},

    {"engine", "missed_stops",
     "a stop that the market crossed while nothing was streamed: fill at the first price after, or keep",
     parse_missed, print_missed, AT(missed_stops)},

    {"risk", "exposure_symbol", "most of an account's equity in one symbol: 0.5 is half; 0: no limit",
     parse_double, print_double, AT(risk.exposure_symbol), 0, 100},
    {"risk", "exposure_account", "most of an account's equity in all symbols together; 0: no limit",
     parse_double, print_double, AT(risk.exposure_account), 0, 100},
    {"risk", "daily_loss",
     "of the day's first equity; once lost, nothing is opened until midnight UTC; 0: off", parse_double,
     print_double, AT(risk.daily_loss), 0, 1},
    {"risk", "orders_per_second", "that one account may send; 0: no limit", parse_i32, print_i32,
     AT(risk.orders_per_second), 0, RISK_RATE_MAX},

    {"storage", "commit_delay_ms", "rows are gathered this long for one commit", parse_i32, print_i32,
     AT(commit_delay_ms), 0, 1000},

    {"events", "keep_days", "the event log's old segments go at this age; 0: never", parse_i32, print_i32,
     AT(events_keep_days), 0, 36500},
    {"events", "keep_mb", "and beyond this size of the whole log; 0: no bound", parse_i32, print_i32,
     AT(events_keep_mb), 0, 100000000},
    {"events", "segment_mb", "of events, before compression, in a segment; each begins with the whole state",
     parse_i32, print_i32, AT(events_segment_mb), 1, 4096},
    {"events", "level", "of compression (zstd), 1 to 19", parse_i32, print_i32, AT(events_level), 1, 19},
    {"events", "sync", "wait for the disk before a decision is committed: on, or off", parse_switch,
     print_switch, AT(events_sync)},

    {"parity", "at",
     "when the day's events are replayed and compared with the ledger, UTC; off: by command only",
     parse_minute, print_minute, AT(parity_minute)},

    {"log", "level", "error, warning, info or debug", parse_level, print_level, AT(log_level)},

    {"account", "currency", "what the account holds and is counted in", parse_asset, print_text,
     IN_ACCOUNT(currency), .max = FITS(struct account_config, currency)},
    {"account", "cash", "deposited once, when the account is new", parse_cash, print_text, IN_ACCOUNT(cash),
     0, 10000000000 * 100000000, 8},
    {"account", "fee_maker", "of the notional of a fill that waited in the book: 0.001 is 0.1 %", parse_i32,
     print_i32, IN_ACCOUNT(fees.maker_e6), 0, 100000, 6},
    {"account", "fee_taker", "of the notional of a fill that took from the book", parse_i32, print_i32,
     IN_ACCOUNT(fees.taker_e6), 0, 100000, 6},
    {"account", "shorts", "may it sell what it does not hold: on, or off", parse_switch, print_switch,
     IN_ACCOUNT(shorts)},
    {"account", "collateral", "a short needs this much of its value to be opened: 1.5 is 150 %", parse_i32,
     print_i32, IN_ACCOUNT(collateral_e4), 10000, 1000000, 4},
    {"account", "maintenance", "below this much of its value a short is bought back", parse_i32, print_i32,
     IN_ACCOUNT(maintenance_e4), 10000, 1000000, 4},
    {"account", "borrow_rate", "a year's interest on what is borrowed: 0.05 is 5 %", parse_i32, print_i32,
     IN_ACCOUNT(borrow_rate_e6), 0, 10000000, 6},
    {"account", "risk.exposure_symbol", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.exposure_account", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.daily_loss", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "risk.orders_per_second", "as in [risk], for this account; empty: [risk]'s", parse_own_risk,
     print_own_risk},
    {"account", "strategy", "its name, or none: orders by hand only. Its parameters: strategy.NAME = value",
     parse_strategy, print_strategy},
};

static const struct config_key *risk_key(const struct config_key *key, unsigned *ret_own)
{
    static const char *const names[] = {"exposure_symbol", "exposure_account", "daily_loss",
                                        "orders_per_second"};
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
