/* Mean, least and greatest of figures over rows of samples of any resolution: those that
 * db_reader_device_samples() passes with its extremes. */
#ifndef DB_DEVICE_SPAN_H
#define DB_DEVICE_SPAN_H

#include "db/row.h"

enum {
    DB_DEVICE_FIGURES = (int)(sizeof(struct device_figures) / sizeof(double)),
    DB_PROCESS_FIGURES = (int)(sizeof(struct db_process_figures) / sizeof(double)),
    DB_SPAN_FIGURES = DB_DEVICE_FIGURES, /* at most */
};

/* Start with zeros. */
struct db_span {
    int64_t n; /* samples */
    bool known[DB_SPAN_FIGURES];
    double sum[DB_SPAN_FIGURES], weight[DB_SPAN_FIGURES], min[DB_SPAN_FIGURES], max[DB_SPAN_FIGURES];
};

/* A row's figures, `count` of them, as its struct has them. A mean weighs as many samples as it is of. */
void db_span_add(struct db_span *span, enum db_statistic statistic, int64_t n, const double *figures,
                 int count);

/* The figures; NaN where no row has one. */
void db_span_figures(const struct db_span *span, enum db_statistic statistic, double *ret, int count);

#endif
