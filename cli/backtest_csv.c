/* The files of a backtest: fills, orders and ledger as the lists of the live ones, so that they can be
 * compared. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/backtest_result.h"
#include "cli/stored.h"
#include "engine/backtest/audit.h"
#include "engine/backtest/equity.h"
#include "exchange/exit_status.h"

static const struct symbol *symbol_of(const struct backtest_result *result, int symbol)
{
    return symbol >= 0 && symbol < result->market->n_symbols ? &result->market->series[symbol].symbol : NULL;
}

static struct record_context context_of(const struct backtest_result *result, int symbol, int account)
{
    return (struct record_context){symbol_of(result, symbol), result->accounts[account].name};
}

static void write_ledger(const struct backtest_result *result, const struct backtest_rows *rows, FILE *out)
{
    struct stored_list list = cli_ledger_list(STORED_CSV, out);
    for (size_t i = 0; i < rows->n_ledger; i++)
        cli_ledger_row(&list, rows->ledger[i], result->accounts[rows->ledger[i]->account].name);
    cli_stored_end(&list);
}

static void write_fills(const struct backtest_result *result, const struct backtest_rows *rows, bool plain,
                        FILE *out)
{
    struct stored_list list = cli_fills_list(STORED_CSV, out);
    list.plain = plain;
    for (size_t i = 0; i < rows->n_fills; i++) {
        struct record_context context = context_of(result, rows->fills[i]->symbol, rows->fills[i]->account);
        cli_stored_record_row(&list, rows->fills[i], &context);
    }
    cli_stored_end(&list);
}

static void write_orders(const struct backtest_result *result, const struct backtest_rows *rows, bool plain,
                         FILE *out)
{
    struct stored_list list = cli_orders_list(STORED_CSV, out);
    list.plain = plain;
    for (size_t i = 0; i < rows->n_orders; i++) {
        struct record_context context = context_of(result, rows->orders[i]->symbol, rows->orders[i]->account);
        cli_stored_record_row(&list, rows->orders[i], &context);
    }
    cli_stored_end(&list);
}

/* A point at the end of every row. */
static void write_equity(const struct backtest_result *result, FILE *out)
{
    const struct backtest *backtest = result->backtest;
    fputs("ts_ns,account,equity,cash,peak\n", out);
    for (int a = 0; a < backtest->n_accounts; a++) {
        const struct account_spec *spec = &result->accounts[a];
        int scale = spec->currency_scale;
        struct backtest_equity points;
        struct backtest_point point;
        backtest_equity_begin(&points, result->market, backtest, result->accounts, a);
        while (!ferror(out) && backtest_equity_next(&points, &point)) {
            char equity[STORED_CELL], cash[STORED_CELL], peak[STORED_CELL];
            fprintf(out, "%" PRId64 ",", point.ts_ns);
            cli_stored_csv(out, spec->name);
            fprintf(out, ",%s,%s,%s\n", cli_stored_decimal(STORED_CSV, equity, point.equity, scale),
                    cli_stored_decimal(STORED_CSV, cash, point.cash, scale),
                    cli_stored_decimal(STORED_CSV, peak, point.peak, scale));
        }
    }
}

static void write_rounds(const struct backtest_result *result, FILE *out)
{
    fputs("account,symbol,side,entry_ns,exit_ns,bars,qty,cost,proceeds,fees,profit\n", out);
    for (int a = 0; a < result->backtest->n_accounts; a++) {
        const struct backtest_account *account = &result->backtest->accounts[a];
        for (size_t i = 0; i < account->n_trades; i++) {
            const struct backtest_trade *trade = &account->trades[i];
            const struct symbol *symbol = symbol_of(result, trade->symbol);
            char qty[STORED_CELL], cost[STORED_CELL], proceeds[STORED_CELL], fees[STORED_CELL],
                profit[STORED_CELL], exit_ns[STORED_CELL] = "";
            if (trade->exit_ns)
                cli_stored_integer(exit_ns, trade->exit_ns);
            cli_stored_csv(out, result->accounts[a].name);
            fputc(',', out);
            cli_stored_csv(out, symbol->name);
            fprintf(out, ",%s,%" PRId64 ",%s,%zu,%s,%s,%s,%s,%s\n", trade->qty < 0 ? "short" : "long",
                    trade->entry_ns, exit_ns, trade->exit_row - trade->entry_row,
                    cli_stored_decimal(STORED_CSV, qty, trade->qty < 0 ? -trade->qty : trade->qty,
                                       symbol->qty_scale),
                    cli_stored_decimal(STORED_CSV, cost, trade->cost, symbol->quote_scale),
                    cli_stored_decimal(STORED_CSV, proceeds, trade->proceeds, symbol->quote_scale),
                    cli_stored_decimal(STORED_CSV, fees, trade->fees, symbol->quote_scale),
                    cli_stored_decimal(STORED_CSV, profit, trade->profit, symbol->quote_scale));
        }
    }
}

