/* Reading, printing and refusing configurations; the documented example (argv[1]) and the man page's source
 * (argv[2]) against the table of keys; and random bytes, which must never do more than be refused. */
#include "daemon/config.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "daemon/config_keys.h"
#include "strategy/strategy.h"
#include "tests/check.h"

static char path[] = "/tmp/papertape-config-XXXXXX";
static char error[CONFIG_ERRORS_MAX];

static void write_file(const char *bytes, size_t n)
{
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        abort();
}

/* Reads text as a file; on failure each line of error starts after the file's name. */
static int read_text(const char *text, struct daemon_config *ret)
{
    write_file(text, strlen(text));
    error[0] = '\0';
    int e = daemon_config_read(path, ret, error);
    for (char *name; (name = strstr(error, path));)
        memmove(name, name + strlen(path), strlen(name + strlen(path)) + 1);
    return e;
}

static void fails(const char *text, const char *expected)
{
    struct daemon_config config, untouched;
    memset(&config, 0x5a, sizeof config);
    memset(&untouched, 0x5a, sizeof untouched);
    CHECK_INT(read_text(text, &config), -EINVAL);
    CHECK_STR(error, expected);
    CHECK(memcmp(&config, &untouched, sizeof config) == 0);
}

static char *printed(const struct daemon_config *config)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        abort();
    daemon_config_print(config, file);
    fclose(file);
    return text;
}

static void round_trip(const struct daemon_config *config)
{
    struct daemon_config again;
    char *text = printed(config);
    CHECK_INT(read_text(text, &again), 0);
    CHECK_STR(error, "");
    char *text2 = printed(&again);
    CHECK_STR(text2, text);
    free(text);
    free(text2);
}

static void test_defaults(void)
{
    struct daemon_config config;
    CHECK_INT(read_text("", &config), 0);
    CHECK_STR(config.venues[0].venue->format->name, "binance");
    CHECK_INT(config.n_venues, 1);
    CHECK_INT(config.n_symbols, 2);
    CHECK_STR(config.symbols[0], "BTCUSDT");
    CHECK_STR(config.symbols[1], "ETHUSDT");
    CHECK_INT(config.interval_ns, 60000000000);
    CHECK_INT(config.history, 500);
    CHECK(config.venues[0].streams[MARKET_TRADE] && !config.venues[0].streams[MARKET_AGG_TRADE]);
    CHECK_INT(config.stale_ms, 30000);
    CHECK_INT(config.stale_trade_ms, 300000);
    CHECK_INT(config.refresh_ms, 300000);
    CHECK_INT(config.latency_ns, 50000000);
    CHECK_INT(config.fill_model, FILL_BOOK);
    CHECK_INT(config.slippage_e6, 0);
    CHECK_INT(config.equity_interval_ns, 10000000000);
    CHECK_INT(config.policy_wait_ns, 2000000000);
    CHECK(config.inference == INFERENCE_CPU);
    CHECK_INT(config.policy_device_wait_ms, 50);
    CHECK_INT(config.risk.orders_per_second, 10);
    CHECK_INT(config.commit_delay_ms, 5);
    CHECK_INT(config.log_level, LOG_LEVEL_INFO);
    int64_t timeframes[CONFIG_TIMEFRAMES_MAX];
    CHECK_STR(config.specs, "sma:20 ema:14 rsi:14 macd:12,26,9 atr:14 bbands:20,2");
    CHECK_INT(daemon_config_timeframes(&config, timeframes), 6);
    CHECK_INT(timeframes[0], 60000000000);
    CHECK_INT(timeframes[5], 86400000000000);
    CHECK_INT(config.n_accounts, 1);
    CHECK_STR(config.accounts[0].name, "main");
    CHECK_STR(config.accounts[0].cash, "10000");
    CHECK_INT(config.accounts[0].fees.taker_e6, 1000);
    CHECK(config.accounts[0].strategy == strategy_find("sma-cross-rsi"));
    CHECK_NEAR(config.accounts[0].params[0], 10, 0);
    CHECK_INT(daemon_config_check(&config, error), 0);
    round_trip(&config);
}

/* The alert rules: off in words or as 0; one limit that contradicts another. */
static void test_alerts(void)
{
    struct daemon_config config;
    CHECK_INT(read_text("", &config), 0);
    CHECK_NEAR(config.alerts.gpu_temperature, 80, 0);
    CHECK_NEAR(config.alerts.gpu_temperature_critical, 85, 0);
    CHECK_NEAR(config.alerts.gpu_memory, 0.95, 0);
    CHECK_NEAR(config.alerts.gpu_utilisation, 0.5, 0);
    CHECK_INT(config.alerts.gpu_utilisation_ns, 30000000000);
    CHECK_INT(config.alerts.throttled_ns, 10000000000);
    CHECK_INT(config.alerts.power_capped_ns, 0);
    CHECK_INT(config.alerts.no_trial_ns, 3600000000000);
    CHECK(config.alerts.new_best);
    CHECK_INT(read_text("[alerts]\ngpu_temperature = off\ngpu_temperature_critical = 70\ngpu_memory = 0\n"
                        "gpu_utilisation = 40%\ngpu_utilisation_for = 0\nthrottled_for = off\n"
                        "power_capped_for = 10m\nno_trial_for = 2d\nnew_best = off\n",
                        &config),
              0);
    CHECK(isnan(config.alerts.gpu_temperature) && config.alerts.gpu_memory == 0 && !config.alerts.new_best);
    CHECK_NEAR(config.alerts.gpu_utilisation, 0.4, 0);
    CHECK_INT(config.alerts.gpu_utilisation_ns, 0);
    CHECK_INT(config.alerts.throttled_ns, 0);
    CHECK_INT(config.alerts.power_capped_ns, 600000000000);
    CHECK_INT(config.alerts.no_trial_ns, 172800000000000);
    CHECK_INT(daemon_config_check(&config, error), 0);
    round_trip(&config);
    CHECK_INT(read_text("[alerts]\ngpu_temperature = 85\n", &config),
              0); /* at the same is no contradiction */
    fails(
        "[alerts]\n\ngpu_temperature_critical = 79\n",
        ":3: [alerts] gpu_temperature_critical: 79 C is below the warning, gpu_temperature = 80 C: 80 C or more, or "
        "off, is needed");
    fails(
        "[alerts]\ngpu_temperature = 90\n",
        ":1: [alerts] gpu_temperature_critical: 85 C is below the warning, gpu_temperature = 90 C: 90 C or more, "
        "or off, is needed");
    fails("[alerts]\nno_trial_for = 1y\n",
          ":2: [alerts] no_trial_for: \"1y\": so many s, m, h, d or w, as 12h, or off, is needed");
    fails("[alerts]\ngpu_memory = 101%\n",
          ":2: [alerts] gpu_memory: \"101%\": a number from 0 to 1, or percent, or off, is needed");
    fails("[alerts]\ngpu_temprature = 90\n",
          ":2: [alerts] gpu_temprature: unknown key: did you mean gpu_temperature?");
}

