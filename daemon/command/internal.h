/* The commands' internals, shared by this folder's files: command.c takes a request to its handler, work.c
 * carries it out and answers it, deferred.c passes commands to the co-process, keys.c knows earlier
 * commands, args.c reads arguments, and the other files hold the handlers. */
#ifndef DAEMON_COMMAND_INTERNAL_H
#define DAEMON_COMMAND_INTERNAL_H

#include "daemon/arena/limits.h"
#include "daemon/command/command.h"
#include "engine/refusal.h"
#include "record/field.h"

struct command_key;

/* A command whose rows are on their way to the disk. */
struct waiting {
    struct waiting *next;
    struct control_call *call;
    uint64_t ticket;
    json_t *answer; /* {"result":…} or {"error":{"code":…,"message":…}} */
    bool repeated;
};

/* A command that is being carried out: between daemon_command_begin() and daemon_command_end(). */
struct work {
    uint64_t id; /* of its row */
    int64_t ts_ns;
    bool dated;                /* by its first event, or by a former row */
    char key[COMMAND_KEY_MAX]; /* under which the row is found again; "" */
    const struct request *request;
    char *args;               /* its JSON */
    const char *reported;     /* what its events carry instead; set by the handler; NULL: the same */
    enum order_reason reason; /* of the first event that was refused */
    const char *words;        /* that say more than the reason's own; NULL: those */
    uint64_t order;           /* that the last event made or named */
    uint64_t event;           /* its first; 0: none yet */
};

struct commands {
    struct daemon *daemon;
    struct waiting *first, **end; /* in the order in which they came */
    struct deferred *deferred;    /* that the co-process carries out */
    struct work *work;            /* NULL: no command is being carried out */
    struct command_key **keys;    /* a table of chains, [KEY_CHAINS] */
    struct command_key *oldest, **newest;
    size_t n_keys;
    struct policy_job *jobs; /* promotions and retirements that wait for their turn, the first under way */
    struct proposed *proposed, **newest_proposed; /* that are not judged yet, the oldest first */
    struct redone *redone; /* one of a former run, whose row is to be put; NULL: none */
    struct reload *reload; /* that is under way; NULL: none */
    bool reload_again;     /* once that has ended */
    json_t *restart;       /* what the last reload left for a restart; NULL: there was none */
};

struct request {
    struct commands *commands;
    struct control_call *call;
    const char *cmd;
    json_t *args;
    const struct control_peer *peer;
    const struct engine *engine; /* NULL only for commands that need none */
    const struct args *given;    /* `args`, for args.c: the client's arguments */
};

/* ---- reload_symbols.c ---- */

void daemon_command_log_left_out(const struct daemon *daemon);

/* ---- work.c ---- */

/* Opens the command's row and group. False, with the call answered, when it came before or without memory. */
bool daemon_command_begin(const struct request *request, struct work *work);

/* Gives the engine an event of the command. */
void daemon_command_event(struct work *work, struct event *event);

/* Stores the outcome and lets the answer wait for the commit: `result` (stolen), or why it was refused.
 * Without a call no answer is sent. */
void daemon_command_end(struct work *work, json_t *result);

/* As daemon_command_begin() for a command whose pending row is stored already; and its end without an
 * event. */
bool daemon_command_begin_again(const struct request *request, uint64_t id, int64_t ts_ns, struct work *work);
void daemon_command_refuse(struct work *work, const char *code, const char *message);

/* begin, one event, end. */
void daemon_command_carry_out(const struct request *request, struct event *event, json_t *result);

/* A command that the co-process carries out. Its row is stored, pending; after that commit the co-process
 * is asked what daemon_command_train_asked() says; its outcome is stored, and answered after the commit
 * that holds it. Answered at once when it came before, is under way with the same key, when nothing can be
 * stored, or without memory. The arguments must be valid. */
void daemon_command_defer(const struct request *request);

/* Appends {order, for, at_ns, until_ns, words} to the list where an order waits for its market to open or to
 * close: "waits for the open, 2025-11-28 09:30 New York (14:30Z), until 13:00". */
void daemon_command_waits(const struct request *request, const struct order *order, json_t *list);

/* Appends {order, as, ends_ns, words} to the list where an order of an account at its venue is sent with
 * another time in force than its own: "is sent as GTC, and cancelled at 2026-11-29 00:00:00Z, while papertape
 * runs". `ends_ns` is 0 where its session's end is not known yet. */
void daemon_command_sent_as(const struct request *request, const struct order *order, json_t *list);

/* dry_run.c: answers what such an order would be and cost; refused in the words that the order would be. */
void daemon_command_dry_run(const struct request *request, const struct event_command *command);

/* Puts the row of a command that is being carried out, in its present state. */
void daemon_command_put_row(const struct work *work, enum db_command_state state, const char *result);
/* Lets the answer (borrowed) wait for the ticket, unless nothing can be stored for now: then it is answered
 * so. False without memory. */
