/* Sets, removes and lists price alerts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/feed/feeds.h"
#include "daemon/price_alerts.h"
#include "daemon/status_internal.h"

static bool is_streamed(const struct request *request, int index)
{
    return feeds_stream_symbol(request->commands->daemon->feeds, index);
}

static int decimals_of(const struct symbol *symbol)
{
    return daemon_status_decimals_of(symbol->filters.tick, symbol->price_scale);
}

static void last_text(const struct symbol *symbol, int64_t last, char ret[static DECIMAL_TEXT_MAX])
{
    decimal_format_from(last, symbol->price_scale, decimals_of(symbol), ret);
}

/* A price that has been reached is no news: it is refused. */
static bool is_ahead(const struct request *request, int index, const char *name, bool above, int64_t price)
{
    const struct symbol *symbol = engine_symbol(request->engine, index);
    char last[DECIMAL_TEXT_MAX];
    struct engine_symbol_view view;
    engine_symbol_view(request->engine, index, &view);
    if (view.last == 0 || (above ? view.last < price : view.last > price))
        return true;
    last_text(symbol, view.last, last);
    return ARGS_WRONG(request->call,
                      "args.%s: %s trades at %s already: a price that is still to come is needed", name,
                      symbol->name, last);
}

/* Exactly one of `above` and `below`: a price above 0, in the symbol's units, which is still to come. */
static bool take_price(const struct request *request, int index, struct price_alert *ret)
{
    const struct symbol *symbol = engine_symbol(request->engine, index);
    bool above = daemon_command_args_given(request->given, "above");
    const char *name = daemon_price_alert_side(above);
    if (above == daemon_command_args_given(request->given, "below"))
        return ARGS_WRONG(request->call, above ? "args.below: above is given: one of the two"
                                               : "args.above: a price is needed, here or as below");
    if (!daemon_command_args_decimal(request->given, name, symbol->price_scale, &ret->price))
        return false;
    if (ret->price <= 0)
        return ARGS_WRONG(request->call, "args.%s: a price above 0 is needed", name);
    if (!is_ahead(request, index, name, above, ret->price))
        return false;
    ret->above = above;
    ret->scale = symbol->price_scale;
    while (ret->scale > decimals_of(symbol) && ret->price % 10 == 0) {
        ret->price /= 10;
        ret->scale--;
    }
    memcpy(ret->symbol, symbol->name, sizeof ret->symbol);
    return true;
}

static void refuse_add(const struct request *request, int r, uint64_t same)
{
    if (r == -EEXIST)
        control_error(request->call, "EEXIST", "price alert %llu is the same", (unsigned long long)same);
    else
        control_error(request->call, "ENOSPC",
                      "%d price alerts are set, which are the most: remove one first", PRICE_ALERTS_MAX);
}

void daemon_command_price_alert(const struct request *request)
{
    struct session *session = request->commands->daemon->session;
    struct price_alert alert = {0};
    struct work work;
    int index;
    if (daemon_command_came_before(request) || !daemon_command_args_symbol(request->given, "symbol", &index))
        return;
    const struct symbol *symbol = engine_symbol(request->engine, index);
    if (!is_streamed(request, index)) {
        control_error(request->call, "ENOENT", "args.symbol: %s is not streamed: symbol_add first",
                      symbol->name);
        return;
    }
    if (!take_price(request, index, &alert))
        return;
    int r = daemon_price_alerts_room(daemon_session_price_alerts(session), &alert, &alert.id);
    if (r < 0) {
        refuse_add(request, r, alert.id);
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    r = daemon_session_price_alert_add(session, &alert);
    if (r == -EBADMSG)
        daemon_command_refuse(&work, "EBADMSG",
                              "the price alerts that a former run stored cannot be read, and are not "
                              "overwritten: delete the row price_alerts of the table meta while no daemon "
                              "runs");
    else if (r < 0)
        daemon_command_refuse(&work, "ENOMEM", "out of memory");
    else
        daemon_command_end(&work, daemon_price_alert_json(&alert));
}

void daemon_command_price_alert_remove(const struct request *request)
{
    struct session *session = request->commands->daemon->session;
    const json_t *id = json_object_get(request->args, "price_alert");
    const struct price_alerts *alerts = daemon_session_price_alerts(session);
    struct price_alert removed;
    struct work work;
    if (daemon_command_came_before(request))
        return;
    if (!json_is_integer(id) || json_integer_value(id) < 1) {
        control_error(request->call, "EINVAL", "args.price_alert: the number of one is needed");
        return;
    }
    if (!daemon_price_alerts_find(alerts, (uint64_t)json_integer_value(id))) {
        control_error(request->call, "ENOENT", "args.price_alert: %s",
                      (uint64_t)json_integer_value(id) <= alerts->last_id
                          ? "its price was traded, or it was removed already"
                          : "no price alert has that number");
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    if (daemon_session_price_alert_remove(session, (uint64_t)json_integer_value(id), &removed) < 0)
        daemon_command_refuse(&work, "ENOMEM", "out of memory");
    else
        daemon_command_end(&work, daemon_price_alert_json(&removed));
}

void daemon_command_price_alerts(const struct request *request)
{
    const struct price_alerts *alerts = daemon_session_price_alerts(request->commands->daemon->session);
    json_t *array = json_array();
    for (int i = 0; i < alerts->n; i++) {
        json_t *object = daemon_price_alert_json(&alerts->list[i]);
        int index = request->engine ? engine_find_symbol(request->engine, alerts->list[i].symbol) : -1;
        struct engine_symbol_view view = {0};
        char last[DECIMAL_TEXT_MAX];
        if (index >= 0)
            engine_symbol_view(request->engine, index, &view);
        if (view.last > 0)
            last_text(engine_symbol(request->engine, index), view.last, last);
        json_object_set_new(object, "last", view.last > 0 ? json_string(last) : json_null());
        json_object_set_new(object, "streamed", json_boolean(index >= 0 && is_streamed(request, index)));
        json_array_append_new(array, object);
    }
    control_ok(request->call, json_pack("{s:o}", "price_alerts", array));
}
