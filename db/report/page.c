/* A report as one HTML page. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/report/internal.h"
#include "exchange/bar.h"
#include "report/page_parts.h"

enum { WORDS_MAX = 512, RATIO_DIGITS = 4 };

static double money(int128_t units, int scale)
{
    return units == DB_REPORT_UNKNOWN ? (double)NAN : decimal_to_double(units, scale);
}

static double share(double value)
{
    return 100 * value;
}

/* ---- an account ---- */

static void fact(struct text *text, const struct db_report_account *a, const char *name, int128_t units,
                 const char *remark)
{
    report_page_fact_fixed(text, name, money(units, a->account.currency_scale), db_report_decimals(a),
                           remark);
}

static void equity_facts(struct text *text, const struct db_report_account *a)
{
    char opening[DB_REPORT_TIME_MAX], closing[DB_REPORT_TIME_MAX], remark[WORDS_MAX];
    snprintf(remark, sizeof remark, "%s, at %s", a->account.currency,
             a->closing_ns ? db_report_time(a->closing_ns, closing) : "no time");
    fact(text, a, "Equity", a->closing, remark);
    if (a->opening == DB_REPORT_UNKNOWN)
        report_page_fact(text, "Before", "n/a", a->created ? "the account began in the period" : NULL);
    else
        fact(text, a, "Before", a->opening, db_report_time(a->opening_ns, opening));
    snprintf(remark, sizeof remark, "%llu deposits, withdrawals, transfers; %llu resets",
             (unsigned long long)a->flows, (unsigned long long)a->resets);
    fact(text, a, "Put in less taken out",
         a->based ? DB_REPORT_UNKNOWN : a->deposits + a->withdrawals + a->transfers + a->reset,
         a->based ? NULL : remark);
    fact(text, a, "P&L", a->pnl, "equity less what it was before, and less what was put in");
    fact(text, a, "Realized", a->realized, "by average cost, before fees");
    fact(text, a, "Unrealized, change", a->unrealized, "of open positions, at the last closed bar");
    fact(text, a, "Fees", a->fees, NULL);
    fact(text, a, "Interest", a->interest, NULL);
    fact(text, a, "Dividends", a->dividends, NULL);
    fact(text, a, "Other", a->other,
         "what prices moved between the last closed bar and the point of equity, and rounding");
}

