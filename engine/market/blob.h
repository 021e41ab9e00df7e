/* One block of memory with a header, what describes its data (the head), and the data, in the machine's own
 * byte order: made in memory, written to a file of the cache as it is, and mapped from there, every byte of
 * it checked by a sum.
 *
 *   struct blob_header | head | uint64_t sums[chunks] | zeros up to a multiple of BLOB_PAGE | data
 *
 * The sums are XXH3's with 64 bits, one for each BLOB_CHUNK bytes of the data; the header's is over
 * everything before the data. */
#ifndef ENGINE_MARKET_BLOB_H
#define ENGINE_MARKET_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/market/market.h"

enum {
    BLOB_LAYOUT = 1,
    BLOB_ORDER = 0x01020304, /* as it reads on the machine that wrote it */
    BLOB_PAGE = 4096,
    BLOB_ALIGN = 64,      /* of columns in the data */
    BLOB_CHUNK = 1 << 20, /* one thread's piece: it stays in a core's cache between mapping and sum */
    BLOB_KIND_MAX = 8,
    BLOB_WHY_MAX = 160,
};

struct blob_header {
    char magic[8]; /* "PTSTORE\n" */
    uint32_t order, layout;
    char kind[BLOB_KIND_MAX]; /* of data: a name, zeros behind it */
    uint64_t size;            /* of the whole */
    uint64_t head;            /* bytes of the head */
    uint64_t data, chunks;    /* where the data begins; how many sums there are */
    uint8_t key[MARKET_HASH_SIZE];
    uint64_t sum; /* with this field as 0 */
};

struct blob {
    unsigned char *bytes; /* page-aligned; NULL: none */
    size_t size;
};

/* A new one: zeros except the header. 0, or -ENOMEM. */
int market_store_blob_create(const char *kind, uint64_t head, uint64_t data, struct blob *ret);

/* Sets key and sums; nothing may change afterwards. */
void market_store_blob_seal(struct blob *blob, const uint8_t key[static MARKET_HASH_SIZE], int threads);

/* Maps a file read-only and checks all of it. 0; -EBADMSG for one that is not what was written under this key
 * and kind, with what is wrong with it in `why`; -errno. */
int market_store_blob_map(int fd, const char *kind, const uint8_t key[static MARKET_HASH_SIZE], int threads,
                          struct blob *ret, char why[static BLOB_WHY_MAX]);

void market_store_blob_release(struct blob *blob); /* one without bytes is fine */

static inline struct blob_header *blob_header(const struct blob *blob)
{
    return (struct blob_header *)blob->bytes;
}

static inline void *blob_head(const struct blob *blob)
{
    return blob->bytes + sizeof(struct blob_header);
}

static inline unsigned char *blob_data(const struct blob *blob)
{
    return blob->bytes + blob_header(blob)->data;
}

static inline uint64_t blob_data_size(const struct blob *blob)
{
    return blob_header(blob)->size - blob_header(blob)->data;
}

#endif
