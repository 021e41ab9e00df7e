#include "tests/tui/fixture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/writer.h"

const char fixture_status[] =
    "{\"schema\":\"papertape.status/1\",\"version\":\"0.1.0\",\"pid\":4242,\"clock\":\"wall\","
    "\"now_ns\":1723161255342000000,\"uptime_s\":7261.5,\"state_dir\":\"/var/lib/papertape\","
    "\"trading\":\"on\",\"trading_reason\":null,"
    "\"feed\":{\"state\":\"ok\",\"venue\":\"binance\",\"url\":\"wss://stream.example:9443\",\"detail\":\"\","
    "\"age_ms\":12,\"retry_in_ms\":null,\"connects\":1,\"frames\":9120,\"bytes\":2400000,\"bad_frames\":0,"
    "\"streams\":["
    "{\"symbol\":\"BTCUSDT\",\"stream\":\"trade\",\"age_ms\":12,\"limit_ms\":60000,\"frames\":812,\"stale\":"
    "false},"
    "{\"symbol\":\"BTCUSDT\",\"stream\":\"depth\",\"age_ms\":80,\"limit_ms\":15000,\"frames\":4012,\"stale\":"
    "false},"
    "{\"symbol\":\"ETHUSDT\",\"stream\":\"trade\",\"age_ms\":212,\"limit_ms\":60000,\"frames\":402,\"stale\":"
    "false},"
    "{\"symbol\":\"ETHUSDT\",\"stream\":\"depth\",\"age_ms\":31000,\"limit_ms\":15000,\"frames\":3894,"
    "\"stale\":true}]},"
    "\"symbols\":["
    "{\"symbol\":\"BTCUSDT\",\"last\":61837.63,\"bid\":61837.63,\"ask\":61837.64,\"mark\":61837.63,\"age_"
    "ms\":12,"
    "\"stale\":false,\"change_24h_pct\":1.52,\"price_decimals\":2,\"book\":\"synced\",\"book_gaps\":0,"
    "\"interval\":\"1m\",\"bars\":512,\"last_bar\":{\"open_time_ms\":1723161180000,\"open\":61790.0,"
    "\"high\":61850.0,\"low\":61780.1,\"close\":61837.6,\"volume\":12.5},"
    "\"indicators\":{\"sma_10\":61830.1,\"sma_30\":61792.44,\"rsi_14\":55.2}},"
    "{\"symbol\":\"ETHUSDT\",\"last\":2612.1,\"bid\":2612.09,\"ask\":2612.1,\"mark\":2612.1,\"age_ms\":31000,"
    "\"stale\":true,\"change_24h_pct\":null,\"price_decimals\":2,\"book\":\"gap\",\"book_gaps\":1,"
    "\"interval\":\"1m\",\"bars\":512,\"last_bar\":null,\"indicators\":{\"sma_10\":2611.4,\"rsi_14\":null}}],"
    "\"accounts\":[{\"account\":\"main\",\"currency\":\"USDT\",\"strategy\":\"sma-cross-rsi\",\"cash\":5000."
    "1,"
    "\"equity\":10243.11,\"deposits\":10000,\"return_pct\":2.4311,\"drawdown_pct\":-1.1,\"realized\":232.14,"
    "\"fees\":12.2,\"day_pnl\":98.4}],"
    "\"positions\":[{\"account\":\"main\",\"symbol\":\"BTCUSDT\",\"side\":\"L\",\"qty\":0.08,\"entry\":61700."
    "5,"
    "\"mark\":61837.63,\"upnl\":10.97,\"stop\":61200.0,\"age_ms\":12,\"qty_decimals\":5},"
    "{\"account\":\"main\",\"symbol\":\"ETHUSDT\",\"side\":\"L\",\"qty\":1.25,\"entry\":2620.0,\"mark\":2612."
    "1,"
    "\"upnl\":-9.88,\"stop\":null,\"age_ms\":31000,\"qty_decimals\":4}],"
    "\"orders\":[{\"order\":7,\"account\":\"main\",\"symbol\":\"BTCUSDT\",\"side\":\"SELL\",\"type\":"
    "\"STOP\","
    "\"state\":\"OPEN\",\"qty\":0.08,\"filled\":0,\"price\":null,\"stop\":61200.0,\"tag\":\"stop\"}],"
    "\"counters\":{\"orders\":7,\"fills\":3,\"rejected\":1,\"refused\":{\"RISK_STALE_DATA\":1}},"
    "\"alerts_open\":2,"
    "\"events\":{\"state\":\"ok\",\"detail\":\"\",\"seq\":9130,\"events\":9130,\"holes\":0,\"lost\":0,"
    "\"segments\":1,\"removed\":0,\"bytes\":80123456,\"bytes_per_event\":9.7},"
    "\"recovery\":{\"from\":\"log\",\"log_seq\":1204,\"played\":1204,\"again\":0,\"elapsed_ms\":3.1,"
    "\"away_s\":12.5,\"missed_bars\":2,\"crossed\":1},"
    "\"parity\":{\"state\":\"ok\",\"days\":31,\"checked_ns\":1723084200000000000,\"detail\":\"\"},"
    "\"gpu\":{\"state\":\"n/a\",\"reason\":\"libnvidia-ml.so.1: cannot open shared object "
    "file\",\"devices\":[]},"
    "\"compute\":{\"backend\":\"cpu\",\"reason\":\"no CUDA driver\"},"
    "\"db\":{\"state\":\"ok\",\"detail\":\"\",\"commits\":120,\"rows\":4000,\"queue\":0,\"commit_p50_ms\":0."
    "8,"
    "\"commit_p99_ms\":3.1},"
    "\"trainings\":[]}";

