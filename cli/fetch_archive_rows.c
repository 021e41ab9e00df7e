#include "cli/fetch_archive.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

enum {
    BAR_COLUMNS = 12,
    TRADE_COLUMNS = 8,
    COLUMNS_MAX = BAR_COLUMNS,
    RUN_MAX = 1 << 18, /* rows of a page of the store */
};

int cli_archive_refuse(struct archive_reading *reading, const char *what)
{
    return reading->line > 0
               ? fail_with(-EBADMSG, reading->err, sizeof reading->err, "line %zu: %s", reading->line, what)
               : fail_with(-EBADMSG, reading->err, sizeof reading->err, "%s", what);
}

/* The cells of a line, of which the first COLUMNS_MAX are kept. */
static size_t split(char *line, const char *cells[static COLUMNS_MAX])
{
    size_t n = 0;
    for (char *cell = line; cell; n++) {
        char *comma = strchr(cell, ',');
        if (comma)
            *comma++ = '\0';
        if (n < COLUMNS_MAX)
            cells[n] = cell;
        cell = comma;
    }
    return n;
}

/* In milliseconds, from 2025 on in microseconds. */
static bool parse_time(const char *text, int64_t *ret_ns)
{
    int64_t value;
    if (decimal_parse_str(text, 0, &value) < 0 || value < 0)
        return false;
    bool micro = value >= 100000000000000;
    if (value > INT64_MAX / (micro ? 1000 : 1000000))
        return false;
    *ret_ns = value * (micro ? 1000 : 1000000);
    return true;
}

static int parse_bar(struct archive_reading *reading, const char *const cells[static BAR_COLUMNS],
                     struct bar *ret)
{
    const int price = reading->symbol->price_scale, qty = reading->symbol->qty_scale;
    struct bar bar = {.first_trade_id = -1, .last_trade_id = -1};
    if (!parse_time(cells[0], &bar.open_ns))
        return cli_archive_refuse(reading, "its time is no number of milliseconds or microseconds");
    int64_t *const prices[] = {&bar.open, &bar.high, &bar.low, &bar.close};
    for (int i = 0; i < 4; i++)
        if (decimal_parse_str(cells[1 + i], price, prices[i]) < 0)
            return cli_archive_refuse(reading, "a price is no number, or has too many digits");
    if (decimal_parse128(cells[5], strlen(cells[5]), qty, &bar.volume) < 0 ||
        decimal_parse128(cells[7], strlen(cells[7]), price + qty, &bar.quote_volume) < 0 ||
        decimal_parse_str(cells[8], 0, &bar.trades) < 0)
        return cli_archive_refuse(reading, "a volume or the number of trades is no number");
    if (bar.low <= 0 || bar.open < bar.low || bar.close < bar.low || bar.open > bar.high ||
        bar.close > bar.high)
        return cli_archive_refuse(reading,
                                  "a price is not above 0, or open or close lie outside low to high");
    if (bar.open_ns < reading->from_ns || bar.open_ns >= reading->end_ns)
        return cli_archive_refuse(reading, "its time is not in the period that the file's name says");
    if (bar_open_time(bar.open_ns, reading->interval_ns) != bar.open_ns ||
        (reading->n > 0 && bar.open_ns <= reading->bars[reading->n - 1].open_ns))
        return cli_archive_refuse(reading, "its time is no bar's, or does not rise");
    *ret = bar;
    return 0;
}

static int take_bar(struct archive_reading *reading, const char *const cells[static BAR_COLUMNS])
{
    struct bar bar;
    int r = parse_bar(reading, cells, &bar);
    if (r == 0 && reading->n == reading->room) {
        size_t room = reading->room ? 2 * reading->room : 4096;
        struct bar *more = reallocarray(reading->bars, room, sizeof *more);
        if (!more)
            return fail_with(-ENOMEM, reading->err, sizeof reading->err, "out of memory");
        reading->bars = more;
        reading->room = room;
    }
    if (r == 0)
        reading->bars[reading->n++] = bar;
    return r;
}

/* Bars without a hole between them: what lies in a hole is asked for, as is what the file has not. */
static int put_bars(struct archive_reading *reading)
{
    int r = 0;
    for (size_t first = 0, end; first < reading->n && r == 0; first = end) {
        end = first + 1;
        while (end < reading->n && end - first < RUN_MAX &&
               reading->bars[end].open_ns ==
                   bar_end_time(reading->bars[end - 1].open_ns, reading->interval_ns))
            end++;
        r = history_store_add(reading->store, reading->asked_ns, reading->bars[first].open_ns,
                              bar_end_time(reading->bars[end - 1].open_ns, reading->interval_ns),
                              &reading->bars[first], end - first, NULL);
        reading->put += r == 0 ? end - first : 0;
    }
    return r < 0 ? cli_archive_refuse(reading, strerror(-r)) : 0;
}

/* ---- trades ---- */

static bool parse_flag(const char *text, bool *ret)
{
    *ret = strcasecmp(text, "true") == 0;
    return *ret || strcasecmp(text, "false") == 0;
}

