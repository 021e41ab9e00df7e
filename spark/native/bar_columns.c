#include "spark/native/bar_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_FIRST = 256, CHILDREN = SPARK_BAR_CELLS + 1 };

static const char *const names[CHILDREN] = {"symbol", "timestamp", "open",   "high",
                                            "low",    "close",     "volume", "count"};
static const char *const formats[CHILDREN] = {"u", "l", "g", "g", "g", "g", "g", "l"};

void spark_bar_columns_finish(struct spark_bar_columns *columns)
{
    for (int c = 0; c < SPARK_BAR_CELLS; c++)
        free(columns->cells[c]);
    free(columns->ends);
    free(columns->bytes);
    *columns = (struct spark_bar_columns){0};
}

/* Makes *array one of n members. */
static bool grown(void **array, size_t n, size_t size)
{
    void *larger = reallocarray(*array, n, size);
    if (larger)
        *array = larger;
    return larger != NULL;
}

static bool grow_rows(struct spark_bar_columns *columns)
{
    int64_t cap = columns->cap ? 2 * columns->cap : ROWS_FIRST;
    if (columns->n < columns->cap)
        return true;
    for (int c = 0; c < SPARK_BAR_CELLS; c++)
        if (!grown(&columns->cells[c], (size_t)cap, sizeof(int64_t)))
            return false;
    void *ends = columns->ends;
    if (!grown(&ends, (size_t)cap + 1, sizeof(int32_t)))
        return false;
    columns->ends = ends;
    columns->cap = cap;
    return true;
}

static bool grow_bytes(struct spark_bar_columns *columns, size_t more)
{
    if (columns->n_bytes + more <= columns->bytes_cap)
        return true;
    size_t cap = 2 * (columns->n_bytes + more) + ROWS_FIRST;
    void *bytes = columns->bytes;
    if (cap > INT32_MAX || !grown(&bytes, cap, 1))
        return false;
    columns->bytes = bytes;
    columns->bytes_cap = cap;
    return true;
}

int spark_bar_columns_add(struct spark_bar_columns *columns, const char *symbol,
                          const struct spark_made_bar *bar)
{
    size_t length = strlen(symbol);
    if (!grow_rows(columns) || !grow_bytes(columns, length))
        return -ENOMEM;
    int64_t row = columns->n++;
    memcpy(columns->bytes + columns->n_bytes, symbol, length);
    columns->n_bytes += length;
    columns->ends[0] = 0;
    columns->ends[row + 1] = (int32_t)columns->n_bytes;
    const double prices[] = {bar->open, bar->high, bar->low, bar->close, bar->volume};
    ((int64_t *)columns->cells[0])[row] = bar->open_ns;
    for (int c = 0; c < 5; c++)
        ((double *)columns->cells[1 + c])[row] = prices[c];
    ((int64_t *)columns->cells[6])[row] = bar->count;
    return 0;
}

static int make(struct ArrowArray *array, struct ArrowSchema *schema, int64_t n)
{
    int r = spark_array_make(array, n, 1, CHILDREN);
    if (r == 0)
        r = spark_schema_make(schema, "+s", "", CHILDREN);
    for (int c = 0; c < CHILDREN && r == 0; c++) {
        r = spark_array_make(array->children[c], n, c == 0 ? 3 : 2, 0);
        if (r == 0)
            r = spark_schema_make(schema->children[c], formats[c], names[c], 0);
    }
    return r;
}

int spark_bar_columns_export(struct spark_bar_columns *columns, struct ArrowArray *ret_array,
                             struct ArrowSchema *ret_schema)
{
    struct ArrowArray array = {0};
    struct ArrowSchema schema = {0};
    int r = grow_rows(columns) && grow_bytes(columns, 1) ? make(&array, &schema, columns->n) : -ENOMEM;
    if (r < 0) {
        spark_array_release(&array);
        spark_schema_release(&schema);
        return r;
    }
    columns->ends[0] = 0;
    array.children[0]->buffers[1] = columns->ends;
    array.children[0]->buffers[2] = columns->bytes;
    for (int c = 0; c < SPARK_BAR_CELLS; c++) {
        array.children[c + 1]->buffers[1] = columns->cells[c];
        columns->cells[c] = NULL;
    }
    columns->ends = NULL;
    columns->bytes = NULL;
    spark_bar_columns_finish(columns);
    *ret_array = array;
    *ret_schema = schema;
    return 0;
}
