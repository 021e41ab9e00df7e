/* Memory for columns. A history's columns are written once and read once: with pages of 4 KiB most of the
 * time would be page faults. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engine/backtest/columns.h"

#define LINE_BYTES  ((size_t)64)
#define PAGE_BYTES  ((size_t)4096)
#define LARGE_BYTES ((size_t)2 << 20)

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Columns start on lines of their own, and not all at the same offset of a page, where they would evict
 * each other from the cache. */
static size_t stride_of(size_t n)
{
    size_t bytes = round_up(n * sizeof(double), LINE_BYTES);
    if (bytes % PAGE_BYTES == 0)
        bytes += LINE_BYTES;
    return bytes / sizeof(double);
}

static int map_room(size_t bytes, struct columns_room *ret)
{
    size_t mapped = bytes + LARGE_BYTES;
    void *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    ret->memory = at;
    ret->mapped = mapped;
    ret->cells = (double *)round_up((uintptr_t)at, LARGE_BYTES);
    madvise(ret->cells, bytes, MADV_HUGEPAGE); /* a hint: without it the pages are small */
    return 0;
}

int backtest_columns_room_make(size_t n_columns, size_t n, struct columns_room *ret)
{
    struct columns_room room = {.stride = stride_of(n)};
    size_t columns;
    if (__builtin_mul_overflow(room.stride * sizeof(double), n_columns, &columns) || columns > SIZE_MAX / 2)
        return -ENOMEM;
    size_t bytes = round_up(columns + 1, LINE_BYTES);
    if (bytes >= 2 * LARGE_BYTES) {
        int r = map_room(bytes, &room);
        if (r < 0)
            return r;
    } else {
        room.memory = aligned_alloc(LINE_BYTES, bytes);
        if (!room.memory)
            return -ENOMEM;
        room.cells = room.memory;
    }
    *ret = room;
    return 0;
}

void backtest_columns_room_finish(struct columns_room *room)
{
    if (room->mapped > 0)
        munmap(room->memory, room->mapped);
    else
        free(room->memory);
    *room = (struct columns_room){0};
}
