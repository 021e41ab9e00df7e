#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/verbs.h"
#include "db/records.h"

enum { CONFIGURED_MAX = 1 << 23 }; /* of as many accounts as there may be, each with the longest path */

static const struct stored_column columns[] = {
    {"name", -16},
    {"role", -10},
    {"account", -12},
    {"state", -9},
    {"equity", 14, STORED_REAL, 2},
    {"return_pct", 10, STORED_REAL, 3},
    {"trades", 6, STORED_INTEGER},
    {"sharpe", 7, STORED_REAL, 2},
    {"verdict", -16},
    {"decided_ns", -24, STORED_TIME},
    {"interval", 0},
    {"backend", -16},
    {"id", -12},
    {"training", 0},
    {"since_ns", 0, STORED_TIME},
    {"path", 0},
    {"actions", 0},
    {"e_value", 8, STORED_REAL, 2},
    {"days", 5, STORED_INTEGER},
    {"against", 0},
    {"expires_ns", -24, STORED_TIME},
    {"proposal", 0},
    {"verdict_text", 0},
    {"limits", 0},
    {"detail", -1},
};

/* As the daemon answers (docs/control.md); null where it knows more than the database. */
static const struct record_key keys[] = {
    {"name"},     {"role"},       {"account"},  {"policy", "id"}, {"training"},     {"path"},
    {"since_ns"}, {"reason"},     {"proposal"}, {"expires_ns"},   {"evidence"},     {"state"},
    {"detail"},   {"backend"},    {"interval"}, {"equity"},       {"return_pct"},   {"trades"},
    {"sharpe"},   {"decided_ns"}, {"actions"},  {"verdict"},      {"verdict_text"}, {"judged_ns", ""},
};

static void take(void *ctx, const struct db_policy *row)
{
    static const char *const none[] = {"expires_ns"};
    json_t *object = record_json_object(&db_record_policies, keys, sizeof keys / sizeof *keys, row,
                                        &(struct record_context){0});

    cli_answer_clear_none(object, none, 1);
    cli_answer_take(ctx, object);
}

/* Those of the configuration, as the last daemon had them: what they did, the database does not say. */
static int read_configured(struct db_reader *reader, struct answer_reading *reading)
{
    char *text = malloc(CONFIGURED_MAX);
    if (!text)
        return -ENOMEM;
    int r = db_reader_meta(reader, "configured_policies", text, CONFIGURED_MAX);
    json_t *list = r == 0 ? json_loads(text, 0, NULL) : NULL, *given;
    size_t i;
    json_array_foreach(list, i, given)
    {
        json_t *object = json_object();
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *name = keys[k].as ? keys[k].as : keys[k].name;
            json_t *value = json_object_get(given, name);
            if (name[0])
                json_object_set(object, name, value ? value : json_null());
        }
        json_object_set_new(object, "role", json_string("configured"));
        cli_answer_take(reading, object);
    }
    json_decref(list);
    free(text);
    return r == -ENOENT ? 0 : r; /* a database of before has none */
}

static int read_policies(struct db_reader *reader, struct answer_reading *reading)
{
    int r = db_reader_policies(reader, take, reading);
    return r == 0 && !reading->past ? read_configured(reader, reading) : r;
}

static void move(json_t *row, const char *name, const json_t *value)
{
    json_object_set(row, name, value ? (json_t *)(uintptr_t)value : json_null());
}

static void prepare(enum stored_form form, json_t *row)
{
    const json_t *evidence = json_object_get(row, "evidence");
    json_t *given = json_object_get(row, "actions");
    char *actions = json_is_object(given) ? json_dumps(given, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

    if (form == STORED_TABLE) /* enough to distinguish them */
        json_object_set_new(
            row, "id", json_stringn(cli_answer_text(row, "id"), strnlen(cli_answer_text(row, "id"), 12)));
    json_object_set_new(row, "actions", json_string(actions ? actions : ""));
    free(actions);
    move(row, "e_value", json_object_get(evidence, "value"));
    move(row, "days", json_object_get(evidence, "days"));
    move(row, "against", json_object_get(evidence, "against"));
    if (!*cli_answer_text(row, "detail"))
        move(row, "detail", json_object_get(row, "reason"));
}

const struct answer_source cli_answer_policies = {
    "policy_list", "policies", "policy", read_policies, columns, (int)(sizeof columns / sizeof *columns),
    prepare};

int cli_policy_list(struct option_call *call)
{
    return cli_answer_list("policy", call->state, &cli_answer_policies,
                           &((const struct ask_selected *)call->into)->selection, cli_stored_form(call));
}
