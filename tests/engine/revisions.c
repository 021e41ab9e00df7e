/* What a venue changes after it was sent: corrections, cancellations and late bars change the stored bars and
 * the last price, and leave a trace; trades with unordered ids; trades that make no price; minutes without
 * trades. Bars are compared with those of the trades as they should have been. */
#include <inttypes.h>

#include "tests/engine/by_hand.h"
#include "tests/random.h"

enum { TRADES = 400 };

static void open_stock(void)
{
    harness_init(&h);
    snprintf(h.symbols[BTCUSDT].calendar, sizeof h.symbols[BTCUSDT].calendar, "us-equity");
    h.symbols[BTCUSDT].loose_ids = true;
    harness_open(&h);
    struct event event = {.kind = EVENT_SESSION,
                          .session = {.calendar = "us-equity", .phase = MARKET_PHASE_OPEN}};
    CHECK_INT(harness_event(&h, &event), 0);
}

static void trade_now(int64_t ts_ns, int64_t id, int64_t price, int64_t qty, bool odd)
{
    struct event event = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_TRADE,
                   .symbol = BTCUSDT,
                   .trade = {.ts_ns = ts_ns, .id = id, .price = price, .qty = qty, .odd = odd}}};
    CHECK_INT(harness_event(&h, &event), 0);
}

static void trade_of(int64_t ts_ns, int64_t id, int64_t price, int64_t qty, bool odd)
{
    h.now_ns = ts_ns > h.now_ns ? ts_ns : h.now_ns;
    trade_now(ts_ns, id, price, qty, odd);
}

static void revise(enum market_kind kind, struct market_correction correction)
{
    struct event event = {.kind = EVENT_MARKET, .market = {.kind = kind, .symbol = BTCUSDT}};
    event.market.correction = correction;
    uint64_t reported = h.revisions;
    CHECK_INT(harness_event(&h, &event), 0);
    CHECK_INT(h.revisions, reported + 1);
}

static int64_t last(void)
{
    struct engine_symbol_view view;
    engine_symbol_view(h.engine, BTCUSDT, &view);
    return view.last;
}

