/* Ways to keep one side of an order book, for bench/book: they take the same changes and must hold the same
 * levels. exchange/book.h is one of them, measured from outside. */
#ifndef BENCH_BOOK_LAYOUT_H
#define BENCH_BOOK_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "exchange/book.h"

/* Levels as a layout is given them: `price` ascends towards the best, whichever side it is. Out of memory
 * ends the program. */
struct book_layout {
    const char *name;
    void *(*create)(void);
    void (*destroy)(void *side);
    /* The whole side, worst first. */
    void (*load)(void *side, const struct book_level *levels, uint32_t n);
    /* The changes of one difference, as the venue orders them; qty 0 deletes. */
    void (*apply)(void *side, const struct book_level *levels, uint32_t n);
    /* The best `most` levels, best first; how many there are of them. */
    uint32_t (*read)(const void *side, struct book_level *ret, uint32_t most);
    size_t (*bytes)(const void *side); /* taken from the heap */
};

extern const struct book_layout layout_pairs;    /* prices and quantities in pairs, sorted, best last */
extern const struct book_layout layout_columns;  /* sorted prices, and quantities beside them */
extern const struct book_layout layout_merged;   /* pairs; the changes of a difference in one pass */
extern const struct book_layout layout_blocks16; /* pairs in blocks of 16, 32, 64 … */
extern const struct book_layout layout_blocks32;
extern const struct book_layout layout_blocks64;
extern const struct book_layout layout_blocks128;
extern const struct book_layout layout_graves; /* pairs; what is deleted keeps its place until it is needed */

/* n·size bytes more or fewer, or the end of the program. */
void *book_layout_room(void *p, size_t n, size_t size);

#endif
