/* Several venues in one database: what was put comes back, to the bit and by the right venue; what is put
 * again changes nothing, and what contradicts it is refused; the trace and the actions are sealed and
 * counted; measures of books are kept for a bounded time. */
#include <errno.h>
#include <math.h>

#include "db/verify.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

#define MINUTE INT64_C(60000000000)
#define AT     FIXTURE_START

static const struct db_writer_config config = {0};

static struct symbol stock(const char *name)
{
    struct symbol symbol = {.base = "",
                            .quote = "USD",
                            .price_scale = 9,
                            .qty_scale = 9,
                            .quote_scale = 9,
                            .trading = true,
                            .loose_ids = true,
                            .calendar = "us-equity",
                            .venue = "alpaca"};
    snprintf(symbol.name, sizeof symbol.name, "%s", name);
    snprintf(symbol.base, sizeof symbol.base, "%.15s", name);
    return symbol;
}

static struct db_writer *begin(const char *path)
{
    struct db_writer *writer = fixture_writer(path, &config);
    struct symbol coin = fixture_symbol(0), share = stock("AAPL");
    CHECK(db_writer_put_symbol(writer, 0, "binance", &coin, AT) > 0);
    CHECK(db_writer_put_symbol(writer, 1, "alpaca", &share, AT) > 0);
    return writer;
}

/* Verified, as any record is. */
static void verified(const char *path, const char *words)
{
    struct db_reader *reader = fixture_reader(path);
    struct db_verified *verified = NULL;
    CHECK_INT(db_verify(reader, &verified), 0);
    CHECK_STR(verified->n_failures ? verified->failures[0] : "", words);
    db_verified_destroy(verified);
    db_reader_close(reader);
}

/* ---- symbols ---- */

static void see_streamed(void *ctx, const struct db_symbol_row *row)
{
    char *text = ctx;
    snprintf(text + strlen(text), 200 - strlen(text), "%s/%s/%s/%d%d%d/%s ", row->symbol.venue,
             row->symbol.name, row->symbol.calendar, row->symbol.gone, row->symbol.loose_ids, row->streamed,
             row->venue);
}

static void test_symbols(void)
{
    const char *path = scratch_path("symbols.db");
    char text[200] = "";
    struct db_symbol_row found;
    struct db_writer *writer = begin(path);
    struct symbol gone = fixture_symbol(1);
    gone.gone = true;
    gone.trading = false;
    CHECK(db_writer_put_symbol(writer, 2, "binance", &gone, AT) > 0);
    CHECK(db_writer_put_streamed(writer, 1, true) > 0);
    CHECK(db_writer_put_streamed(writer, 2, true) > 0);
    CHECK(db_writer_put_streamed(writer, 2, false) > 0);
    struct symbol share = stock("AAPL"); /* put again: its first description stays */
    share.filters.tick = 10000000;
    CHECK(db_writer_put_symbol(writer, 1, "alpaca", &share, AT + 1) > 0);
    struct symbol namesake = fixture_symbol(0); /* of another venue, seen later */
    CHECK(db_writer_put_symbol(writer, 3, "binance-us", &namesake, AT + 5) > 0);
    fixture_close(writer);

    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_reader_symbols(reader, see_streamed, text), 0);
    CHECK_STR(text, "binance/BTCUSDT//00-1/binance alpaca/AAPL/us-equity/011/alpaca "
                    "binance/ETHUSDT//100/binance binance-us/BTCUSDT//00-1/binance-us ");
    CHECK_INT(db_reader_symbol(reader, "BTCUSDT", &found), 0);
    CHECK_STR(found.venue, "binance-us");
    CHECK_INT(db_reader_symbol(reader, "AAPL", &found), 0);
    CHECK_INT(found.symbol.filters.tick, 10000000);
    writer =
        begin(path); /* what is written while it reads is seen: all symbols are kept until the file changes */
    CHECK(db_writer_put_symbol(writer, 4, "alpaca", &namesake, AT + 9) > 0);
    fixture_close(writer);
    CHECK_INT(db_reader_symbol(reader, "BTCUSDT", &found), 0);
    CHECK_STR(found.venue, "alpaca");
    db_reader_close(reader);
    verified(path, "");
}

