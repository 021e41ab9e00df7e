#include <stddef.h>
#include <stdio.h>

#include "cli/selected.h"
#include "cli/verbs.h"
#include "record/order.h"

static const char *fee_asset(const void *row, const struct record_context *context)
{
    (void)row;
    return context->symbol->quote;
}

/* Its rate is not known of a fill that its venue charged, nor of one from before rates were stored. */
static bool has_rate(const struct fill *fill)
{
    const bool free = fill->fee == fill->sec_fee + fill->taf_fee;
    return fill->basis != FILL_BASIS_VENUE && (fill->fee_e6 > 0 || free);
}

static const char *rate(const void *row, const struct record_context *context)
{
    static char text[DECIMAL_TEXT_MAX];
    (void)context;
    if (!has_rate(row))
        return "";
    decimal_format_short(((const struct fill *)row)->fee_e6, 6, text);
    return text;
}

/* What the rate is of: the fee is that, rounded up, with sec_fee and taf_fee. */
static const char *base(const void *row, const struct record_context *context)
{
    static char text[DECIMAL_TEXT_MAX];
    if (!has_rate(row))
        return "";
    decimal_format(((const struct fill *)row)->notional, context->symbol->quote_scale, text);
    return text;
}

static const char *liquidity(const void *row, const struct record_context *context)
{
    (void)context;
    return ((const struct fill *)row)->maker ? "maker" : "taker";
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
    {"rate", 0, .derived = rate, .json = true},
    {"base", 0, .derived = base, .json = true},
    {"liquidity", 0, .derived = liquidity},
};

void cli_fills_derived(json_t *object, const struct fill *fill, const struct record_context *context)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i].derived)
            json_object_set_new(object, columns[i].name, cli_stored_derived(&columns[i], fill, context));
}

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
    struct db_selection selection;
    bool compare;
};

static const struct db_selected selected = {"fills", "account", "ts_ns"};

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    if (asked->compare)
        return cli_fills_compare(call, asked->selection.from_ns == INT64_MIN ? 0 : asked->selection.from_ns,
                                 asked->selection.to_ns == INT64_MAX ? 0 : asked->selection.to_ns);
    struct stored_list list = cli_fills_list(cli_stored_form(call), NULL);
    return cli_selected_print_list(call, "fills", &list, call->into, &selected, read);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

static const struct option_row options[] = {
    {"compare", NULL, "the venue's fills of accounts with execution = venue-paper beside the model's",
     offsetof(struct asked, compare), .without = "account at"},
    SELECTED_ALL("executed, with --compare ordered,"),
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
    .init = cli_selected_init,
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
};
