#include "tui/command/account_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/command/stored.h"
#include "tui/dashboard.h"

static const struct stored_column columns[] = {
    {"account", -12}, {"currency", -8},     {"cash", 18},   {"equity", 18},
    {"peak", 18},     {"drawdown_pct", 12}, {"at_ns", -24},
};

struct account_line {
    struct db_account_row row;
    struct db_equity_point point; /* the newest; ts_ns 0: none */
};

struct accounts_read {
    struct account_line lines[ACCOUNTS_MAX];
    int n, at;
};

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct accounts_read *read = ctx;

    if (read->n < ACCOUNTS_MAX)
        read->lines[read->n++] = (struct account_line){.row = *row};
}

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct accounts_read *read = ctx;

    read->lines[read->at].point = *point;
}

/* In percent, 0 or below; the peak is above zero. */
static double drawdown_pct(const struct account_line *line)
{
    double share = (double)line->point.equity / (double)line->row.equity_peak;

    return share < 1 ? 100 * (share - 1) : 0;
}

static void print_line(struct stored_list *list, const struct account_line *line)
{
    const struct db_account *account = &line->row.account;
    int scale = account->currency_scale;
    bool known = line->point.ts_ns != 0, peaked = known && line->row.equity_peak > 0;
    char cash[STORED_CELL], equity[STORED_CELL], peak[STORED_CELL], drawdown[STORED_CELL], at[STORED_CELL];

    if (list->form == STORED_JSON) {
        stored_object(list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "account", account->name,
                                      "currency", account->currency, "cash",
                                      known ? stored_number(line->point.cash, scale) : json_null(), "equity",
                                      known ? stored_number(line->point.equity, scale) : json_null(), "peak",
                                      peaked ? stored_number(line->row.equity_peak, scale) : json_null(),
                                      "drawdown_pct", peaked ? json_real(drawdown_pct(line)) : json_null(),
                                      "at_ns", known ? json_integer(line->point.ts_ns) : json_null()));
        return;
    }
    snprintf(drawdown, sizeof drawdown, "%.4f", peaked ? drawdown_pct(line) : 0);
    const char *const cells[] = {
        account->name,
        account->currency,
        known ? stored_decimal(list->form, cash, line->point.cash, scale) : "",
        known ? stored_decimal(list->form, equity, line->point.equity, scale) : "",
        peaked ? stored_decimal(list->form, peak, line->row.equity_peak, scale) : "",
        peaked ? drawdown : "",
        known ? stored_time(list->form, at, line->point.ts_ns) : "",
    };
    stored_row(list, cells);
}

int command_account_list(int argc, char **argv, const char *help)
{
    struct stored_options options;
    struct accounts_read *read;
    struct db_reader *reader;
    int r = stored_options(argc, argv, "csv json", help, &options);

    if (r != EXIT_OK || options.done)
        return r;
    if (options.first + 1 < argc)
        return stored_fail(EXIT_USAGE, "account", argv[options.first + 1], "list takes no argument");
    r = stored_open("account", options.state, &reader);
    if (r != EXIT_OK)
        return r;
    read = calloc(1, sizeof *read);
    r = read ? db_reader_begin(reader) : -ENOMEM;
    if (r == 0)
        r = db_reader_accounts(reader, take_account, read);
    for (; r == 0 && read->at < read->n; read->at++)
        r = db_reader_equity(reader, read->lines[read->at].row.account.number, INT64_MIN, 1, take_point,
                             read);
    db_reader_end(reader);
    struct stored_list list = {"accounts", options.form, columns, sizeof columns / sizeof *columns, 0, 0};
    stored_begin(&list);
    for (int i = 0; r == 0 && i < read->n; i++)
        print_line(&list, &read->lines[i]);
    stored_end(&list);
    free(read);
    return stored_close("account", reader, r < 0 ? r : list.r);
}
