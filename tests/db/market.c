/* A market from the database is the market from files that hold the same bars, to the bit. */
#include <errno.h>

#include "db/market_source.h"
#include "exchange/bars_file.h"
#include "exchange/calendar_file.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"
#include "tests/engine/market_files.h"
#include "tests/engine/market_same.h"
#include "tests/engine/market_stocks.h"

enum { SYMBOLS = 3 };

static const int64_t minute = 60000000000, epoch = 1672531200000000000;
static const char *const names[SYMBOLS] = {"AUSDT", "BUSDT", "CBTC"};
static const struct db_writer_config config = {0};
static struct made_file files[SYMBOLS];
static const char *paths[SYMBOLS];
static char err[MARKET_ERROR_MAX], db_path[SCRATCH_PATH_MAX];

/* Bars of the file as the daemon stores them. */
static void put_bars(struct db_writer *writer, int index, const struct made_file *file, int64_t interval_ns,
                     enum bar_source source, int64_t more, const struct trading_calendar *calendar)
{
    for (size_t i = 0; i < file->n; i++) {
        int64_t unit = decimal_pow10(8 - file->digits);
        struct bar bar = {
            .open_ns = file->open_ns[i],
            .open = file->price[0][i] * unit + more,
            .high = file->price[1][i] * unit + more,
            .low = file->price[2][i] * unit + more,
            .close = file->price[3][i] * unit + more,
            .volume = (int128_t)file->volume[i] * decimal_pow10(8 - file->volume_digits),
            .first_trade_id = -1,
            .last_trade_id = -1,
        };
        if (calendar && i % 2 == 0) /* the others have the calendar's */
            bar.session = trading_session_of(calendar, bar.open_ns, bar.open_ns + interval_ns);
        db_writer_put_bar(writer, index, interval_ns, source, &bar);
    }
}

static void make(struct random *random, const char *directory, int64_t interval_ns)
{
    struct fixture fixture;
    snprintf(db_path, sizeof db_path, "%s/papertape.db", directory);
    struct db_writer *writer = fixture_writer(db_path, &config);
    fixture_open(&fixture, writer);
    for (int i = 0; i < SYMBOLS; i++) {
        struct symbol symbol;
        struct market *m;
        struct market_options plain = {.no_cache = true, .interval_ns = interval_ns};
        made_draw(random, &files[i], (size_t)random_between(random, 1, 400),
                  epoch + interval_ns * random_between(random, 0, 50), interval_ns,
                  (int)random_between(random, 0, 20));
        made_write(random, &files[i], names[i]);
        paths[i] = files[i].path;
        CHECK_INT(market_store_load_files(&paths[i], 1, &plain, &m, NULL, err), 0);
        symbol = m->series[0].symbol;
        market_store_close(m);
        db_writer_put_symbol(writer, FIXTURE_SYMBOLS + i, "binance", &symbol, 1);
        put_bars(writer, FIXTURE_SYMBOLS + i, &files[i], interval_ns, BAR_VENUE, 0, NULL);
        put_bars(writer, FIXTURE_SYMBOLS + i, &files[i], interval_ns, BAR_TRADES, 1, NULL);
        put_bars(writer, FIXTURE_SYMBOLS + i, &files[i], interval_ns * 2, BAR_VENUE, 2, NULL);
    }
    CHECK_INT(db_writer_flush(writer, 10000), 0);
    fixture_close(writer);
}

static void test_same(const struct market_options *options)
{
    struct market *stored = NULL, *read = NULL;
    struct market_load load;
    CHECK_INT(db_market_load(db_path, names, SYMBOLS, BAR_VENUE, options, &stored, &load, err), 0);
    CHECK_INT(market_store_load_files(paths, SYMBOLS, options, &read, NULL, err), 0);
    CHECK(stored && read && market_same(stored, read));
    CHECK(!load.cached && load.bars > 0);
    market_store_close(stored);
    CHECK_INT(db_market_load(db_path, names, SYMBOLS, BAR_TRADES, options, &stored, &load, err), 0);
    CHECK(stored && read && !market_same(stored, read) && stored->rows == read->rows);
    market_store_close(stored);
    market_store_close(read);
}

static void refuses(const char *path, const char *name, const struct market_options *options, int code,
                    const char *words)
{
    struct market *m = NULL;
    CHECK_INT(db_market_load(path, &name, 1, BAR_VENUE, options, &m, NULL, err), code);
    bool said = strstr(err, words) != NULL;
    CHECK(said && !m);
    if (!said)
        fprintf(stderr, "\"%s\" is not in: %s\n", words, err);
}

