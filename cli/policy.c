#include "cli/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/policy_list.h"
#include "cli/text.h"
#include "cli/told.h"
#include "exchange/exit_status.h"

static const char help[] =
    "Usage: papertape policy list [--csv|--json]\n"
    "       papertape policy show NAME [--json]\n"
    "       papertape policy promote NAME [--to challenger|champion] [--policy F] [--json]\n"
    "       papertape policy retire NAME [--json]\n"
    "\n"
    "The policies that trade on paper: challengers, each on an account of its own, and the champion.\n"
    "\n"
    "  list     all of them; without a daemon as the database last had them, exit status 3\n"
    "  show     one, with what its file was trained for\n"
    "  promote  one step up: the newest policy of the training NAME becomes a challenger; a challenger the\n"
    "           champion; one that trades takes its training's newer file over\n"
    "  retire   takes it off its accounts, which are closed\n"
    "\n"
    "  --to ROLE      the role that the step is to lead to, challenger or champion: refused where it leads\n"
    "                 elsewhere\n"
    "  --policy F     this file instead of the training's newest: F.safetensors, or an ensemble's,\n"
    "                 NAME.ensemble.json\n"
    "  --csv, --json  papertape.policies/1 of the list; what is not known is null\n"
    "  --state DIR    the daemon's state directory\n";

struct wish {
    const char *state, *policy, *to;
    bool csv, json;
};

static int refuse_option(const char *word, const char *option)
{
    char words[80];

    snprintf(words, sizeof(words), "not an option of policy %s: see papertape policy --help", word);
    return stored_fail(EXIT_USAGE, "policy", option, words);
}

enum { SHOWN_MAX = 160 }; /* characters of one text: fitted features are long; --json has all */

static void print_text(const char *text)
{
    char shown[SHOWN_MAX + 1];
    size_t line = strcspn(text, "\n"), n = line < SHOWN_MAX ? line : SHOWN_MAX;

    text_clean(shown, n + 1, text);
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
            text_print(stdout, key);
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

    fputs(json_integer_value(value) > 0 ? stored_time(STORED_TABLE, text, json_integer_value(value)) : "n/a",
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
        text_clean(shown, sizeof(shown), key);
        printf("%-15.*s  ", (int)(time ? len - 3 : len), shown);
        if (time)
            print_time(value);
        else
            print_value(value);
        putchar('\n');
    }
}

static void print_done(const char *word, const json_t *policy)
{
    printf("%s ", strcmp(word, "promote") == 0 ? "promoted" : "retired");
    text_print(stdout, told_text(policy, "name"));
    fputs(strcmp(word, "promote") == 0 ? ": " : "", stdout);
    if (strcmp(word, "promote") == 0) {
        text_print(stdout, told_text(policy, "role"));
        fputs(" on account ", stdout);
        text_print(stdout, told_text(policy, "account"));
    }
    putchar('\n');
}

static int ask(const char *word, const char *name, const struct wish *wish)
{
    char cmd[32], path[PATH_MAX];
    json_t *result, *policy, *args = json_pack("{s:s}", "name", name);

    if (wish->policy && !realpath(wish->policy, path)) { /* the daemon's own directory is another */
        json_decref(args);
        return stored_fail(EXIT_ERROR, "policy", wish->policy, strerror(errno));
    }
    if (wish->policy && json_object_set_new(args, "path", json_string(path)) < 0) {
        json_decref(args);
        return stored_fail(EXIT_ERROR, "policy", wish->policy, "a path of UTF-8 text is needed");
    }
    if (wish->to)
        json_object_set_new(args, "to", json_string(wish->to));
    snprintf(cmd, sizeof(cmd), "policy_%s", word);
    int status = told_ask("policy", wish->state, cmd, name, args, &told_policies,
                          strcmp(word, "promote") == 0 ? &told_trainings : NULL, &result);
    if (status != EXIT_OK)
        return status;
    policy = told_named(json_object_get(result, "policy"), &told_policies);
    json_decref(result);
    if (!policy)
        return stored_fail(EXIT_ERROR, "policy", name,
                           "the daemon's answer has no policy: both must be of one version");
    if (wish->json)
        return told_print("policy", "papertape.policy/1", "policy", policy);
    if (strcmp(word, "show") == 0)
        print_policy(policy);
    else
        print_done(word, policy);
    json_decref(policy);
    return EXIT_OK;
}

static int unknown_action(const char *word)
{
    static const char *const actions[] = {"list", "show", "promote", "retire"};

    return ask_unknown_action("policy", word, actions, sizeof actions / sizeof *actions, "policies",
                              "list, show, promote or retire");
}

static int act(char **words, int n, const struct wish *wish)
{
    const char *word = n > 0 ? words[0] : "";
    bool lists = strcmp(word, "list") == 0, promotes = strcmp(word, "promote") == 0;
    char why[80];

    if (!lists && !promotes && strcmp(word, "show") != 0 && strcmp(word, "retire") != 0)
        return unknown_action(word);
    if (wish->csv && !lists)
        return refuse_option(word, "--csv");
    if (wish->policy && !promotes)
        return refuse_option(word, "--policy");
    if (wish->to && !promotes)
        return refuse_option(word, "--to");
    if (wish->to && strcmp(wish->to, "challenger") != 0 && strcmp(wish->to, "champion") != 0)
        return stored_fail(EXIT_USAGE, "policy", "--to", "challenger or champion is needed");
    if (n != (lists ? 1 : 2)) {
        snprintf(why, sizeof(why), "%s takes %s", word, lists ? "no argument" : "NAME");
        return ask_usage("policy", why);
    }
    if (lists)
        return policy_list(wish->state, wish->json ? STORED_JSON : wish->csv ? STORED_CSV : STORED_TABLE);
    int status = told_check_name("policy", words[1]);
    return status == EXIT_OK ? ask(word, words[1], wish) : status;
}

static int run_line(int argc, char **argv)
{
    struct wish wish = {0};
    const struct ask_option options[] = {
        {"state", &wish.state, NULL}, {"policy", &wish.policy, NULL}, {"to", &wish.to, NULL},
        {"csv", NULL, &wish.csv},     {"json", NULL, &wish.json},
    };
    char **words;
    int r = ask_parse(argc, argv, options, sizeof options / sizeof *options, help, &words);

    return r != EXIT_OK || !words ? r : act(words, argc - (int)(words - argv), &wish);
}

const struct option_verb cli_policy = {
    .name = "policy", .words = "policies in the arena: list, show, promote, retire", .run = run_line};
