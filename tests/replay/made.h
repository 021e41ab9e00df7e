/* What the tests of synthetic markets share: a tape whose messages are read back as a client would, and
 * compared with each other: the book rebuilt from differences, quotes against it, trades against klines. */
#ifndef TESTS_REPLAY_MADE_H
#define TESTS_REPLAY_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/replay/frame.h"
#include "exchange/replay/source.h"
#include "exchange/replay/tape.h"
#include "tests/check.h"

struct made_check {
    struct tape *tape;
    struct replay_source *source;
    int symbol, unit;

    struct replay_ladder bids, asks; /* from the snapshot at the start and the differences */
    uint64_t book_id;
    struct frame_levels levels;

    struct candles candles; /* from the trades, kept apart from the tape's */
    int64_t last_trade_id, last_trade_ns;
    int64_t agg_first_id, agg_last_id, last_agg_id;
    uint64_t quote_id;
    struct level bid, ask;

    uint64_t trades, aggs, quotes, diffs, slow_diffs, klines, closed, tickers;
    uint64_t hash; /* of every byte */
    int64_t spread_sum;
};

/* Listens to every stream of the symbol and takes the book as it is now. */
static void made_check_init(struct made_check *check, struct replay_source *source, const char *symbol,
                            int unit);

/* The same message by message; installed by made_check_init(). */
static void made_check_message(void *user, struct replay_stream *stream, int unit, const char *data,
                               size_t len);

/* At the end: the rebuilt book equals the venue's. */
static void made_check_book(struct made_check *check);
static void made_check_finish(struct made_check *check);

static void take_book(struct made_check *c)
{
    struct source_book book;
    CHECK(c->source->ops->book(c->source, c->symbol, &book));
    c->bids = (struct replay_ladder){.bid = true};
    for (size_t i = 0; i < book.bids->n; i++)
        replay_ladder_set(&c->bids, book.bids->levels[i].price, book.bids->levels[i].qty);
    for (size_t i = 0; i < book.asks->n; i++)
        replay_ladder_set(&c->asks, book.asks->levels[i].price, book.asks->levels[i].qty);
    c->book_id = book.last_id;
}

static void made_check_init(struct made_check *c, struct replay_source *source, const char *symbol, int unit)
{
    static const char *const words[] = {"trade",      "aggTrade", "bookTicker", "depth@100ms", "depth",
                                        "miniTicker", "kline_1s", "kline_1m",   "kline_5m"};
    *c = (struct made_check){.source = source,
                             .tape = source->tape,
                             .unit = unit,
                             .last_trade_id = -1,
                             .hash = 14695981039346656037u};
    c->symbol = replay_tape_symbol_find(c->tape, symbol, strlen(symbol));
    CHECK(c->symbol >= 0);
    c->tape->deliver = made_check_message;
    c->tape->user = c;
    replay_candles_init(&c->candles);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        char name[64];
        int len = snprintf(name, sizeof(name), "%s@%s", c->tape->symbols[c->symbol].lower, words[i]);
        CHECK_INT(replay_tape_listen(c->tape, name, (size_t)len, c, true, unit), 0);
        CHECK_INT(replay_tape_listen(c->tape, name, (size_t)len, c, true, unit), 1);
    }
    take_book(c);
}

static void check_trade(struct made_check *c, const struct tape_trade *t)
{
    if (c->last_trade_id >= 0)
        CHECK_INT(t->id, c->last_trade_id + 1);
    CHECK(t->qty > 0 && t->price > 0);
    CHECK(t->ts_ns >= c->last_trade_ns && t->event_ns >= t->ts_ns);
    c->last_trade_id = t->id;
    c->last_trade_ns = t->ts_ns;
    struct candle_trade counted = {t->ts_ns, t->id, t->id, t->price, t->qty, t->buyer_maker};
    CHECK_INT(replay_candles_trade(&c->candles, &counted), 0);
    c->trades++;
}

/* A closed kline holds exactly the trades that were sent before it, if the test received its whole
 * interval. */
static void check_kline(struct made_check *c, const struct replay_stream *stream, const struct candle *k,
                        bool closed)
{
    struct candle mine;
    CHECK(k->low <= k->open && k->low <= k->close && k->high >= k->open && k->high >= k->close);
    c->klines++;
    c->closed += closed;
    if (c->candles.tiers[0].n == 0)
        return;
    if (k->open_ns <= c->candles.tiers[0].bars[0].open_ns || k->trades == 0)
        return;
    if (!replay_candles_get(&c->candles, stream->interval, k->open_ns, &mine)) {
        CHECK(!"a kline of trades that were not sent");
        return;
    }
    CHECK(mine.open == k->open && mine.high == k->high && mine.low == k->low && mine.close == k->close);
    CHECK(mine.volume == k->volume && mine.taker_volume == k->taker_volume);
    CHECK(mine.quote_volume / 100000000 == k->quote_volume / 100000000);
    CHECK(mine.trades == k->trades && mine.first_id == k->first_id && mine.last_id == k->last_id);
}