/* A venue of its own section; the first venue's may stand before [market] names it. */
static void test_venues(void)
{
    static struct daemon_config config;
    CHECK_INT(read_text("[venue alpaca]\nsymbols = aapl, BTC/USD\nkeys = /etc/keys\nfeed = sip\n"
                        "streams = trade kline bookTicker\nextended_hours = on\nws_url = wss://h:1\n"
                        "[market]\nsymbols = BTCUSDT\n",
                        &config),
              0);
    CHECK_STR(error, "");
    CHECK_INT(daemon_config_check(&config, error), 0);
    CHECK_INT(config.n_venues, 2);
    CHECK_INT(config.n_symbols, 3);
    CHECK_STR(config.symbols[0], "BTCUSDT");
    CHECK_STR(config.symbols[1], "AAPL");
    CHECK_STR(config.symbols[2], "BTC/USD");
    CHECK_INT(config.symbol_venues[0], 0);
    CHECK_INT(config.symbol_venues[2], 1);
    const struct daemon_config_venue *venue = &config.venues[1];
    CHECK_STR(venue->venue->format->name, "alpaca");
    CHECK_STR(venue->keys, "/etc/keys");
    CHECK(venue->extended_hours && venue->own_streams && !venue->streams[MARKET_DEPTH]);
    CHECK_STR(venue->ws_url, "wss://h:1");
    CHECK_STR(venue->rest_url, "");
    CHECK_STR(venue->venue->options[0].name, "feed");
    CHECK_STR(venue->settings[0], "sip");
    CHECK(daemon_config_fee_tier(&config, "vip1") != NULL &&
          daemon_config_fee_tier(&config, "nonsense") == NULL);
    round_trip(&config);

    CHECK_INT(read_text("[venue alpaca]\nkeys = alpaca\n[market]\nvenue = alpaca\nsymbols = AAPL\n", &config),
              0);
    CHECK_INT(config.n_venues, 1);
    CHECK_STR(config.venues[0].venue->format->name, "alpaca");
    CHECK_STR(config.venues[0].keys, "alpaca");
    CHECK_STR(config.venues[0].ws_url, "");
    CHECK_INT(daemon_config_check(&config, error), 0);
    round_trip(&config);

    /* Symbols that are given again replace that venue's alone. */
    CHECK_INT(read_text("[market]\nsymbols = A1, A2\n[venue alpaca]\nsymbols = B1\nkeys = k\n", &config), 0);
    CHECK_INT(daemon_config_set(&config, "market", "symbols", "C1 C2 C3", error), 0);
    CHECK_INT(daemon_config_set(&config, "venue alpaca", "symbols", "D1 D2", error), 0);
    CHECK_INT(config.n_symbols, 5);
    CHECK_STR(config.symbols[2], "C3");
    CHECK_STR(config.symbols[3], "D1");
    CHECK_INT(config.symbol_venues[3], 1);
    CHECK_INT(daemon_config_set(&config, "venue alpaca", "symbols", "D1 C2", error), 0);
    CHECK_INT(daemon_config_check(&config, error), -EINVAL);
    CHECK_STR(error, "[venue alpaca] symbols: C2 is named by [market] already");
}

