#include "cli/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "db/state.h"
#include "exchange/exit_status.h"

int cli_ask_usage(const char *verb, const char *words)
{
    fprintf(stderr, "papertape: %s: %s\n", verb, words);
    return EXIT_USAGE;
}

/* The verb that shows whether a command that changes something was carried out; NULL: the command only
 * reads. */
static const char *shown_by(const char *cmd)
{
    static const struct {
        const char *cmd, *by;
    } changing[] = {
        {"train_start", "train list"},
        {"train_stop", "train list"},
        {"train_resume", "train list"},
        {"train_restart", "train list"},
        {"policy_promote", "policy list"},
        {"policy_retire", "policy list"},
        {"symbol_add", "symbol list"},
        {"symbol_remove", "symbol list"},
        {"order", "orders"},
        {"amend", "orders"},
        {"cancel", "orders"},
        {"flatten", "positions"},
        {"pause", "status"},
        {"resume", "status"},
        {"ack", "alerts"},
        {"price_alert", "alerts prices"},
        {"price_alert_remove", "alerts prices"},
        {"reload", "status"},
    };

    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        if (strcmp(changing[i].cmd, cmd) == 0)
            return changing[i].by;
    return strncmp(cmd, "account_", strlen("account_")) == 0 ? "account list" : NULL;
}

/* By the socket for operators; where that does not admit this user by the one for readers, if that does. */
static int ask_either(const struct state_dir *dir, const char *cmd, json_t *args, int timeout_ms,
                      json_t **ret_reply, struct control_error *ret_error)
{
    struct control_error ignored;
    json_t *reply = NULL, *read_reply = NULL;
    int r = cli_control_ask(dir->socket, cmd, json_incref(args), timeout_ms, &reply, ret_error);

    if (r == -EACCES || (r == 0 && cli_control_turned_away(reply))) {
        int read =
            cli_control_ask(dir->socket_read, cmd, json_incref(args), timeout_ms, &read_reply, &ignored);
        if (read == 0 && (r < 0 || !cli_control_turned_away(read_reply))) {
            json_decref(reply);
            reply = read_reply;
            r = 0;
        } else {
            json_decref(read_reply);
        }
    }
    json_decref(args);
    *ret_reply = reply;
    return r;
}

int cli_ask_reply(const char *state, const char *cmd, json_t *args, int timeout_ms, json_t **ret_reply,
                  struct control_error *ret_error)
{
    struct state_dir dir;
    struct control_error error = {0};
    char words[512];
    int r = db_state_dir_resolve(state, &dir, words, sizeof(words));

    if (r == 0)
        r = db_state_dir_check_socket(&dir, words, sizeof(words));
    if (r < 0) {
        json_decref(args);
        cli_text_clean(error.message, sizeof(error.message), words);
        *ret_error = error;
        return r == -EINVAL ? EXIT_USAGE : EXIT_ERROR;
    }
    r = ask_either(&dir, cmd, args ? args : json_object(), timeout_ms, ret_reply, ret_error);
    if (r == 0)
        return EXIT_OK;
    if ((r == -ENOENT || r == -EACCES) && db_state_dir_denied(&dir, state, words, sizeof(words))) {
        cli_text_clean(ret_error->message, sizeof(ret_error->message), words);
        return EXIT_ERROR;
    }
    const char *by = r == -ETIMEDOUT || r == -ECONNRESET || r == -EPIPE ? shown_by(cmd) : NULL;
    size_t len = strlen(ret_error->message);
    if (by)
        snprintf(ret_error->message + len, sizeof(ret_error->message) - len,
                 ": it may still be carried out: see papertape %s", by);
    return r == -ENOENT || r == -ECONNREFUSED ? EXIT_NO_DAEMON : EXIT_ERROR;
}

int cli_ask_quietly(const char *state, const char *cmd, json_t *args, json_t **ret_result,
                    struct control_error *ret_error)
{
    json_t *reply = NULL;
    const json_t *result;
    int r = cli_ask_reply(state, cmd, args, CONTROL_TIMEOUT_MS, &reply, ret_error);

    if (r == EXIT_OK && !cli_control_reply(reply, &result, ret_error))
        r = EXIT_ERROR;
    else if (r == EXIT_OK)
        *ret_result = result ? json_deep_copy(result) : json_object();
    json_decref(reply);
    return r;
}

