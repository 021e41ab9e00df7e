/* The bytes of a market: what is in memory when it was built, and in a file of the cache, which is mapped. A
 * header, a table of symbols, the sums of the data's chunks, then the data, in the machine's own byte order:
 *
 *   struct image_header | struct image_symbol [n_symbols] | uint64_t sums[chunks] | zeros up to IMAGE_PAGE
 *   for each symbol: open, high, low, close, volume [rows], present [(rows + 63) / 64], each from a multiple
 *   of 64 bytes on, zeros between
 */
#ifndef ENGINE_MARKET_IMAGE_H
#define ENGINE_MARKET_IMAGE_H

#include "engine/market/market.h"

enum {
    IMAGE_LAYOUT = 1,
    IMAGE_ORDER = 0x01020304, /* as it reads on the machine that wrote it */
    IMAGE_PAGE = 4096,
    IMAGE_ALIGN = 64,
    IMAGE_CHUNK = 1 << 20, /* bytes of data under one sum: threads share the chunks */
    IMAGE_COLUMNS = 5,
};

#define IMAGE_ROWS_MAX (1ull << 32)

struct image_header {
    char magic[8]; /* IMAGE_MAGIC */
    uint32_t order, layout;
    uint64_t size;                   /* of the file */
    uint32_t n_symbols, symbol_size; /* sizeof(struct image_symbol) */
    uint64_t rows;
    int64_t start_ns, interval_ns;
    uint64_t data, chunks; /* where the data begins; how many sums there are */
    uint8_t key[MARKET_HASH_SIZE], content[MARKET_HASH_SIZE];
    uint64_t bars;
    uint64_t sum; /* of everything before the data, this field as 0 */
};

#define IMAGE_MAGIC "PTMARKET"

struct image_symbol {
    struct symbol symbol;
    uint64_t first, last, missing;
};

/* A market and its bytes. */
struct market_image {
    struct market market; /* first: market_close() finds the image by it */
    unsigned char *bytes;
    size_t size;
    struct market_series series[];
};

struct image_sizes {
    uint64_t symbol;             /* one symbol's columns */
    uint64_t chunks, data, size; /* as in the header */
};

/* False for more than this can hold, or nothing. */
bool image_sizes(uint64_t rows, uint64_t n_symbols, struct image_sizes *ret);

/* Zeros, but for the header: for image_over(). To be unmapped; NULL without memory. */
void *image_allocate(const struct image_sizes *sizes, int n_symbols, size_t rows, int64_t start_ns,
                     int64_t interval_ns);

/* A market over bytes whose header fits them: market_close() unmaps them then. NULL without memory. */
struct market_image *image_over(void *bytes);

const struct image_header *image_header(const struct market_image *image);
struct image_symbol *image_symbol(const struct market_image *image, int symbol);

/* All of one symbol's data; column 0…4 (open, high, low, close, volume) and the present bits in it. */
unsigned char *image_data(const struct market_image *image, int symbol, size_t *ret_size);
double *image_column(const struct market_image *image, int symbol, int column);
uint64_t *image_present(const struct market_image *image, int symbol);

#endif