/* ---- corrections ---- */

struct revisions {
    int n;
    struct db_revision last;
    char symbol[SYMBOL_NAME_MAX];
};

static void see_revision(void *ctx, const struct db_revision_row *row)
{
    struct revisions *seen = ctx;
    CHECK_INT(row->revision.id, (uint64_t)++seen->n);
    seen->last = row->revision;
    snprintf(seen->symbol, sizeof seen->symbol, "%s", row->symbol->symbol.name);
}

static struct bar bar_of(int64_t open_ns, int64_t high)
{
    return (struct bar){.open_ns = open_ns,
                        .open = 100,
                        .high = high,
                        .low = 90,
                        .close = 95,
                        .volume = (int128_t)INT64_MAX * 3,
                        .trades = 5,
                        .first_trade_id = -1,
                        .last_trade_id = -1};
}

static void check_same_bar(const struct bar *a, const struct bar *b)
{
    CHECK_INT(a->open_ns, b->open_ns);
    CHECK_INT(a->open, b->open);
    CHECK_INT(a->high, b->high);
    CHECK_INT(a->low, b->low);
    CHECK_INT(a->close, b->close);
    CHECK_INT(a->trades, b->trades);
    CHECK(a->volume == b->volume);
}

static void test_revisions(void)
{
    const char *path = scratch_path("revisions.db");
    struct db_writer *writer = begin(path);
    struct bar before = bar_of(AT, 120), after = bar_of(AT, 110);
    const struct market_correction trade = {.ts_ns = AT + 5,
                                            .id = 77,
                                            .new_id = 78,
                                            .old_price = 120,
                                            .old_qty = 4,
                                            .price = 110,
                                            .qty = 3,
                                            .code = "12"};
    struct engine_revision reported = {.kind = REVISION_CORRECTION,
                                       .symbol = 1,
                                       .ts_ns = AT + 9,
                                       .at_ns = AT + 5,
                                       .correction = &trade,
                                       .old = &before,
                                       .now = &after,
                                       .source = BAR_TRADES,
                                       .applied = true};
    struct db_revision row;
    db_revision_of(&reported, 41, &row);
    CHECK(db_writer_put_bar(writer, 1, MINUTE, BAR_TRADES, &before) > 0);
    CHECK(db_writer_correct_bar(writer, 1, MINUTE, BAR_TRADES, &after) > 0);
    CHECK(db_writer_correct_bar(writer, 0, MINUTE, BAR_TRADES, &after) >
          0); /* no such bar is stored: it forms */
    CHECK(db_writer_put_revision(writer, &row) > 0);
    CHECK(db_writer_put_revision(writer, &row) > 0); /* comes again: one row */
    reported.source = BAR_VENUE;
    db_revision_of(&reported, 41, &row);
    CHECK(db_writer_put_revision(writer, &row) > 0); /* the same trade, of the venue's bar */
    reported = (struct engine_revision){
        .kind = REVISION_BAR, .symbol = 0, .ts_ns = AT + 20, .at_ns = AT, .now = &after, .source = BAR_VENUE};
    db_revision_of(&reported, 42, &row);
    CHECK(db_writer_put_revision(writer, &row) > 0);
    CHECK(db_writer_drop_bar(writer, 1, MINUTE, BAR_VENUE, AT) > 0); /* was never stored */
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    CHECK_INT(sql_query_file(path, "SELECT high FROM bars"), 110);
    CHECK(db_writer_drop_bar(writer, 1, MINUTE, BAR_TRADES, AT) > 0);
    struct db_writer_stats stats;
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.skipped, 0);
    CHECK_INT(stats.bars_corrected, 2);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM bars"), 0);
    fixture_close(writer);

    struct revisions seen = {0};
    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_reader_revisions(reader, "AAPL", INT64_MIN, INT64_MAX, see_revision, &seen), 0);
    CHECK_INT(seen.n, 2);
    CHECK_STR(seen.symbol, "AAPL");
    CHECK_INT(seen.last.kind, REVISION_CORRECTION);
    CHECK_INT(seen.last.source, BAR_VENUE);
    CHECK_INT(seen.last.ts_ns, AT + 9);
    CHECK_INT(seen.last.at_ns, AT + 5);
    CHECK_INT(seen.last.input_seq, 41);
    CHECK(seen.last.applied && seen.last.has_old && seen.last.has_now);
    CHECK_INT(seen.last.correction.id, 77);
    CHECK_INT(seen.last.correction.new_id, 78);
    CHECK_INT(seen.last.correction.old_price, 120);
    CHECK_INT(seen.last.correction.old_qty, 4);
    CHECK_INT(seen.last.correction.price, 110);
    CHECK_INT(seen.last.correction.qty, 3);
    CHECK_STR(seen.last.correction.code, "12");
    check_same_bar(&seen.last.old, &before);
    check_same_bar(&seen.last.now, &after);
    CHECK_INT(db_reader_revisions(reader, NULL, AT + 9, AT + 20, see_revision, &(struct revisions){0}), 0);
    seen = (struct revisions){.n = 2};
    CHECK_INT(db_reader_revisions(reader, "BTCUSDT", AT + 10, AT + 20, see_revision, &seen), 0);
    CHECK_INT(seen.n, 3);
    CHECK_INT(seen.last.correction.id, -1);
    CHECK(!seen.last.applied && !seen.last.has_old && seen.last.has_now);
    CHECK_INT(db_reader_revisions(reader, "TSLA", 0, AT, see_revision, &seen), -ENOENT);
    db_reader_close(reader);
    verified(path, "");

    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "UPDATE revisions SET price = price + 1 WHERE id = 2");
    verified(path, "revisions: row 2: was altered: its values and its hash disagree");
    sql_exec(db, "UPDATE revisions SET price = price - 1 WHERE id = 2");
    verified(path, "");
    sql_exec(db, "DELETE FROM revisions WHERE id = 3");
    verified(path, "revisions: row 3: is missing: the table should hold 3 rows");
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

