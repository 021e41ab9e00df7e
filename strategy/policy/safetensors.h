/* safetensors files (github.com/huggingface/safetensors, format 1): 8 bytes, the header's length,
 * little-endian; the header, a JSON object of tensors {"dtype","shape","data_offsets"} and "__metadata__" of
 * strings; then the tensors' bytes, without gaps. */
#ifndef STRATEGY_POLICY_SAFETENSORS_H
#define STRATEGY_POLICY_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The suffix of a file that is being written, as whole_file_open() takes it. */
#define SAFETENSORS_TEMPORARY ".new"

enum { SAFETENSORS_ERROR_MAX = 512, SAFETENSORS_DIMS_MAX = 8, SAFETENSORS_HEADER_MAX = 64 << 20 };
enum safetensors_type { SAFETENSORS_F32, SAFETENSORS_F64, SAFETENSORS_I64, SAFETENSORS_U8 };

struct safetensors_tensor {
    const char *name;
    enum safetensors_type type;
    int n_dims;
    int64_t dims[SAFETENSORS_DIMS_MAX];
    const void *data; /* the type's native bytes, aligned to it when read from a file */
    size_t bytes;
};
struct safetensors_pair {
    const char *key, *value;
};
const char *safetensors_type_name(enum safetensors_type type); /* "F32", … */
size_t safetensors_type_size(enum safetensors_type type);      /* bytes */

/* Writes a whole file through a temporary one beside it, fsync and rename: the file is replaced whole or not
 * at all. 0 or -errno with "what: where: what would be right". */
int safetensors_write(const char *path, const struct safetensors_tensor *tensors, size_t n_tensors,
                      const struct safetensors_pair *metadata, size_t n_metadata,
                      char err[static SAFETENSORS_ERROR_MAX]);

/* A whole file's bytes, to be freed: an id is their hash, and safetensors_parse() reads them. 0, errors of
 * opening and reading; -ENOMEM; -EINVAL if it is not a regular file, and, before memory is allocated for it,
 * for a file of more than `most` bytes or one that does not begin with the length of a header that fits in
 * it. */
int safetensors_bytes(const char *path, int64_t most, unsigned char **ret, size_t *ret_n,
                      char err[static SAFETENSORS_ERROR_MAX]);

/* Reads a file, header and all bytes; refuses a header that is no such object, other types than those above,
 * shapes whose bytes are not data_offsets', overlaps, gaps, duplicate names, a file that is shorter or
 * longer. `bytes` that were read already: the same from memory, which is copied. 0, for
 * safetensors_destroy(); -EINVAL with what is wrong where; errors of reading; -ENOMEM. */
struct safetensors;
int safetensors_read(const char *path, struct safetensors **ret, char err[static SAFETENSORS_ERROR_MAX]);
int safetensors_parse(const char *name, const void *bytes, size_t n, struct safetensors **ret,
                      char err[static SAFETENSORS_ERROR_MAX]);
void safetensors_destroy(struct safetensors *file); /* NULL is fine */
/* NULL: no tensor of that name. */
const struct safetensors_tensor *safetensors_find(const struct safetensors *file, const char *name);
/* In the order of their bytes. */
const struct safetensors_tensor *safetensors_all(const struct safetensors *file, size_t *ret_n);
const char *safetensors_metadata(const struct safetensors *file, const char *key); /* NULL: it has none */

#endif
