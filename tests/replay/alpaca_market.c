/* The synthetic US market: the calendar against the exchange's published lists, New York's clock at its
 * changes, and that what streams is what REST gives for the same time. */
#include "exchange/decimal.h"
#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/flow.h"
#include "exchange/replay/alpaca/sessions.h"
#include "exchange/replay/alpaca/unpack.h"
#include "tests/check.h"
#include "tests/random.h"

/* nyse.com, "Holidays and Trading Hours", of each year. */
static const char *const closed[] = {
    "2021-01-01", "2021-01-18", "2021-02-15", "2021-04-02", "2021-05-31", "2021-07-05", "2021-09-06",
    "2021-11-25", "2021-12-24", "2022-01-17", "2022-02-21", "2022-04-15", "2022-05-30", "2022-06-20",
    "2022-07-04", "2022-09-05", "2022-11-24", "2022-12-26", "2023-01-02", "2023-01-16", "2023-02-20",
    "2023-04-07", "2023-05-29", "2023-06-19", "2023-07-04", "2023-09-04", "2023-11-23", "2023-12-25",
    "2024-01-01", "2024-01-15", "2024-02-19", "2024-03-29", "2024-05-27", "2024-06-19", "2024-07-04",
    "2024-09-02", "2024-11-28", "2024-12-25", "2025-01-01", "2025-01-20", "2025-02-17", "2025-04-18",
    "2025-05-26", "2025-06-19", "2025-07-04", "2025-09-01", "2025-11-27", "2025-12-25", "2026-01-01",
    "2026-01-19", "2026-02-16", "2026-04-03", "2026-05-25", "2026-06-19", "2026-07-03", "2026-09-07",
    "2026-11-26", "2026-12-25", "2027-01-01", "2027-01-18", "2027-02-15", "2027-03-26", "2027-05-31",
    "2027-06-18", "2027-07-05", "2027-09-06", "2027-11-25", "2027-12-24",
};
/* 2025-01-09, a day of mourning, is no rule's. */
static const char *const half[] = {
    "2021-11-26", "2022-11-25", "2023-07-03", "2023-11-24", "2024-07-03", "2024-11-29", "2024-12-24",
    "2025-07-03", "2025-11-28", "2025-12-24", "2026-11-27", "2026-12-24", "2027-11-26",
};

static int64_t date(const char *text)
{
    int64_t days = INT64_MIN;
    CHECK(replay_eastern_date_parse(text, &days) == 0);
    return days;
}

static void test_calendar(void)
{
    size_t c = 0, h = 0;
    for (int64_t day = date("2021-01-01"); day <= date("2027-12-31"); day++) {
        enum sessions_kind kind = replay_sessions_on(day, NULL);
        int weekday = replay_eastern_weekday(day);
        bool is_closed = c < sizeof(closed) / sizeof(*closed) && date(closed[c]) == day;
        bool is_half = h < sizeof(half) / sizeof(*half) && date(half[h]) == day;
        c += is_closed;
        h += is_half;
        CHECK_INT(kind, weekday == 0 || weekday == 6 || is_closed ? SESSIONS_CLOSED
                        : is_half                                 ? SESSIONS_HALF
                                                                  : SESSIONS_FULL);
    }
    CHECK_INT(c, sizeof(closed) / sizeof(*closed));
    CHECK_INT(h, sizeof(half) / sizeof(*half));
}

static void test_clock(void)
{
    /* 2026: from 8 March 07:00 UTC to 1 November 06:00 UTC; 1999: from 4 April to 31 October. */
    CHECK_INT(replay_eastern_offset_s(1772953199), -5 * 3600);
    CHECK_INT(replay_eastern_offset_s(1772953200), -4 * 3600);
    CHECK_INT(replay_eastern_offset_s(1793512799), -4 * 3600);
    CHECK_INT(replay_eastern_offset_s(1793512800), -5 * 3600);
    CHECK_INT(replay_eastern_offset_s(923209199), -5 * 3600);
    CHECK_INT(replay_eastern_offset_s(923209200), -4 * 3600);
    CHECK_INT(replay_eastern_offset_s(941349599), -4 * 3600);
    CHECK_INT(replay_eastern_offset_s(941349600), -5 * 3600);
    for (int64_t day = date("1990-01-01"); day < date("2040-01-01"); day++) {
        int64_t noon_s = replay_eastern_utc_s(day, 12 * 3600);
        CHECK_INT(noon_s + replay_eastern_offset_s(noon_s), day * EASTERN_DAY_S + 12 * 3600);
        CHECK_INT(replay_eastern_date(noon_s * MADE_SECOND), day);
    }
    struct trading_day day;
    CHECK_INT(replay_sessions_on(date("2026-11-27"), &day), SESSIONS_HALF);
    CHECK_INT(day.open_ns / MADE_SECOND, 1795789800);  /* 14:30 UTC */
    CHECK_INT(day.close_ns / MADE_SECOND, 1795802400); /* 18:00 UTC */
    int64_t unused;
    CHECK(replay_eastern_date_parse("2026-02-29", &unused) < 0);
    CHECK(replay_eastern_date_parse("2026-1-15", &unused) < 0);
    CHECK(replay_eastern_date_parse("2024-02-29", &unused) == 0);
}

