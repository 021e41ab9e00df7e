/* A command as a line of the log: what it did, in the order in which a person would say it. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "db/records.h"
#include "tui/history_reader.h"

/* What a command did. `args`: its arguments in order; the words before a %key are left out where the command
 * has no such argument. What is not named there follows. */
struct command_words {
    const char *cmd, *done, *args;
    const char *flag; /* the row is of commands that have it */
};

static const struct command_words known[] = {
    {"account_close", "closed account", "%account", NULL},
    {"account_create", "created account", "%name", NULL},
    {"account_deposit", "deposited", "%amount into %account", NULL},
    {"account_reset", "reset account", "%account", NULL},
    {"account_resume", "resumed account", "%account", NULL},
    {"account_transfer", "transferred", "%amount from %from to %to", NULL},
    {"account_withdraw", "withdrew", "%amount from %account", NULL},
    {"ack", "acknowledged alert", "%alert", NULL},
    {"amend", "amended order", "%order %client_id qty %qty", NULL},
    {"cancel", "canceled all orders", "in %symbol of %account", "all"},
    {"cancel", "canceled order", "%order %client_id", NULL},
    {"flatten", "flattened", "", NULL},
    {"order", "accepted order", "%side %symbol %qty limit %limit stop %stop for %account", NULL},
    {"pause", "paused trading", "", NULL},
    {"policy_promote", "promoted policy", "%name to %to", NULL},
    {"policy_retire", "retired policy", "%name", NULL},
    {"resume", "resumed trading", "", NULL},
    {"symbol_add", "added symbol", "%symbol at %venue", NULL},
    {"symbol_remove", "removed symbol", "%symbol", NULL},
    {"train_restart", "restarted training", "%name", NULL},
    {"train_resume", "resumed training", "%name", NULL},
    {"train_start", "started training", "%name", NULL},
    {"train_stop", "stopped training", "%name", NULL},
};

static const struct command_words *find_words(const char *cmd, const json_t *args)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(cmd, known[i].cmd) == 0 &&
            (!known[i].flag || json_is_true(json_object_get(args, known[i].flag))))
            return &known[i];
    return NULL;
}

enum { ARGS_MAX = 128, ARG_NAME_MAX = 32 };

/* Adds it, or where there is no room for all of it, nothing. */
static void put(char to[static ARGS_MAX], size_t words_len, const char *words, const char *text)
{
    size_t n = strlen(to);

    if (text[0] && n + words_len + strlen(text) + 2 < ARGS_MAX)
        snprintf(to + n, ARGS_MAX - n, " %.*s%s", (int)words_len, words, text);
}

/* "": nothing is said of it. */
static const char *value_text(char buf[static 32], const json_t *value)
{
    if (json_is_integer(value))
        snprintf(buf, 32, "%lld", (long long)json_integer_value(value));
    else
        return json_is_string(value) ? json_string_value(value) : "";
    return buf;
}

/* The arguments that the row names: they are removed from the object. */
static void put_named(char to[static ARGS_MAX], const char *args, json_t *object)
{
    char name[ARG_NAME_MAX], buf[32];

    while (*args) {
        size_t words = strcspn(args, "%"), len = strcspn(args + words + 1, " ");
        snprintf(name, sizeof(name), "%.*s", (int)len, args + words + 1);
        put(to, words, args, value_text(buf, json_object_get(object, name)));
        json_object_del(object, name);
        args += words + 1 + len;
        args += *args == ' ';
    }
}

/* " trail 12.5", " oco", " shorts": a number has its name, since a log has no columns. */
static void put_others(char to[static ARGS_MAX], json_t *object)
{
    static const char *const unsaid[] = {"key", "confirm", "config"};
    char buf[32], words[ARG_NAME_MAX];
    const char *key;
    json_t *value;

    for (size_t i = 0; i < sizeof(unsaid) / sizeof(unsaid[0]); i++)
        json_object_del(object, unsaid[i]);
    json_object_foreach(object, key, value)
    {
        const char *text = json_is_true(value) ? key : value_text(buf, value);
        bool number = text[strspn(text, "+-.0123456789")] == '\0';
        int n = snprintf(words, sizeof(words), "%s ", key);
        put(to, number && n < (int)sizeof(words) ? (size_t)n : 0, words, text);
    }
}

void tui_history_refusal(char *buf, size_t size, const char *result)
{
    json_t *object = json_loads(result, 0, NULL);
    const char *code = "", *message = "";

    if (json_unpack(object, "{s:{s:s, s:s}}", "error", "code", &code, "message", &message) == 0)
        snprintf(buf, size, "%s: %s", code, message);
    else
        snprintf(buf, size, "%s", result);
    json_decref(object);
}

void tui_history_log_command(const struct db_command *row, struct history_log *ret)
{
    const bool done = row->state == DB_COMMAND_DONE;
    json_t *object = json_loads(row->args, 0, NULL);
    const struct command_words *words = find_words(row->cmd, object);
    char args[ARGS_MAX] = "", order[32] = "", refusal[STATUS_TEXT_MAX] = "",
         text[ARGS_MAX + 2 * STATUS_TEXT_MAX];
    long long uid = row->peer_uid;

    tui_history_begin_line(ret, row->ts_ns, "command", (int64_t)row->id, row->state == DB_COMMAND_REFUSED);
    if (words && words->flag) {
        put(args, 0, "", done ? "" : words->flag);
        json_object_del(object, words->flag);
    }
    if (words)
        put_named(args, words->args, object);
    put_others(args, object);
    json_decref(object);
    if (row->state == DB_COMMAND_REFUSED)
        tui_history_refusal(refusal, sizeof(refusal), row->result);
    if (row->order_id && strcmp(row->cmd, "order") == 0) /* which its arguments cannot name */
        snprintf(order, sizeof(order), " %llu:", (unsigned long long)row->order_id);
    if (words && done)
        snprintf(text, sizeof(text), "%s%s%s by uid %lld", words->done, order, args, uid);
    else
        snprintf(text, sizeof(text), "%.20s%s by uid %lld: %s%s%s", row->cmd, args, uid,
                 db_command_state_name(row->state), refusal[0] ? ": " : "", refusal);
    cli_text_clean(ret->text, sizeof(ret->text), text);
}
