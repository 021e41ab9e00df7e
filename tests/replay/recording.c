/* Recordings: what they may hold, what is made of it, and the errors for bad ones. */
#include "exchange/replay/recording.h"

#include <errno.h>
#include <zlib.h>

#include "tests/replay/received.h"
#include "tests/scratch.h"

static char error[SOURCE_ERROR_MAX];

static const char *write_file(const char *name, const char *text, const char *mode)
{
    const char *path = scratch_path(name);
    gzFile f = gzopen(path, mode); /* "wT": plain */
    if (!f || gzputs(f, text) < 0 || gzclose(f) != Z_OK) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return path;
}

#define TRADE(ns, event, id, price, qty, time, maker) \
    ns " {\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\",\"E\":" event \
       ",\"s\":\"BTCUSDT\",\"t\":" id ",\"p\":\"" price "\",\"q\":\"" qty "\",\"T\":" time ",\"m\":" maker \
       ",\"M\":true}}\n"

static const char small[] =
    "1723161299000000000 "
    "{\"stream\":\"btcusdt@depth@100ms\",\"data\":{\"e\":\"depthUpdate\",\"E\":1723161299000,\"s\":"
    "\"BTCUSDT\",\"U\":5,\"u\":6,\"b\":[[\"100.00000000\",\"1.00000000\"]],\"a\":[]}}\n"
    "1723161299000000001 "
    "{\"lastUpdateId\":6,\"bids\":[[\"100.00000000\",\"1.00000000\"],[\"99.50000000\",\"2.00000000\"]],"
    "\"asks\":[[\"101.00000000\",\"3.00000000\"]]}\n" TRADE(
        "1723161299100000000", "1723161299101", "10", "100.50000000", "0.10000000", "1723161299100", "true")
        TRADE("1723161299100000001", "1723161299101", "11", "100.50000000", "0.20000000", "1723161299100",
              "true") TRADE("1723161299100000002", "1723161299101", "12", "100.40000000", "0.30000000",
                            "1723161299100", "true")
            TRADE("1723161300200000000", "1723161300201", "13", "100.60000000", "0.40000000", "1723161300200",
                  "false") "1723161302500000000 "
                           "{\"stream\":\"btcusdt@depth@100ms\",\"data\":{\"e\":\"depthUpdate\",\"E\":"
                           "1723161302500,\"s\":"
                           "\"BTCUSDT\",\"U\":7,\"u\":9,\"b\":[[\"100.00000000\",\"0.00000000\"]],\"a\":[["
                           "\"100.75000000\",\"5.00000000\"]]}}\n";

