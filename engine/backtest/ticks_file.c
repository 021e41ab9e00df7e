#include "engine/backtest/ticks_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "engine/market/symbols.h"
#include "exchange/bar.h"
#include "exchange/bars_input.h"
#include "exchange/bars_name.h"
#include "exchange/fail.h"
#include "exchange/market.h"
#include "exchange/venue_format.h"

enum { FIELDS = 6, FIELDS_MAX = 7 };
/* Of prices and quantities, as far as a file's may have digits: coins whose trades are of billions have few.
 */
enum { PLAIN_SCALE = 8, SINGLE_SCALE = 9 };
enum { FIELD_ID, FIELD_PRICE, FIELD_QTY, FIELD_QUOTE_QTY, FIELD_TIME, FIELD_BUYER_MAKER };
/* Of aggregates, whose other fields are the same. */
enum { AGGREGATE_TIME = 5, AGGREGATE_BUYER_MAKER = 6 };
/* Of single trades, as a stock's: their ids are an exchange's and say nothing of the order. */
enum { SINGLE_TIME = 3, SINGLE_BUYER_MAKER = 4, SINGLE_MAKES_PRICE = 5 };
#define SINGLE_HEAD "trade_id,"

/* A trade that makes no price, as of an odd lot: it counts for the volume alone. */
struct odd_trade {
    int64_t ts_ns, qty;
};

/* One file that is being read, after others of its symbol. */
struct reading {
    const char *path;
    struct symbol *symbol; /* its name, and the scale of prices and quantities */
    struct bars_input *in;
    ticks_unpack *unpack;
    const struct venue_format *format; /* of a recording's frames; NULL before the first */
    struct venue_parser *parser;
    struct backtest_tick *ticks;
    size_t n, cap;
    struct odd_trade *odd; /* in the order of time */
    size_t n_odd, cap_odd;
    bool single;
    int price_digits, qty_digits;
    char *err;
};

static int wrong(const struct reading *reading, const char *words)
{
    snprintf(reading->err, MARKET_ERROR_MAX, "%s:%lu: %s", reading->path, bars_input_number(reading->in),
             words);
    return -EINVAL;
}

/* Cuts a line at its commas; returns how many fields there are, at most FIELDS_MAX. */
static int cut(char *line, char *fields[FIELDS_MAX])
{
    int n = 0;
    while (line && n < FIELDS_MAX)
        fields[n++] = strsep(&line, ",");
    return n;
}

/* Raises *digits to those after the point that a number needs. */
static void see_digits(const struct reading *reading, int64_t units, int *digits)
{
    int needed = reading->symbol->price_scale;
    for (; needed > 0 && units % 10 == 0; units /= 10)
        needed--;
    *digits = needed > *digits ? needed : *digits;
}

static bool is_word(const char *text, const char *a, const char *b)
{
    return strcasecmp(text, a) == 0 || strcmp(text, b) == 0;
}

/* Room for one more of n: the list, which may have moved; NULL without memory. */
static void *with_room(void *list, size_t size, size_t n, size_t *cap)
{
    if (n < *cap)
        return list;
    size_t more = *cap ? 2 * *cap : 4096;
    void *moved = reallocarray(list, more, size);
    *cap = moved ? more : *cap;
    return moved;
}

static int push(struct reading *reading, const struct backtest_tick *tick)
{
    const struct backtest_tick *before = reading->n > 0 ? &reading->ticks[reading->n - 1] : NULL;
    if (before && tick->id <= before->id)
        return wrong(reading, "trade ids must rise");
    if (before && tick->ts_ns < before->ts_ns)
        return wrong(reading, "times must not fall");
    struct backtest_tick *ticks = with_room(reading->ticks, sizeof *ticks, reading->n, &reading->cap);
    if (!ticks)
        return fail_with(-ENOMEM, reading->err, MARKET_ERROR_MAX, "out of memory");
    reading->ticks = ticks;
    see_digits(reading, tick->price, &reading->price_digits);
    see_digits(reading, tick->qty, &reading->qty_digits);
    reading->ticks[reading->n++] = *tick;
    return 0;
}

static int push_odd(struct reading *reading, const struct odd_trade *odd)
{
    if (reading->n_odd > 0 && odd->ts_ns < reading->odd[reading->n_odd - 1].ts_ns)
        return wrong(reading, "times must not fall");
    struct odd_trade *more = with_room(reading->odd, sizeof *more, reading->n_odd, &reading->cap_odd);
    if (!more)
        return fail_with(-ENOMEM, reading->err, MARKET_ERROR_MAX, "out of memory");
    reading->odd = more;
    see_digits(reading, odd->qty, &reading->qty_digits);
    reading->odd[reading->n_odd++] = *odd;
    return 0;
}

