/* How an environment lies in a device's memory: the market's arrays one after the other, the columns as the
 * host has them, in one piece. For the owners of that memory: the module, and the tests' CPU. */
#ifndef TRAINER_ENV_CUDA_LAYOUT_H
#define TRAINER_ENV_CUDA_LAYOUT_H

#include <string.h>

#include "trainer/env/view.h"

enum layout_array {
    LAYOUT_CLOSE,
    LAYOUT_BARS,
    LAYOUT_FEATURES,
    LAYOUT_SYMBOLS,
    LAYOUT_LEAST,
    LAYOUT_SESSION,
    LAYOUT_OPENS,
    LAYOUT_BLOCKS
};
enum { LAYOUT_ARRAYS = LAYOUT_BLOCKS + 1, LAYOUT_ALIGN = 256 };

/* One array of a market: the host's, its bytes (0: it has none), and where it begins on the device. */
struct layout_piece {
    const void *from;
    size_t bytes, at;
};

static inline struct layout_piece layout_piece(const void *from, size_t n, size_t each, size_t *total)
{
    struct layout_piece piece = {from, from ? n * each : 0, *total};
    *total += (piece.bytes + LAYOUT_ALIGN - 1) / LAYOUT_ALIGN * LAYOUT_ALIGN;
    return piece;
}

/* All arrays; returns the bytes of them together. */
static inline size_t layout_market(const struct env_market_view *m, struct layout_piece ret[LAYOUT_ARRAYS])
{
    size_t total = 0, n = (size_t)m->n;
    ret[LAYOUT_CLOSE] = layout_piece(m->close, m->rows * (size_t)m->row_stride, sizeof(float), &total);
    ret[LAYOUT_BARS] = layout_piece(m->bars, m->rows * n * 4, sizeof(double), &total);
    ret[LAYOUT_FEATURES] = layout_piece(m->features, m->rows * (size_t)m->n_features, sizeof(float), &total);
    ret[LAYOUT_SYMBOLS] = layout_piece(m->symbols, n, sizeof(struct policy_symbol), &total);
    ret[LAYOUT_LEAST] = layout_piece(m->least, n, sizeof(double), &total);
    ret[LAYOUT_SESSION] = layout_piece(m->session, m->rows, 1, &total);
    ret[LAYOUT_OPENS] = layout_piece(m->open_ns, m->rows, sizeof(int64_t), &total);
    ret[LAYOUT_BLOCKS] = layout_piece(m->blocks, (size_t)m->n_blocks, sizeof(struct env_block), &total);
    return total;
}

static inline const void *layout_at(const struct layout_piece *piece, const unsigned char *memory)
{
    return piece->bytes ? memory + piece->at : NULL;
}

/* Makes a host's view of the market a view of the device's memory. */
static inline void layout_place_market(struct env_market_view *m, const struct layout_piece pieces[],
                                       const unsigned char *memory)
{
    m->close = (const float *)layout_at(&pieces[LAYOUT_CLOSE], memory);
    m->bars = (const double *)layout_at(&pieces[LAYOUT_BARS], memory);
    m->features = (const float *)layout_at(&pieces[LAYOUT_FEATURES], memory);
    m->symbols = (const struct policy_symbol *)layout_at(&pieces[LAYOUT_SYMBOLS], memory);
    m->least = (const double *)layout_at(&pieces[LAYOUT_LEAST], memory);
    m->session = (const uint8_t *)layout_at(&pieces[LAYOUT_SESSION], memory);
    m->open_ns = (const int64_t *)layout_at(&pieces[LAYOUT_OPENS], memory);
    m->blocks = (const struct env_block *)layout_at(&pieces[LAYOUT_BLOCKS], memory);
}

/* Moves pointers into one piece of memory, all of those from `first` to `end`, into another. */
static inline void layout_move(void *first, void *end, const void *from, void *to)
{
    for (unsigned char *at = (unsigned char *)first; at < (unsigned char *)end; at += sizeof(void *)) {
        unsigned char *column;
        memcpy(&column, at, sizeof(column));
        if (column)
            column = (unsigned char *)to + (column - (const unsigned char *)from);
        memcpy(at, &column, sizeof(column));
    }
}

/* The columns of a view whose memory is a copy of `from` at `to`. state.h keeps all pointers together. */
static inline void layout_place_columns(struct env_view *view, const void *from, void *to)
{
    layout_move(&view->state.row, &view->state + 1, from, to);
    layout_move(&view->ended, &view->ended + 1, from, to);
}

#endif
