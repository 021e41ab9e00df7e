#include "daemon/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/status.h"

enum {
    BOOK_LEVELS_DEFAULT = 20,
    FLATTEN_ORDERS_MAX = 256,
};

/* A command that the engine has, or whose rows are on their way to the disk. */
struct waiting {
    struct waiting *next;
    struct control_call *call;
    uint64_t id;     /* of its row */
    uint64_t ticket; /* 0 until its last row is put */
    enum order_reason reason;
    uint64_t order;
    json_t *result; /* what to answer when it was not refused */
};

struct commands {
    struct daemon *daemon;
    struct waiting *first, **end; /* in the order in which they came */
};

struct commands *commands_create(struct daemon *daemon)
{
    struct commands *commands = calloc(1, sizeof *commands);
    if (commands) {
        commands->daemon = daemon;
        commands->end = &commands->first;
    }
    return commands;
}

void commands_destroy(struct commands *commands)
{
    while (commands && commands->first) {
        struct waiting *waiting = commands->first;
        commands->first = waiting->next;
        control_error(waiting->call, "ESHUTDOWN", "the daemon stopped before the commit was confirmed");
        json_decref(waiting->result);
        free(waiting);
    }
    free(commands);
}

/* What a refusal means, in words, for the person who gave the order. */
static const char *explain(enum order_reason reason)
{
    static const char *const words[ORDER_REASONS] = {
        [ORDER_BAD_QTY] = "the quantity must be above zero",
        [ORDER_BAD_PRICE] = "the price must be above zero",
        [ORDER_UNKNOWN_SYMBOL] = "that symbol is not streamed",
        [ORDER_UNKNOWN_ACCOUNT] = "there is no such account",
        [ORDER_UNKNOWN_ORDER] = "no live order has that id",
        [ORDER_SYMBOL_HALTED] = "the venue does not trade that symbol now",
        [ORDER_PRICE_FILTER] = "the price is outside the venue's range or off its tick",
        [ORDER_LOT_SIZE] = "the quantity is outside the venue's range or off its step",
        [ORDER_MARKET_LOT_SIZE] = "the quantity is outside the venue's range for market orders",
        [ORDER_MIN_NOTIONAL] = "price times quantity is below the venue's minimum",
        [ORDER_MAX_NOTIONAL] = "price times quantity is above the venue's maximum",
        [ORDER_PERCENT_PRICE] = "the price is too far from the last one",
        [ORDER_MAX_NUM_ORDERS] = "too many open orders of that symbol",
        [ORDER_INSUFFICIENT_BALANCE] = "the account does not hold enough",
        [ORDER_NO_LIQUIDITY] = "nothing is offered on the other side of the book",
        [ORDER_RISK_PAUSED] = "trading is paused: only closing orders pass",
        [ORDER_RISK_STALE_DATA] = "the market data is stale",
        [ORDER_RISK_EXPOSURE] = "the exposure limit would be passed",
        [ORDER_RISK_DAILY_LOSS] = "the daily loss limit is reached",
        [ORDER_RISK_ORDER_RATE] = "too many orders in one second",
        [ORDER_ENDED] = "that order has ended",
        [ORDER_BAD_TIF] = "that type cannot be good for so long, or the time is past",
        [ORDER_BAD_GROUP] = "the legs contradict each other",
        [ORDER_BAD_AMEND] = "that order has no such number, or less than is filled is asked for",
        [ORDER_DUPLICATE_ID] = "another order of the account has that id",
        [ORDER_BAD_ACCOUNT] = "what is asked of the account contradicts itself",
        [ORDER_NO_SHORTS] = "the account may not sell what it does not hold",
        [ORDER_COLLATERAL] = "the short position would not be covered",
        [ORDER_REDUCE_ONLY] = "nothing is held that it could reduce",
        [ORDER_WOULD_TAKE] = "it is post-only, and would take at once",
        [ORDER_OTHER_LEG] = "the other order of its group traded",
        [ORDER_RISK_STORAGE] = "the database cannot store: no new positions",
    };
    return words[reason] ? words[reason] : "refused";
}

