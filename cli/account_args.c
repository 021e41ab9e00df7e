#include "cli/account_args.h"

#include <stdlib.h>
#include <string.h>

#include "cli/order_args.h"
#include "engine/account.h"
#include "exchange/decimal.h"

static const char amount_words[] = "an amount must be a decimal number above 0, as 500 or 0.25";
static const char name_words[] = "an account's name is 1 to 31 of the characters A-Z a-z 0-9 . _ -";

static int set_text(json_t *args, const char *key, const char *text)
{
    return text ? json_object_set_new(args, key, json_string(text)) : 0;
}

static bool is_name(const char *text)
{
    return order_args_is_id(text) && strlen(text) < ACCOUNT_NAME_MAX && !strpbrk(text, ":/");
}

static bool is_amount(const char *text, bool or_none)
{
    int128_t units;
    int r = decimal_parse128(text, strlen(text), DECIMAL_SCALE_MAX, &units);

    return r == 0 && (units > 0 || (or_none && units == 0));
}

static const char *set_params(json_t *args, const struct account_wish *wish)
{
    json_t *params = wish->n_params ? json_object() : NULL;
    const char *words = NULL;

    for (int i = 0; i < wish->n_params && !words; i++) {
        const char *text = wish->params[i], *equals = strchr(text, '=');
        char name[48];
        int128_t units;
        size_t len = equals ? (size_t)(equals - text) : 0;
        if (len == 0 || len >= sizeof(name) ||
            decimal_parse128(equals + 1, strlen(equals + 1), DECIMAL_SCALE_MAX, &units) < 0) {
            words = "--set: a parameter and its number are needed, as fast=10";
            break;
        }
        memcpy(name, text, len);
        name[len] = '\0';
        if (set_text(params, name, equals + 1) < 0)
            words = "--set: the parameter's name must be UTF-8";
    }
    if (words || !params || json_object_set(args, "params", params) < 0) {
        json_decref(params);
        return words;
    }
    json_decref(params);
    return wish->strategy ? NULL : "--set needs --strategy";
}

/* What only `create` has. */
static bool is_for_new(const struct account_wish *wish)
{
    bool limits = false;
    for (int i = 0; i < RISK_KEYS_N; i++)
        limits |= wish->risk[i] != NULL;
    return limits || wish->currency || wish->strategy || wish->n_params || wish->fees || wish->fee_maker ||
           wish->fee_taker || wish->shorts || wish->collateral || wish->maintenance || wish->borrow_rate;
}

static const char *create(json_t *args, char **words, int n, const struct account_wish *wish)
{
    if (n != 1 || !wish->currency || !wish->cash)
        return "create needs a name, --currency and --cash, as: account create swing --currency USDT --cash "
               "5000";
    if (!is_name(words[0]))
        return name_words;
    if (!is_amount(wish->cash, true))
        return "--cash: a decimal number of 0 or more is needed, as 5000";
    if (!wish->shorts && (wish->collateral || wish->maintenance || wish->borrow_rate))
        return "--collateral, --maintenance, --borrow-rate: only with --shorts";
    if (wish->fees && (wish->fee_maker || wish->fee_taker))
        return "--fees says both rates: either it, or --fee-maker and --fee-taker";
    const char *why = set_params(args, wish);
    if (why)
        return why;
    if (set_text(args, "currency", wish->currency) < 0 || set_text(args, "strategy", wish->strategy) < 0)
        return "the currency and the strategy must be UTF-8";
    set_text(args, "name", words[0]);
    set_text(args, "cash", wish->cash);
    set_text(args, "fees", wish->fees);
    set_text(args, "fee_maker", wish->fee_maker);
    set_text(args, "fee_taker", wish->fee_taker);
    set_text(args, "collateral", wish->collateral);
    set_text(args, "maintenance", wish->maintenance);
    set_text(args, "borrow_rate", wish->borrow_rate);
    for (int i = 0; i < RISK_KEYS_N; i++)
        set_text(args, risk_keys[i].name, wish->risk[i]);
    if (wish->shorts)
        json_object_set_new(args, "shorts", json_true());
    return NULL;
}

