#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/order_dry_run.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "exchange/bars_file.h"
#include "exchange/exit_status.h"
#include "record/order.h"

/* "order 9 PENDING", and a line for each further order of its group. */
static void print_orders(const struct option_call *call, const json_t *result)
{
    if (json_is_true(json_object_get(result, "dry_run"))) {
        cli_order_dry_run_print(call->out, result);
        return;
    }
    const char *state = json_string_value(json_object_get(result, "state"));
    json_int_t first = json_integer_value(json_object_get(result, "order"));
    const json_t *more = json_object_get(result, "orders"), *id;
    size_t i;

    fprintf(call->out, "order %lld", (long long)first);
    if (state) {
        fputc(' ', call->out);
        cli_text_print(call->out, state);
    }
    fputs(json_is_true(json_object_get(result, "repeated")) ? " (given before)\n" : "\n", call->out);
    json_array_foreach(more, i, id) if (json_integer_value(id) != first)
        fprintf(call->out, "order %lld\n", (long long)json_integer_value(id));
    cli_ask_print_notes(call->out, result);
}

/* Of an order that was cancelled with all others: what it protected. */
static void print_exit(FILE *out, const json_t *exit)
{
    fputs(": protected ", out);
    cli_text_print(out, json_string_value(json_object_get(exit, "symbol")));
    fputs(" of ", out);
    cli_text_print(out, json_string_value(json_object_get(exit, "account")));
    fputs(" as ", out);
    cli_text_print(out, json_string_value(json_object_get(exit, "type")));
}

/* `exits`: of some of them, in the same order. */
static void print_list(FILE *out, const char *word, const json_t *ids, const json_t *exits)
{
    const json_t *id;
    size_t i, next = 0;

    json_array_foreach(ids, i, id)
    {
        const json_t *exit = json_array_get(exits, next);
        fprintf(out, "%s %lld", word, (long long)json_integer_value(id));
        if (exit && json_equal(json_object_get(exit, "order"), id)) {
            print_exit(out, exit);
            next++;
        }
        fputc('\n', out);
    }
}

static void print_changed(const struct option_call *call, const json_t *result)
{
    const char *word = strcmp(call->word, "cancel") == 0 ? "canceled" : "amended";
    const json_t *list = json_object_get(result, "canceled");

    if (!list) {
        fprintf(call->out, "%s %lld%s\n", word,
                (long long)json_integer_value(json_object_get(result, "order")),
                json_is_true(json_object_get(result, "repeated")) ? " (done before)" : "");
        return;
    }
    const json_t *arriving = json_object_get(result, "arriving"), *id;
    size_t i;
    print_list(call->out, word, list, json_object_get(result, "exits"));
    json_array_foreach(arriving, i, id)
        fprintf(call->out, "order %lld is on its way to the market: it trades before the cancel comes\n",
                (long long)json_integer_value(id));
    if (json_array_size(list) + json_array_size(arriving) == 0)
        fputs("nothing to cancel\n", call->out);
}

static int send(struct option_call *call, const char *cmd)
{
    json_t *result = NULL;
    int status = cli_ask_args_send(call, cmd, &result);

    return cli_ask_done(call, status, "papertape.order/1", result,
                        strcmp(cmd, "order") == 0 ? print_orders : print_changed);
}

/* ---- a new order ---- */

static void move(json_t *from, const char *key, json_t *to, const char *as)
{
    json_t *value = json_object_get(from, key);

    if (!value)
        return;
    json_object_set(to, as, value);
    json_object_del(from, key);
}

/* The options of the two orders of a group. */
struct leg_key {
    const char *option, *leg, *as;
};
static const struct leg_key leg_keys[] = {
    {"take_profit", "take_profit", "limit"}, {"take_profit_stop", "take_profit", "stop"},
    {"stop", "stop_loss", "stop"},           {"stop_limit", "stop_loss", "limit"},
    {"trail", "stop_loss", "trail"},         {"trail_percent", "stop_loss", "trail_percent"},
};

/* Puts the legs that were given, by options of that prefix: a group where there is one. */
static void put_legs(const struct option_call *call, const char *group, const char *prefix)
{
    json_t *args = ((struct ask_args *)call->into)->args;
    json_t *legs = json_pack("{s:{}, s:{}}", "take_profit", "stop_loss");

    for (size_t i = 0; i < sizeof leg_keys / sizeof *leg_keys; i++) {
        const char *leg = leg_keys[i].leg;
        json_t *of = json_object_get(legs, leg);
        char option[64], moved[64];
        snprintf(option, sizeof option, "%s%s", prefix, leg_keys[i].option);
        snprintf(moved, sizeof moved, "%s.%s", leg, leg_keys[i].as);
        cli_ask_args_moved(call, option, moved);
        cli_ask_args_moved(call, option, leg);
        move(args, option, of, leg_keys[i].as);
        if (json_object_size(of) > 0) {
            json_object_set(args, leg, of);
            json_object_set_new(args, "group", json_string(group));
        }
    }
    json_decref(legs);
}