static void test_venue_errors(void)
{
    fails("[venue alpacca]\n",
          ":1: [venue alpacca]: \"alpacca\": did you mean alpaca? (alpaca, binance, binance-us)");
    fails("[venu alpaca]\n", ":1: [venu alpaca]: unknown section: did you mean venue?");
#define ALPACA "[venue alpaca]\nsymbols = AAPL\n"
    fails(ALPACA "keys = k\nfed = iex\n", ":4: [venue alpaca] fed: unknown key: did you mean feed?");
    fails(ALPACA "keys = k\nfeed = iexx\n",
          ":4: [venue alpaca] feed: \"iexx\": did you mean iex? (iex, sip, delayed_sip, test)");
    fails(ALPACA "keys = k\nfeed = ie\n",
          ":4: [venue alpaca] feed: \"ie\": did you mean iex? (iex, sip, delayed_sip, test)");
    fails(ALPACA "keys = a b\n",
          ":3: [venue alpaca] keys: \"a b\": a credential's name, or a path with a /, is needed");
    fails(ALPACA "keys = k\nrest_url = http://h\n",
          ":4: [venue alpaca] rest_url: \"http://h\": a URL like https://HOST:PORT is needed");
    fails("[venue binance]\nsymbols = BTCUSDT\n",
          ":2: [venue binance] symbols: of the first venue [market] says it");
    fails("[venue binance]\nextended_hours = on\n",
          ":2: [venue binance] extended_hours: binance is open at all times: it has no extended hours");
    fails("[venue alpaca]\nkeys = k\n", ":1: [venue alpaca] symbols: at least one is needed");
    fails(
        "[venue alpaca]\nsymbols = AAPL\n",
        ":1: [venue alpaca] keys: alpaca says nothing without: a systemd credential's name, or the path of a "
        "file of mode 0600 with two lines, id and secret, is needed");
    fails("[venue alpaca]\nsymbols = AAPL\nkeys = k\nstreams = trade\n",
          ":4: [venue alpaca] streams: orders are filled from bookTicker or depth: name one of them");
    fails("[venue alpaca]\nsymbols = AAPL\nkeys = k\nstreams = aggTrade, kline, bookTicker\n",
          ":4: [venue alpaca] streams: alpaca has no aggTrade");
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* papertaped.ini(5) says so of all keys that end in _s or _for. */
static void test_fractions(void)
{
    size_t n, found = 0;
    const struct config_key *keys = daemon_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        char why[CONFIG_WHY_MAX] = "";
        bool of_duration = ends_with(keys[i].name, "_for");
        if (!of_duration && (!ends_with(keys[i].name, "_s") || keys[i].read))
            continue; /* an account's own reader sets more than its value: test_values() */
        found++;
        CHECK_INT(config_key_try(&keys[i], of_duration ? "1.5s" : "1.5", why), 0);
        CHECK_STR(why, "");
    }
    CHECK(found > 10);
    struct daemon_config config;
    CHECK_INT(read_text("[market]\nsymbols = BTCUSDT\n[alerts]\nthrottled_for = 0.5m\nrecovered_for = 1.5s\n",
                        &config),
              0);
    CHECK_INT(config.alerts.throttled_ns, INT64_C(30000000000));
    CHECK_INT(config.alerts.recovered_ns, 1500000000);
}

static void test_values(void)
{
    struct daemon_config config;
    CHECK_INT(
        read_text("\xEF\xBB\xBF[market]\r\n"
                  "symbols = solusdt,  BTCUSDT ETHUSDT ; three\r\n"
                  "  interval: 15m\n"
                  "streams = bookTicker kline\n"
                  "ca_file = /a b/ca;1.pem\n"
                  "ws_url = wss://127.0.0.1:4242/\n"
                  "# comment\n"
                  "[feed]\nstale_s = 0.25\n"
                  "[engine]\nclock = feed\nlatency_ms = 1.5\nequity_interval_s = 0\nmissed_stops = keep\n"
                  "fill_model = bar\nslippage = 0.0005\n"
                  "[policies]\nwait_ms = 1500.5\ninference = gpu\ndevice_wait_ms = 60000\n"
                  "[events]\nkeep_days = 0\nsync = off\nsegment_mb = 1\n"
                  "[parity]\nat = 23:59\n"
                  "[indicators]\nspecs = SMA:7,  macd ema:9\ntimeframes = 1h, 15m 1d\n"
                  "[risk]\nexposure_symbol = 0.333\ndrawdown = 0.25\nprice_band = 0.1\ncooldown_s = 0.5\n"
                  "positions = 3\n"
                  "[log]\nlevel = debug\n"
                  "[account a-1]\nstrategy.slow = 50\nfee_maker = 0.000123\nstrategy = sma-cross-rsi\n"
                  "strategy.fast = 20\ncash = 123456.78\ncurrency = btc\n"
                  "[account hand]\nstrategy = none\n"
                  "shorts = on\nrisk.daily_loss = 0\nrisk.orders_per_second = 3\nborrow_rate = 0.1\n"
                  "risk.exposure_symbol =\nfees = vip3\nrisk.drawdown = 0.5\nrisk.price_band =\n"
                  "risk.cooldown_s = 90\nrisk.positions = 0\n"
                  "[account empty]",
                  &config),
        0);
    CHECK_STR(error, "");
    CHECK_INT(config.n_symbols, 3);
    CHECK_STR(config.symbols[0], "SOLUSDT");
    CHECK_STR(config.symbols[2], "ETHUSDT");
    CHECK_INT(config.interval_ns, 900000000000);
    CHECK(config.venues[0].streams[MARKET_QUOTE] && config.venues[0].streams[MARKET_KLINE] &&
          !config.venues[0].streams[MARKET_TRADE]);
    CHECK_STR(config.ca_file, "/a b/ca;1.pem");
    CHECK_STR(config.venues[0].ws_url, "wss://127.0.0.1:4242");
    CHECK_INT(config.stale_ms, 250);
    CHECK_INT(config.clock, CLOCK_FEED);
    CHECK_INT(config.latency_ns, 1500000);
    CHECK_INT(config.equity_interval_ns, 0);
    CHECK_NEAR(config.risk.exposure_symbol, 0.333, 0);
    CHECK_INT(config.log_level, LOG_LEVEL_DEBUG);
    CHECK_INT(config.n_accounts, 3);
    CHECK_STR(config.accounts[0].name, "a-1");
    CHECK_STR(config.accounts[0].currency, "BTC");
    CHECK_INT(config.accounts[0].fees.maker_e6, 123);
    CHECK_INT(config.accounts[0].fees.taker_e6, 1000);
    CHECK_NEAR(config.accounts[0].params[0], 20, 0);
    CHECK_NEAR(config.accounts[0].params[1], 50, 0);
    CHECK(config.accounts[1].strategy == NULL);
    CHECK_INT(config.missed_stops, MISSED_STOPS_KEEP);
    CHECK_INT(config.fill_model, FILL_BAR);
    CHECK_INT(config.slippage_e6, 500);
    CHECK_INT(config.policy_wait_ns, 1500500000);
    CHECK(config.inference == INFERENCE_GPU);
    CHECK_INT(config.policy_device_wait_ms, 60000);
    CHECK_INT(config.events_keep_days, 0);
    CHECK_INT(config.events_segment_mb, 1);
    CHECK(!config.events_sync);
    CHECK_INT(config.parity_minute, 23 * 60 + 59);
    int64_t timeframes[CONFIG_TIMEFRAMES_MAX];
    CHECK_STR(config.specs, "sma:7 macd:12,26,9 ema:9");
    CHECK_INT(daemon_config_timeframes(&config, timeframes), 3);
    CHECK_INT(timeframes[0], 900000000000);
    CHECK_INT(timeframes[1], 3600000000000);
    struct account_rules hand = daemon_config_rules(&config, &config.accounts[1]);
    struct account_rules other = daemon_config_rules(&config, &config.accounts[0]);
    CHECK(hand.shorts && !other.shorts);
    CHECK_NEAR(hand.risk.exposure_symbol, 0.333, 0);
    CHECK_NEAR(hand.risk.daily_loss, 0, 0);
    CHECK_NEAR(other.risk.daily_loss, 0.05, 0);
    CHECK_INT(hand.risk.orders_per_second, 3);
    CHECK_NEAR(hand.risk.drawdown, 0.5, 0);
    CHECK_NEAR(other.risk.drawdown, 0.25, 0);
    CHECK_NEAR(hand.risk.price_band, 0.1, 0);
    CHECK_INT(hand.risk.cooldown_ns, 90000000000);
    CHECK_INT(other.risk.cooldown_ns, 500000000);
    CHECK_INT(hand.risk.positions, 0);
    CHECK_INT(other.risk.positions, 3);
    CHECK_INT(hand.fees.maker_e6, 400);
    CHECK_INT(hand.fees.taker_e6, 600);
    CHECK_INT(other.fees.maker_e6, 123);
    CHECK_INT(hand.borrow_rate_e6, 100000);
    CHECK_INT(hand.collateral_e4, 15000);
    CHECK_STR(config.accounts[2].name, "empty");
    round_trip(&config);

    /* As many symbols as there may be, in one line, are read, printed and read again. */
    static char text[32 * SYMBOLS_MAX] = "[market]\nstreams = trade kline bookTicker depth\nsymbols =";
    for (int i = 0; i < SYMBOLS_MAX; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " LONGNAME%04dUSDT", i);
    CHECK_INT(read_text(text, &config), 0);
    CHECK_STR(error, "");
    CHECK_INT(config.n_symbols, SYMBOLS_MAX);
    CHECK_STR(config.symbols[SYMBOLS_MAX - 1], "LONGNAME4095USDT");
    round_trip(&config);
}

