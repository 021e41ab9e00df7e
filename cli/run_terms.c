/* Lots, ticks and quotes of a run: their sources, and how they led to refused orders. */
#include <stdio.h>
#include <string.h>

#include "cli/run_args.h"
#include "exchange/decimal.h"
#include "strategy/direction.h"

enum { LARGE_PART = 100 }; /* a lot that costs more than one of so many parts of the cash is large */

/* Is it as its venue lists it? */
static bool is_listed(const struct run_args *args, const struct symbol *symbol)
{
    for (size_t i = 0; i < args->n_bars; i++)
        if (args->listed[i] && symbol_same_units(args->listed[i], symbol))
            return true;
    return false;
}

const char *cli_run_source(const struct run_args *args, enum run_term term, const struct symbol *symbol)
{
    static const char *const options[] = {
        [RUN_TERM_LOT] = "--lot", [RUN_TERM_TICK] = "--tick", [RUN_TERM_QUOTE] = "--quote"};
    const size_t given[] = {
        [RUN_TERM_LOT] = args->n_lots, [RUN_TERM_TICK] = args->n_ticks, [RUN_TERM_QUOTE] = args->n_quotes};
    if (args->stored)
        return "database";
    if (args->exchange_info)
        return "exchange info";
    if (given[term] > 0)
        return options[term];
    if (is_listed(args, symbol))
        return "venue";
    if (term == RUN_TERM_QUOTE)
        return strcmp(symbol->quote, SYMBOL_QUOTE_UNKNOWN) == 0 ? "unknown" : "name";
    return symbol_known(symbol->name) ? "name" : "file";
}

/* The first close of the series that is there. */
static double price_of(const struct market_series *series)
{
    return series->close[series->first];
}

void cli_run_note_lot(const struct run_args *args, const struct market_series *series)
{
    const struct symbol *symbol = &series->symbol;
    bool whole = symbol->filters.step == decimal_pow10(symbol->qty_scale);
    double price = price_of(series), cash = decimal_to_double(args->terms.cash, BACKTEST_CASH_SCALE);
    if (!whole || price * LARGE_PART <= cash ||
        strcmp(cli_run_source(args, RUN_TERM_LOT, symbol), "file") != 0)
        return;
    fprintf(stderr,
            "papertape: %s: note: %s: its volumes are whole numbers, so its lot is 1, which costs %.10g: "
            "--lot names a smaller one, as --lot 0.00001\n",
            args->verb, symbol->name, price);
}

static void print_shortage(const struct run_args *args, const struct market *market, const char *account,
                           const struct backtest_shortage *shortage, bool cash)
{
    const struct symbol *symbol = &market->series[shortage->symbol].symbol;
    char step[DECIMAL_TEXT_MAX];
    const char *right = args->exchange_info || args->stored
                            ? "more cash is needed, or a list with another lot"
                            : "--lot names a smaller one";
    if (symbol->filters.step <= 1) /* there is none smaller */
        right = "more cash is needed";
    decimal_format_short(symbol->filters.step, symbol->qty_scale, step);
    fprintf(stderr,
            "papertape: %s: note: %s: %llu orders for %s%s were refused for their quantity: ", args->verb,
            account, (unsigned long long)shortage->n, symbol->name, shortage->others ? " and others" : "");
    if (cash)
        fprintf(stderr,
                "no cash was free for one lot (%s): a smaller share for each position, or more cash, is "
                "needed\n",
                step);
    else
        fprintf(stderr, "the lot (%s) is too large: %s\n", step, right);
}

void cli_run_note_refused(const struct run_args *args, const struct market *market, const char *account,
                          const struct backtest_account *refused)
{
    if (refused->short_of_cash.n > 0)
        print_shortage(args, market, account, &refused->short_of_cash, true);
    if (refused->short_of_lot.n > 0)
        print_shortage(args, market, account, &refused->short_of_lot, false);
    if (refused->refused[ORDER_PRICE_FILTER] > 0)
        fprintf(stderr,
                "papertape: %s: note: %s: %llu orders were refused PRICE_FILTER: --tick names the tick\n",
                args->verb, account, (unsigned long long)refused->refused[ORDER_PRICE_FILTER]);
}

void cli_run_note_long_only(const struct run_args *args, const struct backtest_config *config,
                            const struct account_spec *account)
{
    const char *what = account->strategy ? strategy_without_shorts(account->strategy, account->params) : NULL;
    if (!what || backtest_may_short(config, account))
        return;
    fprintf(stderr, "papertape: %s: note: %s %s: %s\n", args->verb, account->strategy->name, what,
            account->rules.shorts ? "the venue lends none of the symbols"
                                  : "its account may not be short, which --shorts, or shorts = on of an "
                                    "account, allows");
}
