/* `papertape commands`: who asked what, when, and what became of it. */
#include <stdio.h>

#include "cli/selected.h"
#include "cli/verbs.h"
#include "db/row.h"
#include "record/account.h"
#include "record/print.h"

struct command_listed {
    struct db_command row;
};

#define ROW struct command_listed
static const struct record_field fields[] = {
    PRINT_AS(UNSIGNED, REQUIRED, row.id, "id"),
    PRINT_AS(TIME, REQUIRED, row.ts_ns, "ts_ns"),
    PRINT_AS(SIGNED, UNKNOWN, row.peer_uid, "uid"),
    PRINT_AS(SIGNED, UNKNOWN, row.peer_pid, "pid"),
    PRINT_AS(STRING, REQUIRED, row.cmd, "cmd"),
    PRINT_FIELD_(WORD, REQUIRED, row.state, "state", &db_words_command_state),
    PRINT_AS(STRING, REQUIRED, row.args, "args"),
    PRINT_AS(STRING, OPTIONAL, row.result, "result"),
    PRINT_AS(STRING, OPTIONAL, row.key, "key"),
    PRINT_AS(UNSIGNED, OPTIONAL, row.order_id, "order"),
    PRINT_AS(UNSIGNED, OPTIONAL, row.event, "event"),
};
static const struct record record = RECORD_OF("commands", fields);
#undef ROW

static const struct stored_column columns[] = {
    {"id", 6},       {"ts_ns", -24}, {"uid", 6},   {"pid", 0},   {"cmd", -16},
    {"state", -8},   {"order", 7},   {"event", 8}, {"key", -10}, {"args", -20, .json = true},
    {"result", -20},
};

static void print_command(void *ctx, const struct db_command *row)
{
    const struct command_listed line = {.row = *row};
    cli_stored_record_row(ctx, &line, &(struct record_context){0});
}

static int read(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    (void)call;
    return db_reader_commands(reader, -1, print_command, list);
}

static int run(struct option_call *call)
{
    struct stored_list list =
        cli_stored_list_of(&record, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);
    static const struct db_selected selected = {"commands", NULL, "ts_ns"};
    return cli_selected_print_list(call, "commands", &list, call->into, &selected, read);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

static const struct option_row options[] = {
    SELECTED_PERIOD("asked for"),
    SELECTED_MOMENT(),
};
static const struct option_refusal refused[] = {SELECTED_REFUSED_ACCOUNT(
    "a command is of accounts as its arguments say: account terms and ledger causes have each "
    "account's")};

CLI_VERB(cli_commands) = {
    .name = "commands",
    .words = "who asked the daemon for what, as a table, CSV or JSON",
    .about =
        "Every command that the daemon carried out or refused, newest first: the client's user and process, "
        "the command and its arguments, whether it was done, the answer, its key, the first order that it "
        "made or named, and its first event in the event log. papertape ledger causes names the command of each "
        "movement of money, papertape account terms that of each change of an account.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct db_selection),
    .init = cli_selected_init,
};
