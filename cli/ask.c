#include "cli/ask.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "cli/text.h"
#include "db/state.h"
#include "exchange/exit_status.h"

int cli_ask_usage(const char *verb, const char *words)
{
    fprintf(stderr, "papertape: %s: %s\n", verb, words);
    return EXIT_USAGE;
}

/* Where it shows whether a command was carried out that changes something; NULL: it only looks. */
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
    };

    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        if (strcmp(changing[i].cmd, cmd) == 0)
            return changing[i].by;
    return strncmp(cmd, "account_", strlen("account_")) == 0 ? "account list" : NULL;
}

int cli_ask_quietly(const char *state, const char *cmd, json_t *args, json_t **ret_result,
                    struct control_error *ret_error)
{
    struct state_dir dir;
    struct control_error error = {0};
    char words[512];
    int r = db_state_dir_look(state, &dir, words, sizeof(words));

    if (r == 0)
        r = db_state_dir_check_socket(&dir, words, sizeof(words));
    if (r < 0) {
        json_decref(args);
        cli_text_clean(error.message, sizeof(error.message), words);
        *ret_error = error;
        return r == -EINVAL ? EXIT_USAGE : EXIT_ERROR;
    }
    r = cli_control_call(dir.socket, cmd, args, CONTROL_TIMEOUT_MS, ret_result, ret_error);
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

void cli_ask_args_init(void *into)
{
    ((struct ask_args *)into)->args = json_object();
}

void cli_ask_args_finish(void *into)
{
    json_decref(((struct ask_args *)into)->args);
}

int cli_ask_args_put(struct option_call *call, const char *key, const char *text)
{
    const struct ask_args *into = call->into;

    if (json_object_set_new(into->args, key, json_string(text)) == 0)
        return EXIT_OK;
    return option_fail(call, EXIT_USAGE, "%s: it must be UTF-8", key);
}

int cli_ask_args_take(struct option_call *call, const struct option_row *row, const char *value)
{
    const struct ask_args *into = call->into;
    char key[64];

    snprintf(key, sizeof key, "%s", row->name + (strncmp(row->name, "risk-", 5) == 0 ? 5 : 0));
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
    if (value)
        return cli_ask_args_put(call, key, value);
    json_object_set_new(into->args, key, json_true());
    return EXIT_OK;
}

/* "args.client_id" as "--client-id"; "args.symbol: ", of what is no option but a word, goes. */
void cli_ask_as_options(const struct option_call *call, struct control_error *error)
{
    char text[sizeof error->message];
    char *at = error->message, *end;

    while ((at = strstr(at, "args."))) {
        char name[64], limit[80], shown[96];
        end = at + 5 + strspn(at + 5, "abcdefghijklmnopqrstuvwxyz_");
        snprintf(name, sizeof name, "%.*s", (int)(end - at - 5), at + 5);
        if (strcmp(name, "path") == 0 && option_named(call, "policy")) /* what the file is of */
            strcpy(name, "policy");
        snprintf(limit, sizeof limit, "risk-%s", name);
        bool is_limit = option_named(call, limit), is_option = is_limit || option_named(call, name);
        if (!is_option && strncmp(end, ": ", 2) == 0)
            end += 2;
        snprintf(shown, sizeof shown, "%s%s", is_option ? "--" : "",
                 is_limit    ? limit
                 : is_option ? name
                             : "");
        for (char *c = shown; *c; c++)
            *c = *c == '_' ? '-' : *c;
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - error->message), error->message, shown, end);
        memcpy(error->message, text, sizeof text);
        at += strlen(shown);
    }
}

int cli_ask_args_send_quietly(struct option_call *call, const char *cmd, json_t **ret_result,
                              struct control_error *ret_error)
{
    struct ask_args *into = call->into;
    json_t *args = into->args;

    into->args = NULL;
    return cli_ask_quietly(call->state, cmd, args, ret_result, ret_error);
}

int cli_ask_args_send(struct option_call *call, const char *cmd, json_t **ret_result)
{
    struct control_error error;
    int status = cli_ask_args_send_quietly(call, cmd, ret_result, &error);

    if (status == EXIT_OK)
        return EXIT_OK;
    cli_ask_as_options(call, &error);
    cli_ask_say(call->verb->name, &error);
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
