/* A report for people: lines of at most 80 columns. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "db/report/internal.h"
#include "exchange/bar.h"
#include "exchange/utf8.h"

enum { COLUMNS = 80, INDENT = 13, LINE_MAX = 1024, ALERTS_SHOWN = 12, DAYS_SHOWN = 31, CELL = 40 };

/* ---- values ---- */

struct unit {
    int scale, decimals;
};

static const char *amount(char ret[static CELL], int128_t units, struct unit unit, bool sign)
{
    const double value = units == DB_REPORT_UNKNOWN ? (double)NAN : decimal_to_double(units, unit.scale);
    if (isnan(value))
        return strcpy(ret, "n/a");
    if (fabs(value) >= 1e11)
        snprintf(ret, CELL, sign ? "%+.6e" : "%.6e", value);
    else if (fabs(value) < 0.5 * pow(10, -unit.decimals))
        snprintf(ret, CELL, "%.*f", unit.decimals, 0.0);
    else
        snprintf(ret, CELL, sign ? "%+.*f" : "%.*f", unit.decimals, value);
    return ret;
}

static const char *percent(char ret[static CELL], double share)
{
    if (!isfinite(share))
        return strcpy(ret, "n/a");
    snprintf(ret, CELL, fabs(share) < 5e-5 ? "%.2f%%" : "%+.2f%%", fabs(share) < 5e-5 ? 0.0 : 100 * share);
    return ret;
}

/* Of what has no sign. */
static const char *part(char ret[static CELL], double share)
{
    if (!isfinite(share))
        return strcpy(ret, "n/a");
    snprintf(ret, CELL, "%.2f%%", 100 * share);
    return ret;
}

static const char *ratio(char ret[static CELL], double value)
{
    if (!isfinite(value))
        return strcpy(ret, "n/a");
    snprintf(ret, CELL, fabs(value) < 1e6 ? "%.2f" : "%.3e", value);
    return ret;
}

/* Below 0: not known. */
static const char *count(char ret[static CELL], int64_t n)
{
    if (n < 0)
        return strcpy(ret, "n/a");
    snprintf(ret, CELL, "%lld", (long long)n);
    return ret;
}

static const char *raised(char ret[static CELL], const struct db_report *report, enum db_severity severity)
{
    return count(ret, report->alerts_lost ? -1 : (int64_t)report->raised[severity]);
}

/* ---- lines ---- */

