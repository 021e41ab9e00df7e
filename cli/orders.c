#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/selected.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "record/order.h"

static const struct stored_column columns[] = {
    {"order", 6},      {"created_ns", -7}, {"effective_ns", STORED_JSON_ONLY},
    {"updated_ns", 0}, {"account", -7},    {"symbol", -6},
    {"side", -4},      {"type", -6},       {"state", -6},
    {"reason", -6},    {"qty", 6},         {"filled", 6},
    {"price", 6},      {"stop", 6},        {"cost", 6},
    {"by_hand", 0},    {"tag", -3},        {"input_seq", STORED_JSON_ONLY},
    {"tif", -3},       {"trail", 0},
};

struct stored_list cli_orders_list(enum stored_form form, FILE *out)
{
    return cli_stored_list_of(&record_orders, columns, sizeof columns / sizeof *columns, form, out);
}

static void print_order(void *ctx, const struct db_order_row *row)
{
    cli_stored_record_row(ctx, &row->order,
                          &(struct record_context){row->symbol ? &row->symbol->symbol : NULL,
                                                   row->account ? row->account->name : NULL});
}

static int read(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    (void)call;
    return db_reader_orders(reader, false, 0, print_order, list);
}

/* ---- orders from elsewhere, of accounts at their venue: the daemon alone knows them ---- */

static const struct stored_column external_columns[] = {
    {"account", -10}, {"symbol", -10}, {"side", -4},  {"type", -17},      {"state", -8},
    {"qty", 14},      {"filled", 14},  {"price", 14}, {"client_id", -12}, {"id", -10}};
enum { EXTERNAL_COLUMNS = sizeof external_columns / sizeof *external_columns };

/* An array, the caller's, of what is listed in the status, each with its account. */
static json_t *externals_of(const json_t *status)
{
    json_t *rows = json_array(), *account, *external;
    size_t i, k;

    json_array_foreach(json_object_get(status, "accounts"), i, account)
    {
        const json_t *there = json_object_get(account, "venue_account");
        json_array_foreach(json_object_get(there, "external"), k, external)
        {
            json_t *row = json_pack("{s:O}", "account", json_object_get(account, "account"));
            if (row && json_object_update(row, external) == 0)
                json_array_append(rows, row);
            json_decref(row);
        }
    }
    return rows;
}

static void print_external(struct stored_list *list, const json_t *row)
{
    char buf[EXTERNAL_COLUMNS][STORED_CELL];
    const char *cells[EXTERNAL_COLUMNS];

    for (int i = 0; i < EXTERNAL_COLUMNS; i++) {
        double number = record_json_number(row, external_columns[i].name);
        snprintf(buf[i], STORED_CELL, "%.15g", number);
        cells[i] = isnan(number) ? cli_answer_text(row, external_columns[i].name) : buf[i];
    }
    cli_stored_row(list, cells);
}

/* Takes the rows. */
static int print_externals(enum stored_form form, json_t *rows)
{
    struct stored_list list = {
        .name = "external_orders", .form = form, .columns = external_columns, .n_columns = EXTERNAL_COLUMNS};
    json_t *row;
    size_t i;

    if (form == STORED_JSON)
        return cli_answer_print("orders", "papertape.external_orders/1", "external_orders", rows);
    json_array_foreach(rows, i, row) print_external(&list, row);
    cli_stored_end(&list);
    json_decref(rows);
    return EXIT_OK;
}

static int list_externals(const struct option_call *call)
{
    json_t *status = NULL;
    int r = cli_ask_daemon("orders", call->state, "status", NULL, &status);

    if (r != EXIT_OK)
        return r;
    json_t *rows = externals_of(status);
    json_decref(status);
    return print_externals(cli_stored_form(call), rows);
}

/* Below the table for people, where a daemon runs and there are any. */
static void add_externals(const struct option_call *call)
{
    struct control_error error;
    json_t *status = NULL;

    if (cli_ask_quietly(call->state, "status", NULL, &status, &error) != EXIT_OK)
        return;
    json_t *rows = externals_of(status);
    json_decref(status);
    if (json_array_size(rows) == 0) {
        json_decref(rows);
        return;
    }
    puts("\nfrom elsewhere, left alone here");
    print_externals(STORED_TABLE, rows);
}

struct asked {
    struct db_selection selection;
    bool external;
};

static const struct db_selected selected = {"orders", "account", "created_ns"};

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    struct stored_list list = cli_orders_list(cli_stored_form(call), NULL);
    if (asked->external)
        return list_externals(call);
    int r = cli_selected_print_list(call, "orders", &list, call->into, &selected, read);
    if (r == EXIT_OK && list.form == STORED_TABLE && !cli_selected_any(&asked->selection))
        add_externals(call);
    return r;
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

static const struct option_row options[] = {
    {"external", NULL,
     "instead those that are not ours, at the venue of an account with execution = venue-paper, as the daemon knows "
     "them; papertape.external_orders/1",
     offsetof(struct asked, external), .without = "account from to at"},
    SELECTED_ALL("given"),
};

CLI_VERB(cli_orders) = {
    .name = "orders",
    .words = "all that were ever given, refused ones too",
    .about =
        "Every order ever, oldest first: live, filled, cancelled and rejected ones, with the reason; UNKNOWN is "
        "one of which it is not known whether its venue has it. Orders from elsewhere at an account's venue are "
        "listed below the table, where a daemon runs.",
    .page = "trading",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
    .init = cli_selected_init,
};
