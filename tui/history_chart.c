/* The chart's bars: those that the daemon keeps with their indicators, else the stored ones. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "exchange/decimal.h"
#include "tui/history_reader.h"

struct reading {
    struct history *history;
    int price_scale, qty_scale;
    int64_t interval_ns;
    bool kept;
    int until; /* bars up to the one that is wanted */
};

static void add(struct reading *reading, const struct bar *bar)
{
    struct history *h = reading->history;
    int scale = reading->price_scale;

    h->bars[h->n_bars++] = (struct history_bar){
        .open_ns = bar->open_ns,
        .open = decimal_to_double(bar->open, scale),
        .high = decimal_to_double(bar->high, scale),
        .low = decimal_to_double(bar->low, scale),
        .close = decimal_to_double(bar->close, scale),
        .volume = decimal_to_double(bar->volume, reading->qty_scale),
    };
}

static void on_bar(void *ctx, const struct bar *bar)
{
    struct reading *reading = ctx;

    if (reading->history->n_bars < HISTORY_BARS_MAX)
        add(reading, bar);
}

static void on_chart_bar(void *ctx, const struct db_chart_bar *row)
{
    struct reading *reading = ctx;
    struct history *h = reading->history;
    int at = h->n_bars;

    if (at == HISTORY_BARS_MAX)
        return;
    add(reading, &row->bar);
    for (int k = 0; k < h->n_outputs; k++)
        h->outputs[k][at] = (size_t)k < row->n_outputs ? row->outputs[k] : NAN;
}

static void take_names(struct history *h, const char *names)
{
    h->n_outputs = 0;
    while (*names && h->n_outputs < HISTORY_OUTPUTS_MAX) {
        size_t len = strcspn(names, " ");
        char name[sizeof(h->output_names[0])];
        snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1), names);
        cli_text_clean(h->output_names[h->n_outputs++], sizeof(h->output_names[0]), name);
        names += len + (names[len] == ' ');
    }
}

static void on_series(void *ctx, const struct db_chart_row *row)
{
    struct reading *reading = ctx;
    struct history *h = reading->history;
    const char *name = bar_interval_name(row->series.interval_ns);

    if (name && h->n_timeframes < HISTORY_TIMEFRAMES_MAX)
        cli_text_clean(h->timeframes[h->n_timeframes++], sizeof(h->timeframes[0]), name);
    if (row->series.interval_ns != reading->interval_ns)
        return;
    reading->kept = true;
    take_names(h, row->series.names);
}

/* Those that the daemon keeps with their indicators. */
static int read_kept(struct history_reader *reader, struct reading *reading, int64_t end_ns)
{
    struct history *h = reading->history;
    const char *symbol = h->bars_symbol;

    if (!end_ns)
        return db_reader_chart_bars(reader->db, symbol, reading->interval_ns, HISTORY_BARS_MAX, on_chart_bar,
                                    reading);
    int r = db_reader_chart_bars_until(reader->db, symbol, reading->interval_ns, end_ns,
                                       HISTORY_BARS_MAX - HISTORY_BARS_AFTER, on_chart_bar, reading);
    reading->until = h->n_bars;
    return r < 0 ? r
                 : db_reader_chart_bars_after(reader->db, symbol, reading->interval_ns, end_ns,
                                              HISTORY_BARS_AFTER, on_chart_bar, reading);
}

/* The stored ones, which may go back further. */
static int read_stored(struct history_reader *reader, struct reading *reading, int64_t end_ns)
{
    struct history *h = reading->history;
    const char *symbol = h->bars_symbol;

    if (!end_ns)
        return db_reader_last_split_bars(reader->db, symbol, reading->interval_ns, BAR_VENUE,
                                         HISTORY_BARS_MAX, on_bar, reading);
    int r = db_reader_split_bars_until(reader->db, symbol, reading->interval_ns, BAR_VENUE, end_ns,
                                       HISTORY_BARS_MAX - HISTORY_BARS_AFTER, on_bar, reading);
    reading->until = h->n_bars;
    return r < 0 ? r
                 : db_reader_split_bars_after(reader->db, symbol, reading->interval_ns, BAR_VENUE, end_ns,
                                              HISTORY_BARS_AFTER, on_bar, reading);
}

