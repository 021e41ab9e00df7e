/* Orders, updates, fills and balances as Alpaca's accounts have them, malformed ones too. */
#include <errno.h>

#include "exchange/alpaca/account/order_parse.h"
#include "tests/check.h"
#include "tests/exchange/alpaca_account.h"

static const struct venue_symbols symbols = {list, SYMBOLS};

static int order(const char *text, struct venue_order *ret)
{
    return alpaca_parse_order(&symbols, text, strlen(text), ret, NULL);
}

#define WHOLE \
    "\"updated_at\":\"2026-09-18T13:24:50.5Z\",\"symbol\":\"BTC/USD\",\"qty\":\"1.5\",\"filled_qty\":\"0.5\"," \
    "\"side\":\"sell\",\"type\":\"stop_limit\",\"time_in_force\":\"gtc\",\"limit_price\":\"61000.25\"," \
    "\"stop_price\":\"61001\",\"legs\":null"

static void test_orders(void)
{
    struct venue_order o;
    CHECK_INT(order(ORDER(WHOLE ",\"status\":\"partially_filled\""), &o), 0);
    CHECK_STR(o.client_id, "mine");
    CHECK_STR(o.id, ID);
    CHECK_STR(o.name, "BTC/USD");
    CHECK(o.symbol == &list[BTC]);
    CHECK_INT(o.state, VENUE_ORDER_PARTIAL);
    CHECK_INT(o.side, ORDER_SELL);
    CHECK_INT(o.type, ORDER_STOP_LIMIT);
    CHECK_INT(o.tif, ORDER_GTC);
    CHECK_INT(o.qty, 1500000000);
    CHECK_INT(o.filled, 500000000);
    CHECK_INT(o.price, 6100025);
    CHECK_INT(o.stop_price, 6100100);
    CHECK_INT(o.ts_ns, 1789737890500000000);
    CHECK_STR(o.reason, "");

    static const struct {
        const char *status;
        enum venue_order_state none, some; /* by what is filled */
    } states[] = {
        {"new", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"accepted", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"pending_new", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"held", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"done_for_day", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"stopped", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"suspended", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"calculated", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"pending_cancel", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"pending_replace", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"of_next_year", VENUE_ORDER_NEW, VENUE_ORDER_PARTIAL},
        {"filled", VENUE_ORDER_FILLED, VENUE_ORDER_FILLED},
        {"canceled", VENUE_ORDER_CANCELED, VENUE_ORDER_CANCELED},
        {"replaced", VENUE_ORDER_CANCELED, VENUE_ORDER_CANCELED},
        {"rejected", VENUE_ORDER_REJECTED, VENUE_ORDER_REJECTED},
        {"expired", VENUE_ORDER_EXPIRED, VENUE_ORDER_EXPIRED},
    };
    for (size_t i = 0; i < 2 * sizeof(states) / sizeof(*states); i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 ORDER("\"symbol\":\"AAPL\",\"qty\":\"2\",\"filled_qty\":\"%s\",\"side\":\"buy\",\"type\":"
                       "\"market\",\"time_in_force\":\"day\",\"status\":\"%s\""),
                 i % 2 ? "1" : "0", states[i / 2].status);
        CHECK_INT(order(text, &o), 0);
        CHECK_INT(o.state, i % 2 ? states[i / 2].some : states[i / 2].none);
    }

    /* From elsewhere: other symbols have no numbers, an order by amount has no quantity before it is filled.
     */
    CHECK_INT(order(ORDER("\"symbol\":\"TSLA\",\"qty\":\"1\",\"status\":\"new\",\"side\":\"buy\""), &o), 0);
    CHECK(!o.symbol && o.qty == 0);
    CHECK_STR(o.name, "TSLA");
    CHECK_INT(order(ORDER("\"symbol\":\"\",\"side\":\"\",\"status\":\"new\",\"legs\":[{\"id\":\"x\"}]"), &o),
              0);
    CHECK(!o.symbol);
    CHECK_INT(
        order(ORDER("\"symbol\":\"AAPL\",\"qty\":null,\"notional\":\"10\",\"filled_qty\":\"0.1\",\"side\":"
                    "\"buy\",\"type\":\"trailing_stop\",\"time_in_force\":\"gtd\",\"status\":\"new\""),
              &o),
        0);
    CHECK(o.qty == 0 && o.filled == E9 / 10 && o.type == ORDER_TYPES && o.tif == ORDER_TIFS);
    CHECK_INT(
        order(ORDER("\"symbol\":\"BTCUSD\",\"qty\":null,\"filled_qty\":\"0.1\",\"side\":\"buy\",\"status\":"
                    "\"filled\""),
              &o),
        0);
    CHECK(o.qty == E9 / 10 && o.symbol == &list[BTC]);

    static const char *const malformed[] = {
        "",
        "[]",
        "null",
        "{",
        ORDER(WHOLE ",\"status\":\"new\"") "x",
        ORDER(WHOLE),                                                                         /* no status */
        "{\"client_order_id\":\"mine\"," WHOLE ",\"status\":\"new\"}",                        /* no id */
        "{\"id\":\"0123456789012345678901234567890123456789\"," WHOLE ",\"status\":\"new\"}", /* too long */
        ORDER(
            "\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"filled_qty\":\"2\",\"side\":\"buy\",\"status\":\"new\""),
        ORDER(
            "\"symbol\":\"BTC/USD\",\"qty\":\"0\",\"filled_qty\":\"0\",\"side\":\"buy\",\"status\":\"new\""),
        ORDER("\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"filled_qty\":null,\"side\":\"buy\",\"status\":\"new\""),
        ORDER(
            "\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"filled_qty\":\"0\",\"side\":\"both\",\"status\":\"new\""),
        ORDER(
            "\"symbol\":\"BTC/USD\",\"qty\":\"-1\",\"filled_qty\":\"0\",\"side\":\"buy\",\"status\":\"new\""),
        ORDER("\"symbol\":\"BTC/USD\",\"qty\":\"1\",\"filled_qty\":\"0\",\"side\":\"buy\",\"status\":\"new\","
              "\"limit_price\":\"1.005\""), /* finer than the symbol */
        ORDER("\"symbol\":\"BTC/USD\",\"qty\":\"99999999999999\",\"filled_qty\":\"0\",\"side\":\"buy\","
              "\"status\":\"new\""),
    };
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
        CHECK_INT(order(malformed[i], &o), -EBADMSG);
}

