#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/text.h"
#include "cli/told.h"
#include "cli/train_config.h"
#include "cli/train_list.h"
#include "exchange/exit_status.h"

static const char help[] =
    "Usage: papertape train list [--csv|--json]\n"
    "       papertape train start NAME [--config F] [--overwrite] [--priority N] [--json]\n"
    "       papertape train stop|resume NAME [--json]\n"
    "       papertape train restart NAME [--config F] [--json]\n"
    "       papertape train check F [--json]\n"
    "       papertape train log NAME [--lines N] [--json]\n"
    "\n"
    "Trainings and studies, which the daemon has its co-process do. Exit status 0 once it is written\n"
    "down, 1 when it was refused, with the reason.\n"
    "\n"
    "  list     all of them; without a daemon as the database last had them, exit status 3\n"
    "  start    begins one. Without --config: 64x64 networks on the daemon's own bars, until stopped.\n"
    "           A configuration with [study] or [search] begins a study (papertape study shows it)\n"
    "  stop     asks for a checkpoint and the end; resume goes on from there\n"
    "  restart  stops it if it runs and goes on from its last checkpoint, with --config by another\n"
    "           configuration. A study has none: it goes on with the trials that it has\n"
    "  check    all that is wrong with a configuration, by line\n"
    "  log      the newest of what its worker wrote to stderr\n"
    "\n"
    "  --config F     the configuration, as papertape-trainer train takes it\n"
    "  --overwrite    one of that name that has ended begins anew, at step 0;\n"
    "                 a study as another study, NAME@TIME\n"
    "  --priority N   -100 to 100; higher goes first, and pauses a lower one on its device\n"
    "  --lines N      1 to 10000; 200 by default\n"
    "  --csv, --json  papertape.trainings/1 of the list; what is not known is null\n"
    "  --state DIR    the daemon's state directory\n";

struct wish {
    const char *state, *config, *priority, *lines;
    bool csv, json, overwrite;
};

struct action {
    const char *name, *cmd, *done, *options, *takes; /* done: "started"; options: words of the help */
    int (*run)(const struct action *action, const char *name, const struct wish *wish);
};

static int list(const struct action *action, const char *name, const struct wish *wish)
{
    (void)action, (void)name;
    return train_list(wish->state, wish->json ? STORED_JSON : wish->csv ? STORED_CSV : STORED_TABLE);
}

static bool parse_whole(const char *text, long low, long high, json_t *args, const char *key)
{
    char *end;
    long value = strtol(text, &end, 10);

    return end != text && *end == '\0' && value >= low && value <= high &&
           json_object_set_new(args, key, json_integer(value)) == 0;
}

static void print_done(const struct action *action, const char *name, const json_t *training)
{
    printf("%s %s", action->done, name);
    fputs(" (", stdout);
    text_print(stdout, told_text(training, "state"));
    fputs(json_is_true(json_object_get(training, "stopping")) ? ", stopping)\n" : ")\n", stdout);
}

static int print_training(const json_t *training)
{
    json_t *copy = told_named(training, &told_trainings);

    if (!copy)
        return stored_fail(EXIT_ERROR, "train", "",
                           "the daemon's answer has no training: both must be of one version");
    return told_print("train", "papertape.training/1", "training", copy);
}

/* A refused configuration is told of line by line. */
static int refused(const char *name, const struct wish *wish, json_t *config,
                   const struct control_error *error)
{
    if (config && strcmp(error->code, "EINVAL") == 0) {
        int status = train_config_check(wish->state, wish->config, config, false);
        if (status == EXIT_ERROR)
            return status;
    }
    told_refused("train", wish->state, name, error, &told_trainings, NULL);
    return EXIT_ERROR;
}

static int change(const struct action *action, const char *name, const struct wish *wish)
{
    json_t *config = NULL, *result, *args = json_pack("{s:s}", "name", name);
    struct control_error error;

    if (wish->priority && !parse_whole(wish->priority, -100, 100, args, "priority")) {
        json_decref(args);
        return stored_fail(EXIT_USAGE, "train", "--priority", "a whole number from -100 to 100 is needed");
    }
    if (wish->overwrite)
        json_object_set_new(args, "overwrite", json_true());
    if (wish->config && !(config = train_config_read(wish->config))) {
        json_decref(args);
        return EXIT_ERROR;
    }
    if (config)
        json_object_set(args, "config", config);
    int status = ask_quietly(wish->state, action->cmd, args, &result, &error);
    if (status == EXIT_OK) {
        json_t *training = json_object_get(result, "training");
        if (wish->json)
            status = print_training(training);
        else
            print_done(action, name, training);
        json_decref(result);
    } else if (status == EXIT_ERROR) {
        status = refused(name, wish, config, &error);
    } else {
        ask_say("train", &error);
    }
    json_decref(config);
    return status;
}

