#include <stdio.h>
#include <string.h>

#include "cli/account_books.h"
#include "cli/ask.h"
#include "cli/selected.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "engine/account_keys.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "strategy/risk_keys.h"

static void print_done(const struct option_call *call, const json_t *result)
{
    static const struct {
        const char *word,
            *words[3]; /* before each argument, the last one first where there are two or three */
    } done[] = {{"create", {"created"}},
                {"reset", {"reset"}},
                {"close", {"closed"}},
                {"resume", {"resumed"}},
                {"deposit", {"deposited", "into"}},
                {"withdraw", {"withdrew", "from"}},
                {"transfer", {"transferred", "from", "to"}}};
    size_t i = 0;

    while (strcmp(done[i].word, call->word) != 0)
        i++;
    fprintf(call->out, "%s ", done[i].words[0]);
    cli_text_print(call->out, call->arguments[call->n - 1]);
    for (int k = 1; k < call->n; k++) {
        fprintf(call->out, " %s ", done[i].words[k]);
        cli_text_print(call->out, call->arguments[k - 1]);
    }
    fputs(json_is_true(json_object_get(result, "repeated")) ? " (done before)\n" : "\n", call->out);
    const char *note = json_string_value(json_object_get(result, "note"));
    if (note) {
        cli_text_print(call->out, note);
        fputc('\n', call->out);
    }
}

static int send(struct option_call *call, const char *cmd)
{
    json_t *result = NULL;
    int status = cli_ask_args_send(call, cmd, &result);

    return cli_ask_done(call, status, "papertape.account/1", result, print_done);
}

static int create(struct option_call *call)
{
    int status = cli_ask_args_put(call, "name", call->arguments[0]);
    return status == EXIT_OK ? send(call, "account_create") : status;
}

/* reset, resume. */
static int of_one(struct option_call *call)
{
    char cmd[32];
    int status = cli_ask_args_put(call, "account", call->arguments[0]);

    snprintf(cmd, sizeof cmd, "account_%s", call->word);
    return status == EXIT_OK ? send(call, cmd) : status;
}

/* A withdrawal is a deposit of a negative amount. */
static int deposit(struct option_call *call)
{
    char amount[DECIMAL_TEXT_MAX + 2];
    const char *text = call->arguments[1];

    if (text[0] == '-')
        return option_fail(call, EXIT_USAGE,
                           "an amount must be a decimal number above 0, as 500; to take, withdraw");
    snprintf(amount, sizeof amount, "%s%s", strcmp(call->word, "withdraw") == 0 ? "-" : "",
             text + (text[0] == '+'));
    int status = cli_ask_args_put(call, "account", call->arguments[0]);
    if (status == EXIT_OK)
        status = cli_ask_args_put(call, "amount", amount);
    return status == EXIT_OK ? send(call, "account_deposit") : status;
}

static int transfer(struct option_call *call)
{
    static const char *const keys[] = {"from", "to", "amount"};
    int status = EXIT_OK;

    for (int i = 0; i < 3 && status == EXIT_OK; i++)
        status = cli_ask_args_put(call, keys[i], call->arguments[i]);
    return status == EXIT_OK ? send(call, "account_transfer") : status;
}

static int take_param(struct option_call *call, const struct option_row *row, const char *value)
{
    const struct ask_args *into = call->into;
    const char *equals = strchr(value, '=');
    json_t *params = json_object_get(into->args, "params");

    if (!equals || equals == value)
        return option_fail(call, EXIT_USAGE, "--%s: a parameter and its number are needed, as fast=10",
                           row->name);
    if (!params) {
        params = json_object();
        json_object_set_new(into->args, "params", params);
    }
    if (json_object_setn_new(params, value, (size_t)(equals - value), json_string(equals + 1)) < 0)
        return option_fail(call, EXIT_USAGE, "--%s: the parameter's name must be UTF-8", row->name);
    return EXIT_OK;
}

