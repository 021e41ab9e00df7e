#include "engine/market/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t aligned(uint64_t n)
{
    return (n + BLOB_ALIGN - 1) / BLOB_ALIGN * BLOB_ALIGN;
}

static uint64_t column_bytes(uint64_t rows)
{
    return aligned(rows * sizeof(double));
}

static uint64_t present_bytes(uint64_t rows)
{
    return aligned((rows + 63) / 64 * sizeof(uint64_t));
}

static uint64_t symbol_bytes(uint64_t rows, bool sessions)
{
    return IMAGE_COLUMNS * column_bytes(rows) + present_bytes(rows) + (sessions ? aligned(rows) : 0);
}

uint64_t market_store_image_size(uint64_t rows, uint64_t n_symbols, bool sessions)
{
    if (rows == 0 || rows > IMAGE_ROWS_MAX || n_symbols == 0 || n_symbols > SYMBOLS_MAX)
        return 0;
    return symbol_bytes(rows, sessions) * n_symbols; /* below 2^32 * 48 * 2^12 */
}

static struct market_image *over(struct blob *blob, uint32_t n_symbols)
{
    struct market_image *image = calloc(1, sizeof(*image) + (size_t)n_symbols * sizeof(struct market_series));
    if (!image)
        return NULL;
    image->blob = *blob;
    *blob = (struct blob){0};
    return image;
}

struct market_image *market_store_image_create(int n_symbols, size_t rows, int64_t start_ns,
                                               int64_t interval_ns, bool sessions)
{
    struct blob blob;
    if (market_store_blob_create(IMAGE_KIND,
                                 sizeof(struct image_head) + (size_t)n_symbols * sizeof(struct image_symbol),
                                 market_store_image_size(rows, (uint64_t)n_symbols, sessions), &blob) < 0)
        return NULL;
    *(struct image_head *)blob_head(&blob) = (struct image_head){
        .n_symbols = (uint32_t)n_symbols,
        .symbol_size = sizeof(struct image_symbol),
        .rows = rows,
        .start_ns = start_ns,
        .interval_ns = interval_ns,
        .sessions = sessions,
    };
    struct market_image *image = over(&blob, (uint32_t)n_symbols);
    market_store_blob_release(&blob);
    return image;
}

static bool name_ends(const char *name, size_t size)
{
    return name[0] != '\0' && memchr(name, '\0', size);
}

static bool scale_good(int scale)
{
    return scale >= 0 && scale <= DECIMAL_SCALE_MAX;
}

static bool symbol_good(const struct image_symbol *s, uint64_t rows)
{
    const struct symbol *symbol = &s->symbol;
    return name_ends(symbol->name, sizeof(symbol->name)) && name_ends(symbol->base, sizeof(symbol->base)) &&
           name_ends(symbol->quote, sizeof(symbol->quote)) && scale_good(symbol->price_scale) &&
           scale_good(symbol->qty_scale) && scale_good(symbol->quote_scale) && s->first <= s->last &&
           s->last < rows && s->missing <= s->last - s->first && s->repaired <= rows &&
           memchr(s->fits, '\0', sizeof(s->fits)) && s->price_digits <= (uint32_t)symbol->price_scale &&
           s->rounded_digits <= DECIMAL_SCALE_MAX;
}

int market_store_image_open(struct blob *blob, struct market_image **ret)
{
    const struct image_head *head = blob_head(blob);
    uint64_t size = blob_header(blob)->head, n = 0;
    if (size >= sizeof(*head))
        n = head->n_symbols;
    if (n == 0 || head->symbol_size != sizeof(struct image_symbol) || n > SYMBOLS_MAX ||
        size != sizeof(*head) + n * sizeof(struct image_symbol) || head->interval_ns <= 0 ||
        head->sessions > 1 || head->choice >= SESSION_CHOICES ||
        market_store_image_size(head->rows, n, head->sessions) != blob_data_size(blob) ||
        blob_data_size(blob) == 0)
        return -EBADMSG;
    const struct image_symbol *symbols = (const struct image_symbol *)(head + 1);
    for (uint64_t i = 0; i < n; i++)
        if (!symbol_good(&symbols[i], head->rows))
            return -EBADMSG;
    struct market_image *image = over(blob, (uint32_t)n);
    if (!image)
        return -ENOMEM;
    market_store_image_show(image);
    *ret = image;
    return 0;
}

void market_store_image_show(struct market_image *image)
{
    const struct image_head *head = image_head(image);
    for (int i = 0; i < (int)head->n_symbols; i++) {
        const struct image_symbol *from = market_store_image_symbol(image, i);
        image->series[i] = (struct market_series){
            .symbol = from->symbol,
            .open = market_store_image_column(image, i, 0),
            .high = market_store_image_column(image, i, 1),
            .low = market_store_image_column(image, i, 2),
            .close = market_store_image_column(image, i, 3),
            .volume = market_store_image_column(image, i, 4),
            .present = market_store_image_present(image, i),
            .session = market_store_image_session(image, i),
            .first = from->first,
            .last = from->last,
            .missing = from->missing,
            .repaired = from->repaired,
            .left_out = from->left_out,
            .price_digits = (int)from->price_digits,
            .rounded_digits = (int)from->rounded_digits,
        };
        memcpy(image->series[i].fits, from->fits, sizeof(from->fits));
    }
    image->market = (struct market){
        .n_symbols = (int)head->n_symbols,
        .rows = head->rows,
        .start_ns = head->start_ns,
        .interval_ns = head->interval_ns,
        .series = image->series,
        .choice = (enum session_choice)head->choice,
        .open_ns = image->open_ns,
        .marks = image->marks,
        .bytes = blob_data_size(&image->blob),
    };
    memcpy(image->market.calendar, head->calendar, sizeof(head->calendar));
    memcpy(image->market.content, head->content, sizeof(head->content));
}

struct image_symbol *market_store_image_symbol(const struct market_image *image, int symbol)
{
    return (struct image_symbol *)(image_head(image) + 1) + symbol;
}

unsigned char *market_store_image_data(const struct market_image *image, int symbol, size_t *ret_size)
{
    const struct image_head *head = image_head(image);
    uint64_t size = symbol_bytes(head->rows, head->sessions);
    if (ret_size)
        *ret_size = size;
    return blob_data(&image->blob) + (uint64_t)symbol * size;
}

double *market_store_image_column(const struct market_image *image, int symbol, int column)
{
    return (double *)(market_store_image_data(image, symbol, NULL) +
                      (uint64_t)column * column_bytes(image_head(image)->rows));
}

uint64_t *market_store_image_present(const struct market_image *image, int symbol)
{
    return (uint64_t *)market_store_image_column(image, symbol, IMAGE_COLUMNS);
}

uint8_t *market_store_image_session(const struct market_image *image, int symbol)
{
    const struct image_head *head = image_head(image);
    return head->sessions ? (uint8_t *)market_store_image_present(image, symbol) + present_bytes(head->rows)
                          : NULL;
}
