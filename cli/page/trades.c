/* A run's fills over prices, and its trades one by one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/page/page.h"
#include "exchange/decimal.h"
#include "strategy/metrics.h"

enum {
    CHARTS_MAX = 6, /* symbols whose prices are drawn */
    DIGITS = 4,
};

/* ---- fills over the price ---- */

struct marks {
    int64_t *x; /* [n], room for all fills */
    double *y;
    size_t n;
};

struct prices {
    double *close; /* [n + 1]; NaN where the bar is missing */
    struct marks buys, sells;
};

static void finish(struct prices *prices)
{
    free(prices->close);
    free(prices->buys.x);
    free(prices->buys.y);
    free(prices->sells.x);
    free(prices->sells.y);
}

static int make_room(const struct page_run *run, struct prices *ret)
{
    const size_t n = run->result->n_fills + 1;
    *ret = (struct prices){.close = calloc(run->n + 1, sizeof(double)),
                           .buys = {calloc(n, sizeof(int64_t)), calloc(n, sizeof(double)), 0},
                           .sells = {calloc(n, sizeof(int64_t)), calloc(n, sizeof(double)), 0}};
    if (ret->close && ret->buys.x && ret->buys.y && ret->sells.x && ret->sells.y)
        return 0;
    finish(ret);
    return -ENOMEM;
}

static void fill_in(const struct page_run *run, int symbol, struct prices *prices)
{
    const struct market_series *series = &run->source->config->market->series[symbol];
    const size_t from = run->source->backtest->from;
    prices->buys.n = prices->sells.n = 0;
    prices->close[0] = market_present(series, from) ? series->open[from] : NAN;
    for (size_t i = 0; i < run->n; i++)
        prices->close[i + 1] = market_present(series, from + i) ? series->close[from + i] : NAN;
    for (size_t i = 0; i < run->result->n_fills; i++) {
        const struct fill *fill = &run->result->fills[i];
        struct marks *marks = fill->side == ORDER_BUY ? &prices->buys : &prices->sells;
        if (fill->symbol != symbol)
            continue;
        marks->x[marks->n] = fill->ts_ns;
        marks->y[marks->n++] = decimal_to_double(fill->price, series->symbol.price_scale);
    }
}

static void draw(struct text *text, const struct page_run *run, int symbol, const struct prices *prices)
{
    const struct symbol *listed = &run->source->config->market->series[symbol].symbol;
    char title[PAGE_WORDS_MAX], unit[64], caption[PAGE_WORDS_MAX];
    const bool wide = report_chart_is_wide(prices->close, run->n + 1);
    const struct report_series series[] = {
        {REPORT_BUYS, 3, "bought", prices->buys.x, prices->buys.y, NULL, prices->buys.n},
        {REPORT_SELLS, 4, "sold", prices->sells.x, prices->sells.y, NULL, prices->sells.n},
        {REPORT_LINE, 2, listed->name, run->x, prices->close, NULL, run->n + 1}};
    snprintf(title, sizeof title, "Trades of %s on %s", run->name, listed->name);
    snprintf(unit, sizeof unit, "%s%s", listed->quote, wide ? ", log scale" : "");
    snprintf(caption, sizeof caption,
             "%zu purchases and %zu sales at their prices, on the closes. A long begins with a purchase and "
             "ends with a sale, a short the other way round. Marks that would cover one another are drawn "
             "once.%s",
             prices->buys.n, prices->sells.n,
             cli_page_splits(run, symbol) > 0 ? " Prices are as traded: a fall or rise at a split is no loss "
                                                "or gain."
                                              : "");
    const struct report_chart chart = {.title = title,
                                       .y_name = unit,
                                       .time = true,
                                       .gap = 2 * run->report->interval_ns,
                                       .logarithmic = wide,
                                       .also = NAN,
                                       .series = series,
                                       .n = 3};
    report_page_chart(text, &chart, caption);
}

static int draw_all(struct text *text, const struct page_run *run)
{
    const int n = run->source->config->market->n_symbols;
    struct prices prices;
    char words[96];
    int drawn = 0, traded = 0, r = make_room(run, &prices);
    for (int s = 0; s < n && r == 0; s++) {
        fill_in(run, s, &prices);
        if (prices.buys.n + prices.sells.n == 0)
            continue;
        traded++;
        if (drawn < CHARTS_MAX) {
            draw(text, run, s, &prices);
            drawn++;
        }
    }
    if (r == 0)
        finish(&prices);
    if (drawn < traded) {
        snprintf(words, sizeof words, "The first %d of %d symbols that were traded are drawn.", drawn,
                 traded);
        report_page_paragraph(text, words);
    }
    return r;
}

