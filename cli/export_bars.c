/* Bars, a file for each interval and day with all symbols in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export.h"
#include "cli/stored.h"
#include "db/row.h"

/* What is needed of a series; the reader's rows move. */
struct series {
    char symbol[SYMBOL_NAME_MAX], venue[SYMBOL_NAME_MAX];
    int64_t id, interval_ns, first_ns, last_ns;
    enum bar_source source;
    int price_scale, qty_scale;
};

struct all_series {
    struct series *rows;
    size_t n, cap;
    int r;
};

/* Those of one interval, and the day that is written. */
struct bars_day {
    const struct series *series;
    size_t n;
    int64_t day;
    char interval[24];
};

static const char *source_name(const struct series *s)
{
    return db_words_bar_source.names[s->source];
}

enum { COLUMNS = 15 };
static const struct stored_column columns[COLUMNS] = {
    {"symbol", 1},         {"venue", 1},         {"interval", 1},     {"source", 1},
    {"open_time", 1},      {"open", 1},          {"high", 1},         {"low", 1},
    {"close", 1},          {"volume", 1},        {"quote_volume", 1}, {"trades", 1},
    {"first_trade_id", 1}, {"last_trade_id", 1}, {"session", 1}};
static const char *const types[COLUMNS] = {"text",    "text",    "text",    "text",    "time",
                                           "decimal", "decimal", "decimal", "decimal", "decimal",
                                           "decimal", "int",     "int",     "int",     "text"};

static json_t *column_list(void *ctx)
{
    json_t *list = json_array();
    (void)ctx;
    for (size_t i = 0; list && i < COLUMNS; i++)
        cli_export_column(list, columns[i].name, types[i]);
    return list;
}

struct bar_printing {
    struct stored_list list;
    const struct series *series;
    const char *interval;
};

static const char *trade_id(char cell[static STORED_CELL], int64_t id)
{
    cell[0] = '\0';
    return id < 0 ? cell : cli_stored_integer(cell, id);
}

/* A volume has both: bars that a file or a venue's archive gave lack quote volume and number of trades. */
static const char *if_known(const struct bar *bar, bool has, const char *text)
{
    return has || bar->volume == 0 ? text : "";
}

static void print_bar(void *ctx, const struct bar *bar)
{
    struct bar_printing *p = ctx;
    const struct series *s = p->series;
    char cell[COLUMNS][STORED_CELL];
    const char *cells[COLUMNS] = {
        s->symbol,
        s->venue,
        p->interval,
        source_name(s),
        cli_stored_integer(cell[4], bar->open_ns),
        cli_stored_decimal(STORED_JSON, cell[5], bar->open, s->price_scale),
        cli_stored_decimal(STORED_JSON, cell[6], bar->high, s->price_scale),
        cli_stored_decimal(STORED_JSON, cell[7], bar->low, s->price_scale),
        cli_stored_decimal(STORED_JSON, cell[8], bar->close, s->price_scale),
        cli_stored_decimal(STORED_JSON, cell[9], bar->volume, s->qty_scale),
        if_known(bar, bar->quote_volume != 0,
                 cli_stored_decimal(STORED_JSON, cell[10], bar->quote_volume, s->price_scale + s->qty_scale)),
        if_known(bar, bar->trades != 0, cli_stored_integer(cell[11], bar->trades)),
        trade_id(cell[12], bar->first_trade_id),
        trade_id(cell[13], bar->last_trade_id),
        bar_session_names[bar->session]};
    cli_stored_row(&p->list, cells);
}

static int rows(struct export *export, void *ctx, FILE *out, uint64_t *ret_rows)
{
    const struct bars_day *day = ctx;
    const int64_t from_ns = day->day * DB_DAY_NS;
    struct bar_printing printing = {
        .list = {.form = STORED_CSV, .plain = true, .columns = columns, .n_columns = COLUMNS, .out = out},
        .interval = day->interval};
    int r = 0;
    for (size_t i = 0; i < day->n && r == 0; i++) {
        const struct series *s = printing.series = &day->series[i];
        if (s->first_ns < from_ns + DB_DAY_NS && s->last_ns >= from_ns)
            r = db_series_bars(export->reader, s->id, s->interval_ns, s->source, from_ns, from_ns + DB_DAY_NS,
                               print_bar, &printing);
    }
    *ret_rows = printing.list.rows;
    return r;
}

