/* A command from its first row to its answer. The command's row, the order and everything that follows from
 * it are stored together; the answer waits for the commit that holds them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/log.h"
#include "engine/event.h"
#include "exchange/fail.h"

const char *daemon_command_reason_words(enum order_reason reason)
{
    static const char *const words[ORDER_REASONS] = {
        [ORDER_BAD_QTY] = "the quantity must be above zero",
        [ORDER_BAD_PRICE] = "the price must be above zero",
        [ORDER_UNKNOWN_SYMBOL] = "no such symbol is streamed",
        [ORDER_UNKNOWN_ACCOUNT] = FAIL_NO_ACCOUNT,
        [ORDER_UNKNOWN_ORDER] = "no live order has that id",
        [ORDER_ENDED] = "that order has ended",
        [ORDER_BAD_TIF] = "that type cannot be good for so long, or the time is past",
        [ORDER_BAD_GROUP] = "the legs contradict each other",
        [ORDER_BAD_AMEND] = "that order has no such number, or less than is filled is asked for",
        [ORDER_DUPLICATE_ID] = "another order of the account has that id",
        [ORDER_BAD_ACCOUNT] = "what is asked of the account contradicts itself",
        [ORDER_SYMBOL_HALTED] = "the venue does not trade that symbol now",
        [ORDER_PRICE_FILTER] = "the price is outside the venue's bounds or not a multiple of its tick",
        [ORDER_LOT_SIZE] = "the quantity is outside the venue's bounds or not a multiple of its step",
        [ORDER_MARKET_LOT_SIZE] = "the quantity is outside the venue's bounds for market orders",
        [ORDER_MIN_NOTIONAL] = "price times quantity is below the venue's least",
        [ORDER_MAX_NOTIONAL] = "price times quantity is above the venue's most",
        [ORDER_PERCENT_PRICE] = "the price is too far from the market",
        [ORDER_MAX_NUM_ORDERS] = "too many open orders of that symbol",
        [ORDER_INSUFFICIENT_BALANCE] = "the account does not hold enough",
        [ORDER_NO_SHORTS] = "the account may not sell what it does not hold",
        [ORDER_COLLATERAL] = "the short position would not be covered",
        [ORDER_REDUCE_ONLY] = "nothing is held that it could reduce",
        [ORDER_NO_LIQUIDITY] = "nothing, or not enough, is offered on the other side of the book",
        [ORDER_WOULD_TAKE] = "it is post-only, and would take at once",
        [ORDER_OTHER_LEG] = "the other order of its group traded",
        [ORDER_RISK_PAUSED] = "trading is paused: only closing orders pass",
        [ORDER_RISK_STALE_DATA] = "the market data is stale",
        [ORDER_RISK_EXPOSURE] = "the exposure limit would be passed",
        [ORDER_RISK_DAILY_LOSS] = "the daily loss limit is reached",
        [ORDER_RISK_ORDER_RATE] = "too many orders in one second",
        [ORDER_RISK_DRAWDOWN] =
            "the account lost its limit of drawdown: only closing orders pass until account resume",
        [ORDER_RISK_COOLDOWN] = "a position of that symbol was closed not long ago",
        [ORDER_RISK_PRICE_BAND] = "the price is further from the last one than the account's price band",
        [ORDER_RISK_POSITIONS] = "the account holds, or is entering, as many symbols as it may",
        [ORDER_SPLIT] = "a split of the symbol left nothing of it",
        [ORDER_SYMBOL_GONE] = "the venue lists the symbol no longer",
        [ORDER_INITIAL_MARGIN] = "the equity does not suffice by Regulation T: 50 % of what is held",
        [ORDER_INTRADAY_MARGIN] = "it would make an intraday margin deficit (FINRA 4210(d)(2))",
        [ORDER_DAY_TRADING_POWER] = "a day trader's buying power does not suffice (FINRA 4210(f)(8)(B))",
        [ORDER_DAY_TRADER_EQUITY] = "a pattern day trader opens nothing below $25,000 (FINRA 4210(f)(8)(B))",
        [ORDER_MARGIN_EQUITY] = "an account of less than $2,000 gets no credit (FINRA 4210(b))",
        [ORDER_UNSETTLED_CASH] = "there is cash, but it is not settled yet",
        [ORDER_SESSION_CLOSED] =
            "a strategy's entry ends with its session, and IOC and FOK while the market is closed",
        [ORDER_RULE_TYPE] = "the venue takes no such type of that class of assets",
        [ORDER_RULE_TIF] = "the venue takes no such time in force of that class of assets",
        [ORDER_RULE_STOP_TIF] = "the venue takes no such time in force of stops",
        [ORDER_RULE_AUCTION_TYPE] = "the venue takes no such type in its auctions",
        [ORDER_RULE_OPG_LATE] = "it is too late for the opening auction",
        [ORDER_RULE_CLS_LATE] = "it is too late for the closing auction",
        [ORDER_RULE_GROUP] = "the venue takes no such group of that class of assets",
        [ORDER_RULE_EXTENDED_HOURS] = "extended hours are of stocks' single limit orders for the day",
        [ORDER_RULE_FRACTION_TYPE] = "the venue takes no such type of a fraction or an amount",
        [ORDER_RULE_FRACTION_TIF] = "the venue takes no such time in force of a fraction or an amount",
        [ORDER_RULE_FRACTION_GROUP] = "the venue takes no group of a fraction or an amount",
        [ORDER_RULE_SHORT] = "the venue lends nothing of that class of assets",
        [ORDER_RULE_SHORT_FRACTION] = "the venue lends no fractions",
        [ORDER_RULE_SHORTABLE] = "the venue does not lend that symbol",
        [ORDER_RULE_EASY_TO_BORROW] = "the venue lends only what is easy to borrow",
        [ORDER_RULE_PRICE_DECIMALS] = "the price has more decimals than the venue takes",
        [ORDER_VENUE_DETACHED] = "the account at the venue is not attached, or was reset there",
        [ORDER_VENUE_TERMS] = "orders of that kind are not sent to the venue: see docs/venue-paper.md",
        [ORDER_VENUE_REFUSED] = "the venue refused it",
        [ORDER_VENUE_LOST] = "the venue does not have it",
        [ORDER_RISK_STORAGE] = "the database cannot store: no new positions",
    };
    return words[reason] ? words[reason] : "refused";
}

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
    };
    daemon_session_put_command(session, &row);
}

void daemon_command_answer(struct control_call *call, json_t *answer, bool repeated)
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
    control_ok(call, result);
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

/* The same name again: the same answer, or a refusal when something else is asked under it. */
static void answer_again(const struct request *request, const struct command_key *key)
{
    if (strcmp(key->cmd, request->cmd) != 0 || !json_equal(key->args, request->args)) {
        control_error(request->call, order_reason_name(ORDER_DUPLICATE_ID),
                      "args.%s: something else was asked under that name before: another one is needed",
                      json_object_get(request->args, "key") ? "key" : "client_id");
        return;
    }
    uint64_t committed = db_writer_committed(daemon_session_writer(request->commands->daemon->session));
    if (key->ticket <= committed)
        daemon_command_answer(request->call, key->answer, true);
    else if (!daemon_command_await(request->commands, request->call, key->answer, true, key->ticket))
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
    char words[LACK_WORDS_MAX + 32];
    snprintf(words, sizeof words, order_id ? "%s (order %llu)" : "%s", why, (unsigned long long)order_id);
    json_decref(result);
    return json_pack("{s:{s:s, s:s}}", "error", "code", order_reason_name(reason), "message", words);
}

