/* `amend` and `cancel`: change or cancel orders. */
#include <string.h>

#include "daemon/command/internal.h"
#include "engine/event.h"

/* The order that an account's name for it stood for, once it has ended; 0 for a name not known. */
static uint64_t ended_order(const struct request *request, const char *account, const char *client_id)
{
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
    json_t *args = json_pack("{s:s, s:s}", "account", account, "client_id", client_id);
    bool named = args && daemon_command_key_name("order", args, request->engine, name);
    const struct command_key *key = named ? daemon_command_key_find(request->commands, name) : NULL;
    json_decref(args);
    const json_t *result = key ? json_object_get(key->answer, "result") : NULL;
    return (uint64_t)json_integer_value(json_object_get(result, "order"));
}

/* The order that is named by `order` or `client_id`: its id, or false with the call answered. The engine
 * refuses one that has ended. */
static bool take_order(const struct args *args, uint64_t *ret)
{
    const struct request *request = args->request;
    const json_t *order = json_object_get(args->object, "order");
    char client_id[ORDER_CLIENT_ID_MAX];
    int account;
    if (daemon_command_args_given(args, "order") == daemon_command_args_given(args, "client_id"))
        return ARGS_WRONG(request->call, "args.order: the id of an order, or args.client_id, is needed");
    if (daemon_command_args_given(args, "order")) {
        if (!json_is_integer(order) || json_integer_value(order) <= 0)
            return ARGS_WRONG(request->call, "args.order: the id of an order is needed");
        *ret = (uint64_t)json_integer_value(order);
        return true;
    }
    if (!daemon_command_args_id(args, "client_id", client_id) ||
        !daemon_command_args_account(args, "account", &account))
        return false;
    const struct order *found = engine_find_client_order(request->engine, account, client_id);
    const char *name = engine_account(request->engine, account)->name;
    *ret = found ? found->id : ended_order(request, name, client_id);
    if (*ret == 0)
        control_error(request->call, order_reason_name(ORDER_UNKNOWN_ORDER),
                      "args.client_id: no order of account %s has that id", name);
    return *ret != 0;
}

void daemon_command_amend(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_AMEND};
    struct order_amend *amend = &event.command.amend;
    if (!take_order(request->given, &amend->order_id))
        return;
    const struct order *order = engine_find_order(request->engine, amend->order_id);
    const struct symbol *symbol = engine_symbol(request->engine, order ? order->symbol : 0);
    const struct {
        const char *name;
        int scale;
        int64_t *to;
        unsigned set;
    } numbers[] = {
        {"qty", symbol->qty_scale, &amend->qty, AMEND_QTY},
        {"limit", symbol->price_scale, &amend->price, AMEND_PRICE},
        {"stop", symbol->price_scale, &amend->stop_price, AMEND_STOP},
        {"trail", symbol->price_scale, &amend->trail, AMEND_TRAIL},
        {"trail_percent", 0, NULL, AMEND_TRAIL_E6},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!daemon_command_args_given(request->given, numbers[i].name))
            continue;
        if (numbers[i].to &&
            !daemon_command_args_decimal(request->given, numbers[i].name, numbers[i].scale, numbers[i].to))
            return;
        amend->set |= numbers[i].set;
    }
    if (amend->set == 0) {
        control_error(request->call, "EINVAL",
                      "args.qty, args.limit, args.stop or args.trail is needed: what is to change");
        return;
    }
    if (daemon_command_args_trail(request->given, &amend->trail_e6))
        daemon_command_carry_out(request, &event, json_object());
}

/* Does it close what its account holds? One that waits for its entry closes nothing yet. */
static bool protects_position(const struct engine *engine, const struct order *order)
{
    int64_t held = engine_account(engine, order->account)->positions[order->symbol].qty;
    return order_protects(order) && order->state != ORDER_HELD &&
           (order->side == ORDER_SELL ? held > 0 : held < 0);
}

static void cancel_one(struct work *work, const json_t *id)
{
    struct event event = {.command = {.kind = COMMAND_CANCEL, .order_id = (uint64_t)json_integer_value(id)}};
    daemon_command_event(work, &event);
}

/* A market order on its way arrives, and trades, before a cancel that is sent after it. Of one at a venue
 * that is not known: it may wait here, or be lost. */
static bool arrives_first(const struct engine *engine, const struct order *order)
{
    return order->type == ORDER_MARKET && order->state == ORDER_PENDING &&
           engine_account(engine, order->account)->rules.execution != EXECUTION_VENUE_PAPER;
}

/* Every live order, or those of one symbol or account. */
static void cancel_all(const struct request *request, const struct args *args)
{
    int symbol = -1, account = -1;
    struct work work;
    if ((daemon_command_args_given(args, "symbol") && !daemon_command_args_symbol(args, "symbol", &symbol)) ||
        (daemon_command_args_given(args, "account") &&
         !daemon_command_args_account(args, "account", &account)) ||
        !daemon_command_begin(request, &work))
        return;
    json_t *canceled = json_array(), *exits = json_array(), *arriving = json_array();
    for (size_t i = 0; i < engine_orders(request->engine); i++) {
        const struct order *order = engine_order(request->engine, i);
        if ((symbol >= 0 && order->symbol != symbol) || (account >= 0 && order->account != account))
            continue;
        const bool arrives = arrives_first(request->engine, order);
        json_array_append_new(arrives ? arriving : canceled, json_integer((json_int_t)order->id));
        if (!arrives && protects_position(request->engine, order))
            json_array_append_new(exits,
                                  json_pack("{s:I, s:s, s:s, s:s}", "order", (json_int_t)order->id, "account",
                                            engine_account(request->engine, order->account)->name, "symbol",
                                            engine_symbol(request->engine, order->symbol)->name, "type",
                                            order_type_name(order->type)));
    }
    size_t i;
    json_t *id;
    json_array_foreach(canceled, i, id) cancel_one(&work, id);
    json_array_foreach(arriving, i, id) cancel_one(&work, id); /* should its market be closed */
    work.reason = ORDER_OK; /* the other leg of an OCO is cancelled with the first */
    json_t *result = json_pack("{s:o, s:o}", "canceled", canceled, "exits", exits);
    if (json_array_size(arriving) > 0)
        json_object_set(result, "arriving", arriving);
    json_decref(arriving);
    daemon_command_end(&work, result);
}

void daemon_command_cancel(const struct request *request)
{
    const struct args *args = request->given;
    bool all = false;
    if (!daemon_command_args_flag(args, "all", &all))
        return;
    if (all && (daemon_command_args_given(args, "order") || daemon_command_args_given(args, "client_id"))) {
        control_error(request->call, "EINVAL", "args.all, or one order, not both");
    } else if (all) {
        cancel_all(request, args);
    } else if (daemon_command_args_given(args, "symbol")) {
        control_error(request->call, "EINVAL", "args.symbol: only with args.all");
    } else {
        struct event event = {.command.kind = COMMAND_CANCEL};
        if (take_order(args, &event.command.order_id))
            daemon_command_carry_out(request, &event, json_object());
    }
}
