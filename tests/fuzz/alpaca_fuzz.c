/* What Alpaca may send, through the parser that the first byte picks: f a frame of a data stream (JSON or
 * msgpack), l its notices, r a reply of market data, a assets, x corporate actions, c the calendar, t a frame
 * of the trading stream, u the same of an account, o what an account's requests are answered with.
 *
 *   CC=clang-14 meson setup build-fuzz -Dfuzz=true && ninja -C build-fuzz tests/fuzz/alpaca_fuzz
 *   build-fuzz/tests/fuzz/alpaca_fuzz -max_total_time=60 -max_len=4096 NEW_CORPUS tests/fuzz/corpus_alpaca
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/account/order_parse.h"
#include "exchange/alpaca/assets.h"
#include "exchange/alpaca/calendar.h"
#include "exchange/alpaca/channel.h"
#include "exchange/alpaca/format.h"
#include "exchange/alpaca/rest_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAP = 16, CALLS_PER_BYTE = 32 };

static const struct symbol symbols[] = {
    {.name = "AAPL", .base = "AAPL", .quote = "USD", .price_scale = 9, .qty_scale = 9, .quote_scale = 8},
    {.name = "BTC/USD", .base = "BTC", .quote = "USD", .price_scale = 9, .qty_scale = 9, .quote_scale = 8},
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool within(struct json_text text, const char *data, size_t len)
{
    return text.len == 0 || (text.data >= data && text.data + text.len <= data + len);
}

static void see_bar(const struct bar *bar)
{
    must(bar->low > 0 && bar->low <= bar->open && bar->open <= bar->high && bar->low <= bar->close &&
         bar->close <= bar->high && bar->volume >= 0 && bar->quote_volume >= 0 && bar->trades >= 0);
}

static void see_event(const struct market_event *event)
{
    must(event->event_ns >= 0);
    switch (event->kind) {
    case MARKET_TRADE:
        must(event->trade.price > 0 && event->trade.qty >= 0 && event->trade.id >= 0);
        break;
    case MARKET_QUOTE:
        must(event->quote.bid >= 0 && event->quote.ask >= 0);
        break;
    case MARKET_KLINE:
    case MARKET_REVISION:
        see_bar(&event->kline.bar);
        must(event->kline.interval_ns > 0);
        break;
    case MARKET_DEPTH:
    case MARKET_BOOK:
        for (uint32_t i = 0; i < event->depth.n_bids; i++)
            must(event->depth.bids[i].price > 0 && event->depth.bids[i].qty >= 0);
        for (uint32_t i = 0; i < event->depth.n_asks; i++)
            must(event->depth.asks[i].price > 0 && event->depth.asks[i].qty >= 0);
        break;
    case MARKET_STATUS:
        must(event->status.trading < MARKET_TRADINGS &&
             strnlen(event->status.reason, MARKET_REASON_MAX) < MARKET_REASON_MAX);
        break;
    case MARKET_CORRECTION:
    case MARKET_CANCEL:
        must(event->correction.id >= 0 && strnlen(event->correction.code, MARKET_CODE_MAX) < MARKET_CODE_MAX);
        break;
    default:
        must(event->kind < MARKET_KINDS);
    }
}

static void frame(const char *text, size_t len)
{
    static struct venue_parser *parser;
    static uint64_t last_id[2];
    if (!parser)
        must(alpaca_parser_create(symbols, 2, &parser) == 0);
    size_t pos = 0, calls = 0;
    do {
        struct market_event event;
        size_t before = pos;
        int r = alpaca_parse(parser, text, len, &pos, &event);
        must(r == 0 || r == 1 || r == -EBADMSG || r == -ENOENT);
        must(pos <= len && pos >= before && ++calls <= (len + 1) * CALLS_PER_BYTE);
        if (r != 0)
            continue;
        must(event.symbol == 0 || event.symbol == 1);
        see_event(&event);
        if (event.kind == MARKET_DEPTH || event.kind == MARKET_BOOK) {
            must(event.depth.last_id > last_id[event.symbol] && event.depth.first_id <= event.depth.last_id);
            must(event.kind == MARKET_BOOK || last_id[event.symbol] == 0 ||
                 event.depth.first_id == last_id[event.symbol] + 1);
            last_id[event.symbol] = event.depth.last_id;
        }
    } while (pos < len);
}

static int see_name(void *user, const char *name)
{
    (void)user;
    must(strnlen(name, VENUE_STREAM_NAME_MAX) < VENUE_STREAM_NAME_MAX && strchr(name, ':'));
    return 0;
}

static void notice(const char *text, size_t len)
{
    struct alpaca_notice said;
    alpaca_notice_read(text, len, &said);
    must(within(said.text, text, len));
    alpaca_notice_names(text, len, see_name, NULL);
}

static const struct symbol *symbol(void *user, struct json_text name)
{
    (void)user;
    return name.len % 2 ? &symbols[1] : &symbols[0];
}

static int message(void *user, const struct symbol *of, const struct market_event *event)
{
    (void)user;
    must(of == &symbols[0] || of == &symbols[1]);
    see_event(event);
    return 0;
}

static void reply(const char *text, size_t len)
{
    static struct alpaca_levels levels;
    static const struct alpaca_reply_handler handler = {symbol, message, NULL};
    struct alpaca_reply read;
    int r = alpaca_parse_reply(text, len, &levels, &handler, &read);
    must(r == 0 || r == -EBADMSG);
    must(r < 0 || within(read.next_page, text, len));
}

static void assets(const char *text, size_t len)
{
    struct venue_symbol wanted[] = {{.name = "AAPL"}, {.name = "BTC/USD"}, {.name = "FAKEPACA"}};
    int r = alpaca_parse_assets(text, len, wanted, 3);
    must(r == 0 || r == -EBADMSG);
    for (int i = 0; i < 3; i++)
        if (wanted[i].found) {
            const struct symbol *s = &wanted[i].symbol;
            must(strcmp(s->name, wanted[i].name) == 0 && s->base[0] && s->quote[0]);
            must(s->filters.tick >= 0 && s->filters.step >= 0 && s->filters.qty_min >= 0);
        }
}

static void actions(const char *text, size_t len)
{
    struct venue_action list[CAP];
    struct json_text next;
    struct venue_skipped skipped = {0};
    size_t n, rows;
    if (alpaca_parse_actions(text, len, INT64_MIN, INT64_MAX, list, CAP, &n, &rows, &next, &skipped) < 0)
        return;
    must(n <= CAP && n + skipped.n == rows && within(next, text, len));
    for (size_t i = 0; i < skipped.n && i < VENUE_SKIPPED_MAX; i++)
        must(skipped.list[i].text[0] && !strchr(skipped.list[i].text, '\n'));
    for (size_t i = 0; i < n; i++) {
        const struct corporate_action *action = &list[i].action;
        must(action->id[0] && list[i].symbol[0] && action->ex_ns >= 0);
        must(action->kind == ACTION_DIVIDEND
                 ? action->cash > 0
                 : action->shares > 0 && action->per > 0 && action->shares <= ACTION_RATIO_MAX &&
                       action->per <= ACTION_RATIO_MAX);
    }
}

static void calendar(const char *text, size_t len)
{
    struct trading_day days[CAP];
    size_t n, bad;
    if (alpaca_parse_calendar(text, len, days, CAP, &n) == 0)
        must(n <= CAP && trading_days_check(days, n, &bad) == 0);
}

static void trading(const char *text, size_t len)
{
    struct alpaca_trading said;
    if (alpaca_parse_trading(text, len, &said) != 0 || said.kind != TRADING_UPDATE)
        return;
    must(within(said.event, text, len) && within(said.order.id, text, len) && said.order.id.len > 0);
    must(said.event_kind < ORDER_EVENTS && said.ts_ns >= 0);
    must(said.event_kind != ORDER_EVENT_FILL || said.order.symbol.len == 0 ||
         (said.price > 0 && said.qty > 0));
}

static const struct symbol traded[] = {
    {.name = "BTC/USD", .base = "BTC", .quote = "USD", .price_scale = 9, .qty_scale = 9, .quote_scale = 8},
    {.name = "AAPL", .base = "AAPL", .quote = "USD", .price_scale = 2, .qty_scale = 4, .quote_scale = 8},
};
static const struct venue_symbols paper = {traded, 2};

/* What an account's requests are answered with: orders, fills, cash, positions, refusals. */
static void account(const char *text, size_t len)
{
    struct venue_lists lists = {0};
    struct venue_order order;
    struct json_text words;
    char last[VENUE_TRADE_ID_MAX];
    int64_t last_ns;
    size_t n;
    int code;
    if (alpaca_parse_order(&paper, text, len, &order, NULL) == 0)
        must(order.id[0] && (!order.symbol || order.qty >= 0) && order.filled >= 0);
    if (alpaca_parse_orders(&paper, text, len, &lists, &n, &last_ns) == 0)
        must(lists.n_orders <= n);
    if (alpaca_parse_fills(&traded[0], "o", text, len, &lists, &n, last) == 0)
        must(lists.n_fills <= n);
    if (alpaca_fills_settle(&lists, 0) && lists.n_fills > 0)
        must(lists.fills[0].cumulative == lists.fills[0].qty && lists.fills[0].qty > 0);
    alpaca_parse_cash(&paper, text, len, &lists);
    alpaca_parse_positions(&paper, text, len, &lists);
    if (alpaca_parse_error(text, len, &code, &words))
        must(code > 0 || within(words, text, len));
    venue_lists_free(&lists);
}

static void update(const char *text, size_t len)
{
    struct alpaca_trading said;
    struct venue_order order;
    struct venue_fill fill;
    bool filled;
    if (alpaca_parse_trading(text, len, &said) == 0 && said.kind == TRADING_UPDATE &&
        alpaca_account_update(&paper, &said, &order, &filled, &fill) && filled)
        must(fill.qty > 0 && fill.price > 0 && fill.cumulative >= fill.qty && fill.trade_id[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        char word;
        void (*parse)(const char *text, size_t len);
    } words[] = {{'f', frame},    {'l', notice},  {'r', reply},   {'a', assets}, {'x', actions},
                 {'c', calendar}, {'t', trading}, {'o', account}, {'u', update}};
    if (size == 0)
        return 0;
    size_t len = size - 1;
    char *own = malloc(len ? len : 1); /* of its own size, so that a step past it is seen */
    must(own != NULL);
    memcpy(own, data + 1, len);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].word == *data)
            words[i].parse(own, len);
    free(own);
    return 0;
}
