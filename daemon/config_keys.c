#include "daemon/config_keys.h"

#include <string.h>

#include "daemon/config_values.h"
#include "daemon/notify/sink_keys.h"
#include "engine/account_keys.h"
#include "exchange/bar.h"
#include "strategy/policy/limit_keys.h"
#include "strategy/risk_keys.h"
#include "strategy/strategy.h"

enum { WHY = CONFIG_WHY_MAX };

/* A row of which this file says when it is read or printed, as its kind would have it. */
static struct config_key as(const struct config_key *key, enum config_kind kind)
{
    struct config_key row = *key;
    row.kind = kind;
    return row;
}

/* --- an account's own limit: as the key of [risk] of that name, or empty for [risk]'s --- */

static const struct config_key *risk_key(const struct config_key *key, unsigned *ret_own)
{
    const struct config_key *row =
        config_key_find(risk_keys, RISK_KEYS_N, NULL, key->name + strlen(CONFIG_OWN_RISK));
    *ret_own = 1U << (row - risk_keys);
    return row;
}

static int read_own_risk(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    struct account_config *account = base;
    unsigned own;
    const struct config_key *row = risk_key(key, &own);
    int e = text[0] ? config_key_read(row, text, &account->risk, why) : 0;
    if (e == 0)
        account->own_risk = text[0] ? account->own_risk | own : account->own_risk & ~own;
    return e;
}

static void print_own_risk(const struct config_key *key, const void *base, FILE *to)
{
    const struct account_config *account = base;
    unsigned own;
    const struct config_key *row = risk_key(key, &own);
    if (account->own_risk & own)
        config_key_print(row, &account->risk, to);
}

/* --- an account's own rates, which a tier excludes; empty beside a tier --- */

static int read_fee(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    struct account_config *account = base;
    if (!text[0])
        return 0;
    if (account->fee_tier[0])
        return config_key_refuse(why, WHY, "fees = %s " CONFIG_ONE_OF_TWO, account->fee_tier);
    struct config_key row = as(key, CONFIG_WHOLE);
    int e = config_key_read(&row, text, base, why);
    account->own_rates |= e == 0;
    return e;
}

static void print_fee(const struct config_key *key, const void *base, FILE *to)
{
    const struct account_config *account = base;
    struct config_key row = as(key, CONFIG_WHOLE);
    if (!account->fee_tier[0] && (!account->policy[0] || account->own_rates))
        config_key_print(&row, base, to);
}

/* --- the rates of a class of assets; empty beside a policy, whose own hold for all --- */

static bool *own_class_rates(const struct config_key *key, const void *base)
{
    bool crypto = strncmp(key->name, "crypto", strlen("crypto")) == 0;
    return &((struct account_config *)(uintptr_t)base)
                ->own_class_rates[crypto ? ASSET_CRYPTO : ASSET_US_EQUITY];
}

static int read_class_fee(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    if (!text[0])
        return 0;
    struct config_key row = as(key, CONFIG_WHOLE);
    int e = config_key_read(&row, text, base, why);
    *own_class_rates(key, base) |= e == 0;
    return e;
}

static void print_class_fee(const struct config_key *key, const void *base, FILE *to)
{
    const struct account_config *account = base;
    struct config_key row = as(key, CONFIG_WHOLE);
    if (!account->policy[0] || *own_class_rates(key, base))
        config_key_print(&row, base, to);
}

/* --- an account's cash; empty beside a policy: what that was made for --- */

/* The ledger's scale is the venue's: kept as text, checked at the finest scale that holds the largest. */
static int read_own_cash(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    struct account_config *account = base;
    struct config_key row = as(key, CONFIG_WHOLE);
    int64_t units;
    row.offset = 0;
    row.size = sizeof units;
    int e = text[0] ? config_key_read(&row, text, &units, why) : 0;
    if (e)
        return e;
    account->own_cash = text[0] != '\0';
    row = as(key, CONFIG_TEXT);
    row.min = 0;
    return config_key_read(&row, text, base, why);
}

static void print_own_cash(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    const struct account_config *account = base;
    if (!account->policy[0] || account->own_cash)
        fputs(account->cash, to);
}

/* --- a policy, which trades instead of a strategy --- */

