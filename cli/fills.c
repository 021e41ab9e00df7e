#include "cli/fills.h"

#include <stdio.h>

#include "cli/stored_record.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "record/order.h"

static const char help[] = "Usage: papertape fills [--csv|--json] [--state DIR]\n"
                           "\n"
                           "Every execution ever, oldest first. A fee is in the symbol's quote asset.\n"
                           "\n"
                           "  --csv        exact decimals, times in ns\n"
                           "  --json       papertape.fills/1\n"
                           "  --state DIR  the daemon's state directory\n";

static const char *fee_asset(const struct record_context *context)
{
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
    {"fee_asset", -6, fee_asset},
    {"fee_percent", STORED_NOWHERE},
    {"maker", -5},
    {"input_seq", STORED_JSON_ONLY},
};

struct stored_list fills_list(enum stored_form form, FILE *out)
{
    return stored_record_list(&record_fills, columns, sizeof columns / sizeof *columns, form, out);
}

void fills_row(struct stored_list *list, const struct fill *f, const struct symbol *s, const char *account)
{
    stored_record_row(list, f, &(struct record_context){s, account});
}

static void print_fill(void *ctx, const struct db_fill_row *row)
{
    fills_row(ctx, &row->fill, &row->symbol->symbol, row->account->name);
}

static int run_line(int argc, char **argv)
{
    struct stored_options options;
    struct db_reader *reader;
    int r = stored_options(argc, argv, "csv json", help, &options);
    if (r != EXIT_OK || options.done)
        return r;
    if (options.first < argc)
        return stored_fail(EXIT_USAGE, "fills", argv[options.first], "no argument is expected");
    r = stored_open("fills", options.state, &reader);
    if (r != EXIT_OK)
        return r;
    struct stored_list list = fills_list(options.form, NULL);
    stored_begin(&list);
    r = db_reader_fills(reader, 0, print_fill, &list);
    stored_end(&list);
    return stored_close("fills", reader, r < 0 ? r : list.r);
}

const struct option_verb cli_fills = {
    .name = "fills", .words = "every execution ever, as a table, CSV or JSON", .run = run_line};
