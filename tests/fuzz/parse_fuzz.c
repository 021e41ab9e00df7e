/* What a venue may send, frame by frame (a line each), through the parser into a book and a bar builder.
 *
 *   CC=clang-14 meson setup build-fuzz -Dfuzz=true && ninja -C build-fuzz tests/fuzz/parse_fuzz
 *   build-fuzz/tests/fuzz/parse_fuzz -max_total_time=60 -max_len=4096 NEW_CORPUS tests/fuzz/corpus
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/binance/format.h"
#include "exchange/book.h"
#include "exchange/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct symbol symbols[] = {
    {.name = "ETHUSDT", .base = "ETH", .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8},
    {.name = "BTCUSDT", .base = "BTC", .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8},
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void feed(const struct market_event *event, struct book *book, struct bar_builder *builder)
{
    struct bar bar;
    must(event->symbol == 0 || event->symbol == 1);
    must(event->event_ns >= 0);
    switch (event->kind) {
    case MARKET_TRADE:
        must(event->trade.price > 0 && event->trade.qty >= 0 && event->trade.id >= 0);
        if (bar_builder_trade(builder, event->trade.ts_ns, event->trade.id, event->trade.price,
                              event->trade.qty, &bar) == BAR_CLOSED)
            must(bar.low <= bar.open && bar.close <= bar.high && bar.trades > 0);
        break;
    case MARKET_AGG_TRADE:
        must(event->trade.first_id <= event->trade.last_id);
        break;
    case MARKET_KLINE:
        must(event->kline.bar.low <= event->kline.bar.high && event->kline.interval_ns > 0);
        bar_builder_confirm_first(builder, event->kline.bar.open_ns, event->kline.bar.first_trade_id);
        break;
    case MARKET_DEPTH: {
        const struct market_depth *depth = &event->depth;
        must(depth->first_id <= depth->last_id);
        int r = book_diff(book, depth->first_id, depth->last_id, depth->bids, depth->n_bids, depth->asks,
                          depth->n_asks);
        must(r >= 0 || r == -E2BIG);
        must(r != BOOK_APPLIED || book_valid(book));
        struct book whole; /* the same levels as if they were all */
        book_init(&whole);
        int replaced = book_replace(&whole, 0, depth->bids, depth->n_bids, depth->asks, depth->n_asks);
        must(replaced == BOOK_APPLIED || replaced == BOOK_NEED_SNAPSHOT);
        must(replaced != BOOK_APPLIED || (whole.state == BOOK_SYNCED && book_valid(&whole)));
        book_finish(&whole);
        if (r == BOOK_NEED_SNAPSHOT)
            book_snapshot(book, depth->last_id, NULL, 0, NULL, 0);
        for (uint32_t i = 0; i < book->bids.n; i++)
            must(book->bids.levels[i].qty > 0 &&
                 (i == 0 || book->bids.levels[i - 1].price < book->bids.levels[i].price));
        for (uint32_t i = 0; i < book->asks.n; i++)
            must(book->asks.levels[i].qty > 0 &&
                 (i == 0 || book->asks.levels[i - 1].price > book->asks.levels[i].price));
        break;
    }
    default:
        must(event->kind < MARKET_KINDS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct venue_parser *parser;
    if (!parser && binance_parser_create(symbols, 2, &parser) < 0)
        abort();
    struct book book;
    struct bar_builder builder;
    book_init(&book);
    bar_builder_init(&builder, 60000000000);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end ? (size_t)(end - data) : size;
        char *frame = malloc(len ? len : 1); /* of its own size, so that a step past it is seen */
        must(frame != NULL);
        memcpy(frame, data, len);
        struct json json;
        json_init(&json, frame, len);
        bool object = json_peek(&json) == '{', sound = json_skip(&json) && json_done(&json);
        struct market_event event;
        int r = binance_parse(parser, frame, len, &event);
        must(r == 0 || r == 1 || r == -EBADMSG || r == -ENOENT);
        must(r == -EBADMSG || (object && sound));
        if (r == 0)
            feed(&event, &book, &builder);
        free(frame);
        data += end ? len + 1 : len;
        size -= end ? len + 1 : len;
    }
    struct bar bar;
    bar_builder_close(&builder, INT64_MAX, &bar);
    book_finish(&book);
    return 0;
}