/* Minutes: 0 begins in the middle, 1 is whole, 2 forms. */
static void test_corrections(void)
{
    int64_t minute = START_NS + MINUTE_NS;
    open_stock();
    trade_of(START_NS + 5 * SECOND_NS, 77, 100 * USDT, BTC, false);
    trade_of(minute, 9, 101 * USDT, BTC, false);
    trade_of(minute + SECOND_NS, 5000, 120 * USDT, 2 * BTC, false); /* an error */
    trade_of(minute + 2 * SECOND_NS, 3, 102 * USDT, 3 * BTC, false);
    trade_of(minute + 2 * SECOND_NS, 3, 102 * USDT, 3 * BTC, false); /* twice */
    trade_of(minute + 3 * SECOND_NS, 4, 90 * USDT, BTC / 2, true);   /* makes no price */
    CHECK_INT(last(), 102 * USDT);
    trade_of(minute + MINUTE_NS, 10, 103 * USDT, BTC, false);
    CHECK_INT(h.bars_built, 1);
    CHECK(h.last_built.open_ns == minute && h.last_built.high == 120 * USDT &&
          h.last_built.low == 101 * USDT && h.last_built.trades == 4 &&
          h.last_built.volume == 6 * BTC + BTC / 2);

    revise(MARKET_CORRECTION, (struct market_correction){.ts_ns = h.now_ns,
                                                         .id = 5000,
                                                         .new_id = 5001,
                                                         .old_price = 120 * USDT,
                                                         .old_qty = 2 * BTC,
                                                         .price = 102 * USDT + 1,
                                                         .qty = BTC,
                                                         .code = "C"});
    CHECK(h.last_revision.applied && h.last_revision.kind == REVISION_CORRECTION &&
          h.last_revision.source == BAR_TRADES && h.last_revision.at_ns == minute + SECOND_NS);
    CHECK(h.revision_old.high == 120 * USDT && h.revision_old.volume == 6 * BTC + BTC / 2);
    CHECK(h.revision_now.high == 102 * USDT + 1 && h.revision_now.volume == 5 * BTC + BTC / 2 &&
          h.revision_now.trades == 4 && h.revision_now.open == 101 * USDT &&
          h.revision_now.close == 102 * USDT);
    revise(MARKET_CANCEL, (struct market_correction){.id = 5000}); /* its id is another by now */
    CHECK(!h.last_revision.applied && h.revision_now.open_ns == 0);
    revise(MARKET_CANCEL, (struct market_correction){.id = 5001, .price = 1, .qty = BTC});
    CHECK(!h.last_revision.applied); /* its price is another */
    revise(MARKET_CANCEL, (struct market_correction){.id = 5001, .price = 102 * USDT + 1, .qty = BTC});
    CHECK(h.last_revision.applied && h.last_revision.kind == REVISION_CANCEL);
    CHECK(h.revision_now.high == 102 * USDT && h.revision_now.trades == 3);
    revise(MARKET_CANCEL, (struct market_correction){.id = 77, .price = 100 * USDT, .qty = BTC});
    CHECK(!h.last_revision.applied); /* that minute was never whole */

    CHECK_INT(last(), 103 * USDT); /* the forming one, and the last price */
    revise(MARKET_CORRECTION,
           (struct market_correction){.id = 10, .new_id = 10, .price = 104 * USDT, .qty = 2 * BTC});
    CHECK(h.last_revision.applied && h.revision_now.open == 104 * USDT);
    CHECK_INT(last(), 104 * USDT);
    trade_of(minute + MINUTE_NS + SECOND_NS, 11, 99 * USDT, BTC, false);
    revise(MARKET_CANCEL, (struct market_correction){.id = 11});
    CHECK_INT(last(), 104 * USDT);
    trade_of(minute + 2 * MINUTE_NS, 12, 105 * USDT, BTC, false);
    CHECK(h.last_built.open == 104 * USDT && h.last_built.low == 104 * USDT &&
          h.last_built.volume == 2 * BTC && h.last_built.trades == 1);
    revise(MARKET_CANCEL, (struct market_correction){.id = 10}); /* all that there was */
    CHECK(h.last_revision.applied && h.revision_old.open == 104 * USDT && h.revision_now.open_ns == 0);
    connection(&h, true); /* what was before is not corrected any more */
    revise(MARKET_CANCEL, (struct market_correction){.id = 12});
    CHECK(!h.last_revision.applied);
    harness_close(&h);
}

/* Trades that arrive after later ones: by their time in the bar that forms, and in one that is closed; also
 * where no trade was known of the minute, and where one that makes no price came first. */
static void test_late(void)
{
    int64_t minute = START_NS + MINUTE_NS;
    open_stock();
    trade_of(START_NS, 1, 100 * USDT, BTC, false);
    trade_of(minute + 10 * SECOND_NS, 20, 101 * USDT, BTC, false);
    trade_of(minute + 5 * SECOND_NS, 21, 99 * USDT, BTC, false);  /* before the first of it: it opens */
    trade_of(minute + 9 * SECOND_NS, 22, 120 * USDT, BTC, false); /* closes nothing */
    trade_of(minute + 9 * SECOND_NS, 22, 120 * USDT, BTC, false); /* twice */
    trade_of(minute + 3 * MINUTE_NS, 23, 103 * USDT, BTC, true);
    trade_of(minute + 50 * SECOND_NS, 24, 104 * USDT, BTC, false); /* closes it, though a later one came */
    trade_of(minute + 3 * MINUTE_NS + SECOND_NS, 25, 105 * USDT, BTC, false);
    CHECK_INT(h.revisions, 0);
    CHECK(h.last_built.open_ns == minute && h.last_built.open == 99 * USDT &&
          h.last_built.close == 104 * USDT && h.last_built.high == 120 * USDT && h.last_built.trades == 4 &&
          h.last_built.first_trade_id == 21 && h.last_built.last_trade_id == 24);
    uint64_t built = h.bars_built;
    trade_of(minute + 55 * SECOND_NS, 26, 98 * USDT, 2 * BTC, false);
    CHECK_INT(h.revisions, 1);
    CHECK(h.last_revision.kind == REVISION_BAR && h.last_revision.source == BAR_TRADES &&
          h.last_revision.applied && h.last_revision.at_ns == minute && !h.last_revision.correction);
    CHECK(h.revision_old.close == 104 * USDT && h.revision_now.close == 98 * USDT &&
          h.revision_now.low == 98 * USDT && h.revision_now.volume == 6 * BTC && h.revision_now.trades == 5);
    trade_of(minute + MINUTE_NS, 27, 97 * USDT, BTC, true); /* of a minute without a bar */
    CHECK_INT(h.revisions, 1);
    trade_of(minute + MINUTE_NS + SECOND_NS, 28, 96 * USDT, BTC, false);
    CHECK(h.revisions == 2 && h.last_revision.applied && h.last_revision.at_ns == minute + MINUTE_NS &&
          h.revision_old.open_ns == 0 && h.revision_now.open == 96 * USDT && h.revision_now.trades == 2);
    trade_of(START_NS + SECOND_NS, 29, 50 * USDT, BTC, false); /* that minute was never whole */
    CHECK(h.revisions == 3 && !h.last_revision.applied && h.revision_now.open_ns == 0);
    CHECK_INT(h.bars_built, built);
    trade_of(minute + 4 * MINUTE_NS, 30, 95 * USDT, BTC, false);
    CHECK(h.last_built.open_ns == minute + 3 * MINUTE_NS && h.last_built.trades == 2 &&
          h.last_built.open == 105 * USDT && h.last_built.volume == 2 * BTC);
    harness_close(&h);
}

