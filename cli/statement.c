#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/selected.h"
#include "cli/text.h"
#include "db/books/statement_put.h"
#include "exchange/bar.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"
#include "report/page.h"

struct asked {
    struct db_selection selection;
    const char *html, *method;
    bool marks;
};

/* ---- CSV ---- */

enum { FIRST_COLUMNS = 4, LINE_COLUMNS = DB_STATEMENT_LINES + 1, MORE_COLUMNS = 6 };

/* The period, then the lines with the sum of flows behind the opening, then parts of them. */
static void name_columns(struct stored_column columns[static FIRST_COLUMNS + LINE_COLUMNS + MORE_COLUMNS])
{
    static const char *const first[] = {"account", "currency", "from_ns", "to_ns"};
    static const char *const last[] = {"fees_in_kind",       "withheld",     "opening_receivable",
                                       "closing_receivable", "opening_cash", "closing_cash"};
    int n = 0;
    for (int i = 0; i < FIRST_COLUMNS; i++)
        columns[n++] = (struct stored_column){.name = first[i]};
    for (int i = 0; i < DB_STATEMENT_LINES; i++) {
        columns[n++] = (struct stored_column){.name = db_statement_lines[i].name};
        if (i == 0)
            columns[n++] = (struct stored_column){.name = "flows"};
    }
    for (int i = 0; i < MORE_COLUMNS; i++)
        columns[n++] = (struct stored_column){.name = last[i]};
}

/* "" for what is not known. */
static const char *cell(char buf[static STORED_CELL], int128_t units, int scale, bool known)
{
    return known ? cli_stored_decimal(STORED_CSV, buf, units, scale) : "";
}

static void put_money(struct stored_list *list, const struct db_statement_account *account,
                      const struct db_statement_money *money)
{
    enum { COLUMNS = FIRST_COLUMNS + LINE_COLUMNS + MORE_COLUMNS };
    char buf[COLUMNS][STORED_CELL];
    const char *cells[COLUMNS] = {account->account.name, money->asset,
                                  cli_stored_integer(buf[2], account->from_ns),
                                  cli_stored_integer(buf[3], account->to_ns)};
    int n = FIRST_COLUMNS;
    for (int i = 0; i < DB_STATEMENT_LINES; i++, n++) {
        const struct db_statement_line *line = &db_statement_lines[i];
        cells[n] = cell(buf[n], db_statement_line_value(line, money), money->scale,
                        db_statement_line_known(line, money));
        if (i == 0) {
            n++;
            cells[n] = cell(buf[n], db_statement_flows(money), money->scale, !money->no_reset);
        }
    }
    const int128_t more[MORE_COLUMNS] = {money->fees_in_kind, money->withheld,     money->opening_receivable,
                                         money->receivable,   money->opening_cash, money->cash};
    for (int i = 0; i < MORE_COLUMNS; i++, n++)
        cells[n] = cell(buf[n], more[i], money->scale, true);
    cli_stored_row(list, cells);
}

static int print_figures(const struct db_statements *statement)
{
    struct stored_column columns[FIRST_COLUMNS + LINE_COLUMNS + MORE_COLUMNS];
    struct stored_list list = {.name = "statement",
                               .form = STORED_CSV,
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns};
    name_columns(columns);
    for (size_t i = 0; i < statement->n_accounts; i++)
        for (size_t k = 0; k < statement->accounts[i].n_moneys; k++)
            put_money(&list, &statement->accounts[i], &statement->accounts[i].moneys[k]);
    cli_stored_end(&list);
    return list.r;
}

static const struct stored_column mark_columns[] = {
    {"account"}, {"currency"}, {"moment"},  {"ts_ns"},  {"symbol"},   {"venue"}, {"qty"},
    {"cost"},    {"mark"},     {"mark_ns"}, {"source"}, {"interval"}, {"value"},
};

static void put_mark(struct stored_list *list, const char *account, const struct db_statement_mark *mark)
{
    enum { COLUMNS = sizeof mark_columns / sizeof *mark_columns };
    const struct symbol *s = &mark->symbol;
    const bool priced = mark->source != DB_STATEMENT_NONE;
    char buf[COLUMNS][STORED_CELL];
    const char *cells[] = {account,
                           s->quote,
                           db_statement_moment_word(mark->moment),
                           cli_stored_integer(buf[3], mark->ts_ns),
                           s->name,
                           s->venue,
                           cell(buf[6], mark->qty, s->qty_scale, true),
                           cell(buf[7], mark->cost, s->quote_scale, true),
                           cell(buf[8], mark->price, s->price_scale, priced),
                           priced ? cli_stored_integer(buf[9], mark->mark_ns) : "",
                           db_statement_source_word(mark->source),
                           mark->interval_ns > 0 ? bar_interval_name(mark->interval_ns) : "",
                           cell(buf[12], mark->value, s->quote_scale, priced)};
    cli_stored_row(list, cells);
}

