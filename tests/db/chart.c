/* The chart's tables: what was put comes back, to the bit; bounded; reset; another index of a symbol in the
 * next run; rows of a symbol that was never put are ignored and delay nothing. */
#include <errno.h>

#include "db/reader.h"
#include "tests/db/fixture.h"

#define MINUTE INT64_C(60000000000)

enum { OUTPUTS = 3 };

struct seen {
    int n;
    struct db_chart_series series; /* texts are not kept */
    char specs[64], names[64], memory[64], symbol[SYMBOL_NAME_MAX];
    struct bar first, last;
    double outputs[OUTPUTS];
    size_t n_outputs;
};

static void see_series(void *ctx, const struct db_chart_row *row)
{
    struct seen *seen = ctx;
    seen->n++;
    seen->series = row->series;
    snprintf(seen->specs, sizeof seen->specs, "%s", row->series.specs);
    snprintf(seen->names, sizeof seen->names, "%s", row->series.names);
    snprintf(seen->symbol, sizeof seen->symbol, "%s", row->symbol->symbol.name);
    if (row->series.memory_size > 0)
        memcpy(seen->memory, row->series.memory, row->series.memory_size);
}

static void see_bar(void *ctx, const struct db_chart_bar *row)
{
    struct seen *seen = ctx;
    if (seen->n++ == 0)
        seen->first = row->bar;
    seen->last = row->bar;
    seen->n_outputs = row->n_outputs;
    memcpy(seen->outputs, row->outputs, row->n_outputs * sizeof *row->outputs);
}

static void put_bar(struct db_writer *writer, int symbol, int64_t i, const double outputs[OUTPUTS])
{
    struct db_chart_bar bar = {.symbol = symbol,
                               .interval_ns = 5 * MINUTE,
                               .bar = {.open_ns = i * 5 * MINUTE,
                                       .open = 100 + i,
                                       .high = 200 + i,
                                       .low = 50 + i,
                                       .close = 150 + i,
                                       .volume = (int128_t)INT64_MAX * 4},
                               .outputs = outputs,
                               .n_outputs = OUTPUTS};
    CHECK(db_writer_put_chart_bar(writer, &bar) > 0);
}

static struct db_chart_series series_of(int symbol, const char *memory)
{
    return (struct db_chart_series){.symbol = symbol,
                                    .interval_ns = 5 * MINUTE,
                                    .base_ns = MINUTE,
                                    .next_ns = 77,
                                    .specs = "sma:20 bbands:20,2",
                                    .names = "sma_20 upper lower",
                                    .memory = memory,
                                    .memory_size = strlen(memory)};
}

static struct seen bars_of(struct db_reader *reader, const char *symbol, int64_t n)
{
    struct seen seen = {0};
    CHECK_INT(db_reader_chart_bars(reader, symbol, 5 * MINUTE, n, see_bar, &seen), 0);
    return seen;
}

/* The n bars until one or after it are the ones of these numbers; first above last: there are none. */
static void check_part(struct db_reader *reader, bool after, int64_t at_ns, int64_t n, int64_t first,
                       int64_t last)
{
    struct seen seen = {0};

    CHECK_INT((after ? db_reader_chart_bars_after : db_reader_chart_bars_until)(reader, "BTCUSDT", 5 * MINUTE,
                                                                                at_ns, n, see_bar, &seen),
              0);
    CHECK_INT(seen.n, last - first + 1);
    CHECK(seen.n == 0 || seen.first.open_ns == first * 5 * MINUTE);
    CHECK(seen.n == 0 || seen.last.open_ns == last * 5 * MINUTE);
}

/* Of bars 200 to 200 + DB_CHART_BARS_KEPT - 1, at a bar, between two, and past either end. */
static void check_parts(struct db_reader *reader)
{
    const int64_t end = DB_CHART_BARS_KEPT + 200, at = 700 * 5 * MINUTE;
    struct seen seen = {0};

    check_part(reader, false, at, 10, 691, 700);
    check_part(reader, true, at, 10, 701, 710);
    check_part(reader, false, at - 1, 10, 690, 699);
    check_part(reader, true, at - 1, 10, 700, 709);
    check_part(reader, false, 205 * 5 * MINUTE, 10, 200, 205);
    check_part(reader, false, 200 * 5 * MINUTE - 1, 10, 1, 0);
    check_part(reader, true, INT64_MIN, 10, 200, 209);
    check_part(reader, true, (end - 3) * 5 * MINUTE, 10, end - 2, end - 1);
    check_part(reader, true, (end - 1) * 5 * MINUTE, 10, 1, 0);
    check_part(reader, false, INT64_MAX, 10, end - 10, end - 1);
    check_part(reader, true, INT64_MAX, 10, 1, 0);
    check_part(reader, false, at, 0, 1, 0);
    CHECK_INT(db_reader_chart_bars_until(reader, "XRPUSDT", MINUTE, at, 5, see_bar, &seen), -ENOENT);
    CHECK_INT(db_reader_chart_bars_after(reader, "XRPUSDT", MINUTE, at, 5, see_bar, &seen), -ENOENT);
    CHECK_INT(seen.n, 0);
}

