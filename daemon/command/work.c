/* A command from its first row to its answer. The command's row, the order and everything that follows from
 * it are stored together; the answer waits for the commit that holds them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/log.h"
#include "engine/event.h"
#include "exchange/order_reason.h"

void daemon_command_put_row(const struct work *work, enum db_command_state state, const char *result)
{
    const struct request *request = work->request;
    struct session *session = request->commands->daemon->session;
    struct db_command row = {
        .id = work->id,
        .ts_ns = work->ts_ns,
        .peer_uid = request->peer->uid,
        .peer_pid = request->peer->pid,
        .cmd = request->cmd,
        .args = work->args,
        .state = state,
        .result = result,
        .key = work->key,
        .order_id = work->order,
        .event = work->event,
    };
    daemon_session_put_command(session, &row);
}

/* `state`: of its order, in place of the answer's; NULL: the answer's. */
static void answer_with(struct control_call *call, const json_t *answer, bool repeated, const char *state)
{
    const json_t *error = json_object_get(answer, "error");
    json_t *errors = json_object_get(error, "errors"); /* of a training's configuration */
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    const char *again = repeated ? " (as it was the first time)" : "";
    if (errors) {
        control_error_with(call, code, "errors", json_incref(errors), "%s%s", message, again);
        return;
    }
    if (error) {
        control_error(call, code, "%s%s", message, again);
        return;
    }
    json_t *result = json_deep_copy(json_object_get(answer, "result"));
    if (repeated)
        json_object_set_new(result, "repeated", json_true());
    if (state)
        json_object_set_new(result, "state", json_string(state));
    control_ok(call, result);
}

void daemon_command_answer(struct control_call *call, const json_t *answer, bool repeated)
{
    answer_with(call, answer, repeated, NULL);
}

/* The state of an order that lives, or has ended. NULL: the database does not say. */
static const char *state_now(struct commands *commands, uint64_t id)
{
    const struct engine *engine = daemon_session_engine(commands->daemon->session);
    const struct order *order = engine ? engine_find_order(engine, id) : NULL;
    char reason[DB_ERROR_MAX];
    struct db_reader *reader;
    enum order_state state;
    if (order)
        return order_state_name(order->state);
    if (db_reader_open(commands->daemon->state.database, &reader, reason, sizeof reason) < 0)
        return NULL;
    int r = db_reader_order_state(reader, id, &state);
    db_reader_close(reader);
    return r == 0 ? order_state_name(state) : NULL;
}

/* The order of a new one's answer; 0: it is none. */
static uint64_t order_of(const json_t *answer)
{
    const json_t *result = json_object_get(answer, "result");
    return json_is_string(json_object_get(result, "state"))
               ? (uint64_t)json_integer_value(json_object_get(result, "order"))
               : 0;
}

void daemon_command_answer_again(struct commands *commands, struct control_call *call, const json_t *answer)
{
    const uint64_t order = order_of(answer);
    answer_with(call, answer, true, order > 0 ? state_now(commands, order) : NULL);
}

/* Until when a repetition waits: an order's last rows, that have its end, may be on their way to the disk. */
static uint64_t ticket_of(const struct request *request, const struct command_key *key)
{
    const char *detail;
    struct session *session = request->commands->daemon->session;
    const uint64_t order = order_of(key->answer);
    const bool ended = order > 0 && request->engine && !engine_find_order(request->engine, order);
    return ended && daemon_session_storage_ok(session, &detail)
               ? db_writer_last(daemon_session_writer(session))
               : key->ticket;
}

/* The command was carried out or refused, and its rows wait for the disk: answers an error until it
 * recovers. A refusal is a promise as well: its order's number, and that a repeat is refused. */
static void send_not_stored(struct control_call *call, const char *detail, const json_t *answer)
{
    const char *code = json_string_value(json_object_get(json_object_get(answer, "error"), "code"));
    if (code)
        control_error(call, "STORAGE", "refused, %s, not stored yet: %s", code, detail);
    else
        control_error(call, "STORAGE", "taken, not stored yet: %s: it holds once the disk has room", detail);
}

