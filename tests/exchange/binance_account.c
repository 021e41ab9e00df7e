/* What Binance's accounts answer, without a connection: what each answer says of an outcome, and orders,
 * fills, balances and events as they are read: whole, cut at every byte, and damaged. */
#include <errno.h>

#include "exchange/binance/account/event_parse.h"
#include "tests/check.h"

static const struct symbol symbols_list[] = {
    {.name = "BTCUSDT", .base = "BTC", .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8},
    {.name = "SHIBEUR", .base = "SHIB", .quote = "EUR", .price_scale = 8, .qty_scale = 2, .quote_scale = 8},
};
static const struct venue_symbols symbols = {symbols_list, 2};

#define E8 100000000LL

/* ---- Outcomes. ---- */

static void test_outcomes(void)
{
    static const struct {
        enum account_ask kind;
        int status;
        int code;
        const char *msg;
        enum venue_outcome expected;
    } cases[] = {
        {ACCOUNT_PLACE, 500, 0, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 502, 0, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 503, -1008, "Server is currently overloaded", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 503, -1021, "whatever it says", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 504, -1007, "Timeout", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 400, -1006, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 400, -1007, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 429, -1008, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 429, -1007, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 400, -1000, "An unknown error occurred", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 400, -1001, "Internal error", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 400, -1016, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 400, -9999, "of tomorrow", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 400, 0, "no JSON", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 404, 0, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 408, 0, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 409, -2021, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 301, 0, "", VENUE_UNKNOWN}, /* not followed */
        {ACCOUNT_PLACE, 204, 0, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 0, 0, "", VENUE_UNKNOWN},
        {ACCOUNT_PLACE, 400, -2010, "Duplicate order sent.", VENUE_EXISTS},
        {ACCOUNT_CANCEL, 400, -2010, "Duplicate order sent.", VENUE_REFUSED},
        {ACCOUNT_PLACE, 400, -2010, "Account has insufficient balance for requested action.", VENUE_REFUSED},
        {ACCOUNT_PLACE, 400, -2010, "Order would immediately match and take.", VENUE_REFUSED},
        {ACCOUNT_PLACE, 400, -1013, "Filter failure: LOT_SIZE", VENUE_REFUSED},
        {ACCOUNT_PLACE, 400, -1021, "Timestamp for this request is outside of the recvWindow.",
         VENUE_BAD_TIMESTAMP},
        {ACCOUNT_CANCEL, 400, -1021, "", VENUE_BAD_TIMESTAMP},
        {ACCOUNT_BALANCES, 400, -1021, "", VENUE_BAD_TIMESTAMP},
        {ACCOUNT_PLACE, 400, -1022, "Signature for this request is not valid.", VENUE_REFUSED},
        {ACCOUNT_PLACE, 400, -1100, "", VENUE_REFUSED},
        {ACCOUNT_PLACE, 400, -1121, "Invalid symbol.", VENUE_REFUSED},
        {ACCOUNT_PLACE, 400, -1130, "", VENUE_REFUSED},
        {ACCOUNT_PLACE, 400, -2011, "", VENUE_REFUSED},
        {ACCOUNT_CANCEL, 400, -2011, "Unknown order sent.", VENUE_ABSENT},
        {ACCOUNT_QUERY, 400, -2013, "Order does not exist.", VENUE_ABSENT},
        {ACCOUNT_QUERY, 400, -2011, "", VENUE_REFUSED},
        {ACCOUNT_QUERY, 400, -2026, "", VENUE_REFUSED},
        {ACCOUNT_PLACE, 401, -2014, "API-key format invalid.", VENUE_DENIED},
        {ACCOUNT_PLACE, 401, -2015, "", VENUE_DENIED},
        {ACCOUNT_PLACE, 400, -2015, "", VENUE_DENIED},
        {ACCOUNT_PLACE, 401, 0, "", VENUE_DENIED},
        {ACCOUNT_OPEN, 401, -1002, "", VENUE_DENIED},
        {ACCOUNT_PLACE, 429, -1003, "Too much request weight used", VENUE_NOT_SENT},
        {ACCOUNT_PLACE, 429, -1015, "Too many new orders", VENUE_NOT_SENT},
        {ACCOUNT_PLACE, 400, -1015, "Too many new orders", VENUE_NOT_SENT},
        {ACCOUNT_PLACE, 418, -1003, "Way too much", VENUE_NOT_SENT},
        {ACCOUNT_PLACE, 418, 0, "", VENUE_NOT_SENT},
        {ACCOUNT_PLACE, 429, 0, "<html>", VENUE_NOT_SENT},
        {ACCOUNT_PLACE, 403, 0, "<html>", VENUE_NOT_SENT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct binance_refusal refusal = {
            cases[i].status, cases[i].code, {cases[i].msg, strlen(cases[i].msg)}};
        enum venue_outcome outcome = binance_outcome(cases[i].kind, &refusal);
        if (outcome != cases[i].expected)
            fprintf(stderr, "HTTP %d, %d: %s, not %s\n", cases[i].status, cases[i].code,
                    venue_outcome_name(outcome), venue_outcome_name(cases[i].expected));
        CHECK_INT(outcome, cases[i].expected);
        if (outcome == VENUE_NOT_SENT)
            CHECK(binance_refusal_wait_ms(&refusal) > 0);
    }
    CHECK(binance_refusal_of_address(&(struct binance_refusal){.status = 429, .code = -1003}));
    CHECK(binance_refusal_of_address(&(struct binance_refusal){.status = 418}));
    CHECK(!binance_refusal_of_address(&(struct binance_refusal){.status = 429, .code = -1015}));
    CHECK(!binance_refusal_of_address(&(struct binance_refusal){.status = 400, .code = -2010}));
}

/* ---- Answers. ---- */

static struct json json_of(const char *text)
{
    struct json json;
    json_init(&json, text, strlen(text));
    return json;
}

static const char placed[] =
    "{\"symbol\":\"BTCUSDT\",\"orderId\":28,\"orderListId\":-1,\"clientOrderId\":\"a-1\",\"transactTime\":"
    "1507725176595,\"price\":\"0.00000000\",\"origQty\":\"10.00000000\",\"executedQty\":\"3.00000000\","
    "\"origQuoteOrderQty\":\"0.000000\",\"cummulativeQuoteQty\":\"11999.00000000\",\"status\":\"PARTIALLY_FILLED\","
    "\"timeInForce\":\"GTC\",\"type\":\"LIMIT\",\"side\":\"SELL\",\"workingTime\":1507725176595,"
    "\"selfTradePreventionMode\":\"NONE\",\"fills\":[{\"price\":\"4000.00000000\",\"qty\":\"1.00000000\","
    "\"commission\":\"4.00000000\",\"commissionAsset\":\"USDT\",\"tradeId\":56},{\"price\":\"3999.50000000\","
    "\"qty\":\"2.00000000\",\"commission\":\"0.01000000\",\"commissionAsset\":\"BNB\",\"tradeId\":57}]}";

static void test_placed(void)
{
    struct venue_lists parsed = {0};
    CHECK_INT(binance_parse_order(json_of(placed), &symbols, &parsed), 0);
    CHECK_INT(parsed.n_orders, 1);
    CHECK_INT(parsed.n_fills, 2);
    const struct venue_order *order = parsed.orders;
    CHECK_STR(order->client_id, "a-1");
    CHECK_STR(order->id, "28");
    CHECK(order->symbol == &symbols_list[0]);
    CHECK_INT(order->state, VENUE_ORDER_PARTIAL);
    CHECK_INT(order->side, ORDER_SELL);
    CHECK_INT(order->type, ORDER_LIMIT);
    CHECK_INT(order->tif, ORDER_GTC);
    CHECK_INT(order->qty, 10 * E8);
    CHECK_INT(order->filled, 3 * E8);
    CHECK_INT(order->ts_ns, 1507725176595000000);
    CHECK_INT(parsed.ts_ns, order->ts_ns);
    const struct venue_fill *fill = &parsed.fills[1];
    CHECK_STR(fill->trade_id, "57");
    CHECK_STR(fill->order_id, "28");
    CHECK_STR(fill->client_id, "a-1");
    CHECK_INT(fill->price, 399950000000);
    CHECK_INT(fill->qty, 2 * E8);
    CHECK_INT(parsed.fills[0].cumulative, 1 * E8);
    CHECK_INT(fill->cumulative, 3 * E8);
    CHECK_INT(fill->notional, -1);
    CHECK_STR(fill->fee_asset, "BNB");
    CHECK_INT(fill->fee, E8 / 100);
    CHECK_INT(fill->fee_scale, VENUE_BALANCE_SCALE);
    CHECK(fill->fee_said && !fill->maker);
    venue_lists_free(&parsed);
}

/* Every prefix of it, and it with a byte changed: read, or refused, and never beyond its end. */
static void try_damaged(const char *text, int (*read)(const char *text, size_t len))
{
    size_t len = strlen(text);
    for (size_t n = 0; n < len; n++) {
        char *part = malloc(n ? n : 1); /* exactly so much: sanitizers see a byte beyond */
        memcpy(part, text, n);
        CHECK(read(part, n) != 0);
        free(part);
    }
    for (size_t i = 0; i < len; i++)
        for (size_t k = 0; k < 6; k++) {
            char *changed = malloc(len);
            memcpy(changed, text, len);
            changed[i] = "\"0-{x\x80"[k];
            read(changed, len);
            free(changed);
        }
}

static int read_order_text(const char *text, size_t len)
{
    struct venue_lists parsed = {0};
    struct json json;
    json_init(&json, text, len);
    int r = binance_parse_order(json, &symbols, &parsed);
    for (size_t i = 0; r == 0 && i < parsed.n_fills; i++)
        CHECK(parsed.fills[i].qty > 0 && parsed.fills[i].cumulative >= parsed.fills[i].qty);
    venue_lists_free(&parsed);
    return r;
}

/* With one part replaced, or taken out. */
static int read_altered(const char *text, const char *part, const char *by)
{
    char altered[4096];
    const char *at = strstr(text, part);
    CHECK(at != NULL);
    if (!at)
        return 0;
    snprintf(altered, sizeof(altered), "%.*s%s%s", (int)(at - text), text, by, at + strlen(part));
    return read_order_text(altered, strlen(altered));
}

static void test_bad_orders(void)
{
    static const char *const bad[][2] = {
        {"\"symbol\":\"BTCUSDT\",", ""},
        {"\"orderId\":28,", ""},
        {"\"status\":\"PARTIALLY_FILLED\"", "\"status\":\"OF_TOMORROW\""},
        {"\"status\":\"PARTIALLY_FILLED\",", ""},
        {"\"side\":\"SELL\"", "\"side\":\"HOLD\""},
        {"\"origQty\":\"10.00000000\"", "\"origQty\":\"-10.00000000\""},
        {"\"origQty\":\"10.00000000\"", "\"origQty\":\"10.000000001\""},
        {"\"executedQty\":\"3.00000000\"", "\"executedQty\":\"99999999999999999999\""},
        {"\"executedQty\":\"3.00000000\"", "\"executedQty\":\"4.00000000\""}, /* not its fills' sum */
        {"\"price\":\"0.00000000\"", "\"price\":\"NaN\""},
        {"\"transactTime\":1507725176595", "\"transactTime\":-1"},
        {"\"qty\":\"1.00000000\"", "\"qty\":\"0\""},
        {"\"commission\":\"4.00000000\"", "\"commission\":\"-4.00000000\""},
        {"\"commissionAsset\":\"USDT\"", "\"commissionAsset\":null"},
        {",\"tradeId\":56", ""},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (read_altered(placed, bad[i][0], bad[i][1]) != -EBADMSG)
            fprintf(stderr, "%s: taken\n", bad[i][1]);
        CHECK_INT(read_altered(placed, bad[i][0], bad[i][1]), -EBADMSG);
    }
    CHECK_INT(read_altered(placed, "\"symbol\":\"BTCUSDT\"", "\"symbol\":\"OTHERUSDT\""), 0);
    try_damaged(placed, read_order_text);
}

static void test_cancelled(void)
{
    static const char text[] =
        "{\"symbol\":\"BTCUSDT\",\"origClientOrderId\":\"a-1\",\"orderId\":4,\"orderListId\":-1,\"clientOrderId\":"
        "\"cancelMyOrder1\",\"transactTime\":1684804350068,\"price\":\"2.0\",\"origQty\":\"1.0\",\"executedQty\":"
        "\"0.0\",\"cummulativeQuoteQty\":\"0.0\",\"status\":\"CANCELED\",\"timeInForce\":\"GTC\",\"type\":"
        "\"STOP_LOSS_LIMIT\",\"side\":\"BUY\",\"stopPrice\":\"1.5\",\"trailingDelta\":10}";
    struct venue_lists parsed = {0};
    CHECK_INT(binance_parse_order(json_of(text), &symbols, &parsed), 0);
    CHECK_STR(parsed.orders[0].client_id, "a-1");
    CHECK_INT(parsed.orders[0].state, VENUE_ORDER_CANCELED);
    CHECK_INT(parsed.orders[0].type, ORDER_TYPES); /* a trailing one */
    CHECK_INT(parsed.orders[0].stop_price, 150000000);
    venue_lists_free(&parsed);
}

static void test_open(void)
{
    static const char text[] =
        "[{\"symbol\":\"ABCDEFGHIJKLMNOPQRSTUVWXYZUSDT\",\"orderId\":1,\"clientOrderId\":\"web\",\"price\":"
        "\"1e5\",\"origQty\":\"x\",\"status\":\"PENDING_NEW\",\"type\":\"ODD\",\"timeInForce\":\"ODD\",\"side\":"
        "\"BUY\"},{\"symbol\":\"SHIBEUR\",\"orderId\":2,\"clientOrderId\":\"b\",\"price\":\"0.00001\",\"origQty\":"
        "\"5.25\",\"executedQty\":\"0\",\"status\":\"NEW\",\"type\":\"LIMIT_MAKER\",\"timeInForce\":\"GTC\","
        "\"side\":\"SELL\",\"updateTime\":1684804350068000}]";
    struct venue_lists parsed = {0};
    CHECK_INT(binance_parse_open(json_of(text), &symbols, &parsed), 0);
    CHECK_INT(parsed.n_orders, 2);
    CHECK(parsed.orders[0].symbol == NULL);
    CHECK_STR(parsed.orders[0].name, "ABCDEFGHIJKLMNOPQRSTUVW"); /* of none of ours: cut */
    CHECK_INT(parsed.orders[0].type, ORDER_TYPES);
    CHECK_INT(parsed.orders[0].tif, ORDER_TIFS);
    CHECK_INT(parsed.orders[1].qty, 525);
    CHECK_INT(parsed.orders[1].price, 1000);
    CHECK_INT(parsed.orders[1].type, ORDER_LIMIT);
    CHECK_INT(parsed.orders[1].ts_ns, 1684804350068000000);
    venue_lists_free(&parsed);
    CHECK_INT(binance_parse_open(json_of("[]"), &symbols, &parsed), 0);
    CHECK_INT(parsed.n_orders, 0);
    CHECK_INT(binance_parse_open(json_of("{}"), &symbols, &parsed), -EBADMSG);
    venue_lists_free(&parsed);
}

#define TRADE(id, order, qty, more) \
    "{\"symbol\":\"BTCUSDT\",\"id\":" id ",\"orderId\":" order \
    ",\"orderListId\":-1,\"price\":\"4.00000100\"," \
    "\"qty\":\"" qty \
    "\",\"quoteQty\":\"48.000012\",\"commission\":\"10.10000000\",\"commissionAsset\":\"BNB\"," \
    "\"time\":1499865549590,\"isBuyer\":true,\"isMaker\":false" more "}"

static int read_trades_text(const char *text, size_t len)
{
    struct venue_lists parsed = {0};
    struct json json;
    json_init(&json, text, len);
    int r = binance_parse_trades(json, &symbols, &symbols_list[0], "7", &parsed);
    venue_lists_free(&parsed);
    return r;
}

static void test_trades(void)
{
    static const char text[] = "[" TRADE("1000", "7", "2", "") "," TRADE("999", "7", "1", "") "]";
    static const char next[] = "[" TRADE("1001", "7", "0.5", "") "]";
    struct venue_lists parsed = {0};
    CHECK_INT(binance_parse_trades(json_of(text), &symbols, &symbols_list[0], "7", &parsed), 0);
    CHECK_INT(binance_parse_trades(json_of(next), &symbols, &symbols_list[0], "7", &parsed), 0);
    CHECK_INT(parsed.n_fills, 3);
    CHECK_STR(parsed.fills[0].trade_id, "999"); /* by number, not by letters */
    CHECK_INT(parsed.fills[0].cumulative, 1 * E8);
    CHECK_INT(parsed.fills[1].cumulative, 3 * E8);
    CHECK_INT(parsed.fills[2].cumulative, 3 * E8 + E8 / 2);
    CHECK_INT(parsed.fills[0].notional, 4800001200);
    CHECK_INT(parsed.fills[0].side, ORDER_BUY);
    CHECK_INT(parsed.fills[0].ts_ns, 1499865549590000000);
    CHECK_STR(parsed.fills[0].order_id, "7");
    venue_lists_free(&parsed);
    static const char other[] = "[" TRADE("1", "8", "1", "") "]";
    CHECK_INT(read_trades_text(other, strlen(other)), -EBADMSG);
    static const char twice[] = "[" TRADE("1", "7", "1", "") "," TRADE("1", "7", "1", "") "]";
    CHECK_INT(read_trades_text(twice, strlen(twice)), -EBADMSG);
    try_damaged(text, read_trades_text);
}

static int read_balances_text(const char *text, size_t len)
{
    struct venue_lists parsed = {0};
    struct json json;
    json_init(&json, text, len);
    int r = binance_parse_balances(json, &symbols, &parsed);
    venue_lists_free(&parsed);
    return r;
}

static void test_balances(void)
{
    static const char text[] =
        "{\"makerCommission\":15,\"commissionRates\":{\"maker\":\"0.1\"},\"balances\":[{\"asset\":\"BTC\",\"free\":"
        "\"4723846.89208129\",\"locked\":\"0.5\"},{\"asset\":\"ZERO\",\"free\":\"0.00\",\"locked\":\"0\"},{\"asset\":"
        "\"SHIB\",\"free\":\"9000000000000.25\",\"locked\":\"0.00\"},{\"asset\":\"EUR\",\"free\":\"0\",\"locked\":"
        "\"1.00000001\"},{\"asset\":\"BIG\",\"free\":\"900000000000000000000\",\"locked\":\"0\"},{\"asset\":\"ODD\","
        "\"free\":\"1.5\",\"locked\":\"0\"}],\"uid\":354937868}";
    struct venue_lists parsed = {0};
    CHECK_INT(binance_parse_balances(json_of(text), &symbols, &parsed), 0);
    CHECK_INT(parsed.n_balances, 4); /* without what is 0, and what no symbol has and no number holds */
    CHECK_STR(parsed.balances[0].asset, "BTC");
    CHECK_INT(parsed.balances[0].free, 472384689208129);
    CHECK_INT(parsed.balances[0].locked, E8 / 2);
    CHECK_INT(parsed.balances[0].scale, 8);
    CHECK_STR(parsed.balances[1].asset, "SHIB");
    CHECK_INT(parsed.balances[1].free, 900000000000025);
    CHECK_INT(parsed.balances[1].scale, 2); /* its symbol's */
    CHECK_INT(parsed.balances[2].locked, E8 + 1);
    CHECK_STR(parsed.balances[3].asset, "ODD");
    venue_lists_free(&parsed);
    static const char *const bad[] = {
        "{}",
        "[]",
        "{\"balances\":{}}",
        "{\"balances\":[{\"free\":\"1\",\"locked\":\"0\"}]}",
        "{\"balances\":[{\"asset\":\"BTC\",\"locked\":\"0\"}]}",
        "{\"balances\":[{\"asset\":\"BTC\",\"free\":\"-1\",\"locked\":\"0\"}]}",
        "{\"balances\":[{\"asset\":\"ODD\",\"free\":\"-1\",\"locked\":\"0\"}]}",
        "{\"balances\":[{\"asset\":\"BTC\",\"free\":\"900000000000000000000\",\"locked\":\"0\"}]}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK_INT(read_balances_text(bad[i], strlen(bad[i])), -EBADMSG);
    try_damaged(text, read_balances_text);
}

/* ---- Messages and events. ---- */

static void test_messages(void)
{
    struct binance_message m;
    static const char good[] =
        "{\"id\":3,\"status\":200,\"result\":{\"subscriptionId\":0},\"rateLimits\":[]}";
    CHECK_INT(binance_message_read(good, strlen(good), 0, &m), 0);
    CHECK_INT(m.kind, BINANCE_MESSAGE_ANSWER);
    CHECK_INT(m.id, 3);
    CHECK_INT(m.refusal.status, 200);
    CHECK(m.has_result);
    static const char banned[] =
        "{\"id\":4,\"status\":418,\"error\":{\"code\":-1003,\"msg\":\"Way too much.\",\"data\":{\"serverTime\":"
        "1659142907531,\"retryAfter\":1659146400000}}}";
    CHECK_INT(binance_message_read(banned, strlen(banned), 0, &m), 0);
    CHECK_INT(m.refusal.status, 418);
    CHECK_INT(m.refusal.code, -1003);
    CHECK_INT(m.wait_ms, 1659146400000 - 1659142907531);
    CHECK(!m.has_result);
    static const char limited[] =
        "{\"id\":4,\"status\":429,\"error\":{\"code\":-1003,\"msg\":\"\",\"data\":{\"retryAfter\":1659146400000}}}";
    CHECK_INT(binance_message_read(limited, strlen(limited), 1659146395000, &m), 0);
    CHECK_INT(m.wait_ms, 5000);
    static const char revoked[] =
        "{\"id\":null,\"status\":401,\"error\":{\"code\":-2015,\"msg\":\"Invalid.\"}}";
    CHECK_INT(binance_message_read(revoked, strlen(revoked), 0, &m), 0);
    CHECK_INT(m.kind, BINANCE_MESSAGE_REFUSED);
    CHECK_INT(m.wait_ms, -1);
    static const char *const shutdowns[] = {
        "{\"event\":{\"e\":\"serverShutdown\",\"E\":1770123456789}}",
        "{\"e\":\"serverShutdown\",\"E\":1770123456789}",
    };
    for (int i = 0; i < 2; i++) {
        CHECK_INT(binance_message_read(shutdowns[i], strlen(shutdowns[i]), 0, &m), 0);
        CHECK_INT(m.kind, BINANCE_MESSAGE_SHUTDOWN);
    }
    static const char *const bad[] = {
        "", "[]", "{", "{\"id\":3}x", "{\"id\":3.5,\"status\":200}", "{\"id\":3,\"status\":20000000000}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK_INT(binance_message_read(bad[i], strlen(bad[i]), 0, &m), -EBADMSG);
}

#define REPORT(symbol, c, C, x, X, z, more) \
    "{\"subscriptionId\":0,\"event\":{\"e\":\"executionReport\",\"E\":1499405658658,\"s\":\"" symbol \
    "\",\"c\":\"" c \
    "\",\"S\":\"BUY\",\"o\":\"LIMIT\",\"f\":\"GTC\",\"q\":\"1.00000000\",\"p\":\"0.10264410\",\"P\":\"0.00000000\"," \
    "\"F\":\"0.00000000\",\"g\":-1,\"C\":\"" C "\",\"x\":\"" x "\",\"X\":\"" X "\",\"i\":4293153,\"z\":\"" z \
    "\",\"T\":1499405658657,\"I\":8641984,\"w\":true,\"M\":false,\"O\":1499405658657,\"V\":\"NONE\"," more \
    "}}"

#define NO_TRADE \
    "\"r\":\"NONE\",\"l\":\"0.0\",\"L\":\"0.0\",\"n\":\"0\",\"N\":null,\"t\":-1,\"m\":false,\"Y\":\"0\""
#define A_TRADE \
    "\"r\":\"NONE\",\"l\":\"0.25\",\"L\":\"0.1\",\"n\":\"0.00025\",\"N\":\"BTC\",\"t\":77,\"m\":true,\"Y\":\"0.025\""

static int read_event(const char *text, size_t len, struct binance_event *ret)
{
    struct binance_message message;
    int r = binance_message_read(text, len, 0, &message);
    *ret = (struct binance_event){0};
    if (r < 0 || message.kind != BINANCE_MESSAGE_EVENT)
        return r < 0 ? r : 1;
    return binance_event_read(message.event, &symbols, ret);
}

static int read_event_text(const char *text, size_t len)
{
    struct binance_event event;
    int r = read_event(text, len, &event);
    if (r == 0 && event.filled)
        CHECK(event.fill.qty > 0 && event.fill.cumulative >= event.fill.qty && event.fill.symbol);
    venue_lists_free(&event.balances);
    return r;
}

static void test_reports(void)
{
    struct binance_event event;
    static const char new[] = REPORT("BTCUSDT", "a-1", "", "NEW", "NEW", "0.00", NO_TRADE);
    CHECK_INT(read_event(new, strlen(new), &event), 0);
    CHECK_INT(event.kind, BINANCE_EVENT_ORDER);
    CHECK(!event.filled);
    CHECK_STR(event.order.client_id, "a-1");
    CHECK_STR(event.order.id, "4293153");
    CHECK_INT(event.order.price, 10264410);
    CHECK_INT(event.order.ts_ns, 1499405658657000000);
    CHECK_STR(event.order.reason, "");

    static const char trade[] =
        REPORT("BTCUSDT", "a-1", "", "TRADE", "PARTIALLY_FILLED", "0.75000000", A_TRADE);
    CHECK_INT(read_event(trade, strlen(trade), &event), 0);
    CHECK(event.filled && event.fill.maker && event.fill.fee_said);
    CHECK_STR(event.fill.client_id, "a-1");
    CHECK_STR(event.fill.trade_id, "77");
    CHECK_STR(event.fill.order_id, "4293153");
    CHECK_INT(event.fill.qty, E8 / 4);
    CHECK_INT(event.fill.price, E8 / 10);
    CHECK_INT(event.fill.cumulative, 3 * E8 / 4);
    CHECK_INT(event.fill.notional, 2500000);
    CHECK_INT(event.fill.fee, 25000);
    CHECK_INT(event.fill.fee_scale, 8);
    CHECK_STR(event.fill.fee_asset, "BTC");
    CHECK_INT(event.order.state, VENUE_ORDER_PARTIAL);

    /* Of a cancel `c` is the cancel's own id. */
    static const char cancel[] = REPORT("BTCUSDT", "web_1", "a-1", "CANCELED", "CANCELED", "0.25", NO_TRADE);
    CHECK_INT(read_event(cancel, strlen(cancel), &event), 0);
    CHECK_STR(event.order.client_id, "a-1");
    CHECK_INT(event.order.state, VENUE_ORDER_CANCELED);
    CHECK_INT(event.order.filled, E8 / 4);
    static const char by_venue[] = REPORT("BTCUSDT", "a-1", "", "CANCELED", "CANCELED", "0", NO_TRADE);
    CHECK_INT(read_event(by_venue, strlen(by_venue), &event), 0);
    CHECK_STR(event.order.client_id, "a-1");

    static const char expired[] = REPORT("BTCUSDT", "a-1", "", "EXPIRED", "EXPIRED", "0",
                                         NO_TRADE ",\"eR\":\"INSUFFICIENT_LIQUIDITY\"");
    CHECK_INT(read_event(expired, strlen(expired), &event), 0);
    CHECK_INT(event.order.state, VENUE_ORDER_EXPIRED);
    CHECK_STR(event.order.reason, "INSUFFICIENT_LIQUIDITY");
    static const char prevented[] =
        REPORT("BTCUSDT", "a-1", "", "TRADE_PREVENTION", "EXPIRED_IN_MATCH", "0", NO_TRADE);
    CHECK_INT(read_event(prevented, strlen(prevented), &event), 0);
    CHECK_INT(event.order.state, VENUE_ORDER_EXPIRED);
    CHECK(!event.filled);

    /* Of another symbol: the order without numbers, and no fill. */
    static const char other[] = REPORT("OTHERUSDT", "web_2", "", "TRADE", "FILLED", "x", A_TRADE);
    CHECK_INT(read_event(other, strlen(other), &event), 0);
    CHECK(!event.filled && !event.order.symbol);
    CHECK_STR(event.order.name, "OTHERUSDT");
    CHECK_INT(event.order.qty, 0);
    try_damaged(trade, read_event_text);
}

static void test_bad_reports(void)
{
    static const char *const bad[] = {
        REPORT("", "a-1", "", "NEW", "NEW", "0", NO_TRADE),
        REPORT("BTCUSDT", "a-1", "", "NEW", "OF_TOMORROW", "0", NO_TRADE),
        REPORT("BTCUSDT", "a-1", "", "", "NEW", "0", NO_TRADE),
        REPORT("BTCUSDT", "a-1", "", "NEW", "NEW", "-1", NO_TRADE),
        REPORT("BTCUSDT", "a-1", "", "TRADE", "FILLED", "0.75", NO_TRADE), /* no trade's id */
        REPORT("BTCUSDT", "a-1", "", "TRADE", "FILLED", "0.1", A_TRADE),   /* more than all of it */
        REPORT("BTCUSDT", "a-1", "", "TRADE", "FILLED", "0.7500000001", A_TRADE),
        "{\"subscriptionId\":0,\"event\":{\"e\":\"executionReport\"}}",
        "{\"subscriptionId\":0,\"event\":{\"e\":\"outboundAccountPosition\",\"u\":1}}",
        "{\"subscriptionId\":0,\"event\":{\"e\":\"outboundAccountPosition\",\"B\":[{\"a\":\"BTC\",\"f\":\"x\",\"l\":"
        "\"0\"}]}}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (read_event_text(bad[i], strlen(bad[i])) != -EBADMSG)
            fprintf(stderr, "%s: taken\n", bad[i]);
        CHECK_INT(read_event_text(bad[i], strlen(bad[i])), -EBADMSG);
    }
}

static void test_other_events(void)
{
    struct binance_event event;
    static const char position[] =
        "{\"subscriptionId\":0,\"event\":{\"e\":\"outboundAccountPosition\",\"E\":1564034571105,\"u\":1564034571073,"
        "\"B\":[{\"a\":\"ETH\",\"f\":\"10000.000000\",\"l\":\"0.000000\"},{\"a\":\"BTC\",\"f\":\"0\",\"l\":\"0\"}]}}";
    CHECK_INT(read_event(position, strlen(position), &event), 0);
    CHECK_INT(event.kind, BINANCE_EVENT_BALANCES);
    CHECK_INT(event.balances.n_balances, 2); /* with those that are 0 now */
    CHECK_STR(event.balances.balances[0].asset, "ETH");
    CHECK_INT(event.balances.balances[0].free, 10000 * E8);
    CHECK_STR(event.balances.balances[1].asset, "BTC");
    CHECK_INT(event.balances.balances[1].free, 0);
    venue_lists_free(&event.balances);
    try_damaged(position, read_event_text);
    static const struct {
        const char *text;
        enum binance_event_kind kind;
    } others[] = {
        {"{\"subscriptionId\":0,\"event\":{\"e\":\"eventStreamTerminated\",\"E\":1728973001334}}",
         BINANCE_EVENT_TERMINATED},
        {"{\"subscriptionId\":0,\"event\":{\"e\":\"balanceUpdate\",\"E\":1573200697110,\"a\":\"BTC\",\"d\":"
         "\"100.0\",\"T\":1573200697068}}",
         BINANCE_EVENT_OTHER},
        {"{\"subscriptionId\":0,\"event\":{\"e\":\"externalLockUpdate\",\"E\":1,\"a\":\"NEO\",\"d\":\"10.0\","
         "\"T\":1}}",
         BINANCE_EVENT_OTHER},
        {"{\"subscriptionId\":0,\"event\":{\"e\":\"listStatus\",\"E\":1,\"s\":\"ETHBTC\",\"g\":2,\"O\":[{\"s\":"
         "\"ETHBTC\"}]}}",
         BINANCE_EVENT_OTHER},
        {"{\"subscriptionId\":0,\"event\":{\"e\":\"ofTomorrow\"}}", BINANCE_EVENT_OTHER},
        {"{\"subscriptionId\":0,\"event\":{}}", BINANCE_EVENT_OTHER},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        CHECK_INT(read_event(others[i].text, strlen(others[i].text), &event), 0);
        CHECK_INT(event.kind, others[i].kind);
    }
}

int main(void)
{
    test_outcomes();
    test_placed();
    test_bad_orders();
    test_cancelled();
    test_open();
    test_trades();
    test_balances();
    test_messages();
    test_reports();
    test_bad_reports();
    test_other_events();
    return check_done("exchange binance_account");
}
