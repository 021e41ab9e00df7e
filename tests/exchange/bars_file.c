/* Bars files: every spelling of header and time, and every bad row named by file and line. */
#include "exchange/bars_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <unistd.h>
#include <zlib.h>

#include "exchange/bars_input.h"
#include "exchange/bars_name.h"
#include "exchange/decimal.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"

static char error[BARS_FILE_ERROR_MAX];

/* Rows that open with a month each are months, with a gap too, where two of them follow each other. */
static void test_months(void)
{
    static const struct {
        const char *opens[4];
        int64_t interval_ns;
        size_t n_gaps;
    } cases[] = {
        {{"2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"}, BAR_MONTH_NS, 0},
        {{"2024-01-01", "2024-03-01", "2024-04-01", "2024-07-01"}, BAR_MONTH_NS, 2},
        {{"2024-01-01", "2024-04-01", "2024-07-01", "2024-10-01"}, 91 * 86400000000000, 1},
        {{"2021-01-01", "2022-01-01", "2023-01-01", "2024-01-01"}, 365 * 86400000000000, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bars_file f;
        char text[512];
        int len = snprintf(text, sizeof text, "timestamp,open,high,low,close,volume\n");
        for (int k = 0; k < 4; k++)
            len += snprintf(text + len, sizeof text - (size_t)len, "%s,1,1,1,1,1\n", cases[i].opens[k]);
        CHECK_INT(bars_file_read(scratch_write("months.csv", text), "BTCUSDT", &f, error), 0);
        CHECK_INT(f.interval_ns, cases[i].interval_ns);
        CHECK_INT(f.n_gaps, cases[i].n_gaps);
        bars_file_finish(&f);
    }
}

static void test_reads(void)
{
    struct bars_file f;
    const char *path =
        scratch_write("BTCUSDT_5m.csv", "timestamp,open,high,low,close,volume\n"
                                        "2025-04-03 17:05:00+00:00,81794.8,81998.1,81785.2,81804.9,317.956\n"
                                        "2025-04-03 17:10:00+00:00,81804.9,81898.3,81714.5,81800.3,128.285\n"
                                        "2025-04-03 17:30:00+00:00,1,4,0.5,2,0\n");
    CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
    CHECK_STR(f.symbol, "BTCUSDT");
    CHECK_INT(f.n, 3);
    CHECK_INT(f.open_time_ns[0], 1743699900000000000);
    CHECK(f.open[0] == 81794.8 && f.high[0] == 81998.1 && f.low[0] == 81785.2 && f.close[0] == 81804.9);
    CHECK(f.volume[0] == 317.956 && f.volume[2] == 0);
    CHECK_INT(f.price_digits, 1);
    CHECK_INT(f.volume_digits, 3);
    CHECK_INT(f.interval_ns, 300000000000); /* no majority: the smallest */
    CHECK_INT(f.n_gaps, 1);
    CHECK_INT(f.gaps[0].row, 2);
    CHECK_INT(f.gaps[0].missing, 3);
    CHECK_INT(f.gaps[0].from_ns, 1743700500000000000);
    CHECK_INT(f.gaps[0].to_ns, 1743701400000000000);
    CHECK_INT(bars_file_set_interval(&f, 1200000000000), 0);
    CHECK_INT(f.n_gaps, 0);
    CHECK_INT(bars_file_set_interval(&f, 0), -EINVAL);
    bars_file_finish(&f);

    /* Any order, any case, foreign columns, quotes, CRLF, a byte order mark, blank lines, no final newline.
     */
    path =
        scratch_write("ETHUSDT_x_y.csv", "\xef\xbb\xbf\"Volume\",note,LOW,High , Close,\"Open Time\",oPen\r\n"
                                         "2,,1.5,3,2.5,1672531200000,2\r\n\r\n"
                                         " \"3\" ,a,1e0,3.25,2.5,1672531260000,2");
    CHECK_INT(bars_file_read(path, "XRP", &f, error), 0);
    CHECK_STR(f.symbol, "XRP");
    CHECK_INT(f.n, 2);
    CHECK_INT(f.open_time_ns[1], 1672531260000000000);
    CHECK(f.open[1] == 2 && f.high[1] == 3.25 && f.low[1] == 1 && f.close[1] == 2.5 && f.volume[1] == 3);
    CHECK_INT(f.interval_ns, 60000000000);
    CHECK_INT(f.price_digits, 2);
    bars_file_finish(&f);

    /* Binance's twelve columns without a header; what follows the sixth may be empty; ms, then us. */
    path = scratch_write("BNB.csv", "1735689540000,1,2,0.5,1.5,10,1735689599999,15,3,5,7.5,0\n"
                                    "1735689600000000,1.5,2,0.5,1,0.00000001,,,,,,\n");
    CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
    CHECK_STR(f.symbol, "BNB");
    CHECK_INT(f.n, 2);
    CHECK_INT(f.open_time_ns[1] - f.open_time_ns[0], 60000000000);
    CHECK_INT(f.volume_digits, 8);
    int64_t volume;
    CHECK_INT(decimal_from_double(f.volume[1], f.volume_digits, &volume), 0);
    CHECK_INT(volume, 1);
    bars_file_finish(&f);

    /* open_time wins over timestamp. */
    path = scratch_write("A_b", "timestamp,open_time,open,high,low,close,volume\n1,2,1,1,1,1,1\n");
    CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
    CHECK_INT(f.open_time_ns[0], 2000000000);
    CHECK_INT(f.interval_ns, 0);
    bars_file_finish(&f);
    /* A column without a name, as a table's row numbers are written. */
    path = scratch_write("A_b", ",timestamp,open,high,low,close,volume\n0,2,1,1,1,1,1\n1,3,1,1,1,1,1\n");
    CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
    CHECK_INT(f.n, 2);
    CHECK_INT(f.open_time_ns[1], 3000000000);
    bars_file_finish(&f);
}

/* Rows that are no bars are widened where that is asked for, and counted. */
static void test_repair(void)
{
    struct bars_file f;
    const char *path = scratch_write("R_1m.csv", "open_time,open,high,low,close,volume\n"
                                                 "60,5,4,3,3.5,1\n120,3.5,4,3,2,1\n180,1,4,3,9,1\n"
                                                 "240,3,4,3,4,1\n");
    const struct bars_file_options repair = {.repair = true};
    CHECK_INT(bars_file_read_with(path, &repair, &f, error), 0);
    CHECK_INT(f.n, 4);
    CHECK_INT(f.repaired, 3);
    CHECK(f.high[0] == 5 && f.low[0] == 3 && f.high[1] == 4 && f.low[1] == 2);
    CHECK(f.high[2] == 9 && f.low[2] == 1 && f.high[3] == 4 && f.low[3] == 3);
    bars_file_finish(&f);
    path = scratch_write("R_1m.csv", "open_time,open,high,low,close,volume\n60,5,3,4,3.5,1\n");
    CHECK_INT(bars_file_read_with(path, &repair, &f, error), -EINVAL); /* which of the two is it? */
    CHECK(strstr(error, "high is below low"));
    path = scratch_write("R_1m.csv", "open_time,open,high,low,close,volume\n60,5,6,-4,3.5,1\n");
    CHECK_INT(bars_file_read_with(path, &repair, &f, error), -EINVAL);
    CHECK(strstr(error, "price is not above 0: ") && strstr(error, ":2: low above 0, not -4"));
    const struct bars_file_options any = {.any_price = true};
    CHECK_INT(bars_file_read_with(path, &any, &f, error), 0);
    CHECK(f.low[0] == -4 && f.repaired == 0);
    bars_file_finish(&f);
    path =
        scratch_write("R_1m.csv", "open_time,open,high,low,close,volume\n60,5,3,4,99,-1\n120,5,6,-4,0,1\n");
    const struct bars_file_options as_is = {.as_is =
                                                true}; /* to be compared: nothing is widened or refused */
    CHECK_INT(bars_file_read_with(path, &as_is, &f, error), 0);
    CHECK(f.n == 2 && f.high[0] == 3 && f.low[0] == 4 && f.close[0] == 99 && f.volume[0] == -1 &&
          f.low[1] == -4 && f.repaired == 0);
    bars_file_finish(&f);
    path = scratch_write("R_1m.csv", "open_time,open,high,low,close,volume\n60,5,6,4,5,1\n60,5,6,4,5,1\n");
    CHECK_INT(bars_file_read_with(path, &as_is, &f, error), -EINVAL);
    CHECK(strstr(error, "time does not rise"));
}

/* Headers as other programs write them: two bars, a minute apart, and nothing else. */
static void test_headers(void)
{
    static const char *const texts[] = {
        "Datetime,Open,High,Low,Close,Volume\n2024-01-01 00:00:00+00:00,1,2,0.5,1.5,7\n"
        "2024-01-01 00:01:00+00:00,1,2,0.5,1.5,7\n",
        "Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-01,1,2,0.5,1.5,0.1,7\n"
        "2024-01-01T00:01Z,1,2,0.5,1.5,0.1,7\n",
        ",open,high,low,close,volume\n2024-01-01 00:00:00,1,2,0.5,1.5,7\n2024-01-01 00:01:00,1,2,0.5,1.5,7\n",
        "Unnamed: 0,open,high,low,close,volume\n2024-01-01,1,2,0.5,1.5,7\n2024-01-01 00:01,1,2,0.5,1.5,7\n",
        ",date,open,high,low,close,volume\n0,2024-01-01 00:00:00+00:00,1,2,0.5,1.5,7\n"
        "1,2024-01-01 00:01:00+00:00,1,2,0.5,1.5,7\n",
        "date,open,high,low,close,volume\n2024-01-01 00:00:00+00:00,1,2,0.5,1.5,7\n"
        "2024-01-01 00:01:00+00:00,1,2,0.5,1.5,7\n",
        "Price,Close,High,Low,Open,Volume\nTicker,SPY,SPY,SPY,SPY,SPY\nDatetime,,,,,\n"
        "2024-01-01 00:00:00+00:00,1.5,2,0.5,1,7\n2024-01-01 00:01:00+00:00,1.5,2,0.5,1,7\n",
        "[[1704067200000, 1.0, 2.0, 0.5, 1.5, 7.0], [1704067260000, 1.0, 2.0, 5e-01, 1.5, 7.0]]",
        "open_time;open;high;low;close;volume\n1704067200000;1;2;0.5;1.5;7\n1704067260000;1;2;0.5;1.5;7\n",
        "time\topen\thigh\tlow\tclose\tvolume\n2024-01-01 00:00\t1\t2\t0.5\t1.5\t7\n"
        "2024-01-01 00:01\t1\t2\t0.5\t1.5\t7\n",
        "1704067200000\t1\t2\t0.5\t1.5\t7\n1704067260000\t1\t2\t0.5\t1.5\t7\n",
        "https://www.CryptoDataDownload.com\nUnix,Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USDT\n"
        "1704067200,2024-01-01 12-AM,BTCUSDT,1,2,0.5,1.5,7,9\n1704067260,,BTCUSDT,1,2,0.5,1.5,7,9\n",
        "\xef\xbb\xbf\n [\n[1704067200000,\"1\",\"2\",\"0.5\",\"1.5\",\"7\",1,\"0\"] ,\n"
        "[1704067260000,\"1\",\"2\",\"0.5\",\"1.5\",\"7\",1,\"0\"]\n ] \n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct bars_file f = {0};
        CHECK_INT(bars_file_read(scratch_write("SPY_1m", texts[i]), NULL, &f, error), 0);
        CHECK_INT(f.n, 2);
        CHECK_INT(f.interval_ns, 60000000000);
        for (size_t k = 0; k < f.n; k++) {
            CHECK_INT(f.open_time_ns[k], 1704067200000000000 + (int64_t)k * 60000000000);
            CHECK(f.open[k] == 1 && f.high[k] == 2 && f.low[k] == 0.5 && f.close[k] == 1.5 &&
                  f.volume[k] == 7);
        }
        if (f.n != 2)
            fprintf(stderr, "text %zu: %s\n", i, error);
        bars_file_finish(&f);
    }
}

/* Names as archives and programs give them. */
static void test_names(void)
{
    static const int64_t minute = 60000000000, hour = 60 * minute, day = 24 * hour;
    static const struct {
        const char *path, *symbol;
        int64_t interval_ns;
        bool trades;
    } cases[] = {
        {"BTCUSDT_5m.csv", "BTCUSDT", 5 * minute, false},
        {"a-b_c/btcusdt.csv.gz", "BTCUSDT", 0, false},
        {"BTCUSDT_5m-2023.csv.gz", "BTCUSDT", 5 * minute, false},
        {"BTCUSDT-5m-2025-04.csv", "BTCUSDT", 5 * minute, false},
        {"BTCUSDT-5m-2025-04-01.csv", "BTCUSDT", 5 * minute, false},
        {"BTCUSDT-1mo-2025-04.csv", "BTCUSDT", BAR_MONTH_NS, false},
        {"BTCUSDT_1M.csv.gz", "BTCUSDT", BAR_MONTH_NS, false},
        {"BTCUSDT-1d-2025-04", "BTCUSDT", day, false},
        {"BTCUSD_PERP-1h-2025-04.csv", "BTCUSD", hour, false},
        {"1INCHUSDT-15m-2025-04.csv", "1INCHUSDT", 15 * minute, false},
        {"BTC_USDT-5m.json", "BTCUSDT", 5 * minute, false},
        {"BTC_USDT_USDT-5m-futures.json", "BTCUSDT", 5 * minute, false},
        {"BTC_USDT.csv", "BTCUSDT", 0, false},
        {"btc_usdt_1h.csv", "BTCUSDT", hour, false},
        {"WBTC_USDT.csv", "WBTCUSDT", 0, false},
        {"ETH_BTC-1d.csv", "ETHBTC", day, false},
        {"Binance_BTCUSDT_1h.csv", "BTCUSDT", hour, false},
        {"Binance_BTCUSDT_d.csv", "BTCUSDT", 0, false},
        {"Bitstamp_BTCUSD_2023_minute.csv", "BTCUSD", 0, false},
        {"binance-BTCUSDT-5m.csv", "BTCUSDT", 5 * minute, false},
        {"OKX_BTC-USDT_1h.csv", "BTC-USDT", hour, false},
        {"alpaca_SPY_1d.csv", "SPY", day, false},
        {"candles ethusdt 1m.csv", "ETHUSDT", minute, false},
        {"BTC-USD.csv", "BTC-USD", 0, false},
        {"BTC-USDT-SWAP.csv", "BTC-USDT-SWAP", 0, false},
        {"BRK-B_1d.csv", "BRK-B", day, false},
        {"BRK.B.csv", "BRK.B", 0, false},
        {"600519.SS_1d.csv", "600519.SS", day, false},
        {"SPY_1d-raw.csv", "SPY", day, false},
        {"SPY-raw.csv", "SPY", 0, false},
        {"SPY.1d.csv", "SPY", day, false},
        {"SPY.dat", "SPY", 0, false},
        {"BTCUSDT-5m-2025-04.parquet", "BTCUSDT", 5 * minute, false},
        {"SPY.parquet", "SPY", 0, false},
        {"BTCUSDT-trades-2025-04-01.csv", "BTCUSDT", 0, true},
        {"BTCUSDT-aggTrades-2025-04.csv", "BTCUSDT", 0, true},
    };
    char symbol[SYMBOL_NAME_MAX];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bars_name name;
        CHECK_INT(bars_name_parse(cases[i].path, &name), 0);
        CHECK_STR(name.symbol, cases[i].symbol);
        CHECK_INT(name.interval_ns, cases[i].interval_ns);
        CHECK_INT(name.trades, cases[i].trades);
        CHECK_INT(bars_file_symbol(cases[i].path, NULL, symbol), 0);
        CHECK_STR(symbol, cases[i].symbol);
    }
    /* One row does not determine an interval; its name does. */
    struct bars_file f;
    const char *path = scratch_write("BTCUSDT-1d-2025-04-01.csv", "1743465600000000,1,1,1,1,1\n");
    CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
    CHECK_INT(f.interval_ns, day);
    bars_file_finish(&f);

    static const struct {
        const char *path, *symbol, *says;
    } bad[] = {
        {"BTCUSDT-trades-2025-04-01.csv", NULL, "of trades"},
        {"_1m.csv", NULL, "--symbol, with 1 to 23 letters, not \"\""},
        {".csv", NULL, "not \"\""},
        {"anamethatismuchtoolongforus_1m.csv", NULL, "not \"ANAMETHATISMUCHTOOLONG"},
        {"BTCUSDT.csv", "ANAMETHATISMUCHTOOLONGFORUS", "not \"ANAMETHATISMUCHTOOLONGFORUS\""},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        CHECK_INT(bars_file_read(scratch_path(bad[i].path), bad[i].symbol, &f, error), -EINVAL);
        bool said = strstr(error, bad[i].says) && strstr(error, bad[i].path);
        CHECK(said);
        if (!said)
            fprintf(stderr, "name %zu: %s\n", i, error);
    }
}