const char fixture_venues[] =
    "{\"venues\":[{\"venue\":\"binance\",\"title\":\"Binance\",\"state\":\"ok\",\"detail\":\"\",\"url\":"
    "\"wss://stream"
    ".example:9443\",\"age_ms\":12,\"retry_in_ms\":null,\"connections\":2,\"connections_up\":2,\"connects\":"
    "3,\"renewals\":1,\"doubled\":212,\"connect_budget\":60,\"connect_budget_used\":1,\"frames\":9120,\"byte"
    "s\":2400000,\"bad_frames\":0,\"messages_per_second\":812.5,\"latency_p50_ms\":41.2,\"latency_p99_ms\""
    ":66.0,\"clock_offset_ms\":3,\"weight_used\":40,\"weight_limit\":6000,\"banned_until_ns\":null,\"marke"
    "t\":\"always\",\"market_next_ns\":null,\"market_half\":false,\"symbols\":2},{\"venue\":\"shares\","
    "\"title\""
    ":\"Shares\",\"state\":\"closed\",\"detail\":\"\",\"url\":\"wss://shares.example/v2/"
    "iex\",\"age_ms\":7200000,"
    "\"retry_in_ms\":null,\"connections\":1,\"connections_up\":1,\"connects\":1,\"renewals\":0,\"connect_bud"
    "get\":60,\"connect_budget_used\":1,\"frames\":402,\"bytes\":81000,\"bad_frames\":2,\"messages_per_seco"
    "nd\":0.0,\"latency_p50_ms\":null,\"latency_p99_ms\":null,\"clock_offset_ms\":-12,\"weight_used\":3,\"w"
    "eight_limit\":200,\"banned_until_ns\":null,\"market\":\"closed\",\"market_next_ns\":17231904000000000"
    "00,\"market_half\":false,\"symbols\":1},{\"venue\":\"other\",\"title\":\"Other\",\"state\":\"retry\","
    "\"detail"
    "\":\"the venue has banned this address (HTTP 418)\",\"url\":\"wss://other.example\",\"age_ms\":95000,"
    "\"retry_in_ms\":120000,\"connections\":1,\"connections_up\":0,\"connects\":7,\"renewals\":0,\"connect_b"
    "udget\":60,\"connect_budget_used\":7,\"frames\":18,\"bytes\":4000,\"bad_frames\":0,\"messages_per_seco"
    "nd\":null,\"latency_p50_ms\":3.25,\"latency_p99_ms\":9.5,\"clock_offset_ms\":null,\"weight_used\":nul"
    "l,\"weight_limit\":null,\"banned_until_ns\":1723161375000000000,\"market\":\"always\",\"market_next_n"
    "s\":null,\"market_half\":false,\"symbols\":1}],\"symbols\":[{\"symbol\":\"BTCUSDT\",\"venue\":"
    "\"binance\",\""
    "market\":\"always\",\"trading\":\"trades\",\"last\":61837.63,\"bid\":61837.63,\"ask\":61837.64,\"mark\":"
    "618"
    "37.63,\"age_ms\":12,\"stale\":false,\"change_24h_pct\":1.52,\"price_decimals\":2,\"book\":\"synced\","
    "\"bo"
    "ok_gaps\":0,\"interval\":\"1m\",\"bars\":512,\"last_bar\":null,\"indicators\":{}},{\"symbol\":\"ACME\","
    "\"ven"
    "ue\":\"shares\",\"market\":\"closed\",\"trading\":\"trades\",\"last\":213.5,\"bid\":213.49,\"ask\":213."
    "52,\"ma"
    "rk\":213.5,\"age_ms\":7200000,\"stale\":false,\"change_24h_pct\":-0.4,\"price_decimals\":2,\"book\":\"no"
    "ne\",\"book_gaps\":0,\"interval\":\"1m\",\"bars\":390,\"last_bar\":null,\"indicators\":{}},{\"symbol\":"
    "\"WID"
    "GET\",\"venue\":\"shares\",\"market\":\"open\",\"trading\":\"halted\",\"last\":12.1,\"bid\":12.05,"
    "\"ask\":12.2,"
    "\"mark\":12.1,\"age_ms\":400,\"stale\":false,\"change_24h_pct\":null,\"price_decimals\":2,\"book\":"
    "\"none"
    "\",\"book_gaps\":0,\"interval\":\"1m\",\"bars\":390,\"last_bar\":null,\"indicators\":{}}]}";

