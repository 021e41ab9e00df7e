#include "spark/native/frame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spark/native/columns.h"

static const struct {
    const char *format;
    size_t size; /* of a value; of a bit 0 */
} kinds[] = {
    [SPARK_TEXT] = {"u", sizeof(int32_t)},
    [SPARK_INT] = {"l", sizeof(int64_t)},
    [SPARK_REAL] = {"g", sizeof(double)},
    [SPARK_BOOL] = {"b", 0},
    [SPARK_DECIMAL] = {"d:38,18", sizeof(int128_t)},
    [SPARK_TIME] = {"tsu:UTC", sizeof(int64_t)},
};

static const int64_t NS_PER_US = 1000;

void spark_frame_init(struct spark_frame *frame, const struct spark_frame_column *columns, size_t n)
{
    memset(frame, 0, sizeof *frame);
    frame->columns = columns;
    frame->n_columns = n;
}

void spark_frame_finish(struct spark_frame *frame)
{
    for (size_t k = 0; k < frame->n_columns; k++) {
        free(frame->buffers[k].values);
        free(frame->buffers[k].valid);
        free(frame->buffers[k].text);
    }
    spark_frame_init(frame, frame->columns, frame->n_columns);
}

static bool grow_bytes(void **buf, size_t from, size_t to)
{
    char *grown = realloc(*buf, to);
    if (!grown)
        return false;
    memset(grown + from, 0, to - from);
    *buf = grown;
    return true;
}

/* Bytes of the values of so many rows, and one more. */
static size_t values_size(enum spark_cell kind, size_t rows)
{
    return kinds[kind].size > 0 ? (rows + 1) * kinds[kind].size : rows / 8 + 1;
}

static bool grow(struct spark_frame *frame)
{
    size_t cap = frame->cap > 0 ? frame->cap * 2 : 64;
    for (size_t k = 0; k < frame->n_columns; k++) {
        struct spark_frame_buffer *b = &frame->buffers[k];
        enum spark_cell kind = frame->columns[k].kind;
        void *valid = b->valid;
        bool grown =
            grow_bytes(&b->values, b->values ? values_size(kind, frame->cap) : 0, values_size(kind, cap)) &&
            grow_bytes(&valid, valid ? frame->cap / 8 + 1 : 0, cap / 8 + 1);
        b->valid = valid;
        if (!grown)
            return false;
    }
    frame->cap = cap;
    return true;
}

/* The buffer of the next cell, which is set; NULL after a failure. */
static struct spark_frame_buffer *next(struct spark_frame *frame, bool set)
{
    if (frame->n == frame->cap && !frame->failed && !grow(frame))
        frame->failed = -ENOMEM;
    if (frame->at >= frame->n_columns)
        frame->failed = -EOVERFLOW;
    if (frame->failed)
        return NULL;
    struct spark_frame_buffer *b = &frame->buffers[frame->at];
    if (frame->columns[frame->at++].kind == SPARK_TEXT)
        ((int32_t *)b->values)[frame->n + 1] = (int32_t)b->text_n;
    if (set)
        b->valid[frame->n / 8] |= (uint8_t)(1u << frame->n % 8);
    else
        b->nulls++;
    return b;
}

void spark_frame_null(struct spark_frame *frame)
{
    (void)next(frame, false);
}

void spark_frame_text(struct spark_frame *frame, const char *text)
{
    struct spark_frame_buffer *b = next(frame, text != NULL);
    size_t n = text ? strlen(text) : 0;
    if (!b || n == 0)
        return;
    if (b->text_n + n > b->text_cap) {
        size_t cap = 2 * (b->text_n + n);
        char *grown = cap <= INT32_MAX ? realloc(b->text, cap) : NULL;
        if (!grown) {
            frame->failed = -ENOMEM;
            return;
        }
        b->text = grown;
        b->text_cap = cap;
    }
    memcpy(b->text + b->text_n, text, n);
    b->text_n += n;
    ((int32_t *)b->values)[frame->n + 1] = (int32_t)b->text_n;
}