int main(void)
{
    char err[DB_ERROR_MAX] = "";
    const char *path = scratch_path("papertape.db");
    const struct db_writer_config config = {0};
    struct db_writer *writer = fixture_writer(path, &config);
    const struct symbol btc = fixture_symbol(0), eth = fixture_symbol(1);
    db_writer_put_symbol(writer, 0, "binance", &btc, FIXTURE_START);
    db_writer_put_symbol(writer, 1, "binance", &eth, FIXTURE_START);

    struct db_chart_series series = series_of(0, "");
    CHECK(db_writer_put_chart_series(writer, &series, true) > 0);
    const double early[OUTPUTS] = {NAN, NAN, NAN}, late[OUTPUTS] = {1.0 / 3, -0.0, 5e-324};
    for (int64_t i = 0; i < DB_CHART_BARS_KEPT + 200; i++)
        put_bar(writer, 0, i, i < 19 ? early : late);
    put_bar(writer, 1, 3, early);
    put_bar(writer, 7, 3, early); /* no such symbol */
    series = series_of(0, "remembered");
    CHECK(db_writer_put_chart_series(writer, &series, false) > 0);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK(stats.ok);
    CHECK_INT(stats.skipped, 1);

    struct db_reader *reader;
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
    struct seen seen = {0};
    CHECK_INT(db_reader_chart_series(reader, "BTCUSDT", see_series, &seen), 0);
    CHECK_INT(seen.n, 1);
    CHECK_STR(seen.symbol, "BTCUSDT");
    CHECK_STR(seen.specs, "sma:20 bbands:20,2");
    CHECK_STR(seen.names, "sma_20 upper lower");
    CHECK_STR(seen.memory, "remembered");
    CHECK_INT(seen.series.interval_ns, 5 * MINUTE);
    CHECK_INT(seen.series.base_ns, MINUTE);
    CHECK_INT(seen.series.next_ns, 77);
    seen = (struct seen){0};
    CHECK_INT(db_reader_chart_series(reader, NULL, see_series, &seen), 0);
    CHECK_INT(seen.n, 1);
    CHECK_INT(db_reader_chart_series(reader, "XRPUSDT", see_series, &seen), -ENOENT);
    CHECK_INT(db_reader_chart_bars(reader, "XRPUSDT", MINUTE, 5, see_bar, &seen), -ENOENT);

    seen = bars_of(reader, "BTCUSDT", 5000);
    CHECK_INT(seen.n, DB_CHART_BARS_KEPT);
    CHECK_INT(seen.first.open_ns, 200 * 5 * MINUTE);
    CHECK_INT(seen.last.open_ns, (DB_CHART_BARS_KEPT + 199) * 5 * MINUTE);
    CHECK_INT(seen.last.close, 150 + DB_CHART_BARS_KEPT + 199);
    CHECK(seen.last.volume == (int128_t)INT64_MAX * 4);
    CHECK_INT(seen.n_outputs, OUTPUTS);
    CHECK(memcmp(seen.outputs, late, sizeof late) == 0);
    CHECK_INT(bars_of(reader, "BTCUSDT", 10).first.open_ns, (DB_CHART_BARS_KEPT + 190) * 5 * MINUTE);
    check_parts(reader);
    seen = bars_of(reader, "ETHUSDT", 10);
    CHECK_INT(seen.n, 1);
    CHECK(isnan(seen.outputs[0]));

    /* The next run counts the symbols otherwise; a bar that comes again replaces; a reset deletes the old
     * ones. */
    fixture_close(writer);
    writer = fixture_writer(path, &config);
    db_writer_put_symbol(writer, 0, "binance", &eth, FIXTURE_START);
    db_writer_put_symbol(writer, 1, "binance", &btc, FIXTURE_START);
    put_bar(writer, 0, 3, late);
    series = series_of(1, "");
    db_writer_put_chart_series(writer, &series, true);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(bars_of(reader, "BTCUSDT", 5000).n, 0);
    seen = bars_of(reader, "ETHUSDT", 10);
    CHECK_INT(seen.n, 1);
    CHECK(memcmp(seen.outputs, late, sizeof late) == 0);

    /* One that is kept no more takes its bars along, and no other's. */
    put_bar(writer, 1, 3, late);
    db_writer_put_chart_series(writer, &series, false);
    CHECK(db_writer_drop_chart_series(writer, 1, 5 * MINUTE) > 0);
    CHECK(db_writer_drop_chart_series(writer, 0, MINUTE) > 0);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    seen = (struct seen){0};
    CHECK_INT(db_reader_chart_series(reader, "BTCUSDT", see_series, &seen), 0);
    CHECK_INT(seen.n, 0);
    CHECK_INT(bars_of(reader, "BTCUSDT", 10).n, 0);
    CHECK_INT(bars_of(reader, "ETHUSDT", 10).n, 1);
    db_reader_close(reader);
    fixture_close(writer);
    return check_done("db/chart");
}
