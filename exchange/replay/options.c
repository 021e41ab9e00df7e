#include "exchange/replay/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/exit_status.h"
#include "exchange/replay/candles.h"
#include "exchange/replay/protocol.h"
#include "record/config_key.h"

static struct options *of(const struct option_call *call)
{
    return call->into;
}

static int wrong(const struct option_call *call, const struct option_row *row, const char *value,
                 const char *right)
{
    return option_fail(call, EXIT_USAGE, "--%s: \"%.64s\": %s", row->name, value, right);
}

static int take_venue(struct option_call *call, const struct option_row *row, const char *value)
{
    (void)row;
    of(call)->venue = replay_protocol_find(value, strlen(value));
    return EXIT_OK;
}

static int take_given(struct option_call *call, const struct option_row *row, const char *value)
{
    struct options *o = of(call);
    struct option_given *grown = reallocarray(o->given, o->n_given + 1, sizeof(*grown));
    if (!grown)
        return option_fail(call, EXIT_ERROR, "out of memory");
    o->given = grown;
    grown[o->n_given++] = (struct option_given){row->name, value};
    return EXIT_OK;
}

static int add_name(const struct option_call *call, const char ***names, size_t *n, const char *value)
{
    const char **grown = reallocarray(*names, *n + 1, sizeof(*grown));
    if (!grown)
        return option_fail(call, EXIT_ERROR, "out of memory");
    *names = grown;
    grown[(*n)++] = value;
    return EXIT_OK;
}

static int take_recording(struct option_call *call, const struct option_row *row, const char *value)
{
    (void)row;
    return add_name(call, &of(call)->recordings, &of(call)->n_recordings, value);
}

static int take_bars(struct option_call *call, const struct option_row *row, const char *value)
{
    (void)row;
    return add_name(call, &of(call)->bars, &of(call)->n_bars, value);
}

static int take_seed(struct option_call *call, const struct option_row *row, const char *value)
{
    (void)row;
    (void)value;
    of(call)->synthetic = true;
    return EXIT_OK;
}

static int take_rate(struct option_call *call, const struct option_row *row, const char *value)
{
    char *end;
    double rate = of(call)->rate = strtod(value, &end);
    if (end == value || *end != '\0' || !(rate >= 0.01 && rate <= 100000))
        return wrong(call, row, value, "messages a second of each symbol, from 0.01 to 100000, are needed");
    return EXIT_OK;
}

static int take_interval(struct option_call *call, const struct option_row *row, const char *value)
{
    char why[CONFIG_WHY_MAX];
    of(call)->interval = config_key_word(value, BAR_INTERVAL_NAMES, why);
    return of(call)->interval >= 0 ? EXIT_OK : option_fail(call, EXIT_USAGE, "--%s: %s", row->name, why);
}

static int take_time(struct option_call *call, const struct option_row *row, const char *value)
{
    if (bars_time_parse(value, strlen(value), (int64_t *)((char *)call->into + row->at)) == 0)
        return EXIT_OK;
    return wrong(call, row, value,
                 "a time is needed: ISO 8601 as 2024-08-08T23:55:00Z, or an epoch in s, ms, us or ns");
}

static int take_speed(struct option_call *call, const struct option_row *row, const char *value)
{
    char *end;
    double speed = of(call)->speed = strtod(value, &end);
    if (strcmp(value, "max") == 0)
        of(call)->speed = 0;
    else if (end == value || *end != '\0' || !(speed >= 0.001 && speed <= 1e6))
        return wrong(call, row, value, "a number from 0.001 to 1000000, or max, is needed");
    return EXIT_OK;
}

static int take_listen(struct option_call *call, const struct option_row *row, const char *value)
{
    struct options *o = of(call);
    const char *given = value;
    const char *colon = strrchr(value, ':');
    char *end;
    size_t len = colon ? (size_t)(colon - value) : 0;
    long port = colon && isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : -1;
    if (len >= 2 && value[0] == '[' && value[len - 1] == ']') {
        value++;
        len -= 2;
    }
    if (port < 0 || port > 65535 || *end != '\0' || len == 0 || len >= sizeof(o->host))
        return wrong(call, row, given, "HOST:PORT as 127.0.0.1:9443, port 0 to 65535, is needed");
    memcpy(o->host, value, len);
    o->host[len] = '\0';
    o->port = (int)port;
    return EXIT_OK;
}

