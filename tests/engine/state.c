/* States: an engine that was saved and loaded continues as the original: the same outputs, the same bytes.
 * And bytes that are no state are refused. */
#include "engine/state.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/engine/driver.h"
#include "tests/engine/voice.h"

#ifdef __SANITIZE_ADDRESS__
enum { RUNS = 100 };
#else
enum { RUNS = 300 };
#endif
enum { EVENTS = 1500, SAVED_EVERY = 60 };

struct totals {
    struct tape tape;
    uint64_t states, bytes;
};

/* False at the first difference. */
static bool run(uint64_t seed, struct totals *totals)
{
    static struct driver d;
    struct voice first = {0}, second = {0};
    driver_init(&d, seed);
    d.configures = true;
    if (seed % 2 == 0)
        driver_venues(&d);
    struct random points = {seed ^ 0x5eed};
    struct engine_sink sink = tape_sink(&first.tape);
    if (engine_create(&d.config, &sink, &first.engine) < 0 || engine_start(first.engine, d.now_ns) < 0)
        return false;
    bool same = true;
    for (int i = 0; i < EVENTS && same; i++) {
        struct event event;
        if (i == 0 || random_between(&points, 1, SAVED_EVERY) == 1) {
            same = voice_follow(&first, &second);
            totals->states++;
            if (!same)
                break;
        }
        driver_next(&d, first.engine, &event);
        int r = engine_handle(first.engine, &event), r2 = engine_handle(second.engine, &event);
        same = r == r2 && first.tape.hash == second.tape.hash;
        if (!same)
            fprintf(stderr, "seed %ju, event %ju of kind %d: %d and %d, outputs differ: %d\n",
                    (uintmax_t)seed, (uintmax_t)event.seq, (int)event.kind, r, r2,
                    first.tape.hash != second.tape.hash);
        else if (i % 16 == 0)
            same = tape_view(first.engine) == tape_view(second.engine);
        CHECK(same);
    }
    if (same) {
        static struct codec a, b;
        voice_save(first.engine, &a);
        voice_save(second.engine, &b);
        CHECK(voice_same_bytes(&a, &b));
        totals->bytes = a.len;
    }
    const struct tape *tape = &first.tape;
    totals->tape.bars += tape->bars;
    totals->tape.orders += tape->orders;
    totals->tape.fills += tape->fills;
    totals->tape.rows += tape->rows;
    totals->tape.points += tape->points;
    totals->tape.alerts += tape->alerts;
    totals->tape.commands += tape->commands;
    totals->tape.accounts += tape->accounts;
    engine_destroy(first.engine);
    engine_destroy(second.engine);
    return same;
}

static void test_runs(uint64_t seed, int runs)
{
    struct totals totals = {0};
    for (int i = 0; i < runs && run(seed + (uint64_t)i, &totals); i++)
        ;
    printf("counts: %d runs (300, and 100 under a sanitizer)\n", runs);
    printf(
        "engine/state: %d runs, %ju states loaded, the last of %ju bytes: %ju bars, %ju orders reported, %ju "
        "fills, %ju rows, %ju equity points, %ju alerts, %ju commands, %ju accounts\n",
        runs, (uintmax_t)totals.states, (uintmax_t)totals.bytes, (uintmax_t)totals.tape.bars,
        (uintmax_t)totals.tape.orders, (uintmax_t)totals.tape.fills, (uintmax_t)totals.tape.rows,
        (uintmax_t)totals.tape.points, (uintmax_t)totals.tape.alerts, (uintmax_t)totals.tape.commands,
        (uintmax_t)totals.tape.accounts);
    CHECK(totals.tape.fills > 100 && totals.tape.bars > 100);
}

static struct engine *some_engine(uint64_t seed, int events)
{
    static struct driver d;
    struct engine_sink none = {0};
    struct engine *engine = NULL;
    driver_init(&d, seed);
    d.configures = true;
    CHECK_INT(engine_create(&d.config, &none, &engine), 0);
    CHECK_INT(engine_start(engine, d.now_ns), 0);
    for (int i = 0; i < events; i++) {
        struct event event;
        driver_next(&d, engine, &event);
        engine_handle(engine, &event);
    }
    return engine;
}

