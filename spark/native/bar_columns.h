/* Bars that are given back, as many as there are: a struct array of symbol, timestamp, open, high, low,
 * close, volume, count. */
#ifndef SPARK_NATIVE_BAR_COLUMNS_H
#define SPARK_NATIVE_BAR_COLUMNS_H

#include "spark/native/columns.h"

struct spark_made_bar {
    int64_t open_ns;
    double open, high, low, close, volume;
    int64_t count; /* the rows that it is of */
};

enum { SPARK_BAR_CELLS = 7 }; /* of a bar, 8 bytes each, behind the symbol */

/* Zeroed: none. */
struct spark_bar_columns {
    int64_t n, cap;
    int32_t *ends; /* [cap + 1] in the symbols' bytes */
    char *bytes;
    size_t n_bytes, bytes_cap;
    void *cells[SPARK_BAR_CELLS]; /* [cap] of int64 or double */
};

void spark_bar_columns_finish(struct spark_bar_columns *columns);

/* 0 or -ENOMEM, also for 2^31 bytes of symbols. */
int spark_bar_columns_add(struct spark_bar_columns *columns, const char *symbol,
                          const struct spark_made_bar *bar);

/* Gives them away: 0, and the columns are zeroed; or -ENOMEM. */
int spark_bar_columns_export(struct spark_bar_columns *columns, struct ArrowArray *ret_array,
                             struct ArrowSchema *ret_schema);

#endif