static bool is_flag(const char *text)
{
    return is_word(text, "true", "1") || is_word(text, "false", "0");
}

/* Where a sixth field is a time and the seventh says who made the price, those of an aggregate are put in a
 * trade's places. */
static void take_aggregate(char *fields[FIELDS_MAX], int n)
{
    if (n <= AGGREGATE_BUYER_MAKER || is_flag(fields[FIELD_BUYER_MAKER]) ||
        !is_flag(fields[AGGREGATE_BUYER_MAKER]))
        return;
    fields[FIELD_TIME] = fields[AGGREGATE_TIME];
    fields[FIELD_BUYER_MAKER] = fields[AGGREGATE_BUYER_MAKER];
}

/* Puts those of a single trade in a trade's places; of a stock the taker is not known. */
static void take_single(char *fields[FIELDS_MAX], char **ret_makes_price)
{
    static char unknown[] = "0";
    *ret_makes_price = fields[SINGLE_MAKES_PRICE];
    char *time = fields[SINGLE_TIME], *maker = fields[SINGLE_BUYER_MAKER];
    fields[FIELD_TIME] = time;
    fields[FIELD_BUYER_MAKER] = maker[0] ? maker : unknown;
}

static int read_fields(struct reading *reading, char *fields[FIELDS_MAX])
{
    const int scale = reading->symbol->price_scale;
    struct backtest_tick tick;
    char *makes_price = NULL;
    if (reading->single)
        take_single(fields, &makes_price);
    if (decimal_parse_str(fields[FIELD_ID], 0, &tick.id) < 0 || tick.id < 0)
        return wrong(reading, "the first field is no trade id");
    if (decimal_parse_str(fields[FIELD_PRICE], scale, &tick.price) < 0 || tick.price <= 0)
        return wrong(reading, reading->single
                                  ? "the price must be above 0, with at most 9 digits after the point"
                                  : "the price must be above 0, with at most 8 digits after the point");
    if (decimal_parse_str(fields[FIELD_QTY], scale, &tick.qty) < 0 || tick.qty <= 0)
        return wrong(reading, reading->single
                                  ? "the quantity must be above 0, with at most 9 digits after the point"
                                  : "the quantity must be above 0, with at most 8 digits after the point");
    if (bars_time_parse(fields[FIELD_TIME], strlen(fields[FIELD_TIME]), &tick.ts_ns) < 0 || tick.ts_ns <= 0)
        return wrong(reading, "the time is none: an epoch in ms or us is needed");
    tick.buyer_maker = is_word(fields[FIELD_BUYER_MAKER], "true", "1");
    if (!tick.buyer_maker && !is_word(fields[FIELD_BUYER_MAKER], "false", "0"))
        return wrong(reading,
                     "the sixth field says whether the buyer was the maker: true or false is needed");
    if (makes_price && is_word(makes_price, "false", "0"))
        return push_odd(reading, &(struct odd_trade){tick.ts_ns, tick.qty});
    if (reading->single)
        tick.id = reading->n > 0 ? reading->ticks[reading->n - 1].id + 1 : 1;
    return push(reading, &tick);
}

/* The first message of a frame, parsed by that venue's format. */
static int parse_by(const struct venue_format *format, struct venue_parser *parser, const char *json,
                    struct market_event *ret)
{
    size_t pos = 0;
    return format->parse(parser, json, strlen(json), &pos, ret);
}

/* Finds the venue whose format reads the first frame, and reads it. */
static int find_format(struct reading *reading, const char *json, struct market_event *ret)
{
    const struct venue_format *format;
    for (size_t i = 0; (format = venue_format(i)); i++) {
        struct venue_parser *parser;
        int r = format->parse ? format->parser_create(reading->symbol, 1, &parser) : -EBADMSG;
        if (r == -EBADMSG)
            continue;
        if (r < 0)
            return r;
        r = parse_by(format, parser, json, ret);
        if (r == 0) {
            reading->format = format;
            reading->parser = parser;
            return 0;
        }
        format->parser_destroy(parser);
        if (r == 1 || r == -ENOENT)
            return r;
    }
    return -EBADMSG;
}