static void test_derived(void)
{
    static const char *const names[] = {"btcusdt@trade", "btcusdt@aggTrade", "btcusdt@kline_1s",
                                        "btcusdt@kline_1m", "btcusdt@depth@100ms"};
    static const char *const expected[] = {
        "btcusdt@trade "
        "{\"e\":\"trade\",\"E\":1723161299101,\"s\":\"BTCUSDT\",\"t\":10,\"p\":\"100.50000000\",\"q\":\"0."
        "10000000\","
        "\"T\":1723161299100,\"m\":true,\"M\":true}\n",
        "btcusdt@aggTrade "
        "{\"e\":\"aggTrade\",\"E\":1723161299101,\"s\":\"BTCUSDT\",\"a\":10,\"p\":\"100.50000000\",\"q\":"
        "\"0.30000000\",\"f\":10,\"l\":11,\"T\":1723161299100,\"m\":true,\"M\":true}\n",
        "btcusdt@aggTrade "
        "{\"e\":\"aggTrade\",\"E\":1723161299101,\"s\":\"BTCUSDT\",\"a\":11,\"p\":\"100.40000000\",\"q\":"
        "\"0.30000000\",\"f\":12,\"l\":12,\"T\":1723161299100,\"m\":true,\"M\":true}\n",
        /* The first trade past the close closes both klines, which go out before it. */
        "btcusdt@kline_1m "
        "{\"e\":\"kline\",\"E\":1723161300201,\"s\":\"BTCUSDT\",\"k\":{\"t\":1723161240000,\"T\":"
        "1723161299999,"
        "\"s\":\"BTCUSDT\",\"i\":\"1m\",\"f\":10,\"L\":12,\"o\":\"100.50000000\",\"c\":\"100.40000000\","
        "\"h\":\"100.50000000\",\"l\":"
        "\"100.40000000\",\"v\":\"0.60000000\",\"n\":3,\"x\":true,\"q\":\"60.27000000\",\"V\":\"0.00000000\","
        "\"Q\":\"0.00000000\","
        "\"B\":\"0\"}}\n",
        "\"t\":13,\"p\":\"100.60000000\"",
        "btcusdt@aggTrade {\"e\":\"aggTrade\",\"E\":1723161300201,\"s\":\"BTCUSDT\",\"a\":12,",
        /* A second without trades, closed by the time of another message. */
        "\"t\":1723161301000,\"T\":1723161301999,\"s\":\"BTCUSDT\",\"i\":\"1s\",\"f\":-1,\"L\":-1,\"o\":"
        "\"100.60000000\",\"c\":"
        "\"100.60000000\",\"h\":\"100.60000000\",\"l\":\"100.60000000\",\"v\":\"0.00000000\",\"n\":0,\"x\":"
        "true,",
        "btcusdt@depth@100ms "
        "{\"e\":\"depthUpdate\",\"E\":1723161302500,\"s\":\"BTCUSDT\",\"U\":7,\"u\":9,\"b\":[[\"100."
        "00000000\","
        "\"0.00000000\"]],\"a\":[[\"100.75000000\",\"5.00000000\"]]}\n",
    };
    for (int packed = 0; packed < 2; packed++) {
        struct received h = {0};
        struct replay_source *source = NULL;
        struct source_book book;
        struct tape *tape = calloc(1, sizeof(*tape));
        const char *path = write_file("small", small, packed ? "wb" : "wbT");
        replay_tape_init(tape);
        CHECK_INT(replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error), 0);
        CHECK_INT(tape->n_symbols, 1);
        CHECK_INT(tape->now_ns, 1723161299000000000);
        CHECK(source->ops->book(source, 0, &book)); /* the snapshot of later serves from the start */
        CHECK_INT(book.last_id, 6);
        listen_to(tape, &h, names, sizeof(names) / sizeof(*names));
        play_all(source);
        char *at = h.text;
        for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
            char *found = strstr(at, expected[i]);
            if (!found)
                fprintf(stderr, "not received, or not in its place: %s\n", expected[i]);
            CHECK(found != NULL);
            at = found ? found : at;
        }
        CHECK(source->ops->book(source, 0, &book));
        CHECK_INT(book.last_id, 9);
        CHECK(replay_ladder_best(book.bids, 0)->price == 9950000000 && book.bids->n == 1);
        CHECK(replay_ladder_best(book.asks, 0)->price == 10075000000 && book.asks->n == 2);
        source_destroy(source);
        replay_tape_finish(tape);
        free(tape);
        free(h.text);
    }
}

/* Frames of Binance's other venues, and what else may stand between: they go out as they stand, and the book
 * is followed. */