static bool update(const char *text, struct venue_order *o, bool *filled, struct venue_fill *f)
{
    struct alpaca_trading said;
    return alpaca_parse_trading(text, strlen(text), &said) == 0 && said.kind == TRADING_UPDATE &&
           alpaca_account_update(&symbols, &said, o, filled, f);
}

static void test_updates(void)
{
    struct venue_order o;
    struct venue_fill f;
    bool filled;
    CHECK(update(UPDATE("partial_fill", ",\"execution_id\":\"e-1\"" FILL,
                        MARKET_BUY "\"filled_qty\":\"0.75\",\"status\":\"partially_filled\""),
                 &o, &filled, &f));
    CHECK(filled);
    CHECK_INT(o.state, VENUE_ORDER_PARTIAL);
    CHECK_INT(o.ts_ns, 1789737891000000000);
    CHECK_STR(f.client_id, "mine");
    CHECK_STR(f.order_id, ID);
    CHECK_STR(f.trade_id, "e-1");
    CHECK(f.symbol == &list[BTC] && f.side == ORDER_BUY);
    CHECK_INT(f.price, 6100050);
    CHECK_INT(f.qty, E9 / 4);
    CHECK_INT(f.cumulative, 750000000);
    CHECK_INT(f.notional, -1);
    CHECK(!f.fee_said); /* taken from the coins */
    CHECK_INT(f.ts_ns, 1789737891000000000);
    CHECK(update(UPDATE("fill", FILL, MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\""), &o, &filled,
                 &f));
    CHECK(filled && o.state == VENUE_ORDER_FILLED);
    CHECK_STR(f.trade_id, ID "-1000000000");
    CHECK(update(UPDATE("fill", ",\"execution_id\":\"e\",\"price\":\"1\",\"qty\":\"1\"",
                        "\"symbol\":\"AAPL\",\"qty\":\"1\",\"side\":\"sell\",\"filled_qty\":\"1\",\"status\":"
                        "\"filled\""),
                 &o, &filled, &f));
    CHECK(filled && f.fee_said && f.fee == 0);
    CHECK_STR(f.fee_asset, "USD");

    static const struct {
        const char *text;
        enum venue_order_state state;
    } plain[] = {
        {UPDATE("accepted", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"accepted\""), VENUE_ORDER_NEW},
        {UPDATE("pending_new", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"pending_new\""),
         VENUE_ORDER_NEW},
        {UPDATE("new", ",\"execution_id\":\"e\"", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""),
         VENUE_ORDER_NEW},
        {UPDATE("canceled", "", MARKET_BUY "\"filled_qty\":\"0.5\",\"status\":\"canceled\""),
         VENUE_ORDER_CANCELED},
        {UPDATE("expired", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"expired\""),
         VENUE_ORDER_EXPIRED},
        {UPDATE("rejected", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"rejected\""),
         VENUE_ORDER_REJECTED},
        {UPDATE("replaced", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"replaced\""),
         VENUE_ORDER_CANCELED},
        {UPDATE("done_for_day", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"done_for_day\""),
         VENUE_ORDER_NEW},
        {UPDATE("pending_cancel", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"pending_cancel\""),
         VENUE_ORDER_NEW},
        {UPDATE("stopped", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"stopped\""), VENUE_ORDER_NEW},
        {UPDATE("suspended", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"suspended\""),
         VENUE_ORDER_NEW},
        {UPDATE("calculated", "", MARKET_BUY "\"filled_qty\":\"0.5\",\"status\":\"calculated\""),
         VENUE_ORDER_PARTIAL},
        {UPDATE("order_cancel_rejected", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""),
         VENUE_ORDER_NEW},
        {UPDATE("order_replace_rejected", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""),
         VENUE_ORDER_NEW},
        {UPDATE("of_next_year", "", MARKET_BUY "\"filled_qty\":\"0\",\"status\":\"new\""), VENUE_ORDER_NEW},
        {UPDATE("fill", "", "\"symbol\":\"\",\"status\":\"filled\""),
         VENUE_ORDER_FILLED}, /* of several legs */
        {UPDATE("fill", FILL, "\"symbol\":\"TSLA\",\"status\":\"filled\""), VENUE_ORDER_FILLED},
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        CHECK(update(plain[i].text, &o, &filled, &f));
        CHECK(!filled);
        CHECK_INT(o.state, plain[i].state);
    }
    static const char *const malformed[] = {
        UPDATE("fill", "", MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\""), /* no price */
        UPDATE("fill", FILL, MARKET_BUY "\"filled_qty\":\"0.1\",\"status\":\"filled\""),
        UPDATE("fill", FILL, MARKET_BUY "\"status\":\"filled\""),
        UPDATE("fill", ",\"price\":\"0\",\"qty\":\"1\"",
               MARKET_BUY "\"filled_qty\":\"1\",\"status\":\"filled\""),
        UPDATE("new", "", MARKET_BUY "\"filled_qty\":\"x\",\"status\":\"new\""),
        "{\"stream\":\"trade_updates\",\"data\":{\"event\":\"new\",\"timestamp\":\"2026-09-18T13:24:51Z\"}}",
        "{\"stream\":\"trade_updates\"}",
    };
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
        CHECK(!update(malformed[i], &o, &filled, &f));
}

