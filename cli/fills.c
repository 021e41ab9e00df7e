#include "cli/fills.h"

#include <stdio.h>

#include "cli/stored_record.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "record/order.h"

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

struct stored_list cli_fills_list(enum stored_form form, FILE *out)
{
    return cli_stored_record_list(&record_fills, columns, sizeof columns / sizeof *columns, form, out);
}

void cli_fills_row(struct stored_list *list, const struct fill *f, const struct symbol *s,
                   const char *account)
{
    cli_stored_record_row(list, f, &(struct record_context){s, account});
}

static void print_fill(void *ctx, const struct db_fill_row *row)
{
    cli_fills_row(ctx, &row->fill, &row->symbol->symbol, row->account->name);
}

static int run(struct option_call *call)
{
    struct db_reader *reader;
    int r = cli_stored_open("fills", call->state, &reader);
    if (r != EXIT_OK)
        return r;
    struct stored_list list = cli_fills_list(cli_stored_form(call), NULL);
    cli_stored_begin(&list);
    r = db_reader_fills(reader, 0, print_fill, &list);
    cli_stored_end(&list);
    return cli_stored_close("fills", reader, r < 0 ? r : list.r);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

const struct option_verb cli_fills = {
    .name = "fills",
    .words = "every execution ever, as a table, CSV or JSON",
    .about = "Every execution ever, oldest first. A fee is in the symbol's quote asset.",
    .page = "trading",
    OPTION_ACTIONS(actions),
};