static void put_row(struct commands *commands, uint64_t id, const struct control_peer *peer, const char *cmd,
                    const json_t *args, enum db_command_state state, const char *result)
{
    struct session *session = commands->daemon->session;
    char *text = json_dumps(args, JSON_COMPACT);
    struct db_command row = {
        .id = id,
        .ts_ns = session_now(session),
        .peer_uid = peer->uid,
        .peer_pid = peer->pid,
        .cmd = cmd,
        .args = text ? text : "{}",
        .state = state,
        .result = result,
    };
    db_writer_put_command(session_writer(session), &row);
    free(text);
}

static void await(struct commands *commands, struct waiting *waiting)
{
    *commands->end = waiting;
    commands->end = &waiting->next;
}

static struct waiting *find(struct commands *commands, uint64_t id)
{
    struct waiting *waiting = commands->first;
    while (waiting && waiting->id != id)
        waiting = waiting->next;
    return waiting;
}

void commands_done(struct commands *commands, uint64_t command_id, enum order_reason reason,
                   uint64_t order_id)
{
    struct waiting *waiting = find(commands, command_id);
    if (!waiting)
        return;
    waiting->reason = reason;
    waiting->order = order_id;
}

/* Gives the command to the engine and lets the answer wait for its rows. The command's row, the order and
 * everything that follows from it are stored together. */
static void carry_out(struct commands *commands, struct control_call *call, const struct control_peer *peer,
                      const char *cmd, const json_t *args, struct event *event, json_t *result)
{
    struct session *session = commands->daemon->session;
    struct db_writer *writer = session_writer(session);
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting) {
        json_decref(result);
        control_error(call, "ENOMEM", "out of memory");
        return;
    }
    waiting->call = call;
    waiting->id = session_command_id(session);
    waiting->result = result;
    await(commands, waiting);

    db_writer_group_begin(writer);
    put_row(commands, waiting->id, peer, cmd, args, DB_COMMAND_PENDING, "");
    event->kind = EVENT_COMMAND;
    event->command.command_id = waiting->id;
    session_event(session, event);
    bool refused = waiting->reason != ORDER_OK;
    put_row(commands, waiting->id, peer, cmd, args, refused ? DB_COMMAND_REFUSED : DB_COMMAND_DONE,
            refused ? order_reason_name(waiting->reason) : "done");
    if (event->command.kind == COMMAND_PAUSE || event->command.kind == COMMAND_RESUME ||
        event->command.kind == COMMAND_FLATTEN)
        db_writer_put_paused(writer, event->command.kind != COMMAND_RESUME);
    db_writer_group_end(writer);
    waiting->ticket = db_writer_last(writer);
    log_info("command %s from uid %u: %s", cmd, (unsigned)peer->uid,
             refused ? order_reason_name(waiting->reason) : "done");
}

static void reply(struct waiting *waiting)
{
    if (waiting->reason != ORDER_OK) {
        if (waiting->order)
            control_error(waiting->call, order_reason_name(waiting->reason), "%s (order %llu)",
                          explain(waiting->reason), (unsigned long long)waiting->order);
        else
            control_error(waiting->call, order_reason_name(waiting->reason), "%s", explain(waiting->reason));
        json_decref(waiting->result);
        return;
    }
    if (waiting->order)
        json_object_set_new(waiting->result, "order", json_integer((json_int_t)waiting->order));
    control_ok(waiting->call, waiting->result);
}

void commands_committed(struct commands *commands, uint64_t ticket)
{
    for (struct waiting **at = &commands->first; *at;) {
        struct waiting *waiting = *at;
        if (waiting->ticket == 0 || waiting->ticket > ticket) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        if (commands->end == &waiting->next)
            commands->end = at;
        reply(waiting);
        free(waiting);
    }
}

struct request {
    struct commands *commands;
    struct control_call *call;
    const char *cmd;
    json_t *args;
    const struct control_peer *peer;
    const struct engine *engine;
};

/* A text argument, or NULL with the call answered when it is missing and needed. */
static const char *text_arg(const struct request *request, const char *name)
{
    return json_string_value(json_object_get(request->args, name));
}