/* A frame as it was received: NANOSECONDS {json}. Skips all except the symbol's trades. */
static int read_frame(struct reading *reading, const char *json)
{
    struct market_event event;
    if (!strstr(json, "@trade\"") && !strstr(json, "\"e\":\"trade\""))
        return 0;
    int r = reading->format ? parse_by(reading->format, reading->parser, json, &event)
                            : find_format(reading, json, &event);
    if (r == 1 || r == -ENOENT)
        return 0;
    if (r < 0)
        return wrong(reading, "the frame is no trade of a venue that is known");
    if (event.kind != MARKET_TRADE || (reading->n > 0 && event.trade.id <= reading->ticks[reading->n - 1].id))
        return 0; /* a trade that was repeated after a reconnection */
    return push(reading, &(struct backtest_tick){event.trade.ts_ns, event.trade.id, event.trade.price,
                                                 event.trade.qty, event.trade.buyer_maker});
}

/* 1: the first line is a head; 0: it is a trade. The scale is that of the symbol's first file. */
static int take_head(struct reading *reading, const char *line)
{
    const bool single = strncmp(line, SINGLE_HEAD, sizeof SINGLE_HEAD - 1) == 0;
    if (reading->n + reading->n_odd > 0 && single != reading->single)
        return wrong(reading, "single trades and others are not one series");
    reading->single = single;
    reading->symbol->price_scale = reading->symbol->qty_scale = single ? SINGLE_SCALE : PLAIN_SCALE;
    return single || strncasecmp(line, "id,", 3) == 0 || strncasecmp(line, "agg_trade_id,", 13) == 0;
}

