/* `papertape ledger causes`: each row of the ledger beside what it is of. */
#include "cli/ledger_causes.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/selected.h"
#include "db/books.h"
#include "record/print.h"

/* As it is listed: of the ledger's row, and of the cause, whose numbers of the symbol have its scales. */
struct cause_line {
    struct ledger_row row;
    struct ledger_cause cause;
    int64_t epoch;
    const char *account, *symbol, *counterparty, *word, *kind;
};

#define ROW struct cause_line
static const struct record_field fields[] = {
    PRINT_AS(UNSIGNED, REQUIRED, row.id, "id"),
    PRINT_AS(TIME, REQUIRED, row.ts_ns, "ts_ns"),
    PRINT_AS(STRING, REQUIRED, account, "account"),
    PRINT_AS(SIGNED, REQUIRED, epoch, "epoch"),
    PRINT_AS(TEXT, REQUIRED, row.asset, "asset"),
    PRINT_AS(STRING, REQUIRED, word, "kind"),
    PRINT_AS(QUOTE, REQUIRED, row.amount, "amount"),
    PRINT_AS(STRING, OPTIONAL, kind, "cause"),
    PRINT_AS(UNSIGNED, OPTIONAL, cause.event, "event"),
    PRINT_AS(UNSIGNED, OPTIONAL, row.order_id, "order"),
    PRINT_AS(UNSIGNED, OPTIONAL, row.fill_id, "fill"),
    PRINT_AS(STRING, OPTIONAL, symbol, "symbol"),
    PRINT_AS(TEXT, OPTIONAL, cause.action, "action"),
    PRINT_AS(QTY, OPTIONAL, cause.qty, "qty"),
    PRINT_AS(PRICE, OPTIONAL, cause.price, "price"),
    PRINT_AS(QUOTE, OPTIONAL, cause.base, "base"),
    PRINT_AS(SHARE_E6, OPTIONAL, cause.rate_e6, "rate"),
    PRINT_AS(SIGNED, OPTIONAL, cause.hours, "hours"),
    PRINT_AS(QUOTE, OPTIONAL, cause.due, "due"),
    PRINT_AS(STRING, OPTIONAL, counterparty, "counterparty"),
    PRINT_AS(UNSIGNED, OPTIONAL, cause.command, "command"),
    PRINT_AS(TEXT, OPTIONAL, cause.key, "key"),
    PRINT_AS(SIGNED, UNKNOWN, cause.uid, "uid"),
    PRINT_AS(BOOL, REQUIRED, cause.derived, "derived"),
};
static const struct record record = RECORD_OF("ledger_causes", fields);
#undef ROW

static const struct stored_column columns[] = {
    {"id", 6},      {"ts_ns", -24},        {"account", -10}, {"epoch", 5}, {"asset", -5}, {"kind", -10},
    {"amount", 16}, {"cause", -10},        {"event", 8},     {"order", 7}, {"fill", 7},   {"symbol", -9},
    {"action", 0},  {"qty", 12},           {"price", 12},    {"base", 14}, {"rate", 8},   {"hours", 5},
    {"due", 14},    {"counterparty", -10}, {"command", 7},   {"key", -8},  {"uid", 5},    {"derived", 0},
};

static void print_cause(void *ctx, const struct db_cause_row *row)
{
    struct symbol scales = row->symbol ? row->symbol->symbol : (struct symbol){0};
    const struct cause_line line = {.row = row->row,
                                    .cause = row->cause,
                                    .epoch = row->epoch,
                                    .account = row->account->name,
                                    .symbol = row->symbol ? row->symbol->symbol.name : NULL,
                                    .counterparty = row->counterparty ? row->counterparty->name : NULL,
                                    .word = ledger_row_word(&row->row),
                                    .kind = row->known ? ledger_cause_kind_name(row->cause.kind) : NULL};
    scales.quote_scale = row->row.scale;
    cli_stored_record_row(ctx, &line, &(struct record_context){&scales, row->account->name});
}

static int read(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    return db_reader_causes(reader, call->n > 0 ? call->arguments[0] : NULL, print_cause, list);
}

int cli_ledger_causes(struct option_call *call)
{
    struct stored_list list =
        cli_stored_list_of(&record, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);
    static const struct db_selected selected = {"ledger", "account", "ts_ns"};
    return cli_selected_print_list(call, "ledger causes", &list, call->into, &selected, read);
}

/* ---- what has no row ---- */

static const struct stored_column accrual_columns[] = {
    {"id", 6},       {"account", -10}, {"ts_ns", -24}, {"event", 8},  {"cause", -9},
    {"symbol", -10}, {"action", 0},    {"qty", 12},    {"price", 12}, {"base", 14},
    {"rate", 8},     {"hours", 5},     {"due", 14},
};

static void print_accrual(void *ctx, const struct ledger_accrual *row, const struct db_account *account,
                          const struct db_symbol_row *symbol)
{
    struct symbol scales = symbol ? symbol->symbol : (struct symbol){0};
    scales.quote_scale = account->currency_scale;
    cli_stored_record_row(ctx, row, &(struct record_context){&scales, account->name});
}

static int read_accruals(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    (void)call;
    return db_reader_accruals(reader, print_accrual, list);
}

int cli_ledger_accruals(struct option_call *call)
{
    struct stored_list list =
        cli_stored_list_of(&record_ledger_accruals, accrual_columns,
                           sizeof accrual_columns / sizeof *accrual_columns, cli_stored_form(call), NULL);
    static const struct db_selected selected = {"ledger_accruals", "account", "ts_ns"};
    return cli_selected_print_list(call, "ledger accruals", &list, call->into, &selected, read_accruals);
}