static int add_fault(struct fault_schedule *schedule, const char *spec, char error[static FAULT_ERROR_MAX])
{
    const struct fault_moment start = {0};
    const int rc = replay_fault_schedule_add(schedule, spec, &start, error);
    if (rc == 0)
        replay_fault_schedule_run(schedule, &start);
    return rc;
}

static int take_fault(struct option_call *call, const struct option_row *row, const char *value)
{
    char error[FAULT_ERROR_MAX];
    (void)row;
    return add_fault(&of(call)->schedule, value, error) < 0 ? option_fail(call, EXIT_USAGE, "%s", error)
                                                            : EXIT_OK;
}

/* The same as a fault that is posted. */
static int take_fill(struct option_call *call, const struct option_row *row, const char *value)
{
    char spec[64], error[FAULT_ERROR_MAX];
    snprintf(spec, sizeof(spec), "%s:%.32s", row->name, value);
    if (strlen(value) <= 32 && !strchr(value, '@') && add_fault(&of(call)->schedule, spec, error) == 0)
        return EXIT_OK;
    return wrong(call, row, value,
                 strcmp(row->name, "fill-latency") == 0
                     ? "a time from 0ms to 60s, as 120ms, is needed"
                     : "basis points from 0 to 1000, with at most two digits after the point, are needed");
}

#define AT(member) offsetof(struct options, member)

const struct option_row replay_options[REPLAY_OPTIONS] = {
    {NULL, NULL, "What is played, one of these three"},
    {"recording", "FILE...",
     "recorded frames, plain or gzip; several files are merged by time; see RECORDINGS",
     .take = take_recording},
    {"bars", "FILE...",
     "bars files (CSV or JSON, plain or gzip; docs/market-store.md), as seeded trades that hit open, high, "
     "low and close and add up to the volume, with quotes and depth that agree; earlier bars are the "
     "history that REST shows",
     .take = take_bars},
    {"synthetic", "SEED",
     "a seeded market without end unless --to sets one: BTCUSDT and ETHUSDT, or as many symbols as "
     "--symbols says; the same seed and --from give the same bytes",
     AT(seed), take_seed, .low = 0, .high = UINT64_MAX},
    {NULL, NULL, "Of all venues"},
    {"venue", "alpaca|binance", "whose protocol is spoken: binance by default", .take = take_venue},
    {"interval", "INTERVAL",
     "of the bars files: " BAR_INTERVAL_NAMES "; by default what "
     "their times show",
     .take = take_interval, .with = "bars"},
    {"from", "T",
     "play what is later (ISO 8601, or an epoch in s, ms, us or ns; without a zone: UTC); what is earlier "
     "is history; a synthetic market starts there, by default now",
     AT(from_ns), take_time},
    {"to", "T", "play what is earlier", AT(to_ns), take_time},
    {"speed", "N|max",
     "N times real time, 1 by default; max: as fast as the slowest client reads: after every 64 messages a "
     "client gets a ping, and the position stays within two such windows of its last pong; nothing is "
     "dropped; Alpaca's connections have all read a minute, and its bars, before the next begins; without "
     "subscribed clients the position stands still",
     .take = take_speed},
    {"symbols", "N",
     "of the synthetic market, 2 by default: BTCUSDT, ETHUSDT, XAAAUSDT, XAABUSDT and so on; of more than "
     "14 REST shows less history",
     AT(symbols), .low = 1, .high = TAPE_SYMBOLS_MAX, .with = "synthetic"},
    {"rate", "R",
     "of the synthetic market: messages a second of each symbol, its trades, quotes and fast differences "
     "together, evenly spread; by default as the market goes, some 150",
     .take = take_rate, .with = "synthetic"},
    {"listen", "HOST:PORT", "127.0.0.1:0 by default; port 0 lets the system pick", .take = take_listen},
    {"ca-out", "FILE",
     "write the certificate (PEM) of the authority made for this run, which signs the server's", AT(ca_out)},
    {"transcript", "FILE",
     "write what is said to whom, a line each: the number of a websocket client and open, text, binary (in "
     "hexadecimal digits) or end; of REST 0 rest METHOD TARGET STATUS BODY",
     AT(transcript)},
    {"fault", "SPEC...", "what goes wrong, and when, as close@1000 or slow:64B/s@30s+10s: see FAULTS",
     .take = take_fault},
    {"keys", "FILE|ID:SECRET",
     "refuse all other API keys; by default any are good that are not empty. Of binance a file with a key a "
     "line, see ORDERS; of alpaca the one that is good, with :read-only behind it one that may not trade",
     .take = take_given},
    {"limit", "NAME=N...",
     "of binance weight=1200 (a minute; 6000 by default), requests=1000 and connections=10 (in five minutes; "
     "61000 and 300); of alpaca requests=20 (a minute; 200)",
     .take = take_given},
    {"fill-latency", "TIME",
     "an order meets the book so much market time after it was received, as 120ms, at most 60s: see ORDERS",
     .take = take_fill},
    {"fill-slippage", "BP", "a taker's price is so many basis points worse than the book's: see ORDERS",
     .take = take_fill},
    {NULL, NULL, "Of binance alone"},
    {"aggregates", "N",
     "how many of the last aggregates of each symbol REST's aggTrades has: 10000 by default", AT(aggregates),
     .low = 1, .high = 100000000},
    {"weight", "NAME=N...",
     "what a request weighs whose path ends with that name, as klines=4; what is free stays so",
     .take = take_given},
    {"filter", "NAME=N...",
     "numbers of filters other than the usual, as MAX_NUM_ORDERS=3 or MAX_ASSET:USDT=1000; 0: not listed; see "
     "ORDERS",
     .take = take_given},
    {NULL, NULL, "Of alpaca alone; see ALPACA"},
    {"action", "SPEC",
     "split:AAPL:4:1:2026-01-15 (four new shares for each old one, from the first moment of that day's "
     "extended hours; a reverse split is 1:4), dividend:AAPL:0.24:2026-01-15 (paid 30 days later, or at the date of a fifth word: …:2026-02-12), "
     "rename:AAPL:APL:2026-01-15 or halt:AAPL:2026-01-15T15:00:00Z:5m; may be given more than once",
     .take = take_given},
    {"asset", "SPEC",
     "AAPL:not-shortable, or not-tradable, hard-to-borrow, not-fractionable, not-marginable: what the venue's "
     "list of assets says of it; may be given more than once",
     .take = take_given},
    {"zone", "ZONE", "of the bars files' times that name none, as America/New_York; UTC without it",
     .take = take_given, .with = "bars"},
    {"straddle", "refuse|keep",
     "bars of stocks that begin in one session and end in another, and those of a day that do not say that "
     "they are regular: an error, or kept, as part of the regular session",
     .take = take_given, .with = "bars"},
    {"plan", "free|unlimited|plus",
     "free: trades and quotes of 30 stocks, no /v2/sip, no consolidated data of the last quarter of an "
     "hour; unlimited by default, plus is the same",
     .take = take_given},
    {"partial-fills", "PERCENT",
     "so many of a hundred fills are a part of random size, and the rest comes a second of market time later; "
     "0 by default, 10 as at the venue: see ORDERS",
     .take = take_given},
    {"refuse", "CODE[@SECONDS]",
     "answer every authentication with this error: 402, 406, 409, 411 or 500; with 402@30s those that come "
     "after so much market time, as of keys that were revoked meanwhile",
     .take = take_given},
};