bool daemon_command_await(struct commands *commands, struct control_call *call, json_t *answer, bool repeated,
                          uint64_t ticket)
{
    const char *detail;
    if (!daemon_session_storage_ok(commands->daemon->session, &detail)) {
        send_not_stored(call, detail, answer);
        return true;
    }
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting)
        return false;
    waiting->call = call;
    waiting->ticket = ticket;
    waiting->answer = json_incref(answer);
    waiting->repeated = repeated;
    *commands->end = waiting;
    commands->end = &waiting->next;
    return true;
}

/* The same name again: the same answer, with an order's state as it is now, or a refusal when something else
 * is asked under it. */
static void answer_again(const struct request *request, const struct command_key *key)
{
    if (strcmp(key->cmd, request->cmd) != 0 || !json_equal(key->args, request->args)) {
        control_error(request->call, order_reason_name(ORDER_DUPLICATE_ID),
                      "args.%s: something else was asked under that name before: another one is needed",
                      json_object_get(request->args, "key") ? "key" : "client_id");
        return;
    }
    uint64_t committed = db_writer_committed(daemon_session_writer(request->commands->daemon->session));
    uint64_t ticket = ticket_of(request, key);
    if (ticket <= committed)
        daemon_command_answer_again(request->commands, request->call, key->answer);
    else if (!daemon_command_await(request->commands, request->call, key->answer, true, ticket))
        control_error(request->call, "ENOMEM", "out of memory");
}

bool daemon_command_came_before(const struct request *request)
{
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX], key[ORDER_CLIENT_ID_MAX];
    struct args args = {request, request->args, "args"};
    if (!daemon_command_args_id(&args, "key", key))
        return true;
    if (!daemon_command_key_name(request->cmd, request->args, request->engine, name))
        return false;
    const struct command_key *before = daemon_command_key_find(request->commands, name);
    bool on_its_way = !before && daemon_command_deferred_find(request->commands, name);
    if (before)
        answer_again(request, before);
    else if (on_its_way)
        control_error(request->call, "EBUSY", "args.key: what was asked under it is being carried out");
    return before || on_its_way;
}

static void open_group(struct work *work)
{
    const struct request *request = work->request;
    db_writer_group_begin(daemon_session_writer(request->commands->daemon->session));
    daemon_command_put_row(work, DB_COMMAND_PENDING, "");
    request->commands->work = work;
}

bool daemon_command_begin_again(const struct request *request, uint64_t id, int64_t ts_ns, struct work *work)
{
    const char *key = json_string_value(json_object_get(request->args, "key"));
    *work = (struct work){.request = request,
                          .id = id,
                          .ts_ns = ts_ns,
                          .dated = true,
                          .args = json_dumps(request->args, JSON_COMPACT)};
    if (!work->args)
        return false;
    snprintf(work->key, sizeof work->key, "%s", key ? key : "");
    open_group(work);
    return true;
}

bool daemon_command_begin(const struct request *request, struct work *work)
{
    struct session *session = request->commands->daemon->session;
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
    if (daemon_command_came_before(request))
        return false;
    bool named = daemon_command_key_name(request->cmd, request->args, request->engine, name);
    *work = (struct work){.request = request, .args = json_dumps(request->args, JSON_COMPACT)};
    if (!work->args) {
        control_error(request->call, "ENOMEM", "out of memory");
        return false;
    }
    work->id = daemon_session_command_id(session);
    work->ts_ns = daemon_session_now(session);
    if (named)
        daemon_command_key_stored(name, request->args, work->key);
    open_group(work);
    return true;
}

void daemon_command_event(struct work *work, struct event *event)
{
    const struct request *request = work->request;
    event->kind = EVENT_COMMAND;
    event->command.command_id = work->id;
    event->command.peer_uid = request->peer->uid;
    event->command.peer_pid = request->peer->pid;
    event->command.args = work->reported ? work->reported : work->args;
    memcpy(event->command.key, work->key, sizeof event->command.key);
    daemon_session_event(request->commands->daemon->session, event);
    if (!work->dated) /* as the event log has it */
        work->ts_ns = event->recv_ns;
    if (work->event == 0)
        work->event = event->seq;
    work->dated = true;
}