static int read_line(struct reading *reading, char *line)
{
    char *fields[FIELDS_MAX], *json = strchr(line, '{');
    if (bars_input_number(reading->in) == 1) {
        int r = take_head(reading, line);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    if (json && json > line && strspn(line, "0123456789. :") == (size_t)(json - line))
        return read_frame(reading, json);
    int n = cut(line, fields);
    if (n < FIELDS)
        return wrong(reading, "id,price,qty,quoteQty,time,isBuyerMaker is needed, as trade histories have "
                              "it, or a frame, NANOSECONDS {json}");
    take_aggregate(fields, n);
    return read_fields(reading, fields);
}

static bool is_zip(const char *path)
{
    char magic[4] = "";
    FILE *file = fopen(path, "rb");
    bool is = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
              memcmp(magic, "PK\3\4", sizeof magic) == 0;
    if (file)
        fclose(file);
    return is;
}

/* A zip archive's one file, where the caller can unpack it. */
static int open_input(struct reading *reading)
{
    struct bars_bytes bytes;
    const char *why;
    const bool zip = is_zip(reading->path);
    if (zip && !reading->unpack)
        return fail_with(-EINVAL, reading->err, MARKET_ERROR_MAX,
                         "%s: it is a zip: its file is needed, unpacked, or as gzip", reading->path);
    int r = zip ? reading->unpack(reading->path, &bytes, &why)
                : bars_input_open(reading->path, NULL, &reading->in);
    if (r < 0)
        return fail_with(r, reading->err, MARKET_ERROR_MAX, "%s: %s", reading->path,
                         zip ? why : strerror(-r));
    return zip ? bars_input_open_bytes(&bytes, &reading->in) : 0;
}

static int read_file(struct reading *reading, size_t *bytes)
{
    const size_t before = reading->n;
    char *line;
    size_t len;
    struct stat st;
    int r = open_input(reading);
    if (r < 0)
        return r;
    while ((r = bars_input_line(reading->in, &line, &len)) > 0)
        if ((r = read_line(reading, line)) < 0)
            break;
    if (r < 0 && !reading->err[0])
        snprintf(reading->err, MARKET_ERROR_MAX, "%s:%lu: %s", reading->path, bars_input_number(reading->in),
                 r == -EINVAL ? "the line is too long for a trade" : bars_input_why(reading->in));
    if (r == 0 && reading->n == before)
        r = wrong(reading, "there is no trade in it");
    *bytes += stat(reading->path, &st) == 0 ? (size_t)st.st_size : 0;
    bars_input_close(reading->in);
    if (reading->format)
        reading->format->parser_destroy(reading->parser);
    reading->format = NULL;
    return r;
}

/* As it was given, or as in BTCUSDT-trades-2024-01-01.csv, in upper case. */
static void name_symbol(const char *path, const char *given, char name[static SYMBOL_NAME_MAX])
{
    struct bars_name found = {0};
    if (given)
        snprintf(found.symbol, SYMBOL_NAME_MAX, "%s", given);
    else
        bars_name_parse(path, &found);
    memcpy(name, found.symbol, SYMBOL_NAME_MAX);
    for (char *c = name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

static bool open_columns(struct bars_file *bars, size_t n)
{
    bars->open_time_ns = malloc(n * sizeof *bars->open_time_ns);
    bars->open = malloc(n * sizeof(double));
    bars->high = malloc(n * sizeof(double));
    bars->low = malloc(n * sizeof(double));
    bars->close = malloc(n * sizeof(double));
    bars->volume = malloc(n * sizeof(double));
    return bars->open_time_ns && bars->open && bars->high && bars->low && bars->close && bars->volume;
}

static size_t count_bars(const struct reading *reading, int64_t interval_ns)
{
    size_t n = 0;
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; i < reading->n; i++) {
        int64_t open_ns = bar_open_time(reading->ticks[i].ts_ns, interval_ns);
        n += open_ns != last_ns;
        last_ns = open_ns;
    }
    return n;
}

/* Of those in the bar of that open time; *at: where they begin. -1: too much. */
static int64_t odd_volume(const struct reading *reading, int64_t open_ns, int64_t interval_ns, size_t *at)
{
    int64_t volume = 0;
    for (; *at < reading->n_odd; (*at)++) {
        const struct odd_trade *odd = &reading->odd[*at];
        const int64_t odd_open_ns = bar_open_time(odd->ts_ns, interval_ns);
        if (odd_open_ns > open_ns)
            break;
        if (odd_open_ns == open_ns && __builtin_add_overflow(volume, odd->qty, &volume))
            return -1;
    }
    return volume;
}

/* Bars of the trades, exact sums turned into numbers at the end of each. */
static int build_bars(const struct reading *reading, int64_t interval_ns, struct bars_file *bars)
{
    const int scale = reading->symbol->price_scale;
    int64_t volume = 0, high = 0, low = 0;
    size_t n_odd = 0;
    if (!open_columns(bars, count_bars(reading, interval_ns)))
        return -ENOMEM;
    for (size_t i = 0; i < reading->n; i++) {
        const struct backtest_tick *tick = &reading->ticks[i];
        int64_t open_ns = bar_open_time(tick->ts_ns, interval_ns);
        if (bars->n == 0 || bars->open_time_ns[bars->n - 1] != open_ns) {
            bars->open_time_ns[bars->n] = open_ns;
            bars->open[bars->n++] = decimal_to_double(tick->price, scale);
            high = low = tick->price;
            if ((volume = odd_volume(reading, open_ns, interval_ns, &n_odd)) < 0)
                return -ERANGE;
        }
        high = tick->price > high ? tick->price : high;
        low = tick->price < low ? tick->price : low;
        if (__builtin_add_overflow(volume, tick->qty, &volume))
            return -ERANGE;
        size_t at = bars->n - 1;
        bars->high[at] = decimal_to_double(high, scale);
        bars->low[at] = decimal_to_double(low, scale);
        bars->close[at] = decimal_to_double(tick->price, scale);
        bars->volume[at] = decimal_to_double(volume, scale);
    }
    bars->interval_ns = interval_ns;
    bars->price_digits = reading->price_digits;
    bars->volume_digits = reading->qty_digits;
    return 0;
}

static int rescale(struct backtest_tick *ticks, size_t n, int scale, const struct symbol *symbol,
                   char err[static MARKET_ERROR_MAX])
{
    for (size_t i = 0; i < n; i++)
        if (decimal_rescale(ticks[i].price, scale, symbol->price_scale, &ticks[i].price) < 0 ||
            decimal_rescale(ticks[i].qty, scale, symbol->qty_scale, &ticks[i].qty) < 0)
            return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "%s: trade %lld has more digits than the symbol",
                             symbol->name, (long long)ticks[i].id);
    return 0;
}

/* All files of paths[first]'s symbol, one after the other as they are given, into one source. */
static int read_symbol(const char *const *paths, size_t first, size_t n, const struct ticks_options *options,
                       struct market_source *source, struct backtest_ticks *ticks, int *ret_scale,
                       size_t *bytes, char *err)
{
    struct symbol symbol = {
        .price_scale = PLAIN_SCALE, .qty_scale = PLAIN_SCALE, .quote_scale = PLAIN_SCALE, .trading = true};
    struct reading reading = {.symbol = &symbol, .unpack = options->unpack, .err = err};
    char name[SYMBOL_NAME_MAX];
    int r = 0;
    name_symbol(paths[first], options->names ? options->names[first] : NULL, symbol.name);
    memcpy(source->bars.symbol, symbol.name, sizeof symbol.name);
    for (size_t i = first; i < n && r == 0; i++) {
        name_symbol(paths[i], options->names ? options->names[i] : NULL, name);
        if (strcmp(name, symbol.name) != 0)
            continue;
        reading.path = paths[i];
        r = read_file(&reading, bytes);
    }
    *ticks = (struct backtest_ticks){reading.ticks, reading.n};
    *ret_scale = symbol.price_scale;
    if (r == 0) {
        snprintf(source->origin, sizeof source->origin, "%.255s", paths[first]);
        source->file = first;
        r = build_bars(&reading, options->interval_ns, &source->bars);
    }
    free(reading.odd);
    if (r == 0 || err[0])
        return r;
    return fail_with(r, err, MARKET_ERROR_MAX, "%s: %s", paths[first],
                     r == -ENOMEM ? "out of memory" : "the volume of a bar is too much to be one");
}

/* Was that file read with one before it? */
static bool is_read(const char *path, const char *given, const struct market_source *sources, size_t n)
{
    char name[SYMBOL_NAME_MAX];
    name_symbol(path, given, name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(sources[i].bars.symbol, name) == 0)
            return true;
    return false;
}

/* *ret_n: symbols; of those whose reading began also where it fails. */
static int read_all(const char *const *paths, size_t n, const struct ticks_options *options,
                    struct market_source *sources, struct ticks_market *to, int *scales, size_t *ret_n,
                    char *err)
{
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        if (is_read(paths[i], options->names ? options->names[i] : NULL, sources, *ret_n))
            continue;
        size_t at = (*ret_n)++;
        r = read_symbol(paths, i, n, options, &sources[at], &to->ticks[at], &scales[at], &to->source_bytes,
                        err);
        to->n += to->ticks[at].n;
    }
    return r;
}