static void test_refusals(void)
{
    fails("[market]\n\nsymbls = BTCUSDT\n", ":3: [market] symbls: unknown key: did you mean symbols?");
    fails("[market]\nlatency_ms = 5\n", ":2: [market] latency_ms: it belongs to [engine]");
    fails("[markt]\nsymbols = BTCUSDT\n", ":1: [markt]: unknown section: did you mean market?");
    fails("\n[acount main]\n", ":2: [acount main]: unknown section: did you mean account?");
    fails("[account]\n",
          ":1: [account]: a name of letters, digits, - _ and . is needed, at most 31: [account main]");
    fails("[account a/b]\n",
          ":1: [account a/b]: a name of letters, digits, - _ and . is needed, at most 31: [account main]");
    fails("history = 1\n", ":1: history: before any section: [market] or another is needed first");
    fails("[market]\nhistory\n", ":2: KEY = VALUE or [SECTION] is needed");
    fails("[market\nhistory = 5\n", ":1: KEY = VALUE or [SECTION] is needed");
    fails("[market]\nhistory = 5\n[feed]\n[market]\nhistory = 5\n",
          ":5: [market] history: already set in line 2");
    struct daemon_config config;
    CHECK_INT(
        read_text("[account n]\n[feed]\nstale_s = 2\n[account n]\nrisk.drawdown = 5%\n[feed]\n", &config), 0);
    CHECK_INT(config.n_accounts, 1);
    fails("[market]\nhistory = 1001\n",
          ":2: [market] history: \"1001\": a whole number from 0 to 1000 is needed");
    fails("[market]\nhistory =\n", ":2: [market] history: \"\": a whole number from 0 to 1000 is needed");
    fails("[market]\nhistory = 1e2x\n",
          ":2: [market] history: \"1e2x\": a whole number from 0 to 1000 is needed");
    fails("[market]\nsymbols = BTCUSDT btcusdt\n", ":2: [market] symbols: BTCUSDT is named twice");
    fails("[market]\nsymbols = , ,\n", ":2: [market] symbols: at least one symbol is needed, like BTCUSDT");
    fails("[market]\nsymbols = BTC:USDT\n",
          ":2: [market] symbols: \"BTC:USDT\": a symbol like BTCUSDT is needed");
    fails("[market]\nstreams = trade deph\n", ":2: [market] streams: \"deph\": did you mean depth? (trade, "
                                              "aggTrade, kline, bookTicker, depth, miniTicker)");
    fails("[market]\nstreams = trade trade\n", ":2: [market] streams: trade is named twice");
    fails("[market]\ninterval = 1x\n", ":2: [market] interval: \"1x\": did you mean 1s? (1s, 1m, 3m, 5m, "
                                       "15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w)");
    fails("[market]\nvenue = binanse\n",
          ":2: [market] venue: \"binanse\": did you mean binance? (alpaca, binance, "
          "binance-us)");
    fails("[market]\nws_url = ws://h\n",
          ":2: [market] ws_url: \"ws://h\": a URL like wss://HOST:PORT is needed");
    fails("[market]\nrest_url = wss://h\n",
          ":2: [market] rest_url: \"wss://h\": a URL like https://HOST:PORT is needed");
    fails("[market]\nws_url = wss://h:99999\n",
          ":2: [market] ws_url: \"wss://h:99999\": a URL like wss://HOST:PORT is needed");
    fails("[market]\nrest_url = https://h/api\n",
          ":2: [market] rest_url: \"https://h/api\": a URL like https://HOST:PORT is needed");
    fails("[account x]\nstrategy.fast = 30\n",
          ":2: [account x] strategy.fast: fewer bars than slow are needed");
    fails("[engine]\nclock = Feed\n", ":2: [engine] clock: \"Feed\": did you mean feed? (wall, feed)");
    fails("[engine]\nmissed_stops = leave\n",
          ":2: [engine] missed_stops: \"leave\": one of fill, keep is needed");
    fails("[engine]\nfill_model = bars\n",
          ":2: [engine] fill_model: \"bars\": did you mean bar? (book, quote, bar)");
    fails("[policies]\ninference = cuda\n", ":2: [policies] inference: \"cuda\": one of cpu, gpu is needed");
    fails("[policies]\ndevice_wait_ms = 0\n",
          ":2: [policies] device_wait_ms: \"0\": a whole number from 1 to 60000 is needed");
    fails("[policies]\nwait_ms = -1\n",
          ":2: [policies] wait_ms: \"-1\": a number from 0 to 3600000 is needed");
    fails("[engine]\nslippage = 0.2\n",
          ":2: [engine] slippage: \"0.2\": a number from 0 to 0.1, or percent, is needed");
    fails("[market]\nstreams = trade bookTicker\n[engine]\nfill_model = bar\n",
          ":2: [market] streams: with fill_model = bar orders are filled from kline: name it");
    fails("[market]\nstreams = kline depth\n[engine]\nfill_model = quote\n",
          ":2: [market] streams: with fill_model = quote orders are filled from bookTicker: name it");
    fails("[events]\nsync = onn\n", ":2: [events] sync: \"onn\": did you mean on? (off, on)");
    fails("[events]\nlevel = 20\n", ":2: [events] level: \"20\": a whole number from 1 to 19 is needed");
    fails("[parity]\nat = 24:00\n",
          ":2: [parity] at: \"24:00\": a time of day like 00:30, or off, is needed");
    fails("[indicators]\nspecs = sma:20 emma:14\n", ":2: [indicators] specs: there is no indicator \"emma\": "
                                                    "the nearest are \"ema\", \"dema\" and \"hma\"");
    fails("[indicators]\nspecs = sma:0\n",
          ":2: [indicators] specs: sma: period \"0\": a whole number from 1 to 100000 is needed");
    fails("[indicators]\nspecs = macd sma:20 MACD:12,26,9\n",
          ":2: [indicators] specs: MACD:12,26,9 is named twice");
    fails("[gpu]\nsample_s = 0.999\n", ":2: [gpu] sample_s: \"0.999\": a number from 1 to 60 is needed");
    fails("[indicators]\ntimeframes =\n",
          ":2: [indicators] timeframes: at least one is needed, like 5m, or auto");
    fails("[indicators]\ntimeframes = 5m 5min\n",
          ":2: [indicators] timeframes: \"5min\": one of 1s, 1m, 3m, "
          "5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w is needed");
    fails("[qqq]\n",
          ":1: [qqq]: unknown section: one of market, feed, engine, policies, arena, risk, "
          "storage, events, parity, indicators, gpu, trainer, alerts, log, account, venue is needed");
    fails("[risk]\nqqq = 1\n",
          ":2: [risk] qqq: unknown key: one of exposure_symbol, exposure_account, daily_loss, "
          "orders_per_second, drawdown, price_band, cooldown_s, positions is needed");
    fails("[engine]\nclock = 5\n", ":2: [engine] clock: \"5\": one of wall, feed is needed");
    fails("[indicators]\ntimeframes = 5m, 5m\n", ":2: [indicators] timeframes: 5m is named twice");
    fails("[indicators]\ntimeframes = 1s\n",
          ":2: [indicators] timeframes: 1s is no multiple of the market's interval, 1m");
    fails("[account main]\nrisk.daily_loss = 2\n",
          ":2: [account main] risk.daily_loss: \"2\": a number from 0 to 1, or percent, is needed");
    fails("[risk]\ndrawdown = 1.5\n",
          ":2: [risk] drawdown: \"1.5\": a number from 0 to 1, or percent, is needed");
    fails("[risk]\nprice_band = -0.1\n",
          ":2: [risk] price_band: \"-0.1\": a number from 0 to 1, or percent, is needed");
    fails("[risk]\ncooldown_s = 2592001\n",
          ":2: [risk] cooldown_s: \"2592001\": a number from 0 to 2592000 is needed");
    fails("[risk]\npositions = 1.5\n",
          ":2: [risk] positions: \"1.5\": a whole number from 0 to 4096 is needed");
    fails("[risk]\npositions = 4097\n",
          ":2: [risk] positions: \"4097\": a whole number from 0 to 4096 is needed");
    fails("[account main]\nrisk.drawdown = x\n",
          ":2: [account main] risk.drawdown: \"x\": a number from 0 to 1, or percent, is needed");
    fails("[account main]\nfees = vip1\nfee_taker = 0.001\n",
          ":3: [account main] fee_taker: fees = vip1 is given too: one of the two is right");
    fails("[account main]\nfee_maker = 0\nfees = vip1\n",
          ":3: [account main] fees: fee_maker or fee_taker is given too: one of the two is right");
    fails("[account main]\nfees = vip10\n",
          ":2: [account main] fees: \"vip10\": did you mean vip1? (crypto1, crypto2, crypto3, crypto4, "
          "crypto5, crypto6, crypto7, crypto8, stocks, regular, vip1, vip2, vip3, vip4, vip5, vip6, vip7, "
          "vip8, vip9, us, us-tier0)");
    fails("[account main]\nfees = crypto2\n",
          ":2: [account main] fees: crypto2 is no tier of binance: see papertape fees");
    fails("[account main]\npolicy = p.json\n",
          ":2: [account main] policy: actions = ACTIONS.csv is needed too: a recorded policy has two files, "
          "a trained one is F.safetensors, an ensemble NAME.ensemble.json");
    fails("[account main]\npolicy = p.safetensors\nactions = a.csv\n",
          ":3: [account main] actions: a trained policy has none, nor has an ensemble: it is to be left out, "
          "or policy = PARAMS.json");
    fails("[account main]\nactions = a.csv\n",
          ":2: [account main] actions: policy = PARAMS.json is needed too: a recorded policy has two files");
    fails("[account main]\nstrategy = sma-cross\npolicy = p.json\n",
          ":3: [account main] policy: strategy = sma-cross trades already: one of the two is right");
    fails("[account main]\npolicy = p.json\nstrategy = sma-cross\n",
          ":2: [account main] policy: actions = ACTIONS.csv is needed too: a recorded policy has two files, "
          "a trained one is F.safetensors, an ensemble NAME.ensemble.json\n"
          ":3: [account main] strategy: policy = p.json trades already: one of the two is right");
    fails("[account main]\ncash =\n", ":2: [account main] cash: an amount is needed");
    fails("[account main]\nrisk.exposure = 1\n",
          ":2: [account main] risk.exposure: unknown key: did you mean risk.exposure_symbol?");
    fails("[account main]\nmaintenance = 2\n",
          ":2: [account main] maintenance: at most the collateral is needed");
    fails("[feed]\nstale_s = 0.0001\n", ":2: [feed] stale_s: \"0.0001\": at most 3 digits after the point");
    fails("[risk]\ndaily_loss = nan\n",
          ":2: [risk] daily_loss: \"nan\": a number from 0 to 1, or percent, is needed");
    fails("[account main]\nfee_maker = 0.0000001\n",
          ":2: [account main] fee_maker: \"0.0000001\": at most 6 digits after the point");
    fails("[account main]\ncash = -1\n",
          ":2: [account main] cash: \"-1\": a number from 0 to 10000000000 is needed");
    fails("[account main]\nstrategy = sma-cros-rsi\n",
          ":2: [account main] strategy: \"sma-cros-rsi\": unknown strategy: did you mean sma-cross-rsi?");
    fails(
        "[market]\ninterval = 3d\n[account main]\nstrategy = trend-4h-1h\n",
        ":4: [account main] strategy: strategy trend-4h-1h needs bars that divide 1h: interval 3d does not");
    fails(
        "[market]\ninterval = 2h\n[account main]\nstrategy = trend-4h-1h\n",
        ":4: [account main] strategy: strategy trend-4h-1h needs bars that divide 1h: interval 2h does not");
    fails("[account main]\nstrategy.fst = 5\n",
          ":2: [account main] strategy.fst: unknown key: did you mean fast?");
    fails("[account main]\nstrategyfast = 5\n",
          ":2: [account main] strategyfast: unknown key: did you mean strategy.fast?");
    fails("[account main]\nstrategy.fast = 5000\n",
          ":2: [account main] strategy.fast: \"5000\": a whole number from 2 to 1000 is "
          "needed");
    fails("[account main]\nstrategy.fast = 5\nstrategy = none\n",
          ":2: [account main] strategy.fast: strategy is none, which has no parameters");
    fails("[market]\nsymbols = \x1b[31m\n",
          ":2: [market] symbols: \"?[31m\": a symbol like BTCUSDT is needed");
    fails("[market]\nstreams = trade, kline\n",
          ":2: [market] streams: orders are filled from bookTicker or depth: name one of them");

    static char text[140000];
    memset(text, 'x', sizeof text);
    memcpy(text, "[market]\n", 9);
    text[sizeof text - 1] = '\0';
    fails(text, ":2: the line is too long");
    write_file("[market]\nhis\0tory = 5\n", 22);
    CHECK_INT(daemon_config_read(path, &config, error), -EINVAL);
    CHECK(strstr(error, ":2: a NUL byte: a text file is needed") != NULL);
    CHECK_INT(daemon_config_read("/nonexistent/papertaped.ini", &config, error), -ENOENT);
    CHECK_STR(
        error,
        "/nonexistent/papertaped.ini: No such file or directory: an INI file that can be read is needed");
    CHECK_INT(daemon_config_read("/", &config, error), -EISDIR);
    CHECK_STR(error, "/: Is a directory: an INI file that can be read is needed");
    CHECK_INT(daemon_config_read("/dev/zero", &config, error),
              -EINVAL); /* nor is a FIFO waited for: tests/system/stops */
    CHECK(strstr(error, "is a device") != NULL);
}

