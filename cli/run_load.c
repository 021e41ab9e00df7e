/* Loads the bars and makes the accounts of run_args.h's options. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/run_args.h"
#include "cli/stored.h"
#include "cli/stored_bars.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "exchange/folder.h"
#include "strategy/external.h"

static void note_symbol(const struct run_args *args, const struct market *market, int symbol)
{
    const struct market_series *series = &market->series[symbol];
    const char *name = series->symbol.name;
    size_t missing = cli_run_missing(args, market, symbol);
    if (missing > 0)
        fprintf(stderr,
                "papertape: %s: note: %s: %zu of its bars are missing: no bar is filled in, and nothing "
                "trades in them\n",
                args->verb, name, missing);
    if (series->repaired > 0)
        fprintf(stderr,
                "papertape: %s: note: %s: %zu of its bars had an open or a close outside low to high, which "
                "were widened\n",
                args->verb, name, series->repaired);
    if (series->rounded_digits > 0)
        fprintf(stderr,
                "papertape: %s: note: %s: prices have %d digits after the point and were rounded to %d, as "
                "many as are held exactly\n",
                args->verb, name, series->rounded_digits, series->price_digits);
    if (strcmp(series->symbol.quote, SYMBOL_QUOTE_UNKNOWN) == 0)
        fprintf(
            stderr,
            "papertape: %s: note: %s: its name ends with no known currency: money is in " SYMBOL_QUOTE_UNKNOWN
            ", an unknown one, until --quote names it\n",
            args->verb, name);
}

void cli_run_note(const struct run_args *args, const struct market *market)
{
    for (int s = 0; s < market->n_symbols; s++) {
        note_symbol(args, market, s);
        cli_run_note_lot(args, &market->series[s]);
    }
}

/* The end of the rows of [from, to) that have the symbol's bars; from: it has none. */
static size_t end_of(const struct market *market, int symbol, size_t from, size_t to)
{
    while (to > from && !market_present(&market->series[symbol], to - 1))
        to--;
    return to;
}

/* Whose bars end a day or more before the others' do, as those of a company that is no longer listed. */
static void note_ended(const struct run_args *args, const struct market *market, size_t from, size_t to)
{
    size_t last = from;
    for (int s = 0; s < market->n_symbols; s++) {
        size_t end = end_of(market, s, from, to);
        last = end > last ? end : last;
    }
    for (int s = 0; s < market->n_symbols; s++) {
        char when[CLOCK_TEXT_MAX];
        size_t end = end_of(market, s, from, to);
        if (end == from || market_open_ns(market, last - 1) - market_open_ns(market, end - 1) < BAR_DAY_NS)
            continue;
        fprintf(
            stderr,
            "papertape: %s: note: %s: its last bar opens at %s, and the others' continue: it is traded no "
            "more, and a position in it is carried at the last price\n",
            args->verb, market->series[s].symbol.name, clock_utc_text(market_open_ns(market, end - 1), when));
    }
}

int cli_run_rows(const struct run_args *args, const struct market *market, size_t *ret_from, size_t *ret_to)
{
    char err[BACKTEST_TERMS_ERROR_MAX];
    int r = backtest_terms_range(market, args->from_ns, args->to_ns, ret_from, ret_to, err);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, args->verb, "", err) : EXIT_OK;
}

int cli_run_refuse(const struct run_args *args, int r, char err[static MARKET_ERROR_MAX])
{
    size_t len = strlen(err);
    if (r == -ERANGE)
        snprintf(err + len, MARKET_ERROR_MAX - len, ", or --repair");
    return cli_stored_fail(EXIT_ERROR, args->verb, "", err);
}

static int remove_fetched(const char *folder, int status)
{
    if (folder[0])
        (void)folder_remove(folder);
    return status;
}

static int load_csv(struct run_args *args, struct market **ret, struct market_load *load)
{
    /* Bars before --from are loaded too: they warm up. */
    struct market_options options = {.interval_ns = args->interval_ns,
                                     .exchange_info = args->exchange_info,
                                     .cache = args->cache,
                                     .no_cache = args->no_cache,
                                     .repair = args->repair,
                                     .zone = args->zone,
                                     .session = args->calendar ? args->terms.session : SESSION_ALL,
                                     .keep_straddling = args->keep_straddling,
                                     .threads = args->threads};
    char err[MARKET_ERROR_MAX], fetched[PATH_MAX];
    int status = cli_run_fetch(args, fetched);
    if (status == EXIT_OK) {
        cli_run_list_files(args);
        status = cli_run_calendar_open(args, args->calendar);
    }
    options.session = args->calendar ? args->terms.session : SESSION_ALL;
    options.calendar = cli_run_calendar(args);
    if (status == EXIT_OK)
        status = cli_run_names(args, &options.names);
    if (status == EXIT_OK)
        status = cli_run_terms(args, args->n_bars, &options.terms);
    if (status != EXIT_OK)
        return remove_fetched(fetched, status);
    options.hashes = (const uint8_t *const *)args->hashes;
    options.write = cli_run_write_fetched;
    options.write_ctx = args;
    err[0] = '\0';
    int r = market_store_load_files(args->bars, args->n_bars, &options, ret, load, err);
    if (r < 0)
        cli_run_lake_where(args, err);
    remove_fetched(fetched, status);
    cli_run_fetch_finish(args); /* the run may be long, and others may fetch meanwhile */
    return r == 0 ? EXIT_OK : err[0] ? cli_run_refuse(args, r, err) : EXIT_ERROR;
}