void cli_ask_say(const char *verb, const struct control_error *error)
{
    fprintf(stderr, "papertape: %s: ", verb);
    cli_text_print(stderr, error->code);
    fputs(error->code[0] ? ": " : "", stderr);
    cli_text_print(stderr, error->message);
    fputc('\n', stderr);
}

int cli_ask_daemon(const char *verb, const char *state, const char *cmd, json_t *args, json_t **ret_result)
{
    struct control_error error;
    int status = cli_ask_quietly(state, cmd, args, ret_result, &error);

    if (status != EXIT_OK)
        cli_ask_say(verb, &error);
    return status;
}

void cli_ask_call_say(const struct option_call *call, const struct control_error *error)
{
    char code[sizeof error->code], message[sizeof error->message];

    cli_text_clean(code, sizeof code, error->code);
    cli_text_clean(message, sizeof message, error->message);
    option_fail(call, EXIT_ERROR, "%s%s%s", code, *code ? ": " : "", message);
}

/* The request of a line, or its answer. */
static int of_line(struct ask_line *line, const char *cmd, json_t *args, json_t **ret_result,
                   struct control_error *ret_error)
{
    const json_t *result;

    if (!line->reply) {
        snprintf(line->cmd, sizeof line->cmd, "%s", cmd);
        json_decref(line->args);
        line->args = args ? args : json_object();
        return ASK_LINE_FIRST;
    }
    json_decref(args);
    if (!cli_control_reply(line->reply, &result, ret_error))
        return EXIT_ERROR;
    *ret_result = result ? json_deep_copy(result) : json_object();
    return EXIT_OK;
}

static int call_quietly(struct option_call *call, const char *cmd, json_t *args, json_t **ret_result,
                        struct control_error *ret_error)
{
    if (call->asking)
        return of_line(call->asking, cmd, args, ret_result, ret_error);
    return cli_ask_quietly(call->state, cmd, args, ret_result, ret_error);
}

int cli_ask_call(struct option_call *call, const char *cmd, json_t *args, json_t **ret_result)
{
    struct control_error error;
    int status = call_quietly(call, cmd, args, ret_result, &error);

    if (status != EXIT_OK && status != ASK_LINE_FIRST)
        cli_ask_call_say(call, &error);
    return status;
}

void cli_ask_args_init(void *into)
{
    *(struct ask_args *)into = (struct ask_args){json_object(), json_object()};
}

void cli_ask_args_finish(void *into)
{
    json_decref(((struct ask_args *)into)->args);
    json_decref(((struct ask_args *)into)->options);
}

bool cli_ask_id(const char *text, json_int_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *ret > 0;
}

int cli_ask_args_put(struct option_call *call, const char *key, const char *text)
{
    const struct ask_args *into = call->into;

    if (json_object_set_new(into->args, key, json_string(text)) == 0)
        return EXIT_OK;
    return option_fail(call, EXIT_USAGE, "%s: it must be UTF-8", key);
}

enum { ARGUMENT_MAX = 64 };

static void argument_of(const struct option_row *row, char ret[static ARGUMENT_MAX])
{
    snprintf(ret, ARGUMENT_MAX, "%s", row->arg ? row->arg : row->name);
    for (char *c = ret; *c && !row->arg; c++)
        *c = *c == '-' ? '_' : *c;
}

int cli_ask_args_take(struct option_call *call, const struct option_row *row, const char *value)
{
    const struct ask_args *into = call->into;
    char key[ARGUMENT_MAX];

    argument_of(row, key);
    if (value)
        return cli_ask_args_put(call, key, value);
    json_object_set_new(into->args, key, json_true());
    return EXIT_OK;
}

/* The option of an argument; NULL: it has none. */
static const char *option_of(const struct option_call *call, const char *argument)
{
    const struct ask_args *into = call->into;
    const char *moved = json_string_value(json_object_get(into->options, argument));
    const struct option_row *row;

    for (size_t i = 0; !moved && (row = option_row(call->program, call->verb, i)); i++) {
        char name[ARGUMENT_MAX];
        if (!row->name || !option_row_is_of(row, call->action))
            continue;
        argument_of(row, name);
        if (strcmp(name, argument) == 0)
            return row->name;
    }
    return moved;
}

