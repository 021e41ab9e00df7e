#include "cli/account_books.h"

#include <stddef.h>
#include <stdio.h>

#include "cli/selected.h"
#include "db/books.h"
#include "db/records.h"
#include "record/account.h"
#include "record/print.h"

/* ---- terms ---- */

struct terms_line {
    struct db_account account;
    int64_t id, epoch;
    const char *name, *params;
};

#define ROW               struct terms_line
#define RULE(member, ...) RECORD_FIELD_(account.rules.member, __VA_ARGS__)
static const struct record_field terms_fields[] = {
    PRINT_AS(SIGNED, REQUIRED, id, "id"),
    PRINT_AS(STRING, REQUIRED, name, "account"),
    PRINT_AS(SIGNED, REQUIRED, epoch, "epoch"),
    PRINT_AS(TIME, REQUIRED, account.change.since_ns, "since_ns"),
    PRINT_FIELD_(WORD, REQUIRED, account.change.why, "why", &db_words_terms_why),
    PRINT_AS(UNSIGNED, REQUIRED, account.change.event, "event"),
    PRINT_AS(UNSIGNED, OPTIONAL, account.change.command, "command"),
    PRINT_AS(TEXT, OPTIONAL, account.change.key, "key"),
    PRINT_AS(SIGNED, UNKNOWN, account.change.uid, "uid"),
    PRINT_AS(TEXT, REQUIRED, account.currency, "currency"),
    PRINT_AS(QUOTE, REQUIRED, account.cash, "opening_cash"),
    PRINT_AS(TEXT, OPTIONAL, account.strategy, "strategy"),
    PRINT_AS(STRING, OPTIONAL, params, "params"),
    PRINT_FIELD_(WORD, REQUIRED, account.session, "session", &record_words_session_choice),
    RECORD_RULES(RULE, RULE) RECORD_STOCK_RULES(RULE) RECORD_CLASS_FEES(RULE)
        PRINT_AS(TIME, OPTIONAL, account.closed_ns, "closed_ns"),
};
static const struct record terms_record = RECORD_OF("account_terms", terms_fields);
#undef RULE
#undef ROW

static const struct stored_column terms_columns[] = {
    {"id", 5},
    {"account", -10},
    {"epoch", 5},
    {"since_ns", -24},
    {"why", -10},
    {"event", 8},
    {"command", 7},
    {"key", -8},
    {"uid", 5},
    {"currency", -8},
    {"opening_cash", 0},
    {"strategy", -12},
    {"params", 0, .json = true},
    {"session", 0},
    {"fee_maker", 9},
    {"fee_taker", 9},
    {"shorts", 6},
    {"collateral", 10},
    {"maintenance", 11},
    {"borrow_rate", 11},
    {"margin", -8},
    {"settlement", 0},
    {"pattern_day_trader", 0},
    {"closed_ns", -24},
    {"exposure_symbol", 0},
    {"exposure_account", 0},
    {"daily_loss", 0},
    {"orders_per_second", 0},
    {"drawdown", 0},
    {"price_band", 0},
    {"cooldown_s", 0},
    {"positions", 0},
    {"class_fees", 0},
    {"crypto_fee_maker", 0},
    {"crypto_fee_taker", 0},
    {"us_equity_fee_maker", 0},
    {"us_equity_fee_taker", 0},
};

static void print_terms(void *ctx, const struct db_terms *row, const struct db_account *of)
{
    const struct terms_line line = {.account = row->account,
                                    .id = (int64_t)row->id,
                                    .epoch = row->epoch,
                                    .name = of->name,
                                    .params = row->account.strategy[0] ? row->params : NULL};
    const struct symbol currency = {.quote_scale = row->account.currency_scale};
    cli_stored_record_row(ctx, &line, &(struct record_context){.symbol = &currency});
}

static int read_terms(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    return db_reader_terms(reader, call->n > 0 ? call->arguments[0] : NULL, print_terms, list);
}

int cli_account_terms(struct option_call *call)
{
    static const struct db_selected selected = {"account_terms", "account", "since_ns"};
    const struct ask_selected *asked = call->into;
    struct stored_list list =
        cli_stored_list_of(&terms_record, terms_columns, sizeof terms_columns / sizeof *terms_columns,
                           cli_stored_form(call), NULL);
    return cli_selected_print_list(call, "account terms", &list, &asked->selection, &selected, read_terms);
}