/* Every bar that a flow sends is REST's bar as of that moment, and every minute with a price has one; events
 * come in order; a flow that begins later says the same. */
static void check_flow(struct made *made, enum made_class class, enum made_feed feed, int64_t from_ns)
{
    static struct flow early, late;
    int64_t last_ns = 0, until_ns = from_ns + 90 * MADE_MINUTE, bars = 0, expected = 0,
            started_ns = from_ns + 7 * MADE_MINUTE;
    replay_flow_init(&early, made, class, feed, 0);
    replay_flow_init(&late, made, class, feed, 0);
    replay_flow_start(&early, from_ns);
    replay_flow_start(&late, started_ns);
    while (replay_flow_due(&early) < until_ns) {
        struct flow_event event, same;
        struct tally bar;
        replay_flow_take(&early, &event);
        CHECK(event.due_ns >= last_ns && event.due_ns >= from_ns);
        last_ns = event.due_ns;
        if (event.due_ns >= started_ns) {
            CHECK_INT(replay_flow_due(&late), event.due_ns);
            replay_flow_take(&late, &same);
            CHECK_INT(same.kind, event.kind);
            CHECK_INT(same.symbol, event.symbol);
            if (event.kind == FLOW_DAY)
                CHECK(replay_tally_same(&event.bar, &same.bar));
        }
        if (event.kind != FLOW_BAR && event.kind != FLOW_UPDATED)
            continue;
        int64_t as_of_ns = event.bar.begin_ns + MADE_MINUTE + (event.kind == FLOW_BAR ? 0 : 30 * MADE_SECOND);
        CHECK(
            replay_tally_minute(made, event.symbol, event.bar.begin_ns / MADE_MINUTE, feed, as_of_ns, &bar));
        CHECK(replay_tally_same(&bar, &event.bar));
        bars += event.kind == FLOW_BAR;
    }
    for (int i = 0; i < made->n_symbols; i++) {
        for (int64_t ns = from_ns - MADE_MINUTE; ns + MADE_MINUTE < until_ns - MADE_SECOND;
             ns += MADE_MINUTE) {
            struct tally bar;
            expected += made->symbols[i].class == class &&
                        replay_tally_minute(made, i, ns / MADE_MINUTE, feed, ns + MADE_MINUTE, &bar);
        }
    }
    CHECK_INT(bars, expected);
    CHECK(bars > 0);
    replay_flow_finish(&early);
    replay_flow_finish(&late);
}

static void test_flows(uint64_t seed)
{
    static struct made made;
    replay_made_init(&made, seed);
    int64_t open_ns = 1768487400 * MADE_SECOND; /* 2026-01-15 14:30 UTC */
    check_flow(&made, MADE_STOCK, MADE_FEED_ALL, open_ns);
    check_flow(&made, MADE_STOCK, MADE_FEED_IEX, open_ns);
    check_flow(&made, MADE_TEST, MADE_FEED_ALL, open_ns + 5 * 86400 * MADE_SECOND);
    check_flow(&made, MADE_CRYPTO, MADE_FEED_ALL, open_ns + 3 * 86400 * MADE_SECOND);
    /* From Friday night to Monday at four in the morning no message is about stocks. */
    static struct flow flow;
    replay_flow_init(&flow, &made, MADE_STOCK, MADE_FEED_ALL, 0);
    replay_flow_start(&flow, 1768615200 * MADE_SECOND); /* 2026-01-17 02:00 UTC, a long weekend */
    CHECK(replay_flow_due(&flow) >= 1768899600 * MADE_SECOND &&
          replay_flow_due(&flow) < 1768903200 * MADE_SECOND);
    replay_flow_finish(&flow);
}

