#include "db/market_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader.h"
#include "engine/market/grid.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"

static const int128_t exact_most = (int128_t)1 << 53; /* each whole number up to it is a double */

struct taker {
    struct market_source *source;
    bool repair;
    size_t cap;
    int failed;
};

/* The digits after the point that a price needs. */
static void count_digits(int64_t price, int scale, int *digits)
{
    while (*digits < scale && price % decimal_pow10(scale - *digits) != 0)
        ++*digits;
}

/* The double nearest to it, which a bars file with the same number gives. */
static double nearest(int128_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    if (units <= exact_most)
        return decimal_to_double(units, scale);
    decimal_format(units, scale, text);
    return strtod(text, NULL);
}

static void take_bar(void *ctx, const struct bar *bar)
{
    struct taker *t = ctx;
    struct bars_file *bars = &t->source->bars;
    int scale = t->source->symbol.price_scale;
    const int64_t prices[] = {bar->open, bar->high, bar->low, bar->close};
    double *columns[4];
    if (t->failed)
        return;
    if (bars->n == t->cap && !bars_file_grow(bars, &t->cap)) {
        t->failed = -ENOMEM;
        return;
    }
    columns[0] = bars->open;
    columns[1] = bars->high;
    columns[2] = bars->low;
    columns[3] = bars->close;
    for (int c = 0; c < 4; c++) {
        count_digits(prices[c], scale, &bars->price_digits);
        columns[c][bars->n] = nearest(prices[c], scale);
    }
    if (t->repair)
        bars->repaired +=
            bars_widen(bars->open[bars->n], &bars->high[bars->n], &bars->low[bars->n], bars->close[bars->n]);
    bars->volume[bars->n] = nearest(bar->volume, t->source->symbol.qty_scale);
    bars->session[bars->n] = (uint8_t)bar->session;
    bars->open_time_ns[bars->n++] = bar->open_ns;
}

void db_market_first_bar_key(const char *symbol, int64_t interval_ns, char ret[static DB_FIRST_BAR_KEY_MAX])
{
    snprintf(ret, DB_FIRST_BAR_KEY_MAX, "first_bar %s %s", symbol, bar_interval_name(interval_ns));
}

/* From which bar on an account that was made at account_ns has had the symbol's: those that are the engine's,
 * and that it still knew then. A symbol of which the database does not know is noted. 0 or -errno. */
static int find_first(struct db_reader *reader, const char *name, enum bar_source from,
                      const struct market_options *options, struct market_load *load, int64_t *ret)
{
    char key[DB_FIRST_BAR_KEY_MAX], text[32];
    int64_t first_ns = 0, known_ns;
    db_market_first_bar_key(name, options->interval_ns, key);
    int r = db_reader_meta(reader, key, text, sizeof text);
    if (r == -ENOENT || (r == 0 && decimal_parse_str(text, 0, &first_ns) < 0)) {
        snprintf(
            load->note, sizeof load->note,
            "%s: the database does not say since which bar the daemon's strategies have seen it: all its "
            "bars before the account warm up",
            name);
        return 0;
    }
    if (r == 0)
        r = db_reader_newest_bar(reader, name, options->interval_ns, from, first_ns,
                                 options->account_ns - options->interval_ns, options->account_bars,
                                 &known_ns);
    if (r == 0 && known_ns > first_ns)
        first_ns = known_ns;
    if (r < 0 && r != -ENOENT)
        return r;
    *ret = first_ns > *ret ? first_ns : *ret;
    return 0;
}

static int read_symbol(struct db_reader *reader, const char *path, const char *name, enum bar_source from,
                       const struct market_options *options, struct market_source *source,
                       struct market_load *load, char err[static MARKET_ERROR_MAX])
{
    bool all = options->from_ns == 0 && options->to_ns == 0;
    int64_t from_ns = all ? INT64_MIN : options->from_ns;
    const char *interval = bar_interval_name(options->interval_ns);
    struct db_symbol_row row;
    struct taker taker = {.source = source, .repair = options->repair};
    int r = db_reader_symbol(reader, name, &row);
    if (r == -ENOENT)
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "%.400s: %s", path, db_reader_error(reader));
    snprintf(source->origin, sizeof(source->origin), "%.200s: %s %s", path, name,
             interval ? interval : "bars");
    if (r == 0) {
        source->symbol = row.symbol;
        source->bars.interval_ns = options->interval_ns;
        memcpy(source->bars.symbol, row.symbol.name, sizeof(row.symbol.name));
        r = options->account_ns > 0 ? find_first(reader, name, from, options, load, &from_ns) : 0;
    }
    if (r == 0)
        r = (options->raw ? db_reader_bars
                          : db_reader_split_bars)(reader, name, options->interval_ns, from, from_ns,
                                                  all ? INT64_MAX : options->to_ns - 1, take_bar, &taker);
    if (r < 0)
        snprintf(err, MARKET_ERROR_MAX, "cannot read: %s: %s", source->origin, db_reader_error(reader));
    else if (taker.failed < 0)
        snprintf(err, MARKET_ERROR_MAX, "out of memory: %s: fewer bars", source->origin);
    else
        bars_file_forget_none(&source->bars);
    return r < 0 ? r : taker.failed;
}

