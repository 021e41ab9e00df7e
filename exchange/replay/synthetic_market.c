#include "exchange/replay/synthetic_market.h"

#include <stdlib.h>

void replay_synthetic_market_init(struct synthetic_market *market, struct tape *tape, int symbol,
                                  uint64_t update_id, int64_t trade_id)
{
    *market = (struct synthetic_market){
        .tape = tape,
        .symbol = symbol,
        .bids = {.bid = true},
        .update_id = update_id,
        .emitted_id = update_id,
        .next_trade_id = trade_id,
        /* Sorted against the side, so that the array begins with the best: the order of a message. */
        .changed = {{.bid = false, .keep_zero = true}, {.bid = true, .keep_zero = true}},
    };
}

void replay_synthetic_market_finish(struct synthetic_market *market)
{
    replay_ladder_finish(&market->bids);
    replay_ladder_finish(&market->asks);
    replay_ladder_finish(&market->changed[0]);
    replay_ladder_finish(&market->changed[1]);
}

void replay_synthetic_market_set(struct synthetic_market *market, bool bid, int64_t price, int64_t qty)
{
    if (replay_ladder_set(bid ? &market->bids : &market->asks, price, qty) < 0 ||
        replay_ladder_set(&market->changed[bid ? 0 : 1], price, 0) < 0)
        market->tape->failed = true;
    market->update_id++;
}

/* One level's part of an order. Every eighth is two makers' orders, so that trades and aggregates differ. */
static void emit_trades(struct synthetic_market *market, int64_t ts_ns, bool buy, int64_t price, int64_t qty)
{
    struct tape_trade trade = {.event_ns = ts_ns, .ts_ns = ts_ns, .price = price, .buyer_maker = !buy};
    int64_t unit = 1;
    for (int i = market->tape->symbols[market->symbol].qty_digits; i < 8; i++)
        unit *= 10;
    int64_t first = market->next_trade_id % 8 == 0 ? qty / unit / 2 * unit : 0;
    if (first > 0) {
        trade.id = market->next_trade_id++;
        trade.qty = first;
        market->messages++;
        replay_tape_trade(market->tape, market->symbol, &trade, false, NULL, 0);
    }
    trade.id = market->next_trade_id++;
    trade.qty = qty - first;
    market->messages++;
    replay_tape_trade(market->tape, market->symbol, &trade, true, NULL, 0);
}

int64_t replay_synthetic_market_take(struct synthetic_market *market, int64_t ts_ns, bool buy, int64_t qty,
                                     int64_t limit)
{
    const struct replay_ladder *side = buy ? &market->asks : &market->bids;
    int64_t taken = 0;
    while (taken < qty) {
        const struct level *best = replay_ladder_best(side, 0);
        if (!best || (buy ? best->price > limit : best->price < limit))
            break;
        struct level level = *best;
        int64_t part = level.qty < qty - taken ? level.qty : qty - taken;
        replay_synthetic_market_set(market, !buy, level.price, level.qty - part);
        emit_trades(market, ts_ns, buy, level.price, part);
        taken += part;
    }
    return taken;
}

static bool same(struct level a, struct level b)
{
    return a.price == b.price && a.qty == b.qty;
}

void replay_synthetic_market_quote(struct synthetic_market *market)
{
    const struct level *bid = replay_ladder_best(&market->bids, 0),
                       *ask = replay_ladder_best(&market->asks, 0);
    if (!bid || !ask || (same(*bid, market->quoted_bid) && same(*ask, market->quoted_ask)))
        return;
    market->quoted_bid = *bid;
    market->quoted_ask = *ask;
    market->messages++;
    replay_tape_quote(market->tape, market->symbol, market->update_id, bid->price, bid->qty, ask->price,
                      ask->qty, NULL, 0);
}

void replay_synthetic_market_diff(struct synthetic_market *market, int64_t ts_ns)
{
    if (market->update_id == market->emitted_id)
        return;
    for (int side = 0; side < 2; side++) {
        struct replay_ladder *changed = &market->changed[side];
        for (size_t i = 0; i < changed->n; i++)
            changed->levels[i].qty =
                replay_ladder_qty(side == 0 ? &market->bids : &market->asks, changed->levels[i].price);
    }
    market->messages++;
    replay_tape_depth(market->tape, market->symbol, ts_ns, market->emitted_id + 1, market->update_id,
                      market->changed[0].levels, market->changed[0].n, market->changed[1].levels,
                      market->changed[1].n, NULL, 0);
    market->changed[0].n = market->changed[1].n = 0;
    market->emitted_id = market->update_id;
}

bool replay_synthetic_market_book(const struct synthetic_market *market, struct source_book *ret)
{
    *ret = (struct source_book){&market->bids, &market->asks, market->update_id};
    return true;
}
