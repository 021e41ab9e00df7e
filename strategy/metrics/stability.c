#include <math.h>

#include "strategy/metrics/series.h"

/* Running means and products of deviations, the rows numbered from 0. */
double metrics_stability(const struct metrics_series *series)
{
    if (series->n < 2)
        return NAN;
    double room[SERIES_BLOCK], level = 0, rows = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t from = 0, n; from < series->n; from += n) {
        n = series_block(series, from);
        const double *returns = series_load(series, from, n, room);
        for (size_t i = 0; i < n; i++) {
            if (isnan(returns[i]))
                continue;
            level += log1p(returns[i]);
            double off_x = rows - mean_x, off_y = level - mean_y;
            rows++;
            mean_x += off_x / rows;
            mean_y += off_y / rows;
            xx += off_x * (rows - 1 - mean_x);
            xy += off_x * (level - mean_y);
            yy += off_y * (level - mean_y);
        }
    }
    if (xx == 0 || yy == 0)
        return xy == 0 ? NAN : 0;
    double r = xy / sqrt(xx * yy);
    r = r > 1 ? 1 : r < -1 ? -1 : r;
    return r * r;
}
