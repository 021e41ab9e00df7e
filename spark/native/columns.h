/* Columns that are given back: a struct array of floats or doubles with nulls, and its schema. */
#ifndef SPARK_NATIVE_COLUMNS_H
#define SPARK_NATIVE_COLUMNS_H

#include <arrow/c/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns of n rows each, all null before they are set; or one vector of them a row. */
struct spark_columns {
    size_t n_columns;
    int64_t n;
    bool wide;       /* double, else float */
    void **values;   /* [n_columns] of n cells */
    uint8_t **valid; /* [n_columns], a bit a row */
    int64_t *nulls;  /* [n_columns] */
    float *cells;    /* a vector: [n][n_columns], in place of the three above; else NULL */
};

/* 0, for spark_columns_finish(); -ENOMEM. */
int spark_columns_init(struct spark_columns *ret, size_t n_columns, int64_t n, bool wide);
int spark_columns_init_vector(struct spark_columns *ret, size_t n_columns, int64_t n);
void spark_columns_finish(struct spark_columns *columns); /* fine on a zeroed one */

static inline void spark_columns_mark(struct spark_columns *columns, size_t column, int64_t row)
{
    columns->valid[column][row / 8] |= (uint8_t)(1u << row % 8);
    columns->nulls[column]--;
}

/* Sets a cell, once. */
static inline void spark_columns_double(struct spark_columns *columns, size_t column, int64_t row, double x)
{
    ((double *)columns->values[column])[row] = x;
    spark_columns_mark(columns, column, row);
}
static inline void spark_columns_float(struct spark_columns *columns, size_t column, int64_t row, float x)
{
    ((float *)columns->values[column])[row] = x;
    spark_columns_mark(columns, column, row);
}

/* Gives the columns away as a struct array, which frees them when it is released. 0, and the columns are
 * zeroed; -ENOMEM, and they are as before. */
int spark_columns_export(struct spark_columns *columns, const char *const names[],
                         struct ArrowArray *ret_array, struct ArrowSchema *ret_schema);

/* The same of a vector: one column of lists. */
int spark_columns_export_vector(struct spark_columns *columns, const char *name, struct ArrowArray *ret_array,
                                struct ArrowSchema *ret_schema);

/* An array with n_buffers buffers that are NULL and n_children children that are released, and a schema
 * likewise: for spark_array_release(), which frees buffers that are set, and spark_schema_release(). `format`
 * is borrowed for ever. 0 or -ENOMEM. */
int spark_array_make(struct ArrowArray *ret, int64_t n, int64_t n_buffers, size_t n_children);
int spark_schema_make(struct ArrowSchema *ret, const char *format, const char *name, size_t n_children);

/* Releases what was given; fine on what was released. */
void spark_array_release(struct ArrowArray *array);
void spark_schema_release(struct ArrowSchema *schema);

#endif
