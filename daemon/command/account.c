/* Accounts made and changed at run time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/arena/step.h"
#include "daemon/command/internal.h"
#include "daemon/config_keys.h"
#include "engine/event.h"
#include "exchange/fill_rules.h"
#include "exchange/nearest.h"
#include "strategy/direction.h"
#include "strategy/strategy.h"

/* Sets a key of the account's section from an argument's text. */
static bool take_key(const struct args *args, const char *name, const char *key, struct daemon_config *config,
                     const char *section)
{
    char why[CONFIG_WHY_MAX];
    const char *text;
    if (!daemon_command_args_given(args, name))
        return true;
    if (!daemon_command_args_text(args, name, &text))
        return false;
    if (daemon_config_set_line(config, section, key, text, why) == 0)
        return true;
    return ARGS_WRONG(args->request->call, "%s.%s: %s", args->where, name, why);
}

/* A key's name in the arguments; NULL: other arguments set it, or none does. */
static const char *argument_of(const struct config_key *key)
{
    static const char *const others[] = {"shorts", "policy", "actions"};
    if (strcmp(key->section, "account") != 0)
        return NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(key->name, others[i]) == 0)
            return NULL;
    size_t prefix = strlen(CONFIG_OWN_RISK);
    return strncmp(key->name, CONFIG_OWN_RISK, prefix) == 0 ? key->name + prefix : key->name;
}

static bool take_params(const struct args *args, struct daemon_config *config, const char *section)
{
    const json_t *params = json_object_get(args->object, "params");
    const char *name;
    json_t *value;
    if (!daemon_command_args_given(args, "params"))
        return true;
    if (!json_is_object(params))
        return ARGS_WRONG(args->request->call, "args.params: an object like {\"fast\":\"10\"} is needed");
    struct args own = {args->request, params, "args.params"};
    json_object_foreach((json_t *)params, name, value)
    {
        char key[64];
        snprintf(key, sizeof key, "strategy.%.40s", name);
        if (!take_key(&own, name, key, config, section))
            return false;
    }
    return true;
}

/* The currency's decimals: those of a symbol that is quoted in it. -ENOENT. */
static int currency_scale(const struct engine *engine, const char *currency)
{
    for (int s = 0; s < engine_symbols(engine); s++)
        if (strcmp(engine_symbol(engine, s)->quote, currency) == 0)
            return engine_symbol(engine, s)->quote_scale;
    return -ENOENT;
}

static bool too_much(const struct args *args, const char *name, const char *currency, int scale)
{
    char most[DECIMAL_TEXT_MAX];
    decimal_format_short(FILL_MONEY_MAX, scale, most);
    return ARGS_WRONG(args->request->call, "%s.%s: the largest balance in %s, which has %d decimals, is %s",
                      args->where, name, currency, scale, most);
}

/* An amount that a number of the currency's units holds; a balance is at most FILL_MONEY_MAX of them. */
static bool take_amount(const struct args *args, const char *name, const char *currency, int scale,
                        int64_t *ret)
{
    const char *text = json_string_value(json_object_get(args->object, name));
    int64_t units;
    if (text && decimal_parse_str(text, scale, &units) == -ERANGE)
        return too_much(args, name, currency, scale);
    return daemon_command_args_decimal(args, name, scale, ret);
}

static bool take_cash(const struct args *args, const struct account_config *account, int scale, int64_t *ret)
{
    return take_amount(args, "cash", account->currency, scale, ret) &&
           (*ret <= FILL_MONEY_MAX || too_much(args, "cash", account->currency, scale));
}

/* The account as a section of the configuration would make it. */
static bool take_account(const struct args *args, struct daemon_config *config, struct account_spec *ret)
{
    struct control_call *call = args->request->call;
    char section[ACCOUNT_NAME_MAX + 8], why[CONFIG_ERROR_MAX];
    const char *name;
    if (!daemon_command_args_text(args, "name", &name))
        return false;
    if (!account_name_good(name))
        return ARGS_WRONG(call, "args.name: \"%.60s\": letters, digits, - _ and . are needed, at most %d",
                          name, ACCOUNT_NAME_MAX - 1);
    if (strcmp(name, ARENA_CHAMPION) == 0)
        return ARGS_WRONG(call, "args.name: champion is the account of the best policy: another is needed");
    snprintf(section, sizeof section, "account %s", name);
    config->n_accounts = 0;
    if (daemon_config_set(config, section, "strategy", "none", why) < 0)
        return false;
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    for (size_t i = 0; i < n; i++)
        if ((name = argument_of(&keys[i])) && !take_key(args, name, keys[i].name, config, section))
            return false;
    if (!take_params(args, config, section))
        return false;
    struct account_config *account = &config->accounts[0];
    if (!daemon_command_args_flag(args, "shorts", &account->shorts))
        return false;
    if (daemon_config_check(config, why) < 0) { /* "[account NAME] strategy.fast: …" */
        const char *key = strchr(why, ']') + 2;
        bool is_param = strncmp(key, "strategy.", 9) == 0;
        return ARGS_WRONG(call, "args.%s%s", is_param ? "params." : "", key + (is_param ? 9 : 0));
    }
    int scale = currency_scale(args->request->engine, account->currency);
    if (scale < 0) {
        char quoted[200];
        daemon_session_quoted(args->request->engine, account->currency, quoted, sizeof quoted);
        return ARGS_WRONG(call, "args.currency: %s: no streamed symbol is quoted in it; quoted: %s",
                          account->currency, quoted);
    }
    *ret = (struct account_spec){.currency_scale = scale,
                                 .rules = daemon_config_rules(config, account),
                                 .session = account->session,
                                 .strategy = account->strategy};
    memcpy(ret->name, account->name, sizeof ret->name);
    memcpy(ret->currency, account->currency, sizeof ret->currency);
    memcpy(ret->params, account->params, sizeof ret->params);
    if (daemon_command_args_given(args, "cash"))
        return take_cash(args, account, scale, &ret->cash);
    return decimal_parse_str(account->cash, scale, &ret->cash) == 0 ||
           ARGS_WRONG(call, "args.cash: it is needed");
}