static const char others[] =
    "wss://fstream.binance.com/stream?streams=btcusdt_230929@depth@100ms <-> 1680000000.0\n"
    "https://fapi.binance.com/fapi/v1/depth?symbol=BTCUSDT_230929&limit=1000 -> 1680000000.1: "
    "{\"lastUpdateId\":100,\"E\":1680000000100,\"T\":1680000000099,\"bids\":[[\"28000.1\",\"1.500\"],["
    "\"27999\",\"2\"]],"
    "\"asks\":[[\"28000.2\",\"0.001\"]]}\n"
    "https://fapi.binance.com/fapi/v1/openInterest?symbol=BTCUSDT_230929 -> 1680000000.15: "
    "{\"symbol\":\"BTCUSDT_230929\",\"openInterest\":\"1\",\"time\":1680000000000}\n"
    "1680000000.2: {\"result\":null,\"id\":1}\n"
    "1680000000.3: "
    "{\"stream\":\"btcusdt_230929@depth@100ms\",\"data\":{\"e\":\"depthUpdate\",\"E\":1680000000301,"
    "\"T\":1680000000300,\"s\":\"BTCUSDT_230929\",\"ps\":\"BTCUSDT\",\"U\":90,\"u\":105,\"pu\":89,\"b\":[["
    "\"28000.1\",\"0\"]],"
    "\"a\":[]}}\n"
    "1680000000.4: "
    "{\"stream\":\"btcusdt_230929@depth@100ms\",\"data\":{\"e\":\"depthUpdate\",\"E\":1680000000401,"
    "\"T\":1680000000400,\"s\":\"BTCUSDT_230929\",\"U\":110,\"u\":120,\"pu\":105,\"b\":[],\"a\":[[\"28000."
    "3\",\"7\"]]}}\n"
    "1680000000.5: "
    "{\"e\":\"bookTicker\",\"u\":121,\"s\":\"BTCUSDT_230929\",\"b\":\"27999\",\"B\":\"2\",\"a\":\"28000.2\","
    "\"A\":\"0.001\",\"T\":1680000000499,\"E\":1680000000500}\n"
    "1680000000.6: "
    "{\"e\":\"aggTrade\",\"E\":1680000000601,\"a\":7,\"s\":\"BTCUSDT_230929\",\"p\":\"28000.2\",\"q\":\"0."
    "001\","
    "\"f\":1,\"l\":1,\"T\":1680000000600,\"m\":false}\n"
    "1680000000.7: {\"e\":\"markPriceUpdate\",\"E\":1680000000700,\"s\":\"BTCUSDT_230929\",\"p\":\"28001\"}\n"
    "1680000000.8: {\"e\":\"serverShutdown\",\"E\":1680000000800}\n"
    "1680000000.9: "
    "{\"e\":\"trade\",\"E\":1680000000901234,\"s\":\"BTCUSD\",\"t\":5,\"p\":\"28001.1\",\"q\":\"0.5\",\"b\":"
    "8,\"a\":9,"
    "\"T\":1680000000900123,\"m\":true,\"M\":true}\n";

static void test_others(void)
{
    static const char *const names[] = {"btcusdt_230929@depth@100ms",
                                        "btcusdt_230929@bookTicker",
                                        "btcusdt_230929@aggTrade",
                                        "btcusdt_230929@markPriceUpdate",
                                        "btcusdt_230929@kline_1m",
                                        "btcusd@trade",
                                        "btcusd@aggTrade"};
    struct received h = {0};
    struct replay_source *source = NULL;
    struct source_book book;
    struct tape *tape = calloc(1, sizeof(*tape));
    const char *path = write_file("others", others, "wbT");
    replay_tape_init(tape);
    int rc = replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error);
    if (rc < 0)
        fprintf(stderr, "%s\n", error);
    CHECK_INT(rc, 0);
    CHECK_INT(tape->n_symbols, 2);
    listen_to(tape, &h, names, sizeof(names) / sizeof(*names));
    play_all(source);
    /* Each frame as it stands, but times in the unit that was asked for. */
    for (const char *line = others, *next; *line; line = next) {
        next = strchr(line, '\n') + 1;
        const char *data = strstr(line, "\"data\":"), *event = strstr(line, ": {\"e\":");
        if ((data && data < next) || (event && event < next && !strstr(event, "serverShutdown"))) {
            const char *from = data && data < next ? data + 7 : event + 2;
            char want[512];
            snprintf(want, sizeof(want), "%.*s", (int)(next - from - 1 - (data && data < next)), from);
            if (!strstr(want, "1680000000901234"))
                CHECK(strstr(h.text, want) != NULL);
        }
    }
    CHECK(strstr(h.text, "btcusd@trade {\"e\":\"trade\",\"E\":1680000000901,\"s\":\"BTCUSD\",\"t\":5,") !=
          NULL);
    CHECK(strstr(h.text, "\"T\":1680000000900,\"m\":true") != NULL);
    CHECK(strstr(h.text, "serverShutdown") == NULL);
    CHECK(strstr(h.text, "\"f\":5,\"l\":5,") != NULL);        /* the trade's id, not an order's */
    CHECK(strstr(h.text, "btcusdt_230929@kline_1m") != NULL); /* made of the aggregates */
    int symbol = replay_tape_symbol_find(tape, "BTCUSDT_230929", 14);
    CHECK(symbol >= 0 && source->ops->book(source, symbol, &book));
    CHECK_INT(book.last_id, 120);
    CHECK(book.bids->n == 1 && replay_ladder_best(book.bids, 0)->price == 2799900000000);
    CHECK(book.asks->n == 2 && replay_ladder_best(book.asks, 0)->qty == 100000);
    CHECK_INT(tape->now_ns, 1680000000901234000);
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    free(h.text);
}

