#include "strategy/policy/safetensors.h"
#include "exchange/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "strategy/policy/json_fault.h"

enum { LENGTH_BYTES = 8, ALIGNMENT = 64 };

static const char METADATA[] = "__metadata__";

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [SAFETENSORS_F32] = {"F32", 4},
    [SAFETENSORS_F64] = {"F64", 8},
    [SAFETENSORS_I64] = {"I64", 8},
    [SAFETENSORS_U8] = {"U8", 1},
};
enum { TYPES = sizeof types / sizeof *types };

const char *safetensors_type_name(enum safetensors_type type)
{
    return types[type].name;
}

size_t safetensors_type_size(enum safetensors_type type)
{
    return types[type].size;
}

struct safetensors {
    json_t *header; /* owns the names and the metadata */
    struct safetensors_tensor *tensors;
    size_t n;
    unsigned char *data; /* each tensor's bytes, aligned */
};

#define refuse(err, path, ...) fail_line(-EINVAL, err, SAFETENSORS_ERROR_MAX, path, __VA_ARGS__)

static int fail(char err[static SAFETENSORS_ERROR_MAX], const char *path, int code)
{
    refuse(err, path, "%s", code == -ENOMEM ? "out of memory" : strerror(-code));
    return code;
}

/* Bytes of a shape; false: more than an object can have. */
static bool bytes_of(enum safetensors_type type, const int64_t *dims, int n, size_t *ret)
{
    size_t bytes = types[type].size;
    for (int i = 0; i < n; i++)
        if (__builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes) || bytes > PTRDIFF_MAX)
            return false;
    *ret = bytes;
    return true;
}

/* ---- reading ---- */

/* A tensor's place among the data's bytes. */
struct span {
    size_t begin, end, tensor;
};

struct reading {
    const char *path;
    char *err;
    const unsigned char *data;
    size_t bytes;
    struct span *spans;
};

static int read_type(const struct reading *in, const char *name, const json_t *object,
                     enum safetensors_type *ret)
{
    const char *text = json_string_value(json_object_get(object, "dtype"));
    for (int t = 0; text && t < TYPES; t++)
        if (strcmp(types[t].name, text) == 0) {
            *ret = (enum safetensors_type)t;
            return 0;
        }
    return refuse(in->err, in->path, "tensor %.64s: dtype %.16s: F32, F64, I64 or U8 is right", name,
                  text ? text : "missing");
}

