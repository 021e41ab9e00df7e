/* Bytes as a safetensors file: refused, or tensors that lie within what was read. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/policy/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors *file = NULL;
    char err[SAFETENSORS_ERROR_MAX] = "";
    int r = safetensors_parse("f", data, size, &file, err);
    if (r < 0) {
        if (file || r != -EINVAL || strncmp(err, "f: ", 3) != 0)
            abort();
        return 0;
    }
    size_t n, sum = 0, bytes = 0;
    const struct safetensors_tensor *all = safetensors_all(file, &n);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *at = all[i].data;
        for (size_t k = 0; k < all[i].bytes; k++)
            sum += at[k];
        bytes += all[i].bytes;
        if (safetensors_find(file, all[i].name) != &all[i])
            abort();
    }
    const char *text = safetensors_metadata(file, "k");
    sum += text ? strlen(text) : 0;
    safetensors_destroy(file);
    if (bytes > size || sum == SIZE_MAX)
        abort();
    return 0;
}
