/* papertape ledger, bars, fills, orders, positions, train list, policy list: what they print from a database
 * of known contents, and how they refuse. */
#include "cli/verbs.h"
#include "cli/stored.h"
#include "tests/db/fixture.h"
#include "tests/db/run_verb.h"

static void fill_database(const char *path, struct fixture *f)
{
    struct db_writer_config config = {0};
    struct db_writer *writer;
    char why[DB_ERROR_MAX] = "";
    CHECK_INT(db_writer_open(path, &config, &writer, why, sizeof why), 0);
    fixture_open(f, writer);
    struct order order = fixture_order(f, 0, ORDER_BUY, 6183763000000, 12345000);
    fixture_fill(f, &order, 6183763000000, 12345000);
    f->ts_ns += 1000000;
    order = (struct order){
        .id = ++f->order_id,
        .side = ORDER_SELL,
        .type = ORDER_STOP,
        .state = ORDER_OPEN,
        .qty = 2345000,
        .stop_price = 6000000000000,
        .created_ns = f->ts_ns,
        .effective_ns = f->ts_ns + 1000,
        .updated_ns = f->ts_ns,
        .input_seq = ++f->seq,
    };
    strcpy(order.tag, "a,\"b\"");
    db_writer_put_order(writer, &order);
    struct order unknown = {.id = ++f->order_id,
                            .account = -1,
                            .symbol = -1,
                            .state = ORDER_REJECTED,
                            .reason = ORDER_UNKNOWN_SYMBOL};
    db_writer_put_order(writer, &unknown);
    struct db_price price = {.symbol = 0, .last = 6200000000000, .mark = 6200000000000};
    db_writer_put_price(writer, &price);
    for (int64_t i = 0; i < 3; i++) {
        struct bar bar = {
            .open_ns = (1723161240 + 60 * i) * INT64_C(1000000000),
            .open = 6183763000000 + i,
            .high = 6183764000000,
            .low = 1,
            .close = 6183763000001,
            .volume = (int128_t)10000000000000 * FIXTURE_UNIT + i,
        };
        db_writer_put_bar(writer, 0, 60000000000, i < 2 ? BAR_VENUE : BAR_TRADES, &bar);
    }
    struct db_training training = {.name = "ppo-btc",
                                   .state = "update",
                                   .reason = "",
                                   .cause = "",
                                   .device = "0",
                                   .backend = "gpu",
                                   .config = "[ppo]",
                                   .verdict = "",
                                   .verdict_text = "",
                                   .checkpoint = "",
                                   .policy = "/p",
                                   .steps = 250000,
                                   .total_steps = 1000000,
                                   .steps_s = NAN,
                                   .episode_return = 1.5,
                                   .cpu_s = 2.5,
                                   .memory_bytes = 300 << 20,
                                   .created_ns = 1,
                                   .started_ns = 2,
                                   .heard_ns = FIXTURE_START};
    db_writer_put_training(writer, &training);
    struct db_policy policy = {.name = "ppo-btc",
                               .account = "main",
                               .training = "ppo-btc",
                               .path = "/p",
                               .reason = "better",
                               .role = DB_POLICY_CHAMPION,
                               .id = {0xab},
                               .since_ns = FIXTURE_START};
    db_writer_put_policy(writer, &policy);
    CHECK_INT(db_writer_close(writer, 30000, why, sizeof why), 0);
}

