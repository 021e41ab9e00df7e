#include <stdio.h>

#include "cli/stored.h"
#include "cli/verbs.h"
#include "record/order.h"

static const char *fee_asset(const void *row, const struct record_context *context)
{
    (void)row;
    return context->symbol->quote;
}

static const struct stored_column columns[] = {
    {"fill", 6},
    {"order", 6},
    {"ts_ns", -24},
    {"account", -10},
    {"symbol", -10},
    {"side", -4},
    {"price", 14},
    {"qty", 14},
    {"notional", 16},
    {"fee", 12},
    {"fee_asset", -6, .derived = fee_asset},
    {"fee_percent", STORED_NOWHERE},
    {"maker", -5},
    {"input_seq", STORED_JSON_ONLY},
    {"by", -11},
};

struct stored_list cli_fills_list(enum stored_form form, FILE *out)
{
    return cli_stored_list_of(&record_fills, columns, sizeof columns / sizeof *columns, form, out);
}

static void print_fill(void *ctx, const struct db_fill_row *row)
{
    cli_stored_record_row(ctx, &row->fill,
                          &(struct record_context){&row->symbol->symbol, row->account->name});
}

static int read(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    (void)call;
    return db_reader_fills(reader, 0, print_fill, list);
}

static int run(struct option_call *call)
{
    struct stored_list list = cli_fills_list(cli_stored_form(call), NULL);
    return cli_stored_print_list(call, "fills", &list, read);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

CLI_VERB(cli_fills) = {
    .name = "fills",
    .words = "every execution ever, as a table, CSV or JSON",
    .about = "Every execution ever, oldest first. A fee is in the symbol's quote asset.",
    .page = "trading",
    OPTION_ACTIONS(actions),
};
