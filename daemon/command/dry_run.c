/* `order` with dry_run: what it would be, cost and fill. No row, no event, no key: nothing has happened. */
#include <errno.h>

#include "daemon/command/internal.h"
#include "engine/event.h"
#include "exchange/decimal.h"
#include "exchange/order_reason.h"
#include "exchange/order_rules.h"

static json_t *decimal(int128_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, scale, text);
    return json_string(text);
}

/* Prices that it has not are left out. */
static void put_price(json_t *leg, const char *name, int64_t price, int scale)
{
    if (price != 0)
        json_object_set_new(leg, name, decimal(price, scale));
}

static json_t *leg_of(const struct symbol *symbol, const struct order *order)
{
    enum { PERCENT_SCALE = 4 }; /* of a percent: a millionth of the price */
    json_t *leg = json_pack("{s:s, s:s, s:s, s:s, s:o}", "symbol", symbol->name, "side",
                            order_side_name(order->side), "type", order_type_name(order->type), "tif",
                            order_tif_name(order->tif), "qty", decimal(order->qty, symbol->qty_scale));
    put_price(leg, "limit", order->price, symbol->price_scale);
    put_price(leg, "stop", order->stop_price, symbol->price_scale);
    put_price(leg, "trail", order->trail, symbol->price_scale);
    put_price(leg, "trail_percent", order->trail_e6, PERCENT_SCALE);
    return leg;
}

/* What of it fills at once; null: nothing. The price is the mean, cut to the symbol's digits. */
static json_t *fill_of(const struct symbol *symbol, const struct engine_dry_run *run)
{
    if (run->fill_qty == 0)
        return json_null();
    int128_t price = (int128_t)run->fill_notional * decimal_pow10(symbol->price_scale) *
                     decimal_pow10(symbol->qty_scale) / decimal_pow10(symbol->quote_scale) / run->fill_qty;
    return json_pack("{s:o, s:o, s:o, s:o}", "qty", decimal(run->fill_qty, symbol->qty_scale), "price",
                     decimal(price, symbol->price_scale), "notional",
                     decimal(run->fill_notional, symbol->quote_scale), "fee",
                     decimal(run->fill_fee, symbol->quote_scale));
}

static json_t *result_of(const struct request *request, const struct engine_dry_run *run)
{
    const struct symbol *symbol = engine_symbol(request->engine, run->legs[0].symbol);
    json_t *legs = json_array(), *waits = json_array(), *sent = json_array(), *of;
    size_t n;
    for (int i = 0; i < run->n_legs; i++) {
        json_array_append_new(legs, leg_of(symbol, &run->legs[i]));
        daemon_command_waits(request, &run->legs[i], waits);
        daemon_command_sent_as(request, &run->legs[i], sent);
    }
    json_array_foreach(waits, n, of) json_object_del(of, "order"); /* there is none */
    json_array_foreach(sent, n, of) json_object_del(of, "order");
    json_t *result =
        json_pack("{s:b, s:s, s:o, s:s, s:o, s:o, s:o, s:b, s:{s:s, s:o, s:o, s:o}}", "dry_run", 1, "account",
                  engine_account(request->engine, run->legs[0].account)->name, "legs", legs, "currency",
                  symbol->quote, "notional", decimal(run->notional, symbol->quote_scale), "fee",
                  decimal(run->fee, symbol->quote_scale), "fill", fill_of(symbol, run), "would_take",
                  run->would_take, "reserve", "asset", run->asset, "amount",
                  decimal(run->reserved, run->asset_scale), "free", decimal(run->available, run->asset_scale),
                  "free_after", decimal((int128_t)run->available - run->reserved, run->asset_scale));
    if (result && json_array_size(waits) > 0)
        json_object_set(result, "waits", waits);
    if (result && json_array_size(sent) > 0)
        json_object_set(result, "sent", sent);
    json_decref(waits);
    json_decref(sent);
    return result;
}

void daemon_command_dry_run(const struct request *request, const struct event_command *command)
{
    struct session *session = request->commands->daemon->session;
    const struct order *legs = command->order.legs;
    int n = command->order.n_legs;
    struct engine_dry_run run;
    char words[ORDER_WORDS_MAX];
    if (daemon_command_came_before(request))
        return;
    int r = daemon_session_dry_run(session, command->order.grouping, legs, n, &run);
    if (r < 0) {
        control_error(request->call, r == -EAGAIN ? "EAGAIN" : "ENOMEM",
                      r == -EAGAIN ? "the events of a former run are played again" : "out of memory");
        return;
    }
    if (run.reason != ORDER_OK) {
        const char *why = engine_refusal_words(request->engine, run.reason, legs, n, words);
        control_error(request->call, order_reason_name(run.reason), "%s",
                      why ? why : order_reason_words(run.reason));
        return;
    }
    json_t *result = result_of(request, &run);
    if (result)
        control_ok(request->call, result);
    else
        control_error(request->call, "ENOMEM", "out of memory");
}
