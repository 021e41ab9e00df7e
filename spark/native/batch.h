/* A batch of bars as Arrow's C data interface has it: its columns found, checked for their types, and read.
 */
#ifndef SPARK_NATIVE_BATCH_H
#define SPARK_NATIVE_BATCH_H

#include <arrow/c/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spark_price { SPARK_OPEN, SPARK_HIGH, SPARK_LOW, SPARK_CLOSE, SPARK_VOLUME, SPARK_PRICES };
extern const char *const spark_price_names[SPARK_PRICES]; /* the columns of bars */

/* A child of the batch; array NULL: there is none. */
struct spark_child {
    const struct ArrowArray *array;
    const struct ArrowSchema *schema;
    int64_t offset; /* of row 0: the child's own and its parent's */
};

/* Borrows the batch. */
struct spark_batch {
    int64_t n;
    struct spark_child symbol, time, slice, state, id, prices[SPARK_PRICES];
    const double *values[SPARK_PRICES]; /* [n] each */
    int64_t time_unit_ns;               /* 0: an epoch in a unit that its size says */
};

/* A text of a column; not ended by '\0'. */
struct spark_text {
    const char *data;
    size_t n;
};

bool spark_child_null(const struct spark_child *child, int64_t row);

/* What a batch's rows are: their columns of float64. */
enum spark_rows { SPARK_BARS, SPARK_TRADES };
enum { SPARK_PRICE, SPARK_QTY }; /* of trades, in place of enum spark_price */

/* Finds the columns. 0; -EINVAL and a sentence for one that is missing or has another type. */
int spark_batch_read(enum spark_rows rows, struct spark_batch *ret, const struct ArrowArray *batch,
                     const struct ArrowSchema *schema, char *err, size_t err_cap);

/* Of rows that are not null. */
struct spark_text spark_batch_symbol(const struct spark_batch *batch, int64_t row);
struct spark_text spark_batch_state(const struct spark_batch *batch, int64_t row);
int64_t spark_batch_id(const struct spark_batch *batch, int64_t row);    /* its column is there */
int64_t spark_batch_slice(const struct spark_batch *batch, int64_t row); /* 0 without that column */

/* The unit of a row's time: of an epoch the one that its size says. */
int64_t spark_batch_unit(const struct spark_batch *batch, int64_t row);

/* Has it no letter? */
bool spark_text_blank(struct spark_text text);
#define SPARK_BLANK_SYMBOL "a symbol is empty, or blanks: a row's symbol names it, as BTCUSDT"

/* Nanoseconds since 1970; false where int64 does not reach. */
bool spark_batch_time(const struct spark_batch *batch, int64_t row, int64_t *ret_ns);

#endif