static int check(const struct action *action, const char *path, const struct wish *wish)
{
    json_t *config = train_config_read(path);
    char shown[256];

    (void)action;
    if (!config)
        return EXIT_ERROR;
    int status = train_config_check(wish->state, path, config, wish->json);
    text_clean(shown, sizeof(shown), path);
    if (status == EXIT_OK && !wish->json)
        printf("%s: good\n", shown);
    json_decref(config);
    return status;
}

static int print_log(const struct action *action, const char *name, const struct wish *wish)
{
    json_t *result, *line, *args = json_pack("{s:s}", "name", name);
    size_t i;

    if (wish->lines && !parse_whole(wish->lines, 1, 10000, args, "lines")) {
        json_decref(args);
        return stored_fail(EXIT_USAGE, "train", "--lines", "a whole number from 1 to 10000 is needed");
    }
    int status = told_ask("train", wish->state, action->cmd, name, args, &told_trainings, NULL, &result);
    if (status != EXIT_OK)
        return status;
    json_t *lines = json_object_get(result, "lines");
    if (!json_is_array(lines)) {
        status = stored_fail(EXIT_ERROR, "train", name,
                             "the daemon's answer has no lines: both must be of one version");
    } else if (wish->json) {
        status = told_print("train", "papertape.training-log/1", "lines", json_incref(lines));
    } else {
        json_array_foreach(lines, i, line)
        {
            text_print(stdout, json_is_string(line) ? json_string_value(line) : "");
            putchar('\n');
        }
    }
    json_decref(result);
    return status;
}

static const struct action actions[] = {
    {"list", "train_list", NULL, "csv json", NULL, list},
    {"start", "train_start", "started", "config overwrite priority json", "NAME", change},
    {"stop", "train_stop", "asked to stop", "json", "NAME", change},
    {"resume", "train_resume", "resumed", "json", "NAME", change},
    {"restart", "train_restart", "restarted", "config json", "NAME", change},
    {"check", "train_check", NULL, "json", "F", check},
    {"log", "train_log", NULL, "lines json", "NAME", print_log},
};

enum { N_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static int unknown_action(const char *word)
{
    const char *names[N_ACTIONS];

    for (int i = 0; i < N_ACTIONS; i++)
        names[i] = actions[i].name;
    return ask_unknown_action("train", word, names, N_ACTIONS, "trainings",
                              "list, start, stop, resume, restart, check or log");
}

/* Is each option that was given one of the action's? */
static int check_options(const struct action *action, const struct wish *wish)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {{"config", wish->config != NULL},
                   {"priority", wish->priority != NULL},
                   {"lines", wish->lines != NULL},
                   {"csv", wish->csv},
                   {"json", wish->json},
                   {"overwrite", wish->overwrite}};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char shown[24], words[80];
        if (!options[i].given || strstr(action->options, options[i].name))
            continue;
        snprintf(shown, sizeof(shown), "--%s", options[i].name);
        snprintf(words, sizeof(words), "not an option of train %s: see papertape train --help", action->name);
        return stored_fail(EXIT_USAGE, "train", shown, words);
    }
    return EXIT_OK;
}

static int act(char **words, int n, const struct wish *wish)
{
    const char *word = n > 0 ? words[0] : "", *what = n > 1 ? words[1] : NULL;
    const struct action *action = NULL;
    char why[80];

    for (int i = 0; i < N_ACTIONS && !action; i++)
        action = strcmp(actions[i].name, word) == 0 ? &actions[i] : NULL;
    if (!action)
        return unknown_action(word);
    int status = check_options(action, wish);
    if (status != EXIT_OK)
        return status;
    if (n != (action->takes ? 2 : 1)) {
        snprintf(why, sizeof(why), "%s takes %s", word, action->takes ? action->takes : "no argument");
        return ask_usage("train", why);
    }
    if (action->takes && strcmp(action->takes, "NAME") == 0)
        status = told_check_name("train", what);
    return status == EXIT_OK ? action->run(action, what, wish) : status;
}

static int run_line(int argc, char **argv)
{
    struct wish wish = {0};
    const struct ask_option options[] = {
        {"state", &wish.state, NULL},
        {"config", &wish.config, NULL},
        {"priority", &wish.priority, NULL},
        {"lines", &wish.lines, NULL},
        {"csv", NULL, &wish.csv},
        {"json", NULL, &wish.json},
        {"overwrite", NULL, &wish.overwrite},
    };
    char **words;
    int r = ask_parse(argc, argv, options, sizeof options / sizeof *options, help, &words);

    return r != EXIT_OK || !words ? r : act(words, argc - (int)(words - argv), &wish);
}

const struct option_verb cli_train = {
    .name = "train", .words = "trainings: list, start, stop, resume, restart, check, log", .run = run_line};