/* Rows before a series' first were pruned, and stay; of this snapshot, since a daemon prunes meanwhile. */
static int keep(struct export *export, void *ctx, json_t **ret)
{
    const struct bars_day *day = ctx;
    json_t *floors = json_array();
    int r = 0;
    for (size_t i = 0; i < day->n && r == 0; i++) {
        const struct series *s = &day->series[i];
        int64_t first_ns;
        r = db_series_first(export->reader, s->id, s->interval_ns, s->source, &first_ns);
        if (r == 0)
            json_array_append_new(
                floors, json_pack("[s, s, s, I]", s->symbol, s->venue, source_name(s), (json_int_t)first_ns));
        r = r == -ENOENT ? 0 : r;
    }
    if (r < 0) {
        json_decref(floors);
        return r;
    }
    *ret = json_pack("{s:[s, s, s, s], s:[s, s, s], s:o}", "key", "symbol", "venue", "source", "open_time",
                     "group", "symbol", "venue", "source", "floors", floors);
    return 0;
}

static void take_series(void *ctx, const struct db_bar_series *row)
{
    struct all_series *all = ctx;
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 64;
        struct series *more = realloc(all->rows, cap * sizeof *more);
        if (!more) {
            all->r = -ENOMEM;
            return;
        }
        all->rows = more;
        all->cap = cap;
    }
    struct series *s = &all->rows[all->n++];
    *s = (struct series){.id = row->symbol->id,
                         .interval_ns = row->interval_ns,
                         .first_ns = row->first_ns,
                         .last_ns = row->last_ns,
                         .source = row->source,
                         .price_scale = row->symbol->symbol.price_scale,
                         .qty_scale = row->symbol->symbol.qty_scale};
    memcpy(s->symbol, row->symbol->symbol.name, sizeof s->symbol);
    memcpy(s->venue, row->symbol->venue, sizeof s->venue);
}

/* The order of the rows in a file, interval by interval: that of its key, as texts. */
static int in_order(const void *a, const void *b)
{
    const struct series *x = a, *y = b;
    if (x->interval_ns != y->interval_ns)
        return x->interval_ns < y->interval_ns ? -1 : 1;
    int r = strcmp(x->symbol, y->symbol);
    r = r ? r : strcmp(x->venue, y->venue);
    return r ? r : strcmp(source_name(x), source_name(y));
}

static int write_interval(struct export *export, const struct series *series, size_t n)
{
    const char *name = bar_interval_name(series->interval_ns);
    struct bars_day day = {.series = series, .n = n};
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    int r = 0;
    if (name)
        snprintf(day.interval, sizeof day.interval, "%s", name);
    else
        snprintf(day.interval, sizeof day.interval, "%llds", (long long)(series->interval_ns / 1000000000));
    for (size_t i = 0; i < n; i++) {
        first_ns = series[i].first_ns < first_ns ? series[i].first_ns : first_ns;
        last_ns = series[i].last_ns > last_ns ? series[i].last_ns : last_ns;
    }
    int64_t first = first_ns / DB_DAY_NS, last = last_ns / DB_DAY_NS;
    first = first > export->from_day ? first : export->from_day;
    last = last < export->to_day ? last : export->to_day;
    for (day.day = first; day.day <= last && r == 0; day.day++) {
        cli_export_progress(export, first, day.day, last);
        r = cli_export_file(
            export, &(struct export_file){EXPORT_BARS, day.interval, day.day, rows, keep, column_list, &day});
    }
    return r;
}

int cli_export_bars(struct export *export)
{
    struct all_series all = {0};
    int r = db_bar_series(export->reader, take_series, &all);
    r = r == 0 ? all.r : r;
    if (r == 0 && all.n > 1)
        qsort(all.rows, all.n, sizeof *all.rows, in_order);
    for (size_t i = 0, n; i < all.n && r == 0; i += n) {
        for (n = 1; i + n < all.n && all.rows[i + n].interval_ns == all.rows[i].interval_ns;)
            n++;
        r = write_interval(export, &all.rows[i], n);
    }
    free(all.rows);
    return r;
}