const char fixture_several[] =
    "{\"accounts\":["
    "{\"account\":\"main\",\"currency\":\"USDT\",\"strategy\":\"sma-cross-rsi\",\"cash\":5000.1,"
    "\"equity\":10243.11,\"deposits\":10000,\"return_pct\":2.4311,\"drawdown_pct\":-1.1,\"realized\":232.14,"
    "\"fees\":12.2,\"day_pnl\":98.4,\"shorts\":false,\"short_value\":0,\"interest_owed\":0},"
    "{\"account\":\"swing\",\"currency\":\"USDT\",\"strategy\":\"\",\"cash\":9200.5,"
    "\"equity\":4890.02,\"deposits\":5000,\"return_pct\":-2.1996,\"drawdown_pct\":-4.25,\"realized\":-61.5,"
    "\"fees\":3.81,\"day_pnl\":-14.03,\"shorts\":true,\"short_value\":4310.48,\"interest_owed\":1.27}],"
    "\"positions\":["
    "{\"account\":\"main\",\"symbol\":\"BTCUSDT\",\"side\":\"L\",\"qty\":0.08,\"entry\":61700.5,"
    "\"fifo_entry\":61812.25,\"mark\":61837.63,\"upnl\":10.97,\"stop\":61200.0,\"age_ms\":12,"
    "\"qty_decimals\":5},"
    "{\"account\":\"swing\",\"symbol\":\"BTCUSDT\",\"side\":\"S\",\"qty\":-0.06971,\"entry\":61020.11,"
    "\"fifo_entry\":61020.11,\"mark\":61837.63,\"upnl\":-56.99,\"stop\":62500.0,\"age_ms\":12,"
    "\"qty_decimals\":5}],"
    "\"orders\":["
    "{\"order\":7,\"account\":\"main\",\"symbol\":\"BTCUSDT\",\"side\":\"SELL\",\"type\":\"STOP\",\"tif\":"
    "\"GTC\",\"state\":\"OPEN\",\"qty\":0.08,\"filled\":0,\"price\":null,\"stop\":61200.0,\"tag\":\"stop\"},"
    "{\"order\":11,\"account\":\"swing\",\"symbol\":\"BTCUSDT\",\"side\":\"BUY\",\"type\":\"LIMIT\",\"tif\":"
    "\"DAY\",\"state\":\"PARTIAL\",\"qty\":0.06971,\"filled\":0.01,\"price\":60000.5,\"stop\":null,"
    "\"post_only\":true,\"group\":11,\"tag\":\"by hand\"},"
    "{\"order\":12,\"account\":\"swing\",\"symbol\":\"BTCUSDT\",\"side\":\"BUY\",\"type\":\"STOP_LIMIT\","
    "\"tif\":\"DAY\",\"state\":\"OPEN\",\"qty\":0.05971,\"filled\":0,\"price\":62550.0,\"stop\":62500.0,"
    "\"group\":11,\"tag\":\"by hand\"},"
    "{\"order\":13,\"account\":\"main\",\"symbol\":\"ETHUSDT\",\"side\":\"BUY\",\"type\":\"LIMIT\",\"tif\":"
    "\"GTD\",\"state\":\"OPEN\",\"qty\":1.5,\"filled\":0,\"price\":2500.25,\"stop\":null,\"group\":13,"
    "\"client_id\":\"dip-1\",\"tag\":\"by hand\"},"
    "{\"order\":14,\"account\":\"main\",\"symbol\":\"ETHUSDT\",\"side\":\"SELL\",\"type\":"
    "\"TAKE_PROFIT_LIMIT\",\"tif\":\"GTC\",\"state\":\"HELD\",\"qty\":1.5,\"filled\":0,\"price\":2790.0,"
    "\"stop\":2800.0,\"group\":13,\"parent\":13,\"tag\":\"by hand\"},"
    "{\"order\":15,\"account\":\"main\",\"symbol\":\"ETHUSDT\",\"side\":\"SELL\",\"type\":\"TRAILING_STOP\","
    "\"tif\":\"GTC\",\"state\":\"HELD\",\"qty\":1.5,\"filled\":0,\"price\":null,\"stop\":null,"
    "\"trail_pct\":1.5,\"group\":13,\"parent\":13,\"tag\":\"by hand\"}],"
    "\"parity\":{\"state\":\"failed\",\"days\":null,\"checked_ns\":1723084200000000000,"
    "\"detail\":\"fills 42: price: 61837.63 replayed, 61837.64 recorded\"}}";

