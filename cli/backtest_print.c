/* The report of a backtest as text, at most 80 columns wide. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/backtest_result.h"
#include "cli/format.h"
#include "cli/months.h"
#include "cli/stored.h"
#include "exchange/bar.h"
#include "exchange/decimal.h"

enum {
    HASH_SHOWN = 8,
    NAME_COLUMNS = 19,
    WIDTH = 80,
    NUMBER_COLUMNS = 14,
    SYMBOLS_SHOWN = 6,
    PLAIN_SCALE = 8, /* of prices, which is not printed */
};

/* "2024-01-01 00:00". */
static const char *time_text(int64_t ts_ns, char buf[static FORMAT_MAX])
{
    cli_format_time(buf, ts_ns);
    buf[16] = '\0';
    return buf;
}

/* Into so many columns: what is too long loses its decimals first. */
static const char *fit(char buf[static FORMAT_MAX], double value, int decimals, int columns)
{
    if (isnan(value))
        return strcpy(buf, "n/a");
    if (isinf(value))
        return strcpy(buf, value > 0 ? "inf" : "-inf");
    while (strlen(cli_format_number(buf, value, decimals)) > (size_t)columns && decimals > 0)
        decimals--;
    if (strlen(buf) > (size_t)columns) /* a sign, a point and an exponent take six */
        snprintf(buf, FORMAT_MAX, "%.*g", columns - 6, value);
    return buf;
}

const char *cli_backtest_number(char buf[static FORMAT_MAX], double value, int decimals)
{
    return fit(buf, value, decimals, NUMBER_COLUMNS);
}

const char *cli_backtest_percent(char buf[static FORMAT_MAX], double share)
{
    cli_backtest_number(buf, 100 * share, 2);
    size_t len = strlen(buf);
    if (isfinite(share) && len + 2 < FORMAT_MAX)
        strcpy(buf + len, " %");
    return buf;
}

static const char *duration(char buf[static FORMAT_MAX], double ns)
{
    double minutes = ns / 60e9;
    if (isnan(ns))
        return strcpy(buf, "n/a");
    if (minutes < 120)
        snprintf(buf, FORMAT_MAX, "%.1f min", minutes);
    else if (minutes < 48 * 60)
        snprintf(buf, FORMAT_MAX, "%.1f h", minutes / 60);
    else
        snprintf(buf, FORMAT_MAX, "%.1f d", minutes / 1440);
    return buf;
}

static void pair(const char *left, const char *left_text, const char *right, const char *right_text)
{
    printf("  %-15s %16s      %-15s %16s\n", left, left_text, right, right_text);
}

static void print_numbers(const struct backtest_result *result, int a)
{
    const struct backtest_report *r = &result->reports[a];
    const struct metrics *m = &r->metrics;
    const char *currency = result->accounts[a].currency;
    char x[FORMAT_MAX], y[FORMAT_MAX], trades[FORMAT_MAX], label[32];
    snprintf(label, sizeof label, "equity %.6s", currency);
    snprintf(trades, sizeof trades, "%zu", r->trades.n);
    pair(label, cli_backtest_number(x, r->final_equity, 2), "closed trades", trades);
    pair("return", cli_backtest_percent(x, m->total_return), "win rate",
         cli_backtest_percent(y, r->ratios.win_rate));
    pair("CAGR", cli_backtest_percent(x, m->cagr), "profit factor",
         cli_backtest_number(y, r->ratios.profit_factor, 3));
    pair("volatility", cli_backtest_percent(x, m->volatility), "expectancy",
         cli_backtest_number(y, r->ratios.expectancy, 4));
    pair("Sharpe", cli_backtest_number(x, m->sharpe, 3), "SQN", cli_backtest_number(y, r->ratios.sqn, 3));
    pair("Sortino", cli_backtest_number(x, m->sortino, 3), "mean time held",
         duration(y, r->ratios.average_held_ns));
    pair("Calmar", cli_backtest_number(x, m->calmar, 3), "exposure", cli_backtest_percent(y, r->exposure));
    pair("max drawdown", cli_backtest_percent(x, m->max_drawdown), "turnover a year",
         cli_backtest_number(y, r->turnover_year, 2));
    pair("alpha", cli_backtest_percent(x, r->against.alpha), "fees", cli_backtest_number(y, r->fees, 2));
    pair("beta", cli_backtest_number(x, r->against.beta, 3), "fees of gain",
         cli_backtest_percent(y, r->fees_of_gross_profit));
}