/* Differences come at other paces on futures. */
static void test_paces(void)
{
    static const char *const paces[] = {"0ms", "250ms", "500ms"};
    for (size_t i = 0; i < sizeof(paces) / sizeof(*paces); i++) {
        char text[1024], name[64];
        const char *names[] = {name};
        struct received h = {0};
        struct replay_source *source = NULL;
        struct source_book book;
        struct tape *tape = calloc(1, sizeof(*tape));
        snprintf(name, sizeof(name), "btcusdt@depth@%s", paces[i]);
        snprintf(text, sizeof(text),
                 "wss://fstream.binance.com/stream?streams=%s <-> 1680000000.0\n"
                 "https://fapi.binance.com/fapi/v1/depth?symbol=BTCUSDT&limit=1000 -> 1680000000.1: "
                 "{\"lastUpdateId\":100,\"bids\":[[\"2\",\"1\"]],\"asks\":[[\"4\",\"1\"]]}\n"
                 "1680000000.3: {\"stream\":\"%s\",\"data\":{\"e\":\"depthUpdate\",\"E\":1680000000301,"
                 "\"s\":\"BTCUSDT\",\"U\":90,\"u\":105,\"pu\":89,\"b\":[[\"3\",\"5\"]],\"a\":[]}}\n",
                 name, name);
        const char *path = write_file(paces[i], text, "wbT");
        replay_tape_init(tape);
        CHECK_INT(replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error), 0);
        listen_to(tape, &h, names, 1);
        play_all(source);
        CHECK_INT(h.messages, 1);
        int symbol = replay_tape_symbol_find(tape, "BTCUSDT", 7);
        CHECK(symbol >= 0 && source->ops->book(source, symbol, &book));
        CHECK_INT(book.last_id, 105);
        CHECK(book.bids->n == 2 && replay_ladder_best(book.bids, 0)->price == 300000000);
        source_destroy(source);
        replay_tape_finish(tape);
        free(tape);
        free(h.text);
    }
}

/* A bare reply of exchangeInfo beside a recording says what its symbols are. */
static void test_info(void)
{
    static const char info[] =
        "{\"timezone\":\"UTC\",\"symbols\":[{\"symbol\":\"ETHBTC\",\"status\":\"TRADING\"},"
        "{\"symbol\":\"BTCUSDT\",\"status\":\"TRADING\",\"filters\":[7]}]}";
    struct replay_source *source = NULL;
    struct tape *tape = calloc(1, sizeof(*tape));
    const char *paths[] = {write_file("small", small, "wbT"), write_file("info", info, "wb")};
    replay_tape_init(tape);
    CHECK_INT(replay_recording_create(tape, paths, 2, INT64_MIN, INT64_MAX, &source, error), 0);
    CHECK_INT(tape->n_symbols, 1);
    CHECK_STR(tape->symbols[0].info, "{\"symbol\":\"BTCUSDT\",\"status\":\"TRADING\",\"filters\":[7]}");
    CHECK_INT(source->ops->due(source), 1723161299000000000); /* it takes no time */
    CHECK_INT(tape->now_ns, 1723161299000000000);
    play_all(source);
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
}

/* A difference U..u at second `s`, and a snapshot; a book of one bid and one ask around 100 + at. */
static void put_change(FILE *f, int s, const char *ids, int bid, int bid_qty, int ask, int ask_qty)
{
    fprintf(f,
            "17231613%02d000000000 {\"stream\":\"btcusdt@depth@100ms\",\"data\":{\"e\":\"depthUpdate\","
            "\"E\":17231613%02d000,\"s\":\"BTCUSDT\",%s,\"b\":[[\"%d\",\"%d\"]],\"a\":[[\"%d\",\"%d\"]]}}\n",
            s, s, ids, bid, bid_qty, ask, ask_qty);
}

static void put_snapshot(FILE *f, int s, int last_id, int bid, int ask)
{
    fprintf(
        f,
        "17231613%02d500000000 {\"lastUpdateId\":%d,\"bids\":[[\"%d\",\"1\"]],\"asks\":[[\"%d\",\"1\"]]}\n",
        s, last_id, bid, ask);
}