bool daemon_command_await(struct commands *commands, struct control_call *call, json_t *answer, bool repeated,
                          uint64_t ticket);
/* Answers with {"result":…} or {"error":…}. */
void daemon_command_answer(struct control_call *call, const json_t *answer, bool repeated);
/* The same of a command that came before: the first answer, an order's with the state that it has now. */
void daemon_command_answer_again(struct commands *commands, struct control_call *call, const json_t *answer);
/* Looks up this request's key among earlier commands; answers the call and returns true when it came
 * before. */
bool daemon_command_came_before(const struct request *request);

/* ---- deferred.c ---- */

/* One under the same key is on its way: NULL for none. */
const struct deferred *daemon_command_deferred_find(const struct commands *commands, const char *name);
void daemon_command_deferred_committed(struct commands *commands, uint64_t ticket);
void daemon_command_deferred_not_stored(struct commands *commands);
void daemon_command_deferred_finish(struct commands *commands); /* answers what is left */

/* ---- keys.c ---- */

/* A command with its client's key, and its outcome. */
struct command_key {
    struct command_key *chain, *newer;
    char *name;      /* its scope and name */
    char *cmd;       /* and … */
    json_t *args;    /* … what was asked */
    json_t *answer;  /* as in struct waiting */
    uint64_t ticket; /* of its rows; 0: they are on the disk */
};

/* The scope and name that these arguments give; false when they give none. */
bool daemon_command_key_name(const char *cmd, const json_t *args, const struct engine *engine,
                             char ret[static 2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX]);
/* The key that its row is stored under: the client's, or one made of the scope and name; "" for none. */
void daemon_command_key_stored(const char *name, const json_t *args, char ret[static COMMAND_KEY_MAX]);
struct command_key *daemon_command_key_find(const struct commands *commands, const char *name);
/* Keeps it; beyond a bound the oldest is dropped. Arguments are copied or referenced. */
void daemon_command_key_add(struct commands *commands, const char *name, const char *cmd, json_t *args,
                            json_t *answer, uint64_t ticket);
/* As daemon_commands_remember(), of one whose rows have this ticket: a repeat is answered once they are on
 * the disk.
 */
void daemon_command_remember_until(struct commands *commands, const char *cmd, const char *args,
                                   const char *answer, uint64_t ticket);
void daemon_command_keys_finish(struct commands *commands);

/* ---- args.c: each answers the call and returns false when the argument is not valid ---- */

/* A JSON object of arguments, and what it is called in messages: "args", "args.stop_loss". */
struct args {
    const struct request *request;
    const json_t *object;
    const char *where;
};

/* Answers the call with what is wrong; false. */
#define ARGS_WRONG(call, ...) (control_error(call, "EINVAL", __VA_ARGS__), false)

bool daemon_command_args_given(const struct args *args, const char *name); /* there, and not null */
/* Are all members among `known`, names with blanks between? */
bool daemon_command_args_known(const struct args *args, const char *known);
bool daemon_command_args_text(const struct args *args, const char *name, const char **ret);
bool daemon_command_args_decimal(const struct args *args, const char *name, int scale, int64_t *ret);
/* Leaves *ret alone when it is not given; min and max in units. */
bool daemon_command_args_optional(const struct args *args, const char *name, int scale, int64_t min,
                                  int64_t max, int64_t *ret);
/* trail_percent: 0 when it is not given. */
bool daemon_command_args_trail(const struct args *args, int32_t *ret_e6);
/* An integer; left alone when not given. */
bool daemon_command_args_whole(const struct args *args, const char *name, int min, int max, int *ret);
bool daemon_command_args_flag(const struct args *args, const char *name,
                              bool *ret); /* left alone when not given */
/* 1 to 36 of the characters A-Z a-z 0-9 . _ : / -; "" when not given. */
bool daemon_command_args_id(const struct args *args, const char *name, char ret[static ORDER_CLIENT_ID_MAX]);
/* A flag or a text of a row, by its member. */
bool daemon_command_args_field(const struct args *args, const struct record_field *field, void *row);
bool daemon_command_args_account(const struct args *args, const char *name,
                                 int *ret); /* the first when not given */
bool daemon_command_args_symbol(const struct args *args, const char *name, int *ret);

/* ---- the handlers ---- */

/* By name: whether it needs an engine, and its arguments; NULL: the handler checks them itself, or there
 * are none. READING: it changes nothing and costs little, so that control-read.sock answers it too. */
