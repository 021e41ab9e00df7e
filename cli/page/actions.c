/* Splits and dividends that a run traded through. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/page/page.h"
#include "exchange/decimal.h"

enum { LISTED_MAX = 200 };

static const char *terms(const struct corporate_action *action, const struct symbol *symbol,
                         char ret[static PAGE_WORDS_MAX])
{
    char cash[DECIMAL_TEXT_MAX];
    decimal_format_short(action->cash, ACTION_CASH_SCALE, cash);
    if (action->kind == ACTION_SPLIT)
        snprintf(ret, PAGE_WORDS_MAX, "%" PRId64 " for %" PRId64, action->shares, action->per);
    else
        snprintf(ret, PAGE_WORDS_MAX, "%s %s a share", cash, symbol->quote);
    return ret;
}

static void row(struct text *text, const struct page_run *run, const struct backtest_taken *taken)
{
    const struct symbol *symbol = &run->source->config->market->series[taken->symbol].symbol;
    const bool split = taken->action.kind == ACTION_SPLIT;
    char words[PAGE_WORDS_MAX];
    report_page_row(text);
    report_page_cell(text, symbol->name);
    report_page_cell(text, corporate_action_name(taken->action.kind));
    report_page_cell(text, report_part_time(taken->ts_ns, words));
    report_page_cell(text, terms(&taken->action, symbol, words));
    if (split)
        report_page_value_signed(text, decimal_to_double(taken->change, symbol->qty_scale), 8);
    else
        report_page_cell(text, "");
    if (split)
        report_page_cell(text, "");
    else
        report_page_value_signed(text, decimal_to_double(taken->paid, symbol->quote_scale), 2);
    report_page_row_end(text);
}

size_t cli_page_splits(const struct page_run *run, int symbol)
{
    size_t n = 0;
    for (size_t i = backtest_taken_from(run->result, run->x[0]); i < run->result->n_taken; i++)
        n += run->result->taken[i].symbol == symbol && run->result->taken[i].action.kind == ACTION_SPLIT;
    return n;
}

void cli_page_actions(struct text *text, const struct page_run *run)
{
    static const char *const names[] = {"Symbol", "what", "since, UTC", "terms", "shares", "paid"};
    const struct backtest_account *result = run->result;
    size_t first = backtest_taken_from(result, run->x[0]); /* after history */
    char words[96];
    if (first == result->n_taken)
        return;
    report_page_heading(text, "Splits and dividends");
    report_page_paragraph(
        text,
        "Bars, fills and trades have the prices and shares of their time: at a split the price falls and what "
        "is held grows, and equity is the same. A trade's largest quantity is in the shares of its last day. "
        "Dividends are in equity, profits and the benchmark.");
    if (result->n_taken - first > LISTED_MAX) {
        snprintf(words, sizeof words, "The last %d of %zu.", LISTED_MAX, result->n_taken - first);
        report_page_paragraph(text, words);
        first = result->n_taken - LISTED_MAX;
    }
    report_page_table(text, names, sizeof names / sizeof *names);
    for (size_t i = first; i < result->n_taken; i++)
        row(text, run, &result->taken[i]);
    report_page_table_end(text);
}
