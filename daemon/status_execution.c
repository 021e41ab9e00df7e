/* Of accounts whose orders are filled at their venue: what the status has in addition. */
#include <stdio.h>

#include "daemon/execution/executions.h"
#include "daemon/session.h"
#include "daemon/status_internal.h"
#include "exchange/clock.h"
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

RECORD_VIEW_OBJECT(account_object, venue_account_view, RECORD_SHOWN_VENUE_ACCOUNT);
RECORD_VIEW_OBJECT(reconciled_object, reconciled_view, RECORD_SHOWN_RECONCILED);
RECORD_VIEW_OBJECT(external_object, external_view, RECORD_SHOWN_EXTERNAL);

/* In its own units; what no symbol of ours has, has none. */
static json_t *amount(const struct symbol *symbol, int64_t units, int scale)
{
    return symbol ? decimal_json(units, scale) : json_null();
}

static json_t *external_of(const struct venue_order *order)
{
    static const char *const states[VENUE_ORDER_STATES] = {"NEW",      "PARTIAL",  "FILLED",
                                                           "CANCELED", "REJECTED", "EXPIRED"};
    const struct symbol *symbol = order->symbol;
    const struct external_view view = {.client_id = order->client_id,
                                       .id = order->id,
                                       .symbol = order->name,
                                       .side = order_side_name(order->side),
                                       .type = order->type < ORDER_TYPES ? order_type_name(order->type) : "",
                                       .state = states[order->state]};
    json_t *object = external_object(&view);
    json_object_set_new(object, "qty", amount(symbol, order->qty, symbol ? symbol->qty_scale : 0));
    json_object_set_new(object, "filled", amount(symbol, order->filled, symbol ? symbol->qty_scale : 0));
    json_object_set_new(object, "price", amount(symbol, order->price, symbol ? symbol->price_scale : 0));
    return object;
}

/* `now_ns`: of the status, by whose clock the moment is, too. */
static json_t *reconciled_of(const struct case_findings *found, int64_t now_ns)
{
    const struct reconciled_view view = {.at_ns = now_ns - (clock_boot_ns() - found->at_ns),
                                         .missing = found->missing,
                                         .fills = found->fills,
                                         .strays = found->strays,
                                         .balances_compared = found->balances,
                                         .balances_differed = found->differed};
    return found->at_ns ? reconciled_object(&view) : json_null();
}

static json_t *account_of(const struct venue_execution_view *shown, int64_t now_ns)
{
    const struct venue_account_view view = {.execution = account_execution_name(EXECUTION_VENUE_PAPER),
                                            .venue = shown->venue,
                                            .prefix = shown->prefix,
                                            .attached = shown->attached,
                                            .halted = shown->halted,
                                            .link = shown->open ? link_name(shown->link) : "closed",
                                            .detail = shown->detail,
                                            .orders = shown->cases.live,
                                            .unknown = shown->cases.unknown,
                                            .unknown_order =
                                                shown->cases.unknown ? (int64_t)shown->cases.unknown_id : 0,
                                            .waiting = (int64_t)shown->waiting};
    json_t *object = account_object(&view), *external = json_array();
    for (size_t i = 0; i < shown->cases.n_external; i++)
        json_array_append_new(external, external_of(&shown->cases.external[i]));
    json_object_set_new(object, "external", external);
    json_object_set_new(object, "reconciled", reconciled_of(&shown->cases.found, now_ns));
    return object;
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
    json_object_set_new(account, "venue_account", account_of(&view, daemon_session_now(daemon->session)));
}
