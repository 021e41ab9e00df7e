/* Bars at play: the trades make exactly the file's bars, the messages agree with each other, gaps stay gaps.
 */
#include "exchange/replay/bars.h"

#include <errno.h>

#include "exchange/bars_file.h"
#include "exchange/replay/bar_trades.h"
#include "tests/replay/made.h"
#include "tests/scratch.h"

static char error[SOURCE_ERROR_MAX];

static void test_trades(void)
{
    struct bar_trade trades[BAR_TRADES_MAX];
    struct chance chance = {1};
    for (int round = 0; round < 3000; round++) {
        struct bar_shape s = {.open_ns = 60000000000LL * round,
                              .length_ns = round % 2 ? 60000000000LL : 1000000000LL};
        s.tick = 1000000;
        s.unit = round % 3 ? 1000 : 1;
        s.low = chance_range(&chance, 1, 1000) * s.tick;
        s.high = s.low + chance_below(&chance, round % 5 ? 500 : 1) * s.tick;
        s.open = s.low + chance_below(&chance, (s.high - s.low) / s.tick + 1) * s.tick;
        s.close = s.low + chance_below(&chance, (s.high - s.low) / s.tick + 1) * s.tick;
        s.volume = (int128_t)chance_heavy(&chance, 30) * s.unit + 6;
        int n = bar_trades_make(&s, &chance, round % 7 ? BAR_TRADES_MAX : 12, trades);
        CHECK(n >= BAR_TRADES_SHAPED && n <= BAR_TRADES_MAX);
        int64_t high = 0, low = INT64_MAX, before = s.open_ns;
        int128_t volume = 0;
        for (int i = 0; i < n; i++) {
            CHECK(trades[i].ts_ns >= before && trades[i].ts_ns < s.open_ns + s.length_ns);
            CHECK(trades[i].qty > 0 && trades[i].price % s.tick == 0);
            before = trades[i].ts_ns;
            high = trades[i].price > high ? trades[i].price : high;
            low = trades[i].price < low ? trades[i].price : low;
            volume += trades[i].qty;
        }
        CHECK(trades[0].price == s.open && trades[n - 1].price == s.close);
        CHECK(high == s.high && low == s.low && volume == s.volume);
    }
    struct bar_shape empty = {
        .length_ns = 60000000000LL, .open = 1, .high = 1, .low = 1, .close = 1, .tick = 1, .unit = 1};
    CHECK_INT(bar_trades_make(&empty, &chance, BAR_TRADES_MAX, trades), 0);
}

static char *make_csv(int bars, int gap_at)
{
    char *text = malloc(128 * (size_t)bars + 128);
    struct chance chance = {77};
    int64_t close = 6000000, at = 1735689600; /* 60000.00 */
    size_t len = (size_t)sprintf(text, "timestamp,open,high,low,close,volume\n");
    for (int i = 0; i < bars; i++, at += 300) {
        if (i == gap_at)
            at += 3 * 300;
        int64_t open = close + chance_range(&chance, -20, 20);
        close = open + chance_range(&chance, -3000, 3000);
        int64_t high = (open > close ? open : close) + chance_range(&chance, 0, 1000);
        int64_t low = (open < close ? open : close) - chance_range(&chance, 0, 1000);
        int64_t volume = i % 7 == 3 ? 0 : chance_range(&chance, 1, 90000000);
        if (volume == 0)
            open = high = low = close;
        len += (size_t)sprintf(text + len, "%" PRId64 ",%.2f,%.2f,%.2f,%.2f,%.5f\n", at, (double)open / 100,
                               (double)high / 100, (double)low / 100, (double)close / 100,
                               (double)volume / 100000);
    }
    return text;
}

enum { BARS = 60, GAP_AT = 38 /* a quiet one follows */, HISTORY = 12, LONG = 20000 };