void daemon_commands_done(struct commands *commands, uint64_t command_id, enum order_reason reason,
                          uint64_t order_id)
{
    struct work *work = commands->work;
    if (!work || work->id != command_id)
        return;
    if (work->reason == ORDER_OK)
        work->reason = reason;
    if (order_id)
        work->order = order_id;
}

static json_t *outcome(enum order_reason reason, const char *why, uint64_t order_id, json_t *result)
{
    if (reason == ORDER_OK) {
        if (order_id && !json_object_get(result, "canceled"))
            json_object_set_new(result, "order", json_integer((json_int_t)order_id));
        return json_pack("{s:o}", "result", result);
    }
    char words[ORDER_WORDS_MAX + 32];
    snprintf(words, sizeof words, order_id ? "%s (order %llu)" : "%s", why, (unsigned long long)order_id);
    json_decref(result);
    return json_pack("{s:{s:s, s:s}}", "error", "code", order_reason_name(reason), "message", words);
}

json_t *daemon_commands_outcome(enum order_reason reason, uint64_t order_id, json_t *result)
{
    return outcome(reason, order_reason_words(reason), order_id, result);
}

/* A text among its arguments; NULL: none. */
static const char *named(const struct request *request, const char *member)
{
    return json_string_value(json_object_get(request->args, member));
}

static void log_end(const struct work *work, const char *came_to)
{
    const struct request *request = work->request;
    bool of_policy = strncmp(request->cmd, "policy_", strlen("policy_")) == 0;
    daemon_log_event(LOG_COMMAND,
                     LOG_OF(.symbol = named(request, "symbol"), .account = named(request, "account"),
                            .policy = of_policy ? named(request, "name") : NULL, .order = work->order),
                     "command %s from uid %u: %s", request->cmd, (unsigned)request->peer->uid, came_to);
}

/* `answer` is stolen. */
static void end_with(struct work *work, json_t *answer)
{
    const struct request *request = work->request;
    struct commands *commands = request->commands;
    struct session *session = commands->daemon->session;
    struct db_writer *writer = daemon_session_writer(session);
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
    const char *code = json_string_value(json_object_get(json_object_get(answer, "error"), "code"));
    bool refused = work->reason != ORDER_OK || code;
    char *text = json_dumps(answer, JSON_COMPACT);
    commands->work = NULL;
    daemon_command_put_row(work, refused ? DB_COMMAND_REFUSED : DB_COMMAND_DONE, text ? text : "{}");
    db_writer_group_end(writer);
    uint64_t ticket = db_writer_last(writer);
    if (daemon_command_key_name(request->cmd, request->args, request->engine, name))
        daemon_command_key_add(commands, name, request->cmd, request->args, answer, ticket);
    log_end(work, !refused ? "done" : code ? code : order_reason_name(work->reason));
    if (request->call && (!answer || !daemon_command_await(commands, request->call, answer, false, ticket)))
        control_error(request->call, "ENOMEM", "out of memory: it was carried out, but is not confirmed");
    json_decref(answer);
    free(text);
    free(work->args);
}

void daemon_command_end(struct work *work, json_t *result)
{
    const char *why = work->words ? work->words : order_reason_words(work->reason);
    end_with(work, outcome(work->reason, why, work->order, result));
}