/* Whatever a name is made of, it is read within its bounds, and what is found can be given to a market. */
static void test_any_name(struct random *random)
{
    static const char *const pieces[] = {"BTC", "usdt", "USDT",     "_",  "-",      ".",  " ",       "/",
                                         "5m",  "1M",   "2025",     "04", "csv",    "gz", "binance", "trades",
                                         "B",   "0",    "\xc3\xa4", "d",  "SHARES", ""};
    unsigned found = 0;
    for (int i = 0; i < 20000; i++) {
        char text[256] = "";
        for (int64_t n = random_between(random, 0, 12); n > 0; n--)
            strcat(text, pieces[random_between(random, 0, sizeof(pieces) / sizeof(*pieces) - 1)]);
        struct bars_name name;
        char *path = strdup(text); /* no byte more */
        int r = bars_name_parse(path, &name);
        free(path);
        size_t len = strnlen(name.symbol, sizeof(name.symbol));
        CHECK(len < sizeof(name.symbol) &&
              (r == 0 ? len > 0 : r == -EINVAL && (len == 0 || len == SYMBOL_NAME_MAX - 1)));
        found += r == 0;
    }
    CHECK(found > 10000);
}

/* JSON that is cut off anywhere, or is no array of arrays, is refused by its row. */
static void test_json(void)
{
    static const char whole[] = "[[60,1,1,1,1,1],[120,1,1,1,1,1],[180,1,1,1,1,1]]";
    static const struct {
        const char *text, *where;
    } cases[] = {
        {"[]", "no bars: "},
        {" [ ] ", "no bars: "},
        {"[[]]", ": row 1: "},
        {"[[60,1,1,1,1,1][120,1,1,1,1,1]]", ": row 2: "},
        {"[[60,1,1,1,1,1],]", ": row 2: "},
        {"[[60,1,1,1,1,1],{\"t\":1}]", ": row 2: "},
        {"[[60,1,1,1,1,1],[120,[1],1,1,1,1]]", ": row 2: "},
        {"[[60,1,1,1,1,1],[120,1,1,1,1]]", ": row 2: "},
        {"[[60,1,1,1,1,1],[120,1,1,1,null,1]]", ": row 2: "},
        {"[[60,1,1,1,1,1],[120,1,1,1,1,1]] x", ": row 3: "},
        {"[{\"open\":1}]", ": row 1: "},
        {"[,[60,1,1,1,1,1]]", ": row 1: "},
    };
    struct bars_file f;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_INT(bars_file_read(scratch_write("J_1m.json", cases[i].text), NULL, &f, error), -EINVAL);
        bool said = strstr(error, cases[i].where) && strstr(error, "J_1m.json");
        CHECK(said);
        if (!said)
            fprintf(stderr, "case %zu: %s\n", i, error);
    }
    for (size_t n = 1; n < sizeof(whole) - 1; n++) {
        char part[sizeof(whole)];
        snprintf(part, sizeof(part), "%.*s", (int)n, whole);
        CHECK_INT(bars_file_read(scratch_write("J_1m.json", part), NULL, &f, error), -EINVAL);
    }
    /* Rows over the edges of what is read at once. */
    enum { ROWS = 40000 };
    char *text = malloc((size_t)ROWS * 48 + 8);
    size_t at = 0;
    if (!text)
        return;
    for (int i = 0; i < ROWS; i++)
        at +=
            (size_t)sprintf(text + at, "%s[%d, 1.25, 2.5, 0.5, 1.75, %d.5]", i ? ", " : "[", 60 + 60 * i, i);
    sprintf(text + at, "]");
    CHECK_INT(bars_file_read(scratch_write("J_1m.json", text), NULL, &f, error), 0);
    CHECK_INT(f.n, ROWS);
    for (size_t i = 0; i < f.n; i++)
        if (f.open_time_ns[i] != (int64_t)(60 + 60 * i) * 1000000000 || f.volume[i] != (double)i + 0.5)
            CHECK(!"row");
    bars_file_finish(&f);
    free(text);
}

