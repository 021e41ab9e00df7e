#include "exchange/book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/book_side.h"

void book_init(struct book *book)
{
    memset(book, 0, sizeof *book);
}

void book_finish(struct book *book)
{
    free(book->bids.levels);
    free(book->asks.levels);
    free(book->pending);
    free(book->pending_levels);
    book_init(book);
}

static void forget_pending(struct book *book)
{
    book->n_pending = 0;
    book->n_pending_levels = 0;
}

/* A synced book buffers nothing, and most of thousands are synced. */
static void give_pending_back(struct book *book)
{
    free(book->pending);
    free(book->pending_levels);
    book->pending = NULL;
    book->pending_levels = NULL;
    book->cap_pending = book->cap_pending_levels = 0;
    forget_pending(book);
}

void book_reset(struct book *book)
{
    book->bids.n = book->asks.n = 0;
    book->last_id = 0;
    book->state = BOOK_EMPTY;
    book->ahead = false;
    forget_pending(book);
}

int book_reserve(struct book *book, uint32_t n_bids, uint32_t n_asks, uint32_t n_pending,
                 uint32_t n_pending_levels)
{
    int r = book_room((void **)&book->bids.levels, &book->bids.cap, n_bids, sizeof *book->bids.levels,
                      BOOK_LEVELS_MAX);
    if (r == 0)
        r = book_room((void **)&book->asks.levels, &book->asks.cap, n_asks, sizeof *book->asks.levels,
                      BOOK_LEVELS_MAX);
    if (r == 0)
        r = book_room((void **)&book->pending, &book->cap_pending, n_pending, sizeof *book->pending,
                      BOOK_BUFFER_MAX);
    if (r == 0)
        r = book_room((void **)&book->pending_levels, &book->cap_pending_levels, n_pending_levels,
                      sizeof *book->pending_levels, BOOK_BUFFER_MAX);
    return r;
}

static bool is_crossed(const struct book *book)
{
    const struct book_level *bid = book_bid(book, 0), *ask = book_ask(book, 0);
    return bid && ask && bid->price >= ask->price;
}

static int apply(struct book *book, uint64_t last_id, const struct book_level *bids, uint32_t n_bids,
                 const struct book_level *asks, uint32_t n_asks)
{
    int r = book_side_apply(&book->bids, bids, n_bids, 1);
    if (r == 0)
        r = book_side_apply(&book->asks, asks, n_asks, -1);
    if (r < 0) {
        book_reset(book);
        return r;
    }
    book->last_id = last_id;
    return BOOK_APPLIED;
}

static int buffer(struct book *book, uint64_t first_id, uint64_t last_id, const struct book_level *bids,
                  uint32_t n_bids, const struct book_level *asks, uint32_t n_asks)
{
    if (book->n_pending > 0 && first_id > book->pending[book->n_pending - 1].last_id + 1) {
        book->gaps++;
        forget_pending(book);
    }
    uint32_t levels = n_bids + n_asks;
    int r = book_room((void **)&book->pending, &book->cap_pending, book->n_pending + 1, sizeof *book->pending,
                      BOOK_BUFFER_MAX);
    if (r == 0)
        r = book_room((void **)&book->pending_levels, &book->cap_pending_levels,
                      book->n_pending_levels + levels + 1, sizeof *book->pending_levels, BOOK_BUFFER_MAX);
    if (r < 0) {
        book_reset(book);
        return r;
    }
    book->pending[book->n_pending++] = (struct book_pending){first_id, last_id, n_bids, n_asks};
    if (n_bids)
        memcpy(&book->pending_levels[book->n_pending_levels], bids, n_bids * sizeof *bids);
    if (n_asks)
        memcpy(&book->pending_levels[book->n_pending_levels + n_bids], asks, n_asks * sizeof *asks);
    book->n_pending_levels += levels;
    return BOOK_BUFFERED;
}

/* Starts (again) from nothing with this difference as the first. */
static int restart(struct book *book, uint64_t first_id, uint64_t last_id, const struct book_level *bids,
                   uint32_t n_bids, const struct book_level *asks, uint32_t n_asks)
{
    book_reset(book);
    book->state = BOOK_SYNCING;
    int r = buffer(book, first_id, last_id, bids, n_bids, asks, n_asks);
    return r < 0 ? r : BOOK_NEED_SNAPSHOT;
}

int book_diff(struct book *book, uint64_t first_id, uint64_t last_id, const struct book_level *bids,
              uint32_t n_bids, const struct book_level *asks, uint32_t n_asks)
{
    if (book->state == BOOK_EMPTY)
        return restart(book, first_id, last_id, bids, n_bids, asks, n_asks);
    if (book->state == BOOK_SYNCING && !book->ahead)
        return buffer(book, first_id, last_id, bids, n_bids, asks, n_asks);
    if (last_id <= book->last_id) {
        if (book->ahead && last_id == book->last_id) {
            book->ahead = false;
            book->state = BOOK_SYNCED;
        }
        return BOOK_IGNORED;
    }
    if (book->last_id != 0 && first_id > book->last_id + 1) {
        book->gaps++;
        book->resyncs++;
        return restart(book, first_id, last_id, bids, n_bids, asks, n_asks);
    }
    int r = apply(book, last_id, bids, n_bids, asks, n_asks);
    if (r < 0)
        return r;
    if (is_crossed(book)) {
        book->crossed++;
        book->resyncs++;
        return restart(book, first_id, last_id, bids, n_bids, asks, n_asks);
    }
    book->ahead = false;
    book->state = BOOK_SYNCED;
    return BOOK_APPLIED;
}