/* ---- splits and dividends ---- */

static void see_action(void *ctx, const struct db_action_row *row)
{
    char *text = ctx;
    const struct corporate_action *action = &row->action.action;
    snprintf(text + strlen(text), 300 - strlen(text),
             "%" PRIu64 " %s %s %s %" PRId64 " %" PRId64 "/%" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 "; ",
             row->action.id, row->symbol->symbol.name, action->id, corporate_action_name(action->kind),
             action->ex_ns - AT, action->shares, action->per, action->cash, row->action.ts_ns - AT,
             row->action.input_seq);
}

static void test_actions(void)
{
    const char *path = scratch_path("actions.db");
    char text[300] = "";
    struct db_writer *writer = begin(path);
    struct db_action split = {
        .symbol = 1,
        .action =
            {.id = "split-1", .kind = ACTION_SPLIT, .ex_ns = AT + MINUTE, .shares = 4, .per = 1, .cash = 0},
        .ts_ns = AT + 2 * MINUTE,
        .input_seq = 11};
    struct db_action dividend = {
        .symbol = 1,
        .action = {.id = "div-1", .kind = ACTION_DIVIDEND, .ex_ns = AT + 3 * MINUTE, .cash = 240000000},
        .ts_ns = AT + 3 * MINUTE,
        .input_seq = 12};
    CHECK(db_writer_put_action(writer, &split) > 0);
    CHECK(db_writer_put_action(writer, &dividend) > 0);
    CHECK(db_writer_put_action(writer, &split) > 0); /* with a transaction that was stored after all */
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    fixture_close(writer);
    verified(path, "");

    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_reader_actions(reader, "AAPL", see_action, text), 0);
    CHECK_STR(text, "1 AAPL split-1 split 60000000000 4/1 0 120000000000 11; "
                    "2 AAPL div-1 dividend 180000000000 0/0 240000000 180000000000 12; ");
    text[0] = '\0';
    CHECK_INT(db_reader_actions(reader, "BTCUSDT", see_action, text), 0);
    CHECK_STR(text, "");
    db_reader_close(reader);

    /* Again, later: the first stays. With other numbers it is counted. */
    struct db_writer_stats stats;
    writer = begin(path);
    split.ts_ns++;
    split.input_seq = 50;
    CHECK(db_writer_put_action(writer, &split) > 0);
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.conflicts, 0);
    split.action.shares = 5;
    CHECK(db_writer_put_action(writer, &split) > 0);
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.conflicts, 1);
    CHECK_STR(stats.conflict, "corporate action of event 50 is already stored, with other values");
    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT input_seq FROM corporate_actions WHERE shares = 4"), 11);
    verified(path, "");

    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "UPDATE corporate_actions SET shares = 5 WHERE id = 1");
    verified(path, "corporate_actions: row 1: was altered: its values and its hash disagree");
    sql_exec(db, "UPDATE corporate_actions SET shares = 4 WHERE id = 1");
    sql_exec(db, "DELETE FROM corporate_actions WHERE id = 1");
    verified(path, "corporate_actions: row 1: is missing");
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