static void test_gzip(void)
{
    static const char text[] =
        "timestamp,open,high,low,close,volume\n1,1,1,1,1,1\n2,1,1,1,1,1\n3,1,1,1,1,1\n";
    struct bars_file f = {0};
    const char *path = scratch_path("SOL_1s.csv"); /* the name does not say gzip, the content does */
    gzFile out = gzopen(path, "wb");
    CHECK(out && gzwrite(out, text, sizeof(text) - 1) == sizeof(text) - 1);
    CHECK_INT(gzclose(out), Z_OK);
    CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
    CHECK_INT(f.n, 3);
    CHECK_INT(f.interval_ns, 1000000000);
    bars_file_finish(&f);
    CHECK_INT(truncate(path, 40), 0);
    CHECK_INT(bars_file_read(path, NULL, &f, error), -EIO);
    CHECK(strstr(error, "SOL_1s.csv:"));
}

static void test_bad(void)
{
    static const struct {
        const char *rows, *what, *line;
    } cases[] = {
        {"1,1,1,1,1,1\n2,1,1,2,1,1\n", "high is below low", ":3: "},
        {"1,1,1,1,1,1\n2,2.1,2,1,1,1\n", "open is outside low to high", ":3: "},
        {"1,1,1,1,1,1\n2,0.9,2,1,1,1\n", "open is outside low to high", ":3: "},
        {"1,1,1,1,1,1\n2,1,2,1,2.5,1\n", "close is outside low to high", ":3: "},
        {"1,1,1,1,1,1\n2,1,2,1,0.5,1\n", "close is outside low to high", ":3: "},
        {"1,1,1,1,1,1\n1,1,1,1,1,1\n", "time does not rise",
         ":3: one row a bar, not 1970-01-01T00:00:01Z (\"1\") twice"},
        {"1743699900250,1,1,1,1,1\n2025-04-03 17:05:00.25,1,1,1,1,1\n", "time does not rise",
         ":3: one row a bar, not 2025-04-03T17:05:00.25Z (\"2025-04-03 17:05:00.25\") twice"},
        {"2,1,1,1,1,1\n1,1,1,1,1,1\n", "time does not rise",
         ":3: 1970-01-01T00:00:01Z (\"1\") comes after 1970-01-01T00:00:02Z: rows oldest first: the file is "
         "newest first, so turn"},
        {"1,1,1,1,1,1\n3,1,1,1,1,1\n2,1,1,1,1,1\n", "time does not rise",
         ":4: 1970-01-01T00:00:02Z (\"2\") comes after 1970-01-01T00:00:03Z: rows in the order of their "
         "time"},
        {"1,0,1,1,1,1\n", "price is not above 0", ":2: open above 0, not 0"},
        {"1,1,1,-1,1,1\n", "price is not above 0", ":2: low above 0, not -1"},
        {"1,1,1,1,1e-400,1\n", "price is not above 0", ":2: close above 0"},
        {"1,1,1,1,1,-1\n", "negative volume", ":2: "},
        {"1,1,1,1,1\n", "bad row", ":2: "},
        {"1,1,1,1,1,\n", "bad number", ":2: "},
        {"1,x,1,1,1,1\n", "bad number", ":2: "},
        {"1,nan,1,1,1,1\n", "bad number", ":2: "},
        {"1,1,inf,1,1,1\n", "bad number", ":2: "},
        {"1,1,1e999,1,1,1\n", "bad number", ":2: "},
        {"1,1,0x10,1,1,1\n", "bad number", ":2: "},
        {"1,1 2,1,1,1,1\n", "bad number", ":2: "},
        {"\n\n,1,1,1,1,1\n", "bad time", ":4: "},
        {"2025-02-30,1,1,1,1,1\n", "bad time", ":2: "},
        {"2025-13-01,1,1,1,1,1\n", "bad time", ":2: "},
        {"2025-01-01T25:00,1,1,1,1,1\n", "bad time", ":2: "},
        {"yesterday,1,1,1,1,1\n", "bad time", ":2: "},
    };
    struct bars_file f = {.n = 77};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[512];
        snprintf(text, sizeof(text), "timestamp,open,high,low,close,volume\n%s", cases[i].rows);
        const char *path = scratch_write("BAD_1m.csv", text);
        int code = strstr(cases[i].what, "is outside low") ? -ERANGE : -EINVAL; /* which .repair takes */
        CHECK_INT(bars_file_read(path, NULL, &f, error), code);
        bool named = strncmp(error, cases[i].what, strlen(cases[i].what)) == 0 && strstr(error, path) &&
                     strstr(error, cases[i].line);
        CHECK(named);
        if (!named)
            fprintf(stderr, "case %zu: %s\n", i, error);
        CHECK_INT(f.n, 77);
    }
    CHECK_INT(bars_file_read(scratch_path("absent_1m.csv"), NULL, &f, error), -ENOENT);
    CHECK(strstr(error, "absent_1m.csv"));
    CHECK_INT(bars_file_read(scratch_path("_1m.csv"), NULL, &f, error), -EINVAL);
    CHECK_INT(bars_file_read(scratch_path("absent.csv"), "ANAMETHATISMUCHTOOLONGFORUS", &f, error), -EINVAL);
}

