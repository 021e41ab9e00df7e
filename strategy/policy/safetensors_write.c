#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "strategy/policy/safetensors.h"

enum { LENGTH_BYTES = 8, HEADER_UNIT = 8 };

struct writing {
    const char *path;
    char *err;
    const struct safetensors_tensor *tensors;
    const struct safetensors_tensor **order; /* [n]: in the order of their bytes: larger elements first */
    size_t n;
};

#define refuse(out, code, ...) fail_line(code, (out)->err, SAFETENSORS_ERROR_MAX, (out)->path, __VA_ARGS__)

static int check_tensor(const struct writing *out, const struct safetensors_tensor *tensor)
{
    size_t bytes = safetensors_type_size(tensor->type);
    if (tensor->n_dims < 0 || tensor->n_dims > SAFETENSORS_DIMS_MAX)
        return refuse(out, -EINVAL, "tensor %.64s: %d dimensions: 0 to %d is right", tensor->name,
                      tensor->n_dims, SAFETENSORS_DIMS_MAX);
    for (int i = 0; i < tensor->n_dims; i++)
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)tensor->dims[i], &bytes))
            return refuse(out, -EINVAL, "tensor %.64s: dimension %d is %lld: its bytes must be countable",
                          tensor->name, i, (long long)tensor->dims[i]);
    if (bytes != tensor->bytes)
        return refuse(out, -EINVAL, "tensor %.64s: %zu bytes: its shape has %zu", tensor->name, tensor->bytes,
                      bytes);
    return 0;
}

/* Takes ownership of `value`; refuses a key that exists already, or is not UTF-8. */
static int put(const struct writing *out, json_t *object, const char *key, json_t *value)
{
    if (json_object_get(object, key)) {
        json_decref(value);
        return refuse(out, -EINVAL, "%.64s: it is there twice", key);
    }
    if (!value || json_object_set_new(object, key, value) < 0)
        return refuse(out, -EINVAL, "%.64s: UTF-8 is right, or there is no memory for it", key);
    return 0;
}

static json_t *describe(const struct safetensors_tensor *tensor, size_t begin)
{
    json_t *shape = json_array();
    for (int i = 0; i < tensor->n_dims; i++)
        json_array_append_new(shape, json_integer(tensor->dims[i]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", safetensors_type_name(tensor->type), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)(begin + tensor->bytes));
}

static int make_header(const struct writing *out, const struct safetensors_pair *metadata, size_t n_metadata,
                       json_t *header)
{
    json_t *pairs = json_object();
    size_t at = 0;
    int r = put(out, header, "__metadata__", pairs);
    for (size_t i = 0; i < n_metadata && r == 0; i++)
        r = put(out, pairs, metadata[i].key, json_string(metadata[i].value));
    for (size_t i = 0; i < out->n && r == 0; i++) {
        r = check_tensor(out, out->order[i]);
        if (r == 0)
            r = put(out, header, out->order[i]->name, describe(out->order[i], at));
        at += out->order[i]->bytes;
    }
    return r;
}

/* The header is padded with blanks, so that the data begins at a multiple of HEADER_UNIT. */
static int write_bytes(const struct writing *out, const struct whole_file *file, const char *header)
{
    static const char blanks[HEADER_UNIT] = "        ";
    size_t n = strlen(header), padding = (HEADER_UNIT - n % HEADER_UNIT) % HEADER_UNIT;
    unsigned char length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)((uint64_t)(n + padding) >> (8 * i));
    int r = whole_file_put(file, length, sizeof length);
    if (r == 0)
        r = whole_file_put(file, header, n);
    if (r == 0)
        r = whole_file_put(file, blanks, padding);
    for (size_t i = 0; i < out->n && r == 0; i++)
        r = whole_file_put(file, out->order[i]->data, out->order[i]->bytes);
    return r;
}

static int replace(const struct writing *out, const char *header)
{
    struct whole_file file;
    int r = whole_file_open(out->path, SAFETENSORS_TEMPORARY, 0644, &file);
    return r < 0 ? r : whole_file_close(&file, write_bytes(out, &file, header));
}

int safetensors_write(const char *path, const struct safetensors_tensor *tensors, size_t n_tensors,
                      const struct safetensors_pair *metadata, size_t n_metadata,
                      char err[static SAFETENSORS_ERROR_MAX])
{
    struct writing out = {.path = path, .err = err, .tensors = tensors};
    json_t *header = json_object();
    char *text = NULL;
    out.order = calloc(n_tensors + 1, sizeof(const struct safetensors_tensor *));
    if (!header || !out.order) {
        json_decref(header);
        free(out.order);
        return refuse(&out, -ENOMEM, "out of memory");
    }
    for (size_t size = 8; size > 0; size /= 2) /* aligned, because the data is */
        for (size_t i = 0; i < n_tensors; i++)
            if (safetensors_type_size(tensors[i].type) == size)
                out.order[out.n++] = &tensors[i];
    int r = make_header(&out, metadata, n_metadata, header);
    if (r == 0 && !(text = json_dumps(header, JSON_COMPACT)))
        r = refuse(&out, -ENOMEM, "out of memory");
    if (r == 0 && strlen(text) > SAFETENSORS_HEADER_MAX - HEADER_UNIT)
        r = refuse(&out, -EINVAL, "a header of %zu bytes: at most %d is right", strlen(text),
                   SAFETENSORS_HEADER_MAX - HEADER_UNIT);
    if (r == 0 && (r = replace(&out, text)) < 0)
        refuse(&out, r, "cannot write it: %s", strerror(-r));
    free(text);
    json_decref(header);
    free(out.order);
    return r;
}