/* ---- bars across splits ---- */

static void see_high(void *ctx, const struct bar *bar)
{
    char *text = ctx, volume[DECIMAL_TEXT_MAX];
    decimal_format(bar->volume, 0, volume);
    snprintf(text + strlen(text), 300 - strlen(text), "%" PRId64 ":%" PRId64 "/%s ",
             (bar->open_ns - AT) / MINUTE, bar->high, volume);
}

static void put_bar(struct db_writer *writer, int64_t i, int64_t high, int64_t volume)
{
    struct bar bar = {
        .open_ns = AT + i * MINUTE, .open = high, .high = high, .low = high, .close = high, .volume = volume};
    CHECK(db_writer_put_bar(writer, 1, MINUTE, BAR_VENUE, &bar) > 0);
}

static void put_split(struct db_writer *writer, const char *id, int64_t ex, int64_t shares, int64_t per)
{
    struct db_action action = {
        .symbol = 1,
        .action = {.kind = ACTION_SPLIT, .ex_ns = AT + ex * MINUTE, .shares = shares, .per = per},
        .ts_ns = AT + ex * MINUTE};
    snprintf(action.action.id, sizeof action.action.id, "%s", id);
    CHECK(db_writer_put_action(writer, &action) > 0);
}

/* Four for one, then one for two: a bar is in the shares of when it was stored. */
static void test_split_bars(void)
{
    const char *path = scratch_path("split_bars.db");
    char text[300] = "";
    struct db_writer *writer = begin(path);
    put_bar(writer, 1, 800, 100);
    put_bar(writer, 2, 840, 10);
    put_split(writer, "a", 10, 4, 1);
    put_bar(writer, 0, 190, 444); /* fetched later, in new shares */
    put_bar(writer, 2, 220, 40);  /* corrected later, likewise */
    put_bar(writer, 10, 230, 60);
    put_split(writer, "b", 20, 1, 2);
    put_bar(writer, 20, 470, 31);
    fixture_close(writer);

    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_reader_bars(reader, "AAPL", MINUTE, BAR_VENUE, 0, INT64_MAX, see_high, text), 0);
    CHECK_STR(text, "0:190/444 1:800/100 2:220/40 10:230/60 20:470/31 ");
    text[0] = '\0';
    CHECK_INT(db_reader_split_bars(reader, "AAPL", MINUTE, BAR_VENUE, 0, INT64_MAX, see_high, text), 0);
    CHECK_STR(text, "0:380/222 1:400/200 2:440/20 10:460/30 20:470/31 ");
    text[0] = '\0';
    CHECK_INT(db_reader_last_split_bars(reader, "AAPL", MINUTE, BAR_VENUE, 2, see_high, text), 0);
    CHECK_STR(text, "10:460/30 20:470/31 ");
    text[0] = '\0';
    CHECK_INT(db_reader_split_bars_until(reader, "AAPL", MINUTE, BAR_VENUE, AT + 10 * MINUTE - 1, 2, see_high,
                                         text),
              0);
    CHECK_STR(text, "1:400/200 2:440/20 ");
    text[0] = '\0';
    CHECK_INT(db_reader_split_bars_after(reader, "AAPL", MINUTE, BAR_VENUE, AT + MINUTE, 2, see_high, text),
              0);
    CHECK_STR(text, "2:440/20 10:460/30 ");
    CHECK_INT(db_reader_split_bars_after(reader, "TSLA", MINUTE, BAR_VENUE, 0, 1, see_high, text), -ENOENT);
    CHECK_INT(db_reader_split_bars(reader, "TSLA", MINUTE, BAR_VENUE, 0, 1, see_high, text), -ENOENT);
    db_reader_close(reader);
}