static const int64_t second_ns = 1000000000, unit = 100000000; /* 10^8: the scale of everything here */

static struct symbol symbol_of(const char *name, const char *base)
{
    struct symbol symbol = {
        .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};

    snprintf(symbol.name, sizeof(symbol.name), "%s", name);
    snprintf(symbol.base, sizeof(symbol.base), "%s", base);
    symbol.filters.tick = unit / 100;
    symbol.filters.step = base[0] == 'B' ? unit / 100000 : unit / 10000;
    return symbol;
}

static void put_bars(struct db_writer *writer)
{
    for (int i = 0; i < 120; i++) {
        int64_t close = (int64_t)((61700 + 150 * sin(i / 9.0) + i) * 100) * (unit / 100);
        struct bar bar = {
            .open_ns = fixture_now_ns / (60 * second_ns) * (60 * second_ns) - (120 - i) * 60 * second_ns,
            .open = close - 5 * unit,
            .high = close + 9 * unit,
            .low = close - 12 * unit,
            .close = close,
            .volume = 3 * unit,
            .trades = 10,
            .first_trade_id = i * 10,
            .last_trade_id = i * 10 + 9,
        };
        db_writer_put_bar(writer, 0, 60 * second_ns, BAR_VENUE, &bar);
    }
}

/* What the board keeps of BTCUSDT, every minute and every five: an average, bands, and two on scales of their
 * own. */
