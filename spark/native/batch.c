#include "spark/native/batch.h"

#include <errno.h>
#include <string.h>

#include "exchange/fail.h"

const char *const spark_price_names[SPARK_PRICES] = {"open", "high", "low", "close", "volume"};
static const char *const trade_names[SPARK_PRICES] = {"price", "qty"};

/* The child of this name; .array NULL where there is none. */
static struct spark_child find(const struct ArrowArray *batch, const struct ArrowSchema *schema,
                               const char *name)
{
    for (int64_t k = 0; k < schema->n_children && k < batch->n_children; k++)
        if (schema->children[k]->name && strcmp(schema->children[k]->name, name) == 0)
            return (struct spark_child){batch->children[k], schema->children[k],
                                        batch->offset + batch->children[k]->offset};
    return (struct spark_child){0};
}

bool spark_child_null(const struct spark_child *child, int64_t row)
{
    const struct ArrowArray *array = child->array;
    const uint8_t *valid = array->n_buffers > 0 ? array->buffers[0] : NULL;
    int64_t at = child->offset + row;
    return array->null_count != 0 && valid && !(valid[at / 8] >> at % 8 & 1);
}

static bool has_format(const struct spark_child *child, const char *format)
{
    return child->array && strcmp(child->schema->format, format) == 0;
}

/* A float64 child's values of row 0 on; NULL where it has another type. */
static const double *doubles(const struct spark_child *child)
{
    return has_format(child, "g") ? (const double *)child->array->buffers[1] + child->offset : NULL;
}

static bool is_text(const char *format)
{
    return strcmp(format, "u") == 0 || strcmp(format, "U") == 0;
}

static bool is_symbol(const struct spark_child *child)
{
    if (!child->array)
        return false;
    if (child->schema->dictionary)
        return strcmp(child->schema->format, "i") == 0 && is_text(child->schema->dictionary->format);
    return is_text(child->schema->format);
}

/* Of "tsu:UTC"; 0 for an int64, -1 for another type. */
static int64_t time_unit(const struct spark_child *child)
{
    static const char units[] = "smun";
    static const int64_t ns[] = {1000000000, 1000000, 1000, 1};
    if (!child->array)
        return -1;
    const char *format = child->schema->format;
    if (strcmp(format, "l") == 0)
        return 0;
    const char *unit = strncmp(format, "ts", 2) == 0 && format[2] ? strchr(units, format[2]) : NULL;
    return unit ? ns[unit - units] : -1;
}

static int fail_column(const struct spark_child *child, const char *name, const char *right, char *err,
                       size_t err_cap)
{
    if (!child->array)
        return fail_with(-EINVAL, err, err_cap, "column %s is missing: %s is needed", name, right);
    return fail_with(-EINVAL, err, err_cap, "column %s has Arrow's type \"%s\": %s is needed", name,
                     child->schema->format, right);
}

static int read_prices(enum spark_rows rows, struct spark_batch *ret, const struct ArrowArray *batch,
                       const struct ArrowSchema *schema, char *err, size_t err_cap)
{
    const char *const *names = rows == SPARK_TRADES ? trade_names : spark_price_names;
    for (int c = 0; c < SPARK_PRICES && names[c]; c++) {
        ret->prices[c] = find(batch, schema, names[c]);
        ret->values[c] = doubles(&ret->prices[c]);
        if (!ret->values[c] && !(has_format(&ret->prices[c], "g") && batch->length == 0))
            return fail_column(&ret->prices[c], names[c], "float64", err, err_cap);
    }
    return 0;
}

int spark_batch_read(enum spark_rows rows, struct spark_batch *ret, const struct ArrowArray *batch,
                     const struct ArrowSchema *schema, char *err, size_t err_cap)
{
    struct spark_batch b = {.n = batch->length,
                            .symbol = find(batch, schema, "symbol"),
                            .time = find(batch, schema, "timestamp"),
                            .slice = find(batch, schema, "slice"),
                            .state = find(batch, schema, "state"),
                            .id = find(batch, schema, "id")};
    b.time_unit_ns = time_unit(&b.time);
    if (!is_symbol(&b.symbol))
        return fail_column(&b.symbol, "symbol", "a string", err, err_cap);
    if (b.time_unit_ns < 0)
        return fail_column(&b.time, "timestamp", "a timestamp, or an epoch as int64,", err, err_cap);
    if (b.slice.array && !has_format(&b.slice, "l"))
        return fail_column(&b.slice, "slice", "int64", err, err_cap);
    if (b.state.array && !has_format(&b.state, "z"))
        return fail_column(&b.state, "state", "binary", err, err_cap);
    if (rows == SPARK_TRADES && b.id.array && !has_format(&b.id, "l"))
        return fail_column(&b.id, "id", "int64", err, err_cap);
    int r = read_prices(rows, &b, batch, schema, err, err_cap);
    if (r == 0)
        *ret = b;
    return r;
}

static struct spark_text text_at(const struct ArrowArray *array, const char *format, int64_t at)
{
    const char *data = array->buffers[2];
    if (strcmp(format, "U") == 0) {
        const int64_t *ends = (const int64_t *)array->buffers[1] + at;
        return (struct spark_text){data + ends[0], (size_t)(ends[1] - ends[0])};
    }
    const int32_t *ends = (const int32_t *)array->buffers[1] + at;
    return (struct spark_text){data + ends[0], (size_t)(ends[1] - ends[0])};
}

struct spark_text spark_batch_symbol(const struct spark_batch *batch, int64_t row)
{
    const struct spark_child *symbol = &batch->symbol;
    const struct ArrowArray *words = symbol->array->dictionary;
    int64_t at = symbol->offset + row;
    if (words)
        return text_at(words, symbol->schema->dictionary->format,
                       words->offset + ((const int32_t *)symbol->array->buffers[1])[at]);
    return text_at(symbol->array, symbol->schema->format, at);
}

struct spark_text spark_batch_state(const struct spark_batch *batch, int64_t row)
{
    return text_at(batch->state.array, "z", batch->state.offset + row);
}

int64_t spark_batch_id(const struct spark_batch *batch, int64_t row)
{
    return ((const int64_t *)batch->id.array->buffers[1])[batch->id.offset + row];
}

int64_t spark_batch_slice(const struct spark_batch *batch, int64_t row)
{
    const struct spark_child *slice = &batch->slice;
    return slice->array ? ((const int64_t *)slice->array->buffers[1])[slice->offset + row] : 0;
}

/* As bars files: 1e11 s is the year 5138, 1e11 ms is 1973, and so on by thousands. */
static int64_t epoch_unit(int64_t value)
{
    const int64_t most = 100000000000;
    return value < most ? 1000000000 : value < most * 1000 ? 1000000 : value < most * 1000000 ? 1000 : 1;
}

int64_t spark_batch_unit(const struct spark_batch *batch, int64_t row)
{
    const int64_t *values = batch->time.array->buffers[1];
    return batch->time_unit_ns ? batch->time_unit_ns : epoch_unit(values[batch->time.offset + row]);
}

bool spark_text_blank(struct spark_text text)
{
    size_t blanks = 0;
    while (blanks < text.n && strchr(" \t\n\r", text.data[blanks]) && text.data[blanks])
        blanks++;
    return blanks == text.n;
}

bool spark_batch_time(const struct spark_batch *batch, int64_t row, int64_t *ret_ns)
{
    int64_t value = ((const int64_t *)batch->time.array->buffers[1])[batch->time.offset + row];
    int64_t unit = batch->time_unit_ns ? batch->time_unit_ns : epoch_unit(value);
    return !__builtin_mul_overflow(value, unit, ret_ns);
}