/* ---- sessions, venues, bans ---- */

static void see_session(void *ctx, const struct db_session *row)
{
    char *text = ctx;
    snprintf(text + strlen(text), 200 - strlen(text), "%s %s %" PRId64 " %" PRId64 "; ",
             row->session.calendar, market_phase_name(row->session.phase), row->since_ns - AT,
             row->session.next_ns - AT);
}

static void see_venue(void *ctx, const struct db_venue *row)
{
    char *text = ctx;
    snprintf(text + strlen(text), 300 - strlen(text),
             "%s %s '%s' %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %g %g %d; ",
             row->venue, db_words_feed_state.names[row->state], row->detail, row->market, row->last_recv_ns,
             row->frames, row->bad_frames, row->connects, row->renewals, row->latency_p50_ms,
             row->latency_p99_ms, isnan(row->clock_offset_ms));
}

static void see_ban(void *ctx, const struct db_ban *row)
{
    char *text = ctx;
    snprintf(text + strlen(text), 200 - strlen(text), "%s %" PRId64 " %s; ", row->venue, row->until_ns,
             row->why);
}

static void put_session(struct db_writer *writer, const char *calendar, enum market_phase phase,
                        int64_t since_ns, int64_t next_ns)
{
    struct db_session row = {.session = {.phase = phase, .next_ns = AT + next_ns}, .since_ns = AT + since_ns};
    snprintf(row.session.calendar, sizeof row.session.calendar, "%s", calendar);
    CHECK(db_writer_put_session(writer, &row) > 0);
}

static void test_venues(void)
{
    const char *path = scratch_path("venues.db");
    char text[300] = "";
    struct db_writer *writer = begin(path);
    put_session(writer, "us-equity", MARKET_PHASE_CLOSED, 0, 50);
    put_session(writer, "xetra", MARKET_PHASE_OPEN, 1, 60);
    put_session(writer, "us-equity", MARKET_PHASE_OPEN, 50, 90);
    put_session(writer, "us-equity", MARKET_PHASE_OPEN, 55, 80); /* it closes earlier than was known */
    struct db_venue venue = {.venue = "alpaca",
                             .state = DB_FEED_CLOSED,
                             .detail = "",
                             .market = "closed",
                             .last_recv_ns = 5,
                             .frames = 6,
                             .bad_frames = 7,
                             .connects = 8,
                             .renewals = 9,
                             .latency_p50_ms = 1.5,
                             .latency_p99_ms = 2.5,
                             .clock_offset_ms = NAN};
    CHECK(db_writer_put_venue(writer, &venue) > 0);
    venue.venue = "binance";
    venue.state = DB_FEED_RETRY;
    venue.detail = "connection refused";
    venue.market = "always";
    CHECK(db_writer_put_venue(writer, &venue) > 0);
    venue.state = DB_FEED_OK;
    venue.detail = "";
    CHECK(db_writer_put_venue(writer, &venue) > 0);
    struct db_ban ban = {.venue = "binance", .until_ns = 100, .why = "429"};
    CHECK(db_writer_put_ban(writer, &ban) > 0);
    ban.until_ns = 200;
    ban.why = "418: way too many requests";
    CHECK(db_writer_put_ban(writer, &ban) > 0);
    ban.venue = "alpaca";
    CHECK(db_writer_put_ban(writer, &ban) > 0);
    ban.until_ns = 0;
    CHECK(db_writer_put_ban(writer, &ban) > 0);
    struct db_feed feed = {.symbol = 1, .state = DB_FEED_CLOSED, .stream = "trade", .detail = ""};
    CHECK(db_writer_put_feed(writer, &feed) > 0);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM feed_status WHERE state = 'closed'"), 1);

    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_reader_sessions(reader, see_session, text), 0);
    CHECK_STR(text, "us-equity regular 50 80; xetra regular 1 60; ");
    text[0] = '\0';
    CHECK_INT(db_reader_venues(reader, see_venue, text), 0);
    CHECK_STR(text,
              "alpaca closed '' closed 5 6 7 8 9 1.5 2.5 1; binance ok '' always 5 6 7 8 9 1.5 2.5 1; ");
    text[0] = '\0';
    CHECK_INT(db_reader_bans(reader, see_ban, text), 0);
    CHECK_STR(text, "binance 200 418: way too many requests; ");
    db_reader_close(reader);
    verified(path, "");
}