/* ---- figures ---- */

static void facts(struct text *text, const struct page_run *run)
{
    const struct backtest_report *r = run->report;
    char words[96];
    report_page_facts(text);
    snprintf(words, sizeof words, "from flat to flat; %zu won, %zu lost; %zu open at the end", r->trades.wins,
             r->trades.losses, r->open_trades);
    report_page_fact_fixed(text, "Closed trades", (double)r->trades.n, 0, words);
    report_page_fact_fixed(text, "Winning trades, %", 100 * r->ratios.win_rate, 2, NULL);
    report_page_fact_number(text, "Profit factor", r->ratios.profit_factor, DIGITS,
                            "what winning trades won, by what others lost");
    report_page_fact_fixed(text, "Mean profit", r->ratios.expectancy, 4, run->spec->currency);
    report_page_fact_fixed(text, "Mean win", r->ratios.average_win, 4, run->spec->currency);
    report_page_fact_fixed(text, "Mean loss", r->ratios.average_loss, 4, run->spec->currency);
    report_page_fact_fixed(text, "Mean time held, h", r->average_held_s / 3600, 2, NULL);
    report_page_fact_fixed(text, "Exposed, %", 100 * r->exposure, 2,
                           "rows at whose close a position was open");
    snprintf(words, sizeof words, "%zu purchases, %zu sales, of %zu orders; %llu refused", run->buys,
             run->sells, run->result->n_orders, (unsigned long long)r->refused);
    report_page_fact_fixed(text, "Fills", (double)run->result->n_fills, 0, words);
    report_page_facts_end(text);
}

/* ---- one by one ---- */

static void row(struct text *text, const struct page_run *run, size_t i)
{
    const struct backtest_trade *trade = &run->result->trades[i];
    const struct symbol *symbol = &run->source->config->market->series[trade->symbol].symbol;
    const int64_t paid = trade->qty < 0 ? trade->proceeds : trade->cost;
    char cell[REPORT_PART_TIME_MAX];
    report_page_row(text);
    snprintf(cell, sizeof cell, "%zu", i + 1);
    report_page_cell(text, cell);
    report_page_cell(text, symbol->name);
    report_page_cell(text, trade->qty < 0 ? "short" : "long");
    report_page_cell(text, report_part_time(trade->entry_ns, cell));
    report_page_cell(text, trade->exit_ns ? report_part_time(trade->exit_ns, cell) : "open");
    report_page_value_fixed(text, (double)(trade->exit_row - trade->entry_row), 0);
    report_page_value(text, fabs(decimal_to_double(trade->qty, symbol->qty_scale)), 8);
    report_page_value_fixed(text, decimal_to_double(trade->cost, symbol->quote_scale), 2);
    report_page_value_fixed(text, decimal_to_double(trade->proceeds, symbol->quote_scale), 2);
    report_page_value_fixed(text, decimal_to_double(trade->fees, symbol->quote_scale), 2);
    report_page_value_signed(text, decimal_to_double(trade->profit, symbol->quote_scale), 2);
    report_page_value_signed(text, paid > 0 ? 100 * (double)trade->profit / (double)paid : NAN, 2);
    report_page_row_end(text);
}

static void list(struct text *text, const struct page_run *run, size_t most)
{
    static const char *const names[] = {"Trade", "symbol", "side",     "entry, UTC", "exit, UTC", "rows",
                                        "most",  "bought", "sold for", "fees",       "profit",    "%"};
    const size_t n = run->result->n_trades, first = n > most ? n - most : 0;
    char words[PAGE_WORDS_MAX];
    if (first > 0) {
        snprintf(words, sizeof words,
                 "The last %zu of %zu trades; papertape backtest --rounds FILE writes all.", most, n);
        report_page_paragraph(text, words);
    }
    report_page_table(text, names, sizeof names / sizeof *names);
    for (size_t i = first; i < n; i++)
        row(text, run, i);
    report_page_table_end(text);
}

int cli_page_trades(struct text *text, const struct page_run *run, size_t most)
{
    report_page_heading(text, "Trades");
    if (run->result->n_fills == 0) {
        report_page_paragraph(
            text, run->result->n_orders > 0
                      ? "No trade was made: none of its orders was filled."
                      : "No trade was made: the strategy gave no order, so that equity is the cash.");
        return 0;
    }
    int r = draw_all(text, run);
    facts(text, run);
    if (r == 0)
        list(text, run, most);
    return r;
}