static int put_words(struct option_call *call, const char *side, char **words)
{
    int status = cli_ask_args_put(call, "side", side);

    if (status == EXIT_OK)
        status = cli_ask_args_put(call, "symbol", words[0]);
    if (status == EXIT_OK && words[1])
        status = cli_ask_args_put(call, "qty", words[1]);
    return status;
}

static int place(struct option_call *call)
{
    json_t *args = ((struct ask_args *)call->into)->args;
    bool profits = json_object_get(args, "take_profit") != NULL;
    int status = put_words(call, call->word, call->arguments);

    if (!call->arguments[1] == !json_object_get(args, "notional"))
        return option_fail(call, EXIT_USAGE,
                           "QTY, --notional: a quantity or an amount is needed, as: order %s %s 0.01",
                           call->word, call->arguments[0]);
    if (profits && json_object_get(args, "stop"))
        return option_fail(call, EXIT_USAGE,
                           "--stop, --take-profit: one of them; an order that has both is an oco");
    if (profits && !json_object_get(args, "type"))
        cli_ask_args_put(call, "type", json_object_get(args, "limit") ? "take-profit-limit" : "take-profit");
    if (profits)
        cli_ask_args_moved(call, "take_profit", "stop");
    move(args, "take_profit", args, "stop");
    put_legs(call, "bracket", "bracket_");
    return status == EXIT_OK ? send(call, "order") : status;
}

static int place_oco(struct option_call *call)
{
    json_t *args = ((struct ask_args *)call->into)->args;
    int status = put_words(call, call->arguments[0], call->arguments + 1);

    json_object_set_new(args, "group", json_string("oco"));
    put_legs(call, "oco", "");
    return status == EXIT_OK ? send(call, "order") : status;
}

/* ---- one that is there ---- */

/* amend, cancel: a number is the daemon's, another word the client's. */
static int change(struct option_call *call)
{
    json_t *args = ((struct ask_args *)call->into)->args;
    const char *name = call->n > 0 ? call->arguments[0] : "";
    int status = EXIT_OK;

    if (*name && strlen(name) < 19 && strspn(name, "0123456789") == strlen(name))
        json_object_set_new(args, "order", json_integer(atoll(name)));
    else if (*name)
        status = cli_ask_args_put(call, "client_id", name);
    return status == EXIT_OK ? send(call, call->word) : status;
}

/* ---- options ---- */

/* "1.5%" is trail_percent, "150" trail. */
static int take_trail(struct option_call *call, const struct option_row *row, const char *value)
{
    size_t len = strlen(value);
    bool percent = len > 0 && value[len - 1] == '%';
    char key[32], text[64];

    snprintf(key, sizeof key, "%s%s", strcmp(row->name, "trail") == 0 ? "trail" : "bracket_trail",
             percent ? "_percent" : "");
    snprintf(text, sizeof text, "%.*s", (int)(len - percent), value);
    json_object_set_new(((struct ask_args *)call->into)->options, key, json_string(row->name));
    return cli_ask_args_put(call, key, text);
}

static int take_expire(struct option_call *call, const struct option_row *row, const char *value)
{
    const struct ask_args *into = call->into;
    int64_t ns;

    if (bars_time_parse(value, strlen(value), &ns) < 0)
        return option_fail(call, EXIT_USAGE,
                           "--%s: a time as 2024-08-08, 2024-08-08T14:02:00Z or 1723125720 is needed",
                           row->name);
    json_object_set_new(into->args, "expire_ns", json_integer((json_int_t)ns));
    return EXIT_OK;
}

#define OF(actions)                               .take = cli_ask_args_take, .of = (actions)
#define NEW                                       "buy sell oco"
#define GIVEN(member, option, argument, does, of) {option, argument, does, OF(of)},