/* clang-format off */
#define DAEMON_COMMANDS(COMMAND, READING) \
    COMMAND(account_close, true, "account key") \
    COMMAND(account_create, true, NULL) \
    COMMAND(account_deposit, true, "account amount key") \
    READING(account_list, true, NULL) \
    COMMAND(account_reset, true, "account cash key") \
    COMMAND(account_resume, true, "account key") \
    COMMAND(account_transfer, true, "from to amount key") \
    COMMAND(account_withdraw, true, "account amount key") \
    COMMAND(ack, false, NULL) \
    COMMAND(alerts_test, false, "sink") \
    COMMAND(amend, true, "order client_id account qty limit stop trail trail_percent key") \
    READING(book, true, "symbol levels") \
    COMMAND(cancel, true, "order client_id account symbol all key") \
    COMMAND(column, true, "symbol name timestamp published value key") \
    COMMAND(flatten, true, "confirm key") \
    READING(indicators, true, "symbol timeframe") \
    COMMAND(order, true, "symbol side qty notional type limit stop trail trail_percent tif expire_ns " \
        RECORD_ORDER_GIVEN(DAEMON_ORDER_GIVEN) "account group take_profit stop_loss dry_run key") \
    COMMAND(parity, true, NULL) \
    COMMAND(pause, true, "key") \
    READING(ping, false, NULL) \
    READING(policy_list, false, "") \
    COMMAND(policy_promote, true, "name path to yes key " POLICY_LIMIT_NAMES) \
    COMMAND(policy_retire, true, "name key") \
    READING(policy_show, false, "name") \
    COMMAND(price_alert, true, "symbol above below key") \
    COMMAND(price_alert_remove, true, "price_alert key") \
    READING(price_alerts, false, "") \
    COMMAND(reload, false, "key") \
    COMMAND(report_send, false, "sink text") \
    COMMAND(resume, true, "key") \
    READING(status, false, NULL) \
    READING(streams, true, "venue") \
    COMMAND(symbol_add, true, "symbol venue key") \
    READING(symbol_list, true, "") \
    COMMAND(symbol_remove, true, "symbol key") \
    READING(trades, true, "symbol trades") \
    READING(train_check, false, "config") \
    READING(train_config, false, "name") \
    READING(train_list, false, "") \
    READING(train_log, false, "name lines") \
    COMMAND(train_plan, false, "config") \
    COMMAND(train_restart, true, "name config key") \
    COMMAND(train_resume, true, "name key") \
    COMMAND(train_start, true, "name config overwrite priority key") \
    COMMAND(train_stop, true, "name key")
/* clang-format on */
#define DAEMON_ORDER_GIVEN(member, option, argument, does, of) #member " "

#define DAEMON_COMMAND_(name, needs, known)                    void daemon_command_##name(const struct request *request);
DAEMON_COMMANDS(DAEMON_COMMAND_, DAEMON_COMMAND_)

/* symbol.c: the account that cannot do without a symbol, and what it has of it; NULL: no account. */
const char *daemon_command_symbol_user(const struct engine *engine, int symbol, const char **ret_why);
/* reload.c: drops what is under way, and answers it. */
void daemon_command_reload_finish(struct commands *commands);

bool daemon_command_train_changes(const char *cmd);
/* What the co-process is asked for a command that changes a training and whose arguments are valid:
 * *ret_cmd, and a new object. NULL without memory. */
json_t *daemon_command_train_asked(const struct request *request, const char **ret_cmd);
void daemon_command_policy_finish(
    struct commands *commands); /* policy_queue.c: drops what waits, and answers it */

/* ---- commands on policies: policy_queue.c lets each wait for its turn ---- */

#define COMMAND_PROPOSE "policy_propose" /* in its row; no client can ask for it */

/* A proposal whose row is pending. */
struct proposed {
    struct proposed *next;
    uint64_t id; /* of its row */
    int64_t ts_ns;
    uint64_t ticket;           /* of it; 0: a former run's */
    uint64_t from_ms;          /* of the loop's clock: not judged before, … */
    bool put_off;              /* … since it was tried, and failed for a cause that may pass */
    char key[COMMAND_KEY_MAX]; /* in … */
    json_t *args;              /* … its arguments */
};
void daemon_command_proposed_free(struct proposed *proposed);
/* A former run's that is pending. */
void daemon_command_proposed_left(struct commands *commands, const struct db_command *row);
void daemon_command_proposed_finish(struct commands *commands);
/* Taken over: it is judged again, a while later. */
void daemon_command_proposed_again(struct commands *commands, struct proposed *proposed);
/* Ends the work that was started again: its row is settled, and an alert says "STUDY/TRIAL: refused: why". */
void daemon_command_proposal_refuse(struct work *work, const struct proposed *proposed, const char *why);

struct policy_ask {
    const char *cmd, *name;
    const char *path; /* NULL: no path was given */
    bool retires;
    bool confirmed;         /* whatever its verdict */
    enum db_policy_role to; /* the role that it is to lead to; DB_POLICY_RETIRED: any */
    const char *reason;     /* NULL: by command */
    /* Of a proposal: taken over; its text in the row, and when it expires. */
    struct proposed *proposed;
    const char *proposal, *training;
    int64_t expires_ns;
    struct arena_limits limits;
};
/* Carried out once it is its turn. Without request->call a refusal raises an alert. */
void daemon_command_policy_ask(const struct request *request, const struct policy_ask *ask);
/* Is a proposal of that key being carried out? */
bool daemon_command_policy_proposes(const struct commands *commands, const char *key);

#endif