static void print_drawdowns(const struct backtest_result *result, const struct backtest_report *r)
{
    const struct market *market = result->market;
    size_t from = result->backtest->from;
    for (size_t i = 0; i < r->n_drawdowns; i++) {
        const struct metrics_drawdown *d = &r->drawdowns[i];
        char depth[FORMAT_MAX], first[FORMAT_MAX], trough[FORMAT_MAX], end[FORMAT_MAX];
        if (i == 0)
            printf("  deepest drawdowns   from              lowest            regained\n");
        time_text(market_open_ns(market, from + d->first), first);
        time_text(market_open_ns(market, from + d->trough + 1), trough);
        if (d->recovered)
            time_text(market_open_ns(market, from + d->end + 1), end);
        else
            snprintf(end, sizeof end, "not yet");
        printf("  %16s    %s  %s  %s\n", cli_backtest_percent(depth, d->depth), first, trough, end);
    }
}

/* Words behind a label, on as many lines as they need. */
struct words {
    size_t indent, column;
    bool any;
};

static struct words begin_words(const char *label)
{
    printf("%s", label);
    return (struct words){.indent = strlen(label), .column = strlen(label)};
}

/* between: ends with a space. A line keeps a column for what it has of it at its end. */
static void add_word(struct words *words, const char *between, const char *word)
{
    size_t gap = strlen(between), len = strlen(word);
    if (words->any && words->column + gap + len >= WIDTH) {
        printf("%.*s\n%*s", (int)gap - 1, between, (int)words->indent, "");
        words->column = words->indent;
    } else if (words->any) {
        printf("%s", between);
        words->column += gap;
    }
    printf("%s", word);
    words->column += len;
    words->any = true;
}

static void add_count(struct words *words, const char *label, uint64_t n, const char *name)
{
    char word[FORMAT_MAX];
    if (n == 0)
        return;
    if (!words->any)
        *words = begin_words(label);
    snprintf(word, sizeof word, "%llu %s", (unsigned long long)n, name);
    add_word(words, ", ", word);
}

static void print_refused(const struct backtest_account *account)
{
    struct words words = {0};
    for (int why = 1; why < ORDER_REASONS; why++)
        add_count(&words, "  refused         ", account->refused[why],
                  order_reason_name((enum order_reason)why));
    if (words.any)
        putchar('\n');
}

/* Order intents that no market could fill: no order came of them. */
static void print_impossible(const struct backtest_account *account)
{
    struct words words = {0};
    for (int fault = 1; fault < INTENT_FAULTS; fault++)
        add_count(&words, "  impossible      ", account->intents[fault],
                  intent_fault_name((enum intent_fault)fault));
    if (words.any)
        putchar('\n');
}

/* Its name, its strategy's where that is another, and the parameters that are not as by default. */
static void print_name(const struct account_spec *spec)
{
    bool named = strcmp(spec->name, account_spec_trader(spec)) != 0;
    char label[2 * ACCOUNT_NAME_MAX + 64], params[512] = "", *next = params;
    if (spec->strategy)
        cli_strategy_args_text(spec->strategy, spec->params, params, sizeof params);
    snprintf(label, sizeof label, "\n%s%s%s%s", spec->name, named ? "  " : "",
             named ? account_spec_trader(spec) : "", *params ? "  " : "");
    struct words words = begin_words(label);
    words.column--; /* the line before */
    words.indent--;
    for (const char *word; *params && (word = strsep(&next, " ")) != NULL;)
        add_word(&words, " ", word);
    putchar('\n');
}

struct backtest_acted cli_backtest_acted(const struct backtest_result *result, int a)
{
    const struct market *market = result->market;
    const struct backtest_account *account = &result->backtest->accounts[a];
    const int64_t from_ns = market_open_ns(market, result->backtest->from);
    struct backtest_acted acted = {0};
    for (size_t i = backtest_taken_from(account, from_ns); i < account->n_taken; i++) {
        const struct backtest_taken *taken = &account->taken[i];
        const bool split = taken->action.kind == ACTION_SPLIT;
        *(split ? &acted.splits : &acted.dividends) += 1;
        if (!split)
            acted.paid += decimal_to_double(taken->paid, market->series[taken->symbol].symbol.quote_scale);
    }
    return acted;
}

