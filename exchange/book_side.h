/* One side of an order book: its levels in pairs of price and quantity, sorted, best last. bench/book
 * compares it with alternatives. Used by exchange/book.c alone; `sign` is 1 for bids and -1 for asks. */
#ifndef EXCHANGE_BOOK_SIDE_H
#define EXCHANGE_BOOK_SIDE_H

#include "exchange/book.h"

/* Makes room for `need` items. Capacities grow by half, so a book stops allocating soon. 0; -E2BIG beyond
 * `most`; -ENOMEM. */
int book_room(void **items, uint32_t *cap, uint32_t need, size_t size, uint32_t most);

/* The index where `price` stands or belongs. */
uint32_t book_side_find(const struct book_side *side, int64_t price, int sign);

/* The changes of one difference, in their order; qty 0 deletes. Best first is fastest. 0; -E2BIG; -ENOMEM:
 * then some are made and some not. */
int book_side_apply(struct book_side *side, const struct book_level *changes, uint32_t n, int sign);

/* Replaces all levels, best first and strictly sorted, none of quantity 0: else -EINVAL. -E2BIG; -ENOMEM.
 * After an error the side is unchanged or empty. */
int book_side_load(struct book_side *side, const struct book_level *levels, uint32_t n, int sign);

#endif
