#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/selected.h"
#include "cli/text.h"
#include "exchange/exit_status.h"

enum { PRIORITY_MOST = 100, LINES_MOST = 10000, NOT_GIVEN = -1000000 };

struct asked {
    struct ask_selected of; /* of the list, or to be sent */
    const char *config;
    int64_t priority, lines;
};

static void print_done(const struct option_call *call, const char *name, const json_t *training)
{
    const char *word = call->word;

    fprintf(call->out, "%s %s",
            strcmp(word, "start") == 0    ? "started"
            : strcmp(word, "stop") == 0   ? "asked to stop"
            : strcmp(word, "resume") == 0 ? "resumed"
                                          : "restarted",
            name);
    fputs(" (", call->out);
    cli_text_print(call->out, cli_answer_text(training, "state"));
    fputs(json_is_true(json_object_get(training, "stopping")) ? ", stopping)\n" : ")\n", call->out);
}

static int print_training(const json_t *training)
{
    json_t *copy = cli_answer_named(training, &cli_answer_trainings);

    if (!copy)
        return cli_stored_fail(EXIT_ERROR, "train", "",
                               "the daemon's answer has no training: both must be of one version");
    return cli_answer_print("train", "papertape.training/1", "training", copy);
}

/* A refused configuration is reported line by line. */
static int refused(struct option_call *call, json_t *config, const struct control_error *error)
{
    const struct asked *asked = call->into;

    if (config && strcmp(error->code, "EINVAL") == 0) {
        int status = cli_train_config_check(call->state, asked->config, config, false);
        if (status == EXIT_ERROR)
            return status;
    }
    cli_answer_refused(call, call->arguments[0], error, &cli_answer_trainings, NULL);
    return EXIT_ERROR;
}

static int change(struct option_call *call)
{
    const struct asked *asked = call->into;
    const char *name = call->arguments[0];
    json_t *config = NULL, *args = asked->of.ask.args, *result;
    struct control_error error;
    char cmd[32];
    int status = cli_ask_args_put(call, "name", name);

    if (status != EXIT_OK)
        return status;
    if (asked->config && call->asking)
        return option_fail(call, EXIT_USAGE, "--config: not here: the forms of tab 2 have it");
    if (asked->priority != NOT_GIVEN)
        json_object_set_new(args, "priority", json_integer(asked->priority));
    if (asked->config && !(config = cli_train_config_read(asked->config)))
        return EXIT_ERROR;
    if (config)
        json_object_set(args, "config", config);
    snprintf(cmd, sizeof cmd, "train_%s", call->word);
    status = cli_ask_args_send_quietly(call, cmd, &result, &error);
    if (status == EXIT_OK) {
        json_t *training = json_object_get(result, "training");
        if (call->json)
            status = print_training(training);
        else
            print_done(call, name, training);
        if (!call->asking) /* the list has it */
            cli_train_config_warn(name, training);
        json_decref(result);
    } else if (status == ASK_LINE_FIRST) {
        ;
    } else if (status == EXIT_ERROR) {
        status = refused(call, config, &error);
    } else {
        cli_ask_say("train", &error);
    }
    json_decref(config);
    return status;
}

static int check(struct option_call *call)
{
    const char *path = call->arguments[0];
    json_t *config = cli_train_config_read(path);
    char shown[256];

    if (!config)
        return EXIT_ERROR;
    int status = cli_train_config_check(call->state, path, config, call->json);
    cli_text_clean(shown, sizeof(shown), path);
    if (status == EXIT_OK && !call->json)
        printf("%s: good\n", shown);
    json_decref(config);
    return status;
}

static int print_log(struct option_call *call)
{
    const struct asked *asked = call->into;
    json_t *result;

    if (asked->lines != NOT_GIVEN)
        json_object_set_new(asked->of.ask.args, "lines", json_integer(asked->lines));
    int status = cli_answer_ask(call, "train_log", &cli_answer_trainings, NULL, &result);
    if (status != EXIT_OK)
        return status;
    status = cli_answer_lines(call, result, "papertape.training-log/1", "lines");
    json_decref(result);
    return status;
}

static void init(void *into)
{
    *(struct asked *)into = (struct asked){.priority = NOT_GIVEN, .lines = NOT_GIVEN};
    cli_selected_ask_init(into);
}

static const struct option_action actions[] = {
    {"list", NULL,
     "all of them: state, steps, steps a second, return, verdict, memory; an age older than three of the "
     "expected intervals says STALE, of one older than ten the figures are a dash",
     .need = OPTION_NEEDS_EITHER, OPTION_LISTS, .run = cli_train_list},
    {"start", "TRAINING",
     "starts one. Without --config: the trainer's defaults on the daemon's own bars, with the first "
     "account's cash and fees. A configuration with [study] or [search] starts a study (papertape study "
     "shows it). TRAINING is 1 to 31 letters, digits, -, _ and dots",
     .example = "ppo", .need = OPTION_NEEDS_DAEMON, .acts = true, .run = change},
    {"stop", "TRAINING", "asks for a checkpoint and the end", .need = OPTION_NEEDS_DAEMON, .acts = true,
     .run = change},
    {"resume", "TRAINING", "continues from there", .need = OPTION_NEEDS_DAEMON, .acts = true, .run = change},
    {"restart", "TRAINING",
     "stops it if it runs and continues from its last checkpoint, with --config by another configuration. A "
     "study has none: it continues with the trials that it has",
     .need = OPTION_NEEDS_DAEMON, .acts = true, .run = change},
    {"check", "FILE",
     "all that is wrong with a configuration, by line; the files that it names are not opened",
     .need = OPTION_NEEDS_DAEMON, .run = check},
    {"log", "TRAINING", "the newest lines of what its worker wrote to stderr", .need = OPTION_NEEDS_DAEMON,
     .run = print_log},
};

static const struct option_row options[] = {
    SELECTED_PERIOD_AT(SELECTED_BEHIND, "created", .of = "list"),
    SELECTED_MOMENT_AT(SELECTED_BEHIND, .of = "list"),
    {"config", "FILE", "the configuration, as papertape-trainer train takes it",
     offsetof(struct asked, config), .of = "start restart"},
    {"overwrite", NULL,
     "one of that name that has ended starts again at step 0; a study as another study, NAME@TIME",
     .take = cli_ask_args_take, .of = "start"},
    {"priority", "N", "-100 to 100; higher goes first, and pauses a lower one on its device",
     offsetof(struct asked, priority), .of = "start", .low = -PRIORITY_MOST, .high = PRIORITY_MOST},
    {"lines", "N", "1 to 10000; 200 by default", offsetof(struct asked, lines), .of = "log", .low = 1,
     .high = LINES_MOST},
};

static const struct option_refusal not_taken[] = {
    SELECTED_REFUSED_ACCOUNT("a training has no account: policy list --account has what trades for one")};

CLI_VERB(cli_train) = {
    .name = "train",
    .words = "in the daemon's queue: list, start, stop, resume, restart, check, log",
    .about = "Trainings and studies, which run in the daemon's co-process. Every error of a configuration is "
             "a line, F:LINE: [section] key: why. With --json papertape.trainings/1, of one "
             "papertape.training/1.",
    .exits = "0 of a change once the co-process has written it down, 1 when it was refused, with the reason.",
    .page = "learning",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(not_taken),
    .size = sizeof(struct asked),
    .init = init,
    .finish = cli_ask_args_finish,
};
