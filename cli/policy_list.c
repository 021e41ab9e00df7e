#include "cli/policy_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/told.h"
#include "exchange/exit_status.h"

static const struct stored_column columns[] = {
    {"name", -16},      {"role", -10},  {"account", -12}, {"state", -9},       {"equity", 14},
    {"return_pct", 10}, {"trades", 6},  {"sharpe", 7},    {"decided_ns", -24}, {"interval", 0},
    {"backend", -16},   {"id", -12},    {"training", 0},  {"since_ns", 0},     {"path", 0},
    {"actions", 0},     {"e_value", 8}, {"days", 5},      {"against", 0},      {"expires_ns", -24},
    {"proposal", 0},    {"detail", -1},
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

const struct told_source told_policies = {"policy_list", "policies", "policy", read_policies};

static void print_row(struct stored_list *list, const json_t *row)
{
    enum { EQUITY, RETURN, TRADES, SHARPE, DECIDED, SINCE, ID, VALUE, DAYS, EXPIRES, CELLS };
    enum stored_form form = list->form;
    char cell[CELLS][STORED_CELL];
    const char *detail = told_text(row, "detail");
    json_t *given = json_object_get(row, "actions");
    const json_t *evidence = json_object_get(row, "evidence");
    char *actions = json_is_object(given) ? json_dumps(given, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

    snprintf(cell[ID], STORED_CELL, "%.12s", told_text(row, "id")); /* enough to tell them apart */
    const char *const cells[] = {
        told_text(row, "name"),
        told_text(row, "role"),
        told_text(row, "account"),
        told_text(row, "state"),
        told_real(cell[EQUITY], row, "equity", 2),
        told_real(cell[RETURN], row, "return_pct", 3),
        told_integer(cell[TRADES], row, "trades"),
        told_real(cell[SHARPE], row, "sharpe", 2),
        told_time(form, cell[DECIDED], row, "decided_ns"),
        told_text(row, "interval"),
        told_text(row, "backend"),
        form == STORED_CSV ? told_text(row, "id") : cell[ID],
        told_text(row, "training"),
        told_time(form, cell[SINCE], row, "since_ns"),
        told_text(row, "path"),
        actions ? actions : "",
        told_real(cell[VALUE], evidence, "value", 2),
        told_integer(cell[DAYS], evidence, "days"),
        told_text(evidence, "against"),
        told_time(form, cell[EXPIRES], row, "expires_ns"),
        told_text(row, "proposal"),
        *detail ? detail : told_text(row, "reason"),
    };
    stored_row(list, cells);
    free(actions);
}

int policy_list(const char *state, enum stored_form form)
{
    struct stored_list list = {
        .name = "policies", .form = form, .columns = columns, .n_columns = sizeof columns / sizeof *columns};

    return told_list("policy", "papertape.policies/1", state, &told_policies, &list, print_row);
}
