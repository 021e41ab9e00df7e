#include "spark/native/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int spark_columns_init(struct spark_columns *ret, size_t n_columns, int64_t n, bool wide)
{
    struct spark_columns c = {.n_columns = n_columns, .n = n, .wide = wide};
    size_t cells = (size_t)n + 1;
    c.values = calloc(n_columns + 1, sizeof(*c.values));
    c.valid = calloc(n_columns + 1, sizeof(*c.valid));
    c.nulls = calloc(n_columns + 1, sizeof(*c.nulls));
    bool memory = c.values && c.valid && c.nulls;
    for (size_t k = 0; k < n_columns && memory; k++) {
        c.values[k] = calloc(cells, wide ? sizeof(double) : sizeof(float));
        c.valid[k] = calloc(cells / 8 + 1, 1);
        c.nulls[k] = n;
        memory = c.values[k] && c.valid[k];
    }
    if (!memory) {
        spark_columns_finish(&c);
        return -ENOMEM;
    }
    *ret = c;
    return 0;
}

int spark_columns_init_vector(struct spark_columns *ret, size_t n_columns, int64_t n)
{
    if (n_columns > 0 && n > INT32_MAX / (int64_t)n_columns) /* the offsets of Arrow's lists */
        return -ENOMEM;
    float *cells = calloc((size_t)n * n_columns + 1, sizeof(*cells));
    if (!cells)
        return -ENOMEM;
    *ret = (struct spark_columns){.n_columns = n_columns, .n = n, .cells = cells};
    return 0;
}

void spark_columns_finish(struct spark_columns *columns)
{
    for (size_t k = 0; k < columns->n_columns; k++) {
        if (columns->values)
            free(columns->values[k]);
        if (columns->valid)
            free(columns->valid[k]);
    }
    free(columns->values);
    free(columns->valid);
    free(columns->nulls);
    free(columns->cells);
    *columns = (struct spark_columns){0};
}

void spark_array_release(struct ArrowArray *array)
{
    if (array && array->release)
        array->release(array);
}

void spark_schema_release(struct ArrowSchema *schema)
{
    if (schema && schema->release)
        schema->release(schema);
}

/* An array's own memory: its buffers and, of a struct, its children. */
static void release_array(struct ArrowArray *array)
{
    for (int64_t k = 0; k < array->n_children; k++) {
        spark_array_release(array->children[k]);
        free(array->children[k]);
    }
    for (int64_t k = 0; k < array->n_buffers; k++)
        free((void *)array->buffers[k]);
    free(array->children);
    free(array->buffers);
    array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t k = 0; k < schema->n_children; k++) {
        spark_schema_release(schema->children[k]);
        free(schema->children[k]);
    }
    free(schema->children);
    free((char *)schema->name);
    schema->release = NULL;
}

int spark_array_make(struct ArrowArray *ret, int64_t n, int64_t n_buffers, size_t n_children)
{
    struct ArrowArray a = {.length = n, .n_buffers = n_buffers, .release = release_array};
    a.buffers = calloc((size_t)n_buffers, sizeof(*a.buffers));
    a.children = calloc(n_children + 1, sizeof(*a.children));
    bool memory = a.buffers && a.children;
    for (size_t k = 0; k < n_children && memory; k++) {
        memory = (a.children[k] = calloc(1, sizeof(struct ArrowArray))) != NULL;
        a.n_children += memory;
    }
    *ret = a;
    if (memory)
        return 0;
    release_array(ret);
    return -ENOMEM;
}

int spark_schema_make(struct ArrowSchema *ret, const char *format, const char *name, size_t n_children)
{
    struct ArrowSchema s = {.format = format, .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    s.name = strdup(name);
    s.children = calloc(n_children + 1, sizeof(*s.children));
    bool memory = s.name && s.children;
    for (size_t k = 0; k < n_children && memory; k++) {
        memory = (s.children[k] = calloc(1, sizeof(struct ArrowSchema))) != NULL;
        s.n_children += memory;
    }
    *ret = s;
    if (memory)
        return 0;
    release_schema(ret);
    return -ENOMEM;
}

int spark_columns_export(struct spark_columns *columns, const char *const names[],
                         struct ArrowArray *ret_array, struct ArrowSchema *ret_schema)
{
    struct ArrowArray array = {0};
    struct ArrowSchema schema = {0};
    int r = spark_array_make(&array, columns->n, 1, columns->n_columns);
    if (r == 0)
        r = spark_schema_make(&schema, "+s", "", columns->n_columns);
    for (size_t k = 0; k < columns->n_columns && r == 0; k++) {
        r = spark_array_make(array.children[k], columns->n, 2, 0);
        if (r == 0)
            r = spark_schema_make(schema.children[k], columns->wide ? "g" : "f", names[k], 0);
    }
    if (r < 0) {
        spark_array_release(&array);
        spark_schema_release(&schema);
        return r;
    }
    for (size_t k = 0; k < columns->n_columns; k++) {
        array.children[k]->buffers[0] = columns->valid[k];
        array.children[k]->buffers[1] = columns->values[k];
        array.children[k]->null_count = columns->nulls[k];
        columns->valid[k] = NULL;
        columns->values[k] = NULL;
    }
    spark_columns_finish(columns);
    *ret_array = array;
    *ret_schema = schema;
    return 0;
}

static int32_t *make_ends(int64_t n, size_t width)
{
    int32_t *ends = malloc(((size_t)n + 1) * sizeof(*ends));
    for (int64_t i = 0; ends && i <= n; i++)
        ends[i] = (int32_t)(i * (int64_t)width);
    return ends;
}

/* A struct of a list of floats. */
static int make_lists(const struct spark_columns *columns, const char *name, struct ArrowArray *array,
                      struct ArrowSchema *schema)
{
    int64_t cells = columns->n * (int64_t)columns->n_columns;
    int r = spark_array_make(array, columns->n, 1, 1);
    if (r == 0)
        r = spark_schema_make(schema, "+s", "", 1);
    if (r == 0)
        r = spark_array_make(array->children[0], columns->n, 2, 1);
    if (r == 0)
        r = spark_schema_make(schema->children[0], "+l", name, 1);
    if (r == 0)
        r = spark_array_make(array->children[0]->children[0], cells, 2, 0);
    if (r == 0)
        r = spark_schema_make(schema->children[0]->children[0], "f", "element", 0);
    return r;
}

int spark_columns_export_vector(struct spark_columns *columns, const char *name, struct ArrowArray *ret_array,
                                struct ArrowSchema *ret_schema)
{
    struct ArrowArray array = {0};
    struct ArrowSchema schema = {0};
    int32_t *ends = make_ends(columns->n, columns->n_columns);
    int r = ends ? make_lists(columns, name, &array, &schema) : -ENOMEM;
    if (r < 0) {
        spark_array_release(&array);
        spark_schema_release(&schema);
        free(ends);
        return r;
    }
    array.children[0]->buffers[1] = ends;
    array.children[0]->children[0]->buffers[1] = columns->cells;
    columns->cells = NULL;
    spark_columns_finish(columns);
    *ret_array = array;
    *ret_schema = schema;
    return 0;
}
