/* A statement as one HTML page. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/books/statement_put.h"
#include "exchange/bar.h"
#include "report/page.h"

enum { WORDS_MAX = 256 };

static const char *decimal(int128_t units, int scale, char ret[static DECIMAL_TEXT_MAX])
{
    decimal_format(units, scale, ret);
    return ret;
}

static void lines(struct text *text, const struct db_statement_money *money)
{
    char units[DECIMAL_TEXT_MAX];
    report_page_facts(text);
    for (int i = 0; i < DB_STATEMENT_LINES; i++) {
        const struct db_statement_line *line = &db_statement_lines[i];
        const int128_t value = db_statement_line_value(line, money);
        report_page_fact(text, line->words,
                         db_statement_line_known(line, money)
                             ? decimal(line->paid ? -value : value, money->scale, units)
                             : "n/a",
                         i == 0 || i == DB_STATEMENT_LINES - 1 ? money->asset : NULL);
    }
    report_page_fact(text, "Of which cash", decimal(money->cash, money->scale, units),
                     "less what of it is borrowed");
    if (money->receivable != 0)
        report_page_fact(text, "Of which receivable", decimal(money->receivable, money->scale, units),
                         "dividends between ex-date and payment");
    if (money->withheld != 0)
        report_page_fact(text, "Withheld", decimal(money->withheld, money->scale, units),
                         "of dividends, which are without it");
    if (money->fees_in_kind != 0)
        report_page_fact(text, "Of the fees", decimal(money->fees_in_kind, money->scale, units),
                         "taken of the bought coin, by the fills' prices");
    report_page_facts_end(text);
}

static void flows(struct text *text, const struct db_statement_account *account,
                  const struct db_statement_money *money)
{
    static const char *const names[] = {"Time", "Money in and out", "row of the ledger", "amount"};
    char time[DB_STATEMENT_TIME_MAX], units[DECIMAL_TEXT_MAX], id[32];
    bool any = false;
    for (size_t i = 0; i < account->n_flows; i++) {
        const struct db_statement_flow *flow = &account->flows[i];
        const struct ledger_row row = {.kind = flow->kind, .amount = flow->amount < 0 ? -1 : 1};
        if (strcmp(flow->asset, money->asset) != 0)
            continue;
        if (!any)
            report_page_table(text, names, 4);
        any = true;
        snprintf(id, sizeof id, "%llu", (unsigned long long)flow->id);
        report_page_row(text);
        report_page_cell(text, db_statement_time(flow->ts_ns, time));
        report_page_cell(text, flow->of_reset && flow->kind != LEDGER_RESET ? "opening cash after a reset"
                                                                            : ledger_row_word(&row));
        report_page_cell(text, id);
        report_page_cell(text, flow->kind == LEDGER_RESET && money->no_reset
                                   ? "n/a"
                                   : decimal(flow->amount, flow->scale, units));
        report_page_row_end(text);
    }
    if (any)
        report_page_table_end(text);
}

static const char *source_of(const struct db_statement_mark *mark, char ret[static WORDS_MAX])
{
    if (mark->interval_ns > 0)
        snprintf(ret, WORDS_MAX, "%s of %s",
                 mark->source == DB_STATEMENT_VENUE ? "the venue's bar" : "a bar of trades",
                 bar_interval_name(mark->interval_ns));
    else
        snprintf(ret, WORDS_MAX, "%s",
                 mark->source == DB_STATEMENT_STORED ? "the engine's newest mark"
                 : mark->source == DB_STATEMENT_STOP ? "the engine's mark at a stop"
                 : mark->source == DB_STATEMENT_FILL ? "the account's last fill"
                                                     : "there is no price");
    return ret;
}

static void mark_row(struct text *text, const struct db_statement_mark *mark)
{
    const struct symbol *s = &mark->symbol;
    const bool priced = mark->source != DB_STATEMENT_NONE;
    char units[DECIMAL_TEXT_MAX], time[DB_STATEMENT_TIME_MAX], words[WORDS_MAX];
    report_page_row(text);
    report_page_cell(text, s->name);
    report_page_cell(text, db_statement_moment_word(mark->moment));
    report_page_cell(text, decimal(mark->qty, s->qty_scale, units));
    report_page_cell(text, decimal(mark->cost, s->quote_scale, units));
    report_page_cell(text, priced ? decimal(mark->price, s->price_scale, units) : "n/a");
    report_page_cell(text, source_of(mark, words));
    report_page_cell(text, priced ? db_statement_time(mark->mark_ns, time) : "n/a");
    report_page_cell(text, priced ? decimal(mark->value, s->quote_scale, units) : "n/a");
    report_page_row_end(text);
}

static void marks(struct text *text, const struct db_statement_account *account,
                  const struct db_statement_money *money)
{
    static const char *const names[] = {"Position", "at",   "quantity",    "cost",
                                        "mark",     "from", "which is of", "value"};
    bool any = false;
    for (size_t i = 0; i < account->n_marks; i++) {
        if (strcmp(account->marks[i].symbol.quote, money->asset) != 0)
            continue;
        if (!any)
            report_page_table(text, names, 8);
        any = true;
        mark_row(text, &account->marks[i]);
    }
    if (any)
        report_page_table_end(text);
}

int db_statement_page(const struct db_statements *statement, struct text *text)
{
    char from[DB_STATEMENT_TIME_MAX], to[DB_STATEMENT_TIME_MAX], words[WORDS_MAX];
    snprintf(words, sizeof words, "Statement, %s to %s", db_statement_time(statement->from_ns, from),
             db_statement_time(statement->to_ns, to));
    report_page_begin(text, words);
    report_page_paragraph(text, "What happened at the first time is in the period, what happened at the "
                                "second is in the next one. docs/statements.md defines each line.");
    if (statement->n_accounts == 0)
        report_page_paragraph(text, "No account had started by the period's end.");
    for (size_t i = 0; i < statement->n_accounts; i++)
        for (size_t k = 0; k < statement->accounts[i].n_moneys; k++) {
            const struct db_statement_account *account = &statement->accounts[i];
            snprintf(words, sizeof words, "%s, %s", account->account.name, account->moneys[k].asset);
            report_page_section(text, words);
            lines(text, &account->moneys[k]);
            flows(text, account, &account->moneys[k]);
            marks(text, account, &account->moneys[k]);
        }
    report_page_end(text);
    return text_ok(text) ? 0 : -ENOMEM;
}
