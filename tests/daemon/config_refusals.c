/* What a configuration is refused for: each error's file, line and words, all errors of a file, and random
 * bytes, also in the documented example (argv[1]), which must never do more than be refused. */
#include "tests/counts.h"
#include "tests/daemon/config_text.h"

/* Every other address could be reached from elsewhere; a name could be anything. */
static const char *const no_loopbacks[] = {"0.0.0.0:9480",
                                           "192.0.2.7:9480",
                                           "127.0.0.1",
                                           "127.0.0.1:65536",
                                           ":9480",
                                           "localhost:9480",
                                           "[::]:9480",
                                           "[2001:db8::1]:80",
                                           "::1:9480",
                                           "9480",
                                           "127.0.0.1:",
                                           "128.0.0.1:9480",
                                           "127.1:9480",
                                           "[::ffff:192.0.2.7]:9480",
                                           "127.0.0.1:-1",
                                           "[127.0.0.1]:1",
                                           "127.0.0.1:94x80",
                                           "[::1:9480",
                                           "127.0.0.1.example.com:80",
                                           "0127.0.0.1:80"};

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
    fails(
        "[alerts]\ndisk = off\n[market]\nsymbols = BTCUSDT\n[alerts]\nwebhook.ops = https://h/{token}\n",
        ":6: [alerts] webhook_token.ops: its URL has a place for a token: a credential or a file is needed");
    fails("[alerts]\ndisk = off\nmail_to = a@b.c\nmail_from = a@b.c\n", ":3: [alerts] mail: a URL is needed");
    fails("[alerts]\nseverities = DISK=error, DISC=off\n",
          ":2: [alerts] severities: no alert has the code \"DISC\": did you mean DISK?");
    fails("[alerts]\nseverities = nonsense=info\n",
          ":2: [alerts] severities: no alert has the code \"nonsense\"");
    fails("history = 1\n", ":1: history: before any section: [market] or another is needed first");
    fails("[market]\nhistory\n", ":2: KEY = VALUE or [SECTION] is needed");
    fails("[market\nhistory = 5\n", ":1: KEY = VALUE or [SECTION] is needed");
    fails("[market]\nhistory = 5\n[feed]\n[market]\nhistory = 5\n",
          ":5: [market] history: already set in line 2");
    struct daemon_config config;
    CHECK_INT(
        read_text("[account n]\n[feed]\nstale_s = 2\n[account n]\nrisk.drawdown = 5%\n[feed]\n", &config), 0);
    CHECK_INT(config.n_accounts, 1);
    fails(
        "[market]\nhistory = 1001\n",
        ":2: [market] history: \"1001\": bars from 0 to 1000, or so many s, m, h, d, w or y, as 2y, are needed, at most 100y");
    fails(
        "[market]\nhistory =\n",
        ":2: [market] history: \"\": bars from 0 to 1000, or so many s, m, h, d, w or y, as 2y, are needed, at most 100y");
    fails(
        "[market]\nhistory = 1e2x\n",
        ":2: [market] history: \"1e2x\": bars from 0 to 1000, or so many s, m, h, d, w or y, as 2y, are needed, at most 100y");
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
    fails(
        "[indicators]\nspecs = sma:20 lib:mine:mean:20\n",
        ":2: [indicators] specs: lib:mine:mean:20: built-in indicators alone are kept here; strategies, and "
        "papertape indicators, read those of shared objects");
    fails("[strategies]\ndirectory = plugins\n",
          ":2: [strategies] directory: \"plugins\": the absolute path of a folder is needed");
    fails(
        "[strategies]\ndirectory = /nonexistent\n[account x]\nstrategy = lib:mine\n",
        ":4: [account x] strategy: mine.so: there is no such file in /nonexistent: lib:/PATH/FILE.so names one "
        "elsewhere");
    fails("[account x]\nstrategy = lib:/nonexistent/mine.so\n",
          ":2: [account x] strategy: /nonexistent/mine.so: No such file or directory");
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
    for (size_t i = 0; i < sizeof no_loopbacks / sizeof *no_loopbacks; i++) {
        char text[128], words[256];
        snprintf(text, sizeof text, "[log]\nlevel = info\n[metrics]\nlisten = %s\n", no_loopbacks[i]);
        snprintf(
            words, sizeof words,
            ":4: [metrics] listen: \"%s\": an address of this machine's loopback with its port is needed, as "
            "127.0.0.1:9480 or [::1]:9480: any other could be reached from elsewhere",
            no_loopbacks[i]);
        fails(text, words);
    }
    fails("[gpu]\nsample_s = 0.999\n", ":2: [gpu] sample_s: \"0.999\": a number from 1 to 60 is needed");
    fails("[indicators]\ntimeframes =\n",
          ":2: [indicators] timeframes: at least one is needed, like 5m, or auto");
    fails("[indicators]\ntimeframes = 5m 5min\n",
          ":2: [indicators] timeframes: \"5min\": one of 1s, 1m, 3m, "
          "5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w is needed");
    fails(
        "[qqq]\n",
        ":1: [qqq]: unknown section: one of market, feed, engine, strategies, policies, arena, risk, storage, events, retention, ledger, "
        "parity, indicators, gpu, trainer, control, alerts, metrics, log, account, venue is needed");
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
    CHECK_INT(daemon_config_read(config_path(), &config, error), -EINVAL);
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
          ":2: [venue binance] symbols: binance is the first venue: set symbols in [market]");
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

/* Every error of a file, in its order; a misfit is not reported for a key that is wrong itself, nor are keys
 * below a heading that is. */
