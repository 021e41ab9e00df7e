/* Fewer points for a curve than it has, that look the same: a picture is `columns` pixels wide, and a line of
 * any number of points is what its first, least, highest and last point of each column draw (Jugel, Jerzak,
 * Hackenbroich, Markl, "M4: a visualization-oriented time series data aggregation", VLDB 2014). Pure.
 *
 * x never falls. y that is not finite is a gap, and so are neighbours whose x are further apart than `gap`
 * (0: none); a gap narrower than a column is not seen, and joined. */
#ifndef REPORT_THIN_H
#define REPORT_THIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_view {
    int64_t low, high; /* x at the left and right end, low < high; what is beyond is left out */
    int columns;       /* at least 1 */
    int64_t gap;
};

struct report_kept {
    size_t at;   /* index of the point */
    bool breaks; /* is not joined with the one before */
};

/* At most 4 * columns points, ascending. Returns how many; the first of them breaks. */
size_t report_thin(const struct report_view *view, const int64_t *x, const double *y, size_t n,
                   struct report_kept *ret);

/* A column that has points: where their mean is, and what they are. */
struct report_column {
    double x, low, mean, high;
    bool breaks;
};

/* At most `columns` of them, from left to right. Returns how many. */
size_t report_columns(const struct report_view *view, const int64_t *x, const double *y, size_t n,
                      struct report_column *ret);

/* Curves that grow without a known end: which of the points 0, 1, 2, ... are kept so that there are never
 * more than `most` (even): every `every`-th, which doubles once they are full. */
struct report_growth {
    size_t n, most, every, seen; /* n: kept so far */
};
static inline struct report_growth report_growth_of(size_t most)
{
    return (struct report_growth){.most = most, .every = 1};
}
/* Is the next point kept? *ret_halves: before that the caller removes every second of the kept ones (1, 3, 5,
 * ...). The kept one's place is n - 1 afterwards. */
bool report_growth_next(struct report_growth *growth, bool *ret_halves);

#endif