static void put_chart(struct db_writer *writer, int64_t interval_ns, int n)
{
    struct db_chart_series series = {
        .interval_ns = interval_ns,
        .base_ns = 60 * second_ns,
        .specs = "sma:20 bbands:20,2 rsi:14 macd:12,26,9",
        .names = "sma_20 bbands_20_2.upper bbands_20_2.middle bbands_20_2.lower rsi_14 macd_12_26_9.macd "
                 "macd_12_26_9.signal macd_12_26_9.hist",
        .memory = "",
    };
    db_writer_put_chart_series(writer, &series, true);
    for (int i = 0; i < n; i++) {
        double at = i / 9.0, middle = floor(61690 + 130 * sin(at - 1) + i), close = 61700 + 150 * sin(at) + i;
        bool early = i < 19;
        double outputs[] = {early ? NAN : middle,
                            early ? NAN : middle + 60,
                            early ? NAN : middle,
                            early ? NAN : middle - 60,
                            i < 14 ? NAN : 50 + 40 * cos(at),
                            i < 33 ? NAN : 20 * cos(at),
                            i < 33 ? NAN : 16 * cos(at - 0.5),
                            i < 33 ? NAN : 20 * cos(at) - 16 * cos(at - 0.5)};
        int64_t price = (int64_t)(close * 100) * (unit / 100);
        struct db_chart_bar bar = {
            .interval_ns = interval_ns,
            .bar = {.open_ns = fixture_now_ns / interval_ns * interval_ns - (n - i) * interval_ns,
                    .open = price - 5 * unit,
                    .high = price + 9 * unit,
                    .low = price - 12 * unit,
                    .close = price,
                    .volume = 3 * unit},
            .outputs = outputs,
            .n_outputs = sizeof(outputs) / sizeof(outputs[0]),
        };
        db_writer_put_chart_bar(writer, &bar);
    }
}

static void put_order(struct db_writer *writer, uint64_t id, int symbol, enum order_side side,
                      enum order_type type, enum order_state state, double qty, const char *tag, int ago_s)
{
    int64_t ts_ns = fixture_now_ns - ago_s * second_ns;
    struct order order = {
        .id = id,
        .account = 0,
        .symbol = symbol,
        .side = side,
        .type = type,
        .state = state,
        .reason = state == ORDER_REJECTED ? ORDER_RISK_STALE_DATA : ORDER_OK,
        .qty = llround(qty * (double)unit),
        .stop_price = type == ORDER_STOP ? 61200 * unit : 0,
        .created_ns = ts_ns,
        .effective_ns = ts_ns,
        .updated_ns = ts_ns,
        .input_seq = id,
    };
    order.filled = state == ORDER_FILLED ? order.qty : 0;
    snprintf(order.tag, sizeof(order.tag), "%s", tag);
    db_writer_put_order(writer, &order);
    if (state != ORDER_FILLED)
        return;
    int64_t price = (symbol ? 2620 : 61700) * unit + unit / 2;
    struct fill fill = {
        .id = id,
        .order_id = id,
        .account = 0,
        .symbol = symbol,
        .side = side,
        .ts_ns = ts_ns,
        .price = price,
        .qty = order.qty,
        .notional = llround(qty * (double)price),
        .fee = llround(qty * (double)price / 1000),
        .input_seq = id,
    };
    db_writer_put_fill(writer, &fill);
}