/* Behind a hole in the differences there is no book until a snapshot that they join on to, of whatever id. */
static void test_hole(void)
{
    static const struct {
        const char *ids[4]; /* of the differences at 0, 1, 11 and 13 s */
        int snapshot;       /* at 12 s */
        int known;          /* then */
        int best;           /* bid at the end; 0: no book */
        int last_id;
    } cases[] = {
        {{"\"U\":5,\"u\":6", "\"U\":7,\"u\":9", "\"U\":200,\"u\":210", "\"U\":211,\"u\":220"},
         205,
         1,
         122,
         220},
        /* it says less than the differences since: these are applied again */
        {{"\"U\":5,\"u\":6", "\"U\":7,\"u\":9", "\"U\":200,\"u\":210", "\"U\":211,\"u\":220"},
         199,
         1,
         122,
         220},
        /* older than the first difference behind the hole: no book can be made of it */
        {{"\"U\":5,\"u\":6", "\"U\":7,\"u\":9", "\"U\":200,\"u\":210", "\"U\":211,\"u\":220"}, 198, 0, 0, 0},
        {{"\"U\":5,\"u\":6", "\"U\":7,\"u\":9", "\"U\":200,\"u\":210", "\"U\":211,\"u\":220"}, 9, 0, 0, 0},
        /* newer than all: what it holds is not applied again */
        {{"\"U\":5,\"u\":6", "\"U\":7,\"u\":9", "\"U\":200,\"u\":210", "\"U\":211,\"u\":220"},
         230,
         1,
         120,
         230},
        /* of futures: U leaves numbers out, pu shows a hole */
        {{"\"U\":5,\"u\":6,\"pu\":4", "\"U\":8,\"u\":9,\"pu\":6", "\"U\":12,\"u\":210,\"pu\":9",
          "\"U\":212,\"u\":220,\"pu\":210"},
         205,
         1,
         122,
         220},
        {{"\"U\":5,\"u\":6,\"pu\":4", "\"U\":7,\"u\":9,\"pu\":6", "\"U\":200,\"u\":210,\"pu\":190",
          "\"U\":215,\"u\":220,\"pu\":210"},
         205,
         1,
         122,
         220},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct replay_source *source = NULL;
        struct source_book book;
        struct tape *tape = calloc(1, sizeof(*tape));
        const char *path = scratch_path("hole");
        FILE *f = fopen(path, "w");
        bool whole = i == 5; /* nothing is missing */
        CHECK(f != NULL);
        put_change(f, 0, cases[i].ids[0], 100, 1, 101, 1);
        put_snapshot(f, 0, 6, 100, 101);
        put_change(f, 1, cases[i].ids[1], 99, 2, 102, 2);
        put_change(f, 11, cases[i].ids[2], 121, 0, 119,
                   0); /* prices have moved far: 100/101 went in the hole */
        put_snapshot(f, 12, cases[i].snapshot, 120, 123);
        put_change(f, 13, cases[i].ids[3], 122, 3, 124, 3);
        fclose(f);
        replay_tape_init(tape);
        CHECK_INT(replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error), 0);
        for (int step = 0; step < 6; step++) {
            CHECK_INT(source->ops->step(source), 0);
            bool known = source->ops->book(source, 0, &book);
            CHECK_INT(known, step < 3 || whole || (step >= 4 && cases[i].known));
            if (known && !whole) {
                const struct level *bid = replay_ladder_best(book.bids, 0),
                                   *ask = replay_ladder_best(book.asks, 0);
                CHECK(bid && ask && bid->price < ask->price);
            }
            if (step == 5 && known && !whole) {
                CHECK_INT(book.last_id, cases[i].last_id);
                CHECK_INT(replay_ladder_best(book.bids, 0)->price / 100000000, cases[i].best);
            }
        }
        source_destroy(source);
        replay_tape_finish(tape);
        free(tape);
    }
}

/* A message a second hides no hole. */
static void test_hole_slow(void)
{
    static const char *const names[] = {"btcusdt@depth"};
    struct received h = {0};
    struct replay_source *source = NULL;
    struct tape *tape = calloc(1, sizeof(*tape));
    const char *path = scratch_path("slow");
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    put_change(f, 1, "\"U\":7,\"u\":9", 99, 2, 102, 2);
    put_change(f, 1, "\"U\":20,\"u\":21", 99, 3, 102, 3);
    fclose(f);
    replay_tape_init(tape);
    CHECK_INT(replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error), 0);
    listen_to(tape, &h, names, 1);
    play_all(source);
    CHECK(strstr(h.text, "\"U\":7,\"u\":9,") != NULL);
    CHECK(strstr(h.text, "\"U\":20,\"u\":21,") != NULL);
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    free(h.text);
}