#define ACTIVITY(id, order, price, qty, cum) \
    "{\"activity_type\":\"FILL\",\"id\":\"" id "\",\"order_id\":\"" order "\",\"price\":\"" price \
    "\",\"qty\":\"" qty "\",\"cum_qty\":\"" cum \
    "\",\"side\":\"buy\",\"symbol\":\"BTC/USD\",\"transaction_time\":\"2026-09-18T13:24:51Z\",\"type\":\"fill\"}"

static void test_fills(void)
{
    static const char page[] = "[" ACTIVITY("20260918::b", ID, "2", "0.5", "1.5") "," ACTIVITY(
        "20260918::o", ID2, "9", "9", "9") "," ACTIVITY("20260918::a", ID, "1", "1",
                                                        "1") "," ACTIVITY("20260918::a", ID, "1", "1",
                                                                          "1") "]";
    struct venue_lists lists = {0};
    char last[VENUE_TRADE_ID_MAX];
    size_t n;
    CHECK_INT(alpaca_parse_fills(&list[BTC], ID, page, strlen(page), &lists, &n, last), 0);
    CHECK_INT(n, 4);
    CHECK_STR(last, "20260918::a");
    CHECK_INT(lists.n_fills, 3);
    CHECK(!alpaca_fills_settle(&lists, 2 * E9)); /* more is filled */
    CHECK(alpaca_fills_settle(&lists, 1500000000));
    CHECK_INT(lists.n_fills, 2);
    CHECK_STR(lists.fills[0].trade_id, "a");
    CHECK_INT(lists.fills[0].cumulative, E9);
    CHECK_STR(lists.fills[1].trade_id, "b");
    CHECK_INT(lists.fills[1].price, 200);
    CHECK_INT(lists.fills[1].ts_ns, 1789737891000000000);
    lists.n_fills = 1;
    lists.fills[0] = lists.fills[1]; /* the first one is missing */
    CHECK(!alpaca_fills_settle(&lists, 1500000000));
    venue_lists_free(&lists);

    static const char *const malformed[] = {"",
                                            "{}",
                                            "[{}]",
                                            "[" ACTIVITY("a", ID, "0", "1", "1") "]",
                                            "[" ACTIVITY("a", ID, "1", "2", "1") "]",
                                            "[" ACTIVITY("", ID, "1", "1", "1") "]"};
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
        lists = (struct venue_lists){0};
        CHECK_INT(alpaca_parse_fills(&list[BTC], ID, malformed[i], strlen(malformed[i]), &lists, &n, last),
                  -EBADMSG);
        venue_lists_free(&lists);
    }
}

