/* Recordings into a journal and back: the same frames in the same order, byte for byte; and a journal plays
 * as the text did. */
#include "exchange/replay/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/journal/journal.h"
#include "exchange/replay/binance/limits.h"
#include "exchange/replay/binance/protocol.h"
#include "exchange/replay/lines.h"
#include "exchange/replay/recording.h"
#include "tests/replay/received.h"
#include "tests/scratch.h"

static char error[CONVERT_ERROR_MAX];

/* Both hold the same frames and replies in the same order, at the same times.
 */
static void check_same(const char *a, const char *b, uint64_t expected)
{
    struct lines x = {0}, y = {0};
    struct frame_line p, q;
    uint64_t n = 0;
    int rx, ry;
    CHECK_INT(replay_lines_open(&x, a), 0);
    CHECK_INT(replay_lines_open(&y, b), 0);
    while ((rx = replay_lines_next(&x, &p)) + (ry = replay_lines_next(&y, &q)) == 2) {
        bool same = p.ts_ns == q.ts_ns && p.frame.len == q.frame.len &&
                    memcmp(p.frame.data, q.frame.data, p.frame.len) == 0;
        CHECK(same);
        if (!same)
            break;
        n++;
    }
    CHECK_INT(rx, 0);
    CHECK_INT(ry, 0);
    CHECK_INT(n, expected);
    replay_lines_finish(&x);
    replay_lines_finish(&y);
}