static void test_from_to(void)
{
    static const char *const names[] = {"btcusdt@trade"};
    struct received h = {0};
    struct replay_source *source = NULL;
    struct tape *tape = calloc(1, sizeof(*tape));
    const char *path = write_file("small", small, "wbT");
    replay_tape_init(tape);
    CHECK_INT(
        replay_recording_create(tape, &path, 1, 1723161299101000000, 1723161300000000000, &source, error), 0);
    listen_to(tape, &h, names, 1);
    play_all(source);
    CHECK_INT(h.messages, 3); /* 11 and 12 of the same time, and 13, which brings the end */
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    free(h.text);
}

/* Plays a file cut off after `n` bytes; the number of steps, or below 0: refused. */
static int play_cut(const char *bytes, size_t n)
{
    struct replay_source *source = NULL;
    struct tape *tape = calloc(1, sizeof(*tape));
    const char *path = scratch_path("cut");
    FILE *f = fopen(path, "w");
    CHECK(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
    replay_tape_init(tape);
    int steps = replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error);
    for (int rc = 0; source && rc == 0 && source->ops->due(source) != INT64_MAX; steps++)
        CHECK_INT(rc = source->ops->step(source), 0);
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    return steps;
}

/* Wherever a recorder was killed, all whole lines are played. */
static void test_cut(void)
{
    static char packed[sizeof(small)];
    size_t n = sizeof(small) - 1, lines = 0;
    for (size_t len = 1; len <= n; len++) {
        bool whole = len == n || small[len] == '\n'; /* a last line needs no end of line */
        lines += small[len - 1] != '\n' && whole;
        if (len % 7 != 0 && !whole)
            continue;
        if (lines > 0)
            CHECK_INT(play_cut(small, len), (int64_t)lines);
        else
            CHECK(play_cut(small, len) < 0);
    }
    write_file("packed", small, "wb");
    FILE *f = fopen(scratch_path("packed"), "r");
    n = f ? fread(packed, 1, sizeof(packed), f) : 0;
    fclose(f);
    CHECK(n > 0 && n < sizeof(packed));
    int most = 0;
    for (size_t len = 1; len <= n; len++) {
        int steps = play_cut(packed, len);
        if (steps >= 0) {
            CHECK(steps >= most);
            most = steps;
        }
        CHECK(steps >= 0 || most == 0); /* not one whole line yet */
    }
    CHECK_INT(most, (int64_t)lines);
    CHECK_INT(play_cut(packed, n - 1), (int64_t)lines); /* its check sum is missing */
}

static void test_refused(void)
{
    static const struct {
        const char *text, *what, *where;
    } cases[] = {
        {"1723161299000000000 {\"stream\":\"btcusdt@trade\",\"data\":{}}\n", "bad frame", ":1: "},
        {"1723161299000000000 {\"stream\":\"btcusdt@trade\"}\n", "bad frame", ":1: "},
        {"\n1723161299000000000 {\"stream\":\n", "bad frame", ":2: "},
        {"x\n", "bad line", ":1: "},
        {"{\"e\":\"trade\"}\n", "bad line", ":1: "},
        {"1723161299000000000\n", "bad line", ":1: "},
        {"17231612990000z {}\n", "bad line", ":1: "},
        {"wss://x <-> never\n", "bad line", ":1: "},
        {"", "nothing to play", "bad"},
        {"wss://x <-> 1633998511.159679\n", "nothing to play", "bad"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct replay_source *source = NULL;
        struct tape *tape = calloc(1, sizeof(*tape));
        replay_tape_init(tape);
        const char *path = write_file("bad", cases[i].text, "wbT");
        CHECK(replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error) < 0);
        bool named = strncmp(error, cases[i].what, strlen(cases[i].what)) == 0 && strstr(error, path) &&
                     strstr(error, cases[i].where);
        CHECK(named);
        if (!named)
            fprintf(stderr, "case %zu: %s\n", i, error);
        replay_tape_finish(tape);
        free(tape);
    }
}

int main(void)
{
    test_derived();
    test_others();
    test_paces();
    test_info();
    test_hole();
    test_hole_slow();
    test_from_to();
    test_cut();
    test_refused();
    return check_done("recording");
}
