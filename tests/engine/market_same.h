/* Two markets, bit by bit. */
#ifndef TESTS_ENGINE_MARKET_SAME_H
#define TESTS_ENGINE_MARKET_SAME_H

#include <string.h>

#include "engine/market/market.h"

static inline bool market_same(const struct market *a, const struct market *b)
{
    bool same = a->n_symbols == b->n_symbols && a->rows == b->rows && a->start_ns == b->start_ns &&
                a->interval_ns == b->interval_ns && a->bytes == b->bytes && a->choice == b->choice &&
                memcmp(a->calendar, b->calendar, sizeof(a->calendar)) == 0 &&
                memcmp(a->content, b->content, sizeof(a->content)) == 0;
    size_t column = a->rows * sizeof(double), bits = (a->rows + 63) / 64 * sizeof(uint64_t);
    for (int i = 0; same && i < a->n_symbols; i++) {
        const struct market_series *x = &a->series[i], *y = &b->series[i];
        same = symbol_same_units(&x->symbol, &y->symbol) && x->symbol.trading == y->symbol.trading &&
               memcmp(&x->symbol, &y->symbol, sizeof(x->symbol)) == 0 && x->first == y->first &&
               x->last == y->last && x->missing == y->missing && memcmp(x->open, y->open, column) == 0 &&
               memcmp(x->high, y->high, column) == 0 && memcmp(x->low, y->low, column) == 0 &&
               memcmp(x->close, y->close, column) == 0 && memcmp(x->volume, y->volume, column) == 0 &&
               memcmp(x->present, y->present, bits) == 0 && !x->session == !y->session &&
               (!x->session || memcmp(x->session, y->session, a->rows) == 0) && x->left_out == y->left_out &&
               strcmp(x->fits, y->fits) == 0;
    }
    return same;
}

#endif
