/* The venue's filters with the values that Binance lists for BTCUSDT: at, below and above each bound. */
#include "exchange/filter.h"

#include <string.h>

#include "exchange/filter_words.h"
#include "tests/check.h"
#include "tests/random.h"

#define E8 100000000LL

static struct symbol btcusdt(void)
{
    return (struct symbol){
        .name = "BTCUSDT",
        .base = "BTC",
        .quote = "USDT",
        .price_scale = 8,
        .qty_scale = 8,
        .quote_scale = 8,
        .trading = true,
        .filters = {.price_min = E8 / 100,
                    .price_max = 1000000 * E8,
                    .tick = E8 / 100,
                    .qty_min = 1000,
                    .qty_max = 9000 * E8,
                    .step = 1000,
                    .market_qty_min = 0,
                    .market_qty_max = 11983348824, /* 119.83348824, step 0: off */
                    .market_step = 0,
                    .notional_min = 5 * E8,
                    .notional_max = 9000000 * E8,
                    .notional_min_market = true,
                    .notional_max_market = false,
                    .bid_up_e4 = 50000,
                    .bid_down_e4 = 2000,
                    .ask_up_e4 = 50000,
                    .ask_down_e4 = 2000,
                    .orders_max = 200},
    };
}

static enum order_reason limit_at(const struct symbol *symbol, enum order_side side, int64_t price,
                                  int64_t qty, int64_t reference)
{
    struct filter_request request = {
        .side = side, .type = ORDER_LIMIT, .qty = qty, .price = price, .reference = reference};
    return filter_check(symbol, &request);
}

static enum order_reason market_at(const struct symbol *symbol, int64_t qty, int64_t reference)
{
    struct filter_request request = {
        .side = ORDER_BUY, .type = ORDER_MARKET, .qty = qty, .reference = reference};
    return filter_check(symbol, &request);
}

static void test_price(void)
{
    struct symbol symbol = btcusdt();
    int64_t price = 6183763 * (E8 / 100), qty = E8;
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, qty, price), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price + 1, qty, price), ORDER_PRICE_FILTER);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price - 1, qty, price), ORDER_PRICE_FILTER);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 0, qty, price), ORDER_BAD_PRICE);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, -price, qty, price), ORDER_BAD_PRICE);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, E8 / 100, 1000 * E8, 0), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, E8 / 100 - 1, 1000 * E8, 0), ORDER_PRICE_FILTER);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 1000000 * E8, E8, 0), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 1000000 * E8 + E8 / 100, E8, 0), ORDER_PRICE_FILTER);
    symbol.filters.tick = symbol.filters.price_min = symbol.filters.price_max = 0; /* 0 disables */
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price + 1, qty, price), ORDER_OK);

    symbol = btcusdt();
    struct filter_request stop = {
        .side = ORDER_SELL, .type = ORDER_STOP, .qty = qty, .stop_price = price, .reference = price};
    CHECK_INT(filter_check(&symbol, &stop), ORDER_OK);
    stop.stop_price++;
    CHECK_INT(filter_check(&symbol, &stop), ORDER_PRICE_FILTER);
    stop.stop_price = 0;
    CHECK_INT(filter_check(&symbol, &stop), ORDER_BAD_PRICE);
}

static void test_percent_price(void)
{
    struct symbol symbol = btcusdt();
    symbol.filters.ask_up_e4 = 20000; /* as PERCENT_PRICE_BY_SIDE allows */
    int64_t reference = 60000 * E8, tick = E8 / 100, qty = E8;
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 5 * reference, qty, reference), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 5 * reference + tick, qty, reference), ORDER_PERCENT_PRICE);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, reference / 5, qty, reference), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, reference / 5 - tick, qty, reference), ORDER_PERCENT_PRICE);
    CHECK_INT(limit_at(&symbol, ORDER_SELL, 2 * reference, qty, reference), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_SELL, 2 * reference + tick, qty, reference), ORDER_PERCENT_PRICE);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 5 * reference + tick, qty, 0),
              ORDER_OK); /* nothing to measure by */
    CHECK_INT(market_at(&symbol, qty, reference), ORDER_OK);
}