static int read_policy(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    struct account_config *account = base;
    if (text[0] && account->own_strategy)
        return config_key_refuse(why, WHY, "strategy = %s trades already: one of the two is right",
                                 account->strategy->name);
    struct config_key row = as(key, CONFIG_TEXT);
    int e = config_key_read(&row, text, base, why);
    if (e == 0 && text[0])
        account->strategy = NULL;
    return e;
}

/* --- the tables --- */

#define AT(field)         KEY_AT(struct daemon_config, field)
#define IN_ACCOUNT(field) KEY_AT(struct account_config, field)
#define IN_VENUE(field)   KEY_AT(struct daemon_config_venue, field)
#define OWN(value)        KEY_OWN(read_##value, print_##value)
#define VALUE(value)      KEY_OWN(daemon_config_read_##value, daemon_config_print_##value)
#define TEXT(value)       KEY_OWN(daemon_config_read_##value, NULL)
#define LIVE              .marks = CONFIG_KEY_LIVE
#define START             .marks = CONFIG_KEY_START
#define RISK_ROW(member, name, of_kind, fallback, about) \
    {"risk", name, about, fallback, of_kind, LIVE, AT(risk.member)},
#define OWN_RISK_ROW(member, name, of_kind, fallback, about) \
    {"account", CONFIG_OWN_RISK name, "as in [risk], for this account; empty: [risk]'s", \
     "",        OWN(own_risk),        LIVE},

