/* `order`: one order, an OCO or a bracket (docs/control.md). */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "engine/event.h"
#include "exchange/order_rules.h"
#include "record/order.h"

enum { NEEDS_LIMIT = 1, NEEDS_STOP = 2, NEEDS_TRAIL = 4 };

static const unsigned needs[ORDER_TYPES] = {
    [ORDER_LIMIT] = NEEDS_LIMIT,
    [ORDER_STOP] = NEEDS_STOP,
    [ORDER_STOP_LIMIT] = NEEDS_STOP | NEEDS_LIMIT,
    [ORDER_TAKE_PROFIT] = NEEDS_STOP,
    [ORDER_TAKE_PROFIT_LIMIT] = NEEDS_STOP | NEEDS_LIMIT,
    [ORDER_TRAILING_STOP] = NEEDS_TRAIL,
};

/* The order's purpose decides its type where only its numbers are given. */
enum leg_role { ROLE_SINGLE, ROLE_TAKE_PROFIT, ROLE_STOP_LOSS };

/* "stop-limit" as well as "STOP_LIMIT": the engine's name for it. */
static void upper(const char *text, char ret[static 24])
{
    size_t i = 0;
    for (; text[i] && i < 23; i++)
        ret[i] = text[i] == '-' ? '_' : (char)toupper((unsigned char)text[i]);
    ret[i] = '\0';
}

/* False, with an error that names such an order's numbers by their arguments. */
static bool refuse_numbers(const struct args *args, enum leg_role role, enum order_type type)
{
    static const char *const takes[] = {
        [0] = "no price",
        [NEEDS_LIMIT] = "args.limit alone",
        [NEEDS_STOP] = "args.stop alone",
        [NEEDS_STOP | NEEDS_LIMIT] = "args.stop and args.limit",
        [NEEDS_TRAIL] = "args.trail alone",
    };
    struct control_call *call = args->request->call;
    const char *where = args->where;
    if (role == ROLE_TAKE_PROFIT)
        return ARGS_WRONG(call, "%s.limit, %s.stop or both are needed", where, where);
    if (role == ROLE_STOP_LOSS)
        return ARGS_WRONG(call, "%s.stop, also with %s.limit, or %s.trail is needed", where, where, where);
    return ARGS_WRONG(call, "a %s order takes %s", order_type_name(type), takes[needs[type]]);
}

static bool take_type(const struct args *args, enum leg_role role, unsigned given, enum order_type *ret)
{
    struct control_call *call = args->request->call;
    bool profit = role == ROLE_TAKE_PROFIT;
    const char *text;
    if (!daemon_command_args_given(args, "type")) {
        *ret = given & NEEDS_TRAIL ? ORDER_TRAILING_STOP
               : (given & NEEDS_STOP) && given & NEEDS_LIMIT
                   ? profit ? ORDER_TAKE_PROFIT_LIMIT : ORDER_STOP_LIMIT
               : given & NEEDS_STOP  ? profit ? ORDER_TAKE_PROFIT : ORDER_STOP
               : given & NEEDS_LIMIT ? ORDER_LIMIT
                                     : ORDER_MARKET;
    } else {
        char name[24];
        if (!daemon_command_args_text(args, "type", &text))
            return false;
        upper(text, name);
        int type = order_type_parse(name);
        if (type < 0)
            return ARGS_WRONG(call,
                              "%s.type: \"%.60s\": market, limit, stop, stop-limit, take-profit, "
                              "take-profit-limit or trailing-stop is needed",
                              args->where, text);
        *ret = (enum order_type)type;
    }
    bool fits = needs[*ret] == given;
    if (role == ROLE_TAKE_PROFIT)
        fits &= *ret == ORDER_LIMIT || *ret == ORDER_TAKE_PROFIT || *ret == ORDER_TAKE_PROFIT_LIMIT;
    if (role == ROLE_STOP_LOSS)
        fits &= *ret == ORDER_STOP || *ret == ORDER_STOP_LIMIT || *ret == ORDER_TRAILING_STOP;
    return fits || refuse_numbers(args, role, *ret);
}

/* Type and numbers of one order. */
static bool take_numbers(const struct args *args, enum leg_role role, struct order *leg)
{
    int price_scale = engine_symbol(args->request->engine, leg->symbol)->price_scale;
    const struct {
        const char *name;
        int scale;
        int64_t *to;
        unsigned need;
    } numbers[] = {
        {"limit", price_scale, &leg->price, NEEDS_LIMIT},
        {"stop", price_scale, &leg->stop_price, NEEDS_STOP},
        {"trail", price_scale, &leg->trail, NEEDS_TRAIL},
        {"trail_percent", 0, NULL, NEEDS_TRAIL},
    };
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    unsigned given = 0;
    for (int i = 0; i < NUMBERS; i++)
        given |= daemon_command_args_given(args, numbers[i].name) ? numbers[i].need : 0;
    if (daemon_command_args_given(args, "trail") && daemon_command_args_given(args, "trail_percent"))
        return ARGS_WRONG(args->request->call, "%s.trail, or %s.trail_percent, not both", args->where,
                          args->where);
    if (!take_type(args, role, given, &leg->type))
        return false;
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i].to && daemon_command_args_given(args, numbers[i].name) &&
            !daemon_command_args_decimal(args, numbers[i].name, numbers[i].scale, numbers[i].to))
            return false;
    if (!daemon_command_args_trail(args, &leg->trail_e6) ||
        !daemon_command_args_flag(args, "post_only", &leg->post_only))
        return false;
    if (leg->post_only && leg->type != ORDER_LIMIT)
        return ARGS_WRONG(args->request->call, "%s.post_only: only a limit order can be", args->where);
    return true;
}

