#include "exchange/replay/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/exit_status.h"
#include "exchange/replay/candles.h"
#include "exchange/replay/protocol.h"

enum { GO_ON = -1 };

static const char help[] =
    "Usage: papertape-replay (--recording F... | --bars F... | --synthetic SEED) [OPTION]...\n"
    "A venue on loopback: Binance's websocket streams and REST over TLS, from recorded frames, bars or a "
    "made market.\n"
    "\n"
    "      --venue binance|alpaca whose protocol is spoken\n"
    "      --recording F...       play recorded frames; several files are merged by time\n"
    "      --bars F...            play bars files: trades, quotes and depth that agree with them\n"
    "      --synthetic SEED       a seeded market without end: BTCUSDT and ETHUSDT\n"
    "      --symbols N            of the made market, 2 by default\n"
    "      --rate R               its messages a second of each symbol, evenly spread\n"
    "      --interval I           of the bars files, when it is not what they show (1m, 5m, 1h, ...)\n"
    "      --from T, --to T       play from, play to (ISO 8601 or an epoch); --synthetic starts at --from\n"
    "      --speed N|max          N times real time (default 1); max: as fast as clients read\n"
    "      --listen HOST:PORT     default 127.0.0.1:0; port 0 picks one\n"
    "      --ca-out F             write the certificate that clients must trust\n"
    "      --transcript F         write what is said to whom\n"
    "      --fault SPEC...        what goes wrong, and when: close@1000, ban@100+60s, ...; see "
    "papertape-replay(1)\n"
    "      --action SPEC          alpaca: split:AAPL:4:1:2026-01-15, dividend:AAPL:0.24:2026-01-15 or\n"
    "                             halt:AAPL:2026-01-15T15:00:00Z:5m; may be repeated\n"
    "      --keys ID:SECRET       alpaca: the only ones that are good\n"
    "      --plan free|unlimited  alpaca: what these keys may see\n"
    "      --refuse CODE[@30s]    alpaca: the error that every authentication gets (from then on)\n"
    "      --help, --version\n"
    "\n"
    "Prints one JSON line when it listens. Play starts with the first websocket subscription. See "
    "papertape-replay(1).\n";

__attribute__((format(printf, 1, 2))) static int usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("papertape-replay: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_USAGE;
}

static int set_venue(struct options *o, const char *value)
{
    o->venue = replay_protocol_find(value, strlen(value));
    return o->venue ? GO_ON : usage("unknown venue: --venue %s: one of %s", value, replay_protocol_names());
}

static bool is_given(const struct protocol_row *venue, const char *word, size_t len)
{
    for (const char *const *name = venue->options; name && *name; name++)
        if (strlen(*name) == len && memcmp(*name, word, len) == 0)
            return true;
    return false;
}

/* The venue is the one named anywhere on the line: options of its own may stand before it. */
static int find_venue(struct options *o, int argc, char **argv)
{
    o->venue = replay_protocol_find("binance", strlen("binance"));
    for (int i = 1; i < argc; i++) {
        int rc = GO_ON;
        if (strncmp(argv[i], "--venue=", 8) == 0)
            rc = set_venue(o, argv[i] + 8);
        else if (strcmp(argv[i], "--venue") == 0 && i + 1 < argc)
            rc = set_venue(o, argv[i + 1]);
        if (rc != GO_ON)
            return rc;
    }
    return GO_ON;
}

static int add_given(struct options *o, const char *name, const char *value)
{
    struct option_given *grown = reallocarray(o->given, o->n_given + 1, sizeof(*grown));
    if (!grown)
        return usage("out of memory");
    o->given = grown;
    grown[o->n_given++] = (struct option_given){name, value};
    return GO_ON;
}

static int add_name(const char ***names, size_t *n, const char *value)
{
    const char **grown = reallocarray(*names, *n + 1, sizeof(*grown));
    if (!grown)
        return usage("out of memory");
    *names = grown;
    grown[(*n)++] = value;
    return GO_ON;
}

static int add_recording(struct options *o, const char *value)
{
    return add_name(&o->recordings, &o->n_recordings, value);
}

static int add_bars(struct options *o, const char *value)
{
    return add_name(&o->bars, &o->n_bars, value);
}

static int set_seed(struct options *o, const char *value)
{
    char *end;
    errno = 0;
    o->seed = strtoull(value, &end, 10);
    o->synthetic = true;
    if (!isdigit((unsigned char)*value) || *end != '\0' || errno != 0)
        return usage("bad seed: --synthetic %s: a whole number from 0 to 18446744073709551615", value);
    return GO_ON;
}

static int set_symbols(struct options *o, const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end != '\0' || n < 1 || n > TAPE_SYMBOLS_MAX)
        return usage("bad number: --symbols %s: from 1 to %d", value, TAPE_SYMBOLS_MAX);
    o->symbols = (int)n;
    return GO_ON;
}

static int set_rate(struct options *o, const char *value)
{
    char *end;
    o->rate = strtod(value, &end);
    if (end == value || *end != '\0' || !(o->rate >= 0.01 && o->rate <= 100000))
        return usage("bad rate: --rate %s: messages a second of each symbol, from 0.01 to 100000", value);
    return GO_ON;
}

static int set_interval(struct options *o, const char *value)
{
    o->interval = replay_candle_interval_find(value, strlen(value));
    if (o->interval < 0)
        return usage("unknown interval: --interval %s: 1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d or 1w",
                     value);
    return GO_ON;
}