static void test_actions(uint64_t seed)
{
    static struct made made, plain;
    char error[MADE_ERROR_MAX];
    replay_made_init(&made, seed);
    replay_made_init(&plain, seed);
    CHECK(replay_made_action_add(&made, "split:AAPL:4:1:2026-01-15", error) == 0);
    CHECK(replay_made_action_add(&made, "dividend:MSFT:0.83:2026-01-15", error) == 0);
    CHECK(replay_made_action_add(&made, "halt:IBM:2026-01-15T15:00:00Z:5m", error) == 0);
    static const char *const bad[] = {"split:AAPL:4:1:2026-01-17",
                                      "split:AAPL:0:1:2026-01-15",
                                      "split:BTC/USD:4:1:2026-01-15",
                                      "split:ZZZ:4:1:2026-01-15",
                                      "dividend:MSFT:x:2026-01-15",
                                      "halt:IBM:2026-01-15T15:00:30Z:5m",
                                      "halt:IBM:2026-01-15T04:00:00Z:5m",
                                      "split",
                                      "",
                                      "halt:IBM:5m"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK(replay_made_action_add(&made, bad[i], error) < 0 && strchr(error, ':'));
    int aapl = replay_made_find(&made, "AAPL"), ibm = replay_made_find(&made, "IBM");
    struct tally before, after, raw;
    int64_t open_ns = 1768487400 * MADE_SECOND, day_ns = 86400 * MADE_SECOND;
    /* The day before: four times the shares at a quarter of the price, adjusted; as they were, raw. */
    CHECK(replay_tally_span(&made, aapl, open_ns - day_ns, open_ns - day_ns + 10 * MADE_MINUTE, MADE_FEED_ALL,
                            TALLY_SPLITS, open_ns, &after));
    CHECK(replay_tally_span(&made, aapl, open_ns - day_ns, open_ns - day_ns + 10 * MADE_MINUTE, MADE_FEED_ALL,
                            TALLY_RAW, open_ns, &raw));
    CHECK(replay_tally_span(&plain, aapl, open_ns - day_ns, open_ns - day_ns + 10 * MADE_MINUTE,
                            MADE_FEED_ALL, TALLY_RAW, open_ns, &before));
    CHECK(replay_tally_same(&raw, &before));
    CHECK_INT(after.open, (raw.open + 2) / 4);
    CHECK_INT(after.volume, raw.volume * 4);
    CHECK_INT(replay_made_price(&made, aapl, open_ns), replay_made_price(&plain, aapl, open_ns) / 4);
    CHECK(!replay_made_trades_at(&made, ibm, 1768489200 * MADE_SECOND));
    CHECK(replay_made_trades_at(&made, ibm, 1768489500 * MADE_SECOND) ||
          !replay_made_trades_at(&plain, ibm, 1768489500 * MADE_SECOND));
}

/* Every prefix and many a change of a request is read or refused, and costs no more than its bytes. */
static void test_unpack(struct random *random)
{
    static const char good[] = "\x82\xa6"
                               "action\xa9"
                               "subscribe\xa6"
                               "trades\x93\xa4"
                               "AAPL\xcd\x01\x02\xcb\x3f\xf8\0\0\0\0\0\0";
    enum { LEN = sizeof(good) - 1, ROUNDS = 20000 };
    json_t *tree = replay_msgpack_read(good, LEN), *trades = json_object_get(tree, "trades");
    CHECK_STR(json_string_value(json_object_get(tree, "action")), "subscribe");
    CHECK_INT(json_array_size(trades), 3);
    CHECK_INT(json_integer_value(json_array_get(trades, 1)), 258);
    CHECK_NEAR(json_real_value(json_array_get(trades, 2)), 1.5, 0);
    json_decref(tree);
    for (size_t len = 0; len < LEN; len++)
        CHECK(!replay_msgpack_read(good, len));
    static const struct {
        const char *data;
        size_t len;
    } lies[] = {{"\xdd\xff\xff\xff\xff", 5},
                {"\xdf\xff\xff\xff\xff", 5},
                {"\xdb\xff\xff\xff\xff", 5},
                {"\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91", 10},
                {"\xc1", 1},
                {"\xa1\xff", 2},
                {"\x01\x01", 2}};
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
        CHECK(!replay_msgpack_read(lies[i].data, lies[i].len));
    for (int i = 0; i < ROUNDS; i++) {
        char *copy = malloc(LEN); /* its own, so that a read past the end is seen */
        memcpy(copy, good, LEN);
        for (int64_t n = random_between(random, 1, 4); n > 0; n--)
            copy[random_between(random, 0, LEN - 1)] = (char)random_next(random);
        json_decref(replay_msgpack_read(copy, (size_t)random_between(random, 0, LEN)));
        free(copy);
    }
}

int main(void)
{
    struct random random = random_seeded("replay/alpaca_market", 20260115);
    test_calendar();
    test_clock();
    for (int i = 0; i < 3; i++)
        test_flows(random_next(&random));
    test_actions(random_next(&random));
    test_unpack(&random);
    return check_done("replay/alpaca_market");
}
