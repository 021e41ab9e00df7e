/* A statement for people: lines of at most 80 columns. */
#include <stdio.h>
#include <string.h>

#include "db/books/statement_put.h"
#include "exchange/bar.h"

enum { NAME_WIDTH = 34, FLOWS_SHOWN = 40 };

static void put_time(struct text *text, int64_t ns)
{
    char time[DB_STATEMENT_TIME_MAX];
    text_str(text, db_statement_time(ns, time));
}

/* A line that is subtracted is shown as it is added. */
static void put_line(struct text *text, const struct db_statement_line *line,
                     const struct db_statement_money *money)
{
    const int128_t value = db_statement_line_value(line, money);
    const bool end = line == db_statement_lines || line == db_statement_lines + DB_STATEMENT_LINES - 1;
    char units[DECIMAL_TEXT_MAX];
    if (value == 0 && !end && db_statement_line_known(line, money))
        return;
    decimal_format(line->paid ? -value : value, money->scale, units);
    text_format(text, "  %-*s %43s\n", NAME_WIDTH, line->words,
                db_statement_line_known(line, money) ? units : "n/a");
}

static void put_flow(struct text *text, const struct db_statement_flow *flow, bool known)
{
    const struct ledger_row row = {.kind = flow->kind, .amount = flow->amount < 0 ? -1 : 1};
    char units[DECIMAL_TEXT_MAX], time[DB_STATEMENT_TIME_MAX];
    decimal_format_short(flow->amount, flow->scale, units);
    text_format(text, "    %s %s %s (row %llu)\n", db_statement_time(flow->ts_ns, time),
                flow->of_reset && flow->kind != LEDGER_RESET ? "reset to" : ledger_row_word(&row),
                known ? units : "n/a", (unsigned long long)flow->id);
}

static void put_flows(struct text *text, const struct db_statement_account *account,
                      const struct db_statement_money *money)
{
    size_t n = 0;
    for (size_t i = 0; i < account->n_flows; i++) {
        const struct db_statement_flow *flow = &account->flows[i];
        if (strcmp(flow->asset, money->asset) != 0)
            continue;
        if (n == 0)
            text_lit(text, "  money in and out, by the ledger's rows\n");
        if (n++ < FLOWS_SHOWN)
            put_flow(text, flow, flow->kind != LEDGER_RESET || !money->no_reset);
    }
    if (n > FLOWS_SHOWN)
        text_format(text, "    and %zu more: --json has all\n", n - FLOWS_SHOWN);
}

static const char *const words[] = {[DB_STATEMENT_VENUE] = "venue's bar",
                                    [DB_STATEMENT_TRADES] = "bar of trades",
                                    [DB_STATEMENT_STORED] = "newest mark",
                                    [DB_STATEMENT_STOP] = "mark at a stop",
                                    [DB_STATEMENT_FILL] = "own last fill"};

static void put_mark(struct text *text, const struct db_statement_mark *mark)
{
    const struct symbol *s = &mark->symbol;
    char qty[DECIMAL_TEXT_MAX], price[DECIMAL_TEXT_MAX], value[DECIMAL_TEXT_MAX];
    decimal_format_short(mark->qty, s->qty_scale, qty);
    decimal_format_short(mark->price, s->price_scale, price);
    decimal_format_short(mark->value, s->quote_scale, value);
    text_format(text, "    %-7s %s %s", db_statement_moment_word(mark->moment), qty, s->name);
    if (mark->source == DB_STATEMENT_NONE) {
        text_lit(text, ": no price, not valued\n");
        return;
    }
    text_format(text, " at %s\n      is %s, by %s", price, value, words[mark->source]);
    if (mark->interval_ns > 0)
        text_format(text, " of %s", bar_interval_name(mark->interval_ns));
    text_lit(text, ", ");
    put_time(text, mark->mark_ns);
    text_lit(text, "\n");
}

static void put_marks(struct text *text, const struct db_statement_account *account,
                      const struct db_statement_money *money)
{
    bool any = false;
    for (size_t i = 0; i < account->n_marks; i++) {
        if (strcmp(account->marks[i].symbol.quote, money->asset) != 0)
            continue;
        if (!any)
            text_lit(text, "  positions and their marks\n");
        any = true;
        put_mark(text, &account->marks[i]);
    }
}

static void put_money(struct text *text, const struct db_statements *statement,
                      const struct db_statement_account *account, const struct db_statement_money *money)
{
    char units[DECIMAL_TEXT_MAX];
    text_format(text, "%s, %s\n  from ", account->account.name, money->asset);
    put_time(text, account->from_ns);
    text_lit(text, "\n  to ");
    put_time(text, account->to_ns);
    text_lit(text, ", which is not in it\n");
    for (int i = 0; i < DB_STATEMENT_LINES; i++)
        put_line(text, &db_statement_lines[i], money);
    decimal_format(money->cash, money->scale, units);
    text_format(text, "  %-*s %43s\n", NAME_WIDTH, "of which cash", units);
    if (money->receivable != 0) {
        decimal_format(money->receivable, money->scale, units);
        text_format(text, "  %-*s %43s\n", NAME_WIDTH, "of which dividends to be paid", units);
    }
    if (money->withheld != 0) {
        decimal_format_short(money->withheld, money->scale, units);
        text_format(text, "  withheld of dividends, which are without it: %s\n", units);
    }
    if (money->fees_in_kind != 0) {
        decimal_format_short(money->fees_in_kind, money->scale, units);
        text_format(text, "  fees taken of the bought coin, by the fills' prices: %s\n", units);
    }
    if (statement->query.fifo)
        text_lit(text, "  realized by first in, first out\n");
    put_flows(text, account, money);
    put_marks(text, account, money);
}

void db_statement_text(const struct db_statements *statement, struct text *text)
{
    if (statement->n_accounts == 0)
        text_lit(text, "No account had started by the period's end.\n");
    for (size_t i = 0; i < statement->n_accounts; i++)
        for (size_t k = 0; k < statement->accounts[i].n_moneys; k++) {
            if (i + k > 0)
                text_lit(text, "\n");
            put_money(text, statement, &statement->accounts[i], &statement->accounts[i].moneys[k]);
        }
}