/* What is no text of bars, or has a header that will not do, is named for what it is. */
static void test_kinds(void)
{
    static const struct {
        const char *text, *says, *right;
    } cases[] = {
        {"", "empty file: ", "CSV with"},
        {"\n\n", "empty file: ", "CSV with"},
        {"timestamp,open,high,low,close,volume\n", "no bars: ", ": at least one row below the header"},
        {"timestamp,open,high,low,close\n1,1,1,1,1\n",
         "bad header: ", ":1: column volume is missing; needed are"},
        {"\ntimestamp;open;high;low;close\n1;1;1;1;1\n",
         "bad header: ", "not \"timestamp;open;high;low;close\""},
        {"id\tprice\n1\t1\n", "bad header: ", "low, close and volume"},
        {"open,high,low,close,volume\n", "bad header: ", ":1: column open_time or timestamp is missing;"},
        {"timestamp,open,open,high,low,close,volume\n", "bad header: ", ":1: one column open, not two"},
        {"http://a\nhttp://b\n1,1,1,1,1,1\n", "bad header: ", ":2: column open_time"},
        {"1,2,3\n", "bad row: ", ":1: a column low; the row has 3 columns"},
        {"time;open;high;low;close;volume\n1;1,5;2;1;1;1\n", "bad number: ",
         ":2: a finite decimal number as open, "
         "not \"1,5\""},
        {"PK\3\4\x14", "a zip archive: ", "unzip"},
        {"\xff\xfeo\0p", "UTF-16 text: ", "iconv -f UTF-16 -t UTF-8"},
        {"\xfe\xffo", "UTF-16 text: ", "iconv"},
        {"ARROW1\1", "a feather file: ", "read_feather"},
        {"PAR1\x15", "a parquet file: ", "read_parquet"},
        {"\x89HDF\r\n", "an HDF5 file: ", "read_hdf"},
        {"\xfd\x37zXZ", "an xz file: ", "unxz"},
        {"<!DOCTYPE html>", "a web page: ", "download"},
        {"{\"code\":-1121}", "a JSON object: ", "an array of arrays"},
        {"SQLite format 3", "a database: ", "papertape.db"},
    };
    struct bars_file f;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_INT(bars_file_read(scratch_write("BAD_1m.csv", cases[i].text), NULL, &f, error), -EINVAL);
        bool named = strncmp(error, cases[i].says, strlen(cases[i].says)) == 0 &&
                     strstr(error, cases[i].right) && strstr(error, "BAD_1m.csv");
        CHECK(named);
        if (!named)
            fprintf(stderr, "kind %zu: %s\n", i, error);
    }
}