static void print_actions(const struct backtest_result *result, int a)
{
    struct words words = {0};
    char paid[FORMAT_MAX], word[2 * FORMAT_MAX];
    const struct backtest_acted acted = cli_backtest_acted(result, a);
    add_count(&words, "  took effect     ", acted.splits, acted.splits == 1 ? "split" : "splits");
    add_count(&words, "  took effect     ", acted.dividends, acted.dividends == 1 ? "dividend" : "dividends");
    if (acted.dividends > 0) {
        snprintf(word, sizeof word, "paid %s %s", cli_backtest_number(paid, acted.paid, 2),
                 result->accounts[a].currency);
        add_word(&words, ", ", word);
    }
    if (words.any)
        putchar('\n');
}

static void print_account(const struct backtest_result *result, int a)
{
    const struct backtest_account *account = &result->backtest->accounts[a];
    const struct backtest_report *r = &result->reports[a];
    const char *interval = bar_interval_name(result->market->interval_ns);
    print_name(&result->accounts[a]);
    print_numbers(result, a);
    printf("  orders %zu, fills %zu%s%s\n", account->n_orders, account->n_fills,
           r->open_trades > 0 ? ", a position is open at the end" : "",
           account->way == BACKTEST_COLUMNS ? "; run vectorised" : "; run by the engine");
    printf("  ratios, volatility and exposure are of the %zu rows%s%s\n",
           result->backtest->to - result->backtest->from, interval ? " of " : "", interval ? interval : "");
    print_actions(result, a);
    print_refused(account);
    print_impossible(account);
    print_drawdowns(result, r);
    if (r->n_months > 0)
        cli_months_print(r->months, r->n_months, stdout);
}

/* Several accounts side by side, a row each. */
static void print_comparison(const struct backtest_result *result)
{
    printf("\n%-*s %11s %8s %7s %7s %7s %6s %8s\n", NAME_COLUMNS, "account", "equity", "return %", "Sharpe",
           "Sortino", "maxdd %", "trades", "fees");
    for (int a = 0; a < result->backtest->n_accounts; a++) {
        const struct backtest_report *r = &result->reports[a];
        char cells[6][FORMAT_MAX];
        printf("%-*.*s %11s %8s %7s %7s %7s %6zu %8s\n", NAME_COLUMNS, NAME_COLUMNS, result->accounts[a].name,
               fit(cells[0], r->final_equity, 2, 11), fit(cells[1], 100 * r->metrics.total_return, 2, 8),
               fit(cells[2], r->metrics.sharpe, 2, 7), fit(cells[3], r->metrics.sortino, 2, 7),
               fit(cells[4], 100 * r->metrics.max_drawdown, 2, 7), r->trades.n, fit(cells[5], r->fees, 2, 8));
    }
}

/* Lot, tick and quote, each with where it comes from. */
static void print_symbol_terms(const struct run_args *args, const struct symbol *symbol)
{
    char label[64], lot[DECIMAL_TEXT_MAX], tick[DECIMAL_TEXT_MAX], word[128];
    decimal_format_short(symbol->filters.step, symbol->qty_scale, lot);
    decimal_format_short(symbol->filters.tick, symbol->price_scale, tick);
    snprintf(label, sizeof label, "          %s: ", symbol->name);
    struct words words = begin_words(label);
    snprintf(word, sizeof word, "lot %s (%s)", lot, cli_run_source(args, RUN_TERM_LOT, symbol));
    add_word(&words, ", ", word);
    snprintf(word, sizeof word, "tick %s (%s)", tick, cli_run_source(args, RUN_TERM_TICK, symbol));
    add_word(&words, ", ", word);
    snprintf(word, sizeof word, "quote %s (%s)", symbol->quote, cli_run_source(args, RUN_TERM_QUOTE, symbol));
    add_word(&words, ", ", word);
    putchar('\n');
}