static int set_time(const char *name, const char *value, int64_t *ret_ns)
{
    if (bars_time_parse(value, strlen(value), ret_ns) != 0)
        return usage("bad time: %s %s: ISO 8601 as 2024-08-08T23:55:00Z, or an epoch in s, ms, us or ns",
                     name, value);
    return GO_ON;
}

static int set_from(struct options *o, const char *value)
{
    return set_time("--from", value, &o->from_ns);
}

static int set_to(struct options *o, const char *value)
{
    return set_time("--to", value, &o->to_ns);
}

static int set_speed(struct options *o, const char *value)
{
    char *end;
    if (strcmp(value, "max") == 0) {
        o->speed = 0;
        return GO_ON;
    }
    o->speed = strtod(value, &end);
    if (end == value || *end != '\0' || !(o->speed >= 0.001 && o->speed <= 1e6))
        return usage("bad speed: --speed %s: a number from 0.001 to 1000000, or max", value);
    return GO_ON;
}

static int set_listen(struct options *o, const char *value)
{
    const char *colon = strrchr(value, ':');
    char *end;
    size_t len = colon ? (size_t)(colon - value) : 0;
    long port = colon && isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : -1;
    if (len >= 2 && value[0] == '[' && value[len - 1] == ']') {
        value++;
        len -= 2;
    }
    if (port < 0 || port > 65535 || *end != '\0' || len == 0 || len >= sizeof(o->host))
        return usage("bad address: --listen %s: HOST:PORT as 127.0.0.1:9443, port 0 to 65535", value);
    memcpy(o->host, value, len);
    o->host[len] = '\0';
    o->port = (int)port;
    return GO_ON;
}

static int set_ca_out(struct options *o, const char *value)
{
    o->ca_out = value;
    return GO_ON;
}

static int set_transcript(struct options *o, const char *value)
{
    o->transcript = value;
    return GO_ON;
}

static int add_fault(struct options *o, const char *value)
{
    char error[FAULT_ERROR_MAX];
    if (replay_fault_parse(&o->faults, value, error) < 0)
        return usage("%s", error);
    return GO_ON;
}

static const struct option {
    const char *name;
    bool many; /* takes every word up to the next option */
    int (*set)(struct options *o, const char *value);
} table[] = {
    {"--venue", false, set_venue},
    {"--recording", true, add_recording},
    {"--bars", true, add_bars},
    {"--synthetic", false, set_seed},
    {"--interval", false, set_interval},
    {"--from", false, set_from},
    {"--to", false, set_to},
    {"--speed", false, set_speed},
    {"--symbols", false, set_symbols},
    {"--rate", false, set_rate},
    {"--listen", false, set_listen},
    {"--ca-out", false, set_ca_out},
    {"--fault", true, add_fault},
    {"--transcript", false, set_transcript},
};

static const struct option *find(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (strlen(table[i].name) == len && memcmp(table[i].name, word, len) == 0)
            return &table[i];
    return NULL;
}

static int check(const struct options *o)
{
    char error[PROTOCOL_ERROR_MAX];
    if ((o->n_recordings > 0) + (o->n_bars > 0) + o->synthetic != 1)
        return usage(
            "nothing to play, or too much: one of --recording F..., --bars F... or --synthetic SEED");
    if (o->interval >= 0 && o->n_bars == 0)
        return usage("--interval without --bars: the interval of bars files: leave it out");
    if ((o->symbols > 0 || o->rate > 0) && !o->synthetic)
        return usage("--symbols or --rate without --synthetic: of a made market only: leave them out");
    if (o->from_ns >= o->to_ns)
        return usage("--from is not before --to: a time range: --from earlier than --to");
    if (o->venue->check && o->venue->check(o, error) < 0)
        return usage("%s", error);
    return GO_ON;
}

int replay_options_parse(struct options *o, int argc, char **argv)
{
    *o = (struct options){
        .interval = -1, .from_ns = INT64_MIN, .to_ns = INT64_MAX, .speed = 1, .host = "127.0.0.1", .port = 0};
    int rc = find_venue(o, argc, argv);
    if (rc != GO_ON)
        return rc;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *equals = strchr(word, '=');
        size_t len = equals ? (size_t)(equals - word) : strlen(word);
        if (strcmp(word, "--help") == 0) {
            fputs(help, stdout);
            rc = EXIT_SUCCESS;
            goto out;
        }
        if (strcmp(word, "--version") == 0) {
            puts("papertape-replay " PAPERTAPE_VERSION);
            rc = EXIT_SUCCESS;
            goto out;
        }
        const struct option *option = find(word, len);
        bool given = !option && is_given(o->venue, word, len);
        if (!option && !given) {
            rc = usage("unknown option: %s: see --help", word);
            goto out;
        }
        if (!equals && (i + 1 == argc || strncmp(argv[i + 1], "--", 2) == 0)) {
            rc = usage("%s: no value: see --help", word);
            goto out;
        }
        const char *value = equals ? equals + 1 : argv[++i];
        rc = given ? add_given(o, word, value) : option->set(o, value);
        while (rc == GO_ON && option && option->many && i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0)
            rc = option->set(o, argv[++i]);
        if (rc != GO_ON)
            goto out;
    }
    rc = check(o);
out:
    if (rc != GO_ON)
        replay_options_finish(o);
    return rc;
}

void replay_options_finish(struct options *o)
{
    free(o->recordings);
    free(o->bars);
    free(o->given);
    o->given = NULL;
    o->n_given = 0;
    o->recordings = o->bars = NULL;
    o->n_recordings = o->n_bars = 0;
}
