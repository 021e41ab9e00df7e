#include <stdio.h>

#include "cli/stored.h"
#include "cli/verbs.h"
#include "record/order.h"

static const struct stored_column columns[] = {
    {"order", 6},      {"created_ns", -24}, {"effective_ns", STORED_JSON_ONLY},
    {"updated_ns", 0}, {"account", -10},    {"symbol", -10},
    {"side", -4},      {"type", -17},       {"state", -8},
    {"reason", -20},   {"qty", 14},         {"filled", 14},
    {"price", 14},     {"stop", 14},        {"cost", 16},
    {"by_hand", 0},    {"tag", -12},        {"input_seq", STORED_JSON_ONLY},
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

static int run(struct option_call *call)
{
    struct stored_list list = cli_orders_list(cli_stored_form(call), NULL);
    return cli_stored_print_list(call, "orders", &list, read);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

CLI_VERB(cli_orders) = {
    .name = "orders",
    .words = "all that were ever given, refused ones too",
    .about = "Every order ever, oldest first: live, filled, cancelled and rejected ones, with the reason.",
    .page = "trading",
    OPTION_ACTIONS(actions),
};