static int read_all(struct db_reader *reader, const char *path, const char *const *symbols, size_t n,
                    enum bar_source from, const struct market_options *options, struct market_source *sources,
                    struct market_load *load, char err[static MARKET_ERROR_MAX])
{
    int r = db_reader_begin(reader);
    if (r < 0) {
        snprintf(err, MARKET_ERROR_MAX, "cannot read: %.400s: %s", path, db_reader_error(reader));
        return r;
    }
    for (size_t i = 0; i < n && r == 0; i++)
        r = read_symbol(reader, path, symbols[i], from, options, &sources[i], load, err);
    db_reader_end(reader);
    return r;
}

int db_market_load(const char *path, const char *const *symbols, size_t n, enum bar_source source,
                   const struct market_options *options, struct market **ret, struct market_load *load,
                   char err[static MARKET_ERROR_MAX])
{
    struct market_load done = {0};
    struct db_reader *reader = NULL;
    char why[MARKET_ERROR_MAX / 2];
    double started_s = clock_now_s();
    if (n < 1 || n > SYMBOLS_MAX || options->interval_ns <= 0)
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "%s",
                         options->interval_ns <= 0 ? "no interval: that of the bars that the database keeps"
                                                   : "number of symbols: 1 to 4096");
    int r = db_reader_open(path, &reader, why, sizeof(why));
    if (r < 0) {
        snprintf(err, MARKET_ERROR_MAX, "cannot read: %.400s: %s", path, why);
        return r;
    }
    struct market_source *sources = calloc(n, sizeof(*sources));
    if (sources) {
        r = read_all(reader, path, symbols, n, source, options, sources, &done, err);
    } else {
        snprintf(err, MARKET_ERROR_MAX, "out of memory");
        r = -ENOMEM;
    }
    db_reader_close(reader);
    double read = clock_now_s();
    for (size_t i = 0; i < n && r == 0; i++)
        done.bars += sources[i].bars.n;
    if (r == 0)
        r = market_store_build(sources, (int)n, options, ret, err);
    if (sources)
        market_store_sources_finish(sources, (int)n);
    free(sources);
    if (r < 0)
        return r;
    done.read_s = read - started_s;
    done.grid_s = clock_now_s() - read;
    if (load)
        *load = done;
    return 0;
}

static const char *calendar_name(const struct symbol *symbol)
{
    return symbol->calendar[0] ? symbol->calendar : "24x7";
}

static int find_calendar(struct db_reader *reader, const char *path, const char *const *symbols, size_t n,
                         char ret[static CALENDAR_NAME_MAX], char err[static MARKET_ERROR_MAX])
{
    struct db_symbol_row first, row;
    for (size_t i = 0; i < n; i++) {
        int r = db_reader_symbol(reader, symbols[i], i == 0 ? &first : &row);
        if (r < 0)
            return fail_with(r == -ENOENT ? -EINVAL : r, err, MARKET_ERROR_MAX, "%.400s: %s", path,
                             db_reader_error(reader));
        if (i > 0 && strcmp(row.symbol.calendar, first.symbol.calendar) != 0)
            return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                             "%s trades by the calendar %s and %s by %s: those of one are right", symbols[0],
                             calendar_name(&first.symbol), symbols[i], calendar_name(&row.symbol));
    }
    memcpy(ret, first.symbol.calendar, CALENDAR_NAME_MAX);
    return 0;
}

int db_market_calendar(const char *path, const char *const *symbols, size_t n,
                       char ret[static CALENDAR_NAME_MAX], char err[static MARKET_ERROR_MAX])
{
    struct db_reader *reader = NULL;
    char why[MARKET_ERROR_MAX / 2];
    if (n < 1)
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "number of symbols: 1 to 4096");
    int r = db_reader_open(path, &reader, why, sizeof(why));
    if (r < 0)
        return fail_with(r, err, MARKET_ERROR_MAX, "cannot read: %.400s: %s", path, why);
    r = find_calendar(reader, path, symbols, n, ret, err);
    db_reader_close(reader);
    return r;
}