static const struct option_action actions[] = {
    {"list", NULL, "all of them, with equity, peak, drawdown and rules", .need = OPTION_NEEDS_STATE,
     OPTION_LISTS, .run = cli_account_list},
    {"create", "NAME",
     "a new one. What is left out is as the configuration has it by default: 10000 USDT, by hand",
     "swing --currency USDT --cash 5000", OPTION_NEEDS_DAEMON, .acts = true, .run = create},
    {"deposit", "ACCOUNT AMOUNT", "more cash", "main 500", OPTION_NEEDS_DAEMON, .acts = true, .run = deposit},
    {"withdraw", "ACCOUNT AMOUNT", "less", "main 500", OPTION_NEEDS_DAEMON, .acts = true, .run = deposit},
    {"transfer", "ACCOUNT ACCOUNT AMOUNT", "from the first to the second", "main swing 500",
     OPTION_NEEDS_DAEMON, .acts = true, .run = transfer},
    {"reset", "ACCOUNT",
     "cancels its orders, closes the books on what it holds and deposits again; the past stays in the ledger",
     "main", OPTION_NEEDS_DAEMON, .acts = true, .run = of_one},
    {"close", "ACCOUNT",
     "for ever: withdraws what is left of its currency and ends its strategy; it needs to have no open order, "
     "position, other asset, loan or policy. Its past stays, as an account that is closed",
     "swing", OPTION_NEEDS_DAEMON, .acts = true, .run = of_one},
    {"terms", "[ACCOUNT]", "fees, rates, limits, strategy: each change, when, and who made it",
     .need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = cli_account_terms},
    {"epochs", "[ACCOUNT]",
     "from each reset to the next: the money that came and went, and of each symbol position, cost, gain and fees",
     .need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = cli_account_epochs},
    {"resume", "ACCOUNT", "unlocks an account that its drawdown limit locked; its peak equity starts again",
     "main", OPTION_NEEDS_DAEMON, .acts = true, .run = of_one},
};

#define CREATE                                           .take = cli_ask_args_take, .of = "create"
#define LIMIT(member, key, kind, fallback, about)        {"risk-" key, "X", about, CREATE, .arg = (key)},
#define RATE(member, key, fallback, about)               {key, "X", about " (" fallback ")", CREATE},
#define STOCK(member, key, list, fallback, about, more)  {key, "WORD", about " (" fallback ")", CREATE},
#define SHORT(member, key, kind, fallback, about, more)  RATE(member, key, fallback, about)
#define CHARGE(member, key, kind, fallback, about, more) {key, "X", about, CREATE},

static const struct option_row options[] = {
    SELECTED_ACCOUNT_AT(SELECTED_BEHIND, .of = "list terms epochs"),
    SELECTED_PERIOD_AT(SELECTED_BEHIND, "in force", .of = "terms"),
    SELECTED_MOMENT_AT(SELECTED_BEHIND, .of = "list terms epochs"),
    {"key", "K", "given again with the same key, the command is not executed twice",
     .take = cli_ask_args_take, .of = "create deposit withdraw transfer reset resume close"},
    {"cash", "X", "the first deposit", .take = cli_ask_args_take, .of = "create reset"},
    {"currency", "C", "what it is counted in", CREATE},
    {"strategy", "STRATEGY", "what trades on it; without: orders by hand only", CREATE},
    {"set", "KEY=VALUE", "a parameter of it", .take = take_param, .of = "create", .arg = "params"},
    ACCOUNT_FEE_KEYS(RATE) ACCOUNT_CLASS_FEE_KEYS(RATE){
        "fees", "TIER", "instead: a tier of the venue, as papertape fees lists them", CREATE,
        .without = "fee_maker fee_taker"},
    {"session", "SESSION", "the bars that its strategy sees: regular, extended or all (regular)", CREATE},
    {"shorts", NULL, "it may sell what it does not hold", CREATE},
    ACCOUNT_SHORT_KEYS(SHORT) ACCOUNT_STOCK_KEYS(STOCK) ACCOUNT_CHARGE_KEYS(CHARGE) RISK_KEYS(LIMIT)};

CLI_VERB(cli_account) = {
    .name = "account",
    .words = "list, create, deposit, withdraw, transfer, reset, resume, close, terms, epochs",
    .about = "Paper accounts. With --json papertape.accounts/1, of a change papertape.account/1.",
    .exits = "0 of a change once the daemon has accepted and committed it, 1 when it was refused, with the "
             "reason.",
    .page = "accounts",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    SELECTED_ASK_ARGS,
};