void replay_options_init(void *into)
{
    *(struct options *)into = (struct options){.venue = replay_protocol_find("binance", strlen("binance")),
                                               .interval = -1,
                                               .from_ns = INT64_MIN,
                                               .to_ns = INT64_MAX,
                                               .speed = 1,
                                               .host = "127.0.0.1"};
}

/* The venue may be named after its own options. */
static bool is_of(const struct protocol_row *venue, const char *option)
{
    for (const char *const *name = venue->options; name && *name; name++)
        if (strcmp(*name, option) == 0)
            return true;
    return false;
}

int replay_options_check(const struct option_call *call)
{
    const struct options *o = of(call);
    char error[PROTOCOL_ERROR_MAX];
    for (size_t i = 0; i < o->n_given; i++)
        if (!is_of(o->venue, o->given[i].name))
            return option_fail(call, EXIT_USAGE,
                               "--%s: unknown option of --venue %s: see papertape-replay --help",
                               o->given[i].name, o->venue->name);
    if (o->from_ns >= o->to_ns)
        return option_fail(call, EXIT_USAGE,
                           "--from is not before --to: a time range: --from earlier than --to");
    if (o->venue->check && o->venue->check(o, error) < 0)
        return option_fail(call, EXIT_USAGE, "%s", error);
    return EXIT_OK;
}

void replay_options_finish(void *into)
{
    struct options *o = into;
    free(o->recordings);
    free(o->bars);
    free(o->given);
}