/* The bytes of the first characters of a text that have at most so many. */
static size_t cut(const char *text, size_t room)
{
    size_t n = strlen(text);
    if (n <= room)
        return n;
    for (n = room; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

/* The words of one line of at most so many bytes, which a line of this width has. */
static size_t line_end(const char *words, size_t room)
{
    size_t n = strlen(words), end = 0;
    if (n <= room)
        return n;
    for (size_t i = 0; i <= room; i++)
        if (words[i] == ' ')
            end = i;
    return end > 0 ? end : cut(words, room);
}

/* A name and its words, wrapped; continued below the words. */
__attribute__((format(printf, 3, 4))) static void line(struct text *text, const char *name,
                                                       const char *format, ...)
{
    char words[LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    utf8_clean(words);
    const char *at = words;
    const bool apart = strlen(name) > INDENT - 3; /* a long name has a line of its own */
    if (apart)
        text_format(text, "  %.*s\n", (int)cut(name, COLUMNS - 2), name);
    do {
        size_t n = line_end(at, COLUMNS - INDENT);
        text_format(text, "  %-*s", INDENT - 2, at == words && !apart ? name : "");
        text_bytes(text, at, n);
        text_lit(text, "\n");
        at += n + (at[n] == ' ');
    } while (*at);
}

/* ---- an account ---- */

static void equity(struct text *text, const struct db_report_account *a, struct unit unit)
{
    char opening[CELL], closing[CELL], peak[CELL], from[DB_REPORT_TIME_MAX], to[DB_REPORT_TIME_MAX];
    if (a->closing == DB_REPORT_UNKNOWN) {
        line(text, "equity", "n/a: no point of it is stored up to then");
        return;
    }
    amount(closing, a->closing, unit, false);
    amount(peak, a->peak, unit, false);
    if (a->opening == DB_REPORT_UNKNOWN)
        line(text, "equity", "%s at %s, highest %s; the account began in the period", closing,
             db_report_time(a->closing_ns, to), peak);
    else
        line(text, "equity", "%s at %s, before %s at %s; highest %s", closing,
             db_report_time(a->closing_ns, to), amount(opening, a->opening, unit, false),
             db_report_time(a->opening_ns, from), peak);
}

static void gains(struct text *text, const struct db_report_account *a, struct unit unit)
{
    char pnl[CELL], realized[CELL], unrealized[CELL], fees[CELL], other[CELL], interest[CELL],
        dividends[CELL], in[CELL], out[CELL], between[CELL], reset[CELL];
    line(text, "P&L", "%s: realized %s, unrealized %s, fees %s, interest %s, dividends %s, other %s",
         amount(pnl, a->pnl, unit, true), amount(realized, a->realized, unit, true),
         amount(unrealized, a->unrealized, unit, true), amount(fees, a->fees, unit, false),
         amount(interest, a->interest, unit, false), amount(dividends, a->dividends, unit, true),
         amount(other, a->other, unit, true));
    if (a->based)
        line(text, "money", "n/a");
    else if (a->flows + a->resets > 0)
        line(text, "money", "in %s, out %s, by transfers %s, by %llu resets %s",
             amount(in, a->deposits, unit, false), amount(out, -a->withdrawals, unit, false),
             amount(between, a->transfers, unit, true), (unsigned long long)a->resets,
             amount(reset, a->reset, unit, true));
}

/* The same period's statement, and what of it is not as above. */
static void stated(struct text *text, const struct db_report_account *a, struct unit unit)
{
    struct db_report_difference differences[DB_REPORT_DIFFERENCES_MAX];
    const struct db_statement_money *m = &a->statement;
    const size_t n = db_report_differences(a, differences);
    char cell[8][CELL];
    if (!a->stated) {
        line(text, "statement", "n/a");
        return;
    }
    unit.scale = m->scale;
    const bool priced = !m->no_opening && !m->no_reset && !m->no_closing;
    line(text, "statement",
         "opening %s, flows %s, realized %s, unrealized %s, fees %s, interest %s, dividends %s, closing %s",
         amount(cell[0], m->no_opening ? DB_REPORT_UNKNOWN : m->opening, unit, false),
         amount(cell[1], m->no_reset ? DB_REPORT_UNKNOWN : db_statement_flows(m), unit, true),
         amount(cell[2], m->realized, unit, true),
         amount(cell[3], priced ? m->unrealized : DB_REPORT_UNKNOWN, unit, true),
         amount(cell[4], m->fees, unit, false), amount(cell[5], m->interest, unit, false),
         amount(cell[6], m->dividends, unit, true),
         amount(cell[7], m->no_closing ? DB_REPORT_UNKNOWN : m->closing, unit, false));
    for (size_t i = 0; i < n; i++) {
        unit.decimals = unit.scale;
        line(text, i == 0 ? "differs" : "", "%s by %s%s%s", differences[i].figure,
             amount(cell[0], differences[i].by, unit, true),
             i > 0 && differences[i].why == differences[i - 1].why ? "" : ": ",
             i > 0 && differences[i].why == differences[i - 1].why ? ", likewise" : differences[i].why);
    }
}

static void returns(struct text *text, const struct db_report_account *a)
{
    char cell[6][CELL];
    const struct metrics *m = &a->metrics;
    const bool any = a->points > 0;
    line(text, "return", "%s time-weighted; max drawdown %s, %s from the highest ever at the end",
         percent(cell[0], any ? a->total_return : NAN), percent(cell[1], any ? a->max_drawdown : NAN),
         percent(cell[2], any ? a->drawdown : NAN));
    line(text, "ratios", "Sharpe %s, Sortino %s, volatility %s a year, of %zu hours; exposed %s of them",
         ratio(cell[0], m->sharpe), ratio(cell[1], m->sortino), part(cell[2], m->volatility), a->hours,
         part(cell[3], a->exposure));
    line(text, "holding", "%s of the %zu symbols streamed, %s of the %zu traded",
         percent(cell[0], a->streamed.symbols ? a->streamed.metrics.total_return : NAN), a->streamed.symbols,
         percent(cell[1], a->traded.symbols ? a->traded.metrics.total_return : NAN), a->traded.symbols);
}

static void trades(struct text *text, const struct db_report_account *a, struct unit unit)
{
    const struct metrics_trade_ratios ratios = metrics_trade_ratios(&a->trades);
    char win[CELL], factor[CELL], volume[CELL];
    const bool any = a->trades.n > 0;
    if (a->based) {
        line(text, "trades", "n/a");
        line(text, "orders", "n/a");
        return;
    }
    line(text, "trades", "%zu closed, %zu won (%s), profit factor %s; %llu fills of %s", a->trades.n,
         a->trades.wins, part(win, any ? ratios.win_rate : NAN),
         ratio(factor, any ? ratios.profit_factor : NAN), (unsigned long long)a->fills,
         amount(volume, a->volume, unit, false));
    line(text, "orders", "%llu given, %llu refused, %llu cancelled or expired", (unsigned long long)a->orders,
         (unsigned long long)a->rejected, (unsigned long long)a->cancelled);
}

static void cut_name(char ret[static CELL], const char *name, size_t columns)
{
    const size_t n = cut(name, columns);
    memcpy(ret, name, n);
    ret[n] = '\0';
    utf8_clean(ret);
}

static void symbols(struct text *text, const struct db_report_account *a)
{
    char name[CELL], cell[4][CELL];
    if (a->n_symbols > 0)
        text_format(text, "  %-14s %13s %13s %13s %10s %6s\n", "symbol", "P&L", "realized", "unrealized",
                    "fees", "trades");
    for (size_t i = 0; i < a->n_symbols; i++) {
        const struct db_report_symbol *s = &a->symbols[i];
        const struct unit unit = {s->symbol.quote_scale, db_report_decimals(a)};
        cut_name(name, s->symbol.name, 14);
        text_format(text, "  %-14s %13s %13s %13s %10s %6zu\n", name, amount(cell[0], s->pnl, unit, true),
                    amount(cell[1], s->realized, unit, true), amount(cell[2], s->unrealized, unit, true),
                    amount(cell[3], s->fees, unit, false), s->trades.n);
        if (s->fees_base > 0)
            text_format(
                text, "  %-14s and fees of %s %s, of what was bought: in its cost\n", "",
                amount(cell[0], s->fees_base, (struct unit){s->symbol.qty_scale, s->symbol.qty_scale}, false),
                s->symbol.base);
    }
}

static void strategies(struct text *text, const struct db_report_account *a, struct unit unit)
{
    char name[CELL], cell[2][CELL];
    if (a->n_strategies > 0)
        text_format(text, "  %-38s %13s %10s %6s\n", "decided by", "P&L", "fees", "trades");
    for (size_t i = 0; i < a->n_strategies; i++) {
        const struct db_report_strategy *s = &a->strategies[i];
        cut_name(name, s->name, 38);
        text_format(text, "  %-38s %13s %10s %6zu\n", name, amount(cell[0], s->pnl, unit, true),
                    amount(cell[1], s->fees, unit, false), s->trades.n);
    }
}

static void days(struct text *text, const struct db_report_account *a, struct unit unit)
{
    char day[DB_REPORT_DAY_MAX], cell[4][CELL];
    size_t first = a->n_days > DAYS_SHOWN ? a->n_days - DAYS_SHOWN : 0;
    if (a->n_days < 2)
        return;
    text_format(text, "  %-14s %13s %13s %13s %10s\n", "day", "equity", "P&L", "in and out", "return");
    if (first > 0)
        text_format(text, "  %zu days before these are in --json and --html\n", first);
    for (size_t i = first; i < a->n_days; i++) {
        const struct db_report_day *d = &a->days[i];
        text_format(text, "  %-14s %13s %13s %13s %10s\n", db_report_day(d->day, day),
                    amount(cell[0], d->points ? d->closing : DB_REPORT_UNKNOWN, unit, false),
                    amount(cell[1], d->pnl, unit, true), amount(cell[2], d->flow, unit, true),
                    percent(cell[3], d->total_return));
    }
}

static void account(struct text *text, const struct db_report_account *a)
{
    const struct unit unit = {a->account.currency_scale, db_report_decimals(a)};
    char name[CELL];
    cut_name(name, a->account.name, CELL - 1);
    text_format(text, "\naccount %s\n", name);
    line(text, "in", "%s; strategy: %s; days of %s", a->account.currency,
         a->account.strategy[0] ? a->account.strategy : "none", a->zone);
    equity(text, a, unit);
    if (a->based)
        line(text, "record",
             "rebuilt from a later state: of before its beginning, and of sums with it, nothing is known");
    gains(text, a, unit);
    stated(text, a, unit);
    returns(text, a);
    trades(text, a, unit);
    symbols(text, a);
    strategies(text, a, unit);
    days(text, a, unit);
}

/* ---- what it ran on ---- */

static void market(struct text *text, const struct db_report_market *m)
{
    const char *interval = m->interval_ns ? bar_interval_name(m->interval_ns) : NULL;
    char of[CELL] = "", cell[4][CELL];
    if (m->expected >= 0)
        snprintf(of, sizeof of, " of %lld", (long long)m->expected);
    line(text, m->symbol.name,
         "%lld%s bars of %s, missing: %s; %s gaps with %s, %s fetched later; %lld corrected",
         (long long)m->bars, of, interval ? interval : "n/a", count(cell[0], m->missing),
         count(cell[1], m->gaps), count(cell[2], m->in_gaps), count(cell[3], m->filled),
         (long long)m->revisions);
}

static void alerts(struct text *text, const struct db_report *report)
{
    char time[DB_REPORT_TIME_MAX], cell[3][CELL];
    line(text, "alerts", "%s errors, %s warnings, %s infos; open now: %llu, %llu, %llu",
         raised(cell[0], report, DB_ERROR), raised(cell[1], report, DB_WARNING),
         raised(cell[2], report, DB_INFO), (unsigned long long)report->open[DB_ERROR],
         (unsigned long long)report->open[DB_WARNING], (unsigned long long)report->open[DB_INFO]);
    for (size_t i = 0; i < report->n_alerts && i < ALERTS_SHOWN; i++) {
        const struct db_report_alert *a = &report->alerts[i];
        line(text, "", "%s %s %s: %s%s", db_report_time(a->ts_ns, time), db_words_severity.names[a->severity],
             a->code, a->text,
             a->open        ? ""
             : a->closed_ns ? " (over)"
                            : " (acknowledged)");
    }
}

static void run(struct text *text, const struct db_report *report)
{
    char cell[2][CELL], checked[DB_REPORT_TIME_MAX], words[DB_REPORT_UPTIME_MAX];
    text_lit(text, "\nthe daemon and its data\n");
    if (report->observed_ns > 0)
        line(text, "uptime", "%.2f%% of %s: %s", 100 * (double)report->up_ns / (double)report->observed_ns,
             db_report_duration(cell[0], report->observed_ns), db_report_uptime_words(report, words));
    else
        line(text, "uptime", "n/a");
    if (report->parity_known)
        line(text, "parity", "%s, %lld days; last compared %s%s%s", report->parity_state,
             (long long)report->parity_days, db_report_time(report->parity_ns, checked),
             report->parity_detail[0] ? ": " : "", report->parity_detail);
    else
        line(text, "parity", "not compared yet");
    line(text, "feeds", "silent for %s", db_report_duration(cell[1], report->silent_ns));
    for (size_t i = 0; i < report->n_markets; i++)
        market(text, &report->markets[i]);
    alerts(text, report);
}

/* Why there is no account in it. */
static void nothing(struct text *text, const struct db_report *report)
{
    char first[DB_REPORT_TIME_MAX];
    if (report->first_ns == 0)
        text_lit(text, "\nThere is no account yet.\n");
    else
        text_format(text, "\nNo account was there: the record begins %s UTC.\n",
                    db_report_time(report->first_ns, first));
}

void db_report_text(const struct db_report *report, struct text *text)
{
    char title[DB_REPORT_TITLE_MAX];
    text_format(text, "papertape report, %s\n", db_report_title(report, title));
    if (report->n_accounts == 0)
        nothing(text, report);
    for (size_t i = 0; i < report->n_accounts; i++)
        account(text, &report->accounts[i]);
    run(text, report);
}

/* ---- in a few lines ---- */

void db_report_summary(const struct db_report *report, struct text *text)
{
    char title[DB_REPORT_TITLE_MAX], cell[6][CELL];
    text_format(text, "%s\n", db_report_title(report, title));
    for (size_t i = 0; i < report->n_accounts; i++) {
        const struct db_report_account *a = &report->accounts[i];
        const struct unit unit = {a->account.currency_scale, db_report_decimals(a)};
        const bool any = a->points > 0;
        text_format(text, "%s: %s %s, P&L %s (%s), max drawdown %s, %s trades, fees %s\n", a->account.name,
                    amount(cell[0], a->closing, unit, false), a->account.currency,
                    amount(cell[1], a->pnl, unit, true), percent(cell[2], any ? a->total_return : NAN),
                    percent(cell[3], any ? a->max_drawdown : NAN),
                    count(cell[5], a->based ? -1 : (int64_t)a->trades.n),
                    amount(cell[4], a->fees, unit, false));
    }
    if (report->n_accounts == 0)
        nothing(text, report);
    text_format(text, "alerts: %s errors, %s warnings; bars missing: %s; feeds silent for %s\n",
                raised(cell[2], report, DB_ERROR), raised(cell[3], report, DB_WARNING),
                count(cell[1], report->bars_missing), db_report_duration(cell[0], report->silent_ns));
    if (report->observed_ns > 0)
        text_format(text, "uptime %.2f%%, down for %s, ",
                    100 * (double)report->up_ns / (double)report->observed_ns,
                    db_report_duration(cell[0], report->observed_ns - report->up_ns));
    else
        text_lit(text, "uptime n/a, ");
    text_format(text, "parity %s\n", report->parity_known ? report->parity_state : "not compared yet");
}
