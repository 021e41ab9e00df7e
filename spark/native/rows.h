/* The rows of a result: which columns there are, and a row after the other. */
#ifndef SPARK_NATIVE_ROWS_H
#define SPARK_NATIVE_ROWS_H

#include "spark/native/frame.h"
#include "spark/native/result.h"

enum spark_output {
    SPARK_ROWS_FIGURES,
    SPARK_ROWS_TRADES,
    SPARK_ROWS_ROUNDS,
    SPARK_ROWS_EQUITY,
    SPARK_ROWS_SWEEP,
    SPARK_ROWS_KINDS,
};
extern const char *const spark_rows_names[SPARK_ROWS_KINDS];

/* Writes the columns, of which there are SPARK_FRAME_COLUMNS_MAX at most, and returns their number. Names are
 * those of the trading's strategy, or static. */
size_t spark_rows_columns(enum spark_output rows, const struct spark_trading *trading,
                          struct spark_frame_column columns[static SPARK_FRAME_COLUMNS_MAX]);

/* Appends row `i` of a symbol's result. 1; 0: it has fewer; -ENOMEM. Rows of equity are asked for one after
 * the other. */
int spark_rows_put(enum spark_output rows, const struct spark_trading *trading, struct spark_result *result,
                   const char *symbol, size_t i, struct spark_frame *frame);

/* Appends the row of a symbol that could not be run, where these rows have one. 0 or -ENOMEM. */
int spark_rows_put_error(enum spark_output rows, const char *symbol, const char *why,
                         struct spark_frame *frame);

#endif
