#include "engine/market/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "engine/market/parallel.h"
#include "exchange/fail.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; older ones refuse it, and the pages come as they are read */
#endif

static const char magic[8] = {'P', 'T', 'S', 'T', 'O', 'R', 'E', '\n'};

_Static_assert(sizeof(struct blob_header) % BLOB_KIND_MAX == 0, "the head follows, aligned");

/* False where 63 bits do not hold it. */
static bool arrange(struct blob_header *header, uint64_t head, uint64_t data)
{
    const uint64_t most = INT64_MAX / 4;
    if (head > most || data > most)
        return false;
    header->head = head;
    header->chunks = (data + BLOB_CHUNK - 1) / BLOB_CHUNK;
    header->data = sizeof(*header) + head + header->chunks * sizeof(uint64_t);
    header->data = (header->data + BLOB_PAGE - 1) / BLOB_PAGE * BLOB_PAGE;
    header->size = header->data + data;
    return header->size <= SIZE_MAX / 2;
}

int market_store_blob_create(const char *kind, uint64_t head, uint64_t data, struct blob *ret)
{
    struct blob_header header = {.order = BLOB_ORDER, .layout = BLOB_LAYOUT};
    head = (head + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    if (!arrange(&header, head, data))
        return -ENOMEM;
    memcpy(header.magic, magic, sizeof(magic));
    snprintf(header.kind, sizeof(header.kind), "%s", kind);
    void *bytes = mmap(NULL, header.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return -ENOMEM;
    madvise(bytes, header.size, MADV_HUGEPAGE); /* where there are any */
    memcpy(bytes, &header, sizeof(header));
    *ret = (struct blob){.bytes = bytes, .size = header.size};
    return 0;
}

void market_store_blob_release(struct blob *blob)
{
    if (blob->bytes)
        munmap(blob->bytes, blob->size);
    *blob = (struct blob){0};
}

static uint64_t *sums(const struct blob *blob)
{
    return (uint64_t *)((unsigned char *)blob_head(blob) + blob_header(blob)->head);
}

static uint64_t chunk_sum(const struct blob *blob, size_t i)
{
    const struct blob_header *header = blob_header(blob);
    uint64_t at = header->data + (uint64_t)i * BLOB_CHUNK, left = header->size - at;
    return XXH3_64bits(blob->bytes + at, left < BLOB_CHUNK ? left : BLOB_CHUNK);
}

static uint64_t header_sum(const struct blob *blob)
{
    const size_t behind = offsetof(struct blob_header, sum) + sizeof(uint64_t);
    struct blob_header header = *blob_header(blob);
    header.sum = 0;
    uint64_t seed = XXH3_64bits(&header, sizeof(header));
    return XXH3_64bits_withSeed(blob->bytes + behind, header.data - behind, seed);
}

static void set_sum(void *ctx, size_t i)
{
    const struct blob *blob = ctx;
    sums(blob)[i] = chunk_sum(blob, i);
}

void market_store_blob_seal(struct blob *blob, const uint8_t key[static MARKET_HASH_SIZE], int threads)
{
    struct blob_header *header = blob_header(blob);
    memcpy(header->key, key, sizeof(header->key));
    market_store_parallel(threads, header->chunks, set_sum, blob);
    header->sum = header_sum(blob);
}

struct check {
    const struct blob *blob;
    atomic_size_t bad; /* a chunk; SIZE_MAX: none */
};

static void check_sum(void *ctx, size_t i)
{
    struct check *check = ctx;
    const struct blob *blob = check->blob;
    uint64_t at = blob_header(blob)->data + (uint64_t)i * BLOB_CHUNK, left = blob->size - at;
    madvise(blob->bytes + at, left < BLOB_CHUNK ? left : BLOB_CHUNK, MADV_POPULATE_READ);
    if (chunk_sum(blob, i) != sums(blob)[i])
        atomic_store(&check->bad, i);
}

#define bad(why, ...) fail_with(-EBADMSG, why, BLOB_WHY_MAX, __VA_ARGS__)

static int check_all(const struct blob *blob, const char *kind, const uint8_t key[static MARKET_HASH_SIZE],
                     int threads, char why[static BLOB_WHY_MAX])
{
    const struct blob_header *header = blob_header(blob);
    struct blob_header expected;
    char kind_field[BLOB_KIND_MAX] = {0};
    snprintf(kind_field, sizeof(kind_field), "%s", kind);
    if (memcmp(header->magic, magic, sizeof(magic)) != 0)
        return bad(why, "it is no file of this cache");
    if (header->order != BLOB_ORDER)
        return bad(why, "it is from a machine with another byte order");
    if (header->layout != BLOB_LAYOUT)
        return bad(why, "its layout is %" PRIu32 ", %s than %d", header->layout,
                   header->layout > BLOB_LAYOUT ? "newer" : "older", BLOB_LAYOUT);
    if (header->size != blob->size)
        return bad(why, "it has %zu bytes of %" PRIu64, blob->size, header->size);
    if (header->data > header->size || !arrange(&expected, header->head, header->size - header->data) ||
        expected.data != header->data || expected.chunks != header->chunks || header->sum != header_sum(blob))
        return bad(why, "its header is damaged");
    if (memcmp(header->key, key, sizeof(header->key)) != 0 ||
        memcmp(header->kind, kind_field, sizeof(kind_field)) != 0)
        return bad(why, "it holds something else than its name says");
    struct check check = {.blob = blob, .bad = SIZE_MAX};
    market_store_parallel(threads, header->chunks, check_sum, &check);
    if (check.bad != SIZE_MAX)
        return bad(why, "it is damaged in the %d bytes from %" PRIu64, BLOB_CHUNK,
                   header->data + (uint64_t)check.bad * BLOB_CHUNK);
    return 0;
}

int market_store_blob_map(int fd, const char *kind, const uint8_t key[static MARKET_HASH_SIZE], int threads,
                          struct blob *ret, char why[static BLOB_WHY_MAX])
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_size < BLOB_PAGE)
        return bad(why, "it has %jd bytes: less than a header", (intmax_t)st.st_size);
    posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
    struct blob blob = {.size = (size_t)st.st_size};
    void *bytes = mmap(NULL, blob.size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return -errno;
    blob.bytes = bytes;
    int r = check_all(&blob, kind, key, threads, why);
    if (r < 0)
        market_store_blob_release(&blob);
    else
        *ret = blob;
    return r;
}
