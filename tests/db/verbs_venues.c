/* papertape revisions, actions, symbol list, venues: what they print from a database of known contents. */
#include <math.h>

#include "cli/verbs.h"
#include "exchange/bars_file.h"
#include "tests/db/fixture.h"
#include "tests/db/run_verb.h"

#define AT     INT64_C(1723161240000000000)
#define MINUTE INT64_C(60000000000)

static void fill_database(const char *path)
{
    const struct db_writer_config config = {0};
    struct db_writer *writer = fixture_writer(path, &config);
    struct symbol coin = fixture_symbol(0);
    struct symbol share = {.name = "AAPL",
                           .base = "AAPL",
                           .quote = "USD",
                           .price_scale = 4,
                           .qty_scale = 9,
                           .quote_scale = 6,
                           .loose_ids = true,
                           .calendar = "us-equity"};
    db_writer_put_symbol(writer, 0, "binance", &coin, AT);
    db_writer_put_symbol(writer, 1, "alpaca", &share, AT);
    db_writer_put_streamed(writer, 1, false);

    struct bar old = {.open_ns = AT,
                      .open = 2200000,
                      .high = 2300000,
                      .low = 2100000,
                      .close = 2250000,
                      .volume = INT64_C(12500000000),
                      .trades = 7,
                      .session = BAR_SESSION_REGULAR};
    struct bar now = old;
    now.high = 2280000;
    now.volume = INT64_C(12000000000);
    const struct market_correction trade = {.ts_ns = AT + MINUTE,
                                            .id = 77,
                                            .new_id = 78,
                                            .old_price = 2300000,
                                            .old_qty = 1000000000,
                                            .price = 2280000,
                                            .qty = 500000000};
    struct engine_revision reported = {.kind = REVISION_CORRECTION,
                                       .symbol = 1,
                                       .ts_ns = AT + MINUTE + 1,
                                       .at_ns = AT + MINUTE,
                                       .correction = &trade,
                                       .old = &old,
                                       .now = &now,
                                       .source = BAR_TRADES,
                                       .applied = true};
    struct db_revision revision;
    db_revision_of(&reported, 3, &revision);
    db_writer_put_bar(writer, 1, MINUTE, BAR_TRADES, &old);
    db_writer_put_bar(writer, 1, MINUTE, BAR_TRADES, &now);
    db_writer_put_revision(writer, &revision);
    reported = (struct engine_revision){
        .kind = REVISION_BAR, .symbol = 0, .ts_ns = AT + 2 * MINUTE, .at_ns = AT, .source = BAR_VENUE};
    db_revision_of(&reported, 4, &revision);
    db_writer_put_revision(writer, &revision);

    struct db_action action = {
        .symbol = 1,
        .action = {.id = "s1", .kind = ACTION_SPLIT, .ex_ns = AT, .shares = 4, .per = 1},
        .ts_ns = AT + 1,
        .input_seq = 5};
    db_writer_put_action(writer, &action);
    action =
        (struct db_action){.symbol = 1,
                           .action = {.id = "d1", .kind = ACTION_DIVIDEND, .ex_ns = AT, .cash = 245000000},
                           .ts_ns = AT + 2,
                           .input_seq = 6};
    db_writer_put_action(writer, &action);

    struct db_venue venue = {.venue = "alpaca",
                             .state = DB_FEED_CLOSED,
                             .detail = "",
                             .market = "closed",
                             .frames = 6,
                             .bad_frames = 7,
                             .connects = 8,
                             .renewals = 9,
                             .latency_p50_ms = 1.5,
                             .latency_p99_ms = NAN,
                             .clock_offset_ms = NAN};
    db_writer_put_venue(writer, &venue);
    struct db_ban ban = {.venue = "alpaca", .until_ns = INT64_MAX, .why = "418"};
    db_writer_put_ban(writer, &ban);
    fixture_close(writer);
}