/* The quote asset of all, or that it differs; what was widened; prices at another scale than 8. */
static void print_terms(const struct backtest_result *result)
{
    const struct market *market = result->market;
    const char *quote = market->series[0].symbol.quote;
    size_t repaired = 0;
    bool same = true;
    for (int s = 0; s < market->n_symbols; s++) {
        same = same && strcmp(market->series[s].symbol.quote, quote) == 0;
        repaired += market->series[s].repaired;
    }
    printf("          quoted in %s%s\n", same ? quote : "several currencies",
           strcmp(quote, SYMBOL_QUOTE_UNKNOWN) == 0 ? ", an unknown currency: --quote names it" : "");
    for (int s = 0; s < market->n_symbols; s++)
        print_symbol_terms(&result->args->run, &market->series[s].symbol);
    if (repaired > 0)
        printf("          %zu repaired: low or high widened to take in open and close\n", repaired);
    for (int s = 0; s < market->n_symbols; s++) {
        const struct market_series *series = &market->series[s];
        if (series->symbol.price_scale <= PLAIN_SCALE)
            continue;
        printf("          %s: prices of %d digits", series->symbol.name, series->price_digits);
        if (series->rounded_digits > 0)
            printf(", rounded from %d", series->rounded_digits);
        putchar('\n');
    }
}

static void print_market(const struct backtest_result *result)
{
    const struct market *market = result->market;
    const struct backtest *backtest = result->backtest;
    const char *interval = bar_interval_name(market->interval_ns);
    char from[FORMAT_MAX], to[FORMAT_MAX];
    size_t missing = 0;
    struct words words = begin_words("bars      ");
    for (int s = 0; s < market->n_symbols; s++) {
        missing += cli_run_missing(&result->args->run, market, s);
        if (s < SYMBOLS_SHOWN)
            add_word(&words, " ", market->series[s].symbol.name);
    }
    if (market->n_symbols > SYMBOLS_SHOWN) {
        snprintf(from, sizeof from, "and %d more", market->n_symbols - SYMBOLS_SHOWN);
        add_word(&words, " ", from);
    }
    add_word(&words, " ", interval ? interval : "");
    printf("\n          %zu rows from %s to %s", backtest->to - backtest->from,
           time_text(market_open_ns(market, backtest->from), from),
           time_text(market_open_ns(market, backtest->to), to));
    if (backtest->from > 0)
        printf(", %zu before", backtest->from);
    if (missing > 0)
        printf("\n          %zu bars missing in these rows: kept as gaps, nothing trades in them\n", missing);
    else
        puts("\n          no bar missing");
    print_terms(result);
    cli_run_universe_print(&result->args->run, result->market, result->backtest->from, result->backtest->to);
    if (cli_run_calendar(&result->args->run))
        printf("sessions  %s, by the calendar %s\n", session_choice_names[result->args->run.terms.session],
               cli_run_calendar(&result->args->run)->name);
    if (result->n_ticks > 0)
        printf("trades    %zu, from which the bars were built; each is the best bid and ask too\n",
               result->n_ticks);
}

static void print_costs(const struct backtest_result *result)
{
    static const char *const names[BACKTEST_STAGES] = {[STAGE_LOAD] = "load",
                                                       [STAGE_INDICATORS] = "indicators",
                                                       [STAGE_SIGNALS] = "signals",
                                                       [STAGE_SIMULATE] = "simulate",
                                                       [STAGE_METRICS] = "metrics"};
    char bytes[FORMAT_MAX];
    printf("\nledger ok %zu rows, hash ", result->ledger_rows);
    for (int i = 0; i < HASH_SHOWN; i++)
        printf("%02x", result->hash[i]);
    printf("…\nseconds   ");
    for (int i = 0; i < BACKTEST_STAGES; i++)
        printf("%s%s %.6f",
               i == STAGE_SIMULATE ? ",\n          "
               : i > 0             ? ", "
                                   : "",
               names[i], result->seconds[i]);
    printf("\nmemory    %sB at its peak\n", cli_format_count(bytes, result->peak_bytes));
}

void cli_backtest_print(const struct backtest_result *result)
{
    char gain[FORMAT_MAX];
    print_market(result);
    if (result->benchmark)
        printf("against   %s, held: %s\n", result->benchmark,
               cli_backtest_percent(gain, result->reports[0].benchmark.total_return));
    if (result->backtest->n_accounts > 1)
        print_comparison(result);
    for (int a = 0; a < result->backtest->n_accounts; a++)
        print_account(result, a);
    print_costs(result);
}
