/* Ticks of a chart's axis: the fewest that are at least REPORT_TICKS_LEAST, at round places inside the range,
 * ascending, each with a text of its own. Pure. */
#ifndef REPORT_AXIS_H
#define REPORT_AXIS_H

#include <stdint.h>

enum { REPORT_TICKS_LEAST = 4, REPORT_TICKS_MAX = 12, REPORT_LABEL_MAX = 24 };

struct report_ticks {
    int n;
    double at[REPORT_TICKS_MAX];
    char label[REPORT_TICKS_MAX][REPORT_LABEL_MAX];
};

/* Multiples of 1, 2, 2.5 or 5 times a power of ten: 4 to 9. low < high, and apart by more than 1e-9 of the
 * larger; report_range_settle() sees to it. Large numbers are in k, M or G, one for the whole axis. */
void report_ticks_linear(double low, double high, struct report_ticks *ret);

/* Multiples of whole numbers: as the former, but no step is below 1; 2 or 3 ticks where there are no more. */
void report_ticks_count(double low, double high, struct report_ticks *ret);

/* Powers of ten and, where those are too few, round numbers between. 0 < low, 2 low < high. */
void report_ticks_log(double low, double high, struct report_ticks *ret);

/* Round times, UTC: seconds, hours, days, Mondays, months or years; `at` in nanoseconds. high >= low +
 * REPORT_TIME_LEAST. */
#define REPORT_TIME_LEAST INT64_C(4000000000)
void report_ticks_time(int64_t low_ns, int64_t high_ns, struct report_ticks *ret);

/* "UTC", and the day of the first moment where the ticks do not say it. Returns ret. */
const char *report_axis_day(int64_t low_ns, const struct report_ticks *ticks, char ret[static 64]);

/* What an axis shows: starts as {INFINITY, -INFINITY}. */
struct report_range {
    double low, high;
};
void report_range_widen(struct report_range *range, double x); /* by a finite x; others change nothing */
/* The range with some room around it; of nothing 0 to 1, of one number a range around it. */
struct report_range report_range_settle(struct report_range range);
/* The same on a logarithmic scale: low > 0. */
struct report_range report_range_settle_log(struct report_range range);

#endif