static void test_lot(void)
{
    struct symbol symbol = btcusdt();
    int64_t price = 60000 * E8;
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, 0, price), ORDER_BAD_QTY);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, -1000, price), ORDER_BAD_QTY);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, 999, price), ORDER_LOT_SIZE);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 500000 * E8, 1000, 0), ORDER_OK); /* 5 USDT exactly */
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, E8 + 1, price), ORDER_LOT_SIZE);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, E8 + 1000, price), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 900 * E8, 9000 * E8, 0), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, 900 * E8, 9000 * E8 + 1000, 0), ORDER_LOT_SIZE);
    CHECK_INT(market_at(&symbol, 11983348000, price), ORDER_OK);
    CHECK_INT(market_at(&symbol, 11983349000, price), ORDER_MARKET_LOT_SIZE);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, 11983349000, price), ORDER_OK);
    symbol.filters.market_step = 10000;
    CHECK_INT(market_at(&symbol, 11983340000, price), ORDER_OK);
    CHECK_INT(market_at(&symbol, 11983341000, price), ORDER_MARKET_LOT_SIZE);
    symbol.filters.market_qty_min = 100000;
    CHECK_INT(market_at(&symbol, 90000, price), ORDER_MARKET_LOT_SIZE);
}

static void test_notional(void)
{
    struct symbol symbol = btcusdt();
    int64_t price = 50000 * E8;
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, 10000, price), ORDER_OK); /* 5 USDT */
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, 9000, price), ORDER_MIN_NOTIONAL);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price - E8 / 100, 10000, price), ORDER_MIN_NOTIONAL);
    CHECK_INT(market_at(&symbol, 9000, price), ORDER_MIN_NOTIONAL);
    CHECK_INT(market_at(&symbol, 9000, 0), ORDER_OK); /* no price known yet */
    symbol.filters.notional_min_market = false;
    CHECK_INT(market_at(&symbol, 9000, price), ORDER_OK);

    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, 180 * E8, price), ORDER_OK); /* 9,000,000 USDT */
    CHECK_INT(limit_at(&symbol, ORDER_BUY, price, 180 * E8 + 1000, price), ORDER_MAX_NOTIONAL);
    symbol.filters.market_qty_max = 0;
    CHECK_INT(market_at(&symbol, 180 * E8 + 1000, price), ORDER_OK);
    symbol.filters.notional_max_market = true;
    CHECK_INT(market_at(&symbol, 180 * E8 + 1000, price), ORDER_MAX_NOTIONAL);
    /* A fraction of a quote unit above the maximum is above it. */
    symbol.filters.step = 0;
    symbol.filters.notional_max = 5;
    symbol.filters.notional_min = 0;
    symbol.filters.qty_min = 0;
    CHECK_INT(limit_at(&symbol, ORDER_BUY, E8, 5, E8), ORDER_OK);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, E8 + E8 / 100, 5, E8), ORDER_MAX_NOTIONAL);
    /* What no int64 holds is refused, whatever the filters say. */
    symbol.filters = (struct symbol_filters){0};
    CHECK_INT(limit_at(&symbol, ORDER_BUY, INT64_MAX, INT64_MAX, 0), ORDER_MAX_NOTIONAL);
    CHECK_INT(limit_at(&symbol, ORDER_BUY, INT64_MAX, E8, 0), ORDER_OK);
}

static void test_state_and_count(void)
{
    struct symbol symbol = btcusdt();
    struct filter_request request = {.type = ORDER_LIMIT, .qty = E8, .price = 60000 * E8, .open_orders = 199};
    CHECK_INT(filter_check(&symbol, &request), ORDER_OK);
    request.open_orders = 200;
    CHECK_INT(filter_check(&symbol, &request), ORDER_MAX_NUM_ORDERS);
    symbol.filters.orders_max = 0;
    CHECK_INT(filter_check(&symbol, &request), ORDER_OK);
    symbol.trading = false;
    CHECK_INT(filter_check(&symbol, &request), ORDER_SYMBOL_HALTED);
}

static void test_floor(void)
{
    struct symbol symbol = btcusdt();
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, E8), E8);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, E8 + 999), E8);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, 1000), 1000);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, 999), 0);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, 1), 0);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, 0), 0);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, -1000), 0);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, INT64_MIN), 0);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, INT64_MAX), 9000 * E8);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_STOP, INT64_MAX), 11983348824 - 824);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_MARKET, INT64_MAX), 11983348824 - 824);
    /* Whatever comes out passes, and nothing comes out above what went in. */
    for (int64_t qty = 0; qty < 30000; qty += 7) {
        int64_t fits = filter_floor_qty(&symbol, ORDER_MARKET, qty);
        CHECK(fits <= qty && qty - fits < 1000 && fits % 1000 == 0);
    }
    /* A market's step of its own counts from below all orders' least. */
    symbol.filters =
        (struct symbol_filters){.qty_min = 5000, .step = 1000, .market_qty_min = 1000, .market_step = 3000};
    CHECK_INT(filter_floor_qty(&symbol, ORDER_MARKET, 6999), 0);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_MARKET, 7000), 7000);
    CHECK_INT(filter_floor_qty(&symbol, ORDER_LIMIT, 6999), 6000);
    for (int64_t qty = 0; qty < 30000; qty += 250) {
        int64_t fits = filter_floor_qty(&symbol, ORDER_MARKET, qty);
        CHECK(fits == 0 || market_at(&symbol, fits, E8) == ORDER_OK);
    }
    symbol.filters = (struct symbol_filters){0};
    CHECK_INT(filter_floor_qty(&symbol, ORDER_MARKET, 12345), 12345);

    symbol = btcusdt();
    CHECK_INT(filter_floor_price(&symbol, 6183763 * (E8 / 100)), 6183763 * (E8 / 100));
    CHECK_INT(filter_floor_price(&symbol, 6183763 * (E8 / 100) + E8 / 100 - 1), 6183763 * (E8 / 100));
    symbol.filters.tick = 0;
    CHECK_INT(filter_floor_price(&symbol, 12345), 12345);
    CHECK_INT(filter_notional_unit(&symbol), E8);
}

