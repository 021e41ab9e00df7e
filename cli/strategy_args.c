#include "cli/strategy_args.h"

#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "indicators_gpu/plugin_file.h"
#include "record/config_key.h"
#include "strategy/external.h"

enum { WORD_MAX = 512, WORDS_MAX = 500 };

static int set_value(const char *verb, struct strategy_choice *choice, const char *key, const char *text)
{
    char what[96], why[CONFIG_WHY_MAX];
    if (strategy_set(choice->strategy, choice->params, key, text, why) == 0)
        return EXIT_OK;
    snprintf(what, sizeof what, "%s: %.48s", strategy_title(choice->strategy), key);
    return cli_stored_fail(EXIT_USAGE, verb, what, why);
}

/* The parameter's place; n_params: there is none of that name. */
static size_t find_param(const struct strategy *strategy, const char *key)
{
    size_t i = 0;
    while (i < strategy->n_params && strcmp(strategy->params[i].name, key) != 0)
        i++;
    return i;
}

static int set_one(const char *verb, char *word, struct strategy_choice *choice)
{
    char what[96];
    char *value = strchr(word, '=');
    if (!value) {
        snprintf(what, sizeof what, "%s: \"%.48s\"", strategy_title(choice->strategy), word);
        return cli_stored_fail(EXIT_USAGE, verb, what,
                               "key=value is needed: papertape backtest --list-strategies says which keys");
    }
    *value++ = '\0';
    size_t param = find_param(choice->strategy, word);
    bool known = param < choice->strategy->n_params;
    if (known && choice->given[param]) {
        snprintf(what, sizeof what, "%s: %.48s", strategy_title(choice->strategy), word);
        return cli_stored_fail(EXIT_USAGE, verb, what, "it is set twice: one value is needed");
    }
    int status = set_value(verb, choice, word, value);
    if (status == EXIT_OK && known)
        choice->given[param] = true;
    return status;
}

int cli_strategy_args_set(const char *verb, const char *text, struct strategy_choice *choice)
{
    char copy[WORD_MAX];
    if (strlen(text) >= sizeof copy)
        return cli_stored_fail(EXIT_USAGE, verb, "--set", "more text than any parameters need");
    snprintf(copy, sizeof copy, "%s", text);
    char *next = copy;
    while (next) {
        char *word = strsep(&next, ",");
        int status = set_one(verb, word, choice);
        if (status != EXIT_OK)
            return status;
    }
    return EXIT_OK;
}

/* How long the name's part of NAME:key=value is; a shared object's has a colon itself, and a command is all
 * of it. */
static size_t name_length(const char *text)
{
    const char *file = strategy_form_source(STRATEGY_LIBRARY, text);
    if (strategy_form_source(STRATEGY_PROCESS, text))
        return strlen(text);
    return file ? (size_t)(file - text) + indicator_plugin_word(file) : strcspn(text, ":");
}

int cli_strategy_args_choose(const char *verb, const char *text, struct strategy_choice *ret)
{
    char name[STRATEGY_NAME_MAX], words[WORDS_MAX];
    struct strategy_choice choice = {0};
    size_t len = name_length(text);
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), text);
    if (strategy_open(name, &choice.strategy, words, sizeof words) < 0)
        return cli_stored_fail(EXIT_USAGE, verb, "--strategy", words);
    strategy_defaults(choice.strategy, choice.params);
    int status = text[len] == ':' ? cli_strategy_args_set(verb, text + len + 1, &choice) : EXIT_OK;
    if (status == EXIT_OK)
        *ret = choice;
    return status;
}

int cli_strategy_args_check(const char *verb, const struct strategy_choice *choice)
{
    const struct strategy *strategy = choice->strategy;
    const char *why_not = strategy_check(strategy, choice->params);
    return why_not ? cli_stored_fail(EXIT_USAGE, verb, strategy_title(strategy), why_not) : EXIT_OK;
}

void cli_strategy_args_text(const struct strategy *strategy, const double *params, char *buf, size_t size)
{
    char text[STRATEGY_WORD_MAX];
    size_t at = 0;
    *buf = '\0';
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *param = &strategy->params[i];
        if (params[i] == param->fallback)
            continue;
        int n = snprintf(buf + at, size - at, "%s%s=%s", at > 0 ? " " : "", param->name,
                         strategy_param_text(param, params[i], text));
        if (n < 0 || (size_t)n >= size - at)
            return;
        at += (size_t)n;
    }
}
