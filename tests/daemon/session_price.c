/* Price alerts of a session: trades that make a price and trades that make none, closed bars, a split,
 * another name; what the next run finds stored, and what a former one had no time to store. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/price_alerts.h"
#include "daemon/session_internal.h"
#include "db/reader.h"
#include "tests/daemon/session.h"
#include "tests/scratch.h"

#define SECOND_NS 1000000000LL
#define MINUTE_NS (60 * SECOND_NS)
#define START_NS  (1723161180 * SECOND_NS) /* 2024-08-08T23:53:00Z */
#define UNIT      100000000LL

enum { BTC, AAPL };

static struct symbol symbols[] = {{.name = "BTCUSDT",
                                   .base = "BTC",
                                   .quote = "USDT",
                                   .price_scale = 8,
                                   .qty_scale = 8,
                                   .quote_scale = 8,
                                   .trading = true,
                                   .filters = {.tick = UNIT / 100, .step = 1000}},
                                  {.name = "AAPL",
                                   .base = "AAPL",
                                   .quote = "USDT",
                                   .price_scale = 8,
                                   .qty_scale = 8,
                                   .quote_scale = 8,
                                   .trading = true,
                                   .calendar = "us-equity",
                                   .filters = {.tick = UNIT / 100, .step = 1000}}};
static int64_t now_ns = START_NS, trade_id = 100;
static int noticed; /* by the hook */

static void see(void *ctx, const struct alert *alert, int64_t closed_ns)
{
    (void)ctx;
    CHECK(strcmp(alert->code, "PRICE") != 0 || alert->severity == DB_INFO);
    noticed += closed_ns == 0 && strcmp(alert->code, "PRICE") == 0;
}

/* A price in cents. */
static void trade_of(int symbol, enum market_kind kind, int64_t id, int64_t cents, bool odd)
{
    now_ns += SECOND_NS / 10;
    struct event event = {.kind = EVENT_MARKET,
                          .market = {.kind = kind,
                                     .symbol = symbol,
                                     .event_ns = now_ns,
                                     .trade = {.ts_ns = now_ns,
                                               .id = id,
                                               .first_id = id,
                                               .last_id = id,
                                               .price = cents * UNIT / 100,
                                               .qty = UNIT,
                                               .odd = odd}}};
    daemon_session_event(session, &event);
}

static void trade(int64_t cents)
{
    trade_of(BTC, MARKET_TRADE, ++trade_id, cents, false);
}

/* Bars that were fetched. */
static void bar(int64_t open_ns, int64_t low, int64_t high, int64_t close)
{
    const struct bar one = {.open_ns = open_ns,
                            .open = low * UNIT / 100,
                            .high = high * UNIT / 100,
                            .low = low * UNIT / 100,
                            .close = close * UNIT / 100,
                            .volume = UNIT,
                            .trades = 1,
                            .first_trade_id = -1,
                            .last_trade_id = -1};
    struct event event = {.kind = EVENT_BARS, .bars = {.symbol = 0, .bars = &one, .n = 1, .missed = true}};
    daemon_session_event(session, &event);
}

static uint64_t add(int symbol, bool above, int64_t cents)
{
    struct price_alert alert = {.above = above, .price = cents, .scale = 2};
    memcpy(alert.symbol, symbols[symbol].name, sizeof alert.symbol);
    CHECK_INT(daemon_session_price_alert_add(session, &alert), 0);
    CHECK(alert.id > 0);
    return alert.id;
}

static const struct price_alert *waits(uint64_t id)
{
    return daemon_price_alerts_find(daemon_session_price_alerts(session), id);
}

/* The text of the newest alert of a price. */
static const char *newest(void)
{
    size_t n;
    const struct alert *list = daemon_session_alerts(session, &n);
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].code, "PRICE") == 0)
            text = list[i].text;
    return text;
}

