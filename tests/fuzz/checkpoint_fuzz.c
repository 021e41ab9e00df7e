/* Whatever the bytes, as they are and sealed with a checksum that fits: refused with a sentence, or pieces
 * that lie in the file and are found by their names. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "trainer/checkpoint_parse.h"

static void read_all(const unsigned char *data, size_t size)
{
    char err[CHECKPOINT_ERROR_MAX] = "";
    struct checkpoint *checkpoint;
    unsigned char *bytes = aligned_alloc(64, (size + 64) / 64 * 64);
    if (!bytes)
        abort();
    memcpy(bytes, data, size);
    if (checkpoint_parse("input", bytes, size, &checkpoint, err) < 0) {
        if (!err[0])
            abort();
        return;
    }
    for (size_t at = 32; at + 48 <= size && at < 32 + 48 * CHECKPOINT_PIECES_MAX; at += 48) {
        char name[CHECKPOINT_NAME_MAX + 1] = "";
        memcpy(name, data + at, CHECKPOINT_NAME_MAX);
        size_t n, sum = 0;
        const unsigned char *piece = checkpoint_find(checkpoint, name, &n);
        for (size_t i = 0; piece && i < n; i++)
            sum += piece[i];
        if (sum > 255 * n)
            abort();
    }
    checkpoint_destroy(checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_all(data, size);
    if (size < 48)
        return 0;
    unsigned char *sealed = malloc(size);
    const uint64_t whole = size;
    XXH128_canonical_t sum;
    if (!sealed)
        abort();
    memcpy(sealed, data, size);
    memcpy(sealed, "PTCKPT\r\n\1\0\0\0\4\3\2\1", 16);
    memcpy(sealed + 24, &whole, sizeof whole);
    XXH128_canonicalFromHash(&sum, XXH3_128bits(sealed, size - sizeof sum));
    memcpy(sealed + size - sizeof sum, &sum, sizeof sum);
    read_all(sealed, size);
    free(sealed);
    return 0;
}
