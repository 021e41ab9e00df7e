#include "report/page_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/histogram.h"

enum { WORDS_MAX = 512 };
static const int64_t second_ns = INT64_C(1000000000);

static const char *title_of(const struct report_curves *curves, const char *what, char ret[static WORDS_MAX])
{
    if (curves->of)
        snprintf(ret, WORDS_MAX, "%s of %s", what, curves->of);
    else
        snprintf(ret, WORDS_MAX, "%s", what);
    return ret;
}

static bool is_wide(const struct report_curves *curves)
{
    bool wide = false;
    for (int i = 0; i < curves->n; i++)
        wide = wide || report_chart_is_wide(curves->series[i].y, curves->series[i].n);
    return wide;
}

void report_part_equity(struct text *text, const struct report_curves *curves)
{
    const bool wide = is_wide(curves);
    char title[WORDS_MAX], unit[64], caption[WORDS_MAX];
    snprintf(unit, sizeof unit, "%.40s%s", curves->unit, wide ? ", log scale" : "");
    snprintf(caption, sizeof caption, "%s%s", curves->caption,
             wide ? " Equal distances are equal ratios." : "");
    const struct report_chart chart = {.title = title_of(curves, "Equity", title),
                                       .y_name = unit,
                                       .time = true,
                                       .gap = curves->gap,
                                       .logarithmic = wide,
                                       .also = curves->start,
                                       .series = curves->series,
                                       .n = curves->n};
    report_page_chart(text, &chart, caption);
}

static void low_chart(struct text *text, const struct report_curves *curves, const char *what)
{
    char title[WORDS_MAX];
    const struct report_chart chart = {.size = REPORT_LOW,
                                       .title = title_of(curves, what, title),
                                       .y_name = curves->unit,
                                       .time = true,
                                       .gap = curves->gap,
                                       .also = 0,
                                       .series = curves->series,
                                       .n = curves->n};
    report_page_chart(text, &chart, curves->caption);
}

void report_part_drawdown(struct text *text, const struct report_curves *curves)
{
    low_chart(text, curves, "Drawdown");
}

void report_part_exposure(struct text *text, const struct report_curves *curves)
{
    low_chart(text, curves, "Exposure");
}

double report_drawdowns_from(double best, const double *equity, size_t n, double *ret)
{
    for (size_t i = 0; i < n; i++) {
        best = equity[i] > best ? equity[i] : best;
        ret[i] = isfinite(equity[i]) && best > 0 ? 100 * (equity[i] / best - 1) : NAN;
    }
    return best;
}

void report_drawdowns(const double *equity, size_t n, double *ret)
{
    (void)report_drawdowns_from(-INFINITY, equity, n, ret);
}

/* ---- months ---- */

/* The figure of a year's month; false: there is none. */
static bool find(const struct report_month *months, size_t n, int year, int month, double *ret)
{
    for (size_t i = 0; i < n; i++)
        if (months[i].year == year && months[i].month == month) {
            *ret = months[i].total_return;
            return true;
        }
    return false;
}

static void month_cell(struct text *text, const struct report_month *months, size_t n, int year, int month)
{
    double value;
    if (find(months, n, year, month, &value))
        report_page_value_signed(text, 100 * value, 2);
    else
        report_page_cell(text, "");
}

void report_part_months(struct text *text, const struct report_month *months, size_t n,
                        const struct report_month *years, size_t n_years)
{
    static const char *const names[] = {"%",   "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "year"};
    char year[16];
    if (n == 0)
        return;
    report_page_table(text, names, sizeof names / sizeof *names);
    for (int of = months[0].year; of <= months[n - 1].year; of++) {
        snprintf(year, sizeof year, "%d", of);
        report_page_row(text);
        report_page_cell(text, year);
        for (int month = 1; month <= 12; month++)
            month_cell(text, months, n, of, month);
        month_cell(text, years, n_years, of, 0);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

/* ---- distributions ---- */

int report_part_distribution(struct text *text, enum report_size size, const char *title, const char *x_name,
                             const char *y_name, const double *values, size_t n)
{
    struct report_histogram histogram;
    char caption[WORDS_MAX];
    int r = report_histogram_count(values, n, &histogram);
    if (r == -ENODATA) {
        snprintf(caption, sizeof caption, "%s: there is none.", title);
        report_page_paragraph(text, caption);
        return 0;
    }
    if (r < 0)
        return r;
    const struct report_bars bars = {.size = size,
                                     .title = title,
                                     .x_name = x_name,
                                     .y_name = y_name,
                                     .bars = histogram.bars,
                                     .n = histogram.n,
                                     .low = histogram.low,
                                     .high = histogram.high,
                                     .until = histogram.low < 0 && histogram.high > 0 ? 0
                                              : histogram.high <= 0                   ? histogram.high
                                                                                      : NAN};
    snprintf(caption, sizeof caption, "%zu in bars of %.4g%s; those below 0 have the other colour.",
             histogram.counted, (histogram.high - histogram.low) / histogram.n,
             strcmp(x_name, "%") == 0 ? " %" : "");
    report_page_bars(text, &bars, caption);
    return 0;
}

const char *report_part_time(int64_t ns, char ret[static REPORT_PART_TIME_MAX])
{
    struct tm tm;
    time_t seconds = (time_t)(ns / second_ns - (ns % second_ns < 0));
    if (!gmtime_r(&seconds, &tm) || strftime(ret, REPORT_PART_TIME_MAX, "%Y-%m-%d %H:%M", &tm) == 0)
        snprintf(ret, REPORT_PART_TIME_MAX, "n/a");
    return ret;
}
