/* Parts of pages (report/page.h) that several reports have in common: a backtest's, a comparison's, a live
 * account's. They take plain columns; who makes them knows what they are of. */
#ifndef REPORT_PAGE_PARTS_H
#define REPORT_PAGE_PARTS_H

#include "report/page.h"

/* Curves of equity, or of what follows from it. */
struct report_curves {
    const char *of;                     /* whose, for titles: "Equity of main"; NULL: "Equity" */
    const char *unit;                   /* the currency; "%" */
    double start;                       /* a line at the equity before the first point; NaN: none */
    int64_t gap;                        /* points further apart are not joined; 0: all are */
    const struct report_series *series; /* the first is on top */
    int n;
    const char *caption;
};

/* Equity, with logarithms where it grows so much that only they show all of it. */
void report_part_equity(struct text *text, const struct report_curves *curves);
/* Drawdowns, percent, 0 or less. */
void report_part_drawdown(struct text *text, const struct report_curves *curves);
/* Exposure, percent. */
void report_part_exposure(struct text *text, const struct report_curves *curves);

/* How far each point is below the highest before it, percent: 0 or less; NaN where equity is NaN or the
 * highest is not above 0. */
void report_drawdowns(const double *equity, size_t n, double *ret);
/* The same after a highest equity of `best`; returns the highest. */
double report_drawdowns_from(double best, const double *equity, size_t n, double *ret);

/* Returns of months and years, as shares. A table of a row a year: twelve months, and the year. */
struct report_month {
    int year, month; /* 1..12; 0: the year */
    double total_return;
};
/* `months` and `years` are ascending; what is not among them is an empty cell. Nothing of none. */
void report_part_months(struct text *text, const struct report_month *months, size_t n,
                        const struct report_month *years, size_t n_years);

/* The distribution of any figure, whose unit or name `x_name` is: a histogram, with 0 marked. 0; -ENOMEM.
 * Without a value there is a sentence. */
int report_part_distribution(struct text *text, enum report_size size, const char *title, const char *x_name,
                             const char *y_name, const double *values, size_t n);

/* "2024-01-31 12:00" of a time in UTC. */
enum { REPORT_PART_TIME_MAX = 32 };
const char *report_part_time(int64_t ns, char ret[static REPORT_PART_TIME_MAX]);

#endif