static void write_monthly(const struct backtest_result *result, FILE *out)
{
    fputs("account,year,month,return\n", out);
    for (int a = 0; a < result->backtest->n_accounts; a++) {
        const struct backtest_report *report = &result->reports[a];
        for (size_t i = 0; i < report->n_months; i++) {
            cli_stored_csv(out, result->accounts[a].name);
            fprintf(out, ",%d,%d,%.17g\n", report->months[i].year, report->months[i].month,
                    report->months[i].total_return);
        }
    }
}

/* Those of the whole market, also of its rows before the first that was traded. */
static void write_members(const struct backtest_result *result, FILE *out)
{
    const struct backtest_universe *universe = cli_run_universe_of(&result->args->run);
    fputs("time_ns,symbol,in\n", out);
    for (size_t i = 0; universe && i < universe->n; i++) {
        fprintf(out, "%" PRId64 ",", universe->changes[i].at_ns);
        cli_stored_csv(out, symbol_of(result, universe->changes[i].symbol)->name);
        fprintf(out, ",%d\n", universe->changes[i].in);
    }
}

void cli_backtest_write_one(const struct backtest_result *result, const struct backtest_rows *rows,
                            enum backtest_output output, bool plain, FILE *out)
{
    switch (output) {
    case OUTPUT_LEDGER:
        write_ledger(result, rows, out);
        break;
    case OUTPUT_TRADES:
        write_fills(result, rows, plain, out);
        break;
    case OUTPUT_ORDERS:
        write_orders(result, rows, plain, out);
        break;
    case OUTPUT_EQUITY:
        write_equity(result, out);
        break;
    case OUTPUT_ROUNDS:
        write_rounds(result, out);
        break;
    case OUTPUT_MONTHLY:
        write_monthly(result, out);
        break;
    case OUTPUT_MEMBERS:
        write_members(result, out);
        break;
    case OUTPUT_PAGE:
    case BACKTEST_OUTPUTS:
        break;
    }
}

int cli_backtest_open_outputs(const struct backtest_args *args, struct output outputs[BACKTEST_OUTPUTS])
{
    int status = EXIT_OK;
    for (int i = 0; i < BACKTEST_OUTPUTS && status == EXIT_OK; i++)
        if (args->outputs[i]) {
            status = cli_output_open("backtest", args->outputs[i], &outputs[i]);
            if (status == EXIT_OK)
                status = cli_output_apart("backtest", cli_backtest_outputs, outputs, i);
        }
    return status;
}

int cli_backtest_commit_outputs(struct output outputs[BACKTEST_OUTPUTS])
{
    int status = EXIT_OK;
    for (int i = 0; i < BACKTEST_OUTPUTS && status == EXIT_OK; i++)
        status = cli_output_commit("backtest", &outputs[i]);
    return status;
}

void cli_backtest_drop_outputs(struct output outputs[BACKTEST_OUTPUTS])
{
    for (int i = 0; i < BACKTEST_OUTPUTS; i++)
        cli_output_drop(&outputs[i]);
}

int cli_backtest_write(const struct backtest_result *result, struct output outputs[BACKTEST_OUTPUTS])
{
    struct backtest_rows rows;
    char err[256];
    if (backtest_rows(result->backtest, &rows, err, sizeof err) < 0)
        return cli_backtest_fail(EXIT_ERROR, "", err);
    for (int i = 0; i < BACKTEST_OUTPUTS; i++)
        if (outputs[i].file)
            cli_backtest_write_one(result, &rows, (enum backtest_output)i, false, outputs[i].file);
    backtest_rows_finish(&rows);
    int status = outputs[OUTPUT_PAGE].file ? cli_backtest_page(result, outputs[OUTPUT_PAGE].file) : EXIT_OK;
    return status == EXIT_OK ? cli_backtest_commit_outputs(outputs) : status;
}