void cli_ask_args_moved(const struct option_call *call, const char *from, const char *argument)
{
    const struct ask_args *into = call->into;
    const char *option = option_of(call, from);

    if (option && !json_object_get(into->options, argument))
        json_object_set_new(into->options, argument, json_string(option));
}

/* What the user typed for an argument: "--expire" for expire_ns, "--set fast" for params.fast; else its
 * own name. */
static void shown_as(const struct option_call *call, const char *argument, char *ret, size_t size)
{
    const char *option = option_of(call, argument);
    const char *part = option ? NULL : strchr(argument, '.');
    char whole[ARGUMENT_MAX];

    snprintf(whole, sizeof whole, "%.*s", (int)(part ? part - argument : 0), argument);
    option = part ? option_of(call, whole) : option;
    int n = snprintf(ret, size, "%s%s", option ? "--" : "", option ? option : argument);
    for (char *c = ret; option && *c; c++)
        *c = *c == '_' ? '-' : *c;
    if (option && part)
        snprintf(ret + n, size - (size_t)n, " %s", part + 1);
}

/* "args.client_id" as "--client-id"; "args.symbol: ", of what is no option but a word, goes. */
void cli_ask_as_options(const struct option_call *call, struct control_error *error)
{
    static const char characters[] = "abcdefghijklmnopqrstuvwxyz_0123456789.";
    char text[sizeof error->message];
    char *at = error->message;

    while ((at = strstr(at, "args."))) {
        char name[ARGUMENT_MAX], shown[2 * ARGUMENT_MAX];
        size_t n = strspn(at + 5, characters);
        n -= n > 0 && at[5 + n - 1] == '.';
        const char *end = at + 5 + n;
        snprintf(name, sizeof name, "%.*s", (int)n, at + 5);
        shown_as(call, name, shown, sizeof shown);
        if (*shown != '-' && strncmp(end, ": ", 2) == 0) {
            *shown = '\0';
            end += 2;
        }
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - error->message), error->message, shown, end);
        memcpy(error->message, text, sizeof text);
        at += strnlen(at, strlen(shown)); /* where it was cut, no further */
    }
}

int cli_ask_args_send_quietly(struct option_call *call, const char *cmd, json_t **ret_result,
                              struct control_error *ret_error)
{
    struct ask_args *into = call->into;
    json_t *args = into->args;

    into->args = NULL;
    return call_quietly(call, cmd, args, ret_result, ret_error);
}

int cli_ask_args_send(struct option_call *call, const char *cmd, json_t **ret_result)
{
    struct control_error error;
    int status = cli_ask_args_send_quietly(call, cmd, ret_result, &error);

    if (status == EXIT_OK || status == ASK_LINE_FIRST)
        return status;
    cli_ask_as_options(call, &error);
    cli_ask_call_say(call, &error);
    return status;
}

int cli_ask_print(const struct option_call *call, const char *schema, json_t *answer)
{
    json_t *object = json_pack("{s:s}", "schema", schema);
    if (object && json_object_update(object, answer) < 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(answer);
    return cli_stored_print(call->verb->name, object, 15);
}

int cli_ask_done(const struct option_call *call, int status, const char *schema, json_t *answer,
                 void (*print)(const struct option_call *call, const json_t *answer))
{
    if (status != EXIT_OK)
        return status;
    if (call->json)
        return cli_ask_print(call, schema, answer);
    print(call, answer);
    json_decref(answer);
    return EXIT_OK;
}

static void print_words(FILE *out, const json_t *list)
{
    const json_t *of;
    size_t i;

    json_array_foreach(list, i, of)
    {
        const json_t *order = json_object_get(of, "order"); /* a dry run's has none */
        if (order)
            fprintf(out, "order %lld ", (long long)json_integer_value(order));
        cli_text_print(out, cli_answer_text(of, "words"));
        fputc('\n', out);
    }
}

void cli_ask_print_notes(FILE *out, const json_t *result)
{
    print_words(out, json_object_get(result, "waits"));
    print_words(out, json_object_get(result, "sent"));
}