static void apply(struct made_check *c, uint64_t first_id, uint64_t last_id)
{
    CHECK(first_id <= last_id);
    CHECK(first_id <= c->book_id + 1); /* the snapshot may lie inside the first difference */
    if (last_id <= c->book_id)
        return;
    for (size_t i = 0; i < c->levels.n_bids; i++) {
        CHECK(i == 0 || c->levels.bids[i].price < c->levels.bids[i - 1].price);
        replay_ladder_set(&c->bids, c->levels.bids[i].price, c->levels.bids[i].qty);
    }
    for (size_t i = 0; i < c->levels.n_asks; i++) {
        CHECK(i == 0 || c->levels.asks[i].price > c->levels.asks[i - 1].price);
        replay_ladder_set(&c->asks, c->levels.asks[i].price, c->levels.asks[i].qty);
    }
    c->book_id = last_id;
    const struct level *bid = replay_ladder_best(&c->bids, 0), *ask = replay_ladder_best(&c->asks, 0);
    CHECK(bid && ask && bid->price < ask->price);
    if (c->quotes > 0 && c->quote_id <= last_id) {
        CHECK(bid->price == c->bid.price && bid->qty == c->bid.qty);
        CHECK(ask->price == c->ask.price && ask->qty == c->ask.qty);
    }
}

static void made_check_message(void *user, struct replay_stream *stream, int unit, const char *data,
                               size_t len)
{
    struct made_check *c = user;
    CHECK_INT(unit, c->unit);
    struct json_text text = {data, len};
    struct tape_trade trade;
    struct candle candle;
    int64_t first, last, event_ns;
    uint64_t id, last_id;
    for (size_t i = 0; i < len; i++)
        c->hash = (c->hash ^ (unsigned char)data[i]) * 1099511628211u;
    switch (stream->kind) {
    case STREAM_TRADE:
        CHECK_INT(replay_frame_trade(text, &trade), 0);
        check_trade(c, &trade);
        break;
    case STREAM_AGG_TRADE:
        CHECK_INT(replay_frame_agg_trade(text, &trade, &first, &last), 0);
        if (c->aggs > 0) {
            CHECK_INT(first, c->agg_last_id + 1);
            CHECK_INT(trade.id, c->last_agg_id + 1);
        }
        CHECK(first <= last && last <= c->last_trade_id);
        c->agg_last_id = last;
        c->last_agg_id = trade.id;
        c->aggs++;
        break;
    case STREAM_BOOK_TICKER:
        CHECK_INT(replay_frame_quote(text, &id, &c->bid, &c->ask), 0);
        CHECK(c->bid.price < c->ask.price && c->bid.qty > 0 && c->ask.qty > 0);
        CHECK(id >= c->quote_id);
        c->quote_id = id;
        c->spread_sum += c->ask.price - c->bid.price;
        c->quotes++;
        break;
    case STREAM_DEPTH_FAST:
        CHECK_INT(replay_frame_depth(text, &event_ns, &id, &last_id, &c->levels), 0);
        if (c->diffs > 0)
            CHECK(id == c->book_id + 1);
        apply(c, id, last_id);
        c->diffs++;
        break;
    case STREAM_DEPTH:
        CHECK_INT(replay_frame_depth(text, &event_ns, &id, &last_id, &c->levels), 0);
        c->slow_diffs++;
        break;
    case STREAM_KLINE:
        CHECK_INT(replay_frame_kline(text, &event_ns, &candle), 0);
        check_kline(c, stream, &candle, memmem(data, len, "\"x\":true", 8) != NULL);
        break;
    case STREAM_MINI_TICKER:
        c->tickers++;
        break;
    case STREAM_OTHER:
        CHECK(!"a message of no known kind");
    }
}

static void made_check_book(struct made_check *c)
{
    struct source_book book;
    CHECK(c->source->ops->book(c->source, c->symbol, &book));
    if (book.last_id != c->book_id)
        return; /* changes wait for the next difference */
    CHECK_INT(book.bids->n, c->bids.n);
    CHECK_INT(book.asks->n, c->asks.n);
    CHECK(c->bids.n == book.bids->n &&
          memcmp(c->bids.levels, book.bids->levels, c->bids.n * sizeof(*c->bids.levels)) == 0);
    CHECK(c->asks.n == book.asks->n &&
          memcmp(c->asks.levels, book.asks->levels, c->asks.n * sizeof(*c->asks.levels)) == 0);
}

static void made_check_finish(struct made_check *c)
{
    replay_ladder_finish(&c->bids);
    replay_ladder_finish(&c->asks);
    replay_candles_finish(&c->candles);
    replay_frame_levels_finish(&c->levels);
}

#endif