/* A decimal given as a string. Answers the call and returns false when it is none. */
static bool decimal_arg(const struct request *request, const char *name, int scale, int64_t *ret)
{
    const json_t *value = json_object_get(request->args, name);
    const char *text = json_string_value(value);
    int r = text ? decimal_parse_str(text, scale, ret) : -EINVAL;
    if (r == 0)
        return true;
    if (!text)
        control_error(request->call, "EINVAL", "args.%s: a decimal number as a string is needed", name);
    else if (r == -EDOM)
        control_error(request->call, "EINVAL", "args.%s: \"%s\": at most %d digits after the point", name,
                      text, scale);
    else if (r == -ERANGE)
        control_error(request->call, "EINVAL", "args.%s: \"%s\": too large", name, text);
    else
        control_error(request->call, "EINVAL", "args.%s: \"%s\": a decimal number is needed", name, text);
    return false;
}

static void do_ping(const struct request *request)
{
    control_ok(request->call, NULL);
}

static void do_status(const struct request *request)
{
    json_t *object = status_object(request->commands->daemon);
    if (object)
        control_ok(request->call, object);
    else
        control_error(request->call, "ENOMEM", "out of memory");
}

static void do_pause(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_PAUSE};
    carry_out(request->commands, request->call, request->peer, request->cmd, request->args, &event,
              json_pack("{s:s}", "trading", "paused"));
}

static void do_resume(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_RESUME};
    carry_out(request->commands, request->call, request->peer, request->cmd, request->args, &event,
              json_pack("{s:s}", "trading", "on"));
}

static void do_flatten(const struct request *request)
{
    const char *confirm = text_arg(request, "confirm");
    if (!confirm || strcmp(confirm, "FLATTEN") != 0) {
        control_error(request->call, "EINVAL", "args.confirm: \"FLATTEN\" is needed");
        return;
    }
    struct event event = {.command.kind = COMMAND_FLATTEN};
    size_t before = engine_orders(request->engine);
    uint64_t newest = 0;
    for (size_t i = 0; i < before; i++)
        if (engine_order(request->engine, i)->id > newest)
            newest = engine_order(request->engine, i)->id;
    json_t *orders = json_array(),
           *result = json_pack("{s:I, s:O}", "canceled", (json_int_t)before, "orders", orders);
    carry_out(request->commands, request->call, request->peer, request->cmd, request->args, &event, result);
    for (size_t i = 0; i < engine_orders(request->engine); i++) {
        const struct order *order = engine_order(request->engine, i);
        if (order->id > newest)
            json_array_append_new(orders, json_integer((json_int_t)order->id));
    }
    json_decref(orders);
}

static void do_order(const struct request *request)
{
    const char *side = text_arg(request, "side"), *name = text_arg(request, "symbol");
    const char *account = text_arg(request, "account");
    struct event event = {.command = {.kind = COMMAND_ORDER, .order.n_legs = 1}};
    struct order_request *command = &event.command.order.legs[0];
    if (!side || (strcmp(side, "buy") != 0 && strcmp(side, "sell") != 0)) {
        control_error(request->call, "EINVAL", "args.side: \"buy\" or \"sell\" is needed");
        return;
    }
    command->side = strcmp(side, "buy") == 0 ? ORDER_BUY : ORDER_SELL;
    command->symbol = name ? engine_find_symbol(request->engine, name) : -ENOENT;
    if (command->symbol < 0) {
        control_error(request->call, "UNKNOWN_SYMBOL", "args.symbol: \"%s\" is not streamed; streamed: %s%s",
                      name ? name : "", engine_symbol(request->engine, 0)->name,
                      engine_symbols(request->engine) > 1 ? ", …" : "");
        return;
    }
    command->account = account ? engine_find_account(request->engine, account) : 0;
    if (command->account < 0) {
        control_error(request->call, "UNKNOWN_ACCOUNT", "args.account: there is no account \"%s\"", account);
        return;
    }
    const struct symbol *symbol = engine_symbol(request->engine, command->symbol);
    bool limit =
        json_object_get(request->args, "limit") && !json_is_null(json_object_get(request->args, "limit"));
    bool stop =
        json_object_get(request->args, "stop") && !json_is_null(json_object_get(request->args, "stop"));
    if (limit && stop) {
        control_error(request->call, "EINVAL", "args: limit or stop, not both");
        return;
    }
    command->by_hand = true;
    snprintf(command->tag, sizeof command->tag, "by hand");
    command->type = limit ? ORDER_LIMIT : stop ? ORDER_STOP : ORDER_MARKET;
    if (!decimal_arg(request, "qty", symbol->qty_scale, &command->qty) ||
        (limit && !decimal_arg(request, "limit", symbol->price_scale, &command->price)) ||
        (stop && !decimal_arg(request, "stop", symbol->price_scale, &command->stop_price)))
        return;
    carry_out(request->commands, request->call, request->peer, request->cmd, request->args, &event,
              json_pack("{s:s}", "state", "PENDING"));
}

