/* Batches of bars as Arrow's C data interface has them, made of plain columns: buffers are copies of exactly
 * their rows, so that ASan sees a step past, and a batch counts in made_alive until it is released. */
#ifndef TESTS_SPARK_MADE_H
#define TESTS_SPARK_MADE_H

#include <arrow/c/abi.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { MADE_COLUMNS_MAX = 10 };

static int made_alive; /* batches and schemas that are not released */

struct made_column {
    const char *name, *format;
    const void *data; /* rows of the format's size; of texts const char *const * */
    const bool *null; /* or NULL */
};

static void made_release_child(struct ArrowArray *a)
{
    for (int64_t k = 0; k < a->n_buffers; k++)
        free((void *)a->buffers[k]);
    free(a->buffers);
    a->release = NULL;
}

static void made_release(struct ArrowArray *a)
{
    for (int64_t k = 0; k < a->n_children; k++) {
        a->children[k]->release(a->children[k]);
        free(a->children[k]);
    }
    free(a->children);
    free(a->buffers);
    a->release = NULL;
    made_alive--;
}

static void made_release_schema(struct ArrowSchema *s)
{
    for (int64_t k = 0; k < s->n_children; k++)
        free(s->children[k]);
    free(s->children);
    s->release = NULL;
    made_alive--;
}

static void *made_copy(const void *data, size_t size)
{
    void *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    return copy;
}

/* Offsets and bytes of texts. */
static void made_texts(const char *const texts[], int64_t n, const void **buffers)
{
    int32_t *ends = malloc(((size_t)n + 1) * sizeof(*ends));
    char *bytes = malloc(1);
    size_t size = 0;
    if (!ends || !bytes)
        abort();
    ends[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        size_t more = strlen(texts[i]);
        char *grown = realloc(bytes, size + more + 1);
        if (!grown)
            abort();
        bytes = grown;
        memcpy(bytes + size, texts[i], more);
        size += more;
        ends[i + 1] = (int32_t)size;
    }
    buffers[1] = ends;
    buffers[2] = bytes;
}

static struct ArrowArray made_child(const struct made_column *column, int64_t from, int64_t n)
{
    bool text = column->format[0] == 'u';
    struct ArrowArray a = {.length = n, .n_buffers = text ? 3 : 2, .release = made_release_child};
    a.buffers = calloc(3, sizeof(*a.buffers));
    if (column->null) {
        uint8_t *valid = calloc((size_t)n / 8 + 1, 1);
        for (int64_t i = 0; i < n; i++)
            valid[i / 8] |= (uint8_t)(!column->null[from + i] << i % 8);
        a.buffers[0] = valid;
        a.null_count = -1;
    }
    if (text)
        made_texts((const char *const *)column->data + from, n, a.buffers);
    else
        a.buffers[1] = made_copy((const char *)column->data + 8 * from, 8 * (size_t)n);
    return a;
}

/* Rows [from, from + n) of the columns. */
static void made_batch(const struct made_column columns[], int n_columns, int64_t from, int64_t n,
                       struct ArrowArray *ret, struct ArrowSchema *ret_schema)
{
    *ret = (struct ArrowArray){.length = n, .n_buffers = 1, .release = made_release};
    *ret_schema = (struct ArrowSchema){.format = "+s", .name = "", .release = made_release_schema};
    ret->buffers = calloc(1, sizeof(*ret->buffers));
    ret->children = calloc(MADE_COLUMNS_MAX, sizeof(*ret->children));
    ret_schema->children = calloc(MADE_COLUMNS_MAX, sizeof(*ret_schema->children));
    ret->n_children = ret_schema->n_children = n_columns;
    for (int k = 0; k < n_columns; k++) {
        ret->children[k] = malloc(sizeof(struct ArrowArray));
        *ret->children[k] = made_child(&columns[k], from, n);
        ret_schema->children[k] = calloc(1, sizeof(struct ArrowSchema));
        ret_schema->children[k]->format = columns[k].format;
        ret_schema->children[k]->name = columns[k].name;
    }
    made_alive += 2;
}

/* Is the cell of a given column null? */
static inline bool made_null(const struct ArrowArray *column, int64_t row)
{
    const uint8_t *valid = column->buffers[0];
    return valid && !(valid[row / 8] >> row % 8 & 1);
}

#endif