json_t *daemon_commands_outcome(enum order_reason reason, uint64_t order_id, json_t *result)
{
    return outcome(reason, daemon_command_reason_words(reason), order_id, result);
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
    const char *why = work->words ? work->words : daemon_command_reason_words(work->reason);
    end_with(work, outcome(work->reason, why, work->order, result));
}

void daemon_command_refuse(struct work *work, const char *code, const char *message)
{
    end_with(work, json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", message));
}

/* Why money cannot be taken from an account, with its amounts. */
static void lack_of_cash(struct work *work, const struct event_command *command,
                         char words[static LACK_WORDS_MAX])
{
    const struct engine *engine = work->request->engine;
    struct engine_lack lack;
    int64_t amount = command->money.amount;
    bool moves = command->kind == COMMAND_ACCOUNT_DEPOSIT || command->kind == COMMAND_ACCOUNT_TRANSFER;
    if (!moves || amount == 0 || amount == INT64_MIN)
        return;
    amount = amount < 0 ? -amount : amount;
    if (engine_lack_of_cash(engine, work->reason, command->money.account, amount, &lack))
        work->words = daemon_command_lack_words(engine, command->money.account, work->reason, &lack, words);
}

/* Of an account at its venue: what is not done from here. */
static void elsewhere(struct work *work, const struct event_command *command)
{
    if (work->reason == ORDER_VENUE_TERMS && command->kind == COMMAND_ACCOUNT_RESET)
        work->words =
            "the account is at its venue: it is reset only while it is halted or has no open orders";
    else if (work->reason == ORDER_VENUE_TERMS &&
             (command->kind == COMMAND_ACCOUNT_DEPOSIT || command->kind == COMMAND_ACCOUNT_TRANSFER))
        work->words = "the account is at its venue: money is moved there";
    else if (work->reason == ORDER_VENUE_TERMS && command->kind == COMMAND_AMEND)
        work->words =
            "an order at a venue is not amended: cancel it and give a new one, which waits for the cancel";
}

void daemon_command_carry_out(const struct request *request, struct event *event, json_t *result)
{
    struct work work;
    char words[LACK_WORDS_MAX];
    if (!daemon_command_begin(request, &work)) {
        json_decref(result);
        return;
    }
    daemon_command_event(&work, event);
    lack_of_cash(&work, &event->command, words);
    elsewhere(&work, &event->command);
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
        daemon_command_answer(waiting->call, waiting->answer, waiting->repeated);
        json_decref(waiting->answer);
        free(waiting);
    }
}