/* Without a daemon: what the database has, with a note of that, and status 3. */
static void test_learning(const char *state)
{
    char expected[SCRATCH_PATH_MAX + 160];
    CHECK_INT(run(&cli_train, "train", "list", "--state", state, NULL), 3);
    CHECK_INT(lines(), 2);
    CHECK(strncmp(line(1), "ppo-btc           update                -         -", 50) == 0);
    CHECK(strstr(line(1), " STALE  0 ") != NULL); /* its age, its device */
    snprintf(
        expected, sizeof expected,
        "papertape: train: as the database last had them: %s/control.sock: no daemon is listening: start "
        "papertaped, or name its state with --state\n",
        state);
    CHECK_STR(err, expected);
    CHECK_INT(run(&cli_train, "train", "list", "--json", "--state", state, NULL), 3);
    json_t *json = object("papertape.trainings/1"),
           *row = json_array_get(json_object_get(json, "trainings"), 0);
    CHECK_STR(json_string_value(json_object_get(row, "name")), "ppo-btc");
    CHECK_STR(json_string_value(json_object_get(row, "state")), "update");
    CHECK_INT(json_integer_value(json_object_get(row, "steps")), 250000);
    CHECK(json_number_value(json_object_get(row, "return")) == 1.5);
    CHECK(json_number_value(json_object_get(row, "memory_mib")) == 300);
    CHECK(json_is_null(json_object_get(row, "steps_per_second")) &&
          json_is_null(json_object_get(row, "cause")));
    CHECK(json_is_null(json_object_get(row, "ended_ns")) && json_is_true(json_object_get(row, "stale")));
    CHECK(json_integer_value(json_object_get(row, "age_ms")) > 0);
    json_decref(json);
    CHECK_INT(run(&cli_train, "train", "list", "--csv", "--state", state, NULL), 3);
    CHECK(strncmp(line(1), "ppo-btc,update,25.0,250000,1000000,,1.5000,", 43) == 0);

    CHECK_INT(run(&cli_policy, "policy", "list", "--state", state, NULL), 3);
    CHECK_INT(lines(), 2);
    CHECK(strncmp(line(1), "ppo-btc           champion    main    ", 38) == 0);
    CHECK(strstr(line(1), " ab0000000000 ") && strstr(line(1), "better"));
    CHECK_INT(run(&cli_policy, "policy", "list", "--json", "--state", state, NULL), 3);
    json = object("papertape.policies/1");
    row = json_array_get(json_object_get(json, "policies"), 0);
    CHECK_STR(json_string_value(json_object_get(row, "name")), "ppo-btc");
    CHECK_STR(json_string_value(json_object_get(row, "role")), "champion");
    CHECK_INT(strlen(json_string_value(json_object_get(row, "id"))), 64);
    CHECK_INT(json_integer_value(json_object_get(row, "since_ns")), FIXTURE_START);
    CHECK(json_is_null(json_object_get(row, "equity")) && json_is_null(json_object_get(row, "state")));
    json_decref(json);
    CHECK_INT(run(&cli_account, "account", "list", "--state", state, NULL), 0);
    CHECK(strstr(line(1), " policy ppo-btc ") != NULL);
    CHECK_INT(run(&cli_account, "account", "list", "--json", "--state", state, NULL), 0);
    json = object("papertape.accounts/1");
    row = json_array_get(json_object_get(json, "accounts"), 0);
    CHECK_STR(json_string_value(json_object_get(row, "policy")), "ppo-btc");
    CHECK(json_is_null(json_object_get(row, "strategy")));
    json_decref(json);
    CHECK_INT(run(&cli_policy, "policy", "show", "ppo-btc", "--state", state, NULL), 3);
    CHECK_STR(out, "");
}