static int load(const void *bytes, size_t len, char err[static ENGINE_ERROR_MAX])
{
    struct engine_sink none = {0};
    struct engine *engine = NULL;
    /* A block of just this size: reading beyond it is found. */
    void *copy = malloc(len ? len : 1);
    memcpy(copy, bytes, len);
    err[0] = '\0';
    int r = engine_load(copy, len, &none, NULL, &engine, err);
    CHECK((r == 0) == (engine != NULL) && (r == 0) == (err[0] == '\0'));
    engine_destroy(engine);
    free(copy);
    return r;
}

static void test_bad_bytes(uint64_t seed)
{
    struct random random = {seed};
    struct codec saved = {0};
    char err[ENGINE_ERROR_MAX];
    struct engine *engine = some_engine(seed, 700);
    voice_save(engine, &saved);
    CHECK_INT(load(saved.bytes, saved.len, err), 0);
    for (size_t len = 0; len < saved.len; len += 1 + len / 64)
        CHECK_INT(load(saved.bytes, len, err), -EBADMSG);
    CHECK_INT(load("what is this?", 13, err), -EBADMSG);
    CHECK_STR(err, "these 13 bytes are no engine's state");
    uint8_t version = saved.bytes[4];
    saved.bytes[4] = 99;
    CHECK_INT(load(saved.bytes, saved.len, err), -ENOTSUP);
    CHECK_STR(err,
              "layout 99 of the engine's state is newer than 13, the newest that this program knows: update "
              "papertape");
    saved.bytes[4] = version;
    for (int i = 0; i < 4000; i++) { /* its meaning is unknown: it must load as a state or be refused */
        size_t at = (size_t)random_between(&random, 0, (int64_t)saved.len - 1);
        uint8_t before = saved.bytes[at];
        saved.bytes[at] = (uint8_t)random_next(&random);
        int r = load(saved.bytes, saved.len, err);
        CHECK(r == 0 || r == -EBADMSG || r == -ENOTSUP || r == -ENOPKG);
        saved.bytes[at] = before;
    }
    uint8_t before[] = {0};
    codec_save(&saved);
    codec_bytes(&saved, before, sizeof before);
    CHECK_INT(engine_save(engine, &saved), 0);
    CHECK_INT(load(saved.bytes + 1, saved.len - 1, err), 0);
    CHECK_INT(load(saved.bytes, saved.len, err), -EBADMSG);
    codec_finish(&saved);
    engine_destroy(engine);
}

static void test_missing_strategy(void)
{
    struct codec saved = {0};
    char err[ENGINE_ERROR_MAX];
    struct engine *engine = some_engine(7, 10);
    static const char name[] = "sma-cross-rsi";
    voice_save(engine, &saved);
    uint8_t *at = memmem(saved.bytes, saved.len, name, sizeof name - 1);
    CHECK(at != NULL);
    if (at)
        at[0] = 'x';
    CHECK_INT(load(saved.bytes, saved.len, err), -ENOPKG);
    CHECK_STR(err,
              "account bob has a strategy that this program does not have, or parameters that it does not "
              "take");
    codec_finish(&saved);
    engine_destroy(engine);
}

