/* The statement of each account's period (db/books/statement.h), and where the report's figures are not the
 * same, why. */
#include <errno.h>
#include <string.h>

#include "db/report/internal.h"

static void take_statements(struct db_report *report, const struct db_statements *statements,
                            const struct db_report_account *like)
{
    for (size_t i = 0; i < report->n_accounts; i++) {
        struct db_report_account *account = &report->accounts[i];
        if (account->from_ns != like->from_ns || account->to_ns != like->to_ns)
            continue;
        for (size_t k = 0; k < statements->n_accounts; k++)
            if (statements->accounts[k].account.number == account->account.number) {
                account->stated = true;
                account->statement = statements->accounts[k].moneys[0];
            }
    }
}

/* Is it the first account with its period? */
static bool is_first(const struct db_report *report, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (report->accounts[i].from_ns == report->accounts[at].from_ns &&
            report->accounts[i].to_ns == report->accounts[at].to_ns)
            return false;
    return true;
}

int db_report_stated(struct db_reader *reader, struct db_report *report)
{
    int r = 0;
    for (size_t i = 0; i < report->n_accounts && r == 0; i++) {
        const struct db_report_account *account = &report->accounts[i];
        const struct db_statement_query query = {.from_ns = account->from_ns,
                                                 .to_ns = account->to_ns,
                                                 .now_ns = report->query.now_ns,
                                                 .account = report->query.account};
        struct db_statements statements;
        if (!is_first(report, i) || account->from_ns >= account->to_ns)
            continue;
        r = db_statement_make(reader, &query, true, &statements);
        if (r == 0) {
            take_statements(report, &statements, account);
            db_statement_finish(&statements);
        } else if (r == -ENODATA || r == -EBADMSG || r == -ERANGE) {
            r = 0; /* the record begins later, or does not tie: there is no statement of it */
        }
    }
    return r;
}

/* ---- differences ---- */

#define PRICES \
    "the report has the engine's equity, at its newest prices when a point was stored; the statement is at the " \
    "period's ends, by stored marks"
#define IN_KIND \
    "the statement has fees of the bought coin at the fills' prices; the report has them in what the coin cost"

static void add(struct db_report_difference *ret, size_t *n, const char *figure, int128_t report,
                int128_t finer, int128_t statement, const char *why)
{
    if (report == DB_REPORT_UNKNOWN || report * finer == statement)
        return;
    ret[(*n)++] = (struct db_report_difference){figure, report * finer - statement, why};
}

size_t db_report_differences(const struct db_report_account *a,
                             struct db_report_difference ret[static DB_REPORT_DIFFERENCES_MAX])
{
    const struct db_statement_money *m = &a->statement;
    size_t n = 0;
    if (!a->stated || a->based)
        return 0;
    const int128_t finer = decimal_pow10(m->scale - a->account.currency_scale);
    const int128_t resets = a->reset == DB_REPORT_UNKNOWN ? DB_REPORT_UNKNOWN : a->reset;
    if (!m->no_opening)
        add(ret, &n, "opening", a->opening, finer, m->opening, PRICES);
    if (!m->no_reset)
        add(ret, &n, "resets", resets, finer, m->resets, PRICES);
    add(ret, &n, "realized", a->realized, finer, m->realized, IN_KIND);
    if (!m->no_opening && !m->no_reset && !m->no_closing)
        add(ret, &n, "unrealized_change", a->unrealized, finer, m->unrealized,
            m->fees_in_kind ? IN_KIND "; and " PRICES : PRICES);
    add(ret, &n, "fees", a->fees, finer, m->fees, IN_KIND);
    add(ret, &n, "interest", a->interest, finer, m->interest, "rows of other scales");
    add(ret, &n, "dividends", a->dividends, finer, m->dividends,
        "the statement has them from the ex-date on, the report when they are paid");
    if (!m->no_closing)
        add(ret, &n, "closing", a->closing, finer, m->closing, PRICES);
    return n;
}
