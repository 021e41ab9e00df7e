/* Dividends between their ex-date and their payment, and rates by volume. */
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "cli/selected.h"
#include "db/records.h"

/* ---- receivables ---- */

static const struct stored_column receivable_columns[] = {
    {"receivable", 10},
    {"ts_ns", -24},
    {"account", -12},
    {"kind", -11},
    {"symbol", -10},
    {"qty", 14},
    {"gross", 12},
    {"withheld", 10},
    {"amount", 12},
    {"paid", 12},
    {"asset", -6},
    {"ex_ns", -24},
    {"pay_ns", -24},
    {"booked", 8},
    {"ledger", 0},
    {"id", -1},
    {"scale", STORED_JSON_ONLY},
    {"qty_scale", STORED_JSON_ONLY},
    {"input_seq", STORED_JSON_ONLY},
};

static void print_receivable(void *ctx, const struct receivable_row *row, const struct db_account *account)
{
    const struct symbol scales = {.qty_scale = row->of.qty_scale, .quote_scale = row->of.scale};
    cli_stored_record_row(
        ctx, row, &(struct record_context){.symbol = &scales, .account = account ? account->name : NULL});
}

static int read_receivables(struct db_reader *reader, const struct option_call *call,
                            struct stored_list *list)
{
    (void)call;
    return db_reader_receivables(reader, print_receivable, list);
}

static int receivables(struct option_call *call)
{
    struct stored_list list = cli_stored_list_of(&engine_record_receivables, receivable_columns,
                                                 sizeof receivable_columns / sizeof *receivable_columns,
                                                 cli_stored_form(call), NULL);
    list.name = "receivables";
    static const struct db_selected selected = {"receivables", "account", "ts_ns"};
    return cli_selected_print_list(call, "receivables", &list, call->into, &selected, read_receivables);
}

static const struct option_action receivables_rows[] = {
    {.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = receivables}};
static const struct option_row receivables_options[] = {SELECTED_ALL("booked, paid or written off")};

CLI_VERB(cli_receivables) = {
    .name = "receivables",
    .words = "dividends that are booked, paid, or written off",
    .about =
        "What became of each account's dividends that are paid later than they are booked, or of which tax is "
        "withheld, oldest first: booked at the ex-date, paid in cash at the pay date, or written off by a "
        "reset. Of a short amounts are below 0. Those that are paid at once, and whole, are in the ledger "
        "alone.",
    .page = "accounts",
    OPTION_ACTIONS(receivables_rows),
    OPTION_OPTIONS(receivables_options),
    .size = sizeof(struct db_selection),
    .init = cli_selected_init,
};

/* ---- rates by volume ---- */

static const char *day_of(const void *row, const struct record_context *context)
{
    static char text[16];
    const struct fee_rate_change *change = row;
    char time[STORED_CELL];
    (void)context;
    snprintf(text, sizeof text, "%.10s",
             cli_stored_time(STORED_TABLE, time, change->day * 86400 * INT64_C(1000000000)));
    return text;
}

static const struct stored_column rate_columns[] = {
    {"change", 6},    {"ts_ns", -24},
    {"account", -12}, {"day", -10, .derived = day_of},
    {"volume", 18},   {"maker", 9},
    {"taker", 9},     {"last_fill", 9},
    {"tiers", -1},    {"input_seq", STORED_JSON_ONLY},
};

static void print_rate(void *ctx, const struct fee_rate_change *row, const struct db_account *account)
{
    const struct symbol scales = {.quote_scale = account ? account->currency_scale : 0};
    cli_stored_record_row(
        ctx, row, &(struct record_context){.symbol = &scales, .account = account ? account->name : NULL});
}

static int read_rates(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    (void)call;
    return db_reader_fee_rates(reader, print_rate, list);
}

static int fee_rates(struct option_call *call)
{
    struct stored_list list =
        cli_stored_list_of(&engine_record_fee_rates, rate_columns, sizeof rate_columns / sizeof *rate_columns,
                           cli_stored_form(call), NULL);
    list.name = "fee_rates";
    static const struct db_selected selected = {"fee_rates", "account", "ts_ns"};
    return cli_selected_print_list(call, "fee-rates", &list, call->into, &selected, read_rates);
}

static const struct option_action rates_rows[] = {
    {.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = fee_rates}};
static const struct option_row rates_options[] = {SELECTED_ALL("changed")};

CLI_VERB(cli_fee_rates) = {
    .name = "fee-rates",
    .words = "changes of accounts' rates by their volume",
    .about =
        "When the rates of an account with fee_tiers changed, oldest first: the UTC day from whose beginning "
        "on they hold, the volume of the 30 days before it, and the schedule.",
    .page = "accounts",
    OPTION_ACTIONS(rates_rows),
    OPTION_OPTIONS(rates_options),
    .size = sizeof(struct db_selection),
    .init = cli_selected_init,
};
