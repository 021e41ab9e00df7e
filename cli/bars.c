#include "cli/verbs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/bars_file.h"
#include "exchange/exit_status.h"

static const char help[] =
    "Usage: papertape bars SYMBOL INTERVAL [--source venue|trades] [--split] [--from T] [--to T] [--state "
    "DIR]\n"
    "\n"
    "Stored bars as CSV, in exact decimals: open_time_ms,open,high,low,close,volume. Gaps stay gaps.\n"
    "\n"
    "  INTERVAL          1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w\n"
    "  --source venue    the venue's closed klines (default)\n"
    "  --source trades   built here from trades\n"
    "  --split           in the shares of now: what was told before a split, divided by it\n"
    "  --from T, --to T  open times, both included: ISO 8601 (UTC without a zone), or epoch s, ms, us, ns\n"
    "  --state DIR       the daemon's state directory\n";

struct printing {
    int price_scale, qty_scale;
    bool any;
};

static void print_bar(void *ctx, const struct bar *bar)
{
    struct printing *p = ctx;
    p->any = true;
    char open[STORED_CELL], high[STORED_CELL], low[STORED_CELL], close[STORED_CELL], volume[STORED_CELL];
    printf("%lld,%s,%s,%s,%s,%s\n", (long long)(bar->open_ns / 1000000),
           stored_decimal(STORED_CSV, open, bar->open, p->price_scale),
           stored_decimal(STORED_CSV, high, bar->high, p->price_scale),
           stored_decimal(STORED_CSV, low, bar->low, p->price_scale),
           stored_decimal(STORED_CSV, close, bar->close, p->price_scale),
           stored_decimal(STORED_CSV, volume, bar->volume, p->qty_scale));
}

static void on_stored(void *ctx, const struct bar *bar)
{
    (void)bar;
    *(bool *)ctx = true;
}

/* Says on stderr which intervals of the symbol are stored at all, where the one asked for has no bar. */
static int note_stored(struct db_reader *reader, const char *symbol, const char *asked, int64_t asked_ns,
                       enum bar_source source)
{
    static const char *const intervals[] = {"1s", "1m", "3m", "5m",  "15m", "30m", "1h", "2h",
                                            "4h", "6h", "8h", "12h", "1d",  "3d",  "1w"};
    char names[400] = "none is stored; stored are";
    size_t start = strlen(names), n = start;

    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++)
        for (int k = 0; k < 2; k++) {
            enum bar_source from = k ? BAR_TRADES : BAR_VENUE;
            int64_t interval_ns;
            bool any = false;
            if (bar_interval_parse(intervals[i], &interval_ns) < 0)
                continue;
            int r = db_reader_last_bars(reader, symbol, interval_ns, from, 1, on_stored, &any);
            if (r < 0)
                return r;
            if (any && interval_ns == asked_ns && from == source)
                return 0; /* only not at those times */
            if (any && n < sizeof names)
                n += (size_t)snprintf(names + n, sizeof names - n, "%s %s%s", n > start ? "," : "",
                                      intervals[i], k ? " of --source trades" : "");
        }
    char what[SYMBOL_NAME_MAX + 16];
    snprintf(what, sizeof what, "%s %.8s", symbol, asked);
    stored_fail(EXIT_OK, "bars", what, n > start ? names : "no bar of this symbol is stored");
    return 0;
}

static bool parse_time(const char *option, const char *text, int64_t *ret_ns)
{
    if (!text || bars_time_parse(text, strlen(text), ret_ns) == 0)
        return true;
    char what[96];
    snprintf(what, sizeof what, "%s: \"%.64s\"", option, text);
    stored_fail(EXIT_USAGE, "bars", what,
                "a time as 2024-08-08, 2024-08-08T14:02:00Z or 1723125720 is needed");
    return false;
}

static int run_line(int argc, char **argv)
{
    struct stored_options options;
    struct db_reader *reader;
    struct db_symbol_row symbol;
    char name[SYMBOL_NAME_MAX] = "";
    int64_t interval_ns, from_ns = INT64_MIN, to_ns = INT64_MAX;
    enum bar_source source = BAR_VENUE;

    int r = stored_options(argc, argv, "source split from to", help, &options);
    if (r != EXIT_OK || options.done)
        return r;
    if (argc - options.first != 2)
        return stored_fail(EXIT_USAGE, "bars", "",
                           "a symbol and an interval are needed, as: bars BTCUSDT 1m");
    const char *interval = argv[options.first + 1];
    if (bar_interval_parse(interval, &interval_ns) < 0)
        return stored_fail(EXIT_USAGE, "bars", interval,
                           "is no interval: 1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w");
    if (options.source && strcmp(options.source, "trades") == 0)
        source = BAR_TRADES;
    else if (options.source && strcmp(options.source, "venue") != 0)
        return stored_fail(EXIT_USAGE, "bars", options.source, "is no source: venue or trades");
    if (!parse_time("--from", options.from, &from_ns) || !parse_time("--to", options.to, &to_ns))
        return EXIT_USAGE;
    for (size_t i = 0; argv[options.first][i] && i < sizeof name - 1; i++)
        name[i] = (char)toupper((unsigned char)argv[options.first][i]);

    r = stored_open("bars", options.state, &reader);
    if (r != EXIT_OK)
        return r;
    r = db_reader_symbol(reader, name, &symbol);
    if (r == 0) {
        struct printing printing = {symbol.symbol.price_scale, symbol.symbol.qty_scale, false};
        puts("open_time_ms,open,high,low,close,volume");
        r = (options.split ? db_reader_split_bars : db_reader_bars)(reader, name, interval_ns, source,
                                                                    from_ns, to_ns, print_bar, &printing);
        if (r == 0 && !printing.any)
            r = note_stored(reader, name, interval, interval_ns, source);
    }
    return stored_close("bars", reader, r);
}

const struct option_verb cli_bars = {
    .name = "bars", .words = "stored bars of a symbol, as CSV", .run = run_line};
