/* The bytes of a market (engine/market/blob.h): the head is struct image_head and one struct image_symbol a
 * symbol; the data, for each symbol, open, high, low, close, volume [rows], present [(rows + 63) / 64] and,
 * where bars have sessions, session [rows], each from a multiple of BLOB_ALIGN on, zeros between. */
#ifndef ENGINE_MARKET_IMAGE_H
#define ENGINE_MARKET_IMAGE_H

#include "engine/market/blob.h"
#include "engine/market/market.h"
#include "exchange/decimal.h"

enum { IMAGE_COLUMNS = 5 };

#define IMAGE_KIND     "market"
#define IMAGE_ROWS_MAX (1ull << 32)

struct image_head {
    uint32_t n_symbols, symbol_size; /* sizeof(struct image_symbol) */
    uint64_t rows, bars;             /* bars: that are there */
    int64_t start_ns, interval_ns;
    uint32_t sessions, choice; /* is the column there? enum session_choice */
    uint8_t calendar[MARKET_HASH_SIZE];
    uint8_t content[MARKET_HASH_SIZE];
};

struct image_symbol {
    struct symbol symbol;
    uint64_t first, last, missing, repaired, left_out;
    uint32_t price_digits, rounded_digits;
    char fits[BARS_FITS_MAX];
    uint8_t digest[MARKET_HASH_SIZE]; /* SHA-256 of its data */
};

/* A market and its bytes. */
struct market_image {
    struct market market; /* first: market_store_close() finds the image by it */
    struct blob blob;
    int64_t *open_ns; /* of market_store_compact(), as struct market has them; else NULL */
    uint8_t *marks;
    struct market_series series[];
};

/* Bytes of a market's columns; 0 for more than this can hold, or nothing. */
uint64_t market_store_image_size(uint64_t rows, uint64_t n_symbols, bool sessions);

/* A new one, to be filled and then shown by market_store_image_show(). NULL without memory; the sizes are
 * good. */
struct market_image *market_store_image_create(int n_symbols, size_t rows, int64_t start_ns,
                                               int64_t interval_ns, bool sessions);

/* A market over bytes that were checked; it takes them over, and leaves `blob` without. 0; -EBADMSG for a
 * head that contradicts itself; -ENOMEM. */
int market_store_image_open(struct blob *blob, struct market_image **ret);

/* Fills image->market from the head. */
void market_store_image_show(struct market_image *image);

static inline struct image_head *image_head(const struct market_image *image)
{
    return blob_head(&image->blob);
}

struct image_symbol *market_store_image_symbol(const struct market_image *image, int symbol);

/* All of one symbol's data; column 0…4 (open, high, low, close, volume) and the present bits in it. */
unsigned char *market_store_image_data(const struct market_image *image, int symbol, size_t *ret_size);
double *market_store_image_column(const struct market_image *image, int symbol, int column);
uint64_t *market_store_image_present(const struct market_image *image, int symbol);
uint8_t *market_store_image_session(const struct market_image *image, int symbol); /* NULL: there is none */

#endif
