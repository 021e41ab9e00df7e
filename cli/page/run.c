#include "cli/page/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/strategy_args.h"
#include "exchange/decimal.h"
#include "report/page_parts.h"

static const struct market *market_of(const struct page_run *run)
{
    return run->source->config->market;
}

const char *cli_page_run_params(const struct account_spec *spec, char ret[static PAGE_PARAMS_MAX])
{
    ret[0] = '\0';
    if (spec->strategy)
        cli_strategy_args_text(spec->strategy, spec->params, ret, PAGE_PARAMS_MAX);
    return ret;
}

/* ---- what is held ---- */

/* The traded row in which a fill was; n: after the last. */
static size_t row_of(const struct page_run *run, const struct fill *fill)
{
    const size_t row = market_store_row_at(market_of(run), fill->ts_ns + 1),
                 from = run->source->backtest->from;
    return row <= from ? 0 : row - 1 - from < run->n ? row - 1 - from : run->n;
}

/* By how much splits that come next changed what is held of a symbol. */
static int64_t split_by(const struct backtest_account *result, int symbol, size_t n_fills, int64_t before_ns,
                        size_t *next)
{
    const struct backtest_taken *taken;
    int64_t change = 0;
    while ((taken = backtest_taken_next(result, n_fills, before_ns, next)))
        change += taken->symbol == symbol ? taken->change : 0;
    return change;
}

void cli_page_run_values(const struct page_run *run, int symbol, double *ret)
{
    const struct market_series *series = &market_of(run)->series[symbol];
    const struct backtest_account *result = run->result;
    const bool counts = strcmp(series->symbol.quote, run->spec->currency) == 0;
    int64_t held = 0;
    size_t next = 0, taken = 0;
    for (size_t i = 0; i < run->n; i++) {
        for (; next < result->n_fills && row_of(run, &result->fills[next]) <= i; next++) {
            const struct fill *fill = &result->fills[next];
            held += split_by(result, symbol, next, INT64_MAX, &taken);
            if (fill->symbol == symbol)
                held += fill->side == ORDER_BUY ? fill_moves(fill) : -fill->qty;
        }
        held += split_by(result, symbol, next, run->x[i + 1], &taken);
        ret[i] = counts && held != 0 ? decimal_to_double(held, series->symbol.qty_scale) *
                                           series->close[run->source->backtest->from + i]
                                     : 0;
    }
}

static bool trades_in(const struct page_run *run, int symbol)
{
    for (size_t i = 0; i < run->result->n_fills; i++)
        if (run->result->fills[i].symbol == symbol)
            return true;
    return false;
}

static int expose(struct page_run *run)
{
    double *values = calloc(run->n + 1, sizeof *values);
    if (!values)
        return -ENOMEM;
    for (int s = 0; s < market_of(run)->n_symbols; s++) {
        if (!trades_in(run, s))
            continue;
        cli_page_run_values(run, s, values);
        for (size_t i = 0; i < run->n; i++) {
            double share = 100 * values[i] / run->equity[i + 1];
            run->gross[i + 1] += fabs(share);
            run->net[i + 1] += share;
            run->shorts |= values[i] < 0;
        }
    }
    free(values);
    return 0;
}

/* ---- costs ---- */

/* Of a taker's price p (1 + s), or p (1 - s), what the share s of p came to. */
static double slipped(const struct fill *fill, double notional, double rate)
{
    if (fill->maker)
        return 0;
    return fill->side == ORDER_BUY ? notional * rate / (1 + rate) : notional * rate / (1 - rate);
}

/* Does it enlarge what is held? */
static bool enlarges(const struct fill *fill, int64_t held)
{
    return fill->side == ORDER_BUY ? held >= 0 : held <= 0;
}

static int add_fills(struct page_run *run)
{
    const struct market *market = market_of(run);
    const int32_t slippage_e6 = run->source->config->slippage_e6;
    const double rate = slippage_e6 == PAGE_SLIPPAGE_UNKNOWN ? (double)NAN : slippage_e6 / 1e6;
    const struct backtest_taken *taken;
    int64_t *held = calloc((size_t)market->n_symbols, sizeof *held);
    size_t n_taken = 0;
    if (!held)
        return -ENOMEM;
    for (size_t i = 0; i < run->result->n_fills; i++) {
        const struct fill *fill = &run->result->fills[i];
        while ((taken = backtest_taken_next(run->result, i, INT64_MAX, &n_taken)))
            held[taken->symbol] += taken->change;
        const struct symbol *symbol = &market->series[fill->symbol].symbol;
        double notional = decimal_to_double(fill->notional, symbol->quote_scale);
        size_t row = row_of(run, fill);
        *(enlarges(fill, held[fill->symbol]) ? &run->opened : &run->closed) += notional;
        *(fill->side == ORDER_BUY ? &run->buys : &run->sells) += 1;
        held[fill->symbol] += fill->side == ORDER_BUY ? fill_moves(fill) : -fill->qty;
        run->slippage += slipped(fill, notional, rate);
        run->fees[row < run->n ? row + 1 : run->n] += decimal_to_double(fill->fee, symbol->quote_scale);
    }
    for (size_t i = 1; i <= run->n; i++)
        run->fees[i] += run->fees[i - 1];
    free(held);
    return 0;
}