static void revision(const struct bar *bar)
{
    struct event event = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_REVISION, .symbol = BTCUSDT, .kline = {h.config.interval_ns, *bar, true}}};
    CHECK_INT(harness_event(&h, &event), 0);
}

static void test_bars(void)
{
    open_stock();
    for (int i = 0; i < 90; i++) {
        struct bar bar = flat_bar(START_NS + i * MINUTE_NS, (100 + i) * USDT);
        h.now_ns = bar.open_ns + MINUTE_NS;
        if (i != 80) /* no trades: nothing is missing or requested */
            kline(&h, BTCUSDT, &bar);
    }
    CHECK_INT(h.bars, 89);
    CHECK_INT(h.bars_wanted, 0);
    CHECK_INT(last(), 189 * USDT);
    struct bar late = flat_bar(START_NS + 89 * MINUTE_NS, 200 * USDT);
    revision(&late);
    CHECK(h.last_revision.applied && h.last_revision.kind == REVISION_BAR &&
          h.last_revision.source == BAR_VENUE);
    CHECK(h.revision_old.close == 189 * USDT && h.revision_now.close == 200 * USDT);
    CHECK_INT(last(), 200 * USDT);
    late = flat_bar(START_NS + 50 * MINUTE_NS, 7 * USDT);
    revision(&late);
    CHECK(h.last_revision.applied && h.revision_old.close == 150 * USDT);
    revision(&late);
    CHECK_INT(h.revision_old.close, 7 * USDT); /* it is remembered */
    late.open_ns = START_NS + 80 * MINUTE_NS;
    revision(&late); /* one that was not there */
    CHECK(h.last_revision.applied && h.revision_old.open_ns == 0 && h.revision_now.close == 7 * USDT);
    late.open_ns = START_NS + 10 * MINUTE_NS;
    revision(&late);
    CHECK(!h.last_revision.applied); /* older than an hour */
    CHECK_INT(h.revisions, 5);
    CHECK_INT(h.bars, 89);
    late.open_ns = START_NS + 90 * MINUTE_NS; /* the first word of it */
    h.now_ns = late.open_ns + MINUTE_NS;
    revision(&late);
    CHECK_INT(h.revisions, 5);
    CHECK_INT(h.bars, 90);
    connection(&h, false);
    connection(&h, true);
    late.open_ns += 5 * MINUTE_NS; /* after an interruption a gap is one */
    h.now_ns = late.open_ns + MINUTE_NS;
    kline(&h, BTCUSDT, &late);
    CHECK_INT(h.bars_wanted, 1);
    CHECK_INT(h.bars, 90);
    struct event none = {.kind = EVENT_BARS, .bars = {.symbol = BTCUSDT}};
    CHECK_INT(harness_event(&h, &none), 0);
    CHECK_INT(h.bars, 91);
    harness_close(&h);
}

