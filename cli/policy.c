#include "cli/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/selected.h"
#include "cli/text.h"
#include "exchange/exit_status.h"
#include "strategy/policy/limit_keys.h"

struct asked {
    struct ask_selected of; /* of the list, or to be sent */
    const char *file;
};

enum { SHOWN_MAX = 160 }; /* characters of one text: fitted features are long; --json has all */

static void print_text(const char *text)
{
    char shown[SHOWN_MAX + 1];
    size_t line = strcspn(text, "\n"), n = line < SHOWN_MAX ? line : SHOWN_MAX;

    cli_text_clean(shown, n + 1, text);
    fputs(shown, stdout);
    if (text[n])
        printf("... (%zu characters)", strlen(text));
}

/* A value in words: a list's values with commas between, an object's with their keys. */
static void print_value(const json_t *value)
{
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    const char *key;
    json_t *each;
    size_t i;

    if (json_is_string(value)) {
        print_text(json_string_value(value));
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, each)
        {
            fputs(i ? ", " : "", stdout);
            print_value(each);
        }
    } else if (json_is_object(value)) {
        i = 0;
        json_object_foreach((json_t *)(uintptr_t)value, key, each)
        {
            fputs(i++ ? ", " : "", stdout);
            cli_text_print(stdout, key);
            putchar(' ');
            print_value(each);
        }
    } else {
        fputs(json_is_null(value) || !text ? "n/a" : text, stdout);
    }
    free(text);
}

static void print_time(const json_t *value)
{
    char text[STORED_CELL];

    fputs(json_integer_value(value) > 0 ? cli_stored_time(STORED_TABLE, text, json_integer_value(value))
                                        : "n/a",
          stdout);
}

/* A line for each of its figures. */
static void print_policy(json_t *policy)
{
    const char *key;
    json_t *value;

    json_object_foreach(policy, key, value)
    {
        size_t len = strlen(key);
        bool time = len > 3 && strcmp(key + len - 3, "_ns") == 0 && json_is_integer(value);
        char shown[32];
        cli_text_clean(shown, sizeof(shown), key);
        printf("%-15.*s  ", (int)(time ? len - 3 : len), shown);
        if (time)
            print_time(value);
        else
            print_value(value);
        putchar('\n');
    }
}

static void print_limits(FILE *out, const json_t *policy)
{
    const char *limits = json_string_value(json_object_get(policy, "limits"));
    fputs(limits ? ", under limits: " : ", without limits", out);
    cli_text_print(out, limits ? limits : "");
}

static void print_done(const struct option_call *call, const json_t *policy)
{
    const char *word = call->word;

    fprintf(call->out, "%s ", strcmp(word, "promote") == 0 ? "promoted" : "retired");
    cli_text_print(call->out, cli_answer_text(policy, "name"));
    fputs(strcmp(word, "promote") == 0 ? ": " : "", call->out);
    if (strcmp(word, "promote") == 0) {
        cli_text_print(call->out, cli_answer_text(policy, "role"));
        fputs(" on account ", call->out);
        cli_text_print(call->out, cli_answer_text(policy, "account"));
        print_limits(call->out, policy);
    }
    fputc('\n', call->out);
}

static int ask(struct option_call *call)
{
    const struct asked *asked = call->into;
    const char *word = call->word, *name = call->arguments[0];
    char cmd[32], path[PATH_MAX];
    json_t *result, *policy;
    int status = EXIT_OK;

    if (asked->file && !realpath(asked->file, path)) /* the daemon's own directory is another */
        return option_fail(call, EXIT_ERROR, "%s: %s", asked->file, strerror(errno));
    if (asked->file && (status = cli_ask_args_put(call, "path", path)) != EXIT_OK)
        return status;
    snprintf(cmd, sizeof(cmd), "policy_%s", word);
    status = cli_answer_ask(call, cmd, &cli_answer_policies,
                            strcmp(word, "promote") == 0 ? &cli_answer_trainings : NULL, &result);
    if (status != EXIT_OK)
        return status;
    policy = cli_answer_named(json_object_get(result, "policy"), &cli_answer_policies);
    json_decref(result);
    if (!policy)
        return option_fail(call, EXIT_ERROR,
                           "%.63s: the daemon's answer has no policy: both must be of one version", name);
    if (call->json)
        return cli_answer_print("policy", "papertape.policy/1", "policy", policy);
    if (strcmp(word, "show") == 0)
        print_policy(policy);
    else
        print_done(call, policy);
    json_decref(policy);
    return EXIT_OK;
}

static const struct option_action actions[] = {
    {"list", NULL,
     "all of them. e_value and days are a challenger's evidence against the champion, or cash; expires is "
     "when it retires, the last column why it is what it is",
     .need = OPTION_NEEDS_EITHER, OPTION_LISTS, .run = cli_policy_list},
    {"show", "POLICY", "one, with what its file was trained for", .need = OPTION_NEEDS_DAEMON, .run = ask},
    {"promote", "POLICY|TRAINING",
     "one step up: the newest policy of the training of that name becomes a challenger with an account of "
     "its own; a challenger the champion, to whom the account champion is handed; one that trades takes its "
     "training's newer file over",
     .example = "ppo", .need = OPTION_NEEDS_DAEMON, .acts = true, .run = ask},
    {"retire", "POLICY", "takes it off its accounts, and closes what they hold", .need = OPTION_NEEDS_DAEMON,
     .acts = true, .run = ask},
};

#define LIMIT(name, option, member, value, kind, about) \
    {option, value, "limit: " about, .take = cli_ask_args_take, .of = "promote"},

static const struct option_row options[] = {
    SELECTED_ACCOUNT_AT(SELECTED_BEHIND, .of = "list"),
    SELECTED_MOMENT_AT(SELECTED_BEHIND, .of = "list"),
    {"to", "challenger|champion", "the role that the step is to lead to: refused where it leads elsewhere",
     .take = cli_ask_args_take, .of = "promote"},
    {"policy", "FILE",
     "this file instead of the training's newest: F.safetensors, or an ensemble's, NAME.ensemble.json",
     offsetof(struct asked, file), .of = "promote", .arg = "path"},
    {"yes", NULL,
     "promote it although its evaluation's verdict (policy show) is not that it is better than holding",
     .take = cli_ask_args_take, .of = "promote"},
    POLICY_LIMIT_ROWS(LIMIT)};

static const struct option_refusal refused[] = {
    {"from", "policies are listed as they are at one moment: --at T"}};

CLI_VERB(cli_policy) = {
    .name = "policy",
    .words = "in the arena: list, show, promote, retire",
    .about =
        "The policies that trade on paper: challengers, each on an account of its own, and the champion. "
        "docs/policies.md has the rules. With --json, papertape.policies/1; of one, papertape.policy/1.",
    .page = "learning",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct asked),
    .init = cli_selected_ask_init,
    .finish = cli_ask_args_finish,
};
