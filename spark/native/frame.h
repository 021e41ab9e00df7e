/* Rows of several types that are given back: a struct array of the Arrow C data interface, and its schema.
 * Cells are put one after the other, in the order of the columns; the first failure is kept until the row
 * ends. */
#ifndef SPARK_NATIVE_FRAME_H
#define SPARK_NATIVE_FRAME_H

#include <arrow/c/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/decimal.h"

enum spark_cell {
    SPARK_TEXT,
    SPARK_INT,  /* int64 */
    SPARK_REAL, /* float64; NaN is null */
    SPARK_BOOL,
    SPARK_DECIMAL, /* decimal128 of 38 digits, SPARK_DECIMAL_SCALE of them after the point */
    SPARK_TIME,    /* a timestamp in us, UTC */
};

enum { SPARK_DECIMAL_SCALE = 18, SPARK_FRAME_COLUMNS_MAX = 96 };

struct spark_frame_column {
    const char *name; /* as long as the frame */
    enum spark_cell kind;
};

struct spark_frame_buffer {
    void *values;   /* of texts their ends, int32_t[cap + 1] */
    uint8_t *valid; /* a bit a row */
    char *text;
    size_t text_n, text_cap;
    int64_t nulls;
};

struct spark_frame {
    const struct spark_frame_column *columns;
    size_t n_columns;
    size_t n, cap; /* rows */
    size_t at;     /* the column of the next cell of row n */
    int failed;    /* in this row */
    struct spark_frame_buffer buffers[SPARK_FRAME_COLUMNS_MAX];
};

/* An empty one, of columns that live as long as it. */
void spark_frame_init(struct spark_frame *frame, const struct spark_frame_column *columns, size_t n);
void spark_frame_finish(struct spark_frame *frame);

void spark_frame_text(struct spark_frame *frame, const char *text); /* NULL: null */
void spark_frame_int(struct spark_frame *frame, int64_t value);
void spark_frame_real(struct spark_frame *frame, double value);
void spark_frame_bool(struct spark_frame *frame, bool value);
void spark_frame_decimal(struct spark_frame *frame, int128_t units, int scale);
void spark_frame_time(struct spark_frame *frame, int64_t ns);
void spark_frame_null(struct spark_frame *frame);

/* Ends a row, whose other cells are null. 0 or -ENOMEM. */
int spark_frame_row(struct spark_frame *frame);

/* Gives the rows away, for the caller to release; the frame is empty then. 0; -ENOMEM, and it has them still.
 */
int spark_frame_export(struct spark_frame *frame, struct ArrowArray *ret, struct ArrowSchema *ret_schema);

/* The schema alone. 0 or -ENOMEM. */
int spark_frame_schema(const struct spark_frame *frame, struct ArrowSchema *ret);

#endif