/* Every error of a file, in its order; a misfit is not reported for a key that is wrong itself, nor are keys
 * below a heading that is. */
static void test_all_errors(void)
{
    fails("[market]\nhistry = 5\nhistory = -1\nnonsense\n[markt]\nsymbols = ?\n[risk]\npositions = 5000\n"
          "positions = 4\n[account a]\nmaintenance = 2\nstrategy.fst = 1\nrisk.positions = 5000\n[account "
          "a/b]\n"
          "cash = x\n[engine]\nfill_model = bars\n[venue alpaca]\nkeys = k\nstreams = trade\n",
          ":2: [market] histry: unknown key: did you mean history?\n"
          ":3: [market] history: \"-1\": a whole number from 0 to 1000 is needed\n"
          ":4: KEY = VALUE or [SECTION] is needed\n"
          ":5: [markt]: unknown section: did you mean market?\n"
          ":8: [risk] positions: \"5000\": a whole number from 0 to 4096 is needed\n"
          ":9: [risk] positions: already set in line 8\n"
          ":11: [account a] maintenance: at most the collateral is needed\n"
          ":12: [account a] strategy.fst: unknown key: did you mean fast?\n"
          ":13: [account a] risk.positions: \"5000\": a whole number from 0 to 4096 is needed\n"
          ":14: [account a/b]: a name of letters, digits, - _ and . is needed, at most 31: [account main]\n"
          ":17: [engine] fill_model: \"bars\": did you mean bar? (book, quote, bar)\n"
          ":18: [venue alpaca] symbols: at least one is needed");
    static char text[64 * 1024] = "[market]\n";
    for (int i = 0; i < 1000; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "nothing%d = 1\n", i);
    struct daemon_config config;
    CHECK_INT(read_text(text, &config), -EINVAL);
    int lines = 1, more = 0;
    for (const char *c = error; (c = strchr(c, '\n')); c++)
        lines++;
    const char *end = strrchr(error, '\n');
    CHECK(end && sscanf(end, "\nand %d more", &more) == 1 && lines - 1 + more == 1000);
}