/* Of a market with a calendar: stored sessions, and those that were not known when the bars were stored. */
static void test_sessions(struct random *random, const char *directory)
{
    struct fixture fixture;
    struct calendar_file *nyse;
    struct market *m;
    struct market_options options = {.no_cache = true, .interval_ns = 5 * minute};
    int64_t from_ns = 0, to_ns = 0;
    CHECK_INT(calendar_file_open("nyse", &nyse, err), 0);
    const struct trading_calendar *calendar = calendar_file_view(nyse);
    bars_time_parse("2025-11-25", 10, &from_ns);
    bars_time_parse("2025-12-09", 10, &to_ns);
    snprintf(db_path, sizeof db_path, "%s/papertape.db", directory);
    struct db_writer *writer = fixture_writer(db_path, &config);
    fixture_open(&fixture, writer);
    made_stocks(random, &files[0], calendar, from_ns, to_ns, 5 * minute, 10);
    made_write(random, &files[0], "SPY");
    const char *path = files[0].path, *name = "SPY";
    CHECK_INT(market_store_load_files(&path, 1, &options, &m, NULL, err), 0);
    struct symbol listed = m->series[0].symbol;
    snprintf(listed.calendar, sizeof listed.calendar, "us-equity"); /* without one it trades at all times */
    db_writer_put_symbol(writer, FIXTURE_SYMBOLS, "alpaca", &listed, 1);
    market_store_close(m);
    put_bars(writer, FIXTURE_SYMBOLS, &files[0], 5 * minute, BAR_VENUE, 0, calendar);
    CHECK_INT(db_writer_flush(writer, 10000), 0);
    fixture_close(writer);
    options.calendar = calendar;
    for (int choice = 0; choice <= SESSION_CHOICES; choice++) {
        if (choice == SESSION_CHOICES) { /* as of a database from before */
            sqlite3 *db;
            CHECK_INT(sqlite3_open(db_path, &db), SQLITE_OK);
            sql_exec(
                db,
                "UPDATE bars SET session = NULL WHERE session = 'none' OR open_ns / 300000000000 %% 3 = 0");
            sqlite3_close(db);
        }
        struct market *stored = NULL, *read = NULL;
        options.session = (enum session_choice)(choice % SESSION_CHOICES);
        CHECK_INT(db_market_load(db_path, &name, 1, BAR_VENUE, &options, &stored, NULL, err), 0);
        CHECK_INT(market_store_load_files(&path, 1, &options, &read, NULL, err), 0);
        CHECK(stored && read && market_same(stored, read));
        market_store_close(stored);
        market_store_close(read);
    }
    struct trading_calendar earlier = *calendar;
    earlier.to_ns = from_ns;
    options.calendar = &earlier;
    refuses(db_path, "SPY", &options, -EINVAL, "beyond the calendar: ");
    calendar_file_close(nyse);
}

int main(void)
{
    struct random random = random_seeded("db_market", 20261121);
    scratch_in_memory();
    char directory[SCRATCH_MAX];
    for (int i = 0; i < 12; i++) {
        int64_t interval = minute * random_between(&random, 1, 30);
        struct market_options options = {.no_cache = true, .interval_ns = interval};
        scratch_make(directory);
        make(&random, directory, interval);
        test_same(&options);
        options.from_ns = files[0].open_ns[0];
        options.to_ns = files[0].open_ns[files[0].n - 1] + 1;
        struct market *m;
        CHECK_INT(db_market_load(db_path, names, 1, BAR_VENUE, &options, &m, NULL, err), 0);
        CHECK(m->start_ns == options.from_ns && market_store_row_at(m, options.to_ns) == m->rows);
        market_store_close(m);
        options.from_ns = 0;
        options.to_ns = 1;
        refuses(db_path, "AUSDT", &options, -EINVAL, "no bars");
    }
    scratch_make(directory);
    struct market_options options = {.interval_ns = 7 * minute};
    refuses(db_path, "NOUSDT", &options, -EINVAL, "NOUSDT");
    refuses(db_path, "BTCUSDT", &options, -EINVAL, "no bars");
    options.interval_ns = 0;
    refuses(db_path, "AUSDT", &options, -EINVAL, "no interval");
    options.interval_ns = minute;
    refuses("/nonexistent/papertape.db", "AUSDT", &options, -ENOENT, "/nonexistent/papertape.db");
    test_sessions(&random, directory);
    return check_done("db_market");
}
