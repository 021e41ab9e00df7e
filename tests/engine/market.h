/* A small market for random tests of the engine: a book of 200 prices around a middle that walks, its trades,
 * quotes and differences. */
#ifndef TESTS_ENGINE_MARKET_H
#define TESTS_ENGINE_MARKET_H

#include "tests/engine/harness.h"
#include "tests/random.h"

enum { MARKET_PRICES = 200 };

struct small_market {
    int64_t low, tick; /* the price of level 0, and between levels */
    int64_t bids[MARKET_PRICES], asks[MARKET_PRICES];
    int middle;
    uint64_t id;
};

static inline int64_t market_price(const struct small_market *market, int level)
{
    return market->low + level * market->tick;
}

static inline void market_init(struct small_market *market, int64_t low, int64_t tick)
{
    *market = (struct small_market){.low = low, .tick = tick, .middle = MARKET_PRICES / 2, .id = 1000};
}

/* One change of the book, as a difference. Bids stay below the middle, asks above it. */
static inline void market_depth(struct harness *h, int symbol, struct small_market *market,
                                struct random *random)
{
    struct book_level bids[8], asks[8];
    uint32_t n_bids = 0, n_asks = 0;
    uint64_t first = market->id + 1;
    int before = market->middle, after = before + (int)random_between(random, -1, 1);
    if (after > 20 && after < MARKET_PRICES - 20)
        market->middle = after;
    for (int i = 0; i < 2; i++) {
        int level = i ? market->middle : before;
        market->bids[level] = market->asks[level] = 0;
        bids[n_bids++] = asks[n_asks++] = (struct book_level){market_price(market, level), 0};
    }
    for (int i = (int)random_between(random, 1, 5); i > 0; i--) {
        bool bid = random_chance(random, 50);
        int level = market->middle +
                    (bid ? -1 : 1) * (int)random_between(random, 1, random_chance(random, 80) ? 4 : 19);
        int64_t qty = random_chance(random, 35) ? 0 : random_between(random, 1, 50000) * 100;
        (bid ? market->bids : market->asks)[level] = qty;
        if (bid)
            bids[n_bids++] = (struct book_level){market_price(market, level), qty};
        else
            asks[n_asks++] = (struct book_level){market_price(market, level), qty};
    }
    market->id += (uint64_t)random_between(random, 1, 4);
    if (!random_chance(random, 1)) /* else it is lost on the way */
        CHECK_INT(depth(h, symbol, first, market->id, bids, n_bids, asks, n_asks), 0);
}

static inline void market_snapshot(struct harness *h, int symbol, const struct small_market *market)
{
    struct book_level bids[MARKET_PRICES], asks[MARKET_PRICES];
    uint32_t n_bids = 0, n_asks = 0;
    for (int level = MARKET_PRICES - 1; level >= 0; level--)
        if (market->bids[level])
            bids[n_bids++] = (struct book_level){market_price(market, level), market->bids[level]};
    for (int level = 0; level < MARKET_PRICES; level++)
        if (market->asks[level])
            asks[n_asks++] = (struct book_level){market_price(market, level), market->asks[level]};
    CHECK_INT(snapshot(h, symbol, market->id, bids, n_bids, asks, n_asks), 0);
}

static inline void market_quote(struct harness *h, int symbol, struct small_market *market)
{
    int bid = market->middle, ask = market->middle;
    while (bid > 0 && !market->bids[bid])
        bid--;
    while (ask < MARKET_PRICES - 1 && !market->asks[ask])
        ask++;
    h->next_quote_id = market->id; /* quotes and differences count together */
    quote(h, symbol, market->bids[bid] ? market_price(market, bid) : 0, market->bids[bid],
          market->asks[ask] ? market_price(market, ask) : 0, market->asks[ask]);
}

static inline void market_trade(struct harness *h, int symbol, struct small_market *market,
                                struct random *random)
{
    int level = market->middle + (int)random_between(random, -3, 3);
    if (random_chance(random, 2))
        h->next_trade_id[symbol] += random_between(random, 1, 3); /* some were missed */
    if (random_chance(random, 2))
        h->next_trade_id[symbol]--; /* the last one again */
    trade_by(h, symbol, market_price(market, level), random_between(random, 1, 30000) * 100,
             random_chance(random, 50));
}

#endif