static void test_set(void)
{
    struct daemon_config config;
    daemon_config_defaults(&config);
    CHECK_INT(daemon_config_set(&config, "market", "ws_url", "wss://127.0.0.1:9", error), 0);
    CHECK_STR(config.venues[0].ws_url, "wss://127.0.0.1:9");
    CHECK_INT(daemon_config_set(&config, "account second", "cash", "5", error), 0);
    CHECK_INT(config.n_accounts, 2);
    CHECK_STR(config.accounts[1].cash, "5");
    CHECK_STR(config.accounts[0].cash, "10000");
    CHECK_INT(daemon_config_set(&config, "account third", "cash", "x", error), -EINVAL);
    CHECK_STR(error, "[account third] cash: \"x\": a number from 0 to 10000000000 is needed");
    CHECK_INT(config.n_accounts, 2);
    CHECK_INT(daemon_config_set(&config, "market", "ca_file", "/a ;b", error), -EINVAL);
    CHECK_INT(daemon_config_set(&config, "market", "ca_file", " /a", error), -EINVAL);
    CHECK_INT(daemon_config_set(&config, "market", "ca_file", "/a\nlevel = debug", error), -EINVAL);
    CHECK_STR(config.ca_file, "");
    round_trip(&config);
}

static size_t load(const char *from, char *text, size_t size)
{
    FILE *file = fopen(from, "r");
    if (!file)
        abort();
    size_t n = fread(text, 1, size - 1, file);
    fclose(file);
    text[n] = '\0';
    return n;
}