static const char *deposit(json_t *args, char **words, int n, bool withdraws)
{
    char amount[DECIMAL_TEXT_MAX + 1] = "-";

    if (n != 2)
        return "an account and an amount are needed, as: account deposit main 500";
    if (!is_name(words[0]))
        return name_words;
    if (!is_amount(words[1], false) || strlen(words[1]) >= sizeof(amount) - 1)
        return amount_words;
    strcpy(amount + 1, words[1][0] == '+' ? words[1] + 1 : words[1]);
    set_text(args, "account", words[0]);
    set_text(args, "amount", withdraws ? amount : amount + 1);
    return NULL;
}

static const char *reset(json_t *args, char **words, int n, const struct account_wish *wish)
{
    if (n != 1)
        return "an account is needed, as: account reset main --cash 10000";
    if (!is_name(words[0]))
        return name_words;
    if (wish->cash && !is_amount(wish->cash, true))
        return "--cash: a decimal number of 0 or more is needed, as 10000";
    set_text(args, "account", words[0]);
    set_text(args, "cash", wish->cash);
    return NULL;
}

static const char *transfer(json_t *args, char **words, int n)
{
    if (n != 3)
        return "two accounts and an amount are needed, as: account transfer main swing 500";
    if (!is_name(words[0]) || !is_name(words[1]))
        return name_words;
    if (strcmp(words[0], words[1]) == 0)
        return "transfer needs two different accounts";
    if (!is_amount(words[2], false))
        return amount_words;
    set_text(args, "from", words[0]);
    set_text(args, "to", words[1]);
    set_text(args, "amount", words[2]);
    return NULL;
}

static const char *resume(json_t *args, char **words, int n)
{
    if (n != 1)
        return "an account is needed, as: account resume main";
    if (!is_name(words[0]))
        return name_words;
    set_text(args, "account", words[0]);
    return NULL;
}

static const char *fill(json_t *args, const char *verb, char **words, int n, const struct account_wish *wish,
                        const char **ret_cmd)
{
    bool creates = strcmp(verb, "create") == 0, resets = strcmp(verb, "reset") == 0;
    bool withdraws = strcmp(verb, "withdraw") == 0;

    if (wish->key && !order_args_is_id(wish->key))
        return "--key: 1 to 36 of the characters A-Z a-z 0-9 . _ : / -";
    set_text(args, "key", wish->key);
    if (!creates && (is_for_new(wish) || (wish->cash && !resets)))
        return resets ? "reset takes --cash and --key" : "deposit, withdraw, transfer and resume take --key";
    if (creates) {
        *ret_cmd = "account_create";
        return create(args, words, n, wish);
    }
    if (resets) {
        *ret_cmd = "account_reset";
        return reset(args, words, n, wish);
    }
    if (withdraws || strcmp(verb, "deposit") == 0) {
        *ret_cmd = "account_deposit";
        return deposit(args, words, n, withdraws);
    }
    if (strcmp(verb, "transfer") == 0) {
        *ret_cmd = "account_transfer";
        return transfer(args, words, n);
    }
    if (strcmp(verb, "resume") == 0) {
        *ret_cmd = "account_resume";
        return resume(args, words, n);
    }
    return "list, create, deposit, withdraw, transfer, reset or resume comes first, as: account list";
}

json_t *account_args(const char *verb, char **words, int n, const struct account_wish *wish,
                     const char **ret_cmd, const char **ret_words)
{
    json_t *args = json_object();
    const char *why = args ? fill(args, verb, words, n, wish, ret_cmd) : "out of memory";

    if (!why)
        return args;
    *ret_words = why;
    json_decref(args);
    return NULL;
}