/* The bounds of a price band are the outermost prices on the tick that pass. */
static void test_band(void)
{
    struct random random = random_seeded("exchange/filter", 12);
    for (int i = 0; i < 2000; i++) {
        struct symbol symbol = btcusdt();
        int64_t tick = symbol.filters.tick = random_between(&random, 1, E8), low, high;
        int64_t reference = random_between(&random, 10 * E8, 100000 * E8);
        enum order_side side = random_chance(&random, 50) ? ORDER_BUY : ORDER_SELL;
        symbol.filters.price_min = symbol.filters.price_max = symbol.filters.notional_max = 0;
        symbol.filters.bid_up_e4 = random_between(&random, 10001, 90000);
        symbol.filters.ask_down_e4 = random_between(&random, 1000, 9999);
        filter_band(&symbol, side, reference, &low, &high);
        CHECK_INT(limit_at(&symbol, side, low, E8, reference), ORDER_OK);
        CHECK_INT(limit_at(&symbol, side, high, E8, reference), ORDER_OK);
        CHECK_INT(limit_at(&symbol, side, low - tick, E8, reference), ORDER_PERCENT_PRICE);
        CHECK_INT(limit_at(&symbol, side, high + tick, E8, reference), ORDER_PERCENT_PRICE);
    }
}

static void test_words(void)
{
    static const struct {
        enum order_reason reason;
        const char *words; /* after the reason's own; NULL: none */
    } rows[] = {
        {ORDER_PRICE_FILTER, ": tick 0.01, 0.01 to 1000000"},
        {ORDER_LOT_SIZE, ": step 0.00001, 0.00001 to 9000"},
        {ORDER_MARKET_LOT_SIZE, ": at most 119.83348824"},
        {ORDER_MIN_NOTIONAL, ": 1 at 61000 is 61000 USDT; 5 to 9000000 USDT"},
        {ORDER_MAX_NOTIONAL, ": 1 at 61000 is 61000 USDT; 5 to 9000000 USDT"},
        {ORDER_PERCENT_PRICE, ": 12000 to 300000, 0.2 to 5 times 60000"},
        {ORDER_MAX_NUM_ORDERS, ": at most 200"},
        {ORDER_INSUFFICIENT_BALANCE, NULL},
        {ORDER_OK, NULL},
    };
    struct symbol symbol = btcusdt();
    struct filter_request request = {
        .side = ORDER_SELL, .type = ORDER_LIMIT, .qty = E8, .price = 61000 * E8, .reference = 60000 * E8};
    char words[ORDER_WORDS_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *said = filter_words(&symbol, &request, rows[i].reason, words),
                   *own = said ? strchr(said, ':') : NULL;
        CHECK_STR(own ? own : "", rows[i].words ? rows[i].words : "");
    }
    /* A stop's notional is of its own price; a trailing stop's, amended while it has one, of the market's. */
    request.stop_price = 59000 * E8;
    request.type = ORDER_STOP;
    CHECK_STR(strchr(filter_words(&symbol, &request, ORDER_MIN_NOTIONAL, words), ':'),
              ": 1 at 59000 is 59000 USDT; 5 to 9000000 USDT");
    request.type = ORDER_TRAILING_STOP;
    CHECK_STR(strchr(filter_words(&symbol, &request, ORDER_MIN_NOTIONAL, words), ':'),
              ": 1 at 60000 is 60000 USDT; 5 to 9000000 USDT");
    request.type = ORDER_LIMIT;
    request.reference = 0; /* no price is known */
    CHECK_STR(strchr(filter_words(&symbol, &request, ORDER_PERCENT_PRICE, words), ':'),
              ": 0.2 to 5 times the market's");
    symbol.filters = (struct symbol_filters){0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(!filter_words(&symbol, &request, rows[i].reason, words));
}

int main(void)
{
    test_price();
    test_percent_price();
    test_lot();
    test_notional();
    test_state_and_count();
    test_floor();
    test_band();
    test_words();
    return check_done("exchange/filter");
}
