/* Of accounts whose orders are filled at their venue: what the status has in addition. */
#include <stdio.h>

#include "daemon/execution/executions.h"
#include "daemon/status_internal.h"
#include "record/json.h"
#include "record/status.h"

static const char *link_name(enum venue_link link)
{
    static const char *const names[] = {
        [VENUE_DOWN] = "down",   [VENUE_RESOLVING] = "resolving", [VENUE_CONNECTING] = "connecting",
        [VENUE_UP] = "up",       [VENUE_WAITING] = "waiting",     [VENUE_FAILED] = "failed",
        [VENUE_FINAL] = "final",
    };
    return names[link];
}

/* In its own units; what no symbol of ours has, has none. */
static json_t *amount(const struct symbol *symbol, int64_t units, int scale)
{
    return symbol ? decimal_json(units, scale) : json_null();
}

static json_t *external_object(const struct venue_order *order)
{
    static const char *const states[VENUE_ORDER_STATES] = {"NEW",      "PARTIAL",  "FILLED",
                                                           "CANCELED", "REJECTED", "EXPIRED"};
    const struct symbol *symbol = order->symbol;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "client_id", order->client_id, "id",
                     order->id, "symbol", order->name, "side", order_side_name(order->side), "type",
                     order->type < ORDER_TYPES ? order_type_name(order->type) : "", "state",
                     states[order->state], "qty", amount(symbol, order->qty, symbol ? symbol->qty_scale : 0),
                     "filled", amount(symbol, order->filled, symbol ? symbol->qty_scale : 0), "price",
                     amount(symbol, order->price, symbol ? symbol->price_scale : 0));
}

static json_t *found_object(const struct case_findings *found)
{
    if (found->at_ns == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:b, s:b}", "at_ns", (json_int_t)found->at_ns, "missing",
                     (json_int_t)found->missing, "fills", (json_int_t)found->fills, "strays",
                     (json_int_t)found->strays, "balances_compared", found->balances, "balances_differed",
                     found->differed);
}

static json_t *execution_object(const struct venue_execution_view *view)
{
    json_t *external = json_array();
    for (size_t i = 0; i < view->cases.n_external; i++)
        json_array_append_new(external, external_object(&view->cases.external[i]));
    return json_pack(
        "{s:s, s:s, s:s, s:b, s:b, s:s, s:s, s:I, s:I, s:o?, s:I, s:o, s:o}", "execution",
        account_execution_name(EXECUTION_VENUE_PAPER), "venue", view->venue, "prefix", view->prefix,
        "attached", view->attached, "halted", view->halted, "link",
        view->open ? link_name(view->link) : "closed", "detail", view->detail, "orders",
        (json_int_t)view->cases.live, "unknown", (json_int_t)view->cases.unknown, "unknown_order",
        view->cases.unknown ? json_integer((json_int_t)view->cases.unknown_id) : NULL, "waiting",
        (json_int_t)view->waiting, "external", external, "reconciled", found_object(&view->cases.found));
}

/* One line. */
static void put_words(const struct venue_execution_view *view, json_t *account)
{
    char words[RECORD_BYTES_LINE], unknown[48] = "", external[32] = "";
    if (view->cases.unknown)
        snprintf(unknown, sizeof unknown, ", %u of unknown outcome", view->cases.unknown);
    if (view->cases.n_external)
        snprintf(external, sizeof external, ", %zu external", view->cases.n_external);
    snprintf(words, sizeof words, "%s: %s, user data %s, %u orders%s%s", view->venue,
             view->halted     ? "halted"
             : view->attached ? "attached"
                              : "not attached",
             view->open ? link_name(view->link) : "closed", view->cases.live, unknown, external);
    json_object_set_new(account, "at_venue", json_string(words));
}

void daemon_status_execution(const struct daemon *daemon, const char *name, json_t *account)
{
    struct venue_execution_view view;
    if (!daemon->executions || !daemon_executions_view(daemon->executions, name, &view))
        return;
    put_words(&view, account);
    json_object_set_new(account, "venue_account", execution_object(&view));
}