/* No order is filled by a correction, nor by a trade that makes no price. */
static void test_orders(void)
{
    open_stock();
    quote(&h, BTCUSDT, 99 * USDT, 100 * BTC, 100 * USDT, 100 * BTC);
    trade_of(h.now_ns, 1, 100 * USDT, BTC, false);
    uint64_t id = rested(limit(ORDER_BUY, BTC, 95 * USDT));
    trade_of(h.now_ns + SECOND_NS, 2, 90 * USDT, BTC, true);
    revise(MARKET_CORRECTION,
           (struct market_correction){.id = 1, .new_id = 1, .price = 90 * USDT, .qty = BTC});
    CHECK_INT(last(), 90 * USDT);
    sees(id, ORDER_OPEN, ORDER_OK);
    trade_of(h.now_ns + SECOND_NS, 1, 94 * USDT, BTC, false);
    sees(id, ORDER_FILLED, ORDER_OK);
    harness_close(&h);
}

/* A seller's stop at 95, one that trails by 10, and purchases at 96 and, second in the queue, at 90. */
static void ask_all(uint64_t ids[4])
{
    struct order trailing = order_of(ORDER_SELL, ORDER_TRAILING_STOP, BTC);
    trailing.trail = 10 * USDT;
    ids[0] = rested(stop(ORDER_SELL, BTC, 95 * USDT));
    ids[1] = rested(trailing);
    ids[2] = rested(limit(ORDER_BUY, 4 * BTC, 96 * USDT));
    ids[3] = rested(limit(ORDER_BUY, 4 * BTC, 90 * USDT));
}

static void untouched(const uint64_t ids[4], int64_t price, int64_t peak)
{
    CHECK_INT(last(), price);
    for (int i = 0; i < 4; i++) {
        sees(ids[i], ORDER_OPEN, ORDER_OK);
        CHECK_INT(reported(&h, ids[i])->filled, 0);
    }
    CHECK_INT(reported(&h, ids[1])->peak, peak);
}

/* A trade that was before the newest one, one that makes no price and a number sent again at another price
 * move no last price, peak or queue, trigger nothing and fill nothing; they are in their bar. */
static void test_behind(void)
{
    uint64_t ids[4];
    open_stock();
    quote(&h, BTCUSDT, 99 * USDT, 100 * BTC, 100 * USDT, 100 * BTC);
    ask(&h, order_of(ORDER_BUY, ORDER_MARKET, 2 * BTC));
    pass(&h, SECOND_NS);
    trade_of(h.now_ns, 1, 100 * USDT, BTC, false);
    ask_all(ids);
    int64_t first_ns = h.now_ns += 10 * MINUTE_NS;
    trade_of(first_ns, 2, 100 * USDT, BTC, false);
    int64_t peak = reported(&h, ids[1])->peak;
    trade_of(first_ns - 200 * SECOND_NS, 3, 50 * USDT, 9 * BTC, false);  /* triggers, goes through */
    trade_of(first_ns - 200 * SECOND_NS, 4, 150 * USDT, 9 * BTC, false); /* a peak */
    trade_of(first_ns - 1, 5, 90 * USDT, 99 * BTC, false);
    trade_of(first_ns, 2, 50 * USDT, 9 * BTC, false);             /* the same again */
    trade_of(first_ns + SECOND_NS, 6, 50 * USDT, 9 * BTC, true);  /* makes no price */
    trade_of(first_ns - SECOND_NS, 7, 50 * USDT, 9 * BTC, true);  /* neither, and late */
    trade_of(first_ns - SECOND_NS, 7, 50 * USDT, 9 * BTC, false); /* of another exchange: late as well */
    untouched(ids, 100 * USDT, peak);

    /* What a cancellation leaves is the newest by its time, not the one that arrived last. */
    trade_of(first_ns + SECOND_NS / 2, 8, 101 * USDT, BTC, false); /* later than what makes a price */
    CHECK_INT(last(), 101 * USDT);
    trade_of(first_ns + SECOND_NS / 4, 9, 50 * USDT, BTC, false);
    revise(MARKET_CORRECTION,
           (struct market_correction){.id = 9, .new_id = 9, .price = 51 * USDT, .qty = BTC});
    CHECK_INT(last(), 101 * USDT);
    revise(MARKET_CANCEL, (struct market_correction){.id = 8});
    CHECK_INT(last(), 51 * USDT);
    revise(MARKET_CANCEL, (struct market_correction){.id = 9});
    untouched(ids, 100 * USDT, 101 * USDT);

    connection(&h, true); /* what came before is still known */
    trade_of(first_ns - 100 * SECOND_NS, 10, 50 * USDT, 9 * BTC, false);
    untouched(ids, 100 * USDT, 101 * USDT);
    for (int i = 0; i < 3000; i++) /* thousands that make no price, for hours */
        trade_of(first_ns + 2 * SECOND_NS + i * 3 * SECOND_NS, 100 + i, 50 * USDT, BTC, true);
    trade_of(first_ns - 1, 11, 50 * USDT, 9 * BTC, false);
    untouched(ids, 100 * USDT, 101 * USDT);

    quote(&h, BTCUSDT, 99 * USDT, 100 * BTC, 100 * USDT, 100 * BTC);
    trade_of(h.now_ns + SECOND_NS, 7, 94 * USDT, 99 * BTC, false); /* a new one: all of it happens */
    CHECK_INT(last(), 94 * USDT);
    sees(ids[2], ORDER_FILLED, ORDER_OK);
    sees(ids[0], ORDER_FILLED, ORDER_OK);
    CHECK(reported(&h, ids[3])->filled == 0);
    harness_close(&h);
}