static void balance(const struct venue_balance *b, const char *asset, int scale, int64_t free, int64_t locked)
{
    CHECK_STR(b->asset, asset);
    CHECK_INT(b->scale, scale);
    CHECK_INT(b->free, free);
    CHECK_INT(b->locked, locked);
}

static void test_balances(void)
{
    static const struct {
        const char *text;
        int64_t free, locked;
    } cash[] = {
        {"{\"cash\":\"100.5\"}", 10050000000, 0},
        {"{\"cash\":\"100.5\",\"non_marginable_buying_power\":\"40\"}", 4000000000, 6050000000},
        {"{\"cash\":\"100\",\"non_marginable_buying_power\":\"400\"}", 10000000000, 0},
        {"{\"cash\":\"100\",\"non_marginable_buying_power\":\"-3\"}", 0, 10000000000},
        {"{\"cash\":\"-20.123456789\",\"non_marginable_buying_power\":\"0\"}", -2012345678, 0},
    };
    for (size_t i = 0; i < sizeof(cash) / sizeof(*cash); i++) {
        struct venue_lists b = {0};
        CHECK_INT(alpaca_parse_cash(&symbols, cash[i].text, strlen(cash[i].text), &b), 0);
        CHECK_INT(b.n_balances, 1);
        balance(&b.balances[0], "USD", 8, cash[i].free, cash[i].locked);
        venue_lists_free(&b);
    }
    static const char positions[] =
        "[{\"symbol\":\"AAPL\",\"asset_class\":\"us_equity\",\"qty\":\"3\",\"qty_available\":\"1\",\"side\":\"long\"},"
        "{\"symbol\":\"BTCUSD\",\"asset_class\":\"crypto\",\"qty\":\"0.00250001\",\"qty_available\":\"0.00250001\"},"
        "{\"symbol\":\"SOLUSD\",\"asset_class\":\"crypto\",\"qty\":\"2.1234567891\",\"qty_available\":null},"
        "{\"symbol\":\"TSLA\",\"asset_class\":\"us_equity\",\"qty\":\"-4\",\"qty_available\":\"-4\",\"side\":\"short\"},"
        "{\"symbol\":\"F\",\"asset_class\":\"us_equity\",\"qty\":\"4\",\"qty_available\":\"4\",\"side\":\"short\"},"
        "{\"symbol\":\"IBM\",\"qty\":\"0\"}]";
    struct venue_lists b = {0};
    CHECK_INT(alpaca_parse_positions(&symbols, positions, strlen(positions), &b), 0);
    CHECK_INT(b.n_balances, 5);
    balance(&b.balances[0], "AAPL", 9, E9, 2 * E9);
    balance(&b.balances[1], "BTC", 9, 2500010, 0);
    balance(&b.balances[2], "SOL", 8, 212345678, 0);
    balance(&b.balances[3], "TSLA", 8, -400000000, 0);
    balance(&b.balances[4], "F", 8, -400000000, 0);
    b.n_balances = 0;
    CHECK_INT(alpaca_parse_positions(&symbols, "[{}]", 4, &b), -EBADMSG);
    CHECK_INT(alpaca_parse_positions(&symbols, "{}", 2, &b), -EBADMSG);
    CHECK_INT(alpaca_parse_cash(&symbols, "{}", 2, &b), -EBADMSG);
    venue_lists_free(&b);
}

int main(void)
{
    test_orders();
    test_updates();
    test_fills();
    test_balances();
    return check_done("exchange alpaca_account");
}
