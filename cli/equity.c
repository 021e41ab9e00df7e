#include "cli/verbs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/selected.h"
#include "db/equity_curve.h"
#include "db/records.h"
#include "exchange/exit_status.h"

struct asked {
    struct db_selection selection;
    bool marks;
};

static const struct db_selected selected = {"equity", "account", "ts_ns"},
                                selected_marks = {"marks", "account", "ts_ns"};

static const struct stored_column columns[] = {
    {"account", -10}, {"currency", -8}, {"ts_ns", -24},  {"equity", 16},
    {"cash", 16},     {"peak", 16},     {"drawdown", 8},
};

static int print_line(void *ctx, const struct db_curve_row *row)
{
    struct stored_list *list = ctx;
    const int64_t money[] = {row->point.equity, row->point.cash, row->point.peak};
    char time[STORED_CELL], cell[3][STORED_CELL], drawdown[FORMAT_MAX];
    const char *cells[] = {row->account->name,
                           row->account->currency,
                           cli_stored_time(STORED_TABLE, time, row->point.ts_ns),
                           cell[0],
                           cell[1],
                           cell[2],
                           cli_format_percent(drawdown, 100 * row->drawdown, 2)};
    for (int i = 0; i < 3; i++)
        cli_stored_decimal(STORED_TABLE, cell[i], money[i], row->account->currency_scale);
    cli_stored_row(list, cells);
    return list->r;
}

static int put(void *ctx, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, ctx) == n ? 0 : -errno;
}

/* ---- what positions were valued at ---- */

static const struct stored_column mark_columns[] = {
    {"account", -10}, {"ts_ns", -24}, {"symbol", -10}, {"qty", 14}, {"mark", 14}, {"mark_ns", -24},
};

static void print_mark(void *ctx, const struct db_mark_row *row)
{
    if (row->account && row->symbol)
        cli_stored_record_row(ctx, &row->mark,
                              &(struct record_context){&row->symbol->symbol, row->account->name});
}

static int read_marks(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    (void)call;
    return db_reader_marks(reader, print_mark, list);
}

static int print_marks(struct option_call *call)
{
    struct stored_list list =
        cli_stored_list_of(&db_record_marks, mark_columns, sizeof mark_columns / sizeof *mark_columns,
                           cli_stored_form(call), NULL);

    return cli_selected_print_list(call, "equity", &list, call->into, &selected_marks, read_marks);
}

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    struct stored_list list = {
        .name = "equity", .columns = columns, .n_columns = sizeof columns / sizeof *columns};
    struct db_reader *reader;
    enum stored_form form = cli_stored_form(call);
    if (asked->marks)
        return print_marks(call);
    int r = cli_selected_open("equity", call->state, call->into, &selected, &reader);
    if (r != EXIT_OK)
        return r;
    if (form == STORED_TABLE) {
        r = db_equity_curve_read(reader, asked->selection.account, print_line, &list);
        if (r == 0)
            cli_stored_end(&list);
    } else {
        r = db_equity_curve_write(reader, asked->selection.account,
                                  form == STORED_CSV ? DB_CURVE_CSV : DB_CURVE_JSON, put, stdout);
    }
    return cli_stored_close("equity", reader, ferror(stdout) ? 0 : r); /* option_main() reports stdout's */
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

static const struct option_row options[] = {
    {"marks", NULL,
     "instead what the points at stops of the daemon are of: each position's quantity, its mark, when that "
     "price was made; papertape.marks/1",
     offsetof(struct asked, marks)},
    SELECTED_ALL("points"),
};

CLI_VERB(cli_equity) = {
    .name = "equity",
    .words = "what the accounts were worth, each stored point, as a table, CSV or JSON",
    .about =
        "Every stored point of the accounts' equity, by account and time, with or without a daemon: equity, cash "
        "and the highest equity so far (peak), in the account's currency, as exact decimals, and drawdown_share, how "
        "far equity is below the peak (0 or less). Money put in or taken out moves equity and scales the peak: "
        "papertape report has returns, which leave it out, and papertape ledger export the amounts. A point is "
        "stored at every fill, at every movement of money and every [engine] equity_interval_s; of what is more "
        "than eight days older than the newest one, the last of each hour, the first of each UTC day, those at movements of "
        "money and those at a stop of the daemon, which have marks, are kept.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
    .init = cli_selected_init,
};