static void test_revisions(const char *state)
{
    CHECK_INT(run(&cli_revisions, "revisions", "--csv", "--state", state, NULL), 0);
    CHECK_STR(
        line(0),
        "revision,ts_ns,symbol,kind,source,at_ns,trade,new_trade,old_price,old_qty,price,qty,bar_ns,"
        "bar_old_open,bar_old_high,bar_old_low,bar_old_close,bar_old_volume,bar_old_trades,bar_new_open,"
        "bar_new_high,bar_new_low,bar_new_close,bar_new_volume,bar_new_trades,applied,code,ts_iso,at_iso,bar_iso");
    CHECK_STR(line(1),
              "1,1723161300000000001,AAPL,correction,trades,1723161300000000000,77,78,230.0000,1.000000000,"
              "228.0000,0.500000000,1723161240000000000,220.0000,230.0000,210.0000,225.0000,12.500000000,7,"
              "220.0000,228.0000,210.0000,225.0000,12.000000000,7,1,,2024-08-08T23:55:00.000000001Z,"
              "2024-08-08T23:55:00.000000000Z,2024-08-08T23:54:00.000000000Z");
    CHECK_STR(line(2), "2,1723161360000000000,BTCUSDT,bar,venue,1723161240000000000,,,,,,,,,,,,,,,,,,,,0,,"
                       "2024-08-08T23:56:00.000000000Z,2024-08-08T23:54:00.000000000Z,");
    CHECK_INT(lines(), 3);
    CHECK_INT(run(&cli_revisions, "revisions", "aapl", "--json", "--state", state, NULL), 0);
    json_t *json = object("papertape.revisions/1");
    const json_t *row = json_array_get(json_object_get(json, "revisions"), 0);
    CHECK_INT(json_array_size(json_object_get(json, "revisions")), 1);
    CHECK_STR(json_string_value(json_object_get(row, "venue")), "alpaca");
    CHECK(json_number_value(json_object_get(row, "old_price")) == 230);
    CHECK(json_number_value(json_object_get(json_object_get(row, "bar_new"), "high")) == 228);
    CHECK(json_number_value(json_object_get(json_object_get(row, "bar_old"), "volume")) == 12.5);
    CHECK(json_is_null(json_object_get(row, "code")));
    json_decref(json);
    CHECK_INT(
        run(&cli_revisions, "revisions", "--from", "2024-08-08T23:55:30Z", "--csv", "--state", state, NULL),
        0);
    CHECK_INT(lines(), 2);
    CHECK_INT(run(&cli_revisions, "revisions", "TSLA", "--json", "--state", state, NULL), 1);
    CHECK_STR(out, "");
    CHECK_STR(err, "papertape: revisions: \"TSLA\": there is no such symbol in the database\n");

    CHECK_INT(run(&cli_bars, "bars", "AAPL", "1m", "--source", "trades", "--state", state, NULL), 0);
    CHECK_STR(line(1), "1723161240000,220.0000,228.0000,210.0000,225.0000,12.000000000,regular,"
                       "2024-08-08T23:54:00.000000000Z");
    struct bars_file bars; /* --bars reads it */
    char why[BARS_FILE_ERROR_MAX];
    CHECK_INT(bars_file_read(scratch_write("AAPL_1m.csv", out), NULL, &bars, why), 0);
    CHECK_INT(bars.n, lines() - 1);
    CHECK_INT(bars.open_time_ns[0], INT64_C(1723161240000000000));
    CHECK(bars.close[0] == 225 && bars.session && bars.session[0] == BAR_SESSION_REGULAR);
    bars_file_finish(&bars);
}

static void test_actions(const char *state)
{
    CHECK_INT(run(&cli_actions, "actions", "AAPL", "--csv", "--state", state, NULL), 0);
    CHECK_STR(
        line(0),
        "action,ts_ns,symbol,kind,ex_ns,shares,per,cash,id,record_ns,pay_ns,ts_iso,ex_iso,record_iso,pay_iso");
    CHECK_STR(line(1), "1,1723161240000000001,AAPL,split,1723161240000000000,4,1,,s1,,,"
                       "2024-08-08T23:54:00.000000001Z,2024-08-08T23:54:00.000000000Z,,");
    CHECK_STR(line(2), "2,1723161240000000002,AAPL,dividend,1723161240000000000,,,0.245000000,d1,,,"
                       "2024-08-08T23:54:00.000000002Z,2024-08-08T23:54:00.000000000Z,,");
    CHECK_INT(run(&cli_actions, "actions", "BTCUSDT", "--csv", "--state", state, NULL), 0);
    CHECK_INT(lines(), 1);
    CHECK_INT(run(&cli_actions, "actions", "--json", "--state", state, NULL), 0);
    json_t *json = object("papertape.actions/1");
    const json_t *rows = json_object_get(json, "actions");
    CHECK_INT(json_integer_value(json_object_get(json_array_get(rows, 0), "shares")), 4);
    CHECK(json_is_null(json_object_get(json_array_get(rows, 0), "cash")));
    CHECK(json_number_value(json_object_get(json_array_get(rows, 1), "cash")) == 0.245);
    CHECK(json_is_null(json_object_get(json_array_get(rows, 1), "per")));
    json_decref(json);
}

/* Without a daemon: as the database has them, and the exit status says so. */
static void test_lists(const char *state)
{
    CHECK_INT(run(&cli_symbol, "symbol", "list", "--csv", "--state", state, NULL), 3);
    CHECK_STR(out, "name,venue,streamed,calendar\nBTCUSDT,binance,,\nAAPL,alpaca,no,us-equity\n");
    CHECK(strstr(err, "papertape: symbol: as the database last had them: ") == err);
    CHECK_INT(run(&cli_symbol, "symbol", "add", "SOLUSDT", "--state", state, NULL), 3);
    CHECK_INT(run(&cli_venues, "venues", "--json", "--state", state, NULL), 3);
    json_t *json = object("papertape.venues/1");
    const json_t *row = json_array_get(json_object_get(json, "venues"), 0);
    CHECK_STR(json_string_value(json_object_get(row, "name")), "alpaca");
    CHECK_STR(json_string_value(json_object_get(row, "state")), "closed");
    CHECK_STR(json_string_value(json_object_get(row, "market")), "closed");
    CHECK(json_number_value(json_object_get(row, "latency_p50_ms")) == 1.5);
    CHECK(json_is_null(json_object_get(row, "latency_p99_ms")) &&
          json_is_null(json_object_get(row, "age_ms")));
    CHECK_INT(json_integer_value(json_object_get(row, "banned_until_ns")), INT64_MAX);
    json_decref(json);
    CHECK_INT(run(&cli_venues, "venues", "--csv", "--state", state, NULL), 3);
    CHECK_INT(lines(), 2);
    CHECK(strstr(line(1), "alpaca,closed,closed,,,,1.5,,,,,,8,9,,,,,,,,,,6,7,9223372036854775807,") ==
          line(1));
    CHECK_INT(run(&cli_venues, "venues", "streams", "alpaca", "--state", state, NULL), 3);
}

int main(void)
{
    char state[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    unsetenv("RUNTIME_DIRECTORY");
    scratch_make(state);
    snprintf(path, sizeof path, "%s/papertape.db", state);
    fill_database(path);
    test_revisions(state);
    test_actions(state);
    test_lists(state);
    return check_done("db/verbs_venues");
}