static int read_shape(const struct reading *in, const char *name, const json_t *object,
                      struct safetensors_tensor *tensor)
{
    const json_t *shape = json_object_get(object, "shape");
    size_t n = json_array_size(shape);
    if (!json_is_array(shape) || n > SAFETENSORS_DIMS_MAX)
        return refuse(in->err, in->path, "tensor %.64s: shape: a list of at most %d sizes is right", name,
                      SAFETENSORS_DIMS_MAX);
    for (size_t i = 0; i < n; i++) {
        const json_t *dim = json_array_get(shape, i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return refuse(in->err, in->path,
                          "tensor %.64s: shape: size %zu: a whole number from 0 on is right", name, i);
        tensor->dims[i] = json_integer_value(dim);
    }
    tensor->n_dims = (int)n;
    if (!bytes_of(tensor->type, tensor->dims, tensor->n_dims, &tensor->bytes))
        return refuse(in->err, in->path, "tensor %.64s: shape: it is larger than any memory", name);
    return 0;
}

static int read_offsets(const struct reading *in, const char *name, const json_t *object,
                        const struct safetensors_tensor *tensor, struct span *span)
{
    const json_t *offsets = json_object_get(object, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return refuse(in->err, in->path, "tensor %.64s: data_offsets: [begin, end] in bytes is right", name);
    json_int_t first = json_integer_value(begin), last = json_integer_value(end);
    if (first < 0 || last < first || (uint64_t)last > in->bytes)
        return refuse(in->err, in->path,
                      "tensor %.64s: data_offsets [%lld, %lld]: within the %zu bytes of data is right: the "
                      "file is cut short, or it was never whole",
                      name, (long long)first, (long long)last, in->bytes);
    if ((uint64_t)(last - first) != tensor->bytes)
        return refuse(in->err, in->path,
                      "tensor %.64s: data_offsets [%lld, %lld]: its shape of %s has %zu bytes", name,
                      (long long)first, (long long)last, types[tensor->type].name, tensor->bytes);
    span->begin = (size_t)first;
    span->end = (size_t)last;
    return 0;
}

static int read_tensor(const struct reading *in, const char *name, const json_t *object,
                       struct safetensors_tensor *tensor, struct span *span)
{
    tensor->name = name;
    if (!json_is_object(object) || json_object_size(object) != 3)
        return refuse(in->err, in->path, "tensor %.64s: an object of dtype, shape and data_offsets is right",
                      name);
    int r = read_type(in, name, object, &tensor->type);
    if (r == 0)
        r = read_shape(in, name, object, tensor);
    return r < 0 ? r : read_offsets(in, name, object, tensor, span);
}

static int check_metadata(const struct reading *in, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return refuse(in->err, in->path, "%s: an object of strings is right", METADATA);
    json_object_foreach(metadata, key, value) if (!json_is_string(value)) return refuse(
        in->err, in->path, "%s: %.64s: a string is right", METADATA, key);
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end != y->end ? (x->end < y->end ? -1 : 1) : (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

/* Checks that there is no gap and no overlap, and that the data ends with the file. */
static int check_places(const struct reading *in, const struct safetensors *file)
{
    size_t at = 0;
    qsort(in->spans, file->n, sizeof *in->spans, by_place);
    for (size_t i = 0; i < file->n; i++) {
        const struct span *span = &in->spans[i];
        if (span->begin != at)
            return refuse(in->err, in->path,
                          "tensor %.64s: data_offsets begin at %zu: %zu is right, where the one before ends",
                          file->tensors[span->tensor].name, span->begin, at);
        at = span->end;
    }
    if (at != in->bytes)
        return refuse(in->err, in->path,
                      "%zu bytes of data: the tensors have %zu: the file is longer than it "
                      "should be",
                      in->bytes, at);
    return 0;
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The tensors in the order of their bytes. */
static int take_data(const struct reading *in, struct safetensors *file)
{
    size_t total = ALIGNMENT, at = 0;
    for (size_t i = 0; i < file->n; i++)
        total += aligned(file->tensors[i].bytes);
    struct safetensors_tensor *ordered = calloc(file->n + 1, sizeof *ordered);
    file->data = aligned_alloc(ALIGNMENT, total);
    if (!ordered || !file->data) {
        free(ordered);
        return fail(in->err, in->path, -ENOMEM);
    }
    for (size_t i = 0; i < file->n; i++) {
        ordered[i] = file->tensors[in->spans[i].tensor];
        if (ordered[i].bytes > 0)
            memcpy(file->data + at, in->data + in->spans[i].begin, ordered[i].bytes);
        ordered[i].data = file->data + at;
        at += aligned(ordered[i].bytes);
    }
    free(file->tensors);
    file->tensors = ordered;
    return 0;
}

static int read_header(struct reading *in, const char *text, size_t n, struct safetensors *file)
{
    json_error_t why;
    const char *name;
    json_t *object;
    if (text[0] != '{')
        return refuse(in->err, in->path, "its header begins with byte 0x%02x: a JSON object is right",
                      (unsigned char)text[0]);
    file->header = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(file->header))
        return refuse(in->err, in->path, "its header is no JSON object: byte %d: %.120s", why.position,
                      file->header ? "" : policy_json_fault(&why));
    size_t entries = json_object_size(file->header);
    file->tensors = calloc(entries + 1, sizeof *file->tensors);
    in->spans = calloc(entries + 1, sizeof *in->spans);
    if (!file->tensors || !in->spans)
        return fail(in->err, in->path, -ENOMEM);
    json_object_foreach(file->header, name, object)
    {
        int r = strcmp(name, METADATA) == 0
                    ? check_metadata(in, object)
                    : read_tensor(in, name, object, &file->tensors[file->n], &in->spans[file->n]);
        if (r < 0)
            return r;
        if (strcmp(name, METADATA) != 0) {
            in->spans[file->n].tensor = file->n;
            file->n++;
        }
    }
    return 0;
}

/* The header's length, of a file of n bytes that begins so. */
static int read_length(const char *name, const unsigned char *at, size_t n, uint64_t *ret,
                       char err[static SAFETENSORS_ERROR_MAX])
{
    uint64_t length = 0;
    if (n < LENGTH_BYTES)
        return refuse(err, name, "%zu bytes: a safetensors file has at least %d", n, LENGTH_BYTES + 2);
    for (int i = LENGTH_BYTES; i-- > 0;)
        length = length << 8 | at[i];
    if (length > SAFETENSORS_HEADER_MAX) /* its first 8 bytes are not shown: it may be a file of anything */
        return refuse(err, name, "a header of more than %d bytes: is it a safetensors file?",
                      SAFETENSORS_HEADER_MAX);
    if (length < 2)
        return refuse(err, name, "a header of %d bytes: 2 to %d is right; is it a safetensors file?",
                      (int)length, SAFETENSORS_HEADER_MAX);
    if (length > n - LENGTH_BYTES)
        return refuse(err, name, "a header of %llu bytes in a file of %zu: the file is cut short",
                      (unsigned long long)length, n);
    *ret = length;
    return 0;
}

int safetensors_parse(const char *name, const void *bytes, size_t n, struct safetensors **ret,
                      char err[static SAFETENSORS_ERROR_MAX])
{
    const unsigned char *at = bytes;
    uint64_t length;
    int r = read_length(name, at, n, &length, err);
    if (r < 0)
        return r;
    struct safetensors *file = calloc(1, sizeof *file);
    if (!file)
        return fail(err, name, -ENOMEM);
    struct reading in = {.path = name,
                         .err = err,
                         .data = at + LENGTH_BYTES + length,
                         .bytes = n - LENGTH_BYTES - (size_t)length};
    r = read_header(&in, (const char *)at + LENGTH_BYTES, (size_t)length, file);
    if (r == 0)
        r = check_places(&in, file);
    if (r == 0)
        r = take_data(&in, file);
    free(in.spans);
    if (r < 0) {
        safetensors_destroy(file);
        return r;
    }
    *ret = file;
    return 0;
}

static int read_all(int fd, unsigned char *bytes, size_t n, size_t *ret_n)
{
    size_t at = 0;
    for (ssize_t done = 1; at < n && done != 0;) {
        done = read(fd, bytes + at, n - at < SSIZE_MAX ? n - at : SSIZE_MAX);
        if (done < 0 && errno != EINTR)
            return -errno;
        at += done > 0 ? (size_t)done : 0;
    }
    *ret_n = at;
    return 0;
}

/* Checks the file's size and first bytes before memory is allocated for it. */
static int check_size(int fd, const char *path, int64_t size, int64_t most,
                      char err[static SAFETENSORS_ERROR_MAX])
{
    unsigned char first[LENGTH_BYTES];
    uint64_t length;
    ssize_t n = pread(fd, first, sizeof first, 0);
    if (n < 0)
        return fail(err, path, -errno);
    int r = read_length(path, first, n == LENGTH_BYTES ? (size_t)size : (size_t)n, &length, err);
    if (r == 0 && size > most)
        return refuse(err, path, "a file of %" PRId64 " bytes: at most %" PRId64 " are right", size, most);
    return r;
}

int safetensors_bytes(const char *path, int64_t most, unsigned char **ret, size_t *ret_n,
                      char err[static SAFETENSORS_ERROR_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused; opening it must not wait */
    struct stat info;
    unsigned char *bytes = NULL;
    size_t n = 0;
    int r = fd < 0 || fstat(fd, &info) < 0 ? fail(err, path, -errno) : 0;
    if (r == 0 && !S_ISREG(info.st_mode))
        r = refuse(err, path, "it is no file: a safetensors file is needed");
    if (r == 0)
        r = check_size(fd, path, info.st_size, most, err);
    if (r == 0 && !(bytes = malloc((size_t)info.st_size + 1)))
        r = fail(err, path, -ENOMEM);
    if (r == 0 && (r = read_all(fd, bytes, (size_t)info.st_size, &n)) < 0)
        fail(err, path, r);
    if (fd >= 0)
        close(fd);
    if (r < 0) {
        free(bytes);
        return r;
    }
    *ret = bytes;
    *ret_n = n;
    return 0;
}

int safetensors_read(const char *path, struct safetensors **ret, char err[static SAFETENSORS_ERROR_MAX])
{
    unsigned char *bytes;
    size_t n;
    int r = safetensors_bytes(path, INT64_MAX, &bytes, &n, err);
    if (r < 0)
        return r;
    r = safetensors_parse(path, bytes, n, ret, err);
    free(bytes);
    return r;
}

void safetensors_destroy(struct safetensors *file)
{
    if (!file)
        return;
    json_decref(file->header);
    free(file->tensors);
    free(file->data);
    free(file);
}

const struct safetensors_tensor *safetensors_find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->n; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const struct safetensors_tensor *safetensors_all(const struct safetensors *file, size_t *ret_n)
{
    *ret_n = file->n;
    return file->tensors;
}

const char *safetensors_metadata(const struct safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, METADATA), key));
}