static void test_all_errors(void)
{
    fails(
        "[market]\nhistry = 5\nhistory = -1\nnonsense\n[markt]\nsymbols = ?\n[risk]\npositions = 5000\n"
        "positions = 4\n[account a]\nmaintenance = 2\nstrategy.fst = 1\nrisk.positions = 5000\n[account "
        "a/b]\n"
        "cash = x\n[engine]\nfill_model = bars\n[venue alpaca]\nkeys = k\nstreams = trade\n",
        ":2: [market] histry: unknown key: did you mean history?\n"
        ":3: [market] history: \"-1\": bars from 0 to 1000, or so many s, m, h, d, w or y, as 2y, are needed, at most 100y\n"
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

static uint64_t state = 20260101;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(((state >> 32) * n) >> 32);
}

static void test_rubbish(const char *path, int rounds)
{
    static char example[65536], bytes[131072];
    const size_t n = load(path, example, sizeof example);
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
        int e = daemon_config_read(config_path(), &config, error);
        CHECK(e == 0 ? error[0] == '\0' : error[0] != '\0' && error[strlen(error) - 1] != '\n');
        if (e == 0) {
            accepted++;
            round_trip(&config);
        }
    }
    printf("rubbish: %d files, %d of them still good\n", rounds, accepted);
}

/* Orders of an account at its venue are sent to a paper host, or to this machine, and nowhere else. */
static void test_execution(void)
{
#define PAPER "[account a]\nexecution = venue-paper\n"
    static struct daemon_config config;
    fails("[account a]\nexecution = venue\n",
          ":2: [account a] execution: \"venue\": did you mean venue-paper? (model, venue-paper)");
    fails(PAPER,
          ":2: [account a] execution_keys: a systemd credential's name, or the path of a file of mode 0600 "
          "with two lines, id and secret, is needed");
    fails(
        PAPER "execution_keys = k\nexecution_rest_url = https://api.binance.com\n",
        ":4: [account a] execution_rest_url: api.binance.com is no host of paper accounts, and this build sends "
        "no orders elsewhere: testnet.binance.vision is one");
    fails(PAPER "execution_keys = k\nexecution_ws_url = wss://192.0.2.1\n",
          ":4: [account a] execution_ws_url: 192.0.2.1 is no host of paper accounts, and this build sends no "
          "orders elsewhere: testnet.binance.vision is one");
    fails(
        PAPER "execution_keys = k\nexecution_rest_url = http://127.0.0.1:9\n",
        ":4: [account a] execution_rest_url: \"http://127.0.0.1:9\": a URL like https://HOST:PORT is needed");
    fails(PAPER "execution_keys = k\nshorts = on\n",
          ":4: [account a] shorts: orders that are sent sell only what is held: shorts = off is needed");
    fails(PAPER "execution_keys = k\nmargin = regt\n",
          ":4: [account a] margin: orders that are sent have the venue's: margin = off is needed");
    fails(PAPER "execution_keys = k\nsettlement = strict\n",
          ":4: [account a] settlement: orders that are sent have the venue's: settlement = off is needed");
    static const char *const unused[] = {"execution_venue = binance", "execution_keys = k",
                                         "execution_rest_url = https://localhost:9443",
                                         "execution_ws_url = wss://localhost:9443"};
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        char text[100], expected[160];
        snprintf(text, sizeof text, "[account a]\n%s\n", unused[i]);
        snprintf(
            expected, sizeof expected,
            ":2: [account a] %.*s: of an account whose orders are sent: execution = venue-paper is needed",
            (int)strcspn(unused[i], " "), unused[i]);
        fails(text, expected);
    }
    fails("[engine]\nclock = feed\n" PAPER "execution_keys = k\n",
          ":4: [account a] execution: requests are dated by the time of day: clock = wall is needed");
    fails(
        PAPER "execution_keys = k\n[account b]\nexecution = venue-paper\nexecution_keys = k\n",
        ":6: [account b] execution_keys: [account a] has these keys: an account at a venue is one account here");
    fails(
        "[market]\nvenue = binance-us\n" PAPER "execution_keys = k\n",
        ":4: [account a] execution_venue: Binance US has no accounts of simulated money that are known: no order is "
        "sent there");
    fails(PAPER "execution_keys = k\nexecution_venue = alpaca\n",
          ":4: [account a] execution_venue: [venue alpaca] is needed too: its prices are");
    fails(PAPER "execution_keys = k\nexecution_venue = kraken\n",
          ":4: [account a] execution_venue: there is no venue \"kraken\"");
    fails("[venue binance-us]\nsymbols = LTCUSD\n" PAPER "execution_keys = k\n",
          ":4: [account a] execution_venue: there are several venues, the first is binance by "
          "[market] venue: name one here, or set that to the only one that is wanted");
    CHECK_INT(read_text(PAPER "execution_keys = k\nexecution_rest_url = https://localhost:9443\n"
                              "execution_ws_url = wss://127.0.0.1:9443\nexecution_reconcile_s = 7\n",
                        &config),
              0);
    CHECK_INT(config.accounts[0].execution, EXECUTION_VENUE_PAPER);
    CHECK_INT(config.accounts[0].execution_reconcile_ns, 7000000000);
    CHECK_INT(daemon_config_rules(&config, &config.accounts[0]).execution, EXECUTION_VENUE_PAPER);
    CHECK_INT(daemon_config_execution_venue(&config, &config.accounts[0]), 0);
#undef PAPER
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    test_refusals();
    test_execution();
    test_venue_errors();
    test_all_errors();
    test_rubbish(argv[1], getenv("PAPERTAPE_LONG") ? 40000 : counts_of("configurations", 1500, 700));
    return check_done("daemon/config_refusals");
}