/* The first trades of a run, that arrive late: the newest bar is newer. */
static void test_behind_bars(void)
{
    open_stock();
    struct bar bar = flat_bar(START_NS, 100 * USDT);
    h.now_ns = START_NS + MINUTE_NS;
    kline(&h, BTCUSDT, &bar);
    CHECK_INT(last(), 100 * USDT);
    trade_of(START_NS + 30 * SECOND_NS, 1, 50 * USDT, BTC, false);
    CHECK_INT(last(), 100 * USDT);
    trade_of(START_NS + MINUTE_NS, 2, 99 * USDT, BTC, false);
    CHECK_INT(last(), 99 * USDT);
    harness_close(&h);
}

/* A time that is far ahead holds nothing up. */
static void test_ahead(void)
{
    open_stock();
    trade_of(START_NS, 1, 100 * USDT, BTC, false);
    struct event event = {
        .kind = EVENT_MARKET,
        .market = {
            .kind = MARKET_TRADE,
            .symbol = BTCUSDT,
            .trade = {.ts_ns = START_NS + 24 * 60 * MINUTE_NS, .id = 2, .price = 101 * USDT, .qty = BTC}}};
    CHECK_INT(harness_event(&h, &event), 0);
    trade_of(START_NS + SECOND_NS, 3, 102 * USDT, BTC, false);
    CHECK_INT(last(), 102 * USDT);
    harness_close(&h);
}

/* Our clock is slow: a trade that comes late still moves nothing. */
static void test_slow_clock(void)
{
    open_stock();
    for (int known = 0; known < 2; known++) {
        if (known)
            venue_clock(&h, 20 * SECOND_NS);
        h.now_ns = START_NS + known * MINUTE_NS;
        trade_now(h.now_ns + 20 * SECOND_NS, 2 * known + 1, 100 * USDT, BTC, false);
        trade_now(h.now_ns + 15 * SECOND_NS, 2 * known + 2, 99 * USDT, BTC, false);
        CHECK_INT(last(), (known ? 100 : 99) * USDT);
    }
    harness_close(&h);
}

