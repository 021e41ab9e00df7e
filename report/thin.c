#include "report/thin.h"

#include <math.h>

/* Points of one column: indices. */
struct pixels {
    size_t first, last, least, most;
};

static double width(const struct report_view *view, int64_t from, int64_t to)
{
    return ((double)to - (double)from) / ((double)view->high - (double)view->low) * view->columns;
}

static int column_of(const struct report_view *view, int64_t x)
{
    int column = (int)width(view, view->low, x);
    return column < view->columns ? column : view->columns - 1;
}

static bool is_seen(const struct report_view *view, int64_t x, double y)
{
    return isfinite(y) && x >= view->low && x <= view->high;
}

/* Is there a gap that can be seen between points i < j, of which all between are not drawn? */
static bool is_gap(const struct report_view *view, const int64_t *x, size_t i, size_t j)
{
    bool apart = j > i + 1 || (view->gap > 0 && (double)x[j] - (double)x[i] > (double)view->gap);
    return apart && width(view, x[i], x[j]) >= 1;
}

/* Where the points end that are in the column of point i, which is seen. */
static size_t column_end(const struct report_view *view, const int64_t *x, size_t n, size_t i)
{
    const int column = column_of(view, x[i]);
    size_t in = i, out = n; /* `in` is in it, `out` is not, or is n */
    for (size_t step = 1; in + step < out; step *= 2)
        if (x[in + step] <= view->high && column_of(view, x[in + step]) == column)
            in += step;
        else
            out = in + step;
    while (in + 1 < out) {
        size_t middle = in + (out - in) / 2;
        if (x[middle] <= view->high && column_of(view, x[middle]) == column)
            in = middle;
        else
            out = middle;
    }
    return out;
}

enum { BLOCK = 64, LANES = 4 };

/* Are BLOCK values finite, and none of them below `least` or above `most`? */
static bool is_between(const double *y, double least, double most)
{
    double low[LANES], high[LANES], none[LANES] = {0}; /* none: NaN once a value is not finite */
    for (size_t k = 0; k < LANES; k++) {
        low[k] = least;
        high[k] = most;
    }
    for (size_t i = 0; i < BLOCK; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            low[k] = y[i + k] < low[k] ? y[i + k] : low[k];
            high[k] = y[i + k] > high[k] ? y[i + k] : high[k];
            none[k] += y[i + k] - y[i + k];
        }
    bool between = true;
    for (size_t k = 0; k < LANES; k++)
        between &= low[k] == least && high[k] == most && none[k] == 0;
    return between;
}

static void look_at(const double *y, size_t from, size_t to, struct pixels *pixels)
{
    double least = y[pixels->least], most = y[pixels->most];
    for (size_t i = from; i < to; i++) {
        if (!isfinite(y[i]))
            continue;
        pixels->last = i;
        if (y[i] < least) {
            least = y[i];
            pixels->least = i;
        }
        if (y[i] > most) {
            most = y[i];
            pixels->most = i;
        }
    }
}

/* The next column that has points, from *at on; moves *at behind it. */
static bool next_column(const struct report_view *view, const int64_t *x, const double *y, size_t n,
                        size_t *at, struct pixels *ret)
{
    size_t i = *at;
    while (i < n && !is_seen(view, x[i], y[i]))
        i++;
    if (i == n)
        return false;
    struct pixels pixels = {i, i, i, i};
    size_t end = column_end(view, x, n, i);
    while (i < end) {
        size_t block = end - i < BLOCK ? end - i : BLOCK;
        if (block == BLOCK && is_between(y + i, y[pixels.least], y[pixels.most]))
            pixels.last = i + BLOCK - 1;
        else
            look_at(y, i, i + block, &pixels);
        i += block;
    }
    *ret = pixels;
    *at = end;
    return true;
}

static size_t keep(struct report_kept *ret, size_t n, size_t at, bool breaks)
{
    if (n > 0 && ret[n - 1].at == at)
        return n;
    ret[n] = (struct report_kept){at, breaks};
    return n + 1;
}

size_t report_thin(const struct report_view *view, const int64_t *x, const double *y, size_t n,
                   struct report_kept *ret)
{
    size_t kept = 0, at = 0;
    struct pixels column;
    while (next_column(view, x, y, n, &at, &column)) {
        bool breaks = kept == 0 || is_gap(view, x, ret[kept - 1].at, column.first),
             falls = column.most < column.least;
        kept = keep(ret, kept, column.first, breaks);
        kept = keep(ret, kept, falls ? column.most : column.least, false);
        kept = keep(ret, kept, falls ? column.least : column.most, false);
        kept = keep(ret, kept, column.last, false);
    }
    return kept;
}

size_t report_columns(const struct report_view *view, const int64_t *x, const double *y, size_t n,
                      struct report_column *ret)
{
    size_t done = 0, at = 0, last = 0;
    struct pixels column;
    while (next_column(view, x, y, n, &at, &column)) {
        double sum = 0, place = 0, count = 0;
        for (size_t i = column.first; i <= column.last; i++)
            if (is_seen(view, x[i], y[i])) {
                sum += y[i];
                place += (double)x[i] - (double)view->low;
                count++;
            }
        ret[done] = (struct report_column){.x = (double)view->low + place / count,
                                           .low = y[column.least],
                                           .mean = sum / count,
                                           .high = y[column.most],
                                           .breaks = done == 0 || is_gap(view, x, last, column.first)};
        last = column.last;
        done++;
    }
    return done;
}

bool report_growth_next(struct report_growth *growth, bool *ret_halves)
{
    bool kept = growth->seen++ % growth->every == 0;
    *ret_halves = kept && growth->n == growth->most;
    if (*ret_halves) { /* most is even, so that the next one is a multiple of the doubled step */
        growth->n /= 2;
        growth->every *= 2;
    }
    growth->n += kept;
    return kept;
}
