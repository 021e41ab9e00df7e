#include "db/books/gains.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/selected.h"
#include "cli/verbs.h"
#include "db/books/journal.h"
#include "db/books/walk.h"
#include "exchange/exit_status.h"

struct asked {
    struct db_selection selection;
    const char *method;
};

/* A row with the texts that are derived from it. */
struct shown {
    struct db_gain gain; /* first: columns of the record are read from it */
    char acquired[STORED_CELL], disposed[STORED_CELL], fills[STORED_CELL];
};

static const char *acquired(const void *row, const struct record_context *context)
{
    (void)context;
    return ((const struct shown *)row)->acquired;
}

static const char *disposed(const void *row, const struct record_context *context)
{
    (void)context;
    return ((const struct shown *)row)->disposed;
}

static const char *fills(const void *row, const struct record_context *context)
{
    (void)context;
    return ((const struct shown *)row)->fills;
}

static const struct stored_column columns[] = {
    {"account", -10},
    {"symbol", -10},
    {"acquired", -24, .derived = acquired},
    {"disposed", -24, .derived = disposed},
    {"qty", 14},
    {"proceeds", 16},
    {"cost", 16},
    {"fees", 12},
    {"gain", 14},
    {"fills", -11, .derived = fills},
    {"days", 5},
    {"epoch", 5},
    {"side", -5},
    {"quote", -6},
    {"acquired_ns", 0},
    {"disposed_ns", 0},
    {"opened_by", 0},
    {"closed_by", 0},
};

static void put_fill(char *text, const char *before, uint64_t fill)
{
    const size_t n = strlen(text);
    if (fill)
        snprintf(text + n, STORED_CELL - n, "%s%llu", before, (unsigned long long)fill);
    else
        snprintf(text + n, STORED_CELL - n, "%s-", before);
}

static const char *time_text(enum stored_form form, char *buf, int64_t ts_ns)
{
    return form == STORED_TABLE ? cli_stored_time(form, buf, ts_ns) : db_books_time(buf, STORED_CELL, ts_ns);
}

static void print_gain(void *ctx, const struct db_gain *gain, const struct record_context *context)
{
    struct stored_list *list = ctx;
    struct shown shown = {.gain = *gain};
    time_text(list->form, shown.acquired, gain->acquired_ns);
    time_text(list->form, shown.disposed, gain->disposed_ns);
    put_fill(shown.fills, "", gain->opened_by);
    put_fill(shown.fills, " ", gain->closed_by);
    cli_stored_record_row(list, &shown, context);
}

static int read(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    const struct asked *asked = call->into;
    const struct db_selection *of = &asked->selection;
    struct db_gains_query query = {.from_ns = of->from_ns, .to_ns = of->to_ns == INT64_MAX ? 0 : of->to_ns};
    if (asked->method && strcmp(asked->method, "average") == 0)
        query.method = DB_GAIN_AVERAGE;
    int r = db_books_account(reader, of->account, &query.account);
    return r == 0 ? db_gains_read(reader, &query, print_gain, list) : r;
}

/* Lots need every row before the period: the walk itself leaves out what is not selected. */
static int run(struct option_call *call)
{
    static const struct db_selected selected = {0};
    struct stored_list list =
        cli_stored_list_of(&db_gains, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);
    return cli_selected_print_list(call, "gains", &list, call->into, &selected, read);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

static const struct option_row options[] = {
    SELECTED_ALL("closed"),
    {"method", "fifo|average",
     "the cost: that of the oldest lots (the default), or the position's average, with the dates of these lots",
     offsetof(struct asked, method)},
};

CLI_VERB(cli_gains) = {
    .name = "gains",
    .words = "what each closed lot made: dates, quantity, cost, fees, fills",
    .about =
        "Realized gains, a row for each part of a lot that a fill closed, in the order of the closings, oldest "
        "lot first: when it was acquired and disposed of, its quantity, proceeds, cost and gain (proceeds less "
        "cost) in the symbol's quote asset, its share of both fills' fees, which the gain is without, the days "
        "between the two dates (UTC), and the two fills. A short (side short) is disposed of first and acquired "
        "later. Splits change a lot's quantity, not its cost and date. A reset ends an account's epoch: its lots "
        "end without a row, and rows from before it stay.",
    .page = "accounts",
    .size = sizeof(struct asked),
    .init = cli_selected_init,
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
};