/* Random trades with and without those that move nothing: the orders fare alike. */
static void test_twins(struct random *random)
{
    enum { N = 120 };
    struct {
        int64_t ts_ns, id, price, qty;
        bool odd, moves;
    } trades[N];
    uint64_t behind = 0, fills = 0;
    for (int round = 0; round < 25; round++) {
        struct order ends[2][4];
        int64_t prices[2];
        uint64_t filled[2];
        int64_t now_ns = START_NS + 20 * SECOND_NS, newest_ns = START_NS + 2 * SECOND_NS;
        for (int n = 0; n < N; n++) {
            now_ns += random_between(random, 0, 3 * SECOND_NS);
            int64_t behind_ns = random_chance(random, 30) ? random_between(random, 1, 5 * MINUTE_NS) : 0;
            trades[n].ts_ns = now_ns - behind_ns;
            trades[n].id = random_between(random, 1000, 1000000) * N + n;
            trades[n].price = random_between(random, 85, 115) * USDT;
            trades[n].qty = random_between(random, 1, 300) * BTC / 100;
            trades[n].odd = random_chance(random, 20);
            trades[n].moves = !trades[n].odd && trades[n].ts_ns >= newest_ns;
            if (trades[n].moves)
                newest_ns = trades[n].ts_ns;
            behind += !trades[n].moves;
        }
        for (int twin = 0; twin < 2; twin++) {
            uint64_t ids[4];
            open_stock();
            quote(&h, BTCUSDT, 99 * USDT, 3 * BTC, 100 * USDT, 100 * BTC);
            ask(&h, order_of(ORDER_BUY, ORDER_MARKET, 2 * BTC));
            pass(&h, SECOND_NS);
            trade_of(START_NS + 2 * SECOND_NS, 1, 100 * USDT, BTC, false);
            ask_all(ids);
            for (int n = 0; n < N; n++)
                if (!twin || trades[n].moves)
                    trade_of(trades[n].ts_ns, trades[n].id, trades[n].price, trades[n].qty, trades[n].odd);
            for (int i = 0; i < 4; i++)
                ends[twin][i] = *reported(&h, ids[i]);
            prices[twin] = last();
            filled[twin] = h.fills;
            harness_close(&h);
        }
        CHECK_INT(prices[0], prices[1]);
        CHECK_INT(filled[0], filled[1]);
        for (int i = 0; i < 4; i++)
            CHECK(ends[0][i].state == ends[1][i].state && ends[0][i].filled == ends[1][i].filled &&
                  ends[0][i].cost == ends[1][i].cost && ends[0][i].peak == ends[1][i].peak &&
                  ends[0][i].stop_price == ends[1][i].stop_price);
        fills += filled[0];
    }
    printf("engine/revisions: %" PRIu64 " trades that move nothing, %" PRIu64 " fills\n", behind, fills);
    CHECK(behind > 1000 && fills > 100);
}

/* Random trades, some of them late, and corrections: what is stored in the end against bars made of the
 * trades as they were, by their times. */
struct truth {
    int64_t ts_ns, id, price, qty;
    bool odd, gone;
};

enum { MINUTES = 40, LATE_IN = 20 };

static struct bar bar_of(const struct truth *trades, int n, int64_t open_ns)
{
    struct bar bar = {.open_ns = open_ns};
    int64_t first_ns = 0, last_ns = 0;
    for (int i = 0; i < n; i++) {
        const struct truth *t = &trades[i];
        if (t->gone || t->ts_ns < open_ns || t->ts_ns >= open_ns + MINUTE_NS)
            continue;
        bar.volume += t->qty;
        bar.trades++;
        if (t->odd)
            continue;
        if (bar.open == 0 || t->ts_ns < first_ns) {
            bar.open = t->price;
            first_ns = t->ts_ns;
        }
        bar.high = t->price > bar.high ? t->price : bar.high;
        bar.low = bar.low == 0 || t->price < bar.low ? t->price : bar.low;
        if (t->ts_ns >= last_ns) {
            bar.close = t->price;
            last_ns = t->ts_ns;
        }
    }
    return bar;
}

static bool same(const struct bar *a, const struct bar *b)
{
    return a->open == b->open && a->high == b->high && a->low == b->low && a->close == b->close &&
           a->volume == b->volume && a->trades == b->trades;
}

/* What a database would hold. */
static struct {
    struct bar bars[MINUTES];
    uint64_t built, revisions, late, corrected;
} stored;

