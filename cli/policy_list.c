#include "cli/policy_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "exchange/exit_status.h"

static const struct told_column columns[] = {
    {"name", -16},
    {"role", -10},
    {"account", -12},
    {"state", -9},
    {"equity", 14, TOLD_REAL, 2},
    {"return_pct", 10, TOLD_REAL, 3},
    {"trades", 6, TOLD_INTEGER},
    {"sharpe", 7, TOLD_REAL, 2},
    {"decided_ns", -24, TOLD_TIME},
    {"interval", 0},
    {"backend", -16},
    {"id", -12},
    {"training", 0},
    {"since_ns", 0, TOLD_TIME},
    {"path", 0},
    {"actions", 0},
    {"e_value", 8, TOLD_REAL, 2},
    {"days", 5, TOLD_INTEGER},
    {"against", 0},
    {"expires_ns", -24, TOLD_TIME},
    {"proposal", 0},
    {"detail", -1},
};

static json_t *row_object(const struct db_policy *row)
{
    char id[POLICY_ID_TEXT];

    policy_id_text(row->id, id);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:o, s:n, s:n, s:n, s:n, s:n, s:n, s:n, "
                     "s:n, s:n, s:n, s:n}",
                     "name", row->name, "role", db_policy_role_name(row->role), "account", row->account, "id",
                     id, "training", row->training, "path", row->path, "since_ns", (json_int_t)row->since_ns,
                     "reason", row->reason, "proposal", row->proposal, "expires_ns",
                     row->expires_ns > 0 ? json_integer(row->expires_ns) : json_null(), "evidence", "state",
                     "detail", "backend", "interval", "equity", "return_pct", "trades", "sharpe",
                     "decided_ns", "actions");
}

struct reading {
    json_t *rows;
    int r;
};

static void take(void *ctx, const struct db_policy *row)
{
    struct reading *reading = ctx;

    if (json_array_append_new(reading->rows, row_object(row)) < 0)
        reading->r = -ENOMEM;
}

static int read_policies(struct db_reader *reader, int64_t now_ns, json_t *rows)
{
    struct reading reading = {.rows = rows};
    int r = db_reader_policies(reader, take, &reading);

    (void)now_ns;
    return r < 0 ? r : reading.r;
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

    if (form == STORED_TABLE) /* enough to tell them apart */
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

int cli_policy_list(const char *state, enum stored_form form)
{
    return cli_answer_list("policy", state, &cli_answer_policies, form);
}