/* The venue's klines equal the file's rows. */
static void check_rows(struct tape *tape, const struct bars_file *f, size_t n)
{
    static struct candle rows[1000];
    size_t got = replay_candles_query(&tape->symbols[0].candles, replay_candle_interval_find("5m", 2), 0, -1,
                                      1000, rows);
    size_t k = 0;
    CHECK(got >= n);
    for (size_t i = 0; i < n && k < got; i++, k++) {
        CHECK_INT(rows[k].open_ns, f->open_time_ns[i]);
        CHECK_NEAR((double)rows[k].volume, f->volume[i] * 1e8, 0.5);
        if (f->volume[i] == 0)
            continue;
        CHECK_NEAR((double)rows[k].open, f->open[i] * 1e8, 0.5);
        CHECK_NEAR((double)rows[k].high, f->high[i] * 1e8, 0.5);
        CHECK_NEAR((double)rows[k].low, f->low[i] * 1e8, 0.5);
        CHECK_NEAR((double)rows[k].close, f->close[i] * 1e8, 0.5);
    }
}

static void test_play(void)
{
    char *csv = make_csv(BARS, GAP_AT);
    const char *path = scratch_write("BTCUSDT_5m.csv", csv);
    struct bars_file f;
    struct replay_source *source = NULL;
    struct made_check check;
    struct tape *tape = calloc(1, sizeof(*tape));
    replay_tape_init(tape);
    CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
    CHECK_INT(bars_create(tape, &path, 1, -1, f.open_time_ns[HISTORY], INT64_MAX, &source, error), 0);
    CHECK_INT(tape->now_ns, f.open_time_ns[HISTORY]);
    CHECK_INT(tape->symbols[0].price_digits, 2);
    check_rows(tape, &f, HISTORY);
    size_t gaps;
    int64_t missing;
    bars_gaps(source, &gaps, &missing);
    CHECK_INT(gaps, 1);
    CHECK_INT(missing, 3);

    made_check_init(&check, source, "BTCUSDT", STREAM_MS);
    int64_t before = INT64_MIN;
    for (int64_t due; (due = source->ops->due(source)) != INT64_MAX; before = due) {
        CHECK(due >= before);
        CHECK_INT(source->ops->step(source), 0);
    }
    CHECK(!tape->failed);
    made_check_book(&check);
    check_rows(tape, &f, f.n);
    printf("%d bars: %" PRIu64 " trades, %" PRIu64 " quotes, %" PRIu64 " differences, %" PRIu64
           " klines closed\n",
           BARS, check.trades, check.quotes, check.diffs, check.closed);
    CHECK(check.trades >= (BARS - HISTORY) * 6 / 7 * 100 && check.diffs > 0);
    /* In the gap there is no kline of any interval. */
    struct candle candle;
    CHECK(!replay_candles_get(&tape->symbols[0].candles, 3, f.open_time_ns[GAP_AT] - 2 * f.interval_ns,
                              &candle));
    CHECK(!replay_candles_get(&tape->symbols[0].candles, 0, f.open_time_ns[GAP_AT] - 1000000000, &candle));
    made_check_finish(&check);
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    bars_file_finish(&f);
    free(csv);
}

/* Bars of any pattern of quiet ones and gaps: the venue has the file's, no more and no fewer, as history and
 * once they were played. A quiet one is flat. */
static void test_quiet(void)
{
    static const char *const names[] = {"1m", "5m", "1h"};
    static struct candle rows[1000];
    for (int round = 0; round < 120; round++) {
        struct chance chance = {4000 + (uint64_t)round};
        const int interval = replay_candle_interval_find(names[round % 3], 2);
        const int64_t length_s = replay_candle_interval_ns(interval) / 1000000000;
        char text[8192];
        const int bars = (int)chance_range(&chance, 2, 40);
        int64_t at = 1735689600;
        size_t len = (size_t)sprintf(text, "timestamp,open,high,low,close,volume\n");
        for (int i = 0; i < bars; i++, at += length_s) {
            bool quiet = round == 0 ? i < bars / 2 : chance_below(&chance, 2) == 0;
            if (i == bars / 2 || (i > 1 && chance_below(&chance, 5) == 0))
                at += chance_range(&chance, 1, 10) * length_s;
            len += (size_t)sprintf(text + len, "%" PRId64 ",60000.00,60000.00,60000.00,60000.00,%s\n", at,
                                   quiet ? "0.00000" : "1.00000");
        }
        const char *path = scratch_write("BTCUSDT.csv", text);
        struct bars_file f;
        struct replay_source *source = NULL;
        struct tape *tape = calloc(1, sizeof(*tape));
        replay_tape_init(tape);
        CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
        size_t n = round % 5 ? (size_t)chance_range(&chance, 0, bars - 1) : (size_t)bars - 1;
        CHECK_INT(bars_create(tape, &path, 1, interval, f.open_time_ns[n], INT64_MAX, &source, error), 0);
        for (int played = 0; played < 2; played++, n = f.n) {
            while (played && source->ops->due(source) != INT64_MAX)
                CHECK_INT(source->ops->step(source), 0);
            size_t got = replay_candles_query(&tape->symbols[0].candles, interval, -1, -1, 1000, rows);
            CHECK_INT(got, n);
            for (size_t i = 0; i < n && i < got; i++) {
                CHECK_INT(rows[i].open_ns, f.open_time_ns[i]);
                CHECK_INT(rows[i].trades > 0, f.volume[i] > 0);
                CHECK(rows[i].open == 6000000000000 && rows[i].high == 6000000000000 &&
                      rows[i].low == 6000000000000 && rows[i].close == 6000000000000);
            }
        }
        CHECK(!tape->failed);
        source_destroy(source);
        replay_tape_finish(tape);
        free(tape);
        bars_file_finish(&f);
    }
}

