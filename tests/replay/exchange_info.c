/* The symbol that a client reads from the replay's exchangeInfo is symbol_default()'s, to the last field:
 * what is traded live over a replay of bars is what a backtest on the same files trades. */
#include "exchange/replay/binance/protocol.h"

#include <errno.h>

#include "exchange/binance/rest_parse.h"
#include "exchange/replay/binance/filters.h"
#include "exchange/replay/binance/limits.h"
#include "tests/check.h"

struct listed {
    struct symbol symbol;
    int n;
};

static void take(void *user, const struct symbol *symbol)
{
    struct listed *listed = user;
    listed->symbol = *symbol;
    listed->n++;
}

static void check_same(const struct symbol *a, const struct symbol *b)
{
    const struct symbol_filters *f = &a->filters, *g = &b->filters;
    CHECK_STR(a->name, b->name);
    CHECK(symbol_same_units(a, b));
    CHECK(a->trading && b->trading);
    CHECK_INT(f->price_min, g->price_min);
    CHECK_INT(f->price_max, g->price_max);
    CHECK_INT(f->tick, g->tick);
    CHECK_INT(f->qty_min, g->qty_min);
    CHECK_INT(f->qty_max, g->qty_max);
    CHECK_INT(f->step, g->step);
    CHECK_INT(f->market_qty_min, g->market_qty_min);
    CHECK_INT(f->market_qty_max, g->market_qty_max);
    CHECK_INT(f->market_step, g->market_step);
    CHECK_INT(f->notional_min, g->notional_min);
    CHECK_INT(f->notional_max, g->notional_max);
    CHECK(f->notional_min_market == g->notional_min_market &&
          f->notional_max_market == g->notional_max_market);
    CHECK_INT(f->bid_up_e4, g->bid_up_e4);
    CHECK_INT(f->bid_down_e4, g->bid_down_e4);
    CHECK_INT(f->ask_up_e4, g->ask_up_e4);
    CHECK_INT(f->ask_down_e4, g->ask_down_e4);
    CHECK_INT(f->orders_max, g->orders_max);
}

static void test_listed(const char *name, int price_digits, int qty_digits)
{
    struct tape *tape = calloc(1, sizeof(*tape));
    struct text text = {0};
    struct listed listed = {0};
    struct binance_info info;
    struct symbol expected;
    const bool wanted = true;
    replay_tape_init(tape);
    CHECK_INT(replay_tape_symbol_add(tape, name, strlen(name)), 0);
    tape->now_ns = 1700000000000000000;
    tape->symbols[0].price_digits = price_digits;
    tape->symbols[0].qty_digits = qty_digits;
    replay_exchange_info_write(&text, tape, &wanted, &(struct limits){0});
    CHECK(text_ok(&text));
    CHECK_INT(binance_parse_info(text.data, text.len, "binance", take, &listed, &info), 0);
    CHECK_INT(info.unusable, 0);
    int r = symbol_default(name, symbol_quote(name) ? NULL : "USD", price_digits, qty_digits, &expected);
    CHECK_INT(listed.n, r == 0);
    if (r == 0)
        check_same(&listed.symbol, &expected);
    text_finish(&text);
    replay_tape_finish(tape);
    free(tape);
}

static void test_default(void)
{
    struct symbol s;
    CHECK_INT(symbol_default("BTCUSDT", NULL, 1, 3, &s),
              0); /* the venue's steps, though the data shows fewer digits */
    CHECK_STR(s.base, "BTC");
    CHECK_STR(s.quote, "USDT");
    CHECK_INT(s.filters.tick, 1000000);
    CHECK_INT(s.filters.step, 1000);
    CHECK_INT(symbol_default("BTCUSDT", NULL, 4, 8, &s), 0); /* prices of more digits fit */
    CHECK_INT(s.filters.tick, 10000);
    CHECK_INT(s.filters.step, 1000);
    CHECK_INT(symbol_default("DOGEUSDT", NULL, 5, 0, &s), 0);
    CHECK_INT(s.filters.tick, 1000);
    CHECK_INT(s.filters.step, 100000000);
    CHECK(s.filters.market_qty_max == 0 && s.filters.qty_max == 1000000000000000000);
    CHECK_INT(symbol_default("PEPEUSDT", NULL, 12, 12, &s), 0);
    CHECK(s.price_scale == 12 && s.filters.tick == 1 && s.filters.step == 1); /* prices at their own scale */
    CHECK(s.filters.price_max == 1000000000000000000 && s.qty_scale == 8 && s.quote_scale == 8);
    CHECK_INT(symbol_default("BTCUSDT", NULL, 10, 3, &s), 0);
    CHECK(s.filters.tick == 1 && s.filters.price_max == 10000000000000000);
    CHECK_INT(symbol_default("PEPEUSDT", NULL, 19, 12, &s), -EINVAL);
    CHECK_INT(symbol_default("SPY", NULL, 2, 0, &s), 0); /* no pair: no currency that is known */
    CHECK_STR(s.base, "SPY");
    CHECK_STR(s.quote, SYMBOL_QUOTE_UNKNOWN);
    CHECK_INT(symbol_default("SPY", "USD", 2, 0, &s), 0);
    CHECK_STR(s.base, "SPY");
    CHECK_STR(s.quote, "USD");
    CHECK_INT(symbol_default("FOOXYZ", "XYZ", 2, 0, &s), 0);
    CHECK_STR(s.base, "FOO");
    CHECK_STR(s.quote, "XYZ");
    CHECK_INT(symbol_default("BTC-USD", NULL, 2, 0, &s), 0);
    CHECK_STR(s.base, "BTC");
    CHECK_STR(s.quote, "USD");
    CHECK_INT(symbol_default("XYZ", "XYZ", 2, 0, &s), -EINVAL);
    CHECK_INT(symbol_default("USDT", NULL, 2, 0, &s), 0);
    CHECK_STR(s.base, "USDT");
    CHECK_INT(symbol_default("FIFTEENLETTERSXUSDC", NULL, 2, 2, &s), 0);
    CHECK_STR(s.base, "FIFTEENLETTERSX");
    CHECK_INT(symbol_default("", NULL, 2, 2, &s), -EINVAL);
    CHECK_INT(symbol_default("SIXTEENLETTERSXY", NULL, 2, 2, &s), -EINVAL);
    CHECK_INT(symbol_default("MORELETTERSTHANTHEREAREHERE", NULL, 2, 2, &s), -EINVAL);
}