static int print_marks(const struct db_statements *statement)
{
    struct stored_list list = {.name = "statement",
                               .form = STORED_CSV,
                               .columns = mark_columns,
                               .n_columns = sizeof mark_columns / sizeof *mark_columns};
    for (size_t i = 0; i < statement->n_accounts; i++)
        for (size_t k = 0; k < statement->accounts[i].n_marks; k++)
            put_mark(&list, statement->accounts[i].account.name, &statement->accounts[i].marks[k]);
    cli_stored_end(&list);
    return list.r;
}

/* ---- the verb ---- */

static int print_text(const struct db_statements *statement)
{
    struct text text = {0};
    db_statement_text(statement, &text);
    bool ok = text_ok(&text);
    for (char *line = ok ? text.data : NULL, *end; line && line < text.data + text.len; line = end + 1) {
        end = memchr(line, '\n', text.len - (size_t)(line - text.data)); /* each line is ended */
        *end = '\0';
        cli_text_print(stdout, line);
        putchar('\n');
    }
    text_finish(&text);
    return ok ? 0 : -ENOMEM;
}

static int write_page(const struct db_statements *statement, const char *path)
{
    struct text page = {0};
    int r = db_statement_page(statement, &page);
    r = r < 0 ? r : report_page_write(&page, path);
    text_finish(&page);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "statement", path, strerror(-r)) : EXIT_OK;
}

static int put(const struct option_call *call, const struct db_statements *statement)
{
    const struct asked *asked = call->into;
    int status = asked->html ? write_page(statement, asked->html) : EXIT_OK, r = 0;
    if (status != EXIT_OK)
        return status;
    if (call->json)
        return cli_stored_print("statement", db_statement_json(statement), 15);
    if (call->csv)
        r = asked->marks ? print_marks(statement) : print_figures(statement);
    else if (!asked->html)
        r = print_text(statement);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "statement", "", strerror(-r)) : EXIT_OK;
}

static void take_newest(void *ctx, const struct db_price_row *row)
{
    int64_t *newest_ns = ctx;
    *newest_ns = row->price.ts_ns > *newest_ns ? row->price.ts_ns : *newest_ns;
}

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    struct db_reader *reader;
    struct db_statements statement;
    int64_t newest_ns = 0, wall_ns = clock_wall_ns();
    int status = cli_stored_open("statement", call->state, &reader);
    if (status != EXIT_OK)
        return status;
    int r = db_reader_prices(reader, take_newest, &newest_ns); /* of a feed's clock, perhaps */
    if (r < 0)
        return cli_stored_close("statement", reader, r);
    const struct db_statement_query query = {.from_ns = asked->selection.from_ns,
                                             .to_ns = asked->selection.to_ns,
                                             .now_ns = wall_ns > newest_ns ? wall_ns : newest_ns + 1,
                                             .account = asked->selection.account,
                                             .fifo = asked->method && strcmp(asked->method, "fifo") == 0};
    r = db_statement_make(reader, &query, false, &statement);
    if (r == -EDOM) {
        const char *option = query.to_ns <= query.from_ns ? "to" : "from";
        status = option_fail(call, EXIT_USAGE, "--%s: %s", option, db_reader_error(reader));
        db_reader_close(reader);
        return status;
    }
    if (r < 0)
        return cli_stored_close("statement", reader, r);
    status = put(call, &statement);
    db_statement_finish(&statement);
    db_reader_close(reader);
    return status;
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, .csv = true, .run = run}};

static const struct option_row options[] = {
    SELECTED_ACCOUNT(),
    SELECTED_PERIOD("what happened"),
    {"method", "average|fifo",
     "how realized gains are computed: by average cost, the default, as positions and report have them, or "
     "first in, first out, as gains has them",
     offsetof(struct asked, method)},
    {"marks", NULL, "with --csv: the positions with their marks, in place of the figures",
     offsetof(struct asked, marks), .with = "csv"},
    {"html", "F", "one HTML page, which loads nothing and runs nothing", offsetof(struct asked, html)},
};

static const struct option_refusal refused[] = {
    SELECTED_REFUSED_AT("a statement is of a period, which ends where --to says")};

CLI_VERB(cli_statement) = {
    .name = "statement",
    .words = "what a period made of each account, currency by currency, to the unit",
    .about =
        "Of each account and currency: opening + flows (deposits, withdrawals, transfers, resets) + realized + change of "
        "unrealized - fees - interest + dividends = closing, to the last unit, with the marks that positions were valued "
        "by and their times. What happened at --from belongs to the period, what happened at --to to the next one, whose "
        "opening is this one's closing. From the ledger, the fills and the bars, with or without a daemon. Times are UTC. "
        "What is not known is n/a, empty in CSV, in JSON null. docs/statements.md defines each line. With --json, "
        "papertape.statement/1, with decimals as texts.",
    .exits = "1 also where the ledger and the fills do not tie; 2 also for a period that is in the future.",
    .page = "accounts",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct asked),
    .init = cli_selected_init,
};
