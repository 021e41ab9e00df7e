#include <stdio.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"

enum { RELOAD_TIMEOUT_MS = 60000 }; /* venues are asked for what is new */

static void print_line(FILE *to, const char *text)
{
    cli_text_print(to, text);
    fputc('\n', to);
}

/* "FILE:LINE: [SECTION] KEY = VALUE (before: VALUE)" */
static void print_change(const char *file, const json_t *change, const char *ending)
{
    const json_t *line = json_object_get(change, "line");
    const char *key = cli_answer_text(change, "key");

    cli_text_print(stdout, file);
    if (json_is_integer(line))
        printf(":%lld", (long long)json_integer_value(line));
    fputs(": [", stdout);
    cli_text_print(stdout, cli_answer_text(change, "section"));
    fputs("] ", stdout);
    if (*key) {
        cli_text_print(stdout, key);
        fputs(" = ", stdout);
        cli_text_print(stdout, cli_answer_text(change, "now"));
        fputs(" (before: ", stdout);
        cli_text_print(stdout, cli_answer_text(change, "was"));
        putchar(')');
    } else {
        fputs(json_is_string(json_object_get(change, "now")) ? "is new" : "is gone", stdout);
    }
    puts(ending);
}

/* "FILE: [SECTION] KEY: its file has other contents" */
static void print_contents(const char *file, const json_t *change)
{
    cli_text_print(stdout, file);
    fputs(": [", stdout);
    cli_text_print(stdout, cli_answer_text(change, "section"));
    fputs("] ", stdout);
    cli_text_print(stdout, cli_answer_text(change, "key"));
    puts(": its file has other contents");
}

/* "FILE: SYMBOL is left out, and stays: account NAME holds it" */
static void print_left_out(const char *file, const json_t *left)
{
    cli_text_print(stdout, file);
    fputs(": ", stdout);
    cli_text_print(stdout, cli_answer_text(left, "symbol"));
    fputs(" is left out, and stays: account ", stdout);
    cli_text_print(stdout, cli_answer_text(left, "account"));
    putchar(' ');
    cli_text_print(stdout, cli_answer_text(left, "why"));
    putchar('\n');
}

static void print_done(const struct option_call *call, const json_t *result)
{
    const json_t *applied = json_object_get(result, "applied"), *restart = json_object_get(result, "restart"),
                 *contents = json_object_get(result, "contents"),
                 *left_out = json_object_get(result, "left_out"), *change;
    const char *file = cli_answer_text(result, "file");
    size_t i;

    (void)call;
    json_array_foreach(applied, i, change) print_change(file, change, "");
    json_array_foreach(contents, i, change) print_contents(file, change);
    json_array_foreach(restart, i, change) print_change(file, change, ": needs a restart");
    json_array_foreach(left_out, i, change) print_left_out(file, change);
    cli_text_print(stdout, file);
    if (json_array_size(applied) + json_array_size(contents) + json_array_size(restart) == 0)
        puts(": nothing has changed");
    else
        printf(": %zu taken, %zu need a restart\n", json_array_size(applied) + json_array_size(contents),
               json_array_size(restart));
}

/* Each error of the file in a line of its own. EXIT_OK: there is none. */
static int print_refused(const struct option_call *call, const json_t *reply)
{
    const json_t *errors = json_object_get(json_object_get(reply, "error"), "errors"), *error;
    struct control_error refusal;
    const json_t *result;
    size_t i;

    if (cli_control_reply(reply, &result, &refusal))
        return EXIT_OK;
    if (json_array_size(errors) == 0)
        cli_ask_say(call->verb->name, &refusal);
    json_array_foreach(errors, i, error)
    {
        fprintf(stderr, "papertape: %s: ", call->verb->name);
        print_line(stderr, json_string_value(error) ? json_string_value(error) : "");
    }
    if (json_array_size(errors) > 0)
        fprintf(stderr, "papertape: %s: refused: nothing has changed\n", call->verb->name);
    return EXIT_ERROR;
}

static int reload(struct option_call *call)
{
    struct ask_args *into = call->into;
    struct control_error failure;
    json_t *reply = NULL, *result = NULL;
    int r =
        cli_ask_reply(call->state, "reload", json_incref(into->args), RELOAD_TIMEOUT_MS, &reply, &failure);

    if (r != EXIT_OK)
        cli_ask_say(call->verb->name, &failure);
    else
        r = print_refused(call, reply);
    if (r == EXIT_OK)
        result = json_deep_copy(json_object_get(reply, "result"));
    json_decref(reply);
    return cli_ask_done(call, r, "papertape.reload/1", result, print_done);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_DAEMON, .run = reload}};
static const struct option_row options[] = {
    {"key", "K", "given again with the same key, the command is not executed twice",
     .take = cli_ask_args_take},
};

CLI_VERB(cli_reload) = {
    .name = "reload",
    .words = "the daemon reads its configuration again",
    .about =
        "Has the daemon read its configuration again, as SIGHUP and systemctl reload do. A file with an "
        "error is refused by file and line, and nothing changes; else what a running daemon takes "
        "(papertaped.ini(5) says so of each key) is taken at once: symbols, streams, a venue more, "
        "indicators, limits, strategies and their parameters, alert rules, the log's level, the keys of "
        "venues and the certificates to trust, whose files are read again. What needs a restart is named, here and by "
        "status and doctor until then; so is a symbol that is left out while an account holds it or has an order in "
        "it, which stays. Before any venue has answered nearly all is taken, and they are asked again. "
        "A place of [metrics] that cannot be listened on refuses all of it.",
    .exits = "1: the configuration was refused; the errors are on stderr.",
    .page = "trading",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    ASK_ARGS,
};