void spark_frame_int(struct spark_frame *frame, int64_t value)
{
    struct spark_frame_buffer *b = next(frame, true);
    if (b)
        ((int64_t *)b->values)[frame->n] = value;
}

void spark_frame_real(struct spark_frame *frame, double value)
{
    struct spark_frame_buffer *b = next(frame, !isnan(value));
    if (b)
        ((double *)b->values)[frame->n] = isnan(value) ? 0 : value;
}

void spark_frame_bool(struct spark_frame *frame, bool value)
{
    struct spark_frame_buffer *b = next(frame, true);
    if (b && value)
        ((uint8_t *)b->values)[frame->n / 8] |= (uint8_t)(1u << frame->n % 8);
}

void spark_frame_decimal(struct spark_frame *frame, int128_t units, int scale)
{
    struct spark_frame_buffer *b = next(frame, true);
    int128_t value = units * decimal_pow10(SPARK_DECIMAL_SCALE - scale);
    if (b)
        memcpy((char *)b->values + frame->n * sizeof value, &value, sizeof value);
}

void spark_frame_time(struct spark_frame *frame, int64_t ns)
{
    spark_frame_int(frame, ns / NS_PER_US - (ns % NS_PER_US < 0));
}

int spark_frame_row(struct spark_frame *frame)
{
    while (frame->at < frame->n_columns && !frame->failed)
        spark_frame_null(frame);
    int r = frame->failed;
    frame->failed = 0;
    frame->at = 0;
    if (r == 0)
        frame->n++;
    return r;
}

int spark_frame_schema(const struct spark_frame *frame, struct ArrowSchema *ret)
{
    struct ArrowSchema schema;
    int r = spark_schema_make(&schema, "+s", "", frame->n_columns);
    for (size_t k = 0; k < frame->n_columns && r == 0; k++) {
        r = spark_schema_make(schema.children[k], kinds[frame->columns[k].kind].format,
                              frame->columns[k].name, 0);
        if (r < 0)
            spark_schema_release(&schema);
    }
    if (r == 0)
        *ret = schema;
    return r;
}

/* Buffers that Arrow wants even of no rows. */
static bool ready(struct spark_frame *frame)
{
    if (frame->cap == 0 && !grow(frame))
        return false;
    for (size_t k = 0; k < frame->n_columns; k++) {
        struct spark_frame_buffer *b = &frame->buffers[k];
        if (frame->columns[k].kind == SPARK_TEXT && !b->text && !(b->text = calloc(1, 1)))
            return false;
    }
    return true;
}

static void move(struct spark_frame_buffer *from, enum spark_cell kind, struct ArrowArray *to)
{
    to->null_count = from->nulls;
    to->buffers[0] = from->valid;
    to->buffers[1] = from->values;
    if (kind == SPARK_TEXT)
        to->buffers[2] = from->text;
}

int spark_frame_export(struct spark_frame *frame, struct ArrowArray *ret, struct ArrowSchema *ret_schema)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    int64_t n = (int64_t)frame->n;
    if (!ready(frame))
        return -ENOMEM;
    int r = spark_frame_schema(frame, &schema);
    if (r < 0)
        return r;
    r = spark_array_make(&array, n, 1, frame->n_columns);
    if (r < 0) {
        spark_schema_release(&schema);
        return r;
    }
    for (size_t k = 0; k < frame->n_columns && r == 0; k++)
        r = spark_array_make(array.children[k], n, frame->columns[k].kind == SPARK_TEXT ? 3 : 2, 0);
    if (r < 0) {
        spark_array_release(&array);
        spark_schema_release(&schema);
        return r;
    }
    for (size_t k = 0; k < frame->n_columns; k++)
        move(&frame->buffers[k], frame->columns[k].kind, array.children[k]);
    spark_frame_init(frame, frame->columns, frame->n_columns);
    *ret = array;
    *ret_schema = schema;
    return 0;
}