static const struct option_row options[] = {
    {NULL, NULL, "The type follows from the prices: none, a market order; or"},
    {"limit", "P", "a limit order at P, or better; with --stop, once a trade reaches that",
     OF("buy sell amend")},
    {"stop", "P", "a market order once a trade reaches P against it", OF("buy sell oco amend")},
    {"take-profit", "P", "a market order once a trade reaches P in its favour; of oco a limit order at P",
     OF(NEW)},
    {"trail", "D|X%", "a stop that follows the best trade at a distance, in price or percent",
     .take = take_trail, .of = "buy sell oco amend"},
    {"type", "market|limit|stop|stop-limit|take-profit|take-profit-limit|trailing-stop", "the type itself",
     OF("buy sell")},
    {"notional", "AMOUNT", "so much of the quote currency instead of QTY, at the price now", OF("buy sell")},
    {NULL, NULL, "How long, and how"},
    {"tif", "gtc|ioc|fok|day|gtd|opg|cls",
     "gtc (default; day of a fraction of a share, of an amount of stocks and with --extended-hours): till "
     "cancelled; ioc: what fills at once; fok: whole at once or not at all; day: till the session ends, or "
     "00:00 UTC; gtd: till --expire; opg, cls: in the opening or the closing auction of stocks",
     OF(NEW)},
    {"expire", "T", "when it ends, as 2024-08-08T14:02:00Z or epoch seconds", .take = take_expire, .of = NEW,
     .arg = "expire_ns"},
    RECORD_ORDER_GIVEN(GIVEN){
        "account", "ACCOUNT",
        "the account, where there are several; of amend and cancel the one whose client id it is (the first "
        "account, when left out)",
        OF("buy sell oco amend cancel")},
    {"dry-run", NULL,
     "nothing is ordered: what it would be, cost, reserve and fill at once, as the daemon sees the market now; "
     "refused in the same words as the order would be",
     OF(NEW)},
    {NULL, NULL, "Orders that belong together"},
    {"stop-limit", "P", "of oco: a limit order at P once a trade reaches --stop", OF("oco")},
    {"take-profit-stop", "P",
     "of oco, instead of --take-profit: a market order once a trade reaches P; with --take-profit L too, a "
     "limit order at L from then on",
     OF("oco")},
    {"bracket-take-profit", "P",
     "with the next four: an oco that leaves what this order has filled, once it has filled", OF("buy sell")},
    {"bracket-take-profit-stop", "P", "of a bracket, as --take-profit-stop of oco", OF("buy sell")},
    {"bracket-stop", "P", "of a bracket, as --stop of oco", OF("buy sell")},
    {"bracket-stop-limit", "P", "of a bracket, as --stop-limit of oco", OF("buy sell")},
    {"bracket-trail", "D|X%", "of a bracket, as --trail of oco", .take = take_trail, .of = "buy sell"},
    {NULL, NULL, "Changing"},
    {"qty", "Q", "a new quantity", OF("amend")},
    {"key", "K", "given again with the same key, the command is not executed twice", OF("amend cancel")},
    {"all", NULL, "every order, or those of --symbol and --account", OF("cancel")},
    {"symbol", "SYMBOL", "those of that symbol", OF("cancel"), .with = "all"},
};

static const struct option_action actions[] = {
    {"buy|sell", "SYMBOL [QTY]", "a new order, of a quantity or of an amount (--notional)", "BTCUSDT 0.01",
     OPTION_NEEDS_DAEMON, .acts = true, .run = place},
    {"oco", "buy|sell SYMBOL QTY",
     "two, of which one trades and then cancels the other: a take-profit and a stop",
     "sell BTCUSDT 0.01 --take-profit 62000 --stop 60000", OPTION_NEEDS_DAEMON, .acts = true,
     .run = place_oco},
    {"amend", "[ORDER|CLIENT_ID]",
     "new numbers for one that is alive. Made smaller it keeps its place in the queue", "7 --limit 61000.5",
     OPTION_NEEDS_DAEMON, .acts = true, .run = change, .needed = "*|client-id qty,limit,stop,trail"},
    {"cancel", "[ORDER|CLIENT_ID]", "one order, and with it the other of its oco; or all", "7",
     OPTION_NEEDS_DAEMON, .acts = true, .run = change, .needed = "*|client-id|all"},
};

CLI_VERB(cli_order) = {
    .name = "order",
    .words = "by hand: buy, sell, oco, amend, cancel",
    .about =
        "A paper order by hand. What an order may be is the daemon's to say. A word of digits is an order's "
        "number: a client id of digits alone is amended and cancelled by --client-id. Given again with the "
        "same --client-id, also after a restart of the daemon, it answers with the same order. With --json, "
        "papertape.order/1.",
    .exits = "0 once the daemon has accepted and committed it, 1 when it was refused, with the reason.",
    .page = "trading",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    ASK_ARGS,
};
