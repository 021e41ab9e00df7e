#include "db/device_span.h"

#include <math.h>

void db_span_add(struct db_span *span, enum db_statistic statistic, int64_t n, const double *figures,
                 int count)
{
    bool mean = statistic == DB_SAMPLE || statistic == DB_MEAN;
    if (mean)
        span->n += n;
    for (int i = 0; i < count; i++) {
        double value = figures[i];
        if (isnan(value))
            continue;
        span->min[i] = span->known[i] ? fmin(span->min[i], value) : value;
        span->max[i] = span->known[i] ? fmax(span->max[i], value) : value;
        span->known[i] = true;
        if (mean) {
            span->sum[i] += value * (double)n;
            span->weight[i] += (double)n;
        }
    }
}

void db_span_figures(const struct db_span *span, enum db_statistic statistic, double *ret, int count)
{
    for (int i = 0; i < count; i++)
        ret[i] = !span->known[i]       ? NAN
                 : statistic == DB_MIN ? span->min[i]
                 : statistic == DB_MAX ? span->max[i]
                                       : span->sum[i] / span->weight[i];
}