static int load_files(struct run_args *args, struct market **ret, struct market_load *load)
{
    char folder[PATH_MAX];
    int status = cli_run_lake(args, folder);
    status = status == EXIT_OK ? load_csv(args, ret, load) : status;
    cli_run_lake_finish(args);
    return remove_fetched(folder, status);
}

int cli_run_columns_load(struct run_args *args)
{
    char err[EXTERNAL_ERROR_MAX];
    for (size_t i = 0; i < args->n_columns; i++)
        if (backtest_external_read(args->columns[i], &args->external, err) < 0)
            return cli_stored_fail(EXIT_ERROR, args->verb, "--columns", err);
    return EXIT_OK;
}

const struct external_columns *cli_run_columns(const struct run_args *args)
{
    return args->external.n > 0 ? &args->external : NULL;
}

int cli_run_load(struct run_args *args, struct market **ret, struct market_load *load, size_t *ret_from,
                 size_t *ret_to)
{
    char database[STATE_PATH_MAX];
    struct market *market;
    *load = (struct market_load){0};
    args->stored = cli_run_stored(args, database);
    int status =
        args->stored ? cli_stored_bars_load(args, database, &market, load) : load_files(args, &market, load);
    if (status != EXIT_OK)
        return status;
    if (load->note[0])
        fprintf(stderr, "papertape: %s: note: %s\n", args->verb, load->note);
    if (load->zone_note[0])
        fprintf(stderr, "papertape: %s: note: %s\n", args->verb, load->zone_note);
    status = cli_run_calendar_fit(args, market);
    cli_run_note(args, market);
    if (status == EXIT_OK)
        status = cli_run_columns_load(args);
    if (status == EXIT_OK)
        status = cli_run_rows(args, market, ret_from, ret_to);
    if (status == EXIT_OK)
        note_ended(args, market, *ret_from, *ret_to);
    if (status != EXIT_OK) {
        market_store_close(market);
        return status;
    }
    *ret = market;
    return EXIT_OK;
}

/* "sma-cross-rsi", or "sma-cross-rsi-2" for the second of that name. */
static void name_account(const struct run_args *args, int choice, char name[static ACCOUNT_NAME_MAX])
{
    unsigned same = 0, before = 0;
    for (int i = 0; i < args->n_choices; i++) {
        bool is = args->choices[i].strategy == args->choices[choice].strategy;
        same += is;
        before += is && i < choice;
    }
    if (same > 1)
        snprintf(name, ACCOUNT_NAME_MAX, "%.24s-%u", strategy_title(args->choices[choice].strategy),
                 (before + 1u) % 1000u);
    else
        snprintf(name, ACCOUNT_NAME_MAX, "%.31s", strategy_title(args->choices[choice].strategy));
}

static int begin_account(const struct run_args *args, const struct market *market, struct account_spec *ret)
{
    char err[BACKTEST_TERMS_ERROR_MAX];
    int r = backtest_terms_account(&args->terms, market, ret, err);
    return r == 0 ? EXIT_OK : cli_stored_fail(EXIT_ERROR, args->verb, r == -EXDEV ? "--bars" : "--cash", err);
}

int cli_run_account(const struct run_args *args, const struct market *market, int choice,
                    struct account_spec *ret)
{
    int status = begin_account(args, market, ret);
    if (status != EXIT_OK)
        return status;
    ret->strategy = args->choices[choice].strategy;
    memcpy(ret->params, args->choices[choice].params, sizeof ret->params);
    name_account(args, choice, ret->name);
    return EXIT_OK;
}

int cli_run_policy_account(const struct run_args *args, const struct market *market,
                           const struct policy *policy, struct account_spec *ret)
{
    int status = begin_account(args, market, ret);
    if (status != EXIT_OK)
        return status;
    ret->policy = policy;
    ret->rules.class_fees = false; /* it has fees of its own */
    snprintf(ret->name, sizeof ret->name, "policy");
    if (!args->given[BACKTEST_FEE_MAKER])
        ret->rules.fees.maker_e6 = policy->rules.fee_e6;
    if (!args->given[BACKTEST_FEE_TAKER])
        ret->rules.fees.taker_e6 = policy->rules.fee_e6;
    if (!args->given[BACKTEST_CASH] &&
        decimal_from_double(policy->rules.capital, ret->currency_scale, &ret->cash) < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, "--policy",
                               "initial_capital has more digits than the currency: --cash N");
    return EXIT_OK;
}
