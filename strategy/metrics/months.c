#include <math.h>

#include "strategy/metrics/lanes.h"
#include "strategy/metrics/series.h"

static const int64_t DAY_NS = INT64_C(86400000000000);

static bool leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && leap(year));
}

/* The Gregorian year and month of a day, days counted from 1970-01-01, by Hinnant's eras of 400 years that
 * begin on the 1st of March. */
static void date_of(int64_t day, int *ret_year, int *ret_month, int *ret_day)
{
    const int64_t to_march_0000 = 719468, era_days = 146097;
    int64_t z = day + to_march_0000;
    int64_t era = (z >= 0 ? z : z - era_days + 1) / era_days;
    int64_t of_era = z - era * era_days;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * of_year + 2) / 153;
    *ret_day = (int)(of_year - (153 * march_month + 2) / 5) + 1;
    *ret_month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
    *ret_year = (int)(year_of_era + era * 400 + (*ret_month <= 2));
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days from `day` on to the end of its month, or of its year. */
static int64_t days_left(int64_t day, bool whole_year, struct metrics_month *ret)
{
    int year, month, of_month;
    date_of(day, &year, &month, &of_month);
    int64_t days = days_in(year, month) - of_month + 1;
    for (int later = month + 1; whole_year && later <= 12; later++)
        days += days_in(year, later);
    ret->year = year;
    ret->month = whole_year ? 0 : month;
    return days;
}

static bool regular(const double *values, size_t n, double before)
{
    struct lanes_range range = metrics_lanes_range(values, n);
    return before > 0 && before < INFINITY && range.lowest > 0 && range.sum < INFINITY;
}

/* The last over the first, unless a value that is not positive and finite comes between. */
static double total_return(const struct metrics_series *series, size_t first, size_t rows)
{
    if (series->equity) {
        const double *values = series->values + first;
        double before = first ? values[-1] : series->start;
        if (series->regular || regular(values, rows, before))
            return values[rows - 1] / before - 1;
    }
    double room[SERIES_BLOCK], product = 1;
    struct metrics_series upto = *series;
    upto.n = first + rows;
    for (size_t from = first, n; from < upto.n; from += n) {
        n = series_block(&upto, from);
        const double *returns = series_load(&upto, from, n, room);
        for (size_t i = 0; i < n; i++)
            product *= isnan(returns[i]) ? 1 : returns[i] + 1;
    }
    return product - 1;
}

static size_t table(const struct metrics_series *series, int64_t first_ns, int64_t interval_ns,
                    bool whole_years, struct metrics_month *ret, size_t cap)
{
    size_t found = 0;
    for (size_t row = 0; row < series->n; found++) {
        struct metrics_month month = {.first = row};
        int64_t open_ns = first_ns + (int64_t)row * interval_ns;
        int64_t day = floor_div(open_ns, DAY_NS);
        int64_t days = days_left(day, whole_years, &month);
        uint64_t left_ns = (uint64_t)days * (uint64_t)DAY_NS - (uint64_t)(open_ns - day * DAY_NS);
        uint64_t rows = (left_ns + (uint64_t)interval_ns - 1) / (uint64_t)interval_ns;
        month.rows = rows < series->n - row ? (size_t)rows : series->n - row;
        if (found < cap) {
            month.total_return = total_return(series, row, month.rows);
            ret[found] = month;
        }
        row += month.rows;
    }
    return found;
}

size_t metrics_months(const struct metrics_series *series, int64_t first_ns, int64_t interval_ns,
                      struct metrics_month *ret, size_t cap)
{
    return table(series, first_ns, interval_ns, false, ret, cap);
}

size_t metrics_years(const struct metrics_series *series, int64_t first_ns, int64_t interval_ns,
                     struct metrics_month *ret, size_t cap)
{
    return table(series, first_ns, interval_ns, true, ret, cap);
}