/* The page of the manual has every key with its default, of every section. */
static void test_man_page(const char *page)
{
    static char text[131072];
    load(page, text, sizeof text);
    struct daemon_config defaults;
    daemon_config_defaults(&defaults);
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        char expected[512], why[CONFIG_WHY_MAX];
        static struct daemon_config again; /* what daemon_config_defaults() passes over is not refused */
        CHECK(!keys[i].fallback || config_key_read(&keys[i], keys[i].fallback, &again, why) == 0);
        snprintf(expected, sizeof expected, "\n.SH [%s%s]\n", keys[i].section,
                 strcmp(keys[i].section, "account") == 0 ? " NAME" : "");
        const char *section = strstr(text, expected), *next = section ? strstr(section + 1, "\n.SH") : NULL;
        snprintf(expected, sizeof expected, "\n.TP\n.B %s = ", keys[i].name);
        const char *key = section ? strstr(section, expected) : NULL;
        CHECK(key && (!next || key < next));
    }
    CHECK(strstr(text, "\n.B history = 500\nBars fetched") != NULL);
    CHECK(strstr(text, "(a whole number from 0 to 1000).\n") != NULL);
    CHECK(strstr(text, "\n.B rest_url = https://data\\-api.") != NULL);
    const struct config_key *venue_keys = daemon_config_venue_keys(&n);
    for (size_t i = 0; i < n; i++) {
        char expected[64];
        const char *fallback =
            venue_keys[i].fallback && *venue_keys[i].fallback ? venue_keys[i].fallback : NULL;
        snprintf(expected, sizeof expected, "\n.TP\n.B %s%s%s\n", venue_keys[i].name, fallback ? " = " : "",
                 fallback ? fallback : "");
        CHECK(strstr(text, expected) != NULL);
    }
    CHECK(strstr(text, "\n.B extended_hours = off\n") != NULL);
    CHECK(strstr(text, "from 0 to 0)") == NULL);
    CHECK(strstr(text, "\n.B strategy.stop_atr = ") != NULL);
}

/* The example is the documentation: every key of the table, and exactly the defaults. */
static char *test_example(const char *example, size_t *ret_n)
{
    static char text[65536];
    *ret_n = load(example, text, sizeof text);

    struct daemon_config config, defaults;
    daemon_config_defaults(&defaults);
    CHECK_INT(daemon_config_read(example, &config, error), 0);
    char *a = printed(&config), *b = printed(&defaults);
    CHECK_STR(a, b);
    size_t n_keys;
    const struct config_key *venue_keys = daemon_config_venue_keys(&n_keys);
    for (size_t i = 0; i < n_keys; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "\n#%s =", venue_keys[i].name);
        CHECK(strstr(text, expected) != NULL);
    }
    free(a);
    free(b);

    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        char heading[64], line[64];
        snprintf(heading, sizeof heading, strcmp(keys[i].section, "account") ? "\n[%s]\n" : "\n[%s main]\n",
                 keys[i].section);
        snprintf(line, sizeof line, "\n%s =", keys[i].name);
        const char *section = strstr(text, heading), *key = section ? strstr(section, line) : NULL;
        const char *next = section ? strstr(section + 1, "\n[") : NULL;
        CHECK(key && (!next || key < next));
        if (!key || (next && key > next))
            fprintf(stderr, "%s: [%s] %s is not in it\n", example, keys[i].section, keys[i].name);
    }
    const struct strategy *strategy = strategy_find("sma-cross-rsi");
    for (size_t i = 0; i < strategy->n_params; i++) {
        char line[64];
        snprintf(line, sizeof line, "\nstrategy.%s =", strategy->params[i].name);
        CHECK(strstr(text, line) != NULL);
    }
    return text;
}

