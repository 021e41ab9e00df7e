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

int tui_history_read_bars(struct history_reader *reader, struct history *h, const char *symbol,
                          const char *interval)
{
    struct reading reading = {.history = h};
    struct db_symbol_row row;

    h->n_bars = h->n_outputs = h->n_timeframes = 0;
    h->bars_symbol[0] = '\0';
    if (!symbol[0] || bar_interval_parse(interval, &reading.interval_ns) < 0)
        return 0;
    int r = db_reader_symbol(reader->db, symbol, &row);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    reading.price_scale = row.symbol.price_scale;
    reading.qty_scale = row.symbol.qty_scale;
    cli_text_clean(h->bars_symbol, sizeof(h->bars_symbol), symbol);
    cli_text_clean(h->bars_interval, sizeof(h->bars_interval), interval);
    r = db_reader_chart_series(reader->db, symbol, on_series, &reading);
    if (r == 0 && reading.kept)
        r = db_reader_chart_bars(reader->db, symbol, reading.interval_ns, HISTORY_BARS_MAX, on_chart_bar,
                                 &reading);
    if (r == 0 && h->n_bars == 0) {
        h->n_outputs = 0;
        r = db_reader_last_split_bars(reader->db, symbol, reading.interval_ns, BAR_VENUE, HISTORY_BARS_MAX,
                                      on_bar, &reading);
    }
    return r;
}