/* ---- epochs ---- */

struct epoch_line {
    struct db_epoch_row row;
    const char *account, *currency, *symbol, *ended;
};

#define ROW struct epoch_line
/* Of a symbol, or of the money: the other has no value. */
static const struct record_field epoch_fields[] = {
    PRINT_AS(STRING, REQUIRED, account, "account"),
    PRINT_AS(SIGNED, REQUIRED, row.epoch, "epoch"),
    PRINT_AS(TIME, REQUIRED, row.from_ns, "from_ns"),
    PRINT_AS(TIME, OPTIONAL, row.to_ns, "to_ns"),
    PRINT_AS(STRING, OPTIONAL, ended, "ended"),
    PRINT_AS(STRING, REQUIRED, currency, "currency"),
    PRINT_AS(STRING, OPTIONAL, symbol, "symbol"),
    PRINT_AS(QUOTE, ABSENT, row.flows, "flows"),
    PRINT_AS(QUOTE, ABSENT, row.interest, "interest"),
    PRINT_AS(QUOTE, ABSENT, row.dividends, "dividends"),
    PRINT_AS(QUOTE, ABSENT, row.resets, "written_off"),
    PRINT_AS(QTY, ABSENT, row.position.qty, "qty"),
    PRINT_AS(QUOTE, ABSENT, row.position.cost, "cost"),
    PRINT_AS(QUOTE, ABSENT, row.position.realized, "realized"),
    PRINT_AS(QUOTE, ABSENT, row.position.fifo_cost, "fifo_cost"),
    PRINT_AS(QUOTE, ABSENT, row.position.fifo_realized, "fifo_realized"),
    PRINT_AS(QUOTE, ABSENT, row.position.fees, "fees"),
};
static const struct record epoch_record = RECORD_OF("account_epochs", epoch_fields);
#undef ROW

static const struct stored_column epoch_columns[] = {
    {"account", -10},      {"epoch", 5},    {"from_ns", -24}, {"to_ns", -24},   {"ended", -6},
    {"currency", -8},      {"symbol", -10}, {"flows", 14},    {"interest", 12}, {"dividends", 12},
    {"written_off", 14},   {"qty", 14},     {"cost", 14},     {"realized", 14}, {"fifo_cost", 0},
    {"fifo_realized", 14}, {"fees", 12},
};

static void print_epoch(void *ctx, const struct db_epoch_row *row)
{
    struct epoch_line line = {.row = *row,
                              .account = row->account->name,
                              .currency = row->symbol ? row->symbol->symbol.quote : row->account->currency,
                              .symbol = row->symbol ? row->symbol->symbol.name : NULL,
                              .ended = row->closed  ? "closed"
                                       : row->to_ns ? "reset"
                                                    : NULL};
    struct symbol scales =
        row->symbol ? row->symbol->symbol : (struct symbol){.quote_scale = row->account->currency_scale};
    if (row->symbol) {
        line.row.flows = line.row.interest = line.row.dividends = line.row.resets = INT64_MIN;
    } else {
        struct position *none = &line.row.position;
        none->qty = none->cost = none->realized = none->fifo_cost = none->fifo_realized = INT64_MIN;
        none->fees = row->fees;
    }
    cli_stored_record_row(ctx, &line, &(struct record_context){.symbol = &scales});
}

/* The walk needs every row until then: it leaves out other accounts itself. */
static int read_epochs(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    const struct ask_selected *asked = call->into;
    return db_reader_epochs(reader, call->n > 0 ? call->arguments[0] : asked->selection.account, print_epoch,
                            list);
}

int cli_account_epochs(struct option_call *call)
{
    static const struct db_selected selected = {0};
    const struct ask_selected *asked = call->into;
    struct stored_list list =
        cli_stored_list_of(&epoch_record, epoch_columns, sizeof epoch_columns / sizeof *epoch_columns,
                           cli_stored_form(call), NULL);
    return cli_selected_print_list(call, "account epochs", &list, &asked->selection, &selected, read_epochs);
}