static int parse_trade(struct archive_reading *reading, const char *const cells[static TRADE_COLUMNS],
                       struct market_trade *ret)
{
    struct market_trade trade = {0};
    if (decimal_parse_str(cells[0], 0, &trade.id) < 0 ||
        decimal_parse_str(cells[3], 0, &trade.first_id) < 0 ||
        decimal_parse_str(cells[4], 0, &trade.last_id) < 0 || trade.id < 0 || trade.last_id < trade.first_id)
        return cli_archive_refuse(reading, "an id is no number, or the last one is before the first");
    if (decimal_parse_str(cells[1], reading->symbol->price_scale, &trade.price) < 0 || trade.price <= 0 ||
        decimal_parse_str(cells[2], reading->symbol->qty_scale, &trade.qty) < 0 || trade.qty < 0)
        return cli_archive_refuse(reading, "the price or the quantity is no number above 0");
    if (!parse_time(cells[5], &trade.ts_ns))
        return cli_archive_refuse(reading, "its time is no number of milliseconds or microseconds");
    if (!parse_flag(cells[6], &trade.buyer_maker))
        return cli_archive_refuse(reading, "whether the buyer was the maker is neither true nor false");
    if (trade.ts_ns < reading->from_ns || trade.ts_ns >= reading->end_ns)
        return cli_archive_refuse(reading, "its time is not in the period that the file's name says");
    if (reading->any && (trade.id <= reading->last.id || trade.ts_ns < reading->last.ts_ns))
        return cli_archive_refuse(reading, "its id does not rise, or its time falls");
    *ret = trade;
    return 0;
}

/* Those before `end_ns` answer for the time from the last page up to there. */
static int put_trades(struct archive_reading *reading, int64_t end_ns)
{
    size_t n = 0;
    while (n < reading->n && reading->trades[n].ts_ns < end_ns)
        n++;
    if (end_ns <= reading->page_ns)
        return 0;
    int r = history_store_add_trades(reading->store, reading->asked_ns, reading->page_ns, end_ns,
                                     reading->trades, n, NULL);
    if (r < 0)
        return cli_archive_refuse(reading, strerror(-r));
    reading->put += n;
    reading->page_ns = end_ns;
    reading->n -= n;
    if (reading->n > 0)
        memmove(reading->trades, reading->trades + n, reading->n * sizeof *reading->trades);
    return 0;
}

static int put_trade(struct archive_reading *reading, const struct market_trade *trade)
{
    int r = 0;
    if (!reading->trades && !(reading->trades = calloc(RUN_MAX, sizeof *reading->trades)))
        return fail_with(-ENOMEM, reading->err, sizeof reading->err, "out of memory");
    if (reading->any && trade->id != reading->last.id + 1) { /* all of both times is asked for */
        r = put_trades(reading, reading->last.ts_ns);
        reading->n = 0;
        reading->page_ns = trade->ts_ns + 1;
    } else if (reading->n == RUN_MAX) {
        r = put_trades(reading, reading->last.ts_ns);
    }
    if (r == 0 && reading->n == RUN_MAX)
        r = cli_archive_refuse(reading, "too many trades have one time");
    if (r == 0 && trade->ts_ns >= reading->page_ns)
        reading->trades[reading->n++] = *trade;
    return r;
}

static int take_trade(struct archive_reading *reading, const char *const cells[static TRADE_COLUMNS])
{
    struct market_trade trade;
    int r = parse_trade(reading, cells, &trade);
    if (r == 0 && reading->store)
        r = put_trade(reading, &trade);
    if (r == 0) {
        reading->last = trade;
        reading->any = true;
    }
    return r;
}

/* ---- lines ---- */

int cli_archive_line(struct archive_reading *reading, char *line)
{
    const bool trades = reading->interval_ns == 0;
    const char *cells[COLUMNS_MAX], *head = trades ? "agg_trade_id," : "open_time,";
    line[strcspn(line, "\r")] = '\0';
    reading->line++;
    if (reading->line == 1 && isalpha((unsigned char)line[0]))
        return strncmp(line, head, strlen(head)) == 0
                   ? 0
                   : cli_archive_refuse(reading, trades ? "its columns are others than those of trades"
                                                        : "its columns are others than those of bars");
    if (line[0] == '\0')
        return 0;
    size_t n = split(line, cells);
    if (n != (trades ? TRADE_COLUMNS : BAR_COLUMNS))
        return cli_archive_refuse(reading, trades ? "aggregate trades have eight columns"
                                                  : "bars have twelve columns");
    return trades ? take_trade(reading, cells) : take_bar(reading, cells);
}

int cli_archive_end(struct archive_reading *reading)
{
    return !reading->store            ? 0
           : reading->interval_ns > 0 ? put_bars(reading)
                                      : put_trades(reading, reading->end_ns);
}

void cli_archive_finish(struct archive_reading *reading)
{
    free(reading->bars);
    free(reading->trades);
}