/* tif and expire_ns. */
static bool take_time(const struct args *args, struct order *leg)
{
    struct control_call *call = args->request->call;
    const json_t *expire = json_object_get(args->object, "expire_ns");
    int tif = daemon_command_args_given(args, "expire_ns") ? ORDER_GTD : ORDER_GTC;
    const char *text;
    if (daemon_command_args_given(args, "tif")) {
        char name[24];
        if (!daemon_command_args_text(args, "tif", &text))
            return false;
        upper(text, name);
        tif = order_tif_parse(name);
        if (tif < 0)
            return ARGS_WRONG(call, "args.tif: \"%.60s\": gtc, ioc, fok, day, gtd, opg or cls is needed",
                              text);
    }
    if (tif == ORDER_GTC && !daemon_command_args_given(args, "tif"))
        tif = order_rules_tif(engine_symbol(args->request->engine, leg->symbol), leg->qty, leg->notional > 0,
                              leg->extended_hours);
    leg->tif = (enum order_tif)tif;
    if (daemon_command_args_given(args, "expire_ns") != (tif == ORDER_GTD))
        return ARGS_WRONG(call, "args.expire_ns: args.tif gtd needs it, and no other takes it");
    if (tif == ORDER_GTD && (!json_is_integer(expire) || json_integer_value(expire) <= 0))
        return ARGS_WRONG(call, "args.expire_ns: a time in nanoseconds, UTC, as an integer is needed");
    leg->expires_ns = tif == ORDER_GTD ? json_integer_value(expire) : 0;
    return true;
}

/* A quantity, or of a single order the amount that it is computed of. */
static bool take_size(const struct args *args, const struct symbol *symbol, struct order *leg)
{
    bool amount = daemon_command_args_given(args, "notional");
    if (amount && (daemon_command_args_given(args, "qty") || daemon_command_args_given(args, "group")))
        return ARGS_WRONG(args->request->call, "args.notional: a single order takes it in place of args.qty");
    if (!amount)
        return daemon_command_args_decimal(args, "qty", symbol->qty_scale, &leg->qty);
    if (!daemon_command_args_decimal(args, "notional", symbol->quote_scale, &leg->notional))
        return false;
    return leg->notional > 0 || ARGS_WRONG(args->request->call, "args.notional: above zero is needed");
}

/* The fields that all legs of a request share. */
static bool take_common(const struct args *args, struct order *leg)
{
    const char *side = json_string_value(json_object_get(args->object, "side"));
    if (!side || (strcasecmp(side, "buy") != 0 && strcasecmp(side, "sell") != 0))
        return ARGS_WRONG(args->request->call, "args.side: \"%.10s\": buy or sell is needed",
                          side ? side : "");
    leg->side = strcasecmp(side, "buy") == 0 ? ORDER_BUY : ORDER_SELL;
    leg->by_hand = true;
    snprintf(leg->tag, sizeof leg->tag, "by hand");
    if (!daemon_command_args_symbol(args, "symbol", &leg->symbol) ||
        !daemon_command_args_account(args, "account", &leg->account))
        return false;
    const struct symbol *symbol = engine_symbol(args->request->engine, leg->symbol);
    if (!take_size(args, symbol, leg))
        return false;
    const struct record_field *field;
    for (int i = 0; (field = record_order_given(i)); i++)
        if (!daemon_command_args_field(args, field, leg))
            return false;
    return take_time(args, leg);
}

/* An order that belongs to `first`: the member `name` of the arguments. False when it is not right; *ret_n
 * counts it when it is there. */
static bool take_leg(const struct args *args, const char *name, enum leg_role role, enum order_side side,
                     struct event_command *command)
{
    const json_t *object = json_object_get(args->object, name);
    char where[32];
    if (!daemon_command_args_given(args, name))
        return true;
    snprintf(where, sizeof where, "args.%s", name);
    struct args own = {args->request, object, where};
    struct order leg = command->order.legs[0];
    leg.side = side;
    leg.tif = leg.tif == ORDER_GTD || leg.tif == ORDER_DAY ? leg.tif : ORDER_GTC;
    leg.price = leg.stop_price = leg.trail = leg.trail_e6 = 0;
    leg.post_only = false;
    leg.client_id[0] = '\0';
    snprintf(leg.tag, sizeof leg.tag, "%s", role == ROLE_TAKE_PROFIT ? "take profit" : "stop loss");
    if (!json_is_object(object))
        return ARGS_WRONG(args->request->call, "%s: an object like {\"stop\":\"60000\"} is needed", where);
    if (!daemon_command_args_known(&own, "type limit stop trail trail_percent post_only") ||
        !take_numbers(&own, role, &leg))
        return false;
    command->order.legs[command->order.n_legs++] = leg;
    return true;
}