static uint64_t state = 20260101;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(((state >> 32) * n) >> 32);
}

static void test_rubbish(const char *example, size_t n, int rounds)
{
    static char bytes[131072];
    int accepted = 0;
    for (int round = 0; round < rounds; round++) {
        size_t size = n;
        if (round % 4 == 0) {
            size = random_below(2000);
            for (size_t i = 0; i < size; i++)
                bytes[i] =
                    (char)(round % 8 ? "[]=.;# \nmarketscount1"[random_below(21)] : (int)random_below(256));
        } else {
            memcpy(bytes, example, n);
            for (uint32_t i = random_below(4) + 1; i > 0; i--) {
                size_t at = random_below((uint32_t)size), from = random_below((uint32_t)n);
                size_t length = random_below(60);
                length = from + length > n ? n - from : length;
                switch (random_below(3)) {
                case 0:
                    bytes[at] = (char)random_below(256);
                    break;
                case 1: /* a piece of it goes */
                    length = at + length > size ? size - at : length;
                    memmove(bytes + at, bytes + at + length, size - at - length);
                    size -= length;
                    break;
                case 2: /* or comes twice */
                    memmove(bytes + at + length, bytes + at, size - at);
                    memcpy(bytes + at, example + from, length);
                    size += length;
                    break;
                }
                if (size == 0)
                    break;
            }
        }
        write_file(bytes, size);
        struct daemon_config config;
        error[0] = '\0';
        int e = daemon_config_read(path, &config, error);
        CHECK(e == 0 ? error[0] == '\0' : error[0] != '\0' && error[strlen(error) - 1] != '\n');
        if (e == 0) {
            accepted++;
            round_trip(&config);
        }
    }
    printf("rubbish: %d files, %d of them still good\n", rounds, accepted);
}

/* A policy's account: no strategy, none of the limits that are there by default, its own cash and fees. */
static void test_policy(void)
{
    struct daemon_config config;
    CHECK_INT(read_text("[risk]\ndrawdown = 0.3\n[account p]\npolicy = p.json\nactions = a.csv\n", &config),
              0);
    CHECK_INT(daemon_config_check(&config, error), 0);
    const struct account_config *account = &config.accounts[0];
    struct account_rules rules = daemon_config_rules(&config, account);
    CHECK(!account->strategy && !account->own_cash && !account->own_rates);
    CHECK_STR(account->policy, "p.json");
    CHECK_STR(account->actions, "a.csv");
    CHECK(rules.risk.exposure_symbol == 0 && rules.risk.exposure_account == 0 && rules.risk.daily_loss == 0 &&
          rules.risk.orders_per_second == 0 && rules.risk.drawdown == 0.3);
    round_trip(&config);
    char *text = printed(&config);
    CHECK(strstr(text, "\ncash = \n") && strstr(text, "\nfee_taker = \n") &&
          strstr(text, "\nstrategy = none\n"));
    struct daemon_config again;
    CHECK_INT(read_text(text, &again), 0);
    free(text);
    CHECK(!again.accounts[0].own_cash && !again.accounts[0].own_rates);
    CHECK_INT(read_text("[account p]\nrisk.daily_loss = 0.1\npolicy = p.json\nactions = a.csv\ncash = 70\n"
                        "fee_taker = 0.002\nrisk.exposure_symbol = 0.2\n",
                        &config),
              0);
    account = &config.accounts[0];
    rules = daemon_config_rules(&config, account);
    CHECK(account->own_cash && account->own_rates && rules.fees.taker_e6 == 2000);
    CHECK(rules.risk.daily_loss == 0.1 && rules.risk.exposure_symbol == 0.2 &&
          rules.risk.exposure_account == 0);
    round_trip(&config);
    /* An empty limit says nothing, before `policy` and after it. */
    static const char *const orders[] = {
        "risk.exposure_symbol =\nrisk.daily_loss =\nrisk.orders_per_second =\npolicy = p.json\n",
        "policy = p.json\nrisk.exposure_symbol =\nrisk.daily_loss =\nrisk.orders_per_second =\n"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char given[256];
        snprintf(given, sizeof given, "[account p]\n%sactions = a.csv\n", orders[i]);
        CHECK_INT(read_text(given, &config), 0);
        rules = daemon_config_rules(&config, &config.accounts[0]);
        CHECK(rules.risk.exposure_symbol == 0 && rules.risk.exposure_account == 0 &&
              rules.risk.daily_loss == 0 && rules.risk.orders_per_second == 0);
        round_trip(&config);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3 || mkstemp(path) < 0)
        return 2;
    test_defaults();
    test_policy();
    test_values();
    test_fractions();
    test_alerts();
    test_venues();
    test_venue_errors();
    test_refusals();
    test_all_errors();
    test_set();
    size_t n;
    char *example = test_example(argv[1], &n);
    test_man_page(argv[2]);
    test_rubbish(example, n, getenv("PAPERTAPE_LONG") ? 40000 : 1500);
    unlink(path);
    return check_done("daemon/config");
}