/* Where what was read ends, by how many bars were there of those requested. */
static void take_ends(struct reading *reading, int64_t end_ns)
{
    struct history *h = reading->history;

    if (!end_ns)
        reading->until = h->n_bars;
    h->bars_oldest = reading->until < HISTORY_BARS_MAX - (end_ns ? HISTORY_BARS_AFTER : 0);
    h->bars_newest = h->n_bars - reading->until < HISTORY_BARS_AFTER;
}

/* Where no chart is kept: the intervals that bars are stored of. */
static int read_intervals(struct db_reader *db, struct history *h, const char *symbol)
{
    int64_t interval_ns = 0;
    int r;

    while ((r = db_reader_interval_after(db, symbol, interval_ns, &interval_ns)) == 0) {
        const char *name = bar_interval_name(interval_ns);
        if (name && h->n_timeframes < HISTORY_TIMEFRAMES_MAX)
            cli_text_clean(h->timeframes[h->n_timeframes++], sizeof(h->timeframes[0]), name);
    }
    return r == -ENOENT ? 0 : r;
}

int tui_history_read_bars(struct history_reader *reader, struct history *h, const struct history_want *want)
{
    struct reading reading = {.history = h};
    struct db_symbol_row row;

    h->n_bars = h->n_outputs = h->n_timeframes = 0;
    h->bars_symbol[0] = '\0';
    if (!want->symbol[0] || bar_interval_parse(want->interval, &reading.interval_ns) < 0)
        return 0;
    int r = db_reader_symbol(reader->db, want->symbol, &row);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    reading.price_scale = row.symbol.price_scale;
    reading.qty_scale = row.symbol.qty_scale;
    snprintf(h->bars_symbol, sizeof(h->bars_symbol), "%s", want->symbol);
    cli_text_clean(h->bars_interval, sizeof(h->bars_interval), want->interval);
    r = db_reader_chart_series(reader->db, want->symbol, on_series, &reading);
    if (r == 0 && h->n_timeframes == 0)
        r = read_intervals(reader->db, h, want->symbol);
    if (r == 0 && reading.kept)
        r = read_kept(reader, &reading, want->bars_end_ns);
    take_ends(&reading, want->bars_end_ns);
    if (r == 0 && (h->n_bars == 0 || (want->bars_end_ns && h->bars_oldest))) {
        struct reading kept = reading;
        int n_bars = h->n_bars, n_outputs = h->n_outputs;
        h->n_bars = h->n_outputs = 0;
        r = read_stored(reader, &reading, want->bars_end_ns);
        take_ends(&reading, want->bars_end_ns);
        if (r == 0 && h->n_bars <= n_bars) { /* those with indicators are as many */
            h->n_bars = 0;
            h->n_outputs = n_outputs;
            r = read_kept(reader, &kept, want->bars_end_ns);
            take_ends(&kept, want->bars_end_ns);
        }
    }
    cli_text_clean(h->bars_symbol, sizeof(h->bars_symbol), want->symbol);
    return r;
}

int tui_history_read_chart(struct history_reader *reader, const struct history_want *want,
                           struct history *ret, char *err, size_t err_size)
{
    int r = db_reader_begin(reader->db);

    if (r < 0)
        return tui_history_failed(reader, r, err, err_size);
    if ((r = tui_history_read_bars(reader, ret, want)) < 0)
        r = tui_history_failed(reader, r, err, err_size);
    db_reader_end(reader->db);
    reader->read = reader->read && r == 0;
    memcpy(reader->want.symbol, want->symbol, sizeof(want->symbol));
    memcpy(reader->want.interval, want->interval, sizeof(want->interval));
    reader->want.bars_end_ns = want->bars_end_ns;
    return r;
}