/* ---- measures of books ---- */

struct book_bars {
    int n;
    struct engine_book_bar first, last;
};

static void see_book_bar(void *ctx, const struct engine_book_bar *row)
{
    struct book_bars *seen = ctx;
    if (seen->n++ == 0)
        seen->first = *row;
    seen->last = *row;
}

static struct engine_book_bar book_bar(int symbol, int64_t i)
{
    struct engine_book_bar bar = {.symbol = symbol, .open_ns = i * MINUTE};
    for (int m = 0; m < BOOK_MEASURES; m++) {
        bar.measures[m].open = (double)i / 3 + m;
        bar.measures[m].high = (double)i + m + 0.25;
        bar.measures[m].low = -1.0 / 7;
        bar.measures[m].close = 5e-324;
    }
    return bar;
}

static void test_book_bars(void)
{
    const char *path = scratch_path("book_bars.db");
    struct db_writer *writer = begin(path);
    struct engine_book_bar bar = book_bar(0, 1), other = book_bar(1, 1);
    CHECK(db_writer_put_book_bar(writer, MINUTE, &bar) > 0);
    CHECK(db_writer_put_book_bar(writer, MINUTE, &other) > 0);
    for (int64_t i = 2; i <= DB_BOOK_BARS_KEPT + 10; i++) {
        bar = book_bar(0, i);
        CHECK(db_writer_put_book_bar(writer, MINUTE, &bar) > 0);
    }
    CHECK(db_writer_put_book_bar(writer, MINUTE, &bar) > 0); /* comes again */
    fixture_close(writer);

    struct book_bars seen = {0};
    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_reader_book_bars(reader, "BTCUSDT", MINUTE, 0, INT64_MAX, see_book_bar, &seen), 0);
    CHECK_INT(seen.n, DB_BOOK_BARS_KEPT);
    CHECK_INT(seen.first.open_ns, 11 * MINUTE);
    CHECK(memcmp(&seen.last.measures, &bar.measures, sizeof bar.measures) == 0);
    seen = (struct book_bars){0};
    CHECK_INT(db_reader_last_book_bars(reader, "BTCUSDT", MINUTE, 7, see_book_bar, &seen), 0);
    CHECK_INT(seen.n, 7);
    CHECK_INT(seen.last.open_ns, bar.open_ns);
    CHECK_INT(seen.first.open_ns, bar.open_ns - 6 * MINUTE);
    seen = (struct book_bars){0};
    CHECK_INT(db_reader_book_bars(reader, "AAPL", MINUTE, 0, INT64_MAX, see_book_bar, &seen), 0);
    CHECK_INT(seen.n, 1);
    CHECK_INT(db_reader_book_bars(reader, "AAPL", 2 * MINUTE, 0, INT64_MAX, see_book_bar, &seen), 0);
    CHECK_INT(seen.n, 1);
    CHECK_INT(db_reader_book_bars(reader, "TSLA", MINUTE, 0, 1, see_book_bar, &seen), -ENOENT);
    db_reader_close(reader);
}

int main(void)
{
    test_symbols();
    test_revisions();
    test_actions();
    test_split_bars();
    test_venues();
    test_book_bars();
    return check_done("db/venues");
}