static struct bar *place(int64_t open_ns)
{
    int64_t minute = (open_ns - START_NS) / MINUTE_NS;
    CHECK(minute >= 0 && minute < MINUTES);
    return &stored.bars[minute];
}

static void store(void)
{
    if (h.bars_built > stored.built)
        *place(h.last_built.open_ns) = h.last_built;
    stored.built = h.bars_built;
    if (h.revisions == stored.revisions)
        return;
    stored.revisions = h.revisions;
    CHECK(h.last_revision.applied);
    bool late = h.last_revision.kind == REVISION_BAR;
    const struct bar *old = &h.revision_old, *now = &h.revision_now;
    struct bar *at = place(bar_open_time(h.last_revision.at_ns, MINUTE_NS));
    if (at->trades > 0)
        CHECK(same(at, old));
    stored.late += late;
    stored.corrected += !late;
    if (now->open_ns == 0)
        *at = (struct bar){0};
    else if (late || at->trades > 0)
        *at = *now;
}

static void test_random(struct random *random)
{
    static struct truth trades[TRADES];
    uint64_t late = 0, corrected = 0, compared = 0;
    for (int round = 0; round < 60; round++) {
        int64_t pace_ns = random_between(random, 1, 6) * SECOND_NS;
        open_stock();
        memset(&stored, 0, sizeof stored);
        trade_of(START_NS, 1, USDT, BTC, false); /* the first minute is not whole */
        int64_t now_ns = START_NS + MINUTE_NS;
        int64_t newest_ns = 0;
        for (int n = 0; n < TRADES; n++) {
            now_ns += random_between(random, 0, pace_ns);
            struct truth *t = &trades[n];
            int64_t behind_ns = random_chance(random, LATE_IN) ? random_between(random, 0, 3 * MINUTE_NS) : 0;
            *t = (struct truth){.ts_ns = now_ns - behind_ns,
                                .id = n % 2 ? 100000 - n : n + 100,
                                .price = random_between(random, 90, 110) * USDT,
                                .qty = random_between(random, 1, 99) * 1000,
                                .odd = random_chance(random, 30)};
            if (t->ts_ns < START_NS + MINUTE_NS)
                t->ts_ns = START_NS + MINUTE_NS;
            newest_ns = t->ts_ns > newest_ns ? t->ts_ns : newest_ns;
            trade_of(t->ts_ns, t->id, t->price, t->qty, t->odd);
            store();
            if (!random_chance(random, 30))
                continue;
            t = &trades[random_between(random, n > 100 ? n - 100 : 0, n)];
            if (t->gone)
                continue;
            struct market_correction correction = {
                .id = t->id, .new_id = t->id, .price = t->price, .qty = t->qty};
            bool cancel = random_chance(random, 50);
            if (cancel) {
                t->gone = true;
            } else {
                correction.old_price = t->price;
                correction.price = t->price = random_between(random, 90, 110) * USDT;
                correction.new_id = t->id = t->id + 1000000;
            }
            revise(cancel ? MARKET_CANCEL : MARKET_CORRECTION, correction);
            store();
        }
        now_ns = bar_open_time(newest_ns, MINUTE_NS) + MINUTE_NS; /* closes what forms */
        trade_of(now_ns, 2, USDT, BTC, false);
        store();
        for (int64_t open_ns = START_NS + MINUTE_NS; open_ns < now_ns; open_ns += MINUTE_NS) {
            struct bar bar = bar_of(trades, TRADES, open_ns), none = {0};
            CHECK(same(place(open_ns), bar.open ? &bar : &none));
            compared += bar.open != 0;
        }
        late += stored.late;
        corrected += stored.corrected;
        harness_close(&h);
    }
    printf("engine/revisions: %" PRIu64 " bars by %" PRIu64 " late trades and %" PRIu64 " corrections\n",
           compared, late, corrected);
    CHECK(late > 500 && corrected > 3000 && compared > 500);
}

int main(void)
{
    struct random random = random_seeded("engine/revisions", 20261122);
    test_corrections();
    test_late();
    test_bars();
    test_orders();
    test_behind();
    test_behind_bars();
    test_ahead();
    test_slow_clock();
    test_twins(&random);
    test_random(&random);
    return check_done("engine/revisions");
}
