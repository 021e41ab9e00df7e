/* Trading on and off, everything closed, alerts acknowledged. */
#include <stdio.h>
#include <string.h>

#include "daemon/alerts.h"
#include "daemon/command/internal.h"
#include "engine/event.h"
#include "exchange/filter.h"

static void switch_trading(const struct request *request, enum command_kind kind, const char *word)
{
    struct event event = {.command.kind = kind};
    struct work work;
    if (!daemon_command_begin(request, &work))
        return;
    daemon_command_event(&work, &event);
    db_writer_put_paused(daemon_session_writer(request->commands->daemon->session), kind == COMMAND_PAUSE);
    daemon_command_end(&work, json_pack("{s:s}", "trading", word));
}

void daemon_command_pause(const struct request *request)
{
    switch_trading(request, COMMAND_PAUSE, "paused");
}

void daemon_command_resume(const struct request *request)
{
    switch_trading(request, COMMAND_RESUME, "on");
}

static uint64_t newest_order(const struct engine *engine)
{
    uint64_t newest = 0;
    for (size_t i = 0; i < engine_orders(engine); i++)
        if (engine_order(engine, i)->id > newest)
            newest = engine_order(engine, i)->id;
    return newest;
}

/* ---- everything closed ---- */

static bool is_closed(const struct symbol *symbol, const struct engine_symbol_view *view)
{
    bool around = view->phase == MARKET_PHASE_EARLY || view->phase == MARKET_PHASE_LATE;
    return symbol->calendar[0] && view->phase != MARKET_PHASE_OPEN && !(view->extended && around);
}

/* By an order of now, or after the end of an earlier one that is being cancelled. */
static bool is_on_its_way(const struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; i < engine_orders(engine); i++) {
        const struct order *order = engine_order(engine, i);
        if (order->account == account && order->symbol == symbol)
            return true;
    }
    return false;
}

struct hindrance {
    const char *reason, *words; /* NULL: none */
};

static struct hindrance hindrance_of(const struct engine *engine, int account, int symbol)
{
    const struct symbol *listed = engine_symbol(engine, symbol);
    struct engine_symbol_view view;
    engine_symbol_view(engine, symbol, &view);
    if (listed->gone || view.trading == MARKET_ENDED)
        return (struct hindrance){"halted", "the venue lists it no longer"};
    if (!listed->trading || view.trading != MARKET_TRADES)
        return (struct hindrance){"halted", "its trading is halted"};
    if (is_closed(listed, &view))
        return (struct hindrance){"closed", "its market is closed"};
    if (view.stale || engine_price(engine, account, symbol) == 0)
        return (struct hindrance){"no price", "it has no price, or an old one"};
    if (!is_on_its_way(engine, account, symbol))
        return (struct hindrance){"refused", "its order was refused"};
    return (struct hindrance){0};
}

/* Less than the least quantity that can be sold is not counted. */
static bool is_held(const struct engine *engine, int account, int symbol)
{
    int64_t qty = engine_account(engine, account)->positions[symbol].qty;
    return filter_floor_qty(engine_symbol(engine, symbol), ORDER_MARKET, qty < 0 ? -qty : qty) > 0;
}

static json_t *not_closed(const struct engine *engine)
{
    json_t *array = json_array();
    for (int a = 0; a < engine_accounts(engine); a++)
        for (int s = 0; s < engine_symbols(engine); s++) {
            struct hindrance why = {0};
            if (is_held(engine, a, s))
                why = hindrance_of(engine, a, s);
            if (why.reason)
                json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s}", "symbol",
                                                       engine_symbol(engine, s)->name, "account",
                                                       engine_account(engine, a)->name, "reason", why.reason,
                                                       "words", why.words));
        }
    return array;
}

void daemon_command_flatten(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_FLATTEN};
    struct work work;
    const char *confirm = json_string_value(json_object_get(request->args, "confirm"));
    if (!confirm || strcmp(confirm, "FLATTEN") != 0) {
        control_error(request->call, "EINVAL", "args.confirm: \"FLATTEN\" is needed");
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    size_t before = engine_orders(request->engine);
    uint64_t newest = newest_order(request->engine);
    daemon_command_event(&work, &event);
    db_writer_put_paused(daemon_session_writer(request->commands->daemon->session), true);
    json_t *orders = json_array(), *waits = json_array();
    for (size_t i = 0; i < engine_orders(request->engine); i++) {
        const struct order *order = engine_order(request->engine, i);
        if (order->id <= newest)
            continue;
        json_array_append_new(orders, json_integer((json_int_t)order->id));
        daemon_command_waits(request, order, waits);
    }
    json_t *result = json_pack("{s:I, s:o, s:o}", "canceled", (json_int_t)before, "orders", orders,
                               "not_closed", not_closed(request->engine));
    if (json_array_size(waits) > 0)
        json_object_set(result, "waits", waits);
    json_decref(waits);
    daemon_command_end(&work, result);
}

/* Why it cannot be acknowledged; NULL: it can. */
static const char *not_open(const struct session *session, const json_t *alert)
{
    int standing = json_is_integer(alert)
                       ? daemon_session_alert_standing(session, (uint64_t)json_integer_value(alert))
                       : ALERT_STANDING_NONE;
    return standing == ALERT_STANDING_OPEN    ? NULL
           : standing == ALERT_STANDING_ACKED ? "it is acknowledged already"
           : standing == ALERT_STANDING_PAST  ? "it is acknowledged already, or over"
                                              : "no alert has that id";
}

void daemon_command_ack(const struct request *request)
{
    struct session *session = request->commands->daemon->session;
    const json_t *alert = json_object_get(request->args, "alert");
    const char *why = not_open(session, alert);
    struct work work;
    if (why) {
        control_error(request->call, "ENOENT", "args.alert: %s", why);
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    daemon_session_ack(session, (uint64_t)json_integer_value(alert));
    daemon_command_end(&work, json_object());
}
