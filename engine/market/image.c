#include "engine/market/image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static uint64_t column_bytes(uint64_t rows)
{
    return up(rows * sizeof(double), IMAGE_ALIGN);
}

static uint64_t present_bytes(uint64_t rows)
{
    return up((rows + 63) / 64 * sizeof(uint64_t), IMAGE_ALIGN);
}

bool image_sizes(uint64_t rows, uint64_t n_symbols, struct image_sizes *ret)
{
    struct image_sizes s;
    uint64_t data;
    if (rows == 0 || rows > IMAGE_ROWS_MAX || n_symbols == 0 || n_symbols > SYMBOLS_MAX)
        return false;
    s.symbol = IMAGE_COLUMNS * column_bytes(rows) + present_bytes(rows);
    data = s.symbol * n_symbols; /* below 2^32 * 48 * 2^8 */
    s.chunks = (data + IMAGE_CHUNK - 1) / IMAGE_CHUNK;
    s.data = up(sizeof(struct image_header) + n_symbols * sizeof(struct image_symbol) +
                    s.chunks * sizeof(uint64_t),
                IMAGE_PAGE);
    s.size = s.data + data;
    *ret = s;
    return s.size <= SIZE_MAX / 2;
}

struct market_image *image_over(void *bytes)
{
    const struct image_header *header = bytes;
    int n = (int)header->n_symbols;
    struct market_image *image = calloc(1, sizeof(*image) + (size_t)n * sizeof(image->series[0]));
    if (!image)
        return NULL;
    image->bytes = bytes;
    image->size = header->size;
    for (int i = 0; i < n; i++) {
        const struct image_symbol *from = image_symbol(image, i);
        image->series[i] = (struct market_series){
            .symbol = from->symbol,
            .open = image_column(image, i, 0),
            .high = image_column(image, i, 1),
            .low = image_column(image, i, 2),
            .close = image_column(image, i, 3),
            .volume = image_column(image, i, 4),
            .present = image_present(image, i),
            .first = from->first,
            .last = from->last,
            .missing = from->missing,
        };
    }
    image->market = (struct market){
        .n_symbols = n,
        .rows = header->rows,
        .start_ns = header->start_ns,
        .interval_ns = header->interval_ns,
        .series = image->series,
        .bytes = header->size - header->data,
    };
    memcpy(image->market.content, header->content, sizeof(header->content));
    return image;
}

void *image_allocate(const struct image_sizes *sizes, int n_symbols, size_t rows, int64_t start_ns,
                     int64_t interval_ns)
{
    void *bytes = mmap(NULL, sizes->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    madvise(bytes, sizes->size, MADV_HUGEPAGE); /* or not */
    struct image_header *header = bytes;
    *header = (struct image_header){
        .order = IMAGE_ORDER,
        .layout = IMAGE_LAYOUT,
        .size = sizes->size,
        .n_symbols = (uint32_t)n_symbols,
        .symbol_size = sizeof(struct image_symbol),
        .rows = rows,
        .start_ns = start_ns,
        .interval_ns = interval_ns,
        .data = sizes->data,
        .chunks = sizes->chunks,
    };
    memcpy(header->magic, IMAGE_MAGIC, sizeof(header->magic));
    return bytes;
}

const struct image_header *image_header(const struct market_image *image)
{
    return (const struct image_header *)image->bytes;
}

struct image_symbol *image_symbol(const struct market_image *image, int symbol)
{
    return (struct image_symbol *)(image->bytes + sizeof(struct image_header)) + symbol;
}

unsigned char *image_data(const struct market_image *image, int symbol, size_t *ret_size)
{
    const struct image_header *header = image_header(image);
    uint64_t size = IMAGE_COLUMNS * column_bytes(header->rows) + present_bytes(header->rows);
    if (ret_size)
        *ret_size = size;
    return image->bytes + header->data + (uint64_t)symbol * size;
}

double *image_column(const struct market_image *image, int symbol, int column)
{
    return (double *)(image_data(image, symbol, NULL) +
                      (uint64_t)column * column_bytes(image_header(image)->rows));
}

uint64_t *image_present(const struct market_image *image, int symbol)
{
    return (uint64_t *)image_column(image, symbol, IMAGE_COLUMNS);
}