static void test_bars(const char *state)
{
    CHECK_INT(run(&cli_bars, "bars", "btcusdt", "1m", "--state", state, NULL), 0);
    CHECK_STR(
        out,
        "open_time_ms,open,high,low,close,volume,session,open_time_iso\n"
        "1723161240000,61837.63000000,61837.64000000,0.00000001,61837.63000001,10000000000000.00000000,none,"
        "2024-08-08T23:54:00.000000000Z\n"
        "1723161300000,61837.63000001,61837.64000000,0.00000001,61837.63000001,10000000000000.00000001,none,"
        "2024-08-08T23:55:00.000000000Z\n");
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--source", "trades", "--state", state, NULL), 0);
    CHECK_INT(lines(), 2);
    CHECK_INT(
        run(&cli_bars, "bars", "BTCUSDT", "1m", "--from", "2024-08-08T23:55:00Z", "--state", state, NULL), 0);
    CHECK_INT(lines(), 2);
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--to", "1723161299999", "--state", state, NULL), 0);
    CHECK_INT(lines(), 2);
    CHECK_STR(err, "");
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--to", "1723161300000", "--state", state, NULL), 0);
    CHECK_INT(lines(), 2); /* the end is not included */
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--account", "main", "--state", state, NULL), 2);
    CHECK_STR(err, "papertape: bars: --account: bars are of a market, not of an account: see papertape bars "
                   "--help\n");
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1h", "--state", state, NULL), 0);
    CHECK_INT(lines(), 1); /* and where bars are to be had */
    CHECK_STR(err, "papertape: bars: BTCUSDT 1h: not stored; stored are 1m, 1m of --source trades\n");
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--to", "2020-01-01", "--state", state, NULL), 0);
    CHECK_INT(lines(), 1);
    CHECK_STR(err, "");
    CHECK_INT(run(&cli_bars, "bars", "ETHUSDT", "1h", "--state", state, NULL), 0);
    CHECK_INT(lines(), 1);
    CHECK_STR(err, "papertape: bars: ETHUSDT 1h: no bar of this symbol is stored\n");
    CHECK_INT(run(&cli_bars, "bars", "XRPUSDT", "1m", "--state", state, NULL), 1);
    CHECK_STR(err, "papertape: bars: \"XRPUSDT\": there is no such symbol in the database\n");
    CHECK_STR(out, "");
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "7m", "--state", state, NULL), 2);
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--from", "yesterday", "--state", state, NULL), 2);
    CHECK(strstr(err, "papertape: bars: --from: \"yesterday\": a time as") == err);
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--source", "moon", "--state", state, NULL), 2);
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "--state", state, NULL), 2);
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--json", "--state", state, NULL), 0);
    json_t *json = object("papertape.bars/1"), *bars = json_object_get(json, "bars");
    CHECK_INT(json_array_size(bars), 2);
    CHECK_INT(json_integer_value(json_object_get(json_array_get(bars, 1), "open_time_ms")), 1723161300000);
    CHECK(json_number_value(json_object_get(json_array_get(bars, 0), "close")) == 61837.63000001);
    CHECK_STR(json_string_value(json_object_get(json_array_get(bars, 0), "session")), "none");
    json_decref(json);
    CHECK_INT(run(&cli_bars, "bars", "BTCUSDT", "1m", "--all", "--state", state, NULL), 2);
    CHECK_STR(err, "papertape: bars: --all: unknown option: see papertape bars --help\n");
    CHECK_INT(run(&cli_bars, "bars", "--state", NULL), 2);
    CHECK_STR(err, "papertape: bars: --state: needs a value: see papertape bars --help\n");
    CHECK_INT(run(&cli_bars, "bars", "--help", NULL), 0);
    CHECK(strstr(out, "Usage: papertape bars SYMBOL INTERVAL") == out);
    CHECK_STR(err, "");
}

static void test_fills(const char *state)
{
    CHECK_INT(run(&cli_fills, "fills", "--csv", "--state", state, NULL), 0);
    CHECK_STR(out, "fill,order,ts_ns,account,symbol,side,price,qty,notional,fee,fee_asset,fee_base,maker,by,"
                   "rate,base,liquidity,sec_fee,taf_fee,ts_iso\n"
                   "1,1,1723161255344000000,main,BTCUSDT,BUY,61837.63000000,0.12345000,7633.85542350,7."
                   "63385543,USDT,,0,,0.001,7633.85542350,taker,,,2024-08-08T23:54:15.344000000Z\n");
    CHECK_INT(run(&cli_fills, "fills", "--state", state, NULL), 0);
    CHECK_INT(lines(), 2);
    CHECK(strstr(line(1), "2024-08-08 23:54:15.344Z") != NULL);
    CHECK(strstr(line(1), " 7633.8554235 ") != NULL);
    CHECK_INT(run(&cli_fills, "fills", "--json", "--state", state, NULL), 0);
    json_t *json = object("papertape.fills/1"), *fill = json_array_get(json_object_get(json, "fills"), 0);
    CHECK_INT(json_array_size(json_object_get(json, "fills")), 1);
    CHECK_NEAR(json_number_value(json_object_get(fill, "price")), 61837.63, 0);
    CHECK_INT(json_integer_value(json_object_get(fill, "ts_ns")), INT64_C(1723161255344000000));
    json_decref(json);
    CHECK_INT(run(&cli_fills, "fills", "x", "--state", state, NULL), 2);
}