static int export_to(const char *journal, const char *file, struct convert_counts *ret)
{
    int fd = open(scratch_path(file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return replay_convert_export(scratch_path(journal), fd, file, ret, error);
}

static void test_file(const char *const *paths, size_t n_paths)
{
    struct convert_counts in = {0}, out = {0};
    CHECK_INT(replay_convert_import(paths, n_paths, scratch_path("journal"), &in, error), 0);
    CHECK_INT(in.late, 0);
    CHECK_INT(export_to("journal", "out.gz", &out), 0);
    CHECK(in.frames == out.frames && in.replies == out.replies);
    check_same(scratch_path("journal"), scratch_path("out.gz"), in.frames + in.replies);
    if (n_paths == 1)
        check_same(paths[0], scratch_path("out.gz"), in.frames + in.replies);
    CHECK_INT(replay_convert_import(paths, n_paths, scratch_path("journal"), &in, error), -EEXIST);
    struct journal_summary sum;
    CHECK_INT(journal_verify(scratch_path("journal"), &sum, error, sizeof(error)), 0);
    CHECK(sum.frames == in.frames && sum.replies == in.replies && sum.events == 0);
    printf("%s: %llu frames, %llu replies: %llu bytes of them, %llu in the journal\n", paths[0],
           (unsigned long long)in.frames, (unsigned long long)in.replies, (unsigned long long)sum.raw_bytes,
           (unsigned long long)sum.file_bytes);
    unlink(scratch_path("out.gz"));
}

static char *play(const char *const *paths, size_t n, const char *const *names, size_t n_names)
{
    struct received h = {0};
    struct replay_source *source = NULL;
    struct tape *tape = calloc(1, sizeof(*tape));
    replay_tape_init(tape);
    CHECK_INT(replay_recording_create(tape, paths, n, INT64_MIN, INT64_MAX, &source, error), 0);
    if (!source) {
        fprintf(stderr, "%s\n", error);
        exit(EXIT_FAILURE);
    }
    listen_to(tape, &h, names, n_names);
    play_all(source);
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    return h.text;
}

/* Everything that a client can hear of the journal is what it hears of the text. */
static void test_plays(const char *const *paths, size_t n, const char *const *names, size_t n_names)
{
    struct convert_counts in;
    const char *journal = scratch_path("journal");
    CHECK_INT(replay_convert_import(paths, n, journal, &in, error), 0);
    char *text = play(paths, n, names, n_names), *same = play(&journal, 1, names, n_names);
    CHECK(text && *text);
    CHECK(strcmp(text, same) == 0);
    free(text);
    free(same);
}

static const char recorded[] =
    "https://api.binance.com/api/v3/exchangeInfo?symbols=%5B%22BTCUSDT%22%5D -> 1723161290.000000001: "
    "{\"timezone\":\"UTC\",\"symbols\":[{\"symbol\":\"ETHUSDT\",\"status\":\"BREAK\"},{\"symbol\":"
    "\"BTCUSDT\",\"status\":"
    "\"TRADING\",\"filters\":[]}]}\n"
    "https://api.binance.com/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=2 -> 1723161291.5: "
    "[[1723161120000,\"100.0\",\"103.0\",\"99.0\",\"101.5\",\"7.5\",1723161179999,\"760.1\",42,\"3.0\",\"303."
    "0\","
    "\"0\"],"
    "[1723161180000,\"101.5\",\"102.0\",\"101.0\",\"101.0\",\"1.0\",1723161239999,\"101.0\",3,\"0.0\",\"0."
    "0\",\"0\"]"
    ",[1723161240000,\"101.0\",\"101.0\",\"101.0\",\"101.0\",\"1.0\",1723161299999,\"101.0\",1,\"0.0\",\"0."
    "0\",\"0\"]"
    "]\n"
    "https://api.binance.com/api/v3/klines?symbol=BTCUSDT&interval=5m&limit=1 -> 1723161291.6: "
    "[[1723160700000,\"90.0\",\"95.0\",\"80.0\",\"91.5\",\"7.5\",1723160999999,\"760.1\",77,\"3.0\",\"303."
    "0\",\"0\"]]\n"
    "https://api.binance.com/api/v3/depth?symbol=BTCUSDT&limit=5000 -> 1723161292.0: "
    "{\"lastUpdateId\":6,\"bids\":[[\"100.0\",\"1.0\"]],\"asks\":[[\"101.0\",\"3.0\"]]}\n"
    "1723161293000000000 "
    "{\"stream\":\"btcusdt@depth@100ms\",\"data\":{\"e\":\"depthUpdate\",\"E\":1723161293000,\"s\":"
    "\"BTCUSDT\",\"U\":7,"
    "\"u\":8,\"b\":[[\"100.5\",\"2.0\"]],\"a\":[]}}\n"
    "1723161299100000000 "
    "{\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\",\"E\":1723161299101,\"s\":\"BTCUSDT\",\"t\":10,"
    "\"p\":\"100."
    "5\",\"q\":\"0.1\",\"T\":1723161299100,\"m\":true,\"M\":true}}\n"
    "1723161300300000000 "
    "{\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\",\"E\":1723161300301,\"s\":\"BTCUSDT\",\"t\":11,"
    "\"p\":\"100."
    "6\",\"q\":\"0.1\",\"T\":1723161300300,\"m\":true,\"M\":true}}\n"
    /* the venue's own bar of the minute of which only a part was recorded */
    "https://api.binance.com/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=1 -> 1723161301.000000000: "
    "[[1723161240000,\"101.0\",\"104.0\",\"100.0\",\"100.5\",\"9.0\",1723161299999,\"909.0\",50,\"4.0\","
    "\"404.0\",\"0\"]"
    "]\n";

/* Recorded replies are what REST shows, through a journal too. */
static void test_replies(void)
{
    const char *text = scratch_write("recorded", recorded), *journal = scratch_path("journal");
    struct convert_counts in, out;
    CHECK_INT(replay_convert_import(&text, 1, journal, &in, error), 0);
    CHECK(in.frames == 3 && in.replies == 5);
    CHECK_INT(export_to("journal", "out", &out), 0);
    check_same(text, scratch_path("out"), 8);
    unlink(scratch_path("out"));
    for (int i = 0; i < 2; i++) {
        struct replay_source *source = NULL;
        struct tape *tape = calloc(1, sizeof(*tape));
        const char *path = i == 0 ? text : journal;
        replay_tape_init(tape);
        CHECK_INT(replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error), 0);
        CHECK_INT(tape->n_symbols, 1);
        struct candle rows[10];
        size_t n = replay_candles_query(&tape->symbols[0].candles, replay_candle_interval_find("1m", 2), -1,
                                        -1, 10, rows);
        CHECK_INT(n, 2); /* history, from the start; the forming bar does not count */
        CHECK(n == 2 && rows[0].close == 10150000000 && rows[0].trades == 42);
        n = replay_candles_query(&tape->symbols[0].candles, replay_candle_interval_find("5m", 2), -1, -1, 10,
                                 rows);
        CHECK_INT(n, 2); /* as it was recorded; then one put together from minutes */
        CHECK(n == 2 && rows[0].low == 8000000000 && rows[0].trades == 77 && rows[1].trades == 45);
        CHECK_INT(replay_candles_query(&tape->symbols[0].candles, replay_candle_interval_find("5m", 2), -1,
                                       -1, 1, rows),
                  1);
        CHECK_INT(rows[0].trades, 45);
        struct text info = {0};
        replay_exchange_info_write(&info, tape, (bool[TAPE_SYMBOLS_MAX]){true}, &(struct limits){0});
        text_bytes(&info, "", 1);
        CHECK(strstr(info.data, "[{\"symbol\":\"BTCUSDT\",\"status\":\"TRADING\",\"filters\":[]}]") != NULL);
        text_finish(&info);
        play_all(source);
        n = replay_candles_query(&tape->symbols[0].candles, replay_candle_interval_find("1m", 2), -1, -1, 10,
                                 rows);
        CHECK_INT(n, 4);
        CHECK(n == 4 && rows[2].trades == 50 && rows[2].high == 10400000000); /* as the venue said later */
        source_destroy(source);
        replay_tape_finish(tape);
        free(tape);
    }
    scratch_remove(scratch_path("journal"));
    unlink(text);
}

static void test_refused(void)
{
    struct convert_counts counts;
    const char *none = scratch_path("none"), *bad = scratch_write("bad", "x\n"),
               *empty = scratch_write("empty", "");
    CHECK_INT(replay_convert_import(&none, 1, scratch_path("journal"), &counts, error), -ENOENT);
    CHECK_INT(replay_convert_import(&bad, 1, scratch_path("journal"), &counts, error), -EINVAL);
    CHECK(strstr(error, "bad:1: ") != NULL);
    scratch_remove(scratch_path("journal"));
    CHECK_INT(replay_convert_import(&empty, 1, scratch_path("journal"), &counts, error), -EINVAL);
    CHECK(strstr(error, "nothing to keep") != NULL);
    scratch_remove(scratch_path("journal"));
    CHECK_INT(export_to("bad", "out", &counts), -EINVAL);
    unlink(scratch_path("out"));
    CHECK(strstr(error, "no journal") != NULL);
    const char *one = scratch_write("one", "5 {\"a\":1}\n3 {\"b\":2}\n");
    CHECK_INT(replay_convert_import(&one, 1, scratch_path("journal"), &counts, error), 0);
    CHECK_INT(counts.late, 1);
    scratch_remove(scratch_path("journal"));
    unlink(bad);
    unlink(empty);
    unlink(one);
}

/* The shared recordings, where they are. */
static void test_shared(void)
{
    static const char *const spot[] = {"btcusdt@depth@100ms", "btcusdt@bookTicker", "btcusdt@trade",
                                       "btcusdt@kline_1s", "btcusdt@aggTrade"};
    static const char *const sync[] = {"nknusdt@depth@100ms", "blzeth@bookTicker", "runeeur@kline_1m",
                                       "lrcbtc@aggTrade"};
    char paths[4][512];
    static const char *const names[] = {"btcusdt_2024-08-08.jsonl.gz", "ethusdt_2024-08-08.jsonl.gz",
                                        "book_sync_2021-10.ws.gz", "book_sync_2021-10.http.gz"};
    const char *root = getenv("PAPERTAPE_SHARED");
    struct stat st;
    for (int i = 0; i < 4; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s/data/recorded/binance/%s", root ? root : SHARED_DEFAULT,
                 names[i]);
        if (stat(paths[i], &st) < 0) {
            puts("convert: the shared recordings are absent: left out");
            return;
        }
    }
    for (int i = 0; i < 4; i++) {
        const char *path = paths[i];
        test_file(&path, 1);
        scratch_remove(scratch_path("journal"));
    }
    const char *both[] = {paths[2], paths[3]}, *btc[] = {paths[0]};
    test_file(both, 2);
    scratch_remove(scratch_path("journal"));
    test_plays(both, 2, sync, sizeof(sync) / sizeof(*sync));
    scratch_remove(scratch_path("journal"));
    test_plays(btc, 1, spot, sizeof(spot) / sizeof(*spot));
    scratch_remove(scratch_path("journal"));
}

int main(void)
{
    test_replies();
    test_refused();
    test_shared();
    CHECK_INT(rmdir(scratch_root()), 0); /* nothing was left beside them */
    return check_done("convert");
}