/* Is there room for one more? */
static bool has_room(const struct request *request)
{
    if (engine_accounts(request->engine) < ACCOUNTS_MAX)
        return true;
    control_error(
        request->call, order_reason_name(ORDER_BAD_ACCOUNT),
        "args.name: there are %d accounts, the most that there can be, and they are never removed: reset "
        "one that is not needed, papertape account reset NAME",
        ACCOUNTS_MAX);
    return false;
}

void daemon_command_account_create(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_ACCOUNT_CREATE};
    struct daemon_config config = request->commands->daemon->config;
    char known[512] = "name currency cash strategy params shorts key";
    size_t n, at = strlen(known);
    const struct config_key *keys = daemon_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const char *name = argument_of(&keys[i]);
        if (name && at < sizeof known)
            at += (size_t)snprintf(known + at, sizeof known - at, " %s", name);
    }
    if (!daemon_command_args_known(request->given, known) ||
        !take_account(request->given, &config, &event.command.account))
        return;
    if (engine_find_account(request->engine, event.command.account.name) >= 0) {
        /* Unless it is this very command again. */
        char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
        if (!daemon_command_key_name(request->cmd, request->args, request->engine, name) ||
            !daemon_command_key_find(request->commands, name)) {
            control_error(request->call, order_reason_name(ORDER_BAD_ACCOUNT),
                          "args.name: there is an account %s already", event.command.account.name);
            return;
        }
    }
    if (engine_find_account(request->engine, event.command.account.name) < 0 && !has_room(request))
        return;
    const struct account_spec *spec = &event.command.account;
    const char *what =
        spec->strategy && !spec->rules.shorts ? strategy_without_shorts(spec->strategy, spec->params) : NULL;
    char note[64];
    snprintf(note, sizeof note, "shorts are off: its strategy %s", what ? what : "");
    daemon_command_carry_out(request, &event,
                             json_pack("{s:s, s:s*}", "account", spec->name, "note", what ? note : NULL));
}

/* The account that `name` names, which must be given. */
static bool take_named(const struct args *args, const char *name, int *ret)
{
    const char *text;
    return daemon_command_args_text(args, name, &text) && daemon_command_args_account(args, name, ret);
}

/* The same, and an amount of its currency. */
static bool take_money(const struct args *args, const char *name, const char *amount, int *ret_account,
                       int64_t *ret_amount)
{
    if (!take_named(args, name, ret_account))
        return false;
    const struct account *account = engine_account(args->request->engine, *ret_account);
    return take_amount(args, amount, account->currency, account->currency_scale, ret_amount);
}

/* Would a balance, or the sum of all deposits, be past the largest with so much more? */
static bool takes(const struct request *request, const struct account *account, int64_t amount)
{
    const int scale = account->currency_scale;
    char held[DECIMAL_TEXT_MAX], most[DECIMAL_TEXT_MAX], more[DECIMAL_TEXT_MAX];
    int64_t total = account->assets[account->currency_at].total, room = FILL_MONEY_MAX - total;
    if (account->deposits > INT64_MAX - room)
        room = INT64_MAX - account->deposits;
    if (amount <= room)
        return true;
    decimal_format_short(total, scale, held);
    decimal_format_short(FILL_MONEY_MAX, scale, most);
    decimal_format_short(room > 0 ? room : 0, scale, more);
    control_error(
        request->call, order_reason_name(ORDER_BAD_ACCOUNT),
        "args.amount: account %s holds %s %s, and the largest balance is %s: at most %s more can be "
        "taken",
        account->name, held, account->currency, most, more);
    return false;
}