/* A newer column follows the others. */
static void starts(const char *row, const char *with)
{
    if (strncmp(row, with, strlen(with)) != 0)
        CHECK_STR(row, with);
}

static void test_orders(const char *state)
{
    CHECK_INT(run(&cli_orders, "orders", "--csv", "--state", state, NULL), 0);
    CHECK_INT(lines(), 4);
    starts(line(2),
           "2,1723161255345000000,1723161255345000000,main,BTCUSDT,SELL,STOP,OPEN,,0.02345000,0.00000000,,"
           "60000.00000000,0.00000000,0,\"a,\"\"b\"\"\",GTC,,,,0,0,0,,,,0,");
    starts(line(3), "3,0,0,,,BUY,MARKET,REJECTED,UNKNOWN_SYMBOL,,,,,,0,,GTC,,,,0,0,0,,,,0,");
    CHECK_INT(run(&cli_orders, "orders", "--state", state, NULL), 0);
    CHECK_INT(lines(), 4);
    CHECK_INT(run(&cli_orders, "orders", "--json", "--state", state, NULL), 0);
    json_t *json = object("papertape.orders/1"), *orders = json_object_get(json, "orders");
    CHECK_INT(json_array_size(orders), 3);
    CHECK(json_is_null(json_object_get(json_array_get(orders, 1), "price")));
    CHECK_NEAR(json_number_value(json_object_get(json_array_get(orders, 1), "stop")), 60000, 0);
    CHECK(json_is_null(json_object_get(json_array_get(orders, 2), "symbol")));
    CHECK_STR(json_string_value(json_object_get(json_array_get(orders, 2), "reason")), "UNKNOWN_SYMBOL");
    json_decref(json);
}

static void test_positions(const char *state)
{
    CHECK_INT(run(&cli_positions, "positions", "--csv", "--state", state, NULL), 0);
    CHECK_INT(lines(), 2);
    CHECK_STR(
        line(1),
        "main,BTCUSDT,L,0.12345000,61837.63000000,62000.00000000,7633.85542350,7653.90000000,20.04457650,"
        "0.00000000,7.63385543,1723161255344000000,1723161255344000000,61837.63000000,7633.85542350,0."
        "00000000,,2024-08-08T23:54:15.344000000Z,2024-08-08T23:54:15.344000000Z,");
    CHECK_INT(run(&cli_positions, "positions", "--json", "--state", state, NULL), 0);
    json_t *json = object("papertape.positions/1"),
           *first = json_array_get(json_object_get(json, "positions"), 0);
    CHECK_NEAR(json_number_value(json_object_get(first, "upnl")), 20.0445765, 1e-9);
    CHECK_STR(json_string_value(json_object_get(first, "side")), "L");
    json_decref(json);
}

