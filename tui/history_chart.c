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

/* The bars up to the one that is wanted and those after it: those that are kept with their indicators, or the
 * stored ones, which may go back further. Notes whether there are more at either end. */
static int read_window(struct db_reader *db, struct reading *reading, int64_t end_ns, bool kept)
{
    struct history *h = reading->history;
    const char *symbol = h->bars_symbol;
    const int64_t interval_ns = reading->interval_ns, at_ns = end_ns ? end_ns : INT64_MAX;
    const int n = HISTORY_BARS_MAX - (end_ns ? HISTORY_BARS_AFTER : 0);

    h->n_bars = 0;
    int r = kept ? db_reader_chart_bars_until(db, symbol, interval_ns, at_ns, n, on_chart_bar, reading)
                 : db_reader_split_bars_until(db, symbol, interval_ns, BAR_VENUE, at_ns, n, on_bar, reading);
    int until = h->n_bars;
    if (r == 0)
        r = kept ? db_reader_chart_bars_after(db, symbol, interval_ns, at_ns, HISTORY_BARS_AFTER,
                                              on_chart_bar, reading)
                 : db_reader_split_bars_after(db, symbol, interval_ns, BAR_VENUE, at_ns, HISTORY_BARS_AFTER,
                                              on_bar, reading);
    h->bars_oldest = until < n;
    h->bars_newest = h->n_bars - until < HISTORY_BARS_AFTER;
    return r;
}

/* Is a bar stored from before the oldest that was read? */
static int stored_before(struct db_reader *db, const struct reading *reading, bool *ret)
{
    const struct history *h = reading->history;
    int64_t first_ns;
    int r = db_reader_first_bar(db, h->bars_symbol, reading->interval_ns, BAR_VENUE, &first_ns);

    *ret = r == 0 && (h->n_bars == 0 || first_ns < h->bars[0].open_ns);
    return r == -ENOENT ? 0 : r;
}

/* The newest kept ones where there are any, of a moment where there are enough; of the past the stored ones
 * as soon as they go back further. */
static int read_either(struct db_reader *db, struct reading *reading, int64_t end_ns, int enough)
{
    struct history *h = reading->history;
    bool older = true;
    int r = 0;

    h->n_bars = 0;
    if (reading->kept) {
        r = read_window(db, reading, end_ns, true);
        older = false;
        if (r == 0 && h->bars_oldest)
            r = stored_before(db, reading, &older);
        h->bars_oldest = h->bars_oldest && !older;
    }
    if (r < 0 || !older || (h->n_bars >= enough && !end_ns))
        return r;
    h->n_outputs = 0;
    return read_window(db, reading, end_ns, false);
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
    if (r == 0)
        r = read_either(reader->db, &reading, want->bars_end_ns, reader->at_ns ? HISTORY_BARS_AFTER : 1);
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
