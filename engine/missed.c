/* What the market did to resting orders while nothing was streamed, as far as bars show. */
#include <stdio.h>
#include <time.h>

#include "engine/match.h"
#include "exchange/fill_rules.h"

#define SECOND_NS 1000000000LL
#define MINUTE_NS (60 * SECOND_NS)

/* "order 7, stop 59500, bar of 2024-08-08 23:54Z from 59400 to 59600"; with seconds where bars are of
 * seconds.
 */
static void describe(const struct engine *engine, const struct order *order, const struct bar *bar,
                     char *text, size_t size)
{
    int scale = engine->markets[order->symbol].symbol.price_scale;
    bool limit = order_works_as_limit(order);
    char price[DECIMAL_TEXT_MAX], low[DECIMAL_TEXT_MAX], high[DECIMAL_TEXT_MAX], when[32] = "";
    time_t seconds = (time_t)(bar->open_ns / SECOND_NS);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(when, sizeof when,
                 engine->interval_ns % MINUTE_NS ? "%Y-%m-%d %H:%M:%SZ" : "%Y-%m-%d %H:%MZ", &utc);
    decimal_format_short(limit ? order->price : order->stop_price, scale, price);
    decimal_format_short(bar->low, scale, low);
    decimal_format_short(bar->high, scale, high);
    snprintf(text, size, "order %llu, %s %s, bar of %s from %s to %s", (unsigned long long)order->id,
             limit ? "limit" : "stop", price, when, low, high);
}

static bool crossed(const struct engine *engine, const struct order *order, const struct bar *bar)
{
    int64_t open_ns = bar->open_ns - engine_ahead_ns(engine, order->symbol);
    if (order->effective_ns > open_ns || order->updated_ns > open_ns || order_is_of_auction(order->tif))
        return false; /* it may have been crossed before it rested, or before its price was this one */
    if (order_works_as_limit(order))
        return fill_limit_trades_through(order->side, order->price,
                                         order->side == ORDER_BUY ? bar->low : bar->high);
    return !order->triggered &&
           (engine_arrive_would_trigger(order, bar->low) || engine_arrive_would_trigger(order, bar->high));
}

static void report_order(struct engine *engine, struct live_order *live, const struct bar *bar)
{
    const char *symbol = engine->markets[live->order.symbol].symbol.name;
    bool fills = engine->missed_stops == MISSED_STOPS_FILL;
    char text[256];
    describe(engine, &live->order, bar, text, sizeof text);
    if (order_works_as_limit(&live->order)) {
        engine_alert(engine, "LIMIT_MISSED",
                     ENGINE_OF(live->order.account, live->order.symbol, live->order.id),
                     "%s: %s: it rests on", symbol, text);
        return;
    }
    live->missed = fills;
    engine->markets[live->order.symbol].calm = false;
    engine_alert(engine, "STOP_MISSED", ENGINE_OF(live->order.account, live->order.symbol, live->order.id),
                 "%s: %s: it %s", symbol, text, fills ? "triggers at the next price" : "rests on");
}

void engine_match_missed(struct engine *engine, int symbol, const struct bar *bars, uint32_t n)
{
    const struct market_state *market = &engine->markets[symbol];
    for (size_t i = 0; market->live_orders > 0 && i < engine->n_orders; i++) {
        struct live_order *live = &engine->orders[i];
        if (live->order.symbol != symbol || !engine_live_resting(&live->order) || live->missed ||
            engine_at_venue(engine, &live->order))
            continue;
        for (uint32_t k = 0; k < n; k++) {
            const struct bar bar = engine_calendars_dated(engine, symbol, &bars[k]);
            bool traded = engine_hours_has_bar(market, &bar, engine->interval_ns) ||
                          (live->order.extended_hours && engine_hours_bar_outside(&bar));
            if (!traded || !crossed(engine, &live->order, &bar))
                continue;
            report_order(engine, live, &bar);
            break;
        }
    }
}