static void test_ledger(const char *state, const struct fixture *f)
{
    char hash[2 * LEDGER_HASH_SIZE + 1], expected[SCRATCH_PATH_MAX + 128];
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        sprintf(hash + 2 * i, "%02x", f->hash[i]);
    CHECK_INT(run(&cli_ledger, "ledger", "verify", "--state", state, NULL), 0);
    CHECK_STR(line(0), "ledger ok: 4 rows, 3 orders, 1 fills, 1 positions");
    snprintf(expected, sizeof expected, "hash %s", hash);
    CHECK_STR(line(1), expected);
    CHECK_STR(line(2), "main               9992358.51072107 USDT");
    CHECK_INT(run(&cli_ledger, "ledger", "--json", "verify", "--state", state, NULL), 0);
    json_t *json = object("papertape.ledger/1");
    CHECK(json_is_true(json_object_get(json, "ok")));
    CHECK(json_is_null(json_object_get(json, "failure")));
    CHECK_STR(json_string_value(json_object_get(json, "hash")), hash);
    json_decref(json);
    CHECK_INT(run(&cli_ledger, "ledger", "export", "--csv", "--state", state, NULL), 0);
    CHECK_INT(lines(), 5);
    CHECK_STR(line(0), "id,ts_ns,account,asset,kind,contra,amount,balance,order_id,fill_id,hash,ts_iso");
    snprintf(expected, sizeof expected,
             "4,1723161255344000000,main,USDT,fee,fees,-7.63385543,9992358.51072107,1,1,%s,"
             "2024-08-08T23:54:15.344000000Z",
             hash);
    CHECK_STR(line(4), expected);
    CHECK_INT(run(&cli_ledger, "ledger", "--csv", "--state", state, NULL), 0);
    CHECK_STR(line(4), expected);
    CHECK_INT(run(&cli_ledger, "ledger", "list", "--state", state, NULL), 0);
    CHECK_INT(lines(), 5);
    CHECK(strstr(line(4), "  fee       fees            -7.63385543    9992358.51072107         1        1"));
    CHECK_INT(run(&cli_ledger, "ledger", "verify", "--csv", "--state", state, NULL), 2);
}