/* Of a recorded listing the filters are the recorded ones, whatever --filter says; those of the exchange and
 * of assets are not part of it. */
static void test_recorded(void)
{
    struct replay_filters f = {0};
    struct text text = {0};
    struct limits limits = {0};
    struct symbol listed;
    struct tape_symbol recorded =
                           {.info = (char *)"{\"symbol\":\"BTCUSDT\",\"icebergAllowed\":true,\"ocoAllowed\": "
                                            "true,\"otoAllowed\":false,\"filters\":["
                                            "{\"filterType\":\"ICEBERG_PARTS\",\"limit\":7},"
                                            "{\"filterType\":\"MAX_NUM_ORDERS\",\"maxNumOrders\": 25},"
                                            "{\"filterType\":\"MAX_NUM_ORDER_LISTS\"},"
                                            "{\"filterType\":\"TRAILING_DELTA\",\"minTrailingAboveDelta\":1,"
                                            "\"maxTrailingAboveDelta\":2,\"minTrailingBelowDelta\":3,"
                                            "\"maxTrailingBelowDelta\":4},"
                                            "{\"filterType\":\"MAX_POSITION\",\"maxPosition\":\"10.5\"}],"
                                            "\"maxNumOrderLists\":5}"},
                       synthetic = {0};
    CHECK(replay_filters_set(&f, "ICEBERG_PARTS=3") && replay_filters_set(&f, "EXCHANGE_MAX_NUM_ORDERS=9") &&
          replay_filters_set(&f, "MAX_NUM_ALGO_ORDERS=0") && replay_filters_set(&f, "MAX_POSITION=2.5"));
    static const struct {
        enum replay_filter filter;
        int64_t recorded, synthetic;
    } all[] = {
        {FILTER_ICEBERG_PARTS, 7, 3},           {FILTER_MAX_NUM_ORDERS, 25, 200},
        {FILTER_MAX_NUM_ALGO_ORDERS, 0, 0},     {FILTER_MAX_NUM_ORDER_LISTS, 0, 20},
        {FILTER_MAX_NUM_ORDER_AMENDS, 0, 10},   {FILTER_MAX_POSITION, 1050000000, 250000000},
        {FILTER_EXCHANGE_MAX_NUM_ORDERS, 9, 9}, {FILTER_EXCHANGE_MAX_NUM_ALGO_ORDERS, 0, 0},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        CHECK_INT(replay_filter_of(&f, &recorded, all[i].filter), all[i].recorded);
        CHECK_INT(replay_filter_of(&f, &synthetic, all[i].filter), all[i].synthetic);
    }
    const struct replay_delta_range above = replay_filter_delta(&recorded, true),
                                    below = replay_filter_delta(&recorded, false);
    CHECK(above.min == 1 && above.max == 2 && below.min == 3 && below.max == 4);
    CHECK(replay_filter_allows(&recorded, "icebergAllowed") && replay_filter_allows(&recorded, "ocoAllowed"));
    CHECK(!replay_filter_allows(&recorded, "otoAllowed") &&
          !replay_filter_allows(&recorded, "allowTrailingStop"));
    CHECK(replay_filter_allows(&synthetic, "otoAllowed"));
    CHECK_INT(symbol_default("BTCUSDT", NULL, 2, 5, &listed), 0);
    replay_exchange_info_filters(&text, &recorded, &listed, &limits);
    CHECK(text_ok(&text) &&
          strstr(text.data, "\"symbolFilters\":[{\"filterType\":\"ICEBERG_PARTS\",\"limit\":7}") &&
          strstr(text.data, "\"10.5\"}],\"assetFilters\":[]}"));
    recorded.other_filters = true; /* they have changed since */
    CHECK_INT(replay_filter_of(&f, &recorded, FILTER_ICEBERG_PARTS), 3);
    text_finish(&text);
    for (int i = 0; i < FILTERS_ASSETS_MAX; i++) {
        char spec[24];
        snprintf(spec, sizeof(spec), "MAX_ASSET:A%d=%d.5", i, i);
        CHECK(replay_filters_set(&f, spec) && replay_filters_set(&f, spec));
        CHECK_INT(replay_filter_asset(&f, strtok(spec + 10, "=")), i * 100000000LL + 50000000);
    }
    CHECK(!replay_filters_set(&f, "MAX_ASSET:ONEMORE=1") && replay_filters_set(&f, "MAX_ASSET:A3=0"));
    CHECK_INT(replay_filter_asset(&f, "A3") + replay_filter_asset(&f, "A"), 0);
}

int main(void)
{
    static const char *const names[] = {"BTCUSDT", "ETHUSDT",  "DOGEUSDT", "ETHBTC",
                                        "SPY",     "1000SATS", "USDT",     "SIXTEENLETTERSXY"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (int price = 0; price <= 8; price++)
            for (int qty = 0; qty <= 8; qty++)
                test_listed(names[i], price, qty);
    test_default();
    test_recorded();
    return check_done("exchange_info");
}
