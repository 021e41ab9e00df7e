/* A live account's returns and trades on its page. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "db/report/internal.h"
#include "report/page_parts.h"

enum { WORDS_MAX = 512, DAYS_LEAST = 20 /* for a distribution */ };

/* ---- returns ---- */

static void month_of(int64_t day, int *year, int *month)
{
    struct tm tm;
    time_t seconds = (time_t)(day * 86400);
    gmtime_r(&seconds, &tm);
    *year = tm.tm_year + 1900;
    *month = tm.tm_mon + 1;
}

size_t db_report_months(const struct db_report_account *account, bool years, struct report_month *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < account->n_days && account->n_days > 1; i++) {
        const struct db_report_day *day = &account->days[i];
        int year, month;
        month_of(day->day, &year, &month);
        month = years ? 0 : month;
        if (n == 0 || ret[n - 1].year != year || ret[n - 1].month != month)
            ret[n++] = (struct report_month){year, month, 0};
        double *total = &ret[n - 1].total_return;
        *total = day->points > 0 ? (1 + *total) * (1 + day->total_return) - 1 : *total;
    }
    return n;
}

size_t db_report_returns(const struct db_report_account *account, double *ret)
{
    if (account->n_days < DAYS_LEAST)
        return 0;
    for (size_t i = 0; i < account->n_days; i++)
        ret[i] = account->days[i].points > 0 ? 100 * account->days[i].total_return : NAN;
    return account->n_days;
}

int db_report_page_returns(struct text *text, const struct db_report_account *account)
{
    const size_t n = account->n_days;
    struct report_month *months = calloc(2 * n + 2, sizeof *months);
    double *percent = calloc(n + 1, sizeof *percent);
    int r = months && percent ? 0 : -ENOMEM;
    if (r == 0) {
        struct report_month *years = months + n + 1;
        size_t n_months = db_report_months(account, false, months),
               n_years = db_report_months(account, true, years),
               returns = db_report_returns(account, percent);
        report_part_months(text, months, n_months, years, n_years);
        if (returns > 0)
            r = report_part_distribution(text, REPORT_LOW, "Returns of days", "%", "days", percent, returns);
    }
    free(months);
    free(percent);
    return r;
}

/* ---- fills on prices ---- */

static void draw(struct text *text, const struct db_report_account *account,
                 const struct db_report_market_chart *chart)
{
    char title[WORDS_MAX], unit[64], caption[WORDS_MAX];
    const bool wide = report_chart_is_wide(chart->closes.y, chart->closes.n);
    const struct report_series series[] = {
        {REPORT_BUYS, 3, "bought", chart->buys.x, chart->buys.y, NULL, chart->buys.n},
        {REPORT_SELLS, 4, "sold", chart->sells.x, chart->sells.y, NULL, chart->sells.n},
        {REPORT_LINE, 2, chart->symbol.name, chart->closes.x, chart->closes.y, NULL, chart->closes.n}};
    snprintf(title, sizeof title, "Trades of %s on %s", account->account.name, chart->symbol.name);
    snprintf(unit, sizeof unit, "%s%s", chart->symbol.quote, wide ? ", log scale" : "");
    snprintf(
        caption, sizeof caption,
        "%zu purchases and %zu sales at their prices, the newest of the period, on the closes of the finest "
        "bars. Marks that would cover one another are drawn once.%s",
        chart->buys.n, chart->sells.n,
        chart->splits > 0 ? " Prices are as traded: a fall or rise at a split is no loss or gain." : "");
    const struct report_chart drawn = {.title = title,
                                       .y_name = unit,
                                       .time = true,
                                       .logarithmic = wide,
                                       .also = NAN,
                                       .series = series,
                                       .n = 3};
    report_page_chart(text, &drawn, caption);
}

/* ---- one by one ---- */

static void row(struct text *text, const struct db_report_account *account, const struct db_report_trip *trip)
{
    const struct symbol *symbol = &trip->symbol;
    const double paid = trip->entry * decimal_to_double(trip->qty, symbol->qty_scale);
    const double profit = decimal_to_double(trip->profit, symbol->quote_scale);
    const int decimals = db_report_decimals(account);
    char time[DB_REPORT_TIME_MAX];
    report_page_row(text);
    report_page_cell(text, symbol->name);
    report_page_cell(text, trip->is_short ? "short" : "long");
    report_page_cell(text, trip->source);
    report_page_cell(text, db_report_time(trip->opened_ns, time));
    report_page_cell(text, db_report_time(trip->closed_ns, time));
    report_page_value(text, decimal_to_double(trip->qty, symbol->qty_scale), 8);
    report_page_value(text, trip->entry, 8);
    report_page_value(text, trip->exit, 8);
    report_page_value_fixed(text, decimal_to_double(trip->fees, symbol->quote_scale), decimals);
    report_page_value_signed(text, profit, decimals);
    report_page_value_signed(text, paid > 0 ? 100 * profit / paid : NAN, 2);
    report_page_row_end(text);
}

void db_report_page_trades(struct text *text, const struct db_report_account *account)
{
    static const char *const names[] = {"Closed trade", "side",    "opened by", "opened, UTC",
                                        "closed, UTC",  "entered", "at",        "left at",
                                        "fees",         "profit",  "%"};
    const size_t n = account->n_trips, first = n > DB_REPORT_TRIPS_MAX ? n - DB_REPORT_TRIPS_MAX : 0;
    char words[WORDS_MAX];
    for (size_t i = 0; i < account->n_charts; i++)
        draw(text, account, &account->charts[i]);
    if (account->based || n == 0)
        return;
    if (first > 0) {
        snprintf(words, sizeof words, "The newest %d of %zu closed trades.", (int)DB_REPORT_TRIPS_MAX, n);
        report_page_paragraph(text, words);
    }
    report_page_table(text, names, sizeof names / sizeof *names);
    for (size_t i = first; i < n; i++)
        row(text, account, &account->trips[i % DB_REPORT_TRIPS_MAX]);
    report_page_table_end(text);
}