int book_snapshot(struct book *book, uint64_t last_id, const struct book_level *bids, uint32_t n_bids,
                  const struct book_level *asks, uint32_t n_asks)
{
    if (book->state == BOOK_SYNCED || book->ahead)
        return BOOK_IGNORED;
    if (book->n_pending > 0 && last_id != 0 && book->pending[0].first_id > last_id + 1)
        return BOOK_NEED_SNAPSHOT;
    bool crossed = n_bids > 0 && n_asks > 0 && bids[0].price >= asks[0].price;
    int r = crossed ? -EINVAL : book_side_load(&book->bids, bids, n_bids, 1);
    if (r == 0)
        r = book_side_load(&book->asks, asks, n_asks, -1);
    if (r < 0) {
        book_reset(book); /* so that the next difference asks for another one */
        return r;
    }
    book->last_id = last_id;

    uint64_t reached = book->n_pending > 0 ? book->pending[book->n_pending - 1].last_id : last_id;
    const struct book_level *levels = book->pending_levels;
    for (uint32_t i = 0; i < book->n_pending; i++) {
        struct book_pending diff = book->pending[i];
        if (diff.last_id > book->last_id) {
            r = apply(book, diff.last_id, levels, diff.n_bids, levels + diff.n_bids, diff.n_asks);
            if (r < 0)
                return r;
        }
        levels += diff.n_bids + diff.n_asks;
    }
    if (is_crossed(book)) { /* the differences stay for the next snapshot */
        book->crossed++;
        book->resyncs++;
        book->bids.n = book->asks.n = 0;
        book->last_id = 0;
        return BOOK_NEED_SNAPSHOT;
    }
    give_pending_back(book);
    book->ahead = reached < book->last_id;
    book->state = book->ahead ? BOOK_SYNCING : BOOK_SYNCED;
    return BOOK_APPLIED;
}

static int replace_side(struct book_side *side, const struct book_level *levels, uint32_t n, int sign)
{
    int r = book_side_load(side, levels, n, sign);
    if (r != -EINVAL)
        return r;
    side->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (levels[i].qty < 0)
            return -EINVAL;
    return book_side_apply(side, levels, n, sign);
}

int book_replace(struct book *book, uint64_t last_id, const struct book_level *bids, uint32_t n_bids,
                 const struct book_level *asks, uint32_t n_asks)
{
    book_reset(book);
    int r = replace_side(&book->bids, bids, n_bids, 1);
    if (r == 0)
        r = replace_side(&book->asks, asks, n_asks, -1);
    if (r < 0) {
        book_reset(book);
        return r;
    }
    if (is_crossed(book)) {
        book->crossed++;
        book->resyncs++;
        book->bids.n = book->asks.n = 0;
        book->state = BOOK_SYNCING;
        return BOOK_NEED_SNAPSHOT;
    }
    book->last_id = last_id;
    book->state = BOOK_SYNCED;
    return BOOK_APPLIED;
}

const struct book_level *book_bid(const struct book *book, uint32_t i)
{
    return i < book->bids.n ? &book->bids.levels[book->bids.n - 1 - i] : NULL;
}

const struct book_level *book_ask(const struct book *book, uint32_t i)
{
    return i < book->asks.n ? &book->asks.levels[book->asks.n - 1 - i] : NULL;
}

int64_t book_shown(const struct book *book, bool bids, int64_t price)
{
    const struct book_side *side = bids ? &book->bids : &book->asks;
    int sign = bids ? 1 : -1;
    uint32_t at = book_side_find(side, price, sign);
    if (at < side->n && side->levels[at].price == price)
        return side->levels[at].qty;
    return at == 0 ? -1 : 0;
}

bool book_valid(const struct book *book)
{
    for (uint32_t i = 0; i < book->bids.n; i++)
        if (book->bids.levels[i].qty <= 0 ||
            (i > 0 && book->bids.levels[i - 1].price >= book->bids.levels[i].price))
            return false;
    for (uint32_t i = 0; i < book->asks.n; i++)
        if (book->asks.levels[i].qty <= 0 ||
            (i > 0 && book->asks.levels[i - 1].price <= book->asks.levels[i].price))
            return false;
    return book->bids.n == 0 || book->asks.n == 0 || book_bid(book, 0)->price < book_ask(book, 0)->price;
}

size_t book_bytes(const struct book *book)
{
    return ((size_t)book->bids.cap + book->asks.cap + book->cap_pending_levels) * sizeof(struct book_level) +
           book->cap_pending * sizeof *book->pending;
}