static void do_cancel(const struct request *request)
{
    const json_t *order = json_object_get(request->args, "order");
    if (!json_is_integer(order) || json_integer_value(order) <= 0) {
        control_error(request->call, "EINVAL", "args.order: the id of an order is needed");
        return;
    }
    struct event event = {
        .command = {.kind = COMMAND_CANCEL, .order_id = (uint64_t)json_integer_value(order)}};
    carry_out(request->commands, request->call, request->peer, request->cmd, request->args, &event,
              json_object());
}

static void do_book(const struct request *request)
{
    const char *name = text_arg(request, "symbol");
    const json_t *levels = json_object_get(request->args, "levels");
    int symbol = name ? engine_find_symbol(request->engine, name) : -ENOENT;
    if (symbol < 0)
        control_error(request->call, "UNKNOWN_SYMBOL", "args.symbol: \"%s\" is not streamed",
                      name ? name : "");
    else if (levels && (!json_is_integer(levels) || json_integer_value(levels) < 1 ||
                        json_integer_value(levels) > BOOK_LEVELS_MAX))
        control_error(request->call, "EINVAL", "args.levels: a number from 1 to %d is needed",
                      BOOK_LEVELS_MAX);
    else
        control_ok(request->call,
                   status_book(request->engine, symbol,
                               levels ? (size_t)json_integer_value(levels) : BOOK_LEVELS_DEFAULT));
}

static void do_ack(const struct request *request)
{
    struct session *session = request->commands->daemon->session;
    const json_t *alert = json_object_get(request->args, "alert");
    if (!json_is_integer(alert) || session_ack(session, (uint64_t)json_integer_value(alert)) < 0) {
        control_error(request->call, "ENOENT", "args.alert: no open alert has that id");
        return;
    }
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting) {
        control_error(request->call, "ENOMEM", "out of memory");
        return;
    }
    waiting->call = request->call;
    waiting->id = session_command_id(session);
    waiting->result = json_object();
    put_row(request->commands, waiting->id, request->peer, request->cmd, request->args, DB_COMMAND_DONE,
            "done");
    waiting->ticket = db_writer_last(session_writer(session));
    await(request->commands, waiting);
}

static const struct {
    const char *name;
    void (*run)(const struct request *request);
    bool needs_engine;
} table[] = {
    {"ack", do_ack, false},        {"book", do_book, true},     {"cancel", do_cancel, true},
    {"flatten", do_flatten, true}, {"order", do_order, true},   {"pause", do_pause, true},
    {"ping", do_ping, false},      {"resume", do_resume, true}, {"status", do_status, false},
};

void commands_handle(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                     const struct control_peer *peer)
{
    struct commands *commands = ctx;
    struct request request = {commands, call, cmd, args, peer, session_engine(commands->daemon->session)};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, cmd) != 0)
            continue;
        if (commands->daemon->stopping)
            control_error(call, "ESHUTDOWN", "the daemon is stopping");
        else if (table[i].needs_engine && !request.engine)
            control_error(call, "EAGAIN", "the venue has not answered yet: nothing is streamed");
        else
            table[i].run(&request);
        return;
    }
    control_error(call, "ENOSYS",
                  "cmd: \"%s\" is not known: ack, book, cancel, flatten, order, pause, ping, resume, status",
                  cmd);
}