/* The account's statement of the period, where the report is not the same. */
static void differences(struct text *text, const struct db_report_account *a)
{
    static const char *const names[] = {"Figure", "less the statement's", "why"};
    struct db_report_difference differences[DB_REPORT_DIFFERENCES_MAX];
    const size_t n = db_report_differences(a, differences);
    char units[DECIMAL_TEXT_MAX];
    if (n == 0)
        return;
    report_page_table(text, names, 3);
    for (size_t i = 0; i < n; i++) {
        decimal_format(differences[i].by, a->statement.scale, units);
        report_page_row(text);
        report_page_cell(text, differences[i].figure);
        report_page_cell(text, units);
        report_page_cell(text, differences[i].why);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

static void ratio_facts(struct text *text, const struct db_report_account *a,
                        const struct db_report_luck *luck)
{
    const struct metrics *m = &a->metrics;
    const struct metrics_trade_ratios ratios = metrics_trade_ratios(&a->trades);
    const bool any = a->points > 0, traded = a->trades.n > 0 && !a->based;
    char remark[WORDS_MAX];
    report_page_fact_fixed(text, "Return, %", share(any ? a->total_return : NAN), 2,
                           "time-weighted: money in and out left out");
    report_page_fact_fixed(text, "Max drawdown, %", share(any ? a->max_drawdown : NAN), 2, "in the period");
    report_page_fact_fixed(text, "Drawdown at its end, %", share(any ? a->drawdown : NAN), 2,
                           "from the highest equity ever");
    snprintf(remark, sizeof remark, "a year, of %zu hours; n/a below %d", a->hours, (int)REPORT_HOURS_LEAST);
    report_page_fact_number(text, "Sharpe ratio", m->sharpe, RATIO_DIGITS, remark);
    report_page_fact_number(text, "Its standard error", luck->error, RATIO_DIGITS, NULL);
    report_page_fact_fixed(text, "Above 0, %", share(luck->psr), 1,
                           "the probability that the true Sharpe ratio is, of this account alone");
    report_page_fact_number(text, "Sortino ratio", m->sortino, RATIO_DIGITS, NULL);
    report_page_fact_fixed(text, "Volatility a year, %", share(m->volatility), 2, NULL);
    report_page_fact_fixed(text, "Exposed, %", share(a->exposure), 2,
                           "hours at whose end equity was not cash alone");
    snprintf(remark, sizeof remark, "from flat to flat; %zu won", a->trades.wins);
    report_page_fact_fixed(text, "Trades closed", a->based ? NAN : (double)a->trades.n, 0,
                           a->based ? NULL : remark);
    report_page_fact_fixed(text, "Winning trades, %", share(traded ? ratios.win_rate : NAN), 2, NULL);
    report_page_fact_number(text, "Profit factor", traded ? ratios.profit_factor : NAN, RATIO_DIGITS, NULL);
    snprintf(remark, sizeof remark, "%llu given, %llu refused, %llu cancelled or expired",
             (unsigned long long)a->orders, (unsigned long long)a->rejected,
             (unsigned long long)a->cancelled);
    report_page_fact_fixed(text, "Fills", a->based ? NAN : (double)a->fills, 0, a->based ? NULL : remark);
}

static void benchmark_row(struct text *text, const char *name, const struct db_report_benchmark *b)
{
    const bool any = b->symbols > 0;
    report_page_row(text);
    report_page_cell(text, name);
    report_page_value_fixed(text, (double)b->symbols, 0);
    report_page_value_fixed(text, share(any ? b->metrics.total_return : NAN), 2);
    report_page_value_fixed(text, share(any ? b->metrics.max_drawdown : NAN), 2);
    report_page_value(text, any ? b->metrics.sharpe : NAN, RATIO_DIGITS);
    report_page_value(text, b->against.beta, RATIO_DIGITS);
    report_page_row_end(text);
}

static void benchmarks(struct text *text, const struct db_report_account *a)
{
    static const char *const names[] = {"Held instead",    "symbols", "return, %",
                                        "max drawdown, %", "Sharpe",  "beta"};
    report_page_table(text, names, 6);
    benchmark_row(text, "all that was streamed, in equal parts", &a->streamed);
    benchmark_row(text, "all that was traded, in equal parts", &a->traded);
    report_page_table_end(text);
}

static void symbols(struct text *text, const struct db_report_account *a)
{
    static const char *const names[] = {
        "Symbol", "P&L",    "realized", "unrealized", "fees", "fees of the asset",
        "fills",  "trades", "volume",   "held, %"};
    if (a->n_symbols == 0)
        return;
    report_page_table(text, names, 10);
    for (size_t i = 0; i < a->n_symbols; i++) {
        const struct db_report_symbol *s = &a->symbols[i];
        const int scale = s->symbol.quote_scale, decimals = db_report_decimals(a);
        report_page_row(text);
        report_page_cell(text, s->symbol.name);
        report_page_value_fixed(text, money(s->pnl, scale), decimals);
        report_page_value_fixed(text, money(s->realized, scale), decimals);
        report_page_value_fixed(text, money(s->unrealized, scale), decimals);
        report_page_value_fixed(text, money(s->fees, scale), decimals);
        report_page_value_fixed(text, money(s->fees_base, s->symbol.qty_scale), s->symbol.qty_scale);
        report_page_value_fixed(text, (double)s->fills, 0);
        report_page_value_fixed(text, (double)s->trades.n, 0);
        report_page_value_fixed(text, money(s->volume, scale), decimals);
        report_page_value_fixed(text, share(s->hold_return), 2);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

static void strategies(struct text *text, const struct db_report_account *a)
{
    static const char *const names[] = {"Decided by", "P&L", "fees", "fills", "trades", "won"};
    if (a->n_strategies == 0)
        return;
    report_page_table(text, names, 6);
    for (size_t i = 0; i < a->n_strategies; i++) {
        const struct db_report_strategy *s = &a->strategies[i];
        report_page_row(text);
        report_page_cell(text, s->name);
        report_page_value_fixed(text, money(s->pnl, a->account.currency_scale), db_report_decimals(a));
        report_page_value_fixed(text, money(s->fees, a->account.currency_scale), db_report_decimals(a));
        report_page_value_fixed(text, (double)s->fills, 0);
        report_page_value_fixed(text, (double)s->trades.n, 0);
        report_page_value_fixed(text, (double)s->trades.wins, 0);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

static void days(struct text *text, const struct db_report_account *a)
{
    static const char *const names[] = {"Day", "equity", "P&L", "in and out", "return, %"};
    char day[DB_REPORT_DAY_MAX];
    if (a->n_days < 2)
        return;
    report_page_table(text, names, 5);
    for (size_t i = 0; i < a->n_days; i++) {
        const struct db_report_day *d = &a->days[i];
        report_page_row(text);
        report_page_cell(text, db_report_day(d->day, day));
        report_page_value_fixed(text, d->points ? money(d->closing, a->account.currency_scale) : NAN,
                                db_report_decimals(a));
        report_page_value_fixed(text, money(d->pnl, a->account.currency_scale), db_report_decimals(a));
        report_page_value_fixed(text, money(d->flow, a->account.currency_scale), db_report_decimals(a));
        report_page_value_fixed(text, share(d->total_return), 2);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

static struct report_series series_of(const struct db_report_account *a, const double *y,
                                      enum report_shape shape, int colour)
{
    return (struct report_series){
        .shape = shape, .colour = colour, .x = a->chart_ns, .y = y, .n = a->n_chart};
}

static void charts(struct text *text, const struct db_report_account *a)
{
    const struct report_series equity = series_of(a, a->chart_equity, REPORT_LINE, 0);
    const struct report_series drop = series_of(a, a->chart_drawdown, REPORT_DROP, 4);
    const struct report_series exposed = series_of(a, a->chart_exposure, REPORT_SPREAD, 1);
    if (a->n_chart < 2)
        return;
    struct report_curves of = {.of = a->account.name,
                               .unit = a->account.currency,
                               .start = NAN,
                               .series = &equity,
                               .n = 1,
                               .caption = "Cash and positions; a deposit or a withdrawal is a step."};
    report_part_equity(text, &of);
    of.unit = "%";
    of.series = &drop;
    of.caption = "How far the curve is below its highest in the period, money in and out left out.";
    report_part_drawdown(text, &of);
    of.series = &exposed;
    of.caption =
        "What is not cash, as a share of equity; shorts are below 0. A band goes from the least to the "
        "highest of the points that share a place.";
    report_part_exposure(text, &of);
}

/* 0 or -ENOMEM. */
static int account(struct text *text, const struct db_report_account *a)
{
    struct db_report_luck luck;
    char words[WORDS_MAX];
    snprintf(words, sizeof words, "Account %s", a->account.name);
    report_page_heading(text, words);
    snprintf(words, sizeof words, "In %s; strategy: %.300s; days of %s.", a->account.currency,
             a->account.strategy[0] ? a->account.strategy : "none", a->zone);
    report_page_paragraph(text, words);
    if (a->based)
        report_page_sentence(
            text,
            "The record was rebuilt from a later state: of before, and of sums with it, nothing is known.",
            0);
    if (a->points == 0)
        report_page_sentence(
            text,
            "No point of equity is stored in the period: the daemon did not run, or the account had no "
            "money yet.",
            0);
    db_report_luck(a, &luck);
    if (a->points > 0)
        report_page_sentence(text, luck.words,
                             luck.kind == DB_REPORT_LUCK_MORE   ? 1
                             : luck.kind == DB_REPORT_LUCK_LUCK ? 0
                                                                : -1);
    report_page_facts(text);
    equity_facts(text, a);
    ratio_facts(text, a, &luck);
    report_page_facts_end(text);
    charts(text, a);
    int r = db_report_page_returns(text, a);
    differences(text, a);
    benchmarks(text, a);
    symbols(text, a);
    strategies(text, a);
    db_report_page_trades(text, a);
    days(text, a);
    return r;
}

/* ---- what it ran on ---- */

static void markets(struct text *text, const struct db_report *report)
{
    static const char *const names[] = {"Symbol",           "venue",    "interval", "bars",
                                        "expected",         "missing",  "gaps",     "bars in gaps",
                                        "of these fetched", "corrected"};
    if (report->n_markets == 0)
        return;
    report_page_table(text, names, 10);
    for (size_t i = 0; i < report->n_markets; i++) {
        const struct db_report_market *m = &report->markets[i];
        const char *interval = m->interval_ns ? bar_interval_name(m->interval_ns) : NULL;
        report_page_row(text);
        report_page_cell(text, m->symbol.name);
        report_page_cell(text, m->symbol.venue);
        report_page_cell(text, interval ? interval : "n/a");
        report_page_value_fixed(text, (double)m->bars, 0);
        report_page_value_fixed(text, m->expected >= 0 ? (double)m->expected : NAN, 0);
        report_page_value_fixed(text, m->missing >= 0 ? (double)m->missing : NAN, 0);
        report_page_value_fixed(text, m->gaps >= 0 ? (double)m->gaps : NAN, 0);
        report_page_value_fixed(text, m->in_gaps >= 0 ? (double)m->in_gaps : NAN, 0);
        report_page_value_fixed(text, m->filled >= 0 ? (double)m->filled : NAN, 0);
        report_page_value_fixed(text, (double)m->revisions, 0);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

static void alerts(struct text *text, const struct db_report *report)
{
    static const char *const names[] = {"Alert", "severity", "raised, UTC", "state", "what"};
    char time[DB_REPORT_TIME_MAX];
    if (report->n_alerts == 0)
        return;
    report_page_table(text, names, 5);
    for (size_t i = 0; i < report->n_alerts; i++) {
        const struct db_report_alert *a = &report->alerts[i];
        report_page_row(text);
        report_page_cell(text, a->code);
        report_page_cell(text, db_words_severity.names[a->severity]);
        report_page_cell(text, db_report_time(a->ts_ns, time));
        report_page_cell(text, a->open ? "open" : a->closed_ns ? "over" : "acknowledged");
        report_page_cell(text, a->text);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

static void run(struct text *text, const struct db_report *report)
{
    char remark[WORDS_MAX], checked[DB_REPORT_TIME_MAX], uptime[DB_REPORT_UPTIME_MAX];
    report_page_heading(text, "The daemon and its data");
    report_page_facts(text);
    report_page_fact_fixed(
        text, "Uptime, %",
        report->observed_ns > 0 ? share((double)report->up_ns / (double)report->observed_ns) : NAN, 2,
        report->observed_ns > 0 ? db_report_uptime_words(report, uptime) : "nothing is known of it");
    snprintf(remark, sizeof remark, "%lld days; last compared %s%s%s", (long long)report->parity_days,
             db_report_time(report->parity_ns, checked), report->parity_detail[0] ? ": " : "",
             report->parity_detail);
    report_page_fact(text, "Parity", report->parity_known ? report->parity_state : "n/a",
                     report->parity_known ? remark : "not compared yet");
    report_page_fact_fixed(text, "Feeds silent, s",
                           report->silent_ns >= 0 ? (double)report->silent_ns / 1e9 : NAN, 0,
                           "by the alerts feed and stale");
    snprintf(remark, sizeof remark, "%llu errors, %llu warnings, %llu infos",
             (unsigned long long)report->raised[DB_ERROR], (unsigned long long)report->raised[DB_WARNING],
             (unsigned long long)report->raised[DB_INFO]);
    report_page_fact(text, "Alerts raised", report->alerts_lost ? "n/a" : remark, NULL);
    report_page_facts_end(text);
    markets(text, report);
    alerts(text, report);
}

int db_report_page(const struct db_report *report, struct text *text)
{
    char title[DB_REPORT_TITLE_MAX], heading[DB_REPORT_TITLE_MAX + 32], words[WORDS_MAX],
        first[DB_REPORT_TIME_MAX];
    snprintf(heading, sizeof heading, "Papertape report, %s", db_report_title(report, title));
    report_page_begin(text, heading);
    if (report->n_accounts == 0) {
        snprintf(words, sizeof words,
                 report->first_ns ? "No account was there: the record begins %s UTC."
                                  : "There is no account yet.",
                 db_report_time(report->first_ns, first));
        report_page_sentence(text, words, 0);
    }
    int r = 0;
    for (size_t i = 0; i < report->n_accounts && r == 0; i++)
        r = account(text, &report->accounts[i]);
    run(text, report);
    report_page_end(text);
    return r < 0 ? r : text_ok(text) ? 0 : -ENOMEM;
}