static void test_trades(void)
{
    trade(6000000);
    uint64_t high = add(BTC, true, 6000010), far = add(BTC, true, 7000000), low = add(BTC, false, 5999000);
    add(AAPL, true, 1);
    trade(6000009);
    trade_of(BTC, MARKET_TRADE, ++trade_id, 6000011, true);    /* an odd lot */
    trade_of(BTC, MARKET_TRADE, trade_id - 1, 6000012, false); /* overtaken */
    CHECK(waits(high) && noticed == 0);
    trade(6000010);
    CHECK(!waits(high) && waits(far) && waits(low));
    CHECK_STR(newest(), "BTCUSDT: 60000.10 or above was traded: 60000.10 at 2024-08-08T23:53:00Z");
    trade(6000020);
    CHECK_INT(noticed, 1);
    trade_of(BTC, MARKET_AGG_TRADE, 7, 5998999, false);
    CHECK(!waits(low));
    CHECK_STR(newest(), "BTCUSDT: 59990.00 or below was traded: 59989.99 at 2024-08-08T23:53:00Z");
    CHECK_INT(noticed, 2);
    struct price_alert removed;
    CHECK_INT(daemon_session_price_alert_remove(session, far, &removed), 0);
    trade(7100000);
    CHECK_INT(noticed, 2);
    trade(6000000);
}

static void test_bars(void)
{
    int64_t open_ns = bar_open_time(now_ns, MINUTE_NS);
    uint64_t high = add(BTC, true, 6100000), low = add(BTC, false, 5900000);
    bar(open_ns, 5800000, 6200000, 6000000); /* before or after they were set: it does not say when */
    CHECK(waits(high) && waits(low));
    bar(open_ns + MINUTE_NS, 5950000, 6100001, 6000000);
    CHECK(!waits(high) && waits(low));
    CHECK_STR(newest(), "BTCUSDT: 61000.00 or above was traded: 61000.01 in the bar of 2024-08-08T23:54:00Z");
    CHECK_INT(noticed, 3);
    now_ns = open_ns + 2 * MINUTE_NS + SECOND_NS;
    daemon_session_pass(session, now_ns);
    high = add(BTC, true, 6100000);
    bar(open_ns + 2 * MINUTE_NS, 5950000, 6200000, 6150000); /* what it closed at came after that */
    CHECK(!waits(high) && waits(low));
    CHECK_STR(newest(), "BTCUSDT: 61000.00 or above was traded: 61500.00 in the bar of 2024-08-08T23:55:00Z");
    CHECK_INT(noticed, 4);
    now_ns = open_ns + 3 * MINUTE_NS;
}

static void test_split_and_name(uint64_t *ret_split, uint64_t *ret_named)
{
    struct event event = {
        .kind = EVENT_ACTION,
        .action = {.symbol = 0, .action = {.id = "4:1", .kind = ACTION_SPLIT, .shares = 4, .per = 1}}};
    uint64_t split = add(BTC, true, 8000000), named = add(AAPL, false, 5);
    event.action.action.ex_ns = now_ns;
    daemon_session_event(session, &event);
    CHECK(waits(split) && waits(split)->price == 2000000 && waits(split)->scale == 2);
    struct symbol other = symbols[AAPL];
    snprintf(other.name, sizeof other.name, "APPL");
    CHECK_INT(daemon_session_rename_symbol(session, AAPL, &other), 0);
    symbols[AAPL] = other;
    CHECK(waits(named));
    CHECK_STR(waits(named)->symbol, "APPL");
    *ret_split = split;
    *ret_named = named;
}