static void move(const struct request *request, bool withdraws)
{
    struct event event = {.command.kind = COMMAND_ACCOUNT_DEPOSIT};
    int account;
    int64_t amount;
    if (!take_money(request->given, "account", "amount", &account, &amount))
        return;
    if (amount == 0 || (withdraws && amount < 0)) {
        control_error(request->call, "EINVAL", "args.amount: a number %s 0 is needed",
                      withdraws ? "above" : "other than");
        return;
    }
    if (!withdraws && !takes(request, engine_account(request->engine, account), amount))
        return;
    event.command.money.account = account;
    event.command.money.amount = withdraws ? -amount : amount;
    daemon_command_carry_out(request, &event,
                             json_pack("{s:s}", "account", engine_account(request->engine, account)->name));
}

void daemon_command_account_deposit(const struct request *request)
{
    move(request, false);
}

void daemon_command_account_withdraw(const struct request *request)
{
    move(request, true);
}

void daemon_command_account_reset(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_ACCOUNT_RESET};
    int at;
    if (!take_named(request->given, "account", &at))
        return;
    const struct account *account = engine_account(request->engine, at);
    event.command.money.account = at;
    event.command.money.amount = account->opening_cash;
    if (!daemon_command_args_optional(request->given, "cash", account->currency_scale, 0, FILL_MONEY_MAX,
                                      &event.command.money.amount))
        return;
    daemon_command_carry_out(request, &event, json_pack("{s:s}", "account", account->name));
}

/* What keeps an account from being closed, and what would be right; "" for nothing. */
static void in_use(const struct engine *engine, int at, char *ret, size_t size)
{
    const struct account *account = engine_account(engine, at);
    size_t orders = 0;
    for (size_t i = 0; i < engine_orders(engine); i++)
        orders += engine_order(engine, i)->account == at;
    ret[0] = '\0';
    if (orders > 0) {
        snprintf(ret, size, "it has %zu open order%s: papertape order cancel --all --account %s", orders,
                 orders == 1 ? "" : "s", account->name);
        return;
    }
    if (engine_account_spec(engine, at)->policy) {
        snprintf(ret, size, "a policy trades on it: papertape policy retire");
        return;
    }
    for (int s = 0; s < engine_symbols(engine); s++)
        if (account->positions[s].qty != 0) {
            char qty[DECIMAL_TEXT_MAX];
            decimal_format_short(account->positions[s].qty, engine_symbol(engine, s)->qty_scale, qty);
            snprintf(ret, size, "it has a position of %s %s: an order that ends it, or a reset, is needed",
                     qty, engine_symbol(engine, s)->name);
            return;
        }
    for (int i = 0; i < account->n_assets; i++) {
        const struct balance *balance = &account->assets[i];
        int64_t borrowed = balance->borrowed + (i == account->currency_at ? account->unpaid_interest : 0);
        int64_t held = borrowed != 0 ? borrowed : i == account->currency_at ? 0 : balance->total;
        char text[DECIMAL_TEXT_MAX];
        decimal_format_short(held, balance->scale, text);
        if (held != 0) {
            snprintf(ret, size, "%s %s %s: %s, or a reset, is needed",
                     borrowed ? "its liability is" : "it holds", text, balance->asset,
                     borrowed ? "a deposit or a sale" : "a sale");
            return;
        }
    }
}

void daemon_command_account_close(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_ACCOUNT_CLOSE};
    char why[200];
    int at;
    if (!take_named(request->given, "account", &at))
        return;
    const char *name = engine_account(request->engine, at)->name;
    in_use(request->engine, at, why, sizeof why);
    if (why[0]) {
        control_error(request->call, order_reason_name(ORDER_ACCOUNT_IN_USE), "account %s: %s", name, why);
        return;
    }
    event.command.money.account = at;
    daemon_command_carry_out(request, &event, json_pack("{s:s}", "account", name));
}

void daemon_command_account_transfer(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_ACCOUNT_TRANSFER};
    int from, to;
    int64_t amount;
    if (!take_money(request->given, "from", "amount", &from, &amount) ||
        !take_named(request->given, "to", &to))
        return;
    const struct account *giver = engine_account(request->engine, from);
    const struct account *taker = engine_account(request->engine, to);
    if (from == to || strcmp(giver->currency, taker->currency) != 0) {
        control_error(request->call, order_reason_name(ORDER_BAD_ACCOUNT), "args.to: %s",
                      from == to ? "another account is needed" : "an account of the same currency is needed");
        return;
    }
    if (amount <= 0) {
        control_error(request->call, "EINVAL", "args.amount: a number above 0 is needed");
        return;
    }
    if (!takes(request, taker, amount))
        return;
    event.command.money.account = from;
    event.command.money.to = to;
    event.command.money.amount = amount;
    daemon_command_carry_out(request, &event,
                             json_pack("{s:s, s:s}", "account", giver->name, "to", taker->name));
}

void daemon_command_account_resume(const struct request *request)
{
    struct event event = {.command.kind = COMMAND_ACCOUNT_RESUME};
    int at;
    if (!take_named(request->given, "account", &at))
        return;
    event.command.money.account = at;
    daemon_command_carry_out(request, &event,
                             json_pack("{s:s}", "account", engine_account(request->engine, at)->name));
}
