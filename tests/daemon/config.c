/* Reading and printing configurations; the documented example (argv[1]) and the man page's source (argv[2])
 * against the table of keys. */
#include <math.h>

#include "daemon/config_keys.h"
#include "strategy/strategy.h"
#include "tests/daemon/config_text.h"

static void test_defaults(void)
{
    static struct daemon_config config;
    CHECK_INT(read_text("", &config), 0);
    CHECK_STR(config.venues[0].venue->format->name, "binance");
    CHECK_INT(config.n_venues, 1);
    CHECK_INT(config.n_symbols, 2);
    CHECK_STR(config.symbols[0], "BTCUSDT");
    CHECK_STR(config.symbols[1], "ETHUSDT");
    CHECK_INT(config.interval_ns, 60000000000);
    CHECK_INT(config.history, 500);
    CHECK_INT(config.history_ns, 0);
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

/* Bars, or a time. */
static void test_history(void)
{
    static const struct {
        const char *text, *printed;
        int bars;
        int64_t days;
    } taken[] = {{"0", "0", 0, 0},         {"1000", "1000", 1000, 0}, {"30d", "30d", 500, 30},
                 {"12w", "12w", 500, 84},  {"2y", "2y", 500, 730},    {"48h", "2d", 500, 2},
                 {"365d", "1y", 500, 365}, {"100", "100", 100, 0}};
    static struct daemon_config config;
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n),
                            *key = config_key_find(keys, n, "market", "history");
    char text[64], why[CONFIG_WHY_MAX];
    daemon_config_defaults(&config);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        CHECK_INT(config_key_read(key, taken[i].text, &config, why), 0);
        CHECK_INT(config.history, taken[i].bars);
        CHECK_INT(config.history_ns, taken[i].days * INT64_C(86400000000000));
        CHECK(config_key_text(key, &config, text, sizeof text));
        CHECK_STR(text, taken[i].printed);
    }
    fails(
        "[market]\nhistory = 1001\n",
        ":2: [market] history: \"1001\": bars from 0 to 1000, or so many s, m, h, d, w or y, as 2y, are needed, at most 100y");
    fails(
        "[market]\nhistory = 2 y\n",
        ":2: [market] history: \"2 y\": bars from 0 to 1000, or so many s, m, h, d, w or y, as 2y, are needed, at most 100y");
}

/* The alert rules: off in words or as 0; one limit that contradicts another. */
static void test_alerts(void)
{
    static struct daemon_config config;
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
        ":2: [alerts] gpu_temperature_critical: 85 C is below the warning, gpu_temperature = 90 C: 90 C or more, "
        "or off, is needed");
    fails("[alerts]\nno_trial_for = 1q\n",
          ":2: [alerts] no_trial_for: \"1q\": so many s, m, h, d, w or y, as 12h, or off, is needed");
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
    static struct daemon_config config;
    CHECK_INT(read_text("[market]\nsymbols = BTCUSDT\n[alerts]\nthrottled_for = 0.5m\nrecovered_for = 1.5s\n",
                        &config),
              0);
    CHECK_INT(config.alerts.throttled_ns, INT64_C(30000000000));
    CHECK_INT(config.alerts.recovered_ns, 1500000000);
}

static void test_values(void)
{
    static struct daemon_config config;
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
                  "risk.cooldown_s = 90\nrisk.positions = 0\nsession = all\n"
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
    CHECK_INT(config.accounts[1].session, SESSION_ALL);
    CHECK_INT(config.accounts[0].session, SESSION_REGULAR);
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

static void test_set(void)
{
    static struct daemon_config config;
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

/* The page of the manual has every key with its default, of every section. */
static void test_man_page(const char *page)
{
    static char text[131072];
    load(page, text, sizeof text);
    static struct daemon_config defaults;
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
static void test_example(const char *example)
{
    static char text[65536];
    load(example, text, sizeof text);

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
}

/* A policy's account: no strategy, none of the limits that are there by default, its own cash and fees. */
static void test_policy(void)
{
    static struct daemon_config config;
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
    static struct daemon_config again;
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

/* The words of the first account's entries; "": they are not refused. */
static const char *entries(const char *text)
{
    static char words[CONFIG_ERROR_MAX];
    static struct daemon_config config;
    words[0] = '\0';
    CHECK_INT(read_text(text, &config), 0);
    CHECK(daemon_config_refuses_entries(&config, &config.accounts[0], words) == (words[0] != '\0'));
    return words;
}

/* The share of an order's own equity, the fee within it, is above the limit; at the limit it is not. */
static void test_entries(void)
{
    CHECK_STR(
        entries("[account b]\nstrategy = sma-cross\n"),
        "[account b] strategy.fraction = 1: sma-cross opens a position by an order for 1 of equity, and "
        "[risk] exposure_symbol = 0.5 refuses each such order: fraction at most 0.5, or exposure_symbol "
        "at least 1, is right");
    CHECK_STR(entries("[account b]\nstrategy = sma-cross\nstrategy.fraction = 0.5\n"), "");
    CHECK_STR(entries("[account b]\nstrategy = sma-cross\nstrategy.fraction = 0.5005\n"), "");
    CHECK(entries("[account b]\nstrategy = sma-cross\nstrategy.fraction = 0.51\n")[0] != '\0');
    CHECK(entries("[account b]\nstrategy = sma-cross\nstrategy.fraction = 0.5005\nfee_taker = 0\n")[0] !=
          '\0');
    CHECK_STR(entries("[risk]\nexposure_symbol = 1\n[account b]\nstrategy = sma-cross\n"), "");
    CHECK_STR(
        entries("[risk]\nexposure_symbol = 0\n[account b]\nstrategy = sma-cross\n"
                "risk.exposure_account = 0.8\n"),
        "[account b] strategy.fraction = 1: sma-cross opens a position by an order for 1 of equity, and "
        "risk.exposure_account = 0.8 refuses each such order: fraction at most 0.8, or exposure_account "
        "at least 1, is right");
    CHECK_STR(entries("[account b]\nstrategy = buy-and-hold\n"), "");
    CHECK_STR(entries("[market]\nsymbols = BTCUSDT\n[account b]\nstrategy = equal-weight\n"),
              "[account b] strategy.fraction = 0.95: equal-weight opens a position by an order for 0.95 of "
              "equity (strategy.fraction over 1 symbol), and [risk] exposure_symbol = 0.5 refuses each such "
              "order: fraction at most 0.5, or exposure_symbol at least 0.95, is right");
    CHECK_STR(entries(""), "");
    CHECK_STR(entries("[account b]\nstrategy = none\n"), "");
    CHECK_STR(entries("[account b]\nstrategy = sma-cross-rsi-risk\nrisk.exposure_symbol = 0.1\n"), "");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    test_defaults();
    test_policy();
    test_entries();
    test_values();
    test_fractions();
    test_history();
    test_alerts();
    test_venues();
    test_set();
    test_example(argv[1]);
    test_man_page(argv[2]);
    return check_done("daemon/config");
}