static void test_altered(const char *state, const char *path)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "UPDATE ledger SET amount = amount + 1 WHERE id = 2", NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(db);
    CHECK_INT(run(&cli_ledger, "ledger", "verify", "--state", state, NULL), 1);
    CHECK_STR(err,
              "papertape: ledger verify: ledger: row 2: was altered: its values and its hash disagree\n");
    CHECK_INT(run(&cli_ledger, "ledger", "verify", "--json", "--state", state, NULL), 1);
    json_t *json = object("papertape.ledger/1");
    CHECK(json_is_false(json_object_get(json, "ok")));
    json_decref(json);

    /* What is quoted of an altered file cannot control the terminal. */
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(
        sqlite3_exec(db,
                     "PRAGMA foreign_keys = OFF; UPDATE ledger SET amount = amount - 1 WHERE id = 2;"
                     "UPDATE accounts SET name = char(27) || '[31m' || x'ff'; UPDATE positions SET qty = 1;"
                     "UPDATE meta SET key = char(27) || ']0;x' || char(7) WHERE key = 'counts'",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    CHECK_INT(run(&cli_ledger, "ledger", "verify", "--state", state, NULL), 1);
    CHECK(!strchr(err, '\033') && !strchr(out, '\033') && !strchr(out, '\xff') && strstr(out, "also: "));
    CHECK_INT(run(&cli_ledger, "ledger", "verify", "--json", "--state", state, NULL), 1);
    json = object("papertape.ledger/1");
    CHECK(json_array_size(json_object_get(json, "failures")) >= 3);
    json_decref(json);
}

/* Open ones first, then the newest; each says how it stands and when that came; a text is whole. */
static void test_alerts(const char *state, const char *path)
{
    static const struct db_writer_config config;
    char why[DB_ERROR_MAX] = "", text[DB_ALERT_TEXT_MAX];
    struct db_writer *writer;
    const int64_t t = 1723161240000000000;
    memset(text, 'w', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_INT(db_writer_open(path, &config, &writer, why, sizeof why), 0);
    struct db_alert alerts[] = {
        {.id = 1, .ts_ns = t, .last_ns = t, .count = 1, .severity = DB_ERROR, .code = "event", .text = text},
        {.id = 2, .ts_ns = t, .last_ns = t, .count = 1, .lasts = true, .code = "feed", .text = "lost"},
        {.id = 2,
         .ts_ns = t,
         .last_ns = t,
         .count = 1,
         .lasts = true,
         .closed_ns = t + 60000000000,
         .code = "feed",
         .text = "lost"},
        {.id = 3, .ts_ns = t, .last_ns = t, .count = 1, .code = "left-out", .text = "a bar"},
        {.id = 3,
         .ts_ns = t,
         .last_ns = t,
         .count = 1,
         .acked_ns = t + 5000000000,
         .code = "left-out",
         .text = "a bar"},
    };
    for (size_t i = 0; i < sizeof alerts / sizeof *alerts; i++)
        db_writer_put_alert(writer, &alerts[i]);
    fixture_close(writer);
    CHECK_INT(run(&tui_alerts, "alerts", "list", "--state", state, NULL), 0);
    CHECK_INT(lines(), 4);
    CHECK(strncmp(line(1), "    1  ", 7) == 0 && strstr(out, text) != NULL);
    CHECK(strncmp(line(2), "    3  ", 7) == 0 && strstr(line(2), "  acknowledged  2024-") != NULL);
    CHECK(strstr(line(2), "  a bar") != NULL);
    CHECK(strncmp(line(3), "    2  ", 7) == 0 && strstr(line(3), "  closed  ") != NULL &&
          strstr(line(3), "lost"));
    CHECK_INT(run(&tui_alerts, "alerts", "--csv", "--state", state, NULL), 0);
    CHECK_INT(lines(), 4);
    CHECK_STR(line(0),
              "alert,last_ns,count,severity,state,acked_ns,closed_ns,text,code,ts_ns,last_iso,acked_iso,"
              "closed_iso,ts_iso");
    CHECK_INT(run(&tui_alerts, "alerts", "list", "--json", "--state", state, NULL), 0);
    json_t *json = object("papertape.alerts/1"), *list = json_object_get(json, "alerts");
    static const char *const states[] = {"open", "acknowledged", "closed"};
    for (size_t i = 0; i < 3; i++)
        CHECK_STR(json_string_value(json_object_get(json_array_get(list, i), "state")), states[i]);
    CHECK_STR(json_string_value(json_object_get(json_array_get(list, 0), "text")), text);
    CHECK(json_is_null(json_object_get(json_array_get(list, 0), "closed_ns")));
    CHECK_INT(json_integer_value(json_object_get(json_array_get(list, 1), "acked_ns")), t + 5000000000);
    CHECK_INT(json_integer_value(json_object_get(json_array_get(list, 1), "last_ns")), t);
    CHECK_INT(json_integer_value(json_object_get(json_array_get(list, 2), "closed_ns")), t + 60000000000);
    json_decref(json);
}

static char offered[256];

static void take_name(void *ctx, const char *name)
{
    (void)ctx;
    strcat(strcat(offered, name), " ");
}

/* What completion offers for an argument of that name. */
static void check_names(const char *state, const char *kind, const char *expected)
{
    const struct option_call call = {.state = state};
    offered[0] = '\0';
    cli_names(kind, &call, NULL, take_name);
    CHECK_STR(offered, expected);
}

int main(void)
{
    char state[SCRATCH_MAX], path[SCRATCH_PATH_MAX], expected[SCRATCH_PATH_MAX + 128];
    struct fixture f;
    unsetenv("RUNTIME_DIRECTORY");
    scratch_make(state);
    snprintf(path, sizeof path, "%s/papertape.db", state);
    CHECK_INT(run(&cli_fills, "fills", "--state", state, NULL), 3);
    snprintf(expected, sizeof expected,
             "papertape: fills: %s: there is no database yet: papertaped makes it\n", path);
    CHECK_STR(err, expected);
    fill_database(path, &f);
    check_names(state, "SYMBOL", "BTCUSDT ETHUSDT ");
    check_names(state, "ACCOUNT", "main ");
    check_names(state, "TRAINING", "ppo-btc ");
    check_names(state, "POLICY", "ppo-btc ");
    test_bars(state);
    test_learning(state);
    test_fills(state);
    test_orders(state);
    test_positions(state);
    test_alerts(state, path);
    test_ledger(state, &f);
    test_altered(state, path);
    return check_done("verbs");
}