#define ARENA_LIMIT_ROW(name, option, member, value, of_kind, about) \
    {"arena", #name, "of promoted policies that name none: " about, "0", of_kind, AT(arena_limits.member)},

#define ALERT_ROW(type, member, name, of_kind, fallback, about, further) \
    {"alerts", name, about, fallback, of_kind, LIVE, AT(alerts.member), .more = further},

#define SINK_ROW(name, fallback, about, further) \
    {"alerts", name, about, fallback, VALUE(sink), LIVE, .more = further},

#define SHORT_ROW(member, name, of_kind, fallback, about, further) \
    {"account", name, about, fallback, of_kind, IN_ACCOUNT(member), .more = further},
#define STOCK_ROW(member, name, list, fallback, about, further) \
    {"account", name, about, fallback, KEY_WORDS(list), IN_ACCOUNT(member), .more = further},
#define FEE_ROW(member, name, fallback, about) \
    {"account", name, about, fallback, OWN(fee), ACCOUNT_FEE, IN_ACCOUNT(fees.member)},
#define CLASS_FEE_ROW(member, name, fallback, about) \
    {"account", name, about, fallback, OWN(class_fee), ACCOUNT_FEE, IN_ACCOUNT(member)},

static const struct config_key keys[] = {
    {"market", "venue", "where the data come from; others have sections of their own: [venue NAME]", NULL,
     VALUE(venue)},
    {"market", "symbols", "what is streamed and traded", "BTCUSDT, ETHUSDT", VALUE(symbols), LIVE,
     .more =
         "Names with commas or blanks between. One that the venue does not list is an error that names the "
         "nearest; one that a former run streamed and that is listed no longer stays, with what is held of "
         "it, and an alert. Changes by papertape symbol add and remove take precedence over this key."},
    {"market", "interval", "of the bars that strategies see: " BAR_INTERVAL_NAMES, "1m", KEY_INTERVAL,
     AT(interval_ns)},
    {"market", "history",
     "bars fetched before the stream starts, 0 to 1000; or a time, as 2y: 500, and the older ones beside it",
     "500", VALUE(history), .min = 0, .max = 1000, LIVE, AT(history),
     .more =
         "So many s, m, h, d, w or y (365 days). The older bars come behind all other requests, the newest "
         "first, and continue after a stop; they are in the database, for charts, papertape bars, reports and "
         "backtests, and strategies do not see them. What is before the venue's first bar, or would be "
         "deleted by [retention] bars_days, is not asked for. docs/history.md."},
    {"market", "streams", "what is subscribed: trade aggTrade kline bookTicker depth miniTicker",
     "trade kline bookTicker depth miniTicker", VALUE(streams), LIVE,
     .more = "At least one of depth and bookTicker, which orders are filled from, and one of kline and "
             "trade, which bars come from. A kind that a venue does not have of a symbol is left out of it."},
    {"market", "ws_url", "where the streams are; TLS only; empty: the venue's own", NULL, TEXT(url),
     AT(venues[0].ws_url)},
    {"market", "rest_url", "where history, snapshots and filters are; TLS only; empty: the venue's own", NULL,
     TEXT(url), AT(venues[0].rest_url)},
    {"market", "ca_file", "certificates to trust instead of the system's; empty: the system's", "", KEY_TEXT,
     LIVE, AT(ca_file)},
    {"market", "columns",
     "files of external columns, with commas, which strategies read as col:NAME; empty: none", "", KEY_TEXT,
     AT(columns), START,
     .more =
         "CSV timestamp,published,NAME..., as --columns of papertape backtest reads it: each value is seen "
         "from its published time on. A file that changes is read again once it has not changed for a "
         "second; what was given stays, and only values published after it are taken. The control "
         "socket's command column gives single ones. docs/strategies.md, External columns."},
    {"market", "universe",
     "a rule that says which of the symbols strategies and policies may enter, as volume>1e6; top 5 by "
     "volatility; empty: all of them",
     "", KEY_TEXT, AT(universe), START,
     .more = "As --universe of papertape backtest, of the bars that are stored: [market] history has to "
             "cover its window. It is looked at at the start and after each of its times; a symbol that "
             "leaves is not sold. docs/backtest.md, A universe by rule."},
    {"feed", "stale_s",
     "a price is stale, and fills no order, after this many seconds without data of its streams unless REST "
     "confirms it",
     "30", KEY_SCALED(0.1, 86400, 3), LIVE, AT(stale_ms),
     .more = "A quiet market's may be older: REST says that nothing is newer. SILENCE in papertaped(1)."},
    {"feed", "stale_trade_s", "the same for trades and what is made of them, which may be rare", "300",
     KEY_SCALED(0.1, 86400, 3), LIVE, AT(stale_trade_ms)},
    {"feed", "silence_s",
     "a connection without data for this many seconds is replaced, sooner where REST has newer data", "60",
     KEY_SCALED(0.1, 86400, 3), LIVE, AT(silence_ms),
     .more = "Not where REST says that there are no newer data: SILENCE in papertaped(1)."},
    {"feed", "refused_s", "until a connection that the venue refuses by the plan of the keys is tried again",
     "900", KEY_SCALED(1, 86400, 3), AT(refused_ms),
     .more =
         "A feed that the plan does not include, or a connection that another program has (which waits five "
         "minutes at most). Refused keys are final."},
    {"feed", "refresh_s", "between two readings of what the venues list; 0: only at the start", "300",
     KEY_SCALED(0, 86400, 3), AT(refresh_ms),
     .more = "Their clock too. Changed filters, halts and delistings take effect then. With clock = feed by "
             "the market's time, at most every six hours of it."},
    {"engine", "clock", "wall, or feed: time is that of the events, for replays", "wall",
     KEY_WORDS("wall feed"), AT(clock), START},
    {"engine", ENGINE_LATENCY_KEY, AT(latency_ns)},
    {"engine", "equity_interval_s", "between two points of the equity curve; 0: at bars and fills only", "10",
     KEY_SCALED(0, 86400, 9), AT(equity_interval_ns)},
    {"engine", "missed_stops",
     "a stop that the market crossed while nothing was streamed: fill at the first price after, or keep",
     "fill", KEY_WORDS("fill keep"), AT(missed_stops),
     .more = "An alert says which stop it was, either way."},
    {"engine", "fill_model",
     "what fills orders: book (and trades), quote (best bid and ask, and trades), or bar (closed bars only)",
     "book", KEY_WORDS("book quote bar"), AT(fill_model),
     .more = "With bar: the next open, or inside high and low, in a stated order of events, exactly as "
             "papertape backtest does it; orders, fills and the ledger have the bars' times, and "
             "missed_stops means nothing: bars that were missed fill orders like all others. It may change "
             "from run to run; live orders continue in the new one."},
    {"engine", "beyond",
     "what a taker gets beyond the quantity shown where only the best bid and ask are known: cancel, impact or "
     "wait",
     "impact", KEY_WORDS("cancel impact wait"), AT(beyond),
     .more = "That is with fill_model = quote, and of stocks. impact: each further multiple of the quantity "
             "shown costs one spread more, or one tick where that is wider. wait: the rest of a market order "
             "takes what the next quotes show. cancel: it ends. docs/fills.md has examples."},
    {"engine", ENGINE_SLIPPAGE_KEY, AT(slippage_e6), .more = "On the tick, never beyond an order's limit."},
    {"engine", "strategy_limit_ms", "for the answer of a strategy from outside, lib: or exec:, to a bar",
     "250", KEY_SCALED(1, 10000, 6), AT(strategy_limit_ns), START,
     .more = "A later answer is none, and an alert STRATEGY_LATE says so; the daemon waits as long, and does "
             "nothing else. Three bars in a row without an answer halt the strategy: docs/strategies.md, "
             "Strategies from outside."},
    {"strategies", "directory",
     "where lib:NAME is NAME.so; empty: pkg-config --variable=plugindir papertape. Above the accounts that name "
     "one",
     "", TEXT(plugins), AT(plugins), START,
     .more =
         "The code of a strategy's file runs as the daemon's: a file must belong to root or to the daemon's "
         "user, and no one else may write to it. docs/plugins.md."},
    {"policies", "wait_ms",
     "for the bar of a symbol that is late, before it decides without it; 0: until a later bar comes", "2000",
     KEY_SCALED(0, 3600000, 6), AT(policy_wait_ns),
     .more = "Counted from the receipt of the first bar of that time. The first event that is received so "
             "late ends the wait: docs/policies.md, When it decides."},
    {"policies", "inference",
     "what computes trained policies: cpu, or gpu, with the same bits; the CPU takes over where the GPU does "
     "not answer",
     "cpu", KEY_WORDS("cpu gpu"), AT(inference), START,
     .more = "Where there is no GPU, or it fails or does not answer within device_wait_ms, an alert "
             "POLICY_DEVICE says so."},
    {"policies", "device_wait_ms", "for an answer of the GPU, before the CPU decides, then and from then on",
     NULL, KEY_WHOLE(1, 60000), AT(policy_device_wait_ms), START},
    {"arena", "min_excess",
     "of a study's proposal: the minimum excess of its annualized out-of-sample Sharpe ratio over that of "
     "holding",
     NULL, KEY_NUMBER(-100, 100), AT(arena_gates.min_excess)},
    {"arena", "max_pbo", "the maximum probability of backtest overfitting (PBO)", NULL, KEY_NUMBER(0, 1),
     AT(arena_gates.max_pbo)},
    {"arena", "min_deflated",
     "the minimum skill, the probability that its Sharpe ratio is neither chance nor that of holding", NULL,
     KEY_NUMBER(0, 1), AT(arena_gates.min_deflated)},
    {"arena", "max_drawdown", "the maximum out-of-sample drawdown, a share", NULL, KEY_NUMBER(0, 1),
     AT(arena_gates.max_drawdown)},
    {"arena", "min_trades", "the minimum number of out-of-sample trades", NULL, KEY_WHOLE(0, 1000000),
     AT(arena_gates.min_trades)},
    {"arena", "challengers_max",
     "maximum of challengers, a person's counted, beyond which the last of a proposal's retires; 0: no proposal is "
     "admitted",
     "8", KEY_WHOLE(0, ACCOUNTS_MAX), AT(arena_challengers_max),
     .more =
         "The one with the least evidence retires; a proposal for which none would make room is refused."},
    {"arena", "champion_days", "minimum days of comparison before a challenger may become champion", "20",
     KEY_WHOLE(1, 3650), AT(arena_champion_days),
     .more = "Compared with the champion, or with cash where there is none."},
    {"arena", "alpha",
     "probability that a challenger that is no better ever becomes champion (not with rare large losses, or "
     "days that follow others: docs/policies.md); 0: only by command",
     "0.05", KEY_NUMBER(0, 1), AT(arena_alpha),
     .more =
         "It becomes champion once its e-value is at least 1 / alpha. The probability holds, though it is "
         "looked at every day, if its differences are symmetric about 0, or have a mean of at most 0 "
         "given what was before and no loss beyond ten times what they have been. Not so where days "
         "follow their past (a correlation of 0.2 from day to day: 5 % within 1,000 days, of 0.5: 20 %), "
         "nor where losses are rarer and larger (one in 20 days: 16 %, one in 100: 69 %)."},
    {"arena", "expires_s", "after which a policy of a proposal retires that names no time itself; 0: never",
     "0", KEY_SCALED(0, 3000000000, 9), AT(arena_expires_ns)},
    POLICY_LIMIT_ROWS(ARENA_LIMIT_ROW) RISK_KEYS(RISK_ROW){
        "storage", "commit_delay_ms", "rows are gathered this long for one commit", "5", KEY_WHOLE(0, 1000),
        AT(commit_delay_ms), START, .more = "An order is acknowledged after the commit that holds it."},
    {"events", "keep_days", "the event log's old segments are removed at this age; 0: never", "60",
     KEY_WHOLE(0, 36500), AT(events_keep_days), START},
    {"events", "keep_mb", "they are also removed beyond this size of the whole log; 0: no limit", "20000",
     KEY_WHOLE(0, 100000000), AT(events_keep_mb), START, .more = "Two segments always stay."},
    {"events", "segment_mb", "of events, before compression, in a segment; each begins with the whole state",
     "64", KEY_WHOLE(1, 4096), AT(events_segment_mb), START, .more = "A segment also ends after an hour."},
    {"events", "level", "of compression (zstd), 1 to 19", "3", KEY_WHOLE(1, 19), AT(events_level), START},
    {"events", "sync", "wait for the disk before a decision is committed: on, or off", "on",
     KEY_SWITCH("off on"), AT(events_sync), START,
     .more = "With off a loss of power may leave the log behind the database; the daemon then starts with "
             "the database alone, and says so."},
    {"retention", "alerts_days",
     "alerts that are over or acknowledged are deleted so many days after they were last seen; 0: never", "0",
     KEY_WHOLE(0, 36500), LIVE, AT(alerts_days)},
    {"retention", "commands_days", "commands are deleted at this age, except the newest 10,000; 0: never",
     "0", KEY_WHOLE(0, 36500), LIVE, AT(commands_days),
     .more = "A repeated key is answered from those that are there."},
    {"retention", "bars_days",
     "bars are deleted at this age, except the newest 2,000 of a symbol, interval and source; 0: never", "0",
     KEY_WHOLE(0, 36500), LIVE, AT(bars_days),
     .more = "Accounts, orders, fills and the ledger are never deleted. docs/backup.md has what else is."},
    {"ledger", "anchor",
     "where anchors of the books go: a file outside the state directory, journal, or exec:COMMAND; empty: none",
     "", TEXT(anchor), AT(ledger.target), START,
     .more =
         "A line of JSON at the start, once a day and at each clean stop: what papertape ledger head prints. "
         "The command gets it on its standard input. papertape ledger verify --anchor FILE compares the "
         "books with them; docs/ledger.md has what that protects against. The unit may write in "
         "/var/log/papertape, of an instance in /var/log/papertape-NAME."},
    {"ledger", "key",
     "signs them: a systemd credential's name, or the path of a file of mode 0600; empty: they are not signed",
     "", KEY_TEXT, AT(ledger.key), START,
     .more = "An Ed25519 private key in PEM, without a password: openssl genpkey -algorithm ed25519."},
    {"ledger", "timestamp_url", "a time-stamping authority (RFC 3161) that stamps each; empty: none", "",
     TEXT(timestamp), AT(ledger.timestamp_url), START,
     .more = "It is sent a hash, and nothing of the books. While it does not answer within 5 s an anchor is "
             "written without a stamp, and an alert says so."},
    {"parity", "at",
     "when the day's events are replayed and compared with the ledger, UTC; off: by command only", "00:30",
     VALUE(minute), AT(parity_minute),
     .more = "Also soon after a start when that is more than a day ago; on the feed's clock by command only. "
             "A difference is an alert that names the first event that differs."},
    {"indicators", "specs", "kept for every symbol and timeframe, with blanks between: sma:20 macd:12,26,9",
     "sma:20 ema:14 rsi:14 macd:12,26,9 atr:14 bbands:20,2", TEXT(specs), AT(specs), LIVE,
     .more =
         "As papertape indicators takes them, up to 32 with 64 outputs together; empty: none. Behind an @ a "
         "measure of the order book takes the place of prices: sma:20@spread (best ask less best bid), "
         "@imbalance (of five levels a side, -1 to 1), @microprice. Such ones have values on bars of the "
         "market's interval during which a book, or a best bid and ask, was there, and none on longer ones."},
    {"indicators", "timeframes",
     "multiples of the market's interval; auto: it and what it divides of 5m 15m 1h 4h 1d", "auto",
     VALUE(timeframes), LIVE,
     .more = "Up to 8. A higher bar is made of the market's closed bars; one of which a bar is missing, or "
             "whose start was not seen, is left out. Of a market with a calendar it begins and ends with a "
             "session, those of a day or more have the regular sessions, and it is what there is of it: a "
             "minute without trades is no bar."},
    {"indicators", "device_retry_s",
     "after a GPU has failed it is tried again, each time after twice as long; 0: not", "60",
     KEY_SCALED(0, 3600, 3), AT(device_retry_ms), START,
     .more = "Until then the streams are updated on the CPU with the same values, and an alert says why. The "
             "time doubles up to an hour, and is the first again once the device has worked for an hour. One "
             "that does not answer is waited for: bars queue, an alert says so after ten seconds, and "
             "nothing else is late."},
    {"gpu", "sample_s", "between two samples of the devices and of the daemon's own processes, 1 to 60", "2",
     KEY_SCALED(1, 60, 3), AT(gpu_sample_ms), START,
     .more =
         "NVIDIA's by its management library, AMD's and Intel's by the kernel's files. A driver that does "
         "not answer delays nothing else."},
    {"trainer", "start",
     "the co-process that trains, when it is needed and no process listens: auto, or never", "auto",
     KEY_SWITCH("never auto"), AT(trainer_start), START,
     .more = "A daemon that systemd started never starts it: there it is a unit of its own, "
             "papertape-trainer.service."},
    {"trainer", "socket", "where it listens; empty: trainer.sock in the state directory", "", KEY_TEXT,
     AT(trainer_socket), START},
    {"trainer", "memory_mib", "of all workers together; 0: 80 % of the machine's or the cgroup's", "0",
     KEY_WHOLE(0, 1 << 24), AT(trainer_memory_mib), START},
    {"trainer", "worker_memory_mib", "of a worker whose training names no bound; 0: the co-process's default",
     "0", KEY_WHOLE(0, 1 << 24), AT(trainer_worker_memory_mib), START},
    {"trainer", "cpu_slots", "trainings at a time that use no device; 0: the co-process's default", "0",
     KEY_WHOLE(0, 1024), AT(trainer_cpu_slots), START},
    {"trainer", "devices", "GPUs that it trains on, with commas: 0,1; empty: all; none: the processors only",
     "", TEXT(devices), AT(trainer_devices), START},
    {"trainer", "outputs",
     "folders that a training's output may lie in, beside the state's checkpoints/, with commas", "",
     KEY_TEXT, AT(trainer_outputs), START,
     .more = "Those of its keys output and tensorboard: a configuration that comes over the socket is "
             "refused where it names another."},
    {"control", "operators", "the group whose members may use control.sock; empty: the daemon's own", "",
     VALUE(group), AT(operators), LIVE,
     .more =
         "Its own user and root always may. A member of another group than the daemon's own also has to be let "
         "into the state directory: docs/control.md, Roles."},
    {"control", "readers",
     "the group whose members may read, by control-read.sock; empty: papertape-read where there is one; off",
     "", VALUE(group), AT(readers), LIVE,
     .more = "That socket answers commands that change nothing. Without such a group there is none."},
    ALERT_KEYS(ALERT_ROW) NOTIFY_SINK_KEYS(SINK_ROW){
        "alerts", "ca_file", "certificates to trust for these, instead of the system's; empty: the system's",
        "", KEY_TEXT, LIVE, AT(notify.ca_file)},
    {"alerts", "quiet",
     "hours in which only errors are delivered, as 22:00-07:00, by this machine's clock; off: none", "off",
     VALUE(quiet), LIVE,
     .more = "What is held is delivered at their end. The log and the dashboard have it at once."},
    {"alerts", "severities",
     "of notices to sinks by their alert's code, as DISK=error, feed=info, left-out=off; the others have the alert's "
     "own",
     "", VALUE(severities), LIVE,
     .more =
         "off: no notice of it is sent. Quiet hours and each sink's lowest severity go by it; the log, the dashboard "
         "and papertape alerts list keep the alert's own. docs/alerts.md has the codes."},
    {"alerts", "retry_s", "between two attempts at a sink that fails", "3", KEY_SCALED(0.1, 300, 9),
     AT(notify.retry_ns), LIVE,
     .more =
         "300 times, which is 15 minutes; then twice as long each time, up to 100 times that, which is 5 minutes. A "
         "new alert starts that again. A sink's Retry-After is waited for."},
    {"alerts", "summary", "of equity, trades and open alerts, to the same sinks: off, hourly or daily", "off",
     KEY_WORDS(NOTIFY_SUMMARIES), AT(notify.summary), LIVE},
    {"alerts", "summary_at", "the time of day of a daily one, by this machine's clock", "08:00",
     VALUE(minute), AT(notify.summary_minute), LIVE},
    {"metrics", "socket",
     "a UNIX socket that answers HTTP: a path, or a name in the control socket's folder; empty: none", "",
     KEY_TEXT, LIVE, AT(metrics_socket),
     .more =
         "GET of /metrics is Prometheus' text; /status, /positions and /equity "
         "(?account=NAME) are the JSON of the verbs. Whom control-read.sock answers may read here, and change nothing."},
    {"metrics", "listen", "the same by TCP, as 127.0.0.1:9480; empty: not", "", TEXT(listen), LIVE,
     AT(metrics_listen),
     .more = "Only addresses of the loopback (127.0.0.0/8, [::1]) are right: every user of this machine may "
             "read there. Port 0 is a free one; the log says which."},
    {"log", "level", "error, warning, info or debug", "info", KEY_WORDS("error warning info debug"), LIVE,
     AT(log_level)},
    {"account", "currency", "what the account holds and is counted in", "USDT", TEXT(asset),
     IN_ACCOUNT(currency)},
    {"account", "policy",
     "F.safetensors of a trained policy, NAME.ensemble.json of an ensemble, or PARAMS.json of a recorded "
     "one, which trades instead of a strategy; its cash, its fees and no limits unless given here",
     "", KEY_OWN(read_policy, NULL), IN_ACCOUNT(policy), START,
     .more =
         "A relative path counts from where the daemon starts. It decides once the bars of all its symbols "
         "have closed, which must be streamed, on bars of its own interval. The limits that are off are "
         "[risk]'s of exposure, daily loss and order rate; any other holds. Its slippage is not taken over: "
         "that of [engine] holds for all accounts. With fill_model = bar it trades as in papertape backtest "
         "--policy and in the training environment. Copies of the files are kept in policies/ of the state "
         "directory, where replays of the event log find them. docs/policies.md has the rules."},
    {"account", "actions", "ACTIONS.csv of a recorded policy: what it did at each bar", "", KEY_TEXT,
     IN_ACCOUNT(actions), START},
    {"account", ACCOUNT_CASH_WORDS, OWN(own_cash), ACCOUNT_CASH, IN_ACCOUNT(cash),
     .more = "To change it later has no effect."},
    {"account", "fees", "a tier of the venue (papertape fees lists them); empty: the rates below", "",
     TEXT(tier), IN_ACCOUNT(fee_tier), .more = "A tier and a rate together are an error."},
    ACCOUNT_FEE_KEYS(FEE_ROW)
        ACCOUNT_CLASS_FEE_KEYS(CLASS_FEE_ROW){"account", ACCOUNT_SESSION_WORDS, KEY_WORDS(ACCOUNT_SESSIONS),
                                              IN_ACCOUNT(session), .more = ACCOUNT_SESSION_MORE},
    {"account", "backtest_sharpe",
     "its annualised Sharpe ratio in a backtest, which its live days are compared with; 0: not compared", "0",
     KEY_NUMBER(0, 100), LIVE, IN_ACCOUNT(backtest_sharpe),
     .more = "[alerts] sharpe_below has the test. As papertape backtest --json prints it, over 365 days."},
    {"account", "execution",
     "where its orders are filled: model (here), or venue-paper (its venue's account of simulated money)",
     "model", KEY_WORDS(ACCOUNT_EXECUTIONS), IN_ACCOUNT(execution), START,
     .more =
         "Of one account that has traded it cannot change. With venue-paper what the account holds at the venue is "
         "booked as deposited when it is attached, in place of cash; docs/venue-paper.md has the rules."},
    {"account", "execution_venue", "the venue of that account, of those configured; empty: the only one", "",
     KEY_TEXT, IN_ACCOUNT(execution_venue), START,
     .more =
         "Orders in symbols of another venue are refused, and so is a venue without accounts of simulated money."},
    {"account", "execution_keys",
     "a systemd credential's name, or the path of a file of mode 0600: two lines, id and secret", "",
     TEXT(keys), IN_ACCOUNT(execution_keys), START,
     .more =
         "In place of the secret an Ed25519 private key, where the venue takes one: its PEM text from the second line on, or the "
         "path of a PEM file of mode 0600, which begins with a slash. No two accounts may have the same keys."},
    {"account", "execution_rest_url", "where its orders go; TLS only; empty: the venue's paper host", "",
     TEXT(url), IN_ACCOUNT(execution_rest_url), START,
     .more =
         "Only the venue's paper hosts and the loopback (127.0.0.0/8, ::1, localhost) are right, here and for "
         "the next key: every other host is refused, and so is a redirection to one."},
    {"account", "execution_ws_url", "where its fills come from; TLS only; empty: the venue's paper host", "",
     TEXT(url), IN_ACCOUNT(execution_ws_url), START},
    {"account", "execution_reconcile_s",
     "between two comparisons of its orders and balances with the venue's", "60", KEY_SCALED(1, 3600, 9),
     IN_ACCOUNT(execution_reconcile_ns), START},
    {"account", "shorts", "short selling: on, or off", "off", KEY_SWITCH("off on"), IN_ACCOUNT(shorts)},
    ACCOUNT_SHORT_KEYS(SHORT_ROW) ACCOUNT_STOCK_KEYS(STOCK_ROW) ACCOUNT_CHARGE_KEYS(SHORT_ROW) RISK_KEYS(
        OWN_RISK_ROW){
        "account", "strategy",
        "its name, lib:FILE.so, exec:COMMAND, or none: orders by hand only. Its parameters: strategy.NAME = "
        "value",
        "sma-cross-rsi", VALUE(strategy), LIVE,
        .more =
            "With another strategy, or other parameters, it starts without memory and sees the recent bars "
            "as history; positions and orders stay. lib: and exec: are strategies from outside: "
            "docs/strategies.md."},
};

const struct config_key *daemon_config_keys(size_t *ret_n)
{
    *ret_n = sizeof keys / sizeof *keys;
    return keys;
}

/* Symbols and streams are those of [market] too: config_venue.c. */
static const struct config_key venue_keys[] = {
    {"venue", "symbols", "what is streamed and traded of it; no name that another venue has",
     .kind = CONFIG_TEXT, LIVE},
    {"venue", "streams", "what is subscribed; empty: as [market], as far as it has them", .kind = CONFIG_TEXT,
     LIVE},
    {"venue", "keys",
     "a systemd credential's name, or the path of a file of mode 0600: two lines, id and secret; empty: none",
     "", TEXT(keys), IN_VENUE(keys), LIVE,
     .more =
         "The unit has a credential called keys, from /etc/credstore/keys. They are in no log and in no "
         "message. Keys that are missing end the start. Keys that the venue refuses do, too, at the first "
         "start of a state that has no other venue; else the venue is failed instead, with one alert, "
         "and is asked again by a reload or the next start."},
    {"venue", "ws_url", "where the streams are; TLS only; empty: the venue's own", "", TEXT(url),
     IN_VENUE(ws_url)},
    {"venue", "rest_url", "where all else is; TLS only; empty: the venue's own", "", TEXT(url),
     IN_VENUE(rest_url)},
    {"venue", "extended_hours", "trading in extended hours, before and after the session: on, or off", "off",
     KEY_SWITCH("off on"), IN_VENUE(extended_hours)},
};

_Static_assert(sizeof venue_keys / sizeof *venue_keys == DAEMON_CONFIG_VENUE_KEYS, "as its header says");

const struct config_key *daemon_config_venue_keys(size_t *ret_n)
{
    *ret_n = sizeof venue_keys / sizeof *venue_keys;
    return venue_keys;
}
