/* Levels in blocks of a fixed size, each sorted, and a directory of the blocks: what moves is at most one
 * block, and now and then a part of the directory. */
#include <stdlib.h>
#include <string.h>

#include "bench/book_layout.h"

struct block {
    int64_t worst; /* the price of its first level */
    uint32_t at;   /* its levels begin at at·size */
    uint32_t n;
};

struct blocks {
    struct block *directory; /* worst block first */
    struct book_level *levels;
    uint32_t size, n, cap; /* levels in a block; blocks used, blocks there are */
    uint32_t *unused;      /* places of levels that no block has: the first n_unused */
    uint32_t n_unused;
};

static void *create(uint32_t size)
{
    struct blocks *blocks = book_layout_room(NULL, 1, sizeof *blocks);
    blocks->size = size;
    return blocks;
}

static void destroy(void *side)
{
    struct blocks *blocks = side;
    free(blocks->directory);
    free(blocks->levels);
    free(blocks->unused);
    free(blocks);
}

static void grow(struct blocks *blocks)
{
    uint32_t cap = blocks->cap ? 2 * blocks->cap : 4;
    blocks->directory = book_layout_room(blocks->directory, cap, sizeof *blocks->directory);
    blocks->levels = book_layout_room(blocks->levels, (size_t)cap * blocks->size, sizeof *blocks->levels);
    blocks->unused = book_layout_room(blocks->unused, cap, sizeof *blocks->unused);
    for (uint32_t i = cap; i-- > blocks->cap;)
        blocks->unused[blocks->n_unused++] = i;
    blocks->cap = cap;
}

static struct block *open_block(struct blocks *blocks, uint32_t index)
{
    if (blocks->n_unused == 0)
        grow(blocks);
    struct block *block = &blocks->directory[index];
    memmove(block + 1, block, (blocks->n - index) * sizeof *block);
    blocks->n++;
    *block = (struct block){.at = blocks->unused[--blocks->n_unused]};
    return block;
}

static void close_block(struct blocks *blocks, uint32_t index)
{
    struct block *block = &blocks->directory[index];
    blocks->unused[blocks->n_unused++] = block->at;
    blocks->n--;
    memmove(block, block + 1, (blocks->n - index) * sizeof *block);
}

static struct book_level *levels_of(const struct blocks *blocks, const struct block *block)
{
    return blocks->levels + (size_t)block->at * blocks->size;
}

static void load(void *side, const struct book_level *levels, uint32_t n)
{
    struct blocks *blocks = side;
    while (blocks->n > 0)
        close_block(blocks, blocks->n - 1);
    uint32_t full = blocks->size * 3 / 4;
    for (uint32_t from = 0; from < n; from += full) {
        struct block *block = open_block(blocks, blocks->n);
        block->n = n - from < full ? n - from : full;
        block->worst = levels[from].price;
        memcpy(levels_of(blocks, block), levels + from, block->n * sizeof *levels);
    }
}

static void split(struct blocks *blocks, uint32_t index)
{
    struct block *right = open_block(blocks, index + 1), *left = &blocks->directory[index];
    uint32_t half = left->n / 2;
    right->n = left->n - half;
    left->n = half;
    memcpy(levels_of(blocks, right), levels_of(blocks, left) + half, right->n * sizeof(struct book_level));
    right->worst = levels_of(blocks, right)->price;
}

static uint32_t block_of(const struct blocks *blocks, int64_t price)
{
    uint32_t i = blocks->n - 1;
    while (i > 0 && blocks->directory[i].worst > price)
        i--;
    return i;
}

static void set(struct blocks *blocks, struct book_level level)
{
    if (blocks->n == 0) {
        if (level.qty == 0)
            return;
        open_block(blocks, 0)->worst = level.price;
    }
    uint32_t index = block_of(blocks, level.price);
    struct block *block = &blocks->directory[index];
    struct book_level *levels = levels_of(blocks, block);
    uint32_t low = 0, n = block->n;
    while (n > 0) { /* without branches */
        uint32_t half = n / 2;
        low += (n - half) & -(uint32_t)(levels[low + half].price < level.price);
        n = half;
    }
    if (low < block->n && levels[low].price == level.price) {
        if (level.qty) {
            levels[low].qty = level.qty;
            return;
        }
        block->n--;
        memmove(&levels[low], &levels[low + 1], (block->n - low) * sizeof level);
        if (block->n == 0)
            close_block(blocks, index);
        else
            block->worst = levels[0].price;
        return;
    }
    if (level.qty == 0)
        return;
    if (block->n == blocks->size) {
        split(blocks, index);
        block = &blocks->directory[index];
        if (low > block->n) {
            low -= block->n;
            block++;
        }
        levels = levels_of(blocks, block);
    }
    memmove(&levels[low + 1], &levels[low], (block->n - low) * sizeof level);
    levels[low] = level;
    block->n++;
    block->worst = levels[0].price;
}

static void apply(void *side, const struct book_level *levels, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        set(side, levels[i]);
}

static uint32_t read(const void *side, struct book_level *ret, uint32_t most)
{
    const struct blocks *blocks = side;
    uint32_t n = 0;
    for (uint32_t b = blocks->n; b-- > 0;) {
        const struct block *block = &blocks->directory[b];
        for (uint32_t i = block->n; i-- > 0 && n < most;)
            ret[n++] = levels_of(blocks, block)[i];
    }
    return n;
}

static size_t bytes(const void *side)
{
    const struct blocks *blocks = side;
    return sizeof *blocks + blocks->cap * (sizeof *blocks->directory + sizeof *blocks->unused +
                                           blocks->size * sizeof *blocks->levels);
}

#define BLOCKS(size) \
    static void *create##size(void) \
    { \
        return create(size); \
    } \
    const struct book_layout layout_blocks##size = {"blocks" #size, create##size, destroy, load, \
                                                    apply,          read,         bytes}

BLOCKS(16);
BLOCKS(32);
BLOCKS(64);
BLOCKS(128);