/* Any file can be named as one of bars, by a client of the daemon too: of a file of something else nothing is
 * shown. */
static void test_foreign(void)
{
    static const char *const cases[] = {
        "SECRET\n",
        "root:SECRET:19000::::\n",
        "[keys]\nid = SECRET\nsecret = SECRET\n",
        "date SECRET\n",
        "date,SECRET\n",
        "http://127.0.0.1/SECRET\nSECRET\n",
        "1SECRET\n",
        "1SECRET,2,3,4,5,6\n",
        "1723161255,2,SECRET,4,5,6\n",
        "[[1723161255,2,\"SECRET\",4,5,6]]\n",
        "[\"SECRET\"]\n",
    };
    struct bars_file f;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_INT(bars_file_read(scratch_write("BAD_1m.csv", cases[i]), NULL, &f, error), -EINVAL);
        CHECK(strstr(error, "BAD_1m.csv") && !strstr(error, "SECRET"));
    }
}

static void test_times(void)
{
    static const struct {
        const char *text;
        int64_t ns; /* -1: bad */
    } cases[] = {
        {"1970-01-01", 0},
        {"2000-02-29T00:00Z", 951782400000000000},
        {"1969-12-31T23:59:59.5Z", -500000000},
        {"2024-08-08T23:54:15.342Z", 1723161255342000000},
        {"2024-08-08 23:54:15.342000001", 1723161255342000001},
        {"2024-08-09T01:54:15+02:00", 1723161255000000000},
        {"2024-08-08T18:24:15-0530", 1723161255000000000},
        {"2024-08-09T00:54:15+01", 1723161255000000000},
        {"1723161255", 1723161255000000000},
        {"1723161255.25", 1723161255250000000},
        {"1723161255342", 1723161255342000000},
        {"1723161255342001", 1723161255342001000},
        {"1723161255342001002", 1723161255342001002},
        {"", -1},
        {"1723161255x", -1},
        {"17231612553420010029", -1},
        {"2024-08-08T23", -1},
        {"2024-08-08T23:54:15.", -1},
        {"2024-08-08T23:54:15.0000000001", -1},
        {"2024-08-08T23:54:15 Z", -1},
        {"2024-08-08T23:54:15+25:00", -1},
        {"2023-02-29", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int64_t ns = -1;
        int rc = bars_time_parse(cases[i].text, strlen(cases[i].text), &ns);
        CHECK_INT(rc, cases[i].ns == -1 ? -EINVAL : 0);
        CHECK_INT(ns, cases[i].ns);
    }
}

/* Numbers of every spelling are the doubles that strtod() gives, and their digits are counted. */
static void test_numbers(struct random *random)
{
    const int times = getenv("PAPERTAPE_LONG") ? 20000 : 3000;
    char text[512], number[5][72];
    struct bars_file f;
    for (int k = 0; k < times; k++) {
        int last[5] = {0};
        for (int c = 0; c < 5; c++) {
            int whole = (int)random_between(random, 0, 20), after = (int)random_between(random, 0, 20), n = 0;
            if (whole + after == 0)
                whole = 1;
            if (random_chance(random, 5))
                number[c][n++] = '+';
            for (int i = 0; i < whole; i++)
                number[c][n++] = (char)('0' + (random_chance(random, 30) ? 0 : random_between(random, 0, 9)));
            if (after > 0 || random_chance(random, 10))
                number[c][n++] = '.';
            for (int i = 0; i < after; i++) {
                bool zero = random_chance(random, 50);
                number[c][n] = (char)('0' + (zero ? 0 : random_between(random, 0, 9)));
                if (number[c][n++] != '0')
                    last[c] = i + 1;
            }
            if (random_chance(random, 10)) {
                int exponent = (int)random_between(random, -12, 12);
                n += snprintf(number[c] + n, 8, "%c%d", random_chance(random, 50) ? 'e' : 'E', exponent);
                last[c] -= exponent;
            }
            number[c][n] = '\0';
        }
        double price[4], high = -INFINITY, low = INFINITY;
        int at_high = 0, at_low = 0;
        for (int c = 0; c < 4; c++) {
            price[c] = strtod(number[c], NULL);
            if (price[c] > high)
                high = price[at_high = c];
            if (price[c] < low)
                low = price[at_low = c];
        }
        snprintf(text, sizeof(text), "60,%s,%s,%s,%s,%s\n", number[at_low], number[at_high], number[at_low],
                 number[3], number[4]);
        const char *path = scratch_write("N_1m.csv", text);
        CHECK_INT(bars_file_read_with(path, &(struct bars_file_options){.any_price = true}, &f, error), 0);
        bool same = f.open[0] == low && f.high[0] == high && f.low[0] == low && f.close[0] == price[3] &&
                    f.volume[0] == strtod(number[4], NULL);
        CHECK(same);
        if (!same)
            fprintf(stderr, "%s", text);
        int digits = last[at_low] > last[at_high] ? last[at_low] : last[at_high];
        digits = last[3] > digits ? last[3] : digits;
        digits = digits < 0 ? 0 : digits > DECIMAL_SCALE_MAX ? DECIMAL_SCALE_MAX : digits;
        CHECK_INT(f.price_digits, digits);
        CHECK_INT(f.digits_line, 1);
        bars_file_finish(&f);
    }
    printf("numbers: %d files\n", times);
}

static void hash_of(const unsigned char *bytes, size_t n, uint8_t ret[static 32])
{
    CHECK_INT(EVP_Digest(bytes, n, ret, NULL, EVP_sha256(), NULL), 1);
}

static void spill(const char *path, const unsigned char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

/* Rows that are not as test_long() wrote them. */
static size_t long_wrong(const struct bars_file *f)
{
    size_t bad = 0;
    for (size_t i = 0; i < f->n; i++)
        bad += f->open_time_ns[i] != (int64_t)(i + 1) * 1000000000 || f->open[i] != (double)i + 1.25 ||
               f->close[i] != (double)i + 1.125;
    return bad;
}

/* A text longer than what is read at once, plain and in one or several gzip members, with something behind
 * them: the same rows, and the hash of the bytes on the disk. */
static void test_long(struct random *random)
{
    enum { ROWS = 30000, SIZE = 4 << 20 };
    char *text = malloc(SIZE);
    unsigned char *packed = malloc(SIZE);
    size_t n = 0;
    n += (size_t)sprintf(text, "timestamp,open,high,low,close,volume,note\n");
    for (int i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(text + n, "%d,%d.25,%d.5,%d,%d.125,7,", i + 1, i + 1, i + 1, i + 1, i + 1);
        memset(text + n, 'x', (size_t)(i % 97));
        n += (size_t)(i % 97);
        n += (size_t)sprintf(text + n, "%s", i % 5 ? "\n" : "\r\n\n");
    }
    for (int shape = 0; shape < 8; shape++) {
        const char *path = scratch_path("LONG_1s.csv");
        size_t size = 0, done = 0;
        uint8_t expected[32], hash[32] = {0};
        struct bars_file f;
        if (shape < 2) {
            memcpy(packed, text, size = n - (shape == 1)); /* with and without the last newline */
        } else {
            while (done < n) { /* members of any size */
                size_t part = shape == 2 ? n : (size_t)random_between(random, 1, 400000);
                z_stream z = {0};
                part = part < n - done ? part : n - done;
                CHECK_INT(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
                z.next_in = (unsigned char *)text + done;
                z.avail_in = (unsigned)part;
                z.next_out = packed + size;
                z.avail_out = (unsigned)(SIZE - size);
                CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
                size += z.total_out;
                done += part;
                deflateEnd(&z);
            }
            for (int i = 0; shape >= 6 && i < 5; i++) /* what follows the last member is no text */
                packed[size++] = 0;
        }
        spill(path, packed, size);
        hash_of(packed, size, expected);
        const struct bars_file_options options = {.sha256 = hash};
        CHECK_INT(bars_file_read_with(path, &options, &f, error), 0);
        CHECK(memcmp(hash, expected, sizeof(hash)) == 0);
        CHECK_INT(f.n, ROWS);
        CHECK_INT(f.bytes, size);
        CHECK_INT(long_wrong(&f), 0);
        CHECK_INT(f.price_digits, 3);
        CHECK_INT(f.digits_line, 2);
        bars_file_finish(&f);
        /* Cut off anywhere, or with a byte that is another, a gzip stream is refused. */
        for (int i = 0; shape == 3 && i < 60; i++) {
            size_t at = (size_t)random_between(random, 20, (int64_t)size - 6);
            if (i % 2 == 0) {
                CHECK_INT(truncate(path, (off_t)at), 0);
                int r = bars_file_read(path, NULL, &f, error);
                CHECK(r == -EIO || r == -EINVAL || r == -ERANGE || r == 0); /* 0: cut between two members */
                if (r == 0) {
                    CHECK(f.n < ROWS);
                    bars_file_finish(&f);
                }
            } else {
                packed[at] ^= 0x20;
                spill(path, packed, size);
                packed[at] ^= 0x20;
                int r = bars_file_read(path, NULL, &f, error);
                /* 0: a member's magic, or a bit between the end of its data and its sum, which says nothing
                 */
                CHECK(r == -EIO || r == -EINVAL || r == -ERANGE ||
                      (r == 0 && (f.n < ROWS || (f.n == ROWS && long_wrong(&f) == 0))));
                if (r == 0)
                    bars_file_finish(&f);
            }
        }
    }

    /* Lines have a limit, and what is beyond it has a number. */
    struct bars_file f;
    for (int over = -1; over <= 1; over++) {
        size_t at = (size_t)sprintf(text, "timestamp,open,high,low,close,volume,n\n1,1,1,1,1,1,");
        size_t line = at - strlen("timestamp,open,high,low,close,volume,n\n");
        memset(text + at, 'y', BARS_LINE_MAX);
        at += BARS_LINE_MAX - 2 + (size_t)over - line;
        at += (size_t)sprintf(text + at, "\n2,1,1,1,1,1,\n");
        spill(scratch_path("WIDE_1s.csv"), (unsigned char *)text, at);
        int r = bars_file_read(scratch_path("WIDE_1s.csv"), NULL, &f, error);
        CHECK_INT(r, over <= 0 ? 0 : -EINVAL);
        if (r == 0)
            bars_file_finish(&f);
        else
            CHECK(strstr(error, "WIDE_1s.csv:2:") && strstr(error, "less than 65536 bytes"));
    }
    free(packed);
    free(text);
}

int main(void)
{
    scratch_in_memory();
    test_reads();
    test_months();
    test_repair();
    test_headers();
    test_names();
    test_json();
    test_gzip();
    test_bad();
    test_kinds();
    test_foreign();
    test_times();
    struct random random = random_seeded("bars_file", 20261121);
    test_any_name(&random);
    test_numbers(&random);
    test_long(&random);
    return check_done("bars_file");
}