static void copy(const char *from, const char *to)
{
    char buffer[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n = 0;
    CHECK(in && out);
    while (in && out && (n = fread(buffer, 1, sizeof buffer, in)) > 0)
        CHECK(fwrite(buffer, 1, n, out) == n);
    CHECK(in && fclose(in) == 0);
    CHECK(out && fclose(out) == 0);
}

/* A name that was changed as the last thing before a crash: the log has it, and the database has not. */
static void test_name_in_the_log_alone(const struct state_dir *state)
{
    char kept[sizeof state->database + 8];
    const struct symbol before = symbols[AAPL];
    snprintf(kept, sizeof kept, "%s.kept", state->database);
    session_open(state, see);
    session_begin(symbols, 2, now_ns);
    const uint64_t named = add(AAPL, false, 4);
    session_close();
    copy(state->database, kept);
    session_open(state, see);
    session_begin(symbols, 2, now_ns);
    struct symbol other = before;
    snprintf(other.name, sizeof other.name, "PPLA");
    CHECK_INT(daemon_session_rename_symbol(session, AAPL, &other), 0);
    session_close();
    CHECK_INT(rename(kept, state->database), 0);
    for (int run = 0; run < 2; run++) {
        session_open(state, see);
        CHECK_STR(waits(named)->symbol, run == 0 ? before.name : other.name);
        session_begin(symbols, 2, now_ns);
        CHECK_STR(waits(named)->symbol, other.name);
        session_close();
        symbols[AAPL] = other;
    }
}

/* A row that is no list, as of a newer version: it stays, and nothing is added. */
static void test_unreadable(const struct state_dir *state)
{
    static const char text[] = "{\"last\":3,\"alerts\":7}";
    struct price_alert alert = {.above = true, .price = 1, .scale = 2, .symbol = "BTCUSDT"};
    char stored[64] = "", err[DB_ERROR_MAX] = "";
    struct db_reader *reader;
    session_open(state, see);
    session_begin(symbols, 2, now_ns);
    db_writer_put_meta(session->writer, "price_alerts", text);
    session_close();
    session_open(state, see);
    session_begin(symbols, 2, now_ns);
    CHECK_INT(daemon_session_price_alerts(session)->n, 0);
    CHECK_INT(daemon_session_price_alert_add(session, &alert), -EBADMSG);
    session_close();
    CHECK_INT(db_reader_open(state->database, &reader, err, sizeof err), 0);
    CHECK_INT(db_reader_meta(reader, "price_alerts", stored, sizeof stored), 0);
    CHECK_STR(stored, text);
    db_reader_close(reader);
}

int main(void)
{
    char path[SCRATCH_MAX], err[SESSION_ERROR_MAX];
    struct state_dir state;
    uint64_t split, named;
    daemon_config_defaults(&config);
    config.n_symbols = 2;
    config.clock = CLOCK_FEED;
    config.accounts[0].strategy = NULL;
    uv_loop_init(&loop);
    scratch_make(path);
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    session_open(&state, see);
    session_begin(symbols, 2, now_ns);
    test_trades();
    test_bars();
    test_split_and_name(&split, &named);
    uint64_t last = daemon_session_price_alerts(session)->last_id;
    int n = daemon_session_price_alerts(session)->n;
    session_close();

    session_open(&state, see);
    CHECK_INT(daemon_session_price_alerts(session)->n, n);
    CHECK_INT((long long)daemon_session_price_alerts(session)->last_id, (long long)last);
    CHECK(waits(split) && waits(named));
    noticed = 0;
    uint64_t reached =
        add(BTC, true, 1); /* as one whose trade is in the log, and whose alert was not stored */
    session_begin(symbols, 2, now_ns);
    CHECK(!waits(reached) && waits(split) && noticed == 1);
    CHECK(strncmp(newest(), "BTCUSDT: 0.01 or above was traded: ", 35) == 0);
    trade(2000001);
    CHECK(!waits(split) && noticed == 2);
    session_close();

    session_open(&state, see);
    CHECK_INT(daemon_session_price_alerts(session)->n, n - 1);
    session_begin(symbols, 2, now_ns);
    CHECK_INT(noticed, 2);
    session_close();
    test_name_in_the_log_alone(&state);
    test_unreadable(&state);
    uv_loop_close(&loop);
    return check_done("daemon/session_price");
}
