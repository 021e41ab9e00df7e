/* The newest trades of random messages, corrected and cancelled ones among them, against a plain list. */
#include "daemon/tape.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/market.h"
#include "tests/check.h"
#include "tests/random.h"

enum { SYMBOLS = 5, MESSAGES = 4000 };

static struct random rng = {7};
static struct symbol symbol = {.name = "BTCUSDT", .price_scale = 2, .qty_scale = 5};

/* What is expected of each symbol, oldest first. */
static struct list {
    struct market_trade trades[MESSAGES];
    size_t n;
    bool plain;
} lists[SYMBOLS];

static void take_out(struct list *list, size_t i)
{
    memmove(list->trades + i, list->trades + i + 1, (list->n - i - 1) * sizeof *list->trades);
    list->n--;
}

static void expect_trade(struct list *list, bool plain, const struct market_trade *trade)
{
    if (!plain && list->plain)
        return;
    if (plain && !list->plain)
        list->n = 0;
    list->plain = plain;
    list->trades[list->n++] = *trade;
    if (list->n > TAPE_TRADES_MAX)
        take_out(list, 0);
}

static void expect_correction(struct list *list, bool cancels, const struct market_correction *correction)
{
    for (size_t i = list->n; i-- > 0;)
        if (list->trades[i].id == correction->id) {
            if (cancels) {
                take_out(list, i);
            } else {
                list->trades[i].id = correction->new_id;
                list->trades[i].price = correction->price;
                list->trades[i].qty = correction->qty;
            }
            return;
        }
}

static void check_symbol(const struct trade_tape *tape, int at, size_t n)
{
    const struct list *list = &lists[at];
    json_t *trades = daemon_tape_trades(tape, at, &symbol, n);
    size_t most = list->n < n ? list->n : n;
    CHECK_INT((long long)json_array_size(trades), (long long)most);
    for (size_t i = 0; i < most; i++) {
        const struct market_trade *trade = &list->trades[list->n - 1 - i];
        const json_t *object = json_array_get(trades, i);
        char price[32], qty[32];
        snprintf(price, sizeof price, "%lld.%02lld", (long long)trade->price / 100,
                 (long long)trade->price % 100);
        snprintf(qty, sizeof qty, "%lld.%05lld", (long long)trade->qty / 100000,
                 (long long)trade->qty % 100000);
        CHECK_INT(json_integer_value(json_object_get(object, "id")), trade->id);
        CHECK_INT(json_integer_value(json_object_get(object, "ts_ns")), trade->ts_ns);
        CHECK_STR(json_string_value(json_object_get(object, "price")), price);
        CHECK_STR(json_string_value(json_object_get(object, "qty")), qty);
        CHECK_STR(json_string_value(json_object_get(object, "side")), trade->buyer_maker ? "SELL" : "BUY");
        CHECK_INT(json_is_true(json_object_get(object, "odd")), trade->odd);
    }
    json_decref(trades);
}

static void step(struct trade_tape *tape, int64_t id, bool aggregated)
{
    int at = (int)random_between(&rng, 0, SYMBOLS - 1);
    struct market_event event = {.symbol = at, .kind = aggregated ? MARKET_AGG_TRADE : MARKET_TRADE};
    int64_t what = random_between(&rng, 0, 9);
    if (what == 0) { /* nothing to keep */
        event.kind = MARKET_TICKER;
    } else if (what < 3) {
        event.kind = what == 1 ? MARKET_CORRECTION : MARKET_CANCEL;
        event.correction =
            (struct market_correction){.id = id - random_between(&rng, 1, 400), .new_id = id + MESSAGES};
        event.correction.price = 1 + random_between(&rng, 0, 100000);
        event.correction.qty = 1 + random_between(&rng, 0, 1000000);
        expect_correction(&lists[at], what == 2, &event.correction);
    } else {
        event.trade = (struct market_trade){.ts_ns = id * 1000,
                                            .id = id,
                                            .price = 1 + random_between(&rng, 0, 100000),
                                            .qty = 1 + random_between(&rng, 0, 1000000),
                                            .buyer_maker = what & 1,
                                            .odd = what == 5};
        expect_trade(&lists[at], !aggregated, &event.trade);
    }
    daemon_tape_take(tape, &event);
}

int main(void)
{
    struct trade_tape *tape = daemon_tape_create();
    check_symbol(tape, 0, 1); /* no trade has come */
    for (int64_t id = 1; id <= MESSAGES; id++) {
        step(tape, id, id < 500 || random_between(&rng, 0, 3) == 0);
        for (int at = 0; id % 7 == 0 && at < SYMBOLS; at++)
            check_symbol(tape, at, (size_t)random_between(&rng, 1, TAPE_TRADES_MAX));
    }
    struct market_event beyond = {.kind = MARKET_TRADE, .symbol = SYMBOLS_MAX};
    daemon_tape_take(tape, &beyond);
    symbol.asset = ASSET_US_EQUITY; /* whose venue does not say which side took */
    json_t *trades = daemon_tape_trades(tape, 0, &symbol, 1);
    CHECK(json_is_null(json_object_get(json_array_get(trades, 0), "side")));
    json_decref(trades);
    daemon_tape_destroy(tape);
    daemon_tape_destroy(NULL);
    return check_done("daemon/tape");
}