static bool take_oco(const struct args *args, struct event_command *command)
{
    struct order first = command->order.legs[0];
    static const char *const single[] = {"type", "limit", "stop", "trail", "trail_percent", "post_only"};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (daemon_command_args_given(args, single[i]))
            return ARGS_WRONG(args->request->call,
                              "args.%s: an oco has none: its orders are args.take_profit and args.stop_loss",
                              single[i]);
    if (first.tif == ORDER_IOC || first.tif == ORDER_FOK || order_is_of_auction(first.tif))
        return ARGS_WRONG(args->request->call,
                          "args.tif: an oco rests until one trades: gtc, day or gtd is needed");
    command->order.grouping = ORDERS_OCO;
    command->order.n_legs = 0;
    if (!take_leg(args, "take_profit", ROLE_TAKE_PROFIT, first.side, command) ||
        !take_leg(args, "stop_loss", ROLE_STOP_LOSS, first.side, command))
        return false;
    if (command->order.n_legs != 2)
        return ARGS_WRONG(args->request->call,
                          "args.take_profit and args.stop_loss are needed: an oco has both");
    memcpy(command->order.legs[0].client_id, first.client_id, sizeof first.client_id);
    return true;
}

static bool take_bracket(const struct args *args, struct event_command *command)
{
    enum order_side other = command->order.legs[0].side == ORDER_BUY ? ORDER_SELL : ORDER_BUY;
    command->order.grouping = ORDERS_BRACKET;
    if (!take_numbers(args, ROLE_SINGLE, &command->order.legs[0]) ||
        !take_leg(args, "take_profit", ROLE_TAKE_PROFIT, other, command) ||
        !take_leg(args, "stop_loss", ROLE_STOP_LOSS, other, command))
        return false;
    if (command->order.n_legs < 2)
        control_error(args->request->call, "EINVAL",
                      "args.take_profit, args.stop_loss or both are needed: a bracket has them");
    return command->order.n_legs >= 2;
}

static bool take_group(const struct args *args, struct event_command *command)
{
    const char *group = json_string_value(json_object_get(args->object, "group"));
    if (group && strcmp(group, "oco") == 0)
        return take_oco(args, command);
    if (group && strcmp(group, "bracket") == 0)
        return take_bracket(args, command);
    if (daemon_command_args_given(args, "group"))
        return ARGS_WRONG(args->request->call, "args.group: \"oco\" or \"bracket\" is needed");
    if (daemon_command_args_given(args, "take_profit") || daemon_command_args_given(args, "stop_loss"))
        return ARGS_WRONG(
            args->request->call,
            "args.group: \"oco\" or \"bracket\" is needed with args.take_profit and args.stop_loss");
    return take_numbers(args, ROLE_SINGLE, &command->order.legs[0]);
}

static void put_waits(const struct request *request, const struct work *work, int n, json_t *waits,
                      json_t *sent)
{
    for (size_t i = 0; work->reason == ORDER_OK && i < engine_orders(request->engine); i++) {
        const struct order *order = engine_order(request->engine, i);
        if (order->id < work->order || order->id >= work->order + (uint64_t)n)
            continue;
        daemon_command_waits(request, order, waits);
        daemon_command_sent_as(request, order, sent);
    }
}

void daemon_command_order(const struct request *request)
{
    struct order legs[ORDER_LEGS_MAX] = {0};
    struct event event = {.command = {.kind = COMMAND_ORDER, .order = {.legs = legs, .n_legs = 1}}};
    struct work work;
    bool dry_run = false;
    if (!take_common(request->given, &legs[0]) || !take_group(request->given, &event.command) ||
        !daemon_command_args_flag(request->given, "dry_run", &dry_run))
        return;
    if (dry_run) {
        daemon_command_dry_run(request, &event.command);
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    int n = event.command.order.n_legs;
    daemon_command_event(&work, &event);
    char words[ORDER_WORDS_MAX];
    work.words = engine_refusal_words(request->engine, work.reason, event.command.order.legs, n, words);
    json_t *orders = json_array(), *waits = json_array(), *sent = json_array();
    for (int i = 0; i < n && work.reason == ORDER_OK; i++) /* their ids follow one another */
        json_array_append_new(orders, json_integer((json_int_t)work.order + i));
    put_waits(request, &work, n, waits, sent);
    json_t *result = json_pack("{s:s, s:o}", "state", "PENDING", "orders", orders);
    if (json_array_size(waits) > 0)
        json_object_set(result, "waits", waits);
    if (json_array_size(sent) > 0)
        json_object_set(result, "sent", sent);
    json_decref(waits);
    json_decref(sent);
    daemon_command_end(&work, result);
}