/* What random runs hardly ever bring about. */
static void test_rare(void)
{
    struct engine_sink none = {0};
    struct codec saved = {0};
    char err[ENGINE_ERROR_MAX];
    struct engine *engine = some_engine(7, 500), *other = NULL;
    engine->accounts[1].unpaid_interest = 77;
    engine->counters.impossible = 3;
    engine->counters.refused[ORDER_REASONS - 1] = 5;
    engine->bar_closed = true;
    engine->markets[2].builder.gaps = 9;
    voice_save(engine, &saved);
    CHECK_INT(engine_load(saved.bytes, saved.len, &none, NULL, &other, err), 0);
    CHECK_INT(other->accounts[1].unpaid_interest, 77);
    CHECK_INT(other->counters.impossible, 3);
    CHECK_INT(other->counters.refused[ORDER_REASONS - 1], 5);
    CHECK(other->bar_closed);
    CHECK_INT(other->markets[2].builder.gaps, 9);
    codec_finish(&saved);
    engine_destroy(engine);
    engine_destroy(other);
}

/* Logs and states keep enumerations by their numbers: what stands here stays where it is, for ever. Names
 * that come are added at the ends, of the enumerations and of these lists. */
static void test_numbers(void)
{
    static const char *const types[] = {
        "MARKET", "LIMIT", "STOP", "STOP_LIMIT", "TAKE_PROFIT", "TAKE_PROFIT_LIMIT", "TRAILING_STOP"};
    static const char *const tifs[] = {"GTC", "IOC", "FOK", "DAY", "GTD"};
    static const char *const states[] = {"PENDING", "HELD",     "OPEN",    "PARTIAL",
                                         "FILLED",  "CANCELED", "EXPIRED", "REJECTED"};
    static const char *const reasons[] = {"",
                                          "BAD_QTY",
                                          "BAD_PRICE",
                                          "UNKNOWN_SYMBOL",
                                          "UNKNOWN_ACCOUNT",
                                          "UNKNOWN_ORDER",
                                          "ORDER_ENDED",
                                          "BAD_TIF",
                                          "BAD_GROUP",
                                          "BAD_AMEND",
                                          "DUPLICATE_ID",
                                          "BAD_ACCOUNT",
                                          "SYMBOL_HALTED",
                                          "PRICE_FILTER",
                                          "LOT_SIZE",
                                          "MARKET_LOT_SIZE",
                                          "MIN_NOTIONAL",
                                          "MAX_NOTIONAL",
                                          "PERCENT_PRICE",
                                          "MAX_NUM_ORDERS",
                                          "INSUFFICIENT_BALANCE",
                                          "NO_SHORTS",
                                          "COLLATERAL",
                                          "REDUCE_ONLY",
                                          "NO_LIQUIDITY",
                                          "WOULD_TAKE",
                                          "OTHER_LEG",
                                          "RISK_PAUSED",
                                          "RISK_STALE_DATA",
                                          "RISK_EXPOSURE",
                                          "RISK_DAILY_LOSS",
                                          "RISK_ORDER_RATE",
                                          "RISK_STORAGE",
                                          "RISK_DRAWDOWN",
                                          "RISK_COOLDOWN",
                                          "RISK_PRICE_BAND",
                                          "RISK_POSITIONS",
                                          "SPLIT",
                                          "SYMBOL_GONE",
                                          "INITIAL_MARGIN",
                                          "INTRADAY_MARGIN",
                                          "DAY_TRADING_POWER",
                                          "DAY_TRADER_EQUITY",
                                          "MARGIN_EQUITY",
                                          "UNSETTLED_CASH",
                                          "SESSION_CLOSED"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        CHECK_STR(order_type_name((enum order_type)i), types[i]);
    for (size_t i = 0; i < sizeof tifs / sizeof *tifs; i++)
        CHECK_STR(order_tif_name((enum order_tif)i), tifs[i]);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        CHECK_STR(order_state_name((enum order_state)i), states[i]);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        CHECK_STR(order_reason_name((enum order_reason)i), reasons[i]);
    CHECK(ORDER_BUY == 0 && ORDER_SELL == 1 && BOOK_EMPTY == 0 && BOOK_SYNCING == 1 && BOOK_SYNCED == 2);
    CHECK(PENDING_ORDER == 0 && PENDING_CANCEL == 1 && PENDING_AMEND == 2);
    CHECK(MISSED_STOPS_FILL == 0 && MISSED_STOPS_KEEP == 1);
    CHECK(MARKET_TRADE == 0 && MARKET_AGG_TRADE == 1 && MARKET_KLINE == 2 && MARKET_QUOTE == 3 &&
          MARKET_DEPTH == 4 && MARKET_TICKER == 5);
    CHECK(EVENT_MARKET == 0 && EVENT_SNAPSHOT == 1 && EVENT_BARS == 2 && EVENT_SYMBOL == 3 &&
          EVENT_CONNECTION == 4 && EVENT_STALE == 5 && EVENT_STORAGE == 6 && EVENT_TIMER == 7 &&
          EVENT_COMMAND == 8 && EVENT_SESSION == 9 && EVENT_ACTION == 10 && EVENT_SYMBOL_CONNECTION == 11 &&
          EVENT_CALENDAR == 12 && EVENT_VENUE_CLOCK == 13 && EVENT_VENUE_ORDER == 14 &&
          EVENT_VENUE_ACCOUNT == 15 && EVENT_DECISION == 16 && EVENT_COLUMN == 17 && EVENT_UNIVERSE == 18 &&
          EVENT_STOP == 19);
    CHECK(COMMAND_PAUSE == 0 && COMMAND_RESUME == 1 && COMMAND_FLATTEN == 2 && COMMAND_ORDER == 3 &&
          COMMAND_CANCEL == 4 && COMMAND_AMEND == 5 && COMMAND_ACCOUNT_CREATE == 6 &&
          COMMAND_ACCOUNT_DEPOSIT == 7 && COMMAND_ACCOUNT_RESET == 8 && COMMAND_ACCOUNT_TRANSFER == 9 &&
          COMMAND_ACCOUNT_RESUME == 10 && COMMAND_ACCOUNT_POLICY == 11 && COMMAND_CONFIGURE == 12 &&
          COMMAND_ACCOUNT_CLOSE == 13);
    CHECK(LAST_NONE == 0 && LAST_HISTORY == 1 && LAST_BAR == 2 && LAST_TRADE == 3);
    CHECK(ORDERS_SINGLE == 0 && ORDERS_OCO == 1 && ORDERS_BRACKET == 2);
}

static void test_digest(void)
{
    uint8_t one[LEDGER_HASH_SIZE], same[LEDGER_HASH_SIZE], other[LEDGER_HASH_SIZE];
    struct engine *a = some_engine(11, 400), *b = some_engine(11, 400), *c = some_engine(11, 401);
    CHECK_INT(engine_digest(a, one), 0);
    CHECK_INT(engine_digest(b, same), 0);
    CHECK_INT(engine_digest(c, other), 0);
    CHECK(memcmp(one, same, sizeof one) == 0 && memcmp(one, other, sizeof one) != 0);
    engine_destroy(a);
    engine_destroy(b);
    engine_destroy(c);
}

/* Seeds for the fuzzer: states of engines in their first events. */
static int write_seeds(const char *dir)
{
    for (uint64_t i = 0; i < 6; i++) {
        struct codec saved = {0};
        struct engine *engine = some_engine(3 + i, (int)(i * i * 12));
        char path[4096];
        snprintf(path, sizeof path, "%s/state-%d", dir, (int)i);
        FILE *f = fopen(path, "wb");
        voice_save(engine, &saved);
        bool written = f && fwrite(saved.bytes, 1, saved.len, f) == saved.len;
        if (!f || fclose(f) != 0 || !written)
            return EXIT_FAILURE;
        codec_finish(&saved);
        engine_destroy(engine);
    }
    return EXIT_SUCCESS;
}

/* [runs], or --seeds DIR */
int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
        return write_seeds(argv[2]);
    struct random random = random_seeded("engine/state", 20261121);
    test_runs(random.state, argc > 1 ? atoi(argv[1]) : RUNS);
    test_bad_bytes(random.state);
    test_missing_strategy();
    test_rare();
    test_numbers();
    test_digest();
    return check_done("engine/state");
}
