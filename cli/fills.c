#include <stddef.h>
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
    {"fee_base", 12},
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

struct asked {
    bool compare;
    int64_t from_ns, to_ns;
};

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    if (asked->compare)
        return cli_fills_compare(call, asked->from_ns, asked->to_ns);
    struct stored_list list = cli_fills_list(cli_stored_form(call), NULL);
    return cli_stored_print_list(call, "fills", &list, read);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

static const struct option_row options[] = {
    {"compare", NULL, "the venue's fills of accounts with execution = venue-paper beside the model's",
     offsetof(struct asked, compare)},
    {"from", "T", "--compare: orders from T on, as 2024-08-08T14:00:00Z", offsetof(struct asked, from_ns),
     cli_stored_take_time, .after = "compare"},
    {"to", "T", "--compare: orders before T", offsetof(struct asked, to_ns), cli_stored_take_time,
     .after = "compare"},
};

CLI_VERB(cli_fills) = {
    .name = "fills",
    .words = "every execution ever, as a table, CSV or JSON",
    .about =
        "Every execution ever, oldest first. A fee is in the symbol's quote asset; fee_base is one that the "
        "venue took from what was bought.\n\n"
        "With --compare: orders that took from the book at their venue, a line a day: the venue's prices "
        "beside those that the model takes of what the log shows when they arrived, and what latency_ms "
        "and slippage of [engine] fit them. --csv and --json have every order.",
    .page = "trading",
    .size = sizeof(struct asked),
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
};