static void add_ledger(struct page_run *run)
{
    for (size_t i = 0; i < run->result->n_ledger; i++) {
        const struct ledger_row *row = &run->result->ledger[i];
        double amount = decimal_to_double(row->amount, run->spec->currency_scale);
        if (strcmp(row->asset, run->spec->currency) != 0)
            continue;
        if (row->kind == LEDGER_INTEREST)
            run->interest -= amount;
        else if (row->kind == LEDGER_DIVIDEND)
            run->dividends += amount;
    }
}

/* ---- returns ---- */

static const int64_t day_ns = INT64_C(86400) * 1000000000;
enum { DAYS_LEAST = 20 };

/* A point at midnight is the end of the day before it. */
static int64_t day_of(const struct page_run *run, size_t i)
{
    return (run->x[i] - 1) / day_ns;
}

size_t cli_page_run_returns(const struct page_run *run, bool *ret_days, double *ret)
{
    const bool days = run->report->interval_ns < day_ns && run->x[run->n] - run->x[0] >= DAYS_LEAST * day_ns;
    double before = run->equity[0];
    size_t n = 0;
    for (size_t i = 1; i <= run->n; i++) {
        if (days && i < run->n && day_of(run, i) == day_of(run, i + 1))
            continue;
        ret[n++] = before > 0 ? 100 * (run->equity[i] / before - 1) : NAN;
        before = run->equity[i];
    }
    *ret_days = days;
    return n;
}

/* ---- the columns ---- */

static double *column(struct page_run *run, bool *ok)
{
    double *made = calloc(run->n + 1, sizeof *made);
    *ok = *ok && made;
    return made;
}

static int make_held(struct page_run *run)
{
    double *held = NULL;
    bool ok = true;
    if (run->source->options->benchmark == REPORT_BENCHMARK_NONE)
        return 0;
    int r = backtest_report_benchmark(run->source->config, run->account, run->source->options, &held);
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    run->held = column(run, &ok);
    run->held_drawdown = column(run, &ok);
    if (ok) {
        run->held[0] = run->equity[0];
        memcpy(run->held + 1, held, run->n * sizeof *held);
        report_drawdowns(run->held, run->n + 1, run->held_drawdown);
    }
    free(held);
    return ok ? 0 : -ENOMEM;
}

static int make_columns(struct page_run *run)
{
    const size_t from = run->source->backtest->from;
    bool ok = true;
    run->x = calloc(run->n + 1, sizeof *run->x);
    double **const all[] = {&run->equity, &run->drawdown, &run->gross, &run->net, &run->fees};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = column(run, &ok);
    if (!ok || !run->x)
        return -ENOMEM;
    for (size_t i = 0; i <= run->n; i++)
        run->x[i] = market_open_ns(market_of(run), from + i);
    run->equity[0] = run->report->start_equity;
    memcpy(run->equity + 1, run->result->equity, run->n * sizeof *run->equity);
    report_drawdowns(run->equity, run->n + 1, run->drawdown);
    return 0;
}

int cli_page_run_make(const struct page_source *source, int account, const char *name, struct page_run *ret)
{
    struct page_run run = {.source = source,
                           .account = account,
                           .spec = &source->config->accounts[account],
                           .result = &source->backtest->accounts[account],
                           .report = &source->reports[account],
                           .n = source->backtest->to - source->backtest->from};
    snprintf(run.name, sizeof run.name, "%s", name);
    int r = make_columns(&run);
    r = r < 0 ? r : make_held(&run);
    r = r < 0 ? r : expose(&run);
    r = r < 0 ? r : add_fills(&run);
    if (r < 0) {
        cli_page_run_finish(&run);
        return r;
    }
    add_ledger(&run);
    *ret = run;
    return 0;
}

void cli_page_run_finish(struct page_run *run)
{
    double *const all[] = {run->equity, run->drawdown, run->held, run->held_drawdown,
                           run->gross,  run->net,      run->fees};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(run->x);
    *run = (struct page_run){0};
}