static void put_rows(struct db_writer *writer)
{
    struct db_account account = {
        .name = "main", .currency = "USDT", .currency_scale = 8, .created_ns = second_ns};
    struct symbol btc = symbol_of("BTCUSDT", "BTC"), eth = symbol_of("ETHUSDT", "ETH");

    db_writer_put_account(writer, &account);
    db_writer_put_symbol(writer, 0, "binance", &btc, second_ns);
    db_writer_put_symbol(writer, 1, "binance", &eth, second_ns);
    put_bars(writer);
    put_chart(writer, 60 * second_ns, 120);
    put_chart(writer, 300 * second_ns, 60);
    struct db_price price = {.symbol = 0,
                             .last = 6183763 * (unit / 100),
                             .bid = 6183763 * (unit / 100),
                             .ask = 6183764 * (unit / 100),
                             .mark = 6183763 * (unit / 100),
                             .ts_ns = fixture_now_ns,
                             .recv_wall_ns = fixture_now_ns - 12000000};
    db_writer_put_price(writer, &price);
    put_order(writer, 3, 0, ORDER_BUY, ORDER_MARKET, ORDER_FILLED, 0.05, "cross up", 7200);
    put_order(writer, 4, 1, ORDER_BUY, ORDER_MARKET, ORDER_FILLED, 1.25, "cross up", 3600);
    put_order(writer, 5, 1, ORDER_BUY, ORDER_MARKET, ORDER_REJECTED, 1, "cross up", 1900);
    put_order(writer, 6, 0, ORDER_BUY, ORDER_MARKET, ORDER_FILLED, 0.03, "by hand", 600);
    put_order(writer, 7, 0, ORDER_SELL, ORDER_STOP, ORDER_OPEN, 0.08, "stop", 599);
    struct position position = {.qty = unit / 100 * 8,
                                .cost = 4936 * unit + 4 * unit / 100,
                                .opened_ns = second_ns,
                                .updated_ns = fixture_now_ns};
    db_writer_put_position(writer, 0, 0, &position);
    for (int i = 0; i < 288; i++) {
        int64_t equity = (int64_t)((10100 + 90 * sin(i / 20.0) + i * 0.191) * 100) * (unit / 100);
        int64_t ts_ns = fixture_now_ns - (288 - i) * 300 * second_ns;
        db_writer_put_equity(writer, 0, ts_ns, equity, 5000 * unit, 10400 * unit, 19943, 10144 * unit, 0);
    }
    struct db_command command = {.id = 1,
                                 .ts_ns = fixture_now_ns - 900 * second_ns,
                                 .peer_uid = 1000,
                                 .peer_pid = 77,
                                 .cmd = "order",
                                 .args = "{\"symbol\":\"DOGE\"}",
                                 .state = DB_COMMAND_REFUSED,
                                 .result = "UNKNOWN_SYMBOL"};
    db_writer_put_command(writer, &command);
    struct db_alert alerts[] = {
        {.id = 1,
         .ts_ns = fixture_now_ns - 5000 * second_ns,
         .last_ns = fixture_now_ns - 5000 * second_ns,
         .count = 1,
         .severity = DB_INFO,
         .acked_ns = fixture_now_ns,
         .code = "feed",
         .text = "feed: connected again"},
        {.id = 2,
         .ts_ns = fixture_now_ns - 300 * second_ns,
         .last_ns = fixture_now_ns - 31 * second_ns,
         .count = 4,
         .severity = DB_WARNING,
         .code = "stale",
         .text = "ETHUSDT depth: nothing for 31 s"},
        {.id = 3,
         .ts_ns = fixture_now_ns - 20 * second_ns,
         .last_ns = fixture_now_ns - 20 * second_ns,
         .count = 1,
         .severity = DB_ERROR,
         .code = "x",
         .text = "hostile \033]0;title\a and \xe2\x80\xae reversed"},
    };
    for (size_t i = 0; i < sizeof(alerts) / sizeof(alerts[0]); i++)
        db_writer_put_alert(writer, &alerts[i]);
}

int fixture_database(const char *path)
{
    static const struct db_writer_config config;
    struct db_writer *writer;
    char words[DB_ERROR_MAX];
    int r = db_writer_open(path, &config, &writer, words, sizeof(words));

    if (r == 0) {
        put_rows(writer);
        fixture_put_trainings(writer);
        r = db_writer_close(writer, 20000, words, sizeof(words));
    }
    if (r < 0)
        fprintf(stderr, "fixture: %s: %s\n", path, words);
    return r;
}

int fixture_take(struct model *model, const char *more, struct moment now)
{
    json_t *object = json_loads(fixture_status, 0, NULL), *extra = json_loads(more, 0, NULL);
    int r = json_object_update(object, extra) == 0 ? model_take_status(model, object, now) : -EINVAL;

    json_decref(object);
    json_decref(extra);
    return r;
}

int fixture_remove(const char *folder)
{
    static const char *const files[] = {"papertape.db", "papertape.db-wal", "papertape.db-shm"};
    char path[300];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        unlink(path);
    }
    return rmdir(folder);
}