/* More bars than the minutes that are kept: the first ones are served too, and none of another interval is a
 * part. */
static void test_long(void)
{
    char *csv = make_csv(LONG, -1);
    const char *path = scratch_write("ETHUSDT_5m.csv", csv);
    struct bars_file f;
    struct replay_source *source = NULL;
    struct tape *tape = calloc(1, sizeof(*tape));
    struct candle first;
    replay_tape_init(tape);
    CHECK_INT(bars_file_read(path, NULL, &f, error), 0);
    CHECK_INT(bars_create(tape, &path, 1, -1, f.open_time_ns[LONG - 1], INT64_MAX, &source, error), 0);
    check_rows(tape, &f, 1000);
    CHECK_INT(tape->symbols[0].candles.tiers[1].cut, true);
    CHECK_INT(replay_candles_query(&tape->symbols[0].candles, replay_candle_interval_find("15m", 3), 0, -1, 1,
                                   &first),
              1);
    CHECK(first.open_ns >= tape->symbols[0].candles.tiers[1].bars[0].open_ns);
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    bars_file_finish(&f);
    free(csv);
}

static void test_refused(void)
{
    static const struct {
        const char *rows, *what;
        int interval;
    } cases[] = {
        {"1735689600,2,3,2.5,2.7,1\n1735689660,2,3,2.5,2.7,1\n", "open is outside low to high", -1},
        {"1735689600,0,3,0,2.7,1\n1735689660,2,3,2,2.7,1\n", "price is not above 0", -1},
        {"1735689600,5e10,5e10,5e10,5e10,1\n1735689660,2,3,2,2.7,1\n", "bar cannot be traded", -1},
        {"1735689600,2,3,1,2,1\n", "no interval", -1},
        {"1735689600,2,3,1,2,1\n1735689677,2,3,1,2,1\n", "no interval", -1},
        {"1735689601,2,3,1,2,1\n1735689661,2,3,1,2,1\n", "bar is off the interval", -1},
        {"1735689600,2,3,1,2,1\n1735689660,2,3,1,2,1\n", "bar is off the interval", 3},
        {"1735689600,2,1,1.5,2,1\n", "high is below low", -1},
        {"", "no bars", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[512];
        struct replay_source *source = NULL;
        struct tape *tape = calloc(1, sizeof(*tape));
        replay_tape_init(tape);
        snprintf(text, sizeof(text), "timestamp,open,high,low,close,volume\n%s", cases[i].rows);
        const char *path = scratch_write("BAD.csv", text);
        CHECK_INT(bars_create(tape, &path, 1, cases[i].interval, INT64_MIN, INT64_MAX, &source, error),
                  strstr(cases[i].what, "is outside low") ? -ERANGE : -EINVAL);
        bool named = strncmp(error, cases[i].what, strlen(cases[i].what)) == 0 && strstr(error, "BAD.csv");
        CHECK(named);
        if (!named)
            fprintf(stderr, "case %zu: %s\n", i, error);
        CHECK(source == NULL);
        replay_tape_finish(tape);
        free(tape);
    }
}

int main(void)
{
    test_trades();
    test_play();
    test_quiet();
    test_long();
    test_refused();
    return check_done("bars");
}