void daemon_command_refuse(struct work *work, const char *code, const char *message)
{
    end_with(work, json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", message));
}

/* Why money cannot be taken from an account, with its amounts. */
static void lack_of_cash(struct work *work, const struct event_command *command,
                         char words[static ORDER_WORDS_MAX])
{
    const struct engine *engine = work->request->engine;
    struct engine_lack lack;
    int64_t amount = command->money.amount;
    bool moves = command->kind == COMMAND_ACCOUNT_DEPOSIT || command->kind == COMMAND_ACCOUNT_TRANSFER;
    if (!moves || amount == 0 || amount == INT64_MIN)
        return;
    amount = amount < 0 ? -amount : amount;
    if (engine_lack_of_cash(engine, work->reason, command->money.account, amount, &lack))
        work->words = engine_refusal_lack_words(engine, command->money.account, work->reason, &lack, words);
}

/* Its open orders, of which those that are held here are no orders at the venue: the exits of a bracket, and
 * what waits for a cancel. */
static void reset_words(const struct engine *engine, int account, char words[static ORDER_WORDS_MAX])
{
    size_t n = 0, held = 0;
    uint64_t first = 0;
    for (size_t i = 0; i < engine_orders(engine); i++) {
        const struct order *order = engine_order(engine, i);
        if (order->account != account)
            continue;
        const bool here = order->state == ORDER_HELD || engine_venue_waits(engine, order->id);
        n++;
        held += here;
        if (first == 0 || (here && held == 1))
            first = order->id;
    }
    snprintf(
        words, ORDER_WORDS_MAX,
        "the account is at its venue: it is reset only while it is halted or has no open orders: it has %zu ("
        "%zu held here), as order %llu: order cancel --all --account %s",
        n, held, (unsigned long long)first, engine_account(engine, account)->name);
}

/* Of an account at its venue: what is not done from here. */
static void elsewhere(struct work *work, const struct event_command *command,
                      char words[static ORDER_WORDS_MAX])
{
    if (work->reason == ORDER_VENUE_TERMS && command->kind == COMMAND_ACCOUNT_RESET) {
        reset_words(work->request->engine, command->money.account, words);
        work->words = words;
    } else if (work->reason == ORDER_VENUE_TERMS &&
               (command->kind == COMMAND_ACCOUNT_DEPOSIT || command->kind == COMMAND_ACCOUNT_TRANSFER))
        work->words = "the account is at its venue: money is moved there";
    else if (work->reason == ORDER_VENUE_TERMS && command->kind == COMMAND_ACCOUNT_CLOSE)
        work->words = "the account is at its venue, and closed there";
    else if (work->reason == ORDER_VENUE_TERMS && command->kind == COMMAND_AMEND)
        work->words =
            "an order at a venue is not amended: cancel it and give a new one, which waits for the cancel";
}

void daemon_command_carry_out(const struct request *request, struct event *event, json_t *result)
{
    struct work work;
    char words[ORDER_WORDS_MAX];
    if (!daemon_command_begin(request, &work)) {
        json_decref(result);
        return;
    }
    daemon_command_event(&work, event);
    lack_of_cash(&work, &event->command, words);
    if (event->command.kind == COMMAND_AMEND && work.reason != ORDER_OK)
        work.words = engine_refusal_of_amend(request->engine, work.reason, &event->command.amend, words);
    elsewhere(&work, &event->command, words);
    daemon_command_end(&work, result);
}

void daemon_commands_not_stored(struct commands *commands)
{
    uint64_t committed = db_writer_committed(daemon_session_writer(commands->daemon->session));
    const char *detail;
    daemon_commands_committed(commands, committed);
    daemon_command_deferred_not_stored(commands);
    daemon_session_storage_ok(commands->daemon->session, &detail);
    while (commands->first) {
        struct waiting *waiting = commands->first;
        commands->first = waiting->next;
        send_not_stored(waiting->call, detail, waiting->answer);
        json_decref(waiting->answer);
        free(waiting);
    }
    commands->end = &commands->first;
}

void daemon_commands_committed(struct commands *commands, uint64_t ticket)
{
    daemon_command_deferred_committed(commands, ticket);
    for (struct waiting **at = &commands->first; *at;) {
        struct waiting *waiting = *at;
        if (waiting->ticket > ticket) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        if (commands->end == &waiting->next)
            commands->end = at;
        if (waiting->repeated)
            daemon_command_answer_again(commands, waiting->call, waiting->answer);
        else
            daemon_command_answer(waiting->call, waiting->answer, false);
        json_decref(waiting->answer);
        free(waiting);
    }
}