int backtest_ticks_market_load(const char *const *paths, size_t n, const struct ticks_options *options,
                               struct ticks_market *ret, char err[static MARKET_ERROR_MAX])
{
    struct market_options grid = {.interval_ns = options->interval_ns, .threads = 1};
    struct market_source *sources = calloc(n, sizeof *sources);
    struct ticks_market ticks = {.ticks = calloc(n, sizeof *ticks.ticks)};
    int *scales = calloc(n, sizeof *scales);
    size_t n_symbols = 0;
    int r = -ENOMEM;
    *err = '\0';
    if (sources && ticks.ticks && scales)
        r = read_all(paths, n, options, sources, &ticks, scales, &n_symbols, err);
    else
        snprintf(err, MARKET_ERROR_MAX, "out of memory");
    if (r == 0)
        r = market_store_symbols(sources, (int)n_symbols, options->exchange_info, &options->terms, err);
    for (size_t i = 0; i < n_symbols && r == 0; i++)
        r = market_store_refine(&sources[i].symbol, sources[i].bars.volume_digits);
    if (r == 0)
        r = market_store_build(sources, (int)n_symbols, &grid, &ticks.market, err);
    for (size_t i = 0; i < n_symbols && r == 0; i++)
        r = rescale((struct backtest_tick *)(uintptr_t)ticks.ticks[i].ticks, ticks.ticks[i].n, scales[i],
                    &ticks.market->series[i].symbol, err);
    if (sources)
        market_store_sources_finish(sources, (int)n_symbols);
    free(sources);
    free(scales);
    if (r == 0) {
        *ret = ticks;
        return 0;
    }
    for (size_t i = 0; ticks.ticks && i < n_symbols; i++)
        free((struct backtest_tick *)(uintptr_t)ticks.ticks[i].ticks);
    free(ticks.ticks);
    market_store_close(ticks.market);
    return r;
}

void backtest_ticks_market_finish(struct ticks_market *ticks)
{
    for (int i = 0; ticks->market && i < ticks->market->n_symbols; i++)
        free((struct backtest_tick *)(uintptr_t)ticks->ticks[i].ticks);
    free(ticks->ticks);
    market_store_close(ticks->market);
    *ticks = (struct ticks_market){0};
}
